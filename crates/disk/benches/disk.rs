//! How true emulated disks are: what fio measures on them beside what they are configured to be. Needs root, fio and losetup.
//!
//! `cargo bench -p plimsoll-disk --bench disk [-- WORD]`, with a word of the disks that are to be measured.

use plimsoll_disk::{Control, Daemon, DaemonOrder, DaemonProgram, serve};
use plimsoll_record::{Backing, DiskLatency, DiskRates, DiskSpec};
use std::path::Path;
use std::process::Command;

/// Of each load. fio counts an answer only when it saw the question too, so that a ramp would cost some IOPS of a slow disk with a long queue.
const SECONDS: u32 = 10;

struct Load {
    name: &'static str,
    jobs: u32,
    words: &'static [&'static str],
}

const SINGLE: Load =
    Load { name: "4k randread, 1 job", jobs: 1, words: &["--rw=randread", "--bs=4k"] };
const READS: Load =
    Load { name: "4k randread, 16 jobs", jobs: 16, words: &["--rw=randread", "--bs=4k"] };
const LARGE_READS: Load =
    Load { name: "32k randread, 16 jobs", jobs: 16, words: &["--rw=randread", "--bs=32k"] };
const WRITES: Load =
    Load { name: "4k randwrite, 16 jobs", jobs: 16, words: &["--rw=randwrite", "--bs=4k"] };
const FLUSHED_WRITES: Load = Load {
    name: "4k randwrite + fsync, 4 jobs",
    jobs: 4,
    words: &["--rw=randwrite", "--bs=4k", "--fsync=1"],
};
const DEEP_READS: Load = Load {
    name: "4k randread, libaio, 2 jobs of 32",
    jobs: 2,
    words: &["--rw=randread", "--bs=4k", "--ioengine=libaio", "--iodepth=32"],
};

fn main() {
    if std::env::args().any(|argument| argument == "daemon") {
        let _ = serve(std::io::stdin(), std::io::stdout());
        return;
    }
    let wanted = std::env::args().skip(1).find(|word| word != "--bench");
    let disk = |iops: Option<f64>, latency_ns: u64| {
        let latency = match latency_ns {
            0 => DiskLatency::None,
            ns => DiskLatency::Constant { ns },
        };
        DiskSpec {
            iops: DiskRates { joint: iops, ..DiskRates::default() },
            read_latency: latency.clone(),
            write_latency: latency,
            ..DiskSpec::unlimited(1 << 30)
        }
    };
    const SEVEN_MS: u64 = 7_000_000;
    let shaped = &[READS, LARGE_READS, WRITES, FLUSHED_WRITES][..];
    let unshaped = &[DEEP_READS, READS, WRITES][..];
    let disks = [
        ("5000 IOPS", disk(Some(5000.0), 0), shaped),
        ("600 IOPS + 7 ms", disk(Some(600.0), SEVEN_MS), shaped),
        ("150 IOPS + 7 ms", disk(Some(150.0), SEVEN_MS), shaped),
        ("only 7 ms", disk(None, SEVEN_MS), &[SINGLE, READS]),
        ("unshaped", disk(None, 0), unshaped),
        ("unshaped, traced", DiskSpec { trace_requests: 1 << 20, ..disk(None, 0) }, unshaped),
        ("unshaped, in a file", DiskSpec { backing: Backing::File, ..disk(None, 0) }, unshaped),
    ];
    println!(
        "{:<20} {:<34} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "disk", "load", "asked IOPS", "IOPS", "asked µs", "mean µs", "p99 µs"
    );
    for (name, spec, loads) in disks {
        if wanted.as_ref().is_some_and(|word| !name.contains(word)) {
            continue;
        }
        measure(name, &spec, loads);
    }
}

fn measure(name: &str, spec: &DiskSpec, loads: &[Load]) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mount_point = folder.path().join("fuse");
    std::fs::create_dir(&mount_point).expect("the folder is new");
    let order = DaemonOrder {
        spec: spec.clone(),
        mount_point,
        backing_file: Some(folder.path().join("blocks")),
        socket: folder.path().join("socket"),
        trace: (spec.trace_requests > 0).then(|| folder.path().join("trace")),
        shaped: true,
    };
    let program = DaemonProgram {
        path: std::env::current_exe().expect("this program has a file"),
        arguments: vec!["daemon".into()],
    };
    let daemon = Daemon::start(&program, &order).unwrap_or_else(|error| panic!("{error}"));
    let device = Loop::over(&daemon.image());
    for load in loads {
        let (iops, mean_us, p99_us) = fio(&device.0, load);
        let requested = requested(spec, load);
        let number = |number: f64| format!("{number:.1}");
        let (requested_iops, requested_us) = match requested {
            Some(iops) => (number(iops), number(f64::from(load.jobs) / iops * 1e6)),
            None => ("-".into(), "-".into()),
        };
        println!(
            "{name:<20} {:<34} {requested_iops:>10} {iops:>10.1} {requested_us:>10} {mean_us:>10.1} {p99_us:>10.1}",
            load.name
        );
    }
    let counters = Control::connect(&order.socket).and_then(|mut control| control.counters());
    if let Ok(counters) = counters {
        let late = counters.lateness;
        println!(
            "{name:<20} late: p50 {} ns, p99 {} ns, longest {} ns",
            late.p50_ns, late.p99_ns, late.max_ns
        );
    }
    drop(device);
    daemon.stop().unwrap_or_else(|error| panic!("{error}"));
}

/// IOPS by the disk's limit, or by Little's law where its latency is narrower. Who flushes as well is kept up by that, too.
fn requested(spec: &DiskSpec, load: &Load) -> Option<f64> {
    if load.words.contains(&"--fsync=1") {
        return None;
    }
    let by_latency = match spec.read_latency {
        DiskLatency::Constant { ns } => Some(f64::from(load.jobs) * 1e9 / ns as f64),
        _ => None,
    };
    match (spec.iops.joint, by_latency) {
        (Some(cap), Some(most)) => Some(cap.min(most)),
        (cap, most) => cap.or(most),
    }
}

/// A loop device, until it is dropped.
struct Loop(String);

impl Loop {
    fn over(image: &Path) -> Self {
        let made = Command::new("losetup")
            .args(["--find", "--show", "--direct-io=on"])
            .arg(image)
            .output()
            .expect("losetup is there");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Self(String::from_utf8_lossy(&made.stdout).trim().to_owned())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

/// IOPS, mean and p99 of the completion latency in µs; of writes where there are only those.
fn fio(device: &str, load: &Load) -> (f64, f64, f64) {
    let said = Command::new("fio")
        .args(["--name=bench", "--ioengine=psync", "--direct=1"])
        .args(["--time_based", "--randrepeat=0", "--norandommap"])
        .args(["--group_reporting", "--output-format=json"])
        .arg(format!("--runtime={SECONDS}"))
        .arg(format!("--filename={device}"))
        .arg(format!("--numjobs={}", load.jobs))
        .args(load.words)
        .output()
        .expect("fio is there");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let json: serde_json::Value = serde_json::from_slice(&said.stdout).expect("fio writes JSON");
    let job = &json["jobs"][0];
    let side = if job["read"]["total_ios"] == 0 { &job["write"] } else { &job["read"] };
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or(f64::NAN);
    (
        number(&side["iops"]),
        number(&side["clat_ns"]["mean"]) / 1e3,
        number(&side["clat_ns"]["percentile"]["99.000000"]) / 1e3,
    )
}
