//! A real filesystem on a loop device over a plain file, for as long as it is needed.

use plimsoll_testing::Need;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::{TempDir, tempdir};

/// What a test that runs these programs as root needs.
pub fn root_and(programs: &[&'static str]) -> Vec<Need<'static>> {
    let programs = programs.iter().map(|program| Need::Program(program));
    [Need::Root].into_iter().chain(programs).collect()
}

/// What a program printed; it must have ended well.
pub fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Fields are dropped in their order: first it is unmounted, then detached, then removed.
pub struct Filesystem {
    mount: Mount,
    _device: LoopDevice,
    folder: TempDir,
}

impl Filesystem {
    pub fn make(mkfs: &[&str], mount_options: &str) -> Self {
        let folder = tempdir().unwrap();
        let backing = folder.path().join("backing");
        let file = std::fs::File::create(&backing).unwrap();
        file.set_len(512 << 20).unwrap();
        let device = run("losetup", &["--find", "--show", backing.to_str().unwrap()]);
        let device = LoopDevice(device.trim().to_owned());
        let arguments = [&mkfs[1..], &[&device.0]].concat();
        run(mkfs[0], &arguments);
        let point = folder.path().join("mounted");
        std::fs::create_dir(&point).unwrap();
        let point_name = point.to_str().unwrap();
        run("mount", &["-o", mount_options, &device.0, point_name]);
        Self { mount: Mount(point), _device: device, folder }
    }

    pub fn path(&self) -> &Path {
        &self.mount.0
    }

    /// The bytes of the device are those of this file.
    pub fn backing(&self) -> PathBuf {
        self.folder.path().join("backing")
    }
}

struct LoopDevice(String);

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.0]).status();
    }
}

struct Mount(PathBuf);

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
