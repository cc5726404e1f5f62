//! What is printed and exported: for people, for programs, and into pipes that close.

use crate::laboratory::{Laboratory, Said, page_of};
use crate::stores::with_a_record;
use hdrhistogram::serialization::Deserializer;
use plimsoll_record::{ExperimentRecord, Status};
use plimsoll_testing::{assert_contains, assert_ends, assert_starts};
use serde_json::Value;
use std::fs;

const TWO_ARMS: &str = "
plimsoll: 1
name: two-arms
workload: {records: 5, preset: a}
defaults: {engine: simulated, service: constant, service_mean: 20ms}
arms: {slow: {service_mean: 30ms}, fast: }
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 60s, operations: 10, blocks: 2}
compare: {primary: throughput}
";

fn two_arms() -> (Laboratory, ExperimentRecord) {
    let laboratory = Laboratory::new();
    let said = laboratory.experiment(TWO_ARMS);
    assert_eq!(said.code, Some(0), "{said:?}");
    let record = laboratory.record();
    (laboratory, record)
}

fn json(said: &Said) -> Value {
    let found = (said.code, said.err.as_str());
    assert_eq!(found, (Some(0), ""), "{}", said.out);
    serde_json::from_str(&said.out).unwrap()
}

/// Operations in a histogram of a log.
fn decode(packed: &str) -> u64 {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    let bytes = STANDARD.decode(packed).unwrap();
    let histogram = Deserializer::new().deserialize(&mut bytes.as_slice());
    let histogram: hdrhistogram::Histogram<u64> = histogram.unwrap();
    histogram.len()
}

#[test]
fn a_file_that_is_no_experiment_ends_as_other_bad_ones_do() {
    let laboratory = Laboratory::new();
    laboratory.write("binary.yaml", [0xff, 0xfe, 0, 1]);
    laboratory.write("large.yaml", vec![b'a'; 2 << 20]);
    std::fs::create_dir(laboratory.path("folder.yaml")).unwrap();
    for file in ["binary.yaml", "large.yaml", "folder.yaml"] {
        for command in ["plan", "run"] {
            let said = laboratory.run(&[command, file]);
            assert_eq!(said.code, Some(104), "{command} {file}: {said:?}");
            assert_contains(&said.err, file);
        }
    }
    assert_eq!(laboratory.run(&["plan", "missing.yaml"]).code, Some(1));
}

#[test]
fn a_manual_page_names_no_other() {
    let laboratory = Laboratory::new();
    let page = laboratory.run(&["man"]).out;
    assert_contains(&page, "plimsoll run");
    assert_eq!(page.matches("(1)").count(), 0, "{page}");
    laboratory.write("one.yaml", "plimsoll: 1\nname: one\nworkload: {records: 2, preset: c}\narms: {one: {engine: noop}}\nload: {closed: {threads: 1}}\n");
    let plan = laboratory.run(&["plan", "one.yaml"]).out;
    assert!(plan.ends_with('\n') && !plan.ends_with("\n\n"), "{plan:?}");
}

mod slow {
    use super::*;

    #[test]
    fn everything_prints_json() {
        let (laboratory, record) = two_arms();
        let report = json(&laboratory.run(&["report", "--json"]));
        assert_eq!(report["arms"].as_array().unwrap().len(), 2);
        let comparisons = json(&laboratory.run(&["compare", "last", "--json"]));
        let mut comparisons = comparisons.as_array().unwrap().iter();
        assert!(comparisons.any(|one| one["primary"] == true));
        let (slow, fast) = (format!("{}:slow", record.id), format!("{}:fast", record.id));
        let unpaired = json(&laboratory.run(&["compare", &slow, &fast, "--json"]));
        assert!(!unpaired["comparisons"].as_array().unwrap().is_empty());
        let list = json(&laboratory.run(&["list", "--json"]));
        assert_eq!(list[0]["id"], record.id.as_str());
        assert_eq!(list[0]["runs_finished"], Value::from(4));
        assert_eq!(list[0]["runs_planned"], Value::from(4));
        let plan = json(&laboratory.run(&["plan", "experiment.yaml", "--json"]));
        assert_eq!(plan["needs"]["runs"], 4);
        let check = laboratory.run(&["check", "--json"]);
        serde_json::from_str::<Value>(&check.out).unwrap();

        // The talk of a run goes to the standard error, so its output is the analysis and nothing else.
        let run = laboratory.run(&["run", "experiment.yaml", "--json"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let analysis: Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(analysis["arms"].as_array().unwrap().len(), 2);
        assert_contains(&run.err, "experiment two-arms");
        let quiet = laboratory.run(&["run", "experiment.yaml", "--json", "--quiet"]);
        assert_eq!(quiet.err, "");
    }

    #[test]
    fn arms_are_compared_within_and_between_records() {
        let (laboratory, record) = two_arms();
        let id = &record.id;
        let within = laboratory.run(&["compare", "two-arms"]);
        assert_eq!(within.code, Some(0), "{within:?}");
        assert_contains(&within.out, "fast against slow");

        let (slow, fast) = (format!("{id}:slow"), format!("{}:fast", &id[..6]));
        let between = laboratory.run(&["compare", &slow, &fast]);
        assert_eq!((between.code, between.err.as_str()), (Some(0), ""));
        assert!(!between.out.contains("paired"), "{}", between.out);

        for (second, words) in
            [(format!("{id}:medium"), "slow, fast"), (id.clone(), "say which arm of")]
        {
            let refused = laboratory.run(&["compare", &slow, &second]);
            assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""));
            assert_contains(&refused.err, words);
            assert_eq!(refused.err.lines().count(), 1, "{}", refused.err);
        }
    }

    #[test]
    fn an_export_can_be_read_and_is_never_overwritten() {
        let (laboratory, record) = two_arms();
        let said = laboratory.run(&["export", "last", "--to", "files"]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
        let folder = laboratory.path("files");
        let names = crate::exports::names(&folder);
        // Three tables as CSV and as Parquet, five documents, a log for each of four runs.
        assert_eq!(names.len(), 15, "{names:?}");
        for name in &names {
            assert!(said.out.contains(name.as_str()), "{name} is not announced");
        }

        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let found = ExperimentRecord::from_json(&text("record.json")).unwrap();
        assert_eq!(found, record);
        serde_json::from_str::<Value>(&text("analysis.json")).unwrap();
        for (name, least) in [("points.csv", 4), ("slices.csv", 4)] {
            let text = text(name);
            let mut lines = text.lines();
            let columns = lines.next().unwrap().split(',').count();
            let rows: Vec<&str> = lines.collect();
            assert!(rows.len() >= least, "{name}: {}", rows.len());
            // No name or message in this record has a comma.
            let is_whole = |row: &&str| row.split(',').count() == columns;
            assert!(rows.iter().all(is_whole), "{name}");
        }

        // The logs hold every operation that the record has, by the format's own reader.
        let mut logged = 0;
        for name in names.iter().filter(|name| name.ends_with(".hlog")) {
            for line in text(name).lines().filter(|line| line.starts_with("Tag=")) {
                let packed = line.rsplit(',').next().unwrap();
                logged += decode(packed);
            }
        }
        let mut recorded = 0;
        for run in &record.runs {
            for point in run.load.iter().chain(&run.points) {
                for part in point.slices.iter().flat_map(|slice| &slice.operations) {
                    assert_eq!(part.status, Status::Ok);
                    recorded += part.latencies.count();
                }
            }
        }
        assert_eq!(logged, recorded);
        // Four runs with ten operations, and five records stored in each.
        assert!(logged >= 60, "{logged}");

        let again = laboratory.run(&["export", "last", "--to", "files"]);
        assert_eq!((again.code, again.out.as_str()), (Some(1), ""));
        let words = "existing files are never overwritten, name another folder with --to";
        assert_contains(&again.err, words);
        let found = ExperimentRecord::from_json(&text("record.json")).unwrap();
        assert_eq!(found, record);
    }

    /// What is shown while measuring must not end the measuring.
    #[test]
    fn a_run_outlives_those_who_watch_it() {
        let laboratory = Laboratory::new();
        laboratory.write("experiment.yaml", TWO_ARMS);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let status = laboratory
            .command(&["run", "experiment.yaml"])
            .stdout(writer.try_clone().unwrap())
            .stderr(writer)
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(0));
        assert_eq!(crate::laboratory::finished(&laboratory.record()), 4);
    }

    /// The list shows what an experiment came to, and earlier ones have names.
    #[test]
    fn experiments_are_listed_with_their_verdict_and_named_by_how_long_ago_they_were() {
        let laboratory = Laboratory::new();
        let text = |name: &str, threshold: &str| {
            format!(
                "
plimsoll: 1
name: {name}
workload: {{records: 2, preset: c}}
arms: {{one: {{engine: simulated, service: constant, service_mean: 5ms}}}}
load: {{closed: {{threads: 1}}}}
load_phase: {{threads: 1}}
measurement: {{warm_up: 0s, duration: 60s, operations: 10, blocks: 1, seed: 1}}
{threshold}"
            )
        };
        laboratory.experiment(text("first", ""));
        let first = laboratory.record().id;
        laboratory.experiment(text("second", "thresholds: [throughput >= 1M]"));
        let list = laboratory.run(&["list"]).out;
        let row = |name: &str| {
            let mut lines = list.lines();
            let found = lines.find(|line| line.contains(&format!(" {name}: one")));
            found.unwrap_or_else(|| panic!("{list}")).to_owned()
        };
        assert!(row("second").contains(" threshold failed "), "{list}");
        assert!(row("first").contains(" no comparison "), "{list}");
        for (name, id) in [("last~1", Some(&first)), ("last~2", None), ("last~x", None)] {
            let said = laboratory.run(&["report", name, "--json"]);
            match id {
                Some(id) => assert_contains(&said.out, &format!("\"id\": \"{id}\"")),
                None => assert_eq!(said.code, Some(1), "{said:?}"),
            }
        }
    }

    #[test]
    fn a_list_names_what_there_is() {
        let (laboratory, record) = with_a_record();
        let list = laboratory.run(&["list"]);
        let row = list.out.lines().nth(1).unwrap();
        assert_starts(row, &record.id);
        assert_contains(row, "finished");
        assert_ends(row, "tiny: one");
        assert_eq!(list.out.lines().count(), 2);
        assert_eq!(laboratory.run(&["list", "--unfinished"]).out, "");
        assert_eq!(laboratory.run(&["list", "--name", "other"]).out, "");
    }

    /// As `plimsoll report | head -1`, whose reader is gone before the writer begins.
    #[test]
    fn a_reader_that_goes_away_is_no_failure() {
        let (laboratory, _) = with_a_record();
        for arguments in [
            &["report"][..],
            &["report", "--json"],
            &["list"],
            &["plan", "experiment.yaml"],
            &["schema"],
            &["completions", "bash"],
            &["man"],
        ] {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let output = laboratory.command(arguments).stdout(writer).output();
            let Said { code, err, .. } = Said::of(output.unwrap());
            assert_eq!((code, err.as_str()), (Some(0), ""), "{arguments:?}");
        }
    }

    #[test]
    fn a_full_disk_under_the_output_is_said() {
        let (laboratory, _) = with_a_record();
        for arguments in
            [&["report"][..], &["list"], &["plan", "experiment.yaml"], &["schema"], &["man"]]
        {
            let full = fs::File::options().write(true).open("/dev/full").unwrap();
            let output = laboratory.command(arguments).stdout(full).output();
            let Said { code, err, .. } = Said::of(output.unwrap());
            assert_eq!(code, Some(1), "{arguments:?}: {err}");
            assert_starts(&err, "plimsoll: ");
            assert_contains(&err, "No space left on device");
            assert_eq!(err.lines().count(), 1, "{err}");
        }
    }

    /// What scrolls away is said again at the end: the verdict, whether it can be trusted, and where the page is.
    #[test]
    fn the_last_lines_are_the_verdict_its_validity_and_the_page() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: last
workload: {records: 2, preset: c}
arms: {one: {engine: simulated, service: constant, service_mean: 5ms}}
load: {closed: {threads: 1}}
load_phase: {threads: 1}
measurement: {warm_up: 0s, duration: 60s, operations: 40, blocks: 1, seed: 1}";
        let said = laboratory.experiment(text);
        let again = laboratory.run(&["report", "--all"]);
        for out in [&said.out, &again.out] {
            let lines: Vec<&str> = out.lines().collect();
            let [.., trust, page] = lines.as_slice() else { panic!("{out}") };
            assert!(trust.starts_with("Can you trust this? "), "{out}");
            assert!(page.starts_with("Page: file:///"), "{out}");
            assert!(page_of(out).is_file());
            let begin = out.rfind("\n\n").unwrap();
            assert_starts(out[begin..].trim_start(), "Under workload c, one ");
        }
        let brief = laboratory.run(&["report"]).out;
        let lines: Vec<&str> = brief.lines().collect();
        assert!(lines.len() <= 24, "{brief}");
        let [_, answer, .., trust, page, more] = lines.as_slice() else { panic!("{brief}") };
        assert_eq!(*answer, "", "{brief}");
        assert_starts(lines[2], "  Under workload c, one ");
        assert!(trust.starts_with("Can you trust this? "), "{brief}");
        assert!(page.starts_with("Page: file:///"), "{brief}");
        assert_starts(more, "All figures: plimsoll report ");
        assert_ends(more, " --all");
    }

    #[test]
    fn the_first_help_lists_few_commands_and_old_names_still_work() {
        let laboratory = Laboratory::new();
        let help = laboratory.run(&["--help"]);
        let listed = help.out.split("Ask:").nth(1).unwrap().split("Also:").next().unwrap();
        let commands = listed.lines().filter(|line| line.starts_with("  ")).count();
        assert!((14..=17).contains(&commands), "{}", help.out);
        for line in help.out.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
        for (old, new) in [
            (&["audit", "no-such-file"][..], "foreign audit"),
            (&["import", "no-such-file"], "foreign import"),
            (&["hosts", "no-such-file"], "remote hosts"),
            (&["diskmap", "no-such-file", "--to", "map.png"], "disk map"),
            (&["rm", "no-such-id"], "clean"),
            (&["ycsb", "load", "basic", "-P", "no-such-file"], "foreign ycsb"),
        ] {
            let said = laboratory.run(old);
            assert_starts(&said.err, &format!("`plimsoll {}` is `plimsoll {new}` now", old[0]));
            let words: Vec<&str> = new.split(' ').chain(old[1..].iter().copied()).collect();
            let renamed = laboratory.run(&words);
            assert_eq!(said.code, renamed.code, "{said:?} {renamed:?}");
            assert_ends(&said.err, &renamed.err);
        }
    }
}
