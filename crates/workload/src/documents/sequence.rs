//! Reads transactions and steps from the file: operations without names, which share parameters.

use crate::documents::concerns::{lags, write_read_concern};
use crate::documents::literal::Literal;
use crate::documents::operation::OwnStatement;
use crate::documents::read::{Collection, Reading, quantity};
use crate::documents::template::{Parameter, Template, parameters_of};
use plimsoll_record::StatementKind;

/// The most statements of a transaction or of steps.
pub const MOST_STATEMENTS: usize = 16;
const MOST_RETRIES: f64 = 1_000.0;
/// How often a transaction is sent again where the file does not say.
const RETRIES: u32 = 10;

/// What a transaction has as a whole and steps have not.
const OF_TRANSACTIONS: [&str; 3] = ["retries", "read_concern", "write_concern"];

impl Reading {
    pub(crate) fn sequence(
        &mut self,
        kind: StatementKind,
        name: &str,
        given: &Literal,
        collections: &[Collection],
    ) -> Option<OwnStatement> {
        let operation = self.named(kind, name)?;
        let word = kind.word();
        let keys = [&[word, "with"][..], &OF_TRANSACTIONS].concat();
        self.known_keys(given, &keys);
        if kind == StatementKind::Steps {
            self.refuse_of_transactions(given)?;
        }
        let items = match given.get(word) {
            Some(Literal::List(items)) if (1..=MOST_STATEMENTS).contains(&items.len()) => items,
            _ => {
                return self.at(word, |reading| {
                    reading.wrong(format!(
                        "a list of 1 to {MOST_STATEMENTS} operations without names, such as `[{{insert: orders}}, {{update: products, by: _id, change: {{$inc: {{stock: -1}}}}}}]`"
                    ))
                });
            }
        };
        let shared = self.shared_parameters(given, items, collections)?;
        let level = match given.get("read_concern") {
            None => None,
            Some(level) => Some(self.at("read_concern", |reading| reading.level_within(level))?),
        };
        let mut parts: Vec<OwnStatement> = Vec::new();
        self.path.push(word.into());
        for (number, item) in items.iter().enumerate() {
            let part_name = format!("{name}-{}", number + 1);
            let read = self.at(&number.to_string(), |reading| {
                reading.refuse_within(kind, item)?;
                reading.statement(&part_name, item, collections, &shared)
            });
            parts.extend(read);
        }
        self.path.pop();
        if parts.len() < items.len() {
            return None;
        }
        if let Some(level) = level {
            parts[0].template.add(|to| write_read_concern(to, level));
            if lags(level) {
                let reading = parts.iter_mut().filter(|part| part.inserts == 0);
                reading.for_each(|part| part.lagging = Some(level));
            }
        }
        let mut whole = OwnStatement::new(operation, parts[0].collection, shared);
        if kind == StatementKind::Transaction {
            whole.template = self.commit(given)?;
            whole.retries = self.retries(given)?;
        }
        whole.parts = parts;
        Some(whole)
    }

    /// The command that commits a transaction.
    fn commit(&mut self, given: &Literal) -> Option<Template> {
        let mut commit = Template::default();
        commit.open();
        commit.constant("commitTransaction", &Literal::Int(1));
        if let Some(concern) = given.get("write_concern") {
            let read = self.at("write_concern", |reading| reading.write_concern(concern))?;
            commit.constant("writeConcern", &read);
        }
        commit.close();
        Some(commit)
    }

    /// Refuses beside `steps` what only a transaction has.
    fn refuse_of_transactions(&mut self, given: &Literal) -> Option<()> {
        let given = OF_TRANSACTIONS.into_iter().find(|key| given.get(key).is_some());
        match given {
            None => Some(()),
            Some("retries") => self.at("retries", |reading| {
                reading.wrong(
                    "steps are not sent again as a whole, as a `transaction` is: leave it out",
                )
            }),
            Some(key) => self.at(key, |reading| {
                reading.wrong("each step is sent by itself: give it to the steps that need it")
            }),
        }
    }

    fn retries(&mut self, given: &Literal) -> Option<u32> {
        let Some(retries) = given.get("retries") else {
            return Some(RETRIES);
        };
        match quantity(retries) {
            Some(number) if (0.0..=MOST_RETRIES).contains(&number) && number.fract() == 0.0 => {
                Some(number as u32)
            }
            _ => self.at("retries", |reading| {
                reading.wrong(format!("a whole number from 0 to {MOST_RETRIES}"))
            }),
        }
    }

    fn level_within(&mut self, given: &Literal) -> Option<&'static str> {
        match self.read_concern(given)? {
            "available" | "linearizable" => {
                self.wrong("transactions read at local, majority or snapshot")
            }
            level => Some(level),
        }
    }

    /// Refuses what an operation cannot have within a transaction or steps.
    fn refuse_within(&mut self, kind: StatementKind, item: &Literal) -> Option<()> {
        const NESTED: &str = "the list holds no other transaction and no other steps";
        let nested = [("transaction", NESTED), ("steps", NESTED)];
        let in_transactions = [
            (
                "count",
                "no server counts within a transaction: write `aggregate` with the stage `{$count: n}`",
            ),
            ("read_concern", "the whole transaction has one: write it beside `transaction`"),
            ("write_concern", "the whole transaction has one: write it beside `transaction`"),
        ];
        if kind == StatementKind::Transaction
            && let Some(preference) = item.get("read_preference")
        {
            let before = self.problems.len();
            self.at("read_preference", |reading| {
                reading.read_preference(preference)?;
                reading.wrong::<()>("transactions read from the primary: leave it out")
            });
            if self.problems.len() > before {
                return None;
            }
        }
        let in_transactions = in_transactions.iter().filter(|_| kind == StatementKind::Transaction);
        for (key, why) in nested.iter().chain(in_transactions) {
            if item.get(key).is_some() {
                return self.at(key, |reading| reading.wrong(*why));
            }
        }
        Some(())
    }

    /// The parameters that are drawn once for all statements.
    fn shared_parameters(
        &mut self,
        given: &Literal,
        items: &[Literal],
        collections: &[Collection],
    ) -> Option<Vec<Parameter>> {
        let mut used = Vec::new();
        items.iter().for_each(|item| parameters_of(item, &mut used));
        let mut names: Vec<String> = Vec::new();
        for (_, value) in items.iter().flat_map(Literal::entries).filter(|(key, _)| {
            StatementKind::ALL.into_iter().any(|kind| kind.word() == key.as_str())
        }) {
            let name = value.scalar().unwrap_or_default();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let before = self.problems.len();
        let mut parameters = Vec::new();
        self.path.push("with".into());
        for (name, described) in given.get("with").map(Literal::entries).unwrap_or_default() {
            let read = self.at(name, |reading| {
                if name == "by" {
                    return reading.wrong("`by` is the parameter of each statement's own `by`");
                }
                let (place, described) = reading.place_of(described, &names, collections)?;
                reading.with(name, &described, &collections[place], place)
            });
            if read.is_some() {
                self.is_used(name, &used);
            }
            parameters.extend(read);
        }
        self.path.pop();
        // Statements that use a parameter which could not be read are not wrong.
        (self.problems.len() == before).then_some(parameters)
    }

    /// The collection whose field a shared parameter has, and the parameter without it.
    fn place_of(
        &mut self,
        described: &Literal,
        names: &[String],
        collections: &[Collection],
    ) -> Option<(usize, Literal)> {
        let of_fields = ["value_of", "from", "range_of", "absent", "ago"];
        let has_field = of_fields.iter().any(|key| described.get(key).is_some());
        let named = described.get("in").and_then(Literal::scalar);
        let name = match (named, names) {
            (Some(name), _) => name,
            (None, [only]) => only.clone(),
            (None, [first, ..]) if !has_field => first.clone(),
            _ => {
                let list = names.join(", ");
                return self.wrong(format!(
                    "say which collection has the field: `in:` with one of {list}"
                ));
            }
        };
        let Some(place) = collections.iter().position(|known| *known.name == *name) else {
            let known: Vec<&str> = collections.iter().map(|known| &*known.name).collect();
            let known = known.join(", ");
            return self.wrong(format!("there is no collection `{name}`; there are {known}"));
        };
        let rest = described.entries().iter().filter(|(key, _)| !has_field || key != "in");
        Some((place, Literal::Map(rest.cloned().collect())))
    }
}
