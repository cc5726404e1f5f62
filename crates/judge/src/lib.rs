//! From a record to a verdict: gates on every point, curves over the load, comparisons of arms over blocks.
//!
//! [`Analysis`] is everything that a report may say; reports only draw it. It is computed from an experiment record alone, so it can be
//! made again at any time, and it never feeds back into measuring.

mod analysis;

pub use analysis::{
    Analysis, ArmSummary, BlockOrder, Comparison, Curve, CurvePoint, Difference, Estimate, Judgement,
    Knee, LatencySummary, PointResult, Progress, Scalability, SeriesSecond, Steadiness, ThresholdResult,
    TimeSeries, Validity, ValidityState, Verdict,
};
