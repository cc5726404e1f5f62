//! The collection before anything is stored: what is already there, whose it is, and the mark of what this program loads.
//!
//! The mark is a document in the collection `plimsoll.marks` of the same database. It carries the identity that the server gave to the
//! collection, so a collection that somebody else made again under the same name is not taken for ours. It is written before the first
//! record is.

use super::connection::Connection;
use super::messages::{self, words};
use super::target::{Existing, Target};
use crate::EngineError;
use mongodb::bson::{Bson, DateTime, Document, doc};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

const MARKS: &str = "plimsoll.marks";

/// A collection of a database.
#[derive(Clone, Debug)]
pub(super) struct Namespace {
    pub(super) database: String,
    pub(super) collection: String,
}

/// What may be done with a collection.
pub(super) enum Room {
    /// Records may be loaded: it is empty, or not there.
    Free,
    /// It is measured, or another client has prepared it.
    AsItIs,
    /// Its documents are those of an earlier load by this program, and make room for others.
    ToBeEmptied(Listed),
}

/// What the server says of a collection.
pub(super) struct Listed {
    /// Its identity, where the server gives any.
    uuid: Option<Bson>,
    /// Whether it was made with options of its own.
    has_options: bool,
    kind: String,
}

impl Namespace {
    fn failed(&self, target: &Target, doing: &str, message: &str) -> EngineError {
        target.failed(&format!("{doing} {}.{}", self.database, self.collection), message)
    }

    /// Does what `existing` says about what is there. Returns whether this program may load into the collection, which is empty then.
    pub(super) fn prepare(
        &self,
        connection: &Connection,
        target: &Target,
    ) -> Result<bool, EngineError> {
        match self.look(connection, target)? {
            Room::Free => Ok(true),
            Room::AsItIs => Ok(false),
            Room::ToBeEmptied(listed) => {
                self.empty(connection, &listed)
                    .map_err(|error| self.failed(target, "dropping", &words(&error)))?;
                Ok(true)
            }
        }
    }

    /// Removes the documents of an earlier load by this program, and the mark of it. Says whether there were any.
    pub(super) fn remove(
        &self,
        connection: &Connection,
        target: &Target,
    ) -> Result<bool, EngineError> {
        let Room::ToBeEmptied(listed) = self.look(connection, target)? else {
            return Ok(false);
        };
        let failed = |error| self.failed(target, "dropping", &words(&error));
        self.empty(connection, &listed).map_err(failed)?;
        let mark =
            doc! { "delete": MARKS, "deletes": [{ "q": { "_id": &self.collection }, "limit": 1 }] };
        connection.command(&self.database, mark).map_err(failed)?;
        let marks = Self { database: self.database.clone(), collection: MARKS.into() };
        if !marks.holds_documents(connection).map_err(failed)? {
            let drop = doc! { "drop": MARKS };
            connection.command(&self.database, drop).map_err(failed)?;
        }
        Ok(true)
    }

    /// What `existing` says about what is there. Nothing is changed.
    pub(super) fn look(
        &self,
        connection: &Connection,
        target: &Target,
    ) -> Result<Room, EngineError> {
        let listed = match self.listed(connection) {
            Ok(listed) => listed,
            // Whoever may read need not be allowed to list.
            Err(error)
                if matches!(target.existing, Existing::Use | Existing::Join)
                    && messages::code(&error) == Some(messages::UNAUTHORIZED) =>
            {
                return Ok(Room::AsItIs);
            }
            Err(error) => return Err(self.failed(target, "listing", &words(&error))),
        };
        let nothing_there = || {
            match target.existing {
            Existing::Use => Err(self.failed(
                target,
                "using",
                "it holds no documents, and `existing: use` loads none; leave out `existing`, so that records are loaded, or name the `table` and `database` that hold them",
            )),
            Existing::Join => Ok(Room::AsItIs),
            Existing::Refuse | Existing::Drop => Ok(Room::Free),
        }
        };
        let Some(listed) = listed else {
            return nothing_there();
        };
        if listed.kind != "collection" {
            return Err(self.failed(
                target,
                "using",
                &format!("it is a {}, not a collection; name another `table`", listed.kind),
            ));
        }
        if !self
            .holds_documents(connection)
            .map_err(|error| self.failed(target, "reading", &words(&error)))?
        {
            return nothing_there();
        }
        if matches!(target.existing, Existing::Use | Existing::Join) {
            return Ok(Room::AsItIs);
        }
        let marked = self
            .is_marked(connection, &listed)
            .map_err(|error| self.failed(target, "reading the mark of", &words(&error)))?;
        match (target.existing, marked) {
            (Existing::Drop, true) => Ok(Room::ToBeEmptied(listed)),
            (Existing::Drop, false) => Err(self.failed(
                target,
                "dropping",
                "it holds documents that this program did not load, so it is left alone; drop it yourself, or name another `table` or `database`; `existing: use` measures the documents that are there",
            )),
            (_, true) => Err(self.failed(
                target,
                "using",
                "it holds documents of an earlier load by this program; `existing: drop` drops them before each run, `existing: use` measures on them and loads nothing",
            )),
            (_, false) => Err(self.failed(
                target,
                "using",
                "it already holds documents that this program did not load; name another `table` or `database`, or take `existing: use` to measure on them without loading any",
            )),
        }
    }

    fn listed(&self, connection: &Connection) -> Result<Option<Listed>, mongodb::error::Error> {
        let answer = connection.command(
            &self.database,
            doc! { "listCollections": 1, "filter": { "name": &self.collection } },
        )?;
        let found = first_of_batch(&answer)
            .filter(|found| found.get_str("name").is_ok_and(|name| name == self.collection));
        Ok(found.map(|found| Listed {
            uuid: found.get_document("info").ok().and_then(|info| info.get("uuid").cloned()),
            has_options: found.get_document("options").is_ok_and(|options| !options.is_empty()),
            kind: found.get_str("type").unwrap_or("collection").to_owned(),
        }))
    }

    fn holds_documents(&self, connection: &Connection) -> Result<bool, mongodb::error::Error> {
        let answer = connection.command(
            &self.database,
            doc! { "find": &self.collection, "limit": 1, "singleBatch": true, "projection": { "_id": 1 } },
        )?;
        Ok(first_of_batch(&answer).is_some())
    }

    fn is_marked(
        &self,
        connection: &Connection,
        listed: &Listed,
    ) -> Result<bool, mongodb::error::Error> {
        let answer = connection.command(
            &self.database,
            doc! { "find": MARKS, "filter": { "_id": &self.collection }, "limit": 1, "singleBatch": true },
        )?;
        let marked = first_of_batch(&answer).and_then(|mark| mark.get("uuid").cloned());
        // Two identities that are missing are not the same one.
        Ok(listed.uuid.is_some() && marked == listed.uuid)
    }

    /// Drops it if it can be made again as it was, otherwise removes its documents alone: options, further indexes and sharding were somebody's
    /// choice.
    fn empty(&self, connection: &Connection, listed: &Listed) -> Result<(), mongodb::error::Error> {
        let indexes = connection.index_names(&self.database, &self.collection)?;
        let is_sharded = connection
            .command_if_there(&self.database, doc! { "collStats": &self.collection })?
            .is_ok_and(|statistics| statistics.get_bool("sharded").unwrap_or(false));
        if listed.has_options || is_sharded || indexes.len() > 1 {
            connection.command(
                &self.database,
                doc! { "delete": &self.collection, "deletes": [{ "q": {}, "limit": 0 }] },
            )?;
        } else {
            connection.command(&self.database, doc! { "drop": &self.collection })?;
        }
        Ok(())
    }

    /// Makes the collection, if it is not there, and marks it as loaded by this program.
    fn mark(&self, connection: &Connection) -> Result<(), mongodb::error::Error> {
        match connection.command(&self.database, doc! { "create": &self.collection }) {
            Err(error) if messages::code(&error) != Some(messages::NAMESPACE_EXISTS) => {
                return Err(error);
            }
            _ => {}
        }
        let uuid = self.listed(connection)?.and_then(|listed| listed.uuid);
        let mut mark = doc! {
            "_id": &self.collection,
            "loaded_by": concat!("plimsoll ", env!("CARGO_PKG_VERSION")),
            "at": DateTime::now(),
        };
        if let Some(uuid) = uuid {
            mark.insert("uuid", uuid);
        }
        connection.command(
            &self.database,
            doc! { "update": MARKS, "updates": [{ "q": { "_id": &self.collection }, "u": mark, "upsert": true }] },
        )?;
        Ok(())
    }
}

fn first_of_batch(answer: &Document) -> Option<Document> {
    let batch = answer.get_document("cursor").ok()?.get_array("firstBatch").ok()?;
    batch.first()?.as_document().cloned()
}

/// Marks a collection before the first record is stored, by whichever session comes first.
pub(super) struct Marking {
    place: Namespace,
    /// Whether there is nothing left to do.
    done: AtomicBool,
    /// Held by the one who does it.
    turn: Mutex<()>,
    connection: Arc<Connection>,
}

impl Marking {
    pub(super) fn new(place: Namespace, needed: bool, connection: Arc<Connection>) -> Self {
        Self { place, done: AtomicBool::new(!needed), turn: Mutex::new(()), connection }
    }

    /// Called before every insert; all but the first find it done. A user who may not mark loads all the same, and what is loaded is never dropped.
    #[inline]
    pub(super) fn before_insert(&self) {
        if !self.done.load(Ordering::Acquire) {
            self.mark();
        }
    }

    #[cold]
    fn mark(&self) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.done.load(Ordering::Acquire) {
            let _ = self.place.mark(&self.connection);
            self.done.store(true, Ordering::Release);
        }
    }
}
