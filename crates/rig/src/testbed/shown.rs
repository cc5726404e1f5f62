//! Filesystems on emulated disks, at directories of the user.

use crate::testbed::TestbedError;
use crate::testbed::emulated::SOCKET;
use crate::testbed::loops::backing_file_of;
use crate::testbed::mounts;
use crate::testbed::privileged::unmount::unmount_shown;
use crate::testbed::undo::is_emulated_disk;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// An emulated disk whose filesystem is seen at a directory.
#[derive(Debug)]
pub struct ShownDisk {
    /// What belongs to it is in here.
    pub place: PathBuf,
    /// Socket at which the disk takes commands.
    pub control_socket: PathBuf,
}

/// The emulated disk at a directory, whose path has no symbolic link; `None` where something else is mounted, or nothing.
pub fn shown_at(directory: &Path) -> Result<Option<ShownDisk>, TestbedError> {
    let mounted = mounts::at(directory)?;
    let name = mounted.as_ref().and_then(|mounted| mounted.source.strip_prefix("/dev").ok());
    let image = name.and_then(Path::to_str).and_then(backing_file_of);
    let Some(below) = image.as_deref().and_then(Path::parent) else { return Ok(None) };
    let is_disk = mounts::at(below)?.is_some_and(|mounted| is_emulated_disk(&mounted));
    let place = below.parent().filter(|_| is_disk);
    Ok(place.map(|place| ShownDisk { place: place.to_owned(), control_socket: place.join(SOCKET) }))
}

/// Takes away the filesystem on an emulated disk that is seen at a directory. It stays where a program uses it.
pub fn hide(directory: &Path) -> Result<(), TestbedError> {
    let refused = |reason| Err(TestbedError::NotUnmounted { path: directory.to_owned(), reason });
    if shown_at(directory)?.is_none() {
        return refused("is no disk that plimsoll has mounted");
    }
    match unmount_shown(directory, false) {
        Err(TestbedError::Io { source, .. }) if source.kind() == ErrorKind::ResourceBusy => {
            refused("is in use by a program")
        }
        hidden => hidden.map(drop),
    }
}
