//! What is kept in NATS: a bucket of leases and a stream of frames.

use crate::nats::connection::{Connected, REQUEST};
use crate::nats::error::{chain, request};
use crate::nats::subjects::{AGENTS, ALL_FRAMES, FRAMES};
use crate::nats::{LEASE, NatsError};
use async_nats::jetstream::context::{
    ContextBuilder, GetStreamErrorKind, KeyValueError, RequestErrorKind,
};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{Context, ErrorCode};
use std::error::Error;
use std::time::Duration;

/// How long a frame is kept at most, for a controller that was killed and never came back for its session.
const OLDEST_FRAME: Duration = Duration::from_secs(60 * 60);

/// How much the stream holds at most, bytes. What was read is removed long before, and what is not yet read is bounded by the window of each session.
const ALL_FRAMES_BYTES: i64 = 512 << 20;

pub(crate) const LONGEST_LEASE: usize = 64 << 10;

pub(crate) fn jetstream(connected: &Connected) -> Context {
    ContextBuilder::new().timeout(REQUEST).build(connected.client.clone())
}

/// The bucket of leases, made where it is missing. It is kept in files, so that leases outlive a restart of the server.
pub(crate) async fn agents(jetstream: &Context) -> Result<Store, NatsError> {
    let error = match jetstream.get_key_value(AGENTS).await {
        Ok(store) => return Ok(store),
        Err(error) => error,
    };
    if !is_missing(&error) {
        return Err(of_bucket(&error));
    }
    // As a bucket is made, but that a client may not roll up what others wrote: an agent could remove all leases by one message.
    let config = stream::Config {
        name: format!("KV_{AGENTS}"),
        description: Some("the agents of Plimsoll that are present".to_owned()),
        subjects: vec![format!("$KV.{AGENTS}.>")],
        max_messages_per_subject: 1,
        max_message_size: LONGEST_LEASE as i32,
        max_age: LEASE,
        discard: DiscardPolicy::New,
        deny_delete: true,
        allow_direct: true,
        storage: StorageType::File,
        ..stream::Config::default()
    };
    let made = jetstream.create_stream(config).await;
    match (jetstream.get_key_value(AGENTS).await, made) {
        // Another program may have made it meanwhile, with another version.
        (Ok(store), _) => Ok(store),
        (Err(_), Err(error)) => Err(NatsError::NotSetUp { reason: chain(&error) }),
        (Err(error), Ok(_)) => Err(of_bucket(&error)),
    }
}

/// The stream of frames, made where it is missing.
pub(crate) async fn frames(jetstream: &Context) -> Result<stream::Stream, NatsError> {
    let config = stream::Config {
        name: FRAMES.to_owned(),
        description: Some("what agents of Plimsoll send to controllers".to_owned()),
        subjects: vec![ALL_FRAMES.to_owned()],
        retention: RetentionPolicy::Limits,
        discard: DiscardPolicy::Old,
        max_age: OLDEST_FRAME,
        max_bytes: ALL_FRAMES_BYTES,
        storage: StorageType::File,
        ..stream::Config::default()
    };
    jetstream.get_or_create_stream(config).await.map_err(request("open the stream of frames"))
}

/// Removes what an agent sent in a session.
pub(crate) async fn purge(jetstream: &Context, subject: String) -> Result<(), NatsError> {
    let stream =
        jetstream.get_stream_no_info(FRAMES).await.map_err(request("find the stream of frames"))?;
    stream.purge().filter(subject).await.map_err(request("remove what a session left"))?;
    Ok(())
}

/// The error of a kind among the causes.
fn cause<'a, E: Error + 'static>(mut error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    loop {
        match error.downcast_ref() {
            Some(found) => return Some(found),
            None => error = error.source()?,
        }
    }
}

type GetStreamError = async_nats::error::Error<GetStreamErrorKind>;
type RequestError = async_nats::error::Error<RequestErrorKind>;

fn is_missing(error: &KeyValueError) -> bool {
    let kind = cause::<GetStreamError>(error).map(GetStreamError::kind);
    matches!(kind, Some(GetStreamErrorKind::JetStream(error)) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}

fn of_bucket(error: &KeyValueError) -> NatsError {
    let kind = cause::<GetStreamError>(error).map(GetStreamError::kind);
    let is_off = match kind {
        Some(GetStreamErrorKind::JetStream(error)) => {
            [ErrorCode::JETSTREAM_NOT_ENABLED, ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT]
                .contains(&error.error_code())
        }
        // The server has it, and this account has not.
        _ => cause::<RequestError>(error)
            .is_some_and(|error| error.kind() == RequestErrorKind::NoResponders),
    };
    if is_off {
        return NatsError::NoJetStream { reason: chain(error) };
    }
    request("look for the agents")(std::io::Error::other(chain(error)))
}
