//! Sizes, counts, durations, rates and shares as people write them, read and written exactly.
//!
//! Reading what was written gives the same value again. Nothing is rounded: `1.5GB` is 1,500,000,000 bytes, and a text that is
//! no whole number of bytes is refused.
//!
//! ```
//! use plimsoll_experiment::units;
//! assert_eq!(units::parse_size("256MiB"), Ok(268_435_456));
//! assert_eq!(units::parse_duration("1m30s"), Ok(90_000_000_000));
//! assert_eq!(units::duration(90_000_000_000), "1m30s");
//! assert_eq!(units::parse_rate("20k/s"), Ok(20_000.0));
//! assert!(units::parse_size("512M").is_err_and(|e| e.to_string().contains("512MB or 512MiB")));
//! ```

use std::fmt;

/// Why a text is not a value. Each names the text and shows how it would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// No number where one should be.
    #[error("`{text}` is not {quantity}: write for example {example}")]
    NotA {
        /// `a size`, with its article.
        quantity: &'static str,
        /// As written, shortened.
        text: String,
        /// Right ones.
        example: &'static str,
    },
    /// A number, but without its unit.
    #[error("`{text}` has no unit: write for example {text}{unit}; units are {units}")]
    NoUnit {
        /// As written, shortened.
        text: String,
        /// A likely unit.
        unit: &'static str,
        /// All units.
        units: &'static str,
    },
    /// A number with a unit that there is not.
    #[error("`{text}` has the unknown unit `{unit}`: units are {units}")]
    UnknownUnit {
        /// As written, shortened.
        text: String,
        /// The part that is no unit.
        unit: String,
        /// All units.
        units: &'static str,
    },
    /// `512M` may be a million or a mebi.
    #[error("`{text}` can mean two things: write {number}{unit}B or {number}{unit}iB")]
    Ambiguous {
        /// As written, shortened.
        text: String,
        /// Without its unit.
        number: String,
        /// `k`, `M`, `G` or `T`.
        unit: String,
    },
    /// A fraction of the smallest unit.
    #[error("`{text}` is not a whole number of {unit}")]
    NotWhole {
        /// As written, shortened.
        text: String,
        /// The smallest unit, in the plural.
        unit: &'static str,
    },
    /// Below zero.
    #[error("`{text}` is negative: write {quantity} of zero or more")]
    Negative {
        /// `a size`, with its article.
        quantity: &'static str,
        /// As written, shortened.
        text: String,
    },
    /// More than 64 bits hold.
    #[error("`{text}` is too large for {quantity}")]
    TooLarge {
        /// `a size`, with its article.
        quantity: &'static str,
        /// As written, shortened.
        text: String,
    },
}

/// What a family of units is called and how it is written.
struct Family {
    quantity: &'static str,
    example: &'static str,
    units: &'static str,
    /// Its smallest unit, in the plural.
    whole: &'static str,
}

const SIZE: Family = Family {
    quantity: "a size",
    example: "256MiB, 1.5GB or 4096B",
    units: "B, kB, MB, GB, TB (thousands) and KiB, MiB, GiB, TiB (1024s)",
    whole: "bytes",
};
const COUNT: Family = Family {
    quantity: "a count",
    example: "6M, 100k or 1_000",
    units: "k, M and G",
    whole: "things",
};
const DURATION: Family = Family {
    quantity: "a duration",
    example: "30s, 1m30s or 250ms",
    units: "ns, us, ms, s, m, h and d",
    whole: "nanoseconds",
};
const RATE: Family = Family {
    quantity: "a rate",
    example: "20k, 20k/s or 500/s",
    units: "k, M and G, each with or without /s",
    whole: "operations",
};
const SHARE: Family = Family {
    quantity: "a share",
    example: "5% or 0.05",
    units: "%",
    whole: "parts",
};

/// Bytes from `256MiB`, `1.5GB`, `4096B` or `4096`.
///
/// # Errors
/// When the text is no size, or no whole number of bytes.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    let (decimal, unit) = number_and_unit(text, &SIZE)?;
    let factor: u64 = match unit {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" | "kiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        "k" | "K" | "M" | "G" | "T" => {
            let number = shortened(text.trim().trim_end_matches(unit).trim_end());
            return Err(UnitError::Ambiguous {
                text: shortened(text),
                number,
                unit: unit.to_owned(),
            });
        }
        _ => return Err(unknown_unit(text, unit, &SIZE)),
    };
    decimal.times(factor, text, &SIZE)
}

/// A whole number from `6M`, `100k`, `1_000` or `1e6`.
///
/// # Errors
/// When the text is no count, or not whole.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    let (decimal, unit) = number_and_unit(text, &COUNT)?;
    let Some(power) = thousands(unit) else {
        return Err(unknown_unit(text, unit, &COUNT));
    };
    decimal.times(10u64.pow(power), text, &COUNT)
}

/// Nanoseconds from `30s`, `1m30s`, `250ms`, `500us` or `0`.
///
/// # Errors
/// When the text is no duration, has no unit, or is no whole number of nanoseconds.
pub fn parse_duration(text: &str) -> Result<u64, UnitError> {
    let mut rest = text.trim();
    let mut total: u64 = 0;
    let mut last_unit = u64::MAX;
    loop {
        let (decimal, after) = number(rest, text, &DURATION)?;
        let after = after.trim_start();
        let end = after
            .find(|c: char| !(c.is_alphabetic() || c == 'µ'))
            .unwrap_or(after.len());
        let (unit, following) = after.split_at(end);
        let unit_ns: u64 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" | "min" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "d" => 86_400_000_000_000,
            "" if decimal.digits == 0 && following.is_empty() => 1,
            "" if following.is_empty() => {
                return Err(UnitError::NoUnit {
                    text: shortened(text),
                    unit: "s",
                    units: DURATION.units,
                });
            }
            "" => return Err(not_a(text, &DURATION)),
            _ => return Err(unknown_unit(text, unit, &DURATION)),
        };
        // `1s30m` is more likely a slip than a duration.
        if unit_ns >= last_unit {
            return Err(not_a(text, &DURATION));
        }
        last_unit = unit_ns;
        total = total
            .checked_add(decimal.times(unit_ns, text, &DURATION)?)
            .ok_or_else(|| too_large(text, &DURATION))?;
        rest = following.trim_start();
        if rest.is_empty() {
            return Ok(total);
        }
    }
}

/// Operations per second from `20k`, `20k/s` or `0.5/s`.
///
/// # Errors
/// When the text is no rate.
pub fn parse_rate(text: &str) -> Result<f64, UnitError> {
    let without = text.trim();
    let without = without.strip_suffix("/s").unwrap_or(without);
    let (decimal, unit) = number_and_unit(without, &RATE).map_err(|error| error.about(text))?;
    let Some(power) = thousands(unit) else {
        return Err(unknown_unit(text, unit, &RATE));
    };
    decimal.as_float(power as i32, text, &RATE)
}

/// A number from `0.05` or `5%`.
///
/// # Errors
/// When the text is neither.
pub fn parse_share(text: &str) -> Result<f64, UnitError> {
    let (decimal, unit) = number_and_unit(text, &SHARE)?;
    match unit {
        "" => decimal.as_float(0, text, &SHARE),
        "%" => decimal.as_float(-2, text, &SHARE),
        _ => Err(unknown_unit(text, unit, &SHARE)),
    }
}

/// Writes bytes so that [`parse_size`] reads the same number: `256MiB`, `1.5GB`, `1234567B`.
///
/// # Errors
/// Those of `out`.
pub fn write_size(out: &mut impl fmt::Write, bytes: u64) -> fmt::Result {
    const UNITS: [(u64, &str); 8] = [
        (1 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1 << 20, "MiB"),
        (1 << 10, "KiB"),
        (1_000_000_000_000, "TB"),
        (1_000_000_000, "GB"),
        (1_000_000, "MB"),
        (1_000, "kB"),
    ];
    let mut shortest = format!("{bytes}B");
    for (unit_bytes, unit) in UNITS {
        if let Some(number) = with_three_decimals(bytes, unit_bytes)
            && number.len() + unit.len() < shortest.len()
        {
            shortest = format!("{number}{unit}");
        }
    }
    out.write_str(&shortest)
}

/// Writes a whole number so that [`parse_count`] reads the same: `6M`, `100k`, `12345`.
///
/// # Errors
/// Those of `out`.
pub fn write_count(out: &mut impl fmt::Write, count: u64) -> fmt::Result {
    let mut shortest = count.to_string();
    for (unit_count, unit) in [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")] {
        if let Some(number) = with_three_decimals(count, unit_count)
            && number.len() + unit.len() < shortest.len()
        {
            shortest = format!("{number}{unit}");
        }
    }
    out.write_str(&shortest)
}

/// Writes nanoseconds so that [`parse_duration`] reads the same: `30s`, `1m30s`, `2.5ms`.
///
/// # Errors
/// Those of `out`.
pub fn write_duration(out: &mut impl fmt::Write, nanos: u64) -> fmt::Result {
    const SECOND: u64 = 1_000_000_000;
    if nanos == 0 {
        return out.write_str("0s");
    }
    let mut rest = nanos;
    for (unit_ns, unit) in [
        (86_400 * SECOND, "d"),
        (3_600 * SECOND, "h"),
        (60 * SECOND, "m"),
    ] {
        if rest >= unit_ns {
            write!(out, "{}{unit}", rest / unit_ns)?;
            rest %= unit_ns;
        }
    }
    let whole = rest < nanos;
    for (unit_ns, unit) in [(SECOND, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")] {
        // Behind minutes the rest is written in seconds whatever its size, so that there is only one more part.
        if rest > 0 && (rest >= unit_ns || whole) {
            write!(
                out,
                "{}{unit}",
                with_decimals(rest, unit_ns, 9).expect("nine decimals hold every nanosecond")
            )?;
            rest = 0;
        }
    }
    Ok(())
}

/// Writes operations per second so that [`parse_rate`] reads the same: `20k/s`, `0.5/s`.
///
/// # Errors
/// Those of `out`.
pub fn write_rate(out: &mut impl fmt::Write, per_second: f64) -> fmt::Result {
    let mut shortest = float_text(per_second, 0);
    for (power, unit) in [(9, "G"), (6, "M"), (3, "k")] {
        let number = float_text(per_second, -power);
        if per_second >= 10f64.powi(power) && number.len() + unit.len() < shortest.len() {
            shortest = format!("{number}{unit}");
        }
    }
    write!(out, "{shortest}/s")
}

/// Writes a share so that [`parse_share`] reads the same: `5%`.
///
/// # Errors
/// Those of `out`.
pub fn write_share(out: &mut impl fmt::Write, share: f64) -> fmt::Result {
    write!(out, "{}%", float_text(share, 2))
}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident($type:ty) = $write:ident;)*) => {
        $($(#[$doc])* #[must_use] pub fn $name(value: $type) -> String {
            let mut text = String::new();
            $write(&mut text, value).expect("writing into a String does not fail");
            text
        })*
    };
}

texts! {
    /// Bytes as text, see [`write_size`].
    size(u64) = write_size;
    /// A whole number as text, see [`write_count`].
    count(u64) = write_count;
    /// Nanoseconds as text, see [`write_duration`].
    duration(u64) = write_duration;
    /// Operations per second as text, see [`write_rate`].
    rate(f64) = write_rate;
    /// A share as text, see [`write_share`].
    share(f64) = write_share;
}

/// An exact decimal number, not negative: `digits × 10^exponent`.
#[derive(Clone, Copy)]
struct Decimal {
    digits: u128,
    exponent: i32,
}

impl Decimal {
    /// Times `factor`, when that is whole and fits.
    fn times(self, factor: u64, text: &str, family: &Family) -> Result<u64, UnitError> {
        let product = self
            .digits
            .checked_mul(u128::from(factor))
            .ok_or_else(|| too_large(text, family))?;
        let ten = 10u128.checked_pow(self.exponent.unsigned_abs());
        if product == 0 {
            return Ok(0);
        }
        let value = if self.exponent >= 0 {
            ten.and_then(|ten| product.checked_mul(ten))
                .ok_or_else(|| too_large(text, family))?
        } else {
            match ten {
                Some(ten) if product % ten == 0 => product / ten,
                _ => {
                    return Err(UnitError::NotWhole {
                        text: shortened(text),
                        unit: family.whole,
                    });
                }
            }
        };
        u64::try_from(value).map_err(|_| too_large(text, family))
    }

    /// Times a power of ten, rounded once.
    fn as_float(self, power: i32, text: &str, family: &Family) -> Result<f64, UnitError> {
        let value: f64 = format!("{}e{}", self.digits, self.exponent + power)
            .parse()
            .expect("digits, e and an exponent are a float");
        if value.is_finite() {
            Ok(value)
        } else {
            Err(too_large(text, family))
        }
    }
}

/// A number with all that follows it as its unit.
fn number_and_unit<'t>(text: &'t str, family: &Family) -> Result<(Decimal, &'t str), UnitError> {
    let (decimal, unit) = number(text.trim(), text, family)?;
    Ok((decimal, unit.trim()))
}

/// The number that `rest` begins with, and what follows it. `text` is the whole, for the message.
fn number<'t>(rest: &'t str, text: &str, family: &Family) -> Result<(Decimal, &'t str), UnitError> {
    if let Some(positive) = rest.strip_prefix('-') {
        return Err(if positive.starts_with(|c: char| c.is_ascii_digit()) {
            UnitError::Negative {
                quantity: family.quantity,
                text: shortened(text),
            }
        } else {
            not_a(text, family)
        });
    }
    let mut decimal = Decimal {
        digits: 0,
        exponent: 0,
    };
    let (mut seen_digit, mut seen_point) = (false, false);
    let mut end = 0;
    for (at, c) in rest.char_indices() {
        match c {
            '0'..='9' => {
                seen_digit = true;
                decimal.digits = decimal
                    .digits
                    .checked_mul(10)
                    .and_then(|digits| digits.checked_add(u128::from(c as u8 - b'0')))
                    .ok_or_else(|| too_large(text, family))?;
                decimal.exponent -= i32::from(seen_point);
            }
            '_' if seen_digit => {}
            '.' if !seen_point => seen_point = true,
            _ => break,
        }
        end = at + 1;
    }
    let (written, mut after) = rest.split_at(end);
    if !seen_digit || written.ends_with(['.', '_']) {
        return Err(not_a(text, family));
    }
    // `1e6`: an exponent is a letter e with one or two digits behind it.
    if let Some(exponent) = after.strip_prefix(['e', 'E']) {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let width = unsigned.bytes().take_while(u8::is_ascii_digit).count();
        if width == 0 || width > 2 {
            return Err(not_a(text, family));
        }
        let power: i32 = unsigned[..width]
            .parse()
            .expect("one or two digits are a number");
        decimal.exponent += if exponent.starts_with('-') {
            -power
        } else {
            power
        };
        after = &unsigned[width..];
    }
    Ok((decimal, after))
}

/// The power of ten of `k`, `M` and `G`.
fn thousands(unit: &str) -> Option<u32> {
    match unit {
        "" => Some(0),
        "k" | "K" => Some(3),
        "M" => Some(6),
        "G" => Some(9),
        _ => None,
    }
}

/// `value / unit` as an exact decimal of at most three places, if it is one and at least 1.
fn with_three_decimals(value: u64, unit: u64) -> Option<String> {
    if value < unit {
        None
    } else {
        with_decimals(value, unit, 3)
    }
}

/// `value / unit` as an exact decimal of at most `places`, if it is one.
fn with_decimals(value: u64, unit: u64, places: u32) -> Option<String> {
    let mut text = (value / unit).to_string();
    let mut rest = value % unit;
    if rest == 0 {
        return Some(text);
    }
    text.push('.');
    for _ in 0..places {
        let tenfold = u128::from(rest) * 10;
        text.push(char::from(b'0' + (tenfold / u128::from(unit)) as u8));
        rest = (tenfold % u128::from(unit)) as u64;
        if rest == 0 {
            return Some(text);
        }
    }
    None
}

/// The shortest decimal text of `value × 10^power` that reads back as `value` when the power is taken off again.
fn float_text(value: f64, power: i32) -> String {
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().expect("formatted by the standard library");
    let negative = mantissa.starts_with('-');
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    // Place of the point, counted from the left of the digits.
    let point = exponent + power + 1;
    let text = if digits == "0" {
        "0".to_owned()
    } else if point <= 0 {
        format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize))
    } else if point as usize >= digits.len() {
        format!("{digits}{}", "0".repeat(point as usize - digits.len()))
    } else {
        format!(
            "{}.{}",
            &digits[..point as usize],
            &digits[point as usize..]
        )
    };
    if negative { format!("-{text}") } else { text }
}

/// A text for a message: at most 40 characters, nothing that a terminal would obey.
pub(crate) fn shortened(text: &str) -> String {
    let text = text.trim();
    let mut short: String = text
        .chars()
        .take(40)
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    short
}

fn not_a(text: &str, family: &Family) -> UnitError {
    UnitError::NotA {
        quantity: family.quantity,
        text: shortened(text),
        example: family.example,
    }
}

fn too_large(text: &str, family: &Family) -> UnitError {
    UnitError::TooLarge {
        quantity: family.quantity,
        text: shortened(text),
    }
}

fn unknown_unit(text: &str, unit: &str, family: &Family) -> UnitError {
    UnitError::UnknownUnit {
        text: shortened(text),
        unit: shortened(unit),
        units: family.units,
    }
}

impl UnitError {
    /// The same, about the whole text where a part was read.
    fn about(mut self, whole: &str) -> Self {
        match &mut self {
            Self::NotA { text, .. }
            | Self::NoUnit { text, .. }
            | Self::UnknownUnit { text, .. }
            | Self::Ambiguous { text, .. }
            | Self::NotWhole { text, .. }
            | Self::Negative { text, .. }
            | Self::TooLarge { text, .. } => *text = shortened(whole),
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_exact() {
        for (text, bytes) in [
            ("256MiB", 256 * 1024 * 1024),
            ("1.5GB", 1_500_000_000),
            ("1.5 GiB", 1_610_612_736),
            ("4096", 4096),
            ("4096B", 4096),
            ("1kB", 1_000),
            ("1KiB", 1_024),
            ("0.5KiB", 512),
            ("0", 0),
            ("16TiB", 16 << 40),
            ("1_000kB", 1_000_000),
            ("18446744073709551615B", u64::MAX),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_says_why() {
        for (text, message) in [
            ("512M", "`512M` can mean two things: write 512MB or 512MiB"),
            ("12 apples", "`12 apples` has the unknown unit `apples`"),
            ("big", "`big` is not a size: write for example 256MiB"),
            ("-1MB", "`-1MB` is negative"),
            ("0.3B", "`0.3B` is not a whole number of bytes"),
            ("99999999TB", "`99999999TB` is too large for a size"),
            ("", "`` is not a size"),
            ("1.", "`1.` is not a size"),
            ("1.2.3MB", "unknown unit `.3MB`"),
        ] {
            let error = parse_size(text).expect_err(text).to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn counts_are_exact() {
        for (text, count) in [
            ("6M", 6_000_000),
            ("100k", 100_000),
            ("1_000", 1_000),
            ("2.5k", 2_500),
            ("1e6", 1_000_000),
            ("0", 0),
        ] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        for text in ["1.5", "6 M B", "k", "1e999", "-3", "1_"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_exact() {
        for (text, nanos) in [
            ("30s", 30_000_000_000),
            ("1m30s", 90_000_000_000),
            ("1h", 3_600_000_000_000),
            ("1d", 86_400_000_000_000),
            ("250ms", 250_000_000),
            ("500us", 500_000),
            ("500µs", 500_000),
            ("1.5ms", 1_500_000),
            ("1 m 30 s", 90_000_000_000),
            ("7ns", 7),
            ("0", 0),
            ("0s", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(nanos), "{text}");
        }
        for (text, message) in [
            ("30", "`30` has no unit: write for example 30s"),
            ("30 sec", "unknown unit `sec`"),
            ("30s1m", "`30s1m` is not a duration"),
            ("1.5ns", "not a whole number of nanoseconds"),
            ("-1s", "negative"),
            ("soon", "not a duration: write for example 30s"),
        ] {
            let error = parse_duration(text).expect_err(text).to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn rates_and_shares() {
        assert_eq!(parse_rate("20k"), Ok(20_000.0));
        assert_eq!(parse_rate("1.001k/s"), Ok(1_001.0));
        assert_eq!(parse_rate("0.5/s"), Ok(0.5));
        assert!(
            parse_rate("-5k")
                .expect_err("negative")
                .to_string()
                .contains("`-5k` is negative")
        );
        assert!(parse_rate("5 per second").is_err());
        assert_eq!(parse_share("5%"), Ok(0.05));
        assert_eq!(parse_share("0.05"), Ok(0.05));
        assert_eq!(parse_share("99.9%"), Ok(0.999));
        assert!(parse_share("5 percent").is_err());
    }

    #[test]
    fn values_are_written_as_people_write_them() {
        assert_eq!(size(256 << 20), "256MiB");
        assert_eq!(size(1_500_000_000), "1.5GB");
        assert_eq!(size(1_234_567), "1234567B");
        assert_eq!(size(0), "0B");
        assert_eq!(count(100_000), "100k");
        assert_eq!(count(6_500_000), "6.5M");
        assert_eq!(count(16), "16");
        assert_eq!(duration(300_000_000), "300ms");
        assert_eq!(duration(1_500_000_000), "1.5s");
        assert_eq!(duration(3_600_000_000_000), "1h");
        assert_eq!(duration(7 * 86_400_000_000_000), "7d");
        assert_eq!(duration(3_630_500_000_000), "1h30.5s");
        assert_eq!(rate(20_000.0), "20k/s");
        assert_eq!(rate(0.5), "0.5/s");
        assert_eq!(share(0.05), "5%");
        assert_eq!(share(0.999), "99.9%");
        assert_eq!(share(0.0), "0%");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_the_same(number in any::<u64>(), small in 0u64..10_000_000) {
            for value in [number, small, small * 1024, small * 1_000, small << 20] {
                prop_assert_eq!(parse_size(&size(value)), Ok(value));
                prop_assert_eq!(parse_count(&count(value)), Ok(value));
                prop_assert_eq!(parse_duration(&duration(value)), Ok(value));
            }
        }

        #[test]
        fn written_rates_and_shares_read_the_same(value in 0f64..1e12, tiny in 0f64..1.0) {
            for value in [value, tiny, value.trunc(), (value / 1e6).trunc() * 1e6] {
                prop_assert_eq!(parse_rate(&rate(value)), Ok(value));
                prop_assert_eq!(parse_share(&share(value)), Ok(value));
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,80}", numeric in "[-+0-9._eEkMGTiBsmunhd/% ]{0,60}") {
            for text in [&text, &numeric] {
                let _ = parse_size(text);
                let _ = parse_count(text);
                let _ = parse_duration(text);
                let _ = parse_rate(text);
                let _ = parse_share(text);
            }
        }
    }
}
