//! The same numbers for other programs: links where the page is served, the command that writes them where it is a file.

use super::Page;
use crate::files::{ExportFile, files};
use crate::page::link;
use crate::page::shell::Place;
use crate::text;
use maud::{Markup, html};

/// Files that are listed before the logs of single runs are folded away.
const LISTED: usize = 24;
const MOST: usize = 400;

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
    let files = files(&page.report);
    let (logs, others): (Vec<_>, Vec<_>) =
        files.iter().partition(|file| file.name.ends_with(".hdr") || file.name.ends_with(".hlog"));
    let (first, more) = others.split_at(others.len().min(LISTED));
    let link = |file: &ExportFile<'_>| {
        html! {
            li {
                @match page.setting.place {
                    Place::Served => a href=(link::file(id, &file.name)) download { (text::short(&file.name, 80)) },
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
                summary { (crate::words::counted((logs.len() + more.len()) as u64, "more file", plimsoll_record::quantities::numbers::PAGE)) }
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
    fn ids_are_quoted_for_a_shell() {
        assert_eq!(quoted("k3"), "k3");
        assert_eq!(quoted("a'; rm -rf ~"), "'a'\\''; rm -rf ~'");
    }
}
