use crate::search::{Tally, trial};
use crate::{Objective, Search};
use plimsoll_record::{
    Completed, Histogram, Latencies, LoadKind, OpenLatencies, Operation, OperationSlice, PointEnd,
    PointLabel, PointRecord, Slice, Status,
};

const MILLISECOND_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000_000_000;

fn objective() -> Objective {
    Objective {
        response: vec![(99.0, 10 * MILLISECOND_NS)],
        errors: 0.0,
        achieved: 0.99,
        search: None,
    }
}

fn histogram(values: &[(u64, u64)]) -> Histogram {
    let mut histogram = Histogram::new();
    for (value_ns, count) in values {
        histogram.record_n(*value_ns, *count);
    }
    histogram
}

/// Reads with this many (response time, count), all served at once when they were dispatched.
fn slice(index: u32, responses: &[(u64, u64)], errors: u64) -> Slice {
    let count = responses.iter().map(|(_, count)| count).sum();
    let latencies = Latencies {
        service: histogram(&[(MILLISECOND_NS, count)]),
        open: Some(Box::new(OpenLatencies {
            response: histogram(responses),
            wait: histogram(&[(0, count)]),
        })),
    };
    Slice {
        index,
        start_ns: u64::from(index) * SECOND_NS,
        length_ns: SECOND_NS,
        warm_up: index == 0,
        completed: Completed { ok: count, not_found: 0, error: errors },
        operations: vec![OperationSlice {
            operation: Operation::Read,
            status: Status::Ok,
            latencies,
        }],
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
    let mut tally = Tally::new(Some(&objective));
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
    // Late by 1 ms when the point ended, but nobody knows how late they came out.
    let lenient = Objective { achieved: 0.5, ..objective() };
    let mut tally = Tally::new(Some(&lenient));
    tally.add(&slice(1, &[(FAST, 980)], 0));
    assert_eq!(tally.outcome(&end(1_000, 20)).meets_objective, Some(false));
    assert_eq!(tally.outcome(&end(1_000, 5)).meets_objective, Some(true));
}

#[test]
fn a_trial_is_lost_when_nothing_can_mend_it() {
    let objective = objective();
    let mut tally = Tally::new(Some(&objective));
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
    let mut tally = Tally::new(Some(&objective));
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
    let read = |record: &PointRecord| trial(record, &objective(), &search);
    let whole = read(&record(&[(FAST, 1_000)], false)).expect("it is whole");
    assert!(whole.is_good);
    assert_eq!((whole.rate, whole.seconds), (1_000.0, 2.0));
    assert_eq!(read(&record(&[(FAST, 1_000)], true)), None);
    let lost = read(&record(&[(FAST, 900), (SLOW, 100)], true)).expect("it was lost");
    assert!(!lost.is_good);
    let unended = PointRecord { end: None, ..record(&[(FAST, 1_000)], false) };
    assert_eq!(read(&unended), None);
}
