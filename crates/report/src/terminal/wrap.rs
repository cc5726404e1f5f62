use crate::text::{is_unit_of, line, short};
use unicode_width::UnicodeWidthStr;

/// Breaks text at spaces into lines of at most `width` columns; numbers stay with their units. Longer words are cut.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    let mut current = String::new();
    let mut words: Vec<String> = Vec::new();
    for word in line(text).split(' ').filter(|word| !word.is_empty()) {
        match words.last_mut() {
            Some(number) if is_unit_of(number, word) => number.push_str(&format!(" {word}")),
            _ => words.push(word.to_owned()),
        }
    }
    for word in words {
        let word = short(&word, width);
        let needed =
            if current.is_empty() { word.width() } else { current.width() + 1 + word.width() };
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

/// Pads on the right to `width` columns.
pub(crate) fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_never_exceeds_the_width() {
        let text = format!("the answer is {} and more", "x".repeat(100));
        for line in wrapped(&text, 20) {
            assert!(line.width() <= 20, "{line}");
        }
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("from 7 to 34 %), 5 ms", 12), ["from 7 to", "34 %), 5 ms"]);
        assert!(wrapped("", 8).is_empty());
    }
}
