//! What was measured: histograms, slices, points, runs and whole experiment records, and their versioned format.
//!
//! A worker process fills a [`Slice`] every second and sends it to the runner, the runner writes it to the store, and everything
//! that is later said about an experiment is computed from these types alone. They know nothing of engines, files or statistics.
//!
//! ```text
//! ExperimentRecord ─ plan (as JSON), machine, program
//!   └─ RunRecord          one arm in one block
//!        ├─ load           the load phase, a PointRecord like any other
//!        └─ PointRecord    one load setting
//!             └─ Slice     one second: OperationSlice per (operation, status), worker CPU, telemetry
//!                  └─ Latencies   HDR histograms of service, response and wait time
//! ```
//!
//! A point that another program measured says so at its end ([`Imported`]). Where that program kept no histograms, a [`Summary`] of a few
//! figures stands in the place of each.
//!
//! ```
//! use plimsoll_record::Histogram;
//! let mut histogram = Histogram::new();
//! for latency_ns in [900, 1_000, 250_000] {
//!     histogram.record(latency_ns);
//! }
//! assert_eq!(histogram.count(), 3);
//! let text = serde_json::to_string(&histogram)?;
//! let again: Histogram = serde_json::from_str(&text)?;
//! assert_eq!(again, histogram);
//! # Ok::<(), serde_json::Error>(())
//! ```

#![deny(missing_docs)]

mod application;
mod clock_offset;
mod event;
mod experiment_record;
pub mod figures;
pub mod files;
mod filesystem_options;
mod histogram;
mod host_point;
mod imported;
mod kernel;
mod machine;
mod network_point;
mod own_operation;
mod packed;
mod probe_task;
pub mod quantities;
pub mod redact;
mod rig;
mod run;
mod slice;
mod summary;
mod units;
mod warning;
#[cfg(test)]
mod warnings_page;

pub use application::{ApplicationState, CollectionState, IndexState, OperationPlan};
pub use clock_offset::{ClockOffset, RoundTrip};
pub use event::{
    Acknowledged, Act, CutLoss, DiskFault, Disturbance, EventRecord, EventSpec, PowerCut,
    PowerCutSpec, Role, SHORTEST_GAP_NS,
};
pub use experiment_record::{
    ExperimentRecord, ExperimentState, FormatError, Program, RECORD_VERSION, is_plain,
};
pub use histogram::Histogram;
pub use host_point::HostPoint;
pub use imported::{Imported, ImportedFile, Stated};
pub use kernel::{CENTISECOND_NS, KernelSetting, KernelSettings, MOST_CENTISECONDS, kernel_line};
pub use machine::{
    FOREIGN_CAUTION, FOREIGN_INVALID, FOREIGN_NOTE, ForeignCpu, ForeignProgram, Machine, Storage,
};
pub use network_point::{NetworkPoint, RoundTrips};
pub use own_operation::{OwnOperation, StatementKind, UnknownOperation};
pub use packed::{BUCKETS, HIGHEST_LATENCY_NS, bucket_of};
pub use probe_task::{ProbeTask, ProbeTime};
pub use rig::{
    Backing, Calibration, CalibrationCheck, DiskBurst, DiskChoice, DiskLatency, DiskRates,
    DiskSpec, FilesystemKind, FilesystemSpec, FioResult, Lateness, LimitsSpec, MOST_MEMBERS,
    MemberRecord, Price, RigRecord, RigSpec, RoleCommands, ServerRecord, ServerSpec, ShapedFrom,
    TraceReference, USUAL_READAHEAD_BYTES, latency_at,
};
pub use run::{
    EngineDescription, ErrorSample, Half, LONGEST_LAG_NS, LoadKind, NotedOperation, PointEnd,
    PointLabel, PointRecord, RunRecord, RunState, StatementTimes, SummedUp, WarmedCaches,
};
pub use slice::{
    Completed, Latencies, OpenLatencies, Operation, OperationSlice, Slice, Status, WorkerUse,
};
pub use summary::Summary;
pub use units::{add_units, each_unit, unit_percentiles_ns};
pub use warning::{Severity, Warning, WarningId};
