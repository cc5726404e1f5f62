//! Numbers in words: as many digits as the interval bears, and changes as a person would say them.

use plimsoll_experiment::Metric;

/// From this ratio on a change reads as "4.2 times as high" instead of "320 % higher". Whoever tells a change beside a sentence of this crate does so, too.
pub const TIMES_FROM: f64 = 3.0;

/// Nanoseconds with three significant digits: `870 ns`, `12.3 µs`, `1.20 s`.
pub(crate) fn duration(nanos: f64) -> String {
    for (unit, nanos_each) in [("ns", 1.0), ("µs", 1e3), ("ms", 1e6)] {
        let value = nanos / nanos_each;
        if value < 999.5 {
            let decimals = if unit == "ns" || value >= 99.95 {
                0
            } else {
                usize::from(value < 9.995) + 1
            };
            return format!("{value:.decimals$} {unit}");
        }
    }
    format!("{} s", grouped(nanos / 1e9, 2))
}

/// Operations per second with three significant digits: `61,200 op/s`, `12.5 op/s`.
pub(crate) fn rate(per_second: f64) -> String {
    format!("{} op/s", rounded(per_second, per_second.abs() / 100.0))
}

/// Operations per second at one end of an interval whose other end is not known, with four significant digits: `20,130 op/s`.
pub(crate) fn end(per_second: f64) -> String {
    format!("{} op/s", rounded(per_second, 0.0))
}

/// Operations per second over an interval, with as many digits as its width bears: `392,000 to 408,000 op/s`.
pub(crate) fn rates(interval: (f64, f64)) -> String {
    let [lower, upper] = ends(interval);
    format!("{lower} to {upper} op/s")
}

/// Both ends in words.
fn ends(interval: (f64, f64)) -> [String; 2] {
    rounded_interval(interval).map(|(end, decimals)| grouped(end, decimals))
}

/// The ends of an interval of rates without the digits that its width does not bear, each with its decimals: a tenth of the width, or four significant
/// digits. Whoever tells an interval beside a sentence of this crate rounds by it.
#[must_use]
pub fn rounded_interval((lower, upper): (f64, f64)) -> [(f64, usize); 2] {
    let step = (upper - lower) / 10.0;
    [lower, upper].map(|end| to_step(end, step))
}

/// The same for what lies between them: `between 20,130 and 20,480 op/s`.
pub(crate) fn between(interval: (f64, f64)) -> String {
    let [lower, upper] = ends(interval);
    format!("between {lower} and {upper} op/s")
}

/// Operations per second that were asked for, without the digits below a ten-thousandth: `1,000,000 op/s`.
pub(crate) fn exact_rate(per_second: f64) -> String {
    let text = if per_second >= 1e4 {
        grouped(per_second, 0)
    } else {
        number((per_second * 1e4).round() / 1e4)
    };
    format!("{text} op/s")
}

/// A limit as it was written: `10 ms`, `1.5 s`.
pub(crate) fn limit(nanos: f64) -> String {
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
pub(crate) fn grouped(value: f64, decimals: usize) -> String {
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
pub(crate) fn number(value: f64) -> String {
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
pub(crate) fn bytes(value: f64) -> String {
    let mut value = value;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1023.5 {
            return format!("{} {unit}", number((value * 100.0).round() / 100.0));
        }
        value /= 1024.0;
    }
    format!("{} TiB", number(value))
}

/// From this share on a difference is told as a factor.
const FACTOR_FROM: f64 = 0.5;

/// A share with the decimals that make it worth reading: `61.2 %`.
pub(crate) fn percent(share: f64, decimals: usize) -> String {
    format!("{} %", grouped(share * 100.0, decimals))
}

/// A share that may be above all of it, with one decimal below: `38.8 %`, `113 %`.
pub(crate) fn spread(share: f64) -> String {
    percent(share, usize::from(share.abs() < 0.9995))
}

/// A difference that would be seen, in either direction: large ones as a factor, since nothing can fall by 504 %.
pub(crate) fn visible(share: f64, decimals: usize) -> String {
    if share >= FACTOR_FROM {
        format!("a factor of {:.1}", 1.0 + share)
    } else {
        percent(share, decimals)
    }
}

/// A confidence: `95 %`, `96.9 %`.
pub(crate) fn confidence(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// A metric as it stands in a sentence.
pub(crate) fn metric(metric: Metric) -> String {
    match metric {
        Metric::Throughput => "throughput".into(),
        Metric::ResponseMean => "mean response time".into(),
        Metric::Response { percentile } => format!("p{percentile} response time"),
        Metric::Service { percentile } => format!("p{percentile} service time"),
        Metric::CpuPerOperation => "CPU time per operation".into(),
        Metric::Errors => "share of failures".into(),
        Metric::Line => "plimsoll line".into(),
        Metric::Cost => "cost per million operations".into(),
    }
}

/// Adjectives for less and more of a metric, and for a ratio.
fn adjectives(metric: Metric) -> [&'static str; 3] {
    match metric {
        Metric::Throughput | Metric::Line | Metric::Errors => ["lower", "higher", "high"],
        Metric::Cost => ["cheaper", "dearer", "dear"],
        _ => ["shorter", "longer", "long"],
    }
}

/// From this ratio on a price reads as "2.7 times cheaper" instead of "63 % cheaper", which few take for the same.
const PRICE_TIMES_FROM: f64 = 1.5;

/// Decimals at most with which a decrease is told that leaves hardly anything.
const FINEST: usize = 9;

/// How a change reads, in one style for the estimate and its interval.
pub(crate) struct Change {
    metric: Metric,
    in_times: bool,
    /// Whether the ratio is told the other way round: cheaper by so many times.
    inverted: bool,
    decimals: usize,
}

impl Change {
    /// The style for an estimate and the interval around it; changes are shares.
    pub(crate) fn style(metric: Metric, estimate: f64, interval: Option<(f64, f64)>) -> Self {
        if metric == Metric::Cost {
            return Self::of_price(estimate, interval);
        }
        let in_times = 1.0 + estimate >= TIMES_FROM;
        // Digits beyond a tenth of the interval's width say nothing.
        let unit = if in_times { 1.0 } else { 100.0 };
        let decimals = match interval.map(|(lower, upper)| (upper - lower).abs() * unit) {
            Some(width) if width >= 10.0 => 0,
            Some(width) if width >= 1.0 || width == 0.0 => 1,
            Some(_) => 2,
            None => usize::from(estimate.abs() < 0.1 || in_times),
        };
        Self {
            metric,
            in_times,
            inverted: false,
            decimals,
        }
    }

    /// The style of a price, told in times where it is on one side for certain.
    fn of_price(estimate: f64, interval: Option<(f64, f64)>) -> Self {
        let ratio = 1.0 + estimate;
        let inverted = ratio < 1.0;
        let in_times = ratio > 0.0
            && (ratio >= PRICE_TIMES_FROM || ratio <= 1.0 / PRICE_TIMES_FROM)
            && interval.is_none_or(|(lower, upper)| {
                lower > -1.0 && (lower > 0.0 && upper > 0.0 || lower < 0.0 && upper < 0.0)
            });
        if !in_times {
            let decimals = match interval.map(|(lower, upper)| (upper - lower).abs() * 100.0) {
                Some(width) if width >= 10.0 => 0,
                Some(width) if width < 1.0 && width > 0.0 => 2,
                Some(_) => 1,
                None => usize::from(estimate.abs() < 0.1),
            };
            return Self {
                metric: Metric::Cost,
                in_times,
                inverted: false,
                decimals,
            };
        }
        let times = |change: f64| {
            if inverted {
                1.0 / (1.0 + change)
            } else {
                1.0 + change
            }
        };
        let width = interval.map(|(lower, upper)| (times(upper) - times(lower)).abs());
        Self {
            metric: Metric::Cost,
            in_times,
            inverted,
            decimals: match width {
                Some(width) if width >= 10.0 => 0,
                Some(width) if width < 0.1 => 2,
                _ => 1,
            },
        }
    }

    /// A ratio as it is told.
    fn times(&self, change: f64) -> f64 {
        if self.inverted {
            1.0 / (1.0 + change)
        } else {
            1.0 + change
        }
    }

    /// `61.2 % lower`, `4.2 times as high`.
    pub(crate) fn estimate(&self, change: f64) -> String {
        if self.in_times && self.metric == Metric::Cost {
            let [less, more, _] = adjectives(self.metric);
            let side = if self.inverted { less } else { more };
            let times = grouped(self.times(change), self.decimals);
            return format!("{times} times {side}");
        }
        if self.in_times {
            let [_, _, ratio] = adjectives(self.metric);
            return format!("{} times as {ratio}", grouped(1.0 + change, self.decimals));
        }
        self.sided(change)
    }

    /// `58.0 % to 63.9 % lower`, `2.1 % lower to 3.0 % higher`, `4.0 to 4.4 times`.
    /// Where values are only bounds, an end may be open: `at least 20 % higher`.
    pub(crate) fn interval(&self, (lower, upper): (f64, f64)) -> String {
        match (lower <= -1.0, upper == f64::INFINITY) {
            (false, false) => {}
            (true, true) => return "open on both sides".into(),
            (false, true) if lower > 0.0 => return format!("at least {}", self.estimate(lower)),
            (true, false) if upper < 0.0 => return format!("at least {}", self.sided(upper)),
            (false, true) => return format!("{} or anything above", self.sided(lower)),
            (true, false) => return format!("{} or anything below", self.sided(upper)),
        }
        if self.in_times {
            let (near, far) = (self.times(lower), self.times(upper));
            let (lower, upper) = (
                grouped(near.min(far), self.decimals),
                grouped(near.max(far), self.decimals),
            );
            return format!("{lower} to {upper} times");
        }
        if lower == upper {
            return format!("exactly {}", self.sided(lower));
        }
        if lower < 0.0 && upper > 0.0 {
            return format!("{} to {}", self.sided(lower), self.sided(upper));
        }
        let (near, far) = if upper <= 0.0 {
            (upper, lower)
        } else {
            (lower, upper)
        };
        format!("{} to {}", self.percent(near), self.sided(far))
    }

    /// A change without its side. What is less by nearly everything is not told as if nothing were left.
    fn percent(&self, change: f64) -> String {
        let mut decimals = self.decimals;
        while change < 0.0
            && change > -1.0
            && decimals < FINEST
            && format!("{:.decimals$}", change * -100.0).starts_with("100")
        {
            decimals += 1;
        }
        percent(change.abs(), decimals)
    }

    fn sided(&self, change: f64) -> String {
        let [less, more, _] = adjectives(self.metric);
        let side = if change < 0.0 { less } else { more };
        format!("{} {side}", self.percent(change))
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(items: &[String]) -> String {
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
    fn changes_read_as_people_say_them() {
        let rows = [
            (
                -0.612,
                (-0.639, -0.580),
                "61.2 % lower",
                "58.0 % to 63.9 % lower",
            ),
            (
                0.005,
                (-0.021, 0.030),
                "0.5 % higher",
                "2.1 % lower to 3.0 % higher",
            ),
            (3.2, (3.0, 3.4), "4.20 times as high", "4.00 to 4.40 times"),
            (0.30, (0.12, 0.55), "30 % higher", "12 % to 55 % higher"),
            (0.0, (0.0, 0.0), "0.0 % higher", "exactly 0.0 % higher"),
            // What is left is little, and not nothing.
            (
                -0.9998,
                (-0.999_996, -0.7),
                "99.98 % lower",
                "70 % to 99.9996 % lower",
            ),
        ];
        for (estimate, interval, first, second) in rows {
            let style = Change::style(Metric::Throughput, estimate, Some(interval));
            assert_eq!(style.estimate(estimate), first);
            assert_eq!(style.interval(interval), second);
        }
        let prices = [
            (
                -0.63,
                (-0.66, -0.58),
                "2.7 times cheaper",
                "2.4 to 2.9 times",
            ),
            (1.7, (1.4, 2.0), "2.7 times dearer", "2.4 to 3.0 times"),
            (
                -0.12,
                (-0.15, -0.09),
                "12.0 % cheaper",
                "9.0 % to 15.0 % cheaper",
            ),
            (
                0.6,
                (-0.1, 1.2),
                "60 % dearer",
                "10 % cheaper to 120 % dearer",
            ),
        ];
        for (estimate, interval, first, second) in prices {
            let style = Change::style(Metric::Cost, estimate, Some(interval));
            assert_eq!(style.estimate(estimate), first);
            assert_eq!(style.interval(interval), second);
        }
        let slower = Change::style(Metric::Response { percentile: 99.0 }, 0.5, None);
        assert_eq!(slower.estimate(0.5), "50 % longer");
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
}
