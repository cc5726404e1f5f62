//! Measuring path: no allocation, lock, log or formatting here once the buffers have grown; templates are made before.
//!
//! Commands with holes: what is always the same is BSON already, and what differs from one operation to the next is written between.

use crate::documents::bson;
use crate::documents::field::{Field, Pick};
use crate::documents::literal::Literal;
use crate::documents::read::{Collection, Reading};
use crate::mix::RequestDistribution;
use crate::stream::Stream;
use std::ops::Range;
use std::sync::Arc;

/// How deep documents may lie inside each other.
const MOST_DEPTH: usize = 40;

/// A command with its holes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Template {
    constants: Vec<u8>,
    pieces: Vec<Piece>,
    depth: usize,
}

#[derive(Clone, Debug)]
enum Piece {
    /// A range of the bytes that never change.
    Bytes(Range<usize>),
    /// A document or list begins.
    Open,
    Close,
    /// The value of a parameter.
    Parameter {
        name: Box<[u8]>,
        parameter: usize,
        part: Part,
    },
    /// A new value of a field.
    New {
        name: Box<[u8]>,
        field: Arc<Field>,
        records: u64,
    },
    /// The documents that are inserted, as items of a list. Fields at these places get other values, which are the same in all documents of the command.
    Documents {
        without: Box<[bool]>,
        values: Box<Template>,
    },
}

/// Which value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    /// The ends of a range.
    From,
    To,
}

/// A parameter of an operation.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// Where the field is in a document, such as `address.city`; empty for new values.
    pub(crate) path: String,
    pub(crate) field: Arc<Field>,
    pub(crate) drawn: Drawn,
    /// The collection of the field.
    pub(crate) collection: usize,
    pub(crate) keys: RequestDistribution,
}

/// Among how many values that no document has one is drawn.
pub(crate) const ABSENT_VALUES: u64 = 1_000;

/// How the value of a parameter is found.
#[derive(Clone, Debug)]
pub(crate) enum Drawn {
    /// One of the values of the field.
    Value,
    /// The value of a document of the collection.
    Document,
    /// The values of a document and of the one this many documents later; with `newest` the last documents that certainly exist.
    Range {
        documents: u64,
        newest: bool,
    },
    /// The value of the document this many before the newest one, or of the first.
    Before {
        documents: u64,
    },
    /// One that no document has: its pick is at least this.
    Absent {
        from: u64,
    },
    New {
        records: u64,
    },
}

/// What an operation was drawn for.
pub(crate) struct Draws<'a> {
    pub(crate) parameters: &'a [Parameter],
    /// For each parameter the pick of its field.
    pub(crate) picks: &'a [u64],
    /// Documents that are inserted: the number of the first, the step from one to the next, and how many.
    pub(crate) first: u64,
    pub(crate) step: u64,
    pub(crate) inserts: u32,
    pub(crate) collection: &'a Collection,
}

/// A new value: of a known number of values one by its share, else one that is drawn freely.
#[inline]
pub(crate) fn new_pick(field: &Field, records: u64, stream: &mut Stream) -> u64 {
    match &field.pick {
        Pick::Finite(finite) => finite.value_of(stream.below(records)),
        Pick::Free | Pick::Unique => stream.bits(),
    }
}

impl Template {
    fn bytes(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let from = self.constants.len();
        write(&mut self.constants);
        let to = self.constants.len();
        match self.pieces.last_mut() {
            Some(Piece::Bytes(last)) if last.end == from => last.end = to,
            _ => self.pieces.push(Piece::Bytes(from..to)),
        }
    }

    pub(crate) fn open(&mut self) {
        self.depth += 1;
        self.pieces.push(Piece::Open);
    }

    pub(crate) fn close(&mut self) {
        self.depth -= 1;
        self.pieces.push(Piece::Close);
    }

    /// Adds elements at the end of a whole command.
    pub(crate) fn add(&mut self, write: impl FnOnce(&mut Self)) {
        self.pieces.pop();
        write(self);
        self.pieces.push(Piece::Close);
    }

    /// Begins a document or list that is an element.
    pub(crate) fn open_element(&mut self, kind: u8, name: &str) {
        self.bytes(|out| bson::name(kind, name.as_bytes(), out));
        self.open();
    }

    pub(crate) fn constant(&mut self, name: &str, value: &Literal) {
        self.bytes(|out| value.write(name.as_bytes(), out));
    }

    pub(crate) fn parameter(&mut self, name: &str, parameter: usize, part: Part) {
        self.pieces.push(Piece::Parameter { name: name.as_bytes().into(), parameter, part });
    }

    pub(crate) fn new_value(&mut self, name: &str, field: &Arc<Field>, records: u64) {
        let (name, field) = (name.as_bytes().into(), Arc::clone(field));
        self.pieces.push(Piece::New { name, field, records });
    }

    pub(crate) fn documents(&mut self, name: &str, without: Box<[bool]>, values: Self) {
        self.open_element(bson::ARRAY, name);
        self.pieces.push(Piece::Documents { without, values: Box::new(values) });
        self.close();
    }

    /// A literal in which texts such as `<name>` stand for parameters.
    pub(crate) fn literal(
        &mut self,
        name: &str,
        value: &Literal,
        parameters: &[Parameter],
        reading: &mut Reading,
    ) {
        match value {
            Literal::Text(text) if hole(text).is_some() => {
                let hole = hole(text).unwrap_or_default();
                let (known, part) = match hole.split_once('.') {
                    Some((known, "from")) => (known, Part::From),
                    Some((known, "to")) => (known, Part::To),
                    _ => (hole, Part::Whole),
                };
                let found = parameters.iter().position(|parameter| parameter.name == known);
                let Some(found) = found else {
                    reading.wrong::<()>(format!(
                        "`<{hole}>` is no parameter: define it under `with`, such as `with: {{{known}: {{value_of: FIELD}}}}`"
                    ));
                    return;
                };
                let is_range = matches!(parameters[found].drawn, Drawn::Range { .. });
                if is_range != (part != Part::Whole) {
                    reading.wrong::<()>(format!(
                        "a range has `<{known}.from>` and `<{known}.to>`, other parameters have neither"
                    ));
                    return;
                }
                self.parameter(name, found, part);
            }
            Literal::List(items) if has_hole(value) => {
                self.open_element(bson::ARRAY, name);
                for (index, item) in items.iter().enumerate() {
                    let index = index.to_string();
                    reading.at(&index.clone(), |reading| {
                        self.literal(&index, item, parameters, reading);
                        Some(())
                    });
                }
                self.close();
            }
            Literal::Map(entries) if has_hole(value) => {
                self.open_element(bson::DOCUMENT, name);
                for (key, item) in entries {
                    reading.at(key, |reading| {
                        self.literal(key, item, parameters, reading);
                        Some(())
                    });
                }
                self.close();
            }
            constant => self.constant(name, constant),
        }
    }

    pub(crate) fn render(&self, draws: &Draws<'_>, stream: &mut Stream, out: &mut Vec<u8>) {
        let mut open = [0; MOST_DEPTH];
        let mut depth = 0;
        for piece in &self.pieces {
            match piece {
                Piece::Bytes(range) => out.extend_from_slice(&self.constants[range.clone()]),
                Piece::Open => {
                    open[depth] = bson::begin(out);
                    depth += 1;
                }
                Piece::Close => {
                    depth -= 1;
                    bson::end(open[depth], out);
                }
                Piece::Parameter { name, parameter, part } => {
                    let Parameter { field, drawn, .. } = &draws.parameters[*parameter];
                    let mut pick = draws.picks[*parameter];
                    if let (Part::To, Drawn::Range { documents, .. }) = (part, drawn) {
                        pick += documents;
                    }
                    field.write_as(name, pick, out);
                }
                Piece::New { name, field, records } => {
                    field.write_as(name, new_pick(field, *records, stream), out);
                }
                Piece::Documents { without, values } => {
                    for index in 0..draws.inserts {
                        bson::index_name(bson::DOCUMENT, index, out);
                        let number = draws.first + u64::from(index) * draws.step;
                        let at = bson::begin(out);
                        for (field, left_out) in draws.collection.fields.iter().zip(without) {
                            if !left_out {
                                field.write(number, out);
                            }
                        }
                        values.render(draws, stream, out);
                        bson::end(at, out);
                    }
                }
            }
        }
    }
}

fn hole(text: &str) -> Option<&str> {
    text.strip_prefix('<')?.strip_suffix('>').filter(|name| !name.is_empty())
}

fn has_hole(value: &Literal) -> bool {
    match value {
        Literal::Text(text) => hole(text).is_some(),
        Literal::List(items) => items.iter().any(has_hole),
        Literal::Map(entries) => entries.iter().any(|(_, value)| has_hole(value)),
        _ => false,
    }
}

/// The names of all parameters that an operation uses.
pub(crate) fn parameters_of(operation: &Literal, into: &mut Vec<String>) {
    for key in ["filter", "change", "pipeline", "sort", "project", "values"] {
        if let Some(value) = operation.get(key) {
            parameters_in(value, into);
        }
    }
}

/// The names of all parameters in a value.
fn parameters_in(value: &Literal, into: &mut Vec<String>) {
    match value {
        Literal::Text(text) => {
            into.extend(hole(text).map(|name| name.split('.').next().unwrap_or(name).to_owned()));
        }
        Literal::List(items) => items.iter().for_each(|item| parameters_in(item, into)),
        Literal::Map(entries) => entries.iter().for_each(|(_, item)| parameters_in(item, into)),
        _ => {}
    }
}
