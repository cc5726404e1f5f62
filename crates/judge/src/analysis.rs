//! What a report may say.

use crate::{Cause, FigureSummary, Figures};
use plimsoll_experiment::{Direction, Metric};
use plimsoll_record::{Calibration, LoadKind, RigRecord, RigSpec, Storage, Warning};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that follows from a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Id of the experiment record.
    pub id: String,
    /// From the file.
    pub name: String,
    /// From the file.
    pub question: Option<String>,
    /// The answer in plain sentences: one to three with the intervals, one with the causes where they are known, one if runs are missing.
    pub headline: Vec<String>,
    /// How far the experiment got.
    pub progress: Progress,
    /// The arms, in the order of the file.
    pub arms: Vec<ArmSummary>,
    /// Names of the mixes, in the order of the file.
    pub mixes: Vec<String>,
    /// The strip of gates.
    pub validity: Vec<Validity>,
    /// One for each arm and mix.
    pub curves: Vec<Curve>,
    /// Load phase of each arm, with the same figures as a point.
    pub load_phase: Vec<CurvePoint>,
    /// Every comparison, primaries first.
    pub comparisons: Vec<Comparison>,
    /// What differs between arms.
    pub differences: Vec<Difference>,
    /// The same for the two arms of each comparison by themselves, in the order in which they are compared.
    pub pairs: Vec<PairDifferences>,
    /// Bounds from the file.
    pub thresholds: Vec<ThresholdResult>,
    /// Seconds of the measured points, for drawing.
    pub series: Vec<TimeSeries>,
    /// Everything noticed, gravest first.
    pub warnings: Vec<Warning>,
}

/// How far the experiment got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Runs in the plan.
    pub runs_planned: u32,
    /// Runs finished.
    pub runs_finished: u32,
    /// Runs failed (and not repeated with success).
    pub runs_failed: u32,
    /// Blocks in the plan.
    pub blocks_planned: u32,
    /// Blocks in which every arm finished.
    pub blocks_complete: u32,
    /// Order of the arms in each block that was begun.
    pub order: Vec<BlockOrder>,
}

/// Order of the arms in one block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockOrder {
    /// From 0.
    pub block: u32,
    /// Names of the arms in the order in which they ran.
    pub arms: Vec<String>,
}

/// One arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmSummary {
    /// Name.
    pub name: String,
    /// From the file.
    pub about: Option<String>,
    /// Engine and its version.
    pub engine: String,
    /// The settings that differ between the arms.
    pub factors: BTreeMap<String, String>,
    /// Every setting in force, as the engine reports it.
    pub settings: BTreeMap<String, String>,
    /// Records stored.
    pub records: u64,
    /// Where its data lay.
    pub storage: Option<Storage>,
    /// Whether others are compared with it.
    pub baseline: bool,
    /// What it stands on, as asked.
    pub rig: RigSpec,
    /// What it stood on in its first finished run, as made.
    pub made: Option<RigRecord>,
    /// Size of the data against the engine's cache, where the file asks for one.
    pub working_set: Option<WorkingSetResult>,
    /// What fio found of its emulated disk, the latest where there are several.
    pub calibration: Option<CalibrationResult>,
}

/// A working set as asked and as it came out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkingSetResult {
    /// Of the cache that the engine can use: 1.38 is 138 %.
    pub asked: f64,
    /// The same as measured after the load, the median of the runs; `None` where the engine does not tell its bytes.
    pub got: Option<f64>,
    /// Records that were chosen for it.
    pub records: u64,
    /// Data and indexes after the load, bytes.
    pub data_bytes: Option<f64>,
    /// Cache that the engine can use, bytes.
    pub usable_cache_bytes: u64,
}

/// Whether an emulated disk is what was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationResult {
    /// Whether every figure is as asked.
    pub passed: bool,
    /// When, UTC, RFC 3339.
    pub at: String,
    /// Every figure that was compared.
    pub checks: Vec<plimsoll_record::CalibrationCheck>,
}

impl From<&Calibration> for CalibrationResult {
    fn from(calibration: &Calibration) -> Self {
        Self {
            passed: calibration.passed(),
            at: calibration.at.clone(),
            checks: calibration.checks.clone(),
        }
    }
}

/// How one gate stands over all points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValidityState {
    /// Passed.
    Good,
    /// Passed with something to know, or could not be judged.
    Note,
    /// Numbers stand, with this beside them.
    Caution,
    /// Some points are not valid.
    Bad,
}

/// One entry of the validity strip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validity {
    /// Short name: errors, Little's law, rate achieved, generator, steadiness, records, blocks, disk, machine.
    pub name: String,
    /// How it stands.
    pub state: ValidityState,
    /// The figures, in a few words.
    pub text: String,
}

/// One number over the blocks: the median of the runs with an interval. Without any value there is no median; see [`Estimate::known`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Median over the blocks; 0 and without meaning where `values` is empty.
    pub median: f64,
    /// 95 % interval, exact from signed ranks; `None` with fewer than 6 blocks.
    pub interval: Option<(f64, f64)>,
    /// (block, value) of every valid run, in order of blocks.
    pub values: Vec<(u32, f64)>,
}

/// Latencies in nanoseconds, each over the blocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// Mean.
    pub mean: Estimate,
    /// 50th percentile.
    pub p50: Estimate,
    /// 95th percentile.
    pub p95: Estimate,
    /// 99th percentile.
    pub p99: Estimate,
    /// 99.9th percentile.
    pub p999: Estimate,
}

/// One arm and mix over the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Name of the arm.
    pub arm: String,
    /// Name of the mix.
    pub mix: String,
    /// In the order of the load.
    pub points: Vec<CurvePoint>,
    /// `None` when there are too few points.
    pub knee: Option<Knee>,
    /// Closed loops of at least 4 different session counts only.
    pub scalability: Option<Scalability>,
}

/// One load setting of one arm and mix, over the blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Name of the arm.
    pub arm: String,
    /// Index in the plan's points; `None` for the load phase.
    pub point: Option<u32>,
    /// The load in words.
    pub load_label: String,
    /// The load in numbers.
    pub load: LoadKind,
    /// Runs whose point passed every gate.
    pub valid_runs: u32,
    /// Runs in which the point was measured.
    pub runs: u32,
    /// Successful operations per second.
    pub throughput: Estimate,
    /// completed - intended, all operations together.
    pub response: LatencySummary,
    /// completed - dispatched, all operations together.
    pub service: LatencySummary,
    /// Whether p99 of the response is only a lower bound, because too much was unfinished at the end.
    pub p99_at_least: bool,
    /// The same for p99.9.
    pub p999_at_least: bool,
    /// Response time for each kind of operation, by its name.
    pub by_operation: BTreeMap<String, LatencySummary>,
    /// CPU time of the worker per operation, nanoseconds.
    pub cpu_per_operation: Estimate,
    /// Operations in all valid runs: as asked, not found, failed.
    pub ok: u64,
    /// Records that were not there.
    pub not_found: u64,
    /// Failures.
    pub errors: u64,
    /// Whether every run met the objective of the file, if it has one.
    pub meets_objective: Option<bool>,
    /// What was watched, over the valid runs.
    pub figures: FigureSummary,
    /// What held it back; `None` where nothing was watched. Of the valid runs, or of all where none is valid.
    pub cause: Option<Cause>,
    /// Each run by itself.
    pub results: Vec<PointResult>,
}

/// One point of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointResult {
    /// From 0.
    pub block: u32,
    /// Attempt of the run.
    pub attempt: u32,
    /// Whether it passed every gate.
    pub valid: bool,
    /// Warnings about it alone.
    pub warnings: Vec<Warning>,
    /// Successful operations per second after the warm-up.
    pub throughput: f64,
    /// Response time p99, nanoseconds.
    pub p99_ns: Option<f64>,
    /// Seconds measured.
    pub seconds: f64,
    /// How its series settled.
    pub steadiness: Steadiness,
    /// Share of the sessions' time spent outside engine calls in a closed loop, 0 to 1.
    pub generator_share: Option<f64>,
    /// Generator lag p99 in an open loop, nanoseconds.
    pub generator_lag_p99_ns: Option<f64>,
    /// Achieved over offered rate in an open loop.
    pub achieved: Option<f64>,
    /// What was watched.
    pub figures: Figures,
}

/// How a series settled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Steadiness {
    /// Too few slices to say.
    Unknown,
    /// Settled; so many further seconds of warm-up were found and cut.
    Steady {
        /// Seconds cut after the asked warm-up.
        cut_seconds: f64,
    },
    /// Not settled.
    NotSteady,
}

/// Where more load stops to pay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// Load label at the maximum of throughput over response time.
    pub load_label: String,
    /// Sessions or rate there.
    pub load: f64,
    /// 95 % interval over the blocks; with up to 8 blocks that is from the lowest to the highest of their knees.
    pub range: (f64, f64),
    /// Kneedle's opinion, if it has one.
    pub kneedle: Option<f64>,
    /// Whether throughput still climbed at the last point, so that the curve has not bent.
    pub still_climbing: bool,
}

/// Fit of the universal scalability law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scalability {
    /// Throughput of one session, operations per second.
    pub lambda: f64,
    /// Contention.
    pub sigma: f64,
    /// Coherency.
    pub kappa: f64,
    /// Sessions with the highest throughput; `None` without coherency cost, or when it lies beyond 1.5 times the largest number measured.
    pub peak_sessions: Option<f64>,
    /// (sessions, fitted, measured - fitted) for every point.
    pub residuals: Vec<(f64, f64, f64)>,
}

/// The four words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// B is better than A.
    Better,
    /// B is worse than A.
    Worse,
    /// No difference that matters.
    Equivalent,
    /// Cannot be told.
    Inconclusive,
}

/// A judgement with its figures. Differences are shares: 0.03 is 3 % more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The word.
    pub judgement: Judgement,
    /// Why it is inconclusive, or what limits it.
    pub reason: Option<String>,
    /// Hodges-Lehmann estimate of B/A - 1.
    pub estimate: Option<f64>,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// Confidence that the interval attains, 0 to 1.
    pub confidence: Option<f64>,
    /// Two-sided p of the exact signed-rank test.
    pub p_value: Option<f64>,
    /// The same after Holm's correction, for primaries where there are several.
    pub p_holm: Option<f64>,
    /// Smallest difference that this many blocks could have shown.
    pub smallest_visible: Option<f64>,
    /// Blocks compared.
    pub blocks: u32,
    /// Margin of practical importance.
    pub margin: f64,
}

/// One arm against the baseline, one metric, one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// A.
    pub baseline: String,
    /// B.
    pub arm: String,
    /// Mix.
    pub mix: String,
    /// Index of the point.
    pub point: u32,
    /// The load in words.
    pub load_label: String,
    /// What is compared.
    pub metric: Metric,
    /// Which way is good.
    pub direction: Direction,
    /// Whether the file (or its default) named it as deciding.
    pub primary: bool,
    /// (block, A, B) of every pair.
    pub pairs: Vec<(u32, f64, f64)>,
    /// Values of the runs of A and of B where nothing says which of them belong together, as in imported records. Then there are no pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<(Vec<f64>, Vec<f64>)>,
    /// The result.
    pub verdict: Verdict,
    /// In one sentence.
    pub sentence: String,
    /// What held both arms back, as a sentence to stand beside the other; `None` where nothing was watched, or both did all that was asked.
    pub because: Option<String>,
}

/// What differs between the two arms of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairDifferences {
    /// A.
    pub baseline: String,
    /// B.
    pub arm: String,
    /// Declared factors first.
    pub differences: Vec<Difference>,
}

/// Something that differs between arms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What: a setting, a version, a property of machine or storage.
    pub what: String,
    /// (arm, value), in the order of the arms.
    pub values: Vec<(String, String)>,
    /// Whether the file says so; everything else was found by looking.
    pub declared: bool,
}

/// One bound of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdResult {
    /// As written.
    pub text: String,
    /// Where: arm, mix and load.
    pub subject: String,
    /// Measured (median over blocks); `None` when there is no valid sample, which counts as broken.
    pub measured: Option<f64>,
    /// Whether it holds.
    pub passed: bool,
}

/// The seconds of one point of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeSeries {
    /// Arm.
    pub arm: String,
    /// Mix.
    pub mix: String,
    /// Index of the point; `None` for the load phase.
    pub point: Option<u32>,
    /// Block.
    pub block: u32,
    /// Seconds of warm-up asked.
    pub warm_up_seconds: f64,
    /// Seconds of warm-up found and cut after it.
    pub cut_seconds: f64,
    /// In order.
    pub seconds: Vec<SeriesSecond>,
    /// What was watched in each of the seconds; empty where nothing was.
    pub figures: Vec<Figures>,
    /// Stalls: begin and end, seconds from the start of the point.
    pub stalls: Vec<(f64, f64)>,
}

/// One slice, for drawing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesSecond {
    /// Begin, seconds from the start of the point.
    pub at: f64,
    /// Length, seconds.
    pub length: f64,
    /// Operations per second.
    pub throughput: f64,
    /// Response time p50, nanoseconds.
    pub p50_ns: Option<f64>,
    /// Response time p99, nanoseconds.
    pub p99_ns: Option<f64>,
}
