//! `plimsoll export`.

use crate::arguments;
use crate::exit::Exit;
use crate::read::record;
use crate::screen::print;
use crate::show::file_stem;
use anyhow::Context;
use plimsoll_judge::analyse;
use plimsoll_report::{Report, export as files};
use std::fs::OpenOptions;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// `plimsoll export`: never overwrites a file.
pub fn export(arguments: &arguments::Export, store: Option<&Path>) -> anyhow::Result<Exit> {
    let record = record(&arguments.experiment, store)?;
    let analysis = analyse(&record)?;
    let report = Report {
        record: &record,
        analysis: &analysis,
    };
    let folder = match &arguments.to {
        Some(folder) => folder.clone(),
        None => PathBuf::from(format!("plimsoll-{}", file_stem(&record))),
    };
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for file in files::files(&report) {
        let path = folder.join(&file.name);
        let opened = OpenOptions::new().write(true).create_new(true).open(&path);
        let out = opened.with_context(|| {
            format!("cannot make {}; existing files are never overwritten, name another folder with --to", path.display())
        })?;
        file.write_to(&mut BufWriter::new(out))
            .with_context(|| format!("cannot write {}", path.display()))?;
        print(format_args!("{}  {}\n", path.display(), file.about))?;
    }
    Ok(Exit::Good)
}
