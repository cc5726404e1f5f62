//! `filesystem` and `readahead`: what is made on the disk of an arm, and how it is read.

use crate::elements::arm::{ArmValue, ReadArm};
use crate::elements::rig::RigReader;
use crate::keys::arm::arm;
use crate::keys::disk::{BLOCK, NO_DISK};
use crate::keys::filesystem::filesystem;
use crate::mistake::Mistake;
use crate::table::*;
use plimsoll_plan::{EngineKind, Source};
use plimsoll_record::quantities::units;
use plimsoll_record::{DiskChoice, FilesystemKind, FilesystemSpec, USUAL_READAHEAD_BYTES};

impl RigReader<'_, '_> {
    pub(crate) fn filesystem(
        &mut self,
        path: &str,
        arm: &ReadArm,
        engine: &EngineKind,
        disk: Option<&DiskChoice>,
    ) -> Option<FilesystemSpec> {
        let given = arm.get(arm::filesystem);
        let path = arm::filesystem.under(path);
        if disk.is_none() {
            let given = given?;
            if lacks_disk(arm, engine, given) {
                self.wrong(&given.path, given.checked.place, Mistake::FilesystemWithoutDisk);
            }
            return None;
        }
        let mut spec =
            FilesystemSpec { kind: FilesystemKind::Xfs, mkfs: Vec::new(), mount: Vec::new() };
        let Some(given) = given else {
            self.origins.add(&path, spec.kind.name(), Source::Default);
            return Some(spec);
        };
        let checked = &given.checked;
        let kind = checked.get(filesystem::kind).unwrap_or(checked);
        if let Some(kind) = kind
            .text()
            .and_then(|word| FilesystemKind::ALL.into_iter().find(|kind| kind.name() == word))
        {
            spec.kind = kind;
        }
        let place = kind.place;
        self.origins.add_file(&path, spec.kind.name(), place);
        spec.mkfs = self.options(&path, given, filesystem::mkfs, char::is_whitespace);
        spec.mount =
            self.options(&path, given, filesystem::mount, |c| c == ',' || c.is_whitespace());
        let refused = [
            (filesystem::mkfs, spec.kind.refused_for_mkfs(&spec.mkfs)),
            (filesystem::mount, spec.kind.refused_for_mount(&spec.mount)),
        ];
        for (key, option) in refused {
            if let (Some(option), Some(written)) = (option, checked.get(key)) {
                let mistake =
                    Mistake::FilesystemOption { kind: spec.kind, program: key.name, option };
                self.wrong(&key.under(&given.path), written.place, mistake);
            }
        }
        Some(spec)
    }

    /// What the kernel reads ahead on the disk.
    pub(crate) fn readahead(
        &mut self,
        path: &str,
        arm: &ReadArm,
        engine: &EngineKind,
        disk: Option<&DiskChoice>,
    ) -> Option<u64> {
        let given = arm.get(arm::readahead);
        let path = arm::readahead.under(path);
        let Some(disk) = disk else {
            let given = given?;
            if lacks_disk(arm, engine, given) {
                self.wrong(&given.path, given.checked.place, Mistake::ReadaheadWithoutDisk);
            }
            return None;
        };
        let Some(given) = given else {
            if matches!(disk, DiskChoice::Emulated { .. }) {
                let usual = units::size(USUAL_READAHEAD_BYTES);
                self.origins.add(&path, usual, Source::Default);
            }
            return None;
        };
        let bytes = given.checked.whole()?;
        let size = units::size(bytes);
        let place = given.checked.place;
        if bytes % BLOCK != 0 {
            let size = size.clone();
            self.wrong(&given.path, place, Mistake::NotBlocks { size });
        }
        self.origins.add_file(&path, size, place);
        Some(bytes)
    }

    /// Words that reach a program as they are.
    fn options(
        &mut self,
        path: &str,
        given: &ArmValue,
        key: &Key,
        between: impl Fn(char) -> bool,
    ) -> Vec<String> {
        let Some(checked) = given.checked.get(key) else {
            return Vec::new();
        };
        let Some(text) = checked.text() else {
            return Vec::new();
        };
        self.origins.add_file(&key.under(path), text, checked.place);
        text.split(between).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }
}

/// Whether a value of an arm without a disk needs one. It does not where it is in the defaults for the sake of other arms; and a disk with a mistake is
/// reported by itself.
pub(crate) fn lacks_disk(arm: &ReadArm, engine: &EngineKind, given: &ArmValue) -> bool {
    let disk = arm.get(arm::disk);
    let for_others = !given.is_own() && (disk.is_some() || !engine.keeps_data);
    let wrong_disk = disk.is_some_and(|disk| disk.checked.text() != Some(NO_DISK));
    !for_others && !wrong_disk
}
