//! What the program logs: to the standard error where that is requested, and of each experiment into a file beside the store.

use crate::laboratory::Laboratory;
#[cfg(feature = "wiredtiger")]
use plimsoll_testing::{Need, needs};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const EXPERIMENT: &str = "
plimsoll: 1
name: logged
workload: {records: 10, preset: c}
defaults: {engine: simulated, service: constant, service_mean: 1ms}
arms: {one: }
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 20ms, blocks: 1}
";

fn log_of(laboratory: &Laboratory) -> String {
    let id = laboratory.record().id;
    let path = laboratory.path(&format!("data/plimsoll/logs/{id}.log"));
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it belongs to its user alone");
    fs::read_to_string(path).unwrap()
}

#[test]
fn levels_that_are_none_are_refused() {
    let laboratory = Laboratory::new();
    let said = laboratory.command(&["list"]).env("PLIMSOLL_LOG", "plimsoll=loud").output().unwrap();
    let err = String::from_utf8(said.stderr).unwrap();
    assert_eq!(said.status.code(), Some(2), "{err}");
    assert!(err.contains("`plimsoll=loud` is not a level"), "{err}");
}

mod slow {
    use super::*;

    #[test]
    fn an_experiment_has_a_log_and_the_screen_only_what_was_asked_for() {
        for (arguments, shown, hidden) in [
            (&["run"][..], "1 run", " INFO "),
            (&["-v", "run"], "run 1 of 1 begins", " DEBUG "),
            (&["run", "-vv"], "the worker is process ", " TRACE "),
            (&["run", "-vvv"], " TRACE ", "\x1b["),
            (&["--log", "plimsoll_rig=debug", "run"], "DEBUG plimsoll_rig", " plimsoll_runner"),
            (&["--log", "debug", "run"], "the worker is process ", " TRACE "),
        ] {
            let laboratory = Laboratory::new();
            laboratory.write("experiment.yaml", EXPERIMENT);
            let said = laboratory.run(&[arguments, &["experiment.yaml"]].concat());
            // On a machine that has other work, the one point may be invalid.
            assert!(matches!(said.code, Some(0 | 106)), "{said:?}");
            assert!(said.err.contains(shown), "{arguments:?}: {}", said.err);
            assert!(!said.err.contains(hidden), "{arguments:?}: {}", said.err);
            let log = log_of(&laboratory);
            for words in [
                "experiment.yaml",
                "run 1 of 1 begins: arm one, block 0",
                "the worker is process ",
                "run ends: Finished",
            ] {
                assert!(log.contains(words), "{words} in {log}");
            }
            assert!(!log.contains(" TRACE ") && !log.contains('\x1b'), "{log}");
        }
    }

    #[test]
    fn an_experiment_that_goes_on_appends_to_its_log() {
        let laboratory = Laboratory::new();
        let text = EXPERIMENT.replace("{one: }", "{one: , two: {error_share: 1.0}}");
        laboratory.write("experiment.yaml", text);
        for times in 1..=2 {
            let said = laboratory.run(&["run", "experiment.yaml"]);
            assert_eq!(said.code, Some(106), "{said:?}");
            let log = log_of(&laboratory);
            assert_eq!(log.matches("experiment logged (").count(), times, "{log}");
            let id = laboratory.record().id;
            let words = format!("data/plimsoll/logs/{id}.log");
            assert!(said.err.contains(&words), "{words} in {}", said.err);
        }
    }

    /// Every step that led there is in the log, and that each was undone.
    #[cfg(feature = "wiredtiger")]
    #[test]
    fn a_rig_that_cannot_be_made_is_told_step_by_step() {
        needs!([Need::Root]);
        let laboratory = Laboratory::new();
        // No ext4 has blocks larger than its disk has room for.
        let rig = "disk: {capacity: 1GiB, trace: 1k}, filesystem: {kind: ext4, mkfs: -b 3000}";
        let text = EXPERIMENT.replace(
            "{one: }",
            &format!("{{one: {{engine: wiredtiger, cache_size: 16MiB, {rig}}}}}"),
        );
        laboratory.write(
            "experiment.yaml",
            text.replace("defaults: {engine: simulated, service: constant, service_mean: 1ms}", ""),
        );
        let said = laboratory.run(&["run", "experiment.yaml"]);
        assert_ne!(said.code, Some(0), "{said:?}");
        let log = log_of(&laboratory);
        let steps = [
            "making the data directory ",
            "making the emulated disk at ",
            "making the loop device over ",
            "mkfs.ext4 ",
            "removed the loop device over ",
            "removed the emulated disk at ",
            "removed the data directory ",
            "WARN plimsoll_rig::log: making the rig of ",
            "run failed: ",
        ];
        let mut rest = log.as_str();
        for step in steps {
            let Some((_, after)) = rest.split_once(step) else {
                panic!("{step} in {rest}");
            };
            rest = after;
        }
    }
}
