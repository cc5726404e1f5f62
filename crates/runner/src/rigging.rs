//! What a run stands on: made before it, watched over, and undone after it, with the trace of its disk kept.

use crate::afterwards::Sample;
use crate::error::RunnerError;
use crate::execute::Execution;
use crate::frames::{RunningServer, Standing};
use plimsoll_disk::Control;
use plimsoll_experiment::{Arm, explain, keeps_data_here};
use plimsoll_files::OwnFolder;
use plimsoll_record::{RigRecord, RunRecord, Storage, TraceReference};
use plimsoll_telemetry::Host;
use plimsoll_testbed::{
    Journal, Rig, RigOrder, TestbedError, default_parent, default_parent_of_servers, require_space,
};
use plimsoll_trace::ExtentMap;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A rig of a run, and what will be kept of it.
pub(crate) struct Rigging {
    rig: Rig,
    trace_to: PathBuf,
    server_log_to: PathBuf,
    /// Where the files lay, in the order of time.
    pub(crate) extents: Vec<ExtentMap>,
}

impl Rigging {
    /// Makes the rig of a run; `None` where no data is kept here and nothing is limited.
    pub(crate) fn build(
        execution: &Execution<'_>,
        arm: &Arm,
        id: &str,
        head: &RunRecord,
        journal: &mut Journal,
    ) -> Result<Option<Self>, RunnerError> {
        if !needs_rig(arm) {
            return Ok(None);
        }
        let parent = parent_of(arm)?;
        let explained = explain(execution.plan, plimsoll_engine::kinds());
        let needs_bytes = explained
            .arms
            .iter()
            .find(|explained| explained.name == arm.name)
            .map_or(0, |explained| explained.disk_bytes);
        if arm.rig.disk.is_none() {
            require_space(&parent, needs_bytes)?;
        }
        let label = format!("{}-{}-{}", head.block, head.arm, head.attempt);
        let order = RigOrder {
            spec: &arm.rig,
            parent: &parent,
            owner: id,
            label: &label,
            needs_bytes,
            daemon: &execution.daemon,
        };
        Ok(Some(Self {
            rig: Rig::build(&order, journal)?,
            trace_to: execution.traces.join(id).join(format!("{label}.trace")),
            server_log_to: execution.server_logs.join(id).join(format!("{label}.log")),
            extents: Vec::new(),
        }))
    }

    pub(crate) fn data_directory(&self) -> &Path {
        self.rig.data_directory()
    }

    pub(crate) fn storage(&self) -> Storage {
        Host::here().storage(self.rig.data_directory())
    }

    /// For the worker.
    pub(crate) fn standing(&self, storage: &Storage) -> Standing {
        let device = match (self.rig.device(), &storage.device) {
            (Some(device), _) => Some(device.to_owned()),
            (None, Some(device)) => device.strip_prefix("/dev/").map(str::to_owned),
            (None, None) => None,
        };
        Standing {
            mount_point: self.rig.mount_point().map(Path::to_owned),
            control: self.rig.control_socket().map(Path::to_owned),
            device,
            group: self.rig.group().cloned(),
            server: self.rig.server().map(|(address, process)| RunningServer {
                address: address.to_owned(),
                process,
            }),
        }
    }

    /// What a process must carry to be admitted.
    pub(crate) fn mark(&self) -> String {
        self.rig.mark()
    }

    /// Puts a process under the limits.
    pub(crate) fn admit(&self, pid: u32) -> Result<(), RunnerError> {
        Ok(self.rig.admit(pid)?)
    }

    /// Whether everything that was made is still there: a result on a disk that died is none.
    pub(crate) fn is_sound(&self) -> Result<(), String> {
        self.rig.is_sound().map_err(|error| error.to_string())
    }

    /// Ends the server, if there is one, and keeps its log.
    pub(crate) fn stop_server(&mut self, notes: &mut Vec<String>) -> Result<(), String> {
        let stopped = self.rig.stop_server().map_err(|error| error.to_string());
        if let Some(log) = self.rig.server_log()
            && let Err(error) = keep_log(&log, &self.server_log_to)
        {
            notes.push(format!("the log of the server is lost: {error}"));
        }
        stopped
    }

    /// What the server wrote about itself, if it did: a mongod does, in a folder of its data directory. It has ended.
    pub(crate) fn told_by_server(&self) -> Result<Vec<Sample>, String> {
        let folder = self.rig.data_directory().join("diagnostic.data");
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        plimsoll_engine::ftdc(&folder).map_err(|error| error.to_string())
    }

    /// Undoes everything and keeps the trace and the log of the server. Returns what the record says of it, and what the user should know.
    pub(crate) fn tear_down(self, journal: &mut Journal) -> (RigRecord, Vec<String>) {
        let mut record = self.rig.record();
        let mut notes = Vec::new();
        if let Some(server) = &mut record.server {
            server.log = self
                .server_log_to
                .is_file()
                .then(|| self.server_log_to.clone());
        }
        if let Some(socket) = self.rig.control_socket() {
            let counters = Control::connect(socket).and_then(|mut control| control.counters());
            record.lateness = counters.ok().map(|counters| counters.lateness);
        }
        match self.rig.tear_down(journal) {
            Ok(torn_down) => {
                notes.extend(torn_down.notes.iter().cloned());
                if let Some(trace) = &torn_down.trace {
                    match keep(trace, &self.trace_to, &self.extents) {
                        Ok(kept) => record.trace = Some(kept),
                        Err(why) => notes.push(format!("the trace of the disk is lost: {why}")),
                    }
                }
                if let Err(error) = torn_down.remove(journal) {
                    notes.push(error.to_string());
                }
            }
            Err(error) => notes.push(error.to_string()),
        }
        (record, notes)
    }
}

fn keep_log(log: &Path, to: &Path) -> std::io::Result<()> {
    if let Some(folder) = to.parent() {
        OwnFolder::make(folder)?;
    }
    let mut kept = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)?;
    std::io::copy(&mut File::open(log)?, &mut kept).map(drop)
}

fn keep(trace: &Path, to: &Path, extents: &[ExtentMap]) -> Result<TraceReference, String> {
    if let Some(folder) = to.parent() {
        OwnFolder::make(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let kept = plimsoll_trace::finish(trace, to, extents).map_err(|error| error.to_string())?;
    Ok(kept.reference)
}

/// Whether something is made for the runs of an arm: data is kept here, or something is limited.
pub(crate) fn needs_rig(arm: &Arm) -> bool {
    let keeps_data = plimsoll_engine::kind(&arm.engine)
        .is_some_and(|kind| keeps_data_here(kind, arm.rig.server.as_ref()));
    keeps_data || !arm.rig.limits.is_empty()
}

/// Where an arm's data directories are made.
pub(crate) fn parent_of(arm: &Arm) -> Result<PathBuf, TestbedError> {
    match &arm.directory {
        Some(directory) => Ok(directory.clone()),
        None if arm.rig.server.is_some() => default_parent_of_servers(),
        None => default_parent(),
    }
}
