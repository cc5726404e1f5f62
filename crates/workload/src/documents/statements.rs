//! Measuring path: no allocation, lock, log or formatting here once the buffers have grown.
//!
//! Operations drawn one after the other, and the load that comes before them.

use crate::ask::{Ask, Expected, Growth, NewDocuments, Statement};
use crate::chooser::{KeyChooser, Keys};
use crate::documents::field::{Field, Pick};
use crate::documents::operation::{Known, OwnStatement, expected};
use crate::documents::template::{Drawn, Draws, new_pick};
use crate::documents::{Documents, DocumentsSpec, Finite, bson};
use crate::inserted::Records;
use crate::mix::Mix;
use crate::problem::{Problem, WorkloadError, Wrong};
use crate::schedule::Share;
use crate::stream::Stream;
use plimsoll_record::{OwnOperation, StatementKind};
use std::sync::Arc;

/// Documents among which the next one with a field is looked for.
const NEAR: usize = 64;

/// Operations with whole commands of each.
pub type OperationSamples = Vec<(OwnOperation, Vec<Vec<u8>>)>;

/// The collections of a database, with the documents that are in them now.
#[derive(Debug)]
pub(crate) struct DocumentSpace {
    pub(crate) documents: Arc<Documents>,
    present: Vec<Records>,
    /// Whether operations insert into each collection.
    grows: Vec<bool>,
}

impl DocumentSpace {
    pub(crate) fn new(spec: &DocumentsSpec, share: Share) -> Result<Self, WorkloadError> {
        let documents = spec.read().map_err(|_| WorkloadError::Impossible {
            problems: vec![Problem { field: "documents", wrong: Wrong::Empty }],
        })?;
        Ok(Self::of(Arc::clone(documents), share))
    }

    pub(crate) fn of(documents: Arc<Documents>, share: Share) -> Self {
        let records = documents.collections.iter();
        let present = records.map(|collection| Records::new(collection.records, share)).collect();
        let inserts = |collection| {
            let mut operations = documents.operations.iter();
            operations.any(|own| own.inserts > 0 && own.collection == collection)
        };
        let grows = (0..documents.collections.len()).map(inserts).collect();
        Self { documents, present, grows }
    }

    /// Documents of a collection that are certain to be there.
    #[cfg(test)]
    pub(crate) fn acknowledged(&self, collection: usize) -> u64 {
        self.present[collection].limit()
    }

    /// Commands of each operation of `mixes` that can be explained, which inserts cannot, drawn as for measuring.
    pub(crate) fn samples(
        self: &Arc<Self>,
        mixes: &[Mix],
        stream: &mut Stream,
        count: u32,
    ) -> Result<OperationSamples, WorkloadError> {
        let mut samples = Vec::new();
        for (index, own) in self.documents.operations.iter().enumerate() {
            let is_named = |mix: &&Mix| {
                mix.operations
                    .iter()
                    .any(|(known, weight)| *known == own.operation && *weight > 0.0)
            };
            let Some(mix) = mixes.iter().find(is_named) else { continue };
            if own.inserts > 0 {
                continue;
            }
            let mut desk = StatementDesk::new(self, mix)?;
            let turn = std::cell::Cell::new(0);
            let next = || turn.replace(turn.get() + 1);
            let command = |_| desk.draw(index, stream, next).command.to_vec();
            samples.push((own.operation, (0..count).map(command).collect()));
        }
        Ok(samples)
    }

    /// To be called once for the documents of each insert, when it has ended.
    #[inline]
    pub(crate) fn acknowledge(&self, new: NewDocuments) {
        for number in new.first..new.first + u64::from(new.count) {
            self.present[usize::from(new.collection)].acknowledge_own(number);
        }
    }
}

/// The operations of a mix, by their weights.
#[derive(Clone, Debug)]
struct Weighted {
    /// Draws of 63 bits below a number belong to its operation.
    ends: Vec<(u64, usize)>,
}

impl Weighted {
    fn new(mix: &Mix, documents: &Documents) -> Self {
        const ALL: f64 = (1_u64 << 63) as f64;
        let total: f64 = mix.operations.iter().map(|(_, weight)| weight).sum();
        let (mut sum, mut ends) = (0.0, Vec::new());
        for (operation, weight) in &mix.operations {
            let known = documents.operations.iter().position(|own| own.operation == *operation);
            if let Some(index) = known.filter(|_| *weight > 0.0) {
                sum += weight;
                ends.push(((sum / total * ALL) as u64, index));
            }
        }
        if let Some(last) = ends.last_mut() {
            last.0 = 1 << 63;
        }
        Self { ends }
    }

    #[inline]
    fn draw(&self, stream: &mut Stream) -> usize {
        let drawn = stream.bits() >> 1;
        let mut at = 0;
        while self.ends[at].0 <= drawn {
            at += 1;
        }
        self.ends[at].1
    }
}

/// One session's way of drawing operations.
#[derive(Clone, Debug)]
pub(crate) struct StatementDesk {
    space: Arc<DocumentSpace>,
    weighted: Weighted,
    /// For each operation, one for each parameter.
    choosers: Vec<Vec<Option<KeyChooser>>>,
    /// Place of each operation among those of the mix.
    slots: Vec<u8>,
    picks: Vec<u64>,
    command: Vec<u8>,
}

impl StatementDesk {
    /// # Errors
    /// When a distribution is impossible for the documents there are.
    pub(crate) fn new(space: &Arc<DocumentSpace>, mix: &Mix) -> Result<Self, WorkloadError> {
        let Documents { collections, operations } = &*space.documents;
        let mut choosers = Vec::new();
        let mut most = 0;
        for own in operations {
            let mut of_operation = Vec::new();
            for (parameter, keys) in own.parameters.iter().zip(&own.keys) {
                let records = collections[own.collection].records;
                let count = match (&parameter.drawn, &parameter.field.pick) {
                    (Drawn::New { .. }, _) => {
                        of_operation.push(None);
                        continue;
                    }
                    (Drawn::Value, Pick::Finite(finite)) => finite.values(),
                    (Drawn::Range { documents }, _) => records - documents + 1,
                    _ => records,
                };
                let mix = Mix { request_distribution: *keys, ..Mix::named(&mix.name) };
                let keys = Keys { first: 0, count, present: count, expected: 0 };
                let chooser = KeyChooser::new(&mix, keys);
                of_operation
                    .push(Some(chooser.map_err(|problem| WorkloadError::Impossible {
                        problems: vec![problem],
                    })?));
            }
            most = most.max(of_operation.len());
            choosers.push(of_operation);
        }
        let slot = |operation: OwnOperation| {
            let place = mix.operations.iter().position(|(own, _)| *own == operation);
            place.unwrap_or(0) as u8
        };
        Ok(Self {
            weighted: Weighted::new(mix, &space.documents),
            slots: operations.iter().map(|own| slot(own.operation)).collect(),
            choosers,
            picks: vec![0; most],
            command: Vec::with_capacity(4_096),
            space: Arc::clone(space),
        })
    }

    /// The next operation, drawn from `stream`; `turn` numbers the turns of sequential keys.
    #[inline]
    pub(crate) fn next(&mut self, stream: &mut Stream, turn: impl FnMut() -> u64) -> Ask<'_> {
        let index = self.weighted.draw(stream);
        Ask::Statement(self.draw(index, stream, turn))
    }

    /// The operation at this place of the file, with parameters from `stream`.
    #[inline]
    pub(crate) fn draw(
        &mut self,
        index: usize,
        stream: &mut Stream,
        mut turn: impl FnMut() -> u64,
    ) -> Statement<'_> {
        let Self { space, choosers, slots, picks, command, .. } = self;
        let own = &space.documents.operations[index];
        let collection = &space.documents.collections[own.collection];
        let present = &space.present[own.collection];
        let limit = present.limit();
        for (at, parameter) in own.parameters.iter().enumerate() {
            let chooser = choosers[index][at].as_mut();
            let draw =
                |present| chooser.map_or(0, |chooser| chooser.draw(present, &mut turn, stream));
            picks[at] = match (&parameter.drawn, &parameter.field.pick) {
                (Drawn::New { records }, _) => new_pick(&parameter.field, *records, stream),
                (Drawn::Value, Pick::Finite(finite)) => draw(finite.values()),
                (Drawn::Range { documents }, _) => draw(collection.records - documents + 1),
                _ => parameter.field.pick(holder(&parameter.field, present, draw(limit))),
            };
        }
        let (inserted, numbers) = if own.inserts > 0 {
            let first = present.take_own(own.inserts);
            let new = NewDocuments { collection: own.collection as u8, first, count: own.inserts };
            (Some(new), present.numbers(first))
        } else {
            (None, (0, 1))
        };
        let grows = space.grows[own.collection];
        let own_picks = &picks[..own.parameters.len()];
        let wanted = expected(own, own_picks, collection.records, present.bounds(grows));
        let growth = if grows { growth(own, own_picks, present) } else { None };
        let draws = Draws {
            parameters: &own.parameters,
            picks,
            first: numbers.0,
            step: numbers.1,
            inserts: own.inserts,
            collection,
        };
        command.clear();
        own.template.render(&draws, stream, command);
        Statement {
            operation: own.operation,
            slot: slots[index],
            command,
            limit: own.limit,
            expected: wanted,
            units: 1,
            inserted,
            growth,
        }
    }
}

/// The number of a document that has the field: the drawn one, or another near it.
#[inline]
fn holder(field: &Field, present: &Records, drawn: u64) -> u64 {
    let number = present.certain(drawn);
    match &field.present {
        Some(has) if has.value_of(number) != 1 => other_holder(has, present, drawn),
        _ => number,
    }
}

/// The next document that has a field, if it is near, else any that was there from the start.
fn other_holder(has: &Finite, present: &Records, drawn: u64) -> u64 {
    let near = (drawn + 1..present.limit()).take(NEAR).map(|number| present.certain(number));
    let mut holders = near.filter(|number| has.value_of(*number) == 1);
    match holders.next() {
        Some(number) => number,
        None if has.count(1) > 0 => has.member(1, drawn),
        None => drawn,
    }
}

/// How many more documents an operation may find when others are inserted before it is answered.
#[inline]
fn growth<'a>(own: &'a OwnStatement, picks: &[u64], records: &'a Records) -> Option<Growth<'a>> {
    let Known::Having { parameter, most } = own.known else {
        return None;
    };
    match &own.parameters[parameter].field.pick {
        Pick::Finite(finite) => {
            Some(Growth { records, finite, value: picks[parameter], limit: most })
        }
        Pick::Free | Pick::Unique => None,
    }
}

/// The load: commands that insert documents, one collection after the other.
#[derive(Clone, Debug)]
pub(crate) struct DocumentLoad {
    space: Arc<DocumentSpace>,
    command: Vec<u8>,
    operation: OwnOperation,
}

impl DocumentLoad {
    pub(crate) fn new(space: &Arc<DocumentSpace>) -> Option<Self> {
        let operation = OwnOperation::new(StatementKind::Insert, "load").ok()?;
        Some(Self { space: Arc::clone(space), command: Vec::new(), operation })
    }

    /// What the load is called in its slices.
    pub(crate) fn operation(&self) -> OwnOperation {
        self.operation
    }

    /// How many commands there are.
    pub(crate) fn commands(&self) -> u64 {
        let collections = self.space.documents.collections.iter();
        collections.map(|collection| collection.records.div_ceil(collection.batch.into())).sum()
    }

    /// The command of this number.
    pub(crate) fn command(&mut self, mut number: u64) -> Ask<'_> {
        let Self { space, command, operation } = self;
        command.clear();
        let mut count = 0;
        for collection in &space.documents.collections {
            let batch = u64::from(collection.batch);
            let commands = collection.records.div_ceil(batch);
            if number >= commands {
                number -= commands;
                continue;
            }
            let first = number * batch;
            count = batch.min(collection.records - first) as u32;
            let all = bson::begin(command);
            bson::name(bson::STRING, b"insert", command);
            bson::text(collection.name.as_bytes(), command);
            bson::name(bson::ARRAY, b"documents", command);
            let list = bson::begin(command);
            for index in 0..count {
                bson::index_name(bson::DOCUMENT, index, command);
                collection.write_document(first + u64::from(index), command);
            }
            bson::end(list, command);
            bson::end(all, command);
            break;
        }
        Ask::Statement(Statement {
            operation: *operation,
            slot: 0,
            command,
            limit: 0,
            expected: Expected::Between(count.into(), count.into()),
            units: count,
            inserted: None,
            growth: None,
        })
    }
}
