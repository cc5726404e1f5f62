//! Values as numbers and truths, read as Java reads them.

use crate::properties::Properties;
use crate::properties::fault::{Fault, PropertyError};

impl Properties {
    /// A whole number that Java can hold in 64 bits, in decimal digits with or without a sign: no white space, no commas.
    ///
    /// # Errors
    /// When the value is none.
    pub fn long(&self, name: &str) -> Result<Option<i64>, PropertyError> {
        self.number(name, "whole number", |text| {
            let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
            let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_plain.then(|| text.parse().ok()).flatten()
        })
    }

    /// As [`Properties::long`], from 0 on. Where YCSB has 32 bits there are 64.
    ///
    /// # Errors
    /// When the value is none.
    pub fn count(&self, name: &str) -> Result<Option<u64>, PropertyError> {
        let Some(value) = self.long(name)? else {
            return Ok(None);
        };
        match u64::try_from(value) {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(PropertyError::impossible(name, format!("{value} is below 0"))),
        }
    }

    /// As [`Properties::count`], up to 2^32 - 1.
    ///
    /// # Errors
    /// When the value is none.
    pub fn small_count(&self, name: &str) -> Result<Option<u32>, PropertyError> {
        let Some(value) = self.count(name)? else {
            return Ok(None);
        };
        match u32::try_from(value) {
            Ok(value) => Ok(Some(value)),
            Err(_) => {
                Err(PropertyError::impossible(name, format!("{value} is above {}", u32::MAX)))
            }
        }
    }

    /// A number from 0 on, with or without a fraction, white space around it, or the letter of a Java type behind it. Java reads `NaN`,
    /// infinite and negative numbers too, with which no property has a meaning.
    ///
    /// # Errors
    /// When the value is none.
    pub fn double(&self, name: &str) -> Result<Option<f64>, PropertyError> {
        let Some(value) = self.number(name, "number", read_double)? else {
            return Ok(None);
        };
        if !value.is_finite() {
            let words = format!("{value} is no finite number");
            return Err(PropertyError::impossible(name, words));
        }
        if value < 0.0 {
            return Err(PropertyError::impossible(name, format!("{value} is below 0")));
        }
        Ok(Some(value))
    }

    /// Whether the value is `true`, in large or small letters: as in Java everything else is not.
    pub fn flag(&self, name: &str, default: bool) -> bool {
        self.get(name).map_or(default, |value| value.eq_ignore_ascii_case("true"))
    }

    fn number<T>(
        &self,
        name: &str,
        wanted: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, PropertyError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        if let Some(number) = read(value) {
            return Ok(Some(number));
        }
        let hint = if value != value.trim() && read(value.trim()).is_some() {
            ": there is white space around it, which a property file keeps"
        } else {
            ""
        };
        Err(PropertyError {
            name: name.into(),
            fault: Fault::Value { value: value.into(), wanted, hint },
        })
    }
}

/// A number as Java reads it: white space around it and the letter of a type behind it are allowed.
fn read_double(text: &str) -> Option<f64> {
    let text = text.trim();
    let number = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let unsigned = number.strip_prefix(['+', '-']).unwrap_or(number);
    let first = unsigned.bytes().next()?;
    // What Rust reads besides, such as `inf`, Java does not.
    if matches!(unsigned, "NaN" | "Infinity") {
        return (unsigned == text.trim_start_matches(['+', '-']))
            .then(|| number.parse().ok())
            .flatten();
    }
    (first.is_ascii_digit() || first == b'.').then(|| number.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(value: &str) -> Properties {
        let mut properties = Properties::default();
        properties.set("n", value);
        properties
    }

    #[test]
    fn whole_numbers_are_read_as_java_reads_them() {
        for (text, number) in
            [("0", 0), ("+7", 7), ("-7", -7), ("007", 7), ("9223372036854775807", i64::MAX)]
        {
            assert_eq!(with(text).long("n").unwrap(), Some(number));
        }
        for text in ["", " 1", "1 ", "1.0", "1e3", "1,000", "1k", "+", "--1", "9223372036854775808"]
        {
            assert!(with(text).long("n").is_err(), "{text:?}");
        }
        assert_eq!(with("1").long("other").unwrap(), None);
        let expected = "`n`: `1000 ` is no whole number: there is white space around it, which a property file keeps";
        assert_eq!(with("1000 ").long("n").unwrap_err().to_string(), expected);
        let expected = "`n`: -1 is below 0";
        assert_eq!(with("-1").count("n").unwrap_err().to_string(), expected);
        assert!(with("4294967296").small_count("n").is_err());
    }

    #[test]
    fn numbers_are_read_as_java_reads_them() {
        for (text, number) in [
            ("0.5", 0.5),
            (" .5 ", 0.5),
            ("5.", 5.0),
            ("1e-3", 1e-3),
            ("2E2", 200.0),
            ("1d", 1.0),
            ("1.5F", 1.5),
            ("-0", 0.0),
        ] {
            assert_eq!(with(text).double("n").unwrap(), Some(number), "{text:?}");
        }
        for (text, fault) in [
            ("NaN", "NaN is no finite number"),
            ("Infinity", "inf is no finite number"),
            ("-Infinity", "-inf is no finite number"),
            ("1e400", "inf is no finite number"),
            ("-1", "-1 is below 0"),
        ] {
            let refused = with(text).double("n").unwrap_err().to_string();
            assert_eq!(refused, format!("`n`: {fault}"), "{text:?}");
        }
        for text in ["", "inf", "nan", "infinity", "1,5", "x", ".", "1_0", "-", "NaNd"] {
            assert!(with(text).double("n").is_err(), "{text:?}");
        }
    }

    #[test]
    fn only_the_word_is_true() {
        for (text, truth) in
            [("true", true), ("TRUE", true), ("1", false), ("yes", false), ("true ", false)]
        {
            assert_eq!(with(text).flag("n", !truth), truth);
        }
        assert!(with("x").flag("other", true));
    }
}
