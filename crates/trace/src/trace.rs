use crate::error::TraceError;
use crate::extents::ExtentMap;
use crate::head::{Form, Head, Prefix};
use crate::live;
use crate::request::Request;
use crate::stored;
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::Path;

const HEAD_LIMIT: u64 = 1 << 20;

/// A moment with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub time_ns: u64,
    /// Such as `block 0, arm san, point 3 measuring`.
    pub label: String,
}

/// A trace that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    pub(crate) head: Head,
    pub(crate) requests: Vec<Request>,
    pub(crate) overwritten: u64,
    pub(crate) incomplete: u64,
    pub(crate) marks: Vec<Mark>,
    pub(crate) marks_missing: u64,
    pub(crate) maps: Vec<ExtentMap>,
}

impl Trace {
    /// Reads a trace, also one whose writer was killed or still writes: then it is what was whole at this moment.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let file = plimsoll_record::files::open(path).map_err(TraceError::io("open", path))?;
        let mut beginning = Vec::new();
        (&file)
            .take(HEAD_LIMIT)
            .read_to_end(&mut beginning)
            .map_err(TraceError::io("read", path))?;
        let prefix = Prefix::decoded(&beginning, path)?;
        match prefix.form {
            Form::Live => live::read(&file, prefix, path),
            Form::Stored => stored::read(file, prefix, path),
        }
    }

    /// The disk and the begin of the trace.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// In order of the time of their arrival.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Requests before those that are held, which made room for them.
    pub fn overwritten(&self) -> u64 {
        self.overwritten
    }

    /// Requests among the last ones whose records are not whole: half-written when the writer ended, or given up because a thread was held up
    /// for a whole round through the file.
    pub fn incomplete(&self) -> u64 {
        self.incomplete
    }

    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Marks that found no room, or are not whole.
    pub fn marks_missing(&self) -> u64 {
        self.marks_missing
    }

    /// Where the files were, in order of time; none in a trace that was not yet [finished](crate::finish).
    pub fn maps(&self) -> &[ExtentMap] {
        &self.maps
    }
}
