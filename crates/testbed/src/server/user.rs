//! The user under whom servers run, so that none of them is root.

use crate::TestbedError;
use crate::privileged::held::hand_over;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

const NAME: &str = "nobody";
/// Its number where the system does not list it.
const USUAL_NUMBER: u32 = 65_534;
/// May be passed through by others.
const PASSABLE: u32 = 0o001;

/// A user without rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    pub name: String,
    user: u32,
    group: u32,
}

impl User {
    /// The user under whom servers run; `None` where this program is no root, and they run as it does.
    pub(crate) fn for_servers() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        Some(of_accounts(&accounts))
    }

    /// Makes a command run as this user, without further groups.
    pub(super) fn take_on(&self, command: &mut Command) {
        command.uid(self.user).gid(self.group);
    }

    /// Gives an open directory to this user.
    pub(super) fn own(&self, directory: impl AsFd, path: &Path) -> Result<(), TestbedError> {
        hand_over(directory, self.user, self.group)
            .map_err(|error| TestbedError::io("hand over", path, error))
    }

    /// Checks that this user can pass through a directory of ours and all above it.
    pub(super) fn require_way(&self, home: &Path, server: &str) -> Result<(), TestbedError> {
        match self.barred_at(home) {
            None => Ok(()),
            Some(barrier) => Err(TestbedError::ServerBarred {
                server: server.to_owned(),
                user: self.name.clone(),
                path: barrier.to_owned(),
            }),
        }
    }

    /// What is highest on the way to a directory or program that this user may not pass through, or not run.
    pub(crate) fn barred_at<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let mut ancestors: Vec<&Path> = path.ancestors().collect();
        ancestors.reverse();
        ancestors.into_iter().find(|ancestor| {
            ancestor
                .metadata()
                .is_ok_and(|metadata| metadata.mode() & PASSABLE == 0)
        })
    }
}

fn of_accounts(accounts: &str) -> User {
    let found = accounts.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        if fields.first() != Some(&NAME) {
            return None;
        }
        Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
    });
    let (user, group) = found.unwrap_or((USUAL_NUMBER, USUAL_NUMBER));
    User {
        name: NAME.to_owned(),
        user,
        group,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn nobody_is_found_among_the_accounts() {
        let accounts = "root:x:0:0::/root:/bin/sh\nnobody:x:99:98:no:/:/bin/false\n";
        let user = of_accounts(accounts);
        assert_eq!((user.user, user.group), (99, 98));
        let user = of_accounts("root:x:0:0::/root:/bin/sh\n");
        assert_eq!((user.user, user.group), (USUAL_NUMBER, USUAL_NUMBER));
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
        let user = of_accounts("");
        assert_eq!(user.barred_at(&inside), None);
        mode(&closed, 0o700);
        assert_eq!(user.barred_at(&inside), Some(closed.as_path()));
    }
}
