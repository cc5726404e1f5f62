//! `working_set`: a number of records so that the data is a given share of the cache that its engine can use.

use crate::document::Checked;
use crate::mistake::Mistake;
use plimsoll_plan::{EngineKind, Settings, WorkingSet};
use plimsoll_record::ServerSpec;
use plimsoll_record::quantities::numbers::three_digits;
use plimsoll_record::quantities::units;
use plimsoll_workload::DataSpec;
use std::collections::BTreeMap;

/// Measures how many bytes a record takes on disk, data and indexes, by storing a few: engine, settings, the server that is to be
/// started, and data of about the requested size. The error is the reason in words.
pub type MeasureRecords<'m> =
    dyn Fn(&str, &Settings, Option<&ServerSpec>, &DataSpec) -> Result<f64, String> + 'm;

/// What [`Surroundings::measure`](crate::Surroundings::measure) is where nothing can be stored.
pub fn cannot_measure(
    _: &str,
    _: &Settings,
    _: Option<&ServerSpec>,
    _: &DataSpec,
) -> Result<f64, String> {
    Err("nothing is stored while a file is only checked".into())
}

/// What was measured so far: once for each engine, its settings without the cache, and shape of data.
#[derive(Default)]
pub(crate) struct RecordSizes(BTreeMap<String, Result<f64, String>>);

impl RecordSizes {
    fn bytes_per_record(
        &mut self,
        engine: &EngineKind,
        settings: &Settings,
        server: Option<&ServerSpec>,
        data: &DataSpec,
        measure: &MeasureRecords<'_>,
    ) -> Result<f64, String> {
        let mut besides_cache = settings.clone();
        if let Some(cache) = engine.cache_setting {
            besides_cache.0.remove(cache);
        }
        let shape = DataSpec { records: 1, ..data.clone() };
        let key = format!(
            "{} {besides_cache:?} {:?} {shape:?}",
            engine.name,
            server.map(|server| (&server.program, &server.environment))
        );
        let measured =
            self.0.entry(key).or_insert_with(|| measure(engine.name, settings, server, data));
        match measured {
            Ok(bytes) if bytes.is_finite() && *bytes > 0.0 => Ok(*bytes),
            Ok(bytes) => Err(format!("{bytes} bytes were found")),
            Err(reason) => Err(reason.clone()),
        }
    }

    /// The number of records for a share of the cache, and how it was computed.
    pub(crate) fn choose(
        &mut self,
        share: &Checked,
        engine: &EngineKind,
        settings: &Settings,
        server: Option<&ServerSpec>,
        base: &DataSpec,
        measure: &MeasureRecords<'_>,
    ) -> Option<Result<(u64, WorkingSet), Mistake>> {
        let share = share.number()?;
        let usable = match usable_cache(engine, settings) {
            Ok(usable) => usable,
            Err(mistake) => return Some(Err(mistake)),
        };
        let wanted = share * usable;
        let sample = DataSpec {
            records: ((wanted / base.mean_record_bytes()) as u64).max(1),
            insert_start: 0,
            insert_count: None,
            ..base.clone()
        };
        let bytes_per_record =
            match self.bytes_per_record(engine, settings, server, &sample, measure) {
                Ok(bytes) => bytes,
                Err(reason) => return Some(Err(Mistake::NotMeasured { reason })),
            };
        let records = three_digits(wanted / bytes_per_record);
        if !(1.0..=1e12).contains(&records) {
            let mistake = Mistake::WorkingSetOutOfRange {
                share: units::share(share),
                usable_bytes: usable as u64,
                records: records.to_string(),
            };
            return Some(Err(mistake));
        }
        let set = WorkingSet { share, usable_cache_bytes: usable.round() as u64, bytes_per_record };
        Some(Ok((records as u64, set)))
    }
}

/// Bytes of the engine's cache that data can fill.
pub(crate) fn usable_cache(engine: &EngineKind, settings: &Settings) -> Result<f64, Mistake> {
    let cache = engine.cache_setting.and_then(|name| settings.bytes(name));
    let cache = cache.filter(|_| engine.usable_cache > 0.0);
    let cache = cache.ok_or(Mistake::WorkingSetWithoutCache { engine: engine.name })?;
    Ok(cache as f64 * engine.usable_cache)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_three_digits() {
        for (number, rounded) in [
            (0.4, 0.0),
            (7.6, 8.0),
            (999.4, 999.0),
            (1_234.0, 1_230.0),
            (147_821.9, 148_000.0),
            (9_996.0, 10_000.0),
        ] {
            assert_eq!(three_digits(number), rounded, "{number}");
        }
    }
}
