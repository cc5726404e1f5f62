//! `plimsoll bundle`: one file with a result and all that belongs to it.

use crate::arguments;
use crate::exit::Exit;
use crate::maps::maps;
use crate::read::found;
use crate::run::this_program;
use crate::screen::print;
use crate::show::{Drawn, drawn, file_stem};
use anyhow::Context;
use plimsoll_judge::{analyse, summed_up};
use plimsoll_report::Report;
use plimsoll_report::page::experiment::DiskMap;
use plimsoll_store::bundle::{Derived, EXTENSION};
use std::fs::OpenOptions;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

/// Bytes of all disk maps together in a small bundle.
const SMALL_MAPS: usize = 160 << 10;

/// `plimsoll bundle`: never overwrites a file.
pub fn bundle(arguments: &arguments::Bundle, store: Option<&Path>) -> anyhow::Result<Exit> {
    let mut found = found(&arguments.experiment, store)?;
    if arguments.small {
        found.record = summed_up(&found.record)?;
    }
    let analysis = analyse(&found.record)?;
    let report = Report { record: &found.record, analysis: &analysis };
    let path = match &arguments.to {
        Some(path) => path.clone(),
        None => PathBuf::from(format!("{}.{EXTENSION}", file_stem(report.record))),
    };
    let bytes = match arguments.small {
        true => archive(&report, None, &maps(&report, &found.maps, SMALL_MAPS))?,
        false => bundled(&report, &drawn(&report, &found.maps))?,
    };
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
    let derived = Derived { analysis: &analysis, page: &drawn.page };
    archive(report, Some(derived), &drawn.maps)
}

fn archive(
    report: &Report<'_>,
    derived: Option<Derived<'_>>,
    maps: &[DiskMap],
) -> anyhow::Result<Vec<u8>> {
    let maps = match maps.is_empty() {
        true => None,
        false => Some(serde_json::to_string(maps)?),
    };
    let mut bytes = Cursor::new(Vec::new());
    plimsoll_store::bundle::write(
        report.record,
        derived,
        maps.as_deref(),
        this_program(),
        &mut bytes,
    )
    .context("cannot make the bundle")?;
    Ok(bytes.into_inner())
}
