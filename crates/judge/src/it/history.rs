//! A metric over the records of an experiment.

use crate::it::laboratory::{Laboratory, Shown};
use crate::{History, HistoryBuilder, HistoryError, HistoryQuestion};
use plimsoll_plan::Metric;
use plimsoll_record::{ExperimentRecord, ExperimentState};

/// A record of a day, with this level of throughput, of two arms whose blocks differ by a percent or so.
fn record(day: u32, level: f64) -> ExperimentRecord {
    let measured = Laboratory::closed(&["ext4", "xfs"], &["a"], &[1, 4], 3).measure(|case| {
        let noise = 1.0 + 0.005 * f64::from((day * 7 + case.block * 3) % 5);
        let of_arm = if case.arm == "xfs" { 2.0 } else { 1.0 };
        Shown::closed(case, level * noise * of_arm * case.sessions())
    });
    let mut record = measured.record();
    record.id = format!("r{day}");
    record.started_at = format!("2026-03-{day:02}T10:00:00Z");
    record.plan_hash = "p1".into();
    record.program.version = "0.4".into();
    record
}

fn question() -> HistoryQuestion {
    HistoryQuestion { arm: Some("xfs".into()), ..HistoryQuestion::default() }
}

/// The newest record comes last, and is begun with.
fn history(records: &[ExperimentRecord], question: &HistoryQuestion) -> History {
    let (newest, older) = records.split_last().unwrap();
    let mut builder = HistoryBuilder::begin(newest, question).unwrap();
    for record in older {
        builder.add(record).unwrap();
    }
    builder.finish()
}

/// Seven records at 1,000, and seven 10 % lower with another version of the program and another kernel.
fn fallen() -> Vec<ExperimentRecord> {
    let mut records: Vec<_> = (1..=7).map(|day| record(day, 1000.0)).collect();
    for day in 8..=14 {
        let mut slower = record(day, 900.0);
        slower.program.version = "0.5".into();
        slower.machine.kernel = Some("6.9".into());
        records.push(slower);
    }
    records
}

mod slow {
    use super::*;

    #[test]
    fn a_fall_is_found_at_its_record_with_what_changed_there() {
        let found = history(&fallen(), &question());
        assert_eq!(found.results.len(), 14);
        assert_eq!(found.load_label, "4 threads");
        assert!(found.results.windows(2).all(|pair| pair[0].started_at < pair[1].started_at));
        let [change] = &found.changes[..] else { panic!("{:?}", found.changes) };
        assert_eq!(found.results[change.index].id, "r8");
        assert!((change.change + 0.1).abs() < 0.01, "{}", change.change);
        let what: Vec<&str> = change.differs.iter().map(|(what, ..)| what.as_str()).collect();
        assert_eq!(what, ["plimsoll", "kernel"]);
        for part in [
            "throughput of xfs fell by",
            "2026-03-08, r8",
            "plimsoll 0.4 → 0.5",
            "kernel unknown → 6.9",
        ] {
            assert!(change.sentence.contains(part), "{}", change.sentence);
        }
    }

    #[test]
    fn where_nothing_changed_nothing_is_found() {
        let records: Vec<_> = (1..=14).map(|day| record(day, 1000.0)).collect();
        let found = history(&records, &question());
        assert!(found.changes.is_empty());
        assert_eq!(found.sentences, ["No change of 3 % or more in 14 results."]);
    }

    #[test]
    fn few_results_are_shown_and_nothing_is_told_of_them() {
        for count in [1, 7] {
            let found = history(&fallen()[..count], &question());
            assert_eq!((found.results.len(), found.changes.len()), (count, 0));
            assert!(found.sentences[0].contains("from 8 on"), "{:?}", found.sentences);
        }
    }

    #[test]
    fn other_machines_plans_and_unfinished_records_are_left_out_and_counted() {
        let mut records = fallen();
        records[0].machine.cores = 64;
        records[1].machine.cpu_model = Some("another".into());
        records[2].plan_hash = "p0".into();
        records[3].state = ExperimentState::Unfinished;
        let found = history(&records, &question());
        assert_eq!(found.results.len(), 10);
        assert_eq!(
            found.left_out,
            ["2 records of other machines", "1 record of other plans", "1 record not finished",]
        );
        assert!(found.has_other_plans());
        let any_plan = HistoryQuestion { any_plan: true, ..question() };
        assert_eq!(history(&records, &any_plan).results.len(), 11);
    }

    #[test]
    fn a_load_can_be_named_and_times_be_followed() {
        let requested = HistoryQuestion {
            metric: Some(Metric::Response { percentile: 99.0 }),
            at: Some("1 thread".into()),
            ..question()
        };
        let found = history(&fallen(), &requested);
        let [change] = &found.changes[..] else { panic!("{:?}", found.changes) };
        // The same work at 90 % of the rate takes a ninth longer.
        assert!((change.change - 1.0 / 9.0).abs() < 0.015, "{}", change.change);
        assert!(change.sentence.contains("p99 response time of xfs rose by"));
    }

    #[test]
    fn what_does_not_exist_is_named_with_what_does() {
        let newest = record(1, 1000.0);
        let refused = |question: HistoryQuestion| {
            let error = HistoryBuilder::begin(&newest, &question).map(|_| ()).unwrap_err();
            (error.to_string(), error)
        };
        let (said, error) = refused(HistoryQuestion { arm: Some("zfs".into()), ..question() });
        assert!(matches!(error, HistoryError::Unknown { .. }));
        assert_eq!(said, "record r1 has no arm `zfs`: there are ext4, xfs");
        let (said, _) = refused(HistoryQuestion { mix: Some("z".into()), ..question() });
        assert!(said.starts_with("record r1 has no mix `z`: there are "), "{said}");
        let (said, _) = refused(HistoryQuestion { at: Some("9 threads".into()), ..question() });
        assert_eq!(said, "record r1 has no load `9 threads`: there are 1 thread, 4 threads");
        let percentile = Some(Metric::Response { percentile: 90.0 });
        let (said, _) = refused(HistoryQuestion { metric: percentile, ..question() });
        assert!(said.starts_with("`response.p90` cannot be followed"), "{said}");
        for metric in [Metric::Line, Metric::Cost] {
            let (_, error) = refused(HistoryQuestion { metric: Some(metric), ..question() });
            assert!(matches!(error, HistoryError::Nothing { .. }), "{error}");
        }
        // Nothing failed: a share of zero is a value, and has no ratio.
        let errors = HistoryQuestion { metric: Some(Metric::Errors), ..question() };
        let found = history(&fallen(), &errors);
        assert!(
            found.changes.is_empty()
                && found.sentences[0].starts_with("Changes cannot be detected"),
            "{:?}",
            found.sentences
        );
    }

    #[test]
    fn a_record_in_which_nothing_is_valid_is_left_out() {
        let mut records = fallen();
        for run in &mut records[4].runs {
            for point in &mut run.points {
                point.end = None;
            }
        }
        let found = history(&records, &question());
        assert_eq!(found.results.len(), 13);
        assert_eq!(found.left_out, ["1 record without a valid value"]);
    }

    #[test]
    fn what_else_can_be_followed_is_what_the_newest_record_has() {
        let found = history(&[record(1, 1000.0)], &question());
        let choices = &found.choices;
        assert_eq!(choices.arms, ["ext4", "xfs"]);
        assert_eq!(choices.mixes, ["a"]);
        assert_eq!(choices.loads, ["1 thread", "4 threads"]);
        assert!(!choices.any_plan);
        // No objective and no prices: neither a line nor a cost. Each of the others can be followed.
        let names: Vec<&str> = choices.metrics.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.contains(&"throughput") && names.contains(&"response.p99.9"));
        assert!(!names.contains(&"line") && !names.contains(&"cost"));
        for name in names {
            let requested = HistoryQuestion { metric: Metric::parse(name), ..question() };
            assert_eq!(history(&[record(1, 1000.0)], &requested).metric.name(), name);
        }
    }
}
