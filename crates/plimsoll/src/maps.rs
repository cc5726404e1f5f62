//! The disk maps of a page: of the runs whose traces lie on this machine.

use plimsoll_diskmap::{DiskmapError, RunMap, accesses_of};
use plimsoll_record::{ExperimentRecord, RunRecord};
use plimsoll_report::page::DiskMap;

/// Maps in one page: one for each arm, the first ones.
const MOST_MAPS: usize = 4;
/// Of a still, pixels.
const STILL_WIDTH: usize = 768;
/// What stands around a map: its table, and names.
const AROUND_BYTES: usize = 8 << 10;
/// With less than this, a map says nothing.
const LEAST_BYTES: usize = 48 << 10;

/// Draws the last traced run of each arm, in so many bytes of the page altogether. What cannot be drawn is said on the terminal and left out.
pub fn maps(record: &ExperimentRecord, room_bytes: usize) -> Vec<DiskMap> {
    let mut traced = Vec::new();
    for run in last_of_each_arm(record) {
        if traced.len() == MOST_MAPS {
            break;
        }
        match accesses_of(run) {
            Ok(accesses) => traced.push((run, accesses)),
            Err(error) => told(run, &error),
        }
    }
    let share = room_bytes / traced.len().max(1);
    // In base64 three bytes are four.
    let bytes = share.saturating_sub(AROUND_BYTES) / 4 * 3;
    if bytes < LEAST_BYTES {
        return Vec::new();
    }
    let mut maps = Vec::new();
    for (run, accesses) in &traced {
        match RunMap::of(run, accesses, bytes, STILL_WIDTH) {
            Ok(drawn) => maps.push(DiskMap::of(run, drawn)),
            Err(error) => told(run, &error),
        }
    }
    maps
}

fn told(run: &RunRecord, error: &DiskmapError) {
    anstream::eprintln!(
        "the page has no disk map of {} in block {}: {error}",
        run.arm,
        u64::from(run.block) + 1
    );
}

/// Of each arm the last run whose trace is still there, in the order in which the arms were measured first.
fn last_of_each_arm(record: &ExperimentRecord) -> Vec<&RunRecord> {
    let mut last: Vec<&RunRecord> = Vec::new();
    for run in &record.runs {
        let trace = run.rig.as_ref().and_then(|rig| rig.trace.as_ref());
        if !trace.is_some_and(|trace| trace.path.is_file()) {
            continue;
        }
        match last.iter_mut().find(|known| known.arm == run.arm) {
            Some(known) => {
                if (run.block, run.attempt) > (known.block, known.attempt) {
                    *known = run;
                }
            }
            None => last.push(run),
        }
    }
    last
}
