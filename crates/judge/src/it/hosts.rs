//! Gates and figures of points in which several machines took part.

use crate::it::laboratory::{Laboratory, SECOND_NS, Shown, histogram, warns};
use crate::{Analysis, HostSummary, ValidityState};
use plimsoll_record::{
    ClockOffset, Completed, ForeignCpu, ForeignProgram, HostPoint, LoadKind, PointEnd, Severity,
    Warning, WarningId, WorkerUse, figures as names,
};

/// Measured seconds of every point here.
const SECONDS: u64 = 12;

fn clock(bound_ns: u64) -> ClockOffset {
    ClockOffset { offset_ns: 7, bound_ns, round_trip_ns: 2 * bound_ns }
}

/// A machine in good order with 4 processors; its load generator uses one half of them.
fn host(name: Option<&str>, makes_load: bool) -> HostPoint {
    HostPoint {
        host: name.map(str::to_owned),
        makes_load,
        cores: 4,
        completed: Completed { ok: if makes_load { 600_000 } else { 0 }, ..Completed::default() },
        worker: WorkerUse {
            cpu_user_ns: if makes_load { SECONDS * SECOND_NS / 2 } else { 0 },
            ..WorkerUse::default()
        },
        measured_ns: if makes_load { SECONDS * SECOND_NS } else { 0 },
        clock: clock(100_000),
        clock_after: Some(clock(200_000)),
        first_after_ns: makes_load.then_some(50_000),
        ..HostPoint::default()
    }
}

/// Two that make load, and the one that the arm stands on.
fn three() -> Vec<HostPoint> {
    vec![host(Some("bench1"), true), host(Some("bench2"), true), host(Some("db1"), false)]
}

fn on_db1(mut lab: Laboratory) -> Laboratory {
    lab.plan.arms[0].on = Some("db1".into());
    lab
}

/// 8 sessions at 100,000 op/s in six blocks.
fn closed(change: impl Fn(&mut Vec<HostPoint>, &mut PointEnd)) -> Laboratory {
    let lab = Laboratory::closed(&["arm"], &["c"], &[8], 6);
    changed(on_db1(lab).measure(|case| Shown::closed(case, 1e5)), change)
}

/// The same in an open loop.
fn open(change: impl Fn(&mut Vec<HostPoint>, &mut PointEnd)) -> Laboratory {
    let lab = Laboratory::open(&["arm"], &["c"], &[1e5], 6);
    let shown =
        Shown { throughput: 1e5, response_ns: 20_000.0, errors: 0, seconds: 12, busy: 0.25 };
    changed(on_db1(lab).measure(|_| shown.clone()), change)
}

fn changed(mut lab: Laboratory, change: impl Fn(&mut Vec<HostPoint>, &mut PointEnd)) -> Laboratory {
    for point in lab.points() {
        let end = point.end.as_mut().unwrap();
        let mut hosts = three();
        change(&mut hosts, end);
        end.hosts = hosts;
    }
    lab
}

/// The only warning of this id at the first point.
fn found(analysis: &Analysis, id: WarningId) -> Option<&Warning> {
    let warnings = &analysis.curves[0].points[0].results[0].warnings;
    let mut of_id = warnings.iter().filter(|warning| warning.id == id);
    let first = of_id.next();
    assert!(of_id.next().is_none(), "{warnings:?}");
    first
}

fn message(analysis: &Analysis, id: WarningId) -> &str {
    &found(analysis, id).unwrap().message
}

fn strip<'a>(analysis: &'a Analysis, name: &str) -> Option<(ValidityState, &'a str)> {
    let mut entries = analysis.validity.iter();
    let entry = entries.find(|entry| entry.name == name)?;
    Some((entry.state, &entry.text))
}

#[test]
fn hosts_in_good_order_are_nothing_to_remark() {
    for analysis in [closed(|_, _| ()).analyse(), open(|_, _| ()).analyse()] {
        assert_eq!(analysis.warnings, []);
        let (state, text) = strip(&analysis, "hosts").unwrap();
        assert_eq!(state, ValidityState::Good);
        // The worse of the bounds before and after.
        assert_eq!(text, "3 hosts at work, clocks known to ±200 µs");
    }
}

#[test]
fn a_record_without_hosts_says_nothing_of_them() {
    let analysis = closed(|hosts, _| hosts.clear()).analyse();
    assert_eq!(analysis.hosts, []);
    assert_eq!(strip(&analysis, "hosts"), None);
    let json = serde_json::to_value(&analysis).unwrap();
    assert_eq!(json.get("hosts"), None);
}

#[test]
fn each_host_is_tried_by_its_own_processors() {
    // The point takes 13 s with its warm-up: 52 s of 4 processors, 26 s of 2. 0.52 s are 1 % of the first, and the limit is more than that.
    let stolen = |stolen_ns| {
        move |hosts: &mut Vec<HostPoint>, _: &mut PointEnd| hosts[1].stolen_ns = stolen_ns
    };
    let analysis = closed(stolen(520_000_000)).analyse();
    assert!(!warns(&analysis, WarningId::StolenCpu));
    let analysis = closed(stolen(1_040_000_000)).analyse();
    assert_eq!(
        message(&analysis, WarningId::StolenCpu),
        "host bench2: 2.0 % of the processors' time was stolen"
    );
    // What the worker of the point said of its own machine is among the hosts.
    let analysis = closed(|_, end| end.stolen_ns = 13 * SECOND_NS).analyse();
    assert!(!warns(&analysis, WarningId::StolenCpu));
}

#[test]
fn a_host_with_an_unknown_number_of_processors_has_no_shares_of_them() {
    let lab = closed(|hosts, _| {
        hosts[1].cores = 0;
        hosts[1].stolen_ns = 40 * SECOND_NS;
    });
    assert!(!warns(&lab.analyse(), WarningId::StolenCpu));
    // The arm's own machine is that of its run, with 2 processors: 1.04 s of 26 s.
    let lab = closed(|hosts, _| {
        hosts[2].cores = 0;
        hosts[2].stolen_ns = 1_040_000_000;
    });
    assert_eq!(
        message(&lab.analyse(), WarningId::StolenCpu),
        "host db1: 4.0 % of the processors' time was stolen"
    );
}

#[test]
fn hosts_with_the_same_trouble_are_one_warning() {
    let lab = closed(|hosts, _| {
        hosts[0].host = None;
        hosts[0].clock_jump_ns = 2 * 1_000_000_000;
        hosts[2].clock_jump_ns = -150_000_000;
    });
    assert_eq!(
        message(&lab.analyse(), WarningId::ClockJumped),
        "the controller: the wall clock moved by +2.000 s; host db1: the wall clock moved by -0.150 s"
    );
}

#[test]
fn other_programs_on_one_host_are_enough_to_refuse_a_point() {
    // One of 4 processors is used for 13 s: 25 %.
    let lab = closed(|hosts, _| {
        hosts[0].foreign = Some(Box::new(ForeignCpu {
            cpu_ns: 13 * SECOND_NS,
            elapsed_ns: 13 * SECOND_NS,
            programs: vec![ForeignProgram { name: "rustc".into(), cpu_ns: 13 * SECOND_NS }],
        }));
    });
    let analysis = lab.analyse();
    let warning = found(&analysis, WarningId::ForeignCpu).unwrap();
    assert_eq!(warning.severity(), Severity::Invalid);
    assert_eq!(
        warning.message,
        "host bench1: other programs used 25.0 % of the machine: rustc (1.00) processors"
    );
    assert_eq!(analysis.curves[0].points[0].valid_runs, 0);
}

#[test]
fn a_generator_that_stands_still_is_named_with_its_host() {
    // 0.24 s of 12 s.
    let lab = open(|hosts, end| {
        hosts[1].generator_lag = Some(histogram(240_000_000, 1));
        end.generator_lag = Some(histogram(240_000_000, 1));
        end.lag_is_apart = true;
    });
    let analysis = lab.analyse();
    let message = message(&analysis, WarningId::GeneratorLimited);
    assert!(
        message.starts_with("host bench2: the generator stood still for 240 ms, 2.0 %"),
        "{message}"
    );
    assert!(!message.contains("bench1"), "{message}");
}

#[test]
fn lateness_is_a_share_of_the_sessions_that_the_host_runs() {
    // 4 of the 8 sessions were bench1's: 48 s. 14.4 s of lag are 30 % of them, and 15 % of all.
    let lab = open(|hosts, end| {
        let lag = histogram(2_000_000, 7_200);
        hosts[0].generator_lag = Some(lag.clone());
        hosts[1].generator_lag = Some(histogram(0, 7_200));
        let mut both = lag;
        both.merge(&histogram(0, 7_200));
        end.generator_lag = Some(both);
        end.lag_is_apart = true;
    });
    let analysis = lab.analyse();
    let message = message(&analysis, WarningId::GeneratorLate);
    assert!(
        message.starts_with("host bench1: waking late took 30 % of the sessions' time"),
        "{message}"
    );
    let share = analysis.curves[0].points[0].results[0].generator_share;
    assert!((share.unwrap() - 0.15).abs() < 0.001, "{share:?}");
}

/// With a server that is watched and uses 1.5 processors.
fn with_server(mut lab: Laboratory) -> Laboratory {
    let server = serde_json::json!({
        "name": "mongod", "program": "mongod", "arguments": [], "address": "mongodb://127.0.0.1:{port}",
        "stop_signal": "TERM", "ready_within_ns": 0, "stop_within_ns": 0,
    });
    lab.plan.arms[0].rig.server = Some(serde_json::from_value(server).unwrap());
    for slice in lab.points().flat_map(|point| &mut point.slices) {
        slice.telemetry.insert(names::SERVER_CPU.into(), 1.5e9);
    }
    lab
}

#[test]
fn a_client_on_other_machines_is_held_against_their_processors() {
    // The clients keep 3 processors of 4 busy on each host, 75 %: more than the 2 of the server's machine, and fewer than the limit.
    let busy = |processors: u64| {
        move |hosts: &mut Vec<HostPoint>, _: &mut PointEnd| {
            for host in &mut hosts[..2] {
                host.worker.cpu_user_ns = SECONDS * SECOND_NS * processors / 10;
            }
        }
    };
    let analysis = with_server(closed(busy(30))).analyse();
    assert!(!warns(&analysis, WarningId::GeneratorLimited));
    let (state, text) = strip(&analysis, "client CPU").unwrap();
    assert_eq!(state, ValidityState::Note);
    assert!(text.starts_with("up to 75.0 % of the 4 processors"), "{text}");
    let analysis = with_server(closed(busy(33))).analyse();
    assert_eq!(
        message(&analysis, WarningId::GeneratorLimited),
        "host bench1: the client kept 3.30 processors busy, its sessions can use 4; host bench2: the client kept 3.30 processors busy, its sessions can use 4"
    );
}

#[test]
fn a_client_with_an_unknown_number_of_processors_is_not_judged() {
    let lab = closed(|hosts, _| {
        for host in &mut hosts[..2] {
            host.cores = 0;
            host.worker.cpu_user_ns = SECONDS * SECOND_NS * 4;
        }
    });
    let analysis = with_server(lab).analyse();
    assert!(!warns(&analysis, WarningId::GeneratorLimited));
    assert_eq!(
        strip(&analysis, "client CPU").unwrap(),
        (ValidityState::Note, "not judged: the number of the load hosts' processors is unknown")
    );
}

#[test]
fn a_client_beside_its_server_shares_the_processors_with_it() {
    // bench1 is the machine of the server, with 4 processors: the server uses 1.5 of them and the client 2.4, 62 % of both. The client elsewhere may use as many.
    let lab = closed(|hosts, _| {
        hosts.truncate(2);
        hosts[0].host = Some("db1".into());
        for host in hosts {
            host.worker.cpu_user_ns = SECONDS * SECOND_NS * 24 / 10;
        }
    });
    let analysis = with_server(lab).analyse();
    let warning = found(&analysis, WarningId::GeneratorLimited).unwrap();
    assert_eq!(warning.severity(), Severity::Caution);
    let expected =
        "host db1: 62 % of the CPU time of an operation is the client's, and the 4 processors";
    assert!(warning.message.starts_with(expected), "{}", warning.message);
    assert!(!warning.message.contains("bench2"));
    assert!(analysis.hosts[0].makes_load && analysis.hosts[0].has_server);
    assert!(!analysis.hosts[1].has_server);
}

#[test]
fn a_loose_clock_is_a_caution() {
    // Exactly 1 ms is allowed, and the worse of both counts.
    let bound = |bound_ns| {
        move |hosts: &mut Vec<HostPoint>, _: &mut PointEnd| {
            hosts[1].clock_after = Some(clock(bound_ns));
        }
    };
    assert!(!warns(&closed(bound(1_000_000)).analyse(), WarningId::ClockBound));
    let analysis = closed(bound(1_000_001)).analyse();
    let warning = found(&analysis, WarningId::ClockBound).unwrap();
    assert_eq!(warning.severity(), Severity::Caution);
    assert_eq!(
        warning.message,
        "clocks are known less well than ±1.00 ms: host bench2 to ±1.00 ms"
    );
    let (state, text) = strip(&analysis, "hosts").unwrap();
    assert_eq!(state, ValidityState::Caution);
    assert_eq!(text, "3 hosts at work, clocks known to ±1.00 ms; the limit is ±1 ms");
    assert_eq!(analysis.curves[0].points[0].valid_runs, 6);
}

#[test]
fn hosts_that_do_not_begin_together_are_noted() {
    // Both clocks are known to 0.1 ms, so 1.2 ms apart is as good as together.
    let late = |late_ns: i64| {
        move |hosts: &mut Vec<HostPoint>, _: &mut PointEnd| {
            hosts[0].first_after_ns = Some(50_000 + late_ns);
        }
    };
    assert!(!warns(&closed(late(1_200_000)).analyse(), WarningId::StartSkew));
    let analysis = closed(late(1_200_001)).analyse();
    let warning = found(&analysis, WarningId::StartSkew).unwrap();
    assert_eq!(warning.severity(), Severity::Note);
    assert_eq!(warning.message, "host bench1 began 1.20 ms after host bench2, within the warm-up");
    // The warm-up takes 1 s.
    let analysis = closed(late(1_100_000_000)).analyse();
    let warning = found(&analysis, WarningId::StartSkew).unwrap();
    assert_eq!(warning.severity(), Severity::Caution);
    assert_eq!(warning.message, "host bench1 began 1.10 s after host bench2, in the measured part");
    // In an open loop the first operations are due at different times.
    assert!(!warns(&open(late(1_100_000_000)).analyse(), WarningId::StartSkew));
}

#[test]
fn unequal_hosts_are_noted_with_their_rates() {
    let ok =
        |ok: u64| move |hosts: &mut Vec<HostPoint>, _: &mut PointEnd| hosts[0].completed.ok = ok;
    // 600,000 in 12 s in 4 sessions: 12,500 op/s each. Four fifths of it are allowed.
    assert!(!warns(&closed(ok(480_000)).analyse(), WarningId::HostsDiffer));
    let analysis = closed(ok(479_000)).analyse();
    let warning = found(&analysis, WarningId::HostsDiffer).unwrap();
    assert_eq!(warning.severity(), Severity::Note);
    // 479,000 / 12 / 4 = 9,979.
    assert_eq!(
        warning.message,
        "host bench1 did 9,980 op/s per session, the other host 12,500 op/s"
    );
    // In an open loop each has half of the rate: 600,000 / 12 and 360,000 / 12.
    let analysis = open(ok(360_000)).analyse();
    assert_eq!(
        message(&analysis, WarningId::HostsDiffer),
        "host bench1 did 30,000 op/s, the other host 50,000 op/s"
    );
    // So few may differ by chance.
    let few = |hosts: &mut Vec<HostPoint>, _: &mut PointEnd| {
        hosts[0].completed.ok = 200;
        hosts[1].completed.ok = 399;
    };
    assert!(!warns(&closed(few).analyse(), WarningId::HostsDiffer));
}

#[test]
fn of_several_hosts_the_furthest_is_named_and_others_are_counted() {
    // 8 sessions on 4 hosts: 2 each, 25,000 op/s of a session at 600,000 in 12 s.
    let lab = closed(|hosts, _| {
        hosts.insert(0, host(Some("bench0"), true));
        hosts.insert(0, host(None, true));
        hosts[1].completed.ok = 60_000;
    });
    // Each of the other three has 600,000 against (600,000 + 600,000 + 60,000) / 3 = 420,000: 70 %.
    assert_eq!(
        message(&lab.analyse(), WarningId::HostsDiffer),
        "host bench0 did 2,500 op/s per session, the others 25,000 op/s; 3 other hosts differ by more than 20 % as well"
    );
}

#[test]
fn one_session_more_is_no_difference() {
    // 3 sessions on 2 hosts: 1 and 2; each host does 50,000 op/s in 12 s.
    let mut lab = Laboratory::closed(&["arm"], &["c"], &[3], 6)
        .measure(|case| Shown::closed(case, 150_000.0));
    for point in lab.points() {
        let mut hosts = three();
        hosts[1].completed.ok = 1_200_000;
        point.end.as_mut().unwrap().hosts = hosts;
    }
    assert!(!warns(&lab.analyse(), WarningId::HostsDiffer));
    // Nor is it where each session has an equal share of a target.
    for point in lab.points() {
        point.label.load =
            LoadKind::Closed { sessions: 3, think_time_ns: 0, target: Some(150_000.0) };
    }
    assert!(!warns(&lab.analyse(), WarningId::HostsDiffer));
}

#[test]
fn a_summary_adds_up_the_valid_points_of_a_host() {
    let lab = |change: fn(&mut Vec<HostPoint>, &mut PointEnd)| with_server(closed(change));
    let mut lab = lab(|hosts, _| {
        hosts[1].first_after_ns = Some(450_000);
        hosts[2].stolen_ns = 260_000_000;
    });
    // In the first block bench1 does 0.1 more and uses twice the CPU; the last block is refused.
    let mut points = lab.points();
    let first = &mut points.next().unwrap().end.as_mut().unwrap().hosts;
    first[0].completed.ok = 660_000;
    first[0].worker.cpu_user_ns *= 2;
    let last = points.last().unwrap();
    last.end.as_mut().unwrap().hosts[0].completed.ok = 1;
    last.slices[1].completed.error = 1;
    let analysis = lab.analyse();
    assert_eq!(analysis.curves[0].points[0].valid_runs, 5);
    let of = |host: &str| HostSummary {
        arm: "arm".into(),
        host: Some(host.into()),
        makes_load: host != "db1",
        has_server: host == "db1",
        points: 5,
        cores: Some(4),
        throughput: Some(50_000.0),
        generator_lag_p99_ns: None,
        load_processors: Some(0.5),
        clock_bound_ns: 200_000,
        start_skew_ns: Some(0),
        stolen: Some(0.0),
        network: None,
    };
    let expected = [
        HostSummary {
            // (660,000 + 4 · 600,000) / 60 s, and (12 + 4 · 6) s of CPU in 60 s.
            throughput: Some(51_000.0),
            load_processors: Some(0.6),
            ..of("bench1")
        },
        HostSummary { start_skew_ns: Some(400_000), ..of("bench2") },
        HostSummary {
            throughput: None,
            load_processors: None,
            start_skew_ns: None,
            // 5 · 0.26 s of 5 · 13 s of 4 processors.
            stolen: Some(0.005),
            ..of("db1")
        },
    ];
    assert_eq!(analysis.hosts, expected);
}

#[test]
fn lateness_of_a_host_is_that_of_all_its_points() {
    let mut lab = open(|hosts, end| {
        hosts[0].generator_lag = Some(histogram(1_000, 100));
        end.lag_is_apart = true;
    });
    let first = &mut lab.points().next().unwrap().end.as_mut().unwrap().hosts;
    // 10 of 610 are more than 1 %.
    first[0].generator_lag.as_mut().unwrap().record_n(8_000, 10);
    let lag = lab.analyse().hosts[0].generator_lag_p99_ns.unwrap();
    assert!((lag / 8_000.0 - 1.0).abs() < 0.01, "{lag}");
}

#[test]
fn load_from_elsewhere_is_no_load_of_the_server_s_machine() {
    // The machine of the server is half busy: 1 of its 4 processors by the server, which 3 of the clients' would exceed.
    let lab = closed(|hosts, _| {
        for host in &mut hosts[..2] {
            host.worker.cpu_user_ns = SECONDS * SECOND_NS * 3;
        }
    });
    let mut lab = with_server(lab);
    for slice in lab.points().flat_map(|point| &mut point.slices) {
        for (name, value) in [
            (names::MACHINE_CPU_USER, 2e9),
            (names::MACHINE_CPU_SYSTEM, 0.0),
            (names::MACHINE_CPU_IDLE, 2e9),
            (names::MACHINE_CPU_IOWAIT, 0.0),
            (names::MACHINE_CPU_STEAL, 0.0),
            (names::SERVER_CPU, 1e9),
        ] {
            slice.telemetry.insert(name.into(), value);
        }
    }
    let analysis = lab.analyse();
    let cause = analysis.curves[0].points[0].cause.as_ref().unwrap();
    let cpu = cause.rules.iter().find(|rule| rule.kind == crate::CauseKind::Cpu).unwrap();
    let words = &cpu.figures;
    assert_eq!(words, "50 % of 4 processors busy, 1 by the server, 1 by everything else");
}

#[test]
fn arms_on_hosts_of_their_own_are_no_mixture() {
    let lab = || {
        let mut lab = Laboratory::closed(&["a", "b"], &["c"], &[8], 6);
        lab.plan.arms[0].on = Some("db1".into());
        lab.plan.arms[1].on = Some("db2".into());
        lab.measure(|case| Shown::closed(case, 1e5))
    };
    let mut two = lab();
    for run in two.runs.iter_mut().filter(|run| run.arm == "b") {
        run.machine.cores = 8;
    }
    assert!(!warns(&two.analyse(), WarningId::MixedMachines));
    // Another machine under the name of one host is one.
    let mut mixed = lab();
    let of_b = |run: &&mut plimsoll_record::RunRecord| run.arm == "b";
    mixed.runs.iter_mut().find(of_b).unwrap().machine.cores = 8;
    let analysis = mixed.analyse();
    let mut warnings = analysis.warnings.iter();
    let warning = warnings.find(|one| one.id == WarningId::MixedMachines);
    assert_eq!(warning.unwrap().subject, "host db2");
    let ons: Vec<_> = analysis.arms.iter().map(|arm| arm.on.as_deref()).collect();
    assert_eq!(ons, [Some("db1"), Some("db2")]);
}
