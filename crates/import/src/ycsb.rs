//! The text that YCSB prints: what comes before, status lines, and the final report, standard output and error mixed or not.
//!
//! One file may hold several outputs one after the other. Each begins with its command line, or with a further `[OVERALL]` where there is
//! none. Lines that are not YCSB's are skipped: bindings and loggers print what they like.

mod report;
mod status;

use crate::error::{ImportError, Problem, quoted};
use crate::lines::Lines;
use crate::measured::{self, Measured};
use crate::{Format, command_line};
use report::Report;
use serde::Deserialize;
use status::StatusLines;
use std::io::BufRead;

/// One output, as far as it was read.
#[derive(Default)]
struct Section {
    measured: Measured,
    status_lines: StatusLines,
    report: Report,
    /// Whether its `Command line:` was read.
    commanded: bool,
    /// Client threads that gave up.
    gave_up: u64,
    /// Whether anything of it was read.
    begun: bool,
}

/// Largest number of line breaks within one status line.
const MOST_BREAKS: usize = 20;
/// YCSB prints this when a client thread gives up.
const GIVES_UP: &str = "not retrying any more";

/// The outputs of a file, in order.
struct Sections<'a> {
    all: Vec<Section>,
    file: &'a str,
    /// Whether the last line with a bracket was complete.
    complete: bool,
}

pub(crate) fn read<R: BufRead>(lines: &mut Lines<R>) -> Result<Vec<Measured>, ImportError> {
    let file = lines.name().to_owned();
    let mut sections = Sections { all: vec![Section::default()], file: &file, complete: true };
    // A status line that may continue on the next line, its number of breaks, and its line number.
    let mut held: Option<(String, usize, u64)> = None;
    while let Some(text) = lines.next(Format::Ycsb)? {
        let text = text.trim_start().to_owned();
        match held.take() {
            Some((mut begin, breaks, number)) if breaks < MOST_BREAKS && goes_on(&begin, &text) => {
                status::join(&mut begin, &text);
                held = Some((begin, breaks + 1, number));
                continue;
            }
            Some((begin, _, number)) => sections.take(&begin, number)?,
            None => {}
        }
        let number = lines.number();
        match status::parse(&text) {
            Some(_) => held = Some((text, 0, number)),
            None => sections.take(&text, number)?,
        }
    }
    if let Some((begin, _, number)) = held {
        sections.take(&begin, number)?;
        sections.complete = !status::is_open(&begin);
    }
    let cut_off = !sections.complete && !lines.is_whole();
    finish(sections.all, cut_off, &file)
}

/// Whether `text` continues the status line `begin`.
fn goes_on(begin: &str, text: &str) -> bool {
    let is_known = report::triple(text).is_some()
        || status::parse(text).is_some()
        || text.starts_with("Command line:")
        || text.starts_with("YCSB Client ");
    !is_known && (status::is_open(begin) || status::is_figures(text))
}

/// From the command line of Java: the options after the class of the client, and the version in the class path.
fn of_java(text: &str) -> Option<(&str, Option<&str>)> {
    let class = ["site.ycsb.Client ", "com.yahoo.ycsb.Client "];
    let (before, options) = class.iter().find_map(|class| text.split_once(class))?;
    if !before.split_whitespace().next()?.ends_with("java") {
        return None;
    }
    let version = before.split("/core-").nth(1);
    let version = version.and_then(|rest| rest.split(".jar").next());
    let version =
        version.filter(|version| version.starts_with(|letter: char| letter.is_ascii_digit()));
    Some((options, version))
}

impl Sections<'_> {
    fn last(&mut self) -> &mut Section {
        self.all.last_mut().expect("there is always one")
    }

    /// The section of a line with which outputs start: a new one if the last one already has results.
    fn beginning(&mut self, is_repeated: bool, number: u64) -> Result<&mut Section, ImportError> {
        let last = self.last();
        if is_repeated || last.report.is_begun() || !last.status_lines.is_empty() {
            self.next(number)?;
        }
        self.last().begun = true;
        Ok(self.last())
    }

    fn next(&mut self, number: u64) -> Result<(), ImportError> {
        measured::check_outputs(self.all.len(), self.file, number)?;
        self.all.push(Section::default());
        Ok(())
    }

    fn take(&mut self, text: &str, number: u64) -> Result<(), ImportError> {
        if let Some(command) = text.strip_prefix("Command line:") {
            let is_repeated = self.last().commanded;
            let section = self.beginning(is_repeated, number)?;
            command_line::read(command.trim(), &mut section.measured);
            section.commanded = true;
        } else if let Some((options, version)) = of_java(text) {
            let is_repeated = self.last().commanded;
            let section = self.beginning(is_repeated, number)?;
            command_line::read(options.trim(), &mut section.measured);
            if let Some(version) = version {
                section.measured.version = Some(format!("YCSB Client {}", quoted(version)));
            }
        } else if text.starts_with("YCSB Client ") {
            let section = self.beginning(false, number)?;
            section.measured.version = Some(plimsoll_record::redact::redact_command(text));
        } else if let Some([group, name, value]) = report::triple(text) {
            let last = self.last();
            if group == "OVERALL" && last.report.has(group, name) {
                self.next(number)?;
            }
            let file = self.file;
            let section = self.last();
            section.report.take(group, name, value, file, number)?;
            section.begun = true;
            self.complete = true;
        } else if let Some(line) = status::parse(text) {
            self.complete = true;
            let last = self.last();
            if last.status_lines.begins_anew(&line) {
                self.next(number)?;
            }
            let file = self.file;
            let section = self.last();
            section.status_lines.take(line, file, number)?;
            section.begun = true;
        } else {
            self.complete = !text.starts_with('[');
            let gives_up = u64::from(text.contains(GIVES_UP));
            self.last().gave_up += gives_up;
        }
        Ok(())
    }
}

/// The objects of YCSB's JSON exporters: in sequence, or all in one array.
pub(crate) fn read_json<R: BufRead>(lines: &mut Lines<R>) -> Result<Vec<Measured>, ImportError> {
    #[derive(Deserialize)]
    struct Entry {
        metric: String,
        measurement: String,
        value: serde_json::Value,
    }
    let file = lines.name().to_owned();
    let document = lines.document()?;
    let text = document.trim_ascii();
    let bad = |error: serde_json::Error| Problem::BadJson(error.to_string()).of(&file);
    let mut entries: Vec<Entry> = Vec::new();
    let mut cut_off = false;
    if text.starts_with(b"[") {
        entries = serde_json::from_slice(text).map_err(bad)?;
    } else {
        for entry in serde_json::Deserializer::from_slice(text).into_iter() {
            match entry {
                Ok(entry) => entries.push(entry),
                // A file that was cut off is read up to there.
                Err(error) if error.is_eof() && !entries.is_empty() => cut_off = true,
                Err(error) => return Err(bad(error)),
            }
        }
    }
    let mut sections = vec![Section::default()];
    for (number, entry) in (1..).zip(entries) {
        let last = sections.len() - 1;
        let value = match &entry.value {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if entry.metric == "OVERALL" && sections[last].report.has("OVERALL", &entry.measurement) {
            measured::check_outputs(sections.len(), &file, number)?;
            sections.push(Section::default());
        }
        let section = sections.last_mut().expect("there is always one");
        section.begun = true;
        section.report.take(&entry.metric, &entry.measurement, &value, &file, number)?;
    }
    finish(sections, cut_off, &file)
}

fn finish(
    mut sections: Vec<Section>,
    cut_off: bool,
    file: &str,
) -> Result<Vec<Measured>, ImportError> {
    reunite(&mut sections);
    let count = sections.len();
    let mut all = Vec::with_capacity(count);
    for (place, section) in sections.into_iter().enumerate() {
        if !section.begun {
            continue;
        }
        if let Some(measured) = section.finish(cut_off && place + 1 == count) {
            all.push(measured);
        }
    }
    if all.is_empty() {
        let expected = "there is neither a line that begins with [OVERALL] nor two status lines; \
            import standard output and standard error of a run that came to its end";
        let format = Format::Ycsb;
        return Err(Problem::NoResult { format, expected }.of(file));
    }
    Ok(all)
}

/// Merges a section that has only the standard error of a run (command line, status lines) into the preceding section, if that has only a report of as many operations.
fn reunite(sections: &mut [Section]) {
    // Two equal runs look alike in any order, unless the file starts with a report and ends without one.
    let is_report = |section: &Section| section.report.is_begun() && !section.commanded;
    let is_shifted = sections.first().is_some_and(is_report)
        && sections.last().is_some_and(|last| !last.report.is_begun());
    for place in 1..sections.len() {
        let (before, after) = sections.split_at_mut(place);
        let (report, said) = (&mut before[place - 1], &mut after[0]);
        let is_alone = report.report.is_begun() && report.status_lines.is_empty();
        let fits = |done: Option<u64>| match (said.status_lines.done(), done) {
            (Some(seen), Some(done)) => seen.abs_diff(done) <= 1 + done / 1_000,
            (None, Some(_)) => !said.report.is_begun(),
            _ => false,
        };
        if !is_alone || report.commanded || !said.commanded || !fits(report.report.done()) {
            continue;
        }
        if said.report.is_begun() && fits(said.report.done()) && !is_shifted {
            continue;
        }
        let version = report.measured.version.take();
        report.measured = std::mem::take(&mut said.measured);
        report.measured.version = report.measured.version.take().or(version);
        report.status_lines = std::mem::take(&mut said.status_lines);
        report.gave_up += std::mem::take(&mut said.gave_up);
        said.commanded = false;
        said.begun = said.report.is_begun();
    }
}

impl Section {
    /// What was measured, or `None` where there is no number.
    fn finish(self, cut_off: bool) -> Option<Measured> {
        let Self { mut measured, status_lines, report, gave_up, .. } = self;
        measured.tool = Format::Ycsb.tool().to_owned();
        if cut_off {
            measured.damage.push("the file ends in the middle of a line".to_owned());
        }
        let is_intended = measured
            .properties
            .get("measurement.interval")
            .is_some_and(|interval| interval == "intended");
        let begun = report.is_begun();
        let missing = report.state(&mut measured, is_intended, gave_up);
        measured.began_ms = status_lines.began_ms();
        let (slices, length_ns) = status_lines.slices(is_intended, &missing);
        match status_lines.broken() {
            0 => {}
            1 => measured
                .remarks
                .push("one status line is broken, and some of its times are left out".into()),
            lines => measured.remarks.push(format!(
                "{lines} status lines are broken, and some of their times are left out"
            )),
        }
        if measured.stated.is_none() {
            let why = if begun {
                "the final report does not say how long it took and how much was done"
            } else {
                "there is no final report: the output was cut off, or the run was ended"
            };
            measured.damage.push(format!("{why}; what is here comes from the status lines alone"));
            measured.measured_ns = length_ns;
        }
        measured.slices = slices;
        let is_something = measured.stated.is_some() || !measured.slices.is_empty();
        (is_something && measured.measured_ns > 0).then_some(measured)
    }
}

#[cfg(test)]
mod tests;
