//! Several primary metrics judged together: Holm's correction.

use crate::comparison::Comparison;
use crate::error::StatsError;
use crate::verdict::{Judgement, Rule, judge};

/// p values after Holm's step-down correction (Holm, 1979), in the order given.
///
/// With k values in rising order, the i-th (from 0) becomes the largest of (k - j)·p₍ⱼ₎ over j ≤ i, at most 1. Holds the chance of *any* false alarm among
/// all k at the level, whatever their dependence, and never asks for more than Bonferroni's k·p.
///
/// ```
/// let adjusted = plimsoll_stats::holm(&[0.01, 0.04, 0.03]);
/// assert_eq!(adjusted, [0.03, 0.06, 0.06]);
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut largest = 0.0_f64;
    for (step, index) in rising_order(p).into_iter().enumerate() {
        largest = largest.max(((p.len() - step) as f64 * p[index]).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

/// Judges several primary metrics of one experiment, so that the chance of even one false "better" or "worse" among them stays at 1 - `confidence`.
///
/// The comparisons are taken in the order of their p. The first is judged by its interval at confidence 1 - (1-c)/k, the next at 1 - (1-c)/(k-1), and
/// so on until one includes zero; that one and all after it are judged at the confidence reached. So each word rests on the very
/// interval that is shown with it, and "better" and "worse" are exactly those that Holm's correction lets pass.
///
/// The price is paid in blocks: with 2 or 3 primaries [`crate::fewest_blocks`] is 7, with 4 to 6 it is 8. Results come in the order given.
///
/// # Errors
/// A confidence outside (0, 1).
pub fn judge_together(
    comparisons: &[(&Comparison, Rule)],
    confidence: f64,
) -> Result<Vec<Judgement>, StatsError> {
    let p: Vec<f64> = comparisons.iter().map(|(comparison, _)| comparison.p_value()).collect();
    let adjusted = holm(&p);
    let mut remaining = comparisons.len();
    let mut judged = Vec::with_capacity(comparisons.len());
    for index in rising_order(&p) {
        let (comparison, rule) = comparisons[index];
        let demanded = 1.0 - (1.0 - confidence) / remaining as f64;
        // A single comparison is judged at exactly the confidence requested, without rounding.
        let demanded = if remaining == 1 { confidence } else { demanded };
        let mut judgement = judge(comparison, rule, demanded)?;
        judgement.adjusted_p = adjusted[index];
        if p[index] <= 1.0 - demanded {
            remaining -= 1;
        }
        judged.push((index, judgement));
    }
    judged.sort_by_key(|(index, _)| *index);
    Ok(judged.into_iter().map(|(_, judgement)| judgement).collect())
}

/// Indices in rising order of the values; equal values keep their order.
fn rising_order(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&left, &right| values[left].total_cmp(&values[right]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{Grounds, Verdict};
    use proptest::prelude::*;

    /// Eight blocks, `against` of which point down.
    fn eight_blocks(against: usize) -> Comparison {
        let b: Vec<f64> = (0..8)
            .map(|i| if i < against { 0.999 - 0.001 * i as f64 } else { 1.2 + 0.01 * i as f64 })
            .collect();
        Comparison::paired(&[1.0; 8], &b).unwrap()
    }

    #[test]
    fn a_metric_alone_is_judged_as_usual() {
        let comparison = eight_blocks(0);
        let together = judge_together(&[(&comparison, Rule::throughput())], 0.95).unwrap();
        let expected = [judge(&comparison, Rule::throughput(), 0.95).unwrap()];
        assert_eq!(together, expected);
    }

    #[test]
    fn the_stronger_metric_must_pass_the_harder_test() {
        // p = 2·P(T ≤ 3) = 10/256 = 0.039 alone (two blocks against, with ranks 1 and 2): enough by itself, not as one of two.
        let weak = eight_blocks(2);
        assert_eq!(weak.p_value(), 10.0 / 256.0);
        let found = judge(&weak, Rule::throughput(), 0.95).unwrap().verdict;
        assert_eq!(found, Verdict::Better);
        let pair = [(&weak, Rule::throughput()), (&weak, Rule::throughput())];
        for judgement in judge_together(&pair, 0.95).unwrap() {
            assert_eq!(judgement.verdict, Verdict::Inconclusive);
            assert_eq!(judgement.adjusted_p, 20.0 / 256.0);
        }
        // Beside a metric that passes at 97.5 %, it has the whole 5 % again.
        let strong = eight_blocks(0);
        let pair = [(&weak, Rule::throughput()), (&strong, Rule::throughput())];
        let judged = judge_together(&pair, 0.95).unwrap();
        assert_eq!(judged[0].verdict, Verdict::Better);
        assert_eq!(judged[0].demanded_confidence, 0.95);
        assert!((judged[1].demanded_confidence - 0.975).abs() < 1e-12);
        assert_eq!(judged[1].verdict, Verdict::Better);
    }

    #[test]
    fn six_blocks_are_too_few_for_two_primaries() {
        let six = Comparison::paired(&[1.0; 6], &[2.0, 2.1, 2.2, 2.3, 2.4, 2.5]).unwrap();
        let pair = [(&six, Rule::throughput()), (&six, Rule::throughput())];
        for judgement in judge_together(&pair, 0.95).unwrap() {
            assert_eq!(judgement.grounds, Grounds::NotEnoughBlocks { needed: 7 });
        }
    }

    #[test]
    fn nothing_judged_is_nothing_returned() {
        assert_eq!(judge_together(&[], 0.95).unwrap(), []);
        assert_eq!(holm(&[]), Vec::<f64>::new());
    }

    proptest! {
        #[test]
        fn correction_raises_p_at_most_to_bonferroni_and_keeps_the_order(p in prop::collection::vec(0.0..1.0_f64, 1..8)) {
            let adjusted = holm(&p);
            for (raw, corrected) in p.iter().zip(&adjusted) {
                let bonferroni = (raw * p.len() as f64).min(1.0);
                prop_assert!(raw <= corrected && *corrected <= bonferroni + 1e-12);
            }
            for (i, left) in p.iter().enumerate() {
                for (j, right) in p.iter().enumerate() {
                    if left < right {
                        prop_assert!(adjusted[i] <= adjusted[j]);
                    }
                }
            }
        }

        #[test]
        fn better_or_worse_passes_holm(
            blocks in prop::collection::vec((0.7..1.4_f64, 0.7..1.4_f64, 0.9..1.2_f64), 8),
        ) {
            let column = |pick: fn(&(f64, f64, f64)) -> f64| {
                let b: Vec<f64> = blocks.iter().map(pick).collect();
                Comparison::paired(&[1.0; 8], &b).unwrap()
            };
            let metrics = [column(|row| row.0), column(|row| row.1), column(|row| row.2)];
            let rule = Rule::new(crate::Direction::HigherIsBetter, 0.0).unwrap();
            let together: Vec<_> = metrics.iter().map(|metric| (metric, rule)).collect();
            for judgement in judge_together(&together, 0.95).unwrap() {
                // With a margin of zero, "better" and "worse" are exactly the corrected rejections.
                let decided = matches!(judgement.verdict, Verdict::Better | Verdict::Worse);
                prop_assert_eq!(decided, judgement.adjusted_p <= 0.05);
            }
        }
    }
}
