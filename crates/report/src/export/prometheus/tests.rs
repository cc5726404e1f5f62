use super::*;
use crate::Report;
use crate::sample::{self as sample, Shape};
use plimsoll_record::{
    Completed, Histogram, Latencies, Operation, OperationSlice, Slice, Status, WorkerUse,
};
use std::collections::BTreeMap;

fn slice() -> Slice {
    let mut service = Histogram::new();
    service.record_n(1_000_000, 98);
    service.record_n(50_000_000, 2);
    Slice {
        index: 3,
        start_ns: 3_000_000_000,
        length_ns: 500_000_000,
        warm_up: false,
        completed: Completed { ok: 100, not_found: 0, error: 2 },
        operations: vec![OperationSlice {
            operation: Operation::Read,
            status: Status::Ok,
            latencies: Latencies { service, open: None },
        }],
        by_host: Vec::new(),
        worker: WorkerUse {
            cpu_user_ns: 300_000_000,
            cpu_system_ns: 100_000_000,
            context_switches: 5,
            resident_bytes: 1 << 20,
        },
        telemetry: BTreeMap::from([
            ("device.reads".to_owned(), 40.0),
            ("device.read.bytes".to_owned(), 4_096.0 * 40.0),
            ("device.read.ns".to_owned(), 20e6),
            ("device.queue.ns".to_owned(), 1e9),
            ("device.credits".to_owned(), 9.0),
            ("engine.cache.used.bytes".to_owned(), 7e6),
            ("engine.evictions".to_owned(), f64::NAN),
            ("no figure\nplimsoll_lie".to_owned(), 1.0),
        ]),
    }
}

fn standing<'a>(experiment: &'a str, arms: &[&'a str], slice: &'a Slice) -> ExperimentStatus<'a> {
    ExperimentStatus {
        experiment,
        id: "k3f9q",
        running: true,
        runs_finished: 3,
        runs_planned: 12,
        time_left_seconds: Some(130.5),
        latest: arms
            .iter()
            .map(|arm| LatestSlice { arm, mix: "A", load: "8 threads", block: 1, slice, errors: 7 })
            .collect(),
    }
}

/// Samples and the names of their families, by the rules of the form.
fn read(text: &str) -> (Vec<(String, String, f64)>, BTreeSet<String>) {
    let mut samples = Vec::new();
    let mut families = BTreeSet::new();
    let mut family = String::new();
    let body = text.strip_suffix("# EOF\n").expect("it ends as it must");
    for line in body.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            family = rest.split(' ').next().unwrap().to_owned();
            assert!(families.insert(family.clone()), "{family} comes twice");
            continue;
        }
        if let Some(rest) = line.strip_prefix("# UNIT ") {
            let (name, unit) = rest.split_once(' ').unwrap();
            assert!(name.ends_with(&format!("_{unit}")), "{line}");
            continue;
        }
        if line.starts_with("# HELP ") {
            continue;
        }
        let (name, rest) = line.split_once('{').unwrap();
        let (labels, value) = rest.rsplit_once("} ").unwrap();
        assert!(name == family || name == format!("{family}_total"), "{line}");
        samples.push((name.to_owned(), labels.to_owned(), value.parse().unwrap()));
    }
    (samples, families)
}

fn only(samples: &[(String, String, f64)], name: &str, labels: &str) -> f64 {
    let found: Vec<f64> = samples
        .iter()
        .filter(|(other, has, _)| other == name && has.contains(labels))
        .map(|(_, _, value)| *value)
        .collect();
    assert_eq!(found.len(), 1, "{name} with {labels}: {samples:#?}");
    found[0]
}

#[test]
fn a_second_is_told_in_base_units() {
    let slice = slice();
    let (samples, families) = read(&now(&[standing("quickstart", &["one"], &slice)]));
    for (name, labels, expected) in [
        ("plimsoll_runs_finished", "", 3.0),
        ("plimsoll_runs_planned", "", 12.0),
        ("plimsoll_time_left_seconds", "", 130.5),
        ("plimsoll_running", "", 1.0),
        ("plimsoll_throughput_operations_per_second", "", 200.0),
        ("plimsoll_errors_total", "", 7.0),
        ("plimsoll_worker_cpu_seconds_per_second", "", 0.8),
        ("plimsoll_worker_resident_bytes", "", 1_048_576.0),
        ("plimsoll_device_reads_per_second", "", 80.0),
        ("plimsoll_device_read_bytes_per_second", "", 327_680.0),
        ("plimsoll_device_read_seconds_per_second", "", 0.04),
        ("plimsoll_device_queue_requests", "", 2.0),
        ("plimsoll_device_credits", "", 9.0),
        ("plimsoll_engine_cache_used_bytes", "", 7e6),
    ] {
        let value = only(&samples, name, labels);
        assert!((value - expected).abs() < 1e-9 * expected, "{name}: {value}");
    }
    // Three digits, as in all histograms.
    for (quantile, expected) in [("0.5", 0.001), ("0.99", 0.05)] {
        let labels = format!("quantile=\"{quantile}\"");
        for name in ["plimsoll_response_seconds", "plimsoll_service_seconds"] {
            let value = only(&samples, name, &labels);
            assert!((value / expected - 1.0).abs() < 0.001, "{name}: {value}");
        }
    }
    assert!(!families.contains("plimsoll_engine_evictions_per_second"));
    let labels =
        r#"experiment="quickstart",id="k3f9q",arm="one",mix="A",load="8 threads",block="1""#;
    only(&samples, "plimsoll_warm_up", labels);
}

#[test]
fn hostile_names_stay_within_their_labels() {
    let slice = slice();
    let hostile = "a\"} 1\nplimsoll_lie{x=\"\\";
    let text = now(&[standing(hostile, &[hostile], &slice)]);
    let (samples, families) = read(&text);
    assert!(!families.iter().any(|name| name.contains("lie")));
    let escaped = r#"arm="a\"} 1\nplimsoll_lie{x=\"\\""#;
    only(&samples, "plimsoll_warm_up", escaped);
}

#[test]
fn the_same_labels_come_only_once() {
    let slice = slice();
    let twice = [standing("one", &["arm", "arm"], &slice), standing("one", &[], &slice)];
    let (samples, _) = read(&now(&twice));
    only(&samples, "plimsoll_runs_planned", "");
    only(&samples, "plimsoll_warm_up", "");
}

#[test]
fn nothing_at_all_is_still_a_text() {
    assert_eq!(now(&[]), "# EOF\n");
}

#[test]
fn every_figure_of_a_slice_has_a_name_of_its_own() {
    let mut slice = slice();
    slice.telemetry = figures::ALL.iter().map(|name| ((*name).to_owned(), 1.0)).collect();
    let (_, families) = read(&now(&[standing("one", &["arm"], &slice)]));
    let of_figures = families.len() - 11;
    assert_eq!(of_figures, figures::ALL.len(), "{families:#?}");
    let well_formed = |name: &String| {
        name.chars()
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
    };
    assert!(families.iter().all(well_formed), "{families:#?}");
}

#[test]
fn results_are_told_for_each_run() {
    let shape = Shape { decided: true, ..Shape::two_disks() };
    let (record, mut analysis) = sample::experiment(&shape);
    let first = &mut analysis.curves[0].points[0];
    first.results[0].valid = false;
    let (arm, load) = (first.arm.clone(), first.load_label.clone());
    let expected = first.results[1].throughput;
    let p99 = first.response.p99.values[1].1;
    let mut out = Vec::new();
    write(&Report { record: &record, analysis: &analysis }, &mut out).unwrap();
    let (samples, families) = read(std::str::from_utf8(&out).unwrap());
    let block = |block: u32| format!("arm=\"{arm}\",mix=\"A\",load=\"{load}\",block=\"{block}\"");
    let throughput = "plimsoll_throughput_operations_per_second";
    assert_eq!(only(&samples, throughput, &block(1)), expected);
    assert!(
        !samples.iter().any(|(name, labels, _)| name == throughput && labels.contains(&block(0)))
    );
    assert_eq!(only(&samples, "plimsoll_valid", &block(0)), 0.0);
    assert_eq!(only(&samples, "plimsoll_valid", &block(1)), 1.0);
    let description =
        only(&samples, "plimsoll_response_seconds", &format!("{},quantile=\"0.99\"", block(1)));
    assert!((description - p99 / 1e9).abs() < 1e-12);
    for name in [
        "plimsoll_device_reads_per_second",
        "plimsoll_engine_cache_hit_ratio",
        "plimsoll_line_operations_per_second",
        "plimsoll_cost_per_million_operations",
        "plimsoll_worker_cpu_seconds_per_operation",
    ] {
        assert!(families.contains(name), "{name} in {families:#?}");
    }
}

/// A running experiment has what the dashboard asks for.
#[test]
fn operations_are_told_apart_by_a_label() {
    let (record, analysis) = sample::experiment(&Shape::quickstart());
    let mut out = Vec::new();
    super::write(&Report { record: &record, analysis: &analysis }, &mut out).unwrap();
    let (samples, _) = read(std::str::from_utf8(&out).unwrap());
    let point = &analysis.curves[0].points[0];
    let labels = |more: &str| {
        let load = &point.load_label;
        format!(
            "arm=\"{}\",mix=\"{}\",load=\"{load}\",block=\"0\",operation=\"read\"{more}",
            point.arm, analysis.curves[0].mix
        )
    };
    let p99 = only(&samples, "plimsoll_operation_response_seconds", &labels(",quantile=\"0.99\""));
    assert_eq!(p99, point.by_operation["read"].p99.values[0].1 / 1e9);
    let name = "plimsoll_operation_throughput_operations_per_second";
    let throughput = only(&samples, name, &labels(""));
    assert_eq!(throughput, point.operations["read"].throughput.values[0].1);
}

#[test]
fn the_dashboard_asks_for_metrics_that_there_are() {
    let mut slice = slice();
    slice.telemetry = figures::ALL.iter().map(|name| ((*name).to_owned(), 1.0)).collect();
    let (samples, _) = read(&now(&[standing("one", &["arm"], &slice)]));
    let there: BTreeSet<&str> = samples.iter().map(|(name, _, _)| name.as_str()).collect();
    let text = include_str!("../../../../../docs/grafana/plimsoll.json");
    let dashboard: serde_json::Value = serde_json::from_str(text).unwrap();
    let mut requested = BTreeSet::new();
    let mut expressions = 0;
    let mut panels = 0;
    for panel in dashboard["panels"].as_array().unwrap() {
        panels += 1;
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{panel}");
        for target in panel["targets"].as_array().unwrap() {
            expressions += 1;
            names(target["expr"].as_str().unwrap(), &mut requested);
        }
    }
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        if let Some(query) = variable["query"]["query"].as_str() {
            names(query, &mut requested);
        }
    }
    assert!(panels >= 8 && expressions >= panels, "{panels}, {expressions}");
    let missing: Vec<_> = requested.iter().filter(|name| !there.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?} are not in {there:#?}");
}

/// Adds every word that begins like a metric.
fn names(expression: &str, requested: &mut BTreeSet<String>) {
    let words = expression.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let ours = words.filter(|word| word.starts_with("plimsoll_"));
    let before = requested.len();
    requested.extend(ours.map(str::to_owned));
    assert!(requested.len() > before || expression.contains("plimsoll_"), "{expression}");
}
