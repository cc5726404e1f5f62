//! `plimsoll diskmap`.

use crate::arguments;
use crate::exit::Exit;
use crate::read::record;
use crate::screen::print;
use anyhow::{Context, bail};
use plimsoll_diskmap::{
    Accesses, DiskmapError, Layout, Selection, animation, heat, write_animated_png, write_gif,
    write_png,
};
use plimsoll_record::ExperimentRecord;
use plimsoll_trace::Trace;
use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Forms of pictures, by the ending of the file's name.
#[derive(Clone, Copy)]
enum Form {
    Still,
    AnimatedPng,
    Gif,
}

/// `plimsoll diskmap`: never overwrites a file.
pub fn diskmap(arguments: &arguments::Diskmap, store: Option<&Path>) -> anyhow::Result<Exit> {
    let form = match arguments.to.extension().and_then(|ending| ending.to_str()) {
        Some("png") => Form::Still,
        Some("apng") => Form::AnimatedPng,
        Some("gif") => Form::Gif,
        _ => bail!(
            "{}: the name of the picture must end in .png (a still), .apng or .gif (animations)",
            arguments.to.display()
        ),
    };
    let path = trace_path(arguments, store)?;
    let trace = Trace::open(&path)?;
    let selection = Selection {
        from_ns: arguments.from,
        to_ns: arguments.until,
        mark: arguments.mark.clone(),
        files: arguments.files.clone(),
        operations: None,
        writes: match (arguments.reads, arguments.writes) {
            (true, _) => Some(false),
            (_, true) => Some(true),
            _ => None,
        },
    };
    let accesses = Accesses::of(&trace, &selection)?;
    let layout = Layout::of(&accesses, usize::from(arguments.width));
    let animation = || animation(&accesses, &layout, usize::from(arguments.frames));
    let fps = arguments.fps;
    write(&arguments.to, |out| match form {
        Form::Still => write_png(out, &heat(&accesses, &layout)),
        Form::AnimatedPng => write_animated_png(out, animation(), fps),
        Form::Gif => write_gif(out, animation(), fps),
    })?;
    let frames = match form {
        Form::Still => String::new(),
        Form::AnimatedPng | Form::Gif => format!(", {} frames", animation().frames()),
    };
    print(format_args!(
        "{}  {} accesses to {} files{frames}\n",
        arguments.to.display(),
        accesses.all.len(),
        accesses.files.len() + accesses.files_left_out
    ))?;
    Ok(Exit::Good)
}

/// Writes a new file as a whole or not at all.
fn write(
    path: &Path,
    picture: impl FnOnce(&mut BufWriter<std::fs::File>) -> Result<(), DiskmapError>,
) -> anyhow::Result<()> {
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let file = opened.with_context(|| {
        format!(
            "cannot make {}; existing files are never overwritten",
            path.display()
        )
    })?;
    let mut out = BufWriter::new(file);
    let written = picture(&mut out)
        .map_err(anyhow::Error::from)
        .and_then(|()| Ok(out.flush()?));
    if written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// The trace itself, or that of a run.
fn trace_path(arguments: &arguments::Diskmap, store: Option<&Path>) -> anyhow::Result<PathBuf> {
    let source = Path::new(&arguments.source);
    if source.is_file() && !arguments.source.ends_with(".json") {
        return Ok(source.to_owned());
    }
    let record = record(&arguments.source, store)?;
    let path = trace_of(&record, arguments.arm.as_deref(), arguments.block)?;
    if !path.exists() {
        bail!(
            "the trace of that run was at {}, and is there no more; traces stay on the machine that measured",
            path.display()
        );
    }
    Ok(path)
}

/// Where the last trace of an arm is kept.
fn trace_of(
    record: &ExperimentRecord,
    arm: Option<&str>,
    block: Option<u32>,
) -> anyhow::Result<PathBuf> {
    let traced: Vec<_> = record
        .runs
        .iter()
        .filter_map(|run| Some((run, run.rig.as_ref()?.trace.as_ref()?)))
        .collect();
    let mut arms: Vec<&str> = traced.iter().map(|(run, _)| run.arm.as_str()).collect();
    arms.sort_unstable();
    arms.dedup();
    let arm = match (arm, arms.as_slice()) {
        (_, []) => bail!(
            "no run of experiment {} kept a trace: arms on an emulated disk do, unless `trace: off`",
            record.id
        ),
        (Some(arm), _) => arm,
        (None, [only]) => only,
        (None, _) => bail!(
            "several arms of experiment {} kept a trace; choose one with --arm: {}",
            record.id,
            arms.join(", ")
        ),
    };
    let chosen = traced
        .iter()
        .filter(|(run, _)| run.arm == arm && block.is_none_or(|block| run.block == block))
        .max_by_key(|(run, _)| (run.block, run.attempt));
    match chosen {
        Some((_, trace)) => Ok(trace.path.clone()),
        None => bail!(
            "experiment {} has no trace of arm {arm}{}; arms with one: {}",
            record.id,
            block.map_or_else(String::new, |block| format!(" in block {block}")),
            arms.join(", ")
        ),
    }
}
