//! From shapes to the lines of `operations` and `mixes`.

use crate::statement::{collection, collection_key};
use crate::{Observed, Shape, Stored};
use plimsoll_record::quantities::numbers::{ASCII, round_significant};
use plimsoll_workload::documents::{DocumentsSpec, Literal, MOST_OPERATIONS, yaml_scalar};
use std::collections::HashMap;

/// Shapes with less than this share of both time and calls are left out.
const LEAST_SHARE: f64 = 0.001;
/// Longer operations are broken into several lines.
const MOST_COLUMNS: usize = 160;

const PREFERENCE: &str = "read_preference";

/// Lines of an experiment file, without the indentation of what they stand in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    pub operations: Vec<String>,
    /// What stands below the name of a mix.
    pub mix: Vec<String>,
    pub needs_replica_set: bool,
    pub reads_from_secondaries: bool,
    /// What is left out, each with its share and the reason.
    pub omitted: Vec<String>,
}

/// Writes the operations that make up most of the server's time.
pub fn write(observed: &Observed) -> Section {
    let mut section = Section::default();
    let sum = |of: fn(&Shape) -> u64| observed.shapes.iter().map(of).sum::<u64>().max(1) as f64;
    let totals =
        ObservedTotals { micros: sum(|shape| shape.micros), calls: sum(|shape| shape.calls) };
    let (rare, frequent): (Vec<&Shape>, Vec<&Shape>) = observed
        .shapes
        .iter()
        .partition(|shape| totals.time(shape) < LEAST_SHARE && totals.calls(shape) < LEAST_SHARE);
    let mut waiting = Vec::new();
    for shape in frequent {
        match &shape.unfit {
            Some(why) => section.omitted.push(totals.omitted(shape, why)),
            None => waiting.push(shape),
        }
    }
    waiting.sort_by_key(|shape| std::cmp::Reverse(shape.micros));
    let mut chosen: Vec<Shape> = Vec::new();
    while chosen.len() < MOST_OPERATIONS && !waiting.is_empty() {
        let room = (MOST_OPERATIONS - chosen.len()).min(waiting.len());
        let next: Vec<Shape> = waiting.drain(..room).map(|one| fitted(one, observed)).collect();
        let refused = refused(&next, &observed.collections);
        for shape in next {
            match refused.get(&shape.name) {
                Some(why) => section.omitted.push(totals.omitted(&shape, why)),
                None => chosen.push(shape),
            }
        }
    }
    let full = format!("a file has {MOST_OPERATIONS} operations at most");
    section.omitted.extend(waiting.into_iter().map(|shape| totals.omitted(shape, &full)));
    if !rare.is_empty() {
        let share =
            |of: &dyn Fn(&Shape) -> f64| ASCII.percent(rare.iter().map(|one| of(one)).sum());
        section.omitted.push(format!(
            "{} operations with less than 0.1 % of time and calls each: {} of the server's time, {} of the calls",
            rare.len(),
            share(&|shape| totals.time(shape)),
            share(&|shape| totals.calls(shape)),
        ));
    }
    let calls: u64 = chosen.iter().map(|shape| shape.calls).sum();
    for shape in chosen {
        section.needs_replica_set |= needs_replica_set(&shape.operation);
        section.reads_from_secondaries |= shape.operation.get(PREFERENCE).is_some();
        section.operations.extend(totals.comments(&shape));
        section.operations.extend(lines(&shape.name, &shape.operation));
        let weight = round_significant(shape.calls as f64 / calls as f64 * 100.0, 2);
        section.mix.push(format!("{}: {weight}%", yaml_scalar(&shape.name)));
    }
    section
}

struct ObservedTotals {
    micros: f64,
    calls: f64,
}

impl ObservedTotals {
    fn time(&self, shape: &Shape) -> f64 {
        shape.micros as f64 / self.micros
    }

    fn calls(&self, shape: &Shape) -> f64 {
        shape.calls as f64 / self.calls
    }

    fn omitted(&self, shape: &Shape, why: &str) -> String {
        let time = ASCII.percent(self.time(shape));
        format!("{}: {time} of the server's time, left out: {why}", shape.name)
    }

    fn comments(&self, shape: &Shape) -> Vec<String> {
        let (calls, time) = (ASCII.count(shape.calls), ASCII.percent(self.time(shape)));
        let plural = if shape.calls == 1 { "" } else { "s" };
        let mut comments = vec![format!("# {calls} call{plural}, {time} of the server's time")];
        let statements = shape.statements.median;
        if statements > 1.0 && shape.operation.get("transaction").is_none() {
            comments.push(format!(
                "# commands had {statements} statements each; here each statement is a command"
            ));
        }
        comments.extend(shape.remarks.iter().map(|remark| format!("# {remark}")));
        comments
    }
}

/// The shape with ranges that are not longer than its collection, which may be smaller here than where it was observed.
fn fitted(shape: &Shape, observed: &Observed) -> Shape {
    let collections = &observed.collections;
    let mut shape = shape.clone();
    if let Literal::Map(entries) = &mut shape.operation
        && observed.server.members < 2
    {
        // Without secondaries it changes nothing.
        entries.retain(|(key, _)| key != PREFERENCE);
    }
    let name = collection(&shape.operation);
    let stored = collections.iter().find(|stored| collection_key(stored, collections) == name);
    if let (Some(stored), Literal::Map(entries)) = (stored, &mut shape.operation)
        && let Some((_, Literal::Map(with))) = entries.iter_mut().find(|(key, _)| key == "with")
    {
        let described =
            with.iter_mut().filter(|(_, described)| described.get("range_of").is_some());
        for (_, described) in described {
            if let Literal::Map(keys) = described
                && let Some((_, Literal::Int(length))) =
                    keys.iter_mut().find(|(key, _)| key == "documents")
            {
                *length = (*length).min(stored.documents as i64).max(1);
            }
        }
    }
    shape
}

/// Names of the operations that the file's own check refuses beside these collections, each with the reason.
fn refused(shapes: &[Shape], collections: &[Stored]) -> HashMap<String, String> {
    let named = |stored| (collection_key(stored, collections), described(stored));
    let all = Literal::Map(collections.iter().map(named).collect());
    let operations = shapes.iter().map(|shape| (shape.name.clone(), shape.operation.clone()));
    let spec = DocumentsSpec::new(1, all, Literal::Map(operations.collect()));
    let mut refused = HashMap::new();
    for problem in spec.problems() {
        if let [section, name, keys @ ..] = problem.path.as_slice()
            && section == "operations"
        {
            let keys = keys.iter().map(|key| format!("`{key}`: ")).collect::<String>();
            refused.entry(name.clone()).or_insert(format!("{keys}{}", problem.what));
        }
    }
    refused
}

fn described(stored: &Stored) -> Literal {
    let fields = stored.fields.iter();
    let fields = fields.filter_map(|field| Some((field.path.clone(), field.generator.clone()?)));
    let mut entries = vec![
        ("records".into(), Literal::Int(stored.documents.max(1) as i64)),
        ("document".into(), Literal::Map(fields.collect())),
        (
            "indexes".into(),
            Literal::List(stored.indexes.iter().map(|index| index.spec.clone()).collect()),
        ),
    ];
    entries.extend(stored.settings.iter().cloned());
    Literal::Map(entries)
}

fn needs_replica_set(operation: &Literal) -> bool {
    let level = operation.get("read_concern").and_then(Literal::scalar);
    let members = operation.get("write_concern").map(|concern| concern.get("w").unwrap_or(concern));
    operation.get("transaction").is_some()
        || level.is_some_and(|level| level == "snapshot" || level == "linearizable")
        || matches!(members, Some(Literal::Int(members)) if *members > 1)
}

/// An operation on one line, or on one for each of its keys where it is long.
fn lines(name: &str, operation: &Literal) -> Vec<String> {
    let name = yaml_scalar(name);
    let whole = format!("{name}: {}", operation);
    if whole.chars().count() <= MOST_COLUMNS {
        return vec![whole];
    }
    let mut lines = vec![format!("{name}:")];
    for (key, value) in operation.entries() {
        match value {
            Literal::List(items) if !items.is_empty() => {
                lines.push(format!("  {key}:"));
                lines.extend(items.iter().map(|item| format!("    - {}", item)));
            }
            Literal::Map(entries) if key == "with" => {
                lines.push(format!("  {key}:"));
                let line = |(name, value): &(String, Literal)| {
                    format!("    {}: {}", yaml_scalar(name), value)
                };
                lines.extend(entries.iter().map(line));
            }
            value => lines.push(format!("  {key}: {}", value)),
        }
    }
    lines
}
