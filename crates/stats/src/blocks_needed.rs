//! How many blocks an experiment needs: for any verdict at all, and for an interval as narrow as requested.

use crate::comparison::ln_ratios;
use crate::error::{StatsError, check_confidence};
use crate::interval::{normal_two_sided, t_two_sided};
use crate::summary::standard_deviation;

/// Fewest blocks for which the signed-rank test can reach 95 %: with 5 the smallest two-sided p is 0.0625.
pub const FEWEST_BLOCKS: usize = 6;

/// Fewest blocks with which a paired comparison can reach `confidence`: the smallest n with 2/2ⁿ ≤ 1 - confidence, and never below
/// [`FEWEST_BLOCKS`]. A confidence of 1 or more can never be reached; it gives the largest count.
///
/// ```
/// use plimsoll_stats::fewest_blocks;
/// assert_eq!(fewest_blocks(0.95), 6);
/// // Two primary metrics: Holm demands 97.5 % of the stronger one.
/// assert_eq!(fewest_blocks(1.0 - 0.05 / 2.0), 7);
/// ```
pub fn fewest_blocks(confidence: f64) -> usize {
    let level = 1.0 - confidence;
    let mut blocks = FEWEST_BLOCKS;
    let mut smallest_p = 2.0_f64.powi(1 - FEWEST_BLOCKS as i32);
    while smallest_p > level {
        if smallest_p == 0.0 || level <= 0.0 {
            return usize::MAX;
        }
        smallest_p /= 2.0;
        blocks += 1;
    }
    blocks
}

/// Fewest runs in each arm with which an unpaired comparison can reach `confidence`: smallest n with 2/C(2n, n) ≤ 1 - confidence.
pub(crate) fn fewest_runs(confidence: f64) -> usize {
    let mut runs = 1;
    let mut orders = 2.0;
    while 2.0 / orders > 1.0 - confidence && runs < 500 {
        runs += 1;
        orders *= 2.0 * (2 * runs - 1) as f64 / runs as f64;
    }
    runs
}

/// Blocks after which the interval of the change should be about ± `half_width`, from a pilot of paired runs.
///
/// n is the smallest number of blocks, from [`FEWEST_BLOCKS`] on, with n ≥ (t·s/ε)²: s the standard deviation of ln(bᵢ/aᵢ) in the pilot, ε = ln(1 +
/// `half_width`), t the quantile of Student's t with n-1 degrees of freedom. `half_width` is a relative change, 0.03 for ± 3 %.
///
/// A pilot of 5 blocks knows its spread badly: the true one lies between 0.6 and 2.9 times the observed one (95 %, from the law of χ²), so that n is good
/// to a factor of two at most times and of eight at worst. Ask again when half of the blocks are done.
///
/// # Errors
/// Fewer than two pairs, lists of different lengths, values not above zero, a half-width not above zero, or a confidence outside (0, 1).
pub fn blocks_needed(
    pilot_a: &[f64],
    pilot_b: &[f64],
    half_width: f64,
    confidence: f64,
) -> Result<usize, StatsError> {
    check_confidence(confidence)?;
    if !half_width.is_finite() || half_width <= 0.0 {
        let allowed = "a share above zero, such as 0.03 for 3 %";
        return Err(StatsError::BadSetting { what: "the half-width", value: half_width, allowed });
    }
    let differences = ln_ratios(pilot_a, pilot_b)?;
    let Some(spread) = standard_deviation(&differences) else {
        return Err(StatsError::TooFew { what: "pilot blocks", needed: 2, got: differences.len() });
    };
    let spreads_in_target = spread / half_width.ln_1p();
    // The normal quantile is smaller than every t: a lower bound to start from, only a few blocks below the answer.
    let start = (normal_two_sided(confidence) * spreads_in_target).powi(2).ceil() as usize;
    let mut blocks = start.max(FEWEST_BLOCKS);
    while (t_two_sided(confidence, blocks - 1) * spreads_in_target).powi(2) > blocks as f64 {
        blocks = blocks.saturating_add(1);
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_err;

    /// Pilot whose logarithmic ratios have a standard deviation of exactly `spread`.
    fn pilot(spread: f64) -> (Vec<f64>, Vec<f64>) {
        let steps = [-1.0, -1.0, 0.0, 1.0, 1.0];
        (vec![1.0; 5], steps.iter().map(|step| (step * spread).exp()).collect())
    }

    #[test]
    fn known_spreads_need_known_numbers() {
        // s = ε: n must reach t², and 2.571² = 6.6 at n = 6, 2.447² = 5.99 at n = 7.
        // s = 2ε: n ≥ 4t²: at 17 blocks 4·2.120² = 17.98, at 18 blocks 4·2.110² = 17.8.
        for (spreads, expected) in [(0.1, 6), (1.0, 7), (2.0, 18)] {
            let (a, b) = pilot(spreads * 0.03_f64.ln_1p());
            let found = blocks_needed(&a, &b, 0.03, 0.95).unwrap();
            assert_eq!(found, expected, "{spreads}");
        }
    }

    #[test]
    fn a_hopeless_target_ends_and_gives_a_huge_number() {
        let (a, b) = pilot(1.0);
        assert!(blocks_needed(&a, &b, 1e-4, 0.95).unwrap() > 300_000_000);
        assert_eq!(blocks_needed(&[1.0; 3], &[1.0; 3], 0.03, 0.95).unwrap(), 6);
    }

    #[test]
    fn a_confidence_that_no_number_of_blocks_reaches_gives_the_largest_count() {
        assert_eq!(fewest_blocks(1.0), usize::MAX);
        assert_eq!(fewest_blocks(0.5), FEWEST_BLOCKS);
    }

    #[test]
    fn bad_input_is_refused() {
        assert_err!(blocks_needed(&[1.0], &[1.0], 0.03, 0.95), StatsError::TooFew { got: 1, .. });
        assert_err!(blocks_needed(&[1.0; 2], &[1.0; 2], 0.0, 0.95), StatsError::BadSetting { .. });
    }
}
