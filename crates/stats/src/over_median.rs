//! Repeated timings of one fixed task: which are far off the others.

use crate::summary::median;

/// Each value over the median of all, in their order. `None` without values, or where their median is not above zero.
///
/// How far a ratio may be from 1 is a constant of the caller. It must not follow from the values: what grows with their spread excuses the very noise that it is to find.
///
/// ```
/// let ratios = plimsoll_stats::over_median(&[100.0, 101.0, 99.0, 100.0, 130.0]).unwrap();
/// assert_eq!(ratios[4], 1.3);
/// ```
pub fn over_median(values: &[f64]) -> Option<Vec<f64>> {
    let middle = median(values).filter(|middle| *middle > 0.0)?;
    Some(values.iter().map(|value| value / middle).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_usual_among_nothing() {
        assert_eq!(over_median(&[7.0; 4]), Some(vec![1.0; 4]));
        assert_eq!(over_median(&[]), None);
        assert_eq!(over_median(&[0.0, 0.0]), None);
    }
}
