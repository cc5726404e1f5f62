//! Small readings that several formats share.

use crate::error::{ImportError, Problem, quoted};
use jiff::Timestamp;
use plimsoll_record::{Operation, Status, Summary};

/// A number that can be a time, a rate or a count: finite and not negative.
pub(crate) fn number(text: &str) -> Option<f64> {
    let value: f64 = text.trim().parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// The same, or what is wrong with it.
pub(crate) fn need_number(
    what: &str,
    text: &str,
    file: &str,
    line: u64,
) -> Result<f64, ImportError> {
    number(text).ok_or_else(|| {
        let problem = Problem::BadNumber {
            what: quoted(what),
            text: quoted(text),
            wanted: "number of zero or more",
        };
        problem.at(file, line)
    })
}

/// A count, also where it is written with decimals that are zero.
pub(crate) fn need_count(
    what: &str,
    text: &str,
    file: &str,
    line: u64,
) -> Result<u64, ImportError> {
    if let Ok(count) = text.trim().parse() {
        return Ok(count);
    }
    match number(text) {
        Some(value) if value.fract() == 0.0 && value <= MOST_EXACT => Ok(value as u64),
        _ => {
            let problem =
                Problem::BadNumber { what: quoted(what), text: quoted(text), wanted: "count" };
            Err(problem.at(file, line))
        }
    }
}

/// Up to here a number with a fraction holds every whole number.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// A time in nanoseconds; what does not fit is as long as can be.
pub(crate) fn nanos(value: f64, unit_ns: f64) -> u64 {
    (value * unit_ns).round() as u64
}

/// An instant from milliseconds since 1970, UTC, RFC 3339. What is before 2000 is no time of a measurement.
pub(crate) fn instant(millis: f64) -> Option<String> {
    const YEAR_2000: f64 = 946_684_800_000.0;
    if !millis.is_finite() || millis < YEAR_2000 {
        return None;
    }
    let instant = Timestamp::from_millisecond(millis.round() as i64).ok()?;
    Some(format!("{instant:.3}"))
}

/// The operation and the status of a name as YCSB writes it: `READ`, `READ-FAILED`, `UPDATE-NOT_FOUND`. Where failures of all kinds are drawn
/// together the status is [`Status::Error`].
pub(crate) fn operation(name: &str) -> Option<(Operation, Status)> {
    let name = name.to_ascii_uppercase().replace('_', "-");
    for (known, operation) in [
        ("READ-MODIFY-WRITE", Operation::ReadModifyWrite),
        ("READMODIFYWRITE", Operation::ReadModifyWrite),
        ("READ", Operation::Read),
        ("UPDATE", Operation::Update),
        // The tools of Cassandra do not distinguish new records from old ones.
        ("WRITE", Operation::Update),
        ("INSERT", Operation::Insert),
        ("SCAN", Operation::Scan),
        ("DELETE", Operation::Delete),
        ("VERIFY", Operation::Verify),
    ] {
        let Some(rest) = name.strip_prefix(known) else {
            continue;
        };
        let status = match rest {
            "" | "-OK" => Status::Ok,
            "-NOT-FOUND" => Status::NotFound,
            "-BATCHED" | "-BATCHED-OK" => Status::Batched,
            "-FAILED"
            | "-ERROR"
            | "-NOT-IMPLEMENTED"
            | "-UNEXPECTED-STATE"
            | "-BAD-REQUEST"
            | "-FORBIDDEN"
            | "-SERVICE-UNAVAILABLE" => Status::Error,
            _ => continue,
        };
        return Some((operation, status));
    }
    None
}

/// Adds a figure of a latency to a summary, by the label that YCSB, its ports and go-ycsb give it: `Count`, `Avg`, `Min`, `Max`, or a percentile. Times in microseconds.
pub(crate) fn figure(summary: &mut Summary, label: &str, value: f64) {
    let value_ns = nanos(value, 1e3);
    match &*label.to_ascii_lowercase() {
        "count" => summary.count = value as u64,
        "max" => summary.max_ns = Some(value_ns),
        "min" => summary.min_ns = Some(value_ns),
        "avg" => summary.mean_ns = Some(value * 1e3),
        label => {
            let percentile = percentile(label).map(|percentile| (percentile, value_ns));
            summary.percentiles.extend(percentile);
        }
    }
}

/// A percentile as it is written in a label: `50th`, `99.9`, `99.99th`.
pub(crate) fn percentile(label: &str) -> Option<f64> {
    let digits = label.trim().trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    number(digits).filter(|percentile| *percentile <= 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_operations() {
        let found = |name| operation(name);
        assert_eq!(found("READ"), Some((Operation::Read, Status::Ok)));
        let expected = Some((Operation::ReadModifyWrite, Status::Ok));
        assert_eq!(found("READ-MODIFY-WRITE"), expected);
        let expected = Some((Operation::ReadModifyWrite, Status::Error));
        assert_eq!(found("READ_MODIFY_WRITE_ERROR"), expected);
        assert_eq!(found("UPDATE-NOT_FOUND"), Some((Operation::Update, Status::NotFound)));
        assert_eq!(found("SCAN-LATENCY-PER-RECORD"), None);
        assert_eq!(found("CLEANUP"), None);
    }

    #[test]
    fn labels_of_percentiles() {
        assert_eq!(percentile("50th"), Some(50.0));
        assert_eq!(percentile("99.99"), Some(99.99));
        assert_eq!(percentile("1st"), Some(1.0));
        assert_eq!(percentile("101th"), None);
        assert_eq!(percentile("x"), None);
    }

    #[test]
    fn instants() {
        let expected = Some("2023-11-14T22:13:20.123Z");
        assert_eq!(instant(1_700_000_000_123.0).as_deref(), expected);
        assert_eq!(instant(0.0), None);
        assert_eq!(instant(f64::MAX), None);
    }
}
