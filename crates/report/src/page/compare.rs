//! Two arms of two records side by side, or of one: the answer, every comparison, what differs between the records, and what it costs where
//! runs are not paired.

#[cfg(test)]
mod tests;

use crate::page::chart::ForestScale;
use crate::page::experiment::{difference, judged, p_value, warning_list};
use crate::page::link;
use crate::page::prose;
use crate::page::shell::{self, Place, Shell};
use crate::{text, words};
use maud::{Markup, html};
use plimsoll_judge::{Judgement, RecordComparison, Side, UnpairedComparison};
use plimsoll_plan::{Direction, Metric};
use plimsoll_record::quantities::numbers::PAGE;

const NAME: usize = 60;
const RECORD: usize = 24;
/// Rows of the table of comparisons, and of differences.
const ROWS: usize = 240;
const DIFFERENCES: usize = 100;
const WARNINGS: usize = 12;

/// Makes the page. `questions` are those of the records, each once. `version` is that of the program.
pub fn page(
    comparison: &RecordComparison,
    questions: &[&str],
    version: &str,
    place: Place,
) -> String {
    let (a, b) = (&comparison.baseline, &comparison.other);
    let title = format!("{} against {}", words::named(b, a), words::named(a, b));
    let body = html! {
        header.masthead {
            (shell::brand(place))
            p.run { strong { (title) } }
        }
        main {
            section.verdict {
                @for question in questions { p.question { (prose::prose(question)) } }
                (headline(comparison))
                div.sides {
                    (side([b, a], "Compared", place))
                    (side([a, b], "Baseline", place))
                }
                @if place == Place::Served { (ways(comparison)) }
            }
            nav aria-label="Sections" {
                a href="#comparisons" { "Comparisons" }
                a href="#differed" { "Declared and undeclared differences" }
                @if !comparison.warnings.is_empty() { a href="#warnings" { "Warnings" } }
            }
            section #comparisons { h2 { "Comparisons" } (table(comparison)) }
            section #differed { h2 { "Declared and undeclared differences" } (differences(comparison)) }
            @if !comparison.warnings.is_empty() { section #warnings { h2 { "Warnings" } (warning_list(&comparison.warnings, WARNINGS, "all in the JSON of plimsoll compare")) } }
        }
    };
    let shell = Shell { title: &title, version, place };
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
        h1 { (prose::prose(first)) }
        @for sentence in more { p.more { (prose::prose(sentence)) } }
        @if let Some(cost) = cost { p.unfinished { strong { "Not paired. " } (prose::prose(cost)) } }
    }
}

fn side([side, other]: [&Side; 2], role: &str, place: Place) -> Markup {
    html! {
        dl.side {
            dt { (role) } dd { strong { (words::named(side, other)) } }
            dt { "Experiment" } dd {
                @match place {
                    Place::Served => a href=(link::experiment(&side.record)) { (text::short(&side.name, NAME)) },
                    Place::File => (text::short(&side.name, NAME)),
                }
                small { (text::short(&side.record, RECORD)) }
            }
            dt { "Begun" } dd { (words::date(&side.started_at)) }
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
    let (a, b) = (&comparison.baseline, &comparison.other);
    let confidences = all.iter().filter_map(|one| one.verdict.confidence);
    let confidence = confidences.min_by(f64::total_cmp);
    html! {
        p.lead {
            "Each row is " (words::named(b, a)) " against " (words::named(a, b)) ". The shaded strip is the margin within which a difference does not matter. "
            "The metrics that the baseline's file names decide (throughput where it names none), at every load that both measured; the others are exploratory: among many of them, some look different by chance."
            @if let Some(confidence) = confidence { " The intervals have a confidence of at least " (PAGE.percent(confidence)) "." }
        }
        div.scroll tabindex="0" role="region" aria-label="Table of comparisons" {
            table.comparisons.unpaired {
                thead { tr {
                    th scope="col" { "Mix and load" }
                    th.picture scope="col" { "Difference" small { "drawn on a scale of ratios" } }
                    th.num scope="col" { "Difference" small { "and its interval" } }
                    th scope="col" { "Verdict" }
                    th.num scope="col" { "Medians" small { "compared, baseline" } }
                    th.num scope="col" { @if all.iter().all(|one| one.paired) { "Blocks" } @else { "Runs" small { "compared, baseline" } } }
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
            th.what scope="row" { (text::short(&one.mix, NAME)) " · " (prose::label(&one.load_label, NAME)) }
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
            td.num.runs { @if one.paired { (verdict.blocks) } @else { (one.values.len()) small { (one.baseline_values.len()) } } }
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
    words::metric_value(metric, (lower + upper) / 2.0, PAGE)
}

fn differences(comparison: &RecordComparison) -> Markup {
    let all = &comparison.differences;
    if all.is_empty() {
        return html! { p { "No difference was found: settings, versions, machine, storage, program and workloads were compared." } };
    }
    let (a, b) = (&comparison.baseline, &comparison.other);
    let labels = [b.label(a), a.label(b)];
    html! {
        p.lead { "Everything that was found to differ between the two sides. Each could be a cause as well." }
        div.scroll tabindex="0" role="region" aria-label="Table of differences" {
            table.differences {
                thead { tr {
                    th scope="col" { "What" }
                    th scope="col" { (words::named(b, a)) small { "compared" } }
                    th scope="col" { (words::named(a, b)) small { "baseline" } }
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
