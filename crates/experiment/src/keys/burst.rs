//! `disk.burst`: credits that are saved while little is requested.

use crate::table::*;

/// Burst credits, or none where the preset has some.
pub(crate) const BURST_OR_OFF: Shape =
    Shape::Any(&[Shape::choice(&["off"]), Shape::Object(&BURST)]);

object! {
    BURST burst: "Credits that are saved while little is asked and spent while much is: one is one request. Without any left, the other \
            limits of the disk hold."
    iops = RATE, Required, "3000";
        "Most requests per second while there are credits.";
    bandwidth = Shape::Bandwidth, Optional, "170MB/s";
        "Most bytes per second while there are credits, where that is more than without.";
    credits = Shape::count(1, 1_000_000_000_000), Required, "5.4M";
        "The most that can be saved.";
    refill = RATE, Optional, "100";
        "Credits that come in per second; without it, the IOPS of the disk.";
    start = Shape::number(0.0, 1.0), Default("100%"), "0%";
        "Share of the most that is there at the beginning of a run.";
}
