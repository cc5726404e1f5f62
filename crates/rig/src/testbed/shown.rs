//! Filesystems on emulated disks, at directories of the user.

use crate::testbed::TestbedError;
use crate::testbed::loops::backing_file_of;
use crate::testbed::mounts;
use crate::testbed::privileged::unmount::unmount_shown;
use crate::testbed::undo::is_emulated_disk;
use std::io::ErrorKind;
use std::path::Path;

/// Takes away the filesystem on an emulated disk that is seen at a directory. It stays where a program uses it.
pub fn hide(directory: &Path) -> Result<(), TestbedError> {
    let refused = |reason| Err(TestbedError::NotUnmounted { path: directory.to_owned(), reason });
    let mounted = mounts::at(directory)?;
    let name = mounted.as_ref().and_then(|mounted| mounted.source.strip_prefix("/dev").ok());
    let image = name.and_then(Path::to_str).and_then(backing_file_of);
    let below = image.as_deref().and_then(Path::parent).map(mounts::at).transpose()?.flatten();
    if !below.is_some_and(|below| is_emulated_disk(&below)) {
        return refused("is no disk that plimsoll has mounted");
    }
    match unmount_shown(directory, false) {
        Err(TestbedError::Io { source, .. }) if source.kind() == ErrorKind::ResourceBusy => {
            refused("is in use by a program")
        }
        hidden => hidden.map(drop),
    }
}
