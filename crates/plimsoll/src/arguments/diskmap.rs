//! The arguments of `plimsoll disk map`.

use clap::{Args, ValueHint};
use plimsoll_record::quantities::units;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Each file is laid out row by row from its first byte, all files at one scale; reads are blue, writes orange. In a still, darker
means more accesses; a place that was both read and written shows the more frequent kind. An animation shows the accesses in
order of time, with equally many in each frame.

Examples:
  plimsoll disk map last --arm spindle-230 --to map.png
  plimsoll disk map last --arm spindle-230 --mark measuring --reads --file collection --to reads.gif
  plimsoll disk map last --operations 0..100 --reads --frames 200 --to finds.gif
  plimsoll disk map run.trace --from 10s --until 10.5s --frames 400 --to start.apng")]
pub struct Diskmap {
    /// A trace file, or an experiment (id or its beginning, name, or `last`) that ran on an emulated disk.
    pub source: String,
    /// Arm of the experiment; required if several arms have traces.
    #[arg(long)]
    pub arm: Option<String>,
    /// Block of the experiment, counted from 1 as on its page [default: the last].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub block: Option<u32>,
    /// Output file: .png for a still, .apng or .gif for an animation. Existing files are not overwritten.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub to: PathBuf,
    /// Start this long after the first request, e.g. 10s.
    #[arg(long, value_parser = duration)]
    pub from: Option<u64>,
    /// End this long after the first request.
    #[arg(long, value_parser = duration)]
    pub until: Option<u64>,
    /// Only from marks with this text to the next mark, e.g. measuring; `plimsoll disk trace` lists the marks.
    #[arg(long)]
    pub mark: Option<String>,
    /// Only during these operations of each point, counted from 0, end excluded, e.g. 0..100. Needs an experiment with `log_operations`.
    #[arg(long, value_name = "FROM..TO", value_parser = range)]
    pub operations: Option<(usize, usize)>,
    /// Only files whose path contains this text; can be repeated.
    #[arg(long = "file", value_name = "TEXT")]
    pub files: Vec<String>,
    /// Draw reads only, and no writes.
    #[arg(long, conflicts_with = "writes")]
    pub reads: bool,
    /// Draw writes only, and no reads.
    #[arg(long)]
    pub writes: bool,
    /// Width in pixels; the height of all files together is about the same.
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u16).range(128..=8192))]
    pub width: u16,
    /// Number of frames of an animation.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=5000))]
    pub frames: u16,
    /// Frames per second of the animation.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=60))]
    pub fps: u16,
}

fn range(text: &str) -> Result<(usize, usize), String> {
    let (from, to) =
        text.split_once("..").ok_or("expected two numbers separated by two dots, e.g. 0..100")?;
    let number = |text: &str| text.parse::<usize>().map_err(|error| format!("{text:?}: {error}"));
    match (number(from)?, number(to)?) {
        (from, to) if from < to => Ok((from, to)),
        (from, to) => Err(format!("{from}..{to} is empty")),
    }
}

fn duration(text: &str) -> Result<u64, String> {
    units::parse_duration(text).map_err(|error| error.to_string())
}
