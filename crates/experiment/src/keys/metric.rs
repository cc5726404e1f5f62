//! The words of metrics and percentiles, as values and as keys.

use crate::document::{KeyWords, Word, nearest_or_all};
use crate::mistake::Mistake;
use crate::table::*;
use plimsoll_plan::Metric;
use plimsoll_plan::SettingValue;
use plimsoll_plan::percentile;
use plimsoll_plan::table_percentile;

const PERCENTILE_PATTERN: &str = r"^p[0-9]+(\.[0-9]+)?$";

const OF_PATTERN: &str = r"^(throughput|response\.mean|cpu|errors|line|cost|size|written|write-amplification|(response|service)\.p[0-9]+(\.[0-9]+)?)( of [A-Za-z0-9_-]+)?$";

/// The word of a metric, or `response.p99 of by-customer`.
pub(crate) const METRIC: Shape = Shape::Word(&Word {
    expected: "a metric such as throughput",
    summary: "a metric",
    pattern: OF_PATTERN,
    is_quantity: false,
    read: |text| metric(split(text).0).map(|_| SettingValue::Text(text.to_owned())),
});

/// A metric with a bound: `throughput >= 10k`.
pub(crate) const BOUND: Shape = Shape::Word(&Word {
    expected: "a bound such as throughput >= 10k",
    summary: "a metric with a bound",
    pattern: r"^ *(throughput|response\.mean|cpu|errors|line|cost|size|written|write-amplification|(response|service)\.p[0-9]+(\.[0-9]+)?)( of [A-Za-z0-9_-]+)? *(>=|<=|≥|≤).+$",
    is_quantity: false,
    read: |text| Shape::Text { most: 100 }.scalar(text),
});

pub(crate) static METRICS: KeyWords = KeyWords {
    plural: "metrics",
    example: "{throughput: 3%}",
    pattern: OF_PATTERN,
    check: |word| metric(split(word).0).map(|_| ()),
};

pub(crate) static PERCENTILES: KeyWords = KeyWords {
    plural: "percentiles",
    example: "{p99: 10ms}",
    pattern: PERCENTILE_PATTERN,
    check: |word| match percentile(word) {
        Some(_) => Ok(()),
        None => Err(bad_percentile(word)),
    },
};

pub(crate) static TABLE_PERCENTILES: KeyWords = KeyWords {
    plural: "percentiles",
    example: "{p0: 1ms, p50: 3ms, p100: 40ms}",
    pattern: PERCENTILE_PATTERN,
    check: |word| match table_percentile(word) {
        Some(_) => Ok(()),
        None => Err(bad_percentile(word)),
    },
};

/// The words before and after `of`: a metric and, where it is of one alone, an operation.
pub(crate) fn split(text: &str) -> (&str, Option<&str>) {
    match text.split_once(" of ") {
        Some((metric, operation)) => (metric.trim(), Some(operation.trim())),
        None => (text, None),
    }
}

/// The metric of a word.
pub(crate) fn metric(word: &str) -> Result<Metric, Mistake> {
    Metric::parse(word).ok_or_else(|| {
        let words = [
            "throughput",
            "response.mean",
            "response.p50",
            "response.p95",
            "response.p99",
            "response.p99.9",
            "service.p50",
            "service.p95",
            "service.p99",
            "service.p99.9",
            "cpu",
            "errors",
            "line",
            "cost",
            "size",
            "written",
            "write-amplification",
        ];
        Mistake::NotA {
            word: word.to_owned(),
            what: "metric",
            code: "unknown-metric",
            help: nearest_or_all(word, &words.map(str::to_owned), "metrics are"),
        }
    })
}

fn bad_percentile(word: &str) -> Mistake {
    Mistake::NotA {
        word: word.to_owned(),
        what: "percentile",
        code: "bad-percentile",
        help: "write p and a number above 0 and at most 100, such as p50, p99 or p99.9".into(),
    }
}
