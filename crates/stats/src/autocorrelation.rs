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
        let products: f64 = distances
            .iter()
            .zip(&distances[lag..])
            .map(|(x, y)| x * y)
            .sum();
        time += products / squares;
        if lag as f64 >= WINDOW * time {
            break;
        }
    }
    time.max(INDEPENDENT)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let series: Vec<f64> = (0..2000)
            .map(|i| levels[(i / 20 * 7 + i / 200) % 10])
            .collect();
        let time = autocorrelation_time(&series);
        assert!((5.0..15.0).contains(&time), "{time}");
    }
}
