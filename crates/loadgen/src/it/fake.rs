//! An engine that answers as configured and keeps what it received; and the pieces that every test needs.

use crate::{PointSpec, SliceSink};
use plimsoll_engine::{Engine, EngineError, FieldVisitor, Interrupter, Outcome, Session};
use plimsoll_record::{EngineDescription, Histogram, Operation, Slice, Status};
use plimsoll_workload::schedule::{Arrivals, Load, Share, Stage};
use plimsoll_workload::{DataSpec, FieldChoice, Fields, KeySpace, Mix, Workload};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub type Record = Vec<(Vec<u8>, Vec<u8>)>;
type Answer = dyn Fn(Question<'_>) -> Outcome + Send + Sync;

/// One call as the engine sees it.
pub struct Question<'a> {
    /// Number of the session, from 0 in the order of creation.
    pub session: u32,
    pub operation: Operation,
    pub key: Vec<u8>,
    /// Everything that was requested, in words.
    pub text: String,
    pub values: Record,
    pub visitor: Option<&'a mut dyn FieldVisitor>,
}

pub struct Fake {
    answer: Arc<Answer>,
    sessions: AtomicU32,
    /// How many sessions it gives.
    most_sessions: u32,
    /// What ends a call of its sessions.
    interrupt: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl Fake {
    pub fn new(answer: impl Fn(Question<'_>) -> Outcome + Send + Sync + 'static) -> Self {
        Self {
            answer: Arc::new(answer),
            sessions: AtomicU32::new(0),
            most_sessions: u32::MAX,
            interrupt: None,
        }
    }

    pub fn with_interrupt(mut self, interrupt: impl Fn() + Send + Sync + 'static) -> Self {
        self.interrupt = Some(Arc::new(interrupt));
        self
    }

    pub fn with_sessions(mut self, most: u32) -> Self {
        self.most_sessions = most;
        self
    }
}

impl Engine for Fake {
    fn description(&self) -> EngineDescription {
        EngineDescription::default()
    }

    fn session(&self) -> Result<Box<dyn Session>, EngineError> {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        if number >= self.most_sessions {
            return Err(EngineError::Call {
                engine: "fake".into(),
                call: "session".into(),
                message: "there are no more".into(),
            });
        }
        Ok(Box::new(FakeSession {
            answer: Arc::clone(&self.answer),
            number,
            interrupt: self.interrupt.clone(),
        }))
    }

    fn count(&self) -> Result<Option<u64>, EngineError> {
        Ok(None)
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

struct FakeSession {
    answer: Arc<Answer>,
    number: u32,
    interrupt: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl FakeSession {
    fn ask(
        &self,
        operation: Operation,
        key: &[u8],
        details: String,
        values: Record,
        visitor: Option<&mut dyn FieldVisitor>,
    ) -> Outcome {
        let key_text = String::from_utf8_lossy(key);
        let text = format!("{} {key_text} {details}", operation.name());
        (self.answer)(Question {
            session: self.number,
            operation,
            key: key.to_vec(),
            text,
            values,
            visitor,
        })
    }
}

fn values(fields: Fields<'_>) -> Record {
    fields.map(|(_, name, value)| (name.to_vec(), value.to_vec())).collect()
}

impl Session for FakeSession {
    fn read(
        &mut self,
        key: &[u8],
        fields: FieldChoice<'_>,
        visitor: Option<&mut dyn FieldVisitor>,
    ) -> Outcome {
        let details = format!("{fields:?}");
        self.ask(Operation::Read, key, details, Vec::new(), visitor)
    }

    fn update(&mut self, key: &[u8], changes: Fields<'_>) -> Outcome {
        let details = format!("{changes:?}");
        self.ask(Operation::Update, key, details, values(changes), None)
    }

    fn insert(&mut self, key: &[u8], fields: Fields<'_>) -> Outcome {
        let details = format!("{fields:?}");
        self.ask(Operation::Insert, key, details, values(fields), None)
    }

    fn scan(&mut self, start: &[u8], count: u32, fields: FieldChoice<'_>, _: &mut u32) -> Outcome {
        let details = format!("{count} {fields:?}");
        self.ask(Operation::Scan, start, details, Vec::new(), None)
    }

    fn delete(&mut self, key: &[u8]) -> Outcome {
        self.ask(Operation::Delete, key, String::new(), Vec::new(), None)
    }

    fn interrupter(&self) -> Option<Interrupter> {
        let interrupt = Arc::clone(self.interrupt.as_ref()?);
        Some(Box::new(move || interrupt()))
    }

    fn retries(&self) -> u64 {
        3
    }
}

/// The calls that a [`Fake`] got, in any order.
pub type OperationTimes = Arc<Mutex<Vec<(u32, String)>>>;

/// An engine that keeps every question with its session and answers that all is well.
pub fn remembering() -> (Fake, OperationTimes) {
    let requested = OperationTimes::default();
    let keep = Arc::clone(&requested);
    let fake = Fake::new(move |question| {
        keep.lock().unwrap().push((question.session, question.text));
        Outcome::Ok
    });
    (fake, requested)
}

/// Keeps all slices, counts how often a measured part began, and asks to stop on request.
#[derive(Default)]
pub struct Keep {
    pub slices: Vec<Slice>,
    pub begins: u32,
    pub stop: Option<Box<dyn Fn() -> bool>>,
}

impl SliceSink for Keep {
    fn slice(&mut self, slice: Slice) {
        self.slices.push(slice);
    }

    fn measuring_begins(&mut self, _: Duration) {
        self.begins += 1;
    }

    fn stop_requested(&mut self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop())
    }
}

impl Keep {
    pub fn stopping_when(stop: impl Fn() -> bool + 'static) -> Self {
        Self { stop: Some(Box::new(stop)), ..Self::default() }
    }

    pub fn completed(&self) -> u64 {
        let completed = self.slices.iter().map(|slice| slice.completed.total());
        completed.sum()
    }

    /// How many of each operation ended in each way.
    pub fn counts(&self) -> BTreeMap<(Operation, Status), u64> {
        let mut counts = BTreeMap::new();
        for part in self.slices.iter().flat_map(|slice| &slice.operations) {
            *counts.entry((part.operation, part.status)).or_insert(0) += part.latencies.count();
        }
        counts
    }

    /// Service, response and wait times of all operations.
    pub fn histograms(&self) -> [Histogram; 3] {
        let mut all = [Histogram::new(), Histogram::new(), Histogram::new()];
        for part in self.slices.iter().flat_map(|slice| &slice.operations) {
            all[0].merge(&part.latencies.service);
            all[1].merge(part.latencies.response());
            if let Some(wait) = part.latencies.wait() {
                all[2].merge(wait);
            }
        }
        all
    }
}

pub fn key_space(records: u64) -> Arc<KeySpace> {
    KeySpace::new(&DataSpec::with_records(records)).unwrap()
}

pub fn workload(key_space: &Arc<KeySpace>, mix: &Mix) -> Arc<Workload> {
    Arc::new(Workload::new(key_space, mix, 42, Some(10_000)).unwrap())
}

/// This many operations in a closed loop, however long they take.
pub fn closed(sessions: u32, operations: u64) -> PointSpec {
    PointSpec {
        load: Load::closed(sessions),
        warm_up_ns: 0,
        duration_ns: u64::MAX,
        operations: Some(operations),
        seed: 42,
        verify: false,
        share: Share::WHOLE,
    }
}

/// An open loop in which this many operations are due in the first microseconds, and which lasts until it is stopped.
pub fn at_once(sessions: u32, operations: u32) -> PointSpec {
    let rate = 1e9;
    let stage = Stage { rate_from: rate, rate_to: rate, duration_ns: u64::from(operations) };
    PointSpec {
        load: Load::Stages { stages: vec![stage], arrivals: Arrivals::Constant, sessions },
        operations: None,
        ..closed(sessions, 0)
    }
}
