//! Sizes, durations, rates and shares read from text.

use super::UnitError;

/// What a family of units is called and how it is written.
struct Family {
    quantity: &'static str,
    example: &'static str,
    units: &'static str,
    /// ` of` and its smallest unit in the plural.
    whole: &'static str,
}

const SIZE: Family = Family {
    quantity: "a size",
    example: "256MiB, 1.5GB or 4096B",
    units: "B, kB, MB, GB, TB (thousands) and KiB, MiB, GiB, TiB (1024s)",
    whole: " of bytes",
};
const COUNT: Family =
    Family { quantity: "a count", example: "6M, 100k or 1_000", units: "k, M and G", whole: "" };
const DURATION: Family = Family {
    quantity: "a duration",
    example: "30s, 1m30s or 250ms",
    units: "ns, us, ms, s, m, h and d",
    whole: " of nanoseconds",
};
const RATE: Family = Family {
    quantity: "a rate",
    example: "20k, 20k/s or 500/s",
    units: "k, M and G, each with or without /s",
    whole: " of operations",
};
const SHARE: Family =
    Family { quantity: "a share", example: "5% or 0.05", units: "%", whole: " of parts" };

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
        let end = after.find(|c: char| !(c.is_alphabetic() || c == 'µ')).unwrap_or(after.len());
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

/// An exact decimal number, not negative: `digits × 10^exponent`.
#[derive(Clone, Copy)]
struct Decimal {
    digits: u128,
    exponent: i32,
}

impl Decimal {
    /// Times `factor`, when that is whole and fits.
    fn times(self, factor: u64, text: &str, family: &Family) -> Result<u64, UnitError> {
        let product =
            self.digits.checked_mul(u128::from(factor)).ok_or_else(|| too_large(text, family))?;
        let ten = 10u128.checked_pow(self.exponent.unsigned_abs());
        if product == 0 {
            return Ok(0);
        }
        let value = if self.exponent >= 0 {
            ten.and_then(|ten| product.checked_mul(ten)).ok_or_else(|| too_large(text, family))?
        } else {
            match ten {
                Some(ten) if product % ten == 0 => product / ten,
                _ => {
                    return Err(UnitError::NotWhole { text: shortened(text), unit: family.whole });
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
        if value.is_finite() { Ok(value) } else { Err(too_large(text, family)) }
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
            UnitError::Negative { quantity: family.quantity, text: shortened(text) }
        } else {
            not_a(text, family)
        });
    }
    let mut decimal = Decimal { digits: 0, exponent: 0 };
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
        let power: i32 = unsigned[..width].parse().expect("one or two digits are a number");
        decimal.exponent += if exponent.starts_with('-') { -power } else { power };
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

/// A text for a message: at most 40 characters, nothing that a terminal would obey.
pub fn shortened(text: &str) -> String {
    shortened_to(text, 40)
}

/// The same with at most this many characters.
pub fn shortened_to(text: &str, most: usize) -> String {
    let text = text.trim();
    let mut short: String =
        text.chars().take(most).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().nth(most).is_some() {
        short.push('…');
    }
    short
}

fn not_a(text: &str, family: &Family) -> UnitError {
    UnitError::NotA { quantity: family.quantity, text: shortened(text), example: family.example }
}

fn too_large(text: &str, family: &Family) -> UnitError {
    UnitError::TooLarge { quantity: family.quantity, text: shortened(text) }
}

fn unknown_unit(text: &str, unit: &str, family: &Family) -> UnitError {
    UnitError::UnknownUnit { text: shortened(text), unit: shortened(unit), units: family.units }
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
