use super::*;
use crate::{Journal, Rig, RigOrder, abandoned};
use plimsoll_disk::DaemonProgram;
use plimsoll_record::RigSpec;
use plimsoll_testing::{Need, has};
use std::io::Read;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

/// Something that is on most machines and can serve.
const PYTHON: &str = "python3";

/// Serves its directory over HTTP, as Python does, and says so.
fn http() -> ServerSpec {
    spec(&[
        "-u",
        "-m",
        "http.server",
        "{port}",
        "--bind",
        "127.0.0.1",
        "--directory",
        "{data}",
    ])
}

fn spec(arguments: &[&str]) -> ServerSpec {
    ServerSpec {
        name: "a server".into(),
        program: PYTHON.into(),
        arguments: arguments.iter().map(|&word| word.into()).collect(),
        environment: std::iter::once(("ANSWER".into(), "{port}".into())).collect(),
        version_arguments: vec!["--version".into()],
        address: "test://127.0.0.1:{port}/".into(),
        stop_signal: "TERM".into(),
        ready_within_ns: 60_000_000_000,
        stop_within_ns: 60_000_000_000,
    }
}

fn is_possible_or_skip(test: &str) -> bool {
    has(test, &[Need::Program(PYTHON)])
}

struct Site {
    folder: tempfile::TempDir,
    journal: Journal,
}

impl Site {
    fn new() -> Self {
        let folder = crate::laboratory::passable_folder();
        let journal = Journal::open(&folder.path().join("state"), "a test").unwrap();
        Self { folder, journal }
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn rig(&mut self, server: ServerSpec) -> Result<Rig, TestbedError> {
        let rig = RigSpec {
            server: Some(server),
            ..RigSpec::default()
        };
        self.rig_of(&rig)
    }

    fn rig_of(&mut self, spec: &RigSpec) -> Result<Rig, TestbedError> {
        let daemon = DaemonProgram {
            path: "/nonexistent".into(),
            arguments: Vec::new(),
        };
        let order = RigOrder {
            spec,
            parent: &self.folder.path().join("data"),
            owner: "e",
            label: "a run",
            needs_bytes: 1 << 20,
            daemon: &daemon,
        };
        Rig::build(&order, &mut self.journal)
    }

    fn nothing_is_left(&self) {
        assert!(abandoned(&self.state()).unwrap().is_empty());
        let data = self.folder.path().join("data");
        assert_eq!(std::fs::read_dir(data).unwrap().count(), 0);
    }
}

fn fetch(address: &str) -> String {
    let socket = address.trim_start_matches("test://").trim_end_matches('/');
    let mut stream = TcpStream::connect(socket).unwrap();
    stream.write_all(b"GET /record HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The user of a process.
fn user_of(process: u32) -> u32 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(format!("/proc/{process}")).unwrap().uid()
}

#[test]
fn a_server_serves_its_data_and_ends() {
    if !is_possible_or_skip("a_server_serves_its_data_and_ends") {
        return;
    }
    let mut site = Site::new();
    let mut rig = site.rig(http()).unwrap();
    std::fs::write(rig.data_directory().join("record"), "of the engine").unwrap();
    let (address, process) = rig.server().unwrap();
    assert!(fetch(address).ends_with("of the engine"));
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(user_of(process) != user_of(std::process::id()), is_root);
    // Of the environment of this program it has what it needs; what stands there may be a secret.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap();
    for variable in environment.split(|byte| *byte == 0) {
        let name = String::from_utf8_lossy(variable.split(|byte| *byte == b'=').next().unwrap());
        let known = [
            "",
            "PATH",
            "LANG",
            "LC_ALL",
            "TZ",
            "HOME",
            "PWD",
            "OLDPWD",
            MARK_VARIABLE,
        ];
        let of_spec = http().environment.iter().any(|(given, _)| **given == *name);
        assert!(known.contains(&&*name) || of_spec, "{name}");
    }
    let record = rig.record().server.unwrap();
    assert!(record.version.unwrap().starts_with("Python "));
    assert!(
        record.command.contains("-m http.server"),
        "{}",
        record.command
    );
    assert_eq!(record.user.is_some(), is_root);
    rig.is_sound().unwrap();
    rig.stop_server().unwrap();
    assert_eq!(started_ticks(process), None);
    let log = std::fs::read_to_string(rig.server_log().unwrap()).unwrap();
    assert!(log.contains("GET /record"), "{log}");
    let torn_down = rig.tear_down(&mut site.journal).unwrap();
    assert!(torn_down.notes.is_empty(), "{:?}", torn_down.notes);
    torn_down.remove(&mut site.journal).unwrap();
    site.nothing_is_left();
}

#[test]
fn a_server_that_is_killed_is_missed_with_its_last_words() {
    if !is_possible_or_skip("a_server_that_is_killed_is_missed_with_its_last_words") {
        return;
    }
    let mut site = Site::new();
    let mut rig = site.rig(http()).unwrap();
    let (address, process) = rig.server().unwrap();
    fetch(address);
    let pid = rustix::process::Pid::from_raw(process.cast_signed()).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
    assert!(until(LONGEST_END, || started_ticks(process).is_none()));
    let message = rig.is_sound().unwrap_err().to_string();
    assert!(
        message.starts_with("the server a server is gone: it was killed (SIGKILL)"),
        "{message}"
    );
    assert!(
        message.contains("its last words: ") && message.contains("GET /record"),
        "{message}"
    );
    assert!(matches!(
        rig.stop_server(),
        Err(TestbedError::ServerDied { .. })
    ));
    rig.tear_down(&mut site.journal)
        .unwrap()
        .remove(&mut site.journal)
        .unwrap();
    site.nothing_is_left();
}

#[test]
fn a_server_of_a_program_that_is_gone_is_found_and_ended() {
    if !is_possible_or_skip("a_server_of_a_program_that_is_gone_is_found_and_ended") {
        return;
    }
    let mut site = Site::new();
    let rig = site.rig(http()).unwrap();
    let (_, process) = rig.server().unwrap();
    let started = started_ticks(process).unwrap();
    // A copy of the journal is nobody's, as if this program were gone.
    let journals = site.state().join("journal");
    let journal = std::fs::read_dir(&journals)
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    std::fs::copy(journal.path(), journals.join("copy.ndjson")).unwrap();
    let left = abandoned(&site.state()).unwrap();
    assert_eq!(left.len(), 1);
    for left in left {
        assert!(
            left.describe()
                .iter()
                .any(|line| line.contains("the server a server"))
        );
        // The data directory has an owner who lives.
        let _ = left.undo(&mut |_| {});
    }
    assert_ne!(started_ticks(process), Some(started));
    drop(rig);
}

#[test]
fn what_does_not_start_says_why() {
    if !is_possible_or_skip("what_does_not_start_says_why") {
        return;
    }
    let mut site = Site::new();
    let dying = spec(&["-c", "import sys; print('no room for me'); sys.exit(3)"]);
    let message = site.rig(dying).unwrap_err().to_string();
    assert_eq!(
        message,
        "the server a server is gone: it ended with exit code 3; its last words: no room for me"
    );
    let mut silent = spec(&["-c", "import time; time.sleep(1000)"]);
    silent.ready_within_ns = 1;
    let message = site.rig(silent).unwrap_err().to_string();
    assert!(
        message.contains("took no connection at test://127.0.0.1:"),
        "{message}"
    );
    assert!(message.ends_with("; it said nothing"), "{message}");
    let mut missing = http();
    missing.program = "plimsoll-has-no-such-server".into();
    let message = site.rig(missing).unwrap_err().to_string();
    assert!(
        message.contains(
            "there is no program plimsoll-has-no-such-server for the server a server in "
        ),
        "{message}"
    );
    assert!(
        message.contains("`server: {program: /path/to/plimsoll-has-no-such-server}`"),
        "{message}"
    );
    let mut missing = http();
    missing.program = "/nonexistent/server".into();
    let message = site.rig(missing).unwrap_err().to_string();
    assert!(
        message.starts_with(
            "there is no program /nonexistent/server for the server a server that could be run: "
        ),
        "{message}"
    );
    site.nothing_is_left();
}

#[test]
fn a_server_that_does_not_end_is_killed_and_said() {
    if !is_possible_or_skip("a_server_that_does_not_end_is_killed_and_said") {
        return;
    }
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
    let mut rig = site.rig(server).unwrap();
    let (_, process) = rig.server().unwrap();
    let message = rig.stop_server().unwrap_err().to_string();
    assert!(
        message.contains("did not end within") && message.contains("and was killed"),
        "{message}"
    );
    assert_eq!(started_ticks(process), None);
    rig.tear_down(&mut site.journal)
        .unwrap()
        .remove(&mut site.journal)
        .unwrap();
    site.nothing_is_left();
}

#[test]
fn a_directory_that_the_server_may_not_reach_is_named() {
    let test = "a_directory_that_the_server_may_not_reach_is_named";
    if !is_possible_or_skip(test) {
        return;
    }
    if !has(test, &[Need::Root]) {
        return;
    }
    let mut site = Site::new();
    let closed = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(site.folder.path(), closed).unwrap();
    let message = site.rig(http()).unwrap_err().to_string();
    assert!(
        message.contains("run as the user nobody, who may not pass through"),
        "{message}"
    );
    site.nothing_is_left();
}

#[test]
fn the_limits_are_those_of_the_server_and_not_of_its_client() {
    let test = "the_limits_are_those_of_the_server_and_not_of_its_client";
    let limits = plimsoll_record::LimitsSpec {
        memory_bytes: Some(256 << 20),
        ..Default::default()
    };
    if !is_possible_or_skip(test) {
        return;
    }
    if let Err(error) = crate::groups::can_be_made(&limits) {
        plimsoll_testing::skip(test, &error.to_string());
        return;
    }
    let mut site = Site::new();
    let rig = RigSpec {
        server: Some(http()),
        limits,
        ..RigSpec::default()
    };
    let rig = site.rig_of(&rig).unwrap();
    let (_, server) = rig.server().unwrap();
    let client = Command::new("sleep")
        .arg("1000")
        .env(MARK_VARIABLE, rig.mark())
        .spawn();
    let mut client = client.unwrap();
    rig.admit(client.id()).unwrap();
    let group = rig.group().unwrap().memory.clone().unwrap();
    let members = std::fs::read_to_string(group.join("cgroup.procs")).unwrap();
    let members: Vec<&str> = members.lines().collect();
    assert!(
        members.contains(&server.to_string().as_str()),
        "{members:?}"
    );
    assert!(
        !members.contains(&client.id().to_string().as_str()),
        "{members:?}"
    );
    rig.tear_down(&mut site.journal)
        .unwrap()
        .remove(&mut site.journal)
        .unwrap();
    assert!(client.try_wait().unwrap().is_some() || started_ticks(client.id()).is_none());
    client.wait().unwrap();
    site.nothing_is_left();
}

/// As under `nohup`, or behind `&` in a script: such a program's children would ignore the signal by which some servers are ended.
#[test]
fn a_server_ignores_no_signal_that_its_starter_ignores() {
    let mut shell = Command::new("/bin/sh")
        .args([
            "-c",
            r#"trap '' INT QUIT; exec /bin/sh -c "$0" sh "$@""#,
            BECOME,
        ])
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
