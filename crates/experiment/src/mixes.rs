//! Makes the mixes of operations from what was read.

use crate::format::{EXPONENTIAL, HOTSPOT, MIX};
use crate::mistake::Mistake;
use crate::problems::Collector;
use crate::reader::{Checked, Field, Value, join};
use crate::settle::{Origins, written};
use crate::source::Place;
use crate::workload::{WorkloadReader, range, words};
use plimsoll_plan::{SettingValue, Source};
use plimsoll_quantities::units;
use plimsoll_workload::{
    DataSpec, KeySpace, Mix, RequestDistribution, ScanDistribution, ScanLength, Workload,
    WorkloadError,
};

impl WorkloadReader<'_, '_> {
    /// The mixes, in order, each with the place of its name.
    pub(crate) fn mixes(&mut self) -> Vec<(Mix, Place)> {
        let mut mixes: Vec<(Mix, Place)> = Vec::new();
        if let Some(preset) = self.workload.get("preset") {
            let word = preset.text().unwrap_or_default();
            self.origins.add_file("workload.preset", word, preset.place);
            mixes.extend(self.preset(preset));
        }
        if let (Some(core), Some(named)) = (&self.file, self.workload.get("ycsb")) {
            mixes.push((core.mix.clone(), named.place));
        }
        let Some(listed) = self.workload.get("mixes") else {
            return mixes;
        };
        if !listed.items().is_empty() {
            let words: Vec<&str> = listed.items().iter().filter_map(Checked::text).collect();
            self.origins
                .add_file("workload.mixes", words.join(", "), listed.place);
        }
        for item in listed.items() {
            let Some((mix, place)) = self.preset(item) else {
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

    fn preset(&mut self, checked: &Checked) -> Option<(Mix, Place)> {
        let mix = Mix::preset(checked.text()?)?;
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
        // A proportion that could not be read is no proportion of zero.
        if map
            .fields()
            .iter()
            .any(|field| matches!(field.checked.value, Value::Wrong))
        {
            return None;
        }
        for problem in mix.check() {
            let mistake = Mistake::Workload {
                what: words(&problem.wrong),
            };
            self.problems.add(&path, Some(field.key_place), mistake);
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
pub(crate) fn mix_values(mix: &Mix) -> Vec<(&'static str, String)> {
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
