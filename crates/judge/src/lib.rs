//! From a record to a verdict: gates on every point, curves over the load, comparisons of arms over blocks.
//!
//! [`Analysis`] is everything that a report may say; reports only draw it. It is computed from an experiment record alone, so it can be
//! made again at any time, and it never feeds back into measuring.

mod analyse;
mod analysis;
mod arms;
mod compare_records;
mod comparison;
mod curve;
mod deciding;
mod difference;
mod distribution;
mod error;
mod estimate;
mod extract;
mod gates;
mod headline;
mod outcome;
mod sample;
mod select;
mod sentence;
mod steadiness;
mod threshold;
mod validity;
mod warnings;
mod words;

pub use analyse::{analyse, plan_of};
pub use analysis::{
    Analysis, ArmSummary, BlockOrder, Comparison, Curve, CurvePoint, Difference, Estimate,
    Judgement, Knee, LatencySummary, PointResult, Progress, Scalability, SeriesSecond, Steadiness,
    ThresholdResult, TimeSeries, Validity, ValidityState, Verdict,
};
pub use compare_records::{RecordComparison, Side, UnpairedComparison, compare_records};
pub use error::JudgeError;
pub use outcome::Outcome;
