//! The structured log of a mongod or mongos from 4.4 on, line by line.

use crate::calls::{Call, is_of_statements};
use crate::json::document;
use mongodb::bson::Bson;
use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, Read};

/// The longest line that is read. Lines of a server have 10 kB unless `maxLogSizeKB` is changed.
const MOST_LINE: u64 = 16 << 20;
/// `Slow query`, whatever `slowms` is.
const SLOW_QUERY: i64 = 51_803;
const TRANSACTION: i64 = 51_802;
/// The most statements of a connection that wait for the line of their command.
const MOST_WAITING: usize = 1_000;
/// The most connections whose statements wait at the same time.
const MOST_CONNECTIONS: usize = 10_000;

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// MongoDB wrote no JSON before 4.4.
    #[error(
        "this is a text log, as MongoDB writes it up to 4.2; operations are read from JSON logs of 4.4 and later: use the profiler (`db.setProfilingLevel(1, {{slowms: -1, sampleRate: 0.01}})`) and leave out the log"
    )]
    Text,
    #[error("cannot read the log: {0}")]
    Io(#[from] io::Error),
}

/// Lines from which no operation could be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// No JSON, or no line of a server.
    pub broken: u64,
    /// Operations whose command the server cut, because the line would have been longer than `maxLogSizeKB`.
    pub truncated: u64,
}

pub fn calls<R: BufRead>(mut reader: R) -> Result<Calls<R>, LogError> {
    let start = reader.fill_buf()?;
    // `2021-03-04T05:06:07.890+0000 I  COMMAND  [conn4] ...`
    let is_text = start.get(10) == Some(&b'T')
        && start.get(28) == Some(&b' ')
        && start.get(29).is_some_and(|level| b"FEWID".contains(level))
        && start.get(30) == Some(&b' ');
    if is_text {
        return Err(LogError::Text);
    }
    Ok(Calls {
        reader,
        line: Vec::new(),
        waiting: HashMap::new(),
        ready: VecDeque::new(),
        skipped: Skipped::default(),
        error: None,
        is_over: false,
    })
}

#[derive(Debug)]
pub struct Calls<R> {
    reader: R,
    line: Vec<u8>,
    /// Statements of updates and deletes, by connection: the line of their command comes after them, and has their session and concern.
    waiting: HashMap<String, Vec<Call>>,
    ready: VecDeque<Call>,
    skipped: Skipped,
    error: Option<io::Error>,
    is_over: bool,
}

impl<R: BufRead> Calls<R> {
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Why reading ended early, if it did.
    pub fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// Reads one line; false at the end.
    fn read_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        let size = self.reader.by_ref().take(MOST_LINE).read_until(b'\n', &mut self.line)?;
        if size as u64 == MOST_LINE && self.line.last() != Some(&b'\n') {
            self.line.clear();
            self.reader.skip_until(b'\n')?;
            self.skipped.broken += 1;
        }
        Ok(size > 0)
    }

    fn take_line(&mut self) {
        let line = self.line.trim_ascii();
        if line.is_empty() {
            return;
        }
        let Some(line) = document(line) else {
            self.skipped.broken += 1;
            return;
        };
        let (Some(Bson::String(connection)), Some(id)) =
            (line.get("ctx"), line.get("id").and_then(crate::form::whole))
        else {
            self.skipped.broken += 1;
            return;
        };
        let Some(attributes) =
            line.get_document("attr").ok().filter(|_| [SLOW_QUERY, TRANSACTION].contains(&id))
        else {
            return;
        };
        let at = line.get_datetime("t").ok().map_or(0, |at| at.timestamp_millis());
        if id == TRANSACTION {
            self.ready.extend(Call::of_aborted(attributes, at));
            return;
        }
        let is_cut = attributes
            .get_document("command")
            .is_ok_and(|command| command.contains_key("$truncated"));
        if line.contains_key("truncated") || is_cut {
            self.skipped.truncated += 1;
            return;
        }
        let kind = attributes.get_str("type").unwrap_or_default();
        let Some(call) = Call::of_report(attributes, kind, at) else {
            return;
        };
        let is_statement = call.command.contains_key("q");
        if is_statement {
            let is_full = self.waiting.len() >= MOST_CONNECTIONS;
            let waiting = self.waiting.entry(connection.clone()).or_default();
            waiting.push(call);
            if is_full || waiting.len() >= MOST_WAITING {
                self.ready.extend(std::mem::take(waiting));
            }
            return;
        }
        let mut waiting = self.waiting.remove(connection).unwrap_or_default();
        let is_of_them = is_of_statements(&call.command);
        let statements = waiting.len() as u64;
        for statement in waiting.iter_mut().filter(|_| is_of_them) {
            statement.statements = statements;
            statement.transaction.clone_from(&call.transaction);
            for key in ["writeConcern", "maxTimeMS", "readConcern", "$readPreference"] {
                if let Some(value) = call.command.get(key) {
                    statement.command.insert(key, value.clone());
                }
            }
        }
        self.ready.extend(waiting);
        self.ready.extend(Some(call).filter(|_| !is_of_them));
    }
}

impl<R: BufRead> Iterator for Calls<R> {
    type Item = Call;

    fn next(&mut self) -> Option<Call> {
        loop {
            if let Some(call) = self.ready.pop_front() {
                return Some(call);
            }
            if self.is_over {
                return None;
            }
            match self.read_line() {
                Ok(true) => self.take_line(),
                end => {
                    self.error = end.err();
                    self.is_over = true;
                    let waiting = std::mem::take(&mut self.waiting);
                    self.ready.extend(waiting.into_values().flatten());
                }
            }
        }
    }
}
