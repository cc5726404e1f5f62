//! What is written comes back.

use crate::it::sample;
use crate::it::site::Site;
use crate::{PointId, RunId, Store, StoreError};
use plimsoll_record::{
    Calibration, DiskSpec, ExperimentRecord, FioResult, PointRecord, RunRecord, RunState,
};
use plimsoll_testing::assert_err;
use proptest::prelude::*;

/// Something that happens to one of two experiments that are written into the same store in turn.
#[derive(Clone, Debug)]
enum Step {
    BeginRun,
    UpdateRun(u8),
    BeginLoad,
    BeginPoint,
    AddSlice { index: u32, reads_ns: Vec<u64> },
    EndPoint,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::BeginRun),
        2 => (0..4u8).prop_map(Step::UpdateRun),
        1 => Just(Step::BeginLoad),
        3 => Just(Step::BeginPoint),
        6 => (0..4u32, prop::collection::vec(1..10_000_000_000u64, 1..4))
            .prop_map(|(index, reads_ns)| Step::AddSlice { index, reads_ns }),
        2 => Just(Step::EndPoint),
    ]
}

/// An experiment in memory, and where its latest parts are in the store.
struct Written {
    record: ExperimentRecord,
    run: Option<RunId>,
    point: Option<PointId>,
    point_is_load: bool,
}

impl Written {
    fn begin(store: &mut Store, id: &str) -> Self {
        let record = sample::experiment(id);
        assert_eq!(store.begin(&record).unwrap(), id);
        Self { record, run: None, point: None, point_is_load: false }
    }

    fn current_point(&mut self) -> &mut PointRecord {
        let run = self.record.runs.last_mut().unwrap();
        if self.point_is_load { run.load.as_mut().unwrap() } else { run.points.last_mut().unwrap() }
    }

    /// Does the step in memory and in the store. A step that makes no sense yet is passed over.
    fn take(&mut self, store: &mut Store, step: &Step) {
        match (step, self.run, self.point) {
            (Step::BeginRun, _, _) => {
                let run = sample::run("small", self.record.runs.len() as u32);
                self.run = Some(store.begin_run(&self.record.id, &run).unwrap());
                self.point = None;
                self.record.runs.push(run);
            }
            (Step::UpdateRun(kind), Some(id), _) => {
                let run = self.record.runs.last_mut().unwrap();
                let state = match kind {
                    0 => RunState::Started,
                    1 => RunState::Finished,
                    2 => RunState::Interrupted,
                    _ => RunState::Failed { message: "out of memory".to_owned() },
                };
                sample::complete(run, state);
                // With and without the parts that an update leaves alone.
                let head = match kind {
                    0 | 1 => run.clone(),
                    _ => RunRecord { load: None, points: Vec::new(), ..run.clone() },
                };
                store.update_run(id, &head).unwrap();
            }
            (Step::BeginLoad, Some(id), _) => {
                if self.record.runs.last().unwrap().load.is_some() {
                    return;
                }
                let load = sample::point(None);
                let begun = store.begin_load(id, &load.label, load.warm_up_ns, &load.started_at);
                self.point = Some(begun.unwrap());
                self.point_is_load = true;
                self.record.runs.last_mut().unwrap().load = Some(load);
            }
            (Step::BeginPoint, Some(id), _) => {
                let run = self.record.runs.last_mut().unwrap();
                let point = sample::point(Some(run.points.len() as u32));
                let begun =
                    store.begin_point(id, &point.label, point.warm_up_ns, &point.started_at);
                self.point = Some(begun.unwrap());
                self.point_is_load = false;
                run.points.push(point);
            }
            (Step::AddSlice { index, reads_ns }, _, Some(id)) => {
                let slice = sample::slice(*index, reads_ns);
                store.add_slice(id, &slice).unwrap();
                self.current_point().slices.push(slice);
            }
            (Step::EndPoint, _, Some(id)) => {
                store.end_point(id, &sample::end()).unwrap();
                self.current_point().end = Some(sample::end());
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_piece_by_piece_loads_as_it_was_in_memory(
        steps in prop::collection::vec((any::<bool>(), step()), 0..30),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("plimsoll.db");
        let mut store = Store::open(&path).unwrap();
        let mut left = Written::begin(&mut store, "left");
        let mut right = Written::begin(&mut store, "right");
        for (to_the_left, step) in &steps {
            let experiment = if *to_the_left { &mut left } else { &mut right };
            experiment.take(&mut store, step);
        }
        prop_assert_eq!(store.load("left").unwrap(), sample::merged(&left.record));
        prop_assert_eq!(store.load("right").unwrap(), sample::merged(&right.record));

        // Once the program is gone, what it was at is cut off.
        drop(store);
        for run in &mut left.record.runs {
            if run.state == RunState::Started {
                run.state = RunState::Interrupted;
            }
        }
        let reader = Store::open_read_only(&path).unwrap();
        prop_assert_eq!(reader.load("left").unwrap(), sample::merged(&left.record));
    }
}

#[test]
fn a_record_survives_export_and_import() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("one.db")).unwrap();
    let record = sample::whole_experiment("1a2b3c4d");
    store.import(record.clone()).unwrap();
    let text = store.load("1a2b3c4d").unwrap().to_json();

    let mut other = Store::open(&directory.path().join("other.db")).unwrap();
    other.import(ExperimentRecord::from_json(&text).unwrap()).unwrap();
    assert_eq!(other.load("last").unwrap(), sample::merged(&record));
}

#[test]
fn a_finished_experiment_says_so() {
    let (_site, mut store) = Site::with_store();
    let id = store.begin(&sample::experiment("")).unwrap();
    store.finish(&id, "2026-11-21T04:00:00Z").unwrap();
    let record = store.load(&id).unwrap();
    assert_eq!(record.state, plimsoll_record::ExperimentState::Finished);
    assert_eq!(record.ended_at.as_deref(), Some("2026-11-21T04:00:00Z"));
    assert_eq!(record.id.len(), 8);
}

#[test]
fn an_import_that_fails_leaves_nothing_behind() {
    let (_site, mut store) = Site::with_store();
    let mut record = sample::whole_experiment("twice");
    record.runs.push(record.runs[0].clone());
    assert_err!(store.import(record), StoreError::RunTaken { block: 0, attempt: 1, .. });
    assert_err!(store.load("twice"), StoreError::Unknown { .. });
}

#[test]
fn an_id_is_given_once() {
    let (_site, mut store) = Site::with_store();
    store.begin(&sample::experiment("mine")).unwrap();
    assert_err!(store.begin(&sample::experiment("mine")), StoreError::IdTaken { .. });
    assert_err!(store.import(sample::whole_experiment("mine")), StoreError::IdTaken { .. });
}

#[test]
fn what_fio_found_is_kept_with_its_experiment() {
    let (site, mut store) = Site::with_store();
    let id = store.begin(&sample::experiment("")).unwrap();
    let calibration = Calibration {
        machine: None,
        host: None,
        disk: DiskSpec::unlimited(1 << 30),
        at: "2026-11-21T03:44:00Z".into(),
        fio_version: "fio-3.33".into(),
        checks: Vec::new(),
        results: vec![FioResult {
            label: "random reads".into(),
            command: "fio --rw=randread".into(),
            json: serde_json::json!({ "jobs": [] }),
        }],
    };
    store.add_calibration(&id, &calibration).unwrap();
    let kept = std::slice::from_ref(&calibration);
    assert_eq!(store.head(&id).unwrap().calibrations, kept);
    assert_eq!(store.load(&id).unwrap().calibrations, kept);
    drop(store);
    // Who does not work on the experiment may not add to it.
    let mut other = site.open();
    let refused = other.add_calibration(&id, &calibration);
    assert_err!(refused, StoreError::NotClaimed { .. });
}
