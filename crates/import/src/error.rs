//! Why an output cannot be imported.

use crate::Format;
use std::fmt;

/// What is wrong with a file, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", place(.file, *.line))]
pub struct ImportError {
    pub file: String,
    /// Counted from 1; `None` where it is about the whole file.
    pub line: Option<u64>,
    #[source]
    pub problem: Problem,
}

fn place(file: &str, line: Option<u64>) -> String {
    match line {
        Some(line) => format!("{file}, line {line}"),
        None => file.to_owned(),
    }
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    #[error("cannot read it: {0}")]
    Read(std::io::Error),
    #[error("the file is empty: import the output of a run that has ended")]
    Empty,
    #[error("this is no text: import the text or JSON that the tool wrote, unpacked and in UTF-8")]
    Binary,
    #[error(
        "no format is recognised: import the output of YCSB or go-ycsb, an HdrHistogram log, or fio's JSON; if it is one of them, name it with --format"
    )]
    UnknownFormat,
    #[error("this is {form}: {instead}")]
    OtherForm { form: &'static str, instead: &'static str },
    #[error(
        "lines of several clients are mixed ({sources}): import each from a file of its own, such as that of `docker compose logs --no-log-prefix NAME`"
    )]
    Mixed { sources: String },
    #[error("the line is longer than {most} bytes: this is no output of {format}")]
    LongLine { format: Format, most: usize },
    #[error("the document is larger than {most} bytes: import one job at a time")]
    LargeDocument { most: u64 },
    #[error("more than {most} {what}: cut the file into parts and import each as a run")]
    TooMany { what: &'static str, most: usize },
    #[error("it holds no result of {format}: {expected}")]
    NoResult { format: Format, expected: &'static str },
    #[error("{what} is `{text}`, which is no {wanted}: correct the line or leave it out")]
    BadNumber { what: String, text: String, wanted: &'static str },
    #[error(
        "`{group}` stands here again after line {first}: two outputs seem to be mixed, import each from a file of its own"
    )]
    Repeated { group: String, first: u64 },
    #[error(
        "`{name}` is no operation that is known here: say which it is with --operation, such as --operation read"
    )]
    UnknownOperation { name: String },
    #[error(
        "nothing says which operation the log is of: say it with --operation, such as --operation read"
    )]
    NoOperation,
    #[error("the log is of {name}, which is no operation: leave it out")]
    NoOperationLog { name: String },
    #[error("the histogram cannot be read: {0}")]
    BadHistogram(String),
    #[error("the JSON is damaged: {0}")]
    BadJson(String),
    #[error(
        "time or count go back at second {at}: outputs of several runs seem to be mixed, import each from a file of its own"
    )]
    BackInTime { at: u64 },
    #[error("{0}")]
    Together(String),
}

impl Problem {
    /// This problem in a file, at a line.
    pub(crate) fn at(self, file: &str, line: u64) -> ImportError {
        ImportError { file: file.to_owned(), line: Some(line), problem: self }
    }

    /// This problem of a whole file.
    pub(crate) fn of(self, file: &str) -> ImportError {
        ImportError { file: file.to_owned(), line: None, problem: self }
    }
}

/// A text that was found, short enough to be quoted and without control characters.
pub(crate) fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    let mut short: String = text
        .chars()
        .take(MOST)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tool())
    }
}
