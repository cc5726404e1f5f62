//! Disks that are mounted for any program: found by what the kernel says is mounted, given other limits, watched.

use super::emulated::{by_text, name};
use crate::arguments;
use crate::exit::Exit;
use crate::screen::{print, print_json, print_one};
use anyhow::{Context, bail};
use plimsoll_disk::{Control, Counters};
use plimsoll_record::quantities::numbers::TERMINAL;
use plimsoll_rig::testbed::{ShownDisk, shown_at};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Lines from one header to the next.
const LINES_OF_A_PAGE: u64 = 20;

/// The path without symbolic links of a directory, and the disk that is mounted there; or why there is none.
pub fn find(directory: &Path) -> anyhow::Result<(PathBuf, ShownDisk)> {
    let shown = directory.display();
    let directory = directory.canonicalize().with_context(|| shown.to_string())?;
    match shown_at(&directory)? {
        Some(disk) => Ok((directory, disk)),
        None => {
            bail!("{shown} is no disk that plimsoll has mounted: plimsoll disk mount DISK {shown}")
        }
    }
}

pub fn set(arguments: &arguments::SetDisk) -> anyhow::Result<Exit> {
    let (_, disk) = find(&arguments.directory)?;
    let mut control = Control::connect(&disk.control_socket)?;
    let shown = arguments.directory.display();
    if arguments.disk == "unlimited" {
        control.shape(false)?;
        control.mark("unlimited")?;
        print(format!("{shown} has no limits now\n"))?;
        return Ok(Exit::Good);
    }
    let spec = by_text(&arguments.disk)?;
    control.respec(&spec)?;
    control.shape(true)?;
    control.mark(name(&spec, &arguments.disk))?;
    print(format!("{shown} is as fast as {} now\n", name(&spec, &arguments.disk)))?;
    Ok(Exit::Good)
}

pub fn log(arguments: &arguments::DiskLog) -> anyhow::Result<Exit> {
    let (directory, disk) = find(&arguments.directory)?;
    let mut control = Control::connect(&disk.control_socket)?;
    if arguments.json {
        print_json(&control.counters()?)?;
        return Ok(Exit::Good);
    }
    let mut before = (Instant::now(), control.counters()?);
    let mut lines = 0;
    while arguments.lines.is_none_or(|most| lines < most) {
        std::thread::sleep(Duration::from_nanos(arguments.every));
        if shown_at(&directory)?.is_none() {
            break;
        }
        let now = (Instant::now(), control.counters()?);
        if lines % LINES_OF_A_PAGE == 0 {
            print(HEADER)?;
        }
        if !print_one(line(&before.1, &now.1, (now.0 - before.0).as_secs_f64()))? {
            break;
        }
        before = now;
        lines += 1;
    }
    Ok(Exit::Good)
}

const HEADER: &str = "  reads/s  writes/s flushes/s     read/s  written/s  read takes write takes flush takes  in flight  busy credits limits\n";

/// What a disk did in between.
fn line(before: &Counters, now: &Counters, seconds: f64) -> String {
    let rate = |late: u64, early: u64| TERMINAL.rate((late - early) as f64 / seconds);
    let bytes = |late: u64, early: u64| TERMINAL.bytes_of((late - early) as f64 / seconds);
    let mean = |sum: u64, count: u64| match count {
        0 => TERMINAL.nothing().to_owned(),
        count => TERMINAL.latency(sum as f64 / count as f64),
    };
    let (reads, writes) = (now.reads - before.reads, now.writes - before.writes);
    let flushes = now.flushes - before.flushes;
    format!(
        "{:>9} {:>9} {:>9} {:>10} {:>10} {:>11} {:>11} {:>11} {:>10.1} {:>5} {:>7} {}\n",
        rate(now.reads, before.reads),
        rate(now.writes, before.writes),
        rate(now.flushes, before.flushes),
        bytes(now.read_bytes, before.read_bytes),
        bytes(now.written_bytes, before.written_bytes),
        mean(now.read_ns - before.read_ns, reads),
        mean(now.write_ns - before.write_ns, writes),
        mean(now.flush_ns - before.flush_ns, flushes),
        (now.queue_ns - before.queue_ns) as f64 / 1e9 / seconds,
        TERMINAL.percent(((now.busy_ns - before.busy_ns) as f64 / 1e9 / seconds).min(1.0)),
        now.credits.map_or_else(|| TERMINAL.nothing().to_owned(), |credits| TERMINAL.rate(credits)),
        if now.shaped { "in force" } else { "none" },
    )
}
