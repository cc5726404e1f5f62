//! What a terminal can show.

use crate::text;
use anstyle::Style;
use plimsoll_record::quantities::numbers::{ASCII, Numbers, TERMINAL};
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr;

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    pub width: usize,
    /// Whether it knows more than ASCII.
    pub unicode: bool,
}

impl Default for Screen {
    fn default() -> Self {
        Self { width: 80, unicode: true }
    }
}

impl Screen {
    pub(crate) fn numbers(&self) -> Numbers {
        if self.unicode { TERMINAL } else { ASCII }
    }

    /// Columns that a text takes.
    pub(crate) fn columns(&self, text: &str) -> usize {
        self.plain(text).width()
    }

    /// One line of foreign text, cut to `width`.
    pub(crate) fn short(&self, text: &str, width: usize) -> String {
        self.plain(&text::short(text, width)).into_owned()
    }

    /// The same text in what this screen knows. Foreign letters stay: only our own signs have a spelling in ASCII.
    pub(crate) fn plain<'a>(&self, text: &'a str) -> Cow<'a, str> {
        const SPELLED: [(char, &str); 9] = [
            ('×', "x"),
            ('…', "~"),
            ('µ', "u"),
            ('–', "-"),
            ('·', ","),
            ('≥', ">="),
            ('→', "->"),
            ('\u{2212}', "-"),
            ('\u{202f}', " "),
        ];
        if self.unicode || text.is_ascii() {
            return Cow::Borrowed(text);
        }
        let mut out = text.to_owned();
        for (sign, ascii) in SPELLED {
            out = out.replace(sign, ascii);
        }
        Cow::Owned(out)
    }
}

pub(crate) fn paint(style: Style, text: &str) -> String {
    if text.is_empty() || style == Style::new() {
        return text.to_owned();
    }
    format!("{style}{text}{style:#}")
}
