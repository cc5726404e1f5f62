//! `workload.fields`: what a record is made of.

use crate::Collector;
use crate::document::{Checked, Value};
use crate::elements::workload::{PATH, WorkloadReader};
use crate::keys::fields::{field_length, fields};
use crate::keys::workload::workload;
use crate::mistake::Mistake;
use crate::table::*;
use plimsoll_plan::SettingValue;
use plimsoll_record::quantities::units;
use plimsoll_workload::{DataSpec, FieldLength};

impl WorkloadReader<'_, '_> {
    pub(crate) fn fields(&mut self, data: &mut DataSpec) {
        let fields = self.workload.get(workload::fields);
        let path = workload::fields.under(PATH);
        let path = path.as_str();
        let has_file = self.file.is_some();
        let is_said =
            |key: &Key| !has_file || fields.is_some_and(|fields| fields.get(key).is_some());
        if is_said(fields::count)
            && let Some(count) =
                self.origins.settle(path, fields, fields::count).and_then(|value| value.whole())
        {
            data.field_count = u32::try_from(count).unwrap_or(u32::MAX);
        }
        match fields.and_then(|fields| fields.get(fields::length)) {
            Some(map) if matches!(map.value, Value::Map(_)) => {
                let path = fields::length.under(path);
                if let Some((length, text)) = self.distribution(&path, map) {
                    self.origins.add_file(&path, text, map.place);
                    data.field_length = length;
                }
            }
            _ if !is_said(fields::length) => {}
            _ => {
                if let Some(bytes) = self
                    .origins
                    .settle(path, fields, fields::length)
                    .and_then(|value| value.whole())
                {
                    data.field_length =
                        FieldLength::Constant(u32::try_from(bytes).unwrap_or(u32::MAX));
                }
            }
        }
        if let Some(share) = fields.and_then(|fields| fields.get(fields::compressible))
            && let Some(compressible) = share.number()
        {
            let path = fields::compressible.under(path);
            self.origins.add_file(&path, units::share(compressible), share.place);
            data.compressible = compressible;
        }
        if is_said(fields::name_prefix)
            && let Some(SettingValue::Text(prefix)) =
                self.origins.settle(path, fields, fields::name_prefix)
        {
            data.field_name_prefix = prefix;
        }
    }

    fn distribution(&mut self, path: &str, map: &Checked) -> Option<(FieldLength, String)> {
        if let Some(file) = map.get(field_length::histogram) {
            return self.histogram(path, file);
        }
        let (key, given) = match map.get(field_length::uniform) {
            Some(given) => (field_length::uniform, given),
            None => (field_length::zipfian, map.get(field_length::zipfian)?),
        };
        let (min, max) = range(self.problems, path, given)?;
        let length = if key.name == field_length::uniform.name {
            FieldLength::Uniform { min, max }
        } else {
            FieldLength::Zipfian { min, max }
        };
        Some((length, format!("{{{}: [{min}, {max}]}}", key.name)))
    }

    fn histogram(&mut self, path: &str, checked: &Checked) -> Option<(FieldLength, String)> {
        let written = checked.text()?;
        let file = self.given.base_dir.join(written);
        let mistake = match (self.given.read_file)(&file) {
            Ok(text) => match FieldLength::from_histogram(&text) {
                Ok(length) => {
                    return Some((
                        length,
                        format!("{{{}: {written}}}", field_length::histogram.name),
                    ));
                }
                Err(error) => {
                    Mistake::Histogram { path: written.to_owned(), reason: error.to_string() }
                }
            },
            Err(error) => Mistake::File { path: written.to_owned(), reason: error.to_string() },
        };
        let path = field_length::histogram.under(path);
        self.problems.add(&path, Some(checked.place), mistake);
        None
    }
}

/// The two numbers of a range.
pub(crate) fn range(
    problems: &mut Collector<'_>,
    path: &str,
    checked: &Checked,
) -> Option<(u32, u32)> {
    let [low, high] = checked.items() else {
        return None;
    };
    let (low, high) = (low.whole()?, high.whole()?);
    if low > high {
        problems.add(path, Some(checked.place), Mistake::EmptyRange { low, high });
        return None;
    }
    Some((u32::try_from(low).ok()?, u32::try_from(high).ok()?))
}
