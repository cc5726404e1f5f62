//! The command line of `plimsoll import`.

use clap::Args;
use plimsoll_import::{Format, Unit};
use plimsoll_record::Operation;
use std::path::PathBuf;

/// `plimsoll import`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll import old.txt                                     one arm, called old
  plimsoll import ext4=e1.txt,e2.txt,e3.txt xfs=x1.txt,x2.txt,x3.txt   two arms of three runs each
  plimsoll import --arm ext4 results/*.txt                    all files are runs of one arm
  plimsoll import wt=run.txt+READ.hdr+UPDATE.hdr              a run's text and its HDR logs, read together
  plimsoll import READ.hdr --threads 16                       what the file does not say

Runs of an arm at the same load of the same workload are its blocks; at other loads they are points of a curve. What a file does not say
is left open, and every gate that needs it says so. Passwords in what the files quote are not kept. See docs/import.md.")]
pub struct Import {
    /// A file, or an arm with its files: ARM=FILE,FILE. Files of one run are joined by `+`.
    #[arg(required = true, value_name = "[ARM=]FILE")]
    pub inputs: Vec<String>,
    /// Name of the experiment [default: that of the first file].
    #[arg(long)]
    pub name: Option<String>,
    /// The arm of all files that are given without one [default: each is an arm, called as the file].
    #[arg(long)]
    pub arm: Option<String>,
    /// What the files are, in place of looking: ycsb, go-ycsb, hdr or fio.
    #[arg(long, value_parser = format)]
    pub format: Option<Format>,
    /// Name of the workload, in place of what the files say: runs of workloads of the same name are compared.
    #[arg(long, value_name = "NAME")]
    pub mix: Option<String>,
    /// How many sessions there were, in place of what the files say: Little's law needs it.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// In what HDR logs count: ns, us or ms [default: what the log says, or us].
    #[arg(long, value_parser = unit)]
    pub unit: Option<Unit>,
    /// Which operation HDR logs are of where they do not say: read, update, insert, scan, delete, read-modify-write.
    #[arg(long, value_parser = operation)]
    pub operation: Option<Operation>,
    /// Share of the operations that may have failed, such as 0.1% [default: none, a run with failures does not count].
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub allow_errors: Option<f64>,
    /// The runs of each block were made side by side, in turns: compare them in pairs.
    #[arg(long)]
    pub paired: bool,
    /// Print the analysis as JSON, and write no page unless --page is given.
    #[arg(long)]
    pub json: bool,
    /// Where to write the page [default: beside the store, in pages/].
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub page: Option<PathBuf>,
}

fn format(word: &str) -> Result<Format, String> {
    let found = Format::ALL.into_iter().find(|format| format.word() == word);
    found.ok_or_else(|| "ycsb, go-ycsb, hdr and fio can be imported".into())
}

fn share(text: &str) -> Result<f64, String> {
    plimsoll_experiment::units::parse_share(text).map_err(|error| error.to_string())
}

fn unit(word: &str) -> Result<Unit, String> {
    match word {
        "ns" => Ok(Unit::Nanos),
        "us" | "µs" => Ok(Unit::Micros),
        "ms" => Ok(Unit::Millis),
        _ => Err("the units are ns, us and ms".into()),
    }
}

fn operation(word: &str) -> Result<Operation, String> {
    let found = Operation::ALL.into_iter().find(|one| one.name() == word);
    found.ok_or_else(|| {
        let names = Operation::ALL.map(Operation::name);
        format!("the operations are {}", names.join(", "))
    })
}
