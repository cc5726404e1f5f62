//! What is wrong with a property.

use crate::Problem;

/// A property that cannot be what it is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{name}`{fault}")]
pub struct PropertyError {
    /// Name of the property, as written.
    pub name: String,
    /// What is wrong with its value.
    pub fault: Fault,
}

/// What is wrong with a property.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// An escape that stands for no character.
    #[error(", line {line}: `\\u` needs four hexadecimal digits")]
    Escape {
        /// In the file, from 1.
        line: usize,
    },
    /// Another kind of value is needed.
    #[error(": `{value}` is no {wanted}{hint}")]
    Value {
        /// The given value, shortened.
        value: String,
        /// What a valid value would be.
        wanted: &'static str,
        /// What may be the reason; empty or begins with a space.
        hint: &'static str,
    },
    /// The value is none of the known ones.
    #[error(": there is no `{value}`; there are {known}")]
    Word {
        /// The given value, shortened.
        value: String,
        /// The words that would be valid.
        known: &'static str,
    },
    /// It does not go with others, in words.
    #[error(": {0}")]
    Impossible(String),
}

impl PropertyError {
    /// A property that does not go with others.
    pub fn impossible(name: &str, words: impl Into<String>) -> Self {
        Self { name: name.into(), fault: Fault::Impossible(words.into()) }
    }

    /// A word that is none of those known.
    pub fn word(name: &str, value: &str, known: &'static str) -> Self {
        Self { name: name.into(), fault: Fault::Word { value: value.into(), known } }
    }

    pub(crate) fn problem(name: &str, problem: &Problem) -> Self {
        Self::impossible(name, problem.wrong.to_string())
    }
}
