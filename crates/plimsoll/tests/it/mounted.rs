//! `plimsoll disk mount`: a disk for any program. Whichever way it ends, it leaves nothing behind.

use crate::laboratory::{Laboratory, Said, wait_until};
use plimsoll_disk::RingSwitch;
use plimsoll_testing::{Need, assert_contains, needs};
use plimsoll_trace::Trace;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

pub const DISKS: [Need<'_>; 3] =
    [Need::Root, Need::File("/dev/fuse"), Need::File("/dev/loop-control")];

const EMPTY_BUCKET: &str = "[{at: 1s, for: 1s, disk: {throttle: burst}}]";

pub fn disk(laboratory: &Laboratory, arguments: &[&str]) -> Said {
    let mut command = laboratory.command(&[&["disk"], arguments].concat());
    command.env("PATH", std::env::var_os("PATH").unwrap());
    Said::of(command.output().unwrap())
}

/// The mount points in the laboratory.
fn mounts(laboratory: &Laboratory) -> Vec<String> {
    let folder = fs::canonicalize(laboratory.path(".")).unwrap();
    let all = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let points = all.lines().filter_map(|line| line.split(' ').nth(4).map(str::to_owned));
    points.filter(|point| point.starts_with(folder.to_str().unwrap())).collect()
}

pub fn is_clean(laboratory: &Laboratory) -> bool {
    let journals = fs::read_dir(laboratory.path(".local/state/plimsoll/journal"));
    mounts(laboratory).is_empty() && journals.is_ok_and(|all| all.count() == 0)
}

/// The directory at which a disk is mounted now.
pub fn mounted(laboratory: &Laboratory, further: &[&str]) -> PathBuf {
    let directory = laboratory.path("slow");
    fs::create_dir(&directory).unwrap();
    let small = ["mount", "{iops: 5k, capacity: 512MiB}", "slow"];
    let said = disk(laboratory, &[&small, further].concat());
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_contains(&said.out, "its limits are in force");
    directory
}

/// The process that keeps the disk.
pub fn keeper(laboratory: &Laboratory) -> Pid {
    let folder = fs::canonicalize(laboratory.path(".")).unwrap();
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let entry = entry.unwrap();
        let line = fs::read_to_string(entry.path().join("cmdline")).ok()?;
        let works_in = fs::read_link(entry.path().join("cwd")).ok()?;
        let is_it = line.contains("--in-background") && works_in == folder;
        is_it.then(|| entry.file_name().to_str().unwrap().parse().unwrap())
    });
    Pid::from_raw(processes.last().unwrap()).unwrap()
}

#[test]
fn a_disk_is_mounted_watched_changed_and_unmounted() {
    needs!(DISKS);
    let laboratory = Laboratory::new();
    let directory = mounted(&laboratory, &[]);
    fs::write(directory.join("file"), vec![7; 1 << 20]).unwrap();
    fs::File::open(directory.join("file")).unwrap().sync_all().unwrap();
    let counters = || -> serde_json::Value {
        let said = disk(&laboratory, &["log", "slow", "--json"]);
        serde_json::from_str(&said.out).unwrap()
    };
    let before = counters();
    assert!(before["written_bytes"].as_u64().unwrap() >= 1 << 20, "{before}");
    assert_eq!(before["shaped"], true);
    // Where the kernel has them.
    assert_eq!(before["rings"], fs::exists(RingSwitch::FILE).unwrap());
    let lines = disk(&laboratory, &["log", "slow", "--lines", "2", "--every", "10ms"]);
    assert_eq!(lines.out.lines().count(), 3, "{lines:?}");
    // It watches until nobody reads what it sees, as `head` does not.
    let mut watching = laboratory.command(&["disk", "log", "slow", "--every", "10ms"]);
    let mut watching = watching.stdout(Stdio::piped()).spawn().unwrap();
    drop(watching.stdout.take());
    wait_until("the watcher to end", || watching.try_wait().unwrap().is_some());
    assert_eq!(disk(&laboratory, &["set", "slow", "unlimited"]).code, Some(0));
    assert_eq!(counters()["shaped"], false);
    assert_eq!(disk(&laboratory, &["set", "slow", "gp2"]).code, Some(0));
    let after = counters();
    assert!(after["shaped"] == true && after["credits"].is_number(), "{after}");

    let again = disk(&laboratory, &["mount", "gp3", "slow"]);
    assert_eq!(again.code, Some(1));
    assert_contains(&again.err, "slow is a mounted disk already: plimsoll disk unmount");
    // What somebody has open stays.
    let open = fs::File::open(directory.join("file")).unwrap();
    let busy = disk(&laboratory, &["unmount", "slow"]);
    assert_eq!(busy.code, Some(1));
    assert_contains(&busy.err, &format!("({}); end that, and run the", std::process::id()));
    drop(open);
    let said = disk(&laboratory, &["unmount", "slow"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    wait_until("everything is undone", || is_clean(&laboratory));
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn plain_umount_is_enough_and_leaves_the_trace() {
    needs!(DISKS);
    let laboratory = Laboratory::new();
    let directory = mounted(&laboratory, &["--filesystem", "ext4", "--trace", "kept.trace"]);
    fs::write(directory.join("file"), "x").unwrap();
    rustix::mount::unmount(&directory, rustix::mount::UnmountFlags::empty()).unwrap();
    wait_until("everything is undone", || is_clean(&laboratory));
    let said = disk(&laboratory, &["trace", "kept.trace", "--json"]);
    let summary: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert!(summary["requests"].as_u64().unwrap() > 0, "{summary}");
}

#[test]
fn a_timeline_begins_when_the_disk_is_mounted() {
    needs!(DISKS);
    let laboratory = Laboratory::new();
    let timeline = "[{at: 1s, disk: {stall: 500ms}}, {at: 1h, for: 1s, disk: {latency: 1s}}]";
    let further = ["--timeline", timeline, "--trace", "kept.trace"];
    let directory = mounted(&laboratory, &further);
    let marks = || {
        // It is the process that keeps the disk that writes it there.
        let said = disk(&laboratory, &["unmount", "slow"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        Trace::open(&laboratory.path("kept.trace")).unwrap().marks().to_vec()
    };
    // Requests wait until the stall is over.
    for number in 0..300 {
        fs::write(directory.join(number.to_string()), "x").unwrap();
        fs::File::open(&directory).unwrap().sync_all().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let marks = marks();
    let at = |label: &str| {
        let mark = marks.iter().find(|mark| mark.label == label);
        mark.unwrap_or_else(|| panic!("{label} is not in {marks:?}")).time_ns
    };
    let begun = at("event 1 begins: the disk answers nothing");
    assert_eq!(at("event 1 ends: the disk answers nothing") - begun, 500_000_000);
    assert!(begun >= at("mounted") + 1_000_000_000);
    assert_eq!(marks.len(), 3, "{marks:?}");
    wait_until("everything is undone", || is_clean(&laboratory));
}

#[test]
fn a_disk_goes_with_the_process_that_keeps_it() {
    needs!(DISKS);
    for signal in [Signal::KILL, Signal::TERM] {
        let laboratory = Laboratory::new();
        let directory = mounted(&laboratory, &[]);
        kill_process(keeper(&laboratory), signal).unwrap();
        wait_until("everything is undone", || is_clean(&laboratory));
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
    }
}

#[test]
fn what_cannot_be_mounted_is_told() {
    needs!(DISKS);
    let laboratory = Laboratory::new();
    fs::create_dir(laboratory.path("full")).unwrap();
    laboratory.write("full/file", "not ours");
    fs::create_dir(laboratory.path("empty")).unwrap();
    std::os::unix::fs::symlink("empty", laboratory.path("link")).unwrap();
    for (arguments, code, why) in [
        (&["mount", "gp3", "full"][..], 1, "is not empty"),
        (&["mount", "gp3", "nowhere"], 1, "make an empty directory to mount the disk at"),
        (&["mount", "gp9", "empty"], 104, "did you mean `gp2`?"),
        (&["mount", "gp3", "empty", "--filesystem", "zfs"], 2, "none of xfs, ext4 and btrfs"),
        (&["mount", "gp3", "empty", "--capacity", "10MiB"], 1, "is too small"),
        (&["mount", "gp3", "empty", "--trace", "full/file"], 1, "already exists"),
        (&["mount", "gp3", "empty", "--trace", "no/t"], 1, "there is no folder no for the trace"),
        (&["mount", "gp3", "empty", "--timeline", "[{at: 1s}]"], 104, "write exactly one of them"),
        (&["mount", "gp3", "empty", "--timeline", EMPTY_BUCKET], 104, "this disk has no `burst`"),
        (&["unmount", "empty"], 1, "is no disk that plimsoll has mounted"),
        (&["set", "empty", "gp3"], 1, "is no disk that plimsoll has mounted"),
        (&["log", "nowhere"], 1, "No such file or directory"),
    ] {
        let said = disk(&laboratory, arguments);
        assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{arguments:?}: {said:?}");
        assert_contains(&said.err, why);
        assert!(mounts(&laboratory).is_empty(), "{arguments:?}");
    }
    assert_eq!(fs::read_to_string(laboratory.path("full/file")).unwrap(), "not ours");
}
