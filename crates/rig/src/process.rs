//! The process: takes orders one at a time, and keeps what it has made until an order says otherwise or its client is gone.

use crate::RigError;
use crate::allowed::Allowed;
use crate::disk_task::median_ns;
use crate::fio::{
    Characterisation, Permission, Profile, Progress, Target, Watch, calibrate, characterise,
};
use crate::log::SocketLayer;
use crate::orders::{
    Answer, Built, Characterised, Go, Order, RIGS, RigRequest, RunningServer, TornDown, User,
};
use crate::testbed::{
    BareDisk, Client, Journal, KeptData, Rig, RigOrder, abandoned, check_place, default_parent,
    default_state_dir, end_children, hide, what_runs_here,
};
use plimsoll_disk::{Control, DaemonProgram};
use plimsoll_record::{Calibration, DiskChoice, DiskSpec, Lateness, RigSpec};
use plimsoll_telemetry::{Host, on_processors};
use plimsoll_trace::ExtentMap;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tracing_subscriber::layer::SubscriberExt;

/// Longest order, bytes: a disk that is described in full has a few thousand.
const LONGEST_ORDER: u64 = 4 << 20;
/// Bytes of the id of an experiment, and of the words for one of its runs.
const LONGEST_WORDS: usize = 400;

/// Carries out orders until the client is gone, then undoes what is left. `daemon` is the program of emulated disks; nothing beyond `allowed` is made.
pub fn serve(stream: UnixStream, daemon: DaemonProgram, allowed: Allowed) -> std::io::Result<()> {
    let credentials = rustix::net::sockopt::socket_peercred(&stream)?;
    let client = Client::of(credentials.pid.as_raw_nonzero().get().cast_unsigned());
    let Some(client) = client else {
        return Ok(());
    };
    let mut line = Duplex {
        input: BufReader::new(stream.try_clone()?),
        output: Arc::new(Output(Mutex::new(stream))),
    };
    let log = tracing_subscriber::registry().with(SocketLayer(Arc::clone(&line.output)));
    let _log = tracing::subscriber::set_default(log);
    let mut process = Process {
        client,
        daemon,
        allowed,
        places: Default::default(),
        kept: BTreeMap::new(),
        journal: None,
    };
    // What a server leaves behind becomes a child of this process, and is found by that.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    while let Some(text) = line.read()? {
        let answer = match serde_json::from_str::<RigRequest>(&text) {
            Ok(RigRequest { rig, order }) => {
                let (name, is_routine, begun) =
                    (order.to_string(), order.is_routine(), Instant::now());
                let carried_out = process.carry_out(rig, order, &mut line);
                if !is_routine {
                    process.end_orphans();
                }
                let seconds = begun.elapsed().as_secs_f64();
                match carried_out {
                    Ok(value) => {
                        if !is_routine {
                            tracing::debug!("{name}: done in {seconds:.3} s");
                        }
                        Answer::Done(value)
                    }
                    Err(error) => {
                        tracing::warn!("{name}: failed after {seconds:.3} s: {error}");
                        Answer::Failed(error)
                    }
                }
            }
            Err(error) => {
                Answer::Failed(RigError::Refused(format!("the order cannot be read: {error}")))
            }
        };
        line.output.write(&answer)?;
    }
    drop(process);
    end_children();
    Ok(())
}

struct Duplex {
    input: BufReader<UnixStream>,
    output: Arc<Output>,
}

/// The side of the socket that answers and lines of the log are written to, each as a whole.
pub(crate) struct Output(Mutex<UnixStream>);

impl Output {
    pub(crate) fn write(&self, answer: &Answer) -> std::io::Result<()> {
        let mut text = serde_json::to_string(answer)?;
        text.push('\n');
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stream.write_all(text.as_bytes())
    }
}

impl Duplex {
    /// `None` when the client is gone.
    fn read(&mut self) -> std::io::Result<Option<String>> {
        let mut text = String::new();
        let mut bounded = (&mut self.input).take(LONGEST_ORDER);
        match bounded.read_line(&mut text) {
            Ok(_) if text.ends_with('\n') => Ok(Some(text)),
            Ok(_) if text.len() as u64 >= LONGEST_ORDER => {
                Err(std::io::Error::other("an order has no end"))
            }
            Ok(_) => Ok(None),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A client that has gone is no failure.
    fn tell(&mut self, lines: &[String]) {
        for line in lines {
            let _ = self.output.write(&Answer::Message(line.clone()));
        }
    }

    /// Reports how far fio is, and asks whether to continue. Without a client it ends.
    fn goes_on(&mut self, progress: &Progress) -> ControlFlow<()> {
        let written = self.output.write(&Answer::At(progress.clone()));
        let heard = written.and_then(|()| self.read()).ok().flatten();
        match heard.and_then(|text| serde_json::from_str(&text).ok()) {
            Some(Go(true)) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }
}

/// What stands. What is declared first is dropped first.
struct Process {
    places: [RigSlot; RIGS],
    /// Data that runs begin with, by name.
    kept: BTreeMap<String, KeptData>,
    journal: Option<Journal>,
    client: Client,
    daemon: DaemonProgram,
    allowed: Allowed,
}

/// Where a rig may stand.
#[derive(Default)]
struct RigSlot {
    rig: Option<Rig>,
    torn_down: Option<crate::testbed::TornDown>,
}

impl RigSlot {
    fn rig(&self) -> Result<&Rig, RigError> {
        self.rig.as_ref().ok_or_else(no_rig)
    }

    fn rig_mut(&mut self) -> Result<&mut Rig, RigError> {
        self.rig.as_mut().ok_or_else(no_rig)
    }

    /// The emulated disk, which takes commands.
    fn disk(&self) -> Result<Control, RigError> {
        let socket = self.rig()?.control_socket();
        let socket = socket.ok_or_else(|| refused("there is no emulated disk"))?;
        Ok(Control::connect(socket)?)
    }

    fn tear_down(&mut self, journal: &mut Journal) -> Result<TornDown, RigError> {
        let rig = self.rig.take().ok_or_else(no_rig)?;
        let lateness = rig.control_socket().and_then(lateness);
        let left = rig.tear_down(journal)?;
        let torn_down = TornDown { trace: left.trace.clone(), lateness, notes: left.notes.clone() };
        self.torn_down = Some(left);
        Ok(torn_down)
    }
}

impl Process {
    /// Ends what servers left behind, once no rig is left.
    fn end_orphans(&self) {
        if self.places.iter().all(|place| place.rig.is_none()) {
            end_children();
        }
    }

    /// `number` says which rig is meant.
    fn carry_out(
        &mut self,
        number: usize,
        order: Order,
        line: &mut Duplex,
    ) -> Result<Value, RigError> {
        let place = self.places.get_mut(number).ok_or_else(no_rig)?;
        match order {
            Order::WhatRuns { rigs } => {
                let why = rigs.iter().map(|rig| {
                    let refused = self.allowed.refuses(rig);
                    refused.or_else(|| what_runs_here(rig).err().map(|error| error.to_string()))
                });
                value(&why.collect::<Vec<_>>())
            }
            Order::Look { directory } => {
                let directory = place_of(directory)?;
                check_place(&directory)?;
                value(&directory)
            }
            Order::Clean { dry_run } => clean(dry_run, line),
            Order::Open { label } => {
                let state = default_state_dir()?;
                // It is of the journal before.
                self.kept.clear();
                self.journal = Some(Journal::open_for(&state, &label, Some(self.client))?);
                value(&())
            }
            order @ Order::Build { .. } => value(&self.build(number, order)?),
            Order::Admit { process } => {
                let rig = place.rig()?;
                if parent_of(process) != Some(self.client.process()) {
                    return Err(refused("the process is none that the client has started"));
                }
                value(&rig.admit(process)?)
            }
            Order::IsSound => value(&place.rig()?.is_sound()?),
            Order::Extents => {
                let rig = place.rig()?;
                let map = match (rig.control_socket(), rig.mount_point()) {
                    (Some(_), Some(mount_point)) => ExtentMap::take(mount_point).map(Some),
                    _ => Ok(None),
                };
                value(&map.map_err(|error| RigError::Refused(error.to_string()))?)
            }
            Order::Show { directory } => value(&place.rig()?.show(&directory)?),
            Order::Remount { directory } => value(&place.rig_mut()?.remount(&directory)?),
            Order::Hide { directory } if self.allowed.disk => value(&hide(&directory)?),
            Order::Hide { .. } => Err(refused("the agent here was started without --allow disk")),
            Order::Shape { shaped, mark } => {
                let mut control = place.disk()?;
                let entered = control.shape(shaped).and_then(|()| control.mark(&mark));
                value(&entered?)
            }
            Order::Timeline { events, start_ns } => {
                value(&place.disk()?.timeline(&events, start_ns)?)
            }
            Order::SizeMemory => {
                let rig = place.rig_mut()?;
                value(&rig.size_memory()?)
            }
            Order::DropPageCache => value(&place.rig()?.drop_page_cache()?),
            Order::Disturb { what } => {
                let rig = place.rig_mut()?;
                value(&rig.disturb(what)?)
            }
            Order::Heal => {
                let rig = place.rig_mut()?;
                value(&rig.heal()?)
            }
            Order::Keep { name, directory, owner } => {
                let rig = place.rig()?;
                if name.len() > LONGEST_WORDS || owner.len() > LONGEST_WORDS {
                    return Err(refused("the words for whom it is made are too long"));
                }
                let journal = self.journal.as_ref().ok_or_else(no_journal)?;
                let label = format!("kept-{name}");
                let kept = rig.keep(journal, &place_of(directory)?, &owner, &label)?;
                self.kept.insert(name, kept);
                value(&())
            }
            Order::StopServer => {
                let rig = place.rig_mut()?;
                value(&rig.stop_server()?)
            }
            Order::TearDown => {
                let journal = self.journal.as_mut().ok_or_else(no_journal)?;
                value(&place.tear_down(journal)?)
            }
            Order::Remove => {
                let left = place.torn_down.take().ok_or_else(no_rig)?;
                let journal = self.journal.as_mut().ok_or_else(no_journal)?;
                value(&left.remove(journal)?)
            }
            Order::Calibrate { spec, directory, owner } => {
                let watch = &mut |progress: &Progress| line.goes_on(progress);
                let (found, notes) = self.calibrate(&spec, directory, &owner, watch)?;
                line.tell(&notes);
                value(&found)
            }
            Order::Characterise { what, profile } => {
                let watch = &mut |progress: &Progress| line.goes_on(progress);
                let (found, notes) = self.characterise(what, &profile, watch)?;
                line.tell(&notes);
                value(&found)
            }
            Order::DiskTask { directory } => {
                // The usual place may not be there yet.
                let directory = place_of(directory)?;
                let there = directory.ancestors().find(|folder| folder.is_dir());
                value(&there.and_then(median_ns))
            }
        }
    }

    /// Builds the rig of an [`Order::Build`].
    fn build(&mut self, number: usize, order: Order) -> Result<Built, RigError> {
        let Order::Build { spec, directory, owner, label, needs_bytes, processors, from } = order
        else {
            return Err(no_rig());
        };
        let from = match &from {
            Some(name) => Some(
                self.kept
                    .get(name)
                    .ok_or_else(|| refused(&format!("nothing was kept of the data of {name}")))?,
            ),
            None => None,
        };
        let place = self.places.get_mut(number).ok_or_else(no_rig)?;
        if place.rig.is_some() || place.torn_down.is_some() {
            return Err(refused("there is a rig already"));
        }
        // They are written into the marker of the data directory, which must be read again.
        if owner.len() > LONGEST_WORDS || label.len() > LONGEST_WORDS {
            return Err(refused("the words for whom it is made are too long"));
        }
        if let Some(why) = self.allowed.refuses(&spec) {
            return Err(RigError::Refused(why));
        }
        let parent = place_of(directory)?;
        let order = RigOrder {
            spec: &spec,
            parent: &parent,
            owner: &owner,
            label: &label,
            needs_bytes,
            daemon: &self.daemon,
            from,
        };
        let journal = self.journal.as_mut().ok_or_else(no_journal)?;
        let mut build = || Rig::build(&order, journal);
        let rig = match processors {
            None => build()?,
            // Daemons, servers and what else is started now stay on them.
            Some(processors) => on_processors(&processors, build)
                .map_err(|error| refused(&format!("processors {processors:?}: {error}")))??,
        };
        let built = built(&rig);
        place.rig = Some(rig);
        Ok(built)
    }

    fn calibrate(
        &mut self,
        spec: &DiskSpec,
        directory: Option<PathBuf>,
        owner: &str,
        watch: &mut Watch<'_>,
    ) -> Result<(Calibration, Vec<String>), RigError> {
        self.with_disk(spec, directory, owner, |device, control| {
            let shape = &mut |shaped| shape(control, shaped);
            Ok(calibrate(device, spec, shape, watch)?)
        })
    }

    fn characterise(
        &mut self,
        what: Characterised,
        profile: &Profile,
        watch: &mut Watch<'_>,
    ) -> Result<(Characterisation, Vec<String>), RigError> {
        if !self.allowed.disk {
            return Err(refused("the agent here was started without --allow disk"));
        }
        let state = default_state_dir()?;
        match what {
            Characterised::Emulated(spec) => {
                self.with_disk(&spec, None, "characterise", |device, control| {
                    shape(control, true).map_err(RigError::Refused)?;
                    let target = Target::Device {
                        path: device.to_owned(),
                        permission: Permission::MadeHere,
                    };
                    Ok(characterise(&target, profile, &state, watch)?)
                })
            }
            Characterised::Target(Target::Device { permission: Permission::MadeHere, .. }) => {
                Err(refused("only this process knows what it has made"))
            }
            Characterised::Target(target) => {
                if let Target::Device { path, permission: Permission::MayBeErased } = &target {
                    if !self.allowed.erase {
                        return Err(refused("the agent here was started without --allow erase"));
                    }
                    what_runs_here(&RigSpec {
                        disk: Some(DiskChoice::Device { path: path.clone() }),
                        ..RigSpec::default()
                    })?;
                }
                let found = characterise(&target, profile, &state, watch)?;
                Ok((found, Vec::new()))
            }
        }
    }

    /// Makes an emulated disk, lets `use_it` have its device and control, and undoes it. Returns what people should know beside.
    fn with_disk<T>(
        &mut self,
        spec: &DiskSpec,
        directory: Option<PathBuf>,
        owner: &str,
        use_it: impl FnOnce(&Path, &mut Control) -> Result<T, RigError>,
    ) -> Result<(T, Vec<String>), RigError> {
        if !self.allowed.disk {
            return Err(refused("the agent here was started without --allow disk"));
        }
        let parent = place_of(directory)?;
        let journal = self.journal.as_mut().ok_or_else(no_journal)?;
        let disk = BareDisk::build(spec, &parent, owner, &self.daemon, journal)?;
        let used = Control::connect(disk.control_socket())
            .map_err(RigError::from)
            .and_then(|mut control| use_it(&disk.device_path(), &mut control));
        let torn_down = disk.tear_down(journal);
        Ok((used?, torn_down?))
    }
}

/// How late the disk answered since it was made.
fn lateness(control_socket: &Path) -> Option<Lateness> {
    let counters = Control::connect(control_socket).and_then(|mut control| control.counters());
    counters.ok().map(|counters| counters.lateness)
}

fn shape(control: &mut Control, shaped: bool) -> Result<(), String> {
    control.shape(shaped).map_err(|error| error.to_string())
}

fn clean(dry_run: bool, line: &mut Duplex) -> Result<Value, RigError> {
    let mut failures = Vec::new();
    for left in abandoned(&default_state_dir()?)? {
        if dry_run {
            line.tell(&left.describe());
        } else if let Err(error) = left.undo(&mut |what| line.tell(&[what.to_owned()])) {
            failures.push(error.to_string());
        }
    }
    value(&failures)
}

/// Where data directories are made.
fn place_of(directory: Option<PathBuf>) -> Result<PathBuf, RigError> {
    match directory {
        Some(directory) => Ok(directory),
        None => Ok(default_parent()?),
    }
}

fn built(rig: &Rig) -> Built {
    Built {
        data_directory: rig.data_directory().to_owned(),
        user: rig.user().map(|user| User { user: user.user, group: user.group }),
        mount_point: rig.mount_point().map(Path::to_owned),
        control_socket: rig.control_socket().map(Path::to_owned),
        device: rig.device().map(str::to_owned),
        storage: Host::here().storage(rig.data_directory()),
        group: rig.group().cloned(),
        server: rig
            .server()
            .map(|(address, processes)| RunningServer { address: address.to_owned(), processes }),
        server_logs: rig.server_logs(),
        mark: rig.mark(),
        record: rig.record(),
    }
}

/// The process that started another.
fn parent_of(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn value(answer: &impl Serialize) -> Result<Value, RigError> {
    serde_json::to_value(answer)
        .map_err(|error| RigError::Refused(format!("the answer cannot be written: {error}")))
}

fn refused(why: &str) -> RigError {
    RigError::Refused(why.to_owned())
}

fn no_rig() -> RigError {
    refused("there is no rig")
}

fn no_journal() -> RigError {
    refused("no journal was opened")
}
