//! Whether what an arm stood on was what was requested.

use crate::it::laboratory::{Laboratory, Shown, warns};
use crate::it::watched::{Watched, analyse, calibrated, disk, one_point, only_point, watch};
use crate::{Analysis, ValidityState};
use plimsoll_plan::WorkingSet;
use plimsoll_record::{
    DiskChoice, DiskSpec, EngineDescription, KernelSetting, Lateness, LimitsSpec, RigRecord,
    ServerRecord, WarningId, figures,
};

/// Beyond the caches on a disk of 600 IOPS and 7 ms, this many of them used.
fn on_a_disk(used: f64) -> Laboratory {
    let mut lab = one_point(Some(disk(Some(600.0))), 16, 10.0 * used);
    let watched = Watched { reads: 0.1, read_ns: 26e6, processors: 0.3, ..Watched::default() };
    watch(&mut lab, &watched, &[(figures::DEVICE_SHAPED, 1.0)]);
    lab
}

fn message(analysis: &Analysis, id: WarningId) -> &str {
    let mut warnings = analysis.warnings.iter();
    &warnings.find(|warning| warning.id == id).unwrap().message
}

#[test]
fn a_calibrated_disk_is_good() {
    let analysis = analyse(&on_a_disk(598.0));
    assert_eq!(analysis.warnings, []);
    assert_eq!(only_point(&analysis).valid_runs, 6);
    assert!(analysis.arms[0].calibration.as_ref().unwrap().passed);
    let strip = analysis.validity.iter().find(|one| one.name == "disk");
    assert_eq!(strip.unwrap().state, ValidityState::Good);
}

#[test]
fn a_disk_without_calibration_is_not_valid() {
    let analysis = on_a_disk(598.0).analyse();
    assert_eq!(only_point(&analysis).valid_runs, 0);
    assert_eq!(
        message(&analysis, WarningId::DiskNotCalibrated),
        "the emulated disk was not calibrated (block 1; and in 5 other points)"
    );
    let strip = analysis.validity.iter().find(|one| one.name == "disk");
    assert_eq!(strip.unwrap().state, ValidityState::Bad);
}

#[test]
fn a_disk_that_is_another_one_is_not_valid() {
    let record = calibrated(&on_a_disk(598.0), -0.1);
    let analysis = crate::analyse(&record).unwrap();
    assert_eq!(only_point(&analysis).valid_runs, 0);
    assert_eq!(
        message(&analysis, WarningId::DiskNotCalibrated),
        "the emulated disk is not as requested: random reads of 4 KiB, 16 jobs: 600 IOPS requested, 540 IOPS measured (block 1; and in 5 other points)"
    );
}

#[test]
fn a_disk_that_is_another_one_is_told_before_anything_ran_on_it() {
    let mut lab = on_a_disk(598.0);
    lab.runs.clear();
    let analysis = crate::analyse(&calibrated(&lab, -0.1)).unwrap();
    let entry = |name: &str| {
        let mut all = analysis.validity.iter();
        let entry = all.find(|one| one.name == name).unwrap();
        (entry.state, entry.text.as_str())
    };
    assert_eq!(entry("disk"), (ValidityState::Bad, "not verified under 1 of 1 arm"));
}

#[test]
fn the_calibration_of_another_disk_does_not_count() {
    let lab = on_a_disk(598.0);
    let mut record = calibrated(&lab, 0.0);
    record.calibrations[0].disk.iops.joint = Some(150.0);
    let analysis = crate::analyse(&record).unwrap();
    assert!(warns(&analysis, WarningId::DiskNotCalibrated));
}

#[test]
fn a_disk_that_claims_nothing_needs_no_calibration() {
    let mut lab = one_point(Some(disk(None)), 16, 1e5);
    watch(&mut lab, &Watched::default(), &[]);
    assert_eq!(lab.analyse().warnings, []);
}

#[test]
fn a_second_without_limits_is_not_valid() {
    let mut lab = on_a_disk(598.0);
    let point = lab.points().next().unwrap();
    let name = figures::DEVICE_SHAPED.to_owned();
    point.slices[6].telemetry.insert(name, 0.0);
    let analysis = analyse(&lab);
    assert_eq!(only_point(&analysis).valid_runs, 5);
    assert_eq!(
        message(&analysis, WarningId::DiskUnshaped),
        "the disk had no limits for 8.3 % of the measured time (block 1)"
    );
}

#[test]
fn more_than_the_limit_allows_is_said() {
    let analysis = analyse(&on_a_disk(660.0));
    assert_eq!(only_point(&analysis).valid_runs, 6);
    assert_eq!(
        message(&analysis, WarningId::IdentityBroken),
        "0.1 device requests per operation and a limit of 600 allow 6,000 op/s, 6,600 were measured (block 1; and in 5 other points)"
    );
    assert!(!warns(&analyse(&on_a_disk(615.0)), WarningId::IdentityBroken));
}

#[test]
fn a_late_emulator_is_said() {
    let with = |p99_ns: u64| {
        let mut lab = on_a_disk(598.0);
        for run in &mut lab.runs {
            run.rig = Some(RigRecord {
                lateness: Some(Lateness { held: 1_000, p99_ns, ..Lateness::default() }),
                ..RigRecord::default()
            });
        }
        analyse(&lab)
    };
    assert_eq!(
        message(&with(600_000), WarningId::EmulatorLate),
        "answers were up to 600 µs late (p99), requests took 26.0 ms on average (block 1; and in 5 other points)"
    );
    assert!(!warns(&with(400_000), WarningId::EmulatorLate));
}

#[test]
fn a_full_memory_limit_is_said() {
    let mut lab = on_a_disk(598.0);
    lab.plan.arms[0].rig.limits =
        LimitsSpec { memory_bytes: Some(256 << 20), ..LimitsSpec::default() };
    for slice in lab.points().flat_map(|point| &mut point.slices) {
        let name = figures::GROUP_MEMORY_PROCESSES.to_owned();
        slice.telemetry.insert(name, 250.0 * 1024.0 * 1024.0);
    }
    assert_eq!(
        message(&analyse(&lab), WarningId::MemoryLimit),
        "processes took 250 MiB of the limit of 256 MiB (block 1; and in 5 other points)"
    );
}

/// Memory that is limited to 256 MiB after the load, all of it taken by the processes, and 100 MB of data.
fn with_page_cache(processes_bytes: f64) -> Laboratory {
    let mut lab = on_a_disk(598.0);
    lab.plan.arms[0].rig.limits.page_cache_bytes = Some(64 << 20);
    for run in &mut lab.runs {
        run.data_bytes = Some(100_000_000);
        let rig = run.rig.get_or_insert_default();
        rig.limits.memory_bytes = Some(256 << 20);
    }
    for slice in lab.points().flat_map(|point| &mut point.slices) {
        let mut tell = |name: &str, value: f64| slice.telemetry.insert(name.to_owned(), value);
        tell(figures::GROUP_MEMORY, processes_bytes + 30e6);
        tell(figures::GROUP_PAGE_CACHE, 30e6);
        tell(figures::ENGINE_CACHE_USED, 45e6);
    }
    lab
}

#[test]
fn room_for_the_page_cache_that_came_out_different_is_said() {
    let mib = f64::from(1 << 20);
    let off = analyse(&with_page_cache(212.0 * mib));
    assert_eq!(
        message(&off, WarningId::PageCache),
        "there was room for 44 MiB of page cache, 64 MiB was requested (block 1; and in 5 other points)"
    );
    assert!(!warns(&analyse(&with_page_cache(190.0 * mib)), WarningId::PageCache));
    // The limit follows what the processes take, and has not fallen yet when the sessions have just ended.
    let mut followed = with_page_cache(212.0 * mib);
    for point in followed.points() {
        for slice in &mut point.slices {
            let name = figures::GROUP_MEMORY_LIMIT.to_owned();
            slice.telemetry.insert(name, 276.0 * mib);
        }
        let last = &mut point.slices.last_mut().unwrap().telemetry;
        *last.get_mut(figures::GROUP_MEMORY).unwrap() -= 100.0 * mib;
    }
    assert!(!warns(&analyse(&followed), WarningId::PageCache));
}

#[test]
fn what_the_caches_held_of_the_data_is_told() {
    let shares = analyse(&with_page_cache(190e6)).arms[0].shares.unwrap();
    assert!((shares.engine_cache - 0.45).abs() < 1e-9, "{shares:?}");
    assert!((shares.page_cache - 0.3).abs() < 1e-9, "{shares:?}");
    let (least, most) = shares.neither();
    assert!((least - 0.25).abs() < 1e-9 && (most - 0.55).abs() < 1e-9, "{shares:?}");
    // Without limits the page cache is the whole machine's.
    assert_eq!(analyse(&on_a_disk(598.0)).arms[0].shares, None);
}

#[test]
fn a_working_set_that_came_out_different_is_noted() {
    let with = |bytes: u64| {
        let mut lab = on_a_disk(598.0);
        lab.plan.arms[0].working_set = Some(WorkingSet {
            share: 1.38,
            usable_cache_bytes: 100_000_000,
            bytes_per_record: 1_000.0,
        });
        for run in &mut lab.runs {
            run.data_bytes = Some(bytes);
        }
        analyse(&lab)
    };
    let near = with(140_000_000);
    assert!(!warns(&near, WarningId::WorkingSet));
    let set = near.arms[0].working_set.unwrap();
    assert_eq!((set.requested, set.got), (1.38, Some(1.4)));
    assert_eq!(
        message(&with(160_000_000), WarningId::WorkingSet),
        "the data is 160 % of the usable cache, 138 % was requested"
    );
}

/// Two arms on disks of 150 and 600 IOPS.
fn two_disks() -> Laboratory {
    let mut lab = Laboratory::closed(&["slow", "fast"], &["c"], &[16], 6);
    for (arm, iops) in lab.plan.arms.iter_mut().zip([150.0, 600.0]) {
        arm.rig.disk = Some(DiskChoice::Emulated { spec: disk(Some(iops)) });
    }
    let mut lab = lab.measure(|case| {
        let iops = if case.arm == "slow" { 149.0 } else { 598.0 };
        Shown::closed(case, 10.0 * iops)
    });
    let watched = Watched { reads: 0.1, read_ns: 26e6, processors: 0.3, ..Watched::default() };
    watch(&mut lab, &watched, &[]);
    lab
}

#[test]
fn disks_that_no_request_reached_are_not_compared() {
    let id = WarningId::DiskUnreached;
    assert!(!warns(&analyse(&two_disks()), id));
    let in_memory = |writes_per_second| {
        let mut lab = two_disks();
        let watched = Watched { writes_per_second, ..Watched::default() };
        watch(&mut lab, &watched, &[]);
        lab
    };
    let analysis = analyse(&in_memory(0.0));
    let warning = analysis.warnings.iter().find(|warning| warning.id == id);
    assert_eq!(warning.unwrap().subject, "fast against slow, c at 16 threads");
    // Writes reach a disk as well.
    assert!(!warns(&analyse(&in_memory(1_000.0)), id));
    // The same disk by another name is no factor.
    let mut same = in_memory(0.0);
    for (arm, name) in same.plan.arms.iter_mut().zip(["one", "other"]) {
        let mut spec = disk(Some(600.0));
        spec.preset = Some(name.into());
        arm.rig.disk = Some(DiskChoice::Emulated { spec });
    }
    assert!(!warns(&analyse(&same), id));
}

#[test]
fn a_verdict_has_the_causes_of_both_arms_beside_it() {
    let analysis = analyse(&two_disks());
    insta::assert_snapshot!(analysis.headline.join("\n"), @r"
    Throughput of fast is 4.0 times as high as that of slow under workload c at 16 threads (96.9 % interval 4.0 to 4.0 times, 6 blocks).
    Because slow is limited by disk IOPS: 149 of 150 used, 0.1 device reads per operation, so at most 1,500 op/s; measured 1,490; and fast is limited by disk IOPS: 598 of 600 used, 0.1 device reads per operation, so at most 6,000 op/s; measured 5,980.
    ");
    assert_eq!(analysis.headline.get(1), analysis.comparisons[0].because.as_ref());
}

/// What stands beside the verdict of two arms with the same limit, where the second does a quarter of the first's 50,000 operations a second.
fn beside_a_quarter(
    disk_of: impl Fn(&str) -> Option<DiskSpec>,
    of: impl Fn(&str) -> (Watched, f64),
) -> (Option<String>, Vec<String>) {
    let mut lab = Laboratory::closed(&["whole", "quarter"], &["c"], &[16], 6);
    for arm in &mut lab.plan.arms {
        arm.rig.disk = disk_of(&arm.name).map(|spec| DiskChoice::Emulated { spec });
    }
    let mut lab = lab.measure(|case| {
        let share = if case.arm == "quarter" { 0.25 } else { 1.0 };
        Shown::closed(case, 5e4 * share)
    });
    for run in &mut lab.runs {
        let (watched, pages) = of(&run.arm);
        for slice in run.points.iter_mut().flat_map(|point| &mut point.slices) {
            Watched::into(&watched, slice);
            let pages = pages * slice.completed.total() as f64;
            let telemetry = &mut slice.telemetry;
            telemetry.insert(figures::ENGINE_PAGES_READ.to_owned(), pages);
        }
    }
    let analysis = analyse(&lab);
    (analysis.comparisons[0].cost_difference.clone(), analysis.headline)
}

#[test]
fn where_one_resource_holds_both_back_the_verdict_says_what_an_operation_costs() {
    let full = |pages: f64| (Watched::default(), pages);
    // 1.9 processors for 50,000 and for 12,500 operations a second.
    let (reading, headline) =
        beside_a_quarter(|_| None, |arm| full(if arm == "quarter" { 0.75 } else { 0.0 }));
    assert_eq!(
        reading.unwrap(),
        "Why: each operation costs quarter 4× the CPU (152 µs vs 38.0 µs) and 0.75 cache misses (pages) instead of none."
    );
    // Two causes that read alike are named as one.
    assert_eq!(
        headline.last().unwrap(),
        "Both are limited by CPU: each operation costs quarter 4× the CPU (152 µs vs 38.0 µs) and 0.75 cache misses (pages) instead of none."
    );
    // As many pages explain nothing.
    let (without, _) = beside_a_quarter(|_| None, |_| full(0.75));
    assert_eq!(
        without.unwrap(),
        "Why: each operation costs quarter 4× the CPU (152 µs vs 38.0 µs)."
    );
    // 598 of 600 requests, for operations that take four times as many.
    let waiting =
        |reads: f64| Watched { reads, read_ns: 26e6, processors: 0.3, ..Watched::default() };
    let (on_disk, headline) = beside_a_quarter(
        |_| Some(disk(Some(600.0))),
        |arm| {
            let share = if arm == "quarter" { 0.25 } else { 1.0 };
            (waiting(598.0 / (5e4 * share)), 0.0)
        },
    );
    assert_eq!(
        on_disk.unwrap(),
        "Why: each operation costs quarter 4× the device requests (0.0478 vs 0.012)."
    );
    // The effect of a limit is described for both.
    assert!(headline.last().unwrap().starts_with("Because whole is limited by disk IOPS"));
    // On a disk that allows fewer requests: that its operations take half as many is no reason for it to do less, that they take twice as many is one.
    let on_less = |allowed: f64| {
        let of = |arm: &str| {
            if arm == "quarter" { (allowed, 1.25e4) } else { (1200.0, 5e4) }
        };
        beside_a_quarter(
            |arm| Some(disk(Some(of(arm).0))),
            |arm| (waiting(of(arm).0 * 0.997 / of(arm).1), 0.0),
        )
        .0
    };
    let twice = on_less(600.0).unwrap();
    assert!(twice.starts_with("Why: each operation costs quarter 2×"), "{twice}");
    assert_eq!(on_less(150.0), None);
}

#[test]
fn what_differs_between_two_rigs_is_listed() {
    let mut lab = two_disks();
    for run in &mut lab.runs {
        let loop_device = format!("/dev/loop{}", run.block * 2 + run.position);
        run.rig = Some(RigRecord {
            mkfs: Some(format!("mkfs.xfs -q {loop_device}")),
            mkfs_version: Some("6.6.0".into()),
            mount_options: Some("rw,relatime".into()),
            device: Some(loop_device),
            ..RigRecord::default()
        });
    }
    let found = |lab: &Laboratory| -> Vec<(String, bool)> {
        let pairs = analyse(lab).pairs;
        assert_eq!((pairs[0].baseline.as_str(), pairs[0].arm.as_str()), ("slow", "fast"));
        let differences = pairs[0].differences.iter();
        differences.map(|one| (one.what.clone(), one.declared)).collect()
    };
    assert_eq!(found(&lab), [("disk.iops".to_owned(), true)]);
    for run in lab.runs.iter_mut().filter(|run| run.arm == "fast") {
        let rig = run.rig.as_mut().unwrap();
        rig.mount_options = Some("rw,noatime".into());
        rig.mkfs_version = Some("6.7.0".into());
        run.storage = Some(plimsoll_record::Storage {
            scheduler: Some("none".into()),
            readahead_bytes: Some(131_072),
            ..plimsoll_record::Storage::default()
        });
    }
    let expected = [
        ("disk.iops".to_owned(), true),
        ("rig.mkfs_version".to_owned(), false),
        ("storage.mount_options".to_owned(), false),
        ("storage.readahead_bytes".to_owned(), false),
        ("storage.scheduler".to_owned(), false),
    ];
    assert_eq!(found(&lab), expected);
    assert!(warns(&analyse(&lab), WarningId::OtherDifference));

    // What the file says of the kernel is not found once more.
    lab.plan.arms[1].rig.kernel = [(KernelSetting::Scheduler, "none".to_owned())].into();
    assert_eq!(found(&lab)[1], ("kernel.scheduler".to_owned(), true));
    assert!(!found(&lab).iter().any(|(what, _)| what == "storage.scheduler"));
}

#[test]
fn servers_that_are_started_differ_by_their_ports_as_a_matter_of_course() {
    let mut lab = two_disks();
    let (limits, none) =
        (LimitsSpec { cpus: Some(1.0), ..LimitsSpec::default() }, LimitsSpec::default());
    for (arm, limits) in lab.plan.arms.iter_mut().zip([limits, none]) {
        arm.rig.limits = limits;
    }
    for run in &mut lab.runs {
        let is_slow = run.arm == "slow";
        let notes = [
            ("server_address", format!("127.0.0.1:{}", 40_000 + run.block * 2 + run.position)),
            ("server_host", format!("{} processors amd64", if is_slow { 1 } else { 2 })),
        ];
        run.engine = Some(EngineDescription {
            name: "mongodb".into(),
            version: "6.0.5".into(),
            notes: notes.map(|(name, value)| (name.to_owned(), value)).into(),
            settings: Default::default(),
        });
        run.rig = Some(RigRecord {
            server: Some(ServerRecord {
                program: "/usr/bin/mongod".into(),
                ..ServerRecord::default()
            }),
            ..RigRecord::default()
        });
    }
    let others = |lab: &Laboratory| -> Vec<String> {
        let pairs = analyse(lab).pairs;
        let undeclared = pairs[0].differences.iter().filter(|one| !one.declared);
        undeclared.map(|one| one.what.clone()).collect()
    };
    assert_eq!(others(&lab), Vec::<String>::new());
    // Servers that run by themselves are different subjects, so their addresses count.
    for run in &mut lab.runs {
        run.rig = None;
    }
    assert_eq!(others(&lab), ["engine.server_address"]);
    // And equal limits do not make a machine smaller.
    for arm in &mut lab.plan.arms {
        arm.rig.limits = LimitsSpec::default();
    }
    assert_eq!(others(&lab), ["engine.server_address", "engine.server_host"]);
}
