//! Agents and controllers on a real NATS server, each test with one of its own.
//!
//! Nothing here depends on how fast anything is: there are only limits after which something counts as hung, and the length of the lease.

#![allow(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in tests, but sees only functions that are tests themselves"
)]

mod attaching;
mod confined;
mod outages;
mod packets;
mod processes;
mod proxy;
mod reaching;
mod server;

use crate::carrier::{Carrier, Packet};
use crate::nats::{Agent, Connection, attach};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// An agent that has accepted a controller, and the carriers of both.
struct Pair {
    agent: Agent,
    here: Carrier,
    there: Carrier,
}

fn pair(of_agent: &Connection, of_controller: &Connection, name: &str) -> Pair {
    let mut agent = Agent::join(of_agent, name, "{}".to_owned()).unwrap();
    let here = attach(of_controller, name, "the test").unwrap();
    let there = agent.accept().unwrap();
    Pair { agent, here, there }
}

/// Writes a file that only its owner can read.
fn secret(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}

/// The packet of a number, whose content shows the number.
fn packet(number: u32) -> Packet {
    Packet { channel: number % 7, content: number.to_be_bytes().repeat(1 + number as usize % 50) }
}

/// Sends the packets of some numbers.
fn send(carrier: &mut Carrier, numbers: std::ops::Range<u32>) {
    for number in numbers {
        carrier.sender.send(&packet(number)).unwrap();
    }
}

/// Fails unless the packets of these numbers come, in their order.
fn expect(carrier: &mut Carrier, numbers: std::ops::Range<u32>) {
    for number in numbers {
        let found = carrier.receiver.receive().unwrap();
        assert_eq!(found, Some(packet(number)), "number {number}");
    }
}

/// The same numbers in both directions at the same time.
fn exchange(here: &mut Carrier, there: &mut Carrier, numbers: std::ops::Range<u32>) {
    std::thread::scope(|scope| {
        for (from, to) in
            [(&mut here.sender, &mut there.receiver), (&mut there.sender, &mut here.receiver)]
        {
            let (sent, expected) = (numbers.clone(), numbers.clone());
            scope.spawn(move || sent.for_each(|number| from.send(&packet(number)).unwrap()));
            scope.spawn(move || {
                for number in expected {
                    assert_eq!(to.receive().unwrap(), Some(packet(number)));
                }
            });
        }
    });
}

/// Runs what a test does by the library itself.
fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.unwrap().block_on(work)
}
