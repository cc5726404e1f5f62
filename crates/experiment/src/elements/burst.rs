//! `disk.burst`: credits that are saved while little is requested.

use crate::document::Checked;
use crate::elements::disk::bandwidth;
use crate::table::*;
use plimsoll_record::DiskBurst;

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

/// Burst credits of which the inflow may still depend on the disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BurstDraft {
    pub iops: f64,
    pub bandwidth: Option<f64>,
    pub credits: f64,
    pub refill: Option<f64>,
    pub start: f64,
}

impl BurstDraft {
    /// With the disk's own rate as the default refill; `None` if it has none.
    pub(crate) fn of_disk(self, joint_iops: Option<f64>) -> Option<DiskBurst> {
        Some(DiskBurst {
            iops: self.iops,
            bandwidth: self.bandwidth,
            credits: self.credits,
            refill: self.refill.or(joint_iops)?,
            start: self.start,
        })
    }
}

/// Burst credits as read; `None` for `off` or where they are wrong.
pub(crate) fn burst(checked: &Checked) -> Option<BurstDraft> {
    Some(BurstDraft {
        iops: checked.get(burst::iops)?.number()?,
        bandwidth: checked.get(burst::bandwidth).and_then(bandwidth),
        credits: checked.get(burst::credits)?.whole()? as f64,
        refill: checked.get(burst::refill).and_then(Checked::number),
        start: checked.get(burst::start).and_then(Checked::number).unwrap_or(1.0),
    })
}
