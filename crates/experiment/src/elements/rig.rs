//! What an arm runs on: its disk and filesystem, its limits, server, machine and price.

use crate::Collector;
use crate::document::Span;
use crate::elements::arm::ReadArm;
use crate::keys::arm::arm;
use crate::keys::disk::NO_DISK;
use crate::mistake::Mistake;
use crate::origins::Origins;
use crate::surroundings::Limits;
use plimsoll_plan::estimate::Copies;
use plimsoll_plan::{EngineKind, Settings, server_uri};
use plimsoll_record::{DiskChoice, RigSpec, ServerSpec};
use std::io;
use std::path::Path;

/// Estimated disk space of an arm's data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredData {
    pub loaded_bytes: f64,
    /// Inserted by all points, bytes.
    pub inserted_bytes: f64,
    /// Copies of all of it.
    pub copies: Copies,
}

/// Reads rigs and gathers problems.
pub(crate) struct RigReader<'r, 's> {
    pub problems: &'r mut Collector<'s>,
    pub origins: &'r mut Origins<'s>,
    pub limits: &'r Limits,
    /// Folder of the experiment file.
    pub base_dir: &'r Path,
    pub read_file: &'r dyn Fn(&Path) -> io::Result<String>,
}

impl RigReader<'_, '_> {
    /// The rig of one arm, with the server that is started for it.
    pub(crate) fn rig(
        &mut self,
        arm: &ReadArm,
        engine: &EngineKind,
        settings: &Settings,
        server: Option<ServerSpec>,
        stored: StoredData,
    ) -> RigSpec {
        let path = arm.path();
        if engine.server.is_some() && server_uri(settings).is_some() {
            // The rig of a foreign server is not ours to build.
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
            (&disk, &filesystem, arm.get(arm::disk))
        {
            self.data_fits(arm, spec, filesystem.kind, given, stored);
        }
        let readahead_bytes = self.readahead(&path, arm, engine, disk.as_ref());
        let kernel = self.kernel(&path, arm, engine, disk.as_ref());
        let machine = self.machine(&path, arm);
        let cache_bytes = cache_of(engine, settings);
        RigSpec {
            disk,
            filesystem,
            readahead_bytes,
            kernel,
            limits: self.limits(&path, arm, machine, cache_bytes, server.as_ref()),
            server,
            machine: machine.map(|machine| machine.name.clone()),
            price: self.price(&path, arm, machine),
        }
    }

    pub(crate) fn wrong(&mut self, path: &str, place: Span, mistake: Mistake) {
        self.problems.add(path, Some(place), mistake);
    }

    /// Refuses a rig for a server that runs by itself.
    fn not_on_foreign_server(&mut self, arm: &ReadArm) {
        for key in [arm::disk, arm::filesystem, arm::readahead, arm::kernel, arm::limits] {
            let Some(given) = arm.get(key) else {
                continue;
            };
            let checked = &given.checked;
            let says_nothing = checked.text() == Some(NO_DISK)
                || (checked.text().is_none() && checked.fields().is_empty());
            if !says_nothing {
                let mistake = Mistake::NotOurServer { key: key.name };
                self.wrong(&given.path, checked.place, mistake);
            }
        }
    }
}

fn cache_of(engine: &EngineKind, settings: &Settings) -> Option<u64> {
    settings.bytes(engine.cache_setting?)
}
