//! `plimsoll disk`: presets, fio on directories and emulated disks, traces. Nothing here expects a speed.

use crate::laboratory::Laboratory;
use plimsoll_record::DiskSpec;
use plimsoll_testing::{Need, has};
use plimsoll_trace::{
    Extent, ExtentMap, Head, Kind, MappedFile, Request, Writer, finish, monotonic_ns,
};
use rustix::process::Signal;
use std::fs;

/// Whether fio is here; otherwise a test is left out.
fn has_fio_or_skip(test: &str) -> bool {
    has(test, &[Need::Program("fio")])
}

fn makes_disks_or_skip(test: &str) -> bool {
    let needs = [
        Need::Root,
        Need::File("/dev/fuse"),
        Need::File("/dev/loop-control"),
        Need::Program("fio"),
    ];
    has(test, &needs)
}

/// The program with the PATH of this process, to find fio and losetup by.
fn disk(laboratory: &Laboratory, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = laboratory
        .command(&[&["disk"], arguments].concat())
        .env("PATH", std::env::var_os("PATH").unwrap())
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
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
    for words in [
        "gp3  3k IOPS",
        "Machines, as `machine: NAME`",
        "r6g.2xlarge",
    ] {
        assert!(out.contains(words), "{words} in {out}");
    }
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
    for (arguments, code, words) in [
        (
            &["characterise", "nowhere"][..],
            1,
            "nowhere is no directory and no device",
        ),
        (
            &["characterise", "file"],
            1,
            "is neither a block device nor a directory",
        ),
        (
            &["characterise", ".", "--erase"],
            1,
            "--erase is for block devices",
        ),
        (
            &["characterise", "{iops: 6OO}"],
            104,
            "has the unknown unit `OO`",
        ),
        (
            &["calibrate", "gp3", "gp9"],
            104,
            "there is no disk `gp9`; did you mean `gp2`?",
        ),
        (&["trace", "file"], 1, "is not a trace of an emulated disk"),
        (
            &["characterise", ".", "--jobs", "0"],
            2,
            "`0` is not a number of jobs from 1 to 1024",
        ),
    ] {
        let said = disk(&laboratory, arguments);
        assert_eq!((said.0, said.1.as_str()), (Some(code), ""), "{said:?}");
        assert!(said.2.contains(words), "{words} in {}", said.2);
    }
    assert_eq!(
        fs::read_to_string(laboratory.path("file")).unwrap(),
        "not ours"
    );
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
    assert_eq!(
        err,
        "plimsoll: fio is not installed: install the package fio\n"
    );
}

#[test]
fn a_directory_is_characterised_and_left_as_it_was() {
    if !has_fio_or_skip("disks::a_directory_is_characterised_and_left_as_it_was") {
        return;
    }
    let laboratory = Laboratory::new();
    fs::create_dir(laboratory.path("here")).unwrap();
    let small = [
        "--quick", "--size", "16MB", "--jobs", "1", "--block", "4KiB",
    ];
    let arguments = [
        &["characterise", "here"],
        &small[..],
        &["--page", "disk.html"],
    ]
    .concat();
    let (code, out, err) = disk(&laboratory, &arguments);
    // Not every filesystem takes direct I/O; then fio says so, and nothing stays behind either.
    if code == Some(0) {
        assert!(out.contains("random writes with fsync"), "{out}");
        assert!(err.contains("random reads of 4 KiB, 1 job"), "{err}");
        let page = fs::read_to_string(laboratory.path("disk.html")).unwrap();
        assert!(page.contains("What here can do"));
    } else {
        assert!(err.contains("fio failed at"), "{err}");
    }
    assert_eq!(fs::read_dir(laboratory.path("here")).unwrap().count(), 0);
}

#[test]
fn an_emulated_disk_is_calibrated_and_undone() {
    if !makes_disks_or_skip("disks::an_emulated_disk_is_calibrated_and_undone") {
        return;
    }
    let laboratory = Laboratory::new();
    let (code, out, err) = disk(&laboratory, &["calibrate", "{capacity: 64MiB}"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("there is nothing to check"), "{out}");
    // No machine makes a disk as fast as this.
    let dream = ["calibrate", "{iops: 100M}", "--json"];
    let (code, out, err) = disk(&laboratory, &dream);
    assert_eq!(code, Some(106), "{out}{err}");
    let said: serde_json::Value = serde_json::from_str(&out).unwrap();
    let error = said[0]["error"].as_str().unwrap();
    assert!(error.contains("asks for 100,000,000 IOPS"), "{error}");
    assert_eq!(loop_devices(&laboratory), Vec::<String>::new());
}

#[test]
fn a_wish_to_stop_undoes_the_disk() {
    if !makes_disks_or_skip("disks::a_wish_to_stop_undoes_the_disk") {
        return;
    }
    let laboratory = Laboratory::new();
    let arguments = [
        "disk",
        "characterise",
        "{iops: 600, latency: 7ms}",
        "--jobs",
        "1",
    ];
    let mut command = laboratory.command(&arguments);
    command
        .env("PATH", std::env::var_os("PATH").unwrap())
        .stderr(fs::File::create(laboratory.path("err")).unwrap())
        .stdout(fs::File::create(laboratory.path("out")).unwrap());
    let mut child = command.spawn().unwrap();
    crate::laboratory::wait_until("the first job", || {
        fs::read_to_string(laboratory.path("err"))
            .unwrap()
            .contains("[1/")
    });
    crate::laboratory::send(child.id(), Signal::INT);
    let status = child.wait().unwrap();
    let err = fs::read_to_string(laboratory.path("err")).unwrap();
    assert_eq!(status.code(), Some(105), "{err}");
    assert!(
        err.ends_with("interrupted; everything that was made is removed\n"),
        "{err}"
    );
    assert_eq!(loop_devices(&laboratory), Vec::<String>::new());
}

#[test]
fn a_trace_is_told_and_written_for_other_programs() {
    let laboratory = Laboratory::new();
    let live = laboratory.path("live.trace");
    let writer = Writer::create(&live, 1000, &Head::new(&DiskSpec::unlimited(1 << 30))).unwrap();
    for (time_ns, kind, length) in [
        (1_000_000, Kind::Read, 4096),
        (2_000_000, Kind::Write, 8192),
        (5_000_000, Kind::Flush, 0),
    ] {
        writer.record(&Request {
            time_ns,
            offset: 1 << 20,
            length,
            kind,
            latency_ns: 7_000_000,
            in_flight: 1,
            lateness_ns: 0,
        });
    }
    drop(writer);
    finish(&live, &laboratory.path("kept.trace"), &[]).unwrap();
    let arguments = [
        "trace",
        "kept.trace",
        "--iolog",
        "out.iolog",
        "--csv",
        "out.csv",
    ];
    let (code, out, err) = disk(&laboratory, &arguments);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(out);
    let iolog = fs::read_to_string(laboratory.path("out.iolog")).unwrap();
    assert!(iolog.starts_with("fio version 3 iolog\n"), "{iolog}");
    assert_eq!(
        fs::read_to_string(laboratory.path("out.csv"))
            .unwrap()
            .lines()
            .count(),
        4
    );
    let (_, out, _) = disk(&laboratory, &["trace", "kept.trace", "--json"]);
    let summary: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(summary["requests"], 3);
}

#[test]
fn a_trace_is_drawn_and_nothing_is_overwritten() {
    let laboratory = Laboratory::new();
    let live = laboratory.path("live.trace");
    let writer = Writer::create(&live, 10, &Head::new(&DiskSpec::unlimited(1 << 30))).unwrap();
    let time_ns = monotonic_ns();
    writer.record(&Request {
        time_ns,
        offset: 1 << 20,
        length: 4096,
        kind: Kind::Read,
        latency_ns: 7_000_000,
        in_flight: 1,
        lateness_ns: 0,
    });
    drop(writer);
    let file = MappedFile {
        path: "data/collection.wt".into(),
        size: 1 << 21,
        extents: vec![Extent {
            logical: 0,
            physical: 0,
            length: 1 << 21,
            flags: 0,
        }],
        unmapped: None,
    };
    let map = ExtentMap {
        time_ns,
        files: vec![file],
    };
    finish(&live, &laboratory.path("kept.trace"), &[map]).unwrap();
    for (name, begin) in [
        ("map.png", &b"\x89PNG"[..]),
        ("map.apng", b"\x89PNG"),
        ("map.gif", b"GIF89a"),
    ] {
        let arguments = ["diskmap", "kept.trace", "--to", name, "--width", "256"];
        let drawn = laboratory.run(&arguments);
        assert_eq!(drawn.code, Some(0), "{}", drawn.err);
        assert!(drawn.out.contains("1 access to 1 file"));
        assert!(fs::read(laboratory.path(name)).unwrap().starts_with(begin));
        let again = laboratory.run(&arguments);
        assert_eq!(again.code, Some(1));
        assert!(again.err.contains("never overwritten"), "{}", again.err);
    }
    let wrong = laboratory.run(&["diskmap", "kept.trace", "--to", "map.mp4"]);
    assert!(wrong.err.contains("must end in .png"), "{}", wrong.err);
    let nothing = laboratory.run(&["diskmap", "kept.trace", "--to", "w.png", "--writes"]);
    assert_eq!(nothing.code, Some(1));
    assert!(nothing.err.contains("no request of the trace"));
    assert!(!laboratory.path("w.png").exists());
}
