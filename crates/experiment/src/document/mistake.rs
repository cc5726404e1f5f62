//! What can be wrong with a document of any kind, as data.

use crate::document::nearest::{did_you_mean, few, nearest_or_all, quoted};
use plimsoll_record::quantities::units::UnitError;
use std::fmt;

/// A mistake that can be reported with its place: one of a document in general, or one of what the document describes.
pub trait Diagnosis: Clone + fmt::Debug + fmt::Display + PartialEq + From<DocumentMistake> {
    /// A stable word for programs.
    fn code(&self) -> &'static str;

    /// What to do about it.
    fn help(&self) -> Option<String>;
}

/// One thing that is wrong with a document, whatever it describes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentMistake {
    /// More bytes than a file may have.
    #[error("the file has {bytes} bytes, the most is {most}")]
    FileTooLarge { bytes: usize, most: usize },
    #[error("the file is empty")]
    EmptyFile,
    #[error("not YAML: {}", shortened_message(.what))]
    Syntax { what: String },
    /// A second document behind `---`.
    #[error("a second YAML document begins here")]
    SecondDocument,
    /// A tag such as `!!str`.
    #[error("the tag {} says nothing here", quoted(.tag))]
    Tag { tag: String },
    #[error("an alias inside of what it repeats would never end")]
    AliasOfItself,
    #[error("lists and maps are nested more than {most} deep")]
    TooDeep { most: usize },
    /// Too many values, perhaps by aliases of aliases.
    #[error("the file has more than {most} values, repeated ones counted each time")]
    TooManyValues { most: usize },
    /// A list or map as a key.
    #[error("a key must be text")]
    KeyNotText,
    #[error("the merge key `<<` is not part of YAML 1.2")]
    MergeKey,
    #[error("{} is there twice", quoted(.key))]
    Twice { key: String },
    #[error("unknown key {}", quoted(.key))]
    UnknownKey {
        key: String,
        /// Keys that would be right here.
        valid: Vec<String>,
    },
    /// A required key is missing.
    #[error("the key `{key}` is missing")]
    MissingKey {
        key: &'static str,
        /// How it could be written.
        example: &'static str,
    },
    /// None of several keys, one of which is required.
    #[error("one of {} is missing", list(.keys, "and"))]
    MissingOneOf { keys: &'static [&'static str] },
    /// Two keys that exclude each other.
    #[error("`{second}` and `{first}` exclude each other")]
    Exclusive { first: String, second: String },
    /// Another kind of value than expected.
    #[error("{found} is written here, where {expected} is expected")]
    WrongKind {
        expected: String,
        found: &'static str,
    },
    /// A value with a wrong unit or no number.
    #[error(transparent)]
    Unit(#[from] UnitError),
    #[error("{value} is out of range: at least {least}, at most {most}")]
    OutOfRange {
        value: String,
        least: String,
        most: String,
    },
    /// A word that is not one of those known.
    #[error("{} is not one of {}", quoted(.word), few(.valid))]
    NotOneOf { word: String, valid: Vec<String> },
    /// A word that does not have the form of its kind.
    #[error("{} is not a {what}", quoted(.word))]
    NotA {
        word: String,
        /// The kind of word, such as `percentile`.
        what: &'static str,
        code: &'static str,
        /// What to do about it.
        help: String,
    },
    /// A name that could not be a file name or a column's head.
    #[error("{} cannot be a name", quoted(.name))]
    BadName { name: String },
    /// A text that is too long, or that contains control characters.
    #[error("a text here has at most {most} characters and no control characters")]
    BadText { most: usize },
    /// A number of entries that is out of range.
    #[error("{}", entry_count(*.found, *.least, *.most))]
    EntryCount {
        found: usize,
        least: usize,
        most: usize,
    },
    /// Written for another version of the format.
    #[error(
        "the file is written for version {found} of the format, this program reads version {known}"
    )]
    Version { found: u64, known: u64 },
}

impl Diagnosis for DocumentMistake {
    fn code(&self) -> &'static str {
        match self {
            Self::FileTooLarge { .. } => "file-too-large",
            Self::EmptyFile => "empty-file",
            Self::Syntax { .. } => "syntax",
            Self::SecondDocument => "second-document",
            Self::Tag { .. } => "tag",
            Self::AliasOfItself => "alias-of-itself",
            Self::TooDeep { .. } => "too-deep",
            Self::TooManyValues { .. } => "too-many-values",
            Self::KeyNotText => "key-not-text",
            Self::MergeKey => "merge-key",
            Self::Twice { .. } => "twice",
            Self::UnknownKey { .. } => "unknown-key",
            Self::MissingKey { .. } => "missing-key",
            Self::MissingOneOf { .. } => "missing-one-of",
            Self::Exclusive { .. } => "exclusive",
            Self::WrongKind { .. } => "wrong-kind",
            Self::Unit(_) => "unit",
            Self::OutOfRange { .. } => "out-of-range",
            Self::NotOneOf { .. } => "not-one-of",
            Self::NotA { code, .. } => code,
            Self::BadName { .. } => "bad-name",
            Self::BadText { .. } => "bad-text",
            Self::EntryCount { .. } => "entry-count",
            Self::Version { .. } => "version",
        }
    }

    /// Also `None` where help takes keys, which this crate does not know.
    fn help(&self) -> Option<String> {
        let text = match self {
            Self::Syntax { what } if what.contains("tab") => {
                "YAML is indented with spaces, never with tabs".into()
            }
            Self::Syntax { .. } => {
                "look for a missing space behind a colon, a missing quote or bracket, or a line that is indented otherwise than \
                 its neighbours"
                    .into()
            }
            Self::SecondDocument => "put it into a file of its own".into(),
            Self::Tag { .. } => "remove it: what a value means follows from its key".into(),
            Self::AliasOfItself => "remove the alias".into(),
            Self::TooManyValues { .. } => "look for aliases that repeat each other".into(),
            Self::KeyNotText => "write the key as plain text, such as `name: value`".into(),
            Self::Twice { .. } | Self::Exclusive { .. } => "remove one of them".into(),
            Self::UnknownKey { key, valid } => nearest_or_all(key, valid, "keys here are"),
            Self::MissingKey { key, example } => format!("write for example `{key}: {example}`"),
            Self::MissingOneOf { .. } => "write exactly one of them".into(),
            Self::NotOneOf { word, valid } => return did_you_mean(word, valid),
            Self::NotA { help, .. } => help.clone(),
            Self::BadName { .. } => {
                "names become file names and heads of columns: at most 40 characters out of a-z, A-Z, 0-9, `-`, `_` and `.`, \
                 beginning with a letter or digit"
                    .into()
            }
            Self::FileTooLarge { .. }
            | Self::EmptyFile
            | Self::TooDeep { .. }
            | Self::MergeKey
            | Self::WrongKind { .. }
            | Self::Unit(_)
            | Self::OutOfRange { .. }
            | Self::BadText { .. }
            | Self::EntryCount { .. }
            | Self::Version { .. } => return None,
        };
        Some(text)
    }
}

fn entry_count(found: usize, least: usize, most: usize) -> String {
    let entries = if found == 1 { "entry" } else { "entries" };
    if least == most {
        return format!("there must be {least} entries here, not {found}");
    }
    format!("{found} {entries} here: at least {least}, at most {most}")
}

fn list(words: &[&str], link: &str) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, others)) if !others.is_empty() => {
            format!("{} {link} {last}", others.join(", "))
        }
        _ => quoted.concat(),
    }
}

/// A parser's message in our manner: it may quote what the file holds.
fn shortened_message(message: &str) -> String {
    message
        .chars()
        .take(200)
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_hold_nothing_that_a_terminal_obeys() {
        let mistake = DocumentMistake::UnknownKey {
            key: format!("\u{1b}[2J{}", "x".repeat(100)),
            valid: vec!["name".into()],
        };
        let text = format!("{mistake} {:?}", mistake.help());
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(text.len() < 150, "{text}");
    }
}
