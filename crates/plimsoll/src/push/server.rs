//! A server of a team, as its clients see it.

use crate::screen::tell;
use anyhow::{Context, bail};
use plimsoll_report::text::line;
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;
use ureq::http::{Response, StatusCode, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};
use url::Url;

/// Where the token is, unless in a file.
const TOKEN: &str = "PLIMSOLL_PUSH_TOKEN";

/// Longest time for a connection, and for all of an exchange.
const LONGEST_CONNECT: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(600);
/// Bytes of a record that comes, which is held in memory, of what a server says, and of a token's file.
const LARGEST_RECORD: u64 = 1 << 30;
const LARGEST_ANSWER: u64 = 1 << 20;
const LARGEST_TOKEN: u64 = 1 << 10;

/// A server, and what it lets us in by.
pub struct Server {
    url: Url,
    token: Option<String>,
    agent: Agent,
}

/// Why something was not sent, in words.
pub enum NotSent {
    /// Another try would end in the same way.
    Refused(String),
    /// The server cannot be reached, or is busy.
    NotNow(String),
}

/// What a server says where it does not take something.
#[derive(Deserialize)]
struct NotTaken {
    error: String,
}

impl Server {
    /// The server at an address, and the token of a file, of the environment, or of the address.
    pub fn new(url: &Url, token_file: Option<&Path>) -> anyhow::Result<Self> {
        // The address that a server prints for browsers has a token in it.
        let shown = url.query_pairs().find(|(name, _)| name == "token");
        let shown = shown.map(|(_, token)| token.into_owned());
        let mut url = url.clone();
        url.set_query(None);
        url.set_fragment(None);
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        let token = match (token_file, std::env::var(TOKEN)) {
            (Some(file), _) => {
                let text = plimsoll_record::files::read_text(file, LARGEST_TOKEN);
                let text =
                    text.with_context(|| format!("cannot read the token file {}", file.display()))?;
                Some(text.trim().to_owned())
            }
            (None, Ok(token)) if !token.is_empty() => Some(token),
            _ => shown,
        };
        if token.is_some() && url.scheme() == "http" && !is_here(&url) {
            tell(format_args!(
                "the token travels to {} in clear: use https through a proxy there, or a tunnel by ssh",
                url.host_str().unwrap_or_default()
            ));
        }
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .build();
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(LONGEST_CONNECT))
            .timeout_global(Some(LONGEST))
            .tls_config(tls)
            .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        Ok(Self { url, token, agent })
    }

    /// As its address names it.
    pub fn name(&self) -> String {
        self.url[url::Position::BeforeHost..url::Position::BeforePath].to_owned()
    }

    /// Its address, without a token, with a slash at the end.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Puts something to a path below its address, and returns what it says then.
    pub fn put(
        &self,
        path: &str,
        kind: &str,
        bytes: &[u8],
        longest: Duration,
    ) -> Result<String, NotSent> {
        let url = self.url.join(path);
        let url = url.map_err(|error| NotSent::Refused(error.to_string()))?;
        let put = self
            .agent
            .put(url.as_str())
            .header(header::CONTENT_TYPE, kind)
            // What a server refuses it refuses before all of it goes there.
            .header(header::EXPECT, "100-continue");
        let put = self.with_token(put).config().timeout_global(Some(longest));
        let mut answer = match put.build().send(bytes) {
            Ok(answer) => answer,
            Err(error) if is_for_good(&error) => return Err(NotSent::Refused(error.to_string())),
            Err(error) => return Err(NotSent::NotNow(error.to_string())),
        };
        match answer.status() {
            status if status.is_success() => text_of(&mut answer, LARGEST_ANSWER)
                .map_err(|error| NotSent::NotNow(format!("{error:#}"))),
            StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::BAD_GATEWAY
            | StatusCode::GATEWAY_TIMEOUT
            | StatusCode::REQUEST_TIMEOUT
            | StatusCode::TOO_MANY_REQUESTS => Err(NotSent::NotNow(self.why(&mut answer))),
            _ => Err(NotSent::Refused(self.why(&mut answer))),
        }
    }

    /// The record of an experiment, as text.
    pub fn record_of(&self, wanted: &str) -> anyhow::Result<String> {
        let mut url = self.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty()
                .extend(["experiment", wanted, "files", "record.json"]);
        }
        let get = self.with_token(self.agent.get(url.as_str()));
        let answer = get.call();
        let mut answer = answer.with_context(|| format!("cannot reach {}", self.name()))?;
        if answer.status() == StatusCode::NOT_FOUND {
            bail!("{} has no experiment {wanted:?}", self.name());
        }
        if !answer.status().is_success() {
            let why = self.why(&mut answer);
            bail!("{} does not give {wanted}: {why}", self.name());
        }
        text_of(&mut answer, LARGEST_RECORD)
    }

    fn with_token<Any>(&self, request: ureq::RequestBuilder<Any>) -> ureq::RequestBuilder<Any> {
        match &self.token {
            Some(token) => request.header(header::AUTHORIZATION, format!("Bearer {token}")),
            None => request,
        }
    }

    /// Why a server did not do as asked.
    fn why(&self, answer: &mut Response<Body>) -> String {
        let status = answer.status();
        let said = text_of(answer, LARGEST_ANSWER).unwrap_or_default();
        if let Ok(NotTaken { error }) = serde_json::from_str(&said) {
            return line(&error).into_owned();
        }
        match (status, &self.token) {
            (StatusCode::UNAUTHORIZED, None) => {
                format!("a token is needed: put it into {TOKEN}, or name its file with --token-file")
            }
            (StatusCode::UNAUTHORIZED | StatusCode::METHOD_NOT_ALLOWED | StatusCode::FORBIDDEN, _) => {
                "it takes no results by this token: it must be started with --accept FILE, and have the token in that file".to_owned()
            }
            _ => format!("it answers {status}"),
        }
    }
}

/// Whether it would fail the same way again: a certificate that is not known.
fn is_for_good(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Rustls(_) => true,
        ureq::Error::Io(error) => error.kind() == std::io::ErrorKind::InvalidData,
        _ => false,
    }
}

/// Whether a server is on this machine, so that nobody hears what is sent there.
fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

fn text_of(answer: &mut Response<Body>, most: u64) -> anyhow::Result<String> {
    let body = answer.body_mut().with_config().limit(most);
    body.read_to_string()
        .context("the answer did not come to its end")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_as_it_was_printed() {
        let server = |url: &str| Server::new(&Url::parse(url).unwrap(), None).unwrap();
        let here = server("http://127.0.0.1:7546/?token=0123456789abcdef");
        assert_eq!(here.url.as_str(), "http://127.0.0.1:7546/");
        assert_eq!(here.name(), "127.0.0.1:7546");
        assert_eq!(here.token.as_deref(), Some("0123456789abcdef"));
        let behind = server("https://team.example/plimsoll");
        let bundle = behind.url.join("bundles/ab").unwrap();
        assert_eq!(bundle.as_str(), "https://team.example/plimsoll/bundles/ab");
        assert_eq!(behind.name(), "team.example");
    }
}
