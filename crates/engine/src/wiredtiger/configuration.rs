//! WiredTiger's configuration strings, as mongod writes them, with what the settings say.

use super::catalogue::{CONFIGS, SECOND_NS};
use crate::opening::COMPLETED;
use plimsoll_plan::Settings;
use std::time::Duration;

/// What is fixed when the database is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Configuration {
    pub(super) connection: String,
    /// For the creation of the collection's table.
    pub(super) collection: String,
    /// For the creation of the index's table.
    pub(super) index: String,
    /// `None` if the engine has no journal.
    pub(super) journal_flush_interval: Option<Duration>,
    /// Whether each change waits for a flush of the journal.
    pub(super) durable: bool,
    /// Whether small changes are written by `WT_CURSOR.modify`.
    pub(super) update_by_modify: bool,
    pub(super) statistics: bool,
    pub(super) after_load: AfterLoad,
}

/// The state in which the points begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterLoad {
    Checkpoint,
    Reopen,
    ReopenAndWarm,
}

impl AfterLoad {
    /// In words, for the record.
    pub(super) fn about(self) -> &'static str {
        match self {
            Self::Checkpoint => "as the load left the cache, after a checkpoint",
            Self::Reopen => {
                "reopened after the load: WiredTiger's cache is empty, the kernel's page cache is as the load left it"
            }
            Self::ReopenAndWarm => {
                "reopened after the load, then index and collection were read once in key order"
            }
        }
    }
}

impl Configuration {
    /// Expects settings that the registry has completed and checked.
    pub(super) fn new(settings: &Settings) -> Self {
        let bytes = |name| settings.bytes(name).expect(COMPLETED);
        let count = |name| settings.count(name).expect(COMPLETED);
        let flag = |name| settings.flag(name).expect(COMPLETED);
        let text = |name| settings.text(name).expect(COMPLETED);
        let nanos = |name| settings.nanos(name).expect(COMPLETED);
        let percent = |name| (settings.number(name).expect(COMPLETED) * 100.0).round();
        let checkpoint_seconds = nanos("checkpoint_interval") / SECOND_NS;
        let (journal, durable) = (flag("journal"), flag("durable"));

        let log = if journal {
            format!(
                "log=(enabled=true,remove=true,path={JOURNAL},compressor={})",
                text("journal_compressor")
            )
        } else {
            "log=(enabled=false)".into()
        };
        let mut connection = format!(
            "create,cache_size={},session_max={},eviction=(threads_min={threads},threads_max={threads}),eviction_dirty_target={},\
             eviction_dirty_trigger={},config_base=false,statistics=({}),{log},builtin_extension_config=(zstd=(compression_level=6)),\
             file_manager=(close_idle_time=600,close_scan_interval=10,close_handle_minimum=2000),checkpoint=(wait={checkpoint_seconds})",
            bytes("cache_size"),
            count("session_max"),
            percent("dirty_target"),
            percent("dirty_trigger"),
            text("statistics"),
            threads = count("eviction_threads"),
        );
        if flag("direct_io") {
            connection.push_str(",direct_io=[data]");
        }
        let mut collection = format!(
            "type=file,key_format=q,value_format=u,block_compressor={},checksum={},allocation_size={},internal_page_max={},leaf_page_max={},\
             leaf_value_max=64MB,memory_page_max={},split_pct=90",
            text("block_compressor"),
            text("checksum"),
            bytes("allocation_size"),
            bytes("internal_page_max"),
            bytes("leaf_page_max"),
            bytes("memory_page_max"),
        );
        let mut index = format!(
            "type=file,key_format=u,value_format=u,block_compressor={},checksum={},allocation_size={},internal_page_max={page},\
             leaf_page_max={page},prefix_compression={}",
            text("index_compressor"),
            text("checksum"),
            bytes("allocation_size"),
            flag("index_prefix_compression"),
            page = bytes("index_page_max"),
        );
        for (configuration, name) in
            [(&mut connection, CONFIGS[0]), (&mut collection, CONFIGS[1]), (&mut index, CONFIGS[2])]
        {
            if let Some(more) = settings.text(name).map(str::trim).filter(|more| !more.is_empty()) {
                configuration.push(',');
                configuration.push_str(more);
            }
        }

        Self {
            connection,
            collection,
            index,
            journal_flush_interval: journal
                .then(|| Duration::from_nanos(nanos("journal_flush_interval"))),
            durable,
            update_by_modify: text("update_by") == "modify",
            statistics: text("statistics") != "none",
            after_load: match text("after_load") {
                "checkpoint" => AfterLoad::Checkpoint,
                "reopen" => AfterLoad::Reopen,
                _ => AfterLoad::ReopenAndWarm,
            },
        }
    }
}

/// Folder of the journal within the data directory. WiredTiger does not make it.
pub(super) const JOURNAL: &str = "journal";
