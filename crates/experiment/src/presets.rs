//! Published disks and machines by name, from the data files of this crate.

use crate::disk::{self, BurstDraft, TRACED, USUAL_CAPACITY};
use crate::document::{self, Kind};
use crate::problems::Collector;
use crate::reader::{Checked, Reader, Value};
use crate::rig_format::{DISK_PRESET, MACHINE_PRESET};
use crate::shape::Object;
use crate::source::SourceText;
use plimsoll_record::{DiskRates, DiskSpec, Price};
use std::sync::OnceLock;

const DISKS: &str = include_str!("../presets/disks.yaml");
const MACHINES: &str = include_str!("../presets/machines.yaml");
const MIB: f64 = (1u64 << 20) as f64;
const GIB: f64 = (1u64 << 30) as f64;

/// A published disk.
#[derive(Clone, Debug)]
pub struct DiskPreset {
    /// The word in files.
    pub name: String,
    /// What it is.
    pub about: String,
    /// Where its figures are from.
    pub source: String,
    /// When they were read.
    pub date: String,
    /// At the capacity that it has where nothing else is said.
    pub spec: DiskSpec,
    iops: Rates,
    bandwidth: Rates,
    pub(crate) burst: Option<BurstDraft>,
}

/// A published machine.
#[derive(Clone, Debug, PartialEq)]
pub struct MachinePreset {
    /// The word in files.
    pub name: String,
    /// What it is.
    pub about: String,
    /// Where its figures are from.
    pub source: String,
    /// When they were read.
    pub date: String,
    /// Processors.
    pub cores: u32,
    /// Bytes.
    pub memory_bytes: u64,
    /// Of an hour, with its source and date.
    pub price: Price,
}

/// A rate that may grow with the capacity.
#[derive(Clone, Copy, Debug)]
enum Rate {
    Fixed(f64),
    PerGib { rate: f64, least: f64, most: f64 },
}

impl Rate {
    fn at(self, capacity_bytes: u64) -> f64 {
        match self {
            Self::Fixed(rate) => rate,
            Self::PerGib { rate, least, most } => {
                (rate * capacity_bytes as f64 / GIB).max(least).min(most)
            }
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Rates {
    read: Option<Rate>,
    write: Option<Rate>,
    joint: Option<Rate>,
}

impl Rates {
    fn at(self, capacity_bytes: u64) -> DiskRates {
        let at = |rate: Option<Rate>| rate.map(|rate| rate.at(capacity_bytes));
        DiskRates {
            read: at(self.read),
            write: at(self.write),
            joint: at(self.joint),
        }
    }

    fn grow(self) -> bool {
        [self.read, self.write, self.joint]
            .iter()
            .any(|rate| matches!(rate, Some(Rate::PerGib { .. })))
    }
}

impl DiskPreset {
    /// The disk with another capacity, in bytes: some are faster the larger they are.
    #[must_use]
    pub fn at(&self, capacity_bytes: u64) -> DiskSpec {
        let iops = self.iops.at(capacity_bytes);
        let burst = self
            .burst
            .filter(|burst| iops.joint.is_none_or(|joint| joint < burst.iops));
        DiskSpec {
            capacity_bytes,
            iops,
            bandwidth: self.bandwidth.at(capacity_bytes),
            burst: burst.and_then(|burst| burst.of_disk(iops.joint)),
            ..self.spec.clone()
        }
    }

    /// Whether its figures depend on its capacity.
    #[must_use]
    pub fn grows(&self) -> bool {
        self.iops.grow() || self.bandwidth.grow()
    }
}

/// All published disks, in the order of their data file.
#[must_use]
pub fn disk_presets() -> &'static [DiskPreset] {
    static PRESETS: OnceLock<Vec<DiskPreset>> = OnceLock::new();
    PRESETS.get_or_init(|| read(DISKS, &DISK_PRESET, disk_preset))
}

/// All published machines, in the order of their data file.
#[must_use]
pub fn machine_presets() -> &'static [MachinePreset] {
    static PRESETS: OnceLock<Vec<MachinePreset>> = OnceLock::new();
    PRESETS.get_or_init(|| read(MACHINES, &MACHINE_PRESET, machine_preset))
}

/// The presets of a data file. A mistake in one of ours is a mistake in the program, which its tests would have found.
fn read<T>(
    text: &str,
    object: &'static Object,
    make: impl Fn(String, &Checked, &mut Collector<'_>) -> Option<T>,
) -> Vec<T> {
    let source = SourceText::new(text);
    let mut problems = Collector::new(&source);
    let root = document::read(text, &mut problems);
    let mut presets = Vec::new();
    if let Some(Kind::Map(entries)) = root.map(|root| root.kind) {
        for entry in entries {
            let Kind::Map(fields) = &entry.value.kind else {
                continue;
            };
            let mut reader = Reader {
                problems: &mut problems,
                engines: &[],
            };
            let checked = Checked {
                place: entry.value.place,
                value: Value::Map(reader.object(&entry.key, object, fields, entry.key_place)),
            };
            presets.extend(make(entry.key.clone(), &checked, &mut problems));
        }
    }
    assert!(
        problems.is_empty(),
        "{}",
        problems.finish("the data file of the presets")
    );
    presets
}

fn words(map: &Checked, key: &str) -> String {
    map.get(key)
        .and_then(Checked::text)
        .unwrap_or_default()
        .to_owned()
}

fn disk_preset(name: String, map: &Checked, problems: &mut Collector<'_>) -> Option<DiskPreset> {
    let capacity = map
        .get("capacity")
        .and_then(Checked::whole)
        .unwrap_or(USUAL_CAPACITY);
    let mut spec = DiskSpec {
        preset: Some(name.clone()),
        io_unit_bytes: map.get("io_unit").and_then(Checked::whole),
        queue_depth: map
            .get("queue_depth")
            .and_then(Checked::whole)
            .and_then(|depth| u32::try_from(depth).ok()),
        trace_requests: TRACED,
        ..DiskSpec::unlimited(capacity)
    };
    disk::latencies(&name, map, &mut spec, problems);
    let mut preset = DiskPreset {
        about: words(map, "about"),
        source: words(map, "source"),
        date: words(map, "date"),
        spec,
        iops: rates(map, ["iops", "read_iops", "write_iops"], Checked::number),
        bandwidth: rates(
            map,
            ["bandwidth", "read_bandwidth", "write_bandwidth"],
            disk::bandwidth,
        ),
        burst: map.get("burst").and_then(disk::burst),
        name,
    };
    preset.spec = preset.at(capacity);
    Some(preset)
}

fn rates(
    map: &Checked,
    [joint, read, write]: [&str; 3],
    number: impl Fn(&Checked) -> Option<f64>,
) -> Rates {
    let rate = |key: &str| {
        let checked = map.get(key)?;
        let in_mib = |checked: &Checked| Some(checked.number()? * MIB);
        let per_gib = checked
            .get("per_gib")
            .and_then(&number)
            .or_else(|| checked.get("mib_per_gib").and_then(in_mib));
        let Some(rate) = per_gib else {
            return number(checked).map(Rate::Fixed);
        };
        let bound = |key: &str| checked.get(key).and_then(&number);
        Some(Rate::PerGib {
            rate,
            least: bound("least").unwrap_or(0.0),
            most: bound("most").unwrap_or(f64::INFINITY),
        })
    };
    Rates {
        read: rate(read),
        write: rate(write),
        joint: rate(joint),
    }
}

fn machine_preset(
    name: String,
    map: &Checked,
    _problems: &mut Collector<'_>,
) -> Option<MachinePreset> {
    let (source, date) = (words(map, "source"), words(map, "date"));
    Some(MachinePreset {
        name,
        about: words(map, "about"),
        cores: u32::try_from(map.get("cores")?.whole()?).ok()?,
        memory_bytes: map.get("memory")?.whole()?,
        price: Price {
            per_hour: map.get("per_hour")?.number()?,
            currency: words(map, "currency"),
            source: Some(source.clone()),
            date: Some(date.clone()),
        },
        source,
        date,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_reads_and_has_its_source() {
        assert!(disk_presets().len() > 25);
        assert_eq!(machine_presets().len(), 12);
        for disk in disk_presets() {
            assert!(!disk.source.is_empty() && !disk.date.is_empty());
            assert_eq!(disk.spec.preset.as_ref(), Some(&disk.name));
            assert_eq!(disk.at(disk.spec.capacity_bytes), disk.spec);
            let limited = disk.spec.iops != DiskRates::default();
            assert!(limited, "{}", disk.name);
        }
        for machine in machine_presets() {
            assert!(!machine.source.is_empty() && !machine.date.is_empty());
            assert!(machine.price.per_hour > 0.0 && machine.price.currency.len() == 3);
        }
    }

    fn preset(name: &str) -> &'static DiskPreset {
        disk_presets()
            .iter()
            .find(|preset| preset.name == name)
            .expect(name)
    }

    #[test]
    fn some_disks_grow_with_their_capacity() {
        const GIB: u64 = 1 << 30;
        let gp2 = preset("gp2");
        assert!(gp2.grows() && !preset("gp3").grows());
        for (gib, iops, mib) in [
            (1, 100.0, 128.0),
            (100, 300.0, 128.0),
            (170, 510.0, 128.0),
            (334, 1_002.0, 250.0),
            (900, 2_700.0, 250.0),
            (10_000, 16_000.0, 250.0),
        ] {
            let spec = gp2.at(gib * GIB);
            assert_eq!(spec.iops.joint, Some(iops), "{gib} GiB");
            let bandwidth = spec.bandwidth.joint.unwrap();
            assert!(
                (bandwidth / (1 << 20) as f64 - mib).abs() < 1.0,
                "{gib} GiB"
            );
            // Credits are of use only to disks that are slower without.
            assert_eq!(spec.burst.is_some(), iops < 3_000.0, "{gib} GiB");
        }
        assert_eq!(gp2.at(100 * GIB).burst.unwrap().refill, 300.0);
        let standard = preset("pd-standard").at(1_000 * GIB);
        assert_eq!(
            (standard.iops.read, standard.iops.write, standard.iops.joint),
            (Some(750.0), Some(1_500.0), None)
        );
    }
}
