//! Dates for records.

/// Now, UTC, RFC 3339 with milliseconds.
pub(crate) fn now() -> String {
    let now = jiff::Timestamp::now();
    format!("{now:.3}")
}
