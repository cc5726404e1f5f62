//! A file read line by line in bounded memory, with its size and its fingerprint.
//!
//! What other programs add to every line is removed: names of pods and containers, timestamps, objects of Docker's log files, colours, quotation marks of mails.

use crate::Format;
use crate::error::{ImportError, Problem, quoted};
use plimsoll_record::ImportedFile;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{BufRead, Read};

/// The longest line, bytes. A line of an HdrHistogram log holds one histogram and has some kilobytes.
pub(crate) const LONGEST_LINE: usize = 4 << 20;
/// The largest document that is read as a whole, bytes.
pub(crate) const LARGEST_DOCUMENT: u64 = 64 << 20;
/// How much of a file is read to find its format, bytes.
const HEAD: u64 = 1 << 20;

pub(crate) struct Lines<R> {
    name: String,
    input: R,
    /// The beginning, inspected beforehand and not read yet.
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
        let head = String::from_utf8_lossy(&lines.head[lines.taken..]);
        lines.before = Before::of(&head).map_err(|problem| problem.of(name))?;
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
        self.text.push_str(&self.before.strip(&text));
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
        Ok(self.before.without(&String::from_utf8_lossy(&document)).into_bytes())
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
    let text: String =
        letters.map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    text.into_bytes()
}

/// What other programs put around every line.
#[derive(Default)]
struct Before {
    /// Whether each line is an object of Docker's log files: `{"log":"…\n","stream":"stdout",…}`.
    is_docker_json: bool,
    /// The container of several whose lines count, as in `docker compose logs`.
    source: Option<String>,
    /// Whether each line starts with an RFC 3339 timestamp, perhaps followed by the stream, as in container logs.
    is_stamped: bool,
    prefix: Vec<Piece>,
}

/// Part of a prefix. Numbers and blanks may differ from line to line, as in timestamps and ids of processes.
#[derive(Debug, PartialEq)]
enum Piece {
    Text(String),
    Digits,
    Blanks,
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
    fn of(head: &str) -> Result<Self, Problem> {
        let lines: Vec<&str> =
            head.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let mut before = Self {
            is_docker_json: are_nearly_all(&lines, |line| docker_line(line).is_some()),
            ..Self::default()
        };
        let lines: Vec<Cow<'_, str>> = lines.iter().map(|line| before.strip(line)).collect();
        let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
        if are_nearly_all(&lines, |line| source(line).is_some()) {
            before.source = source_of_tool(&lines)?;
        }
        let lines: Vec<Cow<'_, str>> = lines.iter().map(|line| before.strip(line)).collect();
        let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
        before.is_stamped = are_nearly_all(&lines, |line| stamp(line).is_some());
        let unstamped = |line: &&'_ str| match before.is_stamped {
            true => stamp(line).unwrap_or(line).to_owned(),
            false => (*line).to_owned(),
        };
        let rest: Vec<String> = lines.iter().map(unstamped).collect();
        before.prefix = prefix(&rest);
        Ok(before)
    }

    fn is_nothing(&self) -> bool {
        !self.is_docker_json && self.source.is_none() && !self.is_stamped && self.prefix.is_empty()
    }

    /// Removes what surrounds a line: colours, the prefix, and quotation marks.
    fn strip<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let mut rest = without_escapes(line);
        if self.is_docker_json
            && let Some(text) = docker_line(&rest)
        {
            rest = Cow::Owned(text);
        }
        if let Some(own) = &self.source {
            rest = match source(&rest) {
                Some((name, text)) if name == own => Cow::Owned(text.to_owned()),
                Some(_) => Cow::Borrowed(""),
                None => rest,
            };
        }
        let bare = self.without_prefix(&rest);
        if bare.len() == rest.len() {
            return rest;
        }
        let skipped = rest.len() - bare.len();
        match rest {
            // What is removed stands at the beginning.
            Cow::Borrowed(line) => Cow::Borrowed(&line[skipped..]),
            Cow::Owned(line) => Cow::Owned(line[skipped..].to_owned()),
        }
    }

    fn without_prefix<'a>(&self, line: &'a str) -> &'a str {
        let mut rest = line;
        if self.is_stamped {
            rest = stamp(rest).unwrap_or(rest);
        }
        if !self.prefix.is_empty() {
            rest = after(&self.prefix, rest).unwrap_or(rest);
        }
        while let Some(quoted) = rest.strip_prefix("> ") {
            rest = quoted;
        }
        if rest.trim_end() == ">" { &rest[rest.len()..] } else { rest }
    }

    /// Removes the prefix from every line of a text.
    fn without(&self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            clean.push_str(&self.strip(line));
            // The prefix of an empty line may lack its trailing blank.
            if line.ends_with('\n') && !clean.ends_with('\n') {
                clean.push('\n');
            }
        }
        clean
    }
}

fn are_nearly_all(lines: &[&str], is_so: impl Fn(&str) -> bool) -> bool {
    let so = lines.iter().filter(|line| is_so(line)).count();
    lines.len() >= FEWEST_LINES && so as f64 >= NEARLY_ALL * lines.len() as f64
}

/// Removes what colours a terminal: `ESC [ … letter`.
fn without_escapes(line: &str) -> Cow<'_, str> {
    const ESCAPE: char = '\x1b';
    if !line.contains(ESCAPE) {
        return Cow::Borrowed(line);
    }
    let mut parts = line.split(ESCAPE);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| letter.is_ascii_alphabetic());
        match (part.strip_prefix('['), end) {
            (Some(_), Some(end)) => plain.push_str(&part[end + 1..]),
            _ => plain.push_str(part),
        }
    }
    Cow::Owned(plain)
}

/// The text of a line of Docker's log files.
fn docker_line(line: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct DockerLine {
        log: String,
    }
    if !line.starts_with("{\"log\":") {
        return None;
    }
    let DockerLine { log } = serde_json::from_str(line.trim_end()).ok()?;
    Some(log.trim_end_matches(['\n', '\r']).to_owned())
}

/// The container of a line and its text, as `docker compose logs` (`ycsb-1  | …`) and `kubectl logs --prefix` (`[pod/ycsb-0/ycsb] …`) write them.
fn source(line: &str) -> Option<(&str, &str)> {
    if let Some(rest) = line.strip_prefix("[pod/") {
        let (name, text) = rest.split_once(']')?;
        return Some((name, text.strip_prefix(' ').unwrap_or(text)));
    }
    let (name, text) = line.split_once('|')?;
    let word = name.trim_end();
    let is_name = !word.is_empty() && word.len() < name.len() && !word.contains(' ');
    is_name.then(|| (word, text.strip_prefix(' ').unwrap_or(text)))
}

/// Among several containers, the one whose lines are those of a known tool. If two print such lines, nothing later distinguishes them.
fn source_of_tool(lines: &[&str]) -> Result<Option<String>, Problem> {
    let sources = || lines.iter().filter_map(|line| source(line));
    let names: BTreeSet<&str> = sources().map(|(name, _)| name).collect();
    if names.len() < 2 {
        return Ok(None);
    }
    let is_of_tool = |text: &str| beginning(text).is_some();
    let of_tool = sources().filter(|(_, text)| is_of_tool(text));
    let of_tool: BTreeSet<&str> = of_tool.map(|(name, _)| name).collect();
    match of_tool.len() {
        0 => Ok(None),
        1 => Ok(of_tool.first().map(|name| (*name).to_owned())),
        _ => Err(Problem::Mixed {
            sources: of_tool.into_iter().map(quoted).collect::<Vec<_>>().join(", "),
        }),
    }
}

/// Where the text of a known tool begins in a line.
fn beginning(line: &str) -> Option<usize> {
    let place = BEGINNINGS.iter().find_map(|word| line.find(word));
    let row = || line[..line.find(" - Takes(s): ")?].trim_end().rfind(' ');
    place.or_else(|| row().map(|blank| blank + 1))
}

/// The prefix of all lines; empty if there is none.
fn prefix(lines: &[String]) -> Vec<Piece> {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let by_word = lines.iter().find_map(|line| beginning(line).map(|place| &line[..place]));
    // A JSON document starts with a brace after the prefix.
    let of_json = || lines.iter().find_map(|line| line.strip_suffix('{'));
    let Some(text) = by_word.or_else(of_json) else {
        return Vec::new();
    };
    if text.trim().is_empty() {
        return Vec::new();
    }
    let pieces = pieces(text);
    match are_nearly_all(&lines, |line| after(&pieces, line).is_some()) {
        true => pieces,
        false => Vec::new(),
    }
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for letter in text.chars() {
        match (letter, pieces.last_mut()) {
            ('0'..='9', Some(Piece::Digits)) | (' ', Some(Piece::Blanks)) => {}
            ('0'..='9', _) => pieces.push(Piece::Digits),
            (' ', _) => pieces.push(Piece::Blanks),
            (_, Some(Piece::Text(text))) => text.push(letter),
            _ => pieces.push(Piece::Text(letter.into())),
        }
    }
    // Blanks and digits behind the prefix may be those of the line.
    let exact = match pieces.last() {
        Some(Piece::Blanks) => text.trim_end_matches(' ').len(),
        Some(Piece::Digits) => text.trim_end_matches(|letter: char| letter.is_ascii_digit()).len(),
        _ => return pieces,
    };
    pieces.pop();
    pieces.push(Piece::Text(text[exact..].to_owned()));
    pieces
}

/// The rest of a line behind a prefix. An empty line may lack the trailing blank.
fn after<'a>(pieces: &[Piece], line: &'a str) -> Option<&'a str> {
    let mut rest = line;
    for (index, piece) in pieces.iter().enumerate() {
        let next = match piece {
            Piece::Text(text) => match rest.strip_prefix(text.as_str()) {
                Some(next) => next,
                None if index + 1 == pieces.len() && rest.trim_end() == text.trim_end() => {
                    &rest[rest.len()..]
                }
                None => return None,
            },
            Piece::Digits => rest.trim_start_matches(|letter: char| letter.is_ascii_digit()),
            Piece::Blanks => rest.trim_start_matches(' '),
        };
        if next.len() == rest.len() && !matches!(piece, Piece::Text(_)) {
            return None;
        }
        rest = next;
    }
    Some(rest)
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
            let text: String = plain.lines().map(|line| format!("{before}{line}\n")).collect();
            assert_eq!(all(text.as_bytes()), expected, "{before}");
            let trimmed: String =
                text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
            assert_eq!(all(trimmed.as_bytes()), expected, "{before}");
        }
        // What lines share is theirs.
        assert_eq!(expected[3], "[READ], Return=OK, 5");
    }

    #[test]
    fn what_differs_from_line_to_line_is_taken_off_too() {
        let plain = [
            "Command line: -t",
            "2026-03-04 10:00:10:001 10 sec: 50 operations; 5 current ops/sec; [READ: Count=50, Avg=2]",
            "[OVERALL], RunTime(ms), 10000",
            "[READ], Operations, 50",
        ];
        let with = |around: &dyn Fn(usize, &str) -> String| {
            let lines = plain.iter().enumerate();
            let text: String = lines.map(|(at, line)| around(at, line)).collect();
            all(text.as_bytes())
        };
        type Around = dyn Fn(usize, &str) -> String;
        let arounds: [&Around; 4] = [
            &|at, line| {
                format!("Mar {:2} 10:00:{at:02} bench01 ycsb[{}]: {line}\n", 9 + at, 7 * at)
            },
            &|at, line| format!("ycsb-1  | 2026-03-04T10:00:{at:02}.{}Z {line}\n", 12_345 * at),
            &|_, line| format!("\x1b[32m{line}\x1b[0m\r\n"),
            &|at, line| {
                let log = format!("{line}\n");
                let line =
                    serde_json::json!({"log": log, "stream": "stdout", "time": at.to_string()});
                // Docker writes `log` first.
                line.to_string() + "\n"
            },
        ];
        for around in arounds {
            assert_eq!(with(around), plain);
        }
    }

    #[test]
    fn of_several_containers_the_one_with_the_tool_counts() {
        let lines = ["Command line: -t", "[OVERALL], RunTime(ms), 10", "[READ], Operations, 5"];
        let with = |other: &dyn Fn(&str) -> String| -> String {
            let lines = lines.iter();
            lines.map(|line| format!("ycsb-1   | {line}\nmongo-1  | {}\n", other(line))).collect()
        };
        let mut read = all(with(&|_| "{\"t\":1}".into()).as_bytes());
        read.retain(|line| !line.is_empty());
        assert_eq!(read, lines);
        let both = with(&|line| line.to_owned());
        let error = Lines::new("x", both.as_bytes()).err().unwrap().to_string();
        assert!(error.contains("several clients are mixed (mongo-1, ycsb-1)"), "{error}");
    }

    #[test]
    fn text_of_other_encodings_is_read() {
        let plain = "[OVERALL], RunTime(ms), 10\r\n[READ], Operations, 5\r\n";
        let expected = all(plain.as_bytes());
        assert_eq!(expected[1], "[READ], Operations, 5");
        let units: Vec<u16> = "\u{feff}".encode_utf16().chain(plain.encode_utf16()).collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        let marked = format!("\u{feff}{plain}");
        for text in [&little[..], &big, marked.as_bytes()] {
            assert_eq!(all(text), expected);
        }
    }
}
