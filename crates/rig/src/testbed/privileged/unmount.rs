//! Taking away what is mounted.

use super::HeldDirectory;
use super::marker::{Contents, examine};
use crate::testbed::TestbedError;
use crate::testbed::wait::{bounded, until};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount as unmount_now};
use std::path::Path;
use std::time::Duration;

/// How long something that is busy is waited for: programs like to look at new devices for a moment.
const LONGEST_BUSY: Duration = Duration::from_secs(2);

/// How long an unmount may take that writes what is left to the disk.
const LONGEST_UNMOUNT: Duration = Duration::from_secs(60);

/// Takes away what is mounted at a path, which must be in a data directory of ours. What stays busy is detached where `lazily` allows it: it
/// is gone from sight at once, and from the kernel with its last user; `Ok(false)` says so.
pub(crate) fn unmount(point: &Path, lazily: bool) -> Result<bool, TestbedError> {
    require_our_directory(point)?;
    unmount_shown(point, lazily)
}

/// The same at a directory of the user, where what is mounted was found to be ours.
pub(crate) fn unmount_shown(point: &Path, lazily: bool) -> Result<bool, TestbedError> {
    let mut outcome = Ok(());
    let mut attempt = |flags: UnmountFlags| {
        let target = point.to_owned();
        let flags = flags | UnmountFlags::NOFOLLOW;
        match bounded(LONGEST_UNMOUNT, move || unmount_now(&target, flags)) {
            // It was not mounted.
            Some(Ok(()) | Err(Errno::INVAL | Errno::NOENT)) => outcome = Ok(()),
            Some(Err(Errno::BUSY)) => {
                outcome = Err(Errno::BUSY);
                return false;
            }
            Some(Err(error)) => outcome = Err(error),
            None => outcome = Err(Errno::TIMEDOUT),
        }
        true
    };
    let free = until(LONGEST_BUSY, || attempt(UnmountFlags::empty()));
    let clean = free || !lazily || {
        attempt(UnmountFlags::DETACH);
        false
    };
    match outcome {
        Ok(()) => Ok(clean),
        Err(error) => Err(TestbedError::io("unmount", point, error)),
    }
}

/// Detaches what is mounted at a path, even if programs use it: they keep it until they close their files. The caller has checked that it is ours.
pub(crate) fn detach_shown(point: &Path) -> Result<(), TestbedError> {
    let target = point.to_owned();
    let flags = UnmountFlags::DETACH | UnmountFlags::NOFOLLOW;
    match bounded(LONGEST_UNMOUNT, move || unmount_now(&target, flags)) {
        Some(Ok(()) | Err(Errno::INVAL | Errno::NOENT)) => Ok(()),
        Some(Err(error)) => Err(TestbedError::io("unmount", point, error)),
        None => Err(TestbedError::io("unmount", point, Errno::TIMEDOUT)),
    }
}

/// The same of a path in a data directory of ours.
pub(crate) fn detach(point: &Path) -> Result<(), TestbedError> {
    require_our_directory(point)?;
    detach_shown(point)
}

/// No other user can change the way to the directory or its marker, so the path keeps its meaning during the unmount.
fn require_our_directory(point: &Path) -> Result<(), TestbedError> {
    let refused = |reason| TestbedError::NotUnmounted { path: point.to_owned(), reason };
    let Some(home) = point.parent() else {
        return Err(refused("is in no data directory of plimsoll"));
    };
    let Some(home) = HeldDirectory::open(home)? else {
        return Err(refused("is in a directory that is gone"));
    };
    match examine(&home, home.path())? {
        Contents::Marked(..) => Ok(()),
        Contents::Empty | Contents::Foreign(_) => {
            Err(refused("is in no data directory of plimsoll"))
        }
    }
}
