//! The whole search on the simulated engine, whose answer is known: Poisson arrivals, one server with exponential service times (M/M/1). Nothing waits here: the
//! engine's own law and queue say when operations are complete.
//!
//! The response time of M/M/1 is exponential with rate μ - λ, so its p99 keeps within a limit L exactly up to the rate λ = μ - ln(100) / L.
//!
//! `./x calibrate` makes 100 searches; the ordinary tests make a few.

use plimsoll_engine::Simulation;
use plimsoll_plan::search::{Known, MixObjective, Outcome, PointSequence, Step, Tally, replay};
use plimsoll_plan::{
    Measurement, Objective, Order, Pairing, Point, PointRole, Search, SettingValue, Settings,
};
use plimsoll_record::{
    Completed, Latencies, OpenLatencies, Operation, OperationSlice, PointEnd, ShapedFrom, Slice,
    Status,
};
use plimsoll_stats::{Line, LineTrial};
use plimsoll_workload::Mix;
use plimsoll_workload::schedule::{Arrivals, Load, Share, arrivals};
use std::ops::Range;

const SECOND_NS: u64 = 1_000_000_000;
const CAPACITY: f64 = 2_000.0;
/// At the line a queue of this limit forgets its state in 30 ms, so that a trial of minutes has thousands of independent parts. Nearer to the capacity it takes seconds, and p99 of
/// a whole trial is then more often below than above that of the law: with a limit of 50 ms (1 s) 93 of 100 intervals of trials of 400 s held the line.
const LIMIT_NS: u64 = 10_000_000;

/// λ at which p99 is exactly the limit.
fn truth() -> f64 {
    CAPACITY - 100.0_f64.ln() / (LIMIT_NS as f64 / 1e9)
}

fn objective(trial_seconds: u64) -> (Objective, Search) {
    let search = Search {
        trial_ns: trial_seconds * SECOND_NS,
        warm_up_ns: 10 * SECOND_NS,
        width: 0.02,
        rates: (10.0, 100_000.0),
    };
    let objective = Objective {
        response: vec![(99.0, LIMIT_NS)],
        errors: 0.0,
        achieved: 0.99,
        operations: Vec::new(),
        search: Some(search),
    };
    (objective, search)
}

/// One trial, as a worker sends it.
fn measure(step: &Step, objective: &Objective, seed: u64) -> Outcome {
    let service = SettingValue::Nanos((1e9 / CAPACITY) as u64);
    let settings = Settings([("service_mean".to_owned(), service)].into());
    // Arrivals and services are drawn apart.
    let mut engine = Simulation::new(&settings, !seed).expect("its settings suit the engine");
    let window_ns = step.warm_up_ns + step.duration_ns;
    let mut end = PointEnd { measured_ns: step.duration_ns, ..PointEnd::default() };
    let mut latencies = OpenLatencies::default();
    let (mut finished, mut due_count) = (0, 0);
    for due_ns in
        arrivals(&step.load, window_ns, seed, Share::WHOLE).expect("few enough to be computed")
    {
        let completed_ns = engine.completion_ns(due_ns);
        due_count += u64::from(due_ns >= step.warm_up_ns);
        // What completes in the measured part counts, whenever it was due, and what is late at its end is at least that late.
        if completed_ns > window_ns {
            let unfinished = end.unfinished.get_or_insert_default();
            unfinished.record(window_ns - due_ns);
        } else if completed_ns >= step.warm_up_ns {
            latencies.response.record(completed_ns - due_ns);
            finished += 1;
        }
    }
    end.due = Some(due_count);
    let slice = Slice {
        start_ns: step.warm_up_ns,
        length_ns: step.duration_ns,
        completed: Completed { ok: finished, ..Completed::default() },
        operations: vec![OperationSlice {
            operation: Operation::Read,
            status: Status::Ok,
            latencies: Latencies {
                service: latencies.response.clone(),
                open: Some(Box::new(latencies)),
            },
        }],
        ..Slice::default()
    };
    let mix = Mix::named("a");
    let mut tally = Tally::new(Some(MixObjective { objective, mix: &mix }));
    tally.add(&slice);
    tally.outcome(&end)
}

/// One search from a cold start; the line, and how many trials it took.
fn search(seed: u64, trial_seconds: u64) -> (Line, usize) {
    let (objective, search) = objective(trial_seconds);
    let measurement = Measurement {
        warm_up_ns: 0,
        duration_ns: SECOND_NS,
        operations: None,
        blocks: 1,
        looks: None,
        order: Order::Shuffled,
        pairing: Pairing::InTurn,
        seed,
        shaped_from: ShapedFrom::default(),
        checkpoints: plimsoll_plan::Checkpoints::default(),
        log_operations: 0,
        spare_blocks: None,
        caches: plimsoll_plan::Caches::AsLoaded,
        end_timeout_ns: plimsoll_plan::END_TIMEOUT_NS,
    };
    let load = Load::Open { rate: 1_000.0, arrivals: Arrivals::Poisson, sessions: 10_000 };
    let points = [Point { role: PointRole::Line, ..Point::fixed(0, load) }];
    let known = Known::default();
    let mut sequence = PointSequence::new(&points, &measurement, Some(&objective), &known);
    let mut trials = Vec::new();
    while let Some(step) = sequence.next_step().expect("within its bounds") {
        let number = trials.len() as u64;
        let outcome = measure(&step, &objective, seed ^ ((number + 1) << 32));
        let Load::Open { rate, .. } = step.load else {
            panic!("a search asks for rates");
        };
        trials.push(LineTrial {
            rate,
            seconds: trial_seconds as f64,
            is_good: outcome.meets_objective == Some(true),
        });
        sequence.done(outcome);
    }
    let replayed = replay(&search, &trials).expect("there were trials");
    (replayed.line(), trials.len())
}

#[derive(Default)]
struct Found {
    searches: usize,
    holding: usize,
    narrow: usize,
    trials: usize,
}

fn searches(seeds: Range<u64>, trial_seconds: u64) -> Found {
    let mut found = Found::default();
    for seed in seeds {
        let (line, trials) = search(seed, trial_seconds);
        found.searches += 1;
        found.trials += trials;
        let holds = line.lower.is_some_and(|lower| lower <= truth())
            && line.upper.is_some_and(|upper| upper >= truth());
        found.holding += usize::from(holds);
        // Rates are multiplied up from the first one, which leaves the last digits to rounding.
        let is_narrow = |width: f64| width <= 0.02 + 1e-9;
        found.narrow += usize::from(line.width().is_some_and(is_narrow));
    }
    found
}

#[test]
#[ignore = "minutes without optimisation: ./x calibrate makes them"]
fn the_line_of_a_known_queue_is_found_in_95_of_100_searches() {
    let found = searches(0..100, 600);
    println!(
        "| line of the simulated engine, M/M/1 at {:.1} op/s, {} searches of {:.1} trials | interval holds the line: {}; at most 2 % wide: {} |",
        truth(),
        found.searches,
        found.trials as f64 / found.searches as f64,
        found.holding,
        found.narrow,
    );
    assert!(found.holding >= 95 && found.narrow >= 95);
}

mod slow {
    use super::*;

    /// A few, so that the ordinary tests see a search that is broken: each may miss with a chance of 1 in 20.
    #[test]
    fn the_line_of_a_known_queue_is_found() {
        let found = searches(0..4, 100);
        assert!(found.holding >= 3, "{} of {}", found.holding, found.searches);
    }
}
