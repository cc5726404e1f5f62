//! What the gates found at a point of a run.

use plimsoll_record::Warning;

/// Highest share of the sessions' time that the generator may take for itself: outside of calls and pauses in a closed loop, by waking late in an open
/// one. Simulations in `loadgen` show that percentiles of an open loop stay within 2 % of the theory up to here.
pub(crate) const GENERATOR_LIMIT: f64 = 0.2;

/// What the gates found at one point of one run.
#[derive(Debug, Default)]
pub(crate) struct Gated {
    /// Every remark, the subject being the run.
    pub(crate) warnings: Vec<Warning>,
    /// Whether the point has an end and operations at all; the rest of validity is in the warnings.
    pub(crate) complete: bool,
    /// Share of the sessions' time that the generator took: outside of engine calls and pauses in a closed loop, by waking late in an open one.
    pub(crate) generator_share: Option<f64>,
    /// p99 of the generator's lag in an open loop, nanoseconds.
    pub(crate) generator_lag_p99_ns: Option<f64>,
    /// Operations due per second in an open loop.
    pub(crate) due: Option<f64>,
    /// Finished over due, in an open loop.
    pub(crate) achieved: Option<f64>,
    /// What other programs used of the machine on which they used most, where that is known.
    pub(crate) foreign: Option<ForeignUse>,
}

/// What other programs used of a machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForeignUse {
    pub(crate) share: f64,
    pub(crate) elapsed_ns: u64,
    /// Whether the other side of a duet had the same company.
    pub(crate) is_shared: bool,
}
