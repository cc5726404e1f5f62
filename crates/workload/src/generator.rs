//! Measuring path: no allocation, lock, log or formatting here after [`OpGenerator::new`].
//!
//! One session's way of asking.

use crate::ask::{Ask, FieldChoice, Fields, NewDocuments, SequenceEnd};
use crate::chooser::KeyChooser;
use crate::documents::StatementDesk;
use crate::key::KeyText;
use crate::operation::Operation;
use crate::record::RecordBuffer;
use crate::schedule::Share;
use crate::stream::Stream;
use crate::workload::{ReadFields, Workload};
use std::sync::Arc;

/// Draws the operations of one session. Made by [`Workload::generator`].
#[derive(Debug)]
pub struct OpGenerator {
    choices: Stream,
    contents: Stream,
    ahead: Ahead,
    desk: OpParts,
    own: Option<Box<StatementDesk>>,
}

/// An operation and the number of the key it goes to; inserts take theirs when they are sent.
#[derive(Clone, Copy, Debug)]
struct Choice {
    operation: Operation,
    number: u64,
}

/// How many choices are made at once where nothing that happens in between can matter.
///
/// One choice is a chain of some 40 products, each waiting for the last: 25 ns. Of several chains a processor follows three at a time.
const AHEAD: usize = 16;

/// Choices that are made and not yet sent.
#[derive(Debug)]
struct Ahead {
    choices: [Choice; AHEAD],
    next: usize,
}

/// What an operation is put together from.
#[derive(Debug)]
struct OpParts {
    workload: Arc<Workload>,
    /// This host's share of the turns of sequential keys.
    turns: Share,
    chooser: Option<KeyChooser>,
    key: KeyText,
    record: RecordBuffer,
    one_field: [u32; 1],
}

impl Workload {
    /// The part of one session, with a stream and buffers of its own. Sessions of equal number draw equally.
    /// Sessions are numbered over all hosts.
    pub fn generator(self: &Arc<Self>, session: u64) -> OpGenerator {
        OpGenerator::new(self, session, self.key_space.share())
    }

    /// As [`Workload::generator`], where there are `sessions` sessions on all hosts. It matters for sequential keys in a closed loop with fewer sessions than
    /// hosts: hosts without a session take no turns.
    pub fn generator_among(self: &Arc<Self>, session: u64, sessions: u32) -> OpGenerator {
        let share = self.key_space.share();
        OpGenerator::new(self, session, share.among(sessions).unwrap_or(share))
    }
}

impl OpGenerator {
    fn new(workload: &Arc<Workload>, session: u64, turns: Share) -> Self {
        let space = &workload.key_space;
        let data = space.data();
        let none = Choice { operation: Operation::Read, number: 0 };
        Self {
            choices: workload.sessions.stream(session),
            contents: workload.session_contents.stream(session),
            ahead: Ahead { choices: [none; AHEAD], next: AHEAD },
            own: workload.own.clone().map(Box::new),
            desk: OpParts {
                chooser: workload.chooser.clone(),
                key: KeyText::new(data.key_order, data.zero_padding),
                record: space.shape.buffer(),
                one_field: [0],
                turns,
                workload: Arc::clone(workload),
            },
        }
    }

    /// Closed loop: the next operation of this session's own stream.
    #[inline(always)]
    #[expect(
        clippy::should_implement_trait,
        reason = "the operation borrows the generator, as no iterator can let it"
    )]
    pub fn next(&mut self) -> Ask<'_> {
        if let Some(ref mut own) = self.own {
            let OpParts { workload, turns, .. } = &self.desk;
            return own.next(&mut self.choices, || turns.number(workload.turns.take()));
        }
        if self.ahead.next == AHEAD {
            self.look_ahead();
        }
        let choice = self.ahead.choices[self.ahead.next];
        self.ahead.next += 1;
        self.desk.put_together(choice, &mut self.contents)
    }

    /// Open loop: the operation of the arrival with this number, counted over all hosts. It is the same whichever session asks, but for what depends on the
    /// inserts so far: the key numbers of inserts, and the choice among newest keys.
    #[inline]
    pub fn at(&mut self, arrival: u64) -> Ask<'_> {
        let mut stream = self.desk.workload.arrivals.stream(arrival);
        if let Some(ref mut own) = self.own {
            return own.next(&mut stream, || arrival);
        }
        let choice = self.desk.choose(&mut stream, Some(arrival));
        self.desk.put_together(choice, &mut stream)
    }

    /// To be called once for each [`Ask::Insert`], with its number, when it has ended, whether well or not. Until then none of the
    /// records with this or a higher key number is requested.
    #[inline]
    pub fn acknowledge(&self, number: u64) {
        self.desk.workload.key_space.records.acknowledge(number);
    }

    /// The same for documents that an [`Ask::Statement`] inserted.
    #[inline]
    pub fn acknowledge_documents(&self, new: NewDocuments) {
        if let Some(space) = &self.desk.workload.key_space.documents {
            space.acknowledge(new);
        }
    }

    /// To be called once for each transaction and each sequence of steps, after it and before the next operation: what a transaction inserted is requested
    /// only if it is committed, and what was not inserted is inserted by the next one.
    #[inline]
    pub fn sequence_ended(&mut self, end: SequenceEnd) {
        if let Some(own) = &mut self.own {
            own.sequence_ended(end);
        }
    }

    #[inline(never)]
    fn look_ahead(&mut self) {
        let OpParts { workload, chooser, turns, .. } = &mut self.desk;
        if let Some(chooser) = chooser
            && workload.looks_ahead
        {
            let operations = [(); AHEAD].map(|()| workload.operations.draw(&mut self.choices));
            let present = workload.key_space.records.limit();
            let turn = || turns.number(workload.turns.take());
            let mut numbers: [u64; AHEAD] = chooser.draw_many(present, turn, &mut self.choices);
            if !workload.key_space.share().is_whole() {
                let records = &workload.key_space.records;
                numbers = numbers.map(|number| records.certain(number));
            }
            for index in 0..AHEAD {
                self.ahead.choices[index] =
                    Choice { operation: operations[index], number: numbers[index] };
            }
            self.ahead.next = 0;
        } else {
            self.ahead.next = AHEAD - 1;
            self.ahead.choices[AHEAD - 1] = self.desk.choose(&mut self.choices, None);
        }
    }
}

impl OpParts {
    /// `turn` is the number of the arrival in an open loop.
    #[inline]
    fn choose(&mut self, stream: &mut Stream, turn: Option<u64>) -> Choice {
        let workload = &*self.workload;
        let operation = workload.operations.draw(stream);
        let records = &workload.key_space.records;
        let number = match &mut self.chooser {
            Some(chooser) if operation != Operation::Insert => {
                let turn = || turn.unwrap_or_else(|| self.turns.number(workload.turns.take()));
                let drawn = chooser.draw(records.limit(), turn, stream);
                records.certain(drawn)
            }
            _ => 0,
        };
        Choice { operation, number }
    }

    #[inline(always)]
    fn put_together(&mut self, choice: Choice, stream: &mut Stream) -> Ask<'_> {
        let workload = &*self.workload;
        let space = &*workload.key_space;
        if choice.operation == Operation::Insert {
            let number = space.records.take();
            let key = self.key.write(number);
            // As in the load phase, a record follows from the seed and its key number alone.
            space.shape.fill_all(key, &mut workload.contents.stream(number), &mut self.record);
            return Ask::Insert {
                key,
                fields: Fields::new(&space.shape.names, &self.record),
                number,
            };
        }
        let key = self.key.write(choice.number);
        let fields = match workload.reads {
            ReadFields::All => FieldChoice::All,
            ReadFields::AllByName if choice.operation == Operation::Read => {
                FieldChoice::Some(&space.all_fields)
            }
            ReadFields::AllByName => FieldChoice::All,
            ReadFields::One => {
                self.one_field[0] = stream.below(u64::from(space.shape.field_count)) as u32;
                FieldChoice::Some(&self.one_field)
            }
        };
        match choice.operation {
            Operation::Read => return Ask::Read { key, fields },
            Operation::Scan => {
                let count = workload.scan_lengths.draw(stream) as u32;
                return Ask::Scan { start: key, count, fields };
            }
            Operation::Update | Operation::Insert | Operation::ReadModifyWrite => {}
        }
        if workload.write_all_fields {
            space.shape.fill_all(key, stream, &mut self.record);
        } else {
            space.shape.fill_one(key, stream, &mut self.record);
        }
        let changes = Fields::new(&space.shape.names, &self.record);
        if choice.operation == Operation::Update {
            Ask::Update { key, changes }
        } else {
            Ask::ReadModifyWrite { key, fields, changes }
        }
    }
}
