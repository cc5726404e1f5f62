//! Histograms of operations made into histograms of units of work.
//!
//! The loop of a session asks for *units*: a read, an update, a read-modify-write. A read-modify-write is recorded three times, as a whole and as
//! the read and the update that it consists of, so the units of a mix with read-modify-writes are not simply all histograms together. A histogram does not
//! say which of its reads were parts. But a part and a read by itself are the same call on keys from the same law, and how many of the reads
//! were parts is known: as many as there were read-modify-writes. So the histogram of reads is thinned evenly to the share that stands by
//! itself, and likewise that of updates. Counts are then exact, and latencies as good as the assumption that both kinds of read take equally long.

use crate::{Histogram, Operation, Summary};

/// Adds the units of work among `parts` (histograms of one status, one for each operation) to `units`.
pub fn add_units(units: &mut Histogram, parts: &[(Operation, &Histogram)]) {
    let mut wholes = 0_u64;
    for (operation, histogram) in parts {
        if *operation == Operation::ReadModifyWrite {
            wholes = wholes.saturating_add(histogram.count());
        }
    }
    for (operation, histogram) in parts {
        match operation {
            // The verification of a read is no unit: the workload asked for the read.
            Operation::Verify => {}
            Operation::Read | Operation::Update if wholes > 0 => {
                add_share(units, histogram, histogram.count().saturating_sub(wholes));
            }
            _ => units.merge(histogram),
        }
    }
}

/// Adds `keep` of the values of `from`, taken evenly over its whole range.
fn add_share(into: &mut Histogram, from: &Histogram, keep: u64) {
    if keep == 0 {
        return;
    }
    if let Some(known) = from.summary() {
        into.merge(&Histogram::known(share_of(known, keep)));
        return;
    }
    let total = u128::from(from.count());
    let mut seen = 0_u128;
    let mut kept = 0_u64;
    for (value_ns, count) in from.buckets() {
        seen += u128::from(count);
        // Rounding the running sum, not each bucket, keeps the total exact and no bucket off by more than one.
        let due = u64::try_from(seen * u128::from(keep) / total).unwrap_or(u64::MAX);
        if due > kept {
            into.record_n(value_ns, due - kept);
            kept = due;
        }
    }
}

/// `keep` of the values of which only a few figures are known. The mean of an even share is that of all; the ends may not be in it.
fn share_of(known: &Summary, keep: u64) -> Summary {
    if keep >= known.count {
        return known.clone();
    }
    Summary {
        count: keep,
        mean_ns: known.mean_ns,
        ..Summary::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let mut into = Histogram::new();
            add_share(&mut into, &from, keep);
            assert_eq!(into.count(), keep);
        }
    }
}
