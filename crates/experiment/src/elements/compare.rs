//! `compare`: what is judged, and where.

use crate::Collector;
use crate::document::{Checked, Span, join};
use crate::elements::load::{LoadPoint, load_at_text};
use crate::keys::compare::{at, compare};
use crate::keys::file::file;
use crate::keys::metric::split;
use crate::mistake::Mistake;
use crate::origins::Origins;
use crate::table::*;
use plimsoll_plan::{Arm, Compare, Design, Factor, LoadAt, Metric, Source};
use plimsoll_record::Operation;
use plimsoll_record::quantities::units;
use plimsoll_workload::Mix;
use std::collections::BTreeMap;

pub(crate) fn path(key: &Key) -> String {
    key.under(file::compare.name)
}

/// Names that comparison and thresholds can refer to. An empty list means unknown: every name passes.
pub(crate) struct Names<'n> {
    pub arms: &'n [String],
    pub mixes: &'n [Mix],
    pub points: &'n [LoadPoint],
}

/// What metrics of comparison and thresholds need.
pub(crate) struct Basis<'g> {
    /// Whether the line is searched; `None` where that was not understood.
    pub has_line: Option<bool>,
    /// Whether there is no load but only the search.
    pub is_line_alone: bool,
    /// The arms that were understood, with their prices.
    pub arms: &'g [Arm],
}

/// Reads comparison and thresholds, and gathers problems.
pub(crate) struct JudgedReader<'j, 's> {
    pub names: Names<'j>,
    pub basis: Basis<'j>,
    /// What is varied; empty where arms are listed.
    pub factors: &'j mut [Factor],
    pub design: Design,
    pub origins: &'j mut Origins<'s>,
    pub problems: &'j mut Collector<'s>,
}

impl JudgedReader<'_, '_> {
    pub(crate) fn compare(&mut self, map: Option<&Checked>) -> Compare {
        let get = |key: &Key| map.and_then(|map| map.get(key));
        let mut baseline = self.names.arms.first().cloned().unwrap_or_default();
        let factor = self.compared_factor(get(compare::factor), get(compare::baseline));
        match get(compare::baseline) {
            _ if !self.factors.is_empty() => {}
            Some(checked) => {
                if let Some(name) = self.arm(&path(compare::baseline), checked) {
                    self.origins.add_file(&path(compare::baseline), name.clone(), checked.place);
                    baseline = name;
                }
            }
            None if get(compare::pairs).is_none() => {
                self.origins.add(&path(compare::baseline), baseline.clone(), Source::Default);
            }
            None => {}
        }
        let pairs = match (get(compare::pairs), factor) {
            (Some(list), _) => self.pairs(list),
            (None, Some(factor)) if self.design.is_full() => self.simple_pairs(factor),
            _ => Vec::new(),
        };
        if let Some((first, _)) = pairs.first() {
            baseline.clone_from(first);
        }
        let mut primary = Vec::new();
        match get(compare::primary) {
            Some(checked) => {
                for item in checked.items() {
                    let path = path(compare::primary);
                    let text = item.text().map(|text| (text, item.place));
                    let Some(metric) = text.and_then(|text| self.metric(&path, text, None)) else {
                        continue;
                    };
                    self.check_basis(&path, item.place, metric, &compared(&pairs));
                    if primary.contains(&metric) {
                        let mistake = Mistake::Repeated { value: metric.name() };
                        self.problems.add(&path, Some(item.place), mistake);
                    } else {
                        primary.push(metric);
                    }
                }
                self.origins.add_file(&path(compare::primary), names(&primary), checked.place);
            }
            None => {
                primary = if self.basis.is_line_alone {
                    vec![Metric::Line]
                } else {
                    vec![Metric::Throughput, Metric::Response { percentile: 99.0 }]
                };
                self.origins.add(&path(compare::primary), names(&primary), Source::Default);
            }
        }
        let at = get(compare::at).and_then(|checked| self.at(&path(compare::at), checked));
        if get(compare::at).is_none() {
            self.origins.add(&path(compare::at), "where the baseline is best", Source::Default);
        }
        Compare {
            margins: self.margins(&primary, get(compare::margins), &compared(&pairs)),
            factor: factor.map(|index| self.factors[index].name.clone()),
            pairs,
            baseline,
            primary,
            at,
        }
    }

    /// The factor whose levels are compared, by its index, with its baseline decided. `None` where arms are listed.
    fn compared_factor(
        &mut self,
        named: Option<&Checked>,
        baseline: Option<&Checked>,
    ) -> Option<usize> {
        let name = named.and_then(|checked| Some((checked.text()?.to_owned(), checked.place)));
        if self.factors.is_empty() {
            if let Some((_, place)) = name {
                let mistake = Mistake::NoFactors { key: compare::factor.name };
                self.problems.add(&path(compare::factor), Some(place), mistake);
            }
            return None;
        }
        let index = match name {
            None => {
                let first = self.factors[0].name.clone();
                self.origins.add(&path(compare::factor), first, Source::Default);
                0
            }
            Some((name, place)) => {
                let index = self.factors.iter().position(|one| one.name == name);
                let Some(index) = index else {
                    let mistake = Mistake::UnknownFactor {
                        name,
                        factors: self.factors.iter().map(|one| one.name.clone()).collect(),
                    };
                    self.problems.add(&path(compare::factor), Some(place), mistake);
                    return None;
                };
                self.origins.add_file(&path(compare::factor), name, place);
                index
            }
        };
        let factor = &mut self.factors[index];
        let level = baseline.and_then(|checked| Some((checked.text()?.to_owned(), checked.place)));
        match level {
            None => {
                let first = factor.level(0).to_owned();
                self.origins.add(&path(compare::baseline), first, Source::Default);
            }
            Some((name, place)) => {
                let known = (0..).zip(&factor.levels).find(|(_, one)| one.name == name);
                match known {
                    Some((level, _)) => {
                        factor.baseline = level;
                        self.origins.add_file(&path(compare::baseline), name, place);
                    }
                    None => {
                        let mistake = Mistake::UnknownLevel {
                            name,
                            factor: factor.name.clone(),
                            levels: factor.levels.iter().map(|one| one.name.clone()).collect(),
                        };
                        self.problems.add(&path(compare::baseline), Some(place), mistake);
                    }
                }
            }
        }
        Some(index)
    }

    /// The levels of a factor against its baseline, within each combination of the others' levels.
    fn simple_pairs(&self, factor: usize) -> Vec<(String, String)> {
        let arms = self.basis.arms;
        let baseline = self.factors[factor].baseline;
        let mut pairs = Vec::new();
        for arm in arms {
            let Some(level) = arm.levels.get(factor) else {
                continue;
            };
            let mut levels = arm.levels.clone();
            levels[factor] = baseline;
            let base = arms.iter().find(|other| other.levels == levels);
            if let Some(base) = base.filter(|_| *level != baseline) {
                pairs.push((base.name.clone(), arm.name.clone()));
            }
        }
        pairs
    }

    /// Pairs of arms, each once.
    fn pairs(&mut self, list: &Checked) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        for (index, item) in list.items().iter().enumerate() {
            let [baseline, other] = item.items() else {
                continue;
            };
            let path = format!("{}[{index}]", path(compare::pairs));
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
            let name = (field.key.as_str(), field.key_place);
            let metric = self.metric(&path(compare::margins), name, None);
            let (Some(metric), Some(share)) = (metric, field.checked.number()) else {
                continue;
            };
            self.check_basis(&path(compare::margins), field.key_place, metric, compared);
            self.origins.add_file(
                &join(&path(compare::margins), &field.key),
                units::share(share),
                field.checked.place,
            );
            margins.insert(metric.name(), share);
        }
        for metric in primary {
            let name = metric.name();
            let path = join(&path(compare::margins), &name);
            if margins.contains_key(&metric.of_all().name()) {
                continue;
            }
            margins.entry(name).or_insert_with(|| {
                let share = default_margin(*metric);
                self.origins.add(&path, units::share(share), Source::Default);
                share
            });
        }
        margins
    }

    pub(crate) fn arm(&mut self, path: &str, checked: &Checked) -> Option<String> {
        let name = checked.text()?.to_owned();
        if self.names.arms.is_empty() || self.names.arms.contains(&name) {
            return Some(name);
        }
        self.problems.add(
            path,
            Some(checked.place),
            Mistake::UnknownArm { name, arms: self.names.arms.to_vec() },
        );
        None
    }

    pub(crate) fn mix(&mut self, path: &str, checked: &Checked) -> Option<String> {
        let name = checked.text()?.to_owned();
        let mixes = self.names.mixes;
        if mixes.is_empty() || mixes.iter().any(|mix| mix.name == name) {
            return Some(name);
        }
        let mixes = mixes.iter().map(|mix| mix.name.clone()).collect();
        self.problems.add(path, Some(checked.place), Mistake::UnknownMix { name, mixes });
        None
    }

    /// The metric of a text such as `response.p99`, or `response.p99 of by-customer` with an operation of the mixes, or of the one of this name. Other words were
    /// refused before.
    pub(crate) fn metric(
        &mut self,
        path: &str,
        (text, place): (&str, Span),
        mix: Option<&str>,
    ) -> Option<Metric> {
        let (word, operation) = split(text);
        let metric = Metric::parse(word)?;
        let Some(name) = operation else { return Some(metric) };
        let operation = self.operation(path, (name, place), mix)?;
        self.of_operation(path, place, metric, operation)
    }

    /// The metric of one operation alone.
    pub(crate) fn of_operation(
        &mut self,
        path: &str,
        place: Span,
        metric: Metric,
        operation: Operation,
    ) -> Option<Metric> {
        let of = metric.of(operation);
        if of.is_none() {
            let mistake = Mistake::NotOfOperation { metric: metric.name() };
            self.problems.add(path, Some(place), mistake);
        }
        of
    }

    /// An operation of the mixes, or of the one of this name.
    pub(crate) fn operation(
        &mut self,
        path: &str,
        (name, place): (&str, Span),
        mix: Option<&str>,
    ) -> Option<Operation> {
        let mixes = self.names.mixes.iter();
        let concerned = mixes.filter(|one| mix.is_none_or(|only| only == one.name));
        let mut operations: Vec<Operation> = concerned.flat_map(Mix::measured_operations).collect();
        operations.sort();
        operations.dedup();
        let known = operations.iter().find(|operation| operation.name() == name).copied();
        if known.is_none() && !operations.is_empty() {
            let mistake = Mistake::UnknownOperation {
                name: name.to_owned(),
                mix: mix.map(str::to_owned),
                operations: operations.iter().map(|one| one.name().to_owned()).collect(),
            };
            self.problems.add(path, Some(place), mistake);
        }
        known
    }

    /// Reports what a metric needs and the file does not have. `compared` are the arms that it concerns; empty for all.
    pub(crate) fn check_basis(
        &mut self,
        path: &str,
        place: Span,
        metric: Metric,
        compared: &[&str],
    ) {
        if metric == Metric::Line && self.basis.has_line == Some(false) {
            let what = format!("the metric `{}`", metric.name());
            self.problems.add(path, Some(place), Mistake::NoLine { what });
        }
        if metric != Metric::Cost {
            return;
        }
        let concerned = |arm: &&Arm| compared.is_empty() || compared.contains(&arm.name.as_str());
        let (mut without, mut prices) = (Vec::new(), BTreeMap::new());
        for arm in self.basis.arms.iter().filter(concerned) {
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
            let prices = prices.iter().map(|(currency, arm)| format!("{currency} (arm {arm})"));
            let mistake = Mistake::Currencies { prices: prices.collect() };
            self.problems.add(path, Some(place), mistake);
        }
    }

    /// A point of the load.
    pub(crate) fn at(&mut self, path: &str, checked: &Checked) -> Option<LoadAt> {
        let (given, at) = if let Some(given) = checked.get(at::threads) {
            (given, LoadAt::Threads(u32::try_from(given.whole()?).ok()?))
        } else if let Some(given) = checked.get(at::rate) {
            (given, LoadAt::Rate(given.number()?))
        } else {
            let given = checked.get(at::line)?;
            (given, LoadAt::Line(given.number()?))
        };
        if matches!(at, LoadAt::Line(_)) && self.basis.has_line != Some(true) {
            if self.basis.has_line == Some(false) {
                let what = load_at_text(at);
                let mistake = Mistake::NoLine { what };
                self.problems.add(path, Some(given.place), mistake);
            }
            return None;
        }
        let points = self.names.points;
        if !points.is_empty() && !points.iter().any(|point| point.at() == Some(at)) {
            let points = points.iter().map(LoadPoint::text);
            let mistake = Mistake::NotAPoint { at: load_at_text(at), points: points.collect() };
            self.problems.add(path, Some(given.place), mistake);
            return None;
        }
        if path == self::path(compare::at) {
            self.origins.add_file(path, load_at_text(at), given.place);
        }
        Some(at)
    }
}

/// The arms of pairs; none where all arms are compared.
fn compared(pairs: &[(String, String)]) -> Vec<&str> {
    pairs.iter().flat_map(|(one, other)| [one.as_str(), other.as_str()]).collect()
}

/// Default of the smallest difference of a metric that matters, as a share.
fn default_margin(metric: Metric) -> f64 {
    if matches!(metric.of_all(), Metric::Throughput | Metric::Line) { 0.03 } else { 0.05 }
}

fn names(metrics: &[Metric]) -> String {
    let names: Vec<String> = metrics.iter().map(|metric| metric.name()).collect();
    names.join(", ")
}
