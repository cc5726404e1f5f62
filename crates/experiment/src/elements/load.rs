//! `load`: how many operations at a time. See [`crate::elements::closed`], [`crate::elements::open`] and [`crate::elements::stages`].

use crate::Collector;
use crate::document::{Checked, Field, Span};
use crate::elements::objective::search_path;
use crate::keys::closed::closed;
use crate::keys::file::file;
use crate::keys::load::load;
use crate::keys::open::{CONSTANT, FOUND, open};
use crate::keys::search::search;
use crate::mistake::Mistake;
use crate::origins::Origins;
use plimsoll_plan::estimate::window_ns;
use plimsoll_plan::{LoadAt, Measurement, Point, PointRole, Sessions, SettingValue, Source};
use plimsoll_record::quantities::units;
use plimsoll_workload::schedule::{Arrivals, Load, MOST_ARRIVALS};

const MOST_POINTS: u64 = 1_000;
/// Sessions of an open loop while it is not known how many the run will find.
pub(crate) const SESSIONS_TILL_FOUND: u32 = 64;
/// Sessions of the sweep that is made only to find how many an open loop needs.
const MOST_SESSIONS_TO_FIND: u64 = 1_024;

pub(crate) const PATH: &str = file::load.name;

/// What every mix is measured at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoadPoint {
    pub load: Load,
    pub role: PointRole,
    pub sessions: Sessions,
}

impl LoadPoint {
    pub(crate) fn new(load: Load, role: PointRole) -> Self {
        Self { load, role, sessions: Sessions::Given }
    }

    /// The point of a mix.
    pub(crate) fn of(&self, mix: u32) -> Point {
        Point { mix, load: self.load.clone(), role: self.role, sessions: self.sessions }
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

    pub(crate) fn text(&self) -> String {
        self.at().map_or_else(|| "the stages".to_owned(), load_at_text)
    }

    /// The most operations per second that can be requested; `None` where that is not known before the run.
    pub(crate) fn offered(&self) -> Option<f64> {
        match (self.role, &self.load) {
            (PointRole::Line | PointRole::ShareOfLine { .. }, _) => None,
            (_, Load::Closed { target, .. }) => *target,
            (_, Load::Open { rate, .. }) => Some(*rate),
            (_, Load::Stages { stages, .. }) => {
                stages.iter().map(|stage| stage.rate_from.max(stage.rate_to)).reduce(f64::max)
            }
        }
    }
}

/// Arrivals and sessions of an open loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OpenLoop {
    pub arrivals: Arrivals,
    /// From the file, unless the run finds the number.
    pub count: u32,
    /// Where the number of sessions comes from.
    pub sessions: Sessions,
}

/// The loads at which every mix is measured, apart from the search for the line.
#[derive(Default)]
pub(crate) struct Loads {
    pub closed: Vec<LoadPoint>,
    /// The points of the open loop, or the stages.
    pub open: Vec<LoadPoint>,
    /// Whether all of it was understood.
    pub complete: bool,
    /// For stages, how long they last together.
    pub stages_ns: Option<u64>,
    /// The open loop, if there is one.
    pub open_loop: Option<OpenLoop>,
    /// Where shares of the line stand.
    pub shares: Option<Span>,
    /// Whether the highest rates of a sweep are not the file's, so that those which cannot be scheduled are left out in silence.
    pub unrequested_rates: bool,
    /// Whether the sessions of the closed loop pause; then their best number does not fit an open loop.
    pub pauses: bool,
}

pub(crate) fn loads(
    load: &Checked,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Loads {
    let mut loads = Loads { complete: !load.fields().is_empty(), ..Loads::default() };
    if let Some(field) = load.field(load::closed) {
        let path = load::closed.under(PATH);
        loads.read_closed(&path, &field.checked, origins, problems);
        check_loads(&path, field, &loads.closed, problems);
    }
    if let Some(field) = load.field(load::open) {
        let path = load::open.under(PATH);
        loads.read_open(&path, &field.checked, origins, problems);
        check_loads(&path, field, &loads.open, problems);
    }
    if let Some(field) = load.field(load::stages) {
        let path = load::stages.under(PATH);
        loads.read_stages(&path, &field.checked, origins);
        check_loads(&path, field, &loads.open, problems);
    }
    loads
}

/// Reports loads that the schedule refuses.
fn check_loads(path: &str, field: &Field, points: &[LoadPoint], problems: &mut Collector<'_>) {
    for problem in points.iter().flat_map(|point| point.load.check()) {
        let what = problem.wrong.to_string();
        problems.add(path, Some(field.key_place), Mistake::Load { what });
    }
}

impl Loads {
    pub(crate) fn none() -> Self {
        Self { complete: true, ..Self::default() }
    }

    /// The path of `sessions: found`, if the closed loop pauses.
    pub(crate) fn finds_in_pauses(&self, line: Option<&LoadPoint>) -> Option<String> {
        if !self.pauses {
            return None;
        }
        let finds = |point: &LoadPoint| point.sessions == Sessions::Found;
        if self.open.iter().any(finds) {
            return Some(open::sessions.under(&load::open.under(PATH)));
        }
        line.is_some_and(finds).then(|| search::sessions.under(&search_path()))
    }

    /// Drops default rates of a sweep that are too high to be scheduled.
    pub(crate) fn within_schedule(&mut self, measurement: &Measurement) {
        if !self.unrequested_rates {
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
            let path = closed::threads.under(&load::closed.under(PATH));
            origins.add(&path, text, Source::Default);
        }
        let mut points = self.closed;
        points.extend(line);
        points.extend(self.open);
        points
    }
}

pub(crate) fn arrivals_of(value: Option<&SettingValue>) -> Arrivals {
    match value {
        Some(SettingValue::Text(word)) if word == CONSTANT => Arrivals::Constant,
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

pub(crate) fn sessions_of(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Refuses more points than can be meant.
pub(crate) fn check_points(points: u64, place: Span, problems: &mut Collector<'_>) {
    if points > MOST_POINTS {
        problems.add(
            PATH,
            Some(place),
            Mistake::TooMany { what: "points of each run", found: points, most: MOST_POINTS },
        );
    }
}

/// Refuses more operations of an open loop than can be scheduled: all of them are computed before the point begins.
pub(crate) fn check_arrivals(
    points: &[LoadPoint],
    measurement: &Measurement,
    place: Option<Span>,
    problems: &mut Collector<'_>,
) {
    let window_ns = window_ns(measurement.warm_up_ns, measurement.duration_ns);
    for point in points {
        if !matches!(point.role, PointRole::Fixed | PointRole::Sweep) {
            continue;
        }
        if let Some(mistake) = too_many_due(&point.load, window_ns) {
            problems.add(PATH, place, mistake);
            return;
        }
    }
}

/// The mistake, if more operations are due than can be scheduled.
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
