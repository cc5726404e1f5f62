//! Files for other programs: CSV of points and of slices, JSON of record and analysis, logs for the HdrHistogram tools.
//!
//! Every number is in the unit that its column names, unrounded, and without separators. Names stand as they are in the experiment file.

mod hdr;
mod points;
mod slices;

use crate::Report;
use plimsoll_record::RunRecord;
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
    Record(Report<'a>),
    Analysis(Report<'a>),
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
            Content::Record(report) => writeln!(out, "{}", report.record.to_json())?,
            Content::Analysis(report) => {
                serde_json::to_writer_pretty(&mut *out, report.analysis)
                    .map_err(io::Error::from)?;
                writeln!(out)?;
            }
            Content::HdrLog(run) => hdr::write(run, out)?,
        }
        out.flush()
    }
}

/// Every file of a report: four tables and documents, and an HDR log for each run that has slices.
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
    for run in &report.record.runs {
        if run
            .points
            .iter()
            .chain(&run.load)
            .any(|point| !point.slices.is_empty())
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

#[cfg(test)]
mod tests;
