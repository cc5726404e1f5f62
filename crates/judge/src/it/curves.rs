//! Points over blocks and curves over the load.

use crate::it::laboratory::{Laboratory, Shown, part, point, point_record};
use plimsoll_plan::Objective;
use plimsoll_record::{LoadKind, Operation, PointLabel, Status};

#[test]
fn the_knee_has_a_range_over_the_blocks() {
    // Power X²/N at 1, 2, 4 and 8 sessions: in even blocks 1, 2, 4 and 2.1 (knee at 4), in odd ones 1, 2, 1.1 and 0.6 (knee at 2).
    let even = [1e5, 2e5, 4e5, 4.1e5];
    let odd = [1e5, 2e5, 2.1e5, 2.2e5];
    let lab = Laboratory::closed(&["arm"], &["c"], &[1, 2, 4, 8], 6).measure(|case| {
        let rates = if case.block % 2 == 0 { even } else { odd };
        Shown::closed(case, rates[case.load.sessions().ilog2() as usize])
    });
    let analysis = lab.analyse();
    let knee = analysis.curves[0].knee.as_ref().unwrap();
    assert_eq!((knee.load, knee.range), (2.0, (2.0, 4.0)));
    assert_eq!(knee.load_label, "2 threads");
}

#[test]
fn a_curve_of_two_points_has_no_knee() {
    let lab =
        Laboratory::closed(&["arm"], &["c"], &[1, 2], 6).measure(|case| Shown::closed(case, 1e5));
    assert_eq!(lab.analyse().curves[0].knee, None);
}

#[test]
fn the_scalability_law_is_recovered() {
    let law = |n: f64| 1e5 * n / (1.0 + 0.05 * (n - 1.0) + 0.002 * n * (n - 1.0));
    let lab = Laboratory::closed(&["arm"], &["c"], &[1, 2, 4, 8, 16], 6)
        .measure(|case| Shown::closed(case, law(case.sessions())));
    let analysis = lab.analyse();
    let fit = analysis.curves[0].scalability.as_ref().unwrap();
    assert!((fit.lambda / 1e5 - 1.0).abs() < 1e-4, "{fit:?}");
    assert!((fit.sigma - 0.05).abs() < 1e-4 && (fit.kappa - 0.002).abs() < 1e-5, "{fit:?}");
    // √((1 - 0.05)/0.002) = 21.8, within 1.5 × 16.
    assert!((fit.peak_sessions.unwrap() - 21.79).abs() < 0.05);
    assert_eq!(fit.residuals.len(), 5);
}

#[test]
fn three_session_counts_have_no_fit() {
    let lab = Laboratory::closed(&["arm"], &["c"], &[1, 2, 4], 6)
        .measure(|case| Shown::closed(case, 1e5 * case.sessions()));
    assert_eq!(lab.analyse().curves[0].scalability, None);
}

#[test]
fn points_stand_in_the_order_of_the_load() {
    let lab = Laboratory::closed(&["arm"], &["c"], &[8, 1, 4], 1)
        .measure(|case| Shown::closed(case, 1e5));
    let analysis = lab.analyse();
    let labels: Vec<&str> =
        analysis.curves[0].points.iter().map(|point| point.load_label.as_str()).collect();
    assert_eq!(labels, ["1 thread", "4 threads", "8 threads"]);
    assert_eq!(analysis.curves[0].points[0].point, Some(1));
}

#[test]
fn an_estimate_is_the_median_of_the_valid_runs() {
    let mut lab = Laboratory::closed(&["arm"], &["c"], &[4], 7)
        .measure(|case| Shown::closed(case, 1e5 + 1e3 * f64::from(case.block)));
    lab.runs[6].records_loaded = Some(0);
    let analysis = lab.analyse();
    let throughput = &point(&analysis, "arm", "4 threads").throughput;
    // 100, 101, ... 105 thousand are left; six values have their range as interval.
    assert_eq!(throughput.median, Some(102_500.0));
    let (lower, upper) = throughput.interval.unwrap();
    assert!((lower - 100_000.0).abs() < 1e-3 && (upper - 105_000.0).abs() < 1e-3);
    assert_eq!(throughput.values.len(), 6);
    let of_point = point(&analysis, "arm", "4 threads");
    assert_eq!((of_point.valid_runs, of_point.runs), (6, 7));
    // 1 s of CPU for each second's operations.
    assert!((of_point.cpu_per_operation.median.unwrap() - 1e9 / 102_500.0).abs() < 1.0);
}

#[test]
fn the_objective_must_hold_in_every_run() {
    let mut lab =
        Laboratory::closed(&["arm"], &["c"], &[1, 8], 6).measure(|case| Shown::closed(case, 1e5));
    // 10 µs with one session, 80 µs with eight.
    lab.plan.objective = Some(Objective {
        response: vec![(99.0, 50_000)],
        errors: 0.0,
        achieved: 0.99,
        operations: Vec::new(),
        search: None,
    });
    let analysis = lab.analyse();
    assert_eq!(point(&analysis, "arm", "1 thread").meets_objective, Some(true));
    assert_eq!(point(&analysis, "arm", "8 threads").meets_objective, Some(false));
    lab.plan.objective = None;
    assert_eq!(point(&lab.analyse(), "arm", "1 thread").meets_objective, None);
}

#[test]
fn kinds_of_operations_are_shown_apart_and_judged_together() {
    let mut lab =
        Laboratory::closed(&["arm"], &["a"], &[4], 6).measure(|case| Shown::closed(case, 1e5));
    for point in lab.points() {
        let load = point.label.load;
        for slice in &mut point.slices {
            let half = slice.completed.ok / 2;
            slice.operations = vec![
                part(Operation::Read, Status::Ok, load, 20_000.0, half),
                part(Operation::Update, Status::Ok, load, 60_000.0, half),
            ];
        }
    }
    let analysis = lab.analyse();
    let of_point = point(&analysis, "arm", "4 threads");
    assert_eq!(of_point.valid_runs, 6);
    assert!((of_point.by_operation["read"].p50.median.unwrap() / 20_000.0 - 1.0).abs() < 0.001);
    assert!((of_point.by_operation["update"].p50.median.unwrap() / 60_000.0 - 1.0).abs() < 0.001);
    assert!((of_point.response.mean.median.unwrap() / 40_000.0 - 1.0).abs() < 0.001);
    assert!((of_point.response.p99.median.unwrap() / 60_000.0 - 1.0).abs() < 0.001);
}

#[test]
fn read_modify_writes_are_units_and_their_parts_are_not() {
    // Workload f, 4 sessions: half reads of 10 µs, half read-modify-writes of 30 µs (10 to read, 20 to write). 20 µs each on average.
    let mut lab =
        Laboratory::closed(&["arm"], &["f"], &[4], 6).measure(|case| Shown::closed(case, 2e5));
    for point in lab.points() {
        let load = point.label.load;
        for slice in &mut point.slices {
            let units = slice.completed.ok;
            slice.operations = vec![
                part(Operation::Read, Status::Ok, load, 10_000.0, units),
                part(Operation::Update, Status::Ok, load, 20_000.0, units / 2),
                part(Operation::ReadModifyWrite, Status::Ok, load, 30_000.0, units / 2),
            ];
        }
    }
    let analysis = lab.analyse();
    let of_point = point(&analysis, "arm", "4 threads");
    assert_eq!(of_point.valid_runs, 6, "{:?}", analysis.warnings);
    assert!((of_point.response.mean.median.unwrap() / 20_000.0 - 1.0).abs() < 0.001);
    assert!((of_point.response.p50.median.unwrap() / 10_000.0 - 1.0).abs() < 0.001);
    assert!((of_point.response.p95.median.unwrap() / 30_000.0 - 1.0).abs() < 0.001);
    assert_eq!(of_point.throughput.median, Some(2e5));
}

#[test]
fn the_load_phase_is_one_job_of_which_nothing_is_cut() {
    let mut lab =
        Laboratory::closed(&["arm"], &["c"], &[4], 6).measure(|case| Shown::closed(case, 1e5));
    for run in &mut lab.runs {
        let load = LoadKind::Closed { sessions: 1, think_time_ns: 0, target: None };
        let label = PointLabel {
            point: None,
            mix: "load".into(),
            load_label: "1 thread".into(),
            load,
            trial: None,
        };
        let shown =
            Shown { throughput: 2e5, response_ns: 5_000.0, errors: 0, seconds: 40, busy: 1.0 };
        let mut phase = point_record(label, &shown);
        phase.slices.remove(0);
        phase.warm_up_ns = 0;
        for slice in &mut phase.slices[..10] {
            let load = LoadKind::Closed { sessions: 1, think_time_ns: 0, target: None };
            slice.completed.ok = 1e5 as u64;
            slice.operations =
                vec![part(Operation::Insert, Status::Ok, load, 10_000.0, 1e5 as u64)];
        }
        run.load = Some(phase);
    }
    let analysis = lab.analyse();
    let phase = &analysis.load_phase[0];
    assert_eq!((phase.arm.as_str(), phase.point, phase.valid_runs), ("arm", None, 6));
    // 10 s at 100,000 and 30 s at 200,000.
    assert_eq!(phase.throughput.median, Some(175_000.0));
    assert_eq!(phase.results[0].seconds, 40.0);
    assert_eq!(analysis.series.iter().filter(|series| series.point.is_none()).count(), 6);
}

#[test]
fn the_series_has_every_second() {
    let lab =
        Laboratory::closed(&["arm"], &["c"], &[4], 1).measure(|case| Shown::closed(case, 1e5));
    let analysis = lab.analyse();
    let series = &analysis.series[0];
    assert_eq!(
        (series.arm.as_str(), series.mix.as_str(), series.point, series.block),
        ("arm", "c", Some(0), 0)
    );
    assert_eq!(series.seconds.len(), 13);
    assert_eq!((series.seconds[0].throughput, series.seconds[1].throughput), (5e4, 1e5));
    assert_eq!((series.seconds[3].at, series.seconds[3].length), (3.0, 1.0));
    assert_eq!(series.warm_up_seconds, 1.0);
}
