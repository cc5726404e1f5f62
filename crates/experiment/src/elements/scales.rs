//! `scales`: parts of a file that are laid over it, so that one file holds an experiment for a laptop and for a server.

use crate::Collector;
use crate::document::{DocumentMistake, Entry, Key, Kind, Node, OpenMap, Place};
use crate::elements::file::{FILE, file};
use crate::mistake::Mistake;

/// A scale in the table of the file: any part of the file.
pub(crate) static OPEN_SCALE: OpenMap = OpenMap {
    expected: "a part of an experiment such as {measurement: {blocks: 12}}",
    summary: "a part of a file",
};

/// The file as it is written, as a scale.
pub(crate) const OWN_SCALE: &str = "laptop";

/// Whether a scale may change this key of the file.
pub(crate) fn can_be_scaled(key: &str) -> bool {
    ![file::plimsoll, file::scales]
        .iter()
        .any(|own| own.name == key)
}

/// The file at one of its scales.
pub(crate) struct Scaled {
    /// `None` is the file as written.
    pub name: Option<String>,
    pub root: Node,
}

impl Scaled {
    fn new(name: Option<String>, root: &Node, entries: Vec<Entry>) -> Self {
        // Mistakes of the file as a whole are shown at its beginning.
        let start = root.place.start;
        Self {
            name,
            root: Node {
                place: Place { start, end: start },
                kind: Kind::Map(entries),
            },
        }
    }

    /// The keys of a map that is the value of a key of the file.
    pub(crate) fn keys_of(&self, key: &Key) -> Vec<String> {
        let map = self
            .root
            .entries()
            .iter()
            .find(|entry| entry.key == key.name);
        map.map_or(&[][..], |entry| entry.value.entries())
            .iter()
            .map(|entry| entry.key.clone())
            .collect()
    }
}

/// The file at the scale that was chosen, and after it at all others.
pub(crate) fn scaled(
    root: &Node,
    chosen: Option<&str>,
    problems: &mut Collector<'_>,
) -> (Scaled, Vec<Scaled>) {
    let file = root.entries();
    let key = file.iter().find(|entry| entry.key == file::scales.name);
    let scales = key.map_or(&[][..], |entry| entry.value.entries());
    let chosen = chosen.filter(|name| *name != OWN_SCALE);
    let (mut first, mut others) = (None, Vec::new());
    for scale in scales {
        if scale.key == OWN_SCALE {
            let mistake = Mistake::OwnScale;
            problems.add(file::scales.name, Some(scale.key_place), mistake);
        }
        let entries = over_file(file, scale.value.entries(), problems);
        let scaled = Scaled::new(Some(scale.key.clone()), root, entries);
        if chosen == Some(scale.key.as_str()) {
            first = Some(scaled);
        } else {
            others.push(scaled);
        }
    }
    let as_written = Scaled::new(None, root, file.to_vec());
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
        problems.add(file::scales.name, key.map(|entry| entry.key_place), mistake);
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
            file::scales.name,
            Some(entry.key_place),
            DocumentMistake::UnknownKey { key, valid },
        );
    }
    over(file, &allowed)
}

/// Maps are merged key by key, everything else is replaced, nothing removes.
pub(crate) fn over(below: &[Entry], above: &[Entry]) -> Vec<Entry> {
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
