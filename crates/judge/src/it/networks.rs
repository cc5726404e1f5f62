//! The network between load and server, with planted properties.

use crate::it::laboratory::{Laboratory, SECOND_NS};
use crate::it::watched::{Watched, analyse, cause, one_point, watch};
use crate::{Cause, CauseKind, NetworkSummary};
use insta::assert_snapshot;
use plimsoll_record::{Completed, HostPoint, NetworkPoint, RoundTrips, figures};

const SECONDS: u64 = 12;
const LINK: u64 = 1_250_000_000;

/// In which nothing is remarkable.
fn quiet() -> NetworkPoint {
    NetworkPoint {
        length_ns: SECONDS * SECOND_NS,
        received_bytes: SECONDS * 1_000_000,
        sent_bytes: SECONDS * 2_000_000,
        link_bytes_per_second: Some(LINK),
        segments: 100_000,
        retransmitted: 0,
        round_trips: None,
    }
}

fn round_trips(median_ns: u64) -> Option<RoundTrips> {
    Some(RoundTrips { least_ns: median_ns / 2, median_ns, connections: 8 })
}

/// 8 sessions at 100,000 op/s from a host to another, so that an operation takes 80 µs; half of two processors are busy there.
fn apart(change: impl Fn(&mut NetworkPoint, &mut NetworkPoint)) -> Laboratory {
    let mut lab = one_point(None, 8, 1e5);
    lab.plan.arms[0].on = Some("db1".into());
    let watched = Watched { processors: 0.5, others: 0.5, ..Watched::default() };
    watch(&mut lab, &watched, &[]);
    let (mut load, mut server) = (quiet(), quiet());
    load.round_trips = round_trips(10_000);
    change(&mut load, &mut server);
    for point in lab.points() {
        let host = |name: &str, makes_load, network: &NetworkPoint| HostPoint {
            host: Some(name.into()),
            makes_load,
            cores: 2,
            completed: Completed {
                ok: if makes_load { SECONDS * 100_000 } else { 0 },
                ..Completed::default()
            },
            measured_ns: SECONDS * SECOND_NS,
            first_after_ns: makes_load.then_some(0),
            network: Some(Box::new(network.clone())),
            ..HostPoint::default()
        };
        let end = point.end.as_mut().unwrap();
        end.hosts = vec![host("bench1", true, &load), host("db1", false, &server)];
    }
    lab
}

/// Whether a rule holds, and its figures.
fn rule(cause: &Cause, kind: CauseKind) -> (Option<bool>, &str) {
    let mut rules = cause.rules.iter();
    let rule = rules.find(|rule| rule.kind == kind).unwrap();
    (rule.holds, &rule.figures)
}

#[test]
fn a_quiet_network_is_no_cause() {
    let cause = cause(&apart(|_, _| {}));
    for kind in [CauseKind::NetworkBandwidth, CauseKind::NetworkLoss, CauseKind::NetworkLatency] {
        assert_eq!(rule(&cause, kind).0, Some(false), "{kind:?}");
    }
    assert_eq!(cause.kind, CauseKind::Contention);
}

#[test]
fn what_is_left_over_is_unknown_where_nobody_knows_the_link() {
    let cause = cause(&apart(|load, server| {
        load.link_bytes_per_second = None;
        server.link_bytes_per_second = None;
    }));
    assert_eq!(rule(&cause, CauseKind::NetworkBandwidth).0, None);
    assert_eq!(rule(&cause, CauseKind::Contention).0, None);
    assert_eq!(cause.kind, CauseKind::Unknown);
}

#[test]
fn a_link_that_is_nearly_full_in_one_direction() {
    // 1.125 of 1.25 GB/s.
    let full = |bytes: u64| apart(move |_, server| server.sent_bytes = bytes * SECONDS);
    let found = cause(&full(1_125_000_000));
    assert_eq!(found.kind, CauseKind::NetworkBandwidth);
    assert_snapshot!(found.sentence, @"network bandwidth: 1.05 GiB/s of 1.16 GiB/s used on the link of host db1 (90 %)");
    assert_ne!(cause(&full(1_120_000_000)).kind, CauseKind::NetworkBandwidth);
    // Both directions together do not fill it.
    let both = apart(|load, _| {
        load.sent_bytes = 700_000_000 * SECONDS;
        load.received_bytes = 700_000_000 * SECONDS;
    });
    assert_ne!(cause(&both).kind, CauseKind::NetworkBandwidth);
}

#[test]
fn of_a_link_of_unknown_speed_nothing_is_known() {
    let lab = apart(|load, server| {
        load.link_bytes_per_second = None;
        server.link_bytes_per_second = None;
        server.sent_bytes = u64::MAX / 2;
    });
    let cause = cause(&lab);
    assert_eq!(rule(&cause, CauseKind::NetworkBandwidth), (None, "not known"));
}

#[test]
fn segments_that_are_sent_again() {
    // Both machines together: 1,000 and 990 of 100,000.
    let lost = |again: u64| {
        apart(move |load, server| {
            load.segments = 90_000;
            server.segments = 10_000;
            server.retransmitted = again;
        })
    };
    let found = cause(&lost(1_000));
    assert_eq!(found.kind, CauseKind::NetworkLoss);
    assert_snapshot!(found.sentence, @"packet loss: 1.00 % of the TCP segments are sent again");
    assert_ne!(cause(&lost(990)).kind, CauseKind::NetworkLoss);
    // With few segments the share is chance.
    let few = cause(&apart(|load, server| {
        load.segments = 499;
        load.retransmitted = 100;
        server.segments = 500;
    }));
    assert_eq!(rule(&few, CauseKind::NetworkLoss), (None, "not known"));
}

#[test]
fn operations_that_are_mostly_on_the_way() {
    let far = |nanos: u64| apart(move |load, _| load.round_trips = round_trips(nanos));
    // The histogram of service times rounds 80.0 µs up to the end of its bucket.
    let found = cause(&far(41_000));
    assert_eq!(found.kind, CauseKind::NetworkLatency);
    assert_snapshot!(found.sentence, @"network round trip: a round trip takes 41.0 µs, an operation 80.1 µs (medians)");
    assert_ne!(cause(&far(39_000)).kind, CauseKind::NetworkLatency);
}

#[test]
fn processors_without_room_come_before_the_network() {
    let mut lab = apart(|load, _| load.round_trips = round_trips(60_000));
    let full = Watched { processors: 0.5, others: 1.4, ..Watched::default() };
    watch(&mut lab, &full, &[]);
    assert_eq!(cause(&lab).kind, CauseKind::Cpu);
}

#[test]
fn on_one_machine_there_is_no_network() {
    let mut lab = one_point(None, 8, 1e5);
    watch(&mut lab, &Watched::default(), &[]);
    let found = cause(&lab);
    let expected = (Some(false), "load and server share a machine");
    assert_eq!(rule(&found, CauseKind::NetworkLatency), expected);
    // One host that makes all load knows of its own network.
    for point in lab.points() {
        let mut network = quiet();
        network.round_trips = round_trips(41_000);
        point.end.as_mut().unwrap().network = Some(Box::new(network));
    }
    let found = cause(&lab);
    assert_eq!(rule(&found, CauseKind::NetworkLatency).0, Some(true));
    // Watched by a program that did not look at the network.
    let mut early = apart(|_, _| {});
    for host in early.points().flat_map(|point| &mut point.end.as_mut().unwrap().hosts) {
        host.network = None;
    }
    let found = cause(&early);
    assert_eq!(rule(&found, CauseKind::NetworkLoss), (None, "not known"));
}

#[test]
fn a_summary_adds_up_the_points_of_a_host() {
    let mut lab = apart(|load, _| load.retransmitted = 100);
    // One of six points has twice the bytes and a shorter way.
    let first = lab.points().next().unwrap().end.as_mut().unwrap();
    let network = first.hosts[0].network.as_mut().unwrap();
    network.sent_bytes *= 2;
    network.round_trips = round_trips(8_000);
    let analysis = analyse(&lab);
    let [load, server] = analysis.hosts.as_slice() else { panic!("{:?}", analysis.hosts) };
    let expected = NetworkSummary {
        received_bytes_per_second: Some(1e6),
        // (5 · 2 + 4) / 6 MB/s.
        sent_bytes_per_second: Some(14e6 / 6.0),
        link_bytes_per_second: Some(1.25e9),
        retransmitted: Some(0.001),
        round_trip_least_ns: Some(4_000.0),
        round_trip_median_ns: Some(10_000.0),
    };
    assert_eq!(load.network, Some(expected));
    let server = server.network.unwrap();
    assert_eq!(server.round_trip_least_ns, None);
    assert_eq!(server.retransmitted, Some(0.0));
}

#[test]
fn figures_of_a_second_are_those_of_its_interface() {
    let mut lab = one_point(None, 8, 1e5);
    let more = [
        (figures::NETWORK_RECEIVED_BYTES, 250e6),
        (figures::NETWORK_SENT_BYTES, 1_000e6),
        (figures::NETWORK_LINK, LINK as f64),
        (figures::NETWORK_SEGMENTS, 50_000.0),
        (figures::NETWORK_RETRANSMITTED, 25.0),
    ];
    watch(&mut lab, &Watched::default(), &more);
    let analysis = analyse(&lab);
    let figures = &analysis.curves[0].points[0].figures.median;
    assert_eq!(figures.network_received_bytes_per_second, Some(250e6));
    assert_eq!(figures.network_sent_bytes_per_second, Some(1_000e6));
    assert_eq!(figures.network_link_used, Some(0.8));
    assert_eq!(figures.network_retransmitted, Some(0.0005));
}
