//! `plimsoll foreign ycsb` as scripts meet it: real runs, whose output is read by a strict reader.

mod grammar;
#[cfg(feature = "mongodb")]
mod server;

use crate::laboratory::{Laboratory, Said, wait_until};
use grammar::{Report, perfkit, report, status_line};
use plimsoll_testing::{assert_contains, assert_ends, assert_starts};
use rustix::process::Signal;
use std::fs;
use std::process::Command;

/// The folder of the repository.
fn repository() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../..")
}

fn workload(letter: char) -> String {
    format!("{}/workloads/workload{letter}", repository())
}

/// Runs `plimsoll foreign ycsb` with these words. `@a` stands for the property file of workload a.
fn ycsb(laboratory: &Laboratory, words: &str) -> Said {
    let words = words_of(words);
    let mut arguments = vec!["foreign", "ycsb"];
    arguments.extend(words.iter().map(String::as_str));
    laboratory.run(&arguments)
}

fn words_of(words: &str) -> Vec<String> {
    words
        .split_whitespace()
        .map(|word| match word.strip_prefix('@') {
            Some(letter) => workload(letter.chars().next().unwrap()),
            None => word.to_owned(),
        })
        .collect()
}

/// The report of a run that ended with this code.
fn read(said: &Said, code: i32) -> Report {
    assert_eq!(said.code, Some(code), "{said:?}");
    perfkit(&said.out).unwrap_or_else(|error| panic!("{error}\n{}", said.out));
    report(&said.out).unwrap_or_else(|error| panic!("{error}\n{}", said.out))
}

#[test]
fn a_load_and_a_run_without_a_database() {
    let laboratory = Laboratory::new();
    let said = ycsb(&laboratory, "load basic -s -P @a -threads 3 -l mine");
    let loaded = read(&said, 0);
    assert_eq!(loaded.order, ["CLEANUP", "INSERT"]);
    assert_eq!(loaded.value("INSERT", "Return=OK"), 1_000.0);
    assert_eq!(loaded.operations("CLEANUP"), 3);
    let talk: Vec<&str> = said.err.lines().collect();
    assert_starts(talk[0], "Command line: -db site.ycsb.BasicDB -s -P ");
    assert_ends(talk[0], " -load");
    assert!(talk[1].starts_with("YCSB Client 0."));
    assert_eq!(talk[2..5], ["", "Loading workload...", "Starting test."]);
    let of_status = said.err.lines().filter(|line| line.starts_with("mine"));
    let lines: Vec<_> = of_status.collect();
    for line in &lines {
        assert!(status_line(line, "mine").is_some(), "{line}");
    }
    // One at the begin and one at the end.
    let last = status_line(lines.last().unwrap(), "mine").unwrap();
    assert!(lines.len() >= 2 && last.operations == 1_000, "{lines:?}");

    let words = "run basic -P @f -p operationcount=5000 -threads 2";
    let said = ycsb(&laboratory, words);
    let ran = read(&said, 0);
    assert!(said.err.lines().next().unwrap().ends_with(" -t"));
    let expected = ["READ", "READ-MODIFY-WRITE", "CLEANUP", "UPDATE"];
    assert_eq!(ran.order, expected);
    // A read-modify-write is one operation, and a read and an update besides.
    assert_eq!(ran.operations("READ"), 5_000);
    let expected = ran.operations("READ-MODIFY-WRITE");
    assert_eq!(ran.operations("UPDATE"), expected);
    assert!(!ran.blocks["READ-MODIFY-WRITE"].contains_key("Return=OK"));
    let per_second = ran.value("OVERALL", "Throughput(ops/sec)");
    let ms = ran.value("OVERALL", "RunTime(ms)");
    assert!((per_second * ms / 1_000.0 - 5_000.0).abs() < 1e-6);
}

#[test]
fn a_scan_without_rows_is_no_failure() {
    let laboratory = Laboratory::new();
    let ran = read(&ycsb(&laboratory, "run basic -P @e"), 0);
    assert_eq!(ran.operations("SCAN") + ran.operations("INSERT"), 1_000);
    assert!(!ran.blocks.contains_key("SCAN-LATENCY-PER-RECORD"));
}

#[test]
fn a_seed_asks_the_same_again() {
    let laboratory = Laboratory::new();
    let reads = |seed: &str| {
        let words = format!("run basic -P @a -p operationcount=10000 -p plimsoll.seed={seed}");
        let said = ycsb(&laboratory, &words);
        read(&said, 0).operations("READ")
    };
    assert_eq!(reads("7"), reads("7"));
    assert_ne!(reads("7"), reads("8"));
}

#[test]
fn the_binding_without_a_database_has_a_delay_and_a_voice() {
    let laboratory = Laboratory::new();
    let words = "run basic -P @c -p operationcount=10 -p basicdb.simulatedelay=5 -p basicdb.randomizedelay=false";
    let said = ycsb(&laboratory, words);
    assert!(read(&said, 0).value("READ", "MinLatency(us)") >= 4_990.0);
    let words = "load basic -P @c -p recordcount=1 -p basicdb.verbose=true -p fieldcount=2 -p fieldlength=20 -p dataintegrity=true -p insertorder=ordered -p zeropadding=4";
    let said = ycsb(&laboratory, words);
    assert_eq!(said.code, Some(0));
    let words = "\nINSERT usertable user0000 [ field0=user0000:field0:";
    assert_contains(&said.out, words);
}

#[test]
fn a_report_has_three_forms_and_a_file() {
    let laboratory = Laboratory::new();
    let package = "site.ycsb.measurements.exporter";
    let words = format!(
        "load basic -P @a -p exporter={package}.JSONArrayMeasurementsExporter -p exportfile=report.json"
    );
    let said = ycsb(&laboratory, &words);
    assert_eq!((said.code, said.out.as_str()), (Some(0), ""));
    let array = fs::read_to_string(laboratory.path("report.json")).unwrap();
    let array: serde_json::Value = serde_json::from_str(&array).unwrap();
    assert_eq!(array[0]["metric"], "OVERALL");
    assert_eq!(array[0]["measurement"], "RunTime(ms)");
    assert!(array[0]["value"].is_u64() && array[1]["value"].is_f64());
    let words = format!("load basic -P @a -p exporter={package}.JSONMeasurementsExporter");
    let said = ycsb(&laboratory, &words);
    let mut objects = 0;
    for object in serde_json::Deserializer::from_str(&said.out).into_iter::<serde_json::Value>() {
        assert_eq!(object.unwrap().as_object().unwrap().len(), 3);
        objects += 1;
    }
    assert_eq!(objects, array.as_array().unwrap().len());
    let said = ycsb(&laboratory, "load basic -P @a -p exporter=x.Y");
    read(&said, 0);
    let words = "Could not find exporter x.Y, will use default text reporter.";
    assert_contains(&said.err, words);
    let said = ycsb(&laboratory, "load basic -P @a -p exportfile=no/such/folder");
    assert_eq!(said.code, Some(1));
    assert_contains(&said.err, "cannot use no/such/folder: ");
}

#[test]
fn other_kinds_of_measurement() {
    let laboratory = Laboratory::new();
    let run = |kind: &str| {
        let words = format!("run basic -P @c -p measurementtype={kind}");
        let said = ycsb(&laboratory, &words);
        assert_eq!(said.code, Some(0), "{said:?}");
        perfkit(&said.out).unwrap();
        said.out
    };
    assert!(run("histogram").contains("[READ], LatencyVariance(us), "));
    let both = run("hdrhistogram+histogram");
    assert_contains(&both, "[HdrREAD], Operations, 1000\n");
    assert_contains(&both, "[BucketREAD], Operations, 1000\n");
    let raw = run("raw");
    let is_row = |line: &&str| line.starts_with("READ,");
    assert_eq!(raw.lines().filter(is_row).count(), 1_000);
    let is_number = |field: &str| field.parse::<u64>().is_ok();
    for row in raw.lines().filter(is_row) {
        assert!(row.split(',').skip(1).all(is_number), "{row}");
    }
    let head = "\nREAD latency raw data: op, timestamp(ms), latency(us)\n";
    assert_contains(&raw, head);
    assert!(raw.contains("[READ], Total Operations, 1000\n"));
    assert!(run("hdrhistogram+raw").contains("[RawREAD], p99.99, "));
    let words = "run basic -P @c -s -p measurementtype=timeseries";
    let said = ycsb(&laboratory, words);
    assert_contains(&said.out, "\n[READ], 0, ");
    assert!(said.out.contains(" sec: "), "status lines are here too");
    for _ in 0..2 {
        let words = "run basic -P @c -p measurementtype=raw -p measurement.raw.output_file=rows -p measurement.raw.no_summary=true";
        let said = ycsb(&laboratory, words);
        let words = "Raw data measurement: will output to result file: rows\n";
        assert_contains(&said.out, words);
        // Their number and how they ended are still printed.
        assert!(said.out.contains("[READ], Total Operations, 1000\n"));
        assert!(!said.out.contains("[READ], Average"), "{}", said.out);
    }
    let rows = fs::read_to_string(laboratory.path("rows")).unwrap();
    assert_eq!(rows.lines().filter(is_row).count(), 2_000);
}

#[test]
fn histograms_are_written_and_can_be_read_back() {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    let laboratory = Laboratory::new();
    let words = "run basic -P @a -p hdrhistogram.fileoutput=true -p hdrhistogram.output.path=run- -p hdrhistogram.percentiles=99.9,1";
    let said = ycsb(&laboratory, words);
    let ran = read(&said, 0);
    for name in ["READ", "UPDATE", "CLEANUP"] {
        let bytes = fs::read(laboratory.path(&format!("run-{name}.hdr"))).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let version = "#[Histogram log format version 1.3]\n#[StartTime: ";
        assert_starts(&text, &format!("#[Logging for: {name}]\n{version}"));
        assert_ends(&text, "\n");
        let mut counts = Vec::new();
        for entry in IntervalLogIterator::new(&bytes) {
            if let LogEntry::Interval(interval) = entry.unwrap() {
                let packed = STANDARD.decode(interval.encoded_histogram()).unwrap();
                let read = Deserializer::new().deserialize(&mut packed.as_slice());
                let histogram: Histogram<u64> = read.unwrap();
                assert_eq!(histogram.max() as f64, ran.value(name, "MaxLatency(us)"));
                let expected = ran.value(name, "99.9PercentileLatency(us)");
                assert_eq!(histogram.value_at_quantile(0.999) as f64, expected);
                counts.push(histogram.len());
            }
        }
        assert_eq!(counts, [ran.operations(name)], "one line for the whole run");
    }
    assert!(ran.blocks["READ"].contains_key("1stPercentileLatency(us)"));
}

#[test]
fn a_run_without_an_end_is_ended_by_time() {
    let laboratory = Laboratory::new();
    let words = "run basic -P @c -p operationcount=0 -p maxexecutiontime=1";
    let said = ycsb(&laboratory, words);
    let ran = read(&said, 0);
    assert!(ran.operations("READ") > 0 && ran.value("OVERALL", "RunTime(ms)") >= 990.0);
    for line in [
        "Maximum execution time specified as: 1 secs",
        "Maximum time elapsed. Requesting stop for the workload.",
        "Stop requested for workload. Now Joining!",
    ] {
        let is_said = said.err.lines().any(|said| said == line);
        assert!(is_said, "{line}: {}", said.err);
    }
    let said = ycsb(&laboratory, "run basic -P @c -p maxexecutiontime=1000");
    read(&said, 0);
    let words = "Could not wait until max specified time, TerminatorThread interrupted.";
    assert_contains(&said.err, words);
}

#[test]
fn what_has_no_effect_is_said_and_what_is_wrong_is_refused() {
    let laboratory = Laboratory::new();
    let words =
        "load basic -P @a -jvm-args -Xmx1g -cp x -p colour=red -p measurement.trackjvm=true";
    let said = ycsb(&laboratory, words);
    read(&said, 0);
    for words in [
        "plimsoll ycsb: unknown and without effect: colour",
        "plimsoll ycsb: measurement.trackjvm has no effect: there is no Java machine",
        "plimsoll ycsb: -jvm-args has no effect: there is no Java machine",
    ] {
        assert_contains(&said.err, words);
    }
    let bad = "recordcount=1000 \nworkload=site.ycsb.workloads.CoreWorkload\n";
    laboratory.write("bad", bad);
    laboratory.write("worse", "recordcount=\\u00zz\n");
    for (words, refusal) in [
        ("load basic", "`workload`: it is missing: name a property file by -P"),
        ("load", "name a binding: "),
        ("shell basic", "there is no `shell` here"),
        ("load redis -P @a", "there is no binding `redis`"),
        ("load basic -P @a -x", "there is no option `-x`"),
        ("load basic -P nothing", "cannot read the property file nothing: "),
        (
            "load basic -P bad",
            "`recordcount`: `1000 ` is no whole number: there is white space around it",
        ),
        ("load basic -P worse", "worse: `recordcount`, line 1: "),
        (
            "load basic -P @a -p requestdistribution=Zipfian",
            "`requestdistribution`: there is no `Zipfian`",
        ),
        (
            "load basic -P @a -p insertstart=5 -p insertcount=1000",
            "`insertstart`: invalid combination",
        ),
        (
            "load basic -P @a -p dataintegrity=true -p fieldlengthdistribution=uniform",
            "`dataintegrity`: ",
        ),
        ("load basic -P @a -p measurementtype=hdr", "`measurementtype`: there is no `hdr`"),
        ("load basic -P @a -p basicdb.count=true", "`basicdb.count`: "),
        ("run basic -P @a -p workload=site.ycsb.workloads.RestWorkload", "`workload`: there is no"),
        (
            "load basic -P @a -p db=site.ycsb.db.JdbcDBClient",
            "there is no binding for `db=site.ycsb.db.JdbcDBClient`",
        ),
    ] {
        let said = ycsb(&laboratory, words);
        assert_eq!(said.code, Some(2), "{words}: {said:?}");
        assert_contains(&said.err, refusal);
        assert_eq!(said.out, "", "{words}");
    }
}

/// What `bin/ycsb` says, called by these words before its own.
fn wrapped(laboratory: &Laboratory, call: &[&str], words: &str) -> Said {
    let output = Command::new(call[0])
        .args(&call[1..])
        .args(words_of(words))
        .env("PLIMSOLL", env!("CARGO_BIN_EXE_plimsoll"))
        .current_dir(laboratory.path("."))
        .output()
        .unwrap();
    Said::of(output)
}

/// However scripts call YCSB's own: by itself, by the name of its shell script, by a shell, or by the Python that it was written in.
#[test]
fn the_wrapper_hands_every_word_on() {
    let laboratory = Laboratory::new();
    let program = format!("{}/bin/ycsb", repository());
    let other = format!("{program}.sh");
    for call in [
        &[program.as_str()][..],
        &[&other],
        &["sh", &program],
        &["sh", &other],
        &["python3", &program],
    ] {
        let words = "load basic -s -P @a -p fieldlength=10 -l a'b -threads 4";
        let said = wrapped(&laboratory, call, words);
        assert_eq!(read(&said, 0).operations("INSERT"), 1_000, "{call:?}");
    }
}

#[test]
fn the_wrapper_ends_as_ycsb_does() {
    let laboratory = Laboratory::new();
    let program = format!("{}/bin/ycsb", repository());
    for (words, code, as_itself) in [
        // More reads than verified: what the binding basic answers is no record.
        ("run basic -P @c -p dataintegrity=true", 0, 106),
        ("run basic -P @c -colour", 1, 2),
        ("run basic -P @c -threads 0", 1, 2),
        ("", 1, 2),
    ] {
        let said = wrapped(&laboratory, &[&program], words);
        assert_eq!(said.code, Some(code), "{words}: {said:?}");
        assert_ne!(said.err, "", "{words}");
        let said = ycsb(&laboratory, words);
        assert_eq!(said.code, Some(as_itself), "{words}: {said:?}");
    }
}

#[test]
fn help_names_every_difference() {
    let laboratory = Laboratory::new();
    let said = laboratory.run(&["foreign", "ycsb", "--help"]);
    assert_eq!(said.code, Some(0));
    for words in
        ["-threads N", "exit code is 106", "The last batch", "plimsoll.seed", "docs/ycsb.md"]
    {
        assert_contains(&said.out, words);
    }
}

/// Every known property stands in the documentation, with its default.
#[test]
fn the_documentation_lists_every_property() {
    let page = fs::read_to_string(format!("{}/docs/ycsb.md", repository())).unwrap();
    for known in plimsoll_ycsb::PROPERTIES {
        let default = match known.default {
            "" => String::new(),
            default => format!("`{default}`"),
        };
        let row = format!("| `{}` | {default} |", known.name);
        for part in [row.as_str(), known.about] {
            assert!(page.contains(part), "docs/ycsb.md lacks {part}");
        }
    }
}

#[cfg(feature = "wiredtiger")]
mod embedded {
    use super::*;

    const INTEGRITY: &str =
        "-p wiredtiger.dir=data -p dataintegrity=true -p wiredtiger.cache_size=64MiB";

    #[test]
    fn keys_that_are_missing_are_counted_and_end_the_run_badly() {
        let laboratory = Laboratory::new();
        let words = format!("run wiredtiger -P @c {INTEGRITY} -p operationcount=50");
        let said = ycsb(&laboratory, &words);
        let ran = read(&said, 106);
        assert_eq!(ran.operations("READ"), 0);
        assert_eq!(ran.value("READ", "Return=NOT_FOUND"), 50.0);
        assert_eq!(ran.operations("READ-FAILED"), 50);
        assert_eq!(ran.value("VERIFY", "Return=ERROR"), 50.0);
        assert_contains(&said.err, "plimsoll ycsb: 50 operations failed");
        let words = format!(
            "run wiredtiger -P @c {INTEGRITY} -p operationcount=50 -p latencytrackederrors=NOT_FOUND"
        );
        let said = ycsb(&laboratory, &words);
        assert_eq!(read(&said, 106).operations("READ-NOT_FOUND"), 50);
    }

    #[test]
    fn a_directory_of_others_is_left_alone() {
        let laboratory = Laboratory::new();
        fs::create_dir(laboratory.path("data")).unwrap();
        fs::write(laboratory.path("data/thesis"), "mine").unwrap();
        let said = ycsb(&laboratory, &format!("load wiredtiger -P @c {INTEGRITY}"));
        assert_eq!(said.code, Some(1));
        let words = "data is not empty and holds no database of plimsoll ycsb";
        assert_contains(&said.err, words);
        assert_eq!(fs::read_dir(laboratory.path("data")).unwrap().count(), 1);
        let said = ycsb(&laboratory, "load wiredtiger -P @c");
        assert_eq!(said.code, Some(2));
        assert_contains(&said.err, "`wiredtiger.dir`: it is missing");
    }

    mod slow {
        use super::*;

        /// Whole scripts: one load for each workload, with every value verified.
        #[test]
        fn every_workload_on_data_that_is_kept_from_load_to_run() {
            let laboratory = Laboratory::new();
            for letter in ['a', 'b', 'c', 'd', 'e', 'f'] {
                let directory = format!("-p wiredtiger.dir=data-{letter}");
                let words =
                    format!("load wiredtiger -P @{letter} {INTEGRITY} {directory} -threads 2");
                let loaded = read(&ycsb(&laboratory, &words), 0);
                assert_eq!(loaded.value("INSERT", "Return=OK"), 1_000.0);
                assert_eq!(loaded.preamble, ["Data integrity is enabled."]);
                let words =
                    format!("run wiredtiger -P @{letter} {INTEGRITY} {directory} -threads 2");
                let ran = read(&ycsb(&laboratory, &words), 0);
                let of = |name| ran.operations(name);
                let whole = match letter {
                    'f' => of("READ"),
                    _ => of("READ") + of("UPDATE") + of("INSERT") + of("SCAN"),
                };
                assert_eq!(whole, 1_000, "{letter}");
                let verified = ran.blocks.get("VERIFY");
                let verified = verified.map_or(0.0, |block| block["Return=OK"]);
                assert_eq!(verified, of("READ") as f64, "{letter}");
                let found = of("SCAN-LATENCY-PER-RECORD");
                assert_eq!(found, of("SCAN"), "every scan gave at least one record");
            }
        }

        #[test]
        fn a_failed_insert_ends_its_session_unless_told_otherwise() {
            let laboratory = Laboratory::new();
            let load = format!("load wiredtiger -P @c {INTEGRITY} -p recordcount=20");
            read(&ycsb(&laboratory, &load), 0);
            let again = ycsb(&laboratory, &format!("{load} -threads 2"));
            let loaded = read(&again, 106);
            let found = loaded.value("INSERT", "Return=ERROR");
            assert_eq!(found, 2.0, "the first of each session");
            assert_eq!(loaded.operations("INSERT-FAILED"), 2);
            assert_eq!(loaded.value("OVERALL", "Throughput(ops/sec)"), 0.0);
            assert_eq!(again.err.matches("Error inserting, not retrying any more. number of attempts: 1Insertion Retry Limit: 0").count(), 2);
            assert_contains(
                &again.err,
                "plimsoll ycsb: 20 of 20 records were not stored by this load",
            );

            let all = format!("{load} -p core_workload_insertion_keep_going_on_error=true");
            let found = read(&ycsb(&laboratory, &all), 106).value("INSERT", "Return=ERROR");
            assert_eq!(found, 20.0);

            let words = format!(
                "{load} -p core_workload_insertion_retry_limit=2 -p core_workload_insertion_retry_interval=0"
            );
            let retried = ycsb(&laboratory, &words);
            assert_eq!(read(&retried, 106).value("INSERT", "Return=ERROR"), 3.0);
            assert!(retried.err.contains("Retrying insertion, retry count: 2\n"));
            let words = "number of attempts: 3Insertion Retry Limit: 2";
            assert_contains(&retried.err, words);
        }

        #[test]
        fn other_data_than_was_stored_ends_the_run_badly() {
            let laboratory = Laboratory::new();
            let load = "load wiredtiger -P @c -p wiredtiger.dir=data";
            read(&ycsb(&laboratory, load), 0);
            let words = format!("run wiredtiger -P @c {INTEGRITY}");
            let ran = read(&ycsb(&laboratory, &words), 106);
            assert_eq!(ran.value("VERIFY", "Return=UNEXPECTED_STATE"), 1_000.0);
            assert_eq!(ran.operations("READ"), 1_000);
        }

        #[test]
        fn two_clients_share_a_load() {
            let laboratory = Laboratory::new();
            let half = |start: u32| {
                format!(
                    "load wiredtiger -P @c {INTEGRITY} -p insertstart={start} -p insertcount=500"
                )
            };
            read(&ycsb(&laboratory, &half(0)), 0);
            read(&ycsb(&laboratory, &half(500)), 0);
            let words = format!("run wiredtiger -P @c {INTEGRITY}");
            let ran = read(&ycsb(&laboratory, &words), 0);
            assert_eq!(ran.value("READ", "Return=OK"), 1_000.0);
        }
    }
}

mod once {
    use super::*;

    #[test]
    fn an_interruption_keeps_what_was_measured() {
        let laboratory = Laboratory::new();
        let words = words_of("ycsb run basic -s -P @c -p operationcount=0 -p status.interval=1");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let running = laboratory.start(&words);
        let talk = laboratory.path("err");
        wait_until("a status line with operations", || {
            let talk = fs::read_to_string(&talk).unwrap();
            talk.contains(" current ops/sec; [READ: ")
        });
        running.send(Signal::INT);
        let said = running.end();
        assert!(read(&said, 105).operations("READ") > 0);
        assert!(said.err.contains("plimsoll ycsb: interrupted; "));
    }
}

mod slow {
    use super::*;

    #[test]
    fn a_target_is_kept_and_both_latencies_are_reported() {
        let laboratory = Laboratory::new();
        // 200 ticks of 10 ms in each of two threads, which begin within their first.
        let words = "run basic -P @c -p operationcount=400 -threads 2 -target 200";
        let said = ycsb(&laboratory, words);
        let ran = read(&said, 0);
        let ms = ran.value("OVERALL", "RunTime(ms)");
        assert!(ms >= 2_000.0, "{}", said.out);
        assert!(ran.value("OVERALL", "Throughput(ops/sec)") <= 200.0);
        let expected = ["READ", "CLEANUP", "Intended-READ", "Intended-CLEANUP"];
        assert_eq!(ran.order, expected);
        let mean = |block| ran.value(block, "AverageLatency(us)");
        assert!(mean("Intended-READ") >= mean("READ"));
        let words = "run basic -P @c -target 100000 -p measurement.interval=intended";
        let said = ycsb(&laboratory, words);
        assert_eq!(read(&said, 0).order, ["READ", "CLEANUP"]);
    }
}
