//! One metric over the records of an experiment: its sentences, a small chart, and a table.

use super::{BOLD, DIM, paragraph};
use crate::history::{highest, subject, unit};
use crate::terminal::chart::{ChartLine, over_load};
use crate::terminal::screen::{Screen, paint};
use crate::{select, words};
use anstyle::{AnsiColor, Style};
use plimsoll_judge::{History, HistoryResult};

/// The series with its changes.
pub fn history(history: &History, screen: &Screen) -> String {
    let mut out = format!(
        "{}\n",
        paint(
            BOLD,
            &screen.short(&format!("{}: {}", history.name, subject(history)), screen.width)
        )
    );
    let machine = format!("on {}", history.machine);
    out.push_str(&format!("{}\n\n", paint(DIM, &screen.short(&machine, screen.width))));
    for sentence in &history.sentences {
        paragraph(&mut out, Style::new(), &screen.plain(sentence), 0, screen);
    }
    if history.has_other_plans() {
        out.push_str("--any-plan takes the records of other plans, too.\n");
    }
    out.push_str(&chart(history, screen));
    out.push('\n');
    table(&mut out, history, screen);
    out
}

fn chart(history: &History, screen: &Screen) -> String {
    let (unit, name) = unit(history.metric, highest(history));
    let place = |(number, result): (usize, &HistoryResult)| {
        Some(((number + 1) as f64, select::median(&result.value) / unit))
    };
    let line = ChartLine {
        place: 0,
        name: history.arm.clone(),
        points: history.results.iter().enumerate().map(place).collect(),
    };
    let title = screen.plain(name).into_owned();
    over_load(&[line], "records, the oldest first", &title, "arms", screen)
}

fn table(out: &mut String, history: &History, screen: &Screen) {
    let numbers = screen.numbers();
    let value = |value| words::metric_value(history.metric, value, numbers);
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
    let header = ["", "begun (UTC)", "record", "median", "95 % interval", "change"];
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

#[cfg(test)]
mod tests {
    use super::history as shown;
    use crate::sample::history::history;
    use crate::terminal::Screen;
    use plimsoll_plan::Metric;

    #[test]
    fn every_line_fits_and_the_change_stands_at_its_record() {
        for (width, unicode) in [(80, true), (80, false), (48, true)] {
            let text = shown(&history(Metric::Throughput), &Screen { width, unicode });
            let plain = anstream::adapter::strip_str(&text).to_string();
            for line in plain.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
                assert!(unicode || line.is_ascii(), "{line}");
            }
            let changed: Vec<&str> = plain.lines().filter(|line| line.contains("k5<b>")).collect();
            assert!(
                changed.len() == 1 && changed[0].contains("6.2") && changed[0].contains("4,880"),
                "{changed:?}"
            );
            let others = plain.lines().filter(|line| line.contains("<b>") && !line.contains("k5"));
            assert!(others.into_iter().all(|line| !line.contains("6.2")));
        }
    }

    #[test]
    fn times_have_units() {
        let text = shown(&history(Metric::Response { percentile: 99.0 }), &Screen::default());
        assert!(text.contains("5.20 µs"), "{text}");
    }
}
