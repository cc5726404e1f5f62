//! Pure statistics of benchmark results: warm-up, intervals, comparison, knee, scalability.
//!
//! Every function takes numbers and returns numbers: no clock, no file, no thread, no state, and the same answer each time. Each one states its formula, its
//! source, its units and its limits; `docs/methods.md` explains them to a reader with pictures, and `tests/calibration` holds each to what it promises, on
//! simulated data whose truth is known.
//!
//! How the parts follow each other on the way from a record to a verdict:
//!
//! 1. One point of one run: [`warm_up`] (from [`mser5`] and [`theil_sen`]) finds what to cut; [`little`] and [`stalls`] check what is left.
//! 2. One number for each run and arm: [`Comparison::paired`] over blocks (or [`Comparison::unpaired`]), judged by [`judge`] against a [`Rule`], several
//!    primary metrics by [`judge_together`]. The result is a [`Judgement`]: one of the four words of [`Verdict`], with its [`Grounds`] and figures.
//!    [`noise_sources`] shows where its noise comes from.
//!    [`blocks_needed`] and [`fewest_blocks`] say how many blocks that takes, [`looks`] and [`is_enough`] when an experiment may end before.
//! 3. A curve of each block: [`knee`], [`has_bent`], [`still_climbs`]; over all blocks: [`Scalability::fit`]. [`hodges_lehmann`] and [`median_interval`] draw bands.
//!    [`LineSearch`] finds the plimsoll line by trials.
//! 4. Factors: their contrasts, each with one value for each block, judged together by [`sign_flips`]; along an axis [`cliff`] and [`crossing`].
//! 5. A series of results over weeks: [`change_points`].
//!
//! Changes and margins are relative (0.03 is 3 %), confidences and percentiles are shares (0.95), times carry their unit in the name.
//!
//! ```
//! use plimsoll_stats::{Comparison, Rule, Verdict, judge};
//!
//! // Throughput of two arms in eight blocks. Block 5 was slow for both: pairing takes that out.
//! let xfs = [5210.0, 5180.0, 5240.0, 5195.0, 4400.0, 5220.0, 5205.0, 5190.0];
//! let ext4 = [4870.0, 4820.0, 4905.0, 4850.0, 4130.0, 4880.0, 4845.0, 4890.0];
//! let comparison = Comparison::paired(&ext4, &xfs)?;
//! let judgement = judge(&comparison, Rule::throughput(), 0.95)?;
//! assert_eq!(judgement.verdict, Verdict::Better);
//! assert!(judgement.change.interval.lower > 0.06 && judgement.change.interval.upper < 0.08);
//! # Ok::<(), plimsoll_stats::StatsError>(())
//! ```

#![deny(missing_docs)]

mod autocorrelation;
mod axis;
mod blocks_needed;
#[cfg(test)]
mod calibration;
mod change_points;
mod comparison;
mod duets;
mod error;
mod explained;
mod family;
mod gate;
mod interval;
mod knee;
mod least_squares;
mod line;
mod little;
mod looks;
mod noise_sources;
mod null_law;
mod over_median;
mod percentile;
mod scalability;
mod scalability_fit;
mod shifts;
mod sign_flips;
mod spread;
mod stalls;
mod summary;
mod transient;
mod trend;
pub mod verdict;
mod warm_up;

pub use autocorrelation::{MeanOfSeries, autocorrelation_time, mean_of_series};
pub use axis::{Cliff, KeepsUp, cliff, crossing, is_logarithmic, steepest_step};
pub use blocks_needed::{FEWEST_BLOCKS, blocks_needed, fewest_blocks};
pub use change_points::{ChangePoint, ChangeRule, FEWEST_AROUND_A_CHANGE, change_points};
pub use comparison::{Comparison, Design, Observation, hodges_lehmann};
pub use duets::{
    Duet, Halves, correlation, duets_beside_others, halves, taken_out_or_left_in, without_halves,
};
pub use error::StatsError;
pub use explained::{disturbance, undisturbed, without_explained};
pub use family::{holm, judge_together};
pub use gate::{Standing, gate_confidences};
pub use interval::{Estimate, Interval, median_interval};
pub use knee::{Knee, LoadPoint, has_bent, knee, power_knee, still_climbs};
pub use line::{Line, LineGoal, LineSearch, LineStep, LineTrial, Side};
pub use little::{LITTLE_TOLERANCE, LittleCheck, little};
pub use looks::{is_enough, looks};
pub use noise_sources::{NestedRun, NoiseSources, noise_sources};
pub use over_median::over_median;
pub use percentile::samples_for_percentile;
pub use scalability::{FEWEST_SESSION_COUNTS, Peak, REACH, Residual, Scalability};
pub use scalability_fit::ScalabilityPoint;
pub use sign_flips::sign_flips;
pub use spread::{Spread, blocks_to_see, spread, visible_with_spread};
pub use stalls::{SHORTEST_SILENCE_SECONDS, SHORTEST_STALL_SECONDS, silences, stalls};
pub use summary::{mean, median, quantile, standard_deviation};
pub use transient::{TwoLevels, still_falls, two_levels};
pub use trend::{Trend, theil_sen};
#[doc(inline)]
pub use verdict::{Direction, Grounds, Judgement, Rule, Verdict, judge};
pub use warm_up::{
    DRIFT_LIMIT, FEWEST_WARM_UP_SAMPLES, Mser5, Scale, Signal, WarmUp, mser5, warm_up,
};
