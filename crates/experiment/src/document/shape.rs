//! Tables of the keys that a document may have: one description that the reader, a JSON Schema and a reference can share.

use crate::document::reader::join;
use crate::mistake::Mistake;
use plimsoll_record::quantities::setting::{SettingKind, SettingValue};

/// What a value looks like.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// The version of the format; this program knows one.
    Version(u64),
    /// A word that can be a file name.
    Name,
    Text {
        most: usize,
    },
    /// A single value in its bounds.
    Value(SettingKind),
    Rate {
        least: f64,
        most: f64,
    },
    Bandwidth,
    /// A count, or `off` for none.
    CountOrOff {
        most: u64,
    },
    /// A word or a number of the format's own.
    Word(&'static Word),
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
    /// One of these; a scalar, a list and a map can be distinguished.
    Any(&'static [Shape]),
    /// A map that is read by itself, because its keys depend on other values.
    Open(&'static OpenMap),
}

/// A scalar of the format's own, with its words for messages and the reference, and its pattern for the schema.
#[derive(Debug)]
pub struct Word {
    /// What should be there, for a message: `a metric such as throughput`.
    pub expected: &'static str,
    /// The same in fewer words: `a metric`.
    pub summary: &'static str,
    pub pattern: &'static str,
    /// Whether it may be written as a number.
    pub is_quantity: bool,
    pub read: fn(&str) -> Result<SettingValue, Mistake>,
}

/// A map that is read by itself.
#[derive(Debug)]
pub struct OpenMap {
    /// What should be there, for a message: `a map of settings such as {cache_size: 256MiB}`.
    pub expected: &'static str,
    /// The same in fewer words: `an arm, see below`.
    pub summary: &'static str,
}

/// Which keys an author may choose.
#[derive(Clone, Copy, Debug)]
pub enum Keys {
    Names(&'static str),
    Words(&'static KeyWords),
}

/// Keys of a form that the format knows.
#[derive(Debug)]
pub struct KeyWords {
    pub plural: &'static str,
    /// A map with such keys.
    pub example: &'static str,
    pub pattern: &'static str,
    pub check: fn(&str) -> Result<(), Mistake>,
}

/// A map with known keys.
#[derive(Debug)]
pub struct Object {
    pub about: &'static str,
    /// In the order of the reference.
    pub keys: &'static [Key],
    /// Sets of keys that stand for each other, or exclude each other.
    pub choices: &'static [Choice],
    /// What other keys hold, where the author may choose some.
    pub others: Option<&'static Shape>,
}

/// Keys that stand for each other, or exclude each other.
#[derive(Debug)]
pub struct Choice {
    pub keys: &'static [&'static str],
    /// Whether one of them must be there.
    pub required: bool,
    /// Whether there may not be two of them.
    pub exclusive: bool,
}

#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    /// What it is, in a sentence or two.
    pub about: &'static str,
    pub shape: Shape,
    /// Whether it must be there.
    pub need: Need,
    /// As it would be written.
    pub example: &'static str,
}

/// Whether a key must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Required,
    /// It may be absent, which has a meaning of its own.
    Optional,
    /// The value when it is absent.
    Default(&'static str),
}

impl Key {
    /// Its path below that of its map.
    pub fn under(&self, path: &str) -> String {
        join(path, self.name)
    }
}

impl Object {
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The names of all keys.
    pub fn names(&self) -> Vec<String> {
        self.keys.iter().map(|key| key.name.to_owned()).collect()
    }
}

impl Shape {
    pub const FLAG: Self = Self::Value(SettingKind::Flag);

    pub const fn count(min: u64, max: u64) -> Self {
        Self::Value(SettingKind::Count { min, max })
    }

    pub const fn size(min: u64, max: u64) -> Self {
        Self::Value(SettingKind::Size { min, max })
    }

    /// A number, or a share.
    pub const fn number(min: f64, max: f64) -> Self {
        Self::Value(SettingKind::Number { min, max })
    }

    pub const fn duration(min_ns: u64, max_ns: u64) -> Self {
        Self::Value(SettingKind::Duration { min_ns, max_ns })
    }

    pub const fn choice(words: &'static [&'static str]) -> Self {
        Self::Value(SettingKind::Choice(words))
    }

    pub const fn list(of: &'static Self, least: usize, most: usize) -> Self {
        Self::List { of, least, most }
    }

    /// Keys that the author chooses.
    pub const fn keyed(keys: Keys, of: &'static Self, least: usize, most: usize) -> Self {
        Self::Keyed { keys, of, least, most }
    }

    /// What should be there, for a message.
    pub fn expected(&self) -> String {
        match self {
            Self::Version(known) => format!("the number {known}"),
            Self::Name => "a name".into(),
            Self::Text { .. } | Self::Value(SettingKind::Text) => "text".into(),
            Self::Value(SettingKind::Size { .. }) => "a size such as 256MiB".into(),
            Self::Value(SettingKind::Count { .. }) => "a whole number such as 6M".into(),
            Self::Value(SettingKind::Duration { .. }) => "a duration such as 30s".into(),
            Self::Value(SettingKind::Number { .. }) => "a number such as 0.5 or 5%".into(),
            Self::Value(SettingKind::Flag) => "true or false".into(),
            Self::Value(SettingKind::Choice(words)) => format!("one of {}", words.join(", ")),
            Self::Rate { .. } => "a rate such as 20k".into(),
            Self::Bandwidth => "a bandwidth such as 125MiB/s".into(),
            Self::CountOrOff { .. } => "a whole number such as 1M, or off".into(),
            Self::Word(word) => word.expected.into(),
            Self::List { of, least, .. } if *least > 1 => {
                format!("a list of {least}, each {}", of.expected())
            }
            Self::List { of, .. } => format!("{}, or a list of such", of.expected()),
            Self::Keyed { keys: Keys::Names(what), .. } => format!("a map of {what} names"),
            Self::Keyed { keys: Keys::Words(words), .. } => {
                format!("a map of {} such as {}", words.plural, words.example)
            }
            Self::Object(object) => {
                let names: Vec<_> = object.keys.iter().map(|key| key.name).collect();
                format!("a map with keys such as {}", names.join(", "))
            }
            Self::Open(map) => map.expected.into(),
            Self::Any(shapes) => {
                let texts: Vec<_> = shapes.iter().map(Self::expected).collect();
                texts.join(", or ")
            }
        }
    }

    pub fn is_list(&self) -> bool {
        matches!(self, Self::List { .. })
    }

    pub fn is_map(&self) -> bool {
        matches!(self, Self::Keyed { .. } | Self::Object(_) | Self::Open(_))
    }
}
