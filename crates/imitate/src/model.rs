//! What was seen of a server. No value that a user stored stands in it.

use plimsoll_workload::documents::Literal;
use std::collections::HashMap;

/// All that was seen of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    pub server: ServerFacts,
    pub database: String,
    /// In order of their size in bytes, the largest first.
    pub collections: Vec<Stored>,
    /// In order of the server's time, the longest first.
    pub shapes: Vec<Shape>,
    pub source: Source,
    /// Calls from which `shapes` were made.
    pub calls: u64,
    /// From the first to the last of these calls, in seconds.
    pub seconds: f64,
    /// What was left out, and why: other databases, views, what the user may not read.
    pub omitted: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerFacts {
    pub version: String,
    /// Members of the replica set; 0 of a standalone.
    pub members: u32,
    pub cache_bytes: Option<u64>,
    pub processors: Option<u32>,
    pub memory_bytes: Option<u64>,
    /// Operations per second by `serverStatus`'s name (`query`, `insert`, ...) while it was watched, or since it started.
    pub rates: Vec<(String, f64)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    #[default]
    None,
    Profile,
    LogFile,
    /// The last lines of the log, which the server keeps in memory.
    RecentLog,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stored {
    pub database: String,
    pub name: String,
    pub documents: u64,
    /// Their size in BSON, in bytes.
    pub bytes: u64,
    pub stored_bytes: u64,
    pub index_bytes: u64,
    pub sampled: u64,
    /// 1, 50, 95 and 99 % of the sampled documents are not longer than this, in bytes.
    pub sizes: [u64; 4],
    /// In the order in which documents have them, `_id` first.
    pub fields: Vec<Field>,
    /// How the file spells values of a choice, by the field and a keyed hash of the value.
    pub(crate) spelled: HashMap<(String, u64), String>,
    /// Its indexes without that on `_id`.
    pub indexes: Vec<Index>,
    /// What the file says besides documents and indexes: `options`, `time_series`, `expire_after`.
    pub settings: Vec<(String, Literal)>,
    /// Fields, indexes and options that were left out, and why.
    pub omitted: Vec<String>,
}

/// A field of a collection's documents, or of a document in them.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// With dots, such as `address.city`; fields of list items are `items.price`.
    pub path: String,
    /// What the experiment file says of it; `None` of a field that stands in the generator of the field above it.
    pub generator: Option<Literal>,
    /// How sure that is, for a comment: `p99 within 6 %`.
    pub origin: String,
}

impl Stored {
    /// Whether its documents are measurements, which servers hardly change.
    pub(crate) fn is_time_series(&self) -> bool {
        self.settings.iter().any(|(key, _)| key == "time_series")
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    pub name: String,
    /// As `indexes` of a file takes it.
    pub spec: Literal,
    /// How often it was used since the server started, if the user may know.
    pub uses: Option<u64>,
    pub bytes: u64,
}

impl Index {
    pub(crate) fn keys(&self) -> &Literal {
        match self.spec.get("keys") {
            Some(keys @ Literal::Map(_)) => keys,
            _ => &self.spec,
        }
    }
}

/// Operations that differ in their values only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// Its database and collection, with a dot; the first one's of a transaction.
    pub namespace: String,
    /// Paths, operators, sort and projection in one normal form, equal for equal operations: by it shapes of two servers are found again.
    pub form: String,
    /// The operation as `operations` of a file takes it.
    pub operation: Literal,
    /// Names by which the operation can be called in a file, unique among shapes.
    pub name: String,
    pub calls: u64,
    /// Time that the server took for all of them, in microseconds.
    pub micros: u64,
    /// Plans as the server sums them up (`IXSCAN { customer: 1 }`), with the number of calls.
    pub plans: Vec<(String, u64)>,
    pub keys_examined: Spread,
    pub documents_examined: Spread,
    /// Documents returned, changed or inserted by a call.
    pub returned: Spread,
    pub bytes: Spread,
    /// How many statements the commands had to which its calls belong.
    pub statements: Spread,
    /// The share of the first 1,000, 10,000 and 100,000 calls that the most frequent 1 % of the values of the first parameter get, as far as there were so many.
    pub hottest_of_first: Vec<(u64, f64)>,
    /// Why no file can say it.
    pub unfit: Option<String>,
    /// Where the operation is not quite what was seen.
    pub remarks: Vec<String>,
}

/// Median and 95th percentile over the calls of a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// 50 % are not above it.
    pub median: f64,
    /// 95 % are not above it.
    pub p95: f64,
    /// Between which the median of all calls lies, if those seen are a sample.
    pub median_within: (f64, f64),
    /// Between which the 95th percentile of all calls lies, if those seen are a sample.
    pub p95_within: (f64, f64),
}
