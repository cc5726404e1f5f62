//! A strict reader of YCSB's output, written from the description of the format: it accepts a report line by line, or says which line does not fit.

use std::collections::BTreeMap;

/// A report that was accepted.
#[derive(Debug, Default)]
pub struct Report {
    pub preamble: Vec<String>,
    /// Names of the blocks, as they come.
    pub order: Vec<String>,
    pub blocks: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Report {
    pub fn value(&self, block: &str, measurement: &str) -> f64 {
        let values = self.blocks.get(block);
        let values = values.unwrap_or_else(|| panic!("no block {block} in {:?}", self.order));
        let value = values.get(measurement);
        *value.unwrap_or_else(|| panic!("no {measurement} in {values:?}"))
    }

    /// How many operations of this name succeeded.
    pub fn operations(&self, block: &str) -> u64 {
        let values = self.blocks.get(block);
        values.map_or(0, |values| values["Operations"] as u64)
    }
}

const OPERATIONS: [&str; 7] =
    ["READ", "UPDATE", "INSERT", "SCAN", "DELETE", "READ-MODIFY-WRITE", "VERIFY"];
const STATUSES: [&str; 9] = [
    "OK",
    "ERROR",
    "NOT_FOUND",
    "NOT_IMPLEMENTED",
    "UNEXPECTED_STATE",
    "BAD_REQUEST",
    "FORBIDDEN",
    "SERVICE_UNAVAILABLE",
    "BATCHED_OK",
];

/// A name of a block: an operation, one of its ways of failing, or one of the three names that are no operations.
fn is_name(name: &str) -> bool {
    let name = name.strip_prefix("Intended-").unwrap_or(name);
    if ["CLEANUP", "FLUSH", "SCAN-LATENCY-PER-RECORD"].contains(&name) {
        return true;
    }
    OPERATIONS.iter().any(|operation| {
        name.strip_prefix(operation).is_some_and(|rest| {
            rest.is_empty()
                || rest == "-FAILED"
                || rest.strip_prefix('-').is_some_and(|status| STATUSES.contains(&status))
        })
    })
}

/// Decimal digits with or without a minus, and nothing else.
fn whole(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_whole && (digits == "0" || !digits.starts_with('0'))).then(|| text.parse().ok()).flatten()
}

/// As Java prints a double, and as PerfKit reads it: `NaN` passes, `Infinity` and a small `e` do not.
fn double(text: &str) -> Option<f64> {
    if text == "NaN" {
        return Some(f64::NAN);
    }
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (digits, exponent) = match unsigned.split_once('E') {
        Some((digits, exponent)) => (digits, Some(exponent)),
        None => (unsigned, None),
    };
    let (before, behind) = digits.split_once('.')?;
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(before) || !is_digits(behind) {
        return None;
    }
    if let Some(exponent) = exponent {
        whole(exponent)?;
        if before.len() != 1 {
            return None;
        }
    }
    let value: f64 = text.parse().ok()?;
    let size = value.abs();
    let is_plain = size == 0.0 || (1e-3..1e7).contains(&size);
    (is_plain == exponent.is_none()).then_some(value)
}

/// What may stand before a report.
fn is_preamble(line: &str) -> bool {
    line == "Data integrity is enabled."
        || line
            == "Warning: the threadcount is bigger than recordcount, the threadcount will be recordcount!"
        || line.starts_with("mongo client connection created with mongodb")
}

/// Reads the standard output of a load or a run with HDR histograms.
pub fn report(text: &str) -> Result<Report, String> {
    let Some(body) = text.strip_suffix('\n') else {
        return Err("the last line has no end".into());
    };
    let mut report = Report::default();
    let mut lines = Vec::new();
    for line in body.split('\n') {
        if !line.starts_with('[') {
            if !lines.is_empty() || !is_preamble(line) {
                return Err(format!("`{line}` is no line of a report"));
            }
            report.preamble.push(line.to_owned());
            continue;
        }
        let parts: Vec<&str> = line.split(", ").collect();
        let [metric, measurement, value] = parts[..] else {
            return Err(format!("`{line}` has not three parts"));
        };
        let metric = metric
            .strip_prefix('[')
            .and_then(|metric| metric.strip_suffix(']'))
            .ok_or_else(|| format!("`{line}`: the name is not in brackets"))?;
        if line.matches(',').count() != 2 {
            return Err(format!("`{line}` has commas of its own"));
        }
        lines.push((metric, measurement, value));
    }
    let mut at = 0;
    let mut next = |wanted: &str| {
        let (metric, measurement, value) = lines.get(at)?;
        at += 1;
        let value = if *measurement == "RunTime(ms)" { whole(value) } else { double(value) };
        (*metric == "OVERALL" && *measurement == wanted).then_some(value).flatten()
    };
    let run_time = next("RunTime(ms)").ok_or("the first line is not the run time")?;
    let throughput = next("Throughput(ops/sec)").ok_or("the second line is not the throughput")?;
    if run_time < 1.0 || throughput.is_nan() {
        return Err("no time went by".into());
    }
    report.blocks.insert(
        "OVERALL".into(),
        [("RunTime(ms)".to_owned(), run_time), ("Throughput(ops/sec)".to_owned(), throughput)]
            .into(),
    );
    for group in lines[2..].chunk_by(|left, right| left.0 == right.0) {
        let name = group[0].0;
        if !is_name(name) {
            return Err(format!("`{name}` is no name of an operation"));
        }
        if report.blocks.contains_key(name) {
            return Err(format!("the block {name} is there twice"));
        }
        if !name.starts_with("Intended-")
            && report.order.iter().any(|name| name.starts_with("Intended-"))
        {
            return Err(format!("{name} comes after an intended one"));
        }
        let values = block(name, group)?;
        report.order.push(name.into());
        report.blocks.insert(name.into(), values);
    }
    Ok(report)
}

fn block(name: &str, lines: &[(&str, &str, &str)]) -> Result<BTreeMap<String, f64>, String> {
    let mut values = BTreeMap::new();
    let heads = ["Operations", "AverageLatency(us)", "MinLatency(us)", "MaxLatency(us)"];
    let mut percentiles: Vec<(f64, f64)> = Vec::new();
    let mut has_returns = false;
    for (index, (_, measurement, text)) in lines.iter().enumerate() {
        let wrong = || format!("`[{name}], {measurement}, {text}` is wrong at this place");
        let value = if let Some(head) = heads.get(index) {
            if measurement != head {
                return Err(wrong());
            }
            if index == 1 { double(text) } else { whole(text) }
        } else if let Some(percentile) = measurement.strip_suffix("PercentileLatency(us)") {
            if has_returns {
                return Err(wrong());
            }
            let number = percentile_of(percentile).ok_or_else(wrong)?;
            let value = whole(text).ok_or_else(wrong)?;
            percentiles.push((number, value));
            Some(value)
        } else if let Some(status) = measurement.strip_prefix("Return=") {
            has_returns = true;
            STATUSES.contains(&status).then(|| whole(text)).flatten()
        } else {
            None
        };
        let value = value.ok_or_else(wrong)?;
        if values.insert((*measurement).to_owned(), value).is_some() {
            return Err(wrong());
        }
    }
    if lines.len() < heads.len() {
        return Err(format!("the block {name} is cut off"));
    }
    check(name, &values, percentiles, has_returns)?;
    Ok(values)
}

/// What must hold between the numbers of a block.
fn check(
    name: &str,
    values: &BTreeMap<String, f64>,
    mut percentiles: Vec<(f64, f64)>,
    has_returns: bool,
) -> Result<(), String> {
    let (least, most) = (values["MinLatency(us)"], values["MaxLatency(us)"]);
    percentiles.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut rising = vec![least];
    rising.extend(percentiles.iter().map(|(_, value)| *value));
    rising.push(most);
    if !rising.is_sorted() {
        return Err(format!("the latencies of {name} do not rise: {rising:?}"));
    }
    let successes: f64 =
        ["Return=OK", "Return=BATCHED_OK"].iter().filter_map(|name| values.get(*name)).sum();
    // Verifications are counted however they end, and have no failed latencies.
    if has_returns && name != "VERIFY" && successes != values["Operations"] {
        return Err(format!(
            "{name} has {} operations and {successes} successes",
            values["Operations"]
        ));
    }
    if has_returns && (name.starts_with("Intended-") || name.ends_with("-FAILED")) {
        return Err(format!("{name} tells how operations ended"));
    }
    Ok(())
}

/// The number of a percentile from its name.
fn percentile_of(text: &str) -> Option<f64> {
    if text.contains('.') {
        return double(text);
    }
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    let number = whole(digits)?;
    let ending = match (number as u64 % 10, number as u64 % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    (text == format!("{digits}{ending}")).then_some(number)
}

/// What a status line says.
#[derive(Debug, PartialEq)]
pub struct StatusLine {
    pub seconds: u64,
    pub operations: u64,
    pub current: Option<f64>,
    /// Names and counts of its groups.
    pub groups: Vec<(String, u64)>,
}

/// Reads a status line with this label and HDR histograms.
pub fn status_line(line: &str, label: &str) -> Option<StatusLine> {
    let rest = line.strip_prefix(label)?;
    let (time, rest) = rest.split_at_checked("2026-11-21 01:20:24:034".len())?;
    let shape: String =
        time.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    if shape != "0000-00-00 00:00:00:000" {
        return None;
    }
    let (seconds, rest) = rest.strip_prefix(' ')?.split_once(" sec: ")?;
    let (operations, mut rest) = rest.split_once(" operations; ")?;
    let (seconds, operations) = (whole(seconds)?, whole(operations)?);
    let mut current = None;
    if let Some((number, behind)) = rest.split_once(" current ops/sec; ") {
        if number.contains('.') && number.ends_with('0') {
            return None;
        }
        current = Some(number.parse().ok()?);
        rest = behind;
    }
    if (operations > 0.0) != current.is_some() {
        return None;
    }
    if let Some(behind) = rest.strip_prefix("est completion in ") {
        let end = behind.find('[').unwrap_or(behind.len());
        let (estimate, groups) = behind.split_at(end);
        let words: Vec<&str> = estimate.strip_suffix(' ')?.split(' ').collect();
        for pair in words.chunks(2) {
            let [number, unit] = pair else { return None };
            whole(number)?;
            let unit = unit.strip_suffix('s').unwrap_or(unit);
            if !["day", "hour", "minute", "second"].contains(&unit) {
                return None;
            }
        }
        rest = groups;
    }
    let mut groups = Vec::new();
    while !rest.is_empty() {
        let (group, behind) = rest.strip_prefix('[')?.split_once("] ")?;
        groups.push(status_group(group)?);
        rest = behind;
    }
    Some(StatusLine { seconds: seconds as u64, operations: operations as u64, current, groups })
}

fn status_group(group: &str) -> Option<(String, u64)> {
    let (name, figures) = group.split_once(": ")?;
    let wanted = ["Count", "Max", "Min", "Avg", "50", "90", "99", "99.9", "99.99"];
    let figures: Vec<&str> = figures.split(", ").collect();
    if !is_name(name) || figures.len() != wanted.len() {
        return None;
    }
    let mut count = 0;
    for (figure, wanted) in figures.iter().zip(wanted) {
        let value = figure.strip_prefix(wanted)?.strip_prefix('=')?;
        match wanted {
            "Avg" => {
                value.parse::<f64>().ok()?;
            }
            "Count" => count = whole(value)? as u64,
            _ => {
                whole(value)?;
            }
        }
    }
    (count > 0).then(|| (name.to_owned(), count))
}

/// What PerfKit Benchmarker takes from a report: after the first line about the whole only lines whose name has capitals alone. A value with a
/// point or `nan` is a float, any other an int; a name that is a number is a bucket in milliseconds; a group that comes again replaces the
/// earlier one. Gives the names of the groups.
pub fn perfkit(text: &str) -> Result<Vec<String>, String> {
    let begin = text.find("[OVERALL]").ok_or("there is no [OVERALL]")?;
    let mut groups: Vec<String> = Vec::new();
    for line in text[begin..].lines() {
        let Some((name, _)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) else {
            continue;
        };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_uppercase()) {
            continue;
        }
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let [_, measurement, value] = fields[..] else {
            return Err(format!("`{line}` has not three fields"));
        };
        if measurement.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("`{line}` is taken for a bucket"));
        }
        let is_float = value.contains('.') || value.eq_ignore_ascii_case("nan");
        let is_read =
            if is_float { value.parse::<f64>().is_ok() } else { value.parse::<i64>().is_ok() };
        if !is_read {
            return Err(format!("`{line}` has a value that is no number"));
        }
        if groups.last().map(String::as_str) != Some(name) {
            if groups.iter().any(|group| group == name) {
                return Err(format!("the group {name} comes again"));
            }
            groups.push(name.into());
        }
    }
    Ok(groups)
}

const GOOD: &str = "\
Data integrity is enabled.
[OVERALL], RunTime(ms), 1234
[OVERALL], Throughput(ops/sec), 1.23456789E7
[READ], Operations, 5
[READ], AverageLatency(us), 2.5
[READ], MinLatency(us), 0
[READ], MaxLatency(us), 9
[READ], 50thPercentileLatency(us), 2
[READ], 99.9PercentileLatency(us), 9
[READ], Return=OK, 5
[READ], Return=NOT_FOUND, 1
[READ-FAILED], Operations, 1
[READ-FAILED], AverageLatency(us), 1.0
[READ-FAILED], MinLatency(us), 1
[READ-FAILED], MaxLatency(us), 1
[Intended-READ], Operations, 5
[Intended-READ], AverageLatency(us), 2.5
[Intended-READ], MinLatency(us), 0
[Intended-READ], MaxLatency(us), 9
";

#[test]
fn the_reader_accepts_a_report_and_no_other() {
    let read = report(GOOD).unwrap();
    assert_eq!(read.order, ["READ", "READ-FAILED", "Intended-READ"]);
    assert_eq!(read.value("READ", "Return=NOT_FOUND"), 1.0);
    perfkit(GOOD).unwrap();
    for (from, to) in [
        ("[OVERALL], RunTime(ms), 1234\n", ""),
        ("RunTime(ms), 1234", "RunTime(ms), 1234.0"),
        ("1.23456789E7", "12345678.9"),
        ("1.23456789E7", "1.23456789e7"),
        ("1.23456789E7", "Infinity"),
        ("[READ], Operations, 5\n", ""),
        ("[READ], Operations, 5", "[READ], Operations, 5.0"),
        ("[READ], Operations, 5", "[READ], Operations, 4"),
        ("[READ], Operations, 5", "[READ], Operations, 1,005"),
        ("[READ], Operations, 5", "[READ],Operations, 5"),
        ("[READ], Operations, 5", "READ, Operations, 5"),
        ("[READ], Operations, 5", "[READ], Operations, 05"),
        ("AverageLatency(us), 2.5", "AverageLatency(us), 2"),
        ("MinLatency(us), 0", "MinLatency(us), 3"),
        ("50thPercentile", "50Percentile"),
        ("50thPercentile", "50stPercentile"),
        ("99.9Percentile", "99.9thPercentile"),
        ("Return=OK", "Return=FINE"),
        ("[READ], MaxLatency(us), 9\n", "[READ], MaxLatency(us), 9\n\n"),
        ("[READ-FAILED]", "[READ_FAILED]"),
        (
            "[READ-FAILED], MaxLatency(us), 1\n",
            "[READ-FAILED], MaxLatency(us), 1\n[READ-FAILED], Return=OK, 1\n",
        ),
        ("[READ-FAILED], MaxLatency(us), 1\n", ""),
        ("[Intended-READ]", "[READ]"),
        ("Data integrity is enabled.", "data integrity is enabled"),
        ("1\n[Intended", "1\nhello\n[Intended"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let mutated = GOOD.replacen(from, to, 1);
        assert!(report(&mutated).is_err(), "{from:?} -> {to:?}");
    }
    assert!(report(GOOD.trim_end()).is_err());
    for bad in [
        "[OVERALL], a, 1e7",
        "[OVERALL], a, Infinity",
        "[OVERALL], 5, 1",
        "[OVERALL], a, b, 1",
        "x",
    ] {
        assert!(perfkit(bad).is_err(), "{bad}");
    }
}

#[test]
fn the_reader_accepts_a_status_line_and_no_other() {
    let example = "2026-11-21 01:20:24:034 0 sec: 200000 operations; 580684.21 current ops/sec; \
                   [READ: Count=98465, Max=4057, Min=0, Avg=0.08, 50=0, 90=0, 99=0, 99.9=0, 99.99=1] ";
    let read = status_line(example, "").unwrap();
    assert_eq!(read.seconds, 0);
    assert_eq!(read.operations, 200_000);
    assert_eq!(read.current, Some(580_684.21));
    assert_eq!(read.groups, [("READ".to_owned(), 98_465)]);
    let begin = "x2026-11-21 01:20:24:034 0 sec: 0 operations; est completion in 2 hours 1 minute ";
    assert!(status_line(begin, "x").is_some());
    for (from, to) in [
        ("24:034", "24.034"),
        (" sec:", " secs:"),
        ("580684.21", "580684.20"),
        ("580684.21", "580,684"),
        ("Avg=0.08", "Avg=?"),
        ("99.99=1", "99.99=1.5"),
        ("] ", "]"),
        ("Count=98465", "Count=0"),
        ("200000", "0"),
        ("[READ:", "[Read:"),
    ] {
        assert!(example.contains(from));
        assert!(status_line(&example.replacen(from, to, 1), "").is_none(), "{from}");
    }
    assert!(status_line(begin, "y").is_none());
    assert!(status_line(&begin.replace("minute", "min"), "x").is_none());
}
