//! Results of other tools, from their files to the page.

use crate::laboratory::{Laboratory, Said, page_of};
use crate::stores::with_a_record;
use plimsoll_record::{ExperimentState, Operation, Status};
use plimsoll_store::Store;
use std::fs;
use std::process::Command;

/// A report of YCSB: so many reads in ten seconds by four threads, which are busy nearly all of the time.
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
    let mut all = vec!["import"];
    all.extend(arguments);
    let said = laboratory.run(&all);
    assert_eq!(
        (said.code, said.out.as_str()),
        (Some(1), ""),
        "{arguments:?}: {}",
        said.err
    );
    let stored = Store::open_read_only(&laboratory.store()).map(|store| {
        store
            .list(&plimsoll_store::Filter::default())
            .unwrap()
            .len()
    });
    assert_eq!(stored.unwrap_or(0), 0);
    said.err
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
    let said = laboratory.run(&[
        "import",
        "--name",
        "upgrade",
        &listed("old"),
        &listed("new"),
    ]);
    good(&said);
    assert!(
        said.err.contains("6 outputs of old, 6 outputs of new"),
        "{}",
        said.err
    );
    assert!(said.out.contains("new is better than old"), "{}", said.out);
    assert!(said.out.contains("W-UNPAIRED"), "{}", said.out);

    let record = laboratory.record();
    assert_eq!(
        (record.name.as_str(), record.state),
        ("upgrade", ExperimentState::Finished)
    );
    assert_eq!(record.runs.len(), 12);
    assert!(record.command.starts_with("plimsoll import"));
    let imported = record.imported().next().unwrap();
    assert_eq!(imported.version.as_deref(), Some("YCSB Client 0.17.0"));
    assert_eq!(imported.files[0].name, "old-0.txt");
    assert_eq!(
        imported.files[0].bytes,
        fs::metadata(laboratory.path("old-0.txt")).unwrap().len()
    );

    let list = laboratory.run(&["list"]);
    assert!(
        list.out.contains("finished     12/12") && list.out.contains("upgrade: old, new"),
        "{}",
        list.out
    );
    let again = laboratory.run(&["report"]);
    assert_eq!(again.out, said.out);
    let compared = laboratory.run(&["compare", "last"]);
    assert!(compared.out.contains("new against old"), "{}", compared.out);
    let two = laboratory.run(&["compare", "upgrade:old", "upgrade:new"]);
    good(&two);

    let page = fs::read_to_string(page_of(&said.out)).unwrap();
    for words in [
        "Other programs measured this",
        "old-0.txt",
        "cannot be tried",
        "unpaired",
    ] {
        assert!(page.contains(words), "the page does not say {words}");
    }

    good(&laboratory.run(&["export", "--to", "out"]));
    let points = fs::read_to_string(laboratory.path("out/points.csv")).unwrap();
    assert_eq!(points.lines().count(), 13);
    let logs = fs::read_dir(laboratory.path("out")).unwrap();
    let names: Vec<String> = logs
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        !names.iter().any(|name| name.ends_with(".hlog")),
        "there is no histogram to log: {names:?}"
    );

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
    laboratory.write(
        "negative.txt",
        report(10_000).replace("MinLatency(us), 5", "MinLatency(us), -5"),
    );
    fs::create_dir(laboratory.path("folder")).unwrap();
    for (arguments, words) in [
        (&["missing.txt"][..], "cannot open missing.txt"),
        (&["folder"], "is a directory"),
        (&["empty.txt"], "the file is empty"),
        (&["good.txt", "letter.txt"], "no format is recognised"),
        (&["binary"], "no text"),
        (
            &["negative.txt"],
            "negative.txt, line 7: MinLatency(us) of [READ] is `-5`",
        ),
        (&["=good.txt"], "names no arm"),
        (&["a=good.txt,"], "names no file"),
        (&["good.txt", "--format", "fio"], "begins its JSON"),
        (&["a=good.txt+good.txt"], "more than one output"),
    ] {
        let said = refused(&laboratory, arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    assert_eq!(laboratory.run(&["import"]).code, Some(2));
    assert_eq!(
        laboratory
            .run(&["import", "good.txt", "--threads", "0"])
            .code,
        Some(2)
    );
}

#[test]
fn a_result_that_contradicts_itself_is_stored_and_invalid() {
    let laboratory = Laboratory::new();
    laboratory.write("good.txt", report(10_000));
    laboratory.write(
        "odd.txt",
        report(10_000).replace("-threads 4", "-threads 8"),
    );
    let said = laboratory.run(&["import", "odd.txt"]);
    assert_eq!(said.code, Some(106), "{}", said.err);
    assert!(said.out.contains("W-LITTLES-LAW"), "{}", said.out);
    good(&laboratory.run(&["import", "good.txt", "--json"]));
    assert_eq!(laboratory.record().name, "good");
}

#[test]
fn our_own_logs_come_back_as_they_were() {
    let (laboratory, record) = with_a_record();
    good(&laboratory.run(&["export", "--to", "out"]));
    let mut logs = fs::read_dir(laboratory.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let log = logs
        .find(|path| path.extension().is_some_and(|end| end == "hlog"))
        .unwrap();
    let said = laboratory.run(&["import", log.to_str().unwrap()]);
    assert!(said.err.contains("imported as"), "{}", said.err);
    let reads = |record: &plimsoll_record::ExperimentRecord| {
        let mut all = plimsoll_record::Histogram::new();
        for point in record.runs[0]
            .points
            .iter()
            .filter(|point| point.label.mix == "c")
        {
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

/// fio's own output. Where fio is not installed, there is nothing to read.
#[test]
fn what_fio_writes_is_read() {
    let laboratory = Laboratory::new();
    let output = laboratory.path("fio.json");
    let ran = Command::new("fio")
        .args([
            "--name=seek",
            "--size=1m",
            "--rw=randrw",
            "--bs=4k",
            "--number_ios=200",
            "--output-format=json+",
        ])
        .arg(format!(
            "--filename={}",
            laboratory.path("disk-file").display()
        ))
        .arg(format!("--output={}", output.display()))
        .status();
    assert!(ran.unwrap().success());
    let said = laboratory.run(&["import", "disk=fio.json"]);
    assert!(
        said.err.contains("1 output of disk"),
        "{}{}",
        said.out,
        said.err
    );
    let record = laboratory.record();
    let stated = record.imported().next().unwrap().stated.as_ref().unwrap();
    assert_eq!(stated.operations.len(), 2);
    for part in &stated.operations {
        assert!(
            part.latencies.service.summary().is_none(),
            "json+ has every bucket"
        );
    }
}
