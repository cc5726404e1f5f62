//! Searches for the plimsoll line of arms with a planted capacity.

use crate::it::laboratory::{Case, Laboratory, SECOND_NS, Shown, finished_run, point_record};
use plimsoll_plan::{Metric, Objective, PlannedRun, Point, PointRole, Search};
use plimsoll_record::{LoadKind, PointLabel, PointRecord};
use plimsoll_stats::{LineStep, LineTrial};
use plimsoll_workload::schedule::{Arrivals, Load};

/// p99 of at most 10 ms, searched between 10 and 1,000,000 op/s with trials of 1 s, to 2 %.
pub fn objective() -> Objective {
    Objective {
        response: vec![(99.0, 10_000_000)],
        errors: 0.0,
        achieved: 0.99,
        operations: Vec::new(),
        search: Some(Search {
            trial_ns: SECOND_NS,
            warm_up_ns: SECOND_NS,
            width: 0.02,
            rates: (10.0, 1_000_000.0),
        }),
    }
}

/// A point of the first mix that searches the line, beginning at 1,000 op/s.
pub fn line_point() -> Point {
    Point {
        role: PointRole::Line,
        ..Point::fixed(0, Load::Open { rate: 1_000.0, arrivals: Arrivals::Constant, sessions: 8 })
    }
}

/// An experiment that searches lines alone, not yet measured.
pub fn lines(arms: &[&str], blocks: u32) -> Laboratory {
    let mut lab = Laboratory::open(arms, &["c"], &[1_000.0], blocks);
    lab.plan.points = vec![line_point()];
    lab.plan.objective = Some(objective());
    lab.plan.compare.primary = vec![Metric::Line];
    lab
}

/// The trials of one search: responses of 1 ms up to the capacity, beyond it no more than the capacity is done, each in 50 ms.
pub fn trials(lab: &Laboratory, point: u32, capacity: f64) -> Vec<PointRecord> {
    let search = lab.plan.objective.as_ref().and_then(|objective| objective.search).unwrap();
    let (mut made, mut known): (Vec<PointRecord>, Vec<LineTrial>) = (Vec::new(), Vec::new());
    let mut rate = 1_000.0;
    loop {
        let is_good = rate <= capacity;
        let load = LoadKind::Open { rate, sessions: 8 };
        let label = PointLabel {
            point: Some(point),
            mix: "c".into(),
            load_label: format!("{rate:.0} op/s"),
            load,
            trial: Some(u32::try_from(made.len()).unwrap()),
        };
        let shown = Shown {
            throughput: rate.min(capacity),
            response_ns: if is_good { 1e6 } else { 5e7 },
            errors: 0,
            seconds: 1,
            busy: 1.0,
        };
        let mut trial = point_record(label, &shown);
        if !is_good {
            let end = trial.end.as_mut().unwrap();
            end.due = Some(rate as u64);
        }
        made.push(trial);
        known.push(LineTrial { rate, seconds: 1.0, is_good });
        match plimsoll_plan::search::replay(&search, &known).unwrap().next() {
            LineStep::Try { rate: next } => rate = next,
            LineStep::Done(_) => return made,
        }
    }
}

/// Searches the line of every arm in every block; `capacity` of an arm and block.
pub fn measure(mut lab: Laboratory, capacity: impl Fn(&str, u32) -> f64) -> Laboratory {
    let point = lab
        .plan
        .points
        .iter()
        .position(|point| point.role == PointRole::Line)
        .and_then(|point| u32::try_from(point).ok())
        .unwrap();
    if lab.runs.is_empty() {
        for planned in lab.plan.runs.clone() {
            let arm = lab.plan.arms[planned.arm as usize].name.clone();
            lab.runs.push(finished_run(planned, &arm, Vec::new()));
        }
    }
    for index in 0..lab.runs.len() {
        let (arm, block) = (lab.runs[index].arm.clone(), lab.runs[index].block);
        let mut searched = trials(&lab, point, capacity(&arm, block));
        lab.runs[index].points.append(&mut searched);
    }
    lab
}

/// What a planned point of a made-up run shows; for points beside the line.
pub fn add_point(lab: &mut Laboratory, index: u32, show: impl Fn(Case<'_>) -> (LoadKind, Shown)) {
    for run in &mut lab.runs {
        let case = Case {
            arm: &run.arm,
            mix: "c",
            block: run.block,
            load: LoadKind::Open { rate: 1.0, sessions: 8 },
        };
        let (load, shown) = show(case);
        let label = PointLabel {
            point: Some(index),
            mix: "c".into(),
            load_label: "as measured".into(),
            load,
            trial: None,
        };
        run.points.push(point_record(label, &shown));
    }
}

/// This many blocks more in the plan than were made.
pub fn plan_more_blocks(lab: &mut Laboratory, blocks: u32) {
    let made = lab.plan.measurement.blocks;
    let arms = u32::try_from(lab.plan.arms.len()).unwrap();
    for block in made..made + blocks {
        for arm in 0..arms {
            lab.plan.runs.push(PlannedRun { block, position: arm, arm, seed: 1 });
        }
    }
    lab.plan.measurement.blocks = made + blocks;
}
