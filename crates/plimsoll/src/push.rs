//! `plimsoll push` and `plimsoll pull`: results to a server of a team, and from it.

use crate::arguments;
use crate::bundle::bundled;
use crate::exit::Exit;
use crate::read::{record, store_path};
use crate::screen::{print, tell};
use crate::show::drawn;
use anyhow::{Context, bail};
use plimsoll_judge::{Analysis, analyse};
use plimsoll_plan::sha256;
use plimsoll_record::ExperimentRecord;
use plimsoll_report::{Report, text::line};
use plimsoll_store::{Accepted, Arrival, Store};
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;
use ureq::http::{Response, StatusCode, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};
use url::Url;

/// Where the token is, unless in a file.
const TOKEN: &str = "PLIMSOLL_PUSH_TOKEN";

/// Pauses before a bundle is sent again where the server could not be reached or was busy.
const PAUSES: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(15),
];
/// Longest time for a connection, and for all of an exchange.
const LONGEST_CONNECT: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(600);
/// Bytes of a record that comes, which is held in memory, of what a server says, and of a token's file.
const LARGEST_RECORD: u64 = 1 << 30;
const LARGEST_ANSWER: u64 = 1 << 20;
const LARGEST_TOKEN: u64 = 1 << 10;

/// A server, and what it lets us in by.
struct Server {
    url: Url,
    token: Option<String>,
    agent: Agent,
}

/// What a server says of a bundle.
#[derive(Deserialize)]
struct Taken {
    accepted: Accepted,
    page: String,
}

/// What it says where it does not take one.
#[derive(Deserialize)]
struct NotTaken {
    error: String,
}

/// `plimsoll push`.
pub fn push(arguments: &arguments::Push, store: Option<&Path>) -> anyhow::Result<Exit> {
    let server = Server::new(&arguments.url, arguments.token_file.as_deref())?;
    for wanted in &arguments.experiments {
        let record = record(wanted, store)?;
        let analysis = analyse(&record)?;
        server.send(&record, &analysis)?;
    }
    Ok(Exit::Good)
}

/// Sends a result at the end of what made it. A result that could not be sent is still in the store, and how it is sent later is said.
pub fn at_the_end(
    url: Option<&str>,
    record: &ExperimentRecord,
    analysis: &Analysis,
    exit: Exit,
) -> Exit {
    let Some(url) = url else { return exit };
    let sent = Server::new(url, None).and_then(|server| server.send(record, analysis));
    let Err(error) = sent else { return exit };
    tell(format_args!(
        "not sent: {error:#}. The result is in the store; to send it later: plimsoll push {url} {}",
        record.id
    ));
    match exit {
        Exit::Good => Exit::Failed,
        other => other,
    }
}

/// `plimsoll pull`.
pub fn pull(arguments: &arguments::Pull, store: Option<&Path>) -> anyhow::Result<Exit> {
    let server = Server::new(&arguments.url, arguments.token_file.as_deref())?;
    let mut open = Store::open(&store_path(store)?)?;
    for wanted in &arguments.experiments {
        let text = server.record_of(wanted)?;
        let record = ExperimentRecord::from_json(&text)
            .with_context(|| format!("cannot use what {} has as {wanted}", server.name()))?;
        let arrival = Arrival {
            by: server.name(),
            at: format!("{:.3}", jiff::Timestamp::now()),
            sha256: sha256(&text),
        };
        let what = match open.accept(&record, &arrival)? {
            Accepted::New => "fetched",
            Accepted::Grown => "fetched what was new of",
            Accepted::Known => "has already been here:",
        };
        print(format_args!(
            "{what} {} ({})\n",
            line(&record.id),
            line(&record.name)
        ))?;
    }
    Ok(Exit::Good)
}

impl Server {
    fn new(url: &str, token_file: Option<&Path>) -> anyhow::Result<Self> {
        let mut parsed = Url::parse(url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .with_context(|| {
                format!("`{url}` is no address of a server: write https://HOST or http://HOST:PORT")
            })?;
        // The address that a server prints for browsers has a token in it.
        let shown = parsed.query_pairs().find(|(name, _)| name == "token");
        let shown = shown.map(|(_, token)| token.into_owned());
        parsed.set_query(None);
        parsed.set_fragment(None);
        if !parsed.path().ends_with('/') {
            parsed.set_path(&format!("{}/", parsed.path()));
        }
        let token = match (token_file, std::env::var(TOKEN)) {
            (Some(file), _) => {
                let text = plimsoll_files::read_text(file, LARGEST_TOKEN);
                let text =
                    text.with_context(|| format!("cannot read the token file {}", file.display()))?;
                Some(text.trim().to_owned())
            }
            (None, Ok(token)) if !token.is_empty() => Some(token),
            _ => shown,
        };
        if token.is_some() && parsed.scheme() == "http" && !is_here(&parsed) {
            tell(format_args!(
                "the token travels to {} in clear: use https through a proxy there, or a tunnel by ssh",
                parsed.host_str().unwrap_or_default()
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
        Ok(Self {
            url: parsed,
            token,
            agent,
        })
    }

    fn name(&self) -> String {
        self.url[url::Position::BeforeHost..url::Position::BeforePath].to_owned()
    }

    /// Bundles a result and sends it, more than once where the server cannot be reached or is busy.
    fn send(&self, record: &ExperimentRecord, analysis: &Analysis) -> anyhow::Result<()> {
        let report = Report { record, analysis };
        let bytes = bundled(&report, &drawn(&report))?;
        let url = self.url.join(&format!("bundles/{}", sha256(&bytes)))?;
        let mut pauses = PAUSES.iter();
        loop {
            let put = self.agent.put(url.as_str());
            let put = put
                .header(header::CONTENT_TYPE, "application/zip")
                // What a server refuses it refuses before the bundle goes there.
                .header(header::EXPECT, "100-continue");
            let answer = self.with_token(put).send(&bytes[..]);
            let (problem, pause) = match answer {
                Ok(mut answer) if answer.status().is_success() => {
                    return self.said(record, &text_of(&mut answer, LARGEST_ANSWER)?);
                }
                Ok(mut answer) => {
                    let is_busy = matches!(
                        answer.status(),
                        StatusCode::SERVICE_UNAVAILABLE
                            | StatusCode::BAD_GATEWAY
                            | StatusCode::GATEWAY_TIMEOUT
                            | StatusCode::REQUEST_TIMEOUT
                    );
                    let why = self.why(&mut answer);
                    (why, if is_busy { pauses.next() } else { None })
                }
                Err(error) => (error.to_string(), pauses.next()),
            };
            let Some(pause) = pause else {
                bail!("{} does not take {}: {problem}", self.name(), record.id);
            };
            tell(format_args!(
                "{}: {problem}; once more in {} s",
                self.name(),
                pause.as_secs()
            ));
            std::thread::sleep(*pause);
        }
    }

    fn said(&self, record: &ExperimentRecord, answer: &str) -> anyhow::Result<()> {
        let taken: Taken = serde_json::from_str(answer)
            .with_context(|| format!("{} is no plimsoll serve", self.name()))?;
        let what = match taken.accepted {
            Accepted::New => "sent",
            Accepted::Grown => "sent what was new of",
            Accepted::Known => "has already been there:",
        };
        let page = self.url.join(taken.page.trim_start_matches('/'))?;
        print(format_args!(
            "{what} {} ({}): {page}\n",
            line(&record.id),
            line(&record.name)
        ))?;
        Ok(())
    }

    /// The record of an experiment, as text.
    fn record_of(&self, wanted: &str) -> anyhow::Result<String> {
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
        let server = Server::new("http://127.0.0.1:7546/?token=0123456789abcdef", None).unwrap();
        assert_eq!(server.url.as_str(), "http://127.0.0.1:7546/");
        assert_eq!(server.name(), "127.0.0.1:7546");
        assert_eq!(server.token.as_deref(), Some("0123456789abcdef"));
        let behind = Server::new("https://team.example/plimsoll", None).unwrap();
        let bundle = behind.url.join("bundles/ab").unwrap();
        assert_eq!(bundle.as_str(), "https://team.example/plimsoll/bundles/ab");
        assert_eq!(behind.name(), "team.example");
        for wrong in ["team.example", "ftp://team.example", "", "https://"] {
            assert!(Server::new(wrong, None).is_err(), "{wrong}");
        }
    }
}
