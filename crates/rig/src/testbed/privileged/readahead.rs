//! How far the kernel reads ahead on a device: set before a filesystem is made, verified, and put back when the device is given up.

use crate::testbed::TestbedError;
use crate::testbed::step::{MountedFrom, Undone};
use crate::testbed::tools::Tools;
use plimsoll_telemetry::whole_disk;
use std::fs;
use std::path::{Path, PathBuf};

/// Restores what a device had, unless it was changed since.
pub(crate) fn undo(
    tools: &Tools,
    from: &MountedFrom,
    was_bytes: u64,
    set_bytes: u64,
) -> Result<Undone, TestbedError> {
    let mut undone = Undone::WasGone;
    for name in from.devices(tools) {
        let file = file_of_device(&name);
        if file.exists() && read(&file)? == set_bytes {
            write(&file, &name, was_bytes)?;
            undone = Undone::Gone;
        }
    }
    Ok(undone)
}

pub(crate) fn file_of_device(name: &str) -> PathBuf {
    queue_of_device(name).join("read_ahead_kb")
}

/// The folder of what can be set of a device. A partition has that of its disk.
pub(crate) fn queue_of_device(name: &str) -> PathBuf {
    let own = Path::new("/sys/class/block").join(name);
    let own = fs::canonicalize(&own).unwrap_or(own);
    whole_disk(&own).join("queue")
}

pub(crate) fn read(file: &Path) -> Result<u64, TestbedError> {
    let text = fs::read_to_string(file).map_err(|error| TestbedError::io("read", file, error))?;
    let kibibytes: u64 = text.trim().parse().map_err(|_| {
        let error = std::io::Error::other(format!("it says {:?}", text.trim()));
        TestbedError::io("read", file, error)
    })?;
    Ok(kibibytes << 10)
}

/// Writes it, and looks whether it was taken: kernels round to whole pages, and some devices bound it.
pub(crate) fn write(file: &Path, device: &str, bytes: u64) -> Result<(), TestbedError> {
    fs::write(file, (bytes >> 10).to_string())
        .map_err(|error| TestbedError::io("write", file, error))?;
    let taken_bytes = read(file)?;
    if taken_bytes == bytes {
        return Ok(());
    }
    Err(TestbedError::ReadaheadRefused {
        device: device.to_owned(),
        requested_bytes: bytes,
        taken_bytes,
    })
}
