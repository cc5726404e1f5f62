//! One session, seen from the threads that use it: the two halves of its carrier, and what both share with the thread that drives the connection.

use crate::carrier::{Carrier, LONGEST, Packet, PacketReceiver, PacketSender};
use crate::nats::LEASE;
use crate::nats::wire::Body;
use std::io::{self, ErrorKind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;

/// Most bytes under way in one direction that are not received yet.
const WINDOW: usize = 4 << 20;

/// Bytes of the window that a packet takes besides its content, so that the number of small ones is bounded as well.
const OF_EACH: usize = 1024;

/// How long the drop of a half waits until the other side knows of it.
const FAREWELL: Duration = Duration::from_secs(1);

pub(crate) struct Link {
    state: Mutex<State>,
    changed: Condvar,
    outgoing: UnboundedSender<Body>,
    is_over: watch::Sender<bool>,
}

struct State {
    /// How much more may be sent, bytes.
    credit: usize,
    /// Where arriving packets go; `None` after the last one.
    packets: Option<Sender<Packet>>,
    /// What was received and not yet given back as credit, bytes.
    received: usize,
    has_sender: bool,
    has_receiver: bool,
    /// The other side knows that no more comes.
    is_end_known: bool,
    /// A side has said farewell.
    is_over: bool,
    failure: Option<String>,
    /// Whether all work for it has ended.
    is_done: bool,
    heard: Instant,
}

/// A session, its carrier, and its outgoing messages.
pub(crate) fn link() -> (Arc<Link>, Carrier, UnboundedReceiver<Body>) {
    let (outgoing, to_send) = unbounded_channel();
    let (packets, arriving) = channel();
    let link = Arc::new(Link {
        state: Mutex::new(State {
            credit: WINDOW,
            packets: Some(packets),
            received: 0,
            has_sender: true,
            has_receiver: true,
            is_end_known: false,
            is_over: false,
            failure: None,
            is_done: false,
            heard: Instant::now(),
        }),
        changed: Condvar::new(),
        outgoing,
        is_over: watch::channel(false).0,
    });
    let carrier = Carrier {
        sender: Box::new(LinkSender(link.clone())),
        receiver: Box::new(LinkReceiver { link: link.clone(), packets: arriving }),
    };
    (link, carrier, to_send)
}

impl Link {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next message of the other side.
    pub(crate) fn take(&self, body: Body) {
        let mut state = self.state();
        match body {
            Body::Packet(packet) => {
                let size = size(&packet);
                let is_taken =
                    state.packets.as_ref().is_some_and(|packets| packets.send(packet).is_ok());
                if !is_taken {
                    // There is no reader: the other side must not wait for one.
                    self.give_back(&mut state, size);
                }
            }
            Body::Credit(more) => state.credit = (state.credit + more as usize).min(WINDOW),
            Body::End => state.packets = None,
            Body::Bye => {
                drop(state);
                return self.finish();
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Credit is given back in few pieces.
    fn give_back(&self, state: &mut State, size: usize) {
        state.received += size;
        if state.received >= WINDOW / 4 {
            let _ = self.outgoing.send(Body::Credit(state.received as u32));
            state.received = 0;
        }
    }

    /// The other side knows that no more comes.
    pub(crate) fn end_is_known(&self) {
        self.state().is_end_known = true;
        self.changed.notify_all();
    }

    /// The session has ended as it should.
    pub(crate) fn finish(&self) {
        let mut state = self.state();
        state.is_over = true;
        self.stop(state);
    }

    /// The session has ended otherwise.
    pub(crate) fn fail(&self, why: impl Into<String>) {
        let mut state = self.state();
        if !state.is_over {
            let why = state.failure.get_or_insert(why.into());
            tracing::debug!(%why, "a session over NATS failed");
        }
        self.stop(state);
    }

    fn stop(&self, mut state: MutexGuard<'_, State>) {
        state.packets = None;
        drop(state);
        self.changed.notify_all();
        self.is_over.send_replace(true);
    }

    /// All work for the session has ended.
    pub(crate) fn done(&self) {
        self.state().is_done = true;
        self.changed.notify_all();
    }

    /// Ends the session on the other side, even while the halves of this one exist, and waits a little for it.
    pub(crate) fn leave(&self) {
        let state = self.state();
        self.farewell(&[Body::End, Body::Bye]);
        self.wait(state, |state| state.is_done);
    }

    /// Whether it has ended, and how.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        let state = self.state();
        match state.failure {
            Some(_) => Some(Outcome::Failed),
            None => state.is_over.then_some(Outcome::Over),
        }
    }

    /// Becomes true when the session has ended.
    pub(crate) fn over(&self) -> watch::Receiver<bool> {
        self.is_over.subscribe()
    }

    /// The other side has given a sign of life.
    pub(crate) fn hear(&self) {
        self.state().heard = Instant::now();
    }

    /// Ends the session when the other side gives none for the length of a lease.
    pub(crate) async fn fail_when_silent(&self, whom: &str) {
        loop {
            let silence = self.state().heard.elapsed();
            let Some(left) = LEASE.checked_sub(silence) else {
                break;
            };
            tokio::time::sleep(left).await;
        }
        self.fail(format!("nothing was heard from {whom} for {} s", LEASE.as_secs()));
    }

    fn farewell(&self, words: &[Body]) {
        for word in words {
            let _ = self.outgoing.send(word.clone());
        }
    }

    fn wait(&self, state: MutexGuard<'_, State>, until: impl Fn(&State) -> bool) {
        let _ = self.changed.wait_timeout_while(state, FAREWELL, |state| !until(state));
    }
}

/// How a session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Over,
    /// A message or the other side was lost.
    Failed,
}

fn size(packet: &Packet) -> usize {
    packet.content.len() + OF_EACH
}

struct LinkSender(Arc<Link>);

impl PacketSender for LinkSender {
    fn send(&mut self, packet: &Packet) -> io::Result<()> {
        if packet.content.len() > LONGEST {
            return Err(io::Error::new(ErrorKind::InvalidInput, "a packet is too long"));
        }
        let size = size(packet);
        let mut state = self.0.state();
        loop {
            if let Some(why) = &state.failure {
                return Err(io::Error::new(ErrorKind::BrokenPipe, why.clone()));
            }
            if state.is_over {
                return Err(io::Error::new(
                    ErrorKind::BrokenPipe,
                    "the other side has ended the session",
                ));
            }
            if state.credit >= size {
                break;
            }
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.credit -= size;
        let _ = self.0.outgoing.send(Body::Packet(packet.clone()));
        Ok(())
    }
}

impl Drop for LinkSender {
    fn drop(&mut self) {
        let link = &self.0;
        let mut state = link.state();
        state.has_sender = false;
        let is_last = !state.has_receiver;
        link.farewell(if is_last { &[Body::End, Body::Bye] } else { &[Body::End] });
        link.wait(state, |state| {
            let is_end_known = state.is_end_known || state.is_over || state.failure.is_some();
            if is_last { state.is_done } else { is_end_known }
        });
    }
}

struct LinkReceiver {
    link: Arc<Link>,
    packets: Receiver<Packet>,
}

impl PacketReceiver for LinkReceiver {
    fn receive(&mut self) -> io::Result<Option<Packet>> {
        let received = self.packets.recv();
        let mut state = self.link.state();
        if let Ok(packet) = received {
            self.link.give_back(&mut state, size(&packet));
            return Ok(Some(packet));
        }
        match &state.failure {
            Some(why) => Err(io::Error::new(ErrorKind::BrokenPipe, why.clone())),
            None => Ok(None),
        }
    }
}

impl Drop for LinkReceiver {
    fn drop(&mut self) {
        let mut state = self.link.state();
        state.has_receiver = false;
        if !state.has_sender {
            self.link.farewell(&[Body::Bye]);
            self.link.wait(state, |state| state.is_done);
        }
    }
}
