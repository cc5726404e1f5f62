use super::*;
use crate::{Options, read as read_any};
use plimsoll_record::Completed;
use plimsoll_testing::assert_contains;

const RUN: &str = include_str!("../../tests/samples/go-ycsb-run.txt");

fn only(text: &str) -> Measured {
    let mut outputs = read_any("go.txt", text.as_bytes(), &Options::default()).unwrap();
    assert_eq!(outputs.len(), 1);
    outputs.remove(0)
}

#[test]
fn a_run_is_read_with_its_properties() {
    let run = only(RUN);
    assert_eq!(run.tool, "go-ycsb");
    assert_eq!((run.sessions, run.records), (Some(8), Some(1000)));
    assert_eq!(run.measured_ns, 20_000_000_000);
    assert_eq!(run.damage, Vec::<String>::new());
    assert!(!format!("{run:?}").contains("hunter2"));
    let stated = run.stated.unwrap();
    assert_eq!(stated.completed.ok, 80_000);
    let all = stated.all.unwrap().service;
    assert_eq!(all.count(), 80_000);
    assert_eq!(all.percentile_ns(99.0), Some(6_101_000));
    let reads = &stated.operations[0].latencies.service;
    assert_eq!(reads.percentile_ns(99.99), Some(35_007_000));
    assert_eq!(reads.mean_ns(), Some(1_985_000.0));
}

#[test]
fn each_line_counts_from_the_start() {
    let run = only(RUN);
    let counts: Vec<u64> = run.slices.iter().map(|slice| slice.completed.ok).collect();
    assert_eq!(counts, [40_000, 40_000]);
    // The first interval has all figures; the time between it and the end has only a count.
    let of = |index: usize| &run.slices[index].operations[0].latencies.service;
    assert_eq!(of(0).percentile_ns(99.0), Some(6_003_000));
    assert_eq!((of(1).count(), of(1).mean_ns()), (38_000, None));
}

#[test]
fn failures_have_names_of_their_own() {
    let text = "READ - Takes(s): 1.0, Count: 90, OPS: 90.0, Avg(us): 5, Min(us): 1, Max(us): 9, 99th(us): 8\n\
        READ_ERROR - Takes(s): 1.0, Count: 10, OPS: 10.0, Avg(us): 7, Min(us): 1, Max(us): 9, 99th(us): 8\n\
        Run finished, takes 1.5s\n\
        READ - Takes(s): 1.0, Count: 90, OPS: 90.0, Avg(us): 5, Min(us): 1, Max(us): 9, 99th(us): 8\n\
        READ_ERROR - Takes(s): 1.0, Count: 10, OPS: 10.0, Avg(us): 7, Min(us): 1, Max(us): 9, 99th(us): 8\n";
    let stated = only(text).stated.unwrap();
    let expected = Completed { ok: 90, not_found: 0, error: 10 };
    assert_eq!(stated.completed, expected);
}

#[test]
fn tables_and_json_say_the_same_as_lines() {
    let json = "Run finished, takes 2s\n[{\"Operation\":\"READ\",\"Takes(s)\":\"2.0\",\"Count\":\"10\",\"OPS\":\"5.0\",\
        \"Avg(us)\":\"7\",\"Min(us)\":\"1\",\"Max(us)\":\"9\",\"99th(us)\":\"8\"}]\n";
    let table = "Run finished, takes 2s\n+---+\n| OPERATION | TAKES(S) | COUNT | OPS | AVG(US) | MIN(US) | MAX(US) | 99TH(US) |\n+---+\n\
        | READ | 2.0 | 10 | 5.0 | 7 | 1 | 9 | 8 |\n+---+\n";
    let plain = "Run finished, takes 2s\nREAD - Takes(s): 2.0, Count: 10, OPS: 5.0, Avg(us): 7, Min(us): 1, Max(us): 9, 99th(us): 8\n";
    let expected = only(plain);
    assert_eq!(expected.stated.as_ref().unwrap().completed.ok, 10);
    for text in [json, table] {
        let run = only(text);
        assert_eq!(run.stated, expected.stated, "{text}");
        assert_eq!(run.measured_ns, expected.measured_ns);
    }
}

#[test]
fn an_output_without_its_end_is_kept_as_damaged() {
    let run = only(RUN.split("Run finished").next().unwrap());
    assert_eq!(run.stated.unwrap().completed.ok, 40_000);
    assert!(run.damage[0].contains("Run finished"));
}

#[test]
fn what_cannot_be_is_refused_with_its_line() {
    let refused = |text: &str| {
        let error = read_any("go.txt", text.as_bytes(), &Options::default()).unwrap_err();
        (error.line, error.to_string())
    };
    let negative = RUN.replacen("Count: 38000", "Count: -38000", 1);
    let fewer = RUN.replacen("Count: 76000", "Count: 7600", 1);
    let last = RUN.lines().last().unwrap();
    assert_eq!(only(&format!("{RUN}{last}\n")).stated, only(RUN).stated);
    let twice = format!("{RUN}{}", last.replacen("Avg(us): ", "Avg(us): 1", 1));
    for (text, line, words) in
        [(negative, 9, "which is no count"), (fewer, 13, "go back"), (twice, 16, "again")]
    {
        let (found, said) = refused(&text);
        assert_eq!(found, Some(line));
        assert_contains(&said, words);
    }
}

#[test]
fn outputs_one_after_the_other_are_runs_of_their_own() {
    let twice = format!("{RUN}{RUN}");
    let outputs = read_any("go.txt", twice.as_bytes(), &Options::default()).unwrap();
    assert_eq!(outputs.len(), 2);
}

#[test]
fn spans_of_time_as_go_prints_them() {
    for (text, seconds) in [
        ("1m2.5s", Some(62.5)),
        ("250ms", Some(0.25)),
        ("1h0m1s", Some(3601.0)),
        ("15µs", Some(15e-6)),
        ("soon", None),
        ("", None),
    ] {
        let rounded = |seconds: f64| (seconds * 1e9).round();
        let found = go_duration(text).map(rounded);
        assert_eq!(found, seconds.map(rounded), "{text}");
    }
}

/// Times are rounded to a tenth of a second: a count and its rate say it better, unless they are few.
#[test]
fn how_long_it_took_follows_from_count_and_rate() {
    let row = |name: &str, takes: &str, count: u64, rate: &str| {
        format!(
            "{name} - Takes(s): {takes}, Count: {count}, OPS: {rate}, Avg(us): 5, Min(us): 1, Max(us): 9, 99th(us): 8\n"
        )
    };
    let of = |rows: String| only(&format!("Run finished, takes 151.030789ms\n{rows}")).measured_ns;
    let short = row("READ", "0.2", 4_909, "32484.8") + &row("TOTAL", "0.2", 9_923, "65692.9");
    assert_eq!(of(short), 151_051_331);
    assert_eq!(of(row("READ", "10.0", 5, "0.5")), 10_000_000_000);
    // A rate that contradicts the time is not believed.
    assert_eq!(of(row("READ", "2.0", 1_000, "5000.0")), 2_000_000_000);
}

#[test]
fn a_list_of_operations_is_refused_by_its_name() {
    let text = "***************** properties *****************\n\"measurementtype\"=\"csv\"\n***\nRun finished, takes 1.2s\noperation,timestamp_us,latency_us\nREAD,1,2\n";
    let error = read_any("go.txt", text.as_bytes(), &Options::default()).unwrap_err();
    assert_contains(error, "measurementtype=histogram");
}
