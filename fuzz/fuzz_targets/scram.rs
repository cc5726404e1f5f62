//! The server's part of a conversation about a password: no message proves anything but the right one.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_engine::mongo::scram::Conversation;
use plimsoll_engine::mongo::{Credentials, Mechanism};

// The two messages, with the end of a line between them.
fuzz_target!(|data: &[u8]| {
    let mut lines = data.splitn(2, |byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let last = lines.next().unwrap_or_default();
    // Many rounds take long and show nothing new.
    if String::from_utf8_lossy(first)
        .rsplit_once("i=")
        .is_some_and(|(_, rounds)| rounds.len() > 4)
    {
        return;
    }
    let credentials = Credentials {
        user: "user".into(),
        password: "pencil".into(),
        source: "admin".into(),
        mechanism: None,
    };
    for mechanism in [Mechanism::ScramSha1, Mechanism::ScramSha256] {
        let mut conversation =
            Conversation::with_nonce(&credentials, mechanism, "n").expect("the password is one");
        if conversation.answer(first).is_ok() {
            let _ = conversation.answer(last);
            assert!(!conversation.is_proven());
        }
    }
});
