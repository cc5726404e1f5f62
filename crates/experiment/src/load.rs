//! Makes the points of a run from the load that was read.

use crate::format::MOST_POINTS;
use crate::load_format::{CLOSED, FOUND, LOAD_PHASE, OPEN, STAGE, STAGES};
use crate::mistake::Mistake;
use crate::problems::Collector;
use crate::reader::{Checked, Field, join};
use crate::settle::Origins;
use crate::shape::Object;
use crate::source::Place;
use crate::sweep::{Swept, sweep_of_rates, sweep_of_threads};
use plimsoll_plan::estimate::window_ns;
use plimsoll_plan::{
    LoadAt, LoadPhase, Measurement, Point, PointRole, Sessions, SettingValue, Source,
};
use plimsoll_quantities::units;
use plimsoll_schedule::{Arrivals, Load, MOST_ARRIVALS, Stage};

/// Sessions of an open loop while it is not known how many the run will find.
pub(crate) const SESSIONS_TILL_FOUND: u32 = 64;
/// Sessions of the sweep that is made only to find how many an open loop needs.
const MOST_SESSIONS_TO_FIND: u64 = 1_024;
/// Rate of a point at a share of the line while the line is not known, operations per second.
const PLACEHOLDER_RATE: f64 = 1_000.0;

/// What every mix is measured at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoadPoint {
    pub load: Load,
    pub role: PointRole,
    pub sessions: Sessions,
}

impl LoadPoint {
    fn new(load: Load, role: PointRole) -> Self {
        Self {
            load,
            role,
            sessions: Sessions::Given,
        }
    }

    /// The point of a mix.
    pub(crate) fn of(&self, mix: u32) -> Point {
        Point {
            mix,
            load: self.load.clone(),
            role: self.role,
            sessions: self.sessions,
        }
    }

    /// In the words of `compare.at`; `None` for stages, which are one point.
    pub(crate) fn at(&self) -> Option<LoadAt> {
        match (self.role, &self.load) {
            (PointRole::Line, _) => Some(LoadAt::Line(1.0)),
            (PointRole::ShareOfLine { share }, _) => Some(LoadAt::Line(share)),
            (_, Load::Closed { sessions, .. }) => Some(LoadAt::Threads(*sessions)),
            (_, Load::Open { rate, .. }) => Some(LoadAt::Rate(*rate)),
            (_, Load::Stages { .. }) => None,
        }
    }
}

/// How an open loop asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Asking {
    pub arrivals: Arrivals,
    /// As many as the load says, where the run does not find them.
    pub count: u32,
    pub sessions: Sessions,
}

/// The loads at which every mix is measured, apart from the search for the line.
#[derive(Default)]
pub(crate) struct Loads {
    /// Of the closed loop.
    pub closed: Vec<LoadPoint>,
    /// Of the open loop, or the stages.
    pub open: Vec<LoadPoint>,
    /// Whether all of it was understood.
    pub complete: bool,
    /// For stages, how long they last together.
    pub stages_ns: Option<u64>,
    /// How the open loop asks, where there is one.
    pub asking: Option<Asking>,
    /// Where shares of the line stand.
    pub shares: Option<Place>,
    /// Whether the highest rates of a sweep are not the file's, so that those which cannot be scheduled are left out in silence.
    unasked_rates: bool,
    /// Whether the sessions of the closed loop pause, which says nothing of how many an open loop needs.
    pub pauses: bool,
}

/// Reads the part of the file about the load.
pub(crate) fn loads(
    load: &Checked,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Loads {
    let mut loads = Loads {
        complete: !load.fields().is_empty(),
        ..Loads::default()
    };
    for key in ["closed", "open", "stages"] {
        let Some(field) = load.fields().iter().find(|field| field.key == key) else {
            continue;
        };
        let path = join("load", key);
        match key {
            "closed" => loads.read_closed(&path, &field.checked, origins, problems),
            "open" => loads.read_open(&path, &field.checked, origins, problems),
            _ => match stages(&path, &field.checked, origins) {
                Some((load, total_ns)) => {
                    loads.open.push(LoadPoint::new(load, PointRole::Fixed));
                    loads.stages_ns = Some(total_ns);
                }
                None => loads.complete = false,
            },
        }
        check_loads(&path, field, &loads, problems);
    }
    loads
}

/// What the schedule says of the loads.
fn check_loads(path: &str, field: &Field, loads: &Loads, problems: &mut Collector<'_>) {
    let points = if field.key == "closed" {
        &loads.closed
    } else {
        &loads.open
    };
    for problem in points.iter().flat_map(|point| point.load.check()) {
        let what = problem.wrong.to_string();
        problems.add(path, Some(field.key_place), Mistake::Load { what });
    }
}

impl Loads {
    /// No load at all.
    pub(crate) fn none() -> Self {
        Self {
            complete: true,
            ..Self::default()
        }
    }

    /// Where sessions are asked to be found in a closed loop that pauses.
    pub(crate) fn finds_in_pauses(&self, line: Option<&LoadPoint>) -> Option<&'static str> {
        if !self.pauses {
            return None;
        }
        let finds = |point: &LoadPoint| point.sessions == Sessions::Found;
        if self.open.iter().any(finds) {
            return Some("load.open.sessions");
        }
        line.is_some_and(finds)
            .then_some("objective.search.sessions")
    }

    /// Points of the closed loop.
    fn read_closed(
        &mut self,
        path: &str,
        map: &Checked,
        origins: &mut Origins<'_>,
        problems: &mut Collector<'_>,
    ) {
        let Some(threads) = map.get("threads") else {
            self.complete = false;
            return;
        };
        let swept = sweep_of_threads(&join(path, "threads"), threads, origins, problems);
        let (listed, role) = match swept {
            Swept::Yes(points) => (points, PointRole::Sweep),
            Swept::Wrong => {
                self.complete = false;
                (Vec::new(), PointRole::Sweep)
            }
            Swept::No => {
                let listed = distinct(&join(path, "threads"), threads, origins, problems, |item| {
                    item.whole()
                        .map(|sessions| (sessions, sessions.to_string()))
                });
                self.complete &= listed.len() == threads.items().len() && !listed.is_empty();
                (listed, PointRole::Fixed)
            }
        };
        let think_time = origins.settle(path, &CLOSED, Some(map), "think_time");
        let think_time_ns = think_time.and_then(|value| value.whole()).unwrap_or(0);
        let target = match origins.settle(path, &CLOSED, Some(map), "target") {
            Some(SettingValue::Number(target)) => Some(target),
            _ => None,
        };
        self.pauses = think_time_ns > 0 || target.is_some();
        for sessions in listed {
            let load = Load::Closed {
                sessions: sessions_of(sessions),
                think_time_ns,
                target,
            };
            self.closed.push(LoadPoint::new(load, role));
        }
    }

    /// Points of the open loop.
    fn read_open(
        &mut self,
        path: &str,
        map: &Checked,
        origins: &mut Origins<'_>,
        problems: &mut Collector<'_>,
    ) {
        let Some(rates) = map.get("rates") else {
            self.complete = false;
            return;
        };
        let swept = sweep_of_rates(&join(path, "rates"), rates, origins, problems);
        let listed = match swept {
            Swept::Yes(points) => {
                self.unasked_rates = rates.get("to").is_none();
                points
                    .into_iter()
                    .map(|rate| (rate, PointRole::Sweep))
                    .collect()
            }
            Swept::Wrong => {
                self.complete = false;
                Vec::new()
            }
            Swept::No => {
                let listed = distinct(
                    &join(path, "rates"),
                    rates,
                    origins,
                    problems,
                    rate_or_share,
                );
                self.complete &= listed.len() == rates.items().len() && !listed.is_empty();
                listed
            }
        };
        let asking = asking(path, &OPEN, map, origins);
        self.asking = Some(asking);
        for (rate, role) in listed {
            if let PointRole::ShareOfLine { .. } = role {
                self.shares = Some(rates.place);
            }
            let load = Load::Open {
                rate,
                arrivals: asking.arrivals,
                sessions: asking.count,
            };
            self.open.push(LoadPoint {
                load,
                role,
                sessions: asking.sessions,
            });
        }
    }

    /// Leaves out the rates of a sweep that cannot be scheduled and that nobody asked for by number.
    pub(crate) fn within_schedule(&mut self, measurement: &Measurement) {
        if !self.unasked_rates {
            return;
        }
        let window_ns = window_ns(measurement.warm_up_ns, measurement.duration_ns);
        self.open.retain(|point| {
            let expected = point.load.expected_arrivals(window_ns);
            expected.is_none_or(|expected| expected <= MOST_ARRIVALS as f64)
        });
    }

    /// All points of a mix, with the search after the closed ones. Where sessions are to be found and nothing is measured that finds them, a sweep
    /// is made for it.
    pub(crate) fn with_line(
        mut self,
        line: Option<LoadPoint>,
        origins: &mut Origins<'_>,
    ) -> Vec<LoadPoint> {
        let finds = |point: &LoadPoint| point.sessions == Sessions::Found;
        if self.closed.is_empty()
            && self.complete
            && (line.iter().any(finds) || self.open.iter().any(finds))
        {
            let mut sessions = 1;
            while sessions <= MOST_SESSIONS_TO_FIND {
                let load = Load::Closed {
                    sessions: sessions_of(sessions),
                    think_time_ns: 0,
                    target: None,
                };
                self.closed.push(LoadPoint::new(load, PointRole::Sweep));
                sessions *= 2;
            }
            let text =
                format!("1 to {MOST_SESSIONS_TO_FIND}, doubling until bent, to find the sessions");
            origins.add("load.closed.threads", text, Source::Default);
        }
        let mut points = self.closed;
        points.extend(line);
        points.extend(self.open);
        points
    }
}

/// A rate, or a share of the line with a rate in its place.
fn rate_or_share(item: &Checked) -> Option<((f64, PointRole), String)> {
    if let Some(rate) = item.number() {
        return Some(((rate, PointRole::Fixed), units::rate(rate)));
    }
    let text = item.text()?;
    let share = units::parse_share(text).ok()?;
    let role = PointRole::ShareOfLine { share };
    Some(((PLACEHOLDER_RATE, role), text.to_owned()))
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
    let asking = asking(path, &STAGES, map, origins);
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
            arrivals: asking.arrivals,
            sessions: asking.count,
        },
        total_ns,
    ))
}

/// Arrivals and sessions of an open loop.
fn asking(path: &str, object: &Object, map: &Checked, origins: &mut Origins<'_>) -> Asking {
    let arrivals = origins.settle(path, object, Some(map), "arrivals");
    let sessions = origins.settle(path, object, Some(map), "sessions");
    let (count, sessions) = count_of(sessions.as_ref());
    Asking {
        arrivals: arrivals_of(arrivals.as_ref()),
        count,
        sessions,
    }
}

/// Gaps by their word.
pub(crate) fn arrivals_of(value: Option<&SettingValue>) -> Arrivals {
    match value {
        Some(SettingValue::Text(word)) if word == "constant" => Arrivals::Constant,
        _ => Arrivals::Poisson,
    }
}

/// A number of sessions, or the word for those that the run finds.
pub(crate) fn count_of(value: Option<&SettingValue>) -> (u32, Sessions) {
    match value {
        Some(SettingValue::Text(word)) if word == FOUND => (SESSIONS_TILL_FOUND, Sessions::Found),
        _ => {
            let count = value.and_then(SettingValue::whole).unwrap_or(1);
            (sessions_of(count), Sessions::Given)
        }
    }
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
    points: &[LoadPoint],
    measurement: &Measurement,
    place: Option<Place>,
    problems: &mut Collector<'_>,
) {
    let window_ns = window_ns(measurement.warm_up_ns, measurement.duration_ns);
    for point in points {
        if !matches!(point.role, PointRole::Fixed | PointRole::Sweep) {
            continue;
        }
        if let Some(mistake) = too_many_due(&point.load, window_ns) {
            problems.add("load", place, mistake);
            return;
        }
    }
}

/// What is wrong where more operations are due than can be scheduled.
pub(crate) fn too_many_due(load: &Load, window_ns: u64) -> Option<Mistake> {
    let found = load.expected_arrivals(window_ns)?;
    (found > MOST_ARRIVALS as f64).then(|| Mistake::TooManyDue {
        load: load.to_string(),
        found: found as u64,
        most: MOST_ARRIVALS,
    })
}

/// A point of the load in people's units.
pub(crate) fn load_at_text(at: LoadAt) -> String {
    match at {
        LoadAt::Threads(1) => "1 thread".into(),
        LoadAt::Threads(threads) => format!("{threads} threads"),
        LoadAt::Rate(rate) => units::rate(rate),
        LoadAt::Line(1.0) => "the line".into(),
        LoadAt::Line(share) => format!("{} of the line", units::share(share)),
    }
}
