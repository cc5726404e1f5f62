//! `scales`: parts of a file that are laid over it, so that one file holds an experiment for a laptop and for a server.

use crate::Collector;
use crate::document::{Entry, Key, Kind, Node, Span};
use crate::elements::ratio::{RATIO, ratio, shrunk};
use crate::keys::file::{FILE, file};
use crate::mistake::Mistake;

/// The scale that is meant where none is chosen: the file as it is written, unless it has one of this name.
pub(crate) const OWN_SCALE: &str = "laptop";
/// The file as it is written, where it has a scale of that name.
pub(crate) const FULL_SCALE: &str = "full";

/// Whether a scale may change this key of the file.
pub(crate) fn can_be_scaled(key: &str) -> bool {
    ![file::plimsoll, file::scales].iter().any(|own| own.name == key)
}

/// The file at one of its scales.
pub(crate) struct Scaled {
    /// `None` is the file as written.
    pub name: Option<String>,
    pub root: Node,
    /// Where it says so, how much smaller it is in proportion.
    pub ratio: Option<(f64, Span)>,
}

impl Scaled {
    fn new(
        name: Option<String>,
        root: &Node,
        entries: Vec<Entry>,
        ratio: Option<(f64, Span)>,
    ) -> Self {
        // Mistakes of the file as a whole are shown at its beginning.
        let start = root.place.start;
        Self {
            name,
            root: Node {
                place: Span { start, end: start },
                kind: Kind::Map(entries),
                quoted: false,
            },
            ratio,
        }
    }

    /// The keys of a map that is the value of a key of the file.
    pub(crate) fn keys_of(&self, key: &Key) -> Vec<String> {
        let map = self.root.entries().iter().find(|entry| entry.key == key.name);
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
    let has_own = scales.iter().any(|scale| scale.key == OWN_SCALE);
    let as_written = if has_own { FULL_SCALE } else { OWN_SCALE };
    let chosen = Some(chosen.unwrap_or(OWN_SCALE)).filter(|name| *name != as_written);
    let (mut first, mut others) = (None, Vec::new());
    for scale in scales {
        if scale.key == as_written {
            let name = as_written;
            let mistake = Mistake::OwnScale { name };
            problems.add(file::scales.name, Some(scale.key_place), mistake);
        }
        let path = format!("{}.{}.{RATIO}", file::scales.name, scale.key);
        let ratio = ratio(scale.value.entries(), &path, problems);
        let smaller = ratio.map(|(ratio, _)| shrunk(file, ratio));
        let entries =
            over_file(smaller.as_deref().unwrap_or(file), scale.value.entries(), problems);
        let scaled = Scaled::new(Some(scale.key.clone()), root, entries, ratio);
        if chosen == Some(scale.key.as_str()) {
            first = Some(scaled);
        } else {
            others.push(scaled);
        }
    }
    let written = Scaled::new(None, root, file.to_vec(), None);
    if let Some(first) = first {
        others.push(written);
        return (first, others);
    }
    if let Some(name) = chosen {
        let mut known = vec![as_written.to_owned()];
        known.extend(scales.iter().map(|scale| scale.key.clone()));
        let mistake = Mistake::UnknownScale { name: name.to_owned(), scales: known };
        problems.add(file::scales.name, key.map(|entry| entry.key_place), mistake);
    }
    (written, others)
}

fn over_file(file: &[Entry], scale: &[Entry], problems: &mut Collector<'_>) -> Vec<Entry> {
    let mut allowed = Vec::new();
    for entry in scale.iter().filter(|entry| entry.key != RATIO) {
        if can_be_scaled(&entry.key) {
            allowed.push(entry.clone());
            continue;
        }
        let mut valid = FILE.names();
        valid.retain(|key| can_be_scaled(key));
        valid.push(RATIO.into());
        let key = entry.key.clone();
        problems.add(file::scales.name, Some(entry.key_place), Mistake::UnknownKey { key, valid });
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
                        quoted: false,
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
