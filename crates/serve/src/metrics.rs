//! The figures of the latest slice of each experiment that goes on, in Prometheus' text form.

use crate::App;
use crate::failure::Failure;
use crate::live::{Picture, seconds_now};
use crate::pages::aside;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use plimsoll_record::{PointLabel, Slice};
use plimsoll_report::export::prometheus::{CONTENT_TYPE, ExperimentStatus, LatestSlice, now};
use plimsoll_store::{Following, PointKey, RunKey, Store, StoreError, Summary};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What was read for the last scrape, so that the next one reads only what is new.
#[derive(Default)]
pub(crate) struct Metrics(Mutex<BTreeMap<String, Followed>>);

/// An experiment that goes on.
struct Followed {
    store: Store,
    following: Following,
    picture: Picture,
    runs: BTreeMap<RunKey, (String, u32)>,
    points: BTreeMap<PointKey, (RunKey, PointLabel)>,
    latest: Option<(PointKey, Slice)>,
    /// Operations that failed, of the run of the latest slice.
    errors: (Option<RunKey>, u64),
}

pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Result<Response, Failure> {
    let text = aside(move || app.metrics.text(&app)).await?;
    let kind = HeaderValue::from_static(CONTENT_TYPE);
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

impl Metrics {
    fn text(&self, app: &App) -> Result<String, Failure> {
        let summaries = app.library.list()?;
        let running: Vec<Summary> =
            summaries.into_iter().filter(|summary| summary.running).collect();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|id, _| running.iter().any(|summary| summary.id == *id));
        for summary in &running {
            let mut followed = match all.remove(&summary.id) {
                Some(followed) => followed,
                None => Followed::begin(app, &summary.id)?,
            };
            followed.look()?;
            all.insert(summary.id.clone(), followed);
        }
        let now_seconds = seconds_now();
        let standings: Vec<ExperimentStatus<'_>> = running
            .iter()
            .filter_map(|summary| Some(all.get(&summary.id)?.standing(summary, now_seconds)))
            .collect();
        Ok(now(&standings))
    }
}

impl Followed {
    fn begin(app: &App, id: &str) -> Result<Self, Failure> {
        let store = app.library.open()?;
        Ok(Self {
            following: store.follow(id)?,
            picture: Picture::of(&store.head(id)?, app.engines)?,
            store,
            runs: BTreeMap::new(),
            points: BTreeMap::new(),
            latest: None,
            errors: (None, 0),
        })
    }

    fn look(&mut self) -> Result<(), StoreError> {
        loop {
            let news = self.store.news(&mut self.following)?;
            self.picture.take(&news);
            for (key, run) in &news.runs {
                self.runs.insert(*key, (run.arm.clone(), run.block));
            }
            for point in &news.points {
                self.points.insert(point.key, (point.run, point.head.label.clone()));
            }
            for (key, slice) in &news.slices {
                let run = self.points.get(key).map(|(run, _)| *run);
                if self.errors.0 != run {
                    self.errors = (run, 0);
                }
                self.errors.1 += slice.completed.error;
            }
            if let Some((key, slice)) = news.slices.into_iter().next_back() {
                self.latest = Some((key, slice));
            }
            if !news.more {
                return Ok(());
            }
        }
    }

    fn standing<'f>(&'f self, summary: &'f Summary, now_seconds: f64) -> ExperimentStatus<'f> {
        let latest = self.latest.as_ref().and_then(|(point, slice)| {
            let (run, label) = self.points.get(point)?;
            let (arm, block) = self.runs.get(run)?;
            Some(LatestSlice {
                arm,
                mix: &label.mix,
                load: &label.load_label,
                block: *block,
                slice,
                errors: self.errors.1,
            })
        });
        ExperimentStatus {
            experiment: &summary.name,
            id: &summary.id,
            running: summary.running,
            runs_finished: summary.runs_finished,
            runs_planned: summary.runs_planned,
            time_left_seconds: self.picture.left_seconds(now_seconds),
            latest: latest.into_iter().collect(),
        }
    }
}
