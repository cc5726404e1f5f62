//! Makes what is judged from what was read: objective, comparison and thresholds.

use crate::format::{OBJECTIVE, THRESHOLD};
use crate::load::{load_at, load_at_text};
use crate::mistake::Mistake;
use crate::problems::Collector;
use crate::reader::{Checked, Value, join};
use crate::scalar::percentile;
use crate::settle::Origins;
use crate::{Compare, LoadAt, Metric, Objective, SettingValue, Source, Threshold, units};
use plimsoll_schedule::Load;
use std::collections::BTreeMap;

/// Names that the judged parts of a file can refer to. Where a list is empty, nothing is known, and every name passes.
pub(crate) struct Names<'n> {
    pub arms: &'n [String],
    pub mixes: &'n [String],
    pub loads: &'n [Load],
}

/// Reads what is judged and gathers problems.
pub(crate) struct Judging<'j, 's> {
    pub names: Names<'j>,
    pub origins: &'j mut Origins<'s>,
    pub problems: &'j mut Collector<'s>,
}

impl Judging<'_, '_> {
    pub(crate) fn objective(&mut self, map: &Checked) -> Option<Objective> {
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
            search: None,
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
                primary = vec![Metric::Throughput, Metric::Response { percentile: 99.0 }];
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
            pairs,
            baseline,
            margins: self.margins(&primary, get("margins")),
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
    fn margins(&mut self, primary: &[Metric], map: Option<&Checked>) -> BTreeMap<String, f64> {
        let mut margins = BTreeMap::new();
        for field in map.map_or(&[][..], Checked::fields) {
            let (Some(metric), Some(share)) = (Metric::parse(&field.key), field.checked.number())
            else {
                continue;
            };
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
                let share = metric.default_margin();
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

    /// A point of the load.
    fn at(&mut self, path: &str, checked: &Checked) -> Option<LoadAt> {
        let field = checked.fields().first()?;
        let at = match field.key.as_str() {
            "threads" => LoadAt::Threads(u32::try_from(field.checked.whole()?).ok()?),
            _ => LoadAt::Rate(field.checked.number()?),
        };
        if !self.names.loads.is_empty()
            && !self
                .names
                .loads
                .iter()
                .any(|load| load_at(load) == Some(at))
        {
            let points =
                self.names.loads.iter().map(|load| {
                    load_at(load).map_or_else(|| "the stages".to_owned(), load_at_text)
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

impl Metric {
    /// The smallest difference that matters where a file says nothing, as a share.
    fn default_margin(self) -> f64 {
        if matches!(self, Self::Throughput | Self::Line) {
            0.03
        } else {
            0.05
        }
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
        Metric::Cost => value.parse().map_err(|_| bad())?,
        Metric::Errors => units::parse_share(value)?,
        Metric::ResponseMean
        | Metric::Response { .. }
        | Metric::Service { .. }
        | Metric::CpuPerOperation => units::parse_duration(value)? as f64,
    };
    Ok((metric, at_least, bound))
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
