//! Results of other tools made into records: the text of YCSB and go-ycsb, logs of HdrHistogram, and the JSON of fio.
//!
//! Text comes in and an [`ExperimentRecord`](plimsoll_record::ExperimentRecord) goes out; no file is opened here. What an output does not say is
//! left open, never invented: where a tool printed percentiles and kept no histogram, the record holds a
//! [`Summary`](plimsoll_record::Summary) of those figures and no more. What is broken is either refused with its line, or kept as far as it goes
//! and marked as damaged, so that it is shown and not compared. Passwords in command lines, properties and addresses are taken out as
//! they are read.
//!
//! ```text
//! file ─► read ─► Measured      one output: a run of the tool at one load
//!                    │ join     files of one run together: the text and the logs that belong to it
//!                    ▼
//!         Arm {name, outputs} ─► record ─► ExperimentRecord ─► store, judge, report
//! ```
//!
//! Memory is bounded whatever the file: texts and logs are read line by line, documents up to a limit.
//!
//! ```
//! use plimsoll_import::{Arm, Frame, Options, read, record};
//!
//! let text = "\
//! Command line: -db site.ycsb.db.MongoDbClient -P workloads/workloadc -threads 8 -t
//! [OVERALL], RunTime(ms), 10000
//! [OVERALL], Throughput(ops/sec), 20000.0
//! [READ], Operations, 200000
//! [READ], AverageLatency(us), 396.5
//! [READ], 99thPercentileLatency(us), 1203
//! [READ], Return=OK, 200000
//! ";
//! let outputs = read("old.txt", text.as_bytes(), &Options::default())?;
//! assert_eq!(outputs[0].sessions, Some(8));
//!
//! let arm = Arm { name: "old".into(), outputs };
//! let record = record(&Frame { name: "last year".into(), ..Frame::default() }, vec![arm])?;
//! let end = record.runs[0].points[0].end.as_ref().expect("the output is whole");
//! assert_eq!(end.measured_ns, 10_000_000_000);
//! # Ok::<(), plimsoll_import::ImportError>(())
//! ```

mod assemble;
mod clients;
mod command_line;
mod detect;
mod error;
mod fio;
mod format;
mod go_ycsb;
mod hdr;
#[cfg(test)]
mod it;
mod join;
mod lines;
mod measured;
mod text;
mod ycsb;
mod ycsb_cpp;

pub use assemble::{Arm, Frame, record};
pub use clients::{Logged, Span, are_shared, fingerprint, grouped};
pub use error::{ImportError, Problem};
pub use format::{Format, Options, Unit};
pub use join::join;
pub use measured::Measured;
pub use plimsoll_record::redact::redact_command;

use error::Problem as P;
use lines::Lines;
use std::io::BufRead;

/// Reads one file: every output that it holds, in order, at least one.
///
/// `name` is how the file is called in messages and in the record.
pub fn read<R: BufRead>(
    name: &str,
    input: R,
    options: &Options,
) -> Result<Vec<Measured>, ImportError> {
    let shown = redact_command(name);
    let mut lines = Lines::new(&shown, input)?;
    if lines.is_empty() {
        return Err(P::Empty.of(&shown));
    }
    let head = lines.head();
    let format = match options.format {
        Some(format) => format,
        None => detect::of_text(&head).ok_or_else(|| detect::unknown(&head).of(&shown))?,
    };
    let mut outputs = match format {
        Format::Ycsb if detect::is_ycsb_json(&head) => ycsb::read_json(&mut lines)?,
        Format::Ycsb => ycsb::read(&mut lines)?,
        Format::YcsbCpp => ycsb_cpp::read(&mut lines)?,
        Format::GoYcsb => go_ycsb::read(&mut lines)?,
        Format::HdrLog => hdr::read(&mut lines, options.unit, options.operation)?,
        Format::Fio => fio::read(&mut lines)?,
    };
    let file = lines.file();
    for output in &mut outputs {
        output.files = vec![file.clone()];
    }
    Ok(outputs)
}
