//! Files that are no store of ours, and stores that cannot be written.

use crate::it::other_users::as_somebody_else;
use crate::it::sample;
use crate::it::site::Site;
use crate::{Filter, Store, StoreError};
use plimsoll_testing::assert_err;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Every file of a directory with its content.
fn content(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(directory).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read(entry.path()).unwrap())
    });
    files.collect()
}

/// Opens the file in both ways, checks that nothing changed, and returns why it was refused.
fn refused(path: &Path) -> String {
    let directory = path.parent().unwrap();
    let before = content(directory);
    let error = Store::open(path).unwrap_err();
    let error_reading = Store::open_read_only(path).unwrap_err();
    assert_eq!(error.to_string(), error_reading.to_string());
    let is_untouched = content(directory) == before;
    assert!(is_untouched, "or something was put beside it");
    let message = error.to_string();
    message.replace(directory.to_str().unwrap(), "DIR")
}

#[test]
fn a_file_that_is_no_database_is_refused_untouched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    fs::write(&path, "x".repeat(4096)).unwrap();
    let expected = "DIR/notes.txt is no plimsoll store: it is not a SQLite database; it was left untouched, name another file with --store";
    assert_eq!(refused(&path), expected);
    fs::write(&path, "short").unwrap();
    assert!(refused(&path).contains("is too short for a database"));
}

#[test]
fn a_database_of_another_program_is_refused_untouched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("other.db");
    let other = Connection::open(&path).unwrap();
    other.pragma_update(None, "journal_mode", "WAL").unwrap();
    let precious = "CREATE TABLE precious (x); INSERT INTO precious VALUES (1)";
    other.execute_batch(precious).unwrap();
    // Another program is using it: its log is not merged.
    assert!(refused(&path).contains("is the SQLite database of another program"));
}

/// So it is for a moment while another program makes it, and for longer if that is killed just then.
#[test]
fn a_store_that_is_half_made_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new.db");
    let maker = Connection::open(&path).unwrap();
    let vacuum = maker.pragma_update(None, "auto_vacuum", "INCREMENTAL");
    vacuum.unwrap();
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
    let site = Site::new();
    drop(site.open());
    let connection = Connection::open(&site.path).unwrap();
    let deleting = connection.pragma_update(None, "journal_mode", "DELETE");
    deleting.unwrap();
    connection.pragma_update(None, "user_version", 999).unwrap();
    drop(connection);
    let expected = "the store DIR/plimsoll.db has schema version 999, this program knows up to 1: update plimsoll to use it";
    assert_eq!(refused(&site.path), expected);
}

#[test]
fn a_later_version_is_refused_also_when_it_still_lies_in_the_log() {
    let site = Site::new();
    drop(site.open());
    let connection = Connection::open(&site.path).unwrap();
    connection.pragma_update(None, "user_version", 999).unwrap();
    assert_err!(Store::open(&site.path), StoreError::Newer { found: 999, .. });
    assert_err!(Store::open_read_only(&site.path), StoreError::Newer { found: 999, .. });
}

#[test]
fn a_record_of_a_later_version_is_refused_and_the_others_are_read() {
    let (_site, mut store) = Site::with_store();
    store.import(sample::whole_experiment("old")).unwrap();
    let mut later = sample::experiment("later");
    later.plimsoll_record = 999;
    store.import(later).unwrap();
    assert_err!(store.load("later"), StoreError::Format { .. });
    assert_eq!(store.load("old").unwrap().runs.len(), 2);
}

#[test]
fn reading_where_nothing_was_written_creates_nothing() {
    let site = Site::new();
    assert_err!(Store::open_read_only(&site.path), StoreError::Missing { .. });
    assert!(content(site.folder.path()).is_empty());
}

#[test]
fn reading_leaves_nothing_behind_and_writes_nothing() {
    let site = Site::new();
    Store::open(&site.path).unwrap().import(sample::whole_experiment("one")).unwrap();
    let before = content(site.folder.path());
    let mut reader = site.open_read_only();
    reader.load("one").unwrap();
    assert_err!(reader.delete("one"), StoreError::ReadOnly { .. });
    assert_err!(reader.begin(&sample::experiment("two")), StoreError::ReadOnly { .. });
    drop(reader);
    assert_eq!(content(site.folder.path()), before);
}

#[test]
fn an_empty_file_becomes_a_store() {
    let site = Site::new();
    fs::write(&site.path, "").unwrap();
    assert_err!(Store::open_read_only(&site.path), StoreError::Missing { .. });
    Store::open(&site.path).unwrap().begin(&sample::experiment("one")).unwrap();
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
    let site = Site::new();
    Store::open(&site.path).unwrap().import(sample::whole_experiment("one")).unwrap();
    let lock = site.folder.path().join("plimsoll.db-lock");
    for (file, directory_mode) in [(0o444, 0o555), (0o666, 0o555), (0o444, 0o777)] {
        set_mode(&site.path, file);
        set_mode(&lock, file);
        set_mode(site.folder.path(), directory_mode);
        let before = content(site.folder.path());
        as_ordinary_user(|| {
            let reader = site.open_read_only();
            assert_eq!(reader.list(&Filter::default()).unwrap().len(), 1);
            let expected = sample::merged(&sample::whole_experiment("one"));
            assert_eq!(reader.load("one").unwrap(), expected);
            let error = Store::open(&site.path).unwrap_err();
            // Where this is root otherwise, the files are root's.
            let is_described = error.to_string().contains("belongs to user 0");
            let is_read_only = matches!(error, StoreError::ReadOnly { .. });
            assert!(is_read_only || is_described, "{error}");
        });
        set_mode(site.folder.path(), 0o755);
        if directory_mode == 0o555 {
            assert_eq!(content(site.folder.path()), before);
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
    let (site, mut store) = Site::with_store();
    store.begin(&sample::experiment("one")).unwrap();
    // As after a kill, without the shared file, on a disk that is read-only now.
    let copy = tempfile::tempdir().unwrap();
    let copied = copy.path().join("plimsoll.db");
    fs::copy(&site.path, &copied).unwrap();
    let [log, copied_log] =
        [&site.folder, &copy].map(|folder| folder.path().join("plimsoll.db-wal"));
    fs::copy(log, copied_log).unwrap();
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
    let (site, mut store) = Site::with_store();
    store.import(sample::whole_experiment("broken")).unwrap();
    Connection::open(&site.path)
        .unwrap()
        .execute("UPDATE slice SET record = x'0123' WHERE key = 2", [])
        .unwrap();
    store.import(sample::whole_experiment("whole")).unwrap();
    let error = store.load("broken").unwrap_err();
    let is_named = matches!(&error, StoreError::Damaged { what, .. } if what.contains("a slice"));
    assert!(is_named, "{error}");
    assert_eq!(store.load("whole").unwrap().runs.len(), 2);
}
