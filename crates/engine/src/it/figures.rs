//! Figures of a mongod, compared with what a second reader sees: the official driver, with the names that mongod gives them.

use crate::it::laboratory::{
    assert_all_ok, assert_not_found, assert_ok, load, open_at, read, records, verifiable,
};
use crate::it::server::{Kind, Server};
use crate::{Engine, own_metrics};
use mongodb::Client;
use mongodb::bson::{Bson, DateTime, Document, doc};
use plimsoll_record::figures;
use plimsoll_testing::{Need, needs};
use plimsoll_workload::FieldChoice;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// A figure, the places that are summed, separated by `+`, and by what each is multiplied.
type Row = (&'static str, &'static str, f64);

const MICROSECONDS: f64 = 1e3;

/// What a mongod 6.0 that is the only member of its replica set tells.
#[rustfmt::skip]
const TABLE: &[Row] = &[
    (figures::ENGINE_CACHE_USED, "wiredTiger/cache/bytes currently in the cache", 1.0),
    (figures::ENGINE_CACHE_MAXIMUM, "wiredTiger/cache/maximum bytes configured", 1.0),
    (figures::ENGINE_CACHE_DIRTY, "wiredTiger/cache/tracked dirty bytes in the cache", 1.0),
    (figures::ENGINE_PAGES_REQUESTED, "wiredTiger/cache/pages requested from the cache", 1.0),
    (figures::ENGINE_BLOCK_WRITES, "wiredTiger/block-manager/blocks written", 1.0),
    (figures::ENGINE_JOURNAL_BYTES, "wiredTiger/log/log bytes written", 1.0),
    (figures::ENGINE_JOURNAL_SYNCS, "wiredTiger/log/log sync operations", 1.0),
    (figures::ENGINE_JOURNAL_SYNC_TIME, "wiredTiger/log/log sync time duration (usecs)", MICROSECONDS),
    (figures::ENGINE_CHECKPOINTS, "wiredTiger/transaction/transaction checkpoints", 1.0),
    (figures::ENGINE_ROLLBACKS, "metrics/operation/writeConflicts", 1.0),
    (figures::SERVER_CONNECTIONS, "connections/current", 1.0),
    (figures::SERVER_OPERATIONS, "opcounters/insert+opcounters/query+opcounters/update+opcounters/delete+opcounters/getmore+opcounters/command", 1.0),
    (figures::SERVER_RECEIVED_BYTES, "network/bytesIn", 1.0),
    (figures::SERVER_SENT_BYTES, "network/bytesOut", 1.0),
    (figures::SERVER_REQUESTS, "network/numRequests", 1.0),
    (figures::SERVER_PAGE_FAULTS, "extra_info/page_faults", 1.0),
    (figures::SERVER_RESIDENT, "mem/resident", 1_048_576.0),
    (figures::SERVER_READ_TICKETS, "wiredTiger/concurrentTransactions/read/out", 1.0),
    (figures::SERVER_WRITE_TICKETS, "wiredTiger/concurrentTransactions/write/out", 1.0),
    (figures::SERVER_READ_TICKETS_TOTAL, "wiredTiger/concurrentTransactions/read/totalTickets", 1.0),
    (figures::SERVER_WRITE_TICKETS_TOTAL, "wiredTiger/concurrentTransactions/write/totalTickets", 1.0),
    (figures::SERVER_READS_QUEUED, "globalLock/currentQueue/readers", 1.0),
    (figures::SERVER_WRITES_QUEUED, "globalLock/currentQueue/writers", 1.0),
    (figures::SERVER_ACTIVE_READERS, "globalLock/activeClients/readers", 1.0),
    (figures::SERVER_ACTIVE_WRITERS, "globalLock/activeClients/writers", 1.0),
    (figures::SERVER_READS, "opLatencies/reads/ops", 1.0),
    (figures::SERVER_READ_TIME, "opLatencies/reads/latency", MICROSECONDS),
    (figures::SERVER_WRITES, "opLatencies/writes/ops", 1.0),
    (figures::SERVER_WRITE_TIME, "opLatencies/writes/latency", MICROSECONDS),
    (figures::SERVER_COMMANDS, "opLatencies/commands/ops", 1.0),
    (figures::SERVER_COMMAND_TIME, "opLatencies/commands/latency", MICROSECONDS),
    (figures::SERVER_DOCUMENTS_INSERTED, "metrics/document/inserted", 1.0),
    (figures::SERVER_DOCUMENTS_RETURNED, "metrics/document/returned", 1.0),
    (figures::SERVER_DOCUMENTS_UPDATED, "metrics/document/updated", 1.0),
    (figures::SERVER_DOCUMENTS_DELETED, "metrics/document/deleted", 1.0),
    (figures::SERVER_DOCUMENTS_EXPIRED, "metrics/ttl/deletedDocuments", 1.0),
    (figures::SERVER_KEYS_EXAMINED, "metrics/queryExecutor/scanned", 1.0),
    (figures::SERVER_DOCUMENTS_EXAMINED, "metrics/queryExecutor/scannedObjects", 1.0),
    (figures::SERVER_FLOW_CONTROL, "flowControl/enabled", 1.0),
    (figures::SERVER_FLOW_CONTROL_LAGGED, "flowControl/isLagged", 1.0),
    (figures::SERVER_FLOW_CONTROL_WAIT, "flowControl/timeAcquiringMicros", MICROSECONDS),
    (figures::SERVER_FLOW_CONTROL_RATE, "flowControl/targetRateLimit", 1.0),
    (figures::SERVER_FLOW_CONTROL_LOCKS, "flowControl/locksPerKiloOp", 1e-3),
    (figures::SERVER_PRIMARY, "repl/isWritablePrimary", 1.0),
    (figures::SERVER_SECONDARY, "repl/secondary", 1.0),
];

/// Until when a server must have got so far.
fn limit() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// A mongod as the primary and only member of a replica set, and a second reader of it.
struct Member {
    server: Server,
    runtime: Runtime,
    client: Client,
}

impl Member {
    fn start(arguments: &[&str]) -> Self {
        let arguments = [&["--replSet=r"], arguments].concat();
        let server = Server::start_with(Kind::Mongod, &arguments);
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        let uri = format!("{}?directConnection=true", server.uri());
        let client = runtime.block_on(async { Client::with_uri_str(uri).await.unwrap() });
        let member = Self { server, runtime, client };
        let host = format!("127.0.0.1:{}", member.server.port);
        let members = vec![doc! { "_id": 0, "host": host }];
        member.ask(doc! { "replSetInitiate": { "_id": "r", "members": members } });
        let limit = limit();
        loop {
            let hello = member.ask(doc! { "hello": 1 });
            if hello.get_bool("isWritablePrimary").unwrap_or(false) {
                break;
            }
            let in_time = Instant::now() < limit;
            assert!(in_time, "no primary: {hello}; {}", member.server.log());
            std::thread::sleep(Duration::from_millis(50));
        }
        member
    }

    fn uri(&self) -> String {
        format!("{}?replicaSet=r", self.server.uri())
    }

    fn ask(&self, command: Document) -> Document {
        let database = self.client.database("admin");
        self.runtime.block_on(async { database.run_command(command).await.unwrap() })
    }
}

/// Stores, reads and changes records, so that the counters move.
fn work(engine: &dyn Engine) {
    let data = verifiable(50);
    let mut session = engine.session().unwrap();
    assert_all_ok(&load(&mut *session, &data));
    for (key, record) in records(&data) {
        assert_eq!(read(&mut *session, &key, FieldChoice::All), Some(record));
    }
    for (key, _) in records(&data).iter().take(7) {
        assert_ok(&session.delete(key));
    }
    assert_not_found(&session.read(b"nobody", FieldChoice::All, None));
}

fn at(status: &Document, path: &str) -> Option<f64> {
    let mut value = status.get(path.split('/').next()?)?;
    for name in path.split('/').skip(1) {
        value = value.as_document()?.get(name)?;
    }
    match value {
        Bson::Int32(value) => Some(f64::from(*value)),
        Bson::Int64(value) => Some(*value as f64),
        Bson::Double(value) => Some(*value),
        Bson::Boolean(value) => Some(f64::from(u8::from(*value))),
        _ => None,
    }
}

/// What the second reader sees of a row, its numbers made whole first where they are kept so.
fn second(status: &Document, row: &Row, whole: bool) -> f64 {
    let (name, places, unit) = row;
    let mut sum = 0.0;
    for place in places.split('+') {
        let value = at(status, place).unwrap_or_else(|| panic!("{name}: no {place}"));
        sum += if whole { value.trunc() } else { value };
    }
    sum * unit
}

/// Counters and levels that are read between two looks of the second reader lie between what these saw. What a server does of itself may move a level there and back, so
/// the test looks again.
#[test]
fn live_figures_are_what_a_second_reader_sees() {
    needs!([Need::Server("mongod")]);
    let member = Member::start(&[]);
    let engine = open_at(&member.uri(), &verifiable(50), &[]).unwrap();
    work(&*engine);
    let mut apart = Vec::new();
    for _ in 0..50 {
        let before = member.ask(doc! { "serverStatus": 1 });
        let mut known = Vec::new();
        engine.statistics(&mut known);
        let after = member.ask(doc! { "serverStatus": 1 });
        let known: BTreeMap<&str, f64> = known.into_iter().collect();
        apart.clear();
        for row in TABLE {
            let (from, to) = (second(&before, row, false), second(&after, row, false));
            let Some(found) = known.get(row.0) else {
                apart.push(format!("{} is missing", row.0));
                continue;
            };
            if !(from.min(to)..=from.max(to)).contains(found) {
                apart.push(format!("{}: {found} is not in {from}..={to}", row.0));
            }
        }
        if apart.is_empty() {
            // These are exact, because no other client works on the server's collections.
            for (name, least) in [
                (figures::SERVER_DOCUMENTS_INSERTED, 50.0),
                (figures::SERVER_DOCUMENTS_RETURNED, 50.0),
                (figures::SERVER_DOCUMENTS_DELETED, 7.0),
                (figures::SERVER_READS, 51.0),
                (figures::SERVER_WRITES, 57.0),
                (figures::SERVER_PRIMARY, 1.0),
                (figures::SERVER_READ_TICKETS_TOTAL, 1.0),
            ] {
                assert!(known[name] >= least, "{name}: {}", known[name]);
            }
            return;
        }
    }
    panic!("{apart:#?}");
}

mod slow {
    use super::*;

    /// The server hands out its latest sample, too: the one of that moment in the files has the same figures, to the last digit.
    #[test]
    fn figures_of_the_files_are_what_a_second_reader_sees() {
        needs!([Need::Server("mongod")]);
        let member = Member::start(&[
            "--setParameter=diagnosticDataCollectionPeriodMillis=100",
            "--setParameter=diagnosticDataCollectionSamplesPerInterimUpdate=2",
        ]);
        let engine = open_at(&member.uri(), &verifiable(50), &[]).unwrap();
        work(&*engine);
        let directory = member.server.directory();
        let mut seen: BTreeMap<i64, Document> = BTreeMap::new();
        let limit = limit();
        loop {
            let latest = member.ask(doc! { "getDiagnosticData": 1 });
            let data = latest.get_document("data").ok();
            if let Some(status) = data.and_then(|data| data.get_document("serverStatus").ok()) {
                let start: &DateTime = status.get_datetime("start").unwrap();
                seen.insert(start.timestamp_millis(), status.clone());
            }
            // The file is replaced while it is read, now and then.
            let samples = own_metrics("mongodb", directory).unwrap_or_default();
            let both = |(time, known)| Some((known, seen.get(time)?));
            let pairs: Vec<_> =
                samples.iter().map(|(time, known)| (time, known)).filter_map(both).collect();
            if pairs.len() >= 3 {
                for (known, status) in pairs {
                    let known: BTreeMap<&str, f64> =
                        known.iter().map(|(name, figure)| (name.as_ref(), *figure)).collect();
                    for row in TABLE {
                        let expected = second(status, row, true);
                        assert_eq!(known.get(row.0), Some(&expected), "{}", row.0);
                    }
                }
                return;
            }
            assert!(Instant::now() < limit, "{} seen, no match", seen.len());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
