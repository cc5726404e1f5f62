//! `plimsoll bundle`: one file with a result and all that belongs to it.

use crate::arguments;
use crate::exit::Exit;
use crate::read::found;
use crate::run::this_program;
use crate::screen::print;
use crate::show::{Drawn, Extent, drawn, file_stem};
use anyhow::Context;
use plimsoll_judge::{analyse, summed_up};
use plimsoll_report::Report;
use plimsoll_store::bundle::{Belongings, EXTENSION};
use std::fs::OpenOptions;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

/// `plimsoll bundle`: never overwrites a file.
pub fn bundle(arguments: &arguments::Bundle, store: Option<&Path>) -> anyhow::Result<Exit> {
    let mut found = found(&arguments.experiment, store)?;
    if arguments.small {
        found.record = summed_up(&found.record)?;
    }
    let analysis = analyse(&found.record)?;
    let report = Report { record: &found.record, analysis: &analysis };
    let extent = if arguments.small { Extent::Small } else { Extent::Whole };
    let drawn = drawn(&report, &found.maps, extent);
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
    let analysis = match drawn.extent {
        Extent::Small => None,
        Extent::Whole => Some(serde_json::to_string_pretty(report.analysis)?),
    };
    let maps = match drawn.maps.is_empty() {
        true => None,
        false => Some(serde_json::to_string(&drawn.maps)?),
    };
    let mut bytes = Cursor::new(Vec::new());
    plimsoll_store::bundle::write(
        report.record,
        Belongings { analysis: analysis.as_deref(), page: &drawn.page, maps: maps.as_deref() },
        this_program(),
        &mut bytes,
    )
    .context("cannot make the bundle")?;
    Ok(bytes.into_inner())
}
