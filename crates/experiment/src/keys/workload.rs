//! `workload`: what is stored and which operations are measured.

use crate::document::OpenMap;
use crate::keys::fields::FIELDS;
use crate::keys::mix::{MIX, PRESET};
use crate::table::*;

pub(crate) const MOST_RECORDS: u64 = 1_000_000_000_000;

pub(crate) const RECORDS: Shape = Shape::count(1, MOST_RECORDS);

pub(crate) const DATA_SIZE: Shape = Shape::size(1, 1 << 50);

/// A share of the cache that an engine can use; the data can be many times as large.
pub(crate) const WORKING_SET: Shape = Shape::number(1e-4, 1e4);

pub(crate) const ORDERED: &str = "ordered";

pub(crate) static EACH_MIX: Shape = Shape::Object(&MIX);

pub(crate) static COLLECTIONS: OpenMap = OpenMap {
    expected: "a map of collections such as {orders: {records: 100k, document: {customer: {text: 12}}}}",
    summary: "collections, see [own workloads](own-workloads.md)",
};

pub(crate) static OPERATIONS: OpenMap = OpenMap {
    expected: "a map of operations such as {by-customer: {find: orders, by: customer}}",
    summary: "operations, see [own workloads](own-workloads.md)",
};

object! {
    /// What is stored and which operations are measured.
    WORKLOAD workload: "The data, and the operations on it. Names and defaults are those of YCSB's core workload."
    records = RECORDS, Optional, "100k";
        "Number of records. Arms can have their own.";
    size = DATA_SIZE, Optional, "120MB";
        "Size of the data instead of a number of records: keys, field names and values, before the engine adds or compresses anything. The number of \
         records follows from the mean size of one. Beside `collections` it is the BSON of all documents, and the `records` of each are their proportion.";
    working_set = WORKING_SET, Optional, "138%";
        "Size of the data on disk as a share of the cache that the engine can use, instead of a number of records. A small load measures the size of a \
         record on disk. Beside `collections` it is the BSON of all documents, without their indexes.";
    preset = PRESET, Optional, "a";
        "One of YCSB's core workloads: a (half reads, half updates), b (95 % reads, 5 % updates), c (reads), d (reads of the latest, 5 % inserts), e \
         (short scans, 5 % inserts), f (half reads, half read-modify-writes).";
    mixes = Shape::Any(&[Shape::list(&PRESET, 1, 100), Shape::keyed(Keys::Names("mix"), &EACH_MIX, 1, 100)]), Optional, "[a, c]";
        "Several mixes of operations, each measured at every point of the load, one after the other on the same data: a list of presets, or names with \
         every parameter.";
    ycsb = Shape::Text { most: 1_000 }, Optional, "workloads/workloada";
        "A property file of YCSB; a relative path starts at the folder of the experiment file. It defines the records and one mix, named after the \
         file. Other keys of the workload override it. Properties that do not concern records and operations are refused by name.";
    fields = Shape::Object(&FIELDS), Optional, "{count: 10, length: 100}";
        "The fields of a record.";
    key_order = Shape::choice(&["hashed", ORDERED]), Default("hashed"), "ordered";
        "Whether keys are scattered by a hash of their number, or follow it.";
    zero_padding = Shape::count(0, 1_000), Default("1"), "12";
        "Least number of digits in a key; shorter numbers are padded with zeros.";
    data_integrity = FLAG, Default("false"), "true";
        "Derives each value from its key and field, and verifies it when it is read. Needs fields of constant length.";
    insert_start = Shape::count(0, MOST_RECORDS), Default("0"), "50k";
        "First key number that is loaded and used.";
    insert_count = Shape::count(1, MOST_RECORDS), Optional, "50k";
        "Number of key numbers that are loaded and used. Without it, all from `insert_start` on.";
    table = Shape::Name, Default("usertable"), "usertable";
        "Name of the table or collection.";
    collections = Shape::Open(&COLLECTIONS), Optional, "{orders: {records: 100k, document: {customer: {text: 12, distinct: 5k}}, indexes: [{customer: 1}]}}";
        "Collections of an application, in place of YCSB's records: how many documents each has, what they hold, its indexes, and `options` of MongoDB's `create`. Needs `engine: mongodb`; \
         see [own workloads](own-workloads.md).";
    operations = Shape::Open(&OPERATIONS), Optional, "{by-customer: {find: orders, by: customer, limit: 10}}";
        "Operations of an application on its `collections`. `mixes` gives them their weights.";
    => one of [preset, mixes, ycsb];
    => at most one of [records, size, working_set];
    => at most one of [records, collections];
    => at most one of [preset, ycsb, collections];
}
