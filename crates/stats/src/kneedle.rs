//! Kneedle: where a rising curve turns away from its chord.

use crate::error::{StatsError, check_finite};

/// Sensitivity of the detector; 1 is what its authors use when all points are known.
const SENSITIVITY: f64 = 1.0;

/// Index of the knee of a concave curve that rises from left to right, after Satopaa, Albrecht, Irwin and Raghavan (2011).
///
/// Both axes are stretched to 0..1; the knee is the first local maximum of D = y - x from which D falls below its threshold D - S·mean gap of x before the
/// next local maximum, with S = 1. The smoothing spline of the paper is left out: a sweep has too few points for one, and blocks show the noise better.
///
/// `None` where the curve is straight, bends upwards, or has fewer than three points. Coarse by nature: it can only name a point that was measured, and
/// on a linear axis a doubling sweep crowds the low loads together.
///
/// # Errors
/// Loads that do not rise strictly, lists of different lengths, or values that are not finite.
pub fn kneedle(loads: &[f64], values: &[f64]) -> Result<Option<usize>, StatsError> {
    check_finite("load", loads)?;
    check_finite("value", values)?;
    check_rising(loads)?;
    if loads.len() != values.len() {
        return Err(StatsError::LengthsDiffer {
            left_what: "loads",
            left: loads.len(),
            right_what: "values",
            right: values.len(),
        });
    }
    if loads.len() < 3 {
        return Ok(None);
    }
    let x = stretched(loads);
    let y = stretched(values);
    let above_chord: Vec<f64> = x.iter().zip(&y).map(|(x, y)| y - x).collect();
    let mean_gap = 1.0 / (loads.len() - 1) as f64;
    let mut candidate: Option<usize> = None;
    for index in 1..above_chord.len() {
        if let Some(knee) = candidate
            && above_chord[index] < above_chord[knee] - SENSITIVITY * mean_gap
        {
            return Ok(Some(knee));
        }
        let rose = above_chord[index] > above_chord[index - 1];
        let falls_next = above_chord
            .get(index + 1)
            .is_some_and(|next| *next <= above_chord[index]);
        if rose && falls_next {
            candidate = Some(index);
        }
    }
    Ok(None)
}

/// Values stretched to 0..1; all zero where they do not differ.
fn stretched(values: &[f64]) -> Vec<f64> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let span = high - low;
    values
        .iter()
        .map(|value| {
            if span > 0.0 {
                (value - low) / span
            } else {
                0.0
            }
        })
        .collect()
}

/// Refuses loads that do not rise strictly.
pub(crate) fn check_rising(loads: &[f64]) -> Result<(), StatsError> {
    for index in 1..loads.len() {
        if loads[index] <= loads[index - 1] {
            return Err(StatsError::NotRising { index });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_err;
    use proptest::prelude::*;

    #[test]
    fn the_papers_own_curve_has_its_knee_at_0_22() {
        // Figure 2 of the paper: y = -1/(x + 0.1) + 5 at ten places from 0 to 1; its knee is at x = 0.22.
        let x: Vec<f64> = (0..10).map(|i| f64::from(i) / 9.0).collect();
        let y: Vec<f64> = x.iter().map(|x| -1.0 / (x + 0.1) + 5.0).collect();
        assert_eq!(kneedle(&x, &y).unwrap(), Some(2));
    }

    #[test]
    fn a_corner_is_found_where_it_is() {
        let loads: Vec<f64> = (1..=10).map(f64::from).collect();
        let values: Vec<f64> = loads.iter().map(|n| n.min(4.0) * 100.0).collect();
        assert_eq!(kneedle(&loads, &values).unwrap(), Some(3));
    }

    #[test]
    fn straight_level_and_upward_curves_have_none() {
        let loads: Vec<f64> = (1..=8).map(f64::from).collect();
        let upward: Vec<f64> = loads.iter().map(|n| n * n).collect();
        for values in [loads.clone(), vec![5.0; 8], upward] {
            assert_eq!(kneedle(&loads, &values).unwrap(), None);
        }
        assert_eq!(kneedle(&[1.0, 2.0], &[1.0, 1.0]).unwrap(), None);
    }

    #[test]
    fn bad_input_is_refused() {
        let expected = Err(StatsError::NotRising { index: 1 });
        assert_eq!(kneedle(&[1.0, 1.0], &[1.0, 2.0]), expected);
        assert_err!(
            kneedle(&[1.0, 2.0], &[1.0]),
            StatsError::LengthsDiffer { .. }
        );
        assert_err!(kneedle(&[f64::NAN], &[1.0]), StatsError::NotFinite { .. });
    }

    proptest! {
        #[test]
        fn units_of_either_axis_do_not_matter(
            values in prop::collection::vec(1.0..1000.0_f64, 3..12),
            stretch_x in 0..8,
            stretch_y in -8..8,
        ) {
            let loads: Vec<f64> = (1..=values.len()).map(|i| i as f64).collect();
            let wide: Vec<f64> = loads.iter().map(|x| x * 2.0_f64.powi(stretch_x)).collect();
            let tall: Vec<f64> = values.iter().map(|y| y * 2.0_f64.powi(stretch_y)).collect();
            prop_assert_eq!(kneedle(&loads, &values).unwrap(), kneedle(&wide, &tall).unwrap());
        }
    }
}
