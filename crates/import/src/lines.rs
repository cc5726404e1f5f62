//! A file read line by line in bounded memory, with its size and its fingerprint.
//!
//! Prefixes that other programs add to every line are removed: names of pods and containers, timestamps of container logs, quotation marks of mails.

use crate::Format;
use crate::error::{ImportError, Problem};
use plimsoll_record::ImportedFile;
use sha2::{Digest, Sha256};
use std::io::{BufRead, Read};

/// The longest line, bytes. A line of an HdrHistogram log holds one histogram and has some kilobytes.
pub(crate) const LONGEST_LINE: usize = 4 << 20;
/// The largest document that is read as a whole, bytes.
pub(crate) const LARGEST_DOCUMENT: u64 = 64 << 20;
/// As much of a file is looked at to find its format, bytes.
const HEAD: u64 = 1 << 20;

pub(crate) struct Lines<R> {
    name: String,
    input: R,
    /// What was looked at beforehand and is not read yet.
    head: Vec<u8>,
    taken: usize,
    line: Vec<u8>,
    text: String,
    number: u64,
    before: Before,
    hash: Sha256,
    bytes: u64,
    /// Whether the whole file was already hashed when it was opened.
    counted: bool,
    /// Whether the last line read ended with a line break.
    whole: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(name: &str, mut input: R) -> Result<Self, ImportError> {
        let mut head = Vec::new();
        let read = input.by_ref().take(HEAD).read_to_end(&mut head);
        read.map_err(|error| Problem::Read(error).of(name))?;
        let mut lines = Self {
            name: name.to_owned(),
            input,
            head,
            taken: 0,
            line: Vec::new(),
            text: String::new(),
            number: 0,
            before: Before::default(),
            hash: Sha256::new(),
            bytes: 0,
            counted: false,
            whole: true,
        };
        if lines.head.starts_with(b"\xff\xfe") || lines.head.starts_with(b"\xfe\xff") {
            lines.head = utf_8(&lines.document()?);
            lines.counted = true;
        } else if lines.head.starts_with(b"\xef\xbb\xbf") {
            lines.count(3);
            lines.taken = 3;
        }
        lines.before = Before::of(&String::from_utf8_lossy(&lines.head[lines.taken..]));
        Ok(lines)
    }

    /// Hashes bytes of the head that no line contains.
    fn count(&mut self, bytes: usize) {
        self.hash.update(&self.head[..bytes]);
        self.bytes += bytes as u64;
    }

    /// The beginning of the file, as text.
    pub(crate) fn head(&self) -> String {
        let text = String::from_utf8_lossy(&self.head[self.taken..]);
        self.before.without(&text)
    }

    /// Whether there is nothing but white space in the beginning.
    pub(crate) fn is_empty(&self) -> bool {
        self.head.iter().all(u8::is_ascii_whitespace)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Number of the line that was read last.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether the line that was read last ended with a line break.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// The next line without its end, or `None` after the last.
    pub(crate) fn next(&mut self, format: Format) -> Result<Option<&str>, ImportError> {
        self.line.clear();
        let number = self.number + 1;
        loop {
            let chunk = if self.taken < self.head.len() {
                &self.head[self.taken..]
            } else {
                let filled = self.input.fill_buf();
                filled.map_err(|error| Problem::Read(error).at(&self.name, number))?
            };
            if chunk.is_empty() {
                break;
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(chunk.len(), |end| end + 1);
            self.line.extend_from_slice(&chunk[..length]);
            if !self.counted {
                self.hash.update(&chunk[..length]);
                self.bytes += length as u64;
            }
            if self.taken < self.head.len() {
                self.taken += length;
            } else {
                self.input.consume(length);
            }
            if self.line.len() > LONGEST_LINE {
                let most = LONGEST_LINE;
                return Err(Problem::LongLine { format, most }.at(&self.name, number));
            }
            if end.is_some() {
                break;
            }
        }
        if self.line.is_empty() {
            return Ok(None);
        }
        self.number = number;
        self.whole = self.line.ends_with(b"\n");
        if self.line.contains(&0) {
            return Err(Problem::Binary.at(&self.name, number));
        }
        let text = String::from_utf8_lossy(self.line.trim_ascii_end());
        self.text.clear();
        self.text.push_str(self.before.strip(&text));
        Ok(Some(&self.text))
    }

    /// All of it, for formats that are one document.
    pub(crate) fn document(&mut self) -> Result<Vec<u8>, ImportError> {
        let mut document = self.head.split_off(self.taken);
        self.head.clear();
        self.taken = 0;
        let most = LARGEST_DOCUMENT;
        let rest = most + 1 - (document.len() as u64).min(most);
        let read = self.input.by_ref().take(rest).read_to_end(&mut document);
        read.map_err(|error| Problem::Read(error).of(&self.name))?;
        if document.len() as u64 > most {
            return Err(Problem::LargeDocument { most }.of(&self.name));
        }
        if !self.counted {
            self.hash.update(&document);
            self.bytes += document.len() as u64;
        }
        let is_utf_16 = document.starts_with(b"\xff\xfe") || document.starts_with(b"\xfe\xff");
        if document.contains(&0) && !is_utf_16 {
            return Err(Problem::Binary.of(&self.name));
        }
        if self.before.is_nothing() {
            return Ok(document);
        }
        Ok(self
            .before
            .without(&String::from_utf8_lossy(&document))
            .into_bytes())
    }

    /// What was read, when all of it was.
    pub(crate) fn file(self) -> ImportedFile {
        let mut sha256 = String::new();
        for byte in self.hash.finalize() {
            sha256.push_str(&format!("{byte:02x}"));
        }
        ImportedFile {
            name: plimsoll_record::redact::redact_command(&self.name),
            bytes: self.bytes,
            sha256,
        }
    }
}

/// Converts UTF-16 with a byte order mark, as PowerShell writes it, to UTF-8.
fn utf_8(document: &[u8]) -> Vec<u8> {
    let is_big = document.starts_with(b"\xfe\xff");
    let pairs = document[2..].chunks_exact(2);
    let units = pairs.map(|pair| match is_big {
        true => u16::from_be_bytes([pair[0], pair[1]]),
        false => u16::from_le_bytes([pair[0], pair[1]]),
    });
    let letters = char::decode_utf16(units);
    let text: String = letters
        .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    text.into_bytes()
}

/// The prefix of every line.
#[derive(Default)]
struct Before {
    /// Whether each line starts with an RFC 3339 timestamp, perhaps followed by the stream, as in container logs.
    is_stamped: bool,
    constant: String,
}

/// Share of lines that must have the prefix: other programs may print lines in between.
const NEARLY_ALL: f64 = 0.9;
/// Least number of lines to detect a prefix from.
const FEWEST_LINES: usize = 3;
/// Words at which a line of a known tool starts.
const BEGINNINGS: [&str; 9] = [
    "[OVERALL],",
    "Command line: ",
    "YCSB Client ",
    "***************** properties",
    "Run finished, takes ",
    "Run throughput(ops/sec): ",
    "#[Histogram log format",
    "\"StartTimestamp\"",
    "Tag=",
];

impl Before {
    fn of(head: &str) -> Self {
        let lines = || {
            head.lines()
                .map(str::trim_end)
                .filter(|line| !line.is_empty())
        };
        let is_stamped = are_nearly_all(lines(), |line| stamp(line).is_some());
        let stamped = Self {
            is_stamped,
            constant: String::new(),
        };
        let rest: Vec<&str> = lines().map(|line| stamped.strip(line)).collect();
        Self {
            constant: constant(&rest).unwrap_or_default().to_owned(),
            ..stamped
        }
    }

    fn is_nothing(&self) -> bool {
        !self.is_stamped && self.constant.is_empty()
    }

    /// Removes the prefix and quotation marks from a line.
    fn strip<'a>(&self, line: &'a str) -> &'a str {
        let mut rest = line;
        if self.is_stamped {
            rest = stamp(rest).unwrap_or(rest);
        }
        if !self.constant.is_empty() {
            rest = match rest.strip_prefix(self.constant.as_str()) {
                Some(rest) => rest,
                None if rest == self.constant.trim_end() => "",
                None => rest,
            };
        }
        while let Some(quoted) = rest.strip_prefix("> ") {
            rest = quoted;
        }
        if rest == ">" { "" } else { rest }
    }

    /// Removes the prefix from every line of a text.
    fn without(&self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            clean.push_str(self.strip(line));
            // The prefix of an empty line may lack its trailing blank.
            if line.ends_with('\n') && !clean.ends_with('\n') {
                clean.push('\n');
            }
        }
        clean
    }
}

fn are_nearly_all<'a>(lines: impl Iterator<Item = &'a str>, is_so: impl Fn(&str) -> bool) -> bool {
    let (mut so, mut count) = (0_usize, 0_usize);
    for line in lines {
        count += 1;
        so += usize::from(is_so(line));
    }
    count >= FEWEST_LINES && so as f64 >= NEARLY_ALL * count as f64
}

/// The rest of a line after an RFC 3339 timestamp and the stream of a container log: `2026-09-30T18:52:38.271Z stdout F …`.
fn stamp(line: &str) -> Option<&str> {
    let (time, rest) = line.split_once(' ').unwrap_or((line, ""));
    let is_time = time.len() > 19 && time.as_bytes()[10] == b'T';
    time.parse::<jiff::Timestamp>().ok().filter(|_| is_time)?;
    for origin in ["stdout F", "stderr F", "stdout P", "stderr P"] {
        if let Some(rest) = rest.strip_prefix(origin) {
            return Some(rest.strip_prefix(' ').unwrap_or(rest));
        }
    }
    Some(rest)
}

/// The constant prefix of all lines, if there is one.
fn constant<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let is_before_all = |before: &&str| {
        let has = |line: &str| line.starts_with(before) || line == before.trim_end();
        !before.trim().is_empty() && are_nearly_all(lines.iter().copied(), has)
    };
    let by_word = lines.iter().find_map(|line| {
        let place = BEGINNINGS.iter().find_map(|word| line.find(word));
        let row = || line[..line.find(" - Takes(s): ")?].trim_end().rfind(' ');
        let place = place.or_else(|| row().map(|blank| blank + 1))?;
        Some(&line[..place])
    });
    let shared = lines.iter().copied().reduce(|one, other| {
        let letters = one.char_indices().zip(other.chars());
        let differs = letters.clone().find(|((_, one), other)| one != other);
        let length = one.len().min(other.len());
        &one[..differs.map_or(length, |((place, _), _)| place)]
    });
    // A JSON document starts with a brace after the prefix.
    let of_json = shared.filter(|shared| {
        let mut rests = lines.iter().map(|line| &line[shared.len()..]);
        rests.next().is_some_and(|first| first.starts_with('{'))
    });
    by_word.or(of_json).filter(is_before_all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<String> {
        let mut lines = Lines::new("x", text).unwrap();
        let mut all = Vec::new();
        while let Some(line) = lines.next(Format::Ycsb).unwrap() {
            all.push(line.to_owned());
        }
        assert_eq!(lines.file().bytes, text.len() as u64);
        all
    }

    #[test]
    fn what_stands_before_every_line_is_taken_off() {
        let plain = "[OVERALL], RunTime(ms), 10\n\n[READ], Operations, 5\n[READ], Return=OK, 5\n";
        let expected = all(plain.as_bytes());
        for before in [
            "pod/ycsb-0 | ",
            "[pod/a/b] ",
            "> ",
            "2026-09-30T18:52:38.271Z stdout F ",
            "2026-09-30T18:52:38.271Z ",
            "x",
        ] {
            let text: String = plain
                .lines()
                .map(|line| format!("{before}{line}\n"))
                .collect();
            assert_eq!(all(text.as_bytes()), expected, "{before}");
            let trimmed: String = text
                .lines()
                .map(|line| format!("{}\n", line.trim_end()))
                .collect();
            assert_eq!(all(trimmed.as_bytes()), expected, "{before}");
        }
        // What lines share is theirs.
        assert_eq!(expected[3], "[READ], Return=OK, 5");
    }

    #[test]
    fn text_of_other_encodings_is_read() {
        let plain = "[OVERALL], RunTime(ms), 10\r\n[READ], Operations, 5\r\n";
        let expected = all(plain.as_bytes());
        assert_eq!(expected[1], "[READ], Operations, 5");
        let units: Vec<u16> = "\u{feff}"
            .encode_utf16()
            .chain(plain.encode_utf16())
            .collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        let marked = format!("\u{feff}{plain}");
        for text in [&little[..], &big, marked.as_bytes()] {
            assert_eq!(all(text), expected);
        }
    }
}
