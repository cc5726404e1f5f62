//! Passwords taken out of what is kept.
//!
//! Command lines and properties of other tools are kept as found, because they say under which conditions something was measured. What is
//! a secret in them is replaced before anything else sees it: what stands between the scheme and the `@` of an address, and the value of
//! everything that is called like a secret.

/// What stands in the place of a secret.
const HIDDEN: &str = "***";

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
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET.iter().any(|part| name.contains(part)) || name.ends_with(".pass") || name == "pass"
}

/// The value of a property, without what is secret in it.
pub(crate) fn value(name: &str, value: &str) -> String {
    if is_secret(name) && !value.is_empty() {
        HIDDEN.to_owned()
    } else {
        addresses(value)
    }
}

/// A command line, or anything else made of words, without what is secret in it: also `name=value` and `--name value`.
#[must_use]
pub fn without_passwords(text: &str) -> String {
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
                out.push_str(&addresses(name));
                out.push('=');
                out.push_str(HIDDEN);
            }
            None => out.push_str(&addresses(word)),
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

/// Addresses without name and password, and without secrets among their options.
fn addresses(text: &str) -> String {
    let Some(scheme) = text.find("://") else {
        return text.to_owned();
    };
    let (before, after) = text.split_at(scheme + "://".len());
    // A password may hold anything, so all up to the last `@` before the options counts, and slashes in it do not end it.
    let options = after.find('?').unwrap_or(after.len());
    let (place, options) = match after[..options].rfind('@') {
        Some(at) => (
            format!("{HIDDEN}@{}", &after[at + 1..options]),
            &after[options..],
        ),
        // With a `?` in the password there is an `@` only behind it.
        None => match after.rfind('@') {
            Some(at) => (format!("{HIDDEN}@"), &after[at + 1..]),
            None => (after[..options].to_owned(), &after[options..]),
        },
    };
    let mut out = format!("{before}{place}");
    for (number, option) in options.split('&').enumerate() {
        if number > 0 {
            out.push('&');
        }
        match option.split_once('=') {
            Some((name, _)) if is_secret(name) || name.ends_with("authMechanismProperties") => {
                out.push_str(name);
                out.push('=');
                out.push_str(HIDDEN);
            }
            _ => out.push_str(option),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_addresses_are_hidden() {
        for (found, kept) in [
            (
                "mongodb://me:geheim@db:27017/ycsb?w=1",
                "mongodb://***@db:27017/ycsb?w=1",
            ),
            (
                "mongodb.url=mongodb+srv://me:a/b@c@db/x",
                "mongodb.url=mongodb+srv://***@db/x",
            ),
            ("mongodb://me:what?geheim@db/ycsb", "mongodb://***@db/ycsb"),
            ("mongodb://db:27017/ycsb?w=1", "mongodb://db:27017/ycsb?w=1"),
            (
                "jdbc:x://db/y?user=me&password=geheim",
                "jdbc:x://db/y?user=me&password=***",
            ),
        ] {
            assert_eq!(without_passwords(found), kept);
            assert!(!without_passwords(found).contains("geheim"));
        }
    }

    #[test]
    fn secrets_are_hidden_by_their_names() {
        for (found, kept) in [
            ("-p redis.password=geheim -s", "-p redis.password=*** -s"),
            ("--password geheim run", "--password *** run"),
            ("--password='ge heim' run", "--password=*** run"),
            ("-p \"db.passwd=ge heim\" -t", "-p \"db.passwd=*** -t"),
            ("-p recordcount=5", "-p recordcount=5"),
        ] {
            assert_eq!(without_passwords(found), kept);
        }
        assert_eq!(value("cassandra.password", "geheim"), "***");
        assert_eq!(value("threadcount", "4"), "4");
    }

    #[test]
    fn an_open_quote_hides_nothing_of_the_rest() {
        assert_eq!(
            without_passwords("it's -p pw.password=x"),
            "it's -p pw.password=***"
        );
    }
}
