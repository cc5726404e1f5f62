//! What differs between arms, declared and found.

use crate::it::laboratory::{Laboratory, Shown, warns};
use crate::{Analysis, ValidityState};
use plimsoll_plan::{Order, SettingValue};
use plimsoll_record::{FilesystemKind, FilesystemSpec, Storage, WarningId};

/// Two arms of one engine that differ in the declared size of the cache.
fn two_caches() -> Laboratory {
    let mut lab = Laboratory::closed(&["large", "small"], &["c"], &[4], 6)
        .measure(|case| Shown::closed(case, 1e5));
    for (arm, bytes) in lab.plan.arms.iter_mut().zip([512 << 20, 30_000_000]) {
        arm.settings.0.insert("cache_size".into(), SettingValue::Bytes(bytes));
    }
    for run in &mut lab.runs {
        let size = if run.arm == "large" { "512MiB" } else { "30MB" };
        run.engine.as_mut().unwrap().settings.insert("cache_size".into(), size.into());
    }
    lab
}

fn found(analysis: &Analysis) -> Vec<(&str, bool)> {
    analysis.differences.iter().map(|one| (one.what.as_str(), one.declared)).collect()
}

fn change(lab: &mut Laboratory, arm: &str, change: impl Fn(&mut plimsoll_record::RunRecord)) {
    lab.runs.iter_mut().filter(|run| run.arm == arm).for_each(change);
}

#[test]
fn the_factor_is_declared_and_nothing_else_differs() {
    let analysis = two_caches().analyse();
    assert_eq!(found(&analysis), [("cache_size", true)]);
    let values: Vec<(&str, &str)> = analysis.differences[0]
        .values
        .iter()
        .map(|(arm, value)| (arm.as_str(), value.as_str()))
        .collect();
    assert_eq!(values, [("large", "512MiB"), ("small", "30MB")]);
    assert_eq!(analysis.arms[1].factors["cache_size"], "30MB");
    assert_eq!(analysis.arms[1].settings["cache_size"], "30MB");
    assert!(analysis.arms[0].baseline && !analysis.arms[1].baseline);
    assert!(!warns(&analysis, WarningId::OtherDifference));
    let strip = analysis.validity.iter().find(|entry| entry.name == "differences").unwrap();
    assert_eq!(strip.state, ValidityState::Good);
}

#[test]
fn versions_settings_machines_and_disks_are_looked_at() {
    // Without a declared factor: an experiment that compares an arm with itself.
    let mut lab = two_caches();
    lab.plan.arms[1].settings = lab.plan.arms[0].settings.clone();
    change(&mut lab, "small", |run| {
        run.machine.transparent_huge_pages = Some("never".into());
        let engine = run.engine.as_mut().unwrap();
        engine.version = "2".into();
        engine.settings.insert("journal".into(), "off".into());
        engine.notes.insert("allocator".into(), "jemalloc".into());
        run.storage = Some(Storage {
            filesystem: Some("xfs".into()),
            directory: format!("/b{}", run.block),
            ..Storage::default()
        });
    });
    change(&mut lab, "large", |run| {
        run.storage = Some(Storage {
            filesystem: Some("ext4".into()),
            directory: format!("/a{}", run.block),
            ..Storage::default()
        });
    });
    let analysis = lab.analyse();
    let expected = [
        ("engine.allocator", false),
        ("engine.version", false),
        ("machine.transparent_huge_pages", false),
        ("settings.cache_size", false),
        ("settings.journal", false),
        ("storage.filesystem", false),
    ];
    assert_eq!(found(&analysis), expected);
    assert!(warns(&analysis, WarningId::OtherDifference));
    let journal =
        analysis.warnings.iter().find(|warning| warning.subject == "settings.journal").unwrap();
    assert_eq!(journal.message, "not set for large; off for small");
}

#[test]
fn the_engines_own_words_for_a_factor_are_no_further_difference() {
    let mut lab = two_caches();
    for run in &mut lab.runs {
        let words = if run.arm == "large" {
            "create,cache_size=536870912B"
        } else {
            "create,cache_size=30000000B"
        };
        run.engine.as_mut().unwrap().notes.insert("configuration".into(), words.into());
    }
    assert_eq!(found(&lab.analyse()), [("cache_size", true)]);
}

#[test]
fn another_engine_brings_its_own_version_and_settings() {
    let mut lab = two_caches();
    lab.plan.arms[1].engine = "other".into();
    change(&mut lab, "small", |run| {
        let engine = run.engine.as_mut().unwrap();
        engine.name = "other".into();
        engine.settings.insert("shards".into(), "4".into());
    });
    let analysis = lab.analyse();
    assert_eq!(
        found(&analysis),
        [("engine", true), ("cache_size", true), ("engine.version", true)]
    );
}

#[test]
fn a_filesystem_brings_its_own_size() {
    let mut lab = two_caches();
    for (arm, size) in [("large", 2_080_374_784), ("small", 2_040_373_248)] {
        let storage = Storage { size_bytes: Some(size), ..Storage::default() };
        change(&mut lab, arm, |run| run.storage = Some(storage.clone()));
    }
    assert!(warns(&lab.analyse(), WarningId::OtherDifference), "nobody said so");
    for (arm, kind) in lab.plan.arms.iter_mut().zip(FilesystemKind::ALL) {
        arm.rig.filesystem = Some(FilesystemSpec { kind, mkfs: Vec::new(), mount: Vec::new() });
    }
    assert!(!warns(&lab.analyse(), WarningId::OtherDifference));
}

#[test]
fn a_value_that_many_arms_have_is_named_once() {
    let names = ["a", "b", "c", "d", "e"];
    let mut lab =
        Laboratory::closed(&names, &["c"], &[4], 6).measure(|case| Shown::closed(case, 1e5));
    change(&mut lab, "b", |run| run.machine.transparent_huge_pages = Some("never".into()));
    let said = |analysis: &Analysis| {
        let one = analysis.warnings.iter().find(|one| one.id == WarningId::OtherDifference);
        one.unwrap().message.clone()
    };
    assert_eq!(said(&lab.analyse()), "not set for a, c and 2 others; never for b");
    change(&mut lab, "c", |run| run.machine.transparent_huge_pages = Some("never".into()));
    assert_eq!(said(&lab.analyse()), "not set for a, d, e; never for b, c");
}

#[test]
fn an_arm_that_always_comes_first_is_said() {
    let mut lab = two_caches();
    for run in &mut lab.runs {
        run.position = u32::from(run.arm == "small");
    }
    let analysis = lab.analyse();
    assert_eq!(found(&analysis), [("cache_size", true), ("place in the block", false)]);
    lab.plan.measurement.order = Order::AsWritten;
    lab.runs.truncate(4);
    assert_eq!(found(&lab.analyse()).len(), 2);
}

#[test]
fn runs_on_two_machines_are_a_caution() {
    let mut lab = two_caches();
    for run in lab.runs.iter_mut().filter(|run| run.block >= 3) {
        run.machine.cores = 64;
        run.engine.as_mut().unwrap().version = "2".into();
    }
    let analysis = lab.analyse();
    let mixed =
        analysis.warnings.iter().filter(|warning| warning.id == WarningId::MixedMachines).count();
    assert_eq!(mixed, 2, "the machine and the engine's version");
    assert!(!warns(&analysis, WarningId::OtherDifference), "both arms ran on both");
}

#[test]
fn arms_may_have_versions_of_their_own() {
    let mut lab = two_caches();
    for run in lab.runs.iter_mut().filter(|run| run.arm == "small") {
        let engine = run.engine.as_mut().unwrap();
        engine.version = "2".into();
        engine.notes.insert("server_git_version".into(), "fc88ca1".into());
    }
    let analysis = lab.analyse();
    assert!(!warns(&analysis, WarningId::MixedMachines));
    assert!(warns(&analysis, WarningId::OtherDifference), "nobody said so");
    // Another program is what the file says.
    for (arm, program) in lab.plan.arms.iter_mut().zip(["mongod-4", "mongod-6"]) {
        let server = serde_json::json!({
            "name": "mongod", "program": program, "arguments": [], "address": "mongodb://127.0.0.1:{port}",
            "stop_signal": "TERM", "ready_within_ns": 1, "stop_within_ns": 1,
        });
        arm.rig.server = Some(serde_json::from_value(server).unwrap());
    }
    let analysis = lab.analyse();
    assert!(!warns(&analysis, WarningId::OtherDifference), "{:?}", analysis.warnings);
    let version = analysis.differences.iter().find(|one| one.what == "engine.version");
    assert!(version.unwrap().declared);
}

#[test]
fn memory_that_page_cache_came_to_is_no_difference() {
    let mut lab = two_caches();
    for run in &mut lab.runs {
        let limits = &mut run.rig.get_or_insert_default().limits;
        limits.memory_bytes = Some(if run.arm == "small" { 300 } else { 200 });
    }
    assert!(warns(&lab.analyse(), WarningId::OtherDifference));
    for arm in &mut lab.plan.arms {
        arm.rig.limits.page_cache_bytes = Some(100);
    }
    assert!(!warns(&lab.analyse(), WarningId::OtherDifference));
}

/// Two servers on one machine have other ports, directories and warnings at their start, whatever they are set to.
#[test]
fn where_a_server_is_makes_no_difference() {
    let with_servers = |cache: [&str; 2]| {
        let mut lab = Laboratory::closed(&["a", "b"], &["c"], &[4], 6)
            .measure(|case| Shown::closed(case, 1e5));
        for (arm, port, cache) in [("a", "40001", cache[0]), ("b", "40002", cache[1])] {
            change(&mut lab, arm, |run| {
                let notes = &mut run.engine.as_mut().unwrap().notes;
                let mut note = |name: &str, text: String| notes.insert(name.into(), text);
                note("startup_warnings", format!("port {port} is open to all"));
                note(
                    "server_command",
                    format!("mongod --port {port} --dbpath=/{arm} --cache {cache}"),
                );
                note(
                    "server_options",
                    format!(
                        r#"{{"net":{{"port":{port}}},"storage":{{"dbPath":"/{arm}","cache":"{cache}"}},"systemLog":{{"path":"/{arm}.log"}}}}"#
                    ),
                );
            });
        }
        lab.analyse()
    };
    let same = with_servers(["1G", "1G"]);
    assert_eq!(found(&same), []);
    assert!(!warns(&same, WarningId::OtherDifference));
    let other = with_servers(["1G", "2G"]);
    assert_eq!(found(&other), [("engine.server_options", false)]);
    assert!(warns(&other, WarningId::OtherDifference));
}

#[test]
fn what_the_uris_say_is_declared() {
    let mut lab =
        Laboratory::closed(&["a", "b"], &["c"], &[4], 6).measure(|case| Shown::closed(case, 1e5));
    for (index, arm) in ["a", "b"].into_iter().enumerate() {
        let uri = format!("mongodb://localhost/?journal={}", index == 1);
        let settings = &mut lab.plan.arms[index].settings.0;
        settings.insert("uri".into(), SettingValue::Text(uri.clone()));
        change(&mut lab, arm, |run| {
            let settings = &mut run.engine.as_mut().unwrap().settings;
            settings.insert("uri".into(), uri.clone());
            settings.insert("journal".into(), (index == 1).to_string());
        });
    }
    let analysis = lab.analyse();
    assert_eq!(found(&analysis), [("uri", true)]);
    assert!(!warns(&analysis, WarningId::OtherDifference));
}

mod slow {
    use super::*;

    #[test]
    fn an_arm_that_nearly_always_came_first_is_said() {
        let mut lab = Laboratory::closed(&["a", "b"], &["c"], &[4], 24)
            .measure(|case| Shown::closed(case, 1e5));
        // First in 22 of 24 blocks: a mean place of 26/24. By chance it would be 1.5 ± 0.1.
        for run in &mut lab.runs {
            let is_first = (run.arm == "a") == (run.block >= 2);
            run.position = u32::from(!is_first);
        }
        let analysis = lab.analyse();
        let found =
            analysis.differences.iter().find(|one| one.what == "mean place in the block").unwrap();
        let values: Vec<&str> = found.values.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["1.1 of 2", "1.9 of 2"]);
        // With the laboratory's own turns there is no remark.
        let balanced = Laboratory::closed(&["a", "b"], &["c"], &[4], 24)
            .measure(|case| Shown::closed(case, 1e5));
        let analysis = balanced.analyse();
        assert!(analysis.differences.iter().all(|one| !one.what.contains("place")));
    }
}
