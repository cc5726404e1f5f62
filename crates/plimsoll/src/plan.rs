//! `plimsoll plan`, and reading an experiment file for `plimsoll run`.

mod by_uri;
mod documents;

use crate::arguments::{self, ExperimentFile};
use crate::exit::{Exit, NoExperiment};
use crate::power::{in_words, power};
use crate::read::store_path;
use crate::rig::Rigs;
use crate::screen::{self, print, print_json, tell_drawn};
use plimsoll_experiment::{
    GateRequest, Limits, Mistake, Overrides, Problems, Scouted, Surroundings, check, read_text_file,
};
use plimsoll_judge::{EffectKind, too_few_blocks, visible_effects};
use plimsoll_plan::{Plan, explain};
use plimsoll_record::quantities::words::counted;
use plimsoll_runner::{Sizing, bytes_per_record, took_seconds};
use plimsoll_store::Store;
use plimsoll_store::bundle::is_bundle;
use plimsoll_telemetry::Host;
use std::io::ErrorKind;
use std::path::Path;

/// Coefficients of variation of the runs of one cell for which a plan says what it can decide.
pub const USUAL_SPREAD: f64 = 0.03;

/// An experiment file that was read, and what came of it.
pub struct Checked {
    pub text: String,
    /// The plan, or everything that is wrong.
    pub plan: Result<Plan, Problems>,
}

/// Between the files of the arm in question and of the one that is known.
pub const BETWEEN: &str = "\n---\n# BASE\n";

/// Reads and checks an experiment file.
pub fn read(experiment: &ExperimentFile, rigs: &Rigs) -> anyhow::Result<Checked> {
    read_with(experiment, &overrides(experiment), rigs)
}

/// What the command line says about an experiment.
pub fn overrides(experiment: &ExperimentFile) -> Overrides {
    Overrides {
        blocks: experiment.blocks,
        duration_ns: experiment.duration,
        warm_up_ns: experiment.warm_up,
        operations: experiment.operations,
        seed: experiment.seed,
        duet: experiment.duet,
        controls: experiment.control.clone(),
        directory: experiment.directory.clone(),
        pilot: experiment.pilot,
        against_itself: experiment.aa.clone(),
        scale: experiment.scale.clone(),
        scouted: Scouted::default(),
        gate: None,
    }
}

/// The same with other overrides than those of the command line.
pub fn read_with(
    experiment: &ExperimentFile,
    overrides: &Overrides,
    rigs: &Rigs,
) -> anyhow::Result<Checked> {
    // The command line has one of the two.
    let file = experiment.file.as_deref();
    let mut overrides = overrides.clone();
    let text = match (file, &experiment.uri) {
        (Some(file), _) if is_bundle(file) => text_of_bundle(file, &mut overrides)?,
        (Some(file), _) => text_of(file)?,
        (None, uri) => by_uri::experiment(uri.as_deref().unwrap_or_default(), &experiment.by_uri),
    };
    let file = file.unwrap_or(Path::new("--uri"));
    let plan = check_text(&text, file, &overrides, rigs);
    Ok(Checked { text, plan })
}

/// Checks the text of an experiment file at this place, which need not exist yet.
pub fn check_text(
    text: &str,
    file: &Path,
    overrides: &Overrides,
    rigs: &Rigs,
) -> Result<Plan, Problems> {
    // The plan must not depend on the folder from which the program was called.
    let whole = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let machine = Host::here().machine();
    let memory_bytes = machine.memory_limit_bytes.unwrap_or(u64::MAX).min(machine.memory_bytes);
    let surroundings = Surroundings {
        base_dir: whole.parent().unwrap_or(Path::new(".")),
        engines: plimsoll_engine::kinds(),
        limits: if memory_bytes == 0 {
            Limits::UNKNOWN
        } else {
            Limits { memory_bytes, cores: machine.cores }
        },
        overrides,
        read_file: &read_text_file,
        measure: &|engine, settings, server, data| {
            bytes_per_record(&Sizing {
                engine,
                settings,
                server,
                data,
                allocator: crate::allocator::NAME,
                rigs: rigs.get().map_err(|error| error.to_string())?,
            })
        },
    };
    check(text, &file.display().to_string(), &surroundings)
}

/// The file that a bundle was measured by. That of a gate is run again as a gate, with the same two arms.
fn text_of_bundle(file: &Path, overrides: &mut Overrides) -> anyhow::Result<String> {
    let record = crate::read::bundle(file)?.record;
    let text = &record.file_text;
    if text.is_empty() {
        let words = format!("{} has no experiment file", file.display());
        let why = anyhow::anyhow!("its figures were imported from the output of another tool");
        return Err(why.context(NoExperiment(words)));
    }
    let plan = plimsoll_judge::plan_of(&record)?;
    let gate = plan.measurement.looks.and_then(|looks| Some((looks, looks.gate?)));
    if let (Some((looks, gate)), [base, new]) = (gate, plan.arms.as_slice()) {
        overrides.gate = Some(GateRequest {
            arms: [base.clone(), new.clone()],
            within_ns: gate.within_ns,
            first: looks.first,
            at_most: plan.measurement.blocks,
        });
        overrides.duet |= !plan.measurement.pairing.is_in_turn();
    }
    let own = text.split(BETWEEN).next().unwrap_or(text);
    Ok(own.to_owned())
}

fn text_of(file: &Path) -> anyhow::Result<String> {
    read_text_file(file).map_err(|why| {
        let no_such = matches!(why.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied);
        let words = format!("cannot read the experiment file {}", file.display());
        let error = anyhow::Error::new(why);
        if no_such { error.context(words) } else { error.context(NoExperiment(words)) }
    })
}

/// Why there can be no duets, where nothing else is wrong with a file.
pub fn against_duets(problems: &Problems) -> Option<Vec<&str>> {
    let why = problems.list().iter().map(|problem| match &problem.mistake {
        Mistake::NoDuet { why } => Some(why.as_str()),
        _ => None,
    });
    why.collect()
}

/// Shows what is wrong with a file.
pub fn complain(problems: &Problems, json: bool) -> anyhow::Result<Exit> {
    if json {
        print_json(&problems.to_json())?;
    } else {
        tell_drawn(&problems.render(screen::colours(), screen::columns()));
    }
    Ok(Exit::InvalidExperiment)
}

/// What the last experiment of the same plan on this machine took, which is better known than any estimate.
fn measured(plan: &Plan, store: Option<&Path>) -> anyhow::Result<Option<String>> {
    let file = store_path(store)?;
    if !file.exists() {
        return Ok(None);
    }
    let store = Store::open_read_only(&file)?;
    let machine = Host::here().machine();
    let Some((last, runs)) = store.last_of_plan(&plan.hash(), &machine.fingerprint())? else {
        return Ok(None);
    };
    let took: Vec<f64> = runs.iter().filter_map(took_seconds).collect();
    if took.is_empty() {
        return Ok(None);
    }
    let each = took.iter().sum::<f64>() / took.len() as f64;
    let all = each * plan.runs.len() as f64 / plan.at_once() as f64;
    let words = |seconds: f64| plimsoll_record::quantities::units::about((seconds * 1e9) as u64);
    Ok(Some(format!(
        "measured  {} of {} took {} on average in experiment {}: all {} about {}",
        took.len(),
        counted(last.runs_planned as usize, "run"),
        words(each),
        last.id,
        plan.runs.len(),
        words(all),
    )))
}

/// The least effects of factors that the blocks would show, for a run-to-run variation that is usual.
fn visible_in_words(plan: &Plan) -> Option<String> {
    let mut parts = Vec::new();
    for (kind, share) in visible_effects(plan, USUAL_SPREAD) {
        let what = match kind {
            EffectKind::Main => "a main effect",
            EffectKind::Interaction => "an interaction",
            EffectKind::Simple => "the effect of one factor in one cell",
        };
        parts.push(format!("{what} of {:.1} %", share * 100.0));
    }
    (!parts.is_empty()).then(|| {
        format!(
            "visible   if runs of a cell vary by {:.0} %, {} would probably be found {}",
            USUAL_SPREAD * 100.0,
            plimsoll_record::quantities::words::list(&parts),
            "(more, if they vary more: in proportion)"
        )
    })
}

pub fn plan(
    arguments: &arguments::Plan,
    store: Option<&Path>,
    rigs: &Rigs,
) -> anyhow::Result<Exit> {
    let plan = match read(&arguments.experiment, rigs)?.plan {
        Ok(plan) => plan,
        Err(problems) => return complain(&problems, arguments.json),
    };
    if let Some(examples) = arguments.documents {
        return documents::show(&plan, examples, arguments.json);
    }
    let explanation = explain(&plan, plimsoll_engine::kinds());
    let too_few = too_few_blocks(&plan);
    let power = match arguments.find {
        None => Vec::new(),
        Some(share) => power(&plan, share, USUAL_SPREAD, store)?,
    };
    if arguments.json {
        let mut explained = serde_json::to_value(&explanation)?;
        explained["too_few_blocks"] = serde_json::to_value(too_few)?;
        explained["visible_effects"] = serde_json::to_value(visible_effects(&plan, USUAL_SPREAD))?;
        if arguments.find.is_some() {
            explained["power"] = serde_json::to_value(&power)?;
        }
        print_json(&explained)?;
    } else {
        if let Some(too_few) = too_few {
            print(format_args!("{too_few}\n\n"))?;
        }
        print(format_args!("{explanation}\n"))?;
        if let Some(visible) = visible_in_words(&plan) {
            print(format_args!("\n{visible}\n"))?;
        }
        if let Some(measured) = measured(&plan, store)? {
            print(format_args!("\n{measured}\n"))?;
        }
        if let Some(share) = arguments.find {
            print(format_args!("\n{}\n", in_words(share, USUAL_SPREAD, &power)))?;
        }
    }
    Ok(Exit::Good)
}
