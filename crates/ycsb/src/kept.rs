//! The directory of an embedded database that stays from load to run: only one that is empty or that this command made is used.

use crate::error::YcsbError;
use plimsoll_rig::testbed::make_place;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Marks such a directory. Throw-away directories, which are removed, have a marker of another name.
const MARKER: &str = "plimsoll-ycsb";
const WORDS: &str =
    "The database beside this file was made by plimsoll ycsb, and is kept from load to run.\n";

/// Such a directory, held for this process.
pub(crate) struct KeptDirectory {
    path: PathBuf,
    /// Its lock goes with the process.
    _lock: File,
}

impl KeptDirectory {
    /// Makes the directory if it is not there, marks it if it is empty, and takes it if nobody else holds it.
    pub(crate) fn take(path: &str) -> Result<Self, YcsbError> {
        let path = make_place(Path::new(path))?;
        let failed = |source: io::Error| YcsbError::Path { path: path.clone(), source };
        let marker = path.join(MARKER);
        let is_marked = match plimsoll_record::files::read_text(&marker, 4096) {
            Ok(words) => words == WORDS,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(failed(error)),
        };
        if !is_marked {
            if fs::read_dir(&path).map_err(failed)?.next().is_some() {
                return Err(YcsbError::NotOurs { path });
            }
            fs::write(&marker, WORDS).map_err(failed)?;
        }
        let lock = File::open(&marker).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(YcsbError::InUse { path }),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        Ok(Self { path, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As another user makes it first, with a marker that leads elsewhere.
    #[test]
    fn a_place_that_others_can_change_is_refused_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("place");
        let letter = folder.path().join("letter");
        fs::create_dir(&place).unwrap();
        fs::write(&letter, "dear").unwrap();
        std::os::unix::fs::symlink(&letter, place.join(MARKER)).unwrap();
        fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        let error = refusal(&place);
        assert!(matches!(error, YcsbError::Place(_)), "{error}");
        assert_eq!(fs::read_to_string(&letter).unwrap(), "dear");
    }

    fn refusal(path: &Path) -> YcsbError {
        KeptDirectory::take(path.to_str().unwrap()).err().expect("it is refused")
    }

    #[test]
    fn a_directory_is_taken_when_it_is_empty_or_ours() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/data");
        let held = KeptDirectory::take(path.to_str().unwrap()).unwrap();
        fs::write(path.join("collection.wt"), "data").unwrap();
        assert!(matches!(refusal(&path), YcsbError::InUse { .. }));
        drop(held);
        assert!(KeptDirectory::take(path.to_str().unwrap()).is_ok());
        assert_eq!(fs::read(path.join("collection.wt")).unwrap(), b"data");
    }

    #[test]
    fn a_directory_of_others_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("WiredTiger"), "theirs").unwrap();
        assert!(matches!(refusal(folder.path()), YcsbError::NotOurs { .. }));
        fs::write(folder.path().join(MARKER), "other words").unwrap();
        assert!(matches!(refusal(folder.path()), YcsbError::NotOurs { .. }));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        let file = folder.path().join("WiredTiger");
        assert!(matches!(refusal(&file), YcsbError::Place(_)));
    }
}
