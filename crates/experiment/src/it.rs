//! The experiment file from its text to its plan, as other crates see it.

mod documents;
mod duets;
mod errors;
mod events;
mod factors;
mod plans;
mod rigs;
mod robust;
mod schema;
mod servers;
mod sweeps;

use crate::{Limits, Overrides, Problems, Surroundings, check};
use plimsoll_plan::{EngineKind, Plan, Setting, SettingKind, Settings};
use plimsoll_workload::DataSpec;
use std::io;
use std::path::Path;

/// Engines of the tests: the shapes of the real ones, with fewer settings.
static ENGINES: [EngineKind; 3] = [
    EngineKind {
        name: "wiredtiger",
        about: "MongoDB's storage engine, embedded.",
        keeps_data: true,
        server: None,
        cache_setting: Some("cache_size"),
        usable_cache: 0.8,
        unfit: |_| None,
        settings: &[
            Setting {
                name: "cache_size",
                about: "Bytes of the engine's cache.",
                kind: SettingKind::Size { min: 1 << 20, max: 10 << 40 },
                default: Some("256MiB"),
            },
            Setting {
                name: "compressor",
                about: "Of the blocks on disk.",
                kind: SettingKind::Choice(&["none", "snappy", "zstd"]),
                default: Some("snappy"),
            },
            Setting {
                name: "checkpoint_wait",
                about: "Time between checkpoints.",
                kind: SettingKind::Duration { min_ns: 0, max_ns: 3_600_000_000_000 },
                default: Some("60s"),
            },
            Setting {
                name: "checkpoint_interval",
                about: "Of the real engine.",
                kind: SettingKind::Duration { min_ns: 0, max_ns: 3_600_000_000_000 },
                default: None,
            },
            Setting {
                name: "eviction_dirty_target",
                about: "Share of the cache that may be dirty.",
                kind: SettingKind::Number { min: 0.0, max: 1.0 },
                default: Some("5%"),
            },
            Setting {
                name: "journal",
                about: "Whether a journal is written.",
                kind: SettingKind::Flag,
                default: Some("true"),
            },
            Setting {
                name: "configuration",
                about: "More, in the words of the engine.",
                kind: SettingKind::Text,
                default: None,
            },
        ],
    },
    EngineKind {
        name: "simulated",
        about: "Service times from a law.",
        keeps_data: false,
        server: None,
        cache_setting: None,
        usable_cache: 0.0,
        unfit: |_| None,
        settings: &[Setting {
            name: "servers",
            about: "Operations served at once.",
            kind: SettingKind::Count { min: 1, max: 10_000 },
            default: Some("1"),
        }],
    },
    EngineKind {
        name: "noop",
        about: "Returns at once.",
        keeps_data: false,
        server: None,
        cache_setting: None,
        usable_cache: 0.0,
        unfit: |_| None,
        settings: &[],
    },
];

/// A file with nothing that can be left out, to put mistakes into.
const SMALLEST: &str = "\
plimsoll: 1
name: small
workload: {records: 1k, preset: c}
arms: {one: {engine: noop}}
load: {closed: {threads: 1}}
";

/// The only file besides the experiment.
fn read_file(path: &Path) -> io::Result<String> {
    match path.to_str() {
        Some("/experiments/lengths.txt") => Ok("BlockSize\t10\n0\t3\n1\t5\n2\t0\n".into()),
        Some("/experiments/broken.txt") => Ok("BlockSize ten\n".into()),
        _ => Err(io::Error::new(io::ErrorKind::NotFound, "no such file")),
    }
}

/// What a record of the tests takes on disk.
fn measure(
    engine: &str,
    _: &Settings,
    _: Option<&plimsoll_record::ServerSpec>,
    data: &DataSpec,
) -> Result<f64, String> {
    assert!(engine == "wiredtiger" || engine == "mongodb");
    assert!(data.records > 0);
    Ok(1_243.0)
}

fn surroundings(overrides: &Overrides) -> Surroundings<'_> {
    Surroundings {
        base_dir: Path::new("/experiments"),
        engines: &ENGINES,
        limits: Limits { memory_bytes: 8 << 30, cores: 4 },
        overrides,
        read_file: &read_file,
        measure: &measure,
    }
}

fn check_with(text: &str, overrides: &Overrides) -> Result<Plan, Problems> {
    check(text, "experiment.yaml", &surroundings(overrides))
}

fn plan(text: &str) -> Plan {
    check_with(text, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"))
}

fn problems(text: &str) -> Problems {
    match check_with(text, &Overrides::default()) {
        Ok(plan) => panic!("nothing wrong was found: {plan:#?}"),
        Err(problems) => problems,
    }
}
