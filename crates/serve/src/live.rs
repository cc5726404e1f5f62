//! An experiment that goes on, as server-sent events.
//!
//! ```text
//! Store::news ─► Picture ─► Update ─► every stream          one follower for each experiment, on a thread of its own,
//!                   └─► the whole of it for who comes later  as long as anybody looks
//! ```
//!
//! A stream begins with `snapshot`, all that there is to show; `update`s are what changed since; `end` says that nobody works on the experiment
//! any more. Who was too slow to take every update gets a snapshot again.

mod hub;
mod picture;
#[cfg(test)]
mod tests;
mod update;

pub(crate) use hub::{Hub, MOST_STREAMS, now as seconds_now};
pub(crate) use picture::Picture;

use crate::App;
use crate::failure::Failure;
use crate::pages::aside;
use axum::extract::{Path, State};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::stream::{self, Stream};
use hub::{Looking, Message};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

/// After how long a browser asks again when the connection was lost.
const RETRY: Duration = Duration::from_secs(2);
/// Interval of messages that keep a connection alive, so that a dead one is noticed.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

pub(crate) async fn events(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    let closing = app.closing.clone();
    let looking = aside(move || app.hub.look(&id)).await?;
    let stream = stream::unfold(Stage::Begin(looking, closing), next);
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(SIGN_OF_LIFE)))
}

enum Stage {
    Begin(Looking, watch::Receiver<bool>),
    Going(Looking, watch::Receiver<bool>),
    /// The end is still to be sent.
    Ending,
    Over,
}

impl Stage {
    fn after(looking: Looking, closing: watch::Receiver<bool>, over: bool) -> Self {
        match over {
            true => Self::Ending,
            false => Self::Going(looking, closing),
        }
    }
}

async fn next(stage: Stage) -> Option<(Result<Event, Infallible>, Stage)> {
    let (mut looking, mut closing) = match stage {
        Stage::Over => return None,
        Stage::Ending => return Some((Ok(spelled(&Message::End)), Stage::Over)),
        Stage::Begin(mut looking, closing) => match looking.snapshot() {
            Some((snapshot, over)) => {
                let event = spelled(&snapshot).retry(RETRY);
                return Some((Ok(event), Stage::after(looking, closing, over)));
            }
            // The follower has just begun, and the first that it sends is a snapshot.
            None => (looking, closing),
        },
        Stage::Going(looking, closing) => (looking, closing),
    };
    let received = tokio::select! {
        received = looking.updates.recv() => received,
        _ = closing.wait_for(|closing| *closing) => return None,
    };
    match received {
        Ok(message) => {
            let event = Ok(spelled(&message));
            let stage = match message {
                Message::End => Stage::Over,
                _ => Stage::Going(looking, closing),
            };
            Some((event, stage))
        }
        Err(RecvError::Lagged(_)) => {
            let (snapshot, over) = looking.snapshot()?;
            let stage = Stage::after(looking, closing, over);
            Some((Ok(spelled(&snapshot)), stage))
        }
        Err(RecvError::Closed) => None,
    }
}

fn spelled(message: &Message) -> Event {
    let (name, data): (&str, &str) = match message {
        Message::Snapshot(data) => ("snapshot", data),
        Message::Update(data) => ("update", data),
        Message::End => ("end", "{}"),
    };
    Event::default().event(name).data(data)
}
