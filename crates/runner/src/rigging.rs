//! What a run stands on: made before it, watched over, and undone after it, with the trace of its disk kept.

use crate::error::RunnerError;
use crate::execute::Execution;
use crate::frames::Standing;
use plimsoll_disk::Control;
use plimsoll_experiment::{Arm, explain};
use plimsoll_record::{RigRecord, RunRecord, Storage, TraceReference};
use plimsoll_telemetry::Host;
use plimsoll_testbed::{Journal, Rig, RigOrder, TestbedError, default_parent, require_space};
use plimsoll_trace::ExtentMap;
use std::path::{Path, PathBuf};

/// A rig of a run, and what will be kept of it.
pub(crate) struct Rigging {
    rig: Rig,
    trace_to: PathBuf,
    /// Where the files lay, in the order of time.
    pub(crate) extents: Vec<ExtentMap>,
}

impl Rigging {
    /// Makes the rig of a run; `None` for an engine that keeps no data and has no limits.
    pub(crate) fn build(
        execution: &Execution<'_>,
        arm: &Arm,
        id: &str,
        head: &RunRecord,
        journal: &mut Journal,
    ) -> Result<Option<Self>, RunnerError> {
        let keeps_data = plimsoll_engine::kind(&arm.engine).is_some_and(|kind| kind.keeps_data);
        if !keeps_data && arm.rig.limits.is_empty() {
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
            server: None,
        }
    }

    /// Puts a process under the limits.
    pub(crate) fn admit(&self, pid: u32) -> Result<(), RunnerError> {
        Ok(self.rig.admit(pid)?)
    }

    /// Whether everything that was made is still there: a result on a disk that died is none.
    pub(crate) fn is_sound(&self) -> Result<(), String> {
        self.rig.is_sound().map_err(|error| error.to_string())
    }

    /// Undoes everything and keeps the trace. Returns what the record says of it, and what the user should know.
    pub(crate) fn tear_down(self, journal: &mut Journal) -> (RigRecord, Vec<String>) {
        let mut record = self.rig.record();
        let mut notes = Vec::new();
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

fn keep(trace: &Path, to: &Path, extents: &[ExtentMap]) -> Result<TraceReference, String> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let kept = plimsoll_trace::finish(trace, to, extents).map_err(|error| error.to_string())?;
    Ok(kept.reference)
}

/// Where an arm's data directories are made.
pub(crate) fn parent_of(arm: &Arm) -> Result<PathBuf, TestbedError> {
    match &arm.directory {
        Some(directory) => Ok(directory.clone()),
        None => default_parent(),
    }
}
