//! Results that were measured elsewhere come in as bundles: `PUT /bundles/SHA256`, by those who have a token for it.
//!
//! ```text
//! token, length, allowance ─► body, no longer than said ─► SHA-256 ─► every file of the bundle ─► one transaction of the store
//! ```
//!
//! Nothing is kept before all of that holds, and no file is made, so that a server that is killed leaves nothing half-written. The same bundle again
//! changes nothing. Whoever sends is a program: it gets JSON.
//!
//! Of an experiment that goes on, parts may come before ([`going`]).

mod going;

pub(crate) use going::{Going, part, watch};

use crate::App;
use crate::access::Sender;
use crate::shared::{ProgramFailed, apart, patiently};
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use plimsoll_plan::sha256;
use plimsoll_store::bundle::read_bytes;
use plimsoll_store::{Accepted, Arrival, Store, StoreError};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Bundles, and parts, that are received and verified at a time.
const AT_A_TIME: usize = 2;
/// Threads that this needs at most.
pub(crate) const THREADS: usize = 2 * AT_A_TIME + 1;

/// What may come.
struct Limits {
    /// What it is, with its article.
    what: &'static str,
    /// Bytes.
    largest: u64,
    /// What it counts at least, so that many small ones are limited as well, bytes.
    least: u64,
    /// Longest time in which one comes.
    longest: Duration,
}

const BUNDLE: Limits = Limits {
    what: "a bundle",
    largest: 64 << 20,
    least: 1 << 20,
    longest: Duration::from_secs(300),
};
/// Bytes of what is in a bundle.
const LARGEST_UNPACKED: u64 = 512 << 20;

/// What each sender may send in an hour, and at once after an hour of silence; bytes.
const HOURLY: f64 = (1_u64 << 30) as f64;

/// Receives what others send.
#[derive(Debug)]
pub(crate) struct Acceptor {
    /// For bundles.
    places: Arc<Semaphore>,
    /// For parts, which must not wait for a bundle.
    places_of_parts: Arc<Semaphore>,
    allowances: Mutex<BTreeMap<String, Allowance>>,
    /// One bundle is written at a time.
    writing: Mutex<()>,
    going: Going,
}

impl Default for Acceptor {
    fn default() -> Self {
        Self {
            places: Arc::new(Semaphore::new(AT_A_TIME)),
            places_of_parts: Arc::new(Semaphore::new(AT_A_TIME)),
            allowances: Mutex::default(),
            writing: Mutex::default(),
            going: Going::default(),
        }
    }
}

/// What a sender may still send: it fills up by the hour.
#[derive(Debug)]
struct Allowance {
    bytes: f64,
    at: Instant,
}

impl Acceptor {
    /// Takes so many bytes off the sender's allowance, or says after how long there will be as many.
    fn take(&self, sender: &Sender, bytes: u64, now: Instant) -> Result<(), Duration> {
        let mut allowances = self
            .allowances
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let fresh = Allowance {
            bytes: HOURLY,
            at: now,
        };
        let allowance = allowances.entry(sender.0.clone()).or_insert(fresh);
        let a_second = HOURLY / 3600.0;
        let since = now.duration_since(allowance.at).as_secs_f64();
        allowance.bytes = (allowance.bytes + since * a_second).min(HOURLY);
        allowance.at = now;
        let wanted = bytes as f64;
        if wanted > allowance.bytes {
            let seconds = (wanted - allowance.bytes) / a_second;
            return Err(Duration::from_secs_f64(seconds.ceil()));
        }
        allowance.bytes -= wanted;
        Ok(())
    }
}

/// Why a bundle was not taken.
#[derive(Debug)]
pub(crate) struct Refused {
    status: StatusCode,
    why: String,
    /// When it is worth another try.
    after: Option<Duration>,
}

impl Refused {
    fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self {
            status,
            why: why.into(),
            after: None,
        }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = (self.status, json_of(&json!({"error": self.why}))).into_response();
        let headers = response.headers_mut();
        if let Some(after) = self.after {
            headers.insert(header::RETRY_AFTER, after.as_secs().into());
        }
        // What it still sends is not read.
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        response
    }
}

fn json_of(value: &serde_json::Value) -> impl IntoResponse + use<> {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, value.to_string())
}

impl From<ProgramFailed> for Refused {
    fn from(_: ProgramFailed) -> Self {
        let why = "the program failed on it, which it should never do";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, why)
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        let status = match &error {
            StoreError::Differs { .. } | StoreError::Busy { .. } => StatusCode::CONFLICT,
            StoreError::UnfitId { .. }
            | StoreError::RunTaken { .. }
            | StoreError::PartMissing { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            StoreError::Locked { .. } => StatusCode::SERVICE_UNAVAILABLE,
            StoreError::Full { .. } => StatusCode::INSUFFICIENT_STORAGE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

/// Lets in what somebody sends, and the place that it takes.
async fn received(
    app: &App,
    sender: &Sender,
    headers: &HeaderMap,
    body: Body,
    places: &Arc<Semaphore>,
    limits: &Limits,
) -> Result<(Bytes, OwnedSemaphorePermit), Refused> {
    let length = headers.get(header::CONTENT_LENGTH);
    let length: Option<u64> = length.and_then(|length| length.to_str().ok()?.parse().ok());
    let Some(length) = length else {
        let why = format!("the length of {} is needed", limits.what);
        return Err(Refused::new(StatusCode::LENGTH_REQUIRED, why));
    };
    if length > limits.largest {
        let why = format!("{} may have {} MiB", limits.what, limits.largest >> 20);
        return Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, why));
    }
    let counted = length.max(limits.least);
    if let Err(after) = app.acceptor.take(sender, counted, Instant::now()) {
        let why = format!(
            "{} has sent {} MiB within an hour; there is room again in {} s",
            sender.0,
            HOURLY as u64 >> 20,
            after.as_secs()
        );
        let mut refused = Refused::new(StatusCode::TOO_MANY_REQUESTS, why);
        refused.after = Some(after);
        return Err(refused);
    }
    let place = patiently(places, 1, &app.places).await;
    let busy = |_| Refused::new(StatusCode::SERVICE_UNAVAILABLE, "the server is busy");
    let place = place.map_err(busy)?;
    let come = tokio::time::timeout(limits.longest, to_bytes(body, limits.largest as usize)).await;
    match come {
        Ok(Ok(bytes)) => Ok((bytes, place)),
        _ => {
            let why = format!("{} did not come to its end", limits.what);
            Err(Refused::new(StatusCode::REQUEST_TIMEOUT, why))
        }
    }
}

/// `PUT /bundles/SHA256`
pub(crate) async fn bundle(
    State(app): State<Arc<App>>,
    Extension(sender): Extension<Sender>,
    Path(named): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refused> {
    let places = &app.acceptor.places;
    let (bytes, place) = received(&app, &sender, &headers, body, places, &BUNDLE).await?;
    let (id, accepted) = apart(move || {
        let kept = app
            .acceptor
            .keep(app.library.path(), sender, &named, &bytes);
        drop(place);
        kept
    })
    .await?;
    let status = match accepted {
        Accepted::New => StatusCode::CREATED,
        Accepted::Known | Accepted::Grown => StatusCode::OK,
    };
    let page = plimsoll_report::page::link::experiment(&id);
    let answer = json!({"id": id, "accepted": accepted, "page": page});
    Ok((status, json_of(&answer)).into_response())
}

impl Acceptor {
    /// Verifies a bundle and stores what it holds.
    fn keep(
        &self,
        store: &FilePath,
        sender: Sender,
        named: &str,
        bytes: &Bytes,
    ) -> Result<(String, Accepted), Refused> {
        let unfit = |why: String| Refused::new(StatusCode::UNPROCESSABLE_ENTITY, why);
        let found = sha256(bytes);
        if !found.eq_ignore_ascii_case(named) {
            return Err(unfit(format!(
                "what came has another SHA-256, {found}: send it again"
            )));
        }
        let bundle = read_bytes(bytes, LARGEST_UNPACKED);
        let record = bundle.map_err(|error| unfit(error.to_string()))?.record;
        self.going.let_go_of(&record.id, &sender);
        let arrival = Arrival {
            by: sender.0,
            at: now(),
            sha256: Some(found),
        };
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let accepted = Store::open(store)?.accept(&record, &arrival)?;
        Ok((record.id, accepted))
    }
}

/// UTC, RFC 3339.
fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

#[cfg(test)]
mod tests;
