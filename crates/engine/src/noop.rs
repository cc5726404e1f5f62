//! The engine that does nothing: what remains is what the load generator itself costs.

use crate::{Answer, Engine, EngineError, FieldVisitor, Outcome, Session};
use plimsoll_plan::EngineKind;
use plimsoll_record::EngineDescription;
use plimsoll_workload::{FieldChoice, Fields, Statement};
use std::collections::BTreeMap;

pub(crate) const KIND: EngineKind = EngineKind {
    name: "noop",
    about: "Answers every operation at once and stores nothing: shows the cost and the limits of the load generator itself.",
    keeps_data: false,
    server: None,
    cache_setting: None,
    usable_cache: 0.0,
    unfit: |_| None,
    settings: &[],
};

pub(crate) fn open(_: &crate::Opening<'_>) -> Result<Box<dyn Engine>, EngineError> {
    Ok(Box::new(Noop))
}

struct Noop;

impl Engine for Noop {
    fn description(&self) -> EngineDescription {
        EngineDescription {
            name: KIND.name.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            settings: BTreeMap::new(),
            notes: BTreeMap::new(),
        }
    }

    fn session(&self) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(NoopSession))
    }

    fn count(&self) -> Result<Option<u64>, EngineError> {
        Ok(None)
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

struct NoopSession;

impl Session for NoopSession {
    fn read(&mut self, _: &[u8], _: FieldChoice<'_>, _: Option<&mut dyn FieldVisitor>) -> Outcome {
        Outcome::Ok
    }

    fn update(&mut self, _: &[u8], _: Fields<'_>) -> Outcome {
        Outcome::Ok
    }

    fn insert(&mut self, _: &[u8], _: Fields<'_>) -> Outcome {
        Outcome::Ok
    }

    fn scan(&mut self, _: &[u8], count: u32, _: FieldChoice<'_>, rows: &mut u32) -> Outcome {
        *rows = count;
        Outcome::Ok
    }

    fn delete(&mut self, _: &[u8]) -> Outcome {
        Outcome::Ok
    }

    fn statement(&mut self, statement: &Statement<'_>, answer: &mut Answer) -> Outcome {
        *answer = Answer::as_expected(statement);
        Outcome::Ok
    }
}
