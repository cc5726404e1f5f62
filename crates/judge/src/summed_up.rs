//! A record without the histograms of its seconds, which take nine tenths of it.

use crate::analyse::plan_of;
use crate::error::JudgeError;
use crate::extract::{Extract, Totals};
use crate::gates::telemetry_cores;
use plimsoll_plan::Arm;
use plimsoll_record::{ExperimentRecord, PointRecord, RunRecord, Slice, SummedUp};

/// The record with the latencies of each finished point added up, and counts, means and ends in the place of the histograms of its seconds. Its analysis is the
/// same; how response times were spread from second to second is not known any more. The trials of a search stay as they are: whether one held the objective is judged
/// from the histograms of its seconds.
pub fn summed_up(record: &ExperimentRecord) -> Result<ExperimentRecord, JudgeError> {
    let plan = plan_of(record)?;
    let mut small = record.clone();
    for (run, small) in record.runs.iter().zip(&mut small.runs) {
        if let Some(arm) = plan.arms.iter().find(|arm| arm.name == run.arm) {
            for point in small.load.iter_mut().chain(&mut small.points) {
                sum_up(point, run, arm);
            }
        }
    }
    Ok(small)
}

fn sum_up(point: &mut PointRecord, run: &RunRecord, arm: &Arm) {
    if point.imported().is_some() || point.summed_up().is_some() || point.label.trial.is_some() {
        return;
    }
    let extract = Extract::of(point, arm, &[], telemetry_cores(point, run, arm));
    let Some(end) = &mut point.end else { return };
    let begin = extract.first_measured + extract.settling.cut;
    let kept: Vec<&Slice> = point.slices.iter().skip(begin).collect();
    let whole = |percentile: Option<f64>| percentile.map(|nanos| nanos as u64);
    let seconds = extract.seconds.iter();
    end.summed_up = Some(Box::new(SummedUp {
        kept: Totals::of(&kept).into_operations(),
        units: seconds.map(|second| [second.p50_ns, second.p99_ns].map(whole)).collect(),
    }));
    for slice in &mut point.slices {
        for part in &mut slice.operations {
            part.latencies = part.latencies.without_buckets();
        }
    }
}
