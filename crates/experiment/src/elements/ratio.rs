//! `ratio` of a scale: the file in proportion smaller, so that what fills and what wears off does so at the same moments of a point.

use crate::Collector;
use crate::document::{Entry, Kind, Node, Span};
use crate::keys::file::file;
use crate::mistake::Mistake;
use plimsoll_plan::JUDGED_FROM_NS;
use plimsoll_record::quantities::units;

/// The key, in scales alone.
pub(crate) const RATIO: &str = "ratio";
/// Parts of a file that become smaller.
const PARTS: [&str; 6] = [
    file::workload.name,
    file::defaults.name,
    file::arms.name,
    file::factors.name,
    file::cells.name,
    file::measurement.name,
];
/// Below it sessions have hardly begun.
const SHORTEST_WARM_UP_NS: u64 = 2_000_000_000;
/// Some engines take whole seconds.
const SECOND_NS: u64 = 1_000_000_000;
const MIB: u64 = 1 << 20;
const KIB: u64 = 1 << 10;

/// How a key becomes smaller.
#[derive(Clone, Copy)]
enum Shrinks {
    Count,
    Size,
    /// Not below this, unless it is written shorter.
    Duration {
        least_ns: u64,
    },
    /// To whole seconds, at least one; nothing stays nothing.
    Interval,
}

fn shrinks(key: &str) -> Option<Shrinks> {
    Some(match key {
        "records" | "operations" | "credits" => Shrinks::Count,
        "size" | "cache_size" | "memory" | "page_cache" | "capacity" => Shrinks::Size,
        "duration" => Shrinks::Duration { least_ns: JUDGED_FROM_NS },
        "warm_up" => Shrinks::Duration { least_ns: SHORTEST_WARM_UP_NS },
        "checkpoint_interval" => Shrinks::Interval,
        _ => return None,
    })
}

/// The ratio of a scale, if it has one: `1/20`, `5%` or `0.05`.
pub(crate) fn ratio(
    scale: &[Entry],
    path: &str,
    problems: &mut Collector<'_>,
) -> Option<(f64, Span)> {
    let entry = scale.iter().find(|entry| entry.key == RATIO)?;
    let place = entry.value.place;
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let read = match &entry.value.kind {
        Kind::Scalar(text) => match text.split_once('/') {
            Some((part, whole)) => {
                number(part).zip(number(whole)).map(|(part, whole)| part / whole)
            }
            None => units::parse_share(text).ok(),
        },
        _ => None,
    };
    let fits = read.filter(|ratio| *ratio > 0.0 && *ratio <= 1.0);
    if fits.is_none() {
        problems.add(path, Some(place), Mistake::RatioOutOfRange);
    }
    Some((fits?, place))
}

pub(crate) fn ratio_words(ratio: f64) -> String {
    let whole = (1.0 / ratio).round();
    match (whole * ratio - 1.0).abs() < 1e-9 {
        true => format!("1/{whole}"),
        false => units::share(ratio),
    }
}

/// The file in proportion smaller.
pub(crate) fn shrunk(file: &[Entry], ratio: f64) -> Vec<Entry> {
    let part = |entry: &Entry| match PARTS.contains(&entry.key.as_str()) {
        true => with_value(entry, within(&entry.value, ratio)),
        false => entry.clone(),
    };
    file.iter().map(part).collect()
}

fn with_value(entry: &Entry, value: Node) -> Entry {
    Entry { key: entry.key.clone(), key_place: entry.key_place, value }
}

/// A value with all that becomes smaller in it.
fn within(node: &Node, ratio: f64) -> Node {
    let kind = match &node.kind {
        Kind::Map(entries) => {
            let each = entries.iter().map(|entry| {
                let value = match shrinks(&entry.key) {
                    Some(how) => smaller(&entry.value, how, ratio),
                    None => within(&entry.value, ratio),
                };
                with_value(entry, value)
            });
            Kind::Map(each.collect())
        }
        Kind::List(nodes) => Kind::List(nodes.iter().map(|node| within(node, ratio)).collect()),
        other => other.clone(),
    };
    Node { place: node.place, kind, quoted: node.quoted }
}

/// A scalar, or every value of a list, such as the levels of a factor. A value that cannot be parsed stays as it is; the check of the file reports it.
fn smaller(node: &Node, how: Shrinks, ratio: f64) -> Node {
    let kind = match &node.kind {
        Kind::Scalar(text) => {
            Kind::Scalar(scaled(text, how, ratio).unwrap_or_else(|| text.clone()))
        }
        Kind::List(nodes) => {
            Kind::List(nodes.iter().map(|node| smaller(node, how, ratio)).collect())
        }
        Kind::Map(_) | Kind::Null => return within(node, ratio),
    };
    Node { place: node.place, kind, quoted: node.quoted }
}

fn scaled(text: &str, how: Shrinks, ratio: f64) -> Option<String> {
    let times = |whole: u64| (whole as f64 * ratio).round() as u64;
    Some(match how {
        Shrinks::Count => units::count(times(units::parse_count(text).ok()?).max(1)),
        Shrinks::Size => {
            let bytes = times(units::parse_size(text).ok()?);
            // Rounded to a readable figure: a share of a page does not matter.
            let unit = if bytes >= 8 * MIB { MIB } else { 4 * KIB };
            units::size(((bytes + unit / 2) / unit).max(1) * unit)
        }
        Shrinks::Duration { least_ns } => {
            let whole = units::parse_duration(text).ok()?;
            units::duration(times(whole).max(least_ns).min(whole))
        }
        Shrinks::Interval => match units::parse_duration(text).ok()? {
            0 => return None,
            whole => {
                units::duration(((times(whole) + SECOND_NS / 2) / SECOND_NS).max(1) * SECOND_NS)
            }
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_smaller_each_in_its_way() {
        let of = |text, how| scaled(text, how, 1.0 / 40.0).unwrap();
        assert_eq!(of("6M", Shrinks::Count), units::count(150_000));
        assert_eq!(of("10", Shrinks::Count), "1");
        assert_eq!(of("1408MiB", Shrinks::Size), "35MiB");
        assert_eq!(of("64MiB", Shrinks::Size), "1640KiB", "whole pages");
        let point = Shrinks::Duration { least_ns: JUDGED_FROM_NS };
        assert_eq!(of("20m", point), "30s");
        assert_eq!(of("120s", point), "10s");
        assert_eq!(of("4s", point), "4s", "no longer than it is");
        assert_eq!(of("60s", Shrinks::Interval), "2s");
        assert_eq!(of("10s", Shrinks::Interval), "1s");
        assert_eq!(scaled("0s", Shrinks::Interval, 0.5), None);
        assert_eq!(scaled("soon", Shrinks::Interval, 0.5), None);
    }
}
