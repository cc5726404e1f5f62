//! For tests: whether draws follow a law.

/// Asserts that `draws` draws of categories have the given shares (which sum to 1), by Pearson's chi-square.
///
/// The bound is mean plus six standard deviations of the chi-square law with one degree of freedom less than there are categories; as seeds are
/// fixed, a test either always passes or never.
pub(crate) fn assert_follows(shares: &[f64], draws: u32, mut draw: impl FnMut() -> usize) {
    let mut counts = vec![0_u64; shares.len()];
    for _ in 0..draws {
        counts[draw()] += 1;
    }
    let mut chi_square = 0.0;
    for (share, count) in shares.iter().zip(&counts) {
        let expected = share * f64::from(draws);
        assert!(expected >= 5.0, "a category is too rare to be tested: {shares:?}");
        chi_square += (*count as f64 - expected).powi(2) / expected;
    }
    let freedom = (shares.len() - 1) as f64;
    let bound = freedom + 6.0 * (2.0 * freedom).sqrt();
    assert!(
        chi_square < bound,
        "chi-square {chi_square} with {freedom} degrees of freedom: {counts:?} for {shares:?}"
    );
}
