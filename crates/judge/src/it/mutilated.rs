//! No record, however damaged, makes the judge panic or makes it show something that is no number.

use crate::it::laboratory::{Laboratory, SPREAD, Shown, histogram};
use crate::it::watched::{Watched, calibrated, disk, watch};
use crate::{Analysis, Estimate, analyse, compare_records};
use plimsoll_plan::{LoadAt, Metric, Threshold};
use plimsoll_record::{DiskChoice, ExperimentRecord, LoadKind, PointRecord, RunState, figures};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Two arms, closed, with everything that a plan can ask.
static CLOSED: LazyLock<ExperimentRecord> = LazyLock::new(|| {
    let mut lab = Laboratory::closed(&["a", "b"], &["c", "a"], &[1, 4], 2);
    for arm in &mut lab.plan.arms {
        arm.rig.disk = Some(DiskChoice::Emulated { spec: disk(Some(600.0)) });
    }
    let mut lab = lab.measure(|case| Shown {
        seconds: 2,
        ..Shown::closed(case, 1e4 * SPREAD[case.block as usize].exp())
    });
    lab.plan.compare.primary = vec![Metric::Throughput, Metric::Response { percentile: 99.0 }];
    lab.plan.thresholds.push(Threshold {
        text: "response.p99 <= 1ms".into(),
        metric: Metric::Response { percentile: 99.0 },
        at_least: false,
        bound: 1e6,
        arm: None,
        mix: None,
        at: Some(LoadAt::Threads(4)),
    });
    watch(&mut lab, &Watched::default(), &[]);
    calibrated(&lab, 0.0)
});

static OPEN: LazyLock<ExperimentRecord> =
    LazyLock::new(|| {
        let mut lab =
            Laboratory::open(&["a", "b"], &["c"], &[1_000.0, 2_000.0, 4_000.0], 2).measure(|_| {
                Shown { throughput: 1_000.0, response_ns: 1e6, errors: 2, seconds: 2, busy: 0.2 }
            });
        lab.points().for_each(|point| {
            let end = point.end.as_mut().unwrap();
            end.unfinished = Some(histogram(50_000_000, 40));
            end.generator_lag = Some(histogram(300, 900));
        });
        lab.record()
    });

/// One injury. Indices are taken modulo what there is.
#[derive(Clone, Debug)]
enum Injury {
    NoEnd,
    NoSlices,
    EmptySlice,
    ZeroLength,
    HugeCounts,
    HugeEnd,
    ZeroEnd,
    WarmUpOnly,
    OtherPoint(u32),
    NoPoint,
    ZeroSessions,
    OddRate(f64),
    NoRuns,
    UnknownArm,
    SameBlock,
    LastBlock,
    Unfinished,
    Failed,
    NoPoints,
    PointsTwice,
    OneRun,
    NoPointsInPlan,
    NoMixesInPlan,
    UnknownBaseline,
    OddPercentile(f64),
    OddMargin(f64),
    MixBeyond,
    OddTelemetry(f64),
    OddLimit(f64),
    EmptyCalibration,
}

fn injury() -> impl Strategy<Value = Injury> {
    use Injury::*;
    prop_oneof![
        Just(NoEnd),
        Just(NoSlices),
        Just(EmptySlice),
        Just(ZeroLength),
        Just(HugeCounts),
        Just(HugeEnd),
        Just(ZeroEnd),
        Just(WarmUpOnly),
        (0u32..20).prop_map(OtherPoint),
        Just(NoPoint),
        Just(ZeroSessions),
        prop_oneof![Just(0.0), Just(-5.0), Just(1e300)].prop_map(OddRate),
        Just(NoRuns),
        Just(UnknownArm),
        Just(SameBlock),
        Just(LastBlock),
        Just(Unfinished),
        Just(Failed),
        Just(NoPoints),
        Just(PointsTwice),
        Just(OneRun),
        Just(NoPointsInPlan),
        Just(NoMixesInPlan),
        Just(UnknownBaseline),
        prop_oneof![Just(-1.0), Just(0.0), Just(100.0), Just(1e9)].prop_map(OddPercentile),
        prop_oneof![Just(-1.0), Just(0.0), Just(1e300)].prop_map(OddMargin),
        Just(MixBeyond),
        prop_oneof![Just(f64::NAN), Just(-1.0), Just(0.0), Just(1.0), Just(1e17), Just(f64::MAX)]
            .prop_map(OddTelemetry),
        prop_oneof![Just(-1.0), Just(0.0), Just(1e-300), Just(1e300)].prop_map(OddLimit),
        Just(EmptyCalibration),
    ]
}

fn injure_point(point: &mut PointRecord, injury: &Injury, which: usize) {
    let slices = point.slices.len().max(1);
    let slice = point.slices.get_mut(which % slices);
    match (injury, slice, &mut point.end) {
        (Injury::NoEnd, ..) => point.end = None,
        (Injury::NoSlices, ..) => point.slices.clear(),
        (Injury::EmptySlice, Some(slice), _) => slice.operations.clear(),
        (Injury::ZeroLength, Some(slice), _) => slice.length_ns = 0,
        (Injury::HugeCounts, Some(slice), _) => {
            slice.completed.ok = u64::MAX;
            slice.completed.error = u64::MAX;
            slice.worker.cpu_user_ns = u64::MAX;
            slice.start_ns = u64::MAX;
        }
        (Injury::HugeEnd, _, Some(end)) => {
            end.measured_ns = u64::MAX;
            end.busy_ns = u64::MAX;
            end.stolen_ns = u64::MAX;
            end.due = Some(u64::MAX);
            end.clock_jump_ns = i64::MIN;
        }
        (Injury::ZeroEnd, _, Some(end)) => {
            end.measured_ns = 0;
            end.due = Some(0);
        }
        (Injury::WarmUpOnly, ..) => point.slices.iter_mut().for_each(|slice| slice.warm_up = true),
        (Injury::OtherPoint(index), ..) => point.label.point = Some(*index),
        (Injury::NoPoint, ..) => point.label.point = None,
        (Injury::ZeroSessions, ..) => {
            point.label.load =
                LoadKind::Closed { sessions: 0, think_time_ns: u64::MAX, target: None }
        }
        (Injury::OddRate(rate), ..) => {
            point.label.load = LoadKind::Open { rate: *rate, sessions: 0 }
        }
        (Injury::OddTelemetry(value), Some(slice), _) => {
            for name in figures::ALL {
                slice.telemetry.insert((*name).to_owned(), *value);
            }
        }
        _ => {}
    }
}

fn injure(record: &mut ExperimentRecord, injury: &Injury, which: usize) {
    match injury {
        Injury::NoRuns => record.runs.clear(),
        Injury::NoPointsInPlan => record.plan["points"] = serde_json::json!([]),
        Injury::NoMixesInPlan => record.plan["mixes"] = serde_json::json!([]),
        Injury::UnknownBaseline => record.plan["compare"]["baseline"] = "nobody".into(),
        Injury::OddPercentile(percentile) => {
            let metric =
                serde_json::to_value(Metric::Response { percentile: *percentile }).unwrap();
            record.plan["compare"]["primary"] = serde_json::json!([metric]);
        }
        Injury::OddMargin(margin) => {
            record.plan["compare"]["margins"]["throughput"] = (*margin).into()
        }
        Injury::OddLimit(limit) => {
            record.plan["arms"][0]["rig"]["disk"]["spec"]["iops"]["joint"] = (*limit).into();
            record.plan["arms"][0]["rig"]["limits"]["cpus"] = (*limit).into();
        }
        Injury::EmptyCalibration => record.calibrations.clear(),
        Injury::MixBeyond => {
            if let Some(point) = record.plan["points"].get_mut(0) {
                point["mix"] = 77.into();
            }
        }
        _ => {}
    }
    let runs = record.runs.len().max(1);
    let Some(run) = record.runs.get_mut(which % runs) else {
        return;
    };
    match injury {
        Injury::UnknownArm => run.arm = "stranger".into(),
        Injury::SameBlock => run.block = 0,
        Injury::LastBlock => run.block = u32::MAX,
        Injury::Unfinished => run.state = RunState::Started,
        Injury::Failed => run.state = RunState::Failed { message: String::new() },
        Injury::NoPoints => run.points.clear(),
        Injury::PointsTwice => run.points.extend(run.points.clone()),
        Injury::OneRun => record.runs.truncate(1),
        _ => {
            let points = run.points.len().max(1);
            if let Some(point) = run.points.get_mut(which % points) {
                injure_point(point, injury, which);
            }
        }
    }
}

fn check_estimate(estimate: &Estimate) {
    assert!(
        estimate.median.is_none_or(|median| median.is_finite() && median >= 0.0),
        "{estimate:?}"
    );
    if let Some((lower, upper)) = estimate.interval {
        assert!(estimate.values.len() >= 6 && lower <= upper, "{estimate:?}");
    }
}

/// What must hold of every analysis.
fn check(analysis: &Analysis) {
    assert!(!analysis.headline.is_empty());
    for sentence in &analysis.headline {
        assert!(!sentence.contains("NaN") && !sentence.contains("inf "), "{sentence}");
    }
    for point in analysis.curves.iter().flat_map(|curve| &curve.points).chain(&analysis.load_phase)
    {
        assert!(point.valid_runs <= point.runs);
        let summary = &point.figures;
        for figures in [&summary.median, &summary.lowest, &summary.highest] {
            let values = figures.values();
            let is_number = |value: &f64| value.is_finite() && *value >= 0.0;
            assert!(values.iter().flatten().all(is_number), "{figures:?}");
        }
        if let Some(cause) = &point.cause {
            let text = format!("{} ", cause.sentence);
            assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
        }
        for estimate in
            [&point.throughput, &point.response.p99, &point.service.mean, &point.cpu_per_operation]
        {
            check_estimate(estimate);
            assert!(estimate.values.len() <= point.valid_runs as usize);
        }
    }
    for comparison in &analysis.comparisons {
        let verdict = &comparison.verdict;
        assert_eq!(verdict.interval.is_some(), verdict.confidence.is_some());
        assert!(comparison.pairs.len() >= 6 || verdict.interval.is_none(), "{verdict:?}");
    }
    // What is shown can be kept and read again.
    let text = serde_json::to_string(analysis).unwrap();
    serde_json::from_str::<Analysis>(&text).unwrap();
}

mod slow {
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_damage_is_survived(
            closed in any::<bool>(),
            injuries in prop::collection::vec((injury(), 0usize..100), 1..8),
        ) {
            let mut record = if closed { CLOSED.clone() } else { OPEN.clone() };
            for (injury, which) in &injuries {
                injure(&mut record, injury, *which);
            }
            if let Ok(analysis) = analyse(&record) {
                check(&analysis);
            }
            let whole = if closed { &CLOSED } else { &OPEN };
            if let Ok(comparison) = compare_records(whole, "a", &record, "b") {
                prop_assert!(!comparison.headline.is_empty());
            }
        }
    }
}

#[test]
fn what_is_not_damaged_passes_the_same_check() {
    for record in [&*CLOSED, &*OPEN] {
        check(&analyse(record).unwrap());
    }
}
