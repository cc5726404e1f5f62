//! Single values with their kinds and bounds, as an engine's settings and the keys of a file take them.

use crate::quantities::units;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingKind {
    /// A size in bytes such as `256MiB`, in these bounds.
    Size {
        /// At least, bytes.
        min: u64,
        /// At most, bytes.
        max: u64,
    },
    /// A whole number such as `6M`, in these bounds.
    Count {
        /// At least.
        min: u64,
        /// At most.
        max: u64,
    },
    /// A span of time such as `60s`, in these bounds.
    Duration {
        /// At least, nanoseconds.
        min_ns: u64,
        /// At most, nanoseconds.
        max_ns: u64,
    },
    /// A number, or a share such as `5%`, in these bounds.
    Number {
        /// At least.
        min: f64,
        /// At most.
        max: f64,
    },
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
}

/// A checked value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingValue {
    /// Bytes.
    Bytes(u64),
    /// A whole number.
    Count(u64),
    /// Nanoseconds.
    Nanos(u64),
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// A word or text.
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
