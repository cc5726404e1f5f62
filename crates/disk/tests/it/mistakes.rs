//! What cannot be, and what the host cannot give.

use crate::laboratory::{Disk, Running, daemon_program, is_possible_or_skip, order, succeeds};
use plimsoll_disk::{Daemon, DaemonProgram, DiskError};
use plimsoll_record::{Backing, DiskSpec};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

fn refusal(change: impl FnOnce(&mut plimsoll_disk::DaemonOrder)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut order = order(folder.path(), &DiskSpec::unlimited(1 << 20));
    change(&mut order);
    match Daemon::start(&daemon_program(), &order) {
        Err(DiskError::Refused(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_disk_that_cannot_be_says_why() {
    if !is_possible_or_skip("mistakes::a_disk_that_cannot_be_says_why", &[]) {
        return;
    }
    let missing = refusal(|order| order.mount_point = "/nonexistent/place".into());
    assert!(missing.contains("/nonexistent/place"), "{missing}");
    assert!(missing.contains("missing"), "{missing}");
    let long = refusal(|order| order.socket = PathBuf::from("/tmp").join("a".repeat(200)));
    assert!(long.contains("listen"), "{long}");
    let taken = refusal(|order| {
        order.spec.backing = Backing::File;
        fs::write(order.backing_file.as_ref().unwrap(), "mine").unwrap();
    });
    assert!(taken.contains("blocks"), "{taken}");
    let nowhere = refusal(|order| {
        order.spec.backing = Backing::File;
        order.backing_file = None;
    });
    assert!(nowhere.contains("file"), "{nowhere}");
}

#[test]
fn a_program_that_is_no_daemon_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let order = order(folder.path(), &DiskSpec::unlimited(1 << 20));
    let program = DaemonProgram {
        path: "/bin/sh".into(),
        arguments: vec!["-c".into(), "echo no idea >&2".into()],
    };
    let error = Daemon::start(&program, &order).unwrap_err().to_string();
    assert!(error.contains("no idea"), "{error}");
    let program = DaemonProgram {
        path: "/nonexistent/program".into(),
        arguments: Vec::new(),
    };
    let error = Daemon::start(&program, &order).unwrap_err().to_string();
    assert!(error.contains("/nonexistent/program"), "{error}");
}

#[test]
fn a_full_backing_disk_is_an_error_of_the_writer_and_is_counted() {
    let test = "mistakes::a_full_backing_disk_is_an_error_of_the_writer_and_is_counted";
    if !is_possible_or_skip(test, &["losetup"]) {
        return;
    }
    let small = Small::new();
    let spec = DiskSpec {
        backing: Backing::File,
        ..DiskSpec::unlimited(64 << 20)
    };
    let disk = Disk::start_with(&daemon_program(), &spec, |order| {
        order.backing_file = Some(small.0.path().join("blocks"));
    })
    .unwrap();
    let mut control = disk.control();
    let mut writer = Running::start(
        Command::new("dd")
            .args(["if=/dev/zero", "bs=1M", "count=32", "oflag=direct"])
            .arg(format!("of={}", disk.device())),
    );
    assert!(!writer.ends(|| {}));
    assert!(control.counters().unwrap().failed >= 1);
    // It is still there for what it has.
    succeeds(
        Command::new("dd")
            .args(["of=/dev/null", "bs=1M", "count=1", "iflag=direct"])
            .arg(format!("if={}", disk.device())),
    );
    assert_eq!(disk.take_down(), Vec::<String>::new());
}

/// A filesystem of 8 MiB.
struct Small(tempfile::TempDir);

impl Small {
    fn new() -> Self {
        let small = Self(tempfile::tempdir().unwrap());
        succeeds(
            Command::new("mount")
                .args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"])
                .arg(small.0.path()),
        );
        small
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}
