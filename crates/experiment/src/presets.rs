//! Published disks and machines by name, from the data files of this crate.

use crate::document::{Checked, SourceText};
use crate::elements::burst::{BurstDraft, burst};
use crate::elements::latency::latencies;
use crate::keys::burst::BURST_OR_OFF;
use crate::keys::disk::{CAPACITY, TRACED, USUAL_CAPACITY};
use crate::keys::latency::LAW;
use crate::table::*;
use crate::{Collector, Reader};
use plimsoll_record::{DiskRates, DiskSpec, Price};
use std::sync::OnceLock;

const IOPS_BY_CAPACITY: Shape = Shape::Any(&[RATE, Shape::Object(&IOPS_PER_GIB)]);
const BANDWIDTH_BY_CAPACITY: Shape =
    Shape::Any(&[Shape::Bandwidth, Shape::Object(&BANDWIDTH_PER_GIB)]);

const DISKS: &str = include_str!("../presets/disks.yaml");
const MACHINES: &str = include_str!("../presets/machines.yaml");
const MIB: f64 = (1u64 << 20) as f64;
const GIB: f64 = (1u64 << 30) as f64;

object! {
    /// A disk of the presets' data file.
    DISK_PRESET disk_preset: "A published disk."
    about = Shape::Text { most: 200 }, Required, "AWS EBS gp3";
        "What it is.";
    source = Shape::Text { most: 500 }, Required, "AWS documentation";
        "Where its figures are from.";
    date = Shape::Text { most: 40 }, Required, "2023-11";
        "When they were read.";
    capacity = CAPACITY, Optional, "100GiB";
        "Where it says nothing else; only where figures depend on it.";
    iops = IOPS_BY_CAPACITY, Optional, "3000";
        "Requests per second.";
    read_iops = IOPS_BY_CAPACITY, Optional, "3000";
        "Reads per second.";
    write_iops = IOPS_BY_CAPACITY, Optional, "3000";
        "Writes per second.";
    bandwidth = BANDWIDTH_BY_CAPACITY, Optional, "125MiB";
        "Bytes per second.";
    read_bandwidth = BANDWIDTH_BY_CAPACITY, Optional, "125MiB";
        "Bytes read per second.";
    write_bandwidth = BANDWIDTH_BY_CAPACITY, Optional, "125MiB";
        "Bytes written per second.";
    io_unit = Shape::size(512, 1 << 30), Optional, "256KiB";
        "Largest request that counts as one.";
    latency = LAW, Optional, "7ms";
        "Of reads and writes.";
    read_latency = LAW, Optional, "7ms";
        "Of reads.";
    write_latency = LAW, Optional, "7ms";
        "Of writes.";
    flush = LAW, Optional, "1ms";
        "Of a flush.";
    queue_depth = Shape::count(1, 65_536), Optional, "32";
        "Requests that are served at once.";
    burst = BURST_OR_OFF, Optional, "{iops: 3000, credits: 5.4M}";
        "Credits.";
}

object! {
    IOPS_PER_GIB iops_per_gib: "A rate that grows with the capacity."
    per_gib = RATE, Required, "3";
        "For each GiB.";
    least = RATE, Optional, "100";
        "However small.";
    most = RATE, Optional, "16k";
        "However large.";
}

object! {
    BANDWIDTH_PER_GIB bandwidth_per_gib: "A bandwidth that grows with the capacity."
    mib_per_gib = Shape::number(0.0, 1e6), Required, "0.75";
        "MiB per second for each GiB.";
    least = Shape::Bandwidth, Optional, "128MiB";
        "However small.";
    most = Shape::Bandwidth, Optional, "250MiB";
        "However large.";
}

object! {
    /// A machine of the presets' data file.
    MACHINE_PRESET machine_preset: "A published machine."
    about = Shape::Text { most: 200 }, Required, "AWS";
        "What it is.";
    source = Shape::Text { most: 500 }, Required, "AWS price list";
        "Where its figures are from.";
    date = Shape::Text { most: 40 }, Required, "2014-09";
        "When they were read.";
    cores = Shape::count(1, 10_000), Required, "1";
        "Processors.";
    memory = Shape::size(1 << 20, 1 << 50), Required, "3.75GiB";
        "Bytes.";
    per_hour = Shape::number(0.0, 1e9), Required, "0.07";
        "Price of an hour.";
    currency = Shape::Text { most: 40 }, Required, "USD";
        "Of the price.";
}

#[derive(Clone, Debug)]
pub struct DiskPreset {
    pub name: String,
    pub about: String,
    /// Where its figures are from.
    pub source: String,
    pub date: String,
    /// The disk with its default capacity.
    pub spec: DiskSpec,
    iops: Rates,
    bandwidth: Rates,
    pub(crate) burst: Option<BurstDraft>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MachinePreset {
    pub name: String,
    pub about: String,
    /// Where its figures are from.
    pub source: String,
    pub date: String,
    pub cores: u32,
    pub memory_bytes: u64,
    /// Price of an hour, with its source and date.
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
        DiskRates { read: at(self.read), write: at(self.write), joint: at(self.joint) }
    }

    fn grow(self) -> bool {
        [self.read, self.write, self.joint]
            .iter()
            .any(|rate| matches!(rate, Some(Rate::PerGib { .. })))
    }
}

impl DiskPreset {
    /// The disk with another capacity, in bytes: some are faster the larger they are.
    pub fn at(&self, capacity_bytes: u64) -> DiskSpec {
        let iops = self.iops.at(capacity_bytes);
        let burst = self.burst.filter(|burst| iops.joint.is_none_or(|joint| joint < burst.iops));
        DiskSpec {
            capacity_bytes,
            iops,
            bandwidth: self.bandwidth.at(capacity_bytes),
            burst: burst.and_then(|burst| burst.of_disk(iops.joint)),
            ..self.spec.clone()
        }
    }

    /// Whether its figures depend on its capacity.
    pub fn grows(&self) -> bool {
        self.iops.grow() || self.bandwidth.grow()
    }
}

/// All published disks, in the order of their data file.
pub fn disk_presets() -> &'static [DiskPreset] {
    static PRESETS: OnceLock<Vec<DiskPreset>> = OnceLock::new();
    PRESETS.get_or_init(|| read(DISKS, &DISK_PRESET, disk_preset))
}

/// All published machines, in the order of their data file.
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
    let mut presets = Vec::new();
    if let Some(root) = crate::document::read(text, &mut problems) {
        for entry in root.entries() {
            let shape = Shape::Object(object);
            let checked = Reader::new(&mut problems).read(&entry.key, &shape, &entry.value);
            presets.extend(make(entry.key.clone(), &checked, &mut problems));
        }
    }
    assert!(problems.is_empty(), "{}", problems.finish("the data file of the presets"));
    presets
}

fn words(map: &Checked, key: &Key) -> String {
    map.get(key).and_then(Checked::text).unwrap_or_default().to_owned()
}

fn disk_preset(name: String, map: &Checked, problems: &mut Collector<'_>) -> Option<DiskPreset> {
    let capacity =
        map.get(disk_preset::capacity).and_then(Checked::whole).unwrap_or(USUAL_CAPACITY);
    let mut spec = DiskSpec {
        preset: Some(name.clone()),
        io_unit_bytes: map.get(disk_preset::io_unit).and_then(Checked::whole),
        queue_depth: map
            .get(disk_preset::queue_depth)
            .and_then(Checked::whole)
            .and_then(|depth| u32::try_from(depth).ok()),
        trace_requests: TRACED,
        ..DiskSpec::unlimited(capacity)
    };
    let keys = [
        disk_preset::latency,
        disk_preset::read_latency,
        disk_preset::write_latency,
        disk_preset::flush,
    ];
    latencies(&name, map, keys, &mut spec, problems);
    let mut preset = DiskPreset {
        about: words(map, disk_preset::about),
        source: words(map, disk_preset::source),
        date: words(map, disk_preset::date),
        spec,
        iops: rates(
            map,
            [disk_preset::iops, disk_preset::read_iops, disk_preset::write_iops],
            Checked::number,
        ),
        bandwidth: rates(
            map,
            [disk_preset::bandwidth, disk_preset::read_bandwidth, disk_preset::write_bandwidth],
            |rate| rate.whole().map(|bytes| bytes as f64),
        ),
        burst: map.get(disk_preset::burst).and_then(burst),
        name,
    };
    preset.spec = preset.at(capacity);
    Some(preset)
}

fn rates(
    map: &Checked,
    [joint, read, write]: [&Key; 3],
    number: impl Fn(&Checked) -> Option<f64>,
) -> Rates {
    let rate = |key: &Key| {
        let checked = map.get(key)?;
        let grows = checked
            .get(iops_per_gib::per_gib)
            .and_then(Checked::number)
            .map(|rate| (rate, iops_per_gib::least, iops_per_gib::most));
        let grows = grows.or_else(|| {
            let in_mib = checked.get(bandwidth_per_gib::mib_per_gib)?.number()?;
            let (least, most) = (bandwidth_per_gib::least, bandwidth_per_gib::most);
            Some((in_mib * MIB, least, most))
        });
        let Some((rate, least, most)) = grows else {
            return number(checked).map(Rate::Fixed);
        };
        let bound = |key: &Key| checked.get(key).and_then(&number);
        Some(Rate::PerGib {
            rate,
            least: bound(least).unwrap_or(0.0),
            most: bound(most).unwrap_or(f64::INFINITY),
        })
    };
    Rates { read: rate(read), write: rate(write), joint: rate(joint) }
}

fn machine_preset(
    name: String,
    map: &Checked,
    _problems: &mut Collector<'_>,
) -> Option<MachinePreset> {
    let (source, date) = (words(map, machine_preset::source), words(map, machine_preset::date));
    Some(MachinePreset {
        name,
        about: words(map, machine_preset::about),
        cores: u32::try_from(map.get(machine_preset::cores)?.whole()?).ok()?,
        memory_bytes: map.get(machine_preset::memory)?.whole()?,
        price: Price {
            per_hour: map.get(machine_preset::per_hour)?.number()?,
            currency: words(map, machine_preset::currency),
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
        disk_presets().iter().find(|preset| preset.name == name).expect(name)
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
            assert!((bandwidth / (1 << 20) as f64 - mib).abs() < 1.0, "{gib} GiB");
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
