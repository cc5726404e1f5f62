//! The arguments of `plimsoll export`.

use clap::{Args, ValueHint};
use plimsoll_report::export::Form;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Formats:
  csv         points, slices, figures and trials as tables; column names include units
  parquet     the same tables with types, for pandas, DuckDB, Polars or Spark
  json        record.json, which every command accepts as an experiment, and analysis.json
  hdr         one log per run, for the HdrHistogram tools
  fio         fio's output for emulated disks
  perfkit     perfkit.json, in the format of PerfKit Benchmarker
  prometheus  metrics.prom, for node_exporter's textfile collector
  perfetto    perfetto.json: the course of the experiment, for ui.perfetto.dev and chrome://tracing

Examples:
  plimsoll export                                         the last experiment, in every format
  plimsoll export quickstart --only parquet --to tables   the tables for a notebook
  plimsoll export 1f3a --only csv,json --to .             two formats, into this folder
  plimsoll export --all --to dataset                      the whole store as a partitioned Parquet data set; again: what is new

Existing files are never overwritten, but for those of a data set by the command that wrote them. Columns and units are in docs/exports.md.")]
pub struct Export {
    /// Experiment: id or its beginning, name, `last`, or the file of an exported record.
    #[arg(default_value = "last")]
    pub experiment: String,
    /// Only these formats, separated by commas [default: all].
    #[arg(long, value_name = "FORMAT", value_delimiter = ',', value_parser = form)]
    pub only: Vec<Form>,
    /// Output folder, created if missing; must not contain files of the same names [default: ./plimsoll-NAME-ID].
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub to: Option<PathBuf>,
    /// Write every experiment of the store as one Parquet data set, TABLE/month=YYYY-MM/…, for DuckDB, Polars or Spark. The same command brings it up to date. [default folder: ./plimsoll-dataset].
    #[arg(long, conflicts_with_all = ["experiment", "only"])]
    pub all: bool,
    /// Print the list of written files as JSON.
    #[arg(long)]
    pub json: bool,
}

fn form(word: &str) -> Result<Form, String> {
    let found = Form::ALL.into_iter().find(|form| form.word() == word);
    found.ok_or_else(|| {
        let words = Form::ALL.map(Form::word);
        format!("the formats are {}", words.join(", "))
    })
}
