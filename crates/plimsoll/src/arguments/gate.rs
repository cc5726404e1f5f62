//! The arguments of `plimsoll gate`.

use super::agent::Nats;
use super::{duration, share};
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

/// What an answer that is not certain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OpenGate {
    /// A failure: exit code 106.
    Fail,
    /// A success: exit code 0.
    Pass,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll gate old/mongod new/mongod --file bench.yaml        two builds or versions of a server, by one experiment file
  plimsoll gate base.yaml new.yaml --margin 2%                 two commits of a configuration: each file has one arm
  plimsoll gate base.yaml new.yaml --within 30m --markdown gate.md --page gate.html

Both run at the same time, each on a half of the processors (duets), and change halves: what disturbs the machine disturbs both. It looks at the
intervals after some 10 blocks and then ever more rarely, and ends when they answer the question: exit code 0 where nothing that decides (`compare.primary`
in the file) loses more than its margin, 99 where something does. Where its time is over first, the answer is open: exit code 106, or 0 with
--open pass. All looks together are wrong as rarely as one interval of 95 %.

A gate starts from nothing each time, because a file of the same name may be another build. Its results are kept as those of any experiment:
`plimsoll history NAME --arm new --any-plan` draws them.")]
pub struct Gate {
    /// What is known: an experiment file with one arm, or with --file a server's program.
    #[arg(value_hint = ValueHint::FilePath)]
    pub base: PathBuf,
    /// What is in question, of the same kind.
    #[arg(value_hint = ValueHint::FilePath)]
    pub new: PathBuf,
    /// The experiment file that BASE and NEW, two programs of its server, are measured by.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Time of runs after which it ends without an answer, e.g. 30m.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "15m")]
    pub within: u64,
    /// The largest loss that does not matter, of every metric that decides; overrides the file.
    #[arg(long, value_name = "SIZE", value_parser = share)]
    pub margin: Option<f64>,
    /// Run in turn, each on the whole machine, unless the file asks for duets.
    #[arg(long)]
    pub in_turn: bool,
    /// Measured time per point, e.g. 5s; overrides the file.
    #[arg(long, value_parser = duration)]
    pub duration: Option<u64>,
    /// Warm-up before each point, e.g. 1s; overrides the file.
    #[arg(long, value_parser = duration)]
    pub warm_up: Option<u64>,
    /// Random seed; overrides the file.
    #[arg(long)]
    pub seed: Option<u64>,
    /// A scale defined in the file, e.g. full.
    #[arg(long)]
    pub scale: Option<String>,
    /// Where the data directories are created; overrides the file.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub directory: Option<PathBuf>,
    /// What an open answer is for a CI.
    #[arg(long, value_enum, default_value_t = OpenGate::Fail)]
    pub open: OpenGate,
    /// As `--open fail`, which is the default.
    #[arg(long, hide = true, conflicts_with = "open")]
    pub strict: bool,
    /// Skip the fio check of emulated disks. Their points are marked invalid.
    #[arg(long)]
    pub no_calibration: bool,
    /// Wait until other programs use less than 5 % of the processors, at most this long, e.g. 10m.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub wait_quiet: Option<u64>,
    /// Also write the result as Markdown, for a pull request or the summary of a job.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub markdown: Option<PathBuf>,
    /// Also write the answer as a JUnit report, in which the gate is a test case.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub junit: Option<PathBuf>,
    /// Print all figures, causes and warnings, and not only the answer with three figures of each arm.
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
    /// Print the analysis as JSON.
    #[arg(long)]
    pub json: bool,
    /// Where to write the page [default: beside the store, in pages/].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub page: Option<PathBuf>,
    /// Show no progress, only the result.
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub nats: Nats,
}
