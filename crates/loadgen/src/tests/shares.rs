//! One point, split over several hosts.

use super::{Jumping, Keep, MILLISECOND, ORIGIN, SECOND, Server, spec};
use crate::point::run_point_on;
use crate::spec::{LoadError, PointSpec};
use plimsoll_record::{PointEnd, PointLabel, PointRecord, Slice};
use plimsoll_workload::schedule::{Arrivals, Load, Share};
use plimsoll_workload::{DataSpec, KeySpace, Mix, Workload};
use std::sync::Arc;

/// What the host of this share measures, on a clock and with a server of its own. It has one session at most.
fn measure(spec: &PointSpec, end_of: fn(u64) -> u64) -> Result<(Keep, PointEnd), LoadError> {
    let clock = Jumping::default();
    let server = Server::new(&clock, end_of);
    let mix = Mix::preset("c").unwrap();
    let key_space = KeySpace::with_share(&DataSpec::with_records(100), spec.share).unwrap();
    let workload = Arc::new(Workload::new(&key_space, &mix, 1, None).unwrap());
    let mut keep = Keep::default();
    let end = run_point_on(&server, &workload, spec, &mix, &mut keep, |_| (), &clock)?;
    Ok((keep, end))
}

fn shares(hosts: u32) -> impl Iterator<Item = Share> {
    (0..hosts).map(move |index| Share::new(index, hosts).unwrap())
}

/// Slices of several hosts as a record of one point, which merges those of one index when it is read.
fn merged(slices: Vec<Slice>) -> Vec<Slice> {
    let mut point = PointRecord {
        label: PointLabel {
            point: None,
            mix: "c".into(),
            load_label: String::new(),
            load: plimsoll_record::LoadKind::Open { rate: 1.0, sessions: 1 },
            trial: None,
        },
        warm_up_ns: 0,
        started_at: String::new(),
        slices,
        end: None,
    };
    point.merge_late_slices();
    point.slices
}

/// Each session of a paced closed loop has the pace, the begin and the number of operations that it has on one host: with one session per host, the four
/// hosts of a load are its four sessions.
#[test]
fn sessions_keep_their_pace_on_whatever_host() {
    let load = Load::Closed { sessions: 4, think_time_ns: 0, target: Some(40.0) };
    let mut spec = spec(load, 0, u64::MAX);
    spec.operations = Some(11);
    let pace = plimsoll_workload::schedule::Pace::new(40.0, 4);
    for (index, operations) in [3, 3, 3, 2].into_iter().enumerate() {
        spec.share = Share::new(index as u32, 4).unwrap();
        let (keep, end) = measure(&spec, |begin| begin + MILLISECOND).unwrap();
        let completed = keep.slices.iter().map(|slice| slice.completed.ok);
        assert_eq!(completed.sum::<u64>(), operations);
        let begin = pace.start_ns(spec.seed, index as u32);
        assert_eq!(end.first_operation_ns, Some(ORIGIN + begin));
        let last = pace.due_ns(begin, operations - 1) + MILLISECOND;
        assert_eq!(end.measured_ns, last + 1);
    }
}

#[test]
fn a_host_without_a_session_idles_for_the_length_of_the_point() {
    let loads =
        [Load::closed(1), Load::Open { rate: 1_000.0, arrivals: Arrivals::Poisson, sessions: 1 }];
    for load in loads {
        let is_open = matches!(load, Load::Open { .. });
        let mut spec = spec(load, SECOND / 2, 5 * SECOND / 2);
        spec.share = Share::new(0, 2).unwrap();
        let (keep, end) = measure(&spec, |begin| begin + MILLISECOND).unwrap();
        let lengths: Vec<u64> = keep.slices.iter().map(|slice| slice.length_ns).collect();
        assert_eq!(lengths, [SECOND / 2, SECOND, SECOND, SECOND / 2]);
        assert!(keep.slices.iter().all(|slice| slice.operations.is_empty()));
        assert_eq!(keep.begins, 1);
        assert_eq!(end.measured_ns, 5 * SECOND / 2);
        assert_eq!(end.due, is_open.then_some(0));
        assert_eq!(end.first_operation_ns, None);
        // The other host does everything.
        spec.share = Share::new(1, 2).unwrap();
        let (keep, end) = measure(&spec, |begin| begin + MILLISECOND / 10).unwrap();
        let completed: u64 = keep.slices.iter().map(|slice| slice.completed.ok).sum();
        let most = if is_open { 3_000 } else { 30_000 };
        // Within five standard deviations of a Poisson law.
        assert!(completed.abs_diff(most) < 300, "{completed}");
        assert!(end.first_operation_ns.is_some());
    }
}

/// It has no part of the operations.
#[test]
fn a_host_without_a_session_has_finished_its_operations_at_once() {
    let mut spec = spec(Load::closed(1), 0, u64::MAX);
    spec.operations = Some(10);
    spec.share = Share::new(0, 2).unwrap();
    let (keep, end) = measure(&spec, |begin| begin + MILLISECOND).unwrap();
    assert!(keep.slices.is_empty());
    assert_eq!(end.measured_ns, 0);
}

#[test]
fn shares_of_point_and_key_space_must_agree() {
    let clock = Jumping::default();
    let server = Server::new(&clock, |begin| begin + 1);
    let mut spec = spec(Load::closed(1), 0, SECOND);
    spec.share = Share::new(1, 2).unwrap();
    let mix = Mix::preset("c").unwrap();
    let (workload, mut keep) = (super::workload(&mix), Keep::default());
    let error = run_point_on(&server, &workload, &spec, &mix, &mut keep, |_| (), &clock);
    assert_eq!(
        error.unwrap_err().to_string(),
        "the point is share 1 of 2 and its key space share 0 of 1; make both with the same share"
    );
}

mod slow {
    use super::*;

    /// A constant load whose operations take between 0.1 and 0.8 ms, which follows from the time at which they begin. No host is busy when the next operation
    /// is due, so it does not matter which host asks it.
    #[test]
    fn slices_of_all_hosts_are_those_of_one() {
        let whole = |hosts: u32, operations| {
            let load = Load::Open { rate: 777.0, arrivals: Arrivals::Constant, sessions: hosts };
            let mut spec = spec(load, 3 * SECOND / 2, 5 * SECOND / 2);
            spec.operations = operations;
            let mut slices = Vec::new();
            let mut sum = PointEnd::default();
            for share in shares(hosts) {
                spec.share = share;
                let service = |begin: u64| begin + 100_000 + begin / 1_000 % 700 * 1_000;
                let (keep, end) = measure(&spec, service).unwrap();
                slices.extend(keep.slices);
                sum.due = Some(sum.due.unwrap_or(0) + end.due.unwrap());
                sum.busy_ns += end.busy_ns;
                sum.measured_ns = end.measured_ns;
                assert_eq!(end.unfinished, None);
                let lag = end.generator_lag.unwrap();
                assert_eq!(lag.count(), end.due.unwrap());
                sum.generator_lag.get_or_insert_default().merge(&lag);
            }
            (merged(slices), sum)
        };
        for (operations, due, slices) in [(None, 1_942, 5), (Some(1_001), 1_001, 4)] {
            let one = whole(1, operations);
            assert_eq!((one.1.due, one.0.len()), (Some(due), slices));
            let different = one.0[0].operations[0].latencies.service.buckets().count();
            assert!(different > 50, "the times differ: {different}");
            for hosts in [2, 4] {
                let split = whole(hosts, operations);
                assert_eq!(split.0, one.0, "{hosts} hosts");
                assert_eq!(split.1, one.1, "{hosts} hosts");
            }
        }
    }
}
