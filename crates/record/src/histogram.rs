//! HDR histograms of latencies in nanoseconds.

use crate::Summary;
use crate::packed::{
    Bucket, HEADER_BYTES, HIGHEST_LATENCY_NS, Packed, SIGNIFICANT_DIGITS, bucket_of, lowest_of,
};
use crate::quantities::numbers::round_significant;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer as SerdeDeserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{Read, Write};

/// Marks the V2 deflate encoding. The length of what follows comes next.
const DEFLATE_COOKIE: u32 = 0x1c84_9314;
const DEFLATE_HEADER_BYTES: usize = 8;

/// No histogram with these bounds comes near this length uncompressed.
const LONGEST_V2_BYTES: u64 = 1 << 20;

/// Buckets that [`Histogram::coarser`] makes one of. It divides the number of those that have one width, so all 16 have the same.
const COUNTED_AS_ONE: usize = 16;

type Dense = hdrhistogram::Histogram<u64>;

/// A histogram of nanoseconds with 3 significant digits between 1 ns and one hour, as in HdrHistogram.
///
/// All memory is taken when it is made, so recording never allocates. Histograms are merged, percentiles never averaged.
/// Its text form is the V2 deflate encoding of HdrHistogram in base64. One that was read from its text form is kept in a few kB until
/// something is counted in it.
///
/// Of latencies that another program measured often no more is known than a few figures ([`Summary`]). Such a histogram answers what is known and
/// `None` to everything else, and has no buckets. Merged with another it knows of both together what follows, which is no percentile.
/// Its text form is a map in place of a string.
#[derive(Clone)]
pub struct Histogram(Form);

#[derive(Clone)]
enum Form {
    Dense(Dense),
    Packed(Packed),
    /// Not a histogram, but all that is known of one.
    Known(Box<Summary>),
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

fn new_dense() -> Dense {
    Dense::new_with_bounds(1, HIGHEST_LATENCY_NS, SIGNIFICANT_DIGITS)
        .expect("1 ns to one hour with 3 digits are bounds that HdrHistogram takes")
}

impl Histogram {
    /// A histogram that has counted nothing.
    pub fn new() -> Self {
        Self(Form::Dense(new_dense()))
    }

    /// A few figures in place of a histogram.
    pub fn known(summary: Summary) -> Self {
        Self(Form::Known(Box::new(summary)))
    }

    /// The few figures, where they are all that is known.
    pub fn summary(&self) -> Option<&Summary> {
        match &self.0 {
            Form::Known(summary) => Some(summary),
            Form::Dense(_) | Form::Packed(_) => None,
        }
    }

    /// Counts one value in nanoseconds.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        match &mut self.0 {
            Form::Dense(dense) => dense.saturating_record(value_ns),
            Form::Packed(_) | Form::Known(_) => self.record_n(value_ns, 1),
        }
    }

    /// Counts one value `count` times.
    pub fn record_n(&mut self, value_ns: u64, count: u64) {
        if let Form::Known(summary) = &mut self.0 {
            let mut values = Self::new();
            values.record_n(value_ns, count);
            summary.merge(&values.summed_up());
            return;
        }
        self.dense().saturating_record_n(value_ns, count);
    }

    /// Counts `count` values of a bucket: see [`bucket_of`](crate::bucket_of).
    pub fn record_bucket(&mut self, bucket: usize, count: u64) {
        self.record_n(lowest_of(bucket), count);
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        if let Form::Known(summary) = &mut self.0 {
            summary.merge(&other.summed_up());
            return;
        }
        match &other.0 {
            Form::Known(theirs) => {
                if theirs.count > 0 {
                    let mut summary = self.summed_up();
                    summary.merge(theirs);
                    *self = Self::known(summary);
                }
            }
            Form::Dense(other) => {
                self.dense().add(other).expect("all histograms here have the same bounds");
            }
            Form::Packed(other) => add(self.dense(), other),
        }
    }

    /// What is known of it without its buckets and percentiles: count, mean (five digits) and both ends.
    #[must_use]
    pub fn without_buckets(&self) -> Self {
        let mut summary = self.summed_up();
        summary.mean_ns = summary.mean_ns.map(|mean_ns| round_significant(mean_ns, 5));
        Self::known(summary)
    }

    /// With up to 16 neighbouring buckets counted as one at the mean of their values, in a fraction of the bytes: a value moves by at most 1.6 %, or 16 ns. Its ends and the buckets
    /// around these values stay as they are, and so does every percentile that lies there.
    #[must_use]
    pub fn coarser(&self, exact_ns: &[u64]) -> Self {
        if matches!(self.0, Form::Known(_)) {
            return self.clone();
        }
        let group = |value_ns: u64| bucket_of(value_ns) / COUNTED_AS_ONE;
        let ends = [self.min_ns(), self.max_ns()].into_iter().flatten();
        let exact: BTreeSet<usize> = exact_ns.iter().copied().chain(ends).map(group).collect();
        let mut coarser = Self::new();
        // How many values there are in a group, and the sum of their places in it.
        let mut groups: BTreeMap<usize, (u64, u128)> = BTreeMap::new();
        for (value_ns, count) in self.buckets() {
            let (bucket, group) = (bucket_of(value_ns), group(value_ns));
            if exact.contains(&group) {
                coarser.record_bucket(bucket, count);
            } else {
                let (all, places) = groups.entry(group).or_default();
                *all += count;
                *places += (bucket % COUNTED_AS_ONE) as u128 * u128::from(count);
            }
        }
        for (group, (all, places)) in groups {
            let place = (places + u128::from(all / 2)) / u128::from(all);
            coarser.record_bucket(group * COUNTED_AS_ONE + place as usize, all);
        }
        coarser.packed()
    }

    /// Empties the histogram and keeps its memory.
    pub fn clear(&mut self) {
        if matches!(self.0, Form::Known(_)) {
            *self = Self::new();
        }
        // The library's `clear` would keep the smallest and the largest value.
        self.dense().reset();
    }

    /// The same in a few kB, until something is counted in it.
    #[must_use]
    pub fn packed(self) -> Self {
        let packed = match &self.0 {
            Form::Dense(dense) => Packed::from_v2(&v2_of(dense)),
            Form::Packed(_) | Form::Known(_) => None,
        };
        packed.map_or(self, |packed| Self(Form::Packed(packed)))
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        match &self.0 {
            Form::Dense(dense) => dense.len(),
            Form::Packed(packed) => packed.total(),
            Form::Known(summary) => summary.count,
        }
    }

    /// Whether the histogram has counted nothing.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The value in nanoseconds at or below which `percentile` (0 to 100) of all values lie, or `None` when empty or not known.
    pub fn percentile_ns(&self, percentile: f64) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        Some(match &self.0 {
            Form::Dense(dense) => dense.value_at_percentile(percentile),
            Form::Packed(packed) => packed.percentile(percentile),
            Form::Known(summary) => return summary.percentile(percentile),
        })
    }

    /// The mean in nanoseconds, or `None` when empty or not known.
    pub fn mean_ns(&self) -> Option<f64> {
        if self.is_empty() {
            return None;
        }
        let total = self.count() as f64;
        let weighted =
            |sum, bucket: Bucket| sum + bucket.middle() as f64 * bucket.count as f64 / total;
        Some(match &self.0 {
            Form::Dense(dense) => dense.mean(),
            Form::Packed(packed) => packed.buckets().fold(0.0, weighted),
            Form::Known(summary) => return summary.mean_ns,
        })
    }

    /// The smallest value counted, or `None` when empty or not known.
    pub fn min_ns(&self) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        match &self.0 {
            Form::Dense(dense) => Some(dense.min()),
            Form::Packed(packed) => packed.buckets().next().map(|bucket| bucket.lowest),
            Form::Known(summary) => summary.min_ns,
        }
    }

    /// The largest value counted, or `None` when empty or not known.
    pub fn max_ns(&self) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        match &self.0 {
            Form::Dense(dense) => Some(dense.max()),
            Form::Packed(packed) => packed.max(),
            Form::Known(summary) => summary.max_ns,
        }
    }

    /// How many values are above `value_ns`, among those in buckets.
    pub fn count_above(&self, value_ns: u64) -> u64 {
        if value_ns >= HIGHEST_LATENCY_NS {
            return 0;
        }
        let first = value_ns.saturating_add(1);
        match &self.0 {
            Form::Dense(dense) => dense.count_between(first, HIGHEST_LATENCY_NS),
            Form::Packed(packed) => {
                let above = packed.buckets().filter(|bucket| bucket.highest >= first);
                above.map(|bucket| bucket.count).sum()
            }
            Form::Known(_) => 0,
        }
    }

    /// The non-empty buckets as (highest equivalent value in nanoseconds, count), in rising order.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (dense, packed) = match &self.0 {
            Form::Dense(dense) => (Some(dense), None),
            Form::Packed(packed) => (None, Some(packed)),
            Form::Known(_) => (None, None),
        };
        let dense = dense.into_iter().flat_map(|dense| {
            dense.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()))
        });
        let packed = packed
            .into_iter()
            .flat_map(|packed| packed.buckets().map(|bucket| (bucket.highest, bucket.count)));
        dense.chain(packed)
    }

    /// The histogram of the underlying library, for formats that need it. It is empty where only a [`Summary`] is known.
    pub fn inner(&self) -> Cow<'_, hdrhistogram::Histogram<u64>> {
        match &self.0 {
            Form::Dense(dense) => Cow::Borrowed(dense),
            Form::Packed(packed) => Cow::Owned(unpack(packed)),
            Form::Known(_) => Cow::Owned(new_dense()),
        }
    }

    /// The V2 deflate encoding, of an empty histogram where only a [`Summary`] is known.
    pub fn to_bytes(&self) -> Vec<u8> {
        let v2 = match &self.0 {
            Form::Dense(dense) => v2_of(dense),
            Form::Packed(packed) => packed.to_v2(),
            Form::Known(_) => v2_of(&new_dense()),
        };
        let mut bytes = vec![0; DEFLATE_HEADER_BYTES];
        let mut encoder = ZlibEncoder::new(&mut bytes, Compression::default());
        encoder
            .write_all(&v2)
            .and_then(|()| encoder.finish())
            .expect("writing into memory does not fail");
        let length = u32::try_from(bytes.len() - DEFLATE_HEADER_BYTES)
            .expect("the counts of one histogram take less than a megabyte");
        bytes[..4].copy_from_slice(&DEFLATE_COOKIE.to_be_bytes());
        bytes[4..8].copy_from_slice(&length.to_be_bytes());
        bytes
    }

    /// Reads the V2 deflate encoding, or says in words why it cannot.
    ///
    /// # Errors
    /// When the bytes are no histogram or have other bounds or digits than those written here.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let v2 = inflate(bytes);
        if let Some(packed) = v2.as_deref().and_then(Packed::from_v2) {
            return Ok(Self(Form::Packed(packed)));
        }
        // The library reserves as many bytes of counts as the header reports, before it checks that they exist.
        let plain = v2.as_deref().unwrap_or(bytes);
        let stated = plain.get(4..8).and_then(|four| four.try_into().ok());
        let stated = stated.map_or(0, u32::from_be_bytes) as usize;
        if plain.len() < HEADER_BYTES + stated {
            return Err(format!(
                "not a histogram: it ends after {} bytes, before its counts do",
                plain.len()
            ));
        }
        // Written with other bounds, or damaged: the library says which.
        let decoded: Dense = Deserializer::new()
            .deserialize(&mut std::io::Cursor::new(bytes))
            .map_err(|error| format!("not a histogram: {error}"))?;
        let mut own = new_dense();
        own.add(&decoded)
            .map_err(|error| format!("histogram does not fit 1 ns to one hour: {error}"))?;
        Ok(Self(Form::Dense(own)))
    }

    /// Itself for counting in it. Callers have dealt with summaries before.
    #[inline]
    fn dense(&mut self) -> &mut Dense {
        if let Form::Packed(packed) = &self.0 {
            self.0 = Form::Dense(unpack(packed));
        }
        match &mut self.0 {
            Form::Dense(dense) => dense,
            Form::Packed(_) | Form::Known(_) => unreachable!("it was unpacked above"),
        }
    }

    /// The figures that can be added up, and the percentiles of a summary.
    #[cold]
    fn summed_up(&self) -> Summary {
        match &self.0 {
            Form::Known(summary) => Summary::clone(summary),
            Form::Dense(_) | Form::Packed(_) => Summary {
                count: self.count(),
                mean_ns: self.mean_ns(),
                min_ns: self.min_ns(),
                max_ns: self.max_ns(),
                percentiles: Vec::new(),
            },
        }
    }
}

fn v2_of(dense: &Dense) -> Vec<u8> {
    let mut v2 = Vec::new();
    V2Serializer::new()
        .serialize(dense, &mut v2)
        .expect("writing a histogram into memory does not fail");
    v2
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count())
            .field("min_ns", &self.min_ns())
            .field("mean_ns", &self.mean_ns())
            .field("max_ns", &self.max_ns())
            .finish()
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Form::Dense(left), Form::Dense(right)) => left == right,
            (Form::Known(left), Form::Known(right)) => left == right,
            (Form::Known(_), _) | (_, Form::Known(_)) => false,
            _ => self.count() == other.count() && self.buckets().eq(other.buckets()),
        }
    }
}

#[cold]
fn unpack(packed: &Packed) -> Dense {
    let mut dense = new_dense();
    add(&mut dense, packed);
    dense
}

fn add(dense: &mut Dense, packed: &Packed) {
    for bucket in packed.buckets() {
        dense.saturating_record_n(bucket.lowest, bucket.count);
    }
}

/// What the V2 deflate encoding holds, or `None` when it is damaged.
fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    let (header, deflated) = bytes.split_at_checked(DEFLATE_HEADER_BYTES)?;
    if header[..4] != DEFLATE_COOKIE.to_be_bytes() {
        return None;
    }
    let mut v2 = Vec::with_capacity(bytes.len() * 3);
    ZlibDecoder::new(deflated).take(LONGEST_V2_BYTES).read_to_end(&mut v2).ok()?;
    Some(v2)
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Form::Known(summary) => summary.serialize(serializer),
            Form::Dense(_) | Form::Packed(_) => {
                serializer.serialize_str(&STANDARD.encode(self.to_bytes()))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: SerdeDeserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextForm)
    }
}

/// Reads a string with buckets, or a map with figures.
struct TextForm;

impl<'de> Visitor<'de> for TextForm {
    type Value = Histogram;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a histogram as text in base64, or a map of what is known of one")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Histogram, E> {
        let bytes = STANDARD.decode(text).map_err(E::custom)?;
        Histogram::from_bytes(&bytes).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Histogram, A::Error> {
        let summary = Summary::deserialize(MapAccessDeserializer::new(map))?;
        let is_time = |mean_ns: f64| mean_ns.is_finite() && mean_ns >= 0.0;
        if !summary.mean_ns.is_none_or(is_time) {
            return Err(A::Error::custom("the mean of a histogram is no time"));
        }
        Ok(Histogram::known(summary))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_histogram_that_tells_of_more_than_it_holds_is_refused() {
        let mut v2 = v2_of(&new_dense());
        let length = v2.len();
        v2[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
        let error = Histogram::from_bytes(&v2).expect_err("it is not whole");
        assert_eq!(
            error,
            format!("not a histogram: it ends after {length} bytes, before its counts do")
        );
    }

    proptest! {
        #[test]
        fn a_coarser_one_keeps_what_it_should(
            values in prop::collection::vec(1u64..100_000_000, 1..400),
            percentile in 0.0..100.0_f64,
        ) {
            let mut fine = Histogram::new();
            for value in &values { fine.record(*value); }
            let exact = fine.percentile_ns(percentile).expect("it has values");
            let coarser = fine.coarser(&[exact]);
            prop_assert_eq!(coarser.count(), fine.count());
            prop_assert_eq!((coarser.min_ns(), coarser.max_ns()), (fine.min_ns(), fine.max_ns()));
            prop_assert_eq!(coarser.percentile_ns(percentile), Some(exact));
            prop_assert_eq!(coarser.count_above(exact), fine.count_above(exact));
            for other in [1.0, 50.0, 99.0] {
                let [is, was] = [&coarser, &fine].map(|one| one.percentile_ns(other).expect("it has values") as f64);
                prop_assert!((is - was).abs() <= (was * 0.016).max(16.0), "{} {}", is, was);
            }
            prop_assert_eq!(coarser.coarser(&[exact]), coarser.clone());
        }

        #[test]
        fn merging_is_the_same_as_recording_everything(
            left in prop::collection::vec(1u64..10_000_000_000, 0..50),
            right in prop::collection::vec(1u64..10_000_000_000, 0..50),
        ) {
            let (mut a, mut b, mut both) = (Histogram::new(), Histogram::new(), Histogram::new());
            for value in &left { a.record(*value); both.record(*value); }
            for value in &right { b.record(*value); both.record(*value); }
            a.merge(&b);
            prop_assert_eq!(a, both);
        }

        #[test]
        fn counting_by_bucket_is_the_same_as_recording(values in prop::collection::vec(any::<u64>(), 0..50), shift in 0u32..64) {
            let (mut recorded, mut counted) = (Histogram::new(), Histogram::new());
            for value in values.iter().map(|value| (value >> shift).min(HIGHEST_LATENCY_NS)) {
                recorded.record(value);
                prop_assert!(crate::bucket_of(value) < crate::BUCKETS);
                counted.record_bucket(crate::bucket_of(value), 1);
            }
            prop_assert_eq!(counted, recorded);
        }

        #[test]
        fn the_text_form_loses_nothing(values in prop::collection::vec(0u64..u64::MAX, 0..50)) {
            let mut histogram = Histogram::new();
            for value in &values { histogram.record(*value); }
            let text = serde_json::to_string(&histogram).unwrap();
            let again: Histogram = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(again, histogram);
        }
    }

    fn read_back(histogram: &Histogram) -> Histogram {
        let again = Histogram::from_bytes(&histogram.to_bytes()).unwrap();
        assert!(matches!(again.0, Form::Packed(_)));
        let packed = histogram.clone().packed();
        assert!(matches!(packed.0, Form::Packed(_)) && packed == again);
        again
    }

    /// Values as they come, and with all bits tried alike.
    fn value() -> impl Strategy<Value = u64> {
        prop_oneof![
            0..5_000_u64,
            1..10_000_000_000_u64,
            (0..64_u32).prop_map(|bit| 1 << bit),
            Just(HIGHEST_LATENCY_NS)
        ]
    }

    proptest! {
        #[test]
        fn a_histogram_that_was_read_answers_as_the_one_that_was_counted(
            values in prop::collection::vec((value(), 1..1_000_u64), 0..60),
            percentiles in prop::collection::vec(0.0..110.0_f64, 10),
            bounds in prop::collection::vec(value(), 10),
        ) {
            let mut counted = Histogram::new();
            for (value, count) in &values { counted.record_n(*value, *count); }
            let read = read_back(&counted);
            prop_assert_eq!(&read, &counted);
            prop_assert_eq!(read.count(), counted.count());
            prop_assert_eq!(read.mean_ns(), counted.mean_ns());
            prop_assert_eq!(read.min_ns(), counted.min_ns());
            prop_assert_eq!(read.max_ns(), counted.max_ns());
            prop_assert_eq!(read.to_bytes(), counted.to_bytes());
            prop_assert_eq!(read.inner(), counted.inner());
            for percentile in percentiles.into_iter().chain([0.0, 50.0, 99.9, 100.0]) {
                prop_assert_eq!(read.percentile_ns(percentile), counted.percentile_ns(percentile));
            }
            for bound in bounds {
                prop_assert_eq!(read.count_above(bound), counted.count_above(bound), "above {}", bound);
            }
        }

        #[test]
        fn counting_goes_on_in_a_histogram_that_was_read(
            before in prop::collection::vec(value(), 0..20),
            after in prop::collection::vec(value(), 0..20),
        ) {
            let (mut first, mut all) = (Histogram::new(), Histogram::new());
            for value in &before { first.record(*value); all.record(*value); }
            let (mut read, mut merged) = (read_back(&first), Histogram::new());
            merged.merge(&read);
            for value in &after { read.record(*value); merged.record(*value); all.record(*value); }
            prop_assert_eq!(&read, &all);
            prop_assert_eq!(&merged, &all);
            prop_assert_ne!(&read, &{ all.record(7); all });
        }

        #[test]
        fn damaged_bytes_are_refused_or_are_a_histogram(
            values in prop::collection::vec(value(), 0..20),
            place in any::<prop::sample::Index>(),
            bits in 1..=255_u8,
        ) {
            let mut histogram = Histogram::new();
            for value in &values { histogram.record(*value); }
            let mut v2 = Vec::new();
            V2Serializer::new().serialize(&*histogram.inner(), &mut v2).unwrap();
            let place = place.index(v2.len());
            v2[place] ^= bits;
            if let Some(packed) = Packed::from_v2(&v2) {
                let sum: u64 = packed.buckets().map(|bucket| bucket.count).sum();
                prop_assert_eq!(sum, packed.total());
                prop_assert_eq!(packed.percentile(100.0), unpack(&packed).max());
            }
        }
    }

    #[test]
    fn a_cleared_histogram_has_forgotten_everything() {
        let mut histogram = Histogram::new();
        histogram.record(3);
        histogram.record(5_000_000_000);
        histogram.clear();
        assert_eq!(histogram, Histogram::new());
        histogram.record(1_000);
        assert_eq!(histogram.min_ns(), Some(1_000));
        assert_eq!(histogram.max_ns(), Some(1_000));
    }

    #[test]
    fn the_encoding_is_that_of_the_library() {
        let mut histogram = Histogram::new();
        for value in [1, 1_000, 1_000, 5_000_000_000] {
            histogram.record(value);
        }
        let mut by_the_library = Vec::new();
        hdrhistogram::serialization::V2DeflateSerializer::new()
            .serialize(&*histogram.inner(), &mut by_the_library)
            .unwrap();
        assert_eq!(histogram.to_bytes(), by_the_library);
    }

    #[test]
    fn a_histogram_with_other_bounds_is_read_too() {
        let mut narrow = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1_000_000, 3).unwrap();
        narrow.record(1234).unwrap();
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&narrow, &mut bytes).unwrap();
        let read = Histogram::from_bytes(&bytes).unwrap();
        assert_eq!((read.count(), read.min_ns()), (1, Some(1234)));
    }

    #[test]
    fn values_over_an_hour_are_counted_as_an_hour() {
        let mut histogram = Histogram::new();
        histogram.record(u64::MAX);
        assert_eq!(histogram.count(), 1);
        assert!(histogram.max_ns().unwrap() >= HIGHEST_LATENCY_NS);
    }

    fn summary(count: u64, mean_ns: f64, p99_ns: u64) -> Summary {
        Summary {
            count,
            mean_ns: Some(mean_ns),
            min_ns: Some(10),
            max_ns: Some(9_000),
            percentiles: vec![(99.0, p99_ns)],
        }
    }

    #[test]
    fn a_summary_answers_what_it_knows_and_nothing_else() {
        let known = Histogram::known(summary(100, 50.0, 800));
        assert_eq!((known.count(), known.mean_ns()), (100, Some(50.0)));
        assert_eq!(known.percentile_ns(99.0), Some(800));
        assert_eq!(known.percentile_ns(100.0), Some(9_000));
        assert_eq!(known.percentile_ns(50.0), None);
        assert_eq!(known.buckets().count(), 0);
        let text = serde_json::to_string(&known).unwrap();
        assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), known);
        assert_ne!(known, Histogram::new());
    }

    #[test]
    fn summaries_add_up_without_percentiles() {
        let mut both = Histogram::known(summary(100, 50.0, 800));
        both.merge(&Histogram::known(summary(300, 90.0, 700)));
        assert_eq!((both.count(), both.mean_ns()), (400, Some(80.0)));
        assert_eq!(both.min_ns(), Some(10));
        assert_eq!(both.max_ns(), Some(9_000));
        assert_eq!(both.percentile_ns(99.0), None);
    }

    #[test]
    fn a_summary_and_a_histogram_make_a_summary() {
        let mut counted = Histogram::new();
        counted.record_n(20, 100);
        let known = Histogram::known(summary(100, 40.0, 800));
        let (mut left, mut right) = (counted.clone(), known.clone());
        left.merge(&known);
        right.merge(&counted);
        assert_eq!((left.count(), left.mean_ns()), (200, Some(30.0)));
        assert_eq!(left, right);
        right.record(30);
        assert_eq!((right.count(), right.mean_ns()), (201, Some(30.0)));
        right.clear();
        assert_eq!(right, Histogram::new());
        // Nothing added is nothing forgotten.
        let mut same = known.clone();
        same.merge(&Histogram::new());
        assert_eq!(same, known);
        let mut started_empty = Histogram::new();
        started_empty.merge(&known);
        assert_eq!(started_empty, known);
    }

    #[test]
    fn broken_text_is_refused() {
        assert!(serde_json::from_str::<Histogram>("\"AAAA\"").is_err());
        assert!(serde_json::from_str::<Histogram>("\"!\"").is_err());
    }
}
