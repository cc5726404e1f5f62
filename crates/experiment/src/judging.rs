//! Makes what is judged from what was read: objective, comparison and thresholds.

use crate::format::{OBJECTIVE, THRESHOLD};
use crate::load::{LoadPoint, load_at_text};
use crate::mistake::Mistake;
use crate::problems::Collector;
use crate::reader::{Checked, Value, join};
use crate::settle::Origins;
use crate::source::Place;
use plimsoll_plan::percentile;
use plimsoll_plan::{
    Arm, Compare, LoadAt, Metric, Objective, Search, SettingValue, Source, Threshold,
};
use plimsoll_quantities::units;
use std::collections::BTreeMap;

/// Names that the judged parts of a file can refer to. Where a list is empty, nothing is known, and every name passes.
pub(crate) struct Names<'n> {
    pub arms: &'n [String],
    pub mixes: &'n [String],
    pub points: &'n [LoadPoint],
}

/// What the judged parts of a file can rest on.
pub(crate) struct Grounds<'g> {
    /// Whether the line is searched; `None` where that was not understood.
    pub has_line: Option<bool>,
    /// Whether there is no load but only the search.
    pub is_line_alone: bool,
    /// The arms that were understood, with their prices.
    pub arms: &'g [Arm],
}

/// Reads what is judged and gathers problems.
pub(crate) struct Judging<'j, 's> {
    pub names: Names<'j>,
    pub grounds: Grounds<'j>,
    pub origins: &'j mut Origins<'s>,
    pub problems: &'j mut Collector<'s>,
}

impl Judging<'_, '_> {
    pub(crate) fn objective(&mut self, map: &Checked, search: Option<Search>) -> Option<Objective> {
        if let Value::Map(fields) = &map.value
            && fields.is_empty()
        {
            self.problems
                .add("objective", Some(map.place), Mistake::EmptyObjective);
            return None;
        }
        let mut response = Vec::new();
        for field in map.get("response").map_or(&[][..], Checked::fields) {
            let (Some(percentile), Some(nanos)) = (percentile(&field.key), field.checked.whole())
            else {
                continue;
            };
            self.origins.add_file(
                &join("objective.response", &field.key),
                units::duration(nanos),
                field.checked.place,
            );
            response.push((percentile, nanos));
        }
        response.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut share =
            |name: &str| match self
                .origins
                .settle("objective", &OBJECTIVE, Some(map), name)
            {
                Some(SettingValue::Number(share)) => Some(share),
                _ => None,
            };
        Some(Objective {
            response,
            errors: share("errors")?,
            achieved: share("achieved")?,
            search,
        })
    }

    pub(crate) fn compare(&mut self, map: Option<&Checked>) -> Compare {
        let get = |key: &str| map.and_then(|map| map.get(key));
        let mut baseline = self.names.arms.first().cloned().unwrap_or_default();
        match get("baseline") {
            Some(checked) => {
                if let Some(name) = self.arm("compare.baseline", checked) {
                    self.origins
                        .add_file("compare.baseline", name.clone(), checked.place);
                    baseline = name;
                }
            }
            None if get("pairs").is_none() => {
                self.origins
                    .add("compare.baseline", baseline.clone(), Source::Default);
            }
            None => {}
        }
        let pairs = get("pairs").map_or_else(Vec::new, |list| self.pairs(list));
        if let Some((first, _)) = pairs.first() {
            baseline.clone_from(first);
        }
        let mut primary = Vec::new();
        match get("primary") {
            Some(checked) => {
                for item in checked.items() {
                    let Some(metric) = item.text().and_then(Metric::parse) else {
                        continue;
                    };
                    self.grounded("compare.primary", item.place, metric, &compared(&pairs));
                    if primary.contains(&metric) {
                        let mistake = Mistake::Repeated {
                            value: metric.name(),
                        };
                        self.problems
                            .add("compare.primary", Some(item.place), mistake);
                    } else {
                        primary.push(metric);
                    }
                }
                self.origins
                    .add_file("compare.primary", names(&primary), checked.place);
            }
            None => {
                primary = if self.grounds.is_line_alone {
                    vec![Metric::Line]
                } else {
                    vec![Metric::Throughput, Metric::Response { percentile: 99.0 }]
                };
                self.origins
                    .add("compare.primary", names(&primary), Source::Default);
            }
        }
        let at = get("at").and_then(|checked| self.at("compare.at", checked));
        if get("at").is_none() {
            self.origins
                .add("compare.at", "where the baseline is best", Source::Default);
        }
        Compare {
            margins: self.margins(&primary, get("margins"), &compared(&pairs)),
            pairs,
            baseline,
            primary,
            at,
        }
    }

    /// Pairs of arms, each once.
    fn pairs(&mut self, list: &Checked) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        for (index, item) in list.items().iter().enumerate() {
            let [baseline, other] = item.items() else {
                continue;
            };
            let path = format!("compare.pairs[{index}]");
            let names = (self.arm(&path, baseline), self.arm(&path, other));
            let (Some(baseline), Some(other)) = names else {
                continue;
            };
            if baseline == other {
                self.problems.add(&path, Some(item.place), Mistake::SameArm);
                continue;
            }
            let text = format!("{other} with {baseline}");
            let pair = (baseline, other);
            if pairs.contains(&pair) {
                let mistake = Mistake::Repeated { value: text };
                self.problems.add(&path, Some(item.place), mistake);
                continue;
            }
            self.origins.add_file(&path, text, item.place);
            pairs.push(pair);
        }
        pairs
    }

    /// The margins of the file, and the defaults of the primary metrics that it leaves out.
    fn margins(
        &mut self,
        primary: &[Metric],
        map: Option<&Checked>,
        compared: &[&str],
    ) -> BTreeMap<String, f64> {
        let mut margins = BTreeMap::new();
        for field in map.map_or(&[][..], Checked::fields) {
            let (Some(metric), Some(share)) = (Metric::parse(&field.key), field.checked.number())
            else {
                continue;
            };
            self.grounded("compare.margins", field.key_place, metric, compared);
            self.origins.add_file(
                &join("compare.margins", &field.key),
                units::share(share),
                field.checked.place,
            );
            margins.insert(metric.name(), share);
        }
        for metric in primary {
            let name = metric.name();
            let path = join("compare.margins", &name);
            margins.entry(name).or_insert_with(|| {
                let share = default_margin(*metric);
                self.origins
                    .add(&path, units::share(share), Source::Default);
                share
            });
        }
        margins
    }

    pub(crate) fn thresholds(&mut self, list: &Checked) -> Vec<Threshold> {
        let mut thresholds = Vec::new();
        for (index, item) in list.items().iter().enumerate() {
            let path = format!("thresholds[{index}]");
            let (text, map) = match &item.value {
                Value::One(SettingValue::Text(text)) => (Some((text.as_str(), item)), None),
                Value::Map(_) => (
                    item.get("metric")
                        .and_then(|metric| Some((metric.text()?, metric))),
                    Some(item),
                ),
                _ => (None, None),
            };
            let get = |key: &str| map.and_then(|map| map.get(key));
            let arm = get("arm").and_then(|checked| self.arm(&join(&path, "arm"), checked));
            let mix = get("mix").and_then(|checked| self.mix(&join(&path, "mix"), checked));
            let at = get("at").and_then(|checked| self.at(&join(&path, "at"), checked));
            let Some((text, place)) = text.map(|(text, checked)| (text, checked.place)) else {
                continue;
            };
            match bound(text) {
                Ok((metric, at_least, bound)) => {
                    self.grounded(&path, place, metric, &Vec::from_iter(arm.as_deref()));
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
                    let path = if map.is_some() {
                        join(&path, THRESHOLD.keys[0].name)
                    } else {
                        path
                    };
                    self.problems.add(&path, Some(place), mistake);
                }
            }
        }
        thresholds
    }

    fn arm(&mut self, path: &str, checked: &Checked) -> Option<String> {
        let name = checked.text()?.to_owned();
        if self.names.arms.is_empty() || self.names.arms.contains(&name) {
            return Some(name);
        }
        self.problems.add(
            path,
            Some(checked.place),
            Mistake::UnknownArm {
                name,
                arms: self.names.arms.to_vec(),
            },
        );
        None
    }

    fn mix(&mut self, path: &str, checked: &Checked) -> Option<String> {
        let name = checked.text()?.to_owned();
        if self.names.mixes.is_empty() || self.names.mixes.contains(&name) {
            return Some(name);
        }
        self.problems.add(
            path,
            Some(checked.place),
            Mistake::UnknownMix {
                name,
                mixes: self.names.mixes.to_vec(),
            },
        );
        None
    }

    /// Says what a metric rests on and the file does not have. `compared` are the arms that it concerns; none of them are all.
    fn grounded(&mut self, path: &str, place: Place, metric: Metric, compared: &[&str]) {
        if metric == Metric::Line && self.grounds.has_line == Some(false) {
            let what = format!("the metric `{}`", metric.name());
            self.problems
                .add(path, Some(place), Mistake::NoLine { what });
        }
        if metric != Metric::Cost {
            return;
        }
        let concerned = |arm: &&Arm| compared.is_empty() || compared.contains(&arm.name.as_str());
        let (mut without, mut prices) = (Vec::new(), BTreeMap::new());
        for arm in self.grounds.arms.iter().filter(concerned) {
            match &arm.rig.price {
                Some(price) => {
                    prices.entry(&price.currency).or_insert(&arm.name);
                }
                None => without.push(arm.name.clone()),
            }
        }
        if !without.is_empty() {
            let mistake = Mistake::NoPrice { arms: without };
            self.problems.add(path, Some(place), mistake);
        } else if prices.len() > 1 {
            let prices = prices
                .iter()
                .map(|(currency, arm)| format!("{currency} (arm {arm})"));
            let mistake = Mistake::Currencies {
                prices: prices.collect(),
            };
            self.problems.add(path, Some(place), mistake);
        }
    }

    /// A point of the load.
    fn at(&mut self, path: &str, checked: &Checked) -> Option<LoadAt> {
        let field = checked.fields().first()?;
        let at = match field.key.as_str() {
            "threads" => LoadAt::Threads(u32::try_from(field.checked.whole()?).ok()?),
            "rate" => LoadAt::Rate(field.checked.number()?),
            _ => LoadAt::Line(field.checked.number()?),
        };
        if matches!(at, LoadAt::Line(_)) && self.grounds.has_line != Some(true) {
            if self.grounds.has_line == Some(false) {
                let what = load_at_text(at);
                let mistake = Mistake::NoLine { what };
                self.problems.add(path, Some(field.checked.place), mistake);
            }
            return None;
        }
        let points = self.names.points;
        if !points.is_empty() && !points.iter().any(|point| point.at() == Some(at)) {
            let points = points.iter().map(|point| {
                point
                    .at()
                    .map_or_else(|| "the stages".to_owned(), load_at_text)
            });
            let mistake = Mistake::NotAPoint {
                at: load_at_text(at),
                points: points.collect(),
            };
            self.problems.add(path, Some(field.checked.place), mistake);
            return None;
        }
        if path == "compare.at" {
            self.origins
                .add_file(path, load_at_text(at), field.checked.place);
        }
        Some(at)
    }
}

/// The arms of pairs; none where all arms are compared.
fn compared(pairs: &[(String, String)]) -> Vec<&str> {
    pairs
        .iter()
        .flat_map(|(one, other)| [one.as_str(), other.as_str()])
        .collect()
}

/// The smallest difference of a metric that matters where a file says nothing, as a share.
fn default_margin(metric: Metric) -> f64 {
    if matches!(metric, Metric::Throughput | Metric::Line) {
        0.03
    } else {
        0.05
    }
}

/// Reads `throughput >= 10k`: the metric, whether at least, and the bound in the metric's unit.
fn bound(text: &str) -> Result<(Metric, bool, f64), Mistake> {
    let bad = || Mistake::BadThreshold {
        text: text.to_owned(),
    };
    let signs = [(">=", true), ("<=", false), ("≥", true), ("≤", false)];
    let (sign, at_least) = signs
        .into_iter()
        .find(|(sign, _)| text.contains(sign))
        .ok_or_else(bad)?;
    let (word, value) = text.split_once(sign).ok_or_else(bad)?;
    let (word, value) = (word.trim(), value.trim());
    if word.is_empty() || value.is_empty() {
        return Err(bad());
    }
    let Some(metric) = Metric::parse(word) else {
        return Err(Mistake::UnknownMetric {
            metric: word.to_owned(),
        });
    };
    let bound = match metric {
        Metric::Throughput | Metric::Line => units::parse_rate(value)?,
        Metric::Cost => price(value).ok_or_else(bad)?,
        Metric::Errors => units::parse_share(value)?,
        Metric::ResponseMean
        | Metric::Response { .. }
        | Metric::Service { .. }
        | Metric::CpuPerOperation => units::parse_duration(value)? as f64,
    };
    Ok((metric, at_least, bound))
}

/// An amount of money: a number that is not negative, nor endless.
fn price(value: &str) -> Option<f64> {
    let amount: f64 = value.parse().ok()?;
    (amount.is_finite() && amount >= 0.0).then_some(amount)
}

fn names(metrics: &[Metric]) -> String {
    let names: Vec<String> = metrics.iter().map(|metric| metric.name()).collect();
    names.join(", ")
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
