//! `thresholds`: bounds that must hold at the end.

use crate::document::{Checked, Span, Value};
use crate::elements::compare::JudgedReader;
use crate::elements::load::load_at_text;
use crate::keys::file::file;
use crate::keys::metric::{metric, split};
use crate::keys::thresholds::threshold;
use crate::mistake::Mistake;
use crate::table::*;
use plimsoll_plan::{LoadAt, Metric, SettingValue, Threshold};
use plimsoll_record::Operation;
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
            let operation = get(threshold::operation).and_then(|checked| {
                let name = (checked.text()?, checked.place);
                self.operation(&threshold::operation.under(&path), name, mix.as_deref())
            });
            let Some((text, place)) = text.map(|(text, checked)| (text, checked.place)) else {
                continue;
            };
            match bound(text) {
                Ok((word, metric, at_least, bound)) => {
                    let of_text = map.map_or(path.clone(), |_| threshold::metric.under(&path));
                    if get(threshold::operation).is_some() && split(word).1.is_some() {
                        self.problems.add(&of_text, Some(place), Mistake::TwoOperations);
                        continue;
                    }
                    let metric = match operation {
                        Some(operation) => self.of_operation(&of_text, place, metric, operation),
                        None => self.metric(&of_text, (word, place), mix.as_deref()),
                    };
                    let Some(metric) = metric else { continue };
                    self.check_basis(&path, place, metric, &Vec::from_iter(arm.as_deref()));
                    if metric.of_all() == Metric::Throughput && at_least {
                        let share = self.least_share(metric.operation(), mix.as_deref());
                        self.check_offered((&path, place), text, bound, share, at);
                    }
                    self.origins.add_file(
                        &path,
                        scoped(text, operation, arm.as_deref(), mix.as_deref(), at),
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

    /// Least share of an operation in the mixes that have it and are meant; 1 for all operations together.
    fn least_share(&self, operation: Option<Operation>, mix: Option<&str>) -> f64 {
        let Some(operation) = operation else { return 1.0 };
        let mixes = self.names.mixes.iter();
        let concerned = mixes.filter(|one| mix.is_none_or(|only| only == one.name));
        let shares = concerned.map(|mix| mix.share_of(operation)).filter(|share| *share > 0.0);
        shares.fold(1.0, f64::min)
    }

    /// Reports a least throughput at a point that offers less. `share` of what is offered counts.
    fn check_offered(
        &mut self,
        (path, place): (&str, Span),
        text: &str,
        bound: f64,
        share: f64,
        at: Option<LoadAt>,
    ) {
        let mut meant = self.names.points.iter().filter(|point| at.is_none() || point.at() == at);
        let Some(point) =
            meant.find(|point| point.offered().is_some_and(|most| most * share < bound))
        else {
            return;
        };
        let mistake =
            Mistake::ThresholdBeyondOffered { text: text.to_owned(), point: point.text() };
        self.problems.add(path, Some(place), mistake);
    }
}

/// Reads `throughput >= 10k`: the words before the sign, their metric of all operations, whether at least, and the bound in the metric's unit.
fn bound(text: &str) -> Result<(&str, Metric, bool, f64), Mistake> {
    let bad = || Mistake::BadThreshold { text: text.to_owned() };
    let signs = [(">=", true), ("<=", false), ("≥", true), ("≤", false)];
    let (sign, at_least) =
        signs.into_iter().find(|(sign, _)| text.contains(sign)).ok_or_else(bad)?;
    let (word, value) = text.split_once(sign).ok_or_else(bad)?;
    let (word, value) = (word.trim(), value.trim());
    if word.is_empty() || value.is_empty() {
        return Err(bad());
    }
    let metric = metric(split(word).0)?;
    let bound = match metric {
        Metric::Throughput | Metric::Line => units::parse_rate(value).map_err(Mistake::from)?,
        Metric::Cost => price(value).ok_or_else(bad)?,
        Metric::Errors => units::parse_share(value).map_err(Mistake::from)?,
        Metric::Size | Metric::Written => units::parse_size(value).map_err(Mistake::from)? as f64,
        Metric::WriteAmplification => price(value).ok_or_else(bad)?,
        _ => units::parse_duration(value).map_err(Mistake::from)? as f64,
    };
    Ok((word, metric, at_least, bound))
}

/// An amount of money: a number that is not negative, nor endless.
fn price(value: &str) -> Option<f64> {
    let amount: f64 = value.parse().ok()?;
    (amount.is_finite() && amount >= 0.0).then_some(amount)
}

fn scoped(
    text: &str,
    operation: Option<Operation>,
    arm: Option<&str>,
    mix: Option<&str>,
    at: Option<LoadAt>,
) -> String {
    let mut text = text.to_owned();
    if let Some(operation) = operation {
        text.push_str(&format!(", operation {}", operation.name()));
    }
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
