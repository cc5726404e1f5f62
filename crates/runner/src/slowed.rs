//! Measuring path of controls: no allocation, lock, log or formatting within an operation.
//!
//! An engine that is slower than it is by a known size, or by nothing: the arms beside a control take the same way, so that the way itself is no difference. What it
//! adds lies within the operations, as a regression of the engine would.

use plimsoll_engine::{
    Answer, Engine, EngineError, FieldVisitor, Interrupter, Outcome, PartTime, ServerIdentity,
    Session,
};
use plimsoll_record::EngineDescription;
use plimsoll_workload::{FieldChoice, Fields, Statement};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the sessions of a closed loop pause: once in each second, so that no second is unlike the others.
const PERIOD: Duration = Duration::from_secs(1);
/// When in it the first pause begins: far from the ends of the seconds.
const FIRST: Duration = Duration::from_millis(250);
/// How often a session reads the clock at most, so that fast operations are not slowed by that.
const BETWEEN_READINGS: Duration = Duration::from_micros(500);
/// The last part of a wait is not slept: a sleeper wakes some 60 µs late.
const SPIN: Duration = Duration::from_micros(200);

/// How an engine is slowed down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Slowing {
    /// In each second all sessions stand still for this share of it, at the same time. So throughput falls by this share wherever the limit lies: a wait in each
    /// operation would not slow down a server that is the limit, whose queue would only be shorter.
    Pauses {
        share: f64,
        /// Whether the processor is kept busy meanwhile: where the engine works in the session's own thread, it would be.
        busy: bool,
    },
    /// Each operation takes longer by this share of the time that it takes then.
    Stretched { share: f64 },
}

pub(crate) struct Slowed<'e> {
    engine: &'e dyn Engine,
    slowing: Slowing,
    begun: Arc<Mutex<Instant>>,
}

impl<'e> Slowed<'e> {
    pub(crate) fn new(engine: &'e dyn Engine, slowing: Slowing) -> Self {
        Self { engine, slowing, begun: Arc::new(Mutex::new(Instant::now())) }
    }
}

impl Engine for Slowed<'_> {
    fn description(&self) -> EngineDescription {
        self.engine.description()
    }

    fn session(&self) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(SlowedSession {
            session: self.engine.session()?,
            slowing: self.slowing,
            begun: Arc::clone(&self.begun),
            next: None,
            left: 1,
            every: 1,
            read: Instant::now(),
        }))
    }

    fn count(&self) -> Result<Option<u64>, EngineError> {
        self.engine.count()
    }

    fn point_begins(&self) {
        self.engine.point_begins();
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn data_bytes(&self) -> Result<Option<u64>, EngineError> {
        self.engine.data_bytes()
    }

    fn statistics(&self, into: &mut Vec<(&'static str, f64)>) {
        self.engine.statistics(into);
    }

    fn server(&self) -> Option<ServerIdentity> {
        self.engine.server()
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        // The caller owns it.
        Ok(())
    }
}

struct SlowedSession {
    session: Box<dyn Session>,
    slowing: Slowing,
    begun: Arc<Mutex<Instant>>,
    /// When its next pause begins; `None` before its first operation.
    next: Option<Instant>,
    /// Operations until the clock is read again, and how many there were since it was read last.
    left: u32,
    every: u32,
    /// When the clock was read last.
    read: Instant,
}

impl SlowedSession {
    #[inline]
    fn ask<T>(&mut self, ask: impl FnOnce(&mut dyn Session) -> T) -> T {
        match self.slowing {
            Slowing::Pauses { share, busy } => {
                let answer = ask(&mut *self.session);
                self.left -= 1;
                if self.left == 0 {
                    self.look(PERIOD.mul_f64(share), busy);
                }
                answer
            }
            Slowing::Stretched { share } => {
                let begun = Instant::now();
                let answer = ask(&mut *self.session);
                let took = begun.elapsed();
                wait_until(begun + took.div_f64(1.0 - share), false);
                answer
            }
        }
    }

    /// Reads the clock, and pauses if it is time.
    #[cold]
    fn look(&mut self, pause: Duration, busy: bool) {
        let mut now = Instant::now();
        if self.pauses_at(now) {
            now += pause;
            wait_until(now, busy);
        }
        self.left = self.every;
        self.read = now;
    }

    /// Whether a pause begins now. Pauses that were missed, because an operation took this long, are left out.
    fn pauses_at(&mut self, now: Instant) -> bool {
        let next = self.next.get_or_insert_with(|| {
            *self.begun.lock().unwrap_or_else(PoisonError::into_inner) + FIRST
        });
        if now < *next {
            let each = now.saturating_duration_since(self.read) / self.every;
            let fitting = BETWEEN_READINGS.as_nanos() / each.as_nanos().max(1);
            self.every = fitting.clamp(1, 1 << 12) as u32;
            return false;
        }
        while *next <= now {
            *next += PERIOD;
        }
        true
    }
}

/// Waits, on the processor or off it.
fn wait_until(until: Instant, busy: bool) {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        if busy || left <= SPIN {
            std::hint::spin_loop();
        } else {
            std::thread::sleep(left - SPIN);
        }
    }
}

impl Session for SlowedSession {
    fn read(
        &mut self,
        key: &[u8],
        fields: FieldChoice<'_>,
        visitor: Option<&mut dyn FieldVisitor>,
    ) -> Outcome {
        self.ask(|session| session.read(key, fields, visitor))
    }

    fn update(&mut self, key: &[u8], changes: Fields<'_>) -> Outcome {
        self.ask(|session| session.update(key, changes))
    }

    fn insert(&mut self, key: &[u8], fields: Fields<'_>) -> Outcome {
        self.ask(|session| session.insert(key, fields))
    }

    fn scan(
        &mut self,
        start: &[u8],
        count: u32,
        fields: FieldChoice<'_>,
        rows: &mut u32,
    ) -> Outcome {
        self.ask(|session| session.scan(start, count, fields, rows))
    }

    fn delete(&mut self, key: &[u8]) -> Outcome {
        self.ask(|session| session.delete(key))
    }

    fn statement(&mut self, statement: &Statement<'_>, answer: &mut Answer) -> Outcome {
        self.ask(|session| session.statement(statement, answer))
    }

    fn flush(&mut self) -> Option<Outcome> {
        self.session.flush()
    }

    fn interrupter(&self) -> Option<Interrupter> {
        self.session.interrupter()
    }

    fn part_times(&self) -> &[PartTime] {
        self.session.part_times()
    }

    fn retries(&self) -> u64 {
        self.session.retries()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::{OwnOperation, StatementKind};
    use plimsoll_workload::Expected;

    /// Counts its calls, and answers at once or after a while.
    struct Answers(Duration);

    impl Session for Answers {
        fn read(
            &mut self,
            _key: &[u8],
            _fields: FieldChoice<'_>,
            _visitor: Option<&mut dyn FieldVisitor>,
        ) -> Outcome {
            wait_until(Instant::now() + self.0, false);
            Outcome::Ok
        }

        fn update(&mut self, _key: &[u8], _changes: Fields<'_>) -> Outcome {
            Outcome::Ok
        }

        fn insert(&mut self, _key: &[u8], _fields: Fields<'_>) -> Outcome {
            Outcome::Ok
        }

        fn scan(
            &mut self,
            _start: &[u8],
            _count: u32,
            _fields: FieldChoice<'_>,
            _rows: &mut u32,
        ) -> Outcome {
            Outcome::Ok
        }

        fn delete(&mut self, _key: &[u8]) -> Outcome {
            Outcome::Ok
        }

        fn statement(&mut self, _statement: &Statement<'_>, answer: &mut Answer) -> Outcome {
            wait_until(Instant::now() + self.0, false);
            answer.documents = 3;
            Outcome::Ok
        }
    }

    fn slowed(takes: Duration, slowing: Slowing) -> SlowedSession {
        SlowedSession {
            session: Box::new(Answers(takes)),
            slowing,
            begun: Arc::new(Mutex::new(Instant::now())),
            next: None,
            left: 1,
            every: 1,
            read: Instant::now(),
        }
    }

    #[test]
    fn statements_are_stretched_and_answered_by_the_engine() {
        let statement = Statement {
            operation: OwnOperation::new(StatementKind::Find, "by-customer").unwrap(),
            slot: 0,
            command: &[],
            limit: 0,
            expected: Expected::Some,
            units: 1,
            inserted: None,
            growth: None,
            sequence: None,
        };
        let mut session = slowed(Duration::from_millis(2), Slowing::Stretched { share: 0.5 });
        let mut answer = Answer::default();
        let begun = Instant::now();
        assert!(matches!(session.statement(&statement, &mut answer), Outcome::Ok));
        assert!(begun.elapsed() >= Duration::from_millis(4));
        assert_eq!(answer.documents, 3);
    }

    #[test]
    fn each_period_has_one_pause() {
        let pauses = Slowing::Pauses { share: 0.02, busy: true };
        let mut session = slowed(Duration::ZERO, pauses);
        let begun = *session.begun.lock().unwrap();
        let at = |milliseconds| begun + Duration::from_millis(milliseconds);
        let found: Vec<bool> = [1, 249, 250, 270, 1_249, 1_250, 1_251, 5_100, 5_249, 5_250]
            .into_iter()
            .map(|milliseconds| session.pauses_at(at(milliseconds)))
            .collect();
        // The pauses from 2.25 to 4.25 s were missed: one is made up for, at 5.1 s, and the next is due at 5.25 s.
        let expected = [false, false, true, false, false, true, false, true, false, true];
        assert_eq!(found, expected);
    }

    #[test]
    fn fast_operations_read_the_clock_rarely() {
        let pauses = Slowing::Pauses { share: 0.02, busy: true };
        let mut session = slowed(Duration::ZERO, pauses);
        let begun = session.read;
        // 10 operations of 5 µs since the last reading: 100 of them take 500 µs.
        session.every = 10;
        session.pauses_at(begun + Duration::from_micros(50));
        assert_eq!(session.every, 100);
        // One of 2 ms: the clock is read after each.
        session.every = 1;
        session.pauses_at(begun + Duration::from_millis(2));
        assert_eq!(session.every, 1);
    }

    #[test]
    fn operations_are_stretched_by_their_own_time() {
        let takes = Duration::from_millis(40);
        let mut session = slowed(takes, Slowing::Stretched { share: 0.5 });
        let begun = Instant::now();
        session.ask(|session| session.read(b"key", FieldChoice::All, None));
        assert!(begun.elapsed() >= 2 * takes);
    }
}
