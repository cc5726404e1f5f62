use super::*;
use mongodb::bson::oid::ObjectId;
use mongodb::bson::{DateTime, Decimal128, Timestamp, doc};
use plimsoll_testing::assert_contains;

fn described(documents: &[Document]) -> Described {
    described_of(documents, documents.len() as u64)
}

fn described_of(documents: &[Document], all: u64) -> Described {
    let is_complete = all == documents.len() as u64;
    let facts = Facts { documents: all, most_fields: 500, is_complete, ..Facts::default() };
    describe(documents, &facts)
}

/// Documents with ids in the order of insertion, each with the fields that a function gives its number.
fn documents(count: usize, fields: impl Fn(usize) -> Document) -> Vec<Document> {
    let id = |number: usize| {
        ObjectId::from_bytes((number as u128).to_be_bytes()[4..].try_into().unwrap())
    };
    let document = |number| {
        let mut document = doc! { "_id": id(number) };
        document.extend(fields(number));
        document
    };
    (0..count).map(document).collect()
}

fn said(described: &Described, path: &str) -> String {
    let field = described.fields.iter().find(|field| field.path == path);
    let field = field.unwrap_or_else(|| panic!("no field {path}"));
    field.generator.as_ref().map_or_else(String::new, ToString::to_string)
}

fn of_values(values: impl Iterator<Item = Bson>) -> String {
    let values: Vec<Bson> = values.collect();
    said(&described(&documents(values.len(), |number| doc! { "f": values[number].clone() })), "f")
}

#[test]
fn each_type_has_its_kind() {
    let of = |value: &dyn Fn(i32) -> Bson| of_values((0..200).map(value));
    let scattered = |number: i32| (number * 7_919) % 200;
    let minute = |n: i32| DateTime::from_millis(1_767_225_600_000 + 60_000 * i64::from(n));
    let list = "{list: {int: {uniform: [7, 8]}, distinct: 2}, length: 2}";
    for (said, expected) in [
        (of(&|n| format!("serial-{n:03}").into()), "{text: 10, unique: true}"),
        (
            of(&|n| ["no", "maybe", "maybe", "maybe"][n as usize % 4].into()),
            "{choice: {v1xxx: 75%, v2: 25%}}",
        ),
        (of(&|n| (n % 5 == 0).into()), "{bool: 20%}"),
        (of(&|n| (1_000 + n).into()), "{int: {sequence: {from: 1000, step: 1}}}"),
        (of(&Bson::from), "{int: sequence}"),
        (of(&|n| (scattered(n) % 4 + 1).into()), "{int: {uniform: [1, 4]}, distinct: 4}"),
        (of(&|_| 4_711.into()), "{int: 4700}"),
        (of(&|_| Bson::Null), "{'null': null}"),
        (of(&|_| ObjectId::new().into()), "{object_id: null}"),
        (of(&|n| minute(n).into()), "{date: {every: 1m, until: '2026-01-01T04:00:00Z'}}"),
        (of(&|_| doc! {}.into()), "{value: {}}"),
        (of(&|_| Vec::<Bson>::new().into()), "{list: {'null': null}, length: 0}"),
        (of(&|_| vec![7, 8].into()), list),
    ] {
        assert_eq!(said, expected);
    }
    let half = |n: i32| ["2.50", "7.25"][n as usize % 2].parse::<Decimal128>().unwrap();
    assert_contains(of(&|n| half(n).into()), "digits: 2");
    assert_contains(of(&|n| (f64::from(scattered(n)) / 8.0).into()), "{double: {table: {p0: ");
}

/// An email that only some have, and null that many have.
#[test]
fn presence_is_a_share() {
    let found = described(&documents(400, |number| match number % 4 {
        0 => doc! { "email": format!("{number}@example.org"), "note": Bson::Null },
        _ => doc! { "note": format!("note of {number}") },
    }));
    assert_contains(said(&found, "email"), "unique: true, present: 25%");
    assert_contains(said(&found, "note"), "unique: true, present: 75%");
    let note = found.fields.iter().find(|field| field.path == "note").unwrap();
    assert_eq!(note.origin, "25% are null, left out");
}

/// A field gets its most frequent type. Types that a file cannot have are left out.
#[test]
fn mixed_and_unknown_types_are_told() {
    let found = described(&documents(100, |number| match number % 10 {
        0 => doc! { "f": "a text", "t": Timestamp { time: 1, increment: 1 }, "n": 1.5 },
        _ => doc! { "f": number as i32 % 3, "t": Timestamp { time: 1, increment: 1 }, "n": 2 },
    }));
    assert_eq!(said(&found, "f"), "{int: {uniform: [0, 2]}, distinct: 3, present: 90%}");
    assert_contains(said(&found, "n"), "{double: ");
    assert!(found.fields.iter().all(|field| field.path != "t"));
    assert_eq!(found.omitted, ["t: an experiment file has no values of the type timestamp"]);
}

#[test]
fn nothing_and_one_document_are_described() {
    assert!(described(&[]).fields.is_empty());
    let one = described(&documents(
        1,
        |_| doc! { "name": "Ada", "tags": ["a"], "at": DateTime::from_millis(1_700_000_000_000) },
    ));
    assert_eq!(said(&one, "_id"), "{object_id: null}");
    assert_eq!(said(&one, "name"), "{text: 3, unique: true}");
    assert_contains(said(&one, "at"), "{date: {uniform: [");
}

/// Keys that differ from document to document are values rather than names.
#[test]
fn maps_lose_their_keys_and_wide_documents_their_rarest_fields() {
    let found = described(&documents(
        300,
        |number| doc! { "by-user": { format!("user-{number}"): 1, "all": 2 } },
    ));
    assert_eq!(found.omitted, ["by-user: its 301 different names, which may be values"]);
    // `user-0` to `user-299` and `all` have 5 letters on average.
    assert_eq!(said(&found, "by-user"), "{document: {k1xxx: {int: 1}, k2xxx: {int: 2}}}");
    let wide = described(&documents(20, |_| {
        (0..150).map(|field| (format!("f{field}"), Bson::from(1))).collect()
    }));
    // With `_id`, which as all others is in each document.
    assert_eq!(wide.fields.len(), 100);
    assert_eq!(wide.omitted, ["documents: 51 of 151 fields, the least frequent"]);
}

#[test]
fn what_lies_too_deep_is_left_out() {
    let mut deep = doc! { "end": 1 };
    for _ in 0..40 {
        deep = doc! { "in": deep };
    }
    let found = described(&documents(20, |_| deep.clone()));
    assert!(found.fields.iter().all(|field| field.path.split('.').count() <= DEEPEST));
    assert_contains(&found.omitted[0], "it lies too deep");
}

#[test]
fn names_that_a_file_cannot_have_are_left_out() {
    let found = described(&documents(20, |_| doc! { "": 1, "a.b": 1, "$c": 1, "<<": 1, "d e": 1 }));
    let paths: Vec<&str> = found.fields.iter().map(|field| field.path.as_str()).collect();
    assert_eq!(paths, ["_id", "d e"]);
    assert_eq!(
        found.omitted,
        ["documents: 4 of 6 fields: an experiment file cannot have their names"]
    );
}

/// A few enormous texts weigh more than all others, and so they do in the file.
#[test]
fn enormous_texts_keep_the_mean() {
    let long = |number: usize| if number % 200 == 7 { 2_000_000 } else { 100 };
    let found = described(&documents(1_000, |number| doc! { "body": "x".repeat(long(number)) }));
    let law = said(&found, "body");
    assert_contains(&law, "{text: {table: {p0: 100, ");
    // 5 of 1,000 have 2 MB: a mean of 10 kB, which the last 1 % must make up.
    let last =
        law.split("p100: ").nth(1).unwrap().split('}').next().unwrap().parse::<f64>().unwrap();
    assert!((1.8e6..2.2e6).contains(&last), "{law}");
}

/// The team has nothing to do with both.
#[test]
fn a_city_follows_its_country_and_a_team_nothing() {
    let cities = documents(900, |number| {
        let city = (number * 7_919) % 90;
        doc! { "country": (["Germany", "France", "Italy"][city % 3]), "city": format!("city-{city:02}"), "team": format!("team-{}", (number * 31) % 7) }
    });
    let found = described_of(&cities, 100_000);
    assert_contains(said(&found, "country"), "{choice: {v1");
    assert_contains(said(&found, "city"), "distinct: 90, follows: country}");
    assert!(!said(&found, "team").contains("follows"), "{}", said(&found, "team"));
}

/// Each of 200 devices has five documents. With so few, a device would explain more than half of the entropy even of an unrelated site.
#[test]
fn a_site_follows_its_device_although_each_is_seen_five_times() {
    let devices = documents(1_000, |number| {
        let id = (number * 7_919) % 200;
        let site = |of: usize| format!("s{:05}", of % 40);
        doc! { "of": { "id": id as i32, "site": site(id), "other": site(number * 613 / 7) } }
    });
    let found = described_of(&devices, 100_000);
    let of = said(&found, "of");
    assert_contains(&of, "distinct: 40, follows: id}");
    assert_eq!(of.matches("follows").count(), 1, "{of}");
}

#[test]
fn what_indexes_promise_is_kept() {
    let users = documents(
        50,
        |number| doc! { "email": format!("{number:02}"), "number": 3 * number as i32, "team": "t" },
    );
    let unique = BTreeMap::from([("email".into(), true), ("number".into(), true)]);
    let counted = BTreeMap::from([("team".into(), 4_000)]);
    let facts = Facts { documents: 1_000_000, most_fields: 9, unique, counted, ..Facts::default() };
    let found = describe(&users, &facts);
    // Two characters spell no million different texts.
    assert_eq!(said(&found, "email"), "{text: 5, unique: true}");
    assert_contains(said(&found, "number"), "{int: ");
    assert_contains(said(&found, "team"), "distinct: 4k");
    assert_eq!(found.fields[3].origin, "values counted by an index");
}

/// Letters in no order, which no compressor shortens, and the same ones again and again.
#[test]
fn texts_compress_as_their_originals() {
    let mut stream = Stream::from_state(5);
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut random = |long: usize| -> String {
        (0..long).map(|_| char::from(letters[stream.below(64) as usize])).collect()
    };
    let texts: Vec<String> = (0..100).map(|_| random(400)).collect();
    let found = |text: &dyn Fn(usize) -> String| {
        said(&described(&documents(100, |number| doc! { "f": text(number) })), "f")
    };
    assert!(!found(&|number| texts[number].clone()).contains("compressible"));
    let half = found(&|number| texts[number][..200].to_owned() + &"x".repeat(200));
    let percent = half.split("compressible: ").nth(1).unwrap().split('%').next().unwrap();
    assert!((44..=52).contains(&percent.parse::<u32>().unwrap()), "{half}");
}

/// Dates that follow the clock advance with it. Those by which documents expire must not lie in the past, and are moved if they cannot follow it.
#[test]
fn dates_follow_the_clock_or_lie_ahead() {
    const HOUR: i64 = 3_600_000;
    let now = DateTime::now().timestamp_millis();
    // The newest of 100 dates, a minute apart, from the present time on, and whether documents have them in their order.
    for (newest, is_expiring, in_order, until) in [
        (-2 * 60_000, false, true, "now"),
        (-HOUR, false, true, "a date"),
        (-HOUR, true, true, "now"),
        (HOUR, false, true, "a date"),
        // As where documents expire at a date of their own.
        (HOUR, true, true, "ahead"),
        (-HOUR, true, false, "ahead"),
    ] {
        let sessions = documents(100, |number| {
            let place = if in_order { number } else { number * 37 % 100 };
            doc! { "at": DateTime::from_millis(now + newest - 60_000 * (99 - place as i64)) }
        });
        let expiring = is_expiring.then(|| "at".to_owned()).into_iter().collect();
        let now_ms = now as f64;
        let facts = Facts { documents: 100, most_fields: 9, expiring, now_ms, ..Facts::default() };
        let found = describe(&sessions, &facts);
        let date = found.fields[1].generator.as_ref().unwrap().get("date").unwrap();
        let end = match date.get("uniform") {
            Some(Literal::List(ends)) => ends[1].scalar().unwrap(),
            _ => date.get("until").unwrap().scalar().unwrap(),
        };
        let moment = format!("{end}T00:00:00Z");
        let moment = DateTime::parse_rfc3339_str(&end).or(DateTime::parse_rfc3339_str(moment));
        let found_until = match moment.map(DateTime::timestamp_millis) {
            Ok(moment) if moment > now + 24 * HOUR * 700 => "ahead",
            Ok(_) => "a date",
            Err(_) => end.as_str(),
        };
        assert_eq!(found_until, until, "{newest} {is_expiring} {in_order}: {date}");
        assert_eq!(found.fields[1].origin.contains("moved ahead"), until == "ahead");
    }
}

/// Quantiles of few whole numbers keep each one's share.
#[test]
fn laws_are_quantiles_with_two_digits() {
    let lengths = |values: Vec<f64>| law::lengths(values, 0.0).to_string();
    let few: Vec<f64> = (0..100).map(|number| if number < 60 { 1.0 } else { 2.0 }).collect();
    assert_eq!(lengths(few), "{table: {p0: 1, p60: 1, p60.1: 2, p100: 2}}");
    let many: Vec<f64> = (0..=1_000).map(f64::from).collect();
    assert_eq!(
        lengths(many),
        "{table: {p0: 10, p10: 100, p25: 250, p50: 500, p75: 750, p90: 900, p100: 990}}"
    );
    assert_eq!(lengths(vec![128.0; 30]), "130");
    assert_eq!(lengths(vec![]), "0");
    assert_eq!(
        [0.0, 0.023_4, 0.5, 0.9, 0.997_3, 1.0, 2.5].map(percent),
        ["0%", "2.3%", "50%", "90%", "99.73%", "100%", "250%"]
    );
}
