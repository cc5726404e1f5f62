//! Numbers for people: sensible digits, units, and the spaces of the medium.

use crate::quantities::words::{FACTOR_FROM, FINEST, TIMES_FROM};

/// How numbers are spelled in one medium.
///
/// Values that are not finite become a dash or the sign for infinity: a report says that it has no number rather than invent one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Between groups of three digits.
    group: &'static str,
    /// Between a number and its unit.
    gap: &'static str,
    minus: &'static str,
    nothing: &'static str,
    micro: &'static str,
    infinity: &'static str,
    /// Before a share that holds both ways.
    either: &'static str,
}

/// On the page: narrow no-break spaces, a real minus.
pub const PAGE: Numbers = Numbers {
    group: "\u{202f}",
    gap: "\u{202f}",
    minus: "\u{2212}",
    nothing: "–",
    micro: "µs",
    infinity: "∞",
    either: "±",
};
/// In a terminal: commas and ordinary spaces.
pub const TERMINAL: Numbers = Numbers {
    group: ",",
    gap: " ",
    minus: "-",
    nothing: "–",
    micro: "µs",
    infinity: "∞",
    either: "±",
};
/// In a terminal that knows ASCII alone.
pub const ASCII: Numbers = Numbers {
    group: ",",
    gap: " ",
    minus: "-",
    nothing: "-",
    micro: "us",
    infinity: "inf",
    either: "+/-",
};

const DIGITS: i32 = 3;

impl Numbers {
    /// What stands where there is no number.
    pub fn nothing(self) -> &'static str {
        self.nothing
    }

    /// What stands between a number and its unit.
    pub fn gap(self) -> &'static str {
        self.gap
    }

    /// A share either way, without decimals that say nothing: ±3 %, ±3.4 %.
    pub fn margin(self, share: f64) -> String {
        let percent = share * 100.0;
        let whole = (percent - percent.round()).abs() < 0.05;
        let text = if percent.is_finite() {
            self.fixed(percent, usize::from(!whole))
        } else {
            self.significant(percent, DIGITS)
        };
        format!("{}{text}{}%", self.either, self.gap)
    }

    /// `value` with so many digits that count: 1.20, 48.1, 203,000.
    pub fn significant(self, value: f64, digits: i32) -> String {
        if value.is_nan() {
            return self.nothing.into();
        }
        if value.is_infinite() {
            return format!("{}{}", if value < 0.0 { self.minus } else { "" }, self.infinity);
        }
        if value == 0.0 {
            return "0".into();
        }
        if !(1e-6..1e15).contains(&value.abs()) {
            return format!("{value:.2e}").replace('-', self.minus);
        }
        let rounded = round_significant(value, digits);
        let decimals = (digits - 1 - exponent(rounded)).max(0);
        self.fixed(rounded, usize::try_from(decimals).unwrap_or(0))
    }

    /// `value` with this many decimals.
    pub fn fixed(self, value: f64, decimals: usize) -> String {
        if !value.is_finite() {
            return self.significant(value, DIGITS);
        }
        let text = format!("{:.decimals$}", value.abs());
        let (whole, fraction) = match text.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (text.as_str(), None),
        };
        let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        let mut out = String::from(if value < 0.0 && !is_zero { self.minus } else { "" });
        out.push_str(&self.grouped(whole));
        if let Some(fraction) = fraction {
            out.push('.');
            out.push_str(fraction);
        }
        out
    }

    /// A count with separators, such as 1,234,567.
    pub fn count(self, value: u64) -> String {
        self.grouped(&value.to_string())
    }

    fn grouped(self, digits: &str) -> String {
        let mut out = String::with_capacity(digits.len() * 2);
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                out.push_str(self.group);
            }
            out.push(digit);
        }
        out
    }

    /// Operations per second to four digits, without the unit and without zeros that look like thousands: 203,500, 8.5.
    pub fn rate(self, per_second: f64) -> String {
        let text = self.significant(per_second, 4);
        match text.split_once('.') {
            Some((_, fraction)) if fraction.bytes().all(|digit| digit.is_ascii_digit()) => {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            _ => text,
        }
    }

    /// Three digits and a letter: 203k, 1.25M.
    pub fn compact(self, value: f64) -> String {
        if !value.is_finite() || value.abs() >= 1e15 {
            return self.significant(value, DIGITS);
        }
        let rounded = round_significant(value, DIGITS);
        let (divisor, letter) = match rounded.abs() {
            size if size >= 1e12 => (1e12, "T"),
            size if size >= 1e9 => (1e9, "G"),
            size if size >= 1e6 => (1e6, "M"),
            size if size >= 1e3 => (1e3, "k"),
            _ => (1.0, ""),
        };
        format!("{}{letter}", self.significant(rounded / divisor, DIGITS))
    }

    /// A span in nanoseconds with its unit: 48.1 µs.
    pub fn latency(self, nanos: f64) -> String {
        self.latency_with(nanos, self.gap)
    }

    /// A span in nanoseconds with its unit right behind it: 48.1µs.
    pub fn latency_tight(self, nanos: f64) -> String {
        self.latency_with(nanos, "")
    }

    fn latency_with(self, nanos: f64, gap: &str) -> String {
        if !nanos.is_finite() {
            return self.significant(nanos, DIGITS);
        }
        let unit = LatencyUnit::of(nanos);
        format!("{}{gap}{}", self.significant(nanos / unit.nanos(), DIGITS), self.unit(unit))
    }

    /// The name of a unit.
    pub fn unit(self, unit: LatencyUnit) -> &'static str {
        match unit {
            LatencyUnit::Nanos => "ns",
            LatencyUnit::Micros => self.micro,
            LatencyUnit::Millis => "ms",
            LatencyUnit::Seconds => "s",
        }
    }

    /// A share as percent without a sign of its own: 3.1 %.
    pub fn percent(self, share: f64) -> String {
        if !share.is_finite() {
            return self.significant(share, DIGITS);
        }
        let percent = share * 100.0;
        let decimals = match percent.abs() {
            // Less than one in a thousand million is a rounding of the machine.
            size if size < 1e-7 => 0,
            size if size >= 99.95 => 0,
            size if size >= 0.0995 => 1,
            _ => return format!("{}{}%", self.significant(percent, 1), self.gap),
        };
        format!("{}{}%", self.fixed(percent, decimals), self.gap)
    }

    /// A difference that would be seen, in either direction: large ones as a factor, since nothing can fall by 504 %.
    pub fn visible(self, share: f64) -> String {
        if share >= FACTOR_FROM {
            format!("a factor of {}", self.significant(1.0 + share, 2))
        } else {
            self.percent(share)
        }
    }

    /// A difference as percent, always with its sign: +3.1 %. From three times as much on as a ratio: 507 times. What leaves hardly anything does not round to
    /// nothing left: -99.96 %.
    pub fn difference(self, share: f64) -> String {
        if share.is_finite() && 1.0 + share >= TIMES_FROM {
            return format!("{}{}times", self.significant(1.0 + share, DIGITS), self.gap);
        }
        self.in_percent(share)
    }

    fn in_percent(self, share: f64) -> String {
        if !share.is_finite() {
            return self.significant(share, DIGITS);
        }
        let percent = share * 100.0;
        let mut decimals = if percent.abs() >= 99.95 { 0 } else { 1 };
        while share > -1.0
            && decimals < FINEST
            && format!("{percent:.decimals$}").starts_with("-100")
        {
            decimals += 1;
        }
        let text = self.fixed(percent, decimals);
        let shows_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        let sign = if percent > 0.0 && !shows_zero { "+" } else { "" };
        format!("{sign}{text}{}%", self.gap)
    }

    /// The interval around a difference, printed as that is: `+1.6 % to +16.9 %`, `10.4 to 14.2 times`.
    pub fn differences(self, estimate: Option<f64>, (low, high): (f64, f64)) -> String {
        if estimate.is_some_and(|share| 1.0 + share >= TIMES_FROM) {
            let [low, high] = [low, high].map(|share| self.significant(1.0 + share, DIGITS));
            return format!("{low} to {high}{}times", self.gap);
        }
        let [low, high] = [low, high].map(|share| self.in_percent(share));
        format!("{low} to {high}")
    }

    /// A whole number as it is, another to three digits: the settings of a load.
    pub fn compact_count(self, value: f64) -> String {
        if value.fract() == 0.0 && value.abs() < 1e15 {
            self.fixed(value, 0)
        } else {
            self.significant(value, DIGITS)
        }
    }

    /// Bytes in binary units: 256 MiB.
    pub fn bytes(self, bytes: u64) -> String {
        const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
        let mut unit = 0;
        let mut size = bytes as f64;
        while size >= 1024.0 && unit + 1 < UNITS.len() {
            size /= 1024.0;
            unit += 1;
        }
        let number =
            if size.fract() == 0.0 { self.fixed(size, 0) } else { self.significant(size, DIGITS) };
        format!("{number}{}{}", self.gap, UNITS[unit])
    }

    /// The same of a number that may have a fraction.
    pub fn bytes_of(self, bytes: f64) -> String {
        if !bytes.is_finite() || bytes < 0.0 {
            return self.nothing.into();
        }
        self.bytes(bytes.round() as u64)
    }

    /// A whole number with a unit: 7 ms.
    pub fn with_unit(self, value: u64, unit: &str) -> String {
        format!("{}{}{unit}", self.count(value), self.gap)
    }

    /// The shortest spelling that gives the number back: 0.07, 0.2016.
    pub fn shortest(self, value: f64) -> String {
        if !value.is_finite() || !(1e-6..1e15).contains(&value.abs()) {
            return self.significant(value, DIGITS);
        }
        let text = format!("{}", value.abs());
        let decimals = text.split_once('.').map_or(0, |(_, digits)| digits.len());
        self.fixed(value, decimals)
    }

    /// A span for planning: 45 s, 2 min 10 s, 1 h 5 min.
    pub fn span(self, seconds: f64) -> String {
        let gap = self.gap;
        if !seconds.is_finite() || seconds < 0.0 {
            return self.nothing.into();
        }
        if seconds < 10.0 && seconds.fract() > 0.05 {
            return format!("{}{gap}s", self.fixed(seconds, 1));
        }
        let whole = seconds.round() as u64;
        match whole {
            0..60 => format!("{whole}{gap}s"),
            60..3600 if whole.is_multiple_of(60) => format!("{}{gap}min", whole / 60),
            60..3600 => format!("{}{gap}min {}{gap}s", whole / 60, whole % 60),
            _ => format!("{}{gap}h {}{gap}min", self.count(whole / 3600), whole % 3600 / 60),
        }
    }

    /// A span as on a stopwatch, where it must be short: 2:10, 1:05:00.
    pub fn clock(self, seconds: f64) -> String {
        if !seconds.is_finite() || seconds < 0.0 {
            return self.nothing.into();
        }
        let whole = seconds.round() as u64;
        let (hours, minutes, seconds) = (whole / 3600, whole % 3600 / 60, whole % 60);
        if hours > 0 {
            format!("{hours}:{minutes:02}:{seconds:02}")
        } else {
            format!("{minutes}:{seconds:02}")
        }
    }
}

/// Units in which spans of time are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyUnit {
    /// Nanoseconds, written as `ns` behind the number.
    Nanos,
    /// Microseconds, written as `µs` behind the number.
    Micros,
    /// Milliseconds, written as `ms` behind the number.
    Millis,
    /// Seconds, written as `s` behind the number.
    Seconds,
}

impl LatencyUnit {
    /// The unit in which `nanos` has one to three digits before the point.
    pub fn of(nanos: f64) -> Self {
        match round_significant(nanos, DIGITS).abs() {
            size if size >= 1e9 => Self::Seconds,
            size if size >= 1e6 => Self::Millis,
            size if size >= 1e3 => Self::Micros,
            _ => Self::Nanos,
        }
    }

    /// Nanoseconds in one of it.
    pub fn nanos(self) -> f64 {
        match self {
            Self::Nanos => 1.0,
            Self::Micros => 1e3,
            Self::Millis => 1e6,
            Self::Seconds => 1e9,
        }
    }
}

fn exponent(value: f64) -> i32 {
    if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 }
}

/// The nearest number of three significant digits; below 1,000 the nearest whole one.
pub fn three_digits(number: f64) -> f64 {
    let step = 10f64.powi((number.max(1.0).log10().floor() as i32 - 2).max(0));
    (number / step).round() * step
}

/// `value` with this many significant digits.
pub fn round_significant(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    // Rounding in decimal text, not by multiplying: 0.285 * 1000 is 284.99.
    let places = usize::try_from(digits - 1).unwrap_or(0);
    format!("{value:.places$e}").parse().expect("Rust reads the numbers that it writes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_count() {
        for (value, expected) in [
            (0.0, "0"),
            (203_456.0, "203,000"),
            (1.2, "1.20"),
            (9.996, "10.0"),
            (-48.123, "-48.1"),
            (0.012_34, "0.0123"),
            (999_999.0, "1,000,000"),
            (f64::NAN, "–"),
            (f64::NEG_INFINITY, "-∞"),
            (4.2e18, "4.20e18"),
        ] {
            assert_eq!(TERMINAL.significant(value, 3), expected);
        }
        assert_eq!(PAGE.significant(-203_456.0, 4), "\u{2212}203\u{202f}500");
        for (rate, expected) in
            [(8.5, "8.5"), (64.0, "64"), (1_500.0, "1,500"), (12.34, "12.34"), (4.2e18, "4.20e18")]
        {
            assert_eq!(TERMINAL.rate(rate), expected);
        }
    }

    #[test]
    fn latencies_take_the_unit_that_fits() {
        for (nanos, expected) in [
            (80.0, "80.0 ns"),
            (999.96, "1.00 µs"),
            (48_123.0, "48.1 µs"),
            (1_204_000.0, "1.20 ms"),
            (2.5e9, "2.50 s"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(TERMINAL.latency(nanos), expected);
        }
        assert_eq!(ASCII.latency_tight(48_123.0), "48.1us");
    }

    #[test]
    fn shares_and_differences() {
        assert_eq!(TERMINAL.percent(0.031), "3.1 %");
        assert_eq!(TERMINAL.percent(0.0), "0 %");
        assert_eq!(TERMINAL.percent(1.2e-16), "0 %");
        assert_eq!(TERMINAL.percent(0.000_021), "0.002 %");
        assert_eq!(TERMINAL.difference(0.382), "+38.2 %");
        assert_eq!(TERMINAL.difference(-0.0001), "0.0 %");
        assert_eq!(TERMINAL.difference(1.5), "+150 %");
        assert_eq!(TERMINAL.difference(506.21), "507 times");
        assert_eq!(TERMINAL.difference(2.5), "3.50 times");
        let interval = |estimate, ends| TERMINAL.differences(Some(estimate), ends);
        assert_eq!(interval(11.0, (9.42, 13.2)), "10.4 to 14.2 times");
        assert_eq!(interval(0.1, (0.016, 0.169)), "+1.6 % to +16.9 %");
        // The interval is written like its estimate.
        assert_eq!(interval(1.5, (1.0, 2.2)), "+100 % to +220 %");
        assert_eq!(interval(2.5, (-0.5, 4.2)), "0.500 to 5.20 times");
        assert_eq!(TERMINAL.difference(-0.999_58), "-99.96 %");
        assert_eq!(TERMINAL.difference(-0.999_999_7), "-99.99997 %");
        assert_eq!(TERMINAL.difference(-1.0), "-100 %");
        assert_eq!(PAGE.difference(-0.05), "\u{2212}5.0\u{202f}%");
    }

    #[test]
    fn margins_hold_both_ways() {
        assert_eq!(TERMINAL.margin(0.03), "±3 %");
        assert_eq!(TERMINAL.margin(0.0335), "±3.4 %");
        assert_eq!(ASCII.margin(0.005), "+/-0.5 %");
        assert_eq!(PAGE.margin(f64::NAN), "±–\u{202f}%");
    }

    #[test]
    fn other_units() {
        assert_eq!(TERMINAL.compact(203_456.0), "203k");
        assert_eq!(TERMINAL.compact(999_999.0), "1.00M");
        assert_eq!(TERMINAL.compact(12.0), "12.0");
        assert_eq!(TERMINAL.bytes(256 << 20), "256 MiB");
        assert_eq!(TERMINAL.bytes(1_500_000_000), "1.40 GiB");
        assert_eq!(TERMINAL.count(1_234_567), "1,234,567");
        assert_eq!(TERMINAL.span(130.4), "2 min 10 s");
        assert_eq!(TERMINAL.span(3_900.0), "1 h 5 min");
        assert_eq!(TERMINAL.span(1.5), "1.5 s");
        assert_eq!(TERMINAL.span(-1.0), "–");
        let found = [0.4, 130.0, 3_900.0, f64::NAN].map(|seconds| TERMINAL.clock(seconds));
        assert_eq!(found, ["0:00", "2:10", "1:05:00", "–"]);
    }
}
