//! What cannot be, and what the host cannot give.

use crate::it::laboratory::{Disk, Running, daemon_program, disks_and, order, succeeds};
use crate::{Daemon, DaemonProgram, DiskError};
use plimsoll_record::{Backing, DiskSpec};
use plimsoll_testing::{assert_contains, needs};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

fn refusal(change: impl FnOnce(&mut crate::DaemonOrder)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut order = order(folder.path(), &DiskSpec::unlimited(1 << 20));
    change(&mut order);
    match Daemon::start(&daemon_program(), &order) {
        Err(DiskError::Refused(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_that_is_no_daemon_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let order = order(folder.path(), &DiskSpec::unlimited(1 << 20));
    for (path, arguments, words) in [
        ("/bin/sh", &["-c", "echo no idea >&2"][..], "no idea"),
        ("/nonexistent/program", &[], "/nonexistent/program"),
    ] {
        let program = DaemonProgram {
            path: path.into(),
            arguments: arguments.iter().map(|&word| word.into()).collect(),
        };
        let error = Daemon::start(&program, &order).unwrap_err();
        assert_contains(&error, words);
    }
}

/// A filesystem of 8 MiB.
struct Small(tempfile::TempDir);

impl Small {
    fn new() -> Self {
        let small = Self(tempfile::tempdir().unwrap());
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"]);
        succeeds(mount.arg(small.0.path()));
        small
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

mod slow {
    use super::*;

    #[test]
    fn a_disk_that_cannot_be_says_why() {
        needs!(disks_and(&[]));
        let missing = refusal(|order| order.mount_point = "/nonexistent/place".into());
        assert_contains(&missing, "/nonexistent/place");
        assert_contains(&missing, "missing");
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
    fn a_full_backing_disk_is_an_error_of_the_writer_and_is_counted() {
        needs!(disks_and(&["losetup"]));
        let small = Small::new();
        let spec = DiskSpec { backing: Backing::File, ..DiskSpec::unlimited(64 << 20) };
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
        let mut read = Command::new("dd");
        read.args(["of=/dev/null", "bs=1M", "count=1", "iflag=direct"]);
        succeeds(read.arg(format!("if={}", disk.device())));
        assert_eq!(disk.take_down(), Vec::<String>::new());
    }
}
