//! The arguments of `plimsoll foreign audit`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll foreign audit results/                        every output of YCSB, YCSB-cpp, go-ycsb, HdrHistogram and fio below a folder
  plimsoll foreign audit old.txt new.txt --page audit.html
  plimsoll foreign audit results/ --json | jq '.results[] | select(.belief == \"not-believable\") | .source'

Each output is judged by itself, as `plimsoll foreign import` would judge it: do its figures fit together (Little's law), did operations or client threads fail, is it
whole, did it settle, was it long enough, was its rate achieved? In folders, files of other kinds are passed over; symbolic links are not followed. Nothing is
stored.")]
pub struct Audit {
    /// Files, or folders with files.
    #[arg(required = true, value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    /// End with exit code 106 unless everything is believable.
    #[arg(long)]
    pub strict: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    /// Also write the result as a page.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub page: Option<PathBuf>,
}
