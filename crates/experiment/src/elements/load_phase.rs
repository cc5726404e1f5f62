//! `load_phase`: how the data is stored.

use crate::document::Checked;
use crate::elements::file::file;
use crate::elements::load::sessions_of;
use crate::origins::Origins;
use crate::table::*;
use plimsoll_plan::LoadPhase;

object! {
    /// How the data is stored.
    LOAD_PHASE load_phase: "How the data is stored before anything is measured."
    threads = SESSIONS, Default("4"), "4";
        "Sessions at once.";
}

/// Reads how the data is stored.
pub(crate) fn load_phase(map: Option<&Checked>, origins: &mut Origins<'_>) -> LoadPhase {
    let threads = origins
        .settle(file::load_phase.name, map, load_phase::threads)
        .and_then(|value| value.whole());
    LoadPhase { sessions: sessions_of(threads.unwrap_or(1)) }
}
