//! The Universal Scalability Law fitted to throughput against sessions.

use serde::{Deserialize, Serialize};

use crate::error::{StatsError, check_positive};
use crate::scalability_fit::{Problem, ScalabilityPoint};

/// Fewest different numbers of sessions: one more than there are parameters, so that residuals can speak.
pub const FEWEST_SESSION_COUNTS: usize = 4;
/// Predictions are given up to this many times the largest number of sessions measured.
pub const REACH: f64 = 1.5;

/// A measured point beside the fitted curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Residual {
    /// Number of sessions of the point.
    pub sessions: f64,
    /// Operations per second that were measured there.
    pub measured_per_second: f64,
    /// Operations per second of the curve at this number of sessions.
    pub fitted_per_second: f64,
}

/// Where the fitted curve is highest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "peak", rename_all = "kebab-case")]
pub enum Peak {
    /// Within reach of the measurements.
    At {
        /// N* = √((1-σ)/κ), at least 1.
        sessions: f64,
        /// Throughput at the peak, operations per second.
        throughput_per_second: f64,
    },
    /// Further out than 1.5 times the largest number of sessions measured: not to be named.
    BeyondReach,
    /// The curve rises forever (κ = 0).
    Never,
}

/// X(N) = λN / (1 + σ(N-1) + κN(N-1)) (Gunther, 1993; 2007).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scalability {
    /// λ: operations per second of one session.
    pub lambda: f64,
    /// σ ≥ 0: contention, the share of the work that cannot be done side by side.
    pub sigma: f64,
    /// κ ≥ 0: coherency, what each pair of sessions costs.
    pub kappa: f64,
    /// Largest number of sessions measured.
    pub largest_sessions: f64,
    /// Every point beside the curve, in the order given. To be shown with each fit.
    pub residuals: Vec<Residual>,
}

impl Scalability {
    /// Fits the law by weighted least squares on the throughput, with σ, κ ≥ 0.
    ///
    /// With a = 1/λ, b = σ/λ and c = κ/λ, N/X = a + b(N-1) + cN(N-1) is linear: its weighted solution (weights w·X⁴/N², which is what an error in X becomes in N/X)
    /// is the start of Levenberg and Marquardt's iteration on X itself. A parameter that wants to be negative is held at 0; of the four ways to hold b and
    /// c, the best allowed fit is taken. So better than linear scaling shows as σ = κ = 0 with residuals that bend.
    ///
    /// The same number of sessions may occur many times (one point for each block). An empirical law: it describes the curve, it does not say *what* is contended
    /// for, and it fits no plateau with a sharp corner (a device at its limit) well: look at the residuals.
    ///
    /// # Errors
    /// Fewer than 4 different numbers of sessions, sessions below 1, values that are not above zero, or points that no curve fits.
    ///
    /// ```
    /// use plimsoll_stats::{Peak, Scalability, ScalabilityPoint};
    ///
    /// let law = |n: f64| 1000.0 * n / (1.0 + 0.03 * (n - 1.0) + 0.001 * n * (n - 1.0));
    /// let points: Vec<_> = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].map(|n| ScalabilityPoint::new(n, law(n))).into();
    /// let fit = Scalability::fit(&points).unwrap();
    /// assert!((fit.sigma - 0.03).abs() < 1e-6 && (fit.kappa - 0.001).abs() < 1e-6);
    /// assert!(matches!(fit.peak(), Peak::At { sessions, .. } if (sessions - 31.1).abs() < 0.1));
    /// assert!(fit.predict(49.0).is_err()); // beyond 1.5 × 32
    /// ```
    pub fn fit(points: &[ScalabilityPoint]) -> Result<Scalability, StatsError> {
        check_points(points)?;
        let largest_sessions = points.iter().map(|point| point.sessions).fold(1.0, f64::max);
        let problem = Problem { points, largest_sessions };
        let [a, b, c] = problem.best().ok_or(StatsError::NoFit)?;
        let mut fitted = Scalability {
            lambda: 1.0 / a,
            sigma: b / largest_sessions / a,
            kappa: c / (largest_sessions * largest_sessions) / a,
            largest_sessions,
            residuals: Vec::with_capacity(points.len()),
        };
        for point in points {
            fitted.residuals.push(Residual {
                sessions: point.sessions,
                measured_per_second: point.throughput_per_second,
                fitted_per_second: fitted.curve(point.sessions),
            });
        }
        Ok(fitted)
    }

    /// Throughput of the fitted curve at `sessions`.
    ///
    /// # Errors
    /// Fewer than one session, or more than 1.5 times the largest number measured.
    pub fn predict(&self, sessions: f64) -> Result<f64, StatsError> {
        let limit = REACH * self.largest_sessions;
        if sessions > limit {
            return Err(StatsError::BeyondReach { requested: sessions, limit });
        }
        if sessions.is_nan() || sessions < 1.0 {
            let allowed = "at least 1";
            return Err(StatsError::BadSetting {
                what: "the number of sessions",
                value: sessions,
                allowed,
            });
        }
        Ok(self.curve(sessions))
    }

    /// The highest point of the curve, if it lies within reach.
    pub fn peak(&self) -> Peak {
        let sessions = if self.sigma >= 1.0 {
            1.0
        } else if self.kappa > 0.0 {
            ((1.0 - self.sigma) / self.kappa).sqrt().max(1.0)
        } else {
            return Peak::Never;
        };
        match self.predict(sessions) {
            Ok(throughput_per_second) => Peak::At { sessions, throughput_per_second },
            Err(_) => Peak::BeyondReach,
        }
    }

    /// Root of the mean squared relative residual (measured - fitted)/fitted: 0.02 is a typical miss of 2 %.
    pub fn typical_residual(&self) -> f64 {
        let squares: f64 = self
            .residuals
            .iter()
            .map(|r| (r.measured_per_second / r.fitted_per_second - 1.0).powi(2))
            .sum();
        (squares / self.residuals.len() as f64).sqrt()
    }

    fn curve(&self, n: f64) -> f64 {
        self.lambda * n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }
}

fn check_points(points: &[ScalabilityPoint]) -> Result<(), StatsError> {
    let column =
        |pick: fn(&ScalabilityPoint) -> f64| -> Vec<f64> { points.iter().map(pick).collect() };
    let mut sessions = column(|point| point.sessions);
    check_positive("number of sessions", &sessions)?;
    check_positive("throughput", &column(|point| point.throughput_per_second))?;
    check_positive("weight", &column(|point| point.weight))?;
    if let Some(&value) = sessions.iter().find(|&&n| n < 1.0) {
        let allowed = "at least 1";
        return Err(StatsError::BadSetting { what: "the number of sessions", value, allowed });
    }
    sessions.sort_unstable_by(f64::total_cmp);
    sessions.dedup();
    if sessions.len() < FEWEST_SESSION_COUNTS {
        return Err(StatsError::TooFew {
            what: "different numbers of sessions",
            needed: FEWEST_SESSION_COUNTS,
            got: sessions.len(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_err;
    use proptest::prelude::*;

    const SESSIONS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

    fn points(law: impl Fn(f64) -> f64) -> Vec<ScalabilityPoint> {
        SESSIONS.iter().map(|&n| ScalabilityPoint::new(n, law(n))).collect()
    }

    fn law(lambda: f64, sigma: f64, kappa: f64) -> impl Fn(f64) -> f64 {
        move |n| lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
    }

    #[test]
    fn perfect_scaling_has_neither_contention_nor_a_peak() {
        let fit = Scalability::fit(&points(|n| 500.0 * n)).unwrap();
        assert!((fit.lambda - 500.0).abs() < 1e-6);
        assert!(fit.sigma < 1e-9 && fit.kappa < 1e-12);
        assert_eq!(Scalability { kappa: 0.0, ..fit }.peak(), Peak::Never);
    }

    #[test]
    fn better_than_linear_scaling_is_held_at_the_border() {
        let fit = Scalability::fit(&points(|n| 500.0 * n.powf(1.1))).unwrap();
        assert_eq!((fit.sigma, fit.kappa), (0.0, 0.0));
        let relative: Vec<f64> = fit
            .residuals
            .iter()
            .map(|r| r.measured_per_second / r.fitted_per_second - 1.0)
            .collect();
        assert!(relative[0] < 0.0 && relative[6] > 0.0, "the residuals bend: {relative:?}");
        assert!(fit.typical_residual() > 0.05);
    }

    #[test]
    fn a_peak_out_of_reach_is_not_named() {
        let fit = Scalability::fit(&points(law(1000.0, 0.02, 1e-5))).unwrap();
        assert_eq!(fit.peak(), Peak::BeyondReach);
        assert_err!(fit.predict(97.0), StatsError::BeyondReach { limit: 96.0, .. });
        assert!(fit.predict(96.0).is_ok());
        assert!(fit.predict(0.5).is_err());
    }

    #[test]
    fn a_curve_that_only_falls_peaks_at_one_session() {
        let fit = Scalability::fit(&points(law(1000.0, 1.4, 0.01))).unwrap();
        assert!(matches!(fit.peak(), Peak::At { sessions: 1.0, .. }), "{fit:?}");
    }

    #[test]
    fn weights_decide_between_points_that_disagree() {
        let mut disagreeing = points(law(1000.0, 0.05, 0.001));
        disagreeing.push(ScalabilityPoint {
            sessions: 64.0,
            throughput_per_second: 1.0,
            weight: 1e-30,
        });
        let fit = Scalability::fit(&disagreeing).unwrap();
        assert!((fit.sigma - 0.05).abs() < 1e-6);
    }

    #[test]
    fn the_fit_is_the_least_of_its_neighbours() {
        // Measured-looking points; no small move of any parameter may lower the error.
        let measured = [980.0, 1900.0, 3500.0, 5600.0, 7900.0, 8200.0, 6900.0];
        let given: Vec<_> =
            SESSIONS.iter().zip(measured).map(|(&n, x)| ScalabilityPoint::new(n, x)).collect();
        let fit = Scalability::fit(&given).unwrap();
        let error = |candidate: &Scalability| -> f64 {
            given
                .iter()
                .map(|p| p.weight * (p.throughput_per_second - candidate.curve(p.sessions)).powi(2))
                .sum()
        };
        let least = error(&fit);
        for factor in [0.999, 1.001] {
            for moved in [
                Scalability { lambda: fit.lambda * factor, ..fit.clone() },
                Scalability { sigma: fit.sigma * factor, ..fit.clone() },
                Scalability { kappa: fit.kappa * factor, ..fit.clone() },
            ] {
                assert!(error(&moved) >= least);
            }
        }
    }

    #[test]
    fn bad_input_is_refused() {
        let three = &points(law(1.0, 0.0, 0.0))[..3];
        assert_err!(Scalability::fit(three), StatsError::TooFew { needed: 4, got: 3, .. });
        let mut zero = points(law(1.0, 0.0, 0.0));
        zero[2].throughput_per_second = 0.0;
        assert_err!(Scalability::fit(&zero), StatsError::NotPositive { index: 2, .. });
        zero[2] = ScalabilityPoint::new(0.5, 1.0);
        assert_err!(Scalability::fit(&zero), StatsError::BadSetting { .. });
    }

    proptest! {
        #[test]
        fn a_law_is_found_again_in_any_unit(
            lambda in 1.0..1e6_f64,
            sigma in 0.0..0.9_f64,
            kappa in 0.0..0.05_f64,
        ) {
            let fit = Scalability::fit(&points(law(lambda, sigma, kappa))).unwrap();
            prop_assert!((fit.lambda / lambda - 1.0).abs() < 1e-4);
            prop_assert!((fit.sigma - sigma).abs() < 1e-4);
            prop_assert!((fit.kappa - kappa).abs() < 1e-5);
            prop_assert!(fit.typical_residual() < 1e-5);
        }

        #[test]
        fn any_positive_curve_gets_an_allowed_fit(throughput in prop::collection::vec(1.0..1e6_f64, 7)) {
            let given: Vec<_> = SESSIONS.iter().zip(&throughput).map(|(&n, &x)| ScalabilityPoint::new(n, x)).collect();
            let fit = Scalability::fit(&given).unwrap();
            prop_assert!(fit.lambda > 0.0 && fit.sigma >= 0.0 && fit.kappa >= 0.0);
            prop_assert!(fit.lambda.is_finite() && fit.sigma.is_finite() && fit.kappa.is_finite());
        }
    }
}
