//! `plimsoll init`: every file that it writes is valid, and what cannot be measured is refused.

use crate::laboratory::Laboratory;
use crate::quiet::Busy;
use plimsoll_testing::{Need, assert_contains, needs};
use std::fs;
use std::process::Stdio;

/// A plan of what `init` wrote with these flags.
fn planned(laboratory: &Laboratory, name: &str, flags: &[&str]) -> serde_json::Value {
    let file = format!("{name}.yaml");
    let said = laboratory.run(&[&["init", &file], flags].concat());
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_contains(&said.err, "finds differences of about");
    let plan = laboratory.run(&["plan", &file, "--json"]);
    assert_eq!(plan.code, Some(0), "{plan:?}");
    serde_json::from_str(&plan.out).unwrap()
}

fn arms(plan: &serde_json::Value) -> Vec<&str> {
    let arms = plan["arms"].as_array().unwrap();
    arms.iter().map(|arm| arm["name"].as_str().unwrap()).collect()
}

#[test]
fn questions_about_servers() {
    let laboratory = Laboratory::new();
    let of = |name: &str, flags: &[&str]| planned(&laboratory, name, flags);
    let plan = of("compressors", &["--database", "mongod", "--question", "settings"]);
    assert_eq!(arms(&plan), ["snappy", "zstd"]);
    let index = ["--database", "mongod", "--question", "index"];
    let plan = of("index", &index);
    assert_eq!(arms(&plan), ["customer", "customer-placed"]);
    let three = ["--between", "none", "--between", "customer+status", "--between=-placed"];
    let plan = of("three", &[&index[..], &three].concat());
    assert_eq!(arms(&plan), ["no-index", "customer-status", "placed"]);
    assert_contains(
        fs::read_to_string(laboratory.path("three.yaml")).unwrap(),
        "customer-status: {collections: {orders: {indexes: [{customer: 1}, {status: 1}]}}}",
    );
    let versions = [
        "--database",
        "mongod",
        "--question",
        "version",
        "--between",
        "/opt/7.0/mongod",
        "--between",
        "/opt/8.0/mongod",
    ];
    assert_eq!(arms(&of("upgrade", &versions)), ["old", "new"]);
    let machines = [
        "--database",
        "mongod",
        "--question",
        "machine",
        "--between",
        "root@db1=10.0.0.2",
        "--between",
        "localhost",
    ];
    assert_eq!(arms(&of("machines", &machines)), ["db1", "localhost"]);
    assert_contains(
        fs::read_to_string(laboratory.path("machines.yaml")).unwrap(),
        "localhost: {ssh: localhost, address: 127.0.0.1}",
    );
    let uris = [
        "--database",
        "mongodb://127.0.0.1:1",
        "--question",
        "machine",
        "--between",
        "mongodb://h1.example/?w=1",
        "--between",
        "mongodb://h2.example,h3.example/",
    ];
    assert_eq!(arms(&of("uris", &uris)), ["h1.example", "h2.example"]);
    let settings = ["--database", "mongodb://u:${SECRET}@h1.example", "--question", "settings"];
    assert_eq!(arms(&of("by-uri", &settings)), ["journal-false", "journal-true"]);
}

#[test]
fn the_time_decides_how_many_blocks_there_are() {
    let laboratory = Laboratory::new();
    let measurement = |name: &str, within: &str| {
        let question = ["--database", "embedded", "--question", "settings", "--within", within];
        let flags = [&question[..], &["--pairing", "duet"]].concat();
        let plan = planned(&laboratory, name, &flags);
        let total = plan["needs"]["measuring_ns"].as_u64().unwrap();
        (plan["blocks"].as_array().unwrap().len(), total)
    };
    let (short, of_short) = measurement("short", "2m");
    let (long, of_long) = measurement("long", "30m");
    assert!((6..=40).contains(&short) && (6..=40).contains(&long));
    assert!(of_short < 120_000_000_000 && of_long < 1_800_000_000_000);
    assert!(of_long > 900_000_000_000, "most of the time is used: {of_long}");
}

/// What a stranger gets without a word of advice can decide: duets, points that can be judged, and data that its question is about.
#[test]
fn a_file_for_two_arms_decides_its_question() {
    let laboratory = Laboratory::new();
    let compressors = ["--database", "embedded", "--question", "settings"];
    let duet = ["--pairing", "duet"];
    planned(&laboratory, "compressors", &[&compressors[..], &duet].concat());
    let text = fs::read_to_string(laboratory.path("compressors.yaml")).unwrap();
    for line in
        ["pairing: duet", "fields: {compressible: 60%}", "size: 256MiB", "cache_size: 128MiB"]
    {
        assert_contains(&text, line);
    }
    let plan = laboratory.run(&["plan", "compressors.yaml"]);
    assert!(!plan.out.contains("too short"), "{plan:?}");
    let journal = ["--database", "mongod", "--question", "settings", "--setting", "journal"];
    let plan = planned(&laboratory, "journal", &[&journal[..], &duet].concat());
    let needs = &plan["needs"];
    assert!(needs["loading_ns"].as_u64() <= needs["measuring_ns"].as_u64(), "{needs}");
    let text = fs::read_to_string(laboratory.path("journal.yaml")).unwrap();
    for line in ["pairing: duet", "batch: 100", "size: 512MiB", "cache_size: 256MiB"] {
        assert_contains(&text, line);
    }
    // Three arms are measured in turn, and so is a server that runs by itself.
    let three = ["--between", "snappy", "--between", "zstd", "--between", "none"];
    planned(&laboratory, "three", &[&compressors[..], &three].concat());
    planned(
        &laboratory,
        "by-uri",
        &["--database", "mongodb://h1.example", "--question", "settings"],
    );
    planned(&laboratory, "in-turn", &[&compressors[..], &["--pairing", "in-turn"]].concat());
    for name in ["three", "by-uri", "in-turn"] {
        let text = fs::read_to_string(laboratory.path(&format!("{name}.yaml"))).unwrap();
        assert!(!text.contains("pairing:"), "{text}");
    }
    let said = laboratory.run(&[&["init", "four.yaml"], &compressors[..], &three, &duet].concat());
    assert_eq!(said.code, Some(2), "{said:?}");
    assert_contains(&said.err, "a duet is of two arms");
    assert!(!laboratory.path("four.yaml").exists());
}

#[test]
fn beside_other_programs_two_arms_are_measured_in_turn() {
    let laboratory = Laboratory::new();
    // One processor is left, or none where more programs run.
    let processors = std::thread::available_parallelism().unwrap().get();
    let busy: Vec<Busy> = (1..processors.max(2)).map(|_| Busy::start()).collect();
    let said = laboratory.run(&["init", "--database", "embedded", "--question", "settings"]);
    drop(busy);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_contains(&said.err, "other programs use ");
    let text = fs::read_to_string(laboratory.path("experiment.yaml")).unwrap();
    assert_contains(&text, "pairing: in-turn");
}

#[test]
fn a_file_is_replaced_only_where_that_is_asked_for() {
    let laboratory = Laboratory::new();
    laboratory.write("experiment.yaml", "mine");
    let flags = ["init", "--database", "embedded"];
    let said = laboratory.run(&flags);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert_contains(&said.err, "--force");
    let kept = fs::read_to_string(laboratory.path("experiment.yaml")).unwrap();
    assert_eq!(kept, "mine");
    let said = laboratory.run(&[&flags[..], &["--force"]].concat());
    assert_eq!(said.code, Some(0), "{said:?}");
}

mod slow {
    use super::*;

    #[test]
    fn questions_about_the_embedded_engine() {
        let laboratory = Laboratory::new();
        let embedded = ["--database", "embedded"];
        for (question, expected) in [
            ("settings", vec!["snappy", "zstd"]),
            ("disk", vec!["gp3", "io2"]),
            ("filesystem", vec!["xfs", "ext4"]),
            ("memory", vec!["80-percent", "160-percent", "320-percent"]),
        ] {
            let flags = [&embedded[..], &["--question", question]].concat();
            let plan = planned(&laboratory, question, &flags);
            assert_eq!(plan["name"], question);
            assert_eq!(arms(&plan), expected);
        }
        let machines = ["--question", "machine", "--between", "root@db1", "--between", "db2"];
        let plan = planned(&laboratory, "machine", &[&embedded[..], &machines].concat());
        assert_eq!(arms(&plan), ["db1", "db2"]);
    }

    /// Five questions on a real terminal, one of them answered by a word that is no answer.
    #[test]
    fn somebody_at_a_terminal_is_asked() {
        needs!([Need::Program("script")]);
        let laboratory = Laboratory::new();
        let answers = laboratory.write("answers", "9\n4\n\n3\n2m\n");
        let program = env!("CARGO_BIN_EXE_plimsoll");
        // `script` runs it on a terminal of its own.
        let mut script = std::process::Command::new("script");
        for (name, value) in laboratory.command(&[]).get_envs() {
            script.env(name, value.unwrap_or_default());
        }
        let command = format!("{program} init --database embedded");
        script
            .args(["--quiet", "--return", "--command", &command, "/dev/null"])
            .current_dir(laboratory.path(""))
            .stdin(fs::File::open(answers).unwrap())
            .stdout(Stdio::piped());
        let said = script.output().unwrap();
        let text = String::from_utf8(said.stdout).unwrap();
        assert_eq!(said.status.code(), Some(0), "{text}");
        assert_contains(&text, "`9` is none of them: type a number from 1 to 5");
        assert_contains(&text, "How long may it take?");
        let written = fs::read_to_string(laboratory.path("experiment.yaml")).unwrap();
        assert_contains(&written, "working_set: 80%");
        assert_contains(&written, "mixes: [c]");
    }

    #[test]
    fn what_cannot_be_asked_is_refused_and_nothing_is_written() {
        let laboratory = Laboratory::new();
        let uri = "mongodb://127.0.0.1:1";
        for (flags, why) in [
            (vec!["--database", uri, "--question", "disk"], "needs a server that plimsoll starts"),
            (vec!["--database", "embedded", "--question", "version"], "one version"),
            (
                vec!["--database", "embedded", "--question", "index"],
                "the query planner of a server",
            ),
            (
                vec!["--database", uri, "--question", "index", "--between", "a", "--between", "b"],
                "no field `a`",
            ),
            (vec!["--database", uri, "--question", "version"], "--between"),
            (vec!["--database", "127.0.0.1:27017"], "is no database: use embedded, mongod"),
            (
                vec!["--database", "embedded", "--setting", "blockcompressor"],
                "no setting `blockcompressor`",
            ),
            (vec!["--database", "embedded", "--question", "disk", "--between", "gp3"], "needs two"),
            (
                vec![
                    "--database",
                    "mongod",
                    "--question",
                    "machine",
                    "--between",
                    "no-such-host.invalid",
                    "--between",
                    "db2",
                ],
                "no-such-host.invalid=",
            ),
        ] {
            let said = laboratory.run(&[&["init"], &flags[..]].concat());
            // A question that can be asked, of an experiment that would be none.
            let code = if why == "no field `a`" { 104 } else { 2 };
            assert_eq!(said.code, Some(code), "{said:?}");
            assert_contains(&said.err, why);
        }
        let wrong = [
            "--database",
            "embedded",
            "--question",
            "disk",
            "--between",
            "gp3",
            "--between",
            "gp4",
        ];
        let said = laboratory.run(&[&["init"], &wrong[..]].concat());
        assert_eq!(said.code, Some(104), "{said:?}");
        assert_contains(&said.err, "gp4");
        assert!(!laboratory.path("experiment.yaml").exists());
    }
}
