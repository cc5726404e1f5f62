//! The side of the program: orders, and waits for the answers.

use crate::RigError;
use crate::fio::{Characterisation, Profile, Watch};
use crate::orders::{Answer, Built, Characterised, Go, Order, RigRequest, TornDown};
use crate::testbed::{Disturb, Disturbed};
use plimsoll_disk::Power;
use plimsoll_record::files::read_line_within;
use plimsoll_record::{Calibration, DiskSpec, EventRecord, EventSpec, RigSpec};
use plimsoll_trace::ExtentMap;
use rustix::io::FdFlags;
use rustix::net::Shutdown as Direction;
use serde::de::DeserializeOwned;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io::{BufReader, Read, Write};
use std::ops::ControlFlow;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Bytes of an answer: the extents of many files are in it.
const LONGEST_ANSWER: usize = 256 << 20;
/// Longest time that the process may take to clean up when it ends.
const LONGEST_END: Duration = Duration::from_secs(60);

/// How the process is started: this program with a hidden command.
#[derive(Clone, Debug)]
pub struct RigProgram {
    pub path: PathBuf,
    pub arguments: Vec<String>,
}

impl RigProgram {
    /// Starts the process, and returns the socket that it listens to.
    pub fn start(&self) -> std::io::Result<UnixStream> {
        let (ours, theirs) = UnixStream::pair()?;
        Command::new(&self.path)
            .args(&self.arguments)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            // An interruption typed at the terminal is for the program, which has everything undone in order.
            .process_group(0)
            .spawn()?;
        Ok(ours)
    }
}

/// The process that makes rigs.
#[derive(Debug)]
pub struct RigProcess {
    socket: RefCell<BufReader<UnixStream>>,
    /// The experiment for which the journal was opened.
    journal: RefCell<Option<String>>,
    /// The names of the data that were kept since.
    kept: RefCell<BTreeSet<String>>,
    /// Whether an order has found it gone.
    is_gone: Cell<bool>,
    /// The machine that it is on, where that is another.
    host: Option<String>,
}

impl RigProcess {
    /// The process at the other end of a socket.
    pub fn over(socket: UnixStream) -> Self {
        Self {
            socket: RefCell::new(BufReader::new(socket)),
            journal: RefCell::default(),
            kept: RefCell::default(),
            is_gone: Cell::default(),
            host: None,
        }
    }

    /// The process on another machine, which is named where it is gone: the caller may not know where it was.
    pub fn on(host: &str, socket: UnixStream) -> Self {
        let mut process = Self::over(socket);
        process.host = Some(host.to_owned());
        process
    }

    /// The process at the other end of a socket that this program inherited when it gave up root's rights.
    ///
    /// # Safety
    /// No other owner may use this file descriptor, if it is one.
    pub unsafe fn inherited(descriptor: RawFd) -> std::io::Result<Self> {
        // SAFETY: it is only queried for what it is, and is not -1.
        let found = unsafe { BorrowedFd::borrow_raw(descriptor.max(0)) };
        // A descriptor that is no socket is not ours.
        rustix::net::sockopt::socket_peercred(found)?;
        rustix::io::fcntl_setfd(found, FdFlags::CLOEXEC)?;
        // SAFETY: as the caller says.
        Ok(Self::over(UnixStream::from(unsafe { OwnedFd::from_raw_fd(descriptor) })))
    }

    /// Why each of some rigs cannot be made here; `None` of those that can.
    pub fn what_runs(&self, rigs: Vec<RigSpec>) -> Result<Vec<Option<String>>, RigError> {
        self.ask(Order::WhatRuns { rigs })
    }

    /// Checks that no other user could change a place, and returns it; that of data directories where none is named.
    pub fn look(&self, directory: Option<PathBuf>) -> Result<PathBuf, RigError> {
        self.ask(Order::Look { directory })
    }

    /// Undoes what programs left behind that are gone, or reports what would be undone. Returns the reasons of what stays.
    pub fn clean(
        &self,
        dry_run: bool,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Vec<String>, RigError> {
        self.ask_watched(0, Order::Clean { dry_run }, tell, &mut |_| ControlFlow::Continue(()))
    }

    /// Opens the journal for all that follows; `label` says what it is for.
    pub fn open(&self, label: &str) -> Result<(), RigError> {
        let label = label.to_owned();
        *self.journal.borrow_mut() = Some(label.clone());
        self.kept.borrow_mut().clear();
        self.ask(Order::Open { label })
    }

    /// Whether the journal was opened for this.
    pub fn is_open_for(&self, label: &str) -> bool {
        self.journal.borrow().as_deref() == Some(label)
    }

    /// Whether data of this name were kept, so that a rig can begin with them.
    pub fn has_kept(&self, name: &str) -> bool {
        self.kept.borrow().contains(name)
    }

    /// Makes a rig, by an [`Order::Build`]. `number` is 0, or 1 for one that stands beside another.
    pub fn build(&self, number: usize, order: Order) -> Result<BuiltRig<'_>, RigError> {
        Ok(BuiltRig {
            built: self.ask_about(number, order)?,
            process: self,
            number,
            left: Remaining::Everything,
        })
    }

    /// Holds an emulated disk against its description.
    pub fn calibrate(
        &self,
        spec: DiskSpec,
        directory: Option<PathBuf>,
        owner: &str,
        tell: &mut dyn FnMut(&str),
        watch: &mut Watch<'_>,
    ) -> Result<Calibration, RigError> {
        let order = Order::Calibrate { spec: Box::new(spec), directory, owner: owner.to_owned() };
        self.ask_watched(0, order, tell, watch)
    }

    /// Finds out what a disk can do.
    pub fn characterise(
        &self,
        what: Characterised,
        profile: Profile,
        tell: &mut dyn FnMut(&str),
        watch: &mut Watch<'_>,
    ) -> Result<Characterisation, RigError> {
        self.ask_watched(0, Order::Characterise { what, profile }, tell, watch)
    }

    /// What a megabyte takes until it is durable in a place, nanoseconds; `None` where nothing can be written there.
    pub fn disk_task(&self, directory: Option<PathBuf>) -> Result<Option<u64>, RigError> {
        self.ask(Order::DiskTask { directory })
    }

    /// Takes away an emulated disk's filesystem from a directory at which [`BuiltRig::show`] had it seen.
    pub fn hide(&self, directory: PathBuf) -> Result<(), RigError> {
        self.ask(Order::Hide { directory })
    }

    /// Whether it was found gone.
    pub fn is_gone(&self) -> bool {
        self.is_gone.get()
    }

    /// Lets the process go, which undoes what is left, and waits until it has.
    pub fn let_go(&self) {
        let mut socket = self.socket.borrow_mut();
        let _ = socket.get_ref().set_read_timeout(Some(LONGEST_END));
        if rustix::net::shutdown(socket.get_ref(), Direction::Write).is_ok() {
            let _ = socket.read_to_end(&mut Vec::new());
        }
    }

    fn ask<T: DeserializeOwned>(&self, order: Order) -> Result<T, RigError> {
        self.ask_about(0, order)
    }

    fn ask_about<T: DeserializeOwned>(&self, rig: usize, order: Order) -> Result<T, RigError> {
        self.ask_watched(rig, order, &mut |_| {}, &mut |_| ControlFlow::Continue(()))
    }

    fn ask_watched<T: DeserializeOwned>(
        &self,
        rig: usize,
        order: Order,
        tell: &mut dyn FnMut(&str),
        watch: &mut Watch<'_>,
    ) -> Result<T, RigError> {
        let mut socket = self.socket.borrow_mut();
        let gone = |error: std::io::Error| {
            self.is_gone.set(true);
            let host = self.host.as_ref().map(|host| format!("host {host}: "));
            RigError::Gone(format!(
                "{}the process that makes disks, filesystems and servers (plimsoll rig) is gone: {error}; run the same command again",
                host.unwrap_or_default()
            ))
        };
        write(&mut socket, &RigRequest { rig, order }).map_err(gone)?;
        loop {
            let mut line = String::new();
            if !read_line_within(&mut *socket, &mut line, LONGEST_ANSWER).map_err(gone)? {
                return Err(gone(std::io::Error::other("it ended")));
            }
            match serde_json::from_str(&line).map_err(|error| gone(error.into()))? {
                Answer::Message(text) => tell(&text),
                Answer::Logged(line) => line.log(),
                Answer::At(progress) => {
                    let goes_on = watch(&progress).is_continue();
                    write(&mut socket, &Go(goes_on)).map_err(gone)?;
                }
                Answer::Done(value) => {
                    return serde_json::from_value(value).map_err(|error| gone(error.into()));
                }
                Answer::Failed(error) => return Err(error),
            }
        }
    }
}

fn write(socket: &mut BufReader<UnixStream>, what: &impl serde::Serialize) -> std::io::Result<()> {
    let mut text = serde_json::to_string(what)?;
    text.push('\n');
    socket.get_mut().write_all(text.as_bytes())
}

impl Drop for RigProcess {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// A rig that stands. It is undone when it is dropped.
#[derive(Debug)]
pub struct BuiltRig<'a> {
    built: Built,
    process: &'a RigProcess,
    number: usize,
    left: Remaining,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remaining {
    Everything,
    Directory,
    Nothing,
}

impl BuiltRig<'_> {
    fn ask<T: DeserializeOwned>(&self, order: Order) -> Result<T, RigError> {
        self.process.ask_about(self.number, order)
    }

    pub fn built(&self) -> &Built {
        &self.built
    }

    pub fn data_directory(&self) -> &Path {
        &self.built.data_directory
    }

    /// Puts a process that this one has started under the limits, before it does anything that counts.
    pub fn admit(&self, process: u32) -> Result<(), RigError> {
        self.ask(Order::Admit { process })
    }

    /// Checks that all that was made is still there.
    pub fn is_sound(&self) -> Result<(), RigError> {
        self.ask(Order::IsSound)
    }

    /// Where the files lie, if the disk is traced.
    pub fn extents(&self) -> Result<Option<ExtentMap>, RigError> {
        self.ask(Order::Extents)
    }

    /// Has the filesystem on the emulated disk seen at an empty directory too.
    pub fn show(&self, directory: PathBuf) -> Result<(), RigError> {
        self.ask(Order::Show { directory })
    }

    /// Mounts the filesystem on the emulated disk again after a power cut, and has it seen at the same directory.
    pub fn remount(&self, directory: PathBuf) -> Result<Power, RigError> {
        self.ask(Order::Remount { directory })
    }

    /// Gives the emulated disk its limits, or takes them away, and marks its trace with what begins now.
    pub fn shape(&self, shaped: bool, mark: &str) -> Result<(), RigError> {
        let mark = mark.to_owned();
        self.ask(Order::Shape { shaped, mark })
    }

    /// Replaces the events of the emulated disk by those of these that are its own; their times count from `start_ns` of the monotonic clock of the rig's
    /// machine. Returns what happened of those before.
    pub fn timeline(
        &self,
        events: &[EventSpec],
        start_ns: u64,
    ) -> Result<Vec<EventRecord>, RigError> {
        self.ask(Order::Timeline { events: events.to_vec(), start_ns })
    }

    /// Limits the memory to what is taken now and the page cache that was requested. Returns the limit, bytes; `None` where none was requested.
    pub fn size_memory(&self) -> Result<Option<u64>, RigError> {
        self.ask(Order::SizeMemory)
    }

    /// Has the kernel drop what its page cache holds of the data, once that is on the disk.
    pub fn drop_page_cache(&self) -> Result<(), RigError> {
        self.ask(Order::DropPageCache)
    }

    /// Does something to a member of the server.
    pub fn disturb(&self, what: Disturb) -> Result<Disturbed, RigError> {
        self.ask(Order::Disturb { what })
    }

    /// Brings all members of the server back, and waits until they are one server.
    pub fn heal(&self) -> Result<(), RigError> {
        self.ask(Order::Heal)
    }

    /// Copies the data, which nobody may have open, for rigs that are made later.
    pub fn keep(
        &self,
        name: &str,
        directory: Option<PathBuf>,
        owner: &str,
    ) -> Result<(), RigError> {
        let (owner, kept) = (owner.to_owned(), name.to_owned());
        self.ask::<()>(Order::Keep { name: name.to_owned(), directory, owner })?;
        self.process.kept.borrow_mut().insert(kept);
        Ok(())
    }

    /// Ends the server, if there is one.
    pub fn stop_server(&mut self) -> Result<(), RigError> {
        self.ask(Order::StopServer)
    }

    /// Undoes everything but the directory, in which the trace of an emulated disk is.
    pub fn tear_down(&mut self) -> Result<TornDown, RigError> {
        self.left = Remaining::Nothing;
        let torn_down = self.ask(Order::TearDown)?;
        self.left = Remaining::Directory;
        Ok(torn_down)
    }

    /// Removes the directory of a rig that was torn down.
    pub fn remove(mut self) -> Result<(), RigError> {
        self.left = Remaining::Nothing;
        self.ask(Order::Remove)
    }
}

impl Drop for BuiltRig<'_> {
    fn drop(&mut self) {
        // There is no one to report to. What could not be undone is in the journal.
        if self.left == Remaining::Everything {
            let _ = self.tear_down();
        }
        if self.left == Remaining::Directory {
            let _: Result<(), RigError> = self.ask(Order::Remove);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whichever order finds it, and whether before or after the connection to its agent is known to have ended.
    #[test]
    fn one_that_is_gone_names_its_machine() {
        let gone = |at: fn(UnixStream) -> RigProcess| {
            let (ours, theirs) = UnixStream::pair().unwrap();
            drop(theirs);
            let rigs = at(ours);
            let error = rigs.look(None).unwrap_err();
            assert!(rigs.is_gone());
            error.to_string()
        };
        let there = gone(|socket| RigProcess::on("db1", socket));
        assert!(there.starts_with("host db1: the process"), "{there}");
        let here = gone(RigProcess::over);
        assert!(here.starts_with("the process"), "{here}");
    }
}
