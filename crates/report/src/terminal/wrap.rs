use crate::text::{line, short};
use unicode_width::UnicodeWidthStr;

/// Breaks text at spaces into lines of at most `width` columns. Longer words are cut.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in line(text).split(' ').filter(|word| !word.is_empty()) {
        let word = short(word, width);
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
        assert!(wrapped("", 8).is_empty());
    }
}
