//! Points over the blocks, and curves over the load, each with its knee and its scalability.

use crate::arm_samples::ArmSamples;
use crate::estimate::CONFIDENCE;
use crate::roles::{follows_line, is_line};
use crate::rules::cause;
use crate::sample::{Sample, load_of};
use crate::select::as_u32;
use crate::{
    Curve, CurvePoint, Estimate, FigureSummary, Figures, Knee, LatencySummary, OperationSummary,
    Scalability, StatementSummary,
};
use plimsoll_plan::{Arm, Metric, Plan, Point, PointRole};
use plimsoll_record::{LoadKind, Operation};
use plimsoll_stats::{LoadPoint, Peak, ScalabilityPoint, knee, median, still_climbs};
use plimsoll_workload::schedule::Load;
use std::collections::{BTreeMap, BTreeSet};

/// Fewest points that make a curve with a knee.
const FEWEST_POINTS: usize = 3;

/// Share of a rate by which what was due may differ from it without being mentioned.
const DUE_AS_REQUESTED: f64 = 0.001;

/// The curve of an arm and a mix.
pub(crate) fn curve_of<'a>(curves: &'a [Curve], arm: &str, mix: &str) -> Option<&'a Curve> {
    curves.iter().find(|curve| curve.arm == arm && curve.mix == mix)
}

/// One curve for each arm and mix.
pub(crate) fn curves(plan: &Plan, arms: &[ArmSamples]) -> Vec<Curve> {
    let mut curves = Vec::new();
    for (arm, samples) in plan.arms.iter().zip(arms) {
        for (mix_index, mix) in plan.mixes.iter().enumerate() {
            let mut of_mix: Vec<PointSamples<'_>> = Vec::new();
            for (point, samples) in plan.points.iter().zip(&samples.points) {
                let is_of_mix = usize::try_from(point.mix) == Ok(mix_index);
                if is_of_mix && !is_line(point) && !samples.is_empty() {
                    let shown = curve_point(plan, arm, samples);
                    of_mix.push(PointSamples { point, samples, shown });
                }
            }
            of_mix.sort_by(|left, right| {
                number(left.shown.load).total_cmp(&number(right.shown.load))
            });
            let sweep = sweep(&of_mix);
            curves.push(Curve {
                arm: arm.name.clone(),
                mix: mix.name.clone(),
                knee: knee_of(plan, &sweep),
                scalability: scalability(&sweep),
                points: of_mix.into_iter().map(|measured| measured.shown).collect(),
            });
        }
    }
    curves
}

/// One point of a curve.
struct PointSamples<'a> {
    point: &'a Point,
    samples: &'a [Sample],
    shown: CurvePoint,
}

/// The points of a curve that are one sweep: all of one kind of loop where the file asks for a sweep of it, otherwise all whose load the file gives. Loads
/// that follow from the line of the run are part of no sweep.
fn sweep<'a, 'b>(of_mix: &'b [PointSamples<'a>]) -> Vec<&'b PointSamples<'a>> {
    let given = of_mix.iter().filter(|one| !follows_line(one.point));
    let mut swept = of_mix.iter().filter(|one| one.point.role == PointRole::Sweep);
    match swept.next() {
        Some(first) => given.filter(|one| same_kind(one.shown.load, first.shown.load)).collect(),
        None => given.collect(),
    }
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

/// Joins the samples of one point, at least one.
pub(crate) fn curve_point(plan: &Plan, arm: &Arm, samples: &[Sample]) -> CurvePoint {
    let valid: Vec<&Sample> = samples.iter().filter(|sample| sample.result.valid).collect();
    let mut point = point_of(plan, arm, samples, &valid);
    if valid.is_empty() {
        let all: Vec<&Sample> = samples.iter().collect();
        let mut refused = point_of(plan, arm, samples, &all);
        refused.results.clear();
        point.refused = Some(Box::new(refused));
    }
    point
}

fn statements(used: &[&Sample]) -> Vec<StatementSummary> {
    let mut names: Vec<&str> = Vec::new();
    for times in used.iter().flat_map(|sample| &sample.extract.statements) {
        if !names.contains(&times.operation.name()) {
            names.push(times.operation.name());
        }
    }
    let summary = |name: &str| {
        let each = || {
            used.iter().filter_map(|sample| {
                let mut all = sample.extract.statements.iter();
                let times = all.find(|times| times.operation.name() == name)?;
                let is_known = times.count > 0 && sample.extract.measured_seconds > 0.0;
                is_known.then_some((sample.result.block, sample.extract.measured_seconds, times))
            })
        };
        let rates = each().map(|(block, seconds, times)| (block, times.count as f64 / seconds));
        let means =
            each().map(|(block, _, times)| (block, times.total_ns as f64 / times.count as f64));
        StatementSummary {
            name: name.to_owned(),
            count: each().fold(0, |sum, (.., times)| sum.saturating_add(times.count)),
            throughput: Estimate::over_blocks(rates),
            mean: Estimate::over_blocks(means),
        }
    };
    names.into_iter().map(summary).collect()
}

/// The figures of a point are those of the samples that are `used`.
fn point_of(plan: &Plan, arm: &Arm, samples: &[Sample], used: &[&Sample]) -> CurvePoint {
    let over = |metric: Metric| {
        let reading = |sample: &&Sample| {
            let reading = sample.extract.reading(metric)?;
            Some((sample.result.block, reading.value))
        };
        Estimate::over_blocks(used.iter().filter_map(reading))
    };
    let (mut response, mut service) = (Vec::new(), Vec::new());
    let mut operations: BTreeMap<Operation, Vec<_>> = BTreeMap::new();
    let (mut ok, mut not_found, mut errors) = (0_u64, 0_u64, 0_u64);
    for sample in used {
        let block = sample.result.block;
        let of_block = |distribution| (block, distribution);
        response.extend(sample.extract.response.as_ref().map(of_block));
        service.extend(sample.extract.service.as_ref().map(of_block));
        for (operation, one) in &sample.extract.by_operation {
            let of_operation = operations.entry(*operation).or_default();
            of_operation.push((block, &one.response));
        }
    }
    // A run that failed too often is not valid for just that: its failures count.
    for sample in samples {
        let completed = sample.extract.whole.completed;
        ok = ok.saturating_add(completed.ok);
        not_found = not_found.saturating_add(completed.not_found);
        errors = errors.saturating_add(completed.error);
    }
    let mut by_operation = BTreeMap::new();
    for (operation, distributions) in &operations {
        by_operation
            .insert(operation.name().to_owned(), LatencySummary::over_blocks(distributions));
    }
    let mut summaries = BTreeMap::new();
    for operation in operations.keys().filter(|_| operations.len() > 1) {
        let each = || {
            used.iter().filter_map(|sample| {
                let own = sample.extract.by_operation.get(operation)?;
                Some((sample, own))
            })
        };
        let throughput = each().filter_map(|(sample, _)| {
            let reading = sample.extract.reading_of(*operation, Metric::Throughput)?;
            Some((sample.result.block, reading.value))
        });
        let nothing = each().map(|(sample, own)| (sample.result.block, own.nothing()));
        let summary = OperationSummary {
            throughput: Estimate::over_blocks(throughput),
            nothing: Estimate::over_blocks(nothing),
        };
        summaries.insert(operation.name().to_owned(), summary);
    }
    let watched: Vec<&Figures> = used.iter().map(|sample| &sample.extract.figures).collect();
    let judged: Vec<bool> = samples.iter().filter_map(|sample| sample.meets_objective).collect();
    let label = &samples[0].label;
    CurvePoint {
        arm: arm.name.clone(),
        point: label.point,
        load_label: label.load_label.clone(),
        load: load_of(samples).unwrap_or(label.load),
        valid_runs: as_u32(samples.iter().filter(|sample| sample.result.valid).count()),
        runs: as_u32(samples.len()),
        throughput: over(Metric::Throughput),
        response: LatencySummary::over_blocks(&response),
        service: LatencySummary::over_blocks(&service),
        p99_at_least: used.iter().any(|sample| sample.extract.is_lower_bound(99.0)),
        p999_at_least: used.iter().any(|sample| sample.extract.is_lower_bound(99.9)),
        by_operation,
        operations: summaries,
        statements: statements(used),
        cpu_per_operation: over(Metric::CpuPerOperation),
        ok,
        not_found,
        errors,
        meets_objective: (!judged.is_empty()).then(|| judged.iter().all(|met| *met)),
        figures: FigureSummary::over_blocks(&watched),
        cause: cause(plan, arm, &samples.iter().collect::<Vec<_>>()),
        results: samples.iter().map(|sample| sample.result.clone()).collect(),
        refused: None,
    }
}

/// Knee of every block's own curve, summarised. Blocks in which a point in the midst of the curve is missing, or one is not valid, have none.
fn knee_of(plan: &Plan, sweep: &[&PointSamples<'_>]) -> Option<Knee> {
    let is_sweep = sweep.len() >= FEWEST_POINTS
        && sweep.windows(2).all(|pair| same_kind(pair[0].shown.load, pair[1].shown.load));
    if !is_sweep {
        return None;
    }
    let mut blocks = BTreeSet::new();
    for measured in sweep {
        blocks.extend(measured.samples.iter().map(|sample| sample.result.block));
    }
    let mut curves = Vec::new();
    for block in blocks {
        if let Some(curve) = curve_of_block(block, sweep) {
            curves.push(curve);
        }
    }
    let found = knee(&curves, CONFIDENCE).ok()??;
    let past_objective = sweep.last().is_some_and(|last| last.shown.meets_objective == Some(false));
    let at_knee = sweep
        .iter()
        .map(|measured| &measured.shown)
        .find(|point| number(point.load) == found.load)?;
    let still_climbing =
        !past_objective && !has_ended(plan, sweep) && still_climbs(&throughput(sweep, &curves));
    Some(Knee {
        load_label: at_knee.load_label.clone(),
        load: found.load,
        range: (found.interval.lower, found.interval.upper),
        still_climbing,
    })
}

/// Whether every run ended its sweep before the last point that it might have measured. It did so because the sweep had bent.
fn has_ended(plan: &Plan, sweep: &[&PointSamples<'_>]) -> bool {
    let Some(swept) = sweep.iter().find(|measured| measured.point.role == PointRole::Sweep) else {
        return false;
    };
    let is_of_sweep = |point: &&Point| {
        point.mix == swept.point.mix
            && point.role == PointRole::Sweep
            && matches!(point.load, Load::Closed { .. })
                == matches!(swept.point.load, Load::Closed { .. })
    };
    let Some(last) = plan.points.iter().rfind(is_of_sweep) else {
        return false;
    };
    !sweep.iter().any(|measured| std::ptr::eq(measured.point, last))
}

/// Throughput at each point of a sweep. Where blocks ended it at different points, of those that went furthest, so that all points are of the same blocks.
fn throughput(sweep: &[&PointSamples<'_>], curves: &[Vec<LoadPoint>]) -> Vec<f64> {
    let is_even = curves.windows(2).all(|pair| pair[0].len() == pair[1].len());
    let mut throughput = Vec::with_capacity(sweep.len());
    for (index, measured) in sweep.iter().enumerate() {
        let furthest = curves.iter().filter(|curve| curve.len() == sweep.len());
        let of_blocks: Vec<f64> =
            furthest.map(|curve| curve[index].throughput_per_second).collect();
        let usual = measured.shown.throughput.median.unwrap_or(f64::NAN);
        throughput.push(if is_even { usual } else { median(&of_blocks).unwrap_or(usual) });
    }
    throughput
}

/// The points that a block measured: all, or those up to where its sweep ended.
fn curve_of_block(block: u32, sweep: &[&PointSamples<'_>]) -> Option<Vec<LoadPoint>> {
    let mut curve = Vec::with_capacity(sweep.len());
    let mut has_ended = false;
    for measured in sweep {
        let mut samples = measured.samples.iter();
        let Some(sample) = samples.find(|sample| sample.result.block == block) else {
            if measured.point.role != PointRole::Sweep {
                return None;
            }
            has_ended = true;
            continue;
        };
        if has_ended {
            return None;
        }
        curve.push(LoadPoint {
            load: number(sample.label.load),
            throughput_per_second: sample.reading(Metric::Throughput)?.value,
            mean_response_ns: sample.reading(Metric::ResponseMean)?.value,
        });
    }
    (curve.len() >= FEWEST_POINTS).then_some(curve)
}

/// Whether two loads belong to one sweep: they differ in the number that is swept alone.
fn same_kind(left: LoadKind, right: LoadKind) -> bool {
    match (left, right) {
        (
            LoadKind::Closed { think_time_ns: left, target: left_target, .. },
            LoadKind::Closed { think_time_ns: right, target: right_target, .. },
        ) => left == right && left_target == right_target,
        (LoadKind::Open { .. }, LoadKind::Open { .. }) => true,
        _ => false,
    }
}

/// The universal scalability law through the medians of a closed sweep without pauses.
fn scalability(sweep: &[&PointSamples<'_>]) -> Option<Scalability> {
    let mut measured = Vec::with_capacity(sweep.len());
    for point in sweep.iter().map(|one| &one.shown) {
        let LoadKind::Closed { sessions, think_time_ns: 0, target: None } = point.load else {
            return None;
        };
        if let Some(throughput) = point.throughput.median {
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
    /// Operations due per second in an open loop, the median of the runs, where they are not what was requested: random arrivals are more or fewer.
    pub fn due(&self) -> Option<f64> {
        let LoadKind::Open { rate, .. } = self.load else {
            return None;
        };
        let due: Vec<f64> = self.results.iter().filter_map(|one| one.due).collect();
        median(&due).filter(|due| (due - rate).abs() > DUE_AS_REQUESTED * rate)
    }

    /// A metric over the valid runs; empty for a percentile that is only a lower bound, `None` for a metric that points do not keep.
    pub fn estimate(&self, metric: Metric) -> Option<Estimate> {
        let of = |latencies: &LatencySummary, percentile: f64| match percentile {
            50.0 => Some(latencies.p50.clone()),
            95.0 => Some(latencies.p95.clone()),
            99.0 if self.p99_at_least => Some(Estimate::default()),
            99.0 => Some(latencies.p99.clone()),
            99.9 if self.p999_at_least => Some(Estimate::default()),
            99.9 => Some(latencies.p999.clone()),
            _ => None,
        };
        match metric {
            Metric::Throughput => Some(self.throughput.clone()),
            Metric::ResponseMean => Some(self.response.mean.clone()),
            Metric::Response { percentile } => of(&self.response, percentile),
            Metric::Service { percentile } => of(&self.service, percentile),
            Metric::CpuPerOperation => Some(self.cpu_per_operation.clone()),
            Metric::Errors => {
                let all = self.ok + self.not_found + self.errors;
                let share = self.errors as f64 / all as f64;
                Some(Estimate::over_blocks((all > 0).then_some((0, share))))
            }
            Metric::Size => Some(self.figure(|figures| figures.data_bytes)),
            Metric::Written => {
                Some(self.figure(|figures| figures.engine_written_bytes_per_operation))
            }
            Metric::WriteAmplification => Some(self.figure(|figures| figures.write_amplification)),
            Metric::Line | Metric::Cost | Metric::Of { .. } => None,
        }
    }

    /// One of the figures over the valid runs.
    fn figure(&self, of: impl Fn(&Figures) -> Option<f64>) -> Estimate {
        let valid = self.results.iter().filter(|result| result.valid);
        Estimate::over_blocks(valid.filter_map(|result| Some((result.block, of(&result.figures)?))))
    }

    /// Units that were finished in all valid runs, however they ended.
    pub fn operations(&self) -> u64 {
        let Self { ok, not_found, errors: error, .. } = *self;
        let completed = plimsoll_record::Completed { ok, not_found, error };
        completed.total()
    }
}
