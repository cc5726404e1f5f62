//! What the points of a plan will not be able to tell, said before anything runs.

use crate::estimate::loaded_bytes_of;
use crate::needs::{cache_bytes, needs, not_loaded_once};
use crate::shares::shares;
use crate::words::figures_line;
use crate::{Arm, Checkpoints, EngineKind, Plan, PointRole, is_by_uri};
use plimsoll_record::quantities::units;
use plimsoll_record::quantities::units::about;
use plimsoll_record::{DiskChoice, DiskLatency, DiskSpec, ShapedFrom};
use plimsoll_workload::Mix;
use plimsoll_workload::documents::DocumentsSpec;

/// Length of a point from which on its steadiness can be judged, nanoseconds.
pub const JUDGED_FROM_NS: u64 = 10_000_000_000;
/// The default of mongod, nanoseconds.
const USUAL_CHECKPOINT_INTERVAL_NS: u64 = 60_000_000_000;
/// What one request for a page reads at most where nothing more is read ahead: the largest leaf page of an engine that is left as it is, bytes.
const LEAF_PAGE: u64 = 32 << 10;
/// What a request reads where nothing is read ahead, bytes.
const MEMORY_PAGE: u64 = 4 << 10;

/// One sentence for each thing that the points are too short for. Points of a search have a length for another purpose, and those that end after a number of operations may be shorter
/// still.
pub(crate) fn cautions(plan: &Plan, engines: &[EngineKind]) -> Vec<String> {
    let mut cautions = Vec::from_iter(unmeasured_operations(plan));
    cautions.extend(expiring_by_fixed_dates(plan));
    let duration_ns = plan.measurement.duration_ns;
    if plan.points.iter().all(|point| point.role == PointRole::Line) {
        return cautions;
    }
    if duration_ns < JUDGED_FROM_NS {
        cautions.push(format!(
            "points of {} are too short to judge whether they were steady: {} are needed",
            units::duration(duration_ns),
            units::duration(JUDGED_FROM_NS)
        ));
    }
    let writing: Vec<&Mix> = plan.mixes.iter().filter(|mix| mix.writes()).collect();
    if let Some(first) = writing.first()
        && plan.measurement.checkpoints == Checkpoints::AsTheyCome
    {
        let mut intervals: Vec<u64> =
            plan.arms.iter().filter_map(|arm| interval_ns(arm, engines)).collect();
        intervals.sort_unstable();
        intervals.dedup();
        for interval_ns in intervals.into_iter().filter(|ns| duration_ns < *ns) {
            let held = duration_ns as f64 / interval_ns as f64;
            cautions.push(format!(
                "a point of {} holds {held:.2} checkpoints of {}: what writes of workload {} cost at the next one is not measured",
                units::duration(duration_ns),
                units::duration(interval_ns),
                first.name
            ));
        }
    }
    cautions.extend(advice_to_load_once(plan, engines));
    let mut lacking: Vec<&str> = plan.arms.iter().filter_map(lacks_latency).collect();
    lacking.sort_unstable();
    lacking.dedup();
    cautions.extend(lacking.into_iter().map(|preset| {
        format!(
            "the disk {preset} has no latency here: response times on it are compared only where its IOPS or bandwidth bind"
        )
    }));
    let mut filled = Vec::new();
    for arm in &plan.arms {
        let Some((words, fill_ns)) = filling(plan, arm, engines) else {
            continue;
        };
        if !filled.contains(&words) && plan.measurement.warm_up_ns + duration_ns < fill_ns {
            filled.push(words);
        }
    }
    cautions.extend(filled);
    cautions
}

/// Names the operations of an application that have no weight in any mix.
fn unmeasured_operations(plan: &Plan) -> Option<String> {
    let documents = plan.arms.iter().find_map(|arm| arm.data.documents.as_ref())?;
    let measured: Vec<_> = plan.mixes.iter().flat_map(Mix::measured_operations).collect();
    let mut names = documents.operation_names();
    names.retain(|name| measured.iter().all(|operation| operation.name() != name));
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("no mix gives the operation {one} a weight: it is not measured")),
        some => Some(format!(
            "no mix gives the operations {} a weight: they are not measured",
            some.join(", ")
        )),
    }
}

/// Names what would expire by dates that are the same in every run.
fn expiring_by_fixed_dates(plan: &Plan) -> Vec<String> {
    let documents = plan.arms.iter().filter_map(|arm| arm.data.documents.as_ref());
    let mut found: Vec<(String, String)> =
        documents.flat_map(DocumentsSpec::expiring_by_fixed_dates).collect();
    found.sort_unstable();
    found.dedup();
    let words = |(collection, field): (String, String)| {
        format!(
            "documents of {collection} expire by `{field}`, whose dates are the same whenever a run begins: all may be gone before the first point, or none ever; `date: {{every: 15s, until: now}}` ends at the begin of each run"
        )
    };
    found.into_iter().map(words).collect()
}

/// Where storing the data takes longer than measuring, and could be done once.
fn advice_to_load_once(plan: &Plan, engines: &[EngineKind]) -> Option<String> {
    let can = plan.arms.iter().all(|arm| not_loaded_once(arm, engines).is_none());
    if plan.load_phase.once || !can {
        return None;
    }
    let needs = needs(plan, engines);
    let measuring_ns = needs.measuring_ns.saturating_add(needs.searching_ns);
    (needs.loading_ns > measuring_ns).then(|| {
        format!(
            "storing the data takes longer than measuring, about {} against {}: `load_phase: once` stores it one time for each arm",
            about(needs.loading_ns),
            about(measuring_ns)
        )
    })
}

/// The preset of an arm's emulated disk, if it has no latency: because none is published, or the file removes it.
pub fn lacks_latency(arm: &Arm) -> Option<&str> {
    let (preset, spec) = preset(arm)?;
    let latencies = [&spec.read_latency, &spec.write_latency];
    latencies.iter().all(|latency| **latency == DiskLatency::None).then_some(preset)
}

/// The preset of an arm's emulated disk, if a flush takes no time: because its duration is not published, or the file removes it.
pub fn lacks_flush_cost(arm: &Arm) -> Option<&str> {
    let (preset, spec) = preset(arm)?;
    (spec.flush_latency == DiskLatency::None).then_some(preset)
}

fn preset(arm: &Arm) -> Option<(&str, &DiskSpec)> {
    match &arm.rig.disk {
        Some(DiskChoice::Emulated { spec }) => Some((spec.preset.as_deref()?, spec)),
        _ => None,
    }
}

/// Time between two checkpoints of an arm; `None` without checkpoints, or if it is unknown.
fn interval_ns(arm: &Arm, engines: &[EngineKind]) -> Option<u64> {
    let kind = engines.iter().find(|kind| kind.name == arm.engine)?;
    kind.setting("checkpoint_interval").filter(|_| !is_by_uri(arm))?;
    let interval_ns = arm.settings.nanos("checkpoint_interval");
    Some(interval_ns.unwrap_or(USUAL_CHECKPOINT_INTERVAL_NS)).filter(|ns| *ns > 0)
}

/// How long the disk of an arm takes at least to fill an empty page cache with what is read from it, in words and nanoseconds.
fn filling(plan: &Plan, arm: &Arm, engines: &[EngineKind]) -> Option<(String, u64)> {
    let Some(DiskChoice::Emulated { spec }) = &arm.rig.disk else {
        return None;
    };
    let kind = engines.iter().find(|kind| kind.name == arm.engine)?;
    let data = loaded_bytes_of(arm);
    let is_beyond_cache = data > cache_bytes(arm, engines)? as f64 * kind.usable_cache;
    let is_shaped = plan.measurement.shaped_from != ShapedFrom::Measuring
        && plan.measurement.caches.are_as_loaded();
    let is_read = plan.mixes.iter().any(Mix::reads);
    if !is_beyond_cache || !is_shaped || !is_read {
        return None;
    }
    let missing = shares(arm, engines)?.page_cache * data;
    let request = arm.rig.readahead()?.clamp(MEMORY_PAGE, LEAF_PAGE);
    let reads = reads_per_second(plan, spec)?;
    let seconds = missing / (reads * request as f64);
    let fill_ns = (seconds * 1e9) as u64;
    let words = format!(
        "a page cache of {} takes {} or more to fill from a disk of {} by requests of {}, and a point is over after {}: what is measured is the filling",
        units::size((missing / f64::from(1 << 20)).round() as u64 * (1 << 20)),
        about(fill_ns),
        figures_line(spec, false),
        units::size(request),
        units::duration(plan.measurement.warm_up_ns + plan.measurement.duration_ns)
    );
    Some((words, fill_ns))
}

/// Reads that the disk lets through in a second, at the most sessions that wait for them at once; `None` where nothing limits them.
fn reads_per_second(plan: &Plan, disk: &DiskSpec) -> Option<f64> {
    let sessions = plan.points.iter().map(|point| point.load.sessions());
    let latency_ns = disk.read_latency.median_ns();
    let by_latency = sessions
        .max()
        .filter(|_| latency_ns > 0.0)
        .map(|sessions| f64::from(sessions) * 1e9 / latency_ns);
    let limits = [disk.iops.read, disk.iops.joint, by_latency];
    limits.into_iter().flatten().reduce(f64::min)
}
