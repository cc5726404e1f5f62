//! The worker processes of a run: started, listened to, stopped, and explained when they die.

use crate::error::RunnerError;
use crate::frames::{FRAMES_VERSION, Frame, Order, REPLACED, Word, WorkerRole};
use crate::host::{RunHost, StartedWorker, WorkerExit, WorkerHandle, WorkerStart};
use crate::team::Team;
use plimsoll_record::Machine;
use plimsoll_rig::{Built, Disturb, Disturbed, RigError};
use serde::Serialize;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// A worker that says nothing for so long is taken for hung. Counting and warming a large database are silent and may take minutes.
const SILENCE: Duration = Duration::from_secs(1_800);
/// How often the wish to stop is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How long a worker that is killed may take until its output ends.
const GOING: Duration = Duration::from_secs(1);
/// How often it is looked whether what the run stands on is still there.
const SOUNDING: Duration = Duration::from_millis(500);

/// A worker of a run, before it is started.
pub(crate) struct Member<'a> {
    /// Its machine.
    pub(crate) host: Rc<dyn RunHost + 'a>,
    /// The name of that in the file.
    pub(crate) name: Option<&'a str>,
    /// What it does.
    pub(crate) role: WorkerRole,
    /// What that is; `None` where it works alone and nobody asks.
    pub(crate) machine: Option<Machine>,
    /// Whether what is under test stands there.
    pub(crate) is_below: bool,
}

/// How the workers of a run are started.
pub(crate) struct Start<'a> {
    /// Those that make load, in the order of their shares; then the one that watches, if there is one.
    pub(crate) members: &'a [Member<'a>],
    /// What the run stands on: its workers there have a mark, by which they are known again when they outlive this program, and run as who owns the data.
    pub(crate) rig: Option<&'a Built>,
}

/// What the rig below a worker does for it.
pub(crate) trait Below {
    /// Puts the process where it belongs.
    fn admit(&self, process: u32) -> Result<(), RigError>;
    /// Whether all is still there.
    fn is_sound(&self) -> bool;
    /// Gives the emulated disk its limits or takes them away, and marks its trace.
    fn shape(&self, shaped: bool, mark: &str) -> Result<(), RigError>;
    /// Looks where the files lie, which lie still.
    fn map(&self) -> Result<(), RigError>;
    /// Limits the memory to what is taken now and the page cache that was asked for.
    fn size_memory(&self) -> Result<(), RigError>;
    /// Does something to a member of the server.
    fn disturb(&self, what: Disturb) -> Result<Disturbed, RigError>;
    /// Brings all members of the server back.
    fn heal(&self) -> Result<(), RigError>;
}

/// How the workers ended.
pub(crate) enum WorkerEnd {
    Done,
    Stopped,
    Failed(String),
}

/// Starts the workers of a run, has their processes put where they belong, gives them their orders, and hands every frame to `take`, those of several
/// workers as one. A worker that stands on something that is no longer sound is ended at once. `interruptions` of 1 stops them cleanly, of 2 at once. When `take`
/// fails, they are ended at once and the failure returned.
pub(crate) fn supervise(
    start: &Start<'_>,
    order: &Order,
    interruptions: &dyn Fn() -> u32,
    below: &dyn Below,
    mut take: impl FnMut(Frame) -> Result<(), RunnerError>,
) -> Result<WorkerEnd, RunnerError> {
    // The limits are those of what is under test.
    let is_limited = order.arm.rig.limits.is_of_memory() && order.standing.server.is_none();
    let (tell, told) = channel();
    let mut workers = Vec::new();
    for (place, member) in start.members.iter().enumerate() {
        let worker = Worker::start(member, start.rig, is_limited, place, tell.clone())?;
        tracing::debug!(
            "the worker is process {}, number {place} of its run",
            worker.process
        );
        workers.push(worker);
    }
    drop(tell);
    for place in 0..workers.len() {
        if !start.members[place].is_below {
            continue;
        }
        // Before it has its order it does nothing, so all that it will ever use is counted and limited.
        if let Err(error) = below.admit(workers[place].process) {
            // Whoever asks next whether the rig is sound learns that it is gone, and ends the experiment.
            if matches!(error, RigError::Gone(_)) {
                return Ok(WorkerEnd::Failed(error.to_string()));
            }
            if !is_going(place, &told) {
                return Err(error.into());
            }
            // It was killed just then, which fails its run and nothing else.
            return Ok(WorkerEnd::Failed(died(&workers.swap_remove(place).wait())));
        }
    }
    let mut team = Team::new(start, order, below);
    team.give_orders(&mut workers, |member| {
        member.role.leads() || member.role == WorkerRole::Watch
    });
    let mut asked_to_stop = false;
    let mut last_heard = Instant::now();
    let mut last_sounded = Instant::now();
    loop {
        match told.recv_timeout(team.agenda.rest(LOOK)) {
            Ok((place, Some(frame))) => {
                // One that watches speaks each second, whatever the others do.
                if !matches!(frame, Frame::Watched { .. }) {
                    last_heard = Instant::now();
                }
                if matches!(&frame, Frame::Hello { frames } if *frames != FRAMES_VERSION) {
                    return Ok(WorkerEnd::Failed(REPLACED.into()));
                }
                team.takes(place, frame, &mut workers, &mut take)?;
            }
            Ok((place, None)) => team.has_ended(place, &mut workers),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if team.are_all_gone() {
            break;
        }
        let carried_out = team.agenda.carry_out(below);
        if let Err(error) = team.done.take().map_or(carried_out, Err) {
            return Ok(WorkerEnd::Failed(error.to_string()));
        }
        if let Some(failure) = team.failure() {
            return Ok(WorkerEnd::Failed(failure));
        }
        match interruptions() {
            0 => {}
            1 if !asked_to_stop => {
                asked_to_stop = true;
                team.stop(&mut workers);
            }
            1 => {}
            // They are killed as they are dropped.
            _ => return Ok(WorkerEnd::Stopped),
        }
        if last_sounded.elapsed() > SOUNDING {
            last_sounded = Instant::now();
            if !below.is_sound() {
                // An engine whose disk is gone may try for ever.
                return Ok(WorkerEnd::Failed("the worker was ended".into()));
            }
        }
        if last_heard.elapsed() > SILENCE && !team.is_over() {
            return Ok(WorkerEnd::Failed(format!(
                "the worker said nothing for {} minutes and was ended: a call into the engine did not return",
                SILENCE.as_secs() / 60
            )));
        }
    }
    Ok(team.end())
}

/// A frame of a worker by its place, or that its output has ended.
type Told = (usize, Option<Frame>);

/// A worker process.
pub(crate) struct Worker {
    process: u32,
    input: Option<Box<dyn Write + Send>>,
    handle: Box<dyn WorkerHandle>,
}

impl Worker {
    fn start(
        member: &Member<'_>,
        rig: Option<&Built>,
        is_limited: bool,
        place: usize,
        tell: Sender<Told>,
    ) -> Result<Self, RunnerError> {
        let rig = rig.filter(|_| member.is_below);
        let StartedWorker {
            process,
            input,
            output,
            handle,
        } = member.host.start_worker(&WorkerStart {
            frugal: is_limited && member.is_below,
            mark: rig.map(|rig| rig.mark.clone()),
            user: rig.and_then(|rig| rig.user),
        })?;
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { break };
                // A line cut off by the worker's death is no frame, and nothing follows it.
                let Ok(frame) = serde_json::from_str(&line) else {
                    break;
                };
                if tell.send((place, Some(frame))).is_err() {
                    return;
                }
            }
            let _ = tell.send((place, None));
        });
        Ok(Self {
            process,
            input: Some(input),
            handle,
        })
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

    /// It hears that there is nothing to do, and ends.
    pub(crate) fn lets_go(&mut self) {
        drop(self.input.take());
    }

    pub(crate) fn wait(&mut self) -> WorkerExit {
        drop(self.input.take());
        self.handle.wait()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // After `wait` this does nothing: the process is gone already.
        self.handle.kill();
    }
}

/// Whether a worker is about to be gone, or is: its output ends.
fn is_going(place: usize, told: &Receiver<Told>) -> bool {
    loop {
        match told.recv_timeout(GOING) {
            Ok((of, None)) if of == place => return true,
            Ok(_) => {}
            Err(end) => return matches!(end, RecvTimeoutError::Disconnected),
        }
    }
}

pub(crate) fn died(exit: &WorkerExit) -> String {
    let how = match exit.status() {
        Some(status) => match (status.signal(), status.code()) {
            (Some(9), _) => {
                "was killed (SIGKILL): by somebody, or by the kernel for want of memory, which `dmesg` would tell".to_owned()
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
    format!(
        "the worker process {how}; its last words: {}",
        exit.last_words.join(" / ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_death_is_explained() {
        let killed = died(&WorkerExit {
            status: Some(9),
            last_words: Vec::new(),
        });
        assert!(killed.contains("SIGKILL"), "{killed}");
        let failed = died(&WorkerExit {
            status: Some(3 << 8),
            last_words: vec!["out of cheese".into()],
        });
        let expected = "the worker process ended with exit code 3 before its run was over; its last words: out of cheese";
        assert_eq!(failed, expected);
    }
}
