//! Which tool wrote a file, found by looking.

use crate::error::{ImportError, Problem};
use crate::lines::Lines;
use plimsoll_record::Operation;

/// What can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The text of YCSB with or without status lines, or its JSON.
    Ycsb,
    /// The text, table or JSON of go-ycsb.
    GoYcsb,
    /// A log of HdrHistogram.
    HdrLog,
    /// The JSON of fio.
    Fio,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ycsb, Self::GoYcsb, Self::HdrLog, Self::Fio];

    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ycsb => "ycsb",
            Self::GoYcsb => "go-ycsb",
            Self::HdrLog => "hdr",
            Self::Fio => "fio",
        }
    }

    /// The tool, as its users call it.
    pub fn tool(self) -> &'static str {
        match self {
            Self::Ycsb => "YCSB",
            Self::GoYcsb => "go-ycsb",
            Self::HdrLog => "HdrHistogram log",
            Self::Fio => "fio",
        }
    }
}

/// In what a log of HdrHistogram counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Nanos,
    /// Microseconds.
    Micros,
    /// Milliseconds.
    Millis,
}

impl Unit {
    /// Nanoseconds in one.
    pub fn nanos(self) -> f64 {
        match self {
            Self::Nanos => 1.0,
            Self::Micros => 1e3,
            Self::Millis => 1e6,
        }
    }
}

/// What the user says about a file that it may not say itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Its format; `None` to find it by looking.
    pub format: Option<Format>,
    /// Of a log of HdrHistogram; `None` for what the log says of itself, otherwise microseconds.
    pub unit: Option<Unit>,
    /// Of a log of HdrHistogram without tags, or with tags that are no operations.
    pub operation: Option<Operation>,
}

/// The format of a file that begins so.
pub(crate) fn of_text(head: &str) -> Option<Format> {
    if is_ycsb_json(head) {
        return Some(Format::Ycsb);
    }
    if head.contains("\"fio version\"") {
        return Some(Format::Fio);
    }
    for line in head.lines() {
        let line = line.trim_start();
        let is_go = line.contains(" - Takes(s): ")
            || line.starts_with("***************** properties ****")
            || line.starts_with("[{") && line.contains("\"Takes(s)\"")
            || line.starts_with('|') && line.to_ascii_uppercase().contains("| TAKES(S)");
        if is_go {
            return Some(Format::GoYcsb);
        }
        let is_log = line.starts_with("#[Histogram log format version")
            || line.starts_with("\"StartTimestamp\"")
            || line.starts_with("Tag=") && line.contains(",HIST")
            || line
                .split(',')
                .nth(3)
                .is_some_and(|field| field.starts_with("HIST"));
        if is_log {
            return Some(Format::HdrLog);
        }
        let is_ycsb = line.starts_with("[OVERALL],")
            || line.starts_with("YCSB Client ")
            || line.starts_with("Command line: -")
            || line.contains(" sec: ") && line.contains(" operations;");
        if is_ycsb {
            return Some(Format::Ycsb);
        }
    }
    None
}

/// Objects of YCSB's JSON exporters.
pub(crate) fn is_ycsb_json(head: &str) -> bool {
    let start = head.trim_start();
    start.starts_with(['{', '['])
        && start.contains("\"metric\"")
        && start.contains("\"measurement\"")
}

/// What to say of a file of no format.
pub(crate) fn unknown<R: std::io::BufRead>(lines: &Lines<R>) -> ImportError {
    let head = lines.head();
    let is_text = !head.contains(['\0', char::REPLACEMENT_CHARACTER]);
    let problem = if is_text {
        Problem::UnknownFormat
    } else {
        Problem::Binary
    };
    problem.of(lines.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_by_looking() {
        for (head, format) in [
            ("[OVERALL], RunTime(ms), 1\n", Some(Format::Ycsb)),
            (
                "noise\n2026-11-21 01:20:24:034 0 sec: 0 operations; \n",
                Some(Format::Ycsb),
            ),
            (
                "{ \"metric\" : \"READ\", \"measurement\" : \"Operations\", \"value\" : 5 }",
                Some(Format::Ycsb),
            ),
            (
                "READ   - Takes(s): 1.0, Count: 5, OPS: 5.0\n",
                Some(Format::GoYcsb),
            ),
            (
                "***************** properties *****************\n",
                Some(Format::GoYcsb),
            ),
            ("+----+\n| OPERATION | TAKES(S) |\n", Some(Format::GoYcsb)),
            (
                "#[Logging for: READ]\n#[Histogram log format version 1.2]\n",
                Some(Format::HdrLog),
            ),
            ("0.1,1.0,2.7,HISTFAAAA\n", Some(Format::HdrLog)),
            (
                "fio: warning\n{\n  \"fio version\" : \"fio-3.33\"\n",
                Some(Format::Fio),
            ),
            ("hello\n", None),
            ("{}", None),
        ] {
            assert_eq!(of_text(head), format, "{head}");
        }
    }
}
