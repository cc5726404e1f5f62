//! Everything that can be set on MongoDB: where it is, who asks it and how; and for a server that the program starts, how that is set.

use plimsoll_plan::{EngineKind, Setting, SettingKind};

const MIB: u64 = 1 << 20;
const TIB: u64 = 1 << 40;
const MILLISECOND_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000_000_000;
const COMPRESSORS: SettingKind = SettingKind::Choice(&["snappy", "zstd", "zlib", "none"]);

/// Settings of a server that the program starts. A server that runs by itself has its own.
#[cfg(feature = "mongodb")]
pub(crate) const OF_THE_SERVER: [&str; 7] = [
    "cache_size",
    "block_compressor",
    "journal_compressor",
    "checkpoint_interval",
    "directory_per_db",
    "parameters",
    "arguments",
];

/// Settings among these that only a mongod understands.
#[cfg(feature = "mongodb")]
pub(crate) const OF_MONGOD: [&str; 6] = [
    "cache_size",
    "block_compressor",
    "journal_compressor",
    "checkpoint_interval",
    "directory_per_db",
    "parameters",
];

pub(crate) const KIND: EngineKind = EngineKind {
    name: "mongodb",
    about: "A MongoDB server: a mongod that the program starts on the storage of the arm and under its limits, or any server, replica set or sharded cluster by its URI.",
    keeps_data: true,
    server: Some("mongod"),
    cache_setting: Some("cache_size"),
    usable_cache: 0.8,
    unfit: |_| None,
    settings: &[
        Setting {
            name: "uri",
            about: "A running server, such as `mongodb://user:${PASSWORD}@db1,db2/?replicaSet=rs0`: nothing is started. `${NAME}` is replaced from the environment, so that no password need stand in a file.",
            kind: SettingKind::Text,
            default: None,
        },
        Setting {
            name: "client",
            about: "The client: `lean`, our own, which costs little CPU, over plain connections to the primary; or `driver`, the official one, as applications have it, which can do everything that a URI says. By default lean, and driver where lean lacks what the URI asks for.",
            kind: SettingKind::Choice(&["lean", "driver"]),
            default: None,
        },
        Setting {
            name: "database",
            about: "Database of the collection; the collection is named like the table of the data. By default the one in the URI, else ycsb.",
            kind: SettingKind::Text,
            default: None,
        },
        Setting {
            name: "cache_size",
            about: "Memory of a started server for uncompressed pages; what does not fit is read again from files. By default mongod takes half of the memory above 1 GiB.",
            kind: SettingKind::Size { min: MIB, max: 10 * TIB },
            default: Some("1GiB"),
        },
        Setting {
            name: "block_compressor",
            about: "Compression of the pages that a started server keeps on disk. Default of mongod: snappy.",
            kind: COMPRESSORS,
            default: None,
        },
        Setting {
            name: "journal_compressor",
            about: "Compression of the journal of a started server. Default of mongod: snappy.",
            kind: COMPRESSORS,
            default: None,
        },
        Setting {
            name: "checkpoint_interval",
            about: "Time between two checkpoints of a started server: each writes all changed pages to the data files. 0s leaves them out. Default of mongod: 60s.",
            kind: SettingKind::Duration { min_ns: 0, max_ns: 3_600 * SECOND_NS },
            default: None,
        },
        Setting {
            name: "directory_per_db",
            about: "Whether a started server keeps each database in a folder of its own. Default of mongod: false.",
            kind: SettingKind::Flag,
            default: None,
        },
        Setting {
            name: "parameters",
            about: "Server parameters of a started server, `name=value` separated by commas, each passed as --setParameter.",
            kind: SettingKind::Text,
            default: None,
        },
        Setting {
            name: "arguments",
            about: "More arguments for the command line of a started server, separated by spaces; they come last.",
            kind: SettingKind::Text,
            default: None,
        },
        Setting {
            name: "write_concern",
            about: "How many members of a replica set must have a change before it is acknowledged: a number, `majority` or the name of a custom concern; 0 does not wait at all. By default the URI's, else the server's.",
            kind: SettingKind::Text,
            default: None,
        },
        Setting {
            name: "journal",
            about: "Whether a change is acknowledged only when it is in the journal on disk. By default the URI's, else the server's.",
            kind: SettingKind::Flag,
            default: None,
        },
        Setting {
            name: "write_timeout",
            about: "Time limit for the write concern, after which the server reports a failure. By default there is none.",
            kind: SettingKind::Duration { min_ns: MILLISECOND_NS, max_ns: 3_600 * SECOND_NS },
            default: None,
        },
        Setting {
            name: "read_concern",
            about: "The read concern: how durable the returned data must be. By default the URI's, else the server's, which is local.",
            kind: SettingKind::Choice(&["local", "available", "majority", "linearizable"]),
            default: None,
        },
        Setting {
            name: "read_preference",
            about: "Which members of a replica set may answer reads. By default the URI's, else primary.",
            kind: SettingKind::Choice(&[
                "primary",
                "primaryPreferred",
                "secondary",
                "secondaryPreferred",
                "nearest",
            ]),
            default: None,
        },
        Setting {
            name: "compressors",
            about: "Compression of messages that client and server may choose from, in order, separated by commas: snappy, zstd, zlib. By default the URI's, else none.",
            kind: SettingKind::Text,
            default: None,
        },
        Setting {
            name: "batch",
            about: "Number of records of one insert command; operations that only fill the batch are counted separately.",
            kind: SettingKind::Count { min: 1, max: 100_000 },
            default: Some("1"),
        },
        Setting {
            name: "upsert",
            about: "Whether an insert replaces a record of the same key instead of failing.",
            kind: SettingKind::Flag,
            default: Some("false"),
        },
        Setting {
            name: "existing",
            about: "What to do with a collection that already holds documents: `refuse` leaves it alone and fails; `use` measures on them and loads nothing; `drop` drops them, if this program can prove that it loaded them.",
            kind: SettingKind::Choice(&["refuse", "use", "drop"]),
            default: Some("refuse"),
        },
        Setting {
            name: "insert_into_existing",
            about: "With `existing: use`: whether operations of the workload may insert documents. They stay there.",
            kind: SettingKind::Flag,
            default: Some("false"),
        },
        Setting {
            name: "connect_timeout",
            about: "Time limit for finding a server and connecting to it.",
            kind: SettingKind::Duration { min_ns: 10 * MILLISECOND_NS, max_ns: 3_600 * SECOND_NS },
            default: Some("10s"),
        },
    ],
};
