//! What the server says of an application between two phases of a run: its collections, indexes, and the plans of its operations.
//!
//! `explain` comes in several forms. `queryPlanner` and `executionStats` stand at the top, or in the first stage of a pipeline (`stages[0].$cursor`), or once for each
//! shard; a plan of the slot-based engine has its stages one level lower, under `queryPlan`.

use super::collection::Namespace;
use super::connection::Connection;
use super::messages::words;
use super::server::number;
use mongodb::bson::{Bson, Document, doc};
use plimsoll_record::{ApplicationState, CollectionState, IndexState, OperationPlan, OwnOperation};

/// The longest that one command may run to be explained, in milliseconds.
const LONGEST_MS: i32 = 10_000;
/// Stages of a plan that are shown; more are cut off.
const MOST_STAGES: usize = 12;

/// The collections, and how the server carries out each operation; `samples` has commands of each, whole as they are measured.
pub(super) fn state(
    places: &[Namespace],
    connection: &Connection,
    samples: &[(OwnOperation, Vec<Vec<u8>>)],
) -> ApplicationState {
    let database = places.first().map_or("", |place| place.database.as_str());
    ApplicationState {
        collections: places.iter().map(|place| collection(place, connection)).collect(),
        operations: samples
            .iter()
            .map(|(operation, commands)| explain(*operation, commands, database, connection))
            .collect(),
    }
}

/// As far as the user may ask.
fn collection(place: &Namespace, connection: &Connection) -> CollectionState {
    let mut state =
        CollectionState { name: place.collection.clone(), ..CollectionState::default() };
    let Ok(sizes) = connection.command(&place.database, doc! { "collStats": &place.collection })
    else {
        return state;
    };
    let whole = |key| number(&sizes, key).unwrap_or(0) as u64;
    state.documents = whole("count");
    state.bytes = whole("size");
    state.stored_bytes = whole("storageSize");
    if let Ok(series) = sizes.get_document("timeseries") {
        // What was measured is not counted otherwise.
        let [measured, buckets] = ["numMeasurementsCommitted", "numBucketInserts"]
            .map(|key| number(series, key).unwrap_or(0));
        state.documents = measured as u64;
        state.measurements_per_bucket = (buckets > 0).then(|| measured as f64 / buckets as f64);
    }
    let pipeline = doc! {
        "aggregate": &place.collection, "pipeline": [{ "$indexStats": {} }], "cursor": {},
    };
    let used = connection.command(&place.database, pipeline).unwrap_or_default();
    let used = used.get_document("cursor").and_then(|cursor| cursor.get_array("firstBatch"));
    let used: Vec<&Document> = used.into_iter().flatten().filter_map(Bson::as_document).collect();
    let Ok(sizes) = sizes.get_document("indexSizes") else { return state };
    state.indexes = sizes
        .keys()
        .map(|name| {
            let of_index =
                used.iter().filter(|one| one.get_str("name").is_ok_and(|known| known == name));
            let uses = of_index.filter_map(|one| number(one.get_document("accesses").ok()?, "ops"));
            let uses: Vec<i64> = uses.collect();
            IndexState {
                name: name.clone(),
                bytes: number(sizes, name).unwrap_or(0) as u64,
                // A sharded collection has one entry for each shard.
                uses: (!uses.is_empty()).then(|| uses.iter().sum::<i64>() as u64),
            }
        })
        .collect();
    state
}

fn explain(
    operation: OwnOperation,
    commands: &[Vec<u8>],
    database: &str,
    connection: &Connection,
) -> OperationPlan {
    let mut plan = OperationPlan {
        operation,
        commands: 0,
        stages: Vec::new(),
        keys_examined: 0.0,
        documents_examined: 0.0,
        documents_found: 0.0,
        scans_collection: false,
        sorts: false,
        refused: None,
    };
    for command in commands {
        let answer = Document::from_reader(&command[..]).map_err(|error| error.to_string());
        let answer = answer.and_then(|mut command: Document| {
            // They decide when and where a command is answered, not how it finds its documents.
            for key in ["readConcern", "writeConcern", "$readPreference", "maxTimeMS"] {
                command.remove(key);
            }
            let explain = doc! {
                "explain": command, "verbosity": "executionStats", "maxTimeMS": LONGEST_MS,
            };
            connection.command(database, explain).map_err(|error| words(&error))
        });
        match answer {
            Ok(answer) => add(&mut plan, &Explained::of(&answer)),
            Err(message) => {
                plan.refused = Some(message);
                break;
            }
        }
    }
    let count = f64::from(plan.commands.max(1));
    plan.keys_examined /= count;
    plan.documents_examined /= count;
    plan.documents_found /= count;
    plan
}

fn add(plan: &mut OperationPlan, one: &Explained) {
    plan.commands += 1;
    plan.keys_examined += one.keys;
    plan.documents_examined += one.documents;
    plan.documents_found += one.found;
    plan.scans_collection |= one.stages.iter().any(|stage| stage.contains("COLLSCAN"));
    plan.sorts |= one.stages.iter().any(|stage| stage == "SORT" || stage == "$sort");
    let mut stages = one.stages.clone();
    if stages.len() > MOST_STAGES {
        stages.truncate(MOST_STAGES);
        stages.push("...".into());
    }
    let words = stages.join(" → ");
    if !plan.stages.contains(&words) {
        plan.stages.push(words);
    }
}

#[derive(Debug, Default, PartialEq)]
struct Explained {
    /// From the index or the collection upwards.
    stages: Vec<String>,
    keys: f64,
    documents: f64,
    found: f64,
}

impl Explained {
    fn of(answer: &Document) -> Self {
        let mut explained = Self::default();
        explained.add(answer);
        explained
    }

    fn add(&mut self, part: &Document) {
        if let Ok(shards) = part.get_document("shards") {
            for shard in documents(shards.iter().map(|(_, shard)| shard)) {
                self.add(shard);
            }
            return;
        }
        if let Ok(stages) = part.get_array("stages") {
            self.add_pipeline(stages);
            return;
        }
        if let Ok(planned) =
            part.get_document("queryPlanner").and_then(|all| all.get_document("winningPlan"))
        {
            self.add_stages(planned);
        }
        if let Ok(executed) = part.get_document("executionStats") {
            self.keys += real(executed, "totalKeysExamined");
            self.documents += real(executed, "totalDocsExamined");
            self.found += found(executed);
        }
    }

    /// A pipeline whose first stage reads, and whose last returns.
    fn add_pipeline(&mut self, stages: &[Bson]) {
        let stages: Vec<&Document> = documents(stages.iter()).collect();
        for stage in &stages {
            match stage.get_document("$cursor") {
                Ok(cursor) => {
                    self.add(cursor);
                    self.found = 0.0;
                }
                Err(_) => {
                    self.stages.extend(stage.keys().find(|key| key.starts_with('$')).cloned())
                }
            }
        }
        self.found += stages.last().map_or(0.0, |last| real(last, "nReturned"));
    }

    fn add_stages(&mut self, planned: &Document) {
        if let Ok(shards) = planned.get_array("shards") {
            for shard in documents(shards.iter()) {
                if let Ok(planned) = shard.get_document("winningPlan") {
                    self.add_stages(planned);
                }
            }
            return;
        }
        let root = planned.get_document("queryPlan").unwrap_or(planned);
        let stages = stages_of(root);
        // Shards mostly have the same plan.
        if !self.stages.ends_with(&stages) {
            self.stages.extend(stages);
        }
    }
}

/// A stage and those below it, the lowest first; side by side in parentheses.
fn stages_of(stage: &Document) -> Vec<String> {
    let mut own = stage.get_str("stage").unwrap_or("?").to_owned();
    if let Ok(index) = stage.get_str("indexName") {
        own = format!("{own} {index}");
    }
    let mut below: Vec<&Document> =
        ["inputStage", "outerStage", "thenStage", "elseStage", "innerStage"]
            .iter()
            .filter_map(|key| stage.get_document(*key).ok())
            .collect();
    below.extend(documents(stage.get_array("inputStages").into_iter().flatten()));
    match below.as_slice() {
        [] => vec![own],
        [only] => {
            let mut stages = stages_of(only);
            stages.push(own);
            stages
        }
        several => {
            let each: Vec<String> = several.iter().map(|one| stages_of(one).join(" → ")).collect();
            vec![format!("{own}({})", each.join("; "))]
        }
    }
}

/// How many documents it found: writes and counts return none, but say what they would have done.
fn found(executed: &Document) -> f64 {
    let shards = executed.get_document("executionStages").and_then(|root| root.get_array("shards"));
    if let Ok(shards) = shards {
        return documents(shards.iter()).map(found).sum();
    }
    let done = executed.get_document("executionStages").ok();
    let of_stage = |key| done.and_then(|stage| number(stage, key));
    let done = ["nMatched", "nWouldDelete", "nCounted"].into_iter().find_map(of_stage);
    done.map_or_else(|| real(executed, "nReturned"), |done| done as f64)
}

fn documents<'a>(values: impl Iterator<Item = &'a Bson>) -> impl Iterator<Item = &'a Document> {
    values.filter_map(Bson::as_document)
}

fn real(document: &Document, key: &str) -> f64 {
    number(document, key).unwrap_or(0) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(answer: &Document) -> (String, f64, f64, f64) {
        let Explained { stages, keys, documents, found } = Explained::of(answer);
        (stages.join(" → "), keys, documents, found)
    }

    fn by_index() -> Document {
        doc! {
            "stage": "LIMIT", "limitAmount": 10,
            "inputStage": { "stage": "FETCH", "inputStage": { "stage": "IXSCAN", "indexName": "customer_1" } },
        }
    }

    #[test]
    fn plans_are_told_from_the_index_upwards() {
        let executed = doc! {
            "nReturned": 10, "totalKeysExamined": 10, "totalDocsExamined": 10_i64,
            "executionStages": { "stage": "LIMIT", "nReturned": 10 },
        };
        let classic = doc! {
            "queryPlanner": { "winningPlan": by_index() }, "executionStats": executed.clone(),
        };
        let told = "IXSCAN customer_1 → FETCH → LIMIT";
        assert_eq!(stages(&classic), (told.into(), 10.0, 10.0, 10.0));
        let slots = doc! {
            "queryPlanner": { "winningPlan": { "queryPlan": by_index(), "slotBasedPlan": {} } },
            "executionStats": executed.clone(),
        };
        assert_eq!(stages(&slots), (told.into(), 10.0, 10.0, 10.0));
        let both = doc! {
            "queryPlanner": { "winningPlan": {
                "stage": "OR",
                "inputStages": [{ "stage": "IXSCAN", "indexName": "a_1" }, { "stage": "COLLSCAN" }],
            } },
        };
        assert_eq!(stages(&both).0, "OR(IXSCAN a_1; COLLSCAN)");
    }

    #[test]
    fn pipelines_return_what_their_last_stage_does() {
        let answer = doc! { "stages": [
            { "$cursor": {
                "queryPlanner": { "winningPlan": { "stage": "COLLSCAN" } },
                "executionStats": { "nReturned": 500, "totalKeysExamined": 0, "totalDocsExamined": 2_000 },
            }, "nReturned": 500_i64 },
            { "$group": { "_id": "$product" }, "nReturned": 12_i64 },
            { "$sort": { "sortKey": { "sold": -1 } }, "nReturned": 7_i64 },
        ] };
        assert_eq!(stages(&answer), ("COLLSCAN → $group → $sort".into(), 0.0, 2_000.0, 7.0));
    }

    #[test]
    fn writes_and_counts_found_what_they_would_have_changed() {
        for (stage, key, other) in [
            ("UPDATE", "nMatched", "nWouldModify"),
            ("DELETE", "nWouldDelete", "x"),
            ("COUNT", "nCounted", "x"),
        ] {
            let answer = doc! { "executionStats": {
                "nReturned": 0, "executionStages": { "stage": stage, key: 3, other: 1 },
            } };
            assert_eq!(stages(&answer).3, 3.0, "{stage}");
        }
    }

    #[test]
    fn shards_are_added_up() {
        let of_shard = |found: i32| {
            doc! { "executionStages": { "stage": "FETCH", "nReturned": found }, "nReturned": found }
        };
        let answer = doc! {
            "queryPlanner": { "winningPlan": { "stage": "SHARD_MERGE", "shards": [
                { "winningPlan": by_index() }, { "winningPlan": by_index() },
            ] } },
            "executionStats": {
                "nReturned": 5, "totalKeysExamined": 6, "totalDocsExamined": 6,
                "executionStages": { "stage": "SHARD_MERGE", "shards": [of_shard(2), of_shard(3)] },
            },
        };
        assert_eq!(stages(&answer), ("IXSCAN customer_1 → FETCH → LIMIT".into(), 6.0, 6.0, 5.0));
        let apart = doc! { "shards": {
            "a": { "queryPlanner": { "winningPlan": { "stage": "COLLSCAN" } }, "executionStats": { "nReturned": 1, "totalDocsExamined": 9 } },
            "b": { "queryPlanner": { "winningPlan": { "stage": "COLLSCAN" } }, "executionStats": { "nReturned": 2, "totalDocsExamined": 8 } },
        } };
        assert_eq!(stages(&apart), ("COLLSCAN".into(), 0.0, 17.0, 3.0));
    }
}
