//! HDR histograms of latencies in nanoseconds.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Deserializer as SerdeDeserializer, Serialize, Serializer, de::Error as _};

/// Latencies above this (one hour) are counted as this.
pub const HIGHEST_LATENCY_NS: u64 = 3_600_000_000_000;

/// A histogram of nanoseconds with 3 significant digits between 1 ns and one hour, as in HdrHistogram.
///
/// All memory is taken when it is made, so recording never allocates. Histograms are merged, percentiles never averaged.
/// Its text form is the V2 deflate encoding of HdrHistogram in base64.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        let inner = hdrhistogram::Histogram::new_with_bounds(1, HIGHEST_LATENCY_NS, 3)
            .expect("1 ns to one hour with 3 digits are bounds that HdrHistogram takes");
        Self(inner)
    }

    /// Counts one value in nanoseconds.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.0.saturating_record(value_ns);
    }

    /// Counts one value `count` times.
    pub fn record_n(&mut self, value_ns: u64, count: u64) {
        self.0.saturating_record_n(value_ns, count);
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.0
            .add(&other.0)
            .expect("all histograms here have the same bounds");
    }

    /// Empties the histogram and keeps its memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// How many values were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value in nanoseconds at or below which `percentile` (0 to 100) of all values lie, or `None` when empty.
    #[must_use]
    pub fn percentile_ns(&self, percentile: f64) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        Some(self.0.value_at_percentile(percentile))
    }

    /// The mean in nanoseconds, or `None` when empty.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        if self.is_empty() {
            return None;
        }
        Some(self.0.mean())
    }

    /// The smallest value counted, or `None` when empty.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        Some(self.0.min())
    }

    /// The largest value counted, or `None` when empty.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        Some(self.0.max())
    }

    /// How many values are above `value_ns`.
    #[must_use]
    pub fn count_above(&self, value_ns: u64) -> u64 {
        if value_ns >= HIGHEST_LATENCY_NS {
            return 0;
        }
        self.0
            .count_between(value_ns.saturating_add(1), HIGHEST_LATENCY_NS)
    }

    /// The non-empty buckets as (highest equivalent value in nanoseconds, count), in rising order.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0
            .iter_recorded()
            .map(|step| (step.value_iterated_to(), step.count_at_value()))
    }

    /// The histogram of the underlying library, for formats that need it.
    #[must_use]
    pub fn inner(&self) -> &hdrhistogram::Histogram<u64> {
        &self.0
    }

    /// The V2 deflate encoding.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.0, &mut bytes)
            .expect("writing a histogram into memory does not fail");
        bytes
    }

    /// Reads the V2 deflate encoding, or says in words why it cannot.
    ///
    /// # Errors
    /// When the bytes are no histogram or have other bounds or digits than those written here.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let decoded: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut std::io::Cursor::new(bytes))
            .map_err(|error| format!("not a histogram: {error}"))?;
        let mut own = Self::new();
        own.0
            .add(&decoded)
            .map_err(|error| format!("histogram does not fit 1 ns to one hour: {error}"))?;
        Ok(own)
    }
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(self.to_bytes()))
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: SerdeDeserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(D::Error::custom)?;
        Self::from_bytes(&bytes).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
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
        fn the_text_form_loses_nothing(values in prop::collection::vec(0u64..u64::MAX, 0..50)) {
            let mut histogram = Histogram::new();
            for value in &values { histogram.record(*value); }
            let text = serde_json::to_string(&histogram).unwrap();
            let again: Histogram = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(again, histogram);
        }
    }

    #[test]
    fn values_over_an_hour_are_counted_as_an_hour() {
        let mut histogram = Histogram::new();
        histogram.record(u64::MAX);
        assert_eq!(histogram.count(), 1);
        assert!(histogram.max_ns().unwrap() >= HIGHEST_LATENCY_NS);
    }

    #[test]
    fn broken_text_is_refused() {
        assert!(serde_json::from_str::<Histogram>("\"AAAA\"").is_err());
        assert!(serde_json::from_str::<Histogram>("\"!\"").is_err());
    }
}
