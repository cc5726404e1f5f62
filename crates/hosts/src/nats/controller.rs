//! The side that attaches to agents.

use crate::carrier::Carrier;
use crate::nats::connection::{Connected, Connection, REQUEST};
use crate::nats::error::{chain, request};
use crate::nats::frames::FromStream;
use crate::nats::lease::Holder;
use crate::nats::link::{Link, Outcome, link};
use crate::nats::pump::{Road, Undelivered, pump};
use crate::nats::runtime::{runtime, wait};
use crate::nats::subjects::{self, CONTROLLER, check_name, fresh_id};
use crate::nats::wire::{BEAT, Body, FAILED, Reply};
use crate::nats::{LEASE, NatsError, laboratory};
use async_nats::client::RequestErrorKind;
use async_nats::jetstream::kv::Store;
use async_nats::{Request, Subject};
use bytes::Bytes;
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep};

/// What both sides must agree on.
pub(crate) const PROTOCOL: u32 = 1;

/// Interval of the controller's signs of life.
const BEATS: Duration = Duration::from_millis(500);

/// Between two attempts to reach an agent that holds a lease.
const AGAIN: Duration = Duration::from_millis(200);

/// Longest wait for an agent that holds a lease. The lease of a killed agent has expired by then.
const LONGEST_WAIT: Duration = LEASE.saturating_mul(2);

/// Longest wait for an agent that cleans up after an earlier session.
const CLEANING: Duration = Duration::from_secs(90);

/// An agent that is present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Present {
    pub name: String,
    /// The description of its host, in JSON. It is foreign text.
    pub card: String,
}

/// What an agent has to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AttachRequest {
    pub(crate) protocol: u32,
    pub(crate) session: String,
    pub(crate) controller: String,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AttachAnswer {
    Accepted {
        /// The session before: what it left in the stream can go.
        previous: Option<String>,
    },
    Busy {
        controller: String,
    },
    /// It undoes what the session before has left.
    Cleaning,
    OtherProtocol(u32),
}

/// The present agents, sorted by name.
pub fn list(settings: &Connection) -> Result<Vec<Present>, NatsError> {
    let settings = settings.clone();
    wait(async move {
        let connected = settings.connect(CONTROLLER).await?;
        let listed = async {
            let store = laboratory::agents(&laboratory::jetstream(&connected)).await?;
            present(&store).await
        };
        listed.await.map_err(|error| connected.explain(error))
    })
}

async fn present(store: &Store) -> Result<Vec<Present>, NatsError> {
    let keys = store.keys().await.map_err(request("list the agents"))?;
    let mut names: Vec<String> = keys.try_collect().await.map_err(request("list the agents"))?;
    names.sort();
    let mut present = Vec::new();
    for name in names {
        let value = store.get(&name).await.map_err(request("read a lease"))?;
        // One that has left meanwhile has none.
        let holder = value.and_then(|value| serde_json::from_slice::<Holder>(&value).ok());
        if let Some(Holder { card, .. }) = holder {
            present.push(Present { name, card });
        }
    }
    Ok(present)
}

/// Attaches to an agent. `controller` is the name that another controller gets when the agent is busy.
pub fn attach(settings: &Connection, name: &str, controller: &str) -> Result<Carrier, NatsError> {
    check_name(name)?;
    let (settings, name, controller) = (settings.clone(), name.to_owned(), controller.to_owned());
    wait(async move {
        let connected = settings.connect(CONTROLLER).await?;
        let attached = attach_over(&connected, name, controller).await;
        attached.map_err(|error| connected.explain(error))
    })
}

async fn attach_over(
    connected: &Connected,
    name: String,
    controller: String,
) -> Result<Carrier, NatsError> {
    let jetstream = laboratory::jetstream(connected);
    let store = laboratory::agents(&jetstream).await?;
    let stream = laboratory::frames(&jetstream).await?;
    let session = fresh_id();
    let previous = accepted(connected, &store, &name, &session, controller).await?;
    if let Some(previous) = previous {
        // It has at most a cost: what stays is removed by its age.
        let _ = laboratory::purge(&jetstream, subjects::frames(&name, &previous)).await;
    }
    let (link, carrier, outgoing) = link();
    let frames = FromStream {
        jetstream,
        connected: connected.clone(),
        subject: subjects::frames(&name, &session),
        created: stream.cached_info().created,
    };
    runtime().spawn(serve(frames, name, session, link, outgoing));
    Ok(carrier)
}

/// Asks until the agent accepts; before that, reports which session holds the agent.
async fn accepted(
    connected: &Connected,
    store: &Store,
    name: &str,
    session: &str,
    controller: String,
) -> Result<Option<String>, NatsError> {
    let order = AttachRequest { protocol: PROTOCOL, session: session.to_owned(), controller };
    let order: Bytes = serde_json::to_vec(&order).map_err(request("write a request"))?.into();
    let begun = Instant::now();
    loop {
        let has_waited = |longest: Duration| begun.elapsed() > longest;
        let reply = connected.client.request(subjects::attach(name), order.clone()).await;
        let error = match reply {
            Ok(reply) => {
                match serde_json::from_slice(&reply.payload)
                    .map_err(request("read the answer of the agent"))?
                {
                    AttachAnswer::Accepted { previous } => return Ok(previous),
                    // Who has it may be gone, and the agent has not noticed yet.
                    AttachAnswer::Busy { controller } if has_waited(LONGEST_WAIT) => {
                        return Err(NatsError::Busy { name: name.to_owned(), controller });
                    }
                    AttachAnswer::Cleaning if has_waited(CLEANING) => {
                        return Err(NatsError::Request {
                            what: "attach to the agent",
                            reason: format!(
                                "it still undoes what the experiment before has left, after {} s",
                                CLEANING.as_secs()
                            ),
                        });
                    }
                    AttachAnswer::Busy { .. } | AttachAnswer::Cleaning => {}
                    AttachAnswer::OtherProtocol(other) => {
                        return Err(NatsError::Request {
                            what: "attach to the agent",
                            reason: format!(
                                "it is of another version: it knows protocol {other}, and here it is {PROTOCOL}"
                            ),
                        });
                    }
                }
                sleep(AGAIN).await;
                continue;
            }
            Err(error) => error,
        };
        if !matches!(error.kind(), RequestErrorKind::NoResponders | RequestErrorKind::TimedOut) {
            return Err(request("attach to the agent")(error));
        }
        // The agent may be present while its connection is lost.
        let value = store.get(name).await.map_err(request("read a lease"))?;
        if value.is_none_or(|value| value.is_empty()) {
            let present = present(store).await?;
            return Err(NatsError::NoSuchAgent {
                name: name.to_owned(),
                present: present.into_iter().map(|agent| agent.name).collect(),
            });
        }
        if has_waited(LONGEST_WAIT) {
            return Err(NatsError::Silent { name: name.to_owned() });
        }
        sleep(AGAIN).await;
    }
}

/// Does all that a session needs until it has ended, and removes what it left.
async fn serve(
    frames: FromStream,
    name: String,
    session: String,
    link: Arc<Link>,
    outgoing: UnboundedReceiver<Body>,
) {
    let orders = Orders {
        connected: frames.connected.clone(),
        subject: subjects::orders(&name, &session).into(),
        link: link.clone(),
    };
    let (jetstream, subject) = (frames.jetstream.clone(), frames.subject.clone());
    let agent = format!("agent {name}");
    let mut over = link.over();
    let ended = async {
        // It fails only without the link.
        let _ = over.wait_for(|&is_over| is_over).await;
    };
    let all = async {
        tokio::join!(
            pump(orders.clone(), outgoing, link.clone()),
            frames.read(&link),
            orders.beat(),
            link.fail_when_silent(&agent),
        )
    };
    tokio::select! {
        () = ended => {}
        _ = all => {}
    }
    if link.outcome() == Some(Outcome::Failed) {
        // Otherwise the agent misses the beats after a while.
        let _ = orders.ask(Bytes::from_static(FAILED)).await;
    }
    // Without a connection it takes its time, and is removed by its age.
    let _ = tokio::time::timeout(REQUEST, laboratory::purge(&jetstream, subject)).await;
    link.done();
}

/// The way to the agent.
#[derive(Clone)]
struct Orders {
    connected: Connected,
    subject: Subject,
    link: Arc<Link>,
}

impl Orders {
    async fn ask(&self, message: Bytes) -> Result<Reply, Undelivered> {
        let order = Request::new().payload(message);
        let reply = self
            .connected
            .client
            .send_request(self.subject.clone(), order)
            .await
            .map_err(|error| Undelivered::Yet(chain(&error)))?;
        let reply = Reply::decode(&reply.payload)
            .ok_or_else(|| Undelivered::Ever("the agent sent an unreadable answer".to_owned()))?;
        self.link.hear();
        Ok(reply)
    }

    /// Sends the agent a sign of life of the controller, again and again.
    async fn beat(&self) {
        let mut connections = self.connected.connections.clone();
        loop {
            connections.mark_unchanged();
            tokio::select! {
                answer = self.ask(Bytes::from_static(BEAT)) => match answer {
                    Ok(Reply::Gone) => self.link.fail(GONE),
                    Ok(Reply::Have | Reply::Over) | Err(Undelivered::Yet(_)) => {}
                    Err(Undelivered::Ever(why)) => self.link.fail(why),
                },
                // A lost connection is back: the one before may never be answered.
                _ = connections.changed() => continue,
            }
            tokio::select! {
                () = sleep(BEATS) => {}
                _ = connections.changed() => {}
            }
        }
    }
}

const GONE: &str = "the agent gave up the session";

impl Road for Orders {
    async fn deliver(&self, _number: u64, message: Bytes) -> Result<(), Undelivered> {
        match self.ask(message).await? {
            // If the session is over on the other side, no receiver waits for it, and what the agent sent last is still on its way.
            Reply::Have | Reply::Over => Ok(()),
            Reply::Gone => Err(Undelivered::Ever(GONE.to_owned())),
        }
    }
}
