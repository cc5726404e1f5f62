//! What the made-up experiment gets when its arms stand on emulated disks and are watched. Every number is invented, but they agree with each other.

use super::{Noise, Shape, median_of};
use plimsoll_judge::{
    Analysis, CalibrationResult, CapKind, Cause, CauseKind, CurvePoint, Difference, FigureSummary,
    Figures, IdentityCheck, PairDifferences, RuleResult, WorkingSetResult,
};
use plimsoll_plan::DataShares;
use plimsoll_record::{
    Backing, Calibration, CalibrationCheck, DiskChoice, DiskLatency, DiskRates, DiskSpec,
    ExperimentRecord, FilesystemKind, FilesystemSpec, FioResult, Lateness, LimitsSpec, Price,
    RigRecord, RigSpec, TraceReference, figures,
};

const WORKING_SETS: [f64; 4] = [0.92, 1.38, 1.82, 2.30];
/// Device reads for each operation, by working set.
const READS: [f64; 4] = [0.0, 0.000_4, 0.117, 0.31];
const CAPS: [f64; 3] = [5_000.0, 600.0, 150.0];
const DISKS: [&str; 3] = ["fast-5000", "san-raid10", "spinning-disk"];

/// Numbers of the arm's working set and disk.
fn place(shape: &Shape, arm: usize) -> (usize, usize) {
    if shape.arms.len() <= 4 { (2, arm % 3) } else { (arm / 3 % 4, arm % 3) }
}

fn number(shape: &Shape, arm: &str) -> usize {
    let found = shape.arms.iter().position(|name| name == arm);
    found.unwrap_or(0)
}

/// Operations per second that the arm's disk allows.
pub fn most(shape: &Shape, arm: usize) -> f64 {
    let (working_set, disk) = place(shape, arm);
    match READS[working_set] {
        0.0 => f64::INFINITY,
        reads => CAPS[disk] / reads,
    }
}

/// The arm that this one is compared with: with many watched arms, that with the same working set on the first disk.
pub fn against<'a>(shape: &'a Shape, arm: &str) -> &'a str {
    let first = if shape.watched && shape.arms.len() > 4 { number(shape, arm) / 3 * 3 } else { 0 };
    &shape.arms[first]
}

fn disk(number: usize) -> DiskSpec {
    let latency =
        if number == 0 { DiskLatency::None } else { DiskLatency::Constant { ns: 7_000_000 } };
    DiskSpec {
        preset: Some(DISKS[number].into()),
        iops: DiskRates { joint: Some(CAPS[number]), ..DiskRates::default() },
        read_latency: latency.clone(),
        write_latency: latency,
        backing: Backing::File,
        trace_requests: 1 << 20,
        ..DiskSpec::unlimited(8 << 30)
    }
}

fn rig(number: usize) -> RigSpec {
    RigSpec {
        disk: Some(DiskChoice::Emulated { spec: disk(number) }),
        filesystem: Some(FilesystemSpec {
            kind: FilesystemKind::Xfs,
            mkfs: vec!["-m".into(), "crc=1".into()],
            mount: vec!["noatime".into()],
        }),
        readahead_bytes: None,
        kernel: Default::default(),
        limits: limits(),
        server: None,
        machine: Some("harbour.medium".into()),
        price: Some(Price {
            per_hour: 0.07,
            currency: "USD".into(),
            source: Some("price list of an imaginary cloud".into()),
            date: Some("2026-02".into()),
        }),
    }
}

fn limits() -> LimitsSpec {
    LimitsSpec {
        memory_bytes: Some(422 << 20),
        cpus: Some(1.5),
        pin: vec![0, 1],
        ..LimitsSpec::default()
    }
}

fn made(number: usize, block: u32) -> RigRecord {
    RigRecord {
        device: Some(format!("/dev/loop{}", 4 + number)),
        mkfs: Some(format!("mkfs.xfs -q -m crc=1 /dev/loop{}", 4 + number)),
        mkfs_version: Some("mkfs.xfs version 6.1.0".into()),
        mount_options: Some("rw,noatime,attr2,inode64,logbufs=8,logbsize=32k,noquota".into()),
        kernel: Default::default(),
        control_groups: Some(1),
        limits: limits(),
        lateness: Some(Lateness {
            held: 48_213 + u64::from(block),
            p50_ns: 4_100,
            p99_ns: 61_000 + u64::from(block) * 1_000,
            max_ns: 912_000,
            rings: Some(true),
        }),
        server: None,
        trace: Some(TraceReference {
            path: format!("/harbour/plimsoll/traces/k3f9q/disk-{number}-block-{block}.trace")
                .into(),
            requests: 1_048_576,
            overwritten: if number == 0 { 52_000 } else { 0 },
        }),
    }
}

fn calibration(number: usize) -> Calibration {
    let cap = CAPS[number];
    let check = |what: &str, unit: &str, requested: f64, measured: f64| CalibrationCheck {
        what: what.into(),
        unit: unit.into(),
        requested,
        measured,
        allowed: requested * 0.02,
    };
    let mut checks = vec![check("random reads of 4 KiB, 16 jobs", "IOPS", cap, cap * 1.000_7)];
    if number > 0 {
        let off = if number == 2 { 1.034 } else { 1.004 };
        checks.push(check("random reads of 4 KiB, 1 job", "ns", 7_000_000.0, 7_000_000.0 * off));
    }
    Calibration {
        machine: None,
        host: None,
        disk: disk(number),
        at: format!("2026-03-01T08:5{number}:00Z"),
        fio_version: "fio-3.33".into(),
        results: checks
            .iter()
            .map(|check| FioResult {
                label: check.what.clone(),
                command: "fio --name=random --ioengine=psync --direct=1 --bs=4k".into(),
                json: serde_json::json!({"fio version": "fio-3.33", "jobs": [{"jobname": "random"}]}),
            })
            .collect(),
        checks,
    }
}

fn cause_kind(working_set: usize, disk: usize) -> CauseKind {
    match (working_set, disk) {
        (0, _) => CauseKind::Cpu,
        (1, _) => CauseKind::PageCache,
        _ => CauseKind::DiskIops,
    }
}

fn measured(shape: &Shape, arm: usize, throughput: f64) -> Figures {
    let (working_set, disk) = place(shape, arm);
    let reads = READS[working_set] * throughput;
    let into_cache = [0.0, 0.38, 0.52, 0.64][working_set];
    let requested = into_cache * throughput * 4_096.0;
    let from_device = reads * 4_096.0;
    let latency = match disk {
        0 => 210_000.0,
        1 => 26_700_000.0,
        _ => 106_900_000.0,
    };
    let known = |value: f64| (working_set > 0).then_some(value);
    Figures {
        operations_per_second: Some(throughput),
        engine_cache_hit_ratio: Some(1.0 - into_cache / 3.0),
        engine_cache_fill: Some(0.74 + 0.02 * working_set as f64),
        engine_cache_dirty: Some(0.041),
        engine_read_bytes_per_second: Some(requested * 1.04),
        engine_pages_read_per_operation: Some(into_cache),
        evictions_per_operation: Some(into_cache * 0.99),
        evictions_by_application_per_operation: Some(into_cache * 0.02),
        journal_syncs_per_second: Some(9.8),
        journal_sync_ns: Some(latency * 1.4),
        journal_bytes_per_second: Some(throughput * 60.0),
        checkpoints: Some(1.0),
        checkpoint_share: Some(0.083),
        page_cache_hit_ratio: known(1.0 - from_device / requested.max(1.0)),
        asked_bytes_per_second: Some(requested),
        page_cache_bytes_per_second: Some(requested - from_device),
        device_reads_per_second: Some(reads),
        device_writes_per_second: Some(11.5),
        device_flushes_per_second: Some(1.9),
        device_read_bytes_per_second: Some(from_device),
        device_written_bytes_per_second: Some(11.5 * 16_384.0),
        device_read_ns: known(latency),
        device_write_ns: Some(latency * 1.1),
        device_queue: Some(reads * latency / 1e9),
        device_utilisation: Some(if reads > 100.0 { 0.999 } else { 0.02 }),
        device_reads_per_operation: Some(READS[working_set]),
        device_writes_per_operation: Some(11.5 / throughput),
        device_shaped: Some(1.0),
        worker_cpu_ns_per_operation: Some(9_400.0),
        machine_cpu_ns_per_operation: Some(12_100.0),
        machine_busy: Some((throughput * 12_100.0 / 2e9).min(0.98)),
        machine_kernel: Some((throughput * 4_000.0 / 2e9).min(0.3)),
        machine_iowait: Some(if reads > 100.0 { 0.41 } else { 0.003 }),
        machine_steal: Some(0.001),
        group_memory_bytes: Some(f64::from(421 << 20)),
        watching: Some(0.000_31),
        ..Figures::default()
    }
}

fn cause(shape: &Shape, arm: usize, figures: &Figures, sessions: u32) -> Cause {
    let (working_set, disk) = place(shape, arm);
    let throughput = figures.operations_per_second.unwrap_or_default();
    let (cap, reads) = (CAPS[disk], READS[working_set]);
    let used = reads * throughput;
    let mut identities = Vec::new();
    if reads > 0.0 {
        identities.push(IdentityCheck {
            kind: CapKind::Iops,
            cap,
            used,
            per_operation: reads,
            at_most: cap / reads,
            measured: throughput,
            ratio: throughput * reads / cap,
            binding: true,
        });
    }
    let kind = if sessions == 1 { CauseKind::DiskLatency } else { cause_kind(working_set, disk) };
    let sentence = match kind {
        CauseKind::DiskIops => format!(
            "disk IOPS: {used:.0} of {cap:.0} used, {reads} device requests per operation, so at most {:.0} op/s; measured {throughput:.0}",
            cap / reads
        ),
        CauseKind::DiskLatency => {
            "disk latency: the only session waits for the disk 88 % of its time".into()
        }
        CauseKind::PageCache => {
            "page cache: 99.9 % of what the engine reads comes from it, at 1,560 ns of CPU for 4 KiB"
                .into()
        }
        _ => "CPU: 98 % of both processors are busy, 94 % of it is the engine".into(),
    };
    Cause {
        kind,
        sentence,
        identities,
        rules: vec![
            RuleResult {
                kind: CauseKind::Generator,
                holds: Some(false),
                figures: "1.2 % of the sessions' time".into(),
            },
            RuleResult {
                kind: CauseKind::DiskIops,
                holds: Some(kind == CauseKind::DiskIops),
                figures: format!("{used:.0} of {cap:.0} requests per second"),
            },
            RuleResult {
                kind: CauseKind::CpuLimit,
                holds: None,
                figures: "the group's CPU time is not known".into(),
            },
            RuleResult {
                kind: CauseKind::Cpu,
                holds: Some(kind == CauseKind::Cpu),
                figures: "98 % busy".into(),
            },
        ],
    }
}

fn furnish_point(shape: &Shape, point: &mut CurvePoint) {
    let arm = number(shape, &point.arm);
    for result in &mut point.results {
        result.figures = measured(shape, arm, result.throughput);
    }
    let of = |throughput: Option<f64>| {
        measured(shape, arm, throughput.unwrap_or(median_of(&point.throughput)))
    };
    let mut rates: Vec<f64> = point.throughput.values.iter().map(|(_, rate)| *rate).collect();
    rates.sort_by(f64::total_cmp);
    point.figures = FigureSummary {
        median: of(None),
        lowest: of(rates.first().copied()),
        highest: of(rates.last().copied()),
    };
    point.cause = Some(cause(shape, arm, &point.figures.median, point.load.sessions()));
}

pub fn furnish_analysis(shape: &Shape, analysis: &mut Analysis) {
    for (index, arm) in analysis.arms.iter_mut().enumerate() {
        let (working_set, disk) = place(shape, index);
        let share = WORKING_SETS[working_set];
        arm.rig = rig(disk);
        arm.made = Some(made(disk, 0));
        arm.working_set = Some(WorkingSetResult {
            requested: share,
            got: Some(share * 1.006),
            records: (share * 108_000.0) as u64,
            data_bytes: Some(share * 1.006 * f64::from(132 << 20)),
            usable_cache_bytes: 132 << 20,
        });
        arm.shares = DataShares::of(share, 1.0, 1.2);
        arm.calibration = Some(CalibrationResult::from(&calibration(disk)));
    }
    for point in analysis.curves.iter_mut().flat_map(|curve| &mut curve.points) {
        furnish_point(shape, point);
    }
    for point in &mut analysis.load_phase {
        furnish_point(shape, point);
    }
    for series in &mut analysis.series {
        let arm = number(shape, &series.arm);
        let mut noise = Noise::new(u64::from(series.block) * 31 + arm as u64);
        for (place, second) in series.seconds.iter().enumerate() {
            let mut figures = measured(shape, arm, second.throughput);
            figures.engine_cache_fill = Some((0.5 + 0.03 * place as f64).min(0.8));
            figures.device_read_ns =
                figures.device_read_ns.map(|latency| latency * (1.0 + 0.1 * noise.next()));
            let checkpoint = (10..13).contains(&place);
            figures.checkpoint_share = Some(if checkpoint { 1.0 } else { 0.0 });
            figures.device_writes_per_second = Some(if checkpoint { 90.0 } else { 6.0 });
            figures.engine_cache_dirty = Some(0.01 + 0.005 * (place % 12) as f64);
            series.figures.push(figures);
        }
    }
    let curves = &analysis.curves;
    for comparison in &mut analysis.comparisons {
        let of = |arm: &str| {
            let points = curves.iter().flat_map(|curve| &curve.points);
            let mut mine = points.filter(|point| point.arm == arm);
            let found = mine.find(|point| point.point == Some(comparison.point));
            found.and_then(|point| point.cause.as_ref())
        };
        if let (Some(first), Some(other)) = (of(&comparison.baseline), of(&comparison.arm)) {
            comparison.because = Some(format!(
                "Because {} is limited by {}; and {} is limited by {}.",
                comparison.baseline, first.sentence, comparison.arm, other.sentence
            ));
        }
    }
    for (index, arm) in shape.arms.iter().enumerate() {
        let baseline = against(shape, arm);
        if baseline == arm {
            continue;
        }
        let (first, other) = (place(shape, number(shape, baseline)).1, place(shape, index).1);
        let values =
            |first: String, other: String| vec![(baseline.to_owned(), first), (arm.clone(), other)];
        analysis.pairs.push(PairDifferences {
            baseline: baseline.to_owned(),
            arm: arm.clone(),
            differences: vec![
                Difference {
                    what: "disk".into(),
                    values: values(DISKS[first].into(), DISKS[other].into()),
                    declared: true,
                },
                Difference {
                    what: "free space at the start".into(),
                    values: values("61 GiB".into(), "60 GiB".into()),
                    declared: false,
                },
            ],
        });
    }
}

/// Rigs of the runs, calibrations, and what was watched in each slice.
pub fn furnish_record(shape: &Shape, record: &mut ExperimentRecord) {
    let disks = shape.arms.len().min(3);
    record.calibrations = (0..disks).map(calibration).collect();
    for run in &mut record.runs {
        let (working_set, disk) = place(shape, number(shape, &run.arm));
        run.rig = Some(made(disk, run.block));
        run.data_bytes = Some((WORKING_SETS[working_set] * 1.006 * f64::from(132 << 20)) as u64);
        for slice in run.points.iter_mut().flat_map(|point| &mut point.slices) {
            slice.telemetry = [
                (figures::DEVICE_READS, CAPS[disk]),
                (figures::ENGINE_CACHE_USED, 1.05e8 + f64::from(slice.index)),
                (figures::WATCHING, 612_000.0),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
        }
    }
}
