//! The worker process: one run, from opening the engine to closing it.

use crate::clock_time::now;
use crate::frames::{DataPhase, FRAMES_VERSION, Frame, Order, REPLACED, Word, WorkerRole};
use crate::ledger::Watched;
use crate::rig_access::{MeasuredServer, Stage, is_shaped, sampler};
use crate::slowed::{Slowed, Slowing};
use crate::warming::{Hits, Warming};
use crate::watch::watch;
use plimsoll_engine::{
    Answer, Engine, EngineError, FieldVisitor, Opening, Outcome, Session, kind, open,
};
use plimsoll_loadgen::{
    LoadError, LoadSpec, PointSpec, SliceSink, monotonic_ns, run_load_with, run_point,
    run_point_noting,
};
use plimsoll_plan::Caches;
use plimsoll_plan::search::{MixObjective, PointSequence, Step, Tally};
use plimsoll_record::figures::NETWORK;
use plimsoll_record::{
    Acknowledged, Completed, LoadKind, NetworkPoint, OwnOperation, PointEnd, PointLabel, Slice,
    StatementKind, WorkerUse,
};
use plimsoll_telemetry::{
    ForeignSampler, Host, Network, SliceSampler, SystemSampler, WorkerSampler, local_servers,
    round_trips,
};
use plimsoll_workload::documents::DocumentsSpec;
use plimsoll_workload::schedule::{Load, Share};
use plimsoll_workload::{Expected, FieldChoice, KeySpace, KeyText, Mix, Statement, Workload};
use rustix::process::DumpableBehavior;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Why no more operations are possible.
const GONE: &str = "the program that started this worker is gone";
/// How often a worker that waits for others looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(50);
/// In place of the number of a point, for what fills the caches: no file has as many points.
const WARMING: u64 = u64::MAX - 1;
/// How long a worker that has lost its runner may take to close its engine.
const ORPHAN_GRACE: Duration = Duration::from_secs(20);

/// Makes the run that is ordered on `input` and reports on `output`. `allocator` names this program's memory allocator.
///
/// Returns whether the run was finished or stopped as requested; the reason of a failure was reported.
pub fn work(input: impl Read + Send + 'static, output: impl Write, allocator: &str) -> bool {
    if is_of_another_user() {
        // A server under test runs as the same user, and passwords of servers are in here. Where the kernel refuses, nothing else is lost.
        let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
    let mut speaker = Speaker { output, lost: false };
    speaker.say(&Frame::Hello { frames: FRAMES_VERSION });
    let mut lines = BufReader::new(input).lines();
    let order = match lines.next() {
        Some(Ok(line)) => read_order(&line),
        _ => Err("the worker got no order: it is started by plimsoll itself, not by hand".into()),
    };
    let stop = Arc::new(AtomicBool::new(false));
    let lost = Arc::new(AtomicBool::new(false));
    let (stopped, lost_trial) = (Arc::clone(&stop), Arc::clone(&lost));
    let (tell, receiver) = channel();
    std::thread::spawn(move || listen(lines, &stopped, &lost_trial, tell));
    let runner = Runner { stop, lost, receiver };
    let frame = match order.and_then(|order| run(&order, allocator, &runner, &mut speaker)) {
        Ok(true) => Frame::Done,
        Ok(false) => Frame::Stopped,
        Err(message) => Frame::Failed { message },
    };
    speaker.say(&frame);
    !matches!(frame, Frame::Failed { .. })
}

/// Whether root has started this worker as another user. A user's own workers stay readable, so that the user's next command can identify them by their mark.
fn is_of_another_user() -> bool {
    let parent = format!("/proc/{}", std::os::unix::process::parent_id());
    let owner = std::fs::metadata(parent).map(|about| about.uid());
    owner.is_ok_and(|owner| owner != rustix::process::geteuid().as_raw())
}

fn read_order(line: &str) -> Result<Order, String> {
    let version = serde_json::from_str::<serde_json::Value>(line)
        .ok()
        .and_then(|order| order.get("frames")?.as_u64());
    if version != Some(u64::from(FRAMES_VERSION)) {
        return Err(REPLACED.into());
    }
    serde_json::from_str(line).map_err(|error| format!("the order cannot be read: {error}"))
}

/// What is heard from the runner.
pub(crate) struct Runner {
    /// Whether it must stop.
    pub(crate) stop: Arc<AtomicBool>,
    /// The running trial is lost, as all workers together found.
    lost: Arc<AtomicBool>,
    pub(crate) receiver: Receiver<Word>,
}

/// Takes the words of the runner until its end.
fn listen(
    lines: impl Iterator<Item = std::io::Result<String>>,
    stop: &AtomicBool,
    lost: &AtomicBool,
    tell: Sender<Word>,
) {
    for line in lines {
        let Ok(line) = line else { break };
        match serde_json::from_str(&line) {
            Ok(Word::Stop) => stop.store(true, Ordering::Relaxed),
            Ok(Word::Lost) => lost.store(true, Ordering::Relaxed),
            Ok(word) => drop(tell.send(word)),
            // The runner is of the same version: it says nothing else.
            Err(_) => {}
        }
    }
    stop.store(true, Ordering::Relaxed);
    drop(tell);
    // There is no one to report to. The engine gets time to close; a call that never returns must not keep this process alive.
    std::thread::sleep(ORPHAN_GRACE);
    std::process::exit(1);
}

pub(crate) struct Speaker<W> {
    output: W,
    lost: bool,
}

impl<W: Write> Speaker<W> {
    pub(crate) fn say(&mut self, frame: &Frame) {
        let mut line = serde_json::to_vec(frame).expect("frames are plain data with string keys");
        line.push(b'\n');
        let written = self.output.write_all(&line).and_then(|()| self.output.flush());
        self.lost |= written.is_err();
    }
}

/// `Ok(true)` when everything was measured, `Ok(false)` when it was stopped before.
fn run<W: Write>(
    order: &Order,
    allocator: &str,
    runner: &Runner,
    speaker: &mut Speaker<W>,
) -> Result<bool, String> {
    if order.role == WorkerRole::Watch {
        return watch(order, runner, speaker);
    }
    let documents = order.arm.data.documents.as_ref();
    let collections = documents.map(DocumentsSpec::collections).unwrap_or_default();
    let opening = Opening {
        settings: &order.arm.settings,
        directory: order.directory.as_deref(),
        server: order.standing.server.as_ref().map(|server| server.address.as_str()),
        seed: order.seed,
        data: &order.arm.data,
        collections: &collections,
        allocator,
        // The first worker has made room, and the data are those of all.
        joins: !order.role.leads(),
    };
    let engine = open(&order.arm.engine, &opening).map_err(|error| error.to_string())?;
    let measured = measure(order, &*engine, runner, speaker);
    if measured == Ok(Ended::Unusable) {
        return Ok(true);
    }
    speaker.say(&Frame::Closing);
    if order.is_on_emulated_disk() && order.role.leads() {
        // However the measuring ended, what the engine still has to write need not wait for a slow disk. A server that no longer answers is no reason not to close.
        let _ = ask(speaker, runner, &entering(order, Stage::Over, "closing"));
    }
    let closed = engine.close().map_err(|error| error.to_string());
    let ended = measured?;
    closed?;
    Ok(ended == Ended::Finished)
}

/// How the measuring ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Finished,
    Stopped,
    /// The last power cut was the end of the database, which is a result: nothing is left to close.
    Unusable,
}

fn measure<W: Write>(
    order: &Order,
    engine: &dyn Engine,
    runner: &Runner,
    speaker: &mut Speaker<W>,
) -> Result<Ended, String> {
    speaker.say(&Frame::Opened { engine: engine.description() });
    let share = order.role.share();
    let key_space =
        KeySpace::with_share(&order.arm.data, share).map_err(|error| error.to_string())?;
    let host = Host::here();
    let server = MeasuredServer::of(&order.standing, engine, &host);
    let network = Network::of_connections(&host)
        .map(|network| network.with_link(order.link_bytes_per_second));
    let is_networked = network.is_some();
    let figures = if order.role.watches_machine() {
        sampler(&order.standing, &host, server.as_ref())?
    } else {
        SliceSampler::of_engine()
    };
    let mut reporter = Reporter {
        speaker,
        runner,
        engine,
        sampler: WorkerSampler::new(),
        figures: figures.with_network(network),
        network: is_networked.then(NetworkPoint::default),
        order,
        ours: ours(order, &host, server.as_ref()),
        key_space: Arc::clone(&key_space),
        phase: String::new(),
        completed: Completed::default(),
        tally: Tally::new(None),
        due: None,
        lost: false,
        unusable: None,
    };
    let is_existing = plimsoll_plan::measures_existing(&order.arm.settings);
    if is_existing {
        check_existing(order, engine, &key_space)?;
    }
    let loaded = match is_existing || order.data == DataPhase::Copied {
        true => None,
        false => Some(load(order, engine, &key_space, &host, &mut reporter)?),
    };
    if reporter.stopped() {
        return Ok(Ended::Stopped);
    }
    if order.role != WorkerRole::Alone {
        reporter.speaker.say(&Frame::Stored);
        if reporter.word_unless_stopped()?.is_none() {
            return Ok(Ended::Stopped);
        }
    }
    if order.role.leads() {
        stored(order, engine, loaded.as_ref(), &mut reporter)?;
    }
    if order.data == DataPhase::LoadAlone {
        return Ok(Ended::Finished);
    }
    reporter.tell_extents()?;
    // The others wait before the first point until the first worker has reached it.
    if let Caches::Warm { within_ns } = order.measurement.caches
        && order.role.leads()
        && !warm(&host, within_ns, &mut reporter)?
    {
        return Ok(Ended::Stopped);
    }

    let objective = order.objective.as_ref();
    let mut agreed = None;
    let mut sequence =
        PointSequence::new(&order.points, &order.measurement, objective, &order.known);
    while let Some(step) = sequence.next_step().map_err(|error| error.to_string())? {
        if reporter.stopped() {
            return Ok(Ended::Stopped);
        }
        let end = measure_point(step, agreed, &host, &mut reporter)?;
        reporter.point_ends(&end)?;
        reporter.due = None;
        if let Some(why) = reporter.unusable.take() {
            // It is a result. Nothing is left that more could be measured of.
            return match order.points.len() {
                1 => Ok(Ended::Unusable),
                _ => Err(format!("after a power cut the database was unusable: {why}")),
            };
        }
        let lost = std::mem::take(&mut reporter.lost);
        if end.cut_short && !lost {
            return Ok(Ended::Stopped);
        }
        let outcome = match order.role {
            WorkerRole::Alone | WorkerRole::Watch => reporter.tally.outcome(&end),
            WorkerRole::Load { .. } => match reporter.word_unless_stopped()? {
                None => return Ok(Ended::Stopped),
                Some(Word::Outcome { outcome, records }) => {
                    // The loss may have been noticed after the point had ended.
                    runner.lost.store(false, Ordering::Relaxed);
                    agreed = Some(records);
                    outcome
                }
                Some(other) => return Err(format!("{other:?} is no outcome of a point")),
            },
        };
        sequence.done(outcome);
    }
    reporter.enter(Stage::Over, "over")?;
    if order.role.leads() {
        tell_application(&mut reporter)?;
    }
    reporter.tell_extents()?;
    Ok(Ended::Finished)
}

/// Measures one point. `agreed` is the number of records that all workers choose from, once they have inserted different numbers.
fn measure_point<W: Write>(
    step: Step,
    agreed: Option<u64>,
    host: &Host,
    reporter: &mut Reporter<'_, W>,
) -> Result<PointEnd, String> {
    let (order, engine) = (reporter.order, reporter.engine);
    let mix = &order.mixes[order.points[step.point].mix as usize];
    let spec = point_spec(order, &step);
    let window_ns = spec.warm_up_ns + spec.duration_ns;
    let planned = spec.operations.or_else(|| {
        let due = spec.load.expected_arrivals(window_ns);
        due.map(|count| count as u64)
    });
    // Workers that inserted different numbers of records must choose from the same.
    let workload = match agreed {
        None => Workload::new(&reporter.key_space, mix, spec.seed, planned),
        Some(records) => {
            Workload::with_records(&reporter.key_space, mix, spec.seed, planned, records)
        }
    };
    let workload = workload.map_err(|error| error.to_string())?;
    let workload = Arc::new(workload);
    let label = PointLabel {
        point: Some(step.point as u32),
        mix: mix.name.clone(),
        load_label: step.load_label,
        load: load_kind(&step.load, window_ns),
        trial: step.trial,
    };
    reporter.phase = format!("{}, {}", label.mix, label.load_label);
    if !order.measurement.checkpoints.is_as_they_come() && order.role.leads() {
        checkpoint(engine)?;
    }
    reporter.enter(Stage::WarmUp, "warm-up")?;
    reporter.speaker.say(&Frame::PointBegins {
        label,
        warm_up_ns: spec.warm_up_ns,
        duration_ns: spec.duration_ns,
        started_at: now(),
    });
    let objective = order.objective.as_ref();
    reporter.tally = Tally::new(objective.map(|objective| MixObjective { objective, mix }));
    // A trial ends as soon as its outcome is certain.
    reporter.due = step.trial.and_then(|_| spec.load.expected_arrivals(spec.duration_ns));
    let watched = (!order.events.is_empty()).then(|| Watched::new(engine));
    let requested: &dyn Engine = match &watched {
        Some(watched) => watched,
        None => engine,
    };
    let slowing = order.has_controls.then(|| order.arm.planted.unwrap_or(0.0));
    let slowed = slowing.map(|share| Slowed::new(requested, slowing_of(order, &spec.load, share)));
    let requested: &dyn Engine = match &slowed {
        Some(slowed) => slowed,
        None => requested,
    };
    let mut end =
        reporter.with_machine(host, |reporter| match order.measurement.log_operations {
            0 => run_point(requested, &workload, &spec, mix, reporter),
            most => run_point_noting(requested, &workload, &spec, mix, reporter, most as usize),
        })?;
    if let Some(watched) = watched.as_ref().filter(|_| !reporter.stopped()) {
        let mut seen = watched.disturbance(spec.warm_up_ns + end.measured_ns);
        reporter.speaker.say(&Frame::Heal);
        let mut cuts = match reporter.runner.receiver.recv() {
            Ok(Word::Healed(cuts)) => cuts,
            Ok(other) => return Err(format!("{other:?} does not say that all is back")),
            Err(_) => return Err(GONE.into()),
        };
        if !cuts.at_ns.is_empty() && cuts.unusable.is_none() {
            // A database that does not open again is a result, not an error.
            let opened = engine.recover().and_then(|()| engine.session());
            cuts.unusable = opened.err().map(|error| error.to_string());
        }
        if acknowledges(engine) {
            let is_embedded = order.standing.server.is_none();
            let found = watched.read_back(&cuts, is_embedded).map_err(|error| error.to_string())?;
            seen.acknowledged = Some(found);
        } else if cuts.unusable.is_some() {
            let unusable = cuts.unusable.clone();
            seen.acknowledged = Some(Acknowledged { unusable, ..Acknowledged::default() });
        }
        reporter.unusable = cuts.unusable;
        end.disturbance = Some(Box::new(seen));
    }
    Ok(end)
}

/// Stores the records of the experiment.
fn load<W: Write>(
    order: &Order,
    engine: &dyn Engine,
    key_space: &Arc<KeySpace>,
    host: &Host,
    reporter: &mut Reporter<'_, W>,
) -> Result<PointEnd, String> {
    let label = PointLabel {
        point: None,
        mix: "load".into(),
        load_label: Load::closed(order.load_sessions).to_string(),
        load: LoadKind::Closed { sessions: order.load_sessions, think_time_ns: 0, target: None },
        trial: None,
    };
    reporter.speaker.say(&Frame::LoadBegins {
        label,
        records: order.arm.data.key_count(),
        started_at: now(),
    });
    reporter.enter(Stage::Load, "load")?;
    let loader = key_space.loader(order.seed);
    let loaded = reporter.with_machine(host, |reporter| {
        // An engine within the worker has all the data for itself.
        let is_shared = kind(&order.arm.engine).is_some_and(|kind| kind.server.is_some());
        let spec = LoadSpec {
            share: if is_shared { order.role.share() } else { Share::WHOLE },
            ..LoadSpec::of(order.load_sessions)
        };
        run_load_with(engine, &loader, &spec, reporter, |_| ())
    })?;
    reporter.point_ends(&loaded)?;
    Ok(loaded)
}

/// Records that must be found before existing data is measured.
const SAMPLED_KEYS: u64 = 100;

/// The same of an application's documents.
fn check_documents(session: &mut dyn Session, key_space: &KeySpace) -> Result<(), String> {
    let operation = OwnOperation::new(StatementKind::Find, "existing");
    let operation = operation.map_err(|error| error.to_string())?;
    for (collection, command) in key_space.probes(SAMPLED_KEYS) {
        let statement = Statement {
            operation,
            slot: 0,
            command: &command,
            limit: 0,
            expected: Expected::Between(1, 1),
            units: 1,
            inserted: None,
            growth: None,
            sequence: None,
        };
        let mut answer = Answer::default();
        match session.statement(&statement, &mut answer) {
            Outcome::Error(message) => return Err(message.into()),
            _ if answer.documents == 1 => {}
            _ => {
                return Err(format!(
                    "`existing: use`: {collection} does not hold the documents of this experiment: one that the load would have stored is missing; nothing was changed. \
                     Take the file and the seed of the run that stored them, or leave out `existing`"
                ));
            }
        }
    }
    Ok(())
}

/// Proves by a sample that existing data hold the records that will be requested: an update of another document would change what is not ours,
/// and reads that find nothing measure nothing.
fn check_existing(order: &Order, engine: &dyn Engine, key_space: &KeySpace) -> Result<(), String> {
    let data = &order.arm.data;
    let words = |error: EngineError| error.to_string();
    let mut session = engine.session().map_err(words)?;
    if data.documents.is_some() {
        return check_documents(&mut *session, key_space);
    }
    let mut key = KeyText::new(data.key_order, data.zero_padding);
    let count = data.records.min(SAMPLED_KEYS);
    let refuse = |key: &[u8], what: &str| {
        Err(format!(
            "`existing: use`: {} is not the data of this experiment: {what} (`{}`); nothing was changed. \
             Its records have the keys and fields of YCSB; make `records`, `insert_start`, `insert_order`, `zero_padding` and `fields` fit the documents, or \
             name another `table`",
            data.table,
            String::from_utf8_lossy(key)
        ))
    };
    for sampled in 0..count {
        let number = (u128::from(sampled) * u128::from(data.records) / u128::from(count)) as u64;
        let key = key.write(number);
        let mut fields = NamedFields { data: key_space, found: 0 };
        match session.read(key, FieldChoice::All, Some(&mut fields)) {
            Outcome::Ok if fields.found >= data.field_count => {}
            Outcome::Ok => return refuse(key, "a document lacks fields that the workload uses"),
            Outcome::NotFound => return refuse(key, "a key that the workload uses is missing"),
            Outcome::Error(message) => return Err(message.into()),
            Outcome::Batched => return Err("a read was batched".into()),
        }
    }
    Ok(())
}

/// Counts fields that the experiment knows.
struct NamedFields<'a> {
    data: &'a KeySpace,
    found: u32,
}

impl FieldVisitor for NamedFields<'_> {
    fn field(&mut self, name: &[u8], _: &[u8]) {
        let known = 0..self.data.data().field_count;
        self.found += u32::from(known.into_iter().any(|index| self.data.field_name(index) == name));
    }
}

/// What is done once, when all data is stored: it is counted, and lies as it will be requested.
fn stored<W: Write>(
    order: &Order,
    engine: &dyn Engine,
    loaded: Option<&PointEnd>,
    reporter: &mut Reporter<'_, W>,
) -> Result<(), String> {
    let counted = engine.count().map_err(|error| error.to_string())?;
    reporter.speaker.say(&Frame::Counted { records: counted });
    let requested = order.arm.data.key_count();
    let is_ours = loaded.is_some() || order.data == DataPhase::Copied;
    if let Some(counted) = counted
        && is_ours
        && counted != requested
    {
        let first = match loaded.and_then(|loaded| loaded.errors.first()) {
            Some(error) => format!("; the first failure: {}", error.message),
            None => String::new(),
        };
        return Err(format!(
            "after the load the engine holds {counted} records, {requested} were requested{first}"
        ));
    }
    reporter.enter(Stage::Settling, "settling")?;
    engine.settle().map_err(|error| error.to_string())?;
    let data_bytes = engine.data_bytes().map_err(|error| error.to_string())?;
    tell_application(reporter)?;
    let caches_emptied = order.measurement.caches == Caches::Cold;
    if caches_emptied {
        if !engine.empty_cache().map_err(|error| error.to_string())? {
            return Err(format!(
                "`caches: cold`: the cache of {} cannot be emptied; leave it out",
                engine.description().name
            ));
        }
        reporter.ask(&Frame::DropPageCache)?;
    }
    reporter.speaker.say(&Frame::Settled { data_bytes, caches_emptied });
    if order.arm.rig.limits.page_cache_bytes.is_some() {
        reporter.ask(&Frame::SizeMemory)?;
    }
    Ok(())
}

/// Commands of each operation of an application that are explained at a time.
const EXPLAINED: u32 = 5;

/// Reports the collections and plans of an application, where there is one. Nothing is measured meanwhile.
fn tell_application<W: Write>(reporter: &mut Reporter<'_, W>) -> Result<(), String> {
    let order = reporter.order;
    let samples = reporter.key_space.samples(&order.mixes, order.seed, EXPLAINED);
    let samples = samples.map_err(|error| error.to_string())?;
    if let Some(state) = reporter.engine.application(&samples) {
        reporter.speaker.say(&Frame::Application { state: Box::new(state) });
    }
    Ok(())
}

/// Fills the caches by reads alone, so that the data stays what it is. `Ok(false)` where the run is stopped meanwhile.
fn warm<W: Write>(
    host: &Host,
    within_ns: u64,
    reporter: &mut Reporter<'_, W>,
) -> Result<bool, String> {
    let (order, engine) = (reporter.order, reporter.engine);
    let Some(mix) = order.mixes.iter().find(|mix| mix.reads()) else {
        return Ok(true);
    };
    let mut mix = Mix {
        read: 1.0,
        update: 0.0,
        insert: 0.0,
        scan: 0.0,
        read_modify_write: 0.0,
        ..mix.clone()
    };
    mix.operations.retain(|(own, _)| !own.kind().writes());
    let seed = point_seed(order.seed, WARMING);
    let workload =
        Workload::new(&reporter.key_space, &mix, seed, None).map_err(|error| error.to_string())?;
    let sessions = order.points.iter().map(|point| point.load.sessions()).max();
    let spec = PointSpec {
        load: Load::closed(sessions.unwrap_or(1)),
        warm_up_ns: 0,
        duration_ns: within_ns,
        operations: None,
        seed,
        verify: false,
        share: Share::WHOLE,
    };
    reporter.speaker.say(&Frame::Warming);
    if order.is_on_emulated_disk() {
        reporter.ask(&Frame::Enter { shaped: false, mark: "filling the caches".into() })?;
    }
    let mut hits = Hits::default();
    let end = reporter.with_machine(host, |reporter| {
        let mut warming = Warming { below: reporter, hits: std::mem::take(&mut hits) };
        let end = run_point(engine, &Arc::new(workload), &spec, &mix, &mut warming);
        hits = warming.hits;
        end
    })?;
    if let Some(first) = end.errors.first() {
        return Err(format!("while the caches were filled: {}", first.message));
    }
    reporter.speaker.say(&Frame::Warmed { caches: hits.reached() });
    Ok(!reporter.stopped())
}

/// Has the engine write a checkpoint, as the plan asks for.
fn checkpoint(engine: &dyn Engine) -> Result<(), String> {
    match engine.checkpoint().map_err(|error| error.to_string())? {
        true => Ok(()),
        false => Err(format!(
            "`checkpoints: before-points`: {} has no checkpoint on request, or its user has no right to it (mongod: the role hostManager)",
            engine.description().name
        )),
    }
}

/// The runner, which started this worker, the daemons and the servers; and servers that run by themselves on this machine.
fn ours(order: &Order, host: &Host, server: Option<&MeasuredServer>) -> Vec<u32> {
    let mut ours = vec![std::process::id(), std::os::unix::process::parent_id()];
    ours.extend(server.iter().flat_map(|server| &server.processes));
    if plimsoll_plan::server_uri(&order.arm.settings).is_some() {
        ours.extend(local_servers(host));
    }
    ours
}

/// Waits for the runner, which does something about the rig.
fn ask<W: Write>(speaker: &mut Speaker<W>, runner: &Runner, frame: &Frame) -> Result<(), String> {
    speaker.say(frame);
    let answered = runner.receiver.recv();
    answered.map(drop).map_err(|_| GONE.to_owned())
}

/// How a control is slowed down under a load.
fn slowing_of(order: &Order, load: &Load, share: f64) -> Slowing {
    match load {
        Load::Closed { .. } => Slowing::Pauses {
            share,
            busy: kind(&order.arm.engine).is_some_and(|kind| kind.server.is_none()),
        },
        Load::Open { .. } | Load::Stages { .. } => Slowing::Stretched { share },
    }
}

fn entering(order: &Order, stage: Stage, mark: &str) -> Frame {
    Frame::Enter { shaped: is_shaped(order.measurement.shaped_from, stage), mark: mark.to_owned() }
}

/// Whether writes wait for an answer: with w:0 nothing is promised, so nothing can be lost.
fn acknowledges(engine: &dyn Engine) -> bool {
    let settings = engine.description().settings;
    settings.get("write_concern").map(String::as_str) != Some("0")
}

fn point_spec(order: &Order, step: &Step) -> PointSpec {
    // Each trial of a search draws its own numbers as well.
    let draw = step.point as u64 | step.trial.map_or(0, |trial| (u64::from(trial) + 1) << 32);
    PointSpec {
        load: step.load.clone(),
        warm_up_ns: step.warm_up_ns,
        duration_ns: step.duration_ns,
        operations: step.operations,
        seed: point_seed(order.seed, draw),
        verify: order.arm.data.data_integrity,
        share: order.role.share(),
    }
}

/// Each point draws its own numbers. The constant is the golden ratio in 64 bits, as SplitMix64 steps.
fn point_seed(run_seed: u64, index: u64) -> u64 {
    run_seed ^ (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn load_kind(load: &Load, window_ns: u64) -> LoadKind {
    match load {
        Load::Closed { sessions, think_time_ns, target } => {
            LoadKind::Closed { sessions: *sessions, think_time_ns: *think_time_ns, target: *target }
        }
        Load::Open { rate, sessions, .. } => LoadKind::Open { rate: *rate, sessions: *sessions },
        Load::Stages { sessions, .. } => {
            let due = load.expected_arrivals(window_ns).unwrap_or(0.0);
            LoadKind::Open { rate: due / (window_ns as f64 / 1e9), sessions: *sessions }
        }
    }
}

/// Passes slices on, with what this process used.
struct Reporter<'a, W> {
    speaker: &'a mut Speaker<W>,
    runner: &'a Runner,
    engine: &'a dyn Engine,
    sampler: WorkerSampler,
    figures: SliceSampler,
    /// Traffic of the running phase; `None` without a network.
    network: Option<NetworkPoint>,
    order: &'a Order,
    /// Processes that measure or are measured, with all that descend from them.
    ours: Vec<u32>,
    key_space: Arc<KeySpace>,
    /// The running point in words, for marks in the trace.
    phase: String,
    completed: Completed,
    tally: Tally<'a>,
    /// Operations that are due in the measured part of the running trial; `None` where it is none.
    due: Option<f64>,
    /// Whether it has missed the objective already, whatever comes.
    lost: bool,
    /// Why a power cut was the end of the database.
    unusable: Option<String>,
}

impl<W: Write> Reporter<'_, W> {
    fn stopped(&self) -> bool {
        self.runner.stop.load(Ordering::Relaxed) || self.speaker.lost
    }

    /// Whether the running trial has missed the objective already, whatever comes.
    fn is_lost(&self) -> bool {
        self.due.is_some_and(|due| self.tally.is_lost(due))
    }

    /// Has the emulated disk, if there is one, brought into the state of this stage.
    fn enter(&mut self, stage: Stage, what: &str) -> Result<(), String> {
        if !self.order.is_on_emulated_disk() || !self.order.role.leads() {
            return Ok(());
        }
        let mark = self.mark(what);
        self.ask(&entering(self.order, stage, &mark))
    }

    fn mark(&self, what: &str) -> String {
        match self.phase.as_str() {
            "" => what.to_owned(),
            phase => format!("{phase}: {what}"),
        }
    }

    fn tell_extents(&mut self) -> Result<(), String> {
        if self.order.is_on_emulated_disk() && self.order.role.leads() {
            self.ask(&Frame::LieStill)?;
        }
        Ok(())
    }

    fn ask(&mut self, frame: &Frame) -> Result<(), String> {
        ask(self.speaker, self.runner, frame)
    }

    /// Waits for a word that comes when all workers are where this one is; `None` where the run is stopped before.
    fn word_unless_stopped(&mut self) -> Result<Option<Word>, String> {
        loop {
            match self.runner.receiver.recv_timeout(LOOK) {
                Ok(word) => return Ok(Some(word)),
                Err(RecvTimeoutError::Timeout) if self.stopped() => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(GONE.into()),
            }
        }
    }

    /// Runs a phase, and adds what happened to the machine meanwhile.
    fn with_machine(
        &mut self,
        host: &Host,
        phase: impl FnOnce(&mut Self) -> Result<PointEnd, LoadError>,
    ) -> Result<PointEnd, String> {
        self.completed = Completed::default();
        if let Some(network) = &mut self.network {
            *network = NetworkPoint::default();
        }
        // What happened between the phases belongs to none.
        let engine = self.engine;
        self.figures.sample(&mut |into| engine.statistics(into), &mut BTreeMap::new());
        let foreign = ForeignSampler::start(host, &self.ours);
        let system = SystemSampler::start(host);
        let mut end = phase(self).map_err(|error| error.to_string())?;
        let used = system.since_start();
        end.stolen_ns = used.stolen_ns;
        end.clock_jump_ns = used.clock_jump_ns;
        end.foreign = Some(Box::new(foreign.since_start()));
        end.network = self.network.clone().map(Box::new);
        Ok(end)
    }

    /// Reports the end of the phase. Fails when nothing at all succeeded.
    fn point_ends(&mut self, end: &PointEnd) -> Result<(), String> {
        self.speaker.say(&Frame::PointEnds {
            end: Box::new(end.clone()),
            records: self.key_space.records(),
        });
        let Completed { ok, not_found, error } = self.completed;
        match end.errors.first() {
            Some(first) if ok + not_found + error == 0 => {
                Err(format!("no operation of a point was answered: {}", first.message))
            }
            Some(first) if ok + not_found == 0 => Err(format!(
                "all {error} operations of a point failed, so nothing is left to measure: {}",
                first.message
            )),
            _ => Ok(()),
        }
    }
}

impl<W: Write> SliceSink for Reporter<'_, W> {
    fn slice(&mut self, mut slice: Slice) {
        if let Some(network) = &mut self.network {
            network.add(&slice);
        }
        // The network in a slice is that of the machine which is watched.
        if !self.order.role.watches_machine() {
            let telemetry = &mut slice.telemetry;
            telemetry.retain(|name, _| !name.starts_with(NETWORK));
        }
        self.completed += slice.completed;
        self.tally.add(&slice);
        self.lost |= match self.order.role {
            WorkerRole::Load { .. } => {
                self.due.is_some() && self.runner.lost.swap(false, Ordering::Relaxed)
            }
            _ => self.is_lost(),
        };
        self.speaker.say(&Frame::Slice { slice: Box::new(slice) });
    }

    fn sample(&mut self) -> (WorkerUse, BTreeMap<String, f64>) {
        let mut figures = BTreeMap::new();
        let engine = self.engine;
        self.figures.sample(&mut |into| engine.statistics(into), &mut figures);
        (self.sampler.sample(), figures)
    }

    fn ready(&mut self) -> Option<u64> {
        if self.order.role == WorkerRole::Alone {
            return None;
        }
        self.speaker.say(&Frame::Ready);
        match self.word_unless_stopped() {
            Ok(Some(Word::Begin { at_ns, .. })) => Some(at_ns),
            // It is being stopped, which the next question shows.
            _ => None,
        }
    }

    fn measuring_begins(&mut self, ago: Duration) {
        let mark = self.mark("measuring");
        let at_ns = monotonic_ns() - ago.as_nanos() as u64;
        self.speaker.say(&Frame::Measuring { mark, at_ns });
        // By now all connections stand.
        if let Some(network) = &mut self.network {
            network.round_trips = round_trips(&Host::here());
        }
    }

    fn overdue(&mut self, since_end: Duration) {
        if since_end >= Duration::from_nanos(self.order.measurement.end_timeout_ns) {
            let message = format!(
                "operations that began before the end of a point had not returned {} s after it, although their connections were closed; \
                 `measurement: {{end_timeout: …}}` waits longer",
                since_end.as_secs()
            );
            self.speaker.say(&Frame::Failed { message });
            // Nothing else ends threads that wait for an engine.
            std::process::exit(1);
        }
    }

    fn stop_requested(&mut self) -> bool {
        self.stopped() || self.lost
    }
}
