//! Trees of files that look like `/proc` and `/sys`, for tests.

use crate::Host;
use std::fs;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

pub(crate) struct Tree {
    directory: TempDir,
}

impl Tree {
    /// From pairs of path and text. A text that starts with `-> ` makes a symbolic link.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match text.strip_prefix("-> ") {
                Some(target) => symlink(target, path).unwrap(),
                None => fs::write(path, text).unwrap(),
            }
        }
        Self { directory }
    }

    pub(crate) fn host(&self) -> Host {
        Host::at(self.directory.path())
    }
}
