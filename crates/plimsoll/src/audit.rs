//! `plimsoll foreign audit`: what can be believed of results that others published.

use crate::arguments;
use crate::exit::Exit;
use crate::run::this_program;
use crate::screen::{print_drawn, print_json, screen};
use anyhow::{Context, bail};
use plimsoll_import::{
    Arm, Frame, ImportError, Logged, Measured, Options, Problem, Span, are_shared, fingerprint,
    grouped, read, record, redact_command,
};
use plimsoll_judge::{Audit, Audited, Belief, analyse};
use plimsoll_record::files::write_whole;
use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Most files to audit; a folder with more is not a folder of results.
const MOST_FILES: usize = 100_000;
const DEEPEST: usize = 64;

pub fn audit(arguments: &arguments::Audit) -> anyhow::Result<Exit> {
    let mut audit = Audit { results: Vec::new(), passed_over: 0, other_forms: BTreeMap::new() };
    let mut seen = Vec::new();
    for path in &arguments.paths {
        if path.is_dir() {
            for file in files_below(path)? {
                look_at(&file, true, &mut audit, &mut seen);
            }
        } else {
            look_at(path, false, &mut audit, &mut seen);
        }
    }
    name_copies(&mut audit, &mut seen);
    name_clients(&mut audit, &seen);
    if audit.results.is_empty() {
        bail!(
            "there is nothing to audit: no output of YCSB, YCSB-cpp, go-ycsb, HdrHistogram or fio.{}",
            audit.without_result()
        );
    }
    if let Some(file) = &arguments.page {
        let page = plimsoll_report::page::audit::page(&audit, env!("CARGO_PKG_VERSION"));
        write_whole(file, page.as_bytes())
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    if arguments.json {
        print_json(&audit)?;
    } else {
        print_drawn(&plimsoll_report::terminal::audit(&audit, &screen()))?;
    }
    let is_all = audit.count(Belief::Believable) == audit.results.len();
    Ok(match arguments.strict && !is_all {
        true => Exit::InvalidMeasurement,
        false => Exit::Good,
    })
}

/// Regular files below a folder, by their names.
fn files_below(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let all = WalkDir::new(folder).max_depth(DEEPEST).sort_by_file_name();
    for entry in all {
        let entry = entry.with_context(|| format!("cannot read {}", folder.display()))?;
        if !entry.file_type().is_file() {
            continue;
        }
        if files.len() == MOST_FILES {
            bail!(
                "{} holds more than {MOST_FILES} files: name the folders with results",
                folder.display()
            );
        }
        files.push(entry.into_path());
    }
    Ok(files)
}

/// Judges every output of a file. What was only found in a folder need not be a result.
fn look_at(path: &Path, is_found: bool, audit: &mut Audit, seen: &mut Vec<ResultIdentity>) {
    let shown = redact_command(&path.display().to_string());
    let outputs = match outputs(path, &shown) {
        Ok(outputs) => outputs,
        Err(error) if is_found && is_of_another_kind(&error.problem) => {
            audit.passed_over += 1;
            return;
        }
        Err(error) => {
            if is_found && let Some(form) = without_result(&error.problem) {
                *audit.other_forms.entry(form).or_default() += 1;
                return;
            }
            let message = error.problem.to_string();
            let message = match error.line {
                Some(line) => format!("line {line}: {message}"),
                None => message,
            };
            audit.results.push(Audited::broken(shown, message));
            return;
        }
    };
    let count = outputs.len();
    for (number, output) in outputs.into_iter().enumerate() {
        let source = match count {
            1 => shown.clone(),
            _ => format!("{shown} ({} of {count})", number + 1),
        };
        seen.push(ResultIdentity {
            place: audit.results.len(),
            folder: path.parent().map(Path::to_owned).unwrap_or_default(),
            fingerprint: fingerprint(&output),
            span: Span::of(&output),
            logged: Logged::of(&output),
        });
        audit.results.push(judged(source, output));
    }
}

/// What identifies copies and clients of one run.
struct ResultIdentity {
    place: usize,
    folder: PathBuf,
    fingerprint: Option<String>,
    span: Option<Span>,
    logged: Option<Logged>,
}

impl ResultIdentity {
    /// Whether both are logs of different times of the same operations.
    fn is_same_as(&self, other: &Self) -> bool {
        let logs = self.logged.as_ref().zip(other.logged.as_ref());
        logs.is_some_and(|(ours, theirs)| ours.is_same_as(theirs))
    }
}

/// Marks copies of a result, and removes them from `seen`.
fn name_copies(audit: &mut Audit, seen: &mut Vec<ResultIdentity>) {
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    seen.retain(|one| {
        let Some(key) = &one.fingerprint else {
            return true;
        };
        match first.get(key) {
            Some(of) => {
                let of = audit.results[*of].source.clone();
                audit.results[one.place].add("copy", format!("the same output as {of}"));
                false
            }
            None => {
                first.insert(key.clone(), one.place);
                true
            }
        }
    });
}

/// Number of other clients named in a reason.
const NAMED: usize = 3;

/// Marks results of one folder and workload that overlap in time: probably clients of one run.
fn name_clients(audit: &mut Audit, seen: &[ResultIdentity]) {
    let runs = grouped(seen, |first, one| {
        let [ours, theirs] = [first, one].map(|one| &audit.results[one.place]);
        first.folder == one.folder
            && (&ours.tool, &ours.workload) == (&theirs.tool, &theirs.workload)
            && are_shared(first.span, one.span)
    });
    for run in runs {
        // A client has one log of service times, and perhaps another one of response times.
        let mut clients: Vec<&ResultIdentity> = Vec::new();
        for one in run {
            let Some(first) = clients.iter().find(|first| first.is_same_as(one)) else {
                clients.push(one);
                continue;
            };
            for (ours, theirs) in [(first.place, one.place), (one.place, first.place)] {
                let other = file_name(&audit.results[theirs].source);
                let words = format!(
                    "{other} has other times of the same operations: import both with a `+` between them"
                );
                audit.results[ours].add("client", words);
            }
        }
        let rates = clients.iter().map(|one| audit.results[one.place].throughput);
        let together: f64 = rates.map(|rate| rate.unwrap_or(0.0)).sum();
        for one in clients.iter().filter(|_| clients.len() > 1) {
            let others = clients.iter().filter(|other| other.place != one.place);
            let names = others.map(|other| file_name(&audit.results[other.place].source));
            let mut names: Vec<String> = names.collect();
            if names.len() > NAMED {
                let more = names.len() - NAMED;
                names.truncate(NAMED);
                names.push(format!("{more} more"));
            }
            let words = format!(
                "made at the same time as {}: if they are clients of one run, it did {together:.0} op/s",
                names.join(", ")
            );
            audit.results[one.place].add("client", words);
        }
    }
}

fn file_name(source: &str) -> String {
    Path::new(source).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn outputs(path: &Path, shown: &str) -> Result<Vec<Measured>, ImportError> {
    let file = plimsoll_record::files::open(path).map_err(|error| ImportError {
        file: shown.to_owned(),
        line: None,
        problem: Problem::Read(error),
    })?;
    let reader = BufReader::with_capacity(1 << 16, file);
    read(shown, reader, &Options::default())
}

/// What a file of a known tool is that contains no result.
fn without_result(problem: &Problem) -> Option<String> {
    match problem {
        Problem::OtherForm { form, instead } => Some(format!("{form} ({instead})")),
        Problem::NoResult { format, .. } => Some(format!("{format} without a result")),
        Problem::NoOperation => Some("HdrHistogram log that names no operation".to_owned()),
        _ => None,
    }
}

/// A file that is no result of a tool that is known, and does not pretend to be one.
fn is_of_another_kind(problem: &Problem) -> bool {
    matches!(
        problem,
        Problem::Empty
            | Problem::Binary
            | Problem::UnknownFormat
            | Problem::NoOperationLog { .. }
            | Problem::LongLine { .. }
            | Problem::LargeDocument { .. }
    )
}

/// One output as a record of its own.
fn judged(source: String, output: Measured) -> Audited {
    let tool = output.tool.clone();
    let frame = Frame {
        name: "audit".into(),
        now: format!("{:.3}", jiff::Timestamp::now()),
        program: this_program(),
        ..Frame::default()
    };
    let arm = Arm { name: "published".into(), outputs: vec![output] };
    let record = match record(&frame, vec![arm]) {
        Ok(record) => record,
        Err(error) => return Audited::broken(source, error.problem.to_string()),
    };
    match analyse(&record) {
        Ok(analysis) => Audited::of(source, tool, &record, &analysis),
        Err(error) => Audited::broken(source, error.to_string()),
    }
}
