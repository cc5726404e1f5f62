//! What is seen of a server by its URI.

use crate::ImitateError;
use crate::calls::SYSTEM;
use crate::collections::{self, figure};
use crate::documents::numeric;
use crate::model::{Observed, ServerFacts, Source};
use crate::server::Server;
use crate::{Call, log, shapes};
use mongodb::bson::{Document, doc};
use plimsoll_record::files::open;
use plimsoll_record::quantities::words::grouped;
use std::fmt::Display;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::{Duration, Instant};

/// Counters of `serverStatus` that are operations of users.
const COUNTERS: [&str; 4] = ["query", "insert", "update", "delete"];

/// What an operator may do, and its price as measured on YCSB's workload C.
const PROFILER: &str = "an operator can have them profiled: `db.setProfilingLevel(1, {slowms: -1, sampleRate: 0.01})` costs a read 9 % more of the server's CPU (128 us in place of 117 us; 183 us without the sampleRate), and `db.setProfilingLevel(0)` ends it";

#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub uri: &'a str,
    /// `None`: the database of the URI, or else the largest one.
    pub database: Option<&'a str>,
    /// A file of the server's log in which operations are read, in place of the profile.
    pub log: Option<&'a Path>,
    /// The time between two readings of the server's counters.
    pub watch: Duration,
}

/// Looks at a server, and changes nothing there. Each step is reported to `progress` in one line.
pub fn observe(
    request: &Request<'_>,
    progress: &mut dyn FnMut(&str),
) -> Result<Observed, ImitateError> {
    // A log that cannot be read is an error before any request to the server.
    let log = request.log.map(opened).transpose()?;
    let server = Server::connect(request.uri)?;
    let hello = server.send("admin", doc! { "isMaster": 1 })?.unwrap_or_default();
    let now_ms = hello.get_datetime("localTime").map_or(0, |now| now.timestamp_millis());
    let mut seen = Observed { server: facts(&server, &hello)?, ..Observed::default() };
    let first = counters(&server)?;
    let begun = Instant::now();
    seen.database = database(&server, request, &mut seen.omitted)?;
    seen.collections =
        collections::read(&server, &seen.database, now_ms, progress, &mut seen.omitted)?;
    if seen.collections.is_empty() {
        let mut why = seen.omitted.clone();
        why.extend(server.refused());
        return Err(ImitateError::new(format!(
            "the database {} has no collection that can be imitated ({}); name another with --database, or use a user with the role read",
            seen.database,
            why.join("; ")
        )));
    }
    let left = request.watch.saturating_sub(begun.elapsed());
    if !left.is_zero() {
        progress(&format!("watching the server for {} s", left.as_secs().max(1)));
        std::thread::sleep(left);
    }
    let seconds = begun.elapsed().as_secs_f64();
    let rate = |((name, before), (_, after)): (&(String, u64), &(String, u64))| {
        (name.clone(), after.saturating_sub(*before) as f64 / seconds)
    };
    let second = counters(&server)?;
    seen.server.rates = first.iter().zip(&second).map(rate).collect();
    operations(&server, log, &mut seen)?;
    progress(&match seen.source {
        Source::None => format!("no operation was seen, so operations are guessed; {PROFILER}"),
        _ => format!(
            "{} calls of {} kinds were seen",
            grouped(seen.calls as f64, 0),
            seen.shapes.len()
        ),
    });
    seen.omitted.extend(server.refused());
    Ok(seen)
}

type LogFile<'a> = (&'a Path, log::Calls<BufReader<File>>);

fn opened(path: &Path) -> Result<LogFile<'_>, ImitateError> {
    let file = open(path).map_err(|error| failed(path, &error))?;
    let calls = log::calls(BufReader::new(file)).map_err(|error| failed(path, &error))?;
    Ok((path, calls))
}

fn failed(path: &Path, error: &dyn Display) -> ImitateError {
    ImitateError::new(format!("{}: {error}", path.display()))
}

/// Finds the operations in the log that was given, otherwise in the profile, otherwise in the last lines of the log.
fn operations(
    server: &Server,
    log: Option<LogFile<'_>>,
    seen: &mut Observed,
) -> Result<(), ImitateError> {
    if let Some((path, mut calls)) = log {
        shaped(Source::LogFile, &mut calls, seen);
        let log::Skipped { truncated, .. } = calls.skipped();
        if truncated > 0 {
            seen.omitted.push(format!("{truncated} operations of the log that the server cut short; a larger maxLogSizeKB keeps them"));
        }
        return calls.error().map_or(Ok(()), |error| Err(failed(path, error)));
    }
    let profile = server.profile(&seen.database)?;
    shaped(Source::Profile, profile.iter().filter_map(Call::of_profile), seen);
    if seen.source == Source::None {
        let lines = server.recent_log()?.join("\n");
        // Before 4.4 the log is text.
        if let Ok(calls) = log::calls(lines.as_bytes()) {
            shaped(Source::RecentLog, calls, seen);
        }
    }
    Ok(())
}

/// Groups calls to the collections that were seen.
fn shaped(source: Source, calls: impl Iterator<Item = Call>, seen: &mut Observed) {
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    let calls = calls.inspect(|call| {
        first = first.min(call.at_ms);
        last = last.max(call.at_ms);
    });
    seen.shapes = shapes(calls, &seen.collections);
    seen.calls = seen.shapes.iter().map(|shape| shape.calls).sum();
    if seen.calls > 0 {
        seen.source = source;
        seen.seconds = last.saturating_sub(first) as f64 / 1e3;
    }
}

fn facts(server: &Server, hello: &Document) -> Result<ServerFacts, ImitateError> {
    let ask = |command: &str| Ok(server.send("admin", doc! { command: 1 })?.unwrap_or_default());
    let (build, status, host) = (ask("buildInfo")?, ask("serverStatus")?, ask("hostInfo")?);
    let part =
        |document: &Document, name: &str| document.get_document(name).cloned().unwrap_or_default();
    let cache = part(&part(&status, "wiredTiger"), "cache");
    let system = part(&host, "system");
    let known = |document: &Document, key: &str| document.get(key).and_then(numeric);
    Ok(ServerFacts {
        version: build.get_str("version").unwrap_or("of an unknown version").into(),
        members: hello.get_array("hosts").map_or(0, |hosts| hosts.len() as u32),
        cache_bytes: known(&cache, "maximum bytes configured").map(|bytes| bytes as u64),
        processors: known(&system, "numCores").map(|cores| cores as u32),
        memory_bytes: known(&system, "memSizeMB").map(|size| size as u64 * (1 << 20)),
        rates: Vec::new(),
    })
}

fn counters(server: &Server) -> Result<Vec<(String, u64)>, ImitateError> {
    let status = server.send("admin", doc! { "serverStatus": 1 })?.unwrap_or_default();
    let counters = status.get_document("opcounters").ok();
    let counter =
        |counters| COUNTERS.map(|name| (name.to_owned(), figure(counters, name))).to_vec();
    Ok(counters.map(counter).unwrap_or_default())
}

/// The database to imitate. A file has the collections of one.
fn database(
    server: &Server,
    request: &Request<'_>,
    omitted: &mut Vec<String>,
) -> Result<String, ImitateError> {
    if let Some(name) = request.database.or(server.database.as_deref()) {
        return Ok(name.into());
    }
    let answer = server.send("admin", doc! { "listDatabases": 1 })?.unwrap_or_default();
    let databases = answer.get_array("databases").ok().into_iter().flatten();
    let mut databases: Vec<(u64, &str)> = databases
        .filter_map(|database| {
            let database = database.as_document()?;
            Some((figure(database, "sizeOnDisk"), database.get_str("name").ok()?))
        })
        .filter(|(_, name)| !SYSTEM.contains(name))
        .collect();
    databases.sort_unstable();
    let Some((_, largest)) = databases.pop() else {
        return Err(ImitateError::new(
            "the server shows no database of a user; name one with --database, or use a user with the role read",
        ));
    };
    omitted.extend(
        databases.iter().map(|(_, name)| {
            format!("the database {name}: one file has one; use --database {name}")
        }),
    );
    Ok(largest.into())
}
