//! Numbers as laws of the file: quantiles with two significant digits, from which no single value can be read.

use crate::fields::map;
use plimsoll_record::quantities::numbers::round_significant;
use plimsoll_record::quantities::units;
use plimsoll_workload::documents::Literal;

/// Shares at which a quantile is written. The ends are 1 and 99 % of the sample.
const POINTS: [f64; 7] = [0.0, 10.0, 25.0, 50.0, 75.0, 90.0, 100.0];
/// Different whole numbers up to which each keeps its share.
const FEW: usize = 6;
/// The fewest sampled values that stand for themselves.
pub(super) const FEWEST: usize = 10;
/// The longest text that a law ends with. A document has 16 MB at most.
const LONGEST: f64 = 10e6;

/// A number with two significant digits.
pub(crate) fn rounded(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { round_significant(value, 2) }
}

pub(crate) fn number(value: f64) -> Literal {
    match value.fract() == 0.0 && value.abs() < 9e15 {
        true => Literal::Int(value as i64),
        false => Literal::Double(value),
    }
}

/// A count as files write it: `2.1M`.
pub(crate) fn count(value: u64) -> Literal {
    let text = units::count(value);
    text.parse().map_or(Literal::Text(text), Literal::Int)
}

/// A share with two significant digits of its smaller side: `2.3%`, `99.7%`.
pub(crate) fn percent(value: f64) -> String {
    let smaller = if value > 0.5 && value <= 1.0 { 1.0 - value } else { value };
    let percent = rounded(100.0 * smaller.max(0.0));
    let percent = if smaller == value { percent } else { 100.0 - percent };
    // The subtraction leaves useless digits behind.
    format!("{}%", (percent * 1e6).round() / 1e6)
}

pub(crate) fn share(value: f64) -> Literal {
    Literal::Text(percent(value))
}

/// The value that this share of sorted values does not exceed.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[(share * (sorted.len() - 1) as f64).round() as usize]
}

/// Ends between which nearly all sorted values lie, rounded.
pub(crate) fn ends(sorted: &[f64]) -> (f64, f64) {
    (rounded(quantile(sorted, 0.01)), rounded(quantile(sorted, 0.99)))
}

/// The law of lengths: whole numbers, none below `least`.
pub(crate) fn lengths(mut values: Vec<f64>, least: f64) -> Literal {
    values.iter_mut().for_each(|value| *value = value.clamp(least, LONGEST));
    table(values, true, LONGEST)
}

/// A constant, or a table of quantiles that ends at `limit`.
pub(super) fn table(mut values: Vec<f64>, whole: bool, limit: f64) -> Literal {
    values.sort_by(f64::total_cmp);
    let Some(mean) = mean(&values) else {
        return Literal::Int(0);
    };
    let (least, most) = ends(&values);
    let steps = if whole { steps(&values) } else { Vec::new() };
    let mut points: Vec<(f64, f64)> = match steps.is_empty() {
        false => steps,
        true => POINTS
            .iter()
            .map(|at| (*at, rounded(quantile(&values, at / 100.0)).clamp(least, most)))
            .collect(),
    };
    // Beyond 99 % a few long values may weigh as much as all others.
    let missing = mean - points.windows(2).map(area).sum::<f64>();
    if missing > 0.02 * mean.abs() {
        points.retain(|(at, _)| *at < 99.0);
        points.push((99.0, most));
        points.push((100.0, rounded(most + 200.0 * missing).min(limit.max(most))));
    }
    if points.iter().all(|(_, value)| *value == points[0].1) {
        return number(points[0].1);
    }
    let entries = points.into_iter().map(|(at, value)| (format!("p{at}"), number(value)));
    map("table", Literal::Map(entries.collect()))
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// What the line between two points adds to the mean.
fn area(pair: &[(f64, f64)]) -> f64 {
    (pair[1].0 - pair[0].0) / 100.0 * (pair[0].1 + pair[1].1) / 2.0
}

/// The points of a table that gives each of a few whole numbers its share; none where there are many. Straight lines between quantiles would shift small ones.
fn steps(sorted: &[f64]) -> Vec<(f64, f64)> {
    let (least, most) = ends(sorted);
    let mut runs: Vec<(f64, usize)> = Vec::new();
    for value in sorted {
        let value = rounded(*value).clamp(least, most);
        match runs.last_mut() {
            Some((last, times)) if *last == value || *times < FEWEST.min(sorted.len() / 100) => {
                *times += 1;
            }
            _ => runs.push((value, 1)),
        }
    }
    if runs.len() > FEW {
        return Vec::new();
    }
    let mut points: Vec<(f64, f64)> = vec![(0.0, runs[0].0)];
    let mut below = 0;
    for pair in runs.windows(2) {
        below += pair[0].1;
        let at = (1_000.0 * below as f64 / sorted.len() as f64).round() / 10.0;
        // The shares of points rise.
        let least = ((points[points.len() - 1].0 + 0.1) * 10.0).round() / 10.0;
        let from: f64 = at.max(least);
        if from < 99.8 {
            let to = ((from + 0.1) * 10.0).round() / 10.0;
            points.extend([(from, pair[0].0), (to, pair[1].0)]);
        }
    }
    let last = points[points.len() - 1].1;
    points.push((100.0, last));
    points
}
