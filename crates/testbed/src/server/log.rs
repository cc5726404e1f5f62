//! What a server said last.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Lines that are quoted.
const LINES: usize = 4;
/// Characters of a line that are quoted.
const LONGEST_LINE: usize = 300;
/// The end of a log that is looked at, bytes.
const LOOKED_AT: u64 = 64 << 10;

/// What tells of a failure in a line without a mark of its weight, in small letters. Servers often say more after it, about their shutting down.
const ALARMS: [&str; 4] = ["error", "exception", "fatal", "panic"];

/// How servers mark the weight of a line, in small letters, and whether it is that of a failure: mongod, and those that log as JSON or in logfmt.
/// Where there is such a mark it counts, and not the words: `"s":"I"` with a setting called `errorsPerSecond` tells of no failure.
const WEIGHTS: [(&str, bool); 18] = [
    ("\"s\":\"e\"", true),
    ("\"s\":\"f\"", true),
    ("\"s\":\"i\"", false),
    ("\"s\":\"w\"", false),
    ("\"s\":\"d", false),
    ("\"level\":\"error\"", true),
    ("\"level\":\"fatal\"", true),
    ("\"level\":\"info\"", false),
    ("\"level\":\"warn", false),
    ("\"level\":\"debug\"", false),
    ("level=error", true),
    ("level=fatal", true),
    ("level=info", false),
    ("level=warn", false),
    ("level=debug", false),
    ("\tinfo\t", false),
    ("\twarn\t", false),
    ("\tdebug\t", false),
];

/// The last lines of a log with something in them, and before them the last one that tells of a failure, if there is none among them; empty
/// when it said nothing.
pub(super) fn last_words(log: &Path) -> Vec<String> {
    let text = end_of(log).unwrap_or_default();
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let first = lines.len().saturating_sub(LINES);
    let (before, last) = lines.split_at(first);
    let alarm = if last.iter().any(|line| is_alarm(line)) {
        None
    } else {
        before.iter().rev().find(|line| is_alarm(line))
    };
    let quoted = alarm.into_iter().chain(last);
    quoted.map(|line| shortened(line)).collect()
}

fn is_alarm(line: &str) -> bool {
    let line = line.to_lowercase();
    let first = WEIGHTS
        .iter()
        .filter_map(|(mark, fails)| Some((line.find(mark)?, *fails)))
        .min();
    match first {
        Some((_, fails)) => fails,
        None => ALARMS.iter().any(|alarm| line.contains(alarm)),
    }
}

fn end_of(log: &Path) -> std::io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOOKED_AT)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Without control characters, which would reach a terminal.
fn shortened(line: &str) -> String {
    let mut text = String::new();
    for (count, character) in line.chars().enumerate() {
        if count == LONGEST_LINE {
            text.push('…');
            break;
        }
        text.push(if character.is_control() {
            ' '
        } else {
            character
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_quoted_without_what_would_harm_a_terminal() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        assert!(last_words(&log).is_empty(), "there is none");
        let long = "x".repeat(LONGEST_LINE + 1);
        std::fs::write(&log, format!("1\n2\n\n3\n4\u{1b}[31m\n{long}\n \n")).unwrap();
        let cut = format!("{}…", "x".repeat(LONGEST_LINE));
        assert_eq!(last_words(&log), ["2", "3", "4 [31m", cut.as_str()]);
        // What went wrong stands before much that only follows from it.
        let tail = "bye\nbye\nbye\nbye\n";
        let failed = r#"{"s":"E","msg":"no room"}"#;
        std::fs::write(&log, format!("An Error\n{failed}\nhello\n{tail}")).unwrap();
        assert_eq!(last_words(&log), [failed, "bye", "bye", "bye", "bye"]);
        std::fs::write(&log, format!("An Error\n{tail}panic: no room\n")).unwrap();
        assert_eq!(last_words(&log), ["bye", "bye", "bye", "panic: no room"]);
    }
    #[test]
    fn the_weight_that_a_server_gives_a_line_counts_and_not_its_words() {
        for (line, fails) in [
            (
                r#"{"t":{"$date":"2026"},"s":"I",  "c":"CONTROL","msg":"Options","attr":{"error":"no"}}"#,
                false,
            ),
            (
                r#"{"t":{"$date":"2026"},"s":"W","msg":"No errors so far"}"#,
                false,
            ),
            (r#"{"t":{"$date":"2026"},"s":"D1","msg":"fatal?"}"#, false),
            (r#"{"t":{"$date":"2026"},"s":"E","msg":"cannot"}"#, true),
            // A text in it may hold anything.
            (
                r#"{"s":"F","msg":"said","attr":{"was":"{\"s\":\"I\"}"}}"#,
                true,
            ),
            (
                "2026-11-22T10:00:00Z\tINFO\tlistening, errors go to stderr",
                false,
            ),
            ("2026-11-22T10:00:00Z\tERROR\tcannot listen", true),
            ("time=2026 level=INFO msg=\"error budget\"", false),
            ("time=2026 level=ERROR msg=cannot", true),
            ("panic: no room", true),
            ("bye", false),
        ] {
            assert_eq!(is_alarm(line), fails, "{line}");
        }
    }
}
