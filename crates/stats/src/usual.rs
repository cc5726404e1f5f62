//! Repeated timings of one fixed task: how far from each other is usual, and which are further off.

use crate::summary::median;

/// So many standard deviations are usual.
const USUAL: f64 = 4.0;
/// Standard deviations in a median absolute deviation, for a normal law.
const DEVIATIONS: f64 = 1.4826;

/// Values as shares of their median, and how far from 1 is usual among them.
#[derive(Debug, Clone, PartialEq)]
pub struct Usual {
    /// Each value over the median of all, in their order.
    pub ratios: Vec<f64>,
    /// How far a ratio may be from 1.
    pub allowed: f64,
}

impl Usual {
    /// Whether a ratio is further off than is usual.
    #[must_use]
    pub fn is_off(&self, ratio: f64) -> bool {
        (ratio - 1.0).abs() > self.allowed
    }
}

/// What is usual among these values: four standard deviations, estimated by the median absolute deviation so that a few wild values do not excuse themselves, but
/// at least `least`. `None` without values, or where their median is not above zero.
///
/// ```
/// let usual = plimsoll_stats::usual(&[100.0, 101.0, 99.0, 100.0, 130.0], 0.05).unwrap();
/// assert_eq!(usual.ratios[4], 1.3);
/// assert!(usual.is_off(1.3) && !usual.is_off(1.04));
/// ```
#[must_use]
pub fn usual(values: &[f64], least: f64) -> Option<Usual> {
    let middle = median(values).filter(|middle| *middle > 0.0)?;
    let ratios: Vec<f64> = values.iter().map(|value| value / middle).collect();
    let off: Vec<f64> = ratios.iter().map(|ratio| (ratio - 1.0).abs()).collect();
    let allowed = (USUAL * DEVIATIONS * median(&off).unwrap_or(0.0)).max(least);
    Some(Usual { ratios, allowed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_values_vary_more_is_allowed() {
        // Their median is 100 and their median absolute deviation 10: 4 · 1.4826 · 10 %.
        let found = usual(&[80.0, 90.0, 100.0, 110.0, 130.0], 0.05).unwrap();
        assert!((found.allowed - 0.59304).abs() < 1e-9);
        assert!(!found.is_off(1.59) && found.is_off(1.6) && found.is_off(0.4));
    }

    #[test]
    fn the_least_is_always_allowed() {
        let found = usual(&[7.0; 4], 0.05).unwrap();
        assert_eq!((found.allowed, found.ratios), (0.05, vec![1.0; 4]));
    }

    #[test]
    fn nothing_is_usual_among_nothing() {
        assert_eq!(usual(&[], 0.05), None);
        assert_eq!(usual(&[0.0, 0.0], 0.05), None);
    }
}
