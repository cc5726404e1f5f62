//! `plimsoll foreign import`: opens the files, hands them to their readers, and stores what comes out.

use crate::arguments;
use crate::exit::Exit;
use crate::read::store_path;
use crate::run::{command_line, this_program};
use crate::screen::tell;
use crate::show::{Wanted, exit_of, result};
use anyhow::{Context, bail};
use plimsoll_import::{
    Arm, Frame, ImportError, Measured, Options, Problem, join, read, record, redact_command,
};
use plimsoll_store::Store;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// An argument: perhaps an arm, and for each of its runs the files.
struct Input {
    arm: Option<String>,
    runs: Vec<Vec<PathBuf>>,
}

pub fn import(arguments: &arguments::Import, store: Option<&Path>) -> anyhow::Result<Exit> {
    let options =
        Options { format: arguments.format, unit: arguments.unit, operation: arguments.operation };
    let mut arms: Vec<Arm> = Vec::new();
    let mut name = arguments.name.clone();
    for argument in &arguments.inputs {
        let input = input(argument)?;
        for run in &input.runs {
            let arm = match input.arm.as_ref().or(arguments.arm.as_ref()) {
                Some(arm) => arm.clone(),
                None => own_name(&run[0], &arms),
            };
            name.get_or_insert_with(|| stem(&run[0]));
            let outputs = outputs(run, &options)?;
            match arms.iter_mut().find(|known| known.name == arm) {
                Some(known) => known.outputs.extend(outputs),
                None => arms.push(Arm { name: arm, outputs }),
            }
        }
    }
    let frame = Frame {
        name: redact_command(&name.unwrap_or_default()),
        mix: arguments.mix.clone(),
        sessions: arguments.threads,
        errors: arguments.allow_errors.unwrap_or(0.0),
        side_by_side: arguments.paired,
        now: format!("{:.3}", jiff::Timestamp::now()),
        program: this_program(),
        command: redact_command(&command_line()),
    };
    let mut record = record(&frame, arms)?;
    let mut open = Store::open(&store_path(store)?)?;
    record.id = open.import(record.clone())?;
    tell(format_args!("imported as {}: {}", record.id, arms_in_words(&record.runs)));
    let wanted = Wanted {
        json: arguments.json,
        page: arguments.page.as_deref(),
        all: arguments.all,
        is_stored: true,
        ..Wanted::default()
    };
    Ok(exit_of(&result(&record, &wanted, store)?))
}

/// `2 runs of ext4, 1 run of xfs`.
fn arms_in_words(runs: &[plimsoll_record::RunRecord]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for run in runs {
        match counts.iter_mut().find(|(arm, _)| *arm == run.arm) {
            Some((_, count)) => *count += run.points.len(),
            None => counts.push((&run.arm, run.points.len())),
        }
    }
    let words: Vec<String> = counts
        .iter()
        .map(|(arm, count)| match count {
            1 => format!("1 output of {arm}"),
            _ => format!("{count} outputs of {arm}"),
        })
        .collect();
    words.join(", ")
}

/// Takes an argument apart. What is the name of a file as it stands is that file.
fn input(argument: &str) -> anyhow::Result<Input> {
    let is_file = |text: &str| Path::new(text).exists();
    if is_file(argument) {
        return Ok(Input { arm: None, runs: vec![vec![argument.into()]] });
    }
    let (arm, files) = match argument.split_once('=') {
        Some((arm, files)) if !arm.contains('/') => (Some(arm), files),
        _ => (None, argument),
    };
    if arm.is_some_and(|arm| arm.trim().is_empty()) {
        bail!("`{argument}` names no arm before the `=`: write ARM=FILE, or the file alone");
    }
    let mut runs = Vec::new();
    let listed = if is_file(files) { vec![files] } else { files.split(',').collect() };
    for run in listed {
        let parts = if is_file(run) { vec![run] } else { run.split('+').collect() };
        if parts.iter().any(|part| part.is_empty()) {
            bail!("`{argument}` names no file in one place: write ARM=FILE,FILE");
        }
        runs.push(parts.into_iter().map(PathBuf::from).collect());
    }
    Ok(Input { arm: arm.map(str::to_owned), runs })
}

/// What the files of one run hold. Among several, those that are of no operation are passed over.
fn outputs(files: &[PathBuf], options: &Options) -> anyhow::Result<Vec<Measured>> {
    let mut all = Vec::new();
    for file in files {
        match one(file, options) {
            Ok(outputs) => all.extend(outputs),
            Err(error) => match of_no_operation(&error).filter(|_| files.len() > 1) {
                Some(why) => tell(format_args!("passed over: {why}")),
                None => return Err(error),
            },
        }
    }
    if files.len() == 1 {
        return Ok(all);
    }
    Ok(vec![join(all, &files[0].display().to_string())?])
}

/// The error of a log that is not of an operation.
fn of_no_operation(error: &anyhow::Error) -> Option<&ImportError> {
    let error = error.downcast_ref::<ImportError>()?;
    matches!(error.problem, Problem::NoOperationLog { .. }).then_some(error)
}

fn one(path: &Path, options: &Options) -> anyhow::Result<Vec<Measured>> {
    let shown = redact_command(&path.display().to_string());
    if path.is_dir() {
        bail!("{shown} is a directory: name the files in it");
    }
    let file =
        plimsoll_record::files::open(path).with_context(|| format!("cannot open {shown}"))?;
    let reader = BufReader::with_capacity(1 << 16, file);
    read(&shown, reader, options).context("nothing was imported")
}

/// A name for an arm that has none: that of its file, with the folder where another arm is called so already.
fn own_name(path: &Path, arms: &[Arm]) -> String {
    let plain = stem(path);
    let is_taken = |name: &str| arms.iter().any(|arm| arm.name == name);
    if !is_taken(&plain) {
        return plain;
    }
    let folder = path.parent().map(stem).unwrap_or_default();
    let mut name = format!("{folder}/{plain}");
    let mut number = 2;
    while is_taken(&name) {
        name = format!("{plain} ({number})");
        number += 1;
    }
    name
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    redact_command(&stem)
}
