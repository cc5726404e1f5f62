//! Makes the points of a run from the load that was read.

use crate::format::{CLOSED, LOAD_PHASE, MOST_POINTS, OPEN, STAGE, STAGES};
use crate::mistake::Mistake;
use crate::problems::Collector;
use crate::reader::{Checked, join};
use crate::settle::Origins;
use crate::shape::Object;
use crate::source::Place;
use crate::{LoadAt, LoadPhase, Measurement, SettingValue, units};
use plimsoll_schedule::{Arrivals, Load, MOST_ARRIVALS, Stage};

/// The loads at which every mix is measured.
#[derive(Default)]
pub(crate) struct Loads {
    pub loads: Vec<Load>,
    /// Whether all of it was understood.
    pub complete: bool,
    /// For stages, how long they last together.
    pub stages_ns: Option<u64>,
}

/// Reads the part of the file about the load.
pub(crate) fn loads(
    load: &Checked,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Loads {
    let mut loads = Loads {
        loads: Vec::new(),
        complete: false,
        stages_ns: None,
    };
    let Some(field) = load.fields().first() else {
        return loads;
    };
    let (path, map) = (join("load", &field.key), &field.checked);
    match field.key.as_str() {
        "closed" => closed(&path, map, origins, problems, &mut loads.loads),
        "open" => open(&path, map, origins, problems, &mut loads.loads),
        _ => {
            if let Some((load, total_ns)) = stages(&path, map, origins) {
                loads.loads.push(load);
                loads.stages_ns = Some(total_ns);
            }
        }
    }
    let listed = ["threads", "rates"]
        .iter()
        .find_map(|key| map.get(key))
        .map_or(1, |list| list.items().len());
    loads.complete = listed == loads.loads.len();
    for load in &loads.loads {
        for problem in load.check() {
            problems.add(
                &path,
                Some(field.key_place),
                Mistake::Load {
                    what: problem.wrong.to_string(),
                },
            );
        }
    }
    loads
}

fn closed(
    path: &str,
    map: &Checked,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
    loads: &mut Vec<Load>,
) {
    let Some(threads) = map.get("threads") else {
        return;
    };
    let listed = distinct(&join(path, "threads"), threads, origins, problems, |item| {
        item.whole()
            .map(|sessions| (sessions, sessions.to_string()))
    });
    let think_time = origins.settle(path, &CLOSED, Some(map), "think_time");
    let think_time_ns = think_time.and_then(|value| value.whole()).unwrap_or(0);
    let target = match origins.settle(path, &CLOSED, Some(map), "target") {
        Some(SettingValue::Number(target)) => Some(target),
        _ => None,
    };
    for sessions in listed {
        loads.push(Load::Closed {
            sessions: sessions_of(sessions),
            think_time_ns,
            target,
        });
    }
}

fn open(
    path: &str,
    map: &Checked,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
    loads: &mut Vec<Load>,
) {
    let Some(rates) = map.get("rates") else {
        return;
    };
    let listed = distinct(&join(path, "rates"), rates, origins, problems, |item| {
        item.number().map(|rate| (rate, units::rate(rate)))
    });
    let (arrivals, sessions) = arrivals_and_sessions(path, &OPEN, map, origins);
    for rate in listed {
        loads.push(Load::Open {
            rate,
            arrivals,
            sessions,
        });
    }
}

/// The values of a list, each once: a point that is there twice could not be told apart from itself.
fn distinct<T>(
    path: &str,
    list: &Checked,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
    read: impl Fn(&Checked) -> Option<(T, String)>,
) -> Vec<T> {
    let (mut values, mut texts) = (Vec::new(), Vec::new());
    for item in list.items() {
        let Some((value, text)) = read(item) else {
            continue;
        };
        if texts.contains(&text) {
            problems.add(path, Some(item.place), Mistake::Repeated { value: text });
            continue;
        }
        values.push(value);
        texts.push(text);
    }
    origins.add_file(path, texts.join(", "), list.place);
    values
}

fn stages(path: &str, map: &Checked, origins: &mut Origins<'_>) -> Option<(Load, u64)> {
    let steps = map.get("steps")?;
    let (arrivals, sessions) = arrivals_and_sessions(path, &STAGES, map, origins);
    let (mut stages, mut total_ns, mut last_rate) = (Vec::new(), 0u64, 0.0);
    for (index, step) in steps.items().iter().enumerate() {
        let path = format!("{}[{index}]", join(path, "steps"));
        let mut rate = |key: &str| match origins.settle(&path, &STAGE, Some(step), key) {
            Some(SettingValue::Number(rate)) => Some(rate),
            _ => None,
        };
        let constant = rate("rate");
        let rate_from = constant.or_else(|| rate("from")).unwrap_or(last_rate);
        let rate_to = constant.or_else(|| rate("to")).unwrap_or(rate_from);
        let duration_ns = origins
            .settle(&path, &STAGE, Some(step), "duration")
            .and_then(|value| value.whole())?;
        stages.push(Stage {
            rate_from,
            rate_to,
            duration_ns,
        });
        total_ns = total_ns.saturating_add(duration_ns);
        last_rate = rate_to;
    }
    Some((
        Load::Stages {
            stages,
            arrivals,
            sessions,
        },
        total_ns,
    ))
}

fn arrivals_and_sessions(
    path: &str,
    object: &Object,
    map: &Checked,
    origins: &mut Origins<'_>,
) -> (Arrivals, u32) {
    let arrivals = match origins.settle(path, object, Some(map), "arrivals") {
        Some(SettingValue::Text(word)) if word == "constant" => Arrivals::Constant,
        _ => Arrivals::Poisson,
    };
    let sessions = origins
        .settle(path, object, Some(map), "sessions")
        .and_then(|value| value.whole());
    (arrivals, sessions_of(sessions.unwrap_or(1)))
}

fn sessions_of(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Reads how the data is stored.
pub(crate) fn load_phase(map: Option<&Checked>, origins: &mut Origins<'_>) -> LoadPhase {
    let threads = origins
        .settle("load_phase", &LOAD_PHASE, map, "threads")
        .and_then(|value| value.whole());
    LoadPhase {
        sessions: sessions_of(threads.unwrap_or(1)),
    }
}

/// Refuses more points than can be meant.
pub(crate) fn check_points(points: u64, place: Place, problems: &mut Collector<'_>) {
    if points > MOST_POINTS {
        problems.add(
            "load",
            Some(place),
            Mistake::TooMany {
                what: "points of each run",
                found: points,
                most: MOST_POINTS,
            },
        );
    }
}

/// Refuses more operations of an open loop than can be scheduled: all of them are computed before the point begins.
pub(crate) fn check_arrivals(
    loads: &[Load],
    measurement: &Measurement,
    place: Option<Place>,
    problems: &mut Collector<'_>,
) {
    let window_ns = measurement
        .warm_up_ns
        .saturating_add(measurement.duration_ns);
    for load in loads {
        let Some(found) = load.expected_arrivals(window_ns) else {
            continue;
        };
        if found > MOST_ARRIVALS as f64 {
            let mistake = Mistake::TooManyDue {
                load: load.to_string(),
                found: found as u64,
                most: MOST_ARRIVALS,
            };
            problems.add("load", place, mistake);
            return;
        }
    }
}

/// A load in the words of `compare.at`; `None` for stages, which are one point.
pub(crate) fn load_at(load: &Load) -> Option<LoadAt> {
    match load {
        Load::Closed { sessions, .. } => Some(LoadAt::Threads(*sessions)),
        Load::Open { rate, .. } => Some(LoadAt::Rate(*rate)),
        Load::Stages { .. } => None,
    }
}

/// A point of the load in people's units.
pub(crate) fn load_at_text(at: LoadAt) -> String {
    match at {
        LoadAt::Threads(1) => "1 thread".into(),
        LoadAt::Threads(threads) => format!("{threads} threads"),
        LoadAt::Rate(rate) => units::rate(rate),
        LoadAt::Line(share) => format!("{} of the line", units::share(share)),
    }
}
