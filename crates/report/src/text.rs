//! Text from files and engines, made safe to show.
//!
//! Names and messages come from outside. Here they lose what could move a terminal's cursor or turn the reading order of a page around;
//! escaping for HTML is done by the markup library on top of that.

pub use plimsoll_record::redact::line;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// One line of foreign text, cut to `width` columns with an ellipsis in the middle, since names tend to differ at their ends.
pub fn short(text: &str, width: usize) -> String {
    let text = line(text);
    if text.width() <= width {
        return text.into_owned();
    }
    let kept = width.saturating_sub(1);
    let head = taken(text.chars(), kept.div_ceil(2));
    let tail: String = taken(text.chars().rev(), kept / 2).chars().rev().collect();
    format!("{head}…{tail}")
}

/// Whether a word, with the punctuation after it, is the unit of the number at the end of `before`.
pub(crate) fn is_unit_of(before: &str, word: &str) -> bool {
    const UNITS: [&str; 9] = ["%", "ns", "µs", "ms", "s", "op/s", "KiB", "MiB", "GiB"];
    let bare = word.trim_end_matches([',', '.', ';', ':', ')']);
    before.ends_with(|character: char| character.is_ascii_digit()) && UNITS.contains(&bare)
}

/// A sentence in which each of these names that is wider than `width` is cut by [`short`], so that the rest stays in sight.
pub fn naming<'a>(sentence: &str, names: impl Iterator<Item = &'a str>, width: usize) -> String {
    let mut names: Vec<&str> = names.filter(|name| name.width() > width).collect();
    // A name may be the beginning of another.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let mut shortened = sentence.to_owned();
    for name in names {
        shortened = shortened.replace(name, &short(name, width));
    }
    shortened
}

fn taken(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for character in characters {
        used += character.width().unwrap_or(0);
        if used > width {
            break;
        }
        out.push(character);
    }
    out
}

/// Only what every file system and every log format takes: letters, digits, dot, dash and underscore, at most 80 of them.
pub fn file_stem(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        let plain = character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_');
        out.push(if plain { character } else { '-' });
        if out.len() == 80 {
            break;
        }
    }
    let trimmed = out.trim_matches(|character| matches!(character, '.' | '-'));
    if trimmed.is_empty() { "unnamed".into() } else { trimmed.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortening_keeps_both_ends_and_the_width() {
        assert_eq!(short("cache-quarter", 20), "cache-quarter");
        assert_eq!(short("abcdefghij", 5), "ab…ij");
        assert_eq!(short(&"語".repeat(100), 11).width(), 9);
        assert_eq!(short("abc", 0), "…");
    }

    #[test]
    fn only_long_names_are_cut_in_a_sentence() {
        let (long, longer) = ("a".repeat(30), "a".repeat(40));
        let names = ["small", long.as_str(), longer.as_str()];
        let sentence = format!("{longer} is better than {long}, small is not (3 blocks).");
        assert_eq!(
            naming(&sentence, names.into_iter(), 5),
            "aa…aa is better than aa…aa, small is not (3 blocks)."
        );
    }

    #[test]
    fn file_names_hold_nothing_dangerous() {
        assert_eq!(file_stem("../../etc/passwd"), "etc-passwd");
        assert_eq!(file_stem("語"), "unnamed");
        assert_eq!(file_stem(&"x".repeat(1000)).len(), 80);
    }
}
