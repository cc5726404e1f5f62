//! Sweeps that end by themselves.

use crate::it::laboratory::{Laboratory, Shown, warns};
use plimsoll_plan::PointRole;
use plimsoll_record::WarningId;

/// A sweep of 1 to 32 sessions with these throughputs. Block `short` measured one point less than the others, and no block the last `left_out`.
fn sweep(throughput: [f64; 6], left_out: usize, short: Option<u32>) -> Laboratory {
    let mut lab = Laboratory::closed(&["arm"], &["c"], &[1, 2, 4, 8, 16, 32], 6)
        .measure(|case| Shown::closed(case, throughput[case.load.sessions().ilog2() as usize]));
    for point in &mut lab.plan.points {
        point.role = PointRole::Sweep;
    }
    for run in &mut lab.runs {
        run.points.truncate(6 - left_out);
        if short == Some(run.block) {
            run.points.pop();
        }
    }
    lab
}

/// Power X²/N: 1, 2, 4, 2.2, 1.1, 0.55.
const BENT: [f64; 6] = [1e5, 2e5, 4e5, 4.2e5, 4.2e5, 4.2e5];

#[test]
fn points_that_nobody_measured_are_not_missed() {
    let analysis = sweep(BENT, 1, None).analyse();
    let curve = &analysis.curves[0];
    assert_eq!(curve.points.len(), 5);
    let knee = curve.knee.as_ref().unwrap();
    assert_eq!((knee.load_label.as_str(), knee.still_climbing), ("4 threads", false));
    assert_eq!(analysis.progress.runs_finished, analysis.progress.runs_planned);
    assert!(
        !warns(&analysis, WarningId::RunFailed) && !warns(&analysis, WarningId::RunInterrupted)
    );
    assert!(curve.scalability.is_some());
}

#[test]
fn a_block_that_ended_its_sweep_earlier_keeps_its_knee() {
    // Without block 0 the others have their knee at 4 sessions; it has its own at 2, which widens the range only if it counts.
    let mut lab = sweep(BENT, 1, Some(0));
    for run in lab.runs.iter_mut().filter(|run| run.block == 0) {
        for point in &mut run.points {
            let sessions = point.label.load.sessions();
            if sessions >= 4 {
                let slower = [(4, 2.2e5), (8, 2.2e5)].into_iter().find(|(at, _)| *at == sessions);
                let case = crate::it::laboratory::Case {
                    arm: "arm",
                    mix: "c",
                    block: 0,
                    load: point.label.load,
                };
                let shown = Shown::closed(case, slower.unwrap().1);
                *point = crate::it::laboratory::point_record(point.label.clone(), &shown);
            }
        }
    }
    let analysis = lab.analyse();
    let knee = analysis.curves[0].knee.as_ref().unwrap();
    assert_eq!((knee.load, knee.range), (4.0, (2.0, 4.0)));
    let runs: Vec<u32> = analysis.curves[0].points.iter().map(|point| point.runs).collect();
    assert_eq!(runs, [6, 6, 6, 6, 5]);
}

#[test]
fn a_block_with_a_hole_in_its_sweep_has_no_knee() {
    let mut lab = sweep(BENT, 1, None);
    for run in &mut lab.runs {
        run.points.remove(1);
    }
    // 2 sessions are in no block, so the curve is that of the others.
    assert!(lab.analyse().curves[0].knee.is_some());
    let mut lab = sweep(BENT, 1, None);
    for run in lab.runs.iter_mut().filter(|run| run.block > 0) {
        run.points.remove(1);
    }
    let analysis = lab.analyse();
    let knee = analysis.curves[0].knee.as_ref().unwrap();
    assert_eq!(knee.range, (4.0, 4.0), "of block 1 alone: {knee:?}");
}

mod slow {
    use super::*;

    #[test]
    fn a_sweep_that_reached_its_last_point_without_bending_still_climbs() {
        let rising = [1e5, 2e5, 4e5, 8e5, 1.6e6, 3.2e6];
        let knee = |lab: Laboratory| lab.analyse().curves[0].knee.clone().unwrap();
        assert!(knee(sweep(rising, 0, None)).still_climbing);
        assert!(knee(sweep(rising, 0, Some(3))).still_climbing, "five blocks reached it");
        // A run ends its sweep only where it has bent, whatever the medians over the blocks look like.
        assert!(!knee(sweep(rising, 1, None)).still_climbing);
        assert!(!knee(sweep(BENT, 0, None)).still_climbing);
        // It has not gone on long enough to be sure that it bent, but it does not climb.
        let falling = [1e5, 2e5, 4e5, 8e5, 1.6e6, 1.5e6];
        assert!(!knee(sweep(falling, 0, None)).still_climbing);
    }
}
