//! `plimsoll disk`: presets, fio on directories and emulated disks, traces. Nothing here expects a speed.

use crate::laboratory::{Laboratory, Said};
use crate::stores::with_a_record;
use plimsoll_record::{DiskLatency, DiskSpec, RigRecord, TraceReference};
use plimsoll_testing::{Need, assert_contains, assert_ends, assert_starts, needs};
use plimsoll_trace::{
    Extent, ExtentMap, Head, Kind, MappedFile, Request, Writer, finish, monotonic_ns,
};
use rustix::process::Signal;
use std::fs;

/// What a test on emulated disks needs.
const DISKS: [Need<'_>; 4] =
    [Need::Root, Need::File("/dev/fuse"), Need::File("/dev/loop-control"), Need::Program("fio")];

/// The program with the PATH of this process, to find fio and losetup by.
fn disk(laboratory: &Laboratory, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = laboratory.command(&[&["disk"], arguments].concat());
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let Said { code, out, err } = Said::of(command.output().unwrap());
    (code, out, err)
}

/// Loop devices over files of the laboratory.
fn loop_devices(laboratory: &Laboratory) -> Vec<String> {
    let folder = fs::canonicalize(laboratory.path(".")).unwrap();
    let mut found = Vec::new();
    for entry in fs::read_dir("/sys/block").unwrap() {
        let path = entry.unwrap().path().join("loop/backing_file");
        let backing = fs::read_to_string(path).unwrap_or_default();
        if backing.contains(folder.to_str().unwrap()) {
            found.push(backing);
        }
    }
    found
}

#[test]
fn presets_have_their_source_and_date() {
    let laboratory = Laboratory::new();
    let (code, out, err) = disk(&laboratory, &["presets"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_contains(&out, "gp3  3k IOPS");
    assert_contains(&out, "Machines, as `machine: NAME`");
    assert_contains(&out, "r6g.2xlarge");
    let (code, out, _) = disk(&laboratory, &["presets", "--json"]);
    assert_eq!(code, Some(0));
    let all: serde_json::Value = serde_json::from_str(&out).unwrap();
    for preset in all["disks"].as_array().unwrap() {
        assert!(!preset["source"].as_str().unwrap().is_empty(), "{preset}");
    }
}

#[test]
fn what_is_no_target_is_told() {
    let laboratory = Laboratory::new();
    laboratory.write("file", "not ours");
    let nowhere = "nowhere is no directory and no device";
    let neither = "is neither a block device nor a directory";
    let unknown = "there is no disk `gp9`; did you mean `gp2`?";
    let jobs = "`0` is not a number of jobs from 1 to 1024";
    let unit = "has the unknown unit `OO`";
    let no_block = "--erase is for block devices";
    for (arguments, code, description) in [
        (&["characterise", "nowhere"][..], 1, nowhere),
        (&["characterise", "file"], 1, neither),
        (&["characterise", ".", "--erase"], 1, no_block),
        (&["characterise", "{iops: 6OO}"], 104, unit),
        (&["calibrate", "gp3", "gp9"], 104, unknown),
        (&["clone", "nowhere", "--to", "c.yaml"], 1, nowhere),
        (&["clone", ".", "--to", "c.yaml", "--erase"], 1, no_block),
        (&["clone", ".", "--to", "clone"], 1, "clone should end in .yaml"),
        (&["clone", ".", "--to", "none/c.yaml"], 1, "there is no folder for none/c.yaml"),
        (&["calibrate", "c.yaml"], 104, "`c.yaml` cannot be read"),
        (&["trace", "file"], 1, "is not a trace of an emulated disk"),
        (&["characterise", ".", "--jobs", "0"], 2, jobs),
    ] {
        let said = disk(&laboratory, arguments);
        assert_eq!((said.0, said.1.as_str()), (Some(code), ""), "{said:?}");
        assert_contains(&said.2, description);
    }
    let found = fs::read_to_string(laboratory.path("file")).unwrap();
    assert_eq!(found, "not ours");
}

#[test]
fn without_fio_the_package_is_named() {
    let laboratory = Laboratory::new();
    let output = laboratory
        .command(&["disk", "characterise", "."])
        .env("PATH", laboratory.path("."))
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    let expected = "plimsoll: fio is not installed: install the package fio\n";
    assert_eq!(err, expected);
}

fn request(time_ns: u64, kind: Kind, length: u32) -> Request {
    Request {
        time_ns,
        offset: 1 << 20,
        length,
        kind,
        latency_ns: 7_000_000,
        in_flight: 1,
        lateness_ns: 0,
    }
}

#[test]
fn a_trace_is_told_and_written_for_other_programs() {
    let laboratory = Laboratory::new();
    let live = laboratory.path("live.trace");
    let writer = Writer::create(&live, 1000, &Head::new(&DiskSpec::unlimited(1 << 30))).unwrap();
    for (time_ns, kind, length) in
        [(1_000_000, Kind::Read, 4096), (2_000_000, Kind::Write, 8192), (5_000_000, Kind::Flush, 0)]
    {
        writer.record(&request(time_ns, kind, length));
    }
    drop(writer);
    finish(&live, &laboratory.path("kept.trace"), &[]).unwrap();
    let words = "trace kept.trace --iolog out.iolog --csv out.csv";
    let (code, out, err) = disk(&laboratory, &words.split(' ').collect::<Vec<_>>());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(out);
    let iolog = fs::read_to_string(laboratory.path("out.iolog")).unwrap();
    assert_starts(&iolog, "fio version 3 iolog\n");
    let csv = fs::read_to_string(laboratory.path("out.csv")).unwrap();
    assert_eq!(csv.lines().count(), 4);
    let (_, out, _) = disk(&laboratory, &["trace", "kept.trace", "--json"]);
    let summary: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(summary["requests"], 3);
}

/// `kept.trace` of a single read.
fn keep_a_trace(laboratory: &Laboratory) {
    let live = laboratory.path("live.trace");
    let writer = Writer::create(&live, 10, &Head::new(&DiskSpec::unlimited(1 << 30))).unwrap();
    let time_ns = monotonic_ns();
    writer.record(&request(time_ns, Kind::Read, 4096));
    drop(writer);
    let extent = Extent { logical: 0, physical: 0, length: 1 << 21, flags: 0 };
    let file = MappedFile {
        path: "data/collection.wt".into(),
        size: 1 << 21,
        extents: vec![extent],
        unmapped: None,
    };
    let files = vec![file];
    let map = ExtentMap { time_ns, files };
    finish(&live, &laboratory.path("kept.trace"), &[map]).unwrap();
}

#[test]
fn a_trace_is_drawn_and_nothing_is_overwritten() {
    let laboratory = Laboratory::new();
    keep_a_trace(&laboratory);
    for (name, begin) in
        [("map.png", &b"\x89PNG"[..]), ("map.apng", b"\x89PNG"), ("map.gif", b"GIF89a")]
    {
        let arguments = ["disk", "map", "kept.trace", "--to", name, "--width", "256"];
        let drawn = laboratory.run(&arguments);
        assert_eq!(drawn.code, Some(0), "{}", drawn.err);
        assert!(drawn.out.contains("1 access to 1 file"));
        assert!(fs::read(laboratory.path(name)).unwrap().starts_with(begin));
        let again = laboratory.run(&arguments);
        assert_eq!(again.code, Some(1));
        assert_contains(&again.err, "never overwritten");
    }
    let wrong = laboratory.run(&["disk", "map", "kept.trace", "--to", "map.mp4"]);
    assert_contains(&wrong.err, "must end in .png");
    let nothing = laboratory.run(&["disk", "map", "kept.trace", "--to", "w.png", "--writes"]);
    assert_eq!(nothing.code, Some(1));
    assert!(nothing.err.contains("no request of the trace"));
    assert!(!laboratory.path("w.png").exists());
}

mod once {
    use super::*;

    #[test]
    fn an_emulated_disk_is_calibrated_and_undone() {
        needs!(DISKS);
        let laboratory = Laboratory::new();
        let (code, out, err) = disk(&laboratory, &["calibrate", "{capacity: 64MiB}"]);
        assert_eq!(code, Some(0), "{out}{err}");
        assert_contains(&out, "there is nothing to check");
        // No machine makes a disk as fast as this.
        let dream = ["calibrate", "{iops: 100M}", "--json"];
        let (code, out, err) = disk(&laboratory, &dream);
        assert_eq!(code, Some(106), "{out}{err}");
        let said: serde_json::Value = serde_json::from_str(&out).unwrap();
        let error = said[0]["error"].as_str().unwrap();
        assert_contains(error, "needs 100,000,000 IOPS");
        assert_eq!(loop_devices(&laboratory), Vec::<String>::new());
    }
}

mod slow {
    use super::*;
    #[cfg(feature = "wiredtiger")]
    use crate::laboratory::page_of;
    #[cfg(feature = "wiredtiger")]
    use plimsoll_record::{RunRecord, RunState};
    #[cfg(feature = "wiredtiger")]
    use plimsoll_trace::Trace;

    #[test]
    fn a_directory_is_characterised_and_left_as_it_was() {
        needs!([Need::Program("fio")]);
        let laboratory = Laboratory::new();
        fs::create_dir(laboratory.path("here")).unwrap();
        let small = "characterise here --quick --size 16MB --jobs 1 --block 4KiB --page disk.html";
        let arguments: Vec<&str> = small.split(' ').collect();
        let (code, out, err) = disk(&laboratory, &arguments);
        // Not every filesystem takes direct I/O; then fio says so, and nothing stays behind either.
        if code == Some(0) {
            assert_contains(&out, "random writes with fsync");
            assert_contains(&err, "random reads of 4 KiB, 1 job");
            let page = fs::read_to_string(laboratory.path("disk.html")).unwrap();
            assert!(page.contains("What here can do"));
        } else {
            assert_contains(&err, "fio failed at");
        }
        assert_eq!(fs::read_dir(laboratory.path("here")).unwrap().count(), 0);
    }

    /// What limits a disk is found from outside, and its description is a disk again.
    #[test]
    fn a_clone_has_the_limits_of_its_original() {
        needs!(DISKS);
        let laboratory = Laboratory::new();
        fs::create_dir(laboratory.path("slow")).unwrap();
        let original = "{iops: 200, latency: 8ms, flush: 3ms, capacity: 512MiB}";
        let (code, _, err) = disk(&laboratory, &["mount", original, "slow"]);
        assert_eq!(code, Some(0), "{err}");
        let (code, out, err) =
            disk(&laboratory, &["clone", "slow", "--to", "copy.yaml", "--quick", "--json"]);
        let unmounted = disk(&laboratory, &["unmount", "slow"]);
        assert_eq!(unmounted.0, Some(0), "{}", unmounted.2);
        // 106 where this machine is too busy to be like the original in all jobs.
        assert!(code == Some(0) || code == Some(106), "{err}");
        let found: serde_json::Value = serde_json::from_str(&out).unwrap();
        let iops = found["disk"]["iops"]["joint"].as_f64().unwrap();
        // Never faster, and a busy machine makes it slower.
        assert!((100.0..=206.0).contains(&iops), "{}", found["disk"]);
        for law in ["read_latency", "write_latency"] {
            let law: DiskLatency = serde_json::from_value(found["disk"][law].clone()).unwrap();
            assert!(law.median_ns() > 7_800_000.0, "{law:?}");
        }
        let text = fs::read_to_string(laboratory.path("copy.yaml")).unwrap();
        assert_contains(&text, "# A clone of the disk below ");
        let again = disk(&laboratory, &["clone", "slow", "--to", "copy.yaml"]);
        assert_eq!(again.0, Some(1));
        assert_contains(&again.2, "copy.yaml already exists");
        fs::create_dir(laboratory.path("copy")).unwrap();
        let (code, _, err) = disk(&laboratory, &["mount", "copy.yaml", "copy"]);
        assert_eq!(code, Some(0), "{err}");
        let (code, _, err) = disk(&laboratory, &["unmount", "copy"]);
        assert_eq!(code, Some(0), "{err}");
        assert_eq!(loop_devices(&laboratory), Vec::<String>::new());
    }

    /// What the file says about readahead and caches is so, is in the record, and what was not reached is said.
    #[cfg(feature = "wiredtiger")]
    #[test]
    fn readahead_and_caches_are_as_the_file_says() {
        needs!(DISKS);
        let run = |within: &str| {
            let laboratory = Laboratory::new();
            let text = format!(
                "plimsoll: 1\nname: warm\nworkload: {{records: 5k, preset: c}}\n\
                 defaults: {{cache_size: 2MiB, disk: {{capacity: 512MiB}}, readahead: 16KiB}}\narms: {{one: }}\n\
                 load: {{closed: {{threads: 4}}}}\n\
                 measurement: {{warm_up: 0s, duration: 500ms, blocks: 1, caches: warm, warm_within: {within}}}\n"
            );
            laboratory.write("warm.yaml", text);
            let mut command = laboratory.command(&["run", "warm.yaml", "--anyway"]);
            command.env("PATH", std::env::var_os("PATH").unwrap());
            let Said { err, .. } = Said::of(command.output().unwrap());
            assert_eq!(loop_devices(&laboratory), Vec::<String>::new());
            let mut record = laboratory.record();
            assert_eq!(record.runs.len(), 1, "{err}");
            record.runs.remove(0)
        };
        let filled = run("5m");
        let readahead = filled.storage.unwrap().readahead_bytes;
        assert_eq!(readahead, Some(16 << 10));
        let warmed = filled.warmed.unwrap();
        assert!(warmed.settled && warmed.seconds > 9.0, "{warmed:?}");
        assert!(warmed.engine_hits.is_some_and(|hits| (0.0..1.0).contains(&hits)));
        assert_eq!(filled.warnings, []);

        let hasty = run("1s");
        assert!(!hasty.warmed.unwrap().settled);
        let warned: Vec<&str> = hasty.warnings.iter().map(|one| one.id.id()).collect();
        assert_eq!(warned, ["W-CACHES-NOT-WARM"]);
    }

    /// One arm whose changes each wait for the disk, with these events.
    #[cfg(feature = "wiredtiger")]
    fn disturbed(laboratory: &Laboratory, events: &str) -> (Said, RunRecord) {
        let text = format!(
            "plimsoll: 1\nname: disturbed\nworkload: {{records: 500, mixes: {{both: {{read: 1, update: 1}}}}}}\n\
             defaults: {{engine: wiredtiger, durable: true, disk: {{capacity: 512MiB}}}}\narms: {{one: }}\n\
             load: {{open: {{rates: [100], sessions: 8}}}}\n\
             measurement: {{warm_up: 1s, duration: 8s, blocks: 1}}\nevents: {events}\n"
        );
        laboratory.write("disturbed.yaml", text);
        let mut command = laboratory.command(&["run", "disturbed.yaml", "--anyway", "--all"]);
        command.env("PATH", std::env::var_os("PATH").unwrap());
        let said = Said::of(command.output().unwrap());
        assert_eq!(loop_devices(laboratory), Vec::<String>::new());
        let mut record = laboratory.record();
        assert_eq!(record.runs.len(), 1, "{said:?}");
        (said, record.runs.remove(0))
    }

    #[cfg(feature = "wiredtiger")]
    #[test]
    fn a_disk_that_stalls_is_in_the_record_with_what_the_database_did() {
        needs!(DISKS);
        let laboratory = Laboratory::new();
        let events = "[{at: 2s, disk: {stall: 2s}}, {at: 6s, for: 1s, disk: {latency: 20ms}}]";
        let (said, run) = disturbed(&laboratory, events);
        assert_eq!(run.state, RunState::Finished, "{said:?}");
        let end = run.points[0].end.as_ref().unwrap();
        let seen = end.disturbance.as_deref().unwrap();
        let [stall, latency] = seen.events.as_slice() else {
            panic!("{seen:?}");
        };
        // A second of warm-up is before it.
        assert!(stall.at_ns.abs_diff(3_000_000_000) < 500_000_000, "{seen:?}");
        let until_ns = stall.until_ns.unwrap();
        assert_eq!(until_ns - stall.at_ns, 2_000_000_000);
        assert_eq!(latency.at_ns - stall.at_ns, 4_000_000_000);
        assert_eq!((stall.event, &stall.member, latency.event), (0, &None, 1));
        let reaches = |gap: &&(u64, u64)| gap.0 < until_ns && gap.1 >= until_ns;
        assert!(seen.write_gaps.iter().any(|gap| reaches(&gap)), "{seen:?}");
        let kept = seen.acknowledged.as_ref().unwrap();
        assert!(kept.writes > 0 && (kept.lost, kept.unread) == (0, 0), "{kept:?}");
        let trace = Trace::open(&run.rig.unwrap().trace.unwrap().path).unwrap();
        let marks = trace.marks().iter().map(|mark| mark.label.as_str());
        let of_events: Vec<&str> = marks.filter(|label| label.starts_with("event ")).collect();
        let expected = [
            "event 1 begins: the disk answers nothing",
            "event 1 ends: the disk answers nothing",
            "event 2 begins: the disk adds 20ms to each request",
            "event 2 ends: the disk adds 20ms to each request",
        ];
        assert_eq!(of_events, expected);
        assert_contains(
            &said.out,
            "at 2s: the disk answers nothing for 2s: no write succeeded for",
        );
        let page = fs::read_to_string(page_of(&said.out)).unwrap();
        for part in ["id=\"events\"", "the disk answers nothing for 2s", "class=\"event\""] {
            assert_contains(&page, part);
        }
    }

    #[cfg(feature = "wiredtiger")]
    #[test]
    fn a_database_that_gives_up_after_an_io_error_fails_its_run_and_leaves_nothing() {
        needs!(DISKS);
        let laboratory = Laboratory::new();
        let errors = "{write: 100%, flush: 100%}";
        let events = format!("[{{at: 2s, for: 4s, disk: {{errors: {errors}}}}}]");
        let (said, run) = disturbed(&laboratory, &events);
        let RunState::Failed { message } = run.state else {
            panic!("{said:?}");
        };
        let words = "at 2s: the disk fails 100% of writes and 100% of flushes for 4s), after which";
        assert_contains(&message, words);
    }

    /// Without that, all of the data is in the engine's cache, and nothing has to be read from the disk.
    #[cfg(feature = "wiredtiger")]
    #[test]
    fn caches_are_empty_where_the_file_says_so() {
        use plimsoll_record::figures::DEVICE_READ_BYTES;
        use plimsoll_testing::SERVERS;
        needs!(DISKS);
        needs!([Need::Server("mongod")]);
        let read = |engine: &str, caches: &str| {
            let laboratory = Laboratory::new();
            let text = format!(
                "plimsoll: 1\nname: cold\nworkload: {{records: 5k, preset: c}}\ndefaults: {{engine: {engine}, disk: {{capacity: 2GiB}}}}\n\
                 arms: {{one: }}\nload: {{closed: {{threads: 1}}}}\n\
                 measurement: {{warm_up: 0s, duration: 5m, operations: 2k, blocks: 1, caches: {caches}}}\n"
            );
            laboratory.write("cold.yaml", text);
            let mut command = laboratory.command(&["run", "cold.yaml", "--anyway"]);
            for name in ["PATH", SERVERS] {
                command.env(name, std::env::var_os(name).unwrap_or_default());
            }
            let Said { err, .. } = Said::of(command.output().unwrap());
            let mut record = laboratory.record();
            let run = record.runs.remove(0);
            assert_eq!(run.points.len(), 1, "{err}");
            assert_eq!(run.caches_emptied, caches == "cold");
            let slices = run.points[0].slices.iter();
            let read: f64 = slices.filter_map(|slice| slice.telemetry.get(DEVICE_READ_BYTES)).sum();
            read / run.data_bytes.unwrap() as f64
        };
        for engine in ["wiredtiger", "mongodb"] {
            let (loaded, cold) = (read(engine, "as-loaded"), read(engine, "cold"));
            assert!(loaded < 0.05, "{engine}: {loaded} of the data");
            assert!(cold > 0.5, "{engine}: {cold} of the data");
        }
    }

    #[test]
    fn a_wish_to_stop_undoes_the_disk() {
        needs!(DISKS);
        let laboratory = Laboratory::new();
        let slow = "{iops: 600, latency: 7ms}";
        let arguments = ["disk", "characterise", slow, "--jobs", "1"];
        let path = vec![("PATH", std::env::var_os("PATH").unwrap())];
        let running = laboratory.start_with(&arguments, path);
        crate::laboratory::wait_until("the first job", || {
            let said = fs::read_to_string(laboratory.path("err")).unwrap();
            said.contains("[1/")
        });
        running.send(Signal::INT);
        let Said { code, err, .. } = running.end();
        assert_eq!(code, Some(105), "{err}");
        assert_ends(&err, "interrupted; everything that was made is removed\n");
        assert_eq!(loop_devices(&laboratory), Vec::<String>::new());
    }

    #[test]
    fn a_bundle_holds_the_disk_maps_of_its_page() {
        let (laboratory, mut record) = with_a_record();
        keep_a_trace(&laboratory);
        let run = &mut record.runs[0];
        run.rig = Some(RigRecord {
            trace: Some(TraceReference {
                path: laboratory.path("kept.trace"),
                requests: 1,
                overwritten: 0,
            }),
            ..RigRecord::default()
        });
        let mapped = format!("data-arm=\"{}\" data-block=\"{}\"", run.arm, run.block);
        let json = serde_json::to_string(&record).unwrap();
        laboratory.write("traced.json", json);
        let made = |arguments: &[&str]| {
            let said = laboratory.run(arguments);
            assert_eq!(said.code, Some(0), "{said:?}");
        };
        made(&["bundle", "traced.json", "--to", "one.plimsoll"]);
        let player = |page: &str| {
            let html = fs::read_to_string(laboratory.path(page)).unwrap();
            assert_contains(&html, &mapped);
            let (_, after) = html.split_once("id=\"map-0-data\"").unwrap();
            let (_, data) = after.split_once('>').unwrap();
            data.split_once('<').unwrap().0.to_owned()
        };
        made(&["report", "one.plimsoll", "--page", "with.html"]);
        let drawn = player("with.html");
        assert!(drawn.len() > 16, "{drawn}");

        // The trace stays on the machine that measured. What the bundle has goes into each page and bundle that is made from it.
        fs::remove_file(laboratory.path("kept.trace")).unwrap();
        made(&["report", "one.plimsoll", "--page", "without.html"]);
        made(&["bundle", "one.plimsoll", "--to", "two.plimsoll"]);
        made(&["report", "two.plimsoll", "--page", "again.html"]);
        made(&["bundle", "two.plimsoll", "--small", "--to", "small.plimsoll"]);
        made(&["report", "small.plimsoll", "--page", "small.html"]);
        for page in ["without.html", "again.html", "small.html"] {
            assert_eq!(player(page), drawn, "{page}");
        }
        made(&["gallery", "public", "two.plimsoll"]);
        let page = format!("public/{}-{}.html", record.name, record.id);
        assert_eq!(player(&page), drawn);
        made(&["report", "traced.json", "--page", "bare.html"]);
        let bare = fs::read_to_string(laboratory.path("bare.html")).unwrap();
        assert!(!bare.contains(&mapped));
    }
}
