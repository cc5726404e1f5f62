//! A disk with its loop device, a filesystem and a control group; all are removed when they are dropped.

use crate::{Control, Daemon, DaemonOrder, DaemonProgram, DiskError, RingSwitch};
use plimsoll_record::DiskSpec;
use plimsoll_testing::{Need, test_as_program};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub const PATIENCE: Duration = Duration::from_secs(60);

/// What a test on an emulated disk needs, with these programs.
pub fn disks_and(programs: &[&'static str]) -> Vec<Need<'static>> {
    let mut needs = vec![Need::Root, Need::File("/dev/fuse"), Need::File("/dev/loop-control")];
    needs.extend(programs.iter().map(|program| Need::Program(program)));
    needs
}

/// This program, as the process of an emulated disk.
pub fn daemon_program() -> DaemonProgram {
    let (path, arguments) = test_as_program("it::laboratory::is_a_daemon");
    DaemonProgram { path, arguments }
}

#[test]
#[ignore = "the process of the emulated disks in the tests"]
fn is_a_daemon() {
    let Ok(output) = fs::File::options().write(true).open("/dev/fd/3") else {
        return;
    };
    crate::serve(std::io::stdin(), output).unwrap();
}

/// An order for a disk in this folder.
pub fn order(folder: &Path, spec: &DiskSpec) -> DaemonOrder {
    let mount_point = folder.join("fuse");
    fs::create_dir_all(&mount_point).unwrap();
    DaemonOrder {
        spec: spec.clone(),
        mount_point,
        backing_file: Some(folder.join("blocks")),
        socket: folder.join("socket"),
        trace: (spec.trace_requests > 0).then(|| folder.join("trace")),
        shaped: true,
    }
}

/// A disk with a loop device over it, and perhaps a filesystem.
pub struct Disk {
    daemon: Option<Daemon>,
    device: Option<String>,
    pub mount: PathBuf,
    pub folder: tempfile::TempDir,
}

impl Disk {
    /// Served through rings, where this kernel has them.
    pub fn start(program: &DaemonProgram, spec: &DiskSpec) -> Result<Self, DiskError> {
        RingSwitch::turned(true, || Self::start_with(program, spec, |_| {}))
    }

    /// Served as kernels without rings do.
    pub fn start_without_rings(spec: &DiskSpec) -> Self {
        RingSwitch::turned(false, || Self::start_with(&daemon_program(), spec, |_| {})).unwrap()
    }

    /// With another order than that of [`order`].
    pub fn start_with(
        program: &DaemonProgram,
        spec: &DiskSpec,
        change: impl FnOnce(&mut DaemonOrder),
    ) -> Result<Self, DiskError> {
        let folder = tempfile::tempdir().unwrap();
        let mut order = order(folder.path(), spec);
        change(&mut order);
        let daemon = Daemon::start(program, &order)?;
        let mount = folder.path().join("mount");
        fs::create_dir(&mount).unwrap();
        let mut disk = Self { daemon: Some(daemon), device: None, mount, folder };
        let image = disk.daemon().image();
        let device = succeeds(
            Command::new("losetup").args(["--find", "--show", "--direct-io=on"]).arg(image),
        );
        disk.device = Some(device.trim().to_owned());
        Ok(disk)
    }

    pub fn daemon(&mut self) -> &mut Daemon {
        self.daemon.as_mut().unwrap()
    }

    pub fn control(&self) -> Control {
        Control::connect(&self.folder.path().join("socket")).unwrap()
    }

    pub fn device(&self) -> &str {
        self.device.as_deref().unwrap()
    }

    /// Makes an XFS on it and mounts it.
    pub fn mount_xfs(&self) {
        succeeds(Command::new("mkfs.xfs").args(["-q", self.device()]));
        succeeds(Command::new("mount").arg(self.device()).arg(&self.mount));
    }

    /// Takes everything down and gives what is then left over: nothing.
    pub fn take_down(mut self) -> Vec<String> {
        let device = self.device().to_owned();
        let folder = self.folder.path().to_owned();
        let pid = self.daemon().pid();
        self.undo();
        drop(self);
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mut left = Vec::new();
        for line in mounts.lines() {
            if line.contains(folder.to_str().unwrap()) || line.contains(&format!(" {device} ")) {
                left.push(line.to_owned());
            }
        }
        let image = format!("/sys/block/{}/loop/backing_file", &device["/dev/".len()..]);
        if let Ok(backing) = fs::read_to_string(image)
            && backing.contains(folder.to_str().unwrap())
        {
            left.push(format!("{device} of {backing}"));
        }
        if Path::new(&format!("/proc/{pid}")).exists() {
            left.push(format!("process {pid}"));
        }
        if folder.exists() {
            left.push(folder.display().to_string());
        }
        left
    }

    fn undo(&mut self) {
        // The daemon may be stopped or gone, so that nothing here may wait for it.
        if let Some(daemon) = self.daemon.take() {
            if is_mounted(&self.mount) {
                let _ = run(Command::new("umount").arg("-l").arg(&self.mount));
            }
            let stopped = daemon.stop();
            if !std::thread::panicking() {
                stopped.unwrap();
            }
        }
        if let Some(device) = self.device.take() {
            let _ = run(Command::new("losetup").args(["-d", &device]));
            // The kernel lets it go when the filesystem above it is gone, which is a matter of moments.
            let backing = format!("/sys/block/{}/loop/backing_file", &device["/dev/".len()..]);
            let begin = Instant::now();
            let folder = self.folder.path().to_str().unwrap();
            let is_mine = || fs::read_to_string(&backing).is_ok_and(|file| file.contains(folder));
            while is_mine() && begin.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.undo();
    }
}

fn is_mounted(path: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    mounts.contains(&format!(" {} ", path.display()))
}

fn run(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().unwrap()
}

/// Runs it; what it says.
pub fn succeeds(command: &mut Command) -> String {
    let output = run(command);
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A process that is killed when it is dropped.
pub struct Running(pub Child);

impl Running {
    pub fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Self(command.stderr(Stdio::null()).spawn().unwrap())
    }

    /// Waits for its end, and says whether it was a good one. `meanwhile` is done again and again.
    pub fn ends(&mut self, mut meanwhile: impl FnMut()) -> bool {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.success();
            }
            assert!(begin.elapsed() < PATIENCE, "process {} hangs", self.0.id());
            meanwhile();
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A control group with a limit of memory, of either version.
pub struct MemoryGroup(PathBuf);

impl MemoryGroup {
    /// `None` where there is no such controller, or it may not be used.
    pub fn new(bytes: u64) -> Option<Self> {
        let name = format!("plimsoll-test-{}", std::process::id());
        for (root, limit) in
            [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]
        {
            let group = Self(Path::new(root).join(&name));
            let limited = || fs::write(group.0.join(limit), bytes.to_string());
            if fs::create_dir(&group.0).is_ok() && limited().is_ok() {
                return Some(group);
            }
        }
        None
    }

    /// The file into which a process writes itself.
    pub fn door(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let begin = Instant::now();
        // Who was in it may take a moment to be gone.
        while self.0.exists() && fs::remove_dir(&self.0).is_err() && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
