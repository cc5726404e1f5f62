//! What other programs took of the processors is taken out of a comparison, where that is fair.

use crate::it::laboratory::{Laboratory, SPREAD, Shown, primary};
use crate::it::watched::{Watched, disk};
use crate::{
    Analysis, Comparison, Curve, GateOutcome, Judgement, Outcome, PointResult, Repeatability,
};
use plimsoll_plan::{Gate, Looks, Metric, Order, Pairing, PlannedRun, duet_runs};
use plimsoll_record::{DiskChoice, ForeignCpu, Half, figures};
use plimsoll_stats::{Duet, duets_beside_others};

const BLOCKS: u32 = 12;

/// Processors, of two, that other programs keep busy beside each arm: as much beside both on average, and never as much at the same time.
fn others(arm: &str, block: u32) -> f64 {
    let of_first = [0.36, 0.0, 0.2, 0.0, 0.3, 0.1, 0.0, 0.34, 0.05, 0.0, 0.28, 0.12];
    let of_other = [0.0, 0.34, 0.0, 0.28, 0.05, 0.36, 0.2, 0.0, 0.3, 0.12, 0.0, 0.1];
    let side = if arm == "one" { of_first } else { of_other };
    side[block as usize]
}

/// The other arm is 2 % slower, give or take `noise`, and both lose in proportion to what is taken, as `felt`.
fn measured(noise: f64, felt: f64, others: fn(&str, u32) -> f64) -> Laboratory {
    measured_in(BLOCKS, noise, felt, others)
}

fn measured_in(blocks: u32, noise: f64, felt: f64, others: fn(&str, u32) -> f64) -> Laboratory {
    let mut lab = Laboratory::closed(&["one", "other"], &["c"], &[4], blocks).measure(|case| {
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
        let watched = Watched { processors: 2.0 - others - 0.05, others, ..Watched::default() };
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

fn assert_says_what_is_visible(sentence: &str, visible: Option<f64>, blocks: &str) {
    assert!(sentence.contains(blocks), "{sentence}");
    assert!(visible.is_some_and(|share| share < 0.01), "{sentence}");
}

fn throughput(analysis: &Analysis) -> &Comparison {
    primary(analysis, Metric::Throughput)
}

#[test]
fn what_others_took_is_taken_out_and_said() {
    let analysis = measured(0.1, 1.0, others).analyse();
    let found = throughput(&analysis);
    let adjustment = found.adjustment.as_ref().unwrap();
    assert!(adjustment.explained.is_some_and(|share| share > 0.99), "{adjustment:?}");
    let (low, high) = found.verdict.interval.unwrap();
    assert!(low < -0.02 && -0.02 < high && high - low < 0.006, "{low} {high}");
    let (lowest, highest) = adjustment.interval.unwrap();
    assert!(lowest < low - 0.02 && highest > high + 0.02, "{adjustment:?}");
    assert!(
        found.sentence.contains("What other programs took of the processors explains"),
        "{}",
        found.sentence
    );
    // What was measured is still there, beside what was judged.
    assert_eq!(found.pairs.len(), BLOCKS as usize);
    assert_eq!(found.judged.len(), BLOCKS as usize);
    let (_, measured_base, _) = found.pairs[0];
    assert_ne!(measured_base, found.judged[0].0);
    // What would be seen, and the number of blocks that it takes, are by what is left.
    let of_throughput = |one: &&Repeatability| one.metric == Metric::Throughput;
    let varies: Vec<_> = analysis.repeatability.iter().filter(of_throughput).collect();
    assert_eq!(varies.len(), 2);
    for one in varies {
        let blocks = "12 blocks and without what other programs took";
        assert_says_what_is_visible(&one.sentence, one.visible, blocks);
    }
    let needed = analysis.blocks_needed[0].reached.unwrap();
    assert!(needed < 0.01, "{needed}");
    let noise = &analysis.noise[0];
    assert!(noise.explained.unwrap() > 0.99);
    assert!(
        noise.sentence.contains("What other programs took of the processors made"),
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
    let (with, without) =
        (width(found.verdict.interval.unwrap()), width(adjustment.interval.unwrap()));
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

/// So many that twelve of them on one side are more than chance.
const DUETS: u32 = 24;

/// As many duets of the same.
fn duets(others: fn(&str, u32) -> f64) -> Laboratory {
    // What they do to a side is many times what they take.
    let mut lab = measured_in(DUETS, 0.1, 2.5, others);
    lab.plan.measurement.pairing = Pairing::Duet;
    lab.plan.runs = duet_runs(&[[0, 1]], DUETS, Order::Shuffled, 1);
    for run in &mut lab.runs {
        let of = lab.plan.runs.iter().find(|planned| {
            planned.block == run.block && lab.plan.arms[planned.arm as usize].name == run.arm
        });
        run.position = of.unwrap().position;
        run.half = Some(Half {
            processors: vec![2 * run.position, 2 * run.position + 1],
            shares_core: false,
        });
    }
    lab
}

/// They run where a processor is idle, beside the side that waits more: in some duets.
fn visited(arm: &str, block: u32) -> f64 {
    if arm == "other" && block % 4 >= 2 { 0.8 } else { 0.0 }
}

fn stayed_beside(arm: &str, _block: u32) -> f64 {
    if arm == "other" { 0.8 } else { 0.0 }
}

/// They never sleep, on either side: the other arm takes less of its processors, as one that waits more does.
fn beside_each(arm: &str, block: u32) -> f64 {
    let more = if arm == "other" { 0.1 } else { 0.0 };
    1.2 + more + 0.3 * others(arm, block % BLOCKS)
}

/// The same, but in one duet of six the kernel has moved them all beside one side.
fn moved(arm: &str, block: u32) -> f64 {
    match (block % 6, arm) {
        (5, "other") => 1.9,
        (5, _) => 0.0,
        _ => beside_each(arm, block),
    }
}

/// By turns beside both sides of duets.
fn beside_both(arm: &str, block: u32) -> f64 {
    others(arm, block % BLOCKS)
}

#[test]
fn where_others_stay_beside_a_side_nothing_is_said() {
    let analysis = duets(stayed_beside).analyse();
    // Nothing is wrong with what was measured.
    assert_eq!(analysis.outcome(), Outcome::Good, "{:?}", analysis.headline);
    for comparison in &analysis.comparisons {
        assert_eq!(comparison.verdict.judgement, Judgement::Inconclusive);
        let reason = comparison.verdict.reason.as_ref().unwrap();
        assert!(
            reason.contains("other programs left one 100 % of its processors and other 60 %")
                && reason.contains("in 0 of 24 blocks"),
            "{reason}"
        );
        assert!(!comparison.sentence.contains("lower"), "{}", comparison.sentence);
    }
}

#[test]
fn what_is_not_judged_does_not_count_for_an_arm_against_itself() {
    let mut lab = duets(stayed_beside);
    lab.plan.against_itself = true;
    let itself = lab.analyse().against_itself.unwrap();
    assert_eq!((itself.comparisons, itself.different), (0, 0));
    assert!(itself.unjudged > 0);
    let said = "could be judged, so this machine's noise floor is unknown";
    assert!(itself.sentence.contains(said), "{}", itself.sentence);
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

    // The daemon of an emulated disk works for the arm too, and old records do not say how much.
    let mut lab = measured(0.1, 1.0, others);
    lab.plan.arms[0].rig.disk = Some(DiskChoice::Emulated { spec: disk(None) });
    assert_eq!(throughput(&lab.analyse()).adjustment, None);
}

/// Its worker keeps less busy and its disk the rest.
fn with_daemons(mut lab: Laboratory) -> Laboratory {
    const DAEMON_NS: u64 = 300_000_000;
    for arm in &mut lab.plan.arms {
        arm.rig.disk = Some(DiskChoice::Emulated { spec: disk(None) });
    }
    for slice in lab.points().flat_map(|point| &mut point.slices) {
        slice.worker.cpu_user_ns = slice.worker.cpu_user_ns.checked_sub(DAEMON_NS).unwrap();
        slice.telemetry.insert(figures::DEVICE_CPU.to_owned(), DAEMON_NS as f64);
    }
    lab
}

#[test]
fn the_daemons_of_emulated_disks_are_no_other_programs() {
    let left = |lab: Laboratory| -> Vec<f64> {
        let analysis = lab.analyse();
        let curve = &analysis.curves[0].points[0];
        curve.results.iter().map(|result| result.left_by_others.unwrap()).collect()
    };
    let (plain, emulated) =
        (left(measured(0.1, 1.0, others)), left(with_daemons(measured(0.1, 1.0, others))));
    assert!(plain.iter().any(|left| *left < 0.9), "{plain:?}");
    for (plain, emulated) in plain.iter().zip(&emulated) {
        assert!((plain - emulated).abs() < 1e-6, "{plain} {emulated}");
    }
    // So duets that a program stayed beside are kept out.
    let found = with_daemons(duets(stayed_beside)).analyse();
    let found = throughput(&found);
    assert_eq!(found.verdict.judgement, Judgement::Inconclusive);
    assert!(found.sentence.contains("and other 60 %"), "{}", found.sentence);
}

/// In turn both arms have the same company on average. Side by side, a busy loop runs beside the arm that waits more.
#[test]
fn duets_on_emulated_disks_beside_busy_programs_are_not_compared() {
    let on_disks = |busy: fn(&str, u32) -> f64| {
        let mut lab = duets(busy);
        for arm in &mut lab.plan.arms {
            arm.rig.disk = Some(DiskChoice::Emulated { spec: disk(None) });
        }
        lab
    };
    let analysis = on_disks(|_, _| 0.2).analyse();
    let found = throughput(&analysis);
    assert_eq!(found.verdict.judgement, Judgement::Inconclusive);
    assert!(found.sentence.contains("unknown beside which arm"), "{}", found.sentence);
    for judged in [on_disks(|_, _| 0.02), duets(|_, _| 0.2)] {
        let verdict = throughput(&judged.analyse()).verdict.judgement;
        assert_eq!(verdict, Judgement::Equivalent, "2 % are within the margin");
    }
}

#[test]
fn fewer_than_ten_blocks_are_left_as_they_are() {
    let mut lab = measured(0.1, 1.0, others);
    lab.runs.retain(|run| run.block < 9);
    assert_eq!(throughput(&lab.analyse()).adjustment, None);
}

mod slow {
    use super::*;

    #[test]
    fn duets_are_judged_by_undisturbed_ones_where_others_prefer_a_side() {
        let analysis = duets(visited).analyse();
        let found = throughput(&analysis);
        let (low, high) = found.verdict.interval.unwrap();
        assert!(low < -0.02 && -0.02 < high && high - low < 0.006);
        assert_eq!((found.pairs.len(), found.verdict.blocks), (12, 12));
        let undisturbed = found.undisturbed.unwrap();
        assert_eq!((undisturbed.blocks, undisturbed.of), (12, 24));
        let left = undisturbed.left;
        assert!(left.0 > 0.99 && (left.1 - 0.8).abs() < 0.01, "{left:?}");
        assert!(
            found.sentence.contains("only the 12 of 24 blocks are judged"),
            "{}",
            found.sentence
        );
        // One in two has to be made for nothing.
        let needed = |analysis: &Analysis| analysis.blocks_needed[0].blocks.unwrap();
        let quiet = duets(|_, _| 0.0).analyse();
        assert_eq!(needed(&analysis), 2 * needed(&quiet));
        let noise = &analysis.noise[0];
        assert_eq!(noise.undisturbed, Some(0.5));
        let of_difference = std::f64::consts::SQRT_2 * noise.run.hypot(noise.seconds);
        assert!(of_difference < 0.01, "{noise:?}");
        assert!(
            noise.sentence.contains("of some duets; 50 % of all can be judged"),
            "{}",
            noise.sentence
        );
        // What those duets show is by them alone.
        let duets = &analysis.duets[0];
        assert_eq!(duets.duets, 12);
        assert_says_what_is_visible(&duets.sentence, duets.visible, "12 undisturbed duets");
        for one in &analysis.repeatability {
            assert_says_what_is_visible(&one.sentence, one.visible, "12 undisturbed duets");
        }
        // Response times are no better known.
        for comparison in &analysis.comparisons {
            assert!(comparison.pairs.len() <= 12, "{}", comparison.sentence);
        }
    }

    /// The calibration and the resampling of records judge differences by `duets_beside_others`: so must the program, whichever way is chosen.
    #[test]
    fn duets_are_judged_as_they_are_calibrated() {
        for (others, [are_left_out, are_ranges]) in [
            (visited as fn(&str, u32) -> f64, [true, false]),
            (beside_both, [false, false]),
            (beside_each, [false, true]),
        ] {
            let lab = duets(others);
            let analysis = lab.analyse();
            let found = throughput(&analysis);
            assert_eq!(found.undisturbed.is_some(), are_left_out);
            let adjustment = found.adjustment.unwrap();
            assert_eq!(adjustment.explained.is_some(), !are_left_out && !are_ranges);
            assert_eq!(adjustment.left.is_some(), are_ranges);

            let [base, other] = [0, 1].map(|arm| {
                let of_arm = |curve: &&Curve| curve.arm == lab.plan.arms[arm].name;
                let curve = analysis.curves.iter().find(of_arm).unwrap();
                curve.points[0].results.clone()
            });
            let duet = |(base, other): (&PointResult, &PointResult)| {
                assert_eq!(base.block, other.block);
                let of_other = |run: &&PlannedRun| run.block == other.block && run.arm == 1;
                Duet {
                    baseline: base.throughput.ln(),
                    other: other.throughput.ln(),
                    other_is_second: lab.plan.runs.iter().find(of_other).unwrap().position == 1,
                }
            };
            let all: Vec<Duet> = base.iter().zip(&other).map(duet).collect();
            let left = [&base, &other].map(|side| {
                let left = side.iter().map(|result| result.left_by_others.unwrap());
                left.collect::<Vec<f64>>()
            });
            let sides = [&left[0][..], &left[1]];
            let calibrated = duets_beside_others(&all, sides, are_ranges).unwrap();
            assert_eq!(found.judged.len(), calibrated.len());
            for ((base, other), [least, most]) in found.judged.iter().zip(calibrated) {
                let judged = other / base;
                let calibrated = f64::midpoint(least.exp(), most.exp());
                assert!((judged - calibrated).abs() < 1e-9, "{judged} {calibrated}");
            }
        }
    }

    /// An arm that takes less leaves more to programs that never sleep, so what they took may be its doing: its loss counts as far as it exists both with that and without.
    #[test]
    fn beside_programs_that_never_sleep_both_answers_must_hold() {
        let analysis = duets(beside_each).analyse();
        let found = throughput(&analysis);
        let with = found.adjustment.unwrap();
        let (low, high) = found.verdict.interval.unwrap();
        // Without what they took it is 2 %; with it 2.5 times what was taken is felt as well.
        assert!(-0.025 < high && high < -0.01, "{high}");
        assert!(low < with.estimate && with.estimate < -0.2, "{low} {with:?}");
        assert!(
            found.sentence.contains("and kept both busy, the interval covers"),
            "{}",
            found.sentence
        );
        for comparison in &analysis.comparisons {
            assert_eq!(comparison.undisturbed, None);
        }
    }

    /// Where they were moved beside one side, its loss is theirs: 24 times the throughput on the other side is no doing of that arm.
    #[test]
    fn duets_in_which_programs_that_never_sleep_were_moved_are_not_judged() {
        let analysis = duets(moved).analyse();
        let found = throughput(&analysis);
        let judged = found.undisturbed.unwrap();
        assert_eq!((judged.blocks, judged.of), (20, 24));
        let (low, high) = found.verdict.interval.unwrap();
        assert!(-0.025 < high && high < -0.01 && low < -0.2, "{low} {high}");
        assert_eq!(found.judged.len(), 20);
        for words in [
            "only the 20 of 24 blocks are judged in which they kept both busy",
            "and the interval covers the difference without what they took and with it",
        ] {
            assert!(found.sentence.contains(words), "{}", found.sentence);
        }
        for comparison in &analysis.comparisons {
            assert_eq!(comparison.undisturbed.unwrap().blocks, 20);
        }
    }

    /// Among few duets none may be undisturbed, among more some will be.
    #[test]
    fn a_gate_goes_on_beside_programs_that_prefer_a_side() {
        let gate = |others: fn(&str, u32) -> f64| {
            let mut lab = duets(others);
            lab.plan.measurement.looks = Some(Looks {
                first: 11,
                half_width: None,
                gate: Some(Gate { within_ns: 900_000_000_000 }),
            });
            lab.analyse().gate.unwrap()
        };
        let open = gate(stayed_beside);
        assert_eq!((open.outcome, open.usable), (GateOutcome::Open, true));
        assert!(open.sentence.contains("and other 60 %"), "{}", open.sentence);
        let passed = gate(visited);
        assert_eq!((passed.outcome, passed.usable), (GateOutcome::Passed, true));
    }
}
