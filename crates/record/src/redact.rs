//! Foreign text, made fit to be shown: without secrets, and without what a terminal would obey.
//!
//! [`redact`] is what everything goes through that is kept, shown, logged, exported or served: files, plans, messages, what servers and drivers say.
//! In an address it hides the password, and of the options behind the `?` every value that is not known to be harmless: what may be *shown* is
//! listed here, and not what must be hidden, so that an option of tomorrow shows nothing. What only looks like an address, because its scheme or the
//! slashes behind it were forgotten, is treated as one. [`redact_command`] hides besides what a command line gives to
//! a name like a password. [`line()`] and [`lines()`] show control characters as pictures of themselves.
//!
//! ```
//! use plimsoll_record::redact::{redact, redact_command};
//!
//! assert_eq!(redact("uri: mongodb://me:secret@db.example/test?w=1"), "uri: mongodb://me:***@db.example/test?w=1");
//! assert_eq!(redact("mongodb://db/?proxyPassword=secret&tls=true"), "mongodb://db/?proxyPassword=***&tls=true");
//! assert_eq!(redact("mongodb://me:${WORD}@db.example"), "mongodb://me:${WORD}@db.example");
//! assert_eq!(redact("no address at all: a@b"), "no address at all: a@b");
//! assert_eq!(redact_command("run --password secret"), "run --password ***");
//! ```

mod command;
mod spreadsheet;
mod visible;

pub use command::{redact_command, redact_value};
use percent_encoding::percent_decode_str;
pub use spreadsheet::spreadsheet_safe;
use std::ops::Range;
pub use visible::{line, lines, visible};

/// What stands for a secret.
pub const HIDDEN: &str = "***";

/// Values that an option may show: others of it are hidden.
#[derive(Clone, Copy)]
enum VisibleValue {
    Number,
    /// `true` or `false`, and older words for them.
    Truth,
    /// Some of these words, with commas between.
    Words(&'static [&'static str]),
    /// A number, or one of these words.
    NumberOr(&'static [&'static str]),
    /// The path of a file.
    Path,
}

const CONCERNS: &[&str] = &["local", "available", "majority", "linearizable", "snapshot"];
const PREFERENCES: &[&str] =
    &["primary", "primarypreferred", "secondary", "secondarypreferred", "nearest"];
const MECHANISMS: &[&str] = &[
    "default",
    "gssapi",
    "mongodb-aws",
    "mongodb-cr",
    "mongodb-oidc",
    "mongodb-x509",
    "plain",
    "scram-sha-1",
    "scram-sha-256",
];
const REPRESENTATIONS: &[&str] =
    &["csharplegacy", "javalegacy", "pythonlegacy", "standard", "unspecified"];
const COMPRESSORS: &[&str] = &["snappy", "zlib", "zstd", "none"];

/// Options of addresses that may be shown, by their names in small letters, with the values that may be.
const ALLOWED: &[(&str, VisibleValue)] = &[
    ("authmechanism", VisibleValue::Words(MECHANISMS)),
    ("causalconsistency", VisibleValue::Truth),
    ("compression", VisibleValue::Words(COMPRESSORS)),
    ("compressors", VisibleValue::Words(COMPRESSORS)),
    ("connecttimeoutms", VisibleValue::Number),
    ("directconnection", VisibleValue::Truth),
    ("fsync", VisibleValue::Truth),
    ("heartbeatfrequencyms", VisibleValue::Number),
    ("j", VisibleValue::Truth),
    ("journal", VisibleValue::Truth),
    ("loadbalanced", VisibleValue::Truth),
    ("localthresholdms", VisibleValue::Number),
    ("maxconnecting", VisibleValue::Number),
    ("maxidletimems", VisibleValue::Number),
    ("maxlifetimems", VisibleValue::Number),
    ("maxpoolsize", VisibleValue::Number),
    ("maxstalenessseconds", VisibleValue::Number),
    ("minpoolsize", VisibleValue::Number),
    ("proxyport", VisibleValue::Number),
    ("readconcernlevel", VisibleValue::Words(CONCERNS)),
    ("readpreference", VisibleValue::Words(PREFERENCES)),
    ("retryreads", VisibleValue::Truth),
    ("retrywrites", VisibleValue::Truth),
    ("safe", VisibleValue::Truth),
    ("servermonitoringmode", VisibleValue::Words(&["auto", "poll", "stream"])),
    ("serverselectiontimeoutms", VisibleValue::Number),
    ("serverselectiontryonce", VisibleValue::Truth),
    ("slaveok", VisibleValue::Truth),
    ("sockettimeoutms", VisibleValue::Number),
    ("srvmaxhosts", VisibleValue::Number),
    ("ssl", VisibleValue::Truth),
    ("sslinvalidhostnameallowed", VisibleValue::Truth),
    ("timeoutms", VisibleValue::Number),
    ("tls", VisibleValue::Truth),
    ("tlscafile", VisibleValue::Path),
    ("tlsallowinvalidcertificates", VisibleValue::Truth),
    ("tlsallowinvalidhostnames", VisibleValue::Truth),
    ("tlsdisablecertificaterevocationcheck", VisibleValue::Truth),
    ("tlsdisableocspendpointcheck", VisibleValue::Truth),
    ("tlsinsecure", VisibleValue::Truth),
    ("uuidrepresentation", VisibleValue::Words(REPRESENTATIONS)),
    ("w", VisibleValue::NumberOr(&["majority"])),
    ("waitqueuemultiple", VisibleValue::Number),
    ("waitqueuetimeoutms", VisibleValue::Number),
    ("wtimeout", VisibleValue::Number),
    ("wtimeoutms", VisibleValue::Number),
    ("zlibcompressionlevel", VisibleValue::Number),
];

/// A text without the secrets in the addresses that stand in it. A place for a variable, `${NAME}`, stays: it is no secret but the name of one.
///
/// A password may hold anything, so all from the first colon to the last `@` of a word is taken for one: rather too much is hidden than too little.
pub fn redact(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut done = 0;
    for secret in secrets(text) {
        kept.push_str(&text[done..secret.start]);
        kept.push_str(HIDDEN);
        done = secret.end;
    }
    kept.push_str(&text[done..]);
    kept
}

/// The same with every byte of a secret covered, so that all else keeps its place.
pub fn covered(text: &str) -> String {
    let mut kept = text.to_owned();
    for secret in secrets(text) {
        let cover = "*".repeat(secret.len());
        kept.replace_range(secret, &cover);
    }
    kept
}

/// What [`redact`] hides in an address, in every form in which others may quote it: as it stands, as it is meant, in small letters, and in parts. What is
/// shorter than four letters is left out, because it would tear any text.
pub fn quotable_secrets(address: &str) -> Vec<String> {
    let mut found = Vec::new();
    for place in secrets(address) {
        let whole = &address[place];
        let meant = percent_decode_str(whole).decode_utf8_lossy().into_owned();
        let parts = meant.split([',', ':']).map(str::to_owned);
        found.extend(parts);
        found.extend([whole.to_lowercase(), meant.to_lowercase(), meant.clone()]);
        found.push(whole.to_owned());
    }
    found.retain(|secret| secret.len() >= 4 && secret != HIDDEN);
    // The longest first: a part of it may be another.
    found.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    found.dedup();
    found
}

/// Where secrets stand, in their order and apart from each other.
fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut done = 0;
    while let Some(at) = text[done..].find("://") {
        let begin = done + at + 3;
        without_scheme(text, done..begin - 3, &mut found);
        let behind = &text[begin..];
        // A single quotation mark may stand in a password: it closes only what one has opened.
        let scheme = text[..begin - 3]
            .trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c));
        let is_quoted = scheme.ends_with('\'');
        let ends = |letter: char| ends_word(letter) && (letter != '\'' || is_quoted);
        let mut length = behind.find(ends).unwrap_or(behind.len());
        if may_be_cut(&behind[..length]) {
            // A password with a blank or a quotation mark in it, which should not be, but is one.
            let line = behind.find(['\n', '\r']).unwrap_or(behind.len());
            length = behind[..line].find("://").unwrap_or(line);
        }
        let end = begin + length;
        let word = &text[begin..end];
        in_word(word, begin, &mut found);
        done = end;
    }
    without_scheme(text, done..text.len(), &mut found);
    found
}

/// Finds secrets in an address at this place, without its scheme.
fn in_word(word: &str, begin: usize, found: &mut Vec<Range<usize>>) {
    let password = password_in(word);
    let options_from = password.as_ref().map_or(0, |password| password.end);
    found.extend(password.map(|place| begin + place.start..begin + place.end));
    for option in options_in(word, options_from) {
        found.push(begin + option.start..begin + option.end);
    }
}

/// Finds secrets in words like `user:password@host` and `host/?password=word`. An image with its digest, `mongo:8@sha256:…`, is none.
fn without_scheme(text: &str, part: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut begin = part.start;
    for word in text[part].split(ends_word) {
        if !word.contains("@sha256:") {
            in_word(word, begin, found);
        }
        begin += word.len();
        begin += text[begin..].chars().next().map_or(0, char::len_utf8);
    }
}

fn ends_word(character: char) -> bool {
    character.is_whitespace() || matches!(character, '"' | '\'' | '<' | '>' | '`')
}

/// Whether it looks like the name of a user and the beginning of a password, and not like a host and its port.
fn may_be_cut(word: &str) -> bool {
    if word.contains('@') {
        return false;
    }
    let authority = word.split(['/', '?', ',']).next().unwrap_or_default();
    // Behind an address of IPv6, which has colons of its own.
    let name_ends = match authority.starts_with('[') {
        true => authority.find(']').unwrap_or(0),
        false => 0,
    };
    let Some((host, port)) = authority[name_ends..].split_once(':') else {
        return false;
    };
    let is_host = name_ends > 0 || host.contains('.') || host == "localhost";
    let is_port = !port.is_empty() && port.chars().all(|c| c.is_ascii_digit());
    !(is_host && is_port)
}

fn password_in(word: &str) -> Option<Range<usize>> {
    let end = word.rfind('@')?;
    let begin = word[..end].find(':')? + 1;
    let is_secret = begin < end && !is_variable(&word[begin..end]);
    is_secret.then_some(begin..end)
}

fn is_variable(value: &str) -> bool {
    value
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

/// The values of options behind a place that may not be shown.
fn options_in(word: &str, from: usize) -> Vec<Range<usize>> {
    let Some(question) = word[from..].find('?') else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut begin = from + question + 1;
    for option in word[begin..].split(['&', ';']) {
        if let Some((name, value)) = option.split_once('=') {
            let value_begins = begin + name.len() + 1;
            // The end of a sentence around an address is no part of it.
            let value = value.trim_end_matches([')', ']', '}', '.', ',', ':']);
            if !value.is_empty()
                && !is_variable(&option[name.len() + 1..])
                && !may_show(name, value)
            {
                found.push(value_begins..value_begins + value.len());
            }
        }
        begin += option.len() + 1;
    }
    found
}

fn may_show(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let Some((_, shown)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
        return false;
    };
    let value = value.to_ascii_lowercase();
    let is_number = || {
        let digits = value.strip_prefix('-').unwrap_or(&value);
        digits.len() <= 10 && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let is_of = |words: &[&str]| value.split(',').all(|word| words.contains(&word));
    match shown {
        VisibleValue::Number => is_number(),
        VisibleValue::Truth => is_of(&["true", "false", "yes", "no", "1", "0"]),
        VisibleValue::Words(words) => is_of(words),
        VisibleValue::NumberOr(words) => is_number() || is_of(words),
        VisibleValue::Path => {
            let is_plain =
                |letter: char| letter.is_ascii_alphanumeric() || "/\\._-".contains(letter);
            value.chars().all(is_plain) && value.contains(['/', '.'])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn passwords_vanish_whatever_is_in_them() {
        for (text, redacted) in [
            ("mongodb://a:b@h", "mongodb://a:***@h"),
            ("MongoDB://u:p@h", "MongoDB://u:***@h"),
            ("mongodb://a:b/c?d@e:f@h:1,g:2/x", "mongodb://a:***@h:1,g:2/x"),
            (
                "x mongodb+srv://a:b@h \"mongodb://c:d@i\" y",
                "x mongodb+srv://a:***@h \"mongodb://c:***@i\" y",
            ),
            ("mongodb://h:1/?x", "mongodb://h:1/?x"),
            (
                "mongodb://h/?tlsCAFile=/etc/Root-CA.pem&tlsCAFile=s3cret",
                "mongodb://h/?tlsCAFile=/etc/Root-CA.pem&tlsCAFile=***",
            ),
            ("mongodb://a@h:1/", "mongodb://a@h:1/"),
            ("mongodb://a:${B}@h", "mongodb://a:${B}@h"),
            ("mongodb://a:${B}${C}@h", "mongodb://a:***@h"),
            ("x: mongodb://a:b c 'd@h", "x: mongodb://a:***@h"),
            ("mongodb://a:1 2@h\nx@y", "mongodb://a:***@h\nx@y"),
            ("mongodb://1.2.3.4:5/ is gone, a@b", "mongodb://1.2.3.4:5/ is gone, a@b"),
            ("mongodb://[::1]:27017/d, says a@b", "mongodb://[::1]:27017/d, says a@b"),
            ("mongodb://a:b mongodb://c:d@h", "mongodb://a:b mongodb://c:***@h"),
            ("<mongodb://u:p@h> is at a@b", "<mongodb://u:***@h> is at a@b"),
            ("mongodb.url=mongodb://u:p@h -p b=c@d", "mongodb.url=mongodb://u:***@h -p b=c@d"),
            // Where the slashes, or the whole scheme, were forgotten.
            ("u:pw@h", "u:***@h"),
            ("//u:pw@h/d?w=1", "//u:***@h/d?w=1"),
            ("mongodb:u:pw@h", "mongodb:***@h"),
            ("mongodb:/u:pw@h", "mongodb:***@h"),
            ("{uri: u:pw@h, b: 'x:p@w@i'}", "{uri: u:***@h, b: 'x:***@i'}"),
            ("u:pw@h mongodb://a:b@h v:qw@i", "u:***@h mongodb://a:***@h v:***@i"),
            ("é u:pé@h", "é u:***@h"),
            ("u:${P}@h", "u:${P}@h"),
            ("mongo:8@sha256:0a1b", "mongo:8@sha256:0a1b"),
            ("me@example.org at 10:30, git@h:path", "me@example.org at 10:30, git@h:path"),
            ("h:1/d?password=pw&w=1", "h:1/d?password=***&w=1"),
            ("?password=pw", "?password=***"),
            ("why? a=b", "why? a=b"),
            ("://", "://"),
            ("", ""),
        ] {
            assert_eq!(redact(text), redacted);
            assert_eq!(redact(redacted), redacted, "once is enough");
        }
    }

    /// Characters that should have been written with percent signs.
    #[test]
    fn mistaken_passwords_are_hidden_as_well() {
        for character in ['@', '/', '?', ':', ' ', '"', '<', '#', '%', '&', '='] {
            let text = format!("mongodb://u:s3c{character}ret@h/d");
            assert_eq!(redact(&text), "mongodb://u:***@h/d");
        }
    }

    /// Every option of MongoDB's connection strings, of the Java driver's older ones, and an unknown one.
    #[test]
    fn a_secret_in_any_option_is_hidden() {
        let others = [
            "appName",
            "authMechanismProperties",
            "authSource",
            "gssapiServiceName",
            "proxyHost",
            "proxyPassword",
            "proxyUsername",
            "readPreferenceTags",
            "replicaSet",
            "srvServiceName",
            "sslCertificateAuthorityFile",
            "sslClientCertificateKeyFile",
            "sslClientCertificateKeyPassword",
            "sslPEMKeyFile",
            "sslPEMKeyPassword",
            "sslPEMPassword",
            "tlsCAFile",
            "tlsCertificateKeyFile",
            "tlsCertificateKeyFilePassword",
            "tls%43ertificateKeyFilePassword",
            "%70assword",
            // A name that may show its values otherwise.
            "%77",
            "password",
            "tomorrow",
        ];
        let names = ALLOWED.iter().map(|(name, _)| *name).chain(others);
        for name in names {
            for (value, rest) in [("s3cret", "&tls=true"), ("x:s3cret,y", " and so on")] {
                let shown = redact(&format!("mongodb://u@h/?w=1&{name}={value}{rest}"));
                assert_eq!(shown, format!("mongodb://u@h/?w=1&{name}=***{rest}"));
                assert_eq!(redact(&shown), shown, "once is enough");
                let bare = redact(&format!("u@h/?w=1&{name}={value}{rest}"));
                assert_eq!(bare, format!("u@h/?w=1&{name}=***{rest}"));
            }
        }
    }

    #[test]
    fn what_is_harmless_is_shown() {
        for text in [
            "mongodb://h1:1,h2:2/d?w=majority&j=true&wtimeoutMS=5&readPreference=secondaryPreferred&compressors=zstd,snappy",
            "mongodb://h/?maxPoolSize=100000&ssl=0&authMechanism=SCRAM-SHA-256&replicaSet=${SET}",
            "{uri: mongodb://h/?w=1, client: lean}",
            "reaching mongodb://h/?w=1: nobody answers (see mongodb://h/?tls=true).",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn what_closes_around_an_address_stays() {
        assert_eq!(
            redact("{uri: mongodb://h/?a=b}, {uri: mongodb://h/?a=b&w=1}"),
            "{uri: mongodb://h/?a=***}, {uri: mongodb://h/?a=***&w=1}"
        );
    }

    #[test]
    fn what_is_covered_keeps_its_length() {
        let text = "é mongodb://ä:öß@h/?sslPEMKeyPassword=xy ü";
        let expected = "é mongodb://ä:****@h/?sslPEMKeyPassword=** ü";
        assert_eq!(covered(text), expected);
    }

    #[test]
    fn secrets_are_known_in_every_form_in_which_they_may_be_quoted() {
        let known = quotable_secrets("mongodb://u:P%40ssword@h/?appName=A:Geheim,B&w=1&x=abc");
        for form in ["P%40ssword", "P@ssword", "p@ssword", "A:Geheim,B", "Geheim"] {
            assert!(known.iter().any(|secret| secret == form), "{form}: {known:?}");
        }
        assert!(known.iter().all(|secret| secret.len() >= 4), "{known:?}");
        assert!(quotable_secrets("mongodb://u@h/?w=majority").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in ".{0,60}(mongodb://|mongodb\\+srv://)?.{0,60}(@|\\?|:)?.{0,30}") {
            let hidden = redact(&text);
            prop_assert_eq!(covered(&text).len(), text.len());
            prop_assert!(hidden.contains("://") == text.contains("://"));
            let _ = quotable_secrets(&text);
        }

        #[test]
        fn no_password_survives(
            user in "[a-z]{1,5}",
            password in "([^0-9@\r\n][^@\r\n]{0,20})|([!#-;=?-_a-~]{0,20})",
            rest in "[a-z]{1,9}(/[a-z]{0,5})?",
        ) {
            // A second scheme on the line begins another address, as the first test says.
            prop_assume!(!format!(":{password}").contains("://"));
            // With a mark in it that appears nowhere else.
            let text = format!("uri: mongodb://{user}:{password}§{password}@{rest}\nnext line");
            let hidden = redact(&text);
            prop_assert!(!hidden.contains('§'), "{} became {}", text, hidden);
            prop_assert!(hidden.ends_with("\nnext line"));
            // Without a scheme an address ends where a word ends.
            prop_assume!(!password.contains(ends_word));
            for scheme in ["", "mongodb:", "mongodb:/", "//", "mongodb.url="] {
                let text = format!("uri: {scheme}{user}:{password}§{password}@{rest} and more");
                let hidden = redact(&text);
                prop_assert!(!hidden.contains('§'), "{} became {}", text, hidden);
                prop_assert!(hidden.ends_with(" and more"));
            }
        }
    }
}
