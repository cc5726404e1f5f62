//! Measuring path: no allocation, lock, log or formatting here once the buffers have grown.
//!
//! Operations drawn one after the other, and the load that comes before them.

use crate::ask::{
    Ask, CommandProbes, CommandSamples, Expected, Growth, NewDocuments, Sequence, SequenceEnd,
    SequencePart, Statement,
};
use crate::chooser::{KeyChooser, Keys};
use crate::documents::field::{Field, Pick};
use crate::documents::operation::{Known, OwnStatement, expected};
use crate::documents::sequence::MOST_STATEMENTS;
use crate::documents::template::{ABSENT_VALUES, Drawn, Draws, Parameter, new_pick};
use crate::documents::{Documents, DocumentsSpec, Finite, bson};
use crate::inserted::Records;
use crate::mix::Mix;
use crate::problem::{Problem, WorkloadError, Wrong};
use crate::schedule::Share;
use crate::stream::Stream;
use plimsoll_record::{Operation, OwnOperation, StatementKind};
use std::sync::Arc;

/// Documents that are searched for the next one with a field.
const NEAR: usize = 64;

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
            let mut statements = documents.operations.iter().flat_map(OwnStatement::statements);
            statements.any(|own| own.inserts > 0 && own.collection == collection)
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
    ) -> Result<CommandSamples, WorkloadError> {
        let mut samples = Vec::new();
        let mut desk = StatementDesk::new(self, &Mix::named("samples"))?;
        desk.takes_numbers = false;
        for (index, own) in self.documents.operations.iter().enumerate() {
            let is_measured =
                mixes.iter().any(|mix| mix.share_of(Operation::Own(own.operation)) > 0.0);
            if own.inserts > 0 || !is_measured {
                continue;
            }
            let turn = std::cell::Cell::new(0);
            let next = || turn.replace(turn.get() + 1);
            let mut whole = Vec::new();
            let mut parts: Vec<Vec<Vec<u8>>> = vec![Vec::new(); own.parts.len()];
            for _ in 0..count {
                let drawn = desk.draw(index, stream, next);
                match drawn.sequence {
                    None => whole.push(drawn.command.to_vec()),
                    Some(sequence) => {
                        for (part, one) in parts.iter_mut().zip(sequence.statements(0)) {
                            part.push(one.command.to_vec());
                        }
                    }
                }
            }
            if own.parts.is_empty() {
                samples.push((own.operation, whole));
            }
            let parts = own.parts.iter().zip(parts).filter(|(part, _)| part.inserts == 0);
            samples.extend(parts.map(|(part, commands)| (part.operation, commands)));
        }
        Ok(samples)
    }

    /// Commands that find `count` documents of each collection by `_id`.
    pub(crate) fn probes(&self, count: u64) -> CommandProbes {
        let mut probes = Vec::new();
        for collection in &self.documents.collections {
            let count = count.min(collection.records);
            for probe in 0..count {
                let number = u128::from(probe) * u128::from(collection.records) / u128::from(count);
                let mut command = Vec::new();
                let all = bson::begin(&mut command);
                bson::name(bson::STRING, b"find", &mut command);
                bson::text(collection.name.as_bytes(), &mut command);
                bson::name(bson::DOCUMENT, b"filter", &mut command);
                let filter = bson::begin(&mut command);
                collection.fields[0].write(number as u64, &mut command);
                bson::end(filter, &mut command);
                bson::end(all, &mut command);
                probes.push((collection.name.to_string(), command));
            }
        }
        probes
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

/// How the parameters of an operation are drawn in one session.
#[derive(Clone, Debug, Default)]
struct Choosers {
    /// One for each parameter; of a statement of a sequence only for its own.
    parameters: Vec<Option<KeyChooser>>,
    /// The choosers of a sequence's statements.
    parts: Vec<Choosers>,
    /// The first of the numbers that a statement of a sequence took and that no document got.
    unused: Option<u64>,
}

impl Choosers {
    /// # Errors
    /// When a distribution is impossible for the documents there are.
    fn new(
        own: &OwnStatement,
        shared: usize,
        documents: &Documents,
        mix: &Mix,
    ) -> Result<Self, WorkloadError> {
        let mut parameters = Vec::new();
        for parameter in &own.parameters[shared..] {
            let records = documents.collections[parameter.collection].records;
            let count = match (&parameter.drawn, &parameter.field.pick) {
                (Drawn::New { .. } | Drawn::Absent { .. } | Drawn::Before { .. }, _) => {
                    parameters.push(None);
                    continue;
                }
                (Drawn::Value, Pick::Finite(finite)) => finite.values(),
                (Drawn::Range { documents, .. }, _) => records - documents + 1,
                _ => records,
            };
            let mix = Mix { request_distribution: parameter.keys, ..Mix::named(&mix.name) };
            let keys = Keys { first: 0, count, present: count, expected: 0 };
            let chooser = KeyChooser::new(&mix, keys);
            parameters.push(Some(
                chooser.map_err(|problem| WorkloadError::Impossible { problems: vec![problem] })?,
            ));
        }
        let parts = own.parts.iter();
        let parts = parts.map(|part| Self::new(part, own.parameters.len(), documents, mix));
        Ok(Self { parameters, parts: parts.collect::<Result<_, _>>()?, unused: None })
    }
}

/// One session's way of drawing operations.
#[derive(Clone, Debug)]
pub(crate) struct StatementDesk {
    space: Arc<DocumentSpace>,
    weighted: Weighted,
    choosers: Vec<Choosers>,
    /// Place of each operation among those of the mix.
    slots: Vec<u8>,
    picks: Vec<u64>,
    command: Vec<u8>,
    /// Statements of the sequence that was drawn last, and their commands.
    parts: Vec<SequencePart>,
    commands: Vec<u8>,
    /// The operation that was drawn last.
    last: usize,
    /// Whether what is drawn is sent, so that documents need numbers of their own.
    takes_numbers: bool,
}

/// Draws parameters into `picks`, which has a place for each.
#[inline]
fn pick(
    space: &DocumentSpace,
    parameters: &[Parameter],
    choosers: &mut [Option<KeyChooser>],
    picks: &mut [u64],
    stream: &mut Stream,
    turn: &mut impl FnMut() -> u64,
) {
    for (at, parameter) in parameters.iter().enumerate() {
        let present = &space.present[parameter.collection];
        let chooser = choosers[at].as_mut();
        let draw = |count| chooser.map_or(0, |chooser| chooser.draw(count, &mut *turn, stream));
        picks[at] = match (&parameter.drawn, &parameter.field.pick) {
            (Drawn::New { records }, _) => new_pick(&parameter.field, *records, stream),
            (Drawn::Value, Pick::Finite(finite)) => draw(finite.values()),
            (Drawn::Before { documents }, _) => present.newest().saturating_sub(documents + 1),
            (Drawn::Absent { from }, _) => from + stream.below(ABSENT_VALUES),
            (Drawn::Range { documents, newest: true }, _) => present.newest() - documents,
            (Drawn::Range { documents, newest: false }, _) => {
                draw(space.documents.collections[parameter.collection].records - documents + 1)
            }
            _ => parameter.field.pick(holder(&parameter.field, present, draw(present.limit()))),
        };
    }
}

/// Writes a command with its parameters. Gives what it must find and what it inserts, from `first` on where that is given.
#[inline]
fn render(
    space: &DocumentSpace,
    own: &OwnStatement,
    picks: &[u64],
    first: Option<u64>,
    stream: &mut Stream,
    command: &mut Vec<u8>,
) -> (Expected, Option<NewDocuments>) {
    let collection = &space.documents.collections[own.collection];
    let present = &space.present[own.collection];
    let (inserted, numbers) = if own.inserts > 0 {
        let first = first.unwrap_or_else(|| present.take_own(own.inserts));
        let new = NewDocuments { collection: own.collection as u8, first, count: own.inserts };
        (Some(new), present.numbers(first))
    } else {
        (None, (0, 1))
    };
    let picked = &picks[..own.parameters.len()];
    let bounds = present.bounds(space.grows[own.collection]);
    let wanted = expected(own, picked, collection.records, bounds);
    let draws = Draws {
        parameters: &own.parameters,
        picks,
        first: numbers.0,
        step: numbers.1,
        inserts: own.inserts,
        collection,
    };
    own.template.render(&draws, stream, command);
    (wanted, inserted)
}

impl StatementDesk {
    /// # Errors
    /// When a distribution is impossible for the documents there are.
    pub(crate) fn new(space: &Arc<DocumentSpace>, mix: &Mix) -> Result<Self, WorkloadError> {
        let documents = &*space.documents;
        let operations = &documents.operations;
        let choosers = operations.iter().map(|own| Choosers::new(own, 0, documents, mix));
        // The parameters of a sequence are among those of its statements.
        let all = operations.iter().flat_map(OwnStatement::statements);
        let most = all.map(|own| own.parameters.len()).max().unwrap_or(0);
        let slot = |operation: OwnOperation| {
            let place = mix.operations.iter().position(|(own, _)| *own == operation);
            place.unwrap_or(0) as u8
        };
        Ok(Self {
            weighted: Weighted::new(mix, documents),
            slots: operations.iter().map(|own| slot(own.operation)).collect(),
            choosers: choosers.collect::<Result<_, _>>()?,
            picks: vec![0; most],
            command: Vec::with_capacity(4_096),
            parts: Vec::with_capacity(MOST_STATEMENTS),
            commands: Vec::new(),
            last: 0,
            takes_numbers: true,
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
        self.last = index;
        if !self.space.documents.operations[index].parts.is_empty() {
            return self.draw_sequence(index, stream, turn);
        }
        let Self { space, choosers, slots, picks, command, .. } = self;
        let own = &space.documents.operations[index];
        let choosers = &mut choosers[index].parameters;
        pick(space, &own.parameters, choosers, picks, stream, &mut turn);
        command.clear();
        let (expected, inserted) = render(space, own, picks, None, stream, command);
        Statement {
            operation: own.operation,
            slot: slots[index],
            command,
            limit: own.limit,
            expected,
            units: 1,
            inserted,
            growth: growth(space, own, picks),
            sequence: None,
        }
    }

    /// A transaction or steps: the parameters once, then its statements one after the other.
    fn draw_sequence(
        &mut self,
        index: usize,
        stream: &mut Stream,
        mut turn: impl FnMut() -> u64,
    ) -> Statement<'_> {
        let Self { space, choosers, slots, picks, command, parts, commands, .. } = self;
        let own = &space.documents.operations[index];
        let shared = own.parameters.len();
        let choosers = &mut choosers[index];
        pick(space, &own.parameters, &mut choosers.parameters, picks, stream, &mut turn);
        command.clear();
        parts.clear();
        commands.clear();
        for (part, choosers) in own.parts.iter().zip(&mut choosers.parts) {
            let parameters = &part.parameters[shared..];
            let own_picks = &mut picks[shared..];
            pick(space, parameters, &mut choosers.parameters, own_picks, stream, &mut turn);
            let present = &space.present[part.collection];
            let first = match self.takes_numbers {
                true => choosers.unused.take(),
                false => Some(present.limit()),
            };
            let (mut expected, inserted) = render(space, part, picks, first, stream, commands);
            // What others insert before the statement is answered is not known.
            if let Expected::Between(least, _) = expected
                && growth(space, part, picks).is_some()
            {
                expected = if least > 0 { Expected::Some } else { Expected::Any };
            }
            let (operation, end, limit) = (part.operation, commands.len(), part.limit);
            parts.push(SequencePart { operation, end, limit, expected, inserted });
        }
        let (expected, _) = render(space, own, picks, None, stream, command);
        Statement {
            operation: own.operation,
            slot: slots[index],
            command,
            limit: 0,
            expected,
            units: 1,
            inserted: None,
            growth: None,
            sequence: Some(Sequence { parts, commands, retries: own.retries }),
        }
    }

    /// Ends the sequence that was drawn last.
    #[inline]
    pub(crate) fn sequence_ended(&mut self, end: SequenceEnd) {
        let parts = self.parts.iter().zip(&mut self.choosers[self.last].parts);
        for (index, (part, choosers)) in parts.enumerate() {
            let Some(inserted) = part.inserted else { continue };
            match end {
                SequenceEnd::InDoubt => {}
                SequenceEnd::Undone => choosers.unused = Some(inserted.first),
                SequenceEnd::StoppedAt(last) if index > usize::from(last) => {
                    choosers.unused = Some(inserted.first);
                }
                SequenceEnd::Committed | SequenceEnd::StoppedAt(_) => {
                    self.space.acknowledge(inserted);
                }
            }
        }
        self.parts.clear();
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

/// The next document that has a field, if it is near, else any that existed from the start.
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
fn growth<'a>(
    space: &'a DocumentSpace,
    own: &'a OwnStatement,
    picks: &[u64],
) -> Option<Growth<'a>> {
    let Known::Having { parameter, most } = own.known else {
        return None;
    };
    if !space.grows[own.collection] {
        return None;
    }
    let records = &space.present[own.collection];
    match &own.parameters[parameter].field.pick {
        Pick::Finite(finite) => {
            let (value, is_given) = (picks[parameter], own.is_given);
            Some(Growth { records, finite, value, is_given, limit: most })
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
            sequence: None,
        })
    }
}
