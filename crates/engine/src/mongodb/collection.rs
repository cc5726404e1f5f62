//! The collections before anything is stored: what is already there, whose it is, their indexes, and the marks of what this program loads.
//!
//! A mark is a document in the collection `plimsoll.marks` of the same database. It carries the identity that the server gave to the
//! collection, so a collection that somebody else made again under the same name is not taken for ours. It is written before the first
//! record is.
//!
//! The mark also names the indexes that this program created, and says whether it created the collection with options, with the same identity. That part is
//! written as soon as they are there, and by itself it does not make the documents ours.

use super::connection::Connection;
use super::messages::{self, words};
use super::target::{Existing, Target};
use crate::EngineError;
use mongodb::bson::{Bson, DateTime, Document, doc};
use mongodb::error::Error;
use mongodb::options::ClientOptions;
use plimsoll_workload::CollectionOrder;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub const MARKS: &str = "plimsoll.marks";
/// What servers call a collection of measurements, and the option that makes one.
const TIME_SERIES: &str = "timeseries";
/// The part of a mark that says that this program created the collection with options.
const CREATED: &str = "created_with_options";
/// What servers report of a collection with a validator when neither option was given.
const USUAL_OPTIONS: [(&str, &str); 2] =
    [("validationLevel", "strict"), ("validationAction", "error")];

/// A collection of a database.
#[derive(Clone, Debug)]
pub(super) struct Namespace {
    pub(super) database: String,
    pub(super) collection: String,
    /// The wanted state, for a collection of an application.
    pub(super) order: Option<CollectionOrder>,
}

/// What may be done with a collection.
pub(super) enum Room {
    /// Records may be loaded: it is empty, or not there.
    Free(Option<Listed>),
    /// It is measured, or another client has prepared it.
    AsItIs,
    /// Its documents are those of an earlier load by this program, and make room for others.
    ToBeEmptied(Listed),
}

/// What the server says of a collection.
pub(super) struct Listed {
    /// Its identity, where the server gives any.
    uuid: Option<Bson>,
    /// What it was created with, as the server reports it.
    options: Document,
    kind: String,
}

/// A collection that this program may load into, and the names of the indexes that this program created there.
pub(super) struct ToMark {
    place: Namespace,
    indexes: Vec<String>,
    /// Whether this program created it with the options that it has.
    is_created: bool,
}

/// The collections that the settings and the opening name.
pub(super) fn places(target: &Target, options: &ClientOptions) -> Vec<Namespace> {
    let database = target.database(options);
    if target.collections.is_empty() {
        return vec![Namespace { database, collection: target.collection.clone(), order: None }];
    }
    let of = |order: &CollectionOrder| Namespace {
        database: database.clone(),
        collection: order.name.clone(),
        order: Some(order.clone()),
    };
    target.collections.iter().map(of).collect()
}

/// Does what `existing` says about what is there, and creates collections with options, and indexes, where documents will be loaded. Returns the collections that this program may load into:
/// they are empty then. All are looked at before any is changed.
pub(super) fn prepare(
    places: &[Namespace],
    connection: &Connection,
    target: &Target,
) -> Result<Vec<ToMark>, EngineError> {
    let mut to_mark = Vec::new();
    for (place, room) in look_at_all(places, connection, target)? {
        let left = match room {
            Room::AsItIs => continue,
            Room::Free(listed) => listed,
            Room::ToBeEmptied(listed) => {
                let is_dropped = place.empty(connection, &listed);
                match is_dropped.map_err(|error| place.failed_to_drop(target, &error))? {
                    true => None,
                    false => Some(listed),
                }
            }
        };
        let is_created = match &left {
            None => place.create(connection, target)?,
            Some(listed) => {
                let is_created = place.is_created(connection, listed);
                is_created
                    .map_err(|error| place.failed(target, "reading the mark of", &words(&error)))?
            }
        };
        let mut made = ToMark { place: place.clone(), indexes: Vec::new(), is_created };
        let created = place.create_indexes(connection, target, left.as_ref(), &mut made.indexes);
        // Also those that were created before one failed.
        made.note_created(connection);
        created?;
        to_mark.push(made);
    }
    Ok(to_mark)
}

/// Removes the documents of an earlier load by this program, and the marks of it. Says whether there were any.
pub(super) fn remove(
    places: &[Namespace],
    connection: &Connection,
    target: &Target,
) -> Result<bool, EngineError> {
    let mut is_any_removed = false;
    for (place, room) in look_at_all(places, connection, target)? {
        let failed = |error| place.failed_to_drop(target, &error);
        let listed = match room {
            Room::ToBeEmptied(listed) => listed,
            // An application may leave a collection empty that this program made.
            Room::Free(Some(listed))
                if place.order.is_some()
                    && place.is_noted(connection, &listed).map_err(failed)? =>
            {
                listed
            }
            Room::Free(_) | Room::AsItIs => continue,
        };
        place.empty(connection, &listed).map_err(failed)?;
        place.remove_mark(connection).map_err(failed)?;
        is_any_removed = true;
    }
    Ok(is_any_removed)
}

/// What `existing` says about each of them, before any is changed.
fn look_at_all<'a>(
    places: &'a [Namespace],
    connection: &Connection,
    target: &Target,
) -> Result<Vec<(&'a Namespace, Room)>, EngineError> {
    places.iter().map(|place| Ok((place, place.look(connection, target)?))).collect()
}

impl Namespace {
    fn failed_to_drop(&self, target: &Target, error: &Error) -> EngineError {
        self.failed(target, "dropping", &words(error))
    }

    fn failed(&self, target: &Target, doing: &str, message: &str) -> EngineError {
        target.failed(&format!("{doing} {}.{}", self.database, self.collection), message)
    }

    /// Removes the mark, and the collection of the marks with the last of them.
    fn remove_mark(&self, connection: &Connection) -> Result<(), Error> {
        let mark =
            doc! { "delete": MARKS, "deletes": [{ "q": { "_id": &self.collection }, "limit": 1 }] };
        connection.command(&self.database, mark)?;
        let marks = Self { database: self.database.clone(), collection: MARKS.into(), order: None };
        if !marks.holds_documents(connection)? {
            connection.command(&self.database, doc! { "drop": MARKS })?;
        }
        Ok(())
    }

    /// Where else documents may be, in words of the file.
    fn elsewhere(&self) -> &'static str {
        match self.order {
            None => "`table` or `database`",
            Some(_) => "`database`",
        }
    }

    /// Decides about existing documents as `existing` says. Nothing is changed.
    pub(super) fn look(
        &self,
        connection: &Connection,
        target: &Target,
    ) -> Result<Room, EngineError> {
        let listed = match self.listed(connection) {
            Ok(listed) => listed,
            // A user who may read need not be allowed to list.
            Err(error)
                if matches!(target.existing, Existing::Use | Existing::Join)
                    && messages::code(&error) == Some(messages::UNAUTHORIZED) =>
            {
                return Ok(Room::AsItIs);
            }
            Err(error) => return Err(self.failed(target, "listing", &words(&error))),
        };
        let Some(listed) = listed else {
            return self.nothing_there(target, None);
        };
        if listed.kind != "collection" && !(listed.kind == TIME_SERIES && self.is_time_series()) {
            return Err(self.failed(
                target,
                "using",
                &format!(
                    "it is a {}, not a collection; name another {}",
                    listed.kind,
                    self.elsewhere()
                ),
            ));
        }
        if !self
            .holds_documents(connection)
            .map_err(|error| self.failed(target, "reading", &words(&error)))?
        {
            return match self.nothing_there(target, Some(listed))? {
                Room::Free(Some(listed)) => self.with_ordered_options(connection, target, listed),
                room => Ok(room),
            };
        }
        if matches!(target.existing, Existing::Use | Existing::Join) {
            return Ok(Room::AsItIs);
        }
        let marked = self
            .is_marked(connection, &listed)
            .map_err(|error| self.failed(target, "reading the mark of", &words(&error)))?;
        match (target.existing, marked) {
            (Existing::Drop, true) => {
                if !self.orders_options_of(&listed)
                    && self.has_ordered_options()
                    && self
                        .is_kept(connection, &listed)
                        .map_err(|error| self.failed(target, "reading", &words(&error)))?
                {
                    return Err(self.other_options(target, &listed));
                }
                Ok(Room::ToBeEmptied(listed))
            }
            (Existing::Drop, false) => Err(self.failed(
                target,
                "dropping",
                &format!(
                    "it holds documents that this program did not load, so it is left alone; drop it yourself, or name another {}; `existing: use` measures the existing documents",
                    self.elsewhere()
                ),
            )),
            (_, true) => Err(self.failed(
                target,
                "using",
                "it holds documents of an earlier load by this program; `existing: drop` drops them before each run, `existing: use` measures on them and loads nothing",
            )),
            (_, false) => Err(self.failed(
                target,
                "using",
                &format!(
                    "it already holds documents that this program did not load; name another {}, or take `existing: use` to measure on them without loading any",
                    self.elsewhere()
                ),
            )),
        }
    }

    /// What `existing` says about a collection that is empty or not there.
    fn nothing_there(&self, target: &Target, listed: Option<Listed>) -> Result<Room, EngineError> {
        match target.existing {
            // The first client of a server that was started for the arm makes the indexes; the records of YCSB have none.
            Existing::Join if self.order.is_some() && !target.joins => Ok(Room::Free(listed)),
            Existing::Join => Ok(Room::AsItIs),
            Existing::Refuse | Existing::Drop => Ok(Room::Free(listed)),
            // An application may begin with an empty collection.
            Existing::Use if self.order.as_ref().is_some_and(|order| order.documents == 0) => {
                Ok(Room::AsItIs)
            }
            Existing::Use => {
                let where_they_are = match self.order {
                    None => "`table` and `database` that hold them",
                    Some(_) => "`database` that holds them",
                };
                Err(self.failed(
                    target,
                    "using",
                    &format!(
                        "it holds no documents, and `existing: use` loads none; leave out `existing`, so that records are loaded, or name the {where_they_are}"
                    ),
                ))
            }
        }
    }

    /// An empty collection, if it may be left as it is; one of this program with other options than those of the order is to be made again.
    fn with_ordered_options(
        &self,
        connection: &Connection,
        target: &Target,
        listed: Listed,
    ) -> Result<Room, EngineError> {
        if self.order.is_none() || self.orders_options_of(&listed) {
            return Ok(Room::Free(Some(listed)));
        }
        let failed = |error| self.failed(target, "reading", &words(&error));
        let is_ours = self.is_noted(connection, &listed).map_err(failed)?
            && !self.is_kept(connection, &listed).map_err(failed)?;
        match is_ours {
            true => Ok(Room::ToBeEmptied(listed)),
            false if self.has_ordered_options() => Err(self.other_options(target, &listed)),
            // Options of others stay.
            false => Ok(Room::Free(Some(listed))),
        }
    }

    fn other_options(&self, target: &Target, listed: &Listed) -> EngineError {
        let ordered = self.ordered_options().unwrap_or_default();
        self.failed(
            target,
            "using",
            &format!(
                "its options are {}, {ordered} are requested, and it is not this program's to drop; drop it yourself, or name another {}",
                listed.options,
                self.elsewhere()
            ),
        )
    }

    /// The options of the order; empty where there are none.
    fn ordered_options(&self) -> Result<Document, String> {
        let bytes = self.order.as_ref().and_then(|order| order.options.as_deref());
        bytes.map_or(Ok(Document::new()), |mut bytes| {
            Document::from_reader(&mut bytes).map_err(|error| format!("it is not BSON: {error}"))
        })
    }

    /// Whether the order makes it a time series.
    pub(super) fn is_time_series(&self) -> bool {
        self.ordered_options().is_ok_and(|options| options.contains_key(TIME_SERIES))
    }

    fn has_ordered_options(&self) -> bool {
        self.order.as_ref().is_some_and(|order| order.options.is_some())
    }

    /// Whether the order would create it with just the options that it has.
    fn orders_options_of(&self, listed: &Listed) -> bool {
        self.ordered_options().is_ok_and(|ordered| are_same_options(&ordered, &listed.options))
    }

    /// Creates the collection if the order has options, and says whether it did; otherwise the first index or document does.
    fn create(&self, connection: &Connection, target: &Target) -> Result<bool, EngineError> {
        if !self.has_ordered_options() {
            return Ok(false);
        }
        let failed = |message: &str| self.failed(target, "creating", message);
        let create = self.creation().map_err(|message| failed(&message))?;
        connection.command(&self.database, create).map_err(|error| failed(&words(&error)))?;
        Ok(true)
    }

    /// The command that creates the collection.
    fn creation(&self) -> Result<Document, String> {
        let mut create = doc! { "create": &self.collection };
        create.extend(self.ordered_options()?);
        Ok(create)
    }

    fn listed(&self, connection: &Connection) -> Result<Option<Listed>, Error> {
        let answer = connection.command(
            &self.database,
            doc! { "listCollections": 1, "filter": { "name": &self.collection } },
        )?;
        let found = first_of_batch(&answer)
            .filter(|found| found.get_str("name").is_ok_and(|name| name == self.collection));
        let Some(found) = found else { return Ok(None) };
        let kind = found.get_str("type").unwrap_or("collection").to_owned();
        let uuid_of = |found: &Document| found.get_document("info").ok()?.get("uuid").cloned();
        // A time series is a view of its buckets, and only they have an identity.
        let uuid = match kind == TIME_SERIES {
            true => {
                let buckets = format!("system.buckets.{}", self.collection);
                let list = doc! { "listCollections": 1, "filter": { "name": buckets } };
                let answer = connection.command(&self.database, list)?;
                first_of_batch(&answer).as_ref().and_then(uuid_of)
            }
            false => uuid_of(&found),
        };
        let options = found.get_document("options").cloned().unwrap_or_default();
        Ok(Some(Listed { uuid, options, kind }))
    }

    fn holds_documents(&self, connection: &Connection) -> Result<bool, Error> {
        let answer = connection.command(
            &self.database,
            doc! { "find": &self.collection, "limit": 1, "singleBatch": true, "projection": { "_id": 1 } },
        )?;
        Ok(first_of_batch(&answer).is_some())
    }

    fn find_mark(&self, connection: &Connection) -> Result<Document, Error> {
        let answer = connection.command(
            &self.database,
            doc! { "find": MARKS, "filter": { "_id": &self.collection }, "limit": 1, "singleBatch": true },
        )?;
        Ok(first_of_batch(&answer).unwrap_or_default())
    }

    /// Whether the documents are those of an earlier load by this program.
    fn is_marked(&self, connection: &Connection, listed: &Listed) -> Result<bool, Error> {
        Ok(listed.is_named_by(&self.find_mark(connection)?))
    }

    /// Whether the collection or indexes of it were made by this program.
    fn is_noted(&self, connection: &Connection, listed: &Listed) -> Result<bool, Error> {
        let mark = self.find_mark(connection)?;
        let parts = [CREATED, "indexes"].map(|part| mark.get_document(part));
        let is_named = parts.into_iter().flatten().any(|part| listed.is_named_by(part));
        Ok(listed.is_named_by(&mark) || is_named)
    }

    /// Whether this program created it with the options that it has.
    fn is_created(&self, connection: &Connection, listed: &Listed) -> Result<bool, Error> {
        if listed.options.is_empty() {
            return Ok(false);
        }
        let mark = self.find_mark(connection)?;
        Ok(mark.get_document(CREATED).is_ok_and(|created| listed.is_named_by(created)))
    }

    /// The names of the indexes that this program created in the collection.
    fn created_indexes(
        &self,
        connection: &Connection,
        listed: &Listed,
    ) -> Result<Vec<String>, Error> {
        let mark = self.find_mark(connection)?;
        let indexes = mark.get_document("indexes").ok();
        let indexes = indexes.filter(|indexes| listed.is_named_by(indexes));
        let names = indexes.and_then(|indexes| indexes.get_array("names").ok());
        let names = names.into_iter().flatten().filter_map(Bson::as_str);
        Ok(names.map(ToOwned::to_owned).collect())
    }

    /// The existing indexes besides that on `_id`.
    fn further_indexes(&self, connection: &Connection) -> Result<Vec<Document>, Error> {
        let list = doc! { "listIndexes": &self.collection };
        let answer = connection.command(&self.database, list)?;
        // A collection has 64 at most, and a first batch has room for 101.
        let mut indexes = documents_of_batch(&answer);
        indexes.retain(|index| index_name(index) != "_id_");
        Ok(indexes)
    }

    /// The indexes of the order.
    fn ordered_indexes(&self) -> impl Iterator<Item = Result<Document, String>> {
        let indexes = self.order.iter().flat_map(|order| &order.indexes);
        indexes.map(|bytes| {
            Document::from_reader(&bytes[..]).map_err(|error| format!("it is not BSON: {error}"))
        })
    }

    /// Whether the order would create just this index.
    fn orders(&self, index: &Document) -> bool {
        self.ordered_indexes().flatten().any(|ordered| is_same_index(&ordered, index))
    }

    /// Creates the indexes of the order in an empty collection, `left` of before if it was not dropped. Indexes that an earlier load by this program created
    /// and that are not in the order are removed. Adds to `ours` the names of those that this program created, now or then.
    fn create_indexes(
        &self,
        connection: &Connection,
        target: &Target,
        left: Option<&Listed>,
        ours: &mut Vec<String>,
    ) -> Result<(), EngineError> {
        if self.order.is_none() {
            return Ok(());
        }
        let mut there = Vec::new();
        if let Some(listed) = left {
            let failed = |error| self.failed(target, "reading the indexes of", &words(&error));
            there = self.further_indexes(connection).map_err(failed)?;
            *ours = self.created_indexes(connection, listed).map_err(failed)?;
        }
        ours.retain(|name| there.iter().any(|index| index_name(index) == name));
        let is_old = |index: &Document| {
            ours.iter().any(|name| name == index_name(index)) && !self.orders(index)
        };
        for index in there.iter().filter(|index| is_old(index)) {
            let name = index_name(index);
            let drop = doc! { "dropIndexes": &self.collection, "index": name };
            connection.command(&self.database, drop).map_err(|error| {
                self.failed(target, &format!("dropping the index `{name}` of"), &words(&error))
            })?;
        }
        there.retain(|index| !is_old(index));
        ours.retain(|name| there.iter().any(|index| index_name(index) == name));
        for index in self.ordered_indexes() {
            let index =
                index.map_err(|message| self.failed(target, "creating an index of", &message))?;
            let name = index_name(&index).to_owned();
            if there.iter().any(|known| is_same_index(&index, known)) {
                continue;
            }
            let is_new = there.iter().all(|known| index_name(known) != name);
            let create = doc! { "createIndexes": &self.collection, "indexes": [index] };
            connection.command(&self.database, create).map_err(|error| {
                self.failed(target, &format!("creating the index `{name}` of"), &words(&error))
            })?;
            if is_new {
                ours.push(name);
            }
        }
        Ok(())
    }

    /// Whether its documents alone may be removed: options, sharding and indexes that this program neither created nor is about to create were somebody's
    /// choice.
    fn is_kept(&self, connection: &Connection, listed: &Listed) -> Result<bool, Error> {
        let can_be_chosen_again = listed.options.is_empty()
            || self.has_ordered_options() && self.orders_options_of(listed)
            || self.is_created(connection, listed)?;
        if !can_be_chosen_again {
            return Ok(true);
        }
        let further = self.further_indexes(connection)?;
        let created = match further.is_empty() {
            true => Vec::new(),
            false => self.created_indexes(connection, listed)?,
        };
        let is_somebodys = |index: &Document| {
            !created.iter().any(|name| name == index_name(index)) && !self.orders(index)
        };
        let is_sharded = connection
            .command_if_there(&self.database, doc! { "collStats": &self.collection })?
            .is_ok_and(|statistics| statistics.get_bool("sharded").unwrap_or(false));
        Ok(is_sharded || further.iter().any(is_somebodys))
    }

    /// Drops it if it can be made again as it was, otherwise removes its documents alone. Says whether it was dropped.
    fn empty(&self, connection: &Connection, listed: &Listed) -> Result<bool, Error> {
        let is_kept = self.is_kept(connection, listed)?;
        if is_kept {
            connection.command(
                &self.database,
                doc! { "delete": &self.collection, "deletes": [{ "q": {}, "limit": 0 }] },
            )?;
        } else {
            connection.command(&self.database, doc! { "drop": &self.collection })?;
        }
        Ok(!is_kept)
    }
}

impl Listed {
    /// Whether a mark, or a part of it, carries the identity of this collection.
    fn is_named_by(&self, mark: &Document) -> bool {
        // Two identities that are missing are not the same one.
        self.uuid.is_some() && mark.get("uuid") == self.uuid.as_ref()
    }
}

impl ToMark {
    /// Makes the collection, if it is not there, and marks it as loaded by this program.
    fn mark(&self, connection: &Connection) -> Result<(), Error> {
        let create = self.place.creation().map_err(Error::custom)?;
        match connection.command(&self.place.database, create) {
            Err(error) if messages::code(&error) != Some(messages::NAMESPACE_EXISTS) => {
                return Err(error);
            }
            _ => {}
        }
        let uuid = self.place.listed(connection)?.and_then(|listed| listed.uuid);
        let mut mark = doc! {
            "loaded_by": concat!("plimsoll ", env!("CARGO_PKG_VERSION")),
            "at": DateTime::now(),
        };
        if let Some(uuid) = &uuid {
            mark.insert("uuid", uuid.clone());
        }
        self.write_mark(connection, mark, uuid)
    }

    /// Notes which indexes this program created, and whether it chose the options, so that they do not count as somebody else's if nothing is loaded. A user
    /// without the right to write the mark can still create them.
    fn note_created(&self, connection: &Connection) {
        if (self.is_created || !self.indexes.is_empty())
            && let Ok(Some(listed)) = self.place.listed(connection)
        {
            let _ = self.write_mark(connection, Document::new(), listed.uuid);
        }
    }

    /// Writes the mark with what this program created of the collection that has this identity.
    fn write_mark(
        &self,
        connection: &Connection,
        mut mark: Document,
        uuid: Option<Bson>,
    ) -> Result<(), Error> {
        let Namespace { database, collection, .. } = &self.place;
        mark.insert("_id", collection);
        if let Some(uuid) = uuid {
            if self.is_created {
                mark.insert(CREATED, doc! { "uuid": uuid.clone() });
            }
            if !self.indexes.is_empty() {
                mark.insert("indexes", doc! { "uuid": uuid, "names": &self.indexes });
            }
        }
        connection.command(
            database,
            doc! { "update": MARKS, "updates": [{ "q": { "_id": collection }, "u": mark, "upsert": true }] },
        )?;
        Ok(())
    }
}

fn index_name(index: &Document) -> &str {
    index.get_str("name").unwrap_or_default()
}

/// Whether an existing index is the ordered one. What the server adds to an index of a special kind makes it another.
fn is_same_index(ordered: &Document, there: &Document) -> bool {
    let said = |index: &Document| {
        let mut index = index.clone();
        for added in ["v", "ns", "background"] {
            index.remove(added);
        }
        index
    };
    let keys = |index: &Document| {
        let keys = index.get_document("key").ok()?;
        Some(keys.iter().map(|(key, order)| (key.clone(), order.clone())).collect::<Vec<_>>())
    };
    // Documents are the same in whatever order, but keys of an index are not.
    said(ordered) == said(there) && keys(ordered) == keys(there)
}

/// Whether existing options are the ordered ones. Servers complete some of them; a validator stays as it was written.
fn are_same_options(ordered: &Document, there: &Document) -> bool {
    let is_usual = |key: &str| {
        let usual = USUAL_OPTIONS.iter().find(|(usual, _)| *usual == key);
        usual.is_some_and(|(_, value)| there.get_str(key).is_ok_and(|there| there == *value))
    };
    there.keys().all(|key| ordered.contains_key(key) || is_usual(key))
        && ordered.iter().all(|(key, value)| match there.get(key) {
            Some(there) if key == "validator" => there == value,
            Some(there) => holds(there, value),
            None => is_usual(key),
        })
}

/// Whether a value has all of another.
fn holds(whole: &Bson, part: &Bson) -> bool {
    match (whole, part) {
        (Bson::Document(whole), Bson::Document(part)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|whole| holds(whole, value)))
        }
        (whole, part) => whole == part,
    }
}

fn first_of_batch(answer: &Document) -> Option<Document> {
    documents_of_batch(answer).into_iter().next()
}

fn documents_of_batch(answer: &Document) -> Vec<Document> {
    let cursor = answer.get_document("cursor").ok();
    let batch = cursor.and_then(|cursor| cursor.get_array("firstBatch").ok());
    batch.into_iter().flatten().filter_map(Bson::as_document).cloned().collect()
}

/// Marks collections before the first document is stored, by whichever session comes first.
pub(super) struct Marking {
    to_mark: Vec<ToMark>,
    /// Whether there is nothing left to do.
    done: AtomicBool,
    /// Held by the one who does it.
    turn: Mutex<()>,
    connection: Arc<Connection>,
}

impl Marking {
    pub(super) fn new(to_mark: Vec<ToMark>, connection: Arc<Connection>) -> Self {
        let done = AtomicBool::new(to_mark.is_empty());
        Self { to_mark, done, turn: Mutex::new(()), connection }
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
            for place in &self.to_mark {
                let _ = place.mark(&self.connection);
            }
            self.done.store(true, Ordering::Release);
        }
    }
}
