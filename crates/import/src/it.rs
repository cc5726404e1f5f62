//! Outputs of other tools, from their text to the remarks about them.

#![allow(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in tests, but sees only functions that are tests themselves"
)]

use crate::{Arm, Frame, Options, read, record};
use plimsoll_judge::{Analysis, Judgement, Outcome, Validity, ValidityState, analyse};
use plimsoll_plan::Metric;
use plimsoll_record::{ExperimentRecord, WarningId};
use plimsoll_testing::{assert_contains, assert_starts};

const YCSB: &str = include_str!("../tests/samples/ycsb-run.txt");
const GO_YCSB: &str = include_str!("../tests/samples/go-ycsb-run.txt");
const FIO: &str = include_str!("../tests/samples/fio-read.json");

/// A report of reads with one percentile, by this many threads.
fn reads(threads: u32, seconds: u32, rate: u32, mean_us: u32) -> String {
    let count = u64::from(rate) * u64::from(seconds);
    format!(
        "Command line: -P c -threads {threads} -t\n[OVERALL], RunTime(ms), {seconds}000\n[OVERALL], Throughput(ops/sec), {rate}.0\n\
         [READ], Operations, {count}\n[READ], AverageLatency(us), {mean_us}.0\n[READ], 99thPercentileLatency(us), {}\n[READ], Return=OK, {count}\n",
        mean_us * 3
    )
}

fn arm(name: &str, texts: &[String]) -> Arm {
    let mut arm = Arm { name: name.into(), outputs: Vec::new() };
    for text in texts {
        let read = read("run.txt", text.as_bytes(), &Options::default());
        arm.outputs.extend(read.unwrap());
    }
    arm
}

fn judged(frame: &Frame, arms: Vec<Arm>) -> (ExperimentRecord, Analysis) {
    let record = record(frame, arms).unwrap();
    // As from the store.
    let again = ExperimentRecord::from_json(&record.to_json()).unwrap();
    assert_eq!(again, record);
    let analysis = analyse(&again).unwrap();
    (record, analysis)
}

fn one(text: &str) -> Analysis {
    judged(&Frame::default(), vec![arm("one", &[text.to_owned()])]).1
}

fn gate<'a>(analysis: &'a Analysis, name: &str) -> &'a Validity {
    let found = analysis.validity.iter().find(|entry| entry.name == name);
    found.unwrap_or_else(|| panic!("no gate {name}: {:?}", analysis.validity))
}

fn has(analysis: &Analysis, id: WarningId) -> bool {
    analysis.warnings.iter().any(|warning| warning.id == id)
}

#[test]
fn totals_are_those_of_the_tool() {
    let analysis = one(YCSB);
    let point = &analysis.curves[0].points[0];
    assert_eq!(point.load_label, "16 threads");
    // 300,000 operations in 30 s, two of which failed.
    let throughput = point.results[0].throughput;
    assert!((throughput - 299_998.0 / 30.0).abs() < 1e-6, "{throughput}");
    assert!(has(&analysis, WarningId::Errors));
    assert_eq!(analysis.outcome(), Outcome::Invalid);
}

#[test]
fn percentiles_of_all_operations_are_not_made_up() {
    let text = YCSB.replace("[UPDATE], Return=ERROR, 2\n", "");
    let text = text.replace("(ops/sec), 10000.0", "(ops/sec), 9999.933333333334");
    let (text, _) = text.split_once("[UPDATE-FAILED], Op").unwrap();
    let analysis = one(text);
    let point = &analysis.curves[0].points[0];
    assert_eq!(point.valid_runs, 1, "{:?}", point.results[0].warnings);
    assert!(point.response.p99.values.is_empty());
    let mean_ns = point.response.mean.median.unwrap();
    let expected = (149_900.0 * 1_514_300.0 + 150_098.0 * 1_614_500.0) / 299_998.0;
    let ratio = mean_ns / expected;
    assert!((ratio - 1.0).abs() < 1e-9, "{mean_ns} {expected}");
    let reads = &point.by_operation["read"];
    assert_eq!(reads.p99.median, Some(5_003_000.0));
    assert_eq!(reads.p999.median, Some(20_015_000.0));
    // One second more or less is not distinguished by lines of ten seconds.
    assert_eq!(analysis.series[0].seconds.len(), 3);
    assert_eq!(analysis.outcome(), Outcome::Good);
}

#[test]
fn a_line_of_all_operations_gives_their_percentiles() {
    let analysis = one(GO_YCSB);
    let point = &analysis.curves[0].points[0];
    assert_eq!(point.response.p99.median, Some(6_101_000.0));
    assert_eq!(point.by_operation["update"].p99.median, Some(6_201_000.0));
    assert_eq!(gate(&analysis, "Little's law").state, ValidityState::Good);
}

/// go-ycsb reports failures in a row of their own, with the time that each took.
#[test]
fn failures_of_go_ycsb_are_counted_and_shown() {
    let failed = "READ_ERROR - Takes(s): 20.0, Count: 3, OPS: 0.2, Avg(us): 1990, Min(us): 301, Max(us): 30015, 50th(us): 1803, 90th(us): 2903, 95th(us): 3503, 99th(us): 6003, 99.9th(us): 6003, 99.99th(us): 6003";
    // The row may be the first of the last report as well.
    let finished = "Run finished, takes 20.001s\n";
    let first = GO_YCSB.replace(finished, &format!("{finished}{failed}\n"));
    for text in [format!("{GO_YCSB}{failed}\n"), first] {
        let analysis = one(&text);
        let errors = gate(&analysis, "errors");
        assert_eq!(errors.state, ValidityState::Bad, "{errors:?}");
        assert!(errors.text.starts_with("3 operations failed"), "{errors:?}");
        assert_eq!(analysis.curves[0].points[0].errors, 3);
        assert_eq!(analysis.curves[0].points[0].ok, 80_000);
    }
}

#[test]
fn operations_without_a_record_are_named_where_they_lower_the_throughput() {
    let text = reads(4, 10, 1_000, 3_600).replace(
        "[READ], Return=OK, 10000\n",
        "[READ], Return=OK, 9000\n[READ], Return=NOT_FOUND, 1000\n",
    );
    let analysis = one(&text);
    let point = &analysis.curves[0].points[0];
    assert_eq!(point.throughput.median, Some(900.0));
    let is_it = |warning: &&plimsoll_record::Warning| warning.id == WarningId::NotFound;
    let warning = analysis.warnings.iter().find(is_it).unwrap();
    let words = "1000 of 10000 operations found no record; they do not count in the throughput";
    assert_starts(&warning.message, words);
}

/// What is not known is `null` for the programs that read the analysis, never a zero.
#[test]
fn an_unknown_median_is_null_in_json() {
    let analysis = serde_json::to_value(one(YCSB)).unwrap();
    let point = &analysis["curves"][0]["points"][0];
    assert!(point["response"]["p99"]["median"].is_null(), "{point}");
}

#[test]
fn fio_is_judged_too() {
    let analysis = one(FIO);
    let point = &analysis.curves[0].points[0];
    assert!(point.response.p99.median.unwrap() > 0.0);
    assert_eq!(analysis.mixes, ["randread"]);
}

/// Rows as they were published: threads, mean in microseconds, operations per second. One of them cannot be true.
#[test]
fn littles_law_finds_the_row_that_contradicts_itself() {
    let rows = [(1, 130, 7_390), (8, 521, 7_629), (16, 640, 24_800), (32, 1_191, 26_745)];
    let mut invalid = Vec::new();
    for (threads, mean_us, rate) in rows {
        let analysis = one(&reads(threads, 10, rate, mean_us));
        if has(&analysis, WarningId::LittlesLaw) {
            assert_eq!(gate(&analysis, "Little's law").state, ValidityState::Bad);
            invalid.push(threads);
        }
    }
    assert_eq!(invalid, [8]);
}

#[test]
fn more_busy_sessions_than_there_were_cannot_be() {
    let busy = one(&reads(4, 10, 1_000, 5_000));
    assert!(has(&busy, WarningId::LittlesLaw));
    // A little less is time outside of calls.
    let analysis = one(&reads(4, 10, 1_000, 3_600));
    assert!(!has(&analysis, WarningId::LittlesLaw));
    assert_contains(&gate(&analysis, "generator").text, "10 %");
}

/// The runtime of YCSB includes the start of its threads.
#[test]
fn a_short_run_does_not_contradict_itself_for_its_start() {
    let text = reads(1, 1, 1_000, 349).replace("RunTime(ms), 1000", "RunTime(ms), 512");
    let text = text.replace("1000.0\n", "1953.125\n");
    assert!(!has(&one(&text), WarningId::LittlesLaw));
    // In a long run the start takes next to nothing.
    assert!(has(&one(&reads(1, 60, 1_953, 349)), WarningId::LittlesLaw));
}

/// Operations without a time support no conclusion.
#[test]
fn an_unknown_time_is_no_time_of_zero() {
    let text =
        reads(4, 10, 1_000, 3_600).replace("AverageLatency(us), 3600.0", "AverageLatency(us), NaN");
    let analysis = one(&text);
    assert!(!has(&analysis, WarningId::LittlesLaw));
    let law = gate(&analysis, "Little's law");
    assert!(law.text.starts_with("cannot be tried"), "{}", law.text);
}

#[test]
fn nothing_is_cut_from_status_lines_without_a_report() {
    let mut text = "Command line: -P c -threads 4 -t\n".to_owned();
    let mut done = 0;
    for ten in 0..=40_u64 {
        done += match ten {
            0 => 0,
            1..8 => 5_000,
            _ => 10_000 + ten * 7 % 5 * 10,
        };
        let (minute, second) = (ten / 6, ten % 6 * 10);
        text.push_str(&format!(
            "2026-03-01 10:{minute:02}:{second:02}:000 {} sec: {done} operations; \n",
            10 * ten
        ));
    }
    let analysis = one(&text);
    let result = &analysis.curves[0].points[0].results[0];
    assert_eq!(result.seconds, 400.0);
    // Seven of forty slices have half of the rate.
    let message = "make the whole 8.8 % slower";
    let is_described = |warning: &plimsoll_record::Warning| warning.message.contains(message);
    assert!(analysis.warnings.iter().any(is_described), "{:?}", analysis.warnings);
}

#[test]
fn without_sessions_littles_law_cannot_be_tried_and_says_so() {
    let text = reads(4, 10, 1_000, 9_000);
    let text = text.split_once('\n').unwrap().1;
    let analysis = one(text);
    let gate = gate(&analysis, "Little's law");
    assert_eq!(gate.state, ValidityState::Note);
    assert!(gate.text.starts_with("cannot be tried"), "{}", gate.text);
    assert_eq!(analysis.curves[0].points[0].load_label, "threads not known");
    let frame = Frame { sessions: Some(4), ..Frame::default() };
    let (_, analysis) = judged(&frame, vec![arm("one", &[text.to_owned()])]);
    assert!(has(&analysis, WarningId::LittlesLaw));
}

#[test]
fn under_a_target_only_service_times_are_known() {
    let text = reads(4, 10, 1_000, 500).replace("-threads 4", "-threads 4 -target 1000");
    let analysis = one(&text);
    let point = &analysis.curves[0].points[0];
    assert!(point.response.mean.values.is_empty() && point.response.p99.values.is_empty());
    assert_eq!(point.service.p99.median, Some(1_500_000.0));
    // The figures of each operation are reported too.
    let reads = &point.by_operation["read"];
    assert_eq!(reads.p99.median, Some(1_500_000.0));
    // Waiting for the target is no contradiction.
    assert!(!has(&analysis, WarningId::LittlesLaw));
    assert_eq!(point.valid_runs, 1);
    assert_eq!(point.results[0].achieved, Some(1.0));
    let slow = text.replace("-target 1000", "-target 2000");
    assert!(has(&one(&slow), WarningId::RateNotAchieved));
}

#[test]
fn arms_are_compared_unpaired_and_it_is_said() {
    let run = |rate: u32| reads(4, 10, rate, 3_900_000 / rate);
    let runs = |base: u32| [0, 10, 20, 30, 40, 50].map(|more| run(base + more));
    let arms = || vec![arm("old", &runs(1_000)), arm("new", &runs(1_200))];
    let (_, analysis) = judged(&Frame::default(), arms());
    assert!(has(&analysis, WarningId::Unpaired));
    let of = |analysis: &Analysis| {
        let mut comparisons = analysis.comparisons.iter();
        let found = comparisons.find(|one| one.metric == Metric::Throughput);
        found.unwrap().clone()
    };
    let comparison = of(&analysis);
    assert!(comparison.pairs.is_empty());
    let (a, b) = comparison.apart.as_ref().unwrap();
    assert_eq!((a.len(), b.len()), (6, 6));
    assert_eq!(comparison.verdict.judgement, Judgement::Better);
    assert_eq!(analysis.outcome(), Outcome::Good);

    let frame = Frame { side_by_side: true, ..Frame::default() };
    let (_, paired) = judged(&frame, arms());
    assert!(!has(&paired, WarningId::Unpaired));
    assert_eq!(of(&paired).pairs.len(), 6);
    assert!(of(&paired).apart.is_none());
}

#[test]
fn one_run_of_each_arm_has_no_interval_and_no_verdict() {
    let arms =
        vec![arm("a", &[reads(4, 10, 1_000, 3_900)]), arm("b", &[reads(4, 10, 2_000, 1_900)])];
    let (_, analysis) = judged(&Frame::default(), arms);
    let comparison = &analysis.comparisons[0];
    assert_eq!(comparison.verdict.judgement, Judgement::Inconclusive);
    assert_eq!(comparison.verdict.interval, None);
    assert!(has(&analysis, WarningId::FewBlocks));
}

#[test]
fn what_was_cut_off_is_shown_and_not_compared() {
    let cut = YCSB.split("[OVERALL]").next().unwrap();
    let analysis = one(cut);
    assert!(has(&analysis, WarningId::ImportDamaged));
    assert_eq!(analysis.curves[0].points[0].valid_runs, 0);
    assert_eq!(analysis.series[0].seconds.len(), 3);
    assert_eq!(gate(&analysis, "origin").state, ValidityState::Caution);
}

#[test]
fn what_no_output_tells_is_said_of_each_gate() {
    let analysis = one(&reads(4, 10, 1_000, 3_900));
    for name in ["records", "machine", "steadiness"] {
        let gate = gate(&analysis, name);
        assert_eq!(gate.state, ValidityState::Note, "{gate:?}");
        let says = gate.text.contains("not known") || gate.text.contains("cannot be tried");
        assert!(says, "{gate:?}");
    }
}

#[test]
fn no_password_is_in_a_record() {
    for text in [YCSB, GO_YCSB] {
        let (record, analysis) = judged(&Frame::default(), vec![arm("one", &[text.to_owned()])]);
        assert!(!record.to_json().contains("hunter2"));
        let analysis = serde_json::to_string(&analysis).unwrap();
        assert!(!analysis.contains("hunter2"));
    }
}

#[test]
fn totals_that_hold_a_slow_start_are_not_steady() {
    let mut text = "Command line: -P c -threads 4 -t\n".to_owned();
    let mut done = 0_u64;
    text.push_str("2026-03-01 10:00:00:000 0 sec: 0 operations; \n");
    for second in 1..=60_u64 {
        let rate = match second {
            1..=12 => 300,
            _ => 1_000 + second * 7 % 5,
        };
        done += rate;
        let minute = second / 60;
        text.push_str(&format!(
            "2026-03-01 10:{minute:02}:{:02}:000 {second} sec: {done} operations; {rate} current ops/sec; [READ: Count={rate}, Max=9000, Min=1, Avg=3900, 90=4000, 99=5000, 99.9=6000, 99.99=7000] \n",
            second % 60
        ));
    }
    text.push_str(&format!(
        "[OVERALL], RunTime(ms), 60000\n[OVERALL], Throughput(ops/sec), {}\n[READ], Operations, {done}\n[READ], AverageLatency(us), 3900.0\n[READ], Return=OK, {done}\n",
        done as f64 / 60.0
    ));
    let analysis = one(&text);
    let is_described = has(&analysis, WarningId::NotSteady);
    assert!(is_described, "{:?}", analysis.warnings);
    let result = &analysis.curves[0].points[0].results[0];
    // Nothing was cut: there are only totals.
    assert!((result.throughput - done as f64 / 60.0).abs() < 1e-6);
    assert_eq!(result.seconds, 60.0);
}
