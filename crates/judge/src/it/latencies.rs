//! Whole distributions: into the tail, and over the seconds.

use crate::it::laboratory::{Laboratory, Shown, histogram, part, point};
use crate::it::searched::{lines, measure};
use crate::it::watched::{self, Watched, disk, one_point, watch};
use crate::{Analysis, Tail, TailValue, Validity, ValidityState, analyse, heat, summed_up, tail};
use plimsoll_plan::SettingValue;
use plimsoll_record::{
    Completed, Histogram, LoadKind, Operation, Severity, Status, Summary, Warning, WarningId,
    figures,
};
use serde_json::Value;

/// One arm at 8 threads in 6 blocks, 100,000 op/s of 80 µs; one in a hundred takes a hundred times as long.
fn with_slow_ones() -> Laboratory {
    let mut lab =
        Laboratory::closed(&["arm"], &["c"], &[8], 6).measure(|case| Shown::closed(case, 1e5));
    for point in lab.points() {
        for slice in &mut point.slices {
            let latencies = &mut slice.operations[0].latencies;
            // As many nanoseconds together as before, for Little's law.
            let count = latencies.count();
            let slow = count / 100;
            latencies.service = histogram(40_201, count - slow);
            latencies.service.record_n(4_020_100, slow);
        }
    }
    lab
}

fn at(values: &[TailValue], beyond: f64) -> f64 {
    let near = |value: &&TailValue| (value.beyond / beyond - 1.0).abs() < 1e-9;
    values.iter().find(near).unwrap().value_ns
}

fn only_tail(lab: &Laboratory) -> Option<Tail> {
    let record = lab.record();
    let analysis = analyse(&record).unwrap();
    tail(&record, &analysis.curves[0].points[0])
}

#[test]
fn a_tail_is_that_of_all_valid_runs_together_after_the_warm_up() {
    let lab = with_slow_ones();
    let tail = only_tail(&lab).unwrap();
    // The second of warm-up is not in it.
    assert_eq!((tail.runs, tail.operations), (6, 6 * 12 * 100_000));
    assert!((at(&tail.response, 0.5) / 40_201.0 - 1.0).abs() < 1e-3);
    assert!((at(&tail.response, 0.015) / 40_201.0 - 1.0).abs() < 1e-3);
    assert!((at(&tail.response, 0.0075) / 4_020_100.0 - 1.0).abs() < 1e-3);
    assert!((tail.longest_ns / 4_020_100.0 - 1.0).abs() < 1e-3);
    assert!(tail.service.is_empty() && tail.at_least_from.is_none());
    // Only as far as at least five operations lie beyond.
    let last = tail.response.last().unwrap().beyond;
    assert!(last * tail.operations as f64 >= 5.0 && last < 2e-6);
    let rises = |pair: &[TailValue]| {
        pair[0].beyond > pair[1].beyond && pair[0].value_ns <= pair[1].value_ns
    };
    assert!(tail.response.windows(2).all(rises));
}

#[test]
fn runs_that_are_not_valid_are_in_no_tail() {
    let mut lab = with_slow_ones();
    for slice in &mut lab.runs[2].points[0].slices {
        slice.completed.error = 50_000;
        let load = LoadKind::Closed { sessions: 8, think_time_ns: 0, target: None };
        slice.operations.push(part(Operation::Read, Status::Error, load, 1e9, 50_000));
    }
    let tail = only_tail(&lab).unwrap();
    assert_eq!((tail.runs, tail.operations), (5, 5 * 12 * 100_000));
    for run in &mut lab.runs {
        run.points.clear();
    }
    let record = lab.record();
    let whole = with_slow_ones().analyse();
    assert_eq!(crate::tail(&record, &whole.curves[0].points[0]), None);
}

#[test]
fn open_loops_have_a_service_time_and_lower_bounds() {
    let mut lab = Laboratory::open(&["arm"], &["c"], &[10_000.0], 6).measure(|_| Shown {
        throughput: 10_000.0,
        response_ns: 500_000.0,
        errors: 0,
        seconds: 12,
        busy: 0.5,
    });
    for point in lab.points() {
        for slice in &mut point.slices {
            let count = slice.operations[0].latencies.count();
            slice.operations[0].latencies.service = histogram(100_000, count);
        }
        let end = point.end.as_mut().unwrap();
        end.unfinished = Some(histogram(2_000_000_000, 12));
        end.due = end.due.map(|due| due + 12);
    }
    let record = lab.record();
    let analysis = analyse(&record).unwrap();
    let tail =
        tail(&record, point(&analysis, "arm", &analysis.curves[0].points[0].load_label)).unwrap();
    assert!((at(&tail.service, 0.5) / 1e5 - 1.0).abs() < 1e-3);
    assert!((at(&tail.response, 0.5) / 5e5 - 1.0).abs() < 1e-3);
    assert!((tail.longest_ns / 2e9 - 1.0).abs() < 1e-3);
    let from = tail.at_least_from.unwrap();
    assert!((from / 1e-4 - 1.0).abs() < 1e-3, "{from}");
}

/// Two operations of unlike times, the first seconds slower, and one in a hundred that takes a hundred times as long.
#[test]
fn a_record_without_the_histograms_of_its_seconds_says_the_same() {
    let mut lab = Laboratory::closed(&["one", "two"], &["a"], &[8], 6)
        .measure(|case| Shown::closed(case, 1e5));
    for (number, point) in lab.points().enumerate() {
        for (second, slice) in point.slices.iter_mut().enumerate() {
            let count = slice.completed.ok;
            let slow = 40_000 * (1 + u64::from(second < 4)) + 100 * number as u64;
            let mut parts = Vec::new();
            for (operation, times) in [(Operation::Read, 1), (Operation::Update, 3)] {
                let mut service = histogram(slow * times, count / 2 - count / 200);
                service.record_n(100 * slow * times, count / 200);
                let mut part = slice.operations[0].clone();
                part.operation = operation;
                part.latencies.service = service;
                parts.push(part);
            }
            slice.operations = parts;
        }
    }
    let record = lab.record();
    let small = summed_up(&record).unwrap();
    let said = |record| serde_json::to_value(analyse(record).unwrap()).unwrap();
    assert_same("", &said(&small), &said(&record));
    let mut slices = small.runs.iter().flat_map(|run| &run.points[0].slices);
    assert!(slices.all(|slice| slice.operations[0].latencies.service.summary().is_some()));
    assert_eq!(summed_up(&small).unwrap(), small);
    let analysis = analyse(&small).unwrap();
    let of = |record| tail(record, &analysis.curves[0].points[0]).unwrap();
    let (is, was) = (of(&small), of(&record));
    assert_eq!((is.runs, is.operations, is.longest_ns), (was.runs, was.operations, was.longest_ns));
    for (is, was) in is.response.iter().zip(&was.response) {
        assert!((is.value_ns / was.value_ns - 1.0).abs() < 0.016, "{is:?} {was:?}");
    }
    assert_eq!(heat(&small, &analysis.series[0], 150), None);
}

/// The same but for means, which a coarse histogram knows to five parts in ten thousand.
fn assert_same(path: &str, is: &Value, was: &Value) {
    match (is, was) {
        (Value::Object(is), Value::Object(was)) => {
            assert!(is.keys().eq(was.keys()), "{path}");
            for (key, is) in is {
                assert_same(&format!("{path}.{key}"), is, &was[key]);
            }
        }
        (Value::Array(is), Value::Array(was)) => {
            assert_eq!(is.len(), was.len(), "{path}");
            for (is, was) in is.iter().zip(was) {
                assert_same(path, is, was);
            }
        }
        (Value::Number(number), Value::Number(other)) if path.contains("mean") => {
            let [is, was] = [number, other].map(|number| number.as_f64().unwrap());
            assert!((is - was).abs() <= 0.0005 * was, "{path}: {is} {was}");
        }
        _ => assert_eq!(is, was, "{path}"),
    }
}

/// The result of a search is described from its trials.
#[test]
fn a_search_without_the_histograms_of_its_seconds_says_the_same() {
    let record = measure(lines(&["xfs"], 6), |_, _| 20_300.0).record();
    let small = summed_up(&record).unwrap();
    let trials = small.runs.iter().flat_map(|run| &run.points);
    assert!(trials.clone().count() > 30 && trials.clone().all(|trial| trial.summed_up().is_some()));
    let said = |record| serde_json::to_value(analyse(record).unwrap()).unwrap();
    assert_eq!(said(&small)["lines"], said(&record)["lines"]);
    assert_eq!(said(&small)["headline"], said(&record)["headline"]);
}

#[test]
fn of_figures_without_buckets_there_is_no_curve() {
    let mut lab = with_slow_ones();
    for point in lab.points() {
        for slice in &mut point.slices {
            slice.operations[0].latencies.service = Histogram::known(Summary {
                count: slice.completed.ok,
                mean_ns: Some(80_000.0),
                percentiles: vec![(99.0, 4_000_000)],
                ..Summary::default()
            });
        }
    }
    assert_eq!(only_tail(&lab), None);
    let record = lab.record();
    let analysis = analyse(&record).unwrap();
    assert_eq!(heat(&record, &analysis.series[0], 150), None);
}

#[test]
fn heat_counts_every_operation_in_its_second() {
    let mut lab = with_slow_ones();
    // A second in which nothing ended.
    let empty = &mut lab.runs[0].points[0].slices[5];
    empty.completed = Completed::default();
    empty.operations.clear();
    let record = lab.record();
    let analysis = analyse(&record).unwrap();
    let series = &analysis.series[0];
    let whole = heat(&record, series, 150).unwrap();
    assert_eq!(whole.columns.len(), 13);
    for (column, second) in whole.columns.iter().zip(&series.seconds) {
        assert_eq!((column.from, column.to), (second.at, second.at + second.length));
        let count: u64 = column.rows.iter().map(|(_, count)| count).sum();
        assert_eq!(count as f64, second.throughput);
    }
    assert_eq!(whole.columns[5].rows, []);
    // 40.2 µs and 4.02 ms are two powers of ten apart.
    let rows: Vec<u32> = whole.columns[1].rows.iter().map(|(row, _)| *row).collect();
    assert_eq!(rows, [55, 79]);
    let coarse = heat(&record, series, 5).unwrap();
    assert_eq!(coarse.columns.len(), 5);
    let total = |columns: &[crate::HeatColumn]| -> u64 {
        columns.iter().flat_map(|column| &column.rows).map(|(_, count)| count).sum()
    };
    assert_eq!(total(&coarse.columns), total(&whole.columns));
}

fn entry<'a>(analysis: &'a Analysis, name: &str) -> &'a Validity {
    let mut entries = analysis.validity.iter();
    entries.find(|entry| entry.name == name).unwrap()
}

#[test]
fn the_strip_tells_where_the_disk_was_the_limit() {
    let mut lab = one_point(Some(disk(Some(600.0))), 16, 5_088.0);
    let watched = Watched {
        reads: 0.117,
        read_ns: 26e6,
        requested_bytes: 0.117 * 16_384.0,
        processors: 0.3,
        kernel: 0.3,
        ..Watched::default()
    };
    watch(&mut lab, &watched, &[]);
    let analysis = watched::analyse(&lab);
    let at_cap = entry(&analysis, "disk limit");
    assert_eq!(at_cap.state, ValidityState::Note);
    assert_eq!(at_cap.text, "reached in 1 of 1 point, where the disk limits the arm");
    // The engine is in the process of its client.
    let client = entry(&analysis, "client CPU");
    assert_eq!(client.state, ValidityState::Good);
    assert!(client.text.contains("share a process"), "{}", client.text);

    let mut lab = one_point(Some(disk(Some(600.0))), 16, 100_000.0);
    watch(&mut lab, &Watched::default(), &[]);
    let analysis = watched::analyse(&lab);
    let at_cap = entry(&analysis, "disk limit");
    assert_eq!(
        (at_cap.state, at_cap.text.as_str()),
        (ValidityState::Good, "not reached in any of 1 point")
    );
}

#[test]
fn the_cpu_time_of_an_operation_is_that_of_what_is_measured() {
    let of = |lab: &Laboratory| {
        let analysis = watched::analyse(lab);
        analysis.curves[0].points[0].cpu_per_operation.median
    };
    let watched = Watched { processors: 1.2, ..Watched::default() };
    // An embedded engine works in the threads of its client.
    let mut lab = one_point(None, 8, 100_000.0);
    watch(&mut lab, &watched, &[]);
    let both = of(&lab).unwrap();
    watch(&mut lab, &watched, &[(figures::SERVER_CPU, 2e8)]);
    let server = of(&lab).unwrap();
    assert!((server - 2_000.0).abs() < 1e-6, "{server}");
    assert!((both - server).abs() > 100.0, "{both}");
    // It is unknown for a server that runs elsewhere, and the client has none.
    let mut lab = one_point(None, 8, 100_000.0);
    watch(&mut lab, &watched, &[]);
    let uri = SettingValue::Text("mongodb://db".into());
    lab.plan.arms[0].settings.0.insert("uri".into(), uri);
    assert_eq!(of(&lab), None);
}

#[test]
fn the_strip_tells_how_busy_the_clients_of_servers_were() {
    // 8 sessions on 2 processors.
    for (processors, server_ns, state) in [
        (0.5, 2e8, ValidityState::Good),
        (1.2, 2e8, ValidityState::Note),
        // Both processors are used up, most by the client.
        (1.2, 7e8, ValidityState::Caution),
        // Most by the server.
        (0.7, 12e8, ValidityState::Good),
        (1.8, 2e8, ValidityState::Bad),
    ] {
        let mut lab = one_point(None, 8, 100_000.0);
        let watched = Watched { processors, ..Watched::default() };
        watch(&mut lab, &watched, &[(figures::SERVER_CPU, server_ns)]);
        let analysis = watched::analyse(&lab);
        let client = entry(&analysis, "client CPU");
        assert_eq!(client.state, state, "{}", client.text);
        let decides = match state {
            ValidityState::Caution | ValidityState::Bad => {
                "; the client, not the server, limits the rate in 6 points"
            }
            _ => "",
        };
        let expected = format!(
            "up to {:.1} % of the 2 processors that its sessions can use (limit 80 %); CPU/op is the server's{decides}",
            processors * 50.0
        );
        assert_eq!(client.text, expected);
        let point = &analysis.curves[0].points[0];
        if state != ValidityState::Bad {
            let nanos = point.cpu_per_operation.median.unwrap();
            assert!((nanos - server_ns / 100_000.0).abs() < 1e-6, "{nanos}");
        }
        let generator = entry(&analysis, "generator");
        assert!(!generator.text.contains("excused"), "{}", generator.text);
        // Only where the client has no room left nothing may be used.
        let warned = analysis
            .warnings
            .iter()
            .find(|warning| warning.id == WarningId::GeneratorLimited)
            .map(Warning::severity);
        let expected = match state {
            ValidityState::Caution => Some(Severity::Caution),
            ValidityState::Bad => Some(Severity::Invalid),
            _ => None,
        };
        assert_eq!(warned, expected);
    }
    // It is unknown where the processors were not counted.
    let analysis = with_slow_ones().analyse();
    assert!(analysis.validity.iter().all(|entry| entry.name != "disk limit"));
}

mod slow {
    use super::*;

    #[test]
    fn the_tail_at_a_line_is_that_of_its_trials() {
        let lab = measure(lines(&["xfs"], 8), |_, _| 20_300.0);
        let record = lab.record();
        let analysis = analyse(&record).unwrap();
        let at_line = analysis.lines[0].at_line.as_ref().unwrap();
        let tail = tail(&record, at_line).unwrap();
        assert_eq!(tail.runs, 8);
        let finished: u64 = at_line.ok;
        assert!(
            tail.operations.abs_diff(finished) <= finished / 100,
            "{} of {finished}",
            tail.operations
        );
    }
}
