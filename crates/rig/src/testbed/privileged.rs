//! All that could harm another if it went to the wrong thing: deletions, writes, changes of owner and rights, kills, unmounts, and the words
//! for mkfs. Nothing else of this crate calls the kernel for these; a test looks for it.
//!
//! The rules, with what they guard against, are in `docs/security.md`:
//!
//! - **Places.** A path is walked from the root, one component at a time, each opened below the one before ([`HeldDirectory`]). Each
//!   component must be owned by root or by this user, and nobody else may be able to change it. From then on the open directory is used,
//!   and not its path.
//! - **Deletions.** Only a directory with our name and our marker, both owned by this user and writable for nobody else, and only where
//!   a journal of this user names it.
//! - **Files.** Made new, or not at all; read only where they are plain files of this user. No symbolic link is followed.
//! - **Kills.** A process by its id, the time of its start and the mark in its environment.
//! - **Control groups.** Only in a filesystem of control groups, under the name that the journal's token gives.
//! - **Readahead.** Only of a loop device over a file of ours, or of a device that the file allows to be erased; put back only while it is what was set.
//! - **Settings of the kernel.** Only the files that `kernel` lists, only words that they offer and numbers within bounds; put back only while they are what
//!   was set.
//! - **Page cache.** Only of files below a data directory of ours; no symbolic link is followed.
//! - **Unmounts.** Only in a directory of ours.
//! - **mkfs and mount.** Only options that are listed, with plain values (`plimsoll_record::filesystem_options`).

pub(crate) mod group;
pub(crate) mod held;
pub(crate) mod kernel;
pub(crate) mod kill;
pub(crate) mod marker;
pub(crate) mod page_cache;
pub(crate) mod readahead;
pub(crate) mod removal;
pub(crate) mod rings;
pub(crate) mod unmount;

pub(crate) use held::HeldDirectory;

#[cfg(test)]
mod tests;
