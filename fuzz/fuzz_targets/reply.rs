//! Replies of a server: any bytes are taken, and what is found in them lies within them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_engine::mongo::document::Elements;
use plimsoll_engine::mongo::reply::{self, Batch};

/// Where the document of a message begins.
const BODY_AT: usize = 21;

fuzz_target!(|data: &[u8]| {
    if let Ok(Some(length)) = reply::message_bytes(data) {
        assert!(length <= reply::MOST_BYTES);
    }
    // As it comes, and made to fit, so that what is behind the header is reached as well.
    look_at_message(data);
    let mut message = data.to_vec();
    if message.len() >= BODY_AT + 4 {
        let length = message.len() as u32;
        message[..4].copy_from_slice(&length.to_le_bytes());
        message[8..12].copy_from_slice(&1_u32.to_le_bytes());
        message[12..16].copy_from_slice(&2013_u32.to_le_bytes());
        message[16..21].fill(0);
        look_at_message(&message);
        let body_bytes = length - BODY_AT as u32;
        message[BODY_AT..BODY_AT + 4].copy_from_slice(&body_bytes.to_le_bytes());
        look_at_message(&message);
    }
});

fn look_at_message(message: &[u8]) {
    let Ok(body) = reply::body(message, 1) else {
        return;
    };
    let _ = (reply::succeeded(body), reply::written(body));
    if let Ok(mut batch) = Batch::of(body) {
        let counted = batch.count();
        let mut walked = 0;
        while let Ok(Some(mut document)) = batch.next() {
            while let Ok(Some(element)) = document.next() {
                let _ = element.binary();
            }
            walked += 1;
        }
        if let Ok(counted) = counted {
            assert_eq!(walked, counted);
        }
    }
    if let Ok(elements) = Elements::of(body) {
        walk(elements, body, 0);
    }
}

/// Goes through a document and what is in it.
fn walk(mut elements: Elements<'_>, within: &[u8], depth: u32) {
    while let Ok(Some(element)) = elements.next() {
        let range = within.as_ptr_range();
        assert!(element.value.is_empty() || range.contains(&element.value.as_ptr()));
        let _ = (element.whole(), element.truth(), element.text(), element.binary());
        if depth < 50
            && let Some(inner) = element.elements()
        {
            walk(inner, within, depth + 1);
        }
    }
}
