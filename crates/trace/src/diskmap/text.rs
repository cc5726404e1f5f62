//! The labels of a picture, in pixels.

use crate::diskmap::canvas::Canvas;
use font8x8::UnicodeFonts;

/// Height of a line, pixels.
pub(crate) const LINE: usize = 16;
const GLYPH: usize = 8;

/// Writes a line. What does not fit is cut; characters that the font has not are shown as a question mark.
pub(crate) fn write(canvas: &mut Canvas, x: usize, y: usize, words: &str, colour: u8) {
    let fonts = |character: char| {
        font8x8::BASIC_FONTS
            .get(character)
            .or_else(|| font8x8::LATIN_FONTS.get(character))
            .or_else(|| font8x8::BASIC_FONTS.get('?'))
    };
    for (place, character) in words.chars().enumerate() {
        let left = x + place * GLYPH;
        if left + GLYPH > canvas.width {
            return;
        }
        let rows = fonts(character).unwrap_or_default();
        for (down, row) in rows.into_iter().enumerate() {
            for across in 0..GLYPH {
                if row >> across & 1 == 1 {
                    canvas.fill(left + across, y + 4 + down, 1, 1, colour);
                }
            }
        }
    }
}

/// Pixels that a text takes.
pub(crate) fn width(words: &str) -> usize {
    words.chars().count() * GLYPH
}

pub(crate) fn size(bytes: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    for (unit, name) in units {
        if bytes >= unit {
            let value = bytes as f64 / unit as f64;
            return if value < 10.0 {
                format!("{value:.2} {name}")
            } else {
                format!("{value:.0} {name}")
            };
        }
    }
    format!("{bytes} B")
}

/// A number in groups of three digits, as on a picture.
pub(crate) fn count(number: u64) -> String {
    grouped(number, ' ')
}

/// `1 read`, `1 592 reads`.
pub(crate) fn several(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A number in groups of three digits, as in a sentence.
pub(crate) fn commas(number: u64) -> String {
    grouped(number, ',')
}

fn grouped(number: u64, separator: char) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(separator);
        }
        grouped.push(digit);
    }
    grouped
}
