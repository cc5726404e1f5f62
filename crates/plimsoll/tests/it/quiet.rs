//! Other programs on the machine: looked for before a run, kept in the record, waited for with `--wait-for-quiet`.

use crate::laboratory::Laboratory;
use plimsoll_testing::{assert_contains, assert_starts};
use std::process::{Child, Command, Stdio};

const EXPERIMENT: &str = "
plimsoll: 1
name: quiet
workload: {records: 10, preset: c}
arms: {one: {engine: noop}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 100ms, blocks: 1}
";

/// A program that keeps a processor busy until it is dropped.
pub struct Busy(Child);

impl Busy {
    pub fn start() -> Self {
        let spin = ["-c", "while :; do :; done"];
        let child = Command::new("sh").args(spin).stdin(Stdio::null()).spawn();
        Self(child.unwrap())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_machine_that_does_not_become_quiet_is_named() {
    let laboratory = Laboratory::new();
    laboratory.write("experiment.yaml", EXPERIMENT);
    // On any machine of up to 16 processors these use more than 5 % of it.
    let busy = [Busy::start(), Busy::start()];
    let said = laboratory.run(&["run", "experiment.yaml", "--wait-quiet", "10ms"]);
    drop(busy);
    assert_eq!(said.code, Some(1), "{said:?}");
    let words = "the machine did not become quiet; other programs use ";
    assert_contains(&said.err, words);
    assert!(laboratory.record_so_far().is_none());
}

mod slow {
    use super::*;

    #[test]
    fn what_others_use_is_in_the_record() {
        let laboratory = Laboratory::new();
        let said = laboratory.experiment(EXPERIMENT);
        let record = laboratory.record();
        let before = record.machine.foreign.as_ref().unwrap();
        assert!(before.elapsed_ns >= 500_000_000, "{before:?} {said:?}");
        let end = record.runs[0].points[0].end.as_ref().unwrap();
        let during = end.foreign.as_ref().unwrap();
        assert!(during.elapsed_ns >= 100_000_000, "{during:?}");
        let named: u64 = during.programs.iter().map(|one| one.cpu_ns).sum();
        assert!(named <= during.cpu_ns);
    }

    #[test]
    fn too_few_blocks_are_said_first_and_not_begun_where_it_takes_long() {
        let laboratory = Laboratory::new();
        let experiment = |duration: &str, blocks: u32| {
            format!(
                "
plimsoll: 1
name: few
workload: {{records: 10, preset: c}}
defaults: {{engine: noop}}
arms: {{one: , two: }}
load: {{closed: {{threads: 1}}}}
compare: {{primary: [throughput, response.p99]}}
measurement: {{warm_up: 0s, duration: {duration}, blocks: {blocks}}}
"
            )
        };
        let first = "No verdict is possible with 6 blocks: at least 7 are needed to judge 2 metrics together. Write `blocks: 7` or more.\n";
        laboratory.write("experiment.yaml", experiment("2m", 6));
        let planned = laboratory.run(&["plan", "experiment.yaml"]);
        assert_starts(&planned.out, first);
        let refused = laboratory.run(&["run", "experiment.yaml"]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert_starts(&refused.err, first);
        assert_contains(&refused.err, "--anyway starts it");
        assert!(laboratory.record_so_far().is_none());
        let short = laboratory.experiment(experiment("10ms", 6));
        assert_starts(&short.err, first);
        assert_eq!(laboratory.record().runs.len(), 12);
        laboratory.write("experiment.yaml", experiment("2m", 7));
        let enough = laboratory.run(&["plan", "experiment.yaml"]);
        assert!(!enough.out.contains("No verdict"), "{}", enough.out);
    }
}
