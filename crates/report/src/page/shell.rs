//! What all pages share: their head, with what they look like and what makes them answer, and what they may do.
//!
//! A page is whole by itself, in a file as well as served: style and script stand in it, and its policy allows nothing else.

use crate::text;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

pub(crate) const STYLE: &str = include_str!("style.css");
/// Made of `web/` by `./x web`.
const SCRIPT: &str = include_str!("../../assets/page.js");

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
    /// Version of the program that made it.
    pub version: &'a str,
    pub place: Place,
}

/// What a browser lets such a page do, as the value of a `Content-Security-Policy`: this style, this script, pictures that stand in the page
/// itself, and where it is served its own server. Elements have no style of their own; what a script sets by the object model is allowed.
pub fn policy(place: Place) -> String {
    static STYLE_HASH: LazyLock<String> = LazyLock::new(|| hash(STYLE));
    static SCRIPT_HASH: LazyLock<String> = LazyLock::new(|| hash(SCRIPT));
    let (style, script) = (STYLE_HASH.as_str(), SCRIPT_HASH.as_str());
    let own = match place {
        Place::File => "form-action 'none'",
        Place::Served => "connect-src 'self'; form-action 'self'",
    };
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; {own}"
    )
}

pub(crate) fn hash(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text))
}

/// A whole page. `body` holds the masthead and `main`.
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
                    p { "Written by plimsoll " (text::line(shell.version)) "." }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    markup.into_string()
}

/// The mark of the program, and in a served page the way to all experiments.
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
pub fn data(class: &str, json: &serde_json::Value) -> Markup {
    let text = json.to_string().replace('<', "\\u003c");
    html! { script class=(class) type="application/json" { (PreEscaped(text)) } }
}

/// What must hold of the shell of every page; for tests. Hands back the page without style and script, with which nothing foreign can mix.
#[cfg(test)]
pub(crate) fn checked(page: &str, place: Place) -> String {
    assert!(page.contains(&format!("content=\"{}\"", policy(place))));
    let style = format!("<style>{STYLE}</style>");
    let script = format!("<script>{SCRIPT}</script>");
    for (whole, text) in [(&style, STYLE), (&script, SCRIPT)] {
        assert_eq!(page.matches(whole.as_str()).count(), 1);
        assert!(policy(place).contains(&format!("'sha256-{}'", hash(text))));
    }
    let rest = page.replacen(&style, "", 1).replacen(&script, "", 1);
    assert!(!rest.contains("<style"), "no other style");
    for tag in rest.split("<script").skip(1) {
        let attributes = tag.split('>').next().unwrap_or_default();
        let is_data = attributes.contains(" type=\"application/json\"")
            || attributes.contains(" type=\"application/octet-stream\"");
        assert!(is_data, "no other script: <script{attributes}>");
    }
    // Markup in which no attribute asks anybody for anything or runs anything; the text between tags is free to name what it likes.
    for tag in rest.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap_or(tag);
        let attributes: String = tag.split('"').step_by(2).collect();
        for forbidden in
            [" on", " src", " srcset", " action=", " formaction", " xlink", " style", " ping"]
        {
            let is_own = forbidden == " action=" && place == Place::Served;
            assert!(is_own || !attributes.contains(forbidden), "<{tag}>");
        }
        for value in tag.split('"').skip(1).step_by(2) {
            let value = value.trim_start().to_ascii_lowercase();
            assert!(!value.starts_with("javascript:"), "<{tag}>");
        }
        for target in tag.split("href=\"").skip(1) {
            let inside = target.starts_with('#') || target.starts_with("data:image/png;base64,");
            let own =
                place == Place::Served && target.starts_with('/') && !target.starts_with("//");
            assert!(inside || own, "<{tag}>");
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(place: Place) -> String {
        let shell = Shell { title: "a </title><script>alert(1)</script>", version: "0.0", place };
        document(
            &shell,
            &html! { main { (brand(place)) (data("chart-data", &serde_json::json!({"a": "</script><script>"}))) } },
        )
    }

    #[test]
    fn a_page_has_one_script_and_one_style_and_its_policy_knows_no_other() {
        for place in [Place::File, Place::Served] {
            let rest = checked(&page(place), place);
            assert!(rest.contains("{\"a\":\"\\u003c/script>\\u003cscript>\"}"));
            assert!(!policy(place).contains("unsafe"));
        }
        assert!(!policy(Place::File).contains("connect-src"));
        assert!(policy(Place::Served).contains("connect-src 'self'"));
    }

    #[test]
    fn neither_script_nor_style_can_end_its_element_or_names_another_place() {
        assert!(!SCRIPT.to_ascii_lowercase().contains("</script") && !SCRIPT.contains("<!--"));
        assert!(
            !STYLE.contains("</style") && !STYLE.contains("url(") && !STYLE.contains("@import")
        );
        for part in SCRIPT.split("://").collect::<Vec<_>>().windows(2) {
            // The name of SVG, which is no address.
            assert!(
                part[0].ends_with("http") && part[1].starts_with("www.w3.org/"),
                "{}",
                part[1].get(..40).unwrap_or(part[1])
            );
        }
    }

    #[test]
    #[should_panic(expected = "no other script")]
    fn another_script_is_found() {
        checked(
            &page(Place::File).replace("</main>", "<script src=\"/x\"></script></main>"),
            Place::File,
        );
    }
}
