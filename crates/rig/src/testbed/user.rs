//! The user under whom workers and servers run, so that none of them is root.

use crate::testbed::TestbedError;
use crate::testbed::privileged::held::{hand_over, hand_over_entry};
use nix::unistd::{Uid, User};
use rustix::thread::{CapabilitySet, capabilities};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Set by `sudo` to who called it.
const INVOKER: &str = "SUDO_UID";
const NAME: &str = "nobody";
/// Its number where the system does not list it.
const USUAL_NUMBER: u32 = 65_534;
/// May be passed through by others.
const PASSABLE: u32 = 0o001;

/// The user under whom workers and servers run if this program is root: the caller of `sudo`, or otherwise `nobody`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunUser {
    pub name: String,
    pub user: u32,
    /// The number of its group.
    pub group: u32,
    /// Whether it is who called `sudo`.
    pub is_invoker: bool,
}

impl RunUser {
    /// The user; `None` where this program is no root, or one that has no power over other users, and all runs as it does: that of a namespace without
    /// them, or of a container with the usual capabilities, which could start processes of another user and not see whether they are its own.
    pub fn here() -> Option<Self> {
        if !rustix::process::geteuid().is_root() || !has_power_over_others() {
            return None;
        }
        let user = invoker().unwrap_or_else(|| Self::of(User::from_name(NAME).ok().flatten()));
        let maps = [("/proc/self/uid_map", user.user), ("/proc/self/gid_map", user.group)];
        let is_known = maps.iter().all(|(map, number)| {
            // Kernels without namespaces have no such file.
            std::fs::read_to_string(map).map_or(true, |map| has(&map, *number))
        });
        is_known.then_some(user)
    }

    fn of(nobody: Option<User>) -> Self {
        let (user, group) = nobody.map_or((USUAL_NUMBER, USUAL_NUMBER), |nobody| {
            (nobody.uid.as_raw(), nobody.gid.as_raw())
        });
        Self { name: NAME.to_owned(), user, group, is_invoker: false }
    }

    /// Makes a command run as this user, without further groups.
    pub fn take_on(&self, command: &mut Command) {
        command.uid(self.user).gid(self.group);
    }

    /// Gives an open directory to this user.
    pub(crate) fn own(&self, directory: impl AsFd, path: &Path) -> Result<(), TestbedError> {
        hand_over(directory, self.user, self.group)
            .map_err(|error| TestbedError::io("hand over", path, error))
    }

    /// Gives what has this name in a directory of ours to this user. What is not there is passed over.
    pub(crate) fn own_entry(
        &self,
        directory: impl AsFd,
        name: &str,
        path: &Path,
    ) -> Result<(), TestbedError> {
        match hand_over_entry(directory, name, self.user, self.group) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(TestbedError::io("hand over", path, error))
            }
            _ => Ok(()),
        }
    }

    /// Checks that this user can pass through a directory of ours and all above it.
    pub(crate) fn require_way(&self, home: &Path) -> Result<(), TestbedError> {
        match self.barred_at(home) {
            None => Ok(()),
            Some(barrier) => {
                Err(TestbedError::Barred { user: self.name.clone(), path: barrier.to_owned() })
            }
        }
    }

    /// What is highest on the way to a directory or program that this user may not pass through, or not run.
    pub(crate) fn barred_at<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let mut ancestors: Vec<&Path> = path.ancestors().collect();
        ancestors.reverse();
        ancestors.into_iter().find(|ancestor| {
            ancestor.metadata().is_ok_and(|metadata| metadata.mode() & PASSABLE == 0)
        })
    }
}

/// Whether a user namespace has a number: user_namespaces(7), lines of the first number inside, the first outside, and how many.
fn has(map: &str, number: u32) -> bool {
    map.lines().any(|line| {
        let fields: Vec<u64> =
            line.split_ascii_whitespace().filter_map(|field| field.parse().ok()).collect();
        let number = u64::from(number);
        matches!(fields[..], [inside, _, count] if (inside..inside + count).contains(&number))
    })
}

/// Whether processes of other users can be started, seen through and ended, and files be given to those users.
fn has_power_over_others() -> bool {
    let needed = CapabilitySet::CHOWN
        | CapabilitySet::DAC_OVERRIDE
        | CapabilitySet::SETUID
        | CapabilitySet::SETGID
        | CapabilitySet::KILL
        | CapabilitySet::SYS_PTRACE;
    // A kernel that does not tell has always had all of them.
    capabilities(None).map_or(true, |sets| sets.effective.contains(needed))
}

/// The caller of `sudo`, unless that was root.
fn invoker() -> Option<RunUser> {
    let number: u32 = std::env::var(INVOKER).ok()?.parse().ok()?;
    let user = User::from_uid(Uid::from_raw(number)).ok()??;
    (!user.uid.is_root()).then(|| RunUser {
        name: user.name,
        user: number,
        group: user.gid.as_raw(),
        is_invoker: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn where_there_is_no_nobody_its_usual_number_serves() {
        let user = RunUser::of(None);
        assert_eq!((user.user, user.group), (USUAL_NUMBER, USUAL_NUMBER));
        let here = RunUser::of(User::from_name(NAME).unwrap());
        assert_ne!(here.user, 0);
    }

    #[test]
    fn the_numbers_of_a_namespace_are_known() {
        let whole = "         0          0 4294967295\n";
        assert!(has(whole, 0) && has(whole, 65_534));
        let alone = "         0       1000          1\n";
        assert!(has(alone, 0) && !has(alone, 1) && !has(alone, 65_534));
        let several = "0 1000 1\n1 100000 65536\n";
        assert!(has(several, 65_534) && !has(several, 70_000));
        assert!(!has("", 0) && !has("a b c", 0));
    }

    #[test]
    fn a_closed_directory_on_the_way_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let closed = folder.path().join("closed");
        let inside = closed.join("open");
        std::fs::create_dir_all(&inside).unwrap();
        let mode = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        mode(folder.path(), 0o755);
        mode(&closed, 0o711);
        mode(&inside, 0o711);
        let user = RunUser::of(None);
        assert_eq!(user.barred_at(&inside), None);
        mode(&closed, 0o700);
        assert_eq!(user.barred_at(&inside), Some(closed.as_path()));
    }
}
