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
    assert_eq!(reads.mean_ns(), read["lat_ns"]["mean"].as_f64());
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
    assert_contains(refused(&changed.to_string()), "no job completed a request");
}

#[test]
fn only_a_queue_multiplies_the_sessions() {
    let of = |options: &[(&str, &str)]| {
        let mut properties = BTreeMap::new();
        for (name, value) in options {
            properties.insert((*name).to_owned(), (*value).to_owned());
        }
        sessions(&properties, Some(1))
    };
    assert_eq!(of(&[]), Some(1));
    assert_eq!(of(&[("ioengine", "libaio"), ("iodepth", "16")]), Some(16));
    assert_eq!(of(&[("ioengine", "psync"), ("iodepth", "16")]), Some(1));
    // An unknown engine may or may not have a queue.
    assert_eq!(of(&[("ioengine", "rbd"), ("iodepth", "16")]), None);
    assert_eq!(of(&[("ioengine", "rbd"), ("iodepth", "1")]), Some(1));
    assert_eq!(of(&[("ioengine", "external:/a/b.so"), ("iodepth", "2")]), None);
    assert_eq!(of(&[("rate_iops", "100")]), None);
    assert_eq!(of(&[("iodepth", "many")]), None);
}

/// Jobs of fio that are reported together have the sum of their runtimes, and the length of their directions.
#[test]
fn the_length_is_that_of_the_directions() {
    let of = |jobs: u64, numjobs: &str| {
        let mut changed = document();
        let job = &mut changed["jobs"][0];
        job["job options"]["numjobs"] = numjobs.into();
        job["read"]["runtime"] = 30_000.into();
        job["read"]["total_ios"] = 60_000.into();
        job["job_runtime"] = (30_000 * jobs).into();
        let run = all(&changed.to_string()).remove(0);
        (run.measured_ns, run.sessions)
    };
    assert_eq!(of(1, "1"), (30_000_000_000, Some(1)));
    assert_eq!(of(12, "12"), (30_000_000_000, Some(12)));
    // Another job was in the same group, under the name of this one.
    assert_eq!(of(6, "4"), (30_000_000_000, None));
}

#[test]
fn times_are_from_the_submission_to_the_completion_or_unknown() {
    let of = |slat: f64, clat: f64, lat: f64| {
        let mut changed = document();
        let read = &mut changed["jobs"][0]["read"];
        for (name, mean) in [("slat_ns", slat), ("clat_ns", clat), ("lat_ns", lat)] {
            read[name]["mean"] = mean.into();
            read[name]["max"] = (10.0 * mean).into();
        }
        let run = all(&changed.to_string()).remove(0);
        let reads = run.stated.unwrap().operations[0].latencies.service.clone();
        (reads.mean_ns(), reads.percentile_ns(99.0).is_some())
    };
    assert_eq!(of(1.0, 200.0, 201.0), (Some(201.0), true));
    // The percentiles are those of completion alone.
    assert_eq!(of(497.0, 2.0, 499.0), (Some(499.0), false));
    assert_eq!(of(497.0, 2.0, 0.0), (Some(499.0), false));
    assert_eq!(of(0.0, 0.0, 0.0), (None, false));
}

/// As fio 2 prints: microseconds, no count of requests in the first versions, labels without a percentile.
#[test]
fn fio_2_is_read_in_its_units() {
    let text = r#"{"fio version": "fio-2.1.4", "jobs": [{"jobname": "w", "groupid": 0, "error": 0, "read": {"iops": 0, "runtime": 0},
        "write": {"io_bytes": 361984, "bw": 68118, "iops": 133, "runtime": 5000, "clat": {"min": 189, "max": 869, "mean": 477.5,
        "percentile": {"50.000000": 444, "99.000000": 823, "0.00": 0, "0.00": 0}}, "lat": {"min": 190, "max": 870, "mean": 478.5}}}]}"#;
    let run = all(text).remove(0);
    assert_eq!(run.sessions, None);
    let stated = run.stated.unwrap();
    assert_eq!(stated.completed.ok, 665);
    let writes = &stated.operations[0].latencies.service;
    assert_eq!(writes.mean_ns(), Some(478_500.0));
    assert_eq!((writes.percentile_ns(99.0), writes.min_ns()), (Some(823_000), Some(190_000)));
    assert_eq!(writes.summary().unwrap().percentiles.len(), 2);
}

#[test]
fn directions_that_are_reported_together_are_counted_once() {
    let mut changed = document();
    let job = &mut changed["jobs"][0];
    let read = job["read"].clone();
    job["mixed"] = read.clone();
    let both = all(&changed.to_string()).remove(0);
    assert_eq!(both.stated, all(READ)[0].stated);
    changed["jobs"][0]["read"] = serde_json::json!({});
    let run = all(&changed.to_string()).remove(0);
    let stated = run.stated.unwrap();
    assert_eq!(Some(stated.completed.ok), read["total_ios"].as_u64());
    assert!(stated.operations.is_empty());
    let p99 = read["clat_ns"]["percentile"]["99.000000"].as_u64();
    assert_eq!(stated.all.unwrap().service.percentile_ns(99.0), p99);
}

#[test]
fn failures_that_were_let_pass_are_failures() {
    let mut changed = document();
    let job = &mut changed["jobs"][0];
    (job["total_err"], job["first_error"]) = (7.into(), 5.into());
    let run = all(&changed.to_string()).remove(0);
    assert_eq!(run.stated.unwrap().completed.error, 7);
    assert_eq!((run.errors[0].message.as_str(), run.errors[0].count), ("fio error 5", 7));
}

#[test]
fn one_file_may_hold_runs_and_reports_at_intervals() {
    let at = |second: u64, ios: u64, elapsed: u64| {
        let mut changed = document();
        changed["timestamp_ms"] = (1_700_000_000_000 + 1_000 * second).into();
        let job = &mut changed["jobs"][0];
        job.as_object_mut().unwrap().remove("job_start");
        job["elapsed"] = elapsed.into();
        job["read"]["total_ios"] = ios.into();
        job["read"]["runtime"] = (1_000 * elapsed).into();
        changed.to_string()
    };
    let counts = |text: &str| {
        let runs = all(text);
        let counts = runs.iter().map(|run| run.stated.as_ref().unwrap().completed.ok);
        (counts.collect::<Vec<u64>>(), runs.last().unwrap().damage.len())
    };
    let reports = [at(10, 100, 10), at(20, 210, 20), at(30, 300, 30)];
    let later = at(90, 350, 30);
    assert_eq!(counts(&reports.concat()), (vec![300], 0));
    assert_eq!(counts(&(reports.join("\n") + &later)), (vec![300, 350], 0));
    assert_eq!(counts(&format!("[{}, {later}]", reports[2])), (vec![300, 350], 0));
    // A report that is cut off is named, wherever it stands.
    let half = &reports[2][..reports[2].len() / 2];
    assert_eq!(counts(&format!("{}{half}", reports[0])), (vec![100], 1));
    assert_eq!(counts(&format!("{half}{later}")), (vec![350], 1));
    // When it began follows from its end.
    assert_eq!(all(&later)[0].started_at.as_deref(), Some("2023-11-14T22:14:20.000Z"));
}

#[test]
fn what_is_no_number_is_unknown_and_the_rest_stands() {
    let mut changed = document();
    changed["jobs"][0]["read"]["lat_ns"]["max"] = "NAN".into();
    changed["jobs"][0]["jobname"] = "nan".into();
    let text = changed.to_string().replace("\"NAN\"", "-nan");
    let run = all(&text).remove(0);
    assert_eq!(run.workload.as_deref(), Some("nan"));
    assert!(run.stated.unwrap().completed.ok > 0);
}

#[test]
fn words_around_the_document_may_stand_on_its_line() {
    let expected = all(READ).remove(0).stated;
    for before in ["\u{feff}", "Jobs: 1 (f=1)\r", "{x} \"quoted\n"] {
        assert_eq!(all(&format!("{before}{READ}"))[0].stated, expected, "{before:?}");
    }
    let ended = all(&format!("fio: terminating on signal 2\n{READ}"));
    assert_contains(&ended[0].damage[0], "terminating on signal 2");
}

#[test]
fn jobs_of_one_name_in_other_groups_are_points_of_their_own() {
    let mut changed = document();
    let job = changed["jobs"][0].clone();
    let mut second = job.clone();
    second["groupid"] = 1.into();
    changed["jobs"] = serde_json::json!([job, second]);
    let runs = all(&changed.to_string());
    let names: Vec<_> = runs.iter().map(|run| run.workload.as_deref().unwrap()).collect();
    assert_eq!(names, ["randread, group 0", "randread, group 1"]);
}
