//! Finding a record: in the store, or in a file that was exported.

use crate::screen::tell;
use anyhow::{Context, bail};
use plimsoll_record::ExperimentRecord;
use plimsoll_record::redact::line;
use plimsoll_report::page::experiment::DiskMap;
use plimsoll_store::bundle::{Bundle, is_bundle};
use plimsoll_store::{Filter, Store, StoreError};
use std::path::{Path, PathBuf};

/// Bytes of an exported record, which is held in memory.
const MOST_OF_A_RECORD: u64 = 1 << 30;

/// The store's file, named or by default.
pub fn store_path(named: Option<&Path>) -> Result<PathBuf, StoreError> {
    match named {
        Some(path) => Ok(path.to_owned()),
        None => Store::default_path(),
    }
}

/// A record, and the disk maps that came with it.
pub struct LoadedRecord {
    pub record: ExperimentRecord,
    /// Disk maps of a bundle.
    pub maps: Vec<DiskMap>,
    /// Whether it is in the store, and not in a file, which may come from anyone.
    pub is_stored: bool,
}

/// What is meant by an id, its beginning, a name, `last`, or the path of an exported record or a bundle.
pub fn found(wanted: &str, store: Option<&Path>) -> anyhow::Result<LoadedRecord> {
    if is_bundle(wanted.as_ref()) {
        let bundle = bundle(wanted.as_ref())?;
        let maps = bundle.maps.as_deref().map(serde_json::from_str).transpose();
        return Ok(LoadedRecord {
            record: bundle.record,
            maps: maps
                .with_context(|| format!("cannot use the disk maps of {wanted}"))?
                .unwrap_or_default(),
            is_stored: false,
        });
    }
    let is_stored = !wanted.ends_with(".json");
    let record = if !is_stored {
        let text = plimsoll_record::files::read_text(wanted.as_ref(), MOST_OF_A_RECORD)
            .with_context(|| format!("cannot read the record {wanted}"))?;
        ExperimentRecord::from_json(&text).with_context(|| format!("cannot use {wanted}"))?
    } else {
        let store = Store::open_read_only(&store_path(store)?)?;
        let loaded = store.load(wanted);
        if loaded.is_err() && is_empty(&store)? {
            bail!("{}", nothing_in(&store));
        }
        loaded?
    };
    let maps = Vec::new();
    Ok(LoadedRecord { record, maps, is_stored })
}

pub fn record(wanted: &str, store: Option<&Path>) -> anyhow::Result<ExperimentRecord> {
    Ok(found(wanted, store)?.record)
}

/// A bundle, with every file of it verified.
pub fn bundle(path: &Path) -> anyhow::Result<Bundle> {
    let bundle = plimsoll_store::bundle::read(path)
        .with_context(|| format!("cannot use the bundle {}", path.display()))?;
    tell(format_args!(
        "{} is as its manifest says: experiment {} of {}, measured by plimsoll {} ({})",
        path.display(),
        line(&bundle.manifest.id),
        line(&bundle.manifest.started_at),
        line(&bundle.manifest.program.version),
        line(&bundle.manifest.program.commit)
    ));
    Ok(bundle)
}

/// Whether a store has no experiment at all.
pub fn is_empty(store: &Store) -> Result<bool, StoreError> {
    Ok(store.list(&Filter::default())?.is_empty())
}

/// What to do where there is nothing yet.
pub fn nothing_in(store: &Store) -> String {
    format!(
        "the store {} is empty: `plimsoll run FILE` measures an experiment, `plimsoll foreign import FILE` reads results of other tools",
        store.path().display()
    )
}
