//! Scouting for a factor with `refine`: experiments of their own choose its levels, and judge nothing.

use crate::arguments::ExperimentFile;
use crate::live::Live;
use crate::plan::{overrides, read_with};
use crate::rig::Rigs;
use plimsoll_experiment::{Overrides, Problems, Scouted};
use plimsoll_judge::{Bracket, brackets};
use plimsoll_plan::Plan;
use plimsoll_record::quantities::words::list;
use plimsoll_record::{ExperimentRecord, ExperimentState};
use plimsoll_runner::{Event, Execution, Watcher, execute, now};
use plimsoll_store::Store;
use plimsoll_telemetry::Host;

/// Blocks of a scouting experiment.
const BLOCKS: u32 = 2;
/// Rounds of scouting: each halves the range.
const MOST_ROUNDS: usize = 16;

pub enum Scouting<T> {
    Chosen(T),
    /// The user stopped it, or a round is missing that may not be made.
    Unfinished,
    /// With the chosen levels the file is wrong: too many cells.
    Wrong(Problems),
}

/// Who scouts: a file whose plan has a factor with `refine`.
pub struct Scout<'a> {
    pub file: &'a ExperimentFile,
    pub rigs: &'a Rigs,
    /// The execution of the plan with the levels of the file.
    pub execution: &'a Execution<'a>,
}

/// What the rounds so far found.
#[derive(Default)]
struct Rounds {
    records: Vec<ExperimentRecord>,
    /// Amounts of the levels that they measured besides those of the file.
    amounts: Vec<f64>,
    /// The amounts of the last round.
    latest: Vec<f64>,
}

struct Chosen {
    scouted: Scouted,
    /// Where the levels were chosen.
    places: Vec<Bracket>,
}

impl Scout<'_> {
    /// Makes the scouting experiments that are missing, and the plan from what they found. Those of an interrupted experiment are used again; once it is finished, or
    /// where it is to begin again, so do they.
    pub fn run(&self, store: &mut Store, live: &mut Live) -> anyhow::Result<Scouting<Box<Plan>>> {
        let mut reuse = !self.execution.fresh;
        if reuse {
            match self.walk(store, true, None)? {
                Scouting::Chosen(chosen) => match self.read(&chosen.scouted)? {
                    Ok(plan) if is_over(&plan, &chosen.scouted, store)? => reuse = false,
                    plan => return Ok(describe(plan, &chosen, live)),
                },
                Scouting::Wrong(problems) => return Ok(Scouting::Wrong(problems)),
                Scouting::Unfinished => {}
            }
        }
        Ok(match self.walk(store, reuse, Some(&mut *live))? {
            Scouting::Chosen(chosen) => describe(self.read(&chosen.scouted)?, &chosen, live),
            Scouting::Wrong(problems) => Scouting::Wrong(problems),
            Scouting::Unfinished => Scouting::Unfinished,
        })
    }

    /// The plan of the file with these levels.
    fn read(&self, scouted: &Scouted) -> anyhow::Result<Result<Plan, Problems>> {
        let overrides = Overrides { scouted: scouted.clone(), ..overrides(self.file) };
        Ok(read_with(self.file, &overrides, self.rigs)?.plan)
    }

    /// The plan of a round: all levels so far.
    fn plan_of(&self, amounts: &[f64]) -> anyhow::Result<Result<Plan, Problems>> {
        let overrides = Overrides {
            blocks: Some(BLOCKS),
            pilot: false,
            // Other keys and another order than where it is judged.
            seed: Some(self.execution.plan.measurement.seed.wrapping_add(1)),
            scouted: Scouted { amounts: amounts.to_vec(), experiments: Vec::new() },
            ..overrides(self.file)
        };
        let plan = read_with(self.file, &overrides, self.rigs)?.plan;
        Ok(plan.map(|plan| Plan { name: format!("{}-scouting", plan.name), ..plan }))
    }

    /// Round after round, until what is looked for lies between levels as near as requested. With `reuse`, finished rounds are used again; others are made where there is
    /// somebody to watch.
    fn walk(
        &self,
        store: &mut Store,
        reuse: bool,
        mut live: Option<&mut Live>,
    ) -> anyhow::Result<Scouting<Chosen>> {
        let factor = self.execution.plan.refined_factor();
        let factor = factor.map(|factor| &self.execution.plan.factors[factor]);
        let Some((factor, refine)) = factor.and_then(|factor| Some((factor, factor.refine?)))
        else {
            return Ok(Scouting::Unfinished);
        };
        let mut rounds = Rounds::default();
        let mut found: Vec<Bracket> = Vec::new();
        for _ in 0..MOST_ROUNDS {
            let plan = match self.plan_of(&rounds.amounts)? {
                Ok(plan) => plan,
                Err(problems) => return Ok(Scouting::Wrong(problems)),
            };
            let before = rounds.records.last().map(|record| record.started_at.as_str());
            let known = if reuse { finished(store, &plan, before)? } else { None };
            let record = match (known, &mut live) {
                (Some(record), _) => record,
                (None, None) => return Ok(Scouting::Unfinished),
                (None, Some(live)) => {
                    let wide = found.iter().filter(|one| !one.is_narrow(refine));
                    say(live, &plan, &factor.name, wide);
                    match self.round(&plan, &rounds, store, live)? {
                        Some(record) => record,
                        None => return Ok(Scouting::Unfinished),
                    }
                }
            };
            rounds.records.push(record);
            found = brackets(&rounds.records)?;
            rounds.latest = found.iter().filter_map(|one| one.middle(refine)).collect();
            sort(&mut rounds.latest);
            rounds.latest.retain(|one| !rounds.amounts.iter().any(|known| is_same(*known, *one)));
            if rounds.latest.is_empty() {
                break;
            }
            rounds.amounts.extend(&rounds.latest);
            sort(&mut rounds.amounts);
        }
        let of_file = factor.axis().unwrap_or_default();
        let mut amounts: Vec<f64> = found.iter().flat_map(|one| [one.from, one.to]).collect();
        amounts.retain(|one| !of_file.iter().any(|known| is_same(*known, *one)));
        sort(&mut amounts);
        let experiments = rounds.records.into_iter().map(|record| record.id);
        Ok(Scouting::Chosen(Chosen {
            scouted: Scouted { amounts, experiments: experiments.collect() },
            places: found,
        }))
    }

    /// Makes a round: the cells with its latest levels, or all cells of the first. `None` where the user stopped it.
    fn round(
        &self,
        plan: &Plan,
        rounds: &Rounds,
        store: &mut Store,
        live: &mut Live,
    ) -> anyhow::Result<Option<ExperimentRecord>> {
        let only = plan.refined_factor().filter(|_| !rounds.latest.is_empty()).map(|factor| {
            let amounts = plan.factors[factor].axis().unwrap_or_default();
            // Levels are rounded as they are written, and lie at least half of `refine` apart.
            let rounding = plan.factors[factor].refine.unwrap_or(0.0) / 4.0;
            let is_new = |arm: &plimsoll_plan::Arm| {
                let level = arm.levels.get(factor).map_or(0, |level| *level as usize);
                let amount = amounts.get(level);
                amount.is_some_and(|amount| {
                    rounds.latest.iter().any(|new| (new - amount).abs() < rounding)
                })
            };
            plan.arms.iter().map(is_new).collect::<Vec<bool>>()
        });
        let calibrations =
            rounds.records.last().into_iter().flat_map(|record| &record.calibrations);
        let execution = Execution {
            plan,
            only,
            calibrations: calibrations.cloned().collect(),
            fresh: false,
            ..self.execution.clone()
        };
        let ended = execute(&execution, store, live)?;
        if ended.interrupted {
            return Ok(None);
        }
        if ended.missing > 0 {
            // What is missing was measured in a round before, or failed: no later run will make it.
            store.finish(&ended.id, &now())?;
        }
        store.note_verdict(&ended.id, "chose levels, judges nothing")?;
        Ok(Some(store.load(&ended.id)?))
    }
}

/// The last experiment of a round's plan, if it is finished and was begun after the round before.
fn finished(
    store: &Store,
    plan: &Plan,
    before: Option<&str>,
) -> anyhow::Result<Option<ExperimentRecord>> {
    let Some((last, _)) = store.last_of_plan(&plan.hash(), &fingerprint())? else {
        return Ok(None);
    };
    let is_next = before.is_none_or(|before| last.started_at.as_str() >= before);
    Ok(match last.state == ExperimentState::Finished && is_next {
        true => Some(store.load(&last.id)?),
        false => None,
    })
}

fn fingerprint() -> String {
    Host::here().machine().fingerprint()
}

fn say<'b>(live: &mut Live, plan: &Plan, factor: &str, wide: impl Iterator<Item = &'b Bracket>) {
    let wide: Vec<String> = wide.map(|one| one.what.clone()).collect();
    let line = if wide.is_empty() {
        format!(
            "scouting for levels of {factor}: {} cells in {BLOCKS} blocks first",
            plan.arms.len()
        )
    } else {
        format!("scouting for levels of {factor}: looking where {}", list(&wide))
    };
    live.event(&Event::Note(&line));
}

/// Prints what was found, a line for each place, and returns the plan that follows.
fn describe(plan: Result<Plan, Problems>, chosen: &Chosen, live: &mut Live) -> Scouting<Box<Plan>> {
    let plan = match plan {
        Ok(plan) => plan,
        Err(problems) => return Scouting::Wrong(problems),
    };
    let Some(factor) = plan.refined_factor().map(|factor| &plan.factors[factor]) else {
        return Scouting::Chosen(Box::new(plan));
    };
    let name = &factor.name;
    if chosen.places.is_empty() {
        live.event(&Event::Note(&format!(
            "scouting found no place at which {name} changes anything"
        )));
    }
    let level = |amount: f64| {
        let is_it = |value: Option<f64>| value.is_some_and(|value| is_same(value, amount));
        let level = factor.levels.iter().find(|level| is_it(level.value));
        level.map_or("", |level| level.name.as_str())
    };
    for place in &chosen.places {
        live.event(&Event::Note(&format!(
            "scouting of {name}: between {} and {} {}",
            level(place.from),
            level(place.to),
            place.what
        )));
    }
    Scouting::Chosen(Box::new(plan))
}

/// Whether the experiment that these scouting experiments chose the levels of is finished.
fn is_over(plan: &Plan, scouted: &Scouted, store: &Store) -> anyhow::Result<bool> {
    let last = store.last_of_plan(&plan.hash(), &fingerprint())?;
    let (Some((last, _)), Some(first)) = (last, scouted.experiments.first()) else {
        return Ok(false);
    };
    let begun = store.head(first)?.started_at;
    Ok(last.state == ExperimentState::Finished && last.started_at > begun)
}

fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-6 * one.abs().max(other.abs())
}

fn sort(amounts: &mut Vec<f64>) {
    amounts.sort_by(f64::total_cmp);
    amounts.dedup_by(|one, other| is_same(*one, *other));
}
