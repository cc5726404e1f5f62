//! Where a run keeps its data: marked directories that are made and removed safely.
//!
//! A [`DataDirectory`] is made fresh for each run and removed after it. A benchmark that deletes directories must never delete the
//! wrong one, so before anything else a marker file, `.plimsoll-data`, is put into a new directory, and nothing is ever removed that
//! does not carry a marker which this program wrote for exactly that directory:
//!
//! - Directories are opened without following symbolic links, and everything is removed relative to the opened directory, so nothing
//!   that is renamed or replaced meanwhile can lead the removal elsewhere. Symbolic links inside are removed, not followed.
//! - The marker names the inode of its directory: a copy of a data directory, kept for a closer look, is nobody's to remove.
//! - Mount points, the directory itself or anything in it, are refused.
//! - The marker goes last: a removal that is cut off can be taken up again.
//!
//! The program that made a directory holds a lock on its marker for as long as it lives. [`leftovers`] finds the directories whose
//! owner is gone, however it went, for `plimsoll clean` and for the next start.
//!
//! ```
//! use plimsoll_testbed::{DataDirectory, leftovers, require_space};
//!
//! let parent = tempfile::tempdir()?;
//! require_space(parent.path(), 64 << 10)?;
//! let directory = DataDirectory::create(parent.path(), "1a2b3c4d", "block 0, large cache")?;
//! std::fs::write(directory.path().join("records"), "of the engine")?;
//! assert!(leftovers(parent.path())?.is_empty(), "its owner is alive");
//! directory.remove()?;
//! assert_eq!(std::fs::read_dir(parent.path())?.count(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod directory;
mod error;
mod leftovers;
mod marker;
mod place;
mod removal;

pub use directory::DataDirectory;
pub use error::TestbedError;
pub use leftovers::{Leftover, leftovers};
pub use marker::Marker;
pub use place::{default_parent, require_space};
