//! What can be wrong with the rig of an arm, as data.

use crate::document::{nearest_or_all, quoted};
use plimsoll_record::FilesystemKind;
use plimsoll_record::quantities::units;
use plimsoll_record::quantities::words::decimal_bytes;

/// One thing that is wrong with a disk, a filesystem, limits, a machine, a price or a working set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RigMistake {
    /// A disk or machine that no preset describes.
    #[error("there is no {what} {}", quoted(.name))]
    UnknownPreset {
        what: &'static str,
        name: String,
        presets: Vec<String>,
    },
    /// A disk under an engine that keeps nothing on one.
    #[error("the engine {engine} keeps no data on a disk")]
    DiskWithoutData { engine: &'static str },
    #[error("there is no disk to make a filesystem on")]
    FilesystemWithoutDisk,
    /// A device without `erase: true`.
    #[error(
        "everything on this device would be lost, and `erase: true` does not say that it may be"
    )]
    EraseMissing,
    #[error("an emulated disk holds nothing that could be lost")]
    EraseWithoutDevice,
    /// A device by a name that may change with the next boot.
    #[error("{} is no name that stays with a device", quoted(.path))]
    DeviceName { path: String },
    /// A figure of an emulated disk beside a device.
    #[error("`{key}` says nothing of a device, which is as fast as it is")]
    FigureOfDevice { key: String },
    /// A device where only an emulated disk is possible.
    #[error("a device cannot be described here")]
    DeviceNotHere,
    #[error("there is no disk that could be read ahead")]
    ReadaheadWithoutDisk,
    /// A capacity or a readahead that is not a multiple of a block.
    #[error("{size} is no multiple of 4096 bytes")]
    NotBlocks { size: String },
    /// A disk into which the data does not fit.
    #[error("the disk of {} is too small: the data of arm {} needs at least {}", units::size(*.capacity_bytes), quoted(.arm), decimal_bytes(*.needed_bytes as f64))]
    DiskBelowData {
        capacity_bytes: u64,
        arm: String,
        needed_bytes: u64,
    },
    /// A 99th percentile below the median.
    #[error("the 99th percentile, {}, is below the median, {}", units::duration(*.p99_ns), units::duration(*.median_ns))]
    PercentileBelowMedian { median_ns: u64, p99_ns: u64 },
    /// A table in which a higher percentile is shorter.
    #[error("p{upper} is shorter than p{lower}")]
    TableNotAscending { lower: f64, upper: f64 },
    /// A burst that is slower than the disk without.
    #[error("the burst of {} is slower than the disk without it, {}", units::rate(*.burst_iops), units::rate(*.iops))]
    BurstBelowDisk { burst_iops: f64, iops: f64 },
    /// Burst credits without a refill rate.
    #[error("nothing says how fast credits come in: the disk has no `iops`")]
    BurstWithoutRefill,
    #[error("{asked} {what} are requested, but this machine has {has}")]
    MoreThanMachine {
        what: &'static str,
        asked: String,
        has: String,
    },
    /// A processor that does not exist.
    #[error("there is no processor {number}")]
    NoProcessor { number: u64, cores: u32 },
    /// Two ways to say one thing.
    #[error("`memory` and `page_cache` both say how much memory there is")]
    MemoryAndPageCache,
    /// Less memory than the engine needs to start.
    #[error("{} of memory are too little for {}", units::size(*.memory_bytes), caches(*.members, *.cache_bytes))]
    MemoryBelowCache {
        memory_bytes: u64,
        /// Of the engine, in each member of a server.
        cache_bytes: u64,
        besides: u64,
        members: u32,
        needed_bytes: u64,
    },
    /// A currency that is not three letters.
    #[error("{} is no currency", quoted(.currency))]
    BadCurrency { currency: String },
    /// A date that is not a year, a month or a day.
    #[error("{} is no date", quoted(.date))]
    BadDate { date: String },
    /// A price with a part missing.
    #[error("the price has no `{key}`")]
    PriceWithout { key: &'static str },
    /// A server for an embedded engine.
    #[error("the engine {engine} runs in this program, without a server")]
    ServerOfEmbedded { engine: &'static str },
    /// A server to start and one that runs by itself.
    #[error("`uri` names a server that runs by itself, so there is none to start")]
    ServerBesideUri,
    /// A setting for a server that is started, beside the URI of another.
    #[error(
        "`{key}` is for a server that is started here, and `uri` names one that runs by itself"
    )]
    SettingOfManaged { key: String },
    /// A setting that a server does not take.
    #[error("the server {server} takes no `{key}`")]
    ServerWithout { server: String, key: String },
    /// Several members of a server that is one process.
    #[error("the server {server} is one process, so `{key}` cannot be had")]
    ServerOfOne { server: String, key: &'static str },
    /// Several members that are no set.
    #[error("{members} members without a replica set would know nothing of each other")]
    MembersWithoutSet { members: u32 },
    /// An argument that makes a server a member of a replica set that is never initiated.
    #[error("{} makes the server wait until it is told of its replica set", quoted(.argument))]
    SetByArgument { argument: String },
    /// A rig for a server that runs by itself.
    #[error(
        "`{key}` cannot be had for a server that runs by itself: it stands on what others gave it"
    )]
    NotOurServer { key: &'static str },
    /// Several runs on one collection of a server that runs by itself, of which the second would find the data of the first and refuse it.
    #[error(
        "{runs} runs would be made on the same collection of this server, and the second would refuse the documents of the first"
    )]
    RunsOnOneCollection { runs: u64 },
    /// `caches: cold` with an arm whose caches are not in reach.
    #[error("the caches of arm {} cannot be emptied: {why}", quoted(.arm))]
    CachesNotOurs { arm: String, why: &'static str },
    #[error(
        "`existing: use` measures documents that are there already, and the operations of `{mix}` would insert others beside them"
    )]
    InsertsIntoExisting { mix: String },
    #[error("`existing: use` with `upsert: true` would replace documents that are there already")]
    UpsertsExisting,
    /// An option of mkfs or mount that is not known to be harmless.
    #[error("{} is not an allowed {program} option for {}", quoted(.option), .kind.name())]
    FilesystemOption {
        kind: FilesystemKind,
        program: &'static str,
        option: String,
    },
    /// A working set for an engine without a cache.
    #[error("the engine {engine} has no cache that the data could be a share of")]
    WorkingSetWithoutCache { engine: &'static str },
    /// The size of a record on disk could not be measured.
    #[error("what a record takes on disk could not be measured: {reason}")]
    NotMeasured { reason: String },
    /// A working set of less than one record, or of too many.
    #[error("{share} of {} are {records} records", decimal_bytes(*.usable_bytes as f64))]
    WorkingSetOutOfRange {
        share: String,
        usable_bytes: u64,
        records: String,
    },
}

impl RigMistake {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownPreset { .. } => "unknown-preset",
            Self::DiskWithoutData { .. } => "disk-without-data",
            Self::FilesystemWithoutDisk => "filesystem-without-disk",
            Self::EraseMissing => "erase-missing",
            Self::EraseWithoutDevice => "erase-without-device",
            Self::DeviceName { .. } => "device-name",
            Self::FigureOfDevice { .. } => "figure-of-device",
            Self::DeviceNotHere => "device-not-here",
            Self::ReadaheadWithoutDisk => "readahead-without-disk",
            Self::NotBlocks { .. } => "not-blocks",
            Self::DiskBelowData { .. } => "disk-below-data",
            Self::PercentileBelowMedian { .. } => "percentile-below-median",
            Self::TableNotAscending { .. } => "table-not-ascending",
            Self::BurstBelowDisk { .. } => "burst-below-disk",
            Self::BurstWithoutRefill => "burst-without-refill",
            Self::MoreThanMachine { .. } => "more-than-machine",
            Self::NoProcessor { .. } => "no-processor",
            Self::MemoryAndPageCache => "memory-and-page-cache",
            Self::MemoryBelowCache { .. } => "memory-below-cache",
            Self::BadCurrency { .. } => "bad-currency",
            Self::BadDate { .. } => "bad-date",
            Self::PriceWithout { .. } => "price-without",
            Self::ServerOfEmbedded { .. } => "server-of-embedded",
            Self::ServerBesideUri => "server-beside-uri",
            Self::SettingOfManaged { .. } => "setting-of-managed",
            Self::ServerWithout { .. } => "server-without",
            Self::ServerOfOne { .. } => "server-of-one",
            Self::MembersWithoutSet { .. } => "members-without-set",
            Self::SetByArgument { .. } => "set-by-argument",
            Self::NotOurServer { .. } => "not-our-server",
            Self::RunsOnOneCollection { .. } => "runs-on-one-collection",
            Self::CachesNotOurs { .. } => "caches-not-ours",
            Self::InsertsIntoExisting { .. } => "inserts-into-existing",
            Self::UpsertsExisting => "upserts-existing",
            Self::FilesystemOption { .. } => "filesystem-option",
            Self::WorkingSetWithoutCache { .. } => "working-set-without-cache",
            Self::NotMeasured { .. } => "not-measured",
            Self::WorkingSetOutOfRange { .. } => "working-set-out-of-range",
        }
    }

    /// What to do about it.
    pub(crate) fn help(&self) -> Option<String> {
        let text = match self {
            Self::UnknownPreset { name, presets, .. } => {
                nearest_or_all(name, presets, "the presets are")
            }
            Self::DiskWithoutData { .. } => "remove the disk, or name another engine".into(),
            Self::FilesystemWithoutDisk => {
                "name a disk, for example `disk: gp3`; a plain directory has the filesystem that it lies on".into()
            }
            Self::EraseMissing => "write `erase: true` only when you are sure of the device".into(),
            Self::EraseWithoutDevice => "remove `erase`".into(),
            Self::DeviceName { .. } => {
                "use a name under /dev/disk/by-id or another /dev/disk/by-*: `ls -l /dev/disk/by-id` shows them".into()
            }
            Self::FigureOfDevice { .. } => "remove it, or describe an emulated disk".into(),
            Self::DeviceNotHere => "give the name of a preset, or figures such as {iops: 600, latency: 7ms}".into(),
            Self::ReadaheadWithoutDisk => {
                "name a disk, for example `disk: gp3`; what a plain directory lies on is left as it is".into()
            }
            Self::NotBlocks { .. } => "write it in KiB, MiB or GiB".into(),
            Self::DiskBelowData { .. } => {
                "leave `capacity` away for one that suffices, or store less".into()
            }
            Self::PercentileBelowMedian { .. } => "write the shorter one as `median`".into(),
            Self::TableNotAscending { .. } => "a higher percentile takes at least as long".into(),
            Self::BurstBelowDisk { .. } => "remove the burst, or raise its `iops`".into(),
            Self::BurstWithoutRefill => "write `iops` for the disk, or `refill` for the burst".into(),
            Self::MoreThanMachine { .. } => {
                "say what this machine can give, for example `limits: {memory: 1GiB, cpus: 1}`".into()
            }
            Self::NoProcessor { cores: 1, .. } => "this machine has processor 0 alone".into(),
            Self::NoProcessor { cores, .. } => {
                format!("this machine has the processors 0 to {}", cores - 1)
            }
            Self::MemoryAndPageCache => "keep one: `memory` is for everything together, `page_cache` for what is left beside the process".into(),
            Self::MemoryBelowCache {
                besides,
                members,
                needed_bytes,
                ..
            } => format!(
                "{} its cache and {} besides: at least {}{}, and what is more is page cache",
                if *members == 1 { "the engine needs" } else { "each member needs" },
                units::size(*besides),
                units::size(*needed_bytes),
                if *members == 1 { "" } else { " together" }
            ),
            Self::BadCurrency { .. } => "write its three letters, such as USD or EUR".into(),
            Self::BadDate { .. } => "write for example 2014-09 or 2014-09-30".into(),
            Self::PriceWithout { .. } => {
                "write for example `price: {per_hour: 0.07, currency: USD}`".into()
            }
            Self::ServerOfEmbedded { .. } => {
                "remove `server`, or name an engine that is a server, such as mongodb".into()
            }
            Self::ServerBesideUri => "remove `server`, or remove `uri`".into(),
            Self::SettingOfManaged { .. } => {
                "remove it: the server has its own; or remove `uri`, so that one is started".into()
            }
            Self::ServerWithout { .. } => "remove it, or name another server".into(),
            Self::ServerOfOne { .. } => "remove it, or name another server, such as mongod".into(),
            Self::MembersWithoutSet { .. } => "remove `replica_set`, or write `members: 1`".into(),
            Self::SetByArgument { .. } => {
                "remove it, and write `server: {members: 3}`, or `server: {replica_set: true}` for a set of one: plimsoll then initiates the set".into()
            }
            Self::NotOurServer { .. } => {
                "remove it; or remove `uri`, so that a server is started on what the arm says".into()
            }
            Self::InsertsIntoExisting { .. } => {
                "choose operations that insert nothing; or write `insert_into_existing: true` beside it, if documents of this program may stay there".into()
            }
            Self::UpsertsExisting => "remove `upsert`".into(),
            Self::CachesNotOurs { .. } => {
                "leave `caches` out, or measure a single server that plimsoll starts".into()
            }
            Self::RunsOnOneCollection { .. } => {
                "write `existing: drop`, which drops before each run what this program loaded, or `existing: use` to measure on what is there".into()
            }
            Self::FilesystemOption { kind, program, .. } => {
                let allowed = if *program == "mkfs" {
                    kind.mkfs_allows().join(", ")
                } else {
                    kind.mount_allows().join(", ")
                };
                format!("mkfs and mount run as root, so options that name a path or a device are refused; allowed: {allowed}")
            }
            Self::WorkingSetWithoutCache { .. } => "write `records` or `size` instead".into(),
            Self::NotMeasured { .. } => "write `records` or `size` instead".into(),
            Self::WorkingSetOutOfRange { .. } => "choose another share, or another cache".into(),
        };
        Some(text)
    }
}

/// The caches of a server, in words.
fn caches(members: u32, cache_bytes: u64) -> String {
    let size = units::size(cache_bytes);
    match members {
        1 => format!("a cache of {size}"),
        _ => format!("{members} members with a cache of {size} each"),
    }
}
