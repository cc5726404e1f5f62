mod agent;
mod audit;
mod bundle;
mod disk;
mod diskmap;
mod export;
mod gallery;
mod gate;
mod history;
mod imitate;
mod import;
mod init;
mod serve;
mod ycsb;

pub use agent::{Agent, AgentUse, Hosts, Nats, NatsCommand, NatsInit};
pub use audit::Audit;
pub use bundle::Bundle;
pub use disk::{
    Calibrate, Characterise, CloneDisk, Cut, Disk, DiskLog, Mount, Presets, SetDisk, Trace, Unmount,
};
pub use diskmap::Diskmap;
pub use export::Export;
pub use gallery::Gallery;
pub use gate::{Gate, OpenGate};
pub use history::History;
pub use imitate::Imitate;
pub use import::Import;
pub use init::{Init, Question, Workload};
pub use serve::Serve;
pub use ycsb::Ycsb;

use crate::exit;
use clap::{
    ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint,
};
use clap_complete::Shell;
use plimsoll_record::quantities::units;
use std::path::PathBuf;
use tracing_subscriber::filter::Targets;

/// A database benchmark laboratory: one experiment file in, one verdict out, with the evidence.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version = long_version(), after_help = exit::HELP, max_term_width = 100)]
pub struct Arguments {
    /// The store of all results [default: $XDG_DATA_HOME/plimsoll/plimsoll.db].
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, env = "PLIMSOLL_STORE", help_heading = GLOBAL)]
    pub store: Option<PathBuf>,
    /// Log to the standard error what is done; -vv logs every step of disks, filesystems and servers.
    #[arg(long, short, global = true, action = ArgAction::Count, help_heading = GLOBAL)]
    pub verbose: u8,
    /// What to log to the standard error, by level or by crate: info, or plimsoll_rig=debug,plimsoll_runner=info. Overrides -v.
    #[arg(long, global = true, value_name = "LEVELS", env = "PLIMSOLL_LOG", value_parser = log_levels, help_heading = GLOBAL)]
    pub log: Option<Targets>,
    #[command(subcommand)]
    pub command: Command,
}

const GLOBAL: &str = "Options of every command";

/// The commands of the first help, under a heading for each group.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Ask", &["init", "imitate", "plan", "run", "gate", "check", "disk", "remote"]),
    ("Look", &["report", "compare", "history", "list", "serve", "foreign", "clean"]),
    ("Share", &["export", "bundle"]),
];

/// Commands that few need, named in one line.
const SELDOM: &str = "\
Also: gallery (static pages of many results), schema (for editors), completions, man.
`plimsoll COMMAND --help` has examples.";

impl Arguments {
    /// The words of the command line, or why they cannot be read.
    pub fn of_command_line() -> Result<Self, clap::Error> {
        Self::from_arg_matches(&Self::described().try_get_matches()?)
    }

    /// The definition of the command line, in which the first help lists the commands by groups.
    pub fn described() -> clap::Command {
        let command = Self::command();
        let heading = *command.get_styles().get_header();
        let mut list = String::new();
        for (title, names) in GROUPS {
            list.push_str(&format!("{heading}{title}:{heading:#}\n"));
            for name in names {
                let about = command.find_subcommand(name).and_then(clap::Command::get_about);
                let about = about.map(ToString::to_string).unwrap_or_default();
                list.push_str(&format!("  {name:<8} {about}\n"));
            }
            list.push('\n');
        }
        command.help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{SELDOM}\n\n{heading}Options:{heading:#}\n{{options}}{{after-help}}"
        ))
    }
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
    /// Write an experiment file from a few answers.
    Init(Init),
    /// Write an experiment file that imitates a running MongoDB.
    Imitate(Imitate),
    /// Show what an experiment would run, in which order and for how long.
    Plan(Plan),
    /// Measure an experiment and print its verdict; resumes what was interrupted.
    Run(Run),
    /// Decide whether a new build, version or configuration is slower, for a CI.
    Gate(Gate),
    /// Check whether this machine is fit to measure on, and what to change.
    Check(Check),
    /// Measure and verify disks; list presets; read and draw traces.
    #[command(subcommand)]
    Disk(Disk),
    /// Use other machines: show them, serve as one, set up NATS.
    #[command(subcommand)]
    Remote(Remote),
    /// Print a result and write its page.
    Report(Show),
    /// Compare two arms, even of different experiments or days.
    Compare(Compare),
    /// Plot one metric over all records of an experiment, with its change points.
    History(History),
    /// List the experiments in the store.
    List(List),
    /// Show all experiments in a browser, live while they run.
    Serve(Serve),
    /// Import or audit results of YCSB, HdrHistogram and fio; replace bin/ycsb.
    #[command(subcommand)]
    Foreign(Foreign),
    /// Remove what killed runs left behind, or experiments from the store.
    Clean(Clean),
    /// Write a result as CSV, Parquet, JSON, HDR logs and in other formats.
    Export(Export),
    /// Put a result into one file that others can open, verify and run again.
    Bundle(Bundle),
    /// Write many results as static pages with a list of them, for a website.
    #[command(hide = true)]
    Gallery(Gallery),
    /// Print the JSON Schema of experiment files, for editors.
    #[command(hide = true)]
    Schema(Schema),
    /// Print completions for a shell.
    #[command(hide = true)]
    Completions {
        /// The shell for which completions are printed.
        shell: Shell,
    },
    /// Print the manual page of this program.
    #[command(hide = true)]
    Man,
    #[command(flatten)]
    Old(Old),
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

/// Machines that generate load or run servers.
#[derive(Debug, Subcommand)]
pub enum Remote {
    /// Show the machines of an experiment: how they are reached, what they are, what they lack, and how far their clocks are known.
    Hosts(Hosts),
    /// Serve another machine's `plimsoll run`: make disks and servers here, and load.
    Agent(Agent),
    /// Set up a NATS server that agents join.
    #[command(subcommand)]
    Nats(NatsCommand),
}

/// What other tools measured, and how they are called.
#[derive(Debug, Subcommand)]
pub enum Foreign {
    /// Import results of YCSB, YCSB-cpp, go-ycsb, HdrHistogram or fio, and analyse them as far as they allow.
    Import(Import),
    /// Say what can be believed of results that others published: of every output of YCSB, YCSB-cpp, go-ycsb, HdrHistogram and fio in files and folders.
    Audit(Audit),
    /// Replace YCSB's `bin/ycsb`: same command line, properties, report and status lines.
    Ycsb(Ycsb),
}

/// Commands by the names that they had before 0.2. Release 0.3 will drop them.
#[derive(Debug, Subcommand)]
pub enum Old {
    #[command(hide = true)]
    Hosts(Hosts),
    #[command(hide = true)]
    Agent(Agent),
    #[command(hide = true, subcommand)]
    Nats(NatsCommand),
    #[command(hide = true)]
    Diskmap(Diskmap),
    #[command(hide = true)]
    Import(Import),
    #[command(hide = true)]
    Audit(Audit),
    #[command(hide = true)]
    Ycsb(Ycsb),
    #[command(hide = true)]
    Rm(Clean),
}

impl Old {
    /// The command by the name that it has now, and a note that says so where a person may have typed it.
    pub fn renamed(self) -> (Command, Option<String>) {
        let (old, new, command) = match self {
            // `plimsoll run` starts it so, as do experiment files.
            Self::Agent(agent) if agent.stdio => {
                return (Command::Remote(Remote::Agent(agent)), None);
            }
            Self::Hosts(it) => ("hosts", "remote hosts", Command::Remote(Remote::Hosts(it))),
            Self::Agent(it) => ("agent", "remote agent", Command::Remote(Remote::Agent(it))),
            Self::Nats(it) => ("nats", "remote nats", Command::Remote(Remote::Nats(it))),
            Self::Diskmap(it) => ("diskmap", "disk map", Command::Disk(Disk::Map(it))),
            Self::Import(it) => ("import", "foreign import", Command::Foreign(Foreign::Import(it))),
            Self::Audit(it) => ("audit", "foreign audit", Command::Foreign(Foreign::Audit(it))),
            Self::Ycsb(it) => ("ycsb", "foreign ycsb", Command::Foreign(Foreign::Ycsb(it))),
            Self::Rm(it) => ("rm", "clean", Command::Clean(it)),
        };
        let note = format!(
            "`plimsoll {old}` is `plimsoll {new}` now; the old name goes away with release 0.3"
        );
        (command, Some(note))
    }
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
    /// Wait until all members have joined.
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
  plimsoll run mine.yaml                             measures, or goes on where it was interrupted
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
    /// Print all figures, causes and warnings, and not only the answer with three figures of each arm.
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
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
#[command(after_help = "\
Examples:
  plimsoll plan mine.yaml                     what would run, for how long, and where each value comes from
  plimsoll plan mine.yaml --find 1%           how many blocks a difference of 1 % needs, by earlier experiments
  plimsoll plan shop.yaml --documents         documents of your collections, and your operations with the number of documents that each must find")]
pub struct Plan {
    #[command(flatten)]
    pub experiment: ExperimentFile,
    /// Say how many blocks and how much time a difference of this size needs, e.g. 1%: in turn and in duets, by earlier experiments of this name and load on this machine.
    #[arg(long, value_name = "SIZE", value_parser = share)]
    pub find: Option<f64>,
    /// Print this many documents of each collection of the experiment (2 without a number), each operation as it may be sent, and how the number of documents that it finds is verified.
    #[arg(long, value_name = "COUNT", num_args = 0..=1, default_missing_value = "2", require_equals = true, conflicts_with = "find")]
    pub documents: Option<u64>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll check                              this machine, and where data is stored by default
  plimsoll check --directory /mnt/ssd         another place for the data")]
pub struct Check {
    /// Directory intended for data; can be repeated [default: the program's own].
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub directory: Vec<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll report                             the last result: the answer, on one screen
  plimsoll report last --all                  all figures, causes and warnings
  plimsoll report 1f3a --page result.html     an experiment by its id, with its page
  plimsoll report result.plimsoll             a bundle that somebody sent")]
pub struct Show {
    /// Experiment: id or its beginning, name, `last`, or the file of an exported record.
    #[arg(default_value = "last")]
    pub experiment: String,
    /// Print all figures, causes and warnings, and not only the answer with three figures of each arm.
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
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
#[command(after_help = "\
Examples:
  plimsoll list
  plimsoll list --name filesystems --unfinished")]
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
  plimsoll clean                     undoes what killed runs left: mounts, loop devices, groups, processes, data directories
  plimsoll clean --dry-run           only lists it
  plimsoll clean 1f3a9c2e 9b2c       removes these experiments, with their traces, logs and pages
  plimsoll clean --failed            removes experiments without any finished run, such as failed logins")]
pub struct Clean {
    /// Ids of experiments, or their beginnings, to remove from the store; `plimsoll list` shows them.
    #[arg(value_name = "ID", conflicts_with = "json")]
    pub ids: Vec<String>,
    /// Remove all experiments in which no run has finished and that are not running.
    #[arg(long, conflicts_with = "json")]
    pub failed: bool,
    /// Only list what would be removed; change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll schema > experiment.schema.json    for an editor that knows YAML schemas")]
pub struct Schema {
    /// Print the reference of all keys as Markdown instead.
    #[arg(long)]
    pub reference: bool,
}
