//! Passwords, kept out of records and off screens.

use std::ops::Range;

/// What stands for a password.
const HIDDEN: &str = "***";
/// Options of URIs whose values are secret.
const SECRET_OPTIONS: [&str; 3] = [
    "tlscertificatekeyfilepassword=",
    "sslpemkeypassword=",
    "authmechanismproperties=",
];

/// A text without the passwords in the URIs that stand in it: `mongodb://user:***@host/`. What is not between `://` and `@` stays as it
/// is, and so does a place for a variable, `${NAME}`, which is no password but the name of one.
///
/// A password may hold anything, so all from the first colon to the last `@` of a word is taken for one.
///
/// ```
/// use plimsoll_experiment::redact;
///
/// assert_eq!(redact("uri: mongodb://me:secret@db.example/test"), "uri: mongodb://me:***@db.example/test");
/// assert_eq!(redact("mongodb://me:${WORD}@db.example"), "mongodb://me:${WORD}@db.example");
/// assert_eq!(redact("no URI at all: a@b"), "no URI at all: a@b");
/// ```
#[must_use]
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

/// The same with every byte of a password covered, so that all else keeps its place.
pub(crate) fn covered(text: &str) -> String {
    let mut kept = text.to_owned();
    for secret in secrets(text) {
        let cover = "*".repeat(secret.len());
        kept.replace_range(secret, &cover);
    }
    kept
}

/// Where passwords stand, in their order and apart from each other.
fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut done = 0;
    while let Some(at) = text[done..].find("://") {
        let begin = done + at + 3;
        let behind = &text[begin..];
        let mut length = behind.find(ends_word).unwrap_or(behind.len());
        if may_be_cut(&behind[..length]) {
            // A password with a blank or a quotation mark in it, which should not be, but is one.
            let line = behind.find(['\n', '\r']).unwrap_or(behind.len());
            length = behind[..line].find("://").unwrap_or(line);
        }
        let end = begin + length;
        let word = &text[begin..end];
        let password = password_in(word);
        let options_from = password.as_ref().map_or(0, |password| password.end);
        found.extend(password.map(|place| begin + place.start..begin + place.end));
        for option in options_in(word, options_from) {
            found.push(begin + option.start..begin + option.end);
        }
        done = end;
    }
    found
}

fn ends_word(character: char) -> bool {
    character.is_whitespace() || matches!(character, '"' | '\'' | '<' | '>' | '`')
}

/// Whether it looks like the name of a user and the beginning of a password, and not like a host and its port.
fn may_be_cut(word: &str) -> bool {
    let authority = word.split(['/', '?', ',']).next().unwrap_or_default();
    let Some((host, port)) = authority.split_once(':') else {
        return false;
    };
    let is_host = host.contains('.') || host == "localhost" || host.starts_with('[');
    let is_port = !port.is_empty() && port.chars().all(|c| c.is_ascii_digit());
    let is_whole = word.contains('@') || (is_host && is_port);
    !is_whole
}

fn password_in(word: &str) -> Option<Range<usize>> {
    let end = word.rfind('@')?;
    let begin = word[..end].find(':')? + 1;
    let is_secret = begin < end && !is_variable(&word[begin..end]);
    is_secret.then_some(begin..end)
}

fn is_variable(password: &str) -> bool {
    password
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

/// The values of secret options behind a place.
fn options_in(word: &str, from: usize) -> Vec<Range<usize>> {
    // Only letters of ASCII change, so the places stay.
    let lower = word.to_ascii_lowercase();
    let mut found = Vec::new();
    for option in SECRET_OPTIONS {
        let Some(at) = lower[from..].find(option) else {
            continue;
        };
        let begin = from + at + option.len();
        let end = lower[begin..]
            .find('&')
            .map_or(lower.len(), |length| begin + length);
        if !is_variable(&word[begin..end]) && begin < end {
            found.push(begin..end);
        }
    }
    found.sort_by_key(|place| place.start);
    found
}

/// The same in every text of a JSON value, keys excepted.
pub fn redact_json(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) if text.contains("://") => *text = redact(text),
        serde_json::Value::Array(items) => items.iter_mut().for_each(redact_json),
        serde_json::Value::Object(map) => map.values_mut().for_each(redact_json),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_vanish_whatever_is_in_them() {
        for (text, redacted) in [
            ("mongodb://a:b@h", "mongodb://a:***@h"),
            (
                "mongodb://a:b/c?d@e:f@h:1,g:2/x",
                "mongodb://a:***@h:1,g:2/x",
            ),
            (
                "x mongodb+srv://a:b@h \"mongodb://c:d@i\" y",
                "x mongodb+srv://a:***@h \"mongodb://c:***@i\" y",
            ),
            ("mongodb://h:1/?x=y", "mongodb://h:1/?x=y"),
            ("mongodb://a@h:1/", "mongodb://a@h:1/"),
            ("mongodb://a:${B}${C}@h", "mongodb://a:***@h"),
            (
                "mongodb://h/?tlsCertificateKeyFilePassword=geheim&tls=true",
                "mongodb://h/?tlsCertificateKeyFilePassword=***&tls=true",
            ),
            ("x: mongodb://a:b c 'd@h", "x: mongodb://a:***@h"),
            ("mongodb://a:1 2@h\nx@y", "mongodb://a:***@h\nx@y"),
            (
                "mongodb://1.2.3.4:5/ is gone, a@b",
                "mongodb://1.2.3.4:5/ is gone, a@b",
            ),
            (
                "mongodb://a:b mongodb://c:d@h",
                "mongodb://a:b mongodb://c:***@h",
            ),
            ("://", "://"),
            ("", ""),
        ] {
            assert_eq!(redact(text), redacted);
            assert_eq!(redact(redacted), redacted, "once is enough");
        }
    }

    #[test]
    fn what_is_covered_keeps_its_length() {
        let text = "é mongodb://ä:öß@h/?sslPEMKeyPassword=xy ü";
        assert_eq!(
            covered(text),
            "é mongodb://ä:****@h/?sslPEMKeyPassword=** ü"
        );
        assert_eq!(covered(text).len(), text.len());
    }

    #[test]
    fn passwords_vanish_at_every_depth() {
        let mut value = serde_json::json!({ "a": [{ "b": "x://c:d@e" }, 1, null] });
        redact_json(&mut value);
        assert_eq!(
            value,
            serde_json::json!({ "a": [{ "b": "x://c:***@e" }, 1, null] })
        );
    }
}
