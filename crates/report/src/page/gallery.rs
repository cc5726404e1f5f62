//! The first page of a gallery: many results, each with its answer and a link to its page.

use crate::page::prose;
use crate::page::shell::{self, Place, Shell};
use crate::{text, words};
use maud::{Markup, html};

const NAME: usize = 80;
const ARMS: usize = 12;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhibit {
    pub name: String,
    pub question: Option<String>,
    /// What it comes to, in a sentence, which says so where it is not valid.
    pub answer: String,
    /// Whether it may be used.
    pub valid: bool,
    pub arms: Vec<String>,
    /// Begin in UTC, as RFC 3339 writes it.
    pub started_at: String,
    /// File of its page, beside this one.
    pub page: String,
    /// File of its bundle, beside this one.
    pub bundle: Option<String>,
}

/// Makes the page. `version` is that of the program.
pub fn page(title: &str, exhibits: &[Exhibit], version: &str) -> String {
    let place = Place::File;
    let title = text::short(title, NAME);
    let body = html! {
        header.masthead { (shell::brand(place)) p.run { strong { (title) } } }
        main {
            section.verdict {
                h1 { (title) }
                p.lead { "Each result with its question and its answer. Its page holds the evidence, and needs nothing else; a bundle holds what is needed to verify it and to measure it again." }
            }
            section {
                h2 { "Results" }
                div.scroll tabindex="0" role="region" aria-label="Table of results" {
                    table {
                        thead { tr {
                            th scope="col" { "Result" }
                            th scope="col" { "Answer" }
                            th scope="col" { "Arms" }
                            th scope="col" { "Begun" }
                        } }
                        tbody { @for exhibit in exhibits { (row(exhibit)) } }
                    }
                }
            }
        }
    };
    shell::document(&Shell { title: &title, version, place }, &body)
}

fn row(exhibit: &Exhibit) -> Markup {
    let name = text::short(&exhibit.name, NAME);
    let shown: Vec<String> =
        exhibit.arms.iter().take(ARMS).map(|arm| text::short(arm, 40)).collect();
    let more = exhibit.arms.len() - shown.len();
    html! {
        tr {
            th scope="row" {
                a href=(exhibit.page) { (name) }
                @if let Some(question) = &exhibit.question { br; (prose::label(question, 200)) }
                @if let Some(bundle) = &exhibit.bundle { br; small { a href=(bundle) download="" aria-label={ "Bundle of " (name) } { "bundle" } } }
            }
            td { @if exhibit.valid { (text::line(&exhibit.answer)) } @else { span.failed { (text::line(&exhibit.answer)) } } }
            td { (shown.join(", ")) @if more > 0 { " and " (more) " more" } }
            td.when { time datetime=(text::line(&exhibit.started_at)) { (words::date(&exhibit.started_at)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::shown::shown;

    #[test]
    fn each_result_is_reached_by_a_link_and_stays_text() {
        let exhibit = Exhibit {
            name: "cache <size>".into(),
            question: Some("What does a <b>quarter</b> cost?".into()),
            answer: "INVALID: the generator was the limit".into(),
            valid: false,
            arms: vec!["large".into(), "small".into()],
            started_at: "2026-11-21T03:44:00Z".into(),
            page: "cache--size--k3f9q.html".into(),
            bundle: Some("cache--size--k3f9q.plimsoll".into()),
        };
        let page = page("Studies", &[exhibit], "0.1.0");
        assert!(page.contains("href=\"cache--size--k3f9q.html\""));
        assert!(page.contains("href=\"cache--size--k3f9q.plimsoll\""));
        assert!(!page.contains("<b>quarter"));
        let text = shown(&page);
        assert!(text.contains("INVALID: the generator was the limit"), "{text}");
        assert!(page.contains("class=\"failed\""));
    }
}
