//! Data directories, and what must survive their removal.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use plimsoll_testbed::{DataDirectory, Leftover, TestbedError, leftovers};
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A directory as an interrupted program leaves it, with a file of its engine.
fn abandoned(parent: &Path, name: &str) -> PathBuf {
    let path = parent.join(name);
    fs::create_dir(&path).unwrap();
    write_marker(&path, 1, path.metadata().unwrap().ino());
    fs::write(path.join("records"), "of the engine").unwrap();
    path
}

fn write_marker(directory: &Path, version: u32, inode: u64) {
    let text = format!(
        r#"{{ "plimsoll_data": {version}, "experiment": "e1", "run": "small", "process": 1,
             "created_unix_s": 1795232640, "token": "00ff", "inode": {inode} }}"#
    );
    fs::write(directory.join(".plimsoll-data"), text).unwrap();
}

fn paths(leftovers: &[Leftover]) -> Vec<&Path> {
    leftovers
        .iter()
        .map(|leftover| leftover.path.as_path())
        .collect()
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
        assert_eq!(
            fs::read_to_string(self.0.path().join("letter")).unwrap(),
            "dear"
        );
    }
}

#[test]
fn a_directory_is_marked_before_use_and_gone_after_it() {
    let parent = tempfile::tempdir().unwrap();
    let below = parent.path().join("made/too");
    let directory = DataDirectory::create(&below, "1a2b", "block 0/large").unwrap();
    let path = directory.path().to_owned();
    assert_eq!(path, below.join("plimsoll-1a2b-block-0-large"));
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700);
    let marker = fs::read_to_string(path.join(".plimsoll-data")).unwrap();
    assert!(marker.contains("block 0/large"), "{marker}");
    assert_eq!(directory.marker().process, std::process::id());
    fs::create_dir_all(path.join("a/b/c")).unwrap();
    fs::write(path.join("a/b/c/file"), "x").unwrap();
    directory.remove().unwrap();
    assert!(!path.exists());
    assert!(below.exists());
}

#[test]
fn dropping_removes_too() {
    let parent = tempfile::tempdir().unwrap();
    drop(DataDirectory::create(parent.path(), "e", "r").unwrap());
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[test]
fn removing_what_is_gone_is_no_error() {
    let parent = tempfile::tempdir().unwrap();
    let directory = DataDirectory::create(parent.path(), "e", "r").unwrap();
    fs::remove_dir_all(directory.path()).unwrap();
    directory.remove().unwrap();
}

#[test]
fn a_directory_in_use_is_neither_made_again_nor_a_leftover() {
    let parent = tempfile::tempdir().unwrap();
    let directory = DataDirectory::create(parent.path(), "e", "r").unwrap();
    let error = DataDirectory::create(parent.path(), "e", "r").unwrap_err();
    assert!(matches!(error, TestbedError::InUse { .. }), "{error}");
    assert_eq!(leftovers(parent.path()).unwrap(), []);
    directory.remove().unwrap();
    DataDirectory::create(parent.path(), "e", "r").unwrap();
}

#[test]
fn what_an_interrupted_program_left_is_found_removed_and_replaced() {
    let parent = tempfile::tempdir().unwrap();
    let first = abandoned(parent.path(), "plimsoll-e-a");
    let second = abandoned(parent.path(), "plimsoll-e-b");
    fs::create_dir(parent.path().join("unmarked")).unwrap();
    let found = leftovers(parent.path()).unwrap();
    assert_eq!(paths(&found), [&first, &second]);
    assert_eq!(
        (
            found[0].marker.experiment.as_str(),
            found[0].marker.run.as_str()
        ),
        ("e1", "small")
    );
    found[0].remove().unwrap();
    assert!(!first.exists());
    found[0].remove().unwrap();

    let directory = DataDirectory::create(parent.path(), "e", "b").unwrap();
    assert_eq!(directory.path(), second);
    assert!(
        !second.join("records").exists(),
        "a run starts with an empty directory"
    );
    let error = found[1].remove().unwrap_err();
    assert!(matches!(error, TestbedError::InUse { .. }), "{error}");
    assert_eq!(leftovers(&parent.path().join("missing")).unwrap(), []);
}

#[test]
fn the_directory_of_a_killed_program_is_a_leftover() {
    let parent = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "makes_a_directory_and_waits",
            "--ignored",
            "--nocapture",
        ])
        .env("PARENT_OF_DATA", parent.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let ready = output.lines().any(|line| line.unwrap().contains("ready"));
    assert!(ready);
    assert_eq!(leftovers(parent.path()).unwrap(), []);
    child.kill().unwrap();
    child.wait().unwrap();
    let found = leftovers(parent.path()).unwrap();
    assert_eq!(found[0].marker.process, child.id());
    found[0].remove().unwrap();
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[test]
#[ignore = "the program that is killed in the test above"]
fn makes_a_directory_and_waits() {
    let Some(parent) = std::env::var_os("PARENT_OF_DATA") else {
        return;
    };
    let _directory = DataDirectory::create(Path::new(&parent), "e", "r").unwrap();
    println!("\nready");
    let mut nothing = String::new();
    std::io::stdin().read_line(&mut nothing).unwrap();
}

#[test]
fn a_directory_that_is_not_ours_is_refused_and_untouched() {
    let parent = tempfile::tempdir().unwrap();
    let theirs = parent.path().join("plimsoll-e-r");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("letter"), "dear").unwrap();
    let error = DataDirectory::create(parent.path(), "e", "r").unwrap_err();
    let message = error
        .to_string()
        .replace(parent.path().to_str().unwrap(), "DIR");
    assert_eq!(
        message,
        "DIR/plimsoll-e-r is in the way: it has no marker of plimsoll and is not empty; nothing was touched, move it away or name \
         another directory in the experiment file"
    );
    assert_eq!(leftovers(parent.path()).unwrap(), []);
    assert_eq!(fs::read_to_string(theirs.join("letter")).unwrap(), "dear");
    assert_eq!(
        fs::read_dir(&theirs).unwrap().count(),
        1,
        "not even a marker was put into it"
    );
}

#[test]
fn an_empty_directory_and_one_with_an_unwritten_marker_are_taken() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("plimsoll-e-r");
    fs::create_dir(&path).unwrap();
    drop(DataDirectory::create(parent.path(), "e", "r").unwrap());
    fs::create_dir(&path).unwrap();
    fs::write(path.join(".plimsoll-data"), "").unwrap();
    drop(DataDirectory::create(parent.path(), "e", "r").unwrap());
    assert!(!path.exists());
}

#[test]
fn a_file_or_a_link_in_the_way_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    let precious = Precious::new();
    symlink(precious.0.path(), parent.path().join("plimsoll-e-link")).unwrap();
    fs::write(parent.path().join("plimsoll-e-file"), "x").unwrap();
    for run in ["link", "file"] {
        let error = DataDirectory::create(parent.path(), "e", run).unwrap_err();
        assert!(
            matches!(
                error,
                TestbedError::InTheWay {
                    reason: "is no directory",
                    ..
                }
            ),
            "{error}"
        );
    }
    precious.check();
}

#[test]
fn markers_that_do_not_count() {
    let parent = tempfile::tempdir().unwrap();
    let own_inode = |path: &Path| path.metadata().unwrap().ino();
    let marker = |path: &Path| path.join(".plimsoll-data");
    type Spoil<'a> = &'a dyn Fn(&Path);
    let spoilers: [(&str, Spoil<'_>); 9] = [
        ("version", &|path| write_marker(path, 2, own_inode(path))),
        ("copy", &|path| write_marker(path, 1, own_inode(path) + 1)),
        ("broken", &|path| fs::write(marker(path), "{").unwrap()),
        ("binary", &|path| {
            fs::write(marker(path), [0xff, 0xfe]).unwrap()
        }),
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
        let path = abandoned(parent.path(), &format!("plimsoll-e-{name}"));
        let leftover = leftovers(parent.path()).unwrap().remove(0);
        spoil(&path);
        assert_eq!(leftovers(parent.path()).unwrap(), [], "{name}");
        let error = leftover.remove().unwrap_err();
        assert!(
            matches!(error, TestbedError::NotRemoved { .. }),
            "{name}: {error}"
        );
        let error = DataDirectory::create(parent.path(), "e", name).unwrap_err();
        assert!(
            matches!(error, TestbedError::InTheWay { .. }),
            "{name}: {error}"
        );
        assert_eq!(
            fs::read_to_string(path.join("records")).unwrap(),
            "of the engine",
            "{name}"
        );
        fs::remove_dir_all(path).unwrap();
    }
}

#[test]
fn links_inside_are_removed_and_what_they_point_to_survives() {
    let parent = tempfile::tempdir().unwrap();
    let precious = Precious::new();
    let directory = DataDirectory::create(parent.path(), "e", "r").unwrap();
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
    let parent = tempfile::tempdir().unwrap();
    let precious = Precious::new();
    let aside = parent.path().join("aside");

    let directory = DataDirectory::create(parent.path(), "e", "link").unwrap();
    fs::rename(directory.path(), &aside).unwrap();
    symlink(precious.0.path(), directory.path()).unwrap();
    let error = directory.remove().unwrap_err();
    assert!(matches!(error, TestbedError::NotRemoved { .. }), "{error}");
    precious.check();
    assert!(aside.join(".plimsoll-data").exists());

    let directory = DataDirectory::create(parent.path(), "e", "other").unwrap();
    let path = directory.path().to_owned();
    fs::remove_dir_all(&path).unwrap();
    abandoned(parent.path(), "plimsoll-e-other");
    let error = directory.remove().unwrap_err();
    assert!(
        matches!(
            error,
            TestbedError::NotRemoved {
                reason: "has the marker of another run",
                ..
            }
        ),
        "{error}"
    );
    assert!(path.join("records").exists());
}

#[test]
fn a_leftover_that_became_a_link_is_not_removed() {
    let parent = tempfile::tempdir().unwrap();
    let path = abandoned(parent.path(), "plimsoll-e-r");
    let leftover = leftovers(parent.path()).unwrap().remove(0);
    let aside = parent.path().join("aside");
    fs::rename(&path, &aside).unwrap();
    symlink(&aside, &path).unwrap();
    let error = leftover.remove().unwrap_err();
    assert!(matches!(error, TestbedError::NotRemoved { .. }), "{error}");
    assert!(aside.join("records").exists());
    assert_eq!(
        paths(&leftovers(parent.path()).unwrap()),
        [&aside],
        "found under its own name alone"
    );
}

/// Runs with the file permissions of an ordinary user, who is not above them as root is.
fn as_ordinary_user(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if rustix::process::geteuid().is_root() {
                // Of this thread alone, and it ends with the test.
                rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(65_534)).unwrap();
            }
            test();
        });
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    });
}

#[test]
fn files_without_permission_are_removed_and_directories_without_are_named() {
    let parent = tempfile::tempdir().unwrap();
    fs::set_permissions(parent.path(), Permissions::from_mode(0o777)).unwrap();
    as_ordinary_user(|| {
        let directory = DataDirectory::create(parent.path(), "e", "files").unwrap();
        let secret = directory.path().join("secret");
        fs::write(&secret, "x").unwrap();
        fs::set_permissions(&secret, Permissions::from_mode(0o000)).unwrap();
        directory.remove().unwrap();

        let directory = DataDirectory::create(parent.path(), "e", "closed").unwrap();
        let closed = directory.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::write(closed.join("x"), "x").unwrap();
        fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
        let error = directory.remove().unwrap_err();
        assert!(
            matches!(&error, TestbedError::Io { what: "remove", path, .. } if *path == closed),
            "{error}"
        );

        // It stays marked, so that it can be removed once it is open.
        let leftover = leftovers(parent.path()).unwrap().remove(0);
        fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
        leftover.remove().unwrap();
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    });
}

#[test]
fn a_parent_that_may_not_be_written_is_named() {
    let parent = tempfile::tempdir().unwrap();
    fs::set_permissions(parent.path(), Permissions::from_mode(0o555)).unwrap();
    as_ordinary_user(|| {
        let error = DataDirectory::create(parent.path(), "e", "r")
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("cannot make the data directory"),
            "{error}"
        );
        assert!(error.contains(parent.path().to_str().unwrap()), "{error}");
    });
}
