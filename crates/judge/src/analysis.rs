//! What a report may say.

use crate::{Cause, FactorResults, FigureSummary, Figures, Verdict};
use plimsoll_plan::{DataShares, Direction, Metric};
use plimsoll_record::{
    Calibration, LoadKind, OwnOperation, ProbeTime, RigRecord, RigSpec, Storage, Warning,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that follows from a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Id of the experiment record.
    pub id: String,
    pub name: String,
    pub question: Option<String>,
    /// The answer in plain sentences: one to three with the intervals, one with the causes where they are known, one if runs are missing.
    pub headline: Vec<String>,
    /// How far the experiment got.
    pub progress: Progress,
    /// The arms, in the order of the file.
    pub arms: Vec<ArmSummary>,
    /// Names of the mixes, in the order of the file.
    pub mixes: Vec<String>,
    pub validity: Vec<Validity>,
    /// One for each arm and mix.
    pub curves: Vec<Curve>,
    /// Load phase of each arm, with the same figures as a point.
    pub load_phase: Vec<CurvePoint>,
    pub comparisons: Vec<Comparison>,
    /// What the factors do, where the file has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factors: Option<FactorResults>,
    pub differences: Vec<Difference>,
    /// The same for the two arms of each comparison by themselves, in the order in which they are compared.
    pub pairs: Vec<PairDifferences>,
    /// The plimsoll line of each arm and mix for which one was searched.
    #[serde(default)]
    pub lines: Vec<LineResult>,
    /// What operations cost, for each arm with a price and each mix.
    #[serde(default)]
    pub costs: Vec<CostResult>,
    /// How much the blocks of each arm vary, at the point that decides about each mix.
    #[serde(default)]
    pub repeatability: Vec<Repeatability>,
    /// Where the noise of a comparison comes from, for each pair of arms and each mix whose throughput is compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise: Vec<NoiseResult>,
    /// How many blocks the primary comparisons need to be as sharp as their margins.
    #[serde(default)]
    pub blocks_needed: Vec<BlocksNeeded>,
    /// What was found of what was planted in the controls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controls: Vec<ControlResult>,
    /// What duets tell of the halves of the machine, for each pair of arms and metric that decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub duets: Vec<DuetResult>,
    /// How the machine drifted; `None` where no probe tasks were timed.
    #[serde(default)]
    pub drift: Option<DriftResult>,
    /// What came of the events that the file asks for, for each arm and point.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventsResult>,
    /// What each machine did for each arm, where several took part in a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostSummary>,
    /// How the server of each arm carries out an application's operations, and what its indexes take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub application: Vec<ArmApplication>,
    /// Only for an arm against itself.
    #[serde(default)]
    pub against_itself: Option<AgainstItself>,
    #[serde(default)]
    pub gate: Option<GateResult>,
    pub thresholds: Vec<ThresholdResult>,
    /// Seconds of the measured points, for drawing.
    pub series: Vec<TimeSeries>,
    pub warnings: Vec<Warning>,
}

/// How far the experiment got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub runs_planned: u32,
    pub runs_finished: u32,
    /// Runs failed (and not repeated with success).
    pub runs_failed: u32,
    pub blocks_planned: u32,
    /// Blocks in which every arm finished.
    pub blocks_complete: u32,
    /// Order of the arms in each block that was begun.
    pub order: Vec<BlockOrder>,
    /// Blocks of the deciding comparison that has most, where all planned blocks would have been enough for a verdict and these are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub too_few_usable: Option<TooFewUsable>,
}

/// Gates left fewer blocks than a verdict needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TooFewUsable {
    /// Blocks in which both arms of a pair are valid.
    pub usable: u32,
    pub of: u32,
    /// How many a verdict needs.
    pub needed: u32,
}

/// Order of the arms in one block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockOrder {
    /// Index of the block, counted from 0.
    pub block: u32,
    /// Names of the arms in the order in which they ran.
    pub arms: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmSummary {
    pub name: String,
    /// Whether it is a control, and no arm of the question.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control: bool,
    pub about: Option<String>,
    pub engine: String,
    /// The settings that differ between the arms.
    pub factors: BTreeMap<String, String>,
    /// The host that it stands on; `None`: the machine that the program ran on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// Every setting in force, as the engine reports it.
    pub settings: BTreeMap<String, String>,
    pub records: u64,
    pub storage: Option<Storage>,
    /// Whether others are compared with it.
    pub baseline: bool,
    /// What it stands on, as requested.
    pub rig: RigSpec,
    /// What it stood on in its first finished run, as made.
    pub made: Option<RigRecord>,
    /// Size of the data against the engine's cache, where the file asks for one.
    pub working_set: Option<WorkingSetResult>,
    /// What share of the data was in which cache while it was measured, where memory is limited and it is known.
    #[serde(default)]
    pub shares: Option<DataShares>,
    /// What fio found of its emulated disk, the latest where there are several.
    pub calibration: Option<CalibrationResult>,
}

/// What one machine did for one arm, over the valid points of all its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostSummary {
    pub arm: String,
    /// Name of the machine; `None`: the one that the program ran on.
    pub host: Option<String>,
    pub makes_load: bool,
    pub has_server: bool,
    /// Valid points in which it took part.
    pub points: u32,
    /// Its logical processors, where they are known.
    pub cores: Option<u32>,
    /// Successful operations per second of its load generator, over the measured time of all these points; `None` without one.
    pub throughput: Option<f64>,
    /// p99 of its generator's own lateness in open loops, over all these points, nanoseconds.
    pub generator_lag_p99_ns: Option<f64>,
    /// Processors that its load generator kept busy; `None` without one.
    pub load_processors: Option<f64>,
    /// How far off its clock may have been at most, nanoseconds.
    pub clock_bound_ns: u64,
    /// In closed loops: how long at most its first operation began after the first of all hosts, nanoseconds.
    pub start_skew_ns: Option<u64>,
    /// Share of its processors' time that the hypervisor took; `None` where its processors are not known.
    pub stolen: Option<f64>,
    /// What it saw of the network to the others; `None` where that was not watched.
    pub network: Option<NetworkSummary>,
}

/// What one machine saw of the network to the others, over all its valid points of an arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NetworkSummary {
    /// Bytes a second that its interface received; `None` where that is not known.
    pub received_bytes_per_second: Option<f64>,
    /// Bytes a second that its interface sent.
    pub sent_bytes_per_second: Option<f64>,
    /// Bytes a second that the link can carry each way, where that is known.
    pub link_bytes_per_second: Option<f64>,
    /// Share of its TCP segments that it sent again; `None` with too few to know it.
    pub retransmitted: Option<f64>,
    /// The shortest round trip to the server, nanoseconds; `None` where it made no load, or its kernel does not tell.
    pub round_trip_least_ns: Option<f64>,
    /// The median over the points of the median round trip of the connections, nanoseconds.
    pub round_trip_median_ns: Option<f64>,
}

/// A working set as requested and as it came out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkingSetResult {
    /// Requested share of the cache that the engine can use: 1.38 is 138 %.
    #[serde(rename = "asked")]
    pub requested: f64,
    /// The same as measured after the load, the median of the runs; `None` where the engine does not tell its bytes.
    pub got: Option<f64>,
    /// Records that were chosen for it.
    pub records: u64,
    /// Data and indexes after the load, bytes.
    pub data_bytes: Option<f64>,
    /// Cache that the engine can use, bytes.
    pub usable_cache_bytes: u64,
}

/// Whether an emulated disk is what was requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationResult {
    /// Whether every figure is as requested.
    pub passed: bool,
    /// Instant in UTC, as RFC 3339 writes it.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValidityState {
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
    /// Short name: errors, Little's law, rate achieved, generator, client CPU, steadiness, records, blocks, disk, disk at its cap, machine.
    pub name: String,
    pub state: ValidityState,
    /// The figures, in a few words.
    pub text: String,
}

impl Validity {
    pub(crate) fn of(name: &str, state: ValidityState, text: String) -> Self {
        Self { name: name.into(), state, text }
    }
}

/// One number over the blocks: the median of the runs with an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Median over the blocks; `None` where no run gave a value.
    pub median: Option<f64>,
    /// 95 % interval of the median, exact from order statistics; `None` with fewer than 6 blocks.
    pub interval: Option<(f64, f64)>,
    /// (block, value) of every valid run, in order of blocks.
    pub values: Vec<(u32, f64)>,
}

/// Latencies in nanoseconds, each over the blocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    pub mean: Estimate,
    pub p50: Estimate,
    pub p95: Estimate,
    pub p99: Estimate,
    pub p999: Estimate,
}

/// How often one operation ran, over the blocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationSummary {
    /// Calls that succeeded, per second.
    pub throughput: Estimate,
    /// Share of the calls that found nothing, 0 to 1, of those that did not fail.
    pub nothing: Estimate,
}

/// One arm and mix over the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    pub arm: String,
    pub mix: String,
    /// In the order of the load.
    pub points: Vec<CurvePoint>,
    /// `None` when there are too few points.
    pub knee: Option<Knee>,
    /// Closed loops of at least 4 different session counts only.
    pub scalability: Option<Scalability>,
}

/// A statement of a transaction or of steps at one point, over the blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatementSummary {
    /// The name of the whole with its number.
    pub name: String,
    /// Answers to the operation, in all runs of the cell.
    pub count: u64,
    /// Answers to the operation per second.
    pub throughput: Estimate,
    /// From sending it to its last batch, nanoseconds.
    pub mean: Estimate,
}

/// One load setting of one arm and mix, over the blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    pub arm: String,
    /// Index in the plan's points; `None` for the load phase.
    pub point: Option<u32>,
    pub load_label: String,
    pub load: LoadKind,
    /// Runs whose point passed every gate.
    pub valid_runs: u32,
    /// Runs in which the point was measured.
    pub runs: u32,
    pub throughput: Estimate,
    /// completed - intended, all operations together.
    pub response: LatencySummary,
    /// completed - dispatched, all operations together.
    pub service: LatencySummary,
    /// Whether p99 of the response is only a lower bound, because too much was unfinished at the end.
    pub p99_at_least: bool,
    pub p999_at_least: bool,
    /// Response time for each kind of operation, by its name.
    pub by_operation: BTreeMap<String, LatencySummary>,
    /// How often each of them ran, where there are several.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub operations: BTreeMap<String, OperationSummary>,
    /// The statements of transactions and steps, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementSummary>,
    /// CPU time per operation, nanoseconds: of the server, without its client, and of an embedded engine with its client. Without values where a server runs
    /// elsewhere.
    pub cpu_per_operation: Estimate,
    /// Successful operations in all runs, valid or not.
    pub ok: u64,
    /// Records that were not there.
    pub not_found: u64,
    pub errors: u64,
    /// Whether every run met the objective of the file, if it has one.
    pub meets_objective: Option<bool>,
    /// What was watched, over the valid runs.
    pub figures: FigureSummary,
    /// What held it back; `None` where nothing was watched. Of the valid runs, or of all where none is valid.
    pub cause: Option<Cause>,
    pub results: Vec<PointResult>,
    /// Where no run is valid, the figures of all of them, without their single results: shown, but not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Box<CurvePoint>>,
}

/// One point of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointResult {
    /// Index of the block, counted from 0.
    pub block: u32,
    pub attempt: u32,
    /// Whether it passed every gate.
    pub valid: bool,
    pub warnings: Vec<Warning>,
    /// Successful operations per second after the warm-up.
    pub throughput: f64,
    pub p99_ns: Option<f64>,
    pub seconds: f64,
    pub steadiness: Steadiness,
    /// Share of the sessions' time that the generator took, 0 to 1: outside engine calls in a closed loop, by waking late in an open one.
    pub generator_share: Option<f64>,
    /// Generator lag p99 in an open loop, nanoseconds.
    pub generator_lag_p99_ns: Option<f64>,
    /// Operations due per second in an open loop: of random arrivals, those that came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<f64>,
    /// Share of those that were finished, 0 to 1.
    pub achieved: Option<f64>,
    /// Share of the processors' time that other programs left to the run, 0 to 1; `None` where that is not known.
    #[serde(default)]
    pub left_by_others: Option<f64>,
    pub figures: Figures,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Steadiness {
    /// Too few slices to say.
    Unknown,
    /// Settled; this many further seconds of warm-up were found and cut.
    Steady {
        /// Seconds cut after the requested warm-up.
        cut_seconds: f64,
    },
    NotSteady,
}

/// Where more load stops to pay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// Load label at the maximum of throughput over response time.
    pub load_label: String,
    pub load: f64,
    /// 95 % interval over the blocks; with up to 8 blocks that is from the lowest to the highest of their knees.
    pub range: (f64, f64),
    /// Whether throughput still climbed at the last point, so that the curve has not bent.
    pub still_climbing: bool,
}

/// Fit of the universal scalability law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scalability {
    /// Throughput of one session, operations per second.
    pub lambda: f64,
    pub sigma: f64,
    pub kappa: f64,
    /// Sessions with the highest throughput; `None` without coherency cost, or when it lies beyond 1.5 times the largest number measured.
    pub peak_sessions: Option<f64>,
    /// (sessions, fitted, measured - fitted) for every point.
    pub residuals: Vec<(f64, f64, f64)>,
}

/// The plimsoll line of one arm and mix: the highest rate that holds the objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineResult {
    pub arm: String,
    pub mix: String,
    /// Index of the point in the plan that searches it.
    pub point: u32,
    /// The objective in words: `p99 of the response at most 10 ms, no errors, 99 % of the rate achieved`.
    pub objective: String,
    /// Lower end of the interval, operations per second: the lower end of the 95 % interval over the blocks of the rates that were found to hold. With fewer
    /// than 6 blocks, the lowest of them. `None` where some block found none.
    pub lower: Option<f64>,
    /// Upper end of the interval: the same of the rates that were found not to hold. `None` where some block found none.
    pub upper: Option<f64>,
    /// Geometric middle of each block's own interval, over the blocks. What is compared and priced.
    pub rate: Estimate,
    /// Confidence that the interval attains over the blocks; `None` with fewer than 6.
    pub confidence: Option<f64>,
    pub blocks: Vec<BlockLine>,
    /// The trials at each block's highest rate that held, as a point.
    pub at_line: Option<CurvePoint>,
    /// What held back the trials that did not hold.
    pub limit: Option<Cause>,
    /// In one sentence, with the interval and the limiting resource; or why there is none.
    pub sentence: String,
}

/// The search of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockLine {
    /// Index of the block, counted from 0.
    pub block: u32,
    /// Highest rate that was confirmed to hold, operations per second.
    pub lower: Option<f64>,
    /// Lowest rate above it that was confirmed not to hold.
    pub upper: Option<f64>,
    /// In the order in which they were made.
    pub trials: Vec<TrialResult>,
}

/// One trial of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialResult {
    pub rate: f64,
    pub seconds: f64,
    /// Whether the objective was met.
    pub is_good: bool,
    /// Whether it passed every gate. A trial that did not is no evidence of the arm.
    pub valid: bool,
    pub p99_ns: Option<f64>,
    pub achieved: Option<f64>,
    /// The bounds that it did not keep, where operations have bounds of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
}

/// What operations of one arm and mix cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CostResult {
    pub arm: String,
    pub mix: String,
    pub currency: String,
    /// Price of an hour in it.
    pub per_hour: f64,
    /// Where the price was read, and when.
    pub source: Option<String>,
    /// Price of a million successful operations at the knee, over the blocks, with the load in words.
    pub at_knee: Option<(String, Estimate)>,
    /// The same at the point with the highest throughput.
    pub at_best: Option<(String, Estimate)>,
    /// The same at the plimsoll line.
    pub at_line: Option<Estimate>,
}

/// How much one arm varies from block to block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repeatability {
    pub arm: String,
    pub mix: String,
    pub point: u32,
    pub load_label: String,
    pub metric: Metric,
    /// The values of the blocks.
    pub values: Estimate,
    /// Standard deviation of the logarithms, which is the coefficient of variation where it is small; a share.
    pub spread: f64,
    /// Its 95 % interval, for independent runs with normal logarithms.
    pub spread_interval: (f64, f64),
    /// Highest over lowest value, less 1.
    pub range: f64,
    /// Change from the first block to the last by the Theil-Sen line, a share, where Kendall's test calls it real (5 %).
    pub trend: Option<f64>,
    /// Smallest difference that a comparison of two such arms over as many blocks would show four times in five, were their runs independent; of duets, as they are. A share.
    pub visible: Option<f64>,
    pub sentence: String,
}

/// Where the noise of a comparison comes from. Spreads are standard deviations of logarithms, each of what is new at its level alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseResult {
    pub baseline: String,
    /// Name of the other arm.
    pub arm: String,
    pub mix: String,
    pub load_label: String,
    /// Blocks in which both arms have a valid point.
    pub blocks: usize,
    /// Share of the variance of a difference that was what other programs took of the processors; it is taken out, and in none of what follows. `None` where it was left
    /// in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<f64>,
    /// Share of the duets in which other programs left both sides alone, where they preferred one: only of those is what follows, and only they can be judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undisturbed: Option<f64>,
    /// From block to block, in common for both arms: a comparison is free of it.
    pub block: f64,
    /// From run to run of an arm.
    pub run: f64,
    /// From second to second: what it adds to a point of the length that was measured.
    pub seconds: f64,
    /// What share of the variance of a difference is from second to second, 0 to 1; the rest is from run to run.
    pub share_of_seconds: f64,
    /// Whether a point holds enough seconds that are independent of each other to tell their noise from that of runs.
    pub is_told_apart: bool,
    /// Measured seconds of a point.
    pub point_seconds: f64,
    /// Seconds that a run takes besides its measured ones.
    pub overhead_seconds: f64,
    pub points_of_a_run: usize,
    /// Runs of a block that follow each other: 2, or 1 in duets.
    pub runs_in_turn: usize,
    /// The smallest difference that matters, a share.
    pub margin: f64,
    /// In words, with what to do.
    pub sentence: String,
}

/// Which duets are judged where other programs took more from one side than from the other: those in which they took nothing, or, where most are so, those in
/// which they kept both sides busy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Undisturbed {
    pub blocks: u32,
    pub of: u32,
    /// What was left to A and to B on average, a share of their processors' time.
    pub left: (f64, f64),
    /// Whether other programs kept both sides busy in those, and left none alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept_busy: bool,
}

impl Undisturbed {
    /// What other programs did in those that are judged, as in "in which they …".
    pub(crate) fn in_which(&self) -> &'static str {
        if self.kept_busy { "kept both busy" } else { "left both alone" }
    }

    /// The share that is judged, 0 to 1.
    pub fn share(&self) -> f64 {
        f64::from(self.blocks) / f64::from(self.of.max(1))
    }
}

/// What it changed that what other programs took of the processors was kept out of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adjustment {
    /// The share of the variance of the differences that it explains, 0 to 1, where it is taken out by regression; `None` where disturbed duets are left out.
    pub explained: Option<f64>,
    /// What others left to the baseline and to the other arm, shares of their processors' time, where they kept both sides of duets busy and took more from one: the comparison then
    /// covers the difference without what they took and with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<(f64, f64)>,
    /// The estimate with it, a share.
    pub estimate: f64,
    pub interval: Option<(f64, f64)>,
}

/// What a gate says: whether the new arm loses more than the margin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateResult {
    pub outcome: GateOutcome,
    /// Whether the last look makes that certain enough to end by.
    pub answered: bool,
    /// Whether at least half of the blocks that were made can be compared. Where hardly any can, more of them are no help.
    pub usable: bool,
    pub sentence: String,
}

/// The answer of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateOutcome {
    /// No metric that decides loses more than its margin, for certain.
    Passed,
    /// One loses for certain, and probably or certainly more than its margin.
    Failed,
    Open,
}

/// What was found of what was planted in a control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlResult {
    pub control: String,
    /// Name of the arm that it is a copy of.
    pub baseline: String,
    pub mix: String,
    pub load_label: String,
    pub metric: Metric,
    /// Share by which it was slowed down, 0 to 1; 0 for an exact copy.
    pub planted: f64,
    /// The change of the metric that follows from that, a share.
    pub expected: f64,
    /// What is left of it at worst: what was under way when the sessions of a closed loop paused was still finished.
    pub expected_least: f64,
    /// The change that was measured, a share.
    pub estimate: Option<f64>,
    /// Its 95 % interval; `None` with too few blocks.
    pub interval: Option<(f64, f64)>,
    /// Blocks in which both have a value or a bound.
    pub blocks: usize,
    /// In how many of them the control was worse.
    pub worse_in: usize,
    /// Whether the interval leaves out zero.
    pub is_different: bool,
    /// Whether it leaves out zero on the worse side.
    pub is_found: bool,
    /// Whether it meets what was to be expected.
    pub is_covered: Option<bool>,
    pub sentence: String,
}

/// What the duets of two arms tell of the halves of the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DuetResult {
    pub baseline: String,
    /// Name of the other arm.
    pub arm: String,
    pub mix: String,
    pub point: u32,
    pub load_label: String,
    pub metric: Metric,
    /// Duets that are judged: both have a value, and where other programs preferred a side, they left both alone.
    pub duets: usize,
    /// By how much what ran on the second half was above what ran on the first, a share.
    pub second_over_first: f64,
    pub second_over_first_interval: (f64, f64),
    /// Whether the halves are as good as each other: their difference may be chance, or is below half of the margin.
    pub are_alike: bool,
    /// Standard deviation of the difference of one duet, as a logarithm.
    pub spread: f64,
    /// The same of two runs that have nothing in common.
    pub spread_apart: f64,
    /// Correlation of both sides from duet to duet, -1 to 1.
    pub correlation: f64,
    /// Correlation of the throughput of both sides from second to second within a duet, the median over the duets.
    pub correlation_of_seconds: Option<f64>,
    /// Smallest difference that would be seen four times in five, a share.
    pub visible: Option<f64>,
    pub sentence: String,
}

/// How many blocks a comparison needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlocksNeeded {
    pub baseline: String,
    pub arm: String,
    pub mix: String,
    pub metric: Metric,
    /// Half-width to be reached, a share: the margin, or what the file asks for.
    pub half_width: f64,
    /// Half-width by now; `None` where there is no interval yet.
    pub reached: Option<f64>,
    /// Blocks that make an interval of about that half-width; `None` where fewer than 5 blocks tell too little of the spread.
    pub blocks: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriftResult {
    /// (block, before or after it, time over the median of all), CPU task.
    pub cpu: Vec<(u32, ProbeTime, f64)>,
    pub disk: Vec<(u32, ProbeTime, f64)>,
    /// How far a probe task may be off, CPU and disk task, as a share: 5 and 25 %.
    pub allowed: (f64, f64),
    /// Blocks with a probe task further off, from 0.
    pub marked: Vec<u32>,
    pub sentence: String,
}

/// What came of all events, of one arm at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventsResult {
    pub arm: String,
    pub mix: String,
    pub point: u32,
    pub load_label: String,
    /// In the order of the plan.
    pub events: Vec<EventResult>,
    /// What was read back; `None` where nothing was.
    pub acknowledged: Option<Acknowledgement>,
    /// In one or two sentences.
    pub sentence: String,
}

/// What came of one event, up to the next one or the end of the point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventResult {
    /// `at 30 s: the primary is killed`.
    pub words: String,
    /// The longest time in which no write succeeded, seconds; 0 where it is below 0.1 s.
    pub without_writes: Estimate,
    pub without_reads: Estimate,
    pub errors: Estimate,
    /// Seconds until the p99 of three seconds in a row is at most 1.5 times that before the first event.
    pub p99_back: Estimate,
    /// Blocks in which it was not before the next event, or is not known.
    pub not_back: u32,
    /// Blocks in which it happened.
    pub blocks: u32,
}

/// What became of writes, of all blocks together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acknowledgement {
    /// Blocks for which it is known.
    pub blocks: u32,
    /// Writes that the server acknowledged.
    pub writes: u64,
    /// Writes that failed: they may be there or not.
    pub in_doubt: u64,
    /// Records that were read back.
    pub records: u64,
    /// Acknowledged writes that are missing, though no later write took their place.
    pub lost: u64,
    pub blocks_with_loss: u32,
    /// Keys of some of them.
    pub lost_keys: Vec<String>,
    /// Records that could not be read.
    pub unread: u64,
    /// Power cuts of all blocks.
    #[serde(default)]
    pub cuts: u32,
    #[serde(default)]
    pub cuts_with_loss: u32,
    /// The longest time from the acknowledgement of a write that is lost to the power cut that took it, nanoseconds.
    #[serde(default)]
    pub oldest_lost_ns: u64,
    /// Blocks in which the database was unusable after a power cut.
    #[serde(default)]
    pub blocks_unusable: u32,
    /// Why it was not, in the first of them.
    #[serde(default)]
    pub unusable: Option<String>,
}

/// How often an arm measured against itself was called different: this machine's noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgainstItself {
    /// Comparisons of the arm with itself that could be judged, of every mix, point and metric.
    pub comparisons: u32,
    /// Comparisons that had no verdict, because of too few blocks or because other programs disturbed too many.
    #[serde(default)]
    pub unjudged: u32,
    /// Comparisons that found better or worse.
    pub different: u32,
    /// Largest estimate among them, a share.
    pub largest: Option<f64>,
    pub sentence: String,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// One arm against the baseline, one metric, one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub baseline: String,
    pub arm: String,
    pub mix: String,
    pub point: u32,
    pub load_label: String,
    pub metric: Metric,
    pub direction: Direction,
    /// Whether the file (or its default) named it as deciding.
    pub primary: bool,
    /// (block, A, B) of every pair of valid points that is judged. A value may be a lower bound.
    pub pairs: Vec<(u32, f64, f64)>,
    /// Number of blocks (or runs of unpaired comparisons) in which one value is only a bound, or one arm failed by its own fault. They count against that arm.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bounds: u32,
    /// The pairs as they were judged, where that is not as they were measured: without the effect of the halves of duets, and of other programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<(f64, f64)>,
    /// Which duets are judged, where only undisturbed ones are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undisturbed: Option<Undisturbed>,
    /// What it changed that what other programs took of the processors was kept out; `None` where it was not, or where nothing could be said with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjustment: Option<Adjustment>,
    /// Values of the runs of A and of B where nothing says which of them belong together, as in imported records. Then there are no pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<(Vec<f64>, Vec<f64>)>,
    pub verdict: Verdict,
    pub sentence: String,
    /// What held both arms back, as a sentence to stand beside the other; `None` where nothing was watched, or both did all that was requested.
    pub because: Option<String>,
    /// What their servers do differently for the same operations of an application, as one sentence; `None` where that is the same or not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<String>,
    /// Where the same resource holds both back: what an operation takes of it, as one sentence. `None` where it is not the same, or takes the same, or where the more
    /// expensive one does more.
    #[serde(rename = "dearer")]
    pub cost_difference: Option<String>,
}

/// How the server of an arm carries out an application's operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ArmApplication {
    pub arm: String,
    /// By operations of the mix; those that insert are left out.
    pub operations: Vec<OperationUse>,
    /// The indexes of all collections, that on `_id` first.
    pub indexes: Vec<IndexUse>,
}

/// An operation as the server explains it. Numbers are means over some drawn commands, and medians over the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationUse {
    pub operation: OwnOperation,
    /// The different plans after the load, each from the index or the collection upwards.
    pub plans: Vec<String>,
    /// Other plans after the last point or in another run, where none of `plans` is among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_to: Option<String>,
    pub keys_examined: f64,
    pub documents_examined: f64,
    pub documents_found: f64,
    pub scans_collection: bool,
    pub sorts: bool,
    /// Why there is no plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// An index of a collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexUse {
    pub collection: String,
    pub name: String,
    /// On disk after the last point.
    pub bytes: f64,
    /// How often operations used it between load and end of a run; `None` where the server does not say.
    pub uses: Option<f64>,
}

/// What differs between the two arms of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairDifferences {
    pub baseline: String,
    pub arm: String,
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
    pub text: String,
    /// Where: arm, mix and load.
    pub subject: String,
    /// Measured (median over blocks); `None` when there is no valid sample, which counts as broken.
    pub measured: Option<f64>,
    pub passed: bool,
    /// Why it is broken, where no figure says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The seconds of one point of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeSeries {
    pub arm: String,
    pub mix: String,
    /// Index of the point; `None` for the load phase.
    pub point: Option<u32>,
    pub block: u32,
    pub warm_up_seconds: f64,
    /// Seconds of warm-up found and cut after it.
    pub cut_seconds: f64,
    pub seconds: Vec<SeriesSecond>,
    /// What was watched in each of the seconds; empty where nothing was.
    pub figures: Vec<Figures>,
    /// Stalls: begin and end, seconds from the start of the point.
    pub stalls: Vec<(f64, f64)>,
    /// What was done to the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<SeriesEvent>,
}

/// Something that was done to a server, for drawing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesEvent {
    /// Seconds from the start of the point.
    pub at: f64,
    /// When it was over; `None` where it was not by the end of the point.
    pub until: Option<f64>,
    pub words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesSecond {
    /// Begin, seconds from the start of the point.
    pub at: f64,
    pub length: f64,
    pub throughput: f64,
    pub p50_ns: Option<f64>,
    pub p99_ns: Option<f64>,
}
