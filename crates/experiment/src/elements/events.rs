//! `events`: what is done to the servers of the arms while they are measured.

use crate::Collector;
use crate::document::Checked;
use crate::elements::load::LoadPoint;
use crate::keys::events::{SECONDARY, event};
use crate::keys::file::file;
use crate::mistake::Mistake;
use crate::origins::Origins;
use crate::table::*;
use plimsoll_plan::words::event_in_words;
use plimsoll_plan::{Arm, Measurement, PointRole};
use plimsoll_record::{Act, EventSpec, Role};
use plimsoll_workload::schedule::Load;

const PATH: &str = file::events.name;

pub(crate) struct EventScope<'a> {
    pub arms: &'a [Arm],
    pub points: &'a [LoadPoint],
    pub measurement: &'a Measurement,
}

/// Reads the events of a file, and refuses those that could not happen or could not be seen.
pub(crate) fn events(
    list: Option<&Checked>,
    scope: &EventScope<'_>,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Vec<EventSpec> {
    let Some(list) = list else {
        return Vec::new();
    };
    let is_open = |point: &LoadPoint| {
        let is_closed = matches!(point.load, Load::Closed { .. });
        !is_closed && point.role != PointRole::Line
    };
    if !scope.points.iter().all(is_open) {
        problems.add(PATH, Some(list.place), Mistake::EventsNeedOpenLoop);
    }
    if let Some(arm) = scope.arms.iter().find(|arm| arm.data.data_integrity) {
        let mistake = Mistake::EventsUnseen { arm: arm.name.clone() };
        problems.add(PATH, Some(list.place), mistake);
    }
    let mut events = Vec::new();
    for (number, item) in list.items().iter().enumerate() {
        let path = format!("{PATH}[{number}]");
        let Some(event) = event(&path, item, problems) else {
            continue;
        };
        let last_ns = match event.act {
            Act::StepDown => event.at_ns,
            Act::Kill { restart_after_ns, .. } => event.at_ns + restart_after_ns.unwrap_or(0),
            Act::Pause { for_ns, .. } => event.at_ns + for_ns,
        };
        let measured_ns = scope.measurement.duration_ns;
        if last_ns >= measured_ns {
            let mistake = Mistake::EventAfterEnd { last_ns, measured_ns };
            problems.add(&path, Some(item.place), mistake);
        }
        for arm in scope.arms {
            if let Some(mistake) = cannot_happen(event, arm) {
                problems.add(&path, Some(item.place), mistake);
                break;
            }
        }
        origins.add_file(&path, event_in_words(event), item.place);
        events.push(event);
    }
    events.sort_by_key(|event| event.at_ns);
    events
}

fn event(path: &str, map: &Checked, problems: &mut Collector<'_>) -> Option<EventSpec> {
    let at_ns = map.get(event::at)?.whole()?;
    let role = |key: &Key| match map.get(key)?.text()? {
        SECONDARY => Some(Role::Secondary),
        _ => Some(Role::Primary),
    };
    for (key, of) in [(event::restart_after, event::kill), (event::member, event::pause)] {
        if let (Some(given), None) = (map.get(key), map.get(of)) {
            let mistake = Mistake::EventKeyAlone { key: key.name, of: of.name };
            problems.add(&key.under(path), Some(given.place), mistake);
        }
    }
    let act = if let Some(flag) = map.get(event::step_down) {
        if flag.flag() == Some(false) {
            let mistake = Mistake::EventOfNothing;
            problems.add(&event::step_down.under(path), Some(flag.place), mistake);
        }
        Act::StepDown
    } else if map.get(event::kill).is_some() {
        Act::Kill {
            member: role(event::kill)?,
            restart_after_ns: map.get(event::restart_after).and_then(Checked::whole),
        }
    } else {
        Act::Pause {
            member: role(event::member).unwrap_or(Role::Primary),
            for_ns: map.get(event::pause)?.whole()?,
        }
    };
    Some(EventSpec { at_ns, act })
}

/// Why an event cannot happen to the server of an arm.
fn cannot_happen(event: EventSpec, arm: &Arm) -> Option<Mistake> {
    let arm_name = arm.name.clone();
    let Some(server) = &arm.rig.server else {
        return Some(Mistake::EventWithoutServer { arm: arm_name, engine: arm.engine.clone() });
    };
    let needs = match event.act {
        Act::StepDown => "stepping down",
        Act::Kill { member: Role::Secondary, .. } | Act::Pause { member: Role::Secondary, .. } => {
            "a secondary"
        }
        Act::Kill { .. } | Act::Pause { .. } => return None,
    };
    (server.roles.is_none() || server.members < 2)
        .then_some(Mistake::EventOfOneMember { arm: arm_name, needs })
}
