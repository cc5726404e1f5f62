//! Makes the data of every arm and the mixes of operations from what was read.

use crate::arms::ReadArm;
use crate::format::{EXPONENTIAL, FIELDS, HOTSPOT, MIX, WORKLOAD};
use crate::mistake::Mistake;
use crate::problems::Collector;
use crate::reader::{Checked, Field, Value, join};
use crate::settle::{Origins, written, written_count};
use crate::source::Place;
use crate::{SettingValue, Source, Surroundings, units};
use plimsoll_workload::{
    DataSpec, FieldLength, KeyOrder, KeySpace, Mix, RequestDistribution, ScanDistribution,
    ScanLength, Workload, WorkloadError, Wrong,
};

/// Reads the part of the file about what is stored and asked.
pub(crate) struct WorkloadReader<'w, 's> {
    pub problems: &'w mut Collector<'s>,
    pub origins: &'w mut Origins<'s>,
    pub given: &'w Surroundings<'w>,
    /// The checked map, and the place of its key.
    pub workload: &'w Checked,
    pub key_place: Place,
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
        self.origins
            .settle("workload", &WORKLOAD, Some(self.workload), name)
    }

    /// Everything about the records but their number.
    pub(crate) fn data(&mut self) -> DataSpec {
        let mut data = DataSpec::with_records(1);
        // These two are decided arm by arm; the origin of the workload's own value stands here.
        self.settle("records");
        self.settle("size");
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
        data.insert_count = self.settle("insert_count").and_then(|value| value.whole());
        if let Some(SettingValue::Text(table)) = self.settle("table") {
            data.table = table;
        }
        data
    }

    fn fields(&mut self, data: &mut DataSpec) {
        let fields = self.workload.get("fields");
        let path = "workload.fields";
        if let Some(count) = self
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
        if let Some(SettingValue::Text(prefix)) =
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
        let read = (self.given.read_file)(&path).map_err(|error| error.to_string());
        let read = read
            .and_then(|text| FieldLength::from_histogram(&text).map_err(|error| error.to_string()));
        match read {
            Ok(length) => Some((length, format!("{{histogram: {written}}}"))),
            Err(reason) => {
                let mistake = Mistake::Histogram {
                    path: written.to_owned(),
                    reason,
                };
                self.problems.add(
                    "workload.fields.length.histogram",
                    Some(checked.place),
                    mistake,
                );
                None
            }
        }
    }

    /// The data of one arm: what the arm says, else the defaults, else the workload.
    pub(crate) fn data_of(&mut self, base: &DataSpec, arm: &ReadArm) -> Option<DataSpec> {
        let mut data = base.clone();
        let of_arm = ["records", "size"]
            .into_iter()
            .find_map(|key| arm.given.get(key).map(|given| (key, &given.checked, true)));
        let of_workload = || {
            ["records", "size"]
                .into_iter()
                .find_map(|key| self.workload.get(key).map(|checked| (key, checked, false)))
        };
        let Some((key, checked, own)) = of_arm.or_else(of_workload) else {
            self.problems.add(
                "workload",
                Some(self.key_place),
                Mistake::NoRecords {
                    arm: arm.name.clone(),
                },
            );
            return None;
        };
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
        self.check_data(&data, checked.place).then_some(data)
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
            self.problems.add(
                path,
                Some(place),
                Mistake::Workload {
                    what: words(&problem.wrong),
                },
            );
        }
        problems.is_empty()
    }

    /// The mixes, in order, each with the place of its name.
    pub(crate) fn mixes(&mut self) -> Vec<(Mix, Place)> {
        let mut mixes: Vec<(Mix, Place)> = Vec::new();
        if let Some(preset) = self.workload.get("preset") {
            mixes.extend(self.preset(preset, "workload.preset"));
        }
        let Some(listed) = self.workload.get("mixes") else {
            return mixes;
        };
        for item in listed.items() {
            let Some((mix, place)) = self.preset(item, "workload.mixes") else {
                continue;
            };
            if mixes.iter().any(|(known, _)| known.name == mix.name) {
                self.problems.add(
                    "workload.mixes",
                    Some(place),
                    Mistake::Repeated { value: mix.name },
                );
            } else {
                mixes.push((mix, place));
            }
        }
        for field in listed.fields() {
            mixes.extend(self.mix(field).map(|mix| (mix, field.key_place)));
        }
        mixes
    }

    fn preset(&mut self, checked: &Checked, path: &str) -> Option<(Mix, Place)> {
        let mix = Mix::preset(checked.text()?)?;
        self.origins.add_file(path, mix.name.clone(), checked.place);
        let path = join("workload.mixes", &mix.name);
        let source = Source::Preset {
            name: mix.name.clone(),
        };
        for (key, value) in mix_values(&mix) {
            self.origins.add(&join(&path, key), value, source.clone());
        }
        Some((mix, checked.place))
    }

    fn mix(&mut self, field: &Field) -> Option<Mix> {
        let (path, map) = (join("workload.mixes", &field.key), &field.checked);
        if matches!(map.value, Value::Wrong) {
            return None;
        }
        let preset = map
            .get("preset")
            .and_then(Checked::text)
            .and_then(Mix::preset);
        let mut source = Source::Default;
        let mut mix = Mix::preset("c")?;
        (mix.read, mix.request_distribution) = (0.0, RequestDistribution::Uniform);
        if let Some(preset) = preset {
            source = Source::Preset {
                name: preset.name.clone(),
            };
            mix = preset;
        }
        mix.name.clone_from(&field.key);
        let weight = |key: &str, weight: &mut f64| {
            if let Some(number) = map.get(key).and_then(Checked::number) {
                *weight = number;
            }
        };
        weight("read", &mut mix.read);
        weight("update", &mut mix.update);
        weight("insert", &mut mix.insert);
        weight("scan", &mut mix.scan);
        weight("read_modify_write", &mut mix.read_modify_write);
        let flag = |key: &str, flag: &mut bool| {
            if let Some(given) = map.get(key).and_then(Checked::flag) {
                *flag = given;
            }
        };
        flag("read_all_fields", &mut mix.read_all_fields);
        flag("read_all_fields_by_name", &mut mix.read_all_fields_by_name);
        flag("write_all_fields", &mut mix.write_all_fields);
        if let Some(checked) = map.get("request_distribution") {
            mix.request_distribution = request_distribution(checked)?;
        }
        if let Some(checked) = map.get("scan_length") {
            mix.scan_length = scan_length(self.problems, &join(&path, "scan_length"), checked)?;
        }
        for (key, value) in mix_values(&mix) {
            match map.get(key) {
                Some(checked) => self
                    .origins
                    .add_file(&join(&path, key), value, checked.place),
                None => self.origins.add(&join(&path, key), value, source.clone()),
            }
        }
        for problem in mix.check() {
            let place = map
                .get(problem.field)
                .map_or(field.key_place, |checked| checked.place);
            self.problems.add(
                &path,
                Some(place),
                Mistake::Workload {
                    what: words(&problem.wrong),
                },
            );
        }
        Some(mix)
    }

    /// What is impossible only for certain data, such as a hot spot without a record in it.
    pub(crate) fn mixes_on_data(&mut self, mixes: &[(Mix, Place)], data: &[DataSpec]) {
        let mut seen: Vec<&DataSpec> = Vec::new();
        for data in data {
            if seen.contains(&data) {
                continue;
            }
            seen.push(data);
            let Ok(key_space) = KeySpace::new(data) else {
                continue;
            };
            for (mix, place) in mixes {
                if let Err(WorkloadError::Impossible { problems }) =
                    Workload::new(&key_space, mix, 0, None)
                {
                    for problem in problems {
                        let path = join("workload.mixes", &mix.name);
                        self.problems.add(
                            &path,
                            Some(*place),
                            Mistake::Workload {
                                what: words(&problem.wrong),
                            },
                        );
                    }
                }
            }
        }
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
fn range(problems: &mut Collector<'_>, path: &str, checked: &Checked) -> Option<(u32, u32)> {
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

fn request_distribution(checked: &Checked) -> Option<RequestDistribution> {
    if let Some(word) = checked.text() {
        return match word {
            "uniform" => Some(RequestDistribution::Uniform),
            "sequential" => Some(RequestDistribution::Sequential),
            "zipfian" => Some(RequestDistribution::Zipfian),
            "latest" => Some(RequestDistribution::Latest),
            "hotspot" => Some(RequestDistribution::hotspot()),
            _ => Some(RequestDistribution::exponential()),
        };
    }
    let field = checked.fields().first()?;
    // Origins of these inner values are told with the whole.
    let source = crate::source::SourceText::new("");
    let mut origins = Origins::new(&source);
    let mut number = |object, key: &str| match origins.settle("", object, Some(&field.checked), key)
    {
        Some(SettingValue::Number(number)) => Some(number),
        _ => None,
    };
    match field.key.as_str() {
        "hotspot" => Some(RequestDistribution::Hotspot {
            data_fraction: number(&HOTSPOT, "data_fraction")?,
            operation_fraction: number(&HOTSPOT, "operation_fraction")?,
        }),
        _ => Some(RequestDistribution::Exponential {
            percentile: number(&EXPONENTIAL, "percentile")?,
            fraction: number(&EXPONENTIAL, "fraction")?,
        }),
    }
}

fn scan_length(problems: &mut Collector<'_>, path: &str, checked: &Checked) -> Option<ScanLength> {
    if let Some(records) = checked.whole() {
        let records = u32::try_from(records).ok()?;
        return Some(ScanLength {
            min: records,
            max: records,
            distribution: ScanDistribution::Uniform,
        });
    }
    let field = checked.fields().first()?;
    let (min, max) = range(problems, path, &field.checked)?;
    let distribution = if field.key == "zipfian" {
        ScanDistribution::Zipfian
    } else {
        ScanDistribution::Uniform
    };
    Some(ScanLength {
        min,
        max,
        distribution,
    })
}

/// The values of a mix that matter to it, as they would be written.
fn mix_values(mix: &Mix) -> Vec<(&'static str, String)> {
    let weight = |weight: f64| {
        MIX.key("read").map_or_else(String::new, |key| {
            written(&key.shape, &SettingValue::Number(weight))
        })
    };
    let mut values = Vec::new();
    for (key, number) in [
        ("read", mix.read),
        ("update", mix.update),
        ("insert", mix.insert),
        ("scan", mix.scan),
        ("read_modify_write", mix.read_modify_write),
    ] {
        if number > 0.0 {
            values.push((key, weight(number)));
        }
    }
    let keys = match mix.request_distribution {
        RequestDistribution::Uniform => "uniform".to_owned(),
        RequestDistribution::Sequential => "sequential".to_owned(),
        RequestDistribution::Zipfian => "zipfian".to_owned(),
        RequestDistribution::Latest => "latest".to_owned(),
        RequestDistribution::Hotspot {
            data_fraction,
            operation_fraction,
        } => format!(
            "{{hotspot: {{data_fraction: {}, operation_fraction: {}}}}}",
            units::share(data_fraction),
            units::share(operation_fraction)
        ),
        RequestDistribution::Exponential {
            percentile,
            fraction,
        } => {
            format!("{{exponential: {{percentile: {percentile}, fraction: {fraction}}}}}")
        }
    };
    values.push(("request_distribution", keys));
    if mix.scan > 0.0 {
        let ScanLength {
            min,
            max,
            distribution,
        } = mix.scan_length;
        let word = if distribution == ScanDistribution::Zipfian {
            "zipfian"
        } else {
            "uniform"
        };
        values.push(("scan_length", format!("{{{word}: [{min}, {max}]}}")));
    }
    if mix.read > 0.0 || mix.scan > 0.0 || mix.read_modify_write > 0.0 {
        values.push(("read_all_fields", mix.read_all_fields.to_string()));
        values.push((
            "read_all_fields_by_name",
            mix.read_all_fields_by_name.to_string(),
        ));
    }
    if mix.update > 0.0 || mix.read_modify_write > 0.0 {
        values.push(("write_all_fields", mix.write_all_fields.to_string()));
    }
    values
}

/// What the workload says, in the words of the file.
fn words(wrong: &Wrong) -> String {
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
