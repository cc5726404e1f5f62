//! `disk.burst`: credits that are saved while little is requested.

use crate::document::Checked;
use crate::keys::burst::burst;
use plimsoll_record::DiskBurst;

/// Burst credits whose inflow may still depend on the disk.
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
        bandwidth: checked.get(burst::bandwidth).and_then(Checked::whole).map(|bytes| bytes as f64),
        credits: checked.get(burst::credits)?.whole()? as f64,
        refill: checked.get(burst::refill).and_then(Checked::number),
        start: checked.get(burst::start).and_then(Checked::number).unwrap_or(1.0),
    })
}
