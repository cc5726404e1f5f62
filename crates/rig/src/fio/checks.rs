//! The jobs that compare an emulated disk with its description, and what each must show.

use crate::fio::expected::{Credits, Load, chance_of_median_ns, deviation_ns, mean_ns};
use crate::fio::{Job, Kind, Measured};
use plimsoll_record::{DiskLatency, DiskSpec};

const SMALL_BYTES: u32 = 4 << 10;
/// Large enough for bandwidth to bind, small enough to pass the kernel in one piece.
const LARGE_BYTES: u32 = 256 << 10;
/// Threads of a check by psync, as in the studies.
const THREADS: u32 = 16;
/// Threads that keep many requests in flight.
const DEEP_THREADS: u32 = 4;
/// A loop device takes 128 requests.
const MOST_IN_FLIGHT: u32 = 128;
/// Above this rate, a thread for each request costs more than the disk.
const FAST_IOPS: f64 = 20_000.0;
/// Little's law gives the requests in flight that just reach a rate; this is to spare.
const SPARE: f64 = 1.5;
/// Most time that the machine itself takes for a request, seconds.
const HOST_S: f64 = 0.000_3;

const TOLERANCE: f64 = 0.02;
/// Beside these 2 %, of the median of reads and writes.
const LATENCY_TOLERANCE_NS: f64 = 20_000.0;
/// Instead of the 2 %, where it is more: a flush is no single request to the disk.
const FLUSH_TOLERANCE_NS: f64 = 100_000.0;
/// Standard errors of a mean or median by which a disk that is right misses it once in 16,000 times.
const STANDARD_ERRORS: f64 = 4.0;

/// A bucket of burst credits that lasts this long, in seconds, lasts for all checks.
const PLENTY_S: f64 = 45.0;

/// What a check looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    Iops,
    Bandwidth,
    ReadLatency,
    WriteLatency,
    FlushLatency,
}

impl Figure {
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Bandwidth => "bytes/s",
            Self::ReadLatency | Self::WriteLatency | Self::FlushLatency => "ns",
        }
    }

    /// The figure as fio measured it; zero where it measured nothing.
    pub(crate) fn of(self, measured: &Measured) -> f64 {
        let median = |direction: &Option<crate::fio::Direction>| {
            direction.as_ref().map_or(0.0, |direction| direction.latency.p50_ns)
        };
        match self {
            Self::Iops => measured.iops(),
            Self::Bandwidth => measured.bytes_per_s(),
            Self::ReadLatency => median(&measured.reads),
            Self::WriteLatency => median(&measured.writes),
            Self::FlushLatency => measured.syncs.as_ref().map_or(0.0, |syncs| syncs.mean_ns),
        }
    }
}

/// One job, what it must show, and by how much it may differ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Check {
    pub(crate) job: Job,
    pub(crate) figure: Figure,
    pub(crate) what: String,
    pub(crate) requested: f64,
    pub(crate) allowed: f64,
}

/// Everything that is done to a disk.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Checks {
    /// Empties the bucket of burst credits first.
    pub(crate) drain: Option<Job>,
    pub(crate) all: Vec<Check>,
}

impl Checks {
    /// The checks for a disk's description.
    pub(crate) fn of(disk: &DiskSpec) -> Self {
        let (credits, drain) = credits(disk);
        let mut all = Vec::new();
        for kind in [Kind::RandomRead, Kind::RandomWrite, Kind::RandomMix] {
            all.extend(iops(disk, kind, credits));
            all.extend(bandwidth(disk, kind, credits));
        }
        all.extend(latency(
            disk,
            Kind::RandomRead,
            &disk.read_latency,
            Figure::ReadLatency,
            credits,
        ));
        all.extend(latency(
            disk,
            Kind::RandomWrite,
            &disk.write_latency,
            Figure::WriteLatency,
            credits,
        ));
        all.extend(flush(disk, credits));
        Self { drain, all }
    }
}

/// Whether the disk has burst credits while it is checked, and the job that sees to it.
fn credits(disk: &DiskSpec) -> (Credits, Option<Job>) {
    let Some(burst) = &disk.burst else {
        return (Credits::Spent, None);
    };
    let full = burst.credits * burst.start.clamp(0.0, 1.0);
    let lasts_s = full / (burst.iops - burst.refill).max(f64::MIN_POSITIVE);
    if lasts_s >= PLENTY_S {
        return (Credits::Plenty, None);
    }
    if full < 1.0 {
        return (Credits::Spent, None);
    }
    let load = Load { kind: Kind::RandomRead, block_bytes: SMALL_BYTES, credits: Credits::Plenty };
    let mut job = many(load, disk, load.rate(disk));
    job.label = "emptying the bucket of burst credits".into();
    job.ramp_ms = 0;
    job.runtime_ms = 1_000 + (lasts_s * 1_100.0) as u64;
    (Credits::Spent, Some(job))
}

/// The IOPS of random requests of 4 KiB, where a limit, burst or number of servers says something about them.
fn iops(disk: &DiskSpec, kind: Kind, credits: Credits) -> Option<Check> {
    let bursts = disk.burst.is_some();
    let servers = disk.queue_depth.is_some();
    let says_something = match kind {
        Kind::RandomRead => {
            disk.iops.read.is_some() || disk.iops.joint.is_some() || bursts || servers
        }
        Kind::RandomWrite => disk.iops.write.is_some() || servers,
        _ => disk.iops.joint.is_some() || bursts,
    };
    if !says_something {
        return None;
    }
    let load = Load { kind, block_bytes: SMALL_BYTES, credits };
    let rate = load.rate(disk);
    rate.is_finite().then(|| rate_check(load, disk, rate, Figure::Iops))
}

/// The bandwidth of large random requests, where it is what limits them.
fn bandwidth(disk: &DiskSpec, kind: Kind, credits: Credits) -> Option<Check> {
    let limits = &disk.bandwidth;
    let says_something = match kind {
        Kind::RandomRead => limits.read.is_some() || limits.joint.is_some(),
        Kind::RandomWrite => limits.write.is_some(),
        _ => limits.joint.is_some(),
    };
    let load = Load { kind, block_bytes: LARGE_BYTES, credits };
    let mut boundless = disk.clone();
    boundless.bandwidth = Default::default();
    boundless.burst = boundless.burst.map(|mut burst| {
        burst.bandwidth = None;
        burst
    });
    let rate = load.rate(disk);
    let binds = rate < load.rate(&boundless) * (1.0 - TOLERANCE);
    (says_something && binds).then(|| rate_check(load, disk, rate, Figure::Bandwidth))
}

fn rate_check(load: Load, disk: &DiskSpec, rate: f64, figure: Figure) -> Check {
    let job = many(load, disk, rate);
    // With fewer requests in flight than the rate needs, the latency decides.
    let latency_s = load.latency_ns(disk) / 1e9;
    let rate = rate.min(f64::from(job.in_flight()) / latency_s);
    let requested = match figure {
        Figure::Bandwidth => rate * f64::from(load.block_bytes),
        _ => rate,
    };
    Check {
        what: described(&job, disk, load.credits),
        figure,
        requested,
        allowed: requested * TOLERANCE,
        job,
    }
}

/// A job with enough requests in flight for a rate, that lasts long enough to see a hundredth of it.
fn many(load: Load, disk: &DiskSpec, rate: f64) -> Job {
    let latency_s = load.latency_ns(disk) / 1e9 + HOST_S;
    let needed = (rate * latency_s * SPARE).ceil();
    let job = if needed <= f64::from(THREADS) && rate <= FAST_IOPS {
        Job::psync(load.kind, load.block_bytes, THREADS)
    } else {
        let depth = (needed / f64::from(DEEP_THREADS)).ceil();
        let depth = depth.clamp(8.0, f64::from(MOST_IN_FLIGHT / DEEP_THREADS));
        Job::libaio(load.kind, load.block_bytes, DEEP_THREADS, depth as u32)
    };
    let queue_ms = f64::from(job.in_flight()) / rate * 1e3;
    // Credits that were earned between two jobs are spent first.
    let least_ramp_ms = if disk.burst.is_some() { 2_000.0 } else { 300.0 };
    let ramp_ms = (queue_ms * 3.0).clamp(least_ramp_ms, 3_000.0);
    let runtime_ms = (1_200.0 / rate * 1e3).clamp(3_000.0, 8_000.0);
    job.lasting(runtime_ms as u64, ramp_ms as u64)
}

/// The median of what a single thread sees.
fn latency(
    disk: &DiskSpec,
    kind: Kind,
    law: &DiskLatency,
    figure: Figure,
    credits: Credits,
) -> Option<Check> {
    if *law == DiskLatency::None {
        return None;
    }
    let load = Load { kind, block_bytes: SMALL_BYTES, credits };
    let (job, samples) = single(load, law, load.single_ns(disk));
    let requested = load.single_median_ns(disk);
    let by_chance = chance_of_median_ns(law, samples, STANDARD_ERRORS);
    Some(Check {
        what: format!("{}, median", described(&job, disk, load.credits)),
        figure,
        requested,
        allowed: (requested * TOLERANCE + LATENCY_TOLERANCE_NS).max(by_chance),
        job,
    })
}

/// The mean cost of a flush after each write of a single thread.
fn flush(disk: &DiskSpec, credits: Credits) -> Option<Check> {
    let law = &disk.flush_latency;
    if *law == DiskLatency::None {
        return None;
    }
    let load = Load { kind: Kind::RandomWriteFsync, block_bytes: SMALL_BYTES, credits };
    let requested = mean_ns(law);
    let (job, samples) = single(load, law, requested + load.single_ns(disk));
    let by_chance = STANDARD_ERRORS * deviation_ns(law) / samples.sqrt();
    Some(Check {
        what: described(&job, disk, load.credits),
        figure: Figure::FlushLatency,
        requested,
        allowed: (requested * TOLERANCE).max(FLUSH_TOLERANCE_NS).max(by_chance),
        job,
    })
}

/// A job of one thread that draws from a law once in each turn, and how often that is.
fn single(load: Load, law: &DiskLatency, turn_ns: f64) -> (Job, f64) {
    let varies = deviation_ns(law) > mean_ns(law) / 1_000.0;
    let (samples, longest_ms) = if varies { (2_000.0, 6_000.0) } else { (300.0, 3_000.0) };
    let runtime_ms = (samples * turn_ns / 1e6).clamp(1_000.0, longest_ms);
    let job = Job::psync(load.kind, load.block_bytes, 1).lasting(runtime_ms as u64, 200);
    (job, (runtime_ms * 1e6 / turn_ns).max(1.0))
}

fn described(job: &Job, disk: &DiskSpec, credits: Credits) -> String {
    match (&disk.burst, credits) {
        (None, _) => job.label.clone(),
        (Some(_), Credits::Plenty) => format!("{}, with burst credits", job.label),
        (Some(_), Credits::Spent) => format!("{}, without burst credits", job.label),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::{DiskBurst, DiskRates};

    fn san() -> DiskSpec {
        let latency = DiskLatency::Constant { ns: 7_000_000 };
        DiskSpec {
            iops: DiskRates { joint: Some(600.0), ..DiskRates::default() },
            read_latency: latency.clone(),
            write_latency: latency,
            ..DiskSpec::unlimited(1 << 30)
        }
    }

    fn describe(checks: &Checks) -> Vec<String> {
        checks
            .all
            .iter()
            .map(|check| {
                format!(
                    "{}: {:.0} ± {:.0} {} in {} + {} ms",
                    check.what,
                    check.requested,
                    check.allowed,
                    check.figure.unit(),
                    check.job.ramp_ms,
                    check.job.runtime_ms
                )
            })
            .collect()
    }

    #[test]
    fn a_disk_of_the_studies() {
        insta::assert_snapshot!(describe(&Checks::of(&san())).join("\n"));
    }

    #[test]
    fn a_disk_with_everything() {
        let lognormal = DiskLatency::Lognormal { median_ns: 1_000_000, p99_ns: 3_000_000 };
        let disk = DiskSpec {
            iops: DiskRates { read: Some(4000.0), write: Some(2000.0), joint: Some(5000.0) },
            bandwidth: DiskRates { read: Some(125e6), write: Some(100e6), joint: Some(200e6) },
            read_latency: lognormal.clone(),
            write_latency: lognormal,
            flush_latency: DiskLatency::Constant { ns: 2_000_000 },
            queue_depth: Some(32),
            ..DiskSpec::unlimited(1 << 30)
        };
        let checks = Checks::of(&disk);
        insta::assert_snapshot!(describe(&checks).join("\n"));
        let whole_ms: u64 =
            checks.all.iter().map(|check| check.job.ramp_ms + check.job.runtime_ms).sum();
        assert!(whole_ms < 35_000, "{whole_ms} ms");
    }

    /// What fio gives for a single thread, as the figure of a check and what that says of it.
    #[test]
    fn a_latency_is_judged_by_its_median_within_20_us_and_2_percent() {
        for (asked_ns, fits, does_not) in [
            (100_000_u64, [78_100.0, 121_900.0], [77_900.0, 122_100.0]),
            // fio sees 0.04 ms where nothing is held back, and saw 0.45 ms of 0.5.
            (500_000, [470_100.0, 529_900.0], [450_000.0, 530_100.0]),
            (20_000_000, [19.59e6, 20.41e6], [19.57e6, 20.43e6]),
        ] {
            let law = DiskLatency::Constant { ns: asked_ns };
            let disk = DiskSpec {
                read_latency: law.clone(),
                write_latency: law,
                ..DiskSpec::unlimited(1 << 30)
            };
            let checks = Checks::of(&disk).all;
            assert_eq!(checks.len(), 2);
            for check in checks {
                let passes = |p50_ns: f64| {
                    let direction = Some(crate::fio::Direction {
                        requests: 300,
                        iops: 1.0,
                        bytes_per_s: 1.0,
                        latency: crate::fio::Latencies {
                            // One stall of a busy machine moves a mean, and no median.
                            mean_ns: p50_ns * 1.5,
                            p50_ns,
                            ..Default::default()
                        },
                    });
                    let measured =
                        Measured { reads: direction.clone(), writes: direction, syncs: None };
                    plimsoll_record::CalibrationCheck {
                        what: check.what.clone(),
                        unit: check.figure.unit().into(),
                        requested: check.requested,
                        measured: check.figure.of(&measured),
                        allowed: check.allowed,
                    }
                    .passed()
                };
                for p50_ns in fits {
                    assert!(passes(p50_ns), "{p50_ns} of {asked_ns}");
                }
                for p50_ns in does_not {
                    assert!(!passes(p50_ns), "{p50_ns} of {asked_ns}");
                }
            }
        }
    }

    #[test]
    fn a_disk_without_limits_needs_no_check() {
        let checks = Checks::of(&DiskSpec::unlimited(1 << 30));
        assert_eq!(checks, Checks { drain: None, all: vec![] });
    }

    #[test]
    fn a_fast_disk_is_asked_with_many_requests_in_flight() {
        let disk = DiskSpec {
            iops: DiskRates { joint: Some(64_000.0), ..DiskRates::default() },
            read_latency: DiskLatency::Constant { ns: 500_000 },
            ..DiskSpec::unlimited(1 << 30)
        };
        let checks = Checks::of(&disk);
        assert_eq!(checks.all[0].job.in_flight(), 80);
        assert_eq!(checks.all[0].requested, 64_000.0);
    }

    #[test]
    fn what_cannot_be_reached_is_not_asked() {
        let disk = DiskSpec {
            iops: DiskRates { joint: Some(16_000.0), ..DiskRates::default() },
            read_latency: DiskLatency::Constant { ns: 10_000_000 },
            ..DiskSpec::unlimited(1 << 30)
        };
        assert_eq!(Checks::of(&disk).all[0].requested, 12_800.0);
    }

    #[test]
    fn a_bucket_that_lasts_is_checked_full_and_another_is_emptied_first() {
        let burst = |credits, start| DiskSpec {
            burst: Some(DiskBurst { iops: 3000.0, bandwidth: None, credits, refill: 600.0, start }),
            ..san()
        };
        let lasting = Checks::of(&burst(5.4e6, 1.0));
        assert!(lasting.drain.is_none());
        // 3,000 IOPS at 7 ms need 21 in flight.
        assert_eq!(lasting.all[0].requested, 3000.0);
        assert!(lasting.all[0].what.ends_with(", with burst credits"));
        let short = Checks::of(&burst(24_000.0, 1.0));
        assert_eq!(short.drain.expect("10 s of credits").runtime_ms, 12_000);
        assert_eq!(short.all[0].requested, 600.0);
        assert!(short.all[0].what.ends_with(", without burst credits"));
        assert!(Checks::of(&burst(24_000.0, 0.0)).drain.is_none());
    }
}
