//! With which rights this program and what it starts run, and why.

use serde::Serialize;

/// A part of the program, with the rights that it runs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Right {
    /// `root`, `nobody` or `you`; `nobody` is the user of that name.
    pub user: &'static str,
    pub what: &'static str,
    pub why: &'static str,
}

/// All parts, for root or for another user.
pub fn rights(is_root: bool) -> Vec<Right> {
    let right = |user, what, why| Right { user, what, why };
    if !is_root {
        return vec![right(
            "you",
            "everything",
            "emulated disks, filesystems and most limits need root: sudo plimsoll run FILE",
        )];
    }
    vec![
        right(
            "root",
            "mkfs, mount, losetup, disk daemons",
            "emulated disks and filesystems",
        ),
        right("root", "control groups", "limits of memory and CPU"),
        right("root", "fio", "reads and writes block devices"),
        right(
            "root",
            "load generator, embedded engines, results",
            "they need no root, and run as whoever starts the program",
        ),
        right(
            "nobody",
            "servers under test",
            "they are programs of others",
        ),
    ]
}

/// Nothing that this program executes from now on gains rights by it, as `sudo` or a file with capabilities would. Kernels before 3.5 do not know
/// how, which changes nothing else.
pub fn gain_none() {
    let _ = rustix::thread::set_no_new_privs(true);
}
