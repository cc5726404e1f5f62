use crate::search::{Miss, MixObjective, Tally, trial};
use crate::{Objective, OperationObjective, Search};
use plimsoll_record::{
    Completed, Histogram, Latencies, LoadKind, OpenLatencies, Operation, OperationSlice, PointEnd,
    PointLabel, PointRecord, Slice, Status,
};
use plimsoll_workload::Mix;

const MILLISECOND_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000_000_000;

fn objective() -> Objective {
    Objective {
        response: vec![(99.0, 10 * MILLISECOND_NS)],
        errors: 0.0,
        achieved: 0.99,
        operations: Vec::new(),
        search: None,
    }
}

/// An objective at a mix of three parts of reads and one of updates.
fn tally(objective: &Objective) -> Tally<'_> {
    let mix = Box::leak(Box::new(Mix { read: 3.0, update: 1.0, ..Mix::named("a") }));
    Tally::new(Some(MixObjective { objective, mix }))
}

fn histogram(values: &[(u64, u64)]) -> Histogram {
    let mut histogram = Histogram::new();
    for (value_ns, count) in values {
        histogram.record_n(*value_ns, *count);
    }
    histogram
}

/// Operations with this many (response time, count), all served at once when they were dispatched.
fn part(operation: Operation, responses: &[(u64, u64)]) -> OperationSlice {
    let count = responses.iter().map(|(_, count)| count).sum();
    let latencies = Latencies {
        service: histogram(&[(MILLISECOND_NS, count)]),
        open: Some(Box::new(OpenLatencies {
            response: histogram(responses),
            wait: histogram(&[(0, count)]),
        })),
    };
    OperationSlice { operation, status: Status::Ok, latencies }
}

/// A slice of reads, by latency and count.
fn slice(index: u32, responses: &[(u64, u64)], errors: u64) -> Slice {
    let count = responses.iter().map(|(_, count)| count).sum();
    Slice {
        index,
        start_ns: u64::from(index) * SECOND_NS,
        length_ns: SECOND_NS,
        warm_up: index == 0,
        completed: Completed { ok: count, not_found: 0, error: errors },
        operations: vec![part(Operation::Read, responses)],
        ..Slice::default()
    }
}

fn end(due: u64, unfinished: u64) -> PointEnd {
    PointEnd {
        measured_ns: SECOND_NS,
        due: Some(due),
        unfinished: (unfinished > 0).then(|| histogram(&[(MILLISECOND_NS, unfinished)])),
        ..PointEnd::default()
    }
}

/// Whether the objective is met by one measured second of these.
fn meets(responses: &[(u64, u64)], errors: u64, end: &PointEnd) -> bool {
    let objective = objective();
    let mut tally = tally(&objective);
    // What happens in the warm-up is not counted.
    tally.add(&slice(0, &[(SECOND_NS, 1_000)], 1_000));
    tally.add(&slice(1, responses, errors));
    tally.outcome(end).meets_objective == Some(true)
}

const FAST: u64 = 2 * MILLISECOND_NS;
const SLOW: u64 = 20 * MILLISECOND_NS;

#[test]
fn each_condition_counts() {
    assert!(meets(&[(FAST, 995), (SLOW, 5)], 0, &end(1_000, 0)));
    assert!(!meets(&[(FAST, 985), (SLOW, 15)], 0, &end(1_000, 0)), "p99 is above the limit");
    assert!(!meets(&[(FAST, 999)], 1, &end(1_000, 0)), "an operation failed");
    assert!(!meets(&[(FAST, 980)], 0, &end(1_000, 5)), "the rate was not achieved");
    assert!(!meets(&[], 0, &end(0, 0)), "nothing was measured");
}

#[test]
fn what_is_unfinished_is_no_evidence_that_a_limit_holds() {
    // Late by 1 ms when the point ended, but their final lateness is unknown.
    let lenient = Objective { achieved: 0.5, ..objective() };
    let mut tally = tally(&lenient);
    tally.add(&slice(1, &[(FAST, 980)], 0));
    assert_eq!(tally.outcome(&end(1_000, 20)).meets_objective, Some(false));
    assert_eq!(tally.outcome(&end(1_000, 5)).meets_objective, Some(true));
}

#[test]
fn a_trial_is_lost_when_nothing_can_mend_it() {
    let objective = objective();
    let mut tally = tally(&objective);
    // 10,000 are due in all: 100 may be slow, and a few more in case that more come than were expected.
    tally.add(&slice(1, &[(FAST, 4_900), (SLOW, 100)], 0));
    assert!(!tally.is_lost(10_000.0));
    tally.add(&slice(2, &[(FAST, 980), (SLOW, 20)], 0));
    assert!(tally.is_lost(10_000.0));
    assert!(
        !tally.is_lost(20_000.0),
        "the same number of slow operations is allowed of twice as many"
    );
}

#[test]
fn one_failure_too_many_loses_a_trial() {
    let objective = objective();
    let mut tally = tally(&objective);
    tally.add(&slice(1, &[(FAST, 10)], 1));
    assert!(tally.is_lost(1e6));
    assert!(!Tally::new(None).is_lost(1.0));
}

#[test]
fn a_trial_that_was_cut_short_counts_only_when_it_was_lost() {
    let search =
        Search { trial_ns: 2 * SECOND_NS, warm_up_ns: SECOND_NS, width: 0.02, rates: (10.0, 1e6) };
    let record = |responses: &[(u64, u64)], cut_short: bool| PointRecord {
        label: PointLabel {
            point: Some(0),
            mix: "a".into(),
            load_label: "1,000 op/s".into(),
            load: LoadKind::Open { rate: 1_000.0, sessions: 4 },
            trial: Some(3),
        },
        warm_up_ns: SECOND_NS,
        started_at: String::new(),
        slices: vec![slice(0, &[], 0), slice(1, responses, 0)],
        end: Some(PointEnd { cut_short, ..end(1_000, 0) }),
    };
    let (objective, mix) = (objective(), Mix::preset("c").expect("it is one of YCSB's"));
    let aim = MixObjective { objective: &objective, mix: &mix };
    let read = |record: &PointRecord| trial(record, aim, &search);
    let whole = read(&record(&[(FAST, 1_000)], false)).expect("it is whole");
    assert!(whole.is_good);
    assert_eq!((whole.rate, whole.seconds), (1_000.0, 2.0));
    assert_eq!(read(&record(&[(FAST, 1_000)], true)), None);
    let lost = read(&record(&[(FAST, 900), (SLOW, 100)], true)).expect("it was lost");
    assert!(!lost.is_good);
    let unended = PointRecord { end: None, ..record(&[(FAST, 1_000)], false) };
    assert_eq!(read(&unended), None);
}

/// The objective of above, with a bound on the p99 of updates.
fn with_updates(limit_ns: u64) -> Objective {
    let updates =
        OperationObjective { operation: Operation::Update, response: vec![(99.0, limit_ns)] };
    Objective { operations: vec![updates], ..objective() }
}

/// A measured second of fast reads, and updates with these response times.
fn with_reads(reads: u64, updates: &[(u64, u64)]) -> Slice {
    let mut slice = slice(1, &[(FAST, reads)], 0);
    slice.operations.push(part(Operation::Update, updates));
    slice.completed.ok += updates.iter().map(|(_, count)| count).sum::<u64>();
    slice
}

#[test]
fn an_operation_has_to_hold_its_own_bounds_too() {
    let objective = with_updates(5 * MILLISECOND_NS);
    let misses = |slice: &Slice, end: &PointEnd| {
        let mut tally = tally(&objective);
        tally.add(slice);
        let misses = tally.judged(end).1;
        assert_eq!(tally.outcome(end).meets_objective, Some(misses.is_empty()));
        misses
    };
    let kept = with_reads(750, &[(FAST, 249), (SLOW, 1)]);
    assert_eq!(misses(&kept, &end(1_000, 0)), []);
    // All together the p99 is 2 ms; of the updates alone it is 20 ms.
    let late = with_reads(750, &[(FAST, 245), (SLOW, 5)]);
    let [Miss::Response { operation, percentile, value_ns, limit_ns }] =
        misses(&late, &end(1_000, 0))[..]
    else {
        panic!("one bound is missed");
    };
    assert_eq!((operation, percentile), (Some(Operation::Update), 99.0));
    assert_eq!(limit_ns, 5 * MILLISECOND_NS);
    assert!((value_ns as f64 / SLOW as f64 - 1.0).abs() < 0.001);
    // What did not succeed once is not known to be fast.
    let none = Miss::Nothing { operation: Some(Operation::Update) };
    assert_eq!(misses(&slice(1, &[(FAST, 1_000)], 0), &end(1_000, 0)), [none]);
}

#[test]
fn bounds_on_an_operation_apply_to_mixes_that_have_it() {
    let objective = with_updates(1);
    let mix = Mix::preset("c").expect("it is one of YCSB's");
    let mut tally = Tally::new(Some(MixObjective { objective: &objective, mix: &mix }));
    tally.add(&slice(1, &[(FAST, 1_000)], 0));
    assert_eq!(tally.judged(&end(1_000, 0)).1, []);
}

#[test]
fn the_unfinished_are_shared_out_by_the_time_that_operations_take() {
    // Updates take nearly all of the time, so nearly all that is unfinished is one: 5 of 55 are more than 1 %.
    let objective = with_updates(25 * MILLISECOND_NS);
    let mut slow = tally(&objective);
    let mut slice = with_reads(950, &[(SLOW, 50)]);
    slice.operations[0] = part(Operation::Read, &[(FAST / 100, 950)]);
    slow.add(&slice);
    let unfinished = Miss::Unfinished { operation: Some(Operation::Update), percentile: 99.0 };
    assert!(slow.judged(&end(1_005, 5)).1.contains(&unfinished));
    // Operations that take equally long have equal shares of the unfinished ones: 0.25 of 50 are less than 1 %.
    let mut even = tally(&objective);
    even.add(&with_reads(950, &[(FAST, 50)]));
    assert_eq!(even.judged(&end(1_005, 5)).1, []);
}

#[test]
fn a_trial_is_lost_when_one_operation_is_late_too_often() {
    let objective = with_updates(5 * MILLISECOND_NS);
    let mut tally = tally(&objective);
    // 2,500 of 10,000 due operations are updates: 25 may be slow, and a few more in case more come than expected.
    tally.add(&with_reads(750, &[(FAST, 225), (SLOW, 25)]));
    assert!(!tally.is_lost(10_000.0));
    tally.add(&with_reads(750, &[(FAST, 240), (SLOW, 10)]));
    assert!(tally.is_lost(10_000.0));
    assert!(!tally.is_lost(20_000.0), "twice as many operations allow twice as many slow ones");
}

#[test]
fn several_hosts_are_judged_by_their_common_sum() {
    let objective = with_updates(5 * MILLISECOND_NS);
    let mut merged = with_reads(750, &[(FAST, 250)]);
    merged.merge(&with_reads(750, &[(FAST, 240), (SLOW, 10)]));
    let mut tally = tally(&objective);
    tally.add(&merged);
    // 10 of 500 are late, which is more than one in a hundred.
    assert!(matches!(tally.judged(&end(2_000, 0)).1[..], [Miss::Response { .. }]));
}
