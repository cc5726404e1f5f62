//! Servers that the program starts for an arm: on a plain directory and on an emulated disk, killed, missing, and never ready.

mod events;
mod own;
mod replica_sets;

use crate::laboratory::{
    Laboratory, Mounted, Running, Said, finished, has_slices, page_of, runs, send, wait_until,
};
use plimsoll_engine::Opening;
use plimsoll_experiment::{Limits, Overrides, Surroundings, cannot_measure, check, read_text_file};
use plimsoll_plan::{SettingValue, Settings};
use plimsoll_record::{ExperimentRecord, RunRecord, RunState, WarningId, figures};
use plimsoll_rig::{RigProcess, RigProgram};
use plimsoll_runner::{Sizing, bytes_per_record};
use plimsoll_telemetry::Host;
use plimsoll_testing::servers::{Kind, Server, closed_port, free_port};
use plimsoll_testing::{Need, assert_contains, needs};
use plimsoll_workload::DataSpec;
use rustix::process::Signal;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Each server of this tier with a laboratory of its own.
fn servers_here() -> impl Iterator<Item = (&'static str, Laboratory)> {
    let kinds = Kind::there().into_iter();
    kinds.map(|kind| (kind.program_name(), open_laboratory()))
}

/// A laboratory that the user of servers can reach.
fn open_laboratory() -> Laboratory {
    let laboratory = Laboratory::new();
    let permissions = fs::Permissions::from_mode(0o755);
    fs::set_permissions(laboratory.path("."), permissions).unwrap();
    laboratory
}

/// What a command needs to find servers, losetup and fio by.
fn environment() -> Vec<(&'static str, OsString)> {
    ["PATH", "PLIMSOLL_SERVERS"]
        .into_iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)))
        .collect()
}

fn run(laboratory: &Laboratory, arguments: &[&str]) -> Said {
    let output = laboratory.command(arguments).envs(environment()).output().unwrap();
    Said::of(output)
}

/// Starts an experiment of this text.
fn start(laboratory: &Laboratory, text: String) -> Running {
    laboratory.write("experiment.yaml", text);
    laboratory.start_with(&["run", "experiment.yaml"], environment())
}

/// Runs an experiment of this text.
fn run_text(laboratory: &Laboratory, text: String) -> (Said, ExperimentRecord) {
    laboratory.write("experiment.yaml", text);
    let said = run(laboratory, &["run", "experiment.yaml"]);
    (said, laboratory.record())
}

/// The same, of one run, which finishes.
fn finishes(laboratory: &Laboratory, text: String) -> ExperimentRecord {
    let (said, record) = run_text(laboratory, text);
    assert_eq!(runs(&record), [("one", 0, 1, "finished")], "{said:?}");
    record
}

/// Runs an experiment whose first run fails, and returns why.
fn fails(laboratory: &Laboratory, text: String) -> String {
    laboratory.write("experiment.yaml", text);
    let said = run(laboratory, &["run", "experiment.yaml", "--anyway"]);
    assert_ne!(said.code, Some(0), "{said:?}");
    failure(&laboratory.record().runs[0]).to_owned()
}

/// An experiment on a server, with what the arm says besides.
fn experiment(server: &str, arm: &str, duration: &str, blocks: u32) -> String {
    format!(
        "
plimsoll: 1
name: served
workload: {{records: 2k, preset: a, data_integrity: true}}
defaults: {{engine: mongodb, server: {server}}}
arms:
  one: {{{arm}}}
load: {{closed: {{threads: 2}}}}
measurement: {{warm_up: 0s, duration: {duration}, blocks: {blocks}}}
"
    )
}

/// The server of a run, as the record reports it: started, and its log kept.
fn was_served(run: &RunRecord, server: &str) {
    let record = run.rig.as_ref().unwrap().server.as_ref().unwrap();
    assert!(record.program.ends_with(server), "{record:?}");
    assert!(record.version.is_some(), "{record:?}");
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(record.user.as_deref(), is_root.then_some("nobody"));
    let log = fs::read_to_string(record.log.as_ref().unwrap()).unwrap();
    assert!(!log.is_empty());
    let watched = run.points.iter().flat_map(|point| &point.slices);
    let cpu: f64 = watched.filter_map(|slice| slice.telemetry.get(figures::SERVER_CPU)).sum();
    assert!(cpu > 0.0, "a server that serves needs its time");
}

fn failure(run: &RunRecord) -> &str {
    match &run.state {
        RunState::Failed { message } => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_on_a_server_of_its_own() {
    for (server, laboratory) in servers_here() {
        let record = finishes(&laboratory, experiment(server, "", "1s", 1));
        assert_eq!(record.runs[0].records_loaded, Some(2_000));
        was_served(&record.runs[0], server);
    }
}

/// The processes of the laboratory that are this server.
fn servers_of(laboratory: &Laboratory, server: &str) -> Vec<u32> {
    let is_it = |process: &u32| {
        let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let first = words.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(first).ends_with(server)
    };
    laboratory.processes().into_iter().filter(is_it).collect()
}

/// Takes what room there is until the other end of the channel is gone.
fn keep_full(mut filler: fs::File, ended: mpsc::Receiver<()>) {
    let block = vec![1_u8; 1 << 16];
    loop {
        while filler.write_all(&block).is_ok() {}
        if ended.recv_timeout(Duration::from_millis(1)) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

#[test]
fn a_server_that_is_nowhere_stops_the_experiment_before_it_begins() {
    let laboratory = open_laboratory();
    let text = experiment("{program: plimsoll-has-no-such-server}", "", "1s", 1);
    laboratory.write("experiment.yaml", text);
    let said = run(&laboratory, &["run", "experiment.yaml"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let words = "there is no program plimsoll-has-no-such-server for the server mongod";
    assert_contains(&said.err, words);
    let advice = "`server: {program: /path/to/plimsoll-has-no-such-server}`";
    assert_contains(&said.err, advice);
    assert!(laboratory.record_so_far().is_none());
}

/// What an arm says to be measured on a server that runs at this port.
fn existing(port: u16) -> String {
    format!("uri: 'mongodb://127.0.0.1:{port}/', existing: drop")
}

/// A mongod that the test started, on a port that it chose, gone when it is dropped.
pub struct RunningMongod {
    child: Child,
    pub port: u16,
}

impl RunningMongod {
    /// Also at a Unix socket in the same folder as its data, which every user may use.
    pub fn start(laboratory: &Laboratory) -> Self {
        let port = free_port();
        let folder = laboratory.path("mongod");
        fs::create_dir(&folder).unwrap();
        let folder = folder.display();
        // By this name it is distinguished from others that run meanwhile.
        let named = laboratory.path(&format!("mongod-{port}"));
        std::os::unix::fs::symlink(plimsoll_testing::server("mongod").unwrap(), &named).unwrap();
        let child = Command::new(named)
            .arg(format!("--dbpath={folder}"))
            .arg(format!("--unixSocketPrefix={folder}"))
            .arg(format!("--port={port}"))
            .args(["--bind_ip=127.0.0.1", "--filePermissions=0777"])
            .arg("--wiredTigerCacheSizeGB=0.25")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("the server to answer", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { child, port }
    }
}

impl Drop for RunningMongod {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Documents in a collection, as the server counts them.
fn stored(uri: &str, database: &str, table: &str) -> u64 {
    let mut data = DataSpec::with_records(1);
    data.table = table.into();
    let text = |text: &str| SettingValue::Text(text.into());
    let settings = [("uri".into(), text(uri)), ("database".into(), text(database))];
    let settings = Settings(settings.into());
    let joining = Opening { joins: true, ..Opening::new(&settings, &data) };
    let engine = plimsoll_engine::open("mongodb", &joining).unwrap();
    engine.count().unwrap().unwrap()
}

#[test]
fn a_server_that_is_not_there_is_found_out_before_anything_is_stored() {
    let laboratory = open_laboratory();
    let uri = format!("mongodb://me:p%40ss@127.0.0.1:{}/", closed_port());
    laboratory.write(
        "experiment.yaml",
        experiment("mongod", &format!("uri: '{uri}'"), "1s", 1).replace(", server: mongod", ""),
    );
    for arguments in [&["run", "experiment.yaml"][..], &["run", "--uri", &uri, "--yes"]] {
        let said = run(&laboratory, arguments);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert_eq!(said.err.lines().count(), 1, "{said:?}");
        assert_contains(&said.err, "Connection refused");
        assert!(!said.err.contains("Topology") && !said.err.contains("ss@"), "{said:?}");
        assert!(laboratory.record_so_far().is_none());
    }
    for (uri, words) in [
        ("", "is the variable that holds it set?"),
        ("postgres://me:secret@h/", "no address of a MongoDB server"),
        ("127.0.0.1:27017", "no address of a MongoDB server"),
    ] {
        let said = run(&laboratory, &["plan", "--uri", uri]);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert_contains(&said.err, words);
    }
}

mod once {
    use super::*;

    #[test]
    fn a_server_on_an_emulated_disk_under_limits() {
        needs!([Need::Root, Need::File("/dev/fuse")]);
        for (server, laboratory) in servers_here() {
            // A mongod takes half of the memory for its cache, unless its options say how much.
            let cache = match server {
                "mongod" => ", cache_size: 256MiB",
                _ => "",
            };
            let arm = format!(
                "disk: {{capacity: 2GiB}}, filesystem: ext4, limits: {{memory: 1GiB}}{cache}"
            );
            let record = finishes(&laboratory, experiment(server, &arm, "1s", 1));
            was_served(&record.runs[0], server);
            let rig = record.runs[0].rig.as_ref().unwrap();
            assert_eq!(rig.limits.memory_bytes, Some(1 << 30));
            // It is the server that is in the group, and it fills the page cache there.
            let slices = record.runs[0].points.iter().flat_map(|point| &point.slices);
            let charged = slices.filter_map(|slice| slice.telemetry.get(figures::GROUP_MEMORY));
            let most = charged.fold(0.0_f64, |most, bytes| most.max(*bytes));
            assert!(most > f64::from(8 << 20), "{most}");
        }
    }

    /// Documents of another program, and the records of an earlier load.
    #[test]
    fn existing_documents_are_measured_and_not_loaded() {
        needs!([Need::Server("mongod")]);
        let laboratory = open_laboratory();
        let standing = RunningMongod::start(&laboratory);
        let uri = format!("mongodb://127.0.0.1:{}/", standing.port);
        let stored = |table| stored(&uri, "ycsb", table);
        let url = format!("mongodb.url={uri}");
        let load = [
            "foreign",
            "ycsb",
            "load",
            "mongodb",
            "-p",
            &url,
            "-p",
            "workload=site.ycsb.workloads.CoreWorkload",
            "-p",
            "recordcount=10",
        ];
        let elsewhere = ["-p", "table=orders", "-p", "insertorder=ordered"];
        let said = run(&laboratory, &[&load[..], &elsewhere].concat());
        assert_eq!((said.code, stored("orders")), (Some(0), 10), "{said:?}");
        let experiment = |table: &str, existing: &str| {
            format!(
                "plimsoll: 1
name: existing
workload: {{records: 300, table: {table}, mixes: {{even: {{read: 1, update: 1}}}}}}
arms:
  one: {{engine: mongodb, uri: '{uri}', existing: {existing}}}
load: {{closed: {{threads: 1}}}}
measurement: {{warm_up: 0s, duration: 200ms, blocks: 1}}
"
            )
        };
        let (said, record) = run_text(&laboratory, experiment("orders", "use"));
        assert_eq!(said.code, Some(106), "{said:?}");
        let why = failure(&record.runs[0]);
        assert_contains(why, "`existing: use`: orders is not the data of this experiment");
        assert_contains(why, "a key that the workload uses is missing");
        assert_eq!(stored("orders"), 10);

        finishes(&laboratory, experiment("ours", "drop"));
        let record = finishes(&laboratory, experiment("ours", "use"));
        let run = &record.runs[0];
        assert!(run.load.is_none());
        assert_eq!(run.records_loaded, Some(300));
        assert!(run.points[0].end.as_ref().unwrap().errors.is_empty());
        assert_eq!(stored("ours"), 300);
    }

    #[test]
    fn data_that_is_stored_once_is_copied_below_each_server() {
        needs!([Need::Root, Need::Server("mongod"), Need::Program("fio"), Need::File("/dev/fuse")]);
        let laboratory = open_laboratory();
        let disk = "disk: {capacity: 2GiB, iops: 20k}, filesystem: xfs, cache_size: 256MiB";
        let text = experiment("mongod", disk, "300ms", 2) + "load_phase: once\n";
        laboratory.write("experiment.yaml", text);
        let said = run(&laboratory, &["run", "experiment.yaml", "--no-calibration"]);
        let record = laboratory.record();
        assert_eq!(finished(&record), 2, "{said:?}");
        for run in &record.runs {
            assert_eq!((run.load.is_none(), run.records_loaded), (true, Some(2_000)));
            was_served(run, "mongod");
        }
        assert_eq!(said.err.matches("storing the data of one for all its runs").count(), 1);
    }

    #[test]
    fn a_server_that_runs_is_measured_without_a_file() {
        needs!([Need::Server("mongod")]);
        let laboratory = open_laboratory();
        let standing = RunningMongod::start(&laboratory);
        let port = standing.port;
        let uri = format!("mongodb://127.0.0.1:{port}/?appName=secret");
        let quick = [
            ["--duration", "200ms"],
            ["--warm-up", "0s"],
            ["--blocks", "1"],
            ["--records", "100"],
            ["--threads", "1,4"],
        ]
        .concat();
        let refused = run(&laboratory, &[&["run", "--uri", &uri], &quick[..]].concat());
        assert_eq!(refused.code, Some(2), "{refused:?}");
        for words in ["documents  100, ", "plimsoll.usertable", "1 to 4 threads", "--yes"] {
            assert_contains(&refused.err, words);
        }
        assert!(laboratory.record_so_far().is_none());
        let start = [&["run", "--uri", &uri, "--yes"], &quick[..]].concat();
        let said = run(&laboratory, &[&start[..], &["--keep"]].concat());
        assert_eq!(stored(&uri, "plimsoll", "usertable"), 100, "{said:?}");
        let removed = run(&laboratory, &[&start[..], &["--fresh"]].concat());
        assert_contains(&removed.err, "were removed from the server");
        for table in ["usertable", "plimsoll.marks"] {
            assert_eq!(stored(&uri, "plimsoll", table), 0, "{removed:?}");
        }
        let again = run(&laboratory, &["plan", "--uri", &uri]);
        drop(standing);
        let record = laboratory.record();
        assert_eq!(record.name, format!("server-127.0.0.1-{port}"));
        assert_eq!(runs(&record), [("server", 0, 1, "finished")], "{said:?}");
        // One session and four, under two mixes.
        assert_eq!(record.runs[0].points.len(), 4);
        assert_eq!(again.code, Some(0), "{again:?}");
        // A run needs one of the two, and takes one alone.
        for (arguments, words) in [
            (&["run"][..], "FILE"),
            (&["run", "x.yaml", "--uri", "mongodb://h"], "cannot be used with"),
        ] {
            let said = run(&laboratory, arguments);
            assert_eq!(said.code, Some(2), "{said:?}");
            assert!(said.err.contains(words), "{said:?}");
        }
    }
}

mod slow {
    use super::*;

    /// It takes connections and answers nothing, as a server does whose disk is gone.
    #[test]
    fn a_server_that_stands_still_holds_up_neither_a_point_nor_an_interruption() {
        needs!([Need::Server("mongod")]);
        for client in ["lean", "driver"] {
            let laboratory = open_laboratory();
            let standing = RunningMongod::start(&laboratory);
            let arm = format!("{}, client: {client}", existing(standing.port));
            let text = |duration| {
                experiment("mongod", &arm, duration, 1).replace(
                    "defaults: {engine: mongodb, server: mongod}",
                    "defaults: {engine: mongodb}",
                )
            };
            let mut running = start(&laboratory, text("10m"));
            laboratory.wait_for_record(&mut running, has_slices);
            send(standing.child.id(), Signal::STOP);
            running.send(Signal::INT);
            let said = running.end();
            send(standing.child.id(), Signal::CONT);
            assert_eq!(said.code, Some(105), "{said:?}");

            let mut running = start(&laboratory, text("3s").replace("served", "unanswered"));
            laboratory.wait_for_record(&mut running, has_slices);
            send(standing.child.id(), Signal::STOP);
            let said = running.end();
            send(standing.child.id(), Signal::CONT);
            let record = laboratory.record();
            let errors = record.runs[0].points.iter().flat_map(|point| &point.end);
            let errors: Vec<_> = errors.flat_map(|end| &end.errors).collect();
            let named = errors.iter().any(|error| error.message.contains("did not answer"));
            assert!(named, "{said:?} {errors:?}");
        }
    }

    #[test]
    fn room_for_page_cache_beside_a_server() {
        needs!([Need::Root]);
        for (server, laboratory) in servers_here() {
            let arm = "limits: {page_cache: 48MiB}";
            let record = finishes(&laboratory, experiment(server, arm, "2s", 1));
            let limits = &record.runs[0].rig.as_ref().unwrap().limits;
            assert_eq!(limits.page_cache_bytes, Some(48 << 20));
            let limit = limits.memory_bytes.unwrap();
            assert!(limit > 56 << 20, "the server takes some of it: {limit}");
            // As the kernel counts, to a few pages for each processor.
            let slices = record.runs[0].points.iter().flat_map(|point| &point.slices);
            let last = slices.last().unwrap();
            let [charged, limit] = [figures::GROUP_MEMORY, figures::GROUP_MEMORY_LIMIT]
                .map(|name| *last.telemetry.get(name).unwrap());
            assert!(charged <= limit + f64::from(1 << 20), "{charged} of {limit}");
        }
    }

    /// Its cache fills while it is measured, and its memory grows by about as much as there is room for.
    #[cfg(feature = "wiredtiger")]
    #[test]
    fn room_for_page_cache_beside_an_embedded_engine() {
        needs!([Need::Root]);
        let laboratory = Laboratory::new();
        let record = finishes(
            &laboratory,
            "
plimsoll: 1
name: embedded
workload: {records: 100k, mixes: [c]}
arms: {one: {engine: wiredtiger, cache_size: 64MiB, limits: {page_cache: 16MiB}}}
load: {closed: {threads: 2}}
measurement: {warm_up: 0s, duration: 4s, blocks: 1}
"
            .into(),
        );
        let point = record.runs[0].points.last().unwrap();
        let last = point.slices.last().unwrap();
        let [limit, charged, page_cache] =
            [figures::GROUP_MEMORY_LIMIT, figures::GROUP_MEMORY, figures::GROUP_PAGE_CACHE]
                .map(|name| *last.telemetry.get(name).unwrap());
        let room = (limit - (charged - page_cache)) / f64::from(1 << 20);
        assert!((12.0..20.0).contains(&room), "{room} MiB");
    }

    #[test]
    fn a_server_that_is_killed_fails_its_run_alone() {
        for (server, laboratory) in servers_here() {
            let mut running = start(&laboratory, experiment(server, "", "4s", 2));
            laboratory.wait_for_record(&mut running, has_slices).unwrap();
            let victim = servers_of(&laboratory, server);
            assert_eq!(victim.len(), 1, "one at a time");
            send(victim[0], Signal::KILL);
            let said = running.end();
            let record = laboratory.record();
            let states = [("one", 0, 1, "failed"), ("one", 1, 1, "finished")];
            assert_eq!(runs(&record), states, "{said:?}");
            let message = failure(&record.runs[0]);
            let words = format!("the server {server} is gone: it was killed (SIGKILL)");
            assert!(message.contains(&words), "{message}");
            assert!(message.contains("its last words: "), "{message}");
            // What was measured until then is kept.
            let points = record.runs[0].points.iter();
            assert!(points.map(|point| point.slices.len()).sum::<usize>() > 0);
        }
    }

    #[test]
    fn a_server_of_a_killed_runner_is_cleaned_away() {
        for (server, laboratory) in servers_here() {
            let mut running = start(&laboratory, experiment(server, "", "600s", 1));
            laboratory.wait_for_record(&mut running, |record| !record.runs.is_empty()).unwrap();
            wait_until("the server to be there", || servers_of(&laboratory, server).len() == 1);
            running.send(Signal::KILL);
            running.end();
            let cleaned = laboratory.run(&["clean"]);
            assert_eq!(cleaned.code, Some(0), "{cleaned:?}");
            assert!(servers_of(&laboratory, server).is_empty(), "{cleaned:?}");
        }
    }

    /// The disk is full from some moment of the load on: the run fails, and says why in the words of the server.
    #[test]
    fn a_full_disk_under_a_server() {
        needs!([Need::Root]);
        for (server, laboratory) in servers_here() {
            let _disk = Mounted::tmpfs(&laboratory.path("disk"), "400m");
            // Far more records than can be stored while the disk is being filled.
            let text = experiment(server, "directory: disk", "1s", 1).replace("2k", "20k");
            let running = start(&laboratory, text);
            wait_until("the server to be there", || servers_of(&laboratory, server).len() == 1);
            // It stays full, also where the server gives room back as it ends.
            let filler = fs::File::create(laboratory.path("disk/filler")).unwrap();
            let (ends, ended) = mpsc::channel();
            let said = thread::scope(|scope| {
                scope.spawn(|| keep_full(filler, ended));
                let _ends = ends;
                running.end()
            });
            assert_ne!(said.code, Some(0), "{said:?}");
            let record = laboratory.record();
            let message = failure(&record.runs[0]);
            let names_it = message.contains("full") || message.contains("space");
            assert!(names_it, "{message}");
            // What the server says of it, to its client or in its log. The log lies on the same disk: when no whole line of it found room, or the
            // last one was cut off, the program itself must have seen that the disk is full.
            let known = [
                "28: No space left on device",
                "error 28: WiredTiger error",
                " is full; ",
                "as on a full disk",
            ];
            let is_known = known.iter().any(|known| message.contains(known));
            assert!(server != "mongod" || is_known, "{message}");
        }
    }

    /// A server that cannot even write why it ends: the program looks whether there was room.
    #[test]
    fn a_server_that_finds_its_disk_full_ends_with_that_reason() {
        needs!([Need::Root]);
        let laboratory = open_laboratory();
        let _disk = Mounted::tmpfs(&laboratory.path("disk"), "400m");
        let words = "#!/bin/sh\ncat /dev/zero > filler 2>/dev/null\nexit 3\n";
        let greedy = laboratory.write("greedy", words);
        fs::set_permissions(&greedy, fs::Permissions::from_mode(0o755)).unwrap();
        let text = experiment("{program: ./greedy}", "directory: disk/data", "1s", 1);
        let message = fails(&laboratory, text.replace("2k", "1"));
        let words = "it ended with exit code 3, and the disk of ";
        assert!(message.contains(words), "{message}");
        assert!(message.contains(" is full"), "{message}");
    }

    #[test]
    fn a_server_that_runs_by_itself_is_measured_by_its_uri() {
        needs!([Need::Server("ferretdb")]);
        let laboratory = open_laboratory();
        let standing = Server::start(Kind::FerretDb);
        let text =
            experiment("mongod", &existing(standing.port), "1s", 2).replace(", server: mongod", "");
        let (said, record) = run_text(&laboratory, text);
        let states = [("one", 0, 1, "finished"), ("one", 1, 1, "finished")];
        assert_eq!(runs(&record), states, "{said:?}");
        for run in &record.runs {
            assert_eq!(run.records_loaded, Some(2_000));
            assert!(run.rig.is_none() && run.storage.is_none(), "nothing of it is ours");
        }
        drop(standing);
        let said = run(&laboratory, &["run", "experiment.yaml", "--fresh"]);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert_contains(&said.err, "nothing was begun: arm one: ");
        assert_eq!(laboratory.record(), record, "nothing more is stored");
    }

    /// However it is reached, its CPU time, its memory and the disk of its data are known as those of a started one, and it is no foreign program.
    #[test]
    fn a_server_of_this_machine_has_figures_of_its_own() {
        needs!([Need::Server("mongod")]);
        let laboratory = open_laboratory();
        let standing = RunningMongod::start(&laboratory);
        let port = standing.port;
        let folder = laboratory.path("mongod");
        let socket = folder.join(format!("mongodb-{port}.sock"));
        let socket = socket.display().to_string().replace('/', "%2F");
        let device = Host::here().storage(&folder).device;
        let own = format!("mongod-{port}");
        for uri in [
            format!("mongodb://127.0.0.1:{port}/"),
            "mongodb://${PLIMSOLL_TEST_HOST}/".to_owned(),
            format!("mongodb://{socket}/"),
        ] {
            let arm = format!("uri: '{uri}', existing: drop");
            let text = experiment("mongod", &arm, "2s", 1).replace(", server: mongod", "");
            laboratory.write("experiment.yaml", text);
            let host = format!("127.0.0.1:{port}");
            let output = laboratory
                .command(&["run", "experiment.yaml", "--fresh"])
                .envs(environment())
                .env("PLIMSOLL_TEST_HOST", host)
                .output()
                .unwrap();
            let record = laboratory.record();
            assert_eq!(runs(&record), [("one", 0, 1, "finished")], "{output:?}");
            let points = &record.runs[0].points;
            let sum = |figure: &str| -> f64 {
                let slices = points.iter().flat_map(|point| &point.slices);
                slices.filter_map(|slice| slice.telemetry.get(figure)).sum()
            };
            assert!(sum(figures::SERVER_CPU) > 0.0, "{uri}");
            assert!(sum(figures::SERVER_MEMORY) > 1e6, "{uri}");
            let mut slices = points.iter().flat_map(|point| &point.slices);
            let has_disk = slices.any(|slice| slice.telemetry.contains_key(figures::DEVICE_WRITES));
            assert_eq!(has_disk, device.is_some(), "{uri}");
            for end in points.iter().filter_map(|point| point.end.as_ref()) {
                let foreign = end.foreign.as_ref().unwrap();
                let named = foreign.programs.iter().any(|one| one.name == own);
                assert!(!named, "{uri}: {foreign:?}");
            }
        }
    }

    /// Operations that are due while the server stands still wait for it. That it did is marked, and a caution.
    #[test]
    fn a_server_that_stands_still_for_three_seconds_is_a_stall() {
        needs!([Need::Server("mongod")]);
        let laboratory = open_laboratory();
        let standing = RunningMongod::start(&laboratory);
        let text = experiment("mongod", &existing(standing.port), "15s", 1)
            .replace(", server: mongod", "")
            .replace("closed: {threads: 2}", "open: {rates: [100], sessions: 4}");
        let mut running = start(&laboratory, text);
        let begun = laboratory.wait_for_record(&mut running, |record| {
            let points = record.runs.iter().flat_map(|run| &run.points);
            let mut measured = points.filter(|point| point.label.point.is_some());
            measured.any(|point| point.slices.len() >= 2)
        });
        if begun.is_none() {
            panic!("{:?}", running.end());
        }
        let process = standing.child.id();
        send(process, Signal::STOP);
        // No more than what is claimed.
        std::thread::sleep(Duration::from_millis(3_050));
        send(process, Signal::CONT);
        let said = running.end();
        let record = laboratory.record();
        assert_eq!(runs(&record), [("one", 0, 1, "finished")], "{said:?}");
        let analysis = plimsoll_judge::analyse(&record).unwrap();
        let point = &analysis.curves[0].points[0];
        let mut warnings = point.results[0].warnings.iter();
        let is_marked = warnings.any(|one| one.id == WarningId::Stall);
        assert!(is_marked, "{:?}", point.results[0].warnings);
        let mut series = analysis.series.iter();
        let series = series.find(|series| series.point.is_some()).unwrap();
        let is_long = |(begin, end): &(f64, f64)| end - begin >= 1.5;
        assert!(series.stalls.iter().any(is_long), "{:?}", series.stalls);
    }

    /// What a record takes is measured on a server like the one of the arm.
    #[test]
    fn a_record_is_sized_on_a_server() {
        for (server, laboratory) in servers_here() {
            let text = experiment(server, "", "1s", 1);
            let surroundings = Surroundings {
                base_dir: &laboratory.path("."),
                engines: plimsoll_engine::kinds(),
                limits: Limits::UNKNOWN,
                overrides: &Overrides::default(),
                read_file: &read_text_file,
                measure: &cannot_measure,
            };
            let plan = check(&text, "experiment.yaml", &surroundings).unwrap();
            let arm = &plan.arms[0];
            let rig = RigProgram {
                path: "/usr/bin/env".into(),
                arguments: vec![
                    format!("XDG_STATE_HOME={}", laboratory.path("state").display()),
                    format!("XDG_CACHE_HOME={}", laboratory.path("cache").display()),
                    env!("CARGO_BIN_EXE_plimsoll").into(),
                    "rig".into(),
                ],
            };
            let rigs = RigProcess::over(rig.start().unwrap());
            let bytes = bytes_per_record(&Sizing {
                engine: &arm.engine,
                settings: &arm.settings,
                server: arm.rig.server.as_ref(),
                data: &arm.data,
                allocator: "system",
                rigs: &rigs,
            });
            // Ten fields of 100 bytes, whose names and ends a compressor may squeeze.
            let bytes = bytes.unwrap();
            assert!((300.0..20_000.0).contains(&bytes), "{bytes}");
            drop(rigs);
            let journals = fs::read_dir(laboratory.path("state/plimsoll/journal")).unwrap();
            assert_eq!(journals.count(), 0, "all of it was undone");
        }
    }

    #[test]
    fn a_server_that_never_gets_ready_is_quoted() {
        let laboratory = open_laboratory();
        // It says that it listens to nobody, and it does not.
        let deaf = laboratory.write("deaf", "#!/bin/sh\necho I hear nothing\nexec sleep 1000\n");
        fs::set_permissions(&deaf, fs::Permissions::from_mode(0o755)).unwrap();
        let server = "{program: ./deaf, ready_within: 1s}";
        let message = fails(&laboratory, experiment(server, "", "1s", 1));
        assert_contains(&message, "took no connection at mongodb://127.0.0.1:");
        assert_contains(&message, "I hear nothing");
    }

    #[test]
    fn what_a_server_leaves_behind_without_a_mark_is_ended() {
        let laboratory = open_laboratory();
        // As many seconds as nobody else waits.
        let seconds = format!("1000.{}", std::process::id());
        let words = format!("#!/bin/sh\nsetsid env -i sleep {seconds} &\nexec sleep 1000\n");
        let leaving = laboratory.write("leaving", words);
        fs::set_permissions(&leaving, fs::Permissions::from_mode(0o755)).unwrap();
        let server = "{program: ./leaving, ready_within: 1s}";
        fails(&laboratory, experiment(server, "", "1s", 1));
        let sleeping = format!("sleep\0{seconds}\0");
        for entry in fs::read_dir("/proc").unwrap() {
            let words = fs::read(entry.unwrap().path().join("cmdline")).unwrap_or_default();
            assert_ne!(String::from_utf8_lossy(&words), sleeping);
        }
    }

    #[test]
    fn passwords_reach_neither_store_nor_screen() {
        let laboratory = open_laboratory();
        // Nobody listens at port 1, so nothing begins, and the reason is given at length.
        let arm = "uri: 'mongodb://someone:geheim@127.0.0.1:1/?serverSelectionTimeoutMS=100'";
        let text = experiment("mongod", arm, "1s", 1);
        laboratory.write("experiment.yaml", &text);
        let plan = run(&laboratory, &["plan", "experiment.yaml"]);
        assert_contains(&plan.out, "mongodb://someone:***@127.0.0.1:1/");
        let wrong =
            text.replace("mix", "mixx").replace("preset: a", "preset: mongodb://a:geheim@b");
        laboratory.write("wrong.yaml", wrong);
        let wrong = run(&laboratory, &["plan", "wrong.yaml"]);
        assert_eq!(wrong.code, Some(104), "{wrong:?}");
        let said = run(&laboratory, &["-vv", "run", "experiment.yaml"]);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert_contains(&said.err, "nothing was begun: arm one: ");
        for said in [&plan, &wrong, &said] {
            assert!(!format!("{said:?}").contains("geheim"), "{said:?}");
        }
        let mut files = vec![laboratory.path(".")];
        while let Some(path) = files.pop() {
            let is_its_experiment = path.extension().is_some_and(|end| end == "yaml");
            if path.is_symlink() || is_its_experiment {
                continue;
            }
            if path.is_dir() {
                let entries = fs::read_dir(&path).unwrap();
                files.extend(entries.map(|entry| entry.unwrap().path()));
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let found = bytes.windows(6).any(|window| window == b"geheim");
            assert!(!found, "{}", path.display());
        }
    }
}
