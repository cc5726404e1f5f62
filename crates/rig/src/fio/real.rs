//! fio itself, on a file and on a loop device. Nothing here expects a speed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::fio::{
    FioError, Job, Kind, Permission, Profile, Target, calibrate, characterise, run_job,
};
use plimsoll_record::{DiskLatency, DiskRates, DiskSpec};
use plimsoll_testing::{Need, assert_contains, assert_err, assert_starts, needs};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const SIZE: u64 = 16 << 20;

fn go_on(_: &crate::fio::Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).unwrap().next().is_none()
}

/// A directory that takes direct I/O. Not every temporary directory does: tmpfs learnt it in Linux 6.6.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(plimsoll_testing::folder_on_disk()).unwrap()
}

/// What fio on a loop device needs.
const LOOPS: [Need<'_>; 4] =
    [Need::Program("fio"), Need::Root, Need::Program("losetup"), Need::File("/dev/loop-control")];

/// A loop device over a file, for as long as it is held.
struct Loop {
    device: PathBuf,
    _file: tempfile::NamedTempFile,
}

impl Loop {
    fn make() -> Self {
        let file = tempfile::NamedTempFile::new_in(plimsoll_testing::folder_on_disk()).unwrap();
        file.as_file().set_len(SIZE).unwrap();
        let made =
            Command::new("losetup").args(["--find", "--show"]).arg(file.path()).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        let device = String::from_utf8(made.stdout).unwrap().trim().into();
        let _file = file;
        Self { device, _file }
    }

    fn target(&self, permission: Permission) -> Target {
        Target::Device { path: self.device.clone(), permission }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

#[test]
fn a_plain_file_is_no_target() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert_err!(Target::read_only(file.path()), FioError::NoTarget { .. });
}

mod slow {
    use super::*;

    #[test]
    fn a_file_is_written_measured_and_removed() {
        needs!([Need::Program("fio")]);
        let state = tempfile::tempdir().unwrap();
        let directory = directory();
        let target = Target::read_only(directory.path()).unwrap();
        let job = Job::psync(Kind::RandomWriteFsync, 4096, 2).lasting(200, 50);
        let mut seen = Vec::new();
        let (result, measured) = run_job(&target, &job, SIZE, state.path(), &mut |progress| {
            seen.push((progress.label.to_owned(), progress.part, progress.parts));
            ControlFlow::Continue(())
        })
        .unwrap();
        seen.dedup();
        assert_eq!(seen, [("writing the blocks".to_owned(), 1, 2), (job.label.clone(), 2, 2)]);
        assert_starts(&result.command, "fio --name=plimsoll ");
        assert_eq!(result.json["jobs"].as_array().unwrap().len(), 2);
        assert!(measured.reads.is_none());
        let writes = measured.writes.unwrap();
        assert!(writes.requests > 0 && writes.iops > 0.0);
        assert!((writes.bytes_per_s / writes.iops / 4096.0 - 1.0).abs() < 0.01);
        assert!(writes.latency.mean_ns > 0.0 && writes.latency.p50_ns <= writes.latency.max_ns);
        assert!(measured.syncs.unwrap().p99_ns > 0.0);
        assert!(is_empty(directory.path()));
    }

    #[test]
    fn a_directory_is_characterised() {
        needs!([Need::Program("fio")]);
        let state = tempfile::tempdir().unwrap();
        let directory = directory();
        let mut profile = Profile::study(&[4096, 32 << 10], &[1, 4]).lasting(50, 0);
        profile.size_bytes = SIZE;
        let target = Target::read_only(directory.path()).unwrap();
        let found = characterise(&target, &profile, state.path(), &mut go_on).unwrap();
        assert_eq!(found.rows.len(), 8);
        assert_eq!(found.results.len(), 8);
        assert_eq!(found.size_bytes, SIZE);
        assert!(found.rows.iter().all(|row| row.measured.iops() > 0.0));
        assert!(is_empty(directory.path()));
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<crate::fio::Characterisation>(&text).unwrap(), found);
    }

    #[test]
    fn a_wish_to_stop_ends_fio_and_leaves_nothing() {
        needs!([Need::Program("fio")]);
        let state = tempfile::tempdir().unwrap();
        let directory = directory();
        let target = Target::read_only(directory.path()).unwrap();
        let job = Job::psync(Kind::RandomRead, 4096, 1).lasting(600_000, 0);
        let ended = run_job(&target, &job, SIZE, state.path(), &mut |progress| {
            if progress.part == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(ended, Err(FioError::Interrupted)), "{ended:?}");
        assert!(is_empty(directory.path()));
    }

    #[test]
    fn a_failure_is_told_in_fios_own_words() {
        needs!([Need::Program("fio")]);
        let state = tempfile::tempdir().unwrap();
        let directory = directory();
        let target = Target::read_only(directory.path()).unwrap();
        // Direct I/O must be aligned to the sectors of the disk.
        let job = Job::psync(Kind::RandomWrite, 100, 1);
        let error = run_job(&target, &job, SIZE, state.path(), &mut go_on).unwrap_err();
        assert_contains(&error, "Invalid argument");
        assert!(is_empty(directory.path()));
    }

    #[test]
    fn a_device_is_only_read_unless_something_speaks_for_more() {
        needs!(LOOPS);
        let state = tempfile::tempdir().unwrap();
        let device = Loop::make();
        let target = Target::read_only(&device.device).unwrap();
        assert_eq!(target, device.target(Permission::ReadOnly));
        let read = Job::psync(Kind::Read, 64 << 10, 2).lasting(100, 0);
        let (_, measured) = run_job(&target, &read, SIZE, state.path(), &mut go_on).unwrap();
        assert!(measured.reads.unwrap().requests > 0);
        for kind in [Kind::RandomWrite, Kind::RandomMix, Kind::Write, Kind::RandomWriteFsync] {
            let write = Job::psync(kind, 4096, 1).lasting(100, 0);
            let refused = run_job(&target, &write, SIZE, state.path(), &mut go_on);
            assert_err!(refused, FioError::WritesRefused { .. });
        }
        let write = Job::libaio(Kind::RandomMix, 4096, 1, 8).lasting(100, 0);
        let ours = device.target(Permission::MadeHere);
        let (_, measured) = run_job(&ours, &write, SIZE, state.path(), &mut go_on).unwrap();
        assert!(measured.reads.is_some() && measured.writes.is_some());
    }

    #[test]
    fn a_calibration_lifts_the_limits_and_puts_them_back() {
        needs!(LOOPS);
        let device = Loop::make();
        let disk = DiskSpec {
            iops: DiskRates { read: Some(1e9), ..DiskRates::default() },
            preset: Some("dream".into()),
            ..DiskSpec::unlimited(SIZE)
        };
        let mut shaped = Vec::new();
        let error = calibrate(
            &device.device,
            &disk,
            &mut |on| {
                shaped.push(on);
                Ok(())
            },
            &mut go_on,
        )
        .unwrap_err();
        assert_eq!(shaped, [false, true]);
        let said = error.to_string();
        assert_contains(&said, "dream needs 1,000,000,000 IOPS");

        // A plain loop device is not a disk that takes a minute for a read.
        let disk = DiskSpec {
            read_latency: DiskLatency::Constant { ns: Duration::from_secs(60).as_nanos() as u64 },
            ..DiskSpec::unlimited(SIZE)
        };
        let found = calibrate(&device.device, &disk, &mut |_| Ok(()), &mut go_on).unwrap();
        assert_eq!(found.checks.len(), 1);
        assert!(!found.passed());
        assert_eq!(found.checks[0].unit, "ns");
        assert!(found.checks[0].measured > 0.0);
    }
}
