//! How true emulated disks are: what fio measures on them beside what they are configured to be. And what they cost: in turns, a loop device over
//! a file in memory or of the host, a disk whose requests come through `/dev/fuse`, and one whose requests come through rings of io_uring. Needs root, fio and
//! losetup.
//!
//! `cargo bench -p plimsoll-disk --bench disk [-- WORD]`, with a word of the disks that are to be measured, or `cost`.

use plimsoll_disk::{Control, Daemon, DaemonOrder, DaemonProgram, RingSwitch, serve};
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
const DEEP_WRITES: Load = Load {
    name: "4k randwrite, libaio, 2 jobs of 32",
    jobs: 2,
    words: &["--rw=randwrite", "--bs=4k", "--ioengine=libaio", "--iodepth=32"],
};
const LONG_READS: Load = Load {
    name: "1m read, libaio, 1 job of 8",
    jobs: 1,
    words: &["--rw=read", "--bs=1m", "--ioengine=libaio", "--iodepth=8"],
};

/// The whole device, once.
const FILL: Load =
    Load { name: "1m write", jobs: 1, words: &["--rw=write", "--bs=1m", "--size=100%"] };

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
    if wanted.as_deref() == Some("cost") {
        return cost(&disk(None, 0), &disk(Some(5000.0), 0));
    }
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

/// Rounds of the costs, and seconds of each load in each.
const ROUNDS: usize = 5;
const TURN_SECONDS: u32 = 3;

/// What it costs to go through a daemon, as medians of rounds in which all take turns.
fn cost(unshaped: &DiskSpec, shaped: &DiskSpec) {
    println!(
        "{:<36} {:>10} {:>10} {:>10} {:>8} {:>8} {:>11} {:>11}",
        "load", "bare IOPS", "fuse", "rings", "fuse", "rings", "fuse µs CPU", "rings µs CPU"
    );
    let loads = [&SINGLE, &DEEP_READS, &DEEP_WRITES, &READS, &WRITES, &LONG_READS];
    for load in loads {
        turns(unshaped, load, load.name);
    }
    let in_a_file = DiskSpec { backing: Backing::File, ..unshaped.clone() };
    turns(&in_a_file, &DEEP_READS, "4k randread, 2 × 32, in a file");
    turns(&in_a_file, &DEEP_WRITES, "4k randwrite, 2 × 32, in a file");
    turns(shaped, &READS, "4k randread, 16 jobs, 5000 IOPS");
    turns(shaped, &SINGLE, "4k randread, 1 job, 5000 IOPS");
}

fn turns(spec: &DiskSpec, load: &Load, name: &str) {
    let folder = match spec.backing {
        Backing::Memory => tempfile::tempdir_in("/dev/shm"),
        Backing::File => tempfile::tempdir(),
    };
    let folder = folder.expect("a temporary folder can be made");
    let file = folder.path().join("bare");
    let created = std::fs::File::create(&file).and_then(|file| file.set_len(spec.capacity_bytes));
    created.expect("there is room");
    let bare = Loop::over(&file);
    let disks = [Disk::start(spec, false), Disk::start(spec, true)];
    // Pages that were never written are not read.
    for device in [&bare, &disks[0].device, &disks[1].device] {
        fio(&device.0, &FILL, None);
    }
    let (mut iops, mut cpu_us) = ([const { Vec::new() }; 3], [const { Vec::new() }; 2]);
    for _ in 0..ROUNDS {
        iops[0].push(fio(&bare.0, load, Some(TURN_SECONDS)).0);
        for (number, disk) in disks.iter().enumerate() {
            let before = disk.cpu_us();
            let (rate, _, _) = fio(&disk.device.0, load, Some(TURN_SECONDS));
            iops[number + 1].push(rate);
            let requests = rate * f64::from(TURN_SECONDS);
            cpu_us[number].push((disk.cpu_us() - before) / requests);
        }
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let [bare, fuse, rings] = iops.each_mut().map(median);
    let [fuse_us, rings_us] = cpu_us.each_mut().map(median);
    println!(
        "{name:<36} {bare:>10.0} {fuse:>10.0} {rings:>10.0} {:>8.2} {:>8.2} {fuse_us:>11.1} {rings_us:>11.1}",
        fuse / bare,
        rings / bare,
    );
}

/// A disk with its loop device.
struct Disk {
    device: Loop,
    daemon: Option<Daemon>,
    order: DaemonOrder,
    _folder: tempfile::TempDir,
}

impl Disk {
    fn start(spec: &DiskSpec, with_rings: bool) -> Self {
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
        let daemon = RingSwitch::turned(with_rings, || Daemon::start(&program, &order));
        let daemon = daemon.unwrap_or_else(|error| panic!("{error}"));
        let device = Loop::over(&daemon.image());
        Self { device, daemon: Some(daemon), order, _folder: folder }
    }

    /// What the daemon has used of the processors so far.
    fn cpu_us(&self) -> f64 {
        let counters = Control::connect(&self.order.socket).and_then(|mut it| it.counters());
        counters.unwrap_or_else(|error| panic!("{error}")).cpu_ns as f64 / 1e3
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.device.detach();
        if let Some(daemon) = self.daemon.take() {
            daemon.stop().unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

fn measure(name: &str, spec: &DiskSpec, loads: &[Load]) {
    let disk = Disk::start(spec, true);
    for load in loads {
        let (iops, mean_us, p99_us) = fio(&disk.device.0, load, Some(SECONDS));
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
    let counters = Control::connect(&disk.order.socket).and_then(|mut control| control.counters());
    if let Ok(counters) = counters {
        let late = counters.lateness;
        println!(
            "{name:<20} late: p50 {} ns, p99 {} ns, longest {} ns",
            late.p50_ns, late.p99_ns, late.max_ns
        );
    }
}

/// IOPS by the disk's limit, or by Little's law where its latency is narrower. Flushes between the writes take time, too.
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

    fn detach(&mut self) {
        if !self.0.is_empty() {
            let _ = Command::new("losetup").args(["--detach", &self.0]).status();
            self.0.clear();
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        self.detach();
    }
}

/// IOPS, mean and p99 of the completion latency in µs; of writes where there are only those. Without a time, it ends by itself.
fn fio(device: &str, load: &Load, seconds: Option<u32>) -> (f64, f64, f64) {
    let time = seconds.map(|seconds| ["--time_based".to_owned(), format!("--runtime={seconds}")]);
    let said = Command::new("fio")
        .args(["--name=bench", "--ioengine=psync", "--direct=1"])
        .args(["--randrepeat=0", "--norandommap"])
        .args(["--group_reporting", "--output-format=json"])
        .args(time.into_iter().flatten())
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
