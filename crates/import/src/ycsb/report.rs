//! The final report: lines of `[GROUP], name, value`.

use super::status::latencies;
use crate::error::{ImportError, Problem, quoted};
use crate::measured::Measured;
use crate::text::{self, need_count, need_number};
use plimsoll_record::{Completed, Histogram, Operation, OperationSlice, Stated, Status, Summary};
use std::collections::{BTreeMap, BTreeSet};

/// The most groups and the most buckets of one group; beyond any real report.
const MOST_GROUPS: usize = 1_000;
const MOST_BUCKETS: usize = 1_000_000;
/// Share of the operations that may be missing before the report counts as cut off: the throughput is rounded.
const MISSING: f64 = 1e-6;

/// `[GROUP], name, value` in its three parts. Older versions left out the spaces; some machines write decimal commas.
pub(super) fn triple(line: &str) -> Option<[&str; 3]> {
    let (group, rest) = line.strip_prefix('[')?.split_once("],")?;
    let rest = rest.trim();
    let (name, value) = rest.rsplit_once(", ").or_else(|| rest.rsplit_once(','))?;
    let (group, name, value) = (group.trim(), name.trim(), value.trim());
    (!group.is_empty() && !name.is_empty() && !value.is_empty() && !group.contains(['[', ' ']))
        .then_some([group, name, value])
}

/// The figures of one group.
#[derive(Default)]
struct Group {
    first_line: u64,
    /// Lines of figures that may stand there once.
    names: BTreeMap<String, u64>,
    operations: Option<u64>,
    summary: Summary,
    returns: BTreeMap<String, u64>,
    /// Value in microseconds and how often, where the report lists each recorded one.
    buckets: Vec<(f64, f64)>,
    /// Whether lines were passed over that are neither.
    left_out: bool,
}

#[derive(Default)]
pub(super) struct Report {
    runtime_ms: Option<f64>,
    throughput: Option<f64>,
    groups: BTreeMap<String, Group>,
    current: String,
}

impl Report {
    pub(super) fn is_begun(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Whether the report has this line already.
    pub(super) fn has(&self, group: &str, name: &str) -> bool {
        self.groups.get(group).is_some_and(|group| group.names.contains_key(name))
    }

    pub(super) fn take(
        &mut self,
        group_name: &str,
        name: &str,
        value: &str,
        file: &str,
        line: u64,
    ) -> Result<(), ImportError> {
        let is_known = self.groups.contains_key(group_name);
        if !is_known && self.groups.len() >= MOST_GROUPS {
            let (what, most) = ("groups", MOST_GROUPS);
            return Err(Problem::TooMany { what, most }.at(file, line));
        }
        let group = self
            .groups
            .entry(group_name.to_owned())
            .or_insert(Group { first_line: line, ..Group::default() });
        let repeated = |first: u64, what: &str| {
            let group = quoted(what);
            Problem::Repeated { group, first }.at(file, line)
        };
        if is_known && self.current != group_name {
            return Err(repeated(group.first_line, &format!("[{group_name}]")));
        }
        group_name.clone_into(&mut self.current);
        let what = || format!("{name} of [{group_name}]");

        if name.starts_with(|letter: char| letter.is_ascii_digit() || letter == '>')
            && !name.contains("Percentile")
        {
            return group.bucket(name, value, file, line);
        }
        if group.names.insert(name.to_owned(), line).is_some() {
            return Err(repeated(group.names[name], &format!("[{group_name}], {name}")));
        }
        if group.names.len() > MOST_GROUPS {
            let (what, most) = ("lines of one group", MOST_GROUPS);
            return Err(Problem::TooMany { what, most }.at(file, line));
        }
        if group_name == "OVERALL" {
            match name {
                "RunTime(ms)" => self.runtime_ms = Some(need_number(&what(), value, file, line)?),
                "Throughput(ops/sec)" => {
                    let value = value.replace(',', ".");
                    self.throughput = Some(need_number(&what(), &value, file, line)?);
                }
                _ => {}
            }
            return Ok(());
        }
        if is_of_the_client(group_name) {
            return Ok(());
        }
        group.figure(&what(), name, value, file, line)
    }

    /// Total number of operations; `None` without runtime or throughput.
    pub(super) fn done(&self) -> Option<u64> {
        let runtime_ms = self.runtime_ms.filter(|runtime_ms| *runtime_ms > 0.0)?;
        Some((self.throughput? * runtime_ms / 1e3).round() as u64)
    }

    /// Adds the report to `measured`. `gave_up` is the number of client threads that ended after a failed insert. Returns the operations whose failures were all missing
    /// records.
    pub(super) fn state(
        mut self,
        measured: &mut Measured,
        is_intended: bool,
        gave_up: u64,
    ) -> BTreeSet<Operation> {
        // Every session cleans up once, unless its thread dies.
        let cleaned_up = self.groups.get("CLEANUP");
        let cleaned_up = cleaned_up.and_then(|cleanup| u32::try_from(cleanup.operations?).ok());
        let requested = measured.sessions;
        if requested.is_none() {
            measured.sessions = cleaned_up.filter(|count| *count > 0);
        }
        let (Some(done), Some(runtime_ms)) = (self.done(), self.runtime_ms) else {
            return BTreeSet::new();
        };
        measured.measured_ns = text::nanos(runtime_ms, 1e6);
        // With fewer operations than threads YCSB starts fewer threads.
        if let (Some(count), Some(requested)) = (cleaned_up, requested)
            && count < requested
            && done >= u64::from(requested)
        {
            measured.damage.push(format!(
                "of {requested} client threads only {count} came to their end: the others died"
            ));
        }

        let intended: BTreeMap<String, Group> = take_prefixed(&mut self.groups, "Intended-");
        let by_buckets = take_prefixed(&mut self.groups, "Hdr");
        self.groups.extend(by_buckets);
        let mut stated = Stated::default();
        let mut tally = Tally { gave_up, ..Tally::default() };
        for (name, group) in &self.groups {
            let Some((operation, status)) = text::operation(name) else {
                let plain = name.strip_prefix("Intended-").unwrap_or(name);
                if !is_of_the_client(name) && !matches!(plain, "OVERALL" | "CLEANUP") {
                    measured.remarks.push(format!("[{}] is left out", quoted(name)));
                }
                continue;
            };
            tally.add(name, operation, status, group, measured);
            if group.left_out {
                measured.remarks.push(format!(
                    "[{name}] has lines of other kinds beside its figures, which are left out"
                ));
            }
            let histogram = group.histogram();
            if histogram.count() == 0 {
                continue;
            }
            let response = intended.get(name).map(Group::histogram);
            stated.operations.push(OperationSlice {
                operation,
                status: tally.status_of_failed(operation, status),
                latencies: latencies(histogram, response, is_intended),
            });
        }
        stated.operations.sort_by_key(|part| (part.operation, part.status));
        stated.completed = tally.completed(done, measured);
        measured.stated = Some(stated);
        let missing = tally.only_missing.into_iter();
        missing.filter_map(|(of, only)| only.then_some(of)).collect()
    }
}

/// What the client says of itself: garbage collection, memory, threads.
fn is_of_the_client(group: &str) -> bool {
    ["TOTAL_GC", "MAX_", "MIN_", "THREAD_COUNT", "USED_MEM_MB", "SYS_LOAD_AVG", "GCS"]
        .iter()
        .any(|prefix| group.starts_with(prefix))
}

/// Groups of this prefix, without it.
fn take_prefixed(groups: &mut BTreeMap<String, Group>, prefix: &str) -> BTreeMap<String, Group> {
    let names: Vec<String> = groups
        .keys()
        .filter(|name| {
            let rest = name.strip_prefix(prefix);
            rest.is_some_and(|rest| text::operation(rest).is_some())
        })
        .cloned()
        .collect();
    let mut taken = BTreeMap::new();
    for name in names {
        if let Some(group) = groups.remove(&name) {
            taken.insert(name[prefix.len()..].to_owned(), group);
        }
    }
    taken
}

impl Group {
    fn bucket(
        &mut self,
        name: &str,
        value: &str,
        file: &str,
        line: u64,
    ) -> Result<(), ImportError> {
        // Only counts with decimals are of recorded values; the others are of buckets of a millisecond, or averages over time.
        let (Some(at), true) = (text::number(name), value.contains('.')) else {
            self.left_out = true;
            return Ok(());
        };
        if self.buckets.len() >= MOST_BUCKETS {
            let (what, most) = ("buckets", MOST_BUCKETS);
            return Err(Problem::TooMany { what, most }.at(file, line));
        }
        let count = need_number("a bucket", value, file, line)?;
        self.buckets.push((at, count));
        Ok(())
    }

    fn figure(
        &mut self,
        what: &str,
        name: &str,
        value: &str,
        file: &str,
        line: u64,
    ) -> Result<(), ImportError> {
        if let Some(status) = name.strip_prefix("Return=") {
            let count = need_count(what, value, file, line)?;
            self.returns.insert(status.to_owned(), count);
            return Ok(());
        }
        if name == "Operations" {
            let count = need_count(what, value, file, line)?;
            self.operations = Some(count);
            self.summary.count = count;
            return Ok(());
        }
        let (label, unit_ns) = match name.strip_suffix("(us)") {
            Some(label) => (label, 1e3),
            None => match name.strip_suffix("(ms)") {
                Some(label) => (label, 1e6),
                None => {
                    self.left_out |= name != "LatencyVariance";
                    return Ok(());
                }
            },
        };
        if label == "LatencyVariance" {
            return Ok(());
        }
        // Without operations there are no times. NaN has several spellings.
        let is_nan = matches!(&*value.to_ascii_lowercase(), "nan" | "-nan" | "\u{fffd}" | "?");
        if self.operations == Some(0) || is_nan {
            return Ok(());
        }
        let value = need_number(what, &value.replace(',', "."), file, line)?;
        let value_ns = text::nanos(value, unit_ns);
        match label {
            "AverageLatency" => self.summary.mean_ns = Some(value * unit_ns),
            "MinLatency" => self.summary.min_ns = Some(value_ns),
            "MaxLatency" => self.summary.max_ns = Some(value_ns),
            _ => match label
                .strip_suffix("PercentileLatency")
                .and_then(|label| text::percentile(&label.replace(',', ".")))
            {
                Some(percentile) => {
                    // A whole number of milliseconds is the lower end of a bucket: the upper end is kept.
                    let is_bucket = unit_ns > 1e3 && value.fract() == 0.0;
                    let end_ns = text::nanos(value + f64::from(u8::from(is_bucket)), unit_ns);
                    self.summary.percentiles.push((percentile, end_ns));
                }
                None => self.left_out = true,
            },
        }
        Ok(())
    }

    /// Every recorded value where the report lists them and they add up, otherwise the figures.
    fn histogram(&self) -> Histogram {
        let listed: f64 = self.buckets.iter().map(|(_, count)| count).sum();
        let is_whole = self.operations.is_some_and(|count| count as f64 == listed);
        if is_whole && listed > 0.0 {
            let mut histogram = Histogram::new();
            for (value_us, count) in &self.buckets {
                histogram.record_n(text::nanos(*value_us, 1e3), *count as u64);
            }
            return histogram;
        }
        let mut summary = self.summary.clone();
        summary.percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        let longest_ns = summary.max_ns.unwrap_or(u64::MAX);
        for (_, value_ns) in &mut summary.percentiles {
            *value_ns = (*value_ns).min(longest_ns);
        }
        Histogram::known(summary)
    }
}

/// Operations by how they ended.
#[derive(Default)]
struct Tally {
    /// All that were tried, those within a read-modify-write not counted twice.
    tried: u64,
    whole: u64,
    not_found: u64,
    failed: u64,
    failed_inserts: u64,
    /// For each operation whether all that failed found no record.
    only_missing: BTreeMap<Operation, bool>,
    has_returns: bool,
    without_returns: Vec<String>,
    /// Client threads that ended after a failed insert.
    gave_up: u64,
}

impl Tally {
    fn add(
        &mut self,
        name: &str,
        operation: Operation,
        status: Status,
        group: &Group,
        measured: &mut Measured,
    ) {
        let count = group.operations.unwrap_or(0);
        match (operation, status) {
            (Operation::ReadModifyWrite, _) => self.whole = self.whole.saturating_add(count),
            (Operation::Verify, _) => {}
            _ => self.tried = self.tried.saturating_add(count),
        }
        let is_unit = !matches!(operation, Operation::ReadModifyWrite | Operation::Verify);
        if !is_unit || status != Status::Ok {
            return;
        }
        let (mut missing, mut failed) = (0_u64, 0_u64);
        for (status, count) in &group.returns {
            match status.as_str() {
                // Old versions counted by number, zero being success.
                "OK" | "0" => {}
                "BATCHED_OK" => {
                    if *count > 0 {
                        measured.remarks.push(format!(
                            "{count} operations of [{name}] were only put into a batch, and their times are mixed with those of the operations that sent one"
                        ));
                    }
                }
                "NOT_FOUND" => missing = missing.saturating_add(*count),
                _ => failed = failed.saturating_add(*count),
            }
        }
        self.not_found = self.not_found.saturating_add(missing);
        self.failed = self.failed.saturating_add(failed);
        if operation == Operation::Insert {
            self.failed_inserts = self.failed_inserts.saturating_add(failed);
        }
        self.only_missing.insert(operation, missing > 0 && failed == 0);
        self.has_returns |= !group.returns.is_empty();
        if group.returns.is_empty() && count > 0 {
            self.without_returns.push(name.to_owned());
        }
    }

    /// Failures of all kinds are drawn together in one group; what they are is known where they are of one kind. Groups come in the order of
    /// their names, so that of the failures comes after that of the successes.
    fn status_of_failed(&self, operation: Operation, status: Status) -> Status {
        match (status, self.only_missing.get(&operation)) {
            (Status::Error, Some(true)) => Status::NotFound,
            _ => status,
        }
    }

    /// All units of the report, which counts `done` as complete, and its contradictions.
    fn completed(&self, done: u64, measured: &mut Measured) -> Completed {
        let listed = self.tried.saturating_sub(self.whole);
        let allowed = 1.0 + done as f64 * MISSING;
        if (done as f64) - (listed as f64) > allowed {
            measured.damage.push(format!(
                "the operations listed are {listed}, [OVERALL] says {done}: the report was cut off or changed"
            ));
        } else if self.has_returns && !self.without_returns.is_empty() {
            measured.damage.push(format!(
                "[{}] has no line with Return=: the report was cut off",
                self.without_returns.join("], [")
            ));
        }
        // [OVERALL] does not count failed inserts: they are retries if retries were configured, otherwise failures.
        let beside = listed as f64 - done as f64;
        let beside = if beside > 0.5 + done as f64 * MISSING { listed - done } else { 0 };
        let limit = measured.properties.get("core_workload_insertion_retry_limit");
        let is_repeated = limit.is_some_and(|limit| limit.trim() != "0");
        let gave_up = match self.gave_up {
            0 if is_repeated => 0,
            0 => self.failed_inserts,
            threads => threads.min(self.failed_inserts),
        };
        let gave_up = gave_up.min(beside);
        if gave_up > 0 {
            measured.damage.push(match measured.records {
                Some(records) if records > done => format!(
                    "{gave_up} client threads gave up after an insert that failed: {done} of {records} records were loaded"
                ),
                _ => format!("{gave_up} client threads gave up after an insert that failed"),
            });
        }
        let repeated = beside - gave_up;
        if repeated > 0 {
            measured.retries = repeated;
            measured.remarks.push(format!(
                "{listed} operations are listed, [OVERALL] says {done}: {repeated} count as repetitions"
            ));
        }
        let failed = self.failed.saturating_sub(beside).min(done);
        let not_found = self.not_found.min(done - failed);
        Completed { ok: done - failed - not_found, not_found, error: failed + gave_up }
    }
}
