use crate::arguments;
use crate::exit::Exit;
use crate::screen::{print, print_json};
use anyhow::Context;
use plimsoll_record::files::write_whole_by;
use plimsoll_record::quantities::units;
use plimsoll_trace::{Kind, Place, Request, Resolver, Trace, csv, iolog_v3};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

/// Files in the summary; the CSV has them all.
const FILES: usize = 20;

/// What is in a trace.
#[derive(Debug, Serialize)]
struct Summary {
    requests: usize,
    overwritten: u64,
    incomplete: u64,
    span_ns: u64,
    marks: usize,
    kinds: Vec<Total>,
    /// By bytes, the most first.
    files: Vec<Total>,
}

/// Requests of one kind, or to one file.
#[derive(Debug, Default, Serialize)]
struct Total {
    name: String,
    /// Requests of this kind, or requests that touch this file.
    requests: u64,
    bytes: u64,
    mean_latency_ns: f64,
}

/// `plimsoll disk trace`: a summary, and the requests for other programs.
pub fn trace(arguments: &arguments::Trace) -> anyhow::Result<Exit> {
    let trace = Trace::open(&arguments.file)?;
    let resolver = Resolver::new(trace.maps());
    if let Some(file) = &arguments.iolog {
        write(file, |out| iolog_v3(&trace, out))?;
    }
    if let Some(file) = &arguments.csv {
        write(file, |out| csv(&trace, &resolver, out))?;
    }
    let summary = summary(&trace, &resolver);
    if arguments.json {
        print_json(&summary)?;
    } else {
        print(describe(&summary))?;
    }
    Ok(Exit::Good)
}

/// Writes a file as a whole or not at all.
fn write(
    file: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> anyhow::Result<()> {
    write_whole_by(file, content).with_context(|| format!("cannot write {}", file.display()))
}

/// Sums of one group of requests.
#[derive(Default)]
struct Sum {
    requests: u64,
    bytes: u64,
    latency_ns: u128,
}

impl Sum {
    fn add(&mut self, request: &Request, bytes: u64) {
        self.requests += 1;
        self.bytes += bytes;
        self.latency_ns += u128::from(request.latency_ns);
    }

    fn total(self, name: &str) -> Total {
        Total {
            name: name.to_owned(),
            requests: self.requests,
            bytes: self.bytes,
            mean_latency_ns: self.latency_ns as f64 / self.requests.max(1) as f64,
        }
    }
}

fn summary(trace: &Trace, resolver: &Resolver<'_>) -> Summary {
    let requests = trace.requests();
    let mut kinds: BTreeMap<Kind, Sum> = BTreeMap::new();
    let mut files: BTreeMap<&str, Sum> = BTreeMap::new();
    for request in requests {
        let bytes = u64::from(request.length);
        kinds.entry(request.kind).or_default().add(request, bytes);
        if !matches!(request.kind, Kind::Read | Kind::Write) {
            continue;
        }
        let mut parts: BTreeMap<&str, u64> = BTreeMap::new();
        for piece in resolver.resolve(request.time_ns, request.offset, bytes) {
            let place = match piece.place {
                Place::File { path, .. } => path,
                Place::Metadata => "(the filesystem's own)",
                Place::Unknown => "(unknown)",
            };
            *parts.entry(place).or_default() += piece.length;
        }
        for (place, bytes) in parts {
            files.entry(place).or_default().add(request, bytes);
        }
    }
    let mut files: Vec<Total> = files.into_iter().map(|(name, sum)| sum.total(name)).collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.bytes));
    let span_ns = match (requests.first(), requests.last()) {
        (Some(first), Some(last)) => last.time_ns - first.time_ns,
        _ => 0,
    };
    Summary {
        requests: requests.len(),
        overwritten: trace.overwritten(),
        incomplete: trace.incomplete(),
        span_ns,
        marks: trace.marks().len(),
        kinds: kinds.into_iter().map(|(kind, sum)| sum.total(kind.name())).collect(),
        files,
    }
}

fn describe(summary: &Summary) -> String {
    let mut out = format!(
        "{} requests in {}",
        summary.requests,
        units::duration(summary.span_ns / 1_000_000 * 1_000_000)
    );
    if summary.overwritten > 0 {
        out.push_str(&format!("; {} earlier ones made room for them", summary.overwritten));
    }
    if summary.incomplete > 0 {
        out.push_str(&format!("; {} are not whole", summary.incomplete));
    }
    out.push_str("\n\n");
    rows(&mut out, "kind", &summary.kinds);
    if !summary.files.is_empty() {
        out.push('\n');
        rows(&mut out, "file", &summary.files[..summary.files.len().min(FILES)]);
    }
    if summary.files.len() > FILES {
        out.push_str(&format!(
            "and {} more files, in the output of --csv\n",
            summary.files.len() - FILES
        ));
    }
    out
}

fn rows(out: &mut String, title: &str, totals: &[Total]) {
    let width =
        totals.iter().map(|total| total.name.chars().count()).max().unwrap_or(0).max(title.len());
    out.push_str(&format!(
        "{title:<width$}  {:>12}  {:>10}  {:>14}\n",
        "requests", "MB", "mean latency"
    ));
    for total in totals {
        out.push_str(&format!(
            "{:<width$}  {:>12}  {:>10.1}  {:>11.3} ms\n",
            total.name,
            total.requests,
            total.bytes as f64 / 1e6,
            total.mean_latency_ns / 1e6
        ));
    }
}
