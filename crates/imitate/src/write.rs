//! The experiment file as text.

use crate::documents::{percent, rounded};
use crate::guess::guess;
use crate::model::{Observed, Source, Stored};
use crate::operations::{self, Section};
use crate::scale::scaled;
use mongodb::bson::DateTime;
use plimsoll_record::quantities::units;
use plimsoll_record::quantities::words::{bytes, grouped, list};
use plimsoll_workload::documents::{Literal, yaml_scalar};

/// Columns of a line, as far as a map can be broken.
const WIDTH: usize = 200;
/// Data of the default scale.
const USUAL_BYTES: f64 = 2e9;
/// A smaller cache serves no mongod.
const LEAST_CACHE: u64 = 64 << 20;
/// Sessions of the closed loop.
const THREADS: u32 = 16;

/// Writes the file that imitates a server. Without a scale, it is such that the data have 2 GB at most.
pub fn write(seen: &Observed, scale: Option<f64>) -> String {
    let all: f64 = seen.collections.iter().map(|stored| stored.bytes as f64).sum();
    // Rounding adds 5 % at most.
    let usual = if all > USUAL_BYTES { rounded(0.95 * USUAL_BYTES / all) } else { 1.0 };
    let scale = scale.unwrap_or(usual);
    let observed = &scaled(seen, scale);
    let mut section = operations::write(observed);
    let are_guessed = section.operations.is_empty();
    if are_guessed {
        let Section { omitted, .. } = std::mem::replace(&mut section, guess(observed));
        section.omitted.extend(omitted);
    }
    let mut out = head(observed, scale, are_guessed, &section.omitted);
    out.extend(["plimsoll: 1".into(), format!("name: {}", name(observed)), "workload:".into()]);
    out.push("  collections:".into());
    for (stored, whole) in observed.collections.iter().zip(&seen.collections) {
        collection(stored, whole.documents, &mut out);
    }
    out.push("  operations:".into());
    out.extend(section.operations.iter().map(|line| format!("    {line}")));
    out.push("  mixes:".into());
    out.push("    seen:".into());
    out.extend(section.mix.iter().map(|line| format!("      {line}")));
    rest(observed, &section, &mut out);
    out.push(String::new());
    out.join("\n")
}

fn head(observed: &Observed, scale: f64, are_guessed: bool, omitted: &[String]) -> Vec<String> {
    let server = &observed.server;
    let today = DateTime::now().try_to_rfc3339_string().unwrap_or_default();
    let today = today.split('T').next().unwrap_or_default();
    let set = match server.members {
        0 => "a standalone".to_owned(),
        members => format!("a replica set of {members}"),
    };
    let mut host = Vec::new();
    host.extend(server.processors.map(|count| format!("{count} processors")));
    host.extend(server.memory_bytes.map(|memory| format!("{} of memory", bytes(memory as f64))));
    host.extend(
        server.cache_bytes.map(|cache| format!("a cache of {}", bytes(cache as f64 / scale))),
    );
    let mut lines = vec![
        format!("Written by `plimsoll imitate` {} on {today}.", env!("CARGO_PKG_VERSION")),
        format!("It imitates the database {} of MongoDB {}, {set}{}{}.", observed.database, server.version, if host.is_empty() { "" } else { " with " }, list(&host)),
        format!("Documents, the cache and numbers of values above 100 are {} of the server's; `--scale 100%` writes all of them. Rates are the server's.", percent(scale)),
        "Lengths, numbers and shares come from samples of documents and have two significant digits. No value of the server is in this file.".into(),
    ];
    let source = match observed.source {
        _ if are_guessed => {
            "Operations are guessed from indexes and counters, because none was seen."
        }
        Source::Profile => "Operations are those that the profiler kept",
        Source::LogFile => "Operations are those of the given log",
        _ => {
            "Operations are those of the last 1,024 lines of the server's log, which has only those slower than slowms"
        }
    };
    lines.push(match are_guessed {
        true => source.into(),
        false => format!(
            "{source}: {} calls within {} s.",
            grouped(observed.calls as f64, 0),
            grouped(observed.seconds, usize::from(observed.seconds < 10.0))
        ),
    });
    let mut left: Vec<String> = observed.omitted.clone();
    let of_collections = observed.collections.iter();
    left.extend(
        of_collections
            .flat_map(|stored| stored.omitted.iter().map(|why| format!("{}, {why}", stored.name))),
    );
    left.extend(omitted.iter().cloned());
    if !left.is_empty() {
        lines.push("Left out:".into());
        lines.extend(left.into_iter().map(|why| format!("- {why}")));
    }
    lines.into_iter().map(|line| format!("# {}", plain(&line))).collect()
}

/// A text in a comment, without what ends a line or what YAML refuses.
fn plain(text: &str) -> String {
    let is_special = |letter: char| {
        letter.is_control() || "\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}".contains(letter)
    };
    text.chars().map(|letter| if is_special(letter) { ' ' } else { letter }).collect()
}

fn name(observed: &Observed) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric();
    let database = observed.database.to_ascii_lowercase();
    let database: String =
        database.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).collect();
    format!("imitation-of-{database}")
}

fn collection(stored: &Stored, documents: u64, out: &mut Vec<String>) {
    let mean = stored.bytes as f64 / stored.documents.max(1) as f64;
    let of = format!(
        "{} of {} documents were sampled, {} each on average",
        grouped(stored.sampled as f64, 0),
        units::count(rounded(documents as f64) as u64),
        bytes(mean)
    );
    out.push(with_comment(&format!("    {}:", yaml_scalar(&stored.name)), &of));
    out.push(format!("      records: {}", units::count(stored.documents)));
    out.push("      document:".into());
    for field in &stored.fields {
        if let Some(generator) = &field.generator {
            lines(&field.path, generator, 8, &field.origin, out);
        }
    }
    if !stored.indexes.is_empty() {
        out.push("      indexes:".into());
        for index in &stored.indexes {
            let uses = index.uses.map_or_else(
                || "uses unknown".into(),
                |uses| match uses {
                    0 => "never used since the server started".to_owned(),
                    uses => format!("used {} times", units::count(rounded(uses as f64) as u64)),
                },
            );
            out.push(with_comment(&format!("        - {}", index.spec), &uses));
        }
    }
    for (key, value) in &stored.settings {
        lines(key, value, 6, "", out);
    }
}

/// A key with its value: on one line, or as a block where that would be too long.
fn lines(key: &str, value: &Literal, indent: usize, comment: &str, out: &mut Vec<String>) {
    let key = yaml_scalar(key);
    let line = format!("{:indent$}{key}: {}", "", value);
    let is_short = line.chars().count() <= WIDTH;
    if is_short || value.entries().is_empty() {
        if line.chars().count() + comment.chars().count() > WIDTH && !comment.is_empty() {
            out.push(format!("{:indent$}# {}", "", plain(comment)));
            out.push(line);
        } else {
            out.push(with_comment(&line, comment));
        }
        return;
    }
    out.push(with_comment(&format!("{:indent$}{key}:", ""), comment));
    for (key, value) in value.entries() {
        lines(key, value, indent + 2, "", out);
    }
}

fn with_comment(line: &str, comment: &str) -> String {
    if comment.is_empty() { line.into() } else { format!("{line} # {}", plain(comment)) }
}

fn rest(observed: &Observed, section: &Section, out: &mut Vec<String>) {
    out.extend(["defaults:".into(), "  engine: mongodb".into()]);
    if let Some(cache) = observed.server.cache_bytes {
        let line = format!("  cache_size: {}MiB", cache.max(LEAST_CACHE) >> 20);
        let is_raised = cache < LEAST_CACHE;
        let why = if is_raised { "the scaled cache would be too small for a server" } else { "" };
        out.push(with_comment(&line, why));
    }
    if section.reads_from_secondaries {
        out.push(with_comment("  server: {members: 3}", "operations read from secondaries"));
    } else if section.needs_replica_set || observed.server.members > 0 {
        let line = "  server: {replica_set: true}";
        out.push(with_comment(line, "one member; `server: {members: 3}` starts three"));
    }
    out.extend(["arms:".into(), "  as-it-is: {}".into(), "load:".into()]);
    let counted: f64 = observed.server.rates.iter().map(|(_, rate)| rate).sum();
    let logged = observed.calls as f64 / observed.seconds.max(1.0);
    // A log may be of another time. It has all operations only where slowms is -1.
    let is_logged = observed.source == Source::LogFile && logged > counted;
    let (rate, of) = match is_logged {
        true => (logged, "calls per second of the log; the server counted fewer now"),
        false => (counted, "operations per second that the server counted"),
    };
    if rate >= 1.0 {
        out.push(format!("  open: {{rates: [{}]}} # {of}", rounded(rate)));
        out.push(format!("  # closed: {{threads: [{THREADS}]}} # as fast as it goes"));
    } else {
        out.push(format!("  closed: {{threads: [{THREADS}]}} # the server counted less than one operation per second"));
    }
    out.push("measurement: {warm_up: 30s, duration: 1m, blocks: 7}".into());
}
