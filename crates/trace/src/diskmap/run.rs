//! The map of a run, for a page.

use crate::Trace;
use crate::diskmap::text::commas;
use crate::diskmap::{
    Accesses, DiskmapError, FileUse, Layout, NotedPoint, Selection, heat, pack_within, write_png,
};
use plimsoll_record::{ExperimentRecord, RunRecord};

/// The most requests of a trace that are read for a page: reading this many takes some seconds.
pub const MOST_REQUESTS: u64 = 4_000_000;

/// Maps in one page: one for each arm, the first ones.
pub const MOST_MAPS: usize = 4;

/// Width of a still in a page, pixels.
pub const STILL_WIDTH: usize = 768;

/// Whether the trace of a run is on this machine.
pub fn is_traced(run: &RunRecord) -> bool {
    let trace = run.rig.as_ref().and_then(|rig| rig.trace.as_ref());
    // To open anything but a plain file can block.
    trace.is_some_and(|trace| trace.path.is_file())
}

/// The last run of each arm whose trace still exists, in this order of the arms; arms that it does not name come last.
pub fn last_of_each_arm<'a>(record: &'a ExperimentRecord, order: &[&str]) -> Vec<&'a RunRecord> {
    let mut last: Vec<&RunRecord> = Vec::new();
    for run in record.runs.iter().filter(|run| is_traced(run)) {
        match last.iter_mut().find(|known| known.arm == run.arm) {
            Some(known) if (run.block, run.attempt) > (known.block, known.attempt) => *known = run,
            Some(_) => {}
            None => last.push(run),
        }
    }
    // Runs that are equally far keep the order in which their arms were measured first.
    last.sort_by_key(|run| order.iter().position(|arm| *arm == run.arm).unwrap_or(order.len()));
    last
}

/// The accesses of a run, as its trace on this machine has them.
pub fn accesses_of(run: &RunRecord) -> Result<Accesses, DiskmapError> {
    let trace = run.rig.as_ref().and_then(|rig| rig.trace.as_ref());
    let trace = trace.ok_or(DiskmapError::NotTraced)?;
    if trace.requests > MOST_REQUESTS {
        return Err(DiskmapError::TooMany { requests: trace.requests, most: MOST_REQUESTS });
    }
    Accesses::of(&Trace::open(&trace.path)?, &Selection::default())
}

/// The points of a run whose operations were noted.
pub fn noted_points(run: &RunRecord) -> Vec<NotedPoint<'_>> {
    let mut points = Vec::new();
    for point in &run.points {
        let Some(end) = &point.end else { continue };
        if end.operations.is_empty() {
            continue;
        }
        points.push(NotedPoint {
            label: format!("{}, {}", point.label.mix, point.label.load_label),
            sessions: point.label.load.sessions(),
            operations: &end.operations,
        });
    }
    points
}

/// What a page shows of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMap {
    /// What the player reads: [`crate::diskmap::pack`].
    pub packed: Vec<u8>,
    /// The heat over all accesses as a PNG.
    pub still: Vec<u8>,
    /// In words: how many accesses, to what, in which time.
    pub about: String,
    /// What was done to each file.
    pub files: Vec<FileUse>,
}

impl RunMap {
    /// Draws a run whose accesses are at hand. What the player reads and the still take at most this many bytes together, as far as they can; the still has
    /// that width in pixels.
    pub fn of(
        run: &RunRecord,
        accesses: &Accesses,
        most_bytes: usize,
        width: usize,
    ) -> Result<Self, DiskmapError> {
        let mut still = Vec::new();
        write_png(&mut still, &heat(accesses, &Layout::of(accesses, width)))?;
        Ok(Self {
            packed: pack_within(
                accesses,
                &noted_points(run),
                most_bytes.saturating_sub(still.len()),
            ),
            still,
            about: about(accesses),
            files: accesses.used(),
        })
    }
}

fn about(accesses: &Accesses) -> String {
    let used = accesses.used();
    let sum = |of: fn(&FileUse) -> u64| commas(used.iter().map(of).sum());
    let seconds = match (accesses.all.first(), accesses.all.last()) {
        (Some(first), Some(last)) => (last.time_ns - first.time_ns) as f64 / 1e9,
        _ => 0.0,
    };
    let files = match used.len() + accesses.files_left_out {
        1 => "one file".into(),
        files => format!("{files} files"),
    };
    let decimals = if seconds < 1.0 { 3 } else { 1 };
    format!(
        "{} reads and {} writes of {files} in {seconds:.decimals$} s",
        sum(|file| file.reads),
        sum(|file| file.writes)
    )
}
