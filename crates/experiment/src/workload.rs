//! Makes the data of every arm and the mixes of operations from what was read.

use crate::Surroundings;
use crate::arms::ReadArm;
use crate::format::{FIELDS, WORKLOAD};
use crate::mistake::Mistake;
use crate::problems::Collector;
use crate::reader::{Checked, Field, Value, join};
use crate::settle::{Origins, written_count};
use crate::source::Place;
use crate::working_set::{MeasureRecords, Measured};
use plimsoll_plan::standing_alone;
use plimsoll_plan::words::working_set_words;
use plimsoll_plan::{EngineKind, SettingValue, Settings, WorkingSet};
use plimsoll_properties::Core;
use plimsoll_quantities::units;
use plimsoll_quantities::words::decimal_bytes;
use plimsoll_record::ServerSpec;
use plimsoll_workload::{DataSpec, FieldLength, KeyOrder, Wrong};

/// Keys that say how much data there is.
const AMOUNTS: [&str; 3] = ["records", "size", "working_set"];

/// Reads the part of the file about what is stored and asked.
pub(crate) struct WorkloadReader<'w, 's> {
    pub problems: &'w mut Collector<'s>,
    pub origins: &'w mut Origins<'s>,
    pub given: &'w Surroundings<'w>,
    /// The checked map, and the place of its key.
    pub workload: &'w Checked,
    pub key_place: Place,
    /// What a record takes on disk, as far as it was asked.
    pub measured: Measured,
    /// What a property file says, where one is named.
    pub file: Option<Core>,
}

impl WorkloadReader<'_, '_> {
    fn place(&self, path: &[&str]) -> Place {
        let mut checked = self.workload;
        for key in path {
            match checked.get(key) {
                Some(inner) => checked = inner,
                None => break,
            }
        }
        if std::ptr::eq(checked, self.workload) {
            self.key_place
        } else {
            checked.place
        }
    }

    fn settle(&mut self, name: &str) -> Option<SettingValue> {
        // What a property file says holds in place of the defaults.
        if self.file.is_some() && self.workload.get(name).is_none() {
            return None;
        }
        self.origins
            .settle("workload", &WORKLOAD, Some(self.workload), name)
    }

    /// Everything about the records but their number.
    pub(crate) fn data(&mut self) -> DataSpec {
        self.file = self.property_file();
        let mut data = match &self.file {
            Some(core) => core.data.clone(),
            None => DataSpec::with_records(1),
        };
        // These are decided arm by arm; the origin of the workload's own value stands here.
        self.settle("records");
        self.settle("size");
        if let Some(share) = self.workload.get("working_set")
            && let Some(number) = share.number()
        {
            self.origins
                .add_file("workload.working_set", units::share(number), share.place);
        }
        self.fields(&mut data);
        if let Some(SettingValue::Text(order)) = self.settle("key_order") {
            data.key_order = if order == "ordered" {
                KeyOrder::Ordered
            } else {
                KeyOrder::Hashed
            };
        }
        if let Some(digits) = self.settle("zero_padding").and_then(|value| value.whole()) {
            data.zero_padding = u32::try_from(digits).unwrap_or(u32::MAX);
        }
        if let Some(SettingValue::Flag(integrity)) = self.settle("data_integrity") {
            data.data_integrity = integrity;
        }
        if let Some(start) = self.settle("insert_start").and_then(|value| value.whole()) {
            data.insert_start = start;
        }
        if let Some(count) = self.settle("insert_count").and_then(|value| value.whole()) {
            data.insert_count = Some(count);
        }
        if let Some(SettingValue::Text(table)) = self.settle("table") {
            data.table = table;
        }
        data
    }

    fn fields(&mut self, data: &mut DataSpec) {
        let fields = self.workload.get("fields");
        let path = "workload.fields";
        let has_file = self.file.is_some();
        let is_said =
            |key: &str| !has_file || fields.is_some_and(|fields| fields.get(key).is_some());
        if is_said("count")
            && let Some(count) = self
                .origins
                .settle(path, &FIELDS, fields, "count")
                .and_then(|value| value.whole())
        {
            data.field_count = u32::try_from(count).unwrap_or(u32::MAX);
        }
        match fields.and_then(|fields| fields.get("length")) {
            Some(Checked {
                value: Value::Map(distribution),
                place,
            }) => {
                if let Some((length, text)) = self.distribution(distribution) {
                    self.origins.add_file(&join(path, "length"), text, *place);
                    data.field_length = length;
                }
            }
            _ if !is_said("length") => {}
            _ => {
                if let Some(bytes) = self
                    .origins
                    .settle(path, &FIELDS, fields, "length")
                    .and_then(|value| value.whole())
                {
                    data.field_length =
                        FieldLength::Constant(u32::try_from(bytes).unwrap_or(u32::MAX));
                }
            }
        }
        if is_said("name_prefix")
            && let Some(SettingValue::Text(prefix)) =
                self.origins.settle(path, &FIELDS, fields, "name_prefix")
        {
            data.field_name_prefix = prefix;
        }
    }

    fn distribution(&mut self, fields: &[Field]) -> Option<(FieldLength, String)> {
        let field = fields.first()?;
        if field.key == "histogram" {
            return self.histogram(&field.checked);
        }
        let (min, max) = range(self.problems, "workload.fields.length", &field.checked)?;
        let text = format!("{{{}: [{min}, {max}]}}", field.key);
        match field.key.as_str() {
            "uniform" => Some((FieldLength::Uniform { min, max }, text)),
            _ => Some((FieldLength::Zipfian { min, max }, text)),
        }
    }

    fn histogram(&mut self, checked: &Checked) -> Option<(FieldLength, String)> {
        let written = checked.text()?;
        let path = self.given.base_dir.join(written);
        let mistake = match (self.given.read_file)(&path) {
            Ok(text) => match FieldLength::from_histogram(&text) {
                Ok(length) => return Some((length, format!("{{histogram: {written}}}"))),
                Err(error) => Mistake::Histogram {
                    path: written.to_owned(),
                    reason: error.to_string(),
                },
            },
            Err(error) => Mistake::File {
                path: written.to_owned(),
                reason: error.to_string(),
            },
        };
        let path = "workload.fields.length.histogram";
        self.problems.add(path, Some(checked.place), mistake);
        None
    }

    /// The data of one arm: what the arm says, else the defaults, else the workload.
    pub(crate) fn data_of(
        &mut self,
        base: &DataSpec,
        arm: &ReadArm,
        engine: &EngineKind,
        settings: &Settings,
        server: Option<&ServerSpec>,
    ) -> Option<(DataSpec, Option<WorkingSet>)> {
        let mut data = base.clone();
        let of_arm = AMOUNTS
            .into_iter()
            .find_map(|key| arm.given.get(key).map(|given| (key, &given.checked, true)));
        let of_workload = || {
            AMOUNTS
                .into_iter()
                .find_map(|key| self.workload.get(key).map(|checked| (key, checked, false)))
        };
        let said = of_arm.or_else(of_workload);
        if said.is_none() && self.file.is_none() && self.workload.get("ycsb").is_some() {
            // The file could not be taken, which is said already.
            return None;
        }
        if said.is_none()
            && let (Some(core), Some(named)) = (&self.file, self.workload.get("ycsb"))
            && core.record_count > 0
        {
            let place = named.place;
            return self.check_data(&data, place).then_some((data, None));
        }
        let Some((key, checked, own)) = said else {
            self.problems.add(
                "workload",
                Some(self.key_place),
                Mistake::NoRecords {
                    arm: arm.name.clone(),
                },
            );
            return None;
        };
        if key == "working_set" {
            return self.working_set(arm, checked, base, (engine, settings, server));
        }
        let amount = checked.whole()?;
        data.records = amount;
        if key == "size" {
            let record_bytes = mean_record_bytes(base, amount);
            data.records = (amount as f64 / record_bytes).round() as u64;
            if data.records == 0 {
                let mistake = Mistake::SizeBelowRecord {
                    size: units::size(amount),
                    record_bytes,
                };
                self.problems.add(
                    if own { "arms" } else { "workload" },
                    Some(checked.place),
                    mistake,
                );
                return None;
            }
        }
        let path = join(&join("arms", &arm.name), "records");
        let text = match key {
            "size" => format!("{} ({})", data.records, units::size(amount)),
            _ => written_count(data.records),
        };
        // Where all arms have the workload's records, its own line says it.
        if own || key == "size" {
            self.origins.add_file(&path, text, checked.place);
        }
        self.check_data(&data, checked.place)
            .then_some((data, None))
    }

    /// As much data as is a share of the cache.
    fn working_set(
        &mut self,
        arm: &ReadArm,
        share: &Checked,
        base: &DataSpec,
        (engine, settings, server): (&EngineKind, &Settings, Option<&ServerSpec>),
    ) -> Option<(DataSpec, Option<WorkingSet>)> {
        // Measuring takes its time, and of a file with mistakes nothing comes anyway.
        let measure: &MeasureRecords<'_> = if self.problems.is_empty() {
            self.given.measure
        } else {
            &|_, _, _, data| Ok(data.mean_record_bytes())
        };
        let alone = server.map(standing_alone);
        let chosen =
            self.measured
                .choose(share, engine, settings, alone.as_ref(), base, measure)?;
        let (records, set) = match chosen {
            Ok(chosen) => chosen,
            Err(mistake) => {
                let path = arm
                    .given
                    .get("working_set")
                    .map(|given| given.path.as_str());
                let path = path.unwrap_or("workload.working_set");
                self.problems.add(path, Some(share.place), mistake);
                return None;
            }
        };
        let path = join(&join("arms", &arm.name), "records");
        self.origins
            .add_file(&path, working_set_words(records, &set), share.place);
        let data = DataSpec {
            records,
            ..base.clone()
        };
        self.check_data(&data, share.place)
            .then_some((data, Some(set)))
    }

    /// What the workload says of the data, at the place of what is wrong.
    fn check_data(&mut self, data: &DataSpec, records: Place) -> bool {
        let problems = data.check();
        for problem in &problems {
            let (path, place) = match problem.field.split('.').next().unwrap_or_default() {
                "records" => ("workload.records", records),
                "field_count" => ("workload.fields.count", self.place(&["fields", "count"])),
                "field_length" => ("workload.fields.length", self.place(&["fields", "length"])),
                "data_integrity" => ("workload.data_integrity", self.place(&["data_integrity"])),
                "zero_padding" => ("workload.zero_padding", self.place(&["zero_padding"])),
                "insert_start" => ("workload.insert_start", self.place(&["insert_start"])),
                "insert_count" => ("workload.insert_count", self.place(&["insert_count"])),
                _ => ("workload", self.key_place),
            };
            let what = match problem.wrong {
                Wrong::OutOfRange { value, most, .. } if problem.field == "field_length" => {
                    format!(
                        "the fields of one record can take {} together, the most is {}",
                        decimal_bytes(value),
                        decimal_bytes(most)
                    )
                }
                _ => words(&problem.wrong),
            };
            self.problems
                .add(path, Some(place), Mistake::Workload { what });
        }
        problems.is_empty()
    }
}

/// Mean bytes of a record where there are as many as fit into `size`. Ordered keys grow with their number, so that the mean depends on the
/// number of records: two rounds come within a byte.
fn mean_record_bytes(base: &DataSpec, size: u64) -> f64 {
    let mut data = base.clone();
    (data.insert_start, data.insert_count) = (0, None);
    for _ in 0..2 {
        data.records = ((size as f64 / data.mean_record_bytes()) as u64).max(1);
    }
    data.mean_record_bytes()
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

/// What the workload says, in the words of the file.
pub(crate) fn words(wrong: &Wrong) -> String {
    match wrong {
        Wrong::OutOfRange { value, least, most } => {
            format!("{value} is out of range: at least {least}, at most {most}")
        }
        Wrong::NothingToDo => {
            "all proportions are zero: write for example `preset: a`, or `read: 0.5`".into()
        }
        Wrong::NeedsConstantLength => {
            "data integrity needs fields of constant length, such as `fields: {length: 100}`".into()
        }
        Wrong::OutsideRecords {
            start,
            count,
            records,
        } => {
            format!("{count} keys from {start} on do not lie within {records} records")
        }
        Wrong::TooFewRecords { needed, records } => {
            format!(
                "this request distribution needs at least {needed} records, there are {records}"
            )
        }
        Wrong::EmptyPart { keys, all } => {
            format!(
                "{keys} of {all} keys are hot, so that one part has none: choose another data_fraction"
            )
        }
        Wrong::MinimumAboveMaximum { .. } | Wrong::Empty => wrong.to_string(),
    }
}
