//! The mount of a disk's file system.

use crate::DiskError;
use crate::device::DEVICE;
use rustix::fs::statfs;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use std::ffi::{CStr, CString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// The name by which the mount is known.
const SOURCE: &CStr = c"plimsoll-disk";
const KIND: &CStr = c"fuse.plimsoll-disk";

/// Mounts a file system there that is served through the descriptor that comes back.
pub(crate) fn mount(mount_point: &Path) -> Result<OwnedFd, DiskError> {
    let device = OpenOptions::new()
        .read(true)
        .write(true)
        .open(DEVICE)
        .map_err(|source| DiskError::NoFuse { source })?;
    mount_through(&device, mount_point)
        .map_err(|source| DiskError::Mount { path: mount_point.to_owned(), source })?;
    Ok(device.into())
}

fn mount_through(device: &File, mount_point: &Path) -> io::Result<()> {
    let options = CString::new(format!(
        "fd={},rootmode=40000,user_id={},group_id={}",
        device.as_raw_fd(),
        rustix::process::geteuid(),
        rustix::process::getegid()
    ))?;
    let flags = MountFlags::NODEV | MountFlags::NOSUID | MountFlags::NOEXEC | MountFlags::NOATIME;
    Ok(rustix::mount::mount(SOURCE, mount_point, KIND, flags, options.as_c_str())?)
}

/// Takes the mount away: from its place at once, and altogether when its last user is gone. It is no error if nothing is mounted there.
pub(crate) fn unmount(mount_point: &Path) -> io::Result<()> {
    detach(mount_point, UnmountFlags::DETACH)
}

/// Ends the connection to the daemon first: the kernel fails all requests, so that no answer is needed.
pub(crate) fn abort(mount_point: &Path) {
    // The mount is busy, which it says after it has ended the connection.
    let _ = detach(mount_point, UnmountFlags::FORCE);
    let _ = unmount(mount_point);
}

fn detach(mount_point: &Path, flags: UnmountFlags) -> io::Result<()> {
    match rustix::mount::unmount(mount_point, flags | UnmountFlags::NOFOLLOW) {
        // There is no mount, or no such directory.
        Err(Errno::INVAL | Errno::NOENT) => Ok(()),
        ended => Ok(ended?),
    }
}

/// Whether a file system is mounted there whose daemon is gone: the call goes to the daemon, and not to a cache. Rings are taken down after the
/// daemon that had them; a call that comes meanwhile is aborted with them.
pub(crate) fn is_abandoned(mount_point: &Path) -> bool {
    matches!(statfs(mount_point), Err(Errno::NOTCONN | Errno::CONNABORTED))
}
