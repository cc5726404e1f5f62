//! Two arms of two records side by side, or of one: the answer, every comparison, what differs between the records, and what it costs that the
//! runs are not paired.

#[cfg(test)]
mod tests;

use crate::chart::ForestScale;
use crate::history::spelled;
use crate::number::PAGE;
use crate::page::{date, difference, judged, p_value, warning_list};
use crate::shell::{self, Place, Shell};
use crate::{link, text, words};
use maud::{Markup, html};
use plimsoll_experiment::{Direction, Metric};
use plimsoll_judge::{Judgement, RecordComparison, Side, UnpairedComparison};

const NAME: usize = 60;
/// Rows of the table of comparisons, and of differences.
const ROWS: usize = 240;
const DIFFERENCES: usize = 100;
/// Places of one warning.
const WARNINGS: usize = 12;

/// Makes the page. `questions` are those of the records, each once. `version` is that of the program.
#[must_use]
pub fn page(
    comparison: &RecordComparison,
    questions: &[&str],
    version: &str,
    place: Place,
) -> String {
    let (a, b) = (&comparison.baseline, &comparison.other);
    let title = format!(
        "{} against {}",
        text::short(&b.arm, NAME),
        text::short(&a.arm, NAME)
    );
    let body = html! {
        header.masthead {
            (shell::brand(place))
            p.run { strong { (title) } }
        }
        main {
            section.verdict {
                @for question in questions { p.question { (text::prose(question)) } }
                (headline(comparison))
                div.sides {
                    (side(b, "Compared", place))
                    (side(a, "Baseline", place))
                }
                @if place == Place::Served { (ways(comparison)) }
            }
            nav aria-label="Sections" {
                a href="#comparisons" { "Comparisons" }
                a href="#differed" { "What differed" }
                @if !comparison.warnings.is_empty() { a href="#warnings" { "Warnings" } }
            }
            section #comparisons { h2 { "Comparisons" } (table(comparison)) }
            section #differed { h2 { "What differed" } (differences(comparison)) }
            @if !comparison.warnings.is_empty() { section #warnings { h2 { "Warnings" } (warning_list(&comparison.warnings, WARNINGS, "all in the JSON of plimsoll compare")) } }
        }
    };
    let shell = Shell {
        title: &title,
        version,
        place,
    };
    shell::document(&shell, &body)
}

/// The judge's sentences: the last one is what being unpaired costs.
fn headline(comparison: &RecordComparison) -> Markup {
    let Some((first, rest)) = comparison.headline.split_first() else {
        return html! { h1 { "There is no verdict." } };
    };
    let (cost, more) = match rest.split_last() {
        Some((cost, more)) if !comparison.comparisons.is_empty() => (Some(cost), more),
        _ => (None, rest),
    };
    html! {
        h1 { (text::prose(first)) }
        @for sentence in more { p.more { (text::prose(sentence)) } }
        @if let Some(cost) = cost { p.unfinished { strong { "Not paired. " } (text::prose(cost)) } }
    }
}

fn side(side: &Side, role: &str, place: Place) -> Markup {
    html! {
        dl.side {
            dt { (role) } dd { strong { (text::short(&side.arm, NAME)) } }
            dt { "Experiment" } dd {
                @match place {
                    Place::Served => a href=(link::experiment(&side.record)) { (text::short(&side.name, NAME)) },
                    Place::File => (text::short(&side.name, NAME)),
                }
                small { (text::short(&side.record, 24)) }
            }
            dt { "Begun" } dd { (date(&side.started_at)) }
            dt { "Finished runs" } dd { (PAGE.count(side.runs.into())) }
        }
    }
}

/// Where to go from here.
fn ways(comparison: &RecordComparison) -> Markup {
    let (a, b) = (&comparison.baseline, &comparison.other);
    let word = |side: &Side| format!("{}:{}", side.record, side.arm);
    html! {
        p.ways {
            a href=(link::compare(&word(b), &word(a))) { "The other way round" }
            a href="/" { "Choose two others" }
            @if a.record == b.record { a href={ (link::experiment(&a.record)) "#comparisons" } { "The same experiment, paired over its blocks" } }
        }
    }
}

fn table(comparison: &RecordComparison) -> Markup {
    let all = &comparison.comparisons;
    if all.is_empty() {
        return html! { p { "Nothing could be compared." } };
    }
    let names = [&comparison.baseline.arm, &comparison.other.arm];
    html! {
        p.lead {
            "Each row is " (text::short(names[1], NAME)) " against " (text::short(names[0], NAME)) ". The shaded strip is the margin within which a difference does not matter. "
            "Only the deciding rows answer a question; the others are exploratory: among many of them, some look different by chance."
        }
        div.scroll tabindex="0" role="region" aria-label="Table of comparisons" {
            table.comparisons.unpaired {
                thead { tr {
                    th scope="col" { "Mix and load" }
                    th.picture scope="col" { "Difference" small { "drawn on a scale of ratios" } }
                    th.num scope="col" { "Difference" small { "and its interval" } }
                    th scope="col" { "Verdict" }
                    th.num scope="col" { "Medians" small { "compared, baseline" } }
                    th.num scope="col" { "Runs" small { "compared, baseline" } }
                    th.num scope="col" { "Smallest" small { "visible" } }
                } }
                @for group in groups(all) { (rows(&group)) }
            }
        }
        @if all.len() > ROWS { p.remark { "Shown: " (ROWS) " of " (PAGE.count(all.len() as u64)) " comparisons; all are in the JSON of plimsoll compare." } }
    }
}

/// Comparisons of one metric, which share a scale: the deciding ones first, as they came.
fn groups(all: &[UnpairedComparison]) -> Vec<Vec<&UnpairedComparison>> {
    let mut groups: Vec<Vec<&UnpairedComparison>> = Vec::new();
    for one in all.iter().take(ROWS) {
        let same = |group: &&mut Vec<&UnpairedComparison>| {
            group[0].metric == one.metric && group[0].primary == one.primary
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

fn rows(group: &[&UnpairedComparison]) -> Markup {
    let scale = ForestScale::of_verdicts(group.iter().map(|one| &one.verdict));
    let first = group[0];
    html! {
        tbody.exploratory[!first.primary] {
            tr.mix {
                th scope="rowgroup" {
                    @if first.primary { "Deciding: " } @else { "Exploratory: " }
                    (words::metric(first.metric))
                    span.quiet { @if first.direction == Direction::HigherIsBetter { ", more is better" } @else { ", less is better" } }
                }
                td.picture { (scale.axis()) }
                td.blank colspan="5" {}
            }
            @for one in group { (row(one, scale)) }
        }
    }
}

fn row(one: &UnpairedComparison, scale: ForestScale) -> Markup {
    let verdict = &one.verdict;
    let judgement: Judgement = verdict.judgement;
    html! {
        tr class=(words::judgement(judgement)) {
            th.what scope="row" { (text::short(&one.mix, NAME)) " · " (text::label(&one.load_label, NAME)) }
            td.picture { (scale.row(verdict)) }
            td.num {
                (difference(verdict))
            }
            td.v {
                (judged(judgement))
                @if let Some(reason) = &verdict.reason { small { (text::short(reason, 120)) } }
                (p_value(verdict))
            }
            td.num.medians { (median(one.metric, &one.values)) small { (median(one.metric, &one.baseline_values)) } }
            td.num.runs { (one.values.len()) small { (one.baseline_values.len()) } }
            td.num.count.seen { @match verdict.smallest_visible { Some(share) => (PAGE.visible(share)), None => (PAGE.nothing()) } }
        }
    }
}

fn median(metric: Metric, values: &[f64]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(upper) = sorted.get(sorted.len() / 2) else {
        return PAGE.nothing().into();
    };
    let lower = sorted[(sorted.len() - 1) / 2];
    spelled(metric, (lower + upper) / 2.0, PAGE)
}

fn differences(comparison: &RecordComparison) -> Markup {
    let all = &comparison.differences;
    if all.is_empty() {
        return html! { p { "Nothing was found: settings, versions, machine, storage, program and workloads were looked at." } };
    }
    let (a, b) = (&comparison.baseline, &comparison.other);
    let labels = [label(b, a), label(a, b)];
    html! {
        p.lead { "Everything that was found to differ between the two sides. Each could be a cause as well." }
        div.scroll tabindex="0" role="region" aria-label="Table of differences" {
            table.differences {
                thead { tr {
                    th scope="col" { "What" }
                    th scope="col" { (text::short(&comparison.other.arm, NAME)) small { "compared" } }
                    th scope="col" { (text::short(&comparison.baseline.arm, NAME)) small { "baseline" } }
                } }
                tbody { @for difference in all.iter().take(DIFFERENCES) {
                    tr {
                        th scope="row" { (text::short(&difference.what, 80)) }
                        @for label in &labels {
                            td { @match difference.values.iter().find(|(side, _)| side == label) {
                                Some((_, value)) => (text::short(value, 160)),
                                None => (PAGE.nothing()),
                            } }
                        }
                    }
                } }
            }
        }
        @if all.len() > DIFFERENCES { p.remark { "The first " (DIFFERENCES) " of " (all.len()) " differences." } }
    }
}

/// How the judge names a side where it must be told from the other.
fn label(side: &Side, other: &Side) -> String {
    if side.arm == other.arm {
        format!("{} ({})", side.arm, side.record)
    } else {
        side.arm.clone()
    }
}
