//! Files for other programs: tables of points, slices, figures and trials as CSV and Parquet, JSON of record and analysis, what fio said, logs for the HdrHistogram
//! tools, PerfKit's samples, Prometheus' text.
//!
//! Every number is in the unit that its column or name says, unrounded, and without separators. Names stand as they are in the experiment file.

mod figures;
mod form;
mod hdr;
mod perfkit;
mod points;
pub mod prometheus;
mod slices;
mod trials;

pub use form::Form;

use crate::{Report, text};
use plimsoll_record::{FioResult, RunRecord, Slice};
use plimsoll_table::{Column, Rows, write_csv, write_parquet};
use std::io::{self, Write};

/// One file of an export: its name and what is in it, not yet written.
#[derive(Clone, Debug)]
pub struct ExportFile<'a> {
    /// A plain file name, without a folder.
    pub name: String,
    /// What is in it, in a few words.
    pub about: &'static str,
    /// Who reads it.
    pub form: Form,
    content: Content<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Content<'a> {
    Csv(Table, Report<'a>),
    Parquet(Table, Report<'a>),
    Record(Report<'a>),
    Analysis(Report<'a>),
    Fio(&'a FioResult),
    HdrLog(&'a RunRecord),
    Perfkit(Report<'a>),
    Prometheus(Report<'a>),
}

/// What is written as rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    Points,
    Slices,
    Figures,
    Trials,
}

impl Table {
    const ALL: [Self; 4] = [Self::Points, Self::Slices, Self::Figures, Self::Trials];

    fn name(self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::Slices => "slices",
            Self::Figures => "figures",
            Self::Trials => "trials",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Points => "one row for each point of each run",
            Self::Slices => "one row for each second, operation and status",
            Self::Figures => "one row for each point of each run with what was watched there",
            Self::Trials => "one row for each trial of each search for the plimsoll line",
        }
    }

    fn columns(self, report: &Report<'_>) -> Vec<Column> {
        match self {
            Self::Points => points::columns(),
            Self::Slices => slices::columns(report.record),
            Self::Figures => figures::columns(),
            Self::Trials => trials::columns(),
        }
    }

    fn rows(self, report: &Report<'_>, take: &mut Rows<'_>) -> io::Result<()> {
        match self {
            Self::Points => points::write(report, take),
            Self::Slices => slices::write(report.record, take),
            Self::Figures => figures::write(report.analysis, take),
            Self::Trials => trials::write(report.analysis, take),
        }
    }
}

impl ExportFile<'_> {
    /// Writes the file.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.content {
            Content::Csv(table, report) => {
                write_csv(
                    &table.columns(&report),
                    |take| table.rows(&report, take),
                    out,
                )?;
            }
            Content::Parquet(table, report) => {
                write_parquet(
                    &table.columns(&report),
                    |take| table.rows(&report, take),
                    out,
                )?;
            }
            Content::Record(report) => {
                serde_json::to_writer(&mut *out, report.record).map_err(io::Error::from)?;
                writeln!(out)?;
            }
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
            Content::Perfkit(report) => perfkit::write(&report, out)?,
            Content::Prometheus(report) => prometheus::write(&report, out)?,
        }
        out.flush()
    }
}

/// Every file of a report: tables and documents, the trials where lines were searched, what fio said in each of its jobs, and an HDR log for each run that has
/// slices.
#[must_use]
pub fn files<'a>(report: &Report<'a>) -> Vec<ExportFile<'a>> {
    let mut files = Vec::new();
    let mut add = |name: String, about, form, content| {
        files.push(ExportFile {
            name,
            about,
            form,
            content,
        });
    };
    for table in Table::ALL {
        if table == Table::Trials && report.analysis.lines.is_empty() {
            continue;
        }
        let (name, about) = (table.name(), table.about());
        let csv = Content::Csv(table, *report);
        add(format!("{name}.csv"), about, Form::Csv, csv);
        let parquet = Content::Parquet(table, *report);
        add(format!("{name}.parquet"), about, Form::Parquet, parquet);
    }
    for (name, about, form, content) in [
        (
            "record.json",
            "everything that was measured",
            Form::Json,
            Content::Record(*report),
        ),
        (
            "analysis.json",
            "everything that follows from it",
            Form::Json,
            Content::Analysis(*report),
        ),
        (
            "perfkit.json",
            "a sample of PerfKit Benchmarker for each figure of each valid run",
            Form::Perfkit,
            Content::Perfkit(*report),
        ),
        (
            "metrics.prom",
            "the figures of each run in Prometheus' text form",
            Form::Prometheus,
            Content::Prometheus(*report),
        ),
    ] {
        add(name.into(), about, form, content);
    }
    let results = report
        .record
        .calibrations
        .iter()
        .flat_map(|calibration| &calibration.results);
    for (place, result) in results.enumerate() {
        let stem = text::file_stem(&result.label);
        add(
            format!("calibration-{}-{stem}.json", place + 1),
            "what fio said of an emulated disk",
            Form::Fio,
            Content::Fio(result),
        );
    }
    for run in report.record.runs.iter().filter(|run| has_log(run)) {
        let mut arms = report.analysis.arms.iter();
        let arm = arms.position(|arm| arm.name == run.arm);
        add(
            hdr::file_name(run, arm),
            "response times of each second for the HdrHistogram tools",
            Form::Hdr,
            Content::HdrLog(run),
        );
    }
    files
}

/// Whether a run has anything for a log.
fn has_log(run: &RunRecord) -> bool {
    let mut points = run.points.iter().chain(&run.load);
    points.any(|point| point.slices.iter().any(has_histogram))
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
