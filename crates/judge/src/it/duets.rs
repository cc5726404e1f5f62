//! Duets and controls, on records whose numbers are known.

use crate::it::laboratory::{Laboratory, Shown, part, warns};
use crate::{Analysis, Judgement, Outcome};
use plimsoll_plan::{Order, Pairing, duet_runs};
use plimsoll_record::{Half, Operation, Status, WarningId};

/// What the machine does in each of eight blocks, to both sides.
const COMMON: [f64; 8] = [1.0, 0.8, 1.1, 0.9, 1.2, 0.7, 1.05, 0.95];

/// Duets of `one` and `other` on a machine whose second half is faster by `half`.
fn duets(arms: &[&str], half: f64, of_arm: impl Fn(&str, u32) -> f64) -> Laboratory {
    let mut lab = Laboratory::closed(arms, &["c"], &[4], 8);
    if arms.len() > 2 {
        lab.plan.arms[2].planted = Some(0.1);
    }
    lab.plan.measurement.pairing = Pairing::Duet;
    let pairs: Vec<[u32; 2]> = (1..arms.len() as u32).map(|arm| [0, arm]).collect();
    lab.plan.runs = duet_runs(&pairs, 8, Order::Shuffled, 1);
    lab.plan.measurement.blocks = 8 * pairs.len() as u32;
    let runs = lab.plan.runs.clone();
    let is_second = |arm: &str, block: u32| {
        let arm = arms.iter().position(|name| *name == arm).unwrap() as u32;
        let run = runs.iter().find(|run| run.block == block && run.arm == arm);
        run.unwrap().position == 1
    };
    let mut lab = lab.measure(|case| {
        let of_half = if is_second(case.arm, case.block) { 1.0 + half } else { 1.0 };
        let common = COMMON[case.block as usize % COMMON.len()];
        Shown::closed(case, 1e4 * common * of_half * of_arm(case.arm, case.block))
    });
    for run in &mut lab.runs {
        run.half = Some(Half { processors: vec![run.position], shares_core: false });
    }
    lab
}

fn primary(analysis: &Analysis) -> (Judgement, f64) {
    let primary = analysis.comparisons.iter().find(|one| one.primary).unwrap();
    (primary.verdict.judgement, primary.verdict.estimate.unwrap())
}

/// Half a per cent up and down.
fn noise(block: u32) -> f64 {
    if block % 4 < 2 { 1.005 } else { 0.995 }
}

#[test]
fn what_both_sides_have_in_common_cancels() {
    let slower = |arm: &str, block| {
        if arm == "other" { 0.9 * noise(block) } else { 1.0 }
    };
    let analysis = duets(&["one", "other"], 0.0, slower).analyse();
    let (judgement, estimate) = primary(&analysis);
    assert_eq!(judgement, Judgement::Worse);
    assert!((estimate + 0.1).abs() < 0.002, "{estimate}");
    let [found] = &analysis.duets[..] else { panic!("{:?}", analysis.duets) };
    assert_eq!((found.duets, found.are_alike), (8, true));
    assert!(
        found.correlation > 0.99 && found.spread < 0.006 && found.spread_apart > 0.2,
        "{found:?}"
    );
    assert!(found.sentence.contains("moved together"), "{}", found.sentence);
    assert!(!warns(&analysis, WarningId::UnequalHalves));
    // Each arm varies by more than 20 %, and much less than that is seen.
    let of_throughput = analysis.repeatability.iter().filter(|one| one.metric == found.metric);
    for one in of_throughput {
        assert!(one.spread > 0.15 && one.visible == found.visible, "{one:?}");
    }
}

/// A server may wait for a flush of the machine's disk through a whole point.
#[test]
fn a_block_in_which_one_side_finished_nothing_is_one_block() {
    let idle_in = |idle: fn(u32) -> bool| {
        let slower = move |arm: &str, block| match arm {
            "other" if idle(block) => 1e-9,
            "other" => 0.9 * noise(block),
            _ => 1.0,
        };
        let mut lab = duets(&["one", "other"], 0.0, slower);
        // The one operation of each session ended after the last second.
        for point in lab.points().filter(|point| point.slices[0].completed.ok == 0) {
            let load = point.label.load;
            let last = point.slices.last_mut().unwrap();
            last.operations = vec![part(Operation::Read, Status::Ok, load, 12e9, 4)];
        }
        lab.analyse()
    };
    let analysis = idle_in(|block| block == 3);
    let (judgement, estimate) = primary(&analysis);
    assert_eq!(judgement, Judgement::Worse, "{:?}", analysis.headline);
    assert!((-0.2..-0.09).contains(&estimate), "{estimate}");
    let never = idle_in(|_| true);
    let comparison = never.comparisons.iter().find(|one| one.primary).unwrap();
    assert_eq!(comparison.verdict.estimate, None);
    let why = format!("{:?}", comparison.verdict);
    assert!(why.contains("other finished no operation in block 1"), "{why}");
}

#[test]
fn halves_that_differ_are_said_and_taken_out() {
    let slower = |arm: &str, block| {
        if arm == "other" { 0.96 * noise(block) } else { 1.0 }
    };
    let lab = duets(&["one", "other"], 0.2, slower);
    let analysis = lab.analyse();
    assert!(warns(&analysis, WarningId::UnequalHalves));
    let found = &analysis.duets[0];
    assert!((found.second_over_first - 0.2).abs() < 0.01, "{found:?}");
    assert!(!found.are_alike && found.sentence.contains("takes that out"), "{}", found.sentence);
    let (judgement, estimate) = primary(&analysis);
    assert_eq!(judgement, Judgement::Worse, "{estimate}");
    assert!((estimate + 0.04).abs() < 0.005, "{estimate}");

    // As blocks in turn the same numbers say nothing: the place in the block is taken for noise.
    let mut in_turn = lab;
    in_turn.plan.measurement.pairing = Pairing::InTurn;
    let analysis = in_turn.analyse();
    assert_eq!(primary(&analysis).0, Judgement::Inconclusive);
    assert!(analysis.duets.is_empty());
}

#[test]
fn threads_of_one_core_are_no_halves() {
    let mut lab = duets(&["one", "other"], 0.0, |_, _| 1.0);
    for run in &mut lab.runs {
        run.half.as_mut().unwrap().shares_core = true;
    }
    assert!(warns(&lab.analyse(), WarningId::UnequalHalves));
}

#[test]
fn what_sides_do_alone_is_no_gain() {
    // Each side has the swings of its own.
    let alone = |arm: &str, block: u32| {
        let swing = COMMON[(block as usize + if arm == "one" { 0 } else { 3 }) % COMMON.len()];
        swing / COMMON[block as usize % COMMON.len()]
    };
    let analysis = duets(&["one", "other"], 0.0, alone).analyse();
    let found = &analysis.duets[0];
    assert!(found.correlation < 0.2, "{found:?}");
    assert!(found.sentence.contains("no sharper here than runs in turn"), "{}", found.sentence);
}

#[test]
fn a_control_has_blocks_of_its_own_and_no_verdict() {
    let arms = ["one", "other", "control 10%"];
    let of_arm = |arm: &str, block| {
        if arm == "control 10%" { 0.9 * noise(block) } else { 1.0 }
    };
    let analysis = duets(&arms, 0.0, of_arm).analyse();
    assert!(analysis.comparisons.iter().all(|one| one.arm == "other"));
    let [control] = &analysis.controls[..] else { panic!("{:?}", analysis.controls) };
    assert_eq!((control.blocks, control.worse_in, control.planted), (8, 8, 0.1));
    assert!(control.is_found && control.is_covered == Some(true), "{control:?}");
    assert!(
        control.sentence.contains(
            "would have been found under workload c at 4 threads: it was planted, and found"
        ),
        "{}",
        control.sentence
    );
    assert_eq!(analysis.duets.len(), 2, "the halves are known from the controls too");
    assert!(!warns(&analysis, WarningId::ControlMissed));
}

/// In turn: the control swings as much as the arms do.
#[test]
fn a_control_that_is_missed_is_a_caution_and_so_is_a_false_alarm() {
    let mut lab =
        Laboratory::closed(&["one", "other", "control 5%", "control 0%"], &["c"], &[4], 8);
    lab.plan.arms[2].planted = Some(0.05);
    lab.plan.arms[3].planted = Some(0.0);
    let analysis = lab
        .measure(|case| {
            let swing = match case.arm {
                "one" => COMMON[case.block as usize],
                // The same swings in another order.
                "control 5%" => 0.95 * COMMON[(case.block as usize + 3) % 8],
                "control 0%" => 0.9 * COMMON[case.block as usize],
                _ => 1.0,
            };
            Shown::closed(case, 1e4 * swing)
        })
        .analyse();
    let missed = &analysis.controls[0];
    assert!(
        !missed.is_found && missed.sentence.contains("would not have been found under workload"),
        "{}",
        missed.sentence
    );
    assert!(warns(&analysis, WarningId::ControlMissed));
    let alarm = &analysis.controls[1];
    assert!(alarm.is_different && alarm.sentence.contains("a false alarm"), "{}", alarm.sentence);
    assert!(warns(&analysis, WarningId::FalseAlarm));
}

/// One arm alone is no comparison, with a control or without.
#[test]
fn one_arm_with_a_control_is_a_result() {
    let arms = ["one", "control 10%"];
    let mut lab = Laboratory::closed(&arms, &["c"], &[4], 8);
    lab.plan.arms[1].planted = Some(0.1);
    let slower = |arm: &str| if arm == "one" { 1.0 } else { 0.9 };
    let analysis = lab
        .measure(|case| Shown::closed(case, 1e4 * slower(case.arm) * noise(case.block)))
        .analyse();
    assert_eq!(analysis.outcome(), Outcome::Good, "{:?}", analysis.headline);
    assert!(
        !analysis.headline.iter().any(|line| line.contains("INVALID")),
        "{:?}",
        analysis.headline
    );
    assert!(analysis.controls[0].is_found);
    let are_controls: Vec<bool> = analysis.arms.iter().map(|arm| arm.control).collect();
    assert_eq!(are_controls, [false, true]);
}

/// If a response takes longer than the pause, nothing was planted, and nothing was missed.
#[test]
fn what_a_pause_cannot_plant_is_not_missed() {
    let mut lab = Laboratory::closed(&["one", "control 2%"], &["c"], &[4], 8);
    lab.plan.arms[1].planted = Some(0.02);
    lab.plan.compare.margins.insert("throughput".into(), 0.01);
    // 4 sessions at 100 op/s: 40 ms each, and pauses of 20 ms.
    let slow = |case: crate::it::laboratory::Case<'_>| {
        Shown::closed(case, 100.0 * COMMON[case.block as usize])
    };
    let analysis = lab.measure(slow).analyse();
    let control = &analysis.controls[0];
    assert_eq!((control.expected, control.expected_least), (-0.02, 0.0));
    assert!(control.sentence.contains("could not be planted"), "{}", control.sentence);
    assert!(!warns(&analysis, WarningId::ControlMissed));
}

/// Seconds that swing on both sides alike are no noise of the difference.
#[test]
fn what_seconds_have_in_common_is_no_noise() {
    let slower = |arm: &str, block| {
        if arm == "other" { 0.9 * noise(block) } else { 1.0 }
    };
    let mut lab = duets(&["one", "other"], 0.0, slower);
    for run in &mut lab.runs {
        run.started_at = "2026-03-01T10:00:00Z".into();
        run.ended_at = Some("2026-03-01T10:00:32Z".into());
        for (index, slice) in run.points[0].slices.iter_mut().enumerate() {
            let up = if index % 3 == 0 { 1.3 } else { 1.0 };
            slice.length_ns = (slice.length_ns as f64 / up) as u64;
        }
    }
    let analysis = lab.analyse();
    assert!(analysis.duets[0].correlation_of_seconds.unwrap() > 0.99);
    let [found] = &analysis.noise[..] else { panic!("{:?}", analysis.noise) };
    assert_eq!(found.runs_in_turn, 1);
    assert!(found.seconds < 1e-6, "{found:?}");
    // Differences are ±0.5 %, of 8 with 6 degrees of freedom; half of their variance is each arm's.
    let expected = (8.0 * 0.005_f64.powi(2) / 6.0 / 2.0).sqrt();
    assert!((found.run - expected).abs() < 1e-4, "{found:?}");
}

/// Other programs that both halves had for company do not make a duet invalid.
#[test]
fn company_of_both_sides_is_a_caution() {
    let mut lab = duets(&["one", "other"], 0.0, |_, _| 1.0);
    for run in &mut lab.runs {
        run.machine.cores = 1;
    }
    for point in lab.points() {
        let end = point.end.as_mut().unwrap();
        end.foreign = Some(Box::new(plimsoll_record::ForeignCpu {
            cpu_ns: 6_000_000_000,
            elapsed_ns: 10_000_000_000,
            programs: Vec::new(),
        }));
    }
    let analysis = lab.analyse();
    let warning = analysis.warnings.iter().find(|one| one.id == WarningId::ForeignCpu).unwrap();
    // 0.6 of two processors.
    assert!(warning.message.contains("30.0 %"), "{}", warning.message);
    let are_valid = |analysis: &Analysis| {
        let points = analysis.curves.iter().flat_map(|curve| &curve.points);
        points.flat_map(|point| &point.results).all(|result| result.valid)
    };
    assert!(are_valid(&analysis));
    for run in &mut lab.runs {
        run.half = None;
    }
    assert!(!are_valid(&lab.analyse()));
}
