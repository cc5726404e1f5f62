use super::*;
use crate::page::shown::shown;
use plimsoll_judge::{Difference, Verdict};
use plimsoll_record::{Warning, WarningId};

fn side(record: &str, arm: &str) -> Side {
    Side {
        record: record.into(),
        name: "cache size".into(),
        arm: arm.into(),
        started_at: "2026-11-21T03:44:00Z".into(),
        runs: 3,
    }
}

fn one(metric: Metric, primary: bool, estimate: f64) -> UnpairedComparison {
    UnpairedComparison {
        mix: "A".into(),
        load_label: "8 threads".into(),
        metric,
        direction: metric.direction(),
        primary,
        paired: false,
        baseline_values: vec![1_000.0, 1_010.0, 990.0],
        values: vec![1_100.0, 1_110.0, 1_090.0, 1_105.0],
        verdict: Verdict {
            judgement: Judgement::Better,
            reason: None,
            estimate: Some(estimate),
            interval: Some((estimate - 0.02, estimate + 0.02)),
            confidence: Some(0.95),
            p_value: Some(0.03),
            p_holm: None,
            smallest_visible: Some(0.021),
            blocks: 3,
            margin: 0.03,
        },
        sentence: "large is faster".into(),
    }
}

fn comparison(a: Side, b: Side) -> RecordComparison {
    RecordComparison {
        baseline: a,
        other: b,
        headline: vec![
            "large is faster than small by 8 % to 12 %.".into(),
            "These runs were not made side by side.".into(),
        ],
        comparisons: vec![
            one(Metric::Throughput, true, 0.1),
            one(Metric::Response { percentile: 99.0 }, false, -0.05),
        ],
        differences: vec![Difference {
            what: "cache_size".into(),
            values: vec![("small".into(), "10 MiB".into()), ("large".into(), "64 MiB".into())],
            declared: false,
        }],
        warnings: vec![Warning::new(
            WarningId::MixedMachines,
            "machine",
            "small was measured on another machine",
        )],
    }
}

fn main_of(page: &str) -> &str {
    let from = page.find("<main").unwrap();
    &page[from..page.find("</main>").unwrap()]
}

#[test]
fn the_answer_stands_first_and_its_price_beside_it() {
    let compared = comparison(side("1f3a", "small"), side("9b2c", "large"));
    let page = page(&compared, &["Which cache?"], "0.1.0", Place::Served);
    insta::assert_snapshot!(shown(main_of(&page)));
}

#[test]
fn sides_of_the_same_name_keep_their_values_apart() {
    let mut compared = comparison(side("1f3a", "same"), side("9b2c", "same"));
    compared.differences[0].values =
        vec![("same (1f3a)".into(), "of A".into()), ("same (9b2c)".into(), "of B".into())];
    let page = page(&compared, &[], "0.1.0", Place::Served);
    let (b, a) = (page.find("<td>of B").unwrap(), page.find("<td>of A").unwrap());
    assert!(b < a, "the columns are the compared arm and then the baseline");
    assert!(page.contains("<title>same (9b2c) against same (1f3a)"));
    let main = main_of(&page);
    assert!(main.contains("Each row is same (9b2c) against same (1f3a)"));
    for name in ["same (9b2c)", "same (1f3a)"] {
        assert!(main.contains(&format!("<strong>{name}</strong>")), "{main}");
        assert!(main.contains(&format!("<th scope=\"col\">{name}<small>")));
    }
}

#[test]
fn a_comparison_of_nothing_says_so() {
    let mut compared = comparison(side("1f3a", "small"), side("9b2c", "large"));
    compared.comparisons.clear();
    compared.differences.clear();
    compared.headline = vec!["small and large share no workload at the same load.".into()];
    let page = page(&compared, &[], "0.1.0", Place::File);
    let main = main_of(&page);
    assert!(main.contains("Nothing could be compared"));
    assert!(!main.contains("Not paired.") && !main.contains("href=\"/"));
}

#[test]
fn foreign_names_do_nothing() {
    let hostile = "\"><script>alert(1)</script>";
    let mut compared = comparison(side(hostile, hostile), side(hostile, "b"));
    compared.comparisons[0].mix = hostile.into();
    compared.differences[0].values[0].1 = hostile.into();
    let page = page(&compared, &[hostile], "0.1.0", Place::Served);
    let main = main_of(&page);
    assert!(!main.contains("<script>") && !main.contains("\"><script"), "{main}");
}
