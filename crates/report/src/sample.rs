//! A made-up experiment for tests, benches and the example page. Engine, machine and every number in it are invented.

mod deciding;
pub mod disk;
pub mod history;
pub mod hosts;
pub mod map;
mod noisy;
pub mod tails;
mod testbed;

pub use deciding::{against_itself, disturbed};
pub use noisy::noisy;

mod factors;

use plimsoll_judge::{
    Analysis, ArmSummary, BlockOrder, Comparison, Curve, CurvePoint, Difference, Estimate,
    FigureSummary, Figures, Judgement, Knee, LatencySummary, OperationSummary, PointResult,
    Progress, Scalability, SeriesSecond, Steadiness, ThresholdResult, TimeSeries, Validity,
    ValidityState, Verdict,
};
use plimsoll_plan::Metric;
use plimsoll_record::{
    Completed, EngineDescription, ExperimentRecord, ExperimentState, Histogram, Latencies,
    LoadKind, Machine, OpenLatencies, Operation, OperationSlice, PointEnd, PointLabel, PointRecord,
    Program, RECORD_VERSION, RigSpec, RunRecord, RunState, Slice, Status, Storage, Warning,
    WarningId, WorkerUse,
};
use std::collections::BTreeMap;

/// How large an experiment to make up.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Names of the arms; the first is the baseline.
    pub arms: Vec<String>,
    /// Sessions of the closed loops.
    pub sessions: Vec<u32>,
    pub mixes: Vec<String>,
    pub blocks: u32,
    pub seconds: u32,
    /// Whether the record gets slices with histograms.
    pub slices: bool,
    /// Whether the arms stand on emulated disks and were watched, so that points have figures and causes.
    pub watched: bool,
    /// Whether lines were searched, the arms have prices, and probe tasks were timed.
    pub decided: bool,
}

impl Shape {
    /// The quickstart's: two arms, two mixes, 1 to 16 threads, 6 blocks.
    pub fn quickstart() -> Self {
        Self {
            arms: vec!["deep-harbour".into(), "shallow-harbour".into()],
            sessions: vec![1, 2, 4, 8, 16],
            mixes: vec!["A".into(), "C".into()],
            blocks: 6,
            seconds: 24,
            slices: false,
            watched: false,
            decided: false,
        }
    }

    /// Two priced arms whose lines were searched.
    pub fn safe_load() -> Self {
        Self { decided: true, ..Self::quickstart() }
    }

    /// Two arms that differ in their disks.
    pub fn two_disks() -> Self {
        Self {
            arms: vec!["fast-disk".into(), "slow-disk".into()],
            mixes: vec!["A".into()],
            watched: true,
            ..Self::quickstart()
        }
    }

    /// Four working sets on three disks.
    pub fn twelve_arms() -> Self {
        let mut arms = Vec::new();
        for share in ["092", "138", "182", "230"] {
            arms.extend(["fast", "san", "spindle"].map(|disk| format!("{disk}-{share}")));
        }
        Self {
            arms,
            sessions: vec![16],
            mixes: vec!["reads".into()],
            watched: true,
            ..Self::quickstart()
        }
    }

    pub fn of(arms: usize, loads: u32, mixes: usize, blocks: u32, seconds: u32) -> Self {
        Self {
            arms: (0..arms).map(|arm| format!("arm-{arm:03}")).collect(),
            sessions: (1..=loads).collect(),
            mixes: (0..mixes).map(|mix| format!("mix-{mix}")).collect(),
            blocks,
            seconds,
            slices: false,
            watched: false,
            decided: false,
        }
    }
}

/// A small linear congruential generator: the same numbers everywhere, without a dependency.
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Evenly between -1 and 1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Makes up the record and its analysis.
pub fn experiment(shape: &Shape) -> (ExperimentRecord, Analysis) {
    let analysis = analysis(shape);
    let mut record = record(shape, &analysis);
    if shape.watched {
        testbed::furnish_record(shape, &mut record);
    }
    if shape.decided {
        deciding::furnish_record(&mut record);
    }
    (record, analysis)
}

struct Law {
    lambda: f64,
    sigma: f64,
    kappa: f64,
    tail: f64,
}

fn law(arm: usize, mix: usize) -> Law {
    let depth = [1.0, 0.71, 0.86, 0.94, 0.64, 0.9, 0.78, 0.83][arm % 8];
    let lambda = [61_000.0, 118_000.0][mix % 2] * depth;
    Law {
        lambda,
        sigma: 0.09 + 0.05 * (arm % 8) as f64 / 2.0 + if mix == 0 { 0.06 } else { 0.0 },
        kappa: if mix.is_multiple_of(2) { 0.0042 } else { 0.0011 },
        tail: if arm.is_multiple_of(2) { 4.5 } else { 11.0 },
    }
}

fn throughput(law: &Law, sessions: f64) -> f64 {
    law.lambda * sessions
        / (1.0 + law.sigma * (sessions - 1.0) + law.kappa * sessions * (sessions - 1.0))
}

/// Turns the closed loops into open ones whose rate is what was done at first and more than can be done at last.
pub fn opened(analysis: &mut Analysis) {
    let best = |curve: &Curve| {
        curve.points.iter().filter_map(|point| point.throughput.median).fold(0.0, f64::max)
    };
    let highest = analysis.curves.iter().map(best).fold(0.0, f64::max);
    for curve in &mut analysis.curves {
        let (most, count) = (best(curve), curve.points.len() as f64);
        curve.knee = None;
        curve.scalability = None;
        for (place, point) in curve.points.iter_mut().enumerate() {
            let rate = (highest * (place as f64 + 1.0) / count / 1_000.0).round() * 1_000.0;
            let done = rate.min(most);
            let factor = done / median_of(&point.throughput);
            let values = point.throughput.values.iter();
            point.throughput = estimate(
                values.map(|(block, value)| (*block, (value * factor).min(rate * 1.002))).collect(),
            );
            point.load = LoadKind::Open { rate, sessions: 16 };
            point.load_label = format!("{} op/s", rate as u64);
            let mut noise = Noise::new(place as u64);
            point.service =
                latencies(&scaled(&point.response.mean, 0.6, &mut noise, 0.01), 3.0, &mut noise);
        }
    }
}

/// The median with an interval as order statistics give it for these few blocks.
pub fn estimate(values: Vec<(u32, f64)>) -> Estimate {
    let mut sorted: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else {
        return Estimate { median: None, interval: None, values };
    };
    let median = (sorted[last / 2] + sorted[last.div_ceil(2)]) / 2.0;
    let interval = if sorted.len() < 6 { None } else { Some((sorted[0], sorted[last])) };
    Estimate { median: Some(median), interval, values }
}

/// No number where no run gave a value.
fn median_of(estimate: &Estimate) -> f64 {
    estimate.median.unwrap_or(f64::NAN)
}

fn scaled(base: &Estimate, factor: f64, noise: &mut Noise, spread: f64) -> Estimate {
    estimate(
        base.values
            .iter()
            .map(|(block, value)| (*block, value * factor * (1.0 + spread * noise.next())))
            .collect(),
    )
}

fn latencies(mean: &Estimate, tail: f64, noise: &mut Noise) -> LatencySummary {
    LatencySummary {
        mean: mean.clone(),
        p50: scaled(mean, 0.82, noise, 0.01),
        p95: scaled(mean, 2.1, noise, 0.03),
        p99: scaled(mean, tail, noise, 0.06),
        p999: scaled(mean, tail * 3.3, noise, 0.12),
    }
}

fn closed(sessions: u32) -> LoadKind {
    LoadKind::Closed { sessions, think_time_ns: 0, target: None }
}

fn label(sessions: u32) -> String {
    if sessions == 1 { "1 thread".into() } else { format!("{sessions} threads") }
}

/// Makes all runs of a point invalid.
pub fn refuse(point: &mut CurvePoint) {
    let mut refused = point.clone();
    refused.results.clear();
    point.refused = Some(Box::new(refused));
    point.valid_runs = 0;
    point.throughput = Estimate::default();
    point.response = LatencySummary::default();
    point.service = LatencySummary::default();
    for result in &mut point.results {
        result.valid = false;
    }
}

fn curve_point(shape: &Shape, arm: usize, mix: usize, at: usize, noise: &mut Noise) -> CurvePoint {
    let sessions = shape.sessions[at];
    let law = law(arm, mix);
    let mut ideal = throughput(&law, f64::from(sessions));
    if shape.watched {
        ideal = ideal.min(testbed::most(shape, arm));
    }
    let per_run: Vec<(u32, f64)> = (0..shape.blocks)
        .map(|block| (block, ideal * (1.0 + 0.045 * noise.next() + 0.008 * f64::from(block % 3))))
        .collect();
    let mean = estimate(
        per_run.iter().map(|(block, rate)| (*block, f64::from(sessions) / rate * 1e9)).collect(),
    );
    let response = latencies(&mean, law.tail, noise);
    let results = per_run
        .iter()
        .zip(&response.p99.values)
        .map(|((block, rate), (_, p99))| PointResult {
            block: *block,
            attempt: 1,
            valid: true,
            warnings: Vec::new(),
            throughput: *rate,
            p99_ns: Some(*p99),
            seconds: f64::from(shape.seconds) - 4.0,
            steadiness: Steadiness::Steady { cut_seconds: f64::from((block + at as u32) % 3) },
            generator_share: Some(0.012),
            generator_lag_p99_ns: None,
            due: None,
            achieved: None,
            left_by_others: None,
            figures: Figures::default(),
        })
        .collect();
    let throughput = estimate(per_run);
    let half = OperationSummary {
        throughput: estimate(
            throughput.values.iter().map(|(block, rate)| (*block, rate / 2.0)).collect(),
        ),
        nothing: estimate((0..shape.blocks).map(|block| (block, 0.0)).collect()),
    };
    CurvePoint {
        arm: shape.arms[arm].clone(),
        point: Some((mix * shape.sessions.len() + at) as u32),
        load_label: label(sessions),
        load: closed(sessions),
        valid_runs: shape.blocks,
        runs: shape.blocks,
        ok: (median_of(&throughput) * f64::from(shape.seconds) * f64::from(shape.blocks)) as u64,
        by_operation: BTreeMap::from([
            ("read".into(), latencies(&scaled(&mean, 0.7, noise, 0.01), law.tail, noise)),
            ("update".into(), latencies(&scaled(&mean, 1.3, noise, 0.01), law.tail, noise)),
        ]),
        operations: ["read", "update"].map(|name| (name.into(), half.clone())).into(),
        statements: Vec::new(),
        cpu_per_operation: scaled(&mean, 0.8 / f64::from(sessions).sqrt(), noise, 0.02),
        throughput,
        service: response.clone(),
        response,
        p99_at_least: false,
        p999_at_least: false,
        not_found: 0,
        errors: 0,
        meets_objective: None,
        figures: FigureSummary::default(),
        cause: None,
        results,
        refused: None,
    }
}

fn curve(shape: &Shape, arm: usize, mix: usize, noise: &mut Noise) -> Curve {
    let points: Vec<CurvePoint> =
        (0..shape.sessions.len()).map(|at| curve_point(shape, arm, mix, at, noise)).collect();
    let law = law(arm, mix);
    let best = points.iter().max_by(|a, b| {
        let power =
            |point: &CurvePoint| median_of(&point.throughput) / median_of(&point.response.mean);
        power(a).total_cmp(&power(b))
    });
    let knee = best.filter(|_| points.len() > 2).map(|point| Knee {
        load_label: point.load_label.clone(),
        load: f64::from(point.load.sessions()),
        range: (f64::from(point.load.sessions()), f64::from(point.load.sessions()) * 2.0),
        still_climbing: mix % 2 == 1,
    });
    let residuals = points
        .iter()
        .map(|point| {
            let sessions = f64::from(point.load.sessions());
            let fitted = throughput(&law, sessions);
            (sessions, fitted, median_of(&point.throughput) - fitted)
        })
        .collect();
    Curve {
        arm: shape.arms[arm].clone(),
        mix: shape.mixes[mix].clone(),
        scalability: (points.len() >= 4).then(|| Scalability {
            lambda: law.lambda,
            sigma: law.sigma,
            kappa: law.kappa,
            peak_sessions: Some(((1.0 - law.sigma) / law.kappa).sqrt()),
            residuals,
        }),
        points,
        knee,
    }
}

fn verdict(pairs: &[(u32, f64, f64)], metric: Metric, margin: f64) -> Verdict {
    let ratios = estimate(pairs.iter().map(|(block, a, b)| (*block, b / a - 1.0)).collect());
    let higher = metric == Metric::Throughput;
    let judgement = match ratios.interval {
        None => Judgement::Inconclusive,
        Some((low, high)) if low > -margin && high < margin => Judgement::Equivalent,
        Some((low, _)) if low > 0.0 => {
            if higher {
                Judgement::Better
            } else {
                Judgement::Worse
            }
        }
        Some((_, high)) if high < 0.0 => {
            if higher {
                Judgement::Worse
            } else {
                Judgement::Better
            }
        }
        Some(_) => Judgement::Inconclusive,
    };
    Verdict {
        judgement,
        reason: ratios.interval.is_none().then(|| "fewer than 6 blocks".into()),
        estimate: ratios.median,
        interval: ratios.interval,
        confidence: ratios.interval.map(|_| 0.969),
        p_value: ratios.interval.map(|_| 0.031),
        p_holm: None,
        smallest_visible: Some(0.021),
        blocks: pairs.len() as u32,
        margin,
    }
}

fn comparisons(shape: &Shape, curves: &[Curve]) -> Vec<Comparison> {
    let mut all = Vec::new();
    for metric in [Metric::Throughput, Metric::Response { percentile: 99.0 }] {
        for curve in curves {
            let against = testbed::against(shape, &curve.arm);
            if curve.arm == against {
                continue;
            }
            let baseline =
                curves.iter().find(|other| other.arm == against && other.mix == curve.mix);
            let Some(baseline) = baseline else { continue };
            for (at, (a, b)) in baseline.points.iter().zip(&curve.points).enumerate() {
                let of = |point: &CurvePoint| match metric {
                    Metric::Throughput => point.throughput.values.clone(),
                    _ => point.response.p99.values.clone(),
                };
                let pairs: Vec<(u32, f64, f64)> = of(a)
                    .into_iter()
                    .zip(of(b))
                    .map(|((block, a), (_, b))| (block, a, b))
                    .collect();
                let margin = if metric == Metric::Throughput { 0.03 } else { 0.05 };
                let verdict = verdict(&pairs, metric, margin);
                let place = format!("{} at {}", curve.mix, a.load_label);
                all.push(Comparison {
                    baseline: against.to_owned(),
                    arm: curve.arm.clone(),
                    mix: curve.mix.clone(),
                    point: a.point.unwrap_or_default(),
                    load_label: a.load_label.clone(),
                    metric,
                    direction: metric.direction(),
                    primary: metric == Metric::Throughput && at + 2 == baseline.points.len().max(2),
                    pairs,
                    bounds: 0,
                    judged: Vec::new(),
                    undisturbed: None,
                    adjustment: None,
                    apart: None,
                    sentence: sentence(&place, &curve.arm, against, &verdict),
                    verdict,
                    because: None,
                    plans: None,
                    cost_difference: None,
                });
            }
        }
    }
    all.sort_by_key(|comparison| !comparison.primary);
    all
}

fn series(shape: &Shape, curves: &[Curve]) -> Vec<TimeSeries> {
    let mut all = Vec::new();
    for (index, curve) in curves.iter().enumerate() {
        for point in &curve.points {
            for (block, rate) in &point.throughput.values {
                let mut noise = Noise::new(
                    u64::from(*block) * 977
                        + index as u64 * 31
                        + u64::from(point.point.unwrap_or(0)),
                );
                let stalled = index % 2 == 1
                    && *block == 3
                    && point.load.sessions() >= 16
                    && shape.seconds > 20;
                let seconds = (0..shape.seconds)
                    .map(|second| {
                        let warming = 1.0 - 0.55 * (-f64::from(second) / 2.2).exp();
                        let stall = if stalled && (14..18).contains(&second) { 0.12 } else { 1.0 };
                        SeriesSecond {
                            at: f64::from(second),
                            length: 1.0,
                            throughput: rate * warming * stall * (1.0 + 0.035 * noise.next()),
                            p50_ns: point.response.p50.median,
                            p99_ns: point.response.p99.median.map(|ns| ns / stall),
                        }
                    })
                    .collect();
                all.push(TimeSeries {
                    arm: curve.arm.clone(),
                    mix: curve.mix.clone(),
                    point: point.point,
                    block: *block,
                    warm_up_seconds: 4.0,
                    cut_seconds: f64::from(block % 3),
                    seconds,
                    figures: Vec::new(),
                    stalls: if stalled { vec![(14.0, 18.0)] } else { Vec::new() },
                    events: Vec::new(),
                });
            }
        }
    }
    all
}

fn order(shape: &Shape) -> Vec<BlockOrder> {
    let mut noise = Noise::new(7);
    (0..shape.blocks)
        .map(|block| {
            let mut arms = shape.arms.clone();
            for last in (1..arms.len()).rev() {
                let other = ((noise.next() + 1.0) / 2.0 * (last + 1) as f64) as usize;
                arms.swap(last, other.min(last));
            }
            BlockOrder { block, arms }
        })
        .collect()
}

fn settings(arm: usize) -> BTreeMap<String, String> {
    BTreeMap::from([
        ("cache_size".into(), if arm == 0 { "512 MiB".into() } else { "64 MiB".to_string() }),
        ("checkpoint_interval".into(), "60 s".into()),
        ("compressor".into(), "none".into()),
        ("journal".into(), "true".into()),
        ("journal_sync".into(), "100 ms".into()),
        ("tide_table".into(), "spring".into()),
    ])
}

fn storage() -> Storage {
    Storage {
        directory: "/harbour/plimsoll/data".into(),
        filesystem: Some("ext4".into()),
        mount_options: Some("rw,relatime".into()),
        device: Some("/dev/imaginary0n1".into()),
        device_model: Some("Imaginary SSD 1".into()),
        rotational: Some(false),
        scheduler: Some("none".into()),
        readahead_bytes: Some(128 << 10),
        size_bytes: Some(100 << 30),
        free_bytes: Some(61 << 30),
        other: BTreeMap::new(),
    }
}

fn arm_summaries(shape: &Shape) -> Vec<ArmSummary> {
    shape
        .arms
        .iter()
        .enumerate()
        .map(|(index, name)| ArmSummary {
            control: false,
            name: name.clone(),
            about: Some(if index == 0 {
                "cache larger than the data".into()
            } else {
                "cache a quarter of the data".into()
            }),
            engine: "driftwood 0.9 (made up)".into(),
            factors: BTreeMap::from([("cache_size".into(), settings(index)["cache_size"].clone())]),
            on: None,
            settings: settings(index),
            records: 200_000,
            storage: Some(storage()),
            baseline: index == 0,
            rig: RigSpec::default(),
            made: None,
            working_set: None,
            shares: None,
            calibration: None,
        })
        .collect()
}

/// Turns the twelve arms of [`Shape::twelve_arms`] into cells of two factors, one of them an axis, with what follows from them.
pub fn twelve_cells() -> (ExperimentRecord, Analysis) {
    let (record, mut analysis) = experiment(&Shape::twelve_arms());
    analysis.factors = Some(factors::of_twelve(&analysis));
    (record, analysis)
}

/// Makes up the analysis alone.
pub fn analysis(shape: &Shape) -> Analysis {
    let mut noise = Noise::new(42);
    let mut curves = Vec::new();
    for mix in 0..shape.mixes.len() {
        for arm in 0..shape.arms.len() {
            curves.push(curve(shape, arm, mix, &mut noise));
        }
    }
    let load_phase = if shape.sessions.is_empty() {
        Vec::new()
    } else {
        (0..shape.arms.len())
            .map(|arm| {
                let mut point = curve_point(shape, arm, 0, 0, &mut noise);
                point.point = None;
                point.load_label = "4 threads".into();
                point.load = closed(4);
                point
            })
            .collect()
    };
    let comparisons = comparisons(shape, &curves);
    let mut analysis = Analysis {
        factors: None,
        id: "k3f9q".into(),
        name: "harbour-depth".into(),
        question: Some("How much throughput does a cache of a quarter of the data cost?".into()),
        headline: headline(&comparisons),
        progress: Progress {
            runs_planned: shape.blocks * shape.arms.len() as u32,
            runs_finished: shape.blocks * shape.arms.len() as u32,
            runs_failed: 0,
            blocks_planned: shape.blocks,
            blocks_complete: shape.blocks,
            order: order(shape),
            too_few_usable: None,
        },
        arms: arm_summaries(shape),
        mixes: shape.mixes.clone(),
        validity: validity(shape),
        series: series(shape, &curves),
        lines: Vec::new(),
        costs: Vec::new(),
        repeatability: Vec::new(),
        blocks_needed: Vec::new(),
        noise: Vec::new(),
        controls: Vec::new(),
        duets: Vec::new(),
        drift: None,
        events: Vec::new(),
        hosts: Vec::new(),
        application: Vec::new(),
        against_itself: None,
        gate: None,
        curves,
        load_phase,
        comparisons,
        differences: vec![
            Difference {
                what: "cache_size".into(),
                values: shape
                    .arms
                    .iter()
                    .enumerate()
                    .map(|(index, arm)| (arm.clone(), settings(index)["cache_size"].clone()))
                    .collect(),
                declared: true,
            },
            Difference {
                what: "free space at the start".into(),
                values: shape
                    .arms
                    .iter()
                    .enumerate()
                    .map(|(index, arm)| (arm.clone(), format!("{} GiB", 61 - index % 2)))
                    .collect(),
                declared: false,
            },
        ],
        pairs: Vec::new(),
        thresholds: vec![
            ThresholdResult {
                text: "throughput >= 50k".into(),
                subject: "A, 8 threads".into(),
                measured: Some(183_000.0),
                passed: true,
                why: None,
            },
            ThresholdResult {
                text: "response.p99 <= 200us".into(),
                subject: "A, 16 threads, shallow-harbour".into(),
                measured: Some(1_510_000.0),
                passed: false,
                why: None,
            },
        ],
        warnings: vec![
            Warning::new(
                WarningId::Stall,
                "shallow-harbour, A, 16 threads, block 4",
                "4 s below half of the mean throughput, from second 14 to 18",
            ),
            Warning::new(
                WarningId::OtherDifference,
                "",
                "free space at the start: 61 GiB and 60 GiB",
            ),
            Warning::new(WarningId::Machine, "", "the governor is powersave"),
            Warning::new(WarningId::Machine, "", "transparent huge pages are set to always"),
        ],
    };
    if shape.watched {
        testbed::furnish_analysis(shape, &mut analysis);
    }
    if shape.decided {
        deciding::furnish_analysis(shape, &mut analysis);
    }
    analysis
}

fn headline(comparisons: &[Comparison]) -> Vec<String> {
    let mut sentences = Vec::new();
    for comparison in comparisons.iter().filter(|comparison| comparison.primary).take(2) {
        sentences.push(comparison.sentence.clone());
    }
    sentences.push("All numbers here are made up.".into());
    sentences
}

fn sentence(place: &str, arm: &str, baseline: &str, verdict: &Verdict) -> String {
    let side = |share: f64| {
        format!("{:.1} % {}", share.abs() * 100.0, if share < 0.0 { "lower" } else { "higher" })
    };
    match (verdict.estimate, verdict.interval) {
        (Some(estimate), Some((low, high))) => format!(
            "Throughput of {arm} is {} than that of {baseline} under workload {place} (96.9 % interval {} to {}, {} blocks).",
            side(estimate),
            side(low),
            side(high),
            verdict.blocks
        ),
        _ => format!(
            "Throughput of {arm} and {baseline} cannot be compared under workload {place}: fewer than 6 blocks."
        ),
    }
}

fn validity(shape: &Shape) -> Vec<Validity> {
    let entry =
        |name: &str, state, text: &str| Validity { name: name.into(), state, text: text.into() };
    vec![
        entry("blocks", ValidityState::Good, &format!("{0} of {0} complete", shape.blocks)),
        entry("errors", ValidityState::Good, "none"),
        entry(
            "Little's law",
            ValidityState::Good,
            "sessions = throughput × time within 5 % in 120 of 120 points",
        ),
        entry(
            "generator",
            ValidityState::Good,
            "overhead up to 1.2 % of session time (limit 20 %)",
        ),
        entry(
            "steadiness",
            ValidityState::Caution,
            "settled in 120 of 120 points, up to 2 s more warm-up was cut, stalls in 1",
        ),
        entry("records", ValidityState::Good, "record count correct after 12 of 12 loads"),
        entry(
            "machine",
            ValidityState::Note,
            "the governor is powersave; transparent huge pages are set to always",
        ),
        entry("sameness", ValidityState::Caution, "1 difference besides the declared one"),
    ]
}

fn record(shape: &Shape, analysis: &Analysis) -> ExperimentRecord {
    ExperimentRecord {
        plimsoll_record: RECORD_VERSION,
        id: analysis.id.clone(),
        name: analysis.name.clone(),
        question: analysis.question.clone(),
        state: ExperimentState::Finished,
        file_text: "plimsoll: 1\nname: harbour-depth\nquestion: How much throughput does a cache of a quarter of the data cost?\n\nworkload:\n  presets: [a, c]\n  records: 200k\n\narms:\n  deep-harbour: {cache_size: 512MiB}   # larger than the data\n  shallow-harbour: {cache_size: 64MiB}\n\nload:\n  closed: {threads: [1, 2, 4, 8, 16]}\n\nmeasurement: {warm-up: 4s, duration: 20s, blocks: 6}\n".into(),
        file_hash: "5d1c0ffee5d1c0ffee5d1c0ffee5d1c0ffee5d1c0ffee5d1c0ffee5d1c0ffee5".into(),
        plan_hash: "b0a7b0a7b0a7b0a7b0a7b0a7b0a7b0a7b0a7b0a7b0a7b0a7b0a7b0a7b0a7b0a7".into(),
        plan: serde_json::json!({"version": 1}),
        seed: 1_871,
        program: Program { version: "0.1.0".into(), commit: "0000000-made-up".into() },
        machine: Machine {
            cpu_model: Some("Imaginary CPU 9000".into()),
            cores: 16,
            memory_bytes: 64 << 30,
            swap_bytes: 0,
            kernel: Some("6.1.0-imaginary".into()),
            distribution: Some("Harbour Linux 7".into()),
            virtualisation: None,
            governor: Some("powersave".into()),
            boost: Some(true),
            transparent_huge_pages: Some("always".into()),
            layout_is_random: Some(true),
            clock_source: Some("tsc".into()),
            program_clock: Some("tsc".into()),
            memory_limit_bytes: None,
            cpu_limit: None,
            foreign: None,
        },
        command: "plimsoll run studies/harbour-depth.yaml --seed 1871".into(),
        started_at: "2026-03-01T09:00:00Z".into(),
        ended_at: Some("2026-03-01T09:51:42Z".into()),
        calibrations: Vec::new(),
        runs: runs(shape, analysis),
    }
}

fn runs(shape: &Shape, analysis: &Analysis) -> Vec<RunRecord> {
    let mut all = Vec::new();
    for block in &analysis.progress.order {
        for (position, arm) in block.arms.iter().enumerate() {
            let index = shape.arms.iter().position(|name| name == arm).unwrap_or(0);
            let minute = (block.block * 8 + position as u32 * 4) % 60;
            let started_at = format!("2026-03-01T09:{minute:02}:00.5Z");
            all.push(RunRecord {
                block: block.block,
                arm: arm.clone(),
                position: position as u32,
                attempt: 1,
                state: RunState::Finished,
                seed: 1_000 + u64::from(block.block),
                started_at: started_at.clone(),
                ended_at: Some(format!("2026-03-01T09:{minute:02}:59Z")),
                engine: Some(EngineDescription {
                    name: "driftwood".into(),
                    version: "0.9".into(),
                    settings: settings(index),
                    notes: BTreeMap::from([("allocator".into(), "imaginary".into())]),
                }),
                storage: Some(storage()),
                records_loaded: Some(200_000),
                points: if shape.slices {
                    points(shape, analysis, arm, block.block, minute)
                } else {
                    Vec::new()
                },
                ..RunRecord::default()
            });
        }
    }
    all
}

fn points(
    shape: &Shape,
    analysis: &Analysis,
    arm: &str,
    block: u32,
    minute: u32,
) -> Vec<PointRecord> {
    let mut all = Vec::new();
    for curve in analysis.curves.iter().filter(|curve| curve.arm == arm) {
        for point in &curve.points {
            let second = all.len() as u32 * 5 % 60;
            all.push(PointRecord {
                label: PointLabel {
                    point: point.point,
                    mix: curve.mix.clone(),
                    load_label: point.load_label.clone(),
                    load: point.load,
                    trial: None,
                },
                warm_up_ns: 4_000_000_000,
                started_at: format!("2026-03-01T09:{minute:02}:{second:02}.750Z"),
                slices: (0..shape.seconds).map(|index| slice(index, block, point.load)).collect(),
                end: Some(PointEnd { measured_ns: 20_000_000_000, ..PointEnd::default() }),
            });
        }
    }
    all
}

/// One second with reads that went well and a few updates that failed; second 2 has nothing in it.
pub fn slice(index: u32, block: u32, load: LoadKind) -> Slice {
    let mut slice = Slice {
        index,
        start_ns: u64::from(index) * 1_000_000_000,
        length_ns: 1_000_000_000,
        warm_up: index < 4,
        worker: WorkerUse {
            cpu_user_ns: 700_000_000,
            cpu_system_ns: 50_000_000,
            context_switches: 12,
            resident_bytes: 90 << 20,
        },
        ..Slice::default()
    };
    if index == 2 {
        return slice;
    }
    let mut noise = Noise::new(u64::from(index) * 31 + u64::from(block));
    for (operation, status, count) in
        [(Operation::Read, Status::Ok, 200), (Operation::Update, Status::Error, 3)]
    {
        let mut service = Histogram::new();
        for _ in 0..count {
            service.record((40_000.0 * (1.2 + noise.next())) as u64);
        }
        let open = matches!(load, LoadKind::Open { .. }).then(|| {
            let (mut response, mut wait) = (Histogram::new(), Histogram::new());
            response.record_n(90_000, count);
            wait.record_n(50_000, count);
            Box::new(OpenLatencies { response, wait })
        });
        slice.operations.push(OperationSlice {
            operation,
            status,
            latencies: Latencies { service, open },
        });
    }
    slice.completed = Completed { ok: 200, not_found: 0, error: 3 };
    slice
}
