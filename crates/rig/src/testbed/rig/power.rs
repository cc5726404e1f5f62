//! An emulated disk after a power cut: its filesystem is mounted again, as a machine that gets its power back does it.

use super::{DATA, MountedOn, Rig, bind, set_readahead};
use crate::testbed::filesystem;
use crate::testbed::loops;
use crate::testbed::privileged::HeldDirectory;
use crate::testbed::privileged::held::open_subdirectory;
use crate::testbed::privileged::readahead;
use crate::testbed::privileged::unmount::{detach, detach_shown};
use crate::testbed::processes::users_below;
use crate::testbed::shown::shown_at;
use crate::testbed::{TestbedError, mounts};
use plimsoll_disk::Power;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

/// The most lines of the kernel's log that are passed on.
const KERNEL_LINES: usize = 6;
const LONGEST_KERNEL_LINE: usize = 8 << 10;

impl Rig {
    /// Mounts the filesystem of an emulated disk again whose power was cut, on a new device, and has it seen at the same directory. Programs that have
    /// files of the old one open keep them and get errors. Where it does not mount, the image of the disk is seen there.
    pub fn remount(&mut self, directory: &Path) -> Result<Power, TestbedError> {
        let (Some(_), Some(mounted)) = (&self.ground.disk, &self.mounted) else {
            return Err(TestbedError::NoFilesystem);
        };
        if shown_at(directory)?.is_none_or(|shown| shown.place != self.place.path()) {
            return Err(TestbedError::MountVanished { mount_point: directory.to_owned() });
        }
        let users = users_below(&[directory, &mounted.point]);
        detach_shown(directory)?;
        detach(&mounted.point)?;
        let failed = |error| TestbedError::io("mount at", directory, error);
        let held = HeldDirectory::open(directory)?
            .ok_or_else(|| failed(std::io::Error::from(ErrorKind::NotFound)))?;
        let log = KernelLog::from_now();
        match self.mount_again(&held) {
            Ok(()) => Ok(Power::On { users }),
            Err(error) => {
                if let Some(MountedOn { point, .. }) = self.mounted.take()
                    && mounts::at(&point)?.is_some()
                {
                    detach(&point)?;
                }
                let image = open_subdirectory(&self.place, &["fuse"]).map_err(failed)?;
                bind(image, &held).map_err(failed)?;
                let device = self.ground.disk.as_ref().map_or("", |disk| &disk.device);
                let lines = log.lines_about(device);
                Ok(Power::Unmountable { users, why: format!("{error}{lines}") })
            }
        }
    }

    fn mount_again(&mut self, at: &HeldDirectory) -> Result<(), TestbedError> {
        let (Some(disk), Some(mounted)) = (&mut self.ground.disk, &mut self.mounted) else {
            return Err(TestbedError::NoFilesystem);
        };
        let made = &self.ground.made;
        let old = readahead::file_of_device(&disk.device);
        let bytes = readahead::read(&old)?;
        if let Some(before) = mounted.readahead_before {
            readahead::write(&old, &disk.device, before)?;
        }
        let is_free = loops::detach(made.tools(), &disk.device, &disk.image)?;
        disk.device = loops::attach(made.tools(), &disk.image.path)?;
        let device = disk.device_path();
        mounted.readahead_before = set_readahead(made, &disk.device, &mounted.from, bytes)?;
        filesystem::mount(made.tools(), &mounted.spec, &device, &mounted.point, !is_free)?;
        (mounted.device, mounted.name) = (device, disk.device.clone());
        let data = mounted.point.join("data");
        let opened = open_subdirectory(&self.place, DATA);
        let opened = opened.map_err(|error| TestbedError::io("open", &data, error))?;
        bind(opened, at).map_err(|error| TestbedError::io("mount at", at.path(), error))
    }
}

/// What the kernel logs, where this user may read it.
struct KernelLog(Option<File>);

impl KernelLog {
    fn from_now() -> Self {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::open("/dev/kmsg", flags, Mode::empty());
        let at_its_end = opened.ok().map(File::from).and_then(|mut file| {
            file.seek(SeekFrom::End(0)).ok()?;
            Some(file)
        });
        Self(at_its_end)
    }

    /// What it has said of a device since, each line after a line break.
    fn lines_about(self, device: &str) -> String {
        let Self(Some(mut file)) = self else { return String::new() };
        let mut record = [0; LONGEST_KERNEL_LINE];
        let mut lines = Vec::new();
        loop {
            match file.read(&mut record) {
                Ok(length) if length > 0 => {
                    let text = String::from_utf8_lossy(&record[..length]).into_owned();
                    let first = text.lines().next().unwrap_or_default();
                    let said = first.split_once(';').map_or("", |(_, said)| said);
                    if said.contains(device) {
                        lines.push(format!("\n  kernel: {said}"));
                    }
                }
                // The oldest lines were overwritten meanwhile.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                _ => break,
            }
        }
        lines.truncate(KERNEL_LINES);
        lines.concat()
    }
}
