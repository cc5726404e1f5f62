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

/// The last lines of a log with something in them; empty when it said nothing.
pub(super) fn last_words(log: &Path) -> Vec<String> {
    let text = end_of(log).unwrap_or_default();
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let first = lines.len().saturating_sub(LINES);
    lines[first..].iter().map(|line| shortened(line)).collect()
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
    }
}
