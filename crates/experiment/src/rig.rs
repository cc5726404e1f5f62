//! Decides what an arm stands on: its disk and filesystem, its limits, machine and price.

use crate::Limits;
use crate::arms::{Given, ReadArm};
use crate::disk::{DiskDraft, described, named};
use crate::mistake::Mistake;
use crate::problems::Collector;
use crate::reader::{Checked, Value, join};
use crate::rig_mistake::RigMistake;
use crate::settle::Origins;
use crate::source::Place;
use plimsoll_plan::estimate::{Copies, ample_capacity, least_capacity, most_held};
use plimsoll_plan::server_uri;
use plimsoll_plan::words::disk_words;
use plimsoll_plan::{EngineKind, Settings, Source};
use plimsoll_record::{
    Backing, DiskChoice, DiskSpec, FilesystemKind, FilesystemSpec, RigSpec, ServerSpec,
};
use std::path::{Path, PathBuf};

/// The word for no disk at all.
const NO_DISK: &str = "none";
/// Names that stay with a device are found in folders that begin so.
const STABLE_NAMES: &str = "/dev/disk/by-";

/// What the data of an arm takes on disk, about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    /// After the load.
    pub loaded_bytes: f64,
    /// What all points insert.
    pub inserted_bytes: f64,
    /// How often all of it is kept.
    pub copies: Copies,
}

/// Reads what arms stand on.
pub(crate) struct RigReader<'r, 's> {
    pub problems: &'r mut Collector<'s>,
    pub origins: &'r mut Origins<'s>,
    pub limits: &'r Limits,
    /// Folder of the experiment file.
    pub base_dir: &'r Path,
}

impl RigReader<'_, '_> {
    /// What one arm stands on, under the server that is started for it.
    pub(crate) fn rig(
        &mut self,
        arm: &ReadArm,
        engine: &EngineKind,
        settings: &Settings,
        server: Option<ServerSpec>,
        stored: Stored,
    ) -> RigSpec {
        let path = join("arms", &arm.name);
        if engine.server.is_some() && server_uri(settings).is_some() {
            // What a server of others stands on is not ours to make.
            self.not_on_foreign_server(arm);
            let machine = self.machine(&path, arm);
            return RigSpec {
                machine: machine.map(|machine| machine.name.clone()),
                price: self.price(&path, arm, machine),
                ..RigSpec::default()
            };
        }
        let disk = self.disk(&path, arm, engine, stored);
        let filesystem = self.filesystem(&path, arm, engine, disk.as_ref());
        if let (Some(DiskChoice::Emulated { spec }), Some(filesystem), Some(given)) =
            (&disk, &filesystem, arm.given.get("disk"))
        {
            self.data_fits(arm, spec, filesystem.kind, given, stored);
        }
        let machine = self.machine(&path, arm);
        let cache_bytes = cache_of(engine, settings);
        RigSpec {
            disk,
            filesystem,
            limits: self.limits(&path, arm, machine, cache_bytes, server.as_ref()),
            server,
            machine: machine.map(|machine| machine.name.clone()),
            price: self.price(&path, arm, machine),
        }
    }

    pub(crate) fn wrong(&mut self, path: &str, place: Place, mistake: RigMistake) {
        self.problems.add(path, Some(place), Mistake::Rig(mistake));
    }

    fn disk(
        &mut self,
        path: &str,
        arm: &ReadArm,
        engine: &EngineKind,
        stored: Stored,
    ) -> Option<DiskChoice> {
        let given = arm.given.get("disk")?;
        let checked = &given.checked;
        let path = join(path, "disk");
        if checked.text() == Some(NO_DISK) {
            self.origins.add_file(&path, NO_DISK, checked.place);
            return None;
        }
        if !engine.keeps_data {
            // In the defaults it is for the arms whose engines keep data.
            if given.is_own() {
                let engine = engine.name;
                self.wrong(
                    &given.path,
                    checked.place,
                    RigMistake::DiskWithoutData { engine },
                );
            }
            return None;
        }
        if let Some(device) = checked.get("device") {
            return self.device(&path, given, device);
        }
        let draft = match checked.value {
            Value::Map(_) => {
                if let Some(erase) = checked.get("erase") {
                    self.wrong(
                        &join(&given.path, "erase"),
                        erase.place,
                        RigMistake::EraseWithoutDevice,
                    );
                }
                described(&given.path, checked, self.problems)?
            }
            _ => named(&given.path, checked, self.problems)?,
        };
        let spec = self.finished(draft.clone(), stored);
        self.origins_of_disk(&path, checked, &draft, &spec);
        Some(DiskChoice::Emulated { spec })
    }

    fn device(&mut self, path: &str, given: &Given, device: &Checked) -> Option<DiskChoice> {
        let map = &given.checked;
        for field in map.fields() {
            if !matches!(field.key.as_str(), "device" | "erase" | "preset") {
                let key = field.key.clone();
                self.wrong(
                    &given.path,
                    field.key_place,
                    RigMistake::FigureOfDevice { key },
                );
            }
        }
        match map.get("erase") {
            Some(erase) if erase.flag() == Some(false) => {
                self.wrong(&given.path, erase.place, RigMistake::EraseMissing);
            }
            None => self.wrong(&given.path, device.place, RigMistake::EraseMissing),
            Some(_) => {}
        }
        let name = device.text()?;
        if !is_stable_name(name) {
            let path = name.to_owned();
            self.wrong(
                &join(&given.path, "device"),
                device.place,
                RigMistake::DeviceName { path },
            );
        }
        self.origins
            .add_file(path, format!("{name}, erased"), device.place);
        Some(DiskChoice::Device {
            path: PathBuf::from(name),
        })
    }

    /// The disk with what its data decides.
    fn finished(&self, draft: DiskDraft, stored: Stored) -> DiskSpec {
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
            spec.backing = if ample {
                Backing::Memory
            } else {
                Backing::File
            };
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
        for (key, text) in disk_words(spec, true) {
            // A figure of one direction may be given by that of both.
            let both = key.rsplit('_').next().unwrap_or(key);
            let one = ["read_latency", "write_latency"];
            let given = checked.get(key).or_else(|| checked.get(both)).or_else(|| {
                (key == "latency")
                    .then(|| one.iter().find_map(|key| checked.get(key)))
                    .flatten()
            });
            let path = join(path, key);
            let of_preset = match key {
                "capacity" => draft.capacity_known,
                "backing" | "trace" => false,
                _ => true,
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

    fn data_fits(
        &mut self,
        arm: &ReadArm,
        spec: &DiskSpec,
        filesystem: FilesystemKind,
        given: &Given,
        stored: Stored,
    ) {
        let needed_bytes = least_capacity(stored.loaded_bytes, stored.copies, filesystem);
        if spec.capacity_bytes >= needed_bytes {
            return;
        }
        let capacity = given.checked.get("capacity");
        let path = capacity.map_or_else(|| given.path.clone(), |_| join(&given.path, "capacity"));
        let mistake = RigMistake::DiskBelowData {
            capacity_bytes: spec.capacity_bytes,
            arm: arm.name.clone(),
            needed_bytes,
        };
        let place = capacity.unwrap_or(&given.checked).place;
        self.wrong(&path, place, mistake);
    }

    fn filesystem(
        &mut self,
        path: &str,
        arm: &ReadArm,
        engine: &EngineKind,
        disk: Option<&DiskChoice>,
    ) -> Option<FilesystemSpec> {
        let given = arm.given.get("filesystem");
        let path = join(path, "filesystem");
        if disk.is_none() {
            let given = given?;
            // With `disk: none`, or with a disk that is wrong, what the defaults say is for others.
            let others = !given.is_own() && (arm.given.contains_key("disk") || !engine.keeps_data);
            let wrong_disk = arm
                .given
                .get("disk")
                .is_some_and(|disk| disk.checked.text() != Some(NO_DISK));
            if !others && !wrong_disk {
                self.wrong(
                    &given.path,
                    given.checked.place,
                    RigMistake::FilesystemWithoutDisk,
                );
            }
            return None;
        }
        let mut spec = FilesystemSpec {
            kind: FilesystemKind::Xfs,
            mkfs: Vec::new(),
            mount: Vec::new(),
        };
        let Some(given) = given else {
            self.origins.add(&path, spec.kind.name(), Source::Default);
            return Some(spec);
        };
        let checked = &given.checked;
        let kind = checked.get("kind").unwrap_or(checked);
        if let Some(kind) = kind.text().and_then(|word| {
            FilesystemKind::ALL
                .into_iter()
                .find(|kind| kind.name() == word)
        }) {
            spec.kind = kind;
        }
        let place = kind.place;
        self.origins.add_file(&path, spec.kind.name(), place);
        spec.mkfs = self.options(&path, given, "mkfs", char::is_whitespace);
        spec.mount = self.options(&path, given, "mount", |c| c == ',' || c.is_whitespace());
        let refused = [
            ("mkfs", spec.kind.refused_for_mkfs(&spec.mkfs)),
            ("mount", spec.kind.refused_for_mount(&spec.mount)),
        ];
        for (key, option) in refused {
            if let (Some(option), Some(written)) = (option, checked.get(key)) {
                let mistake = RigMistake::FilesystemOption {
                    kind: spec.kind,
                    program: key,
                    option,
                };
                self.wrong(&join(&given.path, key), written.place, mistake);
            }
        }
        Some(spec)
    }

    /// Words that reach a program as they are.
    fn options(
        &mut self,
        path: &str,
        given: &Given,
        key: &str,
        between: impl Fn(char) -> bool,
    ) -> Vec<String> {
        let Some(checked) = given.checked.get(key) else {
            return Vec::new();
        };
        let Some(text) = checked.text() else {
            return Vec::new();
        };
        self.origins.add_file(&join(path, key), text, checked.place);
        text.split(between)
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    }
}

impl Given {
    /// Whether it stands in the arm, not in the defaults.
    pub(crate) fn is_own(&self) -> bool {
        self.path.starts_with("arms.")
    }
}

fn cache_of(engine: &EngineKind, settings: &Settings) -> Option<u64> {
    settings.bytes(engine.cache_setting?)
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
