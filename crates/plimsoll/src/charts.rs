//! `plimsoll report --svg DIR`: the charts of a page as files.

use crate::written::Written;
use plimsoll_report::Report;
use plimsoll_report::page::charts::charts;
use std::path::Path;

/// The list of what was written.
const LIST: &str = ".plimsoll-svg";

/// Writes every chart into the folder. Files that this command did not write are not replaced.
pub fn write(report: &Report<'_>, folder: &Path) -> anyhow::Result<()> {
    let mut written = Written::begin(folder, LIST)?;
    for chart in charts(report) {
        written.write(&format!("{}.svg", chart.name), chart.svg.as_bytes())?;
    }
    written.end()
}
