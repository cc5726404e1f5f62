//! From serverStatus to the figures of `plimsoll_record::figures`, live and from `diagnostic.data` alike.
//!
//! The section `wiredTiger` holds WiredTiger's own counters under spelled-out names, which have changed between versions. So each figure
//! knows every name that it has had since MongoDB 4.4; the first that is there counts.

use mongodb::bson::{Bson, Document};
use plimsoll_record::figures;

const MICROSECOND: f64 = 1e3;
const MILLISECOND: f64 = 1e6;
const PER_THOUSAND: f64 = 1e-3;
const MIB: f64 = 1_048_576.0;

/// A place in serverStatus: names from the outside in.
type Path = &'static [&'static str];

/// A figure and where it stands.
struct StatusFigure {
    figure: &'static str,
    unit: f64,
    /// Each a sum of places that must all exist; the first complete one counts.
    places: &'static [&'static [Path]],
    /// To be subtracted, if it exists.
    less: Option<Path>,
}

const fn kept(figure: &'static str, unit: f64, places: &'static [&'static [Path]]) -> StatusFigure {
    StatusFigure { figure, unit, places, less: None }
}

static KEPT: &[StatusFigure] = &[
    kept(
        figures::ENGINE_CACHE_USED,
        1.0,
        &[&[&["wiredTiger", "cache", "bytes currently in the cache"]]],
    ),
    kept(
        figures::ENGINE_CACHE_MAXIMUM,
        1.0,
        &[&[&["wiredTiger", "cache", "maximum bytes configured"]]],
    ),
    kept(
        figures::ENGINE_CACHE_DIRTY,
        1.0,
        &[&[&["wiredTiger", "cache", "tracked dirty bytes in the cache"]]],
    ),
    kept(
        figures::ENGINE_CACHE_READ_BYTES,
        1.0,
        &[&[&["wiredTiger", "cache", "bytes read into cache"]]],
    ),
    kept(
        figures::ENGINE_CACHE_WRITTEN_BYTES,
        1.0,
        &[&[&["wiredTiger", "cache", "bytes written from cache"]]],
    ),
    kept(
        figures::ENGINE_PAGES_REQUESTED,
        1.0,
        &[&[&["wiredTiger", "cache", "pages requested from the cache"]]],
    ),
    kept(figures::ENGINE_PAGES_READ, 1.0, &[&[&["wiredTiger", "cache", "pages read into cache"]]]),
    kept(
        figures::ENGINE_PAGES_WRITTEN,
        1.0,
        &[&[&["wiredTiger", "cache", "pages written from cache"]]],
    ),
    kept(
        figures::ENGINE_EVICTIONS,
        1.0,
        &[&[
            &["wiredTiger", "cache", "modified pages evicted"],
            &["wiredTiger", "cache", "unmodified pages evicted"],
        ]],
    ),
    StatusFigure {
        figure: figures::ENGINE_EVICTIONS_BY_APPLICATION,
        unit: 1.0,
        places: &[
            &[&["wiredTiger", "cache", "page evict attempts by application threads"]],
            &[&["wiredTiger", "cache", "pages evicted by application threads"]],
        ],
        less: Some(&["wiredTiger", "cache", "page evict failures by application threads"]),
    },
    kept(
        figures::ENGINE_CACHE_WAIT,
        MICROSECOND,
        &[&[&["wiredTiger", "thread-yield", "application thread time waiting for cache (usecs)"]]],
    ),
    kept(figures::ENGINE_BLOCK_READS, 1.0, &[&[&["wiredTiger", "block-manager", "blocks read"]]]),
    kept(
        figures::ENGINE_BLOCK_READ_BYTES,
        1.0,
        &[&[&["wiredTiger", "block-manager", "bytes read"]]],
    ),
    kept(
        figures::ENGINE_BLOCK_WRITES,
        1.0,
        &[&[&["wiredTiger", "block-manager", "blocks written"]]],
    ),
    kept(
        figures::ENGINE_BLOCK_WRITTEN_BYTES,
        1.0,
        &[&[&["wiredTiger", "block-manager", "bytes written"]]],
    ),
    kept(figures::ENGINE_JOURNAL_BYTES, 1.0, &[&[&["wiredTiger", "log", "log bytes written"]]]),
    kept(figures::ENGINE_JOURNAL_SYNCS, 1.0, &[&[&["wiredTiger", "log", "log sync operations"]]]),
    kept(
        figures::ENGINE_JOURNAL_SYNC_TIME,
        MICROSECOND,
        &[&[&["wiredTiger", "log", "log sync time duration (usecs)"]]],
    ),
    kept(
        figures::ENGINE_CHECKPOINTS,
        1.0,
        &[
            &[&["wiredTiger", "checkpoint", "total succeed number of checkpoints"]],
            &[&["wiredTiger", "transaction", "transaction checkpoints"]],
        ],
    ),
    kept(
        figures::ENGINE_CHECKPOINT_TIME,
        MILLISECOND,
        &[
            &[&["wiredTiger", "checkpoint", "total time (msecs)"]],
            &[&["wiredTiger", "transaction", "transaction checkpoint total time (msecs)"]],
        ],
    ),
    kept(
        figures::ENGINE_ROLLBACKS,
        1.0,
        // WiredTiger's own counter has every snapshot of a read in it.
        &[&[&["metrics", "operation", "writeConflicts"]]],
    ),
    kept(figures::SERVER_CONNECTIONS, 1.0, &[&[&["connections", "current"]]]),
    // What replication applies is not in it.
    kept(
        figures::SERVER_OPERATIONS,
        1.0,
        &[&[
            &["opcounters", "insert"],
            &["opcounters", "query"],
            &["opcounters", "update"],
            &["opcounters", "delete"],
            &["opcounters", "getmore"],
            &["opcounters", "command"],
        ]],
    ),
    kept(figures::SERVER_RECEIVED_BYTES, 1.0, &[&[&["network", "bytesIn"]]]),
    kept(figures::SERVER_SENT_BYTES, 1.0, &[&[&["network", "bytesOut"]]]),
    kept(figures::SERVER_PAGE_FAULTS, 1.0, &[&[&["extra_info", "page_faults"]]]),
    kept(figures::SERVER_RESIDENT, MIB, &[&[&["mem", "resident"]]]),
    kept(
        figures::SERVER_READ_TICKETS,
        1.0,
        &[
            &[&["queues", "execution", "read", "out"]],
            &[&["wiredTiger", "concurrentTransactions", "read", "out"]],
        ],
    ),
    kept(
        figures::SERVER_WRITE_TICKETS,
        1.0,
        &[
            &[&["queues", "execution", "write", "out"]],
            &[&["wiredTiger", "concurrentTransactions", "write", "out"]],
        ],
    ),
    kept(figures::SERVER_READS_QUEUED, 1.0, &[&[&["globalLock", "currentQueue", "readers"]]]),
    kept(figures::SERVER_WRITES_QUEUED, 1.0, &[&[&["globalLock", "currentQueue", "writers"]]]),
    kept(
        figures::SERVER_READ_TICKETS_TOTAL,
        1.0,
        &[
            &[&["queues", "execution", "read", "totalTickets"]],
            &[&["wiredTiger", "concurrentTransactions", "read", "totalTickets"]],
        ],
    ),
    kept(
        figures::SERVER_WRITE_TICKETS_TOTAL,
        1.0,
        &[
            &[&["queues", "execution", "write", "totalTickets"]],
            &[&["wiredTiger", "concurrentTransactions", "write", "totalTickets"]],
        ],
    ),
    kept(figures::SERVER_ACTIVE_READERS, 1.0, &[&[&["globalLock", "activeClients", "readers"]]]),
    kept(figures::SERVER_ACTIVE_WRITERS, 1.0, &[&[&["globalLock", "activeClients", "writers"]]]),
    kept(figures::SERVER_REQUESTS, 1.0, &[&[&["network", "numRequests"]]]),
    kept(figures::SERVER_READS, 1.0, &[&[&["opLatencies", "reads", "ops"]]]),
    kept(figures::SERVER_READ_TIME, MICROSECOND, &[&[&["opLatencies", "reads", "latency"]]]),
    kept(figures::SERVER_WRITES, 1.0, &[&[&["opLatencies", "writes", "ops"]]]),
    kept(figures::SERVER_WRITE_TIME, MICROSECOND, &[&[&["opLatencies", "writes", "latency"]]]),
    kept(figures::SERVER_COMMANDS, 1.0, &[&[&["opLatencies", "commands", "ops"]]]),
    kept(figures::SERVER_COMMAND_TIME, MICROSECOND, &[&[&["opLatencies", "commands", "latency"]]]),
    kept(figures::SERVER_DOCUMENTS_INSERTED, 1.0, &[&[&["metrics", "document", "inserted"]]]),
    kept(figures::SERVER_DOCUMENTS_RETURNED, 1.0, &[&[&["metrics", "document", "returned"]]]),
    kept(figures::SERVER_DOCUMENTS_UPDATED, 1.0, &[&[&["metrics", "document", "updated"]]]),
    kept(figures::SERVER_DOCUMENTS_DELETED, 1.0, &[&[&["metrics", "document", "deleted"]]]),
    kept(figures::SERVER_KEYS_EXAMINED, 1.0, &[&[&["metrics", "queryExecutor", "scanned"]]]),
    kept(
        figures::SERVER_DOCUMENTS_EXAMINED,
        1.0,
        &[&[&["metrics", "queryExecutor", "scannedObjects"]]],
    ),
    kept(figures::SERVER_DOCUMENTS_EXPIRED, 1.0, &[&[&["metrics", "ttl", "deletedDocuments"]]]),
    kept(figures::SERVER_FLOW_CONTROL, 1.0, &[&[&["flowControl", "enabled"]]]),
    kept(figures::SERVER_FLOW_CONTROL_LAGGED, 1.0, &[&[&["flowControl", "isLagged"]]]),
    kept(
        figures::SERVER_FLOW_CONTROL_WAIT,
        MICROSECOND,
        &[&[&["flowControl", "timeAcquiringMicros"]]],
    ),
    kept(figures::SERVER_FLOW_CONTROL_RATE, 1.0, &[&[&["flowControl", "targetRateLimit"]]]),
    kept(
        figures::SERVER_FLOW_CONTROL_LOCKS,
        PER_THOUSAND,
        &[&[&["flowControl", "locksPerKiloOp"]]],
    ),
    kept(
        figures::SERVER_PRIMARY,
        1.0,
        &[&[&["repl", "isWritablePrimary"]], &[&["repl", "ismaster"]]],
    ),
    kept(figures::SERVER_SECONDARY, 1.0, &[&[&["repl", "secondary"]]]),
];

/// 1 while it is not 0.
static CHECKPOINT_STATES: [Path; 2] = [
    &["wiredTiger", "checkpoint", "progress state"],
    &["wiredTiger", "transaction", "transaction checkpoint currently running"],
];

/// What can be locked, and how. A server names only what was ever waited for.
static LOCKS: [&str; 8] = [
    "Global",
    "Database",
    "Collection",
    "Mutex",
    "Metadata",
    "oplog",
    "ParallelBatchWriterMode",
    "ReplicationStateTransition",
];
static LOCK_MODES: [&str; 4] = ["r", "w", "R", "W"];

/// Every place that is read.
pub(super) fn places() -> impl Iterator<Item = Vec<&'static str>> {
    let kept = KEPT.iter().flat_map(|kept| {
        let summed = kept.places.iter().copied().flatten().copied();
        summed.chain(kept.less).map(<[_]>::to_vec)
    });
    let states = CHECKPOINT_STATES.iter().map(|place| place.to_vec());
    let locks = LOCKS.iter().flat_map(|lock| {
        let modes = LOCK_MODES.iter();
        modes.map(|mode| vec!["locks", *lock, "timeAcquiringMicros", *mode])
    });
    kept.chain(states).chain(locks)
}

/// The figures of one answer. `value` gives the number at a place.
pub(super) fn figures_by(
    value: &dyn Fn(&[&str]) -> Option<f64>,
    into: &mut Vec<(&'static str, f64)>,
) {
    for kept in KEPT {
        let sum = |places: &&[Path]| {
            let mut sum = 0.0;
            for place in *places {
                sum += value(place)?;
            }
            Some(sum)
        };
        if let Some(found) = kept.places.iter().find_map(sum) {
            let less = kept.less.and_then(value).unwrap_or_default();
            into.push((kept.figure, (found - less) * kept.unit));
        }
    }
    if let Some(state) = CHECKPOINT_STATES.iter().find_map(|place| value(place)) {
        let running = f64::from(u8::from(state != 0.0));
        into.push((figures::ENGINE_CHECKPOINT_RUNNING, running));
    }
    let mut waited = None;
    for lock in LOCKS {
        for mode in LOCK_MODES {
            if let Some(time) = value(&["locks", lock, "timeAcquiringMicros", mode]) {
                *waited.get_or_insert(0.0) += time * MICROSECOND;
            }
        }
    }
    if let Some(waited) = waited {
        into.push((figures::SERVER_LOCK_WAIT, waited));
    }
}

/// The figures of an answer to serverStatus.
pub(super) fn figures_of(status: &Document, into: &mut Vec<(&'static str, f64)>) {
    figures_by(&|place| number_at(status, place), into);
}

fn number_at(status: &Document, place: &[&str]) -> Option<f64> {
    let (last, outer) = place.split_last()?;
    let mut document = status;
    for name in outer {
        document = document.get_document(name).ok()?;
    }
    match document.get(last)? {
        Bson::Int32(value) => Some(f64::from(*value)),
        Bson::Int64(value) => Some(*value as f64),
        Bson::Double(value) => Some(*value),
        Bson::Boolean(value) => Some(f64::from(u8::from(*value))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mongodb::bson::doc;
    use std::collections::BTreeMap;

    fn figures(status: &Document) -> BTreeMap<&'static str, f64> {
        let mut figures = Vec::new();
        figures_of(status, &mut figures);
        let names = figures.len();
        let figures: BTreeMap<_, _> = figures.into_iter().collect();
        assert_eq!(figures.len(), names, "each once");
        figures
    }

    /// As a mongod 6.0 answers, with numbers of every type that it uses, cut down to what is known here and a few neighbours.
    fn of_6_0() -> Document {
        doc! {
            "host": "db1:27017",
            "version": "6.0.5",
            "flowControl": {
                "enabled": true, "targetRateLimit": 1_000_000_000_i64, "timeAcquiringMicros": 14_i64, "locksPerKiloOp": 2_500.0,
                "sustainerRate": 0_i64, "isLagged": false, "isLaggedCount": 0_i32, "isLaggedTimeMicros": 0_i64,
            },
            "opLatencies": {
                "reads": { "latency": 400_i64, "ops": 8_i64 },
                "writes": { "latency": 53_738_i64, "ops": 2_i64 },
                "commands": { "latency": 374_i64, "ops": 3_i64 },
                "transactions": { "latency": 0_i64, "ops": 0_i64 },
            },
            "repl": { "hosts": ["db1:27017"], "setName": "r", "isWritablePrimary": true, "secondary": false },
            "connections": { "current": 17_i32, "available": 51_183_i32, "active": 3_i32 },
            "extra_info": { "note": "fields vary by platform", "page_faults": 12_i64 },
            "globalLock": {
                "totalTime": 1_000_i64,
                "currentQueue": { "total": 5_i32, "readers": 2_i32, "writers": 3_i32 },
                "activeClients": { "total": 13_i32, "readers": 4_i32, "writers": 9_i32 },
            },
            "locks": {
                "Global": {
                    "acquireCount": { "r": 100_i64, "w": 50_i64, "W": 4_i64 },
                    "timeAcquiringMicros": { "r": 30_i64, "W": 7_i64 },
                },
                "Database": { "acquireCount": { "r": 1_i64 } },
                "Collection": { "timeAcquiringMicros": { "w": 3_i64 } },
            },
            "mem": { "bits": 64_i32, "resident": 256_i32, "virtual": 2_048_i32, "supported": true },
            "network": { "bytesIn": 1_111_i64, "bytesOut": 2_222_i64, "numRequests": 30_i64 },
            "opcounters": {
                "insert": 1_i64, "query": 2_i64, "update": 4_i64, "delete": 8_i64, "getmore": 16_i64, "command": 32_i64,
            },
            "storageEngine": { "name": "wiredTiger", "persistent": true },
            "wiredTiger": {
                "uri": "statistics:",
                "block-manager": {
                    "blocks read": 300_i32, "blocks written": 200_i32, "bytes read": 4_915_200_i64, "bytes written": 819_200_i32,
                },
                "cache": {
                    "bytes currently in the cache": 5_000_000_i64,
                    "bytes read into cache": 7_000_000_i64,
                    "bytes written from cache": 3_000_000_i32,
                    "maximum bytes configured": 268_435_456_i32,
                    "modified pages evicted": 40_i32,
                    "unmodified pages evicted": 2_i32,
                    "page evict attempts by application threads": 9_i32,
                    "page evict failures by application threads": 2_i32,
                    "pages read into cache": 70_i32,
                    "pages requested from the cache": 9_000_i32,
                    "pages written from cache": 60_i32,
                    "tracked dirty bytes in the cache": 12_345_i32,
                },
                "concurrentTransactions": {
                    "write": { "out": 6_i32, "available": 122_i32, "totalTickets": 128_i32 },
                    "read": { "out": 1_i32, "available": 127_i32, "totalTickets": 128_i32 },
                },
                "log": {
                    "log bytes written": 640_i32, "log sync operations": 5_i32, "log sync time duration (usecs)": 8_000_i32,
                },
                "thread-yield": { "application thread time waiting for cache (usecs)": 25_i32 },
                "transaction": {
                    "transaction checkpoint currently running": 1_i32,
                    "transaction checkpoint total time (msecs)": 15_i32,
                    "transaction checkpoints": 2_i32,
                    "transactions rolled back": 5_000_i32,
                },
            },
            "metrics": {
                "document": { "deleted": 71_i64, "inserted": 72_i64, "returned": 73_i64, "updated": 74_i64 },
                "operation": { "scanAndOrder": 0_i64, "writeConflicts": 11_i64 },
                "queryExecutor": { "scanned": 76_i64, "scannedObjects": 77_i64 },
                "ttl": { "deletedDocuments": 75_i64, "passes": 1_i64 },
            },
            "ok": 1.0,
        }
    }

    #[test]
    fn every_figure_of_a_mongod_6_is_found() {
        let expected = BTreeMap::from([
            (figures::ENGINE_CACHE_USED, 5e6),
            (figures::ENGINE_CACHE_MAXIMUM, 268_435_456.0),
            (figures::ENGINE_CACHE_DIRTY, 12_345.0),
            (figures::ENGINE_CACHE_READ_BYTES, 7e6),
            (figures::ENGINE_CACHE_WRITTEN_BYTES, 3e6),
            (figures::ENGINE_PAGES_REQUESTED, 9_000.0),
            (figures::ENGINE_PAGES_READ, 70.0),
            (figures::ENGINE_PAGES_WRITTEN, 60.0),
            (figures::ENGINE_EVICTIONS, 42.0),
            (figures::ENGINE_EVICTIONS_BY_APPLICATION, 7.0),
            (figures::ENGINE_CACHE_WAIT, 25_000.0),
            (figures::ENGINE_BLOCK_READS, 300.0),
            (figures::ENGINE_BLOCK_READ_BYTES, 4_915_200.0),
            (figures::ENGINE_BLOCK_WRITES, 200.0),
            (figures::ENGINE_BLOCK_WRITTEN_BYTES, 819_200.0),
            (figures::ENGINE_JOURNAL_BYTES, 640.0),
            (figures::ENGINE_JOURNAL_SYNCS, 5.0),
            (figures::ENGINE_JOURNAL_SYNC_TIME, 8e6),
            (figures::ENGINE_CHECKPOINTS, 2.0),
            (figures::ENGINE_CHECKPOINT_TIME, 15e6),
            (figures::ENGINE_CHECKPOINT_RUNNING, 1.0),
            (figures::ENGINE_ROLLBACKS, 11.0),
            (figures::SERVER_CONNECTIONS, 17.0),
            (figures::SERVER_OPERATIONS, 63.0),
            (figures::SERVER_RECEIVED_BYTES, 1_111.0),
            (figures::SERVER_SENT_BYTES, 2_222.0),
            (figures::SERVER_PAGE_FAULTS, 12.0),
            (figures::SERVER_RESIDENT, 268_435_456.0),
            (figures::SERVER_READ_TICKETS, 1.0),
            (figures::SERVER_WRITE_TICKETS, 6.0),
            (figures::SERVER_READS_QUEUED, 2.0),
            (figures::SERVER_WRITES_QUEUED, 3.0),
            (figures::SERVER_LOCK_WAIT, 40_000.0),
            (figures::SERVER_READ_TICKETS_TOTAL, 128.0),
            (figures::SERVER_WRITE_TICKETS_TOTAL, 128.0),
            (figures::SERVER_ACTIVE_READERS, 4.0),
            (figures::SERVER_ACTIVE_WRITERS, 9.0),
            (figures::SERVER_REQUESTS, 30.0),
            (figures::SERVER_READS, 8.0),
            (figures::SERVER_READ_TIME, 400_000.0),
            (figures::SERVER_WRITES, 2.0),
            (figures::SERVER_WRITE_TIME, 53_738_000.0),
            (figures::SERVER_COMMANDS, 3.0),
            (figures::SERVER_COMMAND_TIME, 374_000.0),
            (figures::SERVER_DOCUMENTS_INSERTED, 72.0),
            (figures::SERVER_DOCUMENTS_RETURNED, 73.0),
            (figures::SERVER_DOCUMENTS_UPDATED, 74.0),
            (figures::SERVER_DOCUMENTS_DELETED, 71.0),
            (figures::SERVER_DOCUMENTS_EXPIRED, 75.0),
            (figures::SERVER_KEYS_EXAMINED, 76.0),
            (figures::SERVER_DOCUMENTS_EXAMINED, 77.0),
            (figures::SERVER_FLOW_CONTROL, 1.0),
            (figures::SERVER_FLOW_CONTROL_LAGGED, 0.0),
            (figures::SERVER_FLOW_CONTROL_WAIT, 14_000.0),
            (figures::SERVER_FLOW_CONTROL_RATE, 1e9),
            (figures::SERVER_FLOW_CONTROL_LOCKS, 2.5),
            (figures::SERVER_PRIMARY, 1.0),
            (figures::SERVER_SECONDARY, 0.0),
        ]);
        assert_eq!(figures(&of_6_0()), expected);
    }

    #[test]
    fn later_versions_have_moved_checkpoints_and_tickets() {
        let status = doc! {
            "queues": { "execution": {
                "read": { "out": 4_i32, "available": 10_i32, "totalTickets": 14_i32 },
                "write": { "out": 5_i32, "available": 10_i32, "totalTickets": 15_i32 },
            } },
            "wiredTiger": {
                "checkpoint": {
                    "progress state": 3_i64, "total succeed number of checkpoints": 9_i64, "total time (msecs)": 30_i64,
                },
            },
            "metrics": { "operation": { "writeConflicts": 1_i64 } },
        };
        let expected = BTreeMap::from([
            (figures::ENGINE_CHECKPOINTS, 9.0),
            (figures::ENGINE_CHECKPOINT_TIME, 30e6),
            (figures::ENGINE_CHECKPOINT_RUNNING, 1.0),
            (figures::ENGINE_ROLLBACKS, 1.0),
            (figures::SERVER_READ_TICKETS, 4.0),
            (figures::SERVER_WRITE_TICKETS, 5.0),
            (figures::SERVER_READ_TICKETS_TOTAL, 14.0),
            (figures::SERVER_WRITE_TICKETS_TOTAL, 15.0),
        ]);
        assert_eq!(figures(&status), expected);
    }

    #[test]
    fn a_server_without_these_sections_gives_what_it_has() {
        assert_eq!(figures(&doc! { "ok": 1.0 }), BTreeMap::new());
        let odd = doc! {
            "connections": "many",
            "opcounters": { "insert": 1_i32 },
            "wiredTiger": { "cache": 7_i32 },
            "mem": { "resident": 1_i32 },
        };
        let expected = BTreeMap::from([(figures::SERVER_RESIDENT, MIB)]);
        assert_eq!(figures(&odd), expected);
    }
}
