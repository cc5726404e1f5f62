//! What a made-up experiment gets when two machines made load and its arms stood on a third.

use plimsoll_judge::{Analysis, HostSummary, NetworkSummary, Validity, ValidityState};
use plimsoll_record::{ExperimentRecord, Machine, Warning, WarningId};

/// For each host: whether it makes load, its processors, and how well its clock is known.
const HOSTS: [(&str, bool, u32, u64); 3] =
    [("bench1", true, 16, 84_000), ("bench2", true, 8, 1_260_000), ("db1", false, 32, 61_500)];

/// Puts the arms on a host of their own, and two load hosts before it.
pub fn furnish(record: &mut ExperimentRecord, analysis: &mut Analysis) {
    for (place, arm) in (0_u32..).zip(&mut analysis.arms) {
        arm.on = Some("db1".into());
        let depth = 1.0 - 0.3 * f64::from(place);
        for (host, makes_load, cores, clock_bound_ns) in HOSTS {
            let first = host == "bench1";
            analysis.hosts.push(HostSummary {
                arm: arm.name.clone(),
                host: Some(host.into()),
                makes_load,
                has_server: !makes_load,
                points: 60,
                cores: Some(cores),
                throughput: makes_load.then_some(if first { 81_400.0 } else { 63_200.0 } * depth),
                generator_lag_p99_ns: (makes_load && place == 0).then_some(48_100.0),
                load_processors: makes_load.then_some(if first { 3.07 } else { 2.94 } * depth),
                clock_bound_ns,
                start_skew_ns: makes_load.then_some(if first { 0 } else { 412_000 }),
                network: Some(NetworkSummary {
                    received_bytes_per_second: Some(
                        if makes_load { 94.6e6 } else { 41.8e6 } * depth,
                    ),
                    sent_bytes_per_second: Some(if makes_load { 20.9e6 } else { 189.2e6 } * depth),
                    link_bytes_per_second: (!first).then_some(1.25e9),
                    retransmitted: Some(if first { 0.0 } else { 0.000_31 }),
                    round_trip_least_ns: makes_load.then_some(88_000.0),
                    round_trip_median_ns: makes_load.then_some(104_000.0),
                }),
                stolen: (cores != 8).then_some(if makes_load { 0.0 } else { 0.0021 }),
            });
        }
    }
    for run in &mut record.runs {
        run.machine = Machine {
            cpu_model: Some("Imaginary CPU 12000".into()),
            cores: 32,
            memory_bytes: 256 << 30,
            ..record.machine.clone()
        };
    }
    analysis.validity.push(Validity {
        name: "hosts".into(),
        state: ValidityState::Caution,
        text: "3 hosts at work, clocks known to ±1.26 ms; the limit is ±1 ms".into(),
    });
    analysis.warnings.push(Warning::new(
        WarningId::ClockBound,
        "deep-harbour, A at 1 thread, A at 2 threads, A at 4 threads and 7 others",
        "clocks are known less well than ±1.00 ms: host bench2 to ±1.26 ms (block 1; and in 59 other points)",
    ));
}
