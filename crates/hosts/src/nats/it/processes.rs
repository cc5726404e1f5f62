//! Sides that are killed, each in a process of its own: this program again, whose environment says what it is.

use crate::nats::it::server::{NATS_SERVER, Server};
use crate::nats::it::{expect, send};
use crate::nats::{Agent, Connection, NatsError, attach, list};
use plimsoll_testing::{assert_contains, assert_err, needs};
use std::io::Read;
use std::process::{Child, Command, Stdio};

const URL: &str = "PLIMSOLL_TEST_NATS";

/// Gone at the end of the test.
struct Process(Child);

impl Process {
    /// Runs one of the tests below that are ignored.
    fn start(test: &str, url: &str) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("nats::it::processes::{test}"), "--ignored"])
            .env(URL, url)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `None` unless this was started as a process.
fn settings() -> Option<Connection> {
    Some(Connection::to(&std::env::var(URL).ok()?))
}

/// Until the test that has started this process is gone.
fn wait_for_the_end() {
    let _ = std::io::stdin().read(&mut [0]);
}

#[test]
#[ignore = "it is run by the others, in a process of its own"]
fn agent() {
    let Some(settings) = settings() else { return };
    let mut agent = Agent::join(&settings, "a", "{}".to_owned()).unwrap();
    let mut there = agent.accept().unwrap();
    send(&mut there, 0..100);
    wait_for_the_end();
}

#[test]
#[ignore = "it is run by the others, in a process of its own"]
fn controller() {
    let Some(settings) = settings() else { return };
    let mut here = attach(&settings, "a", "the killed").unwrap();
    send(&mut here, 0..100);
    wait_for_the_end();
}

mod slow {
    use super::*;

    #[test]
    fn an_agent_that_is_killed_is_missed() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        let mut process = Process::start("agent", &server.url());
        while list(&settings).unwrap().is_empty() {}
        let mut here = attach(&settings, "a", "the test").unwrap();
        expect(&mut here, 0..100);
        process.kill();
        // One of the same name waits until the lease is over.
        let mut agent = Agent::join(&settings, "a", "{}".to_owned()).unwrap();
        // The new one knows nothing of the session, or there was no answer for too long.
        assert!(here.receiver.receive().is_err());
        assert!(here.sender.send(&crate::nats::it::packet(0)).is_err());
        let mut here = attach(&settings, "a", "the test").unwrap();
        let mut there = agent.accept().unwrap();
        send(&mut there, 0..100);
        expect(&mut here, 0..100);
    }

    #[test]
    fn an_agent_that_was_killed_is_no_longer_there() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        let mut process = Process::start("agent", &server.url());
        while list(&settings).unwrap().is_empty() {}
        process.kill();
        assert_err!(attach(&settings, "a", "the test"), NatsError::NoSuchAgent { .. });
        assert_eq!(list(&settings).unwrap(), []);
    }

    #[test]
    fn a_controller_that_is_killed_is_missed() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        let mut agent = Agent::join(&settings, "a", "{}".to_owned()).unwrap();
        let mut process = Process::start("controller", &server.url());
        let mut there = agent.accept().unwrap();
        expect(&mut there, 0..100);
        process.kill();
        assert_contains(
            there.receiver.receive().unwrap_err(),
            "nothing was heard from controller the killed for 5 s",
        );
        let mut here = attach(&settings, "a", "the next").unwrap();
        let mut there = agent.accept().unwrap();
        send(&mut there, 0..100);
        expect(&mut here, 0..100);
    }
}
