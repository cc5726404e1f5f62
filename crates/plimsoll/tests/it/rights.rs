//! Who runs as whom: root's part is one process, everything else is who called `sudo`, or `nobody`.

use crate::laboratory::{Laboratory, Running, runs, send, state, wait_until};
use plimsoll_record::RigSpec;
use plimsoll_rig::{MARK_VARIABLE, Order, RigProcess, RigProgram};
use plimsoll_testing::{Need, assert_contains, needs};
use rustix::process::Signal;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

/// The number that systems give `nobody`.
const NOBODY: u32 = 65_534;

/// On an emulated disk without limits, so that nothing has to be calibrated. It would take long.
const EXPERIMENT: &str = "
plimsoll: 1
name: rights
workload: {records: 1k, preset: c}
defaults: {engine: wiredtiger, cache_size: 16MiB, filesystem: btrfs, disk: {capacity: 1GiB, trace: 1k}}
arms: {one: {}, two: {cache_size: 32MiB}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 20ms, blocks: 1}
";

/// What container engines leave to root. It may become another user, and may not look into what that user runs.
const USUAL_IN_CONTAINERS: &str = "-all,+audit_write,+chown,+dac_override,+fowner,+fsetid,+kill,+mknod,+net_bind_service,+net_raw,+setfcap,+setgid,+setpcap,+setuid,+sys_chroot";

/// The value of a line of `/proc/PID/status`.
fn status(process: u32, name: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let value = line.unwrap_or_default().trim_start_matches(':');
    value.trim().to_owned()
}

/// Real, effective, saved and filesystem user.
fn users(process: u32) -> Vec<u32> {
    let users = status(process, "Uid");
    let users = users.split_whitespace();
    users.map(|user| user.parse().unwrap()).collect()
}

fn worker_of(running: &Running) -> u32 {
    let mut worker = None;
    wait_until("the worker", || {
        worker = running.worker();
        worker.is_some()
    });
    worker.unwrap()
}

/// Both runs are made. Whether they may be judged depends on the machine.
fn all_finished(laboratory: &Laboratory, err: &str) {
    let record = laboratory.record_so_far().expect(err);
    let expected = ["finished"; 2];
    let states: Vec<&str> = record.runs.iter().map(state).collect();
    assert_eq!(states, expected, "{err}");
}

fn left(laboratory: &Laboratory) -> Vec<std::path::PathBuf> {
    let journals = fs::read_dir(laboratory.path(".local/state/plimsoll/journal"));
    let journals = journals.into_iter().flatten().flatten();
    let mut left: Vec<_> = journals.map(|entry| entry.path()).collect();
    left.extend(laboratory.data_directories());
    left
}

/// As `sudo -u root` would start it, called by `nobody`.
fn as_called_by_sudo(laboratory: &Laboratory, arguments: &[&str]) -> Command {
    fs::create_dir_all(laboratory.path("data")).unwrap();
    chown(laboratory.path("data"), Some(NOBODY), Some(NOBODY)).unwrap();
    let mut command = laboratory.command(arguments);
    command.env("SUDO_UID", NOBODY.to_string());
    command
}

/// The process by itself, with places of its own.
fn rig_program(laboratory: &Laboratory) -> RigProgram {
    let place =
        |variable: &str, folder: &str| format!("{variable}={}", laboratory.path(folder).display());
    RigProgram {
        path: "/usr/bin/env".into(),
        arguments: vec![
            place("XDG_STATE_HOME", ".local/state"),
            place("XDG_CACHE_HOME", "cache"),
            env!("CARGO_BIN_EXE_plimsoll").into(),
            "rig".into(),
        ],
    }
}

fn build(label: &str) -> Order {
    Order::Build {
        spec: Box::new(RigSpec::default()),
        directory: None,
        owner: "e".into(),
        label: label.into(),
        needs_bytes: 1,
        processors: None,
        from: None,
    }
}

mod slow {
    use super::*;

    #[test]
    fn the_root_of_a_container_runs_everything_as_itself() {
        needs!([Need::Root]);
        for set in [USUAL_IN_CONTAINERS, "-all"] {
            let laboratory = Laboratory::new();
            let text =
                EXPERIMENT.replace(", filesystem: btrfs, disk: {capacity: 1GiB, trace: 1k}", "");
            laboratory.write("experiment.yaml", text);
            let program = laboratory.command(&["run", "experiment.yaml"]);
            let mut confined = Command::new("setpriv");
            confined.args(["--inh-caps", "-all", "--bounding-set", set, "--"]);
            confined.arg(program.get_program()).args(program.get_args());
            confined.current_dir(laboratory.path(".")).env_clear();
            confined.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let output = confined.stdin(Stdio::null()).output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            all_finished(&laboratory, &err);
            let data = fs::metadata(laboratory.data_parent()).unwrap();
            assert_eq!(data.uid(), 0, "{set}");
        }
    }

    #[test]
    fn workers_of_root_are_nobody() {
        needs!([Need::Root]);
        let laboratory = Laboratory::new();
        laboratory.write("experiment.yaml", EXPERIMENT.replace("20ms", "10m"));
        let running = laboratory.start(&["run", "experiment.yaml", "--anyway", "--quiet"]);
        let worker = worker_of(&running);
        wait_until("the worker to be another", || users(worker) != [0; 4]);
        assert_eq!(users(worker), [NOBODY; 4]);
        assert_eq!(status(worker, "Groups"), "");
        for set in ["CapPrm", "CapEff", "CapInh", "CapAmb"] {
            let found = u64::from_str_radix(&status(worker, set), 16);
            assert_eq!(found, Ok(0), "{set}");
        }
        assert_eq!(users(running.rig().unwrap()), [0; 4]);
        running.send(Signal::INT);
        running.end();
        assert_eq!(left(&laboratory), Vec::<std::path::PathBuf>::new());
    }

    /// As in a container that an ordinary user has started.
    #[test]
    fn the_root_of_a_namespace_without_other_users_runs_everything_itself() {
        needs!([Need::Root]);
        let laboratory = Laboratory::new();
        let text = EXPERIMENT.replace("filesystem: btrfs, disk: {capacity: 1GiB, trace: 1k}", "");
        laboratory.write("experiment.yaml", text);
        let plimsoll = laboratory.command(&["run", "experiment.yaml"]);
        let output = Command::new("unshare")
            .args(["--user", "--map-root-user"])
            .arg(plimsoll.get_program())
            .args(plimsoll.get_args())
            .env_clear()
            .envs(plimsoll.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .env("PATH", "/usr/bin:/bin")
            .current_dir(laboratory.path("."))
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        all_finished(&laboratory, &err);
        assert_eq!(left(&laboratory), Vec::<std::path::PathBuf>::new());
    }

    #[test]
    fn who_called_sudo_measures_and_keeps_the_results() {
        needs!([Need::Root]);
        let laboratory = Laboratory::new();
        laboratory.write("experiment.yaml", EXPERIMENT);
        let output = as_called_by_sudo(&laboratory, &["run", "experiment.yaml"]).output();
        let err = String::from_utf8(output.unwrap().stderr).unwrap();
        all_finished(&laboratory, &err);
        let mut folders = vec![laboratory.path("data")];
        let mut files = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let about = entry.metadata().unwrap();
                assert_eq!(about.uid(), NOBODY, "{}", entry.path().display());
                assert_eq!(about.mode() & 0o077, 0, "{}", entry.path().display());
                if about.is_dir() {
                    folders.push(entry.path());
                } else {
                    files += 1;
                }
            }
        }
        // The store, its lock, a page, a trace of each arm.
        assert!(files >= 5, "{files}");
        let record = laboratory.record();
        let rigs = record.runs.iter().map(|run| run.rig.as_ref().unwrap());
        assert!(rigs.into_iter().all(|rig| rig.trace.is_some()));
        assert_eq!(left(&laboratory), Vec::<std::path::PathBuf>::new());
    }

    #[test]
    fn of_what_sudo_started_only_the_rig_is_root() {
        needs!([Need::Root]);
        let laboratory = Laboratory::new();
        laboratory.write("experiment.yaml", EXPERIMENT.replace("20ms", "10m"));
        let arguments = ["run", "experiment.yaml", "--anyway", "--quiet"];
        let mut program = as_called_by_sudo(&laboratory, &arguments).spawn().unwrap();
        let role = |process: &u32| {
            let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            let word = words.split(|byte| *byte == 0).nth(1).unwrap_or_default();
            String::from_utf8_lossy(word).into_owned()
        };
        let mut roles = Vec::new();
        wait_until("the worker", || {
            let processes = laboratory.processes();
            roles = processes.iter().map(|process| (role(process), users(*process))).collect();
            roles.sort();
            roles.iter().any(|(role, _)| role == "worker")
        });
        let expected = [("disk-daemon", 0), ("rig", 0), ("run", NOBODY), ("worker", NOBODY)];
        assert_eq!(roles, expected.map(|(role, user)| (role.to_owned(), vec![user; 4])));
        let found = u64::from_str_radix(&status(program.id(), "CapEff"), 16);
        assert_eq!(found, Ok(0));
        send(program.id(), Signal::INT);
        program.wait().unwrap();
        assert_eq!(left(&laboratory), Vec::<std::path::PathBuf>::new());
    }

    #[test]
    fn commands_that_only_read_start_no_process_of_root() {
        needs!([Need::Root]);
        let laboratory = Laboratory::new();
        let closed = laboratory.write("record.json", "{}");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o600)).unwrap();
        let output = as_called_by_sudo(&laboratory, &["report", "record.json"]).output();
        let err = String::from_utf8(output.unwrap().stderr).unwrap();
        assert_contains(&err, "Permission denied");
        let words = "plimsoll reads and writes files as nobody, who called sudo";
        assert_contains(&err, words);
    }

    #[test]
    fn only_children_of_the_client_are_admitted() {
        let laboratory = Laboratory::new();
        let rigs = RigProcess::over(rig_program(&laboratory).start().unwrap());
        let refused = rigs.build(0, build("too early")).unwrap_err().to_string();
        assert_eq!(refused, "no journal was opened");
        rigs.open("a test").unwrap();
        let rig = rigs.build(0, build("0")).unwrap();
        let second = rigs.build(0, build("1")).unwrap_err().to_string();
        assert_eq!(second, "there is a rig already");
        let foreign = rig.admit(1).unwrap_err().to_string();
        assert_eq!(foreign, "the process is none that the client has started");
        let child = |mark: &str| {
            let mut sleep = Command::new("sleep");
            sleep.arg("1000").env(MARK_VARIABLE, mark);
            sleep.stdin(Stdio::null()).spawn().unwrap()
        };
        let mut unmarked = child("another");
        let refused = rig.admit(unmarked.id()).unwrap_err().to_string();
        assert_contains(&refused, "mark");
        unmarked.kill().unwrap();
        unmarked.wait().unwrap();
        let mut admitted = child(&rig.built().mark);
        rig.admit(admitted.id()).unwrap();
        drop(rig);
        // What was admitted is ended with the rig.
        let mut ended = false;
        wait_until("the admitted process", || {
            ended = admitted.try_wait().unwrap().is_some();
            ended
        });
        drop(rigs);
        assert_eq!(left(&laboratory), Vec::<std::path::PathBuf>::new());
    }

    #[test]
    fn when_the_client_is_gone_everything_is_undone() {
        let laboratory = Laboratory::new();
        let rigs = RigProcess::over(rig_program(&laboratory).start().unwrap());
        rigs.open("a test").unwrap();
        let rig = rigs.build(0, build("0")).unwrap();
        let beside = rigs.build(1, build("1")).unwrap();
        assert_ne!(rig.data_directory(), beside.data_directory());
        let third = rigs.build(2, build("2")).unwrap_err().to_string();
        assert_eq!(third, "there is no rig");
        fs::write(rig.data_directory().join("records"), "of the engine").unwrap();
        // Two directories and the journal.
        assert_eq!(left(&laboratory).len(), 3);
        std::mem::forget((rig, beside));
        drop(rigs);
        assert_eq!(left(&laboratory), Vec::<std::path::PathBuf>::new());
    }

    #[test]
    fn what_is_no_order_is_refused_and_harms_nothing() {
        let laboratory = Laboratory::new();
        let socket = rig_program(&laboratory).start().unwrap();
        let mut answers = BufReader::new(socket.try_clone().unwrap());
        let mut ask = |socket: &mut UnixStream, order: &str| {
            socket.write_all(format!("{order}\n").as_bytes()).unwrap();
            loop {
                let mut answer = String::new();
                answers.read_line(&mut answer).unwrap();
                if !answer.starts_with(r#"{"logged":"#) {
                    return answer;
                }
            }
        };
        let mut writer = socket.try_clone().unwrap();
        for order in [
            "",
            "{",
            "[]",
            r#"{"order": "remove-everything"}"#,
            r#"{"order": "admit", "process": -1}"#,
            r#"{"order": "build", "spec": {"filesystem": {"kind": "xfs", "mkfs": ["-d", "file,name=/etc/passwd"]}}, "directory": null, "owner": "e", "label": "0", "needs_bytes": 0}"#,
            r#"{"order": "characterise", "what": {"target": {"kind": "device", "path": "/dev/null", "permission": "made-here"}}, "profile": {"block_bytes": [], "jobs": [], "write_jobs": [1], "size_bytes": 0, "runtime_ms": 0, "ramp_ms": 0}}"#,
            r#"{"order": "tear-down"}"#,
            r#"{"order": "remove"}"#,
        ] {
            let answer = ask(&mut writer, order);
            assert!(answer.starts_with(r#"{"failed":"#), "{order}: {answer}");
        }
        assert!(
            ask(&mut writer, r#"{"order": "what-runs", "rigs": []}"#).starts_with(r#"{"done""#)
        );
        drop((writer, socket));
    }

    #[test]
    fn when_the_rig_is_killed_the_run_fails_all_is_undone_and_the_same_command_goes_on() {
        let laboratory = Laboratory::new();
        let text = EXPERIMENT.replace("filesystem: btrfs, disk: {capacity: 1GiB, trace: 1k}", "");
        laboratory.write("experiment.yaml", text.replace("20ms", "4s"));
        let running = laboratory.start(&["run", "experiment.yaml", "--quiet"]);
        worker_of(&running);
        send(running.rig().unwrap(), Signal::KILL);
        let said = running.end();
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.err.contains("(plimsoll rig) is gone"), "{said:?}");
        assert!(said.err.contains("run the same command again"), "{said:?}");
        assert_eq!(left(&laboratory), Vec::<std::path::PathBuf>::new());
        let said = laboratory.run(&["run", "experiment.yaml", "--quiet"]);
        let record = laboratory.record();
        let states = runs(&record);
        assert_eq!(states.len(), 3, "{states:?}\n{}", said.err);
        let of = |state: &str| states.iter().filter(|run| run.3 == state).count();
        assert_eq!((of("failed"), of("finished")), (1, 2), "{states:?}");
    }

    #[test]
    fn when_the_program_is_killed_its_rig_undoes_everything_by_itself() {
        let laboratory = Laboratory::new();
        let text = EXPERIMENT.replace("filesystem: btrfs, disk: {capacity: 1GiB, trace: 1k}", "");
        laboratory.write("experiment.yaml", text.replace("20ms", "10m"));
        let running = laboratory.start(&["run", "experiment.yaml", "--anyway", "--quiet"]);
        worker_of(&running);
        running.send(Signal::KILL);
        running.end();
        wait_until("the rig to undo everything", || left(&laboratory).is_empty());
        assert!(Path::new(&laboratory.store()).exists());
    }
}
