//! Which agents are present, and which controller each serves.

use crate::nats::it::server::{NATS_SERVER, Server};
use crate::nats::it::{expect, pair, send};
use crate::nats::{Agent, NatsError, Present, attach, list};
use plimsoll_testing::{assert_contains, assert_err, needs};
use std::time::Duration;

mod slow {
    use super::*;

    #[test]
    fn agents_are_listed_until_they_leave() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        assert_eq!(list(&settings).unwrap(), []);
        let present =
            |name: &str, card: &str| Present { name: name.to_owned(), card: card.to_owned() };
        let [b, a] = [("b", r#"{"cores": 2}"#), ("a", "{}")];
        let of_b = Agent::join(&settings, b.0, b.1.to_owned()).unwrap();
        let _of_a = Agent::join(&settings, a.0, a.1.to_owned()).unwrap();
        let all = [present(a.0, a.1), present(b.0, b.1)];
        assert_eq!(list(&settings).unwrap(), all);
        drop(of_b);
        assert_eq!(list(&settings).unwrap(), all[..1]);
        // The name is free at once.
        drop(Agent::join(&settings, "b", String::new()).unwrap());
    }

    #[test]
    fn a_lease_is_renewed_for_as_long_as_the_agent_is_there() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        let mut agent = Agent::join(&settings, "a", "{}".to_owned()).unwrap();
        let longer = crate::nats::LEASE + Duration::from_secs(2);
        assert!(agent.accept_within(longer).unwrap().is_none());
        assert_eq!(list(&settings).unwrap().len(), 1);
    }

    #[test]
    fn a_name_is_held_by_one() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        let mut first = Agent::join(&settings, "r6g", "{}".to_owned()).unwrap();
        let error = Agent::join(&settings, "r6g", "{}".to_owned()).unwrap_err();
        assert_contains(&error, "an agent named r6g is already connected; ");
        // The first one is as it was.
        let mut here = attach(&settings, "r6g", "the test").unwrap();
        let mut there = first.accept().unwrap();
        send(&mut here, 0..1);
        expect(&mut there, 0..1);
    }

    #[test]
    fn an_agent_serves_one_controller_at_a_time() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        let mut pair = pair(&settings, &settings, "a");
        let error = attach(&settings, "a", "another").unwrap_err();
        assert_contains(&error, "agent a is busy: controller the test is attached");
        // The first one is as it was.
        send(&mut pair.here, 0..1);
        expect(&mut pair.there, 0..1);
        drop(pair.here);
        drop(pair.there);
        let mut here = attach(&settings, "a", "another").unwrap();
        let mut there = pair.agent.accept().unwrap();
        send(&mut there, 0..1);
        expect(&mut here, 0..1);
    }

    #[test]
    fn an_agent_that_is_missing_is_told_beside_those_that_are_there() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        let error = attach(&settings, "x", "the test").unwrap_err();
        assert_contains(&error, "there is no agent x; no agent is present");
        let _agents = ["b", "a"].map(|name| Agent::join(&settings, name, "{}".to_owned()).unwrap());
        let error = attach(&settings, "x", "the test").unwrap_err();
        assert_contains(&error, "there is no agent x; present are a, b");
    }

    #[test]
    fn what_cannot_be_a_name_or_a_card_is_refused() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        for name in ["", "a.b", "*"] {
            assert_err!(Agent::join(&settings, name, "{}".to_owned()), NatsError::Name(_));
            assert_err!(attach(&settings, name, "the test"), NatsError::Name(_));
        }
        let card = "x".repeat(1 << 20);
        assert_err!(Agent::join(&settings, "a", card), NatsError::LongCard { .. });
    }

    #[test]
    fn an_agent_that_leaves_ends_its_carrier() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        let mut pair = pair(&settings, &settings, "a");
        send(&mut pair.there, 0..10);
        drop(pair.agent);
        expect(&mut pair.here, 0..10);
        assert_eq!(pair.here.receiver.receive().unwrap(), None);
        assert_eq!(pair.there.receiver.receive().unwrap(), None);
        assert!(pair.there.sender.send(&crate::nats::it::packet(0)).is_err());
    }

    #[test]
    fn an_agent_joins_again_and_again() {
        needs!(NATS_SERVER);
        let server = Server::start();
        let settings = server.settings();
        for _ in 0..5 {
            let mut pair = pair(&settings, &settings, "a");
            send(&mut pair.there, 0..1);
            expect(&mut pair.here, 0..1);
        }
    }
}
