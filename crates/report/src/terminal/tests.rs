use super::*;
use crate::sample::{self as sample, Shape};
use anstream::adapter::strip_str;
use plimsoll_judge::{RecordComparison, Side, ThresholdResult, UnpairedComparison};
use plimsoll_record::{ExperimentRecord, LoadKind, Warning, WarningId};
use unicode_width::UnicodeWidthStr;

fn shown(shape: &Shape, screen: &Screen) -> String {
    let (record, analysis) = sample::experiment(shape);
    shown_of(&record, &analysis, screen)
}

fn shown_of(record: &ExperimentRecord, analysis: &Analysis, screen: &Screen) -> String {
    strip_str(&summary(&Report { record, analysis }, screen)).to_string()
}

#[test]
fn the_whole_screen_at_80_columns() {
    insta::assert_snapshot!(shown(&Shape::quickstart(), &Screen::default()));
}

#[test]
fn the_whole_screen_at_120_columns() {
    insta::assert_snapshot!(shown(&Shape::quickstart(), &Screen { width: 120, unicode: true }));
}

#[test]
fn the_whole_screen_in_ascii() {
    let text = shown(&Shape::quickstart(), &Screen { width: 80, unicode: false });
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn noise_duets_and_controls_at_80_columns() {
    let (_, mut analysis) = sample::experiment(&Shape::safe_load());
    sample::noisy(&mut analysis);
    let screen = Screen::default();
    let signs = Signs::of(&analysis, &screen);
    let mut out = String::new();
    deciding::blocks(&mut out, &analysis, &signs, &screen);
    let duets = duets(&analysis, screen.numbers());
    section::section(&mut out, "duets", duets.as_ref(), &signs, &screen);
    let controls = controls(&analysis, screen.numbers());
    section::section(&mut out, "controls", controls.as_ref(), &signs, &screen);
    insta::assert_snapshot!(strip_str(&out).to_string());
}

#[test]
fn events_at_80_columns() {
    let (_, mut analysis) = sample::experiment(&Shape::quickstart());
    sample::disturbed(&mut analysis);
    let screen = Screen::default();
    let signs = Signs::of(&analysis, &screen);
    let mut out = String::new();
    let events = events(&analysis, screen.numbers());
    section::section(&mut out, "events", events.as_ref(), &signs, &screen);
    insta::assert_snapshot!(strip_str(&out).to_string());
}

/// The tables of the hosts and of their network, each to the next heading.
fn hosts_part(text: &str) -> String {
    let of = |title: &str| {
        let lines = text.lines().skip_while(|line| *line != title);
        let lines = lines.take_while(|line| !line.is_empty());
        lines.collect::<Vec<&str>>().join("\n")
    };
    format!("{}\n{}", of("hosts"), of("network")).trim().to_owned()
}

#[test]
fn hosts_at_several_widths_and_in_ascii() {
    let (mut record, mut analysis) = sample::experiment(&Shape::quickstart());
    sample::hosts::furnish(&mut record, &mut analysis);
    for (name, width, unicode) in
        [("hosts-100", 100, true), ("hosts-80", 80, true), ("hosts-40-ascii", 40, false)]
    {
        let report = Report { record: &record, analysis: &analysis };
        let text = summary(&report, &Screen { width, unicode });
        let text = hosts_part(&strip_str(&text).to_string());
        assert!(unicode || text.is_ascii());
        for line in text.lines() {
            assert!(line.width() <= width, "{line}");
        }
        // Each host of each arm is shown at every width, in both tables.
        for host in ["bench1", "bench2", "db1"] {
            assert_eq!(text.matches(host).count(), 4, "{text}");
        }
        insta::assert_snapshot!(name, text);
    }
    let alone = shown(&Shape::quickstart(), &Screen::default());
    assert_eq!(hosts_part(&alone), "");
}

#[test]
fn causes_at_80_and_at_120_columns() {
    let shape = Shape { sessions: vec![1, 8], ..Shape::two_disks() };
    for width in [80, 120] {
        let screen = Screen { width, unicode: true };
        let text = shown(&shape, &screen);
        insta::assert_snapshot!(format!("causes-{width}"), mix_part(&text));
    }
}

/// From the plimsoll line to the thresholds.
fn decided_part(text: &str) -> String {
    let lines = text.lines().skip_while(|line| *line != "Plimsoll line");
    let lines = lines.take_while(|line| *line != "thresholds");
    lines.collect::<Vec<&str>>().join("\n")
}

#[test]
fn what_a_run_decided_at_80_columns_and_in_ascii() {
    let shape = Shape { mixes: vec!["A".into()], ..Shape::safe_load() };
    for (name, unicode) in [("decided-80", true), ("decided-80-ascii", false)] {
        let text = shown(&shape, &Screen { width: 80, unicode });
        assert!(unicode || text.is_ascii());
        insta::assert_snapshot!(name, decided_part(&text));
    }
}

#[test]
fn a_search_without_points_has_its_part_alone() {
    let (record, mut analysis) =
        sample::experiment(&Shape { mixes: vec!["A".into()], ..Shape::safe_load() });
    for curve in &mut analysis.curves {
        curve.points.clear();
    }
    let shown = |analysis: &Analysis| shown_of(&record, analysis, &Screen::default());
    let text = shown(&analysis);
    assert!(text.contains("Plimsoll line"), "{text}");
    assert!(!text.contains("mix A\n"), "{text}");
    analysis.lines.clear();
    assert!(shown(&analysis).contains("mix A\n  no point was measured\n"));
    let last = strip_str(&closing(&analysis, &Screen::default())).to_string();
    assert!(last.ends_with("Can you trust this? Nothing was measured yet.\n"), "{last}");
}

#[test]
fn what_was_not_decided_is_not_mentioned() {
    let text = shown(&Shape::quickstart(), &Screen::default());
    for absent in ["Plimsoll line", "cost of", "from block to block", "itself", "would make"] {
        assert!(!text.contains(absent), "{absent}");
    }
}

#[test]
fn closed_and_open_loops_have_a_chart_each() {
    let shape = Shape { mixes: vec!["A".into()], ..Shape::safe_load() };
    let text = shown(&shape, &Screen::default());
    assert!(text.contains("threads (log scale)") && text.contains("  offered op/s"));
}

#[test]
fn arms_that_are_judged_at_their_lines_are_shown_there() {
    let (record, mut analysis) = sample::experiment(&Shape {
        arms: ["one", "two", "three"].map(String::from).into(),
        mixes: vec!["A".into()],
        ..Shape::safe_load()
    });
    let point = analysis.lines[0].point;
    for comparison in analysis.comparisons.iter_mut().filter(|one| one.primary) {
        comparison.point = point;
    }
    let text = shown_of(&record, &analysis, &Screen::default());
    let table: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("  at the plimsoll line; "))
        .take(5)
        .collect();
    let rates =
        analysis.lines.iter().map(|line| line.at_line.as_ref().unwrap().throughput.median.unwrap());
    for (line, rate) in table[2..].iter().zip(rates) {
        assert!(
            line.contains(&plimsoll_record::quantities::numbers::TERMINAL.rate(rate)),
            "{table:?}"
        );
    }
}

#[test]
fn twelve_arms_at_80_and_at_120_columns() {
    for (width, unicode) in [(80, true), (120, true), (80, false)] {
        let screen = Screen { width, unicode };
        let text = shown(&Shape::twelve_arms(), &screen);
        let name = format!("twelve-{width}{}", if unicode { "" } else { "-ascii" });
        insta::assert_snapshot!(name, mix_part(&text));
    }
}

#[test]
fn twelve_cells_are_a_matrix_where_there_is_room() {
    let (record, analysis) = sample::twelve_cells();
    for (width, unicode) in [(80, true), (40, true), (80, false)] {
        let screen = Screen { width, unicode };
        let text = shown_of(&record, &analysis, &screen);
        let from = text.find("throughput, p99").unwrap();
        let until = text.find("\nwhat differed").unwrap_or(text.len());
        let name = format!("cells-{width}{}", if unicode { "" } else { "-ascii" });
        insta::assert_snapshot!(name, &text[from..until]);
    }
}

#[test]
fn of_many_cells_only_the_steadiest_and_the_least_steady_are_told() {
    let (record, mut analysis) = sample::twelve_cells();
    let (_, other) = sample::experiment(&Shape::safe_load());
    let mut one = other.repeatability[0].clone();
    analysis.repeatability.clear();
    for (arm, spread) in [("calm", 0.021), ("middling", 0.2), ("wild", 0.817)] {
        one.arm = arm.into();
        one.spread = spread;
        analysis.repeatability.push(one.clone());
    }
    let text = shown_of(&record, &analysis, &Screen::default());
    let description: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        description.contains("spread from 2.1 % (calm") && description.contains(" to 81.7 % (wild"),
        "{description}"
    );
    assert!(!description.contains("middling"), "{description}");
}

/// From the first mix to the end of the first comparison.
fn mix_part(text: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.starts_with("mix "));
    let end = lines
        .clone()
        .position(|line| line.starts_with("deciding"))
        .map_or(usize::MAX, |place| place + 4);
    lines.take(end).collect::<Vec<&str>>().join("\n")
}

#[test]
fn styles_are_written_where_a_terminal_wants_them() {
    let (record, analysis) = sample::experiment(&Shape {
        sessions: vec![1],
        mixes: vec!["A".into()],
        ..Shape::quickstart()
    });
    insta::assert_snapshot!(summary(
        &Report { record: &record, analysis: &analysis },
        &Screen::default()
    ));
}

/// The sample's arms as if they had been measured on two days.
fn two_days() -> RecordComparison {
    let (_, analysis) = sample::experiment(&Shape {
        sessions: vec![1, 4],
        mixes: vec!["A".into()],
        ..Shape::quickstart()
    });
    let side = |arm: &str, record: &str, day: u32| Side {
        record: record.into(),
        name: "harbour-depth".into(),
        arm: arm.into(),
        started_at: format!("2026-03-{day:02}T09:00:00Z"),
        runs: 6,
    };
    RecordComparison {
        baseline: side("deep-harbour", "k3f9q", 1),
        other: side("shallow-harbour", "m7x2a", 8),
        headline: vec![
            analysis.comparisons[0].sentence.clone(),
            "These runs were not made side by side.".into(),
        ],
        comparisons: analysis
            .comparisons
            .iter()
            .map(|comparison| UnpairedComparison {
                mix: comparison.mix.clone(),
                load_label: comparison.load_label.clone(),
                metric: comparison.metric,
                direction: comparison.direction,
                primary: comparison.primary,
                paired: false,
                baseline_values: Vec::new(),
                values: Vec::new(),
                verdict: comparison.verdict.clone(),
                sentence: comparison.sentence.clone(),
            })
            .collect(),
        differences: analysis.differences,
        warnings: analysis.warnings,
    }
}

#[test]
fn two_records_against_each_other() {
    insta::assert_snapshot!(
        strip_str(&record_comparison(&two_days(), &Screen::default())).to_string()
    );
}

#[test]
fn records_that_share_nothing_say_so() {
    let nothing = RecordComparison {
        headline: Vec::new(),
        comparisons: Vec::new(),
        differences: Vec::new(),
        warnings: Vec::new(),
        ..two_days()
    };
    let text = strip_str(&record_comparison(&nothing, &Screen::default())).to_string();
    assert!(text.contains("There is no verdict.") && text.contains("nothing could be compared"));
}

#[test]
fn operations_have_a_table_of_their_own() {
    let (record, mut analysis) = sample::experiment(&Shape::quickstart());
    for point in analysis.curves.iter_mut().flat_map(|curve| &mut curve.points) {
        for (name, found) in [("read", "by-customer"), ("update", "pay")] {
            let latencies = point.by_operation.remove(name).unwrap();
            point.by_operation.insert(found.into(), latencies);
            let mut own = point.operations.remove(name).unwrap();
            if found == "pay" {
                own.nothing.median = Some(0.125);
            }
            point.operations.insert(found.into(), own);
        }
    }
    let text = shown_of(&record, &analysis, &Screen::default());
    let part = text.split("operations of mix A\n").nth(1).unwrap();
    insta::assert_snapshot!(part.split("\n\n").next().unwrap());
    // One operation alone has no table beside that of its mix.
    for point in analysis.curves.iter_mut().flat_map(|curve| &mut curve.points) {
        point.by_operation.remove("pay");
        point.operations.clear();
    }
    assert!(!shown_of(&record, &analysis, &Screen::default()).contains("operations of mix"));
}

#[test]
fn no_line_is_wider_than_the_screen() {
    let (mut record, mut analysis) = sample::experiment(&Shape::quickstart());
    let long = "名前 with-\x1b[31mcolour ".repeat(60);
    let renamed = analysis.arms[1].name.clone();
    analysis.name = long.clone();
    analysis.question = Some(long.clone());
    analysis.headline.push(long.clone());
    analysis.arms[1].name = long.clone();
    analysis.warnings.push(Warning::new(WarningId::Errors, long.clone(), long.clone()));
    analysis.thresholds.push(ThresholdResult {
        text: long.clone(),
        subject: long.clone(),
        measured: None,
        passed: false,
        why: None,
    });
    for curve in analysis.curves.iter_mut().filter(|curve| curve.arm == renamed) {
        curve.arm = long.clone();
    }
    for comparison in &mut analysis.comparisons {
        comparison.arm = long.clone();
        comparison.mix = long.clone();
    }
    for entry in &mut analysis.validity {
        entry.text = long.clone();
    }
    let (_, watched) = sample::experiment(&Shape::two_disks());
    for (curve, other) in analysis.curves.iter_mut().zip(&watched.curves) {
        for (point, other) in curve.points.iter_mut().zip(&other.points) {
            point.cause = other.cause.clone();
            point.figures = other.figures.clone();
            if let Some(cause) = &mut point.cause {
                cause.sentence = long.clone();
            }
            point.arm = curve.arm.clone();
        }
    }
    for comparison in &mut analysis.comparisons {
        comparison.because = Some(long.clone());
        comparison.cost_difference = Some(long.clone());
    }
    let (_, mut decided) = sample::experiment(&Shape::safe_load());
    for line in &mut decided.lines {
        line.objective = long.clone();
        line.sentence = long.clone();
        line.mix = long.clone();
    }
    for cost in &mut decided.costs {
        cost.arm = long.clone();
        cost.currency = long.clone();
        cost.source = Some(long.clone());
        for (load, _) in cost.at_knee.iter_mut().chain(&mut cost.at_best) {
            *load = long.clone();
        }
    }
    for one in &mut decided.repeatability {
        one.load_label = long.clone();
        one.sentence = long.clone();
    }
    analysis.lines = decided.lines;
    analysis.costs = decided.costs;
    analysis.repeatability = decided.repeatability;
    let mut days = two_days();
    days.other.arm = long.clone();
    days.other.name = long.clone();
    days.headline.push(long.clone());
    days.differences[0].what = long.clone();
    record.name = long;
    for width in [40, 60, 80, 100, 200] {
        for unicode in [true, false] {
            let screen = Screen { width, unicode };
            let report = Report { record: &record, analysis: &analysis };
            for text in [
                summary(&report, &screen),
                comparisons(&analysis, &screen),
                record_comparison(&days, &screen),
            ] {
                assert!(!text.contains("\x1b[31mcolour") && text.contains("␛[31mcolour"));
                let text = strip_str(&text).to_string();
                for line in text.lines() {
                    assert!(line.width() <= width, "{width} {} {line}", line.width());
                }
            }
        }
    }
}

#[test]
fn what_was_due_is_shown_of_invalid_points_too() {
    let (record, mut analysis) = sample::experiment(&Shape::quickstart());
    for point in analysis.curves.iter_mut().flat_map(|curve| &mut curve.points) {
        point.load = LoadKind::Open { rate: 20_000.0, sessions: 16 };
        point.results.iter_mut().for_each(|one| one.due = Some(19_640.0));
        sample::refuse(point);
    }
    let text = shown_of(&record, &analysis, &Screen::default());
    // The first line with the arm is in the table of all arms.
    let row = text.lines().find(|line| line.contains("■ shallow-harbour"));
    assert!(row.is_some_and(|row| row.contains(" 19,640 ")), "{text}");
}

#[test]
fn points_that_fail_are_shown_as_failed() {
    let (record, mut analysis) =
        sample::experiment(&Shape { mixes: vec!["A".into()], ..Shape::quickstart() });
    let points = &mut analysis.curves[1].points;
    sample::refuse(&mut points[1]);
    points[1].errors = 12_345;
    points[2].valid_runs = 4;
    points[3].p99_at_least = true;
    points[4].load = LoadKind::Open { rate: 20_000.0, sessions: 16 };
    points[4].load_label = "20,000 op/s".into();
    points[4].results.iter_mut().for_each(|one| one.due = Some(19_640.0));
    let text = shown_of(&record, &analysis, &Screen::default());
    let table: Vec<&str> =
        text.lines().skip_while(|line| !line.contains("■ shallow-harbour")).take(7).collect();
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn odd_experiments_still_say_something_true() {
    let empty = Shape {
        arms: Vec::new(),
        sessions: Vec::new(),
        mixes: Vec::new(),
        blocks: 0,
        seconds: 0,
        slices: false,
        watched: false,
        decided: false,
    };
    let (record, mut analysis) = sample::experiment(&empty);
    analysis.headline.clear();
    analysis.warnings.clear();
    analysis.thresholds.clear();
    analysis.validity.clear();
    analysis.progress.runs_planned = 12;
    insta::assert_snapshot!(shown_of(&record, &analysis, &Screen::default()), @r"
    harbour-depth  k3f9q
    How much throughput does a cache of a quarter of the data cost?

      There is no verdict.
    ");
    for shape in [
        Shape::of(1, 3, 1, 6, 3),
        Shape::of(2, 0, 1, 6, 0),
        Shape::of(2, 3, 1, 1, 3),
        Shape::of(200, 3, 2, 6, 3),
    ] {
        assert!(!shown(&shape, &Screen::default()).is_empty());
    }
}

#[test]
fn many_arms_say_how_many_are_left_out() {
    let text = shown(&Shape::of(200, 3, 1, 6, 3), &Screen::default());
    assert!(text.contains("and 188 more arms, on the page and in points.csv"));
    assert!(text.contains("184 more arms are not drawn"));
}

#[test]
fn the_brief_screen_at_80_columns() {
    let line = Shape { mixes: vec!["A".into()], ..Shape::safe_load() };
    for (name, (record, analysis)) in [
        ("brief", sample::experiment(&Shape::quickstart())),
        ("brief-line", sample::experiment(&line)),
        ("brief-grid", sample::twelve_cells()),
    ] {
        let report = Report { record: &record, analysis: &analysis };
        let text = brief(&report, &Screen::default());
        insta::assert_snapshot!(name, strip_str(&text).to_string());
    }
}

#[test]
fn the_brief_screen_always_fits_a_terminal() {
    let names = |count: usize| (0..count).map(|arm| format!("arm {arm} of many")).collect();
    let mut shapes = vec![Shape::quickstart(), Shape::safe_load(), Shape::two_disks()];
    for arms in [1, 2, 7, 200] {
        shapes.push(Shape { arms: names(arms), ..Shape::quickstart() });
        shapes.push(Shape { arms: names(arms), ..Shape::safe_load() });
    }
    for shape in &shapes {
        let (record, mut analysis) = sample::experiment(shape);
        for long in [false, true] {
            if long {
                let sentence = "It is a long answer of many words. ".repeat(30);
                analysis.headline = vec![sentence; 5];
                analysis.question = Some("Why is it so long? ".repeat(20));
                for threshold in &mut analysis.thresholds {
                    threshold.passed = false;
                }
            }
            for (width, unicode) in [(40, true), (80, true), (80, false), (160, true)] {
                let screen = Screen { width, unicode };
                let report = Report { record: &record, analysis: &analysis };
                let text = strip_str(&brief(&report, &screen)).to_string();
                assert!(text.lines().count() <= LINES, "{}:\n{text}", text.lines().count());
                for line in text.lines() {
                    assert!(line.width() <= width, "{width}: {line}");
                }
                assert!(unicode || text.is_ascii(), "{text}");
                assert!(text.contains("Can you trust this? "), "{text}");
            }
        }
    }
}
