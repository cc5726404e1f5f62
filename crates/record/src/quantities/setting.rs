//! Single values with their kinds and bounds, as an engine's settings and the keys of a file take them.

use crate::quantities::units;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingKind {
    /// A size in bytes such as `256MiB`, in these bounds.
    Size {
        /// Smallest size that is valid, in bytes.
        min: u64,
        /// Largest size that is valid, in bytes.
        max: u64,
    },
    /// A whole number such as `6M`, in these bounds.
    Count {
        /// Smallest number that is valid.
        min: u64,
        /// Largest number that is valid.
        max: u64,
    },
    /// A span of time such as `60s`, in these bounds.
    Duration {
        /// Shortest span that is valid, in nanoseconds.
        min_ns: u64,
        /// Longest span that is valid, in nanoseconds.
        max_ns: u64,
    },
    /// A number, or a share such as `5%`, in these bounds.
    Number {
        /// Smallest number that is valid.
        min: f64,
        /// Largest number that is valid.
        max: f64,
    },
    /// Either `true` or `false`, as in YAML.
    Flag,
    /// One of these words, as they are.
    Choice(&'static [&'static str]),
    /// Any text on one line.
    Text,
}

/// A value that has been checked against its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingValue {
    /// A size, as a number of bytes.
    Bytes(u64),
    /// A whole number without unit.
    Count(u64),
    /// A span of time, in nanoseconds.
    Nanos(u64),
    /// A number that need not be whole.
    Number(f64),
    /// A switch, either true or false.
    Flag(bool),
    /// A word of a choice, or a text.
    Text(String),
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => units::write_size(f, *bytes),
            Self::Count(count) => write!(f, "{count}"),
            Self::Nanos(nanos) => units::write_duration(f, *nanos),
            Self::Number(number) => write!(f, "{number}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl SettingValue {
    /// The whole number in it: things, bytes or nanoseconds.
    pub fn whole(&self) -> Option<u64> {
        match self {
            Self::Count(whole) | Self::Bytes(whole) | Self::Nanos(whole) => Some(*whole),
            _ => None,
        }
    }
}
