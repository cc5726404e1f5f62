//! The disk maps of a page: of the runs whose traces lie on this machine.

use crate::screen::tell;
use plimsoll_diskmap::{
    DiskmapError, MOST_MAPS, RunMap, STILL_WIDTH, accesses_of, last_of_each_arm,
};
use plimsoll_page::experiment::DiskMap;
use plimsoll_record::RunRecord;
use plimsoll_report::Report;
use plimsoll_report::arms::telling_arms;

/// What stands around a map: its table, and names.
const AROUND_BYTES: usize = 8 << 10;
/// With less than this, a map says nothing.
const LEAST_BYTES: usize = 48 << 10;

/// Draws the last traced run of each arm, in so many bytes of the page altogether. What cannot be drawn is said on the terminal and left out.
pub fn maps(report: &Report<'_>, room_bytes: usize) -> Vec<DiskMap> {
    let mut traced = Vec::new();
    for run in last_of_each_arm(report.record, &telling_arms(report.analysis)) {
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
    tell(format_args!(
        "the page has no disk map of {} in block {}: {error}",
        run.arm,
        u64::from(run.block) + 1
    ));
}
