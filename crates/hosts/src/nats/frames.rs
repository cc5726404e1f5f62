//! What an agent sends, through a stream of JetStream.

use crate::nats::connection::Connected;
use crate::nats::error::chain;
use crate::nats::link::Link;
use crate::nats::numbering::Arrived;
use crate::nats::pump::{Road, Undelivered};
use crate::nats::subjects::FRAMES;
use crate::nats::wire::{Body, Numbered};
use async_nats::Subject;
use async_nats::datetime::DateTime;
use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::push::{Ordered, OrderedConfig};
use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;
use futures_util::StreamExt;
use std::time::Duration;
use tokio::time::sleep;

/// What was read is removed from the stream when it is this much, bytes.
const REMOVED_AT_ONCE: usize = 4 << 20;

/// Between two attempts to read on.
const AGAIN: Duration = Duration::from_millis(50);

#[derive(Clone)]
pub(crate) struct ToStream {
    pub(crate) jetstream: Context,
    pub(crate) subject: Subject,
    pub(crate) id: String,
}

impl Road for ToStream {
    async fn deliver(&self, number: u64, message: Bytes) -> Result<(), Undelivered> {
        let message = PublishMessage::build()
            .payload(message)
            // An attempt whose acknowledgement was lost is not stored twice.
            .message_id(format!("{}.{number}", self.id));
        let yet = |error: &dyn std::error::Error| Undelivered::Yet(chain(error));
        let sent = self
            .jetstream
            .send_publish(self.subject.clone(), message)
            .await
            .map_err(|error| yet(&error))?;
        sent.await.map_err(|error| yet(&error))?;
        Ok(())
    }
}

pub(crate) struct FromStream {
    pub(crate) jetstream: Context,
    pub(crate) connected: Connected,
    pub(crate) subject: String,
    /// When the stream was created, as its server reports.
    pub(crate) created: DateTime,
}

impl FromStream {
    /// Reads until the session has ended.
    pub(crate) async fn read(mut self, link: &Link) {
        let mut arrived = Arrived::default();
        // Where in the stream the last message was.
        let mut last = 0;
        let mut read = 0;
        loop {
            self.connected.connections.mark_unchanged();
            let mut messages = match self.open(last).await {
                Ok(messages) => messages,
                Err(Undelivered::Yet(why)) => {
                    tracing::debug!(why, "frames are not read yet");
                    sleep(AGAIN).await;
                    continue;
                }
                Err(Undelivered::Ever(why)) => return link.fail(why),
            };
            loop {
                let message = tokio::select! {
                    message = messages.next() => message,
                    // The server may have forgotten the consumer.
                    _ = self.connected.connections.changed() => break,
                };
                let Some(Ok(message)) = message else { break };
                let Ok(info) = message.info() else { break };
                last = info.stream_sequence;
                read += message.payload.len();
                if read >= REMOVED_AT_ONCE {
                    read = 0;
                    self.remove_before(last);
                }
                let Some(numbered) = Numbered::decode(&message.payload) else {
                    return link.fail("the agent sent an unreadable message");
                };
                let bodies = match arrived.take(numbered) {
                    Ok(bodies) => bodies,
                    Err(lost) => return link.fail(lost.to_string()),
                };
                link.hear();
                for body in bodies {
                    let is_last = body == Body::Bye;
                    link.take(body);
                    if is_last {
                        return;
                    }
                }
            }
        }
    }

    async fn open(&self, last: u64) -> Result<Ordered, Undelivered> {
        let yet = |error: &dyn std::error::Error| Undelivered::Yet(chain(error));
        let stream = self.jetstream.get_stream(FRAMES).await;
        let stream = stream.map_err(|error| yet(&error))?;
        if stream.cached_info().created != self.created {
            // Its numbers start from 1 again, so that no earlier message could be requested.
            let why = "NATS has lost the stream of frames and has a new one";
            return Err(Undelivered::Ever(why.to_owned()));
        }
        let config = OrderedConfig {
            deliver_subject: self.connected.client.new_inbox(),
            filter_subject: self.subject.clone(),
            deliver_policy: match last {
                0 => DeliverPolicy::All,
                last => DeliverPolicy::ByStartSequence { start_sequence: last + 1 },
            },
            ..OrderedConfig::default()
        };
        let consumer = stream.create_consumer(config).await;
        let messages = consumer.map_err(|error| yet(&error))?.messages().await;
        messages.map_err(|error| yet(&error))
    }

    /// Without waiting for it: the stream has limits of its own as well.
    fn remove_before(&self, sequence: u64) {
        let (jetstream, subject) = (self.jetstream.clone(), self.subject.clone());
        tokio::spawn(async move {
            let Ok(stream) = jetstream.get_stream_no_info(FRAMES).await else {
                return;
            };
            let purge = stream.purge().sequence(sequence).filter(subject);
            if let Err(error) = purge.await {
                tracing::debug!(%error, "what was read stays in the stream");
            }
        });
    }
}
