//! A history that is made up, as it is shown.

use super::{page, terminal};
use crate::shell::{self, Place};
use crate::terminal::Screen;
use plimsoll_judge::{
    Circumstances, Estimate, History, HistoryChange, HistoryChoices, HistoryResult,
};
use plimsoll_plan::Metric;

fn history(metric: Metric) -> History {
    let result = |number: usize| HistoryResult {
        id: format!("k{number}<b>"),
        started_at: format!("2026-03-{:02}T08:00:00Z", number + 1),
        value: Estimate {
            median: Some(if number < 5 { 5_200.0 } else { 4_880.0 }),
            interval: (number != 2).then_some((4_800.0, 5_300.0)),
            values: vec![(0, 5_000.0)],
        },
        circumstances: Circumstances {
            program: "0.4".into(),
            ..Circumstances::default()
        },
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

#[test]
fn every_line_fits_and_the_change_stands_at_its_record() {
    for (width, unicode) in [(80, true), (80, false), (48, true)] {
        let shown = terminal(&history(Metric::Throughput), &Screen { width, unicode });
        let plain = anstream::adapter::strip_str(&shown).to_string();
        for line in plain.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
            assert!(unicode || line.is_ascii(), "{line}");
        }
        let changed: Vec<&str> = plain
            .lines()
            .filter(|line| line.contains("k5<b>"))
            .collect();
        assert!(
            changed.len() == 1 && changed[0].contains("6.2") && changed[0].contains("4,880"),
            "{changed:?}"
        );
        let others = plain
            .lines()
            .filter(|line| line.contains("<b>") && !line.contains("k5"));
        assert!(others.into_iter().all(|line| !line.contains("6.2")));
    }
}

#[test]
fn times_have_units() {
    let shown = terminal(
        &history(Metric::Response { percentile: 99.0 }),
        &Screen::default(),
    );
    assert!(shown.contains("5.20 µs"), "{shown}");
}

#[test]
fn the_page_stands_alone_and_trusts_no_name() {
    let page = page(&history(Metric::Throughput), "0.0", Place::File);
    assert!(!page.contains("k1<b>") && page.contains("k1&lt;b&gt;"));
    let rest = shell::checked(&page, Place::File);
    assert!(!rest.contains("http://") && !rest.contains("https://"));
    assert!(page.contains("fell by 6.2 %"));
    assert_eq!(page.matches("<tr>").count(), 11);
}

#[test]
fn what_else_can_be_followed_is_chosen_where_the_page_is_served() {
    let history = history(Metric::Throughput);
    assert!(!page(&history, "0.0", Place::File).contains("<form"));
    let served = page(&history, "0.0", Place::Served);
    shell::checked(&served, Place::Served);
    assert!(served.contains(r#"<form class="filter" action="/history/filesystems""#));
    assert!(served.contains(r#"<option value="8 threads" selected>"#));
    assert!(served.contains(r#"<option value="1 thread">"#));
    assert!(!served.contains("<script>\"") && served.contains("&quot;&gt;&lt;script&gt;"));
    assert!(served.contains(r#"href="/experiment/k1%3Cb%3E""#));
    // A line and a cost are of a whole mix.
    let of_mix = History {
        load_label: "at the plimsoll line".into(),
        ..history
    };
    assert!(!page(&of_mix, "0.0", Place::Served).contains(r#"name="at""#));
}
