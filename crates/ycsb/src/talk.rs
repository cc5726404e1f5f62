//! Lines for the user, outside of the report.

use std::io::{self, Write};

/// A line on the standard error, whose reader may be gone.
pub(crate) fn talk(line: &str) {
    let _ = writeln!(io::stderr(), "{}", plimsoll_record::redact::lines(line));
}

/// A line on the standard output, before the report.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{}", plimsoll_record::redact::lines(line));
}
