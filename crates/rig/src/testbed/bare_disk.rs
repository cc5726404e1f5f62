//! An emulated disk without a filesystem, to be measured as it is.

use crate::testbed::emulated::EmulatedDisk;
use crate::testbed::ground::Ground;
use crate::testbed::requirements::{require_memory, what_runs_here};
use crate::testbed::rig::place_of_disk;
use crate::testbed::{DataDirectory, Journal, TestbedError};
use plimsoll_disk::DaemonProgram;
use plimsoll_record::{DiskChoice, DiskSpec, RigSpec};
use std::path::{Path, PathBuf};

/// An emulated disk without a filesystem, without limits until they are set. It is undone by [`BareDisk::tear_down`], or when
/// it is dropped.
#[derive(Debug)]
pub struct BareDisk {
    // What is declared first is dropped first.
    ground: Ground,
    device: PathBuf,
    socket: PathBuf,
    place: DataDirectory,
}

impl BareDisk {
    /// Makes the disk, with what belongs to it in a marked directory in `parent`; `owner` is what it is for, in words.
    pub fn build(
        spec: &DiskSpec,
        parent: &Path,
        owner: &str,
        daemon: &DaemonProgram,
        journal: &mut Journal,
    ) -> Result<Self, TestbedError> {
        let rig = RigSpec {
            disk: Some(DiskChoice::Emulated { spec: spec.clone() }),
            ..RigSpec::default()
        };
        what_runs_here(&rig)?;
        require_memory(&rig, 0)?;
        let place = place_of_disk(journal, parent, owner, "bare disk")?;
        let mut ground = Ground::new(journal);
        let disk = EmulatedDisk::make(spec, &place, daemon, &ground.made)?;
        let (device, socket) = (disk.device_path(), disk.socket.clone());
        ground.disk = Some(disk);
        Ok(Self { ground, device, socket, place })
    }

    pub fn device_path(&self) -> PathBuf {
        self.device.clone()
    }

    pub fn control_socket(&self) -> &Path {
        &self.socket
    }

    /// Undoes everything, and returns what the user should know.
    pub fn tear_down(self, journal: &mut Journal) -> Result<Vec<String>, TestbedError> {
        let Self { mut ground, place, .. } = self;
        let notes = ground.undo();
        place.remove()?;
        journal.sync()?;
        Ok(notes)
    }
}
