//! What a cause is: what held a point back, with the figures that show it.

use serde::{Deserialize, Serialize};

/// What held a point back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    Generator,
    /// Nothing: all that was requested was done.
    Offered,
    /// The disk's limit of requests per second.
    DiskIops,
    /// The disk's limit of bytes per second.
    DiskBandwidth,
    /// The disk serves only this many requests at once.
    DiskQueueDepth,
    /// The CPU limit of what is under test.
    CpuLimit,
    /// The processors of the machine, which what is under test keeps busy.
    Cpu,
    /// The processors of the machine, which other programs keep busy.
    Others,
    /// The engine's cache has no room, so that operations must evict.
    EngineCache,
    /// A link between load and server carries as much as it can.
    NetworkBandwidth,
    /// The network between load and server loses packets, which are sent again.
    NetworkLoss,
    /// Operations spend most of their time on the way between load and server.
    NetworkLatency,
    /// The server holds writes back so that other members of its replica set can follow.
    FlowControl,
    /// The server lets only this many operations into its storage engine at once.
    ServerTickets,
    /// Checkpoints take the disk or the engine.
    Checkpoint,
    /// Operations wait for the journal.
    Journal,
    /// Sessions wait for a disk that has room for more of them.
    DiskLatency,
    /// A device without a known limit that is always busy.
    DiskBusy,
    /// Data comes from the page cache at the cost of copying it.
    PageCache,
    /// Sessions wait for each other: there is room on processors and disk.
    Contention,
    Unknown,
}

impl CauseKind {
    /// As it stands in a sentence: `disk IOPS`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Generator => "load generator",
            Self::Offered => "load as requested",
            Self::DiskIops => "disk IOPS",
            Self::DiskBandwidth => "disk bandwidth",
            Self::DiskQueueDepth => "disk queue depth",
            Self::CpuLimit => "CPU limit",
            Self::Cpu => "CPU",
            Self::Others => "other programs",
            Self::EngineCache => "engine cache",
            Self::NetworkBandwidth => "network bandwidth",
            Self::NetworkLoss => "packet loss",
            Self::NetworkLatency => "network round trip",
            Self::FlowControl => "flow control",
            Self::ServerTickets => "server tickets",
            Self::Checkpoint => "checkpoints",
            Self::Journal => "journal",
            Self::DiskLatency => "disk latency",
            Self::DiskBusy => "disk",
            Self::PageCache => "page cache",
            Self::Contention => "contention",
            Self::Unknown => "unknown",
        }
    }
}

/// What a limit of a disk counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapKind {
    ReadIops,
    WriteIops,
    /// Reads and writes per second.
    Iops,
    ReadBandwidth,
    WriteBandwidth,
    Bandwidth,
}

impl CapKind {
    /// Whether it counts requests, not bytes.
    pub fn is_iops(self) -> bool {
        matches!(self, Self::ReadIops | Self::WriteIops | Self::Iops)
    }

    /// What it counts, as it stands in a sentence: `device reads`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadIops => "device reads",
            Self::WriteIops => "device writes",
            Self::Iops => "device requests",
            Self::ReadBandwidth => "bytes read",
            Self::WriteBandwidth => "bytes written",
            Self::Bandwidth => "bytes read and written",
        }
    }
}

/// The identity *throughput ≤ cap ÷ cost of an operation*, with measured figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IdentityCheck {
    /// Which limit of the disk.
    pub kind: CapKind,
    /// The limit: requests per second, or bytes per second.
    pub cap: f64,
    /// How much of the limit was used: requests per second, or bytes per second.
    pub used: f64,
    /// Cost of an operation: device requests, or bytes at the device.
    pub per_operation: f64,
    /// Operations per second that the limit allows.
    pub at_most: f64,
    pub measured: f64,
    pub ratio: f64,
    /// Whether it is the limit that allows fewest operations.
    pub binding: bool,
}

/// One rule of the table at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleResult {
    /// The cause that it looks for.
    pub kind: CauseKind,
    /// Whether it holds; `None` where a figure that it needs is not known.
    pub holds: Option<bool>,
    /// The figures, in a few words.
    pub figures: String,
}

/// What limited a point, and what else was examined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// The first rule of the table that holds.
    pub kind: CauseKind,
    /// In one sentence, without a full stop: `disk IOPS: 598 of 600 used, 0.117 device requests per operation, so at most 5,130 op/s; measured 5,088`.
    pub sentence: String,
    /// Every limit of the disk that is known, the binding one first.
    pub identities: Vec<IdentityCheck>,
    /// Every rule of the table, in its order.
    pub rules: Vec<RuleResult>,
}
