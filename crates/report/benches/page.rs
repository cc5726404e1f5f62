//! How long a page takes and how large it gets: `cargo bench -p plimsoll-report --features sample --bench page`.
//!
//! The bounds are 2 s and 2 MB for 1,000 points. Up to half a million seconds have their histograms.

use plimsoll_report::Report;
use plimsoll_report::page::experiment::render;
use plimsoll_report::sample::{self as sample, Shape};
use std::time::Instant;

fn main() {
    println!("{:<58} {:>9} {:>10} {:>9}", "page of", "seconds", "bytes", "ms");
    for (name, shape) in [
        ("the quickstart: 2 arms, 2 mixes, 5 loads, 6 blocks", Shape::quickstart()),
        ("1,000 points: 2 arms, 2 mixes, 250 loads, 8 blocks, 60 s", Shape::of(2, 250, 2, 8, 60)),
        ("1,000 points: 10 arms, 2 mixes, 50 loads, 8 blocks, 60 s", Shape::of(10, 50, 2, 8, 60)),
        ("1,000 points: 200 arms, 1 mix, 5 loads, 6 blocks, 60 s", Shape::of(200, 5, 1, 6, 60)),
        ("1,000 points: 20 arms, 10 mixes, 5 loads, 8 blocks, 600 s", Shape::of(20, 5, 10, 8, 600)),
        ("12 watched arms, 1 mix, 1 load, 6 blocks, 24 s", Shape::twelve_arms()),
        (
            "1,000 watched points: 12 arms, 2 mixes, 42 loads, 300 s",
            Shape { watched: true, ..Shape::of(12, 42, 2, 6, 300) },
        ),
        (
            "12 arms with lines, 2 mixes, 6 loads, 20 blocks, 60 s",
            Shape { decided: true, ..Shape::of(12, 6, 2, 20, 60) },
        ),
    ] {
        let (mut record, analysis) = sample::experiment(&shape);
        let drawn = || analysis.series.iter().map(|series| series.seconds.len());
        // Invented histograms of more seconds than this would not fit into memory.
        if drawn().sum::<usize>() <= 500_000 {
            sample::tails::furnish(&mut record, &analysis, false);
        }
        let drawn: usize = drawn().sum();
        let mut best = f64::INFINITY;
        let mut bytes = 0;
        for _ in 0..3 {
            let begin = Instant::now();
            bytes = render(&Report { record: &record, analysis: &analysis }).len();
            best = best.min(begin.elapsed().as_secs_f64());
        }
        println!("{name:<58} {drawn:>9} {bytes:>10} {:>9.1}", best * 1e3);
    }
}
