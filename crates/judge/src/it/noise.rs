//! Where noise comes from, on records whose numbers are known.

use crate::it::laboratory::{Laboratory, Shown};
use crate::{Analysis, NoiseResult};

/// Eight blocks in which runs swing by ±`run`, their seconds by ±`seconds`, and whole blocks by what is common.
fn analysed(run: f64, seconds: f64, common: f64) -> Analysis {
    let mut lab = Laboratory::closed(&["one", "other"], &["c"], &[4], 8).measure(|case| {
        // Residuals of a table with two columns are half of the difference: one arm up, the other down.
        let side = if case.arm == "one" { 1.0 } else { -1.0 };
        let sign = if case.block % 2 == 0 { 1.0 } else { -1.0 };
        let block = if case.block % 4 < 2 { common } else { -common };
        Shown::closed(case, 1e4 * (side * sign * run + block).exp())
    });
    for (number, one) in lab.runs.iter_mut().enumerate() {
        one.started_at = format!("2026-03-01T10:{:02}:00Z", number);
        // 12 s are measured.
        one.ended_at = Some(format!("2026-03-01T10:{number:02}:32Z"));
        for point in &mut one.points {
            for (index, slice) in point.slices.iter_mut().enumerate() {
                let up = if index % 2 == 0 { 1.0 + seconds } else { 1.0 - seconds };
                slice.length_ns = (slice.length_ns as f64 / up) as u64;
            }
        }
    }
    lab.analyse()
}

fn only(analysis: &Analysis) -> &NoiseResult {
    let [noise] = &analysis.noise[..] else { panic!("{:?}", analysis.noise) };
    noise
}

#[test]
fn noise_of_runs_is_told_from_noise_of_seconds() {
    let analysis = analysed(0.02, 0.0, 0.2);
    let found = only(&analysis);
    // Residuals are ±0.02 in 16 cells with 7 degrees of freedom: 16·0.0004/7.
    let expected = (16.0 * 0.02_f64.powi(2) / 7.0).sqrt();
    assert!((found.run - expected).abs() < 1e-3, "{found:?}");
    assert!(found.share_of_seconds < 0.01 && found.block > 0.2, "{found:?}");
    assert_eq!((found.blocks, found.runs_in_turn, found.points_of_a_run), (8, 2, 1));
    assert!((found.overhead_seconds - 20.0).abs() < 1e-9, "{found:?}");
    assert!(found.sentence.contains("longer points hardly help"), "{}", found.sentence);
    // Shorter points are enough, where they take less.
    let now = found.reach(0.03, found.point_seconds).unwrap();
    let soonest = found.soonest(0.03).unwrap();
    assert!(soonest.point_seconds < found.point_seconds && soonest.seconds < now.seconds);
    assert_eq!(now.seconds, 2.0 * now.blocks as f64 * (20.0 + found.point_seconds));
}

#[test]
fn more_of_the_same_seconds_are_worth_more_where_the_noise_is_theirs() {
    let mut noise = only(&analysed(0.02, 0.0, 0.0)).clone();
    noise.run = 0.0;
    noise.seconds = 0.05;
    // All of it goes down with the length: the load of 20 s is dear, so points are long.
    let soonest = noise.soonest(0.01).unwrap();
    assert!(soonest.point_seconds > noise.point_seconds, "{soonest:?}");
    let quadruple = noise.reach(0.01, 4.0 * noise.point_seconds).unwrap();
    let single = noise.reach(0.02, noise.point_seconds).unwrap();
    // Half the spread sees half as much: but for the logarithm the same number of blocks.
    assert!(quadruple.blocks.abs_diff(single.blocks) <= 1, "{quadruple:?} {single:?}");
    assert_eq!(noise.reach(0.0, 10.0), None);
}

#[test]
fn nothing_is_said_of_open_loops_and_single_blocks() {
    let open = Laboratory::open(&["one", "other"], &["c"], &[100.0], 8);
    assert!(open.measure(|case| Shown::closed(case, 100.0)).analyse().noise.is_empty());
    let mut lab = Laboratory::closed(&["one", "other"], &["c"], &[4], 1);
    lab.plan.measurement.blocks = 1;
    assert!(lab.measure(|case| Shown::closed(case, 1e4)).analyse().noise.is_empty());
}
