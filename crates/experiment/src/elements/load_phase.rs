//! `load_phase`: how the data is stored.

use crate::Collector;
use crate::document::Checked;
use crate::elements::load::sessions_of;
use crate::keys::file::file;
use crate::keys::load_phase::{ONCE, load_phase};
use crate::mistake::Mistake;
use crate::origins::Origins;
use plimsoll_plan::{EngineKind, LoadPhase, Plan, SettingValue};

/// Reads how the data is stored.
pub(crate) fn load_phase(map: Option<&Checked>, origins: &mut Origins<'_>) -> LoadPhase {
    let threads = origins
        .settle(file::load_phase.name, map, load_phase::threads)
        .and_then(|value| value.whole());
    let word = map.filter(|written| written.text() == Some(ONCE));
    let once = if let Some(word) = word {
        let path = load_phase::once.under(file::load_phase.name);
        origins.add_file(&path, "true".to_owned(), word.place);
        true
    } else {
        let once = origins.settle(file::load_phase.name, map, load_phase::once);
        once == Some(SettingValue::Flag(true))
    };
    LoadPhase { sessions: sessions_of(threads.unwrap_or(1)), once }
}

/// Refuses `once` where an arm has no data that this program could copy.
pub(crate) fn check_once(
    map: Option<&Checked>,
    plan: &Plan,
    engines: &[EngineKind],
    problems: &mut Collector<'_>,
) {
    let Some(requested) = map.map(|map| map.get(load_phase::once).unwrap_or(map)) else {
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
