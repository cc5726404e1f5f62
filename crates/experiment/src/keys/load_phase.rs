//! `load_phase`: how the data is stored.

use crate::table::*;

/// The word for `once` with the default of everything else.
pub(crate) const ONCE: &str = "once";
pub(crate) const LOAD_PHASE_OR_ONCE: Shape =
    Shape::Any(&[Shape::choice(&[ONCE]), Shape::Object(&LOAD_PHASE)]);

object! {
    /// How the data is stored.
    LOAD_PHASE load_phase: "How the data is loaded before anything is measured."
    threads = SESSIONS, Default("4"), "4";
        "Concurrent sessions.";
    once = FLAG, Default("false"), "true";
        "Stores the data of each arm one time, and begins every run with a copy of it: for data that takes longer to store than a run to measure. What \
         differs from load to load, such as where records lie in the files, is then in no interval. Needs an embedded engine, or a started server of one \
         member, whose caches then begin empty.";
}
