//! Scales and ticks of charts.

use plimsoll_record::LoadKind;
use plimsoll_record::quantities::numbers::{LatencyUnit, PAGE, round_significant};

/// From a value to its share of an axis, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    Linear {
        /// The value at the lower end.
        from: f64,
        /// The value at the upper end.
        to: f64,
    },
    Log {
        /// The value at the lower end, above zero.
        from: f64,
        /// The value at the upper end, above zero.
        to: f64,
    },
}

impl Scale {
    /// Where `value` lies. Values outside are taken to the nearest end.
    pub fn share(self, value: f64) -> f64 {
        let share = match self {
            Self::Linear { from, to } => (value - from) / (to - from),
            Self::Log { from, to } if value > 0.0 => (value / from).ln() / (to / from).ln(),
            Self::Log { .. } => 0.0,
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }
}

pub const LEVEL: Scale = Scale::Linear { from: 0.0, to: 1.0 };

/// A scale with its ticks and title.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub scale: Scale,
    pub ticks: Vec<(f64, String)>,
    /// What is measured, with its unit.
    pub title: String,
}

impl Axis {
    /// Operations per second from zero.
    pub fn rate(highest: f64, about: usize) -> Self {
        let (top, values) = linear_ticks(highest, about);
        let ticks = values.into_iter().map(|value| (value, axis_rate(value))).collect();
        Self {
            scale: Scale::Linear { from: 0.0, to: top },
            ticks,
            title: "operations per second".into(),
        }
    }

    /// Operations per second between two rates; the first need not be zero.
    pub fn rates_between(from: f64, to: f64, about: usize, title: &str) -> Self {
        let step = linear_ticks(to - from, about).1[1];
        let first = (from / step).ceil();
        let ticks = (0..=about * 3)
            .map(|number| (first + number as f64) * step)
            .take_while(|value| *value <= to)
            .map(|value| (value, axis_rate(value)))
            .collect();
        Self { scale: Scale::Linear { from, to }, ticks, title: title.into() }
    }

    pub fn latency_decades(lowest: f64, highest: f64, what: &str) -> Self {
        let (from, to) = (power_of_ten_below(lowest), power_of_ten_below(highest) * 10.0);
        let ticks =
            log_ticks(from, to).into_iter().map(|value| (value, axis_latency(value))).collect();
        Self { scale: Scale::Log { from, to }, ticks, title: format!("{what}, logarithmic") }
    }

    /// Nanoseconds: from zero, or logarithmic where the values span more than a factor of 40, which the title then says.
    pub fn latency(lowest: f64, highest: f64, what: &str) -> Self {
        if lowest > 0.0 && highest / lowest > 40.0 {
            return Self::latency_decades(lowest, highest, what);
        }
        let unit = LatencyUnit::of(highest);
        let (top, values) = linear_ticks(highest / unit.nanos(), 5);
        let ticks = values.into_iter().map(|value| (value * unit.nanos(), plain(value))).collect();
        let scale = Scale::Linear { from: 0.0, to: top * unit.nanos() };
        Self { scale, ticks, title: format!("{what}, {}", PAGE.unit(unit)) }
    }

    /// Shares of a whole, for low charts.
    pub fn shares(title: &str) -> Self {
        let ticks = [(0.0, "0"), (1.0, "100\u{202f}%")];
        Self {
            scale: LEVEL,
            ticks: ticks.map(|(value, label)| (value, label.to_owned())).into(),
            title: title.into(),
        }
    }

    /// Times a second, for low charts.
    pub fn low_rate(highest: f64, title: &str) -> Self {
        Self::low(highest, 1.0, axis_rate, title.into())
    }

    /// Amounts of anything, for low charts.
    pub fn low_amount(highest: f64, title: &str) -> Self {
        Self::low(highest, 1.0, plain, title.into())
    }

    pub fn low_latency(highest: f64, title: &str) -> Self {
        let unit = LatencyUnit::of(highest);
        let title = format!("{title}, {}", PAGE.unit(unit));
        Self::low(highest, unit.nanos(), plain, title)
    }

    pub fn low_bytes(highest: f64, title: &str) -> Self {
        let mut unit = (1.0, "B");
        for larger in [(1024.0, "KiB"), (1_048_576.0, "MiB"), (1_073_741_824.0, "GiB")] {
            if highest >= larger.0 {
                unit = larger;
            }
        }
        Self::low(highest, unit.0, plain, format!("{title}, {}", unit.1))
    }

    fn low(highest: f64, unit: f64, spelled: fn(f64) -> String, title: String) -> Self {
        let (top, values) = linear_ticks(highest / unit, 2);
        Self {
            scale: Scale::Linear { from: 0.0, to: top * unit },
            ticks: values.into_iter().map(|value| (value * unit, spelled(value))).collect(),
            title,
        }
    }

    /// The settings of the load: powers of two where they about double from one to the next, from zero otherwise.
    /// `room` is how many labels fit.
    pub fn load(loads: &[f64], room: usize, title: String) -> Self {
        let mut sorted: Vec<f64> =
            loads.iter().copied().filter(|load| load.is_finite() && *load > 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        let (Some(&first), Some(&last)) = (sorted.first(), sorted.last()) else {
            return Self { scale: Scale::Linear { from: 0.0, to: 1.0 }, ticks: Vec::new(), title };
        };
        let steps = sorted.len() - 1;
        // 1, 2, 3 reaches no further than counting does.
        let doubling = steps >= 2
            && (last / first).log2() >= 0.75 * steps as f64
            && last / first > sorted.len() as f64;
        let scale = if doubling {
            let margin = (last / first).powf(0.06);
            Scale::Log { from: first / margin, to: last * margin }
        } else {
            Scale::Linear { from: 0.0, to: last * 1.06 }
        };
        let apart = |a: f64, b: f64| (scale.share(a) - scale.share(b)).abs() * room as f64 >= 1.0;
        let mut values: Vec<f64> = Vec::new();
        for load in sorted.iter().rev() {
            if values.last().is_none_or(|other| apart(*load, *other)) {
                values.push(*load);
            }
        }
        values.reverse();
        if !doubling && sorted.len() > room {
            values = linear_ticks(last, room.min(8))
                .1
                .into_iter()
                .filter(|value| *value <= last)
                .collect();
        }
        let title = if doubling { format!("{title} (log scale)") } else { title };
        Self {
            scale,
            ticks: values.into_iter().map(|value| (value, axis_load(value))).collect(),
            title,
        }
    }

    /// Makes room for further values at the upper end.
    pub fn reach(&mut self, values: impl Iterator<Item = f64>) {
        let highest = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        match &mut self.scale {
            Scale::Linear { to, .. } | Scale::Log { to, .. } => *to = to.max(highest * 1.06),
        }
    }

    /// Labels at round numbers instead of those at the values themselves, where the scale is linear.
    pub fn round_ticks(&mut self, about: usize) {
        if let Scale::Linear { from, to } = self.scale {
            self.ticks = Self::rates_between(from, to, about, "").ticks;
        }
    }

    /// Seconds from zero; the last label has the unit.
    pub fn seconds(last: f64) -> Self {
        let (_, values) = linear_ticks(last, 4);
        let mut ticks: Vec<(f64, String)> = values
            .into_iter()
            .filter(|value| *value <= last)
            .map(|value| (value, plain(value)))
            .collect();
        if let Some((_, label)) = ticks.last_mut() {
            label.push_str("\u{202f}s");
        }
        let to = if last > 0.0 { last } else { 1.0 };
        Self { scale: Scale::Linear { from: 0.0, to }, ticks, title: String::new() }
    }
}

/// The number on the axis of a load: sessions of a closed loop, operations per second of an open one.
pub fn load_number(load: LoadKind) -> f64 {
    match load {
        LoadKind::Closed { sessions, .. } => f64::from(sessions),
        LoadKind::Open { rate, .. } => rate,
    }
}

/// Steps of 1, 2 or 5 from zero, about this many, up to the first at or above `highest`; with that top.
pub fn linear_ticks(highest: f64, about: usize) -> (f64, Vec<f64>) {
    if !highest.is_finite() || highest <= 0.0 {
        return (1.0, vec![0.0, 1.0]);
    }
    let rough = highest / about.max(1) as f64;
    let decade = power_of_ten_below(rough);
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * decade)
        .find(|step| *step >= rough * (1.0 - 1e-9))
        .unwrap_or(decade * 10.0);
    let steps = (highest / step - 1e-9).ceil().max(1.0) as usize;
    let ticks: Vec<f64> = (0..=steps).map(|number| number as f64 * step).collect();
    (steps as f64 * step, ticks)
}

/// 1, 2 and 5 of each decade where there are at most two, else the powers of ten, at most about eight of them.
fn log_ticks(from: f64, to: f64) -> Vec<f64> {
    let decades = (to / from).log10().round().max(1.0) as usize;
    let factors: &[f64] = if decades <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let every = decades.div_ceil(8);
    let mut ticks = Vec::new();
    for decade in (0..=decades).step_by(every) {
        for factor in factors {
            let value = from * 10f64.powi(decade as i32) * factor;
            if value <= to * (1.0 + 1e-9) {
                ticks.push(value);
            }
        }
    }
    ticks
}

fn power_of_ten_below(value: f64) -> f64 {
    10f64.powi(value.log10().floor() as i32)
}

/// The shortest exact spelling of a tick.
fn plain(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Round thousands with a letter, everything else as it is: 5k, 2.5M, 1024.
fn axis_rate(value: f64) -> String {
    for (unit, letter) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] {
        let round = (value / unit * 100.0).fract().abs() < 1e-6;
        if value >= unit && round {
            return format!("{}{letter}", plain(value / unit));
        }
    }
    plain(value)
}

/// The same of a load; one that is no whole number was found by a search, and has three digits: 497, 1.58k.
fn axis_load(load: f64) -> String {
    if load.fract() == 0.0 { axis_rate(load) } else { axis_rate(round_significant(load, 3)) }
}

fn axis_latency(nanos: f64) -> String {
    let unit = LatencyUnit::of(nanos);
    format!("{}\u{202f}{}", plain(nanos / unit.nanos()), PAGE.unit(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_steps_of_one_two_and_five() {
        assert_eq!(linear_ticks(203.0, 5), (250.0, vec![0.0, 50.0, 100.0, 150.0, 200.0, 250.0]));
        assert_eq!(linear_ticks(1.0, 5).0, 1.0);
        assert_eq!(linear_ticks(f64::NAN, 5), (1.0, vec![0.0, 1.0]));
        assert_eq!(linear_ticks(-3.0, 5).0, 1.0);
    }

    #[test]
    fn a_wide_span_of_latencies_is_drawn_in_decades_and_says_so() {
        let axis = Axis::latency(20_000.0, 3_000_000.0, "p99");
        assert_eq!(axis.scale, Scale::Log { from: 10_000.0, to: 10_000_000.0 });
        assert_eq!(axis.title, "p99, logarithmic");
        let labels: Vec<&str> = axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["10\u{202f}µs", "100\u{202f}µs", "1\u{202f}ms", "10\u{202f}ms"]);
    }

    #[test]
    fn a_narrow_span_starts_at_zero() {
        let axis = Axis::latency(100_000.0, 900_000.0, "p99");
        assert_eq!(axis.scale, Scale::Linear { from: 0.0, to: 1_000_000.0 });
        assert_eq!(axis.title, "p99, µs");
    }

    #[test]
    fn rates_between_two_ends_have_round_labels_inside_them() {
        let axis = Axis::rates_between(14_200.0, 26_500.0, 6, "op/s");
        let labels: Vec<&str> = axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["15k", "20k", "25k"]);
        assert!(Axis::rates_between(5.0, 5.0, 6, "").ticks.len() <= 19);
    }

    #[test]
    fn doubling_loads_are_evenly_spaced() {
        let axis = Axis::load(&[1.0, 2.0, 4.0, 8.0, 16.0], 12, "threads".into());
        let places: Vec<f64> =
            axis.ticks.iter().map(|(value, _)| axis.scale.share(*value)).collect();
        for pair in places.windows(3) {
            assert!(((pair[2] - pair[1]) - (pair[1] - pair[0])).abs() < 1e-9);
        }
        let rates = Axis::load(&[1_000.0, 2_000.0, 3_000.0, 4_000.0], 12, "op/s".into());
        assert!(matches!(rates.scale, Scale::Linear { from: 0.0, .. }));
        let counted = Axis::load(&[1.0, 2.0, 3.0], 12, "records".into());
        assert!(matches!(counted.scale, Scale::Linear { from: 0.0, .. }));
    }

    #[test]
    fn labels_are_short_and_exact() {
        let labels: Vec<String> =
            [0.0, 0.5, 16.0, 1_000.0, 1_024.0, 5_000.0, 2_500_000.0].map(axis_rate).into();
        assert_eq!(labels, ["0", "0.5", "16", "1k", "1024", "5k", "2.5M"]);
    }

    #[test]
    fn loads_that_a_search_found_have_three_digits() {
        let axis = Axis::load(&[496.523_986, 794.438_377, 1_578.969_139], 12, "op/s".into());
        let labels: Vec<&str> = axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["497", "794", "1.58k"]);
        assert_eq!(axis.ticks[0].0, 496.523_986);
    }

    #[test]
    fn labels_never_crowd() {
        let loads: Vec<f64> = (1..=1000).map(f64::from).collect();
        assert!(Axis::load(&loads, 10, String::new()).ticks.len() <= 11);
        assert!(Axis::load(&[], 10, String::new()).ticks.is_empty());
    }
}
