//! Gates: what they answer, when they may end, and what the words are.

use crate::it::laboratory::{Laboratory, SPREAD, Shown, weather};
use crate::it::searched::plan_more_blocks;
use crate::{Analysis, GateOutcome, Outcome, analyse};
use plimsoll_plan::{Gate, Looks};
use plimsoll_record::ExperimentState;

/// Ten blocks, a look, of at most 40; the new arm is `ratio` times as fast, give or take a part of 2 %.
fn gate(ratio: f64, blocks: u32, part: f64) -> Laboratory {
    let mut lab = Laboratory::closed(&["base", "new"], &["c"], &[4], blocks).measure(|case| {
        let own = if case.arm == "new" {
            ratio * (SPREAD[case.block as usize % SPREAD.len()] * part).exp()
        } else {
            1.0
        };
        Shown::closed(case, 1e5 * weather(case.block) * own)
    });
    plan_more_blocks(&mut lab, 40 - blocks);
    lab.plan.measurement.looks = Some(Looks {
        first: 10,
        half_width: None,
        gate: Some(Gate { within_ns: 900_000_000_000 }),
    });
    lab
}

fn going_on(lab: &Laboratory) -> Analysis {
    let mut record = lab.record();
    record.state = ExperimentState::Unfinished;
    analyse(&record).unwrap()
}

#[test]
fn what_is_only_probable_ends_no_look() {
    // About 4 % slower, give or take 2: it loses for certain, and more than 3 % only probably.
    let slower = going_on(&gate(0.962, 10, 1.0));
    let answer = slower.gate.as_ref().unwrap();
    assert_eq!((answer.outcome, answer.answered), (GateOutcome::Failed, false));
    // Between looks nothing ends it, however certain it is.
    let between = going_on(&gate(0.9, 11, 1.0));
    let answer = between.gate.as_ref().unwrap();
    assert_eq!((answer.outcome, answer.answered), (GateOutcome::Failed, false));
}

#[test]
fn what_decides_demands_more_than_in_an_experiment_without_looks() {
    let analysis = gate(1.0, 11, 1.0).analyse();
    let verdict = &analysis.comparisons[0].verdict;
    assert!(verdict.confidence.unwrap() >= 0.975, "{verdict:?}");
    let mut lab = gate(1.0, 11, 1.0);
    lab.plan.measurement.looks = None;
    let plain = lab.analyse();
    let without = plain.comparisons[0].verdict.confidence;
    assert!(without < verdict.confidence, "{without:?}");
}

#[test]
fn the_words_say_what_and_why() {
    let passed = gate(1.0, 10, 1.0).analyse();
    let sentence = &passed.headline[0];
    let begin = "The gate is passed: new does not lose more than the margin against base: workload c at 4 threads: throughput ";
    assert!(sentence.starts_with(begin), "{sentence}");
    let end = "), margin 3.0 %. Answered after 10 blocks.";
    assert!(sentence.ends_with(end), "{sentence}");
    assert_eq!(passed.validity[0].text, "10 complete of at most 40, the gate ended");
    let open = gate(0.985, 12, 4.0).analyse();
    let answer = open.gate.as_ref().unwrap();
    assert_eq!(answer.outcome, GateOutcome::Open);
    assert!(
        answer.sentence.ends_with("Its time of 15m was over after 12 blocks."),
        "{}",
        answer.sentence
    );
    assert_eq!(open.outcome(), Outcome::Good);
    assert!(gate(1.0, 8, 1.0).analyse().gate.is_some());
    let mut none = gate(1.0, 8, 1.0);
    none.plan.measurement.looks = None;
    assert_eq!(none.analyse().gate, None);
}

mod slow {
    use super::*;

    #[test]
    fn a_look_ends_a_gate_when_it_is_certain() {
        let equal = going_on(&gate(1.0, 10, 1.0));
        let answer = equal.gate.as_ref().unwrap();
        assert_eq!((answer.outcome, answer.answered), (GateOutcome::Passed, true));
        // Four looks come before the last, after 40 blocks.
        let demanded = 1.0 - 0.025 / 4.0;
        let attained = equal.comparisons[0].verdict.confidence.unwrap();
        assert!(attained >= demanded, "{attained}");

        let slower = going_on(&gate(0.9, 10, 1.0));
        let answer = slower.gate.as_ref().unwrap();
        assert_eq!((answer.outcome, answer.answered), (GateOutcome::Failed, true));
        assert_eq!(slower.outcome(), Outcome::ThresholdBroken);

        // 3 % slower is just the margin.
        let near = going_on(&gate(0.97, 10, 1.0));
        assert!(!near.gate.unwrap().answered);
    }

    #[test]
    fn a_gate_whose_blocks_cannot_be_compared_ends_as_invalid() {
        let mut lab = gate(1.0, 11, 1.0);
        // In all blocks but the first four the new arm has no end of its point.
        for run in &mut lab.runs {
            if run.arm == "new" && run.block >= 4 {
                run.points[0].end = None;
            }
        }
        let analysis = lab.analyse();
        let answer = analysis.gate.as_ref().unwrap();
        assert_eq!((answer.outcome, answer.usable), (GateOutcome::Open, false));
        assert!(
            answer.sentence.ends_with("Only 4 of 11 blocks can be compared, so it ended."),
            "{}",
            answer.sentence
        );
        assert_eq!(analysis.outcome(), Outcome::Invalid);
        assert!(gate(1.0, 11, 1.0).analyse().gate.unwrap().usable);
    }
}
