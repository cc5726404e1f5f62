//! Text from files and engines, made safe to show.
//!
//! Names and messages come from outside. Here they lose what could move a terminal's cursor or turn the reading order of a page around;
//! escaping for HTML is done by the markup library on top of that.

pub(crate) use plimsoll_redact::{line, lines};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// One line of foreign text, cut to `width` columns with an ellipsis in the middle, since names tend to differ at their ends.
pub(crate) fn short(text: &str, width: usize) -> String {
    let text = line(text);
    if text.width() <= width {
        return text.into_owned();
    }
    let kept = width.saturating_sub(1);
    let head = taken(text.chars(), kept.div_ceil(2));
    let tail: String = taken(text.chars().rev(), kept / 2).chars().rev().collect();
    format!("{head}…{tail}")
}

/// A sentence in which each of these names that is wider than `width` is cut by [`short`], so that what is said of it stays in sight.
pub(crate) fn naming<'a>(
    sentence: &str,
    names: impl Iterator<Item = &'a str>,
    width: usize,
) -> String {
    let mut names: Vec<&str> = names.filter(|name| name.width() > width).collect();
    // A name may be the beginning of another.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let mut told = sentence.to_owned();
    for name in names {
        told = told.replace(name, &short(name, width));
    }
    told
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

/// Breaks text at spaces into lines of at most `width` columns. Longer words are cut.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in line(text).split(' ').filter(|word| !word.is_empty()) {
        let word = short(word, width);
        let needed = if current.is_empty() {
            word.width()
        } else {
            current.width() + 1 + word.width()
        };
        if needed > width {
            lines.push(std::mem::take(&mut current));
        }
        if !current.is_empty() {
            current.push(' ');
        }
        current.push_str(&word);
    }
    if !current.is_empty() {
        lines.push(current);
    }
    lines
}

/// One line of foreign prose for the page: numbers are grouped by narrow spaces, and stay with their units.
pub(crate) fn prose(text: &str) -> String {
    const UNITS: [&str; 9] = ["%", "ns", "µs", "ms", "s", "op/s", "KiB", "MiB", "GiB"];
    let text = line(text);
    let mut out = String::with_capacity(text.len());
    for (number, word) in text.split(' ').enumerate() {
        let bare = word.trim_end_matches([',', '.', ';', ':', ')']);
        let after_digit = out.ends_with(|character: char| character.is_ascii_digit());
        if number > 0 {
            out.push(if after_digit && UNITS.contains(&bare) {
                '\u{202f}'
            } else {
                ' '
            });
        }
        if is_grouped(bare.trim_start_matches('(')) {
            out.push_str(&bare.replace(',', "\u{202f}"));
            out.push_str(&word[bare.len()..]);
        } else {
            out.push_str(word);
        }
    }
    out
}

/// Whether a word is a number in groups of three digits between commas, such as `1,234,567`.
fn is_grouped(word: &str) -> bool {
    let whole = word.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',');
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups
        .next()
        .is_some_and(|group| (1..=3).contains(&group.len()) && digits(group));
    first && whole.contains(',') && groups.all(|group| group.len() == 3 && digits(group))
}

/// A label such as that of a load, for the page: [`prose`], cut to `width` columns.
pub(crate) fn label(text: &str, width: usize) -> String {
    short(&prose(text), width)
}

/// Only what every file system and every log format takes: letters, digits, dot, dash and underscore, at most 80 of them.
pub(crate) fn file_stem(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        let plain = character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_');
        out.push(if plain { character } else { '-' });
        if out.len() == 80 {
            break;
        }
    }
    let trimmed = out.trim_matches(|character| matches!(character, '.' | '-'));
    if trimmed.is_empty() {
        "unnamed".into()
    } else {
        trimmed.into()
    }
}

/// Pads on the right to `width` columns.
pub(crate) fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(missing))
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
    fn wrapping_never_exceeds_the_width() {
        let text = format!("the answer is {} and more", "x".repeat(100));
        for line in wrapped(&text, 20) {
            assert!(line.width() <= 20, "{line}");
        }
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert!(wrapped("", 8).is_empty());
    }

    #[test]
    fn numbers_keep_their_units() {
        assert_eq!(
            prose("37 % less (36 % to 38 %), 48.1 µs."),
            "37\u{202f}% less (36\u{202f}% to 38\u{202f}%), 48.1\u{202f}µs."
        );
        assert_eq!(prose("a  b"), "a  b");
        assert_eq!(
            prose("at 20,000 op/s, (1,234,567), 1,23 a1,200"),
            "at 20\u{202f}000\u{202f}op/s, (1\u{202f}234\u{202f}567), 1,23 a1,200"
        );
    }

    #[test]
    fn file_names_hold_nothing_dangerous() {
        assert_eq!(file_stem("../../etc/passwd"), "etc-passwd");
        assert_eq!(file_stem("語"), "unnamed");
        assert_eq!(file_stem(&"x".repeat(1000)).len(), 80);
    }
}
