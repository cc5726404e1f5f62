//! How many samples a percentile needs.

use crate::error::{StatsError, check_confidence};

/// Fewest independent samples for an upper limit of the percentile `share` (0.99 for p99): the smallest n with `share`ⁿ ≤ (1 - `confidence`)/2.
///
/// With fewer, even the largest sample lies below the true percentile more often than the interval may be wrong on that side.
///
/// ```
/// use plimsoll_stats::samples_for_percentile;
/// assert_eq!(samples_for_percentile(0.99, 0.95).unwrap(), 368);
/// assert_eq!(samples_for_percentile(0.999, 0.95).unwrap(), 3_688);
/// assert_eq!(samples_for_percentile(0.9999, 0.95).unwrap(), 36_887);
/// ```
///
/// # Errors
/// A share or a confidence outside (0, 1).
pub fn samples_for_percentile(share: f64, confidence: f64) -> Result<u64, StatsError> {
    check_confidence(confidence)?;
    if !(share > 0.0 && share < 1.0) {
        return Err(StatsError::BadSetting {
            what: "the percentile",
            value: share,
            allowed: "between 0 and 1, such as 0.99 for p99",
        });
    }
    Ok((((1.0 - confidence) / 2.0).ln() / share.ln()).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_outside_of_its_range_is_refused() {
        assert!(samples_for_percentile(99.0, 0.95).is_err());
        assert!(samples_for_percentile(0.0, 0.95).is_err());
    }
}
