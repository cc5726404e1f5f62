//! Sweeps and lists of points: what `threads` and `rates` of a load take.

use crate::Collector;
use crate::document::{Checked, Value};
use crate::keys::sweep::{rates_sweep, threads_sweep};
use crate::mistake::Mistake;
use crate::origins::{Origins, written_count};
use crate::table::*;
use plimsoll_plan::SettingValue;
use plimsoll_record::quantities::units;

/// What is written where a sweep or a list may be.
pub(crate) enum Sweep<T> {
    /// A sweep of these points.
    Points(T),
    /// A sweep with a mistake.
    Wrong,
    List,
}

/// More points of one sweep are refused, so there is no use in making them.
const ENOUGH: usize = 10_000;

/// Numbers of sessions, rounded, each once: all that a run may come to.
pub(crate) fn sweep_of_threads(
    path: &str,
    checked: &Checked,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Sweep<Vec<u64>> {
    let (from, to, factor) = match bounds(
        path,
        [threads_sweep::from, threads_sweep::to, threads_sweep::factor],
        checked,
        origins,
    ) {
        Sweep::Points(bounds) => bounds,
        Sweep::Wrong => return Sweep::Wrong,
        Sweep::List => return Sweep::List,
    };
    if from >= to {
        let (low, high) = (written_count(from as u64), written_count(to as u64));
        problems.add(path, Some(checked.place), Mistake::LowNotBelowHigh { low, high });
        return Sweep::Wrong;
    }
    let mut points: Vec<u64> = geometric(from, to, factor)
        .map(|value| value.round() as u64)
        .filter(|value| *value <= to as u64)
        .collect();
    points.dedup();
    Sweep::Points(points)
}

/// Rates of six digits, each once: all that a run may come to.
pub(crate) fn sweep_of_rates(
    path: &str,
    checked: &Checked,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Sweep<Vec<f64>> {
    let (from, to, factor) = match bounds(
        path,
        [rates_sweep::from, rates_sweep::to, rates_sweep::factor],
        checked,
        origins,
    ) {
        Sweep::Points(bounds) => bounds,
        Sweep::Wrong => return Sweep::Wrong,
        Sweep::List => return Sweep::List,
    };
    if from >= to {
        let (low, high) = (units::rate(from), units::rate(to));
        problems.add(path, Some(checked.place), Mistake::LowNotBelowHigh { low, high });
        return Sweep::Wrong;
    }
    let mut points: Vec<f64> = geometric(from, to, factor).map(six_digits).collect();
    points.retain(|rate| *rate <= to);
    points.dedup();
    Sweep::Points(points)
}

fn geometric(from: f64, to: f64, factor: f64) -> impl Iterator<Item = f64> {
    (0..)
        .map(move |index| from * factor.powi(index))
        .take_while(move |value| *value <= to * (1.0 + 1e-9))
        .take(ENOUGH)
}

/// A rate that people can read: `1,012.5 op/s`, not `11,533.00390625 op/s`.
pub(crate) fn six_digits(rate: f64) -> f64 {
    let digits = 5 - rate.log10().floor() as i32;
    let unit = 10f64.powi(digits.abs());
    if digits >= 0 { (rate * unit).round() / unit } else { (rate / unit).round() * unit }
}

/// Lowest value, highest value and factor of a sweep.
fn bounds(
    path: &str,
    [from, to, factor]: [&Key; 3],
    checked: &Checked,
    origins: &mut Origins<'_>,
) -> Sweep<(f64, f64, f64)> {
    let map = match &checked.value {
        Value::Map(_) => Some(checked),
        Value::One(SettingValue::Text(word)) => {
            origins.add_file(path, word.clone(), checked.place);
            None
        }
        Value::Wrong => return Sweep::Wrong,
        _ => return Sweep::List,
    };
    let mut number = |key: &Key| match origins.settle(path, map, key)? {
        SettingValue::Number(number) => Some(number),
        value => value.whole().map(|whole| whole as f64),
    };
    match (number(from), number(to), number(factor)) {
        (Some(from), Some(to), Some(factor)) => Sweep::Points((from, to, factor)),
        _ => Sweep::Wrong,
    }
}

/// The values of a list, each once: two equal points could not be distinguished.
pub(crate) fn distinct<T>(
    path: &str,
    list: &Checked,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
    read: impl Fn(&Checked) -> Option<(T, String)>,
) -> Vec<T> {
    let (mut values, mut texts) = (Vec::new(), Vec::new());
    for item in list.items() {
        let Some((value, text)) = read(item) else {
            continue;
        };
        if texts.contains(&text) {
            problems.add(path, Some(item.place), Mistake::Repeated { value: text });
            continue;
        }
        values.push(value);
        texts.push(text);
    }
    origins.add_file(path, texts.join(", "), list.place);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_six_digits() {
        assert_eq!(six_digits(11_533.003_906_25), 11_533.0);
        assert_eq!(six_digits(1_012.5), 1_012.5);
        assert_eq!(six_digits(819_200.0), 819_200.0);
        assert_eq!(six_digits(12_345_678.0), 12_345_700.0);
        assert_eq!(six_digits(0.001), 0.001);
    }

    #[test]
    fn geometric_series_end_at_their_bound() {
        let powers: Vec<f64> = geometric(1.0, 1_024.0, 2.0).collect();
        assert_eq!((powers.len(), powers.last()), (11, Some(&1_024.0)));
        assert_eq!(geometric(1.0, 1_023.0, 2.0).count(), 10);
        // 10 to the power of a third, six times, is 100, but for rounding.
        assert_eq!(geometric(1.0, 100.0, 10f64.powf(1.0 / 3.0)).count(), 7);
    }
}
