//! Foreign sentences and labels as the page shows them.

use crate::text::{is_unit_of, line, short};

/// One line of foreign prose for the page: numbers are grouped by narrow spaces, and stay with their units.
pub(crate) fn prose(text: &str) -> String {
    let text = line(text);
    let mut out = String::with_capacity(text.len());
    for (number, word) in text.split(' ').enumerate() {
        let bare = word.trim_end_matches([',', '.', ';', ':', ')']);
        if number > 0 {
            out.push(if is_unit_of(&out, word) { '\u{202f}' } else { ' ' });
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
    let first = groups.next().is_some_and(|group| (1..=3).contains(&group.len()) && digits(group));
    first && whole.contains(',') && groups.all(|group| group.len() == 3 && digits(group))
}

/// A label such as that of a load, for the page: [`prose`], cut to `width` columns.
pub(crate) fn label(text: &str, width: usize) -> String {
    short(&prose(text), width)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
