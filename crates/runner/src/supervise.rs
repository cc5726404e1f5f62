//! One worker process: started, listened to, stopped, and explained when it dies.

use crate::agenda::Agenda;
use crate::error::RunnerError;
use crate::frames::{FRAMES_VERSION, Frame, GO_ON, Order, REPLACED, STOP};
use crate::host::{RunHost, StartedWorker, WorkerExit, WorkerHandle, WorkerStart};
use plimsoll_rig::{Built, Disturb, Disturbed, RigError};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A worker that says nothing for so long is taken for hung. Counting and warming a large database are silent and may take minutes.
const SILENCE: Duration = Duration::from_secs(1_800);
/// How often the wish to stop is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How long a worker that is killed may take until its output ends.
const GOING: Duration = Duration::from_secs(1);
/// How often it is looked whether what the run stands on is still there.
const SOUNDING: Duration = Duration::from_millis(500);

/// How the worker of a run is started.
pub(crate) struct Start<'a> {
    /// Where.
    pub(crate) host: &'a dyn RunHost,
    /// What it stands on: it has a mark, by which it is known again when it outlives this program, and runs as who owns the data.
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

/// How the worker ended.
pub(crate) enum WorkerEnd {
    Done,
    Stopped,
    Failed(String),
}

/// Starts a worker, has its process put where it belongs, gives it this order, and hands every frame to `take`. A worker that stands on something
/// that is no longer sound is ended at once. `interruptions` of 1 stops it cleanly, of 2 at once. When `take`
/// fails, the worker is ended at once and the failure returned.
pub(crate) fn supervise(
    start: &Start<'_>,
    order: &Order,
    interruptions: &dyn Fn() -> u32,
    below: &dyn Below,
    mut take: impl FnMut(Frame) -> Result<(), RunnerError>,
) -> Result<WorkerEnd, RunnerError> {
    // The limits are those of what is under test.
    let is_limited = order.arm.rig.limits.is_of_memory() && order.standing.server.is_none();
    let mut worker = Worker::start(start, is_limited)?;
    tracing::debug!("the worker is process {}", worker.process);
    // Before it has its order it does nothing, so all that it will ever use is counted and limited.
    if let Err(error) = below.admit(worker.process) {
        // Whoever asks next whether the rig is sound learns that it is gone, and ends the experiment.
        if matches!(error, RigError::Gone(_)) {
            worker.kill();
            return Ok(WorkerEnd::Failed(error.to_string()));
        }
        if !worker.is_going() {
            return Err(error.into());
        }
        // It was killed just then, which fails its run and nothing else.
        return Ok(WorkerEnd::Failed(died(&worker.wait())));
    }
    worker.write_line(&serde_json::to_string(order).expect("an order is plain data"));
    let mut asked_to_stop = false;
    let mut last_heard = Instant::now();
    let mut last_sounded = Instant::now();
    let mut end = None;
    let mut agenda = Agenda::of(&order.events);
    loop {
        let mut done = Ok(());
        match worker.frames.recv_timeout(agenda.rest(LOOK)) {
            Ok(Frame::Hello { frames }) if frames != FRAMES_VERSION => {
                end = Some(WorkerEnd::Failed(REPLACED.into()));
                break;
            }
            Ok(Frame::Done) => end = Some(WorkerEnd::Done),
            Ok(Frame::Stopped) => end = Some(WorkerEnd::Stopped),
            Ok(Frame::Failed { message }) => end = Some(WorkerEnd::Failed(message)),
            Ok(
                frame @ (Frame::Enter { .. } | Frame::SizeMemory | Frame::LieStill | Frame::Heal),
            ) => {
                last_heard = Instant::now();
                done = match frame {
                    Frame::Enter { shaped, mark } => below.shape(shaped, &mark),
                    Frame::Heal => {
                        agenda.is_over();
                        below.heal()
                    }
                    Frame::SizeMemory => below.size_memory(),
                    _ => below.map(),
                };
                if done.is_ok() {
                    worker.write_line(GO_ON);
                }
            }
            Ok(Frame::Measuring { mark }) => {
                agenda.begins();
                if order.is_on_emulated_disk() {
                    done = below.shape(true, &mark);
                }
                // Once more: caches and buffers have grown since the load.
                if order.arm.rig.limits.page_cache_bytes.is_some() {
                    done = done.and_then(|()| below.size_memory());
                }
            }
            Ok(mut frame) => {
                last_heard = Instant::now();
                if let Frame::PointEnds { end } = &mut frame
                    && let Some(seen) = &mut end.disturbance
                {
                    seen.events = agenda.take(seen.started_ns);
                }
                take(frame)?;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if let Err(error) = done.and_then(|()| agenda.carry_out(below)) {
            worker.kill();
            return Ok(WorkerEnd::Failed(error.to_string()));
        }
        match interruptions() {
            0 => {}
            1 if !asked_to_stop => {
                asked_to_stop = true;
                worker.write_line(STOP);
            }
            1 => {}
            _ => {
                worker.kill();
                return Ok(WorkerEnd::Stopped);
            }
        }
        if last_sounded.elapsed() > SOUNDING {
            last_sounded = Instant::now();
            if !below.is_sound() {
                // An engine whose disk is gone may try for ever.
                worker.kill();
                return Ok(WorkerEnd::Failed("the worker was ended".into()));
            }
        }
        if last_heard.elapsed() > SILENCE && end.is_none() {
            worker.kill();
            return Ok(WorkerEnd::Failed(format!(
                "the worker said nothing for {} minutes and was ended: a call into the engine did not return",
                SILENCE.as_secs() / 60
            )));
        }
    }
    let exit = worker.wait();
    match exit.status() {
        Some(status) => tracing::debug!("the worker has ended: {status}"),
        None => tracing::warn!("the worker is gone, nobody knows how"),
    }
    Ok(end.unwrap_or_else(|| WorkerEnd::Failed(died(&exit))))
}

struct Worker {
    process: u32,
    input: Option<Box<dyn Write + Send>>,
    frames: Receiver<Frame>,
    handle: Box<dyn WorkerHandle>,
}

impl Worker {
    fn start(start: &Start<'_>, is_limited: bool) -> Result<Self, RunnerError> {
        let StartedWorker {
            process,
            input,
            output,
            handle,
        } = start.host.start_worker(&WorkerStart {
            frugal: is_limited,
            mark: start.rig.map(|rig| rig.mark.clone()),
            user: start.rig.and_then(|rig| rig.user),
        })?;
        let (sender, frames) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { break };
                // A line cut off by the worker's death is no frame, and nothing follows it.
                let Ok(frame) = serde_json::from_str(&line) else {
                    break;
                };
                if sender.send(frame).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            process,
            input: Some(input),
            frames,
            handle,
        })
    }

    /// A worker that is gone is noticed at the end of its frames.
    fn write_line(&mut self, line: &str) {
        if let Some(input) = &mut self.input {
            let _ = input.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Whether it is about to be gone, or is: its output ends.
    fn is_going(&self) -> bool {
        loop {
            match self.frames.recv_timeout(GOING) {
                Ok(_) => {}
                Err(end) => return matches!(end, RecvTimeoutError::Disconnected),
            }
        }
    }

    fn kill(&mut self) {
        self.handle.kill();
    }

    fn wait(mut self) -> WorkerExit {
        drop(self.input.take());
        self.handle.wait()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // After `wait` this does nothing: the process is gone already.
        self.kill();
    }
}

fn died(exit: &WorkerExit) -> String {
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
