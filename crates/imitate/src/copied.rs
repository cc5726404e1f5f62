//! The copy of a server, as a run under the written file leaves it: collections from the run's record, operations from the log of its server.

use crate::model::{Observed, Source, Stored};
use crate::{Call, shapes};
use plimsoll_record::ApplicationState;

/// What a run shows of the server that it measured, to be compared with `production`. `calls` are those that were measured.
pub fn copied(production: &Observed, state: &ApplicationState, calls: Vec<Call>) -> Observed {
    let database = calls.first().and_then(|call| call.namespace.split_once('.'));
    let database = database.map(|(database, _)| database.to_owned()).unwrap_or_default();
    let collection = |stored: &Stored| {
        let own = state.collections.iter().find(|one| one.name == stored.name)?;
        // The sizes of single documents are not in a record.
        Some(Stored {
            database: database.clone(),
            documents: own.documents,
            // The server's size of a time series is that of compressed buckets.
            bytes: match stored.is_time_series() {
                true => {
                    (stored.bytes as f64 / stored.documents as f64 * own.documents as f64) as u64
                }
                false => own.bytes,
            },
            stored_bytes: own.stored_bytes,
            index_bytes: own.indexes.iter().map(|index| index.bytes).sum(),
            ..stored.clone()
        })
    };
    let collections: Vec<Stored> = production.collections.iter().filter_map(collection).collect();
    let shapes = shapes(calls.into_iter(), &collections);
    Observed {
        calls: shapes.iter().map(|shape| shape.calls).sum(),
        source: Source::LogFile,
        database,
        collections,
        shapes,
        ..Observed::default()
    }
}
