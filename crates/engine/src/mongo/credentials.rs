//! User, password and database of a login.

use std::fmt;

/// How a user proves to know the password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// `SCRAM-SHA-1`, the only one up to MongoDB 3.6.
    ScramSha1,
    ScramSha256,
}

impl Mechanism {
    /// As it is called in the protocol and in URIs.
    pub fn name(self) -> &'static str {
        match self {
            Self::ScramSha1 => "SCRAM-SHA-1",
            Self::ScramSha256 => "SCRAM-SHA-256",
        }
    }
}

/// A user with a password. Its `Debug` does not show the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pub user: String,
    pub password: String,
    /// The database that knows the user.
    pub source: String,
    /// How to prove it; `None` takes the best that the server offers for this user.
    pub mechanism: Option<Mechanism>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("user", &self.user)
            .field("password", &"***")
            .field("source", &self.source)
            .field("mechanism", &self.mechanism)
            .finish()
    }
}
