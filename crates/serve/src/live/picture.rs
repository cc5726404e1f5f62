//! What a live page shows, made of the news of the store.

use super::update::{Cell, EventKey, EventMark, Now, NowHost, PointUpdate, Second, Update};
use plimsoll_judge::{JudgeError, plan_of};
use plimsoll_plan::{
    CONTROLLER, EngineKind, Needs, Plan, explain, power_cuts, words::event_in_words,
};
use plimsoll_record::{
    Act, EventSpec, ExperimentRecord, LoadKind, PointLabel, PowerCutSpec, RunRecord, RunState,
    Slice,
};
use plimsoll_report::hosts::role_words;
use plimsoll_report::progress::{Phase, PointProgress, Span, TimeLeft};
use plimsoll_store::{NewPoint, News, PointKey, RunKey};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How long a second is shown.
const MINUTES_SHOWN: f64 = 5.0;
/// Seconds that are shown, also where slices are shorter than that.
const SECONDS_SHOWN: usize = 3_000;
/// Slices of a point that may still get a late share: programs of before wrote such.
const LATE: usize = 16;
const HOSTS_SHOWN: usize = 64;
const TENTH_NS: u64 = 100_000_000;
/// Points of the curve, the latest.
const POINTS_SHOWN: usize = 4_000;

/// An experiment as it stands.
pub(crate) struct Picture {
    plan: Plan,
    needs: Needs,
    /// The machines of each arm.
    hosts: Vec<Vec<Host>>,
    /// p99 of the lateness of a machine at its last open loop.
    late_p99_ns: BTreeMap<String, f64>,
    running: bool,
    runs: BTreeMap<RunKey, Run>,
    points: BTreeMap<PointKey, Point>,
    seconds: VecDeque<Second>,
    next_second: u64,
    events: Vec<EventMark>,
    /// What changed since the last update.
    changed: Changed,
}

#[derive(Default)]
struct Changed {
    runs: BTreeSet<(u32, u32)>,
    points: BTreeSet<PointKey>,
    dropped: Vec<i64>,
    seconds: BTreeSet<u64>,
    events: BTreeSet<EventKey>,
    dropped_events: Vec<EventKey>,
}

/// A machine that takes part in the runs of an arm.
struct Host {
    name: String,
    makes_load: bool,
    has_server: bool,
}

struct Run {
    block: u32,
    arm: u32,
    seed: u64,
    state: RunState,
    begun: f64,
    ended: Option<f64>,
    /// Measuring so far, warm-up included, without the load phase.
    measured_seconds: f64,
}

struct Point {
    run: RunKey,
    label: PointLabel,
    begun: f64,
    progress: PointProgress,
    last: Option<(f64, Option<f64>)>,
    /// Rate of each load host in the last slice.
    host_rates: Vec<f64>,
    /// Events that are still to come.
    due: Vec<Moment>,
    /// Only while it goes on.
    going: Option<Going>,
    /// What it came to; kept without the histogram when it is over.
    result: Option<(f64, Option<f64>)>,
    errors: u64,
}

/// When an event is due.
struct Moment {
    /// The event, which time of it, and nanoseconds since the end of the warm-up.
    mark: (u32, u32, u64),
    /// Seconds since the begin of the point.
    after: f64,
}

/// What a point needs while slices come.
#[derive(Default)]
struct Going {
    measured: Span,
    /// The last slices by index, with the key of their second.
    recent: BTreeMap<u32, (u64, Span)>,
}

impl Picture {
    /// The picture of an experiment that has only a plan so far.
    pub(crate) fn of(head: &ExperimentRecord, engines: &[EngineKind]) -> Result<Self, JudgeError> {
        let plan = plan_of(head)?;
        let needs = explain(&plan, engines).needs;
        let hosts = hosts(&plan, engines);
        Ok(Self {
            plan,
            needs,
            hosts,
            late_p99_ns: BTreeMap::new(),
            running: true,
            runs: BTreeMap::new(),
            points: BTreeMap::new(),
            seconds: VecDeque::new(),
            next_second: 0,
            events: Vec::new(),
            changed: Changed::default(),
        })
    }

    pub(crate) fn take(&mut self, news: &News) {
        self.running = news.running;
        for (key, run) in &news.runs {
            self.take_run(*key, run);
        }
        for point in &news.points {
            self.take_point(point);
        }
        for (key, slice) in &news.slices {
            self.take_slice(*key, slice);
        }
        for (key, end) in &news.ended {
            if let Some(point) = self.points.get_mut(key) {
                point.going = None;
                self.changed.points.insert(*key);
                for host in &end.hosts {
                    let lag = host.generator_lag.as_ref();
                    if let Some(p99_ns) = lag.and_then(|lag| lag.percentile_ns(99.0)) {
                        let name = host.host.as_deref().unwrap_or(CONTROLLER);
                        self.late_p99_ns.insert(name.to_owned(), p99_ns as f64);
                    }
                }
                let begun = point.begun;
                let warm_up_ns = (point.progress.warm_up_seconds * 1e9) as u64;
                let mut times: BTreeMap<u32, u32> = BTreeMap::new();
                let of_point = self.events.iter().filter(|one| one.point == key.number());
                let mut undone: BTreeSet<EventKey> = of_point.map(EventMark::key).collect();
                for done in end.disturbance.iter().flat_map(|all| &all.events) {
                    let time = times.entry(done.event).or_default();
                    let at = begun + done.at_ns as f64 / 1e9;
                    let mark = (done.event, *time, done.at_ns.saturating_sub(warm_up_ns));
                    undone.remove(&(key.number(), done.event, *time));
                    self.mark(key.number(), mark, at, done.member.as_deref());
                    *time += 1;
                }
                self.events.retain(|one| !undone.contains(&one.key()));
                self.changed.dropped_events.extend(undone);
            }
        }
        self.forget_old();
    }

    fn take_run(&mut self, key: RunKey, run: &RunRecord) {
        let arms = &self.plan.arms;
        let Some(arm) = arms.iter().position(|arm| arm.name == run.arm) else {
            return;
        };
        let arm = arm as u32;
        let measured_seconds = self.runs.get(&key).map_or(0.0, |run| run.measured_seconds);
        self.runs.insert(
            key,
            Run {
                block: run.block,
                arm,
                seed: run.seed,
                state: run.state.clone(),
                begun: instant(&run.started_at),
                ended: run.ended_at.as_deref().map(instant),
                measured_seconds,
            },
        );
        self.changed.runs.insert((run.block, arm));
        if matches!(run.state, RunState::Interrupted | RunState::Failed { .. }) {
            for (point, known) in &mut self.points {
                if known.run == key && known.result.take().is_some() {
                    self.changed.dropped.push(point.number());
                }
            }
        }
    }

    fn take_point(&mut self, point: &NewPoint) {
        let asked_ns = match (&self.plan.objective, point.head.label.trial) {
            (Some(objective), Some(_)) => objective.search.map_or(0, |search| search.trial_ns),
            _ => self.plan.measurement.duration_ns,
        };
        let progress = match point.is_load {
            true => PointProgress::load(),
            false => PointProgress::begins(point.head.warm_up_ns, asked_ns),
        };
        let seed = self.runs.get(&point.run).map_or(0, |run| run.seed);
        let due = self.moments(seed, progress.warm_up_seconds);
        self.points.insert(
            point.key,
            Point {
                run: point.run,
                due,
                label: point.head.label.clone(),
                begun: instant(&point.head.started_at),
                progress,
                last: None,
                host_rates: Vec::new(),
                going: Some(Going::default()),
                result: None,
                errors: 0,
            },
        );
    }

    /// When events are due in a point of a run with this seed, the first one first.
    fn moments(&self, seed: u64, warm_up_seconds: f64) -> Vec<Moment> {
        let mut moments = Vec::new();
        for (event, spec) in (0..).zip(&self.plan.events) {
            let measured_ns = self.plan.measurement.duration_ns;
            let times = match spec.act {
                Act::PowerCut(cut) => power_cuts(cut, spec.at_ns, measured_ns, seed)
                    .iter()
                    .map(|cut| cut.at_ns)
                    .collect(),
                _ => vec![spec.at_ns],
            };
            moments.extend((0..).zip(times).map(|(time, at_ns)| Moment {
                mark: (event, time, at_ns),
                after: warm_up_seconds + at_ns as f64 / 1e9,
            }));
        }
        moments.sort_by(|one, other| one.after.total_cmp(&other.after));
        moments
    }

    fn take_slice(&mut self, key: PointKey, slice: &Slice) {
        let Some(point) = self.points.get_mut(&key) else {
            return;
        };
        let Some(run) = self.runs.get_mut(&point.run) else {
            return;
        };
        let mut going = point.going.take().unwrap_or_default();
        let end = (slice.start_ns + slice.length_ns) as f64 / 1e9;
        let length = slice.length_ns as f64 / 1e9;
        let late = going.recent.contains_key(&slice.index);
        let (second, span) = going.recent.entry(slice.index).or_insert_with(|| {
            self.next_second += 1;
            (self.next_second, Span::default())
        });
        if late {
            span.add_late(slice);
        } else {
            span.add(slice);
            point.progress.add(slice);
            if !point.progress.is_load {
                run.measured_seconds += length;
            }
        }
        let second = Second {
            key: *second,
            at: point.begun + end,
            arm: run.arm,
            phase: point.progress.phase().word(),
            rate: span.rate(),
            p99_ns: span.p99_ns(),
        };
        point.last = Some((second.rate, second.p99_ns));
        if !slice.by_host.is_empty() && length > 0.0 {
            let rates = slice.by_host.iter().map(|count| *count as f64 / length);
            point.host_rates = rates.collect();
        }
        let passed = match point.progress.is_load {
            true => 0,
            false => point.due.partition_point(|moment| moment.after <= end),
        };
        let due: Vec<Moment> = point.due.drain(..passed).collect();
        let begun = point.begun;
        if going.recent.len() > LATE {
            going.recent.pop_first();
        }
        if !slice.warm_up {
            if late {
                going.measured.add_late(slice);
            } else {
                going.measured.add(slice);
            }
            point.errors = going.measured.errors;
            let counts = matches!(run.state, RunState::Started | RunState::Finished);
            if counts && !point.progress.is_load {
                point.result = Some((going.measured.rate(), going.measured.p99_ns()));
                self.changed.points.insert(key);
            }
        }
        point.going = Some(going);
        self.changed.seconds.insert(second.key);
        match self.seconds.iter_mut().rev().find(|one| one.key == second.key) {
            Some(known) => *known = second,
            // A share that comes when its second is no longer shown.
            None if late => {}
            None => self.seconds.push_back(second),
        }
        for Moment { mark, after } in due {
            self.mark(key.number(), mark, begun + after, None);
        }
    }

    /// Notes an event, which time of it and how long after the warm-up, and when and to which member it was done.
    fn mark(
        &mut self,
        point: i64,
        (event, time, at_ns): (u32, u32, u64),
        at: f64,
        member: Option<&str>,
    ) {
        let Some(spec) = self.plan.events.get(event as usize) else {
            return;
        };
        let one = match spec.act {
            Act::PowerCut(cut) => EventSpec {
                // Drawn, so that it has nine digits.
                at_ns: at_ns / TENTH_NS * TENTH_NS,
                act: Act::PowerCut(PowerCutSpec { every_ns: None, ..cut }),
            },
            _ => *spec,
        };
        let mut words = event_in_words(one);
        if let Some(member) = member {
            words = format!("{words} ({member})");
        }
        let key = (point, event, time);
        self.events.retain(|one| one.key() != key);
        self.events.push(EventMark { point, event, time, at, words });
        self.changed.events.insert(key);
    }

    /// Drops seconds that are no longer shown, and points of the curve beyond the latest.
    fn forget_old(&mut self) {
        let newest = self.seconds.back().map_or(0.0, |second| second.at);
        while self.seconds.len() > SECONDS_SHOWN
            || self.seconds.front().is_some_and(|second| second.at < newest - 60.0 * MINUTES_SHOWN)
        {
            self.seconds.pop_front();
        }
        self.events.retain(|event| event.at >= newest - 60.0 * MINUTES_SHOWN);
        let results = self.points.values().filter(|point| point.result.is_some());
        let mut too_many = results.count().saturating_sub(POINTS_SHOWN);
        for (key, point) in &mut self.points {
            if too_many == 0 {
                break;
            }
            if point.result.take().is_some() {
                self.changed.dropped.push(key.number());
                too_many -= 1;
            }
        }
    }

    /// Everything to show. `now` is in seconds since 1970.
    pub(super) fn snapshot(&self, now: f64) -> Update {
        let cells: BTreeSet<(u32, u32)> =
            self.runs.values().map(|run| (run.block, run.arm)).collect();
        let keys = self.points.keys();
        Update {
            arms: self.plan.arms.iter().map(|arm| arm.name.clone()).collect(),
            runs: self.cells(&cells),
            points: keys.filter_map(|key| self.measured(*key)).collect(),
            seconds: self.seconds.iter().cloned().collect(),
            events: self.events.clone(),
            ..self.standing(now)
        }
    }

    /// What changed since the last call.
    pub(super) fn update(&mut self, now: f64) -> Update {
        let changed = std::mem::take(&mut self.changed);
        let keys = changed.points.iter();
        let seconds = self.seconds.iter();
        let events = self.events.iter();
        Update {
            runs: self.cells(&changed.runs),
            points: keys.filter_map(|key| self.measured(*key)).collect(),
            dropped: changed.dropped,
            seconds: seconds
                .filter(|second| changed.seconds.contains(&second.key))
                .cloned()
                .collect(),
            events: events.filter(|one| changed.events.contains(&one.key())).cloned().collect(),
            dropped_events: changed.dropped_events,
            ..self.standing(now)
        }
    }

    pub(super) fn has_news(&self) -> bool {
        let Changed { runs, points, dropped, seconds, events, dropped_events } = &self.changed;
        !(runs.is_empty()
            && points.is_empty()
            && dropped.is_empty()
            && seconds.is_empty()
            && events.is_empty()
            && dropped_events.is_empty())
    }

    fn standing(&self, now: f64) -> Update {
        let finished = self.pairs(|state| *state == RunState::Finished);
        let failed = self.pairs(|state| matches!(state, RunState::Failed { .. }));
        Update {
            arms: Vec::new(),
            runs_finished: finished.len() as u32,
            runs_failed: failed.difference(&finished).count() as u32,
            runs_planned: self.plan.runs.len() as u32,
            left_seconds: self.running.then(|| self.left(&finished, now)),
            now: self.now(),
            runs: Vec::new(),
            points: Vec::new(),
            dropped: Vec::new(),
            seconds: Vec::new(),
            events: Vec::new(),
            dropped_events: Vec::new(),
        }
    }

    /// Pairs of block and arm with a run in such a state.
    fn pairs(&self, so: impl Fn(&RunState) -> bool) -> BTreeSet<(u32, u32)> {
        let runs = self.runs.values().filter(|run| so(&run.state));
        runs.map(|run| (run.block, run.arm)).collect()
    }

    /// The run that goes on. One that an earlier program was killed in is none, and is set right when another goes on.
    fn going(&self) -> Option<(RunKey, &Run)> {
        let (key, run) = self.runs.iter().next_back()?;
        (self.running && run.state == RunState::Started).then_some((*key, run))
    }

    /// Seconds until the experiment is over, as far as is known.
    pub(crate) fn left_seconds(&self, now: f64) -> Option<f64> {
        let finished = self.pairs(|state| *state == RunState::Finished);
        self.running.then(|| self.left(&finished, now))
    }

    fn left(&self, finished: &BTreeSet<(u32, u32)>, now: f64) -> f64 {
        let mut left = TimeLeft::of(&self.needs);
        for run in self.runs.values() {
            if let (RunState::Finished, Some(ended)) = (&run.state, run.ended) {
                left.run_begins(run.begun);
                left.measured(run.measured_seconds);
                left.run_ends(true, ended);
            }
        }
        let mut to_begin = self.plan.runs.len().saturating_sub(finished.len());
        if let Some((key, run)) = self.going() {
            to_begin =
                to_begin.saturating_sub(usize::from(!finished.contains(&(run.block, run.arm))));
            left.run_begins(run.begun);
            match self.point_of(key) {
                Some(Point { progress, going: Some(_), .. }) if !progress.is_load => {
                    left.measured(run.measured_seconds - progress.seconds);
                    left.point_begins(progress.warm_up_seconds + progress.requested_seconds);
                    left.measured(progress.seconds);
                }
                _ => left.measured(run.measured_seconds),
            }
        }
        left.seconds(u32::try_from(to_begin).unwrap_or(u32::MAX), now)
    }

    /// The last point of a run.
    fn point_of(&self, run: RunKey) -> Option<&Point> {
        let mut points = self.points.values().rev();
        points.find(|point| point.run == run)
    }

    fn now(&self) -> Option<Now> {
        let (key, run) = self.going()?;
        let mut planned = self.plan.runs.iter();
        let place =
            planned.position(|planned| planned.block == run.block && planned.arm == run.arm);
        let mut now = Now {
            run: place.map_or(0, |place| place as u32 + 1),
            block: run.block + 1,
            arm: run.arm,
            mix: String::new(),
            load: String::new(),
            phase: Phase::Prepare.word(),
            second: 0.0,
            seconds: 0.0,
            rate: None,
            p99_ns: None,
            errors: 0,
            hosts: Vec::new(),
            more_hosts: 0,
        };
        let mut rates: &[f64] = &[];
        if let Some(point) = self.point_of(key).filter(|point| point.going.is_some()) {
            now.mix.clone_from(&point.label.mix);
            now.load.clone_from(&point.label.load_label);
            now.phase = point.progress.phase().word();
            now.errors = point.errors;
            (now.second, now.seconds) = point.progress.of_phase();
            if let Some((rate, p99_ns)) = point.last {
                now.rate = Some(rate);
                now.p99_ns = p99_ns;
            }
            rates = &point.host_rates;
        }
        let hosts = &self.hosts[run.arm as usize];
        for (place, host) in hosts.iter().enumerate().take(HOSTS_SHOWN) {
            now.hosts.push(NowHost {
                name: host.name.clone(),
                role: role_words(host.makes_load, host.has_server),
                rate: rates.get(place).copied().filter(|_| host.makes_load),
                late_p99_ns: self.late_p99_ns.get(&host.name).copied(),
            });
        }
        now.more_hosts = hosts.len().saturating_sub(HOSTS_SHOWN) as u32;
        Some(now)
    }

    fn cells(&self, pairs: &BTreeSet<(u32, u32)>) -> Vec<Cell> {
        let mut cells = Vec::with_capacity(pairs.len());
        for &(block, arm) in pairs {
            let mut state = None;
            for run in self.runs.values() {
                if (run.block, run.arm) != (block, arm) || state == Some("finished") {
                    continue;
                }
                state = Some(match run.state {
                    RunState::Finished => "finished",
                    RunState::Failed { .. } => "failed",
                    RunState::Started if self.running => "going",
                    RunState::Started | RunState::Interrupted => "interrupted",
                });
            }
            if let Some(state) = state {
                cells.push(Cell { block, arm, state });
            }
        }
        cells
    }

    fn measured(&self, key: PointKey) -> Option<PointUpdate> {
        let point = self.points.get(&key)?;
        let (rate, p99_ns) = point.result?;
        let (open, load) = match point.label.load {
            LoadKind::Closed { sessions, .. } => (false, f64::from(sessions)),
            LoadKind::Open { rate, .. } => (true, rate),
        };
        Some(PointUpdate {
            key: key.number(),
            arm: self.runs.get(&point.run)?.arm,
            mix: point.label.mix.clone(),
            open,
            load,
            rate,
            p99_ns,
        })
    }
}

/// The machines of each arm in the order of its records: those that make load, then the one of the server; none where it is one machine alone.
fn hosts(plan: &Plan, engines: &[EngineKind]) -> Vec<Vec<Host>> {
    let mut all = Vec::with_capacity(plan.arms.len());
    for arm in &plan.arms {
        let kind = engines.iter().find(|kind| kind.name == arm.engine);
        let mut names = kind.map_or_else(Vec::new, |kind| plan.load_hosts_of(arm, kind));
        let loads = names.len();
        let on = arm.on.as_deref();
        let has_server = arm.rig.server.is_some();
        if has_server && !names.contains(&on) {
            names.push(on);
        }
        let mut hosts = Vec::new();
        if names.len() > 1 {
            for (place, name) in names.into_iter().enumerate() {
                hosts.push(Host {
                    name: name.unwrap_or(CONTROLLER).to_owned(),
                    makes_load: place < loads,
                    has_server: has_server && name == on,
                });
            }
        }
        all.push(hosts);
    }
    all
}

/// Seconds since 1970; 0 where a record does not say.
fn instant(text: &str) -> f64 {
    text.parse::<jiff::Timestamp>().map_or(0.0, |instant| instant.as_millisecond() as f64 / 1e3)
}
