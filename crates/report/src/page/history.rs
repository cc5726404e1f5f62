//! A history as one HTML file: the series with its changes, and all figures.

use crate::axis::Axis;
use crate::history::{highest, subject, unit};
use crate::page::chart::{ArmStyle, Path, Plot, ValueSeries, Values, answering};
use crate::page::link;
use crate::page::shell::{self, Place, Shell};
use crate::{select, text, words};
use maud::{Markup, html};
use plimsoll_judge::History;
use plimsoll_plan::Metric;
use plimsoll_record::quantities::numbers::PAGE;

const PLOT: Plot = Plot { width: 760.0, left: 64.0, ..Plot::WIDE };
const NAME: usize = 80;

/// Makes the page. `version` is that of the program.
pub fn page(history: &History, version: &str, place: Place) -> String {
    let name = text::short(&history.name, NAME);
    let body = html! {
        header.masthead {
            (shell::brand(place))
            p.run {
                strong { (name) }
                span { (text::line(&history.machine)) }
            }
        }
        main {
            section.verdict {
                h1 { (name) " over time" }
                p.lead { (text::line(&subject(history))) }
                @for sentence in &history.sentences { p { (text::line(sentence)) } }
            }
            @if place == Place::Served { (other(history)) }
            section {
                h2 { "Every record" }
                (chart(history))
                (table(history, place))
            }
        }
    };
    let title = format!("{name} over time");
    shell::document(&Shell { title: &title, version, place }, &body)
}

/// What else can be followed, for `plimsoll serve`.
fn other(history: &History) -> Markup {
    let choices = &history.choices;
    let metric = history.metric.name();
    let of = |names: &[String]| -> Vec<(String, String)> {
        let named = names.iter().map(|name| (name.clone(), text::short(name, NAME)));
        named.collect()
    };
    // The line and the cost are of a whole mix.
    let at = choices.loads.contains(&history.load_label);
    html! {
        form.filter action=(link::history(&history.name)) method="get" aria-label="What is followed" {
            (choice("Metric", "metric", &choices.metrics, &metric))
            (choice("Arm", "arm", &of(&choices.arms), &history.arm))
            (choice("Mix", "mix", &of(&choices.mixes), &history.mix))
            @if at { (choice("Load", "at", &of(&choices.loads), &history.load_label)) }
            label.tick { input type="checkbox" name="any_plan" value="yes" checked[choices.any_plan]; span { "records of other plans, too" } }
            button type="submit" { "Show" }
        }
    }
}

/// `options` are values with their words.
fn choice(title: &str, name: &str, options: &[(String, String)], chosen: &str) -> Markup {
    html! {
        label {
            span { (title) }
            select name=(name) {
                @for (value, word) in options { option value=(value) selected[value == chosen] { (word) } }
            }
        }
    }
}

fn chart(history: &History) -> Markup {
    let (unit, name) = unit(history.metric, highest(history));
    let numbers: Vec<f64> = (1..=history.results.len()).map(|number| number as f64).collect();
    let x = Axis {
        title: "records, the oldest first".into(),
        ..Axis::seconds(numbers.len() as f64 + 1.0)
    };
    let x = Axis {
        // Whole records only, and without the unit of seconds.
        ticks: numbers
            .iter()
            .filter(|number| numbers.len() <= 12 || **number % 5.0 == 0.0)
            .map(|number| (*number, PAGE.count(*number as u64)))
            .collect(),
        ..x
    };
    let y = Axis {
        title: format!("{}, {name}", history.metric_label),
        ..Axis::rate(highest(history) / unit, 5)
    };
    let place = |number: usize, value: f64| {
        (PLOT.x(x.scale.share(number as f64 + 1.0)), PLOT.y(y.scale.share(value / unit)))
    };
    let style = ArmStyle::at(0);
    let mut line = Path::default();
    for (number, result) in history.results.iter().enumerate() {
        let (at_x, at_y) = place(number, select::median(&result.value));
        match number {
            0 => line.move_to(at_x, at_y),
            _ => line.line_to(at_x, at_y),
        }
    }
    let mut whiskers = Path::default();
    for (number, result) in history.results.iter().enumerate() {
        if let Some((lower, upper)) = result.value.interval {
            let (at_x, at_y) = place(number, lower);
            whiskers.move_to(at_x, at_y);
            whiskers.line_to(at_x, place(number, upper).1);
        }
    }
    let mut changes = Path::default();
    for change in &history.changes {
        let between = (place(change.index - 1, 0.0).0 + place(change.index, 0.0).0) / 2.0;
        changes.move_to(between, PLOT.y(0.0));
        changes.line_to(between, PLOT.y(1.0));
    }
    let content = html! {
        (PLOT.frame(&x, &y))
        path d=(changes.data()) fill="none" stroke="currentColor" stroke-dasharray="4 4" {}
        g class=(style.class()) {
            path.line d=(whiskers.data()) {}
            path.line d=(line.data()) {}
            @for (number, result) in history.results.iter().enumerate() {
                @let (at_x, at_y) = place(number, select::median(&result.value));
                path.mark d=(style.mark(at_x, at_y, 4.5)) {}
            }
        }
    };
    let values = Values {
        group: "history",
        plot: PLOT,
        scale: x.scale,
        unit: "",
        x: numbers,
        labels: history
            .results
            .iter()
            .map(|result| {
                text::short(&format!("{}, {}", words::date(&result.started_at), result.id), NAME)
            })
            .collect(),
        stretch: 1,
        series: vec![describe(history)],
    };
    answering(
        "history",
        "wide",
        (PLOT.width, PLOT.height),
        (
            &format!("{} over the records", history.metric_label),
            "Dashed lines are changes. The figures are in the table below.",
        ),
        &values,
        &content,
    )
}

/// The series with its intervals, for a cursor.
fn describe(history: &History) -> ValueSeries {
    let end = |of: fn((f64, f64)) -> f64| {
        let ends = history.results.iter().map(|result| result.value.interval.map_or(f64::NAN, of));
        ends.collect::<Vec<f64>>()
    };
    ValueSeries {
        name: text::short(&history.metric_label, NAME),
        unit: match history.metric.of_all() {
            Metric::Throughput | Metric::Line => "op/s",
            Metric::Errors => "share",
            Metric::Cost | Metric::WriteAmplification => "",
            Metric::Size | Metric::Written => "B",
            _ => "ns",
        },
        style: Some(ArmStyle::at(0)),
        values: history.results.iter().map(|result| select::median(&result.value)).collect(),
        ends: Some((end(|(lower, _)| lower), end(|(_, upper)| upper))),
    }
}

fn table(history: &History, place: Place) -> Markup {
    let value = |value| words::metric_value(history.metric, value, PAGE);
    html! {
        div.scroll tabindex="0" role="region" aria-label="Figures" {
            table.data {
                thead { tr {
                    @for title in ["", "Begun", "Record"] { th scope="col" { (title) } }
                    @for title in ["median", "95 % interval", "change"] { th.num scope="col" { (title) } }
                    @for title in ["plimsoll", "engine", "kernel", "plan"] { th scope="col" { (title) } }
                } }
                tbody {
                    @for (number, result) in history.results.iter().enumerate() {
                        @let change = history.changes.iter().find(|change| change.index == number);
                        tr {
                            td.num { (number + 1) }
                            td { time datetime=(text::line(&result.started_at)) { (words::date(&result.started_at)) } }
                            th scope="row" { @match place {
                                Place::Served => a href=(link::experiment(&result.id)) { (text::line(&result.id)) },
                                Place::File => (text::line(&result.id)),
                            } }
                            td.num { (value(select::median(&result.value))) }
                            td.num { @match result.value.interval {
                                Some((lower, upper)) => { (value(lower)) " to " (value(upper)) },
                                None => { (PAGE.nothing()) },
                            } }
                            td.num { @if let Some(change) = change { (PAGE.difference(change.change)) } }
                            td.long { (text::line(&result.circumstances.program)) }
                            td.long { (text::line(&result.circumstances.engine)) }
                            td.long { (text::line(&result.circumstances.kernel)) }
                            td { (text::short(&result.circumstances.plan, 12)) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
