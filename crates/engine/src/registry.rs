//! Which engines there are, and how one is opened by name.

use crate::opening::{MetricsSample, Opening, completed};
use crate::{Engine, EngineError, mongodb, noop, simulated, wiredtiger};
use plimsoll_plan::EngineKind;
use std::io;
use std::path::Path;

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
        Self { kind, open, own_metrics: |_| Ok(Vec::new()) }
    }

    const fn with_own_metrics(
        self,
        own_metrics: fn(&Path) -> io::Result<Vec<MetricsSample>>,
    ) -> Self {
        Self { own_metrics, ..self }
    }

    /// Opens it with its settings, completed by the defaults.
    pub fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Engine>, EngineError> {
        let settings = completed(&self.kind, opening.settings)?;
        (self.open)(&Opening { settings: &settings, ..*opening })
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
///     collections: &[],
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
        return Err(EngineError::Unknown { name: name.into(), known: known.join(", ") });
    };
    engine.open(opening)
}

/// What a server of this engine wrote about itself into its data directory, in the order of time. It must have ended. Engines that write
/// nothing have nothing.
pub fn own_metrics(name: &str, data_directory: &Path) -> io::Result<Vec<MetricsSample>> {
    registered(name).map_or_else(|| Ok(Vec::new()), |engine| (engine.own_metrics)(data_directory))
}

fn registered(name: &str) -> Option<&'static Registration> {
    ENGINES.iter().find(|engine| engine.kind.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opening::{default_value, suits};
    use plimsoll_plan::{SettingKind, SettingValue, Settings};
    use plimsoll_workload::DataSpec;

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
                    assert!(suits(&setting.kind, &value), "{}.{}: {text}", kind.name, setting.name);
                }
            }
            if let Some(name) = kind.cache_setting {
                let setting = kind.setting(name).expect("the cache setting is in the list");
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
            message(open_with("simulated", &[("servers", SettingValue::Count(0))])),
            "`servers: 0` does not suit the engine `simulated`: it must be a whole number from 1 to 10000"
        );
        assert_eq!(
            message(open_with("simulated", &[("servers", SettingValue::Flag(true))])),
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
