//! Reads single values, each by its shape.

use crate::format::{LINE_SHARES, MOST_RATE, RATE, VERSION};
use crate::mistake::Mistake;
use crate::shape::Shape;
use plimsoll_plan::{Metric, SettingKind, SettingValue};
use plimsoll_quantities::units::{self, shortened};

/// Whether a word can be a file name and the head of a column.
pub(crate) fn is_name(word: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    word.len() <= 40
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(allowed)
}

/// Reads one scalar.
pub(crate) fn scalar(shape: &Shape, text: &str) -> Result<SettingValue, Mistake> {
    match shape {
        Shape::Value(kind) => setting(*kind, text),
        Shape::Version => match units::parse_count(text)? {
            VERSION => Ok(SettingValue::Count(VERSION)),
            found => Err(Mistake::Version {
                found,
                known: VERSION,
            }),
        },
        Shape::Name if is_name(text) => Ok(SettingValue::Text(text.to_owned())),
        Shape::Name => Err(Mistake::BadName {
            name: text.to_owned(),
        }),
        Shape::Text { most } => free_text(text, *most),
        Shape::Rate { least } => {
            let rate = units::parse_rate(text)?;
            let most = MOST_RATE;
            if rate >= *least && rate <= most {
                return Ok(SettingValue::Number(rate));
            }
            Err(out_of_range(text, units::rate(*least), units::rate(most)))
        }
        Shape::RateOrShare if text.trim_end().ends_with('%') => {
            let share = units::parse_share(text)?;
            if LINE_SHARES.contains(&share) {
                return Ok(SettingValue::Text(units::share(share)));
            }
            let (least, most) = (*LINE_SHARES.start(), *LINE_SHARES.end());
            Err(out_of_range(text, units::share(least), units::share(most)))
        }
        Shape::RateOrShare => scalar(&RATE, text),
        Shape::Bandwidth => bandwidth(text),
        Shape::CountOrOff { .. } if text.eq_ignore_ascii_case("off") => Ok(SettingValue::Count(0)),
        Shape::CountOrOff { most } => setting(SettingKind::Count { min: 1, max: *most }, text),
        Shape::Metric if Metric::parse(text).is_some() => Ok(SettingValue::Text(text.to_owned())),
        Shape::Metric => Err(Mistake::UnknownMetric {
            metric: text.to_owned(),
        }),
        Shape::Bound => free_text(text, 100),
        Shape::List { .. }
        | Shape::Keyed { .. }
        | Shape::Object(_)
        | Shape::Any(_)
        | Shape::Arm
        | Shape::Defaults
        | Shape::Scale => Err(Mistake::WrongKind {
            expected: shape.expected(),
            found: "text",
        }),
    }
}

/// Reads one value of an engine's setting.
pub(crate) fn setting(kind: SettingKind, text: &str) -> Result<SettingValue, Mistake> {
    match kind {
        SettingKind::Size { min, max } => {
            let bytes = units::parse_size(text)?;
            if bytes < min || bytes > max {
                return Err(out_of_range(text, units::size(min), units::size(max)));
            }
            Ok(SettingValue::Bytes(bytes))
        }
        SettingKind::Count { min, max } => {
            let count = units::parse_count(text)?;
            if count < min || count > max {
                return Err(out_of_range(text, units::count(min), units::count(max)));
            }
            Ok(SettingValue::Count(count))
        }
        SettingKind::Duration { min_ns, max_ns } => {
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
        SettingKind::Number { min, max } => {
            let number = units::parse_share(text)?;
            if number < min || number > max {
                // What is at most 1 is thought of as a share.
                let write = |bound: f64| {
                    if max <= 1.0 {
                        units::share(bound)
                    } else {
                        bound.to_string()
                    }
                };
                return Err(out_of_range(text, write(min), write(max)));
            }
            Ok(SettingValue::Number(number))
        }
        SettingKind::Flag => match text {
            "true" | "True" | "TRUE" => Ok(SettingValue::Flag(true)),
            "false" | "False" | "FALSE" => Ok(SettingValue::Flag(false)),
            _ => Err(not_one_of(text, &["true", "false"])),
        },
        SettingKind::Choice(words) => {
            let known = words.iter().find(|word| word.eq_ignore_ascii_case(text));
            known
                .map(|word| SettingValue::Text((*word).to_owned()))
                .ok_or_else(|| not_one_of(text, words))
        }
        SettingKind::Text => free_text(text, 10_000),
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

fn free_text(text: &str, most: usize) -> Result<SettingValue, Mistake> {
    // A folded text of YAML ends with a line feed that nobody meant.
    let text = text.trim();
    if text.chars().count() > most || text.chars().any(|c| c.is_control() && c != '\n') {
        return Err(Mistake::BadText { most });
    }
    Ok(SettingValue::Text(text.to_owned()))
}

fn out_of_range(text: &str, least: String, most: String) -> Mistake {
    Mistake::OutOfRange {
        value: shortened(text),
        least,
        most,
    }
}

fn not_one_of(word: &str, valid: &[&str]) -> Mistake {
    Mistake::NotOneOf {
        word: word.to_owned(),
        valid: valid.iter().map(|word| (*word).to_owned()).collect(),
    }
}
