//! The arguments of `plimsoll init`.

use super::duration;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use plimsoll_plan::Pairing;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll init                                                            asks on a terminal; elsewhere it takes what is found and usual
  plimsoll init --question settings --setting cache_size --between 256MiB --between 1GiB
  plimsoll init --database mongod --question version --between /opt/7.0/bin/mongod --between /opt/8.0/bin/mongod
  plimsoll init --database mongodb://db1.example --question settings --within 30m
  plimsoll init --database mongod --question machine --between root@db1 --between root@db2=10.0.0.2

The file is checked as `plimsoll plan` checks it, and written only if it is valid. The number of blocks is chosen to fit the time.")]
pub struct Init {
    /// Where to write the experiment.
    #[arg(default_value = "experiment.yaml", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Which database: `embedded` is WiredTiger within this program, `mongod` one that is started for each run, and anything else the URI of a MongoDB that runs.
    #[arg(long)]
    pub database: Option<String>,
    /// What you want to know.
    #[arg(long)]
    pub question: Option<Question>,
    /// The setting that the arms differ in, where the question is about settings.
    #[arg(long, value_name = "KEY")]
    pub setting: Option<String>,
    /// What is compared, each once: values of the setting, disks, filesystems, sizes of the data as shares of the cache, programs or URIs, machines by ssh.
    #[arg(long, value_name = "ONE")]
    pub between: Vec<String>,
    /// The workload: one of YCSB's, a to f.
    #[arg(long)]
    pub workload: Option<Workload>,
    /// How much data, e.g. 2GiB [default: twice the cache, and less where storing it would take longer than measuring].
    #[arg(long)]
    pub data: Option<String>,
    /// How long it may take, e.g. 30m [default: 8m].
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub within: Option<u64>,
    /// How two arms are measured, where both can run at the same time [default: duet, and in-turn where other programs leave less than two processors].
    #[arg(long, value_parser = pairing())]
    pub pairing: Option<Pairing>,
    /// Replace the file if there is one.
    #[arg(long)]
    pub force: bool,
}

/// The user's question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Question {
    /// Which value of a setting is faster?
    Settings,
    /// Which index do my queries need, and what does it cost?
    Index,
    /// Which of several disks is needed?
    Disk,
    /// Which filesystem is faster for this workload?
    Filesystem,
    /// What happens when the data outgrows memory?
    Memory,
    /// Did the upgrade make it faster or slower?
    Version,
    /// Which machine is faster for this workload?
    Machine,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Workload {
    /// Half of it reads, half updates.
    A,
    /// 95 % reads, 5 % updates.
    B,
    /// Reads only, and no writes.
    C,
    /// 95 % reads of what came last, 5 % inserts.
    D,
    /// 95 % scans, 5 % inserts.
    E,
    /// Half reads, half reads followed by an update.
    F,
}

fn pairing() -> impl TypedValueParser<Value = Pairing> {
    PossibleValuesParser::new([
        PossibleValue::new("in-turn").help("One after the other, each on the whole machine"),
        PossibleValue::new("duet").help("Both at the same time, each on a half of the processors"),
    ])
    .map(|word| match word.as_str() {
        "duet" => Pairing::Duet,
        _ => Pairing::InTurn,
    })
}
