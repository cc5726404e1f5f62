//! `disk.burst`: credits that are saved while little is requested.

use crate::table::*;

/// Burst credits, or none where the preset has some.
pub(crate) const BURST_OR_OFF: Shape =
    Shape::Any(&[Shape::choice(&["off"]), Shape::Object(&BURST)]);

object! {
    BURST burst: "Credits that are saved while the load is low and spent while it is high; one credit is one request. Without credits, the other limits of the \
         disk apply."
    iops = RATE, Required, "3000";
        "Highest rate of requests per second while there are credits.";
    bandwidth = Shape::Bandwidth, Optional, "170MB/s";
        "Highest rate of bytes per second while there are credits, if it is more than without.";
    credits = Shape::count(1, 1_000_000_000_000), Required, "5.4M";
        "Largest number of credits that can be saved.";
    refill = RATE, Optional, "100";
        "Credits earned per second. Without it, the IOPS of the disk.";
    start = Shape::number(0.0, 1.0), Default("100%"), "0%";
        "Credits at the beginning of a run, as a share of the largest number.";
}
