//! The text that YCSB prints: what comes before, status lines, and the final report, standard output and error mixed or not.
//!
//! One file may hold several outputs one after the other. Each begins with its command line, or with a further `[OVERALL]` where there is
//! none. Lines that are none of YCSB's are passed over: bindings and loggers print what they like.

mod report;
mod status;

use crate::error::{ImportError, Problem};
use crate::lines::Lines;
use crate::measured::Measured;
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
    /// Whether anything of it was read.
    begun: bool,
}

pub(crate) fn read<R: BufRead>(lines: &mut Lines<R>) -> Result<Vec<Measured>, ImportError> {
    let file = lines.name().to_owned();
    let mut sections = vec![Section::default()];
    let mut complete = true;
    while let Some(text) = lines.next(Format::Ycsb)? {
        let last = sections.len() - 1;
        if let Some(command) = text.strip_prefix("Command line:") {
            let command = command.trim().to_owned();
            if sections[last].report.is_begun() || !sections[last].status_lines.is_empty() {
                crate::check_outputs(sections.len(), &file, lines.number())?;
                sections.push(Section::default());
            }
            let section = sections.last_mut().expect("there is always one");
            command_line::read(&command, &mut section.measured);
            section.begun = true;
            continue;
        }
        if text.starts_with("YCSB Client ") {
            sections[last].measured.version = Some(plimsoll_record::redact::redact_command(text));
            sections[last].begun = true;
            continue;
        }
        let triple = report::triple(text)
            .map(|[group, name, value]| [group.to_owned(), name.to_owned(), value.to_owned()]);
        let is_bracket = text.starts_with('[');
        let number_of = |lines: &Lines<R>| lines.number();
        match triple {
            Some([group, name, value]) => {
                let number = number_of(lines);
                if group == "OVERALL" && sections[last].report.has(&group, &name) {
                    crate::check_outputs(sections.len(), &file, number)?;
                    sections.push(Section::default());
                }
                let section = sections.last_mut().expect("there is always one");
                section.report.take(&group, &name, &value, &file, number)?;
                section.begun = true;
                complete = true;
            }
            None => {
                let line = status::parse(text);
                complete = line.is_some() || !is_bracket;
                let number = number_of(lines);
                if let Some(line) = line {
                    sections[last].status_lines.take(line, &file, number)?;
                    sections[last].begun = true;
                }
            }
        }
    }
    let cut_off = !complete && !lines.is_whole();
    finish(sections, cut_off, &file)
}

/// The objects of YCSB's JSON exporters: one after the other, or all in one array.
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
            crate::check_outputs(sections.len(), &file, number)?;
            sections.push(Section::default());
        }
        let section = sections.last_mut().expect("there is always one");
        section.begun = true;
        section
            .report
            .take(&entry.metric, &entry.measurement, &value, &file, number)?;
    }
    finish(sections, cut_off, &file)
}

fn finish(sections: Vec<Section>, cut_off: bool, file: &str) -> Result<Vec<Measured>, ImportError> {
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

impl Section {
    /// What was measured, or `None` where there is no number.
    fn finish(self, cut_off: bool) -> Option<Measured> {
        let Self {
            mut measured,
            status_lines,
            report,
            ..
        } = self;
        measured.tool = Format::Ycsb.tool().to_owned();
        if cut_off {
            measured
                .damage
                .push("the file ends in the middle of a line".to_owned());
        }
        let is_intended = measured
            .properties
            .get("measurement.interval")
            .is_some_and(|interval| interval == "intended");
        let begun = report.is_begun();
        report.state(&mut measured, is_intended);
        let (slices, length_ns) = status_lines.slices(is_intended);
        if measured.stated.is_none() {
            let why = if begun {
                "the final report does not say how long it took and how much was done"
            } else {
                "there is no final report: the output was cut off, or the run was ended"
            };
            measured.damage.push(format!(
                "{why}; what is here comes from the status lines alone"
            ));
            measured.measured_ns = length_ns;
        }
        measured.slices = slices;
        let is_something = measured.stated.is_some() || !measured.slices.is_empty();
        (is_something && measured.measured_ns > 0).then_some(measured)
    }
}

#[cfg(test)]
mod tests;
