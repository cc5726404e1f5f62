//! The binding `basic`: no database, with a delay and a voice if they are requested.

use crate::talk::say;
use plimsoll_engine::{Engine, EngineError, FieldVisitor, Outcome, Session};
use plimsoll_record::EngineDescription;
use plimsoll_workload::properties::{Properties, PropertyError};
use plimsoll_workload::{FieldChoice, Fields, Stream};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub(crate) struct Basic {
    delay_ns: u64,
    is_random: bool,
    is_verbose: bool,
    table: String,
    seed: u64,
    sessions: AtomicU64,
}

impl Basic {
    pub(crate) fn new(
        properties: &Properties,
        table: &str,
        seed: u64,
    ) -> Result<Self, PropertyError> {
        if properties.flag("basicdb.count", false) {
            return Err(PropertyError::impossible(
                "basicdb.count",
                "counts of keys are not kept: leave it out",
            ));
        }
        Ok(Self {
            delay_ns: properties
                .count("basicdb.simulatedelay")?
                .unwrap_or(0)
                .saturating_mul(1_000_000),
            is_random: properties.flag("basicdb.randomizedelay", true),
            is_verbose: properties.flag("basicdb.verbose", false),
            table: table.into(),
            seed,
            sessions: AtomicU64::new(0),
        })
    }
}

impl Engine for Basic {
    fn description(&self) -> EngineDescription {
        EngineDescription {
            name: "basic".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            ..EngineDescription::default()
        }
    }

    fn session(&self) -> Result<Box<dyn Session>, EngineError> {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(BasicSession {
            delay_ns: self.delay_ns,
            random: self.is_random.then(|| {
                Stream::from_state(self.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            }),
            voice: self.is_verbose.then(|| self.table.clone()),
        }))
    }

    fn count(&self) -> Result<Option<u64>, EngineError> {
        Ok(None)
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

struct BasicSession {
    delay_ns: u64,
    random: Option<Stream>,
    /// The name of the table, where each operation is printed.
    voice: Option<String>,
}

impl BasicSession {
    fn answer(&mut self, what: impl FnOnce(&str) -> String) -> Outcome {
        if self.delay_ns > 0 {
            let nanos = match &mut self.random {
                Some(stream) => stream.below(self.delay_ns),
                None => self.delay_ns,
            };
            std::thread::sleep(Duration::from_nanos(nanos));
        }
        if let Some(table) = &self.voice {
            say(&what(table));
        }
        Outcome::Ok
    }
}

fn chosen(fields: FieldChoice<'_>) -> String {
    match fields {
        FieldChoice::All => "[ <all fields>]".into(),
        FieldChoice::Some(numbers) => {
            let mut text = String::from("[ ");
            for number in numbers {
                let _ = write!(text, "field{number} ");
            }
            text + "]"
        }
    }
}

fn values(fields: Fields<'_>) -> String {
    let mut text = String::from("[ ");
    for (_, name, value) in fields {
        let name = String::from_utf8_lossy(name);
        let _ = write!(text, "{name}={} ", String::from_utf8_lossy(value));
    }
    text + "]"
}

fn text(key: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(key)
}

impl Session for BasicSession {
    fn read(
        &mut self,
        key: &[u8],
        fields: FieldChoice<'_>,
        _: Option<&mut dyn FieldVisitor>,
    ) -> Outcome {
        self.answer(|table| format!("READ {table} {} {}", text(key), chosen(fields)))
    }

    fn update(&mut self, key: &[u8], changes: Fields<'_>) -> Outcome {
        self.answer(|table| format!("UPDATE {table} {} {}", text(key), values(changes)))
    }

    fn insert(&mut self, key: &[u8], fields: Fields<'_>) -> Outcome {
        self.answer(|table| format!("INSERT {table} {} {}", text(key), values(fields)))
    }

    fn scan(
        &mut self,
        start: &[u8],
        count: u32,
        fields: FieldChoice<'_>,
        rows: &mut u32,
    ) -> Outcome {
        *rows = 0;
        self.answer(|table| format!("SCAN {table} {} {count} {}", text(start), chosen(fields)))
    }

    fn delete(&mut self, key: &[u8]) -> Outcome {
        self.answer(|table| format!("DELETE {table} {}", text(key)))
    }
}
