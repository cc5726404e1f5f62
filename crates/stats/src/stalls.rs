//! Long stretches in which hardly anything happened.

use std::ops::Range;

/// Shortest stretch that counts as a stall, in seconds.
pub const SHORTEST_STALL_SECONDS: f64 = 10.0;

/// Finds every longest stretch of at least 10 s in which each slice stayed below half of the mean throughput of the whole series.
///
/// `throughput` holds one value per slice, all slices `slice_seconds` long; the ranges are indices of slices, in order. The mean includes the stalls themselves.
/// Stalls are reported, not cut out: they are part of how the database behaves. Slices that are not numbers end a stretch. Without a positive slice length
/// nothing is found.
///
/// ```
/// let mut throughput = vec![1000.0; 60];
/// throughput[20..32].fill(100.0);
/// assert_eq!(plimsoll_stats::stalls(&throughput, 1.0), [20..32]);
/// ```
pub fn stalls(throughput: &[f64], slice_seconds: f64) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if slice_seconds.is_nan() || slice_seconds <= 0.0 || throughput.is_empty() {
        return found;
    }
    let fewest_slices = (SHORTEST_STALL_SECONDS / slice_seconds).ceil() as usize;
    let limit = throughput.iter().sum::<f64>() / throughput.len() as f64 / 2.0;
    let mut start = 0;
    for end in 0..=throughput.len() {
        if end < throughput.len() && throughput[end] < limit {
            continue;
        }
        if end - start >= fewest_slices.max(1) {
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
    let mut found = Vec::new();
    let seconds: f64 = slices.iter().map(|(_, seconds)| seconds).sum();
    let completed: f64 = slices.iter().map(|(rate, seconds)| rate * seconds).sum();
    if seconds.is_nan() || seconds <= 0.0 || completed / seconds <= HEARD {
        return found;
    }
    let mut start = 0;
    for end in 0..=slices.len() {
        if slices.get(end).is_some_and(|(rate, _)| *rate == 0.0) {
            continue;
        }
        let silent: f64 = slices[start..end].iter().map(|(_, seconds)| seconds).sum();
        // The ends of slices are a little uneven.
        if silent >= SHORTEST_SILENCE_SECONDS * 0.99 {
            found.push(start..end);
        }
        start = end + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn first_and_end(throughput: &[f64], slice_seconds: f64) -> Vec<(usize, usize)> {
        stalls(throughput, slice_seconds)
            .into_iter()
            .map(|stall| (stall.start, stall.end))
            .collect()
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
        throughput[100..199].fill(0.0);
        assert_eq!(stalls(&throughput, 0.1), []);
        throughput[199] = 0.0;
        assert_eq!(first_and_end(&throughput, 0.1), [(100, 200)]);
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(stalls(&[], 1.0), []);
        assert_eq!(stalls(&[0.0; 50], 1.0), []);
        assert_eq!(stalls(&[1.0, 0.0], f64::NAN), []);
    }

    proptest! {
        #[test]
        fn every_slice_of_a_stall_is_below_half_and_its_neighbours_are_not(
            throughput in prop::collection::vec(prop_oneof![Just(1.0), Just(10.0)], 1..80),
        ) {
            let limit = throughput.iter().sum::<f64>() / throughput.len() as f64 / 2.0;
            for stall in stalls(&throughput, 1.0) {
                prop_assert!(stall.len() >= 10);
                prop_assert!(throughput[stall.clone()].iter().all(|&x| x < limit));
                prop_assert!(stall.start == 0 || throughput[stall.start - 1] >= limit);
                prop_assert!(stall.end == throughput.len() || throughput[stall.end] >= limit);
            }
        }
    }
}
