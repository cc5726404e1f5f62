//! Indexes as the file takes them. What it cannot say is left out and reported.

use crate::collections::figure;
use crate::documents::{Described, numeric};
use crate::fields::{ValueCount, at};
use crate::form::{hash, is_true};
use crate::model::Index;
use mongodb::bson::{Bson, Document};
use plimsoll_record::quantities::units;
use plimsoll_workload::documents::Literal;

/// What the server adds by itself.
const OF_EVERY_INDEX: [&str; 5] = ["v", "key", "name", "ns", "background"];
/// Operators of a partial index whose operands are no values of the user.
const WITHOUT_VALUES: [&str; 2] = ["$exists", "$type"];

pub(crate) fn name(index: &Document) -> &str {
    index.get_str("name").unwrap_or_default()
}

/// Fields of an index in their order, where all are ascending or descending.
pub(crate) fn keys(index: &Document) -> Option<Vec<(&str, i64)>> {
    let direction = |value: &Bson| match numeric(value)? {
        number if number > 0.0 => Some(1),
        number if number < 0.0 => Some(-1),
        _ => None,
    };
    let keys = index.get_document("key").ok()?;
    keys.iter().map(|(field, value)| Some((field.as_str(), direction(value)?))).collect()
}

pub(crate) fn is_set(index: &Document, option: &str) -> bool {
    index.get(option).is_some_and(is_true)
}

/// How long documents stay, by an index or by the options of a time series.
pub(crate) fn expires(options: &Document) -> Option<Literal> {
    let seconds = options.get("expireAfterSeconds").and_then(numeric);
    let after = seconds.filter(|seconds| *seconds >= 0.0)?;
    Some(Literal::Text(units::duration((after * 1e9) as u64)))
}

/// An index as `indexes` takes it, or why it is left out.
pub(crate) fn spec(index: &Document, described: &Described) -> Result<Literal, String> {
    let Some(keys) = keys(index) else {
        return Err("text, geo and hashed indexes are left out".into());
    };
    if keys.iter().any(|(field, _)| field.contains("$**")) {
        return Err("wildcard indexes are left out".into());
    }
    let mut lists: Vec<&str> = Vec::new();
    for (path, _) in &keys {
        if described.fields.iter().all(|field| field.path != *path) {
            return Err(format!("no sampled document has `{path}`"));
        }
        lists.extend(list_of(path, described).filter(|list| !lists.contains(list)));
    }
    if lists.len() > 1 {
        return Err(format!("a server refuses an index on two lists, {}", lists.join(" and ")));
    }
    let entries: Vec<(String, Literal)> = keys
        .iter()
        .map(|(path, direction)| ((*path).to_owned(), Literal::Int(*direction)))
        .collect();
    let mut properties: Vec<(String, Literal)> = Vec::new();
    for (option, value) in
        index.iter().filter(|(option, _)| !OF_EVERY_INDEX.contains(&option.as_str()))
    {
        match option.as_str() {
            "unique" if !is_set(index, option) || !is_promised(&keys, described) => {}
            "sparse" if !is_set(index, option) => {}
            "unique" | "sparse" => properties.push((option.clone(), Literal::Bool(true))),
            "expireAfterSeconds" => {
                let after = expires(index).filter(|_| keys.len() == 1);
                properties.extend(after.map(|after| ("expire_after".into(), after)));
            }
            "partialFilterExpression" => {
                let filter = value.as_document().and_then(|filter| only(filter, described));
                let Some(filter) = filter else {
                    return Err("its partial filter has values that do not leave the server".into());
                };
                properties.push(("only".into(), filter));
            }
            other => return Err(format!("the file has no `{other}` for indexes")),
        }
    }
    if properties.is_empty() {
        return Ok(Literal::Map(entries));
    }
    properties.insert(0, ("keys".into(), Literal::Map(entries)));
    Ok(Literal::Map(properties))
}

/// Whether the file keeps the promise of a unique index: one of its fields has a value of its own in each document.
fn is_promised(keys: &[(&str, i64)], described: &Described) -> bool {
    keys.iter().any(|(path, _)| {
        let field = at(&described.fields, path, &[]);
        let is_unique = |pick: &ValueCount| matches!(pick, ValueCount::Unique { .. });
        list_of(path, described).is_none() && field.is_some_and(|field| is_unique(&field.pick))
    })
}

/// The outermost list in which a field lies, or which it is.
fn list_of<'a>(path: &str, described: &'a Described) -> Option<&'a str> {
    let is_above = |list: &&String| {
        path.strip_prefix(list.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    described.lists.iter().find(is_above).map(String::as_str)
}

/// A partial filter without values of the user: those of a choice as the file spells them, and what is no value.
fn only(filter: &Document, described: &Described) -> Option<Literal> {
    let entry = |(path, value): (&String, &Bson)| {
        let literal = match value {
            Bson::Document(operators) => {
                let operator = |(name, operand): (&String, &Bson)| {
                    let operand = match operand {
                        Bson::Boolean(flag) => Literal::Bool(*flag),
                        Bson::String(kind) if name == "$type" => Literal::Text(kind.clone()),
                        _ => return None,
                    };
                    WITHOUT_VALUES.contains(&name.as_str()).then(|| (name.clone(), operand))
                };
                Literal::Map(operators.iter().map(operator).collect::<Option<_>>()?)
            }
            Bson::Boolean(flag) => Literal::Bool(*flag),
            value => Literal::Text(described.spelled.get(&(path.clone(), hash(value)))?.clone()),
        };
        Some((path.clone(), literal))
    };
    Some(Literal::Map(filter.iter().map(entry).collect::<Option<_>>()?))
}

/// All indexes but that of `_id`, with the reasons for those that are left out.
pub(crate) fn indexes(
    listed: &[Document],
    sizes: &Document,
    uses: &[(String, u64)],
    described: &Described,
) -> (Vec<Index>, Vec<String>) {
    let (mut indexes, mut omitted): (Vec<Index>, Vec<String>) = (Vec::new(), Vec::new());
    for index in listed {
        let name = name(index);
        let keys = keys(index);
        if keys.as_deref() == Some(&[("_id", 1)]) {
            continue;
        }
        let spec = match spec(index, described) {
            Ok(spec) => spec,
            Err(why) => {
                omitted.push(format!("index {name}: {why}"));
                continue;
            }
        };
        let one = Index {
            name: name.into(),
            spec,
            uses: uses.iter().find(|(known, _)| known == name).map(|(_, uses)| *uses),
            bytes: figure(sizes, name),
        };
        if indexes.iter().any(|known| known.keys() == one.keys()) {
            omitted.push(format!("index {name}: the file has one index for the same keys"));
            continue;
        }
        if is_set(index, "unique") && one.spec.get("unique").is_none() {
            omitted.push(format!("index {name}: not unique in the file, whose values may repeat"));
        }
        indexes.push(one);
    }
    (indexes, omitted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{Facts, describe};
    use mongodb::bson::{doc, oid::ObjectId};
    use plimsoll_testing::assert_contains;

    /// Orders, most of them sent, with tags and an amount.
    fn described() -> Described {
        let orders = (0..200).map(|number| {
            let status = if number % 4 == 0 { "open" } else { "shipped" };
            doc! { "_id": ObjectId::new(), "status": status, "amount": number % 90, "paid": number % 2 == 0,
                "tags": ["red"], "sizes": [1, 2], "serial": format!("serial-{number}") }
        });
        let orders: Vec<Document> = orders.collect();
        describe(
            &orders,
            &Facts { documents: 200, most_fields: 99, is_complete: true, ..Facts::default() },
        )
    }

    /// Indexes as a server lists them, each with what the file says of it.
    const KEPT: &str = r#"{ "v": 2, "key": { "status": 1.0, "amount": -1 }, "name": "a" }
{status: 1, amount: -1}
{ "key": { "serial": 1 }, "name": "a", "unique": true, "sparse": 1 }
{keys: {serial: 1}, unique: true, sparse: true}
{ "key": { "tags": 1 }, "name": "a", "expireAfterSeconds": 1800 }
{keys: {tags: 1}, expire_after: 30m}
{ "key": { "amount": 1 }, "name": "a", "partialFilterExpression": { "status": "open", "paid": true } }
{keys: {amount: 1}, only: {status: v2xx, paid: true}}
{ "key": { "amount": 1 }, "name": "a", "partialFilterExpression": { "status": { "$exists": true } } }
{keys: {amount: 1}, only: {status: {$exists: true}}}
{ "key": { "amount": 1, "status": 1 }, "name": "a", "unique": true }
{amount: 1, status: 1}"#;

    /// Indexes that are left out, each with its reason.
    const LEFT_OUT: &str = r#"{ "key": { "status": "text" } }
text, geo and hashed
{ "key": { "status": "hashed" } }
text, geo and hashed
{ "key": { "$**": 1 } }
wildcard
{ "key": { "status": 1 }, "collation": { "locale": "de" } }
no `collation`
{ "key": { "absent": 1 } }
no sampled document has `absent`
{ "key": { "tags": 1, "sizes": 1 } }
two lists, tags and sizes
{ "key": { "status": 1 }, "partialFilterExpression": { "amount": { "$gt": 4711 } } }
do not leave the server
{ "key": { "amount": 1 }, "partialFilterExpression": { "status": "secret" } }
do not leave the server"#;

    fn each(cases: &str, check: impl Fn(Result<String, String>, &str)) {
        let described = described();
        for case in cases.lines().collect::<Vec<_>>().chunks(2) {
            let index: Document = serde_json::from_str(case[0]).unwrap();
            check(spec(&index, &described).map(|spec| spec.to_string()), case[1]);
        }
    }

    #[test]
    fn what_the_file_can_say_of_an_index_is_kept() {
        each(KEPT, |found, said| assert_eq!(found.unwrap(), said));
    }

    #[test]
    fn what_the_file_cannot_say_is_left_out_with_its_reason() {
        each(LEFT_OUT, |found, why| {
            let found = found.unwrap_err();
            assert_contains(&found, why);
            assert!(!found.contains("4711") && !found.contains("secret"), "{found}");
        });
    }

    /// A server may have two indexes with the same keys and other properties.
    #[test]
    fn keys_occur_once() {
        let listed = [
            doc! { "key": { "_id": 1 }, "name": "_id_" },
            doc! { "key": { "status": 1 }, "name": "one" },
            doc! { "key": { "status": 1 }, "name": "two", "sparse": true },
        ];
        let sizes = doc! { "one": 4096 };
        let (found, omitted) = indexes(&listed, &sizes, &[("one".into(), 7)], &described());
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].uses, found[0].bytes), (Some(7), 4096));
        assert_eq!(omitted, ["index two: the file has one index for the same keys"]);
    }
}
