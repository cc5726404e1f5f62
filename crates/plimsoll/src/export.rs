use crate::arguments;
use crate::dataset::export_all;
use crate::exit::Exit;
use crate::read::record;
use crate::screen::{print, print_json};
use crate::show::file_stem;
use anyhow::{Context, bail};
use plimsoll_judge::analyse;
use plimsoll_report::Report;
use plimsoll_report::export::{ExportFile, Form, files, write};
use serde_json::json;
use std::fs::OpenOptions;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// `plimsoll export`: never overwrites a file.
pub fn export(arguments: &arguments::Export, store: Option<&Path>) -> anyhow::Result<Exit> {
    if arguments.all {
        return export_all(arguments, store);
    }
    let record = record(&arguments.experiment, store)?;
    let analysis = analyse(&record)?;
    let report = Report { record: &record, analysis: &analysis };
    let chosen = chosen(files(&report), &arguments.only, &record.id)?;
    let folder = match &arguments.to {
        Some(folder) => folder.clone(),
        None => PathBuf::from(format!("plimsoll-{}", file_stem(&record))),
    };
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut written = Vec::new();
    for file in chosen {
        let path = folder.join(&file.name);
        write_new(&file, &path)?;
        if arguments.json {
            written.push(json!({ "path": path, "form": file.form.word(), "about": file.about }));
        } else {
            print(format_args!("{}  {}\n", path.display(), file.about))?;
        }
    }
    if arguments.json {
        print_json(&json!({ "experiment": record.id, "files": written }))?;
    }
    Ok(Exit::Good)
}

/// The files of these forms, or all. A form without files is an error, not an empty folder.
fn chosen<'a>(
    mut files: Vec<ExportFile<'a>>,
    only: &[Form],
    id: &str,
) -> anyhow::Result<Vec<ExportFile<'a>>> {
    for form in only {
        if files.iter().any(|file| file.form == *form) {
            continue;
        }
        let why = match form {
            Form::Hdr => "none of its runs has histograms",
            Form::Fio => "none of its disks was calibrated",
            _ => "it has nothing of that form",
        };
        bail!("experiment {id} cannot be written as {}: {why}", form.word());
    }
    if !only.is_empty() {
        files.retain(|file| only.contains(&file.form));
    }
    Ok(files)
}

/// Writes a new file as a whole or not at all.
fn write_new(file: &ExportFile<'_>, path: &Path) -> anyhow::Result<()> {
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let out = opened.with_context(|| {
        format!(
            "cannot make {}; existing files are never overwritten, name another folder with --to",
            path.display()
        )
    })?;
    let written = write(file, &mut BufWriter::new(out));
    if written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}
