//! Each gate, shut and open.

use crate::it::laboratory::{
    Laboratory, SECOND_NS, Shown, histogram, part, point, slice, warns, weather,
};
use crate::{Analysis, Outcome, Steadiness, ValidityState, analyse, plan_of, to_repeat};
use plimsoll_plan::{Metric, Objective};
use plimsoll_record::{
    ErrorSample, ExperimentRecord, ExperimentState, ForeignCpu, ForeignProgram, LoadKind,
    Operation, OwnOperation, PointRecord, RunRecord, Severity, StatementKind, Status, Warning,
    WarningId,
};

/// One arm at 8 threads and 100,000 op/s in six blocks: 80 µs each, by Little's law.
fn one_point(change: impl Fn(&mut Shown)) -> Laboratory {
    Laboratory::closed(&["arm"], &["c"], &[8], 6).measure(|case| {
        let mut shown = Shown::closed(case, 1e5);
        change(&mut shown);
        shown
    })
}

/// One arm at 10,000 op/s in six blocks: 200 µs each.
fn one_rate() -> Laboratory {
    one_rate_of(&["arm"])
}

/// The same of several arms.
fn one_rate_of(arms: &[&str]) -> Laboratory {
    Laboratory::open(arms, &["c"], &[10_000.0], 6).measure(|_| Shown {
        throughput: 10_000.0,
        response_ns: 200_000.0,
        errors: 0,
        seconds: 12,
        busy: 0.25,
    })
}

fn with(mut lab: Laboratory, change: impl Fn(&mut PointRecord)) -> Analysis {
    lab.points().for_each(change);
    lab.analyse()
}

fn valid_runs(analysis: &Analysis) -> u32 {
    analysis.curves[0].points[0].valid_runs
}

fn state(analysis: &Analysis, name: &str) -> ValidityState {
    analysis.validity.iter().find(|entry| entry.name == name).unwrap().state
}

fn text<'a>(analysis: &'a Analysis, name: &str) -> &'a str {
    &analysis.validity.iter().find(|entry| entry.name == name).unwrap().text
}

#[test]
fn a_clean_point_passes_everything() {
    let analysis = one_point(|_| ()).analyse();
    assert_eq!(valid_runs(&analysis), 6);
    assert_eq!(analysis.warnings, []);
    for name in ["blocks", "errors", "generator", "steadiness", "records", "machine"] {
        assert_eq!(
            state(&analysis, name),
            ValidityState::Good,
            "{name}: {}",
            text(&analysis, name)
        );
    }
}

/// Its three figures come from the same readings of one clock, so nothing can contradict it.
#[test]
fn littles_law_is_not_claimed_where_it_must_hold() {
    let analysis = one_point(|_| ()).analyse();
    assert!(analysis.validity.iter().all(|entry| entry.name != "Little's law"));
}

#[test]
fn pauses_are_no_time_of_the_generator() {
    // 8 sessions, 80 µs of service and 720 µs of pause: 10,000 op/s.
    let mut lab = one_point(|shown| {
        shown.throughput = 1e4;
        shown.busy = 0.1;
    });
    for point in lab.points() {
        point.label.load = LoadKind::Closed { sessions: 8, think_time_ns: 720_000, target: None };
    }
    let analysis = lab.analyse();
    assert_eq!(valid_runs(&analysis), 6, "{:?}", analysis.warnings);
    assert!(analysis.curves[0].points[0].results[0].generator_share.unwrap() < 0.001);
}

#[test]
fn sessions_that_were_busier_than_they_existed_contradict_themselves() {
    let analysis = one_point(|shown| {
        shown.busy = 1.2;
        shown.response_ns *= 1.2;
    })
    .analyse();
    assert!(warns(&analysis, WarningId::LittlesLaw));
}

#[test]
fn the_generators_share_is_known_and_limited() {
    for (busy, valid, state_of) in [
        (0.97, 6, ValidityState::Good),
        (0.9, 6, ValidityState::Note),
        (0.7, 0, ValidityState::Bad),
    ] {
        let analysis = one_point(|shown| {
            shown.busy = busy;
            shown.response_ns *= busy;
        })
        .analyse();
        let share = analysis.curves[0].points[0].results[0].generator_share.unwrap();
        assert!((share - (1.0 - busy)).abs() < 1e-6);
        assert_eq!(valid_runs(&analysis), valid, "{busy}");
        assert_eq!(warns(&analysis, WarningId::GeneratorLimited), valid == 0, "{busy}");
        assert!(!warns(&analysis, WarningId::LittlesLaw), "{busy}");
        assert_eq!(state(&analysis, "generator"), state_of, "{busy}");
    }
}

#[test]
fn operations_cut_by_the_ends_of_a_short_window_are_no_contradiction() {
    // 8 sessions, 12 s, operations of 4 s: 24 of them, and each session may have been inside one more.
    let analysis = one_point(|shown| {
        shown.throughput = 2.0;
        shown.response_ns = 3e9;
        shown.busy = 0.75;
    })
    .analyse();
    assert_eq!(valid_runs(&analysis), 6, "{:?}", analysis.warnings);
}

#[test]
fn errors_beyond_the_objective_are_not_valid() {
    let mut lab = one_point(|shown| shown.errors = 500);
    for point in lab.points() {
        let sample = ErrorSample {
            operation: Operation::Read,
            message: "disk on fire".into(),
            count: 6_000,
        };
        point.end.as_mut().unwrap().errors.push(sample);
    }
    let analysis = lab.analyse();
    assert_eq!(valid_runs(&analysis), 0);
    assert_eq!(state(&analysis, "errors"), ValidityState::Bad);
    let message = &analysis.warnings[0].message;
    assert!(
        message.starts_with("6000 of 1206000 operations failed, first: disk on fire"),
        "{message}"
    );

    // 500 of 100,500 a second are half a percent.
    lab.plan.objective = Some(Objective {
        response: Vec::new(),
        errors: 0.01,
        achieved: 0.99,
        operations: Vec::new(),
        search: None,
    });
    let analysis = lab.analyse();
    assert_eq!(valid_runs(&analysis), 6);
    assert_eq!(state(&analysis, "errors"), ValidityState::Note);
    assert_eq!(analysis.curves[0].points[0].errors, 36_000);
}

#[test]
fn missing_records_are_a_caution() {
    let analysis = with(one_point(|_| ()), |point| point.slices[5].completed.not_found = 7);
    assert_eq!(valid_runs(&analysis), 6);
    assert!(warns(&analysis, WarningId::NotFound));
    assert_eq!(state(&analysis, "errors"), ValidityState::Caution);
}

#[test]
fn a_load_that_stored_something_else_spoils_the_run() {
    let mut lab = one_point(|_| ());
    lab.runs[2].records_loaded = Some(999);
    let analysis = lab.analyse();
    assert_eq!(valid_runs(&analysis), 5);
    assert!(warns(&analysis, WarningId::RecordCount));
    assert_eq!(state(&analysis, "records"), ValidityState::Bad);
}

#[test]
fn what_the_runner_found_about_the_data_counts() {
    let mut lab = one_point(|_| ());
    lab.runs[0].warnings.push(Warning::new(WarningId::Verification, "arm", "2 records differ"));
    lab.runs[1].warnings.push(Warning::new(WarningId::Machine, "governor", "powersave"));
    lab.runs[2].warnings.push(Warning::new(WarningId::Machine, "governor", "powersave"));
    let analysis = lab.analyse();
    assert_eq!(valid_runs(&analysis), 5);
    let of_machine =
        analysis.warnings.iter().filter(|warning| warning.id == WarningId::Machine).count();
    assert_eq!(of_machine, 1, "the same remark is made once");
    assert_eq!(state(&analysis, "machine"), ValidityState::Note);
}

#[test]
fn wrong_data_is_not_valid_even_in_the_warm_up() {
    let analysis = with(one_point(|_| ()), |point| {
        let load = point.label.load;
        point.slices[0].operations.push(part(Operation::Verify, Status::Error, load, 100.0, 3));
    });
    assert_eq!(valid_runs(&analysis), 0);
    assert_eq!(text(&analysis, "errors"), "wrong data was read in 6 of 6 points");
}

#[test]
fn a_rate_that_was_not_achieved_is_a_caution() {
    let analysis = with(one_rate(), |point| point.end.as_mut().unwrap().due = Some(150_000));
    // 120,000 of 150,000.
    let point = &analysis.curves[0].points[0];
    assert_eq!(point.results[0].achieved, Some(0.8));
    // In 12 s.
    let due = Some(150_000.0 / 12.0);
    assert_eq!((point.results[0].due, point.due()), (due, due));
    assert!(warns(&analysis, WarningId::RateNotAchieved));
    assert_eq!(valid_runs(&analysis), 6);
    assert_eq!(state(&analysis, "rate achieved"), ValidityState::Caution);
}

#[test]
fn what_was_unfinished_counts_and_makes_percentiles_bounds() {
    // 120,000 finished and 3,000 not: 2.4 % of what was due, more than 1 % and less than 5 %.
    let analysis = with(one_rate(), |point| {
        point.end.as_mut().unwrap().unfinished = Some(histogram(2 * SECOND_NS, 3_000));
    });
    let point = &analysis.curves[0].points[0];
    assert!(point.p99_at_least && point.p999_at_least);
    assert!((point.response.p99.median.unwrap() / 2e9 - 1.0).abs() < 0.001);
    assert!((point.response.p95.median.unwrap() / 200_000.0 - 1.0).abs() < 0.001);
    assert!(warns(&analysis, WarningId::CensoredTail));

    // 300 are 0.25 %: p99 stands, p99.9 does not.
    let analysis = with(one_rate(), |point| {
        point.end.as_mut().unwrap().unfinished = Some(histogram(2 * SECOND_NS, 300));
    });
    let point = &analysis.curves[0].points[0];
    assert!(!point.p99_at_least && point.p999_at_least);
}

/// Lags of 120,000 operations that take this share of the sessions' time together.
fn lag_of(share: f64, sessions: u32, seconds: u64) -> plimsoll_record::Histogram {
    let mean_ns = share * f64::from(sessions) * (seconds * SECOND_NS) as f64 / 120_000.0;
    histogram(mean_ns as u64, 120_000)
}

/// A point whose generator was late by this share of the sessions' time, and which left this many operations undone.
fn late_by(lab: Laboratory, share: f64, more_due: u64) -> Analysis {
    with(lab, |point| {
        let lag = lag_of(share, point.label.load.sessions(), 12);
        let end = point.end.as_mut().unwrap();
        (end.generator_lag, end.lag_is_apart) = (Some(lag), true);
        end.due = end.due.map(|due| due * (4 + more_due) / 4);
    })
}

/// What was due was done, and response times are without the lag: nothing is left out, however short the responses are against the lag.
#[test]
fn a_lag_that_leaves_enough_sessions_is_no_matter() {
    let analysis = late_by(one_rate_of(&["one", "two"]), 0.19, 0);
    assert_eq!(valid_runs(&analysis), 6);
    assert!(!warns(&analysis, WarningId::GeneratorLate));
    let point = &analysis.curves[0].points[0];
    assert!(point.response.p50.median.is_some() && point.response.p99.median.is_some());
    let response = Metric::Response { percentile: 99.0 };
    let mut compared = analysis.comparisons.iter();
    assert!(compared.any(|one| one.metric == response && !one.pairs.is_empty()));
}

#[test]
fn a_lag_that_takes_the_sessions_is_told() {
    let analysis = late_by(one_rate(), 0.21, 0);
    assert_eq!(valid_runs(&analysis), 6);
    assert!(warns(&analysis, WarningId::GeneratorLate));
    assert_eq!(state(&analysis, "generator"), ValidityState::Caution);
    let point = &analysis.curves[0].points[0];
    assert!(point.response.p50.median.is_some(), "no percentile is left out");
    // Where it was the generator that did not achieve the rate, or where it was hardly ever in time, nothing stands.
    for (share, more_due) in [(0.21, 1), (0.51, 0)] {
        let analysis = late_by(one_rate(), share, more_due);
        assert_eq!(valid_runs(&analysis), 0, "{share}");
        assert!(warns(&analysis, WarningId::GeneratorLimited));
    }
    // A rate that was not achieved by a generator in time is the arm's.
    let analysis = late_by(one_rate(), 0.01, 1);
    assert!(!warns(&analysis, WarningId::GeneratorLimited));
    assert!(warns(&analysis, WarningId::RateNotAchieved));
}

/// 12 s: p99.9 sees 12 ms, p99 sees 120 ms.
#[test]
fn a_generator_that_stood_still_is_told() {
    let stalled = |ns| {
        with(one_rate(), |point| {
            let end = point.end.as_mut().unwrap();
            let mut lag = histogram(5_000, 1_000);
            lag.merge(&histogram(ns, 1));
            (end.generator_lag, end.lag_is_apart) = (Some(lag), true);
        })
    };
    let analysis = stalled(11_000_000);
    assert!(!warns(&analysis, WarningId::GeneratorLate));
    let analysis = stalled(13_000_000);
    assert!(warns(&analysis, WarningId::GeneratorLate));
    assert_eq!(valid_runs(&analysis), 6);
    let analysis = stalled(600_000_000);
    assert!(warns(&analysis, WarningId::GeneratorLimited));
    assert_eq!(valid_runs(&analysis), 0);
}

/// An embedded engine that fills the processors makes its own client late. A server does not share them.
#[test]
fn a_generator_that_the_arm_made_late_is_no_limit() {
    let late = |pin: Vec<u32>| {
        let mut lab = one_rate();
        lab.plan.arms[0].rig.limits.pin = pin;
        for point in lab.points() {
            for slice in &mut point.slices {
                slice.worker.cpu_user_ns = slice.length_ns * 95 / 100;
            }
        }
        late_by(lab, 0.21, 1)
    };
    let analysis = late(vec![0]);
    assert!(warns(&analysis, WarningId::GeneratorLate));
    assert!(!warns(&analysis, WarningId::GeneratorLimited));
    // With room on other processors only the generator is to blame.
    let analysis = late(vec![0, 1]);
    assert!(warns(&analysis, WarningId::GeneratorLimited));
}

/// Response times of early records contain the lag: they are shown with a remark.
#[test]
fn a_record_whose_response_times_contain_the_lag_says_so() {
    for (lag_ns, late) in [(9_000, false), (11_000, true)] {
        let analysis = with(one_rate(), |point| {
            point.end.as_mut().unwrap().generator_lag = Some(histogram(lag_ns, 100));
        });
        // 5 % of the median service of 200 µs is 10 µs.
        assert_eq!(warns(&analysis, WarningId::GeneratorLate), late, "{lag_ns}");
        assert_eq!(valid_runs(&analysis), 6);
        assert!(analysis.curves[0].points[0].response.p50.median.is_some());
    }
}

/// One operation fills most of the window, so that the owner of the remaining time is unknown: that is no pass.
#[test]
fn a_generator_that_took_most_of_the_time_is_never_a_note() {
    let analysis = one_point(|shown| {
        shown.throughput = 2.0;
        shown.response_ns = 10e9;
        shown.busy = 0.173;
    })
    .analyse();
    assert_eq!(state(&analysis, "generator"), ValidityState::Caution);
    let mut warnings = analysis.warnings.iter();
    let warning = warnings.find(|one| one.id == WarningId::GeneratorLimited).unwrap();
    assert_eq!(warning.severity(), Severity::Caution);
    assert!(
        warning.message.starts_with("the sessions spent 83 % of their time outside the engine"),
        "{}",
        warning.message
    );
}

#[test]
fn seconds_of_silence_are_marked_and_three_are_a_caution() {
    let silent = |from: usize, to: usize| {
        let mut lab = one_point(|shown| shown.seconds = 60);
        for point in lab.points() {
            for slice in &mut point.slices[from..to] {
                slice.completed.ok = 0;
                slice.operations.clear();
            }
        }
        lab.analyse()
    };
    let one = silent(41, 42);
    assert_eq!(one.series[0].stalls, [(41.0, 42.0)]);
    assert!(!warns(&one, WarningId::Stall));
    let three = silent(41, 44);
    assert_eq!(three.series[0].stalls, [(41.0, 44.0)]);
    assert!(warns(&three, WarningId::Stall));
}

/// A stop of 3 s begins and ends within a second, so that only two whole seconds are silent. What was under way shows how long it was.
#[test]
fn a_stop_of_three_seconds_is_a_caution_wherever_it_begins() {
    let stopped = |service_ns: u64| {
        let mut lab = one_point(|shown| shown.seconds = 60);
        for point in lab.points() {
            for slice in &mut point.slices[41..43] {
                slice.completed.ok = 0;
                slice.operations.clear();
            }
            let service = &mut point.slices[43].operations[0].latencies.service;
            service.merge(&histogram(service_ns, 1));
        }
        lab.analyse()
    };
    let short = stopped(2_500_000_000);
    assert_eq!(short.series[0].stalls, [(41.0, 43.0)]);
    assert!(!warns(&short, WarningId::Stall));
    let long = stopped(3_050_000_000);
    assert_eq!(long.series[0].stalls, [(41.0, 43.0)]);
    let results = &point(&long, "arm", "8 threads").results;
    let mut warnings = results[0].warnings.iter();
    let warning = warnings.find(|one| one.id == WarningId::Stall).unwrap();
    assert!(
        warning.message.starts_with(
            "nothing completed from 41 s to 43 s, and an operation that was under way took 3.0"
        ),
        "{}",
        warning.message
    );
}

#[test]
fn a_stall_is_marked_and_kept() {
    let mut lab = one_point(|shown| shown.seconds = 60);
    for point in lab.points() {
        for slice in &mut point.slices[41..53] {
            slice.completed.ok = 10_000;
        }
        // The law is not what is tested here.
        point.end = point.end.take().map(|end| plimsoll_record::PointEnd { busy_ns: 0, ..end });
    }
    let analysis = lab.analyse();
    assert!(warns(&analysis, WarningId::Stall));
    assert_eq!(analysis.series[0].stalls, [(41.0, 53.0)]);
    // 48 s at 100,000 and 12 s at 10,000.
    assert!((point(&analysis, "arm", "8 threads").results[0].throughput - 82_000.0).abs() < 1e-6);
}

#[test]
fn stolen_time_and_a_jumping_clock_are_cautions() {
    let analysis = with(one_point(|_| ()), |point| {
        let end = point.end.as_mut().unwrap();
        // 2 processors for 1 s of warm-up and 12 s of measuring have 26 s; 2 % are 0.52 s.
        end.stolen_ns = 520_000_000;
        end.clock_jump_ns = -3_600_000_000_000;
    });
    assert_eq!(valid_runs(&analysis), 6);
    assert!(warns(&analysis, WarningId::StolenCpu) && warns(&analysis, WarningId::ClockJumped));
    assert_eq!(state(&analysis, "machine"), ValidityState::Caution);
    assert!(analysis.warnings.iter().any(|warning| {
        warning.message.starts_with("2.0 % of the processors' time was stolen")
    }));
}

#[test]
fn a_tick_of_stolen_time_in_a_short_point_says_nothing() {
    let analysis = with(one_point(|_| ()), |point| {
        point.warm_up_ns = 0;
        let end = point.end.as_mut().unwrap();
        // A tick of 10 ms on each of the 2 processors, in a point of 1 ms.
        end.measured_ns = 1_000_000;
        end.stolen_ns = 20_000_000;
    });
    assert!(!warns(&analysis, WarningId::StolenCpu));
}

#[test]
fn a_point_that_never_settles_says_so() {
    let lab = Laboratory::closed(&["arm"], &["c"], &[8], 6)
        .measure(|case| Shown { seconds: 40, ..Shown::closed(case, 1e5) });
    let analysis = with(lab, |point| {
        for slice in &mut point.slices[1..] {
            let seconds = u64::from(slice.index);
            slice.completed.ok = 50_000 + 2_500 * seconds;
        }
        point.end.as_mut().unwrap().busy_ns = 0;
    });
    assert_eq!(analysis.curves[0].points[0].results[0].steadiness, Steadiness::NotSteady);
    assert_eq!(state(&analysis, "steadiness"), ValidityState::Caution);
}

#[test]
fn warm_up_beyond_the_asked_one_is_cut() {
    let analysis = with(one_point(|shown| shown.seconds = 40), |point| {
        for slice in &mut point.slices[1..=10] {
            *slice = self::slice(
                slice.index,
                false,
                point.label.load,
                &Shown {
                    throughput: 5e4,
                    response_ns: 160_000.0,
                    errors: 0,
                    seconds: 0,
                    busy: 1.0,
                },
            );
        }
    });
    let result = &analysis.curves[0].points[0].results[0];
    assert_eq!(result.steadiness, Steadiness::Steady { cut_seconds: 10.0 });
    assert_eq!((result.throughput, result.seconds), (1e5, 30.0));
    assert!(result.valid, "{:?}", result.warnings);
    assert!(
        (analysis.curves[0].points[0].response.mean.median.unwrap() / 80_000.0 - 1.0).abs() < 0.001
    );
    assert_eq!((analysis.series[0].warm_up_seconds, analysis.series[0].cut_seconds), (1.0, 10.0));
}

#[test]
fn few_operations_have_no_bound_on_p99() {
    // 12 s of 30 op/s are 360, and 368 are needed.
    let analysis = one_point(|shown| {
        shown.throughput = 30.0;
        shown.response_ns = 8.0 / 30.0 * 1e9;
    })
    .analyse();
    assert!(warns(&analysis, WarningId::FewOperations));
    assert_eq!(valid_runs(&analysis), 6);
}

#[test]
fn a_point_stopped_before_its_time_is_not_valid() {
    let analysis = with(one_point(|_| ()), |point| point.end.as_mut().unwrap().cut_short = true);
    assert_eq!(valid_runs(&analysis), 0);
    let analysis = with(one_point(|_| ()), |point| point.end = None);
    assert_eq!(valid_runs(&analysis), 0);
    assert!(warns(&analysis, WarningId::RunInterrupted));
}

#[test]
fn warnings_of_one_cause_are_one_line_and_the_gravest_comes_first() {
    let lab = Laboratory::closed(&["arm"], &["c", "a"], &[1, 2, 4], 6).measure(|case| {
        let mut shown = Shown::closed(case, 1e5);
        shown.seconds = 3;
        shown.errors = u64::from(case.mix == "a");
        shown
    });
    let warnings = lab.analyse().warnings;
    let lines: Vec<String> = warnings
        .iter()
        .map(|one| format!("{} {}: {}", one.id.id(), one.subject, one.message))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
W-ERRORS arm, a at 1 thread, a at 2 threads, a at 4 threads: 3 of 300003 operations failed (block 1; and in 17 other points)
W-STEADINESS-UNKNOWN arm, c at 1 thread, c at 2 threads, c at 4 threads and 3 others: 3 slices, 10 are needed (block 1; and in 35 other points)
");
}

/// Two processors over 13 s: the time of other programs that is a share of theirs.
fn with_foreign(share: f64, seconds: u64) -> Analysis {
    let elapsed_ns = seconds * SECOND_NS;
    with(one_point(|_| ()), move |point| {
        point.end.as_mut().unwrap().foreign = Some(Box::new(ForeignCpu {
            cpu_ns: (share * 2.0 * elapsed_ns as f64) as u64,
            elapsed_ns,
            programs: vec![ForeignProgram {
                name: "cc1plus".into(),
                cpu_ns: (share * 2.0 * elapsed_ns as f64) as u64,
            }],
        }));
    })
}

#[test]
fn what_other_programs_use_is_a_note_a_caution_or_the_end_of_it() {
    let weight = |analysis: &Analysis| {
        let mut all = analysis.warnings.iter();
        let found = all.find(|warning| warning.id == WarningId::ForeignCpu);
        found.map(Warning::severity)
    };
    for (share, expected) in [
        (0.0, None),
        (0.019, None),
        (0.021, Some(Severity::Note)),
        (0.049, Some(Severity::Note)),
        (0.051, Some(Severity::Caution)),
        (0.199, Some(Severity::Caution)),
        (0.201, Some(Severity::Invalid)),
        (0.99, Some(Severity::Invalid)),
    ] {
        let analysis = with_foreign(share, 13);
        assert_eq!(weight(&analysis), expected, "{share}");
        let valid = if expected == Some(Severity::Invalid) { 0 } else { 6 };
        assert_eq!(valid_runs(&analysis), valid, "{share}");
    }
    let busy = with_foreign(0.5, 13);
    assert_eq!(state(&busy, "machine"), ValidityState::Bad);
    let warning = busy.warnings.iter().find(|one| one.id == WarningId::ForeignCpu).unwrap();
    assert!(
        warning
            .message
            .starts_with("other programs used 50.0 % of the machine: cc1plus (1.00) processors"),
        "{}",
        warning.message
    );
}

#[test]
fn points_of_moments_are_refused_for_what_others_did_in_all_of_them() {
    let analysis = with_foreign(0.5, 4);
    assert_eq!(valid_runs(&analysis), 0);
    assert_eq!(state(&analysis, "machine"), ValidityState::Bad);
    // A program that runs for a second takes a large share of what lasts no longer than some.
    let analysis = with(one_point(|_| ()), |point| {
        point.end.as_mut().unwrap().foreign = Some(Box::new(ForeignCpu {
            cpu_ns: 800_000_000,
            elapsed_ns: 800_000_000,
            programs: Vec::new(),
        }));
    });
    assert!(warns(&analysis, WarningId::ForeignCpu));
    assert_eq!(valid_runs(&analysis), 6);
    assert_eq!(state(&analysis, "machine"), ValidityState::Caution);
    // Two steps of the kernel's clock on each processor say nothing.
    let steps = with(one_point(|_| ()), |point| {
        point.end.as_mut().unwrap().foreign = Some(Box::new(ForeignCpu {
            cpu_ns: 40_000_000,
            elapsed_ns: 200_000_000,
            programs: Vec::new(),
        }));
    });
    assert!(!warns(&steps, WarningId::ForeignCpu));
}

#[test]
fn writes_without_acknowledgment_are_labelled() {
    let measured = |write_concern: &str, operation: Operation| {
        let mut lab = one_point(|_| ());
        for run in &mut lab.runs {
            let settings = &mut run.engine.as_mut().unwrap().settings;
            settings.insert("write_concern".into(), write_concern.into());
        }
        for point in lab.points() {
            for slice in &mut point.slices {
                slice.operations[0].operation = operation;
            }
        }
        warns(&lab.analyse(), WarningId::Unacknowledged)
    };
    assert!(measured("0", Operation::Update));
    assert!(!measured("0", Operation::Read));
    assert!(!measured("1", Operation::Update));
}

/// A laboratory of two arms, in whose runs of these blocks other programs took half of the machine.
fn crowded_in(blocks: u32, crowded: &[u32]) -> Laboratory {
    let mut lab = Laboratory::closed(&["a", "b"], &["c"], &[4], blocks)
        .measure(|case| Shown::closed(case, 50_000.0 * weather(case.block)));
    let foreign =
        ForeignCpu { cpu_ns: 13 * SECOND_NS, elapsed_ns: 13 * SECOND_NS, programs: Vec::new() };
    let runs = lab.runs.iter_mut().filter(|run| crowded.contains(&run.block) && run.arm == "b");
    for point in runs.flat_map(|run| &mut run.points) {
        point.end.as_mut().unwrap().foreign = Some(Box::new(foreign.clone()));
    }
    lab
}

#[test]
fn blocks_that_the_machine_spoiled_are_measured_again_as_long_as_there_are_spare_ones() {
    let lab = crowded_in(8, &[1, 4, 6]);
    let record = lab.record();
    let plan = plan_of(&record).unwrap();
    let repeated = |record: &ExperimentRecord| to_repeat(&plan, &analyse(record).unwrap(), record);
    assert_eq!(plan.measurement.spare(), 2);
    assert_eq!(repeated(&record), [1, 4]);
    // The first was repeated without success; one is left.
    let mut once_more = record.clone();
    let mut again = record.runs.iter().filter(|run| run.block == 1).cloned();
    once_more.runs.extend(again.by_ref().map(|run| RunRecord { attempt: 2, ..run }));
    assert_eq!(repeated(&once_more), [4]);
    // What an arm did wrong itself stays.
    let mut failing = record.clone();
    for point in failing.runs.iter_mut().flat_map(|run| &mut run.points) {
        let failed = part(Operation::Read, Status::Error, point.label.load, 100.0, 20_000);
        for slice in &mut point.slices {
            slice.operations.push(failed.clone());
            slice.completed.error = 20_000;
        }
    }
    assert!(repeated(&failing).is_empty());
}

#[test]
fn a_verdict_that_cannot_come_any_more_is_known_before_the_end() {
    let hopeless = |crowded: &[u32], made: u32| {
        let mut record = crowded_in(8, crowded).record();
        record.state = ExperimentState::Unfinished;
        record.runs.retain(|run| run.block < made);
        let plan = plan_of(&record).unwrap();
        crate::hopeless(&plan, &analyse(&record).unwrap())
    };
    assert_eq!(hopeless(&[], 3), None);
    // Six of eight blocks are needed, and two can be made again.
    assert_eq!(hopeless(&[0, 1, 2, 3], 4), None);
    let said = hopeless(&[0, 1, 2, 3, 4], 5).unwrap();
    assert!(said.contains("0 of 5 blocks can be compared"), "{said}");
    // All are made, and too few can be compared.
    let analysis = crowded_in(8, &[0, 1, 2]).analyse();
    assert_eq!(analysis.outcome(), Outcome::Invalid);
    assert!(
        analysis.headline[0].contains("5 of 8 blocks can be compared"),
        "{:?}",
        analysis.headline
    );
    assert_eq!(crowded_in(8, &[0, 1]).analyse().outcome(), Outcome::Good);
}

/// A point in which 60 % of the calls are `by-customer` and the rest are `pay`. `nothing` is the share of the calls of `by-customer` that find nothing.
fn of_application(lab: &mut Laboratory, nothing: f64) {
    let own = |kind, name| Operation::Own(OwnOperation::new(kind, name).unwrap());
    let find = own(StatementKind::Find, "by-customer");
    let update = own(StatementKind::Update, "pay");
    for point in lab.points() {
        let load = point.label.load;
        for slice in &mut point.slices {
            let all = slice.completed.total();
            let finds = all * 6 / 10;
            let missing = (finds as f64 * nothing).round() as u64;
            let response_ns = slice.operations[0].latencies.service.mean_ns().unwrap();
            slice.operations = vec![
                part(find, Status::Ok, load, response_ns, finds - missing),
                part(find, Status::NotFound, load, response_ns, missing),
                part(update, Status::Ok, load, response_ns, all - finds),
            ];
            slice.completed.ok = all - missing;
            slice.completed.not_found = missing;
        }
    }
}

#[test]
fn an_operation_that_finds_nothing_in_most_calls_is_not_what_was_to_be_measured() {
    for (nothing, valid) in [(0.98, 0), (0.51, 0), (0.5, 6), (0.02, 6)] {
        let mut lab = one_point(|_| ());
        of_application(&mut lab, nothing);
        let analysis = lab.analyse();
        assert_eq!(valid_runs(&analysis), valid, "{nothing}");
        assert_eq!(warns(&analysis, WarningId::ReturnsNothing), valid == 0, "{nothing}");
        assert!(warns(&analysis, WarningId::NotFound), "{nothing}");
    }
    let mut lab = one_point(|_| ());
    of_application(&mut lab, 0.98);
    let analysis = lab.analyse();
    let warning = &analysis.warnings[0];
    assert_eq!(warning.severity(), Severity::Invalid);
    // 60,000 calls in each of 12 seconds, in the first block a little less.
    assert!(
        warning.message.starts_with("by-customer found nothing in 98 % of its 7"),
        "{}",
        warning.message
    );
    assert_eq!(text(&analysis, "errors"), "an operation found nothing in 6 of 6 points");
}

#[test]
fn wrong_numbers_of_documents_are_told_by_the_name_of_their_operation() {
    let mut lab = one_point(|_| ());
    of_application(&mut lab, 0.0);
    for point in lab.points() {
        let load = point.label.load;
        point.slices[3].operations.push(part(Operation::Verify, Status::Error, load, 1.0, 1_300));
        let sample = |operation, message: &str| ErrorSample {
            operation,
            message: message.into(),
            count: 650,
        };
        point.end.as_mut().unwrap().errors = vec![
            sample(Operation::Verify, "by-customer found 3 documents, 10 were to be found"),
            sample(Operation::Verify, "pay matched 2 documents, 1 was to be matched"),
        ];
    }
    let analysis = lab.analyse();
    assert_eq!(valid_runs(&analysis), 0);
    let warning = &analysis.warnings[0];
    assert_eq!(warning.id, WarningId::Verification);
    let expected = "1,300 calls found another number of documents than expected: by-customer found 3 documents, 10 were to be found; pay matched 2 documents, 1 was to be matched";
    assert!(warning.message.starts_with(expected), "{}", warning.message);
}

#[test]
fn operations_of_an_application_have_their_own_response_times() {
    let mut lab = one_point(|_| ());
    of_application(&mut lab, 0.0);
    let analysis = lab.analyse();
    let found = &analysis.curves[0].points[0];
    assert_eq!(valid_runs(&analysis), 6);
    let names: Vec<&str> = found.by_operation.keys().map(String::as_str).collect();
    assert_eq!(names, ["by-customer", "pay"]);
    assert!(found.by_operation["pay"].p99.median.is_some());
}

#[test]
fn writes_of_an_application_that_were_not_acknowledged_are_a_caution() {
    let mut lab = one_point(|_| ());
    of_application(&mut lab, 0.0);
    for run in &mut lab.runs {
        let engine = run.engine.get_or_insert_default();
        engine.settings.insert("write_concern".into(), "0".into());
    }
    assert!(warns(&lab.analyse(), WarningId::Unacknowledged));
}
