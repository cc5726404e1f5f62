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
    /// Name of the collection in the file.
    pub collection: String,
    /// Name of the field that holds the date.
    pub field: String,
    /// From one document to the next, in milliseconds.
    pub every_ms: f64,
    /// The operations that insert, each with the number of documents that a call inserts; of a transaction or steps those of all statements.
    pub inserts: Vec<(OwnOperation, u32)>,
}

impl DocumentsSpec {
    /// The same description for a run that begins at this moment, as RFC 3339 writes it. `None` where no date depends on that.
    pub fn begun_at(&self, moment: &str) -> Option<Self> {
        let mut collections = self.collections.clone();
        let reading = SharedReading::default();
        anchor(&mut collections, moment).then(|| Self { collections, reading, ..self.clone() })
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
            for field in &collection.fields {
                if let Shape::Date(Number::Steps { step, .. }) = field.shape
                    && !inserts.is_empty()
                    && self.ends_now(&collection.name, &field.name)
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
            if !self.ends_now(&collection.name, path) {
                found.push((collection.name.to_string(), path.to_owned()));
            }
        }
        found
    }

    /// Whether a field is described as a date that ends when the run begins.
    fn ends_now(&self, collection: &str, field: &str) -> bool {
        let described = self.collections.get(collection);
        let date = described.and_then(|given| given.get("document")?.get(field)?.get("date"));
        date.is_some_and(|date| is_now(date.entries()))
    }
}

fn is_now(date: &[(String, Literal)]) -> bool {
    date.iter().any(|(key, until)| key == "until" && until.scalar().as_deref() == Some(NOW))
}

/// Writes the moment in place of `now`, and says whether there was any.
fn anchor(value: &mut Literal, moment: &str) -> bool {
    let mut is_changed = false;
    match value {
        Literal::Map(entries) => {
            for (key, inner) in entries {
                is_changed |= match inner {
                    Literal::Map(date) if key == "date" && is_now(date) => {
                        for (_, until) in date.iter_mut().filter(|(key, _)| key == "until") {
                            *until = Literal::Text(moment.into());
                        }
                        true
                    }
                    inner => anchor(inner, moment),
                };
            }
        }
        Literal::List(items) => {
            for item in items {
                is_changed |= anchor(item, moment);
            }
        }
        _ => {}
    }
    is_changed
}
