//! Several machines, of which any part is killed and any link is cut, whenever: nothing that was made stays behind on any of them, no slice that was
//! stored is lost, and the same command finishes.
//!
//! The machines are network namespaces, each with a clock of its own, a link to the controller and to NATS, and a link to the database.
//! `PLIMSOLL_KILLS` sets how often, `PLIMSOLL_SEED` which moments and processes; `./x kills` does it a hundred times.

use crate::hosts::ip;
use crate::killing::{Random, journals, left_behind, nothing_is_lost, role};
use crate::laboratory::{Laboratory, MARK, send, wait_until};
use plimsoll_engine::mongo::document::Elements;
use plimsoll_engine::mongo::{Host, LeanClient, LeanOptions};
use plimsoll_record::{ExperimentRecord, ExperimentState, RunState};
use plimsoll_testing::{Need, needs, server};
use plimsoll_workload::DataSpec;
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The machines, and the last byte of their addresses. The controller has 1.
const HOSTS: [(&str, u8); 3] = [("l1", 11), ("l2", 12), ("db1", 13)];
const LOAD_HOSTS: [&str; 2] = ["l1", "l2"];
const PORT: u16 = 4222;
/// What has ended comes back after this time, as a service manager would bring it back.
const RESTART: Duration = Duration::from_secs(1);
const LONGEST_COMMAND: Duration = Duration::from_secs(120);
/// What was made is undone within this time.
const LONGEST_UNDO: Duration = Duration::from_secs(40);
/// From the start of a command to a kill, milliseconds.
const LONGEST_WAIT: u64 = 14_000;
/// A side that hears nothing for this long takes the other for gone.
const LEASE: Duration = Duration::from_secs(5);
/// How often the same command is called again at most.
const COMMANDS: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Controller,
    LoadAgent,
    ServerAgent,
    Worker,
    Rig,
    DiskDaemon,
    Mongod,
    NatsServer,
    /// Between a machine and the controller.
    ControlLink,
    /// Between a machine and the database.
    DataLink,
    /// All processes of a machine, as when it goes down.
    Machine,
}

impl Part {
    /// The first few in the tests.
    const ALL: [Self; 11] = [
        Self::ControlLink,
        Self::Controller,
        Self::ServerAgent,
        Self::NatsServer,
        Self::Mongod,
        Self::LoadAgent,
        Self::DiskDaemon,
        Self::Worker,
        Self::Machine,
        Self::Rig,
        Self::DataLink,
    ];

    /// Whether a process on this machine, or else on the controller, is such a part.
    fn is(self, host: Option<&str>, role: &str) -> bool {
        match self {
            Self::Controller => host.is_none() && role == "run",
            Self::LoadAgent => role == "agent" && host != Some("db1"),
            Self::ServerAgent => role == "agent" && host == Some("db1"),
            Self::Worker => role == "worker",
            Self::Rig => role == "rig",
            Self::DiskDaemon => role == "disk-daemon",
            Self::Mongod => role == "mongod",
            Self::NatsServer => role == "nats-server",
            Self::Machine => host.is_some() && role == "agent",
            Self::ControlLink | Self::DataLink => false,
        }
    }
}

/// Two bridges, and a namespace for each machine with a link to both.
struct Network {
    number: u32,
}

impl Network {
    fn make() -> Self {
        // Other tests may make theirs at the same time.
        let network = Self { number: std::process::id() % 250 + 1 };
        for net in ["c", "d"] {
            let bridge = format!("pk{}{net}", network.number);
            ip(&["link", "add", &bridge, "type", "bridge"]);
            let address = format!("{}/24", network.address(net, 1));
            ip(&["address", "add", &address, "dev", &bridge]);
            ip(&["link", "set", &bridge, "up"]);
        }
        for (host, byte) in HOSTS {
            let namespace = network.namespace(host);
            ip(&["netns", "add", &namespace]);
            ip(&["-n", &namespace, "link", "set", "lo", "up"]);
            for net in ["c", "d"] {
                let (here, bridge) =
                    (network.link(net, host), format!("pk{}{net}", network.number));
                let there = ["peer", "name", net, "netns", &namespace];
                ip(&[&["link", "add", &here, "type", "veth"], &there[..]].concat());
                ip(&["link", "set", &here, "master", &bridge, "up"]);
                let address = format!("{}/24", network.address(net, byte));
                ip(&["-n", &namespace, "address", "add", &address, "dev", net]);
                ip(&["-n", &namespace, "link", "set", "dev", net, "up"]);
            }
        }
        network
    }

    fn address(&self, net: &str, byte: u8) -> String {
        let second = if net == "c" { 78 } else { 79 };
        format!("10.{second}.{}.{byte}", self.number)
    }

    fn namespace(&self, host: &str) -> String {
        format!("pk{}-{host}", self.number)
    }

    fn link(&self, net: &str, host: &str) -> String {
        format!("pk{}{net}-{host}", self.number)
    }

    /// The machine that a process is on; `None`: that of the controller.
    fn host_of(&self, process: u32) -> Option<&'static str> {
        let of_process = fs::metadata(format!("/proc/{process}/ns/net")).ok()?.ino();
        let is_it = |host: &str| {
            let namespace = fs::metadata(format!("/run/netns/{}", self.namespace(host)));
            namespace.is_ok_and(|namespace| namespace.ino() == of_process)
        };
        let hosts = HOSTS.map(|(host, _)| host);
        hosts.into_iter().find(|host| is_it(host))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for (host, _) in HOSTS {
            ip(&["netns", "delete", &self.namespace(host)]);
        }
        for net in ["c", "d"] {
            ip(&["link", "delete", &format!("pk{}{net}", self.number)]);
        }
    }
}

/// What comes back when it has ended: an agent, or the nats-server.
struct Member {
    name: &'static str,
    child: Child,
    ended: Option<Instant>,
}

struct Fleet {
    members: Vec<Member>,
    /// A link that is cut, and how long.
    cut: Option<(String, Instant)>,
    /// Of journals that were there.
    tokens: BTreeSet<String>,
    network: Network,
    laboratory: Laboratory,
}

impl Fleet {
    fn start() -> Self {
        let (laboratory, network) = (Laboratory::new(), Network::make());
        let listen = format!("{}:{PORT}", network.address("c", 1));
        let mut arguments =
            vec!["remote", "nats", "init", "--listen", &listen, "--directory", "nats"];
        for (host, _) in HOSTS {
            arguments.extend(["--agent", host]);
        }
        let said = laboratory.run(&arguments);
        assert_eq!(said.code, Some(0), "{said:?}");
        let mut fleet =
            Self { members: Vec::new(), cut: None, tokens: BTreeSet::new(), network, laboratory };
        fleet.add("nats-server");
        wait_until("nats-server to listen", || std::net::TcpStream::connect(&listen).is_ok());
        // Somebody who may must make the bucket and the stream.
        let said = fleet.command(&["remote", "hosts"]).output().unwrap();
        assert!(said.status.success(), "{said:?}");
        for (host, _) in HOSTS {
            fleet.add(host);
        }
        wait_until("the agents to join", || {
            let said = fleet.command(&["remote", "hosts"]).output().unwrap();
            String::from_utf8_lossy(&said.stdout).lines().count() == HOSTS.len()
        });
        fleet
    }

    /// The controller is lost during points that would go on for longer than the lease; all others are short.
    fn write_experiment(&self, loses_controller: bool) {
        let measured =
            if loses_controller { "duration: 10s, blocks: 1" } else { "duration: 2s, blocks: 2" };
        let address = self.network.address("d", HOSTS[2].1);
        self.laboratory.write(
            "experiment.yaml",
            format!(
                "
plimsoll: 1
name: killed
hosts:
  l1: {{agent: l1, roles: [load]}}
  l2: {{agent: l2, roles: [load]}}
  db1: {{agent: db1, address: {address}, roles: [server]}}
load_hosts: [l1, l2]
workload: {{records: 500, preset: a}}
defaults:
  engine: mongodb
  server: mongod
  on: db1
  cache_size: 32MiB
  disk: {{capacity: 2GiB, trace: 10k}}
  filesystem: xfs
  limits: {{memory: 1GiB, cpus: 1.5}}
arms: {{snappy: {{block_compressor: snappy}}, none: {{block_compressor: none}}}}
load: {{closed: {{threads: 4}}}}
measurement: {{warm_up: 0s, {measured}}}"
            ),
        );
    }

    fn add(&mut self, name: &'static str) {
        let child = self.spawn(name);
        self.members.push(Member { name, child, ended: None });
    }

    fn spawn(&self, name: &str) -> Child {
        let laboratory = &self.laboratory;
        let mut command = match name {
            "nats-server" => {
                let mut command = Command::new(server("nats-server").unwrap());
                command.args(["--config", "nats/nats.conf"]);
                command
            }
            host => {
                // `ip netns exec` would hide the control groups.
                let number = HOSTS.iter().position(|(name, _)| *name == host).unwrap();
                let agent = laboratory.command(&["agent", "--name", host]);
                let mut command = Command::new("nsenter");
                command
                    .arg(format!("--net=/run/netns/{}", self.network.namespace(host)))
                    .args([
                        "unshare",
                        "--time",
                        "--monotonic",
                        &format!("{}", 1_000 * (number + 1)),
                    ])
                    .arg("--fork")
                    .arg(agent.get_program())
                    .args(agent.get_args())
                    .args(["--allow", if host == "db1" { "load,server,disk" } else { "load" }])
                    .env_clear()
                    .envs(self.environment(&format!("nats/{host}.seed")))
                    .env("HOME", laboratory.path(host))
                    .env("XDG_STATE_HOME", laboratory.path(&format!("{host}/state")))
                    .env("XDG_CACHE_HOME", laboratory.path(&format!("{host}/cache")));
                command
            }
        };
        let log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(laboratory.path(&format!("{name}.log")))
            .unwrap();
        command
            .current_dir(laboratory.path(""))
            .env(MARK, laboratory.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    fn environment(&self, seed: &str) -> [(&'static str, String); 4] {
        let servers = server("mongod").unwrap();
        let servers = servers.parent().unwrap().display();
        [
            ("PLIMSOLL_NATS", format!("nats://{}:{PORT}", self.network.address("c", 1))),
            ("PLIMSOLL_NATS_SEED", self.laboratory.path(seed).display().to_string()),
            ("PATH", format!("{servers}:/usr/sbin:/usr/bin:/sbin:/bin")),
            ("LC_ALL", "C.UTF-8".into()),
        ]
    }

    /// The program on the controller.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.laboratory.command(arguments);
        command.envs(self.environment("nats/controller.seed"));
        command
    }

    fn run(&self) -> Child {
        let log = fs::File::create(self.laboratory.path("run.log")).unwrap();
        self.command(&["run", "experiment.yaml", "--quiet", "--no-calibration"])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    /// Brings back what has ended and what was cut.
    fn tend(&mut self) {
        for number in 0..self.members.len() {
            let member = &mut self.members[number];
            if member.child.try_wait().unwrap().is_none() {
                continue;
            }
            if member.ended.get_or_insert_with(Instant::now).elapsed() > RESTART {
                let child = self.spawn(self.members[number].name);
                self.members[number].child = child;
                self.members[number].ended = None;
            }
        }
        if self.cut.as_ref().is_some_and(|(_, end)| *end < Instant::now()) {
            let (link, _) = self.cut.take().unwrap();
            ip(&["link", "set", &link, "up"]);
        }
        for name in self.folders("state") {
            let journals = journals(&self.laboratory, &name);
            self.tokens.extend(journals);
        }
    }

    /// Tends until it is so, at most this long.
    fn tend_until(&mut self, longest: Duration, mut so: impl FnMut(&Self) -> bool) -> bool {
        let begun = Instant::now();
        loop {
            self.tend();
            if so(self) {
                return true;
            }
            if begun.elapsed() > longest {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Where the machines keep their journals or data, within the laboratory.
    fn folders(&self, kind: &str) -> Vec<String> {
        let own = if kind == "state" { ".local/state" } else { kind };
        let of_hosts = HOSTS.iter().map(|(host, _)| format!("{host}/{kind}"));
        of_hosts.chain([own.to_owned()]).collect()
    }

    /// The processes that are such a part, sorted.
    fn targets(&self, part: Part, controller: u32) -> Vec<u32> {
        let mut targets = self.laboratory.processes();
        targets
            .retain(|process| part.is(self.network.host_of(*process), &role(*process, controller)));
        targets.sort_unstable();
        targets
    }

    /// What is there besides what waits for work.
    fn left(&self) -> Vec<String> {
        let mut left = left_behind(
            &self.laboratory,
            &self.folders("state"),
            &self.folders("cache"),
            &self.tokens,
        );
        for process in self.laboratory.processes() {
            let role = role(process, 0);
            if !["agent", "unshare", "nsenter", "nats-server"].contains(&&*role) {
                let host = self.network.host_of(process).unwrap_or("controller");
                left.push(format!("process {process} on {host}: {role}"));
            }
        }
        left
    }

    /// The end of a log of the fleet.
    fn last_of(&self, name: &str) -> String {
        let text = fs::read_to_string(self.laboratory.path(name)).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n    ")
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for member in &mut self.members {
            // The agent, and not the one that waits for it.
            let name = member.name;
            let agents = self.laboratory.processes().into_iter().filter(|process| {
                role(*process, 0) == "agent" && self.network.host_of(*process) == Some(name)
            });
            agents.for_each(|agent| send(agent, Signal::TERM));
            if name == "nats-server" {
                continue;
            }
            let _ = member.child.wait();
        }
        for member in &mut self.members {
            let _ = member.child.kill();
            let _ = member.child.wait();
        }
    }
}

/// The requests that a mongod has had from some machines.
struct Requests {
    client: LeanClient,
    process: u32,
    /// Addresses as the kernel writes them.
    from: Vec<String>,
    count: i64,
    begun: Instant,
    looked: Instant,
    /// When there was one after the begin, at the latest.
    last: Option<Duration>,
}

impl Requests {
    /// Fails where no mongod answers.
    fn of(fleet: &Fleet, hosts: &[&str]) -> Result<Self, String> {
        let process = *fleet.targets(Part::Mongod, 0).first().ok_or("no mongod")?;
        let words = fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let mut words = words.split('\0').skip_while(|word| !word.starts_with("--port"));
        let port = words.nth(1).ok_or("no port")?;
        let host = Host::Tcp {
            host: fleet.network.address("d", HOSTS[2].1),
            port: port.parse().map_err(|_| format!("port {port}"))?,
        };
        let mut options = LeanOptions::new(host, "admin", &DataSpec::with_records(1));
        options.connect_timeout = Duration::from_millis(500);
        options.call_timeout = Some(Duration::from_millis(500));
        let hosts = HOSTS.iter().filter(|(name, _)| hosts.contains(name));
        let mut requests = Self {
            client: LeanClient::connect(&options).map_err(|error| error.to_string())?,
            process,
            from: hosts
                .map(|(_, byte)| format!("{byte:02X}{:02X}4F0A:", fleet.network.number))
                .collect(),
            count: 0,
            begun: Instant::now(),
            looked: Instant::now(),
            last: None,
        };
        requests.count = requests.count_now().ok_or("no figures")?;
        Ok(requests)
    }

    fn count_now(&mut self) -> Option<i64> {
        // {serverStatus: 1}
        let reply =
            self.client.command("admin", b"\x17\0\0\0\x10serverStatus\0\x01\0\0\0\0").ok()?;
        let counters = Elements::of(&reply).ok()?.find(b"opcounters").ok()??;
        let mut sum = 0;
        for name in ["insert", "query", "update", "delete", "getmore"] {
            sum += counters.elements()?.find(name.as_bytes()).ok()??.whole()?;
        }
        Some(sum)
    }

    /// Looks whether there were more, ten times a second; whether it still answers.
    fn look(&mut self) -> bool {
        if self.looked.elapsed() < Duration::from_millis(100) {
            return true;
        }
        self.looked = Instant::now();
        let open =
            fs::read_to_string(format!("/proc/{}/net/tcp", self.process)).unwrap_or_default();
        let Some(count) = self.count_now() else {
            return false;
        };
        let is_open = open.lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words[3] == "01" && self.from.iter().any(|from| words[2].starts_with(from))
        });
        if count > self.count && is_open {
            self.last = Some(self.begun.elapsed());
        }
        self.count = count;
        true
    }
}

/// What came of the kills of a part.
#[derive(Default)]
struct Tally {
    kills: u32,
    /// The command went on and finished.
    went_on: u32,
    /// The same command finished later.
    again: u32,
    /// The latest request after the loss of the controller.
    requests: Vec<Duration>,
}

impl Fleet {
    /// Kills a part while the command runs, and calls the same command until it has finished. What was not as it must be.
    fn kill(&mut self, part: Part, tally: &mut Tally, random: &mut Random) -> Vec<String> {
        let mut defects = Vec::new();
        let waits = Duration::from_millis(random.below(LONGEST_WAIT));
        let which = random.below(1_000) as usize;
        let cut = Duration::from_millis(1_000 + random.below(11_000));
        let is_at_once = random.below(2) == 0;
        let loses = part == Part::Controller
            || part == Part::ControlLink && cut > LEASE + Duration::from_secs(1);
        self.write_experiment(loses);
        let before = self.laboratory.record_so_far();
        let mut running = self.run();
        let controller = running.id();
        let has_ended = |child: &mut Child| child.try_wait().unwrap().is_some();
        self.tend_until(waits, |_| has_ended(&mut running));
        let is_link = matches!(part, Part::ControlLink | Part::DataLink);
        let mut targets = Vec::new();
        self.tend_until(LONGEST_COMMAND, |fleet| {
            targets = fleet.targets(part, controller);
            is_link || !targets.is_empty() || has_ended(&mut running)
        });
        let target = targets.get(which % targets.len().max(1)).copied();
        let host = match target {
            Some(target) => self.network.host_of(target),
            None => Some(HOSTS[which % HOSTS.len()].0),
        };
        let seen = self.laboratory.record_so_far();
        let asking = match host {
            Some(host) if LOAD_HOSTS.contains(&host) => vec![host],
            _ => LOAD_HOSTS.to_vec(),
        };
        let mut requests = if loses {
            let requests = Requests::of(self, &asking);
            requests.inspect_err(|why| println!("  requests are not counted: {why}")).ok()
        } else {
            None
        };
        let is_late = has_ended(&mut running);
        println!(
            "  {part:?} on {} after {waits:?}, cut {cut:?}, late {is_late}",
            host.unwrap_or("controller")
        );
        match (part, host, target) {
            (Part::ControlLink | Part::DataLink, Some(host), _) => {
                let net = if part == Part::ControlLink { "c" } else { "d" };
                let link = self.network.link(net, host);
                ip(&["link", "set", &link, "down"]);
                self.cut = Some((link, Instant::now() + cut));
            }
            (Part::Machine, Some(host), _) => {
                let mut processes = self.laboratory.processes();
                processes.retain(|process| self.network.host_of(*process) == Some(host));
                processes.iter().for_each(|process| send(*process, Signal::KILL));
            }
            (_, _, Some(target)) => send(target, Signal::KILL),
            _ => {}
        }
        let mut is_requested = true;
        if let Some(requests) = &mut requests {
            requests.begun = Instant::now();
        }
        let has_come_to_an_end = self.tend_until(LONGEST_COMMAND, |_| {
            is_requested = is_requested && requests.as_mut().is_some_and(Requests::look);
            has_ended(&mut running)
        });
        if !has_come_to_an_end {
            defects.push(format!("the command has not ended after {LONGEST_COMMAND:?}"));
            running.kill().unwrap();
        }
        if part == Part::Controller && !is_at_once {
            let is_clean = self.tend_until(LONGEST_UNDO, |fleet| {
                is_requested = is_requested && requests.as_mut().is_some_and(Requests::look);
                fleet.left().is_empty()
            });
            if !is_clean {
                defects.push(format!("left before the next command: {:#?}", self.left()));
            }
        }
        if let Some(last) = requests.and_then(|requests| requests.last) {
            tally.requests.push(last);
            if last > LEASE {
                defects.push(format!("a request {last:?} after the loss"));
            }
        }
        let mut code = running.wait().unwrap().code();
        let mut commands = 1;
        loop {
            let record = self.laboratory.record_so_far();
            defects.extend(self.defects_of_command(part, code, record.as_ref(), before.as_ref()));
            let is_new = record.as_ref().map(|record| &record.id)
                != before.as_ref().map(|record| &record.id);
            let is_finished =
                record.is_some_and(|record| record.state == ExperimentState::Finished);
            if is_new && is_finished {
                break;
            }
            if commands == COMMANDS {
                defects.push(format!(
                    "not finished after {COMMANDS} commands: {}",
                    self.last_of("run.log")
                ));
                break;
            }
            commands += 1;
            let mut again = self.run();
            if !self.tend_until(LONGEST_COMMAND, |_| has_ended(&mut again)) {
                defects.push(format!(
                    "the command called again has not ended after {LONGEST_COMMAND:?}"
                ));
                again.kill().unwrap();
            }
            code = again.wait().unwrap().code();
        }
        tally.kills += u32::from(!is_late);
        if commands == 1 {
            tally.went_on += 1;
        } else {
            tally.again += 1;
        }
        if let (Some(seen), Some(after)) = (&seen, self.laboratory.record_so_far())
            && seen.id == after.id
        {
            nothing_is_lost(seen, &after);
        }
        if !self.tend_until(LONGEST_UNDO, |fleet| fleet.left().is_empty() && fleet.cut.is_none()) {
            defects.push(format!("left at the end: {:#?}", self.left()));
        }
        for (host, _) in HOSTS {
            let log = format!("{host}.log");
            if fs::read_to_string(self.laboratory.path(&log)).unwrap().contains("panicked") {
                defects.push(format!("{log}: {}", self.last_of(&log)));
            }
        }
        defects
    }

    /// What is not fitting in how a command ended: a part of a machine that was lost is named in its run, or where it was lost before one, at the end.
    fn defects_of_command(
        &self,
        part: Part,
        code: Option<i32>,
        record: Option<&ExperimentRecord>,
        before: Option<&ExperimentRecord>,
    ) -> Vec<String> {
        let log = self.last_of("run.log");
        let is_new = record.map(|record| &record.id) != before.map(|record| &record.id);
        let runs = record.filter(|_| is_new).map_or(&[][..], |record| &record.runs[..]);
        let mut defects = Vec::new();
        for run in runs {
            if let RunState::Failed { message } = &run.state {
                println!("    {} {} {}: {message}", run.arm, run.block, run.attempt);
                let is_of_host = matches!(
                    part,
                    Part::LoadAgent | Part::ServerAgent | Part::Machine | Part::NatsServer
                );
                let names = HOSTS.map(|(host, _)| format!("host {host}"));
                if is_of_host && !names.iter().any(|name| message.contains(name)) {
                    defects.push(format!("no host is named: {message}"));
                }
            }
        }
        let is_fitting = match code {
            // The same command goes on, or the page has a remark.
            Some(0 | 106) => true,
            Some(_) => log.contains("host ") || log.contains("NATS"),
            None => part == Part::Controller,
        };
        if !is_fitting || log.contains("panicked") {
            defects.push(format!("exit {code:?}: {log}"));
        }
        defects
    }
}

mod slow {
    use super::*;

    #[test]
    fn whatever_is_killed_on_several_machines_leaves_nothing_behind() {
        needs!([
            Need::Root,
            Need::Server("mongod"),
            Need::Server("nats-server"),
            Need::Program("ip"),
            Need::Program("nsenter"),
            Need::Program("mkfs.xfs"),
            Need::File("/dev/fuse")
        ]);
        let number_of =
            |name: &str, or: u64| std::env::var(name).map_or(or, |text| text.parse().unwrap());
        let (kills, seed) = (number_of("PLIMSOLL_KILLS", 4), number_of("PLIMSOLL_SEED", 1));
        println!("seed {seed}");
        let mut random = Random(seed);
        let mut fleet = Fleet::start();
        let mut tallies: BTreeMap<Part, Tally> = BTreeMap::new();
        let mut defects = Vec::new();
        for number in 0..kills {
            let part = Part::ALL[number as usize % Part::ALL.len()];
            let begun = Instant::now();
            let tally = tallies.entry(part).or_default();
            for defect in fleet.kill(part, tally, &mut random) {
                println!("  DEFECT {defect}");
                defects.push(format!("kill {number} of {part:?}: {defect}"));
            }
            println!("kill {number} of {part:?}: {:.1} s", begun.elapsed().as_secs_f64());
        }
        println!("part          kills  went on  finished again  last request after the loss");
        for (part, tally) in &tallies {
            let Tally { kills, went_on, again, .. } = tally;
            let last = tally.requests.iter().max();
            println!(
                "{:12}  {kills:5}  {went_on:7}  {again:14}  {last:?} of {}",
                format!("{part:?}"),
                tally.requests.len()
            );
        }
        // By them the control groups are known.
        assert!(!fleet.tokens.is_empty());
        assert!(defects.is_empty(), "{defects:#?}");
    }
}
