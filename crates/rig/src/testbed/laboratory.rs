//! Things of the system for tests, gone when they are dropped.

use crate::testbed::loops::{self, BackingFile};
use crate::testbed::tools::Tools;
use crate::testbed::{Journal, Rig, RigOrder, TestbedError, abandoned};
use plimsoll_disk::DaemonProgram;
use plimsoll_record::RigSpec;
use plimsoll_testing::Need;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What a test on loop devices needs.
pub(crate) const LOOPS: [Need<'_>; 2] = [Need::Root, Need::File("/dev/loop-control")];

/// A folder through which others may pass, as workers and servers of root must.
pub(crate) fn passable_folder() -> tempfile::TempDir {
    let passable = std::fs::Permissions::from_mode(0o711);
    let mut folder = tempfile::Builder::new();
    folder.permissions(passable).tempdir().unwrap()
}

/// Where rigs are made in a test, and their journal.
pub(crate) struct Site {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) journal: Journal,
}

impl Site {
    pub(crate) fn new() -> Self {
        let folder = passable_folder();
        let journal = Journal::open(&folder.path().join("state"), "a test").unwrap();
        Self { folder, journal }
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(crate) fn parent(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn with_order<T>(
        &mut self,
        spec: &RigSpec,
        needs_bytes: u64,
        work: impl FnOnce(&RigOrder<'_>, &mut Journal) -> T,
    ) -> T {
        let daemon = DaemonProgram { path: "/nonexistent".into(), arguments: Vec::new() };
        let order = RigOrder {
            spec,
            parent: &self.parent(),
            owner: "e",
            label: "a run",
            needs_bytes,
            daemon: &daemon,
            from: None,
        };
        work(&order, &mut self.journal)
    }

    pub(crate) fn build(&mut self, spec: &RigSpec) -> Result<Rig, TestbedError> {
        self.with_order(spec, 1 << 20, Rig::build)
    }

    /// Tears a rig down and removes it. Returns what was said about it.
    pub(crate) fn undo(&mut self, rig: Rig) -> Vec<String> {
        let torn_down = rig.tear_down(&mut self.journal).unwrap();
        let notes = torn_down.notes.clone();
        torn_down.remove(&mut self.journal).unwrap();
        notes
    }

    /// What is left of the data directories.
    pub(crate) fn left(&self) -> usize {
        std::fs::read_dir(self.parent()).map_or(0, Iterator::count)
    }

    pub(crate) fn nothing_is_left(&self) {
        assert!(abandoned(&self.state()).unwrap().is_empty());
        assert_eq!(self.left(), 0);
    }
}

/// A loop device over a sparse file.
pub(crate) struct LoopDevice {
    pub(crate) name: String,
    pub(crate) file: BackingFile,
    tools: Tools,
}

impl LoopDevice {
    pub(crate) fn new(folder: &Path, name: &str, bytes: u64) -> Self {
        let file = folder.canonicalize().unwrap().join(name);
        File::create(&file).unwrap().set_len(bytes).unwrap();
        let tools = Tools::of("laboratory");
        let name = loops::attach(&tools, &file).unwrap();
        let file = BackingFile::of(&file).unwrap();
        Self { name, file, tools }
    }

    pub(crate) fn path(&self) -> PathBuf {
        Path::new("/dev").join(&self.name)
    }

    pub(crate) fn is_attached(&self) -> bool {
        self.file.is_below(&self.tools, &self.name)
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if self.is_attached() {
            let _ = loops::detach(&self.tools, &self.name, &self.file);
        }
    }
}

/// A filesystem in memory, mounted.
pub(crate) struct Tmpfs(pub(crate) PathBuf);

impl Tmpfs {
    pub(crate) fn new(point: &Path) -> Self {
        std::fs::create_dir_all(point).unwrap();
        let tools = Tools::of("laboratory");
        let arguments = ["-t", "tmpfs", "plimsoll-test"].map(std::ffi::OsStr::new);
        let mut arguments = arguments.to_vec();
        arguments.push(point.as_os_str());
        tools.run("mount", &arguments).unwrap();
        Self(point.to_owned())
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.0, rustix::mount::UnmountFlags::DETACH);
    }
}
