//! What a plan holds, in words: disks, filesystems, limits, prices, working sets and events.

use crate::WorkingSet;
use plimsoll_record::quantities::units;
use plimsoll_record::quantities::words::{grouped, numbers};
use plimsoll_record::{
    Act, Backing, DiskBurst, DiskChoice, DiskLatency, DiskRates, DiskSpec, EventSpec, LimitsSpec,
    PowerCutSpec, Price, RigSpec,
};

/// The keys of a disk's figures, in the order of the file format.
pub const DISK_FIGURES: [&str; 19] = [
    "capacity",
    "iops",
    "read_iops",
    "write_iops",
    "bandwidth",
    "read_bandwidth",
    "write_bandwidth",
    "io_unit",
    "latency",
    "read_latency",
    "write_latency",
    "transfer",
    "read_transfer",
    "write_transfer",
    "flush",
    "queue_depth",
    "burst",
    "backing",
    "trace",
];

/// Every figure that a disk has, by its key among [`DISK_FIGURES`] and in their order. With `one_latency` that of reads and writes is one figure where both are alike.
pub fn disk_words(disk: &DiskSpec, one_latency: bool) -> Vec<(&'static str, String)> {
    let mut words = vec![("capacity", units::size(disk.capacity_bytes))];
    words.extend(rate_words(["iops", "read_iops", "write_iops"], &disk.iops, units::rate));
    let bandwidths = ["bandwidth", "read_bandwidth", "write_bandwidth"];
    words.extend(rate_words(bandwidths, &disk.bandwidth, bandwidth_words));
    words.extend(disk.io_unit_bytes.map(|bytes| ("io_unit", units::size(bytes))));
    let mut latency = |key, law: &DiskLatency| {
        words.extend(latency_words(law).map(|text| (key, text)));
    };
    if one_latency && disk.read_latency == disk.write_latency {
        latency("latency", &disk.read_latency);
    } else {
        latency("read_latency", &disk.read_latency);
        latency("write_latency", &disk.write_latency);
    }
    let transfers = ["transfer", "read_transfer", "write_transfer"];
    words.extend(rate_words(transfers, &disk.transfer, bandwidth_words));
    words.extend(latency_words(&disk.flush_latency).map(|text| ("flush", text)));
    words.extend(disk.queue_depth.map(|depth| ("queue_depth", depth.to_string())));
    words.extend(disk.burst.as_ref().map(|burst| ("burst", burst_words(burst))));
    words.push(("backing", backing_word(disk.backing).to_owned()));
    let trace = match disk.trace_requests {
        0 => "off".to_owned(),
        requests => format!("{} requests", units::count(requests)),
    };
    words.push(("trace", trace));
    words
}

/// The rates of both directions together, of reads and of writes, as far as there are any, each by its key.
fn rate_words(
    keys: [&'static str; 3],
    rates: &DiskRates,
    spelled: impl Fn(f64) -> String,
) -> impl Iterator<Item = (&'static str, String)> {
    let all = [rates.joint, rates.read, rates.write];
    keys.into_iter().zip(all).filter_map(move |(key, rate)| Some((key, spelled(rate?))))
}

/// A disk in one line: `san-raid10: 2GiB, 600 IOPS, latency 7ms, in memory`.
pub fn disk_line(disk: &DiskChoice) -> String {
    let spec = match disk {
        DiskChoice::Emulated { spec } => spec,
        DiskChoice::Device { path } => return path.display().to_string(),
    };
    let mut figures = figures_line(spec, true);
    figures.push_str(match spec.backing {
        Backing::Memory => ", in memory",
        Backing::File => ", in a file",
    });
    if spec.volatile_cache {
        figures.push_str(", volatile write cache");
    }
    match &spec.preset {
        Some(preset) => format!("{preset}: {figures}"),
        None => figures,
    }
}

/// The figures that make a disk as fast as it is, in one line: `2GiB, 600 IOPS, latency 7ms`.
pub fn figures_line(spec: &DiskSpec, with_capacity: bool) -> String {
    let mut parts = Vec::new();
    for (key, text) in disk_words(spec, true) {
        parts.push(match key {
            "capacity" if with_capacity => text,
            "bandwidth" => text,
            "iops" => format!("{} IOPS", text.trim_end_matches("/s")),
            "capacity" | "backing" | "trace" | "io_unit" => continue,
            _ => format!("{} {text}", key.replace('_', " ")),
        });
    }
    parts.join(", ")
}

/// The filesystem of an arm in one line: `xfs (mkfs -m reflink=0; mount noatime), readahead 0`; `None` on a plain directory.
pub fn filesystem_line(rig: &RigSpec) -> Option<String> {
    let spec = rig.filesystem.as_ref()?;
    let mut options = Vec::new();
    if !spec.mkfs.is_empty() {
        options.push(format!("mkfs {}", spec.mkfs.join(" ")));
    }
    if !spec.mount.is_empty() {
        options.push(format!("mount {}", spec.mount.join(",")));
    }
    let mut line = spec.kind.name().to_owned();
    if !options.is_empty() {
        line.push_str(&format!(" ({})", options.join("; ")));
    }
    if let Some(bytes) = rig.readahead_bytes {
        line.push_str(&format!(", readahead {}", units::size(bytes)));
    }
    Some(line)
}

/// Limits in one line: `382MiB of memory, 1.5 processors, on 0 and 1`; `None` where nothing is limited.
pub fn limits_line(limits: &LimitsSpec) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(limits.memory_bytes.map(|bytes| format!("{} of memory", units::size(bytes))));
    let page_cache = limits.page_cache_bytes;
    parts.extend(page_cache.map(|bytes| format!("{} of page cache", units::size(bytes))));
    parts.extend(limits.cpus.map(|cpus| {
        let plural = if cpus == 1.0 { "" } else { "s" };
        format!("{cpus} processor{plural}")
    }));
    if !limits.pin.is_empty() {
        parts.push(format!("on processor {}", numbers(&limits.pin)));
    }
    if !limits.memory_nodes.is_empty() {
        parts.push(format!("memory of NUMA node {}", numbers(&limits.memory_nodes)));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn backing_word(backing: Backing) -> &'static str {
    match backing {
        Backing::Memory => "memory",
        Backing::File => "file",
    }
}

fn bandwidth_words(bytes_per_second: f64) -> String {
    format!("{}/s", units::size(bytes_per_second.round() as u64))
}

/// A law of latencies in words; `None` where nothing is added.
fn latency_words(law: &DiskLatency) -> Option<String> {
    match law {
        DiskLatency::None => None,
        DiskLatency::Constant { ns } => Some(units::duration(*ns)),
        DiskLatency::Lognormal { median_ns, p99_ns } => Some(format!(
            "lognormal, median {}, p99 {}",
            units::duration(*median_ns),
            units::duration(*p99_ns)
        )),
        DiskLatency::Table { points } => {
            let points: Vec<String> = points
                .iter()
                .map(|(percentile, ns)| format!("p{percentile} {}", units::duration(*ns)))
                .collect();
            Some(points.join(", "))
        }
    }
}

fn burst_words(burst: &DiskBurst) -> String {
    let mut text = units::rate(burst.iops);
    if let Some(bandwidth) = burst.bandwidth {
        text.push_str(&format!(", {}", bandwidth_words(bandwidth)));
    }
    text.push_str(&format!(
        ", {} of {} credits, {} come in",
        units::share(burst.start),
        units::count(burst.credits as u64),
        units::rate(burst.refill)
    ));
    text
}

/// A price in words: `0.07 USD an hour (2014-09)`.
pub fn price_words(price: &Price) -> String {
    let mut text = format!("{} {} an hour", price.per_hour, price.currency);
    if let Some(date) = &price.date {
        text.push_str(&format!(" ({date})"));
    }
    text
}

/// An event in a line: `at 30 s: the primary steps down`.
pub fn event_in_words(event: EventSpec) -> String {
    format!("at {}: {}", units::duration(event.at_ns), act_in_words(event.act))
}

/// An action, in a few words.
fn act_in_words(act: Act) -> String {
    match act {
        Act::StepDown => "the primary steps down".into(),
        Act::Kill { member, restart_after_ns: None } => format!("the {} is killed", member.name()),
        Act::Kill { member, restart_after_ns: Some(nanos) } => format!(
            "the {} is killed, and started again after {}",
            member.name(),
            units::duration(nanos)
        ),
        Act::Pause { member, for_ns } => {
            format!("the {} stands still for {}", member.name(), units::duration(for_ns))
        }
        Act::Disk { for_ns, fault } => {
            format!("the disk {fault} for {}", units::duration(for_ns))
        }
        Act::PowerCut(PowerCutSpec { every_ns: None, .. }) => "the power fails".into(),
        Act::PowerCut(PowerCutSpec { every_ns: Some(nanos), .. }) => {
            format!("the power fails, and again in every {}", units::duration(nanos))
        }
    }
}

/// How a number of records was chosen: `148,000 records: 138 % of 133 MiB usable cache at 1,243 B a record`.
pub fn working_set_words(records: u64, set: &WorkingSet) -> String {
    let percent = (set.share * 1e6).round() / 1e4;
    format!(
        "{} records: {percent} % of {} MiB usable cache at {} B a record",
        grouped(records as f64, 0),
        grouped((set.usable_cache_bytes as f64 / f64::from(1u32 << 20)).round(), 0),
        grouped(set.bytes_per_record.round(), 0),
    )
}

/// Rows with their columns below each other. A cell that is too wide for a column does not widen it.
pub(crate) fn write_table(
    f: &mut std::fmt::Formatter<'_>,
    rows: &[Vec<String>],
) -> std::fmt::Result {
    const WIDEST: usize = 52;
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![0; columns];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count().min(WIDEST));
        }
    }
    for row in rows {
        let mut line = String::from(" ");
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!(" {cell:<width$} "));
        }
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}
