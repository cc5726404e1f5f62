//! The exact values of a chart, for the script that shows them under a cursor: `web/src/charts.ts` reads what is written here.

use super::plot::Plot;
use super::{ArmStyle, Px};
use crate::axis::Scale;
use crate::page::shell;
use maud::Markup;
use plimsoll_record::quantities::numbers::round_significant;
use serde_json::{Value, json};

/// Digits of a value that count; what is shown has no more of them.
const DIGITS: i32 = 4;

/// What stands behind one chart.
pub(crate) struct Values<'a> {
    /// Charts of one group share their cursor.
    pub(crate) group: &'a str,
    pub(crate) plot: Plot,
    pub(crate) scale: Scale,
    /// Unit of `x`, unless there are labels.
    pub(crate) unit: &'static str,
    pub(crate) x: Vec<f64>,
    /// Text in place of `x`.
    pub(crate) labels: Vec<String>,
    /// Seconds that each value is the mean of, where there is more than one.
    pub(crate) stretch: usize,
    pub(crate) series: Vec<ValueSeries>,
}

/// One line of a chart.
pub(crate) struct ValueSeries {
    pub(crate) name: String,
    /// `op/s`, `ns`, `B`, `share`, or a plain number.
    pub(crate) unit: &'static str,
    pub(crate) style: Option<ArmStyle>,
    /// As many as `x`; what is no number is not known.
    pub(crate) values: Vec<f64>,
    /// Ends of the interval or of the spread of each value.
    pub(crate) ends: Option<(Vec<f64>, Vec<f64>)>,
}

impl Values<'_> {
    /// The part of the view box that spans the horizontal axis, and which values it spans.
    pub(super) fn plot(&self) -> String {
        let (from, to) = match self.scale {
            Scale::Linear { from, to } | Scale::Log { from, to } => (from, to),
        };
        let (left, right) = (self.plot.x(0.0), self.plot.x(1.0));
        format!("{} {} {} {}", Px(left), Px(right), short(from), short(to))
    }

    pub(super) fn scale_name(&self) -> Option<&'static str> {
        matches!(self.scale, Scale::Log { .. }).then_some("log")
    }

    pub(super) fn data(&self) -> Markup {
        let series: Vec<Value> = self.series.iter().map(ValueSeries::data).collect();
        let mut data = json!({ "x": numbers(&self.x), "unit": self.unit, "series": series });
        if !self.labels.is_empty() {
            data["labels"] = json!(self.labels);
        }
        if self.stretch > 1 {
            data["stretch"] = json!(self.stretch);
        }
        shell::data("chart-data", &data)
    }
}

impl ValueSeries {
    fn data(&self) -> Value {
        let mut data =
            json!({ "name": self.name, "unit": self.unit, "values": numbers(&self.values) });
        if let Some(style) = self.style {
            data["look"] = json!(style.class());
        }
        if let Some((low, high)) = &self.ends {
            data["low"] = numbers(low);
            data["high"] = numbers(high);
        }
        data
    }
}

/// A number in as few bytes as tell it.
fn short(value: f64) -> Value {
    if !value.is_finite() {
        return Value::Null;
    }
    let rounded = round_significant(value, DIGITS + 2);
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 {
        return json!(rounded as i64);
    }
    json!(rounded)
}

fn numbers(values: &[f64]) -> Value {
    let describe = |value: &f64| {
        if value.is_finite() { short(round_significant(*value, DIGITS)) } else { Value::Null }
    };
    Value::Array(values.iter().map(describe).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_short_and_what_is_none_is_null() {
        let description = numbers(&[0.0, 203_456.7, 0.123_456, f64::NAN, f64::INFINITY, 1e-9]);
        assert_eq!(description.to_string(), "[0,203500,0.1235,null,null,1e-9]");
    }
}
