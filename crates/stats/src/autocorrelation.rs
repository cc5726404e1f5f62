//! For how long a series remembers itself.

use crate::summary::mean;

/// Samples summed over per autocorrelation time: the window closes once it is this many times the estimate (Sokal, 1989).
const WINDOW: f64 = 5.0;

/// Integrated autocorrelation time τ = ½ + Σₖ ρₖ, in samples, with Sokal's automatic window: k runs from 1 to the first value with k ≥ 5τ.
///
/// Independent samples have τ = ½; n samples say as much about the mean as n/(2τ) independent ones. Never below ½, so that a series that swings back after
/// each sample is not taken for more than independent. From a series shorter than about 100τ the estimate is too low.
/// Empty and constant series have ½. Cost: n·5τ.
pub fn autocorrelation_time(series: &[f64]) -> f64 {
    const INDEPENDENT: f64 = 0.5;
    let Some(centre) = mean(series) else {
        return INDEPENDENT;
    };
    let distances: Vec<f64> = series.iter().map(|x| x - centre).collect();
    let squares: f64 = distances.iter().map(|x| x * x).sum();
    if squares <= 0.0 {
        return INDEPENDENT;
    }
    let mut time = INDEPENDENT;
    for lag in 1..series.len() / 2 {
        let products: f64 = distances.iter().zip(&distances[lag..]).map(|(x, y)| x * y).sum();
        time += products / squares;
        if lag as f64 >= WINDOW * time {
            break;
        }
    }
    time.max(INDEPENDENT)
}

/// Lag-one correlation at most, so that the variance of a mean stays finite.
const LONGEST_MEMORY: f64 = 0.98;

/// What samples that follow each other tell of the mean of a series of their length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanOfSeries {
    /// Variance of the mean, in the squared unit of the values.
    pub variance: f64,
    /// As many independent samples would have a mean of that variance.
    pub independent: f64,
    /// Samples of a series, on average.
    pub length: f64,
}

/// Variance of the mean of a series, from several of one kind; each has its own level. `None` without a series of three.
///
/// A short series hides its memory twice: its lag-one correlation is too low, by (1 + 4ρ)/n on average (Kendall 1954), and its level takes away what all of its
/// samples have in common. So the correlation is pooled over all series and corrected, and the memory is taken for one that fades by that factor from sample to
/// sample (AR 1): n samples then have a mean of variance σ²·v, with v = (1 + 2·Σ(1 - k/n)·ρᵏ)/n, and a variance around it of σ²·(1 - v)·n/(n - 1) as it is
/// estimated. Where [`autocorrelation_time`], which sees other kinds of memory, finds more in each series by itself, that counts. Series of up to eight samples
/// cannot be corrected: there the memory may be longer than is found.
pub fn mean_of_series(series: &[Vec<f64>]) -> Option<MeanOfSeries> {
    let (mut count, mut samples) = (0.0, 0.0);
    let (mut squares, mut products, mut by_itself) = (0.0, 0.0, 0.0);
    for one in series.iter().filter(|one| one.len() >= 3) {
        let centre = mean(one)?;
        let length = one.len() as f64;
        let of_one: f64 = one.iter().map(|x| (x - centre).powi(2)).sum();
        let neighbours = one.windows(2);
        products += neighbours.map(|pair| (pair[0] - centre) * (pair[1] - centre)).sum::<f64>();
        by_itself += of_one / (length - 1.0) * 2.0 * autocorrelation_time(one) / length;
        squares += of_one;
        samples += length;
        count += 1.0;
    }
    if count == 0.0 {
        return None;
    }
    let length = samples / count;
    let of_sample = squares / (samples - count);
    let found = if squares > 0.0 { products / squares } else { 0.0 };
    let corrected =
        if length > 8.0 { (found + 1.0 / length) / (1.0 - 4.0 / length) } else { found };
    let kept = corrected.clamp(0.0, LONGEST_MEMORY);
    let mut share = 1.0;
    let mut power = 1.0;
    for lag in 1..length.round() as usize {
        power *= kept;
        share += 2.0 * (1.0 - lag as f64 / length) * power;
    }
    share /= length;
    let remembered = of_sample * (length - 1.0) / length * share / (1.0 - share);
    let variance = remembered.max(by_itself / count);
    // If samples were independent, the variance of the mean would be that of a sample over their number.
    let independent = if variance > 0.0 { (of_sample / variance).min(1.0 / share) } else { length };
    Some(MeanOfSeries { variance, independent, length })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_independent_samples_has_the_variance_of_one_over_their_number() {
        // Two levels of four samples each, ±1 in an order without memory between neighbours on average.
        let series = |level: f64| vec![level + 1.0, level - 1.0, level - 1.0, level + 1.0];
        let found = mean_of_series(&[series(5.0), series(50.0)]).unwrap();
        // s² = 4/3, over four; neighbours: -1 + 1 - 1 = -1 of 4, which is no memory.
        assert!((found.variance - 1.0 / 3.0).abs() < 1e-12, "{found:?}");
        assert_eq!((found.independent, found.length), (4.0, 4.0));
    }

    #[test]
    fn what_lasts_longer_than_a_series_leaves_few_independent_samples() {
        // A ramp of 20: neighbours are nearly alike.
        let ramp: Vec<f64> = (0..20).map(f64::from).collect();
        let found = mean_of_series(&[ramp]).unwrap();
        assert!(found.independent < 2.0, "{found:?}");
        assert_eq!(mean_of_series(&[vec![1.0, 2.0]]), None);
        let still = mean_of_series(&[vec![3.0; 12]]).unwrap();
        assert_eq!((still.variance, still.independent), (0.0, 12.0));
    }

    #[test]
    fn a_series_without_memory_or_without_movement_has_one_half() {
        assert_eq!(autocorrelation_time(&[]), 0.5);
        assert_eq!(autocorrelation_time(&[3.0; 50]), 0.5);
        let swinging: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        assert_eq!(autocorrelation_time(&swinging), 0.5);
    }

    #[test]
    fn long_steps_have_a_long_memory() {
        // Levels held for 20 samples: ρₖ falls from 1 to 0 in a straight line over 20 lags, so τ is close to 10.
        let levels = [3.0, 9.0, 1.0, 4.0, 8.0, 2.0, 7.0, 5.0, 0.0, 6.0];
        let series: Vec<f64> = (0..2000).map(|i| levels[(i / 20 * 7 + i / 200) % 10]).collect();
        let time = autocorrelation_time(&series);
        assert!((5.0..15.0).contains(&time), "{time}");
    }
}
