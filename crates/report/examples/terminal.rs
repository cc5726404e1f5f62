//! Prints what a terminal shows, for invented data: `cargo run -p plimsoll-report --features sample --example terminal -- 80 ascii`, or with
//! `two-disks` or `twelve-arms` at the end for experiments on emulated disks, or `safe-load` or `against-itself` for what a run decides.

use plimsoll_report::Report;
use plimsoll_report::sample;
use plimsoll_report::terminal::{Screen, summary};

fn main() {
    let width = std::env::args().nth(1).and_then(|width| width.parse().ok()).unwrap_or(80);
    let requested = |word: &str| std::env::args().any(|argument| argument == word);
    let unicode = !requested("ascii");
    let shape = if requested("two-disks") {
        sample::Shape::two_disks()
    } else if requested("twelve-arms") {
        sample::Shape::twelve_arms()
    } else if requested("safe-load") || requested("against-itself") {
        sample::Shape::safe_load()
    } else {
        sample::Shape::quickstart()
    };
    let (record, mut analysis) = sample::experiment(&shape);
    if requested("against-itself") {
        sample::against_itself(&mut analysis);
    }
    print!(
        "{}",
        summary(&Report { record: &record, analysis: &analysis }, &Screen { width, unicode })
    );
}
