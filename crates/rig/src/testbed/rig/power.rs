//! A power cut of an emulated disk, and its filesystem after it, which is mounted again as a machine does it that gets its power back.

use super::{DATA, MountedOn, Rig, bind, set_readahead};
use crate::testbed::filesystem;
use crate::testbed::loops;
use crate::testbed::privileged::HeldDirectory;
use crate::testbed::privileged::held::open_subdirectory;
use crate::testbed::privileged::kernel;
use crate::testbed::privileged::readahead;
use crate::testbed::privileged::unmount::{detach, detach_shown};
use crate::testbed::processes::users_below;
use crate::testbed::server::{Disturbed, Server};
use crate::testbed::shown::shown_at;
use crate::testbed::{TestbedError, mounts};
use plimsoll_disk::{Control, Power};
use plimsoll_record::KernelSetting;
use plimsoll_trace::monotonic_ns;
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
        match self.mount_or_why()? {
            None => {
                bind(open_subdirectory(&self.place, DATA).map_err(failed)?, &held)
                    .map_err(failed)?;
                Ok(Power::On { users })
            }
            Some(why) => {
                let image = open_subdirectory(&self.place, &["fuse"]).map_err(failed)?;
                bind(image, &held).map_err(failed)?;
                Ok(Power::Unmountable { users, why })
            }
        }
    }

    /// Cuts the power of the disk and of the server on it, if there is one; then mounts the filesystem and starts the server again.
    pub(super) fn cut_power(
        &mut self,
        seed: u64,
        sector_bytes: u64,
    ) -> Result<Disturbed, TestbedError> {
        let (Some(disk), Some(mounted)) = (&self.ground.disk, &self.mounted) else {
            return Err(TestbedError::NoFilesystem);
        };
        let point = mounted.point.clone();
        let mut control = Control::connect(&disk.socket)?;
        // Nothing is acknowledged between the cut and the end of the server.
        self.server.iter().for_each(Server::stand_still);
        let before_ns = monotonic_ns();
        let cut = control.cut(seed, sector_bytes)?;
        // What an embedded engine acknowledges meanwhile may be lost rightly; of a server nothing comes any more but what it had sent.
        let at_ns = if self.server.is_some() { monotonic_ns() } else { before_ns };
        self.server.iter_mut().for_each(Server::lose_power);
        detach(&point)?;
        let mut done = Disturbed { at_ns, cut: Some(cut), ..Disturbed::default() };
        let lines = self.mount_or_why()?;
        done.unusable = lines.map(|lines| {
            let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
            lines.collect::<Vec<_>>().join("; ")
        });
        if done.unusable.is_none() {
            control.set_power(Power::On { users: Vec::new() })?;
            match self.server {
                Some(_) => self.with_server(Server::recover)?,
                None => done.until_ns = Some(monotonic_ns()),
            }
        }
        Ok(done)
    }

    /// Mounts the filesystem again. Returns why it cannot be mounted, with what the kernel says of it; then nothing is mounted.
    fn mount_or_why(&mut self) -> Result<Option<String>, TestbedError> {
        let log = KernelLog::from_now();
        let Err(error) = self.mount_again() else {
            return Ok(None);
        };
        if let Some(MountedOn { point, .. }) = self.mounted.take()
            && mounts::at(&point)?.is_some()
        {
            detach(&point)?;
        }
        let device = self.ground.disk.as_ref().map_or("", |disk| &disk.device);
        Ok(Some(format!("{error}{}", log.lines_about(device))))
    }

    fn mount_again(&mut self) -> Result<(), TestbedError> {
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
        if let Some(scheduler) = self.record.kernel.get(&KernelSetting::Scheduler) {
            let requested = (KernelSetting::Scheduler, scheduler.as_str());
            for (of, file) in kernel::places(requested, self.disk_below())? {
                kernel::set(&self.ground.made, requested, of, &file)?;
            }
        }
        Ok(())
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
