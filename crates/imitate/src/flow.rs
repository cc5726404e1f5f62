//! Values as an experiment file has them, each on one line.

use plimsoll_workload::documents::Literal;
use std::fmt::Write;

/// Words that some readers of YAML take for a truth value or for nothing.
const WORDS: [&str; 8] = ["null", "true", "false", "yes", "no", "on", "off", "~"];

/// A value in YAML's flow style: `{customer: 1, status: 'no'}`. The project's reader gives the same value back; numbers that are not finite become `null`.
pub fn flow(value: &Literal) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// A text as a key or a value, in quotes where it would be read as something else.
pub fn scalar(text: &str) -> String {
    if is_plain(text) {
        return text.into();
    }
    // The separators of lines and the mark of the byte order would not survive in single quotes.
    let is_special = |c: char| c.is_control() || "\u{2028}\u{2029}\u{feff}".contains(c);
    if !text.contains(is_special) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        // Writing into a text cannot fail.
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            c if is_special(c) => write!(out, "\\U{:08x}", u32::from(c)),
            c => write!(out, "{c}"),
        };
    }
    out.push('"');
    out
}

fn write(value: &Literal, out: &mut String) {
    match value {
        Literal::List(items) => separated(['[', ']'], items, out, write),
        Literal::Map(entries) => separated(['{', '}'], entries, out, |(key, value), out| {
            out.push_str(&scalar(key));
            out.push_str(": ");
            write(value, out);
        }),
        Literal::Text(text) => out.push_str(&scalar(text)),
        Literal::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Literal::Int(whole) => out.push_str(&whole.to_string()),
        // With a point or an exponent, so that it stays no whole number.
        Literal::Double(number) if number.is_finite() => out.push_str(&format!("{number:?}")),
        Literal::Double(_) | Literal::Null => out.push_str("null"),
    }
}

fn separated<T>(
    [open, close]: [char; 2],
    items: &[T],
    out: &mut String,
    write: impl Fn(&T, &mut String),
) {
    out.push(open);
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index > 0 { ", " } else { "" });
        write(item, out);
    }
    out.push(close);
}

fn is_plain(text: &str) -> bool {
    let looks_like_a_number = || {
        let digits = text.replace('_', "").to_ascii_lowercase();
        digits.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
            && (digits.parse::<f64>().is_ok()
                || digits.starts_with("0x")
                || digits.starts_with("0o"))
    };
    text.starts_with(|c: char| c.is_alphanumeric() || "_$<".contains(c))
        && text.chars().all(|c| c.is_alphanumeric() || "_$.-%+/<>".contains(c))
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
        && !text.starts_with("<<")
        && !looks_like_a_number()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_experiment::document::{Collector, Kind, Node, SourceText, read};
    use proptest::prelude::*;

    fn literal(node: &Node) -> Literal {
        match &node.kind {
            Kind::Null => Literal::Null,
            Kind::Scalar(text) => Literal::of_scalar(text, node.quoted),
            Kind::List(items) => Literal::List(items.iter().map(literal).collect()),
            Kind::Map(entries) => {
                let entries = entries.iter();
                Literal::Map(entries.map(|e| (e.key.clone(), literal(&e.value))).collect())
            }
        }
    }

    fn read_back(text: &str) -> Literal {
        let text = format!("value: {text}");
        let source = SourceText::new(&text);
        let mut problems = Collector::new(&source);
        let node = read(&text, &mut problems);
        assert!(problems.is_empty(), "{}", problems.finish("flow.yaml"));
        literal(&node.unwrap().entries()[0].value)
    }

    #[test]
    fn what_looks_like_something_else_is_quoted() {
        for text in [
            "", "no", "Yes", "NULL", "~", "12", "-1", "1e5", "1_000", "0x1f", ".5", "a b", "a: b",
            "a,b", "[a", "it's", "#a", "- a", "%a", "*a", "&a", "!a", "|", "?", "<<", "a\nb",
            "\u{feff}",
        ] {
            let written = scalar(text);
            assert!(written.starts_with(['\'', '"']), "{written}");
            assert_eq!(read_back(&written), Literal::Text(text.into()));
        }
        for text in
            ["paid", "2M", "15s", "60%", "2026-06-30", "<range.from>", "$set", "a.b", "größe"]
        {
            assert_eq!(scalar(text), text);
            assert_eq!(read_back(text), Literal::Text(text.into()));
        }
    }

    fn any_literal() -> impl Strategy<Value = Literal> {
        // What files are full of more often than other characters.
        let text = prop_oneof![".{0,12}", "[a-z0-9 .:,'\"#\\[\\]{}$<>_~\n-]{0,8}"];
        let key = text.clone().prop_filter("merge keys are refused", |key| key != "<<");
        let leaf = prop_oneof![
            Just(Literal::Null),
            any::<bool>().prop_map(Literal::Bool),
            any::<i64>().prop_map(Literal::Int),
            proptest::num::f64::NORMAL.prop_map(Literal::Double),
            text.prop_map(Literal::Text),
        ];
        leaf.prop_recursive(3, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Literal::List),
                prop::collection::btree_map(key.clone(), inner, 0..4)
                    .prop_map(|map| Literal::Map(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_comes_back(value in any_literal()) {
            prop_assert_eq!(read_back(&flow(&value)), value);
        }
    }
}
