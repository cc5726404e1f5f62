//! A load that several hosts generate together.

use crate::it::fake::{Keep, at_once, key_space, remembering};
use crate::{
    LoadSpec, ObservedOp, OpObserver, PointSpec, run_load_with, run_point, run_point_with,
};
use plimsoll_engine::{Engine, Opening, open};
use plimsoll_plan::Settings;
use plimsoll_record::{Histogram, Latencies, OpenLatencies, Operation, Status};
use plimsoll_workload::schedule::{Arrivals, Load, Share, arrivals, constant_arrival};
use plimsoll_workload::{DataSpec, KeySpace, Mix, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

const RECORDS: u64 = 1_000;

fn shares(hosts: u32) -> impl Iterator<Item = Share> {
    (0..hosts).map(move |index| Share::new(index, hosts).unwrap())
}

fn workload(share: Share, mix: &Mix) -> Arc<Workload> {
    let key_space = KeySpace::with_share(&DataSpec::with_records(RECORDS), share).unwrap();
    Arc::new(Workload::new(&key_space, mix, 42, Some(10_000)).unwrap())
}

fn closed(sessions: u32, operations: u64, share: Share) -> PointSpec {
    PointSpec { share, ..crate::it::fake::closed(sessions, operations) }
}

/// The questions of all sessions by their number among those of all hosts.
fn questions(mix: &Mix, hosts: u32) -> BTreeMap<u32, Vec<String>> {
    const SESSIONS: u32 = 5;
    let mut questions = BTreeMap::<u32, Vec<String>>::new();
    for share in shares(hosts) {
        let (engine, requested) = remembering();
        let spec = closed(SESSIONS, 2_003, share);
        run_point(&engine, &workload(share, mix), &spec, mix, &mut Keep::default()).unwrap();
        for (own, text) in std::mem::take(&mut *requested.lock().unwrap()) {
            let session = share.sessions(SESSIONS).start + own;
            questions.entry(session).or_default().push(text);
        }
    }
    questions
}

/// The number of a constant arrival decides which host sends it, with more hosts than sessions too.
#[test]
fn arrivals_ask_on_several_hosts_what_they_ask_on_one() {
    let mix = Mix::preset("a").unwrap();
    let questions = |hosts: u32| {
        let mut texts = Vec::new();
        for share in shares(hosts) {
            let spec = PointSpec { share, ..at_once(3, 3_001) };
            let own = arrivals(&spec.load, u64::MAX, spec.seed, share).unwrap();
            let (engine, requested) = remembering();
            let seen = Arc::clone(&requested);
            let mut keep = Keep::stopping_when(move || seen.lock().unwrap().len() == own.len());
            run_point(&engine, &workload(share, &mix), &spec, &mix, &mut keep).unwrap();
            let requested = std::mem::take(&mut *requested.lock().unwrap());
            texts.extend(requested.into_iter().map(|(_, text)| text));
        }
        texts.sort();
        texts
    };
    let whole = questions(1);
    assert_eq!(whole.len(), 3_001);
    for hosts in [2, 4] {
        assert_eq!(questions(hosts), whole, "{hosts} hosts");
    }
}

/// How many calls 2,003 operations are: a read-modify-write is two.
fn asked_by(mix: &Mix, questions: &BTreeMap<u32, Vec<String>>) -> u64 {
    if mix.read_modify_write == 0.0 {
        return 2_003;
    }
    let updates = questions.values().flatten();
    2_003 + updates.filter(|text| text.starts_with("update")).count() as u64
}

/// Everything that a session saw, to be compared with what was counted.
struct Witness(Arc<Mutex<Vec<ObservedOp>>>);

impl OpObserver for Witness {
    fn saw(&mut self, seen: &ObservedOp) {
        self.0.lock().unwrap().push(*seen);
    }
}

fn noop() -> Box<dyn Engine> {
    let data = DataSpec::with_records(RECORDS);
    open("noop", &Opening::new(&Settings::default(), &data)).unwrap()
}

type Cells = BTreeMap<(Operation, Status), Latencies>;

/// What one process would have counted that had seen all these operations.
fn counted(seen: &[ObservedOp], is_timed: bool) -> Cells {
    let mut cells = Cells::new();
    for one in seen {
        let cell = cells.entry((one.operation, one.status)).or_default();
        let [dispatched, intended] = [one.dispatched_ns, one.intended_ns];
        cell.service.record(one.completed_ns - dispatched);
        if is_timed {
            let open = cell.open.get_or_insert_with(Box::<OpenLatencies>::default);
            open.response.record(one.completed_ns - intended);
            open.wait.record(dispatched - intended);
        }
    }
    cells
}

/// The slices of all hosts together, as they are merged when a record is read.
fn merged(hosts: Vec<Keep>) -> (u64, Cells) {
    let mut slices = BTreeMap::new();
    for slice in hosts.into_iter().flat_map(|keep| keep.slices) {
        match slices.get_mut(&slice.index) {
            None => {
                slices.insert(slice.index, slice);
            }
            Some(same) => plimsoll_record::Slice::merge(same, &slice),
        }
    }
    let mut cells = Cells::new();
    let mut completed = 0;
    for slice in slices.into_values() {
        completed += slice.completed.total();
        for part in slice.operations {
            let cell = cells.entry((part.operation, part.status)).or_default();
            cell.merge(&part.latencies);
        }
    }
    (completed, cells)
}

#[test]
fn slices_of_a_closed_load_add_up_to_the_whole() {
    let mix = Mix::preset("a").unwrap();
    for hosts in [1, 2, 4, 6] {
        let seen = Arc::<Mutex<Vec<ObservedOp>>>::default();
        let mut kept = Vec::new();
        for share in shares(hosts) {
            let mut keep = Keep::default();
            let observer = |_| Witness(Arc::clone(&seen));
            let (workload, spec) = (workload(share, &mix), closed(4, 10_001, share));
            run_point_with(&*noop(), &workload, &spec, &mix, &mut keep, observer).unwrap();
            kept.push(keep);
        }
        let seen = seen.lock().unwrap();
        let (completed, cells) = merged(kept);
        assert_eq!(completed, 10_001, "{hosts} hosts");
        assert_eq!(seen.len(), 10_001);
        assert_eq!(cells, counted(&seen, false), "{hosts} hosts");
    }
}

/// A million operations a second; the first 3,000 are due, and each has completed in time and was counted, or is unfinished.
#[test]
fn slices_of_an_open_load_add_up_to_the_whole() {
    let mix = Mix::preset("a").unwrap();
    let load = Load::Open { rate: 1e6, arrivals: Arrivals::Constant, sessions: 4 };
    let deadline = constant_arrival(&load, 3_000).unwrap().unwrap();
    for hosts in [1, 2, 4] {
        let seen = Arc::<Mutex<Vec<ObservedOp>>>::default();
        let mut kept = Vec::new();
        let (mut due, mut unfinished) = (0, Histogram::new());
        for share in shares(hosts) {
            let mut keep = Keep::default();
            let observer = |_| Witness(Arc::clone(&seen));
            let spec = PointSpec {
                load: load.clone(),
                duration_ns: 10_000_000,
                ..closed(4, 3_000, share)
            };
            let workload = workload(share, &mix);
            let end =
                run_point_with(&*noop(), &workload, &spec, &mix, &mut keep, observer).unwrap();
            assert_eq!(end.measured_ns, deadline);
            due += end.due.unwrap();
            if let Some(more) = end.unfinished {
                unfinished.merge(&more);
            }
            kept.push(keep);
        }
        let mut seen = std::mem::take(&mut *seen.lock().unwrap());
        seen.retain(|one| one.completed_ns < deadline);
        let (completed, cells) = merged(kept);
        assert_eq!(due, 3_000, "{hosts} hosts");
        assert_eq!(completed + unfinished.count(), 3_000, "{hosts} hosts");
        assert_eq!(completed, seen.len() as u64);
        assert_eq!(cells, counted(&seen, true), "{hosts} hosts");
    }
}

#[test]
fn hosts_store_every_record_once() {
    for (hosts, sessions, operations) in
        [(1, 3, None), (2, 3, None), (4, 3, None), (4, 3, Some(RECORDS)), (2, 5, Some(501))]
    {
        let mut texts = BTreeSet::new();
        let mut count = 0;
        for share in shares(hosts) {
            let (engine, requested) = remembering();
            let loader = key_space(RECORDS).loader(1);
            let spec = LoadSpec { operations, share, ..LoadSpec::of(sessions) };
            let mut keep = Keep::default();
            let end = run_load_with(&engine, &loader, &spec, &mut keep, |_| ()).unwrap();
            let requested = std::mem::take(&mut *requested.lock().unwrap());
            assert_eq!(keep.completed(), requested.len() as u64);
            assert_eq!(end.first_operation_ns.is_some(), !requested.is_empty());
            count += requested.len() as u64;
            texts.extend(requested.into_iter().map(|(_, text)| text));
        }
        let expected = operations.unwrap_or(RECORDS);
        assert_eq!((count, texts.len() as u64), (expected, expected), "{hosts} hosts");
    }
}

mod slow {
    use super::*;

    #[test]
    fn sessions_ask_on_several_hosts_what_they_ask_on_one() {
        for name in ["a", "c", "e", "f"] {
            let mut mix = Mix::preset(name).unwrap();
            // Key numbers of inserts go to whichever session comes first.
            (mix.scan, mix.insert) = (mix.scan + mix.insert, 0.0);
            let whole = questions(&mix, 1);
            let counts: Vec<usize> = whole.values().map(Vec::len).collect();
            assert_eq!(counts.iter().sum::<usize>() as u64, asked_by(&mix, &whole));
            for hosts in [2, 4, 8] {
                assert_eq!(questions(&mix, hosts), whole, "workload {name}, {hosts} hosts");
            }
        }
    }
}
