//! Files where somebody else may have had a hand: read without waiting and without end, written without being led elsewhere.
//!
//! **Reading** ([`open`], [`read`], [`read_text`]): what a user, a record or a server names. Only regular files are opened, and files that are
//! read whole have a limit. A FIFO that nobody writes into, or a device without an end, is an error at once.
//!
//! **Writing** ([`OwnFolder`]): what this program places by itself, such as the store and its pages. Files are made for their owner alone, in a
//! folder that is held open, and no symbolic link is followed. For root, nobody else may be able to change any folder on the way there.
//!
//! ```
//! use plimsoll_record::files::{OwnFolder, read_text};
//!
//! # let place = tempfile::tempdir()?;
//! # let place = place.path();
//! let folder = OwnFolder::make(&place.join("pages"))?;
//! folder.write_whole("result.html".as_ref(), b"better")?;
//! assert_eq!(read_text(&folder.path().join("result.html"), 1 << 20)?, "better");
//! # Ok::<(), std::io::Error>(())
//! ```

mod foreign;
mod line;
mod own;
mod shared;
mod walk;
mod whole;

pub use foreign::{open, read, read_text};
pub use line::read_line_within;
pub use own::OwnFolder;
pub use shared::SharedFolder;
pub use walk::{is_open_to_others, walk};
pub use whole::{write_whole, write_whole_by};

use rustix::fs::FileType;
use std::io;
use std::path::PathBuf;

/// Why a path is not used although the operating system would allow it. Found in [`io::Error::get_ref`].
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Something to be read that could keep the reader waiting.
    #[error("it is {kind}, not a regular file{advice}")]
    Unreadable {
        /// As in "it is …".
        kind: &'static str,
        /// What to do instead, if there is something; begins with a colon.
        advice: &'static str,
    },
    /// The file is longer than the limit.
    #[error("it has more than {} MiB", most >> 20)]
    TooLarge {
        /// The limit of its length, in bytes.
        most: u64,
    },
    /// Something else than a regular file where one of our own belongs.
    #[error("{} is {kind}, not a regular file", path.display())]
    NotAFile {
        /// Path of what is no regular file.
        path: PathBuf,
        /// What it is, as in "is a directory".
        kind: &'static str,
    },
    /// A file or folder of another user, where ours is needed.
    #[error("{} belongs to user {owner}: run plimsoll as that user", path.display())]
    Foreign {
        /// Path of what belongs to another user.
        path: PathBuf,
        /// Number of the user who owns it.
        owner: u32,
    },
    /// A folder in which others can put something else in the place of what is ours.
    #[error("nothing is written below {}, because other users can write there", path.display())]
    Exposed {
        /// Path of the folder that others can change.
        path: PathBuf,
        /// Others can make files in it and not take away ours, as in `/tmp`.
        is_sticky: bool,
    },
    /// A file with further names, which may be those of another file.
    #[error("{} has several names (hard links)", path.display())]
    SeveralNames {
        /// Path of what another user may replace.
        path: PathBuf,
    },
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        Self::other(refusal)
    }
}

fn kind(kind: FileType) -> &'static str {
    match kind {
        FileType::Symlink => "a symbolic link",
        FileType::Directory => "a directory",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice => "a character device",
        FileType::BlockDevice => "a block device",
        _ => "something unknown",
    }
}
