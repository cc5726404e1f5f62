//! Rigs on emulated disks, made and undone by this program or by the next.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::testbed::{BareDisk, Journal, MARK_VARIABLE, Rig, RigOrder, TestbedError, abandoned};
use plimsoll_disk::{Control, DaemonProgram};
use plimsoll_record::{
    Backing, DiskChoice, DiskRates, DiskSpec, FilesystemKind, FilesystemSpec, KernelSetting,
    LimitsSpec, RigSpec,
};
use plimsoll_telemetry::Host;
use plimsoll_testing::{Need, assert_contains, assert_ends, assert_starts, needs, test_as_program};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const DISKS: [Need<'_>; 3] = [Need::Root, Need::File("/dev/fuse"), Need::File("/dev/loop-control")];

/// This program, as the process of an emulated disk.
fn daemon() -> DaemonProgram {
    let (path, arguments) = test_as_program("testbed::rigs::is_a_daemon");
    DaemonProgram { path, arguments }
}

#[test]
#[ignore = "the process of the emulated disks in the tests"]
fn is_a_daemon() {
    let Ok(output) = fs::File::options().write(true).open("/dev/fd/3") else {
        return;
    };
    plimsoll_disk::serve(std::io::stdin(), output).unwrap();
}

/// For programs that are killed: where they are to work.
fn folder_of_rigs() -> Option<PathBuf> {
    std::env::var_os("FOLDER_OF_RIGS").map(PathBuf::from)
}

#[test]
#[ignore = "a program that is killed in a test"]
fn undoes_until_it_is_killed() {
    let Some(folder) = folder_of_rigs() else {
        return;
    };
    for left in abandoned(&folder.join("state")).unwrap() {
        left.undo(&mut |_| {}).unwrap();
    }
}

#[test]
#[ignore = "a program that is killed in a test"]
fn builds_rigs_until_it_is_killed() {
    let Some(folder) = folder_of_rigs() else {
        return;
    };
    let mut journal = Journal::open(&folder.join("state"), "rigs that are killed").unwrap();
    for round in 0.. {
        let kind = FilesystemKind::ALL[round % FilesystemKind::ALL.len()];
        let mut spec = spec(disk(320 << 20), kind);
        spec.limits.memory_bytes = Some(64 << 20);
        spec.readahead_bytes = Some(0);
        spec.kernel = [(KernelSetting::Scheduler, "mq-deadline".to_owned())].into();
        let order = RigOrder {
            spec: &spec,
            parent: &folder.join("data"),
            owner: "rigs",
            label: &format!("round {round}"),
            needs_bytes: 1 << 20,
            daemon: &daemon(),
            from: None,
        };
        let rig = Rig::build(&order, &mut journal).unwrap();
        // It ends with this program, as workers do.
        let mut worker = Command::new("cat")
            .env(MARK_VARIABLE, rig.mark())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        rig.admit(worker.id()).unwrap();
        fs::write(rig.data_directory().join("records"), vec![1; 4 << 20]).unwrap();
        drop(worker.stdin.take());
        worker.wait().unwrap();
        let torn_down = rig.tear_down(&mut journal).unwrap();
        torn_down.remove(&mut journal).unwrap();
    }
}

/// A folder through which others may pass, as workers of root must.
fn passable_folder() -> tempfile::TempDir {
    let passable = fs::Permissions::from_mode(0o711);
    let mut folder = tempfile::Builder::new();
    folder.permissions(passable).tempdir().unwrap()
}

fn disk(capacity_bytes: u64) -> DiskSpec {
    DiskSpec { trace_requests: 1_000, ..DiskSpec::unlimited(capacity_bytes) }
}

fn spec(disk: DiskSpec, kind: FilesystemKind) -> RigSpec {
    RigSpec {
        disk: Some(DiskChoice::Emulated { spec: disk }),
        filesystem: Some(FilesystemSpec { kind, mkfs: Vec::new(), mount: Vec::new() }),
        ..RigSpec::default()
    }
}

/// Where rigs are made in a test.
struct Site {
    folder: tempfile::TempDir,
    journal: Journal,
}

impl Site {
    fn new() -> Self {
        let folder = passable_folder();
        let journal = Journal::open(&folder.path().join("state"), "a test").unwrap();
        Self { folder, journal }
    }

    fn build(&mut self, spec: &RigSpec, needs_bytes: u64) -> Result<Rig, TestbedError> {
        let order = RigOrder {
            spec,
            parent: &self.folder.path().join("data"),
            owner: "1a2b3c4d",
            label: &"a run with a name that is far too long for the path of a socket, ".repeat(2),
            needs_bytes,
            daemon: &daemon(),
            from: None,
        };
        Rig::build(&order, &mut self.journal)
    }

    fn ext4(&mut self, disk: DiskSpec) -> Rig {
        let spec = spec(disk, FilesystemKind::Ext4);
        self.build(&spec, 1 << 20).unwrap()
    }

    fn undo(&mut self, rig: Rig) -> Vec<String> {
        let torn_down = rig.tear_down(&mut self.journal).unwrap();
        let notes = torn_down.notes.clone();
        torn_down.remove(&mut self.journal).unwrap();
        notes
    }

    fn nothing_is_left(&self) {
        let data = self.folder.path().join("data");
        assert_eq!(fs::read_dir(&data).unwrap().count(), 0, "{data:?}");
        assert_eq!(mounts_below(self.folder.path()), [""; 0]);
        assert_eq!(loops_below(self.folder.path()), [""; 0]);
    }
}

fn mounts_below(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let below = mounts.lines().filter(|line| line.contains(folder));
    below.map(str::to_owned).collect()
}

fn processes_with(text: &str) -> Vec<String> {
    let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if !is_number(&name) {
            continue;
        }
        for file in ["environ", "cmdline"] {
            let bytes = fs::read(entry.path().join(file)).unwrap_or_default();
            if String::from_utf8_lossy(&bytes).contains(text) {
                found.push(name.clone());
            }
        }
    }
    found
}

fn daemon_of(rig: &Rig) -> Pid {
    let data = rig.data_directory().to_str().unwrap();
    let token_of = |process: &str| -> bool {
        // The daemon's own working files are named by its control socket.
        let sockets = fs::read_to_string("/proc/net/unix").unwrap();
        let socket = rig.control_socket().unwrap().to_str().unwrap().to_owned();
        let inode = sockets
            .lines()
            .find(|line| line.ends_with(&socket))
            .and_then(|line| line.split_ascii_whitespace().nth(6).map(str::to_owned))
            .unwrap();
        fs::read_dir(format!("/proc/{process}/fd")).is_ok_and(|entries| {
            entries.flatten().any(|entry| {
                fs::read_link(entry.path())
                    .is_ok_and(|link| link == Path::new(&format!("socket:[{inode}]")))
            })
        })
    };
    let found = processes_with("PLIMSOLL_MARK=disk-");
    let process = found.iter().find(|process| token_of(process));
    let process = process.unwrap_or_else(|| panic!("no daemon serves {data}"));
    Pid::from_raw(process.parse().unwrap()).unwrap()
}

/// A program that is killed, at the latest when this is dropped.
struct Killed(Child);

impl Killed {
    fn start(program: &str, folder: &Path) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("testbed::rigs::{program}"), "--ignored"])
            .env("FOLDER_OF_RIGS", folder)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// Kills it some time from now, another one for each number.
    fn kill(mut self, number: u64, longest_ms: u64) {
        let moment = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % longest_ms;
        std::thread::sleep(Duration::from_millis(moment));
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Control groups whose name has the text.
fn groups_with(text: &str, folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if entry.file_name().to_string_lossy().contains(text) {
            found.push(entry.path());
        }
        groups_with(text, &entry.path(), found);
    }
}

/// Whether a loop device is over a file that has lost its path, in the filesystem of this number: what is left when a daemon has ended.
fn is_below_a_loop(filesystem: &str) -> bool {
    let columns = ["--list", "--noheadings", "--output", "BACK-MAJ:MIN,BACK-FILE"];
    let output = Command::new("losetup").args(columns).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().any(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        fields == [filesystem, "/disk.img"]
    })
}

fn loop_devices() -> impl Iterator<Item = String> {
    let entries = fs::read_dir("/sys/block").unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("loop"))
}

fn readahead_kib(device: &str) -> u64 {
    let file = format!("/sys/block/{device}/queue/read_ahead_kb");
    fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

/// Unused loop devices that read less ahead than the kernel's default, as only rigs of these tests leave them. (Other tests may have used them since.)
fn left_without_readahead() -> Vec<String> {
    let is_free = |name: &String| !Path::new(&format!("/sys/block/{name}/loop")).exists();
    loop_devices()
        .filter(|name| is_free(name) && readahead_kib(name) < 128 && is_free(name))
        .collect()
}

fn scheduler(device: &str) -> String {
    let text = fs::read_to_string(format!("/sys/block/{device}/queue/scheduler")).unwrap();
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    chosen.unwrap_or_else(|| panic!("{device}: {text}")).0.to_owned()
}

/// The same of the scheduler: loop devices have none when they are new.
fn left_with_a_scheduler() -> Vec<String> {
    let is_free = |name: &String| !Path::new(&format!("/sys/block/{name}/loop")).exists();
    loop_devices()
        .filter(|name| is_free(name) && scheduler(name) != "none" && is_free(name))
        .collect()
}

/// Attached loop devices over files below the folder.
fn loops_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/sys/block").unwrap().flatten() {
        let file = fs::read_to_string(entry.path().join("loop/backing_file")).unwrap_or_default();
        if Path::new(&file).starts_with(folder) {
            found.push(file);
        }
    }
    found
}

mod slow {
    use super::*;

    #[test]
    fn each_filesystem_on_an_emulated_disk_is_made_and_gone() {
        needs!(DISKS);
        for kind in FilesystemKind::ALL {
            let mut site = Site::new();
            let rig = site.build(&spec(disk(320 << 20), kind), 1 << 20).unwrap();
            let device = rig.device().unwrap().to_owned();
            assert_eq!(loops_below(site.folder.path()).len(), 1);
            rig.is_sound().unwrap();
            let record = rig.record();
            let command = record.mkfs.unwrap();
            assert_ends(&command, &format!("/dev/{device}"));
            assert_eq!(record.device.unwrap(), format!("/dev/{device}"));

            let mut control = Control::connect(rig.control_socket().unwrap()).unwrap();
            assert!(!control.counters().unwrap().shaped, "until it is told");
            control.shape(true).unwrap();
            drop(control);
            let records = rig.data_directory().join("records");
            fs::write(&records, vec![7; 8 << 20]).unwrap();
            assert_eq!(fs::read(&records).unwrap(), vec![7; 8 << 20]);

            let torn_down = rig.tear_down(&mut site.journal).unwrap();
            assert_eq!(torn_down.notes, [""; 0]);
            assert!(torn_down.trace.as_ref().unwrap().exists());
            torn_down.remove(&mut site.journal).unwrap();
            site.nothing_is_left();

            drop(site.build(&spec(disk(320 << 20), kind), 1 << 20).unwrap());
            site.nothing_is_left();
        }
    }

    #[test]
    fn the_readahead_is_as_asked_and_then_as_it_was() {
        needs!(DISKS);
        for kind in FilesystemKind::ALL {
            for requested in [None, Some(0), Some(32 << 10)] {
                let mut site = Site::new();
                let spec = RigSpec { readahead_bytes: requested, ..spec(disk(320 << 20), kind) };
                let rig = site.build(&spec, 1 << 20).unwrap();
                let device = rig.device().unwrap().to_owned();
                assert_eq!(readahead_kib(&device), requested.unwrap_or(128 << 10) >> 10);
                let in_force = Host::here().storage(rig.data_directory()).readahead_bytes;
                let of_btrfs = (kind == FilesystemKind::Btrfs).then_some(4 << 20);
                assert_eq!(in_force, requested.or(of_btrfs).or(Some(128 << 10)), "{kind:?}");
                assert_eq!(site.undo(rig), [""; 0]);
                assert!(!left_without_readahead().contains(&device), "it is put back");
            }
        }
    }

    #[test]
    fn the_scheduler_of_a_disk_is_as_asked_and_then_as_it_was() {
        needs!(DISKS);
        let mut site = Site::new();
        let mut spec = spec(disk(64 << 20), FilesystemKind::Ext4);
        spec.kernel = [(KernelSetting::Scheduler, "mq-deadline".to_owned())].into();
        let rig = site.build(&spec, 1 << 20).unwrap();
        let device = rig.device().unwrap().to_owned();
        assert_eq!(scheduler(&device), "mq-deadline");
        let in_force = Host::here().storage(rig.data_directory()).scheduler;
        assert_eq!(in_force.as_deref(), Some("mq-deadline"));
        rig.is_sound().unwrap();
        assert_eq!(site.undo(rig), [""; 0]);
        assert!(!left_with_a_scheduler().contains(&device), "it is put back");
        site.nothing_is_left();

        spec.kernel = [(KernelSetting::Scheduler, "fifo".to_owned())].into();
        assert_contains(
            site.build(&spec, 1 << 20).unwrap_err().to_string(),
            "queue/scheduler offers only none",
        );
    }

    #[test]
    fn a_readahead_that_the_device_does_not_take_is_refused() {
        needs!(DISKS);
        let mut site = Site::new();
        let spec = RigSpec {
            readahead_bytes: Some(5 << 10),
            ..spec(disk(64 << 20), FilesystemKind::Ext4)
        };
        let error = site.build(&spec, 1 << 20).unwrap_err().to_string();
        assert_ends(
            &error,
            "is 4 kB after 5 kB were requested: use a value that the device takes, in whole pages of memory",
        );
        site.nothing_is_left();
        assert_eq!(left_without_readahead(), [""; 0]);
    }

    #[test]
    fn blocks_can_be_kept_in_a_file() {
        needs!(DISKS);
        let mut site = Site::new();
        let disk = DiskSpec { backing: Backing::File, trace_requests: 0, ..disk(64 << 20) };
        let rig = site.ext4(disk);
        fs::write(rig.data_directory().join("records"), "of the engine").unwrap();
        assert_eq!(site.undo(rig), [""; 0]);
        site.nothing_is_left();
    }

    #[test]
    fn a_slow_disk_with_much_to_write_is_undone_all_the_same() {
        needs!(DISKS);
        let mut site = Site::new();
        let disk = DiskSpec {
            iops: DiskRates { joint: Some(1.0), ..DiskRates::default() },
            ..disk(64 << 20)
        };
        let rig = site.ext4(disk);
        let mut control = Control::connect(rig.control_socket().unwrap()).unwrap();
        control.shape(true).unwrap();
        fs::write(rig.data_directory().join("records"), vec![7; 16 << 20]).unwrap();
        drop(control);
        drop(rig);
        site.nothing_is_left();
    }

    #[test]
    fn a_bare_disk_is_a_block_device() {
        needs!(DISKS);
        let mut site = Site::new();
        let parent = site.folder.path().join("data");
        let spec = disk(64 << 20);
        let bare = BareDisk::build(&spec, &parent, "a", &daemon(), &mut site.journal).unwrap();
        fs::write(bare.device_path(), vec![3; 1 << 20]).unwrap();
        Control::connect(bare.control_socket()).unwrap();
        assert_eq!(bare.tear_down(&mut site.journal).unwrap(), [""; 0]);
        site.nothing_is_left();
    }

    #[test]
    fn a_daemon_that_dies_is_noticed_and_nothing_stays() {
        needs!(DISKS);
        for kind in FilesystemKind::ALL {
            let mut site = Site::new();
            let rig = site.build(&spec(disk(320 << 20), kind), 1 << 20).unwrap();
            fs::write(rig.data_directory().join("records"), vec![7; 4 << 20]).unwrap();
            kill_process(daemon_of(&rig), Signal::KILL).unwrap();
            let begun = Instant::now();
            while rig.is_sound().is_ok() && begun.elapsed() < Duration::from_secs(10) {
                std::thread::yield_now();
            }
            let error = rig.is_sound().unwrap_err().to_string();
            assert_starts(&error, "the disk daemon died");
            assert_eq!(site.undo(rig), [""; 0]);
            site.nothing_is_left();
        }
    }

    #[test]
    fn a_daemon_that_hangs_is_ended() {
        needs!(DISKS);
        let mut site = Site::new();
        let rig = site.ext4(disk(64 << 20));
        fs::write(rig.data_directory().join("records"), vec![7; 4 << 20]).unwrap();
        kill_process(daemon_of(&rig), Signal::STOP).unwrap();
        assert_eq!(site.undo(rig), [""; 0]);
        site.nothing_is_left();
    }

    #[test]
    fn a_disk_that_fills_up_is_an_error_of_the_writer() {
        needs!(DISKS);
        let mut site = Site::new();
        let rig = site.ext4(disk(32 << 20));
        let error = fs::write(rig.data_directory().join("much"), vec![1; 64 << 20]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(site.undo(rig), [""; 0]);
        site.nothing_is_left();
    }

    #[test]
    fn what_cannot_be_made_leaves_nothing() {
        needs!(DISKS);
        let mut site = Site::new();
        let small = spec(disk(64 << 20), FilesystemKind::Ext4);
        let error = site.build(&small, 65 << 20).unwrap_err().to_string();
        let expected = "the disk of 64.0 MiB is too small: 65.0 MiB are needed for the data; give it a larger `capacity`, or use less data";
        assert_eq!(error, expected);
        // It fits on the disk, and not into its filesystem.
        let error = site.build(&small, 63 << 20).unwrap_err();
        let is_it = matches!(error, TestbedError::NotEnoughSpace { .. });
        assert!(is_it, "{error}");
        site.nothing_is_left();

        let logdev = &["-l", "logdev=/dev/loop1"];
        let foreign = "`-l` is not an option that mkfs.ext4 may be given";
        let bind = "`bind` is not an option that mount may be given";
        for (mkfs, mount, begins) in [
            (&["-b", "3"][..], &[][..], "`mkfs.ext4 "),
            // An option of another filesystem.
            (logdev, &[], foreign),
            (&[], &["data=no-such-mode"], "`mount -t ext4"),
            (&[], &["bind"], bind),
        ] {
            let mut odd = small.clone();
            let filesystem = odd.filesystem.as_mut().unwrap();
            filesystem.mkfs = mkfs.iter().map(|&word| word.into()).collect();
            filesystem.mount = mount.iter().map(|&word| word.into()).collect();
            assert_starts(site.build(&odd, 1).unwrap_err(), begins);
        }
        site.nothing_is_left();
        drop(site.journal);
        let state = site.folder.path().join("state");
        assert!(abandoned(&state).unwrap().is_empty());
    }

    #[test]
    fn a_program_killed_at_any_moment_leaves_what_the_next_one_undoes() {
        needs!(DISKS);
        let kills: u64 =
            std::env::var("PLIMSOLL_TEST_KILLS").map_or(20, |kills| kills.parse().unwrap());
        let folder = passable_folder();
        let (state, parent) = (folder.path().join("state"), folder.path().join("data"));
        let journals = state.join("journal");
        let mut left_something = 0;
        for kill in 0..kills {
            let builder = Killed::start("builds_rigs_until_it_is_killed", folder.path());
            builder.kill(kill, 1_500);

            let mut tokens = Vec::new();
            let mut filesystems = Vec::new();
            for entry in fs::read_dir(&journals).into_iter().flatten().flatten() {
                for line in fs::read_to_string(entry.path()).unwrap().lines() {
                    let line: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
                    let filesystem = &line["step"]["backing_file"]["filesystem"];
                    filesystems.extend(filesystem.as_str().map(str::to_owned));
                }
                let name = entry.file_name().into_string().unwrap();
                let name = name.trim_start_matches('.').trim_end_matches(".ndjson");
                tokens.push(name.rsplit('-').next().unwrap().to_owned());
            }
            // The program that undoes may be killed as well, and another continues.
            if kill % 2 == 0 {
                let undoer = Killed::start("undoes_until_it_is_killed", folder.path());
                undoer.kill(kill + kills, 300);
            }
            // A child between its birth and its program holds the journal for an instant.
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_secs(60) {
                for left in abandoned(&state).unwrap() {
                    left_something += usize::from(!left.describe().is_empty());
                    left.undo(&mut |_| {}).unwrap();
                }
                let open = fs::read_dir(&journals).into_iter().flatten().count();
                if open == 0 {
                    break;
                }
            }
            assert_eq!(mounts_below(folder.path()), [""; 0], "kill {kill}");
            assert_eq!(loops_below(folder.path()), [""; 0], "kill {kill}");
            assert_eq!(left_without_readahead(), [""; 0], "kill {kill}");
            assert_eq!(left_with_a_scheduler(), [""; 0], "kill {kill}");
            for filesystem in filesystems {
                assert!(!is_below_a_loop(&filesystem), "kill {kill}: {filesystem}");
            }
            let data = fs::read_dir(&parent).map_or(0, Iterator::count);
            assert_eq!(data, 0, "kill {kill}");
            for token in tokens {
                assert_eq!(processes_with(&token), [""; 0], "kill {kill}");
                let mut groups = Vec::new();
                groups_with(&token, Path::new("/sys/fs/cgroup"), &mut groups);
                assert_eq!(groups, [""; 0].map(PathBuf::from), "kill {kill}");
            }
            let open = fs::read_dir(&journals).map_or(0, Iterator::count);
            assert_eq!(open, 0, "kill {kill}: a journal stays");
        }
        assert!(left_something > 0, "it was never killed in the middle");
    }

    #[test]
    fn limits_hold_on_an_emulated_disk_too() {
        needs!(DISKS);
        let mut site = Site::new();
        let mut spec = spec(disk(64 << 20), FilesystemKind::Ext4);
        spec.limits = LimitsSpec { memory_bytes: Some(32 << 20), ..LimitsSpec::default() };
        let rig = site.build(&spec, 1 << 20).unwrap();
        let memory = rig.group().unwrap().memory.clone().unwrap();
        let mut worker = Command::new("cat")
            .env(MARK_VARIABLE, rig.mark())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        rig.admit(worker.id()).unwrap();
        let inside = fs::read_to_string(memory.join("cgroup.procs")).unwrap();
        assert_eq!(inside.trim(), worker.id().to_string());
        rig.is_sound().unwrap();
        // A process that takes more than all of it is killed, and the error names the limit.
        let script = "read go; head -c 67108864 /dev/zero | tail -c 67108864 | wc -c";
        let mut greedy = Command::new("sh")
            .args(["-c", script])
            .env(MARK_VARIABLE, rig.mark())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        rig.admit(greedy.id()).unwrap();
        drop(greedy.stdin.take());
        greedy.wait().unwrap();
        let said = rig.is_sound().unwrap_err().to_string();
        assert_contains(&said, "had used up the 32 MiB of memory");
        assert_eq!(site.undo(rig), [""; 0]);
        worker.wait().unwrap();
        assert!(!memory.exists());
        site.nothing_is_left();
    }
}
