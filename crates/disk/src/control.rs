//! Commands to a running daemon: a line of JSON each way over a Unix socket.

use crate::due::Due;
use crate::flow::Flow;
use crate::{Counters, DiskError, Power, Way};
use plimsoll_record::{DiskSpec, EventRecord, EventSpec, PowerCut};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A daemon that does not answer for this long is stuck.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Command {
    Shape(bool),
    Respec(Box<DiskSpec>),
    Mark(String),
    Timeline { events: Vec<EventSpec>, start_ns: u64 },
    HoldAll(Option<u64>),
    AllowFor(Way),
    Counters,
    Cut { seed: u64, sector_bytes: u64 },
    Power,
    SetPower(Power),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Reply {
    Done,
    Refused(String),
    Counters(Box<Counters>),
    Cut(Box<PowerCut>),
    Power(Power),
    Happened(Vec<EventRecord>),
}

/// A connection to a running daemon.
#[derive(Debug)]
pub struct Control {
    socket: PathBuf,
    stream: BufReader<UnixStream>,
    line: String,
}

impl Control {
    /// Connects to the socket of a daemon.
    pub fn connect(socket: &Path) -> Result<Self, DiskError> {
        let connected = UnixStream::connect(socket).and_then(|stream| {
            stream.set_read_timeout(Some(TIMEOUT))?;
            stream.set_write_timeout(Some(TIMEOUT))?;
            Ok(stream)
        });
        let stream = connected.map_err(|error| {
            if error.kind() == ErrorKind::PermissionDenied {
                return DiskError::Refused(format!(
                    "the disk belongs to another user, who alone may command it ({}): use sudo",
                    socket.display()
                ));
            }
            DiskError::Died(format!("no answer at {}: {error}", socket.display()))
        })?;
        Ok(Self { socket: socket.to_owned(), stream: BufReader::new(stream), line: String::new() })
    }

    /// Puts the limits of the disk in force, or takes them away: what was held is answered at once then. Queues begin empty; burst credits are what
    /// they were.
    pub fn shape(&mut self, shaped: bool) -> Result<(), DiskError> {
        self.done(&Command::Shape(shaped))
    }

    /// Gives the disk other limits; its capacity and backing stay.
    pub fn respec(&mut self, spec: &DiskSpec) -> Result<(), DiskError> {
        self.done(&Command::Respec(Box::new(spec.clone())))
    }

    /// Writes a mark into the trace, if there is one.
    pub fn mark(&mut self, label: &str) -> Result<(), DiskError> {
        self.done(&Command::Mark(label.to_owned()))
    }

    /// Cuts the power of a disk with a volatile cache. Users who have it open get errors from then on; one who opens it later finds
    /// what was kept. The seed decides about the writes that no flush has covered, in sectors of 512 or 4096 bytes.
    pub fn cut(&mut self, seed: u64, sector_bytes: u64) -> Result<PowerCut, DiskError> {
        match self.ask(&Command::Cut { seed, sector_bytes })? {
            Reply::Cut(cut) => Ok(*cut),
            other => Err(self.unexpected(other)),
        }
    }

    /// Replaces the events of the disk by those of these that are of a disk. Their times count from `start_ns` of this machine's monotonic clock; what should
    /// have begun before begins at once. They concern the disk while its limits are in force, and each edge leaves a mark in the trace. Returns what
    /// happened of the events before, with the times of that clock.
    pub fn timeline(
        &mut self,
        events: &[EventSpec],
        start_ns: u64,
    ) -> Result<Vec<EventRecord>, DiskError> {
        match self.ask(&Command::Timeline { events: events.to_vec(), start_ns })? {
            Reply::Happened(records) => Ok(records),
            other => Err(self.unexpected(other)),
        }
    }

    pub fn power(&mut self) -> Result<Power, DiskError> {
        match self.ask(&Command::Power)? {
            Reply::Power(power) => Ok(power),
            other => Err(self.unexpected(other)),
        }
    }

    /// Reports what became of the filesystem after a power cut, for those who wait for it.
    pub fn set_power(&mut self, power: Power) -> Result<(), DiskError> {
        self.done(&Command::SetPower(power))
    }

    /// Has every request held for this many nanoseconds, or ends that: for [`Way::measure`].
    pub(crate) fn hold_all(&mut self, hold_ns: Option<u64>) -> Result<(), DiskError> {
        self.done(&Command::HoldAll(hold_ns))
    }

    /// Has held answers given earlier by the way.
    pub(crate) fn allow_for(&mut self, way: Way) -> Result<(), DiskError> {
        self.done(&Command::AllowFor(way))
    }

    /// What the disk did since it was made.
    pub fn counters(&mut self) -> Result<Counters, DiskError> {
        match self.ask(&Command::Counters)? {
            Reply::Counters(counters) => Ok(*counters),
            other => Err(self.unexpected(other)),
        }
    }

    fn unexpected(&self, reply: Reply) -> DiskError {
        match reply {
            Reply::Refused(why) => DiskError::Refused(why),
            _ => self.died("it answered another question"),
        }
    }

    fn done(&mut self, command: &Command) -> Result<(), DiskError> {
        match self.ask(command)? {
            Reply::Done => Ok(()),
            other => Err(self.unexpected(other)),
        }
    }

    fn ask(&mut self, command: &Command) -> Result<Reply, DiskError> {
        let mut question =
            serde_json::to_string(command).expect("a command is plain data with string keys");
        question.push('\n');
        self.line.clear();
        let answered = self
            .stream
            .get_mut()
            .write_all(question.as_bytes())
            .and_then(|()| self.stream.read_line(&mut self.line));
        match answered {
            Ok(0) => Err(self.died("it closed the connection")),
            Ok(_) => {
                serde_json::from_str(&self.line).map_err(|error| self.died(&error.to_string()))
            }
            Err(error) => Err(self.died(&error.to_string())),
        }
    }

    fn died(&self, why: &str) -> DiskError {
        DiskError::Died(format!("no answer at {}: {why}", self.socket.display()))
    }
}

/// Answers everybody who connects, forever.
pub(crate) fn listen(listener: &UnixListener, flow: &Arc<Flow>, due: &Arc<Due>) {
    for stream in listener.incoming().flatten() {
        let (flow, due) = (Arc::clone(flow), Arc::clone(due));
        // Without a thread the connection is closed, which the other side reports.
        let _ = std::thread::Builder::new()
            .name("control".into())
            .spawn(move || converse(stream, &flow, &due));
    }
}

fn converse(stream: UnixStream, flow: &Flow, due: &Due) {
    let Ok(mut output) = stream.try_clone() else {
        return;
    };
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { return };
        let reply = match serde_json::from_str(&line) {
            Ok(command) => obey(command, flow, due),
            Err(error) => Reply::Refused(format!("the disk daemon does not know this: {error}")),
        };
        let mut text = serde_json::to_string(&reply).expect("a reply has string keys");
        text.push('\n');
        if output.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

fn obey(command: Command, flow: &Flow, due: &Due) -> Reply {
    match command {
        Command::Shape(shaped) => {
            flow.shape(shaped);
            if !shaped {
                due.hurry();
            }
            Reply::Done
        }
        Command::Respec(spec) => {
            flow.respec(&spec);
            Reply::Done
        }
        Command::Mark(label) => {
            flow.mark(&label);
            Reply::Done
        }
        Command::Timeline { events, start_ns } => {
            Reply::Happened(flow.set_timeline(&events, start_ns))
        }
        Command::HoldAll(hold_ns) => {
            flow.hold_all(hold_ns);
            Reply::Done
        }
        Command::AllowFor(way) => {
            flow.allow_for(way);
            Reply::Done
        }
        Command::Counters => Reply::Counters(Box::new(flow.counters())),
        Command::Cut { seed, sector_bytes } => match due.storage.cut(seed, sector_bytes) {
            Ok(cut) => {
                // Every answer that is held is an error now.
                due.hurry();
                flow.mark(&format!("power cut, seed {seed}"));
                Reply::Cut(Box::new(cut))
            }
            Err(why) => Reply::Refused(why),
        },
        Command::Power => Reply::Power(due.storage.power()),
        Command::SetPower(power) => {
            due.storage.set_power(power);
            Reply::Done
        }
    }
}
