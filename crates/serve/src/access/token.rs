//! What has to be shown where a server can be reached from elsewhere.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use subtle::ConstantTimeEq;

/// Fewer letters could be guessed.
const SHORTEST: usize = 16;
const LONGEST: usize = 512;
/// Of a token that is made.
const RANDOM_BYTES: usize = 24;

/// A token. It is never printed by accident.
#[derive(Clone)]
pub(crate) struct Token(String);

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("cannot read the token file {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What is in the file is none.
    #[error(
        "the token file {} holds no token: write one line of 16 to 512 letters, digits, `-`, `_`, `.` or `~` into it, such as `openssl rand -hex 24` prints",
        path.display()
    )]
    Unfit {
        /// The file.
        path: PathBuf,
    },
    /// The system has no random numbers.
    #[error("the system gives no random numbers for a token ({0}): name a file with --token-file")]
    Random(String),
}

impl Token {
    /// The one line of a file.
    pub(crate) fn read(path: &Path) -> Result<Self, TokenError> {
        let mut text = String::new();
        File::open(path)
            .and_then(|file| file.take(LONGEST as u64 + 2).read_to_string(&mut text))
            .map_err(|source| TokenError::Unreadable {
                path: path.to_owned(),
                source,
            })?;
        let token = text.trim_ascii();
        // These stand for themselves in an address and in a cookie.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        if !(SHORTEST..=LONGEST).contains(&token.len()) || !token.bytes().all(is_plain) {
            return Err(TokenError::Unfit {
                path: path.to_owned(),
            });
        }
        Ok(Self(token.to_owned()))
    }

    /// A new one.
    pub(crate) fn random() -> Result<Self, TokenError> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| TokenError::Random(error.to_string()))?;
        Ok(Self(
            bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ))
    }

    /// Whether it is this one. How long that takes says nothing about where they differ.
    pub(crate) fn is(&self, shown: &str) -> bool {
        self.0.as_bytes().ct_eq(shown.as_bytes()).into()
    }

    /// For the address that is printed and for the cookie.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_random_and_not_shown() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.text().len(), 2 * RANDOM_BYTES);
        assert!(one.is(one.text()) && !one.is(other.text()));
        assert!(!one.is(&one.text()[1..]) && !one.is(""));
        assert!(!format!("{one:?}").contains(one.text()));
    }

    #[test]
    fn a_file_must_hold_one_plain_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, "0123456789abcdef\n").unwrap();
        assert_eq!(Token::read(&path).unwrap().text(), "0123456789abcdef");
        for unfit in [
            "",
            "short",
            "0123456789abcdef two",
            "0123456789abcdefé",
            "0123456789\nabcdefgh",
        ] {
            std::fs::write(&path, unfit).unwrap();
            assert!(
                matches!(Token::read(&path), Err(TokenError::Unfit { .. })),
                "{unfit}"
            );
        }
        std::fs::write(&path, "x".repeat(LONGEST + 1)).unwrap();
        assert!(Token::read(&path).is_err());
        let missing = Token::read(&folder.path().join("none")).unwrap_err();
        assert!(missing.to_string().contains("none"), "{missing}");
    }
}
