//! Data directories, and what must survive their removal.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::testbed::{DataDirectory, Journal, TestbedError, abandoned};
use plimsoll_testing::{assert_contains, assert_starts};
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where directories are made in a test, and the journal that they are in.
struct Site {
    folder: tempfile::TempDir,
    journal: Journal,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("state"), "a test").unwrap();
        Self { folder, journal }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    fn create(&self, run: &str) -> Result<DataDirectory, TestbedError> {
        DataDirectory::create(&self.journal, &self.data(), "e", run)
    }

    /// What is left of the directories.
    fn left(&self) -> usize {
        fs::read_dir(self.data()).map_or(0, Iterator::count)
    }

    /// Ends the program as if it were killed, and undoes what its journal holds then, as the next one does. Returns what that prints.
    fn undo(self) -> (tempfile::TempDir, Vec<String>) {
        let Self { folder, journal } = self;
        drop(journal);
        let mut notes = Vec::new();
        undo_all(&folder.path().join("state"), &mut notes);
        (folder, notes)
    }
}

/// A process that another test starts just now holds the lock of every file until it is itself.
fn undo_all(state: &Path, notes: &mut Vec<String>) {
    while fs::read_dir(state.join("journal")).unwrap().count() > 0 {
        for left in abandoned(state).unwrap() {
            left.undo(&mut |line| notes.push(line.to_owned())).unwrap();
        }
    }
}

fn write_marker(directory: &Path, version: u32, inode: u64) {
    let text = format!(
        r#"{{ "plimsoll_data": {version}, "experiment": "e1", "run": "small", "process": 1,
             "created_unix_s": 1795232640, "token": "00ff", "inode": {inode} }}"#
    );
    fs::write(directory.join(".plimsoll-data"), text).unwrap();
}

/// A directory outside with a file in it that no removal may reach.
struct Precious(tempfile::TempDir);

impl Precious {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("letter"), "dear").unwrap();
        Self(directory)
    }

    fn check(&self) {
        let letter = fs::read_to_string(self.0.path().join("letter")).unwrap();
        assert_eq!(letter, "dear");
    }
}

#[test]
fn a_directory_is_marked_before_use_and_gone_after_it() {
    let site = Site::new();
    let below = site.data().join("made/too");
    let directory = DataDirectory::create(&site.journal, &below, "1a2b", "block 0/large").unwrap();
    let path = directory.path().to_owned();
    let below = below.canonicalize().unwrap();
    assert_eq!(path, below.join("plimsoll-1a2b-block-0-large"));
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700);
    let marker = fs::read_to_string(path.join(".plimsoll-data")).unwrap();
    assert_contains(&marker, "block 0/large");
    assert_eq!(directory.marker().process, std::process::id());
    fs::create_dir_all(path.join("a/b/c")).unwrap();
    fs::write(path.join("a/b/c/file"), "x").unwrap();
    directory.remove().unwrap();
    assert!(!path.exists());
    assert!(below.exists());
}

#[test]
fn dropping_removes_too() {
    let site = Site::new();
    drop(site.create("r").unwrap());
    assert_eq!(site.left(), 0);
}

#[test]
fn removing_what_is_gone_is_no_error() {
    let site = Site::new();
    let directory = site.create("r").unwrap();
    fs::remove_dir_all(directory.path()).unwrap();
    directory.remove().unwrap();
}

#[test]
fn a_directory_in_use_is_not_made_again() {
    let site = Site::new();
    let directory = site.create("r").unwrap();
    let error = site.create("r").unwrap_err();
    assert!(matches!(error, TestbedError::InUse { .. }), "{error}");
    directory.remove().unwrap();
    site.create("r").unwrap();
}

#[test]
fn the_directory_of_a_killed_program_is_in_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let program = "testbed::directories::makes_a_directory_and_waits";
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", program, "--ignored", "--nocapture"])
        .env("FOLDER_OF_DATA", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let ready = output.lines().any(|line| line.unwrap().contains("ready"));
    assert!(ready);
    let state = folder.path().join("state");
    assert!(abandoned(&state).unwrap().is_empty(), "its owner is alive");
    child.kill().unwrap();
    child.wait().unwrap();
    let mut notes = Vec::new();
    undo_all(&state, &mut notes);
    let folder = folder.path().canonicalize().unwrap();
    let path = folder.join("data/plimsoll-e-r");
    let undone = format!("undone: the data directory {}", path.display());
    assert_eq!(notes, [undone]);
    assert!(!path.exists());
}

#[test]
#[ignore = "the program that is killed in the test above"]
fn makes_a_directory_and_waits() {
    let Some(folder) = std::env::var_os("FOLDER_OF_DATA").map(PathBuf::from) else {
        return;
    };
    let journal = Journal::open(&folder.join("state"), "a test").unwrap();
    let directory = DataDirectory::create(&journal, &folder.join("data"), "e", "r").unwrap();
    fs::write(directory.path().join("records"), "of the engine").unwrap();
    println!("\nready");
    let mut nothing = String::new();
    std::io::stdin().read_line(&mut nothing).unwrap();
}

#[test]
fn what_is_not_ours_is_refused_and_untouched() {
    let site = Site::new();
    let precious = Precious::new();
    fs::create_dir(site.data()).unwrap();
    let theirs = site.data().join("plimsoll-e-full");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("letter"), "dear").unwrap();
    fs::create_dir(site.data().join("plimsoll-e-empty")).unwrap();
    symlink(precious.0.path(), site.data().join("plimsoll-e-link")).unwrap();
    fs::write(site.data().join("plimsoll-e-file"), "x").unwrap();
    let copied = site.data().join("plimsoll-e-marked");
    fs::create_dir(&copied).unwrap();
    write_marker(&copied, 1, copied.metadata().unwrap().ino());
    for (run, reason) in [
        ("full", "has no marker of plimsoll and is not empty"),
        ("empty", "already exists"),
        ("link", "is no directory"),
        ("file", "is no directory"),
        ("marked", "was left by an earlier run whose journal is gone"),
    ] {
        let error = site.create(run).unwrap_err();
        let path = site.data().canonicalize().unwrap();
        let message = error.to_string().replace(path.to_str().unwrap(), "DIR");
        assert_eq!(
            message,
            format!(
                "DIR/plimsoll-e-{run} is in the way: it {reason}; nothing was touched, move it away or name another directory in \
                 the experiment file"
            )
        );
    }
    assert_eq!(site.left(), 5);
    assert_eq!(fs::read_to_string(theirs.join("letter")).unwrap(), "dear");
    assert_eq!(fs::read_dir(&theirs).unwrap().count(), 1);
    precious.check();
}

#[test]
fn markers_that_do_not_count() {
    let own_inode = |path: &Path| path.metadata().unwrap().ino();
    let marker = |path: &Path| path.join(".plimsoll-data");
    type Spoil<'a> = &'a dyn Fn(&Path);
    let spoilers: [(&str, Spoil<'_>); 10] = [
        ("version", &|path| write_marker(path, 2, own_inode(path))),
        ("copy", &|path| write_marker(path, 1, own_inode(path) + 1)),
        ("token", &|path| write_marker(path, 1, own_inode(path))),
        ("broken", &|path| fs::write(marker(path), "{").unwrap()),
        ("binary", &|path| fs::write(marker(path), [0xff, 0xfe]).unwrap()),
        ("unwritten", &|path| fs::write(marker(path), "").unwrap()),
        ("array", &|path| fs::write(marker(path), "[1]").unwrap()),
        ("missing", &|path| fs::remove_file(marker(path)).unwrap()),
        ("directory", &|path| {
            fs::remove_file(marker(path)).unwrap();
            fs::create_dir(marker(path)).unwrap();
        }),
        ("link", &|path| {
            fs::rename(marker(path), path.join("real")).unwrap();
            symlink("real", marker(path)).unwrap();
        }),
    ];
    for (name, spoil) in spoilers {
        let site = Site::new();
        let directory = site.create("r").unwrap();
        let path = directory.path().to_owned();
        fs::write(path.join("records"), "of the engine").unwrap();
        spoil(&path);
        let error = directory.remove().unwrap_err();
        let is_kept = matches!(error, TestbedError::NotRemoved { .. });
        assert!(is_kept, "{name}: {error}");
        // Nor by the next program, which has the journal and not what was written; a marker with another token is ours to it.
        let (_folder, notes) = site.undo();
        if name == "token" {
            assert!(!path.exists());
            continue;
        }
        assert!(notes[0].ends_with("it is left alone"), "{name}: {notes:?}");
        let records = fs::read_to_string(path.join("records")).unwrap();
        assert_eq!(records, "of the engine", "{name}");
    }
}

#[test]
fn a_directory_without_a_marker_yet_is_undone_where_nothing_is_in_it() {
    for with_marker in [false, true] {
        let site = Site::new();
        let directory = site.create("r").unwrap();
        let path = directory.path().to_owned();
        let marker = path.join(".plimsoll-data");
        if with_marker {
            fs::write(&marker, "").unwrap();
        } else {
            fs::remove_file(&marker).unwrap();
        }
        directory.remove().unwrap_err();
        site.undo();
        assert!(!path.exists());
    }
}

#[test]
fn links_inside_are_removed_and_what_they_point_to_survives() {
    let site = Site::new();
    let precious = Precious::new();
    let directory = site.create("r").unwrap();
    let deep = directory.path().join("a/b");
    fs::create_dir_all(&deep).unwrap();
    symlink(precious.0.path(), deep.join("to-directory")).unwrap();
    symlink(precious.0.path().join("letter"), deep.join("to-file")).unwrap();
    symlink("/", directory.path().join("to-root")).unwrap();
    symlink("nowhere", directory.path().join("dangling")).unwrap();
    fs::hard_link(precious.0.path().join("letter"), deep.join("hard")).unwrap();
    directory.remove().unwrap();
    precious.check();
}

#[test]
fn a_directory_that_was_replaced_is_not_removed() {
    let site = Site::new();
    let precious = Precious::new();
    let aside = site.path().join("aside");

    let directory = site.create("link").unwrap();
    let link = directory.path().to_owned();
    fs::rename(&link, &aside).unwrap();
    symlink(precious.0.path(), &link).unwrap();
    let error = directory.remove().unwrap_err();
    assert!(matches!(error, TestbedError::NotRemoved { .. }), "{error}");

    let directory = site.create("other").unwrap();
    let other = directory.path().to_owned();
    fs::remove_dir_all(&other).unwrap();
    fs::create_dir(&other).unwrap();
    fs::set_permissions(&other, Permissions::from_mode(0o700)).unwrap();
    write_marker(&other, 1, other.metadata().unwrap().ino());
    fs::set_permissions(other.join(".plimsoll-data"), Permissions::from_mode(0o600)).unwrap();
    fs::write(other.join("records"), "of the engine").unwrap();
    let error = directory.remove().unwrap_err();
    let words = "has the marker of another run";
    let is_kept = matches!(&error, TestbedError::NotRemoved { reason, .. } if *reason == words);
    assert!(is_kept, "{error}");
    let (_folder, notes) = site.undo();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert_contains(&notes[0], "is another directory now");
    assert_contains(&notes[1], "is no longer a directory");
    precious.check();
    assert!(aside.join(".plimsoll-data").exists());
    assert!(other.join("records").exists());
}

/// Runs with the file permissions of an ordinary user, who is not above them as root is.
fn as_ordinary_user(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if rustix::process::geteuid().is_root() {
                // This changes only this thread, which ends with the test.
                rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(65_534)).unwrap();
            }
            test();
        });
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    });
}

/// A place where an ordinary user works.
fn place_of_ordinary_user() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(folder.path(), Some(65_534), Some(65_534)).unwrap();
    }
    folder
}

#[test]
fn files_without_permission_are_removed_and_directories_without_are_named() {
    let folder = place_of_ordinary_user();
    as_ordinary_user(|| {
        let state = folder.path().join("state");
        let data = folder.path().join("data");
        let journal = Journal::open(&state, "a test").unwrap();
        let directory = DataDirectory::create(&journal, &data, "e", "files").unwrap();
        let secret = directory.path().join("secret");
        fs::write(&secret, "x").unwrap();
        fs::set_permissions(&secret, Permissions::from_mode(0o000)).unwrap();
        directory.remove().unwrap();

        let directory = DataDirectory::create(&journal, &data, "e", "closed").unwrap();
        let closed = directory.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::write(closed.join("x"), "x").unwrap();
        fs::write(directory.path().join("open"), "x").unwrap();
        let open = directory.path().join("open");
        fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
        let error = directory.remove().unwrap_err();
        assert!(
            matches!(&error, TestbedError::Io { what: "remove", path, .. } if *path == closed),
            "{error}"
        );
        assert!(!open.exists(), "what stays keeps nothing else");

        // It stays marked and in the journal, so that it can be removed once it is open.
        fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
        drop(journal);
        undo_all(&state, &mut Vec::new());
        assert_eq!(fs::read_dir(&data).unwrap().count(), 0);
    });
}

#[test]
fn a_parent_that_may_not_be_written_is_named() {
    let folder = place_of_ordinary_user();
    as_ordinary_user(|| {
        let journal = Journal::open(&folder.path().join("state"), "a test").unwrap();
        let closed = folder.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, Permissions::from_mode(0o555)).unwrap();
        let error = DataDirectory::create(&journal, &closed, "e", "r").unwrap_err();
        assert_starts(&error, "cannot make the data directory");
        assert_contains(&error, closed.to_str().unwrap());
    });
}
