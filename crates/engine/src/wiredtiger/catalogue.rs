//! Everything that can be set on WiredTiger, with what mongod does.

use plimsoll_plan::{EngineKind, Setting, SettingKind, Settings, Unfit};

const MIB: u64 = 1 << 20;
const TIB: u64 = 1 << 40;
pub(super) const SECOND_NS: u64 = 1_000_000_000;
/// Settings that are handed to WiredTiger as they are: of the connection, the collection and the index.
pub(super) const CONFIGS: [&str; 3] = ["connection_config", "collection_config", "index_config"];
const COMPRESSORS: SettingKind = SettingKind::Choice(&["snappy", "zstd", "none"]);
const PAGE: SettingKind = SettingKind::Size { min: 512, max: 512 * MIB };

pub(crate) const KIND: EngineKind = EngineKind {
    name: "wiredtiger",
    about: "MongoDB's storage engine inside this program: the same caches, pages, journal and disk accesses as mongod, without a server between.",
    keeps_data: true,
    server: None,
    cache_setting: Some("cache_size"),
    usable_cache: 0.8,
    unfit,
    settings: &[
        Setting {
            name: "cache_size",
            about: "Memory for uncompressed pages; what does not fit is read again from files. mongod takes half of the memory above 1 GiB.",
            kind: SettingKind::Size { min: MIB, max: 10 * TIB },
            default: Some("1GiB"),
        },
        Setting {
            name: "dirty_target",
            about: "Share of the cache that may be changed pages before eviction threads write them out. mongod: 5%.",
            kind: SettingKind::Number { min: 0.01, max: 0.99 },
            default: Some("5%"),
        },
        Setting {
            name: "dirty_trigger",
            about: "Share of changed pages from which on operations must write out pages themselves before they continue. mongod: 20%.",
            kind: SettingKind::Number { min: 0.01, max: 0.99 },
            default: Some("20%"),
        },
        Setting {
            name: "eviction_threads",
            about: "Number of eviction threads. mongod: 4.",
            kind: SettingKind::Count { min: 1, max: 20 },
            default: Some("4"),
        },
        Setting {
            name: "checkpoint_interval",
            about: "Time between two checkpoints, in whole seconds: each writes all changed pages to the data files. 0s leaves them out. mongod: 60s.",
            kind: SettingKind::Duration { min_ns: 0, max_ns: 100_000 * SECOND_NS },
            default: Some("60s"),
        },
        Setting {
            name: "journal",
            about: "Whether changes are logged, so that a crash loses at most one flush interval rather than one checkpoint interval. mongod: true.",
            kind: SettingKind::Flag,
            default: Some("true"),
        },
        Setting {
            name: "journal_compressor",
            about: "Compression of journal records above 128 bytes. mongod: snappy.",
            kind: COMPRESSORS,
            default: Some("snappy"),
        },
        Setting {
            name: "journal_flush_interval",
            about: "Time between two flushes of the journal to disk, with fdatasync. mongod: 100ms.",
            kind: SettingKind::Duration { min_ns: SECOND_NS / 1_000, max_ns: 3_600 * SECOND_NS },
            default: Some("100ms"),
        },
        Setting {
            name: "durable",
            about: "Whether each change waits until it is in the journal on disk, like MongoDB's write concern `j: true`: one flush for all that wait.",
            kind: SettingKind::Flag,
            default: Some("false"),
        },
        Setting {
            name: "update_by",
            about: "modify logs and keeps only the changed bytes of small changes, as mongod does in a replica set; whole writes the document again, as a standalone mongod does.",
            kind: SettingKind::Choice(&["modify", "whole"]),
            default: Some("modify"),
        },
        Setting {
            name: "block_compressor",
            about: "Compression of the collection's pages on disk; pages in the cache are never compressed. mongod: snappy.",
            kind: COMPRESSORS,
            default: Some("snappy"),
        },
        Setting {
            name: "checksum",
            about: "Which blocks carry a checksum that is verified when they are read. mongod: on.",
            kind: SettingKind::Choice(&["on", "off", "uncompressed", "unencrypted"]),
            default: Some("on"),
        },
        Setting {
            name: "allocation_size",
            about: "Unit in which files are written; every page is a multiple of it. mongod: 4KiB.",
            kind: SettingKind::Size { min: 512, max: 128 * MIB },
            default: Some("4KiB"),
        },
        Setting {
            name: "leaf_page_max",
            about: "Largest page of documents on disk, before compression: what one read of a record that is not cached decompresses. mongod: 32KiB.",
            kind: PAGE,
            default: Some("32KiB"),
        },
        Setting {
            name: "internal_page_max",
            about: "Largest inner page of the collection's tree on disk. mongod: 4KiB.",
            kind: PAGE,
            default: Some("4KiB"),
        },
        Setting {
            name: "memory_page_max",
            about: "Size in memory at which a page of documents is split or written out. mongod: 10MiB.",
            kind: SettingKind::Size { min: 512, max: 10 * TIB },
            default: Some("10MiB"),
        },
        Setting {
            name: "index_page_max",
            about: "Largest page of the `_id` index on disk, inner and leaf. mongod: 16KiB.",
            kind: PAGE,
            default: Some("16KiB"),
        },
        Setting {
            name: "index_prefix_compression",
            about: "Whether keys on an index page leave out what they share with the key before. mongod: true.",
            kind: SettingKind::Flag,
            default: Some("true"),
        },
        Setting {
            name: "index_compressor",
            about: "Compression of the index pages on disk. mongod: none.",
            kind: COMPRESSORS,
            default: Some("none"),
        },
        Setting {
            name: "direct_io",
            about: "Whether data files bypass the kernel's page cache, so that a miss in WiredTiger's cache always reaches the disk. mongod: false.",
            kind: SettingKind::Flag,
            default: Some("false"),
        },
        Setting {
            name: "session_max",
            about: "Largest number of open sessions. mongod: 33000.",
            kind: SettingKind::Count { min: 20, max: 1_000_000 },
            default: Some("33000"),
        },
        Setting {
            name: "statistics",
            about: "What WiredTiger counts: `all` walks trees and slows it down, `none` leaves the report without engine figures. mongod: fast.",
            kind: SettingKind::Choice(&["fast", "all", "none"]),
            default: Some("fast"),
        },
        Setting {
            name: "after_load",
            about: "State in which the points begin. Loaded pages are slower to read than pages from disk, so by default the database is reopened and both tables are read once.",
            kind: SettingKind::Choice(&["reopen-and-warm", "reopen", "checkpoint"]),
            default: Some("reopen-and-warm"),
        },
        Setting {
            name: "connection_config",
            about: "More configuration for wiredtiger_open, in WiredTiger's own syntax; it is appended, and the last value counts.",
            kind: SettingKind::Text,
            default: None,
        },
        Setting {
            name: "collection_config",
            about: "More configuration for the collection's table, in WiredTiger's own syntax; the last value counts.",
            kind: SettingKind::Text,
            default: None,
        },
        Setting {
            name: "index_config",
            about: "More configuration for the index's table, in WiredTiger's own syntax; the last value counts.",
            kind: SettingKind::Text,
            default: None,
        },
    ],
};

/// What WiredTiger refuses, or would take for something else.
fn unfit(settings: &Settings) -> Option<Unfit> {
    let refuse = |setting, reason: &str| Some(Unfit::new(setting, reason));
    let nanos = settings.nanos("checkpoint_interval").unwrap_or_default();
    if !nanos.is_multiple_of(SECOND_NS) {
        return refuse("checkpoint_interval", "WiredTiger takes whole seconds");
    }
    if settings.flag("durable") == Some(true) && settings.flag("journal") == Some(false) {
        return refuse(
            "durable",
            "without a journal nothing is durable before the next checkpoint",
        );
    }
    let share = |name| settings.number(name).unwrap_or_default() * 100.0;
    for name in ["dirty_target", "dirty_trigger"] {
        if (share(name) - share(name).round()).abs() > 1e-7 {
            return refuse(name, "WiredTiger takes whole percents");
        }
    }
    if share("dirty_target") >= share("dirty_trigger") {
        let reason =
            format!("it must be less than dirty_trigger, which is {:.0}%", share("dirty_trigger"));
        return refuse("dirty_target", &reason);
    }
    let holds_nul = |name: &&str| settings.text(name).is_some_and(|more| more.contains('\0'));
    let name = CONFIGS.into_iter().find(holds_nul)?;
    refuse(name, "it holds a NUL byte")
}
