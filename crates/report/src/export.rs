//! Files for other programs: tables of points, slices, figures, trials and hosts as CSV and Parquet, JSON of record and analysis, what fio said, logs for the HdrHistogram
//! tools, PerfKit's samples, Prometheus' text, a trace for Perfetto; JUnit's XML for servers that build and test; and
//! Markdown for pull requests.
//!
//! Every number is in the unit that its column or name says, unrounded, and without separators. Names stand as they are in the experiment file.
//!
//! ```text
//! Report ─┬─ files  ─► ExportFile ─► write
//!         ├─ Table::of ─► write_table          for a data set of many experiments
//!         ├─ junit::render, markdown::render
//! Slice ──┴─ prometheus::now
//! ```

mod controls;
mod experiments;
mod figures;
mod hdr;
mod hosts;
pub mod junit;
mod levels;
pub mod markdown;
mod perfetto;
mod perfkit;
mod points;
pub mod prometheus;
mod slices;
mod trials;
mod verdicts;

pub use crate::files::{ExportFile, Form, Table, files};

use crate::Report;
use crate::files::Content;
use crate::table::{Column, Rows, write_csv, write_parquet};
use std::io::{self, Write};

/// Writes a file of an export.
pub fn write(file: &ExportFile<'_>, out: &mut dyn Write) -> io::Result<()> {
    match file.content {
        Content::Csv(table, report) => {
            write_csv(&columns(table, &report), |take| rows(table, &report, take), out)?;
        }
        Content::Parquet(table, report) => write_table(table, &report, out)?,
        Content::Record(report) => {
            serde_json::to_writer(&mut *out, report.record).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        Content::Analysis(report) => {
            serde_json::to_writer_pretty(&mut *out, report.analysis).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        Content::Fio(result) => {
            serde_json::to_writer_pretty(&mut *out, &result.json).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        Content::HdrLog(run) => hdr::write(run, out)?,
        Content::Perfkit(report) => perfkit::write(&report, out)?,
        Content::Prometheus(report) => prometheus::write(&report, out)?,
        Content::Perfetto(report) => perfetto::write(&report, out)?,
    }
    out.flush()
}

/// Writes a table as Parquet.
pub fn write_table(table: Table, report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let columns = columns(table, report);
    write_parquet(&columns, |take| rows(table, report, take), out)
}

/// The columns of a table, and behind those of arms their levels.
fn columns(table: Table, report: &Report<'_>) -> Vec<Column> {
    let mut columns = own_columns(table, report);
    if arm_of(&columns).is_some() {
        columns.extend(levels::columns(report.analysis));
    }
    columns
}

fn own_columns(table: Table, report: &Report<'_>) -> Vec<Column> {
    match table {
        Table::Points => points::columns(),
        Table::Slices => slices::columns(report.record),
        Table::Figures => figures::columns(),
        Table::Trials => trials::columns(),
        Table::Hosts => hosts::columns(),
        Table::Controls => controls::columns(),
        Table::Experiments => experiments::columns(),
        Table::Verdicts => verdicts::columns(),
    }
}

fn arm_of(columns: &[Column]) -> Option<usize> {
    columns.iter().position(|column| column.name == "arm")
}

fn rows(table: Table, report: &Report<'_>, take: &mut Rows<'_>) -> io::Result<()> {
    let arm = arm_of(&own_columns(table, report));
    let take = &mut levels::behind(report.analysis, arm, take);
    match table {
        Table::Points => points::write(report, take),
        Table::Slices => slices::write(report.record, take),
        Table::Figures => figures::write(report.analysis, take),
        Table::Trials => trials::write(report.analysis, take),
        Table::Hosts => hosts::write(report.analysis, take),
        Table::Controls => controls::write(report.analysis, take),
        Table::Experiments => experiments::write(report, take),
        Table::Verdicts => verdicts::write(report.analysis, take),
    }
}

#[cfg(test)]
mod tests;
