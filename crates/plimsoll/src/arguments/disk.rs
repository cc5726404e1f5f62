//! The command line of `plimsoll disk`.

use super::{Diskmap, count};
use clap::{Args, Subcommand, ValueHint};
use plimsoll_record::quantities::units;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Disk {
    /// List the disk and machine presets, with source and date.
    Presets(Presets),
    /// Measure a directory, a device or an emulated disk with fio.
    Characterise(Characterise),
    /// Build emulated disks and verify them with fio.
    Calibrate(Calibrate),
    /// Summarise the trace of an emulated disk, or export it.
    Trace(Trace),
    /// Draw where in its files a database reads and writes, as a still or an animation.
    Map(Diskmap),
}

#[derive(Args, Debug)]
pub struct Presets {
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll disk characterise /var/lib/mysql          uses a file in the directory and removes it
  plimsoll disk characterise /dev/nvme0n1            read-only
  plimsoll disk characterise gp3 --quick             an emulated disk, by preset
  plimsoll disk characterise '{iops: 600, latency: 7ms}' --page san.html")]
pub struct Characterise {
    /// A directory, a block device, a preset, or a disk as in an experiment file.
    #[arg(value_hint = ValueHint::AnyPath)]
    pub target: String,
    /// Use at most this much of the target [default: 10GB, with --quick 1GB].
    #[arg(long, value_parser = size)]
    pub size: Option<u64>,
    /// Run each job for one second instead of ten.
    #[arg(long)]
    pub quick: bool,
    /// Numbers of random-read jobs, each with one request in flight, e.g. 1,4,16.
    #[arg(long, value_delimiter = ',', value_parser = jobs)]
    pub jobs: Option<Vec<u32>>,
    /// Sizes of random reads, e.g. 4KiB,64KiB.
    #[arg(long, value_delimiter = ',', value_parser = block)]
    pub block: Option<Vec<u32>>,
    /// Also write to the block device, which destroys its contents. Name it by its link in /dev/disk/by-id; it must not be in use.
    #[arg(long)]
    pub erase: bool,
    /// Print JSON, including fio's complete output.
    #[arg(long)]
    pub json: bool,
    /// Also write a page with charts.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub page: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll disk calibrate gp3 azure-p10
  plimsoll disk calibrate '{iops: 150, latency: 7ms}'

Exit code 106 means that a disk misses its description.")]
pub struct Calibrate {
    /// Presets, or disks as in an experiment file.
    #[arg(required = true)]
    pub disks: Vec<String>,
    /// Print JSON, including fio's complete output.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct Trace {
    /// The trace file; `plimsoll report --json` shows the path for each run.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Export as an iolog for replay with fio.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub iolog: Option<PathBuf>,
    /// Export every request as CSV, with the file it belongs to.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub csv: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

fn size(text: &str) -> Result<u64, String> {
    units::parse_size(text).map_err(|error| error.to_string())
}

fn block(text: &str) -> Result<u32, String> {
    match size(text)?.try_into() {
        Ok(bytes @ 512..=67_108_864) if u32::is_multiple_of(bytes, 512) => Ok(bytes),
        _ => Err(format!("`{text}` is not a multiple of 512 bytes up to 64 MiB")),
    }
}

fn jobs(text: &str) -> Result<u32, String> {
    match count(text)?.try_into() {
        Ok(jobs @ 1..=1024) => Ok(jobs),
        _ => Err(format!("`{text}` is not a number of jobs from 1 to 1024")),
    }
}
