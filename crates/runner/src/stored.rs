//! Frames of a run, written into the store as they come.

use crate::afterwards::SliceIndex;
use crate::decided::RunResults;
use crate::error::RunnerError;
use crate::frames::Frame;
use crate::watcher::Event;
use plimsoll_plan::Plan;
use plimsoll_record::quantities::words::percent;
use plimsoll_record::redact::redact;
use plimsoll_record::{EngineDescription, RunRecord, WarmedCaches, Warning, WarningId};
use plimsoll_store::{PointId, RunId, Store, StoreError};

/// What an engine says of itself, without the passwords that it was given.
fn redacted(mut engine: EngineDescription) -> EngineDescription {
    for value in engine.settings.values_mut() {
        *value = redact(value);
    }
    for note in engine.notes.values_mut() {
        *note = redact(note);
    }
    engine
}

/// Writes frames into the store as they come.
pub(crate) struct Stored<'a> {
    run: RunId,
    head: &'a mut RunRecord,
    plan: &'a Plan,
    results: &'a mut RunResults,
    point: Option<PointId>,
    /// To be filled up after the run, where a server may have written about itself.
    index: Option<SliceIndex>,
}

impl<'a> Stored<'a> {
    pub(crate) fn new(
        run: RunId,
        head: &'a mut RunRecord,
        plan: &'a Plan,
        results: &'a mut RunResults,
        has_server: bool,
    ) -> Self {
        Self { run, head, plan, results, point: None, index: has_server.then(SliceIndex::default) }
    }

    pub(crate) fn into_index(self) -> Option<SliceIndex> {
        self.index
    }

    pub(crate) fn take(
        &mut self,
        frame: Frame,
        store: &mut Store,
        event: impl Fn(&Event<'_>),
    ) -> Result<(), RunnerError> {
        match frame {
            Frame::Hello { .. }
            | Frame::Enter { .. }
            | Frame::Ready
            | Frame::Stored
            | Frame::SizeMemory
            | Frame::DropPageCache
            | Frame::LieStill
            | Frame::Measuring { .. }
            | Frame::Heal
            | Frame::Done
            | Frame::Stopped
            | Frame::Failed { .. } => {}
            Frame::Opened { engine } => {
                self.head.engine = Some(redacted(engine));
                self.write_head(store)?;
            }
            Frame::LoadBegins { label, started_at, records } => {
                let point = store.begin_load(self.run, &label, 0, &started_at)?;
                self.begins(point, &started_at);
                self.point = Some(point);
                event(&Event::LoadBegins { records });
            }
            Frame::PointBegins { label, warm_up_ns, duration_ns, started_at } => {
                let point = store.begin_point(self.run, &label, warm_up_ns, &started_at)?;
                self.begins(point, &started_at);
                self.point = Some(point);
                self.results.begins(&label, warm_up_ns);
                event(&Event::PointBegins { label: &label, warm_up_ns, duration_ns });
            }
            Frame::Slice { slice } => {
                if let Some(point) = self.point {
                    store.add_slice(point, &slice)?;
                    if let Some(index) = &mut self.index {
                        index.slice(point, &slice);
                    }
                }
                self.results.slice(&slice);
                event(&Event::Slice(&slice));
            }
            Frame::Watched { slice } => {
                // A share of the second: it is merged with what the load hosts measured when the record is read.
                if let Some(point) = self.point {
                    store.add_slice(point, &slice)?;
                }
            }
            Frame::PointEnds { mut end, .. } => {
                for error in &mut end.errors {
                    error.message = redact(&error.message);
                }
                if let Some(point) = self.point.take() {
                    store.end_point(point, &end)?;
                }
                self.results.ends(self.plan, &end);
                event(&Event::PointEnds);
            }
            Frame::Counted { records } => {
                self.head.records_loaded = records;
                self.write_head(store)?;
            }
            Frame::Settled { data_bytes, caches_emptied } => {
                self.head.data_bytes = data_bytes;
                self.head.caches_emptied = caches_emptied;
                self.write_head(store)?;
            }
            Frame::Application { mut state } => {
                for plan in &mut state.operations {
                    plan.refused = plan.refused.take().map(|message| redact(&message));
                }
                self.head.application.push(*state);
                self.write_head(store)?;
            }
            Frame::Warming => event(&Event::Note("filling the caches, before the first point")),
            Frame::Warmed { caches } => {
                event(&Event::Note(&warmed_words(&caches)));
                if !caches.settled {
                    let message = format!(
                        "the hit ratios of the caches had not settled after {:.0} s",
                        caches.seconds
                    );
                    let warning = Warning::new(WarningId::CachesNotWarm, &self.head.arm, message);
                    self.head.warnings.push(warning);
                }
                self.head.warmed = Some(caches);
                self.write_head(store)?;
            }
            Frame::Closing => event(&Event::Closing),
        }
        Ok(())
    }

    fn begins(&mut self, point: PointId, started_at: &str) {
        if let Some(index) = &mut self.index {
            index.point(point, started_at);
        }
    }

    fn write_head(&self, store: &mut Store) -> Result<(), StoreError> {
        store.update_run(self.run, self.head)
    }
}

fn warmed_words(caches: &WarmedCaches) -> String {
    let hits =
        |share: Option<f64>| share.map_or_else(|| "unknown".to_owned(), |share| percent(share, 1));
    format!(
        "after {:.0} s: hits of the engine's cache {}, of the page cache {}",
        caches.seconds,
        hits(caches.engine_hits),
        hits(caches.page_cache_hits)
    )
}
