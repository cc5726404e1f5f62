//! Connection strings, and texts with connection strings in them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_mongo::{Uri, redact};

fuzz_target!(|text: &str| {
    let hidden = redact(text);
    assert_eq!(redact(&hidden), hidden, "what is hidden stays hidden");
    match Uri::parse(text) {
        Ok(uri) => {
            assert_eq!(uri.exposed(), text);
            assert!(!uri.hosts().is_empty());
            let shown = Uri::parse(&uri.redacted()).expect("what is shown is a URI as well");
            assert_eq!(shown.hosts(), uri.hosts());
            assert_eq!(shown.password(), uri.password().map(|_| "***"));
            let _ = (uri.lean_cannot(), uri.credentials(), uri.write_concern());
            let _ = (uri.connect_timeout(), uri.call_timeout());
            let with = uri.with_option("appName", text);
            if let Ok(with) = with {
                assert_eq!(with.option("appname"), Some(text));
                assert_eq!((with.user(), with.password()), (uri.user(), uri.password()));
                assert_eq!((with.hosts(), with.database()), (uri.hosts(), uri.database()));
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
