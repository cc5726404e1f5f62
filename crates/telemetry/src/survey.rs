//! What a machine check looks at.

use crate::{ForeignSampler, Host, Interruptions, SystemSampler, watch_for_interruptions};
use nix::fcntl::AtFlags;
use nix::time::{ClockId, clock_getres};
use nix::unistd::{AccessFlags, faccessat};
use plimsoll_record::{ForeignCpu, Machine, Storage};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a machine check looks at, gathered before it is judged.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Survey {
    pub machine: Machine,
    /// Load average of the last minute.
    pub load_average: Option<f64>,
    /// The smallest step of the monotonic clock, nanoseconds.
    pub timer_resolution_ns: Option<u64>,
    /// How often one processor was taken away during a short look, if there was one.
    pub interruptions: Option<Interruptions>,
    /// Share of one processor's time that the hypervisor took during that look, over all processors.
    pub stolen_share: Option<f64>,
    /// What other programs used of the processors during that look.
    pub foreign: Option<ForeignCpu>,
    pub data: Vec<WritablePath>,
    pub store: Option<WritablePath>,
}

/// A directory or file that the program would write.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WritablePath {
    /// What lies under it. Its `directory` is the path.
    pub storage: Storage,
    /// Whether this user may write there. For what does not exist yet, whether it may be made.
    pub writable: bool,
}

impl Survey {
    /// Looks at this machine, keeping one processor busy for the given time, or not at all.
    pub fn take(store: Option<&Path>, data: &[PathBuf], look: Duration) -> Self {
        let host = Host::here();
        // First, because the look itself is load.
        let load_average = host.load_average();
        let (interruptions, stolen_share, foreign) = if look.is_zero() {
            (None, None, None)
        } else {
            let others = ForeignSampler::start(&host, &[std::process::id()]);
            let system = SystemSampler::start(&host);
            let interruptions = watch_for_interruptions(look);
            let used = system.since_start();
            (
                Some(interruptions),
                Some(used.stolen_ns as f64 / used.elapsed_ns.max(1) as f64),
                Some(others.since_start()),
            )
        };
        let resolution = clock_getres(ClockId::CLOCK_MONOTONIC).ok();
        Self {
            machine: host.machine(),
            load_average,
            timer_resolution_ns: resolution.and_then(|time| {
                u64::try_from(time.tv_sec() * 1_000_000_000 + time.tv_nsec()).ok()
            }),
            interruptions,
            stolen_share,
            foreign,
            data: data.iter().map(|directory| WritablePath::look_at(&host, directory)).collect(),
            store: store.map(|file| WritablePath::look_at(&host, file)),
        }
    }
}

impl WritablePath {
    fn look_at(host: &Host, path: &Path) -> Self {
        Self { storage: host.storage(path), writable: may_write(path) }
    }
}

/// Asks without trying. The nearest thing that exists decides.
fn may_write(path: &Path) -> bool {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let existing = absolute.ancestors().find(|path| path.symlink_metadata().is_ok());
    existing.is_some_and(|path| {
        // A file in the way of a directory cannot be entered.
        let ask =
            if path.is_dir() { AccessFlags::W_OK | AccessFlags::X_OK } else { AccessFlags::W_OK };
        let is_in_the_way = !path.is_dir() && path != absolute;
        !is_in_the_way && faccessat(nix::fcntl::AT_FDCWD, path, ask, AtFlags::AT_EACCESS).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_exist_is_writable_where_it_can_be_made() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        assert!(may_write(&directory.path().join("a/b/c")));
        std::fs::write(&file, "").unwrap();
        assert!(may_write(&file));
        assert!(!may_write(&file.join("below")));
    }

    #[test]
    fn a_survey_without_a_look_is_quick_and_has_what_was_asked() {
        let directory = tempfile::tempdir().unwrap();
        let survey = Survey::take(None, &[directory.path().to_owned()], Duration::ZERO);
        assert_eq!(survey.interruptions, None);
        assert!(survey.data[0].writable);
        assert!(survey.timer_resolution_ns.is_some());
        let json = serde_json::to_value(&survey).unwrap();
        let expected = directory.path().to_str().unwrap();
        assert_eq!(json["data"][0]["storage"]["directory"], expected);
    }
}
