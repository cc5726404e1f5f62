//! What a run stands on: made before it, watched over, and undone after it, with the trace of its disk kept.

use crate::below::Below;
use crate::error::RunnerError;
use crate::execution::Execution;
use crate::frames::{DataPhase, RigAccess};
use crate::host::RunHost;
use plimsoll_plan::{Arm, explain, keeps_data_here};
use plimsoll_record::files::OwnFolder;
use plimsoll_record::{DiskChoice, EventRecord, EventSpec, RigRecord, RunRecord, TraceReference};
use plimsoll_rig::{Built, BuiltRig, Disturb, Disturbed, Order, RigError};
use plimsoll_trace::ExtentMap;
use std::cell::{Cell, RefCell};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A rig of a run, and what will be kept of it.
pub(crate) struct Rigging<'a> {
    rig: BuiltRig<'a>,
    host: &'a dyn RunHost,
    trace_to: PathBuf,
    server_log_to: PathBuf,
    /// Where the files lay, in the order of time.
    extents: RefCell<Vec<ExtentMap>>,
    /// The limit of memory, where it was set after the load.
    memory_bytes: Cell<Option<u64>>,
}

impl<'a> Rigging<'a> {
    /// Makes the rig of a run; `None` where no data is kept here and nothing is limited. On a half of the machine it is one of two.
    pub(crate) fn build(
        execution: &Execution<'_>,
        host: &'a dyn RunHost,
        arm: &Arm,
        id: &str,
        head: &RunRecord,
        data: DataPhase,
    ) -> Result<Option<Self>, RunnerError> {
        if !needs_rig(arm) {
            return Ok(None);
        }
        let explained = explain(execution.plan, plimsoll_engine::kinds());
        let needs_bytes = explained
            .arms
            .iter()
            .find(|explained| explained.name == arm.name)
            .map_or(0, |explained| explained.disk_bytes);
        let label = match data {
            DataPhase::LoadAlone => format!("load-{}-{}-{}", head.block, head.arm, head.attempt),
            DataPhase::Load | DataPhase::Copied => {
                format!("{}-{}-{}", head.block, head.arm, head.attempt)
            }
        };
        let mut spec = Box::new(arm.rig.clone());
        if let (DataPhase::LoadAlone, Some(DiskChoice::Emulated { spec: disk })) =
            (data, &mut spec.disk)
        {
            // What is stored once is no part of any run.
            disk.trace_requests = 0;
        }
        let order = Order::Build {
            spec,
            directory: arm.directory.clone(),
            owner: id.to_owned(),
            label: label.clone(),
            needs_bytes,
            processors: head.half.as_ref().map(|half| half.processors.clone()),
            from: (data == DataPhase::Copied).then(|| arm.name.clone()),
        };
        let number = if head.half.is_some() { head.position as usize } else { 0 };
        Ok(Some(Self {
            rig: host.rigs().build(number, order)?,
            host,
            trace_to: execution.traces.join(id).join(format!("{label}.trace")),
            server_log_to: execution.server_logs.join(id).join(format!("{label}.log")),
            extents: RefCell::default(),
            memory_bytes: Cell::default(),
        }))
    }

    pub(crate) fn built(&self) -> &Built {
        self.rig.built()
    }

    pub(crate) fn data_directory(&self) -> &Path {
        self.rig.data_directory()
    }

    pub(crate) fn standing(&self) -> RigAccess {
        let built = self.built();
        let of_storage = built.storage.device.as_deref();
        let of_storage = of_storage.and_then(|device| device.strip_prefix("/dev/"));
        let device = built.device.as_deref().or(of_storage);
        RigAccess {
            control: built.control_socket.clone(),
            device: device.map(str::to_owned),
            group: built.group.clone(),
            server: built.server.clone(),
        }
    }

    /// Whether everything that was made is still there: a result on a disk that died is none.
    pub(crate) fn soundness(&self) -> Result<(), RigError> {
        self.rig.is_sound()
    }

    /// Copies the data for the runs of an arm, once its server and its workers have ended.
    pub(crate) fn keep_data(&self, arm: &Arm, id: &str) -> Result<(), RigError> {
        self.rig.keep(&arm.name, arm.directory.clone(), id)
    }

    /// Ends the server, if there is one, and keeps the logs of its members.
    pub(crate) fn stop_server(&mut self, notes: &mut Vec<String>) -> Result<(), RigError> {
        let stopped = self.rig.stop_server();
        for (place, log) in self.rig.built().server_logs.iter().enumerate() {
            if let Err(error) = self.keep_log(log, &self.log_to(place)) {
                notes.push(format!("the log of the server is lost: {error}"));
            }
        }
        stopped
    }

    /// Where the log of a member is kept: `0-arm-1.log`, and beside it `0-arm-1-member-2.log`.
    fn log_to(&self, place: usize) -> PathBuf {
        if place == 0 {
            return self.server_log_to.clone();
        }
        let stem = self.server_log_to.file_stem().unwrap_or_default();
        let name = format!("{}-member-{}.log", stem.display(), place + 1);
        self.server_log_to.with_file_name(name)
    }

    fn keep_log(&self, log: &Path, to: &Path) -> std::io::Result<()> {
        let mut kept = own_file(to)?;
        self.host.fetch(log, &mut kept)
    }

    fn keep_trace(&self, trace: &Path) -> Result<TraceReference, String> {
        let to = &self.trace_to;
        let failed = |error: std::io::Error| format!("{}: {error}", to.display());
        let folder = to.parent().unwrap_or(Path::new("."));
        OwnFolder::make(folder).map_err(failed)?;
        let finished = |trace: &Path| {
            let kept = plimsoll_trace::finish(trace, to, &self.extents.take());
            kept.map(|kept| kept.reference).map_err(|error| error.to_string())
        };
        if self.host.is_here() {
            return finished(trace);
        }
        let fetched = to.with_extension("fetched");
        let copied = own_file(&fetched).and_then(|mut file| self.host.fetch(trace, &mut file));
        let kept = copied.map_err(failed).and_then(|()| finished(&fetched));
        let _ = std::fs::remove_file(&fetched);
        kept
    }

    /// Undoes everything and keeps the trace and the log of the server. Returns what the record says of it, and what the user should know.
    pub(crate) fn tear_down(mut self) -> (RigRecord, Vec<String>) {
        let built = self.rig.built();
        let mut record = built.record.clone();
        record.limits.memory_bytes = self.memory_bytes.get().or(record.limits.memory_bytes);
        let mut notes = Vec::new();
        if let Some(server) = &mut record.server {
            let kept = |place| Some(self.log_to(place)).filter(|log| log.is_file());
            server.log = kept(0);
            for (place, member) in server.members.iter_mut().enumerate() {
                member.log = kept(place);
            }
        }
        match self.rig.tear_down() {
            Ok(torn_down) => {
                record.lateness = torn_down.lateness;
                notes.extend(torn_down.notes);
                if let Some(trace) = &torn_down.trace {
                    match self.keep_trace(trace) {
                        Ok(kept) => record.trace = Some(kept),
                        Err(why) => notes.push(format!("the trace of the disk is lost: {why}")),
                    }
                }
                notes.extend(self.rig.remove().err().map(|error| error.to_string()));
            }
            Err(error) => notes.push(error.to_string()),
        }
        (record, notes)
    }
}

/// A run may stand on nothing.
impl Below for Option<Rigging<'_>> {
    fn admit(&self, process: u32) -> Result<(), RigError> {
        self.as_ref().map_or(Ok(()), |this| this.rig.admit(process))
    }

    fn is_sound(&self) -> bool {
        self.as_ref().is_none_or(|this| this.soundness().is_ok())
    }

    fn shape(&self, shaped: bool, mark: &str) -> Result<(), RigError> {
        self.as_ref().map_or(Ok(()), |this| this.rig.shape(shaped, mark))
    }

    fn map(&self) -> Result<(), RigError> {
        if let Some(this) = self {
            this.extents.borrow_mut().extend(this.rig.extents()?);
        }
        Ok(())
    }

    fn size_memory(&self) -> Result<(), RigError> {
        if let Some(this) = self {
            this.memory_bytes.set(this.rig.size_memory()?);
        }
        Ok(())
    }

    fn drop_page_cache(&self) -> Result<(), RigError> {
        self.as_ref().map_or(Ok(()), |this| this.rig.drop_page_cache())
    }

    fn disturb(&self, what: Disturb) -> Result<Disturbed, RigError> {
        match self {
            Some(this) => this.rig.disturb(what),
            None => Err(RigError::Refused("there is no server".into())),
        }
    }

    fn timeline(&self, events: &[EventSpec], start_ns: u64) -> Result<Vec<EventRecord>, RigError> {
        match self {
            Some(this) => this.rig.timeline(events, start_ns),
            None => Err(RigError::Refused("there is no emulated disk".into())),
        }
    }

    fn heal(&self) -> Result<(), RigError> {
        self.as_ref().map_or(Ok(()), |this| this.rig.heal())
    }
}

/// A new file of our own, with the folder that it is in.
fn own_file(path: &Path) -> std::io::Result<File> {
    if let Some(folder) = path.parent() {
        OwnFolder::make(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(path)
}

/// Whether something is made for the runs of an arm: data is kept here, something is limited, or the kernel is set.
pub(crate) fn needs_rig(arm: &Arm) -> bool {
    let keeps_data = plimsoll_engine::kind(&arm.engine)
        .is_some_and(|kind| keeps_data_here(kind, arm.rig.server.as_ref()));
    keeps_data || !arm.rig.limits.is_empty() || !arm.rig.kernel.is_empty()
}
