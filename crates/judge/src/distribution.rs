//! Histograms made into the figures that are requested.

use plimsoll_record::Histogram;

/// A histogram in figures: everything that anything later asks of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Distribution {
    pub(crate) count: u64,
    pub(crate) mean_ns: f64,
    /// Each requested percentile with its latency in nanoseconds.
    percentiles: Vec<(f64, f64)>,
}

impl Distribution {
    /// The figures of a histogram at the percentiles requested, or `None` when it is empty.
    pub(crate) fn of(histogram: &Histogram, requested: &[f64]) -> Option<Self> {
        let mean_ns = histogram.mean_ns()?;
        let mut percentiles = Vec::with_capacity(requested.len());
        for percentile in requested {
            // An imported histogram may have only some percentiles.
            if let Some(value_ns) = histogram.percentile_ns(*percentile) {
                percentiles.push((*percentile, value_ns as f64));
            }
        }
        Some(Self { count: histogram.count(), mean_ns, percentiles })
    }

    /// A percentile that was requested.
    pub(crate) fn percentile(&self, percentile: f64) -> Option<f64> {
        let (_, value) = self.percentiles.iter().find(|(requested, _)| *requested == percentile)?;
        Some(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::new();
        for (value, count) in values {
            histogram.record_n(*value, *count);
        }
        histogram
    }

    #[test]
    fn figures_are_those_that_were_asked_for() {
        let figures =
            Distribution::of(&histogram(&[(100, 99), (1_000, 1)]), &[50.0, 99.0, 100.0]).unwrap();
        assert_eq!(figures.count, 100);
        assert!((figures.mean_ns - 109.0).abs() < 0.6);
        assert_eq!(figures.percentile(99.0), Some(100.0));
        assert_eq!(figures.percentile(100.0), Some(1_000.0));
        assert_eq!(figures.percentile(95.0), None);
        assert_eq!(Distribution::of(&Histogram::new(), &[50.0]), None);
    }
}
