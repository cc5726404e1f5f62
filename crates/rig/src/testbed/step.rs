//! A thing that is made, with all that is needed to find it again and to know it for ours.

use crate::testbed::loops::BackingFile;
use crate::testbed::tools::Tools;
use plimsoll_record::KernelSetting;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A thing that is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "thing", rename_all = "kebab-case")]
pub(crate) enum Step {
    /// A marked data directory with all that is in it. Ours by its marker.
    Directory { path: PathBuf },
    /// The kernel's switch of rings for disks, turned on while one begins. Ours while it is on.
    Rings,
    /// The process of an emulated disk and its FUSE mount. Ours by the mark in its environment, and by place and kind of the mount.
    Daemon { mark: String, mount_point: PathBuf },
    /// A loop device, whose number is not known before it is made. Ours by the file below it.
    Loop { backing_file: BackingFile },
    /// The readahead of a device, changed. Ours while the device is, and has what was set.
    Readahead { from: MountedFrom, was_bytes: u64, set_bytes: u64 },
    /// A setting of the kernel, changed. Ours while it has what was set.
    Setting { setting: KernelSetting, of: SettingOf, was: String, set: String },
    /// A mounted filesystem. Ours by place and by what it was mounted from.
    Mount { mount_point: PathBuf, from: MountedFrom },
    /// A directory of the user at which a filesystem of ours is seen too. Ours by place and by what it was mounted from.
    Shown { directory: PathBuf, from: MountedFrom },
    /// The directory of a control group, with the processes in it. Ours by the random part of its name, and by its inode.
    Group { path: PathBuf },
    /// Controllers that the children of a group were allowed to use.
    Controllers { group: PathBuf, controllers: Vec<String> },
    /// A server with the processes that it started. Ours by the mark in its environment.
    Server { name: String, mark: String },
    /// A process of a run. Ours by its id, the time of its start, and the mark in its environment.
    Process { process: u32, started_ticks: u64, mark: String },
}

/// What a filesystem was mounted from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MountedFrom {
    /// The loop device over this file.
    LoopOver(BackingFile),
    Device(PathBuf),
}

impl MountedFrom {
    /// The names of the devices that it is now, such as `loop3`.
    pub(crate) fn devices(&self, tools: &Tools) -> Vec<String> {
        match self {
            Self::LoopOver(file) => file.devices(tools),
            Self::Device(path) => {
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
                name.into_iter().collect()
            }
        }
    }
}

/// What has a setting of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SettingOf {
    Machine,
    /// Processors that change their frequency together, by the name that the kernel gives them: `policy0`.
    Policy(String),
    Disk(MountedFrom),
}

impl Step {
    /// What is set, and what has the setting.
    pub(crate) fn setting(&self) -> Option<(KernelSetting, &SettingOf)> {
        match self {
            Self::Setting { setting, of, .. } => Some((*setting, of)),
            _ => None,
        }
    }
}

/// A step, and what is known since it was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Making {
    pub(crate) step: Step,
    pub(crate) inode: Option<u64>,
}

impl std::fmt::Display for Step {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Directory { path } => write!(formatter, "the data directory {}", path.display()),
            Self::Rings => write!(formatter, "the kernel's FUSE over io_uring turned on"),
            Self::Daemon { mount_point, .. } => {
                write!(formatter, "the emulated disk at {}", mount_point.display())
            }
            Self::Loop { backing_file } => {
                write!(formatter, "the loop device over {}", backing_file.path.display())
            }
            Self::Readahead { from, .. } => {
                let (MountedFrom::LoopOver(BackingFile { path, .. }) | MountedFrom::Device(path)) =
                    from;
                write!(formatter, "the readahead set for {}", path.display())
            }
            Self::Setting { setting, set, .. } => {
                write!(
                    formatter,
                    "the kernel's {} set to {}",
                    setting.name(),
                    setting.in_words(set)
                )
            }
            Self::Mount { mount_point, .. } => {
                write!(formatter, "the filesystem at {}", mount_point.display())
            }
            Self::Shown { directory, .. } => {
                write!(formatter, "the filesystem seen at {}", directory.display())
            }
            Self::Group { path } => write!(formatter, "the control group {}", path.display()),
            Self::Controllers { group, controllers } => write!(
                formatter,
                "the controllers {} below the control group {}",
                controllers.join(" "),
                group.display()
            ),
            Self::Server { name, .. } => write!(formatter, "the server {name}"),
            Self::Process { process, .. } => write!(formatter, "the process {process}"),
        }
    }
}

/// What became of a thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Undone {
    /// It was gone already, or was never made.
    WasGone,
    /// It existed and is gone.
    Gone,
    /// It goes by itself: with its last user.
    Going(String),
    /// Something is in its place that is not ours.
    Foreign(String),
}
