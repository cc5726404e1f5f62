//! The workers of a run as one: they begin together, and what they measured is added up.
//!
//! The first worker of the load leads: it alone speaks about the rig, and does what is done once. The others wait for it where all begin a phase
//! ([`Frame::Ready`]) and where all data is stored ([`Frame::Stored`]).

use crate::agenda::Agenda;
use crate::below::Below;
use crate::clock_time::in_a_while;
use crate::error::RunnerError;
use crate::frames::{Frame, Order, PowerCuts, Word, WorkerRole};
use crate::supervise::{Member, Start, Worker, WorkerEnd, died};
use plimsoll_loadgen::monotonic_ns;
use plimsoll_plan::search::{MixObjective, Tally};
use plimsoll_record::{
    ClockOffset, Completed, ErrorSample, Histogram, HostPoint, LoadKind, Machine, NetworkPoint,
    PointEnd, PointLabel, Slice, WorkerUse,
};
use plimsoll_rig::RigError;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How far ahead a common start is, beside the time that the word takes to get there.
const LEAD: Duration = Duration::from_millis(20);
/// A clock that is known less well than this is none to lay seconds on.
const LONGEST_BOUND_NS: u64 = 50_000_000;
/// Failures that a point reports, as one worker does.
const ERROR_SAMPLES: usize = 10;

/// Takes the frames of all workers of a run.
pub(crate) struct Team<'a> {
    members: &'a [Member<'a>],
    order: &'a Order,
    below: &'a dyn Below,
    /// What is done to the server, and when.
    pub(crate) agenda: Agenda<'a>,
    /// Why something could not be done below.
    pub(crate) done: Option<RigError>,
    /// By place: how it ended.
    ends: Vec<Option<WorkerEnd>>,
    /// By place: whether its output has ended.
    gone: Vec<bool>,
    /// Why the run must end.
    failure: Option<String>,
    /// By place: it waits at [`Frame::Ready`], or at [`Frame::Stored`]. One may get there before others have ended what is before.
    waits: Vec<bool>,
    /// Whether all wait for the phase to begin.
    is_ready: bool,
    /// Whether the data of all is stored, and its phase is not over yet for the one that watches.
    stores: bool,
    /// By place: it has its order.
    has_order: Vec<bool>,
    /// Whether the run must stop.
    is_stopped: bool,
    phase: Phase<'a>,
}

/// A load phase or point that is under way.
struct Phase<'a> {
    /// The frame of its begin, kept until all are ready.
    begins: Option<Frame>,
    /// By place, when it began.
    clocks: Vec<ClockOffset>,
    began_ns: u64,
    /// Slices that not all workers have sent yet, with the number of those that have.
    slices: BTreeMap<u32, (usize, Slice)>,
    seen: Vec<HostTotals>,
    ends: Vec<Option<PointEnd>>,
    tally: Tally<'a>,
    /// Operations that are due in the measured part of a trial.
    due: Option<f64>,
    is_lost: bool,
    /// Whether it is a point, and not the load.
    is_point: bool,
    /// The fewest that a worker knows of.
    records: u64,
    is_under_way: bool,
    /// Whether it is measured from its begin.
    measures: bool,
    /// What was watched, until it is known when the load ended.
    watched: Vec<Slice>,
    /// The end of the last slice of the load, from the start of the phase.
    last_end_ns: u64,
}

/// What one host measured by itself.
#[derive(Clone, Default)]
struct HostTotals {
    completed: Completed,
    used: WorkerUse,
    measured_ns: u64,
}

impl<'a> Team<'a> {
    pub(crate) fn new(start: &'a Start<'a>, order: &'a Order, below: &'a dyn Below) -> Self {
        let count = start.members.len();
        Self {
            members: start.members,
            order,
            below,
            agenda: Agenda::of(&order.events, order.measurement.duration_ns, order.seed),
            done: None,
            ends: (0..count).map(|_| None).collect(),
            gone: vec![false; count],
            failure: None,
            waits: vec![false; count],
            is_ready: false,
            stores: false,
            has_order: vec![false; count],
            is_stopped: false,
            phase: Phase::new(count),
        }
    }

    /// Gives their orders to the chosen members.
    pub(crate) fn give_orders(&mut self, workers: &mut [Worker], to: impl Fn(&Member<'_>) -> bool) {
        for (place, (member, worker)) in self.members.iter().zip(workers).enumerate() {
            if to(member) {
                self.has_order[place] = true;
                let mut order = self.order.clone();
                order.role = member.role;
                order.link_bytes_per_second = member.link_bytes_per_second;
                if !member.is_below {
                    // Nothing of the rig is on that machine; the server's address is the same everywhere.
                    order.directory = None;
                    order.standing.control = None;
                    order.standing.device = None;
                    order.standing.group = None;
                    if let Some(server) = &mut order.standing.server {
                        server.processes.clear();
                    }
                }
                worker.give(&order);
            }
        }
    }

    /// Asks all to stop. Those that have no order yet get none.
    pub(crate) fn stop(&mut self, workers: &mut [Worker]) {
        self.is_stopped = true;
        for (place, worker) in workers.iter_mut().enumerate() {
            if self.has_order[place] {
                worker.say(&Word::Stop);
            } else {
                self.ends[place] = Some(WorkerEnd::Stopped);
                worker.close_input();
            }
        }
    }

    fn loads(&self) -> usize {
        let is_load = |member: &&Member<'_>| member.role != WorkerRole::Watch;
        self.members.iter().filter(is_load).count()
    }

    fn is_several(&self) -> bool {
        self.members.len() > 1
    }

    /// Whether phases begin when the runner says so: there are several workers, or another run at the same time.
    fn is_joint(&self) -> bool {
        self.members.iter().any(|member| member.role != WorkerRole::Alone)
    }

    pub(crate) fn takes(
        &mut self,
        place: usize,
        frame: Frame,
        workers: &mut [Worker],
        take: &mut impl FnMut(Frame) -> Result<(), RunnerError>,
    ) -> Result<(), RunnerError> {
        let leads = self.members[place].role.leads();
        match frame {
            Frame::Done => self.ends[place] = Some(WorkerEnd::Done),
            Frame::Stopped => self.ends[place] = Some(WorkerEnd::Stopped),
            // It was let go before it had an order.
            Frame::Failed { .. } if self.ends[place].is_some() => {}
            Frame::Failed { message } => {
                self.fails(place, &message);
                self.ends[place] = Some(WorkerEnd::Failed(message));
            }
            Frame::Hello { .. } => {}
            Frame::Enter { .. } | Frame::SizeMemory | Frame::DropPageCache | Frame::LieStill => {
                self.done = self.carried_out(frame).err();
                if self.done.is_none() {
                    workers[place].say(&Word::GoOn);
                }
            }
            Frame::Heal => match self.heals(place) {
                Ok(cuts) => workers[place].say(&Word::Healed(cuts)),
                Err(error) => self.done = Some(error),
            },
            Frame::Measuring { mark, at_ns } if leads => {
                let start = Instant::now();
                let mut done = Ok(());
                if self.order.is_on_emulated_disk() {
                    done = self.below.shape(true, &mark);
                }
                // Without a warm-up it is sent before all are ready.
                if self.is_joint() && !self.phase.is_under_way {
                    self.phase.measures = true;
                } else {
                    let start_ns = self.on_the_rig(self.phase.clocks[place].here(at_ns));
                    let begun = self.agenda.begins(start, start_ns, self.below);
                    done = done.and(begun);
                }
                // Once more: caches and buffers have grown since the load.
                if self.order.arm.rig.limits.page_cache_bytes.is_some() {
                    done = done.and_then(|()| self.below.size_memory());
                }
                self.done = done.err();
            }
            Frame::LoadBegins { .. } | Frame::PointBegins { .. } if leads && self.is_joint() => {
                self.phase.begins = Some(frame);
            }
            Frame::Ready => {
                self.waits[place] = true;
                self.is_ready = self.all_wait();
            }
            Frame::Stored => {
                self.waits[place] = true;
                if self.all_wait() {
                    self.stores = true;
                    self.go_on(workers);
                }
            }
            Frame::Watched { slice } => self.phase.watched.push(*slice),
            Frame::Slice { slice } if self.is_joint() => {
                self.adds(place, *slice, take)?;
                self.loses(workers);
            }
            Frame::PointEnds { end, records } if self.is_joint() => {
                self.phase.records = self.phase.records.min(records);
                self.phase.ends[place] = Some(*end);
                self.point_ends(workers, take)?;
            }
            Frame::PointEnds { mut end, records } => {
                if let Some(seen) = &mut end.disturbance {
                    seen.events = self.agenda.take(seen.started_ns);
                }
                take(Frame::PointEnds { end, records })?;
            }
            Frame::Opened { .. } if leads && self.is_several() && !self.is_stopped => {
                // The first has made room for the data of all.
                self.give_orders(workers, |member| {
                    !member.role.leads() && member.role != WorkerRole::Watch
                });
                take(frame)?;
            }
            frame if leads => take(frame)?,
            _ => {}
        }
        if self.is_over() && self.is_several() {
            // The one that watches learns that nothing more comes.
            for (end, worker) in self.ends.iter().zip(workers) {
                if end.is_none() {
                    worker.say(&Word::Stop);
                }
            }
        }
        Ok(())
    }

    fn carried_out(&mut self, frame: Frame) -> Result<(), RigError> {
        match frame {
            Frame::Enter { shaped, mark } => self.below.shape(shaped, &mark),
            Frame::SizeMemory => self.below.size_memory(),
            Frame::DropPageCache => self.below.drop_page_cache(),
            _ => self.below.map(),
        }
    }

    /// Restores the server and the disk after a point. Returns its power cuts, with times of the worker's clock.
    fn heals(&mut self, place: usize) -> Result<PowerCuts, RigError> {
        self.agenda.is_over(self.below)?;
        let healed = self.below.heal();
        let mut cuts = self.agenda.healed(healed)?;
        let rig = self.members.iter().position(|member| member.is_below);
        for at_ns in &mut cuts.at_ns {
            let here_ns = rig.map_or(*at_ns, |rig| self.phase.clocks[rig].here(*at_ns));
            *at_ns = self.phase.clocks[place].there(here_ns);
        }
        Ok(cuts)
    }

    fn all_wait(&self) -> bool {
        let waits = self.waits.iter().take(self.loads());
        waits.copied().all(std::convert::identity)
    }

    /// All data is stored, and its phase is over for all.
    fn go_on(&mut self, workers: &mut [Worker]) {
        if !self.stores || self.phase.is_under_way {
            return;
        }
        self.stores = false;
        self.waits.fill(false);
        for worker in workers.iter_mut().take(self.loads()) {
            worker.say(&Word::GoOn);
        }
    }

    /// Whether all are ready for the phase to begin.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Finds how the clocks of all stand. Returns how far ahead a common start has to be.
    pub(crate) fn reads_clocks(&mut self) -> Duration {
        for (place, clock) in self.clocks().into_iter().enumerate() {
            match clock {
                Ok(clock) => self.phase.clocks[place] = clock,
                Err(why) => self.fails(place, &why),
            }
        }
        let clocks = self.phase.clocks.iter();
        let slowest = clocks.map(|clock| clock.round_trip_ns).max();
        LEAD + Duration::from_nanos(4 * slowest.unwrap_or(0))
    }

    /// The phase begins for all at one instant, nanoseconds of the monotonic clock of this machine, which is this far ahead.
    pub(crate) fn begin(
        &mut self,
        began_ns: u64,
        ahead: Duration,
        workers: &mut [Worker],
        take: &mut impl FnMut(Frame) -> Result<(), RunnerError>,
    ) -> Result<(), RunnerError> {
        self.is_ready = false;
        self.waits.fill(false);
        self.phase.is_under_way = true;
        if self.failure.is_some() {
            return Ok(());
        }
        self.phase.began_ns = began_ns;
        if self.phase.measures {
            let start_ns = self.on_the_rig(began_ns);
            let begun = self.agenda.begins(Instant::now() + ahead, start_ns, self.below);
            self.done = self.done.take().or(begun.err());
        }
        let mut warm_up = 0;
        match self.phase.begins.take() {
            Some(Frame::PointBegins { label, warm_up_ns, duration_ns, .. }) => {
                warm_up = warm_up_ns;
                self.phase.is_point = true;
                self.phase.due = due(&label, duration_ns);
                self.phase.tally = Tally::new(aim(self.order, &label));
                take(Frame::PointBegins {
                    label,
                    warm_up_ns,
                    duration_ns,
                    started_at: in_a_while(ahead),
                })?;
            }
            Some(Frame::LoadBegins { label, records, .. }) => {
                take(Frame::LoadBegins { label, records, started_at: in_a_while(ahead) })?
            }
            _ => {}
        }
        for (clock, worker) in self.phase.clocks.iter().zip(workers) {
            worker.say(&Word::Begin { at_ns: clock.there(began_ns), warm_up_ns: warm_up });
        }
        Ok(())
    }

    /// A time of this machine's monotonic clock on that of the rig's machine.
    fn on_the_rig(&self, here_ns: u64) -> u64 {
        let rig = self.members.iter().position(|member| member.is_below);
        rig.map_or(here_ns, |place| self.phase.clocks[place].there(here_ns))
    }

    /// How the clocks of all stand to that of this machine, by place.
    fn clocks(&self) -> Vec<Result<ClockOffset, String>> {
        let readers = self.members.iter().map(|member| member.host.clock_reader());
        let read: Vec<_> = readers.map(std::thread::spawn).collect();
        let is_known = |clock: ClockOffset| {
            if clock.bound_ns > LONGEST_BOUND_NS {
                return Err(format!(
                    "its clock is known to no better than {} ms, so its seconds are not those of the others: the way to it is too slow",
                    clock.bound_ns / 1_000_000
                ));
            }
            Ok(clock)
        };
        let clocks = read.into_iter().map(|clock| {
            let clock = clock.join();
            clock.unwrap_or_else(|_| Err("its clock could not be read".into())).and_then(is_known)
        });
        clocks.collect()
    }

    /// Adds a slice of one host to those of the others.
    fn adds(
        &mut self,
        place: usize,
        mut slice: Slice,
        take: &mut impl FnMut(Frame) -> Result<(), RunnerError>,
    ) -> Result<(), RunnerError> {
        if !slice.warm_up {
            let seen = &mut self.phase.seen[place];
            seen.completed += slice.completed;
            seen.used += slice.worker;
            seen.measured_ns += slice.length_ns;
        }
        if self.is_several() {
            slice.by_host = vec![0; self.loads()];
            slice.by_host[place] = slice.completed.total();
        }
        let end_ns = slice.start_ns + slice.length_ns;
        self.phase.last_end_ns = self.phase.last_end_ns.max(end_ns);
        let index = slice.index;
        match self.phase.slices.get_mut(&index) {
            None => {
                self.phase.slices.insert(index, (1, slice));
            }
            Some((count, merged)) => {
                *count += 1;
                merged.length_ns = merged.length_ns.max(slice.length_ns);
                merged.worker.resident_bytes += slice.worker.resident_bytes;
                let resident = merged.worker.resident_bytes;
                merged.merge(&slice);
                merged.worker.resident_bytes = resident;
            }
        }
        let loads = self.loads();
        while let Some(entry) = self.phase.slices.first_entry()
            && entry.get().0 == loads
        {
            let (_, slice) = entry.remove();
            let ended_ns = self.phase.began_ns + slice.start_ns + slice.length_ns;
            tracing::debug!(
                "slice {index} of {loads} hosts was whole {} µs after its end",
                monotonic_ns().saturating_sub(ended_ns) / 1_000
            );
            self.phase.tally.add(&slice);
            take(Frame::Slice { slice: Box::new(slice) })?;
        }
        Ok(())
    }

    /// Ends a trial that has missed its objective already, whatever comes.
    fn loses(&mut self, workers: &mut [Worker]) {
        let phase = &mut self.phase;
        if phase.is_lost || !phase.due.is_some_and(|due| phase.tally.is_lost(due)) {
            return;
        }
        phase.is_lost = true;
        for worker in workers {
            worker.say(&Word::Lost);
        }
    }

    /// When all that make load have ended the point, the one that watches does; then it is over.
    fn point_ends(
        &mut self,
        workers: &mut [Worker],
        take: &mut impl FnMut(Frame) -> Result<(), RunnerError>,
    ) -> Result<(), RunnerError> {
        let loads = self.loads();
        let have_ended = |range: &[Option<PointEnd>]| range.iter().all(Option::is_some);
        if !have_ended(&self.phase.ends[..loads]) {
            return Ok(());
        }
        if !have_ended(&self.phase.ends[loads..]) {
            for worker in &mut workers[loads..] {
                worker.say(&Word::Over);
            }
            return Ok(());
        }
        // Hosts without a session may have sent fewer.
        for (_, (_, slice)) in std::mem::take(&mut self.phase.slices) {
            self.phase.tally.add(&slice);
            take(Frame::Slice { slice: Box::new(slice) })?;
        }
        let network = self.tells_watched(take)?;
        if let Some(end) = self.phase.ends[loads..].iter_mut().flatten().next() {
            end.network = network;
        }
        let mut ends: Vec<PointEnd> = self.phase.ends.iter_mut().filter_map(Option::take).collect();
        let mut hosts = Vec::new();
        let clocks = self.clocks();
        for (place, (end, clock_after)) in ends.iter().zip(clocks).enumerate() {
            hosts.push(HostPoint { clock_after: clock_after.ok(), ..self.host_point(place, end) });
        }
        let watched = (ends.len() > loads).then(|| ends.pop()).flatten();
        let mut merged = merged(ends);
        if let Some(watched) = watched {
            merged.stolen_ns = watched.stolen_ns;
            merged.clock_jump_ns = watched.clock_jump_ns;
            merged.foreign = watched.foreign;
        }
        if let Some(seen) = &mut merged.disturbance {
            let here = self.phase.clocks[0].here(seen.started_ns);
            let there = self.on_the_rig(here);
            seen.events = self.agenda.take(there);
        }
        if self.is_several() {
            merged.hosts = hosts;
        }
        let outcome = self.phase.tally.outcome(&merged);
        let is_point = self.phase.is_point;
        take(Frame::PointEnds { end: Box::new(merged), records: self.phase.records })?;
        let records = self.phase.records;
        // Others may be ready for the next phase before the first says what it is.
        self.phase = Phase::new(self.members.len());
        self.go_on(workers);
        if is_point {
            for worker in &mut workers[..loads] {
                worker.say(&Word::Outcome { outcome, records });
            }
        }
        Ok(())
    }

    /// Hands on what was watched while the load was made, and tells what the network did by it. Until the word reached the one that watches it went on, which belongs to no point.
    fn tells_watched(
        &mut self,
        take: &mut impl FnMut(Frame) -> Result<(), RunnerError>,
    ) -> Result<Option<Box<NetworkPoint>>, RunnerError> {
        let last = self.phase.last_end_ns;
        let watched = std::mem::take(&mut self.phase.watched);
        let mut network = NetworkPoint::default();
        for slice in watched.into_iter().filter(|slice| slice.start_ns < last) {
            network.add(&slice);
            take(Frame::Watched { slice: Box::new(slice) })?;
        }
        Ok((network.length_ns > 0).then(|| Box::new(network)))
    }

    fn host_point(&self, place: usize, end: &PointEnd) -> HostPoint {
        let member = &self.members[place];
        let seen = &self.phase.seen[place];
        let clock = self.phase.clocks[place];
        let first = end.first_operation_ns.map(|there| clock.here(there));
        HostPoint {
            cores: member.machine.as_ref().map_or(0, |machine| machine.cores),
            machine: member.machine.as_ref().map(Machine::fingerprint),
            host: member.name.map(str::to_owned),
            makes_load: member.role != WorkerRole::Watch,
            completed: seen.completed,
            worker: seen.used,
            measured_ns: seen.measured_ns,
            generator_lag: end.generator_lag.clone(),
            stolen_ns: end.stolen_ns,
            clock_jump_ns: end.clock_jump_ns,
            foreign: end.foreign.clone(),
            clock,
            clock_after: None,
            first_after_ns: first.map(|first| first as i64 - self.phase.began_ns as i64),
            network: end.network.clone(),
        }
    }

    /// A worker's output has ended.
    pub(crate) fn has_ended(&mut self, place: usize, workers: &mut [Worker]) {
        let exit = workers[place].wait();
        match exit.status() {
            Some(status) => tracing::debug!("worker {place} has ended: {status}"),
            None => tracing::warn!("worker {place} has ended for an unknown reason"),
        }
        self.gone[place] = true;
        if self.ends[place].is_none() {
            let message = died(&exit);
            self.fails(place, &message);
            self.ends[place] = Some(WorkerEnd::Failed(message));
        }
    }

    fn fails(&mut self, place: usize, message: &str) {
        let failure = match (self.is_several(), self.members[place].name) {
            (true, Some(name)) => format!("host {name}: {message}"),
            (true, None) => format!("the worker of the controller: {message}"),
            (false, _) => message.to_owned(),
        };
        self.failure.get_or_insert(failure);
    }

    /// Why the run must end, while others still run that would wait forever.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.clone().filter(|_| self.is_several())
    }

    /// Whether all that make load have said how they ended.
    pub(crate) fn is_over(&self) -> bool {
        self.ends.iter().take(self.loads()).all(Option::is_some)
    }

    pub(crate) fn are_all_gone(&self) -> bool {
        self.gone.iter().copied().all(std::convert::identity)
    }

    pub(crate) fn end(&mut self) -> WorkerEnd {
        if let Some(failure) = self.failure.take() {
            return WorkerEnd::Failed(failure);
        }
        let loads = self.loads();
        let is_stopped = |end: &Option<WorkerEnd>| matches!(end, Some(WorkerEnd::Stopped));
        if self.ends.iter().take(loads).any(is_stopped) {
            return WorkerEnd::Stopped;
        }
        WorkerEnd::Done
    }
}

impl<'a> Phase<'a> {
    fn new(count: usize) -> Self {
        Self {
            begins: None,
            clocks: vec![ClockOffset::default(); count],
            began_ns: 0,
            slices: BTreeMap::new(),
            seen: vec![HostTotals::default(); count],
            ends: vec![None; count],
            tally: Tally::new(None),
            due: None,
            is_lost: false,
            is_point: false,
            records: u64::MAX,
            is_under_way: false,
            measures: false,
            watched: Vec::new(),
            last_end_ns: 0,
        }
    }
}

/// The objective at the mix of a point.
fn aim<'a>(order: &'a Order, label: &PointLabel) -> Option<MixObjective<'a>> {
    let objective = order.objective.as_ref()?;
    let point = order.points.get(usize::try_from(label.point?).ok()?)?;
    let mix = order.mixes.get(usize::try_from(point.mix).ok()?)?;
    Some(MixObjective { objective, mix })
}

/// Operations that are due in the measured part of a trial; `None` where it is none.
fn due(label: &PointLabel, duration_ns: u64) -> Option<f64> {
    match label.load {
        LoadKind::Open { rate, .. } if label.trial.is_some() => {
            Some(rate * duration_ns as f64 / 1e9)
        }
        _ => None,
    }
}

/// What several hosts found of one point, as one would have.
fn merged(ends: Vec<PointEnd>) -> PointEnd {
    let is_of_several = ends.len() > 1;
    let mut ends = ends.into_iter();
    let mut all = ends.next().unwrap_or_default();
    if is_of_several {
        // Each machine has its own.
        all.network = None;
    }
    for end in ends {
        all.measured_ns = all.measured_ns.max(end.measured_ns);
        all.due = all.due.zip(end.due).map(|(one, other)| one + other);
        add(&mut all.unfinished, end.unfinished);
        add(&mut all.generator_lag, end.generator_lag);
        all.busy_ns += end.busy_ns;
        all.retries += end.retries;
        for times in end.statements {
            times.add_to(&mut all.statements);
        }
        all.cut_short |= end.cut_short;
        for error in end.errors {
            let is_same = |known: &ErrorSample| {
                known.operation == error.operation && known.message == error.message
            };
            match all.errors.iter().position(is_same) {
                Some(same) => all.errors[same].count += error.count,
                None if all.errors.len() < ERROR_SAMPLES => all.errors.push(error),
                None => {}
            }
        }
        // Only the clock of the first machine is that of this record.
        all.operations.clear();
    }
    all
}

fn add(to: &mut Option<Histogram>, other: Option<Histogram>) {
    match (to, other) {
        (Some(to), Some(other)) => to.merge(&other),
        (to @ None, other) => *to = other,
        (Some(_), None) => {}
    }
}
