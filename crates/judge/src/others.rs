//! What other programs took of the processors while a point was measured.

use crate::Figures;
use plimsoll_plan::Arm;
use plimsoll_record::{DiskChoice, PointRecord, RunRecord};

/// Least share of the processors that must be left, so that its logarithm says something.
const LEAST_LEFT: f64 = 0.05;

/// Share of the processors' time that other programs left to the run in its measured seconds; `None` where that is not known.
///
/// What was busy, less worker, server and the daemon of an emulated disk, is everything else. It counts up to what other programs used for certain in the whole of the
/// point: threads of the kernel work for the arm, and what they take is its own.
pub(crate) fn left_by_others(
    figures: &Figures,
    point: &PointRecord,
    run: &RunRecord,
    arm: &Arm,
    cores: u32,
) -> Option<f64> {
    let end = point.end.as_ref()?;
    let is_emulated = matches!(arm.rig.disk, Some(DiskChoice::Emulated { .. }));
    if arm.on.is_some() || !end.hosts.is_empty() {
        return None;
    }
    let foreign = end.foreign.as_deref()?;
    // Other programs can be on both halves.
    let halves = if run.half.is_some() { 2 } else { 1 };
    let everywhere = cores.checked_mul(halves).filter(|cores| *cores > 0)?;
    let most = foreign.share(everywhere) * f64::from(everywhere);
    let server = match &arm.rig.server {
        Some(_) => figures.server_processors?,
        None => 0.0,
    };
    let disk = if is_emulated { figures.disk_processors? } else { 0.0 };
    let used = figures.worker_processors? + server + disk;
    let cores = f64::from(cores);
    let others = (figures.machine_busy? * cores - used).clamp(0.0, most);
    Some((1.0 - others / cores).max(LEAST_LEFT))
}
