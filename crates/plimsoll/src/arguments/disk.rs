//! The command line of `plimsoll disk`.

use super::{Diskmap, count, duration};
use clap::{Args, Subcommand, ValueHint};
use plimsoll_record::FilesystemKind;
use plimsoll_record::quantities::units;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Disk {
    /// List the disk and machine presets, with source and date.
    Presets(Presets),
    /// Measure a directory, a device or an emulated disk with fio.
    Characterise(Characterise),
    /// Measure a disk and describe it, so that an emulated one can take its place.
    Clone(CloneDisk),
    /// Build emulated disks and verify them with fio.
    Calibrate(Calibrate),
    /// Mount an emulated disk at a directory, for any program.
    Mount(Mount),
    /// Give a mounted disk other limits, or none.
    Set(SetDisk),
    /// Show what a mounted disk does, second by second.
    Log(DiskLog),
    /// Cut the power of a mounted disk: lose writes that no flush has covered, and mount what is left.
    Cut(Cut),
    /// Unmount a disk and remove it.
    Unmount(Unmount),
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
It runs fio on the disk, in a file of its own or on a whole device: random reads, writes and both, of 4 to 256 KiB, 1 to 64 in flight, and
writes with fdatasync. It writes the description that fits, builds an emulated disk from that, and runs the same on it. A clone is good if
its IOPS are within 3 %, its medians within 5 % and its 99th percentiles within 15 % of the original's. Nothing else should use the disk or
the machine meanwhile.

Examples:
  sudo plimsoll disk clone /var/lib/mongodb --to my-ssd.yaml          uses a file in the directory and removes it
  sudo plimsoll disk clone /dev/disk/by-id/nvme-X --erase --to nvme.yaml
  sudo plimsoll disk mount my-ssd.yaml /mnt/clone                     or `disk: my-ssd.yaml` in an experiment

Exit code 106: the clone differs from the original by more. The file is written in either case.")]
pub struct CloneDisk {
    /// A directory on the disk, or a block device with --erase.
    #[arg(value_hint = ValueHint::AnyPath)]
    pub target: PathBuf,
    /// Write the description to this file, which ends in .yaml.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub to: PathBuf,
    /// Run each job for one second instead of four: 2 minutes instead of 8.
    #[arg(long)]
    pub quick: bool,
    /// Write over the block device, which destroys its contents. Name it by its link in /dev/disk/by-id; it must not be in use.
    #[arg(long)]
    pub erase: bool,
    /// Print what was measured on both as JSON, including fio's complete output.
    #[arg(long)]
    pub json: bool,
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
#[command(after_help = "\
The disk stays, kept by a process in the background, until `plimsoll disk unmount` or plain `umount`. Its contents are in memory, or in a
file with `backing: file`, and are gone with it.

Examples:
  sudo plimsoll disk mount gp3 /mnt/slow                 a gp3 with XFS
  sudo plimsoll disk mount '{iops: 600, latency: 7ms, backing: file}' /mnt/slow --filesystem ext4
  sudo plimsoll disk mount gp3 /mnt/slow --trace t       every request, for `plimsoll disk trace t`
  sudo plimsoll disk mount gp3 /mnt/slow --timeline '[{at: 20s, disk: {stall: 3s}}]'
  plimsoll disk log /mnt/slow                            requests, bytes, latency
  plimsoll disk set /mnt/slow spinning-disk              other limits, at once
  sudo plimsoll disk mount gp3 /mnt/slow --volatile      for `plimsoll disk cut /mnt/slow`
  sudo plimsoll disk unmount /mnt/slow")]
pub struct Mount {
    /// A preset, or a disk as in an experiment file.
    pub disk: String,
    /// An empty directory that root alone can change.
    #[arg(value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
    /// The filesystem that is made on it: xfs, ext4 or btrfs.
    #[arg(long, default_value = "xfs", value_parser = filesystem)]
    pub filesystem: FilesystemKind,
    /// Options of the mount, e.g. noatime,commit=30.
    #[arg(long, value_name = "OPTIONS", value_delimiter = ',')]
    pub mount_options: Vec<String>,
    /// Give the disk a volatile write cache, so that its power can be cut. It remembers unflushed writes in up to 1 GiB of memory.
    #[arg(long)]
    pub volatile: bool,
    /// The capacity [default: that of the disk].
    #[arg(long, value_parser = size)]
    pub capacity: Option<u64>,
    /// Write a trace of all requests to this file when the disk is unmounted.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub trace: Option<PathBuf>,
    /// What the disk does at stated times after it is mounted, as `events` of an experiment file, e.g. '[{at: 20s, disk: {stall: 3s}}]'.
    #[arg(long, value_name = "EVENTS")]
    pub timeline: Option<String>,
    /// Stay in the foreground; Ctrl-C unmounts.
    #[arg(long)]
    pub foreground: bool,
    /// Started by one that waits for the first line.
    #[arg(long, hide = true, conflicts_with = "foreground")]
    pub in_background: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll disk set /mnt/slow '{iops: 100}'
  plimsoll disk set /mnt/slow unlimited                  as fast as this machine")]
pub struct SetDisk {
    /// Where the disk is mounted.
    #[arg(value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
    /// A preset, a disk as in an experiment file, or `unlimited`. Capacity and backing stay.
    pub disk: String,
}

#[derive(Args, Debug)]
pub struct DiskLog {
    /// Where the disk is mounted.
    #[arg(value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
    /// Lines to print [default: until Ctrl-C].
    #[arg(long, value_parser = count)]
    pub lines: Option<u64>,
    /// Time from one line to the next.
    #[arg(long, default_value = "1s", value_parser = duration)]
    pub every: u64,
    /// Print what it did since it was made, as JSON, once.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
What a completed flush covers stays. Of later writes each is kept, lost or torn by the seed, in any order. Then the filesystem is mounted
again at the same directory, after its own recovery. Programs that still have files open get I/O errors: end them as the power cut would.

Examples:
  sudo plimsoll disk mount gp3 /mnt/slow --volatile
  sudo plimsoll disk cut /mnt/slow
  sudo plimsoll disk cut /mnt/slow --seed 7 --sector 512    a disk that tears its own 4 KiB sectors

Exit code 1 means that the filesystem does not mount any more; the disk is then seen as the file disk.img in the directory.")]
pub struct Cut {
    /// Where the disk is mounted.
    #[arg(value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
    /// Random seed of what is kept, lost and torn [default: another each time].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Size of the sectors that are kept or lost as a whole: 4KiB or 512.
    #[arg(long, default_value = "4KiB", value_parser = sector)]
    pub sector: u64,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct Unmount {
    /// Where the disk is mounted.
    #[arg(value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
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

fn filesystem(text: &str) -> Result<FilesystemKind, String> {
    let kind = FilesystemKind::ALL.into_iter().find(|kind| kind.name() == text);
    kind.ok_or_else(|| format!("`{text}` is none of xfs, ext4 and btrfs"))
}

fn block(text: &str) -> Result<u32, String> {
    match size(text)?.try_into() {
        Ok(bytes @ 512..=67_108_864) if u32::is_multiple_of(bytes, 512) => Ok(bytes),
        _ => Err(format!("`{text}` is not a multiple of 512 bytes up to 64 MiB")),
    }
}

fn sector(text: &str) -> Result<u64, String> {
    match size(text)? {
        bytes @ (512 | 4096) => Ok(bytes),
        _ => Err(format!("`{text}` is neither 512 nor 4KiB")),
    }
}

fn jobs(text: &str) -> Result<u32, String> {
    match count(text)?.try_into() {
        Ok(jobs @ 1..=1024) => Ok(jobs),
        _ => Err(format!("`{text}` is not a number of jobs from 1 to 1024")),
    }
}
