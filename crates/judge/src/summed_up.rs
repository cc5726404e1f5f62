//! A record without the histograms of its seconds, which take nine tenths of it.

use crate::analyse::plan_of;
use crate::error::JudgeError;
use crate::extract::{Extract, Totals};
use crate::gates::telemetry_cores;
use crate::steadiness::{UNIT_PERCENTILES, successful_units};
use plimsoll_plan::Arm;
use plimsoll_record::{
    ExperimentRecord, PointRecord, RunRecord, Slice, SummedUp, unit_percentiles_ns,
};

/// The record with the latencies of each finished point added up, and counts, means and ends in the place of the histograms of its seconds. Its analysis is the
/// same; how response times were spread from second to second is not known any more.
pub fn summed_up(record: &ExperimentRecord) -> Result<ExperimentRecord, JudgeError> {
    let plan = plan_of(record)?;
    let mut small = record.clone();
    for run in &mut small.runs {
        let Some(arm) = plan.arms.iter().find(|arm| arm.name == run.arm) else {
            continue;
        };
        let mut load = run.load.take();
        let mut points = std::mem::take(&mut run.points);
        for point in load.iter_mut().chain(&mut points) {
            sum_up(point, run, arm);
        }
        run.load = load;
        run.points = points;
    }
    Ok(small)
}

fn sum_up(point: &mut PointRecord, run: &RunRecord, arm: &Arm) {
    let is_whole = |point: &PointRecord| {
        let end = point.end.as_ref();
        end.is_some_and(|end| end.summed_up.is_none() && end.imported.is_none())
    };
    if !is_whole(point) {
        return;
    }
    let extract = Extract::of(point, arm, &[], telemetry_cores(point, run, arm));
    let begin = extract.first_measured + extract.settling.cut;
    let kept: Vec<&Slice> = point.slices.iter().skip(begin).collect();
    let units = point
        .slices
        .iter()
        .map(|slice| unit_percentiles_ns(&successful_units(slice), UNIT_PERCENTILES));
    let sums = SummedUp {
        kept: Totals::of(&kept).into_operations(),
        units: units.collect(),
    };
    for part in point
        .slices
        .iter_mut()
        .flat_map(|slice| &mut slice.operations)
    {
        part.latencies = part.latencies.without_buckets();
    }
    if let Some(end) = &mut point.end {
        end.summed_up = Some(Box::new(sums));
    }
}
