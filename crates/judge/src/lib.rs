//! From a record to a verdict: gates on every point, curves over the load, comparisons of arms over blocks.
//!
//! [`Analysis`] is everything that a report may say; reports only draw it. It is computed from an experiment record alone, so it can be
//! made again at any time, and it never feeds back into measuring. The way, one module a step, and
//! none uses a later one:
//!
//! ```text
//! ExperimentRecord
//!   select        the latest finished attempt of each arm in each block; all others are named
//!   steadiness    seconds of a point, and how much of them is still warm-up
//!   telemetry     what was watched, as figures that can be compared (figures)
//!   imported      what another program stated of its points
//!   extract       the slices after it added up (distribution: what a unit of work is, and its percentiles)
//!   gates         what a point must pass before its numbers may be compared
//!   rig           whether disk, memory and working set were what was requested
//!   sample        all these for one point of one run (event_outcome: what was done to its servers; roles: points of which the run decided a part)
//!   block_search  the search of one block for the plimsoll line, done again from its trials
//!   arm_samples   every point of every run that counts, arm by arm
//!   rules         what held a point back: the first rule that holds (evidence, identity, cause)
//!   curve         points over blocks (estimate), knee, scalability
//!   line          the plimsoll line over the blocks, and what limits an arm beyond it
//!   events        what came of the events that the file asks for
//!   hosts         what each machine did, where several took part
//!   deciding      at which load a mix is judged
//!   cost          what operations cost, where arms have a price
//!   matched       what two arms measured block by block, and what is known of each pair (disturbance: what other programs did)
//!   comparison    every arm against its baseline, paired over blocks (pairing: what the plan compares); sentence and words say it
//!   looks         how wide the intervals are, and how many blocks they need
//!   repeatability how much the blocks of an arm vary; drift: whether the machine was the same in all of them; against_itself
//!   difference    what differs between the arms, declared or found
//!   threshold     the bounds of the file
//!   warnings, validity, headline
//!   latency       whole distributions of response times, when a report asks for them
//!   summed_up     the record without the histograms of its seconds, for small files
//! Analysis        ─► reports; Analysis::outcome ─► exit code
//! ```
//!
//! [`HistoryBuilder`] follows one metric over the records of an experiment and finds where it changed.
//!
//! [`compare_records`] sets arms of two records side by side, which were made on different days, and says what that costs.
//!
//! ```
//! use plimsoll_judge::{Outcome, analyse};
//! use plimsoll_record::ExperimentRecord;
//!
//! // An experiment that was planned and never ran.
//! let text = r#"{
//!     "plimsoll_record": 1, "id": "k3", "name": "first", "question": null, "state": "unfinished",
//!     "file_text": "", "file_hash": "", "plan_hash": "", "seed": 1, "program": {"version": "", "commit": ""},
//!     "machine": {"cores": 2, "memory_bytes": 0, "swap_bytes": 0}, "command": "", "started_at": "", "ended_at": null, "runs": [],
//!     "plan": {
//!         "version": 1, "name": "first", "question": null, "mixes": [], "points": [], "load_phase": {"sessions": 1},
//!         "arms": [{"name": "one", "about": null, "engine": "noop", "settings": {}, "data": {"records": 1000}, "directory": null}],
//!         "measurement": {"warm_up_ns": 0, "duration_ns": 0, "operations": null, "blocks": 8, "order": "shuffled", "seed": 1},
//!         "objective": null, "compare": {"baseline": "one", "primary": [], "at": null, "margins": {}},
//!         "thresholds": [], "runs": [], "origins": []
//!     }
//! }"#;
//! let analysis = analyse(&ExperimentRecord::from_json(text)?)?;
//! assert_eq!(analysis.headline, ["Nothing has been measured yet."]);
//! assert_eq!(analysis.outcome(), Outcome::Invalid);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod against_itself;
mod analyse;
mod analysis;
mod application;
mod arm_samples;
mod arms;
mod audit;
mod axes;
mod because;
mod block_search;
mod cause;
mod compare_records;
mod comparison;
mod contrast;
mod controls;
mod cost;
mod curve;
mod deciding;
mod demanded;
mod difference;
mod distribution;
mod disturbance;
mod drift;
mod duets;
mod effects;
mod error;
mod estimate;
mod event_outcome;
mod events;
mod evidence;
mod extract;
mod factor_results;
mod factors;
mod figures;
mod gate;
mod gates;
mod headline;
mod history;
mod hosts;
mod identity;
mod imported;
#[cfg(test)]
mod it;
mod latency;
mod line;
mod looks;
mod matched;
mod missed;
mod network;
mod noise;
mod others;
mod outcome;
mod pairing;
mod pauses;
mod reached;
mod repeatability;
mod rig;
mod roles;
mod rules;
mod sample;
mod scouting;
mod select;
mod sentence;
mod steadiness;
mod summed_up;
mod telemetry;
mod threshold;
mod transients;
mod unpublished;
mod validity;
mod verdict;
mod warnings;
mod words;

pub use analyse::{analyse, plan_of};
pub use analysis::{
    Acknowledgement, Adjustment, AgainstItself, Analysis, ArmApplication, ArmSummary, BlockLine,
    BlockOrder, BlocksNeeded, CalibrationResult, Comparison, ControlResult, CostResult, Curve,
    CurvePoint, Difference, DriftResult, DuetResult, Estimate, EventResult, EventsResult,
    GateOutcome, GateResult, HostSummary, IndexUse, Knee, LatencySummary, LineResult,
    NetworkSummary, NoiseResult, OperationSummary, OperationUse, PairDifferences, PointResult,
    Progress, Repeatability, Scalability, SeriesEvent, SeriesSecond, StatementSummary, Steadiness,
    ThresholdResult, TimeSeries, TooFewUsable, TrialResult, Undisturbed, Validity, ValidityState,
    WorkingSetResult,
};
pub use audit::{Audit, Audited, Belief, Reason, meaning};
pub use cause::{CapKind, Cause, CauseKind, IdentityCheck, RuleResult};
pub use compare_records::{RecordComparison, Side, UnpairedComparison, compare_records};
pub use comparison::effect;
pub use demanded::first_look_of_gate;
pub use error::JudgeError;
pub use factor_results::{
    Cell, Change, CliffResult, CrossingResult, Dependence, Effect, EffectAt, EffectKind,
    EffectPlace, FactorResults,
};
pub use factors::visible_effects;
pub use figures::{FigureKind, FigureSummary, FigureUnit, Figures};
pub use history::{
    Circumstances, FEWEST_RESULTS, History, HistoryBuilder, HistoryChange, HistoryChoices,
    HistoryError, HistoryQuestion, HistoryResult,
};
pub use latency::{HEAT_ROWS_PER_DECADE, Heat, HeatColumn, Tail, TailValue, heat, tail};
pub use looks::sharp;
pub use noise::Reach;
pub use outcome::Outcome;
pub use pairing::{baseline_of, hopeless, to_repeat, too_few_blocks};
pub use rules::cause_rules;
pub use scouting::{Bracket, brackets};
pub use summed_up::summed_up;
pub use verdict::{Judgement, Verdict};
