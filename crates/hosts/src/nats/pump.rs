//! Outgoing messages are numbered, sent, and sent again until they are acknowledged.

use crate::nats::LEASE;
use crate::nats::link::Link;
use crate::nats::wire::{Body, Numbered};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep};

/// Between two attempts where NATS answers at once that it cannot.
const AGAIN: Duration = Duration::from_millis(50);

/// A message that NATS refuses is given up after this time. A lost connection ends the session earlier.
const TIMEOUT: Duration = LEASE.saturating_mul(3);

/// A way to the other side.
pub(crate) trait Road: Clone + Send + Sync + 'static {
    /// One attempt to bring a message there.
    fn deliver(
        &self,
        number: u64,
        message: Bytes,
    ) -> impl Future<Output = Result<(), Undelivered>> + Send;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Undelivered {
    /// The next attempt may succeed.
    Yet(String),
    Ever(String),
}

/// Sends until the session has ended. All that is sent is under way at the same time: its amount is bounded by the credit.
pub(crate) async fn pump(road: impl Road, mut outgoing: UnboundedReceiver<Body>, link: Arc<Link>) {
    let mut next = 0;
    let mut under_way = FuturesOrdered::new();
    loop {
        tokio::select! {
            Some(delivered) = under_way.next(), if !under_way.is_empty() => match delivered {
                Ok(MessageKind::Packet) => {}
                Ok(MessageKind::End) => link.end_is_known(),
                Ok(MessageKind::Bye) => return link.finish(),
                Err(why) => return link.fail(why),
            },
            body = outgoing.recv() => {
                // The link has the other end.
                let Some(body) = body else { return };
                let said = match &body {
                    Body::Packet(_) | Body::Credit(_) => MessageKind::Packet,
                    Body::End => MessageKind::End,
                    Body::Bye => MessageKind::Bye,
                };
                // They are acknowledged in their order, as far as can be seen here.
                let floor = next - under_way.len() as u64;
                let message = Numbered { number: next, floor, body }.encode();
                let road = road.clone();
                let number = next;
                under_way.push_back(async move { bring(&road, number, message).await.map(|()| said) });
                next += 1;
            }
        }
    }
}

/// What matters of a message when it has arrived.
#[derive(Clone, Copy)]
enum MessageKind {
    Packet,
    End,
    Bye,
}

async fn bring(road: &impl Road, number: u64, message: Bytes) -> Result<(), String> {
    let limit = Instant::now() + TIMEOUT;
    loop {
        match road.deliver(number, message.clone()).await {
            Ok(()) => return Ok(()),
            Err(Undelivered::Ever(why)) => return Err(why),
            Err(Undelivered::Yet(why)) if Instant::now() > limit => {
                return Err(format!(
                    "a message could not be sent for {} s: {why}",
                    TIMEOUT.as_secs()
                ));
            }
            Err(Undelivered::Yet(_)) => sleep(AGAIN).await,
        }
    }
}
