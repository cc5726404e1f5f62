//! Makes an emulated disk of what was read: a preset with figures beside it, or figures alone.

use crate::document::{self, Kind, Node};
use crate::mistake::Mistake;
use crate::presets::{DiskPreset, disk_presets};
use crate::problems::{Collector, Problems};
use crate::reader::{Checked, Reader, Value, join};
use crate::rig_format::DISK_OR_PRESET;
use crate::rig_mistake::RigMistake;
use crate::source::{Place, SourceText};
use plimsoll_plan::SettingValue;
use plimsoll_plan::table_percentile;
use plimsoll_record::{Backing, DiskBurst, DiskLatency, DiskRates, DiskSpec};

/// Requests that a trace holds where nothing is said.
pub(crate) const TRACED: u64 = 1_000_000;
/// Of a disk whose capacity bears on nothing, where nothing says what it is to hold.
pub(crate) const USUAL_CAPACITY: u64 = 16 << 30;
const BLOCK: u64 = 4096;

/// A disk of which capacity and backing may still depend on the data.
#[derive(Clone, Debug)]
pub(crate) struct DiskDraft {
    pub spec: DiskSpec,
    /// Whether the file or the preset says it.
    pub capacity_known: bool,
    /// Whether the file says it.
    pub backing_known: bool,
}

/// Burst credits of which the inflow may still depend on the disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BurstDraft {
    pub iops: f64,
    pub bandwidth: Option<f64>,
    pub credits: f64,
    pub refill: Option<f64>,
    pub start: f64,
}

impl BurstDraft {
    /// With credits that come in as fast as the disk is without; `None` where nothing says how fast that is.
    pub(crate) fn of_disk(self, joint_iops: Option<f64>) -> Option<DiskBurst> {
        Some(DiskBurst {
            iops: self.iops,
            bandwidth: self.bandwidth,
            credits: self.credits,
            refill: self.refill.or(joint_iops)?,
            start: self.start,
        })
    }
}

/// An emulated disk from text, as on a command line: the name of a preset, `gp3`, or figures as in an experiment file,
/// `{iops: 600, latency: 7ms}`. Without `capacity` that of the preset, else 16 GiB; without `backing` it is kept in memory.
///
/// # Errors
/// Everything that is wrong with the text, at once.
pub fn disk_by_text(text: &str) -> Result<DiskSpec, Problems> {
    let source = SourceText::new(text);
    let mut problems = Collector::new(&source);
    let draft = read(text, &mut problems);
    match draft {
        Some(draft) if problems.is_empty() => Ok(draft.spec),
        _ => Err(problems.finish("the description of the disk")),
    }
}

fn read(text: &str, problems: &mut Collector<'_>) -> Option<DiskDraft> {
    let node = match text.trim() {
        // Nothing is no disk, but to YAML no text at all.
        "" => Node {
            place: Place::default(),
            kind: Kind::Scalar(String::new()),
        },
        _ => document::read(text, problems)?,
    };
    let mut reader = Reader {
        problems,
        engines: &[],
    };
    let checked = reader.read("", &DISK_OR_PRESET, &node);
    match checked.value {
        Value::Wrong => None,
        Value::Map(_) => {
            for key in ["device", "erase"] {
                if let Some(value) = checked.get(key) {
                    problems.add(key, Some(value.place), RigMistake::DeviceNotHere.into());
                }
            }
            described("", &checked, problems)
        }
        _ => named("", &checked, problems),
    }
}

/// A disk by the name of a preset.
pub(crate) fn named(
    path: &str,
    checked: &Checked,
    problems: &mut Collector<'_>,
) -> Option<DiskDraft> {
    let preset = preset(path, checked, problems)?;
    Some(DiskDraft {
        spec: preset.spec.clone(),
        capacity_known: preset.grows(),
        backing_known: false,
    })
}

fn preset(
    path: &str,
    checked: &Checked,
    problems: &mut Collector<'_>,
) -> Option<&'static DiskPreset> {
    let name = checked.text()?;
    let found = disk_presets()
        .iter()
        .find(|preset| preset.name.eq_ignore_ascii_case(name));
    if found.is_none() {
        let mistake = RigMistake::UnknownPreset {
            what: "disk",
            name: name.to_owned(),
            presets: disk_presets()
                .iter()
                .map(|preset| preset.name.clone())
                .collect(),
        };
        problems.add(path, Some(checked.place), Mistake::Rig(mistake));
    }
    found
}

/// A disk by its figures, which are those of [`crate::rig_format::DISK`] without a device.
pub(crate) fn described(
    path: &str,
    map: &Checked,
    problems: &mut Collector<'_>,
) -> Option<DiskDraft> {
    let preset = match map.get("preset") {
        Some(checked) => Some(preset(&join(path, "preset"), checked, problems)?),
        None => None,
    };
    let capacity = map.get("capacity").and_then(Checked::whole);
    if let Some(bytes) = capacity
        && bytes % BLOCK != 0
        && let Some(checked) = map.get("capacity")
    {
        let mistake = RigMistake::CapacityNotBlocks {
            capacity: plimsoll_quantities::units::size(bytes),
        };
        problems.add(
            &join(path, "capacity"),
            Some(checked.place),
            Mistake::Rig(mistake),
        );
    }
    let mut spec = match (preset, capacity) {
        (Some(preset), Some(capacity)) => preset.at(capacity),
        (Some(preset), None) => preset.spec.clone(),
        (None, capacity) => DiskSpec {
            trace_requests: TRACED,
            ..DiskSpec::unlimited(capacity.unwrap_or(USUAL_CAPACITY))
        },
    };
    spec.iops = rates(
        spec.iops,
        map,
        ["iops", "read_iops", "write_iops"],
        Checked::number,
    );
    spec.bandwidth = rates(
        spec.bandwidth,
        map,
        ["bandwidth", "read_bandwidth", "write_bandwidth"],
        bandwidth,
    );
    if let Some(unit) = map.get("io_unit") {
        spec.io_unit_bytes = unit.whole();
    }
    latencies(path, map, &mut spec, problems);
    if let Some(depth) = map.get("queue_depth").and_then(Checked::whole) {
        spec.queue_depth = u32::try_from(depth).ok();
    }
    burst_of(path, map, preset, &mut spec, problems);
    if let Some(word) = map.get("backing").and_then(Checked::text) {
        spec.backing = if word == "file" {
            Backing::File
        } else {
            Backing::Memory
        };
    }
    if let Some(requests) = map.get("trace").and_then(Checked::whole) {
        spec.trace_requests = requests;
    }
    Some(DiskDraft {
        spec,
        capacity_known: capacity.is_some() || preset.is_some_and(DiskPreset::grows),
        backing_known: map.get("backing").is_some(),
    })
}

/// A limit of both directions stands for all that the preset says of the two.
fn rates(
    base: DiskRates,
    map: &Checked,
    [joint, read, write]: [&str; 3],
    number: impl Fn(&Checked) -> Option<f64>,
) -> DiskRates {
    let mut rates = base;
    if let Some(checked) = map.get(joint) {
        rates = DiskRates {
            joint: number(checked),
            ..DiskRates::default()
        };
    }
    if let Some(checked) = map.get(read) {
        rates.read = number(checked);
    }
    if let Some(checked) = map.get(write) {
        rates.write = number(checked);
    }
    rates
}

/// Bytes per second.
pub(crate) fn bandwidth(checked: &Checked) -> Option<f64> {
    checked.whole().map(|bytes| bytes as f64)
}

/// Latencies of a disk or a preset: one of both directions is refined by those of each.
pub(crate) fn latencies(
    path: &str,
    map: &Checked,
    spec: &mut DiskSpec,
    problems: &mut Collector<'_>,
) {
    let mut read = |key: &str| {
        let checked = map.get(key)?;
        latency(&join(path, key), checked, problems)
    };
    if let Some(both) = read("latency") {
        spec.read_latency = both.clone();
        spec.write_latency = both;
    }
    if let Some(latency) = read("read_latency") {
        spec.read_latency = latency;
    }
    if let Some(latency) = read("write_latency") {
        spec.write_latency = latency;
    }
    if let Some(latency) = read("flush") {
        spec.flush_latency = latency;
    }
}

fn latency(path: &str, checked: &Checked, problems: &mut Collector<'_>) -> Option<DiskLatency> {
    if let Value::One(SettingValue::Nanos(ns)) = checked.value {
        return Some(match ns {
            0 => DiskLatency::None,
            ns => DiskLatency::Constant { ns },
        });
    }
    if let Some(lognormal) = checked.get("lognormal") {
        let median_ns = lognormal.get("median")?.whole()?;
        let p99_ns = lognormal.get("p99")?.whole()?;
        if p99_ns < median_ns {
            let mistake = RigMistake::PercentileBelowMedian { median_ns, p99_ns };
            problems.add(
                &join(path, "lognormal"),
                Some(lognormal.place),
                Mistake::Rig(mistake),
            );
        }
        return Some(DiskLatency::Lognormal { median_ns, p99_ns });
    }
    let mut points = Vec::new();
    let mut places = Vec::new();
    for field in checked.get("table")?.fields() {
        let point = (table_percentile(&field.key), field.checked.whole());
        let (Some(percentile), Some(ns)) = point else {
            continue;
        };
        points.push((percentile, ns));
        places.push((percentile, field.checked.place));
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    for pair in points.windows(2) {
        let [(lower, shorter), (upper, longer)] = *pair else {
            continue;
        };
        if longer >= shorter && upper > lower {
            continue;
        }
        let place = places
            .iter()
            .find(|(percentile, _)| *percentile == upper)
            .map(|(_, place)| *place);
        let mistake = RigMistake::TableNotAscending { lower, upper };
        problems.add(&join(path, "table"), place, Mistake::Rig(mistake));
    }
    Some(DiskLatency::Table { points })
}

/// Burst credits as read; `None` for `off` or where they are wrong.
pub(crate) fn burst(checked: &Checked) -> Option<BurstDraft> {
    Some(BurstDraft {
        iops: checked.get("iops")?.number()?,
        bandwidth: checked.get("bandwidth").and_then(bandwidth),
        credits: checked.get("credits")?.whole()? as f64,
        refill: checked.get("refill").and_then(Checked::number),
        start: checked
            .get("start")
            .and_then(Checked::number)
            .unwrap_or(1.0),
    })
}

fn burst_of(
    path: &str,
    map: &Checked,
    preset: Option<&DiskPreset>,
    spec: &mut DiskSpec,
    problems: &mut Collector<'_>,
) {
    let Some(checked) = map.get("burst") else {
        // Another rate than the preset's refills its credits at that rate, or makes them pointless.
        spec.burst = preset
            .and_then(|preset| preset.burst)
            .filter(|burst| spec.iops.joint.is_none_or(|iops| iops < burst.iops))
            .and_then(|burst| burst.of_disk(spec.iops.joint));
        return;
    };
    spec.burst = None;
    let Some(draft) = burst(checked) else { return };
    let mistake = match spec.iops.joint {
        Some(iops) if draft.iops < iops => RigMistake::BurstBelowDisk {
            burst_iops: draft.iops,
            iops,
        },
        None if draft.refill.is_none() => RigMistake::BurstWithoutRefill,
        _ => {
            spec.burst = draft.of_disk(spec.iops.joint);
            return;
        }
    };
    problems.add(
        &join(path, "burst"),
        Some(checked.place),
        Mistake::Rig(mistake),
    );
}
