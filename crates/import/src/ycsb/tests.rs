use crate::{Measured, Options, Problem, read};
use plimsoll_record::{Completed, Operation, Status};
use plimsoll_testing::assert_contains;
use proptest::prelude::*;

const RUN: &str = include_str!("../../tests/samples/ycsb-run.txt");

fn outputs(text: &str) -> Vec<Measured> {
    read("run.txt", text.as_bytes(), &Options::default()).unwrap()
}

fn only(text: &str) -> Measured {
    let mut outputs = outputs(text);
    assert_eq!(outputs.len(), 1);
    outputs.remove(0)
}

fn refused(text: &str) -> String {
    let error = read("run.txt", text.as_bytes(), &Options::default()).unwrap_err();
    error.to_string()
}

#[test]
fn a_run_with_status_lines_is_read_as_a_whole() {
    let run = only(RUN);
    assert_eq!(run.tool, "YCSB");
    assert_eq!(run.version.as_deref(), Some("YCSB Client 0.18.0"));
    assert_eq!(run.database.as_deref(), Some("mongodb"));
    assert_eq!(run.workload.as_deref(), Some("workloada"));
    assert_eq!((run.sessions, run.records), (Some(16), Some(1_000_000)));
    assert_eq!(run.measured_ns, 30_000_000_000);
    assert_eq!(run.damage, Vec::<String>::new());
    assert_eq!(run.files[0].bytes, RUN.len() as u64);

    let stated = run.stated.unwrap();
    let expected = Completed { ok: 299_998, not_found: 0, error: 2 };
    assert_eq!(stated.completed, expected);
    let parts = stated.operations.iter();
    let kinds: Vec<_> = parts.map(|part| (part.operation, part.status)).collect();
    let expected = [
        (Operation::Read, Status::Ok),
        (Operation::Update, Status::Ok),
        (Operation::Update, Status::Error),
    ];
    assert_eq!(kinds, expected);
    let reads = &stated.operations[0].latencies.service;
    assert_eq!(reads.count(), 149_900);
    assert_eq!(reads.mean_ns(), Some(1_514_300.0));
    assert_eq!(reads.percentile_ns(99.9), Some(20_015_000));
    assert_eq!(reads.percentile_ns(99.0), Some(5_003_000));
    assert_eq!(reads.percentile_ns(90.0), None);
    assert_eq!(reads.max_ns(), Some(50_015_000));
}

#[test]
fn threads_that_died_did_not_clean_up() {
    let lost = only(&RUN.replace("[CLEANUP], Operations, 16", "[CLEANUP], Operations, 14"));
    assert_eq!(lost.sessions, Some(16));
    assert_contains(lost.damage.join(", "), "of 16 client threads only 14");
    // With two operations there is none for a third thread, which YCSB then does not start.
    let few = "Command line: -threads 3 -t\n[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 2.0\n\
               [CLEANUP], Operations, 2\n[READ], Operations, 2\n[READ], AverageLatency(us), 900.0\n[READ], Return=OK, 2\n";
    assert_eq!(only(few).damage, Vec::<String>::new());
}

#[test]
fn status_lines_become_slices() {
    let run = only(RUN);
    let second = 1_000_000_000;
    assert_eq!(run.slices.len(), 3);
    for (slice, (ok, error)) in run.slices.iter().zip([(100_000, 0), (105_000, 0), (94_998, 2)]) {
        let expected = Completed { ok, not_found: 0, error };
        assert_eq!(slice.completed, expected);
        assert_eq!(slice.length_ns, 10 * second);
        assert_eq!(slice.start_ns, u64::from(slice.index) * 10 * second);
    }
    assert!(run.slices.iter().map(|slice| slice.index).eq(0..3));
    let reads = &run.slices[1].operations[0].latencies.service;
    assert_eq!(reads.count(), 52_400);
    assert_eq!(reads.mean_ns(), Some(1_450_000.0));
    assert_eq!(reads.percentile_ns(99.99), Some(31_007_000));
    // Cleaning up is no operation.
    assert_eq!(run.slices[2].operations.len(), 3);
}

#[test]
fn passwords_are_nowhere() {
    let run = only(RUN);
    assert!(!format!("{run:?}").contains("hunter2"));
    let shown = "mongodb://bench:***@db.example:27017/ycsb?w=1";
    assert_contains(run.command.unwrap(), shown);
}

#[test]
fn sessions_are_counted_by_what_cleaned_up_where_the_command_line_is_missing() {
    let report = &RUN[RUN.find("[OVERALL]").unwrap()..];
    let run = only(report);
    assert_eq!(run.sessions, Some(16));
    assert_eq!((run.command, run.slices.len()), (None, 0));
    assert!(run.damage.is_empty());
}

#[test]
fn outputs_one_after_the_other_are_runs_of_their_own() {
    let twice = format!("{RUN}{RUN}");
    assert_eq!(outputs(&twice).len(), 2);
    let reports = &RUN[RUN.find("[OVERALL]").unwrap()..];
    let twice = format!("{reports}{reports}");
    let outputs = outputs(&twice);
    assert_eq!(outputs.len(), 2);
    assert_eq!(outputs[0].stated, outputs[1].stated);
}

#[test]
fn a_run_without_its_report_is_kept_as_damaged() {
    let cut = &RUN[..RUN.find("[OVERALL]").unwrap()];
    let run = only(cut);
    assert_eq!((run.stated, run.slices.len()), (None, 3));
    assert_eq!(run.measured_ns, 30_000_000_000);
    assert_contains(&run.damage[0], "no final report");
}

#[test]
fn a_report_that_was_cut_off_is_damaged_wherever_the_cut_is() {
    let report = RUN.find("[OVERALL]").unwrap();
    let failed = RUN.find("[UPDATE-FAILED], Operations").unwrap();
    for end in report..failed {
        let Ok(outputs) = read("cut", &RUN.as_bytes()[..end], &Options::default()) else {
            panic!("nothing was kept of the first {end} bytes");
        };
        assert!(!outputs[0].damage.is_empty(), "{}", &RUN[report..end]);
    }
}

#[test]
fn what_is_no_ycsb_at_all_says_so() {
    let begun = "YCSB Client 0.17.0\nLoading workload...\n";
    for (text, words) in [
        ("hello\nworld\n", "no format is recognised"),
        ("", "empty"),
        (" \n\n", "empty"),
        ("\0\u{1}\u{2}", "no text"),
        (begun, "no result of YCSB"),
    ] {
        assert_contains(refused(text), words);
    }
}

#[test]
fn a_broken_number_is_named_with_its_line() {
    for (from, to) in [
        ("AverageLatency(us), 1514.3", "AverageLatency(us), -1514.3"),
        ("AverageLatency(us), 1514.3", "AverageLatency(us), fast"),
        ("MaxLatency(us), 50015", "MaxLatency(us), 1e999"),
        ("Operations, 149900", "Operations, many"),
        ("RunTime(ms), 30000", "RunTime(ms), -5"),
    ] {
        let text = RUN.replacen(from, to, 1);
        let error = read("run.txt", text.as_bytes(), &Options::default()).unwrap_err();
        let line = text.lines().position(|line| line.contains(to)).unwrap() + 1;
        assert_eq!(error.line, Some(line as u64));
        let is_named = matches!(error.problem, Problem::BadNumber { .. });
        assert!(is_named, "{error}");
    }
}

#[test]
fn of_no_operations_there_are_no_times() {
    let text = "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 5.0\n\
        [READ], Operations, 0\n[READ], AverageLatency(us), NaN\n[READ], Return=ERROR, 5\n\
        [READ-FAILED], Operations, 5\n[READ-FAILED], AverageLatency(us), 12.0\n";
    let stated = only(text).stated.unwrap();
    assert_eq!((stated.completed.ok, stated.completed.error), (0, 5));
    assert_eq!(stated.operations.len(), 1);
}

#[test]
fn failures_that_all_found_nothing_are_told_apart() {
    let text = "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 10.0\n\
        [READ], Operations, 5\n[READ], AverageLatency(us), 3.0\n[READ], Return=OK, 5\n[READ], Return=NOT_FOUND, 5\n\
        [READ-FAILED], Operations, 5\n[READ-FAILED], AverageLatency(us), 12.0\n";
    let stated = only(text).stated.unwrap();
    assert_eq!((stated.completed.ok, stated.completed.not_found), (5, 5));
    assert_eq!(stated.operations[1].status, Status::NotFound);
}

#[test]
fn a_group_that_comes_again_is_refused() {
    let last = "[UPDATE], Return=ERROR, 2\n";
    let text = RUN.replacen(last, &format!("{last}[READ], Operations, 5\n"), 1);
    let is_first = |line: &str| line.starts_with("[READ]");
    let first = RUN.lines().position(is_first).unwrap() + 1;
    let expected = format!("`[READ]` stands here again after line {first}");
    assert_contains(refused(&text), &expected);
    let line = "[READ], Operations, 149900\n";
    assert_contains(refused(&RUN.replacen(line, &line.repeat(2), 1)), "again");
}

#[test]
fn status_lines_of_two_runs_in_one_are_refused() {
    let lines: Vec<&str> = RUN.lines().filter(|line| line.contains(" sec: ")).collect();
    let text = [lines[0], lines[2], lines[1]].join("\n");
    assert_contains(refused(&text), "go back at second 10");
}

#[test]
fn a_read_modify_write_is_one_unit() {
    let text = "[OVERALL], RunTime(ms), 10000\n[OVERALL], Throughput(ops/sec), 100.0\n\
        [READ], Operations, 1000\n[READ], AverageLatency(us), 100.0\n[READ], Return=OK, 1000\n\
        [READ-MODIFY-WRITE], Operations, 500\n[READ-MODIFY-WRITE], AverageLatency(us), 300.0\n\
        [UPDATE], Operations, 500\n[UPDATE], AverageLatency(us), 200.0\n[UPDATE], Return=OK, 500\n";
    let run = only(text);
    assert_eq!(run.damage, Vec::<String>::new());
    assert_eq!(run.stated.as_ref().unwrap().completed.ok, 1000);
    let expected = [(Operation::Read, 500), (Operation::ReadModifyWrite, 500)];
    assert_eq!(run.counts(), expected.into());
}

#[test]
fn times_from_the_intended_start_stand_beside_the_others() {
    let text = "Command line: -threads 4 -target 100 -p measurement.interval=both -t\n\
        [OVERALL], RunTime(ms), 10000\n[OVERALL], Throughput(ops/sec), 100.0\n\
        [READ], Operations, 1000\n[READ], AverageLatency(us), 100.0\n[READ], 99thPercentileLatency(us), 300\n[READ], Return=OK, 1000\n\
        [Intended-READ], Operations, 1000\n[Intended-READ], AverageLatency(us), 900.0\n[Intended-READ], 99thPercentileLatency(us), 5000\n";
    let run = only(text);
    assert_eq!((run.sessions, run.target), (Some(4), Some(100.0)));
    let stated = run.stated.unwrap();
    let latencies = &stated.operations[0].latencies;
    assert_eq!(latencies.service.percentile_ns(99.0), Some(300_000));
    assert_eq!(latencies.response().percentile_ns(99.0), Some(5_000_000));

    let intended = text.replace("=both", "=intended");
    let (intended, _) = intended.split_once("[Intended").unwrap();
    let stated = only(intended).stated.unwrap();
    let latencies = &stated.operations[0].latencies;
    assert_eq!(latencies.response().percentile_ns(99.0), Some(300_000));
    assert_eq!(latencies.service.count(), 1000);
    assert_eq!(latencies.service.mean_ns(), None);
}

#[test]
fn recorded_values_that_are_listed_make_the_histogram() {
    let text = "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 4.0\n\
        [READ], Operations, 4\n[READ], AverageLatency(us), 25.0\n[READ], Return=OK, 4\n\
        [READ], 10, 2.0\n[READ], 30, 1.0\n[READ], 50, 1.0\n";
    let stated = only(text).stated.unwrap();
    let reads = &stated.operations[0].latencies.service;
    assert!(reads.summary().is_none());
    assert_eq!((reads.count(), reads.min_ns()), (4, Some(10_000)));
    // Buckets of a millisecond are not what was recorded.
    let buckets =
        text.replace(".0\n[READ], 30, 1.0\n[READ], 50, 1.0", "\n[READ], 1, 1\n[READ], >1000, 1");
    let run = only(&buckets);
    let reads = &run.stated.unwrap().operations[0].latencies.service;
    assert!(reads.summary().is_some());
    assert_contains(&run.remarks[0], "left out");
}

#[test]
fn the_oldest_spelling_is_read_too() {
    let text = "[OVERALL],RunTime(ms), 10110\n[OVERALL],Throughput(ops/sec), 98.91196834817013\n\
        [UPDATE], Operations, 491\n[UPDATE], AverageLatency(ms), 0.05\n[UPDATE], 95thPercentileLatency(ms), 1\n[UPDATE], Return=0, 491\n\
        [READ], Operations, 509\n[READ], AverageLatency(ms), 0.06\n[READ], Return=0, 509\n";
    let run = only(text);
    assert_eq!(run.damage, Vec::<String>::new());
    let stated = run.stated.unwrap();
    assert_eq!(stated.completed.ok, 1000);
    let updates = &stated.operations[1].latencies.service;
    // The bucket from 1 to 2 ms.
    assert_eq!(updates.percentile_ns(95.0), Some(2_000_000));
}

#[test]
fn a_time_that_is_no_number_is_unknown() {
    for nan in ["NaN", "\u{fffd}"] {
        let text =
            RUN.replacen("AverageLatency(us), 1514.3", &format!("AverageLatency(us), {nan}"), 1);
        let stated = only(&text).stated.unwrap();
        let reads = &stated.operations[0].latencies.service;
        assert_eq!((reads.count(), reads.mean_ns()), (149_900, None));
    }
}

#[test]
fn the_json_exporters_say_the_same() {
    let mut entries = Vec::new();
    for line in RUN.lines() {
        if let Some([metric, measurement, value]) = super::report::triple(line) {
            entries.push(format!(
                "{{\n  \"metric\" : \"{metric}\",\n  \"measurement\" : \"{measurement}\",\n  \"value\" : {value}\n}}"
            ));
        }
    }
    let text = only(&RUN[RUN.find("[OVERALL]").unwrap()..]);
    let mut sequence = entries.join("\n");
    assert_eq!(only(&sequence).stated, text.stated);
    let array = format!("[{}]", entries.join(","));
    assert_eq!(only(&array).stated, text.stated);
    sequence.truncate(sequence.len() - 5);
    assert!(!only(&sequence).damage.is_empty());
}

proptest! {
    #[test]
    fn no_text_makes_it_fall_over(
        pieces in prop::collection::vec(
            prop_oneof![
                prop::sample::select(RUN.lines().collect::<Vec<_>>()).prop_map(str::to_owned),
                "\\[[A-Z-]{1,8}\\], [A-Za-z0-9=()]{1,20}, [-0-9.eN]{1,9}",
                ".{0,80}",
            ],
            0..60,
        ),
    ) {
        let options = Options { format: Some(crate::Format::Ycsb), ..Options::default() };
        let _ = read("any", pieces.join("\n").as_bytes(), &options);
    }
}

/// What is measured by each part of a file, as far as nothing tells where it stood.
fn results(text: &str) -> Vec<String> {
    let Ok(outputs) = read("run.txt", text.as_bytes(), &Options::default()) else {
        return Vec::new();
    };
    let figures = outputs.into_iter().map(|output| {
        format!(
            "{:?} {:?} {:?} {:?} {:?} {} {:?}",
            output.version,
            output.workload,
            output.sessions,
            output.stated,
            output.slices,
            output.measured_ns,
            output.damage
        )
    });
    figures.collect()
}

/// Outputs as different versions print them, with and without a command line, status lines, failures.
fn forms() -> Vec<String> {
    let report = &RUN[RUN.find("[OVERALL]").unwrap()..];
    let old = "YCSB Client 0.5.0\nCommand line: -db com.yahoo.ycsb.BasicDB -P workloads/workloadb -threads 1 -t\n\
        [OVERALL], RunTime(ms), 20000.0\n[OVERALL], Throughput(ops/sec), 50.0\n[READ], Operations, 1000\n\
        [READ], AverageLatency(us), 900.0\n[READ], 95thPercentileLatency(ms), 0\n[READ], Return=0, 1000\n";
    let java = "/usr/bin/java -cp /y/lib/core-0.17.0.jar:/y/x.jar site.ycsb.Client -t -P workloads/workloadc -threads 8 -target 1000\n\
        [OVERALL], RunTime(ms), 60000\n[OVERALL], Throughput(ops/sec), 999.9\n[READ], Operations, 59994\n[READ], AverageLatency(us), 400.0\n[READ], Return=OK, 59994\n";
    let status = &RUN[RUN.find("2026").unwrap()..];
    [RUN, old, java, report, status].map(str::to_owned).into()
}

#[test]
fn each_run_has_its_own_version_threads_and_target() {
    let forms = forms();
    let old = only(&forms[1]);
    assert_eq!(old.version.as_deref(), Some("YCSB Client 0.5.0"));
    // The bucket from 0 to 1 ms.
    let reads = &old.stated.unwrap().operations[0].latencies.service;
    assert_eq!(reads.percentile_ns(95.0), Some(1_000_000));
    let java = only(&forms[2]);
    assert_eq!(java.version.as_deref(), Some("YCSB Client 0.17.0"));
    assert_eq!((java.sessions, java.target), (Some(8), Some(1_000.0)));
}

#[test]
fn standard_error_behind_standard_output_is_of_the_same_run() {
    let at = RUN.find("[OVERALL]").unwrap();
    let (said, report) = RUN.split_at(at);
    assert_eq!(results(&format!("{report}{said}")), results(RUN));
    let twice = format!("{report}{said}{report}{said}");
    assert_eq!(results(&twice), [results(RUN), results(RUN)].concat());
}

#[test]
fn decimal_commas_and_broken_lines_are_read() {
    let line = |text: &str| {
        let whole = format!(
            "{text}\n[OVERALL], RunTime(ms), 10000\n[OVERALL], Throughput(ops/sec), 100,5\n[READ], Operations, 1005\n[READ], AverageLatency(us), 1511,13\n[READ], Return=OK, 1005\n"
        );
        only(&whole)
    };
    let plain = "2026-06-18 00:18:00:295 10 sec: 1005 operations; 100,5 current ops/sec; est completion in 1 minute [READ: Count=1005, Max=316671, Min=457, Avg=1511,13, 90=2753, 99.9=15911] [UPDATE: Count=2, Max=9, Min=1, Avg=5]";
    let run = line(plain);
    let stated = run.stated.clone().unwrap();
    assert_eq!(stated.completed.ok, 1_005);
    assert_eq!(stated.operations[0].latencies.service.mean_ns(), Some(1_511_130.0));
    // The first line is of the time since the start.
    assert_eq!((run.slices.len(), run.slices[0].length_ns), (1, 10_000_000_000));
    let reads = &run.slices[0].operations[0].latencies.service;
    assert_eq!((reads.mean_ns(), reads.percentile_ns(99.9)), (Some(1_511_130.0), Some(15_911_000)));
    assert_eq!(run.slices[0].operations.len(), 2);
    for width in 101..220 {
        let pieces: Vec<&str> = plain
            .as_bytes()
            .chunks(width)
            .map(|piece| std::str::from_utf8(piece).unwrap())
            .collect();
        let broken = line(&pieces.join("\n"));
        assert_eq!(broken.slices, run.slices, "{width}");
        assert_eq!(broken.remarks, run.remarks, "{width}");
    }
    let lost = line(&plain.replace("Avg=1511,13", "Avg=15x"));
    assert_eq!(lost.slices[0].operations.len(), 1);
    assert_contains(&lost.remarks[0], "one status line is broken");
}

#[test]
fn inserts_that_failed_stand_beside_what_was_done() {
    let load = |done: u64, failed: u64, more: &str| {
        let text = format!(
            "Command line: -load -P workloads/workloada -threads 8 -p recordcount=200000{more}\n[OVERALL], RunTime(ms), 30000\n\
             [OVERALL], Throughput(ops/sec), {}\n[INSERT], Operations, {done}\n[INSERT], AverageLatency(us), 1250.0\n\
             [INSERT], Return=OK, {done}\n[INSERT], Return=ERROR, {failed}\n[INSERT-FAILED], Operations, {failed}\n[INSERT-FAILED], AverageLatency(us), 5000.0\n",
            done as f64 / 30.0
        );
        only(&text)
    };
    let completed = |run: &Measured| run.stated.as_ref().unwrap().completed;
    let one = load(0, 1, "");
    assert_eq!((completed(&one).ok, completed(&one).error), (0, 1));
    let four = load(120_000, 4, "");
    assert_eq!((completed(&four).ok, completed(&four).error, four.retries), (120_000, 4, 0));
    assert_contains(&four.damage[0], "120000 of 200000 records were loaded");
    let again = load(200_000, 4, " -p core_workload_insertion_retry_limit=3");
    assert_eq!((completed(&again).error, again.retries), (0, 4));
    let gave_up = load(
        120_000,
        9,
        " -p core_workload_insertion_retry_limit=3\nError inserting, not retrying any more. number of attempts: 4",
    );
    assert_eq!((completed(&gave_up).error, gave_up.retries), (1, 8));
}

#[test]
fn reads_that_failed_are_no_inserts() {
    let text = "Command line: -P workloads/workloadc -threads 4 -t\n[OVERALL], RunTime(ms), 30000\n[OVERALL], Throughput(ops/sec), 200.0\n\
        [READ], Operations, 6000\n[READ], AverageLatency(us), 512.4\n[READ], Return=OK, 100\n[READ], Return=ERROR, 5900\n\
        [READ-FAILED], Operations, 5900\n[READ-FAILED], AverageLatency(us), 900.0\n";
    let run = only(text);
    let said = run.damage.concat() + &run.remarks.concat();
    assert!(!said.contains("insert"), "{said}");
}

#[test]
fn what_found_no_record_is_that_in_slices_too() {
    let text = "Command line: -P workloads/workloadc -threads 2 -t\n2026-09-04 09:55:18:436 0 sec: 0 operations; \n\
        2026-09-04 09:55:28:436 10 sec: 1000 operations; 100 current ops/sec; [READ: Count=900, Max=9, Min=1, Avg=2] [READ-FAILED: Count=100, Max=9, Min=1, Avg=2]\n\
        [OVERALL], RunTime(ms), 10000\n[OVERALL], Throughput(ops/sec), 100.0\n[READ], Operations, 900\n[READ], AverageLatency(us), 2.0\n\
        [READ], Return=OK, 900\n[READ], Return=NOT_FOUND, 100\n[READ-FAILED], Operations, 100\n[READ-FAILED], AverageLatency(us), 2.0\n";
    let run = only(text);
    let expected = Completed { ok: 900, not_found: 100, error: 0 };
    assert_eq!(run.stated.unwrap().completed, expected);
    assert_eq!(run.slices[0].completed, expected);
    assert_eq!(run.slices[0].operations[1].status, Status::NotFound);
}

/// Nothing was done from 147 s on: the time before the first line is known by its count.
#[test]
fn a_run_that_stands_still_is_not_shorter_for_it() {
    let text = "2026-09-04 09:55:28:436 147 sec: 1996 operations; 13.5 current ops/sec; [INSERT: Count=1996, Max=9000, Min=900, Avg=1500]\n\
        2026-09-04 09:55:29:436 148 sec: 1996 operations; 0 current ops/sec; [INSERT: Count=0, Max=0, Min=9223372036854775807, Avg=\u{fffd}, 90=0]\n\
        2026-09-04 09:55:30:436 149 sec: 1996 operations; 0 current ops/sec; [INSERT: Count=0, Max=0, Min=9223372036854775807, Avg=NaN, 90=0]\n";
    let run = only(text);
    assert_eq!(run.measured_ns, 149_000_000_000);
    let done: Vec<u64> = run.slices.iter().map(|slice| slice.completed.ok).collect();
    assert_eq!(done, [1_996, 0, 0]);
    assert!(run.remarks.iter().all(|words| !words.contains("broken")), "{:?}", run.remarks);
}

proptest! {
    /// Outputs in one file give what each of them gives.
    #[test]
    fn any_order_gives_the_results_of_the_parts(order in prop::collection::vec(0..4_usize, 1..5)) {
        let forms = forms();
        let text: String = order.iter().map(|form| forms[*form].as_str()).collect();
        let expected: Vec<String> = order.iter().flat_map(|form| results(&forms[*form])).collect();
        prop_assert_eq!(results(&text), expected);
    }

    /// What stands before every line changes nothing.
    #[test]
    fn any_constant_prefix_gives_the_same(before in "[a-zA-Z0-9 :/|_.\\[\\]-]{1,30}", form in 0..4_usize) {
        let text = &forms()[form];
        let with: String = text.lines().map(|line| format!("{before}{line}\n")).collect();
        prop_assert_eq!(results(&with), results(text));
    }

    /// A file that was cut has no more than the whole one, and is damaged unless nothing but what says nothing of the operations is missing.
    #[test]
    fn any_cut_at_a_line_is_damaged(lines in 1..60_usize) {
        let whole = only(RUN);
        let text: String = RUN.split_inclusive('\n').take(lines).collect();
        // From here on only times of two failures are missing.
        let start = RUN.find("[UPDATE-FAILED], Average").unwrap();
        let Ok(outputs) = read("cut", text.as_bytes(), &Options::default()) else {
            return Ok(());
        };
        prop_assert_eq!(outputs.len(), 1);
        let cut = &outputs[0];
        prop_assert!(cut.slices.len() <= whole.slices.len());
        prop_assert_eq!(&cut.slices[..], &whole.slices[..cut.slices.len()]);
        prop_assert!(!cut.damage.is_empty() || text.len() >= start);
    }
}
