//! Writes a page of invented data to a path, of the quickstart's shape or of any other:
//!
//! ```text
//! cargo run -p plimsoll-report --features sample --example page -- page.html
//! cargo run -p plimsoll-report --features sample --example page -- page.html two-disks
//! cargo run -p plimsoll-report --features sample --example page -- page.html twelve-arms
//! cargo run -p plimsoll-report --features sample --example page -- page.html safe-load
//! cargo run -p plimsoll-report --features sample --example page -- page.html against-itself
//! cargo run -p plimsoll-report --features sample --example page -- page.html open
//! cargo run -p plimsoll-report --features sample --example page -- page.html hosts
//! cargo run -p plimsoll-report --features sample --example page -- page.html map [ACCESSES]
//! cargo run -p plimsoll-report --features sample --example page -- page.html ARMS LOADS MIXES BLOCKS SECONDS [decided]
//! ```

use plimsoll_report::Report;
use plimsoll_report::page::experiment::{DiskMap, Setting, render_in};
use plimsoll_report::sample::{self as sample, Shape};
use plimsoll_trace::diskmap::RunMap;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "page.html".into());
    let rest: Vec<String> = arguments.collect();
    let sizes: Vec<u32> = rest.iter().filter_map(|size| size.parse().ok()).collect();
    let mut shape = match (rest.first().map(String::as_str), &sizes[..]) {
        (Some("two-disks"), _) => Shape::two_disks(),
        (Some("twelve-arms"), _) => Shape::twelve_arms(),
        (Some("safe-load" | "against-itself"), _) => Shape::safe_load(),
        (_, &[arms, loads, mixes, blocks, seconds]) => {
            Shape::of(arms as usize, loads, mixes as usize, blocks, seconds)
        }
        _ => Shape::quickstart(),
    };
    shape.decided |= rest.iter().any(|word| word == "decided");
    let (mut record, mut analysis) = sample::experiment(&shape);
    if rest.iter().any(|word| word == "against-itself") {
        sample::against_itself(&mut analysis);
        sample::noisy(&mut analysis);
    }
    let open = rest.iter().any(|word| word == "open");
    if open {
        sample::opened(&mut analysis);
    }
    sample::tails::furnish(&mut record, &analysis, open);
    if rest.iter().any(|word| word == "hosts") {
        sample::hosts::furnish(&mut record, &mut analysis);
    }
    let mut maps = Vec::new();
    if rest.iter().any(|word| word == "map")
        && let Some(run) = record.runs.first_mut()
    {
        let number = sizes.first().copied().unwrap_or(20_000);
        let accesses = sample::map::accesses(run, number as usize);
        // However large the page becomes: the player is tried with it.
        let drawn = RunMap::of(run, &accesses, usize::MAX, 768).map_err(std::io::Error::other)?;
        maps.push(DiskMap::of(run, drawn));
    }
    let report = Report { record: &record, analysis: &analysis };
    let setting = Setting { maps: &maps, ..Setting::default() };
    let html = render_in(&report, &setting);
    std::fs::write(path, html)
}
