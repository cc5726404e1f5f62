//! The keys of an experiment file. The reader, the JSON Schema and the reference are made from these tables.
//!
//! A line of a table holds a key, the shape of its value, whether it must be there or its default, and an example; below it is what the
//! key means.

use crate::events::{EVENT, MOST_EVENTS};
use crate::load_format::{LOAD, LOAD_PHASE, SEARCH};
use crate::rig_format::{DISK_OR_PRESET, FILESYSTEM_OR_KIND, LIMITS, PRICE, SERVER_OR_PRESET};
use crate::shape::{Choice, Key, Keys, Need, Object, Shape};
use Need::{Default, Optional, Required};
use plimsoll_plan::SettingKind;
use std::ops::RangeInclusive;

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
/// Operations at the end of which a point can end.
pub(crate) const MOST_OPERATIONS: u64 = 1_000_000_000_000_000;
/// Operations of a point whose begin and end can be noted: each session takes memory for as many, and the record holds them all.
pub(crate) const MOST_LOGGED: u64 = 10_000;
/// Operations per second that can be asked for.
pub(crate) const MOST_RATE: f64 = 1e9;
/// The longest a warm-up or a point can be.
pub(crate) const LONGEST_NS: u64 = 7 * 86_400_000_000_000;
/// The shortest that a point can be measured.
pub(crate) const SHORTEST_NS: u64 = 1_000_000;
/// The engine of an arm that names none.
pub(crate) const DEFAULT_ENGINE: &str = "wiredtiger";

const MOST_RECORDS: u64 = 1_000_000_000_000;
const MOST_SESSIONS: u64 = 10_000;
pub(crate) const FLAG: Shape = Shape::Value(SettingKind::Flag);
const WEIGHT: Shape = number(0.0, 1e12);
pub(crate) const SHARE: Shape = number(0.0, 1.0);
pub(crate) const SESSIONS: Shape = count(1, MOST_SESSIONS);
const PRESET: Shape = choice(&plimsoll_workload::Mix::PRESETS);
const FIELD_BYTES: Shape = size(1, 64 << 20);
const RECORDS: Shape = count(1, MOST_RECORDS);
const DATA_SIZE: Shape = size(1, 1 << 50);
/// Of the cache that an engine can use; the data can be many times as large.
const WORKING_SET: Shape = number(1e-4, 1e4);
const SCAN_RECORDS: Shape = count(1, u32::MAX as u64);
const DISTRIBUTIONS: Shape = choice(&[
    "uniform",
    "sequential",
    "zipfian",
    "latest",
    "hotspot",
    "exponential",
]);

pub(crate) const RATE: Shape = Shape::Rate { least: 1e-3 };
/// Of the plimsoll line.
pub(crate) const LINE_SHARES: RangeInclusive<f64> = 0.001..=10.0;
const LINE_SHARE: Shape = number(*LINE_SHARES.start(), *LINE_SHARES.end());
/// Half-widths of intervals at which enough is known.
const HALF_WIDTH: Shape = number(1e-4, 1.0);

pub(crate) const fn count(min: u64, max: u64) -> Shape {
    Shape::Value(SettingKind::Count { min, max })
}

pub(crate) const fn size(min: u64, max: u64) -> Shape {
    Shape::Value(SettingKind::Size { min, max })
}

pub(crate) const fn number(min: f64, max: f64) -> Shape {
    Shape::Value(SettingKind::Number { min, max })
}

pub(crate) const fn duration(min_ns: u64, max_ns: u64) -> Shape {
    Shape::Value(SettingKind::Duration { min_ns, max_ns })
}

pub(crate) const fn choice(words: &'static [&'static str]) -> Shape {
    Shape::Value(SettingKind::Choice(words))
}

pub(crate) const fn list(of: &'static Shape, least: usize, most: usize) -> Shape {
    Shape::List { of, least, most }
}

pub(crate) const fn keyed(keys: Keys, of: &'static Shape, least: usize, most: usize) -> Shape {
    Shape::Keyed {
        keys,
        of,
        least,
        most,
    }
}

macro_rules! object {
    (
        $(#[$doc:meta])* $object:ident: $object_about:literal
        $($key:literal = $shape:expr, $need:expr, $example:literal; $about:literal;)*
        $(any of [$($any:literal),*];)* $(one of [$($required:literal),*];)* $(at most one of [$($allowed:literal),*];)*
    ) => {
        $(#[$doc])*
        pub(crate) static $object: Object = Object {
            about: $object_about,
            keys: &[$(Key { name: $key, about: $about, shape: $shape, need: $need, example: $example },)*],
            choices: &[
                $(Choice { keys: &[$($any),*], required: true, exclusive: false },)*
                $(Choice { keys: &[$($required),*], required: true, exclusive: true },)*
                $(Choice { keys: &[$($allowed),*], required: false, exclusive: true },)*
            ],
        };
    };
}
pub(crate) use object;

object! {
    /// The whole file.
    FILE: "An experiment: what is compared, under which load, how it is measured, and what is judged."
    "plimsoll" = Shape::Version, Required, "1";
        "Version of the file format.";
    "name" = Shape::Name, Required, "quickstart";
        "Name of the experiment: results are kept and found under it.";
    "question" = Shape::Text { most: 1_000 }, Optional, "What does a cache of a quarter of the data cost?";
        "What the experiment is to answer. It heads every report.";
    "workload" = Shape::Object(&WORKLOAD), Required, "{records: 100k, preset: a}";
        "What is stored and what is asked.";
    "defaults" = Shape::Defaults, Optional, "{engine: wiredtiger, cache_size: 512MiB}";
        "What the arms have in common, stated once. An arm that says otherwise wins. A setting that only some of the \
         arms' engines have goes to those.";
    "arms" = keyed(Keys::Names("arm"), &Shape::Arm, 1, MOST_ARMS), Required, "{small: {cache_size: 32MiB}, large: {cache_size: 1GiB}}";
        "What is compared, by name. The first is the baseline unless `compare` says otherwise. One arm alone is \
         measured without a comparison.";
    "load" = Shape::Object(&LOAD), Optional, "{closed: {threads: [1, 2, 4]}}";
        "How hard it is asked. Every mix is measured at every point of the load. It may be left out where the plimsoll line is \
         searched: see `objective`.";
    "load_phase" = Shape::Object(&LOAD_PHASE), Optional, "{threads: 4}";
        "How the data is stored before anything is measured.";
    "measurement" = Shape::Object(&MEASUREMENT), Optional, "{duration: 30s, blocks: 8}";
        "How long, how often and in which order.";
    "events" = list(&Shape::Object(&EVENT), 1, MOST_EVENTS), Optional, "[{at: 30s, kill: primary}]";
        "What is done to the servers of the arms at each point, such as to kill the primary of a replica set. Only with an open loop: in a closed one nobody asks while nothing answers. Afterwards everything that was acknowledged is read back.";
    "objective" = Shape::Object(&OBJECTIVE), Optional, "{response: {p99: 10ms}}";
        "What counts as good service. The highest rate that holds it, the plimsoll line, is searched for every mix.";
    "compare" = Shape::Object(&COMPARE), Optional, "{baseline: small, at: {threads: 16}}";
        "What is judged, and where.";
    "thresholds" = list(&Shape::Any(&[Shape::Bound, Shape::Object(&THRESHOLD)]), 1, 100), Optional, "[\"throughput >= 10k\"]";
        "Bounds that must hold for every point that they concern; where one does not, the program ends with exit code \
         99.";
    "scales" = keyed(Keys::Names("scale"), &Shape::Scale, 1, 20), Optional, "{full: {measurement: {blocks: 12}}}";
        "The same experiment at other sizes, chosen with `--scale`. Each is a part of a file that is laid over this one: maps are \
         merged key by key, everything else is replaced, and a key with nothing behind it is removed. The file as written is the \
         scale `laptop`.";
}

object! {
    /// What is stored and what is asked.
    WORKLOAD: "What is stored and what is asked. Names and defaults are those of YCSB's core workload."
    "records" = RECORDS, Optional, "100k";
        "Number of records. Arms can have their own.";
    "size" = DATA_SIZE, Optional, "120MB";
        "Size of the data instead of a number of records: keys, field names and values, before the engine adds or \
         compresses anything. The number of records follows from the mean size of one.";
    "working_set" = WORKING_SET, Optional, "138%";
        "Size of the data on disk as a share of the cache that the engine can use, instead of a number of records. A small load \
         measures what a record takes on disk.";
    "preset" = PRESET, Optional, "a";
        "One of YCSB's core workloads: a (half reads, half updates), b (95 % reads, 5 % updates), c (reads), d (reads \
         of the latest, 5 % inserts), e (short scans, 5 % inserts), f (half reads, half read-modify-writes).";
    "mixes" = Shape::Any(&[list(&PRESET, 1, 100), keyed(Keys::Names("mix"), &Shape::Object(&MIX), 1, 100)]), Optional, "[a, c]";
        "Several mixes of operations, each measured at every point of the load, one after the other on the same data: a \
         list of presets, or names with every parameter.";
    "ycsb" = Shape::Text { most: 1_000 }, Optional, "workloads/workloada";
        "A property file of YCSB, found from the folder of the experiment file: it says what the records are and names one mix, called after the \
         file. Other keys of the workload win over it. Properties that are not about records and operations are refused by name.";
    "fields" = Shape::Object(&FIELDS), Optional, "{count: 10, length: 100}";
        "What a record is made of.";
    "key_order" = choice(&["hashed", "ordered"]), Default("hashed"), "ordered";
        "Whether keys are scattered by a hash of their number, or follow it.";
    "zero_padding" = count(0, 1_000), Default("1"), "12";
        "Least number of digits in a key; shorter ones get zeros in front.";
    "data_integrity" = FLAG, Default("false"), "true";
        "Makes each value follow from its key and field, and verifies it when it is read. Needs fields of constant \
         length.";
    "insert_start" = count(0, MOST_RECORDS), Default("0"), "50k";
        "First key number that is loaded and asked for.";
    "insert_count" = count(1, MOST_RECORDS), Optional, "50k";
        "How many key numbers are loaded and asked for; without it, all from `insert_start` on.";
    "table" = Shape::Name, Default("usertable"), "usertable";
        "Name of the table or collection.";
    one of ["preset", "mixes", "ycsb"];
    at most one of ["records", "size", "working_set"];
}

object! {
    /// What a record is made of.
    FIELDS: "What a record is made of."
    "count" = count(1, 100_000), Default("10"), "10";
        "Fields of each record.";
    "length" = Shape::Any(&[FIELD_BYTES, Shape::Object(&FIELD_LENGTH)]), Default("100"), "100";
        "Bytes in each field: a number, or a distribution of numbers.";
    "name_prefix" = Shape::Name, Default("field"), "field";
        "Fields are called by this and their number, from 0.";
}

object! {
    /// A distribution of field lengths.
    FIELD_LENGTH: "How long fields are."
    "uniform" = list(&FIELD_BYTES, 2, 2), Optional, "[1, 100]";
        "Each length from the least to the most equally often.";
    "zipfian" = list(&FIELD_BYTES, 2, 2), Optional, "[1, 100]";
        "The shortest most often, by Zipf's law with exponent 0.99.";
    "histogram" = Shape::Text { most: 1_000 }, Optional, "lengths.txt";
        "A file in YCSB's form, found from the folder of the experiment file: `BlockSize`, a tab and a number of bytes; \
         then for each bucket from 0 its number, a tab and its count.";
    one of ["uniform", "zipfian", "histogram"];
}

object! {
    /// A mix of operations.
    MIX: "A mix of operations. Proportions are weights: only their ratios count, and what is not given is that of the preset, or 0."
    "preset" = PRESET, Optional, "a";
        "Begins with one of YCSB's core workloads; the other keys change it.";
    "read" = WEIGHT, Optional, "0.95";
        "Weight of reading one record.";
    "update" = WEIGHT, Optional, "0.05";
        "Weight of changing fields of one record.";
    "insert" = WEIGHT, Optional, "0.05";
        "Weight of storing one new record.";
    "scan" = WEIGHT, Optional, "0.95";
        "Weight of reading a range of records.";
    "read_modify_write" = WEIGHT, Optional, "0.5";
        "Weight of reading one record and then changing it.";
    "request_distribution" = Shape::Any(&[DISTRIBUTIONS, Shape::Object(&REQUEST_DISTRIBUTION)]), Default("uniform"), "zipfian";
        "How the key of an operation is chosen: each equally often (`uniform`), one after the other (`sequential`), few \
         keys very often (`zipfian`), the newest most often (`latest`), one part of the keys for one part of the \
         operations (`hotspot`), falling off with age (`exponential`).";
    "scan_length" = Shape::Any(&[SCAN_RECORDS, Shape::Object(&SCAN_LENGTH)]), Default("{uniform: [1, 1000]}"), "{uniform: [1, 100]}";
        "How many records a scan asks for: a number, or a distribution of numbers.";
    "read_all_fields" = FLAG, Default("true"), "false";
        "Reads ask for all fields, otherwise for one.";
    "read_all_fields_by_name" = FLAG, Default("false"), "true";
        "Reads of all fields name each of them.";
    "write_all_fields" = FLAG, Default("false"), "true";
        "Updates change all fields, otherwise one.";
}

object! {
    /// Distributions of keys with parameters.
    REQUEST_DISTRIBUTION: "A distribution of keys with its parameters."
    "hotspot" = Shape::Object(&HOTSPOT), Optional, "{data_fraction: 20%, operation_fraction: 80%}";
        "One part of the keys gets one part of the operations.";
    "exponential" = Shape::Object(&EXPONENTIAL), Optional, "{percentile: 95, fraction: 0.857}";
        "The newest keys most often, falling off exponentially with age.";
    one of ["hotspot", "exponential"];
}

object! {
    /// Parameters of the hot spot.
    HOTSPOT: "One part of the keys gets one part of the operations."
    "data_fraction" = SHARE, Default("20%"), "20%";
        "Share of the keys that is hot.";
    "operation_fraction" = SHARE, Default("80%"), "80%";
        "Share of the operations that goes there.";
}

object! {
    /// Parameters of the exponential distribution.
    EXPONENTIAL: "So many percent of the operations go to this share of the records, the newest."
    "percentile" = number(1e-9, 100.0 - 1e-9), Default("95"), "95";
        "Percent of the operations.";
    "fraction" = number(1e-12, 1e12), Default("0.8571428571"), "0.857";
        "Share of the records.";
}

object! {
    /// A distribution of scan lengths.
    SCAN_LENGTH: "How many records a scan asks for."
    "uniform" = list(&SCAN_RECORDS, 2, 2), Optional, "[1, 100]";
        "Each number from the least to the most equally often.";
    "zipfian" = list(&SCAN_RECORDS, 2, 2), Optional, "[1, 100]";
        "The shortest most often.";
    one of ["uniform", "zipfian"];
}

object! {
    /// What every arm has, whatever its engine.
    ARM: "One thing being compared. The settings of its engine stand beside these keys."
    "about" = Shape::Text { most: 200 }, Optional, "cache larger than the data";
        "In a few words, for legends.";
    "engine" = Shape::Text { most: 40 }, Default(DEFAULT_ENGINE), "wiredtiger";
        "Which database.";
    "records" = RECORDS, Optional, "400k";
        "Number of records, where it is not that of the workload.";
    "size" = DATA_SIZE, Optional, "480MB";
        "Size of the data, where it is not that of the workload.";
    "working_set" = WORKING_SET, Optional, "138%";
        "Size of the data on disk as a share of the cache that the engine can use, where it is not that of the workload.";
    "directory" = Shape::Text { most: 1_000 }, Optional, "/mnt/data";
        "Folder in which the data directory is made, or the emulated disk is kept, found from the folder of the experiment file; \
         without it, the program's own place.";
    "disk" = DISK_OR_PRESET, Optional, "san-raid10";
        "The disk that the data lies on, with a filesystem of its own: the name of a preset, or its figures; `none` for a plain \
         directory, which is also what there is without this key.";
    "filesystem" = FILESYSTEM_OR_KIND, Default("xfs"), "ext4";
        "What is made on the disk, with its stock options unless more is said. Only with a disk.";
    "limits" = Shape::Object(&LIMITS), Optional, "{memory: 382MiB, cpus: 1.5}";
        "What is under test may use no more, the page cache that it fills included.";
    "server" = SERVER_OR_PRESET, Optional, "mongod";
        "The server that is started for the arm, on its disk and under its limits, and ended afterwards: the name of a preset, the path of \
         its program, or more. Without it that of the engine, if it has one, unless the arm names a server that runs by itself with `uri`.";
    "machine" = Shape::Text { most: 40 }, Optional, "m3.medium";
        "A published machine, by name: limits of memory and processors, and a price. What `limits` and `price` say beside it wins.";
    "price" = Shape::Object(&PRICE), Optional, "{per_hour: 0.07, currency: USD}";
        "What the arm costs.";
    at most one of ["records", "size", "working_set"];
}

object! {
    /// How long, how often and in which order.
    MEASUREMENT: "How long, how often and in which order."
    "warm_up" = duration(0, LONGEST_NS), Default("5s"), "5s";
        "Time under load before each point, not counted; with stages, their beginning. What else of a series had not \
         settled is found and cut by the analysis.";
    "duration" = duration(SHORTEST_NS, LONGEST_NS), Default("30s"), "30s";
        "Time that each point is measured, after its warm-up. Not with stages, which last as long as they say.";
    "operations" = count(1, MOST_OPERATIONS), Optional, "10M";
        "Ends a point early, when this many operations are complete after the warm-up.";
    "blocks" = Shape::Any(&[count(1, MOST_BLOCKS), Shape::Object(&BLOCKS)]), Default("8"), "8";
        "Rounds through all arms. They are what a comparison is made of: below 6 no verdict is possible. Either a number, or as many as are \
         needed until the intervals are narrow enough.";
    "order" = choice(&["shuffled", "as-written"]), Default("shuffled"), "shuffled";
        "Order of the arms in a block: anew in each, from the seed; or always that of the file, by which drift of the \
         machine can pass for a difference.";
    "seed" = count(0, u64::MAX), Default("42"), "42";
        "Random seed: the same seed gives the same operations in the same order.";
    "shaped_from" = choice(&["load", "warm-up", "measuring"]), Default("load"), "warm-up";
        "From when on emulated disks are as slow as they were asked to be: from the storing of the data, from the warm-up of each \
         point, or from its measured part. Before, they have no limits.";
    "log_operations" = count(0, MOST_LOGGED), Default("0"), "100";
        "Begin and end of the first so many measured operations of each point are noted in the record, so that the disk map can \
         show what one of them reads and writes. With one session, each request to the disk belongs to one operation.";
}

object! {
    /// As many blocks as are needed.
    BLOCKS: "As many blocks as are needed, within bounds. After geometrically spaced numbers of blocks it is looked at how wide the intervals \
        of the primary comparisons are, never at where they lie; when all are narrow enough at two looks in a row, the experiment ends."
    "at_least" = count(1, MOST_BLOCKS), Default("6"), "6";
        "Blocks after which it is looked first: 6 or more.";
    "at_most" = count(1, MOST_BLOCKS), Default("24"), "24";
        "Blocks at which it ends in any case.";
    "until" = HALF_WIDTH, Optional, "3%";
        "Half-width of an interval that is narrow enough; without it, the margin of its metric.";
}

object! {
    /// What counts as good service.
    OBJECTIVE: "What counts as good service: all of it must hold."
    "response" = keyed(Keys::Percentiles, &duration(1, LONGEST_NS), 1, 20), Optional, "{p99: 10ms}";
        "Highest response time at these percentiles.";
    "errors" = SHARE, Default("0"), "0.1%";
        "Highest share of operations that may fail.";
    "achieved" = SHARE, Default("99%"), "99%";
        "Lowest share of an offered rate that must be achieved.";
    "search" = Shape::Any(&[FLAG, Shape::Object(&SEARCH)]), Optional, "{trial: 10s, warm_up: 2s}";
        "Whether the plimsoll line is searched, the highest rate that holds the objective, and how. Without it: where `response` is bounded \
         and the load has no stages.";
}

object! {
    /// What is judged, and where.
    COMPARE: "What is judged, and where."
    "baseline" = Shape::Text { most: 40 }, Optional, "in-cache";
        "The arm that the others are compared with; without it, the first.";
    "pairs" = list(&list(&Shape::Text { most: 40 }, 2, 2), 1, 1_000), Optional, "[[xfs, ext4]]";
        "Arms that are compared with each other, the baseline of each pair first, instead of all with one.";
    "primary" = list(&Shape::Metric, 1, 20), Default("[throughput, response.p99]"), "[throughput, response.p99]";
        "Metrics that decide. All others are shown as exploratory. Where there is no load but only the search, the default is `[line]`. Metrics \
         are `throughput`, `response.mean`, percentiles such as `response.p99` and `service.p50`, `cpu`, `errors`, `line` (the plimsoll \
         line) and `cost` (price of a million operations).";
    "at" = Shape::Object(&AT), Optional, "{threads: 16}";
        "The load at which each mix is judged; without it, where the baseline is best. The metric `line` is always judged at the search.";
    "margins" = keyed(Keys::Metrics, &SHARE, 0, 20), Default("{throughput: 3%}, 5% for all others"), "{throughput: 3%, response.p99: 5%}";
        "Smallest difference that matters in practice.";
    at most one of ["baseline", "pairs"];
}

object! {
    /// A point of the load.
    AT: "A point of the load."
    "threads" = SESSIONS, Optional, "16";
        "The point of the closed loop with this many threads.";
    "rate" = RATE, Optional, "10k";
        "The point of the open loop with this rate.";
    "line" = LINE_SHARE, Optional, "80%";
        "The point at this share of the plimsoll line, which must be among the rates of the open loop; 100% is the line itself.";
    one of ["threads", "rate", "line"];
}

object! {
    /// A bound with its scope.
    THRESHOLD: "A bound with its scope. A bound alone, as text, concerns every arm, mix and point."
    "metric" = Shape::Bound, Required, "response.p99 <= 5ms";
        "A metric, `>=` or `<=`, and a bound in the unit of the metric.";
    "arm" = Shape::Text { most: 40 }, Optional, "in-cache";
        "Only for this arm.";
    "mix" = Shape::Text { most: 40 }, Optional, "c";
        "Only for this mix.";
    "at" = Shape::Object(&AT), Optional, "{threads: 16}";
        "Only at this load.";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_format::{CLOSED, OPEN, RATES_SWEEP, STAGE, STAGES, THREADS_SWEEP};

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
            &THREADS_SWEEP,
            &OPEN,
            &RATES_SWEEP,
            &STAGES,
            &STAGE,
            &LOAD_PHASE,
            &SEARCH,
            &MEASUREMENT,
            &BLOCKS,
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
