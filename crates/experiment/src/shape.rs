//! What shapes an experiment file is made of: one description that the reader, the JSON Schema and the reference share.

use plimsoll_plan::SettingKind;

/// What a value looks like.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// The version of the format.
    Version,
    /// A word that can be a file name.
    Name,
    /// A few sentences.
    Text {
        /// Characters.
        most: usize,
    },
    /// A value such as engines take.
    Value(SettingKind),
    /// Operations per second.
    Rate {
        /// At least.
        least: f64,
    },
    /// Operations per second, or a percentage of the plimsoll line, which stays text: `80%`.
    RateOrShare,
    /// Bytes per second.
    Bandwidth,
    /// A count, or `off` for none.
    CountOrOff {
        /// At most.
        most: u64,
    },
    /// The word of a metric.
    Metric,
    /// A metric with a bound: `throughput >= 10k`.
    Bound,
    /// Several of one shape. One alone may be written without brackets.
    List {
        of: &'static Shape,
        least: usize,
        most: usize,
    },
    /// Keys that the author chooses.
    Keyed {
        keys: Keys,
        of: &'static Shape,
        least: usize,
        most: usize,
    },
    /// Keys that the format knows.
    Object(&'static Object),
    /// One of these; a scalar, a list and a map can be told apart.
    Any(&'static [Shape]),
    /// An arm: keys that the format knows, and the settings of its engine.
    Arm,
    /// What arms have in common.
    Defaults,
    /// A part of a file that is laid over it.
    Scale,
}

/// Which keys an author may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Names of this.
    Names(&'static str),
    /// `p50`, `p99.9`.
    Percentiles,
    /// The same, and `p0`.
    TablePercentiles,
    /// Words of metrics.
    Metrics,
}

/// A map with known keys.
#[derive(Debug)]
pub(crate) struct Object {
    /// One sentence.
    pub about: &'static str,
    pub keys: &'static [Key],
    /// Sets of keys that stand for each other, or exclude each other.
    pub choices: &'static [Choice],
}

/// Keys that stand for each other, or exclude each other.
#[derive(Debug)]
pub(crate) struct Choice {
    pub keys: &'static [&'static str],
    /// Whether one of them must be there.
    pub required: bool,
    /// Whether there may not be two of them.
    pub exclusive: bool,
}

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    /// What it is, in a sentence or two.
    pub about: &'static str,
    pub shape: Shape,
    pub need: Need,
    /// As it would be written.
    pub example: &'static str,
}

/// Whether a key must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    /// Absence says something by itself, or another key stands for it.
    Optional,
    /// The value when it is absent.
    Default(&'static str),
}

impl Object {
    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.keys.iter().map(|key| key.name.to_owned()).collect()
    }
}

impl Shape {
    /// What should be there, for a message.
    pub(crate) fn expected(&self) -> String {
        match self {
            Self::Version => "the number 1".into(),
            Self::Name => "a name".into(),
            Self::Text { .. } | Self::Value(SettingKind::Text) => "text".into(),
            Self::Value(SettingKind::Size { .. }) => "a size such as 256MiB".into(),
            Self::Value(SettingKind::Count { .. }) => "a whole number such as 6M".into(),
            Self::Value(SettingKind::Duration { .. }) => "a duration such as 30s".into(),
            Self::Value(SettingKind::Number { .. }) => "a number such as 0.5 or 5%".into(),
            Self::Value(SettingKind::Flag) => "true or false".into(),
            Self::Value(SettingKind::Choice(words)) => format!("one of {}", words.join(", ")),
            Self::Rate { .. } => "a rate such as 20k".into(),
            Self::RateOrShare => "a rate such as 20k or a share of the line such as 80%".into(),
            Self::Bandwidth => "a bandwidth such as 125MiB/s".into(),
            Self::CountOrOff { .. } => "a whole number such as 1M, or off".into(),
            Self::Metric => "a metric such as throughput".into(),
            Self::Bound => "a bound such as throughput >= 10k".into(),
            Self::List { of, least, .. } if *least > 1 => {
                format!("a list of {least}, each {}", of.expected())
            }
            Self::List { of, .. } => format!("{}, or a list of such", of.expected()),
            Self::Keyed {
                keys: Keys::Names(what),
                ..
            } => format!("a map of {what} names"),
            Self::Keyed {
                keys: Keys::Percentiles,
                ..
            } => "a map of percentiles such as {p99: 10ms}".into(),
            Self::Keyed {
                keys: Keys::TablePercentiles,
                ..
            } => "a map of percentiles such as {p0: 1ms, p50: 3ms, p100: 40ms}".into(),
            Self::Keyed {
                keys: Keys::Metrics,
                ..
            } => "a map of metrics such as {throughput: 3%}".into(),
            Self::Object(object) => {
                let names: Vec<_> = object.keys.iter().map(|key| key.name).collect();
                format!("a map with keys such as {}", names.join(", "))
            }
            Self::Arm | Self::Defaults => "a map of settings such as {cache_size: 256MiB}".into(),
            Self::Scale => "a part of an experiment such as {measurement: {blocks: 12}}".into(),
            Self::Any(shapes) => {
                let texts: Vec<_> = shapes.iter().map(Self::expected).collect();
                texts.join(", or ")
            }
        }
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Self::List { .. })
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(
            self,
            Self::Keyed { .. } | Self::Object(_) | Self::Arm | Self::Defaults | Self::Scale
        )
    }
}
