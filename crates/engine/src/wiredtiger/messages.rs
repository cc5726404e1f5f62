//! What WiredTiger says when something fails, and what to do about it.
//!
//! WiredTiger hands its messages to an event handler rather than returning them; the last few are kept here until an error is made of
//! a number that a call returned.

use super::KIND;
use crate::EngineError;
use plimsoll_wiredtiger_sys as wt;
use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int};
use std::sync::{Arc, Mutex};

/// Kept at most. A failure says one or two things; a broken disk can say the same for hours.
const KEPT: usize = 16;
/// In one explanation at most: after a panic each of WiredTiger's threads says its own.
const MESSAGES_SHOWN: usize = 3;

/// Receives what WiredTiger says. WiredTiger keeps its address for as long as the connection is open.
#[repr(C)]
pub(super) struct Messages {
    /// First, so that WiredTiger's pointer to the handler is a pointer to the whole.
    handler: wt::WT_EVENT_HANDLER,
    said: Mutex<AllSaid>,
}

#[derive(Default)]
struct AllSaid {
    latest: VecDeque<SessionMessage>,
    /// Whether a full disk was ever spoken of. That stops WiredTiger for good, and later calls no longer say why.
    disk_full: bool,
}

struct SessionMessage {
    /// Address of the session that it is about, for comparison alone.
    session: usize,
    text: String,
}

const NO_PANIC: &str = "nothing panics while it holds the messages";

impl Messages {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            handler: wt::WT_EVENT_HANDLER {
                handle_error: Some(keep_error),
                handle_message: Some(drop_message),
                handle_progress: Some(drop_progress),
                handle_close: Some(allow_close),
                handle_general: None,
            },
            said: Mutex::default(),
        })
    }

    /// For `wiredtiger_open`, which would write to the handler only to fill in functions that are missing.
    pub(super) fn handler(&self) -> *mut wt::WT_EVENT_HANDLER {
        // Not of the field alone: `keep_error` makes a pointer to the whole of it again.
        (&raw const *self).cast_mut().cast()
    }

    fn keep(&self, said: SessionMessage) {
        let mut all = self.said.lock().expect(NO_PANIC);
        all.disk_full |= DISK_FULL_WORDS.iter().any(|words| said.text.contains(words));
        if all.latest.len() == KEPT {
            all.latest.pop_front();
        }
        all.latest.push_back(said);
    }

    /// In words, why a call returned this number: the number's name, what was said about this session (or about any), what to do.
    /// What was said about this session is forgotten, so that a later failure is not explained by an earlier one.
    pub(super) fn explain(&self, code: Code, session: Option<usize>) -> String {
        let mut text = code.text();
        let mut seen = 0;
        let mut all = self.said.lock().expect(NO_PANIC);
        all.latest.retain(|said| {
            if session.is_some_and(|session| session != said.session) {
                return true;
            }
            if seen < MESSAGES_SHOWN && !text.contains(&said.text) {
                seen += 1;
                text.push_str("; ");
                text.push_str(&said.text);
            }
            session.is_none()
        });
        if let Some(advice) = advice(code, all.disk_full) {
            text.push_str(": ");
            text.push_str(advice);
        }
        text
    }

    pub(super) fn forget(&self) {
        self.said.lock().expect(NO_PANIC).latest.clear();
    }

    /// The error of a call on the connection or on some session.
    pub(super) fn error(&self, call: &str, code: Code) -> EngineError {
        let message = self.explain(code, None);
        EngineError::Call { engine: KIND.name.into(), call: call.into(), message }
    }
}

/// A number that WiredTiger returned and that is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code(pub(super) c_int);

impl Code {
    pub(super) const NOT_FOUND: Self = Self(wt::WT_NOTFOUND);
    pub(super) const ROLLBACK: Self = Self(wt::WT_ROLLBACK);
    pub(super) const DUPLICATE_KEY: Self = Self(wt::WT_DUPLICATE_KEY);
    pub(super) const EINVAL: Self = Self(22);

    fn text(self) -> String {
        if self.0 > 0 {
            return std::io::Error::from_raw_os_error(self.0).to_string();
        }
        // SAFETY: for numbers of its own, which are negative, WiredTiger returns static text.
        let text = unsafe { CStr::from_ptr(wt::wiredtiger_strerror(self.0)) };
        text.to_string_lossy().into_owned()
    }
}

/// What to do, where it is known. After a failure in one of WiredTiger's own threads every call returns `WT_PANIC`, so that a full disk
/// is known from what was said before.
fn advice(code: Code, disk_full: bool) -> Option<&'static str> {
    const EBUSY: c_int = 16;
    const ENOSPC: c_int = 28;
    const EDQUOT: c_int = 122;
    const EMFILE: c_int = 24;
    const ENFILE: c_int = 23;
    const ENOMEM: c_int = 12;
    const EACCES: c_int = 13;
    const EROFS: c_int = 30;
    match code.0 {
        ENOSPC | EDQUOT => Some(DISK_FULL),
        wt::WT_PANIC if disk_full => Some(DISK_FULL),
        EBUSY => Some(
            "the data directory is open in this or another process; end that first, or take another directory",
        ),
        EMFILE | ENFILE => Some("too many files are open; raise the limit with `ulimit -n`"),
        ENOMEM => Some("there is not enough memory; set a smaller cache_size"),
        EACCES | EROFS => Some("the data directory cannot be written"),
        wt::WT_CACHE_FULL => {
            Some("the cache is too small for this workload; set a larger cache_size")
        }
        wt::WT_PANIC => Some("WiredTiger has stopped; the data directory needs to be opened again"),
        wt::WT_TRY_SALVAGE => {
            Some("the files are damaged; take a new data directory and load again")
        }
        wt::WT_RUN_RECOVERY => {
            Some("the files need recovery; open the data directory again with the journal on")
        }
        _ => None,
    }
}

const DISK_FULL_WORDS: [&str; 2] = ["No space left on device", "Disk quota exceeded"];
const DISK_FULL: &str =
    "the disk is full; free some space, use another directory, or fewer records";

/// `[time][thread], file:x, WT_SESSION.create: [category][ERROR]: function, line: text` without all that comes before the text.
fn text_alone(message: &str) -> &str {
    let text = message.rsplit_once("]: ").map_or(message, |(_, text)| text);
    if let Some((place, rest)) = text.split_once(": ")
        && let Some((function, line)) = place.split_once(", ")
        && !function.contains(' ')
        && line.bytes().all(|byte| byte.is_ascii_digit())
    {
        return rest;
    }
    text
}

/// Called by WiredTiger on any thread.
unsafe extern "C" fn keep_error(
    handler: *mut wt::WT_EVENT_HANDLER,
    session: *mut wt::WT_SESSION,
    _error: c_int,
    message: *const c_char,
) -> c_int {
    // SAFETY: WiredTiger passes the handler that it was given, which is the first field of `Messages` (repr(C)) in an Arc that outlives the
    // connection; all access to what changes goes through its mutex.
    let messages = unsafe { &*handler.cast::<Messages>() };
    // SAFETY: the message is a string with an end, valid during this call.
    let message = unsafe { CStr::from_ptr(message) }.to_string_lossy();
    let mut text = text_alone(&message).trim().to_owned();
    if let Some((end, _)) = text.char_indices().nth(400) {
        text.truncate(end);
    }
    messages.keep(SessionMessage { session: session.addr(), text });
    0
}

/// Progress and notices go nowhere.
unsafe extern "C" fn drop_message(
    _: *mut wt::WT_EVENT_HANDLER,
    _: *mut wt::WT_SESSION,
    _: *const c_char,
) -> c_int {
    0
}

unsafe extern "C" fn drop_progress(
    _: *mut wt::WT_EVENT_HANDLER,
    _: *mut wt::WT_SESSION,
    _: *const c_char,
    _: u64,
) -> c_int {
    0
}

/// Called for handles that WiredTiger closes by itself.
unsafe extern "C" fn allow_close(
    _: *mut wt::WT_EVENT_HANDLER,
    _: *mut wt::WT_SESSION,
    _: *mut wt::WT_CURSOR,
) -> c_int {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_their_prefix() {
        for (message, text) in [
            (
                "[1763:17][1:0x7f], file:a.wt, WT_SESSION.create: [WT_VERB_DEFAULT][ERROR]: __config_check, 1123: unknown key 'x': Invalid argument",
                "unknown key 'x': Invalid argument",
            ),
            ("[1:2][3:4]: [WT_VERB_LOG][ERROR]: write failed, 7: no", "write failed, 7: no"),
            ("plain", "plain"),
        ] {
            assert_eq!(text_alone(message), text);
        }
    }

    #[test]
    fn failures_are_explained_with_what_was_said() {
        let messages = Messages::new();
        for number in 0..KEPT + 4 {
            messages.keep(SessionMessage { session: 1, text: format!("thing {number}.") });
        }
        messages.keep(SessionMessage { session: 2, text: "other".into() });
        let text = messages.explain(Code(wt::WT_CACHE_FULL), Some(1));
        assert!(text.starts_with("WT_CACHE_FULL"), "{text}");
        // The last is `other`, so that 5 to 19 were kept of these, and three are printed.
        assert!(text.contains("thing 5.; thing 6.; thing 7.:"), "{text}");
        assert!(text.ends_with("set a larger cache_size"), "{text}");
        assert!(!messages.explain(Code::ROLLBACK, Some(1)).contains("thing"), "explained before");
        assert!(messages.explain(Code::ROLLBACK, None).contains("other"));
        messages.forget();
        assert!(!messages.explain(Code::ROLLBACK, None).contains("other"));
    }

    #[test]
    fn a_full_disk_is_named_wherever_it_was_noticed() {
        let messages = Messages::new();
        assert!(messages.explain(Code(28), Some(1)).contains("the disk is full"));
        assert!(!messages.explain(Code(wt::WT_PANIC), Some(1)).contains("the disk is full"));
        messages.keep(SessionMessage {
            session: 7,
            text: "journal/WiredTigerLog.1: write: No space left on device".into(),
        });
        for _ in 0..2 {
            assert!(messages.explain(Code(wt::WT_PANIC), Some(1)).contains("the disk is full"));
            messages.forget();
        }
    }
}
