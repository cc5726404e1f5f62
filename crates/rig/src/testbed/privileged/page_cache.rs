//! Has the kernel drop what its page cache holds of the files in a data directory, which belongs to another user.

use super::removal::open_directory;
use crate::testbed::TestbedError;
use rustix::fs::{self, Advice, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Databases have folders in folders; as deep as this is no database.
const DEEPEST: u32 = 16;

/// What is not on the disk yet is written first: only clean pages can be dropped. Symbolic links are not followed.
pub(crate) fn drop_of(directory: &Path) -> Result<(), TestbedError> {
    let dropped = open_directory(CWD, directory).and_then(|opened| drop_in(&opened, DEEPEST));
    dropped.map_err(|error| TestbedError::io("empty the page cache of", directory, error))
}

fn drop_in(directory: &OwnedFd, deeper: u32) -> rustix::io::Result<()> {
    for entry in fs::Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        // A pipe must not be waited for.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = match fs::openat(directory, name, flags, Mode::empty()) {
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
