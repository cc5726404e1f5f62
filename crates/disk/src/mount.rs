//! The mount of a disk's file system.

use crate::DiskError;
use std::ffi::{CStr, CString};
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The name by which the mount is known.
const SOURCE: &CStr = c"plimsoll-disk";
const KIND: &CStr = c"fuse.plimsoll-disk";

/// Mounts a file system there that is served through the descriptor that comes back.
pub(crate) fn mount(mount_point: &Path) -> Result<OwnedFd, DiskError> {
    let device = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/fuse")
        .map_err(|source| DiskError::NoFuse { source })?;
    mount_through(&device, mount_point).map_err(|source| DiskError::Mount {
        path: mount_point.to_owned(),
        source,
    })?;
    Ok(device.into())
}

fn mount_through(device: &File, mount_point: &Path) -> io::Result<()> {
    let target = c_path(mount_point)?;
    // SAFETY: they only ask who this process belongs to.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let options = CString::new(format!(
        "fd={},rootmode=40000,user_id={user},group_id={group}",
        device.as_raw_fd()
    ))?;
    let flags = libc::MS_NODEV | libc::MS_NOSUID | libc::MS_NOEXEC | libc::MS_NOATIME;
    // SAFETY: C strings that live until the call returns.
    let mounted = unsafe {
        libc::mount(
            SOURCE.as_ptr(),
            target.as_ptr(),
            KIND.as_ptr(),
            flags,
            options.as_ptr().cast(),
        )
    };
    match mounted {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Takes the mount away, at once from where it is seen and altogether when its last user is gone. Where nothing is mounted any more, that is well.
pub(crate) fn unmount(mount_point: &Path) -> io::Result<()> {
    detach(mount_point, libc::MNT_DETACH)
}

/// Ends the connection to the daemon first: whoever waits for an answer gets an error, and nobody has to give it.
pub(crate) fn abort(mount_point: &Path) {
    // The mount is busy, which it says after it has ended the connection.
    let _ = detach(mount_point, libc::MNT_FORCE);
    let _ = unmount(mount_point);
}

fn detach(mount_point: &Path, flags: libc::c_int) -> io::Result<()> {
    let target = c_path(mount_point)?;
    // SAFETY: a C string that lives until the call returns.
    if unsafe { libc::umount2(target.as_ptr(), flags | libc::UMOUNT_NOFOLLOW) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        // There is no mount, or no such directory.
        Some(libc::EINVAL | libc::ENOENT) => Ok(()),
        _ => Err(error),
    }
}

/// Whether a file system is mounted there whose daemon is gone.
pub(crate) fn is_abandoned(mount_point: &Path) -> bool {
    ask(mount_point).is_err_and(|error| error.raw_os_error() == Some(libc::ENOTCONN))
}

/// Asks the daemon, and not a cache, for something that does not matter.
fn ask(mount_point: &Path) -> io::Result<()> {
    let path = c_path(mount_point)?;
    let mut answer = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: a C string, and room for the answer, which is not looked at.
    match unsafe { libc::statfs(path.as_ptr(), answer.as_mut_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}
