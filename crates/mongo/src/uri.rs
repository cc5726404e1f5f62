//! Connection strings: `mongodb://[user[:password]@]host[:port][,...][/[database][?options]]`.
//!
//! The format is that of MongoDB's connection string specification. No error and no `Debug` shows a password, nor any part of a string
//! that could be one.

use crate::concern::{W, WriteConcern};
use crate::credentials::{Credentials, Mechanism};
use crate::host::Host;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use plimsoll_redact::redact;
use std::fmt;
use std::time::Duration;

/// What is written in an option's value as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b',')
    .remove(b':');
/// How connection strings begin.
const SCHEMES: [&str; 2] = ["mongodb://", "mongodb+srv://"];
const DEFAULT_PORT: u16 = 27_017;
/// What no name of a database may hold.
const NOT_IN_DATABASES: [char; 6] = ['/', '\\', '.', ' ', '"', '$'];

/// What is wrong with a connection string.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// It begins otherwise.
    #[error("a MongoDB URI begins with `mongodb://` or `mongodb+srv://`")]
    Scheme,
    /// It holds a space or a control character.
    #[error("a MongoDB URI has no spaces or control characters: write them as %20 and the like")]
    Character,
    /// User or password hold a character that means something else in a URI.
    #[error(
        "the user or the password in the MongoDB URI holds one of `@ : / ? %`: write them as %40 %3A %2F %3F %25"
    )]
    UserInfo,
    /// There is a password, but no user.
    #[error("there is no user before the `@` of the MongoDB URI")]
    NoUser,
    /// There is a user, but no password.
    #[error("the MongoDB URI names a user but no password: write mongodb://user:password@host")]
    NoPassword,
    /// No host, or an empty one between commas.
    #[error("host {position} of the MongoDB URI is empty: write mongodb://host:port")]
    NoHost {
        /// The first is 1.
        position: usize,
    },
    /// A host that is none.
    #[error(
        "host {position} of the MongoDB URI is neither name:port nor [IPv6]:port, with a port from 1 to 65535; a `@ : / ?` in a password must be written as %40 %3A %2F %3F"
    )]
    Host {
        /// The first is 1.
        position: usize,
    },
    /// `mongodb+srv` with a port or several hosts.
    #[error(
        "`mongodb+srv://` takes one name without a port, because the name service knows the hosts"
    )]
    Srv,
    /// `%` without two hexadecimal digits, or what they say is not UTF-8.
    #[error(
        "there is a `%` in the {place} of the MongoDB URI that does not stand for a character: write it as %25"
    )]
    Percent {
        /// Where.
        place: &'static str,
    },
    /// The name of a database that none can have.
    #[error(
        "the database in the MongoDB URI cannot be called so: its name may not hold any of `/ \\ . \" $` or a space"
    )]
    Database,
    /// An option without a value.
    #[error("the option `{name}` of the MongoDB URI has no value: write {name}=VALUE")]
    NoValue {
        /// Its name.
        name: String,
    },
    /// An option with a value that it cannot have.
    #[error("`{name}={value}` in the MongoDB URI: {expected}")]
    Value {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it can be.
        expected: &'static str,
    },
}

/// A connection string, taken apart. Neither `Debug` nor `Display` show the password.
///
/// ```
/// use plimsoll_mongo::Uri;
///
/// let uri = Uri::parse("mongodb://me:s%40cret@db1,db2:27018/ycsb?replicaSet=rs0&w=majority")?;
/// assert_eq!(uri.hosts().len(), 2);
/// assert_eq!(uri.password(), Some("s@cret"));
/// assert_eq!(uri.option("replicaset"), Some("rs0"));
/// assert_eq!(uri.to_string(), "mongodb://me:***@db1,db2:27018/ycsb?replicaSet=***&w=majority");
/// # Ok::<(), plimsoll_mongo::UriError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Uri {
    text: String,
    /// Where the options begin in the text, behind the `?`; at its end if there are none.
    options_at: usize,
    hosts: Vec<Host>,
    is_srv: bool,
    user: Option<String>,
    password: Option<String>,
    database: Option<String>,
    options: Vec<(String, String)>,
}

impl Uri {
    /// Takes a connection string apart.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(text: &str) -> Result<Self, UriError> {
        let scheme = SCHEMES
            .into_iter()
            .find(|scheme| text.starts_with(scheme))
            .ok_or(UriError::Scheme)?;
        if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(UriError::Character);
        }
        let is_srv = scheme == "mongodb+srv://";
        let behind = &text[scheme.len()..];
        let (authority, behind) = split_before(behind, &['/', '?']);
        let (path, query) = split_before(behind, &['?']);
        // A `/` in a password would end the authority too early.
        if path.contains('@') {
            return Err(UriError::UserInfo);
        }
        let (user_info, hosts) = match authority.rsplit_once('@') {
            Some((user_info, hosts)) => (Some(user_info), hosts),
            None => (None, authority),
        };
        let (mut user, mut password) = (None, None);
        if let Some(info) = user_info {
            if info.contains('@') {
                return Err(UriError::UserInfo);
            }
            let (name, secret) = match info.split_once(':') {
                Some((name, secret)) => (name, Some(secret)),
                None => (info, None),
            };
            if name.is_empty() {
                return Err(UriError::NoUser);
            }
            user = Some(decode(name).ok_or(UriError::UserInfo)?);
            if let Some(secret) = secret {
                if secret.contains(':') {
                    return Err(UriError::UserInfo);
                }
                password = Some(decode(secret).ok_or(UriError::UserInfo)?);
            }
        }
        let hosts = parse_hosts(hosts, is_srv)?;
        let database =
            decode(path.trim_start_matches('/')).ok_or(UriError::Percent { place: "database" })?;
        if path.len() > 1 + path.trim_start_matches('/').len()
            || database.contains(NOT_IN_DATABASES)
        {
            return Err(UriError::Database);
        }
        let options = parse_options(query.trim_start_matches('?'))?;
        Ok(Self {
            options_at: text.len() - query.trim_start_matches('?').len(),
            text: text.to_owned(),
            hosts,
            is_srv,
            user,
            password,
            database: Some(database).filter(|name| !name.is_empty()),
            options,
        })
    }

    /// The hosts, in their order; for `mongodb+srv` the name to look up, with port 27017.
    #[must_use]
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Whether the name service knows the hosts.
    #[must_use]
    pub fn is_srv(&self) -> bool {
        self.is_srv
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    /// The user.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The password.
    #[must_use]
    pub fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    /// The database that knows the user: `authSource`, else the database, else `admin`.
    #[must_use]
    pub fn auth_source(&self) -> &str {
        self.option("authSource")
            .or(self.database())
            .unwrap_or("admin")
    }

    /// The value of an option, whatever the case of its name. If it is there more than once, the last one.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        let (_, value) = self
            .options
            .iter()
            .rfind(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(value)
    }

    /// All options with their values, as they stand.
    pub fn options(&self) -> impl Iterator<Item = (&str, &str)> {
        self.options
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The whole string with `***` for the password and for values of options that may be secrets.
    #[must_use]
    pub fn redacted(&self) -> String {
        redact(&self.text)
    }

    /// The whole string with the password, for a driver. Never to be shown or kept.
    #[must_use]
    pub fn exposed(&self) -> &str {
        &self.text
    }

    /// The same string with this option, instead of all that it had by this name.
    ///
    /// # Errors
    /// When the name is not that of an option: empty, or with other characters than letters, digits and `_`.
    pub fn with_option(&self, name: &str, value: &str) -> Result<Self, UriError> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) || value.is_empty() {
            let name = name.escape_debug().to_string();
            return Err(UriError::NoValue { name });
        }
        let mut text = self.text[..self.options_at]
            .trim_end_matches('?')
            .to_owned();
        let authority = text.find("://").map_or(0, |at| at + 3);
        if !text[authority..].contains('/') {
            text.push('/');
        }
        let mut separator = '?';
        let kept = self.text[self.options_at..].split('&').filter(|option| {
            let known = option.split('=').next().unwrap_or_default();
            !option.is_empty() && !known.eq_ignore_ascii_case(name)
        });
        for option in kept {
            text.push(separator);
            text.push_str(option);
            separator = '&';
        }
        let value = utf8_percent_encode(value, PLAIN);
        text.push_str(&format!("{separator}{name}={value}"));
        Self::parse(&text)
    }

    /// Who asks, if a user is named.
    ///
    /// # Errors
    /// When there is no password, or the mechanism is not one that this crate knows.
    pub fn credentials(&self) -> Result<Option<Credentials>, UriError> {
        let Some(user) = &self.user else {
            return Ok(None);
        };
        let mechanism = match self.option("authMechanism") {
            None | Some("DEFAULT") => None,
            Some("SCRAM-SHA-1") => Some(Mechanism::ScramSha1),
            Some("SCRAM-SHA-256") => Some(Mechanism::ScramSha256),
            Some(other) => {
                return Err(UriError::Value {
                    name: "authMechanism",
                    value: other.to_owned(),
                    expected: "it must be SCRAM-SHA-1 or SCRAM-SHA-256; others take `client: driver`",
                });
            }
        };
        let password = self.password.clone().ok_or(UriError::NoPassword)?;
        Ok(Some(Credentials {
            user: user.clone(),
            password,
            source: self.auth_source().to_owned(),
            mechanism,
        }))
    }

    /// The write concern: `w`, `journal` and `wTimeoutMS`.
    ///
    /// # Errors
    /// When one of them is not what it must be.
    pub fn write_concern(&self) -> Result<WriteConcern, UriError> {
        let w = match self.option("w") {
            None => None,
            Some("majority") => Some(W::Majority),
            Some(text) => Some(match text.parse::<i64>() {
                Ok(number) => W::Number(u32::try_from(number).map_err(|_| UriError::Value {
                    name: "w",
                    value: text.to_owned(),
                    expected: "it must be a number from 0 on, `majority`, or a name",
                })?),
                Err(_) => W::Tag(text.to_owned()),
            }),
        };
        Ok(WriteConcern {
            w,
            journal: self.truth("journal")?,
            timeout_ms: match self.number("wTimeoutMS")? {
                Some(limit) => Some(limit),
                None => self.number("wtimeout")?,
            },
        })
    }

    /// How long connecting may take: `connectTimeoutMS`; 0 is no limit.
    ///
    /// # Errors
    /// When it is no number.
    pub fn connect_timeout(&self) -> Result<Option<Duration>, UriError> {
        let limit = self.number("connectTimeoutMS")?;
        Ok(limit.map(Duration::from_millis))
    }

    /// How long an operation may take: `timeoutMS`, else `socketTimeoutMS`. Nothing where that is 0, which is no limit.
    ///
    /// # Errors
    /// When it is no number.
    pub fn call_timeout(&self) -> Result<Option<Duration>, UriError> {
        let limit = match self.number("timeoutMS")? {
            Some(limit) => Some(limit),
            None => self.number("socketTimeoutMS")?,
        };
        Ok(limit.filter(|limit| *limit > 0).map(Duration::from_millis))
    }

    /// What this asks for that the [lean client](crate::LeanClient) cannot do, with the way out; nothing if it can do all of it.
    ///
    /// Several hosts and a replica set are no reason: the caller finds the primary and names it. Nor are sizes of pools: a lean client is
    /// one connection, and the caller knows how many there will be.
    #[must_use]
    pub fn lean_cannot(&self) -> Option<String> {
        let why = self.lean_lacks()?;
        Some(format!("the lean client {why}: use `client: driver`"))
    }

    /// The same as the end of a sentence about the lean client, without the way out.
    #[must_use]
    pub fn lean_lacks(&self) -> Option<String> {
        let is = |name: &str, value: &str| {
            self.option(name)
                .is_some_and(|found| found.eq_ignore_ascii_case(value))
        };
        if self.is_srv {
            return Some("does not look hosts up in the name service (`mongodb+srv://`)".into());
        }
        for name in ["tls", "ssl"] {
            if is(name, "true") {
                return Some(format!("has no TLS (`{name}=true`)"));
            }
        }
        if let Some(mechanism) = self.option("authMechanism")
            && !["DEFAULT", "SCRAM-SHA-1", "SCRAM-SHA-256"].contains(&mechanism)
        {
            return Some(format!(
                "proves users by SCRAM alone (`authMechanism={mechanism}`)"
            ));
        }
        if let Some(preference) = self.option("readPreference")
            && !preference.eq_ignore_ascii_case("primary")
        {
            return Some(format!(
                "reads from the primary alone (`readPreference={preference}`)"
            ));
        }
        if is("readConcernLevel", "snapshot") {
            return Some("has no sessions (`readConcernLevel=snapshot`)".into());
        }
        for (name, lacks) in [
            ("compressors", "does not compress"),
            ("readPreferenceTags", "reads from the primary alone"),
            ("maxStalenessSeconds", "reads from the primary alone"),
            ("proxyHost", "does not go through a proxy"),
        ] {
            if let Some(value) = self.option(name) {
                return Some(format!("{lacks} (`{name}={value}`)"));
            }
        }
        for (name, lacks) in [
            ("loadBalanced", "does not talk through load balancers"),
            ("causalConsistency", "has no sessions"),
        ] {
            if is(name, "true") {
                return Some(format!("{lacks} (`{name}=true`)"));
            }
        }
        None
    }

    fn number(&self, name: &'static str) -> Result<Option<u64>, UriError> {
        let Some(text) = self.option(name) else {
            return Ok(None);
        };
        let number = text.parse().map_err(|_| UriError::Value {
            name,
            value: text.to_owned(),
            expected: "it must be a number of milliseconds",
        })?;
        Ok(Some(number))
    }

    fn truth(&self, name: &'static str) -> Result<Option<bool>, UriError> {
        match self.option(name) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => Err(UriError::Value {
                name,
                value: other.to_owned(),
                expected: "it must be true or false",
            }),
        }
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.redacted())
    }
}

impl fmt::Debug for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uri({self})")
    }
}

/// What is before the first of these characters, and what is from there on.
fn split_before<'a>(text: &'a str, characters: &[char]) -> (&'a str, &'a str) {
    text.split_at(text.find(characters).unwrap_or(text.len()))
}

/// Without percent signs; `None` where one stands for nothing, or for what is not UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut behind = text.split('%');
    behind.next();
    for part in behind {
        let digits = part.as_bytes().get(..2)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
    }
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

fn parse_hosts(text: &str, is_srv: bool) -> Result<Vec<Host>, UriError> {
    let mut hosts = Vec::new();
    for (index, host) in text.split(',').enumerate() {
        let position = index + 1;
        if host.is_empty() {
            return Err(UriError::NoHost { position });
        }
        let (host, has_port) = parse_host(host).ok_or(UriError::Host { position })?;
        if is_srv && (has_port || position > 1 || matches!(host, Host::Unix(_))) {
            return Err(UriError::Srv);
        }
        hosts.push(host);
    }
    Ok(hosts)
}

/// A host, and whether it has a port of its own.
fn parse_host(text: &str) -> Option<(Host, bool)> {
    let (name, port) = if let Some(behind) = text.strip_prefix('[') {
        let (address, port) = behind.split_once(']')?;
        address.parse::<std::net::Ipv6Addr>().ok()?;
        (address.to_owned(), port)
    } else {
        let (name, port) = split_before(text, &[':']);
        let name = decode(name)?;
        if name.contains('/') {
            return port.is_empty().then_some((Host::Unix(name.into()), false));
        }
        (name, port)
    };
    if name.is_empty() || name.contains(|c: char| c.is_control() || c.is_whitespace() || c == '@') {
        return None;
    }
    let (port, has_port) = match port.strip_prefix(':') {
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            let port: u16 = digits.parse().ok()?;
            (Some(port).filter(|port| *port > 0)?, true)
        }
        Some(_) => return None,
        None if port.is_empty() => (DEFAULT_PORT, false),
        None => return None,
    };
    Some((Host::Tcp { host: name, port }, has_port))
}

fn parse_options(text: &str) -> Result<Vec<(String, String)>, UriError> {
    let mut options = Vec::new();
    for option in text.split('&').filter(|option| !option.is_empty()) {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, value),
            None => (option, ""),
        };
        // It may be the rest of a password.
        if name.contains(['@', ':', '/', '?']) {
            return Err(UriError::UserInfo);
        }
        if name.is_empty() || value.is_empty() {
            return Err(UriError::NoValue {
                name: name.to_owned(),
            });
        }
        let value = decode(value).ok_or(UriError::Percent { place: "options" })?;
        options.push((name.to_owned(), value));
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tcp(host: &str, port: u16) -> Host {
        Host::Tcp {
            host: host.into(),
            port,
        }
    }

    #[test]
    fn every_part_is_found() {
        let uri = Uri::parse(
            "mongodb://m%65:p%40ss%3a@db1,db2:27018,[::1]:5,%2Ftmp%2Fmongodb-1.sock/y%63sb?W=1&journal=TRUE&appName=a%20b",
        )
        .unwrap();
        assert_eq!(
            uri.hosts(),
            [
                tcp("db1", 27_017),
                tcp("db2", 27_018),
                tcp("::1", 5),
                Host::Unix("/tmp/mongodb-1.sock".into())
            ]
        );
        assert_eq!((uri.user(), uri.password()), (Some("me"), Some("p@ss:")));
        assert_eq!(uri.database(), Some("ycsb"));
        assert_eq!(uri.auth_source(), "ycsb");
        assert_eq!(uri.option("w"), Some("1"));
        assert_eq!(uri.option("APPNAME"), Some("a b"));
        assert_eq!(uri.options().count(), 3);
        assert!(!uri.is_srv());

        let least = Uri::parse("mongodb://h").unwrap();
        assert_eq!(least.hosts(), [tcp("h", 27_017)]);
        assert_eq!((least.user(), least.password()), (None, None));
        assert_eq!((least.database(), least.auth_source()), (None, "admin"));
        // The slash may be left out, and there may be one for no database.
        assert_eq!(
            Uri::parse("mongodb://h?w=2").unwrap().option("w"),
            Some("2")
        );
        assert_eq!(Uri::parse("mongodb://h/?w=2").unwrap().database(), None);
        assert_eq!(Uri::parse("mongodb://h/").unwrap().database(), None);
        let source = Uri::parse("mongodb://u:p@h/d?authSource=other").unwrap();
        assert_eq!(source.auth_source(), "other");
        // Of two, the last.
        let twice = Uri::parse("mongodb://h/?w=1&&w=2").unwrap();
        assert_eq!(twice.option("w"), Some("2"));
        let srv = Uri::parse("mongodb+srv://u:p@cluster.example.net/d").unwrap();
        assert!(srv.is_srv());
        assert_eq!(srv.hosts(), [tcp("cluster.example.net", 27_017)]);
    }

    #[test]
    fn what_is_wrong_is_told_without_the_password() {
        let host = UriError::Host { position: 1 };
        let no_value = |name: &str| UriError::NoValue { name: name.into() };
        for (text, expected) in [
            ("", UriError::Scheme),
            ("http://h", UriError::Scheme),
            ("mongodb:/h", UriError::Scheme),
            ("mongodb://u:s3c ret@h", UriError::Character),
            ("mongodb://u:s3c\tret@h", UriError::Character),
            ("mongodb://u:s3c@ret@h", UriError::UserInfo),
            ("mongodb://u:s3c:ret@h", UriError::UserInfo),
            ("mongodb://u:s3c/ret@h", UriError::UserInfo),
            ("mongodb://u:s3c%ret@h", UriError::UserInfo),
            ("mongodb://u:s3c%ff@h", UriError::UserInfo),
            ("mongodb://u:s3c?ret@h", host.clone()),
            ("mongodb://u:1?s3cret@h", UriError::UserInfo),
            ("mongodb://:p@h", UriError::NoUser),
            ("mongodb://@h", UriError::NoUser),
            ("mongodb://", UriError::NoHost { position: 1 }),
            ("mongodb://u:p@", UriError::NoHost { position: 1 }),
            ("mongodb://h1,,h3", UriError::NoHost { position: 2 }),
            ("mongodb:///d", UriError::NoHost { position: 1 }),
            ("mongodb://h:0", host.clone()),
            ("mongodb://h:65536", host.clone()),
            ("mongodb://h:+5", host.clone()),
            ("mongodb://h:", host.clone()),
            ("mongodb://::1", host.clone()),
            ("mongodb://[::1", host.clone()),
            ("mongodb://[::g]", host.clone()),
            ("mongodb://[::1]5", host.clone()),
            ("mongodb://:5", host.clone()),
            ("mongodb://%zz", host.clone()),
            ("mongodb://%2Ftmp%2Fa.sock:5", host),
            ("mongodb://h1,h2:x", UriError::Host { position: 2 }),
            ("mongodb+srv://h:1", UriError::Srv),
            ("mongodb+srv://h1,h2", UriError::Srv),
            ("mongodb+srv://%2Fa.sock", UriError::Srv),
            ("mongodb://h/d.e", UriError::Database),
            ("mongodb://h/d/e", UriError::Database),
            ("mongodb://h//d", UriError::Database),
            ("mongodb://h/%24d", UriError::Database),
            ("mongodb://h/%", UriError::Percent { place: "database" }),
            ("mongodb://h/?a=%f", UriError::Percent { place: "options" }),
            ("mongodb://h/?a=%fé", UriError::Percent { place: "options" }),
            ("mongodb://h/?a", no_value("a")),
            ("mongodb://h/?a=", no_value("a")),
            ("mongodb://h/?=a", no_value("")),
        ] {
            let error = Uri::parse(text).unwrap_err();
            assert_eq!(error, expected, "{text}");
            let said = format!("{error} {error:?}");
            assert!(!said.contains("s3c") && !said.contains("ret"), "{said}");
        }
    }

    #[test]
    fn the_password_is_seen_only_where_it_must_be() {
        let text = "mongodb://me:s3cret@h/d?tlsCertificateKeyFilePassword=s3cret&appName=b:c";
        let uri = Uri::parse(text).unwrap();
        assert_eq!(uri.exposed(), text);
        let hidden = "mongodb://me:***@h/d?tlsCertificateKeyFilePassword=***&appName=***";
        assert_eq!(uri.redacted(), hidden);
        assert_eq!(uri.to_string(), hidden);
        let plain = Uri::parse("mongodb://me:s3cret@h/d?w=1").unwrap();
        assert_eq!(plain.redacted(), "mongodb://me:***@h/d?w=1");
        assert_eq!(format!("{plain:?}"), "Uri(mongodb://me:***@h/d?w=1)");
        let credentials = plain.credentials().unwrap().unwrap();
        assert_eq!(credentials.password, "s3cret");
        assert!(!format!("{credentials:?}").contains("s3cret"));
    }

    #[test]
    fn options_are_added_and_replaced() {
        let with = |text: &str, name: &str, value: &str| {
            Uri::parse(text)
                .unwrap()
                .with_option(name, value)
                .unwrap()
                .exposed()
                .to_owned()
        };
        assert_eq!(with("mongodb://h", "w", "1"), "mongodb://h/?w=1");
        assert_eq!(with("mongodb://h?w=2", "w", "1"), "mongodb://h/?w=1");
        assert_eq!(with("mongodb://h/d", "w", "1"), "mongodb://h/d?w=1");
        assert_eq!(with("mongodb://h/d?", "w", "1"), "mongodb://h/d?w=1");
        assert_eq!(
            with("mongodb://u:p%2F@h/d?a=b%20c&W=3&w=4&e=f", "w", "majority"),
            "mongodb://u:p%2F@h/d?a=b%20c&e=f&w=majority"
        );
        assert_eq!(
            with("mongodb://h", "appName", "a b&c=d"),
            "mongodb://h/?appName=a%20b%26c%3Dd"
        );
        let uri = Uri::parse("mongodb://h").unwrap();
        assert!(uri.with_option("", "1").is_err());
        assert!(uri.with_option("a&b", "1").is_err());
    }

    #[test]
    fn options_that_mean_something_are_understood() {
        let parse = |options: &str| Uri::parse(&format!("mongodb://h/?{options}")).unwrap();
        let concern = parse("w=majority&journal=true&wtimeoutMS=5").write_concern();
        assert_eq!(
            concern,
            Ok(WriteConcern {
                w: Some(W::Majority),
                journal: Some(true),
                timeout_ms: Some(5)
            })
        );
        assert_eq!(parse("w=0").write_concern().unwrap().w, Some(W::Number(0)));
        let tag = Some(W::Tag("both".into()));
        assert_eq!(parse("w=both").write_concern().unwrap().w, tag);
        assert_eq!(parse("a=b").write_concern(), Ok(WriteConcern::default()));
        assert!(parse("w=-1").write_concern().is_err());
        assert!(parse("journal=yes").write_concern().is_err());
        assert!(parse("wtimeoutMS=soon").write_concern().is_err());
        let millis = |number| Ok(Some(Duration::from_millis(number)));
        assert_eq!(parse("connectTimeoutMS=7").connect_timeout(), millis(7));
        assert_eq!(parse("socketTimeoutMS=7").call_timeout(), millis(7));
        assert_eq!(
            parse("socketTimeoutMS=7&timeoutMS=8").call_timeout(),
            millis(8)
        );
        assert_eq!(parse("socketTimeoutMS=0").call_timeout(), Ok(None));
        let of = |text: &str| Uri::parse(text).unwrap().credentials();
        assert_eq!(of("mongodb://h/?authSource=a"), Ok(None));
        assert_eq!(of("mongodb://u@h"), Err(UriError::NoPassword));
        assert!(of("mongodb://u:p@h/?authMechanism=PLAIN").is_err());
        let sha = of("mongodb://u:p@h/?authMechanism=SCRAM-SHA-1")
            .unwrap()
            .unwrap();
        assert_eq!(sha.mechanism, Some(Mechanism::ScramSha1));
    }

    #[test]
    fn what_the_lean_client_cannot_do_is_named() {
        for (options, named) in [
            ("tls=true", "tls=true"),
            ("ssl=true", "ssl=true"),
            ("compressors=zstd,snappy", "compressors=zstd,snappy"),
            (
                "readPreference=secondaryPreferred",
                "readPreference=secondaryPreferred",
            ),
            ("readPreferenceTags=dc:ny", "readPreferenceTags"),
            ("authMechanism=MONGODB-X509", "authMechanism=MONGODB-X509"),
            ("authMechanism=GSSAPI", "authMechanism=GSSAPI"),
            ("authMechanism=MONGODB-AWS", "authMechanism=MONGODB-AWS"),
            ("causalConsistency=true", "causalConsistency=true"),
            ("loadBalanced=true", "loadBalanced=true"),
            ("readConcernLevel=snapshot", "readConcernLevel=snapshot"),
        ] {
            let uri = Uri::parse(&format!("mongodb://u:p@h/?{options}")).unwrap();
            let cannot = uri.lean_cannot().unwrap();
            assert!(cannot.contains(named), "{cannot}");
            assert!(cannot.contains("`client: driver`"), "{cannot}");
        }
        let srv = Uri::parse("mongodb+srv://h").unwrap();
        assert!(srv.lean_cannot().unwrap().contains("mongodb+srv"));
        let can = "mongodb://u:p@h1,h2/d?replicaSet=rs0&w=majority&journal=true&tls=false&readPreference=primary\
                   &retryWrites=true&readConcernLevel=majority&maxPoolSize=100&authMechanism=SCRAM-SHA-256";
        assert_eq!(Uri::parse(can).unwrap().lean_cannot(), None);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "(mongodb://)?.{0,60}") {
            if let Ok(uri) = Uri::parse(&text) {
                prop_assert_eq!(uri.exposed(), text);
                let _ = (uri.redacted(), uri.lean_cannot(), uri.credentials(), uri.write_concern());
            }
        }

        #[test]
        fn what_was_percent_encoded_comes_back(user in ".{1,20}", password in ".{0,20}", value in ".{1,20}") {
            let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
            let text = format!("mongodb://{}:{}@h/d?appName={}", encode(&user), encode(&password), encode(&value));
            let uri = Uri::parse(&text).unwrap();
            prop_assert_eq!(uri.user(), Some(&*user));
            prop_assert_eq!(uri.password(), Some(&*password));
            prop_assert_eq!(uri.option("appName"), Some(&*value));
            let again = uri.with_option("appName", &value).unwrap();
            prop_assert_eq!(again.option("appName"), Some(&*value));
        }
    }
}
