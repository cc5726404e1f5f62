//! `plimsoll foreign ycsb`: the drop-in for YCSB.

use crate::arguments;
use crate::exit::Exit;
use crate::screen::tell;
use anyhow::Context;
use plimsoll_ycsb::{
    Command, CommandError, Ended, MOST_OF_A_FILE, Surroundings, USAGE, YcsbError, execute,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub fn ycsb(arguments: &arguments::Ycsb) -> anyhow::Result<Exit> {
    let end: fn(Exit) -> Exit = if arguments.exit_as_ycsb { as_ycsb } else { |exit| exit };
    let phase = arguments.phase.as_deref().unwrap_or_default();
    let command = Command::read(phase, &arguments.words, &|path| {
        plimsoll_record::files::read(path, MOST_OF_A_FILE)
    });
    let command = match command {
        Ok(command) => command,
        Err(error) => {
            if matches!(error, CommandError::Usage(_)) {
                tell(format_args!("{USAGE}\n"));
            }
            tell(format_args!("plimsoll ycsb: {error}"));
            return Ok(end(Exit::Usage));
        }
    };
    let is_stopped = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&is_stopped);
    ctrlc::set_handler(move || {
        if stopped.swap(true, Ordering::Relaxed) {
            // The second Ctrl-C: an operation does not return, or the report is not wanted.
            std::process::exit(end(Exit::Interrupted) as i32);
        }
    })
    .context("cannot wait for Ctrl-C")?;
    let surroundings = Surroundings {
        version: env!("CARGO_PKG_VERSION"),
        allocator: crate::allocator::NAME,
        stop: &|| is_stopped.load(Ordering::Relaxed),
    };
    match execute(&command, &surroundings) {
        Ok(ended) => Ok(end(exit(&ended))),
        Err(error) => {
            tell(format_args!("plimsoll ycsb: {error}"));
            Ok(end(code(&error)))
        }
    }
}

/// How YCSB would have ended: scripts take anything but 0 for a run that gave no report.
fn as_ycsb(exit: Exit) -> Exit {
    match exit {
        Exit::InvalidMeasurement => Exit::Good,
        Exit::Usage => Exit::Failed,
        Exit::Interrupted => Exit::EndedBySignal,
        other => other,
    }
}

fn exit(ended: &Ended) -> Exit {
    for complaint in &ended.complaints {
        tell(format_args!("plimsoll ycsb: {complaint}"));
    }
    if ended.is_interrupted {
        tell("plimsoll ycsb: interrupted; the report is of what was measured");
        Exit::Interrupted
    } else if ended.complaints.is_empty() {
        Exit::Good
    } else {
        Exit::InvalidMeasurement
    }
}

fn code(error: &YcsbError) -> Exit {
    if error.is_usage() { Exit::Usage } else { Exit::Failed }
}
