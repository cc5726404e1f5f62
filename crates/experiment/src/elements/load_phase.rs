//! `load_phase`: how the data is stored.

use crate::Collector;
use crate::document::Checked;
use crate::elements::load::sessions_of;
use crate::keys::file::file;
use crate::keys::load_phase::load_phase;
use crate::mistake::Mistake;
use crate::origins::Origins;
use plimsoll_plan::{EngineKind, LoadPhase, Plan, SettingValue};

/// Reads how the data is stored.
pub(crate) fn load_phase(map: Option<&Checked>, origins: &mut Origins<'_>) -> LoadPhase {
    let threads = origins
        .settle(file::load_phase.name, map, load_phase::threads)
        .and_then(|value| value.whole());
    let once = origins.settle(file::load_phase.name, map, load_phase::once);
    LoadPhase {
        sessions: sessions_of(threads.unwrap_or(1)),
        once: once == Some(SettingValue::Flag(true)),
    }
}

/// Refuses `once` where an arm has no data that this program could copy.
pub(crate) fn check_once(
    map: Option<&Checked>,
    plan: &Plan,
    engines: &[EngineKind],
    problems: &mut Collector<'_>,
) {
    let Some(requested) = map.and_then(|map| map.get(load_phase::once)) else {
        return;
    };
    if !plan.load_phase.once {
        return;
    }
    for arm in &plan.arms {
        if let Some(why) = plimsoll_plan::not_loaded_once(arm, engines) {
            let mistake = Mistake::NotLoadedOnce { arm: arm.name.clone(), why };
            let path = load_phase::once.under(file::load_phase.name);
            problems.add(&path, Some(requested.place), mistake);
        }
    }
}
