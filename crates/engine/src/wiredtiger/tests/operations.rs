//! Each operation does what it says.

use super::*;
use crate::wiredtiger::session::COLLECTION;
use plimsoll_record::figures;
use plimsoll_wiredtiger_sys as wt;
use plimsoll_workload::{FieldLength, Verification};

#[test]
fn what_is_loaded_is_read_and_counted() {
    let mut database = Loaded::new(&verifiable(500));
    assert_eq!(database.engine.count().unwrap(), Some(500));
    for key in database.keys.clone() {
        let mut verifier = database.key_space.verifier(&key);
        let record = database.read(&key);
        assert_eq!(record.len(), 10);
        for (name, value) in &record {
            verifier.field(name, value);
        }
        assert_eq!(verifier.found(), Verification::Matches);
    }
    let session = &mut database.session;
    assert_not_found(session.read(b"user", FieldChoice::All, None));
    assert_not_found(session.read(b"user0000000", FieldChoice::All, None));
    database.close();
}

#[test]
fn a_projection_reads_the_chosen_fields() {
    let mut database = Loaded::new(&verifiable(3));
    let key = database.keys[1].clone();
    let whole = database.read(&key);
    let session = &mut *database.session;
    let chosen = read(session, &key, FieldChoice::Some(&[1, 7])).unwrap();
    assert_eq!(chosen, [whole[1].clone(), whole[7].clone()]);
    assert_eq!(chosen[0].0, b"field1");
    assert_ok(session.read(&key, FieldChoice::Some(&[9]), None));
}

#[test]
fn an_update_replaces_one_field() {
    let mut database = Loaded::new(&DataSpec::with_records(20));
    let mut generator = updates(&database.key_space, false);
    for key in database.keys.clone() {
        let change = changes(&mut generator);
        let (number, _, value) = change.clone().next().unwrap();
        let before = database.read(&key);
        assert_ne!(before[number as usize].1, value, "it changes something");
        database.update_one(&key, change);
    }
    // A value of 100 bytes is less than a tenth of the document.
    let modified = counter(&database.engine, wt::WT_STAT_CONN_CURSOR_MODIFY);
    assert_eq!(modified, 20.0);
}

#[test]
fn an_update_of_everything_writes_the_document_again() {
    let mut database = Loaded::new(&DataSpec::with_records(5));
    let mut generator = updates(&database.key_space, true);
    let (key, change) = (database.keys[2].clone(), changes(&mut generator));
    assert_ok(database.session.update(&key, change));
    assert_eq!(database.read(&key), record(change));
    let modified = counter(&database.engine, wt::WT_STAT_CONN_CURSOR_MODIFY);
    assert_eq!(modified, 0.0);
}

#[test]
fn values_may_change_their_length() {
    let mut data = DataSpec::with_records(10);
    data.field_length = FieldLength::Uniform { min: 0, max: 400 };
    let mut database = Loaded::new(&data);
    let mut generator = updates(&database.key_space, false);
    for round in 0..100 {
        let key = database.keys[round % 10].clone();
        database.update_one(&key, changes(&mut generator));
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let mut database = Loaded::new(&DataSpec::with_records(5));
    let mut generator = updates(&database.key_space, false);
    let (session, keys) = (&mut database.session, &database.keys);
    assert_not_found(session.update(b"nobody", changes(&mut generator)));
    assert_not_found(session.delete(b"nobody"));
    assert_ok(session.delete(&keys[0]));
    assert_not_found(session.delete(&keys[0]));
    assert_not_found(session.read(&keys[0], FieldChoice::All, None));
    assert_not_found(session.update(&keys[0], changes(&mut generator)));
    assert_eq!(database.engine.count().unwrap(), Some(4));
}

#[test]
fn a_key_is_stored_once() {
    let mut database = Loaded::new(&DataSpec::with_records(5));
    let key = database.keys[3].clone();
    let before = database.read(&key);
    let mut generator = updates(&database.key_space, true);
    let Outcome::Error(message) = database.session.insert(&key, changes(&mut generator)) else {
        panic!("it is there already")
    };
    let words = "wiredtiger: there is already a record with this key";
    assert_eq!(&*message, words);
    assert_eq!(database.read(&key), before);
    assert_eq!(database.engine.count().unwrap(), Some(5));
    assert_ok(database.session.delete(&key));
    let again = database.session.insert(&key, changes(&mut generator));
    assert_ok(again);
    assert_eq!(database.engine.count().unwrap(), Some(5));
}

#[test]
fn scans_go_in_the_order_of_keys_up_to_their_limit() {
    let mut database = Loaded::new(&verifiable(100));
    let keys = database.keys.clone();
    for (start, limit, expected) in [
        (&keys[0][..], 100, 100),
        (&keys[0], 1_000, 100),
        (&keys[90], 5, 5),
        (&keys[90], 50, 10),
        (&keys[99], 2, 1),
        // Before the first, behind the last, and between two.
        (b"a", 3, 3),
        (b"z", 3, 0),
        (b"user0000895", 50, 10),
    ] {
        let found = database.rows(start, limit);
        assert_eq!(found, expected, "{limit} from {start:?}");
    }
    let mut found = 0;
    let some = FieldChoice::Some(&[3]);
    assert_ok(database.session.scan(&keys[10], 20, some, &mut found));
    assert_eq!(found, 20);
    for key in &keys[95..] {
        assert_ok(database.session.delete(key));
    }
    let rest = database.rows(&keys[90], 50);
    assert_eq!(rest, 5, "without what was deleted");
    let before = counter(&database.engine, wt::WT_STAT_CONN_CURSOR_NEXT);
    assert_eq!(database.rows(&keys[0], 7), 7);
    let steps = counter(&database.engine, wt::WT_STAT_CONN_CURSOR_NEXT) - before;
    assert_eq!(steps, 6.0, "one step between two rows");
}

/// A change that meets another's is repeated until that is over. The other is a transaction of our own, so it is certain that they meet.
#[test]
fn changes_that_meet_are_repeated_and_counted() {
    let directory = tempfile::tempdir().unwrap();
    let data = DataSpec::with_records(3);
    let key_space = KeySpace::new(&data).unwrap();
    let settings = completed(&KIND, &Settings::default()).unwrap();
    let opening = Opening { directory: Some(directory.path()), ..Opening::new(&settings, &data) };
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
    let found = read(&mut *engine.session().unwrap(), &keys[0], FieldChoice::All);
    assert_eq!(found.unwrap(), record(change));
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
