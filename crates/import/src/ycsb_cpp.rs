//! Text output of YCSB-cpp, a C++ port of YCSB: cumulative status lines, then the totals of a load or a run.

use crate::error::{ImportError, Problem};
use crate::lines::Lines;
use crate::measured::{self, Measured};
use crate::text::{self, need_number};
use crate::{Format, command_line};
use plimsoll_record::{
    Completed, Histogram, Latencies, Operation, OperationSlice, Slice, Stated, Status, Summary,
};
use std::io::BufRead;

/// The most status lines of one run.
const MOST: usize = 100_000;

struct Moment {
    second: u64,
    operations: u64,
    parts: Vec<(Operation, Status, Summary)>,
}

/// A load or a run.
#[derive(Default)]
struct Section {
    measured: Measured,
    moments: Vec<Moment>,
    seconds: Option<f64>,
    operations: Option<f64>,
    rate: Option<f64>,
}

/// Relative tolerance between the printed throughput (six digits) and operations ÷ runtime.
const ROUNDED: f64 = 1e-4;

/// Whether only YCSB-cpp prints such a line.
pub(crate) fn is_of_it(line: &str) -> bool {
    let has_total = ["Load ", "Run "].iter().any(|phase| {
        let total = line.strip_prefix(phase);
        total.is_some_and(|total| total.starts_with("throughput(ops/sec): "))
    });
    has_total
        || line.contains(" operations; [")
            && line.contains("Count=")
            && line.contains(" Max=")
            && !line.contains(", Max=")
}

pub(crate) fn read<R: BufRead>(lines: &mut Lines<R>) -> Result<Vec<Measured>, ImportError> {
    let file = lines.name().to_owned();
    let mut sections = vec![Section::default()];
    while let Some(text) = lines.next(Format::YcsbCpp)? {
        let text = text.trim().to_owned();
        let number = lines.number();
        let last = sections.last_mut().expect("there is always one");
        if let Some(moment) = moment(&text) {
            let before = last.moments.last();
            let begins_anew = before.is_some_and(|before| moment.operations < before.operations);
            if begins_anew || last.seconds.is_some() {
                measured::check_outputs(sections.len(), &file, number)?;
                sections.push(Section::default());
            }
            let last = sections.last_mut().expect("there is always one");
            if last.moments.len() == MOST {
                let (what, most) = ("status lines", MOST);
                return Err(Problem::TooMany { what, most }.at(&file, number));
            }
            last.moments.push(moment);
        } else if let Some((what, value)) = text.split_once(": ") {
            let (phase, what) = what.split_once(' ').unwrap_or(("", what));
            if !matches!(phase, "Load" | "Run") {
                continue;
            }
            let value = |name: &str| need_number(name, value, &file, number);
            match what {
                "runtime(sec)" => {
                    if last.seconds.is_some() {
                        measured::check_outputs(sections.len(), &file, number)?;
                        sections.push(Section::default());
                    }
                    let last = sections.last_mut().expect("there is always one");
                    last.seconds = Some(value("the runtime")?);
                    last.measured.workload = (phase == "Load").then(|| "load".to_owned());
                }
                "throughput(ops/sec)" => last.rate = Some(value("the throughput")?),
                "operations(ops)" => last.operations = Some(value("the number of operations")?),
                _ => {}
            }
        } else if text.starts_with("Command line:") || text.contains(" -db ") {
            command_line::read(&text, &mut last.measured);
        }
    }
    let all: Vec<Measured> = sections.into_iter().filter_map(Section::finish).collect();
    if all.is_empty() {
        let expected = "there is neither a line such as `Run runtime(sec): 10.0` nor a status line; import what it printed up to the end of a run";
        let format = Format::YcsbCpp;
        return Err(Problem::NoResult { format, expected }.of(&file));
    }
    Ok(all)
}

/// `2024-01-28 19:34:42 10 sec: 1000 operations; [READ: Count=528 Max=26.86 Min=0.46 Avg=5.41 90=9.92 …] […]`, times in microseconds.
fn moment(text: &str) -> Option<Moment> {
    let (before, rest) = text.split_once(" sec: ")?;
    let (operations, rest) = rest.split_once(" operations;")?;
    let mut parts = Vec::new();
    for piece in rest.split('[').skip(1) {
        let (name, figures) = piece.split(']').next()?.split_once(':')?;
        let mut summary = Summary::default();
        for figure in figures.split_whitespace() {
            let (label, value) = figure.split_once('=')?;
            text::figure(&mut summary, label, text::number(value)?);
        }
        summary.percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((operation, status)) = text::operation(name.trim()) {
            parts.push((operation, status, summary));
        }
    }
    Some(Moment {
        second: before.rsplit(' ').next()?.parse().ok()?,
        operations: operations.trim().parse().ok()?,
        parts,
    })
}

impl Moment {
    /// Operations so far by outcome.
    fn completed(&self) -> Completed {
        let mut completed = Completed::default();
        for (operation, status, summary) in &self.parts {
            let is_unit = !matches!(operation, Operation::ReadModifyWrite | Operation::Verify);
            match status {
                Status::Error if is_unit => {
                    completed.error = completed.error.saturating_add(summary.count)
                }
                Status::NotFound if is_unit => {
                    completed.not_found = completed.not_found.saturating_add(summary.count)
                }
                _ => {}
            }
        }
        let others = completed.error.saturating_add(completed.not_found);
        completed.ok = self.operations.saturating_sub(others);
        completed
    }

    /// Operations since `before`. Latencies are cumulative, so they are known only if nothing was counted before.
    fn since(&self, before: Option<&Self>) -> Vec<OperationSlice> {
        let mut operations = Vec::new();
        for (operation, status, summary) in &self.parts {
            let same =
                |part: &&(Operation, Status, Summary)| (part.0, part.1) == (*operation, *status);
            let counted = before.and_then(|before| before.parts.iter().find(same));
            let counted = counted.map_or(0, |(_, _, summary)| summary.count);
            let count = summary.count.saturating_sub(counted);
            let summary = match counted {
                0 => summary.clone(),
                _ => Summary { count, ..Summary::default() },
            };
            if count > 0 {
                operations.push(OperationSlice {
                    operation: *operation,
                    status: *status,
                    latencies: Latencies { service: Histogram::known(summary), open: None },
                });
            }
        }
        operations.sort_by_key(|part| (part.operation, part.status));
        operations
    }
}

impl Section {
    fn finish(self) -> Option<Measured> {
        let Self { mut measured, moments, seconds, operations, rate } = self;
        Format::YcsbCpp.tool().clone_into(&mut measured.tool);
        let mut before: Option<&Moment> = None;
        for moment in &moments {
            let end_ns = moment.second.saturating_mul(1_000_000_000);
            let (begin_ns, done) = before.map_or((0, Completed::default()), |before| {
                (before.second.saturating_mul(1_000_000_000), before.completed())
            });
            if end_ns <= begin_ns {
                continue;
            }
            let now = moment.completed();
            measured.slices.push(Slice {
                index: u32::try_from(measured.slices.len()).unwrap_or(u32::MAX),
                start_ns: begin_ns,
                length_ns: end_ns - begin_ns,
                completed: Completed {
                    ok: now.ok.saturating_sub(done.ok),
                    not_found: now.not_found.saturating_sub(done.not_found),
                    error: now.error.saturating_sub(done.error),
                },
                operations: moment.since(before),
                ..Slice::default()
            });
            before = Some(moment);
        }
        let last = moments.last();
        measured.measured_ns = match seconds {
            Some(seconds) => text::nanos(seconds, 1e9),
            None => last?.second.saturating_mul(1_000_000_000),
        };
        let fits = |rate: f64| Some((operations? / seconds? / rate - 1.0).abs() <= ROUNDED);
        if rate.and_then(fits) != Some(true) {
            measured.damage.push(
                "the totals at its end are missing or contradict each other: the output was cut off, or the run was interrupted".into(),
            );
        }
        let operations = operations.map(|operations| operations as u64);
        if let Some(operations) = operations {
            let mut completed = last.map(Moment::completed).unwrap_or_default();
            // The total includes failed operations.
            let others = completed.error.saturating_add(completed.not_found);
            completed.ok = operations.saturating_sub(others);
            measured.stated = Some(Stated {
                completed,
                operations: last.map(|last| last.since(None)).unwrap_or_default(),
                all: None,
            });
        }
        let is_something = measured.stated.is_some() || !measured.slices.is_empty();
        (is_something && measured.measured_ns > 0).then_some(measured)
    }
}

#[cfg(test)]
mod tests;
