//! What another user of the machine may have put beside a store, and may do to it.

use crate::it::sample;
use crate::{Filter, Store, StoreError};
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use nix::unistd::geteuid;
use plimsoll_testing::{Need, assert_contains, has, this_test};
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

const SOMEBODY: u32 = 65_534;

/// Does something as another user, on a thread of its own: only the thread becomes that user. Nothing where this process is not root.
pub fn as_somebody_else<T: Send>(what: impl FnOnce() -> T + Send) -> Option<T> {
    if !has(&this_test(), &[Need::Root]) {
        return None;
    }
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let (user, group) = (Uid::from_raw(SOMEBODY), Gid::from_raw(SOMEBODY));
            set_thread_groups(&[]).unwrap();
            set_thread_res_gid(group, group, group).unwrap();
            set_thread_res_uid(user, user, user).unwrap();
            what()
        });
        match thread.join() {
            Ok(done) => Some(done),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// A folder that everybody can look into.
fn open_folder() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
    directory
}

/// A lock of all bytes, as anybody can take it who may read the file.
fn lock_all(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    let lock = libc::flock {
        l_type: i16::try_from(libc::F_RDLCK).unwrap(),
        l_whence: 0,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    fcntl(&file, FcntlArg::F_OFD_SETLK(&lock))?;
    Ok(file)
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o777
}

#[test]
fn nobody_else_can_stop_a_run_or_make_a_finished_one_look_running() {
    let directory = open_folder();
    let path = directory.path().join("plimsoll.db");
    let lock = directory.path().join("plimsoll.db-lock");
    let mut store = Store::open(&path).unwrap();
    store.import(sample::whole_experiment("one")).unwrap();
    let held = as_somebody_else(|| lock_all(&lock));
    if let Some(held) = &held {
        assert!(held.is_err(), "it has the lock");
    }
    assert!(!store.list(&Filter::default()).unwrap()[0].running);
    Store::open(&path).unwrap();
}

#[test]
fn everything_is_for_its_owner_alone_and_what_was_not_becomes_so() {
    let directory = open_folder();
    let path = directory.path().join("deeper/plimsoll.db");
    let mut store = Store::open(&path).unwrap();
    store.begin(&sample::experiment("one")).unwrap();
    let files = ["", "-lock", "-wal", "-shm"].map(|end| {
        let mut file = path.clone().into_os_string();
        file.push(end);
        std::path::PathBuf::from(file)
    });
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for file in &files {
        assert_eq!(mode(file), 0o600, "{}", file.display());
        // As earlier versions made them.
        fs::set_permissions(file, Permissions::from_mode(0o644)).unwrap();
    }
    let _second = Store::open(&path).unwrap();
    for file in &files {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
}

#[test]
fn a_link_in_the_place_of_a_file_is_not_followed() {
    for end in ["", "-lock", "-wal", "-shm", "-journal"] {
        let directory = open_folder();
        let elsewhere = directory.path().join("elsewhere");
        let folder = directory.path().join("store");
        fs::create_dir(&elsewhere).unwrap();
        fs::create_dir(&folder).unwrap();
        let path = folder.join("plimsoll.db");
        if !end.is_empty() {
            drop(Store::open(&path).unwrap());
        }
        let link = folder.join(format!("plimsoll.db{end}"));
        let _ = fs::remove_file(&link);
        symlink(elsewhere.join("new"), &link).unwrap();
        let refused = Store::open(&path).unwrap_err().to_string();
        assert!(refused.contains("a symbolic link"), "{end}: {refused}");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "{end}");
    }
}

#[test]
fn a_lock_file_that_is_no_file_of_ours_is_refused() {
    let directory = open_folder();
    let path = directory.path().join("plimsoll.db");
    let lock = directory.path().join("plimsoll.db-lock");
    nix::unistd::mkfifo(&lock, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let refused = Store::open(&path).unwrap_err().to_string();
    assert_contains(&refused, "is a FIFO, not a regular file");
    fs::remove_file(&lock).unwrap();
    if geteuid().is_root() {
        fs::write(&lock, "").unwrap();
        chown(&lock, Some(SOMEBODY), None).unwrap();
        let refused = Store::open(&path).unwrap_err().to_string();
        assert_contains(&refused, "plimsoll.db-lock belongs to user 65534");
    }
}

#[test]
fn root_reads_the_store_of_a_user_and_writes_nothing_there() {
    let directory = open_folder();
    let folder = directory.path().join("home");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("plimsoll.db");
    if geteuid().is_root() {
        chown(&folder, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
    }
    let made = as_somebody_else(|| {
        let mut store = Store::open(&path).unwrap();
        store.import(sample::whole_experiment("one")).unwrap();
    });
    if made.is_none() {
        return;
    }
    let names = || {
        let files = fs::read_dir(&folder).unwrap();
        let mut names: Vec<_> = files.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let refused = Store::open(&path).unwrap_err().to_string();
    let words = "home belongs to user 65534: run plimsoll as that user";
    assert_contains(&refused, words);
    let reader = Store::open_read_only(&path).unwrap();
    assert_eq!(reader.load("one").unwrap().id, "one");
    assert_eq!(names(), before);
    // While the user writes, what is in the log alone cannot be read without writing.
    let _writing = as_somebody_else(|| {
        let mut store = Store::open(&path).unwrap();
        store.begin(&sample::experiment("two")).unwrap();
        store
    });
    let before = names();
    let refused = Store::open_read_only(&path).unwrap_err();
    assert!(matches!(refused, StoreError::Unmerged { .. }), "{refused}");
    assert_eq!(names(), before);
}
