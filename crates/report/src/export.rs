//! Files for other programs: CSV of points, slices, figures and trials, JSON of record and analysis, what fio said, logs for the HdrHistogram tools.
//!
//! Every number is in the unit that its column names, unrounded, and without separators. Names stand as they are in the experiment file.

mod figures;
mod hdr;
mod points;
mod slices;
mod trials;

use crate::{Report, text};
use plimsoll_record::{FioResult, RunRecord, Slice};
use std::io::{self, Write};

/// One file of an export: its name and what is in it, not yet written.
#[derive(Clone, Debug)]
pub struct ExportFile<'a> {
    /// A plain file name, without a folder.
    pub name: String,
    /// What is in it, in a few words.
    pub about: &'static str,
    content: Content<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Content<'a> {
    Points(Report<'a>),
    Slices(Report<'a>),
    Figures(Report<'a>),
    Trials(Report<'a>),
    Record(Report<'a>),
    Analysis(Report<'a>),
    Fio(&'a FioResult),
    HdrLog(&'a RunRecord),
}

impl ExportFile<'_> {
    /// Writes the file.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.content {
            Content::Points(report) => points::write(&report, out)?,
            Content::Slices(report) => slices::write(report.record, out)?,
            Content::Figures(report) => figures::write(report.analysis, out)?,
            Content::Trials(report) => trials::write(report.analysis, out)?,
            Content::Record(report) => writeln!(out, "{}", report.record.to_json())?,
            Content::Analysis(report) => {
                serde_json::to_writer_pretty(&mut *out, report.analysis)
                    .map_err(io::Error::from)?;
                writeln!(out)?;
            }
            Content::Fio(result) => {
                serde_json::to_writer_pretty(&mut *out, &result.json).map_err(io::Error::from)?;
                writeln!(out)?;
            }
            Content::HdrLog(run) => hdr::write(run, out)?,
        }
        out.flush()
    }
}

/// Every file of a report: five tables and documents, the trials where lines were searched, what fio said in each of its jobs, and an HDR log for each run that has slices.
#[must_use]
pub fn files<'a>(report: &Report<'a>) -> Vec<ExportFile<'a>> {
    let file = |name: &str, about, content| ExportFile {
        name: name.into(),
        about,
        content,
    };
    let mut files = vec![
        file(
            "points.csv",
            "one row for each point of each run",
            Content::Points(*report),
        ),
        file(
            "slices.csv",
            "one row for each second, operation and status",
            Content::Slices(*report),
        ),
        file(
            "figures.csv",
            "one row for each point of each run with what was watched there",
            Content::Figures(*report),
        ),
        file(
            "record.json",
            "everything that was measured",
            Content::Record(*report),
        ),
        file(
            "analysis.json",
            "everything that follows from it",
            Content::Analysis(*report),
        ),
    ];
    if !report.analysis.lines.is_empty() {
        files.push(file(
            "trials.csv",
            "one row for each trial of each search for the plimsoll line",
            Content::Trials(*report),
        ));
    }
    let results = report
        .record
        .calibrations
        .iter()
        .flat_map(|calibration| &calibration.results);
    for (place, result) in results.enumerate() {
        let name = format!(
            "calibration-{}-{}.json",
            place + 1,
            text::file_stem(&result.label)
        );
        files.push(file(
            &name,
            "what fio said of an emulated disk",
            Content::Fio(result),
        ));
    }
    for run in &report.record.runs {
        if run
            .points
            .iter()
            .chain(&run.load)
            .any(|point| point.slices.iter().any(has_histogram))
        {
            let arm = report
                .analysis
                .arms
                .iter()
                .position(|arm| arm.name == run.arm);
            let name = hdr::file_name(run, arm);
            files.push(file(
                &name,
                "response times of each second for the HdrHistogram tools",
                Content::HdrLog(run),
            ));
        }
    }
    files
}

/// Whether a slice has anything for a log. One without operations has an empty place in it; imported ones may have figures without histograms.
fn has_histogram(slice: &Slice) -> bool {
    slice
        .operations
        .iter()
        .all(|part| part.latencies.service.summary().is_none())
}

#[cfg(test)]
mod tests;
