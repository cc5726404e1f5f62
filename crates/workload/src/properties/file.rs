//! Names with values, in the syntax of Java's property files.

use crate::properties::fault::{Fault, PropertyError};
use std::collections::BTreeMap;

/// Names with values. A name that comes again replaces its earlier value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties(BTreeMap<String, String>);

impl Properties {
    /// Reads the text of a property file as Java does. Bytes are ISO-8859-1. Empty lines and those that begin with `#` or `!` say nothing.
    /// A name ends at the first `=`, `:` or white space that has no backslash before it; white space in front of name and value is dropped, behind
    /// the value it is kept. A backslash at the end of a line joins it with the next; `\t`, `\n`, `\r`, `\f` and `\uXXXX` stand for characters, and
    /// before any other character a backslash is dropped.
    ///
    /// # Errors
    /// When four hexadecimal digits do not follow `\u`: nothing else is wrong in such a file.
    pub fn parse(text: &[u8]) -> Result<Self, PropertyError> {
        let mut properties = Self::default();
        for (number, line) in LogicalLines::new(text) {
            let (name, value) = split(&line);
            let malformed = || PropertyError {
                name: String::from_utf8_lossy(name).into_owned(),
                fault: Fault::Escape { line: number },
            };
            let name = unescape(name).ok_or_else(malformed)?;
            let value = unescape(value).ok_or_else(malformed)?;
            properties.0.insert(name, value);
        }
        Ok(properties)
    }

    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Sets a value, in place of an earlier one.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    /// Takes everything from `later`, in place of earlier values.
    pub fn merge(&mut self, later: Self) {
        self.0.extend(later.0);
    }

    /// All names with their values, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Lines after comments are dropped and continued lines are joined, each with the number of its first line, from 1. Escapes are still in them.
struct LogicalLines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> LogicalLines<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self { rest: text, number: 0 }
    }

    /// The next line as it stands in the file, without its end and the white space in front.
    fn natural(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let end = self.rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let (line, rest) = match end {
            None => (self.rest, &[][..]),
            Some(end) => {
                let (line, rest) = self.rest.split_at(end);
                let both = rest.starts_with(b"\r\n");
                (line, &rest[1 + usize::from(both)..])
            }
        };
        self.rest = rest;
        let front = line.iter().position(|byte| !is_space(*byte));
        Some(&line[front.unwrap_or(line.len())..])
    }
}

impl Iterator for LogicalLines<'_> {
    type Item = (usize, Vec<u8>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let first = self.natural()?;
            let number = self.number;
            if matches!(first.first(), None | Some(b'#' | b'!')) {
                continue;
            }
            let mut line = first.to_vec();
            while ends_open(&line) {
                line.pop();
                match self.natural() {
                    Some(next) => line.extend_from_slice(next),
                    None => break,
                }
            }
            if !line.is_empty() {
                return Some((number, line));
            }
        }
    }
}

/// Whether a line goes on in the next: it ends in an odd number of backslashes.
fn ends_open(line: &[u8]) -> bool {
    let slashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
    slashes % 2 == 1
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\x0c')
}

/// Name and value, escapes still in them.
fn split(line: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    while at < line.len() && !is_space(line[at]) && !matches!(line[at], b'=' | b':') {
        at += if line[at] == b'\\' { 2 } else { 1 };
    }
    let at = at.min(line.len());
    let (name, rest) = line.split_at(at);
    let rest = trim_front(rest);
    let rest = match rest.first() {
        Some(b'=' | b':') => trim_front(&rest[1..]),
        _ => rest,
    };
    (name, rest)
}

fn trim_front(text: &[u8]) -> &[u8] {
    let front = text.iter().position(|byte| !is_space(*byte));
    &text[front.unwrap_or(text.len())..]
}

/// `None` when `\u` is not followed by four hexadecimal digits. Halves of surrogate pairs are joined; a half that is alone becomes a
/// replacement character, since text here is Unicode.
fn unescape(text: &[u8]) -> Option<String> {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            units.push(byte.into());
            continue;
        }
        let Some(escaped) = bytes.next() else { break };
        units.push(match escaped {
            b't' => 9,
            b'n' => 10,
            b'r' => 13,
            b'f' => 12,
            b'u' => {
                let mut unit = 0;
                for _ in 0..4 {
                    let digit = char::from(bytes.next()?).to_digit(16)?;
                    unit = unit * 16 + digit;
                }
                unit as u16
            }
            other => other.into(),
        });
    }
    Some(String::from_utf16_lossy(&units))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Vec<(String, String)> {
        let properties = Properties::parse(text.as_bytes()).unwrap();
        properties.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn one(text: &str) -> (String, String) {
        let all = parsed(text);
        assert_eq!(all.len(), 1, "{text:?}");
        all[0].clone()
    }

    fn is(text: &str, name: &str, value: &str) {
        assert_eq!(one(text), (name.to_owned(), value.to_owned()), "{text:?}");
    }

    #[test]
    fn names_end_at_the_first_separator() {
        is("a=b", "a", "b");
        is("a:b", "a", "b");
        is("a b", "a", "b");
        is("a\tb", "a", "b");
        is("a = b", "a", "b");
        is("  a  :  b", "a", "b");
        is("a==b", "a", "=b");
        is("a=b=c", "a", "b=c");
        is("a : = b", "a", "= b");
        is("a", "a", "");
        is("a=", "a", "");
        is("=b", "", "b");
        is(r"a\ b=c", "a b", "c");
        is(r"a\=b=c", "a=b", "c");
        is(r"a\:b:c", "a:b", "c");
    }

    #[test]
    fn white_space_behind_a_value_is_kept() {
        is("a=b  ", "a", "b  ");
        is("a=\t b \t\n", "a", "b \t");
    }

    #[test]
    fn comments_and_empty_lines_say_nothing() {
        assert!(parsed("").is_empty());
        assert!(parsed("\n \t\x0c\n\r\n# a=b\n ! c=d\n#e\\\n").is_empty());
        // A comment does not go on, whatever it ends with.
        is("# comment \\\na=b", "a", "b");
        is("a=b # no comment", "a", "b # no comment");
    }

    #[test]
    fn lines_end_in_three_ways() {
        for end in ["\n", "\r", "\r\n"] {
            assert_eq!(parsed(&format!("a=1{end}b=2{end}{end}c=3")).len(), 3);
        }
    }

    #[test]
    fn a_backslash_joins_lines() {
        is("a=b\\\n   c", "a", "bc");
        is("a=b\\\r\nc", "a", "bc");
        is("a\\\n=b", "a", "b");
        is("a=b\\\\\n", "a", "b\\");
        is("a=b\\\n# no comment", "a", "b# no comment");
        is("a=b\\", "a", "b");
        is("a=b\\\n\nc".trim_end_matches("\nc"), "a", "b");
        assert!(parsed("\\\n").is_empty());
    }

    #[test]
    fn backslashes_stand_for_characters() {
        is(r"a=\t\n\r\f\\\x\'", "a", "\t\n\r\x0c\\x'");
        is(r"a=\u00e9\u4E2d", "a", "é中");
        is(r"a=\ud83d\ude00", "a", "😀");
        is(r"\u0061=b", "a", "b");
        let error = Properties::parse(b"x=1\n\nbad=\\u12g4\n").unwrap_err();
        let expected = r"`bad`, line 3: `\u` needs four hexadecimal digits";
        assert_eq!(error.to_string(), expected);
        assert!(Properties::parse(b"a=\\u12").is_err());
    }

    #[test]
    fn bytes_are_latin_1() {
        let properties = Properties::parse(b"a=\xe9").unwrap();
        assert_eq!(properties.get("a"), Some("é"));
    }

    #[test]
    fn the_last_one_wins() {
        is("a=1\na=2", "a", "2");
        let mut first = Properties::parse(b"a=1\nb=1").unwrap();
        first.merge(Properties::parse(b"b=2\nc=2").unwrap());
        first.set("c", "3");
        let all: Vec<_> = first.iter().collect();
        assert_eq!(all, [("a", "1"), ("b", "2"), ("c", "3")]);
    }

    /// A file that says these things, with everything escaped that could mean something.
    fn written(properties: &Properties) -> Vec<u8> {
        let mut text = String::new();
        for (name, value) in properties.iter() {
            for (part, end) in [(name, '='), (value, '\n')] {
                for unit in part.encode_utf16() {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
                text.push(end);
            }
        }
        text.into_bytes()
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Properties::parse(&text);
        }

        #[test]
        fn what_is_escaped_comes_back(all in prop::collection::btree_map(".{1,8}", ".{0,8}", 0..6)) {
            let properties = Properties(all);
            prop_assert_eq!(Properties::parse(&written(&properties)).unwrap(), properties);
        }
    }
}
