//! Writes a page of invented data to the path given, or to standard output: `cargo run -p plimsoll-report --example page -- page.html`.

#[path = "../tests/sample/mod.rs"]
#[allow(dead_code)]
mod sample;

use plimsoll_report::{Report, page};
use std::io::Write as _;

fn main() -> std::io::Result<()> {
    let (record, analysis) = sample::experiment(&sample::Shape::quickstart());
    let html = page::render(&Report {
        record: &record,
        analysis: &analysis,
    });
    match std::env::args_os().nth(1) {
        Some(path) => std::fs::write(path, html),
        None => std::io::stdout().write_all(html.as_bytes()),
    }
}
