//! Reading the live form, also while its writer writes, or after it was killed.

use crate::error::TraceError;
use crate::head::Prefix;
use crate::map::Words;
use crate::request::{RECORD_WORDS, Request};
use crate::slot;
use crate::trace::{Mark, Trace};
use crate::writer::{
    LABEL_BYTES, MARK_BYTES, MARK_WHOLE, MARK_WORDS, MARKS_CLAIMED, REQUESTS_CLAIMED,
};
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) fn read(file: &File, prefix: Prefix, path: &Path) -> Result<Trace, TraceError> {
    let length = file.metadata().map_err(TraceError::io("read", path))?.len();
    let end = |at: u64, count: u64, bytes: usize| {
        count.checked_mul(bytes as u64).and_then(|all| all.checked_add(at))
    };
    let whole = end(prefix.marks_at, prefix.marks, MARK_BYTES) == Some(prefix.records_at)
        && end(prefix.records_at, prefix.requests, RECORD_WORDS * 8) == Some(length)
        && prefix.requests > 0;
    if !whole {
        let what = format!("its length of {length} bytes is not that of its records");
        return Err(TraceError::damaged(path, what));
    }
    let words = Words::readable(file, path)?;
    let words = words.all();

    let claimed = words[REQUESTS_CLAIMED].load(Ordering::Acquire);
    let overwritten = claimed.saturating_sub(prefix.requests);
    let mut requests = Vec::with_capacity((claimed - overwritten) as usize);
    for index in overwritten..claimed {
        let slot = (index % prefix.requests) as usize;
        let at = prefix.records_at as usize / 8 + slot * RECORD_WORDS;
        let record = slot::read(&words[at..at + RECORD_WORDS], index / prefix.requests);
        requests.extend(record.and_then(Request::unpacked));
    }
    let incomplete = claimed - overwritten - requests.len() as u64;
    requests.sort_by_key(|request| request.time_ns);

    let marks_claimed = words[MARKS_CLAIMED].load(Ordering::Acquire);
    let mut marks = Vec::new();
    for index in 0..marks_claimed.min(prefix.marks) {
        let at = prefix.marks_at as usize / 8 + index as usize * MARK_WORDS;
        marks.extend(mark(&words[at..at + MARK_WORDS]));
    }
    let marks_missing = marks_claimed - marks.len() as u64;
    marks.sort_by_key(|mark| mark.time_ns);

    Ok(Trace {
        head: prefix.head,
        requests,
        overwritten,
        incomplete,
        marks,
        marks_missing,
        maps: Vec::new(),
    })
}

fn mark(mark: &[AtomicU64]) -> Option<Mark> {
    let second = mark[1].load(Ordering::Acquire);
    if second & MARK_WHOLE == 0 {
        return None;
    }
    let length = (second & !MARK_WHOLE) as usize;
    let label: Vec<u8> = mark[2..]
        .iter()
        .flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes())
        .take(length.min(LABEL_BYTES))
        .collect();
    Some(Mark {
        time_ns: mark[0].load(Ordering::Relaxed),
        label: String::from_utf8_lossy(&label).into_owned(),
    })
}
