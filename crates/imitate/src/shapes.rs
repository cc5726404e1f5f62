//! From single operations to shapes: operations that differ in their values only.

use crate::calls::Call;
use crate::counts::{NumberCounts, ValueFrequencies};
use crate::fields::map;
use crate::form::{NormalCommand, OmittedValue, ValueRole, hole, manner, mapped, normal};
use crate::statement;
use crate::{Shape, Stored};
use mongodb::bson::Document;
use mongodb::bson::spec::ElementType;
use plimsoll_workload::documents::Literal;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;

const MOST_SHAPES: usize = 2_000;
/// Hashed values of all shapes together; one shape has 100,000 of each parameter at most.
const MOST_HASHED: u64 = 4_000_000;
/// Cursors and transactions that are open at once.
const MOST_OPEN: usize = 10_000;
/// Statements of a transaction that are kept.
const MOST_STATEMENTS: usize = 1_000;
const MOST_PLANS: usize = 50;
const OPEN: &str = "no commit was seen: a profile reports updates and deletes of a transaction by themselves, a sampled log only some statements";
/// Most calls for which is kept how new their values were.
const MOST_ORDERS: usize = 1_000;

/// Groups calls that differ in their values only. How a file expresses a shape depends on the fields of the shape's collection.
pub fn shapes(calls: impl Iterator<Item = Call>, collections: &[Stored]) -> Vec<Shape> {
    let mut gathering = ShapeCollector { room: MOST_HASHED, ..ShapeCollector::default() };
    calls.filter(|call| !call.failed).for_each(|call| gathering.take(call));
    gathering.close_all();
    let mut gathered: Vec<(String, ShapeTally)> = gathering.shapes.into_iter().collect();
    // Equal times by form, so that the order does not depend on a hash.
    gathered.sort_by(|(one, a), (other, b)| b.micros.cmp(&a.micros).then_with(|| one.cmp(other)));
    let mut shapes: Vec<Shape> =
        gathered.iter().map(|(_, gathered)| gathered.shape(collections)).collect();
    let (calls, micros) = gathering.others;
    if calls > 0 {
        let unfit = Some(format!("more than {MOST_SHAPES} different operations were seen"));
        let form = "others".to_owned();
        shapes.push(Shape { name: form.clone(), form, calls, micros, unfit, ..Shape::default() });
    }
    statement::name(&mut shapes);
    shapes
}

#[derive(Default)]
struct ShapeCollector {
    /// Under their database and form.
    shapes: HashMap<String, ShapeTally>,
    /// Calls of shapes beyond the limit, and their microseconds.
    others: (u64, u64),
    room: u64,
    cursors: Waiting<i64, SeenOperation>,
    transactions: Waiting<(String, i64), Vec<SeenOperation>>,
}

/// Cursors or transactions that are not complete. When there are too many, the oldest is taken as it is.
#[derive(Default)]
struct Waiting<K, V> {
    waiting: HashMap<K, V>,
    order: VecDeque<K>,
}

impl<K: Clone + Eq + Hash, V: Default> Waiting<K, V> {
    fn entry(&mut self, key: &K) -> &mut V {
        if !self.waiting.contains_key(key) {
            self.order.push_back(key.clone());
        }
        self.waiting.entry(key.clone()).or_default()
    }

    /// The oldest one, if there are too many.
    fn excess(&mut self) -> Option<V> {
        while self.order.len() > MOST_OPEN {
            let oldest = self.order.pop_front();
            if let Some(found) = oldest.and_then(|key| self.waiting.remove(&key)) {
                return Some(found);
            }
        }
        None
    }
}

/// One operation in its normal form.
#[derive(Default)]
struct SeenOperation {
    normal: NormalCommand,
    /// Its figures, without the command; sums for cursors and transactions.
    figures: Call,
    /// For a transaction: how often each statement came in a row.
    repeats: Vec<u64>,
    /// Whether it is a transaction without a commit.
    is_open: bool,
}

impl SeenOperation {
    /// Adds a part of the same operation.
    fn add(&mut self, part: &Call) {
        let sum = &mut self.figures;
        sum.micros += part.micros;
        sum.keys_examined += part.keys_examined;
        sum.documents_examined += part.documents_examined;
        sum.bytes += part.bytes;
        if let Some(more) = part.returned {
            *sum.returned.get_or_insert(0) += more;
        }
    }

    /// A transaction of these statements. Those that come several times in a row are one, with the number of times.
    fn transaction(statements: Vec<Self>) -> Option<Self> {
        let first = statements.first()?;
        let mut whole = Self::default();
        whole.figures.namespace.clone_from(&first.figures.namespace);
        whole.figures.statements = statements.len() as u64;
        whole.figures.returned = Some(0);
        let of_first = first.normal.manner.iter();
        whole.normal.manner = of_first.filter(|(key, _)| *key == "read_concern").cloned().collect();
        let (mut list, mut plans): (Vec<(String, Literal)>, Vec<String>) = (Vec::new(), Vec::new());
        for one in statements {
            whole.add(&one.figures);
            let plan = one.figures.plan;
            if !plan.is_empty() && !plans.contains(&plan) {
                plans.push(plan);
            }
            let form = one.normal.form();
            let values = &mut whole.normal.values;
            if list.last().is_some_and(|(last, _)| *last == form) {
                let first = values.len() - one.normal.values.len();
                for (known, more) in values[first..].iter_mut().zip(one.normal.values) {
                    known.hashes.extend(more.hashes);
                }
                if let Some(last) = whole.repeats.last_mut() {
                    *last += 1;
                }
            } else {
                let first = values.len();
                let mut moved = |text: &str| {
                    hole(text).map(|number| Literal::Text(format!("<{}>", number + first)))
                };
                list.push((form, mapped(&one.normal.operation, &mut moved)));
                values.extend(one.normal.values);
                whole.repeats.push(1);
            }
            whole.normal.unfit = whole.normal.unfit.or(one.normal.unfit);
        }
        whole.figures.plan = plans.join("; ");
        let list = list.into_iter().map(|(_, operation)| operation).collect();
        whole.normal.operation = map("transaction", Literal::List(list));
        Some(whole)
    }
}

impl ShapeCollector {
    fn take(&mut self, call: Call) {
        let verb = call.command.keys().next().map_or("", String::as_str);
        if let ("commitTransaction" | "abortTransaction", Some(key)) = (verb, &call.transaction) {
            let statements = self.transactions.waiting.remove(key);
            // An aborted transaction had no effect, or is sent again.
            if let (Some(statements), "commitTransaction") = (statements, verb) {
                self.end_transaction(statements, Some(&call));
            }
            return;
        }
        if let Some(cursor) = call.continues
            && let Some(seen) = self.cursors.waiting.get_mut(&cursor)
        {
            seen.add(&call);
            if call.cursor.is_none()
                && let Some(seen) = self.cursors.waiting.remove(&cursor)
            {
                self.record(seen);
            }
            return;
        }
        let Some(normal) = normal(&call.command) else {
            return;
        };
        let figures = Call { command: Document::new(), ..call };
        let (transaction, cursor) = (figures.transaction.clone(), figures.cursor);
        let seen = SeenOperation { normal, figures, ..SeenOperation::default() };
        if let Some(key) = transaction {
            let statements = self.transactions.entry(&key);
            let is_more = seen.figures.continues.is_some();
            if let Some(last) = statements.last_mut().filter(|_| is_more) {
                last.add(&seen.figures);
            } else if statements.len() < MOST_STATEMENTS {
                statements.push(seen);
            }
            if let Some(statements) = self.transactions.excess() {
                self.end_transaction(statements, None);
            }
        } else if let Some(cursor) = cursor {
            *self.cursors.entry(&cursor) = seen;
            if let Some(seen) = self.cursors.excess() {
                self.record(seen);
            }
        } else {
            self.record(seen);
        }
    }

    fn end_transaction(&mut self, statements: Vec<SeenOperation>, commit: Option<&Call>) {
        let Some(mut seen) = SeenOperation::transaction(statements) else {
            return;
        };
        seen.is_open = commit.is_none();
        if let Some(commit) = commit {
            seen.figures.micros += commit.micros;
            let concern = manner(&commit.command).into_iter();
            seen.normal.manner.extend(concern.filter(|(key, _)| *key == "write_concern"));
        }
        self.record(seen);
    }

    /// Records what was incomplete when the observation ended.
    fn close_all(&mut self) {
        let cursors = std::mem::take(&mut self.cursors);
        cursors.waiting.into_values().for_each(|seen| self.record(seen));
        let transactions = std::mem::take(&mut self.transactions);
        for statements in transactions.waiting.into_values() {
            self.end_transaction(statements, None);
        }
    }

    fn record(&mut self, seen: SeenOperation) {
        let form = seen.normal.form();
        let database = seen.figures.namespace.split('.').next().unwrap_or_default();
        let key = format!("{database} {form}");
        if !self.shapes.contains_key(&key) && self.shapes.len() == MOST_SHAPES {
            self.others = (self.others.0 + 1, self.others.1 + seen.figures.micros);
            return;
        }
        let gathered =
            self.shapes.entry(key).or_insert_with(|| ShapeTally::new(&seen, database, form));
        gathered.add(seen, &mut self.room);
    }
}

/// All operations of one shape.
#[derive(Debug, Default)]
pub(crate) struct ShapeTally {
    pub(crate) database: String,
    pub(crate) form: String,
    pub(crate) operation: Literal,
    pub(crate) unfit: Option<String>,
    pub(crate) calls: u64,
    micros: u64,
    pub(crate) plans: BTreeMap<String, u64>,
    pub(crate) keys: NumberCounts,
    pub(crate) documents: NumberCounts,
    pub(crate) returned: NumberCounts,
    bytes: NumberCounts,
    statements: NumberCounts,
    /// Calls that were transactions without a commit.
    open: u64,
    /// How many calls found nothing.
    pub(crate) empty: u64,
    pub(crate) manner: BTreeMap<(&'static str, String), (Literal, u64)>,
    pub(crate) values: Vec<ShapeValue>,
    pub(crate) repeats: Vec<NumberCounts>,
}

/// A value that differs from call to call.
#[derive(Debug)]
pub(crate) struct ShapeValue {
    pub(crate) path: String,
    pub(crate) role: ValueRole,
    pub(crate) kind: ElementType,
    pub(crate) lengths: NumberCounts,
    pub(crate) items: NumberCounts,
    pub(crate) access: ValueFrequencies,
    /// Numbers that ascend with the first values.
    pub(crate) orders: Vec<f64>,
    /// How long before their calls the dates of `$gte` lay, in milliseconds.
    pub(crate) ages: NumberCounts,
    /// The number that it was in every call.
    pub(crate) constant: Option<i64>,
    /// The first parameter that had the same value in every call.
    pub(crate) same_as: Option<usize>,
}

impl ShapeTally {
    fn new(seen: &SeenOperation, database: &str, form: String) -> Self {
        let parameter = |(place, value): (usize, &OmittedValue)| ShapeValue {
            path: value.path.clone(),
            role: value.role,
            kind: value.kind,
            lengths: NumberCounts::default(),
            items: NumberCounts::default(),
            access: ValueFrequencies::default(),
            orders: Vec::new(),
            ages: NumberCounts::default(),
            constant: value.small,
            same_as: seen.normal.values[..place].iter().position(|one| one.is_same(value)),
        };
        Self {
            database: database.into(),
            form,
            operation: seen.normal.operation.clone(),
            unfit: seen.normal.unfit.clone(),
            values: seen.normal.values.iter().enumerate().map(parameter).collect(),
            repeats: vec![NumberCounts::default(); seen.repeats.len()],
            ..Self::default()
        }
    }

    fn add(&mut self, seen: SeenOperation, room: &mut u64) {
        let figures = seen.figures;
        self.calls += 1;
        self.micros += figures.micros;
        self.open += u64::from(seen.is_open);
        if self.plans.len() < MOST_PLANS || self.plans.contains_key(&figures.plan) {
            *self.plans.entry(figures.plan).or_default() += 1;
        }
        self.keys.add(figures.keys_examined);
        self.documents.add(figures.documents_examined);
        self.bytes.add(figures.bytes);
        self.statements.add(figures.statements);
        if let Some(returned) = figures.returned {
            self.returned.add(returned);
            self.empty += u64::from(returned == 0);
        }
        for (key, value) in seen.normal.manner {
            self.manner.entry((key, value.to_string())).or_insert((value, 0)).1 += 1;
        }
        for (counts, number) in self.repeats.iter_mut().zip(seen.repeats) {
            counts.add(number);
        }
        let values = &seen.normal.values;
        for (place, value) in values.iter().enumerate().take(self.values.len()) {
            let known = &mut self.values[place];
            known.constant = known.constant.filter(|number| value.small == Some(*number));
            known.lengths.add(value.length);
            known.items.add(value.hashes.len() as u64);
            if matches!(value.role, ValueRole::Equal | ValueRole::In) {
                value.hashes.iter().for_each(|hash| known.access.add(*hash, room));
            }
            if let (ValueRole::Lower, ElementType::DateTime, Some(date)) =
                (value.role, value.kind, value.order)
            {
                known.ages.add((figures.at_ms as f64 - date) as u64);
            }
            let has_room = known.orders.len() < MOST_ORDERS;
            known.orders.extend(value.order.filter(|_| has_room));
            if known.same_as.is_some_and(|first| !values[first].is_same(value)) {
                known.same_as = None;
            }
        }
    }

    fn shape(&self, collections: &[Stored]) -> Shape {
        let first =
            self.values.iter().find(|value| matches!(value.role, ValueRole::Equal | ValueRole::In));
        let mut plans: Vec<(String, u64)> = self.plans.clone().into_iter().collect();
        plans.sort_by(|(one, a), (other, b)| b.cmp(a).then_with(|| one.cmp(other)));
        let mut shape = Shape {
            namespace: format!("{}.{}", self.database, statement::collection(&self.operation)),
            form: self.form.clone(),
            calls: self.calls,
            micros: self.micros,
            plans,
            keys_examined: self.keys.spread(),
            documents_examined: self.documents.spread(),
            returned: self.returned.spread(),
            bytes: self.bytes.spread(),
            statements: self.statements.spread(),
            hottest_of_first: first.map(|value| value.access.levels.clone()).unwrap_or_default(),
            unfit: self.unfit.clone(),
            ..Shape::default()
        };
        match &self.unfit {
            Some(_) => shape.operation = self.operation.clone(),
            None => match statement::written(self, collections) {
                Ok(written) => (shape.operation, shape.remarks) = written,
                Err(why) => {
                    (shape.operation, shape.unfit) = (self.operation.clone(), Some(why));
                }
            },
        }
        if self.open * 2 > self.calls {
            shape.remarks.push(OPEN.into());
        }
        shape
    }
}
