//! Weighted least squares for the scalability law, with its parameters held at zero where they want to be negative.

use crate::least_squares::solve;
use serde::{Deserialize, Serialize};

/// One measured point of a closed loop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ScalabilityPoint {
    /// Sessions in the closed loop.
    pub sessions: f64,
    /// Operations completed per second at this load.
    pub throughput_per_second: f64,
    /// Weight in the fit, 1/variance of the throughput; only ratios of weights matter.
    pub weight: f64,
}

impl ScalabilityPoint {
    /// A point whose error is taken to be the same *share* of its throughput as that of the others: weight 1/throughput².
    pub fn new(sessions: f64, throughput_per_second: f64) -> ScalabilityPoint {
        let weight = (throughput_per_second * throughput_per_second).recip();
        ScalabilityPoint { sessions, throughput_per_second, weight }
    }
}

/// Steps of the fit; it settles in under ten on any sensible curve.
const MOST_STEPS: usize = 100;

/// The fit in the parameters a, b, c, with the columns of b and c divided by the largest N and its square, so that all three have a like size.
pub(crate) struct Problem<'a> {
    pub(crate) points: &'a [ScalabilityPoint],
    pub(crate) largest_sessions: f64,
}

impl Problem<'_> {
    /// Best allowed a, b, c over the four ways to hold b and c at zero; `None` where not even a alone can be fitted.
    pub(crate) fn best(&self) -> Option<[f64; 3]> {
        let mut best: Option<([f64; 3], f64)> = None;
        // Fewest free parameters first: a fuller model must be strictly better to win.
        for free in [[false, false], [true, false], [false, true], [true, true]] {
            let Some((parameters, error)) = self.descend(free) else {
                continue;
            };
            let allowed = parameters[0] > 0.0 && parameters[1] >= 0.0 && parameters[2] >= 0.0;
            if allowed && best.is_none_or(|(_, least)| error < least) {
                best = Some((parameters, error));
            }
        }
        best.map(|(parameters, _)| parameters)
    }

    /// Columns belonging to a, b, c; those of parameters held at zero are empty.
    fn columns(&self, sessions: f64, free: [bool; 2]) -> [f64; 3] {
        let others = (sessions - 1.0) / self.largest_sessions;
        let pairs = others * sessions / self.largest_sessions;
        [1.0, if free[0] { others } else { 0.0 }, if free[1] { pairs } else { 0.0 }]
    }

    /// Weighted sum of squared residuals; infinite where the curve has a pole or is negative.
    fn error(&self, parameters: &[f64; 3], free: [bool; 2]) -> f64 {
        let mut sum = 0.0;
        for point in self.points {
            let ratio = dot(&self.columns(point.sessions, free), parameters);
            if ratio <= 0.0 {
                return f64::INFINITY;
            }
            let miss = point.throughput_per_second - point.sessions / ratio;
            sum += point.weight * miss * miss;
        }
        sum
    }

    /// Best parameters with the given ones free, and their error; `None` where the iteration cannot start.
    fn descend(&self, free: [bool; 2]) -> Option<([f64; 3], f64)> {
        let mut parameters = self.linear_start(free)?;
        let mut error = self.error(&parameters, free);
        if !error.is_finite() {
            return None;
        }
        let mut damping = 1e-6;
        for _ in 0..MOST_STEPS {
            let step = self.step(&parameters, free, damping)?;
            let next = [parameters[0] + step[0], parameters[1] + step[1], parameters[2] + step[2]];
            let next_error = self.error(&next, free);
            if next_error < error {
                let gain = error - next_error;
                (parameters, error) = (next, next_error);
                damping *= 0.1;
                if gain <= 1e-14 * error {
                    break;
                }
            } else {
                damping *= 10.0;
                if damping > 1e12 {
                    break;
                }
            }
        }
        Some((parameters, error))
    }

    /// Weighted linear fit of N/X.
    fn linear_start(&self, free: [bool; 2]) -> Option<[f64; 3]> {
        let mut normal = Normal::new(free);
        for point in self.points {
            let ratio = point.sessions / point.throughput_per_second;
            let weight = point.weight * (point.throughput_per_second / ratio).powi(2);
            normal.add(&self.columns(point.sessions, free), ratio, weight);
        }
        normal.solve(0.0)
    }

    /// One damped step towards the least error in X: dX/d(a, b, c) = -N/g² times the columns, g the fitted N/X.
    fn step(&self, parameters: &[f64; 3], free: [bool; 2], damping: f64) -> Option<[f64; 3]> {
        let mut normal = Normal::new(free);
        for point in self.points {
            let columns = self.columns(point.sessions, free);
            let ratio = dot(&columns, parameters);
            let slope = -point.sessions / (ratio * ratio);
            let miss = point.throughput_per_second - point.sessions / ratio;
            normal.add(&columns.map(|column| column * slope), miss, point.weight);
        }
        normal.solve(damping)
    }
}

/// Normal equations of a weighted linear problem.
struct Normal {
    matrix: [[f64; 3]; 3],
    right: [f64; 3],
    held: [bool; 3],
}

impl Normal {
    fn new(free: [bool; 2]) -> Normal {
        Normal { matrix: [[0.0; 3]; 3], right: [0.0; 3], held: [false, !free[0], !free[1]] }
    }

    fn add(&mut self, columns: &[f64; 3], target: f64, weight: f64) {
        for row in 0..3 {
            for column in 0..3 {
                self.matrix[row][column] += weight * columns[row] * columns[column];
            }
            self.right[row] += weight * columns[row] * target;
        }
    }

    /// Solution with the diagonal raised by the share `damping`; parameters that are held come out as zero.
    fn solve(mut self, damping: f64) -> Option<[f64; 3]> {
        for index in 0..3 {
            self.matrix[index][index] *= 1.0 + damping;
            if self.held[index] {
                self.matrix[index][index] = 1.0;
            }
        }
        solve(self.matrix, self.right)
    }
}

fn dot(left: &[f64; 3], right: &[f64; 3]) -> f64 {
    left[0] * right[0] + left[1] * right[1] + left[2] * right[2]
}
