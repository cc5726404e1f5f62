//! Reads single values, each by its shape.

use crate::document::shape::Shape;
use crate::mistake::Mistake;
use plimsoll_record::quantities::setting::{SettingKind, SettingValue};
use plimsoll_record::quantities::units::{self, shortened};

/// Whether a word can be a file name and the head of a column.
pub fn is_name(word: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    word.len() <= 40
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(allowed)
}

impl Shape {
    pub fn scalar(&self, text: &str) -> Result<SettingValue, Mistake> {
        match *self {
            Self::Value(SettingKind::Size { min, max }) => {
                let bytes = units::parse_size(text)?;
                if bytes < min || bytes > max {
                    return Err(out_of_range(text, units::size(min), units::size(max)));
                }
                Ok(SettingValue::Bytes(bytes))
            }
            Self::Value(SettingKind::Count { min, max }) => {
                let count = units::parse_count(text)?;
                if count < min || count > max {
                    return Err(out_of_range(text, units::count(min), units::count(max)));
                }
                Ok(SettingValue::Count(count))
            }
            Self::Value(SettingKind::Duration { min_ns, max_ns }) => {
                let nanos = units::parse_duration(text)?;
                if nanos < min_ns || nanos > max_ns {
                    return Err(out_of_range(
                        text,
                        units::duration(min_ns),
                        units::duration(max_ns),
                    ));
                }
                Ok(SettingValue::Nanos(nanos))
            }
            Self::Value(SettingKind::Number { min, max }) => {
                let number = units::parse_share(text)?;
                if number < min || number > max {
                    // Numbers up to 1 are shares.
                    let write = |bound: f64| {
                        if max <= 1.0 { units::share(bound) } else { bound.to_string() }
                    };
                    return Err(out_of_range(text, write(min), write(max)));
                }
                Ok(SettingValue::Number(number))
            }
            Self::Value(SettingKind::Flag) => match text {
                "true" | "True" | "TRUE" => Ok(SettingValue::Flag(true)),
                "false" | "False" | "FALSE" => Ok(SettingValue::Flag(false)),
                _ => Err(not_one_of(text, &["true", "false"])),
            },
            Self::Value(SettingKind::Choice(words)) => {
                let known = words.iter().find(|word| word.eq_ignore_ascii_case(text));
                known
                    .map(|word| SettingValue::Text((*word).to_owned()))
                    .ok_or_else(|| not_one_of(text, words))
            }
            Self::Value(SettingKind::Text) => free_text(text, 10_000),
            Self::Version(known) => match units::parse_count(text)? {
                found if found == known => Ok(SettingValue::Count(found)),
                found => Err(Mistake::Version { found, known }),
            },
            Self::Name if is_name(text) => Ok(SettingValue::Text(text.to_owned())),
            Self::Name => Err(Mistake::BadName { name: text.to_owned() }),
            Self::Text { most } => free_text(text, most),
            Self::Rate { least, most } => {
                let rate = units::parse_rate(text)?;
                if rate >= least && rate <= most {
                    return Ok(SettingValue::Number(rate));
                }
                Err(out_of_range(text, units::rate(least), units::rate(most)))
            }
            Self::Bandwidth => bandwidth(text),
            Self::CountOrOff { .. } if text.eq_ignore_ascii_case("off") => {
                Ok(SettingValue::Count(0))
            }
            Self::CountOrOff { most } => {
                Self::Value(SettingKind::Count { min: 1, max: most }).scalar(text)
            }
            Self::Word(word) => (word.read)(text),
            Self::List { .. }
            | Self::Keyed { .. }
            | Self::Object(_)
            | Self::Any(_)
            | Self::Open(_) => Err(Mistake::WrongKind { expected: self.expected(), found: "text" }),
        }
    }
}

/// Bytes per second, with or without `/s`.
fn bandwidth(text: &str) -> Result<SettingValue, Mistake> {
    let without = text.trim();
    let without = without.strip_suffix("/s").unwrap_or(without);
    match units::parse_size(without)? {
        0 => Err(out_of_range(text, "1B/s".into(), "16EiB/s".into())),
        bytes => Ok(SettingValue::Bytes(bytes)),
    }
}

/// A text of at most this many characters, without any that a terminal obeys.
fn free_text(text: &str, most: usize) -> Result<SettingValue, Mistake> {
    // A folded text of YAML ends with a line feed.
    let text = text.trim();
    if text.chars().count() > most || text.chars().any(|c| c.is_control() && c != '\n') {
        return Err(Mistake::BadText { most });
    }
    Ok(SettingValue::Text(text.to_owned()))
}

/// A value outside of its bounds.
pub fn out_of_range(text: &str, least: String, most: String) -> Mistake {
    Mistake::OutOfRange { value: shortened(text), least, most }
}

fn not_one_of(word: &str, valid: &[&str]) -> Mistake {
    Mistake::NotOneOf {
        word: word.to_owned(),
        valid: valid.iter().map(|word| (*word).to_owned()).collect(),
    }
}
