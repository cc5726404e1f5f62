//! The JSON Schema and the reference agree with the reader.

use crate::it::{ENGINES, SMALLEST, check_with};
use crate::{
    Overrides, REFERENCE_BEGIN, REFERENCE_END, reference_markdown, schema, schema_text,
    with_reference,
};
use boon::{Compiler, SchemaIndex, Schemas};
use saphyr::{LoadableYamlNode, Yaml};
use serde_json::{Value, json};

/// YAML as JSON, as an editor sees it.
fn json_of(yaml: &str) -> Value {
    let documents = Yaml::load_from_str(yaml).expect("the file is YAML");
    convert(&documents[0])
}

fn convert(yaml: &Yaml<'_>) -> Value {
    if let Some(map) = yaml.as_mapping() {
        let entries = map
            .iter()
            .map(|(key, value)| (key.as_str().unwrap_or_default().to_owned(), convert(value)));
        return Value::Object(entries.collect());
    }
    if let Some(items) = yaml.as_sequence() {
        return Value::Array(items.iter().map(convert).collect());
    }
    if let Some(flag) = yaml.as_bool() {
        return json!(flag);
    }
    if let Some(number) = yaml.as_integer() {
        return json!(number);
    }
    if let Some(number) = yaml.as_floating_point() {
        return json!(number);
    }
    yaml.as_str().map_or(Value::Null, |text| json!(text))
}

/// A schema with which values are compared.
struct Validator {
    schemas: Schemas,
    root: SchemaIndex,
}

impl Validator {
    fn of(schema: &Value) -> Self {
        let mut compiler = Compiler::new();
        compiler.add_resource("schema.json", schema.clone()).unwrap();
        let mut schemas = Schemas::new();
        let root = compiler.compile("schema.json", &mut schemas).unwrap();
        Self { schemas, root }
    }

    fn errors(&self, value: &Value) -> Option<String> {
        let result = self.schemas.validate(value, self.root);
        result.err().map(|error| error.to_string())
    }
}

#[test]
fn right_files_fit_the_schema() {
    let validator = Validator::of(&schema(&ENGINES));
    let files = [
        SMALLEST,
        include_str!("every_key.yaml"),
        include_str!("rigs.yaml"),
        include_str!("sweeps.yaml"),
        include_str!("../../../../studies/quickstart.yaml"),
    ];
    for file in files {
        assert!(check_with(file, &Overrides::default()).is_ok());
        assert_eq!(validator.errors(&json_of(file)), None);
    }
}

fn visit(schema: &Value, seen: &mut u32) {
    match schema {
        Value::Object(map) => {
            let examples = map.get("examples").and_then(Value::as_array).into_iter().flatten();
            for example in examples.chain(map.get("default")) {
                let errors = Validator::of(schema).errors(example);
                assert_eq!(errors, None, "{example} does not fit {schema:#}");
                *seen += 1;
            }
            map.values().for_each(|inner| visit(inner, seen));
        }
        Value::Array(items) => items.iter().for_each(|inner| visit(inner, seen)),
        _ => {}
    }
}

#[test]
fn schema_is_the_same_each_time() {
    let text = schema_text(&ENGINES);
    assert_eq!(text, schema_text(&ENGINES));
    assert!(text.ends_with("}\n"));
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), schema(&ENGINES));
}

#[test]
fn reference_of_the_tests_engines() {
    insta::assert_snapshot!(reference_markdown(&ENGINES));
}

#[test]
fn reference_goes_between_its_marks() {
    let document = format!("before\n{REFERENCE_BEGIN}\noutdated text\n{REFERENCE_END}\nafter\n");
    let new = with_reference(&document, &ENGINES).unwrap();
    assert!(new.starts_with("before\n") && new.ends_with("after\n") && !new.contains("outdated"));
    assert_eq!(with_reference(&new, &ENGINES).as_deref(), Some(new.as_str()));
    assert_eq!(with_reference("no marks", &ENGINES), None);
}

mod slow {
    use super::*;

    #[test]
    fn wrong_files_do_not_fit_the_schema() {
        let validator = Validator::of(&schema(&ENGINES));
        let wrong = [
            ("plimsoll: 1", "plimsoll: 2"),
            ("name: small", "name: not a name"),
            ("name: small", "nome: small"),
            ("records: 1k", "records: 1k, size: 1MB"),
            ("records: 1k", "records: many"),
            ("records: 1k", "records: -1"),
            ("preset: c", "preset: g"),
            ("preset: c", "preset: c, mixes: [a]"),
            (", preset: c", ""),
            ("{one: {engine: noop}}", "{}"),
            ("engine: noop", "engine: rocksdb"),
            ("engine: noop", "cache_size: 12 apples"),
            ("closed:", "close:"),
            ("threads: 1", "threads: none"),
            ("threads: 1", "threads: [1], think_time: 5"),
            (
                "{closed: {threads: 1}}",
                "{closed: {threads: 1}, stages: {steps: [{rate: 5, duration: 9s}]}}",
            ),
            ("{closed: {threads: 1}}", "{}"),
            ("threads: 1", "threads: {from: 1, till: 9}"),
            ("threads: 1", "threads: until-bend"),
            ("closed: {threads: 1}", "open: {rates: [80 %%]}"),
            ("closed: {threads: 1}", "open: {rates: 5, sessions: lost}"),
            ("name: small", "name: small\nmeasurement: {blocks: {until: many}}"),
            ("name: small", "name: small\nobjective: {search: {trial: long}}"),
            ("name: small", "name: small\ncompare: {at: {line: all}}"),
            ("name: small", "name: small\nthresholds: [latency <= 5ms]"),
            ("engine: noop", "disk: {iops: fast}"),
            ("engine: noop", "disk: {capacity: 4GiB, colour: blue}"),
            ("engine: noop", "disk: {latency: {table: {50: 1ms, p99: 2ms}}}"),
            ("engine: noop", "disk: {preset: gp3, device: /dev/disk/by-id/a}"),
            ("engine: noop", "disk: gp3, filesystem: zfs"),
            ("engine: noop", "limits: {memory: 12 apples}"),
            ("engine: noop", "limits: {pin: []}"),
            ("engine: noop", "working_set: 92%, records: 5"),
            ("engine: noop", "price: {per_hour: free}"),
            ("name: small", "name: small\nscales: {full: {measurment: {}}}"),
            ("name: small", "name: small\nscales: {full: {plimsoll: 1}}"),
            ("name: small", "name: small\nmeasurement: {shaped_from: now}"),
            ("name: small", "name: small\ncompare: {pairs: [[one]]}"),
            ("name: small", "name: small\nobjective: {response: {99: 5ms}}"),
        ];
        for (old, new) in wrong {
            assert!(SMALLEST.contains(old), "{old}");
            let text = SMALLEST.replace(old, new);
            assert!(check_with(&text, &Overrides::default()).is_err(), "{new} should be wrong");
            assert!(validator.errors(&json_of(&text)).is_some(), "{new} should not fit the schema");
        }
    }

    /// Examples and defaults of the schema are values that it allows itself.
    #[test]
    fn examples_fit_their_own_schema() {
        let mut seen = 0;
        visit(&schema(&ENGINES), &mut seen);
        assert!(seen > 100, "{seen}");
    }
}
