//! How often are the four words wrong?

use crate::{Comparison, Direction, Rule, Verdict, judge, judge_together};

use crate::calibration::simulate::Source;
use crate::calibration::study::{Promise, Studies, Study};
use Promise::{AtLeast, AtMost};

const REPEATS: usize = 4000;

/// What is simulated, what is counted, noise of each run, B over A, what is promised, which words count.
type Case = (&'static str, &'static str, f64, f64, Promise, &'static [Verdict]);

/// The word for 8 blocks, B being `ratio` times A, margin 3 %.
fn word(source: &mut Source, noise: f64, ratio: f64) -> Verdict {
    let a: Vec<f64> = (0..8).map(|_| (noise * source.normal()).exp()).collect();
    let b: Vec<f64> = (0..8).map(|_| ratio * (noise * source.normal()).exp()).collect();
    let comparison = Comparison::paired(&a, &b).expect("simulated runs are positive");
    judge(&comparison, Rule::throughput(), 0.95).expect("95 % is valid").verdict
}

pub fn studies() -> Vec<Study> {
    use Verdict::{Better, Equivalent, Inconclusive, Worse};
    // 8 blocks attain 1 - 10/256, half of the rest on each side.
    let (both_sides, one_side) = (10.0 / 256.0, 5.0 / 256.0);
    let cases: [Case; 8] = [
        (
            "8 blocks, 5 % noise, equal arms",
            "“better” or “worse”",
            0.05,
            1.0,
            Promise::Exactly(both_sides),
            &[Better, Worse],
        ),
        (
            "8 blocks, 5 % noise, equal arms",
            "“inconclusive”",
            0.05,
            1.0,
            AtLeast(0.9),
            &[Inconclusive],
        ),
        ("8 blocks, 1 % noise, equal arms", "“equivalent”", 0.01, 1.0, AtLeast(0.9), &[Equivalent]),
        ("8 blocks, 5 % noise, B 1 % slower", "“better”", 0.05, 0.99, AtMost(one_side), &[Better]),
        (
            "8 blocks, 1 % noise, B faster by exactly the margin of 3 %",
            "“equivalent”",
            0.01,
            1.03,
            AtMost(one_side),
            &[Equivalent],
        ),
        ("8 blocks, 1 % noise, B 6 % faster", "“better”", 0.01, 1.06, AtLeast(0.99), &[Better]),
        ("8 blocks, 3 % noise, B 6 % faster", "“better”", 0.03, 1.06, AtLeast(0.8), &[Better]),
        (
            "8 blocks, 1 % noise, B 1.5 % faster, margin 3 %",
            "“better”",
            0.01,
            1.015,
            AtMost(0.05),
            &[Better],
        ),
    ];
    let mut studies = Studies::repeated(REPEATS);
    for (seed, (simulated, counted, noise, ratio, promise, words)) in cases.into_iter().enumerate()
    {
        studies.add(700 + seed as u64, simulated, counted, promise, |source| {
            Some(words.contains(&word(source, noise, ratio)))
        });
    }

    let any_difference = Rule::new(Direction::HigherIsBetter, 0.0).expect("zero is a valid margin");
    let simulated = "3 primary metrics, 10 blocks, equal arms, no margin";
    let counted = "any “better” or “worse”";
    studies.add(7, simulated, counted, AtMost(0.05), |source| {
        let metrics: Vec<Comparison> = (0..3)
            .map(|_| {
                let b: Vec<f64> = (0..10).map(|_| (0.01 * source.normal()).exp()).collect();
                Comparison::paired(&[1.0; 10], &b).expect("positive")
            })
            .collect();
        let together: Vec<_> = metrics.iter().map(|metric| (metric, any_difference)).collect();
        let judged = judge_together(&together, 0.95).expect("95 % is valid");
        Some(judged.iter().any(|judgement| matches!(judgement.verdict, Better | Worse)))
    });
    let simulated = "the same, but each judged alone";
    let counted = "any “better” or “worse”";
    studies.add(8, simulated, counted, AtLeast(0.11), |source| {
        Some((0..3).any(|_| {
            let b: Vec<f64> = (0..10).map(|_| (0.01 * source.normal()).exp()).collect();
            let comparison = Comparison::paired(&[1.0; 10], &b).expect("positive");
            let judgement = judge(&comparison, any_difference, 0.95).expect("95 % is valid");
            matches!(judgement.verdict, Better | Worse)
        }))
    });
    studies.all
}
