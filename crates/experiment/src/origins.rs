//! Decides values and remembers where each comes from.

use crate::document::{Checked, Key, Need, Shape, SourceText, Span, Value};
use plimsoll_plan::{Origin, SettingKind, SettingValue, Source};
use plimsoll_record::quantities::units;
use plimsoll_record::redact::redact;

/// The origins of all values, in the order in which they are decided.
pub(crate) struct Origins<'s> {
    source: &'s SourceText,
    pub list: Vec<Origin>,
}

impl<'s> Origins<'s> {
    pub(crate) fn new(source: &'s SourceText) -> Self {
        Self { source, list: Vec::new() }
    }

    pub(crate) fn add(&mut self, path: &str, value: impl Into<String>, source: Source) {
        self.list.push(Origin { path: path.to_owned(), value: redact(&value.into()), source });
    }

    pub(crate) fn add_file(&mut self, path: &str, value: impl Into<String>, place: Span) {
        let line = self.source.line(place.start);
        self.add(path, value, Source::File { line });
    }

    /// The value of a key in a map, or its default. `None` when it is wrong, or absent without a default.
    pub(crate) fn settle(
        &mut self,
        path: &str,
        map: Option<&Checked>,
        key: &Key,
    ) -> Option<SettingValue> {
        self.settle_or_flag(path, map, key, None)
    }

    /// The same for a value that a flag of the command line can override.
    pub(crate) fn settle_or_flag(
        &mut self,
        path: &str,
        map: Option<&Checked>,
        key: &Key,
        flag: Option<(SettingValue, &str)>,
    ) -> Option<SettingValue> {
        let path = key.under(path);
        if let Some((value, flag)) = flag {
            let name = flag.to_owned();
            self.add(&path, written(&key.shape, &value), Source::Flag { name });
            return Some(value);
        }
        let Some(checked) = map.and_then(|map| map.get(key)) else {
            let (value, text) = default(key)?;
            self.add(&path, text, Source::Default);
            return Some(value);
        };
        let Value::One(value) = &checked.value else {
            return None;
        };
        self.add_file(&path, written(&key.shape, value), checked.place);
        Some(value.clone())
    }
}

/// The value of a key's default with its text, when it is a single value.
pub(crate) fn default(key: &Key) -> Option<(SettingValue, &'static str)> {
    let Need::Default(text) = key.need else {
        return None;
    };
    let shape = match key.shape {
        Shape::Any(shapes) => shapes.iter().find(|shape| !shape.is_map() && !shape.is_list())?,
        _ => &key.shape,
    };
    Some((shape.scalar(text).ok()?, text))
}

/// A value in people's units.
pub(crate) fn written(shape: &Shape, value: &SettingValue) -> String {
    match (shape, value) {
        (Shape::Rate { .. }, SettingValue::Number(rate)) => units::rate(*rate),
        (Shape::Value(SettingKind::Number { max, .. }), SettingValue::Number(share))
            if *max <= 1.0 =>
        {
            units::share(*share)
        }
        (_, SettingValue::Count(count)) => written_count(*count),
        _ => value.to_string(),
    }
}

/// Large round numbers with their suffix, others as they are: `100k`, `16`, `1500`.
pub(crate) fn written_count(count: u64) -> String {
    if count < 10_000 { count.to_string() } else { units::count(count) }
}
