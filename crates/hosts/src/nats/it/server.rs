//! A `nats-server` on a port of the system's choosing, with a directory of its own, and gone at the end of the test.

use crate::nats::Connection;
use plimsoll_testing::SERVERS;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub const NATS_SERVER: [plimsoll_testing::Need<'static>; 1] =
    [plimsoll_testing::Need::Server("nats-server")];

/// After it something counts as hung.
pub const LONG: Duration = Duration::from_secs(60);

pub struct Server {
    child: Child,
    directory: tempfile::TempDir,
    pub port: u16,
}

/// The one that was put there for tests, because that on PATH may be too old.
fn program() -> PathBuf {
    let fetched = std::env::var_os(SERVERS).map(|folder| Path::new(&folder).join("nats-server"));
    fetched
        .filter(|program| program.is_file())
        .or_else(|| plimsoll_testing::server("nats-server"))
        .expect("the test has asked whether it is there")
}

impl Server {
    pub fn start() -> Self {
        Self::start_with("jetstream { store_dir: \"{data}\" }")
    }

    /// With a configuration, in which `{data}` is its directory. It says nothing of where to listen.
    pub fn start_with(config: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().to_str().unwrap();
        std::fs::write(directory.path().join("server.conf"), config.replace("{data}", data))
            .unwrap();
        let mut server = Self { child: launch(directory.path(), -1), directory, port: 0 };
        server.port = server.becomes_ready();
        server
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub fn settings(&self) -> Connection {
        Connection::to(&self.url())
    }

    /// Kills it as a crash would.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again on its data and its port.
    pub fn start_again(&mut self) {
        self.child = launch(self.directory.path(), i32::from(self.port));
        assert_eq!(self.becomes_ready(), self.port);
    }

    /// The port, once it listens: it writes then where.
    fn becomes_ready(&mut self) -> u16 {
        let file = format!("nats-server_{}.ports", self.child.id());
        let file = self.directory.path().join(file);
        let limit = Instant::now() + LONG;
        loop {
            let ports = std::fs::read(&file).unwrap_or_default();
            // It may be half written.
            if let Ok(ports) = serde_json::from_slice::<serde_json::Value>(&ports) {
                let url = ports["nats"][0].as_str().unwrap();
                return url.rsplit_once(':').unwrap().1.parse().unwrap();
            }
            let has_ended = self.child.try_wait().unwrap().is_some();
            assert!(!has_ended && Instant::now() < limit, "{}", self.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("server.log")).unwrap_or_default()
    }
}

fn launch(directory: &Path, port: i32) -> Child {
    let log = File::create(directory.join("server.log")).unwrap();
    Command::new(program())
        .arg("--config")
        .arg(directory.join("server.conf"))
        .arg("--ports_file_dir")
        .arg(directory)
        .arg(format!("--port={port}"))
        .arg("--addr=127.0.0.1")
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
