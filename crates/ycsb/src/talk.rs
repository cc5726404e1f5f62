//! Lines for the user, outside of the report.

use std::io::{self, Write};

/// A line on the standard error. Nobody may be listening any more.
pub(crate) fn talk(line: &str) {
    let _ = writeln!(io::stderr(), "{}", plimsoll_record::redact::lines(line));
}

/// A line on the standard output, before the report.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{}", plimsoll_record::redact::lines(line));
}
