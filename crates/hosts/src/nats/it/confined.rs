//! The configuration that `init` makes: each agent may do what it must, and nothing to another.

use crate::nats::it::server::{LONG, NATS_SERVER, Server};
use crate::nats::it::{exchange, expect, pair, run, secret, send};
use crate::nats::{Agent, Connection, Credentials, Member, NatsError, ServerSettings, init, list};
use async_nats::{Client, ConnectOptions, Event, HeaderMap, ServerError, jetstream};
use plimsoll_testing::{assert_contains, assert_err, needs};
use std::sync::mpsc::{Receiver, channel};

/// A server, and who may ask it.
struct Laboratory {
    server: Server,
    seeds: Vec<(String, String)>,
}

impl Laboratory {
    fn start() -> Self {
        let settings = ServerSettings {
            // The test says where on the command line.
            listen: "127.0.0.1:-1".to_owned(),
            store_dir: "{data}".into(),
        };
        let members = ["a", "b"].map(|name| Member { name: name.to_owned(), seed: None });
        let initial = init(&settings, None, &members).unwrap();
        let mut seeds = initial.agent_seeds;
        seeds.push(("controller".to_owned(), initial.controller_seed));
        let server = Server::start_with(&initial.config);
        for (name, seed) in &seeds {
            secret(&server.directory().join(name), &format!("{seed}\n"));
        }
        Self { server, seeds }
    }

    fn settings(&self, whose: &str) -> Connection {
        Connection {
            credentials: Credentials::NkeySeedFile(self.server.directory().join(whose)),
            ..self.server.settings()
        }
    }

    /// A client that may be up to anything, and what the server forbids it.
    async fn client(&self, whose: &str) -> (Client, Receiver<String>) {
        let (tell, forbidden) = channel();
        let seed = self.seeds.iter().find(|(name, _)| name == whose).unwrap();
        let client = ConnectOptions::with_nkey(seed.1.clone())
            .custom_inbox_prefix(match whose {
                "controller" => "_INBOX.plimsoll.~controller".to_owned(),
                agent => format!("_INBOX.plimsoll.{agent}"),
            })
            .event_callback(move |event| {
                if let Event::ServerError(ServerError::Other(text)) = event {
                    let _ = tell.send(text);
                }
                std::future::ready(())
            })
            .connect(self.server.url())
            .await
            .unwrap();
        (client, forbidden)
    }
}

mod slow {
    use super::*;

    #[test]
    fn all_that_is_needed_is_allowed() {
        needs!(NATS_SERVER);
        let laboratory = Laboratory::start();
        let of_controller = laboratory.settings("controller");
        // An agent that comes first gets the order.
        let error = Agent::join(&laboratory.settings("a"), "a", "{}".to_owned()).unwrap_err();
        assert_err!(Err::<(), _>(&error), NatsError::NotSetUp { .. });
        assert_contains(&error, "list the agents once from the controller");
        assert_eq!(list(&of_controller).unwrap(), []);
        let mut pairs =
            ["a", "b"].map(|name| pair(&laboratory.settings(name), &of_controller, name));
        for pair in &mut pairs {
            exchange(&mut pair.here, &mut pair.there, 0..5_000);
            // Some stay unread.
            send(&mut pair.there, 0..100);
        }
        assert_eq!(list(&of_controller).unwrap().len(), 2);
        // When agents have gone, nothing of them is left.
        for pair in pairs {
            drop((pair.there, pair.here, pair.agent));
        }
        assert_eq!(list(&of_controller).unwrap(), []);
        run(async {
            let (client, _) = laboratory.client("controller").await;
            let jetstream = jetstream::new(client);
            let mut stream = jetstream.get_stream("PLIMSOLL_FRAMES").await.unwrap();
            assert_eq!(stream.info().await.unwrap().state.messages, 0);
        });
    }

    #[test]
    fn an_agent_can_do_nothing_to_another() {
        needs!(NATS_SERVER);
        let laboratory = Laboratory::start();
        let of_controller = laboratory.settings("controller");
        assert_eq!(list(&of_controller).unwrap(), []);
        let mut of_b = pair(&laboratory.settings("b"), &of_controller, "b");
        run(async {
            let (client, forbidden) = laboratory.client("a").await;
            let publish = [
                // Its lease, its frames, its controller's orders and its controller's place.
                "$KV.plimsoll-agents.b",
                "plimsoll.frames.b.session",
                "plimsoll.agent.b.session.to",
                "plimsoll.agent.b.attach",
                // What would tell or change what is another's.
                "$JS.API.DIRECT.GET.KV_plimsoll-agents.$KV.plimsoll-agents.b",
                "$JS.API.STREAM.DELETE.PLIMSOLL_FRAMES",
                "$JS.API.STREAM.PURGE.PLIMSOLL_FRAMES",
                "$JS.API.STREAM.CREATE.OTHER",
                "$JS.API.STREAM.UPDATE.PLIMSOLL_FRAMES",
                "$JS.API.STREAM.MSG.GET.PLIMSOLL_FRAMES",
                "$JS.API.CONSUMER.CREATE.PLIMSOLL_FRAMES",
                // Answers without a request.
                "_INBOX.plimsoll.~controller.x",
                "_INBOX.plimsoll.b.x",
            ];
            for subject in publish {
                client.publish(subject, "{}".into()).await.unwrap();
                let words = forbidden.recv_timeout(LONG).unwrap();
                assert_contains(words, &format!("Publish to \"{subject}\""));
            }
            let subscribe = [
                "plimsoll.agent.b.>",
                "plimsoll.>",
                ">",
                "plimsoll.frames.>",
                "$KV.plimsoll-agents.>",
                "_INBOX.>",
                "_INBOX.plimsoll.b.>",
            ];
            for subject in subscribe {
                let _subscriber = client.subscribe(subject).await.unwrap();
                let words = forbidden.recv_timeout(LONG).unwrap();
                assert_contains(words, &format!("Subscription to \"{subject}\""));
            }
            // A rollup would remove the leases of all others with its own.
            let mut headers = HeaderMap::new();
            headers.insert("Nats-Rollup", "all");
            let lease = "$KV.plimsoll-agents.a";
            let rolled = client.request_with_headers(lease, headers, "{}".into());
            let answer = String::from_utf8(rolled.await.unwrap().payload.to_vec()).unwrap();
            assert_contains(answer, "rollup not permitted");
            // Under its own name it may.
            let jetstream = jetstream::new(client.clone());
            let sent = jetstream.publish("plimsoll.frames.a.session", "".into());
            sent.await.unwrap().await.unwrap();
        });
        assert_eq!(list(&of_controller).unwrap().len(), 1);
        // Nor can it join as another.
        let error = Agent::join(&laboratory.settings("a"), "b", "{}".to_owned()).unwrap_err();
        assert_err!(Err::<(), _>(&error), NatsError::Forbidden { .. });
        assert_contains(&error, "_INBOX.plimsoll.b");
        // Nor ask as the controller.
        assert_err!(list(&laboratory.settings("a")), NatsError::Forbidden { .. });
        // The other one is as it was.
        send(&mut of_b.here, 0..10);
        expect(&mut of_b.there, 0..10);
        send(&mut of_b.there, 0..10);
        expect(&mut of_b.here, 0..10);
    }
}
