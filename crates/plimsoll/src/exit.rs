use crate::screen::tell;
use plimsoll_experiment::Problems;
use plimsoll_record::redact::lines;
use plimsoll_rig::RigError;
use plimsoll_runner::RunnerError;
use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Good = 0,
    /// Anything that has no code of its own.
    Failed = 1,
    /// The command line is wrong, where it is not clap that says so.
    Usage = 2,
    /// A threshold of the experiment is broken, or a gate failed.
    ThresholdBroken = 99,
    /// The experiment file is not valid.
    InvalidExperiment = 104,
    Interrupted = 105,
    /// The measurement is not valid.
    InvalidMeasurement = 106,
    /// What a shell says of a program that Ctrl-C ended, for scripts that expect YCSB.
    EndedBySignal = 130,
}

/// For `--help`; 2 is mostly clap's own.
pub const HELP: &str = "\
Exit codes:
    0  success
    1  any error without a code of its own
    2  wrong usage
   99  a threshold of the experiment failed, or a gate
  104  the experiment file is invalid
  105  interrupted; what was measured is kept, the same command resumes
  106  the measurement is invalid: no valid comparison, failed runs, or a disk that misses its description";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// A file exists, and is no experiment file at all.
#[derive(Debug)]
pub struct NoExperiment(pub String);

impl std::fmt::Display for NoExperiment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The code for an error that ended the program.
pub fn code_of(error: &anyhow::Error) -> Exit {
    if error.downcast_ref::<Problems>().is_some() || error.is::<NoExperiment>() {
        return Exit::InvalidExperiment;
    }
    match error.downcast_ref::<RunnerError>() {
        Some(RunnerError::NotCalibrated(_) | RunnerError::Rig(RigError::NotCarried(_))) => {
            Exit::InvalidMeasurement
        }
        _ => Exit::Failed,
    }
}

/// Says what is wrong with the command line, or helps with it. A word that a shell took from a folder may be a stranger's.
pub fn wrong_usage(error: &clap::Error) -> ExitCode {
    let text = error.to_string();
    if lines(&text) == text {
        error.exit();
    }
    tell(text.trim_end());
    ExitCode::from(Exit::Usage as u8)
}

/// The error with its causes. Many errors name their cause in their own words, and it is not said twice.
pub fn message(error: &anyhow::Error) -> String {
    let mut message = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !message.contains(&cause) {
            message.push_str(": ");
            message.push_str(&cause);
        }
    }
    message
}
