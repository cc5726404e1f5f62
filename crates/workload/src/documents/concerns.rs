//! Concerns, the read preference and the time limit of one operation.

use crate::documents::literal::Literal;
use crate::documents::operation::OwnStatement;
use crate::documents::read::{Reading, quantity};
use crate::documents::template::Template;
use plimsoll_record::StatementKind;
use plimsoll_record::quantities::units;

const READ_CONCERNS: [&str; 5] = ["local", "available", "majority", "linearizable", "snapshot"];
/// What the file says, and what the command says.
const READ_PREFERENCES: [(&str, &str); 5] = [
    ("primary", "primary"),
    ("primary-preferred", "primaryPreferred"),
    ("secondary", "secondary"),
    ("secondary-preferred", "secondaryPreferred"),
    ("nearest", "nearest"),
];
/// Members of the largest replica set.
const MOST_MEMBERS: f64 = 50.0;
/// The longest time that a server takes, in milliseconds.
const LONGEST_MS: u64 = i32::MAX as u64;
const MS: u64 = 1_000_000;

impl Reading {
    /// Adds `read_concern`, `write_concern`, `read_preference` and `max_time` to a command.
    pub(crate) fn concerns(
        &mut self,
        to: &mut Template,
        given: &Literal,
        statement: &mut OwnStatement,
    ) {
        let kind = statement.operation.kind();
        if let Some(level) = given.get("read_concern") {
            self.at("read_concern", |reading| {
                if kind.writes() {
                    return reading.wrong(
                        "operations that write take no read concern: leave it out, or give the operation a `write_concern`",
                    );
                }
                let level = reading.read_concern(level)?;
                if level == "snapshot" && kind == StatementKind::Count {
                    return reading.wrong(
                        "no server counts at `snapshot`: write another level, or `aggregate` with the stage `{$count: n}`",
                    );
                }
                write_read_concern(to, level);
                statement.lagging = lags(level).then_some(level);
                Some(())
            });
        }
        if let Some(preference) = given.get("read_preference") {
            statement.reads_at = self.at("read_preference", |reading| {
                if kind.writes() {
                    return reading.wrong("operations that write go to the primary: leave it out");
                }
                let mode = reading.read_preference(preference)?;
                let concern = given.get("read_concern").and_then(Literal::scalar);
                if concern.is_some_and(|level| level == "linearizable") {
                    return reading.wrong("only the primary reads at `linearizable`");
                }
                let mode_of_command = ("mode".into(), Literal::Text(mode.into()));
                to.constant("$readPreference", &Literal::Map(vec![mode_of_command]));
                Some(mode)
            });
        }
        if let Some(concern) = given.get("write_concern") {
            self.at("write_concern", |reading| {
                if !kind.writes() {
                    return reading.wrong(
                        "operations that only read take no write concern: leave it out, or give the operation a `read_concern`",
                    );
                }
                let concern = reading.write_concern(concern)?;
                to.constant("writeConcern", &concern);
                Some(())
            });
        }
        if let Some(limit) = given.get("max_time") {
            let limit = self.at("max_time", |reading| reading.milliseconds(limit, "50ms"));
            if let Some(limit) = limit {
                to.constant("maxTimeMS", &Literal::Int(limit));
            }
        }
    }

    /// The mode as commands have it; `None` for the primary, which no command names.
    pub(crate) fn read_preference(&mut self, given: &Literal) -> Option<&'static str> {
        let word = given.scalar().unwrap_or_default();
        match READ_PREFERENCES.into_iter().find(|(known, _)| *known == word) {
            Some(("primary", _)) => None,
            Some((_, mode)) => Some(mode),
            None => {
                let words = READ_PREFERENCES.map(|(known, _)| known);
                self.wrong(format!("one of {}", words.join(", ")))
            }
        }
    }

    pub(crate) fn read_concern(&mut self, given: &Literal) -> Option<&'static str> {
        let word = given.scalar().unwrap_or_default();
        match READ_CONCERNS.into_iter().find(|level| *level == word) {
            Some(level) => Some(level),
            None => self.wrong(format!("one of {}", READ_CONCERNS.join(", "))),
        }
    }

    /// A write concern as commands have it.
    pub(crate) fn write_concern(&mut self, given: &Literal) -> Option<Literal> {
        const FORMS: &str =
            "`majority`, a number of members, or `{w: majority, journal: true, timeout: 5s}`";
        let mut concern = Vec::new();
        let Literal::Map(entries) = given else {
            concern.push(("w".into(), self.members(given)?));
            return Some(Literal::Map(concern));
        };
        if entries.is_empty() {
            return self.wrong(FORMS);
        }
        self.known_keys(given, &["w", "journal", "timeout"]);
        if let Some(members) = given.get("w") {
            concern.push(("w".into(), self.at("w", |reading| reading.members(members))?));
        }
        match given.get("journal") {
            None => {}
            Some(journal @ Literal::Bool(_)) => concern.push(("j".into(), journal.clone())),
            Some(_) => return self.at("journal", |reading| reading.wrong("true or false")),
        }
        if let Some(limit) = given.get("timeout") {
            let limit = self.at("timeout", |reading| reading.milliseconds(limit, "5s"))?;
            concern.push(("wtimeout".into(), Literal::Int(limit)));
        }
        Some(Literal::Map(concern))
    }

    fn members(&mut self, given: &Literal) -> Option<Literal> {
        if given.scalar().as_deref() == Some("majority") {
            return Some(Literal::Text("majority".into()));
        }
        match quantity(given) {
            Some(0.0) => self.wrong(
                "without an answer (0) it is not known what an operation did: write 1 or `majority`",
            ),
            Some(number) if (1.0..=MOST_MEMBERS).contains(&number) && number.fract() == 0.0 => {
                Some(Literal::Int(number as i64))
            }
            _ => self.wrong(format!("`majority`, or a number of members from 1 to {MOST_MEMBERS}")),
        }
    }

    /// A time limit in whole milliseconds.
    fn milliseconds(&mut self, given: &Literal, example: &str) -> Option<i64> {
        let duration = given.scalar().and_then(|text| units::parse_duration(&text).ok());
        match duration {
            Some(nanos) if (1..=LONGEST_MS).contains(&(nanos / MS)) && nanos % MS == 0 => {
                Some((nanos / MS) as i64)
            }
            _ => self.wrong(format!("whole milliseconds from 1ms on, such as {example}")),
        }
    }
}

pub(crate) fn write_read_concern(to: &mut Template, level: &str) {
    let level = ("level".into(), Literal::Text(level.into()));
    to.constant("readConcern", &Literal::Map(vec![level]));
}

/// Whether reads at this level may lack documents that were acknowledged by one member.
pub(crate) fn lags(level: &str) -> bool {
    matches!(level, "majority" | "snapshot")
}
