//! Command lines, whose words may be secrets by the names before them.

use crate::redact::{HIDDEN, redact};

/// Parts of names whose values are secrets.
const SECRET: [&str; 11] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "accesskey",
    "credential",
];

/// Whether the value of a property of this name is a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET.iter().any(|part| name.contains(part)) || name.ends_with(".pass") || name == "pass"
}

/// The value of a property of this name, without what is secret in it.
pub fn redact_value(name: &str, value: &str) -> String {
    if is_secret(name) && !value.is_empty() { HIDDEN.to_owned() } else { redact(value) }
}

/// A command line, or anything else made of words, without what is secret in it: also `name=value` and `--name value`.
pub fn redact_command(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut hide_next = false;
    while !rest.is_empty() {
        let gap = rest.len() - rest.trim_start().len();
        out.push_str(&rest[..gap]);
        rest = &rest[gap..];
        let end = word_end(rest);
        let word = &rest[..end];
        rest = &rest[end..];
        if word.is_empty() {
            continue;
        }
        if hide_next && !word.starts_with('-') {
            out.push_str(HIDDEN);
            hide_next = false;
            continue;
        }
        let named = word.split_once(['=']).filter(|(name, _)| is_secret(name));
        hide_next = word.starts_with('-') && !word.contains('=') && is_secret(word);
        match named {
            Some((name, _)) => {
                out.push_str(&redact(name));
                out.push('=');
                out.push_str(HIDDEN);
            }
            None => out.push_str(&redact(word)),
        }
    }
    out
}

/// Where the first word ends: at white space outside of quotes. A quote that is never closed is no quote.
fn word_end(text: &str) -> usize {
    let mut quote = None;
    for (place, letter) in text.char_indices() {
        let is_quote = matches!(letter, '"' | '\'');
        match quote {
            Some(open) if open == letter => quote = None,
            Some(_) => {}
            None if letter.is_whitespace() => return place,
            None if is_quote && text[place + 1..].contains(letter) => quote = Some(letter),
            None => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_by_their_names() {
        for (found, kept) in [
            ("-p redis.password=geheim -s", "-p redis.password=*** -s"),
            ("--password geheim run", "--password *** run"),
            ("--password='ge heim' run", "--password=*** run"),
            ("-p \"db.passwd=ge heim\" -t", "-p \"db.passwd=*** -t"),
            ("-p recordcount=5", "-p recordcount=5"),
            (
                "-p mongodb.url=mongodb://me:geheim@db:27017/ycsb?w=1",
                "-p mongodb.url=mongodb://me:***@db:27017/ycsb?w=1",
            ),
            ("mongodb://me:what?geheim@db/ycsb", "mongodb://me:***@db/ycsb"),
            ("jdbc:x://db/y?user=me&password=geheim", "jdbc:x://db/y?user=***&password=***"),
        ] {
            assert_eq!(redact_command(found), kept);
        }
    }

    #[test]
    fn values_are_hidden_by_their_names() {
        assert_eq!(redact_value("cassandra.password", "geheim"), "***");
        assert_eq!(redact_value("cassandra.password", ""), "");
        assert_eq!(redact_value("url", "x://a:b@c"), "x://a:***@c");
        assert_eq!(redact_value("threadcount", "4"), "4");
    }

    #[test]
    fn an_open_quote_hides_nothing_of_the_rest() {
        let expected = "it's -p pw.password=***";
        assert_eq!(redact_command("it's -p pw.password=x"), expected);
    }
}
