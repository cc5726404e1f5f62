//! What is sent is received.

use crate::carrier::{Channels, LONGEST, Packet};
use crate::nats::it::server::{LONG, NATS_SERVER, Server};
use crate::nats::it::{Pair, exchange, expect, pair, send};
use plimsoll_testing::needs;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::io::{Read, Write};
use std::net::Shutdown;

/// What is written on which channel, and whether by the controller.
type Writes = Vec<(bool, usize, Vec<u8>)>;

mod slow {
    use super::*;

    #[test]
    fn packets_keep_their_order_in_both_directions() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        let Pair { mut here, mut there, agent: _agent } = pair(&settings, &settings, "a");
        exchange(&mut here, &mut there, 0..5000);
        // One after the other as well.
        for number in 0..50 {
            send(&mut here, number..number + 1);
            expect(&mut there, number..number + 1);
            send(&mut there, number..number + 1);
            expect(&mut here, number..number + 1);
        }
    }

    #[test]
    fn the_longest_and_the_shortest_packets_pass() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        let mut pair = pair(&settings, &settings, "a");
        // More than any window: the sender waits for the receiver.
        let lengths = [LONGEST, 0, 1].repeat(40);
        let packet = |length: usize| Packet {
            channel: u32::MAX,
            content: (0..length).map(|at| (at % 251) as u8).collect(),
        };
        std::thread::scope(|scope| {
            for (from, to) in [
                (&mut pair.here.sender, &mut pair.there.receiver),
                (&mut pair.there.sender, &mut pair.here.receiver),
            ] {
                let (sent, expected) = (lengths.clone(), lengths.clone());
                scope.spawn(move || {
                    for length in sent {
                        from.send(&packet(length)).unwrap();
                    }
                });
                scope.spawn(move || {
                    for length in expected {
                        assert!(to.receive().unwrap() == Some(packet(length)));
                    }
                });
            }
        });
        let too_long = Packet { channel: 1, content: vec![0; LONGEST + 1] };
        assert!(pair.here.sender.send(&too_long).is_err());
        assert!(pair.there.sender.send(&too_long).is_err());
        // It was refused, and nothing else happened.
        send(&mut pair.here, 0..1);
        expect(&mut pair.there, 0..1);
    }

    #[test]
    fn two_agents_are_apart() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        let mut pairs = [pair(&settings, &settings, "a"), pair(&settings, &settings, "b")];
        for (place, pair) in pairs.iter_mut().enumerate() {
            let start = place as u32 * 1000;
            send(&mut pair.here, start..start + 100);
            send(&mut pair.there, start..start + 100);
        }
        for (place, pair) in pairs.iter_mut().enumerate() {
            let start = place as u32 * 1000;
            expect(&mut pair.there, start..start + 100);
            expect(&mut pair.here, start..start + 100);
        }
    }

    #[test]
    fn all_that_was_sent_before_the_end_comes() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        let Pair { mut here, mut there, mut agent } = pair(&settings, &settings, "a");
        send(&mut here, 0..1000);
        drop(here.sender);
        expect(&mut there, 0..1000);
        assert_eq!(there.receiver.receive().unwrap(), None);
        // The other direction continues, and all of it arrives although the agent has ended everything before the first was read.
        send(&mut there, 0..1000);
        drop(there);
        for number in 0..1000 {
            assert_eq!(here.receiver.receive().unwrap(), Some(crate::nats::it::packet(number)));
        }
        assert_eq!(here.receiver.receive().unwrap(), None);
        drop(here.receiver);
        // The agent is free.
        let next = crate::nats::attach(&settings, "a", "the next").unwrap();
        let there = agent.accept().unwrap();
        drop((next, there));
    }

    #[test]
    fn who_sends_to_nobody_is_told() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        for is_controller in [true, false] {
            let Pair { here, there, agent: _agent } = pair(&settings, &settings, "a");
            let (gone, mut left) = if is_controller { (there, here) } else { (here, there) };
            drop(gone);
            assert_eq!(left.receiver.receive().unwrap(), None);
            let refused =
                (0..).find_map(|number| left.sender.send(&crate::nats::it::packet(number)).err());
            plimsoll_testing::assert_contains(
                refused.unwrap(),
                "the other side has ended the session",
            );
        }
    }

    #[test]
    fn streams_pass_through_channels() {
        needs!(NATS_SERVER);
        const CHANNELS: usize = 3;
        let server = Server::start();
        let settings = server.settings();
        let mut agent = crate::nats::Agent::join(&settings, "a", "{}".to_owned()).unwrap();
        let content = prop::collection::vec(any::<u8>(), 1..3000);
        let writes = prop::collection::vec((any::<bool>(), 0..CHANNELS, content), 0..60);
        let config = Config { failure_persistence: None, ..Config::with_cases(24) };
        let run = |writes: Writes| {
            let here = crate::nats::attach(&settings, "a", "the test").unwrap();
            let (here, _control) = Channels::over(here);
            let (there, _other_control) = Channels::over(agent.accept().unwrap());
            let open = |channels: &Channels| -> Vec<_> {
                let open = |number| channels.open(number as u32 + 1).unwrap();
                (0..CHANNELS).map(open).collect()
            };
            let sockets = [open(&there), open(&here)];
            let mut expected = vec![vec![Vec::new(); CHANNELS]; 2];
            for (is_here, channel, content) in writes {
                (&sockets[usize::from(is_here)][channel]).write_all(&content).unwrap();
                // It comes out at the other side.
                expected[usize::from(!is_here)][channel].extend(content);
            }
            for socket in sockets.iter().flatten() {
                socket.shutdown(Shutdown::Write).unwrap();
            }
            for (sockets, expected) in sockets.iter().zip(expected) {
                for (mut socket, expected) in sockets.iter().zip(expected) {
                    let mut found = Vec::new();
                    socket.read_to_end(&mut found).unwrap();
                    assert!(found == expected, "{} of {}", found.len(), expected.len());
                }
            }
            here.close();
            // The other side ends as well.
            while _other_control.receive(LONG).is_ok() {}
            Ok(())
        };
        let run = std::cell::RefCell::new(run);
        TestRunner::new(config).run(&writes, |writes| (run.borrow_mut())(writes)).unwrap();
    }
}
