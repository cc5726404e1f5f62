//! A database with a known answer: operations queue for servers, first come first served, and take service times from a law.
//!
//! With exponential service times and Poisson arrivals it is the M/M/c queue, whose mean response is known in closed form; with a script
//! of stalls it shows what an open loop sees and a closed loop hides. It stores nothing but the number of records.
//!
//! [`law`] draws service times, [`stalls`] stretches them over the times at which the database stands still, [`servers`] queues: all three are
//! pure. [`clock`] waits.

mod clock;
mod law;
mod servers;
mod stalls;

use crate::opening::{COMPLETED, completed, settings_in_force};
use crate::{Answer, Engine, EngineError, FieldVisitor, Opening, Outcome, Session};
use clock::{Clock, Monotonic};
use law::Law;
use plimsoll_plan::{EngineKind, Setting, SettingKind, Settings, Unfit};
use plimsoll_record::{EngineDescription, StatementKind};
use plimsoll_workload::{FieldChoice, Fields, Statement, Stream};
use servers::Servers;
use stalls::Stalls;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

pub(crate) const KIND: EngineKind = EngineKind {
    name: "simulated",
    about: "A queue with known answers in place of a database: an M/M/c law or a script of stalls, for tests and teaching.",
    keeps_data: false,
    server: None,
    cache_setting: None,
    usable_cache: 0.0,
    unfit,
    settings: &[
        Setting {
            name: "servers",
            about: "Number of operations that are served at once; all others wait in one queue, first come first served.",
            kind: SettingKind::Count { min: 1, max: 10_000 },
            default: Some("1"),
        },
        Setting {
            name: "service",
            about: "Law of the service time: exponential varies as much as its mean, constant not at all, lognormal as service_spread says.",
            kind: SettingKind::Choice(&["exponential", "constant", "lognormal"]),
            default: Some("exponential"),
        },
        Setting {
            name: "service_mean",
            about: "Mean time that a server takes for one operation; servers / service_mean is the capacity in operations per second.",
            kind: SettingKind::Duration { min_ns: 0, max_ns: 3_600_000_000_000 },
            default: Some("1ms"),
        },
        Setting {
            name: "service_spread",
            about: "Standard deviation of a lognormal service time as a multiple of its mean; an exponential law has 1.",
            kind: SettingKind::Number { min: 0.0, max: 100.0 },
            default: Some("1"),
        },
        Setting {
            name: "stalls",
            about: "Times at which nothing is served, from the beginning of each point with its warm-up: `3s+1s, 10s+500ms` stalls at 3 s for 1 s and at 10 s for half a second.",
            kind: SettingKind::Text,
            default: None,
        },
        Setting {
            name: "error_share",
            about: "Share of operations that fail, after having been served.",
            kind: SettingKind::Number { min: 0.0, max: 1.0 },
            default: Some("0%"),
        },
        Setting {
            name: "not_found_share",
            about: "Share of reads, updates and deletes that do not find their record, after having been served.",
            kind: SettingKind::Number { min: 0.0, max: 1.0 },
            default: Some("0%"),
        },
    ],
};

/// Opens it on the clock of the machine.
pub(crate) fn open(opening: &Opening<'_>) -> Result<Box<dyn Engine>, EngineError> {
    Ok(Box::new(Simulated::new(opening.settings, opening.seed, Monotonic)))
}

struct Simulated<C> {
    shared: Arc<Shared<C>>,
    settings: Settings,
    seed: u64,
    sessions: AtomicU64,
}

struct Shared<C> {
    clock: C,
    law: Law,
    stalls: Stalls,
    error_share: f64,
    not_found_share: f64,
    queue: Mutex<Queue>,
    records: AtomicU64,
}

struct Queue {
    servers: Servers,
    /// When the script began; there are no stalls before.
    point_begin_ns: Option<u64>,
}

impl Queue {
    /// When an operation is complete that arrives now, after all that arrived before it.
    fn completion_ns(&mut self, now_ns: u64, service_ns: u64, stalls: &Stalls) -> u64 {
        let begin_ns = self.point_begin_ns;
        self.servers.completion_ns(now_ns, |start_ns| match begin_ns {
            Some(begin_ns) => stalls.end_ns(begin_ns, start_ns, service_ns),
            None => start_ns + service_ns,
        })
    }
}

/// The engine `simulated` without any waiting: when operations are complete, by the same law and queue. For calibrating what judges measurements, in less time
/// than they would take.
pub struct Simulation {
    law: Law,
    stalls: Stalls,
    queue: Queue,
    stream: Stream,
}

impl Simulation {
    /// One point of the engine with these settings, from its beginning at 0 ns on. Settings that are absent take their defaults.
    pub fn new(settings: &Settings, seed: u64) -> Result<Self, EngineError> {
        let engine = Simulated::new(&completed(&KIND, settings)?, seed, Monotonic);
        let Some(shared) = Arc::into_inner(engine.shared) else {
            unreachable!("no session was made that shares it");
        };
        let mut queue = shared.queue.into_inner().expect(NO_PANIC);
        queue.point_begin_ns = Some(0);
        Ok(Self { law: shared.law, stalls: shared.stalls, queue, stream: law::stream(seed, 0) })
    }

    /// When an operation is complete that is dispatched at this time, nanoseconds; operations are handed in in the order of their times.
    pub fn completion_ns(&mut self, dispatched_ns: u64) -> u64 {
        let service_ns = self.law.draw_ns(&mut self.stream);
        self.queue.completion_ns(dispatched_ns, service_ns, &self.stalls)
    }
}

/// Why settings can be read: [`unfit`] was called before.
const FIT: &str = "settings that do not suit were refused before";

fn unfit(settings: &Settings) -> Option<Unfit> {
    if let Err(reason) = Stalls::parse(settings.text("stalls").unwrap_or_default()) {
        return Some(Unfit::new("stalls", reason));
    }
    let share = |name| settings.number(name).unwrap_or_default();
    (share("error_share") + share("not_found_share") > 1.0).then(|| {
        let reason = "together with error_share it is more than all operations";
        Unfit::new("not_found_share", reason)
    })
}

impl<C: Clock> Simulated<C> {
    fn new(settings: &Settings, seed: u64, clock: C) -> Self {
        let mean_ns = settings.nanos("service_mean").expect(COMPLETED);
        let law = match settings.text("service").expect(COMPLETED) {
            "constant" => Law::constant(mean_ns),
            "lognormal" => {
                Law::lognormal(mean_ns, settings.number("service_spread").expect(COMPLETED))
            }
            _ => Law::exponential(mean_ns),
        };
        let stalls = Stalls::parse(settings.text("stalls").unwrap_or_default()).expect(FIT);
        let error_share = settings.number("error_share").expect(COMPLETED);
        let not_found_share = settings.number("not_found_share").expect(COMPLETED);
        let servers = settings.count("servers").expect(COMPLETED) as usize;
        let queue = Mutex::new(Queue { servers: Servers::new(servers), point_begin_ns: None });
        let records = AtomicU64::new(0);
        Self {
            shared: Arc::new(Shared {
                clock,
                law,
                stalls,
                error_share,
                not_found_share,
                queue,
                records,
            }),
            settings: settings.clone(),
            seed,
            sessions: AtomicU64::new(0),
        }
    }

    fn new_session(&self) -> SimulatedSession<C> {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        SimulatedSession {
            shared: Arc::clone(&self.shared),
            stream: law::stream(self.seed, number),
        }
    }
}

impl<C: Clock> Engine for Simulated<C> {
    fn description(&self) -> EngineDescription {
        EngineDescription {
            name: KIND.name.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            settings: settings_in_force(&self.settings),
            notes: BTreeMap::new(),
        }
    }

    fn session(&self) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(self.new_session()))
    }

    fn count(&self) -> Result<Option<u64>, EngineError> {
        Ok(Some(self.shared.records.load(Ordering::Relaxed)))
    }

    fn point_begins(&self) {
        let mut queue = self.shared.queue.lock().expect(NO_PANIC);
        queue.point_begin_ns = Some(self.shared.clock.now_ns());
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

const NO_PANIC: &str = "nothing panics while it holds the queue";

struct SimulatedSession<C> {
    shared: Arc<Shared<C>>,
    stream: Stream,
}

impl<C: Clock> SimulatedSession<C> {
    /// Queues, is served, and waits until that is over.
    fn serve(&mut self, may_be_missing: bool) -> Outcome {
        let shared = &*self.shared;
        let service_ns = shared.law.draw_ns(&mut self.stream);
        let fate = self.stream.unit();
        let completion_ns = {
            let mut queue = shared.queue.lock().expect(NO_PANIC);
            // Read while holding the queue, so that operations arrive in the order of their times.
            let now_ns = shared.clock.now_ns();
            queue.completion_ns(now_ns, service_ns, &shared.stalls)
        };
        shared.clock.wait_until(completion_ns);
        if fate < shared.error_share {
            return Outcome::error("simulated: failed as error_share asks");
        }
        if may_be_missing && fate < shared.error_share + shared.not_found_share {
            return Outcome::NotFound;
        }
        Outcome::Ok
    }
}

impl<C: Clock> Session for SimulatedSession<C> {
    fn read(&mut self, _: &[u8], _: FieldChoice<'_>, _: Option<&mut dyn FieldVisitor>) -> Outcome {
        self.serve(true)
    }

    fn update(&mut self, _: &[u8], _: Fields<'_>) -> Outcome {
        self.serve(true)
    }

    fn insert(&mut self, _: &[u8], _: Fields<'_>) -> Outcome {
        let outcome = self.serve(false);
        if matches!(outcome, Outcome::Ok) {
            self.shared.records.fetch_add(1, Ordering::Relaxed);
        }
        outcome
    }

    fn scan(&mut self, _: &[u8], count: u32, _: FieldChoice<'_>, rows: &mut u32) -> Outcome {
        let outcome = self.serve(false);
        *rows = if matches!(outcome, Outcome::Ok) { count } else { 0 };
        outcome
    }

    fn delete(&mut self, _: &[u8]) -> Outcome {
        let outcome = self.serve(true);
        if matches!(outcome, Outcome::Ok) {
            // It is unknown whether the record existed, so the number stays at 0 when all are gone.
            let _ =
                self.shared.records.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |records| {
                    records.checked_sub(1)
                });
        }
        outcome
    }

    /// Answers with what is expected. A statement that is not to find its documents finds none, which is no failure here.
    fn statement(&mut self, statement: &Statement<'_>, answer: &mut Answer) -> Outcome {
        let kind = statement.operation.kind();
        let outcome = self.serve(kind != StatementKind::Insert);
        match outcome {
            Outcome::Ok => *answer = Answer::as_expected(statement),
            Outcome::NotFound => return Outcome::Ok,
            other => return other,
        }
        let records = &self.shared.records;
        match kind {
            StatementKind::Insert => {
                records.fetch_add(answer.documents, Ordering::Relaxed);
            }
            StatementKind::Delete => {
                let removed = answer.documents;
                let _ = records.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |records| {
                    Some(records.saturating_sub(removed))
                });
            }
            StatementKind::Transaction | StatementKind::Steps => {
                let parts = statement.sequence.map_or(&[][..], |all| all.parts);
                let inserted = parts.iter().filter_map(|part| part.inserted);
                let inserted = inserted.map(|new| u64::from(new.count)).sum();
                records.fetch_add(inserted, Ordering::Relaxed);
            }
            _ => {}
        }
        Outcome::Ok
    }
}

#[cfg(test)]
mod tests;
