//! Many contrasts of one experiment judged together: sign flips of whole blocks.

/// Up to this many blocks every flip is tried, 2¹³ of them at most; with more, as many drawn ones.
const BLOCKS_TRIED_IN_FULL: usize = 14;
const FLIPS_DRAWN: usize = 1 << 13;
/// Seed of the drawn flips, constant so that a record is always judged alike.
const SEED: u64 = 0x7369_676e_2066_6c69;
/// Statistics that differ by less are ties, which rounding must not break.
const TIE: f64 = 1e-9;

/// p values of several contrasts, adjusted so that the chance of *any* false alarm among them stays below each level, in the order given. `contrasts[j][b]` is
/// the value of contrast j in block b, `None` where it could not be computed; without any difference its values are spread symmetrically around zero.
///
/// Westfall and Young's step-down maximum (1993) with the t statistic, over sign flips: if there is no difference, the values of a block are as likely with all
/// their signs turned, together for all contrasts, because one experiment turned them. So p is the share of the flips in which the largest statistic among those
/// contrasts that are not yet judged is at least the one observed. That is exact for symmetric values, whatever their dependence, and unlike Holm's
/// correction asks for no more blocks where there are more contrasts: n blocks allow a p of 2^(1-n), for a hundred contrasts as for one.
///
/// With more than 14 blocks, 8,191 flips are drawn, the same in every call, beside the observed one.
///
/// ```
/// let clear = vec![Some(0.50), Some(0.52), Some(0.49), Some(0.51), Some(0.50), Some(0.53)];
/// let chance = vec![Some(0.01), Some(-0.02), Some(0.01), Some(-0.01), Some(0.02), Some(0.00)];
/// let p = plimsoll_stats::sign_flips(&[clear, chance]);
/// assert_eq!(p[0], 1.0 / 32.0);
/// assert!(p[1] > 0.5);
/// ```
pub fn sign_flips(contrasts: &[Vec<Option<f64>>]) -> Vec<f64> {
    let blocks = contrasts.iter().map(Vec::len).max().unwrap_or(0);
    let flips = flips(blocks);
    // Statistics by contrast and flip; the first flip changes nothing.
    let mut order: Vec<(usize, Vec<f64>)> = Vec::with_capacity(contrasts.len());
    for (index, values) in contrasts.iter().enumerate() {
        let of_flip = |signs: &Vec<bool>| statistic(values, signs);
        order.push((index, flips.iter().map(of_flip).collect()));
    }
    order.sort_by(|(_, left), (_, right)| left[0].total_cmp(&right[0]));
    let mut largest = vec![0.0_f64; flips.len()];
    let mut adjusted = vec![1.0; contrasts.len()];
    let mut in_rising_order = Vec::with_capacity(order.len());
    for (index, statistics) in &order {
        for (most, statistic) in largest.iter_mut().zip(statistics) {
            *most = most.max(*statistic);
        }
        let observed = statistics[0] * (1.0 - TIE);
        let as_large = largest.iter().filter(|most| **most >= observed).count();
        in_rising_order.push((*index, as_large as f64 / flips.len() as f64));
    }
    // A weaker contrast is never surer than a stronger one.
    let mut at_least = 0.0_f64;
    for (index, p) in in_rising_order.into_iter().rev() {
        at_least = at_least.max(p);
        adjusted[index] = at_least;
    }
    adjusted
}

/// Student's t without its sign; 0 where nothing is known, or nothing differs.
fn statistic(values: &[Option<f64>], turned: &[bool]) -> f64 {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (value, is_turned) in values.iter().zip(turned) {
        if let Some(value) = value {
            count += 1.0;
            sum += if *is_turned { -value } else { *value };
            squares += value * value;
        }
    }
    if count < 2.0 || squares == 0.0 {
        return 0.0;
    }
    // The squares do not change by flipping, so that t is a function of this share alone.
    let share = (sum * sum / (count * squares)).min(1.0);
    (share * (count - 1.0) / (1.0 - share).max(f64::EPSILON)).sqrt()
}

/// Which blocks are turned, for each flip; the first turns none. Turning all is the same as turning none.
fn flips(blocks: usize) -> Vec<Vec<bool>> {
    if blocks <= BLOCKS_TRIED_IN_FULL {
        let all = 0u32..1 << blocks.saturating_sub(1);
        let of = |flip: u32| (0..blocks).map(|block| flip >> block & 1 == 1).collect();
        return all.map(of).collect();
    }
    let mut flips = vec![vec![false; blocks]];
    let mut state = SEED;
    while flips.len() < FLIPS_DRAWN {
        let mut signs = Vec::with_capacity(blocks);
        let mut word = 0;
        for block in 0..blocks {
            if block % 64 == 0 {
                word = split_mix(&mut state);
            }
            signs.push(word >> (block % 64) & 1 == 1);
        }
        flips.push(signs);
    }
    flips
}

/// Steele, Lea and Flood, OOPSLA 2014.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    /// Four blocks have eight flips. By hand: the values 1, 2, 3, -4 sum to 2; of the eight sums 2, 0, -2, -4, -6, -8, -10 and 10 (turning 1, 2, 3, 1+2,
    /// ...) seven are at least 2 without their sign.
    #[test]
    fn one_contrast_is_fishers_test_of_randomisation() {
        let p = sign_flips(&[known(&[1.0, 2.0, 3.0, -4.0])]);
        let mut sums = Vec::new();
        for flip in 0..8 {
            let sign = |block: usize| if flip >> block & 1 == 1 { -1.0 } else { 1.0 };
            sums.push(sign(0) + 2.0 * sign(1) + 3.0 * sign(2) - 4.0);
        }
        let as_large = sums.iter().filter(|sum: &&f64| sum.abs() >= 2.0).count();
        assert_eq!(p, [as_large as f64 / 8.0]);
    }

    #[test]
    fn a_hundred_contrasts_cost_a_clear_one_nothing() {
        let clear = known(&[1.0, 1.01, 0.99, 1.02, 0.98, 1.0]);
        let mut all = vec![clear; 1];
        for shift in 0..99 {
            let value = |block: usize| ((block * 7 + shift * 13) % 11) as f64 - 5.0;
            all.push((0..6).map(|block| Some(value(block))).collect());
        }
        assert_eq!(sign_flips(&all)[0], 1.0 / 32.0);
    }

    #[test]
    fn nothing_known_is_nothing_shown() {
        assert_eq!(sign_flips(&[]), Vec::<f64>::new());
        let p = sign_flips(&[vec![None; 8], known(&[0.0; 8]), vec![Some(3.0)]]);
        assert_eq!(p, [1.0, 1.0, 1.0]);
    }

    #[test]
    fn many_blocks_draw_their_flips_and_the_same_ones_each_time() {
        let values: Vec<f64> = (0..40).map(|block| 1.0 + (block % 5) as f64 / 10.0).collect();
        let p = sign_flips(&[known(&values)]);
        assert_eq!(p, sign_flips(&[known(&values)]));
        assert_eq!(p, [1.0 / FLIPS_DRAWN as f64]);
    }

    proptest! {
        #[test]
        fn adjusting_never_lowers_p(rows in prop::collection::vec(prop::collection::vec(-1.0..1.5_f64, 8), 1..6)) {
            let rows: Vec<Vec<Option<f64>>> = rows.iter().map(|row| known(row)).collect();
            let together = sign_flips(&rows);
            for (row, adjusted) in rows.iter().zip(&together) {
                let alone = sign_flips(std::slice::from_ref(row))[0];
                prop_assert!(alone <= *adjusted && *adjusted <= 1.0);
            }
        }
    }
}
