//! One process of a server: watched, ended by a signal, and killed when it is dropped.

use super::log;
use crate::testbed::TestbedError;
use crate::testbed::privileged::kill::{ask, end_group};
use crate::testbed::processes::started_ticks;
use crate::testbed::wait::until;
use rustix::process::Signal;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a killed process may take to go.
const LONGEST_END: Duration = Duration::from_secs(10);
/// With less room than this a disk counts as full: a server that was refused a larger piece may have left some.
const FULL_BYTES: u64 = 1 << 20;
/// A log of more bytes than this ends its server: it lies beside the store, which must not be filled.
const LARGEST_LOG: u64 = 256 << 20;

/// One process of a server.
#[derive(Debug)]
pub(super) struct Member {
    /// For messages: `mongod`, or `mongod (member 2 of 3)`.
    pub(super) name: String,
    pub(super) address: String,
    pub(super) process: u32,
    pub(super) started_ticks: u64,
    pub(super) child: Mutex<Child>,
    pub(super) data: PathBuf,
    pub(super) log: PathBuf,
    pub(super) log_file: File,
    pub(super) state: MemberState,
}

/// Whether a member is meant to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberState {
    Up,
    /// Killed on purpose, or not come back after a power cut.
    Down,
    /// Started on what a power cut left: it may end while it recovers.
    Recovering,
}

impl Member {
    /// Whether a process of it runs, or is meant to.
    pub(super) fn is_started(&self) -> bool {
        self.state != MemberState::Down
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How it ended, if it has.
    pub(super) fn ended(&self) -> io::Result<Option<ExitStatus>> {
        self.child().try_wait()
    }

    pub(super) fn has_ended(&self) -> bool {
        !matches!(self.ended(), Ok(None))
    }

    pub(super) fn is_alive(&self) -> Result<(), TestbedError> {
        if log::length(&self.log_file) > LARGEST_LOG {
            self.kill();
            let last_words = self.last_words();
            // What cannot be shortened stays.
            let _ = log::keep_end(&self.log_file);
            return Err(TestbedError::ServerDied {
                name: self.name.clone(),
                how: format!(
                    "it wrote more than {} MiB into its log and was ended",
                    LARGEST_LOG >> 20
                ),
                last_words,
            });
        }
        if started_ticks(self.process) == Some(self.started_ticks) {
            return Ok(());
        }
        // The first thread of a killed process ends before the others, and only the end of the last shows how it ended.
        let mut status = None;
        until(LONGEST_END, || {
            status = self.ended().ok().flatten();
            status.is_some()
        });
        Err(self.died(status))
    }

    /// The error of a member that ended by itself.
    pub(super) fn died(&self, status: Option<ExitStatus>) -> TestbedError {
        TestbedError::ServerDied {
            name: self.name.clone(),
            how: how_it_ended(status, &self.data, &self.log),
            last_words: self.last_words(),
        }
    }

    pub(super) fn last_words(&self) -> Vec<String> {
        log::last_words(&self.log)
    }

    /// Sends SIGTERM; `false` when that failed.
    pub(super) fn ask_to_end(&self, signal: Signal) -> bool {
        ask(&self.child(), signal)
    }

    pub(super) fn stand_still(&self) -> bool {
        ask(&self.child(), Signal::STOP)
    }

    /// Continues it, if it is stopped.
    pub(super) fn go_on(&self) {
        ask(&self.child(), Signal::CONT);
    }

    /// With all processes that it started, as far as they are in its group.
    pub(super) fn kill(&self) {
        let mut child = self.child();
        if matches!(child.try_wait(), Ok(None)) {
            end_group(&mut child);
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.kill();
    }
}

/// In words. A server on a full disk often cannot even write why it ends, so this checks whether one of the places that it
/// writes to is full, or was when it wrote, since a process that ends gives room back.
fn how_it_ended(status: Option<ExitStatus>, data: &Path, log: &Path) -> String {
    let how = exit_in_words(status);
    match [data, log].into_iter().find(|place| is_full(place)) {
        Some(place) => format!("{how}, and the disk of {} is full", place.display()),
        None if log::breaks_off(log) => {
            format!("{how}, and its log breaks off within a line, as on a full disk")
        }
        None => how,
    }
}

fn is_full(place: &Path) -> bool {
    rustix::fs::statvfs(place)
        .is_ok_and(|status| status.f_bavail.saturating_mul(status.f_frsize) < FULL_BYTES)
}

pub(super) fn exit_in_words(status: Option<ExitStatus>) -> String {
    let Some(status) = status else {
        return "it is gone".into();
    };
    match (status.signal(), status.code()) {
        (Some(9), _) => {
            "it was killed (SIGKILL): by a user, or by the kernel because memory ran out; see `dmesg`".into()
        }
        (Some(signal), _) => format!("it crashed with signal {signal}"),
        (None, Some(code)) => format!("it ended with exit code {code}"),
        (None, None) => "it ended".into(),
    }
}
