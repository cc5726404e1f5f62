//! Which arms are shown where not all can be, and which look each has.

use crate::{select, words};
use plimsoll_judge::{Analysis, ArmSummary, effect};
use std::cmp::Ordering;

/// Number of distinct looks of arms. Readers cannot distinguish more.
pub const STYLES: usize = 16;

/// The arms in the order in which they should be shown where not all can be: those with the clearest deciding verdicts, each after its baseline, then
/// other baselines, then those with the highest throughput at any load.
pub fn telling_arms(analysis: &Analysis) -> Vec<&str> {
    let mut ranked: Vec<(Rank, &str)> = Vec::new();
    for arm in &analysis.arms {
        ranked.push((rank(analysis, arm), &arm.name));
    }
    ranked.sort_by(|(a, _), (b, _)| b.partial_cmp(a).unwrap_or(Ordering::Equal));
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// Why an arm should be shown: its largest decided difference, as arm or as baseline; it is a baseline; its highest throughput.
type Rank = (f64, bool, f64);

fn rank(analysis: &Analysis, arm: &ArmSummary) -> Rank {
    let decided = select::primaries(analysis)
        .filter(|one| one.arm == arm.name || one.baseline == arm.name)
        .filter(|one| words::is_decided(one.verdict.judgement))
        .map(effect);
    let points = analysis
        .curves
        .iter()
        .filter(|curve| curve.arm == arm.name)
        .flat_map(|curve| &curve.points);
    let best =
        points.map(|point| select::median(&point.throughput)).filter(|rate| rate.is_finite());
    (decided.fold(0.0, f64::max), arm.baseline, best.fold(0.0, f64::max))
}

/// Which arm has which of the looks: colour and mark on the page, sign and colour in the terminal.
#[derive(Clone, Debug)]
pub struct ArmPlaces {
    names: Vec<String>,
}

impl ArmPlaces {
    /// All arms, or with more than [`STYLES`] of them the first of [`telling_arms`].
    pub fn of(analysis: &Analysis) -> Self {
        let names: Vec<String> = analysis.arms.iter().map(|arm| arm.name.clone()).collect();
        if names.len() <= STYLES {
            return Self { names };
        }
        let mut telling = telling_arms(analysis);
        telling.truncate(STYLES);
        let chosen = names.iter().filter(|name| telling.contains(&name.as_str()));
        Self { names: chosen.cloned().collect() }
    }

    /// Which of the looks an arm has, where it has one of its own.
    pub fn place(&self, arm: &str) -> Option<usize> {
        self.names.iter().position(|name| name == arm)
    }
}
