//! Things of the system for tests, gone when they are dropped.

use crate::loops::{self, BackingFile};
use crate::tools::Tools;
use plimsoll_testing::{Need, has};
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Whether this is root, which `test` needs; otherwise it is left out.
pub(crate) fn is_root_or_skip(test: &str) -> bool {
    has(test, &[Need::Root, Need::File("/dev/loop-control")])
}

/// A folder through which others may pass, as workers and servers of root must.
pub(crate) fn passable_folder() -> tempfile::TempDir {
    let passable = std::fs::Permissions::from_mode(0o711);
    let mut folder = tempfile::Builder::new();
    folder.permissions(passable).tempdir().unwrap()
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
