//! What an arm stands on, in words.

use crate::{text, words};
use plimsoll_record::quantities::numbers::{LatencyUnit, Numbers, PAGE};
use plimsoll_record::quantities::words::numbers as listed;
use plimsoll_record::{
    Backing, DiskChoice, DiskLatency, DiskRates, DiskSpec, LimitsSpec, Price, RigSpec,
};

/// A disk in a few words: `san-raid10: 600 IOPS, 7 ms`. Without limits and latencies it is `unlimited`.
pub(crate) fn disk_in(disk: &DiskSpec, numbers: Numbers) -> String {
    let mut parts = rates(&disk.iops, |value| format!("{} IOPS", numbers.compact_count(value)));
    parts.extend(rates(&disk.bandwidth, |value| format!("{}/s", numbers.bytes_of(value))));
    parts.extend(latencies(disk, numbers));
    let moved = |value| format!("requests moved at {}/s", numbers.bytes_of(value));
    parts.extend(rates(&disk.transfer, moved));
    if let Some(depth) = disk.queue_depth {
        parts.push(format!("{depth} at once"));
    }
    if let Some(burst) = &disk.burst {
        parts.push(format!("{} IOPS while it has credits", numbers.compact_count(burst.iops)));
    }
    let description = if parts.is_empty() { "unlimited".into() } else { parts.join(", ") };
    match &disk.preset {
        Some(preset) => format!("{}: {description}", text::short(preset, 40)),
        None => description,
    }
}

fn rates(rates: &DiskRates, spelled: impl Fn(f64) -> String) -> Vec<String> {
    let mut parts = Vec::new();
    parts.extend(rates.joint.map(&spelled));
    match (rates.read, rates.write) {
        (Some(read), Some(write)) if read == write => {
            parts.push(format!("{} each way", spelled(read)));
        }
        (read, write) => {
            parts.extend(read.map(|value| format!("{} read", spelled(value))));
            parts.extend(write.map(|value| format!("{} written", spelled(value))));
        }
    }
    parts
}

fn latencies(disk: &DiskSpec, numbers: Numbers) -> Vec<String> {
    let mut parts = Vec::new();
    if disk.read_latency == disk.write_latency {
        parts.extend(latency(&disk.read_latency, numbers));
    } else {
        for (law, what) in [(&disk.read_latency, "reads"), (&disk.write_latency, "writes")] {
            parts.extend(latency(law, numbers).map(|description| format!("{what} {description}")));
        }
    }
    parts.extend(
        latency(&disk.flush_latency, numbers).map(|description| format!("flushes {description}")),
    );
    parts
}

fn latency(law: &DiskLatency, numbers: Numbers) -> Option<String> {
    match law {
        DiskLatency::None => None,
        DiskLatency::Constant { ns } => Some(nanos(*ns, numbers)),
        DiskLatency::Lognormal { median_ns, p99_ns } => {
            Some(format!("{} (p99 {})", nanos(*median_ns, numbers), nanos(*p99_ns, numbers)))
        }
        DiskLatency::Table { points } => {
            let (first, last) = (points.first()?, points.last()?);
            Some(format!("{} to {} by a table", nanos(first.1, numbers), nanos(last.1, numbers)))
        }
    }
}

/// A requested duration is spelled as configured: 7 ms, not 7.00 ms.
fn nanos(ns: u64, numbers: Numbers) -> String {
    let unit = LatencyUnit::of(ns as f64);
    let size = unit.nanos() as u64;
    if ns.is_multiple_of(size) {
        numbers.with_unit(ns / size, numbers.unit(unit))
    } else {
        numbers.latency(ns as f64)
    }
}

/// What the data lies on.
pub(crate) fn disk_of(rig: &RigSpec, numbers: Numbers) -> Option<String> {
    match rig.disk.as_ref()? {
        DiskChoice::Emulated { spec } => Some(disk_in(spec, numbers)),
        DiskChoice::Device { path } => Some(path.display().to_string()),
    }
}

/// Where an emulated disk keeps its blocks, and how large it is.
pub(crate) fn backing(rig: &RigSpec, numbers: Numbers) -> Option<String> {
    let Some(DiskChoice::Emulated { spec }) = &rig.disk else {
        return None;
    };
    let place = match spec.backing {
        Backing::Memory => "in memory",
        Backing::File => "in a sparse file",
    };
    Some(format!("{} {place}", numbers.bytes(spec.capacity_bytes)))
}

/// Memory, processors, pinning; `None` where nothing is limited.
pub(crate) fn limits(limits: &LimitsSpec, numbers: Numbers) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(limits.memory_bytes.map(|bytes| format!("{} of memory", numbers.bytes(bytes))));
    let page_cache = limits.page_cache_bytes;
    parts.extend(page_cache.map(|bytes| format!("{} of page cache", numbers.bytes(bytes))));
    if let Some(cpus) = limits.cpus {
        let plural = if cpus == 1.0 { "" } else { "s" };
        parts.push(format!("{} processor{plural}", numbers.shortest(cpus)));
    }
    if !limits.pin.is_empty() {
        parts.push(format!("on {}", listed(&limits.pin)));
    }
    if !limits.memory_nodes.is_empty() {
        parts.push(format!("memory of node {}", listed(&limits.memory_nodes)));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// `0.07 USD an hour (price list of a cloud, 2026-02)`.
pub(crate) fn price(price: &Price, numbers: Numbers) -> String {
    let mut description =
        format!("{} {} an hour", words::price(price.per_hour, numbers), price.currency);
    let origin: Vec<&str> =
        [&price.source, &price.date].into_iter().flatten().map(String::as_str).collect();
    if !origin.is_empty() {
        description.push_str(&format!(" ({})", origin.join(", ")));
    }
    description
}

/// Whether there is anything to say of it.
pub(crate) fn is_plain(rig: &RigSpec) -> bool {
    *rig == RigSpec::default()
}

/// A figure of a calibration in its unit.
pub(crate) fn calibration_value(unit: &str, value: f64) -> String {
    match unit {
        "ns" => PAGE.latency(value),
        "bytes/s" => format!("{}/s", PAGE.bytes_of(value)),
        _ if value.fract() == 0.0 => format!("{} {}", PAGE.fixed(value, 0), text::short(unit, 16)),
        _ => format!("{} {}", PAGE.rate(value), text::short(unit, 16)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::DiskBurst;
    use plimsoll_record::quantities::numbers::TERMINAL;

    fn constant(ns: u64) -> DiskLatency {
        DiskLatency::Constant { ns }
    }

    #[test]
    fn disks_are_told_by_their_figures() {
        let plain = DiskSpec::unlimited(1 << 30);
        let san = DiskSpec {
            iops: DiskRates { joint: Some(600.0), ..DiskRates::default() },
            read_latency: constant(7_000_000),
            write_latency: constant(7_000_000),
            ..plain.clone()
        };
        let cloud = DiskSpec {
            preset: Some("imaginary".into()),
            iops: DiskRates { read: Some(98_000.0), write: Some(88_000.0), joint: None },
            bandwidth: DiskRates {
                read: Some(f64::from(128 << 20)),
                write: Some(f64::from(128 << 20)),
                joint: None,
            },
            read_latency: DiskLatency::Lognormal { median_ns: 500_000, p99_ns: 9_000_000 },
            write_latency: DiskLatency::Table { points: vec![(0.0, 100_000), (100.0, 2_500_000)] },
            flush_latency: constant(1_500_000),
            queue_depth: Some(32),
            burst: Some(DiskBurst {
                iops: 3_000.0,
                bandwidth: None,
                credits: 5.4e6,
                refill: 100.0,
                start: 1.0,
            }),
            ..plain.clone()
        };
        let described = |disk: &DiskSpec| disk_in(disk, TERMINAL);
        assert_eq!(described(&plain), "unlimited");
        assert_eq!(described(&san), "600 IOPS, 7 ms");
        assert_eq!(
            described(&DiskSpec { preset: Some("san-raid10".into()), ..san }),
            "san-raid10: 600 IOPS, 7 ms"
        );
        assert_eq!(
            described(&cloud),
            "imaginary: 98,000 IOPS read, 88,000 IOPS written, 128 MiB/s each way, reads 500 µs (p99 9 ms), writes 100 µs to 2.50 ms by a table, \
             flushes 1.50 ms, 32 at once, 3,000 IOPS while it has credits"
        );
    }

    #[test]
    fn what_surrounds_a_disk_is_told_too() {
        let bounded = LimitsSpec {
            memory_bytes: Some(422 << 20),
            page_cache_bytes: None,
            cpus: Some(1.0),
            pin: vec![0, 2],
            memory_nodes: vec![1],
        };
        assert_eq!(
            limits(&bounded, TERMINAL).as_deref(),
            Some("422 MiB of memory, 1 processor, on 0, 2, memory of node 1")
        );
        assert_eq!(limits(&LimitsSpec::default(), TERMINAL), None);
        let cost = Price {
            per_hour: 0.2016,
            currency: "USD".into(),
            source: None,
            date: Some("2025-03".into()),
        };
        assert_eq!(price(&cost, TERMINAL), "0.2016 USD an hour (2025-03)");
    }
}
