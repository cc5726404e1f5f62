//! Data directories whose owner is gone.

use crate::TestbedError;
use crate::directory::{open_parent, remove_marked};
use crate::marker::{Contents, Marker, examine, lock};
use crate::removal::open_directory;
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// A data directory that was left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// The directory.
    pub path: PathBuf,
    /// What its marker says.
    pub marker: Marker,
}

/// The marked directories in the parent directory that no live program owns, by name. A parent that does not exist has none, and
/// directories that cannot be looked into are not ours.
///
/// # Errors
/// When the parent directory cannot be read.
pub fn leftovers(parent: &Path) -> Result<Vec<Leftover>, TestbedError> {
    let failed = |error| TestbedError::io("list", parent, error);
    let entries = match std::fs::read_dir(parent) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(TestbedError::InTheWay {
                path: parent.to_owned(),
                reason: "is no directory",
            });
        }
        Err(error) => return Err(failed(error)),
    };
    let mut leftovers = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let Ok(directory) = open_directory(rustix::fs::CWD, &path) else {
            continue;
        };
        let Ok(Contents::Marked(marker, file)) = examine(&directory, &path) else {
            continue;
        };
        if lock(&file, &path)? {
            leftovers.push(Leftover { path, marker });
        }
    }
    leftovers.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(leftovers)
}

impl Leftover {
    /// Removes the directory with everything in it. One that is gone already is no error.
    ///
    /// # Errors
    /// [`TestbedError::InUse`] when somebody owns it by now, [`TestbedError::NotRemoved`] when it is no longer what it was, or what else
    /// keeps it from being removed.
    pub fn remove(&self) -> Result<(), TestbedError> {
        let path = &self.path;
        let failed = |error| TestbedError::io("remove", path, error);
        let (Some(parent), Some(name)) = (
            path.parent(),
            path.file_name().and_then(|name| name.to_str()),
        ) else {
            return Err(TestbedError::NotRemoved {
                path: path.clone(),
                reason: "has no name of ours",
            });
        };
        let parent = open_parent(parent).map_err(failed)?;
        let directory = match open_directory(&parent, name) {
            Ok(directory) => directory,
            Err(Errno::NOENT) => return Ok(()),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return Err(TestbedError::NotRemoved {
                    path: path.clone(),
                    reason: "is no longer a directory",
                });
            }
            Err(error) => return Err(failed(error)),
        };
        let _lock = match examine(&directory, path)? {
            Contents::Marked(_, file) if lock(&file, path)? => Some(file),
            Contents::Marked(..) => {
                return Err(TestbedError::InUse { path: path.clone() });
            }
            Contents::Empty | Contents::Foreign(_) => None,
        };
        remove_marked(&parent, name, path, &self.marker)
    }
}
