//! Sweeps and lists of points: what `threads` and `rates` of a load take.

use crate::table::*;

pub(crate) const FACTOR: Shape = Shape::number(1.01, 1_000.0);

/// The word for a sweep with everything at its default.
pub(crate) const UNTIL_BENT: &str = "until-bent";
pub(crate) const SWEPT: Shape = Shape::choice(&[UNTIL_BENT]);

object! {
    THREADS_SWEEP threads_sweep: "Points that follow from each other, measured until the curve has bent: throughput has fallen, or has risen by less than 2 %, over two points, \
         or the objective is missed."
    from = SESSIONS, Default("1"), "1";
        "Sessions of the first point.";
    to = SESSIONS, Default("1024"), "256";
        "No point has more, bent or not.";
    factor = FACTOR, Default("2"), "1.5";
        "Ratio of each point to the one before.";
}

object! {
    RATES_SWEEP rates_sweep: "Points that follow from each other, measured until the curve has bent: throughput has fallen, or has risen by less than 2 %, over two points, \
         or the objective is missed."
    from = RATE, Default("100"), "200";
        "Rate of the first point.";
    to = RATE, Default("1M"), "500k";
        "No point has a higher one, bent or not.";
    factor = FACTOR, Default("2"), "1.5";
        "Ratio of each point to the one before.";
}
