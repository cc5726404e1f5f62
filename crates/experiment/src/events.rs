//! What is done to the servers of the arms while they are measured.

use crate::format::{FLAG, LONGEST_NS, choice, duration, object};
use crate::load::LoadPoint;
use crate::mistake::Mistake;
use crate::problems::Collector;
use crate::reader::{Checked, join};
use crate::settle::Origins;
use crate::shape::{Choice, Key, Need, Object, Shape};
use Need::{Optional, Required};
use plimsoll_plan::words::event_in_words;
use plimsoll_plan::{Arm, Measurement, PointRole};
use plimsoll_record::{Act, EventSpec, Role};
use plimsoll_schedule::Load;

/// Events of a point.
pub(crate) const MOST_EVENTS: usize = 100;
const SHORTEST_NS: u64 = 1_000_000;
const ROLE: Shape = choice(&["primary", "secondary"]);

object! {
    /// Something that is done to a server.
    EVENT: "Something that is done to the server of each arm, at each point, on purpose."
    "at" = duration(0, LONGEST_NS), Required, "30s";
        "When, counted from the beginning of the measured part of the point.";
    "step_down" = FLAG, Optional, "true";
        "The primary is asked to step down, and another member is elected. Needs a server with several members.";
    "kill" = ROLE, Optional, "primary";
        "This member is killed (SIGKILL) and started again on the data that it left: after `restart_after`, otherwise when the point is over. A \
         server that is one process is its own primary.";
    "restart_after" = duration(SHORTEST_NS, LONGEST_NS), Optional, "10s";
        "How long the killed member is gone.";
    "pause" = duration(SHORTEST_NS, LONGEST_NS), Optional, "5s";
        "A member stands still for so long (SIGSTOP, SIGCONT).";
    "member" = ROLE, Optional, "secondary";
        "Which member stands still; the primary without this key.";
    one of ["step_down", "kill", "pause"];
}

/// What events can happen on.
pub(crate) struct Stage<'a> {
    pub arms: &'a [Arm],
    pub points: &'a [LoadPoint],
    pub measurement: &'a Measurement,
}

/// Reads the events of a file, and refuses those that could not happen or could not be seen.
pub(crate) fn events(
    list: Option<&Checked>,
    stage: &Stage<'_>,
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
    if !stage.points.iter().all(is_open) {
        problems.add("events", Some(list.place), Mistake::EventsNeedOpenLoop);
    }
    if let Some(arm) = stage.arms.iter().find(|arm| arm.data.data_integrity) {
        let mistake = Mistake::EventsUnseen {
            arm: arm.name.clone(),
        };
        problems.add("events", Some(list.place), mistake);
    }
    let mut events = Vec::new();
    for (number, item) in list.items().iter().enumerate() {
        let path = format!("events[{number}]");
        let Some(event) = event(&path, item, problems) else {
            continue;
        };
        let last_ns = match event.act {
            Act::StepDown => event.at_ns,
            Act::Kill {
                restart_after_ns, ..
            } => event.at_ns + restart_after_ns.unwrap_or(0),
            Act::Pause { for_ns, .. } => event.at_ns + for_ns,
        };
        let measured_ns = stage.measurement.duration_ns;
        if last_ns >= measured_ns {
            let mistake = Mistake::EventAfterEnd {
                last_ns,
                measured_ns,
            };
            problems.add(&path, Some(item.place), mistake);
        }
        for arm in stage.arms {
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
    let at_ns = map.get("at")?.whole()?;
    let role = |key: &str| match map.get(key)?.text()? {
        "secondary" => Some(Role::Secondary),
        _ => Some(Role::Primary),
    };
    for (key, of) in [("restart_after", "kill"), ("member", "pause")] {
        if let (Some(given), None) = (map.get(key), map.get(of)) {
            problems.add(
                &join(path, key),
                Some(given.place),
                Mistake::EventKeyAlone { key, of },
            );
        }
    }
    let act = if let Some(flag) = map.get("step_down") {
        if flag.flag() == Some(false) {
            let mistake = Mistake::EventOfNothing;
            problems.add(&join(path, "step_down"), Some(flag.place), mistake);
        }
        Act::StepDown
    } else if map.get("kill").is_some() {
        Act::Kill {
            member: role("kill")?,
            restart_after_ns: map.get("restart_after").and_then(Checked::whole),
        }
    } else {
        Act::Pause {
            member: role("member").unwrap_or(Role::Primary),
            for_ns: map.get("pause")?.whole()?,
        }
    };
    Some(EventSpec { at_ns, act })
}

/// Why an event cannot happen to the server of an arm.
fn cannot_happen(event: EventSpec, arm: &Arm) -> Option<Mistake> {
    let arm_name = arm.name.clone();
    let Some(server) = &arm.rig.server else {
        return Some(Mistake::EventWithoutServer {
            arm: arm_name,
            engine: arm.engine.clone(),
        });
    };
    let needs = match event.act {
        Act::StepDown => "stepping down",
        Act::Kill {
            member: Role::Secondary,
            ..
        }
        | Act::Pause {
            member: Role::Secondary,
            ..
        } => "a secondary",
        Act::Kill { .. } | Act::Pause { .. } => return None,
    };
    (server.roles.is_none() || server.members < 2).then_some(Mistake::EventOfOneMember {
        arm: arm_name,
        needs,
    })
}
