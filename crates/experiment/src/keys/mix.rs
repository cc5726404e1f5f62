//! `workload.mixes`: mixes of operations, by preset or parameter by parameter.

use crate::table::*;
use plimsoll_workload::Mix;

pub(crate) const PRESET: Shape = Shape::choice(&Mix::PRESETS);

pub(crate) const WEIGHT: Shape = Shape::number(0.0, 1e12);

pub(crate) const SCAN_RECORDS: Shape = Shape::count(1, u32::MAX as u64);

pub(crate) const DISTRIBUTIONS: Shape =
    Shape::choice(&["uniform", "sequential", "zipfian", "latest", "hotspot", "exponential"]);

object! {
    MIX mix: "A mix of operations. Proportions are weights: only their ratios count; a missing weight is that of the preset, or 0. With \
     `collections` the keys are the names of `operations`, with their weights."
    preset = PRESET, Optional, "a";
        "The YCSB core workload to start from; the other keys change it.";
    read = WEIGHT, Optional, "0.95";
        "Weight of reading one record.";
    update = WEIGHT, Optional, "0.05";
        "Weight of changing fields of one record.";
    insert = WEIGHT, Optional, "0.05";
        "Weight of storing one new record.";
    scan = WEIGHT, Optional, "0.95";
        "Weight of reading a range of records.";
    read_modify_write = WEIGHT, Optional, "0.5";
        "Weight of reading one record and then changing it.";
    request_distribution = Shape::Any(&[DISTRIBUTIONS, Shape::Object(&REQUEST_DISTRIBUTION)]), Default("uniform"), "zipfian";
        "How the key of an operation is chosen: each equally often (`uniform`), one after the other (`sequential`), few keys very often (`zipfian`), \
         the newest most often (`latest`), a part of the keys for a part of the operations (`hotspot`), declining with age (`exponential`).";
    scan_length = Shape::Any(&[SCAN_RECORDS, Shape::Object(&SCAN_LENGTH)]), Default("{uniform: [1, 1000]}"), "{uniform: [1, 100]}";
        "Number of records that a scan reads: a number, or a distribution of numbers.";
    read_all_fields = FLAG, Default("true"), "false";
        "Whether reads return all fields, otherwise one.";
    read_all_fields_by_name = FLAG, Default("false"), "true";
        "Whether reads of all fields name each of them.";
    write_all_fields = FLAG, Default("false"), "true";
        "Whether updates change all fields, otherwise one.";
    => others &WEIGHT;
}

object! {
    /// Distributions of keys with parameters.
    REQUEST_DISTRIBUTION request_distribution: "A distribution of keys with its parameters."
    hotspot = Shape::Object(&HOTSPOT), Optional, "{data_fraction: 20%, operation_fraction: 80%}";
        "A part of the keys gets a part of the operations.";
    exponential = Shape::Object(&EXPONENTIAL), Optional, "{percentile: 95, fraction: 0.857}";
        "The newest keys are the most frequent; frequency declines exponentially with age.";
    => one of [hotspot, exponential];
}

object! {
    /// Parameters of the hot spot.
    HOTSPOT hotspot: "A part of the keys gets a part of the operations."
    data_fraction = SHARE, Default("20%"), "20%";
        "Share of the keys in the hot part.";
    operation_fraction = SHARE, Default("80%"), "80%";
        "Share of the operations on the hot part.";
}

object! {
    /// Parameters of the exponential distribution.
    EXPONENTIAL exponential: "This percentage of the operations goes to this share of the records, the newest ones."
    percentile = Shape::number(1e-9, 100.0 - 1e-9), Default("95"), "95";
        "Percentage of the operations.";
    fraction = Shape::number(1e-12, 1e12), Default("0.8571428571"), "0.857";
        "Share of the records.";
}

object! {
    SCAN_LENGTH scan_length: "A distribution of scan lengths."
    uniform = Shape::list(&SCAN_RECORDS, 2, 2), Optional, "[1, 100]";
        "Each length between the two is equally likely.";
    zipfian = Shape::list(&SCAN_RECORDS, 2, 2), Optional, "[1, 100]";
        "Short lengths are the most frequent.";
    => one of [uniform, zipfian];
}
