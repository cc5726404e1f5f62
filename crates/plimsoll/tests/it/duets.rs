//! Duets: both arms of a pair at the same time, each on a half of the processors, on real engines.

use crate::killing::role;
use crate::laboratory::{Laboratory, Running, parent, send, wait_until};
use plimsoll_judge::analyse;
use plimsoll_record::{ExperimentRecord, Half, RunRecord, RunState};
use plimsoll_testing::{Need, SERVERS, needs};
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Two pairs on emulated disks without limits, so that nothing has to be calibrated.
const ON_DISKS: &str = "
plimsoll: 1
name: duets
workload: {records: 2k, preset: a}
defaults:
  engine: wiredtiger
  cache_size: 16MiB
  disk: {capacity: 1GiB}
  filesystem: xfs
arms: {one: , other: , third: {filesystem: ext4}}
load: {closed: {threads: 2}}
measurement: {warm_up: 0s, duration: 1s, blocks: 2, pairing: duet}
compare: {primary: [throughput], at: {threads: 2}}
";

/// The processors that a process may use.
fn processors(process: u32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(list.trim().to_owned())
}

/// By what a process is, the sets of processors that several of them have at the same time.
fn halves_of(laboratory: &Laboratory, running: &Running) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for process in laboratory.processes() {
        let role = role(process, running.id());
        found.entry(role).or_default().extend(processors(process));
    }
    found
}

/// Waits until there are two of each on two halves.
fn wait_for_two(laboratory: &Laboratory, running: &Running, roles: &[&str]) {
    wait_until("two of each, on halves of their own", || {
        let found = halves_of(laboratory, running);
        let is_halved = |role: &&str| found.get(*role).is_some_and(|halves| halves.len() == 2);
        roles.iter().all(is_halved)
    });
}

/// The runs of each block, in the order of the halves.
fn blocks(record: &ExperimentRecord) -> Vec<[&RunRecord; 2]> {
    let mut runs: BTreeMap<(u32, u32), Vec<&RunRecord>> = BTreeMap::new();
    for run in &record.runs {
        runs.entry((run.block, run.attempt)).or_default().push(run);
    }
    let pairs = runs.into_values().map(|mut pair| {
        pair.sort_by_key(|run| run.position);
        <[&RunRecord; 2]>::try_from(pair).expect("two runs of each attempt")
    });
    pairs.collect()
}

/// Both had halves of their own, and were under load at the same time.
fn is_a_duet([first, second]: [&RunRecord; 2]) {
    let (one, other) = (half(first), half(second));
    assert_eq!(one.processors.len(), other.processors.len());
    assert!(one.processors.iter().all(|processor| !other.processors.contains(processor)));
    for run in [first, second] {
        assert_eq!(run.machine.cores as usize, half(run).processors.len());
        assert_eq!(run.state, RunState::Finished, "{run:?}");
    }
    let point = |run: &RunRecord| {
        let point = &run.points[0];
        let begun: jiff::Timestamp = point.started_at.parse().unwrap();
        let measured = point.end.as_ref().unwrap().measured_ns;
        let ended = begun + jiff::SignedDuration::from_nanos(measured.cast_signed());
        (begun, ended)
    };
    let ((begun, ended), (begun_too, ended_too)) = (point(first), point(second));
    assert!(begun < ended_too && begun_too < ended, "{first:?} {second:?}");
}

fn half(run: &RunRecord) -> &Half {
    run.half.as_ref().expect("a run of a duet has a half")
}

mod once {
    use super::*;

    #[test]
    fn both_arms_of_a_pair_run_at_the_same_time_on_halves() {
        needs!([Need::Root]);
        let laboratory = Laboratory::new();
        let running = laboratory.start_experiment(ON_DISKS);
        wait_for_two(&laboratory, &running, &["worker", "disk-daemon"]);
        let said = running.end();
        assert_eq!(said.code, Some(0), "{said:?}");
        let record = laboratory.record();
        let blocks = blocks(&record);
        // Two pairs in each of two rounds.
        assert_eq!(blocks.len(), 4);
        blocks.iter().for_each(|block| is_a_duet(*block));
        // Every second round mirrors the one before, so each arm has each half as often.
        let arms = |block: &[&RunRecord; 2]| block.map(|run| run.arm.clone());
        for (block, mirror) in [(0, 3), (1, 2)] {
            let mut mirrored = arms(&blocks[mirror]);
            mirrored.reverse();
            assert_eq!(arms(&blocks[block]), mirrored);
        }
        let analysis = analyse(&record).unwrap();
        let primary = analysis.comparisons.iter().filter(|one| one.primary);
        let compared: Vec<_> = primary.map(|one| (&*one.baseline, &*one.arm)).collect();
        assert_eq!(compared, [("one", "other"), ("one", "third")]);
        let planned = laboratory.run(&["plan", "experiment.yaml", "--find", "1%"]);
        let words = "find      a difference of 1%, four times in five\n  duets";
        assert!(planned.out.contains(words), "{planned:?}");
        let seed = |block: &[&RunRecord; 2]| block.map(|run| run.seed);
        assert!(blocks.iter().map(seed).all(|[one, other]| one == other));
    }
}

mod slow {
    use super::*;

    #[test]
    fn servers_of_a_duet_stay_on_their_halves() {
        needs!([Need::Root, Need::Server("mongod")]);
        let laboratory = Laboratory::new();
        let text = ON_DISKS
            .replace("engine: wiredtiger", "engine: mongodb")
            .replace("  disk: {capacity: 1GiB}\n  filesystem: xfs\n", "")
            .replace("cache_size: 16MiB", "cache_size: 256MiB")
            .replace(", third: {filesystem: ext4}", "")
            .replace("records: 2k", "records: 200");
        laboratory.write("experiment.yaml", text);
        let servers = std::env::var_os(SERVERS).unwrap_or_default();
        let run = ["run", "experiment.yaml", "--quiet"];
        let running = laboratory.start_with(&run, vec![(SERVERS, servers)]);
        wait_for_two(&laboratory, &running, &["worker", "mongod"]);
        // What descends from the runner is not taken for the work of other programs, on neither half.
        for process in laboratory.processes() {
            let ancestors = std::iter::successors(Some(process), |process| parent(*process));
            assert!(
                ancestors.into_iter().any(|one| one == running.id()),
                "{}",
                role(process, running.id())
            );
        }
        let said = running.end();
        assert_eq!(said.code, Some(0), "{said:?}");
        let record = laboratory.record();
        blocks(&record).into_iter().for_each(is_a_duet);
    }

    /// Half a duet is nothing: where one side fails, both are made again, as one attempt.
    #[test]
    fn a_duet_fails_and_is_repeated_as_one() {
        needs!([Need::Root]);
        let laboratory = Laboratory::new();
        let text =
            ON_DISKS.replace("duration: 1s", "duration: 3s").replace("blocks: 2", "blocks: 1");
        let mut running = laboratory.start_experiment(text);
        let is_measured = |record: &ExperimentRecord| {
            record.runs.len() == 2 && record.runs.iter().all(|run| !run.points.is_empty())
        };
        laboratory.wait_for_record(&mut running, is_measured).unwrap();
        send(running.worker().unwrap(), Signal::KILL);
        let said = running.end();
        assert_ne!(said.code, Some(0), "{said:?}");
        let record = laboratory.record();
        let mut messages = Vec::new();
        for run in record.runs.iter().filter(|run| run.block == 0) {
            let RunState::Failed { message } = &run.state else {
                panic!("half a duet counts: {run:?}");
            };
            messages.push(message.as_str());
        }
        messages.sort_unstable_by_key(|message| message.contains("SIGKILL"));
        assert_eq!(messages[0], "the other half of its duet failed");
        assert!(messages[1].contains("SIGKILL"), "{messages:?}");

        let said = laboratory.run(&["run", "experiment.yaml", "--quiet"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let record = laboratory.record();
        let attempts: Vec<(u32, u32, bool)> = blocks(&record)
            .iter()
            .map(|block| {
                let is_finished = block.iter().all(|run| run.state == RunState::Finished);
                (block[0].block, block[0].attempt, is_finished)
            })
            .collect();
        assert_eq!(attempts, [(0, 1, false), (0, 2, true), (1, 1, true)]);
    }
}
