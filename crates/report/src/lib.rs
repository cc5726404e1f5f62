//! What the terminal, the page and the exports share: a [`Report`], the words for what is in it, and what of it comes first.
//!
//! Three crates read a report, and none of them needs another:
//!
//! ```text
//! ExperimentRecord ─┐             ┌─ terminal   tables, strip, small charts, the progress line
//!                   ├─ Report ───►├─ page       one HTML file, charts in SVG, complete without scripts
//! Analysis ─────────┘             └─ export     CSV, Parquet, JSON, HDR logs, PerfKit's samples, Prometheus' text, JUnit
//! ```
//!
//! Nothing here measures, judges, or opens a file. Reports show what the judge found. What the judge does not know is left out, and where a picture leaves something
//! out to stay legible, it says so. All strings of files and engines are foreign: the page escapes them, and [`text`] removes control characters.
//!
//! ```
//! use plimsoll_record::quantities::numbers::TERMINAL;
//! use plimsoll_report::words;
//! assert_eq!(words::line(Some(20_130.0), Some(20_480.0), TERMINAL), "20,130 to 20,480 op/s");
//! assert_eq!(words::counted(2, "block", TERMINAL), "2 blocks");
//! ```

pub mod arms;
pub mod axis;
pub mod disk;
pub mod export;
pub mod factors;
pub mod files;
pub mod history;
pub mod hosts;
pub mod page;
pub mod progress;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
mod section;
pub mod select;
pub mod table;
pub mod terminal;
pub mod text;
pub mod words;

use plimsoll_judge::Analysis;
use plimsoll_record::ExperimentRecord;

/// What a report is made from.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// What was measured, and on what.
    pub record: &'a ExperimentRecord,
    pub analysis: &'a Analysis,
}
