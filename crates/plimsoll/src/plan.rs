//! `plimsoll plan`, and reading an experiment file for `plimsoll run`.

use crate::arguments::{self, ExperimentFile};
use crate::exit::Exit;
use crate::screen::{self, print};
use anyhow::Context;
use plimsoll_experiment::{
    Limits, Overrides, Plan, Problems, Surroundings, check, explain, read_text_file,
};
use plimsoll_judge::too_few_blocks;
use plimsoll_runner::{Sizing, bytes_per_record};
use plimsoll_telemetry::Host;
use plimsoll_testbed::default_state_dir;
use std::path::Path;

/// An experiment file that was read, and what came of it.
pub struct Checked {
    /// To the letter.
    pub text: String,
    /// The plan, or everything that is wrong.
    pub plan: Result<Plan, Problems>,
}

/// Reads and checks an experiment file.
pub fn read(experiment: &ExperimentFile) -> anyhow::Result<Checked> {
    let file = &experiment.file;
    let text = read_text_file(file)
        .with_context(|| format!("cannot read the experiment file {}", file.display()))?;
    // The plan must not depend on the folder from which the program was called.
    let whole = std::fs::canonicalize(file).unwrap_or_else(|_| file.clone());
    let machine = Host::here().machine();
    let memory_bytes = machine
        .memory_limit_bytes
        .unwrap_or(u64::MAX)
        .min(machine.memory_bytes);
    let overrides = Overrides {
        blocks: experiment.blocks,
        duration_ns: experiment.duration,
        warm_up_ns: experiment.warm_up,
        operations: experiment.operations,
        seed: experiment.seed,
        directory: experiment.directory.clone(),
        pilot: experiment.pilot,
        against_itself: experiment.aa.clone(),
        scale: experiment.scale.clone(),
    };
    let surroundings = Surroundings {
        base_dir: whole.parent().unwrap_or(Path::new(".")),
        engines: plimsoll_engine::kinds(),
        limits: if memory_bytes == 0 {
            Limits::UNKNOWN
        } else {
            Limits {
                memory_bytes,
                cores: machine.cores,
            }
        },
        overrides: &overrides,
        read_file: &read_text_file,
        measure: &|engine, settings, server, data| {
            bytes_per_record(&Sizing {
                engine,
                settings,
                server,
                data,
                allocator: crate::ALLOCATOR_NAME,
                state: &default_state_dir().map_err(|error| error.to_string())?,
            })
        },
    };
    let plan = check(&text, &file.display().to_string(), &surroundings);
    Ok(Checked { text, plan })
}

/// Shows what is wrong with a file.
pub fn complain(problems: &Problems, json: bool) -> std::io::Result<Exit> {
    if json {
        print(format_args!("{:#}\n", problems.to_json()))?;
    } else {
        anstream::eprintln!("{}", problems.render(screen::colours(), screen::columns()));
    }
    Ok(Exit::InvalidExperiment)
}

/// `plimsoll plan`.
pub fn plan(arguments: &arguments::Plan) -> anyhow::Result<Exit> {
    let plan = match read(&arguments.experiment)?.plan {
        Ok(plan) => plan,
        Err(problems) => return Ok(complain(&problems, arguments.json)?),
    };
    let explanation = explain(&plan, plimsoll_engine::kinds());
    let too_few = too_few_blocks(&plan);
    if arguments.json {
        let mut explained = serde_json::to_value(&explanation)?;
        explained["too_few_blocks"] = serde_json::to_value(too_few)?;
        print(format_args!("{explained:#}\n"))?;
    } else {
        if let Some(too_few) = too_few {
            print(format_args!("{too_few}\n\n"))?;
        }
        print(explanation)?;
    }
    Ok(Exit::Good)
}
