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

/// Hides the password of every MongoDB URI in any text, such as an experiment file or a message of a driver.
///
/// Where a URI is not as it should be, rather too much is hidden than too little: everything up to the last `@`.
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
            && SECRET_OPTIONS.contains(&name.to_ascii_lowercase().as_str())
        {
            out.push_str(&text[*copied..at + name.len() + 1]);
            out.push_str(HIDDEN);
            *copied = at + option.len();
        }
        at += option.len() + 1;
    }
}
