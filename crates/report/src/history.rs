//! What the terminal and the page show of a history alike.

use crate::select;
use plimsoll_judge::History;
use plimsoll_plan::Metric;
use plimsoll_record::quantities::numbers::{LatencyUnit, PAGE};

/// `throughput of xfs, mix A, 8 threads`.
pub fn subject(history: &History) -> String {
    format!(
        "{} of {}, mix {}, {}",
        history.metric_label, history.arm, history.mix, history.load_label
    )
}

/// What a chart divides values by, and the unit that is left.
pub fn unit(metric: Metric, highest: f64) -> (f64, &'static str) {
    match metric.of_all() {
        Metric::Throughput | Metric::Line => (1.0, "op/s"),
        Metric::Errors => (0.01, "%"),
        Metric::Cost => (1.0, "price"),
        Metric::Size => (f64::from(1 << 20), "MiB"),
        Metric::Written => (1024.0, "KiB"),
        Metric::WriteAmplification => (1.0, "times"),
        _ => {
            let unit = LatencyUnit::of(highest);
            (unit.nanos(), PAGE.unit(unit))
        }
    }
}

/// The highest value, or the highest end of an interval.
pub fn highest(history: &History) -> f64 {
    let values = history.results.iter().map(|result| {
        let upper = result.value.interval.map_or(0.0, |(_, upper)| upper);
        upper.max(select::median(&result.value))
    });
    values.fold(0.0, f64::max)
}
