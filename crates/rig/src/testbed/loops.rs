//! Loop devices over files of ours.

use crate::testbed::TestbedError;
use crate::testbed::tools::Tools;
use crate::testbed::wait::until;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Size of the device's smallest requests, bytes: an emulated disk counts in these, as disks of today do.
const SECTOR_BYTES: u32 = 4096;

/// How long programs that look at a new device may keep it.
const LONGEST_DETACH: Duration = Duration::from_secs(3);

/// A file below a loop device, as it can be known again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BackingFile {
    pub(crate) path: PathBuf,
    /// Major and minor number of the filesystem that it is in, as in `0:39`. When that is unmounted while it is in use, as a daemon that
    /// ends does, the kernel forgets the path, and this is what is left.
    filesystem: String,
}

impl BackingFile {
    pub(crate) fn of(path: &Path) -> Result<Self, TestbedError> {
        let status = path.metadata().map_err(|error| TestbedError::io("look at", path, error))?;
        Ok(Self { path: path.to_owned(), filesystem: number_of(status.dev()) })
    }

    /// Whether it is below the loop device of this name.
    pub(crate) fn is_below(&self, tools: &Tools, name: &str) -> bool {
        let Some(found) = backing_file_of(name) else {
            return false;
        };
        if found == self.path {
            return true;
        }
        let in_its_root = self.path.file_name().map(|name| Path::new("/").join(name));
        if in_its_root != Some(found) {
            return false;
        }
        let device = format!("/dev/{name}");
        let arguments = ["--list", "--noheadings", "--output", "BACK-MAJ:MIN", &device];
        tools
            .run("losetup", &arguments.map(OsStr::new))
            .is_ok_and(|output| output.trim() == self.filesystem)
    }

    /// Whether it is in the filesystem with this major and minor number.
    pub(crate) fn is_in(&self, filesystem: &str) -> bool {
        self.filesystem == filesystem
    }

    /// The loop devices over it, such as `loop3`, by what the kernel says.
    pub(crate) fn devices(&self, tools: &Tools) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir("/sys/block") else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| self.is_below(tools, name))
            .collect();
        names.sort();
        names
    }
}

/// A device as major and minor number.
pub(crate) fn number_of(device: u64) -> String {
    format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device))
}

/// The file below a loop device; `None` for what is none, or is free.
pub(crate) fn backing_file_of(name: &str) -> Option<PathBuf> {
    let text = std::fs::read_to_string(format!("/sys/block/{name}/loop/backing_file")).ok()?;
    Some(PathBuf::from(text.strip_suffix('\n').unwrap_or(&text)))
}

/// Makes a loop device with direct I/O over a file and returns its name. `losetup` takes the next free number when another program was
/// quicker.
pub(crate) fn attach(tools: &Tools, backing_file: &Path) -> Result<String, TestbedError> {
    let sector = SECTOR_BYTES.to_string();
    let arguments = [
        "--find".as_ref(),
        "--show".as_ref(),
        "--direct-io=on".as_ref(),
        "--sector-size".as_ref(),
        sector.as_ref(),
        backing_file.as_os_str(),
    ];
    let output = match tools.run("losetup", &arguments) {
        Ok(output) => output,
        Err(TestbedError::Tool { output, .. }) if output.contains("unused loop device") => {
            return Err(TestbedError::NoLoopDevice);
        }
        Err(error) => return Err(error),
    };
    let name = output.trim().trim_start_matches("/dev/").to_owned();
    let direct = std::fs::read_to_string(format!("/sys/block/{name}/loop/dio"));
    if !direct.is_ok_and(|direct| direct.trim() == "1") {
        return Err(TestbedError::NotDirect {
            device: name,
            backing_file: backing_file.to_owned(),
        });
    }
    Ok(name)
}

/// Frees a loop device that has been found to be over the file. Returns whether it is free; one that is still in use is freed by the
/// kernel with its last user.
pub(crate) fn detach(
    tools: &Tools,
    name: &str,
    backing_file: &BackingFile,
) -> Result<bool, TestbedError> {
    let device = format!("/dev/{name}");
    let gone = || !backing_file.is_below(tools, name);
    let detached = tools.run("losetup", &["--detach".as_ref(), device.as_ref()]);
    if detached.is_err() && !gone() {
        detached?;
    }
    Ok(until(LONGEST_DETACH, gone))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testbed::laboratory::{LOOPS, LoopDevice};
    use crate::testbed::step::Undone;
    use crate::testbed::step::{Making, Step};
    use crate::testbed::undo::undo;
    use plimsoll_testing::needs;

    mod slow {
        use super::*;

        #[test]
        fn a_loop_device_over_another_file_is_left_alone() {
            needs!(LOOPS);
            let tools = Tools::of("test");
            let folder = tempfile::tempdir().unwrap();
            let theirs = LoopDevice::new(folder.path(), "theirs", 1 << 20);
            let ours = LoopDevice::new(folder.path(), "ours", 1 << 20);
            let making =
                Making { step: Step::Loop { backing_file: ours.file.clone() }, inode: None };
            assert_eq!(undo(&making, &tools, false).unwrap(), Undone::Gone);
            assert!(!ours.is_attached());
            assert!(theirs.is_attached());
            assert_eq!(undo(&making, &tools, true).unwrap(), Undone::WasGone);
            assert!(theirs.is_attached());
        }
    }
}
