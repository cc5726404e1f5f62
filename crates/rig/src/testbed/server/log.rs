//! What a server said last.

use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

const LINES: usize = 4;
/// Characters of a line that are quoted.
const LONGEST_LINE: usize = 300;
/// Bytes at the end of a log that are read.
const LOOKED_AT: u64 = 256 << 10;
/// Bytes of a log that became too long, which are kept.
const KEPT_END: u64 = 1 << 20;

/// Words that mark a failure in a line without a mark of its weight, in small letters. Servers often say more after it, about their shutting down.
const ALARMS: [&str; 4] = ["error", "exception", "fatal", "panic"];

/// How important a line is, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Failure,
    Warning,
    /// The server does not say.
    Unmarked,
    Detail,
}

/// How servers that log as JSON or in logfmt mark the weight of a line, in small letters. Where there is such a mark it counts, and not the words: an information about a setting called `errorsPerSecond` tells of no failure.
const MARKS: [(&str, Weight); 13] = [
    ("\"level\":\"error\"", Weight::Failure),
    ("\"level\":\"fatal\"", Weight::Failure),
    ("\"level\":\"info\"", Weight::Detail),
    ("\"level\":\"warn", Weight::Warning),
    ("\"level\":\"debug\"", Weight::Detail),
    ("level=error", Weight::Failure),
    ("level=fatal", Weight::Failure),
    ("level=info", Weight::Detail),
    ("level=warn", Weight::Warning),
    ("level=debug", Weight::Detail),
    ("\tinfo\t", Weight::Detail),
    ("\twarn\t", Weight::Warning),
    ("\tdebug\t", Weight::Detail),
];

/// Attributes of a line of mongod that hold the number of an error, the more telling first.
const NUMBERS: [&str; 4] = ["error", "code", "error_code", "message"];
/// Attributes that say in words what is wrong.
const WORDS: [&str; 8] =
    ["codeName", "errmsg", "reason", "msg", "error", "message", "error_str", "what"];
/// Number of other attributes that are kept.
const OTHERS: usize = 4;

pub(super) fn length(file: &File) -> u64 {
    file.metadata().map_or(0, |about| about.len())
}

/// Leaves the last MiB of a log.
pub(super) fn keep_end(mut file: &File) -> std::io::Result<()> {
    file.seek(SeekFrom::End(-(KEPT_END as i64)))?;
    let mut end = Vec::new();
    file.take(KEPT_END).read_to_end(&mut end)?;
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&end)
}

/// Whether the last line has no end: there was no room for the rest of it, or the server ended while it wrote.
pub(super) fn breaks_off(path: &Path) -> bool {
    let mut last = [b'\n'];
    let read = File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)
    });
    read.is_ok() && last != [b'\n']
}

/// What a server said last, in a few lines in their order: the first and the last failures, then warnings, then whatever else it said last. Information does not stand beside a failure. Empty when
/// it said nothing.
pub(super) fn last_words(log: &Path) -> Vec<String> {
    chosen(&end_of(log).unwrap_or_default())
}

fn chosen(text: &str) -> Vec<String> {
    let mut known = BTreeSet::new();
    let mut lines: Vec<(Weight, String)> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(read).collect();
    lines.retain(|(_, words)| known.insert(words.clone()));
    let of = |weight: Weight| {
        let places = lines.iter().enumerate();
        places.filter(move |(_, line)| line.0 == weight).map(|(place, _)| place)
    };
    let mut kept: BTreeSet<usize> = of(Weight::Failure).take(1).collect();
    let failed = !kept.is_empty();
    let rest = of(Weight::Failure).rev().chain(of(Weight::Warning).rev()).chain(
        (0..lines.len()).rev().filter(|place| !failed || lines[*place].0 == Weight::Unmarked),
    );
    for place in rest {
        if kept.len() == LINES {
            break;
        }
        kept.insert(place);
    }
    kept.into_iter().map(|place| shortened(&lines[place].1)).collect()
}

/// The weight of a line, and the line as people read it.
fn read(line: &str) -> (Weight, String) {
    if let Some(read) = of_mongod(line).or_else(|| of_old_mongod(line)) {
        return read;
    }
    let small = line.to_lowercase();
    let marks = MARKS.iter();
    let first = marks.filter_map(|(mark, weight)| Some((small.find(mark)?, *weight))).min();
    let weight = match first {
        Some((_, weight)) => weight,
        None if ALARMS.iter().any(|alarm| small.contains(alarm)) => Weight::Failure,
        None => Weight::Unmarked,
    };
    (weight, line.to_owned())
}

/// A line of a mongod, which is JSON: `error 28: WiredTiger error message: pwrite: failed to write 4096 bytes: No space left on device`.
fn of_mongod(line: &str) -> Option<(Weight, String)> {
    let read = |line: &str| serde_json::from_str::<Map<String, Value>>(line);
    let line = read(line).or_else(|_| read(&closed(line))).ok()?;
    let message = line.get("msg")?.as_str()?.trim();
    let (weight, mark) = match line.get("s")?.as_str()? {
        "F" => (Weight::Failure, "fatal error"),
        "E" => (Weight::Failure, "error"),
        // What it finds amiss about its surroundings each time it starts.
        "W" if is_of_start(&line) => (Weight::Detail, "warning"),
        "W" => (Weight::Warning, "warning"),
        _ => (Weight::Detail, ""),
    };
    let nothing = Map::new();
    let attributes = line.get("attr").and_then(Value::as_object);
    let attributes = attributes.unwrap_or(&nothing);
    let mut parts = Vec::new();
    match (mark, number(attributes)) {
        ("", _) => {}
        (mark, Some(number)) => parts.push(format!("{mark} {number}")),
        (mark, None) => parts.push(mark.to_owned()),
    }
    parts.push(message.to_owned());
    let before = parts.len();
    add_words(attributes, &mut parts);
    if parts.len() == before {
        parts.extend(others(attributes));
    }
    Some((weight, parts.join(": ")))
}

/// A line of a mongod before 4.4: time, weight, component, thread in brackets, words.
fn of_old_mongod(line: &str) -> Option<(Weight, String)> {
    let (head, words) = line.split_once("] ")?;
    let mut head = head.split_whitespace();
    let time = head.next()?;
    if !(time.starts_with(|first: char| first.is_ascii_digit()) && time.contains('T')) {
        return None;
    }
    let (weight, mark) = match head.next()? {
        "F" => (Weight::Failure, "fatal error: "),
        "E" => (Weight::Failure, "error: "),
        "W" => (Weight::Warning, "warning: "),
        // Why it ends is logged as information.
        "I" if words.starts_with("exception") => (Weight::Failure, ""),
        "I" | "D" => (Weight::Detail, ""),
        _ => return None,
    };
    head.nth(1)?.starts_with('[').then_some(())?;
    Some((weight, format!("{mark}{}", words.trim())))
}

/// Completes a line of JSON that was cut off because the disk was full: closes its strings, lists and objects.
fn closed(line: &str) -> String {
    let mut text = line.to_owned();
    let mut open = Vec::new();
    let (mut in_text, mut escaped) = (false, false);
    for character in line.chars() {
        match character {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' => in_text = !in_text,
            _ if in_text => {}
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => drop(open.pop()),
            _ => {}
        }
    }
    // A number that is cut off could be any.
    if !in_text && text.ends_with(|last: char| last.is_ascii_digit()) {
        return text;
    }
    if escaped {
        text.pop();
    }
    if in_text {
        text.push('"');
    }
    text.extend(open.iter().rev());
    text
}

fn is_of_start(line: &Map<String, Value>) -> bool {
    let tags = line.get("tags").and_then(Value::as_array);
    tags.is_some_and(|tags| tags.iter().any(|tag| tag == "startupWarnings"))
}

fn number(attributes: &Map<String, Value>) -> Option<i64> {
    NUMBERS.iter().find_map(|name| match attributes.get(*name)? {
        Value::Object(inner) => number(inner),
        value => value.as_i64(),
    })
}

fn add_words(attributes: &Map<String, Value>, into: &mut Vec<String>) {
    for name in WORDS {
        match attributes.get(name) {
            Some(Value::String(words)) => into.push(words.trim().to_owned()),
            Some(Value::Object(inner)) => add_words(inner, into),
            _ => {}
        }
    }
}

fn others(attributes: &Map<String, Value>) -> Option<String> {
    let others = attributes.iter().filter_map(|(name, value)| match value {
        Value::String(words) => Some(format!("{name} {}", words.trim())),
        Value::Number(number) => Some(format!("{name} {number}")),
        Value::Bool(flag) => Some(format!("{name} {flag}")),
        _ => None,
    });
    let others: Vec<String> = others.take(OTHERS).collect();
    (!others.is_empty()).then(|| others.join(", "))
}

fn end_of(log: &Path) -> std::io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    let left_out = length.saturating_sub(LOOKED_AT);
    file.seek(SeekFrom::Start(left_out))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // The first line is a part of one.
    Ok(match text.split_once('\n') {
        Some((_, rest)) if left_out > 0 => rest.to_owned(),
        _ => text,
    })
}

/// Without control characters, which would reach a terminal.
fn shortened(line: &str) -> String {
    let mut text = String::new();
    for (count, character) in line.chars().enumerate() {
        if count == LONGEST_LINE {
            text.push('…');
            break;
        }
        text.push(if character.is_control() { ' ' } else { character });
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
        // If only the end of a log is read, its first line is left out rather than cut in two.
        let many = format!("{}\nthe end\n", "y".repeat(LOOKED_AT as usize));
        std::fs::write(&log, many).unwrap();
        assert_eq!(last_words(&log), ["the end"]);
    }

    #[test]
    fn what_went_wrong_stands_before_much_that_only_follows_from_it() {
        let tail = "1\n2\n3\n4\n5\n";
        let failed = r#"{"level":"error","text":"no room"}"#;
        let said = chosen(&format!("An Error\n{failed}\nhello\n{tail}"));
        assert_eq!(said, ["An Error", failed, "4", "5"]);
        let said = chosen(&format!("An Error\n{tail}panic: no room\n"));
        assert_eq!(said, ["An Error", "4", "5", "panic: no room"]);
        let said = chosen(
            "level=info msg=1\nlevel=warn msg=2\nlevel=info msg=3\nlevel=info msg=4\nlevel=info msg=5\n",
        );
        let expected =
            ["level=warn msg=2", "level=info msg=3", "level=info msg=4", "level=info msg=5"];
        assert_eq!(said, expected);
    }

    #[test]
    fn lines_of_a_mongod_before_4_4_have_their_weight_behind_the_time() {
        let said = chosen(
            "2026-11-23T20:19:12.780+0000 I  CONTROL  [initandlisten] options: { net: { port: 29999 } }\n\
             2026-11-23T20:19:12.781+0000 I  STORAGE  [initandlisten] exception in initAndListen: NonExistentPath: Data directory /x not found., terminating\n\
             2026-11-23T20:19:12.811+0000 F  CONTROL  [main] Failed global initialization: BadValue: Unknown --setParameter 'nothing'\n\
             2026-11-23T20:19:12.781+0000 I  CONTROL  [initandlisten] shutting down with code:100\n",
        );
        let expected = [
            "exception in initAndListen: NonExistentPath: Data directory /x not found., terminating",
            "fatal error: Failed global initialization: BadValue: Unknown --setParameter 'nothing'",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn the_weight_that_a_server_gives_a_line_counts_and_not_its_words() {
        for (line, weight) in [
            (
                r#"{"t":{"$date":"2026"},"s":"I",  "c":"CONTROL","msg":"Options","attr":{"error":"no"}}"#,
                Weight::Detail,
            ),
            (r#"{"t":{"$date":"2026"},"s":"W","msg":"No errors so far"}"#, Weight::Warning),
            (r#"{"t":{"$date":"2026"},"s":"D1","msg":"fatal?"}"#, Weight::Detail),
            (r#"{"t":{"$date":"2026"},"s":"E","msg":"cannot"}"#, Weight::Failure),
            // A text in it may hold anything.
            (r#"{"s":"F","msg":"said","attr":{"was":"{\"s\":\"I\"}"}}"#, Weight::Failure),
            ("2026-11-22T10:00:00Z\tINFO\tlistening, errors go to stderr", Weight::Detail),
            ("2026-11-22T10:00:00Z\tERROR\tcannot listen", Weight::Failure),
            ("time=2026 level=INFO msg=\"error budget\"", Weight::Detail),
            ("time=2026 level=ERROR msg=cannot", Weight::Failure),
            ("panic: no room", Weight::Failure),
            ("bye", Weight::Unmarked),
        ] {
            assert_eq!(read(line).0, weight, "{line}");
        }
    }

    /// Lines of a mongod 6.0.5, as it wrote them.
    #[test]
    fn lines_of_a_mongod_are_spelled_as_people_read() {
        for (line, words) in [
            (
                r#"{"t":{"$date":"2026-11-23T12:42:14.904+00:00"},"s":"E",  "c":"CONTROL",  "id":20557,   "ctx":"initandlisten","msg":"DBException in initAndListen, terminating","attr":{"error":"DBPathInUse: Unable to lock the lock file: /data/mongod.lock (Resource temporarily unavailable). Another mongod instance is already running on the /data directory"}}"#,
                "error: DBException in initAndListen, terminating: DBPathInUse: Unable to lock the lock file: /data/mongod.lock (Resource temporarily unavailable). Another mongod instance is already running on the /data directory",
            ),
            // Before it is open, the storage engine speaks another way.
            (
                r#"{"t":{"$date":"2026-11-23T13:14:03.792+00:00"},"s":"E",  "c":"WT",       "id":22435,   "ctx":"initandlisten","msg":"WiredTiger error message","attr":{"error":28,"message":"[1795439643:792278][5351:0x7fe954eb13c0], wiredtiger_open: [WT_VERB_DEFAULT][ERROR]: __posix_file_write, 621: /data/WiredTiger: handle-write: pwrite: failed to write 50 bytes at offset 0: No space left on device"}}"#,
                "error 28: WiredTiger error message: [1795439643:792278][5351:0x7fe954eb13c0], wiredtiger_open: [WT_VERB_DEFAULT][ERROR]: __posix_file_write, 621: /data/WiredTiger: handle-write: pwrite: failed to write 50 bytes at offset 0: No space left on device",
            ),
            (
                r#"{"t":{"$date":"2026-11-23T13:14:03.793+00:00"},"s":"F",  "c":"STORAGE",  "id":28595,   "ctx":"initandlisten","msg":"Terminating.","attr":{"reason":"28: No space left on device"}}"#,
                "fatal error: Terminating.: 28: No space left on device",
            ),
            (
                r#"{"t":{"$date":"2026-11-23T12:42:15.044+00:00"},"s":"E",  "c":"CONTROL",  "id":20568,   "ctx":"initandlisten","msg":"Error setting up listener","attr":{"error":{"code":9001,"codeName":"SocketException","errmsg":"Address already in use"}}}"#,
                "error 9001: Error setting up listener: SocketException: Address already in use",
            ),
            (
                r#"{"t":{"$date":"2026-11-23T12:41:02.971+00:00"},"s":"F",  "c":"ASSERT",   "id":23089,   "ctx":"thread29","msg":"Fatal assertion","attr":{"msgid":50853,"file":"src/mongo/db/storage/wiredtiger/wiredtiger_util.cpp","line":712}}"#,
                "fatal error: Fatal assertion: file src/mongo/db/storage/wiredtiger/wiredtiger_util.cpp, line 712, msgid 50853",
            ),
            (
                r#"{"t":{"$date":"2026-11-23T12:41:02.971+00:00"},"s":"F",  "c":"CONTROL",  "id":6384300, "ctx":"thread29","msg":"Writing fatal message","attr":{"message":"Got signal: 6 (Aborted).\n"}}"#,
                "fatal error: Writing fatal message: Got signal: 6 (Aborted).",
            ),
            (
                r#"{"t":{"$date":"2026-11-23T12:40:59.281+00:00"},"s":"W",  "c":"CONTROL",  "id":22184,   "ctx":"initandlisten","msg":"Soft rlimits for open file descriptors too low","attr":{"currentValue":20000,"recommendedMinimum":64000},"tags":["startupWarnings"]}"#,
                "warning: Soft rlimits for open file descriptors too low: currentValue 20000, recommendedMinimum 64000",
            ),
            (
                r#"{"t":{"$date":"2026-11-23T12:42:15.044+00:00"},"s":"I",  "c":"CONTROL",  "id":23138,   "ctx":"initandlisten","msg":"Shutting down","attr":{"exitCode":48}}"#,
                "Shutting down: exitCode 48",
            ),
        ] {
            assert_eq!(read(line).1, words);
        }
    }

    /// Its log may lie on the same disk.
    #[test]
    fn a_line_that_is_cut_off_is_spelled_as_far_as_it_goes() {
        let line = r#"{"s":"E","msg":"WiredTiger error message","attr":{"error":28,"message":"at \"a\": failed to write"},"tags":["x"]}"#;
        for length in 0..line.len() {
            let words = read(&line[..length]).1;
            let is_spelled =
                ["error: WiredTiger error message", "error 28: WiredTiger error message: "]
                    .iter()
                    .any(|known| known.starts_with(&words) || words.starts_with(known));
            assert!(is_spelled || words == line[..length], "{words}");
        }
        let cut = line.find(" to write").unwrap();
        let expected = r#"error 28: WiredTiger error message: at "a": failed"#;
        assert_eq!(read(&line[..cut]).1, expected);
    }

    /// From the log of a mongod 6.0.5 whose disk was full, without most of its start and of its stack.
    #[test]
    fn a_mongod_on_a_full_disk_is_quoted_with_its_error() {
        let said = chosen(include_str!("mongod-6.0.5-disk-full.log"));
        let expected = [
            "error 28: WiredTiger error message: __posix_file_write:621:/data/collection-7--6588378149914871493.wt: handle-write: pwrite: failed to write 4096 bytes at offset 31334400: No space left on device",
            "fatal error: ***aborting after fassert() failure",
            "fatal error: Writing fatal message: Got signal: 6 (Aborted).",
            "error 28: WiredTiger error message: __posix_file_write:621:/data/index-8--6588378149914871493.wt: handle-write: pwrite: failed to write 8192 bytes at offset 16384: No space left on device",
        ];
        assert_eq!(said, expected);
    }
}
