//! Everything that was noticed, each kind once, with what to do about it.

use super::Page;
use crate::page::prose;
use crate::{select, text, words};
use maud::{Markup, html};
use plimsoll_record::Warning;
use plimsoll_record::quantities::numbers::PAGE;

pub(super) fn section(page: &Page<'_>) -> Markup {
    list(&page.report.analysis.warnings, page.budget.warning_places, "all in analysis.json")
}

/// At most this many `places` of each kind; `elsewhere` says where all of them are.
pub(crate) fn list(warnings: &[Warning], places: usize, elsewhere: &str) -> Markup {
    let kinds = select::by_kind(warnings);
    if kinds.is_empty() {
        return html! { p { "None." } };
    }
    html! {
        ul.warnings {
            @for (id, severity, warnings) in &kinds {
                @let state = words::severity_state(*severity);
                li class=(words::validity(state)) {
                    span.sign aria-hidden="true" { (words::validity_mark(state, true)) }
                    div {
                        p { strong { (words::severity(*severity)) } " " code { (id.id()) } }
                        ul {
                            @for warning in warnings.iter().take(places) {
                                li {
                                    @if !warning.subject.is_empty() { strong { (text::short(&warning.subject, 160)) } ": " }
                                    (prose::label(&warning.message, 500))
                                }
                            }
                            @if warnings.len() > places {
                                li.quiet { "and " (PAGE.count((warnings.len() - places) as u64)) " more, " (elsewhere) }
                            }
                        }
                        p.advice { "→ " (id.advice()) }
                    }
                }
            }
        }
    }
}
