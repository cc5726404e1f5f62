//! What other users of this machine have tried.

use super::HeldDirectory;
use super::group;
use super::held::new_directory_in;
use super::removal::remove_abandoned;
use crate::testbed::laboratory::{LOOPS, Tmpfs};
use crate::testbed::processes::started_ticks;
use crate::testbed::step::Undone;
use crate::testbed::step::{Making, MountedFrom, Step};
use crate::testbed::tools::Tools;
use crate::testbed::undo::undo;
use crate::testbed::{DataDirectory, Journal, TestbedError, abandoned};
use plimsoll_testing::{assert_contains, needs};
use std::fs::{self, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A user of the machine who is none of ours. No account is needed.
const ATTACKER: u32 = 4_242;

fn give_away(path: &Path) {
    chown(path, Some(ATTACKER), Some(ATTACKER)).unwrap();
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A place of ours, one in which all users can create files but not remove those of others, and something of root's that must survive.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        mode(folder.path(), 0o755);
        let machine = Self { folder };
        fs::create_dir(machine.path("var-tmp")).unwrap();
        mode(&machine.path("var-tmp"), 0o1777);
        let precious = machine.path("precious");
        fs::create_dir(&precious).unwrap();
        fs::write(precious.join("letter"), "dear").unwrap();
        mode(&precious, 0o777);
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn journal(&self) -> Journal {
        Journal::open(&self.path("state"), "a test").unwrap()
    }

    /// A directory of the attacker's.
    fn of_attacker(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        give_away(&path);
        path
    }

    fn check(&self) {
        let letter = fs::read_to_string(self.path("precious/letter")).unwrap();
        assert_eq!(letter, "dear");
        let status = self.path("precious").metadata().unwrap();
        assert_eq!((status.uid(), status.mode() & 0o7777), (0, 0o777));
    }
}

/// A marker as anybody can write it, with the right inode.
fn forge_marker(directory: &Path) -> PathBuf {
    let text = serde_json::json!({
        "plimsoll_data": 1, "experiment": "e", "run": "r", "process": 1, "created_unix_s": 1_795_232_640,
        "token": "00ff", "inode": directory.metadata().unwrap().ino(),
    });
    let marker = directory.join(".plimsoll-data");
    fs::write(&marker, text.to_string()).unwrap();
    marker
}

fn is_untrusted(outcome: &Result<impl std::fmt::Debug, TestbedError>, path: &Path) -> bool {
    matches!(outcome, Err(TestbedError::Untrusted { path: found, .. }) if found == path)
}

/// Fails unless it was left as foreign, with this reason.
#[track_caller]
fn is_foreign(undone: Result<Undone, TestbedError>, reason: &str) {
    match undone.unwrap() {
        Undone::Foreign(note) => assert_contains(note, reason),
        other => panic!("{other:?} in place of: {reason}"),
    }
}

#[test]
fn a_path_with_too_many_links_has_an_end() {
    let folder = tempfile::tempdir().unwrap();
    symlink("b", folder.path().join("a")).unwrap();
    symlink("a", folder.path().join("b")).unwrap();
    let error = HeldDirectory::make(&folder.path().join("a")).unwrap_err();
    assert_contains(&error, "Too many levels of symbolic links");
}

/// The directory is held: whatever becomes of its name, what is made is made in it.
#[test]
fn what_takes_the_place_of_a_held_directory_gets_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let journal = Journal::open(&state, "a test").unwrap();
    let parent = folder.path().join("data");
    let directory = DataDirectory::create(&journal, &parent, "e", "r").unwrap();
    let precious = folder.path().join("precious");
    fs::create_dir(&precious).unwrap();
    let before = precious.metadata().unwrap();
    fs::rename(directory.path(), folder.path().join("aside")).unwrap();
    symlink(&precious, directory.path()).unwrap();
    directory.open_to_pass().unwrap();
    let (_, run) = directory.make("run").unwrap();
    let found = fs::read_link(format!("/proc/self/fd/{}", run.as_raw_fd())).unwrap();
    let aside = folder.path().canonicalize().unwrap().join("aside/run");
    assert_eq!(found, aside);
    let after = precious.metadata().unwrap();
    assert_eq!((after.mode(), after.uid()), (before.mode(), before.uid()));
    assert_eq!(fs::read_dir(&precious).unwrap().count(), 0);
    let error = directory.remove().unwrap_err();
    assert!(matches!(error, TestbedError::NotRemoved { .. }), "{error}");
}

#[test]
fn a_name_that_is_taken_is_neither_followed_nor_written() {
    let folder = tempfile::tempdir().unwrap();
    let letter = folder.path().join("letter");
    fs::write(&letter, "dear").unwrap();
    let held = HeldDirectory::open(folder.path()).unwrap().unwrap();
    symlink(&letter, folder.path().join("link")).unwrap();
    symlink("nowhere", folder.path().join("dangling")).unwrap();
    for name in ["letter", "link", "dangling"] {
        let error = held.new_file(name).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists, "{name}");
        let error = new_directory_in(&held, name).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists, "{name}");
    }
    assert_eq!(fs::read_to_string(&letter).unwrap(), "dear");
    assert!(!folder.path().join("nowhere").exists());
}

/// The folder of the journals, with a journal in it that was forged.
fn with_journal(machine: &Machine, name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let state = machine.path(name);
    let folder = state.join("journal");
    fs::create_dir_all(&folder).unwrap();
    make(&folder.join("1-0011223344556677.ndjson"));
    state
}

#[test]
fn looking_at_journals_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let journals = state.join("journal");
    let journal = Journal::open(state, "a test").unwrap();
    let directory = DataDirectory::create(&journal, &state.join("data"), "e", "r").unwrap();
    let mut entries = fs::read_dir(&journals).unwrap();
    let path = entries.next().unwrap().unwrap().path();
    // As programs leave them that are killed: one with a line that was cut off, one with nothing in it, one without a name.
    let mut text = fs::read_to_string(&path).unwrap();
    drop((directory, journal));
    let first = text.lines().next().unwrap().to_owned() + "\n";
    text.push_str("{\"line\":\"making\",\"id\":2,\"st");
    let files = [
        ("1-0011223344556677.ndjson", text.as_str()),
        ("2-0011223344556678.ndjson", first.as_str()),
        (".0011223344556679", ""),
    ];
    for (name, text) in files {
        fs::write(journals.join(name), text).unwrap();
        mode(&journals.join(name), 0o600);
    }
    let found = abandoned(state).unwrap();
    let steps = found.iter().map(|left| left.describe().len());
    assert_eq!(steps.sum::<usize>(), 1);
    for (name, text) in files {
        let kept = fs::read_to_string(journals.join(name)).unwrap();
        assert_eq!(kept, text, "{name}");
    }
    for left in &found {
        left.undo(&mut |_| {}).unwrap();
    }
    assert_eq!(fs::read_dir(&journals).unwrap().count(), 0);
}

/// As if a journal had said so.
fn undo_step(step: Step) -> Result<Undone, TestbedError> {
    let making = Making { step, inode: None };
    undo(&making, &Tools::of("0011223344556677"), true)
}

#[test]
fn a_process_without_our_mark_is_not_killed() {
    let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
    let started_ticks_of_child = started_ticks(child.id()).unwrap();
    let undone = undo_step(Step::Process {
        process: child.id(),
        started_ticks: started_ticks_of_child,
        mark: "worker-0011223344556677".into(),
    });
    assert!(matches!(undone.unwrap(), Undone::Foreign(_)));
    assert_eq!(started_ticks(child.id()), Some(started_ticks_of_child));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_directory_that_is_no_control_group_is_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plimsoll-0011223344556677-1");
    fs::create_dir(&path).unwrap();
    let undone = undo_step(Step::Group { path: path.clone() });
    is_foreign(undone, "is in no filesystem of control groups");
    assert!(path.exists());
    assert!(group::write(&path.join("cgroup.procs"), "1").is_err());
    assert!(!path.join("cgroup.procs").exists());
    assert!(group::make(&folder.path().join("other")).is_err());
}

/// What harms is in one place: nothing else of this crate calls the kernel for it.
#[test]
fn what_harms_is_called_nowhere_else() {
    const HARMFUL: [&str; 15] = [
        "unlinkat(",
        "remove_file(",
        "remove_dir(",
        "remove_dir_all(",
        "fs::rename",
        "fs::write(",
        "File::create(",
        "File::options(",
        "create_dir",
        "chown(",
        "set_permissions(",
        "kill_process",
        "pidfd_send_signal(",
        "unmount_now(",
        "UnmountFlags",
    ];
    // The methods of what is held.
    const HELD: [&str; 1] = ["folder.remove_file("];
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/testbed");
    let mut folders = vec![sources.clone()];
    let mut looked_at = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&sources).unwrap().display().to_string();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if name.starts_with("privileged/")
                || name.ends_with("tests.rs")
                || ["laboratory.rs", "directories.rs", "rigs.rs"].contains(&name.as_str())
            {
                continue;
            }
            looked_at += 1;
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            for (number, line) in code.lines().enumerate() {
                let is_code = !line.trim_start().starts_with("//");
                let harms = is_code
                    && HARMFUL.iter().any(|word| line.contains(word))
                    && !HELD.iter().any(|word| line.contains(word));
                assert!(!harms, "{name}:{}: {line}", number + 1);
            }
        }
    }
    assert!(looked_at > 20, "{looked_at}");
}

mod slow {
    use super::*;

    #[test]
    fn a_forged_marker_removes_nothing() {
        needs!(LOOPS);
        let machine = Machine::new();
        let precious = machine.path("precious");
        let marker = forge_marker(&precious);
        // Even where a journal of ours names a directory, and even under our name.
        let named = machine.path("plimsoll-e-r");
        fs::rename(&precious, &named).unwrap();
        let marker = named.join(marker.file_name().unwrap());
        let changed = "can be changed by other users";
        for (owner, rights, reason) in [
            (0, 0o777, changed),
            (0, 0o775, changed),
            (ATTACKER, 0o700, "is owned by another user"),
        ] {
            chown(&named, Some(owner), Some(ATTACKER)).unwrap();
            mode(&named, rights);
            is_foreign(remove_abandoned(&named, None), reason);
        }
        chown(&named, Some(0), Some(0)).unwrap();
        mode(&named, 0o700);
        give_away(&marker);
        let reason = "has a marker that another user could have written";
        is_foreign(remove_abandoned(&named, None), reason);
        // And where all else is right, the journal must have the same inode.
        chown(&marker, Some(0), Some(0)).unwrap();
        mode(&marker, 0o600);
        let inode = named.metadata().unwrap().ino();
        let left = remove_abandoned(&named, Some(inode + 1));
        is_foreign(left, "is another directory now");
        let other = machine.path("other-name");
        fs::rename(&named, &other).unwrap();
        let reason = "has no name of ours";
        is_foreign(remove_abandoned(&other, None), reason);
        fs::rename(&other, &precious).unwrap();
        mode(&precious, 0o777);
        machine.check();
    }

    #[test]
    fn a_place_that_another_user_made_first_is_refused() {
        needs!(LOOPS);
        let machine = Machine::new();
        let journal = machine.journal();
        let create = |parent: &Path| DataDirectory::create(&journal, parent, "e", "r");

        // The parent of the parent, with a link to what is root's; then an own directory there.
        let squatted = machine.of_attacker("var-tmp/plimsoll");
        symlink(machine.path("precious"), squatted.join("data")).unwrap();
        assert!(is_untrusted(&create(&squatted.join("data")), &squatted));
        fs::remove_file(squatted.join("data")).unwrap();
        machine.of_attacker("var-tmp/plimsoll/data");
        assert!(is_untrusted(&create(&squatted.join("data")), &squatted));

        // A link of the attacker's in a place that is sticky.
        let link = machine.path("var-tmp/link");
        symlink(machine.path("state"), &link).unwrap();
        std::os::unix::fs::lchown(&link, Some(ATTACKER), Some(ATTACKER)).unwrap();
        assert!(is_untrusted(&create(&link), &link));

        // The sticky place itself: what is missing in it could be made first by others.
        let sticky = machine.path("var-tmp");
        assert!(is_untrusted(&create(&sticky), &sticky));
        // A group of others.
        let shared = machine.path("shared");
        fs::create_dir(&shared).unwrap();
        chown(&shared, None, Some(ATTACKER)).unwrap();
        mode(&shared, 0o770);
        assert!(is_untrusted(&create(&shared.join("data")), &shared));
        // By way of `..` as well.
        let roundabout = squatted.join("../../state");
        assert!(is_untrusted(&create(&roundabout), &squatted));

        // A place of our own in a sticky one, by a link of our own, is right.
        symlink(machine.path("var-tmp/ours"), machine.path("to-ours")).unwrap();
        fs::create_dir(machine.path("var-tmp/ours")).unwrap();
        let made = create(&machine.path("to-ours/data")).unwrap();
        let ours = machine.path("var-tmp/ours").canonicalize().unwrap();
        assert!(made.path().starts_with(ours));
        made.remove().unwrap();
        machine.check();
    }

    #[test]
    fn a_journal_that_is_no_plain_file_of_ours_is_not_read() {
        needs!(LOOPS);
        let machine = Machine::new();
        let target = machine.path("precious/target");
        fs::write(&target, "unfinished").unwrap();
        type Make<'a> = &'a dyn Fn(&Path);
        let forms: [(&str, Make<'_>); 5] = [
            ("is a symbolic link", &|path| symlink(&target, path).unwrap()),
            // Who opens it for reading alone waits forever.
            ("is no file", &|path| {
                let mode = rustix::fs::Mode::RUSR;
                rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).unwrap();
            }),
            ("is owned by another user", &|path| {
                fs::write(path, "").unwrap();
                give_away(path);
            }),
            ("can be changed by other users", &|path| {
                fs::write(path, "").unwrap();
                mode(path, 0o666);
            }),
            ("has a second name", &|path| {
                fs::hard_link(&target, path).unwrap();
            }),
        ];
        for (number, (reason, make)) in forms.into_iter().enumerate() {
            let state = with_journal(&machine, &format!("state-{number}"), make);
            let error = abandoned(&state).unwrap_err();
            assert!(
                matches!(&error, TestbedError::InTheWay { reason: found, .. } if *found == reason),
                "{reason}: {error}"
            );
        }
        assert_eq!(fs::read_to_string(&target).unwrap(), "unfinished");
    }

    #[test]
    fn journals_in_a_place_of_another_user_are_not_read() {
        needs!(LOOPS);
        let machine = Machine::new();
        let home = machine.of_attacker("home");
        let state = with_journal(&machine, "home/state", |path| fs::write(path, "").unwrap());
        assert!(is_untrusted(&abandoned(&state), &home));
        assert!(is_untrusted(&Journal::open(&state, "a test"), &home));
    }

    #[test]
    fn a_mount_outside_of_our_directories_is_not_taken_away() {
        needs!(LOOPS);
        let machine = Machine::new();
        let theirs = Tmpfs::new(&machine.path("theirs"));
        fs::write(theirs.0.join("letter"), "dear").unwrap();
        let undone = undo_step(Step::Mount {
            mount_point: theirs.0.clone(),
            from: MountedFrom::Device("plimsoll-test".into()),
        });
        assert!(matches!(undone, Err(TestbedError::NotUnmounted { .. })), "{undone:?}");
        assert_eq!(fs::read_to_string(theirs.0.join("letter")).unwrap(), "dear");
    }
}
