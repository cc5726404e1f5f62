/// So much later than now, as [`now`] writes it.
pub(crate) fn in_a_while(ahead: std::time::Duration) -> String {
    let then = jiff::Timestamp::now() + ahead;
    format!("{then:.3}")
}

/// Now, UTC, RFC 3339 with milliseconds.
pub fn now() -> String {
    let now = jiff::Timestamp::now();
    format!("{now:.3}")
}
