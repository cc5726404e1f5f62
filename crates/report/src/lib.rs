//! Terminal tables, the page, and exports: an [`Analysis`] and its record in, text out.
//!
//! Nothing here measures, judges, or opens a file. What is shown is what the judge found; what the judge does not know is left out, and
//! every place where something was left out to keep a picture legible says so. All strings of files and engines are foreign: they are
//! escaped for the page and robbed of control characters for the terminal.
//!
//! ```text
//! ExperimentRecord ─┐                ┌─ terminal::summary   tables, strip, small charts
//!                   ├─ Report ──────►├─ page::render        one HTML file, charts in SVG, whole without scripts
//!                   │                ├─ junit::render       thresholds for servers that build and test
//! Analysis ─────────┘                └─ export::files       CSV, Parquet, JSON, HDR logs, PerfKit's samples, Prometheus' text
//! RecordComparison ─────────────────────► compare::page; History ─► history::page
//! list::Listed, message::Message ───────► the pages around them that `plimsoll serve` has
//! progress::Moment ─────────────────────► the live line, or a line for each point in a pipe
//! ```
//!
//! ```
//! use plimsoll_report::progress::{Moment, Phase};
//! let moment = Moment {
//!     run: 3, runs: 12, block: 2, arm: "small cache", mix: "A", load_label: "8 threads", phase: Phase::Measure,
//!     second: 7.0, seconds: 20.0, rate: 203_456.0, p99_ns: Some(48_123.0), errors: 0, left_seconds: Some(130.0),
//! };
//! assert_eq!(
//!     moment.live(100, true),
//!     "[3/12] small cache · A · 8 threads · 7/20 s  203k op/s  p99 48.1 µs  2:10 left"
//! );
//! ```

mod chart;
mod figure;
mod rig;
mod select;
mod text;
mod words;

pub mod compare;
pub mod disk;
pub mod export;
pub mod history;
pub mod junit;
pub mod link;
pub mod list;
pub mod message;
pub mod page;
pub mod progress;
pub mod shell;
pub mod terminal;

#[cfg(test)]
#[path = "../tests/sample/mod.rs"]
mod sample;

pub use rig::describe_disk;

use plimsoll_judge::Analysis;
use plimsoll_record::ExperimentRecord;

/// What a report is made from.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// What was measured, and on what.
    pub record: &'a ExperimentRecord,
    /// What follows from it.
    pub analysis: &'a Analysis,
}
