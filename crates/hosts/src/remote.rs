//! The side of the program: another machine, as the runner sees it.

use crate::carrier::{Carrier, Channels, Control};
use crate::message::{Ask, BEAT, Clocks, Event, Greeting, LEASE, Request, VERSION};
use plimsoll_engine::MetricsSample;
use plimsoll_record::{ClockOffset, Machine, RoundTrip};
use plimsoll_rig::{RigError, RigProcess};
use plimsoll_runner::{
    ClockReader, RunHost, RunnerError, StartedWorker, WorkerExit, WorkerHandle, WorkerStart,
    monotonic_ns,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The number of probes by which the clock of another machine is found.
const ROUND_TRIPS: usize = 64;
/// How long the program of an agent may take to start and to greet.
const START: Duration = Duration::from_secs(20);
/// How long an agent may take to answer what takes no time.
const ANSWER: Duration = Duration::from_secs(10);
/// How long it may take to send what a server wrote, or a file, without any of it coming.
const LONGEST_ANSWER: Duration = Duration::from_secs(600);
/// How long nothing of a file may come.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How long a process that carries may take to end once its input has ended.
const LONGEST_END: Duration = Duration::from_secs(60);
/// How long a process may take to end that carries to no agent.
const SHORTEST_END: Duration = Duration::from_secs(1);
/// The channel of the process that makes rigs.
const RIG: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    pub program: String,
    /// SHA-256 of its file, in hexadecimal digits.
    pub hash: String,
}

impl Identity {
    /// The identity of the program in a file.
    pub fn of(program: String, file: &Path) -> io::Result<Self> {
        let hash = Sha256::digest(std::fs::read(file)?);
        Ok(Self { program, hash: hash.iter().map(|byte| format!("{byte:02x}")).collect() })
    }
}

impl Identity {
    /// Whether the other program is this one. Files for different kinds of processors differ; of them it is enough that they were built from the same commit.
    fn is_same_as(&self, other: &Greeting) -> bool {
        let is_clean = !self.program.contains("dirty");
        other.hash == self.hash
            || other.processor != std::env::consts::ARCH
                && is_clean
                && other.program == self.program
    }
}

/// Why a machine cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// There is no way to it.
    #[error("{0}")]
    Unreachable(String),
    /// Something other than an agent answers, or it ended.
    #[error("no agent answers there: {0}")]
    NoAgent(String),
    /// The agent is another program.
    #[error(
        "that machine has plimsoll {there}, this one plimsoll {here}: results of two versions do not belong together. Put the same program on both machines"
    )]
    OtherVersion { here: String, there: String },
    #[error("{0}")]
    Refused(String),
}

/// A machine behind an agent.
pub struct RemoteHost {
    name: String,
    /// Dropped first: the agent learns that the rig is given up.
    rigs: RigProcess,
    line: Arc<RemoteChannels>,
    /// The command that carries, where one does.
    carrier: EndedWhenDropped,
}

struct RemoteChannels {
    channels: Channels,
    next_number: AtomicU64,
    next_channel: AtomicU32,
    open: Mutex<Option<Open>>,
}

/// Who waits for what. Gone when the agent is.
#[derive(Default)]
struct Open {
    answers: HashMap<u64, Sender<Result<Value, String>>>,
    workers: HashMap<u32, Sender<WorkerExit>>,
}

impl RemoteHost {
    /// Greets the agent at the other end, makes sure that it is the same program, and has its rig process started. `carrier` is the process that carries,
    /// which is ended with this host.
    pub fn connect(
        name: &str,
        carrier: Carrier,
        process: Option<Child>,
        here: &Identity,
    ) -> Result<Self, HostError> {
        let (channels, control) = Channels::over(carrier);
        let line = Arc::new(RemoteChannels {
            channels,
            next_number: AtomicU64::new(0),
            next_channel: AtomicU32::new(RIG + 1),
            open: Mutex::new(Some(Open::default())),
        });
        let mut child = EndedWhenDropped::new(process, SHORTEST_END);
        let (of_events, of_beats) = (Arc::clone(&line), Arc::clone(&line));
        std::thread::spawn(move || of_events.take_events(&control));
        // A thread of its own, not that of the lease: where the connection is blocked, sending may wait forever.
        std::thread::spawn(move || {
            while of_beats.send(Ask::Beat).is_ok() {
                std::thread::sleep(BEAT);
            }
        });
        let hello = Ask::Hello { version: VERSION };
        let greeting: Greeting =
            line.ask(hello, START).map_err(|error| HostError::NoAgent(error.to_string()))?;
        if greeting.version != VERSION || !here.is_same_as(&greeting) {
            line.channels.close();
            return Err(HostError::OtherVersion {
                here: here.program.clone(),
                there: match greeting.program == here.program {
                    true => format!("{} of another build", greeting.program),
                    false => greeting.program,
                },
            });
        }
        let rig = line.channels.open(RIG).map_err(|error| HostError::NoAgent(error.to_string()))?;
        line.ask::<()>(Ask::StartRig { channel: RIG }, ANSWER).map_err(|error| match error {
            AskError::Refused(why) => HostError::Refused(why),
            AskError::Lost(why) => HostError::NoAgent(why),
        })?;
        Ok(Self {
            name: name.to_owned(),
            rigs: RigProcess::on(name, rig),
            line,
            carrier: EndedWhenDropped::new(child.child.take(), LONGEST_END),
        })
    }

    fn lost(&self, why: &str) -> RunnerError {
        RunnerError::HostLost { name: self.name.clone(), why: why.to_owned() }
    }

    fn ask<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, RigError> {
        self.line
            .ask(ask, ANSWER)
            .map_err(|error| RigError::Gone(format!("host {}: {error}", self.name)))
    }

    /// What comes on a channel of its own after this request, to its end.
    fn receive(&self, ask: impl FnOnce(u32) -> Ask, to: &mut dyn io::Write) -> io::Result<()> {
        let channel = self.line.next_channel.fetch_add(1, Ordering::Relaxed);
        let mut from = self.line.channels.open(channel)?;
        from.set_read_timeout(Some(LONGEST_PAUSE))?;
        let answer = self.line.send(ask(channel)).map_err(io::Error::other)?;
        io::copy(&mut from, to)?;
        let answer: Result<Value, AskError> = wait(&answer, LONGEST_ANSWER);
        answer.map(drop).map_err(io::Error::other)
    }
}

impl std::fmt::Debug for RemoteHost {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RemoteHost").field("name", &self.name).finish_non_exhaustive()
    }
}

impl RunHost for RemoteHost {
    fn rigs(&self) -> &RigProcess {
        &self.rigs
    }

    fn is_lost(&self) -> bool {
        // A rig that has ended alone is made again with its agent.
        locked(&self.line.open).is_none() || self.rigs.is_gone()
    }

    fn machine(&self) -> Result<Machine, RigError> {
        self.ask(Ask::Machine)
    }

    fn cpu_task_ns(&self) -> Result<u64, RigError> {
        self.ask(Ask::CpuTask)
    }

    fn clock_reader(&self) -> ClockReader {
        let line = Arc::clone(&self.line);
        Box::new(move || line.clock().map_err(|error| error.to_string()))
    }

    fn start_worker(&self, start: &WorkerStart) -> Result<StartedWorker, RunnerError> {
        let line = &self.line;
        let lost = |error: io::Error| self.lost(&error.to_string());
        let channel = line.next_channel.fetch_add(1, Ordering::Relaxed);
        let socket = line.channels.open(channel).map_err(lost)?;
        let (tell, receiver) = std::sync::mpsc::channel();
        match locked(&line.open).as_mut() {
            Some(open) => open.workers.insert(channel, tell),
            None => return Err(self.lost("the connection has ended")),
        };
        let start = start.clone();
        let process = line.ask(Ask::StartWorker { channel, start }, ANSWER).map_err(|error| {
            // It may be started yet.
            let _ = line.send(Ask::Kill { channel });
            match error {
                AskError::Refused(why) => RunnerError::HostRefused { name: self.name.clone(), why },
                AskError::Lost(why) => self.lost(&why),
            }
        })?;
        Ok(StartedWorker {
            process,
            input: Box::new(Ending(socket.try_clone().map_err(lost)?)),
            output: Box::new(socket),
            handle: Box::new(RemoteWorker {
                line: Arc::clone(line),
                channel,
                receiver,
                ended: None,
            }),
        })
    }

    fn own_metrics(&self, engine: &str, directory: &Path) -> io::Result<Vec<MetricsSample>> {
        let mut text = Vec::new();
        let ask = |channel| Ask::OwnMetrics {
            engine: engine.to_owned(),
            directory: directory.to_owned(),
            channel,
        };
        self.receive(ask, &mut text)?;
        let mut samples: Vec<MetricsSample> = serde_json::from_slice(&text)?;
        // They have the times of the wall clock there.
        let there: Clocks = self.ask(Ask::Clocks).map_err(io::Error::other)?;
        let offset = self.line.clock().map_err(io::Error::other)?;
        let ahead_ms = there.ahead_ms(Clocks::now(), offset);
        for (at_ms, _) in &mut samples {
            *at_ms -= ahead_ms;
        }
        Ok(samples)
    }

    fn is_here(&self) -> bool {
        false
    }

    fn fetch(&self, file: &Path, to: &mut File) -> io::Result<()> {
        let file = file.to_owned();
        self.receive(|channel| Ask::Fetch { file, channel }, to)
    }
}

impl Drop for RemoteHost {
    fn drop(&mut self) {
        if self.is_lost() {
            // Nothing else would end it, and senders wait no longer.
            self.carrier.kill();
        } else {
            // The rig ends first, while the other machine can still be reached.
            self.rigs.let_go();
        }
        self.line.close();
    }
}

/// The input of a worker, which sees its end.
struct Ending(std::os::unix::net::UnixStream);

impl io::Write for Ending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.shutdown(std::net::Shutdown::Write);
    }
}

struct RemoteWorker {
    line: Arc<RemoteChannels>,
    channel: u32,
    receiver: Receiver<WorkerExit>,
    ended: Option<WorkerExit>,
}

impl WorkerHandle for RemoteWorker {
    fn kill(&mut self) {
        let channel = self.channel;
        if self.ended.is_none() && self.line.send(Ask::Kill { channel }).is_ok() {
            // What it stands on is undone next.
            self.ended = self.receiver.recv_timeout(LONGEST_END).ok();
        }
    }

    fn wait(&mut self) -> WorkerExit {
        let ended = self.ended.take();
        let ended = ended.unwrap_or_else(|| self.receiver.recv().unwrap_or_default());
        self.ended.insert(ended).clone()
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
enum AskError {
    #[error("{0}")]
    Refused(String),
    #[error("{0}")]
    Lost(String),
}

impl RemoteChannels {
    fn ask<T: DeserializeOwned>(&self, ask: Ask, longest: Duration) -> Result<T, AskError> {
        let answer = self.send(ask)?;
        wait(&answer, longest)
    }

    fn send(&self, ask: Ask) -> Result<Receiver<Result<Value, String>>, AskError> {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let lost = || AskError::Lost("the connection has ended".into());
        let (tell, receiver) = channel();
        locked(&self.open).as_mut().ok_or_else(lost)?.answers.insert(number, tell);
        let message = serde_json::to_vec(&Request { number, ask })
            .expect("requests are plain data with string keys");
        self.channels.send_message(message).map_err(|_| lost())?;
        Ok(receiver)
    }

    /// How the clock there stands to that here.
    fn clock(&self) -> Result<ClockOffset, AskError> {
        let mut trips = Vec::with_capacity(ROUND_TRIPS);
        for _ in 0..ROUND_TRIPS {
            let asked_ns = monotonic_ns();
            let said_ns = self.ask(Ask::Clock, ANSWER)?;
            trips.push(RoundTrip { asked_ns, said_ns, answered_ns: monotonic_ns() });
        }
        Ok(ClockOffset::of(&trips).unwrap_or_default())
    }

    /// Until the agent is gone.
    fn take_events(&self, control: &Control) {
        // A program that is being started sends no beats yet.
        let mut longest_silence = START;
        while self.channels.silence() < longest_silence {
            let message = match control.receive(BEAT / 4) {
                Ok(Some(message)) => message,
                Ok(None) => continue,
                Err(_) => break,
            };
            longest_silence = LEASE;
            let Ok(event) = serde_json::from_slice(&message) else {
                break;
            };
            let mut open = locked(&self.open);
            let Some(open) = open.as_mut() else { break };
            match event {
                Event::Answer { number, answer } => {
                    let waits = open.answers.remove(&number);
                    waits.map(|waits| waits.send(answer));
                }
                Event::Ended { channel, exit } => {
                    let waits = open.workers.remove(&channel);
                    waits.map(|waits| waits.send(exit));
                }
            }
        }
        self.close();
    }

    /// Everybody who waits learns that nothing comes.
    fn close(&self) {
        locked(&self.open).take();
        self.channels.close();
    }
}

fn wait<T: DeserializeOwned>(
    answer: &Receiver<Result<Value, String>>,
    longest: Duration,
) -> Result<T, AskError> {
    match answer.recv_timeout(longest) {
        Ok(Ok(value)) => serde_json::from_value(value)
            .map_err(|error| AskError::Lost(format!("its answer cannot be read: {error}"))),
        // In one line, whatever it holds: it is shown beside our own.
        Ok(Err(why)) => Err(AskError::Refused(plimsoll_record::redact::line(&why).into_owned())),
        Err(RecvTimeoutError::Timeout) => {
            Err(AskError::Lost(format!("no answer within {} s", longest.as_secs())))
        }
        Err(RecvTimeoutError::Disconnected) => {
            Err(AskError::Lost("the connection has ended".into()))
        }
    }
}

/// A process that carries: it ends when its input has ended, or is ended.
struct EndedWhenDropped {
    child: Option<Child>,
    /// How long it may take.
    longest: Duration,
}

impl EndedWhenDropped {
    fn new(child: Option<Child>, longest: Duration) -> Self {
        Self { child, longest }
    }

    fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
        }
    }
}

impl Drop for EndedWhenDropped {
    fn drop(&mut self) {
        let Some(child) = &mut self.child else { return };
        let begun = Instant::now();
        while begun.elapsed() < self.longest {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_is_the_same_program_only_for_another_processor() {
        let here = |program: &str| Identity { program: program.into(), hash: "1".into() };
        let there = |hash: &str, processor: &str| Greeting {
            version: VERSION,
            program: "0.1.0 (abc)".into(),
            hash: hash.into(),
            processor: processor.into(),
        };
        let ours = std::env::consts::ARCH;
        assert!(here("0.1.0 (abc)").is_same_as(&there("1", ours)));
        assert!(!here("0.1.0 (abc)").is_same_as(&there("2", ours)));
        assert!(here("0.1.0 (abc)").is_same_as(&there("2", "other")));
        assert!(!here("0.1.0 (def)").is_same_as(&there("2", "other")));
        assert!(!here("0.1.0 (abc-dirty)").is_same_as(&there("2", "other")));
    }
}
