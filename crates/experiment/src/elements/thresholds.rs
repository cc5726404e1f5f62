//! `thresholds`: bounds that must hold at the end.

use crate::document::{Checked, Span, Value};
use crate::elements::compare::JudgedReader;
use crate::elements::load::load_at_text;
use crate::keys::file::file;
use crate::keys::metric::metric;
use crate::keys::thresholds::threshold;
use crate::mistake::Mistake;
use crate::table::*;
use plimsoll_plan::{LoadAt, Metric, SettingValue, Threshold};
use plimsoll_record::quantities::units;

impl JudgedReader<'_, '_> {
    /// Reads the bounds that must hold.
    pub(crate) fn thresholds(&mut self, list: &Checked) -> Vec<Threshold> {
        let mut thresholds = Vec::new();
        for (index, item) in list.items().iter().enumerate() {
            let path = format!("{}[{index}]", file::thresholds.name);
            let (text, map) = match &item.value {
                Value::One(SettingValue::Text(text)) => (Some((text.as_str(), item)), None),
                Value::Map(_) => (
                    item.get(threshold::metric).and_then(|metric| Some((metric.text()?, metric))),
                    Some(item),
                ),
                _ => (None, None),
            };
            let get = |key: &Key| map.and_then(|map| map.get(key));
            let arm = get(threshold::arm)
                .and_then(|checked| self.arm(&threshold::arm.under(&path), checked));
            let mix = get(threshold::mix)
                .and_then(|checked| self.mix(&threshold::mix.under(&path), checked));
            let at = get(threshold::at)
                .and_then(|checked| self.at(&threshold::at.under(&path), checked));
            let Some((text, place)) = text.map(|(text, checked)| (text, checked.place)) else {
                continue;
            };
            match bound(text) {
                Ok((metric, at_least, bound)) => {
                    self.check_basis(&path, place, metric, &Vec::from_iter(arm.as_deref()));
                    if metric == Metric::Throughput && at_least {
                        self.check_offered(&path, place, text, bound, at);
                    }
                    self.origins.add_file(
                        &path,
                        scoped(text, arm.as_deref(), mix.as_deref(), at),
                        place,
                    );
                    thresholds.push(Threshold {
                        text: text.to_owned(),
                        metric,
                        at_least,
                        bound,
                        arm,
                        mix,
                        at,
                    });
                }
                Err(mistake) => {
                    let path = if map.is_some() { threshold::metric.under(&path) } else { path };
                    self.problems.add(&path, Some(place), mistake);
                }
            }
        }
        thresholds
    }

    /// Reports a least throughput at a point that offers less.
    fn check_offered(
        &mut self,
        path: &str,
        place: Span,
        text: &str,
        bound: f64,
        at: Option<LoadAt>,
    ) {
        let mut meant = self.names.points.iter().filter(|point| at.is_none() || point.at() == at);
        let Some(point) = meant.find(|point| point.offered().is_some_and(|most| most < bound))
        else {
            return;
        };
        let mistake =
            Mistake::ThresholdBeyondOffered { text: text.to_owned(), point: point.text() };
        self.problems.add(path, Some(place), mistake);
    }
}

/// Reads `throughput >= 10k`: the metric, whether at least, and the bound in the metric's unit.
fn bound(text: &str) -> Result<(Metric, bool, f64), Mistake> {
    let bad = || Mistake::BadThreshold { text: text.to_owned() };
    let signs = [(">=", true), ("<=", false), ("≥", true), ("≤", false)];
    let (sign, at_least) =
        signs.into_iter().find(|(sign, _)| text.contains(sign)).ok_or_else(bad)?;
    let (word, value) = text.split_once(sign).ok_or_else(bad)?;
    let (word, value) = (word.trim(), value.trim());
    if word.is_empty() || value.is_empty() {
        return Err(bad());
    }
    let metric = metric(word)?;
    let bound = match metric {
        Metric::Throughput | Metric::Line => units::parse_rate(value).map_err(Mistake::from)?,
        Metric::Cost => price(value).ok_or_else(bad)?,
        Metric::Errors => units::parse_share(value).map_err(Mistake::from)?,
        Metric::Size | Metric::Written => units::parse_size(value).map_err(Mistake::from)? as f64,
        Metric::WriteAmplification => price(value).ok_or_else(bad)?,
        Metric::ResponseMean
        | Metric::Response { .. }
        | Metric::Service { .. }
        | Metric::CpuPerOperation => units::parse_duration(value).map_err(Mistake::from)? as f64,
    };
    Ok((metric, at_least, bound))
}

/// An amount of money: a number that is not negative, nor endless.
fn price(value: &str) -> Option<f64> {
    let amount: f64 = value.parse().ok()?;
    (amount.is_finite() && amount >= 0.0).then_some(amount)
}

fn scoped(text: &str, arm: Option<&str>, mix: Option<&str>, at: Option<LoadAt>) -> String {
    let mut text = text.to_owned();
    if let Some(arm) = arm {
        text.push_str(&format!(", arm {arm}"));
    }
    if let Some(mix) = mix {
        text.push_str(&format!(", mix {mix}"));
    }
    if let Some(at) = at {
        text.push_str(&format!(", at {}", load_at_text(at)));
    }
    text
}
