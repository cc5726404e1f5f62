//! Sizes, durations, rates and shares written as text.

use std::fmt;

const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;
const TEN_MINUTES: u64 = 10 * MINUTE;

/// Writes bytes so that [`parse_size`](super::parse_size) reads the same number: `256MiB`, `1.5GB`, `1234567B`.
///
/// # Errors
/// The errors of `out`.
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

/// Writes a whole number so that [`parse_count`](super::parse_count) reads the same: `6M`, `100k`, `12345`.
///
/// # Errors
/// The errors of `out`.
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

/// Writes nanoseconds so that [`parse_duration`](super::parse_duration) reads the same: `30s`, `1m30s`, `2.5ms`.
///
/// # Errors
/// The errors of `out`.
pub fn write_duration(out: &mut impl fmt::Write, nanos: u64) -> fmt::Result {
    if nanos == 0 {
        return out.write_str("0s");
    }
    let mut rest = nanos;
    for (unit_ns, unit) in [(86_400 * SECOND, "d"), (3_600 * SECOND, "h"), (60 * SECOND, "m")] {
        if rest >= unit_ns {
            write!(out, "{}{unit}", rest / unit_ns)?;
            rest %= unit_ns;
        }
    }
    let whole = rest < nanos;
    for (unit_ns, unit) in [(SECOND, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")] {
        // After minutes the rest is written in seconds whatever its size, so that only one more part follows.
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

/// Writes operations per second so that [`parse_rate`](super::parse_rate) reads the same: `20k/s`, `0.5/s`.
///
/// # Errors
/// The errors of `out`.
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

/// Writes a share so that [`parse_share`](super::parse_share) reads the same: `5%`.
///
/// # Errors
/// The errors of `out`.
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

/// `value / unit` as an exact decimal of at most three places, if it is one and at least 1.
fn with_three_decimals(value: u64, unit: u64) -> Option<String> {
    if value < unit { None } else { with_decimals(value, unit, 3) }
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
        format!("{}.{}", &digits[..point as usize], &digits[point as usize..])
    };
    if negative { format!("-{text}") } else { text }
}

/// Nanoseconds to the whole second.
pub fn to_the_second(nanos: u64) -> String {
    duration(nearest(nanos, SECOND))
}

/// Nanoseconds that were estimated, no finer than an estimate is: whole seconds up to a minute, tens of seconds up to ten minutes, then
/// whole minutes.
pub fn about(nanos: u64) -> String {
    let step = match nanos {
        0..MINUTE => SECOND,
        MINUTE..TEN_MINUTES => 10 * SECOND,
        _ => MINUTE,
    };
    duration(nearest(nanos, step))
}

fn nearest(nanos: u64, step: u64) -> u64 {
    nanos.saturating_add(step / 2) / step * step
}
