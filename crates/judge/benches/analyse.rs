//! What it costs to judge one slice, decoding not counted. The goal is a record of 2 arms, 20 points, 8 blocks and 60 slices in about a second.

#[path = "../tests/it/laboratory.rs"]
#[allow(dead_code, clippy::unwrap_used)] // As in the tests, of which this uses a part.
mod laboratory;

use laboratory::{Laboratory, Shown, part};
use plimsoll_record::{Operation, Status};
use std::time::Instant;

/// Fewer points, blocks and slices than the goal has: every slice holds a quarter of a megabyte for each kind of operation.
const SLICES: u32 = 2 * 5 * 4 * 30;
const GOAL_SLICES: u32 = 2 * 20 * 8 * 60;

fn main() {
    let mut lab =
        Laboratory::closed(&["a", "b"], &["c"], &[1, 2, 4, 8, 16], 4).measure(|case| Shown {
            seconds: 29,
            ..Shown::closed(case, 1e5 * case.sessions())
        });
    report("one kind of operation", &lab);
    for point in lab.points() {
        let load = point.label.load;
        for slice in &mut point.slices {
            let half = slice.completed.ok / 2;
            slice.operations = vec![
                part(Operation::Read, Status::Ok, load, 10_000.0, half),
                part(Operation::Update, Status::Ok, load, 10_000.0, half),
            ];
        }
    }
    report("two kinds of operation", &lab);
}

fn report(what: &str, lab: &Laboratory) {
    let record = lab.record();
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let begin = Instant::now();
        let analysis = plimsoll_judge::analyse(&record).expect("the plan was made by this program");
        best = best.min(begin.elapsed().as_secs_f64());
        assert_eq!(analysis.series.len(), 2 * 5 * 4);
    }
    let each = best / f64::from(SLICES);
    println!(
        "{what}: {:.0} µs a slice, {:.2} s for {GOAL_SLICES} slices",
        each * 1e6,
        each * f64::from(GOAL_SLICES)
    );
}
