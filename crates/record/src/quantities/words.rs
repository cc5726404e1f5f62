//! Numbers in sentences: three digits, or as many as an interval bears.

/// From this ratio on a change reads as "4.2 times as high" instead of "320 % higher". Tables beside a sentence of this crate do so, too.
pub const TIMES_FROM: f64 = 3.0;

/// Nanoseconds with three significant digits: `870 ns`, `12.3 µs`, `1.20 s`.
pub fn duration(nanos: f64) -> String {
    for (unit, nanos_each) in [("ns", 1.0), ("µs", 1e3), ("ms", 1e6)] {
        let value = nanos / nanos_each;
        if value < 999.5 {
            let decimals =
                if unit == "ns" || value >= 99.95 { 0 } else { usize::from(value < 9.995) + 1 };
            return format!("{value:.decimals$} {unit}");
        }
    }
    format!("{} s", grouped(nanos / 1e9, 2))
}

/// Operations per second with three significant digits: `61,200 op/s`, `12.5 op/s`.
pub fn rate(per_second: f64) -> String {
    format!("{} op/s", rounded(per_second, per_second.abs() / 100.0))
}

/// Operations per second at one end of an interval whose other end is not known, with four significant digits: `20,130 op/s`.
pub fn end(per_second: f64) -> String {
    format!("{} op/s", rounded(per_second, 0.0))
}

/// Operations per second over an interval, with as many digits as its width bears: `392,000 to 408,000 op/s`.
pub fn rates(interval: (f64, f64)) -> String {
    let [lower, upper] = ends(interval);
    format!("{lower} to {upper} op/s")
}

fn ends(interval: (f64, f64)) -> [String; 2] {
    rounded_interval(interval).map(|(end, decimals)| grouped(end, decimals))
}

/// The ends of an interval of rates without the digits that its width does not bear, each with its decimals: a tenth of the width, or four significant
/// digits. Intervals beside a sentence of this crate are rounded by it, too.
pub fn rounded_interval((lower, upper): (f64, f64)) -> [(f64, usize); 2] {
    let step = (upper - lower) / 10.0;
    [lower, upper].map(|end| to_step(end, step))
}

/// The same for what lies between them: `between 20,130 and 20,480 op/s`.
pub fn between(interval: (f64, f64)) -> String {
    let [lower, upper] = ends(interval);
    format!("between {lower} and {upper} op/s")
}

/// Operations per second that were requested, without the digits below a ten-thousandth: `1,000,000 op/s`.
pub fn exact_rate(per_second: f64) -> String {
    let text = if per_second >= 1e4 {
        grouped(per_second, 0)
    } else {
        number((per_second * 1e4).round() / 1e4)
    };
    format!("{text} op/s")
}

/// A limit as it was written: `10 ms`, `1.5 s`.
pub fn limit(nanos: f64) -> String {
    for (unit, nanos_each) in [("ns", 1.0), ("µs", 1e3), ("ms", 1e6)] {
        if nanos < nanos_each * 999.5 {
            return format!("{} {unit}", number(nanos / nanos_each));
        }
    }
    format!("{} s", number(nanos / 1e9))
}

/// A number without the digits below `step`.
fn rounded(value: f64, step: f64) -> String {
    let (value, decimals) = to_step(value, step);
    grouped(value, decimals)
}

/// The same, and how many decimals are left.
fn to_step(value: f64, step: f64) -> (f64, usize) {
    let finest = value.abs() * 1e-3;
    let digit = step.max(finest).log10().floor();
    if !digit.is_finite() {
        return (value, 0);
    }
    if digit >= 0.0 {
        let unit = 10_f64.powf(digit);
        return ((value / unit).round() * unit, 0);
    }
    (value, (-digit) as usize)
}

/// Digits in groups of three.
pub fn grouped(value: f64, decimals: usize) -> String {
    let plain = format!("{value:.decimals$}");
    let whole = plain.find(['.', 'i', 'N']).unwrap_or(plain.len());
    let mut text = String::with_capacity(plain.len() + 8);
    for (index, letter) in plain.char_indices() {
        let follows_digit = text.ends_with(|last: char| last.is_ascii_digit());
        if index < whole && follows_digit && (whole - index) % 3 == 0 {
            text.push(',');
        }
        text.push(letter);
    }
    text
}

/// A plain number with at least three significant digits, zeros at the end left out: `5,088`, `16.2`, `0.117`, `0.000213`, `1.5`.
pub fn number(value: f64) -> String {
    let size = value.abs();
    let decimals = match () {
        () if size >= 100.0 => 0,
        () if size >= 10.0 => 1,
        () if size >= 1.0 => 2,
        () if size >= 1e-9 => (2.0 - size.log10().floor()) as usize,
        () => 0,
    };
    let text = grouped(value, decimals);
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Bytes with three significant digits, in units of 1024: `512 B`, `16.2 KiB`, `125 MiB`.
pub fn bytes(value: f64) -> String {
    let mut value = value;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1023.5 {
            return format!("{} {unit}", number((value * 100.0).round() / 100.0));
        }
        value /= 1024.0;
    }
    format!("{} TiB", number(value))
}

/// From this share on a difference is shown as a factor.
pub const FACTOR_FROM: f64 = 0.5;

/// A share with the decimals that make it worth reading: `61.2 %`.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{} %", grouped(share * 100.0, decimals))
}

/// A share that may be above all of it, with one decimal below: `38.8 %`, `113 %`.
pub fn spread(share: f64) -> String {
    percent(share, usize::from(share.abs() < 0.9995))
}

/// A difference that would be seen, in either direction: large ones as a factor, since nothing can fall by 504 %.
pub fn visible(share: f64, decimals: usize) -> String {
    if share >= FACTOR_FROM {
        format!("a factor of {:.1}", 1.0 + share)
    } else {
        percent(share, decimals)
    }
}

/// A confidence: `95 %`, `96.9 %`.
pub fn confidence(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// Decimals at most of a decrease that leaves hardly anything.
pub const FINEST: usize = 9;

/// Bytes with three significant digits, in units of 1000: `512 B`, `16 kB`, `1.2 GB`.
pub fn decimal_bytes(bytes: f64) -> String {
    let mut value = bytes;
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 999.5 {
            let decimals = usize::from(value < 10.0 && unit != "B");
            return format!("{value:.decimals$} {unit}");
        }
        value /= 1_000.0;
    }
    let decimals = usize::from(value < 10.0);
    format!("{value:.decimals$} TB")
}

/// The count with its noun: `1 point`, `3 points`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Numbers of processors and the like: `0, 2`.
pub fn numbers(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        let rows = [
            (0.0, "0 ns"),
            (870.4, "870 ns"),
            (999.6, "1.00 µs"),
            (12_340.0, "12.3 µs"),
            (999_700.0, "1.00 ms"),
            (123_456_000.0, "123 ms"),
            (1.2e9, "1.20 s"),
            (3.6e12, "3,600.00 s"),
        ];
        for (nanos, text) in rows {
            assert_eq!(duration(nanos), text);
        }
    }

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!(rate(1_234_567.8), "1,230,000 op/s");
        assert_eq!(rate(99.44), "99.4 op/s");
        assert_eq!(rate(0.0), "0 op/s");
        assert_eq!(rates((392_079.1, 408_081.2)), "392,000 to 408,000 op/s");
        assert_eq!(rates((5.0, 5.0)), "5.000 to 5.000 op/s");
        assert_eq!(grouped(-1_234.0, 0), "-1,234");
        assert_eq!(grouped(999.0, 1), "999.0");
        assert_eq!(grouped(f64::INFINITY, 0), "inf");
        assert_eq!(grouped(f64::NAN, 0), "NaN");
    }

    #[test]
    fn plain_numbers_and_bytes_have_three_digits() {
        let rows = [
            (5_088.4, "5,088"),
            (600.0, "600"),
            (16.23, "16.2"),
            (1.512, "1.51"),
            (0.05, "0.05"),
            (4.0, "4"),
            (4.999, "5"),
            (0.117, "0.117"),
            (0.000_213_4, "0.000213"),
            (0.0, "0"),
        ];
        for (value, text) in rows {
            assert_eq!(number(value), text);
        }
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(16_600.0), "16.2 KiB");
        assert_eq!(bytes(131_072_000.0), "125 MiB");
    }

    #[test]
    fn confidences_drop_a_zero() {
        assert_eq!(confidence(0.95), "95 %");
        assert_eq!(confidence(0.96875), "96.9 %");
    }

    #[test]
    fn decimal_bytes_have_two_or_three_digits() {
        assert_eq!(decimal_bytes(12.0), "12 B");
        assert_eq!(decimal_bytes(1_234.0), "1.2 kB");
        assert_eq!(decimal_bytes(999_600.0), "1.0 MB");
        assert_eq!(decimal_bytes(25_000_000_000.0), "25 GB");
        assert_eq!(decimal_bytes(7e12), "7.0 TB");
    }
}
