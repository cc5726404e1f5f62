//! Servers that go away and come back.

use crate::mongo::it::records::{load, small_data};
use crate::mongo::it::servers::each;
use crate::mongo::{LeanClient, LeanError, LeanErrorKind};
use plimsoll_testing::assert_contains;
use plimsoll_workload::FieldChoice;
use std::time::Duration;

fn read(client: &mut LeanClient) -> Result<bool, LeanError> {
    client.read(b"user000003", FieldChoice::All, None)
}

#[test]
fn a_server_that_does_not_answer_is_given_up_in_time() {
    each(|server| {
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
        // It still takes connections, or its kernel does.
        for _ in 0..2 {
            let error = read(&mut client).unwrap_err();
            assert_eq!(error.kind(), LeanErrorKind::Timeout);
            assert_contains(&error, "within 100 ms");
        }
        server.thaw();
        loop {
            match read(&mut client) {
                Ok(found) => break assert!(found),
                Err(error) => assert_eq!(error.kind(), LeanErrorKind::Timeout),
            }
        }
    });
}

mod slow {
    use super::*;

    #[test]
    fn a_server_that_is_killed_and_comes_back_is_used_again() {
        each(|server| {
            let data = small_data(10);
            let mut client = server.connect(&data);
            load(&mut client, &data);
            server.kill();
            let mut kind = || {
                let error = read(&mut client).unwrap_err();
                assert_contains(&error, "127.0.0.1");
                error.kind()
            };
            assert_eq!(kind(), LeanErrorKind::Disconnected);
            assert_eq!(kind(), LeanErrorKind::Connect);
            assert_eq!(kind(), LeanErrorKind::Connect);
            server.start_again();
            // Writes that the server had acknowledged may be lost with it: they did not wait for the journal.
            read(&mut client).unwrap();
        });
    }
}
