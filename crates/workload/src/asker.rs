//! Measuring path: no allocation, lock, log or formatting here after [`Asker::new`].
//!
//! One session's way of asking.

use crate::ask::{Ask, FieldChoice, Fields};
use crate::chooser::KeyChooser;
use crate::key::KeyText;
use crate::operation::Operation;
use crate::record::RecordBuffer;
use crate::stream::Stream;
use crate::workload::{ReadFields, Workload};
use std::sync::Arc;

/// Draws the operations of one session. Made by [`Workload::asker`].
#[derive(Debug)]
pub struct Asker {
    stream: Stream,
    desk: Desk,
}

/// What an operation is put together from, apart from its stream.
#[derive(Debug)]
struct Desk {
    workload: Arc<Workload>,
    chooser: Option<KeyChooser>,
    key: KeyText,
    record: RecordBuffer,
    one_field: [u32; 1],
}

impl Asker {
    pub(crate) fn new(workload: &Arc<Workload>, session: u64) -> Self {
        let space = &workload.key_space;
        let data = space.data();
        Self {
            stream: workload.sessions.stream(session),
            desk: Desk {
                chooser: workload.chooser.clone(),
                key: KeyText::new(data.key_order, data.zero_padding),
                record: space.shape.buffer(),
                one_field: [0],
                workload: Arc::clone(workload),
            },
        }
    }

    /// Closed loop: the next operation of this session's own stream.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "the operation borrows the asker, as no iterator can let it"
    )]
    pub fn next(&mut self) -> Ask<'_> {
        self.desk.ask(&mut self.stream, None)
    }

    /// Open loop: the operation of the arrival with this number. It is the same whichever session asks, but for what depends on the
    /// inserts so far: the key numbers of inserts, and the choice among newest keys.
    #[inline]
    pub fn at(&mut self, arrival: u64) -> Ask<'_> {
        let mut stream = self.desk.workload.arrivals.stream(arrival);
        self.desk.ask(&mut stream, Some(arrival))
    }

    /// To be called once for each [`Ask::Insert`], with its number, when it has ended, whether well or not. Until then none of the
    /// records with this or a higher key number is asked for.
    #[inline]
    pub fn acknowledge(&self, number: u64) {
        self.desk.workload.key_space.records.acknowledge(number);
    }
}

impl Desk {
    #[inline]
    fn ask(&mut self, stream: &mut Stream, turn: Option<u64>) -> Ask<'_> {
        let workload = &*self.workload;
        let space = &*workload.key_space;
        let operation = workload.operations.draw(stream);
        let chooser = match &mut self.chooser {
            Some(chooser) if operation != Operation::Insert => chooser,
            _ => {
                let number = space.records.take();
                let key = self.key.write(number);
                // As in the load phase, a record follows from the seed and its key number, whoever inserts it.
                space
                    .shape
                    .fill_all(key, &mut workload.contents.stream(number), &mut self.record);
                return Ask::Insert {
                    key,
                    fields: Fields::new(&space.shape.names, &self.record),
                    number,
                };
            }
        };
        let number = chooser.draw(space.records.limit(), turn, &workload.turns, stream);
        let key = self.key.write(number);
        match operation {
            Operation::Read => {
                let fields = match workload.reads {
                    ReadFields::All => FieldChoice::All,
                    ReadFields::AllByName => FieldChoice::Some(&space.all_fields),
                    ReadFields::One => {
                        one_field(&mut self.one_field, space.shape.field_count, stream)
                    }
                };
                Ask::Read { key, fields }
            }
            Operation::Scan => {
                let count = workload.scan_lengths.draw(stream) as u32;
                let fields = if workload.read_all_fields {
                    FieldChoice::All
                } else {
                    one_field(&mut self.one_field, space.shape.field_count, stream)
                };
                Ask::Scan {
                    start: key,
                    count,
                    fields,
                }
            }
            Operation::Update | Operation::Insert | Operation::ReadModifyWrite => {
                let fields = if operation == Operation::Update || workload.read_all_fields {
                    FieldChoice::All
                } else {
                    one_field(&mut self.one_field, space.shape.field_count, stream)
                };
                if workload.write_all_fields {
                    space.shape.fill_all(key, stream, &mut self.record);
                } else {
                    space.shape.fill_one(key, stream, &mut self.record);
                }
                let changes = Fields::new(&space.shape.names, &self.record);
                if operation == Operation::Update {
                    Ask::Update { key, changes }
                } else {
                    Ask::ReadModifyWrite {
                        key,
                        fields,
                        changes,
                    }
                }
            }
        }
    }
}

#[inline]
fn one_field<'a>(
    chosen: &'a mut [u32; 1],
    field_count: u32,
    stream: &mut Stream,
) -> FieldChoice<'a> {
    chosen[0] = stream.below(u64::from(field_count)) as u32;
    FieldChoice::Some(chosen)
}
