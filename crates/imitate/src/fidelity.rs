//! How well a server under the written file imitates the one that was observed.
//!
//! Both are samples, so each comparison allows for what two samples of one server differ by: four standard errors of a share, and of a percentile the
//! values at ranks four standard errors away. With few calls almost every shape counts as reproduced, and a reported difference is certain. The shares of the
//! hottest values are compared from 1,000 calls on.

use crate::counts::ERRORS;
use crate::{Observed, Shape, Spread, Stored};
use plimsoll_record::quantities::numbers::ASCII;
use std::fmt;

/// The relative difference that a share of operations may have.
const SHARE: f64 = 0.1;
/// The factor by which other figures may differ.
const FACTOR: f64 = 1.5;
/// Documents or keys by which figures may always differ.
const SLACK: f64 = 2.0;
/// Bytes by which answers may always differ.
const SLACK_BYTES: f64 = 64.0;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fidelity {
    /// The share of production's server time that reproduced shapes have.
    pub score: f64,
    /// Shapes and collections that are not reproduced, the ones with the most time first.
    pub misses: Vec<Mismatch>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Its name in the file.
    pub name: String,
    /// Its share of production's server time; `None` of a collection.
    pub time: Option<f64>,
    /// What differs: its name, production's figure and the copy's.
    pub figures: Vec<(&'static str, String, String)>,
}

impl fmt::Display for Fidelity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded down, so that 100 % means everything; 0.93 is not exact.
        let percent = (self.score * 100.0 + 1e-9).floor();
        write!(f, "shapes with {percent} % of production's server time are reproduced")?;
        for miss in &self.misses {
            match miss.time {
                Some(time) => write!(f, "\n  {} ({} of the time)", miss.name, ASCII.percent(time))?,
                None => write!(f, "\n  collection {}", miss.name)?,
            }
            for (index, (name, production, copy)) in miss.figures.iter().enumerate() {
                let before = if index == 0 { ": " } else { "; " };
                write!(f, "{before}{name} {production} in production, {copy} in the copy")?;
            }
        }
        Ok(())
    }
}

/// Compares shape by shape and collection by collection.
pub fn score(production: &Observed, copy: &Observed) -> Fidelity {
    let pairs: Vec<(&Shape, Option<&Shape>)> = production
        .shapes
        .iter()
        .map(|shape| (shape, copy.shapes.iter().find(|other| other.form == shape.form)))
        .collect();
    // Shares among the shapes of both, so that one missing operation does not change all other shares.
    let both = pairs.iter().filter_map(|(shape, other)| Some((shape.calls, (*other)?.calls)));
    let calls = both.fold((0, 0), |(one, other), (more, others)| (one + more, other + others));
    let micros: u64 = production.shapes.iter().map(|shape| shape.micros).sum();
    let mut fidelity = Fidelity::default();
    let mut reproduced = 0;
    for (shape, other) in pairs {
        let mut figures = Vec::new();
        match other {
            None => figures.push(("calls", ASCII.count(shape.calls), "none".into())),
            Some(other) => compare(shape, other, calls, &mut figures),
        }
        if figures.is_empty() {
            reproduced += shape.micros;
        } else {
            let time = Some(shape.micros as f64 / micros.max(1) as f64);
            fidelity.misses.push(Mismatch { name: shape.name.clone(), time, figures });
        }
    }
    fidelity.score = if micros == 0 { 0.0 } else { reproduced as f64 / micros as f64 };
    fidelity.misses.sort_by(|one, other| {
        other.time.partial_cmp(&one.time).unwrap_or(std::cmp::Ordering::Equal)
    });
    for stored in &production.collections {
        let other = copy.collections.iter().find(|other| other.name == stored.name);
        let mut figures = Vec::new();
        match other {
            None => figures.push(("documents", ASCII.count(stored.documents), "none".into())),
            Some(other) => compare_collections(stored, other, &mut figures),
        }
        if !figures.is_empty() {
            fidelity.misses.push(Mismatch { name: stored.name.clone(), time: None, figures });
        }
    }
    fidelity
}

type Figures = Vec<(&'static str, String, String)>;

fn compare(one: &Shape, other: &Shape, calls: (u64, u64), figures: &mut Figures) {
    let shares = (one.calls as f64 / calls.0 as f64, other.calls as f64 / calls.1 as f64);
    // The share over both together: a sample with one such call says little about its frequency.
    let together = (one.calls + other.calls) as f64 / (calls.0 + calls.1) as f64;
    let each = 1.0 / calls.0 as f64 + 1.0 / calls.1 as f64;
    let errors = (together * (1.0 - together) * each).sqrt();
    if (shares.0 - shares.1).abs() > SHARE * shares.0 + ERRORS * errors {
        figures.push(("share of operations", ASCII.percent(shares.0), ASCII.percent(shares.1)));
    }
    let plans = (frequent(one), frequent(other));
    if !plans.0.iter().any(|plan| plans.1.contains(plan)) {
        let words = |plans: &[&str]| {
            plans.first().filter(|plan| !plan.is_empty()).map_or("none", |plan| plan).to_owned()
        };
        figures.push(("plan", words(&plans.0), words(&plans.1)));
    }
    let spreads = [
        ("keys examined", one.keys_examined, other.keys_examined, SLACK),
        ("documents examined", one.documents_examined, other.documents_examined, SLACK),
        ("documents returned", one.returned, other.returned, SLACK),
        ("bytes returned", one.bytes, other.bytes, SLACK_BYTES),
    ];
    for (name, one, other, slack) in spreads {
        if !is_near(one.median_within, other.median_within, slack)
            || !is_near(one.p95_within, other.p95_within, slack)
        {
            let words = |spread: Spread| {
                format!(
                    "{} (p95 {})",
                    ASCII.compact_count(spread.median),
                    ASCII.compact_count(spread.p95)
                )
            };
            figures.push((name, words(one), words(other)));
        }
    }
    // At equal numbers of calls, on which the share depends.
    let mut levels = one.hottest_of_first.iter().zip(&other.hottest_of_first);
    if let Some(((calls, one), (_, other))) = levels.next_back() {
        let error = |share: f64| ERRORS * (share / *calls as f64).sqrt();
        let within = |share: f64| ((share - error(share)).max(0.0), share + error(share));
        if !is_near(within(*one), within(*other), 0.0) {
            figures.push((
                "share of the hottest 1 % of values",
                ASCII.percent(*one),
                ASCII.percent(*other),
            ));
        }
    }
}

/// Plans that may be the most frequent one, as far as the sample shows.
fn frequent(shape: &Shape) -> Vec<&str> {
    let most = shape.plans.iter().map(|(_, calls)| *calls).max().unwrap_or(0) as f64;
    let may_be = |calls: f64| most - calls <= ERRORS * (most + calls).sqrt() && calls * 5.0 >= most;
    shape
        .plans
        .iter()
        .filter(|(_, calls)| may_be(*calls as f64))
        .map(|(plan, _)| plan.as_str())
        .collect()
}

/// Whether two intervals come as near to each other as the factor and the slack allow.
fn is_near(one: (f64, f64), other: (f64, f64), slack: f64) -> bool {
    let reaches = |low: f64, high: f64| low <= (high * FACTOR).max(high + slack);
    reaches(one.0, other.1) && reaches(other.0, one.1)
}

fn compare_collections(one: &Stored, other: &Stored, figures: &mut Figures) {
    let each = |bytes: u64, stored: &Stored| bytes as f64 / stored.documents.max(1) as f64;
    let sizes = |at: usize| (one.sizes[at] as f64, other.sizes[at] as f64);
    for (name, (one, other)) in [
        ("mean size", (each(one.bytes, one), each(other.bytes, other))),
        ("storage per document", (each(one.stored_bytes, one), each(other.stored_bytes, other))),
        ("index bytes per document", (each(one.index_bytes, one), each(other.index_bytes, other))),
        ("1st percentile of sizes", sizes(0)),
        ("median size", sizes(1)),
        ("95th percentile of sizes", sizes(2)),
        ("99th percentile of sizes", sizes(3)),
    ] {
        if !is_near((one, one), (other, other), 0.0) {
            let words = |bytes: f64| ASCII.bytes_of(bytes);
            figures.push((name, words(one), words(other)));
        }
    }
}
