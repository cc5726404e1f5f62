//! Every emulated disk is compared with its description before anything is measured with it.

use crate::error::RunnerError;
use crate::execution::Execution;
use crate::watcher::{Event, Watcher};
use plimsoll_plan::Arm;
use plimsoll_record::{Calibration, DiskChoice, DiskSpec};
use plimsoll_rig::RigError;
use plimsoll_rig::fio::Progress;
use plimsoll_store::Store;
use std::ops::ControlFlow;

/// A machine can be disturbed for a moment; a disk that is wrong is wrong again.
const TRIES: u32 = 3;
/// Enough for fio to find other blocks each time, and little enough for memory.
const CAPACITY_BYTES: u64 = 1 << 30;

/// Calibrates the emulated disks of a plan that were not yet, or without success, and keeps what fio said.
pub(crate) fn calibrate_disks(
    execution: &Execution<'_>,
    id: &str,
    store: &mut Store,
    watcher: &mut dyn Watcher,
) -> Result<(), RunnerError> {
    let mut known = store.head(id)?.calibrations;
    for earlier in &execution.calibrations {
        if !known.contains(earlier) {
            store.add_calibration(id, earlier)?;
            known.push(earlier.clone());
        }
    }
    for arm in &execution.plan.arms {
        let Some(DiskChoice::Emulated { spec }) = &arm.rig.disk else {
            continue;
        };
        let host = execution.hosts.host(arm.on.as_deref())?;
        let machine = host.machine()?.fingerprint();
        let is_known = |one: &Calibration| {
            let is_there =
                one.host == arm.on && one.machine.as_ref().is_none_or(|it| *it == machine);
            one.passed() && one.is_of(spec) && is_there
        };
        for attempt in 1..=TRIES {
            if known.iter().any(is_known) {
                break;
            }
            if watcher.interruptions() > 0 {
                return Ok(());
            }
            watcher
                .event(&Event::Note(&format!("calibrating the disk of arm {} with fio", arm.name)));
            let mut notes = Vec::new();
            let requested =
                DiskSpec { capacity_bytes: CAPACITY_BYTES, trace_requests: 0, ..spec.clone() };
            let calibrated = host.rigs().calibrate(
                requested,
                arm.directory.clone(),
                id,
                &mut |note| notes.push(note.to_owned()),
                &mut |_: &Progress| match watcher.interruptions() {
                    0 => ControlFlow::Continue(()),
                    _ => ControlFlow::Break(()),
                },
            );
            for note in &notes {
                watcher.event(&Event::Note(note));
            }
            let mut calibration = match calibrated {
                // The user stops it; no run was begun.
                Err(RigError::Interrupted) => return Ok(()),
                calibrated => calibrated?,
            };
            calibration.host.clone_from(&arm.on);
            calibration.machine = Some(machine.clone());
            store.add_calibration(id, &calibration)?;
            if !calibration.passed() {
                let failed = explain(arm, &calibration);
                if attempt == TRIES {
                    return Err(RunnerError::NotCalibrated(failed));
                }
                watcher.event(&Event::Note(&format!("{failed}; once more")));
            }
            known.push(calibration);
        }
    }
    Ok(())
}

fn explain(arm: &Arm, calibration: &Calibration) -> String {
    let wrong: Vec<String> = calibration
        .checks
        .iter()
        .filter(|check| !check.passed())
        .map(|check| {
            format!(
                "{}: {:.0} {} requested, {:.0} measured",
                check.what, check.requested, check.unit, check.measured
            )
        })
        .collect();
    format!(
        "the disk of arm {} is not as requested ({}): this machine is too busy or too slow for it; `plimsoll disk calibrate` tries it alone",
        arm.name,
        wrong.join("; ")
    )
}
