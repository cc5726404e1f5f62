//! What the disk of a preset has no figure for, because none is published, and which comparisons that rules out.

use crate::CauseKind;
use crate::rules::cause;
use crate::sample::Sample;
use plimsoll_plan::{Arm, Metric, Plan, lacks_flush_cost, lacks_latency};
use plimsoll_stats::median;

/// Below this many reads of the device for each operation, what one of them takes is not seen in a percentile of interest.
const READS_THAT_MATTER: f64 = 0.005;
/// Settings that change when a write counts as done.
const DURABILITY: [&str; 4] = ["durable", "journal", "journal_flush_interval", "write_concern"];

/// Why a metric of two arms is not compared: it depends on a time that their disk lacks here because it is unpublished.
pub(crate) fn obstacle(
    plan: &Plan,
    pair: [usize; 2],
    metric: Metric,
    samples: [&[Sample]; 2],
) -> Option<String> {
    let [a, b] = pair.map(|arm| &plan.arms[arm]);
    let setting = |name: &str| [a, b].map(|arm| arm.settings.0.get(name));
    let differs = |name: &&str| setting(name)[0] != setting(name)[1];
    if let Some(name) = DURABILITY.iter().find(|name| differs(name))
        && let Some(preset) = [a, b].into_iter().find_map(lacks_flush_cost)
    {
        return Some(format!(
            "a flush of the disk {preset} takes no time here, so what `{name}` costs on it is not known: describe the disk with `flush` and `latency`"
        ));
    }
    let is_a_time = matches!(
        metric.of_all(),
        Metric::ResponseMean | Metric::Response { .. } | Metric::Service { .. }
    );
    if !is_a_time {
        return None;
    }
    let sides = [a, b].into_iter().zip(samples);
    let mut lacking = sides.filter_map(|(arm, samples)| Some((lacks_latency(arm)?, arm, samples)));
    let (preset, ..) = lacking.find(|(_, arm, samples)| depends_on_latency(plan, arm, samples))?;
    Some(format!(
        "the disk {preset} has no latency here, so response times on it are too short: describe it with one, such as `disk: {{preset: {preset}, latency: 1ms}}`"
    ))
}

/// Whether operations of an arm wait for its disk, and not for the limits of its requests.
fn depends_on_latency(plan: &Plan, arm: &Arm, samples: &[Sample]) -> bool {
    let reads = samples.iter().filter_map(|one| one.extract.figures.device_reads_per_operation);
    if median(&reads.collect::<Vec<f64>>()).is_none_or(|reads| reads < READS_THAT_MATTER) {
        return false;
    }
    let limits = [CauseKind::DiskIops, CauseKind::DiskBandwidth, CauseKind::DiskQueueDepth];
    let cause = cause(plan, arm, &samples.iter().collect::<Vec<_>>());
    !cause.is_some_and(|cause| limits.contains(&cause.kind))
}
