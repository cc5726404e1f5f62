//! Whether what an arm stood on is what was requested.

use crate::WorkingSetResult;
use crate::extract::Extract;
use crate::identity::{BROKEN_FROM, bursting, identities};
use crate::select::Selection;
use crate::words::counted;
use crate::words::{bytes, duration, number, percent};
use plimsoll_plan::{Arm, Plan};
use plimsoll_record::{
    Calibration, CalibrationCheck, DiskChoice, DiskSpec, RigSpec, RunRecord, Warning, WarningId,
};
use plimsoll_stats::{mean, median};
use std::collections::BTreeMap;

/// Highest p99 of the emulator's lateness, as a share of the mean latency at the device.
pub(crate) const LATE_SHARE: f64 = 0.05;
/// Highest p99 of the emulator's lateness, nanoseconds.
pub(crate) const LATE_NS: u64 = 500_000;
/// Share of the memory limit that processes may take.
const MEMORY_USED: f64 = 0.95;
/// How far the room for the page cache may be from the one requested, as a share of it.
const PAGE_CACHE_OFF: f64 = 0.1;
/// How far the working set may be from the one requested, as a share of it.
const WORKING_SET_OFF: f64 = 0.05;

/// The emulated disk of an arm, if it has one.
pub(crate) fn emulated(rig: &RigSpec) -> Option<&DiskSpec> {
    match &rig.disk {
        Some(DiskChoice::Emulated { spec }) => Some(spec),
        Some(DiskChoice::Device { .. }) | None => None,
    }
}

/// The latest calibration that holds for the arm's emulated disk.
pub(crate) fn calibration_of<'a>(
    rig: &RigSpec,
    calibrations: &'a [Calibration],
) -> Option<&'a Calibration> {
    let disk = emulated(rig)?;
    let of_disk = calibrations.iter().filter(|one| one.is_of(disk));
    of_disk.max_by(|left, right| left.at.cmp(&right.at))
}

/// What there is to say about the disk and the memory of one arm at one point of one run. `is_point` is false for the load phase, in which a disk may be
/// without limits.
pub(crate) fn remarks(
    extract: &Extract,
    is_point: bool,
    run: &RunRecord,
    arm: &Arm,
    calibrations: &[Calibration],
) -> Vec<Warning> {
    let subject = crate::words::run_subject(run);
    let mut warnings = Vec::new();
    let mut warn = |id, message: String| warnings.push(Warning::new(id, &subject, message));
    if let Some(disk) = emulated(&arm.rig).filter(|disk| is_point && disk.is_limited()) {
        if let Some(message) = uncalibrated(disk, &arm.rig, calibrations) {
            warn(WarningId::DiskNotCalibrated, message);
        }
        if let Some(share) = extract.figures.device_shaped
            && share < 1.0
        {
            let message = format!(
                "the disk had no limits for {} of the measured time",
                percent(1.0 - share, 1)
            );
            warn(WarningId::DiskUnshaped, message);
        }
        if let Some(message) = late(extract, run) {
            warn(WarningId::EmulatorLate, message);
        }
        let bursting = bursting(disk, extract.kept_figures());
        for check in identities(disk, &extract.figures, bursting) {
            if check.ratio > BROKEN_FROM {
                let message = format!(
                    "{} {} per operation and a limit of {} allow {} op/s, {} were measured",
                    number(check.per_operation),
                    check.kind.name(),
                    number(check.cap),
                    number(check.at_most),
                    number(check.measured)
                );
                warn(WarningId::IdentityBroken, message);
                break;
            }
        }
    }
    if let (Some(limit), Some(processes)) =
        (arm.rig.limits.memory_bytes, extract.figures.group_processes_bytes)
        && processes >= MEMORY_USED * limit as f64
    {
        let message =
            format!("processes took {} of the limit of {}", bytes(processes), bytes(limit as f64));
        warn(WarningId::MemoryLimit, message);
    }
    if let (Some(requested), Some(got)) =
        (arm.rig.limits.page_cache_bytes, page_cache_room(extract, run))
        && is_point
        && (got / requested as f64 - 1.0).abs() > PAGE_CACHE_OFF
    {
        let message = format!(
            "there was room for {} of page cache, {} was requested",
            bytes(got),
            bytes(requested as f64)
        );
        warn(WarningId::PageCache, message);
    }
    warnings
}

/// Bytes that the processes left for the page cache, of the limit while the point was measured; older records have the one that was set before it. The last second is
/// reported when the sessions have ended and given up their memory, and counts only where there is no other.
fn page_cache_room(extract: &Extract, run: &RunRecord) -> Option<f64> {
    let set_before = run.rig.as_ref()?.limits.memory_bytes;
    let seconds = extract.kept_figures();
    let seconds = match seconds.split_last()? {
        (_, []) => seconds,
        (_, before) => before,
    };
    let rooms: Vec<f64> = seconds
        .iter()
        .filter_map(|figures| {
            let limit = figures.group_limit_bytes;
            let limit = limit.or(set_before.map(|bytes| bytes as f64))?;
            let processes = figures.group_memory_bytes? - figures.group_page_cache_bytes?;
            Some((limit - processes).max(0.0))
        })
        .collect();
    mean(&rooms)
}

/// Whether the arm's disk is an emulated one with limits that is not known to keep them.
pub(crate) fn is_uncalibrated(rig: &RigSpec, calibrations: &[Calibration]) -> bool {
    emulated(rig)
        .is_some_and(|disk| disk.is_limited() && uncalibrated(disk, rig, calibrations).is_some())
}

/// Why the disk is not known to be what was requested.
fn uncalibrated(disk: &DiskSpec, rig: &RigSpec, calibrations: &[Calibration]) -> Option<String> {
    let name = disk.preset.as_deref().unwrap_or("the emulated disk");
    let Some(calibration) = calibration_of(rig, calibrations) else {
        return Some(format!("{name} was not calibrated"));
    };
    let failed: Vec<&CalibrationCheck> =
        calibration.checks.iter().filter(|check| !check.passed()).collect();
    let first = failed.first()?;
    let more = match failed.len() {
        1 => String::new(),
        count => format!("; so {} more", counted(count - 1, "figure")),
    };
    Some(format!(
        "{name} is not as requested: {}: {} requested, {} measured{more}",
        first.what,
        in_unit(first.requested, &first.unit),
        in_unit(first.measured, &first.unit)
    ))
}

/// A figure of fio in people's units.
fn in_unit(value: f64, unit: &str) -> String {
    match unit {
        "ns" => duration(value),
        "bytes/s" => format!("{}/s", bytes(value)),
        _ => format!("{} {unit}", number(value)),
    }
}

/// Whether the emulator answered later than it should have, where the point used the disk at all.
fn late(extract: &Extract, run: &RunRecord) -> Option<String> {
    let lateness = run.rig.as_ref()?.lateness?;
    let figures = &extract.figures;
    let reads = figures.device_reads_per_second.unwrap_or(0.0);
    let writes = figures.device_writes_per_second.unwrap_or(0.0);
    if lateness.held == 0 || reads + writes < 1.0 {
        return None;
    }
    let total_ns = reads * figures.device_read_ns.unwrap_or(0.0)
        + writes * figures.device_write_ns.unwrap_or(0.0);
    let mean_ns = total_ns / (reads + writes);
    let too_late = lateness.p99_ns > LATE_NS
        || (mean_ns > 0.0 && lateness.p99_ns as f64 > LATE_SHARE * mean_ns);
    too_late.then(|| {
        format!(
            "answers were up to {} late (p99), requests took {} on average",
            duration(lateness.p99_ns as f64),
            duration(mean_ns)
        )
    })
}

/// Arms whose working set came out different from what was requested.
pub(crate) fn working_sets(plan: &Plan, selection: &Selection<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (arm, runs) in plan.arms.iter().zip(&selection.finished) {
        if let Some(set) = working_set(arm, runs)
            && let Some(got) = set.got
            && (got / set.requested - 1.0).abs() > WORKING_SET_OFF
        {
            let message = format!(
                "the data is {} of the usable cache, {} was requested",
                percent(got, 0),
                percent(set.requested, 0)
            );
            warnings.push(Warning::new(WarningId::WorkingSet, &arm.name, message));
        }
    }
    warnings
}

/// Bytes of data and indexes after the load of each run.
pub(crate) fn stored(runs: &BTreeMap<u32, &RunRecord>) -> Vec<f64> {
    let known = runs.values().filter_map(|run| run.data_bytes);
    known.map(|bytes| bytes as f64).collect()
}

/// What the working set came to, where the file asks for one.
pub(crate) fn working_set(arm: &Arm, runs: &BTreeMap<u32, &RunRecord>) -> Option<WorkingSetResult> {
    let requested = arm.working_set?;
    let data_bytes = median(&stored(runs));
    let usable = requested.usable_cache_bytes as f64;
    Some(WorkingSetResult {
        requested: requested.share,
        got: data_bytes.filter(|_| usable > 0.0).map(|bytes| bytes / usable),
        records: arm.data.key_count(),
        data_bytes,
        usable_cache_bytes: requested.usable_cache_bytes,
    })
}
