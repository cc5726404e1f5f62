//! Real servers for tests: found in the folder that `PLIMSOLL_SERVERS` names or else on `PATH`, started on a free port of 127.0.0.1 with a
//! temporary directory, and gone at the end of the test.

use plimsoll_testing::{Need, has};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Which program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Mongod,
    FerretDb,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::Mongod, Self::FerretDb];

    fn program_name(self) -> &'static str {
        match self {
            Self::Mongod => "mongod",
            Self::FerretDb => "ferretdb",
        }
    }

    /// Where it is on this machine.
    fn program(self) -> PathBuf {
        let program = plimsoll_testing::server(self.program_name());
        program.expect("it was asked whether it is there")
    }

    /// Whether it is there; otherwise a test is left out with it.
    pub fn is_there_or_skip(self, test: &str) -> bool {
        let name = self.program_name();
        has(&format!("{test} with {name}"), &[Need::Server(name)])
    }

    /// Those that are there; the others are skipped visibly.
    pub fn there(test: &str) -> Vec<Self> {
        Self::ALL
            .into_iter()
            .filter(|kind| kind.is_there_or_skip(test))
            .collect()
    }
}

/// A server that runs, until it is dropped.
pub struct Server {
    pub kind: Kind,
    pub port: u16,
    child: Child,
    directory: tempfile::TempDir,
    arguments: Vec<String>,
}

impl Server {
    pub fn start(kind: Kind) -> Self {
        Self::start_with(kind, &[])
    }

    /// With further arguments, in which `{data}` is its directory.
    pub fn start_with(kind: Kind, arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().to_str().unwrap();
        let arguments = arguments
            .iter()
            .map(|argument| argument.replace("{data}", data))
            .collect();
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
            ],
        };
        let log = std::fs::File::create(self.directory.path().join("server.log")).unwrap();
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

    pub fn uri(&self) -> String {
        format!("mongodb://127.0.0.1:{}/", self.port)
    }

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

/// A port on which nothing listens at this moment.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}
