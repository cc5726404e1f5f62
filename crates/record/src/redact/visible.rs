//! Foreign text on a screen, shown and not obeyed.

use std::borrow::Cow;

/// One line of foreign text: control characters become pictures of themselves, signs that turn the direction of writing are replaced.
pub fn line(text: &str) -> Cow<'_, str> {
    shown(text, &[])
}

/// Foreign text of several lines: as [`line()`], but line feeds and tabs stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        return Cow::Owned(shown(&text.replace("\r\n", "\n"), &['\n', '\t']).into_owned());
    }
    shown(text, &['\n', '\t'])
}

fn shown<'t>(text: &'t str, kept: &[char]) -> Cow<'t, str> {
    let shown = |character| {
        if kept.contains(&character) { character } else { visible(character) }
    };
    if text.chars().all(|character| shown(character) == character) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(shown).collect())
}

/// A character as it may be shown: as itself, unless a terminal or browser would obey it.
pub fn visible(character: char) -> char {
    match character {
        '\0'..='\x1f' => char::from_u32(0x2400 + character as u32).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        '\u{80}'..='\u{9f}' => '\u{fffd}',
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' => '\u{fffd}',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => '\u{fffd}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_not_obeyed() {
        let expected = "a␛[2Jb␊c\u{fffd}d\u{fffd}e";
        assert_eq!(line("a\x1b[2Jb\nc\u{202e}d\u{9b}e"), expected);
        assert_eq!(lines("a: 1\r\n\tb\x07"), "a: 1\n\tb␇");
        assert!(matches!(line("日本語 наука"), Cow::Borrowed(_)));
    }
}
