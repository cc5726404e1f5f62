use super::{Request, RequestKind, Shaper, Timeline};
use plimsoll_record::{
    Act, DiskBurst, DiskFault, DiskLatency, DiskRates, DiskSpec, EventRecord, EventSpec,
};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const SECOND: u64 = 1_000_000_000;

fn request(kind: RequestKind, bytes: u64) -> Request {
    Request { kind, bytes }
}

fn read(bytes: u64) -> Request {
    request(RequestKind::Read, bytes)
}

fn write(bytes: u64) -> Request {
    request(RequestKind::Write, bytes)
}

fn joint(rate: f64) -> DiskRates {
    DiskRates { joint: Some(rate), ..DiskRates::default() }
}

fn disk() -> DiskSpec {
    DiskSpec::unlimited(1 << 30)
}

fn shaper(spec: DiskSpec) -> Shaper {
    Shaper::new(&spec, 1)
}

fn constant(ns: u64) -> DiskLatency {
    DiskLatency::Constant { ns }
}

/// Readers in a closed loop. Returns requests per second and the mean latency in nanoseconds.
fn closed_loop(shaper: &mut Shaper, readers: usize, seconds: u64) -> (f64, f64) {
    let mut asking: BinaryHeap<Reverse<u64>> = (0..readers).map(|_| Reverse(0)).collect();
    let (mut answered, mut latencies_ns) = (0_u64, 0_u64);
    while let Some(Reverse(now)) = asking.pop() {
        if now >= seconds * SECOND {
            break;
        }
        let due = shaper.admit(now, read(4096));
        answered += 1;
        latencies_ns += due - now;
        asking.push(Reverse(due));
    }
    let answered = answered as f64;
    (answered / seconds as f64, latencies_ns as f64 / answered)
}

#[test]
fn a_disk_without_limits_answers_at_once() {
    let mut shaper = Shaper::new(&disk(), 1);
    for now in [0, 5, 5, 1_000] {
        assert_eq!(shaper.admit(now, read(1 << 20)), now);
    }
}

#[test]
fn a_large_request_takes_longer_by_its_bytes() {
    let transfer = DiskRates { read: Some(1e9), joint: Some(2e9), ..DiskRates::default() };
    let mut shaper = shaper(DiskSpec { read_latency: constant(80_000), transfer, ..disk() });
    assert_eq!(shaper.admit(0, read(250_000)), 80_000 + 250_000);
    assert_eq!(shaper.admit(0, write(250_000)), 125_000);
    // It is no limit: the next one is moved at the same time.
    assert_eq!(shaper.admit(0, read(1_000)), 81_000);
}

#[test]
fn requests_through_a_cap_take_exactly_their_share_of_time() {
    let mut shaper = shaper(DiskSpec { iops: joint(600.0), ..disk() });
    let mut due = 0;
    for _ in 0..=600_000 {
        due = shaper.admit(0, read(4096));
    }
    assert!(due.abs_diff(1_000 * SECOND) <= 1, "{due}");
}

#[test]
fn idle_time_is_not_saved() {
    let mut shaper = shaper(DiskSpec { iops: joint(100.0), ..disk() });
    assert_eq!(shaper.admit(0, read(4096)), 0);
    let later = 60 * SECOND;
    assert_eq!(shaper.admit(later, read(4096)), later);
    assert_eq!(shaper.admit(later, read(4096)), later + SECOND / 100);
}

#[test]
fn a_large_request_counts_as_several() {
    let mut shaper =
        shaper(DiskSpec { iops: joint(1_000.0), io_unit_bytes: Some(16_384), ..disk() });
    assert_eq!(shaper.admit(0, read(40_000)), 0);
    assert_eq!(shaper.admit(0, read(16_384)), 3_000_000);
    assert_eq!(shaper.admit(0, read(1)), 4_000_000);
}

#[test]
fn directions_have_limits_of_their_own() {
    let mut shaper = shaper(DiskSpec {
        iops: DiskRates { read: Some(1_000.0), write: Some(10.0), joint: None },
        ..disk()
    });
    for place in 0..10 {
        assert_eq!(shaper.admit(0, write(1)), place * SECOND / 10);
        assert_eq!(shaper.admit(0, read(1)), place * SECOND / 1_000);
    }
}

#[test]
fn a_read_goes_before_writes_that_wait_for_a_limit_of_their_own() {
    let mut shaper = shaper(DiskSpec {
        iops: DiskRates { read: None, write: Some(10.0), joint: Some(100.0) },
        ..disk()
    });
    for place in 0..50 {
        assert_eq!(shaper.admit(0, write(1)), place * SECOND / 10);
    }
    // Between two writes, 100 ms apart, there is room for nine reads.
    let dues = (0..18).map(|_| shaper.admit(0, read(1)) / 1_000_000);
    let free = (1..20).filter(|slot| slot % 10 != 0).map(|slot| slot * 10);
    assert!(dues.eq(free));
}

#[test]
fn bytes_are_limited_as_requests_are() {
    let mut shaper = shaper(DiskSpec { iops: joint(1_000.0), bandwidth: joint(1e6), ..disk() });
    assert_eq!(shaper.admit(0, read(100_000)), 0);
    assert_eq!(shaper.admit(0, read(1)), SECOND / 10);
    // Now the requests are the narrower limit.
    assert_eq!(shaper.admit(0, read(1)), SECOND / 10 + 1_000_000);
}

#[test]
fn one_server_of_a_constant_latency_is_a_spindle() {
    let mut shaper =
        shaper(DiskSpec { queue_depth: Some(1), read_latency: constant(13_200_000), ..disk() });
    let (per_second, _) = closed_loop(&mut shaper, 16, 100);
    assert!((per_second - 75.76).abs() < 0.2, "{per_second}");
}

#[test]
fn littles_law_holds_for_sixteen_readers() {
    let seven = DiskSpec { read_latency: constant(7_000_000), ..disk() };
    let (per_second, latency_ns) = closed_loop(&mut Shaper::new(&seven, 1), 16, 100);
    assert!((per_second - 2_285.7).abs() < 1.0, "{per_second}");
    assert!((latency_ns - 7e6).abs() < 1.0, "{latency_ns}");

    for (rate, asked_ns) in [(600.0, 16.0 / 600.0 * 1e9), (150.0, 16.0 / 150.0 * 1e9)] {
        let mut capped = seven.clone();
        capped.iops = joint(rate);
        let (per_second, latency_ns) = closed_loop(&mut Shaper::new(&capped, 1), 16, 1_000);
        assert!((per_second / rate - 1.0).abs() < 1e-3, "{per_second}");
        assert!((latency_ns / asked_ns - 1.0).abs() < 1e-3, "{latency_ns}");
    }
}

fn gp2() -> DiskSpec {
    DiskSpec {
        iops: joint(100.0),
        burst: Some(DiskBurst {
            iops: 3_000.0,
            bandwidth: None,
            credits: 290_000.0,
            refill: 100.0,
            start: 1.0,
        }),
        ..disk()
    }
}

#[test]
fn a_bucket_drains_at_the_difference_of_the_rates_and_then_the_base_rate_holds() {
    let mut shaper = Shaper::new(&gp2(), 1);
    let mut requested = 0;
    let mut due = 0;
    // 290,000 / (3,000 - 100) = 100 seconds.
    while due < 100 * SECOND {
        due = shaper.admit(0, read(4096));
        requested += 1;
    }
    assert!((requested as f64 / 300_000.0 - 1.0).abs() < 0.001, "{requested}");
    let begin = shaper.admit(0, read(4096));
    for _ in 0..1_000 {
        due = shaper.admit(0, read(4096));
    }
    let rate = 1_000.0 / ((due - begin) as f64 / 1e9);
    assert!((rate / 100.0 - 1.0).abs() < 0.01, "{rate}");
    assert!(shaper.credits(due).unwrap() <= 2.0);
}

#[test]
fn a_bucket_fills_again_and_never_over_its_edge() {
    let mut empty = gp2();
    empty.burst.as_mut().unwrap().start = 0.0;
    let mut shaper = shaper(empty);
    assert_eq!(shaper.admit(0, read(1)), 0);
    assert_eq!(shaper.credits(0), Some(0.0));
    assert_eq!(shaper.credits(60 * SECOND), Some(6_000.0));
    assert_eq!(shaper.credits(1_000_000 * SECOND), Some(290_000.0));
    let later = 60 * SECOND;
    assert_eq!(shaper.admit(later, read(1)), later);
    assert_eq!(shaper.admit(later, read(1)), later + SECOND / 3_000);
}

#[test]
fn a_burst_may_have_a_bandwidth_of_its_own() {
    let mut shaper = shaper(DiskSpec {
        bandwidth: joint(1e6),
        burst: Some(DiskBurst { bandwidth: Some(1e7), credits: 3.0, ..gp2().burst.unwrap() }),
        ..gp2()
    });
    let megabyte = read(1_000_000);
    assert_eq!(shaper.admit(0, megabyte), 0);
    assert_eq!(shaper.admit(0, megabyte), SECOND / 10);
}

#[test]
fn emptied_queues_start_anew_with_the_credits_that_are_left() {
    let mut shaper = Shaper::new(&gp2(), 1);
    for _ in 0..1_000 {
        shaper.admit(0, read(1));
    }
    let credits = shaper.credits(0);
    shaper.empty_queues();
    assert_eq!(shaper.credits(0), credits);
    assert_eq!(shaper.admit(0, read(1)), 0);
}

#[test]
fn a_lognormal_latency_has_its_median_and_its_p99() {
    let lognormal = DiskSpec {
        read_latency: DiskLatency::Lognormal { median_ns: 500_000, p99_ns: 4_000_000 },
        ..disk()
    };
    let mut shaper = Shaper::new(&lognormal, 7);
    let mut drawn: Vec<u64> = (0..200_000).map(|_| shaper.admit(0, read(1))).collect();
    drawn.sort_unstable();
    let median = drawn[100_000] as f64 / 500_000.0;
    let p99 = drawn[198_000] as f64 / 4_000_000.0;
    assert!((median - 1.0).abs() < 0.02, "{median}");
    assert!((p99 - 1.0).abs() < 0.04, "{p99}");
}

#[test]
fn a_table_is_linear_between_its_points() {
    let table = DiskSpec {
        write_latency: DiskLatency::Table { points: vec![(0.0, 100), (50.0, 200), (100.0, 1_200)] },
        ..disk()
    };
    let mut shaper = Shaper::new(&table, 7);
    let mut drawn: Vec<u64> = (0..100_000).map(|_| shaper.admit(0, write(1))).collect();
    drawn.sort_unstable();
    assert!(drawn[25_000].abs_diff(150) <= 2, "{}", drawn[25_000]);
    assert!(drawn[75_000].abs_diff(700) <= 15, "{}", drawn[75_000]);
    assert!(drawn[0] >= 100 && drawn[99_999] <= 1_200);
}

#[test]
fn a_flush_takes_its_own_latency_and_nothing_else() {
    let mut shaper =
        shaper(DiskSpec { iops: joint(1.0), flush_latency: constant(3_000_000), ..disk() });
    for _ in 0..100 {
        shaper.admit(0, write(1));
    }
    let flush = request(RequestKind::Flush, 0);
    assert_eq!(shaper.admit(5, flush), 3_000_005);
    let discard = request(RequestKind::Discard, 1 << 30);
    assert_eq!(shaper.admit(5, discard), 5);
}

/// A disk with this timeline, in seconds.
fn during(spec: DiskSpec, events: &[(u64, u64, DiskFault)]) -> Shaper {
    let mut shaper = shaper(spec);
    let events: Vec<EventSpec> = events.iter().map(|event| event_of(*event)).collect();
    shaper.timeline = Timeline::new(&events, 0, 0, 1);
    shaper
}

fn event_of((at, lasts, fault): (u64, u64, DiskFault)) -> EventSpec {
    EventSpec { at_ns: at * SECOND, act: Act::Disk { for_ns: lasts * SECOND, fault } }
}

#[test]
fn latency_is_added_to_every_request_that_arrives_in_its_time() {
    let added = 200_000_000;
    let spec = DiskSpec { read_latency: constant(5), flush_latency: constant(7), ..disk() };
    let mut shaper = during(spec, &[(2, 3, DiskFault::Latency { ns: added })]);
    let flush = request(RequestKind::Flush, 0);
    let discard = request(RequestKind::Discard, 4096);
    for (now, more) in [
        (0, 0),
        (2 * SECOND - 1, 0),
        (2 * SECOND, added),
        (5 * SECOND - 1, added),
        (5 * SECOND, 0),
        (9 * SECOND, 0),
    ] {
        for (request, own) in [(read(1), 5), (write(1), 0), (flush, 7), (discard, 0)] {
            assert_eq!(shaper.admit(now, request), now + own + more, "{now} {request:?}");
        }
    }
}

#[test]
fn nothing_is_answered_in_a_stall_and_limits_hold_after_it() {
    let spec = DiskSpec { iops: joint(10.0), flush_latency: constant(SECOND), ..disk() };
    let mut shaper = during(spec, &[(2, 3, DiskFault::Stall)]);
    let begin = 2 * SECOND - 150_000_000;
    let dues = [0, 0, 0, 0, 200_000_000, 3_300_000_000].map(|after| {
        let due = shaper.admit(begin + after, read(1));
        (due - begin) / 1_000_000
    });
    // Two before it, and from its end on, one each 100 ms.
    assert_eq!(dues, [0, 100, 3_150, 3_250, 3_350, 3_450]);
    let flush = request(RequestKind::Flush, 0);
    // One that would end in it ends with it, and one that would begin in it begins after it.
    assert_eq!(shaper.admit(begin, flush), 5 * SECOND);
    assert_eq!(shaper.admit(2 * SECOND, flush), 6 * SECOND);
    assert_eq!(shaper.admit(5 * SECOND, flush), 6 * SECOND);
    assert_eq!(shaper.admit(3 * SECOND, request(RequestKind::Discard, 1)), 5 * SECOND);
}

#[test]
fn a_server_of_the_disk_is_taken_for_as_long_as_its_request_stalls() {
    let spec = DiskSpec { queue_depth: Some(1), read_latency: constant(SECOND), ..disk() };
    let mut shaper = during(spec, &[(2, 3, DiskFault::Stall)]);
    let late = SECOND + 500_000_000;
    assert_eq!(shaper.admit(late, read(1)), 5 * SECOND);
    assert_eq!(shaper.admit(late, read(1)), 6 * SECOND);
}

#[test]
fn a_share_of_the_requests_of_a_kind_fails_and_no_other() {
    let errors = DiskFault::Errors { read: 0.01, write: 1.0, flush: 0.0 };
    let mut shaper = during(disk(), &[(2, 3, errors)]);
    let mut failed = |now, kind| {
        let failing = (0..100_000).filter(|_| shaper.timeline.fails(now, kind));
        failing.count()
    };
    let kinds = [RequestKind::Read, RequestKind::Write, RequestKind::Flush, RequestKind::Discard];
    for outside in [0, 2 * SECOND - 1, 5 * SECOND] {
        assert_eq!(kinds.map(|kind| failed(outside, kind)), [0; 4]);
    }
    let [reads, writes, flushes, discards] = kinds.map(|kind| failed(2 * SECOND, kind));
    assert!((900..1_100).contains(&reads), "{reads}");
    assert_eq!([writes, flushes, discards], [100_000, 0, 0]);
}

#[test]
fn without_burst_credits_the_base_rate_holds_and_they_are_there_again() {
    let mut shaper = during(gp2(), &[(2, 3, DiskFault::NoCredits)]);
    let rate = |shaper: &mut Shaper, now| {
        let begin = shaper.admit(now, read(1));
        let mut due = begin;
        for _ in 0..10 {
            due = shaper.admit(now, read(1));
        }
        (10.0 / ((due - begin) as f64 / 1e9)).round()
    };
    assert_eq!(rate(&mut shaper, 0), 3_000.0);
    let credits = shaper.credits(2 * SECOND - 1).unwrap();
    assert_eq!(rate(&mut shaper, 2 * SECOND), 100.0);
    assert_eq!(shaper.credits(4 * SECOND), Some(0.0));
    assert!(shaper.credits(5 * SECOND).unwrap() >= credits);
    assert_eq!(rate(&mut shaper, 5 * SECOND), 3_000.0);
}

#[test]
fn edges_pass_once_and_what_is_past_when_it_is_ordered_begins_then_or_never() {
    let latency = DiskFault::Latency { ns: 1_000_000 };
    let of_server = EventSpec { at_ns: SECOND, act: Act::StepDown };
    let events = [
        event_of((1, 2, DiskFault::Stall)),
        of_server,
        event_of((4, 3, latency)),
        event_of((9, 1, DiskFault::NoCredits)),
    ];
    let start = 100 * SECOND;
    let mut timeline = Timeline::new(&events, start, start + 5 * SECOND, 1);
    let edge = |at, words: &str| (start + at * SECOND, words.to_owned());
    assert_eq!(timeline.records(start + 5 * SECOND - 1), []);
    let begins = edge(5, "event 3 begins: the disk adds 1ms to each request");
    assert_eq!(timeline.pass(start + 5 * SECOND), [begins]);
    assert_eq!(timeline.pass(start + 6 * SECOND), []);
    let ends = edge(7, "event 3 ends: the disk adds 1ms to each request");
    let next = edge(9, "event 4 begins: the disk has no burst credits");
    assert_eq!(timeline.pass(start + 9 * SECOND), [ends, next]);
    assert_eq!(timeline.pass(start + 9 * SECOND), []);
    let record = |event, at, until: Option<u64>| EventRecord {
        event,
        at_ns: start + at * SECOND,
        until_ns: until.map(|until| start + until * SECOND),
        ..EventRecord::default()
    };
    let happened = timeline.records(start + 9 * SECOND);
    assert_eq!(happened, [record(2, 5, Some(7)), record(3, 9, None)]);
}

/// No window of any length has more requests than its cap allows, and one.
fn keeps_to(cap: f64, dues: &[u64]) {
    for begin in 0..dues.len() {
        for end in begin..dues.len() {
            let seconds = (dues[end] - dues[begin]) as f64 / 1e9;
            let most = cap * seconds + 1.0;
            let seen = (end - begin + 1) as f64;
            // Instants are rounded down to nanoseconds.
            assert!(seen <= most + cap * 2e-9 + 1e-6, "{seen} of at most {most}");
        }
    }
}

proptest! {
    #[test]
    fn no_window_has_more_than_its_cap(
        pauses in prop::collection::vec((0_u64..40_000_000, any::<bool>()), 1..150),
        cap in 20.0_f64..2_000.0,
        write_cap in 5.0_f64..500.0,
    ) {
        let mut shaper = Shaper::new(&DiskSpec {
            iops: DiskRates { read: None, write: Some(write_cap), joint: Some(cap) },
            ..disk()
        }, 1);
        let mut now = 0;
        let (mut all, mut writes) = (Vec::new(), Vec::new());
        for (pause, is_write) in pauses {
            now += pause;
            let due = shaper.admit(now, if is_write { write(1) } else { read(1) });
            prop_assert!(due >= now);
            all.push(due);
            if is_write {
                writes.push(due);
            }
        }
        all.sort_unstable();
        writes.sort_unstable();
        keeps_to(cap, &all);
        keeps_to(write_cap, &writes);
    }

    #[test]
    fn a_bucket_never_gives_more_than_it_had_and_was_given(
        pauses in prop::collection::vec(0_u64..30_000_000, 1..300),
        credits in 1.0_f64..100.0,
        refill in 1.0_f64..100.0,
    ) {
        let mut shaper = Shaper::new(&DiskSpec {
            iops: joint(refill),
            burst: Some(DiskBurst { iops: 3_000.0, bandwidth: None, credits, refill, start: 1.0 }),
            ..disk()
        }, 1);
        let (mut now, mut first, mut last, mut requested) = (0, None, 0, 0.0);
        for pause in pauses {
            now += pause;
            last = shaper.admit(now, read(1));
            first.get_or_insert(last);
            requested += 1.0;
        }
        let seconds = (last - first.unwrap()) as f64 / 1e9;
        // One request may start on credits that are not whole, and one goes before any time has passed.
        prop_assert!(requested <= credits + refill * seconds + 2.0 + 1e-6, "{requested}");
    }
}
