use crate::{Arm, Frame, Measured, Options, read, record};
use plimsoll_testing::assert_contains;

/// The output of a client that starts `begin` seconds after noon and runs for 20 s at `rate` operations per second.
fn client(begin: u64, rate: u64, database: &str) -> String {
    let at = |second: u64| format!("2026-03-01 12:00:{:02}:100", begin + second);
    let status = |second: u64| {
        let figures = format!(
            "{rate}.0 current ops/sec; [READ: Count={}, Max=9000, Min=90, Avg=1900.0, 90=2000, 99=4000, 99.9=8000, 99.99=9000]",
            10 * rate
        );
        format!("{} {second} sec: {} operations; {figures} \n", at(second), second * rate)
    };
    format!(
        "Command line: -db site.ycsb.db.{database} -P c -threads 2 -target 1000 -t\n{} 0 sec: 0 operations; \n{}{}[OVERALL], RunTime(ms), 20000\n\
         [OVERALL], Throughput(ops/sec), {rate}.0\n[READ], Operations, {}\n[READ], AverageLatency(us), 1900.0\n[READ], Return=OK, {}\n",
        at(0),
        status(10),
        status(20),
        20 * rate,
        20 * rate
    )
}

fn outputs(texts: &[String]) -> Vec<Measured> {
    let mut outputs = Vec::new();
    for (place, text) in texts.iter().enumerate() {
        let name = format!("{place}.txt");
        outputs.extend(read(&name, text.as_bytes(), &Options::default()).unwrap());
    }
    outputs
}

fn recorded(texts: &[String]) -> Result<plimsoll_record::ExperimentRecord, crate::ImportError> {
    let arm = Arm { name: "one".into(), outputs: outputs(texts) };
    record(&Frame::default(), vec![arm])
}

#[test]
fn outputs_of_the_same_time_are_clients_of_one_run() {
    let texts =
        [(0, 800), (1, 900), (2, 850)].map(|(begin, rate)| client(begin, rate, "MongoDbClient"));
    let record = recorded(&texts).unwrap();
    assert_eq!(record.runs.len(), 1);
    let point = &record.runs[0].points[0];
    assert_eq!(point.label.load.sessions(), 6);
    assert_eq!(point.label.load_label, "6 threads, paced at 3,000 op/s");
    let end = point.end.as_ref().unwrap();
    let imported = end.imported.as_ref().unwrap();
    let done = imported.stated.as_ref().unwrap().completed.ok;
    assert_eq!((done, imported.files.len()), (51_000, 3));
    let rate = done as f64 / (end.measured_ns as f64 / 1e9);
    assert!((rate / 2_550.0 - 1.0).abs() < 1e-6, "{rate}");
    let slices: Vec<u64> = point.slices.iter().map(|slice| slice.completed.ok).collect();
    assert_eq!(slices, [25_500, 25_500]);
    let said = record.runs[0].warnings.iter().map(|warning| warning.message.as_str());
    assert_contains(said.collect::<Vec<_>>().concat(), "clients of one run");
}

#[test]
fn outputs_of_other_times_are_runs_of_their_own() {
    let texts = [(0, 800), (30, 900)].map(|(begin, rate)| client(begin, rate, "MongoDbClient"));
    assert_eq!(recorded(&texts).unwrap().runs.len(), 2);
    // Half of a run beside another one is no client of it.
    let texts = [(0, 800), (15, 900)].map(|(begin, rate)| client(begin, rate, "MongoDbClient"));
    assert_eq!(recorded(&texts).unwrap().runs.len(), 2);
}

#[test]
fn one_run_counts_once() {
    let text = client(0, 800, "MongoDbClient");
    let error = recorded(&[text.clone(), client(30, 700, "MongoDbClient"), text]).unwrap_err();
    assert_contains(error, "0.txt and 2.txt hold the same output");
}
