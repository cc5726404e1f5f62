//! What arms choose of collections, and how two descriptions differ.

use crate::documents::literal::{Literal, index_keys, index_name};
use crate::documents::operation::loosen_expiring;
use crate::documents::read::{DocumentProblem, Reading};
use crate::documents::{Documents, DocumentsSpec, SharedReading};
use plimsoll_record::quantities::numbers::three_digits;

/// What arms may choose of a collection.
const CHOICES: [&str; 3] = ["indexes", "options", "expire_after"];

impl DocumentsSpec {
    /// The same documents and operations with other indexes and options of some collections: `{orders: {indexes: []}}`. Fields are shared with this
    /// description.
    ///
    /// # Errors
    /// Everything that is wrong with the changes, and operations that hint at an index which is no longer there.
    pub fn with_choices(&self, choices: &Literal) -> Result<Self, Vec<DocumentProblem>> {
        let mut documents = Documents::clone(self.read().map_err(Clone::clone)?);
        let mut collections = self.collections.clone();
        let mut reading = Reading::new(self.seed);
        reading.path.push("collections".into());
        for (name, given) in choices.entries() {
            let known = documents.collections.iter_mut().find(|known| *known.name == **name);
            let described = described(&mut collections, name);
            let (Some(collection), Some(described)) = (known, described) else {
                let names = self.collection_names().join(", ");
                reading.at(name, |reading| {
                    let what = format!("there is no collection `{name}`; there are {names}");
                    reading.wrong::<()>(what)
                });
                continue;
            };
            reading.path.push(name.clone());
            reading.only_choices(given);
            reading.choices(given, collection);
            for key in CHOICES {
                if let Some(value) = given.get(key) {
                    described.retain(|(known, _)| known != key);
                    described.push((key.into(), value.clone()));
                }
            }
            reading.path.pop();
        }
        loosen_expiring(&mut documents.operations, &documents.collections);
        reading.path = vec!["operations".into()];
        // Where indexes could not be read, none would be found.
        if reading.problems.is_empty() {
            for own in &documents.operations {
                let name = own.operation.name();
                let Some(given) = self.operations.get(name) else { continue };
                reading.path.push(name.into());
                let word = own.operation.kind().word();
                match given.get(word) {
                    Some(Literal::List(items)) => {
                        reading.path.push(word.into());
                        for (number, (item, part)) in items.iter().zip(&own.parts).enumerate() {
                            reading.path.push(number.to_string());
                            reading.hint(item, &documents.collections[part.collection]);
                            reading.path.pop();
                        }
                        reading.path.pop();
                    }
                    _ => reading.hint(given, &documents.collections[own.collection]),
                }
                reading.path.pop();
            }
        }
        match reading.problems.is_empty() {
            true => Ok(Self {
                seed: self.seed,
                collections,
                operations: self.operations.clone(),
                reading: SharedReading::of(documents),
            }),
            false => Err(reading.problems),
        }
    }

    /// The same with other numbers of documents, in the same proportion, so that they have this many bytes of BSON together; with three digits.
    ///
    /// # Errors
    /// Everything that is wrong with it then, such as more values than documents.
    pub fn sized(&self, bytes: f64) -> Result<Self, Vec<DocumentProblem>> {
        let factor = bytes / self.size().1.max(1.0);
        let read = self.read().map_err(Clone::clone)?;
        let mut collections = self.collections.clone();
        for collection in &read.collections {
            let wanted = collection.records as f64 * factor;
            let records = three_digits(wanted).max(1.0);
            if let Some(described) = described(&mut collections, &collection.name) {
                for (_, given) in described.iter_mut().filter(|(key, _)| key == "records") {
                    *given = Literal::Int(records as i64);
                }
            }
        }
        let sized = Self { collections, reading: SharedReading::default(), ..self.clone() };
        match sized.problems() {
            problems if problems.is_empty() => Ok(sized),
            problems => Err(problems),
        }
    }

    /// Everything that it says, piece by piece in the notation of experiment files: what it is, such as `indexes of orders`, and its value. It says the same as
    /// another description where all pieces are equal.
    pub fn parts(&self) -> Vec<(String, String)> {
        let mut parts = vec![("seed of the documents".to_owned(), self.seed.to_string())];
        for (name, given) in self.collections.entries() {
            for key in ["records", "document", "time_series", "expire_after"] {
                let value = given.get(key).map_or_else(|| "none".into(), Literal::to_string);
                parts.push((format!("{key} of {name}"), value));
            }
            parts.push((format!("indexes of {name}"), indexes_in_words(given)));
            parts.push((format!("options of {name}"), options_in_words(given)));
        }
        for (name, given) in self.operations.entries() {
            parts.push((format!("operation {name}"), given.to_string()));
        }
        parts
    }

    /// What arms may choose of a collection, in words; `None` where there is no such collection.
    pub fn choices_in_words(&self, collection: &str) -> Option<Vec<(&'static str, String)>> {
        let given = self.collections.get(collection)?;
        let mut words =
            vec![("indexes", indexes_in_words(given)), ("options", options_in_words(given))];
        let after = given.get("expire_after");
        words.extend(after.map(|after| ("expire_after", after.to_string())));
        Some(words)
    }
}

impl Reading {
    /// Reports what an arm cannot choose.
    fn only_choices(&mut self, given: &Literal) {
        if !matches!(given, Literal::Map(_) | Literal::Null) {
            self.wrong::<()>("a map with `indexes` or `options`, such as `{indexes: []}`");
        }
        for (key, _) in given.entries() {
            let what = match key.as_str() {
                known if CHOICES.contains(&known) => continue,
                "records" | "document" => format!(
                    "`{key}` is the same for all arms and belongs to `workload.collections`; arms may differ in `indexes`, `options` and `expire_after`"
                ),
                _ => format!("there is no key `{key}` here; there are {}", CHOICES.join(", ")),
            };
            self.at(key, |reading| reading.wrong::<()>(what));
        }
    }
}

/// The entries of a collection.
fn described<'a>(
    collections: &'a mut Literal,
    name: &str,
) -> Option<&'a mut Vec<(String, Literal)>> {
    let Literal::Map(entries) = collections else {
        return None;
    };
    let (_, collection) = entries.iter_mut().find(|(known, _)| known == name)?;
    if let Literal::Map(entries) = collection { Some(entries) } else { None }
}

fn indexes_in_words(collection: &Literal) -> String {
    match collection.get("indexes") {
        None => "none besides _id".into(),
        Some(Literal::List(items)) if items.is_empty() => "none besides _id".into(),
        Some(Literal::List(items)) => {
            items.iter().map(index_in_words).collect::<Vec<_>>().join(", ")
        }
        Some(other) => other.to_string(),
    }
}

fn index_in_words(index: &Literal) -> String {
    let (keys, is_long) = index_keys(index);
    if !is_long {
        return index_name(keys);
    }
    let properties = index.entries().iter().filter(|(key, _)| key != "keys");
    let properties: Vec<String> =
        properties.map(|(key, value)| format!("{key}: {value}")).collect();
    match properties.is_empty() {
        true => index_name(keys),
        false => format!("{} ({})", index_name(keys), properties.join(", ")),
    }
}

fn options_in_words(collection: &Literal) -> String {
    let options = collection.get("options").filter(|options| !options.entries().is_empty());
    options.map_or_else(|| "none".into(), Literal::to_string)
}
