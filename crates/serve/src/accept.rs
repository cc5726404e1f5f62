//! Results that were measured elsewhere come in as bundles: `PUT /bundles/SHA256`, by those who have a token for it.
//!
//! ```text
//! token, length, allowance ─► body, no longer than said ─► SHA-256 ─► every file of the bundle ─► one transaction of the store
//! ```
//!
//! Nothing is kept before all of that holds, and no file is made, so that a server that is killed leaves nothing half-written. The same bundle again
//! changes nothing. Whoever sends is a program: it gets JSON.

use crate::App;
use crate::access::Sender;
use crate::shared::patiently;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use plimsoll_bundle::read_bytes;
use plimsoll_plan::sha256;
use plimsoll_store::{Accepted, Arrival, Store, StoreError};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// Bundles that are received and verified at a time.
pub(crate) const AT_A_TIME: usize = 2;

/// Bytes of a bundle, and of what is in it.
const LARGEST: u64 = 64 << 20;
const LARGEST_UNPACKED: u64 = 512 << 20;
/// Longest time in which one comes.
const LONGEST: Duration = Duration::from_secs(300);

/// What each sender may send in an hour, and at once after an hour of silence; bytes.
const HOURLY: f64 = (1_u64 << 30) as f64;
/// What a bundle counts at least, so that many small ones are limited as well.
const LEAST: f64 = (1_u64 << 20) as f64;

/// Receives bundles.
#[derive(Debug)]
pub(crate) struct Acceptor {
    places: Arc<Semaphore>,
    allowances: Mutex<BTreeMap<String, Allowance>>,
    /// One bundle is written at a time.
    writing: Arc<Mutex<()>>,
}

impl Default for Acceptor {
    fn default() -> Self {
        Self {
            places: Arc::new(Semaphore::new(AT_A_TIME)),
            allowances: Mutex::default(),
            writing: Arc::default(),
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
        let wanted = (bytes as f64).max(LEAST);
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

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        let status = match &error {
            StoreError::Differs { .. } | StoreError::Busy { .. } => StatusCode::CONFLICT,
            StoreError::UnfitId { .. } | StoreError::RunTaken { .. } => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            StoreError::Locked { .. } => StatusCode::SERVICE_UNAVAILABLE,
            StoreError::Full { .. } => StatusCode::INSUFFICIENT_STORAGE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

/// `PUT /bundles/SHA256`
pub(crate) async fn bundle(
    State(app): State<Arc<App>>,
    sender: Option<Extension<Sender>>,
    Path(named): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refused> {
    let Some(Extension(sender)) = sender else {
        let why = "a token for sending is needed, as `Authorization: Bearer`";
        return Err(Refused::new(StatusCode::UNAUTHORIZED, why));
    };
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    let Some(length) = length else {
        let why = "the length of the bundle is needed";
        return Err(Refused::new(StatusCode::LENGTH_REQUIRED, why));
    };
    if length > LARGEST {
        let why = format!("a bundle may have {} MiB", LARGEST >> 20);
        return Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, why));
    }
    if let Err(after) = app.acceptor.take(&sender, length, Instant::now()) {
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
    let busy = || Refused::new(StatusCode::SERVICE_UNAVAILABLE, "the server is busy");
    let place = patiently(&app.acceptor.places, 1, &app.places).await;
    let place = place.map_err(|_| busy())?;
    let come = tokio::time::timeout(LONGEST, to_bytes(body, LARGEST as usize)).await;
    let Ok(Ok(bytes)) = come else {
        let why = "the bundle did not come to its end";
        return Err(Refused::new(StatusCode::REQUEST_TIMEOUT, why));
    };
    let writing = Arc::clone(&app.acceptor.writing);
    let store = app.library.path().to_owned();
    let keep = move || {
        let kept = keep(&store, &writing, sender, &named, &bytes);
        drop(place);
        kept
    };
    let kept = tokio::task::spawn_blocking(keep).await;
    let (id, accepted) = kept.unwrap_or_else(|_| {
        let why = "the program failed on it, which it should never do";
        Err(Refused::new(StatusCode::INTERNAL_SERVER_ERROR, why))
    })?;
    let status = match accepted {
        Accepted::New => StatusCode::CREATED,
        Accepted::Known | Accepted::Grown => StatusCode::OK,
    };
    let page = plimsoll_page::link::experiment(&id);
    let answer = json!({"id": id, "accepted": accepted, "page": page});
    Ok((status, json_of(&answer)).into_response())
}

/// Verifies a bundle and stores what it holds.
fn keep(
    store: &FilePath,
    writing: &Mutex<()>,
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
    let arrival = Arrival {
        by: sender.0,
        at: format!("{:.3}", jiff::Timestamp::now()),
        sha256: found,
    };
    let _writing = writing.lock().unwrap_or_else(PoisonError::into_inner);
    let accepted = Store::open(store)?.accept(&record, &arrival)?;
    Ok((record.id, accepted))
}

#[cfg(test)]
mod tests;
