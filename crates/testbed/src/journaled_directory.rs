//! A data directory that is in the journal.

use crate::journal::Journal;
use crate::step::Step;
use crate::{DataDirectory, TestbedError};
use std::path::Path;

/// A data directory that is in the journal. It is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct JournaledDirectory {
    /// `None` once it is removed.
    directory: Option<DataDirectory>,
    id: u64,
    journal: Journal,
}

impl JournaledDirectory {
    pub(crate) fn make(
        journal: &Journal,
        parent: &Path,
        name: String,
        owner: &str,
        label: &str,
    ) -> Result<Self, TestbedError> {
        let path = parent.join(&name);
        let id = journal.making(Step::Directory { path })?;
        let directory = match DataDirectory::create_named(parent, name, owner, label) {
            Ok(directory) => directory,
            Err(error) => {
                if matches!(
                    error,
                    TestbedError::InTheWay { .. } | TestbedError::InUse { .. }
                ) {
                    // What is there is of others.
                    journal.undone(id)?;
                }
                return Err(error);
            }
        };
        Ok(Self {
            directory: Some(directory),
            id,
            journal: journal.share(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory
            .as_ref()
            .map_or(Path::new(""), DataDirectory::path)
    }

    pub(crate) fn remove(mut self) -> Result<(), TestbedError> {
        self.remove_once()
    }

    fn remove_once(&mut self) -> Result<(), TestbedError> {
        let Some(directory) = self.directory.take() else {
            return Ok(());
        };
        directory.remove()?;
        self.journal.undone(self.id)
    }
}

impl Drop for JournaledDirectory {
    fn drop(&mut self) {
        // Nobody is left to tell; the directory stays marked, and in the journal.
        let _ = self.remove_once();
    }
}
