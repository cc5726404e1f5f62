//! A file read line by line in bounded memory, with its size and its fingerprint.

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

/// Reads one file.
pub(crate) struct Lines<R> {
    name: String,
    input: R,
    /// What was looked at beforehand and is not read yet.
    head: Vec<u8>,
    taken: usize,
    line: Vec<u8>,
    text: String,
    number: u64,
    hash: Sha256,
    bytes: u64,
    /// Whether the last line read ended with a line break.
    whole: bool,
}

impl<R: BufRead> Lines<R> {
    /// Looks at the beginning.
    pub(crate) fn new(name: &str, mut input: R) -> Result<Self, ImportError> {
        let mut head = Vec::new();
        let read = input.by_ref().take(HEAD).read_to_end(&mut head);
        read.map_err(|error| Problem::Read(error).of(name))?;
        Ok(Self {
            name: name.to_owned(),
            input,
            head,
            taken: 0,
            line: Vec::new(),
            text: String::new(),
            number: 0,
            hash: Sha256::new(),
            bytes: 0,
            whole: true,
        })
    }

    /// The beginning of the file, as text.
    pub(crate) fn head(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.head)
    }

    /// Whether there is nothing but white space in the beginning.
    pub(crate) fn is_empty(&self) -> bool {
        self.head.iter().all(u8::is_ascii_whitespace)
    }

    /// Name of the file.
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
            self.hash.update(&chunk[..length]);
            self.bytes += length as u64;
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
        let trimmed = self.line.trim_ascii_end();
        self.text.clear();
        self.text.push_str(&String::from_utf8_lossy(trimmed));
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
        self.hash.update(&document);
        self.bytes += document.len() as u64;
        if document.contains(&0) {
            return Err(Problem::Binary.of(&self.name));
        }
        Ok(document)
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
