//! How a program connects to a NATS server.

use crate::nats::error::chain;
use crate::nats::subjects::inbox;
use crate::nats::{NatsError, wire};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr, ServerError};
use percent_encoding::percent_decode_str;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Least version of the server.
const OLDEST: (u32, u32) = (2, 12);

/// A connection that is dead without a word is noticed after three of these.
const PING: Duration = Duration::from_secs(1);

/// Requests to the server are given up after this time, and made again where that makes sense.
pub(crate) const REQUEST: Duration = Duration::from_secs(1);

/// How long a connection may take at first.
const CONNECT: Duration = Duration::from_secs(3);

/// The pause before each attempt to get a lost connection back: short, because a session lives for as long as a lease, and longer after that.
fn pause(attempts: usize) -> Duration {
    match attempts {
        0 | 1 => Duration::ZERO,
        2..=100 => Duration::from_millis(100),
        _ => Duration::from_secs(1),
    }
}

/// Where NATS is, and who asks.
#[derive(Clone, PartialEq, Eq)]
pub struct Connection {
    /// `nats://HOST:PORT`, or `tls://HOST:PORT` for an encrypted connection; of several any one is taken. Without [`credentials`](Self::credentials) it may
    /// give user and password here.
    pub urls: Vec<String>,
    pub credentials: Credentials,
    /// A PEM file with the authorities that may have signed the server's certificate; the system's where there is none. With it every connection
    /// is encrypted.
    pub ca_file: Option<PathBuf>,
}

#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// Nothing, or user and password in the URL.
    None,
    /// A user of the server's configuration.
    Password {
        user: String,
        /// The password. It is never shown.
        password: String,
    },
    /// A file with the seed of an nkey, which begins with `SU`.
    NkeySeedFile(PathBuf),
    /// A file with a token and a seed, as `nsc` makes it.
    CredsFile(PathBuf),
}

/// A connection that was made.
#[derive(Clone)]
pub(crate) struct Connected {
    pub(crate) client: Client,
    /// Changes whenever a lost connection is back.
    pub(crate) connections: watch::Receiver<u64>,
    /// What the server has forbidden last, in its own words. The client is not informed, and waits for nothing.
    forbidden: Arc<Mutex<Option<String>>>,
}

impl Connected {
    /// The error that a request failed with, or why.
    pub(crate) fn explain(&self, error: NatsError) -> NatsError {
        let forbidden = self.forbidden.lock();
        let forbidden = forbidden.unwrap_or_else(PoisonError::into_inner).take();
        match (error, forbidden) {
            (NatsError::Request { what, .. }, Some(reason)) => {
                NatsError::Forbidden { what, reason }
            }
            (error, _) => error,
        }
    }
}

impl Connection {
    /// To one server, without credentials.
    pub fn to(url: &str) -> Self {
        Self { urls: vec![url.to_owned()], credentials: Credentials::None, ca_file: None }
    }

    /// Whether all that passes is encrypted for certain. A server may ask for that by itself, which is not known here.
    pub fn is_encrypted(&self) -> bool {
        let is_tls = |address: &ServerAddr| address.tls_required();
        self.ca_file.is_some() || self.parsed().is_ok_and(|addresses| addresses.iter().all(is_tls))
    }

    fn parsed(&self) -> Result<Vec<ServerAddr>, NatsError> {
        let unfit = |number, reason| NatsError::Address { number, reason };
        if self.urls.is_empty() {
            return Err(unfit(1, "there is none".to_owned()));
        }
        let mut addresses = Vec::new();
        for (place, url) in self.urls.iter().enumerate() {
            // What is no URL is not repeated: there may be a password in it.
            let address: ServerAddr =
                url.trim().parse().map_err(|error| unfit(place + 1, chain(&error)))?;
            if !matches!(address.scheme(), "nats" | "tls") {
                return Err(unfit(place + 1, format!("{}:// is not known", address.scheme())));
            }
            addresses.push(address);
        }
        Ok(addresses)
    }

    fn shown(addresses: &[ServerAddr]) -> String {
        let shown: Vec<_> = addresses
            .iter()
            .map(|address| {
                let (scheme, host, port) = (address.scheme(), address.host(), address.port());
                // An address of version 6 comes without its brackets.
                if host.contains(':') {
                    format!("{scheme}://[{host}]:{port}")
                } else {
                    format!("{scheme}://{host}:{port}")
                }
            })
            .collect();
        shown.join(", ")
    }

    /// With the credentials, and whether all fits.
    async fn options(&self, addresses: &[ServerAddr]) -> Result<ConnectOptions, NatsError> {
        let options = ConnectOptions::new();
        let options = match &self.credentials {
            Credentials::None => match addresses.iter().find(|address| address.has_user_pass()) {
                Some(address) => {
                    let decoded = |text: Option<&str>| {
                        let text = text.unwrap_or_default();
                        percent_decode_str(text).decode_utf8_lossy().into_owned()
                    };
                    options
                        .user_and_password(decoded(address.username()), decoded(address.password()))
                }
                None => options,
            },
            Credentials::Password { user, password } => {
                options.user_and_password(user.clone(), password.clone())
            }
            Credentials::NkeySeedFile(path) => {
                let unfit = |reason| NatsError::File { path: path.clone(), reason };
                check_secret(path)?;
                let text =
                    std::fs::read_to_string(path).map_err(|error| unfit(error.to_string()))?;
                let seed = text.trim().to_owned();
                nkeys::KeyPair::from_seed(&seed)
                    .map_err(|error| unfit(format!("it holds no seed of an nkey ({error})")))?;
                options.nkey(seed)
            }
            Credentials::CredsFile(path) => {
                check_secret(path)?;
                options.credentials_file(path).await.map_err(|error| NatsError::File {
                    path: path.clone(),
                    reason: error.to_string(),
                })?
            }
        };
        let Some(path) = &self.ca_file else {
            return Ok(options);
        };
        // Read here too: what the library says of it names no file.
        std::fs::read(path)
            .map_err(|error| NatsError::File { path: path.clone(), reason: error.to_string() })?;
        Ok(options.add_root_certificates(path.clone()).require_tls(true))
    }

    /// Connects as `whose`, which is `~controller` or the name of an agent.
    pub(crate) async fn connect(&self, whose: &str) -> Result<Connected, NatsError> {
        let addresses = self.parsed()?;
        let (count, connections) = watch::channel(0);
        let forbidden = Arc::<Mutex<Option<String>>>::default();
        let last_forbidden = forbidden.clone();
        let options = self
            .options(&addresses)
            .await?
            .name(format!("plimsoll {whose}"))
            .custom_inbox_prefix(inbox(whose))
            .connection_timeout(CONNECT)
            .request_timeout(Some(REQUEST))
            .ping_interval(PING)
            .reconnect_delay_callback(pause)
            .event_callback(move |event| {
                match event {
                    Event::Connected => count.send_modify(|count| *count += 1),
                    Event::ServerError(ServerError::Other(text)) => {
                        tracing::debug!(text, "NATS");
                        if text.to_lowercase().starts_with("permissions violation") {
                            *last_forbidden.lock().unwrap_or_else(PoisonError::into_inner) =
                                Some(text);
                        }
                    }
                    event => tracing::debug!(%event, "NATS"),
                }
                std::future::ready(())
            });
        let client = options.connect(&addresses[..]).await.map_err(|error| {
            let addresses = Self::shown(&addresses);
            match error.kind() {
                ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                    NatsError::Refused { addresses, credentials: format!("{:?}", self.credentials) }
                }
                _ => NatsError::Unreachable { addresses, reason: chain(&error) },
            }
        })?;
        let server = client.server_info();
        if version(&server.version) < Some(OLDEST) {
            return Err(NatsError::TooOld { version: server.version });
        }
        if !server.jetstream {
            return Err(NatsError::NoJetStream { reason: "the server runs without it".to_owned() });
        }
        let (allowed, needed) = (server.max_payload, wire::LONGEST_MESSAGE);
        if allowed < needed {
            return Err(NatsError::ShortMessages { allowed, needed });
        }
        Ok(Connected { client, connections, forbidden })
    }
}

/// The first two parts. `None` where that is no version.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let urls = match self.parsed() {
            Ok(addresses) => Self::shown(&addresses),
            Err(error) => error.to_string(),
        };
        formatter
            .debug_struct("Connection")
            .field("urls", &urls)
            .field("credentials", &self.credentials)
            .field("ca_file", &self.ca_file)
            .finish()
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of_file = |formatter: &mut std::fmt::Formatter<'_>, kind, path: &Path| {
            write!(formatter, "{kind} {}", path.display())
        };
        match self {
            Self::None => write!(formatter, "none, or those in the URL"),
            Self::Password { user, .. } => write!(formatter, "user {user} and password"),
            Self::NkeySeedFile(path) => of_file(formatter, "nkey seed file", path),
            Self::CredsFile(path) => of_file(formatter, "creds file", path),
        }
    }
}

/// Refuses a file with a secret that other users can read.
fn check_secret(path: &Path) -> Result<(), NatsError> {
    let unfit = |reason| NatsError::File { path: path.to_owned(), reason };
    let about = std::fs::metadata(path).map_err(|error| unfit(error.to_string()))?;
    if about.mode() & 0o077 != 0 {
        return Err(unfit(format!("other users can read it: chmod 600 {}", path.display())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert_eq!(version("2.12.2"), Some((2, 12)));
        assert_eq!(version("2.12.0-RC.1"), Some((2, 12)));
        assert!(version("2.9.10") < Some(OLDEST));
        assert!(version("3.0.0") > Some(OLDEST));
        assert!(version("a guess") < Some(OLDEST));
    }

    #[test]
    fn encryption_is_certain_only_where_every_address_has_it() {
        let mut settings = Connection::to("tls://a");
        assert!(settings.is_encrypted());
        settings.urls.push("nats://b".to_owned());
        assert!(!settings.is_encrypted());
        settings.ca_file = Some("authority.pem".into());
        assert!(settings.is_encrypted());
    }

    #[test]
    fn a_password_is_nowhere_to_be_seen() {
        let mut settings = Connection::to("nats://me:se%63ret@127.0.0.1:1");
        settings.urls.push("tls://[::1]".to_owned());
        let shown = format!("{settings:?}");
        assert!(shown.contains("nats://127.0.0.1:1, tls://[::1]:4222"), "{shown}");
        settings.credentials =
            Credentials::Password { user: "me".to_owned(), password: "se%63ret".to_owned() };
        for urls in [vec!["nats://me:se%63ret@h:port"], vec!["http://me:se%63ret@h"], vec![]] {
            settings.urls = urls.into_iter().map(str::to_owned).collect();
            let error = settings.parsed().unwrap_err();
            for text in [error.to_string(), format!("{error:?} {settings:?}")] {
                assert!(!text.contains("ret@") && !text.contains("se%"), "{text}");
            }
        }
    }
}
