//! What the workers of a run need of the rig below them.

use plimsoll_record::{EventRecord, EventSpec};
use plimsoll_rig::{Disturb, Disturbed, RigError};

/// What the rig below a worker does for it.
pub(crate) trait Below {
    /// Puts the process where it belongs.
    fn admit(&self, process: u32) -> Result<(), RigError>;
    /// Whether all is still there.
    fn is_sound(&self) -> bool;
    /// Gives the emulated disk its limits or takes them away, and marks its trace.
    fn shape(&self, shaped: bool, mark: &str) -> Result<(), RigError>;
    /// Looks where the files lie, which lie still.
    fn map(&self) -> Result<(), RigError>;
    /// Limits the memory to what is taken now and the page cache that was requested.
    fn size_memory(&self) -> Result<(), RigError>;
    /// Empties the page cache of the data.
    fn drop_page_cache(&self) -> Result<(), RigError>;
    /// Does something to a member of the server.
    fn disturb(&self, what: Disturb) -> Result<Disturbed, RigError>;
    /// Gives the emulated disk those of these events that are its own; their times count from `start_ns` of the rig's monotonic clock. Returns what happened
    /// of the events before.
    fn timeline(&self, events: &[EventSpec], start_ns: u64) -> Result<Vec<EventRecord>, RigError>;
    /// Brings all members of the server back.
    fn heal(&self) -> Result<(), RigError>;
}
