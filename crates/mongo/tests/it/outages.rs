//! Servers that go away and come back.

use crate::records::{load, small_data};
use crate::servers::each;
use plimsoll_mongo::{LeanClient, LeanErrorKind};
use plimsoll_workload::FieldChoice;
use std::time::Duration;

#[test]
fn a_server_that_is_killed_and_comes_back_is_used_again() {
    each(
        "a_server_that_is_killed_and_comes_back_is_used_again",
        |server| {
            let data = small_data(10);
            let mut client = server.connect(&data);
            load(&mut client, &data);
            server.kill();
            let mut kind = || {
                let error = client
                    .read(b"user000003", FieldChoice::All, None)
                    .unwrap_err();
                assert!(error.to_string().contains("127.0.0.1"), "{error}");
                error.kind()
            };
            assert_eq!(kind(), LeanErrorKind::Disconnected);
            assert_eq!(kind(), LeanErrorKind::Connect);
            assert_eq!(kind(), LeanErrorKind::Connect);
            server.start_again();
            // What the server had acknowledged may be lost with it: nobody asked for the journal.
            client.read(b"user000003", FieldChoice::All, None).unwrap();
        },
    );
}

#[test]
fn a_server_that_does_not_answer_is_given_up_in_time() {
    each(
        "a_server_that_does_not_answer_is_given_up_in_time",
        |server| {
            let data = small_data(10);
            let mut options = server.options(&data);
            options.call_timeout = Some(Duration::from_millis(100));
            options.connect_timeout = Duration::from_millis(100);
            let mut client = server.connect(&data);
            load(&mut client, &data);
            // However slow the server is, it gets ready while it is not frozen.
            let mut client = loop {
                match LeanClient::connect(&options) {
                    Ok(client) => break client,
                    Err(error) => assert_eq!(error.kind(), LeanErrorKind::Timeout),
                }
            };
            server.freeze();
            let error = client
                .read(b"user000003", FieldChoice::All, None)
                .unwrap_err();
            assert_eq!(error.kind(), LeanErrorKind::Timeout);
            assert!(error.to_string().contains("within 100 ms"), "{error}");
            // It still takes connections, or its kernel does.
            let error = client
                .read(b"user000003", FieldChoice::All, None)
                .unwrap_err();
            assert_eq!(error.kind(), LeanErrorKind::Timeout);
            server.thaw();
            loop {
                match client.read(b"user000003", FieldChoice::All, None) {
                    Ok(found) => break assert!(found),
                    Err(error) => assert_eq!(error.kind(), LeanErrorKind::Timeout),
                }
            }
        },
    );
}
