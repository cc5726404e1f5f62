//! Measuring path: no allocation, lock, log or formatting here after a law is made.
//!
//! How numbers and lengths are distributed.

use crate::stream::Stream;
use crate::zipfian::Zipfian;

/// The 99th percentile of the standard normal distribution.
const Z99: f64 = 2.326_347_874_040_841;

#[derive(Clone, Debug)]
pub(crate) enum Law {
    Constant(f64),
    Uniform(f64, f64),
    /// By the exponent: small numbers are the most frequent.
    Zipfian(f64, Zipfian),
    Normal {
        mean: f64,
        deviation: f64,
    },
    /// Mean and deviation of the logarithms.
    LogNormal {
        mean: f64,
        deviation: f64,
    },
    /// Shares from 0 to 1, which rise, with their quantiles; straight lines in between.
    Table(Vec<(f64, f64)>),
}

impl Law {
    /// Whole numbers from `least` to `most`, the small ones most often.
    pub(crate) fn zipfian(least: f64, most: f64) -> Self {
        Self::Zipfian(least, Zipfian::new((most - least) as u64 + 1))
    }

    /// From the median and the 99th percentile, both positive.
    pub(crate) fn lognormal(median: f64, p99: f64) -> Self {
        Self::LogNormal { mean: median.ln(), deviation: (p99 / median).ln() / Z99 }
    }

    #[inline]
    pub(crate) fn draw(&self, stream: &mut Stream) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Uniform(least, most) => least + stream.unit() * (most - least),
            Self::Zipfian(least, zipfian) => least + zipfian.draw(stream) as f64,
            Self::Normal { mean, deviation } => mean + deviation * normal(stream),
            Self::LogNormal { mean, deviation } => (mean + deviation * normal(stream)).exp(),
            Self::Table(points) => {
                let share = stream.unit();
                let above =
                    points.partition_point(|(at, _)| *at <= share).clamp(1, points.len() - 1);
                let ((from, low), (to, high)) = (points[above - 1], points[above]);
                low + (share - from) / (to - from) * (high - low)
            }
        }
    }

    /// A whole number: of an even distribution each one as often, the last one too.
    #[inline]
    pub(crate) fn whole(&self, stream: &mut Stream) -> i64 {
        match self {
            Self::Uniform(least, most) => {
                least.ceil() as i64 + stream.below((most.floor() - least.ceil()) as u64 + 1) as i64
            }
            other => other.draw(stream).round() as i64,
        }
    }

    /// The least value, where there is one.
    pub(crate) fn least(&self) -> f64 {
        match self {
            Self::Constant(least) | Self::Uniform(least, _) | Self::Zipfian(least, _) => *least,
            Self::Normal { .. } => f64::NEG_INFINITY,
            Self::LogNormal { .. } => 0.0,
            Self::Table(points) => points[0].1,
        }
    }
}

/// The method of Box and Muller. It gives two values; the second is not kept, because a stream has no memory.
#[inline]
fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * (1.0 - stream.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * stream.unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::assert_follows;

    /// Draws that lie below a value, as a share, within five standard deviations of a binomial count.
    fn assert_below(law: &Law, value: f64, share: f64) {
        let mut stream = Stream::from_state(11);
        let below = (0..100_000).filter(|_| law.draw(&mut stream) < value).count();
        let bound = 5.0 * (100_000.0 * share * (1.0 - share)).sqrt();
        assert!(
            (below as f64 - 100_000.0 * share).abs() <= bound,
            "{law:?}: {below} below {value}"
        );
    }

    #[test]
    fn laws_have_their_quantiles() {
        assert_below(&Law::Uniform(10.0, 20.0), 12.5, 0.25);
        assert_below(&Law::Normal { mean: 5.0, deviation: 2.0 }, 7.0, 0.841_345);
        let lengths = Law::lognormal(2_700.0, 4_000.0);
        assert_below(&lengths, 2_700.0, 0.5);
        assert_below(&lengths, 4_000.0, 0.99);
        let table = Law::Table(vec![(0.0, 1.0), (0.5, 2.0), (0.9, 5.0), (1.0, 20.0)]);
        assert_below(&table, 2.0, 0.5);
        assert_below(&table, 3.5, 0.7);
        assert_below(&table, 20.1, 1.0);
    }

    /// The categories are those below each edge, and above the last.
    fn assert_between(law: &Law, edges: &[f64], shares: &[f64]) {
        let mut stream = Stream::from_state(5);
        assert_follows(shares, 200_000, || {
            let drawn = law.draw(&mut stream);
            edges.partition_point(|edge| *edge <= drawn)
        });
    }

    #[test]
    fn draws_follow_their_laws() {
        let twentieths: Vec<f64> = (1..20).map(|edge| 10.0 + f64::from(edge) * 0.5).collect();
        assert_between(&Law::Uniform(10.0, 20.0), &twentieths, &[0.05; 20]);
        // Deciles of the standard normal distribution, from a table.
        let (some, more) = ([0.253_347, 0.524_401], [0.841_621, 1.281_552]);
        let mut deciles: Vec<f64> = some.iter().chain(&more).flat_map(|z| [-z, *z]).collect();
        deciles.push(0.0);
        deciles.sort_by(f64::total_cmp);
        let scaled: Vec<f64> = deciles.iter().map(|z| 5.0 + 2.0 * z).collect();
        assert_between(&Law::Normal { mean: 5.0, deviation: 2.0 }, &scaled, &[0.1; 10]);
        // And the last hundredth.
        let mut logs: Vec<f64> = deciles
            .iter()
            .map(|z| 700.0 * 2_000_f64.powf(z / Z99) / 700_f64.powf(z / Z99))
            .collect();
        logs.push(2_000.0);
        let shares = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.09, 0.01];
        assert_between(&Law::lognormal(700.0, 2_000.0), &logs, &shares);
        let table = Law::Table(vec![(0.0, 1.0), (0.5, 2.0), (0.9, 5.0), (0.99, 6.0), (1.0, 20.0)]);
        let edges = [1.25, 1.5, 2.0, 3.5, 5.0, 5.5, 6.0, 13.0];
        let shares = [0.125, 0.125, 0.25, 0.2, 0.2, 0.045, 0.045, 0.005, 0.005];
        assert_between(&table, &edges, &shares);
        // As YCSB draws: the first two ranks have exactly their shares.
        let zeta: f64 = (1..=20).map(|rank| f64::from(rank).powf(-0.99)).sum();
        let (first, second) = (1.0 / zeta, 0.5_f64.powf(0.99) / zeta);
        let shares = [first, second, 1.0 - first - second];
        assert_between(&Law::zipfian(3.0, 22.0), &[3.5, 4.5], &shares);
    }

    #[test]
    fn whole_numbers_are_all_as_frequent() {
        let law = Law::Uniform(1.0, 4.0);
        let mut stream = Stream::from_state(3);
        let mut counts = [0_i32; 5];
        for _ in 0..40_000 {
            counts[law.whole(&mut stream) as usize] += 1;
        }
        // Five standard deviations of 40,000 draws with a probability of a quarter are 433.
        assert!(counts[0] == 0 && counts[1..].iter().all(|count| (count - 10_000).abs() < 433));
    }
}
