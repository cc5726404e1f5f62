//! Where a point begins, is cut, and ends.

use super::{MILLISECOND, MeasuredPoint, SECOND, closed, measure, open, spec};
use plimsoll_workload::schedule::{Arrivals, Load};

/// Index, start, length, warm-up, completed.
fn table(measured: &MeasuredPoint) -> Vec<(u32, u64, u64, bool, u64)> {
    let row = |slice: &plimsoll_record::Slice| {
        (
            slice.index,
            slice.start_ns / MILLISECOND,
            slice.length_ns / MILLISECOND,
            slice.warm_up,
            slice.completed.total(),
        )
    };
    measured.slices.iter().map(row).collect()
}

fn each_millisecond(begin: u64) -> u64 {
    begin + MILLISECOND
}

/// Operations complete at 1 ms, 2 ms and so on; the one that would complete at the very end is unfinished.
#[test]
fn an_operation_belongs_to_the_slice_in_which_it_completed() {
    let spec = spec(closed(), 2_500 * MILLISECOND, 2_250 * MILLISECOND);
    let measured = measure(&spec, each_millisecond);
    let expected = [
        (0, 0, 1_000, true, 999),
        (1, 1_000, 1_000, true, 1_000),
        (2, 2_000, 500, true, 500),
        (3, 2_500, 1_000, false, 1_000),
        (4, 3_500, 1_000, false, 1_000),
        (5, 4_500, 250, false, 250),
    ];
    assert_eq!(table(&measured), expected);
    assert_eq!(measured.end.measured_ns, 2_250 * MILLISECOND);
    // The warm-up is not counted, not even that of the operation at its end; the one at the end of the point is.
    assert_eq!(measured.end.busy_ns, 2_250 * MILLISECOND);
    let unfinished = measured.unfinished();
    assert_eq!(unfinished.count(), 1);
    assert_eq!(unfinished.count_above(MILLISECOND - 1_000), 1);
    assert!(!measured.end.cut_short);
}

/// The engine stands still from the middle of the measured part to after its end: all of that time its session is in it.
#[test]
fn a_session_that_waits_at_the_end_is_in_the_engine() {
    let spec = spec(closed(), 500 * MILLISECOND, 2 * SECOND);
    let standing = 1_500 * MILLISECOND;
    let measured = measure(&spec, move |begin| match begin {
        begin if begin < standing => begin + MILLISECOND,
        begin => begin + 10 * SECOND,
    });
    assert_eq!(measured.end.measured_ns, 2 * SECOND);
    assert_eq!(measured.end.busy_ns, 2 * SECOND);
    let longest = measured.unfinished().max_ns().unwrap();
    assert!(longest.abs_diff(SECOND) <= MILLISECOND, "{longest}");
}

#[test]
fn a_number_of_operations_is_counted_after_the_warm_up() {
    let mut spec = spec(closed(), 500 * MILLISECOND, u64::MAX);
    spec.operations = Some(1_200);
    let measured = measure(&spec, each_millisecond);
    let expected =
        [(0, 0, 500, true, 499), (1, 500, 1_000, false, 1_000), (2, 1_500, 199, false, 200)];
    assert_eq!(table(&measured), expected);
    assert_eq!(measured.end.unfinished, None);
    // The last completes in the last nanosecond of the point.
    assert_eq!(measured.end.measured_ns, 1_199 * MILLISECOND + 1);
}

/// 1 ms of service and 9 ms of thinking: completed at 1, 11, 21 ms and so on.
#[test]
fn thinking_is_between_operations() {
    let load = Load::Closed { sessions: 1, think_time_ns: 9 * MILLISECOND, target: None };
    let long = spec(load.clone(), 0, 1_500 * MILLISECOND);
    let measured = measure(&long, each_millisecond);
    let expected = [(0, 0, 1_000, false, 100), (1, 1_000, 500, false, 50)];
    assert_eq!(table(&measured), expected);
    assert_eq!(measured.end.busy_ns, 150 * MILLISECOND);
    assert_eq!(measured.end.unfinished, None);

    let mut few = spec(load, 0, u64::MAX);
    few.operations = Some(3);
    let measured = measure(&few, each_millisecond);
    assert_eq!(measured.end.measured_ns, 21 * MILLISECOND + 1);
}

/// Due every millisecond, served in ten. 99 complete before the end; the hundredth is under way and the others wait.
#[test]
fn what_is_due_and_unfinished_counts_as_late_as_it_is_by_then() {
    let spec = spec(open(1_000.0, Arrivals::Constant), 0, SECOND);
    let measured = measure(&spec, |begin| begin + 10 * MILLISECOND);
    assert_eq!(table(&measured), [(0, 0, 1_000, false, 99)]);
    assert_eq!(measured.end.due, Some(1_000));
    let unfinished = measured.unfinished();
    assert_eq!(unfinished.count(), 901);
    // From the one that was due in the last millisecond to that of 99 ms.
    for (found, expected) in [
        (unfinished.min_ns().unwrap(), MILLISECOND),
        (unfinished.max_ns().unwrap(), 901 * MILLISECOND),
    ] {
        assert!(found.abs_diff(expected) <= expected / 1_000, "{found}");
    }
}

#[test]
fn what_is_due_in_the_warm_up_is_not_due_in_the_point() {
    let load = open(1_000.0, Arrivals::Constant);
    let spec = spec(load, 250 * MILLISECOND, SECOND);
    let measured = measure(&spec, |begin| begin + 100);
    let expected = [(0, 0, 250, true, 250), (1, 250, 1_000, false, 1_000)];
    assert_eq!(table(&measured), expected);
    assert_eq!(measured.end.due, Some(1_000));
    assert_eq!(measured.end.generator_lag.unwrap().count(), 1_000);
}

/// One operation lasts from 0.5 s to 3.2 s: slices without any operation exist, too.
#[test]
fn slices_in_which_nothing_completes_are_slices() {
    let spec = spec(closed(), 0, 4 * SECOND);
    let measured = measure(&spec, |begin| match begin {
        500_000_000 => 3_200 * MILLISECOND,
        _ => begin + MILLISECOND,
    });
    let expected = [
        (0, 0, 1_000, false, 500),
        (1, 1_000, 1_000, false, 0),
        (2, 2_000, 1_000, false, 0),
        (3, 3_000, 1_000, false, 800),
    ];
    assert_eq!(table(&measured), expected);
}

#[test]
fn the_observer_is_told_once_that_the_measured_part_begins() {
    for (warm_up, duration) in [(0, 500), (500, 500), (2_500, 2_250)] {
        let open = open(1_000.0, Arrivals::Constant);
        for (load, service) in [(closed(), MILLISECOND), (open, 100)] {
            let spec = spec(load, warm_up * MILLISECOND, duration * MILLISECOND);
            let measured = measure(&spec, move |begin| begin + service);
            assert_eq!(measured.begins, 1);
        }
    }
}
