//! A grid as its users meet it: in parts, on the page, and as columns.

use crate::laboratory::{Laboratory, finished};
use plimsoll_record::ExperimentState;
use plimsoll_testing::assert_contains;

/// Four cells in two blocks, on an engine that keeps no data.
const GRID: &str = "
plimsoll: 1
name: grid
workload: {records: 10, preset: c}
defaults: {engine: simulated, service: constant}
factors:
  service_mean: [1ms, 2ms]
  servers: [1, 2]
load: {closed: {threads: 2}}
measurement: {warm_up: 0s, duration: 200ms, blocks: 2}
";

#[test]
fn a_part_of_a_grid_runs_now_and_the_rest_later_in_one_experiment() {
    let laboratory = Laboratory::new();
    laboratory.write("experiment.yaml", GRID);
    let part = laboratory.run(&[
        "run",
        "experiment.yaml",
        "--only",
        "servers=2",
        "--only",
        "service_mean=1ms",
    ]);
    assert_contains(
        &part.err,
        "part of the experiment: 6 of 8 runs are missing; the same command without --only makes them",
    );
    let before = laboratory.record();
    assert_eq!(before.state, ExperimentState::Unfinished);
    assert!(before.runs.iter().all(|run| run.arm == "1ms/2"));
    assert_eq!(finished(&before), 2);

    let more = laboratory.run(&[
        "run",
        "experiment.yaml",
        "--only",
        "2ms/1",
        "--only",
        "servers=2",
    ]);
    assert_contains(&more.err, "goes on: 2 of 8 runs are there");
    assert_eq!(finished(&laboratory.record()), 6);

    let rest = laboratory.run(&["run", "experiment.yaml"]);
    assert_contains(&rest.err, "goes on: 6 of 8 runs are there");
    let after = laboratory.record();
    assert_eq!(
        (after.id.as_str(), after.state),
        (before.id.as_str(), ExperimentState::Finished)
    );
    assert_eq!(after.runs[..2], before.runs[..]);
}

#[test]
fn a_part_that_there_is_not_is_refused_with_what_there_is() {
    let laboratory = Laboratory::new();
    laboratory.write("experiment.yaml", GRID);
    for (only, words) in [
        ("servers=3", "servers has no level 3; its levels are 1, 2"),
        (
            "server=1",
            "there is no factor server; the factors are service_mean, servers",
        ),
        (
            "3ms",
            "there is no such arm; the factors are service_mean, servers",
        ),
    ] {
        let refused = laboratory.run(&["run", "experiment.yaml", "--only", only]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert_contains(&refused.err, words);
    }
    let plan = laboratory.run(&["plan", "experiment.yaml"]);
    assert_eq!(plan.code, Some(0), "{plan:?}");
    assert_contains(&plan.out, "service_mean \\ servers");
}

#[test]
fn levels_are_columns_of_every_table() {
    let laboratory = Laboratory::new();
    laboratory.write("experiment.yaml", GRID);
    laboratory.run(&["run", "experiment.yaml", "--quiet"]);
    let exported = laboratory.run(&["export", "--only", "csv", "--to", "tables"]);
    assert_eq!(exported.code, Some(0), "{exported:?}");
    for table in ["points.csv", "slices.csv", "figures.csv"] {
        let text = std::fs::read_to_string(laboratory.path(&format!("tables/{table}"))).unwrap();
        let mut lines = text.lines();
        let head = lines.next().unwrap();
        let levels = "factor.service_mean,amount.service_mean,factor.servers,amount.servers";
        assert!(head.ends_with(levels), "{table}: {head}");
        let arm = head.split(',').position(|name| name == "arm").unwrap();
        let mut rows = 0;
        for line in lines {
            let cells: Vec<&str> = line.split(',').collect();
            let (mean, servers) = cells[arm].split_once('/').unwrap();
            let nanos = if mean == "1ms" { "1000000" } else { "2000000" };
            assert_eq!(
                cells[cells.len() - 4..],
                [mean, nanos, servers, servers],
                "{table}"
            );
            rows += 1;
        }
        assert!(rows > 0, "{table}");
    }
}
