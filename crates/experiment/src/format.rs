//! The keys of an experiment file. The reader, the JSON Schema and the reference are made from these tables.

use crate::SettingKind;
use crate::shape::{Choice, Key, Keys, Need, Object, Shape};

/// The version of the file format.
pub(crate) const VERSION: u64 = 1;
/// Arms of an experiment.
pub(crate) const MOST_ARMS: usize = 1_000;
/// Points of one run.
pub(crate) const MOST_POINTS: u64 = 1_000;
/// Runs of an experiment.
pub(crate) const MOST_RUNS: u64 = 100_000;
/// Blocks of an experiment.
pub(crate) const MOST_BLOCKS: u64 = 10_000;
/// Concurrent sessions of a point.
pub(crate) const MOST_SESSIONS: u64 = 10_000;
/// Operations per second that can be asked for.
pub(crate) const MOST_RATE: f64 = 1e9;
/// The longest a warm-up or a point can be.
pub(crate) const LONGEST_NS: u64 = 7 * 86_400_000_000_000;
/// The shortest that a point can be measured.
pub(crate) const SHORTEST_NS: u64 = 1_000_000;
/// The engine of an arm that names none.
pub(crate) const DEFAULT_ENGINE: &str = "wiredtiger";

const MOST_RECORDS: u64 = 1_000_000_000_000;
const FLAG: Shape = Shape::Value(SettingKind::Flag);
const WEIGHT: Shape = Shape::Value(SettingKind::Number {
    min: 0.0,
    max: 1e12,
});
const SHARE: Shape = Shape::Value(SettingKind::Number { min: 0.0, max: 1.0 });
const SESSIONS: Shape = count(1, MOST_SESSIONS);
const PRESET: Shape = Shape::Value(SettingKind::Choice(&plimsoll_workload::Mix::PRESETS));
const FIELD_BYTES: Shape = Shape::Value(SettingKind::Size {
    min: 1,
    max: 64 << 20,
});
const RECORDS: Shape = count(1, MOST_RECORDS);
const DATA_SIZE: Shape = Shape::Value(SettingKind::Size {
    min: 1,
    max: 1 << 50,
});

const fn count(min: u64, max: u64) -> Shape {
    Shape::Value(SettingKind::Count { min, max })
}

const fn duration(min_ns: u64, max_ns: u64) -> Shape {
    Shape::Value(SettingKind::Duration { min_ns, max_ns })
}

const fn key(
    name: &'static str,
    shape: Shape,
    need: Need,
    example: &'static str,
    about: &'static str,
) -> Key {
    Key {
        name,
        about,
        shape,
        need,
        example,
    }
}

/// The whole file.
pub(crate) static FILE: Object = Object {
    about: "An experiment: what is compared, under which load, how it is measured, and what is judged.",
    keys: &[
        key(
            "plimsoll",
            Shape::Version,
            Need::Required,
            "1",
            "Version of the file format.",
        ),
        key(
            "name",
            Shape::Name,
            Need::Required,
            "quickstart",
            "Name of the experiment: results are kept and found under it.",
        ),
        key(
            "question",
            Shape::Text { most: 1_000 },
            Need::Optional,
            "What does a cache of a quarter of the data cost?",
            "What the experiment is to answer. It heads every report.",
        ),
        key(
            "workload",
            Shape::Object(&WORKLOAD),
            Need::Required,
            "{records: 100k, preset: a}",
            "What is stored and what is asked.",
        ),
        key(
            "defaults",
            Shape::Defaults,
            Need::Optional,
            "{engine: wiredtiger, cache_size: 512MiB}",
            "What the arms have in common, stated once. An arm that says otherwise wins. A setting that only some of the arms' engines have goes to those.",
        ),
        key(
            "arms",
            Shape::Keyed {
                keys: Keys::Names("arm"),
                of: &Shape::Arm,
                least: 1,
                most: MOST_ARMS,
            },
            Need::Required,
            "{small: {cache_size: 32MiB}, large: {cache_size: 1GiB}}",
            "What is compared, by name. The first is the baseline unless `compare` says otherwise. One arm alone is measured without a comparison.",
        ),
        key(
            "load",
            Shape::Object(&LOAD),
            Need::Required,
            "{closed: {threads: [1, 2, 4]}}",
            "How hard it is asked. Every mix is measured at every point of the load.",
        ),
        key(
            "load_phase",
            Shape::Object(&LOAD_PHASE),
            Need::Optional,
            "{threads: 4}",
            "How the data is stored before anything is measured.",
        ),
        key(
            "measurement",
            Shape::Object(&MEASUREMENT),
            Need::Optional,
            "{duration: 30s, blocks: 8}",
            "How long, how often and in which order.",
        ),
        key(
            "objective",
            Shape::Object(&OBJECTIVE),
            Need::Optional,
            "{response: {p99: 10ms}}",
            "What counts as good service.",
        ),
        key(
            "compare",
            Shape::Object(&COMPARE),
            Need::Optional,
            "{baseline: small, at: {threads: 16}}",
            "What is judged, and where.",
        ),
        key(
            "thresholds",
            Shape::List {
                of: &Shape::Any(&[Shape::Bound, Shape::Object(&THRESHOLD)]),
                least: 1,
                most: 100,
            },
            Need::Optional,
            "[\"throughput >= 10k\"]",
            "Bounds that must hold for every point that they concern; where one does not, the program ends with exit code 99.",
        ),
    ],
    choices: &[],
};

/// What is stored and what is asked.
pub(crate) static WORKLOAD: Object = Object {
    about: "What is stored and what is asked. Names and defaults are those of YCSB's core workload.",
    keys: &[
        key(
            "records",
            RECORDS,
            Need::Optional,
            "100k",
            "Number of records. Arms can have their own.",
        ),
        key(
            "size",
            DATA_SIZE,
            Need::Optional,
            "120MB",
            "Size of the data instead of a number of records: keys, field names and values, before the engine adds or compresses anything. The number of records follows from the mean size of one.",
        ),
        key(
            "preset",
            PRESET,
            Need::Optional,
            "a",
            "One of YCSB's core workloads: a (half reads, half updates), b (95 % reads, 5 % updates), c (reads), d (reads of the latest, 5 % inserts), e (short scans, 5 % inserts), f (half reads, half read-modify-writes).",
        ),
        key(
            "mixes",
            Shape::Any(&[
                Shape::List {
                    of: &PRESET,
                    least: 1,
                    most: 100,
                },
                Shape::Keyed {
                    keys: Keys::Names("mix"),
                    of: &Shape::Object(&MIX),
                    least: 1,
                    most: 100,
                },
            ]),
            Need::Optional,
            "[a, c]",
            "Several mixes of operations, each measured at every point of the load, one after the other on the same data: a list of presets, or names with every parameter.",
        ),
        key(
            "fields",
            Shape::Object(&FIELDS),
            Need::Optional,
            "{count: 10, length: 100}",
            "What a record is made of.",
        ),
        key(
            "key_order",
            Shape::Value(SettingKind::Choice(&["hashed", "ordered"])),
            Need::Default("hashed"),
            "ordered",
            "Whether keys are scattered by a hash of their number, or follow it.",
        ),
        key(
            "zero_padding",
            count(0, 1_000),
            Need::Default("1"),
            "12",
            "Least number of digits in a key; shorter ones get zeros in front.",
        ),
        key(
            "data_integrity",
            FLAG,
            Need::Default("false"),
            "true",
            "Makes each value follow from its key and field, and verifies it when it is read. Needs fields of constant length.",
        ),
        key(
            "insert_start",
            count(0, MOST_RECORDS),
            Need::Default("0"),
            "50k",
            "First key number that is loaded and asked for.",
        ),
        key(
            "insert_count",
            count(1, MOST_RECORDS),
            Need::Optional,
            "50k",
            "How many key numbers are loaded and asked for; without it, all from `insert_start` on.",
        ),
        key(
            "table",
            Shape::Name,
            Need::Default("usertable"),
            "usertable",
            "Name of the table or collection.",
        ),
    ],
    choices: &[
        Choice {
            keys: &["records", "size"],
            required: false,
        },
        Choice {
            keys: &["preset", "mixes"],
            required: true,
        },
    ],
};

/// What a record is made of.
pub(crate) static FIELDS: Object = Object {
    about: "What a record is made of.",
    keys: &[
        key(
            "count",
            count(1, 100_000),
            Need::Default("10"),
            "10",
            "Fields of each record.",
        ),
        key(
            "length",
            Shape::Any(&[FIELD_BYTES, Shape::Object(&FIELD_LENGTH)]),
            Need::Default("100"),
            "100",
            "Bytes in each field: a number, or a distribution of numbers.",
        ),
        key(
            "name_prefix",
            Shape::Name,
            Need::Default("field"),
            "field",
            "Fields are called by this and their number, from 0.",
        ),
    ],
    choices: &[],
};

/// A distribution of field lengths.
pub(crate) static FIELD_LENGTH: Object = Object {
    about: "How long fields are.",
    keys: &[
        key(
            "uniform",
            Shape::List {
                of: &FIELD_BYTES,
                least: 2,
                most: 2,
            },
            Need::Optional,
            "[1, 100]",
            "Each length from the least to the most equally often.",
        ),
        key(
            "zipfian",
            Shape::List {
                of: &FIELD_BYTES,
                least: 2,
                most: 2,
            },
            Need::Optional,
            "[1, 100]",
            "The shortest most often, by Zipf's law with exponent 0.99.",
        ),
        key(
            "histogram",
            Shape::Text { most: 1_000 },
            Need::Optional,
            "lengths.txt",
            "A file in YCSB's form, found from the folder of the experiment file: `BlockSize`, a tab and a number of bytes; then for each bucket from 0 its number, a tab and its count.",
        ),
    ],
    choices: &[Choice {
        keys: &["uniform", "zipfian", "histogram"],
        required: true,
    }],
};

/// A mix of operations.
pub(crate) static MIX: Object = Object {
    about: "A mix of operations. Proportions are weights: only their ratios count, and what is not given is that of the preset, or 0.",
    keys: &[
        key(
            "preset",
            PRESET,
            Need::Optional,
            "a",
            "Begins with one of YCSB's core workloads; the other keys change it.",
        ),
        key(
            "read",
            WEIGHT,
            Need::Optional,
            "0.95",
            "Weight of reading one record.",
        ),
        key(
            "update",
            WEIGHT,
            Need::Optional,
            "0.05",
            "Weight of changing fields of one record.",
        ),
        key(
            "insert",
            WEIGHT,
            Need::Optional,
            "0.05",
            "Weight of storing one new record.",
        ),
        key(
            "scan",
            WEIGHT,
            Need::Optional,
            "0.95",
            "Weight of reading a range of records.",
        ),
        key(
            "read_modify_write",
            WEIGHT,
            Need::Optional,
            "0.5",
            "Weight of reading one record and then changing it.",
        ),
        key(
            "request_distribution",
            Shape::Any(&[
                Shape::Value(SettingKind::Choice(&[
                    "uniform",
                    "sequential",
                    "zipfian",
                    "latest",
                    "hotspot",
                    "exponential",
                ])),
                Shape::Object(&REQUEST_DISTRIBUTION),
            ]),
            Need::Default("uniform"),
            "zipfian",
            "How the key of an operation is chosen: each equally often (`uniform`), one after the other (`sequential`), few keys very often (`zipfian`), the newest most often (`latest`), one part of the keys for one part of the operations (`hotspot`), falling off with age (`exponential`).",
        ),
        key(
            "scan_length",
            Shape::Any(&[SCAN_RECORDS, Shape::Object(&SCAN_LENGTH)]),
            Need::Default("{uniform: [1, 1000]}"),
            "{uniform: [1, 100]}",
            "How many records a scan asks for: a number, or a distribution of numbers.",
        ),
        key(
            "read_all_fields",
            FLAG,
            Need::Default("true"),
            "false",
            "Reads ask for all fields, otherwise for one.",
        ),
        key(
            "read_all_fields_by_name",
            FLAG,
            Need::Default("false"),
            "true",
            "Reads of all fields name each of them.",
        ),
        key(
            "write_all_fields",
            FLAG,
            Need::Default("false"),
            "true",
            "Updates change all fields, otherwise one.",
        ),
    ],
    choices: &[],
};

const SCAN_RECORDS: Shape = count(1, u32::MAX as u64);

/// Distributions of keys with parameters.
pub(crate) static REQUEST_DISTRIBUTION: Object = Object {
    about: "A distribution of keys with its parameters.",
    keys: &[
        key(
            "hotspot",
            Shape::Object(&HOTSPOT),
            Need::Optional,
            "{data_fraction: 20%, operation_fraction: 80%}",
            "One part of the keys gets one part of the operations.",
        ),
        key(
            "exponential",
            Shape::Object(&EXPONENTIAL),
            Need::Optional,
            "{percentile: 95, fraction: 0.857}",
            "The newest keys most often, falling off exponentially with age.",
        ),
    ],
    choices: &[Choice {
        keys: &["hotspot", "exponential"],
        required: true,
    }],
};

/// Parameters of the hot spot.
pub(crate) static HOTSPOT: Object = Object {
    about: "One part of the keys gets one part of the operations.",
    keys: &[
        key(
            "data_fraction",
            SHARE,
            Need::Default("20%"),
            "20%",
            "Share of the keys that is hot.",
        ),
        key(
            "operation_fraction",
            SHARE,
            Need::Default("80%"),
            "80%",
            "Share of the operations that goes there.",
        ),
    ],
    choices: &[],
};

/// Parameters of the exponential distribution.
pub(crate) static EXPONENTIAL: Object = Object {
    about: "So many percent of the operations go to this share of the records, the newest.",
    keys: &[
        key(
            "percentile",
            Shape::Value(SettingKind::Number {
                min: 1e-9,
                max: 100.0 - 1e-9,
            }),
            Need::Default("95"),
            "95",
            "Percent of the operations.",
        ),
        key(
            "fraction",
            Shape::Value(SettingKind::Number {
                min: 1e-12,
                max: 1e12,
            }),
            Need::Default("0.8571428571"),
            "0.857",
            "Share of the records.",
        ),
    ],
    choices: &[],
};

/// A distribution of scan lengths.
pub(crate) static SCAN_LENGTH: Object = Object {
    about: "How many records a scan asks for.",
    keys: &[
        key(
            "uniform",
            Shape::List {
                of: &SCAN_RECORDS,
                least: 2,
                most: 2,
            },
            Need::Optional,
            "[1, 100]",
            "Each number from the least to the most equally often.",
        ),
        key(
            "zipfian",
            Shape::List {
                of: &SCAN_RECORDS,
                least: 2,
                most: 2,
            },
            Need::Optional,
            "[1, 100]",
            "The shortest most often.",
        ),
    ],
    choices: &[Choice {
        keys: &["uniform", "zipfian"],
        required: true,
    }],
};

/// What every arm has, whatever its engine.
pub(crate) static ARM: Object = Object {
    about: "One thing being compared. The settings of its engine stand beside these keys.",
    keys: &[
        key(
            "about",
            Shape::Text { most: 200 },
            Need::Optional,
            "cache larger than the data",
            "In a few words, for legends.",
        ),
        key(
            "engine",
            Shape::Text { most: 40 },
            Need::Default(DEFAULT_ENGINE),
            DEFAULT_ENGINE,
            "Which database.",
        ),
        key(
            "records",
            RECORDS,
            Need::Optional,
            "400k",
            "Number of records, where it is not that of the workload.",
        ),
        key(
            "size",
            DATA_SIZE,
            Need::Optional,
            "480MB",
            "Size of the data, where it is not that of the workload.",
        ),
        key(
            "directory",
            Shape::Text { most: 1_000 },
            Need::Optional,
            "/mnt/data",
            "Folder in which the data directory is made, found from the folder of the experiment file; without it, the program's own place.",
        ),
    ],
    choices: &[Choice {
        keys: &["records", "size"],
        required: false,
    }],
};

/// How hard it is asked.
pub(crate) static LOAD: Object = Object {
    about: "How hard it is asked: exactly one of three kinds.",
    keys: &[
        key(
            "closed",
            Shape::Object(&CLOSED),
            Need::Optional,
            "{threads: [1, 2, 4, 8, 16]}",
            "Closed loop: each session asks again when its last operation is complete. Shows what can be had; hides how long callers would wait.",
        ),
        key(
            "open",
            Shape::Object(&OPEN),
            Need::Optional,
            "{rates: [5k, 10k]}",
            "Open loop: operations are due at times fixed beforehand, whether or not earlier ones are complete. Response time counts from when an operation was due.",
        ),
        key(
            "stages",
            Shape::Object(&STAGES),
            Need::Optional,
            "{steps: [{to: 20k, duration: 60s}]}",
            "Open loop with a rate that changes: one point of several stages.",
        ),
    ],
    choices: &[Choice {
        keys: &["closed", "open", "stages"],
        required: true,
    }],
};

const ARRIVALS: Key = key(
    "arrivals",
    Shape::Value(SettingKind::Choice(&["constant", "poisson"])),
    Need::Default("poisson"),
    "constant",
    "Gaps between operations: all equal, or as of independent callers.",
);
const OPEN_SESSIONS: Key = key(
    "sessions",
    SESSIONS,
    Need::Default("64"),
    "64",
    "Sessions that serve the operations: how many can be under way at once. Operations that are due wait while all are busy, and the wait counts.",
);

/// The closed loop.
pub(crate) static CLOSED: Object = Object {
    about: "Closed loop.",
    keys: &[
        key(
            "threads",
            Shape::List {
                of: &SESSIONS,
                least: 1,
                most: 1_000,
            },
            Need::Required,
            "[1, 2, 4, 8, 16]",
            "Sessions at once, each in its own thread: one point for each number.",
        ),
        key(
            "think_time",
            duration(0, 3_600_000_000_000),
            Need::Default("0s"),
            "10ms",
            "Pause of a session between an answer and its next question.",
        ),
    ],
    choices: &[],
};

/// The open loop.
pub(crate) static OPEN: Object = Object {
    about: "Open loop.",
    keys: &[
        key(
            "rates",
            Shape::List {
                of: &Shape::Rate,
                least: 1,
                most: 1_000,
            },
            Need::Required,
            "[5k, 10k]",
            "Operations per second: one point for each rate.",
        ),
        ARRIVALS,
        OPEN_SESSIONS,
    ],
    choices: &[],
};

/// An open loop of stages.
pub(crate) static STAGES: Object = Object {
    about: "Open loop with a rate that changes.",
    keys: &[
        key(
            "steps",
            Shape::List {
                of: &Shape::Object(&STAGE),
                least: 1,
                most: 1_000,
            },
            Need::Required,
            "[{to: 20k, duration: 60s}, {rate: 20k, duration: 30s}]",
            "The stages, in order. Together they are one point, which lasts as long as they do.",
        ),
        ARRIVALS,
        OPEN_SESSIONS,
    ],
    choices: &[],
};

/// One stage.
pub(crate) static STAGE: Object = Object {
    about: "One stage: a constant rate, or a ramp.",
    keys: &[
        key(
            "rate",
            Shape::Rate,
            Need::Optional,
            "20k",
            "Operations per second from beginning to end.",
        ),
        key(
            "from",
            Shape::Rate,
            Need::Optional,
            "5k",
            "Rate at the beginning of a ramp; without it, where the last stage ended, or 0.",
        ),
        key(
            "to",
            Shape::Rate,
            Need::Optional,
            "20k",
            "Rate at the end of a ramp.",
        ),
        key(
            "duration",
            duration(SHORTEST_NS, LONGEST_NS),
            Need::Required,
            "60s",
            "How long the stage lasts.",
        ),
    ],
    choices: &[
        Choice {
            keys: &["rate", "to"],
            required: true,
        },
        Choice {
            keys: &["rate", "from"],
            required: false,
        },
    ],
};

/// How the data is stored.
pub(crate) static LOAD_PHASE: Object = Object {
    about: "How the data is stored before anything is measured.",
    keys: &[key(
        "threads",
        SESSIONS,
        Need::Default("4"),
        "4",
        "Sessions at once.",
    )],
    choices: &[],
};

/// How long, how often and in which order.
pub(crate) static MEASUREMENT: Object = Object {
    about: "How long, how often and in which order.",
    keys: &[
        key(
            "warm_up",
            duration(0, LONGEST_NS),
            Need::Default("5s"),
            "5s",
            "Time under load before each point, not counted. What else of a series had not settled is found and cut by the analysis.",
        ),
        key(
            "duration",
            duration(SHORTEST_NS, LONGEST_NS),
            Need::Default("30s"),
            "30s",
            "Time that each point is measured, after its warm-up. Not with stages, which last as long as they say.",
        ),
        key(
            "operations",
            count(1, 1_000_000_000_000_000),
            Need::Optional,
            "10M",
            "Ends a point early, when this many operations are complete after the warm-up.",
        ),
        key(
            "blocks",
            count(1, MOST_BLOCKS),
            Need::Default("8"),
            "8",
            "Rounds through all arms. They are what a comparison is made of: below 6 no verdict is possible.",
        ),
        key(
            "order",
            Shape::Value(SettingKind::Choice(&["shuffled", "as-written"])),
            Need::Default("shuffled"),
            "shuffled",
            "Order of the arms in a block: anew in each, from the seed; or always that of the file, by which drift of the machine can pass for a difference.",
        ),
        key(
            "seed",
            count(0, u64::MAX),
            Need::Default("42"),
            "42",
            "Of everything random: the same seed asks the same things in the same order.",
        ),
    ],
    choices: &[],
};

/// What counts as good service.
pub(crate) static OBJECTIVE: Object = Object {
    about: "What counts as good service: all of it must hold.",
    keys: &[
        key(
            "response",
            Shape::Keyed {
                keys: Keys::Percentiles,
                of: &duration(1, LONGEST_NS),
                least: 1,
                most: 20,
            },
            Need::Optional,
            "{p99: 10ms}",
            "Highest response time at these percentiles.",
        ),
        key(
            "errors",
            SHARE,
            Need::Default("0"),
            "0.1%",
            "Highest share of operations that may fail.",
        ),
        key(
            "achieved",
            SHARE,
            Need::Default("99%"),
            "99%",
            "Lowest share of an offered rate that must be achieved.",
        ),
    ],
    choices: &[],
};

/// What is judged.
pub(crate) static COMPARE: Object = Object {
    about: "What is judged, and where.",
    keys: &[
        key(
            "baseline",
            Shape::Text { most: 40 },
            Need::Optional,
            "in-cache",
            "The arm that the others are compared with; without it, the first.",
        ),
        key(
            "primary",
            Shape::List {
                of: &Shape::Metric,
                least: 1,
                most: 20,
            },
            Need::Default("[throughput, response.p99]"),
            "[throughput, response.p99]",
            "Metrics that decide. All others are shown as exploratory.",
        ),
        key(
            "at",
            Shape::Object(&AT),
            Need::Optional,
            "{threads: 16}",
            "The load at which each mix is judged; without it, where the baseline is best.",
        ),
        key(
            "margins",
            Shape::Keyed {
                keys: Keys::Metrics,
                of: &SHARE,
                least: 0,
                most: 20,
            },
            Need::Default("{throughput: 3%}, 5% for all others"),
            "{throughput: 3%, response.p99: 5%}",
            "Smallest difference that matters in practice.",
        ),
    ],
    choices: &[],
};

/// A point of the load.
pub(crate) static AT: Object = Object {
    about: "A point of the load.",
    keys: &[
        key(
            "threads",
            SESSIONS,
            Need::Optional,
            "16",
            "The point of the closed loop with this many threads.",
        ),
        key(
            "rate",
            Shape::Rate,
            Need::Optional,
            "10k",
            "The point of the open loop with this rate.",
        ),
    ],
    choices: &[Choice {
        keys: &["threads", "rate"],
        required: true,
    }],
};

/// A bound with its scope.
pub(crate) static THRESHOLD: Object = Object {
    about: "A bound with its scope. A bound alone, as text, concerns every arm, mix and point.",
    keys: &[
        key(
            "metric",
            Shape::Bound,
            Need::Required,
            "response.p99 <= 5ms",
            "A metric, `>=` or `<=`, and a bound in the unit of the metric.",
        ),
        key(
            "arm",
            Shape::Text { most: 40 },
            Need::Optional,
            "in-cache",
            "Only for this arm.",
        ),
        key(
            "mix",
            Shape::Text { most: 40 },
            Need::Optional,
            "c",
            "Only for this mix.",
        ),
        key(
            "at",
            Shape::Object(&AT),
            Need::Optional,
            "{threads: 16}",
            "Only at this load.",
        ),
    ],
    choices: &[],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_choices_are_keys() {
        let objects = [
            &FILE,
            &WORKLOAD,
            &FIELDS,
            &FIELD_LENGTH,
            &MIX,
            &REQUEST_DISTRIBUTION,
            &HOTSPOT,
            &EXPONENTIAL,
            &SCAN_LENGTH,
            &ARM,
            &LOAD,
            &CLOSED,
            &OPEN,
            &STAGES,
            &STAGE,
            &LOAD_PHASE,
            &MEASUREMENT,
            &OBJECTIVE,
            &COMPARE,
            &AT,
            &THRESHOLD,
        ];
        for object in objects {
            for name in object.choices.iter().flat_map(|choice| choice.keys) {
                assert!(object.key(name).is_some(), "{name} in {}", object.about);
            }
        }
    }
}
