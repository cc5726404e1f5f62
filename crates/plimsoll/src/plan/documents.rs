//! `plimsoll plan --documents`: what an application's collections hold, and what its operations send.

use crate::exit::{Exit, NoExperiment};
use crate::screen::{print, print_json};
use plimsoll_plan::Plan;
use plimsoll_record::quantities::words::{bytes, grouped};
use serde_json::json;

/// The most documents of a collection that are shown.
const MOST: u64 = 1_000;

/// Prints this many documents of each collection, and one command of each operation.
pub fn show(plan: &Plan, examples: u64, as_json: bool) -> anyhow::Result<Exit> {
    let Some(spec) = plan.arms.iter().find_map(|arm| arm.data.documents.as_ref()) else {
        let words = format!("{} has no collections", plan.name);
        let why = anyhow::anyhow!(
            "its records and operations are those of YCSB; `workload: {{collections: ...}}` describes documents of your own"
        );
        return Err(why.context(NoExperiment(words)));
    };
    let begun = spec.begun_at(&jiff::Timestamp::now().to_string());
    let spec = begun.as_ref().unwrap_or(spec);
    let (collections, operations) = spec.notes(examples.min(MOST));
    if as_json {
        print_json(&json!({ "collections": collections, "operations": operations }))?;
        return Ok(Exit::Good);
    }
    for collection in &collections {
        let choices = choices(plan, &collection.name);
        let shared = match choices.as_slice() {
            [(_, words)] => format!(", {words}"),
            _ => String::new(),
        };
        print(format_args!(
            "{}: {} documents of {} on average{shared}\n",
            collection.name,
            grouped(collection.documents as f64, 0),
            bytes(collection.mean_bytes),
        ))?;
        if shared.is_empty() {
            for (arms, words) in &choices {
                print(format_args!("  {}: {words}\n", arms.join(", ")))?;
            }
        }
        for example in &collection.examples {
            print(format_args!("  {example}\n"))?;
        }
        print(format_args!("\n"))?;
    }
    for note in &operations {
        let (name, kind) = (note.operation.name(), note.operation.kind().word());
        print(format_args!("{name}: {kind} on {}, {}\n", note.collection, note.verified))?;
        print(format_args!("  {}\n", note.example))?;
    }
    Ok(Exit::Good)
}

/// What arms chose of a collection: each set of them once, with the arms that have it.
fn choices<'a>(plan: &'a Plan, collection: &str) -> Vec<(Vec<&'a str>, String)> {
    let mut found: Vec<(Vec<&str>, String)> = Vec::new();
    for arm in &plan.arms {
        let documents = arm.data.documents.as_ref();
        let Some(chosen) = documents.and_then(|documents| documents.choices_in_words(collection))
        else {
            continue;
        };
        let chosen = chosen.iter().filter(|(key, words)| *key != "options" || words != "none");
        let words: Vec<String> = chosen.map(|(key, words)| format!("{key} {words}")).collect();
        let words = words.join(", ");
        match found.iter_mut().find(|(_, known)| *known == words) {
            Some((arms, _)) => arms.push(&arm.name),
            None => found.push((vec![&arm.name], words)),
        }
    }
    found
}
