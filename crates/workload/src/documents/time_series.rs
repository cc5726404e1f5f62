//! Collections of measurements, which MongoDB keeps in buckets by their time.

use crate::documents::field::{Number, Shape};
use crate::documents::literal::{Literal, write_document};
use crate::documents::operation::OwnStatement;
use crate::documents::read::{Collection, Reading};
use plimsoll_record::StatementKind;
use plimsoll_record::quantities::units;

/// The fields by which a collection of measurements keeps them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TimeSeries {
    pub(crate) time: String,
    /// The field that says where a measurement comes from.
    pub(crate) meta: Option<String>,
    granularity: Option<String>,
}

impl Collection {
    /// A BSON document for `create`; `None` where there is nothing to say.
    pub(crate) fn creation(&self) -> Option<Vec<u8>> {
        let mut entries = self.options.clone();
        if let Some(series) = &self.time_series {
            let text = |text: &String| Literal::Text(text.clone());
            let fields = [
                ("timeField", Some(&series.time)),
                ("metaField", series.meta.as_ref()),
                ("granularity", series.granularity.as_ref()),
            ];
            let fields = fields.into_iter().filter_map(|(key, value)| Some((key, value?)));
            let fields = fields.map(|(key, value)| (key.to_owned(), text(value)));
            entries.push(("timeseries".into(), Literal::Map(fields.collect())));
        }
        if let Some(seconds) = self.expire_after {
            entries.push(("expireAfterSeconds".into(), Literal::Int(seconds)));
        }
        let mut out = Vec::new();
        write_document(&entries, &mut out);
        (!entries.is_empty()).then_some(out)
    }

    /// The field by whose date the server removes documents.
    pub(crate) fn expires_by(&self) -> Option<&str> {
        let mut indexes = self.indexes.iter().filter(|index| index.expires);
        match (&self.time_series, self.expire_after) {
            (Some(series), Some(_)) => Some(&series.time),
            _ => indexes.find_map(|index| Some(index.keys.first()?.0.as_str())),
        }
    }
}

impl Reading {
    pub(crate) fn time_series(
        &mut self,
        given: &Literal,
        collection: &Collection,
    ) -> Option<TimeSeries> {
        self.known_keys(given, &["time", "meta", "granularity"]);
        let word = |key| given.get(key).and_then(Literal::scalar);
        let named = |name: &str| collection.fields.iter().find(|field| *field.name == *name);
        let Some(time) = word("time") else {
            return self.wrong(
                "name the field with the time of a measurement: `{time: at, meta: device}`",
            );
        };
        let rises = named(&time).is_some_and(|field| {
            field.present.is_none() && matches!(field.shape, Shape::Date(Number::Steps { .. }))
        });
        if !rises {
            return self.at("time", |reading| {
                reading.wrong(format!(
                    "`{time}` must be a date of every document and increase from one to the next, such as `{{date: {{every: 10ms, until: now}}}}`"
                ))
            });
        }
        let meta = word("meta");
        if let Some(meta) = meta.as_deref().filter(|meta| named(meta).is_none() || *meta == time) {
            return self.at("meta", |reading| {
                reading.wrong(format!(
                    "`{meta}` is no other field of the documents; they have {}",
                    collection.field_names()
                ))
            });
        }
        let granularity = word("granularity");
        if granularity
            .as_deref()
            .is_some_and(|word| !["seconds", "minutes", "hours"].contains(&word))
        {
            return self.at("granularity", |reading| reading.wrong("seconds, minutes or hours"));
        }
        Some(TimeSeries { time, meta, granularity })
    }

    /// How long documents of a time series stay, in seconds.
    pub(crate) fn expire_after(&mut self, given: &Literal, collection: &Collection) -> Option<i64> {
        if collection.time_series.is_none() {
            return self.wrong(
                "only a `time_series` expires as a whole; documents expire by an index: `indexes: [{keys: {placed: 1}, expire_after: 30m}]`",
            );
        }
        if *given == Literal::Null {
            return None;
        }
        match given.scalar().and_then(|text| units::parse_duration(&text).ok()) {
            Some(ns) if ns >= 1_000_000_000 => Some((ns / 1_000_000_000) as i64),
            _ => self.wrong("a duration from 1s on, such as 30m"),
        }
    }

    /// Refuses what no server does to measurements.
    pub(crate) fn on_time_series(
        &mut self,
        kind: StatementKind,
        given: &Literal,
        series: &TimeSeries,
        statement: &OwnStatement,
        in_transaction: bool,
    ) {
        if in_transaction
            && !matches!(
                kind,
                StatementKind::Find | StatementKind::Aggregate | StatementKind::Distinct
            )
        {
            self.wrong::<()>("a time series cannot be changed within a transaction");
            return;
        }
        let words = match &series.meta {
            Some(meta) => format!(
                "only `{meta}` of a time series can change, by filters on `{meta}` and with `many: true`"
            ),
            None => "documents of a time series without `meta` do not change".to_owned(),
        };
        let of_meta = |path: &str| {
            series.meta.as_ref().is_some_and(|meta| path.split('.').next() == Some(meta))
        };
        let filters = given.get("filter").map(Literal::entries).unwrap_or_default();
        let by = given.get("by").and_then(Literal::scalar);
        let mut paths = filters.iter().map(|(path, _)| path.as_str()).chain(by.as_deref());
        let is_by_meta = paths.all(of_meta) && given.get("many") == Some(&Literal::Bool(true));
        let is_possible = match kind {
            StatementKind::FindAndModify => false,
            StatementKind::Update => {
                is_by_meta
                    && statement.changes.iter().all(|path| of_meta(path))
                    && given.get("upsert").is_none()
            }
            StatementKind::Delete => is_by_meta,
            _ => true,
        };
        if !is_possible {
            self.wrong::<()>(words);
        }
    }
}
