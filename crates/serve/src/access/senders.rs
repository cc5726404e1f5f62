//! Who may send results to this server, each with a token of their own.

use super::token::{Token, TokenError, open_private};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes of the file.
const LARGEST: u64 = 1 << 20;
/// Letters of a name.
const LONGEST_NAME: usize = 64;

/// Names and tokens.
#[derive(Clone, Debug)]
pub(crate) struct Senders(Vec<(String, Token)>);

/// Who sends: an extension of a request that showed the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sender(pub(crate) String);

impl Senders {
    /// The lines of a file that nobody else can read.
    pub(crate) fn read(path: &Path) -> Result<Self, TokenError> {
        let mut text = String::new();
        let read = File::from(open_private(path)?)
            .take(LARGEST)
            .read_to_string(&mut text);
        read.map_err(|source| TokenError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text).map_err(|(line, why)| TokenError::Senders {
            path: path.to_owned(),
            line,
            why,
        })
    }

    fn parse(text: &str) -> Result<Self, (usize, &'static str)> {
        let mut senders: Vec<(String, Token)> = Vec::new();
        for (line, words) in (1..).zip(text.lines()) {
            let words: Vec<&str> = words.split_whitespace().collect();
            let (name, token) = match words[..] {
                [] => continue,
                [first, ..] if first.starts_with('#') => continue,
                [name, token] => (name, token),
                _ => return Err((line, "is not two words")),
            };
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            if name.len() > LONGEST_NAME || !name.bytes().all(is_plain) {
                return Err((line, "begins with no plain name"));
            }
            let Some(token) = Token::parse(token) else {
                return Err((line, "has no token of 16 to 512 letters or digits"));
            };
            if senders.iter().any(|(known, _)| known == name) {
                return Err((line, "has the name of another line"));
            }
            if senders.iter().any(|(_, known)| known.is(token.text())) {
                return Err((line, "has the token of another line"));
            }
            senders.push((name.to_owned(), token));
        }
        match senders.is_empty() {
            true => Err((0, "is not there: nobody may send anything")),
            false => Ok(Self(senders)),
        }
    }

    /// Whose token that is. How long it takes says nothing about whose.
    pub(crate) fn who(&self, shown: &str) -> Option<Sender> {
        let mut found = None;
        for (name, token) in &self.0 {
            if token.is(shown) {
                found = Some(Sender(name.clone()));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "0123456789abcdef";
    const OTHER: &str = "fedcba9876543210";

    #[test]
    fn each_has_a_name_and_a_token() {
        let text = format!("# who may send\n\nci {ONE}\n  anna.b-2\t{OTHER} \n");
        let senders = Senders::parse(&text).unwrap();
        assert_eq!(senders.who(ONE), Some(Sender("ci".into())));
        assert_eq!(senders.who(OTHER), Some(Sender("anna.b-2".into())));
        for unknown in ["", "ci", &ONE[1..], "0123456789abcdeg"] {
            assert_eq!(senders.who(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn lines_that_are_none_are_named() {
        let lines = [
            ("", 0),
            ("# nobody", 0),
            ("ci", 1),
            (&format!("ci {ONE} more"), 1),
            (&format!("ci {ONE}\n<b> {OTHER}"), 2),
            ("ci short", 1),
            (&format!("ci {ONE}\nci {OTHER}"), 2),
            (&format!("ci {ONE}\nanna {ONE}"), 2),
            (&format!("{} {ONE}", "n".repeat(LONGEST_NAME + 1)), 1),
        ];
        for (text, line) in lines {
            assert_eq!(Senders::parse(text).unwrap_err().0, line, "{text}");
        }
    }
}
