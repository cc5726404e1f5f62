//! What must be true of a disk, by its description alone.
//!
//! A limit lets a request pass every 1 / rate seconds and saves nothing while it is idle; then the request takes its latency, in one of the
//! disk's servers where their number is limited. So with n requests in flight the rate is the least of all limits, of servers / mean
//! latency, and of n / mean latency (Little's law).

use crate::fio::Kind;
use plimsoll_record::{DiskLatency, DiskRates, DiskSpec, latency_at};

/// The 99th percentile of the standard normal distribution.
const NORMAL_P99: f64 = 2.326_347_874_040_841;
/// Parts of the normal distribution, and of a table, in sums over them.
const PARTS: u32 = 16_000;
/// Where the normal distribution is taken to end, in standard deviations.
const FAR: f64 = 8.0;

/// Whether the disk has burst credits while it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Credits {
    /// Enough for all of it.
    Plenty,
    Spent,
}

/// The mean of a function of latencies in nanoseconds.
fn mean_of(law: &DiskLatency, function: impl Fn(f64) -> f64) -> f64 {
    match law {
        DiskLatency::None => function(0.0),
        DiskLatency::Constant { ns } => function(*ns as f64),
        DiskLatency::Lognormal { median_ns, p99_ns } => {
            let median = (*median_ns).max(1) as f64;
            let deviation = ((*p99_ns as f64).max(median) / median).ln() / NORMAL_P99;
            let step = 2.0 * FAR / f64::from(PARTS);
            let (mut sum, mut weights) = (0.0, 0.0);
            for part in 0..PARTS {
                let z = -FAR + (f64::from(part) + 0.5) * step;
                let weight = (-z * z / 2.0).exp();
                sum += weight * function(median * (deviation * z).exp());
                weights += weight;
            }
            sum / weights
        }
        DiskLatency::Table { points } => {
            let sum: f64 = (0..PARTS)
                .map(|part| (f64::from(part) + 0.5) / f64::from(PARTS) * 100.0)
                .map(|percentile| function(latency_at(points, percentile)))
                .sum();
            sum / f64::from(PARTS)
        }
    }
}

/// The mean of a law, nanoseconds.
pub(crate) fn mean_ns(law: &DiskLatency) -> f64 {
    mean_of(law, |nanos| nanos)
}

/// The standard deviation of a law, nanoseconds.
pub(crate) fn deviation_ns(law: &DiskLatency) -> f64 {
    let mean = mean_ns(law);
    mean_of(law, |nanos| (nanos - mean).powi(2)).sqrt()
}

/// How far the median of so many draws is from that of their law by chance, nanoseconds: `errors` standard errors, as far as the law is spread
/// around its median.
pub(crate) fn chance_of_median_ns(law: &DiskLatency, draws: f64, errors: f64) -> f64 {
    let share = (errors * 0.5 / draws.sqrt()).min(0.5);
    match law {
        DiskLatency::None | DiskLatency::Constant { .. } => 0.0,
        DiskLatency::Lognormal { median_ns, p99_ns } => {
            let median = (*median_ns).max(1) as f64;
            let deviation = ((*p99_ns as f64).max(median) / median).ln() / NORMAL_P99;
            // The slope of the normal distribution at its middle.
            median * ((deviation * share * std::f64::consts::TAU.sqrt()).exp() - 1.0)
        }
        DiskLatency::Table { points } => {
            let at = |share: f64| latency_at(points, 50.0 + share * 100.0);
            (at(share) - at(0.0)).max(at(0.0) - at(-share))
        }
    }
}

/// The rate of a disk under many requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) kind: Kind,
    pub(crate) block_bytes: u32,
    pub(crate) credits: Credits,
}

impl Load {
    /// Requests per second that the disk's limits and servers let pass, however many are in flight; infinite where there is no limit.
    pub(crate) fn rate(self, disk: &DiskSpec) -> f64 {
        self.limit(disk).min(match disk.queue_depth {
            Some(depth) => f64::from(depth) * 1e9 / self.latency_ns(disk),
            None => f64::INFINITY,
        })
    }

    /// Requests per second that the limits of IOPS and bandwidth let pass.
    pub(crate) fn limit(self, disk: &DiskSpec) -> f64 {
        let (iops, bandwidth) = self.joint(disk);
        let block = f64::from(self.block_bytes);
        let units = disk
            .io_unit_bytes
            .map_or(1, |unit| u64::from(self.block_bytes).div_ceil(unit.max(1)))
            .max(1) as f64;
        let requests = self.least(&DiskRates { joint: iops, ..disk.iops });
        let bytes = self.least(&DiskRates { joint: bandwidth, ..disk.bandwidth });
        (requests / units).min(bytes / block)
    }

    /// Joint IOPS and bandwidth in force.
    fn joint(self, disk: &DiskSpec) -> (Option<f64>, Option<f64>) {
        match (&disk.burst, self.credits) {
            (None, _) => (disk.iops.joint, disk.bandwidth.joint),
            (Some(burst), Credits::Plenty) => {
                (Some(burst.iops), burst.bandwidth.or(disk.bandwidth.joint))
            }
            // Where more credits flow in than the disk spends without burst, the difference is spent at once.
            (Some(burst), Credits::Spent) => (
                disk.iops.joint.map(|joint| joint.max(burst.refill.min(burst.iops))),
                disk.bandwidth.joint,
            ),
        }
    }

    /// The least limit for this mix of reads and writes.
    fn least(self, rates: &DiskRates) -> f64 {
        let none = f64::INFINITY;
        let (read, write) = (rates.read.unwrap_or(none), rates.write.unwrap_or(none));
        let own = match self.kind {
            Kind::RandomRead | Kind::Read => read,
            Kind::RandomWrite
            | Kind::Write
            | Kind::RandomWriteFsync
            | Kind::RandomWriteDatasync => write,
            // Half of the requests are of each kind.
            Kind::RandomMix => 2.0 * read.min(write),
        };
        own.min(rates.joint.unwrap_or(none))
    }

    /// Mean latency without any queue, nanoseconds.
    pub(crate) fn latency_ns(self, disk: &DiskSpec) -> f64 {
        let [reads, writes] = self.moved_ns(disk);
        let (reads, writes) =
            (reads + mean_ns(&disk.read_latency), writes + mean_ns(&disk.write_latency));
        match self.kind {
            Kind::RandomMix => f64::midpoint(reads, writes),
            kind if kind.writes() => writes,
            _ => reads,
        }
    }

    /// How long the bytes of one read and of one write are moved, nanoseconds.
    fn moved_ns(self, disk: &DiskSpec) -> [f64; 2] {
        let ns = |rate| f64::from(self.block_bytes) * 1e9 / rate;
        disk.transfer.each().map(|rate| rate.map_or(0.0, ns))
    }

    /// The median of the same.
    pub(crate) fn single_median_ns(self, disk: &DiskSpec) -> f64 {
        let (law, moved_ns) = self.single(disk);
        (law.median_ns() + moved_ns).max(1e9 / self.limit(disk))
    }

    /// Mean time from one request of a single thread to its next, nanoseconds: its latency, or what the limits make it wait.
    pub(crate) fn single_ns(self, disk: &DiskSpec) -> f64 {
        let gap_ns = 1e9 / self.limit(disk);
        let (law, moved_ns) = self.single(disk);
        mean_of(law, |nanos| (nanos + moved_ns).max(gap_ns))
    }

    fn single(self, disk: &DiskSpec) -> (&DiskLatency, f64) {
        let [reads, writes] = self.moved_ns(disk);
        if self.kind.writes() { (&disk.write_latency, writes) } else { (&disk.read_latency, reads) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::DiskBurst;

    fn close(measured: f64, expected: f64) {
        assert!((measured / expected - 1.0).abs() < 1e-4, "{measured} is not {expected}");
    }

    fn san() -> DiskSpec {
        DiskSpec {
            iops: DiskRates { joint: Some(600.0), ..DiskRates::default() },
            read_latency: DiskLatency::Constant { ns: 7_000_000 },
            ..DiskSpec::unlimited(1 << 30)
        }
    }

    fn reads(block_bytes: u32) -> Load {
        Load { kind: Kind::RandomRead, block_bytes, credits: Credits::Spent }
    }

    #[test]
    fn means_of_laws() {
        close(mean_ns(&DiskLatency::Constant { ns: 7 }), 7.0);
        let lognormal = DiskLatency::Lognormal { median_ns: 1_000_000, p99_ns: 5_000_000 };
        let sigma = 5.0_f64.ln() / NORMAL_P99;
        close(mean_ns(&lognormal), 1e6 * (sigma * sigma / 2.0).exp());
        let variance = 1e12 * (sigma * sigma).exp() * ((sigma * sigma).exp() - 1.0);
        close(deviation_ns(&lognormal), variance.sqrt());
        // A quarter of 100, half from 100 to 300, a quarter of 300.
        let table = DiskLatency::Table { points: vec![(25.0, 100), (75.0, 300)] };
        close(mean_ns(&table), 200.0);
    }

    #[test]
    fn medians_of_laws_and_how_far_they_are_off_by_chance() {
        let lognormal = DiskLatency::Lognormal { median_ns: 1_000_000, p99_ns: 5_000_000 };
        let table = DiskLatency::Table { points: vec![(25.0, 100), (75.0, 300)] };
        for (law, median) in
            [(&DiskLatency::Constant { ns: 7 }, 7.0), (&lognormal, 1e6), (&table, 200.0)]
        {
            close(law.median_ns(), median);
        }
        // 4 standard errors of 1,600 draws are 5 % of them on either side, at 55 % of all.
        let sigma = 5.0_f64.ln() / NORMAL_P99;
        let chance = chance_of_median_ns(&lognormal, 1_600.0, 4.0);
        assert!((chance / (1e6 * (sigma * 0.125_66).exp() - 1e6) - 1.0).abs() < 0.01);
        close(chance_of_median_ns(&table, 1_600.0, 4.0), 20.0);
        let found = chance_of_median_ns(&DiskLatency::Constant { ns: 7 }, 9.0, 4.0);
        assert_eq!(found, 0.0);
    }

    #[test]
    fn the_least_limit_decides() {
        close(reads(4096).rate(&san()), 600.0);
        let deep = DiskSpec { queue_depth: Some(2), ..san() };
        close(reads(4096).rate(&deep), 2.0 / 0.007);
        let unit = DiskSpec {
            io_unit_bytes: Some(256 << 10),
            bandwidth: DiskRates { read: Some(128e6), ..DiskRates::default() },
            ..san()
        };
        close(reads(512 << 10).rate(&unit), 128e6 / f64::from(512 << 10));
        close(reads(256 << 10).limit(&unit), 128e6 / f64::from(256 << 10));
        close(reads(4096).rate(&unit), 600.0);
        let found = reads(4096).rate(&DiskSpec::unlimited(1 << 30));
        assert_eq!(found, f64::INFINITY);
    }

    #[test]
    fn a_mix_is_bound_by_its_slower_half() {
        let disk = DiskSpec {
            iops: DiskRates { read: Some(1000.0), write: Some(400.0), joint: Some(900.0) },
            ..DiskSpec::unlimited(1 << 30)
        };
        let mix = Load { kind: Kind::RandomMix, ..reads(4096) };
        close(mix.rate(&disk), 800.0);
    }

    #[test]
    fn a_single_thread_waits_for_the_latency_or_for_the_limit() {
        close(reads(4096).single_ns(&san()), 7e6);
        let slow =
            DiskSpec { iops: DiskRates { joint: Some(100.0), ..DiskRates::default() }, ..san() };
        close(reads(4096).single_ns(&slow), 10e6);
    }

    #[test]
    fn credits_lift_the_joint_limit() {
        let disk = DiskSpec {
            burst: Some(DiskBurst {
                iops: 3000.0,
                bandwidth: None,
                credits: 5.4e6,
                refill: 600.0,
                start: 1.0,
            }),
            ..san()
        };
        close(reads(4096).limit(&disk), 600.0);
        let bursting = Load { credits: Credits::Plenty, ..reads(4096) };
        close(bursting.limit(&disk), 3000.0);
    }
}
