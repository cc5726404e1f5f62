//! A fresh directory for the data of one run.

use crate::TestbedError;
use crate::marker::{Contents, MARKER_NAME, Marker, examine, lock};
use crate::removal::{empty, is_mount_point, open_directory};
use crate::undo::Undone;
use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Longest part of a directory's name that comes from the run. File names have 255 bytes.
const LONGEST_LABEL: usize = 100;

/// Of a name that is cut. What it begins with and the id of an experiment are told apart by it.
const SHORTEST_NAME: usize = 24;

/// A fresh directory for the data of one run. It is removed when it is dropped, or by [`DataDirectory::remove`], which says whether
/// that worked.
#[derive(Debug)]
pub struct DataDirectory {
    parent: OwnedFd,
    name: String,
    path: PathBuf,
    marker: Marker,
    /// Held for the lock on it. `None` once the directory is removed.
    lock: Option<File>,
}

impl DataDirectory {
    /// Makes and marks `plimsoll-EXPERIMENT-RUN` in the parent directory, which is made too where it is missing. What an interrupted
    /// program left under the same name is removed first.
    ///
    /// # Errors
    /// [`TestbedError::InTheWay`] when something that is not ours has the name, [`TestbedError::InUse`], or what else keeps it from
    /// being made.
    pub fn create(parent: &Path, experiment: &str, run: &str) -> Result<Self, TestbedError> {
        Self::create_named(parent, name_of(experiment, run), experiment, run)
    }

    /// The same under a name that is known before.
    pub(crate) fn create_named(
        parent: &Path,
        name: String,
        experiment: &str,
        run: &str,
    ) -> Result<Self, TestbedError> {
        let path = parent.join(&name);
        let failed =
            |error: std::io::Error| TestbedError::io("make the data directory", &path, error);
        std::fs::create_dir_all(parent).map_err(failed)?;
        let parent = open_parent(parent).map_err(|error| failed(error.into()))?;
        match fs::mkdirat(&parent, &name, Mode::from_raw_mode(0o700)) {
            Ok(()) => {}
            Err(Errno::EXIST) => make_room(&parent, &name, &path)?,
            Err(error) => return Err(failed(error.into())),
        }
        let directory = open_directory(&parent, &name).map_err(|error| failed(error.into()))?;
        let marker =
            Marker::new(&directory, experiment, run).map_err(|error| failed(error.into()))?;
        let lock = marker.write(&directory, &path)?;
        fs::fsync(&directory).map_err(|error| failed(error.into()))?;
        Ok(Self {
            parent,
            name,
            path,
            marker,
            lock: Some(lock),
        })
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What its marker says.
    #[must_use]
    pub fn marker(&self) -> &Marker {
        &self.marker
    }

    /// Removes the directory with everything in it. One that is gone already is no error.
    ///
    /// # Errors
    /// [`TestbedError::NotRemoved`] when another directory has taken its place, or what else keeps it from being removed.
    pub fn remove(mut self) -> Result<(), TestbedError> {
        self.remove_once()
    }

    fn remove_once(&mut self) -> Result<(), TestbedError> {
        let Some(_lock) = self.lock.take() else {
            return Ok(());
        };
        remove_marked(&self.parent, &self.name, &self.path, &self.marker)
    }
}

impl Drop for DataDirectory {
    fn drop(&mut self) {
        // Nobody is left to tell; the directory stays marked and is found as a leftover.
        let _ = self.remove_once();
    }
}

/// The name of the directory of a run.
pub(crate) fn name_of(experiment: &str, run: &str) -> String {
    format!("plimsoll-{}-{}", plain(experiment), plain(run))
}

/// The same, cut until its whole path has at most so many bytes, for directories that a socket has to be in.
pub(crate) fn short_name_of(
    parent: &Path,
    experiment: &str,
    run: &str,
    longest_path_bytes: usize,
) -> Result<String, TestbedError> {
    let mut name = name_of(experiment, run);
    let room = longest_path_bytes.saturating_sub(parent.as_os_str().len() + 1);
    if room < SHORTEST_NAME {
        return Err(TestbedError::PathTooLong {
            path: parent.to_owned(),
            longest_bytes: longest_path_bytes - SHORTEST_NAME - 1,
        });
    }
    // Names are of single bytes, so this cuts no letter in two.
    name.truncate(room);
    Ok(name)
}

/// Removes the directory of a program that is gone: one with a marker, or one that did not get so far. Anything else is left.
pub(crate) fn remove_abandoned(path: &Path) -> Result<Undone, TestbedError> {
    let failed = |error| TestbedError::io("remove", path, error);
    let left = |reason: &str| {
        Ok(Undone::Foreign(format!(
            "{} {reason}; it is left alone",
            path.display()
        )))
    };
    let (Some(parent), Some(name)) = (
        path.parent(),
        path.file_name().and_then(|name| name.to_str()),
    ) else {
        return left("has no name of ours");
    };
    let parent = match open_parent(parent) {
        Ok(parent) => parent,
        Err(Errno::NOENT) => return Ok(Undone::WasGone),
        Err(error) => return Err(failed(error)),
    };
    let directory = match open_directory(&parent, name) {
        Ok(directory) => directory,
        Err(Errno::NOENT) => return Ok(Undone::WasGone),
        Err(Errno::LOOP | Errno::NOTDIR) => return left("is no longer a directory"),
        Err(error) => return Err(failed(error)),
    };
    match examine(&directory, path)? {
        Contents::Marked(marker, file) => {
            if !lock(&file, path)? {
                return left("is used by another plimsoll");
            }
            remove_marked(&parent, name, path, &marker)?;
        }
        Contents::Empty => {
            if is_mount_point(&directory, &parent).map_err(failed)? {
                return left("is a mount point");
            }
            match fs::unlinkat(&directory, MARKER_NAME, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(failed(error)),
            }
            fs::unlinkat(&parent, name, AtFlags::REMOVEDIR).map_err(failed)?;
        }
        Contents::Foreign(reason) => return left(reason),
    }
    Ok(Undone::Gone)
}

/// Parents are named by the user and may be symbolic links.
pub(crate) fn open_parent(parent: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    fs::openat(fs::CWD, parent, flags, Mode::empty())
}

/// Deals with what has the name of a new directory: leaves an empty directory there, or refuses.
fn make_room(parent: &OwnedFd, name: &str, path: &Path) -> Result<(), TestbedError> {
    let in_the_way = |reason| TestbedError::InTheWay {
        path: path.to_owned(),
        reason,
    };
    let directory = match open_directory(parent, name) {
        Ok(directory) => directory,
        Err(Errno::LOOP | Errno::NOTDIR) => return Err(in_the_way("is no directory")),
        Err(error) => return Err(TestbedError::io("look into", path, error)),
    };
    match examine(&directory, path)? {
        Contents::Empty => Ok(()),
        Contents::Foreign(reason) => Err(in_the_way(reason)),
        Contents::Marked(marker, file) => {
            if !lock(&file, path)? {
                return Err(TestbedError::InUse {
                    path: path.to_owned(),
                });
            }
            remove_marked(parent, name, path, &marker)?;
            fs::mkdirat(parent, name, Mode::from_raw_mode(0o700))
                .map_err(|error| TestbedError::io("make the data directory", path, error))
        }
    }
}

/// Removes a directory that still has exactly this marker. The caller holds the lock of the marker.
pub(crate) fn remove_marked(
    parent: impl AsFd,
    name: &str,
    path: &Path,
    marker: &Marker,
) -> Result<(), TestbedError> {
    let failed = |error| TestbedError::io("remove", path, error);
    let refused = |reason| TestbedError::NotRemoved {
        path: path.to_owned(),
        reason,
    };
    let directory = match open_directory(&parent, name) {
        Ok(directory) => directory,
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::LOOP | Errno::NOTDIR) => return Err(refused("is no longer a directory")),
        Err(error) => return Err(failed(error)),
    };
    if is_mount_point(&directory, &parent).map_err(failed)? {
        return Err(refused("is a mount point"));
    }
    match examine(&directory, path)? {
        Contents::Marked(found, _) if found == *marker => {}
        Contents::Marked(..) => return Err(refused("has the marker of another run")),
        Contents::Empty => return Err(refused("has lost its marker")),
        Contents::Foreign(reason) => return Err(refused(reason)),
    }
    empty(&directory, path, MARKER_NAME)?;
    fs::unlinkat(&directory, MARKER_NAME, AtFlags::empty()).map_err(failed)?;
    if let Err(error) = fs::unlinkat(&parent, name, AtFlags::REMOVEDIR) {
        // Somebody wrote into it meanwhile. It must not stay behind without a marker.
        marker.write(&directory, path)?;
        return Err(failed(error));
    }
    Ok(())
}

/// The text as part of a file name.
fn plain(text: &str) -> String {
    let plain: String = text
        .chars()
        .take(LONGEST_LABEL)
        .map(|letter| {
            if letter.is_ascii_alphanumeric() || letter == '_' {
                letter
            } else {
                '-'
            }
        })
        .collect();
    plain
}
