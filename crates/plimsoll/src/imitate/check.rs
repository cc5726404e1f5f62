//! `plimsoll imitate URI --check FILE`: the file is run on a server that is started here and reports every operation, and both servers are compared.

use crate::arguments::{ExperimentFile, Nats};
use crate::exit::Exit;
use crate::log::Log;
use crate::plan::{complain, overrides, read_with};
use crate::read::store_path;
use crate::rig::Rigs;
use crate::run::{Made, Measured, RunRequest, measure};
use crate::screen::{print, tell};
use crate::servers;
use anyhow::{Context, bail};
use jiff::Timestamp;
use plimsoll_experiment::Overrides;
use plimsoll_imitate::fidelity::score;
use plimsoll_imitate::{Call, Observed, Source, copied, log};
use plimsoll_plan::Plan;
use plimsoll_record::files::open;
use plimsoll_record::quantities::words::grouped;
use plimsoll_record::{RunRecord, RunState};
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

/// The share of production's server time from which on a copy is good enough.
const GOOD: f64 = 0.9;
/// Operations that are read of the log.
const MOST_CALLS: usize = 5_000_000;

/// Runs the first arm of the file once, and prints what share of production it reproduces.
pub fn check(
    file: &Path,
    production: &Observed,
    store: Option<&Path>,
    rigs: Rigs,
    logs: &Log,
) -> anyhow::Result<Exit> {
    if production.source == Source::None {
        bail!(
            "no operation of the server was seen, so there is nothing to compare with: give --server-log"
        );
    }
    let experiment = ExperimentFile { file: Some(file.to_owned()), ..ExperimentFile::default() };
    let once = Overrides { blocks: Some(1), ..overrides(&experiment) };
    let read = read_with(&experiment, &once, &rigs)?;
    let mut plan = match read.plan {
        Ok(plan) => plan,
        Err(problems) => return complain(&problems, false),
    };
    reporting_everything(&mut plan, file)?;
    if let Some(exit) = servers::look(&plan) {
        return Ok(exit);
    }
    let only: Vec<bool> = (0..plan.arms.len()).map(|arm| arm == 0).collect();
    let request = RunRequest {
        experiment: &experiment,
        nats: &Nats::default(),
        fresh: true,
        only: Some(only),
        calibrate: true,
        wait_quiet: None,
        keep_going: true,
        quiet: false,
    };
    let made = match measure(request, &mut plan, &read.text, store, rigs, logs)? {
        Measured::Made(made) => *made,
        Measured::Wrong(problems) => return complain(&problems, false),
        Measured::Not(exit) => return Ok(exit),
    };
    if made.ended.interrupted {
        return Ok(Exit::Interrupted);
    }
    let run = finished(&made)?;
    let (Some(state), Some(engine)) = (run.application.last(), &run.engine) else {
        bail!(
            "the server of the copy said nothing of its collections: see `plimsoll report {}`",
            made.record.id
        );
    };
    let calls = measured_calls(&store_path(store)?, &made.record.id, run)?;
    let copy = copied(production, state, calls);
    if !engine.version.contains(&production.server.version) {
        tell(format_args!(
            "the copy is {}, the server is MongoDB {}: plans may differ for that reason; a mongod of the same version on PATH, or `server: {{program: ...}}`, takes it out",
            engine.version, production.server.version
        ));
    }
    let fidelity = score(production, &copy);
    print(format_args!("{fidelity}\n"))?;
    tell(format_args!(
        "{} calls of the copy were compared with {} of the server; plimsoll report {} shows its run",
        grouped(copy.calls as f64, 0),
        grouped(production.calls as f64, 0),
        made.record.id
    ));
    Ok(if fidelity.score >= GOOD { Exit::Good } else { Exit::ThresholdBroken })
}

/// Has the server of the first arm log every operation.
fn reporting_everything(plan: &mut Plan, file: &Path) -> anyhow::Result<()> {
    let is_own = plan.arms.iter().all(|arm| arm.data.documents.is_some());
    let server = plan.arms.first_mut().and_then(|arm| arm.rig.server.as_mut());
    let Some(server) = server.filter(|server| server.name == "mongod" && is_own) else {
        bail!(
            "{} has no server to start for its first arm, or no collections: --check runs files that `plimsoll imitate` writes",
            file.display()
        );
    };
    server.arguments.push("--slowms=-1".into());
    Ok(())
}

fn finished(made: &Made) -> anyhow::Result<&RunRecord> {
    let run = made.record.runs.last().context("nothing was run")?;
    match &run.state {
        RunState::Finished => Ok(run),
        RunState::Failed { message, .. } => bail!("the run of the copy failed: {message}"),
        _ => bail!("the run of the copy did not end"),
    }
}

/// The operations of all members' logs that ended while a point was measured.
fn measured_calls(store: &Path, id: &str, run: &RunRecord) -> anyhow::Result<Vec<Call>> {
    let mut spans = Vec::new();
    for point in run.points.iter().filter(|point| point.label.point.is_some()) {
        let Some(end) = &point.end else { continue };
        let begun: Timestamp = point.started_at.parse()?;
        let begun = begun + Duration::from_nanos(point.warm_up_ns);
        let ended = begun + Duration::from_nanos(end.measured_ns);
        spans.push(begun.as_millisecond()..=ended.as_millisecond());
    }
    let folder = store.with_file_name("servers").join(id);
    let mut found = Vec::new();
    let listed = folder.read_dir().with_context(|| format!("no log in {}", folder.display()))?;
    for entry in listed {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        if !name.starts_with(&format!("{}-{}-{}", run.block, run.arm, run.attempt)) {
            continue;
        }
        let calls = log::calls(BufReader::new(open(&path)?))
            .with_context(|| format!("cannot read {}", path.display()))?;
        let measured = calls.filter(|call| spans.iter().any(|span| span.contains(&call.at_ms)));
        found.extend(measured.take(MOST_CALLS - found.len()));
    }
    Ok(found)
}
