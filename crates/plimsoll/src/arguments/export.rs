//! The arguments of `plimsoll export`.

use clap::{Args, ValueHint};
use plimsoll_report::export::Form;
use std::path::PathBuf;

/// `plimsoll export`.
#[derive(Args, Debug)]
#[command(after_help = "\
Forms:
  csv         points, slices, figures and trials as tables; each column says its unit
  parquet     the same tables with types, for pandas, DuckDB, Polars or Spark
  json        record.json, which every command that takes an experiment takes as well; analysis.json
  hdr         a log for each run, for the HdrHistogram tools
  fio         what fio said of emulated disks
  perfkit     perfkit.json, samples as PerfKit Benchmarker writes them
  prometheus  metrics.prom, for node_exporter's textfile collector

Examples:
  plimsoll export                                         everything of the last experiment
  plimsoll export quickstart --only parquet --to tables   the tables for a notebook
  plimsoll export 1f3a --only csv,json --to .             two forms, into this folder

Existing files are never overwritten. Columns and units are in docs/exports.md.")]
pub struct Export {
    /// Id (or its beginning), name, `last`, or a file with an exported record.
    #[arg(default_value = "last")]
    pub experiment: String,
    /// Only these forms, between commas [default: all].
    #[arg(long, value_name = "FORM", value_delimiter = ',', value_parser = form)]
    pub only: Vec<Form>,
    /// Folder for the files; it is made, and must not hold files of the same names [default: ./plimsoll-NAME-ID].
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub to: Option<PathBuf>,
    /// Print what was written as JSON.
    #[arg(long)]
    pub json: bool,
}

fn form(word: &str) -> Result<Form, String> {
    let found = Form::ALL.into_iter().find(|form| form.word() == word);
    found.ok_or_else(|| {
        let words = Form::ALL.map(Form::word);
        format!("the forms are {}", words.join(", "))
    })
}
