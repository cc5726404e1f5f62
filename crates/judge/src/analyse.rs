//! The way from a record to an analysis.

use crate::arm_samples::{ArmSamples, samples};
use crate::arms::arms;
use crate::comparison::comparisons;
use crate::curve::{curves, load_phase};
use crate::demanded::Demanded;
use crate::difference::{differences, pair_differences};
use crate::headline::headline;
use crate::select::Selection;
use crate::threshold::thresholds;
use crate::validity::validity;
use crate::{Analysis, Comparison, JudgeError, TimeSeries, TooFewUsable};
use plimsoll_plan::{PLAN_VERSION, Plan};
use plimsoll_record::{ExperimentRecord, Warning, WarningId};
use std::collections::BTreeMap;

/// Everything that follows from a record, finished or not.
pub fn analyse(record: &ExperimentRecord) -> Result<Analysis, JudgeError> {
    let plan = plan_of(record)?;
    let mut selection = Selection::of(record, &plan);
    let samples = samples(&selection, &plan, &record.calibrations);
    let differences = differences(&plan, &selection);
    let curves = curves(&plan, &samples);
    let paired = crate::imported::is_paired(&selection);
    let lines = crate::line::lines(&plan, &samples);
    let demanded = Demanded::of(&plan, &selection);
    let mut comparisons = comparisons(&plan, &samples, paired, demanded);
    comparisons.factors = crate::factors::factor_results(&plan, &samples, &mut comparisons.all);
    selection.progress.too_few_usable =
        too_few_usable(&plan, &selection, &comparisons.all, comparisons.factors.is_some());
    crate::because::explain(&mut comparisons.all, &curves, &lines);
    let application = crate::application::applications(&plan, &selection.finished);
    crate::application::explain(&mut comparisons.all, &plan, &application);

    let mut warnings = selection.warnings.clone();
    warnings.extend(crate::warnings::of_points(&plan, &samples));
    let runs = selection.finished.iter().flat_map(BTreeMap::values);
    warnings.extend(crate::warnings::of_runs(runs.flat_map(|run| &run.warnings)));
    warnings.extend(crate::difference::warnings(&plan, &differences, &selection));
    let finished = &selection.finished;
    warnings.extend(crate::application::warnings(&plan, finished, &application));
    warnings.extend(crate::application::clocks(&plan, finished));
    warnings.extend(crate::rig::working_sets(&plan, &selection));
    warnings.extend(crate::reached::warnings(&plan, &comparisons.all, &curves));
    warnings.extend(crate::line::warnings(&lines, &samples, &plan));
    warnings.extend(crate::cost::warning(&plan));
    let noise = crate::noise::noise(&plan, &selection, &samples);
    let controls = crate::controls::controls(&plan, &samples);
    warnings.extend(crate::controls::warnings(&plan, &controls));
    let duets = crate::duets::duets(&plan, &samples);
    warnings.extend(crate::duets::warnings(&duets, &selection));
    let drift = crate::drift::drift(&selection);
    warnings.extend(crate::drift::warnings(drift.as_ref()));
    warnings.extend(few_blocks(&plan, &selection));
    warnings.extend(crate::pauses::warnings(&selection));
    warnings.extend(crate::imported::unpaired(&plan, paired));
    let events = crate::events::events(&plan, &samples);
    warnings.extend(crate::events::warnings(&events));
    crate::warnings::sort(&mut warnings);
    let against_itself = crate::against_itself::against_itself(&plan, &comparisons.all);
    let gate = crate::gate::gate(&plan, &selection, demanded, &comparisons.all);
    let after_cuts = crate::events::after_power_cuts(&events);
    let mut validity =
        validity(&plan, &selection, &samples, &curves, &record.calibrations, &warnings);
    validity.extend(crate::drift::validity(drift.as_ref()));

    Ok(Analysis {
        id: record.id.clone(),
        name: record.name.clone(),
        question: record.question.clone(),
        headline: headline(
            &plan,
            &selection,
            &comparisons,
            &curves,
            &lines,
            [
                gate.as_ref().map(|gate| gate.sentence.as_str()),
                against_itself.as_ref().map(|one| one.sentence.as_str()),
                after_cuts.as_deref(),
            ],
            &warnings,
        )
        .into_iter()
        .chain(crate::events::headline(&events))
        .collect(),
        arms: arms(&plan, &selection, &samples, &record.calibrations),
        mixes: plan.mixes.iter().map(|mix| mix.name.clone()).collect(),
        validity,
        load_phase: load_phase(&plan, &samples),
        blocks_needed: crate::looks::blocks_needed(&plan, &comparisons.all),
        comparisons: comparisons.all,
        factors: comparisons.factors,
        thresholds: thresholds(&plan, &samples),
        pairs: pair_differences(&plan, &selection),
        costs: crate::cost::costs(&plan, &samples, &curves),
        lines,
        hosts: crate::hosts::hosts(&plan, &samples),
        repeatability: crate::repeatability::repeatability(&plan, &samples, &duets),
        noise,
        controls,
        duets,
        drift,
        application,
        against_itself,
        gate,
        progress: selection.progress,
        curves,
        differences,
        events,
        series: series(&plan, samples),
        warnings,
    })
}

/// The plan inside a record.
pub fn plan_of(record: &ExperimentRecord) -> Result<Plan, JudgeError> {
    let version = record.plan.get("version").and_then(serde_json::Value::as_u64);
    if let Some(found) = version
        && found > u64::from(PLAN_VERSION)
    {
        return Err(JudgeError::NewerPlan { id: record.id.clone(), found, known: PLAN_VERSION });
    }
    let bad = |reason: String| JudgeError::BadPlan { id: record.id.clone(), reason };
    let plan: Plan = serde::Deserialize::deserialize(&record.plan)
        .map_err(|error: serde_json::Error| bad(error.to_string()))?;
    if plan.arms.is_empty() {
        return Err(bad("it has no arm".into()));
    }
    Ok(plan)
}

/// Whether gates left fewer blocks than a verdict needs, of enough that were measured.
fn too_few_usable(
    plan: &Plan,
    selection: &Selection<'_>,
    comparisons: &[Comparison],
    has_factors: bool,
) -> Option<TooFewUsable> {
    let of = plan.blocks_of_a_pair(selection.progress.blocks_complete);
    let needed = u32::try_from(crate::pairing::fewest_blocks_to_judge(plan)).ok()?;
    if !crate::pairing::is_judged_by_blocks(plan, has_factors) || of < needed {
        return None;
    }
    let deciding = comparisons.iter().filter(|one| one.primary);
    let usable = deciding
        .map(|one| match &one.apart {
            Some((a, b)) => a.len().min(b.len()),
            // Disturbed blocks of a duet count too: both sides were measured.
            None => one.undisturbed.map_or(one.pairs.len(), |seen| seen.of as usize),
        })
        .max()?;
    let usable = u32::try_from(usable).ok()?;
    (usable < needed).then_some(TooFewUsable { usable, of, needed })
}

fn few_blocks(plan: &Plan, selection: &Selection<'_>) -> Option<Warning> {
    let complete = plan.blocks_of_a_pair(selection.progress.blocks_complete);
    let needed = crate::pairing::fewest_blocks_to_judge(plan);
    let is_few = usize::try_from(complete).is_ok_and(|complete| complete < needed);
    is_few.then(|| {
        Warning::new(WarningId::FewBlocks, "", format!("{complete} complete, {needed} are needed"))
    })
}

fn series(plan: &Plan, samples: Vec<ArmSamples>) -> Vec<TimeSeries> {
    let mut series = Vec::new();
    for (arm, of_arm) in plan.arms.iter().zip(samples) {
        let of_points = of_arm.points.into_iter().flatten();
        for sample in of_arm.load.into_iter().chain(of_points) {
            series.push(sample.into_series(&arm.name, plan));
        }
    }
    series
}
