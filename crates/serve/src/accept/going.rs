//! Experiments that go on elsewhere: `PUT /experiment/ID/parts/N`, by those who may send bundles.
//!
//! Each part is what was written there since the one before, part 0 begins with the head of the experiment. It is written here as it comes, so lists, live
//! views and metrics show it as they show what is measured on this machine. The answer says which part is wanted next: 0 where the begin is not known
//! any more, as after a restart. What came this way gives place to the bundle, which comes at the end and is verified.

use super::{Limits, Refused, json_of, now, received};
use crate::App;
use crate::access::Sender;
use crate::shared::apart;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use plimsoll_record::ExperimentRecord;
use plimsoll_store::{Arrival, Copied, Part, Store, StoreError};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const PART: Limits = Limits {
    what: "a part",
    largest: 16 << 20,
    least: 1 << 10,
    longest: Duration::from_secs(60),
};

/// Experiments at a time.
const MOST: usize = 16;
/// Whoever says nothing for so long does not work on it any more.
const SILENCE: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_secs(10);

/// What goes on elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Going(Mutex<BTreeMap<String, Experiment>>);

/// One experiment. Its store holds its claim, so it is running for everybody who looks.
#[derive(Debug)]
struct Experiment {
    sender: Sender,
    store: Store,
    copied: Copied,
    /// The part that is wanted.
    next: u64,
    heard: Instant,
}

/// `PUT /experiment/ID/parts/N`
pub(crate) async fn part(
    State(app): State<Arc<App>>,
    Extension(sender): Extension<Sender>,
    Path((id, number)): Path<(String, u64)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refused> {
    let places = &app.acceptor.places_of_parts;
    let (bytes, place) = received(&app, &sender, &headers, body, places, &PART).await?;
    let next = apart(move || {
        let going = &app.acceptor.going;
        let kept = going.keep(app.library.path(), sender, &id, number, &bytes);
        drop(place);
        kept
    })
    .await?;
    Ok(json_of(&json!({ "next": next })).into_response())
}

/// Lets go of experiments from which nothing comes any more, for ever.
pub(crate) async fn watch(app: Arc<App>) {
    loop {
        tokio::time::sleep(BETWEEN_LOOKS).await;
        let app = Arc::clone(&app);
        let looked = apart(move || {
            app.acceptor.going.let_go_of_silent(Instant::now());
            Ok::<(), Refused>(())
        });
        let _ = looked.await;
    }
}

impl Going {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Experiment>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn let_go_of_silent(&self, now: Instant) {
        self.lock()
            .retain(|_, one| now.duration_since(one.heard) < SILENCE);
    }

    /// Of what this sender sends.
    pub(super) fn let_go_of(&self, id: &str, sender: &Sender) {
        self.lock()
            .retain(|known, one| known != id || one.sender != *sender);
    }

    /// Writes a part, and says which one is wanted next.
    fn keep(
        &self,
        store: &FilePath,
        sender: Sender,
        id: &str,
        number: u64,
        bytes: &Bytes,
    ) -> Result<u64, Refused> {
        let unfit = |why: String| Refused::new(StatusCode::UNPROCESSABLE_ENTITY, why);
        let part: Part = serde_json::from_slice(bytes)
            .map_err(|error| unfit(format!("what came is no part of an experiment: {error}")))?;
        let mut all = self.lock();
        if all.get(id).is_some_and(|known| known.sender != sender) {
            return Err(StoreError::Differs { id: id.to_owned() }.into());
        }
        if number == 0 {
            let head = part.head.as_deref().unwrap_or_default();
            let head =
                ExperimentRecord::from_json(head).map_err(|error| unfit(error.to_string()))?;
            if head.id != id {
                return Err(unfit(format!("what came is of experiment {:?}", head.id)));
            }
            all.remove(id);
            if all.len() >= MOST {
                let why = format!("{MOST} experiments are shown already while they go on");
                return Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, why));
            }
            let mut store = Store::open(store)?;
            let arrival = Arrival {
                by: sender.0.clone(),
                at: now(),
                sha256: None,
            };
            store.begin_elsewhere(&head, &arrival)?;
            let begun = Experiment {
                sender,
                store,
                copied: Copied::default(),
                next: 0,
                heard: Instant::now(),
            };
            all.insert(id.to_owned(), begun);
        }
        let Some(going) = all.get_mut(id) else {
            return Ok(0);
        };
        if number != going.next {
            // One that came before comes again where its answer was lost.
            return Ok(if number < going.next { going.next } else { 0 });
        }
        let added = going.store.add_news(id, &mut going.copied, &part.news);
        going.next += 1;
        going.heard = Instant::now();
        let next = going.next;
        if added.is_err() || !part.news.running && !part.news.more {
            all.remove(id);
        }
        added?;
        Ok(next)
    }
}

#[cfg(test)]
mod tests;
