//! Is the plimsoll line where it was put, and is a series called changed only when it is?

use plimsoll_stats::{ChangeRule, Line, LineGoal, LineSearch, LineStep, LineTrial, change_points};

use crate::simulate::Source;
use crate::study::{Promise, Study};

const TRUTH: f64 = 7_350.0;

/// A search among trials that meet the objective when the rate, with this noise, is below the truth.
fn search(source: &mut Source, noise: f64) -> Line {
    let goal = LineGoal::with_trials_of(10.0);
    let mut search = LineSearch::new(goal, 10.0, 1e6, 500.0).expect("in order");
    loop {
        match search.next() {
            LineStep::Try { rate } => {
                let is_good = rate * (noise * source.normal()).exp() <= TRUTH;
                let seconds = 10.0;
                search
                    .add(LineTrial {
                        rate,
                        seconds,
                        is_good,
                    })
                    .expect("positive");
            }
            LineStep::Done(line) => return line,
        }
    }
}

fn holds(line: Line) -> bool {
    line.lower.is_some_and(|lower| lower <= TRUTH) && line.upper.is_some_and(|upper| upper > TRUTH)
}

pub fn studies() -> Vec<Study> {
    let mut studies = Vec::new();
    for (simulated, noise, promise, narrow) in [
        (
            "line of a capacity that varies by 0.2 % from trial to trial",
            0.002,
            Promise::AtLeast(0.95),
            Promise::AtLeast(0.99),
        ),
        (
            "line of a capacity that varies by 1 %",
            0.01,
            Promise::AtLeast(0.95),
            Promise::AtLeast(0.5),
        ),
    ] {
        let mut source = Source::new(71);
        studies.push(Study::new(
            simulated,
            "interval holds the capacity",
            promise,
            1000,
            || Some(holds(search(&mut source, noise))),
        ));
        let mut source = Source::new(71);
        studies.push(Study::new(
            simulated,
            "interval is at most 2 % wide",
            narrow,
            1000,
            || {
                Some(
                    search(&mut source, noise)
                        .width()
                        .is_some_and(|width| width < 0.02 + 1e-9),
                )
            },
        ));
    }
    let mut source = Source::new(72);
    studies.push(Study::new(
        "40 results without a change, 2 % noise",
        "a change is found",
        Promise::AtMost(0.01),
        2000,
        || Some(!changes(&mut source, 40, None).is_empty()),
    ));
    let mut source = Source::new(73);
    studies.push(Study::new(
        "a fall by 6 % after 20 of 40 results, 2 % noise",
        "exactly one change is found, within 2 results of its place",
        Promise::AtLeast(0.9),
        1000,
        || {
            let found = changes(&mut source, 40, Some((20, 0.94)));
            Some(found.len() == 1 && found[0].abs_diff(20) <= 2)
        },
    ));
    studies
}

fn changes(source: &mut Source, length: usize, step: Option<(usize, f64)>) -> Vec<usize> {
    let results: Vec<f64> = (0..length)
        .map(|index| {
            let level = match step {
                Some((at, factor)) if index >= at => factor,
                _ => 1.0,
            };
            1000.0 * level * (0.02 * source.normal()).exp()
        })
        .collect();
    change_points(&results, ChangeRule::default())
        .expect("positive")
        .iter()
        .map(|change| change.index)
        .collect()
}
