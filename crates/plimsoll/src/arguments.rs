mod agent;
mod audit;
mod bundle;
mod disk;
mod diskmap;
mod export;
mod gallery;
mod gate;
mod history;
mod import;
mod init;
mod serve;
mod ycsb;

pub use agent::{Agent, AgentUse, Hosts, Nats, NatsCommand, NatsInit};
pub use audit::Audit;
pub use bundle::Bundle;
pub use disk::{Calibrate, Characterise, Disk, Presets, Trace};
pub use diskmap::Diskmap;
pub use export::Export;
pub use gallery::Gallery;
pub use gate::{Gate, OpenGate};
pub use history::History;
pub use import::Import;
pub use init::{Init, Question, Workload};
pub use serve::Serve;
pub use ycsb::Ycsb;

use crate::exit;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use plimsoll_record::quantities::units;
use std::path::PathBuf;
use tracing_subscriber::filter::Targets;

/// A database benchmark laboratory: one experiment file in, one verdict out, with the evidence.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version = long_version(), after_help = exit::HELP, max_term_width = 100)]
pub struct Arguments {
    /// The store of all results [default: $XDG_DATA_HOME/plimsoll/plimsoll.db].
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, env = "PLIMSOLL_STORE")]
    pub store: Option<PathBuf>,
    /// Log to the standard error what is done; -vv logs every step of disks, filesystems and servers.
    #[arg(long, short, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// What to log to the standard error, by level or by crate: info, or plimsoll_rig=debug,plimsoll_runner=info. Overrides -v.
    #[arg(long, global = true, value_name = "LEVELS", env = "PLIMSOLL_LOG", value_parser = log_levels)]
    pub log: Option<Targets>,
    #[command(subcommand)]
    pub command: Command,
}

fn log_levels(text: &str) -> Result<Targets, String> {
    text.parse().map_err(|_| {
        format!("`{text}` is not a level (error, warn, info, debug, trace, off) and no list such as plimsoll_rig=debug,plimsoll_runner=info")
    })
}

fn long_version() -> &'static str {
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("PLIMSOLL_COMMIT"), ")")
}
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Validate, plan, run and report an experiment; resume it if it was interrupted.
    Run(Run),
    /// Show what would run, in which order, for how long, with which resources, and where each value comes from.
    Plan(Plan),
    /// Write an experiment file that runs, from a few answers: which database, what you want to know, how long it may take.
    Init(Init),
    /// Ask whether a new build, version or configuration is slower than the one that is known, for a CI: exit code 99 if it loses more than a margin.
    Gate(Gate),
    /// Check whether this machine is fit to measure on, and what to change.
    Check(Check),
    /// Show the machines of an experiment: how they are reached, what they are, what they lack, and how far their clocks are known.
    Hosts(Hosts),
    /// Set up a NATS server that agents join.
    #[command(subcommand)]
    Nats(NatsCommand),
    /// Serve another machine's `plimsoll run`: make disks and servers here, and load.
    Agent(Agent),
    /// Measure disks, verify emulated disks, and read their traces.
    #[command(subcommand)]
    Disk(Disk),
    /// Draw where in its files a database reads and writes, as a still or an animation.
    Diskmap(Diskmap),
    /// Print the result of an experiment and write its page.
    Report(Show),
    /// Compare two arms, even of different experiments or days.
    Compare(Compare),
    /// Plot one metric over all records of an experiment, with its change points.
    History(History),
    /// Show all experiments as pages in a browser, live while they run.
    Serve(Serve),
    /// Import results of YCSB, YCSB-cpp, go-ycsb, HdrHistogram or fio, and analyse them as far as they allow.
    Import(Import),
    /// Say what can be believed of results that others published: of every output of YCSB, YCSB-cpp, go-ycsb, HdrHistogram and fio in files and folders.
    Audit(Audit),
    /// List the experiments in the store.
    List(List),
    /// Remove experiments from the store, with their traces, logs and pages.
    Rm(Rm),
    /// Export an experiment as CSV, Parquet, JSON, HDR logs, PerfKit samples, Prometheus text or a trace for Perfetto.
    Export(Export),
    /// Put a result into one file with its page, experiment file and record, which others can open, verify and run again.
    Bundle(Bundle),
    /// Write many results as static pages with a list of them, for a website.
    Gallery(Gallery),
    /// Replace YCSB's `bin/ycsb`: same command line, properties, report and status lines.
    Ycsb(Ycsb),
    /// Remove what killed runs left behind: mounts, loop devices, control groups, processes, data directories. Touches nothing else.
    Clean(Clean),
    /// Print the JSON Schema of experiment files, for editors.
    Schema(Schema),
    /// Print completions for a shell.
    Completions {
        /// The shell for which completions are printed.
        shell: Shell,
    },
    /// Print the manual page of this program.
    Man,
    /// One run, on orders from `plimsoll run`.
    #[command(hide = true)]
    Worker,
    /// One emulated disk, on orders from the program that needs it.
    #[command(hide = true)]
    DiskDaemon,
    /// Makes a replica set of servers that were just started, queries it and sends it commands, for the process that started them.
    #[command(hide = true)]
    ReplicaSet {
        /// What it is to do.
        order: SetOrderWord,
        /// Host and port of each member, with commas between them.
        members: String,
    },
    /// What needs root, on orders from the program that needs it.
    #[command(hide = true)]
    Rig {
        /// What may be made; without it everything.
        #[arg(long, value_delimiter = ',')]
        allow: Option<Vec<AgentUse>>,
    },
}

impl Command {
    /// Whether it is for this program itself.
    pub fn is_hidden(&self) -> bool {
        matches!(self, Self::Worker | Self::DiskDaemon | Self::ReplicaSet { .. } | Self::Rig { .. })
    }
}

/// What a replica set is to do.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SetOrderWord {
    /// Make the set of these members.
    Initiate,
    /// Print the number of its primary.
    Primary,
    /// Have its members elect another primary.
    StepDown,
    /// Wait until all members are there.
    Whole,
}

/// An experiment file with values that win over it.
#[derive(Args, Debug, Default)]
pub struct ExperimentFile {
    /// The experiment file (YAML); see docs/experiment-file.md.
    #[arg(value_hint = ValueHint::FilePath, required_unless_present = "uri")]
    pub file: Option<PathBuf>,
    /// Instead of a file: benchmark a running MongoDB server with YCSB's workloads A and C at 1 to 64 threads, in the database `plimsoll` unless the URI names one.
    #[arg(long, conflicts_with = "file", value_parser = uri)]
    pub uri: Option<String>,
    #[command(flatten)]
    pub by_uri: ByUri,
    /// Number of blocks (rounds through all arms); overrides the file.
    #[arg(long, value_parser = blocks)]
    pub blocks: Option<u32>,
    /// Measured time per point, e.g. 30s; overrides the file.
    #[arg(long, value_parser = duration)]
    pub duration: Option<u64>,
    /// Warm-up before each point, e.g. 5s; overrides the file.
    #[arg(long, value_parser = duration)]
    pub warm_up: Option<u64>,
    /// End each point after this many operations, e.g. 1M.
    #[arg(long, value_parser = count)]
    pub operations: Option<u64>,
    /// Random seed; overrides the file.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Run 5 blocks, too few for a verdict, to learn how much results vary from run to run; the report then states how many blocks a verdict needs.
    #[arg(long, conflicts_with = "blocks")]
    pub pilot: bool,
    /// Compare one arm (default: the baseline) with a copy of itself: any difference is this machine's noise.
    #[arg(long, value_name = "ARM", num_args = 0..=1, require_equals = true)]
    pub aa: Option<Option<String>>,
    /// Measure a copy of the baseline that is slowed down by this share, e.g. 2%, beside the arms: whether that is found says what this experiment can find. Repeatable; 0% adds an exact copy.
    #[arg(long, value_name = "SIZE", value_parser = share)]
    pub control: Vec<f64>,
    /// Run the two arms of each pair at the same time, each on a half of the processors: what disturbs the machine disturbs both.
    #[arg(long)]
    pub duet: bool,
    /// A scale defined in the file, e.g. full.
    #[arg(long)]
    pub scale: Option<String>,
    /// Where the data directories of all arms are created; overrides the file.
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub directory: Option<PathBuf>,
}

/// What is chosen beside `--uri`.
#[derive(Args, Debug, Default)]
pub struct ByUri {
    /// With --uri: how many documents are stored, of 1 kB each [default: 100k].
    #[arg(long, requires = "uri", value_parser = count)]
    pub records: Option<u64>,
    /// With --uri: workloads of YCSB, with commas between them [default: a,c].
    #[arg(long, requires = "uri", value_delimiter = ',', value_parser = ["a", "b", "c", "d", "e", "f"], value_name = "a,b,...")]
    pub workload: Vec<String>,
    /// With --uri: numbers of threads, with commas between them [default: 1,4,16,64].
    #[arg(long, requires = "uri", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..), value_name = "N,...")]
    pub threads: Vec<u32>,
}

fn uri(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("it is empty: is the variable that holds it set?".into());
    }
    if !["mongodb://", "mongodb+srv://"].iter().any(|scheme| text.starts_with(scheme)) {
        // What stands there may be a password.
        return Err("it is no address of a MongoDB server: write mongodb://HOST:PORT, or mongodb+srv://HOST".into());
    }
    Ok(text.into())
}

fn blocks(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number of blocks, e.g. 8"))
}

fn duration(text: &str) -> Result<u64, String> {
    units::parse_duration(text).map_err(|error| error.to_string())
}

fn share(text: &str) -> Result<f64, String> {
    units::parse_share(text).map_err(|error| error.to_string())
}

fn count(text: &str) -> Result<u64, String> {
    units::parse_count(text).map_err(|error| error.to_string())
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll run studies/quickstart.yaml
  plimsoll run --uri mongodb://127.0.0.1:27017       a running server, without a file
  plimsoll run --uri mongodb://db --workload b --threads 8,32 --records 1M
  plimsoll run mine.yaml --blocks 2 --duration 2s    a quick look: too few blocks for a verdict
  plimsoll run mine.yaml --pilot                     5 blocks, to learn how many a verdict needs
  plimsoll run mine.yaml --aa                        the baseline against itself: this machine's noise floor
  plimsoll run mine.yaml --only disk=san-raid10      a part of a grid; the same command without --only resumes
  plimsoll run mine.yaml --json > result.json        messages go to the standard error
  plimsoll run mine.yaml --junit thresholds.xml      for a CI server; exit code 99 if a threshold fails

Ctrl-C ends the point cleanly and keeps what was measured; a second one ends the worker at once.
Run the same command to resume.")]
pub struct Run {
    #[command(flatten)]
    pub experiment: ExperimentFile,
    #[command(flatten)]
    pub nats: Nats,
    /// Start over, even if the store holds an unfinished experiment with the same plan.
    #[arg(long)]
    pub fresh: bool,
    /// Run only these arms now and leave the rest of the experiment for later: FACTOR=LEVEL, or the name of an arm; can be repeated. Levels of one factor add up, factors restrict each other.
    #[arg(long, value_name = "FACTOR=LEVEL")]
    pub only: Vec<String>,
    /// Skip the fio check of emulated disks. Their points are marked invalid.
    #[arg(long)]
    pub no_calibration: bool,
    /// Wait until other programs use less than 5 % of the processors, at most this long, e.g. 10m.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub wait_quiet: Option<u64>,
    /// Do not ask before documents are stored in the server (--uri), or before what a bundle names is started.
    #[arg(long)]
    pub yes: bool,
    /// With --uri: leave the documents there at the end.
    #[arg(long, requires = "uri")]
    pub keep: bool,
    /// Make every run, even if too many points are already invalid for a verdict.
    #[arg(long)]
    pub keep_going: bool,
    /// Start an experiment longer than ten minutes even though it has too few blocks for a verdict.
    #[arg(long)]
    pub anyway: bool,
    /// Print the analysis as JSON.
    #[arg(long)]
    pub json: bool,
    /// Where to write the page [default: beside the store, in pages/].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub page: Option<PathBuf>,
    /// Also write a JUnit report: a test case for each threshold or, without any, for each deciding comparison.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub junit: Option<PathBuf>,
    /// Also write the result as Markdown, for a pull request or an issue.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub markdown: Option<PathBuf>,
    /// Show no progress, only the result.
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct Plan {
    #[command(flatten)]
    pub experiment: ExperimentFile,
    /// Say how many blocks and how much time a difference of this size needs, e.g. 1%: in turn and in duets, by earlier experiments of this name and load on this machine.
    #[arg(long, value_name = "SIZE", value_parser = share)]
    pub find: Option<f64>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct Check {
    /// Directory intended for data; can be repeated [default: the program's own].
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub directory: Vec<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct Show {
    /// Experiment: id or its beginning, name, `last`, or the file of an exported record.
    #[arg(default_value = "last")]
    pub experiment: String,
    /// Print the analysis as JSON, and write no page unless --page is given.
    #[arg(long)]
    pub json: bool,
    /// Where to write the page [default: beside the store, in pages/].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub page: Option<PathBuf>,
    /// Also write a JUnit report: a test case for each threshold or, without any, for each deciding comparison.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub junit: Option<PathBuf>,
    /// Also write the result as Markdown, for a pull request or an issue.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub markdown: Option<PathBuf>,
    /// Also write every chart of the page as an SVG file of its own into this folder, for a talk or a text.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub svg: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll compare last                      every comparison within the last experiment
  plimsoll compare 1f3a:xfs 9b2c:xfs         one arm on two days, unpaired")]
pub struct Compare {
    /// Experiment (id or its beginning, name, `last`, or a record file), followed by `:ARM` when comparing two.
    pub first: String,
    /// A second experiment and arm. Blocks of different experiments cannot be paired, so intervals are wider.
    pub second: Option<String>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct List {
    /// Only experiments with this name.
    #[arg(long)]
    pub name: Option<String>,
    /// List only experiments that are unfinished.
    #[arg(long)]
    pub unfinished: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll rm 1f3a9c2e 9b2c
  plimsoll rm --failed --dry-run     experiments without any finished run, such as failed logins")]
pub struct Rm {
    /// Ids of experiments, or their beginnings; `plimsoll list` shows them.
    #[arg(required_unless_present = "failed", value_name = "ID")]
    pub ids: Vec<String>,
    /// All experiments in which no run has finished and that are not running.
    #[arg(long)]
    pub failed: bool,
    /// Only list what would be removed; change nothing.
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Args, Debug)]
pub struct Clean {
    /// Only list what would be removed; change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct Schema {
    /// Print the reference of all keys as Markdown instead.
    #[arg(long)]
    pub reference: bool,
}
