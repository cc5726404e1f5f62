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

/// What tells of a failure, in small letters; the last two are how a mongod marks errors and fatal errors. Servers often say more after it,
/// about their shutting down.
const ALARMS: [&str; 6] = [
    "error",
    "exception",
    "fatal",
    "panic",
    "\"s\":\"e\"",
    "\"s\":\"f\"",
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
    ALARMS.iter().any(|alarm| line.contains(alarm))
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
}
