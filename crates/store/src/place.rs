//! Where a store lies: a folder that is held open, and the names of its files in it.

use crate::StoreError;
use plimsoll_record::files::OwnFolder;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// What SQLite keeps beside the file while it is open, and the lock file: as private as the file.
const ENDS: [&str; 5] = ["", "-wal", "-shm", "-journal", "-lock"];

#[derive(Debug)]
pub(crate) struct StorePath {
    pub(crate) folder: OwnFolder,
    name: OsString,
    /// The file, in a folder without symbolic links: what is opened.
    pub(crate) path: PathBuf,
    /// The same as the user wrote it: what messages name.
    pub(crate) shown: PathBuf,
}

impl StorePath {
    /// Makes the folder if it is missing.
    pub(crate) fn to_write(path: &Path) -> Result<Self, StoreError> {
        Self::of(path, OwnFolder::make)
    }

    pub(crate) fn to_read(path: &Path) -> Result<Self, StoreError> {
        Self::of(path, OwnFolder::look).map_err(|error| match error {
            StoreError::Io { path, source } if source.kind() == io::ErrorKind::NotFound => {
                StoreError::Missing { path }
            }
            error => error,
        })
    }

    fn of(path: &Path, open: fn(&Path) -> io::Result<OwnFolder>) -> Result<Self, StoreError> {
        let Some(name) = path.file_name() else {
            return Err(StoreError::NotAStore { path: path.to_owned(), reason: "is a directory" });
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let folder = open(folder).map_err(|error| StoreError::from_io(path, error))?;
        Ok(Self {
            path: folder.path().join(name),
            folder,
            name: name.to_owned(),
            shown: path.to_owned(),
        })
    }

    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// The name of a file beside the store, such as `plimsoll.db-wal`.
    pub(crate) fn beside(&self, end: &str) -> OsString {
        let mut name = self.name.clone();
        name.push(end);
        name
    }

    /// Takes the rights of others to all existing files.
    pub(crate) fn make_private(&self) -> Result<(), StoreError> {
        for end in ENDS {
            self.folder
                .make_private(&self.beside(end))
                .map_err(|error| StoreError::from_io(&self.shown, error))?;
        }
        Ok(())
    }
}
