//! What is ordered, and what is answered.

use crate::RigError;
use crate::fio::{Profile, Progress, Target};
use crate::log::LogLine;
use crate::testbed::{Disturb, GroupPaths};
use plimsoll_record::{DiskSpec, EventSpec, Lateness, RigRecord, RigSpec, Storage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// Rigs that can stand at the same time.
pub(crate) const RIGS: usize = 2;

/// An order, and which rig it is about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RigRequest {
    /// Below [`RIGS`]; 0 where the order is about none.
    #[serde(default)]
    pub(crate) rig: usize,
    #[serde(flatten)]
    pub(crate) order: Order,
}

/// An order to the rig process.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case")]
pub enum Order {
    /// Which rigs cannot be made on this machine or by this user. Answered with `Vec<Option<String>>`, the reasons.
    WhatRuns {
        rigs: Vec<RigSpec>,
    },
    /// Checks that no other user could change a place. Answered with its path.
    Look {
        /// As the user says; `None` for the usual one.
        directory: Option<PathBuf>,
    },
    /// Undoes what programs left behind that are gone, or reports what would be undone. Reports lines; answered with the reasons of what stays.
    Clean {
        dry_run: bool,
    },
    /// Opens the journal in which all that follows is written down.
    Open {
        /// What it is for, in words.
        label: String,
    },
    /// Makes a rig. Answered with [`Built`].
    Build {
        spec: Box<RigSpec>,
        /// In which its data directory is made; `None` for the usual place.
        directory: Option<PathBuf>,
        owner: String,
        /// The run, in the words of the experiment.
        label: String,
        /// Room that the data need, bytes.
        needs_bytes: u64,
        /// Processors for everything that the rig runs, by their numbers; `None`: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        processors: Option<Vec<u32>>,
        /// The name of the data that was kept and that it begins with; `None`: with none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
    },
    /// Copies the data of the rig, whose server and workers have ended, for rigs that are made later.
    Keep {
        name: String,
        /// In which it is kept; `None` for the usual place.
        directory: Option<PathBuf>,
        owner: String,
    },
    /// Puts a process that the client has started under the limits of the rig.
    Admit {
        process: u32,
    },
    /// Whether all of the rig is still there.
    IsSound,
    /// Where the files on a traced disk lie. Answered with `Option<ExtentMap>`.
    Extents,
    /// Has the filesystem on the emulated disk seen at an empty directory too.
    Show {
        directory: PathBuf,
    },
    /// Unmounts the directory of a [`Self::Show`], also one that another program ordered. Refused while a program uses it.
    Hide {
        directory: PathBuf,
    },
    /// Mounts the filesystem of an emulated disk again, and has it seen at the same directory, after its power was cut. Answered with `Power`.
    Remount {
        directory: PathBuf,
    },
    /// Gives the emulated disk its limits, or takes them away, and marks its trace.
    Shape {
        shaped: bool,
        mark: String,
    },
    /// Replaces the events of the emulated disk by those of these that are its own. Answered with `Vec<EventRecord>`, what happened of those before.
    Timeline {
        events: Vec<EventSpec>,
        /// From which their times count, nanoseconds of the monotonic clock of the rig's machine.
        start_ns: u64,
    },
    /// Limits the memory to what is taken now and the page cache that was requested. Answered with `Option<u64>`, the limit in bytes.
    SizeMemory,
    /// Has the kernel drop what its page cache holds of the data.
    DropPageCache,
    /// Does something to a member of the server. Answered with `Disturbed`.
    Disturb {
        what: Disturb,
    },
    /// Brings all members of the server back, and waits until they are one server.
    Heal,
    /// Ends the server of the rig.
    StopServer,
    /// Undoes the rig but for its directory. Answered with [`TornDown`].
    TearDown,
    Remove,
    /// Holds an emulated disk against its description. Reports progress; answered with a `Calibration`.
    Calibrate {
        spec: Box<DiskSpec>,
        /// In which it is made; `None` for the usual place.
        directory: Option<PathBuf>,
        /// What it is for, in words.
        owner: String,
    },
    /// Finds out what a disk can do. Reports progress; answered with a `Characterisation`.
    Characterise {
        what: Characterised,
        profile: Profile,
    },
    /// Writes a megabyte and makes it durable, some times. Answered with `Option<u64>`, the median in nanoseconds.
    DiskTask {
        /// Where data directories are made; `None` for the usual place.
        directory: Option<PathBuf>,
    },
}

impl Order {
    /// Whether it is given repeatedly during a run.
    pub(crate) fn is_routine(&self) -> bool {
        matches!(self, Self::IsSound | Self::Disturb { what: Disturb::LookFor(_) })
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::WhatRuns { rigs } => {
                write!(formatter, "looking whether {} rigs can be made", rigs.len())
            }
            Self::Look { .. } => formatter.write_str("checking the place of the data"),
            Self::Clean { .. } => formatter.write_str("cleaning up after programs that are gone"),
            Self::Open { label } => write!(formatter, "opening the journal of {label}"),
            Self::Build { label, .. } => write!(formatter, "making the rig of {label}"),
            Self::Admit { process } => {
                write!(formatter, "admitting process {process} to the limits")
            }
            Self::IsSound => formatter.write_str("checking the rig"),
            Self::Extents => formatter.write_str("reading where the files lie"),
            Self::Show { directory } => write!(formatter, "mounting at {}", directory.display()),
            Self::Hide { directory } => write!(formatter, "unmounting {}", directory.display()),
            Self::Remount { directory } => {
                write!(formatter, "mounting {} again after a power cut", directory.display())
            }
            Self::Shape { shaped, mark } => {
                let how = if *shaped { "limited" } else { "without limits" };
                write!(formatter, "disk {how}: {mark}")
            }
            Self::Timeline { events, .. } => {
                write!(formatter, "timeline of the disk with {} events", events.len())
            }
            Self::SizeMemory => formatter.write_str("sizing the memory"),
            Self::DropPageCache => formatter.write_str("emptying the page cache"),
            Self::Disturb { what } => write!(formatter, "event {what:?}"),
            Self::Heal => formatter.write_str("bringing all members back"),
            Self::Keep { name, .. } => write!(formatter, "keeping the data of {name}"),
            Self::StopServer => formatter.write_str("stopping the server"),
            Self::TearDown => formatter.write_str("removing the rig"),
            Self::Remove => formatter.write_str("removing the directory"),
            Self::Calibrate { .. } => formatter.write_str("calibrating an emulated disk"),
            Self::Characterise { .. } => formatter.write_str("characterising a disk"),
            Self::DiskTask { .. } => formatter.write_str("timing the disk probe task"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Characterised {
    /// An emulated disk, made for it.
    Emulated(Box<DiskSpec>),
    /// A directory, or a block device.
    Target(Target),
}

/// A user of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    pub user: u32,
    /// The number of its group.
    pub group: u32,
}

/// A server that was started for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningServer {
    /// Under which it is reached.
    pub address: String,
    /// Its processes, one for each member.
    pub processes: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Built {
    /// An empty directory, or that of the server.
    pub data_directory: PathBuf,
    /// Who works on the data, where that is not the client itself.
    pub user: Option<User>,
    /// Where the new filesystem is mounted.
    pub mount_point: Option<PathBuf>,
    /// Where an emulated disk takes commands.
    pub control_socket: Option<PathBuf>,
    /// Name of the device below the filesystem, as under `/sys/class/block`.
    pub device: Option<String>,
    /// The control group of the limits.
    pub group: Option<GroupPaths>,
    /// What lies under the data.
    pub storage: Storage,
    pub server: Option<RunningServer>,
    /// The logs of its members.
    pub server_logs: Vec<PathBuf>,
    /// What a process must have in its environment to be admitted.
    pub mark: String,
    /// For the record of the run.
    pub record: RigRecord,
}

/// What is left of a rig.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TornDown {
    /// The trace of the emulated disk, in the directory that is left.
    pub trace: Option<PathBuf>,
    /// How late the emulated disk answered.
    pub lateness: Option<Lateness>,
    pub notes: Vec<String>,
}

/// A line from the process.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer {
    /// A message about the work, for people. The order continues.
    Message(String),
    /// A line of the log. The order continues.
    Logged(LogLine),
    /// How far fio is. It waits for a line that says [`Go`].
    At(Progress),
    /// The order is carried out.
    Done(Value),
    Failed(RigError),
}

/// Whether fio shall continue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Go(pub(crate) bool);
