//! Certificates for TLS between programs on this machine, valid for a hundred years. `certificates/make.sh` makes them.

/// The authority that signed [`SERVER`], PEM.
pub const AUTHORITY: &str = include_str!("../certificates/authority.pem");
/// An authority that signed nothing here, PEM.
pub const OTHER_AUTHORITY: &str = include_str!("../certificates/other-authority.pem");
/// The certificate of a server at `localhost` and 127.0.0.1, PEM.
pub const SERVER: &str = include_str!("../certificates/server.pem");
/// The private key of [`SERVER`], PEM.
pub const SERVER_KEY: &str = include_str!("../certificates/server-key.pem");
