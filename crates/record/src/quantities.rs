//! Numbers with units, in the three ways in which the program spells them:
//!
//! - [`units`]: exactly, as in experiment files. What is written reads back as the same value.
//! - [`words`]: rounded, for sentences in messages and verdicts: `61,200 op/s`, `12.3 µs`.
//! - [`numbers`]: rounded, for tables and charts on a screen or a page, with the spaces and signs of that medium.
//!
//! [`setting`] holds single values of several kinds, with the bounds that a setting or a key of a file sets.
//!
//! ```
//! use plimsoll_record::quantities::{numbers, units, words};
//! assert_eq!(units::duration(90_000_000_000), "1m30s");
//! assert_eq!(words::duration(12_340.0), "12.3 µs");
//! assert_eq!(numbers::ASCII.latency(12_340.0), "12.3 us");
//! ```

pub mod numbers;
pub mod setting;
pub mod units;
pub mod words;
