//! Where stores are in a test.

use crate::Store;
use std::path::PathBuf;
use tempfile::TempDir;

/// A folder with a store that is gone with it.
pub struct Site {
    pub folder: TempDir,
    pub path: PathBuf,
}

impl Site {
    /// Where a store can be made.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plimsoll.db");
        Self { folder, path }
    }

    /// The same with the store.
    pub fn with_store() -> (Self, Store) {
        let site = Self::new();
        let store = site.open();
        (site, store)
    }

    pub fn open(&self) -> Store {
        Store::open(&self.path).unwrap()
    }

    pub fn open_read_only(&self) -> Store {
        Store::open_read_only(&self.path).unwrap()
    }
}
