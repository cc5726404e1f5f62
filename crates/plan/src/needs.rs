//! Estimates of what an experiment needs: time, disk, memory and programs.

use crate::estimate::{
    Copies, MEMORY_BESIDES_CACHE_OF_SERVER, data_bytes, loaded_bytes_of, most_held, stored_bytes,
    window_ns,
};
use crate::{
    Arm, Caches, EngineKind, Measurement, Plan, Point, PointRole, Search, is_by_uri,
    keeps_data_here, measures_existing,
};
use plimsoll_record::{
    Backing, DiskChoice, DiskRates, DiskSpec, FilesystemKind, RigSpec, ShapedFrom,
};
use plimsoll_workload::Mix;
use plimsoll_workload::documents::DocumentsSpec;
use serde::Serialize;
use std::collections::BTreeSet;

/// Records that an engine stores in a second, about: embedded WiredTiger on two cores does 43,000 to 70,000 of 1 kB.
const LOADED_RECORDS_PER_SECOND: f64 = 50_000.0;
/// The same of a server: mongod 6.0.5 on two cores, which it shares with its client, does 8,000 to 15,000.
const SERVED_RECORDS_PER_SECOND: f64 = 10_000.0;
/// The same of a replica set, of whose members most must have written a record before the next: three of mongod 6.0.5 on two cores, four sessions.
const REPLICATED_RECORDS_PER_SECOND: f64 = 500.0;
/// Documents of an application in one command of the load, about.
const DOCUMENTS_AT_ONCE: f64 = 1_000.0;
/// By how many times a server stores more where inserts carry many records: the same server does 105,000 to 130,000 in a second with a batch of 100.
const MOST_BY_BATCHES: f64 = 10.0;
/// Bytes that an engine stores in a second, about: what binds where records are large.
const LOADED_BYTES_PER_SECOND: f64 = 50e6;
/// The same of a server, which stores on threads of its own while its client makes the next records.
const SERVED_BYTES_PER_SECOND: f64 = 100e6;
/// Starting and stopping what is measured in one run, and settling after the load, seconds, about: the worker alone, with an embedded engine, with a server, and
/// with a replica set and its election.
const STARTING_WORKER: f64 = 0.5;
const STARTING_EMBEDDED: f64 = 1.5;
const STARTING_SERVER: f64 = 3.0;
const STARTING_SET: f64 = 15.0;
/// Making an emulated disk with its filesystem, and undoing it.
const STARTING_DISK: f64 = 1.5;
/// Bytes of caches that reads of single records fill in a second, about, each page with the first record that is read of it: by 135 runs of two studies, whose caches
/// took 23 and 36 s on average.
const FILLED_BYTES_PER_SECOND: f64 = 36e6;
/// Bytes of stored data that are copied in a second, about, made durable.
const COPIED_BYTES_PER_SECOND: f64 = 300e6;
/// Two windows of five seconds must be alike before caches count as filled.
const LEAST_FILLING: f64 = 11.0;
/// Bytes of one request while data is stored, about.
const STORING_REQUEST: f64 = 32_768.0;
/// Holding one emulated disk against its description, about.
const CALIBRATION_NS: u64 = 25_000_000_000;
/// Size of one request in a trace.
const TRACE_BYTES: f64 = 32.0;
/// Trials of a search for the plimsoll line where they come out alike, about.
pub(crate) const TRIALS: u64 = 25;
/// Where the tail varies by a third from trial to trial: see `docs/methods.md`.
const MANY_TRIALS: u64 = 81;
/// No search makes more: one that does not come to an end by then leaves the line as far as it is known.
pub const MOST_TRIALS: usize = 400;
/// The program itself with its histograms.
const MEMORY_BESIDES: f64 = 100e6;

/// What an experiment needs. Runs are made in turn, so disk and memory are those of the largest; in duets of two at once, those of the two largest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Needs {
    /// Number of runs that are planned.
    pub runs: u64,
    /// Warm-up and measuring of all points of all runs, nanoseconds: exact, unless points or sweeps end early, or the experiment by looks.
    pub measuring_ns: u64,
    /// Searching the plimsoll line in all runs, nanoseconds, about: how many trials that takes, only the run can tell.
    pub searching_ns: u64,
    /// The same where trials vary much.
    pub searching_longer_ns: u64,
    /// The same if no search came to an end by itself.
    pub searching_most_ns: u64,
    /// Storing the data before the points, for all runs, nanoseconds.
    pub loading_ns: u64,
    /// Filling caches before the points, for all runs, nanoseconds, about; zero unless warm caches are requested.
    pub filling_ns: u64,
    /// Starting and stopping what is measured, for all runs, nanoseconds, about.
    pub starting_ns: u64,
    /// Holding emulated disks against their description, once for each that differs, nanoseconds.
    pub calibration_ns: u64,
    /// Bytes of this machine's disk at the worst moment, files of emulated disks included.
    pub disk_bytes: u64,
    /// Bytes of memory of what is measured, all members of a server, without the page cache.
    pub memory_bytes: u64,
    /// Bytes of memory of emulated disks that are kept there, and of their traces, at the worst moment.
    pub disk_memory_bytes: u64,
    /// Whether the program must be run by root, for disks, filesystems or limits.
    pub root: bool,
    /// Debian packages of programs that are called.
    pub packages: Vec<String>,
}

impl Needs {
    /// How long all of it takes, about, nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.measuring_ns
            .saturating_add(self.searching_ns)
            .saturating_add(self.loading_ns)
            .saturating_add(self.filling_ns)
            .saturating_add(self.starting_ns)
            .saturating_add(self.calibration_ns)
    }
}

fn kind<'e>(arm: &Arm, engines: &'e [EngineKind]) -> Option<&'e EngineKind> {
    engines.iter().find(|kind| kind.name == arm.engine)
}

fn keeps_data(arm: &Arm, engines: &[EngineKind]) -> bool {
    kind(arm, engines).is_some_and(|kind| keeps_data_here(kind, arm.rig.server.as_ref()))
}

fn copies(arm: &Arm) -> Copies {
    Copies::of(arm.rig.server.as_ref())
}

/// Bytes of the cache of an arm's engine; of a server with several members, of one of them.
pub(crate) fn cache_bytes(arm: &Arm, engines: &[EngineKind]) -> Option<u64> {
    arm.settings.bytes(kind(arm, engines)?.cache_setting?)
}

/// Bytes on disk at the worst moment of a run.
pub(crate) fn held_bytes(plan: &Plan, arm: &Arm, engines: &[EngineKind]) -> f64 {
    if !keeps_data(arm, engines) {
        return 0.0;
    }
    let inserted = stored_bytes(&arm.data, inserted_records(plan));
    let held = most_held(loaded_bytes_of(arm) + inserted, copies(arm));
    match &arm.rig.disk {
        Some(DiskChoice::Emulated { spec }) => held.min(spec.capacity_bytes as f64),
        _ => held,
    }
}

/// Warm-up and measuring of one point.
fn point_ns(measurement: &Measurement) -> u64 {
    window_ns(measurement.warm_up_ns, measurement.duration_ns)
}

/// Records that the engine of an arm stores in a second, about.
fn records_per_second(arm: &Arm) -> f64 {
    let server = arm.rig.server.as_ref();
    let at_once = match arm.data.documents {
        Some(_) => DOCUMENTS_AT_ONCE,
        None => arm.settings.count("batch").unwrap_or(1) as f64,
    };
    if server.is_some_and(|server| server.members_in_words().is_some()) {
        (REPLICATED_RECORDS_PER_SECOND * at_once).min(SERVED_RECORDS_PER_SECOND)
    } else if server.is_some() || is_by_uri(arm) {
        SERVED_RECORDS_PER_SECOND * at_once.min(MOST_BY_BATCHES)
    } else {
        LOADED_RECORDS_PER_SECOND
    }
}

/// What a process that is measured takes besides the cache of its engine, bytes, about.
fn memory_besides(arm: &Arm) -> f64 {
    match arm.rig.server {
        Some(_) => MEMORY_BESIDES_CACHE_OF_SERVER as f64,
        None => MEMORY_BESIDES,
    }
}

/// Estimates what a plan needs. `engines` are those that it was checked against.
pub fn needs(plan: &Plan, engines: &[EngineKind]) -> Needs {
    let measurement = &plan.measurement;
    let lines = plan.points.iter().filter(|point| point.role == PointRole::Line);
    let lines = lines.count() as u64;
    let search = plan.objective.as_ref().and_then(|objective| objective.search);
    let run_ns = point_ns(measurement).saturating_mul(plan.points.len() as u64 - lines);
    let trials_ns = search
        .map_or(0, |search| window_ns(search.warm_up_ns, search.trial_ns).saturating_mul(lines));
    let searching_ns =
        |trials| trials_ns.saturating_mul(trials).saturating_mul(plan.runs.len() as u64);
    let (mut before, mut once) = (Before::default(), Before::default());
    let mut kept_bytes = 0.0;
    let (mut disk, mut memory, mut disk_memory) =
        (AtOnce::of(plan), AtOnce::of(plan), AtOnce::of(plan));
    for arm in &plan.arms {
        let of_one = cache_bytes(arm, engines).unwrap_or(0) as f64 + memory_besides(arm);
        memory.add(of_one * copies(arm).number);
        before.add(&Before::of(plan, arm, engines));
        if plan.load_phase.once {
            once.add(&Before::of_loading(plan, arm, engines));
            kept_bytes += loaded_bytes_of(arm);
        }
        if !keeps_data(arm, engines) {
            continue;
        }
        let held = held_bytes(plan, arm, engines);
        match &arm.rig.disk {
            None => disk.add(held),
            Some(DiskChoice::Device { .. }) => {}
            Some(DiskChoice::Emulated { spec }) => {
                let trace = spec.trace_requests as f64 * TRACE_BYTES;
                if spec.backing == Backing::File {
                    disk.add(held);
                    disk_memory.add(trace);
                } else {
                    disk_memory.add(held + trace);
                }
            }
        }
    }
    // Each arm runs as often as any other, but for the baseline of duets, which runs with each.
    let runs = plan.runs.len() as u64;
    let in_turn = runs / plan.at_once() as u64;
    let each = in_turn as f64 / plan.arms.len().max(1) as f64;
    let all_ns = |seconds: f64| (seconds * each * 1e9) as u64;
    Needs {
        runs,
        measuring_ns: run_ns.saturating_mul(in_turn),
        searching_ns: searching_ns(TRIALS),
        searching_longer_ns: searching_ns(MANY_TRIALS),
        searching_most_ns: searching_ns(MOST_TRIALS as u64),
        loading_ns: all_ns(before.loading).saturating_add((once.sum() * 1e9) as u64),
        filling_ns: all_ns(before.filling),
        starting_ns: all_ns(before.starting),
        calibration_ns: CALIBRATION_NS * distinct_disks(plan),
        disk_bytes: (disk.most() + kept_bytes) as u64,
        memory_bytes: memory.most() as u64,
        disk_memory_bytes: disk_memory.most() as u64,
        root: plan.arms.iter().any(|arm| needs_root(&arm.rig)),
        packages: packages(plan),
    }
}

/// What the runs take that are made at the same time: the largest of all arms, or the two largest.
struct AtOnce {
    runs: usize,
    of_arms: Vec<f64>,
}

impl AtOnce {
    fn of(plan: &Plan) -> Self {
        Self { runs: plan.at_once(), of_arms: Vec::new() }
    }

    fn add(&mut self, of_arm: f64) {
        self.of_arms.push(of_arm);
    }

    fn most(mut self) -> f64 {
        self.of_arms.sort_by(|one, other| other.total_cmp(one));
        self.of_arms.iter().take(self.runs).sum()
    }
}

/// What a run does beside its points, seconds, about.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    loading: f64,
    filling: f64,
    starting: f64,
}

impl Before {
    fn of(plan: &Plan, arm: &Arm, engines: &[EngineKind]) -> Self {
        let loading = match plan.load_phase.once {
            true => loaded_bytes_of(arm) / COPIED_BYTES_PER_SECOND,
            false => loading_seconds(plan, arm, engines),
        };
        Self {
            loading,
            filling: filling_seconds(plan, arm, engines),
            starting: starting_seconds(arm, engines),
        }
    }

    /// What is done one time for an arm whose data are copied for each run.
    fn of_loading(plan: &Plan, arm: &Arm, engines: &[EngineKind]) -> Self {
        Self {
            loading: loading_seconds(plan, arm, engines)
                + loaded_bytes_of(arm) / COPIED_BYTES_PER_SECOND,
            filling: 0.0,
            starting: starting_seconds(arm, engines),
        }
    }

    fn add(&mut self, other: &Self) {
        self.loading += other.loading;
        self.filling += other.filling;
        self.starting += other.starting;
    }

    fn sum(self) -> f64 {
        self.loading + self.filling + self.starting
    }
}

/// Filling the caches of one run of an arm by reads of random records: the fuller they are, the rarer is a read that finds something to add.
fn filling_seconds(plan: &Plan, arm: &Arm, engines: &[EngineKind]) -> f64 {
    let Caches::Warm { within_ns } = plan.measurement.caches else {
        return 0.0;
    };
    let data = loaded_bytes_of(arm);
    let caches = cache_bytes(arm, engines).unwrap_or(0) as f64
        + arm.rig.limits.page_cache_bytes.map_or(data, |bytes| bytes as f64);
    let filled = caches.min(data);
    let missing = (1.0 - filled / data.max(1.0)).max(0.02);
    let seconds = filled / FILLED_BYTES_PER_SECOND * -missing.ln().min(0.0);
    seconds.max(LEAST_FILLING).min(within_ns as f64 / 1e9)
}

fn starting_seconds(arm: &Arm, engines: &[EngineKind]) -> f64 {
    let of_disk = match &arm.rig.disk {
        Some(DiskChoice::Emulated { .. }) => STARTING_DISK,
        _ => 0.0,
    };
    let keeps_data = kind(arm, engines).is_some_and(|kind| kind.keeps_data);
    of_disk
        + match &arm.rig.server {
            Some(server) if server.members_in_words().is_some() => STARTING_SET,
            Some(_) => STARTING_SERVER,
            None if keeps_data && !is_by_uri(arm) => STARTING_EMBEDDED,
            None => STARTING_WORKER,
        }
}

/// Why the data of an arm cannot be stored once and copied for each run; `None` where it can.
pub fn not_loaded_once(arm: &Arm, engines: &[EngineKind]) -> Option<&'static str> {
    let server = arm.rig.server.as_ref();
    if !kind(arm, engines).is_some_and(|kind| kind.keeps_data) {
        Some("its engine keeps no data")
    } else if !keeps_data(arm, engines) {
        Some(
            "its server was not started for the experiment; `existing: use` measures existing data there",
        )
    } else if arm.data.documents.as_ref().is_some_and(DocumentsSpec::follows_clock) {
        Some("dates of its documents end when each run begins (`until: now`)")
    } else if server.is_some_and(|server| server.members_in_words().is_some()) {
        Some("the members of a replica set have addresses of their own in each run")
    } else {
        None
    }
}

/// Storing the data of one run of an arm, about.
fn loading_seconds(plan: &Plan, arm: &Arm, engines: &[EngineKind]) -> f64 {
    let stores = kind(arm, engines).is_some_and(|kind| kind.keeps_data);
    if !stores || measures_existing(&arm.settings) {
        return 0.0;
    }
    let records = arm.data.key_count() as f64;
    let bytes = data_bytes(&arm.data) * copies(arm).number;
    let bytes_per_second = match arm.rig.server.is_some() || is_by_uri(arm) {
        true => SERVED_BYTES_PER_SECOND,
        false => LOADED_BYTES_PER_SECOND,
    };
    (records / records_per_second(arm)).max(bytes / bytes_per_second).max(disk_seconds(plan, arm))
}

/// One run of an arm: storing, warming up, measuring and searching, about, nanoseconds. `needs` are those of the plan.
pub(crate) fn run_ns(plan: &Plan, arm: &Arm, needs: &Needs, engines: &[EngineKind]) -> u64 {
    let runs = needs.runs.max(1);
    let points = needs.measuring_ns.saturating_add(needs.searching_ns) / runs;
    points.saturating_add((Before::of(plan, arm, engines).sum() * 1e9) as u64)
}

/// Time that the disk of an arm needs to store its data, if it is limited during the load.
fn disk_seconds(plan: &Plan, arm: &Arm) -> f64 {
    let Some(DiskChoice::Emulated { spec }) = &arm.rig.disk else {
        return 0.0;
    };
    if plan.measurement.shaped_from != ShapedFrom::Load {
        return 0.0;
    }
    let least = |rates: DiskRates| {
        let joint = rates.joint.unwrap_or(f64::INFINITY);
        joint.min(rates.write.unwrap_or(f64::INFINITY))
    };
    let burst = spec.burst.map_or(0.0, |burst| burst.iops);
    let by_requests = least(spec.iops).max(burst) * STORING_REQUEST;
    loaded_bytes_of(arm) * copies(arm).number / by_requests.min(least(spec.bandwidth))
}

/// Disks that differ in speed: each is calibrated once.
fn distinct_disks(plan: &Plan) -> u64 {
    let mut seen: Vec<DiskSpec> = Vec::new();
    for arm in &plan.arms {
        let Some(DiskChoice::Emulated { spec }) = &arm.rig.disk else {
            continue;
        };
        let speed = DiskSpec { preset: None, capacity_bytes: 0, trace_requests: 0, ..spec.clone() };
        if !seen.contains(&speed) {
            seen.push(speed);
        }
    }
    seen.len() as u64
}

fn needs_root(rig: &RigSpec) -> bool {
    rig.disk.is_some()
        || !rig.kernel.is_empty()
        || rig.limits.is_of_memory()
        || rig.limits.cpus.is_some()
}

/// Packages of the programs that make disks and filesystems.
fn packages(plan: &Plan) -> Vec<String> {
    let mut packages = BTreeSet::new();
    for arm in &plan.arms {
        if let Some(DiskChoice::Emulated { .. }) = &arm.rig.disk {
            packages.insert("fio".to_owned());
        }
        if let Some(filesystem) = &arm.rig.filesystem {
            let package = match filesystem.kind {
                FilesystemKind::Xfs => "xfsprogs",
                FilesystemKind::Ext4 => "e2fsprogs",
                FilesystemKind::Btrfs => "btrfs-progs",
            };
            packages.insert(package.to_owned());
        }
    }
    packages.into_iter().collect()
}

/// Records that the points of one run insert, about.
fn inserted_records(plan: &Plan) -> f64 {
    plan.points
        .iter()
        .map(|point| {
            let mix = &plan.mixes[point.mix as usize];
            let search = plan.objective.as_ref().and_then(|objective| objective.search);
            inserted_at(point, mix, &plan.measurement, search.as_ref())
        })
        .sum()
}

/// Records that one point inserts, about.
pub fn inserted_at(
    point: &Point,
    mix: &Mix,
    measurement: &Measurement,
    search: Option<&Search>,
) -> f64 {
    let (window_ns, times) = match (point.role, search) {
        (PointRole::Line, Some(search)) => (window_ns(search.warm_up_ns, search.trial_ns), TRIALS),
        _ => (point_ns(measurement), 1),
    };
    // Where the rate is not given (a closed loop, or one that the run decides), assume the most that an engine can do.
    let most_done = LOADED_RECORDS_PER_SECOND * window_ns as f64 / 1e9;
    let expected = match point.role {
        PointRole::Fixed => point.load.expected_arrivals(window_ns),
        PointRole::Sweep => {
            point.load.expected_arrivals(window_ns).map(|expected| expected.min(most_done))
        }
        PointRole::Line | PointRole::ShareOfLine { .. } => None,
    };
    let operations = expected.unwrap_or(most_done);
    let most = measurement.operations.map_or(f64::INFINITY, |most| most as f64);
    operations.min(most) * times as f64 * mix.insert_share()
}
