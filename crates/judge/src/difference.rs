//! What differs between the arms: what the file says, and everything else that the runs themselves report.

use crate::Difference;
use crate::select::Selection;
use plimsoll_experiment::{Arm, Order, Plan};
use plimsoll_record::{RunRecord, Warning, WarningId};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Places in the order are random, so that an arm may hold the same one in a few blocks by chance; in this many it is said.
const BLOCKS_BY_CHANCE: usize = 4;
/// What no two runs have in common.
const OF_THE_RUN: [&str; 2] = ["storage.directory", "storage.free_bytes"];

/// One arm with the runs that count. Reports call it by its label.
pub(crate) struct Seen<'a> {
    pub(crate) label: String,
    pub(crate) arm: &'a Arm,
    pub(crate) runs: Vec<&'a RunRecord>,
}

/// Everything that differs between the arms of one plan, declared factors first, then by name.
pub(crate) fn differences(plan: &Plan, selection: &Selection<'_>) -> Vec<Difference> {
    let mut seen = Vec::with_capacity(plan.arms.len());
    for (arm, runs) in plan.arms.iter().zip(&selection.finished) {
        seen.push(Seen {
            label: arm.name.clone(),
            arm,
            runs: runs.values().copied().collect(),
        });
    }
    let mut differences = between(&seen);
    differences.extend(place_in_block(plan, selection));
    differences
}

/// Everything that differs between arms, of one plan or of several. An arm without runs has nothing to report.
pub(crate) fn between(seen: &[Seen<'_>]) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (what, values) in table(
        seen.iter()
            .map(|one| (one.label.clone(), declared(one.arm))),
    ) {
        differences.push(Difference {
            what,
            values,
            declared: true,
        });
    }
    let declared: BTreeSet<String> = differences.iter().map(|one| one.what.clone()).collect();
    let other_engine = declared.contains("engine");
    let other_settings = seen.iter().any(|one| {
        one.arm
            .settings
            .0
            .keys()
            .any(|name| declared.contains(name))
    });

    let with_runs = seen.iter().filter(|one| !one.runs.is_empty());
    let mut found = Vec::new();
    for (what, values) in table(with_runs.map(|one| (one.label.clone(), reported(&one.runs)))) {
        let said_already = match what.split_once('.') {
            Some(("settings", name)) => other_engine || declared.contains(name),
            // The engine's notes restate its settings in its own words.
            Some(("engine", "version")) => false,
            Some(("engine", _)) => other_engine || other_settings,
            _ => false,
        };
        if !said_already {
            // Another engine has another version, another directory may lie on another disk: that much was declared.
            let follows = (other_engine && what == "engine.version")
                || (declared.contains("directory") && what.starts_with("storage."));
            found.push(Difference {
                what,
                values,
                declared: follows,
            });
        }
    }
    differences.append(&mut found);
    differences.sort_by_key(|difference| !difference.declared);
    differences
}

/// Warnings about what was found by looking, and about runs of one experiment made under different conditions.
pub(crate) fn warnings(differences: &[Difference], selection: &Selection<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for difference in differences {
        if !difference.declared {
            let mut parts = Vec::new();
            for (arm, value) in &difference.values {
                parts.push(format!("{value} for {arm}"));
            }
            warnings.push(Warning::new(
                WarningId::OtherDifference,
                &difference.what,
                parts.join(", "),
            ));
        }
    }
    let mut machines = BTreeSet::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for run in selection.finished.iter().flat_map(BTreeMap::values) {
        machines.insert(run.machine.fingerprint());
        if let Some(engine) = &run.engine {
            versions
                .entry(&engine.name)
                .or_default()
                .insert(&engine.version);
        }
    }
    if machines.len() > 1 {
        let machines: Vec<String> = machines.into_iter().collect();
        warnings.push(Warning::new(
            WarningId::MixedMachines,
            "machine",
            machines.join("; "),
        ));
    }
    for (engine, versions) in versions {
        if versions.len() > 1 {
            let versions: Vec<&str> = versions.into_iter().collect();
            warnings.push(Warning::new(
                WarningId::MixedMachines,
                engine,
                format!("versions {}", versions.join(", ")),
            ));
        }
    }
    warnings
}

/// The factors alone, for each arm by its index.
pub(crate) fn factors(plan: &Plan) -> Vec<BTreeMap<String, String>> {
    let mut factors = vec![BTreeMap::new(); plan.arms.len()];
    for (what, values) in table(
        plan.arms
            .iter()
            .map(|arm| (arm.name.clone(), declared(arm))),
    ) {
        for (of_arm, (_, value)) in factors.iter_mut().zip(values) {
            of_arm.insert(what.clone(), value);
        }
    }
    factors
}

/// Rows of which not all values are equal: (what, (arm, value) in the order of the arms).
fn table(
    described: impl Iterator<Item = (String, BTreeMap<String, String>)>,
) -> Vec<(String, Vec<(String, String)>)> {
    let described: Vec<(String, BTreeMap<String, String>)> = described.collect();
    let names: BTreeSet<&String> = described
        .iter()
        .flat_map(|(_, values)| values.keys())
        .collect();
    let mut rows = Vec::new();
    for name in names {
        let value = |(arm, values): &(String, BTreeMap<String, String>)| {
            (
                arm.clone(),
                values
                    .get(name)
                    .cloned()
                    .unwrap_or_else(|| "not set".into()),
            )
        };
        let values: Vec<(String, String)> = described.iter().map(value).collect();
        if values.windows(2).any(|pair| pair[0].1 != pair[1].1) {
            rows.push((name.clone(), values));
        }
    }
    rows
}

/// An arm as the file has it.
fn declared(arm: &Arm) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    flatten("data", &arm.data, &mut values);
    values.insert("engine".into(), arm.engine.clone());
    for (setting, value) in &arm.settings.0 {
        values.insert(setting.clone(), value.to_string());
    }
    if let Some(directory) = &arm.directory {
        values.insert("directory".into(), directory.display().to_string());
    }
    values
}

/// What the runs of an arm report: each value that occurred, in words.
fn reported(runs: &[&RunRecord]) -> BTreeMap<String, String> {
    let mut occurred: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for run in runs {
        let mut values = BTreeMap::new();
        flatten("machine", &run.machine, &mut values);
        if let Some(storage) = &run.storage {
            flatten("storage", storage, &mut values);
        }
        if let Some(engine) = &run.engine {
            values.insert(
                "engine.version".into(),
                format!("{} {}", engine.name, engine.version),
            );
            flatten("engine", &engine.notes, &mut values);
            flatten("settings", &engine.settings, &mut values);
        }
        values.retain(|what, _| !OF_THE_RUN.contains(&what.as_str()));
        for (what, value) in values {
            occurred.entry(what).or_default().insert(value);
        }
    }
    let in_words = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join(" or ");
    occurred
        .into_iter()
        .map(|(what, values)| (what, in_words(values)))
        .collect()
}

/// Every field of a value under a dotted name; absent fields are left out.
fn flatten(name: &str, value: &impl Serialize, into: &mut BTreeMap<String, String>) {
    if let Ok(value) = serde_json::to_value(value) {
        flatten_json(name, &value, into);
    }
}

fn flatten_json(name: &str, value: &serde_json::Value, into: &mut BTreeMap<String, String>) {
    match value {
        serde_json::Value::Null => {}
        serde_json::Value::Object(fields) => {
            for (field, value) in fields {
                flatten_json(&format!("{name}.{field}"), value, into);
            }
        }
        serde_json::Value::String(text) => {
            into.insert(name.into(), text.clone());
        }
        other => {
            into.insert(name.into(), other.to_string());
        }
    }
}

/// An arm that always came at the same place of its block may owe its numbers to that.
fn place_in_block(plan: &Plan, selection: &Selection<'_>) -> Option<Difference> {
    if plan.arms.len() < 2 {
        return None;
    }
    let telling = match plan.measurement.order {
        Order::Shuffled => BLOCKS_BY_CHANCE,
        Order::AsWritten => 2,
    };
    let mut always = false;
    let mut values = Vec::new();
    for (arm, runs) in plan.arms.iter().zip(&selection.finished) {
        let places: BTreeSet<u64> = runs
            .values()
            .map(|run| u64::from(run.position) + 1)
            .collect();
        always |= runs.len() >= telling && places.len() == 1;
        let places: Vec<String> = places.iter().map(u64::to_string).collect();
        values.push((arm.name.clone(), places.join(" or ")));
    }
    always.then(|| Difference {
        what: "place in the block".into(),
        values,
        declared: false,
    })
}
