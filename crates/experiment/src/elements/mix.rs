//! `workload.mixes`: mixes of operations, by preset or parameter by parameter.

use crate::Collector;
use crate::document::{Checked, Field, SourceText, Span, Value, join};
use crate::elements::fields::range;
use crate::elements::workload::{PATH, WorkloadReader, words};
use crate::keys::mix::{MIX, WEIGHT, exponential, hotspot, mix, request_distribution, scan_length};
use crate::keys::workload::workload;
use crate::mistake::Mistake;
use crate::origins::{Origins, written};
use crate::table::*;
use plimsoll_plan::{SettingValue, Source};
use plimsoll_record::quantities::units;
use plimsoll_workload::{
    DataSpec, KeySpace, Mix, RequestDistribution, ScanDistribution, ScanLength, Workload,
    WorkloadError,
};

fn path_of_mixes() -> String {
    workload::mixes.under(PATH)
}

impl WorkloadReader<'_, '_> {
    /// The mixes, in order, each with the place of its name.
    pub(crate) fn mixes(&mut self, data: &DataSpec) -> Vec<(Mix, Span)> {
        if self.workload.get(workload::collections).is_some() {
            return self.own_mixes(data);
        }
        let mut mixes: Vec<(Mix, Span)> = Vec::new();
        if let Some(preset) = self.workload.get(workload::preset) {
            let word = preset.text().unwrap_or_default();
            self.origins.add_file(&workload::preset.under(PATH), word, preset.place);
            mixes.extend(self.preset(preset));
        }
        if let (Some(core), Some(named)) = (&self.file, self.workload.get(workload::ycsb)) {
            mixes.push((core.mix.clone(), named.place));
        }
        let Some(listed) = self.workload.get(workload::mixes) else {
            return mixes;
        };
        if !listed.items().is_empty() {
            let words: Vec<&str> = listed.items().iter().filter_map(Checked::text).collect();
            self.origins.add_file(&path_of_mixes(), words.join(", "), listed.place);
        }
        for item in listed.items() {
            let Some((mix, place)) = self.preset(item) else {
                continue;
            };
            if mixes.iter().any(|(known, _)| known.name == mix.name) {
                self.problems.add(
                    &path_of_mixes(),
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

    /// Mixes of an application's operations.
    fn own_mixes(&mut self, data: &DataSpec) -> Vec<(Mix, Span)> {
        let (Some(documents), Some(listed)) = (&data.documents, self.workload.get(workload::mixes))
        else {
            return Vec::new();
        };
        if listed.fields().is_empty() {
            let what = "with `collections`, a mix has a name and weights of `operations`, such as `mixes: {day: {by-customer: 60%, place: 40%}}`";
            let mistake = Mistake::Workload { what: what.into() };
            self.problems.add(&path_of_mixes(), Some(listed.place), mistake);
        }
        let known = documents.operations();
        let mut mixes = Vec::new();
        for field in listed.fields() {
            let path = join(&path_of_mixes(), &field.key);
            let Some(mix) = self.own_mix(&path, field, &known) else { continue };
            for problem in mix.check() {
                let mistake = Mistake::Workload { what: words(&problem.wrong) };
                self.problems.add(&path, Some(field.key_place), mistake);
            }
            mixes.push((mix, field.key_place));
        }
        mixes
    }

    fn preset(&mut self, checked: &Checked) -> Option<(Mix, Span)> {
        let mix = Mix::preset(checked.text()?)?;
        let path = join(&path_of_mixes(), &mix.name);
        let source = Source::Preset { name: mix.name.clone() };
        for (key, value) in mix_values(&mix) {
            self.origins.add(&key.under(&path), value, source.clone());
        }
        Some((mix, checked.place))
    }

    fn mix(&mut self, field: &Field) -> Option<Mix> {
        let (path, map) = (join(&path_of_mixes(), &field.key), &field.checked);
        if matches!(map.value, Value::Wrong) {
            return None;
        }
        let preset = map.get(mix::preset).and_then(Checked::text).and_then(Mix::preset);
        let mut source = Source::Default;
        let mut mix = Mix::preset("c")?;
        (mix.read, mix.request_distribution) = (0.0, RequestDistribution::Uniform);
        if let Some(preset) = preset {
            source = Source::Preset { name: preset.name.clone() };
            mix = preset;
        }
        mix.name.clone_from(&field.key);
        for own in map.fields().iter().filter(|own| MIX.key(&own.key).is_none()) {
            let mistake = Mistake::UnknownKey { key: own.key.clone(), valid: MIX.names() };
            self.problems.add(&path, Some(own.key_place), mistake);
        }
        let weight = |key: &Key, weight: &mut f64| {
            if let Some(number) = map.get(key).and_then(Checked::number) {
                *weight = number;
            }
        };
        weight(mix::read, &mut mix.read);
        weight(mix::update, &mut mix.update);
        weight(mix::insert, &mut mix.insert);
        weight(mix::scan, &mut mix.scan);
        weight(mix::read_modify_write, &mut mix.read_modify_write);
        let flag = |key: &Key, flag: &mut bool| {
            if let Some(given) = map.get(key).and_then(Checked::flag) {
                *flag = given;
            }
        };
        flag(mix::read_all_fields, &mut mix.read_all_fields);
        flag(mix::read_all_fields_by_name, &mut mix.read_all_fields_by_name);
        flag(mix::write_all_fields, &mut mix.write_all_fields);
        if let Some(checked) = map.get(mix::request_distribution) {
            mix.request_distribution = request_distribution(checked)?;
        }
        if let Some(checked) = map.get(mix::scan_length) {
            mix.scan_length = scan_length(self.problems, &mix::scan_length.under(&path), checked)?;
        }
        for (key, value) in mix_values(&mix) {
            match map.get(key) {
                Some(checked) => self.origins.add_file(&key.under(&path), value, checked.place),
                None => self.origins.add(&key.under(&path), value, source.clone()),
            }
        }
        // A proportion that could not be read is no proportion of zero.
        if map.fields().iter().any(|field| matches!(field.checked.value, Value::Wrong)) {
            return None;
        }
        for problem in mix.check() {
            let mistake = Mistake::Workload { what: words(&problem.wrong) };
            self.problems.add(&path, Some(field.key_place), mistake);
        }
        Some(mix)
    }

    /// Reports mixes that are impossible for the data, such as a hot spot without records.
    pub(crate) fn mixes_on_data(&mut self, mixes: &[(Mix, Span)], data: &[DataSpec]) {
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
                        let path = join(&path_of_mixes(), &mix.name);
                        self.problems.add(
                            &path,
                            Some(*place),
                            Mistake::Workload { what: words(&problem.wrong) },
                        );
                    }
                }
            }
        }
    }
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
    // The origin of the whole distribution covers these values.
    let source = SourceText::new("");
    let mut origins = Origins::new(&source);
    let mut number = |map: &Checked, key: &Key| match origins.settle("", Some(map), key) {
        Some(SettingValue::Number(number)) => Some(number),
        _ => None,
    };
    if let Some(map) = checked.get(request_distribution::hotspot) {
        return Some(RequestDistribution::Hotspot {
            data_fraction: number(map, hotspot::data_fraction)?,
            operation_fraction: number(map, hotspot::operation_fraction)?,
        });
    }
    let map = checked.get(request_distribution::exponential)?;
    Some(RequestDistribution::Exponential {
        percentile: number(map, exponential::percentile)?,
        fraction: number(map, exponential::fraction)?,
    })
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
    let (given, distribution) = match checked.get(scan_length::uniform) {
        Some(given) => (given, ScanDistribution::Uniform),
        None => (checked.get(scan_length::zipfian)?, ScanDistribution::Zipfian),
    };
    let (min, max) = range(problems, path, given)?;
    Some(ScanLength { min, max, distribution })
}

/// The values of a mix that matter to it, as they would be written.
pub(crate) fn mix_values(mix: &Mix) -> Vec<(&'static Key, String)> {
    let weight = |weight: f64| written(&WEIGHT, &SettingValue::Number(weight));
    let mut values = Vec::new();
    for (key, number) in [
        (mix::read, mix.read),
        (mix::update, mix.update),
        (mix::insert, mix.insert),
        (mix::scan, mix.scan),
        (mix::read_modify_write, mix.read_modify_write),
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
        RequestDistribution::Hotspot { data_fraction, operation_fraction } => format!(
            "{{hotspot: {{data_fraction: {}, operation_fraction: {}}}}}",
            units::share(data_fraction),
            units::share(operation_fraction)
        ),
        RequestDistribution::Exponential { percentile, fraction } => {
            format!("{{exponential: {{percentile: {percentile}, fraction: {fraction}}}}}")
        }
    };
    values.push((mix::request_distribution, keys));
    if mix.scan > 0.0 {
        let ScanLength { min, max, distribution } = mix.scan_length;
        let word = if distribution == ScanDistribution::Zipfian {
            scan_length::zipfian.name
        } else {
            scan_length::uniform.name
        };
        values.push((mix::scan_length, format!("{{{word}: [{min}, {max}]}}")));
    }
    if mix.read > 0.0 || mix.scan > 0.0 || mix.read_modify_write > 0.0 {
        values.push((mix::read_all_fields, mix.read_all_fields.to_string()));
        values.push((mix::read_all_fields_by_name, mix.read_all_fields_by_name.to_string()));
    }
    if mix.update > 0.0 || mix.read_modify_write > 0.0 {
        values.push((mix::write_all_fields, mix.write_all_fields.to_string()));
    }
    values
}
