//! What happens around the operations: opening, settling, closing, and everything that can be wrong with them.

use super::*;
use plimsoll_record::figures;
use plimsoll_testing::{assert_contains, assert_starts};
use plimsoll_workload::CollectionOrder;

#[test]
fn data_survives_closing() {
    let data = verifiable(50);
    let mut database = Loaded::new(&data);
    let keys = database.keys.clone();
    let before = Some(database.read(&keys[7]));
    let Loaded { engine, session, key_space, directory, .. } = database;
    drop(session);
    engine.close().unwrap();

    let engine = open(directory.path(), &data, &[]).unwrap();
    assert_eq!(engine.count().unwrap(), Some(50));
    let mut session = engine.session().unwrap();
    assert_eq!(read(&mut *session, &keys[7], FieldChoice::All), before);
    // New records take record ids behind the existing ones.
    let mut generator = updates(&key_space, true);
    assert_ok(session.insert(b"user9", changes(&mut generator)));
    assert_eq!(engine.count().unwrap(), Some(51));
    let last = read(&mut *session, &keys[49], FieldChoice::All).unwrap();
    assert_eq!(last.len(), 10);
    drop(session);
    engine.close().unwrap();
}

#[test]
fn documents_of_an_application_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (settings, data) = (completed(&KIND, &Settings::default()).unwrap(), verifiable(1));
    let orders = [CollectionOrder {
        name: "orders".into(),
        documents: 1,
        options: None,
        indexes: Vec::new(),
    }];
    let opening = Opening {
        directory: Some(directory.path()),
        collections: &orders,
        ..Opening::new(&settings, &data)
    };
    let said = message(WiredTiger::open(&opening));
    let expected = "the engine `wiredtiger` takes no operations of an application: documents of an application need a server: its query planner is part of what is measured; take `engine: mongodb`";
    assert_eq!(said, expected);
    // Nothing was made.
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// Copies what a crash would leave on disk, while the database is open.
fn crashed(directory: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    std::fs::create_dir(copy.path().join("journal")).unwrap();
    for folder in ["", "journal"] {
        for entry in std::fs::read_dir(directory.join(folder)).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                let to = copy.path().join(folder).join(entry.file_name());
                std::fs::copy(entry.path(), to).unwrap();
            }
        }
    }
    copy
}

#[test]
fn each_durable_change_has_waited_for_the_disk() {
    for durable in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let data = DataSpec::with_records(40);
        let key_space = KeySpace::new(&data).unwrap();
        // No flush comes by itself.
        let hour = SettingValue::Nanos(3_600_000_000_000);
        let settings = [("durable", SettingValue::Flag(durable)), ("journal_flush_interval", hour)];
        let engine = open(directory.path(), &data, &settings).unwrap();
        let before = statistic(&*engine, figures::ENGINE_JOURNAL_SYNCS);
        load(&mut *engine.session().unwrap(), &key_space);
        let syncs = statistic(&*engine, figures::ENGINE_JOURNAL_SYNCS) - before;
        // One session waits for one change at a time, so that no flush serves two.
        assert_eq!(syncs >= 40.0, durable, "{syncs}");
        engine.close().unwrap();
    }
}

#[test]
fn one_flush_serves_all_who_wait() {
    let directory = tempfile::tempdir().unwrap();
    let data = DataSpec::with_records(64);
    let key_space = KeySpace::new(&data).unwrap();
    let durable = [("durable", SettingValue::Flag(true))];
    let engine = open(directory.path(), &data, &durable).unwrap();
    let loader = key_space.loader(1);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (engine, loader) = (&engine, &loader);
            scope.spawn(move || {
                let mut session = engine.session().unwrap();
                let mut generator = loader.generator(number);
                while let Some(Ask::Insert { key, fields, .. }) = generator.next() {
                    assert_ok(session.insert(key, fields));
                }
            });
        }
    });
    assert_eq!(engine.count().unwrap(), Some(64));
}

#[test]
fn every_state_after_the_load_keeps_the_data() {
    for state in ["checkpoint", "reopen", "reopen-and-warm"] {
        let settings = [("after_load", text(state))];
        let Loaded { engine, session, keys, directory: _directory, .. } =
            Loaded::with(&verifiable(300), &settings);
        drop(session);
        let checkpoints = || statistic(&*engine, figures::ENGINE_CHECKPOINTS);
        let before = checkpoints();
        engine.settle().unwrap();
        let read_pages = statistic(&*engine, figures::ENGINE_PAGES_READ);
        match state {
            "checkpoint" => assert_eq!(checkpoints(), before + 1.0),
            // 300 documents of 1.2 kB fill more than ten pages of 32 kB.
            "reopen" => assert!(read_pages < 10.0, "{read_pages}"),
            _ => assert!(read_pages > 10.0, "{read_pages}"),
        }
        let before = checkpoints();
        assert!(engine.checkpoint().unwrap());
        assert_eq!(checkpoints(), before + 1.0);
        assert_eq!(engine.count().unwrap(), Some(300));
        let mut session = engine.session().unwrap();
        assert!(read(&mut *session, &keys[0], FieldChoice::All).is_some());
        let about = &engine.description().notes["measured_state"];
        let is_reopened = about.starts_with("reopened");
        assert_eq!(is_reopened, state != "checkpoint", "{about}");
        drop(session);
        engine.close().unwrap();
    }
}

#[test]
fn sessions_in_use_keep_it_from_closing() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path(), &DataSpec::with_records(1), &[]).unwrap();
    let session = engine.session().unwrap();
    let expected = "wiredtiger: WT_CONNECTION.close failed: some of its sessions are still in use";
    assert_eq!(message(engine.close()), expected);
    drop(session);
    let engine = open(directory.path(), &DataSpec::with_records(1), &[]).unwrap();
    engine.close().unwrap();
}

#[test]
fn a_directory_must_be_there() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    let data = DataSpec::with_records(1);
    let said = message(open(&missing, &data, &[]));
    let cannot = format!("cannot use {}: No such file", missing.display());
    assert_starts(&said, &cannot);
    assert!(!missing.exists());

    let file = directory.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    let said = message(open(&file, &data, &[]));
    assert_starts(&said, &format!("cannot use {}: ", file.display()));
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");

    let settings = Settings::default();
    let opening = Opening::new(&settings, &data);
    let nowhere = crate::open("wiredtiger", &opening);
    assert!(matches!(nowhere, Err(EngineError::NoDirectory { .. })));
}

#[test]
fn a_directory_is_opened_once_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let data = DataSpec::with_records(1);
    let first = open(directory.path(), &data, &[]).unwrap();
    let said = message(open(directory.path(), &data, &[]));
    assert_starts(&said, "wiredtiger: wiredtiger_open failed: ");
    let why = "the data directory is open in this or another process";
    assert_contains(&said, why);
    first.close().unwrap();
    open(directory.path(), &data, &[]).unwrap().close().unwrap();
}

#[test]
fn wiredtiger_explains_what_it_refuses() {
    let data = DataSpec::with_records(1);
    for (setting, value, call, why) in [
        ("connection_config", "wings=2", "wiredtiger_open", "wings"),
        (
            "collection_config",
            "leaf_page_max=5000",
            "WT_SESSION.create of table:collection",
            "allocation size",
        ),
        ("index_config", "checksum=maybe", "WT_SESSION.create of table:index", "maybe"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let said = message(open(directory.path(), &data, &[(setting, text(value))]));
        let failed = format!("wiredtiger: {call} failed: Invalid argument");
        assert_starts(&said, &failed);
        assert_contains(&said, why);
        assert!(!said.contains("[ERROR]"), "{said}");
    }
}

mod slow {
    use super::*;

    #[test]
    fn what_the_journal_holds_survives_a_crash() {
        for journal in [true, false] {
            let data = verifiable(40);
            let mut settings = vec![("journal", SettingValue::Flag(journal))];
            if journal {
                // Waiting for the disk includes waiting for the file.
                settings.push(("durable", SettingValue::Flag(true)));
            }
            let database = Loaded::with(&data, &settings);
            let copy = crashed(database.directory.path());
            let recovered = open(copy.path(), &data, &settings).unwrap();
            let expected = if journal { 40 } else { 0 };
            assert_eq!(recovered.count().unwrap(), Some(expected));
            recovered.close().unwrap();
            database.close();
        }
    }
}
