//! Stopping by looks: when an experiment that may end early has enough blocks.
//!
//! A user who looks after every block and stops when the arms differ will find a difference sooner or later, whether there is one or not. Two things keep looking
//! harmless: the looks are rare, and they see only how *wide* the interval is, which says nothing about where it lies. As a width can be narrow by chance,
//! two looks in a row must find it narrow enough.

/// Numbers of blocks after which the program looks, in rising order: the first, then each about 1.4 times (√2) the one before, and at last `most`, after which the
/// experiment ends in any case.
///
/// ```
/// assert_eq!(plimsoll_stats::looks(6, 40), [6, 8, 11, 16, 23, 33, 40]);
/// ```
///
/// A `first` of 0 is taken as 1; one that is not below `most` leaves `most` alone.
pub fn looks(first: u32, most: u32) -> Vec<u32> {
    let mut looks = Vec::new();
    let mut look = first.max(1);
    while look < most {
        looks.push(look);
        let next = (f64::from(look) * std::f64::consts::SQRT_2).round() as u32;
        look = next.max(look.saturating_add(1));
    }
    looks.push(most);
    looks
}

/// Whether an experiment may end after the last of these looks: the half-width was at most `enough` at it and at the one before.
///
/// `half_widths` are those of the interval at every look so far, in their order and in the unit of `enough`; `None` where there was no interval yet. Of several
/// comparisons, the widest against its own limit counts. Half-widths that are not numbers are not narrow.
pub fn is_enough(half_widths: &[Option<f64>], enough: f64) -> bool {
    let is_narrow = |half_width: &Option<f64>| half_width.is_some_and(|width| width <= enough);
    match half_widths {
        [.., before, last] => is_narrow(before) && is_narrow(last),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn looks_are_spaced_by_about_the_root_of_two() {
        assert_eq!(looks(6, 16), [6, 8, 11, 16]);
        assert_eq!(looks(6, 12), [6, 8, 11, 12]);
        assert_eq!(looks(8, 8), [8]);
        assert_eq!(looks(9, 8), [8]);
        assert_eq!(looks(0, 4), [1, 2, 3, 4]);
        assert_eq!(looks(0, 0), [0]);
    }

    #[test]
    fn two_narrow_looks_in_a_row_are_enough() {
        assert!(!is_enough(&[], 0.03));
        assert!(!is_enough(&[Some(0.01)], 0.03));
        assert!(!is_enough(&[None, Some(0.01)], 0.03));
        assert!(!is_enough(&[Some(0.01), Some(0.031)], 0.03));
        assert!(!is_enough(&[Some(0.01), Some(0.02), Some(0.04), Some(0.02)], 0.03));
        assert!(is_enough(&[None, Some(0.05), Some(0.03), Some(0.02)], 0.03));
        assert!(!is_enough(&[Some(f64::NAN), Some(0.02)], 0.03));
        assert!(!is_enough(&[Some(0.02), Some(0.02)], f64::NAN));
    }

    proptest! {
        #[test]
        fn looks_rise_and_end_with_the_most(first in 0_u32..100, most in 0_u32..2000) {
            let looks = looks(first, most);
            prop_assert_eq!(looks.last(), Some(&most));
            prop_assert!(looks.windows(2).all(|pair| pair[0] < pair[1]));
            // Few: each is at least a third more than the one before, but for the first few and the last.
            prop_assert!(looks.len() <= 26, "{}", looks.len());
            for pair in looks.windows(2).filter(|pair| pair[0] >= 6 && pair[1] < most) {
                let ratio = f64::from(pair[1]) / f64::from(pair[0]);
                prop_assert!((1.33..1.5).contains(&ratio), "{pair:?}");
            }
        }
    }
}
