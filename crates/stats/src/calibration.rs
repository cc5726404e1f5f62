//! Calibration: every method that infers something, tried on simulated data whose truth is known.
//!
//! A study repeats one simulation many times and counts how often the method was right (or wrong). The share must lie in a band that the method promises, widened by
//! 3.3 binomial standard errors of that many repeats: a method that keeps its promise exactly would leave such a band once in a thousand. Seeds are fixed.
//!
//! Every run of the tests makes a fortieth of the repeats, whose bands are wider by as much. The table in `docs/methods.md` is made from all of
//! them, and checked against them by `./x test --all`; `./x calibrate` prints and writes it.

mod adjusting;
mod between_blocks;
mod comparing;
mod contrasts;
mod curves;
mod deciding;
mod duets;
mod noise;
mod searching;
mod simulate;
mod stopping;
mod study;
mod warming_up;
mod whole;

use std::path::Path;

use study::Study;

const BEGIN: &str = "<!-- calibration: begin, written by crates/stats/src/calibration.rs -->\n";
const END: &str = "<!-- calibration: end -->";

type Chapter = (&'static str, fn() -> Vec<Study>);

const CHAPTERS: [Chapter; 12] = [
    ("Comparing two arms", comparing::studies),
    ("From block to block", between_blocks::studies),
    ("Duets and controls", duets::studies),
    ("What other programs took", adjusting::studies),
    ("Sources of noise", noise::studies),
    ("Verdicts", deciding::studies),
    ("Factors", contrasts::studies),
    ("Stopping by looks", stopping::studies),
    ("Warm-up", warming_up::studies),
    ("Curves", curves::studies),
    ("Searching", searching::studies),
    ("Put together", whole::studies),
];

/// The rows of the studies that broke their promise.
fn broken(studies: &[Study]) -> String {
    let broken = studies.iter().filter(|study| !study.kept());
    broken.map(Study::row).collect()
}

/// On one thread, so that the tests beside it are not kept waiting.
#[test]
fn a_fortieth_of_the_repeats_breaks_no_promise() {
    let studies = || CHAPTERS.iter().flat_map(|(_, studies)| studies());
    let studies: Vec<Study> = study::short(|| studies().collect());
    assert!(studies.len() > 100, "{}", studies.len());
    assert_eq!(broken(&studies), "");
}

mod slow {
    use super::*;

    #[test]
    fn every_method_keeps_its_promise_and_the_page_shows_it() {
        let mut table = String::from(
            "| simulated | counted | promised | found | repeats |\n|---|---|---|---|---|\n",
        );
        let mut all = Vec::new();
        let chapters: Vec<_> = CHAPTERS.map(|(_, studies)| std::thread::spawn(studies)).into();
        for ((title, _), chapter) in CHAPTERS.iter().zip(chapters) {
            table.push_str(&format!("| **{title}** | | | | |\n"));
            let studies = chapter.join().expect("a study panicked");
            studies.iter().for_each(|study| table.push_str(&study.row()));
            all.extend(studies);
        }
        println!("{table}");
        assert_eq!(broken(&all), "", "broken promises");
        compare_with_the_page(&table);
    }
}

fn compare_with_the_page(table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/methods.md");
    let page = std::fs::read_to_string(&path).expect("docs/methods.md is part of the repository");
    let (before, rest) =
        page.split_once(BEGIN).expect("the page has a place where the table begins");
    let (shown, after) = rest.split_once(END).expect("the page has a place where the table ends");
    if std::env::var_os("PLIMSOLL_WRITE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}"))
            .expect("the page can be written");
        return;
    }
    assert_eq!(
        shown, table,
        "docs/methods.md is out of date: run again with PLIMSOLL_WRITE_DOCS=1"
    );
}
