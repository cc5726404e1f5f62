//! Gates: two configurations or two programs beside each other, until it is certain whether the new one loses.

use crate::laboratory::{Laboratory, Said};
use plimsoll_judge::{GateOutcome, analyse};
use plimsoll_plan::Pairing;
#[cfg(feature = "mongodb")]
use plimsoll_testing::{Need, SERVERS, needs, server};
use std::fs;
#[cfg(feature = "mongodb")]
use std::os::unix::fs::PermissionsExt;

/// One arm of an engine that sleeps for its service time, so that its speed is known on any machine.
const FILE: &str = "
plimsoll: 1
name: gated
question: Is it slower?
workload: {records: 100, preset: c}
defaults: {engine: simulated, service: constant, service_mean: 2ms}
arms: {only: }
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 250ms}
compare: {primary: [throughput], at: {threads: 1}}
";

/// A laboratory with this file as `base.yaml`, and as `new.yaml` with other words in it.
fn laboratory(from: &str, to: &str) -> Laboratory {
    let laboratory = Laboratory::new();
    laboratory.write("base.yaml", FILE);
    assert!(FILE.contains(from));
    laboratory.write("new.yaml", FILE.replace(from, to));
    laboratory
}

fn gate(laboratory: &Laboratory, more: &[&str]) -> Said {
    laboratory.run(&[&["gate", "base.yaml", "new.yaml"], more].concat())
}

#[test]
fn what_is_no_gate_is_refused_with_its_reason() {
    let laboratory = laboratory("threads: 1}", "threads: 2}");
    let said = gate(&laboratory, &[]);
    assert_eq!(said.code, Some(104), "{said:?}");
    assert!(said.err.contains("do not measure the same: the load differs"), "{said:?}");

    laboratory.write("new.yaml", FILE.replace("only: ", "only: , more: "));
    let said = gate(&laboratory, &[]);
    assert_eq!(said.code, Some(104), "{said:?}");
    assert!(said.err.contains("this file has 2 arms"), "{said:?}");

    laboratory.write("new.yaml", FILE);
    let said = gate(&laboratory, &["--within", "1s"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("1s is too short: a block takes about 750ms"), "{said:?}");

    let said = gate(&laboratory, &["--file", "base.yaml"]);
    assert_eq!(said.code, Some(104), "{said:?}");
    assert!(said.err.contains("has no server that this program starts"), "{said:?}");
}

mod once {
    use super::*;

    #[test]
    fn a_slower_configuration_fails() {
        let laboratory = laboratory("2ms", "4ms");
        let markdown = laboratory.path("gate.md");
        let said = gate(
            &laboratory,
            &["--markdown", "gate.md", "--page", "gate.html", "--junit", "gate.xml"],
        );
        assert_eq!(said.code, Some(99), "{said:?}");
        assert!(said.out.contains("THE GATE FAILED"), "{said:?}");
        let record = laboratory.record();
        let analysis = analyse(&record).unwrap();
        let answer = analysis.gate.as_ref().unwrap();
        assert_eq!((answer.outcome, answer.answered), (GateOutcome::Failed, true));
        // Of 14 looks up to 1,000 blocks the first is the first to attain 1 - 0.025/13, which 10 blocks do not: 2/2^10.
        let plan = plimsoll_judge::plan_of(&record).unwrap();
        assert_eq!(plan.measurement.looks.unwrap().first, 11);
        assert_eq!(plan.measurement.blocks, 1000);
        let blocks = record.runs.len() / 2;
        assert!((11..1000).contains(&blocks), "a look ends it: {blocks}");
        assert!(record.runs.iter().all(|run| run.half.is_some()), "duets");
        assert_eq!(analysis.comparisons[0].baseline, "base");
        assert!(record.file_text.contains("4ms") && record.file_text.contains("2ms"));
        let junit = fs::read_to_string(laboratory.path("gate.xml")).unwrap();
        assert!(junit.contains("tests=\"1\" skipped=\"0\" failures=\"1\""), "{junit}");
        let text = fs::read_to_string(markdown).unwrap();
        for words in [
            "### gated\n\nIs it slower?\n\nTHE GATE FAILED",
            "| c | 1 thread | throughput |",
            "| worse |",
            "What differs between new and base:",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(laboratory.path("gate.html").exists());

        // Of both files, and planned again as a gate.
        let said = laboratory.run(&["bundle", "last", "--to", "gate.plimsoll"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let planned = laboratory.run(&["plan", "gate.plimsoll"]);
        assert_eq!(planned.code, Some(0), "{planned:?}");
        assert!(planned.out.contains("base") && planned.out.contains("new"), "{planned:?}");
        let again = laboratory.run(&["run", "gate.plimsoll"]);
        assert_eq!(again.code, Some(99), "{again:?}");
        assert!(again.out.contains("THE GATE FAILED"), "{again:?}");
    }
}

mod slow {
    use super::*;

    #[test]
    fn an_equal_one_passes_and_history_is_kept() {
        let laboratory = laboratory("Is it slower?", "Is it as fast?");
        // Whatever disturbs the machine, a sleeper of 2 ms does not lose half of its speed against the same.
        let quickly = ["--margin", "100%", "--in-turn", "--markdown", "gate.md"];
        let said = gate(&laboratory, &quickly);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(said.out.contains("The gate is passed"), "{said:?}");
        let first = laboratory.record();
        assert!(first.runs.iter().all(|run| run.half.is_none()), "in turn");
        // A gate begins again, and the results of both are one history.
        let said = gate(&laboratory, &quickly);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_ne!(laboratory.record().id, first.id);
        let text = fs::read_to_string(laboratory.path("gate.md")).unwrap();
        assert!(text.contains("History: 2 results of new"), "{text}");
        assert!(text.contains(&first.id), "{text}");
    }

    #[test]
    fn duets_that_are_not_possible_are_made_in_turn() {
        let laboratory = laboratory("2ms", "4ms");
        // Points that end after a number of operations end at different times.
        for file in ["base.yaml", "new.yaml"] {
            let text = fs::read_to_string(laboratory.path(file)).unwrap();
            let text = text.replace("duration: 250ms", "duration: 10s, operations: 50");
            laboratory.write(file, text);
        }
        let said = gate(&laboratory, &["--within", "10m"]);
        assert_eq!(said.code, Some(99), "{said:?}");
        assert!(
        said.err.contains(
            "in turn, because duets are not possible here: points end after a number of operations"
        ),
        "{said:?}"
    );
        let plan = plimsoll_judge::plan_of(&laboratory.record()).unwrap();
        assert_eq!(plan.measurement.pairing, Pairing::InTurn);
    }

    /// Copies of one program, so that they are equally fast.
    #[cfg(feature = "mongodb")]
    #[test]
    fn two_programs_of_a_server_are_measured_by_one_file() {
        needs!([Need::Root, Need::Server("mongod")]);
        let laboratory = Laboratory::new();
        let text = FILE
            .replace(
                "{engine: simulated, service: constant, service_mean: 2ms}",
                "{engine: mongodb, cache_size: 256MiB}",
            )
            .replace("duration: 250ms", "duration: 200ms");
        laboratory.write("bench.yaml", text);
        let mongod = server("mongod").unwrap();
        for build in ["old", "new"] {
            fs::create_dir(laboratory.path(build)).unwrap();
            let copy = laboratory.path(build).join("mongod");
            fs::copy(&mongod, &copy).unwrap();
            fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let servers = std::env::var_os(SERVERS).unwrap_or_default();
        let words = [
            "gate",
            "old/mongod",
            "new/mongod",
            "--file",
            "bench.yaml",
            "--margin",
            "100%",
            "--within",
            "10m",
        ];
        let said = laboratory.start_with(&words, vec![(SERVERS, servers)]).end();
        assert_eq!(said.code, Some(0), "{said:?}");
        let record = laboratory.record();
        for run in &record.runs {
            let build = if run.arm == "base" { "old" } else { "new" };
            let rig = run.rig.as_ref().unwrap();
            let server = rig.server.as_ref().unwrap();
            let program = laboratory.path(build).join("mongod");
            assert_eq!(server.program, program.canonicalize().unwrap());
        }
    }

    #[test]
    fn the_action_writes_its_summary_and_its_answer() {
        let laboratory = laboratory("2ms", "4ms");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/gate/gate.sh");
        let action = |base: &str, new: &str| {
            let mut command = std::process::Command::new(script);
            command.current_dir(laboratory.path(".")).env_clear();
            command.env("PATH", std::env::var_os("PATH").unwrap());
            command.env("HOME", laboratory.path("."));
            let variables = [
                ("GATE_BASE", base),
                ("GATE_NEW", new),
                ("GATE_PLIMSOLL", env!("CARGO_BIN_EXE_plimsoll")),
                ("GATE_MARGIN", "50%"),
                ("GITHUB_STEP_SUMMARY", "summary"),
                ("GITHUB_OUTPUT", "output"),
            ];
            Said::of(command.envs(variables).output().unwrap())
        };
        let said = action("base.yaml", "new.yaml");
        assert_eq!(said.code, Some(99), "{said:?}");
        let said = action("new.yaml", "base.yaml");
        assert_eq!(said.code, Some(0), "{said:?}");
        let read = |file: &str| fs::read_to_string(laboratory.path(file)).unwrap();
        let page = "page=.plimsoll/gate.html";
        assert_eq!(read("output"), format!("answer=failed\n{page}\nanswer=passed\n{page}\n"));
        assert!(
            read("summary").contains("THE GATE FAILED")
                && read("summary").contains("The gate is passed")
        );
        assert!(laboratory.path(".plimsoll/gate.html").exists());
    }
}
