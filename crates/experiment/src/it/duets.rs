//! Duets and controls: what is planned, and what cannot be fair.

use crate::it::servers::ENGINES as SERVERS;
use crate::it::{check_with, plan, surroundings};
use crate::{Overrides, Problems, Surroundings, check};
use plimsoll_plan::{Pairing, explain};

const FILE: &str = "
plimsoll: 1
name: duets
workload: {records: 1k, preset: c}
defaults: {engine: wiredtiger}
arms: {one: , other: , third: }
load: {closed: {threads: [1, 2]}}
measurement: {pairing: duet, blocks: 8}
";

fn duets() -> Overrides {
    Overrides { duet: true, ..Overrides::default() }
}

/// The text of each problem.
fn reasons(problems: &Problems) -> Vec<String> {
    let list = problems.list().iter();
    list.map(|problem| {
        assert_eq!(problem.mistake.code(), "no-duet", "{}", problem.mistake);
        problem.mistake.to_string()
    })
    .collect()
}

/// The only reason against duets of this file.
fn reason(text: &str) -> String {
    let overrides = duets();
    let surroundings = Surroundings {
        engines: if text.contains("mongodb") { &SERVERS } else { &crate::it::ENGINES },
        ..surroundings(&overrides)
    };
    let problems = check(text, "experiment.yaml", &surroundings).expect_err("it is refused");
    let [reason] = &reasons(&problems)[..] else { panic!("{problems}") };
    reason.clone()
}

#[test]
fn each_pair_has_blocks_of_its_own() {
    let plan = plan(FILE);
    assert_eq!(plan.measurement.pairing, Pairing::Duet);
    // Two pairs in each of eight rounds.
    assert_eq!((plan.runs.len(), plan.measurement.blocks), (32, 16));
    assert_eq!((plan.at_once(), plan.blocks_of_a_pair(16)), (2, 8));
    for duet in plan.runs.chunks(2) {
        assert_eq!(duet[0].block, duet[1].block);
        assert!(duet.iter().any(|run| run.arm == 0), "the baseline is in each");
    }
    let in_turn = FILE.replace("pairing: duet, ", "");
    let by_flag = check_with(&in_turn, &duets()).unwrap();
    assert_eq!((by_flag.hash(), by_flag.runs), (plan.hash(), plan.runs.clone()));
    let in_turn = crate::it::plan(&in_turn);
    assert_ne!(in_turn.hash(), plan.hash());

    // Twice as much at once, and half as long as its runs in turn.
    let [both, alone] = [&plan, &in_turn].map(|plan| explain(plan, &crate::it::ENGINES));
    let is_double = |twice: u64, once: u64| twice.abs_diff(2 * once) <= 1;
    assert!(is_double(both.needs.disk_bytes, alone.needs.disk_bytes));
    assert!(is_double(both.needs.memory_bytes, alone.needs.memory_bytes));
    assert_eq!(both.needs.measuring_ns * 24, alone.needs.measuring_ns * 16);
    let words = both.to_string();
    assert!(words.contains("two runs at a time") && words.contains(" beside one"), "{words}");
}

#[test]
fn a_control_is_a_pair_of_its_own() {
    let plan =
        plan(&FILE.replace(", third: ", "").replace("\nload:", "\ncontrols: [0%, 2%]\nload:"));
    let names: Vec<&str> = plan.arms.iter().map(|arm| arm.name.as_str()).collect();
    assert_eq!(names, ["one", "other", "control 0%", "control 2%"]);
    let planted: Vec<Option<f64>> = plan.arms.iter().map(|arm| arm.planted).collect();
    assert_eq!(planted, [None, None, Some(0.0), Some(0.02)]);
    assert_eq!(plan.pairs(), [[0, 1]]);
    assert_eq!(plan.controls(), [[0, 2], [0, 3]]);
    assert_eq!(plan.measurement.blocks, 24);
}

#[test]
fn what_cannot_be_fair_is_refused() {
    let file = |from: &str, to: &str| {
        assert!(FILE.contains(from), "{from}");
        FILE.replace(", third: ", "").replace(from, to)
    };
    for (text, expected) in [
        (file(", other: ", ""), "there is no pair of arms to compare"),
        (
            file("threads: [1, 2]", "threads: {from: 1, to: 64}"),
            "a sweep or a search chooses its own loads",
        ),
        (file("blocks: 8", "operations: 1M"), "points end after a number of operations"),
        (
            file("one: , other: ", "one: {limits: {memory: 2GiB, cpus: 3}}, other: "),
            "arm one may use 3 processors, and a half of this machine has 2",
        ),
        (
            file(
                "one: , other: ",
                "one: {disk: {device: /dev/disk/by-id/x, erase: true}, filesystem: xfs}, other: {disk: {device: /dev/disk/by-id/x, erase: true}, filesystem: ext4}",
            ),
            "arms one and other both need the device /dev/disk/by-id/x",
        ),
        (
            file(
                "one: , other: ",
                "one: {kernel: {swappiness: 1, dirty_expire: 5s}}, other: {kernel: {dirty_expire: 5s}}",
            ),
            "both halves have one kernel, and its swappiness is 1 for arm one and as it is for arm other",
        ),
        (
            file("engine: wiredtiger", "engine: mongodb")
                .replace("one: ,", "one: {uri: 'mongodb://db.example/', existing: drop},"),
            "the server of arm one is not started by this program",
        ),
    ] {
        let found = reason(&text);
        assert!(found.contains(expected), "{expected}: {found}");
    }
    // The same settings are fair, and each disk has a scheduler of its own.
    let kernels = file(
        "one: , other: ",
        "one: {disk: gp3, kernel: {swappiness: 1, scheduler: none}}, other: {disk: gp3, kernel: {swappiness: 1, scheduler: bfq}}",
    );
    assert_eq!(plan(&kernels).measurement.pairing, Pairing::Duet);
    // Two devices are fair.
    let devices = file(
        "one: , other: ",
        "one: {disk: {device: /dev/disk/by-id/x, erase: true}, filesystem: xfs}, other: {disk: {device: /dev/disk/by-id/y, erase: true}, filesystem: xfs}",
    );
    check_with(&devices, &Overrides::default()).unwrap();
    // With one pair, looks are those of its blocks.
    let looks = file("blocks: 8", "blocks: {at_most: 12}");
    check_with(&looks, &Overrides::default()).unwrap();
    let of_two = FILE.replace("blocks: 8", "blocks: {at_most: 12}");
    let found = reason(&of_two);
    assert!(found.contains("with several pairs"), "{found}");
}
