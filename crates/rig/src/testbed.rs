//! What an arm stands on, made and undone: data directories, disks, filesystems, limits, servers.
//!
//! A [`Rig`] is everything below one run: a marked [`DataDirectory`], and where it is requested an emulated disk or a device with a
//! fresh filesystem, a control group with limits, and the server that is under test. Nothing of it is made before it is written into the [`Journal`] of the program, so
//! that whatever happens to the program, [`abandoned`] finds what it had made and undoes it: in reverse, and never without proof that it
//! is ours. A step that was written down is found again by what the kernel says of it: a process by its id and the time of its start
//! or by a mark in its environment, a loop device by the file below it, a mount by its place and its source, a group by its inode.
//!
//! ```
//! use plimsoll_record::RigSpec;
//! use plimsoll_rig::testbed::{Journal, Rig, RigOrder, abandoned};
//!
//! # use std::os::unix::fs::PermissionsExt;
//! # let passable = std::fs::Permissions::from_mode(0o711);
//! let parent = tempfile::Builder::new().permissions(passable).tempdir()?;
//! let state = tempfile::tempdir()?;
//! # let daemon = plimsoll_disk::DaemonProgram { path: "plimsoll".into(), arguments: Vec::new() };
//! let mut journal = Journal::open(state.path(), "an experiment")?;
//! let order = RigOrder {
//!     spec: &RigSpec::default(),
//!     parent: parent.path(),
//!     owner: "1a2b3c4d",
//!     label: "block 0, large cache",
//!     needs_bytes: 64 << 10,
//!     daemon: &daemon,
//!     from: None,
//! };
//! let rig = Rig::build(&order, &mut journal)?;
//! std::fs::write(rig.data_directory().join("records"), "of the engine")?;
//! rig.tear_down(&mut journal)?.remove(&mut journal)?;
//! assert!(abandoned(state.path())?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Data directories
//!
//! A [`DataDirectory`] is made fresh for each run and removed after it. A benchmark that deletes directories must never delete the
//! wrong one, so nothing is removed but what its journal names and what carries a marker, `.plimsoll-data`, which this user wrote for
//! exactly that directory. The rules for this and for all else that could harm are kept in one module, and described in `docs/security.md`:
//!
//! - No component of the way to a directory may be changed by another user. Directories are opened without following symbolic links, and
//!   everything is removed relative to the opened directory. Symbolic links inside are removed, not followed.
//! - The marker names the inode of its directory: a copy of a data directory, kept for a closer look, is nobody's to remove.
//! - Mount points, the directory itself or anything in it, are refused.
//! - The marker goes last: a removal that is cut off can be taken up again.
//!
//! The program that made a directory holds a lock on its marker and on its journal for as long as it lives.

mod abandoned;
mod bare_disk;
mod device;
#[cfg(test)]
mod directories;
mod directory;
mod emulated;
mod error;
mod filesystem;
mod ground;
mod groups;
mod journal;
mod kept;
#[cfg(test)]
mod laboratory;
mod loops;
mod mounts;
mod place;
mod privileged;
mod processes;
mod requirements;
mod rig;
mod rig_parts;
#[cfg(test)]
mod rigs;
mod server;
mod shown;
mod step;
mod tools;
mod undo;
mod user;
mod wait;

pub use abandoned::{Abandoned, abandoned};
pub use bare_disk::BareDisk;
pub use directory::DataDirectory;
pub use error::{TestbedError, Untrust};
pub use groups::GroupPaths;
pub use journal::{Client, Journal};
pub use kept::KeptData;
pub use place::{check_place, default_parent, default_state_dir, make_place, require_space};
pub(crate) use privileged::kill::end_children;
pub use privileged::marker::{Marker, is_within_data_directory, open_in_data_directory};
pub use processes::MARK_VARIABLE;
pub use requirements::what_runs_here;
pub use rig::{Rig, RigOrder, TornDown};
pub use server::{Disturb, Disturbed};
pub use shown::{ShownDisk, hide, shown_at};
pub use user::RunUser;
