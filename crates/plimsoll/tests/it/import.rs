//! Results of other tools, from their files to the page.

use crate::laboratory::{Laboratory, Said, page_of};
use crate::stores::with_a_record;
use plimsoll_record::{ExperimentState, Operation, Status};
use plimsoll_store::Store;
use plimsoll_testing::{Need, assert_contains, needs};
use std::fs;
use std::process::Command;

/// A report of YCSB: this many reads in ten seconds by four threads, which are busy nearly all of the time.
fn report(reads: u64) -> String {
    let mean_us = 39_500_000 / reads;
    format!(
        "Command line: -db site.ycsb.db.MongoDbClient -P workloads/workloadc -p mongodb.url=mongodb://me:hunter2@db/ycsb -threads 4 -t\n\
         YCSB Client 0.17.0\n\
         [OVERALL], RunTime(ms), 10000\n[OVERALL], Throughput(ops/sec), {}.0\n[READ], Operations, {reads}\n\
         [READ], AverageLatency(us), {mean_us}.0\n[READ], MinLatency(us), 5\n[READ], MaxLatency(us), 900000\n\
         [READ], 99thPercentileLatency(us), {}\n[READ], Return=OK, {reads}\n",
        reads / 10,
        mean_us * 3
    )
}

fn good(said: &Said) {
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
}

/// What is said of an import that must fail, of which nothing may be stored.
fn refused(laboratory: &Laboratory, arguments: &[&str]) -> String {
    let mut all = vec!["foreign", "import"];
    all.extend(arguments);
    let said = laboratory.run(&all);
    let found = (said.code, said.out.as_str());
    assert_eq!(found, (Some(1), ""), "{arguments:?}: {}", said.err);
    if let Ok(store) = Store::open_read_only(&laboratory.store()) {
        assert_eq!(store.list(&Default::default()).unwrap(), []);
    }
    said.err
}

/// A folder of results, some of which cannot be right.
fn published(laboratory: &Laboratory) {
    fs::create_dir_all(laboratory.path("results/old")).unwrap();
    laboratory.write("results/a-good.txt", report(10_000));
    // Of four threads at 3.9 ms each, half of the operations are missing.
    let halved = report(10_000).replace("Operations, 10000", "Operations, 5000");
    let halved = halved.replace("1000.0", "500.0").replace("OK, 10000", "OK, 5000");
    laboratory.write("results/old/b-little.txt", halved);
    let failed = report(10_000) + "[READ], Return=ERROR, 70\n";
    laboratory.write("results/old/c-failed.txt", failed);
    let died = report(10_000) + "[CLEANUP], Operations, 3\n";
    laboratory.write("results/old/d-died.txt", died);
    laboratory.write("results/README.md", "What we measured.\n");
}

#[test]
fn an_audit_says_what_can_be_believed() {
    let laboratory = Laboratory::new();
    published(&laboratory);
    let said = laboratory.run(&["foreign", "audit", "results", "--json", "--page", "audit.html"]);
    good(&said);
    let audit: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(audit["passed_over"], 1);
    let results = audit["results"].as_array().unwrap();
    let found: Vec<(&str, &str, Vec<&str>)> = results
        .iter()
        .map(|result| {
            let reasons = result["reasons"].as_array().unwrap().iter();
            let ids = reasons.filter(|reason| reason["grave"] == true);
            (
                result["source"].as_str().unwrap(),
                result["belief"].as_str().unwrap(),
                ids.map(|reason| reason["id"].as_str().unwrap()).collect(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("results/a-good.txt", "believable", vec![]),
            ("results/old/b-little.txt", "not-believable", vec!["W-LITTLES-LAW"]),
            ("results/old/c-failed.txt", "not-believable", vec!["W-ERRORS"]),
            ("results/old/d-died.txt", "not-believable", vec!["W-IMPORT-DAMAGED"]),
        ]
    );
    assert!(!said.out.contains("hunter2"));
    let page = fs::read_to_string(laboratory.path("audit.html")).unwrap();
    assert_contains(&page, "4 results: 1 believable, 0 with care, 3 not believable.");
    assert!(!laboratory.store().exists(), "nothing is stored");

    let said = laboratory.run(&["foreign", "audit", "results", "--strict"]);
    assert_eq!(said.code, Some(106), "{said:?}");
    assert_contains(&said.out, "of 4 client threads only 3 came to their end");
}

/// The output of a client that begins at this second of a minute, with status lines.
fn client(second: u64, reads: u64) -> String {
    let at = |second: u64| format!("2026-03-01 12:00:{second:02}:000");
    let begin = format!("{} 0 sec: 0 operations; \n", at(second));
    let end = format!("{} 10 sec: {reads} operations; \n", at(second + 10));
    report(reads).replacen("[OVERALL]", &format!("{begin}{end}[OVERALL]"), 1)
}

#[test]
fn an_audit_tells_clients_copies_and_other_forms() {
    let laboratory = Laboratory::new();
    fs::create_dir(laboratory.path("results")).unwrap();
    laboratory.write("results/0.txt", client(0, 10_000));
    laboratory.write("results/1.txt", client(1, 11_000));
    laboratory.write("results/2.txt", client(30, 12_000));
    laboratory.write("results/copy.txt", client(30, 12_000));
    laboratory.write("results/terse.txt", "3;fio-3.28;seqread;0;0;1048576;104857\n");
    let said = laboratory.run(&["foreign", "audit", "results", "--json"]);
    good(&said);
    let audit: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let reasons = |place: usize| audit["results"][place]["reasons"].to_string();
    assert_contains(
        reasons(0),
        "made at the same time as 1.txt: if they are clients of one run, it did 2100 op/s",
    );
    assert_contains(reasons(1), "made at the same time as 0.txt");
    assert_eq!(reasons(2), "[]");
    assert_contains(reasons(3), "the same output as results/2.txt");
    let said = laboratory.run(&["foreign", "audit", "results"]);
    let words: Vec<&str> = said.out.split_whitespace().collect();
    assert_contains(
        words.join(" "),
        "4 results: 1 believable, 3 with care, 0 not believable. 1 is a copy of another one. 1 file cannot be judged: fio's terse form (run fio with --output-format=json).",
    );
    // As an arm they are a run of two clients, and one of a single client.
    laboratory.run(&["foreign", "import", "both=results/0.txt,results/1.txt,results/2.txt"]);
    let record = laboratory.record();
    let points = record.runs.iter().flat_map(|run| &run.points);
    let loads: Vec<&str> = points.map(|point| point.label.load_label.as_str()).collect();
    assert_eq!(loads, ["4 threads", "8 threads"]);
}

#[test]
fn an_audit_names_what_it_cannot_read() {
    let laboratory = Laboratory::new();
    laboratory.write("notes.md", "What we measured.\n");
    let said = laboratory.run(&["foreign", "audit", "notes.md", "no-such-file"]);
    good(&said);
    assert_contains(&said.out, "no format is recognised");
    assert_contains(&said.out, "2 results: 0 believable, 0 with care, 2 not believable.");
    fs::create_dir(laboratory.path("empty")).unwrap();
    let said = laboratory.run(&["foreign", "audit", "empty"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_contains(&said.err, "nothing to audit");
    // The files are named even where none of them is a result.
    laboratory.write("empty/terse.txt", "3;fio-3.28;seqread;0;0;1048576;104857\n");
    let said = laboratory.run(&["foreign", "audit", "empty"]);
    assert_contains(&said.err, "1 file cannot be judged: fio's terse form");
    laboratory.write("empty/cut.json", "{\"fio version\": \"fio-3.28\", \"jobs\": [{\"jobname\"");
    let said = laboratory.run(&["foreign", "audit", "empty"]);
    good(&said);
    assert_contains(&said.out, "empty/cut.json");
    assert_contains(&said.out, "the JSON is damaged");
}

#[test]
fn arms_of_several_runs_are_stored_shown_compared_and_exported() {
    let laboratory = Laboratory::new();
    for run in 0..6 {
        laboratory.write(&format!("old-{run}.txt"), report(10_000 + 100 * run));
        laboratory.write(&format!("new-{run}.txt"), report(13_000 + 100 * run));
    }
    let listed = |arm: &str| -> String {
        let files: Vec<String> = (0..6).map(|run| format!("{arm}-{run}.txt")).collect();
        format!("{arm}={}", files.join(","))
    };
    let (old, new) = (listed("old"), listed("new"));
    let said = laboratory.run(&["foreign", "import", "--all", "--name", "upgrade", &old, &new]);
    good(&said);
    assert_contains(&said.err, "6 outputs of old, 6 outputs of new");
    assert_contains(&said.out, "Throughput of new is ");
    assert_contains(&said.out, "W-UNPAIRED");

    let record = laboratory.record();
    assert_eq!(record.name.as_str(), "upgrade");
    assert_eq!(record.state, ExperimentState::Finished);
    assert_eq!(record.runs.len(), 12);
    assert!(record.command.starts_with("plimsoll foreign import"));
    let imported = record.imported().next().unwrap();
    assert_eq!(imported.version.as_deref(), Some("YCSB Client 0.17.0"));
    assert_eq!(imported.files[0].name, "old-0.txt");
    let expected = fs::metadata(laboratory.path("old-0.txt")).unwrap().len();
    assert_eq!(imported.files[0].bytes, expected);

    let list = laboratory.run(&["list"]);
    assert_contains(&list.out, "finished     12/12");
    assert_contains(&list.out, "upgrade: old, new");
    let again = laboratory.run(&["report", "--all"]);
    assert_eq!(again.out, said.out);
    let compared = laboratory.run(&["compare", "last"]);
    assert_contains(&compared.out, "new against old");
    let two = laboratory.run(&["compare", "upgrade:old", "upgrade:new"]);
    good(&two);

    let page = fs::read_to_string(page_of(&said.out)).unwrap();
    assert_contains(&page, "Other programs measured this");
    for words in ["old-0.txt", "cannot be tried", "unpaired"] {
        assert_contains(&page, words);
    }

    good(&laboratory.run(&["export", "--to", "out"]));
    let points = fs::read_to_string(laboratory.path("out/points.csv")).unwrap();
    assert_eq!(points.lines().count(), 13);
    let names = crate::exports::names(&laboratory.path("out"));
    let has_logs = names.iter().any(|name| name.ends_with(".hlog"));
    assert!(!has_logs, "there is no histogram to log: {names:?}");

    // The password of the command line is nowhere.
    let mut written = page.into_bytes();
    for name in names {
        written.extend(fs::read(laboratory.path(&format!("out/{name}"))).unwrap());
    }
    written.extend(fs::read(laboratory.store()).unwrap());
    written.extend(said.out.bytes().chain(said.err.bytes()));
    assert!(!written.windows(7).any(|word| word == b"hunter2"));
}

#[test]
fn files_that_cannot_be_imported_store_nothing() {
    let laboratory = Laboratory::new();
    laboratory.write("good.txt", report(10_000));
    laboratory.write("empty.txt", "");
    laboratory.write("letter.txt", "Dear store, ".repeat(20));
    laboratory.write("binary", [0_u8, 1, 2, 3, 255]);
    let negative = report(10_000).replace("MinLatency(us), 5", "MinLatency(us), -5");
    laboratory.write("negative.txt", negative);
    laboratory.write("copy.txt", report(10_000));
    laboratory.write("terse.txt", "3;fio-3.28;seqread;0;0;1048576;104857\n");
    fs::create_dir(laboratory.path("folder")).unwrap();
    for (arguments, words) in [
        (&["missing.txt"][..], "cannot open missing.txt"),
        (&["folder"], "is a directory"),
        (&["empty.txt"], "the file is empty"),
        (&["good.txt", "letter.txt"], "no format is recognised"),
        (&["binary"], "no text"),
        (&["negative.txt"], "negative.txt, line 7: MinLatency(us) of [READ] is `-5`"),
        (&["=good.txt"], "names no arm"),
        (&["a=good.txt,"], "names no file"),
        (&["good.txt", "--format", "fio"], "no JSON document with a `fio version`"),
        (&["terse.txt"], "this is fio's terse form: run fio with --output-format=json"),
        (&["a=good.txt,good.txt"], "good.txt is named twice"),
        (&["a=good.txt", "b=copy.txt"], "good.txt and copy.txt hold the same output"),
        (&["a=good.txt+good.txt"], "more than one output"),
    ] {
        let said = refused(&laboratory, arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    assert_eq!(laboratory.run(&["foreign", "import"]).code, Some(2));
    let none = laboratory.run(&["foreign", "import", "good.txt", "--threads", "0"]);
    assert_eq!(none.code, Some(2));
}

#[test]
fn a_result_that_contradicts_itself_is_stored_and_invalid() {
    let laboratory = Laboratory::new();
    laboratory.write("good.txt", report(10_000));
    let odd = report(10_000).replace("-threads 4", "-threads 8");
    laboratory.write("odd.txt", odd);
    let said = laboratory.run(&["foreign", "import", "--all", "odd.txt"]);
    assert_eq!(said.code, Some(106), "{}", said.err);
    assert_contains(&said.out, "W-LITTLES-LAW");
    good(&laboratory.run(&["foreign", "import", "good.txt", "--json"]));
    assert_eq!(laboratory.record().name, "good");
}

/// Report, status lines and logs of a run with a target, by our own drop-in.
#[test]
fn what_our_own_ycsb_writes_is_imported_whole() {
    let laboratory = Laboratory::new();
    let workload = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/workloada");
    let words = "run basic -s -threads 2 -target 2000 -p operationcount=3000 -p status.interval=1 -p hdrhistogram.fileoutput=true";
    let mut arguments = vec!["foreign", "ycsb", "-P", workload];
    arguments.splice(2..2, words.split(' '));
    let said = laboratory.run(&arguments);
    good(&said);
    laboratory.write("run.txt", format!("{}{}", said.out, said.err));
    let logs = ["READ", "UPDATE", "Intended-READ", "Intended-UPDATE", "CLEANUP"];
    let logs = logs.map(|name| format!("{name}.hdr"));
    let joined = format!("a=run.txt+{}", logs.join("+"));
    let imported = laboratory.run(&["foreign", "import", &joined]);
    assert_contains(&imported.err, "CLEANUP.hdr, line 1: the log is of CLEANUP");
    let record = laboratory.record();
    let point = &record.runs[0].points[0];
    assert_eq!(point.label.load_label, "2 threads, paced at 2,000 op/s");
    let stated = record.imported().next().unwrap().stated.as_ref().unwrap();
    assert_eq!(stated.completed.ok, 3_000);
    for part in &stated.operations {
        // Of both times every bucket is known, and they are of the same operations.
        let (service, response) = (&part.latencies.service, part.latencies.response());
        assert!(service.summary().is_none() && response.summary().is_none());
        assert_eq!(service.count(), response.count());
        assert!(service.mean_ns() <= response.mean_ns());
    }
    let of_slices = point.slices.iter().map(|slice| slice.completed.ok).sum::<u64>();
    assert_eq!(of_slices, 3_000);
    let warnings = format!("{:?}", record.runs[0].warnings);
    assert!(!warnings.contains("ImportDamaged") && !warnings.contains("left out"), "{warnings}");

    // The logs of service and of response times are of one client, which did 2,000 op/s.
    good(&laboratory.run(&["foreign", "import", &format!("b={}", logs[..4].join(","))]));
    let record = laboratory.record();
    assert_eq!((record.runs.len(), record.runs[0].points.len()), (1, 1));
    let slices = record.runs[0].points[0].slices.iter();
    assert_eq!(slices.map(|slice| slice.completed.ok).sum::<u64>(), 3_000);
    let said = laboratory.run(&["foreign", "audit", &logs[0], &logs[2], "--json"]);
    good(&said);
    let audit: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    for (place, other) in [(0, "Intended-READ.hdr"), (1, "READ.hdr")] {
        let reasons = audit["results"][place]["reasons"].to_string();
        assert_contains(&reasons, &format!("{other} has other times of the same operations"));
        assert!(!reasons.contains("clients of one run"), "{reasons}");
    }
}

mod slow {
    use super::*;

    /// fio's own output. Where fio is not installed, there is nothing to read.
    #[test]
    fn what_fio_writes_is_read() {
        needs!([Need::Program("fio")]);
        let laboratory = Laboratory::new();
        let output = laboratory.path("fio.json");
        let file = laboratory.path("disk-file");
        let ran = Command::new("fio")
            .args(["--name=seek", "--size=1m", "--rw=randrw", "--bs=4k"])
            .args(["--number_ios=200", "--output-format=json+"])
            .arg(format!("--filename={}", file.display()))
            .arg(format!("--output={}", output.display()))
            .status();
        assert!(ran.unwrap().success());
        let said = laboratory.run(&["foreign", "import", "disk=fio.json"]);
        assert_contains(&said.err, "1 output of disk");
        let record = laboratory.record();
        let stated = record.imported().next().unwrap().stated.as_ref().unwrap();
        assert_eq!(stated.operations.len(), 2);
        for part in &stated.operations {
            // json+ has every bucket.
            assert!(part.latencies.service.summary().is_none());
        }
    }

    #[test]
    fn our_own_logs_come_back_as_they_were() {
        let (laboratory, record) = with_a_record();
        good(&laboratory.run(&["export", "--to", "out"]));
        let files = fs::read_dir(laboratory.path("out")).unwrap();
        let mut files = files.map(|entry| entry.unwrap().path());
        let log = files.find(|path| path.extension().is_some_and(|end| end == "hlog"));
        let log = log.unwrap();
        let said = laboratory.run(&["foreign", "import", log.to_str().unwrap()]);
        assert_contains(&said.err, "imported as");
        let reads = |record: &plimsoll_record::ExperimentRecord| {
            let mut all = plimsoll_record::Histogram::new();
            let points = record.runs[0].points.iter();
            for point in points.filter(|point| point.label.mix == "c") {
                for part in point.slices.iter().flat_map(|slice| &slice.operations) {
                    if (part.operation, part.status) == (Operation::Read, Status::Ok) {
                        all.merge(&part.latencies.service);
                    }
                }
            }
            all
        };
        assert_eq!(reads(&laboratory.record()), reads(&record));
    }
}
