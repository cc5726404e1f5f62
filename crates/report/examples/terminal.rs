//! Prints what a terminal shows, for invented data: `cargo run -p plimsoll-report --example terminal -- 80 ascii`.

#[path = "../tests/sample/mod.rs"]
#[allow(dead_code)]
mod sample;

use plimsoll_report::{Report, terminal};

fn main() {
    let width = std::env::args()
        .nth(1)
        .and_then(|width| width.parse().ok())
        .unwrap_or(80);
    let unicode = std::env::args().nth(2).as_deref() != Some("ascii");
    let (record, analysis) = sample::experiment(&sample::Shape::quickstart());
    print!(
        "{}",
        terminal::summary(
            &Report {
                record: &record,
                analysis: &analysis
            },
            &terminal::Screen { width, unicode }
        )
    );
}
