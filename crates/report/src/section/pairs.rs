//! Controls, duets and the sources of noise: a sentence for each pair of arms, and its figures.

use super::{Cell, Column, Group, Narrow, Section, Sentence, Table};
use crate::{text, words};
use plimsoll_judge::Analysis;
use plimsoll_record::quantities::numbers::Numbers;

/// Columns to which names are shortened.
const NAME: usize = 48;

/// Remarks on one pair.
struct Pair<'a> {
    sentence: &'a str,
    /// Both arms, or the one that it is about.
    name: String,
    /// Mix, load and metric, separated by commas.
    what: String,
    /// One for each column of figures.
    figures: Vec<Cell>,
}

/// What was found of what was planted.
pub(crate) fn controls(analysis: &Analysis, numbers: Numbers) -> Option<Section> {
    let pairs = analysis.controls.iter().map(|one| Pair {
        sentence: &one.sentence,
        name: text::short(&one.control, NAME),
        what: what(&one.mix, &one.load_label, &words::metric(one.metric)),
        figures: vec![
            numbers.difference(one.expected).into(),
            known(one.estimate.map(|found| numbers.difference(found))),
            known(one.interval.map(|interval| numbers.differences(one.estimate, interval))),
            format!("{} of {}", one.worse_in, one.blocks).into(),
        ],
    });
    section(
        "controls",
        "Copies of the baseline, slowed down by a known share and measured beside the arms. What was planted and found would have been found in an arm as well; \
         a copy without a slow-down that is called different is a false alarm.",
        ("Control", &["Planted", "Found", "Interval", "Worse in"]),
        pairs,
    )
}

/// What duets say of the halves of the machine.
pub(crate) fn duets(analysis: &Analysis, numbers: Numbers) -> Option<Section> {
    let pairs = analysis.duets.iter().map(|one| {
        let halves = one.second_over_first;
        let interval = numbers.differences(Some(halves), one.second_over_first_interval);
        Pair {
            sentence: &one.sentence,
            name: both(&one.arm, &one.baseline),
            what: what(&one.mix, &one.load_label, &words::metric(one.metric)),
            figures: vec![
                one.duets.to_string().into(),
                numbers.percent(one.spread).into(),
                numbers.percent(one.spread_apart).into(),
                format!("{:.2}", one.correlation).into(),
                known(one.correlation_of_seconds.map(|found| format!("{found:.2}"))),
                format!("{} ({interval})", numbers.difference(halves)).into(),
            ],
        }
    });
    section(
        "duets",
        "Both arms of a pair ran at the same time, each on a half of the machine, and changed halves from duet to duet. What happens to the machine happens to both sides, \
         and cancels in their difference: the more so, the closer their correlation is to 1. What an engine does to itself does not cancel.",
        (
            "Pair",
            &[
                "Duets",
                "Difference varies by",
                "Apart it would",
                "Correlation of duets",
                "Correlation of seconds",
                "Second half over first",
            ],
        ),
        pairs,
    )
}

/// Where the noise of the comparisons comes from.
pub(crate) fn noise(analysis: &Analysis, numbers: Numbers) -> Option<Section> {
    let pairs = analysis.noise.iter().map(|one| Pair {
        sentence: &one.sentence,
        name: both(&one.arm, &one.baseline),
        what: what(&one.mix, &one.load_label, "throughput"),
        figures: vec![
            one.blocks.to_string().into(),
            numbers.percent(one.block).into(),
            numbers.percent(one.run).into(),
            numbers.percent(one.seconds).into(),
            format!("{:.0} s", one.point_seconds).into(),
            format!("{:.1} s", one.overhead_seconds).into(),
        ],
    });
    section(
        "sources of noise",
        "Standard deviations of what is new at each level. Blocks are common to both arms, so that the comparison is free of them.",
        (
            "Pair",
            &[
                "Blocks",
                "From block to block",
                "From run to run",
                "From second to second",
                "Point",
                "Besides it, a run takes",
            ],
        ),
        pairs,
    )
}

fn section<'a>(
    title: &'static str,
    lead: &'static str,
    (first, figures): (&'static str, &[&'static str]),
    pairs: impl Iterator<Item = Pair<'a>>,
) -> Option<Section> {
    let (mut sentences, mut rows) = (Vec::new(), Vec::new());
    for pair in pairs {
        let subject = format!("{}, {}", pair.name, pair.what);
        sentences.push(Sentence { subject, text: pair.sentence.to_owned() });
        let mut row = vec![Cell::from(pair.name), Cell::from(pair.what)];
        row.extend(pair.figures);
        rows.push(row);
    }
    if rows.is_empty() {
        return None;
    }
    let mut columns = vec![Column::words(first), Column::words("What")];
    columns.extend(figures.iter().map(|title| Column::figure(title, "", "")));
    let table = Table::new(title, columns, vec![Group::plain(rows)], Narrow::Omit);
    Some(Section { lead, sentences, tables: vec![table] })
}

fn both(arm: &str, baseline: &str) -> String {
    let [arm, baseline] = [arm, baseline].map(|name| text::short(name, NAME));
    format!("{arm} against {baseline}")
}

fn what(mix: &str, load_label: &str, metric: &str) -> String {
    format!("{}, {load_label}: {metric}", text::short(mix, NAME))
}

fn known(figure: Option<String>) -> Cell {
    figure.unwrap_or_else(|| "unknown".into()).into()
}
