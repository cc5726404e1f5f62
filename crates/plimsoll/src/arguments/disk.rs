//! The command line of `plimsoll disk`.

use super::count;
use clap::{Args, Subcommand, ValueHint};
use plimsoll_experiment::units;
use std::path::PathBuf;

/// `plimsoll disk`.
#[derive(Debug, Subcommand)]
pub enum Disk {
    /// List the published disks and machines that experiments can name, with source and date.
    Presets(Presets),
    /// Measure with fio what a directory, a device or an emulated disk can do.
    Characterise(Characterise),
    /// Build emulated disks and hold them against their description with fio.
    Calibrate(Calibrate),
    /// Say what is in the trace of an emulated disk, or write it for other programs.
    Trace(Trace),
}

/// `plimsoll disk presets`.
#[derive(Args, Debug)]
pub struct Presets {
    /// Print them as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `plimsoll disk characterise`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll disk characterise /var/lib/mysql          a file in the directory, removed afterwards
  plimsoll disk characterise /dev/nvme0n1            reads alone
  plimsoll disk characterise gp3 --quick             an emulated disk, by the name of a preset
  plimsoll disk characterise '{iops: 600, latency: 7ms}' --page san.html")]
pub struct Characterise {
    /// A directory, a block device, the name of a published disk, or a disk as in an experiment file.
    #[arg(value_hint = ValueHint::AnyPath)]
    pub target: String,
    /// Of the target, so much is used, at most [default: 10GB, with --quick 1GB].
    #[arg(long, value_parser = size)]
    pub size: Option<u64>,
    /// One second for each job in place of ten.
    #[arg(long)]
    pub quick: bool,
    /// Jobs, each with one request in flight, that read at random.
    #[arg(long, value_delimiter = ',', value_parser = jobs)]
    pub jobs: Option<Vec<u32>>,
    /// Sizes of random reads, such as 4KiB,64KiB.
    #[arg(long, value_delimiter = ',', value_parser = block)]
    pub block: Option<Vec<u32>>,
    /// Write to the block device too. Everything on it is lost; it must be named by its link in /dev/disk/by-id and nobody may use it.
    #[arg(long)]
    pub erase: bool,
    /// Print it as JSON, with everything that fio said.
    #[arg(long)]
    pub json: bool,
    /// Write a page with charts.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub page: Option<PathBuf>,
}

/// `plimsoll disk calibrate`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll disk calibrate gp3 azure-p10
  plimsoll disk calibrate '{iops: 150, latency: 7ms}'

Ends with 106 when a disk is not what it was asked to be.")]
pub struct Calibrate {
    /// Names of published disks, or disks as in an experiment file.
    #[arg(required = true)]
    pub disks: Vec<String>,
    /// Print it as JSON, with everything that fio said.
    #[arg(long)]
    pub json: bool,
}

/// `plimsoll disk trace`.
#[derive(Args, Debug)]
pub struct Trace {
    /// The trace; `plimsoll report --json` says where that of a run is kept.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Write it as an iolog that fio replays.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub iolog: Option<PathBuf>,
    /// Write every request with the file that it went to as CSV.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub csv: Option<PathBuf>,
    /// Print the summary as JSON.
    #[arg(long)]
    pub json: bool,
}

fn size(text: &str) -> Result<u64, String> {
    units::parse_size(text).map_err(|error| error.to_string())
}

fn block(text: &str) -> Result<u32, String> {
    match size(text)?.try_into() {
        Ok(bytes @ 512..=67_108_864) if u32::is_multiple_of(bytes, 512) => Ok(bytes),
        _ => Err(format!("`{text}` is no multiple of 512 bytes up to 64 MiB")),
    }
}

fn jobs(text: &str) -> Result<u32, String> {
    match count(text)?.try_into() {
        Ok(jobs @ 1..=1024) => Ok(jobs),
        _ => Err(format!("`{text}` is no number of jobs from 1 to 1024")),
    }
}
