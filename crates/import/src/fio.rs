//! fio's JSON, of `--output-format=json` and `json+`.
//!
//! Each job (or group of jobs, where fio reports them together) is one output of its own, told apart by its name. Reads, writes and trims
//! become operations of the record: a write is an update and a trim a delete of a block. Latencies are completion latencies where fio has
//! percentiles of them, otherwise its total latencies. With `json+` every bucket is known, and the histogram is fio's own.

use crate::error::{ImportError, Problem, quoted};
use crate::lines::Lines;
use crate::measured::Measured;
use crate::{Format, text};
use plimsoll_record::{
    ErrorSample, Histogram, Latencies, Operation, OperationSlice, Stated, Status, Summary,
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::BufRead;

/// The most jobs of one document.
const MOST: usize = 10_000;

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "fio version")]
    version: String,
    #[serde(default)]
    timestamp_ms: Option<f64>,
    #[serde(default)]
    timestamp: Option<f64>,
    #[serde(default, rename = "global options")]
    options: BTreeMap<String, Value>,
    #[serde(default)]
    jobs: Vec<Job>,
    #[serde(default)]
    client_stats: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    #[serde(default)]
    jobname: String,
    #[serde(default)]
    groupid: i64,
    #[serde(default)]
    error: i64,
    #[serde(default, rename = "job options")]
    options: BTreeMap<String, Value>,
    #[serde(default)]
    job_runtime: f64,
    #[serde(default)]
    job_start: Option<f64>,
    #[serde(default)]
    read: Direction,
    #[serde(default)]
    write: Direction,
    #[serde(default)]
    trim: Direction,
    #[serde(default)]
    sync: Direction,
}

#[derive(Default, Deserialize)]
struct Direction {
    #[serde(default)]
    total_ios: f64,
    #[serde(default)]
    runtime: f64,
    #[serde(default)]
    iops: f64,
    #[serde(default)]
    bw_bytes: f64,
    #[serde(default)]
    clat_ns: Option<Spread>,
    #[serde(default)]
    lat_ns: Option<Spread>,
    #[serde(default)]
    drop_ios: f64,
}

#[derive(Clone, Default, Deserialize)]
struct Spread {
    #[serde(default)]
    min: f64,
    #[serde(default)]
    max: f64,
    #[serde(default)]
    mean: f64,
    #[serde(default, rename = "N")]
    count: f64,
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
    #[serde(default)]
    bins: BTreeMap<String, f64>,
}

pub(crate) fn read<R: BufRead>(lines: &mut Lines<R>) -> Result<Vec<Measured>, ImportError> {
    let file = lines.name().to_owned();
    let document = lines.document()?;
    let bad = |error: serde_json::Error| Problem::BadJson(error.to_string()).of(&file);
    let begin = begin(&document).ok_or_else(|| {
        let expected = "there is no `{` that begins its JSON; run fio with --output-format=json";
        let format = Format::Fio;
        Problem::NoResult { format, expected }.of(&file)
    })?;
    // With --status-interval there is a document for each moment, all counted from the start; the last one is of all. What fio says in words
    // after it is passed over.
    let mut last: Option<Document> = None;
    for next in serde_json::Deserializer::from_slice(&document[begin..]).into_iter() {
        match next {
            Ok(document) => last = Some(document),
            Err(_) if last.is_some() => break,
            Err(error) => return Err(bad(error)),
        }
    }
    let document = last.ok_or_else(|| Problem::Empty.of(&file))?;
    let mut all: Vec<(i64, Measured)> = Vec::new();
    if document.jobs.len() + document.client_stats.len() > MOST {
        let (what, most) = ("jobs", MOST);
        return Err(Problem::TooMany { what, most }.of(&file));
    }
    let clients = document.client_stats.iter();
    // The sum over all clients says nothing that they do not say by themselves.
    let clients = clients.filter(|job| job.jobname != "All clients");
    for job in document.jobs.iter().chain(clients) {
        let Some(measured) = job.measured(&document, &file)? else {
            continue;
        };
        // Copies of one job that fio does not report together.
        let same = |(group, other): &&mut (i64, Measured)| {
            *group == job.groupid && other.workload == measured.workload
        };
        match all.iter_mut().find(same) {
            Some((_, other)) => beside(other, measured),
            None => all.push((job.groupid, measured)),
        }
    }
    for place in 0..all.len() {
        let (group, measured) = &all[place];
        let is_beside =
            |(index, (of, _)): &(usize, &(i64, Measured))| of == group && *index != place;
        let others = all.iter().enumerate().filter(is_beside);
        let names: Vec<&str> = others
            .filter_map(|(_, (_, other))| other.workload.as_deref())
            .collect();
        if !names.is_empty() && measured.workload.is_some() {
            let words = format!("ran at the same time as {}", names.join(", "));
            all[place].1.remarks.push(words);
        }
    }
    let all: Vec<Measured> = all.into_iter().map(|(_, measured)| measured).collect();
    if all.is_empty() {
        let expected = "no job did any I/O; import the output of jobs that came to their end";
        let format = Format::Fio;
        return Err(Problem::NoResult { format, expected }.of(&file));
    }
    Ok(all)
}

/// The place where a line begins with `{`: messages may stand before it.
fn begin(document: &[u8]) -> Option<usize> {
    if document.first() == Some(&b'{') {
        return Some(0);
    }
    let line = document.windows(2).position(|two| two == b"\n{");
    line.map(|place| place + 1)
}

/// Adds a job that ran at the same time as others of its name.
fn beside(into: &mut Measured, other: Measured) {
    into.sessions = into
        .sessions
        .zip(other.sessions)
        .and_then(|(a, b)| a.checked_add(b));
    into.measured_ns = into.measured_ns.max(other.measured_ns);
    into.damage.extend(other.damage);
    into.errors.extend(other.errors);
    into.remarks.extend(other.remarks);
    let (Some(ours), Some(theirs)) = (&mut into.stated, other.stated) else {
        return;
    };
    ours.completed.ok = ours.completed.ok.saturating_add(theirs.completed.ok);
    ours.completed.error = ours.completed.error.saturating_add(theirs.completed.error);
    for part in theirs.operations {
        match ours
            .operations
            .iter_mut()
            .find(|known| known.operation == part.operation)
        {
            Some(known) => known.latencies.merge(&part.latencies),
            None => ours.operations.push(part),
        }
    }
    ours.operations.sort_by_key(|part| part.operation);
}

impl Job {
    fn measured(&self, document: &Document, file: &str) -> Result<Option<Measured>, ImportError> {
        let mut measured = Measured {
            tool: Format::Fio.tool().to_owned(),
            version: Some(quoted(&document.version)),
            workload: Some(quoted(&self.jobname)).filter(|name| !name.is_empty()),
            ..Measured::default()
        };
        for (name, value) in document.options.iter().chain(&self.options) {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let value = plimsoll_record::redact::redact_value(name, &text);
            measured.properties.insert(quoted(name), value);
        }
        measured.sessions = sessions(&measured.properties);
        measured.database = measured
            .properties
            .get("ioengine")
            .map(|engine| format!("fio {engine}"));
        let at_ms = self.job_start.or(document.timestamp_ms);
        let at_ms = at_ms.or(document.timestamp.map(|seconds| seconds * 1e3));
        measured.started_at = at_ms.and_then(text::instant);

        let mut stated = Stated::default();
        let mut longest_ms = self.job_runtime.max(0.0);
        for (name, operation, direction) in [
            ("read", Operation::Read, &self.read),
            ("write", Operation::Update, &self.write),
            ("trim", Operation::Delete, &self.trim),
        ] {
            direction.check(name, &self.jobname, file)?;
            if direction.total_ios <= 0.0 {
                continue;
            }
            let done = direction.total_ios as u64;
            longest_ms = longest_ms.max(direction.runtime);
            let failed = (direction.drop_ios as u64).min(done);
            stated.completed.ok += done - failed;
            stated.completed.error += failed;
            measured.remarks.push(format!(
                "{name}s: {:.0} IOPS, {:.0} bytes/s",
                direction.iops, direction.bw_bytes
            ));
            let histogram = direction.histogram(done);
            stated.operations.push(OperationSlice {
                operation,
                status: Status::Ok,
                latencies: Latencies {
                    service: histogram,
                    open: None,
                },
            });
        }
        if let Some(sync) = self
            .sync
            .lat_ns
            .as_ref()
            .filter(|_| self.sync.total_ios > 0.0)
        {
            measured.remarks.push(format!(
                "{} syncs, mean {:.0} ns: no operations of their own in a record",
                self.sync.total_ios, sync.mean
            ));
        }
        if self.error != 0 {
            measured.damage.push(format!(
                "fio ended the job with error {}: its numbers are not of the whole job",
                self.error
            ));
            measured.errors.push(ErrorSample {
                operation: stated
                    .operations
                    .first()
                    .map_or(Operation::Read, |part| part.operation),
                message: format!("fio error {}", self.error),
                count: 1,
            });
        }
        if stated.operations.is_empty() || longest_ms <= 0.0 {
            return Ok(None);
        }
        measured.measured_ns = text::nanos(longest_ms, 1e6);
        measured.stated = Some(stated);
        Ok(Some(measured))
    }
}

/// Requests under way at the same time: jobs reported together, each with its queue depth. Only an asynchronous engine has a queue, so a
/// depth with another is not counted on.
fn sessions(properties: &BTreeMap<String, String>) -> Option<u32> {
    let number = |name: &str| -> Option<Option<u32>> {
        let text = properties.get(name)?;
        Some(text.parse().ok())
    };
    let jobs = match (
        number("numjobs"),
        properties.contains_key("group_reporting"),
    ) {
        (Some(jobs), true) => jobs?,
        _ => 1,
    };
    let depth = number("iodepth").unwrap_or(Some(1))?;
    let is_queued = matches!(
        properties.get("ioengine").map(String::as_str),
        Some("libaio" | "io_uring" | "posixaio" | "windowsaio" | "solarisaio")
    );
    let depth = match (depth, is_queued) {
        (1, _) => 1,
        (depth, true) => depth,
        _ => 1,
    };
    // A rate or a pause keeps the queue from being full.
    let is_paced = properties
        .keys()
        .any(|name| name.starts_with("rate") || name.starts_with("thinktime"));
    jobs.checked_mul(depth)
        .filter(|sessions| *sessions > 0 && !is_paced)
}

impl Direction {
    fn check(&self, name: &str, job: &str, file: &str) -> Result<(), ImportError> {
        let empty = Spread::default();
        let spreads = [&self.clat_ns, &self.lat_ns].map(|spread| spread.as_ref().unwrap_or(&empty));
        let mut numbers = vec![
            ("total_ios", self.total_ios),
            ("runtime", self.runtime),
            ("iops", self.iops),
            ("bw_bytes", self.bw_bytes),
            ("drop_ios", self.drop_ios),
        ];
        for spread in spreads {
            numbers.extend([
                ("min", spread.min),
                ("max", spread.max),
                ("mean", spread.mean),
            ]);
            let listed = spread.percentile.values().chain(spread.bins.values());
            numbers.extend(listed.map(|value| ("a percentile or a bucket", *value)));
        }
        for (what, value) in numbers {
            if !value.is_finite() || value < 0.0 {
                let problem = Problem::BadNumber {
                    what: format!("{what} of {name} in job {}", quoted(job)),
                    text: value.to_string(),
                    wanted: "number of zero or more",
                };
                return Err(problem.of(file));
            }
        }
        Ok(())
    }

    /// Completion latencies where there are percentiles of them, otherwise total latencies.
    fn histogram(&self, done: u64) -> Histogram {
        let is_told = |spread: &&Spread| !spread.percentile.is_empty() || !spread.bins.is_empty();
        let with_percentiles = [&self.clat_ns, &self.lat_ns]
            .into_iter()
            .flatten()
            .find(is_told);
        let any = self.clat_ns.as_ref().or(self.lat_ns.as_ref());
        let Some(spread) = with_percentiles.or(any) else {
            return Histogram::known(Summary {
                count: done,
                ..Summary::default()
            });
        };
        let listed: f64 = spread.bins.values().sum();
        if listed > 0.0 && (listed - done as f64).abs() < 0.5 {
            let mut histogram = Histogram::new();
            for (value, count) in &spread.bins {
                if let Some(value_ns) = text::number(value) {
                    histogram.record_n(text::nanos(value_ns, 1.0), *count as u64);
                }
            }
            return histogram;
        }
        let mut percentiles = Vec::with_capacity(spread.percentile.len());
        for (label, value_ns) in &spread.percentile {
            if let Some(percentile) = text::percentile(label) {
                percentiles.push((percentile, text::nanos(*value_ns, 1.0)));
            }
        }
        percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        // fio may be told not to time requests; then there are zeros.
        let is_timed = spread.count > 0.0 || spread.max > 0.0;
        Histogram::known(Summary {
            count: done,
            mean_ns: is_timed.then_some(spread.mean),
            min_ns: is_timed.then(|| text::nanos(spread.min, 1.0)),
            max_ns: is_timed.then(|| text::nanos(spread.max, 1.0)),
            percentiles,
        })
    }
}

#[cfg(test)]
mod tests;
