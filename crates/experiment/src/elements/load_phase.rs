//! `load_phase`: how the data is stored.

use crate::document::Checked;
use crate::elements::load::sessions_of;
use crate::keys::file::file;
use crate::keys::load_phase::load_phase;
use crate::origins::Origins;
use plimsoll_plan::LoadPhase;

/// Reads how the data is stored.
pub(crate) fn load_phase(map: Option<&Checked>, origins: &mut Origins<'_>) -> LoadPhase {
    let threads = origins
        .settle(file::load_phase.name, map, load_phase::threads)
        .and_then(|value| value.whole());
    LoadPhase { sessions: sessions_of(threads.unwrap_or(1)) }
}
