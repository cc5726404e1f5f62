use crate::search::{Known, Outcome, PointSequence, Step};
use crate::{Measurement, Objective, Order, Pairing, Point, PointRole, Search, Sessions};
use plimsoll_record::ShapedFrom;
use plimsoll_stats::LineTrial;
use plimsoll_workload::schedule::{Arrivals, Load};
use proptest::prelude::*;

const SECOND_NS: u64 = 1_000_000_000;

fn measurement() -> Measurement {
    Measurement {
        warm_up_ns: SECOND_NS,
        duration_ns: 10 * SECOND_NS,
        operations: Some(1_000),
        blocks: 8,
        looks: None,
        order: Order::Shuffled,
        pairing: Pairing::InTurn,
        seed: 1,
        shaped_from: ShapedFrom::default(),
        checkpoints: crate::Checkpoints::default(),
        log_operations: 0,
        spare_blocks: None,
        caches: crate::Caches::AsLoaded,
        end_timeout_ns: crate::END_TIMEOUT_NS,
    }
}

fn objective() -> Objective {
    Objective {
        response: vec![(99.0, 10_000_000)],
        errors: 0.0,
        achieved: 0.99,
        operations: Vec::new(),
        search: Some(Search {
            trial_ns: 2 * SECOND_NS,
            warm_up_ns: SECOND_NS / 2,
            width: 0.02,
            rates: (10.0, 1e6),
        }),
    }
}

fn closed(sessions: u32, role: PointRole) -> Point {
    let load = Load::closed(sessions);
    Point { role, ..Point::fixed(0, load) }
}

fn open(rate: f64, role: PointRole, sessions: Sessions) -> Point {
    let load = Load::Open { rate, arrivals: Arrivals::Poisson, sessions: 64 };
    Point { role, sessions, ..Point::fixed(0, load) }
}

fn doubling() -> Vec<Point> {
    let point = |power: u32| closed(1 << power, PointRole::Sweep);
    (0..11).map(point).collect()
}

fn sessions_of(step: &Step) -> u32 {
    step.load.sessions()
}

fn rate_of(step: &Step) -> f64 {
    match step.load {
        Load::Open { rate, .. } => rate,
        ref other => panic!("{other} is no open loop"),
    }
}

/// A database that carries this much under any load, and whose throughput grows in proportion up to this many sessions.
fn of_capacity(capacity: f64, sessions: u32) -> impl Fn(&Step) -> Outcome {
    move |step| {
        let throughput = match step.load {
            Load::Closed { sessions: own, .. } => {
                capacity * f64::from(own.min(sessions)) / f64::from(sessions)
            }
            Load::Open { rate, .. } => rate.min(capacity),
            Load::Stages { .. } => capacity,
        };
        let is_good = matches!(step.load, Load::Open { rate, .. } if rate <= capacity);
        Outcome {
            throughput,
            p99_ns: Some(1e6),
            achieved: Some(1.0),
            meets_objective: Some(is_good),
        }
    }
}

fn walk(
    points: &[Point],
    objective: Option<&Objective>,
    known: &Known,
    of: impl Fn(&Step) -> Outcome,
) -> Vec<Step> {
    let measurement = measurement();
    let mut sequence = PointSequence::new(points, &measurement, objective, known);
    let mut steps = Vec::new();
    while let Some(step) = sequence.next_step().expect("settings in their bounds") {
        assert_eq!(sequence.next_step().expect("the same"), Some(step.clone()));
        let outcome = of(&step);
        sequence.done(outcome);
        steps.push(step);
        assert!(steps.len() < 1_000, "a run comes to an end");
    }
    steps
}

/// Without an objective that the sweep can pass.
fn without_objective(of: impl Fn(&Step) -> Outcome) -> impl Fn(&Step) -> Outcome {
    move |step| Outcome { meets_objective: None, ..of(step) }
}

#[test]
fn fixed_points_are_all_measured_as_given() {
    let points = [
        closed(1, PointRole::Fixed),
        closed(64, PointRole::Fixed),
        open(5_000.0, PointRole::Fixed, Sessions::Given),
    ];
    let of = without_objective(of_capacity(100.0, 1));
    let steps = walk(&points, None, &Known::default(), of);
    assert_eq!(steps.len(), 3);
    for (index, (step, point)) in steps.iter().zip(&points).enumerate() {
        assert_eq!((step.point, step.trial), (index, None));
        assert_eq!(step.load, point.load);
        assert_eq!(step.load_label, point.load.to_string());
        assert_eq!(step.operations, Some(1_000));
    }
}

#[test]
fn a_sweep_ends_when_two_doublings_bring_nothing() {
    let of = without_objective(of_capacity(8_000.0, 8));
    let steps = walk(&doubling(), None, &Known::default(), of);
    let sessions: Vec<u32> = steps.iter().map(sessions_of).collect();
    assert_eq!(sessions, [1, 2, 4, 8, 16, 32]);
}

#[test]
fn a_sweep_never_ends_while_it_climbs() {
    let of = without_objective(of_capacity(8e6, 1 << 20));
    let steps = walk(&doubling(), None, &Known::default(), of);
    assert_eq!(steps.len(), 11);
}

#[test]
fn a_sweep_of_rates_ends_when_the_objective_is_missed() {
    let rates = (0..12).map(|power| 200.0 * f64::from(1 << power));
    let points = rates.map(|rate| open(rate, PointRole::Sweep, Sessions::Given));
    let points: Vec<Point> = points.collect();
    let mut only_marks = objective();
    only_marks.search = None;
    let (known, of) = (Known::default(), of_capacity(1_000.0, 1));
    let steps = walk(&points, Some(&only_marks), &known, of);
    let rates: Vec<f64> = steps.iter().map(rate_of).collect();
    assert_eq!(rates, [200.0, 400.0, 800.0, 1_600.0]);
}

#[test]
fn a_later_block_measures_at_least_what_an_earlier_one_did() {
    let known = Known { measured: (0..8).collect(), ..Known::default() };
    let of = without_objective(of_capacity(4_000.0, 4));
    let steps = walk(&doubling(), None, &known, of);
    let sessions: Vec<u32> = steps.iter().map(sessions_of).collect();
    assert_eq!(sessions, [1, 2, 4, 8, 16, 32, 64, 128]);
}

#[test]
fn sessions_are_those_of_the_best_closed_point() {
    let mut points = doubling();
    points.push(open(500.0, PointRole::Fixed, Sessions::Found));
    points.push(open(500.0, PointRole::Fixed, Sessions::Given));
    // Above 16 sessions it gets slower, so that the best point is one of many.
    let of = |step: &Step| {
        let sessions = f64::from(step.load.sessions());
        Outcome {
            throughput: 1_000.0 * sessions / (1.0 + 0.003 * sessions * sessions),
            p99_ns: None,
            achieved: None,
            meets_objective: None,
        }
    };
    let steps = walk(&points, None, &Known::default(), of);
    let last: Vec<u32> = steps.iter().rev().take(2).map(sessions_of).collect();
    assert_eq!(last, [64, 16]);
}

#[test]
fn the_line_is_found_and_its_shares_are_offered() {
    let objective = objective();
    let mut points =
        vec![closed(4, PointRole::Fixed), open(1_000.0, PointRole::Line, Sessions::Found)];
    for share in [0.5, 0.8] {
        points.push(open(1.0, PointRole::ShareOfLine { share }, Sessions::Given));
    }
    let capacity = 7_350.0;
    let (known, of) = (Known::default(), of_capacity(capacity, 4));
    let steps = walk(&points, Some(&objective), &known, of);
    assert_eq!(steps[0].trial, None);
    // It begins where the closed loop points to.
    assert!((rate_of(&steps[1]) - 0.75 * capacity).abs() < 1e-6);
    let trials: Vec<&Step> = steps.iter().filter(|step| step.trial.is_some()).collect();
    for (number, step) in (0..).zip(&trials) {
        assert_eq!(step.trial, Some(number));
        assert_eq!((step.point, sessions_of(step)), (1, 4));
        assert_eq!(step.duration_ns, 2 * SECOND_NS);
        assert_eq!(step.warm_up_ns, SECOND_NS / 2);
        assert_eq!(step.operations, None);
    }
    assert_eq!(trials[0].load_label, "5,513 op/s");
    for step in &trials {
        let digits = step.load_label.chars().filter(char::is_ascii_digit);
        assert!(digits.count() <= 5, "{}", step.load_label);
    }
    let [half, most] = &steps[steps.len() - 2..] else {
        panic!("two shares follow the search");
    };
    assert_eq!(half.load_label, "50 % of the line");
    assert_eq!(most.load_label, "80 % of the line");
    let line = rate_of(half) / 0.5;
    assert!(line <= capacity, "{line} of {capacity}");
    assert!(line > 0.98 * capacity, "{line} of {capacity}");
    assert!((rate_of(most) / line - 0.8).abs() < 1e-9);
}

#[test]
fn without_a_line_its_shares_are_left_out() {
    let objective = objective();
    let points = [
        open(1_000.0, PointRole::Line, Sessions::Given),
        open(1.0, PointRole::ShareOfLine { share: 0.5 }, Sessions::Given),
    ];
    // Not even the lowest rate holds.
    let (known, of) = (Known::default(), of_capacity(5.0, 1));
    let steps = walk(&points, Some(&objective), &known, of);
    assert!(steps.iter().all(|step| step.point == 0));
    // The lowest rate was tried.
    assert!(steps.iter().any(|step| rate_of(step) < 10.5));
}

#[test]
fn a_search_that_was_interrupted_goes_on_where_it_was() {
    let objective = objective();
    let points = [open(1_000.0, PointRole::Line, Sessions::Given)];
    let of = of_capacity(7_350.0, 1);
    let whole = walk(&points, Some(&objective), &Known::default(), &of);
    let made = whole.len() / 2;
    let trials = whole[..made].iter().map(|step| LineTrial {
        rate: rate_of(step),
        seconds: 2.0,
        is_good: of(step).meets_objective == Some(true),
    });
    let known = Known { trials: [(0, trials.collect())].into(), ..Known::default() };
    let rest = walk(&points, Some(&objective), &known, &of);
    assert_eq!(rest, whole[made..]);
}

proptest! {
    #[test]
    fn every_capacity_is_found(capacity in 20.0_f64..5e5, near in proptest::option::of(0.95_f64..1.05)) {
        let objective = objective();
        let points = [open(1_000.0, PointRole::Line, Sessions::Given), open(1.0, PointRole::ShareOfLine { share: 1.0 }, Sessions::Given)];
        let known = Known { near: near.map(|share| (0, share * capacity)).into_iter().collect(), ..Known::default() };
        let steps = walk(&points, Some(&objective), &known, of_capacity(capacity, 1));
        let line = rate_of(steps.last().expect("there is the share"));
        prop_assert!(line <= capacity && line > 0.975 * capacity, "{line} of {capacity}");
    }
}
