//! Connections, sessions and cursors of the C library, with its rules kept by their owners.
//!
//! Every method is a thin call. Numbers other than 0 become a [`Code`]; the owner decides what they mean.

use super::messages::{Code, Messages};
use crate::EngineError;
use plimsoll_wiredtiger_sys as wt;
use std::ffi::{CStr, CString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{NonNull, null, null_mut};
use std::sync::Arc;

/// Calls a method of a WiredTiger object with that object. To be used within `unsafe`.
macro_rules! call {
    ($object:expr, $method:ident $(, $argument:expr)*) => {{
        let object = $object.as_ptr();
        let method = (*object).$method.expect("WiredTiger fills in every method");
        method(object $(, $argument)*)
    }};
}

#[inline]
fn check(code: c_int) -> Result<(), Code> {
    if code == 0 { Ok(()) } else { Err(Code(code)) }
}

/// Bytes for WiredTiger, which reads `data` and `size` alone.
#[inline]
fn item(bytes: &[u8]) -> wt::WT_ITEM {
    wt::WT_ITEM {
        data: bytes.as_ptr().cast(),
        size: bytes.len(),
        mem: null_mut(),
        memsize: 0,
        flags: 0,
    }
}

/// The version of the library, such as `11.3.1`.
pub(super) fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: WiredTiger writes the three numbers and keeps no pointer.
    unsafe { wt::wiredtiger_version(&raw mut major, &raw mut minor, &raw mut patch) };
    format!("{major}.{minor}.{patch}")
}

pub(super) struct Connection {
    raw: NonNull<wt::WT_CONNECTION>,
    /// Not in a `Box`, which would promise that there are no other pointers to them.
    messages: Arc<Messages>,
    open: bool,
}

// SAFETY: a WT_CONNECTION may be used by any number of threads at once (WiredTiger's documentation, "Multithreading").
unsafe impl Send for Connection {}
// SAFETY: as above; the messages are behind a mutex.
unsafe impl Sync for Connection {}

impl Connection {
    /// Opens the database in an existing directory.
    pub(super) fn open(directory: &Path, configuration: &str) -> Result<Self, EngineError> {
        let messages = Messages::new();
        let directory = CString::new(directory.as_os_str().as_bytes())
            .map_err(|_| messages.error("wiredtiger_open", Code::EINVAL))?;
        let configuration =
            CString::new(configuration).expect("configurations are checked for NUL bytes");
        let mut raw = null_mut();
        // SAFETY: both texts end with NUL and are copied; the handler is dropped after the connection is closed.
        let code = unsafe {
            wt::wiredtiger_open(
                directory.as_ptr(),
                messages.handler(),
                configuration.as_ptr(),
                &mut raw,
            )
        };
        check(code).map_err(|code| messages.error("wiredtiger_open", code))?;
        let raw = NonNull::new(raw).expect("WiredTiger returned success");
        messages.forget();
        Ok(Self { raw, messages, open: true })
    }

    pub(super) fn messages(&self) -> &Messages {
        &self.messages
    }

    /// A new session, for one thread at a time.
    pub(super) fn session(self: &Arc<Self>) -> Result<RawSession, EngineError> {
        let mut raw = null_mut();
        // SAFETY: the connection is open for as long as `self` lives; the returned session keeps it alive.
        let code = unsafe {
            call!(self.raw, open_session, null_mut(), c"isolation=snapshot".as_ptr(), &mut raw)
        };
        check(code).map_err(|code| self.messages.error("WT_CONNECTION.open_session", code))?;
        let raw = NonNull::new(raw).expect("WiredTiger returned success");
        Ok(RawSession { raw, connection: Arc::clone(self) })
    }

    /// Writes everything and closes. Sessions borrow the connection, so none is left.
    pub(super) fn close(mut self) -> Result<(), EngineError> {
        self.open = false;
        // SAFETY: all sessions hold an Arc of the connection, so none is left when it is owned; it is not used again.
        let code = unsafe { call!(self.raw, close, null()) };
        check(code).map_err(|code| self.messages.error("WT_CONNECTION.close", code))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.open {
            // SAFETY: as in `close`. An error has nowhere to go; callers who want it call `close`.
            let _ = unsafe { call!(self.raw, close, null()) };
        }
    }
}

/// A session of a connection. Its cursors must be closed before it.
pub(super) struct RawSession {
    raw: NonNull<wt::WT_SESSION>,
    connection: Arc<Connection>,
}

// SAFETY: a WT_SESSION may be handed from thread to thread as long as one uses it at a time; it is not Sync.
unsafe impl Send for RawSession {}

impl RawSession {
    pub(super) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// What it takes to tell apart the messages about this session.
    pub(super) fn address(&self) -> usize {
        self.raw.addr().get()
    }

    pub(super) fn error(&self, call: &str, code: Code) -> EngineError {
        self.connection.messages.error(call, code)
    }

    /// Makes a table unless it exists.
    pub(super) fn create(&self, uri: &CStr, configuration: &str) -> Result<(), EngineError> {
        let configuration =
            CString::new(configuration).expect("configurations are checked for NUL bytes");
        // SAFETY: the session is open; both texts end with NUL and are copied.
        let code = unsafe { call!(self.raw, create, uri.as_ptr(), configuration.as_ptr()) };
        check(code).map_err(|code| {
            self.error(&format!("WT_SESSION.create of {}", uri.to_string_lossy()), code)
        })
    }

    /// Opens a cursor.
    ///
    /// # Safety
    /// The cursor must be dropped before the session, and be used by the thread that uses the session.
    pub(super) unsafe fn cursor(
        &self,
        uri: &CStr,
        configuration: Option<&CStr>,
    ) -> Result<Cursor, EngineError> {
        let configuration: *const c_char = configuration.map_or(null(), CStr::as_ptr);
        let mut raw = null_mut();
        // SAFETY: the session is open; the texts end with NUL and are copied.
        let code = unsafe {
            call!(self.raw, open_cursor, uri.as_ptr(), null_mut(), configuration, &mut raw)
        };
        check(code).map_err(|code| {
            self.error(&format!("WT_SESSION.open_cursor of {}", uri.to_string_lossy()), code)
        })?;
        Ok(Cursor { raw: NonNull::new(raw).expect("WiredTiger returned success") })
    }

    #[inline]
    pub(super) fn begin(&self) -> Result<(), Code> {
        // SAFETY: the session is open.
        check(unsafe { call!(self.raw, begin_transaction, null()) })
    }

    /// Commits, or rolls back where it cannot. Resets all cursors of the session.
    #[inline]
    pub(super) fn commit(&self) -> Result<(), Code> {
        // SAFETY: the session is open.
        check(unsafe { call!(self.raw, commit_transaction, null()) })
    }

    /// Resets all cursors of the session.
    pub(super) fn roll_back(&self) -> Result<(), Code> {
        // SAFETY: the session is open.
        check(unsafe { call!(self.raw, rollback_transaction, null()) })
    }

    pub(super) fn checkpoint(&self) -> Result<(), EngineError> {
        // SAFETY: the session is open.
        let code = unsafe { call!(self.raw, checkpoint, null()) };
        check(code).map_err(|code| self.error("WT_SESSION.checkpoint", code))
    }

    /// Returns when all that was committed before is in the journal on disk.
    pub(super) fn flush_log(&self) -> Result<(), Code> {
        // SAFETY: the session is open; the text ends with NUL.
        check(unsafe { call!(self.raw, log_flush, c"sync=on".as_ptr()) })
    }
}

impl Drop for RawSession {
    fn drop(&mut self) {
        // SAFETY: the session is open and not used again, its cursors are closed. Rolls back what is not committed.
        let _ = unsafe { call!(self.raw, close, null()) };
    }
}

/// A position in a table. Closed when dropped, which must be before its session.
pub(super) struct Cursor {
    raw: NonNull<wt::WT_CURSOR>,
}

// SAFETY: the owner moves it together with its session, see `RawSession::cursor`.
unsafe impl Send for Cursor {}

/// SAFETY of all calls below: the cursor is open, because only its drop closes it and its session outlives it. `set_key` and `set_value` keep
/// the pointer without copying; each is followed by its operation within the same method, while the bytes are borrowed.
impl Cursor {
    /// For calls of the bench, which wants nothing around them.
    pub(super) fn as_ptr(&self) -> *mut wt::WT_CURSOR {
        self.raw.as_ptr()
    }

    /// Finds a key of bytes.
    #[inline]
    pub(super) fn search_bytes(&mut self, key: &[u8]) -> Result<(), Code> {
        let key = item(key);
        // SAFETY: see the impl; the table's key format is `u`, which takes a pointer to a WT_ITEM.
        unsafe {
            call!(self.raw, set_key, &raw const key);
            check(call!(self.raw, search))
        }
    }

    /// Finds a key of bytes or a neighbour: negative is smaller, positive larger.
    pub(super) fn search_near_bytes(&mut self, key: &[u8]) -> Result<i32, Code> {
        let key = item(key);
        let mut exact = 0;
        // SAFETY: as in `search_bytes`.
        unsafe {
            call!(self.raw, set_key, &raw const key);
            check(call!(self.raw, search_near, &mut exact))?;
        }
        Ok(exact)
    }

    #[inline]
    pub(super) fn search_record_id(&mut self, record_id: i64) -> Result<(), Code> {
        // SAFETY: see the impl; the table's key format is `q`, which takes an int64_t.
        unsafe {
            call!(self.raw, set_key, record_id);
            check(call!(self.raw, search))
        }
    }

    /// Finds a statistic by its number.
    pub(super) fn search_statistic(&mut self, number: u32) -> Result<i64, Code> {
        let (mut name, mut text, mut value): (*const c_char, *const c_char, i64) =
            (null(), null(), 0);
        // SAFETY: see the impl; the formats of a statistics cursor are `i` and `SSq`, which take an int, two pointers to strings and one
        // to an int64_t.
        unsafe {
            call!(self.raw, set_key, number as c_int);
            check(call!(self.raw, search))?;
            check(call!(self.raw, get_value, &raw mut name, &raw mut text, &raw mut value))?;
        }
        Ok(value)
    }

    /// The record id at the position.
    pub(super) fn record_id(&self) -> Result<i64, Code> {
        let mut record_id = 0_i64;
        // SAFETY: see the impl; the table's key format is `q`.
        check(unsafe { call!(self.raw, get_key, &raw mut record_id) })?;
        Ok(record_id)
    }

    /// The value at the position. The borrow ends before the cursor moves.
    #[inline]
    pub(super) fn value(&self) -> Result<&[u8], Code> {
        let mut value = item(&[]);
        // SAFETY: see the impl; the value format is `u`.
        check(unsafe { call!(self.raw, get_value, &raw mut value) })?;
        if value.size == 0 {
            return Ok(&[]);
        }
        // SAFETY: WiredTiger's bytes are valid until the cursor's next operation, and all operations borrow the cursor mutably.
        Ok(unsafe { std::slice::from_raw_parts(value.data.cast(), value.size) })
    }

    pub(super) fn next(&mut self) -> Result<(), Code> {
        // SAFETY: see the impl.
        check(unsafe { call!(self.raw, next) })
    }

    pub(super) fn previous(&mut self) -> Result<(), Code> {
        // SAFETY: see the impl.
        check(unsafe { call!(self.raw, prev) })
    }

    /// Gives up the position, so that its page can be evicted.
    #[inline]
    pub(super) fn reset(&mut self) -> Result<(), Code> {
        // SAFETY: see the impl.
        check(unsafe { call!(self.raw, reset) })
    }

    pub(super) fn insert_bytes(&mut self, key: &[u8], value: &[u8]) -> Result<(), Code> {
        let (key, value) = (item(key), item(value));
        // SAFETY: see the impl; both formats are `u`.
        unsafe {
            call!(self.raw, set_key, &raw const key);
            call!(self.raw, set_value, &raw const value);
            check(call!(self.raw, insert))
        }
    }

    pub(super) fn insert_record(&mut self, record_id: i64, value: &[u8]) -> Result<(), Code> {
        let value = item(value);
        // SAFETY: see the impl; the formats are `q` and `u`.
        unsafe {
            call!(self.raw, set_key, record_id);
            call!(self.raw, set_value, &raw const value);
            check(call!(self.raw, insert))
        }
    }

    /// Replaces the value at the position.
    pub(super) fn update(&mut self, value: &[u8]) -> Result<(), Code> {
        let value = item(value);
        // SAFETY: see the impl; the value format is `u`.
        unsafe {
            call!(self.raw, set_value, &raw const value);
            check(call!(self.raw, update))
        }
    }

    /// Replaces pieces of the value at the position.
    pub(super) fn modify(&mut self, pieces: &mut Pieces<'_>) -> Result<(), Code> {
        // SAFETY: see the impl; the pieces point to bytes that their lifetime keeps borrowed, and WiredTiger copies them.
        check(unsafe {
            call!(self.raw, modify, pieces.entries.as_mut_ptr(), pieces.count as c_int)
        })
    }

    /// Removes what is at the position.
    pub(super) fn remove(&mut self) -> Result<(), Code> {
        // SAFETY: see the impl.
        check(unsafe { call!(self.raw, remove) })
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        // SAFETY: the cursor is open and not used again; its session is still open, as its opener has promised.
        let _ = unsafe { call!(self.raw, close) };
    }
}

/// Most pieces that mongod hands to one `WT_CURSOR.modify` (`kMaxEntries` in its wiredtiger_record_store.cpp).
pub(super) const MOST_PIECES: usize = 16;

/// Pieces of a value to be replaced by others of the same length.
pub(super) struct Pieces<'a> {
    entries: [wt::WT_MODIFY; MOST_PIECES],
    count: usize,
    bytes: std::marker::PhantomData<&'a [u8]>,
}

impl<'a> Pieces<'a> {
    pub(super) fn new() -> Self {
        let nothing = wt::WT_MODIFY { data: item(&[]), offset: 0, size: 0 };
        Self { entries: [nothing; MOST_PIECES], count: 0, bytes: std::marker::PhantomData }
    }

    /// Adds a piece; `false` without room.
    pub(super) fn add(&mut self, offset: usize, bytes: &'a [u8]) -> bool {
        let Some(entry) = self.entries.get_mut(self.count) else {
            return false;
        };
        *entry = wt::WT_MODIFY { data: item(bytes), offset, size: bytes.len() };
        self.count += 1;
        true
    }
}
