//! Arms on other machines. The other machine is this one, with state and data directories of its own, reached as others are: by a command, or by ssh to a
//! real sshd.

use crate::laboratory::{
    Laboratory, MARK, Running, finished, has_slices, runs, send, try_until, wait_until,
};
use plimsoll_record::{ClockOffset, RunState};
use plimsoll_testing::servers::free_port;
use plimsoll_testing::{Need, assert_contains, needs, program};
use rustix::process::Signal;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
#[cfg(feature = "mongodb")]
use {plimsoll_judge::CauseKind, plimsoll_record::ExperimentRecord};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

/// A command that reaches the other machine.
fn command(laboratory: &Laboratory, program: &str, allow: &str) -> String {
    let place = |name: &str| laboratory.path(name).display().to_string();
    format!(
        "[env, XDG_STATE_HOME={}, XDG_CACHE_HOME={}, {program}, agent, --stdio, --allow, '{allow}']",
        place("there/state"),
        place("there/cache"),
    )
}

/// One arm here and one there, on the simulated engine.
fn two_machines(way: &str, operations: u32, blocks: u32) -> String {
    format!(
        "
plimsoll: 1
name: two machines
hosts: {{db1: {way}}}
workload: {{records: 2, preset: c}}
defaults: {{engine: simulated, service: constant, service_mean: 10ms}}
arms: {{here: {{}}, there: {{on: db1}}}}
load: {{closed: {{threads: 1}}}}
load_phase: {{threads: 1}}
measurement: {{warm_up: 0s, duration: 600s, operations: {operations}, blocks: {blocks}, order: as-written, seed: 1}}"
    )
    .replace("name: two machines", "name: two-machines")
}

#[test]
fn a_plan_says_who_does_what() {
    let laboratory = Laboratory::new();
    let hosts = three(&laboratory);
    laboratory.write(
        "experiment.yaml",
        format!(
            "
plimsoll: 1
name: planned
{hosts}
workload: {{records: 2, preset: c}}
arms: {{one: {{engine: simulated, on: db1}}}}
load: {{closed: {{threads: [7]}}}}"
        )
        .replace("hosts:\n  l1", "hosts:\n  db1: {{ssh: db1.example, roles: [server]}}\n  l1")
        .replace("{{ssh", "{ssh")
        .replace("[server]}}", "[server]}"),
    );
    let said = laboratory.run(&["plan", "experiment.yaml"]);
    assert_contains(&said.out, "\nhosts\n  one  on db1  load from l1, controller, l2\n");
    // One machine alone is not worth a word.
    laboratory.write(
        "experiment.yaml",
        two_machines("{ssh: x}", 1, 1)
            .replace("hosts: {db1: {ssh: x}}", "")
            .replace("there: {on: db1}", "there: {}"),
    );
    let said = laboratory.run(&["plan", "experiment.yaml"]);
    assert!(!said.out.contains("\nhosts\n"), "{said:?}");
}

/// The agent of a program that runs.
fn agent(running: &Running) -> Option<u32> {
    running.child_of("agent")
}

/// Waits until the run there is measured.
fn is_measured_there(laboratory: &Laboratory, running: &mut Running) -> Option<()> {
    laboratory.wait_for_record(running, |record| {
        let there = record.runs.iter().find(|run| run.arm == "there");
        there.is_some_and(|run| {
            run.state == RunState::Started
                && run.points.iter().any(|point| !point.slices.is_empty())
        })
    })?;
    Some(())
}

fn is_worker(process: u32) -> bool {
    let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).nth(1) == Some(b"worker")
}

/// A real sshd on a port of this machine, with a key of its own, and an `ssh` that finds it.
struct Sshd {
    child: Child,
    bin: PathBuf,
}

impl Sshd {
    /// `known` is whether its key is accepted for a login.
    fn start(laboratory: &Laboratory, known: bool) -> Self {
        let folder = laboratory.path("sshd");
        fs::create_dir(&folder).unwrap();
        for key in ["host", "user", "stranger"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(folder.join(key))
                .status()
                .unwrap();
            assert!(made.success());
        }
        let port = free_port();
        let path = |name: &str| folder.join(name).display().to_string();
        fs::write(
            folder.join("sshd_config"),
            format!(
                "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n\
                 KbdInteractiveAuthentication no\nPermitRootLogin yes\nSetEnv XDG_STATE_HOME={} XDG_CACHE_HOME={} PLIMSOLL_TEST_LABORATORY={}\n",
                path("host"),
                path("user.pub"),
                laboratory.path("there/state").display(),
                laboratory.path("there/cache").display(),
                laboratory.path("").display(),
            ),
        )
        .unwrap();
        fs::create_dir_all("/run/sshd").unwrap();
        let child = Command::new(program("sshd").unwrap())
            .args(["-D", "-e", "-f"])
            .arg(folder.join("sshd_config"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.join("log")).unwrap())
            .spawn()
            .unwrap();
        wait_until("sshd to listen", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        let identity = if known { "user" } else { "stranger" };
        fs::write(
            folder.join("config"),
            format!(
                "Host db1.example\n  HostName 127.0.0.1\n  Port {port}\n  User root\n  IdentitiesOnly yes\n  IdentityFile {}\n  StrictHostKeyChecking accept-new\n  UserKnownHostsFile {}\n",
                path(identity),
                path("known_hosts"),
            ),
        )
        .unwrap();
        // The real one, with the user's configuration in place of the tester's.
        let bin = folder.join("bin");
        fs::create_dir(&bin).unwrap();
        let ssh = program("ssh").unwrap();
        let script = format!("#!/bin/sh\nexec {} -F {} \"$@\"\n", ssh.display(), path("config"));
        fs::write(bin.join("ssh"), script).unwrap();
        fs::set_permissions(bin.join("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
        Self { child, bin }
    }

    fn path(&self) -> String {
        format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", self.bin.display())
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Three machines that make load, one of them this one.
fn three(laboratory: &Laboratory) -> String {
    let mut hosts = String::new();
    for name in ["l1", "l2"] {
        let way = command(laboratory, PROGRAM, "load");
        hosts.push_str(&format!("  {name}: {{command: {way}, roles: [load]}}\n"));
    }
    format!("hosts:\n{hosts}load_hosts: [l1, controller, l2]\n")
}

/// Two network namespaces with a cable between them: what is in them is apart, and everything that goes over the cable is counted at both ends.
#[cfg(feature = "mongodb")]
struct Cable([String; 2]);

#[cfg(feature = "mongodb")]
impl Cable {
    const ADDRESSES: [&str; 2] = ["198.51.100.1", "198.51.100.2"];

    fn new() -> Self {
        // Tests of one process have threads of their own.
        let id = rustix::thread::gettid().as_raw_nonzero();
        let cable = Self(["a", "b"].map(|end| format!("plimsoll-{id}-{end}")));
        let [a, b] = &cable.0;
        for name in [a, b] {
            ip(&["netns", "add", name]);
        }
        ip(&["-n", a, "link", "add", "v0", "type", "veth", "peer", "name", "v0", "netns", b]);
        for (name, address) in cable.0.iter().zip(Self::ADDRESSES) {
            let address = format!("{address}/24");
            ip(&["-n", name, "addr", "add", &address, "dev", "v0"]);
            for device in ["lo", "v0"] {
                ip(&["-n", name, "link", "set", device, "up"]);
            }
        }
        cable
    }

    /// Lets only this many bytes a second through from the second to the first, with room for so much more at once, and for so much that waits.
    fn limit(&self, rate: &str, burst: &str, room: &str) {
        let qdisc = ["qdisc", "add", "dev", "v0", "root", "tbf"];
        let mut limited = Command::new("tc");
        limited.args(["-n", &self.0[1]]).args(qdisc);
        limited.args(["rate", rate, "burst", burst, "limit", room]);
        assert!(limited.status().unwrap().success());
    }

    /// A command in one of them.
    fn command(&self, end: usize, command: &str) -> String {
        format!("[ip, netns, exec, {}, {}", self.0[end], &command[1..])
    }
}

#[cfg(feature = "mongodb")]
impl Drop for Cable {
    fn drop(&mut self) {
        for name in &self.0 {
            ip(&["netns", "delete", name]);
        }
    }
}

#[cfg(feature = "mongodb")]
pub fn ip(arguments: &[&str]) {
    let done = Command::new("ip").args(arguments).output().unwrap();
    let is_good = done.status.success() || std::thread::panicking();
    assert!(is_good, "ip {arguments:?}: {done:?}");
}

/// This many sessions at one end ask a mongod at the other, of whose host more may be said.
#[cfg(feature = "mongodb")]
fn over_a_cable(cable: &Cable, sessions: u32, more: &str) -> ExperimentRecord {
    let laboratory = Laboratory::new();
    let load = cable.command(0, &command(&laboratory, PROGRAM, "load"));
    let server = cable.command(1, &command(&laboratory, PROGRAM, "server"));
    laboratory.write(
        "experiment.yaml",
        format!(
            "
plimsoll: 1
name: over-a-cable
hosts:
  l1: {{command: {load}}}
  db1: {{command: {server}, address: {}{more}}}
load_hosts: [l1]
workload: {{records: 500, preset: c}}
arms:
  there: {{engine: mongodb, server: mongod, on: db1, cache_size: 256MiB}}
load: {{closed: {{threads: [{sessions}]}}}}
measurement: {{warm_up: 1s, duration: 3s, blocks: 1}}",
            Cable::ADDRESSES[1]
        ),
    );
    run_with_a_mongod(&laboratory).1
}

/// The only run of `experiment.yaml`, for which every host finds a mongod.
#[cfg(feature = "mongodb")]
fn run_with_a_mongod(laboratory: &Laboratory) -> (crate::laboratory::Said, ExperimentRecord) {
    let mut run = laboratory.command(&["run", "experiment.yaml", "--no-calibration"]);
    let servers = plimsoll_testing::server("mongod").unwrap();
    let path = format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", servers.parent().unwrap().display());
    let said = crate::laboratory::Said::of(run.env("PATH", path).output().unwrap());
    let record = laboratory.record_so_far().unwrap_or_else(|| panic!("{said:?}"));
    assert_eq!(finished(&record), 1, "{said:?}");
    (said, record)
}

/// What one rule says of the only point; where the processors are full at the same time, another comes first.
#[cfg(feature = "mongodb")]
fn rule(record: &ExperimentRecord, kind: CauseKind) -> plimsoll_judge::RuleResult {
    let analysis = plimsoll_judge::analyse(record).unwrap();
    let cause = analysis.curves[0].points[0].cause.as_ref().unwrap();
    let mut rules = cause.rules.iter();
    rules.find(|rule| rule.kind == kind).unwrap().clone()
}

/// A nats-server with agents and their seeds, and the environment in which the program finds it.
struct Laboratories {
    server: Child,
    port: u16,
    agents: Vec<Child>,
}

impl Laboratories {
    fn start(laboratory: &Laboratory, names: &[&str]) -> Self {
        let port = free_port();
        let listen = format!("127.0.0.1:{port}");
        let mut arguments =
            vec!["remote", "nats", "init", "--listen", &listen, "--directory", "nats"];
        for name in names {
            arguments.extend(["--agent", name]);
        }
        let said = laboratory.run(&arguments);
        assert_eq!(said.code, Some(0), "{said:?}");
        let server = Command::new(nats_server())
            .args(["--config", "nats/nats.conf"])
            .current_dir(laboratory.path(""))
            .env(MARK, laboratory.path(""))
            .stdout(Stdio::null())
            .stderr(fs::File::create(laboratory.path("nats.log")).unwrap())
            .spawn()
            .unwrap();
        wait_until("nats-server to listen", || {
            std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        let mut all = Self { server, port, agents: Vec::new() };
        // Somebody who may must make the bucket and the stream.
        let said = all.run(laboratory, &["remote", "hosts"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        for name in names {
            all.agents.push(all.agent(laboratory, name));
        }
        wait_until("the agents to join", || {
            let said = all.run(laboratory, &["remote", "hosts"]);
            names.iter().all(|name| said.out.contains(&format!("{name}  ")))
        });
        all
    }

    fn agent(&self, laboratory: &Laboratory, name: &str) -> Child {
        let seed = format!("nats/{name}.seed");
        self.environment(
            laboratory,
            &["agent", "--name", name, "--allow", "load,server,disk"],
            &seed,
        )
        .env("XDG_STATE_HOME", laboratory.path(&format!("{name}/state")))
        .env("XDG_CACHE_HOME", laboratory.path(&format!("{name}/cache")))
        .stderr(fs::File::create(laboratory.path(&format!("{name}.log"))).unwrap())
        .spawn()
        .unwrap()
    }

    fn environment(&self, laboratory: &Laboratory, arguments: &[&str], seed: &str) -> Command {
        let mut command = laboratory.command(arguments);
        command
            .env("PLIMSOLL_NATS", format!("nats://127.0.0.1:{}", self.port))
            .env("PLIMSOLL_NATS_SEED", laboratory.path(seed));
        command
    }

    fn run(&self, laboratory: &Laboratory, arguments: &[&str]) -> crate::laboratory::Said {
        let mut command = self.environment(laboratory, arguments, "nats/controller.seed");
        crate::laboratory::Said::of(command.output().unwrap())
    }
}

impl Drop for Laboratories {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            send(agent.id(), Signal::TERM);
            let _ = agent.wait();
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The fetched one, where there is one: that of the distribution may be too old.
fn nats_server() -> PathBuf {
    plimsoll_testing::server("nats-server").unwrap()
}

const FLEET: &str = "
plimsoll: 1
name: fleet
hosts: {l1: {agent: l1}, l2: {agent: l2}, db1: {agent: db1, address: 127.0.0.3}}
load_hosts: [l1, l2]
workload: {records: 500, preset: a}
";

mod once {
    use super::*;

    #[test]
    fn ssh_brings_the_program_once_and_runs_it() {
        needs!([Need::Root, Need::Program("sshd"), Need::Program("ssh")]);
        let laboratory = Laboratory::new();
        let sshd = Sshd::start(&laboratory, true);
        laboratory.write("experiment.yaml", two_machines("{ssh: db1.example}", 20, 1));
        let run = |arguments: &[&str]| {
            let mut command = laboratory.command(arguments);
            let said = command.env("PATH", sshd.path()).output().unwrap();
            crate::laboratory::Said::of(said)
        };
        let said = run(&["run", "experiment.yaml"]);
        assert_eq!(finished(&laboratory.record()), 2, "{said:?}");
        let copies = laboratory.path("there/cache/plimsoll/bin");
        let names = || {
            let entries = fs::read_dir(&copies).unwrap();
            entries
                .map(|entry| {
                    let entry = entry.unwrap();
                    (entry.path(), entry.metadata().unwrap().modified().unwrap())
                })
                .collect::<Vec<_>>()
        };
        let first = names();
        assert_eq!(first.len(), 1, "{first:?}");
        assert!(fs::read(&first[0].0).unwrap() == fs::read(PROGRAM).unwrap());
        let said = run(&["remote", "hosts", "experiment.yaml"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_contains(&said.out, "db1 (ssh db1.example)\n  arms        there");
        assert_contains(&said.out, "round trip");
        assert_eq!(names(), first, "it was copied again");
        // A copy that is damaged is replaced.
        fs::write(&first[0].0, "cut off").unwrap();
        let said = run(&["remote", "hosts", "experiment.yaml"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(fs::read(&first[0].0).unwrap() == fs::read(PROGRAM).unwrap());
    }

    #[test]
    fn a_fleet_over_nats_asks_as_one() {
        needs!([Need::Server("nats-server")]);
        let laboratory = Laboratory::new();
        let fleet = Laboratories::start(&laboratory, &["l1", "l2", "db1"]);
        laboratory.write(
            "experiment.yaml",
            format!(
                "{FLEET}
arms: {{one: {{engine: simulated, on: db1, service: constant, service_mean: 5ms}}}}
load: {{closed: {{threads: [4]}}}}
load_phase: {{threads: 16}}
measurement: {{warm_up: 0s, duration: 60s, operations: 400, blocks: 2, seed: 1}}"
            ),
        );
        let said = fleet.run(&laboratory, &["run", "experiment.yaml"]);
        let record = laboratory.record_so_far().unwrap_or_else(|| panic!("{said:?}"));
        assert_eq!(finished(&record), 2, "{said:?}");
        for run in &record.runs {
            let end = run.points[0].end.as_ref().unwrap();
            let shares: Vec<_> = end
                .hosts
                .iter()
                .map(|host| (host.host.as_deref().unwrap(), host.completed.ok))
                .collect();
            assert_eq!(shares, [("l1", 200), ("l2", 200)]);
        }
        // The agents wait for the next.
        let said = fleet.run(&laboratory, &["remote", "hosts", "experiment.yaml"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_contains(&said.out, "db1 (agent db1)\n  arms        one");
    }
}

mod slow {
    use super::*;

    /// On agents in network namespaces, seven and three of them, with the load from another one.
    #[test]
    fn studies_of_machines_run_whole_on_agents() {
        needs!([
            Need::Root,
            Need::Server("mongod"),
            Need::Server("nats-server"),
            Need::Program("ip"),
            Need::Program("nsenter")
        ]);
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        for (study, arms) in [("processors", 2), ("clouds", 6)] {
            let laboratory = Laboratory::new();
            let file = root.join(format!("studies/{study}.yaml"));
            let environment = laboratory.command(&[]);
            let of_laboratory =
                environment.get_envs().filter_map(|(key, value)| Some((key, value?)));
            let said = Command::new(root.join("scripts/fleet.sh"))
                .arg(&file)
                .args(["--scale", "hosts", "--blocks", "1", "--anyway", "--keep-going"])
                .args(["--warm-up", "0s", "--duration", "1s"])
                .envs(of_laboratory)
                .env("PLIMSOLL", PROGRAM)
                .stdin(Stdio::null())
                .output();
            let said = crate::laboratory::Said::of(said.unwrap());
            let record = laboratory.record();
            assert_eq!(finished(&record), arms, "{said:?}");
        }
    }

    #[test]
    fn an_arm_runs_on_another_machine() {
        let laboratory = Laboratory::new();
        let way = format!("{{command: {}}}", command(&laboratory, PROGRAM, "server"));
        let said = laboratory.experiment(two_machines(&way, 20, 1));
        let record = laboratory.record();
        assert_eq!(finished(&record), 2, "{said:?}");
        let (here, there) = (&record.runs[0], &record.runs[1]);
        for run in [here, there] {
            let slices = run.points.iter().flat_map(|point| &point.slices);
            let completed: u64 = slices.map(|slice| slice.completed.ok).sum();
            assert_eq!(completed, 20, "{}", run.arm);
        }
        assert_eq!(here.machine.fingerprint(), there.machine.fingerprint());
        assert!(there.machine.program_clock.is_some());
        // Each machine is timed before and after the block.
        let probed: Vec<_> = [here, there]
            .iter()
            .flat_map(|run| &run.probe_tasks)
            .map(|probe| probe.host.as_deref())
            .collect();
        assert_eq!(probed, [None, Some("db1"), None, Some("db1")]);
        assert_eq!(record.plan["arms"][1]["on"], "db1");
    }

    /// As on a busy machine: longer than the lease of 5 s, after which an agent that was there is gone.
    #[test]
    fn an_agent_that_is_slow_to_start_is_waited_for() {
        let laboratory = Laboratory::new();
        let script = laboratory
            .write("slow-agent", format!("sleep 6; exec {PROGRAM} agent --stdio --allow server"));
        let way = format!("{{command: [sh, {}]}}", script.display());
        let said = laboratory.experiment(two_machines(&way, 20, 1));
        assert_eq!(finished(&laboratory.record()), 2, "{said:?}");
    }

    #[test]
    #[cfg(feature = "wiredtiger")]
    fn disks_filesystems_and_limits_are_made_there_and_traces_come_back() {
        needs!([Need::Root, Need::Program("fio"), Need::File("/dev/fuse")]);
        let laboratory = Laboratory::new();
        let way = format!("{{command: {}}}", command(&laboratory, PROGRAM, "disk"));
        let text = format!(
        "
plimsoll: 1
name: there
hosts: {{db1: {way}}}
workload: {{records: 500, preset: a}}
defaults: {{engine: wiredtiger, cache_size: 16MiB}}
arms:
  there: {{on: db1, disk: {{capacity: 512MiB, iops: 3000, trace: 100k}}, filesystem: ext4, limits: {{memory: 512MiB}}}}
load: {{closed: {{threads: 1}}}}
measurement: {{warm_up: 0s, duration: 60s, operations: 500, blocks: 1}}"
    );
        laboratory.write("experiment.yaml", text);
        // Whether fio finds the disk as it should be depends on what else the machine does.
        let said = laboratory.run(&["run", "experiment.yaml", "--no-calibration"]);
        let record = laboratory.record_so_far().unwrap_or_else(|| panic!("{said:?}"));
        assert_eq!(finished(&record), 1, "{said:?}");
        let rig = record.runs[0].rig.as_ref().unwrap();
        let trace = rig.trace.as_ref().expect("the trace was fetched");
        assert!(trace.path.is_file(), "{trace:?}");
        assert!(rig.lateness.is_some());
        let slices = &record.runs[0].points[0].slices;
        let shaped = plimsoll_record::figures::DEVICE_SHAPED;
        assert!(
            slices.iter().all(|slice| slice.telemetry.get(shaped) == Some(&1.0)),
            "the disk there was watched"
        );
        let there = laboratory.path("there/cache/plimsoll/data");
        let left = fs::read_dir(there).map_or(0, Iterator::count);
        assert_eq!(left, 0, "data was left there");
    }

    #[test]
    fn a_clock_that_is_hours_off_is_known_within_its_bound() {
        needs!([Need::Root, Need::Program("unshare")]);
        let laboratory = Laboratory::new();
        let way = format!(
            "{{command: [unshare, --time, --monotonic, '7200', --fork, {PROGRAM}, agent, --stdio]}}"
        );
        laboratory.write("experiment.yaml", two_machines(&way, 1, 1));
        let said = laboratory.run(&["remote", "hosts", "experiment.yaml", "--json"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let seen: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        let clock: ClockOffset = serde_json::from_value(seen[1]["clock"].clone()).unwrap();
        let off = clock.offset_ns.abs_diff(7_200_000_000_000);
        assert!(off <= clock.bound_ns, "{clock:?}");
        assert!(clock.bound_ns > 0);
    }

    #[test]
    fn a_machine_that_is_lost_fails_its_run_by_name_and_is_asked_again() {
        let (laboratory, said) = try_until(|| {
            let laboratory = Laboratory::new();
            let way = format!("{{command: {}}}", command(&laboratory, PROGRAM, "server"));
            let mut running = laboratory.start_experiment(two_machines(&way, 250, 1));
            is_measured_there(&laboratory, &mut running)?;
            send(agent(&running)?, Signal::KILL);
            let said = running.end();
            let attempts = laboratory.record().runs.len();
            (attempts == 3).then_some((laboratory, said))
        });
        let record = laboratory.record();
        let expected =
            [("here", 0, 1, "finished"), ("there", 0, 1, "failed"), ("there", 0, 2, "finished")];
        assert_eq!(runs(&record), expected, "{said:?}");
        let failed = record.runs.iter().find_map(|run| match &run.state {
            RunState::Failed { message } => Some(message.clone()),
            _ => None,
        });
        assert_contains(failed.unwrap(), "host db1");
    }

    #[test]
    fn a_program_that_is_killed_leaves_nothing_on_another_machine() {
        try_until(|| {
            let laboratory = Laboratory::new();
            let way = format!("{{command: {}}}", command(&laboratory, PROGRAM, "server"));
            let mut running = laboratory.start_experiment(two_machines(&way, 100_000, 1));
            // The arm here is left out of it.
            laboratory.wait_for_record(&mut running, |record| !record.runs.is_empty())?;
            running.send(Signal::KILL);
            running.end();
            // The laboratory waits for all its processes.
            wait_until("agents to end", || laboratory.processes().is_empty());
            Some(())
        });
    }

    /// Nobody needs it again before the program has gone.
    #[test]
    fn what_a_killed_rig_has_left_is_undone_when_the_program_goes() {
        try_until(|| {
            let laboratory = Laboratory::new();
            let way = format!("{{command: {}}}", command(&laboratory, PROGRAM, "server"));
            let mut running = laboratory.start_experiment(two_machines(&way, 300, 1));
            is_measured_there(&laboratory, &mut running)?;
            let rig = crate::laboratory::child(agent(&running)?, "rig")?;
            let journals = || {
                let folder = laboratory.path("there/state/plimsoll/journal");
                fs::read_dir(folder).map_or(0, Iterator::count)
            };
            assert_eq!(journals(), 1);
            send(rig, Signal::KILL);
            running.send(Signal::INT);
            running.end();
            wait_until("agents to end", || laboratory.processes().is_empty());
            assert_eq!(journals(), 0, "its journal is left");
            Some(())
        });
    }

    /// A controller that may only start load must not write as root.
    #[test]
    fn workers_of_an_agent_of_root_are_not_root() {
        needs!([Need::Root]);
        try_until(|| {
            let laboratory = Laboratory::new();
            let way = format!("{{command: {}}}", command(&laboratory, PROGRAM, "load"));
            let mut running = laboratory.start_experiment(two_machines(&way, 300, 1));
            is_measured_there(&laboratory, &mut running)?;
            let worker = crate::laboratory::child(agent(&running)?, "worker")?;
            let owner = fs::metadata(format!("/proc/{worker}")).ok()?.uid();
            assert_ne!(owner, 0);
            running.send(Signal::INT);
            running.end();
            Some(())
        });
    }

    /// The program stands still, so its agent gets nothing from it, as when a line is cut.
    #[test]
    fn no_worker_outlives_the_lease() {
        let laboratory = try_until(|| {
            let laboratory = Laboratory::new();
            let way = format!("{{command: {}}}", command(&laboratory, PROGRAM, "server"));
            let mut running = laboratory.start_experiment(two_machines(&way, 300, 1));
            is_measured_there(&laboratory, &mut running)?;
            let agent = agent(&running)?;
            running.send(Signal::STOP);
            // Nobody takes note of its end while the program stands still.
            let is_gone =
                || fs::read(format!("/proc/{agent}/environ")).map_or(true, |text| text.is_empty());
            wait_until("the agent to end", is_gone);
            let workers = laboratory.processes();
            assert!(!workers.iter().any(|process| is_worker(*process)), "a worker is left");
            running.send(Signal::CONT);
            let said = running.end();
            let attempts = laboratory.record().runs.len();
            assert!(attempts == 3, "{said:?}");
            Some(laboratory)
        });
        assert_eq!(finished(&laboratory.record()), 2);
    }

    #[test]
    fn a_key_that_ssh_does_not_take_is_said_with_what_to_do() {
        needs!([Need::Root, Need::Program("sshd"), Need::Program("ssh")]);
        let laboratory = Laboratory::new();
        let sshd = Sshd::start(&laboratory, false);
        laboratory.write("experiment.yaml", two_machines("{ssh: db1.example}", 20, 1));
        let mut command = laboratory.command(&["run", "experiment.yaml"]);
        let said = command.env("PATH", sshd.path()).output().unwrap();
        let said = crate::laboratory::Said::of(said);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert_contains(&said.err, "host db1: ssh does not reach db1.example");
        assert_contains(&said.err, "ssh-copy-id db1.example");
    }

    #[test]
    fn several_machines_ask_as_one() {
        let laboratory = Laboratory::new();
        let hosts = three(&laboratory);
        let said = laboratory.experiment(format!(
            "
plimsoll: 1
name: several
{hosts}
workload: {{records: 7, mixes: {{both: {{read: 50%, update: 50%}}}}}}
arms: {{one: {{engine: simulated, service: constant, service_mean: 5ms}}}}
load: {{closed: {{threads: [1, 7]}}, open: {{rates: [300], sessions: 30, arrivals: constant}}}}
load_phase: {{threads: 3}}
measurement: {{warm_up: 0s, duration: 60s, operations: 601, blocks: 1, seed: 1}}"
        ));
        let record = laboratory.record_so_far().unwrap_or_else(|| panic!("{said:?}"));
        assert_eq!(finished(&record), 1, "{said:?}");
        let run = &record.runs[0];
        for point in run.points.iter().chain(&run.load) {
            let label = &point.label.load_label;
            let completed: u64 = point.slices.iter().map(|slice| slice.completed.ok).sum();
            let end = point.end.as_ref().unwrap();
            let unfinished = end.unfinished.as_ref().map_or(0, |times| times.count());
            // The simulated engine is within each worker, with data of its own.
            let expected = if point.label.mix == "load" { 21 } else { 601 };
            assert_eq!(completed + unfinished, expected, "{label}");
            let names: Vec<_> = end.hosts.iter().map(|host| host.host.as_deref()).collect();
            assert_eq!(names, [Some("l1"), None, Some("l2")]);
            let of_hosts: u64 = end.hosts.iter().map(|host| host.completed.ok).sum();
            assert_eq!(of_hosts, completed, "{label}");
            assert!(end.hosts.iter().all(|host| host.makes_load));
            // And each second says whose operations they were.
            for (place, host) in end.hosts.iter().enumerate() {
                let slices = point.slices.iter();
                let by_second: u64 = slices.map(|slice| slice.by_host[place]).sum();
                assert_eq!(by_second, host.completed.ok, "{label}");
            }
            // Each second is one slice, of all.
            let indices: Vec<u32> = point.slices.iter().map(|slice| slice.index).collect();
            let each: Vec<u32> = (0..indices.len() as u32).collect();
            assert_eq!(indices, each, "{label}");
        }
        let seven = &run.points[1].end.as_ref().unwrap().hosts;
        let shares: Vec<u64> = seven.iter().map(|host| host.completed.ok).collect();
        // Seven sessions on three machines, 601 operations on seven sessions.
        assert_eq!(shares, [172, 172, 257]);
        assert!(seven.iter().all(|host| host.first_after_ns.is_some_and(|after| after >= 0)));
    }

    #[test]
    fn the_line_is_searched_by_what_all_machines_measured() {
        let laboratory = Laboratory::new();
        let hosts = three(&laboratory);
        let said = laboratory.experiment(format!(
        "
plimsoll: 1
name: searched
{hosts}
workload: {{records: 3, preset: c}}
arms: {{one: {{engine: simulated, service: constant, service_mean: 10ms}}}}
objective: {{response: {{p50: 50ms}}, achieved: 50%, search: {{rates: [50, 1000], sessions: 6, trial: 1s, warm_up: 0s, width: 50%}}}}
measurement: {{blocks: 1, seed: 1}}"
    ));
        let record = laboratory.record_so_far().unwrap_or_else(|| panic!("{said:?}"));
        assert_eq!(finished(&record), 1, "{said:?}");
        let rates: Vec<f64> = record.runs[0]
            .points
            .iter()
            .filter_map(|point| match point.label.load {
                plimsoll_record::LoadKind::Open { rate, .. } => Some(rate),
                plimsoll_record::LoadKind::Closed { .. } => None,
            })
            .collect();
        assert!(rates.len() > 3, "{rates:?}");
        // Six sessions of 10 ms serve no more than 600 a second.
        let last = rates.last().unwrap();
        assert!((100.0..700.0).contains(last), "{rates:?}");
    }

    #[test]
    fn ctrl_c_stops_the_workers_on_all_machines() {
        try_until(|| {
            let laboratory = Laboratory::new();
            let hosts = three(&laboratory);
            let mut running = laboratory.start_experiment(format!(
                "
plimsoll: 1
name: stopped
{hosts}
workload: {{records: 7, preset: c}}
arms: {{one: {{engine: simulated, service: constant, service_mean: 5ms}}}}
load: {{closed: {{threads: [7]}}}}
load_phase: {{threads: 3}}
measurement: {{warm_up: 0s, duration: 600s, blocks: 1, seed: 1}}"
            ));
            laboratory.wait_for_record(&mut running, has_slices)?;
            running.send(Signal::INT);
            let said = running.end();
            assert_eq!(said.code, Some(105), "{said:?}");
            let expected = [("one", 0, 1, "interrupted")];
            assert_eq!(runs(&laboratory.record()), expected, "{said:?}");
            Some(())
        });
    }

    #[test]
    fn a_load_host_that_cannot_be_reached_is_said_before_anything_begins() {
        let laboratory = Laboratory::new();
        let hosts = "hosts: {l1: {command: [sh, -c, 'echo no such machine >&2; exit 3']}}\nload_hosts: [controller, l1]";
        let said = laboratory.experiment(format!(
            "
plimsoll: 1
name: unreachable
{hosts}
workload: {{records: 7, preset: c}}
arms: {{one: {{engine: simulated}}}}
load: {{closed: {{threads: [7]}}}}
measurement: {{warm_up: 0s, duration: 1s, blocks: 1, seed: 1}}"
        ));
        assert_eq!(said.code, Some(1), "{said:?}");
        assert_contains(&said.err, "host l1: no agent answers there: no such machine");
        let runs = laboratory.record_so_far().map_or(0, |record| record.runs.len());
        assert_eq!(runs, 0, "nothing was begun");
    }

    #[test]
    fn a_load_host_that_is_lost_is_named_and_its_run_is_made_again() {
        try_until(|| {
            let laboratory = Laboratory::new();
            let hosts = three(&laboratory);
            let mut running = laboratory.start_experiment(format!(
                "
plimsoll: 1
name: lost
{hosts}
workload: {{records: 7, preset: c}}
arms: {{one: {{engine: simulated, service: constant, service_mean: 5ms}}}}
load: {{closed: {{threads: [7]}}}}
load_phase: {{threads: 3}}
measurement: {{warm_up: 0s, duration: 60s, operations: 5k, blocks: 1, seed: 1}}"
            ));
            laboratory.wait_for_record(&mut running, has_slices)?;
            send(agent(&running)?, Signal::KILL);
            let said = running.end();
            let record = laboratory.record();
            if record.runs.len() < 2 {
                return None;
            }
            let expected = [("one", 0, 1, "failed"), ("one", 0, 2, "finished")];
            assert_eq!(runs(&record), expected, "{said:?}");
            let RunState::Failed { message } = &record.runs[0].state else {
                panic!("{said:?}");
            };
            assert_contains(message, "host l");
            Some(())
        });
    }

    #[test]
    #[cfg(feature = "mongodb")]
    fn load_and_server_stand_on_different_machines() {
        needs!([Need::Root, Need::Server("mongod"), Need::Program("fio"), Need::File("/dev/fuse")]);
        let laboratory = Laboratory::new();
        let load = command(&laboratory, PROGRAM, "load");
        let server = command(&laboratory, PROGRAM, "server,disk");
        laboratory.write(
        "experiment.yaml",
        format!(
            "
plimsoll: 1
name: apart
hosts:
  l1: {{command: {load}}}
  l2: {{command: {load}}}
  db1: {{command: {server}, address: 127.0.0.2}}
load_hosts: [l1, l2]
workload: {{records: 500, preset: a}}
arms:
  there: {{engine: mongodb, server: mongod, on: db1, disk: {{capacity: 2GiB, iops: 3000, trace: 100k}}, filesystem: xfs, cache_size: 256MiB, limits: {{memory: 1GiB}}}}
load: {{closed: {{threads: [4]}}, open: {{rates: [200], sessions: 8, arrivals: constant}}}}
measurement: {{warm_up: 1s, duration: 3s, blocks: 1}}"
        ),
    );
        let (said, record) = run_with_a_mongod(&laboratory);
        let run = &record.runs[0];
        assert_eq!(run.records_loaded, Some(500));
        for point in &run.points {
            let end = point.end.as_ref().unwrap();
            let hosts: Vec<_> = end
                .hosts
                .iter()
                .map(|host| (host.host.as_deref().unwrap(), host.makes_load))
                .collect();
            assert_eq!(hosts, [("l1", true), ("l2", true), ("db1", false)]);
            let parts: u64 = end.hosts.iter().map(|host| host.completed.ok).sum();
            let measured = point.slices.iter().filter(|slice| !slice.warm_up);
            let all: u64 = measured.clone().map(|slice| slice.completed.ok).sum();
            assert_eq!(parts, all);
            assert!(end.hosts[..2].iter().all(|host| host.completed.ok > 0));
            // The machine of the server is watched there, its disk and its process, in the same seconds.
            for slice in measured {
                for figure in ["device.writes", "server.cpu.ns", "group.memory"] {
                    assert!(
                        slice.telemetry.keys().any(|name| name.starts_with(figure)),
                        "{figure} is not in {:?}",
                        slice.telemetry.keys()
                    );
                }
            }
        }
        let due = run.points[1].end.as_ref().unwrap().due;
        assert_eq!(due, Some(600), "3 s at 200 a second, over two machines");
        assert!(run.rig.as_ref().unwrap().trace.is_some(), "{said:?}");
    }

    #[test]
    #[cfg(feature = "mongodb")]
    fn packets_that_are_lost_are_seen() {
        needs!([Need::Root, Need::Server("mongod"), Need::Program("ip"), Need::Program("tc")]);
        let cable = Cable::new();
        // Room for a few answers of more than a kilobyte; 16 sessions want more at once, and what finds no room is dropped.
        cable.limit("20mbit", "2kb", "5kb");
        let record = over_a_cable(&cable, 16, "");
        let end = record.runs[0].points[0].end.as_ref().unwrap();
        let server = end.hosts[1].network.as_ref().unwrap();
        assert!(server.retransmitted > 10, "{server:?}");
        let loss = rule(&record, CauseKind::NetworkLoss);
        assert_eq!(loss.holds, Some(true), "{loss:?} {:?}", end.hosts);
    }

    #[test]
    #[cfg(feature = "mongodb")]
    fn a_full_link_is_known_where_the_file_says_what_it_carries() {
        needs!([Need::Root, Need::Server("mongod"), Need::Program("ip"), Need::Program("tc")]);
        let cable = Cable::new();
        // Room for all that 16 sessions ask for, so that nothing is dropped.
        cable.limit("5mbit", "16kb", "1mb");
        for (link, holds) in [("", None), (", link: 625kB/s", Some(true))] {
            let record = over_a_cable(&cable, 16, link);
            let end = record.runs[0].points[0].end.as_ref().unwrap();
            let server = end.hosts[1].network.as_ref().unwrap();
            assert_eq!(server.link_bytes_per_second, holds.map(|_| 625_000), "{server:?}");
            let full = rule(&record, CauseKind::NetworkBandwidth);
            assert_eq!(full.holds, holds, "{full:?} {server:?}");
        }
    }

    #[test]
    #[cfg(feature = "mongodb")]
    fn the_network_between_load_and_server_is_measured_at_both_ends() {
        needs!([Need::Root, Need::Server("mongod"), Need::Program("ip")]);
        let record = over_a_cable(&Cable::new(), 4, "");
        let point = &record.runs[0].points[0];
        let hosts = &point.end.as_ref().unwrap().hosts;
        let [load, server] = hosts.as_slice() else { panic!("{hosts:?}") };
        let operations = load.completed.ok;
        let load = load.network.as_ref().expect("the load host watches");
        let server = server.network.as_ref().expect("so does the server's");
        // Seconds begin together but for the clocks' bounds, and both ends count the same packets.
        for (sent, received) in
            [(load.sent_bytes, server.received_bytes), (server.sent_bytes, load.received_bytes)]
        {
            let ratio = sent as f64 / received as f64;
            assert!((0.9..1.1).contains(&ratio), "{load:?} {server:?}");
        }
        // A record of ten fields of 100 bytes comes with each read.
        assert!(load.received_bytes > 1_000 * operations, "{load:?}");
        // Each request is a segment; those of the last moment are counted in one second or the next.
        assert!(load.segments > operations / 10 * 9, "{load:?}");
        assert_eq!(load.link_bytes_per_second, None, "a cable that is none");
        let round_trips = load.round_trips.expect("the kernel has timed them");
        assert!(round_trips.connections >= 4, "{round_trips:?}");
        assert!(round_trips.least_ns <= round_trips.median_ns);
        assert!((1_000..5_000_000).contains(&round_trips.median_ns), "{round_trips:?}");
        assert_eq!(server.round_trips, None);
        // Second by second it is that of the server's machine.
        let received = plimsoll_record::figures::NETWORK_RECEIVED_BYTES;
        let measured = point.slices.iter().filter(|slice| !slice.warm_up);
        let by_second = measured.filter_map(|slice| slice.telemetry.get(received));
        let sum: f64 = by_second.sum();
        assert_eq!(sum, server.received_bytes as f64);
    }

    #[test]
    #[cfg(feature = "mongodb")]
    fn what_nats_refuses_is_said_with_what_to_do() {
        needs!([Need::Server("nats-server")]);
        let laboratory = Laboratory::new();
        let fleet = Laboratories::start(&laboratory, &["l1"]);
        let text = two_machines("{agent: nobody}", 1, 1);
        laboratory.write("experiment.yaml", &text);
        let said = fleet.run(&laboratory, &["run", "experiment.yaml"]);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert_contains(&said.err, "host db1:");
        assert_contains(&said.err, "nobody");
        // Without a server, with another's seed, and when nobody said where it is.
        let said = laboratory.run(&["run", "experiment.yaml"]);
        assert_contains(&said.err, "--nats URL");
        let mut command =
            fleet.environment(&laboratory, &["run", "experiment.yaml"], "nats/l1.seed");
        let said = crate::laboratory::Said::of(command.output().unwrap());
        assert_eq!(said.code, Some(1), "{said:?}");
        let mut command =
            fleet.environment(&laboratory, &["remote", "hosts"], "nats/controller.seed");
        let said = command.env("PLIMSOLL_NATS", "nats://127.0.0.1:1").output().unwrap();
        let said = crate::laboratory::Said::of(said);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert_contains(&said.err, "127.0.0.1:1");
        // The same name twice.
        let mut second = fleet.environment(&laboratory, &["agent", "--name", "l1"], "nats/l1.seed");
        let said = crate::laboratory::Said::of(second.output().unwrap());
        assert_eq!(said.code, Some(1), "{said:?}");
        assert_contains(&said.err, "an agent named l1 is already connected");
        // A password that would travel in clear.
        laboratory.write(
            "experiment.yaml",
            text.replace(
                "there: {on: db1}",
                "there: {engine: mongodb, uri: 'mongodb://user:secret@127.0.0.1:1/'}",
            )
            .replace("defaults: {engine: simulated, service: constant, service_mean: 10ms}", "")
            .replace("here: {}", "here: {engine: noop}"),
        );
        let said = fleet.run(&laboratory, &["run", "experiment.yaml"]);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert_contains(&said.err, "would travel in clear");
        assert!(!said.err.contains("secret"), "{said:?}");
    }

    #[test]
    fn what_is_no_agent_is_said_before_anything_begins() {
        let laboratory = Laboratory::new();
        let other = laboratory.path("other");
        fs::copy(PROGRAM, &other).unwrap();
        let mut file = fs::OpenOptions::new().append(true).open(&other).unwrap();
        file.write_all(b"another build").unwrap();
        drop(file);
        let other_build = command(&laboratory, other.to_str().unwrap(), "load");
        for (way, expected) in [
            (
                "{command: [sh, -c, 'echo no such machine >&2; exit 3']}",
                "host db1: no agent answers there: no such machine",
            ),
            ("{command: [/there/is/none]}", "host db1: /there/is/none cannot be started"),
            ("{command: [echo, welcome]}", "host db1: no agent answers there"),
            (&*format!("{{command: {other_build}}}"), " of another build, this one plimsoll "),
        ] {
            let said = laboratory.experiment(two_machines(way, 1, 1));
            assert_eq!(said.code, Some(1), "{said:?}");
            assert_contains(&said.err, expected);
        }
        assert!(laboratory.record_so_far().is_none(), "nothing was begun");
    }

    #[test]
    #[cfg(feature = "wiredtiger")]
    fn what_an_agent_does_not_allow_is_said_before_anything_begins() {
        let laboratory = Laboratory::new();
        let way = format!("{{command: {}}}", command(&laboratory, PROGRAM, "load"));
        let text = two_machines(&way, 1, 1)
        .replace("there: {on: db1}", "there: {on: db1, engine: wiredtiger, service: null, service_mean: null, disk: san-raid10}")
        .replace("defaults: {engine: simulated, service: constant, service_mean: 10ms}", "")
        .replace(", service: null, service_mean: null", "")
        .replace("here: {}", "here: {engine: simulated}");
        let said = laboratory.experiment(text);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert_contains(&said.err, "arm there: the agent here was started without --allow disk");
        assert_contains(&said.err, "These arms could run: here");
    }
}
