//! Finding a record: in the store, or in a file that was exported.

use anyhow::Context;
use plimsoll_record::ExperimentRecord;
use plimsoll_store::{Store, StoreError};
use std::path::{Path, PathBuf};

/// The store's file, named or by default.
pub fn store_path(named: Option<&Path>) -> Result<PathBuf, StoreError> {
    match named {
        Some(path) => Ok(path.to_owned()),
        None => Store::default_path(),
    }
}

/// The record that is meant by an id, its beginning, a name, `last`, or the path of an exported record.
pub fn record(wanted: &str, store: Option<&Path>) -> anyhow::Result<ExperimentRecord> {
    if wanted.ends_with(".json") {
        let text = std::fs::read_to_string(wanted)
            .with_context(|| format!("cannot read the record {wanted}"))?;
        return ExperimentRecord::from_json(&text).with_context(|| format!("cannot use {wanted}"));
    }
    let store = Store::open_read_only(&store_path(store)?)?;
    Ok(store.load(wanted)?)
}
