//! Everything that an arm stands on, made and undone.

use crate::testbed::device::{self, Device};
use crate::testbed::emulated::{EmulatedDisk, LONGEST_DIRECTORY_BYTES, SOCKET};
use crate::testbed::filesystem;
use crate::testbed::ground::Ground;
use crate::testbed::groups::{Group, GroupPaths};
use crate::testbed::journal::Journal;
use crate::testbed::kept::{self, KeptData};
use crate::testbed::mounts;
use crate::testbed::privileged::HeldDirectory;
use crate::testbed::privileged::held::{
    hand_over, new_directory_in, open_subdirectory, open_to_read,
};
use crate::testbed::privileged::kernel;
use crate::testbed::privileged::page_cache;
use crate::testbed::privileged::readahead;
use crate::testbed::processes::{is_marked, started_ticks};
use crate::testbed::requirements::{require_memory, what_runs_here};
use crate::testbed::rig_parts::RigParts;
use crate::testbed::server::{Disturb, Disturbed, Server, ServerPlace, member_directory};
use crate::testbed::step::{MountedFrom, Step};
use crate::testbed::tools::Tools;
use crate::testbed::user::RunUser;
use crate::testbed::{DataDirectory, TestbedError, loops, require_space};
use plimsoll_disk::DaemonProgram;
use plimsoll_record::{
    Backing, DiskChoice, DiskSpec, FilesystemSpec, KernelSetting, RigRecord, RigSpec,
};
use plimsoll_telemetry::Host;
use rustix::fs::syncfs;
use rustix::mount::mount_bind;
use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// The directory of the data on a filesystem of its own, from the place of the rig.
const DATA: &[&str] = &["mnt", "data"];

/// What a rig is made from.
#[derive(Clone, Copy, Debug)]
pub struct RigOrder<'a> {
    pub spec: &'a RigSpec,
    /// The directory in which the data directory is made.
    pub parent: &'a Path,
    pub owner: &'a str,
    /// The run, in the words of the experiment.
    pub label: &'a str,
    /// Room that the data need, bytes.
    pub needs_bytes: u64,
    /// The program that an emulated disk runs in.
    pub daemon: &'a DaemonProgram,
    /// Data that it begins with; `None`: with none.
    pub from: Option<&'a KeptData>,
}

/// Everything that an arm stands on. It is undone by [`Rig::tear_down`], or when it is dropped.
///
/// An emulated disk has no limits until they are set through its control socket.
#[derive(Debug)]
pub struct Rig {
    // What is declared first is dropped first: the server before what it stands on, and what was made in the place before the place.
    server: Option<Server>,
    ground: Ground,
    place: DataDirectory,
    data: PathBuf,
    /// Who works on the data, where that is not this user.
    user: Option<RunUser>,
    mounted: Option<MountedOn>,
    group: Option<Group>,
    record: RigRecord,
}

/// A filesystem that was mounted for a run.
#[derive(Debug)]
struct MountedOn {
    spec: FilesystemSpec,
    point: PathBuf,
    device: PathBuf,
    name: String,
    from: MountedFrom,
    /// What the kernel read ahead on the device before, bytes; `None` where that was not changed.
    readahead_before: Option<u64>,
}

impl Rig {
    /// Makes all parts. When one fails, those before it are undone.
    pub fn build(order: &RigOrder<'_>, journal: &mut Journal) -> Result<Self, TestbedError> {
        let spec = order.spec;
        what_runs_here(spec)?;
        require_memory(spec, order.needs_bytes)?;
        let mut rig = match &spec.disk {
            None => Self::on_plain_directory(order, journal)?,
            Some(DiskChoice::Emulated { spec: disk }) => Self::on_emulated(order, disk, journal)?,
            Some(DiskChoice::Device { path }) => {
                let device = device::find(path, &Tools::of(journal.token()))?;
                Self::on_device(order, &device, journal)?
            }
        };
        rig.set_kernel(spec)?;
        rig.limit(order)?;
        if let Some(from) = order.from {
            kept::copy(rig.ground.made.tools(), rig.user.as_ref(), from.data(), &rig.data)?;
        }
        rig.serve(order)?;
        Ok(rig)
    }

    /// Copies the data, which nobody may have open, for further runs. `owner` and `label` are those of its directory.
    pub fn keep(
        &self,
        journal: &Journal,
        parent: &Path,
        owner: &str,
        label: &str,
    ) -> Result<KeptData, TestbedError> {
        let by = (journal, self.ground.made.tools());
        KeptData::copy(&self.data, self.user.as_ref(), by, parent, (owner, label))
    }

    fn on_plain_directory(order: &RigOrder<'_>, journal: &Journal) -> Result<Self, TestbedError> {
        require_space(order.parent, order.needs_bytes)?;
        let place = DataDirectory::create(journal, order.parent, order.owner, order.label)?;
        let mut rig = Self::begin(place, journal)?;
        let (data, directory) = rig.place.make("data")?;
        rig.prepare(order, &directory, &data)?;
        rig.data = data;
        Ok(rig)
    }

    fn on_emulated(
        order: &RigOrder<'_>,
        disk: &DiskSpec,
        journal: &Journal,
    ) -> Result<Self, TestbedError> {
        if disk.capacity_bytes < order.needs_bytes {
            return Err(TestbedError::DiskTooSmall {
                capacity_bytes: disk.capacity_bytes,
                need_bytes: order.needs_bytes,
                why: " for the data",
            });
        }
        if disk.backing == Backing::File {
            require_space(order.parent, order.needs_bytes)?;
        }
        let place = place_of_disk(journal, order.parent, order.owner, order.label)?;
        let mut rig = Self::begin(place, journal)?;
        let disk = EmulatedDisk::make(disk, &rig.place, order.daemon, &rig.ground.made)?;
        let (device, name) = (disk.device_path(), disk.device.clone());
        if let Some(user) = &rig.user {
            user.own_entry(&rig.place, SOCKET, &disk.socket)?;
        }
        let from = MountedFrom::LoopOver(disk.image.clone());
        rig.ground.disk = Some(disk);
        rig.mount(order, device, name, from)?;
        Ok(rig)
    }

    /// The device has been looked at.
    fn on_device(
        order: &RigOrder<'_>,
        device: &Device,
        journal: &Journal,
    ) -> Result<Self, TestbedError> {
        if device.bytes < order.needs_bytes {
            return Err(TestbedError::DiskTooSmall {
                capacity_bytes: device.bytes,
                need_bytes: order.needs_bytes,
                why: " for the data",
            });
        }
        let place = DataDirectory::create(journal, order.parent, order.owner, order.label)?;
        let mut rig = Self::begin(place, journal)?;
        let from = MountedFrom::Device(device.path.clone());
        rig.mount(order, device.path.clone(), device.name.clone(), from)?;
        Ok(rig)
    }

    fn begin(place: DataDirectory, journal: &Journal) -> Result<Self, TestbedError> {
        let user = RunUser::here();
        if let Some(user) = &user {
            place.open_to_pass()?;
            user.require_way(place.path())?;
        }
        Ok(Self {
            server: None,
            ground: Ground::new(journal),
            data: place.path().to_owned(),
            place,
            user,
            mounted: None,
            group: None,
            record: RigRecord::default(),
        })
    }

    fn mount(
        &mut self,
        order: &RigOrder<'_>,
        device: PathBuf,
        name: String,
        from: MountedFrom,
    ) -> Result<(), TestbedError> {
        let spec = order.spec.filesystem.as_ref();
        let spec = spec.ok_or(TestbedError::NoFilesystem)?;
        // Only on devices of this machine can there be another one.
        let overwrite = self.ground.disk.is_none();
        let tools = self.ground.made.tools();
        // An earlier user of the loop device may have left another one.
        let readahead_before = match order.spec.readahead() {
            Some(bytes) => set_readahead(&self.ground.made, &name, &from, bytes)?,
            None => None,
        };
        let made = filesystem::make(tools, spec, &device, overwrite)?;
        let (point, _) = self.place.make("mnt")?;
        self.ground.made.making(Step::Mount { mount_point: point.clone(), from: from.clone() })?;
        filesystem::mount(tools, spec, &device, &point, false)?;
        if let Some(bytes) = order.spec.readahead_bytes
            && let Some(file) = Host::here().btrfs_readahead(&name)
        {
            readahead::write(&file, &name, bytes)?;
        }
        // Filesystems have things of their own in their root.
        let data = point.join("data");
        let root = HeldDirectory::open(&point)?
            .ok_or_else(|| TestbedError::MountVanished { mount_point: point.clone() })?;
        let data_directory = new_directory_in(&root, "data")
            .map_err(|error| TestbedError::io("make", &data, error))?;
        self.prepare(order, &data_directory, &data)?;
        // It keeps the filesystem in use.
        drop(data_directory);
        require_space(&data, order.needs_bytes)?;
        self.record.device = Some(device.display().to_string());
        self.record.mkfs = Some(made.command);
        self.record.mkfs_version = Some(made.version);
        self.record.mount_options = mounts::at(&point)?.map(|mounted| mounted.all_options());
        self.data = data;
        let spec = spec.clone();
        self.mounted = Some(MountedOn { spec, point, device, name, from, readahead_before });
        Ok(())
    }

    /// Makes a directory for each member of a server that has several, and hands everything over to who works on the data.
    fn prepare(
        &self,
        order: &RigOrder<'_>,
        directory: impl AsFd,
        data: &Path,
    ) -> Result<(), TestbedError> {
        let server = order.spec.server.as_ref();
        let members = server.map_or(1, |server| server.members);
        for number in (1..=members).filter(|_| members > 1) {
            let name = member_directory(number);
            let path = data.join(&name);
            let made = new_directory_in(&directory, name.as_str())
                .map_err(|error| TestbedError::io("make", &path, error))?;
            if let Some(user) = &self.user {
                user.own(&made, &path)?;
            }
        }
        match &self.user {
            Some(user) => user.own(&directory, data),
            None => Ok(()),
        }
    }

    fn set_kernel(&mut self, spec: &RigSpec) -> Result<(), TestbedError> {
        for (setting, value) in &spec.kernel {
            let requested = (*setting, value.as_str());
            for (of, file) in kernel::places(requested, self.disk_below())? {
                kernel::set(&self.ground.made, requested, of, &file)?;
            }
            self.record.kernel.insert(*setting, value.clone());
        }
        Ok(())
    }

    fn disk_below(&self) -> Option<kernel::DiskBelow<'_>> {
        self.mounted.as_ref().map(|mounted| (mounted.name.as_str(), &mounted.from))
    }

    fn limit(&mut self, order: &RigOrder<'_>) -> Result<(), TestbedError> {
        let limits = &order.spec.limits;
        if !limits.is_empty() {
            let group = Group::make(limits, &self.ground.made)?;
            if let Some(swappiness) = order.spec.kernel.get(&KernelSetting::Swappiness) {
                group.set_swappiness(swappiness)?;
            }
            self.record.control_groups = Some(group.paths.version);
            self.record.limits = group.limits.clone();
            self.group = Some(group);
        }
        Ok(())
    }

    /// Starts the server, if the arm has one, after all that it stands on.
    fn serve(&mut self, order: &RigOrder<'_>) -> Result<(), TestbedError> {
        let Some(spec) = &order.spec.server else {
            return Ok(());
        };
        let place = ServerPlace { home: &self.place, data: &self.data, group: self.group.as_ref() };
        let server = Server::start(spec, &place, &self.ground.made).map_err(|error| {
            // What it says itself is that it was killed, if anything.
            self.has_room().err().unwrap_or(error)
        })?;
        self.record.server = Some(server.record.clone());
        self.server = Some(server);
        Ok(())
    }

    /// Does something to a member of the server, or cuts the power of all.
    pub fn disturb(&mut self, what: Disturb) -> Result<Disturbed, TestbedError> {
        match what {
            Disturb::CutPower { seed, sector_bytes } => self.cut_power(seed, sector_bytes),
            _ => self.with_server(|server, place, made| server.disturb(what, place, made)),
        }
    }

    /// Brings all members of the server back that something was done to, if there is a server and its filesystem survived, and waits until they are one again.
    pub fn heal(&mut self) -> Result<(), TestbedError> {
        let has_lost_filesystem = self.ground.disk.is_some() && self.mounted.is_none();
        if self.server.is_none() || has_lost_filesystem {
            return Ok(());
        }
        self.with_server(Server::heal)
    }

    fn with_server<T>(
        &mut self,
        act: impl FnOnce(&mut Server, &ServerPlace<'_>, &RigParts) -> Result<T, TestbedError>,
    ) -> Result<T, TestbedError> {
        let place = ServerPlace { home: &self.place, data: &self.data, group: self.group.as_ref() };
        match &mut self.server {
            Some(server) => act(server, &place, &self.ground.made),
            None => Err(TestbedError::NotDisturbed {
                name: "of this run".into(),
                why: "there is none".into(),
            }),
        }
    }

    /// The address of the server that was started, and the processes of its members.
    pub fn server(&self) -> Option<(&str, Vec<u32>)> {
        let server = self.server.as_ref()?;
        Some((&server.address, server.processes()))
    }

    /// Who is to work on the data, where that is not the user of this program.
    pub fn user(&self) -> Option<&RunUser> {
        self.user.as_ref()
    }

    /// Where the data go: an empty directory of that user, or that of the server, with one in it for each member where it has several.
    pub fn data_directory(&self) -> &Path {
        &self.data
    }

    /// Where the filesystem is mounted that was made; `None` on a plain directory.
    pub fn mount_point(&self) -> Option<&Path> {
        self.mounted.as_ref().map(|mounted| mounted.point.as_path())
    }

    /// Where an emulated disk takes commands.
    pub fn control_socket(&self) -> Option<&Path> {
        self.ground.disk.as_ref().map(|disk| disk.socket.as_path())
    }

    /// Name of the device below the filesystem under `/sys/class/block`, such as `loop3`; `None` on a plain directory.
    pub fn device(&self) -> Option<&str> {
        self.mounted.as_ref().map(|mounted| mounted.name.as_str())
    }

    /// The control group of the limits; `None` without limits.
    pub fn group(&self) -> Option<&GroupPaths> {
        self.group.as_ref().map(|group| &group.paths)
    }

    /// What was made, for the record of the run. What the emulated disk says of itself is left open.
    pub fn record(&self) -> RigRecord {
        self.record.clone()
    }

    /// Puts a process under the limits, before it does anything that counts. Its memory from then on, page cache included, and its CPU
    /// time are bounded. Without limits it is only remembered, to be ended if this program does not come to it; as it is where a server was
    /// started, for then the limits are the server's, which is under test, and not its client's.
    pub fn admit(&self, process: u32) -> Result<(), TestbedError> {
        let started_ticks = started_ticks(process).ok_or(TestbedError::ProcessGone { process })?;
        let mark = self.mark();
        if is_marked(process, &mark) != Some(true) {
            return Err(TestbedError::ProcessUnmarked { process });
        }
        self.ground.made.making(Step::Process { process, started_ticks, mark })?;
        match &self.group {
            Some(group) if self.server.is_none() => group.admit(process),
            _ => Ok(()),
        }
    }

    /// Limits the memory of what is under test to what it takes and the page cache that was requested. From now on the limit follows what it takes. Returns
    /// the limit, bytes; `None` where none was requested.
    pub fn size_memory(&mut self) -> Result<Option<u64>, TestbedError> {
        let Some(group) = &mut self.group else {
            return Ok(None);
        };
        let limit_bytes = group.size_memory()?;
        self.record.limits = group.limits.clone();
        Ok(limit_bytes)
    }

    /// Has the kernel drop what its page cache holds of the files in the data directory. What is not on the disk yet is written first.
    pub fn drop_page_cache(&self) -> Result<(), TestbedError> {
        page_cache::drop_of(self.data_directory())
    }

    /// What the variable [`MARK_VARIABLE`](crate::testbed::MARK_VARIABLE) must be in the environment of a process that is to be admitted: by this it is
    /// known again when it is to be ended.
    pub fn mark(&self) -> String {
        format!("worker-{}", self.ground.made.journal().token())
    }

    /// Has the filesystem on the emulated disk seen at an empty directory too, which only this user can change. It belongs to who called `sudo`, or to root.
    pub fn show(&self, directory: &Path) -> Result<(), TestbedError> {
        let disk = self.ground.disk.as_ref().ok_or(TestbedError::NoFilesystem)?;
        let held = HeldDirectory::open(directory)?.ok_or_else(|| {
            TestbedError::io("open", directory, std::io::Error::from(std::io::ErrorKind::NotFound))
        })?;
        let path = held.path().to_owned();
        let failed = |error: std::io::Error| TestbedError::io("mount at", &path, error);
        if !held.names().map_err(failed)?.is_empty() {
            return Err(TestbedError::InTheWay { path, reason: "is not empty" });
        }
        let data = open_subdirectory(&self.place, DATA).map_err(failed)?;
        let owner = self.user.as_ref().filter(|user| user.is_invoker);
        let (user, group) = owner.map_or((0, 0), |user| (user.user, user.group));
        hand_over(&data, user, group).map_err(failed)?;
        open_to_read(&data).map_err(failed)?;
        // What was made here is to survive a power cut, whatever the filesystem does for its users.
        syncfs(&data).map_err(|error| failed(error.into()))?;
        flush(&disk.device_path()).map_err(failed)?;
        let from = MountedFrom::LoopOver(disk.image.clone());
        self.ground.made.making(Step::Shown { directory: path.clone(), from })?;
        bind(data, &held).map_err(failed)
    }

    /// Checks that all that was made is still there.
    pub fn is_sound(&self) -> Result<(), TestbedError> {
        let vanished = |mount_point: &Path| TestbedError::MountVanished {
            mount_point: mount_point.to_owned(),
        };
        if let Some(disk) = &self.ground.disk {
            let process = disk.daemon.pid();
            if started_ticks(process).is_none() {
                return Err(TestbedError::DaemonDied { process });
            }
            // Without a filesystem, which did not survive a power cut, the device is not needed.
            let is_there = loops::backing_file_of(&disk.device).as_ref() == Some(&disk.image.path);
            if self.mounted.is_some() && !is_there {
                return Err(vanished(&disk.mount_point));
            }
        }
        if let Some(mounted) = &self.mounted {
            let is_there =
                mounts::at(&mounted.point)?.is_some_and(|found| found.source == mounted.device);
            if !is_there {
                return Err(vanished(&mounted.point));
            }
        }
        for (setting, value) in &self.record.kernel {
            let requested = (*setting, value.as_str());
            for (_, file) in kernel::places(requested, self.disk_below())? {
                let since = "now: another program has changed it during the run";
                kernel::is_still(requested, &file, since)?;
            }
        }
        self.has_room()?;
        match &self.server {
            Some(server) => server.is_alive(),
            None => Ok(()),
        }
    }

    fn has_room(&self) -> Result<(), TestbedError> {
        self.group.as_ref().map_or(Ok(()), Group::has_room)
    }

    /// Asks the server to end, if there is one, waits until it has, and kills it when it does not. From then on nothing writes to the data
    /// directory. An emulated disk has no limits any more, so that the last writes take no longer than they must.
    pub fn stop_server(&mut self) -> Result<(), TestbedError> {
        let Some(server) = self.server.take() else {
            return Ok(());
        };
        if let Some(disk) = &self.ground.disk {
            disk.hurry();
        }
        let stopped = server.stop();
        for log in self.server_logs() {
            self.hand_back(&log)?;
        }
        stopped
    }

    /// Gives a file of this program's to who called `sudo`, who keeps it. It is only read from now on.
    fn hand_back(&self, file: &Path) -> Result<(), TestbedError> {
        let name = file.file_name().and_then(OsStr::to_str);
        match (&self.user, name) {
            (Some(user), Some(name)) if user.is_invoker => user.own_entry(&self.place, name, file),
            _ => Ok(()),
        }
    }

    /// The logs of the server's members, if there is one: files in the directory of the run, gone with it.
    pub fn server_logs(&self) -> Vec<PathBuf> {
        let server = self.record.server.as_ref();
        let count = server.map_or(0, |server| server.members.len().max(1));
        Server::logs_in(self.place.path(), count)
    }

    /// Leaves all but the directory to the journal, as if this program were gone.
    #[cfg(test)]
    pub(crate) fn forget(self) {
        self.ground.made.forget();
    }

    /// Undoes everything but the data directory, in which the trace of an emulated disk is. No step is waited for without end, and a
    /// step that fails keeps no other from being tried; what stays is named in the notes, and remains in the journal for later.
    pub fn tear_down(self, journal: &mut Journal) -> Result<TornDown, TestbedError> {
        let mut this = self;
        let stopped = this.stop_server();
        let trace = this.ground.disk.as_ref().and_then(|disk| disk.trace.clone());
        let handed_back = trace.as_deref().map_or(Ok(()), |trace| this.hand_back(trace));
        let Self { mut ground, place, .. } = this;
        let failed = [stopped, handed_back];
        let failed = failed.into_iter().filter_map(Result::err);
        let mut notes: Vec<String> = failed.map(|error| error.to_string()).collect();
        notes.extend(ground.undo());
        journal.sync()?;
        Ok(TornDown { trace, notes, place })
    }
}

/// What is left of a rig: its data directory, with the trace of its emulated disk, if it had one. It is removed when this is dropped, too.
#[derive(Debug)]
pub struct TornDown {
    /// The trace of the emulated disk.
    pub trace: Option<PathBuf>,
    /// What people should know: what could not be undone, or only later.
    pub notes: Vec<String>,
    place: DataDirectory,
}

impl TornDown {
    pub fn remove(self, journal: &mut Journal) -> Result<(), TestbedError> {
        self.place.remove()?;
        journal.sync()
    }
}

/// A marked directory in which there is room for the path of a socket.
pub(crate) fn place_of_disk(
    journal: &Journal,
    parent: &Path,
    owner: &str,
    label: &str,
) -> Result<DataDirectory, TestbedError> {
    DataDirectory::create_for_socket(journal, parent, owner, label, LONGEST_DIRECTORY_BYTES)
}

/// Sets the readahead of the device of this name, and returns what it was where that is changed. The journal knows it before.
fn set_readahead(
    made: &RigParts,
    name: &str,
    from: &MountedFrom,
    bytes: u64,
) -> Result<Option<u64>, TestbedError> {
    let file = readahead::file_of_device(name);
    let was_bytes = readahead::read(&file)?;
    if was_bytes == bytes {
        return Ok(None);
    }
    made.making(Step::Readahead { from: from.clone(), was_bytes, set_bytes: bytes })?;
    readahead::write(&file, name, bytes).inspect_err(|_| {
        // Nothing undoes a figure that was not requested.
        let _ = readahead::write(&file, name, was_bytes);
    })?;
    Ok(Some(was_bytes))
}

/// Has an open directory seen at another. Names could be exchanged meanwhile, what is open cannot.
fn bind(directory: impl AsFd, at: impl AsFd) -> std::io::Result<()> {
    let named = |open: BorrowedFd<'_>| format!("/proc/self/fd/{}", open.as_raw_fd());
    Ok(mount_bind(named(directory.as_fd()), named(at.as_fd()))?)
}

/// Has a device keep what was written to it.
fn flush(device: &Path) -> std::io::Result<()> {
    std::fs::File::open(device)?.sync_all()
}

mod power;
#[cfg(test)]
mod tests;
