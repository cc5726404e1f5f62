//! `disk`: an emulated disk, by a preset or by figures, or a device of this machine.

use crate::document::{Checked, Kind, Node, SourceText, Span, Value};
use crate::elements::arm::{ArmValue, ReadArm};
use crate::elements::burst::burst;
use crate::elements::latency::latencies;
use crate::elements::rig::{RigReader, StoredData};
use crate::keys::arm::arm;
use crate::keys::disk::{BLOCK, NO_DISK};
use crate::keys::disk::{DISK, DISK_FILES, DISK_OR_PRESET, FILE, disk};
use crate::keys::disk::{TRACED, USUAL_CAPACITY};
use crate::mistake::Mistake;
use crate::presets::{DiskPreset, disk_presets};
use crate::table::*;
use crate::{Collector, Problems, Reader, read_text_file};
use plimsoll_plan::estimate::{ample_capacity, least_capacity, most_held};
use plimsoll_plan::words::disk_words;
use plimsoll_plan::{EngineKind, Source};
use plimsoll_record::quantities::units;
use plimsoll_record::{Backing, DiskChoice, DiskLatency, DiskRates, DiskSpec, FilesystemKind};
use std::io;
use std::path::{Path, PathBuf};

/// Names that stay with a device are found in folders that begin so.
const STABLE_NAMES: &str = "/dev/disk/by-";

/// A disk whose capacity and backing may still depend on the data.
#[derive(Clone, Debug)]
pub(crate) struct DiskDraft {
    pub spec: DiskSpec,
    /// Whether the capacity is that of the file or the preset.
    pub capacity_known: bool,
    /// Whether the backing is that of the file.
    pub backing_known: bool,
}

/// An emulated disk from text, as on a command line: the name of a preset, `gp3`, or of a file, `my-ssd.yaml`, or figures as in an experiment
/// file, `{iops: 600, latency: 7ms}`. Without `capacity` that of the preset, else 16 GiB; without `backing` it is kept in memory.
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
        "" => Node { place: Span::default(), kind: Kind::Scalar(String::new()), quoted: false },
        _ => crate::document::read(text, problems)?,
    };
    let checked = Reader::new(problems).read("", &DISK_OR_PRESET, &node);
    match checked.value {
        Value::Wrong => None,
        Value::Map(_) => emulated(&checked, problems),
        _ => named("", &checked, &|path| read_text_file(path), problems),
    }
}

/// A disk by its figures, where a device has no place.
fn emulated(checked: &Checked, problems: &mut Collector<'_>) -> Option<DiskDraft> {
    for key in [disk::device, disk::erase] {
        if let Some(value) = checked.get(key) {
            problems.add(key.name, Some(value.place), Mistake::DeviceNotHere);
        }
    }
    described("", checked, problems)
}

/// A disk by the name of a preset, or of a file with the same keys.
fn named(
    path: &str,
    checked: &Checked,
    read_file: &dyn Fn(&Path) -> io::Result<String>,
    problems: &mut Collector<'_>,
) -> Option<DiskDraft> {
    let name = checked.text()?;
    if DISK_FILES.iter().any(|ending| name.ends_with(ending)) {
        let found = read_file(Path::new(name))
            .map_err(|error| Mistake::File { path: name.to_owned(), reason: error.to_string() })
            .and_then(|text| of_file(name, &text));
        return found.map_err(|mistake| problems.add(path, Some(checked.place), mistake)).ok();
    }
    let preset = preset(path, checked, problems)?;
    Some(DiskDraft {
        spec: preset.spec.clone(),
        capacity_known: preset.grows(),
        backing_known: false,
    })
}

/// A disk that was measured, as a file that [`disk_by_text`] and arms can name: without burst credits and lognormal laws, which no measurement
/// finds, and without its blocks and trace.
pub fn disk_as_file(spec: &DiskSpec) -> String {
    let mut text = String::new();
    for (key, words) in disk_words(spec, true) {
        let law = match key {
            "capacity" | "backing" | "trace" => continue,
            "latency" | "read_latency" => &spec.read_latency,
            "write_latency" => &spec.write_latency,
            "flush" => &spec.flush_latency,
            _ => &DiskLatency::None,
        };
        match law {
            DiskLatency::Table { points } => {
                text.push_str(&format!("{key}:\n  table:\n"));
                for (percentile, ns) in points {
                    text.push_str(&format!("    p{percentile}: {}\n", units::duration(*ns)));
                }
            }
            _ => text.push_str(&format!("{key}: {words}\n")),
        }
    }
    text
}

/// What is in such a file. It is shown by its name without folders and ending.
fn of_file(name: &str, text: &str) -> Result<DiskDraft, Mistake> {
    if text.trim().is_empty() {
        return Err(Mistake::DiskFile { reason: format!("{name} is empty") });
    }
    let source = SourceText::new(text);
    let mut problems = Collector::new(&source);
    let draft = crate::document::read(text, &mut problems).and_then(|node| {
        let checked = Reader::new(&mut problems).read("", &Shape::Object(&DISK), &node);
        emulated(&checked, &mut problems)
    });
    let problems = problems.finish(name);
    match (draft, problems.list().first()) {
        (Some(mut draft), None) => {
            let stem = Path::new(name).file_stem().unwrap_or_default();
            draft.spec.preset = Some(stem.to_string_lossy().into_owned());
            Ok(draft)
        }
        (_, first) => Err(Mistake::DiskFile {
            reason: first.map_or_else(|| name.to_owned(), |problem| problems.line_of(problem)),
        }),
    }
}

fn preset(
    path: &str,
    checked: &Checked,
    problems: &mut Collector<'_>,
) -> Option<&'static DiskPreset> {
    let name = checked.text()?;
    let found = disk_presets().iter().find(|preset| preset.name.eq_ignore_ascii_case(name));
    if found.is_none() {
        let mistake = Mistake::UnknownPreset {
            what: "disk",
            name: name.to_owned(),
            presets: disk_presets().iter().map(|preset| preset.name.clone()).collect(),
        };
        problems.add(path, Some(checked.place), mistake);
    }
    found
}

/// A disk by its figures.
pub(crate) fn described(
    path: &str,
    map: &Checked,
    problems: &mut Collector<'_>,
) -> Option<DiskDraft> {
    let preset = match map.get(disk::preset) {
        Some(checked) => Some(preset(&disk::preset.under(path), checked, problems)?),
        None => None,
    };
    let capacity = map.get(disk::capacity).and_then(Checked::whole);
    if let Some(bytes) = capacity
        && bytes % BLOCK != 0
        && let Some(checked) = map.get(disk::capacity)
    {
        let size = units::size(bytes);
        let mistake = Mistake::NotBlocks { size };
        problems.add(&disk::capacity.under(path), Some(checked.place), mistake);
    }
    let mut spec = match (preset, capacity) {
        (Some(preset), Some(capacity)) => preset.at(capacity),
        (Some(preset), None) => preset.spec.clone(),
        (None, capacity) => DiskSpec {
            trace_requests: TRACED,
            ..DiskSpec::unlimited(capacity.unwrap_or(USUAL_CAPACITY))
        },
    };
    spec.iops =
        rates(spec.iops, map, [disk::iops, disk::read_iops, disk::write_iops], Checked::number);
    spec.bandwidth = rates(
        spec.bandwidth,
        map,
        [disk::bandwidth, disk::read_bandwidth, disk::write_bandwidth],
        bandwidth,
    );
    spec.transfer = rates(
        spec.transfer,
        map,
        [disk::transfer, disk::read_transfer, disk::write_transfer],
        bandwidth,
    );
    if let Some(unit) = map.get(disk::io_unit) {
        spec.io_unit_bytes = unit.whole();
    }
    let keys = [disk::latency, disk::read_latency, disk::write_latency, disk::flush];
    latencies(path, map, keys, &mut spec, problems);
    if let Some(depth) = map.get(disk::queue_depth).and_then(Checked::whole) {
        spec.queue_depth = u32::try_from(depth).ok();
    }
    burst_of(path, map, preset, &mut spec, problems);
    if let Some(word) = map.get(disk::backing).and_then(Checked::text) {
        spec.backing = if word == FILE { Backing::File } else { Backing::Memory };
    }
    if let Some(requests) = map.get(disk::trace).and_then(Checked::whole) {
        spec.trace_requests = requests;
    }
    Some(DiskDraft {
        spec,
        capacity_known: capacity.is_some() || preset.is_some_and(DiskPreset::grows),
        backing_known: map.get(disk::backing).is_some(),
    })
}

/// A joint limit replaces the preset's limits of both directions.
fn rates(
    base: DiskRates,
    map: &Checked,
    [joint, read, write]: [&Key; 3],
    number: impl Fn(&Checked) -> Option<f64>,
) -> DiskRates {
    let mut rates = base;
    if let Some(checked) = map.get(joint) {
        rates = DiskRates { joint: number(checked), ..DiskRates::default() };
    }
    if let Some(checked) = map.get(read) {
        rates.read = number(checked);
    }
    if let Some(checked) = map.get(write) {
        rates.write = number(checked);
    }
    rates
}

pub(crate) fn bandwidth(checked: &Checked) -> Option<f64> {
    checked.whole().map(|bytes| bytes as f64)
}

fn burst_of(
    path: &str,
    map: &Checked,
    preset: Option<&DiskPreset>,
    spec: &mut DiskSpec,
    problems: &mut Collector<'_>,
) {
    let Some(checked) = map.get(disk::burst) else {
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
        Some(iops) if draft.iops < iops => Mistake::BurstBelowDisk { burst_iops: draft.iops, iops },
        None if draft.refill.is_none() => Mistake::BurstWithoutRefill,
        _ => {
            spec.burst = draft.of_disk(spec.iops.joint);
            return;
        }
    };
    problems.add(&disk::burst.under(path), Some(checked.place), mistake);
}

impl RigReader<'_, '_> {
    pub(crate) fn disk(
        &mut self,
        path: &str,
        arm: &ReadArm,
        engine: &EngineKind,
        stored: StoredData,
    ) -> Option<DiskChoice> {
        let given = arm.get(arm::disk)?;
        let checked = &given.checked;
        let path = arm::disk.under(path);
        if checked.text() == Some(NO_DISK) {
            self.origins.add_file(&path, NO_DISK, checked.place);
            return None;
        }
        if !engine.keeps_data {
            // In the defaults it is for the arms whose engines keep data.
            if given.is_own() {
                let engine = engine.name;
                self.wrong(&given.path, checked.place, Mistake::DiskWithoutData { engine });
            }
            return None;
        }
        if let Some(device) = checked.get(disk::device) {
            return self.device(&path, given, device);
        }
        let draft = match checked.value {
            Value::Map(_) => {
                if let Some(erase) = checked.get(disk::erase) {
                    self.wrong(
                        &disk::erase.under(&given.path),
                        erase.place,
                        Mistake::EraseWithoutDevice,
                    );
                }
                described(&given.path, checked, self.problems)?
            }
            _ => {
                let read_file = |file: &Path| (self.read_file)(&self.base_dir.join(file));
                named(&given.path, checked, &read_file, self.problems)?
            }
        };
        let spec = self.finished(draft.clone(), stored);
        self.origins_of_disk(&path, checked, &draft, &spec);
        Some(DiskChoice::Emulated { spec })
    }

    fn device(&mut self, path: &str, given: &ArmValue, device: &Checked) -> Option<DiskChoice> {
        let map = &given.checked;
        for field in map.fields() {
            let of_device = [disk::device, disk::erase, disk::preset];
            if !of_device.iter().any(|key| key.name == field.key) {
                let key = field.key.clone();
                self.wrong(&given.path, field.key_place, Mistake::FigureOfDevice { key });
            }
        }
        match map.get(disk::erase) {
            Some(erase) if erase.flag() == Some(false) => {
                self.wrong(&given.path, erase.place, Mistake::EraseMissing);
            }
            None => self.wrong(&given.path, device.place, Mistake::EraseMissing),
            Some(_) => {}
        }
        let name = device.text()?;
        if !is_stable_name(name) {
            let path = name.to_owned();
            self.wrong(
                &disk::device.under(&given.path),
                device.place,
                Mistake::DeviceName { path },
            );
        }
        self.origins.add_file(path, format!("{name}, erased"), device.place);
        Some(DiskChoice::Device { path: PathBuf::from(name) })
    }

    /// The disk with what its data decides.
    fn finished(&self, draft: DiskDraft, stored: StoredData) -> DiskSpec {
        let mut spec = draft.spec;
        let (loaded, inserted) = (stored.loaded_bytes, stored.inserted_bytes);
        if !draft.capacity_known {
            spec.capacity_bytes = ample_capacity(loaded, inserted, stored.copies);
        }
        if !draft.backing_known {
            let memory = self.limits.memory_bytes as f64;
            let bounded = |bytes: f64| bytes.min(spec.capacity_bytes as f64);
            let most = most_held(loaded + inserted, stored.copies);
            let ample = bounded(3.0 * loaded * stored.copies.number) < memory / 3.0
                && bounded(most) < memory / 2.0;
            spec.backing = if ample { Backing::Memory } else { Backing::File };
        }
        spec
    }

    fn origins_of_disk(
        &mut self,
        path: &str,
        checked: &Checked,
        draft: &DiskDraft,
        spec: &DiskSpec,
    ) {
        if let Some(preset) = &spec.preset {
            self.origins.add_file(path, preset.clone(), checked.place);
        }
        let joint = [
            (disk::read_iops, disk::iops),
            (disk::write_iops, disk::iops),
            (disk::read_bandwidth, disk::bandwidth),
            (disk::write_bandwidth, disk::bandwidth),
            (disk::read_transfer, disk::transfer),
            (disk::write_transfer, disk::transfer),
            (disk::read_latency, disk::latency),
            (disk::write_latency, disk::latency),
        ];
        for (figure, text) in disk_words(spec, true) {
            let is = |key: &Key| key.name == figure;
            let Some(key) = DISK.key(figure) else {
                continue;
            };
            // A joint figure covers both directions, and equal latencies are shown as one.
            let both = joint.iter().find(|(one, _)| is(one));
            let one = [disk::read_latency, disk::write_latency];
            let given = checked.get(key).or_else(|| checked.get(both?.1)).or_else(|| {
                is(disk::latency).then(|| one.iter().find_map(|key| checked.get(key))).flatten()
            });
            let path = key.under(path);
            let of_preset = if is(disk::capacity) {
                draft.capacity_known
            } else {
                !is(disk::backing) && !is(disk::trace)
            };
            match (given, &spec.preset) {
                (Some(given), _) => self.origins.add_file(&path, text, given.place),
                (None, Some(preset)) if of_preset => {
                    let name = preset.clone();
                    self.origins.add(&path, text, Source::Preset { name });
                }
                (None, _) => self.origins.add(&path, text, Source::Default),
            }
        }
    }

    pub(crate) fn data_fits(
        &mut self,
        arm: &ReadArm,
        spec: &DiskSpec,
        filesystem: FilesystemKind,
        given: &ArmValue,
        stored: StoredData,
    ) {
        let needed_bytes = least_capacity(stored.loaded_bytes, stored.copies, filesystem);
        if spec.capacity_bytes >= needed_bytes {
            return;
        }
        let capacity = given.checked.get(disk::capacity);
        let path =
            capacity.map_or_else(|| given.path.clone(), |_| disk::capacity.under(&given.path));
        let mistake = Mistake::DiskBelowData {
            capacity_bytes: spec.capacity_bytes,
            arm: arm.name.clone(),
            needed_bytes,
        };
        let place = capacity.unwrap_or(&given.checked).place;
        self.wrong(&path, place, mistake);
    }
}

/// A name of udev's that stays with a device: in one of the folders for them, not above.
fn is_stable_name(path: &str) -> bool {
    let Some(rest) = path.strip_prefix(STABLE_NAMES) else {
        return false;
    };
    match rest.split_once('/') {
        Some((folder, name)) => {
            !folder.is_empty() && !name.is_empty() && !name.contains('/') && name != ".."
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::words::DISK_FIGURES;

    /// The plan shows figures by the keys of the file, which it does not know.
    #[test]
    fn figures_are_keys_in_the_order_of_the_table() {
        let names = DISK.names();
        let figures: Vec<&String> =
            names.iter().filter(|name| DISK_FIGURES.contains(&name.as_str())).collect();
        assert_eq!(figures, DISK_FIGURES.each_ref());
    }
}
