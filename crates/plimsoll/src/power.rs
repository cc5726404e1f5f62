//! What an experiment needs to find a difference of some size, by what earlier ones of its name and load varied on this machine.

use crate::read::store_path;
use plimsoll_judge::{Reach, analyse, plan_of};
use plimsoll_plan::{Pairing, Plan, needs};
use plimsoll_record::quantities::units;
use plimsoll_record::quantities::words::counted;
use plimsoll_stats::blocks_to_see;
use plimsoll_store::{Filter, Store};
use plimsoll_telemetry::Host;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// Earlier experiments of the same name that are read, the newest first.
const LOOKED_AT: usize = 20;

/// What finds the difference in one way of measuring.
#[derive(Debug, Serialize)]
pub struct Power {
    /// In turn, or in duets.
    pub pairing: Pairing,
    /// Id of the experiment that says so; `None` where a usual spread is assumed.
    pub experiment: Option<String>,
    /// The comparison that needs most, in words.
    pub comparison: Option<String>,
    /// With points as long as they were; `None` where no number of blocks would do.
    pub as_it_was: Option<Reach>,
    /// With the length of a point that takes least time.
    pub soonest: Option<Reach>,
}

/// What finds a difference of this share four times in five: by the newest experiment of this name and load on this machine in turn and in duets, and for what was not
/// measured yet by a usual spread. The way that takes least time is the first.
pub fn power(
    plan: &Plan,
    share: f64,
    usual_spread: f64,
    store: Option<&Path>,
) -> anyhow::Result<Vec<Power>> {
    let mut found = of_history(plan, share, &store_path(store)?)?;
    if found.is_empty() {
        found.extend(assumed(plan, share, usual_spread));
    }
    let seconds = |power: &Power| power.soonest.map_or(f64::INFINITY, |reach| reach.seconds);
    found.sort_by(|one, other| seconds(one).total_cmp(&seconds(other)));
    Ok(found)
}

fn of_history(plan: &Plan, share: f64, file: &Path) -> anyhow::Result<Vec<Power>> {
    let mut found: Vec<Power> = Vec::new();
    if !file.exists() {
        return Ok(found);
    }
    let store = Store::open_read_only(file)?;
    let filter = Filter { name: Some(plan.name.clone()), ..Filter::default() };
    let here = Host::here().machine().fingerprint();
    let all = store.list(&filter)?.into_iter();
    for summary in all.take(LOOKED_AT) {
        let record = store.load(&summary.id)?;
        if record.machine.fingerprint() != here {
            continue;
        }
        let Ok(planned) = plan_of(&record) else {
            continue;
        };
        let pairing = planned.measurement.pairing;
        if !varies_alike(&planned, plan) || found.iter().any(|power| power.pairing == pairing) {
            continue;
        }
        let Ok(analysis) = analyse(&record) else {
            continue;
        };
        let needs_most = analysis.noise.iter().max_by(|one, other| {
            let spread = |noise: &plimsoll_judge::NoiseResult| noise.run.hypot(noise.seconds);
            spread(one).total_cmp(&spread(other))
        });
        let Some(noise) = needs_most else { continue };
        found.push(Power {
            pairing,
            experiment: Some(summary.id),
            comparison: Some(format!(
                "{} against {}, {} at {}",
                noise.arm, noise.baseline, noise.mix, noise.load_label
            )),
            as_it_was: noise.reach(share, noise.point_seconds),
            soonest: noise.soonest(share),
        });
    }
    Ok(found)
}

/// Whether the variance of one predicts that of the other: the same mixes under the same loads, on the same engines.
fn varies_alike(one: &Plan, other: &Plan) -> bool {
    let engines = |plan: &Plan| -> BTreeSet<String> {
        plan.arms.iter().map(|arm| arm.engine.clone()).collect()
    };
    one.mixes == other.mixes && one.points == other.points && engines(one) == engines(other)
}

/// By a spread of runs that is usual, with what the plan is estimated to take.
fn assumed(plan: &Plan, share: f64, usual_spread: f64) -> Option<Power> {
    let blocks = blocks_to_see(usual_spread, share)?;
    let needs = needs(plan, plimsoll_engine::kinds());
    let of_pair = f64::from(plan.blocks_of_a_pair(plan.measurement.blocks));
    let reach = Reach {
        point_seconds: plan.measurement.duration_ns as f64 / 1e9,
        blocks,
        seconds: needs.total_ns() as f64 / 1e9 / f64::max(of_pair, 1.0) * blocks as f64,
    };
    Some(Power {
        pairing: plan.measurement.pairing,
        experiment: None,
        comparison: None,
        as_it_was: Some(reach),
        soonest: Some(reach),
    })
}

/// The same for a person.
pub fn in_words(share: f64, usual_spread: f64, all: &[Power]) -> String {
    let reach = |reach: Reach| {
        format!(
            "{} of {:.0} s, about {}",
            counted(reach.blocks, "block"),
            reach.point_seconds,
            units::about((reach.seconds * 1e9) as u64)
        )
    };
    let mut lines =
        vec![format!("find      a difference of {}, four times in five", units::share(share))];
    for power in all {
        let way = match power.pairing {
            Pairing::InTurn => "in turn",
            Pairing::Duet => "duets",
        };
        let (Some(now), Some(soonest)) = (power.as_it_was, power.soonest) else {
            lines.push(format!("  {way:<8}no number of blocks would do"));
            continue;
        };
        let by = match &power.experiment {
            Some(id) => format!("by experiment {id}"),
            None => format!("if runs vary by {}, as usual", units::share(usual_spread)),
        };
        let mut line = format!("  {way:<8}{} ({by})", reach(now));
        if soonest.point_seconds != now.point_seconds {
            line.push_str(&format!("; soonest {}", reach(soonest)));
        }
        lines.push(line);
    }
    let is_measured =
        |pairing| all.iter().any(|power| power.experiment.is_some() && power.pairing == pairing);
    for (pairing, flags) in [(Pairing::InTurn, "--pilot"), (Pairing::Duet, "--pilot --duet")] {
        if !is_measured(pairing) {
            lines.push(format!(
                "  `plimsoll run` of this file with {flags} would tell how much it varies here"
            ));
        }
    }
    lines.join("\n")
}
