//! The text of a document, with places in it.

/// A stretch of the text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub start: usize,
    /// The byte behind the last.
    pub end: usize,
}

/// The text with the beginnings of its lines.
#[derive(Clone, Debug)]
pub struct SourceText {
    text: String,
    /// Byte at which each line begins.
    line_starts: Vec<usize>,
}

impl SourceText {
    /// Finds the lines of a text.
    pub fn new(text: &str) -> Self {
        let mut line_starts = vec![0];
        for (at, byte) in text.bytes().enumerate() {
            if byte == b'\n' {
                line_starts.push(at + 1);
            }
        }
        Self { text: text.to_owned(), line_starts }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The line of a byte, counted from 0.
    pub(crate) fn line_index(&self, byte: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= byte) - 1
    }

    /// The line of a byte as editors count, from 1.
    pub fn line(&self, byte: usize) -> u32 {
        u32::try_from(self.line_index(byte) + 1).unwrap_or(u32::MAX)
    }

    /// The column of a byte as editors count: characters, from 1.
    pub(crate) fn column(&self, byte: usize) -> u32 {
        let start = self.line_starts[self.line_index(byte)];
        let before = self.text.get(start..byte).map_or(0, |before| before.chars().count());
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }

    /// First byte of a line, and the byte behind its last character. Lines behind the last are empty.
    pub(crate) fn line_bounds(&self, line_index: usize) -> (usize, usize) {
        let length = self.text.len();
        let start = self.line_starts.get(line_index).copied().unwrap_or(length);
        let end = self.line_starts.get(line_index + 1).map_or(length, |next| next - 1);
        (start, end)
    }

    pub(crate) fn line_count(&self) -> usize {
        self.line_starts.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_those_of_an_editor() {
        let source = SourceText::new("ab\nµc\n\nd");
        let at = |byte| (source.line(byte), source.column(byte));
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(2), (1, 3));
        assert_eq!(at(3), (2, 1));
        assert_eq!(at(5), (2, 2), "µ is one character of two bytes");
        assert_eq!(at(7), (3, 1));
        assert_eq!(at(8), (4, 1));
        assert_eq!(at(9), (4, 2), "the end of the text");
        assert_eq!(source.line_bounds(1), (3, 6));
        assert_eq!(source.line_bounds(3), (8, 9));
        assert_eq!(source.line_bounds(9), (9, 9));
    }
}
