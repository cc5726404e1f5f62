//! Whether arms that differ in their disks were distinguished by them at all.

use crate::because::point_of;
use crate::{Comparison, Curve, CurvePoint};
use plimsoll_plan::Plan;
use plimsoll_record::{DiskChoice, Warning, WarningId};

/// Fewer requests for an operation than this are the engine's housekeeping.
const REACHES_FROM: f64 = 0.001;

/// One warning for each deciding comparison of two arms with different disks if neither disk reached its limit.
pub(crate) fn warnings(plan: &Plan, comparisons: &[Comparison], curves: &[Curve]) -> Vec<Warning> {
    let disk = |name: &str| {
        let arm = plan.arms.iter().find(|arm| arm.name == name);
        arm.and_then(|arm| arm.rig.disk.as_ref())
    };
    let mut warnings: Vec<Warning> = Vec::new();
    for comparison in comparisons.iter().filter(|comparison| comparison.primary) {
        let Comparison { baseline, arm, mix, .. } = comparison;
        let (Some(left), Some(right)) = (disk(baseline), disk(arm)) else {
            continue;
        };
        if is_same(left, right) {
            continue;
        }
        let requests = |name: &str| requests(point_of(curves, name, mix, comparison.point)?);
        let (Some(of_baseline), Some(of_arm)) = (requests(baseline), requests(arm)) else {
            continue;
        };
        if of_baseline.max(of_arm) >= REACHES_FROM {
            continue;
        }
        let subject = format!("{arm} against {baseline}, {mix} at {}", comparison.load_label);
        if warnings.iter().any(|warning| warning.subject == subject) {
            continue;
        }
        let message = "hardly a request reached either disk: memory answered";
        warnings.push(Warning::new(WarningId::DiskUnreached, &subject, message));
    }
    warnings
}

/// Whether nothing is different that an operation could feel.
fn is_same(left: &DiskChoice, right: &DiskChoice) -> bool {
    match (left, right) {
        (DiskChoice::Emulated { spec: left }, DiskChoice::Emulated { spec: right }) => {
            let mut left = left.clone();
            left.preset.clone_from(&right.preset);
            left.capacity_bytes = right.capacity_bytes;
            left.trace_requests = right.trace_requests;
            left == *right
        }
        _ => left == right,
    }
}

/// Reads and writes at the device for an operation.
fn requests(point: &CurvePoint) -> Option<f64> {
    let figures = &point.figures.median;
    Some(figures.device_reads_per_operation? + figures.device_writes_per_operation?)
}
