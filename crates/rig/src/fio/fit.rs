//! The description of a disk from what fio measured on it, so that an emulated disk can take its place.
//!
//! What is found of each direction, and how:
//!
//! | figure | from |
//! |---|---|
//! | IOPS | the smallest requests with the most in flight, where more in flight no longer help |
//! | bandwidth | the largest requests, in the same way, where the IOPS do not explain it |
//! | latency | the percentiles of the smallest requests, one in flight, less what the machine adds to a latency that does not vary |
//! | transfer | how much longer the largest requests take than the smallest, one in flight, less what an emulated disk takes longer by itself |
//! | flush | fdatasync after each write, in the same way as latency, unless an emulated disk takes about as long by itself |
//!
//! Limits of reads and writes together show in a mix of both that is slower than twice the slower of the two. What limits a disk with one
//! request in flight can be its latency or its IOPS; if the gap between two requests at full IOPS explains it, no latency is found.

use crate::fio::measured::{Timed, percentiles};
use crate::fio::{Characterisation, Job, Kind, Measured, Profile};
use plimsoll_record::{DiskLatency, DiskRates, DiskSpec};

/// Requests in flight.
const DEPTHS: [u32; 4] = [1, 4, 16, 64];
/// Sizes of requests, bytes.
const BLOCKS: [u32; 4] = [4 << 10, 16 << 10, 64 << 10, 256 << 10];
const SMALLEST: u32 = BLOCKS[0];
const LARGEST: u32 = BLOCKS[BLOCKS.len() - 1];
const DEEPEST: u32 = DEPTHS[DEPTHS.len() - 1];

/// Bytes that are used of the original and of the clone.
const SIZE_BYTES: u64 = 1 << 30;

/// A rate that grows by less than this while four times as many requests are in flight is a limit.
const GROWS: f64 = 1.1;
/// Two figures this close to each other are the same.
const SAME: f64 = 1.03;
/// A flush after a pause takes this much longer than one of many in a row, since the processors slept: 58 µs after writes of 270 µs, 45 µs after
/// writes of 26 µs, on an emulated disk whose flushes have no latency.
const AFTER_A_PAUSE: f64 = 1.5;
/// A machine that is further off with a latency that does not vary was busy with something else.
const MOST_MOVED_NS: f64 = 100_000.0;
/// Percentiles of a law that is described by a table.
const PERCENTILES: [f64; 12] =
    [0.0, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 100.0];
/// Places of the 1st, the 50th and the 99th among them.
const PLACES: [usize; 3] = [1, 5, 9];
/// A law whose 1st and 99th percentiles are this close to each other is one duration.
const NARROW: f64 = 1.1;

/// The jobs for the original, and again for its clone: random reads, writes, and both, of each size with each number in flight, and
/// writes with fdatasync.
pub fn grid(runtime_ms: u64, ramp_ms: u64) -> Profile {
    let mut jobs = Vec::new();
    for kind in [Kind::RandomRead, Kind::RandomWrite, Kind::RandomMix] {
        for block in BLOCKS {
            jobs.extend(DEPTHS.map(|depth| Job::libaio(kind, block, 1, depth)));
        }
    }
    jobs.push(Job::psync(Kind::RandomWriteDatasync, SMALLEST, 1));
    Profile { jobs, size_bytes: SIZE_BYTES }.lasting(runtime_ms, ramp_ms)
}

/// The jobs for an emulated disk without limits, which show what the emulation itself costs on this machine.
pub fn own_cost(runtime_ms: u64, ramp_ms: u64) -> Profile {
    let mut jobs = Vec::new();
    for kind in [Kind::RandomRead, Kind::RandomWrite] {
        jobs.push(Job::libaio(kind, SMALLEST, 1, 1));
        jobs.push(Job::libaio(kind, LARGEST, 1, 1));
        jobs.push(Job::libaio(kind, SMALLEST, 1, DEEPEST));
    }
    jobs.push(Job::psync(Kind::RandomWriteDatasync, SMALLEST, 1));
    Profile { jobs, size_bytes: SIZE_BYTES }.lasting(runtime_ms, ramp_ms)
}

/// The jobs with one small request in flight, for [`alone`].
pub fn single(runtime_ms: u64, ramp_ms: u64) -> Profile {
    let jobs = vec![
        Job::libaio(Kind::RandomRead, SMALLEST, 1, 1),
        Job::libaio(Kind::RandomWrite, SMALLEST, 1, 1),
        Job::psync(Kind::RandomWriteDatasync, SMALLEST, 1),
    ];
    Profile { jobs, size_bytes: SIZE_BYTES }.lasting(runtime_ms, ramp_ms)
}

/// The disk with the median in place of each law of latency; `None` if it has no latencies. What is measured on it varies by the machine alone.
pub fn alone(disk: &DiskSpec) -> Option<DiskSpec> {
    let mut alone = disk.clone();
    let mut has_latencies = false;
    for law in [&mut alone.read_latency, &mut alone.write_latency, &mut alone.flush_latency] {
        if *law != DiskLatency::None {
            has_latencies = true;
            *law = DiskLatency::Constant { ns: law.median_ns() as u64 };
        }
    }
    has_latencies.then_some(alone)
}

/// The disk with latencies that lack what the machine adds to them. `alone` is what the jobs of [`single`] measured on the disk [`alone`].
pub fn corrected(
    disk: &DiskSpec,
    original: &Characterisation,
    alone: &Characterisation,
) -> DiskSpec {
    let fine: Vec<f64> = (0..=2_000).map(|place| f64::from(place) / 20.0).collect();
    let (original, alone) = (Cells(original), Cells(alone));
    let mut disk = disk.clone();
    for (kind, law) in [
        (Kind::RandomRead, &mut disk.read_latency),
        (Kind::RandomWrite, &mut disk.write_latency),
        (Kind::RandomWriteDatasync, &mut disk.flush_latency),
    ] {
        let percentiles = |cells: &Cells<'_>| cells.percentiles(kind, SMALLEST, &fine);
        if *law != DiskLatency::None
            && let (Some(original), Some(alone)) = (percentiles(&original), percentiles(&alone))
        {
            *law = described(&without(&original, &alone));
        }
    }
    disk
}

/// What is left of a law, at [`PERCENTILES`]: as many requests are longer than any duration above the median as were measured to be, less those that
/// the machine makes as long by itself; below the median the same of shorter ones.
fn without(original: &Quantiles, alone: &Quantiles) -> Vec<(f64, f64)> {
    let middle = median(original);
    let moved = middle - median(alone);
    let alone: Vec<_> = alone.iter().map(|(percentile, ns)| (*percentile, ns + moved)).collect();
    // From the far end to the median: how many more are further out than in what the machine explains, and where.
    let left = |further: Further, far_first: &mut dyn Iterator<Item = f64>| {
        let mut most = 0.0_f64;
        let shares = far_first.map(|ns| {
            most = most.max(further(original, ns) - further(&alone, ns));
            (most, ns)
        });
        shares.collect::<Vec<_>>()
    };
    let durations = || original.iter().map(|(_, ns)| *ns);
    let above = left(longer, &mut durations().rev().take_while(|ns| *ns >= middle));
    let below = left(shorter, &mut durations().take_while(|ns| *ns <= middle));
    let at = |shares: &[(f64, f64)], share: f64| {
        let after = shares.partition_point(|(further, _)| *further <= share);
        after.checked_sub(1).map_or(middle, |last| shares[last].1)
    };
    let is_off = moved.abs() > middle * (SAME - 1.0) && moved.abs() < MOST_MOVED_NS;
    let law = PERCENTILES.map(|percentile| {
        let ns = if percentile > 50.0 {
            at(&above, 100.0 - percentile)
        } else if percentile < 50.0 {
            at(&below, percentile)
        } else {
            middle
        };
        (percentile, (ns + if is_off { moved } else { 0.0 }).max(0.0))
    });
    law.to_vec()
}

/// Percentiles (0 to 100) with their nanoseconds, ascending.
type Quantiles = [(f64, f64)];

/// Percent of the requests that are further from the median than a duration.
type Further = fn(&Quantiles, f64) -> f64;

fn longer(points: &Quantiles, than: f64) -> f64 {
    100.0 - percent_before(points, points.partition_point(|(_, ns)| *ns <= than))
}

fn shorter(points: &Quantiles, than: f64) -> f64 {
    percent_before(points, points.partition_point(|(_, ns)| *ns < than))
}

fn percent_before(points: &Quantiles, place: usize) -> f64 {
    place.checked_sub(1).map_or(0.0, |last| points[last].0)
}

fn median(points: &Quantiles) -> f64 {
    let place = points.partition_point(|(percentile, _)| *percentile < 50.0);
    points.get(place).map_or(0.0, |(_, ns)| *ns)
}

/// A description, and what it cannot do on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    pub disk: DiskSpec,
    /// Sentences about what the original does and an emulated disk on this machine cannot.
    pub beyond: Vec<String>,
}

/// Describes a disk by what [`grid`] measured on it. `own` is what [`own_cost`] measured on an emulated disk without limits.
pub fn fit(original: &Characterisation, own: &Characterisation) -> Fitted {
    let (original, own) = (Cells(original), Cells(own));
    let [reads, writes] =
        [Kind::RandomRead, Kind::RandomWrite].map(|kind| Limits::of(&original, kind));
    let iops = joined(
        DiskRates { read: reads.iops, write: writes.iops, joint: None },
        original.limit(Kind::RandomMix, SMALLEST),
    );
    let bandwidth = joined(
        DiskRates { read: reads.bandwidth, write: writes.bandwidth, joint: None },
        Limits::of(&original, Kind::RandomMix).bandwidth,
    );
    let read = Served::of(&original, &own, Kind::RandomRead, &reads);
    let write = Served::of(&original, &own, Kind::RandomWrite, &writes);
    let disk = DiskSpec {
        iops,
        bandwidth,
        transfer: DiskRates { read: read.transfer, write: write.transfer, joint: None },
        read_latency: read.latency,
        write_latency: write.latency,
        flush_latency: flush(&original, &own),
        ..DiskSpec::unlimited(SIZE_BYTES)
    };
    Fitted { disk, beyond: beyond(&original, &own) }
}

/// What was measured, by kind, size and number in flight.
struct Cells<'a>(&'a Characterisation);

impl Cells<'_> {
    fn place(&self, kind: Kind, block: u32, depth: u32) -> Option<usize> {
        self.0.rows.iter().position(|row| {
            row.job.kind == kind && row.job.block_bytes == block && row.job.in_flight() == depth
        })
    }

    fn cell(&self, kind: Kind, block: u32, depth: u32) -> Option<&Measured> {
        self.0.rows.get(self.place(kind, block, depth)?).map(|row| &row.measured)
    }

    /// The most requests per second, if with the most in flight there are no more than with four times fewer. A short job with many in flight reads low.
    fn limit(&self, kind: Kind, block: u32) -> Option<f64> {
        let iops = |depth| Some(self.cell(kind, block, depth)?.iops());
        let is_reached = iops(DEEPEST)? < iops(DEEPEST / 4)? * GROWS;
        let most = DEPTHS.into_iter().filter_map(iops).fold(0.0, f64::max);
        (is_reached && most > 0.0).then_some(most)
    }

    /// Median with one request in flight, nanoseconds.
    fn median_ns(&self, kind: Kind, block: u32) -> Option<f64> {
        Some(self.percentiles(kind, block, &[50.0])?.first()?.1)
    }

    /// Percentiles with one request in flight, nanoseconds: of syncs where there are some.
    fn percentiles(&self, kind: Kind, block: u32, of: &[f64]) -> Option<Vec<(f64, f64)>> {
        let result = self.0.results.get(self.place(kind, block, 1)?)?;
        let timed = match kind {
            Kind::RandomWriteDatasync => Timed::Syncs,
            kind if kind.writes() => Timed::Writes,
            _ => Timed::Reads,
        };
        percentiles(&result.json, timed, of)
    }
}

/// What binds when many requests are in flight.
struct Limits {
    iops: Option<f64>,
    /// Bytes per second.
    bandwidth: Option<f64>,
}

impl Limits {
    fn of(cells: &Cells<'_>, kind: Kind) -> Self {
        let iops = cells.limit(kind, SMALLEST);
        let bytes = cells.limit(kind, LARGEST).map(|rate| rate * f64::from(LARGEST));
        let explained =
            |bytes: f64| iops.is_some_and(|iops| bytes * SAME > iops * f64::from(LARGEST));
        Self {
            iops: iops.map(rounded),
            bandwidth: bytes.filter(|bytes| !explained(*bytes)).map(rounded),
        }
    }

    /// Time from one request to the next, nanoseconds.
    fn gap_ns(&self, block: u32) -> f64 {
        let by_iops = self.iops.map_or(0.0, |iops| 1e9 / iops);
        let by_bytes = self.bandwidth.map_or(0.0, |bytes| f64::from(block) * 1e9 / bytes);
        by_iops.max(by_bytes)
    }
}

/// The limit of reads and writes together beside those of each.
fn joined(each: DiskRates, mix: Option<f64>) -> DiskRates {
    let Some(mix) = mix.map(rounded) else { return each };
    let apart = 2.0 * each.read.unwrap_or(f64::INFINITY).min(each.write.unwrap_or(f64::INFINITY));
    if mix * SAME * SAME > apart {
        return each;
    }
    // A direction that reaches no more by itself than both together has no limit of its own.
    let own = |rate: Option<f64>| rate.filter(|rate| rate * SAME < mix);
    DiskRates { read: own(each.read), write: own(each.write), joint: Some(mix) }
}

/// How long one request is served.
struct Served {
    latency: DiskLatency,
    /// Bytes per second.
    transfer: Option<f64>,
}

impl Served {
    fn of(original: &Cells<'_>, own: &Cells<'_>, kind: Kind, limits: &Limits) -> Self {
        let latency = law(original, kind, limits.gap_ns(SMALLEST));
        let is_hidden = latency == DiskLatency::None;
        let transfer = transfer(original, own, kind, limits.gap_ns(LARGEST));
        Self { latency, transfer: transfer.filter(|_| !is_hidden).map(rounded) }
    }
}

/// The bytes by which the largest requests exceed the smallest, over the time by which they take longer.
fn transfer(original: &Cells<'_>, own: &Cells<'_>, kind: Kind, gap_ns: f64) -> Option<f64> {
    let (small, large) = (original.median_ns(kind, SMALLEST)?, original.median_ns(kind, LARGEST)?);
    let own_ns = own.median_ns(kind, LARGEST)? - own.median_ns(kind, SMALLEST)?;
    let longer_ns = large - small - own_ns;
    let shows = large > gap_ns * SAME && longer_ns > large * (SAME - 1.0);
    shows.then(|| f64::from(LARGEST - SMALLEST) * 1e9 / longer_ns)
}

/// The latency with one request in flight, unless requests are this far apart anyway.
fn law(original: &Cells<'_>, kind: Kind, gap_ns: f64) -> DiskLatency {
    let Some(measured) = original.percentiles(kind, SMALLEST, &PERCENTILES) else {
        return DiskLatency::None;
    };
    let (_, p50) = measured[PLACES[1]];
    if p50 < gap_ns * SAME { DiskLatency::None } else { described(&measured) }
}

/// A law with these durations at [`PERCENTILES`].
fn described(measured: &[(f64, f64)]) -> DiskLatency {
    let whole = |ns: f64| rounded(ns) as u64;
    let [(_, p1), (_, p50), (_, p99)] = PLACES.map(|place| measured[place]);
    if p50 <= 0.0 {
        DiskLatency::None
    } else if p99 < p1 * NARROW {
        DiskLatency::Constant { ns: whole(p50) }
    } else {
        DiskLatency::Table { points: measured.iter().map(|&(p, ns)| (p, whole(ns))).collect() }
    }
}

/// The latency of flushes, unless an emulated disk takes about as long by itself.
fn flush(original: &Cells<'_>, own: &Cells<'_>) -> DiskLatency {
    let own_ns = own.median_ns(Kind::RandomWriteDatasync, SMALLEST).unwrap_or_default();
    law(original, Kind::RandomWriteDatasync, own_ns * AFTER_A_PAUSE)
}

fn beyond(original: &Cells<'_>, own: &Cells<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    for kind in [Kind::RandomRead, Kind::RandomWrite] {
        let iops = |cells: &Cells<'_>| Some(cells.cell(kind, SMALLEST, DEEPEST)?.iops());
        if let (Some(has), Some(can)) = (iops(original), iops(own))
            && has > can
        {
            sentences.push(format!(
                "{kind} of 4 KiB: the disk does {has:.0} IOPS, an emulated one on this machine at most {can:.0}"
            ));
        }
    }
    for kind in [Kind::RandomRead, Kind::RandomWrite, Kind::RandomWriteDatasync] {
        if let (Some(has), Some(can)) =
            (original.median_ns(kind, SMALLEST), own.median_ns(kind, SMALLEST))
            && has < can
        {
            sentences.push(format!(
                "{}: the disk takes {:.0} µs for one, an emulated one on this machine {:.0} µs at least",
                match kind {
                    Kind::RandomWriteDatasync => "fdatasync".to_owned(),
                    kind => format!("{kind} of 4 KiB"),
                },
                has / 1e3,
                can / 1e3
            ));
        }
    }
    sentences
}

/// To four digits, which is more than a measurement has.
fn rounded(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let unit = 10_f64.powi(value.log10().floor() as i32 - 3);
    (value / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::expected::{Credits, Load};
    use crate::fio::{Permission, Row, Target};
    use plimsoll_record::FioResult;
    use serde_json::{Value, json};

    /// Time of an emulated disk without limits for a request of 4 KiB, and for one of 256 KiB, nanoseconds.
    const OWN_NS: [f64; 2] = [40_000.0, 140_000.0];

    /// One request of each kind, in the words of fio.
    fn output(kind: Kind, iops: f64, bytes: f64, latency_ns: f64, sync_ns: f64) -> Value {
        let spread = |ns: f64| json!({"N": 100, "mean": ns, "max": ns, "bins": {format!("{}", ns.round()): 100}});
        let side = |iops: f64| json!({"total_ios": 100, "iops": iops, "bw_bytes": iops * bytes, "lat_ns": spread(latency_ns)});
        let none = json!({"total_ios": 0, "iops": 0.0, "bw_bytes": 0.0, "lat_ns": {"N": 0, "mean": 0.0, "max": 0.0}});
        let (read, write) = match kind {
            Kind::RandomMix => (side(iops / 2.0), side(iops / 2.0)),
            kind if kind.writes() => (none, side(iops)),
            _ => (side(iops), none),
        };
        let syncs = (kind == Kind::RandomWriteDatasync).then(|| spread(sync_ns));
        json!({"jobs": [{"read": read, "write": write, "sync": {"lat_ns": syncs.unwrap_or(json!({"N": 0, "mean": 0.0, "max": 0.0}))}}]})
    }

    /// What fio would measure on such a disk, by the arithmetic of the checks.
    fn measured(disk: &DiskSpec, profile: &Profile, own_ns: [f64; 2]) -> Characterisation {
        let mut found = Characterisation {
            target: Target::Device { path: "/dev/none".into(), permission: Permission::MadeHere },
            at: String::new(),
            fio_version: String::new(),
            size_bytes: SIZE_BYTES,
            rows: Vec::new(),
            results: Vec::new(),
        };
        for job in &profile.jobs {
            let load =
                Load { kind: job.kind, block_bytes: job.block_bytes, credits: Credits::Spent };
            let bytes = f64::from(job.block_bytes);
            let part = (bytes - f64::from(SMALLEST)) / f64::from(LARGEST - SMALLEST);
            let served_ns = load.latency_ns(disk) + own_ns[0] + part * (own_ns[1] - own_ns[0]);
            let depth = f64::from(job.in_flight());
            let iops = load.rate(disk).min(depth * 1e9 / served_ns);
            let sync_ns = disk.flush_latency.median_ns() + own_ns[0];
            let json = output(job.kind, iops, bytes, depth * 1e9 / iops, sync_ns);
            let measured = Measured::read(&json.to_string()).expect("fio's words");
            found.rows.push(Row { job: job.clone(), measured });
            found.results.push(FioResult {
                label: job.label.clone(),
                command: String::new(),
                json,
            });
        }
        found
    }

    fn fitted(disk: &DiskSpec) -> Fitted {
        let own = measured(&DiskSpec::unlimited(SIZE_BYTES), &own_cost(1, 0), OWN_NS);
        fit(&measured(disk, &grid(1, 0), [0.0, OWN_NS[1] - OWN_NS[0]]), &own)
    }

    fn close(found: Option<f64>, expected: Option<f64>) {
        match (found, expected) {
            (Some(found), Some(expected)) => {
                assert!((found / expected - 1.0).abs() < 0.02, "{found} is not {expected}");
            }
            (found, expected) => assert_eq!(found, expected),
        }
    }

    #[track_caller]
    fn comes_back(disk: &DiskSpec) {
        let found = fitted(disk).disk;
        for (found, expected) in [
            (found.iops, disk.iops),
            (found.bandwidth, disk.bandwidth),
            (found.transfer, disk.transfer),
        ] {
            close(found.read, expected.read);
            close(found.write, expected.write);
            close(found.joint, expected.joint);
        }
        for (found, expected) in [
            (&found.read_latency, &disk.read_latency),
            (&found.write_latency, &disk.write_latency),
            (&found.flush_latency, &disk.flush_latency),
        ] {
            let some = |law: &DiskLatency| Some(law.median_ns()).filter(|ns| *ns > 0.0);
            close(some(found), some(expected));
        }
    }

    fn constant(ns: u64) -> DiskLatency {
        DiskLatency::Constant { ns }
    }

    #[test]
    fn a_spinning_disk_is_found() {
        let disk = DiskSpec {
            iops: DiskRates { joint: Some(600.0), ..DiskRates::default() },
            read_latency: constant(7_000_000),
            write_latency: constant(7_000_000),
            flush_latency: constant(3_000_000),
            ..DiskSpec::unlimited(SIZE_BYTES)
        };
        comes_back(&disk);
        assert_eq!(fitted(&disk).beyond, Vec::<String>::new());
    }

    #[test]
    fn limits_of_each_direction_and_the_time_of_large_requests_are_found() {
        comes_back(&DiskSpec {
            iops: DiskRates { read: Some(12_000.0), write: Some(8_000.0), joint: None },
            bandwidth: DiskRates { read: Some(500e6), write: Some(300e6), joint: None },
            transfer: DiskRates { read: Some(1e9), write: Some(1e9), joint: None },
            read_latency: constant(500_000),
            write_latency: constant(700_000),
            ..DiskSpec::unlimited(SIZE_BYTES)
        });
    }

    /// 3,000 IOPS are one request in 333 µs: a disk that takes less time by itself looks the same.
    #[test]
    fn a_latency_that_the_iops_hide_is_not_invented() {
        let disk = DiskSpec {
            iops: DiskRates { joint: Some(3_000.0), ..DiskRates::default() },
            read_latency: constant(100_000),
            ..DiskSpec::unlimited(SIZE_BYTES)
        };
        let found = fitted(&disk).disk;
        assert_eq!((found.read_latency, found.transfer), (DiskLatency::None, DiskRates::default()));
        close(found.iops.joint, Some(3_000.0));
    }

    /// Percentiles in steps of 0.05 of a law with this quantile function.
    fn quantiles(ns: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (0..=2_000).map(|place| f64::from(place) / 20.0).map(|p| (p, ns(p))).collect()
    }

    #[test]
    fn what_the_machine_explains_is_taken_out_of_a_law() {
        let found = |original: &[(f64, f64)], alone: &[(f64, f64)]| {
            without(original, alone).into_iter().map(|(_, ns)| ns).collect::<Vec<_>>()
        };
        // In percent: 90 around 600 µs, and 10 between 600 and 1,600.
        let noise = quantiles(|p| if p <= 90.0 { 6e5 } else { 6e5 + (p - 90.0) * 1e5 });
        assert_eq!(found(&noise, &noise), [6e5; 12]);
        // All of it, 15 % later than it was asked for: the law says 15 % less. A machine that is later is busy, and makes no disk faster.
        let late = |by: f64| noise.iter().map(|(p, ns)| (*p, ns + by)).collect::<Vec<_>>();
        assert_eq!(found(&noise, &late(9e4)), [5.1e5; 12]);
        assert_eq!(found(&noise, &late(2e5)), [6e5; 12]);
        // 2 % of the requests take 5 ms, of which the machine makes half.
        let rare = |share: f64| quantiles(move |p| if p <= 100.0 - share { 6e5 } else { 5e6 });
        let half = found(&rare(2.0), &rare(1.0));
        assert_eq!(half[5..], [6e5, 6e5, 6e5, 6e5, 6e5, 5e6, 5e6]);
        // A disk that is faster than the machine can be has no latency.
        let [fast, slow] = [2e4, 5e4].map(|ns| quantiles(|_| ns));
        assert_eq!(described(&without(&fast, &slow)), DiskLatency::None);
        // A law that is much wider than what the machine does stays as it is, and so do its short times.
        let wide = quantiles(|p| 1e5 + p * 1e4);
        let narrow = quantiles(|p| if p < 99.0 { 6e5 } else { 6.2e5 });
        for ((p, left), ns) in
            PERCENTILES.iter().zip(found(&wide, &narrow)).zip(PERCENTILES.map(|p| 1e5 + p * 1e4))
        {
            assert!((left - ns).abs() <= 2e4, "p{p}: {left} is not {ns}");
        }
    }

    #[test]
    fn a_flush_that_the_emulation_explains_is_not_invented() {
        let disk = DiskSpec::unlimited(SIZE_BYTES);
        let own = measured(&disk, &own_cost(1, 0), OWN_NS);
        let found = |slept_ns| fit(&measured(&disk, &grid(1, 0), [slept_ns, OWN_NS[1]]), &own).disk;
        assert_eq!(found(OWN_NS[0] * 1.4).flush_latency, DiskLatency::None);
        assert_eq!(found(OWN_NS[0] * 2.0).flush_latency, constant(80_000));
    }

    #[test]
    fn a_disk_that_is_faster_than_the_emulation_is_told() {
        let fast = DiskSpec {
            read_latency: constant(15_000),
            write_latency: constant(50_000),
            flush_latency: constant(5_000),
            ..DiskSpec::unlimited(SIZE_BYTES)
        };
        let beyond = fitted(&fast).beyond;
        assert_eq!(beyond.len(), 3, "{beyond:?}");
        assert!(
            beyond[0].contains("random reads of 4 KiB: the disk does 4266667 IOPS"),
            "{beyond:?}"
        );
        assert!(
            beyond[1]
                .contains("the disk takes 15 µs for one, an emulated one on this machine 40 µs")
        );
        assert!(beyond[2].starts_with("fdatasync: the disk takes 5 µs for one"), "{beyond:?}");
    }
}
