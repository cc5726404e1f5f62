//! The disk maps of a page: of the runs whose traces lie on this machine, or as they came with a bundle.

use crate::screen::tell;
use plimsoll_record::RunRecord;
use plimsoll_report::Report;
use plimsoll_report::arms::telling_arms;
use plimsoll_report::page::experiment::{AROUND_A_MAP, DiskMap};
use plimsoll_trace::diskmap::{
    DiskmapError, MOST_MAPS, RunMap, STILL_WIDTH, accesses_of, last_of_each_arm, shortened,
};

/// With less than this, a map says nothing.
const LEAST_BYTES: usize = 48 << 10;

/// The maps of a page that has this many bytes for them: drawn here where there are traces, and otherwise those of the bundle that the record came in.
pub fn maps(report: &Report<'_>, bundled: &[DiskMap], room_bytes: usize) -> Vec<DiskMap> {
    let drawn = drawn_here(report, room_bytes);
    if !drawn.is_empty() {
        return drawn;
    }
    let runs = &report.record.runs;
    let is_of_a_run = |map: &DiskMap| {
        let mut runs = runs.iter();
        runs.any(|run| run.arm == map.arm && run.block == map.block)
    };
    let mut maps: Vec<DiskMap> = bundled.iter().filter(|map| is_of_a_run(map)).cloned().collect();
    maps.truncate(MOST_MAPS);
    let bytes = |map: &DiskMap| map.packed.len() + map.still.len();
    let on_page = |map: &DiskMap| AROUND_A_MAP + bytes(map).div_ceil(3) * 4;
    if maps.iter().map(on_page).sum::<usize>() <= room_bytes {
        return maps;
    }
    // Rather fewer maps than such that say nothing.
    maps.truncate(room_bytes / (AROUND_A_MAP + LEAST_BYTES.div_ceil(3) * 4));
    let most_bytes = bytes_of_each(room_bytes, maps.len());
    maps.retain_mut(|map| {
        let most_packed = most_bytes.saturating_sub(map.still.len());
        if bytes(map) > most_bytes
            && let Ok(shorter) = shortened(&map.packed, most_packed)
        {
            map.packed = shorter;
        }
        bytes(map) <= most_bytes
    });
    maps
}

/// What each of several maps may take of a page that has this many bytes for them: in base64 three bytes are four.
fn bytes_of_each(room_bytes: usize, maps: usize) -> usize {
    (room_bytes / maps.max(1)).saturating_sub(AROUND_A_MAP) / 4 * 3
}

/// Draws the last traced run of each arm, in this many bytes of the page altogether. What cannot be drawn is left out, with a message.
fn drawn_here(report: &Report<'_>, room_bytes: usize) -> Vec<DiskMap> {
    let mut traced = Vec::new();
    for run in last_of_each_arm(report.record, &telling_arms(report.analysis)) {
        if traced.len() == MOST_MAPS {
            break;
        }
        match accesses_of(run) {
            Ok(accesses) => traced.push((run, accesses)),
            Err(error) => describe(run, &error),
        }
    }
    let bytes = bytes_of_each(room_bytes, traced.len());
    if bytes < LEAST_BYTES {
        return Vec::new();
    }
    let mut maps = Vec::new();
    for (run, accesses) in &traced {
        match RunMap::of(run, accesses, bytes, STILL_WIDTH) {
            Ok(drawn) => maps.push(DiskMap::of(run, drawn)),
            Err(error) => describe(run, &error),
        }
    }
    maps
}

fn describe(run: &RunRecord, error: &DiskmapError) {
    tell(format_args!(
        "the page has no disk map of {} in block {}: {error}",
        run.arm,
        u64::from(run.block) + 1
    ));
}
