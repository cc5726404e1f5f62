//! The command line of `plimsoll foreign import`.

use clap::Args;
use plimsoll_import::{Format, Unit};
use plimsoll_record::Operation;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll foreign import old.txt                                     one arm, called old
  plimsoll foreign import ext4=e1.txt,e2.txt,e3.txt xfs=x1.txt,x2.txt,x3.txt   two arms, three runs each
  plimsoll foreign import --arm ext4 results/*.txt                    all files are runs of one arm
  plimsoll foreign import wt=run.txt+READ.hdr+UPDATE.hdr              a run's output with its HDR logs
  plimsoll foreign import READ.hdr --threads 16                       supply what the file does not contain

Runs of one arm at the same load and workload become its blocks; runs at other loads become points of a curve. Missing information
stays unknown, and every gate that needs it reports so. Passwords in the files are removed. See docs/import.md.")]
pub struct Import {
    /// A file, or an arm with its files: ARM=FILE,FILE. Join the files of one run with `+`.
    #[arg(required = true, value_name = "[ARM=]FILE")]
    pub inputs: Vec<String>,
    /// Name of the experiment [default: the name of the first file].
    #[arg(long)]
    pub name: Option<String>,
    /// Arm for all files given without one [default: each file is an arm, named after the file].
    #[arg(long)]
    pub arm: Option<String>,
    /// Format of the files: ycsb, ycsb-cpp, go-ycsb, hdr or fio [default: detected].
    #[arg(long, value_parser = format)]
    pub format: Option<Format>,
    /// Name of the workload; overrides the files. Runs with the same workload name are compared.
    #[arg(long, value_name = "NAME")]
    pub mix: Option<String>,
    /// Number of threads, needed for Little's law; overrides the files.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Time unit of HDR logs: ns, us or ms [default: from the log, else us].
    #[arg(long, value_parser = unit)]
    pub unit: Option<Unit>,
    /// Operation of HDR logs that do not name one: read, update, insert, scan, delete, read-modify-write.
    #[arg(long, value_parser = operation)]
    pub operation: Option<Operation>,
    /// Accepted share of failed operations, e.g. 0.1% [default: none; a run with failures is invalid].
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub allow_errors: Option<f64>,
    /// The runs of each block were measured together, in turns: compare them as pairs.
    #[arg(long)]
    pub paired: bool,
    /// Print all figures, causes and warnings, and not only the answer with three figures of each arm.
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
    /// Print the analysis as JSON, and write no page unless --page is given.
    #[arg(long)]
    pub json: bool,
    /// Where to write the page [default: beside the store, in pages/].
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub page: Option<PathBuf>,
}

fn format(word: &str) -> Result<Format, String> {
    let found = Format::ALL.into_iter().find(|format| format.word() == word);
    found.ok_or_else(|| "ycsb, ycsb-cpp, go-ycsb, hdr and fio can be imported".into())
}

fn share(text: &str) -> Result<f64, String> {
    plimsoll_record::quantities::units::parse_share(text).map_err(|error| error.to_string())
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
    let found = Operation::YCSB.into_iter().find(|one| one.name() == word);
    found.ok_or_else(|| {
        let names = Operation::YCSB.map(Operation::name);
        format!("the operations are {}", names.join(", "))
    })
}
