//! A page that says what is not there, or what went wrong, with the way back.
//!
//! It is small, because anybody who is refused gets one: it has no script, a style of a few lines, and what is said is cut.

use crate::page::prose;
use crate::page::shell::{self, Place};
use crate::text;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::sync::LazyLock;

/// What links take at most, bytes.
const LINKS: usize = 1_500;
/// Columns of a link, and of the message. Each may take six bytes.
const LINK: usize = 80;
const TEXT: usize = 360;

const STYLE: &str = "body{max-width:44em;margin:2em auto;padding:0 1em;font:16px/1.55 system-ui,sans-serif;overflow-wrap:anywhere}\
h1{font:500 1.8em/1.25 Georgia,serif}svg{width:26px;height:26px;fill:none;stroke:currentColor;stroke-width:2.2;vertical-align:middle;margin-right:.5em}\
a{color:inherit}footer{margin-top:3em;opacity:.7;font-size:.85em}";

#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    pub title: &'a str,
    /// What happened, and what to do.
    pub text: &'a str,
    /// Where to go instead: words and address.
    pub links: &'a [(String, String)],
}

/// What a browser lets such a page do, as [`shell::policy`] says it of the others: nothing but to look as it does.
pub fn policy() -> String {
    static STYLE_HASH: LazyLock<String> = LazyLock::new(|| shell::hash(STYLE));
    let style = STYLE_HASH.as_str();
    format!("default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'")
}

/// Makes the page for a server. `version` is that of the program.
pub fn page(message: &Message<'_>, version: &str) -> String {
    let items = message.links.iter().map(|(words, address)| {
        html! { li { a href=(address) { (text::short(words, LINK)) } } }
    });
    let mut bytes = 0;
    let fits = |item: &Markup| {
        bytes += item.0.len();
        bytes <= LINKS
    };
    let links: Vec<Markup> = items.take_while(fits).collect();
    let more = message.links.len() - links.len();
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (message.title) " · Plimsoll" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { (shell::brand(Place::Served)) }
                main {
                    h1 { (message.title) }
                    p { (prose::prose(&text::short(message.text, TEXT))) }
                    @if !links.is_empty() {
                        ul { @for link in &links { (link) } }
                    }
                    @if more > 0 { p { "and " (more) " more" } }
                    p { a href="/" { "All experiments" } }
                }
                footer { "plimsoll " (text::line(version)) }
            }
        }
    };
    markup.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_shown_and_not_obeyed() {
        let links = [("<b>one</b>".to_owned(), crate::page::link::experiment("\"><script>"))];
        let message = Message {
            title: "There is no such experiment",
            text: "the store has no experiment \"<script>alert(1)</script>\"",
            links: &links,
        };
        let page = page(&message, "0.1.0");
        assert!(page.contains("&lt;script&gt;alert(1)") && page.contains("&lt;b&gt;one"));
        assert!(page.contains("href=\"/experiment/%22%3E%3Cscript%3E\""));
        assert!(page.contains("href=\"/\""));
    }
    #[test]
    fn whatever_is_said_it_is_small_and_does_nothing() {
        let links: Vec<_> = (0..5_000)
            .map(|number| ("\"".repeat(300), format!("/{number}/{}", "%22".repeat(50))))
            .collect();
        for text in ["\"", "& 1 ", "1", "\u{202e}", "字"] {
            let message = Message {
                title: "That could be any of several experiments",
                text: &text.repeat(100_000),
                links: &links,
            };
            let page = page(&message, "0.1.0");
            assert!(page.len() < 5_000, "{text}: {}", page.len());
            assert!(page.contains("and 4998 more"), "{page}");
        }
        let message = Message { title: "There is no such page", text: "", links: &[] };
        let page = page(&message, "0.1.0");
        let style = format!("<style>{STYLE}</style>");
        assert!(page.contains(&style) && !page.contains("<script"));
        assert!(policy().contains(&shell::hash(STYLE)) && page.contains(&policy()));
    }
}
