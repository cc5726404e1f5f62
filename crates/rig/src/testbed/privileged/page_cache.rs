//! Drops the files of a data directory, which may belong to another user, from the kernel's page cache.

use super::removal::{names, open_directory};
use crate::testbed::TestbedError;
use rustix::fs::{self, Advice, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Folders deeper than this are left out: no database nests them so.
const DEEPEST: u32 = 16;

/// Syncs and drops every file below a directory; only clean pages can be dropped. Symbolic links are not followed.
pub(crate) fn drop_of(directory: &Path) -> Result<(), TestbedError> {
    let dropped = open_directory(CWD, directory).and_then(|opened| drop_in(&opened, DEEPEST));
    dropped.map_err(|error| TestbedError::io("empty the page cache of", directory, error))
}

fn drop_in(directory: &OwnedFd, deeper: u32) -> rustix::io::Result<()> {
    for name in names(directory)? {
        // Opening a pipe must not block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = match fs::openat(directory, &name, flags, Mode::empty()) {
            Ok(opened) => opened,
            // A symbolic link, a socket, or gone meanwhile.
            Err(Errno::LOOP | Errno::NXIO | Errno::NOENT) => continue,
            Err(error) => return Err(error),
        };
        match FileType::from_raw_mode(fs::fstat(&opened)?.st_mode) {
            FileType::Directory if deeper > 0 => drop_in(&opened, deeper - 1)?,
            FileType::RegularFile => {
                fs::fdatasync(&opened)?;
                fs::fadvise(&opened, 0, None, Advice::DontNeed)?;
            }
            _ => {}
        }
    }
    Ok(())
}
