//! Files that are no store of ours, and stores that cannot be written.

use crate::other_users::as_somebody_else;
use crate::sample;
use plimsoll_store::{Filter, Store, StoreError};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Every file of a directory with its content.
fn content(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(directory)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            (
                entry.file_name().into_string().unwrap(),
                fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

/// Opens the file in both ways, checks that nothing changed, and returns why it was refused.
fn refused(path: &Path) -> String {
    let directory = path.parent().unwrap();
    let before = content(directory);
    let error = Store::open(path).unwrap_err();
    let error_reading = Store::open_read_only(path).unwrap_err();
    assert_eq!(error.to_string(), error_reading.to_string());
    assert_eq!(
        content(directory),
        before,
        "the file was touched, or something was put beside it"
    );
    error
        .to_string()
        .replace(directory.to_str().unwrap(), "DIR")
}

#[test]
fn a_file_that_is_no_database_is_refused_untouched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    fs::write(&path, "x".repeat(4096)).unwrap();
    assert_eq!(
        refused(&path),
        "DIR/notes.txt is no plimsoll store: it is not a SQLite database; it was left untouched, name another file with --store"
    );
    fs::write(&path, "short").unwrap();
    assert!(refused(&path).contains("is too short for a database"));
}

#[test]
fn a_database_of_another_program_is_refused_untouched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("other.db");
    let other = Connection::open(&path).unwrap();
    other.pragma_update(None, "journal_mode", "WAL").unwrap();
    other
        .execute_batch("CREATE TABLE precious (x); INSERT INTO precious VALUES (1)")
        .unwrap();
    // Another program is using it: its log is not merged.
    assert!(refused(&path).contains("is the SQLite database of another program"));
}

/// So it is for a moment while another program makes it, and for longer if that is killed just then.
#[test]
fn a_store_that_is_half_made_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new.db");
    let maker = Connection::open(&path).unwrap();
    maker
        .pragma_update(None, "auto_vacuum", "INCREMENTAL")
        .unwrap();
    assert!(fs::metadata(&path).unwrap().len() > 0);
    let error = Store::open_read_only(&path).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
    drop(maker);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.list(&Filter::default()).unwrap(), []);
}

#[test]
fn a_directory_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("folder");
    fs::create_dir(&folder).unwrap();
    let error = Store::open(&folder).unwrap_err().to_string();
    assert!(error.contains("is a directory"), "{error}");
}

#[test]
fn a_store_of_a_later_version_is_refused_untouched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plimsoll.db");
    drop(Store::open(&path).unwrap());
    let connection = Connection::open(&path).unwrap();
    connection
        .pragma_update(None, "journal_mode", "DELETE")
        .unwrap();
    connection.pragma_update(None, "user_version", 999).unwrap();
    drop(connection);
    assert_eq!(
        refused(&path),
        "the store DIR/plimsoll.db has schema version 999, this program knows up to 1: update plimsoll to use it"
    );
}

#[test]
fn a_later_version_is_refused_also_when_it_still_lies_in_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plimsoll.db");
    drop(Store::open(&path).unwrap());
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 999).unwrap();
    assert!(matches!(
        Store::open(&path),
        Err(StoreError::Newer { found: 999, .. })
    ));
    assert!(matches!(
        Store::open_read_only(&path),
        Err(StoreError::Newer { found: 999, .. })
    ));
}

#[test]
fn a_record_of_a_later_version_is_refused_and_the_others_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plimsoll.db");
    let mut store = Store::open(&path).unwrap();
    store.import(sample::whole_experiment("old")).unwrap();
    let mut later = sample::experiment("later");
    later.plimsoll_record = 999;
    store.import(later).unwrap();
    assert!(matches!(
        store.load("later"),
        Err(StoreError::Format { .. })
    ));
    assert_eq!(store.load("old").unwrap().runs.len(), 2);
}

#[test]
fn reading_where_nothing_was_written_creates_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plimsoll.db");
    assert!(matches!(
        Store::open_read_only(&path),
        Err(StoreError::Missing { .. })
    ));
    assert!(content(directory.path()).is_empty());
}

#[test]
fn reading_leaves_nothing_behind_and_writes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plimsoll.db");
    Store::open(&path)
        .unwrap()
        .import(sample::whole_experiment("one"))
        .unwrap();
    let before = content(directory.path());
    let mut reader = Store::open_read_only(&path).unwrap();
    reader.load("one").unwrap();
    assert!(matches!(
        reader.delete("one"),
        Err(StoreError::ReadOnly { .. })
    ));
    assert!(matches!(
        reader.begin(&sample::experiment("two")),
        Err(StoreError::ReadOnly { .. })
    ));
    drop(reader);
    assert_eq!(content(directory.path()), before);
}

#[test]
fn an_empty_file_becomes_a_store() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plimsoll.db");
    fs::write(&path, "").unwrap();
    assert!(matches!(
        Store::open_read_only(&path),
        Err(StoreError::Missing { .. })
    ));
    Store::open(&path)
        .unwrap()
        .begin(&sample::experiment("one"))
        .unwrap();
}

#[test]
fn the_directory_of_a_new_store_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a/b/plimsoll.db");
    drop(Store::open(&path).unwrap());
    assert!(path.is_file());
}

/// Runs as an ordinary user, who is not above file permissions as root is.
fn as_ordinary_user(test: impl Fn() + Send + Sync) {
    if as_somebody_else(&test).is_none() {
        test();
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_store_that_may_not_be_written_can_be_read_and_says_so_when_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plimsoll.db");
    Store::open(&path)
        .unwrap()
        .import(sample::whole_experiment("one"))
        .unwrap();
    let lock = directory.path().join("plimsoll.db-lock");
    for (file, directory_mode) in [(0o444, 0o555), (0o666, 0o555), (0o444, 0o777)] {
        set_mode(&path, file);
        set_mode(&lock, file);
        set_mode(directory.path(), directory_mode);
        let before = content(directory.path());
        as_ordinary_user(|| {
            let reader = Store::open_read_only(&path).unwrap();
            assert_eq!(reader.list(&Filter::default()).unwrap().len(), 1);
            assert_eq!(
                reader.load("one").unwrap(),
                sample::merged(&sample::whole_experiment("one"))
            );
            let error = Store::open(&path).unwrap_err();
            // Where this is root otherwise, the files are root's.
            let is_told = error.to_string().contains("belongs to user 0");
            assert!(
                matches!(error, StoreError::ReadOnly { .. }) || is_told,
                "{error}"
            );
        });
        set_mode(directory.path(), 0o755);
        if directory_mode == 0o555 {
            assert_eq!(content(directory.path()), before);
        }
    }
}

#[test]
fn a_store_cannot_be_made_where_nothing_may_be_written() {
    let directory = tempfile::tempdir().unwrap();
    set_mode(directory.path(), 0o555);
    as_ordinary_user(|| {
        for path in ["plimsoll.db", "deeper/plimsoll.db"] {
            let error = Store::open(&directory.path().join(path)).unwrap_err();
            assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
        }
    });
}

#[test]
fn changes_that_only_the_log_has_are_not_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plimsoll.db");
    let mut store = Store::open(&path).unwrap();
    store.begin(&sample::experiment("one")).unwrap();
    // As after a kill, without the shared file, on a disk that is read-only now.
    let copy = tempfile::tempdir().unwrap();
    let copied = copy.path().join("plimsoll.db");
    fs::copy(&path, &copied).unwrap();
    fs::copy(
        directory.path().join("plimsoll.db-wal"),
        copy.path().join("plimsoll.db-wal"),
    )
    .unwrap();
    set_mode(&copied, 0o444);
    set_mode(copy.path(), 0o555);
    as_ordinary_user(|| {
        let error = Store::open_read_only(&copied).unwrap_err();
        assert!(matches!(error, StoreError::Unmerged { .. }), "{error}");
    });
    // Without this an ordinary user could not remove the folder.
    set_mode(copy.path(), 0o755);
}

#[test]
fn a_damaged_slice_is_named_and_the_others_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plimsoll.db");
    let mut store = Store::open(&path).unwrap();
    store.import(sample::whole_experiment("broken")).unwrap();
    Connection::open(&path)
        .unwrap()
        .execute("UPDATE slice SET record = x'0123' WHERE key = 2", [])
        .unwrap();
    store.import(sample::whole_experiment("whole")).unwrap();
    let error = store.load("broken").unwrap_err();
    assert!(
        matches!(&error, StoreError::Damaged { what, .. } if what.contains("a slice")),
        "{error}"
    );
    assert_eq!(store.load("whole").unwrap().runs.len(), 2);
}
