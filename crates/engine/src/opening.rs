//! What an engine is opened with, and its settings with their defaults.

use crate::EngineError;
use plimsoll_plan::{EngineKind, Setting, SettingKind, SettingValue, Settings};
use plimsoll_record::quantities::units;
use plimsoll_workload::{CollectionOrder, DataSpec};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// Metrics at a time: milliseconds since 1970, and values by the names in `plimsoll_record::figures`, counters as they stood, as
/// [`Engine::statistics`](crate::Engine::statistics) reports them.
pub type MetricsSample = (i64, Vec<(Cow<'static, str>, f64)>);

/// What an engine needs to be opened.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// From the plan. A setting that is absent takes the default of its [`EngineKind`].
    pub settings: &'a Settings,
    /// For an engine that keeps data: an existing directory, either empty or with the data of an earlier opening.
    pub directory: Option<&'a Path>,
    /// Address of the server that was started for it, as its `ServerSpec` gives it; `None` for embedded engines and for servers that the settings name.
    pub server: Option<&'a str>,
    /// Seed of everything that the engine draws at random.
    pub seed: u64,
    /// The records that will be stored in it.
    pub data: &'a DataSpec,
    /// The collections of an application, in place of those records; none for YCSB's operations.
    pub collections: &'a [CollectionOrder],
    /// Name of the memory allocator of this process, for the description: it bears on the speed of embedded engines.
    pub allocator: &'a str,
    /// Whether another client prepares the data, or none: existing data stay as they are, whatever the settings say.
    pub joins: bool,
}

impl<'a> Opening<'a> {
    /// An engine without directory and server, with the system's allocator and the seed 1.
    pub fn new(settings: &'a Settings, data: &'a DataSpec) -> Self {
        Self {
            settings,
            directory: None,
            server: None,
            seed: 1,
            data,
            collections: &[],
            allocator: "system",
            joins: false,
        }
    }
}

/// Why engines can expect a setting that has a default.
pub(crate) const COMPLETED: &str = "the registry fills in every setting that has a default";

/// The settings with the defaults of those that are absent, each of the right type.
pub(crate) fn completed(kind: &EngineKind, given: &Settings) -> Result<Settings, EngineError> {
    let mut settings = Settings::default();
    for (name, value) in &given.0 {
        let Some(setting) = kind.setting(name) else {
            let reason = "there is no such setting";
            return Err(EngineError::unfit(kind, given, name, reason));
        };
        if !suits(&setting.kind, value) {
            let reason = format!("it must be {}", wanted(&setting.kind));
            return Err(EngineError::unfit(kind, given, name, reason));
        }
        settings.0.insert(name.clone(), value.clone());
    }
    for setting in kind.settings {
        if let Some(text) = setting.default {
            settings.0.entry(setting.name.into()).or_insert_with(|| default_value(setting, text));
        }
    }
    match (kind.unfit)(&settings) {
        Some(unfit) => {
            let (setting, reason) = (unfit.setting, unfit.reason);
            Err(EngineError::unfit(kind, &settings, setting, reason))
        }
        None => Ok(settings),
    }
}

pub(crate) fn default_value(setting: &Setting, text: &str) -> SettingValue {
    const PROOF: &str = "defaults are tested to be readable";
    match setting.kind {
        SettingKind::Size { .. } => SettingValue::Bytes(units::parse_size(text).expect(PROOF)),
        SettingKind::Count { .. } => SettingValue::Count(units::parse_count(text).expect(PROOF)),
        SettingKind::Duration { .. } => {
            SettingValue::Nanos(units::parse_duration(text).expect(PROOF))
        }
        SettingKind::Number { .. } => SettingValue::Number(units::parse_share(text).expect(PROOF)),
        SettingKind::Flag => SettingValue::Flag(text == "true"),
        SettingKind::Choice(_) | SettingKind::Text => SettingValue::Text(text.into()),
    }
}

pub(crate) fn suits(kind: &SettingKind, value: &SettingValue) -> bool {
    match (kind, value) {
        (SettingKind::Size { min, max }, SettingValue::Bytes(value))
        | (SettingKind::Count { min, max }, SettingValue::Count(value))
        | (SettingKind::Duration { min_ns: min, max_ns: max }, SettingValue::Nanos(value)) => {
            (min..=max).contains(&value)
        }
        (SettingKind::Number { min, max }, SettingValue::Number(value)) => {
            (min..=max).contains(&value)
        }
        (SettingKind::Choice(words), SettingValue::Text(text)) => words.contains(&text.as_str()),
        (SettingKind::Flag, SettingValue::Flag(_)) | (SettingKind::Text, SettingValue::Text(_)) => {
            true
        }
        _ => false,
    }
}

fn wanted(kind: &SettingKind) -> String {
    match kind {
        SettingKind::Size { min, max } => {
            format!("a size from {} to {}", SettingValue::Bytes(*min), SettingValue::Bytes(*max))
        }
        SettingKind::Count { min, max } => format!("a whole number from {min} to {max}"),
        SettingKind::Duration { min_ns, max_ns } => {
            format!(
                "a duration from {} to {}",
                SettingValue::Nanos(*min_ns),
                SettingValue::Nanos(*max_ns)
            )
        }
        SettingKind::Number { min, max } => format!("a number from {min} to {max}"),
        SettingKind::Flag => "true or false".into(),
        SettingKind::Choice(words) => format!("one of {}", words.join(", ")),
        SettingKind::Text => "a text".into(),
    }
}

/// Every setting by name, as written in a file: for descriptions.
pub(crate) fn settings_in_force(settings: &Settings) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for (name, value) in &settings.0 {
        texts.insert(name.clone(), value.to_string());
    }
    texts
}
