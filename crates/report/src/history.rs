//! One metric over the records of an experiment: a table and a small chart for the terminal, and one HTML file.

mod page;
#[cfg(test)]
mod tests;

pub use page::page;

use crate::select;
use crate::terminal::chart::{Line, over_load};
use crate::terminal::screen::{Screen, paint};
use anstyle::{AnsiColor, Style};
use plimsoll_judge::{History, HistoryResult};
use plimsoll_plan::Metric;
use plimsoll_quantities::numbers::{LatencyUnit, Numbers, PAGE};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// The series with its changes, for a terminal.
#[must_use]
pub fn terminal(history: &History, screen: &Screen) -> String {
    let mut out = format!(
        "{}\n",
        paint(
            BOLD,
            &screen.short(
                &format!("{}: {}", history.name, subject(history)),
                screen.width
            )
        )
    );
    let machine = format!("on {}", history.machine);
    out.push_str(&format!(
        "{}\n\n",
        paint(DIM, &screen.short(&machine, screen.width))
    ));
    for sentence in &history.sentences {
        for line in textwrap(&screen.plain(sentence), screen.width) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    if history.has_other_plans() {
        out.push_str("--any-plan takes the records of other plans, too.\n");
    }
    out.push_str(&chart(history, screen));
    out.push('\n');
    table(&mut out, history, screen);
    out
}

/// `throughput of xfs, mix A, 8 threads`.
fn subject(history: &History) -> String {
    format!(
        "{} of {}, mix {}, {}",
        history.metric_label, history.arm, history.mix, history.load_label
    )
}

/// Words in lines of at most so many letters.
fn textwrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is always a last line");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= width {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// A value of the metric with its unit.
pub(crate) fn spelled(metric: Metric, value: f64, numbers: Numbers) -> String {
    match metric {
        Metric::Throughput | Metric::Line => numbers.rate(value),
        Metric::Errors => numbers.percent(value),
        Metric::Cost => numbers.significant(value, 3),
        Metric::ResponseMean
        | Metric::Response { .. }
        | Metric::Service { .. }
        | Metric::CpuPerOperation => numbers.latency(value),
    }
}

/// What a chart divides values by, and the unit that is left.
fn unit(metric: Metric, highest: f64) -> (f64, &'static str) {
    match metric {
        Metric::Throughput | Metric::Line => (1.0, "op/s"),
        Metric::Errors => (0.01, "%"),
        Metric::Cost => (1.0, "price"),
        Metric::ResponseMean
        | Metric::Response { .. }
        | Metric::Service { .. }
        | Metric::CpuPerOperation => {
            let unit = LatencyUnit::of(highest);
            (unit.nanos(), PAGE.unit(unit))
        }
    }
}

fn highest(history: &History) -> f64 {
    let values = history.results.iter().map(|result| {
        let upper = result.value.interval.map_or(0.0, |(_, upper)| upper);
        upper.max(select::median(&result.value))
    });
    values.fold(0.0, f64::max)
}

fn chart(history: &History, screen: &Screen) -> String {
    let (unit, name) = unit(history.metric, highest(history));
    let place = |(number, result): (usize, &HistoryResult)| {
        Some(((number + 1) as f64, select::median(&result.value) / unit))
    };
    let line = Line {
        place: 0,
        name: history.arm.clone(),
        points: history.results.iter().enumerate().map(place).collect(),
    };
    let title = screen.plain(name).into_owned();
    over_load(&[line], "records, the oldest first", &title, "arms", screen)
}

fn table(out: &mut String, history: &History, screen: &Screen) {
    let numbers = screen.numbers();
    let value = |value| spelled(history.metric, value, numbers);
    let mut rows = Vec::new();
    for (number, result) in history.results.iter().enumerate() {
        let begun = result.started_at.get(..16).unwrap_or(&result.started_at);
        let interval = match result.value.interval {
            Some((lower, upper)) => format!("{} to {}", value(lower), value(upper)),
            None => numbers.nothing().to_owned(),
        };
        let change = history.changes.iter().find(|change| change.index == number);
        rows.push((
            format!("{}", number + 1),
            begun.replace('T', " "),
            screen.short(&result.id, 12),
            value(select::median(&result.value)),
            interval,
            change.map_or(String::new(), |change| numbers.difference(change.change)),
        ));
    }
    let width = |header: &str, column: fn(&Row) -> &str| {
        let widths = rows.iter().map(|row| column(row).chars().count());
        widths.max().unwrap_or(0).max(header.len())
    };
    let widths = [
        width("", |row| &row.0),
        width("begun (UTC)", |row| &row.1),
        width("record", |row| &row.2),
        width("median", |row| &row.3),
        width("95 % interval", |row| &row.4),
    ];
    // The interval goes first where there is no room.
    let full: usize = widths.iter().sum::<usize>() + 2 * 5 + 8;
    let has_intervals = full <= screen.width;
    let mut put = |row: &Row, style: Style| {
        let mut line = format!("{:>width$}", row.0, width = widths[0]);
        line.push_str(&format!("  {:<width$}", row.1, width = widths[1]));
        line.push_str(&format!("  {:<width$}", row.2, width = widths[2]));
        line.push_str(&format!("  {:>width$}", row.3, width = widths[3]));
        if has_intervals {
            line.push_str(&format!("  {:>width$}", row.4, width = widths[4]));
        }
        line.push_str(&format!("  {}", row.5));
        out.push_str(&paint(style, line.trim_end()));
        out.push('\n');
    };
    let header = [
        "",
        "begun (UTC)",
        "record",
        "median",
        "95 % interval",
        "change",
    ];
    let [number, begun, record, median, interval, change] = header.map(str::to_owned);
    put(&(number, begun, record, median, interval, change), DIM);
    for row in &rows {
        let style = match row.5.is_empty() {
            true => Style::new(),
            false => AnsiColor::Yellow.on_default(),
        };
        put(row, style);
    }
}

/// Number, begin, record, median, interval, change.
type Row = (String, String, String, String, String, String);
