//! Two arms that run at the same time, each on a half of a machine: whether the halves are alike, and how much of the noise they have in common.

use crate::blocks_needed::FEWEST_BLOCKS;
use crate::explained::{any_disturbance, disturbance, undisturbed, without_explained};
use crate::interval::{Interval, t_two_sided};
use crate::summary::mean;

/// Fewest duets with the arms on each side from which [`halves`] can tell anything.
const FEWEST_ON_EACH_SIDE: usize = 2;
/// Fewest from which the effect of a half can be taken out: from fewer it is not known well enough.
const FEWEST_TO_TAKE_OUT: usize = 3;

/// What one duet measured, as natural logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duet {
    /// Value of the baseline, in the metric's unit.
    pub baseline: f64,
    /// Value of the other arm, in the metric's unit.
    pub other: f64,
    /// Whether the other arm had the second half of the machine.
    pub other_is_second: bool,
}

impl Duet {
    /// By how much the other arm is above the baseline.
    pub fn difference(&self) -> f64 {
        self.other - self.baseline
    }
}

/// What duets tell of the halves of a machine. All values are differences of natural logarithms: 0.01 is about 1 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Halves {
    /// By how much the second half is above the first, whatever runs on it.
    pub second_over_first: f64,
    /// Interval of the effect, as a ratio.
    pub interval: Interval,
    /// Standard deviation of the difference of one duet, when arms and halves are taken out.
    pub spread: f64,
    /// The same of two runs that have nothing in common: of the sum of both variances.
    pub spread_apart: f64,
    /// Correlation of both sides from duet to duet, -1 to 1; 0 where one does not vary.
    pub correlation: f64,
}

/// What the halves of a machine do from duets in which the arms changed sides; `None` with fewer than two on each side, or where a value is not finite.
///
/// Model: side = arm + half + noise, with a half's effect that adds to whatever runs there. Least squares: the effect is half the difference of the mean
/// difference with the other arm on the second half, and that with it on the first. Its interval is that of Student's t with n-2 degrees of freedom for the
/// pooled variance. `confidence` is between 0 and 1. Comparisons need none of this: with as many duets on each side a difference of halves cancels, and
/// otherwise it is noise to them.
pub fn halves(duets: &[Duet], confidence: f64) -> Option<Halves> {
    let groups = [true, false].map(|side| {
        let of_side = duets.iter().filter(move |duet| duet.other_is_second == side);
        of_side.copied().collect::<Vec<Duet>>()
    });
    let fewest = groups.iter().map(Vec::len).min()?;
    let is_finite = |duet: &Duet| duet.baseline.is_finite() && duet.other.is_finite();
    if fewest < FEWEST_ON_EACH_SIDE || !duets.iter().all(is_finite) {
        return None;
    }
    let (mut of_baseline, mut of_other, mut both) = (0.0, 0.0, 0.0);
    let mut differences = [0.0; 2];
    for (group, difference) in groups.iter().zip(&mut differences) {
        let average = |of: fn(&Duet) -> f64| mean(&group.iter().map(of).collect::<Vec<_>>());
        let baseline = average(|duet| duet.baseline)?;
        let other = average(|duet| duet.other)?;
        *difference = other - baseline;
        for duet in group {
            let left = (duet.baseline - baseline, duet.other - other);
            of_baseline += left.0 * left.0;
            of_other += left.1 * left.1;
            both += left.0 * left.1;
        }
    }
    let degrees = duets.len() - 2;
    let freedom = degrees as f64;
    let variance = (of_baseline + of_other - 2.0 * both).max(0.0) / freedom;
    let each: f64 = groups.iter().map(|group| 1.0 / group.len() as f64).sum();
    let second_over_first = (differences[0] - differences[1]) / 2.0;
    let half_width = t_two_sided(confidence, degrees) * (variance * each / 4.0).sqrt();
    let scale = (of_baseline * of_other).sqrt();
    Some(Halves {
        second_over_first,
        interval: Interval {
            lower: second_over_first - half_width,
            upper: second_over_first + half_width,
            confidence,
        },
        spread: variance.sqrt(),
        spread_apart: ((of_baseline + of_other) / freedom).sqrt(),
        correlation: if scale > 0.0 { both / scale } else { 0.0 },
    })
}

/// The differences of duets, other minus baseline, without the effect of the halves, as on halves that are alike, and without that of a disturbance of each duet where one is
/// given (see [`without_explained`]). `None` with fewer than three duets with the arms on each side, or where a value is not finite.
pub fn without_halves(duets: &[Duet], disturbance: Option<&[f64]>) -> Option<Vec<f64>> {
    let on_second = duets.iter().filter(|duet| duet.other_is_second).count();
    if on_second.min(duets.len() - on_second) < FEWEST_TO_TAKE_OUT {
        return None;
    }
    let half = |duet: &Duet| if duet.other_is_second { 1.0 } else { -1.0 };
    let halves: Vec<f64> = duets.iter().map(half).collect();
    let differences: Vec<f64> = duets.iter().map(Duet::difference).collect();
    match disturbance {
        Some(disturbance) => without_explained(&differences, [&halves, disturbance]),
        None => without_explained(&differences, [&halves]),
    }
}

/// The differences of duets as they are judged beside other programs, each as the range in which it lies. Other programs left so much to the baseline and to the other arm, and
/// `kept_busy` says whether they kept the processors of both sides busy all the time.
///
/// Where they preferred a side, that of [`undisturbed`] duets alone, unless they kept both busy: then [`taken_out_or_left_in`]. Otherwise without what a [`disturbance`] explains. In
/// all of them without the effect of the halves, as far as that is known. `None` with fewer than six.
///
/// It is what a calibration can repeat: of a record the same is done metric by metric, where others are taken out of throughput alone.
pub fn duets_beside_others(
    duets: &[Duet],
    [baseline, other]: [&[f64]; 2],
    kept_busy: bool,
) -> Option<Vec<[f64; 2]>> {
    let exactly = |differences: Vec<f64>| differences.into_iter().map(|one| [one; 2]).collect();
    let (judged, disturbance) = match undisturbed(baseline, other) {
        Some(alone) => {
            if kept_busy && let Some(ranges) = taken_out_or_left_in(duets, [baseline, other]) {
                return Some(ranges);
            }
            let each = duets.iter().zip(alone);
            let alone = each.filter_map(|(duet, alone)| alone.then_some(*duet));
            (alone.collect(), None)
        }
        None => (duets.to_vec(), disturbance(baseline, other)),
    };
    if judged.len() < FEWEST_BLOCKS {
        return None;
    }
    let alike = without_halves(&judged, disturbance.as_deref());
    Some(exactly(alike.unwrap_or_else(|| judged.iter().map(Duet::difference).collect())))
}

/// The differences of duets beside programs that kept the processors of both sides busy all the time. An arm that needs less then leaves more to them, so that what was left to
/// each is as much its own doing as theirs. Each difference is the range from what it is without what the others took to what it is with it, on average over all duets: so arms that
/// are equal are called different no more often than without what the others took, and a difference counts only as far as it is there with it and without.
///
/// `None` where what others took cannot be taken out.
pub fn taken_out_or_left_in(
    duets: &[Duet],
    [baseline, other]: [&[f64]; 2],
) -> Option<Vec<[f64; 2]>> {
    let left_in = without_halves(duets, None)?;
    let taken_out = without_halves(duets, Some(&any_disturbance(baseline, other)?))?;
    let apart = mean(&left_in)? - mean(&taken_out)?;
    let ranges = taken_out.into_iter();
    Some(ranges.map(|one| [one + apart.min(0.0), one + apart.max(0.0)]).collect())
}

/// Pearson's correlation of pairs of values; `None` with fewer than three, or where one side does not vary.
pub fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let (ones, others): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (one, other) = (mean(&ones)?, mean(&others)?);
    let (mut of_one, mut of_other, mut both) = (0.0, 0.0, 0.0);
    for (left, right) in pairs {
        of_one += (left - one).powi(2);
        of_other += (right - other).powi(2);
        both += (left - one) * (right - other);
    }
    let scale = (of_one * of_other).sqrt();
    (scale > 0.0).then(|| both / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duet(baseline: f64, other: f64, other_is_second: bool) -> Duet {
        Duet { baseline, other, other_is_second }
    }

    #[test]
    fn halves_are_told_from_arms_and_from_what_is_common() {
        // The other arm is 0.10 above, the second half 0.02; what both have in common is 0, 1, 2, 3.
        let duets: Vec<Duet> = [true, false, false, true]
            .into_iter()
            .enumerate()
            .map(|(number, second)| {
                let common = number as f64;
                let (baseline, other) = if second { (0.0, 0.12) } else { (0.02, 0.10) };
                duet(common + baseline, common + other, second)
            })
            .collect();
        let found = halves(&duets, 0.95).unwrap();
        assert!((found.second_over_first - 0.02).abs() < 1e-12, "{found:?}");
        assert!(found.spread < 1e-6, "{found:?}");
        assert!((found.correlation - 1.0).abs() < 1e-9, "{found:?}");
        // Within the groups: 0 and 3, 1 and 2, so squares are 2·1.5² + 2·0.5² = 5 of each side, over 2 degrees of freedom.
        assert!((found.spread_apart - 5.0_f64.sqrt()).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn noise_that_is_not_shared_is_wider() {
        // Baseline is still, the other arm is 0.01 above or below its mean on either side.
        let duets = [
            duet(0.0, 0.01, true),
            duet(0.0, -0.01, true),
            duet(0.0, 0.01, false),
            duet(0.0, -0.01, false),
        ];
        let found = halves(&duets, 0.95).unwrap();
        // Four squares of 1e-4 over two degrees of freedom.
        assert!((found.spread - 2e-4_f64.sqrt()).abs() < 1e-12);
        assert_eq!((found.spread_apart, found.correlation), (found.spread, 0.0));
        // t of 95 % with two degrees of freedom is 4.303; the error is √(2e-4 · 1 / 4).
        let expected = 4.302_653 * (2e-4_f64 / 4.0).sqrt();
        assert!((found.interval.upper - expected).abs() < 1e-6, "{found:?}");
        assert!((found.interval.lower + expected).abs() < 1e-6);
    }

    #[test]
    fn both_sides_are_needed_twice() {
        let one = duet(0.0, 0.1, true);
        let other = duet(0.0, 0.1, false);
        assert_eq!(halves(&[one, one, one, other], 0.95), None);
        assert!(halves(&[one, one, other, other], 0.95).is_some());
        let broken = duet(f64::NAN, 0.1, false);
        assert_eq!(halves(&[one, one, other, other, broken], 0.95), None);
    }

    #[test]
    fn the_effect_of_halves_is_taken_out() {
        // The other arm is 0.10 above, the second half 0.02, and there is no noise.
        let duets: Vec<Duet> = [true, false, false, true, true, false]
            .into_iter()
            .map(|second| if second { duet(0.0, 0.12, true) } else { duet(0.02, 0.10, false) })
            .collect();
        for difference in without_halves(&duets, None).unwrap() {
            assert!((difference - 0.10).abs() < 1e-12, "{difference}");
        }
        // With too few duets nothing is subtracted.
        assert_eq!(without_halves(&duets[..5], None), None);

        // Without an effect of halves the differences 0.1 ± 0.01 are widened by √(5/6 / (1 - 1/6 - 1/6)), which is √(5/4).
        let noisy: Vec<Duet> =
            [(true, 0.11), (true, 0.09), (true, 0.10), (false, 0.11), (false, 0.09), (false, 0.10)]
                .into_iter()
                .map(|(second, difference)| duet(1.0, 1.0 + difference, second))
                .collect();
        let first = without_halves(&noisy, None).unwrap()[0];
        assert!((first - (0.10 + 0.01 * 1.25_f64.sqrt())).abs() < 1e-12, "{first}");
    }

    #[test]
    fn halves_and_a_disturbance_are_taken_out_together() {
        // The other arm is 0.10 above, the second half 0.02, and each disturbance counts half.
        let disturbance = [0.2, -0.1, 0.3, 0.0, -0.2, -0.2, 0.1, -0.1];
        let sides = [true, false, false, true, true, false, false, true];
        let duets: Vec<Duet> = sides
            .into_iter()
            .zip(disturbance)
            .map(|(second, disturbance)| {
                let half = if second { 0.02 } else { -0.02 };
                duet(3.0, 3.10 + half + disturbance / 2.0, second)
            })
            .collect();
        for difference in without_halves(&duets, Some(&disturbance)).unwrap() {
            assert!((difference - 0.10).abs() < 1e-12, "{difference}");
        }
    }

    #[test]
    fn correlations() {
        let rising = [(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)];
        assert!((correlation(&rising).unwrap() - 1.0).abs() < 1e-12);
        // Means 2 and 2; products 0·(-1) + (-1)·0 + 1·1 = 1, squares 2 and 2.
        let some = [(2.0, 1.0), (1.0, 2.0), (3.0, 3.0)];
        assert!((correlation(&some).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(correlation(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(correlation(&rising[..2]), None);
    }
}
