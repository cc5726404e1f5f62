use super::*;
use crate::sample::{self as sample, Shape};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use plimsoll_judge::Analysis;
use plimsoll_record::{Disturbance, EventRecord, ExperimentRecord, Histogram, LoadKind, RunState};
use std::time::Duration;

fn small() -> (ExperimentRecord, Analysis) {
    let shape =
        Shape { slices: true, sessions: vec![1, 4], blocks: 2, seconds: 6, ..Shape::quickstart() };
    sample::experiment(&shape)
}

fn written(record: &ExperimentRecord, analysis: &Analysis, name: &str) -> String {
    let report = Report { record, analysis };
    let file = files(&report)
        .into_iter()
        .find(|file| file.name == name)
        .expect("the file is in every export");
    let mut bytes = Vec::new();
    write(&file, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows =
        reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
    (header, rows)
}

fn field<'a>(table: &'a (Vec<String>, Vec<Vec<String>>), row: usize, column: &str) -> &'a str {
    let place = table
        .0
        .iter()
        .position(|name| name == column)
        .unwrap_or_else(|| panic!("no column {column}"));
    &table.1[row][place]
}

#[test]
fn a_trace_has_every_run_point_and_second() {
    let (mut record, analysis) = small();
    for run in &mut record.runs {
        for slice in &mut run.points[0].slices[2..4] {
            let running = plimsoll_record::figures::ENGINE_CHECKPOINT_RUNNING;
            slice.telemetry.insert(running.into(), 1.0);
        }
    }
    let stall = EventRecord {
        event: 1,
        at_ns: 3_000_000_000,
        until_ns: Some(5_000_000_000),
        ..EventRecord::default()
    };
    let started_ns = 77_000_000_000;
    let disturbance = Disturbance { started_ns, events: vec![stall], ..Disturbance::default() };
    let end = record.runs[0].points[0].end.as_mut().unwrap();
    end.disturbance = Some(Box::new(disturbance));
    let text = written(&record, &analysis, "perfetto.json");
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |phase: &str, track: u64| {
        let events = events.iter();
        events.filter(|event| event["ph"] == phase && event["tid"] == track).collect::<Vec<_>>()
    };
    assert_eq!(of("X", 1).len(), record.runs.len());
    let points = record.runs.iter().flat_map(|run| run.load.iter().chain(&run.points));
    let points = points.filter(|point| point.end.is_some()).count();
    let phases = of("X", 2);
    let measured = phases.iter().filter(|event| event["name"] != "warm-up");
    assert_eq!(measured.count(), points);
    // Two seconds that follow each other are one checkpoint, two seconds after the begin of its point.
    let checkpoints = of("X", 3);
    assert_eq!(checkpoints.len(), record.runs.len());
    let first: jiff::Timestamp = record.runs[0].points[0].started_at.parse().unwrap();
    let begin: jiff::Timestamp = record.started_at.parse().unwrap();
    let first_us = first.duration_since(begin).as_secs_f64() * 1e6;
    let is_after = |event: &serde_json::Value, us: f64| {
        (event["ts"].as_f64().unwrap() - first_us - us).abs() < 1.0
    };
    assert!(checkpoints.iter().any(|event| is_after(event, 2e6)), "{checkpoints:?}");
    let [stall] = of("X", 5)[..] else { panic!("{text}") };
    assert!(is_after(stall, 3e6) && stall["dur"] == 2e6 && stall["name"] == "event 2", "{stall}");
    assert!(checkpoints.iter().all(|event| event["dur"] == 2e6));
    let curve = of("C", 0);
    let rates = curve.iter().filter(|event| event["name"] == "operations/s");
    let rate = &record.runs[0].points[0].slices[0];
    let expected = rate.completed.ok as f64 / (rate.length_ns as f64 / 1e9);
    assert!(rates.map(|event| &event["args"]["value"]).any(|value| *value == expected));
    assert!(!curve.is_empty());
}

#[test]
fn points_have_a_row_for_each_run() {
    let (record, analysis) = small();
    let table = table(&written(&record, &analysis, "points.csv"));
    // 2 mixes, 2 arms, 2 loads, 2 blocks, and the load phase of 2 arms in 2 blocks.
    assert_eq!(table.1.len(), 2 * 2 * 2 * 2 + 2 * 2);
    let point = &analysis.curves[0].points[1];
    let row = (0..table.1.len())
        .find(|row| {
            field(&table, *row, "arm") == point.arm
                && field(&table, *row, "point") == "1"
                && field(&table, *row, "block") == "1"
        })
        .unwrap();
    let stored: f64 = field(&table, row, "response_p99_ns").parse().unwrap();
    assert_eq!(stored, point.response.p99.values[1].1);
    assert_eq!(field(&table, row, "sessions"), "4");
    assert_eq!(field(&table, row, "load_kind"), "closed");
    assert_eq!(field(&table, row, "offered_operations_per_second"), "");
    // 6 slices, 4 of them warm-up, with 200 operations each.
    assert_eq!(field(&table, row, "ok_operations_after_warm_up"), "400");
    assert_eq!(field(&table, row, "failed_operations_after_warm_up"), "6");
}

#[test]
fn a_run_that_is_not_valid_has_no_latencies_to_compare() {
    let (record, mut analysis) = small();
    analysis.curves[0].points[0].results[0].valid = false;
    let table = table(&written(&record, &analysis, "points.csv"));
    assert_eq!(field(&table, 0, "valid"), "false");
    assert_eq!(field(&table, 0, "response_p99_ns"), "");
    assert_ne!(field(&table, 1, "response_p99_ns"), "");
}

#[test]
fn slices_have_a_row_for_each_operation_and_one_for_a_second_without_any() {
    let (record, analysis) = small();
    let table = table(&written(&record, &analysis, "slices.csv"));
    let points: usize = record.runs.iter().map(|run| run.points.len()).sum();
    // One of 6 slices is empty, and five have two kinds of operations.
    assert_eq!(table.1.len(), points * (5 * 2 + 1));
    let empty = (0..table.1.len()).find(|row| field(&table, *row, "operation").is_empty()).unwrap();
    assert_eq!(field(&table, empty, "slice"), "2");
    assert_eq!(field(&table, empty, "operations"), "0");
    let slice = &record.runs[0].points[0].slices[0];
    let service = &slice.operations[0].latencies.service;
    assert_eq!(
        field(&table, 0, "service_p99_ns"),
        service.percentile_ns(99.0).unwrap().to_string()
    );
    assert_eq!(field(&table, 0, "response_p99_ns"), field(&table, 0, "service_p99_ns"));
    assert_eq!(field(&table, 0, "wait_p99_ns"), "");
    assert_eq!(field(&table, 0, "status"), "ok");
    assert_eq!(field(&table, 1, "status"), "error");
}

#[test]
fn hosts_have_a_row_for_each_arm() {
    let (mut record, mut analysis) = small();
    let names = |record: &ExperimentRecord, analysis: &Analysis| -> Vec<String> {
        let report = Report { record, analysis };
        files(&report).into_iter().map(|file| file.name).collect()
    };
    assert!(!names(&record, &analysis).contains(&"hosts.csv".to_owned()));
    sample::hosts::furnish(&mut record, &mut analysis);
    analysis.hosts[3].host = None;
    let names = names(&record, &analysis);
    for name in ["hosts.csv", "hosts.parquet"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    let table = table(&written(&record, &analysis, "hosts.csv"));
    // 3 machines of 2 arms.
    assert_eq!(table.1.len(), 6);
    assert_eq!(field(&table, 0, "host"), "bench1");
    assert_eq!(field(&table, 3, "host"), "controller");
    assert_eq!(field(&table, 2, "makes_load"), "false");
    assert_eq!(field(&table, 2, "has_server"), "true");
    assert_eq!(field(&table, 2, "ok_operations_per_second"), "");
    let stored: f64 = field(&table, 1, "ok_operations_per_second").parse().unwrap();
    assert_eq!(Some(stored), analysis.hosts[1].throughput);
    assert_eq!(field(&table, 1, "clock_bound_ns"), "1260000");
    assert_eq!(field(&table, 1, "start_skew_ns"), "412000");
    assert_eq!(field(&table, 1, "stolen_share"), "");
}

#[test]
fn controls_have_a_table_where_there_are_any() {
    let (record, mut analysis) = small();
    let report = Report { record: &record, analysis: &analysis };
    assert!(!Table::of(&report).contains(&Table::Controls));
    sample::noisy(&mut analysis);
    let table = table(&written(&record, &analysis, "controls.csv"));
    assert_eq!(table.1.len(), analysis.controls.len());
    for (row, control) in analysis.controls.iter().enumerate() {
        assert_eq!(field(&table, row, "arm"), control.control);
        let planted: f64 = field(&table, row, "planted_share").parse().unwrap();
        assert_eq!(planted, control.planted);
        assert_eq!(field(&table, row, "found"), control.is_found.to_string());
        let lower = control.interval.map_or(String::new(), |(lower, _)| lower.to_string());
        assert_eq!(field(&table, row, "lower"), lower);
    }
}

#[test]
fn record_and_analysis_come_back_from_their_json() {
    let (record, analysis) = small();
    assert!(
        ExperimentRecord::from_json(&written(&record, &analysis, "record.json")).unwrap() == record
    );
    assert!(
        serde_json::from_str::<Analysis>(&written(&record, &analysis, "analysis.json")).unwrap()
            == analysis
    );
}

#[test]
fn hdr_logs_are_read_back_by_the_library() {
    let (record, analysis) = small();
    let report = Report { record: &record, analysis: &analysis };
    let logs = files(&report).into_iter().filter(|file| file.name.ends_with(".hlog"));
    for (file, run) in logs.zip(&record.runs) {
        let mut bytes = Vec::new();
        write(&file, &mut bytes).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(text.contains("#[Histogram log format version 1.3]\n#[StartTime: "), "{text}");
        assert!(text.contains("\n\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"));
        let mut read = Vec::new();
        for entry in IntervalLogIterator::new(&bytes) {
            if let LogEntry::Interval(interval) = entry.unwrap() {
                let packed = STANDARD.decode(interval.encoded_histogram()).unwrap();
                assert_eq!(interval.duration(), Duration::from_secs(1));
                let plain: hdrhistogram::Histogram<u64> =
                    Deserializer::new().deserialize(&mut packed.as_slice()).unwrap();
                let shown_ms = plain.max() as f64 / 1e6;
                assert!((interval.max() - shown_ms).abs() < 0.001, "{} {shown_ms}", interval.max());
                read.push((
                    interval.tag().unwrap().as_str().to_owned(),
                    interval.start_timestamp(),
                    plain,
                ));
            }
        }
        let mut expected = Vec::new();
        for (place, point) in run.points.iter().enumerate() {
            for slice in &point.slices {
                for part in &slice.operations {
                    let status =
                        if part.status == plimsoll_record::Status::Ok { "" } else { "/error" };
                    let tag = format!(
                        "{}/{}/{}{status}",
                        point.label.mix,
                        point.label.load_label.replace(' ', "-"),
                        part.operation.name()
                    );
                    // The run starts half a second after the full one, its points three quarters after every fifth.
                    let start = Duration::from_millis(5_000 * place as u64 + 250)
                        + Duration::from_nanos(slice.start_ns);
                    expected.push((tag, start, part.latencies.service.inner().into_owned()));
                }
            }
        }
        assert_eq!(read, expected);
    }
}

#[test]
fn an_open_loop_has_service_times_beside_its_response_times() {
    let (mut record, analysis) = small();
    let slice = sample::slice(0, 0, LoadKind::Open { rate: 20_000.0, sessions: 4 });
    record.runs.truncate(1);
    record.runs[0].points.truncate(1);
    record.runs[0].points[0].slices = vec![slice];
    let name = files(&Report { record: &record, analysis: &analysis }).pop().unwrap().name;
    let text = written(&record, &analysis, &name);
    let tags: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("Tag="))
        .filter_map(|line| line.split(',').next())
        .collect();
    assert_eq!(
        tags,
        [
            "A/1-thread/read",
            "A/1-thread/read/service",
            "A/1-thread/update/error",
            "A/1-thread/update/error/service"
        ]
    );
    let table = table(&written(&record, &analysis, "slices.csv"));
    assert_eq!(
        field(&table, 0, "wait_p50_ns"),
        histogram_of(50_000).percentile_ns(50.0).unwrap().to_string()
    );
}

/// Two priced arms whose lines were searched.
fn decided() -> (ExperimentRecord, Analysis) {
    sample::experiment(&Shape {
        slices: true,
        sessions: vec![1, 4],
        mixes: vec!["A".into()],
        blocks: 2,
        seconds: 3,
        ..Shape::safe_load()
    })
}

#[test]
fn trials_have_a_row_each() {
    let (record, mut analysis) = decided();
    analysis.lines[1].blocks[1].trials[0].p99_ns = Some(f64::NAN);
    let table = table(&written(&record, &analysis, "trials.csv"));
    let blocks = || analysis.lines.iter().flat_map(|line| &line.blocks);
    let count: usize = blocks().map(|block| block.trials.len()).sum();
    assert_eq!(table.1.len(), count);
    let first = &analysis.lines[0].blocks[0];
    let number = |row, column| field(&table, row, column).parse::<f64>().unwrap();
    assert_eq!(number(0, "offered_operations_per_second"), first.trials[0].rate);
    assert_eq!(number(0, "response_p99_ns"), first.trials[0].p99_ns.unwrap());
    assert_eq!(number(0, "line_of_block_from_operations_per_second"), first.lower.unwrap());
    assert_eq!(field(&table, 1, "trial"), "1");
    let held = |row: &usize| field(&table, *row, "held_objective") == "true";
    let good = blocks().flat_map(|block| &block.trials).filter(|trial| trial.is_good);
    assert_eq!((0..count).filter(held).count(), good.count());
    let empty = (0..count).filter(|row| field(&table, *row, "response_p99_ns").is_empty());
    assert_eq!(empty.count(), 1);
    assert!(
        !files(&Report { record: &small().0, analysis: &small().1 })
            .iter()
            .any(|file| file.name == "trials.csv")
    );
}

#[test]
fn points_at_the_line_and_what_they_cost() {
    let (record, mut analysis) = decided();
    analysis.costs.retain(|cost| cost.arm == "deep-harbour");
    analysis.lines[0].at_line.as_mut().unwrap().results[1].valid = false;
    let table = table(&written(&record, &analysis, "points.csv"));
    let lines: Vec<usize> = (0..table.1.len())
        .filter(|row| field(&table, *row, "is_plimsoll_line") == "true")
        .collect();
    // 2 arms in 2 blocks.
    assert_eq!(lines.len(), 4);
    let price = analysis.costs[0].per_hour;
    let rate: f64 = field(&table, lines[0], "throughput_operations_per_second").parse().unwrap();
    let cost: f64 = field(&table, lines[0], "cost_per_million_operations").parse().unwrap();
    // As many hours as a million operations take.
    let hours = 1e6 / rate / 3_600.0;
    assert!((cost / (price * hours) - 1.0).abs() < 1e-12, "{cost}");
    assert_eq!(field(&table, lines[0], "cost_currency"), "EUR");
    // Several trials: what was completed in each of them is shown elsewhere.
    assert_eq!(field(&table, lines[0], "ok_operations_after_warm_up"), "");
    for free in [lines[1], lines[2]] {
        assert_eq!(field(&table, free, "cost_per_million_operations"), "");
        assert_eq!(field(&table, free, "cost_currency"), "");
    }
}

#[test]
fn trials_at_one_rate_are_told_apart_in_logs_and_slices() {
    let (mut record, analysis) = decided();
    record.runs.truncate(1);
    let trial = record.runs[0].points[0].clone();
    record.runs[0].points = (0..3)
        .map(|number| {
            let mut trial = trial.clone();
            trial.label.trial = u32::checked_sub(number, 1);
            trial
        })
        .collect();
    let report = Report { record: &record, analysis: &analysis };
    let name = files(&report).pop().unwrap().name;
    let text = written(&record, &analysis, &name);
    let mut tags: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("Tag="))
        .filter_map(|line| line.split(',').next())
        .filter(|tag| tag.ends_with("/read"))
        .collect();
    tags.dedup();
    assert_eq!(tags, ["A/1-thread/read", "A/1-thread.trial-1/read", "A/1-thread.trial-2/read"]);
    let table = table(&written(&record, &analysis, "slices.csv"));
    let mut trials: Vec<&str> = (0..table.1.len()).map(|row| field(&table, row, "trial")).collect();
    trials.dedup();
    assert_eq!(trials, ["", "0", "1"]);
}

fn histogram_of(value_ns: u64) -> Histogram {
    let mut histogram = Histogram::new();
    histogram.record(value_ns);
    histogram
}

#[test]
fn hostile_names_break_no_file() {
    let (mut record, mut analysis) = small();
    let hostile = "../a,b\"c\n<script>\u{202e} x";
    let renamed = analysis.arms[0].name.clone();
    analysis.arms[0].name = hostile.into();
    analysis.mixes[0] = hostile.into();
    for curve in analysis.curves.iter_mut().filter(|curve| curve.arm == renamed) {
        curve.arm = hostile.into();
        for point in &mut curve.points {
            point.arm = hostile.into();
        }
    }
    for run in record.runs.iter_mut().filter(|run| run.arm == renamed) {
        run.arm = hostile.into();
        run.state = RunState::Failed { message: hostile.into() };
        for point in &mut run.points {
            point.label.mix = hostile.into();
        }
    }
    let points = table(&written(&record, &analysis, "points.csv"));
    assert!((0..points.1.len()).any(|row| field(&points, row, "arm") == hostile));
    let report = Report { record: &record, analysis: &analysis };
    for file in files(&report) {
        let allowed = |character: char| {
            character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_')
        };
        assert!(file.name.chars().all(allowed) && !file.name.starts_with('.'), "{}", file.name);
        let mut bytes = Vec::new();
        write(&file, &mut bytes).unwrap();
        if file.name.ends_with(".hlog") {
            for entry in IntervalLogIterator::new(&bytes) {
                entry.unwrap();
            }
        }
    }
}

#[test]
fn nothing_measured_gives_headers_alone() {
    let shape = Shape {
        arms: Vec::new(),
        sessions: Vec::new(),
        mixes: Vec::new(),
        blocks: 0,
        seconds: 0,
        slices: false,
        watched: false,
        decided: false,
    };
    let (record, analysis) = sample::experiment(&shape);
    assert_eq!(written(&record, &analysis, "points.csv").lines().count(), 1);
    assert_eq!(written(&record, &analysis, "slices.csv").lines().count(), 1);
    assert_eq!(
        files(&Report { record: &record, analysis: &analysis }).len(),
        // Three tables as CSV and as Parquet, and five documents.
        11
    );
}

#[test]
fn markdown_has_what_decides_and_keeps_foreign_words_plain() {
    let (mut record, mut analysis) = small();
    analysis.name = "a|b <img> `c`".into();
    record.name.clone_from(&analysis.name);
    let report = Report { record: &record, analysis: &analysis };
    let text = markdown::render(&report, None, None);
    assert!(text.starts_with("### a\\|b &lt;img&gt; \\`c\\`\n"), "{text}");
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let deciding = analysis.comparisons.iter().filter(|one| one.primary);
    // The titles and a row for each; the line below the titles begins with `|-`.
    assert_eq!(rows.count(), 1 + deciding.count());
    assert!(text.contains("**Can it be trusted?**"), "{text}");
    assert!(!text.contains("History"));
    insta::assert_snapshot!(text);
}

#[test]
fn an_arm_has_one_value_also_where_only_some_of_its_blocks_are_compared() {
    let (record, mut analysis) = small();
    let rows = |analysis: &Analysis| -> Vec<String> {
        let report = Report { record: &record, analysis };
        let text = markdown::render(&report, None, None);
        let rows = text.lines().filter(|line| line.starts_with("| "));
        rows.map(str::to_owned).collect()
    };
    let whole = rows(&analysis);
    for one in &mut analysis.comparisons {
        one.pairs.truncate(1);
    }
    assert_eq!(rows(&analysis), whole);
}

mod slow {
    use super::*;

    #[test]
    fn what_was_watched_is_in_two_tables_and_what_fio_said_in_files() {
        let shape = Shape { slices: true, watched: true, ..Shape::two_disks() };
        let (record, analysis) = sample::experiment(&shape);
        let slices = table(&written(&record, &analysis, "slices.csv"));
        assert_eq!(field(&slices, 0, "device.reads"), "5000");
        assert_eq!(field(&slices, 0, "watching.ns"), "612000");
        let figures = table(&written(&record, &analysis, "figures.csv"));
        // 2 arms, 5 loads, 6 blocks, and the load phase.
        assert_eq!(figures.1.len(), 2 * 5 * 6 + 2 * 6);
        let result = &analysis.curves[0].points[0].results[0];
        let stored: f64 = field(&figures, 0, "device_reads_per_second").parse().unwrap();
        assert_eq!(Some(stored), result.figures.device_reads_per_second);
        assert_eq!(field(&figures, 0, "cause"), "disk latency");
        assert_eq!(field(&figures, 0, "pressure_io"), "");
        let report = Report { record: &record, analysis: &analysis };
        let names: Vec<String> = files(&report)
            .into_iter()
            .map(|file| file.name)
            .filter(|name| name.starts_with("calibration"))
            .collect();
        assert_eq!(
            names,
            [
                "calibration-1-random-reads-of-4-KiB--16-jobs.json",
                "calibration-2-random-reads-of-4-KiB--16-jobs.json",
                "calibration-3-random-reads-of-4-KiB--1-job.json"
            ]
        );
        let said: serde_json::Value =
            serde_json::from_str(&written(&record, &analysis, &names[0])).unwrap();
        assert_eq!(said, record.calibrations[0].results[0].json);
    }
}
