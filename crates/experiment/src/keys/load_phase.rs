//! `load_phase`: how the data is stored.

use crate::table::*;

object! {
    /// How the data is stored.
    LOAD_PHASE load_phase: "How the data is loaded before anything is measured."
    threads = SESSIONS, Default("4"), "4";
        "Concurrent sessions.";
}
