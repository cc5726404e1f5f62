use crate::arguments;
use crate::exit::Exit;
use crate::read::record;
use crate::screen::print;
use anyhow::{Context, bail};
use plimsoll_record::{ExperimentRecord, NotedOperation, RunRecord};
use plimsoll_trace::Trace;
use plimsoll_trace::diskmap::{
    Accesses, DiskmapError, Layout, Selection, animation, heat, noted_points, write_animated_png,
    write_gif, write_png,
};
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

/// `plimsoll disk map`: never overwrites a file.
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
    let source = source(arguments, store)?;
    let operations = match arguments.operations {
        Some(range) => Some(noted(source.run.as_ref(), range)?),
        None => None,
    };
    let trace = Trace::open(&source.path)?;
    let selection = Selection {
        from_ns: arguments.from,
        to_ns: arguments.until,
        mark: arguments.mark.clone(),
        files: arguments.files.clone(),
        writes: match (arguments.reads, arguments.writes) {
            (true, _) => Some(false),
            (_, true) => Some(true),
            _ => None,
        },
        operations,
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
        "{}  {} to {}{frames}\n",
        arguments.to.display(),
        counted(accesses.all.len(), "access", "accesses"),
        counted(accesses.files.len() + accesses.files_left_out, "file", "files")
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
        format!("cannot make {}; existing files are never overwritten", path.display())
    })?;
    let mut out = BufWriter::new(file);
    let written = picture(&mut out).map_err(anyhow::Error::from).and_then(|()| Ok(out.flush()?));
    if written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

struct Source {
    path: PathBuf,
    /// Where an experiment was named.
    run: Option<RunRecord>,
}

/// The trace itself, or that of a run.
fn source(arguments: &arguments::Diskmap, store: Option<&Path>) -> anyhow::Result<Source> {
    let named = Path::new(&arguments.source);
    if named.is_file() && !arguments.source.ends_with(".json") {
        return Ok(Source { path: named.to_owned(), run: None });
    }
    let record = record(&arguments.source, store)?;
    let (run, path) = traced_run(&record, arguments.arm.as_deref(), arguments.block)?;
    if !path.exists() {
        bail!(
            "the trace of that run was at {} and is gone; traces stay on the machine that measured",
            path.display()
        );
    }
    Ok(Source { path: path.to_owned(), run: Some(run.clone()) })
}

/// The operations of a run with these numbers, of each of its points.
fn noted(
    run: Option<&RunRecord>,
    (from, to): (usize, usize),
) -> anyhow::Result<Vec<NotedOperation>> {
    let Some(run) = run else {
        bail!(
            "--operations needs an experiment: which operations there were is in its record, not in the trace"
        );
    };
    let points = noted_points(run);
    let most = points.iter().map(|point| point.operations.len()).max();
    let Some(most) = most else {
        bail!(
            "no operations of arm {} were noted in block {}: `measurement: {{log_operations: 100}}` in the experiment file notes them",
            run.arm,
            number(run)
        );
    };
    let chosen: Vec<NotedOperation> = points
        .iter()
        .flat_map(|point| point.operations.iter().take(to).skip(from))
        .copied()
        .collect();
    if chosen.is_empty() {
        bail!("there are no operations {from}..{to}: {most} of a point were noted, 0..{most}");
    }
    Ok(chosen)
}

fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// The number of a run's block as people say it: from 1. In the record it is from 0.
fn number(run: &RunRecord) -> u64 {
    u64::from(run.block) + 1
}

/// The last traced run of an arm, and where its trace was kept. `block` is counted from 1.
fn traced_run<'a>(
    record: &'a ExperimentRecord,
    arm: Option<&str>,
    block: Option<u32>,
) -> anyhow::Result<(&'a RunRecord, &'a Path)> {
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
    let of_arm = || traced.iter().filter(|(run, _)| run.arm == arm);
    let chosen = of_arm()
        .filter(|(run, _)| block.is_none_or(|block| number(run) == u64::from(block)))
        .max_by_key(|(run, _)| (run.block, run.attempt));
    let mut blocks: Vec<u64> = of_arm().map(|(run, _)| number(run)).collect();
    blocks.sort_unstable();
    blocks.dedup();
    match (chosen, block) {
        (Some((run, trace)), _) => Ok((run, &trace.path)),
        (None, Some(block)) if !blocks.is_empty() => {
            let blocks: Vec<String> = blocks.iter().map(u64::to_string).collect();
            bail!(
                "experiment {} has no trace of arm {arm} in block {block}; blocks with one, counted from 1: {}",
                record.id,
                blocks.join(", ")
            )
        }
        (None, _) => bail!(
            "experiment {} has no trace of arm {arm}; arms with one: {}",
            record.id,
            arms.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::{ExperimentState, RECORD_VERSION, RigRecord, RunState, TraceReference};

    fn traced(block: u32) -> RunRecord {
        RunRecord {
            block,
            arm: "san".into(),
            attempt: 1,
            state: RunState::Finished,
            seed: 1,
            started_at: "2026-11-21T03:44:01Z".into(),
            rig: Some(RigRecord {
                trace: Some(TraceReference {
                    path: format!("/block-{block}.trace").into(),
                    requests: 1,
                    overwritten: 0,
                }),
                ..RigRecord::default()
            }),
            ..RunRecord::default()
        }
    }

    #[test]
    fn blocks_are_counted_from_1() {
        let record = ExperimentRecord {
            plimsoll_record: RECORD_VERSION,
            id: "k3f9q".into(),
            name: "finds".into(),
            state: ExperimentState::Finished,
            seed: 1,
            started_at: "2026-11-21T03:44:00Z".into(),
            runs: vec![traced(0), traced(5)],
            ..ExperimentRecord::default()
        };
        let of = |block| traced_run(&record, None, block).map(|(run, _)| run.block);
        assert_eq!((of(Some(1)).ok(), of(Some(6)).ok()), (Some(0), Some(5)));
        assert_eq!(of(None).ok(), Some(5));
        let error = of(Some(5)).expect_err("there is none").to_string();
        let expected = "experiment k3f9q has no trace of arm san in block 5; blocks with one, counted from 1: 1, 6";
        assert_eq!(error, expected);
    }
}
