//! Histograms of operations made into histograms of units of work.
//!
//! The loop of a session asks for *units*: a read, an update, a read-modify-write. A read-modify-write is recorded three times, as a whole and as
//! the read and the update that it consists of, so the units of a mix with read-modify-writes are not simply all histograms together. A histogram does not
//! say which of its reads were parts. But a part and a read by itself are the same call on keys from the same law, and how many of the reads
//! were parts is known: as many as there were read-modify-writes. So the histogram of reads is thinned evenly to the share that stands by
//! itself, and likewise that of updates. Counts are then exact, and latencies as good as the assumption that both kinds of read take equally long.

use crate::packed::values_wanted;
use crate::{Histogram, Operation, Summary};

/// Adds the units of work among `parts` (histograms of one status, one for each operation) to `units`.
pub fn add_units(units: &mut Histogram, parts: &[(Operation, &Histogram)]) {
    for (histogram, keep) in shares(parts) {
        match histogram.summary() {
            _ if keep == histogram.count() => units.merge(histogram),
            Some(known) => units.merge(&Histogram::known(share_of(known, keep))),
            None => each_kept(histogram, keep, |value_ns, count| {
                units.record_n(value_ns, count);
            }),
        }
    }
}

/// Hands over the units of work among `parts` as values and their counts, without making a histogram of them. Of a [`Summary`] no value is known.
pub fn each_unit(parts: &[(Operation, &Histogram)], mut take: impl FnMut(u64, u64)) {
    for (histogram, keep) in shares(parts) {
        if histogram.summary().is_none() {
            each_kept(histogram, keep, &mut take);
        }
    }
}

/// Percentiles (above 0, to 100) of the units of work among `parts`, nanoseconds; `None` where there is none or it is not known.
///
/// They are those of the histogram that [`add_units`] makes, without making it: that takes longer than all the rest where there are thousands of seconds.
pub fn unit_percentiles_ns<const N: usize>(
    parts: &[(Operation, &Histogram)],
    percentiles: [f64; N],
) -> [Option<u64>; N] {
    if parts.iter().any(|(_, part)| part.summary().is_some()) {
        let mut units = Histogram::new();
        add_units(&mut units, parts);
        return percentiles.map(|percentile| units.percentile_ns(percentile));
    }
    let mut buckets: Vec<(u64, u64)> = Vec::new();
    for (histogram, keep) in shares(parts) {
        each_kept(histogram, keep, |value_ns, count| {
            buckets.push((value_ns, count));
        });
    }
    // A sort that makes use of the order in which those of one part are already.
    buckets.sort_by_key(|(value_ns, _)| *value_ns);
    let total = buckets.iter().fold(0_u64, |total, (_, count)| total.saturating_add(*count));
    if total == 0 {
        return [None; N];
    }
    let wanted = percentiles.map(|percentile| values_wanted(total, percentile));
    let mut found = [None; N];
    let mut seen = 0_u64;
    for (value_ns, count) in buckets {
        seen = seen.saturating_add(count);
        for (found, wanted) in found.iter_mut().zip(wanted) {
            if found.is_none() && seen >= wanted {
                *found = Some(value_ns);
            }
        }
        if found.iter().all(Option::is_some) {
            break;
        }
    }
    found
}

/// The histograms of units, and how many values of each are units.
fn shares<'a>(
    parts: &'a [(Operation, &'a Histogram)],
) -> impl Iterator<Item = (&'a Histogram, u64)> {
    let mut wholes = 0_u64;
    for (operation, histogram) in parts {
        if *operation == Operation::ReadModifyWrite {
            wholes = wholes.saturating_add(histogram.count());
        }
    }
    parts.iter().filter_map(move |(operation, histogram)| {
        let keep = match operation {
            // The verification of a read is no unit: the workload requested the read.
            Operation::Verify => 0,
            Operation::Read | Operation::Update => histogram.count().saturating_sub(wholes),
            _ => histogram.count(),
        };
        (keep > 0).then_some((*histogram, keep))
    })
}

/// Hands over `keep` of the values of a histogram with buckets, taken evenly over its whole range, as values in rising order and their counts.
fn each_kept(from: &Histogram, keep: u64, mut take: impl FnMut(u64, u64)) {
    let total = from.count();
    if keep == total {
        from.buckets().for_each(|(value_ns, count)| take(value_ns, count));
        return;
    }
    let mut seen = 0_u128;
    let mut kept = 0_u64;
    for (value_ns, count) in from.buckets() {
        seen += u128::from(count);
        // Rounding the running sum, not each bucket, keeps the total exact and no bucket off by more than one.
        let due = u64::try_from(seen * u128::from(keep) / u128::from(total)).unwrap_or(u64::MAX);
        if due > kept {
            take(value_ns, due - kept);
            kept = due;
        }
    }
}

/// The figures of `keep` of the values, when only a few figures are known. The mean of an even share is that of all; the ends may be outside it.
fn share_of(known: &Summary, keep: u64) -> Summary {
    if keep >= known.count {
        return known.clone();
    }
    Summary { count: keep, mean_ns: known.mean_ns, ..Summary::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram(values: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::new();
        for (value, count) in values {
            histogram.record_n(*value, *count);
        }
        histogram
    }

    #[test]
    fn parts_of_a_read_modify_write_are_not_counted_again() {
        // 100 reads by themselves and 100 read-modify-writes: 200 reads, 100 updates and 100 wholes are recorded.
        let reads = histogram(&[(1_000, 100), (3_000, 100)]);
        let updates = histogram(&[(2_000, 100)]);
        let wholes = histogram(&[(4_000, 100)]);
        let verifications = histogram(&[(50, 200)]);
        let parts = [
            (Operation::Read, &reads),
            (Operation::Update, &updates),
            (Operation::ReadModifyWrite, &wholes),
            (Operation::Verify, &verifications),
        ];
        let mut units = Histogram::new();
        add_units(&mut units, &parts);
        let counts: Vec<u64> = units.buckets().map(|(_, count)| count).collect();
        assert_eq!(
            counts,
            [50, 50, 100],
            "half of the reads at 1 and 3 µs, no update, every whole"
        );
    }

    #[test]
    fn without_read_modify_writes_everything_but_verification_is_a_unit() {
        let parts = [
            (Operation::Read, &histogram(&[(1_000, 3)])),
            (Operation::Update, &histogram(&[(1_000, 2)])),
            (Operation::Verify, &histogram(&[(1_000, 5)])),
        ];
        let mut units = Histogram::new();
        add_units(&mut units, &parts);
        assert_eq!(units.count(), 5);
    }

    #[test]
    fn fewer_parts_than_wholes_leave_none() {
        // At the edge of a second the read of a read-modify-write may lie in the second before.
        let parts = [
            (Operation::Read, &histogram(&[(1_000, 3)])),
            (Operation::ReadModifyWrite, &histogram(&[(1_000, 4)])),
        ];
        let mut units = Histogram::new();
        add_units(&mut units, &parts);
        assert_eq!(units.count(), 4);
    }

    #[test]
    fn a_thinned_histogram_has_exactly_as_many_values_as_asked() {
        let from = histogram(&[(10, 1), (20, 1), (30, 1), (40, 7), (50, 3)]);
        for keep in 1..=13 {
            let mut kept = 0;
            each_kept(&from, keep, |_, count| kept += count);
            assert_eq!(kept, keep);
        }
    }

    fn any_histogram() -> impl Strategy<Value = Histogram> {
        let value = prop_oneof![1..5_000_u64, 1..10_000_000_000_u64];
        let values = prop::collection::vec((value, 1..1_000_u64), 0..30);
        (values, any::<bool>()).prop_map(|(values, is_read_back)| {
            let counted = histogram(&values);
            if is_read_back { Histogram::from_bytes(&counted.to_bytes()).unwrap() } else { counted }
        })
    }

    proptest! {
        #[test]
        fn percentiles_of_units_are_those_of_their_histogram(
            reads in any_histogram(),
            updates in any_histogram(),
            wholes in prop::option::of(any_histogram()),
            verifications in any_histogram(),
            percentile in 0.001..=100.0_f64,
        ) {
            let mut parts = vec![
                (Operation::Read, &reads),
                (Operation::Update, &updates),
                (Operation::Verify, &verifications),
            ];
            parts.extend(wholes.iter().map(|wholes| (Operation::ReadModifyWrite, wholes)));
            let mut units = Histogram::new();
            add_units(&mut units, &parts);
            let requested = [50.0, percentile, 99.0, 100.0];
            prop_assert_eq!(
                unit_percentiles_ns(&parts, requested),
                requested.map(|percentile| units.percentile_ns(percentile))
            );
        }
    }

    #[test]
    fn percentiles_of_units_of_which_few_figures_are_known_are_what_is_known() {
        let known = Histogram::known(Summary {
            count: 100,
            percentiles: vec![(99.0, 800)],
            ..Summary::default()
        });
        let found = unit_percentiles_ns(&[(Operation::Read, &known)], [50.0, 99.0]);
        assert_eq!(found, [None, Some(800)]);
        assert_eq!(unit_percentiles_ns(&[], [50.0, 99.0]), [None, None]);
    }
}
