use crate::{Measured, Options, read};
use plimsoll_record::{Completed, Operation};
use plimsoll_testing::assert_contains;
use proptest::prelude::*;

/// A load and a run, as it prints them in sequence.
const BOTH: &str = "\
2026-01-28 19:34:32 0 sec: 0 operations;
2026-01-28 19:34:42 10 sec: 600 operations; [INSERT: Count=600 Max=26.86 Min=0.46 Avg=5.41 90=9.92 99=25.81 99.9=26.82 99.99=26.86]
2026-01-28 19:34:48 16 sec: 1000 operations; [INSERT: Count=1000 Max=26.86 Min=0.46 Avg=5.25 90=9.92 99=25.81 99.9=26.82 99.99=26.86]
Load runtime(sec): 16.5
Load operations(ops): 1000
Load throughput(ops/sec): 60.6061
2026-01-28 19:34:49 0 sec: 0 operations;
2026-01-28 19:34:59 10 sec: 2000 operations; [READ: Count=1010 Max=184.32 Min=0.04 Avg=5.15 90=12.38 99=29.17 99.9=40.29 99.99=62.69] [UPDATE: Count=990 Max=174.59 Min=0.08 Avg=5.67 90=12.39 99=29.6 99.9=51.45 99.99=123.26]
2026-01-28 19:35:09 20 sec: 5000 operations; [READ: Count=2500 Max=184.32 Min=0.04 Avg=4.96 90=12.28 99=28.25 99.9=39.74 99.99=62.69] [READ-FAILED: Count=20 Max=9 Min=1 Avg=4 90=5 99=6 99.9=7 99.99=8] [UPDATE: Count=2480 Max=174.59 Min=0.08 Avg=5.47 90=12.25 99=28.00 99.9=48.54 99.99=123.26]
Run runtime(sec): 20.4
Run operations(ops): 5000
Run throughput(ops/sec): 245.098
";

fn all(text: &str) -> Vec<Measured> {
    read("cpp.txt", text.as_bytes(), &Options::default()).unwrap()
}

#[test]
fn a_load_and_a_run_are_read_as_they_are_summed_up() {
    let outputs = all(BOTH);
    assert_eq!(outputs.len(), 2);
    let (load, run) = (&outputs[0], &outputs[1]);
    assert_eq!((load.tool.as_str(), load.workload.as_deref()), ("YCSB-cpp", Some("load")));
    assert_eq!((load.measured_ns, run.measured_ns), (16_500_000_000, 20_400_000_000));
    assert_eq!((load.damage.len(), run.damage.len()), (0, 0));
    let stated = run.stated.as_ref().unwrap();
    let expected = Completed { ok: 4_980, not_found: 0, error: 20 };
    assert_eq!(stated.completed, expected);
    let reads = &stated.operations[0];
    assert_eq!(reads.operation, Operation::Read);
    assert_eq!(reads.latencies.service.mean_ns(), Some(4_960.0));
    assert_eq!(reads.latencies.service.percentile_ns(99.99), Some(62_690));
    // The lines count from the start.
    let slices: Vec<u64> = run.slices.iter().map(|slice| slice.completed.ok).collect();
    assert_eq!(slices, [2_000, 2_980]);
    assert_eq!(run.slices[1].operations[0].latencies.count(), 1_490);
}

#[test]
fn an_output_without_its_totals_is_damaged() {
    let cut = &BOTH[..BOTH.find("Run runtime").unwrap()];
    let outputs = all(cut);
    assert!(outputs[0].damage.is_empty());
    assert_contains(&outputs[1].damage[0], "the totals at its end are missing");
    assert_eq!(outputs[1].measured_ns, 20_000_000_000);
    let changed = BOTH.replace("245.098", "2450.98");
    assert_eq!(all(&changed)[1].damage.len(), 1);
}

proptest! {
    #[test]
    fn whatever_is_in_the_file_nothing_panics(text in "[ -~\n]{0,200}") {
        let _ = read("x", format!("{BOTH}{text}").as_bytes(), &Options::default());
    }
}
