//! The arguments of `plimsoll diskmap`.

use clap::{Args, ValueHint};
use plimsoll_experiment::units;
use std::path::PathBuf;

/// `plimsoll diskmap`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each file is laid out row by row from its first byte, all at one scale; reads are blue, writes orange. A still is darker the more
often a place was accessed; where it was both read and written, the more frequent kind shows. An animation shows the accesses in
the order of time, in frames of equally many.

Examples:
  plimsoll diskmap last --arm spindle-230 --to map.png
  plimsoll diskmap last --arm spindle-230 --mark measuring --reads --file collection --to reads.gif
  plimsoll diskmap last --operations 0..100 --reads --frames 200 --to finds.gif
  plimsoll diskmap run.trace --from 10s --until 10.5s --frames 400 --to start.apng")]
pub struct Diskmap {
    /// A trace file; or an experiment (id, its beginning, name, or `last`) whose run on an emulated disk kept one.
    pub source: String,
    /// Of an experiment: the arm; needed where several kept a trace.
    #[arg(long)]
    pub arm: Option<String>,
    /// Of an experiment: the block, counted from 1 as on its page; without it the last. Columns and labels of exports count from 0.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub block: Option<u32>,
    /// The picture: .png is a still, .apng and .gif are animations. Existing files are not overwritten.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub to: PathBuf,
    /// Only from here on, after the first request, such as 10s.
    #[arg(long, value_parser = duration)]
    pub from: Option<u64>,
    /// Only until here, after the first request.
    #[arg(long, value_parser = duration)]
    pub until: Option<u64>,
    /// Only from marks with this text to the next mark, such as measuring; `plimsoll disk trace` tells how many there are.
    #[arg(long)]
    pub mark: Option<String>,
    /// Only what came while these operations of each point were under way, counted from 0, the last excluded, such as 0..100. Needs an experiment
    /// with `log_operations`.
    #[arg(long, value_name = "FROM..TO", value_parser = range)]
    pub operations: Option<(usize, usize)>,
    /// Only files with this in their path; can be repeated.
    #[arg(long = "file", value_name = "TEXT")]
    pub files: Vec<String>,
    /// Only reads.
    #[arg(long, conflicts_with = "writes")]
    pub reads: bool,
    /// Only writes.
    #[arg(long)]
    pub writes: bool,
    /// Width in pixels; the files together are about as high.
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u16).range(128..=8192))]
    pub width: u16,
    /// Frames of an animation.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=5000))]
    pub frames: u16,
    /// Frames a second.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=60))]
    pub fps: u16,
}

fn range(text: &str) -> Result<(usize, usize), String> {
    let (from, to) = text
        .split_once("..")
        .ok_or("two numbers with two dots between them are expected, such as 0..100")?;
    let number = |text: &str| {
        text.parse::<usize>()
            .map_err(|error| format!("{text:?}: {error}"))
    };
    match (number(from)?, number(to)?) {
        (from, to) if from < to => Ok((from, to)),
        (from, to) => Err(format!("{from}..{to} holds nothing")),
    }
}

fn duration(text: &str) -> Result<u64, String> {
    units::parse_duration(text).map_err(|error| error.to_string())
}
