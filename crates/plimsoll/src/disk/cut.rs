//! `plimsoll disk cut`: what is left of a mounted disk when its power fails.

use super::mounted::find;
use crate::arguments;
use crate::exit::Exit;
use crate::screen::{print, print_json, tell};
use anyhow::bail;
use plimsoll_disk::{Control, Power};
use plimsoll_record::PowerCut;
use plimsoll_record::quantities::numbers::TERMINAL;
use plimsoll_record::quantities::units;
use serde::Serialize;
use std::fmt::Write;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::time::{Duration, Instant};

/// Interval of looks whether the filesystem is mounted again.
const LOOK: Duration = Duration::from_millis(20);
/// How long the process that keeps the disk may take to mount it again. Recovery reads the journal at the speed of the disk.
const LONGEST_RETURN: Duration = Duration::from_secs(600);

#[derive(Serialize)]
struct Outcome<'a> {
    #[serde(flatten)]
    cut: &'a PowerCut,
    is_mounted: bool,
    /// Why it is not.
    why: Option<&'a str>,
    /// Programs that had files open.
    users: &'a [String],
}

pub fn cut(arguments: &arguments::Cut) -> anyhow::Result<Exit> {
    let (directory, disk) = find(&arguments.directory)?;
    let mut control = Control::connect(&disk.control_socket)?;
    // Short enough to be typed.
    let random = || RandomState::new().hash_one(()) >> 32;
    let seed = arguments.seed.unwrap_or_else(random);
    let cut = control.cut(seed, arguments.sector)?;
    let begun = Instant::now();
    let mut power = control.power()?;
    while power == Power::Off {
        if begun.elapsed() > LONGEST_RETURN {
            bail!("the filesystem at {} is not mounted again", directory.display());
        }
        std::thread::sleep(LOOK);
        power = control.power()?;
    }
    let (users, why) = match &power {
        Power::On { users } => (users, None),
        Power::Off => unreachable!("it has power again"),
        Power::Unmountable { users, why } => (users, Some(why.as_str())),
    };
    if arguments.json {
        print_json(&Outcome { cut: &cut, is_mounted: why.is_none(), why, users })?;
    } else {
        print(described(&cut, &directory, why.is_none(), users)?)?;
    }
    let Some(why) = why else { return Ok(Exit::Good) };
    let shown = directory.display();
    tell(format_args!(
        "plimsoll: the filesystem did not survive: {why}\nthe disk itself is {shown}/disk.img, readable for root: check or copy it; unmount it: plimsoll disk unmount {shown}"
    ));
    Ok(Exit::Failed)
}

fn described(
    cut: &PowerCut,
    directory: &Path,
    is_mounted: bool,
    users: &[String],
) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let shown = directory.display();
    let since = match cut.since_flush_ns {
        Some(ns) => format!("{} after its last flush", TERMINAL.latency(ns as f64)),
        None => "before its first flush".to_owned(),
    };
    writeln!(text, "the power of {shown} was cut {since}")?;
    writeln!(
        text,
        "not flushed: {} writes of {} in all; {} kept, {} lost, {} torn; {} had been acknowledged",
        cut.unflushed_writes,
        units::size(cut.unflushed_bytes),
        cut.kept_writes,
        cut.lost_writes,
        cut.torn_writes,
        cut.acknowledged_writes,
    )?;
    writeln!(
        text,
        "sectors of {} bytes: {} have their last contents, {} have older ones",
        cut.sector_bytes, cut.kept_sectors, cut.lost_sectors,
    )?;
    if cut.written_back > 0 {
        writeln!(
            text,
            "{} older writes were kept without a flush: the cache holds 1 GiB at most",
            cut.written_back
        )?;
    }
    if !users.is_empty() {
        writeln!(text, "these had files open and get I/O errors, end them: {}", users.join(", "))?;
    }
    if is_mounted {
        writeln!(text, "its filesystem is recovered and mounted again at {shown}")?;
    }
    writeln!(text, "repeat it: --seed {} --sector {}", cut.seed, cut.sector_bytes)?;
    Ok(text)
}
