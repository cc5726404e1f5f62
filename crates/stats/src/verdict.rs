//! One of four words for a comparison, against a margin of practical importance.
//!
//! With the interval [L, U] and the estimate θ of the advantage of B (logarithm of the ratio, turned so that positive is good) and the margin
//! m = ln(1 + margin):
//!
//! | the interval | the word | grounds | what is claimed |
//! |---|---|---|---|
//! | does not attain the confidence, or there are fewer than 6 blocks | inconclusive | not enough blocks | nothing |
//! | lies inside (-m, m) | equivalent | within margin | any difference is smaller than what matters |
//! | L ≥ m | better | surely beyond margin | better, and by more than the margin |
//! | 0 < L < m, θ ≥ m | better | likely beyond margin | better; the best estimate of the size is one that matters |
//! | 0 < L < m, θ < m, U ≥ m | inconclusive | size unclear | B is ahead, but whether by enough to matter is not known |
//! | holds 0, and reaches -m or m | inconclusive | direction unclear | nothing |
//!
//! and mirrored for worse. Why the margin enters at the estimate: demanding only that zero is left out would let many blocks turn a difference of 0.1 % into
//! "better"; demanding that the whole interval lies beyond the margin would call a gain of 2.9 to 38 % "inconclusive". So the *direction* is held to
//! the full confidence, the *size* to the best estimate, and the grounds say when the size is sure as well. A difference that is certainly not zero and
//! certainly smaller than the margin is "equivalent": it exists, and does not matter.
//!
//! Each word is wrong with a probability of at most 1-c: "better" or "worse" in the wrong direction, or for equal arms, means that the interval missed
//! the truth; so does "equivalent" for arms that differ by the margin or more.

use serde::{Deserialize, Serialize};

use crate::blocks_needed::{FEWEST_BLOCKS, fewest_blocks, fewest_runs};
use crate::comparison::{Comparison, Design};
use crate::error::StatsError;
use crate::interval::{Estimate, Interval};

/// Whether a higher or a lower value is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// A higher value is better: throughput, hit ratio.
    HigherIsBetter,
    /// A lower value is better: response time, cost.
    LowerIsBetter,
}

/// The four words. They always speak of arm B against arm A.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// B is surely ahead, and the estimate of the difference matters.
    Better,
    /// B is surely behind, and the estimate of the difference matters.
    Worse,
    /// Any difference is surely smaller than the margin.
    Equivalent,
    /// None of the three can be said.
    Inconclusive,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Equivalent => "equivalent",
            Verdict::Inconclusive => "inconclusive",
        })
    }
}

/// What a verdict rests on; see the table of the [module](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grounds {
    /// Better or worse: the whole interval lies beyond the margin.
    SurelyBeyondMargin,
    /// Better or worse: the interval leaves zero out and the estimate lies beyond the margin, the near end of the interval does not.
    LikelyBeyondMargin,
    /// Equivalent: the whole interval lies within the margin.
    WithinMargin,
    /// Inconclusive: no difference, however large, could have been shown.
    NotEnoughBlocks {
        /// Blocks (or runs in each arm) from which on it could.
        needed: usize,
    },
    /// Inconclusive: the interval holds zero and reaches beyond the margin.
    DirectionUnclear,
    /// Inconclusive: the interval leaves zero out, but neither lies within the margin nor is the estimate beyond it.
    SizeUnclear,
}

/// Direction and margin of one metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    direction: Direction,
    margin: f64,
}

impl Rule {
    /// A rule with a margin of practical importance as a relative change: 0.03 is 3 %. The margin is a ratio, the same both ways: from
    /// 1/1.03 to 1.03, so that the verdict on A against B mirrors the one on B against A.
    ///
    /// # Errors
    /// A margin that is negative or not finite.
    pub fn new(direction: Direction, margin: f64) -> Result<Rule, StatsError> {
        if !margin.is_finite() || margin < 0.0 {
            let allowed = "zero or a positive share, such as 0.03 for 3 %";
            return Err(StatsError::BadSetting { what: "the margin", value: margin, allowed });
        }
        Ok(Rule { direction, margin })
    }

    /// Throughput: higher is better, 3 % matters.
    pub fn throughput() -> Rule {
        Rule { direction: Direction::HigherIsBetter, margin: 0.03 }
    }

    /// 99th percentile of the response time: lower is better, 5 % matters.
    pub fn p99() -> Rule {
        Rule { direction: Direction::LowerIsBetter, margin: 0.05 }
    }

    /// Whether a higher or a lower value is better.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The smallest relative change that matters.
    pub fn margin(&self) -> f64 {
        self.margin
    }
}

/// A verdict with all figures behind it. Changes are relative and speak of B against A as measured: -0.2 in a response time is an improvement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The verdict on this metric.
    pub verdict: Verdict,
    /// What the verdict rests on.
    pub grounds: Grounds,
    /// Estimate and interval of the relative change.
    pub change: Estimate,
    /// Two-sided p of "no difference", of this comparison alone.
    pub p: f64,
    /// The same after Holm's correction for all comparisons judged together; equal to `p` for one alone.
    pub adjusted_p: f64,
    /// The smallest true difference that would have been shown four times in five; see [`Comparison::smallest_visible_change`].
    pub smallest_visible: Option<f64>,
    /// Confidence that was demanded of this interval: the one requested, raised by Holm's correction.
    pub demanded_confidence: f64,
    /// Whether a higher or a lower value is better.
    pub direction: Direction,
    /// The smallest relative change that matters.
    pub margin: f64,
    /// The blocks or runs that were compared.
    pub design: Design,
}

/// Judges one comparison by itself. Several primary metrics belong into [`crate::judge_together`].
///
/// # Errors
/// A confidence outside (0, 1).
pub fn judge(
    comparison: &Comparison,
    rule: Rule,
    confidence: f64,
) -> Result<Judgement, StatsError> {
    let ln_ratio = comparison.ln_ratio(confidence)?;
    let (verdict, grounds) =
        match blocks_missing(comparison.design(), ln_ratio.interval, confidence) {
            Some(needed) => (Verdict::Inconclusive, Grounds::NotEnoughBlocks { needed }),
            None => decide(ln_ratio, rule),
        };
    let p = comparison.p_value();
    Ok(Judgement {
        verdict,
        grounds,
        change: comparison.change(confidence)?,
        p,
        adjusted_p: p,
        smallest_visible: comparison.smallest_visible_change(confidence)?,
        demanded_confidence: confidence,
        direction: rule.direction,
        margin: rule.margin,
        design: comparison.design(),
    })
}

/// Blocks needed where those at hand can show nothing.
fn blocks_missing(design: Design, interval: Interval, confidence: f64) -> Option<usize> {
    match design {
        Design::Paired { blocks } if blocks < FEWEST_BLOCKS || interval.confidence < confidence => {
            Some(fewest_blocks(confidence))
        }
        Design::Unpaired { .. } if interval.confidence < confidence => {
            Some(fewest_runs(confidence))
        }
        _ => None,
    }
}

/// The table of the module, on an interval that attains its confidence.
fn decide(ln_ratio: Estimate, rule: Rule) -> (Verdict, Grounds) {
    let margin = rule.margin.ln_1p();
    let Interval { lower, upper, .. } = ln_ratio.interval;
    if -margin < lower && upper < margin {
        return (Verdict::Equivalent, Grounds::WithinMargin);
    }
    if lower <= 0.0 && 0.0 <= upper {
        return (Verdict::Inconclusive, Grounds::DirectionUnclear);
    }
    let nearest_to_zero = if lower > 0.0 { lower } else { -upper };
    let grounds = if nearest_to_zero >= margin {
        Grounds::SurelyBeyondMargin
    } else if ln_ratio.value.abs() >= margin {
        Grounds::LikelyBeyondMargin
    } else {
        return (Verdict::Inconclusive, Grounds::SizeUnclear);
    };
    let higher = lower > 0.0;
    let good = higher == (rule.direction == Direction::HigherIsBetter);
    (if good { Verdict::Better } else { Verdict::Worse }, grounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_err;
    use proptest::prelude::*;

    fn word(value: f64, lower: f64, upper: f64, direction: Direction) -> (Verdict, Grounds) {
        let interval =
            Interval { lower: f64::ln_1p(lower), upper: f64::ln_1p(upper), confidence: 0.96 };
        let rule = Rule::new(direction, 0.03).unwrap();
        decide(Estimate { value: f64::ln_1p(value), interval }, rule)
    }

    #[test]
    fn each_row_of_the_table_gives_its_word() {
        use Grounds::*;
        use Verdict::*;
        let rows = [
            (0.34, 0.31, 0.38, Better, SurelyBeyondMargin),
            (0.10, 0.029, 0.38, Better, LikelyBeyondMargin),
            (0.029, 0.001, 0.06, Inconclusive, SizeUnclear),
            (0.02, 0.01, 0.029, Equivalent, WithinMargin),
            (0.0, -0.02, 0.02, Equivalent, WithinMargin),
            (0.02, -0.02, 0.05, Inconclusive, DirectionUnclear),
            (0.02, 0.0, 0.05, Inconclusive, DirectionUnclear),
            (-0.10, -0.15, -0.05, Worse, SurelyBeyondMargin),
            (-0.10, -0.15, -0.01, Worse, LikelyBeyondMargin),
            (-0.01, -0.15, -0.005, Inconclusive, SizeUnclear),
        ];
        for (value, lower, upper, verdict, grounds) in rows {
            let found = word(value, lower, upper, Direction::HigherIsBetter);
            assert_eq!(found, (verdict, grounds), "{lower} to {upper}");
            let turned = match verdict {
                Better => Worse,
                Worse => Better,
                other => other,
            };
            let found = word(value, lower, upper, Direction::LowerIsBetter);
            assert_eq!(found, (turned, grounds), "{lower} to {upper}");
        }
    }

    #[test]
    fn fewer_than_six_blocks_say_so_however_large_the_difference() {
        let comparison = Comparison::paired(&[1.0; 5], &[2.0, 2.1, 2.2, 2.3, 2.4]).unwrap();
        for confidence in [0.9, 0.95] {
            let judgement = judge(&comparison, Rule::throughput(), confidence).unwrap();
            assert_eq!(judgement.verdict, Verdict::Inconclusive);
            assert_eq!(judgement.grounds, Grounds::NotEnoughBlocks { needed: 6 });
        }
        let six = Comparison::paired(&[1.0; 6], &[2.0, 2.1, 2.2, 2.3, 2.4, 2.5]).unwrap();
        let found = judge(&six, Rule::throughput(), 0.95).unwrap().verdict;
        assert_eq!(found, Verdict::Better);
        let found = judge(&six, Rule::p99(), 0.95).unwrap().verdict;
        assert_eq!(found, Verdict::Worse);
        let demanding = judge(&six, Rule::throughput(), 0.99).unwrap();
        assert_eq!(demanding.grounds, Grounds::NotEnoughBlocks { needed: 8 });
    }

    #[test]
    fn too_few_unpaired_runs_say_so() {
        let comparison = Comparison::unpaired(&[1.0, 1.1, 1.2], &[2.0, 2.1, 2.2]).unwrap();
        let judgement = judge(&comparison, Rule::throughput(), 0.95).unwrap();
        assert_eq!(judgement.grounds, Grounds::NotEnoughBlocks { needed: 4 });
        assert_eq!(judgement.smallest_visible, None);
    }

    #[test]
    fn impossible_margins_are_refused() {
        for margin in [-0.01, f64::NAN, f64::INFINITY] {
            assert_err!(
                Rule::new(Direction::HigherIsBetter, margin),
                StatsError::BadSetting { .. }
            );
        }
        let comparison = Comparison::paired(&[1.0; 6], &[1.0; 6]).unwrap();
        assert!(judge(&comparison, Rule::throughput(), 95.0).is_err());
    }

    #[test]
    fn words_are_written_as_in_the_docs() {
        let comparison = Comparison::paired(&[1.0; 6], &[1.0; 6]).unwrap();
        let judgement = judge(&comparison, Rule::throughput(), 0.95).unwrap();
        assert_eq!(judgement.verdict.to_string(), "equivalent");
        let text = serde_json::to_string(&judgement).unwrap();
        assert!(text.contains(r#""verdict":"equivalent","grounds":"within-margin""#), "{text}");
        assert_eq!(serde_json::from_str::<Judgement>(&text).unwrap(), judgement);
    }

    proptest! {
        #[test]
        fn swapping_the_arms_swaps_better_and_worse(
            ratios in prop::collection::vec(0.8..1.25_f64, 1..20),
            margin in 0.0..0.2_f64,
        ) {
            let ones = vec![1.0; ratios.len()];
            let rule = Rule::new(Direction::HigherIsBetter, margin).unwrap();
            let there = judge(&Comparison::paired(&ones, &ratios).unwrap(), rule, 0.95).unwrap();
            let back = judge(&Comparison::paired(&ratios, &ones).unwrap(), rule, 0.95).unwrap();
            prop_assert_eq!(there.grounds, back.grounds);
            let mirrored = match there.verdict {
                Verdict::Better => Verdict::Worse,
                Verdict::Worse => Verdict::Better,
                other => other,
            };
            prop_assert_eq!(mirrored, back.verdict);
        }
    }
}
