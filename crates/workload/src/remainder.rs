//! Measuring path: no allocation, lock, log or formatting here.
//!
//! Remainders by a number that stays the same.

/// A divisor with its reciprocal, so that a remainder costs two products in place of a division (up to 40 cycles).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    divisor: u64,
    /// floor((2^64 - 1) / divisor)
    reciprocal: u64,
}

impl Divisor {
    pub(crate) fn new(divisor: u64) -> Self {
        Self { divisor, reciprocal: u64::MAX / divisor }
    }

    /// The remainder of `number` divided by the divisor.
    #[inline]
    pub(crate) fn remainder(self, number: u64) -> u64 {
        // The reciprocal is short of 2^64 / divisor by at most 1, so the quotient is short by less than number / 2^64 + 1, that is by at most 1.
        let quotient = ((u128::from(number) * u128::from(self.reciprocal)) >> 64) as u64;
        let remainder = number - quotient * self.divisor;
        if remainder >= self.divisor { remainder - self.divisor } else { remainder }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_are_exact() {
        for divisor in
            [1, 2, 3, 1_001, (1 << 32) - 1, 1 << 62, (1 << 63) - 1, 1 << 63, u64::MAX - 1, u64::MAX]
        {
            let prepared = Divisor::new(divisor);
            for number in [
                0,
                1,
                divisor - 1,
                divisor,
                divisor.wrapping_add(1),
                divisor.wrapping_mul(3),
                u64::MAX - 1,
                u64::MAX,
            ] {
                let found = prepared.remainder(number);
                assert_eq!(found, number % divisor, "{number} % {divisor}");
            }
        }
    }

    proptest! {
        #[test]
        fn is_the_remainder(number: u64, divisor in 1..=u64::MAX, shift in 0..63_u32) {
            let divisor = (divisor >> shift).max(1);
            prop_assert_eq!(Divisor::new(divisor).remainder(number), number % divisor);
        }

        #[test]
        fn is_the_remainder_beside_multiples(factor: u64, divisor in 1..=u64::MAX, shift in 0..63_u32, beside in 0..3_u64) {
            let divisor = (divisor >> shift).max(1);
            let number = (factor % (u64::MAX / divisor).max(1) * divisor).saturating_add(beside).saturating_sub(1);
            prop_assert_eq!(Divisor::new(divisor).remainder(number), number % divisor);
        }
    }
}
