//! What arms stand on, working sets and scales.

use crate::it::{ENGINES, check_with, plan, surroundings};
use crate::{Overrides, Surroundings, check, disk_as_file, disk_by_text, disk_presets};
use plimsoll_plan::{Plan, differences, explain};
use plimsoll_record::{Backing, DiskChoice, DiskLatency, DiskRates, DiskSpec};
use plimsoll_testing::assert_contains;
use std::cell::Cell;
use std::path::Path;

const RIGS: &str = include_str!("rigs.yaml");

fn at_scale(text: &str, scale: &str) -> Plan {
    let overrides = Overrides { scale: Some(scale.into()), ..Overrides::default() };
    check_with(text, &overrides).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn explanation_of_the_rigs() {
    insta::assert_snapshot!(explain(&plan(RIGS), &ENGINES).to_string());
}

/// Everything that is handed on, to the last figure.
#[test]
fn rigs_arrive() {
    let plan = plan(RIGS);
    let mut text = String::new();
    for arm in &plan.arms {
        let records = arm.data.records;
        text.push_str(&format!("{}: {records} {:?}\n{:#?}\n", arm.name, arm.working_set, arm.rig));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_scale_is_laid_over_the_file() {
    let full = at_scale(RIGS, "full");
    assert_eq!(full.scale.as_deref(), Some("full"));
    assert_eq!(full.measurement.blocks, 12);
    let names: Vec<&str> = full.arms.iter().map(|arm| arm.name.as_str()).collect();
    assert_eq!(names, ["san", "small", "described", "changed", "real", "plain", "machine", "fast"]);
    assert_eq!(full.arms[0].data.records, 10_000);
    assert_eq!(full.arms[1].data.records, 10_000);
    assert_eq!(full.arms[3].data.records, 50_000);

    let own = plan(RIGS);
    assert_eq!(own.scale, None);
    assert_eq!(at_scale(RIGS, "laptop"), own);
    assert_ne!(own.hash(), full.hash());
}

/// The sizes of a published machine.
const PUBLISHED: &str = "\
plimsoll: 1
name: published
workload: {records: 6M, mixes: {a: {preset: a}}}
defaults: {cache_size: 1408MiB, checkpoint_interval: 60s, disk: san-raid10, limits: {page_cache: 2714MiB}}
factors: {filesystem: [xfs, ext4], readahead: [0, 128KiB]}
load: {closed: {threads: [1, 16]}}
measurement: {warm_up: 30s, duration: 10m, operations: 10M}
compare: {factor: filesystem}
scales:
  laptop: {ratio: 1/40}
  look: {ratio: 2.5%, measurement: {duration: 4s, blocks: 1}}
";

#[test]
fn a_ratio_makes_a_file_smaller_in_proportion() {
    let (full, small) = (at_scale(PUBLISHED, "full"), plan(PUBLISHED));
    let of = |plan: &Plan| {
        let arm = &plan.arms[0];
        (
            arm.data.records,
            arm.settings.bytes("cache_size").unwrap() >> 20,
            arm.settings.nanos("checkpoint_interval").unwrap() / 1_000_000_000,
            arm.rig.limits.page_cache_bytes.unwrap() >> 20,
            plan.measurement.operations.unwrap(),
        )
    };
    assert_eq!(of(&full), (6_000_000, 1_408, 60, 2_714, 10_000_000));
    assert_eq!(of(&small), (150_000, 35, 2, 68, 250_000));
    let names = (full.scale.as_deref(), small.scale.as_deref());
    assert_eq!(names, (None, Some("laptop")));
    let seconds = |plan: &Plan| {
        let measurement = &plan.measurement;
        [measurement.warm_up_ns, measurement.duration_ns].map(|nanos| nanos / 1_000_000_000)
    };
    assert_eq!(seconds(&small), [2, 15], "no warm-up below 2 s");
    // What is not in proportion, and what the scale itself says.
    assert_eq!(small.points.len(), 2);
    assert_eq!(small.arms[0].rig.readahead_bytes, Some(0));
    let iops = |plan: &Plan| match &plan.arms[0].rig.disk {
        Some(DiskChoice::Emulated { spec }) => spec.iops,
        other => panic!("{other:?}"),
    };
    assert_eq!(iops(&small), iops(&full));
    let look = at_scale(PUBLISHED, "look");
    assert_eq!((look.arms[0].data.records, seconds(&look)[1]), (150_000, 4));

    let description = explain(&small, &ENGINES).to_string();
    let scale = description.lines().find(|line| line.starts_with("scale")).unwrap();
    assert!(scale.starts_with("scale   laptop, 1/40 of the file as written: data,"), "{scale}");
}

/// What points are too short for is known before they are measured.
#[test]
fn cautions_of_a_plan_have_their_figures() {
    let cautions = |text: &str| explain(&plan(text), &ENGINES).cautions;
    assert!(
        cautions(&PUBLISHED.replace("readahead: [0, 128KiB]", "cache_size: [1408MiB, 700MiB]"))
            .is_empty()
    );
    let short = PUBLISHED
        .replace("ratio: 1/40", "ratio: 1/40, measurement: {warm_up: 2s, duration: 4s}")
        .replace("checkpoint_interval: 60s", "checkpoint_interval: 40m");
    insta::assert_snapshot!(cautions(&short).join("\n"), @"
    points of 4s are too short to judge whether they were steady: 10s are needed
    a point of 4s holds 0.07 checkpoints of 1m: what writes of workload a cost at the next one is not measured
    a page cache of 68MiB takes 29s or more to fill from a disk of 600 IOPS, latency 7ms by requests of 4KiB, and a point is over after 6s: what is measured is the filling
    ");
    // A cache that is filled before needs no waiting, and reads alone need no checkpoint.
    let warm = short.replace("duration: 4s", "duration: 10s, caches: warm");
    let reads = warm.replace("preset: a", "preset: c");
    assert!(cautions(&reads).is_empty(), "{:?}", cautions(&reads));
}

/// The measured bytes of a record decide how many there are, but not which experiment it is.
#[test]
fn hash_of_a_working_set_is_that_of_its_share() {
    let measured = Cell::new(0);
    let with = |bytes: f64, text: &str| {
        let measure = |_: &str, _: &_, _: Option<&_>, _: &_| {
            measured.set(measured.get() + 1);
            Ok(bytes)
        };
        let overrides = Overrides::default();
        let surroundings =
            Surroundings { measure: &measure, ..crate::it::surroundings(&overrides) };
        check(text, "experiment.yaml", &surroundings).unwrap()
    };
    let (small, large) = (with(1_200.0, RIGS), with(1_900.0, RIGS));
    assert_eq!(measured.get(), 2, "once for all arms of a file");
    assert_ne!(small.arms[0].data.records, large.arms[0].data.records);
    assert_eq!(small.arms[0].rig, large.arms[0].rig);
    assert_eq!(small.hash(), large.hash());
    assert_ne!(with(1_200.0, &RIGS.replace("92%", "93%")).hash(), small.hash());
    with(1_200.0, &RIGS.replace("small: {", "small: {compressor: zstd, "));
    assert_eq!(measured.get(), 5, "once more for other settings");
}

#[test]
fn what_differs_between_arms() {
    let plan = plan(RIGS);
    let mut text = String::new();
    for arm in &plan.arms[1..] {
        text.push_str(&format!("{} and {}\n", plan.arms[0].name, arm.name));
        for found in differences(&plan.arms[0], arm) {
            text.push_str(&format!("  {}: {} | {}\n", found.what, found.left, found.right));
        }
        assert_eq!(differences(arm, arm), []);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn disks_from_the_command_line() {
    for preset in disk_presets() {
        assert_eq!(disk_by_text(&preset.name).unwrap(), preset.spec);
        let flow = format!("{{preset: {}}}", preset.name);
        assert_eq!(disk_by_text(&flow).unwrap(), preset.spec, "{flow}");
    }
    let disk = disk_by_text("{iops: 600, latency: 7ms}").unwrap();
    assert_eq!(disk.iops.joint, Some(600.0));
    assert_eq!(disk.read_latency, DiskLatency::Constant { ns: 7_000_000 });
    assert_eq!((disk.capacity_bytes, disk.backing), (16 << 30, Backing::Memory));
    // Another rate makes burst credits come in at that rate, or pointless.
    let refill = |text| disk_by_text(text).unwrap().burst.map(|burst| burst.refill);
    assert_eq!(refill("gp2"), Some(300.0));
    assert_eq!(refill("{preset: gp2, capacity: 500GiB}"), Some(1_500.0));
    assert_eq!(refill("{preset: gp2, iops: 200}"), Some(200.0));
    assert_eq!(refill("{preset: gp2, capacity: 2TiB}"), None);
    assert_eq!(refill("{preset: gp2, burst: off}"), None);
}

/// What `plimsoll disk clone` writes is what an arm gets.
#[test]
fn a_disk_that_was_measured_is_named_by_its_file() {
    let table = |points: &[(f64, u64)]| DiskLatency::Table { points: points.to_vec() };
    let measured = DiskSpec {
        iops: DiskRates { read: Some(12_340.0), write: Some(7_891.0), joint: None },
        bandwidth: DiskRates { joint: Some(201_300_000.0), ..DiskRates::default() },
        read_latency: table(&[(0.0, 81_234), (50.0, 92_340), (99.9, 410_000), (100.0, 7_012_000)]),
        write_latency: DiskLatency::Constant { ns: 41_230 },
        transfer: DiskRates { read: Some(1_234_000_000.0), ..DiskRates::default() },
        flush_latency: DiskLatency::Constant { ns: 1_204_000 },
        ..DiskSpec::unlimited(16 << 30)
    };
    let written = disk_as_file(&measured);
    let arm = |text: &str| {
        let file = "plimsoll: 1\nname: one\nworkload: {records: 1k, preset: c}\narms: {one: {disk: disks/my-ssd.yaml}}\n\
                    load: {closed: {threads: 1}}\n";
        let overrides = Overrides::default();
        let read_file = |path: &Path| match path.to_str() {
            Some("/experiments/disks/my-ssd.yaml") => Ok(text.to_owned()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        };
        check(file, "one.yaml", &Surroundings { read_file: &read_file, ..surroundings(&overrides) })
    };
    let Some(DiskChoice::Emulated { spec }) = arm(&written).unwrap().arms.remove(0).rig.disk else {
        panic!("it is emulated");
    };
    assert_eq!(spec.preset.as_deref(), Some("my-ssd"));
    let expected = DiskSpec {
        preset: spec.preset.clone(),
        capacity_bytes: spec.capacity_bytes,
        trace_requests: spec.trace_requests,
        ..measured
    };
    assert_eq!(spec, expected, "{written}");

    for (text, description) in [
        ("", "disks/my-ssd.yaml is empty"),
        ("iosp: 600", "disks/my-ssd.yaml:1:1: "),
        ("{device: /dev/sda, erase: true}", "a device"),
        ("[1]", "disks/my-ssd.yaml:1:1: "),
    ] {
        let problems = arm(text).unwrap_err().to_string();
        assert_contains(&problems, "the file of the disk has a mistake");
        assert_contains(&problems, description);
    }
    assert_contains(disk_by_text("nowhere.yaml").unwrap_err().to_string(), "cannot be read");
}

/// Large data does not go into memory, and disks are large enough for it.
#[test]
fn capacity_and_backing_follow_from_the_data() {
    let disk = |records: &str, mix: &str| {
        let text = format!(
            "plimsoll: 1\nname: one\nworkload: {{records: {records}, mixes: {{x: {{{mix}: 1}}}}}}\narms: {{one: {{disk: san-raid10}}}}\n\
             load: {{closed: {{threads: 1}}}}\n"
        );
        match plan(&text).arms.remove(0).rig.disk {
            Some(plimsoll_record::DiskChoice::Emulated { spec }) => {
                (spec.capacity_bytes >> 30, spec.backing)
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(disk("1k", "read"), (2, Backing::Memory));
    // 771 MB are loaded: four times that, and 10 % and 256 MiB for the filesystem, are 3.4 GiB.
    assert_eq!(disk("600k", "read"), (4, Backing::Memory));
    assert_eq!(disk("1M", "read"), (6, Backing::File));
    // 35 seconds of inserts as fast as they can be.
    assert_eq!(disk("1k", "insert"), (6, Backing::File));
}

#[test]
fn room_for_the_page_cache_stands_in_place_of_the_memory() {
    let text = RIGS.replace(
        "  machine: {machine: m3.medium, limits: {memory: 1GiB}",
        "  machine: {machine: m3.medium, limits: {page_cache: 16MiB}",
    );
    assert_ne!(text, RIGS);
    let plan = plan(&text);
    let arm = plan.arms.iter().find(|arm| arm.name == "machine").unwrap();
    let limits = &arm.rig.limits;
    assert_eq!((limits.page_cache_bytes, limits.memory_bytes), (Some(16 << 20), None));
    assert!(limits.cpus.is_some(), "the rest is the machine's");
    assert_ne!(plan.hash(), self::plan(RIGS).hash());
    let explained = explain(&plan, &ENGINES);
    let shares = |name: &str| {
        let arm = explained.arms.iter().find(|arm| arm.name == name);
        arm.unwrap().shares
    };
    // 92 % of what the engine uses of its cache fits into that.
    let all = shares("machine").unwrap();
    assert_eq!((all.engine_cache, all.neither()), (1.0, (0.0, 0.0)));
    assert_eq!(shares("plain"), None, "nothing limits it");
    let words = explained.to_string();
    let description = "hardly a read will reach the disk of ";
    let line = words.lines().find(|line| line.contains(description)).unwrap();
    assert!(line.contains("real, machine:"), "{line}");
    // Twice the cache and no room beside it.
    let beyond = text.replace("working_set: 92%, preset", "working_set: 200%, preset");
    let beyond = beyond.replace("page_cache: 16MiB", "page_cache: 26MiB");
    let explained = explain(&self::plan(&beyond), &ENGINES);
    let arm = explained.arms.iter().find(|arm| arm.name == "machine").unwrap();
    let shares = arm.shares.unwrap();
    assert!((shares.engine_cache - 0.5).abs() < 0.01, "{shares:?}");
    assert!((shares.page_cache - 0.25).abs() < 0.01, "26 MiB of 102.4 MiB: {shares:?}");
    assert!(!explained.to_string().contains("machine: less memory"));
}

mod slow {
    use super::*;

    #[test]
    fn hash_depends_on_what_bears_on_the_measuring() {
        let first = plan(RIGS).hash();
        for (old, new) in [("per_hour: 0.08", "per_hour: 0.09"), ("trace: off", "trace: 5M")] {
            assert!(RIGS.contains(old), "{old}");
            assert_eq!(plan(&RIGS.replace(old, new)).hash(), first, "{new}");
        }
        for (old, new) in [
            ("iops: 5000", "iops: 5001"),
            ("capacity: 8GiB", "capacity: 9GiB"),
            ("reflink=0", "reflink=1"),
            ("noatime", "relatime"),
            ("cpus: 1.5", "cpus: 1.6"),
            ("shaped_from: warm-up", "shaped_from: load"),
            ("nvme-one", "nvme-two"),
        ] {
            assert!(RIGS.contains(old), "{old}");
            assert_ne!(plan(&RIGS.replace(old, new)).hash(), first, "{new}");
        }
    }
}
