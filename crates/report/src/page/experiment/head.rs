//! The first screen: question, verdict, and whether to believe it.

use super::{NAME, Page};
use crate::page::chart::ForestScale;
use crate::page::prose;
use crate::page::shell;
use crate::{select, text, words};
use maud::{Markup, html};
use plimsoll_judge::{AgainstItself, Comparison};
use plimsoll_plan::Direction;
use plimsoll_record::quantities::numbers::PAGE;

/// Verdicts that get a card of their own; the others are in the table.
const CARDS: usize = 6;
/// Cards that have room for a sentence about what held both arms back.
const SENTENCES: usize = 3;

pub(super) fn masthead(page: &Page<'_>) -> Markup {
    let (record, analysis) = (page.report.record, page.report.analysis);
    html! {
        header.masthead {
            (shell::brand(page.setting.place))
            p.run {
                strong { (text::short(&analysis.name, 80)) }
                span { (text::line(&analysis.id)) }
                @if super::provenance::is_imported(page) { span { "imported" } }
                time datetime=(text::line(&record.started_at)) { (words::date(&record.started_at)) }
            }
        }
    }
}

pub(super) fn verdict(page: &Page<'_>) -> Markup {
    let analysis = page.report.analysis;
    let deciding: Vec<&Comparison> = select::primaries(analysis).collect();
    let scale = ForestScale::of(deciding.iter().copied().take(CARDS));
    html! {
        section class=(if select::is_invalid(analysis) { "verdict invalid" } else { "verdict" }) {
            @if let Some(question) = &analysis.question {
                p.question { (prose::prose(question)) }
            }
            @match analysis.headline.split_first() {
                Some((first, rest)) => {
                    h1 { (prose::prose(&select::with_short_names(analysis, first))) }
                    @for sentence in rest {
                        p class=(if sentence.starts_with("Incomplete: ") { "unfinished" } else { "more" }) {
                            (prose::prose(&select::with_short_names(analysis, sentence)))
                        }
                    }
                }
                None => h1 { "There is no verdict." },
            }
            @if let Some(itself) = &analysis.against_itself { (against_itself(itself)) }
            // With many cells, pairs stand in the tables, and the figures below come first.
            @if !deciding.is_empty() && !crate::factors::has_several(analysis) {
                div.cards {
                    @for comparison in deciding.iter().take(CARDS) { (card(page, comparison, scale, deciding.len() <= SENTENCES)) }
                }
                @if deciding.len() > CARDS {
                    p.remark { (deciding.len() - CARDS) " more deciding comparisons are in the " a href="#comparisons" { "table" } "." }
                }
            }
        }
    }
}

/// What the machine passes off as a difference where there is none. The headline has it as a sentence.
fn against_itself(itself: &AgainstItself) -> Markup {
    html! {
        div.itself {
            @if itself.comparisons == 0 { p { "No comparison of the arm with itself could be judged." } }
            @else { p.figure {
                span.big { (PAGE.count(itself.different.into())) " of " (PAGE.count(itself.comparisons.into())) }
                span { "comparisons of the arm with itself were called different" }
            } }
        }
    }
}

/// `whole`: there is room for a sentence about both arms.
fn card(page: &Page<'_>, comparison: &Comparison, scale: ForestScale, whole: bool) -> Markup {
    let verdict = &comparison.verdict;
    let word = words::judgement(verdict.judgement);
    html! {
        article class={ "card " (word) } {
            p.subject {
                (text::short(&comparison.mix, NAME)) " · " (words::compared(&prose::label(&comparison.load_label, NAME), comparison.metric, " · "))
            }
            p.figure {
                span.big { @match verdict.estimate { Some(share) => (PAGE.difference(share)), None => (PAGE.nothing()) } }
                (super::comparisons::word(verdict.judgement))
            }
            p.interval {
                @match verdict.interval {
                    Some(interval) => (PAGE.differences(verdict.estimate, interval)),
                    None => "no interval",
                }
            }
            (scale.row(verdict))
            p.against {
                strong { (text::short(&comparison.arm, NAME)) } " against " (text::short(&comparison.baseline, NAME))
                @if comparison.direction == Direction::LowerIsBetter { "; less is better" }
            }
            @for words in comparison.plans.iter().chain(&comparison.cost_difference) { p.dearer { (prose::label(&select::with_short_names(page.report.analysis, words), 600)) } }
            @match &comparison.because {
                Some(because) if whole => p.because { (prose::label(&select::with_short_names(page.report.analysis, because), 700)) },
                _ => (super::why::of_both(page, comparison)),
            }
            p.blocks {
                @match &comparison.apart {
                    Some((a, b)) => { (PAGE.count(b.len() as u64)) " against " (words::counted(a.len() as u64, "run", PAGE)) ", unpaired" }
                    // The reason may begin with it.
                    None if words::counts(verdict) => {},
                    None => (words::counted(verdict.blocks.into(), "block", PAGE)),
                }
                // What was seen needs no word of what would have been.
                @if let Some(share) = verdict.smallest_visible.filter(|_| !words::is_decided(verdict.judgement)) { " could detect a difference of " (PAGE.visible(share)) " or more" }
                @if let Some(reason) = &verdict.reason {
                    @if !words::counts(verdict) || comparison.apart.is_some() { "; " }
                    (text::line(reason))
                }
            }
            @if let Some(needed) = super::comparisons::needed(page, comparison) { p.needed { (needed) } }
        }
    }
}

pub(super) fn validity(page: &Page<'_>) -> Markup {
    let analysis = page.report.analysis;
    let entries = &analysis.validity;
    if entries.is_empty() {
        return html! {};
    }
    let (_, summary) = words::trust(analysis, PAGE);
    html! {
        section.validity aria-label="Validity" {
            h2 { "Can you trust this?" span { (summary) } }
            ul {
                @for entry in entries {
                    @let state = words::validity(entry.state);
                    li class=(state) {
                        span.sign aria-hidden="true" { (words::validity_mark(entry.state, true)) }
                        div {
                            strong { (text::line(&entry.name)) span.hidden { ": " (state) } }
                            span.text { (prose::prose(&entry.text)) }
                        }
                    }
                }
            }
        }
    }
}
