//! One value of a table, and what its column says of it.

use std::borrow::Cow;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// A whole number from 0, of 64 bits.
    Integer,
    /// A floating-point number of 64 bits.
    Number,
    Flag,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, with the unit at its end.
    pub name: Cow<'static, str>,
    pub kind: Kind,
}

impl Column {
    /// A column of this name.
    pub fn new(name: impl Into<Cow<'static, str>>, kind: Kind) -> Self {
        Self { name: name.into(), kind }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Not known, or there is none.
    Unknown,
    /// In a column of texts.
    Text(Cow<'a, str>),
    /// In a column of whole numbers.
    Integer(u64),
    /// In a column of numbers. What is not finite counts as unknown.
    Number(f64),
    /// In a column of flags.
    Flag(bool),
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Self::Integer(number)
    }
}

impl From<u32> for Cell<'_> {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Cell<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Unknown, Into::into)
    }
}
