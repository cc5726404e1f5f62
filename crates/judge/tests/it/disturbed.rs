//! What other programs took of the processors is taken out of a comparison, where that is fair.

use crate::laboratory::{Laboratory, SPREAD, Shown, primary};
use crate::watched::{Watched, disk};
use plimsoll_judge::{Analysis, Comparison};
use plimsoll_plan::Metric;
use plimsoll_record::{DiskChoice, ForeignCpu};

const BLOCKS: u32 = 12;

/// Processors, of two, that other programs keep busy beside each arm: as much beside both on average, and never as much at the same time.
fn others(arm: &str, block: u32) -> f64 {
    let of_first = [
        0.36, 0.0, 0.2, 0.0, 0.3, 0.1, 0.0, 0.34, 0.05, 0.0, 0.28, 0.12,
    ];
    let of_other = [
        0.0, 0.34, 0.0, 0.28, 0.05, 0.36, 0.2, 0.0, 0.3, 0.12, 0.0, 0.1,
    ];
    let side = if arm == "one" { of_first } else { of_other };
    side[block as usize]
}

/// The other arm is 2 % slower, give or take `noise`, and both lose in proportion to what is taken, as `felt`.
fn measured(noise: f64, felt: f64, others: fn(&str, u32) -> f64) -> Laboratory {
    let mut lab = Laboratory::closed(&["one", "other"], &["c"], &[4], BLOCKS).measure(|case| {
        let left: f64 = 1.0 - others(case.arm, case.block) / 2.0;
        let own = match case.arm {
            "one" => 0.0,
            _ => 0.98_f64.ln() + SPREAD[case.block as usize % 8] * noise,
        };
        Shown::closed(case, 1e5 * (felt * left.ln() + own).exp())
    });
    for (number, run) in lab.runs.iter_mut().enumerate() {
        run.started_at = format!("2026-03-01T10:{number:02}:00Z");
        run.ended_at = Some(format!("2026-03-01T10:{number:02}:32Z"));
        let others = others(&run.arm, run.block);
        let watched = Watched {
            processors: 2.0 - others - 0.05,
            others,
            ..Watched::default()
        };
        for point in &mut run.points {
            for slice in &mut point.slices {
                Watched::into(&watched, slice);
            }
            let end = point.end.as_mut().unwrap();
            end.foreign = Some(Box::new(ForeignCpu {
                cpu_ns: (others * end.measured_ns as f64) as u64,
                elapsed_ns: end.measured_ns,
                programs: Vec::new(),
            }));
        }
    }
    lab
}

fn throughput(analysis: &Analysis) -> &Comparison {
    primary(analysis, Metric::Throughput)
}

#[test]
fn what_others_took_is_taken_out_and_said() {
    let analysis = measured(0.1, 1.0, others).analyse();
    let found = throughput(&analysis);
    let adjustment = found.adjustment.as_ref().unwrap();
    assert!(adjustment.explained > 0.99, "{adjustment:?}");
    let (low, high) = found.verdict.interval.unwrap();
    assert!(
        low < -0.02 && -0.02 < high && high - low < 0.006,
        "{low} {high}"
    );
    let (lowest, highest) = adjustment.interval.unwrap();
    assert!(
        lowest < low - 0.02 && highest > high + 0.02,
        "{adjustment:?}"
    );
    assert!(
        found
            .sentence
            .contains("What other programs took of the processors explains"),
        "{}",
        found.sentence
    );
    // What was measured is still there, beside what was judged.
    assert_eq!(found.pairs.len(), BLOCKS as usize);
    assert_eq!(found.judged.len(), BLOCKS as usize);
    let (_, measured_base, _) = found.pairs[0];
    assert_ne!(measured_base, found.judged[0].0);
    // And the number of blocks that it takes is by what is left.
    let needed = analysis.blocks_needed[0].reached.unwrap();
    assert!(needed < 0.01, "{needed}");
    let noise = &analysis.noise[0];
    assert!(noise.explained.unwrap() > 0.99);
    assert!(
        noise
            .sentence
            .contains("What other programs took of the processors made"),
        "{}",
        noise.sentence
    );
}

#[test]
fn what_is_not_felt_costs_hardly_anything() {
    let analysis = measured(1.0, 0.0, others).analyse();
    let found = throughput(&analysis);
    let adjustment = found.adjustment.as_ref().unwrap();
    let width = |(low, high): (f64, f64)| high - low;
    let (with, without) = (
        width(found.verdict.interval.unwrap()),
        width(adjustment.interval.unwrap()),
    );
    assert!(with < 1.4 * without, "{with} instead of {without}");
}

#[test]
fn an_arm_that_leaves_more_to_others_is_not_paid_for_it() {
    // Others take more beside one arm in every block.
    let beside_one = |arm: &str, block: u32| match arm {
        "one" => 0.05 + 0.01 * f64::from(block),
        _ => 0.2 + 0.01 * f64::from(block % 4),
    };
    let analysis = measured(0.1, 1.0, beside_one).analyse();
    let found = throughput(&analysis);
    assert_eq!(found.adjustment, None);
    assert!(found.judged.is_empty());
}

#[test]
fn where_it_is_not_known_who_took_it_nothing_is_taken_out() {
    // Something was busy, and no other program was: threads of the kernel, which work for the arm.
    let mut lab = measured(0.1, 1.0, others);
    for run in &mut lab.runs {
        for point in &mut run.points {
            let end = point.end.as_mut().unwrap();
            end.foreign.as_mut().unwrap().cpu_ns = 0;
        }
    }
    assert_eq!(throughput(&lab.analyse()).adjustment, None);
    for run in &mut lab.runs {
        run.points[0].end.as_mut().unwrap().foreign = None;
    }
    assert_eq!(throughput(&lab.analyse()).adjustment, None);

    // The daemon of an emulated disk works for the arm too.
    let mut lab = measured(0.1, 1.0, others);
    lab.plan.arms[0].rig.disk = Some(DiskChoice::Emulated { spec: disk(None) });
    assert_eq!(throughput(&lab.analyse()).adjustment, None);
}

#[test]
fn fewer_than_ten_blocks_are_left_as_they_are() {
    let mut lab = measured(0.1, 1.0, others);
    lab.runs.retain(|run| run.block < 9);
    assert_eq!(throughput(&lab.analyse()).adjustment, None);
}
