//! Disks that are mounted for any program: found by what the kernel says is mounted, given other limits, watched.

use super::emulated::{by_text, name};
use crate::arguments;
use crate::exit::Exit;
use crate::screen::{print, print_json};
use anyhow::{Context, bail};
use plimsoll_disk::{Control, Counters};
use plimsoll_record::quantities::numbers::TERMINAL;
use plimsoll_telemetry::mounts_in;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where an emulated disk takes commands, in its place.
const SOCKET: &str = "control.sock";
/// Its file, in the mount in its place.
const IMAGE: &str = "disk.img";
/// Lines from one header to the next.
const LINES_OF_A_PAGE: u64 = 20;

/// A disk that is mounted at a directory.
pub struct Mounted {
    pub directory: PathBuf,
    /// What belongs to it is in here.
    pub place: PathBuf,
}

/// The disk that is mounted at a directory, which has no symbolic link in it; `None` of what is no emulated disk.
pub fn mounted_at(directory: &Path) -> anyhow::Result<Option<Mounted>> {
    let file = "/proc/self/mountinfo";
    let mounts = mounts_in(&std::fs::read(file).context(file)?);
    let last = mounts.iter().rev().find(|mount| mount.point == directory);
    let device = last.and_then(|mount| mount.source.strip_prefix("/dev").ok()?.to_str());
    let Some(device) = device else { return Ok(None) };
    // Only loop devices have it.
    let below = std::fs::read_to_string(format!("/sys/block/{device}/loop/backing_file"));
    let image = below.ok().map(|path| PathBuf::from(path.trim_end_matches('\n')));
    let image = image.filter(|image| image.file_name().is_some_and(|name| name == IMAGE));
    let place = image.as_deref().and_then(|image| image.parent()?.parent());
    Ok(place.map(|place| Mounted { directory: directory.to_owned(), place: place.to_owned() }))
}

/// The same, or why there is none.
pub fn find(directory: &Path) -> anyhow::Result<Mounted> {
    let shown = directory.display();
    let directory = directory.canonicalize().with_context(|| shown.to_string())?;
    match mounted_at(&directory)? {
        Some(mounted) => Ok(mounted),
        None => {
            bail!("{shown} is no disk that plimsoll has mounted: plimsoll disk mount DISK {shown}")
        }
    }
}

impl Mounted {
    fn control(&self) -> anyhow::Result<Control> {
        Ok(Control::connect(&self.place.join(SOCKET))?)
    }
}

/// `plimsoll disk set`.
pub fn set(arguments: &arguments::SetDisk) -> anyhow::Result<Exit> {
    let mut control = find(&arguments.directory)?.control()?;
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

/// `plimsoll disk log`.
pub fn log(arguments: &arguments::DiskLog) -> anyhow::Result<Exit> {
    let mounted = find(&arguments.directory)?;
    let mut control = mounted.control()?;
    if arguments.json {
        print_json(&control.counters()?)?;
        return Ok(Exit::Good);
    }
    let mut before = (Instant::now(), control.counters()?);
    let mut lines = 0;
    while arguments.lines.is_none_or(|most| lines < most) {
        std::thread::sleep(Duration::from_nanos(arguments.every));
        if mounted_at(&mounted.directory)?.is_none() {
            break;
        }
        let now = (Instant::now(), control.counters()?);
        if lines % LINES_OF_A_PAGE == 0 {
            print(HEADER)?;
        }
        print(line(&before.1, &now.1, (now.0 - before.0).as_secs_f64()))?;
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
