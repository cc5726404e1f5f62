//! `plimsoll bundle`: one file with a result and all that belongs to it.

use crate::arguments;
use crate::exit::Exit;
use crate::read::found;
use crate::run::this_program;
use crate::screen::print;
use crate::show::{Drawn, drawn, file_stem};
use anyhow::Context;
use plimsoll_judge::{analyse, summed_up};
use plimsoll_report::Report;
use plimsoll_store::bundle::EXTENSION;
use std::fs::OpenOptions;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

/// `plimsoll bundle`: never overwrites a file.
pub fn bundle(arguments: &arguments::Bundle, store: Option<&Path>) -> anyhow::Result<Exit> {
    let mut found = found(&arguments.experiment, store)?;
    if arguments.small {
        found.record = summed_up(&found.record)?;
    }
    let mut analysis = analyse(&found.record)?;
    let report = Report { record: &found.record, analysis: &analysis };
    let drawn = drawn(&report, &found.maps);
    if arguments.small {
        // The record has every second, from which the analysis can be made again.
        analysis.series.clear();
    }
    let report = Report { record: &found.record, analysis: &analysis };
    let path = match &arguments.to {
        Some(path) => path.clone(),
        None => PathBuf::from(format!("{}.{EXTENSION}", file_stem(report.record))),
    };
    let bytes = bundled(&report, &drawn)?;
    let opened = OpenOptions::new().write(true).create_new(true).open(&path);
    let mut file = opened.with_context(|| {
        format!(
            "cannot make {}; existing files are never overwritten, name another with --to",
            path.display()
        )
    })?;
    let written = file.write_all(&bytes);
    if written.is_err() {
        let _ = std::fs::remove_file(&path);
    }
    written.with_context(|| format!("cannot write {}", path.display()))?;
    print(format_args!("{}\n", path.display()))?;
    Ok(Exit::Good)
}

/// The bundle of a result with this page.
pub fn bundled(report: &Report<'_>, drawn: &Drawn) -> anyhow::Result<Vec<u8>> {
    let analysis = serde_json::to_string_pretty(report.analysis)?;
    let maps = match drawn.maps.is_empty() {
        true => None,
        false => Some(serde_json::to_string(&drawn.maps)?),
    };
    let mut bytes = Cursor::new(Vec::new());
    plimsoll_store::bundle::write(
        report.record,
        &analysis,
        &drawn.page,
        maps.as_deref(),
        this_program(),
        &mut bytes,
    )
    .context("cannot make the bundle")?;
    Ok(bytes.into_inner())
}
