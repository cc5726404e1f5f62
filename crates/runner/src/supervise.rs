//! The worker processes of a run: started, listened to, stopped, and explained when they die.

use crate::below::Below;
use crate::error::RunnerError;
use crate::frames::{FRAMES_VERSION, Frame, Order, REPLACED, Word, WorkerRole};
use crate::host::{RunHost, StartedWorker, WorkerExit, WorkerHandle, WorkerStart};
use crate::team::Team;
use plimsoll_loadgen::monotonic_ns;
use plimsoll_record::files::read_line_within;
use plimsoll_record::{Half, Machine};
use plimsoll_rig::{Built, RigError};
use serde::Serialize;
use std::io::{BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// A worker that says nothing for this long is taken for hung. Counting and warming a large database are silent and may take minutes.
const SILENCE: Duration = Duration::from_secs(1_800);
/// Interval of looks for a request to stop.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes of a frame: the end of a point has histograms of every host and operation.
const LONGEST_FRAME: usize = 64 << 20;
/// How long a worker may take to end its run in order after the request to stop.
const STOPPING: Duration = Duration::from_secs(20);
/// How long a worker that is killed may take until its output ends.
const GOING: Duration = Duration::from_secs(1);
/// Why a run ends whose partner has failed.
pub(crate) const PARTNER_FAILED: &str = "the other half of its duet failed";
/// Time between two checks whether what the run stands on is still there.
const SOUNDING: Duration = Duration::from_millis(500);

/// A worker of a run, before it is started.
pub(crate) struct Member<'a> {
    pub(crate) host: Rc<dyn RunHost + 'a>,
    /// The name of that in the file.
    pub(crate) name: Option<&'a str>,
    pub(crate) role: WorkerRole,
    /// What its link carries each way, bytes a second, where the plan says so.
    pub(crate) link_bytes_per_second: Option<u64>,
    /// The machine; `None` where it works alone and the question does not arise.
    pub(crate) machine: Option<Machine>,
    /// Whether what is under test stands there.
    pub(crate) is_below: bool,
}

/// How the workers of a run are started.
pub(crate) struct Start<'a> {
    /// The load hosts in the order of their shares; then the watching one, if there is one.
    pub(crate) members: &'a [Member<'a>],
    /// What the run stands on: its workers there have a mark, by which they are known again when they outlive this program, and run as who owns the data.
    pub(crate) rig: Option<&'a Built>,
    /// The half of the machine that it has; `None`: all of it.
    pub(crate) half: Option<&'a Half>,
}

/// A run to supervise.
pub(crate) struct Supervised<'a> {
    pub(crate) start: Start<'a>,
    pub(crate) order: &'a Order,
    pub(crate) below: &'a dyn Below,
}

/// How the workers of a run ended.
pub(crate) enum WorkerEnd {
    Done,
    Stopped,
    Failed(String),
}

/// Starts the workers of runs, has their processes put where they belong, gives them their orders, and hands every frame to `take` with the number of its run,
/// those of several workers as one. Of several runs the load and each point begin at the same instants; when one fails, so do the others. A worker that stands on
/// something that is no longer sound is ended at once. `interruptions` of 1 stops them cleanly, of 2 at once. When `take` fails, they are ended at once and the
/// failure returned. Returns how each run ended.
pub(crate) fn supervise(
    runs: &[Supervised<'_>],
    interruptions: &dyn Fn() -> u32,
    mut take: impl FnMut(usize, Frame) -> Result<(), RunnerError>,
) -> Result<Vec<WorkerEnd>, RunnerError> {
    let (tell, receiver) = channel();
    let mut all = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        all.push(RunWorkers::start(number, run, &tell)?);
    }
    drop(tell);
    for run in &mut all {
        run.admit(&receiver)?;
    }
    let mut requested_stop: Option<Instant> = None;
    let mut last_heard = Instant::now();
    let mut last_sounded = Instant::now();
    loop {
        if let Some(failed) = all.iter().position(RunWorkers::has_failed) {
            for (number, run) in all.iter_mut().enumerate() {
                if number != failed && !run.has_ended() {
                    run.ends(WorkerEnd::Failed(PARTNER_FAILED.into()));
                }
            }
        }
        if all.iter().all(RunWorkers::has_ended) {
            break;
        }
        let rest = all.iter().map(|run| run.team.agenda.rest(LOOK)).min();
        match receiver.recv_timeout(rest.unwrap_or(LOOK)) {
            Ok(WorkerFrame { run, place, frame }) => {
                // One that watches speaks each second, whatever the others do.
                if !matches!(frame, None | Some(Frame::Watched { .. })) {
                    last_heard = Instant::now();
                }
                let take = &mut |frame| take(run, frame);
                all[run].hears(place, frame, take)?;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                for run in &mut all {
                    run.ends_as_its_team();
                }
                break;
            }
        }
        if all.iter().all(|run| run.has_ended() || run.team.is_ready()) {
            begin(&mut all, &mut take)?;
        }
        for run in &mut all {
            run.looks_after();
        }
        match interruptions() {
            0 => {}
            1 if requested_stop.is_none() => {
                requested_stop = Some(Instant::now());
                for run in &mut all {
                    run.team.stop(&mut run.workers);
                }
            }
            1 if requested_stop.is_some_and(|requested| requested.elapsed() < STOPPING) => {}
            // One that does not move, because it is stopped or waits for its disk, is not waited for. They are killed as they are dropped.
            _ => all.iter_mut().for_each(|run| run.ends(WorkerEnd::Stopped)),
        }
        if last_sounded.elapsed() > SOUNDING {
            last_sounded = Instant::now();
            for run in &mut all {
                if !run.below.is_sound() {
                    // An engine whose disk is gone may try forever.
                    run.ends(WorkerEnd::Failed("the worker was ended".into()));
                }
            }
        }
        if last_heard.elapsed() > SILENCE && !all.iter().all(|run| run.team.is_over()) {
            let minutes = SILENCE.as_secs() / 60;
            for run in &mut all {
                run.ends(WorkerEnd::Failed(format!(
                    "the worker said nothing for {minutes} minutes and was ended: a call into the engine did not return"
                )));
            }
        }
    }
    let ends = all.into_iter().map(|run| run.end);
    Ok(ends.map(|end| end.unwrap_or(WorkerEnd::Stopped)).collect())
}

/// All workers of all runs are ready: what follows begins at one instant.
fn begin(
    all: &mut [RunWorkers<'_>],
    take: &mut impl FnMut(usize, Frame) -> Result<(), RunnerError>,
) -> Result<(), RunnerError> {
    let mut ahead = Duration::ZERO;
    for run in all.iter_mut() {
        ahead = ahead.max(run.team.reads_clocks());
    }
    let at_ns = monotonic_ns() + ahead.as_nanos() as u64;
    for (number, run) in all.iter_mut().enumerate() {
        if !run.has_ended() {
            let take = &mut |frame| take(number, frame);
            run.team.begin(at_ns, ahead, &mut run.workers, take)?;
        }
    }
    Ok(())
}

struct RunWorkers<'a> {
    number: usize,
    start: &'a Start<'a>,
    below: &'a dyn Below,
    workers: Vec<Worker>,
    team: Team<'a>,
    end: Option<WorkerEnd>,
}

impl<'a> RunWorkers<'a> {
    fn start(
        number: usize,
        run: &'a Supervised<'a>,
        tell: &Sender<WorkerFrame>,
    ) -> Result<Self, RunnerError> {
        let Supervised { start, order, below } = run;
        // The limits are those of what is under test.
        let is_limited = order.arm.rig.limits.is_of_memory() && order.standing.server.is_none();
        let mut workers = Vec::new();
        for place in 0..start.members.len() {
            let variables = plimsoll_plan::uri_variables(&order.arm.settings);
            let place_of_run = (number, place);
            let worker = Worker::start(start, is_limited, variables, place_of_run, tell.clone())?;
            tracing::debug!("the worker is process {}, number {place} of its run", worker.process);
            workers.push(worker);
        }
        Ok(Self {
            number,
            start,
            below: *below,
            workers,
            team: Team::new(start, order, *below),
            end: None,
        })
    }

    /// Puts the workers under the limits of what they stand on, and gives them their orders. Before that they do nothing, so all that they will ever use is counted
    /// and limited.
    fn admit(&mut self, receiver: &Receiver<WorkerFrame>) -> Result<(), RunnerError> {
        for (place, worker) in self.workers.iter_mut().enumerate() {
            if !self.start.members[place].is_below {
                continue;
            }
            let Err(error) = self.below.admit(worker.process) else {
                continue;
            };
            // The next check of the rig finds that it is gone, and ends the experiment.
            if matches!(error, RigError::Gone(_)) {
                self.end = Some(WorkerEnd::Failed(error.to_string()));
                return Ok(());
            }
            if !is_going((self.number, place), receiver) {
                return Err(error.into());
            }
            // It was killed just then, which fails its run and nothing else.
            self.end = Some(WorkerEnd::Failed(died(&worker.wait())));
            return Ok(());
        }
        self.team.give_orders(&mut self.workers, |member| {
            member.role.leads() || member.role == WorkerRole::Watch
        });
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    fn has_failed(&self) -> bool {
        matches!(self.end, Some(WorkerEnd::Failed(_)))
    }

    /// It ends so, unless it has ended before. Its workers are killed.
    fn ends(&mut self, end: WorkerEnd) {
        if self.end.is_none() {
            self.end = Some(end);
            self.workers.iter_mut().for_each(Worker::kill);
        }
    }

    fn ends_as_its_team(&mut self) {
        if self.end.is_none() {
            self.end = Some(self.team.end());
        }
    }

    /// Takes a frame of a worker, or that its output has ended.
    fn hears(
        &mut self,
        place: usize,
        frame: Option<Frame>,
        take: &mut impl FnMut(Frame) -> Result<(), RunnerError>,
    ) -> Result<(), RunnerError> {
        if self.has_ended() {
            return Ok(());
        }
        match frame {
            Some(Frame::Hello { frames }) if frames != FRAMES_VERSION => {
                self.ends(WorkerEnd::Failed(REPLACED.into()));
            }
            Some(frame) => self.team.takes(place, frame, &mut self.workers, take)?,
            None => self.team.has_ended(place, &mut self.workers),
        }
        if self.team.are_all_gone() {
            self.ends_as_its_team();
        }
        Ok(())
    }

    /// Does what is due below, and checks whether the run can continue.
    fn looks_after(&mut self) {
        if self.has_ended() {
            return;
        }
        let carried_out = self.team.agenda.carry_out(self.below);
        if let Err(error) = self.team.done.take().map_or(carried_out, Err) {
            self.ends(WorkerEnd::Failed(error.to_string()));
        } else if let Some(failure) = self.team.failure() {
            self.ends(WorkerEnd::Failed(failure));
        }
    }
}

struct WorkerFrame {
    /// The number of its run.
    run: usize,
    place: usize,
    /// `None` when its output has ended.
    frame: Option<Frame>,
}

pub(crate) struct Worker {
    process: u32,
    input: Option<Box<dyn Write + Send>>,
    handle: Box<dyn WorkerHandle>,
}

impl Worker {
    fn start(
        start: &Start<'_>,
        is_limited: bool,
        variables: Vec<String>,
        (run, place): (usize, usize),
        tell: Sender<WorkerFrame>,
    ) -> Result<Self, RunnerError> {
        let member = &start.members[place];
        let rig = start.rig.filter(|_| member.is_below);
        let StartedWorker { process, input, output, handle } =
            member.host.start_worker(&WorkerStart {
                frugal: is_limited && member.is_below,
                mark: rig.map(|rig| rig.mark.clone()),
                user: rig.and_then(|rig| rig.user),
                variables,
                processors: start.half.map(|half| half.processors.clone()),
            })?;
        let says = move |frame| tell.send(WorkerFrame { run, place, frame }).is_ok();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = String::new();
            while let Ok(true) = read_line_within(&mut output, &mut line, LONGEST_FRAME) {
                // A line cut off by the worker's death is no frame, and nothing follows it.
                let Ok(frame) = serde_json::from_str(&line) else {
                    break;
                };
                if !says(Some(frame)) {
                    return;
                }
            }
            says(None);
        });
        Ok(Self { process, input: Some(input), handle })
    }

    /// A worker that is gone is noticed at the end of its frames.
    fn write(&mut self, what: &impl Serialize) {
        if let Some(input) = &mut self.input {
            let mut line = serde_json::to_vec(what).expect("orders and words are plain data");
            line.push(b'\n');
            let _ = input.write_all(&line);
        }
    }

    pub(crate) fn say(&mut self, word: &Word) {
        self.write(word);
    }

    pub(crate) fn give(&mut self, order: &Order) {
        self.write(order);
    }

    /// Closes its input, so that it ends.
    pub(crate) fn close_input(&mut self) {
        drop(self.input.take());
    }

    fn kill(&mut self) {
        self.handle.kill();
    }

    pub(crate) fn wait(&mut self) -> WorkerExit {
        self.close_input();
        self.handle.wait()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // After `wait` this does nothing: the process is gone already.
        self.kill();
    }
}

/// Whether a worker has ended or is about to: its output ends. Everything else before the first order is ignored.
fn is_going((run, place): (usize, usize), receiver: &Receiver<WorkerFrame>) -> bool {
    loop {
        match receiver.recv_timeout(GOING) {
            Ok(one) if (one.run, one.place) == (run, place) && one.frame.is_none() => return true,
            Ok(_) => {}
            Err(end) => return matches!(end, RecvTimeoutError::Disconnected),
        }
    }
}

pub(crate) fn died(exit: &WorkerExit) -> String {
    let how = match exit.status() {
        Some(status) => match (status.signal(), status.code()) {
            (Some(9), _) => {
                "was killed (SIGKILL): by a user, or by the kernel because memory ran out; see `dmesg`".to_owned()
            }
            (Some(signal), _) => format!("crashed with signal {signal}"),
            (None, Some(code)) => format!("ended with exit code {code} before its run was over"),
            (None, None) => "ended".to_owned(),
        },
        None => "vanished".to_owned(),
    };
    if exit.last_words.is_empty() {
        return format!("the worker process {how}");
    }
    format!("the worker process {how}; its last words: {}", exit.last_words.join(" / "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_death_is_explained() {
        let killed = died(&WorkerExit { status: Some(9), last_words: Vec::new() });
        assert!(killed.contains("SIGKILL"), "{killed}");
        let failed =
            died(&WorkerExit { status: Some(3 << 8), last_words: vec!["out of cheese".into()] });
        let expected = "the worker process ended with exit code 3 before its run was over; its last words: out of cheese";
        assert_eq!(failed, expected);
    }
}
