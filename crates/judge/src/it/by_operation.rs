//! Bounds on operations of their own.

use crate::it::laboratory::{
    Laboratory, SECOND_NS, Shown, finished_run, part, point, point_record,
};
use crate::it::searched::{line_point, lines};
use crate::{Analysis, Judgement, Outcome};
use insta::assert_snapshot;
use plimsoll_plan::{Metric, Objective, OperationObjective, Threshold};
use plimsoll_record::{
    LoadKind, Operation, OwnOperation, PointLabel, PointRecord, StatementKind, StatementTimes,
    Status,
};
use plimsoll_stats::{LineStep, LineTrial};
use plimsoll_workload::Mix;

fn by_customer() -> Operation {
    Operation::Own(OwnOperation::new(StatementKind::Find, "by-customer").unwrap())
}

fn pay() -> Operation {
    Operation::Own(OwnOperation::new(StatementKind::Update, "pay").unwrap())
}

/// Three of four operations find by customer, one pays.
fn mix() -> Mix {
    let own = |operation| match operation {
        Operation::Own(own) => own,
        _ => panic!("it is one of an application"),
    };
    let operations = vec![(own(by_customer()), 3.0), (own(pay()), 1.0)];
    Mix { operations, ..Mix::named("c") }
}

/// Makes the operations of a point those of the application, with a response time for each.
fn divide(record: &mut PointRecord, by_customer_ns: f64, pay_ns: f64) {
    let load = record.label.load;
    for slice in &mut record.slices {
        let all = slice.completed.ok;
        let finds = all * 3 / 4;
        slice.operations = vec![
            part(by_customer(), Status::Ok, load, by_customer_ns, finds),
            part(pay(), Status::Ok, load, pay_ns, all - finds),
        ];
    }
}

/// Two arms at 1,000 op/s in six blocks: arm `new` pays in 30 ms, everything else takes 1 ms.
fn at_one_rate() -> Laboratory {
    in_blocks(6)
}

fn in_blocks(blocks: u32) -> Laboratory {
    let mut lab = Laboratory::open(&["old", "new"], &["c"], &[1_000.0], blocks).measure(|_| {
        Shown { throughput: 1_000.0, response_ns: 1e6, errors: 0, seconds: 12, busy: 0.5 }
    });
    lab.plan.mixes = vec![mix()];
    for run in &mut lab.runs {
        let pay_ns = if run.arm == "new" { 3e7 } else { 1e6 };
        for point in &mut run.points {
            divide(point, 1e6, pay_ns);
        }
    }
    lab
}

fn threshold(text: &str, metric: Metric, bound: f64, operation: Operation) -> Threshold {
    Threshold {
        text: text.into(),
        metric: metric.of(operation).unwrap(),
        at_least: text.contains(">="),
        bound,
        arm: None,
        mix: None,
        at: None,
    }
}

fn results(analysis: &Analysis) -> Vec<(&str, Option<f64>, bool)> {
    let results = analysis.thresholds.iter();
    results.map(|one| (one.subject.as_str(), one.measured.map(f64::round), one.passed)).collect()
}

/// Statements of a transaction have a rate and a mean time over the measured part, in the order of the transaction.
#[test]
fn statements_are_summarised_by_point() {
    let mut lab = at_one_rate();
    for point in lab.points() {
        let times = |name: &str, count, mean_ns| StatementTimes {
            operation: OwnOperation::new(StatementKind::Find, name).unwrap(),
            count,
            total_ns: count * mean_ns,
        };
        let end = point.end.as_mut().unwrap();
        end.statements = vec![times("buy-1", 2_400, 700_000), times("buy-10", 1_200, 90_000)];
    }
    let analysis = lab.analyse();
    let found = &point(&analysis, "old", "1,000 op/s").statements;
    let found: Vec<_> = found
        .iter()
        .map(|one| (&*one.name, one.count, one.throughput.median, one.mean.median))
        .collect();
    assert_eq!(
        found,
        [
            ("buy-1", 14_400, Some(200.0), Some(700_000.0)),
            ("buy-10", 7_200, Some(100.0), Some(90_000.0))
        ]
    );
}

#[test]
fn a_threshold_is_held_against_its_operation_alone() {
    let mut lab = at_one_rate();
    let p50 = Metric::Response { percentile: 50.0 };
    lab.plan.thresholds = vec![
        threshold("response.p50 <= 20ms", p50, 2e7, pay()),
        threshold("response.p50 <= 20ms", p50, 2e7, by_customer()),
        threshold("throughput >= 240", Metric::Throughput, 240.0, pay()),
        threshold("throughput >= 260", Metric::Throughput, 260.0, pay()),
    ];
    let analysis = lab.analyse();
    let held: Vec<_> =
        results(&analysis).into_iter().map(|(subject, _, passed)| (subject, passed)).collect();
    assert_eq!(
        held,
        [
            ("old, c at 1,000 op/s, pay", true),
            ("new, c at 1,000 op/s, pay", false),
            ("old, c at 1,000 op/s, by-customer", true),
            ("new, c at 1,000 op/s, by-customer", true),
            ("old, c at 1,000 op/s, pay", true),
            ("new, c at 1,000 op/s, pay", true),
            ("old, c at 1,000 op/s, pay", false),
            ("new, c at 1,000 op/s, pay", false),
        ]
    );
    let slow = analysis.thresholds[1].measured.unwrap();
    assert!((slow / 3e7 - 1.0).abs() < 0.002, "{slow}");
    assert_eq!(analysis.thresholds[4].measured, Some(250.0));
    assert_eq!(analysis.outcome(), Outcome::ThresholdBroken);
}

#[test]
fn service_times_of_an_operation_are_without_the_wait() {
    let mut lab = at_one_rate();
    for point in lab.points() {
        for part in point.slices.iter_mut().flat_map(|slice| &mut slice.operations) {
            let count = part.latencies.count();
            part.latencies.service = crate::it::laboratory::histogram(500_000, count);
        }
    }
    let p99 = Metric::Service { percentile: 99.0 };
    lab.plan.thresholds = vec![threshold("service.p99 <= 1ms", p99, 1e6, pay())];
    assert!(lab.analyse().thresholds.iter().all(|one| one.passed));
}

#[test]
fn an_operation_that_did_not_occur_breaks_its_threshold() {
    let mut lab = at_one_rate();
    for run in &mut lab.runs {
        for slice in run.points.iter_mut().flat_map(|point| &mut point.slices) {
            if run.arm == "new" || run.block == 3 {
                slice.operations.truncate(1);
                slice.completed.ok = slice.operations[0].latencies.count();
            }
        }
    }
    for point in lab.points() {
        let measured = point.slices.iter().filter(|slice| !slice.warm_up);
        point.end.as_mut().unwrap().due = Some(measured.map(|slice| slice.completed.ok).sum());
    }
    let p99 = Metric::Response { percentile: 99.0 };
    lab.plan.thresholds = vec![threshold("response.p99 <= 1s", p99, 1e9, pay())];
    let analysis = lab.analyse();
    let why: Vec<_> =
        analysis.thresholds.iter().map(|one| (one.why.as_deref(), one.passed)).collect();
    let in_one = Some("no call of pay succeeded in 1 of 6 blocks");
    assert_eq!(why, [(in_one, false), (Some("no call of pay succeeded"), false)]);
    assert_eq!(analysis.outcome(), Outcome::ThresholdBroken);
    // A mix without the operation is not meant.
    lab.plan.thresholds = vec![threshold("response.p99 <= 1s", p99, 1e9, Operation::Read)];
    let analysis = lab.analyse();
    assert_eq!(results(&analysis), [("no such point was measured", None, false)]);
}

#[test]
fn a_comparison_of_one_operation_decides() {
    let mut lab = in_blocks(8);
    let p50 = Metric::Response { percentile: 50.0 };
    let of = |operation| p50.of(operation).unwrap();
    lab.plan.compare.primary = vec![of(pay()), of(by_customer())];
    lab.plan.compare.margins = [(p50.name(), 0.1), (of(pay()).name(), 0.2)].into();
    let analysis = lab.analyse();
    let deciding: Vec<_> = analysis.comparisons.iter().filter(|one| one.primary).collect();
    let judged: Vec<_> = deciding
        .iter()
        .map(|one| (one.metric.name(), one.verdict.judgement, one.verdict.margin))
        .collect();
    assert_eq!(
        judged,
        [
            ("response.p50 of pay".to_owned(), Judgement::Worse, 0.2),
            ("response.p50 of by-customer".to_owned(), Judgement::Equivalent, 0.1),
        ]
    );
    assert!((deciding[0].verdict.estimate.unwrap() / 29.0 - 1.0).abs() < 0.01);
    assert_snapshot!(deciding[0].sentence, @"p50 response time of pay in new is 30.0 times as long as that in old under workload c at 1,000 op/s (97.7 % interval 30.0 to 30.0 times, 8 blocks).");
    assert_eq!(analysis.blocks_needed.len(), 2);
    // All others are compared, those of the operations too.
    let looked_at = |metric: Metric| {
        analysis.comparisons.iter().any(|one| !one.primary && one.metric == metric)
    };
    assert!(looked_at(p50) && looked_at(Metric::Response { percentile: 99.0 }.of(pay()).unwrap()));
    let text = serde_json::to_string(&analysis).unwrap();
    assert_eq!(serde_json::from_str::<Analysis>(&text).unwrap().comparisons, analysis.comparisons);
}

#[test]
fn an_operation_decides_about_the_mixes_that_have_it() {
    let mut lab = at_one_rate();
    lab.plan.compare.primary = vec![Metric::Throughput.of(pay()).unwrap()];
    lab.plan.mixes[0].operations.truncate(1);
    let analysis = lab.analyse();
    assert!(analysis.comparisons.iter().all(|one| !one.primary));
    let headline = serde_json::to_string(&analysis).unwrap();
    assert!(headline.contains("it has none of the operations that decide"), "{headline}");
}

fn own_objective() -> Vec<OperationObjective> {
    vec![OperationObjective { operation: pay(), response: vec![(99.0, 10_000_000)] }]
}

#[test]
fn points_meet_an_objective_if_each_operation_holds_its_bounds() {
    let mut lab = at_one_rate();
    let all = Objective {
        response: vec![(50.0, 10_000_000)],
        errors: 0.0,
        achieved: 0.99,
        operations: Vec::new(),
        search: None,
    };
    let met = |lab: &Laboratory| {
        let analysis = lab.analyse();
        let load = "1,000 op/s";
        ["old", "new"].map(|arm| point(&analysis, arm, load).meets_objective)
    };
    lab.plan.objective = Some(all.clone());
    assert_eq!(met(&lab), [Some(true), Some(true)]);
    lab.plan.objective = Some(Objective { operations: own_objective(), ..all });
    assert_eq!(met(&lab), [Some(true), Some(false)]);
}

/// Searches of an arm in which everything is done in 1 ms, but paying takes 10.4 ms above `capacity`, and everything 50 ms above 30,000 op/s.
fn searched(capacity: f64, own: bool) -> Laboratory {
    let mut lab = lines(&["new"], 6);
    lab.plan.points = vec![line_point()];
    lab.plan.mixes = vec![mix()];
    let objective = lab.plan.objective.as_mut().unwrap();
    objective.response = vec![(99.0, 20_000_000)];
    if own {
        objective.operations = own_objective();
    }
    let search = objective.search.unwrap();
    for planned in lab.plan.runs.clone() {
        let mut run = finished_run(planned, "new", Vec::new());
        let (mut known, mut rate) = (Vec::<LineTrial>::new(), 1_000.0);
        loop {
            let load = LoadKind::Open { rate, sessions: 8 };
            let label = PointLabel {
                point: Some(0),
                mix: "c".into(),
                load_label: format!("{rate:.0} op/s"),
                load,
                trial: Some(u32::try_from(known.len()).unwrap()),
            };
            let shown =
                Shown { throughput: rate, response_ns: 1e6, errors: 0, seconds: 1, busy: 1.0 };
            let mut trial = point_record(label, &shown);
            assert_eq!(search.trial_ns, SECOND_NS);
            match (rate > 30_000.0, rate > capacity) {
                (true, _) => divide(&mut trial, 5e7, 5e7),
                (false, slow) => divide(&mut trial, 1e6, if slow { 1.04e7 } else { 1e6 }),
            }
            run.points.push(trial);
            let is_good = rate <= if own { capacity.min(30_000.0) } else { 30_000.0 };
            known.push(LineTrial { rate, seconds: 1.0, is_good });
            match plimsoll_plan::search::replay(&search, &known).unwrap().next() {
                LineStep::Try { rate: next } => rate = next,
                LineStep::Done(_) => break,
            }
        }
        lab.runs.push(run);
    }
    lab
}

#[test]
fn the_line_is_where_the_first_bound_breaks() {
    let analysis = searched(20_300.0, true).analyse();
    let line = &analysis.lines[0];
    assert!(line.lower.unwrap() <= 20_300.0 && line.upper.unwrap() > 20_300.0);
    assert_snapshot!(line.objective, @"p99 of the response at most 20 ms, p99 of pay at most 10 ms, no errors, 99 % of the rate achieved");
    assert_snapshot!(line.sentence, @"new holds p99 ≤ 20 ms and pay p99 ≤ 10 ms up to between 20,090 and 20,500 op/s (96.9 %, 6 blocks); above that pay p99 10.4 ms is above 10 ms.");
    let missed: Vec<_> = line.blocks[0]
        .trials
        .iter()
        .filter(|trial| !trial.is_good)
        .flat_map(|one| &one.missed)
        .collect();
    assert!(missed.iter().any(|one| *one == "pay p99 10.4 ms is above 10 ms"), "{missed:?}");
    assert!(
        line.blocks
            .iter()
            .flat_map(|one| &one.trials)
            .all(|one| one.is_good == one.missed.is_empty())
    );
}

#[test]
fn bounds_on_all_operations_decide_where_they_break_first() {
    let analysis = searched(40_000.0, true).analyse();
    let line = &analysis.lines[0];
    assert!(line.lower.unwrap() <= 30_000.0 && line.upper.unwrap() > 30_000.0);
    assert_snapshot!(line.sentence, @"new holds p99 ≤ 20 ms and pay p99 ≤ 10 ms up to between 29,790 and 30,390 op/s (96.9 %, 6 blocks); above that p99 50.0 ms is above 20 ms and pay p99 50.0 ms is above 10 ms.");
}

#[test]
fn without_bounds_of_operations_nothing_more_is_said() {
    let analysis = searched(20_300.0, false).analyse();
    let line = &analysis.lines[0];
    assert!(line.lower.unwrap() <= 30_000.0 && line.upper.unwrap() > 30_000.0);
    let text = serde_json::to_string(&analysis).unwrap();
    assert!(!text.contains("\"missed\"") && !text.contains("\"why\""));
    assert!(!line.sentence.contains("pay"), "{}", line.sentence);
}
