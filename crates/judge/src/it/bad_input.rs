//! Records that cannot be analysed, or hardly: each has its own clear message.

use crate::it::laboratory::{Laboratory, SPREAD, Shown, histogram, primary, warns};
use crate::{Analysis, JudgeError, Judgement, analyse};
use insta::assert_snapshot;
use plimsoll_plan::{LoadAt, Metric};
use plimsoll_record::{RunState, WarningId};

fn two_arms(blocks: u32) -> Laboratory {
    Laboratory::closed(&["a", "b"], &["c"], &[4], blocks).measure(|case| {
        let factor = if case.arm == "b" { 2.0 * SPREAD[case.block as usize].exp() } else { 1.0 };
        Shown::closed(case, 1e5 * factor)
    })
}

/// Headline, and whether the whole may be used.
fn said(analysis: &Analysis) -> String {
    format!("{}\n{:?}", analysis.headline.join("\n"), analysis.outcome())
}

#[test]
fn no_run() {
    let mut lab = two_arms(6);
    lab.runs.clear();
    assert_snapshot!(said(&lab.analyse()), @r"
Nothing has been measured yet.
Incomplete: 0 of 12 runs. Run the same command to resume.
Invalid
");
}

#[test]
fn every_run_failed() {
    let mut lab = two_arms(6);
    for run in &mut lab.runs {
        run.state = RunState::Failed {
            message: "no space left in /data: free 2 GB and start again.".into(),
        };
    }
    let analysis = lab.analyse();
    assert_snapshot!(said(&analysis), @r"
Nothing has been measured yet. Main problem: a, block 1: no space left in /data: free 2 GB and start again.
Incomplete: 0 of 12 runs, 12 failed. Once the cause is mended, the same command measures what is missing.
Invalid
");
    assert_eq!(analysis.progress.runs_failed, 12);
}

#[test]
fn one_arm_failed() {
    let mut lab = two_arms(6);
    for run in lab.runs.iter_mut().filter(|run| run.arm == "b") {
        run.state = RunState::Failed { message: "the library is missing".into() };
        run.points.clear();
    }
    let analysis = lab.analyse();
    assert_snapshot!(said(&analysis), @r"
INVALID: 6 of 12 runs failed. Main problem: b, block 1: the library is missing.
Throughput of b and a cannot be compared under workload c at 4 threads: in no block have both a valid point with such a value.
Incomplete: 6 of 12 runs, 6 failed. Once the cause is mended, the same command measures what is missing.
Invalid
");
    assert!(warns(&analysis, WarningId::RunFailed));
}

#[test]
fn too_few_blocks() {
    let analysis = two_arms(3).analyse();
    assert_snapshot!(said(&analysis), @r"
Not certain yet: throughput of b is 99 % higher than that of a under workload c at 4 threads so far (3 blocks, at least 6 are needed).
Good
");
    let verdict = &primary(&analysis, Metric::Throughput).verdict;
    assert_eq!(
        (verdict.judgement, verdict.interval, verdict.confidence),
        (Judgement::Inconclusive, None, None)
    );
    assert_eq!(verdict.smallest_visible, None);
    assert!(warns(&analysis, WarningId::FewBlocks));
}

#[test]
fn an_interrupted_experiment() {
    let mut lab = two_arms(8);
    for run in &mut lab.runs[13..] {
        run.state = RunState::Interrupted;
    }
    let analysis = lab.analyse();
    assert_snapshot!(said(&analysis), @r"
Throughput of b is 100.0 % higher than that of a under workload c at 4 threads (96.9 % interval 96.0 % to 104.0 % higher, 6 blocks).
Incomplete: 13 of 16 runs. Run the same command to resume.
Good
");
    assert_eq!((analysis.progress.runs_finished, analysis.progress.blocks_complete), (13, 6));
    assert!(warns(&analysis, WarningId::RunInterrupted));
}

#[test]
fn a_run_that_was_repeated_counts_once() {
    let mut lab = two_arms(6);
    let mut failed = lab.runs[3].clone();
    failed.state = RunState::Failed { message: "killed".into() };
    let mut again = lab.runs[3].clone();
    again.attempt = 2;
    lab.runs[3] = failed;
    lab.runs.push(again);
    let analysis = lab.analyse();
    assert_eq!((analysis.progress.runs_finished, analysis.progress.runs_failed), (12, 0));
    assert_eq!(primary(&analysis, Metric::Throughput).verdict.judgement, Judgement::Better);
    assert!(!warns(&analysis, WarningId::RunFailed));
}

#[test]
fn no_valid_point() {
    let mut lab = two_arms(6);
    lab.points().for_each(|point| {
        for slice in &mut point.slices {
            slice.completed.error = 9;
        }
    });
    assert_snapshot!(said(&lab.analyse()), @r"
INVALID: no point is valid. Main problem: a, c at 4 threads: 108 of 1200108 operations failed (block 1; and in 5 other points). Figures in brackets are as they were measured, and count for nothing.
Invalid
");
}

#[test]
fn a_baseline_without_a_valid_point() {
    let mut lab = two_arms(6);
    for run in lab.runs.iter_mut().filter(|run| run.arm == "a") {
        run.records_loaded = Some(5);
    }
    assert_snapshot!(said(&lab.analyse()), @r"
INVALID: no deciding comparison can be made. Main problem: a, c at 4 threads: 5 records after the load, 1000 were requested (block 1; and in 5 other points).
Workload c cannot be judged: the baseline has no valid point in it.
Invalid
");
}

#[test]
fn a_metric_without_samples() {
    let mut lab = two_arms(6);
    lab.plan.compare.primary = vec![Metric::CpuPerOperation];
    lab.points().for_each(|point| {
        for slice in &mut point.slices {
            slice.worker.cpu_user_ns = 0;
        }
    });
    assert_snapshot!(said(&lab.analyse()), @r"
INVALID: no deciding comparison can be made.
CPU time per operation of b and a cannot be compared under workload c at 4 threads: in no block have both a valid point with such a value.
Invalid
");
}

#[test]
fn arms_that_share_no_block() {
    let mut lab = two_arms(6);
    lab.runs.retain(|run| (run.arm == "a") == (run.block < 3));
    let analysis = lab.analyse();
    assert!(analysis.is_too_early());
    assert_snapshot!(said(&analysis), @r"
No block is complete yet, so there is nothing to compare.
Incomplete: 6 of 12 runs. Run the same command to resume.
Invalid
");
    // Something else is wrong as well.
    let mut lab = two_arms(6);
    lab.runs.retain(|run| run.arm == "a");
    lab.points().for_each(|point| point.end = None);
    let analysis = lab.analyse();
    assert!(!analysis.is_too_early(), "{:?}", analysis.headline);
}

#[test]
fn a_load_that_was_not_measured() {
    let mut lab = two_arms(6);
    lab.plan.compare.at = Some(LoadAt::Threads(64));
    assert_snapshot!(said(&lab.analyse()), @r"
INVALID: no deciding comparison can be made.
Workload c cannot be judged: it was not measured with 64 threads, where it is judged.
Invalid
");
}

#[test]
fn no_failures_on_either_side_are_equal() {
    let mut lab = two_arms(6);
    lab.plan.compare.primary = vec![Metric::Errors];
    assert_snapshot!(said(&lab.analyse()), @r"
No difference in share of failures between b and a under workload c at 4 threads: it is zero in both.
Good
");
}

#[test]
fn percentiles_that_are_only_bounds_are_not_compared() {
    let p99 = Metric::Response { percentile: 99.0 };
    let mut lab = Laboratory::open(&["a", "b"], &["c"], &[10_000.0], 6).measure(|_| Shown {
        throughput: 9_000.0,
        response_ns: 1e6,
        errors: 0,
        seconds: 12,
        busy: 0.5,
    });
    lab.plan.compare.primary = vec![p99];
    lab.points().for_each(|point| {
        point.end.as_mut().unwrap().unfinished = Some(histogram(1_000_000_000, 12_000));
    });
    assert_snapshot!(said(&lab.analyse()), @r"
INVALID: no deciding comparison can be made.
p99 response time of b and a cannot be compared under workload c at 10,000 op/s: too much was unfinished at the end, so that only lower bounds are known.
Invalid
");
}

#[test]
fn an_arm_that_the_plan_does_not_have() {
    let mut lab = two_arms(6);
    lab.runs[1].arm = "stranger".into();
    let analysis = lab.analyse();
    assert_eq!(analysis.progress.runs_finished, 11);
    let warning =
        analysis.warnings.iter().find(|warning| warning.id == WarningId::RunFailed).unwrap();
    assert_eq!(
        (warning.subject.as_str(), warning.message.as_str()),
        ("stranger", "the plan has no such arm; its runs are left out")
    );
}

#[test]
fn the_largest_block_number_is_a_number_like_any_other() {
    let mut lab = two_arms(1);
    lab.runs[1].block = u32::MAX;
    lab.runs[1].state = RunState::Started;
    let analysis = lab.analyse();
    let warning =
        analysis.warnings.iter().find(|warning| warning.id == WarningId::RunInterrupted).unwrap();
    assert_eq!(
        (warning.subject.as_str(), warning.message.as_str()),
        ("b, block 4294967296", "cut off after 1 point")
    );
}

#[test]
fn a_plan_of_a_later_program() {
    let mut record = two_arms(1).record();
    record.plan["version"] = 99.into();
    let error = analyse(&record).unwrap_err();
    assert!(matches!(error, JudgeError::NewerPlan { found: 99, .. }));
    assert_snapshot!(error.to_string(), @"the plan in record r1 has version 99, this program reads up to 1: update plimsoll to judge it");
}

#[test]
fn a_plan_that_is_none() {
    let mut record = two_arms(1).record();
    record.plan = serde_json::json!({ "version": 1, "name": "x" });
    assert_snapshot!(analyse(&record).unwrap_err().to_string(), @"the plan in record r1 cannot be read (missing field `arms`): restore the record from a copy, or run its file again");
    record.plan = two_arms(1).record().plan;
    record.plan["arms"] = serde_json::json!([]);
    assert_snapshot!(analyse(&record).unwrap_err().to_string(), @"the plan in record r1 cannot be read (it has no arm): restore the record from a copy, or run its file again");
}
