//! A grid as its users meet it: in parts, on the page, and as columns.

use crate::laboratory::{Laboratory, finished};
use plimsoll_judge::Analysis;
use plimsoll_record::{ExperimentRecord, ExperimentState};
use plimsoll_store::{Filter, Store, Summary};
use plimsoll_testing::assert_contains;
use rustix::process::Signal;

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
fn a_part_that_there_is_not_is_refused_with_what_there_is() {
    let laboratory = Laboratory::new();
    laboratory.write("experiment.yaml", GRID);
    for (only, words) in [
        ("servers=3", "servers has no level 3; its levels are 1, 2"),
        ("server=1", "there is no factor server; the factors are service_mean, servers"),
        ("3ms", "there is no such arm; the factors are service_mean, servers"),
    ] {
        let refused = laboratory.run(&["run", "experiment.yaml", "--only", only]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert_contains(&refused.err, words);
    }
    let plan = laboratory.run(&["plan", "experiment.yaml"]);
    assert_eq!(plan.code, Some(0), "{plan:?}");
    assert_contains(&plan.out, "service_mean \\ servers");
}

/// One server and one thread: throughput is one by the service time, so that it falls most at the shortest.
const REFINED: &str = "
plimsoll: 1
name: refined
workload: {records: 10, preset: c}
defaults: {engine: simulated, service: constant}
factors: {service_mean: {from: 10ms, to: 70ms, levels: 3, refine: 10ms}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 600ms, blocks: 1}
";

fn experiments(laboratory: &Laboratory) -> Vec<Summary> {
    let store = Store::open_read_only(&laboratory.store()).unwrap();
    store.list(&Filter::default()).unwrap()
}

fn arms(record: &ExperimentRecord) -> Vec<String> {
    let plan: plimsoll_plan::Plan = serde_json::from_value(record.plan.clone()).unwrap();
    plan.arms.into_iter().map(|arm| arm.name).collect()
}

mod slow {
    use super::*;

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
            "part of the experiment: 6 of 8 runs are missing; the same command without --only measures them",
        );
        let before = laboratory.record();
        assert_eq!(before.state, ExperimentState::Unfinished);
        assert!(before.runs.iter().all(|run| run.arm == "1ms/2"));
        assert_eq!(finished(&before), 2);

        let more =
            laboratory.run(&["run", "experiment.yaml", "--only", "2ms/1", "--only", "servers=2"]);
        assert_contains(&more.err, "resumes: 2 of 8 runs are done");
        assert_eq!(finished(&laboratory.record()), 6);

        let rest = laboratory.run(&["run", "experiment.yaml"]);
        assert_contains(&rest.err, "resumes: 6 of 8 runs are done");
        let after = laboratory.record();
        assert_eq!(
            (after.id.as_str(), after.state),
            (before.id.as_str(), ExperimentState::Finished)
        );
        assert_eq!(after.runs[..2], before.runs[..]);
    }

    #[test]
    fn levels_are_columns_of_every_table() {
        let laboratory = Laboratory::new();
        laboratory.write("experiment.yaml", GRID);
        laboratory.run(&["run", "experiment.yaml", "--quiet"]);
        let exported = laboratory.run(&["export", "--only", "csv", "--to", "tables"]);
        assert_eq!(exported.code, Some(0), "{exported:?}");
        for table in ["points.csv", "slices.csv", "figures.csv"] {
            let text =
                std::fs::read_to_string(laboratory.path(&format!("tables/{table}"))).unwrap();
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
                assert_eq!(cells[cells.len() - 4..], [mean, nanos, servers, servers], "{table}");
                rows += 1;
            }
            assert!(rows > 0, "{table}");
        }
    }

    #[test]
    fn scouting_runs_choose_levels_and_are_used_again_until_the_experiment_is_over() {
        let laboratory = Laboratory::new();
        laboratory.write("experiment.yaml", REFINED);
        let plan = laboratory.run(&["plan", "experiment.yaml"]);
        assert_contains(&plan.out, "refined to 10.0 ms");
        let refused = laboratory.run(&["run", "experiment.yaml", "--only", "10ms"]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert_contains(
            &refused.err,
            "the levels of service_mean are chosen by what all cells measured",
        );

        // Stopped while it scouts.
        let mut running = laboratory.start_experiment(REFINED);
        laboratory.wait_for_record(&mut running, |record| finished(record) >= 2);
        running.send(Signal::INT);
        assert_eq!(running.end().code, Some(105));
        let scouting = laboratory.record();
        assert_eq!(scouting.name, "refined-scouting");
        assert_eq!(scouting.state, ExperimentState::Unfinished);

        let run = laboratory.run(&["run", "experiment.yaml"]);
        assert_contains(&run.err, "resumes: ");
        // Between 10 and 40 ms at 20: then 10 and 20 are as near as requested. What a busy machine makes of the causes may add others.
        let experiments = experiments(&laboratory);
        let is_finished = |one: &Summary| one.state == ExperimentState::Finished;
        assert!(experiments.iter().all(is_finished));
        let [last, scouts @ ..] = experiments.as_slice() else {
            panic!("nothing was run");
        };
        assert_eq!(last.name, "refined");
        assert!(scouts.iter().all(|one| one.name == "refined-scouting"));
        assert!(scouts.len() >= 2, "{scouts:?}");
        let first = &scouts[scouts.len() - 1];
        assert_eq!((&first.id, first.runs_finished), (&scouting.id, 6));
        let record = laboratory.record();
        let levels = arms(&record);
        for level in ["10ms", "20ms", "40ms", "70ms"] {
            assert!(levels.iter().any(|one| one == level), "{levels:?}");
        }
        assert_eq!(finished(&record), levels.len());
        let report = laboratory.run(&["report", "--json"]);
        let analysis: Analysis = serde_json::from_str(&report.out).unwrap();
        let sentence = analysis.factors.unwrap().scouting.unwrap();
        assert!(sentence.starts_with("Scouting chose the levels 20ms"), "{sentence}");
        assert_contains(&sentence, &first.id);

        // It is over, so the same command begins again, with scouts of its own.
        laboratory.run(&["run", "experiment.yaml", "--quiet"]);
        assert!(self::experiments(&laboratory).len() >= experiments.len() + 3);
    }
}
