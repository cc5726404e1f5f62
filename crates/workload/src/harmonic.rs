//! Measuring path: no allocation, lock, log or formatting here.
//!
//! Sums of powers, without adding up a billion terms.

/// Terms up to here are added one by one.
const SUMMED: u64 = 64;

/// Sums of i^-exponent for i from 1 on.
///
/// Beyond 64 terms the Euler-Maclaurin formula gives the rest: integral, half of the end terms, first and third derivative. What it leaves
/// out is below 1e-13 for exponents between -0.1 and 2. YCSB adds the terms up, which takes it a minute for 10^8 and rounds more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Harmonic {
    exponent: f64,
    /// What the closed form lacks of the sum.
    constant: f64,
}

impl Harmonic {
    /// For an exponent other than 1.
    pub(crate) fn new(exponent: f64) -> Self {
        Self { exponent, constant: add_up(SUMMED, exponent) - primitive(SUMMED as f64, exponent) }
    }

    /// The sum of the first `count` terms.
    pub(crate) fn sum(self, count: u64) -> f64 {
        if count > SUMMED {
            self.constant + primitive(count as f64, self.exponent)
        } else {
            add_up(count, self.exponent)
        }
    }
}

fn add_up(count: u64, exponent: f64) -> f64 {
    let mut sum = 0.0;
    for term in 1..=count {
        sum += (term as f64).powf(-exponent);
    }
    sum
}

/// F(x) such that F(n) - F(m) is the sum over m < i <= n.
fn primitive(x: f64, exponent: f64) -> f64 {
    let term = x.powf(-exponent);
    let first = -exponent * term / x;
    let third = first * (exponent + 1.0) * (exponent + 2.0) / (x * x);
    x * term / (1.0 - exponent) + term / 2.0 + first / 12.0 - third / 720.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_adding_up() {
        for exponent in [0.99, -0.01, 0.5, 2.0] {
            let harmonic = Harmonic::new(exponent);
            let mut sum = 0.0;
            for count in 1..=200_000_u64 {
                sum += (count as f64).powf(-exponent);
                if count < 200 || count % 9_973 == 0 {
                    let closed = harmonic.sum(count);
                    assert!(
                        (closed / sum - 1.0).abs() < 1e-12,
                        "{count} {exponent}: {closed} {sum}"
                    );
                }
            }
        }
    }

    #[test]
    fn of_nothing_is_nothing() {
        assert_eq!(Harmonic::new(0.99).sum(0), 0.0);
    }
}
