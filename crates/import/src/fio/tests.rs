use super::*;
use crate::{Options, read as read_any};
use plimsoll_testing::assert_contains;

const READ: &str = include_str!("../../tests/samples/fio-read.json");

fn all(text: &str) -> Vec<Measured> {
    read_any("fio.json", text.as_bytes(), &Options::default()).unwrap()
}

/// The sample as a document that can be changed.
fn document() -> Value {
    serde_json::from_str(READ).unwrap()
}

#[test]
fn a_job_is_read_as_fio_tells_it() {
    let expected = document();
    let read = &expected["jobs"][0]["read"];
    let runs = all(READ);
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    assert_eq!(run.version.as_deref(), Some("fio-3.33"));
    assert_eq!(run.workload.as_deref(), Some("randread"));
    assert_eq!(run.sessions, Some(1));
    let stated = run.stated.as_ref().unwrap();
    assert_eq!(Some(stated.completed.ok), read["total_ios"].as_u64());
    let reads = &stated.operations[0].latencies.service;
    let p99 = &read["clat_ns"]["percentile"]["99.000000"];
    assert_eq!(reads.percentile_ns(99.0), p99.as_u64());
    assert_eq!(reads.mean_ns(), read["clat_ns"]["mean"].as_f64());
    // Its rate is that of fio to the digits that fio prints.
    let rate = stated.completed.ok as f64 / (run.measured_ns as f64 / 1e9);
    let iops = read["iops"].as_f64().unwrap();
    assert!((rate / iops - 1.0).abs() < 1e-3, "{rate} {iops}");
}

#[test]
fn buckets_make_the_histogram() {
    let mut changed = document();
    let read = &mut changed["jobs"][0]["read"];
    read["total_ios"] = 10.into();
    read["clat_ns"]["bins"] = serde_json::json!({"1000": 7, "2000": 3});
    let runs = all(&changed.to_string());
    let stated = runs[0].stated.as_ref().unwrap();
    let reads = &stated.operations[0].latencies.service;
    assert!(reads.summary().is_none());
    assert_eq!((reads.count(), reads.percentile_ns(50.0)), (10, Some(1000)));
}

#[test]
fn copies_of_a_job_are_one_and_others_are_points_of_their_own() {
    let mut changed = document();
    let job = changed["jobs"][0].clone();
    let mut other = job.clone();
    other["jobname"] = "second".into();
    changed["jobs"] = serde_json::json!([job, job, other]);
    let runs = all(&changed.to_string());
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0].sessions, Some(2));
    let one = all(READ)[0].stated.as_ref().unwrap().completed.ok;
    assert_eq!(runs[0].stated.as_ref().unwrap().completed.ok, 2 * one);
    let remark = "ran at the same time as second";
    assert!(runs[0].remarks.iter().any(|words| words == remark));
}

#[test]
fn messages_before_and_after_the_document_are_passed_over() {
    let text = format!("fio: something to say\n{READ}\nand more\n");
    assert_eq!(all(&text)[0].stated, all(READ)[0].stated);
}

#[test]
fn a_job_that_failed_is_damaged() {
    let mut changed = document();
    changed["jobs"][0]["error"] = 28.into();
    assert!(all(&changed.to_string())[0].damage[0].contains("error 28"));
}

#[test]
fn what_cannot_be_is_refused() {
    let refused =
        |text: &str| read_any("fio.json", text.as_bytes(), &Options::default()).unwrap_err();
    assert_contains(refused(&READ[..READ.len() / 2]), "the JSON is damaged");
    let mut changed = document();
    changed["jobs"][0]["read"]["clat_ns"]["mean"] = (-5.0).into();
    let words = "mean of read in job randread is `-5`";
    assert_contains(refused(&changed.to_string()), words);
    changed["jobs"] = serde_json::json!([]);
    assert_contains(refused(&changed.to_string()), "no job did any I/O");
}

#[test]
fn only_a_queue_multiplies_the_sessions() {
    let of = |options: &[(&str, &str)]| {
        let mut properties = BTreeMap::new();
        for (name, value) in options {
            properties.insert((*name).to_owned(), (*value).to_owned());
        }
        sessions(&properties)
    };
    assert_eq!(of(&[]), Some(1));
    assert_eq!(of(&[("ioengine", "libaio"), ("iodepth", "16")]), Some(16));
    assert_eq!(of(&[("ioengine", "psync"), ("iodepth", "16")]), Some(1));
    assert_eq!(of(&[("numjobs", "4"), ("group_reporting", "1")]), Some(4));
    assert_eq!(of(&[("rate_iops", "100")]), None);
    assert_eq!(of(&[("iodepth", "many")]), None);
}
