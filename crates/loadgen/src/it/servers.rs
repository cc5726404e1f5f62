//! YCSB's workloads on real MongoDB servers, by both clients, with every record that is read compared with what must be in it.

use crate::it::fake::{Keep, closed, workload};
use crate::{SliceSink, run_load, run_point};
use plimsoll_engine::{Engine, Opening, open};
use plimsoll_plan::{SettingValue, Settings};
use plimsoll_record::{Operation, Slice, Status};
use plimsoll_testing::assert_contains;
use plimsoll_testing::servers::{Kind, Server};
use plimsoll_workload::{DataSpec, KeySpace, Mix};
use std::sync::{Arc, Mutex};

const RECORDS: u64 = 200;
const OPERATIONS: u64 = 200;

fn open_on(server: &Server, data: &DataSpec, client: &str, batch: u64) -> Box<dyn Engine> {
    let mut settings = Settings::default();
    for (name, value) in [
        ("client", SettingValue::Text(client.into())),
        ("batch", SettingValue::Count(batch)),
        ("connect_timeout", SettingValue::Nanos(1_000_000_000)),
    ] {
        settings.0.insert(name.into(), value);
    }
    let address = server.uri();
    let opening = Opening {
        directory: Some(server.directory()),
        server: Some(&address),
        ..Opening::new(&settings, data)
    };
    open("mongodb", &opening).unwrap()
}

fn data(table: &str) -> DataSpec {
    let mut data = DataSpec::with_records(RECORDS);
    data.data_integrity = true;
    data.table = table.into();
    data
}

fn everywhere(body: impl Fn(&mut Server, &str)) {
    for kind in Kind::there() {
        for client in ["lean", "driver"] {
            eprintln!("{client} on {kind:?}");
            body(&mut Server::start(kind), client);
        }
    }
}

/// Kills the server at the first slice, and asks to stop when failures have been counted.
struct Killing<'a> {
    server: &'a Mutex<Option<&'a mut Server>>,
    ok: u64,
    errors: u64,
}

impl SliceSink for Killing<'_> {
    fn slice(&mut self, slice: Slice) {
        self.ok += slice.completed.ok;
        self.errors += slice.completed.error;
        if self.ok > 0
            && let Some(server) = self.server.lock().unwrap().take()
        {
            server.kill();
        }
    }

    fn stop_requested(&mut self) -> bool {
        self.errors > 0
    }
}

mod slow {
    use super::*;

    #[test]
    fn every_workload_leaves_the_right_records_and_no_error() {
        everywhere(|server, client| {
            for preset in ["a", "b", "c", "d", "e", "f"] {
                let data = data(&format!("table_{preset}"));
                let engine = open_on(server, &data, client, 1);
                let key_space = KeySpace::new(&data).unwrap();
                let mut keep = Keep::default();
                let end = run_load(&*engine, &key_space.loader(1), 3, &mut keep).unwrap();
                assert!(end.errors.is_empty(), "{:?}", end.errors);
                assert_eq!(keep.counts()[&(Operation::Insert, Status::Ok)], RECORDS);
                assert_eq!(engine.count().unwrap(), Some(RECORDS));
                engine.settle().unwrap();

                let mix = Mix::preset(preset).unwrap();
                let mut spec = closed(4, OPERATIONS);
                spec.verify = true;
                let mut keep = Keep::default();
                let workload = workload(&key_space, &mix);
                let end = run_point(&*engine, &workload, &spec, &mix, &mut keep).unwrap();
                assert!(end.errors.is_empty(), "{preset}: {:?}", end.errors);
                assert_eq!(keep.completed(), OPERATIONS);
                let counts = keep.counts();
                for ((operation, status), count) in &counts {
                    assert_eq!(*status, Status::Ok, "{preset}: {count} of {operation:?}");
                }
                let of = |operation| counts.get(&(operation, Status::Ok)).copied().unwrap_or(0);
                assert_eq!(of(Operation::Verify), of(Operation::Read), "{preset}");
                let inserted = of(Operation::Insert);
                assert_eq!(inserted > 0, mix.insert > 0.0);
                assert_eq!(of(Operation::Scan) > 0, mix.scan > 0.0);
                assert_eq!(engine.count().unwrap(), Some(RECORDS + inserted));
                engine.close().unwrap();
            }
        });
    }

    #[test]
    fn a_server_that_is_killed_in_the_middle_ends_nothing_but_is_counted() {
        everywhere(|server, client| {
            let data = data("usertable");
            let engine = open_on(server, &data, client, 1);
            let key_space = KeySpace::new(&data).unwrap();
            run_load(&*engine, &key_space.loader(1), 3, &mut Keep::default()).unwrap();
            let mix = Mix::preset("a").unwrap();
            let spec = closed(16, 100_000_000);
            let server = Mutex::new(Some(server));
            let mut killing = Killing { server: &server, ok: 0, errors: 0 };
            let workload = workload(&key_space, &mix);
            let end = run_point(&*engine, &workload, &spec, &mix, &mut killing).unwrap();
            assert!(end.cut_short);
            assert!(killing.ok > 0 && killing.errors > 0);
            let first = end.errors.first().expect("failures are told in words");
            assert_contains(first.message.to_lowercase(), "connect");
            let engine: Arc<dyn Engine> = Arc::from(engine);
            assert!(engine.session().is_err());
            assert!(engine.count().is_err());
        });
    }

    #[test]
    fn batches_store_every_record() {
        everywhere(|server, client| {
            let data = data("usertable");
            // 200 records by 3 sessions leave a batch that is not full to each.
            let engine = open_on(server, &data, client, 64);
            let key_space = KeySpace::new(&data).unwrap();
            let mut keep = Keep::default();
            let end = run_load(&*engine, &key_space.loader(1), 3, &mut keep).unwrap();
            assert!(end.errors.is_empty(), "{:?}", end.errors);
            assert_eq!(engine.count().unwrap(), Some(RECORDS));
            let counts = keep.counts();
            assert!(counts[&(Operation::Insert, Status::Batched)] > 0);
        });
    }
}
