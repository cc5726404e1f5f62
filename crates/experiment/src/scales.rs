//! Scales: parts of a file that are laid over it, so that one file holds an experiment for a laptop and for a server.

use crate::arms::entries;
use crate::document::{Entry, Kind, Node};
use crate::format::FILE;
use crate::mistake::Mistake;
use crate::problems::Collector;

/// The file as it is written, as a scale.
pub(crate) const OWN_SCALE: &str = "laptop";

/// Whether a scale may say something under this key of the file.
pub(crate) fn can_be_scaled(key: &str) -> bool {
    !matches!(key, "plimsoll" | "scales")
}

/// The file at one of its scales.
pub(crate) struct Scaled {
    /// `None` is the file as written.
    pub name: Option<String>,
    pub entries: Vec<Entry>,
}

/// The file at the scale that was chosen, and after it at all others.
pub(crate) fn scaled(
    file: &[Entry],
    chosen: Option<&str>,
    problems: &mut Collector<'_>,
) -> (Scaled, Vec<Scaled>) {
    let key = file.iter().find(|entry| entry.key == "scales");
    let scales = key.map_or(&[][..], |entry| entries(&entry.value));
    let chosen = chosen.filter(|name| *name != OWN_SCALE);
    let (mut first, mut others) = (None, Vec::new());
    for scale in scales {
        if scale.key == OWN_SCALE {
            let mistake = Mistake::OwnScale;
            problems.add("scales", Some(scale.key_place), mistake);
        }
        let scaled = Scaled {
            name: Some(scale.key.clone()),
            entries: over_file(file, entries(&scale.value), problems),
        };
        if chosen == Some(scale.key.as_str()) {
            first = Some(scaled);
        } else {
            others.push(scaled);
        }
    }
    let as_written = Scaled {
        name: None,
        entries: file.to_vec(),
    };
    if let Some(first) = first {
        others.push(as_written);
        return (first, others);
    }
    if let Some(name) = chosen {
        let mut known = vec![OWN_SCALE.to_owned()];
        known.extend(scales.iter().map(|scale| scale.key.clone()));
        let mistake = Mistake::UnknownScale {
            name: name.to_owned(),
            scales: known,
        };
        problems.add("scales", key.map(|entry| entry.key_place), mistake);
    }
    (as_written, others)
}

fn over_file(file: &[Entry], scale: &[Entry], problems: &mut Collector<'_>) -> Vec<Entry> {
    let mut allowed = Vec::new();
    for entry in scale {
        if can_be_scaled(&entry.key) {
            allowed.push(entry.clone());
            continue;
        }
        let mut valid = FILE.names();
        valid.retain(|key| can_be_scaled(key));
        let key = entry.key.clone();
        problems.add(
            "scales",
            Some(entry.key_place),
            Mistake::UnknownKey { key, valid },
        );
    }
    over(file, &allowed)
}

/// Maps are merged key by key, everything else is replaced, nothing removes.
fn over(below: &[Entry], above: &[Entry]) -> Vec<Entry> {
    let mut merged = Vec::new();
    for entry in below {
        match above.iter().find(|over| over.key == entry.key) {
            None => merged.push(entry.clone()),
            Some(over_it) => match (&entry.value.kind, &over_it.value.kind) {
                (_, Kind::Null) => {}
                (Kind::Map(inner), Kind::Map(inner_above)) => merged.push(Entry {
                    key: entry.key.clone(),
                    key_place: entry.key_place,
                    value: Node {
                        place: entry.value.place,
                        kind: Kind::Map(over(inner, inner_above)),
                    },
                }),
                _ => merged.push(over_it.clone()),
            },
        }
    }
    for entry in above {
        if !below.iter().any(|lower| lower.key == entry.key) {
            merged.push(entry.clone());
        }
    }
    merged
}
