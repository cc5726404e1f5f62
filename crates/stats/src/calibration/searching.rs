//! Is the plimsoll line where it was put, and is a series called changed only when it is?

use crate::{ChangeRule, Line, LineGoal, LineSearch, LineStep, LineTrial, change_points};

use crate::calibration::simulate::Source;
use crate::calibration::study::{Promise, Studies, Study, repeats};
use Promise::{AtLeast, AtMost, Between};

const TRUTH: f64 = 7_350.0;
const LINES: usize = 500;

/// What varies from trial to trial.
#[derive(Clone, Copy)]
enum Varies {
    /// The capacity, by this much, independently.
    Capacity(f64),
    /// The capacity, by this much, and four fifths of it stay until the next trial.
    CapacityWithMemory(f64),
    /// Nothing but p99: it is `limit` times that of an idle engine at the truth, grows as in a queue, and varies by this much.
    Percentile { limit: f64, noise: f64 },
    /// Nothing, but this share of the trials has a stall and fails.
    Stalls(f64),
    /// The capacity falls by this share over the first 20 trials, through the truth in their middle.
    Drift(f64),
}

#[derive(Clone, Copy)]
enum Start {
    /// Anywhere within a factor of ten.
    Cold,
    /// Where a block before left off, which is off by about 1 %.
    Near,
}

/// What came of one search.
struct SearchOutcome {
    line: Line,
    trials: usize,
}

impl SearchOutcome {
    fn holds(&self) -> bool {
        let Line { lower, upper } = self.line;
        lower.is_some_and(|lower| lower <= TRUTH) && upper.is_some_and(|upper| upper > TRUTH)
    }

    fn is_narrow(&self) -> bool {
        self.line.width().is_some_and(|width| width < 0.02 + 1e-9)
    }
}

/// Lets a search run to its end.
fn search(source: &mut Source, varies: Varies, start: Start) -> SearchOutcome {
    let first = match start {
        Start::Cold => TRUTH * 10.0_f64.powf(2.0 * source.share() - 1.0),
        Start::Near => TRUTH * (0.01 * source.normal()).exp(),
    };
    let goal = LineGoal::with_trials_of(10.0);
    let mut search = LineSearch::new(goal, 10.0, 1e6, first).expect("in order");
    if matches!(start, Start::Near) {
        search = search.near();
    }
    let mut remembered = source.normal();
    loop {
        let rate = match search.next() {
            LineStep::Try { rate } => rate,
            LineStep::Done(line) => {
                let trials = search.trials().len();
                return SearchOutcome { line, trials };
            }
        };
        let is_good = match varies {
            Varies::Capacity(noise) => rate <= TRUTH * (noise * source.normal()).exp(),
            Varies::CapacityWithMemory(noise) => {
                remembered = 0.8 * remembered + 0.6 * source.normal();
                rate <= TRUTH * (noise * remembered).exp()
            }
            Varies::Percentile { limit, noise } => {
                let capacity = TRUTH / (1.0 - 1.0 / limit);
                let p99 = (noise * source.normal()).exp() / (1.0 - rate / capacity);
                rate < capacity && p99 <= limit
            }
            Varies::Stalls(share) => rate <= TRUTH && !source.chance(share),
            Varies::Drift(share) => {
                let come = (search.trials().len() as f64 / 20.0).min(1.0);
                rate <= TRUTH * (1.0 + share * (0.5 - come))
            }
        };
        let seconds = 10.0;
        search.add(LineTrial { rate, seconds, is_good }).expect("positive");
    }
}

/// A way in which trials vary, and what searches have to show for it.
struct Case {
    simulated: &'static str,
    seed: u64,
    varies: Varies,
    /// How often the interval must hold the truth.
    holds: Promise,
    /// How often it must be as narrow as requested; nothing is promised where trials vary too much.
    narrow: Option<Promise>,
    /// Most trials on average, from anywhere and from near the line.
    most: (f64, f64),
}

fn cases() -> Vec<Case> {
    let case = |simulated, seed, varies, holds, narrow, most| Case {
        simulated,
        seed,
        varies,
        holds,
        narrow,
        most,
    };
    let p99 = |noise| Varies::Percentile { limit: 10.0, noise };
    let most = Some(AtLeast(0.99));
    let half = Some(AtLeast(0.5));
    vec![
        case(
            "line, capacity varies by 0.2 % from trial to trial",
            71,
            Varies::Capacity(0.002),
            AtLeast(0.95),
            most,
            (25.0, 14.0),
        ),
        case(
            "line, capacity varies by 1 %",
            72,
            Varies::Capacity(0.01),
            AtLeast(0.95),
            half,
            (45.0, 40.0),
        ),
        case(
            "line, capacity varies by 1 %, four fifths of it stay until the next trial",
            73,
            Varies::CapacityWithMemory(0.01),
            Between(0.8, 0.95),
            half,
            (45.0, 40.0),
        ),
        case(
            "line, fixed capacity, p99 varies by 10 %, as 1 % of the rate does",
            74,
            p99(0.1),
            AtLeast(0.95),
            half,
            (45.0, 40.0),
        ),
        case(
            "line, fixed capacity, p99 varies by 30 %",
            75,
            p99(0.3),
            Between(0.9, 0.95),
            None,
            (90.0, 85.0),
        ),
        case(
            "line, one trial in twenty fails by a stall",
            76,
            Varies::Stalls(0.05),
            AtLeast(0.95),
            most,
            (25.0, 14.0),
        ),
        case(
            "line, capacity falls by 1 % in 20 trials",
            77,
            Varies::Drift(0.01),
            AtLeast(0.95),
            most,
            (25.0, 14.0),
        ),
    ]
}

/// Searches whose truth is known: whether they find it, narrowly, and in how many trials.
fn lines(studies: &mut Vec<Study>) {
    for case in cases() {
        for (start, most) in [(Start::Cold, case.most.0), (Start::Near, case.most.1)] {
            let mut name = case.simulated.to_string();
            if matches!(start, Start::Near) {
                name.push_str("; begun within about 1 % of it");
            }
            let mut source = Source::new(case.seed);
            let found: Vec<SearchOutcome> =
                (0..repeats(LINES)).map(|_| search(&mut source, case.varies, start)).collect();
            let count = |counted, promise, happened: fn(&SearchOutcome) -> bool| {
                let mut each = found.iter();
                Study::new(&name, counted, promise, LINES, || each.next().map(happened))
            };
            studies.push(count("interval holds the line", case.holds, SearchOutcome::holds));
            if let Some(narrow) = case.narrow {
                studies.push(count(
                    "interval is at most 2 % wide",
                    narrow,
                    SearchOutcome::is_narrow,
                ));
            }
            let trials: Vec<f64> = found.iter().map(|found| found.trials as f64).collect();
            studies.push(Study::mean(&name, "trials, on average", most, &trials));
        }
    }
}

pub fn studies() -> Vec<Study> {
    let mut studies = Studies::repeated(1000);
    lines(&mut studies.all);
    let simulated = "40 results without a change, 2 % noise";
    let counted = "a change is found";
    studies.repeats = 2000;
    studies.add(72, simulated, counted, AtMost(0.01), |source| {
        Some(!changes(source, 40, None).is_empty())
    });
    // Results that remember the one before are no independent ones, and the test takes their wandering for changes.
    let simulated =
        "40 results without a change, 2 % noise, half of it stays until the next (AR 0.5)";
    let counted = "a change is found";
    studies.repeats = 1000;
    studies.add(78, simulated, counted, AtMost(0.1), |source| {
        let wander = source.autoregressive(0.5, 40);
        let results: Vec<f64> = wander.iter().map(|x| 1000.0 * (0.02 * x).exp()).collect();
        let found = change_points(&results, ChangeRule::default()).expect("positive");
        Some(!found.is_empty())
    });
    let simulated = "a fall by 6 % after 20 of 40 results, 2 % noise";
    let counted = "exactly one change is found, within 2 results of its place";
    studies.add(73, simulated, counted, AtLeast(0.9), |source| {
        let found = changes(source, 40, Some((20, 0.94)));
        Some(found.len() == 1 && found[0].abs_diff(20) <= 2)
    });
    studies.all
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
    let found = change_points(&results, ChangeRule::default()).expect("positive");
    found.iter().map(|change| change.index).collect()
}
