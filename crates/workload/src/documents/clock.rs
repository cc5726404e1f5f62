//! Dates that end when a run begins (`until: now`), and go on with each inserted document.

use crate::documents::field::{Number, Shape};
use crate::documents::literal::Literal;
use crate::documents::operation::OwnStatement;
use crate::documents::read::NOW;
use crate::documents::{DocumentsSpec, SharedReading};
use plimsoll_record::OwnOperation;

/// A date of a collection that begins at the present time, and how fast it goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct DataClock {
    /// Name of the collection.
    pub collection: String,
    /// Name of the field.
    pub field: String,
    /// From one document to the next, in milliseconds.
    pub every_ms: f64,
    /// The operations that insert, each with the number of documents that a call inserts; of a transaction those of all its statements.
    pub inserts: Vec<(OwnOperation, u32)>,
}

impl DocumentsSpec {
    /// The same description for a run that begins at this moment, as RFC 3339 writes it. `None` where no date depends on that.
    pub fn begun_at(&self, moment: &str) -> Option<Self> {
        let mut collections = self.collections.clone();
        let mut is_changed = false;
        anchor(&mut collections, moment, &mut is_changed);
        is_changed.then(|| Self { collections, reading: SharedReading::default(), ..self.clone() })
    }

    /// Whether dates end when each run begins.
    pub fn follows_clock(&self) -> bool {
        self.begun_at(NOW).is_some()
    }

    /// Dates that begin at the present time, of collections into which operations insert.
    pub fn clocks(&self) -> Vec<DataClock> {
        let Ok(read) = self.read() else {
            return Vec::new();
        };
        let mut clocks = Vec::new();
        for (index, collection) in read.collections.iter().enumerate() {
            let of_one = |own: &OwnStatement| {
                let parts = own.statements().iter().filter(|part| part.collection == index);
                (own.operation, parts.map(|part| part.inserts).sum())
            };
            let inserts: Vec<_> =
                read.operations.iter().map(of_one).filter(|(_, count)| *count > 0).collect();
            let described = self.collections.get(&collection.name);
            let described = described.and_then(|given| given.get("document"));
            for field in &collection.fields {
                let generator = described.and_then(|document| document.get(&field.name));
                let date = generator.and_then(|generator| generator.get("date"));
                if let Shape::Date(Number::Steps { step, .. }) = field.shape
                    && !inserts.is_empty()
                    && date.is_some_and(is_now)
                {
                    clocks.push(DataClock {
                        collection: collection.name.to_string(),
                        field: field.name.to_string(),
                        every_ms: step,
                        inserts: inserts.clone(),
                    });
                }
            }
        }
        clocks
    }

    /// Collections from which documents expire by a date that does not follow the clock: the collection and the field.
    pub fn expiring_by_fixed_dates(&self) -> Vec<(String, String)> {
        let Ok(read) = self.read() else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for collection in &read.collections {
            let Some(path) = collection.expires_by() else { continue };
            let described = self.collections.get(&collection.name);
            let generator = described.and_then(|given| given.get("document")?.get(path));
            if !generator.and_then(|given| given.get("date")).is_some_and(is_now) {
                found.push((collection.name.to_string(), path.to_owned()));
            }
        }
        found
    }
}

fn is_now(date: &Literal) -> bool {
    date.get("until").and_then(Literal::scalar).as_deref() == Some(NOW)
}

fn anchor(value: &mut Literal, moment: &str, is_changed: &mut bool) {
    match value {
        Literal::Map(entries) => {
            for (key, inner) in entries {
                match inner {
                    Literal::Map(date) if key == "date" && is_now(&Literal::Map(date.clone())) => {
                        for (_, until) in date.iter_mut().filter(|(key, _)| key == "until") {
                            *until = Literal::Text(moment.into());
                        }
                        *is_changed = true;
                    }
                    inner => anchor(inner, moment, is_changed),
                }
            }
        }
        Literal::List(items) => items.iter_mut().for_each(|item| anchor(item, moment, is_changed)),
        _ => {}
    }
}
