use super::*;
use crate::testbed::laboratory::Site;
use crate::testbed::{Rig, abandoned};
use plimsoll_record::{RigSpec, Role, RoleCommands};
use plimsoll_testing::{Need, assert_contains, assert_ends, assert_starts, needs};
use std::io::Read;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

/// Something that is on most machines and can serve.
const PYTHON: &str = "python3";

/// Serves its directory over HTTP, as Python does, and says so.
fn http() -> ServerSpec {
    spec(&["-u", "-m", "http.server", "{port}", "--bind", "127.0.0.1", "--directory", "{data}"])
}

fn spec(arguments: &[&str]) -> ServerSpec {
    ServerSpec {
        host: None,
        name: "a server".into(),
        program: PYTHON.into(),
        arguments: arguments.iter().map(|&word| word.into()).collect(),
        environment: std::iter::once(("ANSWER".into(), "{port}".into())).collect(),
        version_arguments: vec!["--version".into()],
        address: "test://127.0.0.1:{port}/".into(),
        stop_signal: "TERM".into(),
        ready_within_ns: 60_000_000_000,
        stop_within_ns: 60_000_000_000,
        members: 1,
        after_start: Vec::new(),
        log_bytes: 0,
        roles: None,
    }
}

impl Site {
    fn serve(&mut self, server: ServerSpec) -> Result<Rig, TestbedError> {
        let server = Some(server);
        self.build(&RigSpec { server, ..RigSpec::default() })
    }

    /// Why a server cannot be made.
    fn refuses(&mut self, server: ServerSpec) -> String {
        self.serve(server).unwrap_err().to_string()
    }
}

fn all_ended(processes: &[u32]) {
    for process in processes {
        assert_eq!(started_ticks(*process), None);
    }
}

/// Kills a process and waits until it is gone.
fn kill(process: u32) {
    let pid = rustix::process::Pid::from_raw(process.cast_signed()).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
    assert!(until(Duration::from_secs(10), || started_ticks(process).is_none()));
}

/// What the command sets by itself before it is Python: a version manager's shim sets some.
fn set_by_python_itself() -> Vec<String> {
    let output = std::process::Command::new(PYTHON)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .args(["-c", "import os; print('\\n'.join(os.environ))"])
        .output()
        .unwrap();
    let names = String::from_utf8(output.stdout).unwrap();
    names.lines().map(str::to_string).collect()
}

fn fetch(address: &str) -> String {
    let socket = address.trim_start_matches("test://").trim_end_matches('/');
    let mut stream = TcpStream::connect(socket).unwrap();
    stream.write_all(b"GET /record HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn user_of(process: u32) -> u32 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(format!("/proc/{process}")).unwrap().uid()
}

#[test]
fn a_server_serves_its_data_and_ends() {
    needs!([Need::Program(PYTHON)]);
    let mut site = Site::new();
    let mut rig = site.serve(http()).unwrap();
    std::fs::write(rig.data_directory().join("record"), "of the engine").unwrap();
    let (address, processes) = rig.server().unwrap();
    let process = processes[0];
    assert!(fetch(address).ends_with("of the engine"));
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(user_of(process) != user_of(std::process::id()), is_root);
    // It gets only the environment that it needs, because the rest may hold secrets.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let own = set_by_python_itself();
    assert!(!own.iter().any(|name| name == "CARGO_MANIFEST_DIR"));
    let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap();
    for variable in environment.split(|byte| *byte == 0) {
        let name = String::from_utf8_lossy(variable.split(|byte| *byte == b'=').next().unwrap());
        if own.iter().any(|set| **set == *name) {
            continue;
        }
        let known = ["", "PATH", "LANG", "LC_ALL", "TZ", "HOME", "PWD", "OLDPWD", MARK_VARIABLE];
        let of_spec = http().environment.iter().any(|(given, _)| **given == *name);
        assert!(known.contains(&&*name) || of_spec, "{name}");
    }
    let record = rig.record().server.unwrap();
    assert!(record.version.unwrap().starts_with("Python "));
    assert_contains(&record.command, "-m http.server");
    assert_eq!(record.user.is_some(), is_root);
    rig.is_sound().unwrap();
    rig.stop_server().unwrap();
    assert_eq!(started_ticks(process), None);
    let log = std::fs::read_to_string(&rig.server_logs()[0]).unwrap();
    assert_contains(&log, "GET /record");
    assert_eq!(site.undo(rig), [""; 0]);
    site.nothing_is_left();
}

#[test]
fn a_server_that_fills_its_log_is_ended() {
    needs!([Need::Program(PYTHON)]);
    let mut site = Site::new();
    let rig = site.serve(http()).unwrap();
    let log = rig.server_logs()[0].clone();
    // Not all of it takes room on the disk.
    let file = std::fs::File::options().append(true).open(&log).unwrap();
    file.set_len(256 << 20).unwrap();
    std::io::Write::write_all(&mut &file, b"one line too many\n").unwrap();
    let message = rig.is_sound().unwrap_err().to_string();
    assert_contains(&message, "it wrote more than 256 MiB into its log and was ended");
    assert_eq!(log.metadata().unwrap().len(), 1 << 20);
    site.undo(rig);
    site.nothing_is_left();
}

#[test]
fn a_server_that_is_killed_is_missed_with_its_last_words() {
    needs!([Need::Program(PYTHON)]);
    let mut site = Site::new();
    let mut rig = site.serve(http()).unwrap();
    let (address, processes) = rig.server().unwrap();
    fetch(address);
    kill(processes[0]);
    let message = rig.is_sound().unwrap_err().to_string();
    let begins = "the server a server is gone: it was killed (SIGKILL)";
    assert_starts(&message, begins);
    assert_contains(&message, "its last words: ");
    assert_contains(&message, "GET /record");
    let stopped = rig.stop_server();
    assert!(matches!(stopped, Err(TestbedError::ServerDied { .. })));
    site.undo(rig);
    site.nothing_is_left();
}

#[test]
fn a_server_of_a_program_that_is_gone_is_found_and_ended() {
    needs!([Need::Program(PYTHON)]);
    let mut site = Site::new();
    let rig = site.serve(three()).unwrap();
    let processes = rig.server().unwrap().1;
    let is_alive = |process: &u32| started_ticks(*process).is_some();
    assert!(processes.iter().all(is_alive));
    // A copy of the journal has no owner, as if this program were gone.
    let journals = site.state().join("journal");
    let mut entries = std::fs::read_dir(&journals).unwrap();
    let journal = entries.next().unwrap().unwrap();
    std::fs::copy(journal.path(), journals.join("copy.ndjson")).unwrap();
    let left = abandoned(&site.state()).unwrap();
    assert_eq!(left.len(), 1);
    for left in left {
        assert_contains(left.describe().join("\n"), "the server a server");
        // The data directory has an owner who lives.
        let _ = left.undo(&mut |_| {});
    }
    all_ended(&processes);
    drop(rig);
}

#[test]
fn what_does_not_start_says_why() {
    needs!([Need::Program(PYTHON)]);
    let mut site = Site::new();
    let dying = "import sys; print('no room for me'); sys.exit(3)";
    let expected =
        "the server a server is gone: it ended with exit code 3; its last words: no room for me";
    assert_eq!(site.refuses(spec(&["-c", dying])), expected);
    let cut_off = "import sys; sys.stdout.write('no room for m'); sys.exit(3)";
    let expected = "the server a server is gone: it ended with exit code 3, and its log breaks off within a line, as on a full disk; its last words: no room for m";
    assert_eq!(site.refuses(spec(&["-c", cut_off])), expected);
    let mut silent = spec(&["-c", "import time; time.sleep(1000)"]);
    silent.ready_within_ns = 1;
    let message = site.refuses(silent);
    assert_contains(&message, "took no connection at test://127.0.0.1:");
    assert_ends(&message, "; it said nothing");
    let mut missing = http();
    missing.program = "plimsoll-has-no-such-server".into();
    let message = site.refuses(missing.clone());
    let why = "there is no program plimsoll-has-no-such-server for the server a server in ";
    assert_contains(&message, why);
    let advice = "`server: {program: /path/to/plimsoll-has-no-such-server}`";
    assert_contains(&message, advice);
    missing.program = "/nonexistent/server".into();
    let why = "there is no program /nonexistent/server for the server a server that could be run: ";
    assert_starts(site.refuses(missing), why);
    site.nothing_is_left();
}

#[test]
fn a_server_that_does_not_end_is_killed_and_said() {
    needs!([Need::Program(PYTHON)]);
    let mut site = Site::new();
    let stubborn = "
import os, signal, socket, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
listener = socket.create_server(('127.0.0.1', int(os.environ['ANSWER'])))
while True:
    time.sleep(1)
";
    let mut server = spec(&["-c", stubborn]);
    server.stop_within_ns = 1;
    let mut rig = site.serve(server).unwrap();
    let processes = rig.server().unwrap().1;
    let message = rig.stop_server().unwrap_err().to_string();
    assert_contains(&message, "did not end within");
    assert_contains(&message, "and was killed");
    all_ended(&processes);
    site.undo(rig);
    site.nothing_is_left();
}

/// Three members, and their output once all of them answer.
fn three() -> ServerSpec {
    let say = "import sys; print('all of', *sys.argv[1:])";
    ServerSpec {
        members: 3,
        address: "test://{members}/".into(),
        after_start: [PYTHON, "-c", say, "{members}", "{port}"].map(str::to_owned).to_vec(),
        ..http()
    }
}

#[test]
fn a_server_of_several_members_is_one() {
    needs!([Need::Program(PYTHON)]);
    let mut site = Site::new();
    let mut rig = site.serve(three()).unwrap();
    let record = rig.record().server.unwrap();
    let members = record.members.iter();
    let hosts: Vec<&str> = members.map(|member| member.address.as_str()).collect();
    let (address, processes) = rig.server().unwrap();
    assert_eq!(processes.len(), 3);
    assert_eq!(address, format!("test://{}/", hosts.join(",")));
    // Each has data of its own, and runs as the same user.
    for (place, host) in hosts.iter().enumerate() {
        let directory = rig.data_directory().join(format!("member-{}", place + 1));
        std::fs::write(directory.join("record"), format!("of {place}")).unwrap();
        assert!(fetch(host).ends_with(&format!("of {place}")));
        assert_eq!(user_of(processes[place]), user_of(processes[0]));
    }
    assert_eq!(record.command, record.members[0].command);
    rig.is_sound().unwrap();
    rig.stop_server().unwrap();
    all_ended(&processes);
    let logs = rig.server_logs();
    assert_eq!(logs.len(), 3);
    let said = std::fs::read_to_string(&logs[0]).unwrap();
    let (_, port) = hosts[0].rsplit_once(':').unwrap();
    let words = format!("all of {} {port}", hosts.join(","));
    assert!(said.contains(&words), "{words} in {said}");
    for log in &logs {
        let said = std::fs::read_to_string(log).unwrap();
        assert_eq!(said.matches("GET /record").count(), 1, "{said}");
    }
    assert_eq!(site.undo(rig), [""; 0]);
    site.nothing_is_left();
}

#[test]
fn a_member_that_is_killed_is_named_and_the_others_end() {
    needs!([Need::Program(PYTHON)]);
    let mut site = Site::new();
    let mut rig = site.serve(three()).unwrap();
    let processes = rig.server().unwrap().1;
    kill(processes[1]);
    let words = "the server a server (member 2 of 3) is gone: it was killed (SIGKILL)";
    assert_starts(rig.is_sound().unwrap_err(), words);
    let stopped = rig.stop_server();
    assert!(matches!(stopped, Err(TestbedError::ServerDied { .. })));
    all_ended(&processes);
    site.undo(rig);
    site.nothing_is_left();
}

#[test]
fn a_command_after_the_start_that_fails_fails_the_start() {
    needs!([Need::Program(PYTHON)]);
    let mut site = Site::new();
    let mut failing = three();
    failing.after_start[2] = "import sys; print('no majority'); sys.exit(4)".into();
    let message = site.refuses(failing);
    let begins = "the server a server was started, and the command after that failed: it ended with exit code 4: python3 -c ";
    assert_starts(&message, begins);
    assert_ends(&message, "; its last words: no majority");
    let mut missing = three();
    missing.after_start[0] = "plimsoll-has-no-such-program".into();
    let words = "there is no program plimsoll-has-no-such-program for the server a server in ";
    assert_contains(site.refuses(missing), words);
    site.nothing_is_left();
}

#[test]
fn a_member_that_dies_ends_the_command_after_the_start() {
    needs!([Need::Program(PYTHON)]);
    let mut site = Site::new();
    let mut server = three();
    // It kills the second member, and would wait for it without end.
    let kill = "
import glob, os, sys, time
second = sys.argv[1].replace('member-1', 'member-2').encode()
for process in glob.glob('/proc/[0-9]*'):
    try:
        words = open(process + '/cmdline', 'rb').read().split(bytes(1))
    except OSError:
        continue
    if second in words and b'http.server' in words:
        os.kill(int(process[6:]), 9)
time.sleep(100000)
";
    server.after_start = [PYTHON, "-c", kill, "{data}"].map(str::to_owned).to_vec();
    server.ready_within_ns = 100_000_000_000_000;
    let words = "the server a server (member 2 of 3) is gone: it was killed";
    assert_contains(site.refuses(server), words);
    site.nothing_is_left();
}

#[test]
fn a_command_after_the_start_is_ended_when_the_server_should_be_ready() {
    let site = Site::new();
    let parent = site.folder.path().join("data");
    let made = RigParts::new(&site.journal);
    let home = DataDirectory::create(&site.journal, &parent, "e", "a run").unwrap();
    if RunUser::here().is_some() {
        home.open_to_pass().unwrap();
    }
    let spec = three();
    let place = ServerPlace { home: &home, data: home.path(), group: None };
    let beginning = Beginning {
        spec,
        program: PYTHON.into(),
        user: RunUser::here(),
        run: home.path().to_owned(),
        logs: Server::logs_in(home.path(), 1),
        log_files: vec![new_file_in(&home, "server.log").unwrap()],
    };
    let words = ["sh", "-c", "echo I wait; exec sleep 1000"].map(str::to_owned);
    let mark = format!("server-{}-0", site.journal.token());
    let layout = Layout {
        ports: vec![1],
        hosts: vec!["127.0.0.1:1".into()],
        all_hosts: "127.0.0.1:1".into(),
        own_program: after_start::own_program(),
        mark: mark.clone(),
    };
    let starting = beginning.at(&place, &made);
    let error = starting.run_command(&words, &layout, Instant::now(), || false);
    let words = "it had not ended after 0 s, and was killed";
    assert_contains(error.unwrap_err(), words);
    assert!(marked(&mark, own_start()).is_empty());
    let notes = made.undo();
    assert!(notes.is_empty(), "{notes:?}");
    home.remove().unwrap();
    site.journal.sync().unwrap();
    site.nothing_is_left();
}

/// Three members; the first always calls itself the primary.
fn with_roles() -> ServerSpec {
    let python = |program: &str, argument: &str| {
        let words = [PYTHON, "-c", program, argument];
        words.map(str::to_owned).to_vec()
    };
    let say = |what: &str| python(&format!("import sys; print({what}, sys.argv[1])"), "{port}");
    let first = "import sys; print(sys.argv[1].split(',')[0])";
    ServerSpec {
        roles: Some(RoleCommands {
            primary: python(first, "{members}"),
            step_down: say("'told to step down'"),
            whole: say("'asked to be whole'"),
        }),
        ..three()
    }
}

fn stands_still(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    rest.trim_start().starts_with('T')
}

#[test]
fn members_are_killed_and_paused_and_come_back() {
    needs!([Need::Program(PYTHON)]);
    let mut site = Site::new();
    let mut rig = site.serve(with_roles()).unwrap();
    let (_, first) = rig.server().unwrap();
    let killed = rig.disturb(Disturb::Kill(Role::Primary)).unwrap();
    assert_eq!((killed.member, killed.until_ns), (0, None));
    assert_eq!(started_ticks(first[0]), None);
    rig.is_sound().expect("it is gone on purpose");
    let paused = rig.disturb(Disturb::Pause(Role::Secondary)).unwrap();
    assert_eq!(paused.member, 1);
    assert!(paused.at_ns > killed.at_ns);
    assert!(until(Duration::from_secs(10), || stands_still(first[1])));
    rig.disturb(Disturb::Restart(0)).unwrap();
    let look = || rig.disturb(Disturb::LookFor(0)).unwrap().until_ns.is_some();
    assert!(until(Duration::from_secs(60), look));
    rig.disturb(Disturb::Resume(1)).unwrap();
    assert!(until(Duration::from_secs(10), || !stands_still(first[1])));
    let stepped_down = rig.disturb(Disturb::StepDown).unwrap();
    assert!(stepped_down.until_ns.unwrap() >= stepped_down.at_ns);
    // Nobody brings these back by name: `heal` does.
    rig.disturb(Disturb::Kill(Role::Secondary)).unwrap();
    rig.disturb(Disturb::Pause(Role::Primary)).unwrap();
    rig.heal().unwrap();
    let (_, last) = rig.server().unwrap();
    assert!(last[0] != first[0] && last[1] != first[1] && last[2] == first[2]);
    for process in &last {
        assert!(!stands_still(*process));
        assert_eq!(user_of(*process), user_of(first[2]));
    }
    let unknown = rig.disturb(Disturb::Resume(3)).unwrap_err().to_string();
    assert_contains(&unknown, "it has no member 4");
    let log = rig.server_logs().remove(0);
    rig.stop_server().unwrap();
    let said = std::fs::read_to_string(log).unwrap();
    for words in ["told to step down", "asked to be whole"] {
        assert_eq!(said.matches(words).count(), 1, "{said}");
    }
    assert_eq!(site.undo(rig), [""; 0]);
    site.nothing_is_left();
}

#[test]
fn a_server_with_a_member_gone_and_one_that_stands_still_ends_all_the_same() {
    needs!([Need::Program(PYTHON)]);
    let mut site = Site::new();
    let mut rig = site.serve(with_roles()).unwrap();
    let (_, processes) = rig.server().unwrap();
    rig.disturb(Disturb::Kill(Role::Secondary)).unwrap();
    rig.disturb(Disturb::Pause(Role::Primary)).unwrap();
    rig.stop_server().unwrap();
    all_ended(&processes);
    site.undo(rig);
    site.nothing_is_left();
}

#[test]
fn one_process_is_its_own_primary_and_has_no_secondary() {
    needs!([Need::Program(PYTHON)]);
    let mut site = Site::new();
    let mut rig = site.serve(http()).unwrap();
    let error = rig.disturb(Disturb::Pause(Role::Secondary)).unwrap_err();
    assert_contains(&error, "no secondary");
    rig.disturb(Disturb::Kill(Role::Primary)).unwrap();
    rig.heal().unwrap();
    let (address, processes) = rig.server().unwrap();
    assert!(fetch(address).contains("404"), "it answers again");
    assert_ne!(started_ticks(processes[0]), None);
    rig.stop_server().unwrap();
    site.undo(rig);
    site.nothing_is_left();
}

#[test]
fn a_directory_that_the_server_may_not_reach_is_named() {
    needs!([Need::Program(PYTHON), Need::Root]);
    let mut site = Site::new();
    let closed = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(site.folder.path(), closed).unwrap();
    let words = "run as the user nobody, who may not pass through";
    assert_contains(site.refuses(http()), words);
    site.nothing_is_left();
}

#[test]
fn the_limits_are_those_of_the_server_and_not_of_its_client() {
    let test = "the_limits_are_those_of_the_server_and_not_of_its_client";
    let limits =
        plimsoll_record::LimitsSpec { memory_bytes: Some(256 << 20), ..Default::default() };
    needs!([Need::Program(PYTHON)]);
    if let Err(error) = crate::testbed::groups::can_be_made(&limits) {
        plimsoll_testing::skip(test, &error.to_string());
        return;
    }
    let mut site = Site::new();
    let rig = RigSpec { server: Some(http()), limits, ..RigSpec::default() };
    let rig = site.build(&rig).unwrap();
    let server = rig.server().unwrap().1[0];
    let mut client = Command::new("sleep");
    let client = client.arg("1000").env(MARK_VARIABLE, rig.mark()).spawn();
    let mut client = client.unwrap();
    rig.admit(client.id()).unwrap();
    let group = rig.group().unwrap().memory.clone().unwrap();
    let members = std::fs::read_to_string(group.join("cgroup.procs")).unwrap();
    let is_member = |process: u32| members.lines().any(|line| line == process.to_string());
    assert!(is_member(server) && !is_member(client.id()), "{members:?}");
    site.undo(rig);
    assert!(client.try_wait().unwrap().is_some() || started_ticks(client.id()).is_none());
    client.wait().unwrap();
    site.nothing_is_left();
}

/// As under `nohup`, or behind `&` in a script: such a program's children would ignore the signal by which some servers are ended.
#[test]
fn a_server_ignores_no_signal_that_its_starter_ignores() {
    let mut shell = Command::new("/bin/sh")
        .args(["-c", r#"trap '' INT QUIT; exec /bin/sh -c "$0" sh "$@""#, BECOME])
        .args(["grep", "SigIgn", "/proc/self/status"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    let mut input = shell.stdin.take().expect("it is a pipe");
    std::io::Write::write_all(&mut input, b"go\n").expect("the shell reads");
    let output = shell.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("it is text");
    let mask = text.split_whitespace().last().expect("a mask");
    let ignored = u64::from_str_radix(mask, 16).expect("hexadecimal digits");
    let interrupt_and_quit = 1 << (2 - 1) | 1 << (3 - 1);
    assert_eq!(ignored & interrupt_and_quit, 0, "{text}");
}
