//! `workload.collections` and `workload.operations`: the documents and operations of an application. What they mean is read by `plimsoll_workload`; here each of its
//! problems gets its line.

use crate::Collector;
use crate::document::{Field, Kind, Node, Span, Value, join};
use crate::elements::arm::{ArmValue, ReadArm};
use crate::elements::working_set::usable_cache;
use crate::elements::workload::{PATH, WorkloadReader, amount};
use crate::keys::arm::arm as arm_keys;
use crate::keys::workload::workload;
use crate::mistake::Mistake;
use crate::origins::written;
use crate::table::*;
use plimsoll_plan::words::working_set_words;
use plimsoll_plan::{EngineKind, SettingValue, Settings, WorkingSet};
use plimsoll_record::OwnOperation;
use plimsoll_record::quantities::units;
use plimsoll_workload::documents::{DocumentProblem, DocumentsSpec, Literal};
use plimsoll_workload::{DataSpec, Mix};

/// Keys of YCSB's records and operations, which have no meaning beside collections.
const OF_YCSB: [&Key; 7] = [
    workload::fields,
    workload::key_order,
    workload::zero_padding,
    workload::data_integrity,
    workload::insert_start,
    workload::insert_count,
    workload::table,
];

impl WorkloadReader<'_, '_> {
    /// The data of an application. `None` where there are no collections, or something is wrong with them.
    pub(crate) fn documents(&mut self) -> Option<DataSpec> {
        let (collections, operations) =
            (self.workload.field(workload::collections), self.workload.field(workload::operations));
        let (collections, operations) = match (collections, operations) {
            (None, None) => return None,
            (Some(collections), Some(operations)) => (collections, operations),
            (Some(alone), None) | (None, Some(alone)) => {
                let what = "`collections` say what is stored and `operations` what is measured: write both";
                let what = what.to_owned();
                let path = join(PATH, &alone.key);
                self.problems.add(&path, Some(alone.key_place), Mistake::Workload { what });
                return None;
            }
        };
        for key in OF_YCSB {
            if let Some(field) = self.workload.field(key) {
                let what = format!(
                    "`{}` describes YCSB's records: leave it out beside `collections`",
                    key.name
                );
                self.problems.add(
                    &key.under(PATH),
                    Some(field.key_place),
                    Mistake::Workload { what },
                );
            }
        }
        let of = |key: &Key| {
            let entries = self.node.map(Node::entries).unwrap_or_default();
            entries.iter().find(|entry| entry.key == key.name).map(|entry| literal(&entry.value))
        };
        let spec =
            DocumentsSpec::new(self.seed, of(workload::collections)?, of(workload::operations)?);
        let problems = spec.problems();
        for problem in &problems {
            report(self.problems, (PATH, self.node), &problem.path, problem.what.clone());
        }
        for (key, field, names) in [
            (workload::collections, collections, spec.collection_names()),
            (workload::operations, operations, spec.operation_names()),
        ] {
            self.origins.add_file(&key.under(PATH), names.join(", "), field.checked.place);
        }
        problems.is_empty().then(|| DataSpec::with_documents(spec))
    }

    /// A mix of an application's operations.
    pub(crate) fn own_mix(
        &mut self,
        path: &str,
        field: &Field,
        known: &[OwnOperation],
    ) -> Option<Mix> {
        let mut mix = Mix::named(&field.key);
        for weight in field.checked.fields() {
            let operation = known.iter().find(|own| own.name() == weight.key);
            let Some(operation) = operation else {
                let valid = known.iter().map(|own| own.name().to_owned()).collect();
                let mistake = Mistake::UnknownKey { key: weight.key.clone(), valid };
                self.problems.add(path, Some(weight.key_place), mistake);
                continue;
            };
            let number = weight.checked.number()?;
            let words = written(&crate::keys::mix::WEIGHT, &SettingValue::Number(number));
            self.origins.add_file(&join(path, &weight.key), words, weight.checked.place);
            mix.operations.push((*operation, number));
        }
        Some(mix)
    }

    /// The data of an arm whose workload has collections: documents and operations are the same for all arms, indexes, options and the size of all may differ.
    pub(crate) fn documents_of(
        &mut self,
        base: &DataSpec,
        arm: &ReadArm,
        engine: &EngineKind,
        settings: &Settings,
    ) -> Option<(DataSpec, Option<WorkingSet>)> {
        if let Some(given) = arm.get(arm_keys::records) {
            let what = "each collection has its own `records`: write `size: 6GB` or `working_set: 200%` for all of them, in their proportion";
            self.wrong_in_arm(given, what.to_owned());
            return None;
        }
        if engine.name == "wiredtiger" {
            let what = "documents of an application need a server, whose query planner is part of what is measured: write `engine: mongodb` for the arms";
            self.problems.add(PATH, Some(self.key_place), Mistake::Workload { what: what.into() });
            return None;
        }
        let (sized, set) = self.sized(base.documents.as_ref()?, arm, engine, settings)?;
        let base = &match sized {
            Some(documents) => DataSpec::with_documents(documents),
            None => base.clone(),
        };
        let Some(given) = arm.get(arm_keys::collections) else {
            return Some((base.clone(), set));
        };
        if matches!(given.checked.value, Value::Wrong) {
            return None;
        }
        let documents = self.chosen(base.documents.as_ref()?, arm, given)?;
        for entry in given.node.entries() {
            let words = documents.choices_in_words(&entry.key).into_iter().flatten();
            let path = join(&arm_keys::collections.under(&arm.path()), &entry.key);
            for (key, words) in words {
                if let Some(written) = entry.value.entries().iter().find(|one| one.key == key) {
                    self.origins.add_file(&join(&path, key), words, written.key_place);
                }
            }
        }
        Some((DataSpec { documents: Some(documents), ..base.clone() }, set))
    }

    /// The documents in the size that the arm or the workload gives for all of them, where one does, and how it follows from the cache.
    fn sized(
        &mut self,
        base: &DocumentsSpec,
        arm: &ReadArm,
        engine: &EngineKind,
        settings: &Settings,
    ) -> Option<(Option<DocumentsSpec>, Option<WorkingSet>)> {
        let Some((key, checked, _)) = amount(arm, self.workload) else {
            return Some((None, None));
        };
        let place = checked.place;
        let (documents, bytes) = base.size();
        let (wanted, set) = if key == workload::working_set.name {
            let share = checked.number()?;
            let usable = match usable_cache(engine, settings) {
                Ok(usable) => usable,
                Err(mistake) => {
                    self.problems.add(&workload::working_set.under(PATH), Some(place), mistake);
                    return None;
                }
            };
            let bytes_per_record = bytes / documents.max(1) as f64;
            let set =
                WorkingSet { share, usable_cache_bytes: usable.round() as u64, bytes_per_record };
            (share * usable, Some(set))
        } else {
            (checked.whole()? as f64, None)
        };
        let known = self.sizes.iter().find(|(known, _)| *known == wanted);
        let sized = match known {
            Some((_, sized)) => sized.clone(),
            None => {
                let sized = base.sized(wanted);
                self.sizes.push((wanted, sized.clone()));
                for DocumentProblem { path, what } in sized.as_ref().err().into_iter().flatten() {
                    let what = format!("with {} in all, {what}", units::size(wanted as u64));
                    report(self.problems, (PATH, self.node), path, what);
                }
                sized
            }
        };
        let sized = sized.ok()?;
        let records = sized.size().0;
        let words = match &set {
            Some(set) => working_set_words(records, set),
            None => format!("{records} ({})", units::size(wanted as u64)),
        };
        self.origins.add_file(&arm_keys::records.under(&arm.path()), words, place);
        Some((Some(sized), set))
    }

    /// The documents with what an arm chooses of collections. Each choice is read once, however many arms make it.
    fn chosen(
        &mut self,
        base: &DocumentsSpec,
        arm: &ReadArm,
        given: &ArmValue,
    ) -> Option<DocumentsSpec> {
        let names = base.collection_names();
        let mut is_known = true;
        for entry in given.node.entries().iter().filter(|entry| !names.contains(&entry.key)) {
            is_known = false;
            let mistake = Mistake::UnknownKey { key: entry.key.clone(), valid: names.clone() };
            self.problems.add(&given.path, Some(entry.key_place), mistake);
        }
        if !is_known {
            return None;
        }
        let choices = (base.size().0, literal(&given.node));
        let known = self.choices.iter().position(|(known, _)| *known == choices);
        let index = known.unwrap_or_else(|| {
            self.choices.push((choices.clone(), base.with_choices(&choices.1)));
            self.choices.len() - 1
        });
        let problems = match &self.choices[index].1 {
            Ok(documents) => return Some(documents.clone()),
            Err(problems) => problems,
        };
        for DocumentProblem { path, what } in problems {
            let (collections, operations) = (workload::collections.name, workload::operations.name);
            if path.first().is_some_and(|first| first == collections) {
                let of_arm = (given.path.as_str(), Some(&given.node));
                report(self.problems, of_arm, &path[1..], what.clone());
            } else if known.is_none() && path.first().is_some_and(|first| first == operations) {
                // A hint at an index that the arm does not have.
                let what = format!("in the arm {}, {what}", arm.name);
                report(self.problems, (PATH, self.node), path, what);
            }
        }
        None
    }

    /// Refuses what an arm chooses of collections, where the workload has none. Says whether it did.
    pub(crate) fn refuses_choices(&mut self, arm: &ReadArm) -> bool {
        let Some(given) = arm.get(arm_keys::collections) else {
            return false;
        };
        let what = "the workload has no `collections`: write them there, with documents and operations, before arms choose their indexes";
        self.wrong_in_arm(given, what.to_owned());
        true
    }

    fn wrong_in_arm(&mut self, given: &ArmValue, what: String) {
        self.problems.add(&given.path, Some(given.checked.place), Mistake::Workload { what });
    }
}

/// Reports a problem at the place to which keys lead from a node of the file.
fn report(
    problems: &mut Collector<'_>,
    (from, node): (&str, Option<&Node>),
    keys: &[String],
    what: String,
) {
    let place = node.map(|node| place_of(node, keys));
    let path = keys.iter().fold(from.to_owned(), |path, key| join(&path, key));
    problems.add(&path, place, Mistake::Workload { what });
}

/// A value as it was written.
fn literal(node: &Node) -> Literal {
    match &node.kind {
        Kind::Null => Literal::Null,
        Kind::Scalar(text) => Literal::of_scalar(text, node.quoted),
        Kind::List(items) => Literal::List(items.iter().map(literal).collect()),
        Kind::Map(entries) => Literal::Map(
            entries.iter().map(|entry| (entry.key.clone(), literal(&entry.value))).collect(),
        ),
    }
}

/// Where keys lead, or as far as they lead: the place of the last key, of an item that of its value.
fn place_of(node: &Node, path: &[String]) -> Span {
    let (mut node, mut place) = (node, node.place);
    for key in path {
        if let Some(entry) = node.entries().iter().find(|entry| entry.key == *key) {
            (node, place) = (&entry.value, entry.key_place);
        } else if let (Kind::List(items), Ok(index)) = (&node.kind, key.parse::<usize>())
            && let Some(item) = items.get(index)
        {
            (node, place) = (item, item.place);
        } else {
            break;
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{SourceText, read};
    use plimsoll_workload::documents::yaml_scalar;
    use proptest::prelude::*;

    fn read_back(text: &str) -> Literal {
        let text = format!("value: {text}");
        let source = SourceText::new(&text);
        let mut problems = Collector::new(&source);
        let node = read(&text, &mut problems);
        assert!(problems.is_empty(), "{}", problems.finish("value.yaml"));
        literal(&node.unwrap().entries()[0].value)
    }

    #[test]
    fn what_looks_like_something_else_is_quoted() {
        for text in [
            "", "no", "Yes", "NULL", "~", "12", "-1", "1e5", "1_000", "0x1f", ".5", "a b", "a: b",
            "a,b", "[a", "it's", "#a", "- a", "%a", "*a", "&a", "!a", "|", "?", "<<", "a\nb",
            "\u{feff}",
        ] {
            let written = yaml_scalar(text);
            assert!(written.starts_with(['\'', '"']), "{written}");
            assert_eq!(read_back(&written), Literal::Text(text.into()));
        }
        for text in
            ["paid", "2M", "15s", "60%", "2026-06-30", "<range.from>", "$set", "a.b", "größe"]
        {
            assert_eq!(yaml_scalar(text), text);
            assert_eq!(read_back(text), Literal::Text(text.into()));
        }
    }

    fn any_literal() -> impl Strategy<Value = Literal> {
        // What files are full of more often than other characters.
        let text = prop_oneof![".{0,12}", "[a-z0-9 .:,'\"#\\[\\]{}$<>_~\n-]{0,8}"];
        let key = text.clone().prop_filter("merge keys are refused", |key| key != "<<");
        let leaf = prop_oneof![
            Just(Literal::Null),
            any::<bool>().prop_map(Literal::Bool),
            any::<i64>().prop_map(Literal::Int),
            proptest::num::f64::NORMAL.prop_map(Literal::Double),
            text.prop_map(Literal::Text),
        ];
        leaf.prop_recursive(3, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Literal::List),
                prop::collection::btree_map(key.clone(), inner, 0..4)
                    .prop_map(|map| Literal::Map(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_comes_back(value in any_literal()) {
            prop_assert_eq!(read_back(&value.to_string()), value);
        }
    }
}
