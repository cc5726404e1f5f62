//! The table in `docs/warnings.md` is the one of the program. To write it:
//! `PLIMSOLL_WRITE_DOCS=1 cargo test -p plimsoll-record warnings_page`.

use crate::{Severity, WarningId};
use std::path::Path;

const BEGIN: &str = "<!-- warnings: begin, written by crates/record/src/warnings_page.rs -->\n";
const END: &str = "<!-- warnings: end -->";

#[test]
fn the_page_lists_every_warning() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/warnings.md");
    let page = std::fs::read_to_string(&path).expect("docs/warnings.md is in the repository");
    let (before, rest) = page.split_once(BEGIN).expect("the page has the first mark");
    let (found, after) =
        rest.split_once(END).expect("the page has the second mark after the first");
    let table = table();
    if std::env::var_os("PLIMSOLL_WRITE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}"))
            .expect("docs/warnings.md can be written");
        return;
    }
    assert_eq!(
        found, table,
        "docs/warnings.md is out of date: run again with PLIMSOLL_WRITE_DOCS=1"
    );
}

/// The heaviest first, otherwise in the order of the enum.
fn table() -> String {
    let mut table = "| id | weight | what was seen | what to do |\n|---|---|---|---|\n".to_owned();
    let mut ids = WarningId::ALL.to_vec();
    ids.sort_by_key(|id| std::cmp::Reverse(id.severity()));
    for id in ids {
        let weight = match id.severity() {
            Severity::Invalid => "invalid",
            Severity::Caution => "caution",
            Severity::Note => "note",
        };
        let seen = id.meaning();
        let seen = seen.trim_end_matches('.');
        let (id, advice) = (id.id(), id.advice());
        table.push_str(&format!("| `{id}` | {weight} | {seen} | {advice} |\n"));
    }
    table
}
