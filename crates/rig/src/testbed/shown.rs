//! Filesystems on emulated disks, at directories of the user.

use crate::testbed::TestbedError;
use crate::testbed::emulated::SOCKET;
use crate::testbed::loops::backing_file_of;
use crate::testbed::mounts;
use crate::testbed::privileged::unmount::unmount_shown;
use crate::testbed::processes::users_below;
use crate::testbed::undo::is_emulated_disk;
use plimsoll_telemetry::Mount;
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
    let Some(mounted) = mounts::at(directory)? else { return Ok(None) };
    let below = if is_emulated_disk(&mounted) {
        // Its filesystem did not survive a power cut, so that the disk itself is seen.
        let is_in_its_place = |other: &Mount| {
            other.device_number == mounted.device_number
                && other.point != directory
                && other.point.with_file_name(SOCKET).exists()
        };
        mounts::all()?.into_iter().find(is_in_its_place).map(|other| other.point)
    } else {
        let name = mounted.source.strip_prefix("/dev").ok().and_then(Path::to_str);
        let image = name.and_then(backing_file_of);
        image.as_deref().and_then(Path::parent).map(Path::to_owned)
    };
    let Some(below) = below else { return Ok(None) };
    let is_disk = mounts::at(&below)?.is_some_and(|mounted| is_emulated_disk(&mounted));
    let place = below.parent().filter(|_| is_disk);
    Ok(place.map(|place| ShownDisk { place: place.to_owned(), control_socket: place.join(SOCKET) }))
}

/// Takes away the filesystem on an emulated disk that is seen at a directory. It stays where a program uses it.
pub fn hide(directory: &Path) -> Result<(), TestbedError> {
    if shown_at(directory)?.is_none() {
        let reason = "is no disk that plimsoll has mounted";
        return Err(TestbedError::NotUnmounted { path: directory.to_owned(), reason });
    }
    match unmount_shown(directory, false) {
        Err(TestbedError::Io { source, .. }) if source.kind() == ErrorKind::ResourceBusy => {
            Err(TestbedError::MountInUse {
                path: directory.to_owned(),
                users: users_below(&[directory]),
            })
        }
        hidden => hidden.map(drop),
    }
}
