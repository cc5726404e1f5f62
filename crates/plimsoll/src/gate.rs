//! `plimsoll gate`: two things of a kind, measured beside each other until it is certain whether the new one loses.

use crate::arguments::{self, ExperimentFile};
use crate::exit::Exit;
use crate::log::Log;
use crate::plan::{BETWEEN, Checked, against_duets, complain, overrides, read_with};
use crate::rig::Rigs;
use crate::run::{Measured, RunRequest, measure};
use crate::screen::tell;
use crate::{servers, show};
use plimsoll_experiment::{GateRequest, Overrides, Problems};
use plimsoll_judge::{GateOutcome, first_look_of_gate};
use plimsoll_plan::{Arm, Origin, Plan, Source, needs};
use plimsoll_record::quantities::units;
use std::path::Path;

/// Blocks that a gate must have time for, to answer anything.
const FEWEST_BLOCKS: u32 = 8;
/// Blocks at most, however long it may take.
const MOST_BLOCKS: u32 = 1000;

pub fn gate(
    arguments: &arguments::Gate,
    store: Option<&Path>,
    rigs: Rigs,
    log: &Log,
) -> anyhow::Result<Exit> {
    let mut sides = Vec::new();
    for path in [&arguments.base, &arguments.new] {
        match side(arguments, path, &rigs)? {
            Ok(side) => sides.push(side),
            Err(Refused::Problems(problems)) => return complain(&problems, arguments.json),
            Err(Refused::Why(why)) => {
                tell(why);
                return Ok(Exit::InvalidExperiment);
            }
        }
    }
    let Ok([base, new]) = <[Side; 2]>::try_from(sides) else { unreachable!("there are two paths") };
    if let Some(what) = differs_in_questions(&base.plan, &new.plan) {
        tell(format_args!(
            "{} and {} do not measure the same: {what} differs. A gate compares two arms; workload, load and measurement must be the same",
            arguments.base.display(),
            arguments.new.display()
        ));
        return Ok(Exit::InvalidExperiment);
    }
    let mut request = GateRequest {
        arms: [base.arm, new.arm],
        within_ns: arguments.within,
        first: FEWEST_BLOCKS,
        at_most: MOST_BLOCKS,
    };
    let duet = !arguments.in_turn;
    let mut checked = read_gate(&new.file, &request, duet, &rigs)?;
    if let (Err(problems), true) = (&checked.plan, duet)
        && let Some(all) = against_duets(problems)
    {
        for why in all {
            tell(format_args!("in turn, because duets are not possible here: {why}"));
        }
        checked = read_gate(&new.file, &request, false, &rigs)?;
    }
    let first = match &checked.plan {
        Ok(plan) => plan,
        Err(problems) => return complain(problems, arguments.json),
    };
    // The limit of blocks follows from the limit of time, so that looks are spread over it.
    let needs = needs(first, plimsoll_engine::kinds());
    let blocks = f64::from(first.measurement.blocks);
    let fit = |each_ns: u64| arguments.within as f64 / (each_ns as f64 / blocks).max(1.0);
    if fit(needs.total_ns()) < f64::from(FEWEST_BLOCKS) {
        tell(format_args!(
            "{} is too short: a block takes about {}, and a gate needs {FEWEST_BLOCKS} of them. Give it more time (--within), or the file shorter points or less data",
            units::duration(arguments.within),
            units::duration((needs.total_ns() as f64 / blocks) as u64)
        ));
        return Ok(Exit::Usage);
    }
    let duet = !first.measurement.pairing.is_in_turn();
    request.at_most = (fit(needs.measuring_ns) as u32).clamp(FEWEST_BLOCKS, MOST_BLOCKS);
    request.first = first_look_of_gate(first, FEWEST_BLOCKS, request.at_most);
    checked = read_gate(&new.file, &request, duet, &rigs)?;
    let mut plan = match checked.plan {
        Ok(plan) => plan,
        Err(problems) => return complain(&problems, arguments.json),
    };
    if let Some(margin) = arguments.margin {
        with_margin(&mut plan, margin);
    }
    let text = match arguments.file {
        Some(_) => checked.text,
        None => format!("{}{BETWEEN}{}", checked.text, base.text),
    };
    let request = RunRequest {
        experiment: &ExperimentFile::default(),
        nats: &arguments.nats,
        fresh: true,
        only: None,
        calibrate: !arguments.no_calibration,
        wait_quiet: arguments.wait_quiet,
        keep_going: true,
        quiet: arguments.quiet,
    };
    if let Some(exit) = servers::look(&plan) {
        return Ok(exit);
    }
    let made = match measure(request, &mut plan, &text, store, rigs, log)? {
        Measured::Made(made) => *made,
        Measured::Wrong(problems) => return complain(&problems, arguments.json),
        Measured::Not(exit) => return Ok(exit),
    };
    let wanted = show::Wanted {
        json: arguments.json,
        page: arguments.page.as_deref(),
        markdown: arguments.markdown.as_deref(),
        junit: arguments.junit.as_deref(),
        open_passes: arguments.open == arguments::OpenGate::Pass,
        is_stored: true,
        all: arguments.all,
        ..show::Wanted::default()
    };
    let analysis = show::result(&made.record, &wanted, store)?;
    if made.ended.interrupted {
        return Ok(Exit::Interrupted);
    }
    let exit = show::exit_of(&analysis);
    let is_open = analysis.gate.is_none_or(|gate| gate.outcome == GateOutcome::Open);
    if exit == Exit::Good && arguments.open == arguments::OpenGate::Fail && is_open {
        return Ok(Exit::InvalidMeasurement);
    }
    Ok(exit)
}

struct Side {
    /// The experiment file that it is measured by.
    file: ExperimentFile,
    text: String,
    plan: Plan,
    arm: Arm,
}

/// Why a side cannot be used.
enum Refused {
    Problems(Problems),
    Why(String),
}

/// Reads a side: the only arm of an experiment file, or a program in the place of its server's.
fn side(
    arguments: &arguments::Gate,
    path: &Path,
    rigs: &Rigs,
) -> anyhow::Result<Result<Side, Refused>> {
    let file = ExperimentFile {
        file: Some(arguments.file.as_deref().unwrap_or(path).to_owned()),
        duration: arguments.duration,
        warm_up: arguments.warm_up,
        seed: arguments.seed,
        scale: arguments.scale.clone(),
        directory: arguments.directory.clone(),
        ..ExperimentFile::default()
    };
    // A file with one arm may ask for what needs two: duets, or blocks until they are enough. Against itself it has two.
    let itself = Overrides { against_itself: Some(None), ..overrides(&file) };
    let mut arm = match read_with(&file, &itself, rigs)?.plan {
        Ok(mut plan) => plan.arms.swap_remove(0),
        Err(problems) => return Ok(Err(Refused::Problems(problems))),
    };
    let name = path.display().to_string();
    if arguments.file.is_some() {
        let Some(server) = &mut arm.rig.server else {
            return Ok(Err(Refused::Why(format!(
                "{} has no server that this program starts, so {name} cannot take its place. Give the arm a `server`",
                file.file.as_deref().unwrap_or(path).display()
            ))));
        };
        let program = std::fs::canonicalize(path);
        let program = match program {
            Ok(program) if program.is_file() => program,
            Ok(_) => return Ok(Err(Refused::Why(format!("{name} is no program")))),
            Err(error) => return Ok(Err(Refused::Why(format!("no program {name}: {error}")))),
        };
        server.program = program.display().to_string();
        arm.about = Some(name);
    } else {
        arm.about.get_or_insert(name);
    }
    // It must be the only one.
    let request = GateRequest {
        arms: [arm.clone(), arm.clone()],
        within_ns: arguments.within,
        first: FEWEST_BLOCKS,
        at_most: FEWEST_BLOCKS,
    };
    let checked = read_gate(&file, &request, false, rigs)?;
    Ok(match checked.plan {
        Ok(plan) => Ok(Side { file, text: checked.text, plan, arm }),
        Err(problems) => Err(Refused::Problems(problems)),
    })
}

fn read_gate(
    file: &ExperimentFile,
    request: &GateRequest,
    duet: bool,
    rigs: &Rigs,
) -> anyhow::Result<Checked> {
    let overrides = Overrides { gate: Some(request.clone()), duet, ..overrides(file) };
    read_with(file, &overrides, rigs)
}

/// What two plans ask differently of their arms.
fn differs_in_questions(base: &Plan, new: &Plan) -> Option<&'static str> {
    let data = |plan: &Plan| plan.arms[0].data.clone();
    let same = [
        ("the data", data(base) == data(new)),
        ("the mix of operations", base.mixes == new.mixes),
        ("the load", base.points == new.points),
        ("the load phase", base.load_phase == new.load_phase),
        ("the measurement", base.measurement == new.measurement),
        ("an event", base.events == new.events),
        ("the objective", base.objective == new.objective),
        ("what is compared", base.compare == new.compare),
    ];
    same.iter().find(|(_, same)| !same).map(|(what, _)| *what)
}

/// Gives every metric that decides this margin.
fn with_margin(plan: &mut Plan, margin: f64) {
    for metric in plan.compare.primary.clone() {
        let path = format!("compare.margins.{}", metric.name());
        plan.origins.retain(|origin| origin.path != path);
        plan.origins.push(Origin {
            path,
            value: units::share(margin),
            source: Source::Flag { name: "--margin".into() },
        });
        plan.compare.margins.insert(metric.name(), margin);
    }
}
