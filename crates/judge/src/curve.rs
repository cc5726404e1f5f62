//! Points over the blocks, and curves over the load, each with its knee and its scalability.

use crate::estimate::CONFIDENCE;
use crate::extract::units;
use crate::rules::cause;
use crate::sample::{ArmSamples, Sample};
use crate::select::as_u32;
use crate::{
    Curve, CurvePoint, Estimate, FigureSummary, Figures, Knee, LatencySummary, Scalability,
};
use plimsoll_experiment::{Arm, Metric, Plan};
use plimsoll_record::{LoadKind, Operation};
use plimsoll_stats::{KneeMethod, LoadPoint, Peak, ScalabilityPoint, has_bent, knee};
use std::collections::{BTreeMap, BTreeSet};

/// Fewest points that make a curve with a knee.
const FEWEST_POINTS: usize = 3;

/// One curve for each arm and mix.
pub(crate) fn curves(plan: &Plan, arms: &[ArmSamples]) -> Vec<Curve> {
    let mut curves = Vec::new();
    for (arm, samples) in plan.arms.iter().zip(arms) {
        for (mix_index, mix) in plan.mixes.iter().enumerate() {
            let mut of_mix: Vec<&[Sample]> = Vec::new();
            for (point, samples) in plan.points.iter().zip(&samples.points) {
                if usize::try_from(point.mix) == Ok(mix_index) && !samples.is_empty() {
                    of_mix.push(samples);
                }
            }
            of_mix.sort_by(|left, right| {
                number(left[0].label.load).total_cmp(&number(right[0].label.load))
            });
            let points: Vec<CurvePoint> = of_mix
                .iter()
                .map(|samples| curve_point(plan, arm, samples))
                .collect();
            curves.push(Curve {
                arm: arm.name.clone(),
                mix: mix.name.clone(),
                knee: knee_of(&points, &of_mix),
                scalability: scalability(&points),
                points,
            });
        }
    }
    curves
}

/// The load phase of every arm that has one.
pub(crate) fn load_phase(plan: &Plan, arms: &[ArmSamples]) -> Vec<CurvePoint> {
    let mut phases = Vec::new();
    for (arm, samples) in plan.arms.iter().zip(arms) {
        if !samples.load.is_empty() {
            phases.push(curve_point(plan, arm, &samples.load));
        }
    }
    phases
}

/// The number that a sweep varies: sessions of a closed loop, rate of an open one.
pub(crate) fn number(load: LoadKind) -> f64 {
    match load {
        LoadKind::Closed { sessions, .. } => f64::from(sessions),
        LoadKind::Open { rate, .. } => rate,
    }
}

/// Samples of one point, of which there is at least one.
fn curve_point(plan: &Plan, arm: &Arm, samples: &[Sample]) -> CurvePoint {
    let valid: Vec<&Sample> = samples
        .iter()
        .filter(|sample| sample.result.valid)
        .collect();
    let over = |metric: Metric| {
        let reading = |sample: &&Sample| Some((sample.result.block, sample.reading(metric)?.value));
        Estimate::over_blocks(valid.iter().filter_map(reading))
    };
    let (mut response, mut service) = (Vec::new(), Vec::new());
    let mut operations: BTreeMap<Operation, Vec<_>> = BTreeMap::new();
    let (mut ok, mut not_found, mut errors) = (0_u64, 0_u64, 0_u64);
    for sample in &valid {
        let block = sample.result.block;
        response.extend(sample.extract.response.as_ref().map(|one| (block, one)));
        service.extend(sample.extract.service.as_ref().map(|one| (block, one)));
        for (operation, one) in &sample.extract.by_operation {
            operations.entry(*operation).or_default().push((block, one));
        }
        let completed = sample.extract.whole.completed;
        ok = ok.saturating_add(completed.ok);
        not_found = not_found.saturating_add(completed.not_found);
        errors = errors.saturating_add(completed.error);
    }
    let mut by_operation = BTreeMap::new();
    for (operation, distributions) in &operations {
        by_operation.insert(
            operation.name().to_owned(),
            LatencySummary::over_blocks(distributions),
        );
    }
    let watched: Vec<&Figures> = valid.iter().map(|sample| &sample.extract.figures).collect();
    let judged: Vec<bool> = samples
        .iter()
        .filter_map(|sample| sample.meets_objective)
        .collect();
    let label = &samples[0].label;
    CurvePoint {
        arm: arm.name.clone(),
        point: label.point,
        load_label: label.load_label.clone(),
        load: label.load,
        valid_runs: as_u32(valid.len()),
        runs: as_u32(samples.len()),
        throughput: over(Metric::Throughput),
        response: LatencySummary::over_blocks(&response),
        service: LatencySummary::over_blocks(&service),
        p99_at_least: valid
            .iter()
            .any(|sample| sample.extract.is_lower_bound(99.0)),
        p999_at_least: valid
            .iter()
            .any(|sample| sample.extract.is_lower_bound(99.9)),
        by_operation,
        cpu_per_operation: over(Metric::CpuPerOperation),
        ok,
        not_found,
        errors,
        meets_objective: (!judged.is_empty()).then(|| judged.iter().all(|met| *met)),
        figures: FigureSummary::over_blocks(&watched),
        cause: cause(plan, arm, samples),
        results: samples.iter().map(|sample| sample.result.clone()).collect(),
    }
}

/// Knee of every block's own curve, summarised. Blocks in which a point of the curve is missing or not valid have none.
fn knee_of(points: &[CurvePoint], samples: &[&[Sample]]) -> Option<Knee> {
    let is_sweep = points.len() >= FEWEST_POINTS
        && points
            .windows(2)
            .all(|pair| same_kind(pair[0].load, pair[1].load));
    if !is_sweep {
        return None;
    }
    let mut blocks = BTreeSet::new();
    for of_point in samples {
        blocks.extend(of_point.iter().map(|sample| sample.result.block));
    }
    let mut curves = Vec::new();
    for block in blocks {
        if let Some(curve) = curve_of_block(block, samples) {
            curves.push(curve);
        }
    }
    let found = knee(&curves, KneeMethod::Power, CONFIDENCE).ok()??;
    let kneedle = knee(&curves, KneeMethod::Kneedle, CONFIDENCE)
        .ok()
        .flatten();
    let throughput: Vec<f64> = points.iter().map(|point| point.throughput.median).collect();
    let past_objective = points
        .last()
        .is_some_and(|last| last.meets_objective == Some(false));
    let at_knee = points
        .iter()
        .find(|point| number(point.load) == found.load)?;
    Some(Knee {
        load_label: at_knee.load_label.clone(),
        load: found.load,
        range: (found.interval.lower, found.interval.upper),
        kneedle: kneedle.as_ref().map(|second| second.load),
        kneedle_range: kneedle.map(|second| (second.interval.lower, second.interval.upper)),
        still_climbing: !has_bent(&throughput) && !past_objective,
    })
}

fn curve_of_block(block: u32, samples: &[&[Sample]]) -> Option<Vec<LoadPoint>> {
    let mut curve = Vec::with_capacity(samples.len());
    for of_point in samples {
        let sample = of_point
            .iter()
            .find(|sample| sample.result.block == block)?;
        curve.push(LoadPoint {
            load: number(sample.label.load),
            throughput_per_second: sample.reading(Metric::Throughput)?.value,
            mean_response_ns: sample.reading(Metric::ResponseMean)?.value,
        });
    }
    Some(curve)
}

/// Whether two loads belong to one sweep: they differ in the number that is swept alone.
fn same_kind(left: LoadKind, right: LoadKind) -> bool {
    match (left, right) {
        (
            LoadKind::Closed {
                think_time_ns: left,
                target: left_target,
                ..
            },
            LoadKind::Closed {
                think_time_ns: right,
                target: right_target,
                ..
            },
        ) => left == right && left_target == right_target,
        (LoadKind::Open { .. }, LoadKind::Open { .. }) => true,
        _ => false,
    }
}

/// The universal scalability law through the medians of a closed sweep without pauses.
fn scalability(points: &[CurvePoint]) -> Option<Scalability> {
    let mut measured = Vec::with_capacity(points.len());
    for point in points {
        let LoadKind::Closed {
            sessions,
            think_time_ns: 0,
            target: None,
        } = point.load
        else {
            return None;
        };
        if let Some(throughput) = point.throughput.known() {
            measured.push(ScalabilityPoint::new(f64::from(sessions), throughput));
        }
    }
    let fit = plimsoll_stats::Scalability::fit(&measured).ok()?;
    let peak_sessions = match fit.peak() {
        Peak::At { sessions, .. } => Some(sessions),
        Peak::BeyondReach | Peak::Never => None,
    };
    let mut residuals = Vec::with_capacity(fit.residuals.len());
    for one in &fit.residuals {
        residuals.push((
            one.sessions,
            one.fitted_per_second,
            one.measured_per_second - one.fitted_per_second,
        ));
    }
    Some(Scalability {
        lambda: fit.lambda,
        sigma: fit.sigma,
        kappa: fit.kappa,
        peak_sessions,
        residuals,
    })
}

impl CurvePoint {
    /// Units that were finished in all valid runs, however they ended.
    #[must_use]
    pub fn operations(&self) -> u64 {
        let Self {
            ok,
            not_found,
            errors: error,
            ..
        } = *self;
        units(plimsoll_record::Completed {
            ok,
            not_found,
            error,
        })
    }
}
