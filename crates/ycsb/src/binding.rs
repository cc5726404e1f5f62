//! From a binding and its properties to an opened engine.

use crate::address::translated;
use crate::basic::Basic;
use crate::command::Binding;
use crate::error::YcsbError;
use crate::kept::KeptDirectory;
use plimsoll_engine::{Engine, Opening};
use plimsoll_plan::{EngineKind, SettingKind, SettingValue, Settings};
use plimsoll_record::quantities::units;
use plimsoll_workload::DataSpec;
use plimsoll_workload::properties::{Properties, PropertyError};

const DEFAULT_URL: &str = "mongodb://localhost:27017/ycsb?w=1";

/// Names of `mongodb.readPreference` with their words in an address.
const READ_PREFERENCES: [(&str, &str); 5] = [
    ("primary", "primary"),
    ("primary_preferred", "primaryPreferred"),
    ("secondary", "secondary"),
    ("secondary_preferred", "secondaryPreferred"),
    ("nearest", "nearest"),
];

/// Names of `mongodb.writeConcern` with the option that says so in an address.
const WRITE_CONCERNS: [(&str, &str); 6] = [
    ("errors_ignored", "w=0"),
    ("unacknowledged", "w=0"),
    ("acknowledged", "w=1"),
    ("journaled", "journal=true"),
    ("replica_acknowledged", "w=2"),
    ("majority", "w=majority"),
];

/// An engine that is open, and what must stay as long as it is.
pub(crate) struct Opened {
    pub(crate) engine: Box<dyn Engine>,
    /// Held until the engine is closed.
    _directory: Option<KeptDirectory>,
}

/// How to open an engine: everything that properties say of it, checked.
pub(crate) struct Plan {
    binding: Binding,
    settings: Settings,
    directory: Option<String>,
    pub(crate) notes: Vec<String>,
    /// For the standard output, as the binding says it in YCSB. Without passwords.
    pub(crate) greeting: Option<String>,
}

impl Plan {
    /// Checks the properties of the binding.
    pub(crate) fn read(
        binding: Binding,
        properties: &Properties,
        is_async: bool,
    ) -> Result<Self, YcsbError> {
        let mut plan = Self {
            binding,
            settings: Settings::default(),
            directory: None,
            notes: Vec::new(),
            greeting: None,
        };
        match binding {
            Binding::Basic => {}
            Binding::MongoDb => plan.mongodb(properties, is_async)?,
            Binding::WiredTiger => plan.wiredtiger(properties)?,
        }
        Ok(plan)
    }

    fn wiredtiger(&mut self, properties: &Properties) -> Result<(), YcsbError> {
        let kind = engine_kind("wiredtiger")?;
        let directory = properties.get("wiredtiger.dir").filter(|path| !path.is_empty());
        let Some(directory) = directory else {
            return Err(PropertyError::impossible(
                "wiredtiger.dir",
                "it is missing: name the directory of the database, such as -p wiredtiger.dir=/data/ycsb",
            )
            .into());
        };
        self.directory = Some(directory.into());
        self.own_settings(kind, properties, "wiredtiger.", &["wiredtiger.dir"])
    }

    fn mongodb(&mut self, properties: &Properties, is_async: bool) -> Result<(), YcsbError> {
        let kind = engine_kind("mongodb")?;
        let url = properties.get("mongodb.url").unwrap_or(DEFAULT_URL);
        let url = self.address(url, properties)?;
        self.greeting = Some(format!(
            "mongo client connection created with {}",
            plimsoll_record::redact::redact(&url)
        ));
        let (url, notes) = translated(&url);
        self.notes.extend(notes);
        let mut set = |name: &str, value: SettingValue| {
            self.settings.0.insert(name.into(), value);
        };
        set("database", SettingValue::Text(database(&url)));
        set("uri", SettingValue::Text(url));
        set("upsert", SettingValue::Flag(properties.flag("mongodb.upsert", false)));
        let mut batch = properties.count("batchsize")?;
        if batch.is_none() && is_async {
            batch = properties.count("mongodb.batchsize")?;
        } else if properties.get("mongodb.batchsize").is_some() && !is_async {
            self.notes.push(
                "mongodb.batchsize has no effect with the binding mongodb: set batchsize".into(),
            );
        }
        if let Some(batch) = batch {
            self.settings.0.insert("batch".into(), SettingValue::Count(batch.max(1)));
        }
        if let Some(client) = properties.get("plimsoll.client") {
            let value = value(kind, "client", client)
                .map_err(|words| PropertyError::impossible("plimsoll.client", words))?;
            self.settings.0.insert("client".into(), value);
        }
        self.own_settings(kind, properties, "plimsoll.engine.", &[])
    }

    /// The address with what older properties say added to its options, where these do not say it themselves.
    fn address(&mut self, url: &str, properties: &Properties) -> Result<String, YcsbError> {
        if !url.starts_with("mongodb://") && !url.starts_with("mongodb+srv://") {
            return Err(PropertyError::impossible(
                "mongodb.url",
                "it must begin with mongodb:// or mongodb+srv://",
            )
            .into());
        }
        check_url(url)?;
        let mut url = url.to_owned();
        // A number, as in YCSB, though it means nothing here.
        properties.count("mongodb.maxconnections")?;
        for (name, known) in [
            ("mongodb.writeConcern", &WRITE_CONCERNS[..]),
            ("mongodb.readPreference", &READ_PREFERENCES[..]),
        ] {
            let Some(word) = properties.get(name) else {
                continue;
            };
            let lower = word.to_ascii_lowercase();
            match known.iter().find(|(known, _)| *known == lower) {
                Some((_, option)) if option.contains('=') => add_option(&mut url, option),
                Some((_, mode)) => add_option(&mut url, &format!("readPreference={mode}")),
                None => {
                    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                    self.notes.push(format!(
                        "WARNING: {name}={word} is unknown and has no effect; there are {}",
                        names.join(", ")
                    ));
                }
            }
        }
        Ok(url)
    }

    /// Settings of the engine by their own names behind a prefix.
    fn own_settings(
        &mut self,
        kind: &EngineKind,
        properties: &Properties,
        prefix: &str,
        others: &[&str],
    ) -> Result<(), YcsbError> {
        for (name, text) in properties.iter() {
            let Some(setting) = name.strip_prefix(prefix) else {
                continue;
            };
            if others.contains(&name) {
                continue;
            }
            let value = value(kind, setting, text)
                .map_err(|words| PropertyError::impossible(name, words))?;
            self.settings.0.insert(setting.into(), value);
        }
        Ok(())
    }

    pub(crate) fn open(
        &self,
        properties: &Properties,
        data: &DataSpec,
        seed: u64,
        allocator: &str,
    ) -> Result<Opened, YcsbError> {
        if self.binding == Binding::Basic {
            return Ok(Opened {
                engine: Box::new(Basic::new(properties, &data.table, seed)?),
                _directory: None,
            });
        }
        let directory = match &self.directory {
            Some(path) => Some(KeptDirectory::take(path)?),
            None => None,
        };
        let opening = Opening {
            settings: &self.settings,
            directory: directory.as_ref().map(KeptDirectory::path),
            server: None,
            seed,
            data,
            collections: &[],
            allocator,
            joins: true,
        };
        let name = match self.binding {
            Binding::WiredTiger => "wiredtiger",
            _ => "mongodb",
        };
        Ok(Opened {
            engine: plimsoll_engine::open(name, &opening).map_err(|error| YcsbError::Open {
                said: error.to_string().replace("`uri`", "`mongodb.url`"),
                is_cut: self.binding == Binding::MongoDb && has_one_option(properties),
            })?,
            _directory: directory,
        })
    }
}

/// Whether the address has exactly one option.
fn has_one_option(properties: &Properties) -> bool {
    let url = properties.get("mongodb.url").unwrap_or_default();
    url.split_once('?').is_some_and(|(_, options)| !options.is_empty() && !options.contains('&'))
}

/// Refuses addresses that a shell or a typing error has broken.
fn check_url(url: &str) -> Result<(), PropertyError> {
    let impossible = |words: String| Err(PropertyError::impossible("mongodb.url", words));
    if url.contains("\\&") {
        return impossible(
            "it has a backslash before an `&`: within quotes none is needed, leave it out".into(),
        );
    }
    let name = database(url);
    let mut forbidden = "/,:&= \\\".$*<>|".chars();
    let Some(letter) = forbidden.find(|letter| name.contains(*letter)) else {
        return Ok(());
    };
    let advice = match letter {
        '&' | '=' => "options begin behind a `?`",
        ',' | ':' | '/' => {
            "hosts stand before the first `/`, with commas between them, and the database behind it"
        }
        _ => "correct the address",
    };
    impossible(format!(
        "it names a database with `{letter}` in its name, which no database has: {advice}"
    ))
}

fn engine_kind(name: &str) -> Result<&'static EngineKind, YcsbError> {
    plimsoll_engine::kind(name).ok_or_else(|| YcsbError::NoEngine { name: name.into() })
}

/// The database that an address names, as YCSB takes it: its path, unless there is none or it is `admin`.
fn database(url: &str) -> String {
    let behind = url.split_once("://").map_or(url, |(_, behind)| behind);
    let hosts_end = behind.rfind('@').map_or(0, |at| at + 1);
    let path = behind[hosts_end..].split_once('/').map_or("", |(_, path)| path);
    let name = path.split('?').next().unwrap_or_default();
    match name {
        "" | "admin" => "ycsb".into(),
        name => name.into(),
    }
}

/// Adds `name=value` to the options of an address, unless it has an option of that name.
fn add_option(url: &mut String, option: &str) {
    let name = option.split('=').next().unwrap_or(option);
    let (front, options) = match url.split_once('?') {
        Some((front, options)) => (front.to_owned(), options.to_owned()),
        None => (url.clone(), String::new()),
    };
    let has = |wanted: &str| {
        options.split('&').any(|option| {
            option.split('=').next().is_some_and(|name| name.eq_ignore_ascii_case(wanted))
        })
    };
    // A write concern is one thing in two options.
    if has(name) || (name == "journal" && has("j")) {
        return;
    }
    let behind = front.split_once("://").map_or("", |(_, behind)| behind);
    let slash = if behind.contains('/') { "" } else { "/" };
    *url = if options.is_empty() {
        format!("{front}{slash}?{option}")
    } else {
        format!("{front}{slash}?{options}&{option}")
    };
}

/// The value of a setting from its text, as an experiment file would have it, or why there is none.
fn value(kind: &EngineKind, name: &str, text: &str) -> Result<SettingValue, String> {
    let Some(setting) = kind.setting(name) else {
        let names: Vec<&str> = kind.settings.iter().map(|setting| setting.name).collect();
        return Err(format!(
            "the engine {} has no setting `{name}`; it has {}",
            kind.name,
            names.join(", ")
        ));
    };
    let value = match setting.kind {
        SettingKind::Size { .. } => {
            SettingValue::Bytes(units::parse_size(text).map_err(|error| error.to_string())?)
        }
        SettingKind::Count { .. } => {
            SettingValue::Count(units::parse_count(text).map_err(|error| error.to_string())?)
        }
        SettingKind::Duration { .. } => {
            SettingValue::Nanos(units::parse_duration(text).map_err(|error| error.to_string())?)
        }
        SettingKind::Number { .. } => {
            SettingValue::Number(units::parse_share(text).map_err(|error| error.to_string())?)
        }
        SettingKind::Flag => match text {
            "true" => SettingValue::Flag(true),
            "false" => SettingValue::Flag(false),
            _ => return Err(format!("`{text}` is neither true nor false")),
        },
        SettingKind::Choice(words) => {
            if !words.contains(&text) {
                return Err(format!("there is no `{text}`; there are {}", words.join(", ")));
            }
            SettingValue::Text(text.into())
        }
        SettingKind::Text => SettingValue::Text(text.into()),
    };
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_is_the_path_of_the_address() {
        for (url, name) in [
            ("mongodb://localhost:27017/ycsb?w=1", "ycsb"),
            ("mongodb://h/mine", "mine"),
            ("mongodb://h/admin?w=1", "ycsb"),
            ("mongodb://h", "ycsb"),
            ("mongodb://h/", "ycsb"),
            ("mongodb://u:p@h1,h2/mine?replicaSet=r", "mine"),
            ("mongodb+srv://h/?w=1", "ycsb"),
        ] {
            assert_eq!(database(url), name, "{url}");
        }
    }

    #[test]
    fn addresses_that_a_shell_or_a_hand_broke_are_refused() {
        for (url, words) in [
            ("mongodb://h/ycsb?w=0\\&readConcernLevel=local", "a backslash before an `&`"),
            ("mongodb://h/ycsb&socketTimeoutMS=2000", "options begin behind a `?`"),
            (
                "mongodb://u:p@shard-0/127.0.0.1:27017,127.0.0.1:27018/ycsb",
                "hosts stand before the first `/`",
            ),
        ] {
            let error = check_url(url).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        for url in ["mongodb://h/dbname_?", "mongodb://h", "mongodb://u:p@h1,h2:5/mine-2?w=1"] {
            assert!(check_url(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn options_are_added_where_they_are_absent() {
        for (url, option, expected) in [
            ("mongodb://h", "w=1", "mongodb://h/?w=1"),
            ("mongodb://h/db", "w=1", "mongodb://h/db?w=1"),
            ("mongodb://h/db?x=y", "w=1", "mongodb://h/db?x=y&w=1"),
            ("mongodb://h/db?W=2", "w=1", "mongodb://h/db?W=2"),
            ("mongodb://h/?j=true", "journal=true", "mongodb://h/?j=true"),
        ] {
            let mut url = url.to_owned();
            add_option(&mut url, option);
            assert_eq!(url, expected);
        }
    }

    fn plan(binding: Binding, properties: &[(&str, &str)]) -> Result<Plan, YcsbError> {
        let mut all = Properties::default();
        for (name, value) in properties {
            all.set(*name, *value);
        }
        Plan::read(binding, &all, false)
    }

    fn text(plan: &Plan, name: &str) -> Option<String> {
        plan.settings.0.get(name).map(ToString::to_string)
    }

    #[test]
    fn older_properties_become_options_of_the_address() {
        let plan = plan(
            Binding::MongoDb,
            &[
                ("mongodb.url", "mongodb://me:secret@h/mine"),
                ("mongodb.writeConcern", "MAJORITY"),
                ("mongodb.readPreference", "secondary_preferred"),
                ("mongodb.maxconnections", "7"),
                ("mongodb.upsert", "true"),
                ("batchsize", "50"),
            ],
        )
        .unwrap();
        let expected = "mongodb://me:secret@h/mine?w=majority&readPreference=secondaryPreferred";
        assert_eq!(text(&plan, "uri").unwrap(), expected);
        assert_eq!(text(&plan, "database").unwrap(), "mine");
        assert_eq!(
            (text(&plan, "upsert").unwrap(), text(&plan, "batch").unwrap()),
            ("true".into(), "50".into())
        );
        let greeting = plan.greeting.unwrap();
        assert!(!greeting.contains("secret"), "{greeting}");
    }

    #[test]
    fn what_a_binding_lacks_is_named() {
        let refusal = |binding, properties: &[(&str, &str)]| match plan(binding, properties) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("it is refused"),
        };
        assert!(refusal(Binding::WiredTiger, &[]).starts_with("`wiredtiger.dir`: it is missing"));
        assert!(
            refusal(Binding::WiredTiger, &[("wiredtiger.dir", "x"), ("wiredtiger.colour", "red")])
                .starts_with(
                    "`wiredtiger.colour`: the engine wiredtiger has no setting `colour`; it has "
                )
        );
        assert!(
            refusal(Binding::MongoDb, &[("mongodb.url", "http://x")])
                .starts_with("`mongodb.url`: it must begin")
        );
        assert!(
            refusal(Binding::MongoDb, &[("plimsoll.client", "java")])
                .starts_with("`plimsoll.client`: ")
        );
    }
}
