//! From a shape to the operation of a file: its values become parameters that fit the fields.

use crate::fields::{StoredField, ValueCount, at, for_new_values, has_absent, is_new, keys, map};
use crate::form::{ValueRole, hole, mapped};
use crate::shapes::{ShapeTally, ShapeValue};
use crate::{Index, Shape, Stored};
use plimsoll_record::quantities::units;
use plimsoll_workload::documents::{Literal, MOST_STATEMENTS};
use std::collections::HashSet;

/// The most values of `$in` that are written.
const MOST_ITEMS: u64 = 20;
/// Deepest level of an operation. Files are read up to 32 levels deep, and an operation has some around it.
const MOST_DEPTH: usize = 25;
/// With more calls that found nothing, `empty: allowed` is written.
const FEW_EMPTY: u64 = 3;
/// From this share of calls that found nothing on, an operation asks for what is not there.
const NEARLY_ALL: f64 = 0.95;
/// The longest name, so that a number after it has room.
const MOST_NAME: usize = 34;

/// The collection of an operation, or of a transaction's first statement.
pub(crate) fn collection(operation: &Literal) -> String {
    match operation.entries().first() {
        Some((_, Literal::List(statements))) => {
            statements.first().map(collection).unwrap_or_default()
        }
        Some((_, name)) => name.scalar().unwrap_or_default(),
        None => String::new(),
    }
}

/// What a file calls a collection: its name, with the database before it where two databases have it.
pub fn collection_key(stored: &Stored, collections: &[Stored]) -> String {
    match collections.iter().filter(|other| other.name == stored.name).count() {
        0 | 1 => stored.name.clone(),
        _ => format!("{}_{}", stored.database, stored.name),
    }
}

/// The operation as a file has it, with remarks on what differs, or why there is none.
pub(crate) fn written(
    gathered: &ShapeTally,
    collections: &[Stored],
) -> Result<(Literal, Vec<String>), String> {
    let mut writer = OperationWriter {
        gathered,
        collections,
        with: Vec::new(),
        shared: Vec::new(),
        is_loose: false,
        remarks: Vec::new(),
    };
    let operation = match gathered.operation.get("transaction") {
        Some(Literal::List(statements)) => writer.transaction(statements)?,
        _ => {
            let mut entries = writer.statement(&gathered.operation)?;
            let kind = entries[0].0.clone();
            entries.extend(writer.manner(&kind));
            entries
        }
    };
    let operation = Literal::Map(operation);
    match depth(&operation) {
        ..=MOST_DEPTH => Ok((operation, writer.remarks)),
        _ => Err(format!("it nests documents and lists more than {MOST_DEPTH} levels deep")),
    }
}

fn depth(value: &Literal) -> usize {
    match value {
        Literal::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Literal::Map(entries) => 1 + entries.iter().map(|(_, item)| depth(item)).max().unwrap_or(0),
        _ => 0,
    }
}

type Entries = Vec<(String, Literal)>;

struct OperationWriter<'a> {
    gathered: &'a ShapeTally,
    collections: &'a [Stored],
    /// Parameters of the statement that is written.
    with: Entries,
    /// Parameters of the transaction, each with the value that several statements share.
    shared: Vec<(usize, String)>,
    /// Whether it may find nothing.
    is_loose: bool,
    remarks: Vec<String>,
}

impl<'a> OperationWriter<'a> {
    fn stored(&self, name: &str) -> Result<&'a Stored, String> {
        let is_it =
            |stored: &&Stored| stored.name == name && stored.database == self.gathered.database;
        let found = self.collections.iter().find(is_it);
        found.ok_or_else(|| format!("there is no collection `{name}` in the file"))
    }

    fn key(&self, stored: &Stored) -> Literal {
        Literal::Text(collection_key(stored, self.collections))
    }

    fn at(&self, path: &str, stored: &Stored) -> Option<StoredField> {
        at(&stored.fields, path, self.collections)
    }

    /// The name of the parameter of the transaction that has this value.
    fn shared_name(&self, value: usize) -> Option<&str> {
        let first = self.gathered.values[value].same_as.unwrap_or(value);
        let found = self.shared.iter().find(|(known, _)| *known == first);
        found.map(|(_, name)| name.as_str())
    }

    fn transaction(&mut self, statements: &[Literal]) -> Result<Entries, String> {
        let mut with = Entries::new();
        for value in &self.gathered.values {
            if let Some(first) = value.same_as.filter(|first| self.shared_name(*first).is_none())
                && let Some(owner) = statements.iter().find(|one| holes(one).contains(&first))
            {
                let stored = self.stored(&collection(owner))?;
                let first_value = &self.gathered.values[first];
                let mut entries = self.described(first_value, stored).entries().to_vec();
                if entries.iter().any(|(key, _)| key == "value_of" || key == "from") {
                    let name = free_name(&first_value.path, &with);
                    entries.push(("in".into(), self.key(stored)));
                    with.push((name.clone(), Literal::Map(entries)));
                    self.shared.push((first, name));
                }
            }
        }
        self.is_loose = false;
        let mut list = Vec::new();
        for (place, statement) in statements.iter().enumerate() {
            let times = self.gathered.repeats.get(place).map_or(1, |counts| counts.median().max(1));
            let written = Literal::Map(self.statement(statement)?);
            list.extend(std::iter::repeat_n(written, times as usize));
        }
        if list.len() > MOST_STATEMENTS {
            return Err(format!("a transaction has {MOST_STATEMENTS} statements at most"));
        }
        let mut entries = vec![("transaction".to_owned(), Literal::List(list))];
        if !with.is_empty() {
            entries.push(("with".into(), Literal::Map(with)));
        }
        entries.extend(self.manner("transaction"));
        Ok(entries)
    }

    /// One statement, without what belongs to a whole transaction.
    fn statement(&mut self, operation: &Literal) -> Result<Entries, String> {
        let stored = self.stored(&collection(operation))?;
        let (kind, _) = operation.entries().first().ok_or("an operation without a name")?;
        let mut entries = vec![(kind.clone(), self.key(stored))];
        self.with.clear();
        self.is_loose = self.gathered.empty > FEW_EMPTY;
        if kind == "insert" && self.gathered.repeats.is_empty() {
            let documents = two_digits(self.gathered.returned.median());
            if documents > 1 {
                entries.push(("documents".into(), Literal::Int(documents as i64)));
            }
        }
        for (key, value) in &operation.entries()[1..] {
            match (key.as_str(), value) {
                ("filter", filter) => match self.by(kind, filter, stored) {
                    Some(by) => entries.extend(by),
                    None => {
                        self.is_loose |= self.is_independent(filter, stored);
                        let filter = self.filled(filter, stored)?;
                        entries.push((key.clone(), filter));
                    }
                },
                ("set", _) => entries.push((key.clone(), self.whole_document(stored)?)),
                ("change", change) => match self.set(change, stored) {
                    Some(names) => entries.push(("set".into(), names)),
                    None => entries.push((key.clone(), self.filled(change, stored)?)),
                },
                ("limit", Literal::Int(limit)) if *limit > 1_000_000 => {}
                (_, value) => {
                    self.is_loose |= key == "pipeline" && self.is_independent(value, stored);
                    let value = self.filled(value, stored)?;
                    entries.push((key.clone(), value));
                }
            }
        }
        let with = std::mem::take(&mut self.with);
        let has_absent = with.iter().any(|(_, described)| described.get("absent").is_some());
        if !with.is_empty() {
            entries.push(("with".into(), Literal::Map(with)));
        }
        if self.is_loose && !has_absent && kind != "insert" {
            entries.push(("empty".into(), Literal::Text("allowed".into())));
        }
        Ok(entries)
    }

    /// `by` and `keys` in the place of a filter for one value of a field.
    fn by(&self, kind: &str, filter: &Literal, stored: &Stored) -> Option<Entries> {
        let [(path, Literal::Text(text))] = filter.entries() else {
            return None;
        };
        let place = hole(text)?;
        let value = &self.gathered.values[place];
        let found = self.at(path, stored).filter(StoredField::can_be_asked)?;
        let can_be_by = found.pick != ValueCount::Free && value.role == ValueRole::Equal;
        let is_other = self.choice(place, stored).is_some() || self.is_absent(value, stored);
        if !can_be_by || kind == "aggregate" || self.shared_name(place).is_some() || is_other {
            return None;
        }
        let mut entries = vec![("by".to_owned(), Literal::Text(path.clone()))];
        let keys = keys(value, &found.pick, stored.documents);
        if keys != "uniform" {
            entries.push(("keys".into(), Literal::Text(keys.into())));
        }
        Some(entries)
    }

    /// Whether a filter has several values that are drawn independently, so that perhaps no document has all of them.
    fn is_independent(&self, filter: &Literal, stored: &Stored) -> bool {
        let is_drawn = |place: &usize| {
            let value = &self.gathered.values[*place];
            let is_compared = matches!(
                value.role,
                ValueRole::Equal | ValueRole::In | ValueRole::Lower | ValueRole::Upper
            );
            is_compared && value.constant.is_none() && self.range(*place, stored) != Some(*place)
        };
        holes(filter).iter().filter(|place| is_drawn(place)).count() > 1
    }

    /// Whether a value is one that no document has: nearly all calls found nothing, and examined no document but in a scan.
    fn is_absent(&self, value: &ShapeValue, stored: &Stored) -> bool {
        let gathered = self.gathered;
        let found = self.at(&value.path, stored).filter(StoredField::can_be_asked);
        let negations = ["$ne", "$nin", "$nor", "$not"];
        gathered.repeats.is_empty()
            && !negations.iter().any(|word| gathered.form.contains(word))
            && matches!(value.role, ValueRole::Equal | ValueRole::In)
            && gathered.empty as f64 >= NEARLY_ALL * gathered.calls as f64
            && (gathered.documents.median() == 0 || self.is_usual_plan("COLLSCAN"))
            && found.is_some_and(|found| has_absent(&found.generator, self.collections))
    }

    /// Whether the plan of most calls has this part.
    fn is_usual_plan(&self, part: &str) -> bool {
        let with_part = self.gathered.plans.iter().filter(|(plan, _)| plan.contains(part));
        with_part.map(|(_, calls)| calls).sum::<u64>() * 2 > self.gathered.calls
    }

    /// Whether values of a field ascend from document to document.
    fn rises(&self, path: &str, stored: &Stored) -> bool {
        let found = self.at(path, stored).filter(StoredField::can_be_asked);
        found.is_some_and(|found| found.pick == ValueCount::Unique { rises: true })
    }

    /// The place of the upper end, if a value is the end of a range with a known number of documents.
    fn range(&self, place: usize, stored: &Stored) -> Option<usize> {
        let values = &self.gathered.values;
        let upper = if values[place].role == ValueRole::Lower { place + 1 } else { place };
        let (low, high) = (values.get(upper.checked_sub(1)?)?, values.get(upper)?);
        let is_range = (low.role, high.role) == (ValueRole::Lower, ValueRole::Upper)
            && low.path == high.path
            && low.constant.or(high.constant).is_none();
        (is_range && self.rises(&high.path, stored)).then_some(upper)
    }

    /// `set` with the names of the fields, if nothing happens but that known fields get new values.
    fn set(&self, change: &Literal, stored: &Stored) -> Option<Literal> {
        let [(operator, fields)] = change.entries() else {
            return None;
        };
        let is_settable = |(path, value): &(String, Literal)| {
            matches!(value, Literal::Text(_)) && self.can_be_set(path, stored)
        };
        let names = fields.entries().iter().map(|(path, _)| Literal::Text(path.clone()));
        (operator == "$set" && fields.entries().iter().all(is_settable))
            .then(|| Literal::List(names.collect()))
    }

    fn can_be_set(&self, path: &str, stored: &Stored) -> bool {
        path != "_id" && self.at(path, stored).is_some_and(|found| found.can_be_set())
    }

    fn whole_document(&mut self, stored: &Stored) -> Result<Literal, String> {
        let paths = stored.fields.iter().map(|field| &field.path);
        let paths = paths.filter(|path| !path.contains('.') && self.can_be_set(path, stored));
        let names: Vec<Literal> = paths.map(|path| Literal::Text(path.clone())).collect();
        if names.is_empty() {
            return Err("it replaces documents all of whose fields are unique".into());
        }
        let remark = "whole documents were replaced; here their fields get new values";
        self.remarks.push(remark.into());
        Ok(Literal::List(names))
    }

    /// The keys of the index that a hint names.
    fn hint(&mut self, hint: &Literal) -> Option<Literal> {
        let first =
            hint.entries().first().map_or_else(|| hint.scalar(), |(key, _)| Some(key.clone()));
        if first.is_some_and(|first| ["_id", "_id_", "$natural"].contains(&first.as_str())) {
            return Some(hint.clone());
        }
        let stored = self.stored(&collection(&self.gathered.operation)).ok()?;
        let is_named = |index: &&Index| {
            index.keys() == hint || matches!(hint, Literal::Text(name) if *name == index.name)
        };
        let found = stored.indexes.iter().find(is_named);
        if found.is_none() {
            self.remarks.push("its hint names an index that is not in the file".into());
        }
        found.map(|index| index.keys().clone())
    }

    /// The same with names of parameters in the place of numbers.
    fn filled(&mut self, value: &Literal, stored: &Stored) -> Result<Literal, String> {
        match value {
            Literal::Text(text) => match hole(text) {
                Some(place) => {
                    let constant = self.gathered.values[place].constant.map(Literal::Int);
                    let constant = constant.or_else(|| self.choice(place, stored));
                    Ok(constant.unwrap_or_else(|| self.parameter(place, stored)))
                }
                None => Ok(value.clone()),
            },
            Literal::List(items) => {
                let mut list = Vec::new();
                for item in items {
                    let place = item.scalar().and_then(|text| hole(&text));
                    let times = place.map_or(1, |place| {
                        let value = &self.gathered.values[place];
                        let is_list = matches!(value.role, ValueRole::In | ValueRole::Items);
                        if is_list { value.items.median().max(1) } else { 1 }
                    });
                    if times > MOST_ITEMS {
                        let times = two_digits(times);
                        self.remarks
                            .push(format!("lists of {times} values are cut to {MOST_ITEMS}"));
                    }
                    for _ in 0..times.min(MOST_ITEMS) {
                        list.push(self.filled(item, stored)?);
                    }
                }
                Ok(Literal::List(list))
            }
            Literal::Map(entries) => {
                let mut map = Vec::new();
                for (key, value) in entries {
                    let other = match key.as_str() {
                        "$lookup" => value.get("from"),
                        "$unionWith" => value.get("coll").or(Some(value)),
                        _ => None,
                    };
                    if let Some(name) = other.and_then(Literal::scalar)
                        && self.key(self.stored(&name)?) != Literal::Text(name)
                    {
                        return Err(format!("`{key}` of a collection that has another name here"));
                    }
                    map.push((key.clone(), self.filled(value, stored)?));
                }
                Ok(Literal::Map(map))
            }
            other => Ok(other.clone()),
        }
    }

    /// `<name>`, which is defined under `with`.
    fn parameter(&mut self, place: usize, stored: &Stored) -> Literal {
        let value = &self.gathered.values[place];
        if let Some(name) = self.shared_name(place) {
            return Literal::Text(format!("<{name}>"));
        }
        let upper = self.range(place, stored);
        if upper == Some(place)
            && let Some((name, _)) = self.with.last()
        {
            return Literal::Text(format!("<{name}.to>"));
        }
        let shared = self.shared.iter().map(|(_, name)| (name.clone(), Literal::Null));
        let name =
            free_name(&value.path, &self.with.iter().cloned().chain(shared).collect::<Entries>());
        let gathered = self.gathered;
        let has_limit = gathered.operation.get("limit").is_some();
        let is_newest = value.role == ValueRole::Lower && (!has_limit || is_new(&value.orders));
        let is_counted = gathered.returned.median() > 0 && !self.is_cut();
        if is_newest
            && !is_counted
            && upper.is_none()
            && self.at(&value.path, stored).is_some_and(|found| found.follows_clock())
        {
            let ago = units::duration(two_digits(value.ages.median()) * 1_000_000);
            let described = [("ago", ago), ("of", value.path.clone())]
                .map(|(key, text)| (key.to_owned(), Literal::Text(text)));
            self.with.push((name.clone(), Literal::Map(described.to_vec())));
            return Literal::Text(format!("<{name}>"));
        }
        if upper.is_some() || (is_newest && self.rises(&value.path, stored)) {
            let mut range = vec![
                ("range_of".to_owned(), Literal::Text(value.path.clone())),
                ("documents".into(), Literal::Int(self.documents_with(place, stored) as i64)),
            ];
            if upper.is_none() {
                range.push(("at".into(), Literal::Text("end".into())));
            }
            self.with.push((name.clone(), Literal::Map(range)));
            return Literal::Text(format!("<{name}.from>"));
        }
        let described = self.described(value, stored);
        self.with.push((name.clone(), described));
        Literal::Text(format!("<{name}>"))
    }

    /// The value of a `choice` that stands for one that all calls asked for. Of a value that no sampled document has, it is the one that as many documents have.
    fn choice(&self, place: usize, stored: &Stored) -> Option<Literal> {
        let value = &self.gathered.values[place];
        let asked = value.access.single().filter(|_| value.role == ValueRole::Equal)?;
        let found = self.at(&value.path, stored).filter(StoredField::can_be_asked)?;
        let ValueCount::Finite(weights, _) = &found.pick else { return None };
        if let Some(text) = stored.spelled.get(&(value.path.clone(), asked)) {
            return Some(Literal::Text(text.clone()));
        }
        let all: f64 = weights.iter().sum();
        // The documents that a scan examines do not depend on the value.
        let scans = self.gathered.plans.contains_key("COLLSCAN");
        if scans && self.gathered.returned.median() == 0 {
            return None;
        }
        let seen = self.documents_with(place, stored) as f64;
        let distance = |weight: &f64| (weight / all * stored.documents as f64 / seen).ln().abs();
        let choices = found.generator.get("choice")?.entries().iter().zip(weights);
        let nearest = choices.min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
        nearest.map(|((name, _), _)| Literal::of_scalar(name, false))
    }

    /// Documents in a range, or with a value: as many as a call returned, or examined by an index where it did not return all of them, and more where other
    /// values of the filter leave out most of them.
    fn documents_with(&self, place: usize, stored: &Stored) -> u64 {
        let gathered = self.gathered;
        let value = &gathered.values[place];
        let is_range = matches!(value.role, ValueRole::Lower | ValueRole::Upper);
        // Without an index of the field, other documents than those of the range are examined.
        let is_by_other = is_range
            && !gathered.returned.is_empty()
            && !self.is_usual_plan(&format!(" {}: ", value.path));
        let found = match gathered.returned.median() {
            returned if is_by_other => returned,
            0 => gathered.documents.median().max(gathered.keys.median()),
            _ if self.is_cut() => gathered.documents.median(),
            returned => returned,
        };
        let mut all = found.max(1) as f64;
        for (other, value) in gathered.values.iter().enumerate() {
            if other != place
                && value.role == ValueRole::Equal
                && let Some(ValueCount::Finite(_, values)) =
                    self.at(&value.path, stored).map(|found| found.pick)
            {
                all *= values as f64;
            }
        }
        two_digits(all.min(stored.documents as f64) as u64).max(1)
    }

    /// Whether calls perhaps did not return all documents that their filter finds.
    fn is_cut(&self) -> bool {
        ["limit", "pipeline"].iter().any(|key| self.gathered.operation.get(key).is_some())
    }

    /// How a value is found.
    fn described(&mut self, value: &ShapeValue, stored: &Stored) -> Literal {
        let length = two_digits(value.lengths.median());
        let entry = |key: &str, text: &str| (key.to_owned(), Literal::Text(text.into()));
        let found = self.at(&value.path, stored).filter(|_| value.role != ValueRole::Free);
        let is_new = matches!(value.role, ValueRole::Free | ValueRole::New | ValueRole::Items);
        match found {
            Some(found) if !is_new && found.can_be_asked() => {
                let keys = keys(value, &found.pick, stored.documents);
                let is_drawn = found.pick != ValueCount::Free
                    && matches!(value.role, ValueRole::Equal | ValueRole::In)
                    && keys != "documents";
                if self.is_absent(value, stored) {
                    return map("absent", Literal::Text(value.path.clone()));
                }
                let mut entries =
                    vec![entry(if is_drawn { "value_of" } else { "from" }, &value.path)];
                if is_drawn && keys != "uniform" {
                    entries.push(entry("keys", keys));
                }
                Literal::Map(entries)
            }
            found => {
                // Perhaps no document has it.
                self.is_loose |= !is_new;
                let generator = found.map(|found| match value.role {
                    ValueRole::New => found.generator,
                    _ => found.value(),
                });
                for_new_values(generator, value.kind, length)
            }
        }
    }

    /// What more than half of the calls had of hint, concerns, time limit and batch, where the kind of operation can have it.
    fn manner(&mut self, kind: &str) -> Entries {
        let gathered = self.gathered;
        let writes =
            ["insert", "update", "delete", "find_and_modify", "transaction"].contains(&kind);
        let mut entries = Entries::new();
        for ((key, word), (value, _)) in
            gathered.manner.iter().filter(|(_, (_, calls))| calls * 2 > gathered.calls)
        {
            let fits = match *key {
                "read_concern" if kind == "transaction" => {
                    word != "available" && word != "linearizable"
                }
                "read_concern" => !(writes || kind == "count" && word == "snapshot"),
                "read_preference" => !writes,
                "write_concern" => writes,
                "batch" => matches!(kind, "find" | "aggregate"),
                "hint" => !matches!(kind, "insert" | "distinct" | "transaction"),
                _ => kind != "transaction",
            };
            let value = if *key == "hint" { self.hint(value) } else { Some(value.clone()) };
            entries.extend(value.filter(|_| fits).map(|value| ((*key).to_owned(), value)));
        }
        entries
    }
}

fn holes(value: &Literal) -> Vec<usize> {
    let mut holes = Vec::new();
    mapped(value, &mut |text| {
        holes.extend(hole(text));
        None
    });
    holes
}

pub(crate) fn two_digits(number: u64) -> u64 {
    let unit = 10_u64.pow(number.max(1).ilog10().saturating_sub(1));
    (number + unit / 2) / unit * unit
}

/// Letters, digits, `-` and `_` of a text, others as `_`, not longer than a name may be.
pub(crate) fn plain(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    text.chars().take(MOST_NAME).map(plain).collect::<String>().trim_matches('_').to_owned()
}

/// A name for a parameter of this path beside others.
fn free_name(path: &str, others: &[(String, Literal)]) -> String {
    let plain = plain(path);
    let base = match plain.as_str() {
        "" | "by" => format!("value{plain}"),
        _ => plain,
    };
    free(base, |name| others.iter().any(|(known, _)| known == name))
}

/// The text, with a number where it is taken.
pub(crate) fn free(base: String, is_taken: impl Fn(&str) -> bool) -> String {
    let mut numbered = (2..).map(|number| format!("{base}_{number}"));
    match is_taken(&base) {
        true => numbered.find(|name| !is_taken(name)).unwrap_or(base),
        false => base,
    }
}

/// Gives shapes short names, each another one.
pub(crate) fn name(shapes: &mut [Shape]) {
    let mut taken: HashSet<String> = HashSet::new();
    for shape in shapes.iter_mut().filter(|shape| shape.name.is_empty()) {
        let operation = &shape.operation;
        let by = operation.get("by").and_then(Literal::scalar);
        let filter = operation.get("filter").map(Literal::entries).unwrap_or_default();
        let paths = by.iter().chain(filter.iter().map(|(path, _)| path)).map(|path| plain(path));
        let paths: Vec<String> = paths.filter(|path| !path.is_empty()).take(2).collect();
        let by = match paths.is_empty() {
            true => String::new(),
            false => format!("-by-{}", paths.join("-")),
        };
        let kind = operation.entries().first().map_or("", |(kind, _)| kind);
        let end = match kind {
            "find" if !by.is_empty() => by,
            "find_and_modify" => "-modify".into(),
            "count" => format!("-count{by}"),
            kind => format!("-{kind}"),
        };
        let whole = format!("{}{end}", plain(&collection(operation)));
        let mut base = whole.trim_start_matches('-').to_owned();
        base.truncate(MOST_NAME);
        shape.name = free(base, |name| taken.contains(name));
        taken.insert(shape.name.clone());
    }
}
