//! A fresh directory for the data of one run.

use crate::testbed::TestbedError;
use crate::testbed::journal::Journal;
use crate::testbed::privileged::HeldDirectory;
use crate::testbed::privileged::held::{new_directory_in, open_to_pass};
use crate::testbed::privileged::marker::{Contents, Marker, examine, lock};
use crate::testbed::privileged::removal::{NAME, open_directory, remove_marked};
use crate::testbed::step::Step;
use rustix::fs;
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Longest part of a directory's name that comes from the run. File names have 255 bytes.
const LONGEST_LABEL: usize = 100;

/// Shortest length of a cut name: its beginning and the id of an experiment keep it distinct.
const SHORTEST_NAME: usize = 24;

/// A fresh directory for the data of one run, which is in the journal. It is removed when it is dropped, or by [`DataDirectory::remove`],
/// which says whether that worked.
#[derive(Debug)]
pub struct DataDirectory {
    parent: HeldDirectory,
    directory: OwnedFd,
    name: String,
    path: PathBuf,
    marker: Marker,
    /// Held for the lock on it. `None` once the directory is removed.
    lock: Option<File>,
    id: u64,
    journal: Journal,
}

impl DataDirectory {
    /// Makes and marks `plimsoll-EXPERIMENT-RUN` in the parent directory, which is made too where it is missing.
    pub fn create(
        journal: &Journal,
        parent: &Path,
        experiment: &str,
        run: &str,
    ) -> Result<Self, TestbedError> {
        let parent = HeldDirectory::make(parent)?;
        Self::create_named(journal, parent, name_of(experiment, run), experiment, run)
    }

    /// The same, under a name that leaves room for the path of a socket.
    pub(crate) fn create_for_socket(
        journal: &Journal,
        parent: &Path,
        experiment: &str,
        run: &str,
        longest_path_bytes: usize,
    ) -> Result<Self, TestbedError> {
        let parent = HeldDirectory::make(parent)?;
        let name = short_name_of(parent.path(), experiment, run, longest_path_bytes)?;
        Self::create_named(journal, parent, name, experiment, run)
    }

    fn create_named(
        journal: &Journal,
        parent: HeldDirectory,
        name: String,
        experiment: &str,
        run: &str,
    ) -> Result<Self, TestbedError> {
        let path = parent.path().join(&name);
        let failed =
            |error: std::io::Error| TestbedError::io("make the data directory", &path, error);
        let id = journal.making(Step::Directory { path: path.clone() })?;
        let directory = match new_directory_in(&parent, &*name) {
            Ok(directory) => directory,
            Err(error) => {
                // An existing directory belongs to others.
                journal.undone(id)?;
                return Err(match error.kind() {
                    std::io::ErrorKind::AlreadyExists => in_the_way(&parent, &name, &path)?,
                    _ => failed(error),
                });
            }
        };
        let marker =
            Marker::new(&directory, experiment, run).map_err(|error| failed(error.into()))?;
        journal.made(id, marker.inode)?;
        let lock = marker.write(&directory, &path)?;
        fs::fsync(&directory).map_err(|error| failed(error.into()))?;
        Ok(Self {
            parent,
            directory,
            name,
            path,
            marker,
            lock: Some(lock),
            id,
            journal: journal.share(),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn marker(&self) -> &Marker {
        &self.marker
    }

    /// Lets all users pass through, as servers must. Only the owner can change what is in it.
    pub(crate) fn open_to_pass(&self) -> Result<(), TestbedError> {
        open_to_pass(&self.directory).map_err(|error| TestbedError::io("open", &self.path, error))
    }

    /// Makes an empty directory in it, for this user alone, and returns it open.
    pub(crate) fn make(&self, name: &str) -> Result<(PathBuf, OwnedFd), TestbedError> {
        let path = self.path.join(name);
        match new_directory_in(&self.directory, name) {
            Ok(directory) => Ok((path, directory)),
            Err(error) => Err(TestbedError::io("make", &path, error)),
        }
    }

    /// Removes the directory with everything in it. One that is gone already is no error.
    pub fn remove(mut self) -> Result<(), TestbedError> {
        self.remove_once()
    }

    fn remove_once(&mut self) -> Result<(), TestbedError> {
        let Some(_lock) = self.lock.take() else {
            return Ok(());
        };
        remove_marked(&self.parent, &self.name, &self.path, &self.marker)?;
        self.journal.undone(self.id)
    }
}

impl AsFd for DataDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

impl Drop for DataDirectory {
    fn drop(&mut self) {
        // There is no one to report to; the directory stays marked, and in the journal.
        let _ = self.remove_once();
    }
}

/// The name of the directory of a run.
fn name_of(experiment: &str, run: &str) -> String {
    format!("{NAME}{}-{}", plain(experiment), plain(run))
}

/// The same, cut until its whole path has at most this many bytes, for directories that a socket has to be in.
fn short_name_of(
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

/// What has the name of a new directory.
fn in_the_way(
    parent: &HeldDirectory,
    name: &str,
    path: &Path,
) -> Result<TestbedError, TestbedError> {
    let reason = match open_directory(parent, name) {
        Err(Errno::LOOP | Errno::NOTDIR) => "is no directory",
        Err(error) => return Err(TestbedError::io("look into", path, error)),
        Ok(directory) => match examine(&directory, path)? {
            Contents::Marked(_, file) if !lock(&file, path)? => {
                return Ok(TestbedError::InUse { path: path.to_owned() });
            }
            Contents::Marked(..) => "was left by an earlier run whose journal is gone",
            Contents::Empty => "already exists",
            Contents::Foreign(reason) => reason,
        },
    };
    Ok(TestbedError::InTheWay { path: path.to_owned(), reason })
}

/// The text as part of a file name.
fn plain(text: &str) -> String {
    let plain: String = text
        .chars()
        .take(LONGEST_LABEL)
        .map(|letter| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' })
        .collect();
    plain
}
