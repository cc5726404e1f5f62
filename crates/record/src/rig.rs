//! What an arm stands on: its disk, filesystem, limits and price, as requested and as made.

use crate::KernelSettings;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How long a disk takes beside what its limits make a request wait.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case")]
pub enum DiskLatency {
    /// The disk adds no latency of its own.
    #[default]
    None,
    /// Each request takes the same time.
    Constant {
        /// Time of a request, in nanoseconds.
        ns: u64,
    },
    /// Lognormal, given by two of its percentiles.
    Lognormal {
        /// Median of the law, in nanoseconds.
        median_ns: u64,
        /// Nanoseconds, at least the median.
        p99_ns: u64,
    },
    /// By percentiles that were measured somewhere, linear between them.
    Table {
        /// Percentile (0 to 100) and nanoseconds, both ascending, at least two.
        points: Vec<(f64, u64)>,
    },
}

impl DiskLatency {
    /// Median of the law, in nanoseconds.
    pub fn median_ns(&self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Constant { ns } => *ns as f64,
            Self::Lognormal { median_ns, .. } => *median_ns as f64,
            Self::Table { points } => latency_at(points, 50.0),
        }
    }
}

/// Nanoseconds at a percentile (0 to 100) of a [`DiskLatency::Table`]: linear between the points, the nearest beyond them.
#[inline]
pub fn latency_at(points: &[(f64, u64)], percentile: f64) -> f64 {
    let above = points.partition_point(|point| point.0 <= percentile);
    let Some(&(high, high_ns)) = points.get(above) else {
        return points.last().map_or(0.0, |point| point.1 as f64);
    };
    let Some(&(low, low_ns)) = above.checked_sub(1).and_then(|below| points.get(below)) else {
        return high_ns as f64;
    };
    let share = (percentile - low) / (high - low);
    low_ns as f64 + share * (high_ns as f64 - low_ns as f64)
}

/// A limit for each direction and for both together; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskRates {
    /// Limit of reads by themselves.
    pub read: Option<f64>,
    /// Limit of writes by themselves.
    pub write: Option<f64>,
    /// Limit of reads and writes together.
    pub joint: Option<f64>,
}

impl DiskRates {
    /// Whether neither direction has a limit.
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    /// The rate of reads and that of writes; `joint` where a direction has none of its own.
    pub fn each(&self) -> [Option<f64>; 2] {
        [self.read, self.write].map(|own| own.or(self.joint))
    }
}

/// Credits that are earned while there is little load and spent while there is much: a token bucket, as of gp2 or a burstable Azure disk. One credit is one request (of
/// at most `io_unit_bytes`). While there are credits, `iops` and `bandwidth` here hold; without, those of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiskBurst {
    /// Joint requests per second while there are credits.
    pub iops: f64,
    /// Joint bytes per second while there are credits; `None`: as without.
    pub bandwidth: Option<f64>,
    /// Size of the bucket, requests.
    pub credits: f64,
    /// Credits per second that flow in; usually the joint IOPS of the disk.
    pub refill: f64,
    /// Share of the bucket that is full at the beginning, 0 to 1.
    pub start: f64,
}

/// Where the blocks of an emulated disk are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backing {
    /// In memory, as far as they were written.
    Memory,
    /// The disk's bytes are in a sparse file.
    File,
}

/// What an emulated disk is like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiskSpec {
    /// Name of the preset that it began with.
    pub preset: Option<String>,
    /// Bytes, a multiple of 4096.
    pub capacity_bytes: u64,
    /// Limits of requests per second.
    pub iops: DiskRates,
    /// Limits of bytes per second.
    pub bandwidth: DiskRates,
    /// A larger request counts as several against the IOPS limits; `None`: every request counts as one.
    pub io_unit_bytes: Option<u64>,
    /// Added to every read, after it was admitted by the limits.
    pub read_latency: DiskLatency,
    /// Added to every write, after it was admitted by the limits.
    pub write_latency: DiskLatency,
    /// Bytes per second at which one request is moved, beside its latency; `joint` is the rate of each direction that has none of its own.
    #[serde(default, skip_serializing_if = "DiskRates::is_unlimited")]
    pub transfer: DiskRates,
    /// Time that a flush takes.
    pub flush_latency: DiskLatency,
    /// Requests that the disk serves at once, each for its latency; others wait. `None`: all.
    pub queue_depth: Option<u32>,
    /// Credits for going beyond the limits for a while.
    pub burst: Option<DiskBurst>,
    /// Where its blocks are kept.
    pub backing: Backing,
    /// Requests that the trace holds, the last ones; 0 is no trace. 32 bytes each.
    pub trace_requests: u64,
    /// Whether the disk has a volatile write cache that it remembers, so that its power can be cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub volatile_cache: bool,
}

impl DiskSpec {
    /// A disk without any limit, with its blocks in memory, without trace and without a volatile cache.
    pub fn unlimited(capacity_bytes: u64) -> Self {
        Self {
            preset: None,
            capacity_bytes,
            iops: DiskRates::default(),
            bandwidth: DiskRates::default(),
            io_unit_bytes: None,
            read_latency: DiskLatency::None,
            write_latency: DiskLatency::None,
            transfer: DiskRates::default(),
            flush_latency: DiskLatency::None,
            queue_depth: None,
            burst: None,
            backing: Backing::Memory,
            trace_requests: 0,
            volatile_cache: false,
        }
    }

    /// Whether it is slower than its host in any way.
    pub fn is_limited(&self) -> bool {
        let unlimited = Self {
            preset: self.preset.clone(),
            io_unit_bytes: self.io_unit_bytes,
            backing: self.backing,
            trace_requests: self.trace_requests,
            volatile_cache: self.volatile_cache,
            ..Self::unlimited(self.capacity_bytes)
        };
        *self != unlimited
    }
}

/// What the data lies on, below the filesystem.
#[allow(clippy::large_enum_variant)] // There is one for each arm, and boxes in a format are no gain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DiskChoice {
    /// A disk that a daemon emulates over FUSE.
    Emulated {
        /// What the disk is like.
        spec: DiskSpec,
    },
    /// A block device of this machine, all of it. The file has said `erase: true`.
    Device {
        /// A stable name, under `/dev/disk/by-*`.
        path: std::path::PathBuf,
    },
}

/// Kinds of filesystems that are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FilesystemKind {
    /// XFS, made by `mkfs.xfs` of xfsprogs.
    Xfs,
    /// EXT4, made by `mkfs.ext4` of e2fsprogs.
    Ext4,
    /// Btrfs, made by `mkfs.btrfs` of btrfs-progs.
    Btrfs,
}

impl FilesystemKind {
    /// All kinds, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Xfs, Self::Ext4, Self::Btrfs];

    /// The word in files and of the kernel.
    pub fn name(self) -> &'static str {
        match self {
            Self::Xfs => "xfs",
            Self::Ext4 => "ext4",
            Self::Btrfs => "btrfs",
        }
    }
}

/// A filesystem with what is requested beyond its stock options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesystemSpec {
    /// Which kind of filesystem it is.
    pub kind: FilesystemKind,
    /// Words that are appended to the call of mkfs.
    pub mkfs: Vec<String>,
    /// Options that are appended to those of mount.
    pub mount: Vec<String>,
}

/// Limits of what is under test, its page cache included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitsSpec {
    /// Memory of the process and of the page cache that it fills, bytes.
    pub memory_bytes: Option<u64>,
    /// In place of the memory: page cache to be left beside what the process takes once the data is stored and a point has warmed up, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_cache_bytes: Option<u64>,
    /// CPU time per time: 1.5 is one and a half processors.
    pub cpus: Option<f64>,
    /// The processors that it may run on.
    pub pin: Vec<u32>,
    /// The NUMA nodes whose memory it may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_nodes: Vec<u32>,
}

impl LimitsSpec {
    /// Whether neither memory nor CPU is limited.
    pub fn is_empty(&self) -> bool {
        !self.is_of_memory() && self.cpus.is_none() && !self.is_of_places()
    }

    /// Whether it may not use all processors or all memory nodes.
    pub fn is_of_places(&self) -> bool {
        !self.pin.is_empty() || !self.memory_nodes.is_empty()
    }

    /// Whether memory is limited, in one way or the other.
    pub fn is_of_memory(&self) -> bool {
        self.memory_bytes.is_some() || self.page_cache_bytes.is_some()
    }
}

/// Price of what an arm runs on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Price of an hour, in the currency.
    pub per_hour: f64,
    /// Code of the currency, three letters of ISO 4217.
    pub currency: String,
    /// Where the price was read, such as an address.
    pub source: Option<String>,
    /// When it was read: `YYYY-MM` or `YYYY-MM-DD`.
    pub date: Option<String>,
}

/// The most members that a server of several can have.
pub const MOST_MEMBERS: u32 = 7;

/// A server that the program starts for an arm, on its storage and under its limits, and ends afterwards.
///
/// It may have several members, each a process of the same program with a port, an empty data directory and a log of its own.
///
/// Arguments, environment, address and `after_start` may hold places in braces, filled when it starts: `{data}` the data directory of a member,
/// `{run}` a directory for sockets and the like, `{log}` the file for the log of a member, `{port}` its free port of 127.0.0.1, `{members}`
/// host and port of all members with commas between them, and `{plimsoll}` this program. In `address` and `after_start`, what is a member's
/// is that of the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSpec {
    /// The preset, such as `mongod`.
    pub name: String,
    /// A path, or a name to be found on PATH.
    pub program: String,
    /// Arguments of the server, with placeholders in braces.
    pub arguments: Vec<String>,
    /// Environment of the server, with placeholders in braces.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// What makes it tell its version and end; empty where nothing does.
    #[serde(default)]
    pub version_arguments: Vec<String>,
    /// Under which clients reach it, a URI with places in braces. It is ready when that answers.
    pub address: String,
    /// The address of its machine at which others reach it, where the load comes from other machines: it takes the place of 127.0.0.1 in its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The signal that asks it to end cleanly: `TERM`, `INT` or `QUIT`.
    pub stop_signal: String,
    /// How long it may take to become ready.
    pub ready_within_ns: u64,
    /// How long it may take to end after the signal; then it is killed, and its run is marked failed.
    pub stop_within_ns: u64,
    /// How many processes it has.
    #[serde(default = "one_member", skip_serializing_if = "is_one_member")]
    pub members: u32,
    /// A program and its arguments, run once after all members answer, as their user; empty for none. The server is ready when it has ended
    /// with 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after_start: Vec<String>,
    /// What each member may keep on disk besides its data: its log of changes, from which others copy.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub log_bytes: u64,
    /// How its members get commands while it runs, where it has roles among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roles: Option<RoleCommands>,
}

/// Programs with their arguments that send commands to the members of a server, with placeholders in braces. Each is run as their user and ends with 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleCommands {
    /// Prints host and port of the primary, and waits until there is one.
    pub primary: Vec<String>,
    /// Makes the primary step down.
    pub step_down: Vec<String>,
    /// Waits until there is a primary that takes writes, and every other member follows it.
    pub whole: Vec<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
fn is_nothing(bytes: &u64) -> bool {
    *bytes == 0
}

impl ServerSpec {
    /// Its members in words, where it is a replica set: `3 members`, or `replica set of 1`.
    pub fn members_in_words(&self) -> Option<String> {
        match self.members {
            // Only members of a set keep a log of changes.
            1 => (self.log_bytes > 0).then(|| "replica set of 1".to_owned()),
            number => Some(format!("{number} members")),
        }
    }

    /// Its name, with its members where it is a replica set: `mongod, 3 members`.
    pub fn in_words(&self) -> String {
        match self.members_in_words() {
            Some(members) => format!("{}, {members}", self.name),
            None => self.name.clone(),
        }
    }
}

fn one_member() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
fn is_one_member(members: &u32) -> bool {
    *members == 1
}

/// A member of a server that has several, as it was started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberRecord {
    /// Host and port at which it listens.
    pub address: String,
    /// The command line with which it was started.
    pub command: String,
    /// Where its log is kept, on the machine that measured.
    pub log: Option<std::path::PathBuf>,
}

/// A server as it was started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerRecord {
    /// Path of the program that was started.
    pub program: std::path::PathBuf,
    /// Version, as the program itself states it.
    pub version: Option<String>,
    /// The command line with which it was started.
    pub command: String,
    /// Name of the user under which it ran.
    pub user: Option<String>,
    /// Where its log is kept, on the machine that measured.
    pub log: Option<std::path::PathBuf>,
    /// Its members, where it has several. Command and log of the server are then those of the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberRecord>,
}

/// The readahead that Linux gives a block device by default, bytes. Databases read pages of 4 to 32 kB at random; what is read ahead of them is thrown away.
pub const USUAL_READAHEAD_BYTES: u64 = 128 << 10;

/// What an arm stands on, as requested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RigSpec {
    /// The disk below the data; `None` is a plain directory.
    #[serde(default)]
    pub disk: Option<DiskChoice>,
    /// Made on the disk; `None` only without one.
    #[serde(default)]
    pub filesystem: Option<FilesystemSpec>,
    /// What the kernel reads ahead at most on the disk, bytes; `None`: [`USUAL_READAHEAD_BYTES`] on an emulated disk, and on a device what it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readahead_bytes: Option<u64>,
    /// Settings of the kernel; the others stay as they are.
    #[serde(default, skip_serializing_if = "KernelSettings::is_empty")]
    pub kernel: KernelSettings,
    /// Limits of the process under test.
    #[serde(default)]
    pub limits: LimitsSpec,
    /// Started for each run; `None` for embedded engines and for servers that run by themselves.
    #[serde(default)]
    pub server: Option<ServerSpec>,
    /// Name of the machine preset that limits and price come from.
    #[serde(default)]
    pub machine: Option<String>,
    /// Price of an hour of it, if the file has one.
    #[serde(default)]
    pub price: Option<Price>,
}

impl RigSpec {
    /// What the kernel reads ahead at most on the disk, as requested or by default, bytes; `None` where it is left as it is.
    pub fn readahead(&self) -> Option<u64> {
        let is_emulated = matches!(self.disk, Some(DiskChoice::Emulated { .. }));
        self.readahead_bytes.or(is_emulated.then_some(USUAL_READAHEAD_BYTES))
    }
}

/// From when on an emulated disk is as configured; before, it has no limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShapedFrom {
    /// The load phase: all that the engine does.
    #[default]
    Load,
    /// The warm-up of each point: data are stored on a disk without limits.
    WarmUp,
    /// The measured part of each point: caches are filled from a disk without limits as well.
    Measuring,
}

/// How late the emulator was with its answers: its own error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// Answers that were held until they were due.
    pub held: u64,
    /// Median of the lateness, in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile of the lateness, in nanoseconds.
    pub p99_ns: u64,
    /// Largest lateness of a request, in nanoseconds.
    pub max_ns: u64,
    /// Whether requests came to the emulator through io_uring, and not through `/dev/fuse`. Earlier versions did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rings: Option<bool>,
}

/// The trace of a run's requests to its emulated disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceReference {
    /// Where it is kept, on the machine that measured.
    pub path: std::path::PathBuf,
    /// Number of requests in the trace.
    pub requests: u64,
    /// Earlier requests that it no longer holds.
    pub overwritten: u64,
}

/// What an arm stood on in a run, as it was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RigRecord {
    /// The block device below the filesystem, such as `/dev/loop3`.
    pub device: Option<String>,
    /// The command that made the filesystem, with its version.
    pub mkfs: Option<String>,
    /// Version of the program that made it.
    pub mkfs_version: Option<String>,
    /// Mount options in force, as the kernel reports them.
    pub mount_options: Option<String>,
    /// Settings of the kernel that were set for the run, as its files had them then.
    #[serde(default, skip_serializing_if = "KernelSettings::is_empty")]
    pub kernel: KernelSettings,
    /// Version of the control groups that held the limits.
    pub control_groups: Option<u32>,
    /// Limits as they are in force.
    pub limits: LimitsSpec,
    /// How late the emulated disk answered requests.
    pub lateness: Option<Lateness>,
    /// Where the trace of the emulated disk is.
    pub trace: Option<TraceReference>,
    /// The server that was started.
    #[serde(default)]
    pub server: Option<ServerRecord>,
}

/// One figure of a disk, as requested and as measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationCheck {
    /// In words: `random reads of 4 KiB, 16 jobs`.
    pub what: String,
    /// Unit of both values: `IOPS`, `ns` or `bytes/s`.
    pub unit: String,
    /// Value that the disk's description states.
    #[serde(rename = "asked")]
    pub requested: f64,
    /// Value that fio measured on the disk.
    pub measured: f64,
    /// Largest difference that is allowed, in the unit.
    pub allowed: f64,
}

impl CalibrationCheck {
    /// Whether it is as requested.
    pub fn passed(&self) -> bool {
        (self.measured - self.requested).abs() <= self.allowed
    }
}

/// One fio job and what it said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FioResult {
    /// What the job measured, in words.
    pub label: String,
    /// The command line, for repetition.
    pub command: String,
    /// The JSON that fio printed, whole.
    pub json: serde_json::Value,
}

/// What fio found when it calibrated an emulated disk before an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// On which machine, by its name in the file; `None`: the one that the program ran on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// What must be equal for it to be the same machine, where that was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The disk. Its capacity, backing and trace do not matter here.
    pub disk: DiskSpec,
    /// When it was measured, in UTC, as RFC 3339 writes it.
    pub at: String,
    /// Version of fio, such as `fio-3.33`.
    pub fio_version: String,
    /// Every figure that was compared.
    pub checks: Vec<CalibrationCheck>,
    /// What fio printed for each of its jobs.
    pub results: Vec<FioResult>,
}

impl Calibration {
    /// Whether every figure is as requested.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(CalibrationCheck::passed)
    }

    /// Whether it holds for this disk: equal in all that bears on speed.
    pub fn is_of(&self, disk: &DiskSpec) -> bool {
        let speed = |spec: &DiskSpec| DiskSpec {
            preset: None,
            capacity_bytes: 0,
            trace_requests: 0,
            ..spec.clone()
        };
        speed(&self.disk) == speed(disk)
    }
}
