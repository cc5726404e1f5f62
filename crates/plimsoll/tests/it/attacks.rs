//! What other users of a machine, and authors of files, have tried on a program that runs as root (`docs/security.md`). Each of these
//! worked once.

use crate::laboratory::{Laboratory, Said, wait_until};
use plimsoll_testing::{Need, assert_contains, needs};
use rustix::process::Signal;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// A user of the machine. No account is needed.
const ATTACKER: u32 = 4_242;

const EXPERIMENT: &str = "
plimsoll: 1
name: attacked
workload: {records: 100, preset: c}
arms: {one: {engine: wiredtiger, cache_size: 10MiB}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 20ms, blocks: 1}
";

/// A folder that anybody may write to, with something in it of root's that must survive.
fn precious(laboratory: &Laboratory) -> PathBuf {
    let folder = laboratory.path("precious");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("letter"), "dear").unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
    folder
}

fn is_untouched(precious: &Path) -> bool {
    let status = precious.metadata().unwrap();
    let letter = fs::read_to_string(precious.join("letter"));
    letter.is_ok_and(|letter| letter == "dear")
        && (status.uid(), status.mode() & 0o777) == (0, 0o777)
}

/// A directory that the attacker made.
fn squat(path: &Path) {
    fs::create_dir_all(path).unwrap();
    chown(path, Some(ATTACKER), Some(ATTACKER)).unwrap();
}

/// A marker as anybody can write it, for exactly this directory.
fn forge_marker(directory: &Path) {
    let inode = directory.metadata().unwrap().ino();
    let text = format!(
        r#"{{"plimsoll_data": 1, "experiment": "e", "run": "r", "process": 1, "created_unix_s": 1795232640, "token": "00ff", "inode": {inode}}}"#
    );
    fs::write(directory.join(".plimsoll-data"), text).unwrap();
}

/// A place for data that the attacker made first, and led to what is root's.
fn squat_data_place(laboratory: &Laboratory, precious: &Path) -> PathBuf {
    let link = laboratory.data_parent();
    squat(link.parent().unwrap());
    symlink(precious.parent().unwrap(), &link).unwrap();
    link
}

#[test]
fn a_forged_marker_in_a_squatted_place_removes_nothing() {
    needs!([Need::Root]);
    let laboratory = Laboratory::new();
    let precious = precious(&laboratory);
    forge_marker(&precious);
    let link = squat_data_place(&laboratory, &precious);
    laboratory.run(&["clean"]);
    assert!(is_untouched(&precious));
    let said = laboratory.experiment(EXPERIMENT);
    assert!(is_untouched(&precious));
    refused_place(&said);
    fs::remove_file(link).unwrap();
}

fn refused_place(said: &Said) {
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_contains(&said.err, &format!("belongs to user {ATTACKER}"));
}

#[test]
fn a_directory_of_another_user_is_refused_before_anything_runs() {
    needs!([Need::Root]);
    let laboratory = Laboratory::new();
    squat(&laboratory.path("theirs"));
    let text = EXPERIMENT.replace("10MiB}", "10MiB, directory: theirs/data}");
    let said = laboratory.experiment(&text);
    refused_place(&said);
    assert_eq!(fs::read_dir(laboratory.path("theirs")).unwrap().count(), 0);
}

/// The value of a line of `/proc/PID/status`.
fn status_of(process: u32, name: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim_start_matches(':').trim().to_owned())
}

#[test]
fn check_lists_what_runs_with_which_rights() {
    let laboratory = Laboratory::new();
    let said = laboratory.run(&["check"]);
    let (_, rights) = said.out.split_once("What runs with which rights").unwrap();
    let is_root = rustix::process::geteuid().is_root();
    let root = "root    plimsoll rig: mkfs, mount";
    let expected = match is_root {
        true => [root, "nobody  servers under test"],
        false => ["you  everything", "sudo plimsoll run"],
    };
    for line in expected {
        assert_contains(rights, line);
    }
    let said = laboratory.run(&["check", "--json"]);
    let all: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let expected = if is_root { 7 } else { 1 };
    assert_eq!(all["rights"].as_array().unwrap().len(), expected);
}

/// A process that only waits, ended with the test.
struct Waiting(Child);

impl Waiting {
    fn start() -> Self {
        Self(Command::new("sleep").arg("1000").spawn().unwrap())
    }

    fn started_ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        let ticks = fields.split_ascii_whitespace().nth(19);
        ticks.unwrap().parse().unwrap()
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A journal as anybody can write it, in the form of this version or of the one before.
fn forged_journal(version: u32, steps: &[String]) -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let mut text = format!(
        r#"{{"line":"opened","plimsoll_journal":{version},"label":"e","process":1,"started_ticks":1,"boot":"{}","token":"0011223344556677","opened_unix_s":1}}"#,
        boot.trim()
    );
    for (number, step) in steps.iter().enumerate() {
        let id = number + 1;
        text.push_str(&format!("\n{{\"line\":\"making\",\"id\":{id},\"step\":{step}}}"));
    }
    text + "\n"
}

/// The folder of the journals, where root has the home of another.
fn journals(laboratory: &Laboratory) -> PathBuf {
    let folder = laboratory.path(".local/state/plimsoll/journal");
    squat(&folder);
    squat(&laboratory.path(".local"));
    folder
}

#[test]
fn a_forged_journal_kills_and_removes_nothing() {
    needs!([Need::Root]);
    for version in [1, 2] {
        let laboratory = Laboratory::new();
        let precious = precious(&laboratory);
        let mut waiting = Waiting::start();
        let group = laboratory.path("plimsoll-0011223344556677-1");
        fs::create_dir(&group).unwrap();
        let steps = [
            format!(
                r#"{{"thing":"process","process":{},"started_ticks":{},"mark":"m"}}"#,
                waiting.0.id(),
                waiting.started_ticks()
            ),
            format!(r#"{{"thing":"group","path":"{}"}}"#, group.display()),
        ];
        let journal = journals(&laboratory).join("1-0011223344556677.ndjson");
        fs::write(&journal, forged_journal(version, &steps)).unwrap();
        chown(&journal, Some(ATTACKER), Some(ATTACKER)).unwrap();
        let said = laboratory.run(&["clean"]);
        assert!(waiting.is_alive(), "{said:?}");
        assert!(group.exists(), "{said:?}");
        assert!(is_untouched(&precious));
        refused_place(&said);
    }
}

#[test]
fn a_journal_that_is_a_link_is_not_written_through_and_a_pipe_is_not_waited_for() {
    let laboratory = Laboratory::new();
    let folder = laboratory.path(".local/state/plimsoll/journal");
    fs::create_dir_all(&folder).unwrap();
    let target = laboratory.write("target", forged_journal(1, &[]) + "unfinished");
    let before = fs::read_to_string(&target).unwrap();
    let journal = folder.join("1-0011223344556677.ndjson");
    symlink(&target, &journal).unwrap();
    for arguments in [&["clean", "--dry-run"][..], &["clean"]] {
        let said = laboratory.run(arguments);
        assert_eq!(fs::read_to_string(&target).unwrap(), before, "{said:?}");
        assert!(said.err.contains("it is a symbolic link"), "{said:?}");
    }
    fs::remove_file(&journal).unwrap();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &journal, mode).unwrap();
    let said = laboratory.run(&["clean", "--dry-run"]);
    assert!(said.err.contains("it is no file"), "{said:?}");
}

mod slow {
    use super::*;

    #[test]
    fn nothing_that_is_started_can_gain_rights() {
        let laboratory = Laboratory::new();
        laboratory.write("experiment.yaml", EXPERIMENT.replace("20ms", "10m"));
        let running = laboratory.start(&["run", "experiment.yaml", "--anyway"]);
        let mut found = None;
        wait_until("the worker", || {
            let worker = running.worker();
            found = worker.and_then(|worker| status_of(worker, "NoNewPrivs"));
            found.is_some()
        });
        assert_eq!(found.as_deref(), Some("1"));
        running.send(Signal::INT);
        running.end();
    }

    #[test]
    fn options_of_mkfs_that_name_a_device_or_a_directory_are_mistakes() {
        let laboratory = Laboratory::new();
        for (kind, mkfs) in [
            ("xfs", "-l logdev=/dev/loop1,size=64m"),
            ("xfs", "-r rtdev=/dev/loop1"),
            ("btrfs", "-d raid0 /dev/loop1"),
            ("btrfs", "--rootdir /etc"),
            ("ext4", "-d /etc"),
        ] {
            let disk = format!(
                "10MiB, disk: {{latency: 100us, capacity: 1GiB}}, filesystem: {{kind: {kind}, mkfs: \"{mkfs}\"}}}}"
            );
            laboratory.write("experiment.yaml", EXPERIMENT.replace("10MiB}", &disk));
            for command in ["plan", "run"] {
                let said = laboratory.run(&[command, "experiment.yaml"]);
                assert_eq!(said.code, Some(104), "{kind} {mkfs}: {said:?}");
                assert_contains(&said.err, "is not an allowed mkfs option");
            }
        }
    }
}
