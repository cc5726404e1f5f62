//! Everything that was noticed, each kind once, with what to do about it.

use super::Page;
use crate::number::PAGE;
use crate::{select, text, words};
use maud::{Markup, html};

pub(super) fn section(page: &Page<'_>) -> Markup {
    let kinds = select::by_kind(&page.report.analysis.warnings);
    if kinds.is_empty() {
        return html! { p { "None." } };
    }
    html! {
        ul.warnings {
            @for (id, warnings) in &kinds {
                @let severity = id.severity();
                @let state = words::severity_state(severity);
                li class=(words::validity(state)) {
                    span.sign aria-hidden="true" { (words::validity_mark(state, true)) }
                    div {
                        p { strong { (words::severity(severity)) } " " code { (id.id()) } }
                        ul {
                            @for warning in warnings.iter().take(page.budget.warning_places) {
                                li {
                                    @if !warning.subject.is_empty() { strong { (text::short(&warning.subject, 160)) } ": " }
                                    (text::label(&warning.message, 500))
                                }
                            }
                            @if warnings.len() > page.budget.warning_places {
                                li.quiet { "and " (PAGE.count((warnings.len() - page.budget.warning_places) as u64)) " more, all in analysis.json" }
                            }
                        }
                        p.advice { "→ " (id.advice()) }
                    }
                }
            }
        }
    }
}
