//! Connections and servers that are lost, and come back or not.

use crate::nats::it::proxy::Proxy;
use crate::nats::it::server::{NATS_SERVER, Server};
use crate::nats::it::{Pair, exchange, expect, packet, pair, run, send};
use crate::nats::{Agent, Connection, LEASE, NatsError, attach};
use plimsoll_testing::{assert_contains, assert_err, needs};
use std::time::Duration;

/// Both sides go through it.
fn through(server: &Server) -> (Proxy, Connection) {
    let proxy = Proxy::to(server.port);
    let settings = Connection::to(&proxy.url());
    (proxy, settings)
}

/// What both sides see when the connection is away for longer than the lease.
fn both_see_the_end(server: &Server, proxy: &Proxy, settings: &Connection, lose: fn(&Proxy)) {
    let Pair { mut here, mut there, mut agent } = pair(settings, settings, "a");
    send(&mut here, 0..10);
    expect(&mut there, 0..10);
    lose(proxy);
    let error = here.receiver.receive().unwrap_err();
    assert_contains(&error, "nothing was heard from agent a for 5 s");
    let error = there.receiver.receive().unwrap_err();
    assert_contains(&error, "nothing was heard from controller the test for 5 s");
    for carrier in [&mut here, &mut there] {
        assert_contains(carrier.sender.send(&packet(0)).unwrap_err(), "nothing was heard from");
    }
    proxy.mend();
    proxy.hold(false);
    // All continues, through the same agent.
    let direct = server.settings();
    let mut here = loop {
        // Until the agent is back.
        match attach(&direct, "a", "the next") {
            Ok(carrier) => break carrier,
            Err(error) => assert_contains(&error, "a is there"),
        }
    };
    let mut there = agent.accept().unwrap();
    send(&mut there, 0..10);
    expect(&mut here, 0..10);
}

mod slow {
    use super::*;

    #[test]
    fn nothing_is_lost_when_a_connection_is_back_within_the_lease() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let direct = server.settings();
        // The agent's connection, the controller's, and both.
        for (is_agents, is_controllers) in [(true, false), (false, true), (true, true)] {
            let (proxy, cuttable) = through(&server);
            let side = |is_cuttable| if is_cuttable { &cuttable } else { &direct };
            let Pair { mut here, mut there, agent: _agent } =
                pair(side(is_agents), side(is_controllers), "a");
            for round in 0..4 {
                let numbers = round * 10_000..(round + 1) * 10_000;
                std::thread::scope(|scope| {
                    scope.spawn(|| exchange(&mut here, &mut there, numbers));
                    // At first in the middle of the work, and then while they try to reconnect.
                    for _ in 0..3 {
                        proxy.cut();
                        proxy.await_refusal();
                        proxy.mend();
                    }
                });
            }
        }
    }

    #[test]
    fn nothing_is_lost_when_a_network_is_silent_for_a_while() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let (proxy, settings) = through(&server);
        let Pair { mut here, mut there, agent: _agent } = pair(&settings, &settings, "a");
        std::thread::scope(|scope| {
            scope.spawn(|| exchange(&mut here, &mut there, 0..10_000));
            proxy.hold(true);
            std::thread::sleep(Duration::from_secs(2));
            proxy.hold(false);
        });
    }

    #[test]
    fn both_sides_see_that_a_connection_is_cut_for_long() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let (proxy, settings) = through(&server);
        both_see_the_end(&server, &proxy, &settings, Proxy::cut);
    }

    #[test]
    fn both_sides_see_that_a_network_is_silent_for_long() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let (proxy, settings) = through(&server);
        both_see_the_end(&server, &proxy, &settings, |proxy| proxy.hold(true));
    }

    #[test]
    fn an_agent_whose_name_was_taken_meanwhile_is_told() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let (proxy, settings) = through(&server);
        let Pair { mut agent, mut there, here: _here } = pair(&settings, &settings, "a");
        proxy.cut();
        let mut other = Agent::join(&server.settings(), "a", "{}".to_owned()).unwrap();
        proxy.mend();
        for _ in 0..2 {
            assert_err!(agent.accept(), NatsError::NameTaken(_));
        }
        assert!(there.receiver.receive().is_err());
        // It takes nothing from the other when it goes.
        drop(agent);
        let mut here = attach(&server.settings(), "a", "the test").unwrap();
        let mut there = other.accept().unwrap();
        send(&mut here, 0..10);
        expect(&mut there, 0..10);
    }

    #[test]
    fn nothing_is_lost_when_the_server_is_killed_and_starts_again() {
        needs!(NATS_SERVER);
        let mut server = Server::start();
        let settings = server.settings();
        let Pair { mut here, mut there, agent: _agent } = pair(&settings, &settings, "a");
        for round in 0..3 {
            let numbers = round * 5_000..(round + 1) * 5_000;
            std::thread::scope(|scope| {
                scope.spawn(|| exchange(&mut here, &mut there, numbers));
                server.kill();
                server.start_again();
            });
        }
        // What one side sent survives although the server was killed before the other side could read it.
        send(&mut there, 0..100);
        drop(there);
        server.kill();
        server.start_again();
        expect(&mut here, 0..100);
        assert_eq!(here.receiver.receive().unwrap(), None);
    }

    #[test]
    fn a_slow_reader_is_waited_for() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        let Pair { mut here, mut there, agent: _agent } = pair(&settings, &settings, "a");
        std::thread::scope(|scope| {
            for (from, to) in
                [(&mut here.sender, &mut there.receiver), (&mut there.sender, &mut here.receiver)]
            {
                scope.spawn(move || {
                    (0..20_000).for_each(|number| from.send(&packet(number)).unwrap())
                });
                scope.spawn(move || {
                    // Longer than the lease.
                    std::thread::sleep(LEASE + Duration::from_secs(1));
                    for number in 0..20_000 {
                        assert_eq!(to.receive().unwrap(), Some(packet(number)));
                    }
                });
            }
        });
    }

    #[test]
    fn what_is_lost_is_told() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let direct = server.settings();
        let (proxy, cuttable) = through(&server);
        let Pair { mut here, mut there, agent: _agent } = pair(&direct, &cuttable, "a");
        send(&mut there, 0..10);
        expect(&mut here, 0..10);
        proxy.cut();
        send(&mut there, 10..20);
        // The stream is emptied once the messages are in it.
        run(async {
            let client = async_nats::connect(server.url()).await.unwrap();
            let jetstream = async_nats::jetstream::new(client);
            let mut stream = jetstream.get_stream("PLIMSOLL_FRAMES").await.unwrap();
            while stream.info().await.unwrap().state.messages < 20 {}
            stream.purge().await.unwrap();
        });
        send(&mut there, 20..21);
        proxy.mend();
        assert_contains(here.receiver.receive().unwrap_err(), "message 10 of the session is lost");
        assert_contains(
            there.receiver.receive().unwrap_err(),
            "the controller gave up the session",
        );
    }

    #[test]
    fn a_server_that_has_lost_its_data_ends_what_was_going_on() {
        needs!(NATS_SERVER);
        let mut server = Server::start();
        let settings = server.settings();
        let Pair { mut here, mut there, mut agent } = pair(&settings, &settings, "a");
        send(&mut there, 0..10);
        expect(&mut here, 0..10);
        server.kill();
        std::fs::remove_dir_all(server.directory().join("jetstream")).unwrap();
        server.start_again();
        // Another controller sets everything up again.
        let mut next = loop {
            match attach(&settings, "a", "the next") {
                Ok(carrier) => break carrier,
                Err(NatsError::NoSuchAgent { .. } | NatsError::Busy { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        };
        assert!(here.receiver.receive().is_err());
        assert!(there.receiver.receive().is_err());
        let mut there = agent.accept().unwrap();
        send(&mut there, 0..10);
        expect(&mut next, 0..10);
    }
}
