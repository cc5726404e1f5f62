//! Real servers for tests: found in the folder that `PLIMSOLL_SERVERS` names or else on `PATH`, started on a free port of 127.0.0.1 with a
//! temporary directory, and gone at the end of the test.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test may panic, in its helpers too"
)]

use crate::{Need, has, is_everything, this_test};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{DirEntry, File};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Mongod,
    FerretDb,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::Mongod, Self::FerretDb];

    /// The file name of its program, which is also the name of its preset.
    pub fn program_name(self) -> &'static str {
        match self {
            Self::Mongod => "mongod",
            Self::FerretDb => "ferretdb",
        }
    }

    /// Where it is on this machine.
    fn program(self) -> PathBuf {
        let program = crate::server(self.program_name());
        program.expect("it was asked whether it is there")
    }

    /// Whether it is installed; otherwise a test is left out with it.
    pub fn is_there_or_skip(self, test: &str) -> bool {
        let name = self.program_name();
        has(&format!("{test} with {name}"), &[Need::Server(name)])
    }

    /// The servers that are installed; the others are skipped visibly. FerretDB is only for runs of every test.
    pub fn there() -> Vec<Self> {
        Self::there_of(&Self::ALL)
    }

    pub fn there_of(kinds: &[Self]) -> Vec<Self> {
        let is_there = |kind: &Self| {
            (*kind == Self::Mongod || is_everything()) && kind.is_there_or_skip(&this_test())
        };
        kinds.iter().copied().filter(is_there).collect()
    }
}

/// A server that runs, until it is dropped.
#[derive(Debug)]
pub struct Server {
    pub kind: Kind,
    /// Where it listens, at 127.0.0.1.
    pub port: u16,
    child: Child,
    directory: tempfile::TempDir,
    arguments: Vec<String>,
}

impl Server {
    /// Starts it with a directory of its own.
    pub fn start(kind: Kind) -> Self {
        Self::start_with(kind, &[])
    }

    /// With further arguments, in which `{data}` is its directory.
    pub fn start_with(kind: Kind, arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().to_str().unwrap();
        let arguments = arguments.iter().map(|argument| argument.replace("{data}", data)).collect();
        let mut server = Self {
            kind,
            port: 0,
            child: Command::new("true").spawn().unwrap(),
            directory,
            arguments,
        };
        // Somebody else may take the port between the look and the start.
        for _ in 0..5 {
            server.port = free_port();
            server.launch();
            if server.becomes_ready() {
                return server;
            }
        }
        panic!("{} did not start: {}", kind.program_name(), server.log());
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    fn launch(&mut self) {
        let _ = self.child.wait();
        let data = self.directory.path().display();
        let port = self.port;
        let arguments = match self.kind {
            Kind::Mongod => vec![
                format!("--dbpath={data}"),
                format!("--port={port}"),
                "--bind_ip=127.0.0.1".into(),
                format!("--unixSocketPrefix={data}"),
                "--wiredTigerCacheSizeGB=0.25".into(),
            ],
            Kind::FerretDb => vec![
                "--handler=sqlite".into(),
                format!("--sqlite-url=file:{data}/"),
                format!("--state-dir={data}"),
                "--telemetry=disable".into(),
                "--debug-addr=127.0.0.1:0".into(),
                format!("--listen-addr=127.0.0.1:{port}"),
                format!("--listen-unix={}", self.socket_path().display()),
            ],
        };
        // One that was killed leaves it, and FerretDB does not take it over.
        let _ = std::fs::remove_file(self.socket_path());
        let log = File::create(self.directory.path().join("server.log")).unwrap();
        self.child = Command::new(self.kind.program())
            .args(arguments)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
    }

    fn becomes_ready(&mut self) -> bool {
        let limit = Instant::now() + Duration::from_secs(60);
        while Instant::now() < limit {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// Kills it as a crash would.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again on its data and its port.
    pub fn start_again(&mut self) {
        self.launch();
        assert!(self.becomes_ready(), "{}", self.log());
    }

    /// Stops it where it is: it keeps its connections and answers nothing.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
        // Its threads stop one after the other.
        let tasks = format!("/proc/{}/task", self.child.id());
        let is_stopped = |task: std::io::Result<DirEntry>| {
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
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Its Unix socket, once it listens there: FerretDB does so a little later than on its port.
    pub fn socket(&self) -> PathBuf {
        let socket = self.socket_path();
        for _ in 0..600 {
            if UnixStream::connect(&socket).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        socket
    }

    fn socket_path(&self) -> PathBuf {
        let name = match self.kind {
            Kind::Mongod => format!("mongodb-{}.sock", self.port),
            Kind::FerretDb => "ferretdb.sock".into(),
        };
        self.directory.path().join(name)
    }

    pub fn uri(&self) -> String {
        format!("mongodb://127.0.0.1:{}/", self.port)
    }

    /// What it said so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("server.log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port on which nothing listens until this process ends: it is bound, so that no other test gets it, and refuses connections.
pub fn closed_port() -> u16 {
    let (family, kind) = (AddressFamily::INET, SocketType::STREAM);
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None).unwrap();
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = SocketAddrV4::try_from(getsockname(&socket).unwrap()).unwrap();
    std::mem::forget(socket);
    address.port()
}

/// A port for a server that is about to start. Another process may take it first.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}
