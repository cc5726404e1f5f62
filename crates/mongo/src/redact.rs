//! Hiding passwords wherever a connection string is written.

use std::borrow::Cow;

/// How connection strings begin.
pub(crate) const SCHEMES: [&str; 2] = ["mongodb://", "mongodb+srv://"];
/// What stands for a password.
pub(crate) const HIDDEN: &str = "***";
/// Options whose values are secrets, in lower case.
const SECRET_OPTIONS: [&str; 5] = [
    "authmechanismproperties",
    "proxypassword",
    "sslclientcertificatekeypassword",
    "tlscertificatekeyfilepassword",
    "sslpempassword",
];

/// Whether the value of the option is a secret.
pub(crate) fn is_secret_option(name: &str) -> bool {
    SECRET_OPTIONS.contains(&name.to_ascii_lowercase().as_str())
}

/// Hides the password of every MongoDB URI in any text, such as an experiment file or a message of a driver.
///
/// Where a URI is not as it should be, rather too much is hidden than too little: everything up to the last `@`. A password with a
/// space or a quote in it, which no URI may have, is hidden too, unless it holds a `@` as well or begins with digits up to there.
///
/// ```
/// use plimsoll_mongo::redact;
///
/// assert_eq!(redact("uri: mongodb://me:s3cret@db:27017/ycsb"), "uri: mongodb://me:***@db:27017/ycsb");
/// assert_eq!(redact("uri: mongodb://db:27017/ycsb?w=1"), "uri: mongodb://db:27017/ycsb?w=1");
/// ```
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    // The schemes are ASCII, so everything is in the same place in lower case.
    let lower = text.to_ascii_lowercase();
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some((_, behind)) = next_scheme(&lower[at..]) {
        let behind = at + behind;
        let end = text[behind..]
            .find(['\n', '\r'])
            .map_or(text.len(), |end| behind + end);
        let end = next_scheme(&lower[behind..end]).map_or(end, |(next, _)| behind + next);
        let line = &text[behind..end];
        let rest = hide_user_info(line, &mut out, &text[copied..behind]);
        // Nothing was written if there was nothing to hide.
        if rest > 0 {
            copied = behind + rest;
        }
        let after = behind + rest;
        let options = &text[after..behind + line.len()];
        let options = &options[..token_end(options)];
        hide_options(options, after, text, &mut out, &mut copied);
        at = after + options.len();
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Where the next connection string begins, and where what is behind its scheme begins.
fn next_scheme(lower: &str) -> Option<(usize, usize)> {
    SCHEMES
        .iter()
        .filter_map(|scheme| lower.find(scheme).map(|at| (at, at + scheme.len())))
        .min()
}

/// Where something ends that has no spaces, quotes or brackets in it.
fn token_end(text: &str) -> usize {
    text.find(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '`'))
        .unwrap_or(text.len())
}

/// Writes what was before and the user with a hidden password, and says how many bytes of `line` that stands for; 0 if there was
/// nothing to hide.
fn hide_user_info(line: &str, out: &mut String, before: &str) -> usize {
    let token = &line[..token_end(line)];
    let end = match token.rfind('@') {
        Some(at) => at,
        // A password with a space or a quote in it, which no URI may have but a mistaken one does.
        None if has_no_port(token) => match line.rfind('@') {
            Some(at) => at,
            None => return 0,
        },
        None => return 0,
    };
    let Some(colon) = line[..end].find(':') else {
        return 0;
    };
    out.push_str(before);
    out.push_str(&line[..=colon]);
    out.push_str(HIDDEN);
    end
}

/// Whether there is something behind a colon of what should be hosts that is no port.
fn has_no_port(token: &str) -> bool {
    let hosts = &token[..token.find(['/', '?']).unwrap_or(token.len())];
    if hosts.starts_with('[') {
        return false;
    }
    hosts.split(',').any(|host| {
        host.split_once(':')
            .is_some_and(|(_, port)| port.parse::<u16>().is_err() && !host.starts_with('['))
    })
}

/// Hides the values of secret options in what is left of a connection string.
fn hide_options(rest: &str, begin: usize, text: &str, out: &mut String, copied: &mut usize) {
    let Some(question) = rest.find('?') else {
        return;
    };
    let mut at = begin + question + 1;
    for option in rest[question + 1..].split(['&', ';']) {
        if let Some((name, _)) = option.split_once('=')
            && is_secret_option(name)
        {
            out.push_str(&text[*copied..at + name.len() + 1]);
            out.push_str(HIDDEN);
            *copied = at + option.len();
        }
        at += option.len() + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn passwords_are_hidden_wherever_they_are() {
        for (text, expected) in [
            ("", ""),
            (
                "no URI, though user:password@host",
                "no URI, though user:password@host",
            ),
            ("mongodb://u:p@h", "mongodb://u:***@h"),
            ("mongodb://u:@h", "mongodb://u:***@h"),
            ("mongodb://u@h:27017/d", "mongodb://u@h:27017/d"),
            ("mongodb://h1:1,h2:2/d?w=1", "mongodb://h1:1,h2:2/d?w=1"),
            ("MongoDB://u:p@h", "MongoDB://u:***@h"),
            (
                "mongodb+srv://u:p@h/d?w=majority",
                "mongodb+srv://u:***@h/d?w=majority",
            ),
            (
                "{\"uri\":\"mongodb://u:p@h/d\",\"mail\":\"a@b\"}",
                "{\"uri\":\"mongodb://u:***@h/d\",\"mail\":\"a@b\"}",
            ),
            (
                "uri: 'mongodb://u:p@h'\nmail: a@b",
                "uri: 'mongodb://u:***@h'\nmail: a@b",
            ),
            (
                "mongodb://u:p@h mongodb://v:q@i!",
                "mongodb://u:***@h mongodb://v:***@i!",
            ),
            (
                "mongodb://u:p@h,mongodb://v:q@i",
                "mongodb://u:***@h,mongodb://v:***@i",
            ),
            (
                "<mongodb://u:p@h> is at a@b",
                "<mongodb://u:***@h> is at a@b",
            ),
            (
                "mongodb://[::1]:27017/d, says a@b",
                "mongodb://[::1]:27017/d, says a@b",
            ),
            ("mongodb://", "mongodb://"),
            ("mongodb://höst/d?w=1 ✓", "mongodb://höst/d?w=1 ✓"),
        ] {
            assert_eq!(redact(text), expected);
            assert_eq!(redact(expected), expected);
        }
        assert!(matches!(redact("mongodb://h/d"), Cow::Borrowed(_)));
    }

    /// Characters that should have been written with percent signs.
    #[test]
    fn mistaken_passwords_are_hidden_as_well() {
        for text in [
            "mongodb://u:s3c@ret@h/d",
            "mongodb://u:s3c/ret@h/d",
            "mongodb://u:s3c?ret@h/d",
            "mongodb://u:s3c:ret@h/d",
            "mongodb://u:s3c ret@h/d",
            "mongodb://u:s3c\"ret@h/d",
            "mongodb://u:s3c<ret@h/d",
            "mongodb://u:s3c#ret@h/d",
            "mongodb://u:s3c%ret@h/d",
        ] {
            assert_eq!(redact(text), "mongodb://u:***@h/d");
        }
    }

    #[test]
    fn options_that_are_secrets_are_hidden() {
        assert_eq!(
            redact(
                "mongodb://u:p@h/?tlsCertificateKeyFilePassword=s3cret&w=1&authMechanismProperties=AWS_SESSION_TOKEN:s3cret, and so on"
            ),
            "mongodb://u:***@h/?tlsCertificateKeyFilePassword=***&w=1&authMechanismProperties=*** and so on"
        );
        assert_eq!(
            redact("mongodb://h/?PROXYPASSWORD=s3cret"),
            "mongodb://h/?PROXYPASSWORD=***"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in ".{0,60}(mongodb://|mongodb\\+srv://)?.{0,60}(@|\\?|:)?.{0,30}") {
            let hidden = redact(&text);
            // What is hidden stays hidden, and nothing else.
            let again = redact(&hidden).into_owned();
            prop_assert_eq!(hidden, again);
        }

        #[test]
        fn no_password_survives(
            user in "[a-z]{1,5}",
            password in "([^0-9@\r\n][^@\r\n]{0,20})|([!#-;=?-_a-~]{0,20})",
            rest in "[a-z]{1,9}(/[a-z]{0,5})?",
        ) {
            // With a mark in it that appears nowhere else.
            let text = format!("uri: mongodb://{user}:{password}§{password}@{rest}\nnext line");
            let hidden = redact(&text);
            prop_assert!(!hidden.contains('§'), "{} became {}", text, hidden);
            prop_assert!(hidden.ends_with("\nnext line"));
        }
    }
}
