//! `events`: what is done to the servers and disks of the arms while they are measured.

use crate::document::{Checked, SourceText};
use crate::elements::load::LoadPoint;
use crate::keys::events::{
    MOST_EVENTS, SECONDARY, SECTOR_512, disk_errors, disk_event, event, power_cut,
};
use crate::keys::file::{EACH_EVENT, file};
use crate::mistake::Mistake;
use crate::origins::Origins;
use crate::table::*;
use crate::{Collector, Problems, Reader};
use plimsoll_plan::words::event_in_words;
use plimsoll_plan::{Arm, Measurement, PointRole};
use plimsoll_record::{Act, DiskChoice, DiskFault, DiskSpec, EventSpec, PowerCutSpec, Role};
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
            Act::StepDown | Act::PowerCut(PowerCutSpec { every_ns: None, .. }) => event.at_ns,
            Act::PowerCut(PowerCutSpec { every_ns: Some(every_ns), .. }) => event.at_ns + every_ns,
            Act::Kill { restart_after_ns, .. } => event.at_ns + restart_after_ns.unwrap_or(0),
            Act::Pause { for_ns, .. } | Act::Disk { for_ns, .. } => event.at_ns + for_ns,
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
        overlaps(&path, item, event, &events, problems);
        origins.add_file(&path, event_in_words(event), item.place);
        events.push(event);
    }
    let mut cuts = list.items().iter().zip(&events).filter(|(_, event)| event.is_power_cut());
    if let (Some(_), Some((second, _))) = (cuts.next(), cuts.next()) {
        problems.add(PATH, Some(second.place), Mistake::PowerCutsTwice);
    }
    events.sort_by_key(|event| event.at_ns);
    events
}

/// The timeline of a disk alone from text, as on a command line: a list as `events` of an experiment file, in which every event is of the disk.
pub fn timeline_by_text(text: &str, disk: &DiskSpec) -> Result<Vec<EventSpec>, Problems> {
    let source = SourceText::new(text);
    let mut problems = Collector::new(&source);
    let mut events = Vec::new();
    if let Some(node) = crate::document::read(text, &mut problems) {
        let shape = Shape::list(&EACH_EVENT, 1, MOST_EVENTS);
        let list = Reader::new(&mut problems).read("", &shape, &node);
        for (number, item) in list.items().iter().enumerate() {
            let path = format!("[{number}]");
            let Some(event) = event(&path, item, &mut problems) else {
                continue;
            };
            let mistake = match event.of_disk() {
                None => Some(Mistake::EventOfNoDisk),
                Some((_, _, fault)) => unfit(fault, disk, || "this disk".to_owned()),
            };
            if let Some(mistake) = mistake {
                problems.add(&path, Some(item.place), mistake);
            }
            overlaps(&path, item, event, &events, &mut problems);
            events.push(event);
        }
    }
    match problems.is_empty() {
        true => Ok(events),
        false => Err(problems.finish("the timeline")),
    }
}

/// Refuses an event of a disk that begins or ends during one before it in the list.
fn overlaps(
    path: &str,
    item: &Checked,
    event: EventSpec,
    before: &[EventSpec],
    problems: &mut Collector<'_>,
) {
    let Some((at_ns, until_ns, _)) = event.of_disk() else {
        return;
    };
    for (other_ns, end_ns, _) in before.iter().filter_map(EventSpec::of_disk) {
        let [first, second] = match other_ns <= at_ns {
            true => [(other_ns, end_ns), (at_ns, until_ns)],
            false => [(at_ns, until_ns), (other_ns, end_ns)],
        };
        if second.0 < first.1 {
            let ((first_ns, until_ns), second_ns) = (first, second.0);
            let mistake = Mistake::EventsOverlap { first_ns, until_ns, second_ns };
            return problems.add(path, Some(item.place), mistake);
        }
    }
}

fn event(path: &str, map: &Checked, problems: &mut Collector<'_>) -> Option<EventSpec> {
    let at_ns = map.get(event::at)?.whole()?;
    let role = |key: &Key| match map.get(key)?.text()? {
        SECONDARY => Some(Role::Secondary),
        _ => Some(Role::Primary),
    };
    for (key, of) in [
        (event::restart_after, event::kill),
        (event::member, event::pause),
        (event::lasts, event::disk),
    ] {
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
    } else if let Some(disk) = map.get(event::disk) {
        disk_act(path, map, disk, problems)?
    } else if let Some(cut) = map.get(event::power_cut) {
        let is_small = cut.get(power_cut::sector).and_then(Checked::text) == Some(SECTOR_512);
        Act::PowerCut(PowerCutSpec {
            seed: cut.get(power_cut::seed).and_then(Checked::whole).unwrap_or(1),
            sector_bytes: if is_small { 512 } else { 4096 },
            every_ns: cut.get(power_cut::every).and_then(Checked::whole),
        })
    } else {
        Act::Pause {
            member: role(event::member).unwrap_or(Role::Primary),
            for_ns: map.get(event::pause)?.whole()?,
        }
    };
    Some(EventSpec { at_ns, act })
}

fn disk_act(
    path: &str,
    map: &Checked,
    disk: &Checked,
    problems: &mut Collector<'_>,
) -> Option<Act> {
    let lasts = map.get(event::lasts);
    if let Some(stall) = disk.get(disk_event::stall) {
        if let Some(lasts) = lasts {
            let mistake = Mistake::Exclusive {
                first: disk_event::stall.name.into(),
                second: event::lasts.name.into(),
            };
            problems.add(&event::lasts.under(path), Some(lasts.place), mistake);
        }
        return Some(Act::Disk { for_ns: stall.whole()?, fault: DiskFault::Stall });
    }
    let fault = if let Some(latency) = disk.get(disk_event::latency) {
        DiskFault::Latency { ns: latency.whole()? }
    } else if let Some(errors) = disk.get(disk_event::errors) {
        let share = |key| errors.get(key).map_or(Some(0.0), Checked::number);
        let [read, write, flush] = [disk_errors::read, disk_errors::write, disk_errors::flush];
        let (read, write, flush) = (share(read)?, share(write)?, share(flush)?);
        if !errors.fields().is_empty() && read + write + flush == 0.0 {
            let path = disk_event::errors.under(&event::disk.under(path));
            problems.add(&path, Some(errors.place), Mistake::EventOfNothing);
        }
        DiskFault::Errors { read, write, flush }
    } else {
        disk.get(disk_event::throttle)?.text()?;
        DiskFault::NoCredits
    };
    let Some(lasts) = lasts else {
        let (key, example) = (event::lasts.name, event::lasts.example);
        problems.add(path, Some(map.place), Mistake::MissingKey { key, example });
        return None;
    };
    Some(Act::Disk { for_ns: lasts.whole()?, fault })
}

/// Why a disk cannot behave like this.
fn unfit(fault: DiskFault, disk: &DiskSpec, name: impl FnOnce() -> String) -> Option<Mistake> {
    (fault == DiskFault::NoCredits && disk.burst.is_none())
        .then(|| Mistake::EventWithoutCredits { disk: name() })
}

/// Why an event cannot happen to the server or the disk of an arm.
fn cannot_happen(event: EventSpec, arm: &Arm) -> Option<Mistake> {
    let arm_name = arm.name.clone();
    if let Some((_, _, fault)) = event.of_disk() {
        return match &arm.rig.disk {
            Some(DiskChoice::Emulated { spec }) => {
                unfit(fault, spec, || format!("the disk of arm {arm_name}"))
            }
            _ => Some(Mistake::EventWithoutDisk { arm: arm_name }),
        };
    }
    if let Act::PowerCut(PowerCutSpec { every_ns, .. }) = event.act {
        let has_disk = matches!(arm.rig.disk, Some(DiskChoice::Emulated { .. }));
        return match (has_disk, every_ns, &arm.rig.server) {
            (false, _, _) => Some(Mistake::EventWithoutDisk { arm: arm_name }),
            (true, Some(_), None) => Some(Mistake::PowerCutsWithoutServer { arm: arm_name }),
            (true, _, _) => None,
        };
    }
    let Some(server) = &arm.rig.server else {
        return Some(Mistake::EventWithoutServer { arm: arm_name, engine: arm.engine.clone() });
    };
    let needs = match event.act {
        Act::StepDown => "stepping down",
        Act::Kill { member: Role::Secondary, .. } | Act::Pause { member: Role::Secondary, .. } => {
            "a secondary"
        }
        Act::Kill { .. } | Act::Pause { .. } | Act::Disk { .. } | Act::PowerCut(_) => return None,
    };
    (server.roles.is_none() || server.members < 2)
        .then_some(Mistake::EventOfOneMember { arm: arm_name, needs })
}
