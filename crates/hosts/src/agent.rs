//! The side of the other machine: starts a rig and workers, and puts them on channels.

use crate::carrier::{Carrier, Channels, Control};
use crate::message::{Ask, Clocks, Event, Greeting, LEASE, Request, VERSION};
use crate::remote::Identity;
use plimsoll_rig::{RigProcess, RigProgram, RunUser, User};

use plimsoll_rig::testbed::{is_within_data_directory, open_in_data_directory};
use plimsoll_runner::{StartedWorker, WorkerProgram, WorkerStart, monotonic_ns, this_machine};
use rustix::net::RecvFlags;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

/// Interval of looks at the lease. No request may reach a database once the lease has passed since the program's last message.
const LOOK: Duration = Duration::from_millis(100);
/// How long before the end of the lease the workers are ended, so that they are gone when it ends.
const MARGIN: Duration = Duration::from_millis(500);
/// How long the rig may take to undo what it has made.
const LONGEST_END: Duration = Duration::from_secs(60);

/// An agent, for one program after the other.
#[derive(Clone, Debug)]
pub struct Agent {
    pub identity: Identity,
    /// How the process that makes rigs is started.
    pub rig: RigProgram,
    pub worker: WorkerProgram,
}

impl Agent {
    /// Does what the program at the other end asks for, until that is gone. Then everything is ended and undone.
    pub fn serve(&self, carrier: Carrier) -> io::Result<()> {
        self.serve_until(carrier, &AtomicBool::new(false))
    }

    /// The same, until `ends` is set at the latest.
    pub fn serve_until(&self, carrier: Carrier, ends: &AtomicBool) -> io::Result<()> {
        let (channels, control) = Channels::over(carrier);
        let mut work = Work {
            agent: self,
            events: sent_apart(channels.clone()),
            channels: &channels,
            workers: HashMap::new(),
            rig: None,
        };
        let served = work.take_requests(&control, ends);
        work.end();
        served
    }
}

impl Agent {
    /// What a rig has made that was killed.
    fn undo_what_was_left(&self) {
        let undone = self.rig.start().map_err(|error| error.to_string());
        let undone = undone.and_then(|socket| {
            let rigs = RigProcess::over(socket);
            let stays = rigs.clean(false, &mut |what| tracing::info!("{what}"));
            stays.map_err(|error| error.to_string())
        });
        match undone {
            Ok(stays) => stays.iter().for_each(|what| tracing::warn!("{what}")),
            Err(why) => {
                tracing::warn!("what a killed rig has left stays until the next start: {why}")
            }
        }
    }
}

/// The work for one program.
struct Work<'a> {
    agent: &'a Agent,
    channels: &'a Channels,
    /// The options of the program.
    events: Sender<Event>,
    workers: HashMap<u32, Working>,
    /// A second handle of the rig's socket, to see its end.
    rig: Option<UnixStream>,
}

/// A worker that was started.
struct Working {
    tell: Sender<WorkerEvent>,
    /// Ends when the worker has.
    gone: Receiver<()>,
}

/// Messages to the thread that watches a worker.
enum WorkerEvent {
    Kill,
    OutputEnded,
}

impl Work<'_> {
    fn take_requests(&mut self, control: &Control, ends: &AtomicBool) -> io::Result<()> {
        while !ends.load(Ordering::Relaxed) {
            let message = match control.receive(LOOK) {
                Ok(Some(message)) => message,
                Ok(None) if self.channels.silence() > LEASE - MARGIN => {
                    tracing::warn!(
                        "the program that uses this agent was not heard for {LEASE:?}: its work is ended"
                    );
                    return Ok(());
                }
                Ok(None) => continue,
                // It is gone, which is how it ends.
                Err(_) => return Ok(()),
            };
            let Request { number, ask } = serde_json::from_slice(&message)?;
            let answer = self.answer(number, ask);
            if let Some(answer) = answer {
                let _ = self.events.send(Event::Answer { number, answer });
            }
        }
        Ok(())
    }

    /// `None` where the answer comes later.
    fn answer(&mut self, number: u64, ask: Ask) -> Option<Result<Value, String>> {
        Some(match ask {
            Ask::Hello { .. } => value(&Greeting {
                version: VERSION,
                program: self.agent.identity.program.clone(),
                hash: self.agent.identity.hash.clone(),
                processor: std::env::consts::ARCH.to_owned(),
            }),
            Ask::Beat => value(&()),
            Ask::Clock => value(&monotonic_ns()),
            Ask::Clocks => value(&Clocks::now()),
            Ask::Machine => value(&this_machine()),
            Ask::CpuTask => value(&plimsoll_runner::cpu_task_ns()),
            Ask::StartRig { channel } => self.start_rig(channel),
            Ask::StartWorker { channel, start } => self.start_worker(channel, &start),
            Ask::Kill { channel } => {
                if let Some(worker) = self.workers.get(&channel) {
                    let _ = worker.tell.send(WorkerEvent::Kill);
                }
                value(&())
            }
            Ask::OwnMetrics { engine, directory, channel } => {
                self.send_later(number, channel, move |to| {
                    if !is_within_data_directory(&directory) {
                        return Err(io::Error::other("only files of rigs are sent"));
                    }
                    let samples = plimsoll_engine::own_metrics(&engine, &directory)?;
                    serde_json::to_writer(to, &samples)?;
                    Ok(())
                });
                return None;
            }
            Ask::Fetch { file, channel } => {
                self.send_later(number, channel, move |to| {
                    io::copy(&mut open_in_data_directory(&file)?, to).map(drop)
                });
                return None;
            }
        })
    }

    fn start_rig(&mut self, channel: u32) -> Result<Value, String> {
        let words = |error: io::Error| {
            format!("cannot start the process that makes disks, filesystems and servers: {error}")
        };
        let socket = self.agent.rig.start().map_err(words)?;
        self.rig = Some(socket.try_clone().map_err(words)?);
        self.channels.attach_socket(channel, socket).map_err(words)?;
        value(&())
    }

    fn start_worker(&mut self, on: u32, start: &WorkerStart) -> Result<Value, String> {
        // A controller that may only start load must not write as root where a worker writes.
        let start = WorkerStart {
            user: RunUser::here().map(|user| User { user: user.user, group: user.group }),
            ..start.clone()
        };
        self.workers.retain(|_, worker| worker.gone.try_recv() == Err(TryRecvError::Empty));
        let StartedWorker { process, input, output, mut handle } =
            self.agent.worker.start(&start).map_err(|error| error.to_string())?;
        let (tell_worker, receiver): (_, Receiver<WorkerEvent>) = channel();
        let reader = ToldWhenDropped { output, tell: tell_worker.clone() };
        self.channels.attach(on, reader, input).map_err(|error| error.to_string())?;
        let events = self.events.clone();
        let (has_ended, gone) = channel();
        std::thread::spawn(move || {
            // If the other side is gone, the worker ends, too.
            if !matches!(receiver.recv(), Ok(WorkerEvent::OutputEnded)) {
                handle.kill();
            }
            let exit = handle.wait();
            drop(has_ended);
            let _ = events.send(Event::Ended { channel: on, exit });
        });
        let tell = tell_worker;
        self.workers.insert(on, Working { tell, gone });
        value(&process)
    }

    /// Writes to a channel in a thread of its own, and answers when that is done.
    fn send_later(
        &self,
        number: u64,
        channel: u32,
        write: impl FnOnce(&mut UnixStream) -> io::Result<()> + Send + 'static,
    ) {
        let (channels, events) = (self.channels.clone(), self.events.clone());
        std::thread::spawn(move || {
            let written = channels.open(channel).and_then(|mut to| {
                write(&mut to)?;
                to.flush()
            });
            let answer = written.map(|()| Value::Null).map_err(|error| error.to_string());
            let _ = events.send(Event::Answer { number, answer });
        });
    }

    /// Ends the workers first, so that none uses what is being undone.
    fn end(self) {
        for worker in self.workers.values() {
            let _ = worker.tell.send(WorkerEvent::Kill);
        }
        for worker in self.workers.values() {
            // A worker that the system cannot end does not block the cleanup of the rest.
            let _ = worker.gone.recv_timeout(LONGEST_END);
        }
        let rig = self.rig;
        // Where the way is cut a packet may hang, and who sends it, for as long as the system tries; that must keep nothing from being undone.
        let channels = self.channels.clone();
        // A killed rig has left its socket.
        let was_killed = rig.as_ref().is_some_and(has_ended);
        if let Some(rig) = &rig {
            let _ = rig.shutdown(std::net::Shutdown::Write);
        }
        std::thread::spawn(move || channels.close());
        if let Some(mut rig) = rig {
            let _ = rig.set_read_timeout(Some(LONGEST_END));
            let _ = rig.read_to_end(&mut Vec::new());
        }
        if was_killed {
            self.agent.undo_what_was_left();
        }
    }
}

/// Whether the other end of a socket is gone.
fn has_ended(socket: &UnixStream) -> bool {
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    matches!(rustix::net::recv(socket, &mut [0; 1], flags), Ok((0, _)))
}

/// Sends events in a thread of its own: where the connection is blocked, the sender must not wait, as it may be the thread that checks the lease.
fn sent_apart(channels: Channels) -> Sender<Event> {
    let (tell, receiver) = channel::<Event>();
    std::thread::spawn(move || {
        for event in receiver {
            let message =
                serde_json::to_vec(&event).expect("events are plain data with string keys");
            // The controller may be gone.
            let _ = channels.send_message(message);
        }
    });
    tell
}

fn value(answer: &impl Serialize) -> Result<Value, String> {
    serde_json::to_value(answer).map_err(|error| error.to_string())
}

/// The output of a worker. It is dropped when the worker has ended, or when its reader is gone.
struct ToldWhenDropped {
    output: Box<dyn Read + Send>,
    tell: Sender<WorkerEvent>,
}

impl Read for ToldWhenDropped {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.output.read(into)
    }
}

impl Drop for ToldWhenDropped {
    fn drop(&mut self) {
        let _ = self.tell.send(WorkerEvent::OutputEnded);
    }
}
