//! The tables and how older ones become them.

use rusqlite::{Connection, TransactionBehavior};
use std::sync::OnceLock;

/// Marks a SQLite file as a plimsoll store: `Plim` in ASCII.
pub(crate) const APPLICATION_ID: u32 = 0x506c_696d;

/// Each brings a store from the version of its index to the next one. One that was released never changes.
const MIGRATIONS: [&str; 1] = [include_str!("schema/1.sql")];

/// The version that this program writes.
pub(crate) const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// What the first bytes of a SQLite file say, or `None` when it is no SQLite file. File format: <https://sqlite.org/fileformat2.html>.
pub(crate) fn read_header(header: &[u8; 100]) -> Option<Header> {
    if !header.starts_with(b"SQLite format 3\0") {
        return None;
    }
    let number = |offset: usize| {
        let bytes = header[offset..offset + 4].try_into().expect("four bytes of a hundred");
        u32::from_be_bytes(bytes)
    };
    Some(Header {
        user_version: number(60),
        application_id: number(68),
        schema_changes: number(40),
    })
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) user_version: u32,
    pub(crate) application_id: u32,
    /// How often a table or an index was made or changed.
    pub(crate) schema_changes: u32,
}

impl Header {
    /// Nobody's: there never was a table in it. A store is so for a moment while [`migrate`] makes it.
    pub(crate) fn is_empty(&self) -> bool {
        (self.application_id, self.user_version, self.schema_changes) == (0, 0, 0)
    }
}

/// The schema version of an open store; 0 when it was just created.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Creates the tables or brings them forward, all or nothing.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let found = version(connection)?;
    if found == 0 {
        // Can only be set while there is no table: space of deleted experiments goes back to the filesystem.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for migration in MIGRATIONS.iter().skip(found as usize) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()
}

/// Whether an open store has the tables and indexes that this program makes, to the letter, and nothing else.
pub(crate) fn is_ours(connection: &Connection) -> rusqlite::Result<bool> {
    static OURS: OnceLock<Vec<Object>> = OnceLock::new();
    let ours = match OURS.get() {
        Some(ours) => ours,
        None => {
            let mut fresh = Connection::open_in_memory()?;
            migrate(&mut fresh)?;
            let made = objects(&fresh)?;
            OURS.get_or_init(|| made)
        }
    };
    Ok(objects(connection)? == *ours)
}

/// Kind, name and statement of a table, index, view or trigger.
type Object = (String, String, Option<String>);

fn objects(connection: &Connection) -> rusqlite::Result<Vec<Object>> {
    let mut statement =
        connection.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")?;
    let objects = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    objects.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_store_says_what_it_is_in_its_header() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new.db");
        let mut connection = Connection::open(&path).unwrap();
        migrate(&mut connection).unwrap();
        drop(connection);
        let bytes = std::fs::read(&path).unwrap();
        let header = read_header(bytes[..100].try_into().unwrap()).unwrap();
        assert_eq!(header.user_version, 1);
        assert_eq!(header.application_id, 0x506c_696d);
        assert!(!header.is_empty());
    }

    #[test]
    fn text_is_no_header() {
        assert_eq!(read_header(&[b'x'; 100]), None);
    }
}
