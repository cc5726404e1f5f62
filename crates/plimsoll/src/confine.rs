//! Takes away from this process what it does not need, for good: so that a mistake in it, found by somebody whom it answers or in a file of
//! theirs, reaches no further than what it was to do.
//!
//! The kernel does it (Landlock). Files are reached below folders that are named and nowhere else, nothing is executed, no connection is made
//! and none but those of sockets that listen already is taken, no other process is signalled, and nothing that is executed gains rights. What was
//! opened before stays open.
//!
//! Only the calling thread and those that it starts are confined, so this comes before any other thread.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, make_bitflags, path_beneath_rules,
};
use std::path::PathBuf;

/// What was tested. Of what a kernel does not know yet it enforces the rest.
const KNOWN: ABI = ABI::V7;

/// The folders below which a process may reach files. Those that are not there are left out.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    pub read: Vec<PathBuf>,
    /// Plain files are read, written, made and removed.
    pub write: Vec<PathBuf>,
}

/// How far the kernel went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confined {
    Wholly,
    /// An older kernel, which enforces a part.
    Partly,
    /// It does not know Landlock, or has it switched off. Rights can still not be gained.
    Not,
}

/// Confines this thread and all that it starts from now on.
pub fn confine(reach: &Reach) -> Result<Confined, RulesetError> {
    let read = make_bitflags!(AccessFs::{ReadFile | ReadDir});
    let write: BitFlags<AccessFs> =
        read | make_bitflags!(AccessFs::{WriteFile | Truncate | MakeReg | RemoveFile});
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(KNOWN))?
        .handle_access(AccessNet::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?
        .create()?
        .add_rules(path_beneath_rules(&reach.read, read))?
        .add_rules(path_beneath_rules(&reach.write, write))?
        .restrict_self()?;
    Ok(match (status.ruleset, status.landlock) {
        (RulesetStatus::FullyEnforced, _) => Confined::Wholly,
        (RulesetStatus::PartiallyEnforced, LandlockStatus::Available { .. }) => Confined::Partly,
        _ => Confined::Not,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::ErrorKind;
    use std::net::{TcpListener, TcpStream};
    use std::process::Command;

    /// What an attacker who runs code in a process would do first.
    #[test]
    fn a_thread_reaches_what_it_was_given_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("file"), "secret").unwrap();
            path
        };
        let (read, write, other) = (place("read"), place("write"), place("other"));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let reach = Reach {
            read: vec![read.clone(), folder.path().join("none")],
            write: vec![write.clone()],
        };
        let confined = std::thread::spawn(move || {
            let confined = confine(&reach).unwrap();
            if confined != Confined::Wholly {
                let test = "a_thread_reaches_what_it_was_given_and_nothing_else";
                plimsoll_testing::skip(test, &format!("the kernel confines {confined:?}"));
                return;
            }
            let is_denied = |tried: Result<(), std::io::Error>| {
                tried.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
            };
            assert_eq!(fs::read_to_string(read.join("file")).unwrap(), "secret");
            assert!(is_denied(fs::write(read.join("file"), "changed")));
            assert!(is_denied(fs::write(read.join("new"), "made")));
            fs::write(write.join("file"), "changed").unwrap();
            fs::write(write.join("new"), "made").unwrap();
            fs::remove_file(write.join("new")).unwrap();
            assert!(is_denied(fs::create_dir(write.join("folder"))));
            assert!(is_denied(std::os::unix::fs::symlink(other.join("file"), write.join("link"))));
            assert!(is_denied(fs::read(other.join("file")).map(drop)));
            assert!(is_denied(fs::read("/etc/passwd").map(drop)));
            assert!(is_denied(fs::write(other.join("file"), "changed")));
            assert!(is_denied(fs::remove_file(other.join("file"))));
            assert!(is_denied(Command::new("/bin/true").spawn().map(drop)));
            assert!(is_denied(TcpStream::connect(address).map(drop)));
            assert!(is_denied(TcpListener::bind("127.0.0.1:0").map(drop)));
        });
        confined.join().unwrap();
        drop(listener);
    }
}
