//! Dates for records.

/// Now, UTC, RFC 3339 with milliseconds.
pub fn now() -> String {
    let now = jiff::Timestamp::now();
    format!("{now:.3}")
}
