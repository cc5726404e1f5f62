//! Prometheus' text form, in its standard OpenMetrics 1.0: what runs right now, and what a whole experiment came to.
//!
//! Every name begins with `plimsoll_` and ends with its unit, which is a base unit: seconds, bytes, operations, shares from 0 to 1. The figures of engine, device,
//! kernel and group have the names that they have in records, so `device.read.bytes` of a second is `plimsoll_device_read_bytes_per_second`.
//!
//! ```
//! use plimsoll_report::export::prometheus::{ExperimentStatus, now};
//! let text = now(&[ExperimentStatus {
//!     experiment: "quickstart", id: "k3f9q", running: true,
//!     runs_finished: 3, runs_planned: 12, time_left_seconds: Some(130.0), latest: Vec::new(),
//! }]);
//! assert!(text.contains("plimsoll_time_left_seconds{experiment=\"quickstart\",id=\"k3f9q\"} 130.0\n"));
//! assert!(text.ends_with("# EOF\n"));
//! ```

mod latest;
mod results;

pub use latest::{ExperimentStatus, LatestSlice, now};
pub(super) use results::write;

use plimsoll_record::figures;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

/// What such text is, for a server that hands it out.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The percentiles that are exported, as quantiles.
const QUANTILES: [(&str, f64); 4] =
    [("0.5", 50.0), ("0.95", 95.0), ("0.99", 99.0), ("0.999", 99.9)];

/// Names and values. The library escapes what would end a value.
type Labels = Vec<(&'static str, String)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Gauge,
    /// What only grows; its name gets `_total`.
    Counter,
}

/// All samples of one name.
#[derive(Debug)]
struct Family {
    name: Cow<'static, str>,
    unit: Option<Unit>,
    help: Cow<'static, str>,
    kind: Kind,
    samples: Vec<(Labels, f64)>,
    /// Labels of the samples so far: the same labels twice would make all of the text worthless.
    seen: BTreeSet<Labels>,
}

impl Family {
    fn new(
        kind: Kind,
        name: impl Into<Cow<'static, str>>,
        unit: &'static str,
        help: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            name: name.into(),
            unit: (!unit.is_empty()).then(|| Unit::Other(unit.into())),
            help: help.into(),
            kind,
            samples: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    fn gauge(
        name: impl Into<Cow<'static, str>>,
        unit: &'static str,
        help: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(Kind::Gauge, name, unit, help)
    }

    /// Adds a sample. What is not known, or is no number, has none.
    fn add(&mut self, labels: &Labels, value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else {
            return;
        };
        if self.seen.insert(labels.clone()) {
            self.samples.push((labels.clone(), value));
        }
    }
}

/// The families that have samples.
#[derive(Debug)]
struct Families(Vec<Family>);

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for family in self.0.iter().filter(|family| !family.samples.is_empty()) {
            let kind = match family.kind {
                Kind::Gauge => ConstGauge::new(0.0).metric_type(),
                Kind::Counter => ConstCounter::new(0.0).metric_type(),
            };
            let mut metric = encoder.encode_descriptor(
                &family.name,
                &family.help,
                family.unit.as_ref(),
                kind,
            )?;
            for (labels, value) in &family.samples {
                let sample = metric.encode_family(labels)?;
                match family.kind {
                    Kind::Gauge => ConstGauge::new(*value).encode(sample)?,
                    Kind::Counter => ConstCounter::new(*value).encode(sample)?,
                }
            }
        }
        Ok(())
    }
}

/// The text of all families.
fn encoded(families: Vec<Family>) -> String {
    let mut registry = Registry::with_prefix("plimsoll");
    registry.register_collector(Box::new(Families(families)));
    let mut out = String::new();
    text::encode(&mut out, &registry).expect("a string takes whatever is written");
    out
}

fn labelled<const N: usize>(labels: [(&'static str, &str); N]) -> Labels {
    labels.map(|(name, text)| (name, text.to_owned())).into()
}

/// The same with one more label.
fn with(labels: &Labels, name: &'static str, text: &str) -> Labels {
    let mut labels = labels.clone();
    labels.push((name, text.to_owned()));
    labels
}

/// How a figure of a slice is exported: name, unit, and by what its value is multiplied. `seconds` is the length of the slice. `None` for a name that
/// no program of ours gives: a record may come from anywhere.
fn describe(figure: &str, seconds: f64) -> Option<(String, &'static str, f64)> {
    const NANOS: f64 = 1e9;
    let plain = |letter: u8| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_' || letter == b'.'
    };
    if !figure.bytes().all(plain) {
        return None;
    }
    if figure == figures::DEVICE_QUEUE {
        // Requests in flight, integrated over time.
        return Some(("device_queue".into(), "requests", 1.0 / NANOS / seconds));
    }
    let (stem, unit) = match figure.rsplit_once('.') {
        Some((stem, "bytes")) => (stem, "bytes"),
        Some((stem, "ns")) => (stem, "seconds"),
        _ => (figure, ""),
    };
    let scale = if unit == "seconds" { 1.0 / NANOS } else { 1.0 };
    let name = stem.replace('.', "_");
    if figures::is_level(figure) {
        return Some((name, unit, scale));
    }
    let unit = match unit {
        "bytes" => "bytes_per_second",
        "seconds" => "seconds_per_second",
        _ => "per_second",
    };
    Some((name, unit, scale / seconds))
}

#[cfg(test)]
mod tests;
