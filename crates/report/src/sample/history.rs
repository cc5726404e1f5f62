//! A history that is made up.

use plimsoll_judge::{
    Circumstances, Estimate, History, HistoryChange, HistoryChoices, HistoryResult,
};
use plimsoll_plan::Metric;

/// Ten records whose names are hostile; at the sixth the metric falls.
pub fn history(metric: Metric) -> History {
    let result = |number: usize| HistoryResult {
        id: format!("k{number}<b>"),
        started_at: format!("2026-03-{:02}T08:00:00Z", number + 1),
        value: Estimate {
            median: Some(if number < 5 { 5_200.0 } else { 4_880.0 }),
            interval: (number != 2).then_some((4_800.0, 5_300.0)),
            values: vec![(0, 5_000.0)],
        },
        circumstances: Circumstances { program: "0.4".into(), ..Circumstances::default() },
    };
    History {
        name: "filesystems".into(),
        metric,
        metric_label: "throughput".into(),
        arm: "xfs".into(),
        mix: "A".into(),
        load_label: "8 threads".into(),
        machine: "some CPU, 2 cores, 8 GiB".into(),
        results: (0..10).map(result).collect(),
        changes: vec![HistoryChange {
            index: 5,
            before: 5_200.0,
            after: 4_880.0,
            change: -0.0615,
            p: 1e-9,
            differs: Vec::new(),
            sentence: "The throughput of xfs fell by 6.2 % at the record of 2026-03-06, k5: plimsoll 0.4 → 0.5.".into(),
        }],
        left_out: Vec::new(),
        sentences: vec!["The throughput of xfs fell by 6.2 % at the record of 2026-03-06, k5: plimsoll 0.4 → 0.5.".into()],
        choices: HistoryChoices {
            metrics: vec![
                ("throughput".into(), "throughput".into()),
                ("response.p99".into(), "p99 response time".into()),
            ],
            arms: vec!["xfs".into(), "\"><script>".into()],
            mixes: vec!["A".into()],
            loads: vec!["1 thread".into(), "8 threads".into()],
            any_plan: false,
        },
    }
}
