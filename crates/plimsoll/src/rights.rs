//! With which rights this program and what it starts run, and why.

use crate::arguments::{Command as Request, Remote};
use crate::rig;
use anyhow::Context;
use nix::unistd::{Gid, Uid, User, initgroups, setgid, setuid};
use plimsoll_rig::RunUser;
use serde::Serialize;
use std::ffi::CString;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Who called `sudo`, for the advice where something is refused to that user.
const GAVE_UP: &str = "PLIMSOLL_GAVE_UP_ROOT_FOR";

/// A part of the program, with the rights that it runs with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Right {
    /// A user's name, or `you`.
    pub user: String,
    pub what: &'static str,
    pub why: &'static str,
}

/// All parts, as they run when they are started as this command was.
pub fn rights() -> Vec<Right> {
    let right = |user: &str, what, why| Right { user: user.to_owned(), what, why };
    let invoker = std::env::var(GAVE_UP).ok();
    let (you, others) = match (&invoker, RunUser::here()) {
        (Some(invoker), _) => (invoker.as_str(), invoker.clone()),
        (None, Some(user)) => ("root", user.name),
        (None, None) => {
            return vec![right(
                "you",
                "everything",
                "emulated disks, filesystems and most limits need root: sudo plimsoll run FILE",
            )];
        }
    };
    vec![
        right("root", "plimsoll rig: mkfs, mount, losetup", "emulated disks and filesystems"),
        right("root", "plimsoll rig: control groups", "limits of memory and CPU"),
        right("root", "plimsoll rig: fio", "reads and writes block devices"),
        right("root", "plimsoll rig: clean-up", "undoes what was made as root"),
        right(&others, "load generator, embedded engines", "they need no root"),
        right(&others, "servers under test", "they are programs of others"),
        right(
            you,
            "files, stores, results, pages, serve",
            "they belong to who started the program",
        ),
    ]
}

/// Nothing that this program executes from now on gains rights by it, as `sudo` or a file with capabilities would. Kernels before 3.5 do not know
/// how, which changes nothing else.
pub fn gain_none() {
    let _ = rustix::thread::set_no_new_privs(true);
}

/// Where `sudo` started this program, becomes the user who called it before anything is read, and leaves what needs root to a process of its
/// own, which is started before where the command needs it. Returns where there was nothing to give up.
pub fn give_up_root(request: &Request) -> anyhow::Result<()> {
    let needs_rig = match request {
        Request::Rig { .. }
        | Request::DiskDaemon
        | Request::Worker
        | Request::Remote(Remote::Agent(_)) => return Ok(()),
        Request::Run(_)
        | Request::Gate(_)
        | Request::Plan(_)
        | Request::Init(_)
        | Request::Check(_)
        | Request::Disk(_)
        | Request::Clean(_) => true,
        _ => false,
    };
    let Some(user) = RunUser::here().filter(|user| user.is_invoker) else {
        return Ok(());
    };
    let (number, group) = (Uid::from_raw(user.user), Gid::from_raw(user.group));
    let home = User::from_uid(number).ok().flatten().map(|user| user.dir);
    let mut words = std::env::args_os();
    // The file of the program may be where this user has no way to.
    let mut again = Command::new("/proc/self/exe");
    again.arg0(words.next().unwrap_or_else(|| "plimsoll".into()));
    again.args(words);
    again.env(GAVE_UP, &user.name).env("USER", &user.name);
    again.env("LOGNAME", &user.name).env_remove(rig::SOCKET_VARIABLE);
    if let Some(home) = home {
        again.env("HOME", home);
    }
    let socket = needs_rig.then(rig::start).transpose()?;
    if let Some(socket) = &socket {
        rustix::io::fcntl_setfd(socket, rustix::io::FdFlags::empty())
            .context("cannot keep the socket of plimsoll rig")?;
        again.env(rig::SOCKET_VARIABLE, socket.as_raw_fd().to_string());
    }
    let failed = || format!("cannot become the user {}, who called sudo", user.name);
    let name = CString::new(user.name.as_str()).with_context(failed)?;
    initgroups(&name, group).with_context(failed)?;
    setgid(group).with_context(failed)?;
    setuid(number).with_context(failed)?;
    Err(again.exec()).with_context(failed)
}

/// Whether this is the part of `sudo plimsoll` that is not root.
pub fn is_for_another() -> bool {
    std::env::var_os(GAVE_UP).is_some()
}

/// What to do where a file is refused to who called `sudo`, and would not be to root.
pub fn advice(error: &anyhow::Error) -> Option<String> {
    let user = std::env::var(GAVE_UP).ok()?;
    let is_refused = error.chain().any(|cause| {
        let cause = cause.downcast_ref::<std::io::Error>();
        cause.is_some_and(|cause| cause.kind() == ErrorKind::PermissionDenied)
    });
    is_refused.then(|| {
        format!(
            "plimsoll reads and writes files as {user}, who called sudo, and not as root: give {user} the right, or start it from a shell of root with SUDO_UID unset"
        )
    })
}
