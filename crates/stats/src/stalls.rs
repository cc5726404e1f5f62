//! Long stretches in which hardly anything happened.

use std::ops::Range;

/// Shortest stretch that counts as a stall, in seconds.
pub const SHORTEST_STALL_SECONDS: f64 = 10.0;

/// Finds every longest stretch of at least 10 s in which each slice stayed below half of the mean throughput of the whole series.
///
/// `slices` holds throughput and seconds of each slice, in order; the ranges are their indices. The mean includes the stalls themselves. Stalls are reported, not cut
/// out: they are part of how the database behaves. Slices that are not numbers end a stretch.
///
/// ```
/// let mut slices = vec![(1000.0, 1.0); 60];
/// slices[20..32].fill((100.0, 1.0));
/// assert_eq!(plimsoll_stats::stalls(&slices), [20..32]);
/// ```
pub fn stalls(slices: &[(f64, f64)]) -> Vec<Range<usize>> {
    let seconds: f64 = slices.iter().map(|(_, seconds)| seconds).sum();
    let completed: f64 = slices.iter().map(|(rate, seconds)| rate * seconds).sum();
    if seconds.is_nan() || seconds <= 0.0 {
        return Vec::new();
    }
    let limit = completed / seconds / 2.0;
    stretches(slices, SHORTEST_STALL_SECONDS, |rate| rate < limit)
}

/// Maximal runs of slices whose rate satisfies `is_so` and that last for at least `shortest` seconds.
fn stretches(
    slices: &[(f64, f64)],
    shortest: f64,
    is_so: impl Fn(f64) -> bool,
) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for end in 0..=slices.len() {
        if slices.get(end).is_some_and(|(rate, _)| is_so(*rate)) {
            continue;
        }
        let seconds: f64 = slices[start..end].iter().map(|(_, seconds)| seconds).sum();
        // The ends of slices are a little uneven.
        if end > start && seconds >= shortest * 0.99 {
            found.push(start..end);
        }
        start = end + 1;
    }
    found
}

/// Shortest stretch without a single completion that is marked, in seconds.
pub const SHORTEST_SILENCE_SECONDS: f64 = 1.0;
/// Mean rate above which a second without any completion is no chance: at 10 a second, it comes once in 22,000 seconds of independent arrivals.
const HEARD: f64 = 10.0;

/// Finds every longest stretch of at least 1 s in which nothing at all completed, in a series whose mean throughput is above 10 a second.
///
/// `slices` holds throughput and seconds of each slice, in order; the ranges are their indices.
///
/// ```
/// let mut slices = vec![(1000.0, 1.0); 60];
/// slices[20..23].fill((0.0, 1.0));
/// assert_eq!(plimsoll_stats::silences(&slices), [20..23]);
/// ```
pub fn silences(slices: &[(f64, f64)]) -> Vec<Range<usize>> {
    let seconds: f64 = slices.iter().map(|(_, seconds)| seconds).sum();
    let completed: f64 = slices.iter().map(|(rate, seconds)| rate * seconds).sum();
    if seconds.is_nan() || seconds <= 0.0 || completed / seconds <= HEARD {
        return Vec::new();
    }
    stretches(slices, SHORTEST_SILENCE_SECONDS, |rate| rate == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn first_and_end(throughput: &[f64], slice_seconds: f64) -> Vec<(usize, usize)> {
        let slices: Vec<(f64, f64)> =
            throughput.iter().map(|rate| (*rate, slice_seconds)).collect();
        stalls(&slices).into_iter().map(|stall| (stall.start, stall.end)).collect()
    }

    #[test]
    fn a_second_of_silence_is_found_where_there_is_something_to_hear() {
        let series = |rate: f64| {
            let mut slices = vec![(rate, 1.0); 20];
            slices[4].0 = 0.0;
            slices[9..12].fill((0.0, 1.0));
            slices[19] = (0.0, 0.3);
            slices
        };
        assert_eq!(silences(&series(1000.0)), [4..5, 9..12]);
        assert_eq!(silences(&series(12.0)), []);
        assert_eq!(silences(&[]), []);
    }

    #[test]
    fn nine_seconds_are_no_stall_and_ten_are() {
        for (length, expected) in [(9, vec![]), (10, vec![(5, 15)])] {
            let mut throughput = vec![1000.0; 60];
            throughput[5..5 + length].fill(300.0);
            assert_eq!(first_and_end(&throughput, 1.0), expected);
        }
    }

    #[test]
    fn stalls_at_both_ends_are_found() {
        let mut throughput = vec![1000.0; 100];
        throughput[..10].fill(0.0);
        throughput[88..].fill(0.0);
        assert_eq!(first_and_end(&throughput, 1.0), [(0, 10), (88, 100)]);
    }

    #[test]
    fn the_length_counts_in_seconds_not_in_slices() {
        let mut throughput = vec![1000.0; 600];
        throughput[100..198].fill(0.0);
        assert_eq!(first_and_end(&throughput, 0.1), []);
        throughput[198..200].fill(0.0);
        assert_eq!(first_and_end(&throughput, 0.1), [(100, 200)]);
    }

    /// The last line of another program's report is of less than its time.
    #[test]
    fn a_last_slice_that_is_shorter_is_no_stall() {
        let mut slices = vec![(1000.0, 10.0); 30];
        slices.push((300.0, 0.4));
        assert_eq!(stalls(&slices), []);
        slices.push((300.0, 9.6));
        let found = stalls(&slices);
        assert_eq!((found.len(), found[0].clone()), (1, 30..32));
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(stalls(&[]), []);
        assert_eq!(first_and_end(&[0.0; 50], 1.0), []);
        assert_eq!(first_and_end(&[1.0, 0.0], f64::NAN), []);
    }

    proptest! {
        #[test]
        fn every_slice_of_a_stall_is_below_half_and_its_neighbours_are_not(
            throughput in prop::collection::vec(prop_oneof![Just(1.0), Just(10.0)], 1..80),
        ) {
            let limit = throughput.iter().sum::<f64>() / throughput.len() as f64 / 2.0;
            for (start, end) in first_and_end(&throughput, 1.0) {
                prop_assert!(end - start >= 10);
                prop_assert!(throughput[start..end].iter().all(|&x| x < limit));
                prop_assert!(start == 0 || throughput[start - 1] >= limit);
                prop_assert!(end == throughput.len() || throughput[end] >= limit);
            }
        }
    }
}
