//! What can be set on each engine. The engines own the lists; the file is checked against them.

use plimsoll_record::quantities::setting::{SettingKind, SettingValue};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A kind of engine that an arm can name, with everything that can be set on it.
#[derive(Clone, Copy, Debug)]
pub struct EngineKind {
    /// The word in the file.
    pub name: &'static str,
    /// What the engine is, in one sentence.
    pub about: &'static str,
    /// Whether it keeps data in a directory, so that disk and a data directory are needed.
    pub keeps_data: bool,
    /// Preset of the server that is started for an arm that names no other; `None` for embedded engines.
    pub server: Option<&'static str>,
    /// Name of the setting that is its cache size, if it has one: plans check it against memory.
    pub cache_setting: Option<&'static str>,
    /// Share of its cache that it fills before it begins to evict, 0 to 1.
    pub usable_cache: f64,
    /// Everything that can be set.
    pub settings: &'static [Setting],
    /// What of its settings, defaults filled in, it cannot be opened with, as far as that is known from them alone.
    pub unfit: fn(&Settings) -> Option<Unfit>,
}

/// A setting whose value does not suit its engine, or the engine's other settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// Name of the setting that is wrong.
    pub setting: &'static str,
    /// As the end of a sentence.
    pub reason: String,
}

impl Unfit {
    /// Says that a value does not suit.
    pub fn new(setting: &'static str, reason: impl Into<String>) -> Self {
        Self { setting, reason: reason.into() }
    }
}

impl EngineKind {
    /// The setting of this name.
    pub fn setting(&self, name: &str) -> Option<&'static Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }
}

/// One thing that can be set on an engine.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The key in the file.
    pub name: &'static str,
    /// One sentence, with the unit.
    pub about: &'static str,
    /// Kind of value that the setting takes.
    pub kind: SettingKind,
    /// The default as it would be written in a file; `None` where absence is the default.
    pub default: Option<&'static str>,
}

/// All settings of an arm's engine, defaults filled in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(pub BTreeMap<String, SettingValue>);

impl Settings {
    /// Bytes of a size setting.
    pub fn bytes(&self, name: &str) -> Option<u64> {
        match self.0.get(name) {
            Some(SettingValue::Bytes(bytes)) => Some(*bytes),
            _ => None,
        }
    }

    /// The value of a setting that is a whole number.
    pub fn count(&self, name: &str) -> Option<u64> {
        match self.0.get(name) {
            Some(SettingValue::Count(count)) => Some(*count),
            _ => None,
        }
    }

    /// The value of a setting that is a time, in nanoseconds.
    pub fn nanos(&self, name: &str) -> Option<u64> {
        match self.0.get(name) {
            Some(SettingValue::Nanos(nanos)) => Some(*nanos),
            _ => None,
        }
    }

    /// The value of a setting that is a number or a share.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.0.get(name) {
            Some(SettingValue::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The value of a setting that is true or false.
    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.0.get(name) {
            Some(SettingValue::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// The value of a setting that is a word or a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name) {
            Some(SettingValue::Text(text)) => Some(text),
            _ => None,
        }
    }
}
