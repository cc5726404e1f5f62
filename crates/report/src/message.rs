//! A page that says what is not there, or what went wrong, with the way back.

use crate::shell::{self, Place, Shell};
use crate::text;
use maud::html;

/// Links that are shown.
const LINKS: usize = 200;

/// What is said.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// In a few words.
    pub title: &'a str,
    /// What happened, and what to do.
    pub text: &'a str,
    /// Where to go instead: words and address.
    pub links: &'a [(String, String)],
}

/// Makes the page. `version` is that of the program.
#[must_use]
pub fn page(message: &Message<'_>, version: &str, place: Place) -> String {
    let body = html! {
        header.masthead { (shell::brand(place)) }
        main {
            section.verdict {
                h1 { (message.title) }
                p.more { (text::prose(message.text)) }
                @if !message.links.is_empty() {
                    ul.instead {
                        @for (words, address) in message.links.iter().take(LINKS) {
                            li { a href=(address) { (text::short(words, 120)) } }
                        }
                    }
                    @if message.links.len() > LINKS { p.remark { "and " (message.links.len() - LINKS) " more" } }
                }
                @if place == Place::Served { p { a href="/" { "All experiments" } } }
            }
        }
    };
    let shell = Shell {
        title: message.title,
        version,
        place,
    };
    shell::document(&shell, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_shown_and_not_obeyed() {
        let links = [(
            "<b>one</b>".to_owned(),
            crate::link::experiment("\"><script>"),
        )];
        let message = Message {
            title: "There is no such experiment",
            text: "the store has no experiment \"<script>alert(1)</script>\"",
            links: &links,
        };
        let page = page(&message, "0.1.0", Place::Served);
        assert!(page.contains("&lt;script&gt;alert(1)") && page.contains("&lt;b&gt;one"));
        assert!(page.contains("href=\"/experiment/%22%3E%3Cscript%3E\""));
        assert!(page.contains("href=\"/\""));
    }
}
