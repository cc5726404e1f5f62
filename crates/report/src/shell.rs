//! What all pages share: their head, with what they look like and what makes them answer, and what they may do.
//!
//! A page is whole by itself, in a file as well as served: style and script stand in it, and its policy allows nothing else.

use crate::text;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

const STYLE: &str = include_str!("page/style.css");
/// Made of `web/` by `./x web`.
const SCRIPT: &str = include_str!("../assets/page.js");

/// Where a page is shown, which decides what it may ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// A file by itself: no request to anywhere.
    #[default]
    File,
    /// Served by `plimsoll serve`: links to the other pages, and may ask that server.
    Served,
}

/// What a page says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Shell<'a> {
    /// Without the name of the program.
    pub title: &'a str,
    /// Of the program that made it.
    pub version: &'a str,
    /// Where it is shown.
    pub place: Place,
}

/// What a browser lets such a page do, as the value of a `Content-Security-Policy`.
#[must_use]
pub fn policy(place: Place) -> String {
    static HASH: LazyLock<String> = LazyLock::new(|| {
        use base64::Engine;
        base64::engine::general_purpose::STANDARD.encode(Sha256::digest(SCRIPT))
    });
    let script = HASH.as_str();
    let own = match place {
        Place::File => "form-action 'none'",
        Place::Served => "connect-src 'self'; form-action 'self'",
    };
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; {own}"
    )
}

/// A whole page. `body` holds the masthead and `main`.
#[must_use]
pub fn document(shell: &Shell<'_>, body: &Markup) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(shell.place));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "plimsoll " (text::line(shell.version)) };
                title { (shell.title) " · Plimsoll" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (body)
                footer {
                    p { "Written by plimsoll " (text::line(shell.version)) ", which finds the load that a database can safely bear." }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    markup.into_string()
}

/// The mark of the program, and in a served page the way to all experiments.
#[must_use]
pub fn brand(place: Place) -> Markup {
    let mark = html! {
        svg viewBox="0 0 24 24" aria-hidden="true" {
            circle cx="12" cy="12" r="7.5" {}
            path d="M1 12H23" {}
        }
        "Plimsoll"
    };
    html! {
        p.brand {
            @match place {
                Place::File => (mark),
                Place::Served => a href="/" title="All experiments" { (mark) },
            }
        }
    }
}

/// Figures for the script, below the picture that shows them. Nothing in them can end the element.
#[must_use]
pub fn data(class: &str, json: &serde_json::Value) -> Markup {
    let text = json.to_string().replace('<', "\\u003c");
    html! { script class=(class) type="application/json" { (PreEscaped(text)) } }
}
