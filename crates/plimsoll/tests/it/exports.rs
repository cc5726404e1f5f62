//! What is written for other programs: `plimsoll export`, and JUnit reports.

use crate::laboratory::Laboratory;
use crate::published::checkout;
use crate::stores::{TINY, with_a_record};
use plimsoll_store::Store;
use plimsoll_testing::{assert_contains, assert_starts};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Files below a folder, each by its path in there.
fn below(folder: &Path) -> Vec<String> {
    let mut files: Vec<String> = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| entry.path().strip_prefix(folder).unwrap().display().to_string())
        .collect();
    files.sort();
    files
}

#[test]
fn cleaning_can_be_told_as_json() {
    let laboratory = Laboratory::new();
    for arguments in [&["clean", "--json"][..], &["clean", "--dry-run", "--json"]] {
        let said = laboratory.run(arguments);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
        let document: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(document["dry_run"], arguments.contains(&"--dry-run"));
        assert_eq!(document["done"].as_array().unwrap().len(), 0);
    }
}

mod once {
    use super::*;

    /// The same values as in CSV, by a reader that is not ours. Left out where Python has no pyarrow.
    #[test]
    fn another_reader_reads_the_same_from_parquet_as_from_csv() {
        const COMPARE: &str = r#"
import csv, math, sys
import pyarrow.parquet
for name in ["points", "slices", "figures"]:
    rows = list(csv.DictReader(open(name + ".csv", newline="")))
    table = pyarrow.parquet.read_table(name + ".parquet").to_pylist()
    assert len(rows) == len(table) > 0, name
    for told, packed in zip(rows, table):
        assert list(told) == list(packed), name
        for column, text in told.items():
            value = packed[column]
            if value is None: same = text == ""
            elif isinstance(value, bool): same = text == str(value).lower()
            elif isinstance(value, int): same = int(text) == value
            elif isinstance(value, float): same = float(text) == value
            else: same = text == value
            assert same, (name, column, text, value)
print("same")
"#;
        let has_pyarrow = Command::new("python3").args(["-c", "import pyarrow.parquet"]).output();
        if !has_pyarrow.is_ok_and(|output| output.status.success()) {
            let test = "another_reader_reads_the_same_from_parquet_as_from_csv";
            plimsoll_testing::skip(test, "python3 has no pyarrow");
            return;
        }
        let (laboratory, _) = with_a_record();
        let said = laboratory.run(&["export", "--only", "csv,parquet", "--to", "."]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let output = Command::new("python3")
            .args(["-c", COMPARE])
            .current_dir(laboratory.path("."))
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "same\n", "{err}");
    }

    #[test]
    fn forms_can_be_chosen() {
        let (laboratory, record) = with_a_record();
        let said = laboratory.run(&["export", "--only", "csv,perfkit", "--to", "two", "--json"]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
        let written = ["figures.csv", "perfkit.json", "points.csv", "slices.csv"];
        assert_eq!(names(&laboratory.path("two")), written);
        let document: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(document["experiment"], record.id.as_str());
        let files = document["files"].as_array().unwrap();
        assert_eq!(files.len(), 4);
        for file in files {
            let path = laboratory.path(file["path"].as_str().unwrap());
            assert!(path.exists(), "{file}");
            assert!(["csv", "perfkit"].contains(&file["form"].as_str().unwrap()));
        }

        let unknown = laboratory.run(&["export", "--only", "xlsx"]);
        assert_eq!((unknown.code, unknown.out.as_str()), (Some(2), ""));
        let words = "the formats are csv, parquet, json, hdr, fio, perfkit, prometheus, perfetto";
        assert_contains(&unknown.err, words);
        let absent = laboratory.run(&["export", "--only", "csv,fio", "--to", "none"]);
        assert_eq!((absent.code, absent.out.as_str()), (Some(1), ""));
        let id = &record.id;
        let words = format!(
            "plimsoll: experiment {id} cannot be written as fio: none of its disks was calibrated\n"
        );
        assert_eq!(absent.err, words);
        assert!(!laboratory.path("none").exists());
    }

    #[test]
    fn samples_are_what_perfkit_reads() {
        let (laboratory, record) = with_a_record();
        let said = laboratory.run(&["export", "--only", "perfkit", "--to", "."]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let text = fs::read_to_string(laboratory.path("perfkit.json")).unwrap();
        let sample = |line| serde_json::from_str(line).unwrap();
        let samples: Vec<Value> = text.lines().map(sample).collect();
        let mut uris = Vec::new();
        for sample in &samples {
            // As its Sample and its publishers have them.
            let texts = "metric unit test product_name owner run_uri sample_uri labels";
            for field in texts.split(' ') {
                assert!(sample[field].is_string(), "{field} of {sample}");
            }
            for field in ["value", "timestamp"] {
                assert!(sample[field].is_f64(), "{field} of {sample}");
            }
            assert!(sample["official"].is_boolean());
            uris.push(sample["sample_uri"].as_str().unwrap().to_owned());
            for label in sample["labels"].as_str().unwrap().split(",|") {
                assert!(label.trim_matches('|').contains(':'), "{sample}");
            }
        }
        uris.sort();
        uris.dedup();
        assert_eq!(uris.len(), samples.len());
        let of = |metric: &str, stage: &str| {
            let stage = format!("|stage:{stage}|");
            let of_stage = |sample: &Value| sample["labels"].as_str().unwrap().contains(&stage);
            let is_it = |sample: &&Value| sample["metric"] == metric && of_stage(sample);
            let found: Vec<&Value> = samples.iter().filter(is_it).collect();
            assert_eq!(found.len(), 1, "{metric} {stage}");
            found[0].clone()
        };
        let throughput = of("overall Throughput", "run");
        assert_eq!(throughput["unit"], "ops/sec");
        let labels = throughput["labels"].as_str().unwrap();
        assert_starts(labels, "|operation:overall|,|experiment:tiny|,");
        assert!(labels.contains(&format!("|id:{}|", record.id)) && labels.contains("|threads:1|"));
        // A constant service of 30 ms, and one session.
        let p99 = of("read p99 latency", "run");
        assert_eq!(p99["unit"], "ms");
        // The engine waits by the kernel's clock, the loop reads the processor's: they differ by some millionths.
        assert!(p99["value"].as_f64().unwrap() >= 29.99, "{p99}");
        let begun = &record.runs[0].points[0].started_at;
        let begun: jiff::Timestamp = begun.parse().unwrap();
        let timestamp = throughput["timestamp"].as_f64().unwrap();
        assert!((timestamp - begun.as_millisecond() as f64 / 1e3).abs() < 0.001);
    }

    #[test]
    fn prometheus_text_has_every_run() {
        let (laboratory, _) = with_a_record();
        let said = laboratory.run(&["export", "--only", "prometheus", "--to", "."]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let text = fs::read_to_string(laboratory.path("metrics.prom")).unwrap();
        assert!(text.ends_with("# EOF\n"));
        let kind = "# TYPE plimsoll_throughput_operations_per_second gauge\n";
        assert_contains(&text, kind);
        let labels = "arm=\"one\",mix=\"c\",load=\"1 thread\",block=\"0\"} ";
        assert_contains(&text, labels);
        // A constant service of 30 ms.
        let is_response = |line: &&str| line.starts_with("plimsoll_response_seconds{");
        let mut responses = text.lines().filter(is_response);
        let p99 = responses.find(|line| line.contains("quantile=\"0.99\""));
        let p99: f64 = p99.unwrap().rsplit(' ').next().unwrap().parse().unwrap();
        assert!(p99 >= 0.03, "{p99} in {text}");
    }

    #[test]
    fn charts_are_written_as_pictures() {
        let (laboratory, record) = with_a_record();
        let said = laboratory.run(&["report", "--svg", "svg"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let charts = names(&laboratory.path("svg"));
        assert!(charts.contains(&"load-0-rate.svg".to_owned()), "{charts:?}");
        let svg = fs::read_to_string(laboratory.path("svg/load-0-rate.svg")).unwrap();
        assert_starts(&svg, "<svg xmlns=");
        assert_contains(&svg, &record.id);

        fs::write(laboratory.path("svg/load-0-rate.svg"), "ours still").unwrap();
        let refused = laboratory.run(&["report", "--svg", "svg"]);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert_contains(&refused.err, "has changed since");
        fs::remove_file(laboratory.path("svg/load-0-rate.svg")).unwrap();
        assert_eq!(laboratory.run(&["report", "--svg", "svg"]).code, Some(0));
        assert_eq!(fs::read_to_string(laboratory.path("svg/load-0-rate.svg")).unwrap(), svg);
        fs::create_dir(laboratory.path("theirs")).unwrap();
        fs::write(laboratory.path("theirs/load-0-rate.svg"), "theirs").unwrap();
        let refused = laboratory.run(&["report", "--svg", "theirs"]);
        assert_eq!(refused.code, Some(1));
        assert_contains(&refused.err, "was not written by this command");
        let kept = fs::read_to_string(laboratory.path("theirs/load-0-rate.svg")).unwrap();
        assert_eq!(kept, "theirs");
    }

    #[test]
    fn a_bundle_is_verified_shown_and_run_again() {
        let (laboratory, record) = with_a_record();
        let said = laboratory.run(&["bundle", "last", "--to", "one.plimsoll"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_eq!(said.out, "one.plimsoll\n");
        let again = laboratory.run(&["bundle", "--to", "one.plimsoll"]);
        assert_eq!(again.code, Some(1), "{again:?}");
        assert_contains(&again.err, "existing files are never overwritten");

        // Somewhere else, where there is no store.
        let elsewhere = Laboratory::new();
        fs::copy(laboratory.path("one.plimsoll"), elsewhere.path("one.plimsoll")).unwrap();
        let shown = elsewhere.run(&["report", "one.plimsoll", "--json"]);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        assert_contains(&shown.err, "is as its manifest says");
        let document: Value = serde_json::from_str(&shown.out).unwrap();
        assert_eq!(document["id"], record.id.as_str());
        // A small one says the same in fewer bytes.
        let small = elsewhere.run(&["bundle", "one.plimsoll", "--small", "--to", "small.plimsoll"]);
        assert_eq!(small.code, Some(0), "{small:?}");
        let bytes = |name: &str| fs::metadata(elsewhere.path(name)).unwrap().len();
        assert!(bytes("small.plimsoll") < bytes("one.plimsoll"));
        let [small, whole] = ["small.plimsoll", "one.plimsoll"].map(|name| {
            let said = elsewhere.run(&["report", name, "--json"]);
            let document: Value = serde_json::from_str(&said.out).unwrap();
            ["headline", "comparisons", "warnings"].map(|part| document[part].clone())
        });
        assert_eq!(small, whole);
        let planned = elsewhere.run(&["plan", "one.plimsoll", "--json"]);
        assert_eq!(planned.code, Some(0), "{planned:?}");
        let run = elsewhere.run(&["run", "one.plimsoll"]);
        assert!([Some(0), Some(106)].contains(&run.code), "{run:?}");
        let other = elsewhere.record();
        assert_eq!((other.plan_hash, other.file_text), (record.plan_hash, record.file_text));
        assert_ne!(other.id, record.id);

        // One byte that is different.
        let mut bytes = fs::read(laboratory.path("one.plimsoll")).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        laboratory.write("broken.plimsoll", bytes);
        let broken = laboratory.run(&["report", "broken.plimsoll"]);
        assert_eq!((broken.code, broken.out.as_str()), (Some(1), ""), "{broken:?}");
        assert_contains(&broken.err, "cannot use the bundle broken.plimsoll");
    }

    #[test]
    fn a_gallery_replaces_what_it_wrote_and_nothing_else() {
        let (laboratory, record) = with_a_record();
        let made = laboratory.run(&["gallery", "public", "--bundles", "--title", "Ours"]);
        assert_eq!(made.code, Some(0), "{made:?}");
        let stem = format!("{}-{}", record.name, record.id);
        let (page, bundle) = (format!("{stem}.html"), format!("{stem}.plimsoll"));
        let all = [".plimsoll-gallery", "index.html", page.as_str(), bundle.as_str()];
        let mut expected = all.map(str::to_owned);
        expected.sort();
        assert_eq!(names(&laboratory.path("public")), expected);
        let index = fs::read_to_string(laboratory.path("public/index.html")).unwrap();
        assert_contains(&index, &format!("href=\"{page}\""));
        assert_contains(&index, "Ours");

        // Without bundles theirs goes, and a file of somebody else stays.
        laboratory.write("public/notes.txt", "mine");
        let again = laboratory.run(&["gallery", "public", "last"]);
        assert_eq!(again.code, Some(0), "{again:?}");
        let found = names(&laboratory.path("public"));
        assert!(found.contains(&"notes.txt".to_owned()) && !found.contains(&bundle), "{found:?}");

        fs::create_dir(laboratory.path("other")).unwrap();
        laboratory.write("other/index.html", "mine");
        let refused = laboratory.run(&["gallery", "other"]);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert_contains(&refused.err, "index.html was not written by this command");
        let kept = fs::read_to_string(laboratory.path("other/index.html")).unwrap();
        assert_eq!(kept, "mine");
        assert_eq!(names(&laboratory.path("other")), ["index.html"]);
    }

    #[test]
    fn thresholds_are_a_junit_report() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: bounds
workload: {records: 2, preset: c}
arms: {one: {engine: simulated, service: constant, service_mean: 30ms}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 60s, operations: 10, blocks: 1}
thresholds:
  - throughput >= 1
  - response.p99 <= 1ms
";
        laboratory.write("experiment.yaml", text);
        let said = laboratory.run(&["run", "experiment.yaml", "--junit", "run.xml"]);
        assert_eq!(said.code, Some(99), "{said:?}");
        let text = fs::read_to_string(laboratory.path("run.xml")).unwrap();
        for words in [
            "tests=\"2\" skipped=\"0\" failures=\"1\" errors=\"0\"",
            "name=\"throughput &gt;= 1 (one, c at 1 thread)\"",
            "classname=\"bounds\"",
            "FAILED: ",
            " measured, at most 1ms required",
        ] {
            assert_contains(&text, words);
        }
        // The same from the store, beside JSON.
        let report = laboratory.run(&["report", "--json", "--junit", "report.xml"]);
        assert_eq!((report.code, report.err.as_str()), (Some(99), ""));
        serde_json::from_str::<Value>(&report.out).unwrap();
        let found = fs::read_to_string(laboratory.path("report.xml")).unwrap();
        assert_eq!(found, text);
        let nowhere = laboratory.run(&["report", "--junit", "no/folder.xml"]);
        assert_eq!((nowhere.code, nowhere.out.as_str()), (Some(1), ""));
        assert_contains(&nowhere.err, "cannot write the JUnit report no/folder.xml");
    }
}

mod slow {
    use super::*;

    /// The tests of the package in `python/`, on a record of two arms.
    #[test]
    fn the_package_for_python_makes_frames_of_a_record() {
        let test = "the_package_for_python_makes_frames_of_a_record";
        let has_frames =
            Command::new("python3").args(["-c", "import pandas, polars, pyarrow"]).output();
        if !has_frames.is_ok_and(|output| output.status.success()) {
            plimsoll_testing::skip(test, "python3 has no pandas, polars and pyarrow");
            return;
        }
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: frames
workload: {records: 2, mixes: [a, c]}
defaults: {engine: simulated, service: constant}
arms: {slow: {service_mean: 4ms}, fast: {service_mean: 2ms}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 60s, operations: 20, blocks: 2}";
        laboratory.experiment(text);
        let program = Path::new(env!("CARGO_BIN_EXE_plimsoll")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let package = checkout("python");
        let known = std::env::var("PYTHONPATH").unwrap_or_default();
        let output = Command::new("python3")
            .args(["-B", "-m", "unittest", "discover", "--start-directory"])
            .arg(package.join("tests"))
            .current_dir(laboratory.path("."))
            .env("PATH", format!("{}:{path}", program.display()))
            .env("PYTHONPATH", format!("{}:{known}", package.display()))
            .env("PLIMSOLL_STORE", laboratory.store())
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{err}");
        assert_contains(&err, "Ran 6 tests");
    }

    /// What docs/exports.md asks DuckDB and Polars of the data set of a store, word for word.
    #[test]
    fn others_read_the_data_set_as_the_documentation_says() {
        const READ: &str = r#"
import re, sys, duckdb
text = open(sys.argv[1]).read().split("\n## The whole store as a data set\n")[1].split("\n## ")[0]
sql, python = (re.findall("```" + kind + "\n(.*?)```", text, re.S) for kind in ("sql", "python"))
assert len(sql) == 1 and len(python) == 1
results = [duckdb.sql(query) for query in sql[0].split(";") if query.strip()]
verdicts, deviations = [result.fetchall() for result in results]
print(sorted((row[1], row[2], row[4]) for row in verdicts))
print(sorted((row[1], row[2], row[5]) for row in deviations))
exec(python[0])
print(months.collect().select("experiment", "arm", "runs").sort("arm").rows())
"#;
        let has_both = Command::new("python3").args(["-c", "import duckdb, polars"]).output();
        if !has_both.is_ok_and(|output| output.status.success()) {
            let test = "others_read_the_data_set_as_the_documentation_says";
            plimsoll_testing::skip(test, "python3 has no duckdb and polars");
            return;
        }
        let laboratory = Laboratory::new();
        // Twice as fast: certain in 6 blocks. The other one has a factor, and so a column of its own.
        let two = "
plimsoll: 1
name: two
workload: {records: 2, preset: c}
defaults: {engine: simulated, service: constant}
arms: {slow: {service_mean: 20ms}, fast: {service_mean: 10ms}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 60s, operations: 20, blocks: 6}
compare: {primary: [throughput]}";
        let grid = "
plimsoll: 1
name: grid
workload: {records: 2, preset: c}
defaults: {engine: simulated, service: constant}
factors: {service_mean: [20ms, 40ms]}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 60s, operations: 10, blocks: 1}";
        laboratory.experiment(two);
        laboratory.experiment(grid);
        let said = laboratory.run(&["export", "--all", "--to", "dataset"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let output = Command::new("python3")
            .args(["-c", READ])
            .arg(checkout("docs/exports.md"))
            .current_dir(laboratory.path("."))
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{err}");
        let out = String::from_utf8(output.stdout).unwrap();
        assert_contains(&out, "('two', 'fast', 'better')");
        let arms =
            [("grid", "20ms", 1), ("grid", "40ms", 1), ("two", "fast", 6), ("two", "slow", 6)];
        for (experiment, arm, runs) in arms {
            let row = format!("('{experiment}', '{arm}', {runs})");
            assert_eq!(out.matches(&row).count(), 2, "{row}: {out}");
        }
    }

    #[test]
    fn a_data_set_of_the_store_is_brought_up_to_date() {
        let (laboratory, first) = with_a_record();
        let export = ["export", "--all", "--to", "dataset"];
        let said = laboratory.run(&export);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_eq!(said.out, "dataset: 1 new, 0 as they were\n");
        let folder = laboratory.path("dataset");
        let month = &first.started_at[..7];
        let written = below(&folder);
        // The list, and four tables: one arm has no comparison, and no line was searched.
        assert_eq!(written.len(), 5, "{written:?}");
        for table in ["experiments", "figures", "points", "slices"] {
            let start = format!("{table}/month={month}/{}-", first.id);
            let is_it = |name: &&String| name.starts_with(&start) && name.ends_with(".parquet");
            assert_eq!(written.iter().filter(is_it).count(), 1, "{written:?}");
        }
        fs::write(folder.join("points/theirs.parquet"), "theirs").unwrap();
        let modified = |name: &str| fs::metadata(folder.join(name)).unwrap().modified().unwrap();
        let before = modified(&written[1]);

        laboratory.experiment(TINY);
        let second = laboratory.record().id;
        let said = laboratory.run(&export);
        assert_eq!(said.out, "dataset: 1 new, 1 as they were\n");
        assert_eq!(modified(&written[1]), before);
        assert_eq!(below(&folder).len(), 5 + 4 + 1);

        let mut store = Store::open(&laboratory.store()).unwrap();
        store.delete(&first.id).unwrap();
        drop(store);
        let said = laboratory.run(&[export.as_slice(), &["--json"]].concat());
        let document: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!((&document["new"], &document["kept"]), (&0.into(), &1.into()));
        let left = below(&folder);
        assert_eq!(left.len(), 1 + 4 + 1, "{left:?}");
        assert!(!left.iter().any(|name| name.contains(&first.id)));
        assert!(left.iter().any(|name| name.contains(&second)));
        assert!(left.contains(&"points/theirs.parquet".to_owned()));

        let both = laboratory.run(&["export", "last", "--all"]);
        assert_eq!(both.code, Some(2), "{both:?}");
    }

    #[test]
    fn a_junit_report_is_never_empty() {
        let (laboratory, _) = with_a_record();
        let said = laboratory.run(&["report", "--junit", "report.xml"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let report = fs::read_to_string(laboratory.path("report.xml")).unwrap();
        assert_contains(&report, "tests=\"1\" skipped=\"0\" failures=\"0\" errors=\"0\"");
        assert_contains(&report, "the measurement is valid");
    }
}
