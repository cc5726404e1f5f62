//! What can be wrong with an experiment file: each with its exit code, and its message to the letter.

use crate::laboratory::{Laboratory, Said};

const GOOD: &str = "plimsoll: 1
name: good
workload: {records: 100, preset: c}
defaults: {engine: noop}
arms:
  one:
load:
  closed: {threads: [1, 2]}
measurement: {warm_up: 0s, duration: 20ms, blocks: 1}
";

/// What is said of the good file with something replaced. Nothing may be run, and there is no store to write into.
fn refused(replace: &str, by: &str) -> String {
    let laboratory = Laboratory::new();
    let text = GOOD.replace(replace, by);
    assert_ne!(text, GOOD);
    let Said { code, out, err } = laboratory.experiment(&text);
    assert_eq!((code, out.as_str()), (Some(104), ""), "{err}");
    assert!(!laboratory.store().exists());
    let planned = laboratory.run(&["plan", "experiment.yaml"]);
    let found = (planned.code, &planned.err);
    assert_eq!(found, (Some(104), &err), "plan says the same");
    laboratory.plain(&err)
}

#[test]
fn the_good_file_is_good() {
    let laboratory = Laboratory::new();
    laboratory.write("experiment.yaml", GOOD);
    let said = laboratory.run(&["plan", "experiment.yaml"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
}

#[test]
fn an_unknown_key() {
    insta::assert_snapshot!(refused("warm_up", "warmup"));
}

#[test]
fn zero_threads() {
    insta::assert_snapshot!(refused("[1, 2]", "[0, 2]"));
}

#[test]
fn a_negative_rate() {
    insta::assert_snapshot!(refused("closed: {threads: [1, 2]}", "open: {rates: [-5, 10k]}"));
}

#[test]
fn a_setting_that_another_does_not_allow() {
    insta::assert_snapshot!(refused("{engine: noop}", "{engine: wiredtiger, dirty_target: 20%}"));
}

#[test]
fn a_cache_larger_than_memory() {
    let said = refused("{engine: noop}", "{engine: wiredtiger, cache_size: 10TiB}");
    let (before, after) =
        said.split_once("memory of ").expect("it names the memory of the machine");
    let (_, after) = after.split_once('B').expect("a size");
    let (after, advice) = after.split_once("at most about ").expect("advice");
    let (_, advice) = advice.split_once("B ").expect("a size");
    insta::assert_snapshot!(format!(
        "{before}memory of [memory]{after}at most about [less] {advice}"
    ));
}

#[test]
fn an_objective_that_names_no_metric() {
    insta::assert_snapshot!(refused("measurement:", "objective: {latency: 5ms}\nmeasurement:"));
}

#[test]
fn a_threshold_that_names_no_metric() {
    insta::assert_snapshot!(refused("measurement:", "thresholds: [speed >= 10k]\nmeasurement:"));
}

#[test]
fn an_unknown_engine() {
    insta::assert_snapshot!(refused("engine: noop", "engine: wiretiger"));
}

#[test]
fn a_later_version_of_the_format() {
    insta::assert_snapshot!(refused("plimsoll: 1", "plimsoll: 2"));
}

#[test]
fn no_yaml_at_all() {
    insta::assert_snapshot!(refused("arms:\n", "arms: [one\n"));
}

#[test]
fn many_mistakes_are_said_at_once() {
    let laboratory = Laboratory::new();
    let Said { code, err, .. } = laboratory.experiment(
        "plimsoll: 1
name: many mistakes
workload: {records: -1, preset: g}
arms: {one: {engine: noop, cache_size: 1GB}}
load: {closed: {threads: 0}}
measurement: {duration: 5, blocks: 0, sede: 1}
",
    );
    assert_eq!(code, Some(104));
    for wrong in
        ["many mistakes", "-1", "`g`", "cache_size", "threads", "duration", "blocks", "sede"]
    {
        assert!(err.contains(wrong), "{wrong} is missing in {err}");
    }
    insta::assert_snapshot!(laboratory.plain(&err));
}

#[test]
fn mistakes_as_json() {
    let laboratory = Laboratory::new();
    laboratory.write("experiment.yaml", GOOD.replace("warm_up", "warmup"));
    let said = laboratory.run(&["plan", "experiment.yaml", "--json"]);
    assert_eq!((said.code, said.err.as_str()), (Some(104), ""));
    let json: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    insta::assert_snapshot!(format!("{json:#}"));
}

#[test]
fn files_that_cannot_be_read() {
    let laboratory = Laboratory::new();
    laboratory.write("binary.yaml", b"name: \xff\xfe\n");
    std::fs::create_dir(laboratory.path("folder")).unwrap();
    let mut said = String::new();
    for (file, code) in [("missing.yaml", 1), ("folder", 104), ("binary.yaml", 104)] {
        let refused = laboratory.run(&["run", file]);
        let found = (refused.code, refused.out.as_str());
        assert_eq!(found, (Some(code), ""), "{file}");
        said.push_str(&refused.err);
    }
    insta::assert_snapshot!(said);
}

#[test]
fn wrong_usage() {
    let laboratory = Laboratory::new();
    laboratory.write("experiment.yaml", GOOD);
    for arguments in [
        &["run"][..],
        &["walk"],
        &["run", "experiment.yaml", "--blocks", "some"],
        &["run", "experiment.yaml", "--duration", "5"],
        // Blocks are counted from 1.
        &["disk", "map", "last", "--block", "0", "--to", "map.png"],
    ] {
        let said = laboratory.run(arguments);
        let found = (said.code, said.out.as_str());
        assert_eq!(found, (Some(2), ""), "{arguments:?}");
        assert!(said.err.starts_with("error: "), "{}", said.err);
    }
}
