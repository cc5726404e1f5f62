//! Each operation does what it says.

use super::*;
use crate::wiredtiger::engine::COLLECTION;
use plimsoll_record::figures;
use plimsoll_wiredtiger_sys as wt;
use plimsoll_workload::{FieldLength, Verification};
use tempfile::TempDir;

struct Loaded {
    engine: Box<WiredTiger>,
    session: Box<dyn Session>,
    key_space: Arc<KeySpace>,
    /// In order.
    keys: Vec<Vec<u8>>,
    _directory: TempDir,
}

fn loaded(data: &DataSpec) -> Loaded {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path(), data, &[]).unwrap();
    let mut session = engine.session().unwrap();
    let key_space = KeySpace::new(data).unwrap();
    let keys = load(&mut *session, &key_space);
    Loaded {
        engine,
        session,
        key_space,
        keys,
        _directory: directory,
    }
}

#[test]
fn what_is_loaded_is_read_and_counted() {
    let Loaded {
        _directory,
        engine,
        mut session,
        key_space,
        keys,
        ..
    } = loaded(&verifiable(500));
    assert_eq!(engine.count().unwrap(), Some(500));
    for key in &keys {
        let mut verifier = key_space.verifier(key);
        let record = read(&mut *session, key, FieldChoice::All).unwrap();
        assert_eq!(record.len(), 10);
        for (name, value) in &record {
            verifier.field(name, value);
        }
        assert_eq!(verifier.found(), Verification::Matches);
    }
    assert_not_found(session.read(b"user", FieldChoice::All, None));
    assert_not_found(session.read(b"user0000000", FieldChoice::All, None));
    drop(session);
    engine.close().unwrap();
}

#[test]
fn a_projection_reads_the_chosen_fields() {
    let Loaded {
        _directory,
        mut session,
        keys,
        ..
    } = loaded(&verifiable(3));
    let whole = read(&mut *session, &keys[1], FieldChoice::All).unwrap();
    let chosen = read(&mut *session, &keys[1], FieldChoice::Some(&[1, 7])).unwrap();
    assert_eq!(chosen, [whole[1].clone(), whole[7].clone()]);
    assert_eq!(chosen[0].0, b"field1");
    assert_ok(session.read(&keys[1], FieldChoice::Some(&[9]), None));
}

#[test]
fn an_update_replaces_one_field() {
    let Loaded {
        _directory,
        engine,
        mut session,
        key_space,
        keys,
        ..
    } = loaded(&DataSpec::with_records(20));
    let mut generator = updates(&key_space, false);
    for key in &keys {
        let mut expected = read(&mut *session, key, FieldChoice::All).unwrap();
        let change = changes(&mut generator);
        let (number, _, value) = change.clone().next().unwrap();
        assert_ne!(expected[number as usize].1, value, "it changes something");
        expected[number as usize].1 = value.to_vec();
        assert_ok(session.update(key, change));
        assert_eq!(
            read(&mut *session, key, FieldChoice::All).unwrap(),
            expected
        );
    }
    // A value of 100 bytes is less than a tenth of the document.
    assert_eq!(counter(&engine, wt::WT_STAT_CONN_CURSOR_MODIFY), 20.0);
}

#[test]
fn an_update_of_everything_writes_the_document_again() {
    let Loaded {
        _directory,
        engine,
        mut session,
        key_space,
        keys,
        ..
    } = loaded(&DataSpec::with_records(5));
    let mut generator = updates(&key_space, true);
    let change = changes(&mut generator);
    assert_ok(session.update(&keys[2], change));
    assert_eq!(
        read(&mut *session, &keys[2], FieldChoice::All).unwrap(),
        record(change)
    );
    assert_eq!(counter(&engine, wt::WT_STAT_CONN_CURSOR_MODIFY), 0.0);
}

#[test]
fn values_may_change_their_length() {
    let mut data = DataSpec::with_records(10);
    data.field_length = FieldLength::Uniform { min: 0, max: 400 };
    let Loaded {
        _directory,
        mut session,
        key_space,
        keys,
        ..
    } = loaded(&data);
    let mut generator = updates(&key_space, false);
    for round in 0..100 {
        let key = &keys[round % keys.len()];
        let mut expected = read(&mut *session, key, FieldChoice::All).unwrap();
        let change = changes(&mut generator);
        let (number, _, value) = change.clone().next().unwrap();
        expected[number as usize].1 = value.to_vec();
        assert_ok(session.update(key, change));
        assert_eq!(
            read(&mut *session, key, FieldChoice::All).unwrap(),
            expected
        );
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let Loaded {
        _directory,
        engine,
        mut session,
        key_space,
        keys,
        ..
    } = loaded(&DataSpec::with_records(5));
    let mut generator = updates(&key_space, false);
    assert_not_found(session.update(b"nobody", changes(&mut generator)));
    assert_not_found(session.delete(b"nobody"));
    assert_ok(session.delete(&keys[0]));
    assert_not_found(session.delete(&keys[0]));
    assert_not_found(session.read(&keys[0], FieldChoice::All, None));
    assert_not_found(session.update(&keys[0], changes(&mut generator)));
    assert_eq!(engine.count().unwrap(), Some(4));
}

#[test]
fn a_key_is_stored_once() {
    let Loaded {
        _directory,
        engine,
        mut session,
        key_space,
        keys,
        ..
    } = loaded(&DataSpec::with_records(5));
    let before = read(&mut *session, &keys[3], FieldChoice::All).unwrap();
    let mut generator = updates(&key_space, true);
    let Outcome::Error(message) = session.insert(&keys[3], changes(&mut generator)) else {
        panic!("it is there already")
    };
    assert_eq!(
        &*message,
        "wiredtiger: there is already a record with this key"
    );
    assert_eq!(
        read(&mut *session, &keys[3], FieldChoice::All).unwrap(),
        before
    );
    assert_eq!(engine.count().unwrap(), Some(5));
    assert_ok(session.delete(&keys[3]));
    assert_ok(session.insert(&keys[3], changes(&mut generator)));
    assert_eq!(engine.count().unwrap(), Some(5));
}

#[test]
fn scans_go_in_the_order_of_keys_up_to_their_limit() {
    let Loaded {
        _directory,
        engine,
        mut session,
        keys,
        ..
    } = loaded(&verifiable(100));
    assert_eq!(rows(&mut *session, &keys[0], 100), 100);
    assert_eq!(rows(&mut *session, &keys[0], 1_000), 100);
    assert_eq!(rows(&mut *session, &keys[90], 5), 5);
    assert_eq!(rows(&mut *session, &keys[90], 50), 10);
    assert_eq!(rows(&mut *session, &keys[99], 2), 1);
    assert_eq!(rows(&mut *session, b"a", 3), 3, "before the first");
    assert_eq!(rows(&mut *session, b"z", 3), 0, "behind the last");
    assert_eq!(rows(&mut *session, b"user0000895", 50), 10, "between two");
    let mut found = 0;
    assert_ok(session.scan(&keys[10], 20, FieldChoice::Some(&[3]), &mut found));
    assert_eq!(found, 20);
    for key in &keys[95..] {
        assert_ok(session.delete(key));
    }
    assert_eq!(
        rows(&mut *session, &keys[90], 50),
        5,
        "without what was deleted"
    );
    let visited = counter(&engine, wt::WT_STAT_CONN_CURSOR_NEXT);
    assert_eq!(rows(&mut *session, &keys[0], 7), 7);
    assert_eq!(
        counter(&engine, wt::WT_STAT_CONN_CURSOR_NEXT) - visited,
        6.0,
        "one step between two rows"
    );
}

/// A change that meets another's is repeated until that is over. The other is a transaction of our own, so it is certain that they meet.
#[test]
fn changes_that_meet_are_repeated_and_counted() {
    let directory = tempfile::tempdir().unwrap();
    let data = DataSpec::with_records(3);
    let key_space = KeySpace::new(&data).unwrap();
    let settings = completed(&KIND, &Settings::default()).unwrap();
    let opening = Opening {
        settings: &settings,
        directory: Some(directory.path()),
        server: None,
        seed: 1,
        data: &data,
        allocator: "system",
    };
    let engine = WiredTiger::open(&opening).unwrap();
    let keys = load(&mut *engine.session().unwrap(), &key_space);

    let connection = engine.connection().unwrap();
    let blocking = connection.session().unwrap();
    // SAFETY: the cursor is declared after its session, so it is dropped before.
    let mut cursor = unsafe { blocking.cursor(COLLECTION, None) }.unwrap();
    blocking.begin().unwrap();
    for record_id in 1..=3 {
        cursor.search_record_id(record_id).unwrap();
        cursor.update(b"\x05\0\0\0\0").unwrap();
    }

    let mut generator = updates(&key_space, true);
    let change = changes(&mut generator);
    std::thread::scope(|scope| {
        let updating = scope.spawn(|| {
            let mut session = engine.session().unwrap();
            let outcome = session.update(&keys[0], change);
            (format!("{outcome:?}"), session.retries())
        });
        while statistic(&engine, figures::ENGINE_ROLLBACKS) < 1.0 {
            std::thread::yield_now();
        }
        blocking.commit().unwrap();
        let (outcome, retries) = updating.join().unwrap();
        assert_eq!(outcome, "Ok");
        assert!(retries >= 1);
    });
    let mut session = engine.session().unwrap();
    assert_eq!(
        read(&mut *session, &keys[0], FieldChoice::All).unwrap(),
        record(change)
    );
}

#[test]
fn sessions_work_side_by_side() {
    let directory = tempfile::tempdir().unwrap();
    let data = DataSpec::with_records(400);
    let engine = open(directory.path(), &data, &[]).unwrap();
    let key_space = KeySpace::new(&data).unwrap();
    let loader = key_space.loader(1);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (engine, loader, key_space) = (&engine, &loader, &key_space);
            scope.spawn(move || {
                let mut session = engine.session().unwrap();
                let mut generator = loader.generator(number);
                let mut updates = updates(key_space, false);
                while let Some(Ask::Insert { key, fields, .. }) = generator.next() {
                    assert_ok(session.insert(key, fields));
                    assert_ok(session.update(key, changes(&mut updates)));
                    assert_ok(session.read(key, FieldChoice::All, None));
                }
            });
        }
    });
    assert_eq!(engine.count().unwrap(), Some(400));
}
