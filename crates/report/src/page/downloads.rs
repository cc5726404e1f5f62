//! The same numbers for other programs: links where the page is served, the command that writes them where it is a file.

use super::Page;
use crate::shell::Place;
use crate::{export, text};
use maud::{Markup, html};

/// Files that are listed before the logs of single runs are folded away.
const LISTED: usize = 24;
/// Links of one page.
const MOST: usize = 400;

/// Where the server has a file of an experiment.
fn path(id: &str, name: &str) -> String {
    format!("/experiment/{}/files/{}", encoded(id), encoded(name))
}

/// A part of a path in which nothing has a meaning of its own.
fn encoded(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    for byte in part.bytes() {
        // Two dots alone would lead up.
        let plain = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if plain {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    if out.bytes().all(|byte| byte == b'.') {
        out = out.replace('.', "%2E");
    }
    out
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let id = &page.report.record.id;
    let files = export::files(&page.report);
    let (logs, others): (Vec<_>, Vec<_>) = files
        .iter()
        .partition(|file| file.name.ends_with(".hdr") || file.name.ends_with(".hlog"));
    let (first, more) = others.split_at(others.len().min(LISTED));
    let link = |file: &export::ExportFile<'_>| {
        html! {
            li {
                @match page.setting.place {
                    Place::Served => a href=(path(id, &file.name)) download { (text::short(&file.name, 80)) },
                    Place::File => code { (text::short(&file.name, 80)) },
                }
                small { (file.about) }
            }
        }
    };
    html! {
        @if page.setting.place == Place::File {
            p { "This writes them all into a folder:" }
            pre.command { code { "plimsoll export " (text::line(&quoted(id))) } }
        }
        ul.files { @for file in first { (link(file)) } }
        @if !logs.is_empty() || !more.is_empty() {
            details {
                summary { (crate::words::counted((logs.len() + more.len()) as u64, "more file", plimsoll_quantities::numbers::PAGE)) }
                ul.files { @for file in more.iter().chain(&logs).take(MOST) { (link(file)) } }
                @if logs.len() + more.len() > MOST { p.remark { "The first " (MOST) "; the command above or " code { "plimsoll export" } " writes them all." } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_place() {
        assert_eq!(
            path("k3f9q", "points.csv"),
            "/experiment/k3f9q/files/points.csv"
        );
        assert_eq!(path("../a b", ".."), "/experiment/..%2Fa%20b/files/%2E%2E");
        assert_eq!(quoted("k3"), "k3");
        assert_eq!(quoted("a'; rm -rf ~"), "'a'\\''; rm -rf ~'");
    }
}
