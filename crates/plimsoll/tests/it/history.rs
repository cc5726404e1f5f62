//! `plimsoll history`, on a real store.

use crate::laboratory::Laboratory;
use crate::stores::with_a_record;
use plimsoll_record::{ExperimentRecord, ExperimentState};
use plimsoll_store::Store;
use plimsoll_testing::assert_contains;

/// A laboratory with the record of a run, and this many copies of it on earlier days, each made as requested.
fn with_earlier(count: usize, change: impl Fn(usize, &mut ExperimentRecord)) -> Laboratory {
    let (laboratory, record) = with_a_record();
    let mut store = Store::open(&laboratory.store()).unwrap();
    for day in 0..count {
        let mut earlier = record.clone();
        earlier.id = format!("day{day:02}");
        earlier.started_at = format!("2020-03-{:02}T10:00:00Z", day + 1);
        change(day, &mut earlier);
        store.import(earlier).unwrap();
    }
    laboratory
}

mod slow {
    use super::*;

    #[test]
    fn records_of_one_experiment_are_a_series() {
        let laboratory = with_earlier(9, |day, record| {
            if day == 0 {
                record.machine.cores += 1;
            }
        });
        let said = laboratory.run(&["history", "tiny", "--page", "page.html"]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
        for part in [
            "tiny: throughput of one",
            "No change of 3 % or more in 9 results.",
            "1 record of other machines",
            "day08",
        ] {
            assert!(said.out.contains(part), "{part}: {}", said.out);
        }
        assert!(!said.out.contains("day00"));
        let page = std::fs::read_to_string(laboratory.path("page.html")).unwrap();
        assert!(page.contains("<svg") && page.contains("day08"));
        let json = laboratory.run(&["history", "last", "--json"]);
        let history: serde_json::Value = serde_json::from_str(&json.out).unwrap();
        assert_eq!(history["results"].as_array().unwrap().len(), 9);
    }

    #[test]
    fn what_is_not_there_is_named() {
        let (laboratory, _) = with_a_record();
        for (arguments, code, part) in [
            (&["history", "giant"][..], 1, "giant"),
            (&["history", "tiny", "--arm", "two"], 1, "has no arm `two`: there are one"),
            (&["history", "tiny", "--metric", "speed"], 2, "`speed` is not a metric"),
            (
                &["history", "tiny", "--at", "5 threads"],
                1,
                "has no load `5 threads`: there are 1 thread",
            ),
            (&["history", "tiny", "--metric", "cost"], 1, "says nothing of cost"),
        ] {
            let said = laboratory.run(arguments);
            let found = (said.code, said.out.as_str());
            assert_eq!(found, (Some(code), ""), "{arguments:?}");
            assert!(said.err.contains(part), "{arguments:?}: {}", said.err);
        }
    }

    #[test]
    fn one_record_is_shown_and_tells_nothing_yet() {
        let laboratory = with_earlier(1, |_, record| record.state = ExperimentState::Unfinished);
        let said = laboratory.run(&["history", "tiny"]);
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert_contains(&said.out, "There is 1 result so far");
        assert_contains(&said.out, "1 record not finished");
    }
}
