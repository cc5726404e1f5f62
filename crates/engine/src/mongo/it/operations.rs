//! The operations, with real servers.

use crate::mongo::it::records::{
    binary, command, document, load, loader, read, small_data, updates,
};
use crate::mongo::it::servers::{Kind, each, each_of};
use crate::mongo::{Host, Inserted, LeanClient, LeanError, LeanErrorKind, W};
use bson::doc;
use plimsoll_workload::{Ask, DataSpec, FieldChoice, FieldLength};

#[test]
fn records_are_stored_read_changed_and_removed() {
    each(|server| {
        let data = small_data(50);
        let mut client = server.connect(&data);
        let mut loader = loader(&data);
        let mut documents = Vec::new();
        while let Some(Ask::Insert { key, fields, .. }) = loader.next() {
            assert_eq!(client.insert(key, fields).unwrap(), Inserted::Stored);
            documents.push(document(key, fields));
        }
        assert!(client.flush().is_none());

        let workload = updates(&data);
        let mut generator = workload.generator(0);
        for _ in 0..30 {
            let Ask::Update { key, changes } = generator.next() else {
                panic!("there are only updates")
            };
            assert!(client.update(key, changes).unwrap());
            let key = str::from_utf8(key).unwrap();
            let is_it = |document: &&mut bson::Document| document.get_str("_id").unwrap() == key;
            let changed = documents.iter_mut().find(is_it).unwrap();
            for (_, name, value) in changes {
                changed.insert(str::from_utf8(name).unwrap(), binary(value));
            }
        }
        for document in &documents {
            let key = document.get_str("_id").unwrap();
            let found = read(&mut client, key.as_bytes(), FieldChoice::All).unwrap();
            let value = |name: &String| document.get_binary_generic(name).unwrap().clone();
            let fields = document.keys().skip(1);
            let mut expected: Vec<_> = fields.map(|name| (name.clone(), value(name))).collect();
            assert_eq!(found.as_ref(), Some(&expected));

            let chosen = read(&mut client, key.as_bytes(), FieldChoice::Some(&[0, 2])).unwrap();
            expected.remove(1);
            assert_eq!(chosen, Some(expected));
            assert!(client.read(key.as_bytes(), FieldChoice::All, None).unwrap());
        }
        // They are stored as another implementation of BSON would store them.
        let all = doc! { "find": "usertable", "sort": { "_id": 1 } };
        assert_eq!(first_batch(&mut client, &all), documents);

        assert!(client.delete(b"user000007").unwrap());
        assert!(!client.delete(b"user000007").unwrap());
        let gone = read(&mut client, b"user000007", FieldChoice::All).unwrap();
        assert_eq!(gone, None);
        assert!(!client.read(b"nobody", FieldChoice::All, None).unwrap());
        let mut nowhere = updates(&data).generator(0);
        let Ask::Update { changes, .. } = nowhere.next() else { panic!("there are only updates") };
        assert!(!client.update(b"nobody", changes).unwrap());
    });
}

#[test]
fn a_record_that_is_there_is_not_stored_again() {
    each(|server| {
        let data = small_data(2);
        let mut client = server.connect(&data);
        load(&mut client, &data);
        let mut loader = loader(&data);
        let Some(Ask::Insert { key, fields, .. }) = loader.next() else {
            panic!("the load inserts")
        };
        let error = client.insert(key, fields).unwrap_err();
        assert_eq!(error.kind(), LeanErrorKind::Duplicate);
        let host = server.host();
        let words = format!("{host}: there is already a record with this key");
        assert_eq!(error.to_string(), words);
        assert!(client.read(key, FieldChoice::All, None).unwrap());
    });
}

#[test]
fn an_upsert_replaces_what_is_there() {
    each(|server| {
        let data = small_data(7);
        let mut options = server.options(&data);
        options.upsert = true;
        for batch in [1, 3] {
            options.batch = batch;
            let mut client = LeanClient::connect(&options).unwrap();
            load(&mut client, &data);
            // Nothing of the earlier record is left.
            let other = doc! { "q": { "_id": "user000003" }, "u": { "$set": { "other": 1 } } };
            let change = doc! { "update": "usertable", "updates": [other] };
            command(&mut client, &change).unwrap();
            load(&mut client, &data);
            assert_eq!(count(&mut client), 7);
            let mut loader = loader(&data);
            for _ in 0..3 {
                loader.next();
            }
            let Some(Ask::Insert { key, fields, .. }) = loader.next() else {
                panic!("the load inserts")
            };
            let find = doc! { "find": "usertable", "filter": { "_id": "user000003" } };
            let found = first_batch(&mut client, &find);
            assert_eq!(found, [document(key, fields)]);
        }
    });
}

#[test]
fn batches_are_sent_when_they_are_full_or_flushed() {
    each(|server| {
        let data = small_data(10);
        let mut options = server.options(&data);
        options.batch = 4;
        let mut client = LeanClient::connect(&options).unwrap();
        let mut other = server.connect(&data);
        let mut count = || count(&mut other);
        let mut loader = loader(&data);
        let mut number = 0;
        while let Some(Ask::Insert { key, fields, .. }) = loader.next() {
            number += 1;
            let inserted = client.insert(key, fields).unwrap();
            let is_full = number % 4 == 0;
            assert_eq!(inserted == Inserted::Stored, is_full, "record {number}");
            assert_eq!(count(), number / 4 * 4);
        }
        client.flush().unwrap().unwrap();
        assert!(client.flush().is_none());
        assert_eq!(count(), 10);
    });
}

#[test]
fn records_that_are_refused_do_not_keep_the_others_of_a_batch_out() {
    each(|server| {
        let mut client = server.connect(&small_data(3));
        load(&mut client, &small_data(3));
        let data = small_data(9);
        let mut options = server.options(&data);
        options.batch = 5;
        let mut client = LeanClient::connect(&options).unwrap();
        let mut loader = loader(&data);
        let mut results = Vec::new();
        while let Some(Ask::Insert { key, fields, .. }) = loader.next() {
            results.push(client.insert(key, fields));
        }
        client.flush().unwrap().unwrap();
        let error = results.remove(4).unwrap_err();
        assert!(results.into_iter().all(|result| result.is_ok()));
        match &error {
            LeanError::Batch { refused: 3, sent: 5, first } => {
                assert_eq!(first.kind(), LeanErrorKind::Duplicate)
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(error.kind(), LeanErrorKind::Duplicate);
        assert_eq!(count(&mut client), 9);
    });
}

/// 16 MB is what servers take. One record is a little too large, the other fits.
#[test]
fn a_record_that_is_too_large_is_refused_before_it_is_sent() {
    each(|server| {
        let mut data = DataSpec::with_records(1);
        data.field_count = 2;
        for (length, fits) in [(8 << 20, false), ((8 << 20) - 100, true)] {
            data.field_length = FieldLength::Constant(length);
            let mut client = server.connect(&data);
            let mut loader = loader(&data);
            let Some(Ask::Insert { key, fields, .. }) = loader.next() else {
                panic!("the load inserts")
            };
            match client.insert(key, fields) {
                Ok(inserted) => assert!(fits && inserted == Inserted::Stored),
                Err(error) => {
                    assert!(!fits, "{error}");
                    assert_eq!(error.kind(), LeanErrorKind::TooLarge);
                }
            }
            // The connection is as good as before.
            assert_eq!(client.read(key, FieldChoice::All, None).unwrap(), fits);
        }
    });
}

#[test]
fn unacknowledged_changes_are_made() {
    // FerretDB 1.24 answers even then.
    each_of(&[Kind::Mongod], None, |server| {
        let data = small_data(20);
        let mut options = server.options(&data);
        options.write_concern.w = Some(W::Number(0));
        let mut client = LeanClient::connect(&options).unwrap();
        load(&mut client, &data);
        // The server takes one message after the other, and answers to this one.
        assert!(client.read(b"user000019", FieldChoice::All, None).unwrap());
        assert!(client.delete(b"user000019").unwrap());
        assert!(!client.read(b"user000019", FieldChoice::All, None).unwrap());
    });
}

#[test]
fn concerns_reach_the_server() {
    each_of(&[Kind::Mongod], None, |server| {
        let data = small_data(2);
        let mut options = server.options(&data);
        options.write_concern.w = Some(W::Majority);
        options.write_concern.journal = Some(true);
        options.write_concern.timeout_ms = Some(5_000);
        options.read_concern = Some("local".into());
        let mut client = LeanClient::connect(&options).unwrap();
        load(&mut client, &data);
        assert!(client.read(b"user000001", FieldChoice::All, None).unwrap());

        options.read_concern = Some("no such level".into());
        let mut client = LeanClient::connect(&options).unwrap();
        let refused = client.read(b"user000001", FieldChoice::All, None);
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), LeanErrorKind::Refused);
        // A server without replicas cannot wait for two.
        options.write_concern.w = Some(W::Number(2));
        let mut client = LeanClient::connect(&options).unwrap();
        let error = client.delete(b"user000001").unwrap_err();
        assert_eq!(error.kind(), LeanErrorKind::Refused);
    });
}

#[test]
fn a_unix_socket_will_do() {
    each(|server| {
        let data = small_data(3);
        let mut options = server.options(&data);
        options.host = Host::Unix(server.socket());
        let mut client = LeanClient::connect(&options).unwrap();
        load(&mut client, &data);
        assert!(client.read(b"user000002", FieldChoice::All, None).unwrap());
    });
}

#[test]
fn commands_that_fail_say_why() {
    each(|server| {
        let mut client = server.connect(&small_data(1));
        let error = command(&mut client, &doc! { "noSuchCommand": 1 }).unwrap_err();
        let LeanError::Refused { code, name, .. } = &error else { panic!("{error}") };
        assert_eq!((*code, &**name), (59, "CommandNotFound"));
        let error = client.command("ycsb", b"\x05\0\0\0\x01").unwrap_err();
        assert_eq!(error.kind(), LeanErrorKind::Options);
        command(&mut client, &doc! { "ping": 1 }).unwrap();
    });
}

/// How many records there are.
fn count(client: &mut LeanClient) -> i64 {
    let reply = command(client, &doc! { "count": "usertable" }).unwrap();
    match reply.get("n") {
        Some(bson::Bson::Int32(number)) => i64::from(*number),
        Some(bson::Bson::Int64(number)) => *number,
        other => panic!("n is {other:?}"),
    }
}

/// The documents with which a search is answered.
fn first_batch(client: &mut LeanClient, find: &bson::Document) -> Vec<bson::Document> {
    let reply = command(client, find).unwrap();
    let cursor = reply.get_document("cursor").unwrap();
    let batch = cursor.get_array("firstBatch").unwrap().iter();
    batch.map(|one| one.as_document().unwrap().clone()).collect()
}

mod slow {
    use super::*;

    /// Three records of 15 MB make 45 MB; the fourth would go beyond the 48 MB of a message.
    #[test]
    fn a_batch_is_sent_before_it_becomes_too_long_for_a_message() {
        // FerretDB's own database takes minutes for this.
        each_of(&[Kind::Mongod], None, |server| {
            let mut data = DataSpec::with_records(5);
            data.field_count = 1;
            data.field_length = FieldLength::Constant(15 << 20);
            let mut options = server.options(&data);
            options.batch = 100;
            let mut client = LeanClient::connect(&options).unwrap();
            let mut loader = loader(&data);
            let mut inserted = Vec::new();
            while let Some(Ask::Insert { key, fields, .. }) = loader.next() {
                inserted.push(client.insert(key, fields).unwrap());
            }
            use Inserted::{Batched, Stored};
            assert_eq!(inserted, [Batched, Batched, Batched, Stored, Batched]);
            client.flush().unwrap().unwrap();
            assert_eq!(count(&mut client), 5);
        });
    }
}
