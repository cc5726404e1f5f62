//! `plimsoll push` and `plimsoll pull`: results to a server of a team, and from it.

mod going;
mod server;

pub use going::Sending;
pub use server::Server;

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
use server::NotSent;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Pauses before a bundle is sent again where the server could not be reached or was busy.
const PAUSES: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(15),
];
/// Longest time for a bundle.
const LONGEST: Duration = Duration::from_secs(600);

/// What a server says of a bundle.
#[derive(Deserialize)]
struct Taken {
    accepted: Accepted,
    page: String,
}

/// `plimsoll push`.
pub fn push(arguments: &arguments::Push, store: Option<&Path>) -> anyhow::Result<Exit> {
    let server = Server::new(&arguments.url, arguments.token_file.as_deref())?;
    for wanted in &arguments.experiments {
        if arguments.live {
            going::follow(&server, &store_path(store)?, wanted)?;
        }
        let record = record(wanted, store)?;
        let analysis = analyse(&record)?;
        send(&server, &record, &analysis)?;
    }
    Ok(Exit::Good)
}

/// The server that a result goes to, if any. What is wrong with it is known before anything is measured.
pub fn to(arguments: &arguments::SendTo) -> anyhow::Result<Option<Arc<Server>>> {
    let server = arguments.push.as_ref().map(|url| Server::new(url, None));
    Ok(server.transpose()?.map(Arc::new))
}

/// Sends a result at the end of what made it. A result that could not be sent is still in the store, and how it is sent later is said.
pub fn at_the_end(
    server: Option<&Server>,
    record: &ExperimentRecord,
    analysis: &Analysis,
    exit: Exit,
) -> Exit {
    let Some(server) = server else { return exit };
    let Err(error) = send(server, record, analysis) else {
        return exit;
    };
    tell(format_args!(
        "not sent: {error:#}. The result is in the store; to send it later: plimsoll push {} {}",
        server.url(),
        record.id
    ));
    match exit {
        Exit::Good => Exit::Failed,
        other => other,
    }
}

/// Bundles a result and sends it, more than once where the server cannot be reached or is busy.
fn send(server: &Server, record: &ExperimentRecord, analysis: &Analysis) -> anyhow::Result<()> {
    let report = Report { record, analysis };
    let bytes = bundled(&report, &drawn(&report, &[]))?;
    let path = format!("bundles/{}", sha256(&bytes));
    let mut pauses = PAUSES.iter();
    let answer = loop {
        let (why, pause) = match server.put(&path, "application/zip", &bytes, LONGEST) {
            Ok(answer) => break answer,
            Err(NotSent::Refused(why)) => (why, None),
            Err(NotSent::NotNow(why)) => (why, pauses.next()),
        };
        let Some(pause) = pause else {
            bail!("{} does not take {}: {why}", server.name(), record.id);
        };
        let seconds = pause.as_secs();
        tell(format_args!(
            "{}: {why}; once more in {seconds} s",
            server.name()
        ));
        std::thread::sleep(*pause);
    };
    let taken: Taken = serde_json::from_str(&answer)
        .with_context(|| format!("{} is no plimsoll serve", server.name()))?;
    let what = match taken.accepted {
        Accepted::New => "sent",
        Accepted::Grown => "sent what was new of",
        Accepted::Known => "has already been there:",
    };
    let page = server.url().join(taken.page.trim_start_matches('/'))?;
    print(format_args!(
        "{what} {} ({}): {page}\n",
        line(&record.id),
        line(&record.name)
    ))?;
    Ok(())
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
            sha256: Some(sha256(&text)),
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
