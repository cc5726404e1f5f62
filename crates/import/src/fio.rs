//! fio's JSON, of `--output-format=json` and `json+`, of fio 2 and 3.
//!
//! Each job, or group of jobs that fio reports together, becomes one output, identified by name and group. A read becomes a read, a write an update, a trim a delete.
//! The mean is that of the total latency (submission plus completion). fio's percentiles are mostly of the completion latency alone; they are dropped where submission
//! takes a relevant part of the total. `json+` lists every bucket, so the histogram is complete.
//!
//! A file may hold several documents, with any text between them: several runs, or status reports of one run. Of status reports the last one counts.

use crate::error::{ImportError, Problem, quoted};
use crate::lines::Lines;
use crate::measured::{self, Measured, add_totals};
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
/// Largest share of the mean latency that submission may take for percentiles of the completion latency to be used.
const SUBMISSION: f64 = 0.05;
/// Relative tolerance when a number of jobs is computed from two runtimes in milliseconds.
const NO_WHOLE: f64 = 0.02;
/// Two documents whose starts differ by less are of the same run: fio rounds the elapsed time to seconds.
const SAME_BEGIN_MS: f64 = 2_000.0;
/// If one of several concurrent jobs ends earlier by more than this share, a remark says so.
const ENDED_BEFORE: f64 = 0.05;
/// fio's name for the sum over all jobs of all clients.
const ALL_CLIENTS: &str = "All clients";

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

/// A number that fio omits or prints as NaN is `None`.
#[derive(Deserialize)]
struct Job {
    #[serde(default)]
    jobname: String,
    #[serde(default)]
    hostname: Option<String>,
    #[serde(default)]
    groupid: i64,
    #[serde(default)]
    error: i64,
    #[serde(default)]
    total_err: Option<f64>,
    #[serde(default)]
    first_error: Option<i64>,
    #[serde(default, rename = "job options")]
    options: Option<BTreeMap<String, Value>>,
    /// Sum over all jobs of the group, milliseconds.
    #[serde(default)]
    job_runtime: Option<f64>,
    #[serde(default)]
    job_start: Option<f64>,
    /// In seconds, as fio writes it.
    #[serde(default)]
    elapsed: Option<f64>,
    #[serde(default)]
    read: Direction,
    #[serde(default)]
    write: Direction,
    #[serde(default)]
    trim: Direction,
    #[serde(default)]
    mixed: Direction,
    #[serde(default)]
    sync: Direction,
}

#[derive(Default, Deserialize)]
struct Direction {
    #[serde(default)]
    total_ios: Option<f64>,
    /// In milliseconds, as fio writes it.
    #[serde(default)]
    runtime: Option<f64>,
    #[serde(default)]
    iops: Option<f64>,
    #[serde(default)]
    bw_bytes: Option<f64>,
    /// Bandwidth in KiB/s, as fio writes it.
    #[serde(default)]
    bw: Option<f64>,
    #[serde(default)]
    slat_ns: Option<Spread>,
    #[serde(default)]
    clat_ns: Option<Spread>,
    #[serde(default)]
    lat_ns: Option<Spread>,
    /// Latency of fio 2, in microseconds.
    #[serde(default)]
    slat: Option<Spread>,
    #[serde(default)]
    clat: Option<Spread>,
    #[serde(default)]
    lat: Option<Spread>,
    #[serde(default)]
    drop_ios: Option<f64>,
}

#[derive(Default, Deserialize)]
struct Spread {
    #[serde(default)]
    min: Option<f64>,
    #[serde(default)]
    max: Option<f64>,
    #[serde(default)]
    mean: Option<f64>,
    #[serde(default)]
    percentile: BTreeMap<String, Option<f64>>,
    #[serde(default)]
    bins: BTreeMap<String, Option<f64>>,
}

/// Latencies and the length of their unit in nanoseconds.
type Timed<'a> = (&'a Spread, f64);

/// Jobs of one name and group.
struct Entry {
    group: i64,
    measured: Measured,
    /// Runtime of each job, milliseconds.
    lengths_ms: Vec<f64>,
}

pub(crate) fn read<R: BufRead>(lines: &mut Lines<R>) -> Result<Vec<Measured>, ImportError> {
    let file = lines.name().to_owned();
    let bytes = lines.document()?;
    let found = Documents::of(&bytes).map_err(|problem| problem.of(&file))?;
    let mut all = Vec::new();
    for document in &found.runs {
        let outputs = document.outputs(&file)?;
        measured::check_outputs(all.len() + outputs.len(), &file, 1)?;
        all.extend(outputs);
    }
    if all.is_empty() {
        let expected = "no job completed a request; import the output of jobs that did I/O";
        let format = Format::Fio;
        return Err(Problem::NoResult { format, expected }.of(&file));
    }
    let last = all.len() - 1;
    all[last].damage.extend(found.damage);
    Ok(all)
}

/// The documents of one file.
struct Documents {
    /// Last document of each run.
    runs: Vec<Document>,
    /// Signs that the file is incomplete.
    damage: Vec<String>,
}

impl Documents {
    fn of(bytes: &[u8]) -> Result<Self, Problem> {
        let begins = begins(bytes);
        if begins.is_empty() {
            let expected =
                "there is no JSON document with a `fio version`; run fio with --output-format=json";
            let format = Format::Fio;
            return Err(Problem::NoResult { format, expected });
        }
        let (mut runs, mut damage) = (Vec::<Document>::new(), Vec::new());
        let mut around = bytes[..begins[0]].to_vec();
        let mut broken = None;
        for (place, begin) in begins.iter().enumerate() {
            let until = begins.get(place + 1).copied().unwrap_or(bytes.len());
            let part = &bytes[*begin..until];
            let Some((document, end)) = object(part) else {
                damage.push(match place + 1 == begins.len() {
                    true => "the file ends in the middle of a document of fio".to_owned(),
                    false => format!("document {} of fio is cut off", place + 1),
                });
                continue;
            };
            around.extend_from_slice(&part[end..]);
            match serde_json::from_slice::<Document>(&document) {
                Ok(document) => {
                    if runs.last().is_some_and(|last| last.is_before(&document)) {
                        runs.pop();
                    }
                    runs.push(document);
                }
                Err(error) => broken = broken.or(Some(error.to_string())),
            }
        }
        if let Some(why) = &broken {
            damage.push(format!("a document of fio cannot be read: {why}"));
        }
        if runs.is_empty() {
            let why =
                broken.unwrap_or_else(|| "it ends in the middle of its first document".into());
            return Err(Problem::BadJson(why));
        }
        let around = String::from_utf8_lossy(&around);
        if let Some(line) = around.lines().find(|line| line.contains(SIGNAL)) {
            let words = quoted(line.trim());
            damage.push(format!("fio was ended before its time: `{words}`"));
        }
        Ok(Self { runs, damage })
    }
}

/// fio prints this when it is interrupted.
const SIGNAL: &str = "terminating on signal";

/// Offsets of all objects that contain a `fio version`.
fn begins(bytes: &[u8]) -> Vec<usize> {
    const VERSION: &[u8] = b"\"fio version\"";
    let windows = bytes.windows(VERSION.len()).enumerate();
    let versions = windows.filter(|(_, window)| *window == VERSION);
    let (mut begins, mut from) = (Vec::new(), 0);
    for (version, _) in versions {
        let mut closed = 0_usize;
        let before = bytes[from..version].iter().enumerate().rev();
        for (place, byte) in before {
            match byte {
                b'}' => closed += 1,
                b'{' if closed == 0 => {
                    begins.push(from + place);
                    break;
                }
                b'{' => closed -= 1,
                _ => {}
            }
        }
        from = version;
    }
    begins
}

/// The JSON object at the start of `part` and the offset of its end; `None` if the object is cut off. fio prints `nan` and `inf`, which JSON does not allow: they become `null`.
fn object(part: &[u8]) -> Option<(Vec<u8>, usize)> {
    const NO_NUMBERS: [&[u8]; 4] = [b"-nan", b"nan", b"-inf", b"inf"];
    let mut clean = Vec::with_capacity(part.len());
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    let mut place = 0;
    while let Some(byte) = part.get(place) {
        let rest = &part[place..];
        let is_next = |word: &&&[u8]| {
            let next = rest.get(..word.len());
            next.is_some_and(|next| next.eq_ignore_ascii_case(word))
        };
        if let Some(word) = NO_NUMBERS.iter().find(is_next).filter(|_| !in_text) {
            clean.extend_from_slice(b"null");
            place += word.len();
            continue;
        }
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' if !in_text => depth += 1,
            b'}' if !in_text => depth -= 1,
            _ => {}
        }
        clean.push(*byte);
        place += 1;
        if depth == 0 {
            return Some((clean, place));
        }
    }
    None
}

impl Document {
    fn entries(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().chain(&self.client_stats)
    }

    fn clock_ms(&self) -> Option<f64> {
        self.timestamp_ms.or(self.timestamp.map(|seconds| seconds * 1e3))
    }

    /// Whether `later` is a later status report of the same run.
    fn is_before(&self, later: &Self) -> bool {
        let names = |document: &Self| -> Vec<(String, i64)> {
            let entries = document.entries();
            entries.map(|job| (job.jobname.clone(), job.groupid)).collect()
        };
        let grows = |(ours, theirs): (&Job, &Job)| {
            let begins = [ours.begin_ms(self), theirs.begin_ms(later)];
            let begin_together = match begins {
                [Some(ours), Some(theirs)] => (ours - theirs).abs() <= SAME_BEGIN_MS,
                _ => true,
            };
            let none_is_less = ours
                .directions()
                .iter()
                .zip(theirs.directions())
                .all(|((_, _, ours), (_, _, theirs))| ours.done() <= theirs.done());
            begin_together && none_is_less && ours.longest_ms() <= theirs.longest_ms()
        };
        let longest_ms = |document: &Self| {
            let each = document.entries().map(Job::longest_ms);
            each.fold(0.0, f64::max)
        };
        self.version == later.version
            && names(self) == names(later)
            && longest_ms(self) < longest_ms(later)
            && self.entries().zip(later.entries()).all(grows)
    }

    fn outputs(&self, file: &str) -> Result<Vec<Measured>, ImportError> {
        if self.jobs.len() + self.client_stats.len() > MOST {
            let (what, most) = ("jobs", MOST);
            return Err(Problem::TooMany { what, most }.of(file));
        }
        let mut all: Vec<Entry> = Vec::new();
        for job in self.entries() {
            if job.jobname == ALL_CLIENTS {
                continue;
            }
            let Some(measured) = job.measured(self, file)? else {
                continue;
            };
            let entry = Entry { group: job.groupid, measured, lengths_ms: vec![job.longest_ms()] };
            // Without group_reporting, numjobs=4 gives four entries.
            let same = |other: &&mut Entry| {
                other.group == entry.group && other.measured.workload == entry.measured.workload
            };
            match all.iter_mut().find(same) {
                Some(other) => other.add(entry),
                None => all.push(entry),
            }
        }
        self.take_sums_of_clients(&mut all, file)?;
        let workload = |entry: &Entry| entry.measured.workload.clone();
        let said: Vec<(i64, Option<String>)> =
            all.iter().map(|entry| (entry.group, workload(entry))).collect();
        for (place, entry) in all.iter_mut().enumerate() {
            let (group, name) = &said[place];
            let others = || said.iter().enumerate().filter(|(other, _)| *other != place);
            let beside = others().filter(|(_, (other, _))| other == group);
            let names: Vec<&str> = beside.filter_map(|(_, (_, name))| name.as_deref()).collect();
            if !names.is_empty() && name.is_some() {
                let words = format!("ran at the same time as {}", names.join(", "));
                entry.measured.remarks.push(words);
            }
            // Groups run one after another, so equal names in two groups are not repetitions.
            if others().any(|(_, (_, other))| other == name) {
                let name = name.as_deref().unwrap_or("job");
                entry.measured.workload = Some(format!("{name}, group {group}"));
            }
        }
        Ok(all.into_iter().map(Entry::finished).collect())
    }

    /// Percentiles of several clients cannot be merged, but fio prints those of all clients.
    fn take_sums_of_clients(&self, all: &mut [Entry], file: &str) -> Result<(), ImportError> {
        let mut sums = self.client_stats.iter();
        let Some(sum) = sums.find(|job| job.jobname == ALL_CLIENTS) else {
            return Ok(());
        };
        let [only] = all else { return Ok(()) };
        let Some(sum) = sum.measured(self, file)?.and_then(|sum| sum.stated) else {
            return Ok(());
        };
        let Some(stated) = &mut only.measured.stated else {
            return Ok(());
        };
        for part in sum.operations {
            let count = part.latencies.count();
            let known = stated.operations.iter_mut().find(|known| {
                known.operation == part.operation && known.latencies.count() == count
            });
            if let Some(known) = known {
                known.latencies = part.latencies;
            }
        }
        Ok(())
    }
}

impl Entry {
    /// Adds a concurrent job of the same name.
    fn add(&mut self, other: Self) {
        let (into, other_lengths, other) = (&mut self.measured, other.lengths_ms, other.measured);
        self.lengths_ms.extend(other_lengths);
        into.sessions = into.sessions.zip(other.sessions).and_then(|(a, b)| a.checked_add(b));
        into.measured_ns = into.measured_ns.max(other.measured_ns);
        into.damage.extend(other.damage);
        into.errors.extend(other.errors);
        into.remarks.extend(other.remarks);
        if let (Some(ours), Some(theirs)) = (&mut into.stated, other.stated) {
            add_totals(ours, theirs);
        }
    }

    fn finished(self) -> Measured {
        let Self { mut measured, lengths_ms, .. } = self;
        let shortest = lengths_ms.iter().copied().fold(f64::INFINITY, f64::min);
        let longest = lengths_ms.iter().copied().fold(0.0, f64::max);
        if shortest < longest * (1.0 - ENDED_BEFORE) {
            measured.remarks.push(format!(
                "its {} jobs ran for {:.1} to {:.1} s: the rate refers to the longest",
                lengths_ms.len(),
                shortest / 1e3,
                longest / 1e3
            ));
        }
        measured
    }
}

impl Job {
    /// Directions by name. `mixed` is not among them: with unified_rw_reporting=both it is their sum.
    fn directions(&self) -> Vec<(&'static str, Operation, &Direction)> {
        vec![
            ("read", Operation::Read, &self.read),
            ("write", Operation::Update, &self.write),
            ("trim", Operation::Delete, &self.trim),
        ]
    }

    fn is_mixed(&self) -> bool {
        let apart = self.directions();
        self.mixed.done() > 0 && apart.iter().all(|(_, _, direction)| direction.done() == 0)
    }

    /// Runtime of the longest active direction, milliseconds. `job_runtime` is not used, because it is a sum over jobs.
    fn longest_ms(&self) -> f64 {
        let apart = self.directions().into_iter().map(|(_, _, one)| one);
        let all = apart.chain([&self.mixed]).filter(|one| one.done() > 0);
        all.filter_map(|one| one.runtime).fold(0.0, f64::max)
    }

    /// Start, milliseconds since 1970. A document's own timestamp is its end.
    fn begin_ms(&self, document: &Document) -> Option<f64> {
        let by_end = || Some(document.clock_ms()? - self.elapsed? * 1e3);
        self.job_start.or_else(by_end)
    }

    fn measured(&self, document: &Document, file: &str) -> Result<Option<Measured>, ImportError> {
        let mut measured = Measured {
            tool: Format::Fio.tool().to_owned(),
            version: Some(quoted(&document.version)),
            workload: Some(quoted(&self.jobname)).filter(|name| !name.is_empty()),
            ..Measured::default()
        };
        let own = self.options.iter().flatten();
        for (name, value) in document.options.iter().chain(own) {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let value = plimsoll_record::redact::redact_value(name, &text);
            measured.properties.insert(quoted(name), value);
        }
        // Some versions print global options alone, which need not be all.
        measured.sessions = self
            .options
            .is_some()
            .then(|| sessions(&measured.properties, self.jobs(document, &measured.properties)))
            .flatten();
        measured.database =
            measured.properties.get("ioengine").map(|engine| format!("fio {engine}"));
        measured.started_at = self.begin_ms(document).and_then(text::instant);
        if let Some(host) = &self.hostname {
            measured.remarks.push(format!("a client on {}", quoted(host)));
        }

        let mut stated = Stated::default();
        let verifies = |direction: &Direction| {
            let only_writes =
                measured.properties.get("rw").or(measured.properties.get("readwrite"));
            let only_writes = only_writes.is_some_and(|words| words.ends_with("write"));
            only_writes && measured.properties.contains_key("verify") && direction.done() > 0
        };
        let mixed = ("operation", Operation::Read, &self.mixed);
        let directions = match self.is_mixed() {
            true => vec![mixed],
            false => self.directions(),
        };
        let mut longest_ms = 0.0_f64;
        for (name, operation, direction) in directions {
            direction.check(name, &self.jobname, file)?;
            let done = direction.done();
            if done == 0 {
                continue;
            }
            if name == "read" && verifies(direction) {
                measured
                    .remarks
                    .push(format!("{done} reads that verified what was written are left out"));
                continue;
            }
            longest_ms = longest_ms.max(direction.runtime.unwrap_or(0.0));
            let failed = (direction.drop_ios.unwrap_or(0.0) as u64).min(done);
            stated.completed.ok += done - failed;
            stated.completed.error += failed;
            measured.remarks.push(direction.rate(name));
            if direction.total_ios.is_none() {
                measured.remarks.push(format!(
                    "this version of fio does not count {name}s: their number is computed from rate and runtime"
                ));
            }
            let (histogram, remark) = direction.histogram(done);
            measured.remarks.extend(remark);
            let latencies = Latencies { service: histogram, open: None };
            if self.is_mixed() {
                measured.remarks.push(
                    "reads, writes and trims are reported together (unified_rw_reporting)".into(),
                );
                stated.all = Some(latencies);
                continue;
            }
            stated.operations.push(OperationSlice { operation, status: Status::Ok, latencies });
        }
        if self.sync.done() > 0 {
            let mean = self.sync.total().and_then(|(spread, unit_ns)| Some(spread.mean? * unit_ns));
            let mean = mean.map_or_else(String::new, |mean| format!(", mean {mean:.0} ns"));
            measured.remarks.push(format!(
                "{} syncs{mean}: no operations of their own in a record",
                self.sync.done()
            ));
        }
        self.add_failures(&mut stated, &mut measured);
        let is_nothing = stated.completed.ok == 0 && stated.completed.error == 0;
        if is_nothing {
            return Ok(None);
        }
        if longest_ms <= 0.0 {
            // Shorter than fio's clock can tell, or all requests failed.
            longest_ms = self.job_runtime.unwrap_or(0.0).max(1.0);
            measured.damage.push("fio does not report the runtime".into());
        }
        measured.measured_ns = text::nanos(longest_ms, 1e6);
        measured.stated = Some(stated);
        Ok(Some(measured))
    }

    /// Adds the failed requests that `continue_on_error` ignored, and the error that ended the job.
    fn add_failures(&self, stated: &mut Stated, measured: &mut Measured) {
        let of = stated.operations.first();
        let operation = of.map_or(Operation::Read, |part| part.operation);
        let passed = self.total_err.unwrap_or(0.0).max(0.0) as u64;
        stated.completed.error = stated.completed.error.saturating_add(passed);
        let mut sample = |code: i64, count: u64| {
            measured.errors.push(ErrorSample {
                operation,
                message: format!("fio error {code}"),
                count,
            });
        };
        match self.first_error {
            Some(code) if passed > 0 => sample(code, passed),
            _ if self.error != 0 => sample(self.error, 1),
            _ => {}
        }
        if self.error != 0 {
            measured.damage.push(format!(
                "fio ended the job with error {}: its numbers are not of the whole job",
                self.error
            ));
        }
    }

    /// Number of jobs in this entry; `None` if options and runtimes disagree.
    fn jobs(&self, document: &Document, properties: &BTreeMap<String, String>) -> Option<u32> {
        let requested = properties.get("numjobs").map(|number| number.parse::<u32>());
        let requested = match requested {
            Some(number) => Some(number.ok()?),
            None => None,
        };
        let entries = document.entries();
        let of_this_name = entries.filter(|job| {
            (&job.jobname, job.groupid, &job.hostname)
                == (&self.jobname, self.groupid, &self.hostname)
        });
        let is_alone = of_this_name.count() == 1;
        let longest_ms = self.longest_ms();
        let by_time = self.job_runtime.filter(|_| longest_ms > 0.0);
        if let Some(by_time) = by_time.map(|sum_ms| sum_ms / longest_ms) {
            let whole = by_time.round();
            if (by_time - whole).abs() > NO_WHOLE * whole || whole < 1.0 {
                return (requested.unwrap_or(1) == 1).then_some(1);
            }
            // With group_reporting, jobs of different names are reported under the first name.
            let fits =
                requested.is_none_or(|requested| whole == f64::from(requested) || whole == 1.0);
            return (fits && (whole == 1.0 || requested.is_some())).then_some(whole as u32);
        }
        match requested {
            Some(number) if properties.contains_key("group_reporting") => Some(number),
            Some(number) if number > 1 && is_alone => None,
            _ => Some(1),
        }
    }
}

/// Concurrent requests: jobs × queue depth. Synchronous engines ignore the depth; whether an unlisted engine uses it is unknown.
fn sessions(properties: &BTreeMap<String, String>, jobs: Option<u32>) -> Option<u32> {
    let depth = properties.get("iodepth").map_or(Ok(1), |depth| depth.parse::<u32>());
    let depth = depth.ok()?;
    let engine = properties.get("ioengine").map(String::as_str);
    let engine = engine.and_then(|engine| engine.split(':').next());
    let depth = match engine {
        _ if depth <= 1 => 1,
        Some("libaio" | "io_uring" | "posixaio" | "windowsaio" | "solarisaio") => depth,
        Some("sync" | "psync" | "vsync" | "pvsync" | "pvsync2" | "mmap" | "splice") => 1,
        _ => return None,
    };
    // A rate limit or think time leaves the queue partly empty.
    let is_paced =
        properties.keys().any(|name| name.starts_with("rate") || name.starts_with("thinktime"));
    jobs?.checked_mul(depth).filter(|sessions| *sessions > 0 && !is_paced)
}

impl Direction {
    /// Completed requests. fio 2.1 prints only their rate.
    fn done(&self) -> u64 {
        let by_rate = || Some(self.iops? * self.runtime? / 1e3);
        let done = self.total_ios.or_else(by_rate).unwrap_or(0.0);
        done.max(0.0).round() as u64
    }

    fn rate(&self, name: &str) -> String {
        let iops = self.iops.map(|iops| format!("{iops:.0} IOPS"));
        let bytes = self.bw_bytes.or(self.bw.map(|kib| kib * 1024.0));
        let bytes = bytes.map(|bytes| format!("{bytes:.0} bytes/s"));
        let figures: Vec<String> = iops.into_iter().chain(bytes).collect();
        format!("{name}s: {}", figures.join(", "))
    }

    fn submission(&self) -> Option<Timed<'_>> {
        timed(&self.slat_ns, &self.slat)
    }

    fn completion(&self) -> Option<Timed<'_>> {
        timed(&self.clat_ns, &self.clat)
    }

    fn total(&self) -> Option<Timed<'_>> {
        timed(&self.lat_ns, &self.lat)
    }

    fn check(&self, name: &str, job: &str, file: &str) -> Result<(), ImportError> {
        let mut numbers = vec![
            ("total_ios", self.total_ios),
            ("runtime", self.runtime),
            ("iops", self.iops),
            ("bw_bytes", self.bw_bytes),
            ("bw", self.bw),
            ("drop_ios", self.drop_ios),
        ];
        let spreads =
            [&self.slat_ns, &self.clat_ns, &self.lat_ns, &self.slat, &self.clat, &self.lat];
        for spread in spreads.into_iter().flatten() {
            numbers.extend([("min", spread.min), ("max", spread.max), ("mean", spread.mean)]);
            let listed = spread.percentile.values().chain(spread.bins.values());
            numbers.extend(listed.map(|value| ("a percentile or a bucket", *value)));
        }
        for (what, value) in numbers {
            if let Some(value) = value.filter(|value| !value.is_finite() || *value < 0.0) {
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

    /// The total latency, as far as it is known, and a remark on what is missing.
    fn histogram(&self, done: u64) -> (Histogram, Option<String>) {
        let mut summary = Summary { count: done, ..Summary::default() };
        let both = || {
            let [(submission, in_ns), (completion, unit_ns)] =
                [self.submission()?, self.completion()?];
            Some(submission.mean? * in_ns + completion.mean? * unit_ns)
        };
        let total = self.total();
        let completion = self.completion();
        let Some(mean_ns) =
            total.and_then(|(total, unit_ns)| Some(total.mean? * unit_ns)).or_else(both)
        else {
            let remark = completion
                .is_some()
                .then(|| "only completion latencies are known: they are left out".to_owned());
            return (Histogram::known(summary), remark);
        };
        summary.mean_ns = Some(mean_ns);
        if let Some((total, unit_ns)) = total {
            let time = |value: Option<f64>| value.map(|value| text::nanos(value, unit_ns));
            (summary.min_ns, summary.max_ns) = (time(total.min), time(total.max));
        }
        let has_list =
            |(spread, _): &Timed<'_>| !spread.percentile.is_empty() || !spread.bins.is_empty();
        let listed = total.filter(has_list).or(completion.filter(has_list));
        let Some((spread, unit_ns)) = listed else {
            return (Histogram::known(summary), None);
        };
        let completion_mean_ns = spread.mean.unwrap_or(0.0) * unit_ns;
        if completion_mean_ns < mean_ns * (1.0 - SUBMISSION) {
            let remark = format!(
                "percentiles are those of the completion latency (mean {completion_mean_ns:.0} of {mean_ns:.0} ns): they are left out"
            );
            return (Histogram::known(summary), Some(remark));
        }
        let bins = || {
            let bins = spread.bins.iter();
            bins.filter_map(|(value, count)| Some((text::number(value)?, (*count)?)))
        };
        let in_bins: f64 = bins().map(|(_, count)| count).sum();
        if in_bins > 0.0 && (in_bins - done as f64).abs() < 0.5 {
            let mut histogram = Histogram::new();
            for (value, count) in bins() {
                histogram.record_n(text::nanos(value, unit_ns), count as u64);
            }
            return (histogram, None);
        }
        for (label, value) in &spread.percentile {
            // Unused entries of the list have the label 0.
            let percentile = text::percentile(label).filter(|percentile| *percentile > 0.0);
            if let (Some(percentile), Some(value)) = (percentile, value) {
                let value_ns = text::nanos(*value, unit_ns);
                summary.percentiles.push((percentile, value_ns));
            }
        }
        summary.percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        (Histogram::known(summary), None)
    }
}

/// The latencies in the unit of their fio version; `None` if all are zero, as with gtod_reduce.
fn timed<'a>(ns: &'a Option<Spread>, us: &'a Option<Spread>) -> Option<Timed<'a>> {
    let ns = ns.as_ref().map(|spread| (spread, 1.0));
    let us = us.as_ref().map(|spread| (spread, 1e3));
    let is_timed = |(spread, _): &Timed<'_>| spread.max.is_some_and(|longest| longest > 0.0);
    ns.filter(is_timed).or(us.filter(is_timed))
}

#[cfg(test)]
mod tests;
