//! Which engines there are, and how one is opened by name.

use crate::{Engine, EngineError, mongodb, noop, simulated, wiredtiger};
use plimsoll_plan::{EngineKind, Setting, SettingKind, SettingValue, Settings};
use plimsoll_record::quantities::units;
use plimsoll_workload::DataSpec;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Metrics at a time: milliseconds since 1970, and values by the names in `plimsoll_record::figures`, counters as they stood, as
/// [`Engine::statistics`] reports them.
pub type MetricsSample = (i64, Vec<(Cow<'static, str>, f64)>);

/// An engine that an arm can name.
#[derive(Clone, Copy)]
pub struct Registration {
    pub kind: EngineKind,
    open: fn(&Opening<'_>) -> Result<Box<dyn Engine>, EngineError>,
    own_metrics: fn(&Path) -> io::Result<Vec<MetricsSample>>,
}

impl Registration {
    /// An engine whose server, if it has one, writes no metrics of its own.
    pub const fn new(
        kind: EngineKind,
        open: fn(&Opening<'_>) -> Result<Box<dyn Engine>, EngineError>,
    ) -> Self {
        Self {
            kind,
            open,
            own_metrics: |_| Ok(Vec::new()),
        }
    }

    const fn with_own_metrics(
        self,
        own_metrics: fn(&Path) -> io::Result<Vec<MetricsSample>>,
    ) -> Self {
        Self {
            own_metrics,
            ..self
        }
    }

    /// Opens it with its settings, completed by the defaults.
    pub fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Engine>, EngineError> {
        let settings = completed(&self.kind, opening.settings)?;
        (self.open)(&Opening {
            settings: &settings,
            ..*opening
        })
    }
}

/// Every engine. Adding one takes its folder, its line here, its feature in Cargo.toml if it needs one, and its documentation.
const ENGINES: [Registration; 4] = [
    Registration::new(noop::KIND, noop::open),
    Registration::new(simulated::KIND, simulated::open),
    Registration::new(wiredtiger::KIND, wiredtiger::open),
    Registration::new(mongodb::KIND, mongodb::open).with_own_metrics(mongodb::own_metrics),
];

static KINDS: [EngineKind; ENGINES.len()] = {
    let mut kinds = [ENGINES[0].kind; ENGINES.len()];
    let mut index = 0;
    while index < kinds.len() {
        kinds[index] = ENGINES[index].kind;
        index += 1;
    }
    kinds
};

/// Every engine that an arm can name, also those that were left out of this build.
pub fn kinds() -> &'static [EngineKind] {
    &KINDS
}

pub fn kind(name: &str) -> Option<&'static EngineKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// What an engine needs to be opened.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// From the plan. A setting that is absent takes the default of its [`EngineKind`].
    pub settings: &'a Settings,
    /// For an engine that keeps data: an existing directory, either empty or with the data of an earlier opening.
    pub directory: Option<&'a Path>,
    /// Address of the server that was started for it, as its `ServerSpec` gives it; `None` for embedded engines and for servers that the settings name.
    pub server: Option<&'a str>,
    /// Of everything that the engine draws at random.
    pub seed: u64,
    /// The records that will be stored in it.
    pub data: &'a DataSpec,
    /// Name of the memory allocator of this process, for the description: it bears on the speed of embedded engines.
    pub allocator: &'a str,
    /// Whether another client has prepared the data, or nobody is to: what is there stays as it is, whatever the settings say.
    pub joins: bool,
}

impl<'a> Opening<'a> {
    /// Of an engine without directory and server, with the system's allocator and the seed 1.
    pub fn new(settings: &'a Settings, data: &'a DataSpec) -> Self {
        Self {
            settings,
            directory: None,
            server: None,
            seed: 1,
            data,
            allocator: "system",
            joins: false,
        }
    }
}

/// Opens the engine of this name.
///
/// ```
/// use plimsoll_engine::{Opening, Outcome, open};
/// use plimsoll_plan::Settings;
/// use plimsoll_workload::{DataSpec, FieldChoice};
///
/// let opening = Opening {
///     settings: &Settings::default(),
///     directory: None,
///     server: None,
///     seed: 42,
///     data: &DataSpec::with_records(1_000),
///     allocator: "system",
///     joins: false,
/// };
/// let engine = open("noop", &opening)?;
/// let mut session = engine.session()?;
/// assert!(matches!(session.read(b"user1", FieldChoice::All, None), Outcome::Ok));
/// drop(session);
/// engine.close()?;
/// # Ok::<(), plimsoll_engine::EngineError>(())
/// ```
pub fn open(name: &str, opening: &Opening<'_>) -> Result<Box<dyn Engine>, EngineError> {
    let Some(engine) = registered(name) else {
        let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        return Err(EngineError::Unknown {
            name: name.into(),
            known: known.join(", "),
        });
    };
    engine.open(opening)
}

/// What a server of this engine wrote about itself into its data directory, in the order of time. It must have ended. Engines that write
/// nothing have nothing.
pub fn own_metrics(name: &str, data_directory: &Path) -> io::Result<Vec<MetricsSample>> {
    registered(name).map_or_else(
        || Ok(Vec::new()),
        |engine| (engine.own_metrics)(data_directory),
    )
}

fn registered(name: &str) -> Option<&'static Registration> {
    ENGINES.iter().find(|engine| engine.kind.name == name)
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
            settings
                .0
                .entry(setting.name.into())
                .or_insert_with(|| default_value(setting, text));
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

fn default_value(setting: &Setting, text: &str) -> SettingValue {
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

fn suits(kind: &SettingKind, value: &SettingValue) -> bool {
    match (kind, value) {
        (SettingKind::Size { min, max }, SettingValue::Bytes(value))
        | (SettingKind::Count { min, max }, SettingValue::Count(value))
        | (
            SettingKind::Duration {
                min_ns: min,
                max_ns: max,
            },
            SettingValue::Nanos(value),
        ) => (min..=max).contains(&value),
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
            format!(
                "a size from {} to {}",
                SettingValue::Bytes(*min),
                SettingValue::Bytes(*max)
            )
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

#[cfg(test)]
mod tests {
    use super::*;

    fn open_with(
        name: &str,
        settings: &[(&str, SettingValue)],
    ) -> Result<Box<dyn Engine>, EngineError> {
        let mut given = Settings::default();
        for (name, value) in settings {
            given.0.insert((*name).into(), value.clone());
        }
        let data = DataSpec::with_records(1);
        let opening = Opening::new(&given, &data);
        open(name, &opening)
    }

    fn message(result: Result<Box<dyn Engine>, EngineError>) -> String {
        result.err().expect("refused").to_string()
    }

    #[test]
    fn every_default_suits_its_own_setting() {
        for kind in kinds() {
            for setting in kind.settings {
                if let Some(text) = setting.default {
                    let value = default_value(setting, text);
                    assert!(
                        suits(&setting.kind, &value),
                        "{}.{}: {text}",
                        kind.name,
                        setting.name
                    );
                }
            }
            if let Some(name) = kind.cache_setting {
                let setting = kind
                    .setting(name)
                    .expect("the cache setting is in the list");
                assert!(matches!(setting.kind, SettingKind::Size { .. }));
            }
        }
    }

    /// Nothing but its own code is reached by a name: the engine says so, or what it lacks.
    #[test]
    fn each_name_opens_the_engine_of_that_name() {
        for kind in kinds() {
            match open_with(kind.name, &[]) {
                Ok(engine) => assert_eq!(engine.description().name, kind.name),
                Err(
                    EngineError::NotBuilt { name }
                    | EngineError::NoDirectory { name }
                    | EngineError::NoServer { name },
                ) => assert_eq!(name, kind.name),
                Err(error) => panic!("{}: {error}", kind.name),
            }
        }
    }

    #[test]
    fn names_are_unique() {
        for kind in kinds() {
            let mut names: Vec<&str> = kind.settings.iter().map(|setting| setting.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), kind.settings.len(), "{}", kind.name);
        }
    }

    #[test]
    fn what_cannot_be_opened_says_why() {
        let expected =
            "there is no engine `mysql`: this program has noop, simulated, wiredtiger, mongodb";
        assert_eq!(message(open_with("mysql", &[])), expected);
        assert_eq!(
            message(open_with("noop", &[("speed", SettingValue::Count(1))])),
            "`speed: 1` does not suit the engine `noop`: there is no such setting"
        );
        assert_eq!(
            message(open_with(
                "simulated",
                &[("servers", SettingValue::Count(0))]
            )),
            "`servers: 0` does not suit the engine `simulated`: it must be a whole number from 1 to 10000"
        );
        assert_eq!(
            message(open_with(
                "simulated",
                &[("servers", SettingValue::Flag(true))]
            )),
            "`servers: true` does not suit the engine `simulated`: it must be a whole number from 1 to 10000"
        );
    }

    #[cfg(not(feature = "mongodb"))]
    #[test]
    fn mongodb_that_was_left_out_says_so() {
        let expected = "this program was built without the engine `mongodb`: build it with `./x build`, or with `--features mongodb`";
        assert_eq!(message(open_with("mongodb", &[])), expected);
    }

    #[cfg(not(feature = "wiredtiger"))]
    #[test]
    fn an_engine_that_was_left_out_says_so() {
        assert!(kind("wiredtiger").is_some());
        plimsoll_testing::assert_err!(open_with("wiredtiger", &[]), EngineError::NotBuilt { .. });
    }
}
