//! The pages: the address is read here, and `report` draws.

use crate::failure::Failure;
use crate::shared::apart;
use crate::{App, VERSION};
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use plimsoll_judge::HistoryQuestion;
use plimsoll_plan::Metric;
use plimsoll_record::ExperimentState;
use plimsoll_report::page::list::{self, Entry, Listed, State as ExperimentStatus};
use plimsoll_store::Summary;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The parts of a query, in their order.
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn of(query: Option<String>) -> Self {
        let query = query.unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes());
        Self(pairs.into_owned().collect())
    }

    /// What was said of `name` last, unless that is nothing.
    pub(crate) fn last(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(key, _)| key == name)?;
        Some(found.1.as_str()).filter(|value| !value.is_empty())
    }

    fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        let named = self.0.iter().filter(move |(key, _)| key == name);
        named.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

/// Looks into the store at a time.
pub(crate) const LOOKS: usize = 8;
static LOOKING: Semaphore = Semaphore::const_new(LOOKS);

/// Does what takes a moment, such as a look into the store, on a thread of its own. Who asks and goes away leaves nothing to do.
pub(crate) async fn aside<T: Send + 'static>(
    task: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let Ok(place) = LOOKING.acquire().await else {
        return Err(Failure::of_the_program());
    };
    apart(move || {
        let done = task();
        drop(place);
        done
    })
    .await
}

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, Failure> {
    let query = Query::of(query);
    let page = aside(move || {
        let summaries = app.library.list()?;
        let entries: Vec<Entry> = summaries.into_iter().map(entry).collect();
        let listed = Listed {
            entries: &entries,
            text: query.last("text").unwrap_or_default(),
            state: query.last("state").and_then(ExperimentStatus::parse),
            store: &app.library.path().display().to_string(),
        };
        Ok(list::page(&listed, VERSION))
    });
    Ok(Html(page.await?))
}

fn entry(summary: Summary) -> Entry {
    let state = match (summary.state, summary.running) {
        (_, true) => ExperimentStatus::GoingOn,
        (ExperimentState::Finished, _) => ExperimentStatus::Finished,
        (ExperimentState::Unfinished, _) => ExperimentStatus::Interrupted,
    };
    Entry {
        id: summary.id,
        name: summary.name,
        question: summary.question,
        state,
        arms: summary.arms,
        runs_finished: summary.runs_finished,
        runs_failed: summary.runs_failed,
        runs_planned: summary.runs_planned,
        started_at: summary.started_at,
        bundle: summary.bundle,
    }
}

pub(crate) async fn experiment(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Html<Bytes>, Failure> {
    Ok(Html(app.library.page(&id).await?))
}

/// `/compare?first=ID[:ARM]&second=ID[:ARM]`, or `?arm=ID:ARM&arm=ID:ARM` as the list's form asks.
pub(crate) async fn compare(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
) -> Result<Html<Bytes>, Failure> {
    let query = Query::of(query);
    let (first, second) = match (query.last("first"), query.last("second")) {
        (Some(first), Some(second)) => (first.to_owned(), second.to_owned()),
        _ => {
            let arms: Vec<&str> = query.all("arm").collect();
            let &[one, other] = arms.as_slice() else {
                let text = match arms.len() {
                    0 => "None was chosen.".to_owned(),
                    1 => "One was chosen.".to_owned(),
                    more => format!("{more} were chosen."),
                };
                return Err(Failure::new(
                    StatusCode::BAD_REQUEST,
                    "Choose two arms",
                    format!(
                        "{text} A comparison is of two arms, of one experiment or of two: tick both in the list of experiments."
                    ),
                ));
            };
            let (one, other) = (one.to_owned(), other.to_owned());
            let ticked = aside(move || app.library.ticked(&one, &other));
            let (baseline, other) = ticked.await?;
            let address = plimsoll_report::page::link::compare(&baseline, &other);
            return Err(Failure::see_other(&address));
        }
    };
    Ok(Html(app.library.comparison(first, second).await?))
}

pub(crate) async fn history(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Html<Bytes>, Failure> {
    let query = Query::of(query);
    // A form sends what was left empty, too.
    let said = |name: &str| query.last(name).filter(|said| !said.is_empty()).map(str::to_owned);
    let metric = match said("metric") {
        None => Metric::Throughput,
        Some(word) => Metric::parse(&word).ok_or_else(|| {
            Failure::new(
                StatusCode::BAD_REQUEST,
                "There is no such metric",
                format!("`{word}` is none: throughput, response.mean, response.p99, service.p50, cpu, errors, line, cost, size, written or write-amplification."),
            )
        })?,
    };
    let question = HistoryQuestion {
        metric: Some(metric),
        arm: said("arm"),
        mix: said("mix"),
        at: said("at"),
        any_plan: query.last("any_plan").is_some(),
    };
    Ok(Html(app.library.history(name, question).await?))
}

pub(crate) async fn nothing() -> Response {
    Failure::new(
        StatusCode::NOT_FOUND,
        "There is no such page",
        "The address may be mistyped, or of another version of the program.",
    )
    .into_response()
}
