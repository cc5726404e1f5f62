//! Real servers, started for one test each and ended with it.

use plimsoll_mongo::{Host, LeanClient, LeanError, LeanErrorKind, LeanOptions};
use plimsoll_testing::{Need, has};
use plimsoll_workload::DataSpec;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// After this, a server counts as hung.
const LONGEST_START: Duration = Duration::from_secs(60);
/// An ordinary user without rights, whom servers run as where the tests run as root.
const NOBODY: u32 = 65_534;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Mongod,
    FerretDb,
}

impl Kind {
    fn program(self) -> &'static str {
        match self {
            Self::Mongod => "mongod",
            Self::FerretDb => "ferretdb",
        }
    }
}

/// A user that the server is to know, with all rights.
#[derive(Clone, Copy)]
pub struct User {
    pub name: &'static str,
    pub password: &'static str,
}

pub struct Server {
    pub kind: Kind,
    pub port: u16,
    program: PathBuf,
    user: Option<User>,
    process: Option<Child>,
    directory: TempDir,
}

/// Runs a test against each server there is. That one is not there is said, past the capture of the test harness.
pub fn each(test: &str, run: impl Fn(&mut Server)) {
    each_of(test, &[Kind::Mongod, Kind::FerretDb], None, run);
}

/// The same with these servers alone, and with a user that they know.
pub fn each_of(test: &str, kinds: &[Kind], user: Option<User>, run: impl Fn(&mut Server)) {
    for kind in kinds {
        let name = kind.program();
        if !has(&format!("{test} with {name}"), &[Need::Server(name)]) {
            continue;
        }
        let program = plimsoll_testing::server(name).unwrap();
        let mut server = Server::start(*kind, program, user);
        run(&mut server);
    }
}

impl Server {
    fn start(kind: Kind, program: PathBuf, user: Option<User>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        if geteuid().is_root() {
            std::os::unix::fs::chown(directory.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let mut server = Self {
            kind,
            port,
            program,
            user,
            process: None,
            directory,
        };
        server.start_again();
        server
    }

    fn arguments(&self) -> Vec<String> {
        let folder = self.directory.path().display();
        let port = self.port;
        let mut arguments = match self.kind {
            Kind::Mongod => vec![
                format!("--dbpath={folder}"),
                format!("--port={port}"),
                "--bind_ip=127.0.0.1".into(),
                format!("--unixSocketPrefix={folder}"),
                "--wiredTigerCacheSizeGB=0.25".into(),
            ],
            Kind::FerretDb => vec![
                "--handler=sqlite".into(),
                format!("--sqlite-url=file:{folder}/"),
                format!("--state-dir={folder}"),
                format!("--listen-addr=127.0.0.1:{port}"),
                format!("--listen-unix={}", self.socket().display()),
                "--debug-addr=127.0.0.1:0".into(),
                "--telemetry=disable".into(),
            ],
        };
        match (self.kind, self.user) {
            (_, None) => {}
            (Kind::Mongod, Some(_)) => arguments.push("--auth".into()),
            (Kind::FerretDb, Some(user)) => arguments.extend([
                "--test-enable-new-auth".into(),
                "--setup-database=admin".into(),
                format!("--setup-username={}", user.name),
                format!("--setup-password={}", user.password),
            ]),
        }
        arguments
    }

    /// Starts it with the data that it had, and waits until it is there.
    pub fn start_again(&mut self) {
        assert!(self.process.is_none());
        // One that was killed leaves it, and FerretDB does not take it over.
        let _ = std::fs::remove_file(self.socket());
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.log())
            .unwrap();
        let mut command = Command::new(&self.program);
        command
            .args(self.arguments())
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        if geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        self.process = Some(command.spawn().unwrap());
        let begin = Instant::now();
        let options = self.options(&DataSpec::with_records(0));
        loop {
            match LeanClient::connect(&options) {
                Ok(_) => break,
                Err(error) if error.kind() == LeanErrorKind::Connect => {}
                Err(LeanError::Disconnected { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            let ended = self.process.as_mut().unwrap().try_wait().unwrap();
            assert!(
                ended.is_none() && begin.elapsed() < LONGEST_START,
                "{} {ended:?} does not get ready: {}",
                self.program.display(),
                std::fs::read_to_string(self.log()).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends it at once, in the middle of whatever it does.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Stops it where it is: it keeps its connections and answers nothing.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
        // Its threads stop one after the other.
        let tasks = format!("/proc/{}/task", self.process.as_ref().unwrap().id());
        let is_stopped = |task: std::io::Result<std::fs::DirEntry>| {
            let stat = std::fs::read_to_string(task.unwrap().path().join("stat"));
            // The state follows the name, which is in brackets.
            stat.is_ok_and(|stat| stat.rsplit_once(") ").unwrap().1.starts_with('T'))
        };
        while !std::fs::read_dir(&tasks).unwrap().all(is_stopped) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let process = self.process.as_ref().unwrap();
        kill_process(Pid::from_child(process), signal).unwrap();
    }

    pub fn host(&self) -> Host {
        Host::Tcp {
            host: "127.0.0.1".into(),
            port: self.port,
        }
    }

    /// Its Unix socket.
    pub fn socket(&self) -> PathBuf {
        match self.kind {
            Kind::Mongod => self.path(&format!("mongodb-{}.sock", self.port)),
            Kind::FerretDb => self.path("ferretdb.sock"),
        }
    }

    pub fn options(&self, data: &DataSpec) -> LeanOptions {
        LeanOptions::new(self.host(), "ycsb", data)
    }

    pub fn connect(&self, data: &DataSpec) -> LeanClient {
        LeanClient::connect(&self.options(data)).unwrap()
    }

    fn log(&self) -> PathBuf {
        self.path("log")
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::join(self.directory.path(), name)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
