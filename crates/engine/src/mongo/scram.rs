//! Proving to know a password without sending it: SCRAM (RFC 5802 and 7677), as MongoDB uses it.
//!
//! ```
//! use plimsoll_engine::mongo::{Credentials, Mechanism};
//! use plimsoll_engine::mongo::scram::Conversation;
//!
//! let credentials = Credentials {
//!     user: "user".into(),
//!     password: "pencil".into(),
//!     source: "admin".into(),
//!     mechanism: None,
//! };
//! // The example of RFC 7677.
//! let mut client = Conversation::with_nonce(&credentials, Mechanism::ScramSha256, "rOprNGfwEbeRWgbNEkqO")?;
//! assert_eq!(client.first(), b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
//! let proof = client.answer(
//!     b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
//! )?;
//! assert!(proof.ends_with(b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="));
//! client.answer(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")?;
//! assert!(client.is_proven());
//! # Ok::<(), plimsoll_engine::mongo::scram::ScramError>(())
//! ```

use crate::mongo::credentials::{Credentials, Mechanism};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Fewer rounds than this protect no password (RFC 7677).
const LEAST_ROUNDS: u32 = 4_096;
/// More rounds than this are no password's protection but a way to keep a client busy. MongoDB uses 15,000.
const MOST_ROUNDS: u32 = 1_000_000;
/// Bytes of randomness in a nonce.
const NONCE_BYTES: usize = 24;

/// Why a conversation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScramError {
    /// The password holds characters that no password may hold.
    #[error("the password holds characters that SCRAM-SHA-256 does not allow")]
    Password,
    /// The operating system gave no random numbers.
    #[error("there are no random numbers: {0}")]
    Random(String),
    /// The server's message is not what the mechanism says.
    #[error("the server's part of the conversation is malformed: {0}")]
    Malformed(&'static str),
    /// The server wants a number of rounds that is unsafe or endless.
    #[error("the server wants {0} rounds of hashing, where 4,096 to 1,000,000 are sound")]
    Rounds(u32),
    /// The server refused in its last message.
    #[error("the server refused: {0}")]
    Refused(String),
    /// The server does not know the password.
    #[error(
        "the server could not prove that it knows the password, so it may not be the server that it seems to be"
    )]
    NotProven,
}

/// The client's side of a conversation.
pub struct Conversation {
    mechanism: Mechanism,
    /// What is hashed instead of the password.
    secret: Vec<u8>,
    nonce: String,
    first: Vec<u8>,
    state: State,
}

enum State {
    Request,
    /// The client has answered; the server must prove itself with this signature.
    Answered {
        server_key: Vec<u8>,
        message: Vec<u8>,
    },
    Proven,
}

/// Bytes of the header of the first message: no channel binding, no other user.
const HEADER: &str = "n,,";

impl Conversation {
    /// Begins a conversation with a fresh nonce.
    pub fn new(credentials: &Credentials, mechanism: Mechanism) -> Result<Self, ScramError> {
        let mut random = [0; NONCE_BYTES];
        getrandom::fill(&mut random).map_err(|error| ScramError::Random(error.to_string()))?;
        Self::with_nonce(credentials, mechanism, &STANDARD.encode(random))
    }

    /// Begins a conversation with a nonce of the caller, for tests. No nonce may be used twice.
    pub fn with_nonce(
        credentials: &Credentials,
        mechanism: Mechanism,
        nonce: &str,
    ) -> Result<Self, ScramError> {
        let Credentials { user, password, .. } = credentials;
        let secret = match mechanism {
            // MongoDB's older way: a hash that its users were stored under before.
            Mechanism::ScramSha1 => {
                let digest = Md5::digest(format!("{user}:mongo:{password}"));
                digest
                    .iter()
                    .fold(String::new(), |mut text, byte| {
                        let _ = write!(text, "{byte:02x}");
                        text
                    })
                    .into_bytes()
            }
            Mechanism::ScramSha256 => stringprep::saslprep(password)
                .map_err(|_| ScramError::Password)?
                .as_bytes()
                .to_vec(),
        };
        let user = user.replace('=', "=3D").replace(',', "=2C");
        let first = format!("{HEADER}n={user},r={nonce}").into_bytes();
        Ok(Self { mechanism, secret, nonce: nonce.to_owned(), first, state: State::Request })
    }

    pub fn first(&self) -> &[u8] {
        &self.first
    }

    /// Whether the server has proven that it knows the password.
    pub fn is_proven(&self) -> bool {
        matches!(self.state, State::Proven)
    }

    /// Takes the server's next message and gives the client's: the proof after the first, nothing after the last.
    pub fn answer(&mut self, message: &[u8]) -> Result<Vec<u8>, ScramError> {
        match &self.state {
            State::Request => self.prove(message),
            State::Answered { server_key, message: expected } => {
                verify(self.mechanism, server_key, expected, message)?;
                self.state = State::Proven;
                Ok(Vec::new())
            }
            // An empty exchange, with which some servers end.
            State::Proven => Ok(Vec::new()),
        }
    }

    fn prove(&mut self, server_first: &[u8]) -> Result<Vec<u8>, ScramError> {
        let challenge = Challenge::of(server_first)?;
        if !challenge.nonce.starts_with(&self.nonce) || challenge.nonce.len() == self.nonce.len() {
            return Err(ScramError::Malformed("its nonce does not continue ours"));
        }
        let mechanism = self.mechanism;
        let salted = stretch(mechanism, &self.secret, &challenge.salt, challenge.rounds);
        let client_key = keyed(mechanism, &salted, b"Client Key");
        let server_key = keyed(mechanism, &salted, b"Server Key");
        let stored_key = match mechanism {
            Mechanism::ScramSha1 => Sha1::digest(&client_key).to_vec(),
            Mechanism::ScramSha256 => Sha256::digest(&client_key).to_vec(),
        };
        let without_proof = format!("c={},r={}", STANDARD.encode(HEADER), challenge.nonce);
        let message =
            [&self.first[HEADER.len()..], b",", server_first, b",", without_proof.as_bytes()]
                .concat();
        let mut proof = keyed(mechanism, &stored_key, &message);
        for (byte, key) in proof.iter_mut().zip(&client_key) {
            *byte ^= key;
        }
        self.state = State::Answered { server_key, message };
        Ok(format!("{without_proof},p={}", STANDARD.encode(proof)).into_bytes())
    }
}

struct Challenge<'a> {
    nonce: &'a str,
    salt: Vec<u8>,
    rounds: u32,
}

impl<'a> Challenge<'a> {
    fn of(message: &'a [u8]) -> Result<Self, ScramError> {
        let text = text_of(message)?;
        let mut parts = text.split(',');
        let mut part = |name, missing| {
            parts
                .next()
                .and_then(|part| part.strip_prefix(name))
                .ok_or(ScramError::Malformed(missing))
        };
        let nonce: &str = part("r=", "it has no nonce")?;
        let salt = part("s=", "it has no salt")?;
        let rounds = part("i=", "it has no number of rounds")?;
        let salt =
            STANDARD.decode(salt).map_err(|_| ScramError::Malformed("its salt is not base64"))?;
        let rounds = rounds
            .parse()
            .map_err(|_| ScramError::Malformed("its number of rounds is no number"))?;
        if !(LEAST_ROUNDS..=MOST_ROUNDS).contains(&rounds) {
            return Err(ScramError::Rounds(rounds));
        }
        Ok(Self { nonce, salt, rounds })
    }
}

/// Checks the server's last message.
fn verify(
    mechanism: Mechanism,
    server_key: &[u8],
    expected: &[u8],
    message: &[u8],
) -> Result<(), ScramError> {
    let text = text_of(message)?;
    let text = text.split(',').next().unwrap_or_default();
    if let Some(error) = text.strip_prefix("e=") {
        return Err(ScramError::Refused(error.to_owned()));
    }
    let signature = text.strip_prefix("v=").ok_or(ScramError::Malformed("it has no signature"))?;
    let signature = STANDARD
        .decode(signature)
        .map_err(|_| ScramError::Malformed("its signature is not base64"))?;
    // In a time that does not tell how much of it is right.
    let verified = match mechanism {
        Mechanism::ScramSha1 => hmac::<Hmac<Sha1>>(server_key, expected).verify_slice(&signature),
        Mechanism::ScramSha256 => {
            hmac::<Hmac<Sha256>>(server_key, expected).verify_slice(&signature)
        }
    };
    verified.map_err(|_| ScramError::NotProven)
}

fn text_of(message: &[u8]) -> Result<&str, ScramError> {
    str::from_utf8(message).map_err(|_| ScramError::Malformed("it is not text"))
}

fn hmac<M: Mac + KeyInit>(key: &[u8], message: &[u8]) -> M {
    let mut mac = <M as KeyInit>::new_from_slice(key).expect("a key of any length will do");
    mac.update(message);
    mac
}

fn keyed(mechanism: Mechanism, key: &[u8], message: &[u8]) -> Vec<u8> {
    match mechanism {
        Mechanism::ScramSha1 => hmac::<Hmac<Sha1>>(key, message).finalize().into_bytes().to_vec(),
        Mechanism::ScramSha256 => {
            hmac::<Hmac<Sha256>>(key, message).finalize().into_bytes().to_vec()
        }
    }
}

fn stretch(mechanism: Mechanism, secret: &[u8], salt: &[u8], rounds: u32) -> Vec<u8> {
    match mechanism {
        Mechanism::ScramSha1 => {
            let mut out = vec![0; 20];
            pbkdf2::pbkdf2_hmac::<Sha1>(secret, salt, rounds, &mut out);
            out
        }
        Mechanism::ScramSha256 => {
            let mut out = vec![0; 32];
            pbkdf2::pbkdf2_hmac::<Sha256>(secret, salt, rounds, &mut out);
            out
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(user: &str, password: &str) -> Credentials {
        Credentials {
            user: user.into(),
            password: password.into(),
            source: "admin".into(),
            mechanism: None,
        }
    }

    fn conversation(mechanism: Mechanism, nonce: &str) -> Conversation {
        Conversation::with_nonce(&credentials("user", "pencil"), mechanism, nonce).unwrap()
    }

    const NONCE: &str = "rOprNGfwEbeRWgbNEkqO";
    const FIRST: &[u8] =
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";

    /// The example of MongoDB's specification of authentication.
    #[test]
    fn the_older_mechanism_is_as_specified() {
        let mut client = conversation(Mechanism::ScramSha1, "fyko+d2lbbFgONRv9qkxdawL");
        assert_eq!(client.first(), b"n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL");
        let proof = client
            .answer(
                b"r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=10000",
            )
            .unwrap();
        let expected: &[u8] =
            b"c=biws,r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,p=MC2T8BvbmWRckDw8oWl5IVghwCY=";
        assert_eq!(proof, expected);
        assert!(!client.is_proven());
        let found = client.answer(b"v=UMWeI25JD1yNYZRMpZ4VHvhZ9e0=");
        assert_eq!(found, Ok(Vec::new()));
        assert!(client.is_proven());
        assert_eq!(client.answer(b""), Ok(Vec::new()));
    }

    #[test]
    fn a_server_that_does_not_know_the_password_is_found_out() {
        for last in [
            &b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G5="[..],
            b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95Gk=",
            b"v=",
            b"v=6rri",
        ] {
            let mut client = conversation(Mechanism::ScramSha256, NONCE);
            client.answer(FIRST).unwrap();
            let error = client.answer(last).unwrap_err();
            assert!(matches!(error, ScramError::NotProven | ScramError::Malformed(_)), "{error}");
            assert!(!client.is_proven());
        }
    }

    #[test]
    fn what_a_server_says_is_checked() {
        let answer = |message: &str| {
            conversation(Mechanism::ScramSha256, NONCE).answer(message.as_bytes()).unwrap_err()
        };
        assert_eq!(answer(""), ScramError::Malformed("it has no nonce"));
        assert_eq!(answer("r=a"), ScramError::Malformed("it has no salt"));
        let foreign = ScramError::Malformed("its nonce does not continue ours");
        assert_eq!(answer("r=other,s=aaaa,i=4096"), foreign);
        let unchanged = format!("r={NONCE},s=aaaa,i=4096");
        assert_eq!(answer(&unchanged), foreign);
        let with = |rest: &str| answer(&format!("r={NONCE}x{rest}"));
        let expected = ScramError::Malformed("its salt is not base64");
        assert_eq!(with(",s=!,i=4096"), expected);
        let expected = ScramError::Malformed("its number of rounds is no number");
        assert_eq!(with(",s=aaaa,i=many"), expected);
        assert_eq!(with(",s=aaaa,i=4095"), ScramError::Rounds(4_095));
        assert_eq!(with(",s=aaaa,i=1000001"), ScramError::Rounds(1_000_001));
        let mut client = conversation(Mechanism::ScramSha256, NONCE);
        let found = client.answer(b"\xff");
        assert_eq!(found, Err(ScramError::Malformed("it is not text")));
        client.answer(FIRST).unwrap();
        let found = client.answer(b"e=other-error");
        assert_eq!(found, Err(ScramError::Refused("other-error".into())));
    }

    #[test]
    fn users_and_passwords_are_written_as_the_mechanism_wants_them() {
        let strange = credentials("a=b,c", "I\u{ad}X");
        let client = Conversation::with_nonce(&strange, Mechanism::ScramSha256, "n").unwrap();
        assert_eq!(client.first(), b"n,,n=a=3Db=2Cc,r=n");
        // The soft hyphen is left out (RFC 4013, the first example).
        assert_eq!(client.secret, b"IX");
        let bell = credentials("user", "\u{7}");
        let found = Conversation::with_nonce(&bell, Mechanism::ScramSha256, "n").err();
        assert_eq!(found, Some(ScramError::Password));
        let one = Conversation::new(&strange, Mechanism::ScramSha1).unwrap();
        let other = Conversation::new(&strange, Mechanism::ScramSha1).unwrap();
        assert_ne!(one.first(), other.first());
    }
}
