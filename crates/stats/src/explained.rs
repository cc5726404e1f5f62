//! What is known to have disturbed one side of a pair more than the other, taken out of their difference.

use crate::comparison::Comparison;
use crate::least_squares::solve;
use crate::summary::{mean, standard_deviation};

/// Degrees of freedom that must be left: with fewer the slopes are not known well enough.
const FEWEST_LEFT: usize = 4;

/// Blocks below which a disturbance is left in: its effect would not be known well enough.
const FEWEST_BLOCKS: usize = 10;
/// Spread of a disturbance from which on it is taken out: below it there is nothing to gain.
const LEAST_SPREAD: f64 = 0.02;
/// Where the sides themselves seem to decide how much they are disturbed, nothing is taken out: below this p, and from this mean on.
const BY_CHANCE: f64 = 0.001;
const LEAST_MEAN: f64 = 0.02;
/// The same for the sides of duets, which other programs can choose between: a choice that is chance costs blocks, and no truth.
const CHOSEN: f64 = 0.1;
/// Duets below which a choice is not distinguished from chance.
const FEW: usize = 20;
/// Share of its processors' time from which on a side counts as undisturbed.
const UNDISTURBED: f64 = 0.97;

/// How much more was left to the other side than to the baseline in each block, as a difference of logarithms, of shares of what there was that were left to each;
/// `None` where it is to be left in: with fewer than ten blocks, where it hardly varies, and where one side had more by 2 % or more and surely not by chance, so that it may be its own doing.
///
/// It is decided by the disturbance alone, never by what was measured, so that the choice favours no result. More than chance is a p below 0.1 %: where it was 5 %, the
/// one experiment in twenty in which chance favours a side was left as it was, and called different.
pub fn disturbance(baseline_left: &[f64], other_left: &[f64]) -> Option<Vec<f64>> {
    let compared = Comparison::paired(baseline_left, other_left).ok()?;
    let differences = any_disturbance(baseline_left, other_left)?;
    let is_one_sided = compared.p_value() < BY_CHANCE && is_uneven(&differences);
    (!is_one_sided).then_some(differences)
}

/// The same where one side may have had more by its own doing.
pub fn any_disturbance(baseline_left: &[f64], other_left: &[f64]) -> Option<Vec<f64>> {
    let differences = more_left(baseline_left, other_left);
    let varies = standard_deviation(&differences).is_some_and(|spread| spread >= LEAST_SPREAD);
    (differences.len() >= FEWEST_BLOCKS && varies).then_some(differences)
}

/// In which duets nothing was taken from either side, in their order, where other programs took more from one side than from the other; `None` where they did not, so that all
/// duets can be judged.
///
/// A program runs where a processor is idle, which is beside the side that waits more. What it does there is no doing of that side, and can be many times what it takes: a
/// server and its client on one processor wait for it at each answer. No slope is known for that, so only undisturbed duets can tell.
///
/// It is decided by what was left alone, as in [`disturbance`]: a mean difference of 2 % or more, and from twenty duets on a p below 10 % among those that were disturbed. Fewer
/// do not tell a choice from chance, and a slope that is wrong passes for a difference.
pub fn undisturbed(baseline_left: &[f64], other_left: &[f64]) -> Option<Vec<bool>> {
    let both = baseline_left.iter().zip(other_left);
    let alone: Vec<bool> =
        both.map(|(baseline, other)| baseline.min(*other) >= UNDISTURBED).collect();
    // Undisturbed duets do not show which side is preferred.
    let disturbed = |left: &[f64]| {
        let each = left.iter().zip(&alone).filter(|(_, alone)| !**alone);
        each.map(|(left, _)| *left).collect::<Vec<f64>>()
    };
    let is_chance = || {
        let compared = Comparison::paired(&disturbed(baseline_left), &disturbed(other_left));
        compared.is_ok_and(|compared| compared.p_value() >= CHOSEN)
    };
    let is_one_sided = is_uneven(&more_left(baseline_left, other_left))
        && (baseline_left.len() < FEW || !is_chance());
    is_one_sided.then_some(alone)
}

/// By how much more was left to the other side, logarithms.
fn more_left(baseline: &[f64], other: &[f64]) -> Vec<f64> {
    let both = baseline.iter().zip(other);
    both.map(|(baseline, other)| (other / baseline).ln()).collect()
}

fn is_uneven(more_left: &[f64]) -> bool {
    mean(more_left).is_none_or(|mean| mean.abs() >= LEAST_MEAN)
}

/// Takes out of differences what disturbances explain; `None` where too few are left for that, a value is not finite, or a disturbance does not vary.
///
/// Each disturbance is a difference as well: by how much more it was there for one side than for the other. It must be nothing that an arm does, so that it is zero
/// on average, as by the order that is drawn for each block; then the mean of what is left is the effect of the arm (regression adjustment, as CUPED: Deng and others,
/// Improving the Sensitivity of Online Controlled Experiments by Utilizing Pre-Experiment Data, WSDM 2013).
///
/// Least squares: d = Δ + Σ β·r + noise. What is left is d - Σ β·r. The slopes come from the same differences, which makes them agree better than they do, those
/// most that were disturbed most; and a disturbance that is not quite zero on average moves the mean by what its slope is off. So what is left of each beside the mean
/// of all is widened by √((n-1)/n / (1-h) · (1 + n·m′S⁻¹m)), with its own leverage h = 1/n + (r-m)′S⁻¹(r-m), the means m of the disturbances and their products S around
/// those: the mean then has the standard error of the regression.
pub fn without_explained<const K: usize>(
    differences: &[f64],
    disturbances: [&[f64]; K],
) -> Option<Vec<f64>> {
    let count = differences.len();
    let all = disturbances.iter().copied().chain([differences]);
    let is_whole = |of: &[f64]| of.len() == count && of.iter().all(|value| value.is_finite());
    if count < K + 1 + FEWEST_LEFT || !all.into_iter().all(is_whole) {
        return None;
    }
    let centre = mean(differences)?;
    let mut means = [0.0; K];
    for (of, disturbance) in means.iter_mut().zip(disturbances) {
        *of = mean(disturbance)?;
    }
    let mut products = [[0.0; K]; K];
    let mut with_differences = [0.0; K];
    for (row, one) in disturbances.iter().enumerate() {
        for (column, other) in disturbances.iter().enumerate() {
            let both = one.iter().zip(*other);
            products[row][column] = both.map(|(a, b)| (a - means[row]) * (b - means[column])).sum();
        }
        let both = one.iter().zip(differences);
        with_differences[row] = both.map(|(r, d)| (r - means[row]) * (d - centre)).sum();
    }
    let slopes = solve(products, with_differences)?;
    let weights = solve(products, means)?;
    let left: Vec<f64> = (0..count)
        .map(|index| {
            let explained: f64 = slopes
                .iter()
                .zip(disturbances)
                .map(|(slope, disturbance)| slope * disturbance[index])
                .sum();
            differences[index] - explained
        })
        .collect();
    let middle = mean(&left)?;
    let leverage: f64 = means.iter().zip(weights).map(|(m, w)| m * w).sum();
    let number = count as f64;
    let of_mean = 1.0 + number * leverage;
    let mut widened = Vec::with_capacity(count);
    for (index, one) in left.into_iter().enumerate() {
        let mut apart = [0.0; K];
        for (of, (disturbance, mean)) in apart.iter_mut().zip(disturbances.iter().zip(means)) {
            *of = disturbance[index] - mean;
        }
        let weights = solve(products, apart)?;
        let pull: f64 = apart.iter().zip(weights).map(|(a, w)| a * w).sum();
        // At least a tenth of itself is left of the most extreme.
        let own = (1.0 - 1.0 / number - pull).max(0.1);
        let wider = ((number - 1.0) / number / own * of_mean).sqrt();
        widened.push(middle + (one - middle) * wider);
    }
    Some(widened)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }

    #[test]
    fn what_a_disturbance_does_is_taken_out_whole() {
        // 0.05 for the arm, and half of what disturbs.
        let disturbance = [0.1, -0.2, 0.3, -0.1, 0.0, -0.1];
        let differences: Vec<f64> = disturbance.iter().map(|r| 0.05 - 0.5 * r).collect();
        let found = without_explained(&differences, [&disturbance]).unwrap();
        found.iter().for_each(|left| close(*left, 0.05));
    }

    #[test]
    fn two_disturbances_are_told_apart() {
        let one = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
        let other = [0.1, 0.3, -0.2, -0.4, 0.5, 0.1, -0.3, -0.1];
        let both = one.iter().zip(&other);
        let differences: Vec<f64> = both.map(|(a, b)| -0.02 + 0.01 * a - b).collect();
        let found = without_explained(&differences, [&one, &other]).unwrap();
        found.iter().for_each(|left| close(*left, -0.02));
    }

    #[test]
    fn the_mean_has_the_standard_error_of_the_regression() {
        // By hand: r̄ = 0.5, S = 1.5, each leverage 1/6 + 0.25/1.5 = 1/3, Σ(r-r̄)(d-d̄) = 1.5, so the slope is 1; what is left is 0, 0, 1, 1, -1, -1 with the squares 4 around 0.
        let disturbance = [0.0, 1.0, 0.0, 1.0, 0.0, 1.0];
        let differences = [0.0, 1.0, 1.0, 2.0, -1.0, 0.0];
        let found = without_explained(&differences, [&disturbance]).unwrap();
        let squares: f64 = found.iter().map(|left| left * left).sum();
        // 5/6 over 1 - 1/3 for the slope, and 1 + 6·0.25/1.5 for the mean of the disturbance.
        close(squares, 4.0 * 5.0 / 4.0 * 2.0);
        close(found.iter().sum(), 0.0);
    }

    #[test]
    fn a_disturbance_is_taken_out_by_what_is_known_of_it_alone() {
        let some = [1.0, 0.5, 1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 0.7, 1.0, 0.8, 1.0];
        let others = [0.9, 1.0, 0.6, 1.0, 0.7, 1.0, 0.8, 1.0, 1.0, 0.5, 1.0, 0.9];
        let found = disturbance(&some, &others).unwrap();
        close(found[1], 2.0_f64.ln());
        assert_eq!(disturbance(&some[3..], &others[3..]), None, "nine blocks");
        assert_eq!(disturbance(&some, &some), None, "nothing varies");
        // Less is left to one side in every block.
        let always = some.map(|left| left / 2.0);
        assert_eq!(disturbance(&some, &always), None);
        assert!(disturbance(&some, &others).is_some());
    }

    #[test]
    fn only_undisturbed_duets_tell_where_others_choose_a_side() {
        let alone = [1.0, 0.98, 1.0, 0.99, 1.0, 0.97, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let visited = [0.3, 0.98, 0.5, 0.99, 0.4, 0.97, 0.6, 1.0, 0.7, 0.96, 0.5, 0.2];
        let expected = visited.map(|left| left >= 0.97).to_vec();
        assert_eq!(undisturbed(&alone, &visited), Some(expected.clone()));
        assert_eq!(undisturbed(&visited, &alone), Some(expected.clone()));
        // With only a few the mean alone decides.
        assert_eq!(undisturbed(&alone[..8], &visited[..8]), Some(expected[..8].to_vec()));
        assert_eq!(undisturbed(&alone[..2], &alone[..2]), None);
        // Now here, now there.
        let some = [1.0, 0.5, 1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 0.7, 1.0, 0.8, 1.0].repeat(2);
        let others = [0.9, 1.0, 0.6, 1.0, 0.7, 1.0, 0.8, 1.0, 1.0, 0.5, 1.0, 0.5].repeat(2);
        let mean = mean(&more_left(&some, &others)).unwrap();
        assert!(mean < -0.02, "{mean}");
        assert_eq!(undisturbed(&some, &others), None);
        // Less than what matters.
        let hardly = alone.map(|left| left * 0.99);
        assert_eq!(undisturbed(&alone, &hardly), None);
    }

    #[test]
    fn what_cannot_be_known_is_left() {
        let differences = [0.1, 0.2, 0.3, 0.1, 0.2, 0.3];
        assert_eq!(without_explained(&differences, [&[1.0; 6]]), None);
        assert_eq!(without_explained(&differences[..5], [&[1.0, 2.0, 1.0, 2.0, 1.0]]), None);
        let unknown = [1.0, f64::NAN, 2.0, 1.0, 2.0, 1.0];
        assert_eq!(without_explained(&differences, [&unknown]), None);
    }
}
