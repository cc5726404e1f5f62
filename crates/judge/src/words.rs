//! Metrics and their changes as a person would say them.

use plimsoll_plan::Metric;
use plimsoll_record::RunRecord;
use plimsoll_record::quantities::words::{FINEST, TIMES_FROM};
pub(crate) use plimsoll_record::quantities::words::{
    between, bytes, confidence, counted, duration, end, exact_rate, grouped, limit, list, number,
    percent, rate, rates, spread, visible,
};

/// What a remark about one run is about, among the runs of its point.
pub(crate) fn run_subject(run: &RunRecord) -> String {
    format!("block {}", u64::from(run.block) + 1)
}

/// A share with as many decimals as it has: `0.1 %`.
pub(crate) fn share(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}

/// A machine as it stands in a message; without a name it is the one that the program ran on.
pub(crate) fn host(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("host {name}"),
        None => "the controller".into(),
    }
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
        Metric::Size => "size on disk".into(),
        Metric::Written => "bytes written per operation".into(),
        Metric::WriteAmplification => "write amplification".into(),
        Metric::Of { operation, .. } => {
            format!("{} of {}", self::metric(metric.of_all()), operation.name())
        }
    }
}

/// Adjectives for less and more of a metric, and for a ratio.
fn adjectives(metric: Metric) -> [&'static str; 3] {
    match metric.of_all() {
        Metric::Throughput
        | Metric::Line
        | Metric::Errors
        | Metric::Written
        | Metric::WriteAmplification => ["lower", "higher", "high"],
        Metric::Size => ["smaller", "larger", "large"],
        Metric::Cost => ["cheaper", "more expensive", "expensive"],
        _ => ["shorter", "longer", "long"],
    }
}

/// From this ratio on a price reads as "2.7 times cheaper" instead of "63 % cheaper", which few take for the same.
const PRICE_TIMES_FROM: f64 = 1.5;

/// How a change reads, in one style for the estimate and its interval.
pub(crate) struct Change {
    metric: Metric,
    in_times: bool,
    /// Whether the ratio is written the other way round: cheaper by this many times.
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
        Self { metric, in_times, inverted: false, decimals }
    }

    /// The style of a price, given in times where it is on one side for certain.
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
            return Self { metric: Metric::Cost, in_times, inverted: false, decimals };
        }
        let times = |change: f64| {
            if inverted { 1.0 / (1.0 + change) } else { 1.0 + change }
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

    fn times(&self, change: f64) -> f64 {
        if self.inverted { 1.0 / (1.0 + change) } else { 1.0 + change }
    }

    /// What follows the estimate: lower *than*, 4.2 times as high *as*.
    pub(crate) fn conjunction(&self) -> &'static str {
        if self.in_times { "as" } else { "than" }
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
            let (lower, upper) =
                (grouped(near.min(far), self.decimals), grouped(near.max(far), self.decimals));
            return format!("{lower} to {upper} times");
        }
        if lower == upper {
            return format!("exactly {}", self.sided(lower));
        }
        if lower < 0.0 && upper > 0.0 {
            return format!("{} to {}", self.sided(lower), self.sided(upper));
        }
        let (near, far) = if upper <= 0.0 { (upper, lower) } else { (lower, upper) };
        format!("{} to {}", self.percent(near), self.sided(far))
    }

    /// A change without its side. What is less by nearly everything is not written as if nothing were left.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_read_as_people_say_them() {
        let rows = [
            (-0.612, (-0.639, -0.580), "61.2 % lower", "58.0 % to 63.9 % lower"),
            (0.005, (-0.021, 0.030), "0.5 % higher", "2.1 % lower to 3.0 % higher"),
            (3.2, (3.0, 3.4), "4.20 times as high", "4.00 to 4.40 times"),
            (0.30, (0.12, 0.55), "30 % higher", "12 % to 55 % higher"),
            (0.0, (0.0, 0.0), "0.0 % higher", "exactly 0.0 % higher"),
            // What is left is little, and not nothing.
            (-0.9998, (-0.999_996, -0.7), "99.98 % lower", "70 % to 99.9996 % lower"),
        ];
        for (estimate, interval, first, second) in rows {
            let style = Change::style(Metric::Throughput, estimate, Some(interval));
            assert_eq!(style.estimate(estimate), first);
            assert_eq!(style.interval(interval), second);
        }
        let prices = [
            (-0.63, (-0.66, -0.58), "2.7 times cheaper", "2.4 to 2.9 times"),
            (1.7, (1.4, 2.0), "2.7 times more expensive", "2.4 to 3.0 times"),
            (-0.12, (-0.15, -0.09), "12.0 % cheaper", "9.0 % to 15.0 % cheaper"),
            (0.6, (-0.1, 1.2), "60 % more expensive", "10 % cheaper to 120 % more expensive"),
        ];
        for (estimate, interval, first, second) in prices {
            let style = Change::style(Metric::Cost, estimate, Some(interval));
            assert_eq!(style.estimate(estimate), first);
            assert_eq!(style.interval(interval), second);
        }
        let slower = Change::style(Metric::Response { percentile: 99.0 }, 0.5, None);
        assert_eq!(slower.estimate(0.5), "50 % longer");
    }
}
