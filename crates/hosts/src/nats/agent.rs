//! The side that waits for a controller.

use crate::carrier::Carrier;
use crate::nats::connection::{Connected, Connection};
use crate::nats::controller::{AttachAnswer, AttachRequest, PROTOCOL};
use crate::nats::error::request;
use crate::nats::frames::ToStream;
use crate::nats::lease::{Lease, leave};
use crate::nats::link::{Link, Outcome, link};
use crate::nats::numbering::Arrived;
use crate::nats::pump::pump;
use crate::nats::runtime::{runtime, wait};
use crate::nats::subjects::{self, check_name};
use crate::nats::wire::{BEAT, Body, FAILED, Numbered, Reply};
use crate::nats::{NatsError, laboratory};
use async_nats::jetstream::Context;
use async_nats::jetstream::kv::Store;
use async_nats::{Message, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::AbortHandle;

/// An agent that has joined, until it is dropped.
pub struct Agent {
    name: String,
    instance: String,
    store: Store,
    carriers: Receiver<Result<Carrier, NatsError>>,
    latest: Latest,
    is_occupied: Arc<AtomicBool>,
    task: AbortHandle,
}

/// While this exists the agent takes no controller, though the session before may have ended: what that left is not undone yet.
#[derive(Debug)]
pub struct Occupied(Arc<AtomicBool>);

impl Drop for Occupied {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// The link of the latest session.
type Latest = Arc<Mutex<Option<Arc<Link>>>>;

fn of_latest(latest: &Latest) -> Option<Arc<Link>> {
    latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

impl Agent {
    /// Joins under a name. `card` is what [`list`](crate::nats::list) prints about the host, in JSON. Where an agent of this name was killed, it waits until that
    /// one's lease is over.
    pub fn join(settings: &Connection, name: &str, card: String) -> Result<Self, NatsError> {
        check_name(name)?;
        let (settings, name) = (settings.clone(), name.to_owned());
        wait(async move {
            let connected = settings.connect(&name).await?;
            let joined = Self::join_over(&connected, name, card).await;
            joined.map_err(|error| connected.explain(error))
        })
    }

    async fn join_over(
        connected: &Connected,
        name: String,
        card: String,
    ) -> Result<Self, NatsError> {
        let jetstream = laboratory::jetstream(connected);
        let store = laboratory::agents(&jetstream).await?;
        let lease = Lease::take(store.clone(), &name, card).await?;
        let instance = lease.instance().to_owned();
        let orders = connected
            .client
            .subscribe(subjects::of_agent(&name))
            .await
            .map_err(request("wait for controllers"))?;
        let (tell, carriers) = channel();
        let latest = Latest::default();
        let is_occupied = Arc::<AtomicBool>::default();
        let serving = Serving {
            name: name.clone(),
            connected: connected.clone(),
            jetstream,
            tell: tell.clone(),
            latest: latest.clone(),
            is_occupied: Arc::clone(&is_occupied),
            session: None,
        };
        let (of_lease, of_task) = (connected.clone(), latest.clone());
        let task = runtime().spawn(async move {
            let taken = tokio::select! {
                taken = lease.keep(of_lease) => taken,
                () = serving.serve(orders) => return,
            };
            if let Some(link) = of_latest(&of_task) {
                link.fail(taken.to_string());
            }
            let _ = tell.send(Err(taken));
        });
        Ok(Self { name, instance, store, carriers, latest, is_occupied, task: task.abort_handle() })
    }

    /// The name it has joined under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Lets controllers wait until what is returned is dropped.
    pub fn occupied(&self) -> Occupied {
        self.is_occupied.store(true, Ordering::Relaxed);
        Occupied(Arc::clone(&self.is_occupied))
    }

    /// Waits for a controller. Until the carrier has ended, others are refused.
    pub fn accept(&mut self) -> Result<Carrier, NatsError> {
        match self.carriers.recv() {
            Ok(carrier) => carrier,
            Err(_) => Err(NatsError::NameTaken(self.name.clone())),
        }
    }

    /// As [`accept`](Self::accept); `Ok(None)` when no controller came in time.
    pub fn accept_within(&mut self, longest: Duration) -> Result<Option<Carrier>, NatsError> {
        match self.carriers.recv_timeout(longest) {
            Ok(carrier) => carrier.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(NatsError::NameTaken(self.name.clone())),
        }
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Agent")
            .field("name", &self.name)
            .field("instance", &self.instance)
            .finish_non_exhaustive()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(link) = of_latest(&self.latest)
            && link.outcome().is_none()
        {
            link.leave();
        }
        self.task.abort();
        let (store, name, instance) =
            (self.store.clone(), self.name.clone(), self.instance.clone());
        wait(async move { leave(&store, &name, &instance).await });
    }
}

/// What answers to all that is sent to the agent.
struct Serving {
    name: String,
    connected: Connected,
    jetstream: Context,
    tell: Sender<Result<Carrier, NatsError>>,
    latest: Latest,
    is_occupied: Arc<AtomicBool>,
    /// The present one, or the last.
    session: Option<Session>,
}

struct Session {
    id: String,
    controller: String,
    link: Arc<Link>,
    arrived: Arrived,
}

impl Serving {
    async fn serve(mut self, mut orders: Subscriber) {
        while let Some(message) = orders.next().await {
            let Some(reply) = message.reply.clone() else {
                continue;
            };
            if let Some(answer) = self.answer(&message) {
                // Without an answer the controller asks again.
                let _ = self.connected.client.publish(reply, answer).await;
            }
        }
    }

    fn answer(&mut self, message: &Message) -> Option<Bytes> {
        let mut parts = message.subject.split('.').skip(3);
        match (parts.next(), parts.next(), parts.next()) {
            (Some("attach"), None, None) => {
                let order = serde_json::from_slice(&message.payload).ok()?;
                let answer = self.attach(order);
                serde_json::to_vec(&answer).ok().map(Bytes::from)
            }
            (Some(session), Some("to"), None) => {
                Some(self.take(session, &message.payload).encode())
            }
            _ => None,
        }
    }

    fn attach(&mut self, order: AttachRequest) -> AttachAnswer {
        let AttachRequest { protocol, session: id, controller } = order;
        if protocol != PROTOCOL {
            return AttachAnswer::OtherProtocol(PROTOCOL);
        }
        let previous = match &self.session {
            Some(session) if session.id == id => {
                // It asks again because the answer was lost.
                return AttachAnswer::Accepted { previous: None };
            }
            Some(session) if session.link.outcome().is_none() => {
                return AttachAnswer::Busy { controller: session.controller.clone() };
            }
            Some(_) if self.is_occupied.load(Ordering::Relaxed) => return AttachAnswer::Cleaning,
            Some(session) => Some(session.id.clone()),
            None => None,
        };
        let (link, carrier, outgoing) = link();
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(link.clone());
        let frames = ToStream {
            jetstream: self.jetstream.clone(),
            subject: subjects::frames(&self.name, &id).into(),
            id: format!("{}.{id}", self.name),
        };
        let whom = format!("controller {controller}");
        runtime().spawn(run(frames, link.clone(), outgoing, whom));
        self.session = Some(Session { id, controller, link, arrived: Arrived::default() });
        // The agent has the other end, and ends this task before it drops it.
        let _ = self.tell.send(Ok(carrier));
        AttachAnswer::Accepted { previous }
    }

    fn take(&mut self, id: &str, content: &[u8]) -> Reply {
        let Some(session) = self.session.as_mut().filter(|session| session.id == id) else {
            return Reply::Gone;
        };
        match session.link.outcome() {
            Some(Outcome::Over) => return Reply::Over,
            Some(Outcome::Failed) => return Reply::Gone,
            None => session.link.hear(),
        }
        if content == BEAT {
            return Reply::Have;
        }
        if content == FAILED {
            session.link.fail("the controller gave up the session");
            return Reply::Gone;
        }
        let Some(message) = Numbered::decode(content) else {
            session.link.fail("the controller sent an unreadable message");
            return Reply::Gone;
        };
        match session.arrived.take(message) {
            Ok(bodies) => {
                for body in bodies {
                    session.link.take(body);
                }
                Reply::Have
            }
            Err(lost) => {
                session.link.fail(lost.to_string());
                Reply::Gone
            }
        }
    }
}

/// Sends what the agent has to send, until the session has ended.
async fn run(frames: ToStream, link: Arc<Link>, outgoing: UnboundedReceiver<Body>, whom: String) {
    let mut over = link.over();
    tokio::select! {
        _ = over.wait_for(|&is_over| is_over) => {}
        () = pump(frames, outgoing, link.clone()) => {}
        () = link.fail_when_silent(&whom) => {}
    }
    link.done();
}
