//! What fio measured, in the few figures that matter.
//!
//! Every thread of a job reports for itself. Its rate is its requests over its own time, which ends with a request of its own, so the sum
//! over the threads is right also where each made only a few. fio's own group report divides all requests by the longest time, and
//! reads low by about half a request a thread: 16 threads on a disk of 150 IOPS gave 147.5 in four seconds, and 150.3 as a sum. The
//! threads' histograms are merged before a percentile is taken.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Reads, where the job reads.
    pub reads: Option<Direction>,
    /// Writes, where the job writes.
    pub writes: Option<Direction>,
    /// Each fsync, where the job does that.
    pub syncs: Option<Latencies>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// Requests completed while measuring.
    pub requests: u64,
    pub iops: f64,
    pub bytes_per_s: f64,
    /// From handing a request to the kernel until it is done.
    pub latency: Latencies,
}

/// How long something took, nanoseconds. The percentiles are those of fio's histogram, whose buckets are 1.6 % wide at most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    pub mean_ns: f64,
    pub p50_ns: f64,
    /// 99 % took no longer.
    pub p99_ns: f64,
    /// 99.9 % took no longer.
    pub p999_ns: f64,
    pub max_ns: f64,
}

impl Measured {
    pub(crate) fn read(json: &str) -> Result<Self, serde_json::Error> {
        let output: Output = serde_json::from_str(json)?;
        let threads = || output.jobs.iter();
        Ok(Self {
            reads: direction(threads().map(|thread| &thread.read)),
            writes: direction(threads().map(|thread| &thread.write)),
            syncs: Latencies::of(threads().map(|thread| &thread.sync.lat_ns)),
        })
    }

    /// Reads and writes per second.
    pub fn iops(&self) -> f64 {
        self.directions().map(|one| one.iops).sum()
    }

    /// Read and written, bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.directions().map(|one| one.bytes_per_s).sum()
    }

    fn directions(&self) -> impl Iterator<Item = &Direction> {
        self.reads.iter().chain(&self.writes)
    }
}

fn direction<'a>(threads: impl Iterator<Item = &'a Side> + Clone) -> Option<Direction> {
    let latency = Latencies::of(threads.clone().map(|thread| &thread.lat_ns))?;
    Some(Direction {
        requests: threads.clone().map(|thread| thread.total_ios).sum(),
        iops: threads.clone().map(|thread| thread.iops).sum(),
        bytes_per_s: threads.map(|thread| thread.bw_bytes).sum(),
        latency,
    })
}

impl Latencies {
    /// Merges the latencies of all threads; `None` where nothing was timed.
    fn of<'a>(threads: impl Iterator<Item = &'a Spread>) -> Option<Self> {
        let all = Spread::merged(threads);
        (all.count > 0).then(|| Self {
            mean_ns: all.mean,
            p50_ns: all.quantile(0.5),
            p99_ns: all.quantile(0.99),
            p999_ns: all.quantile(0.999),
            max_ns: all.max,
        })
    }
}

/// Which latencies of a job.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Timed {
    Reads,
    Writes,
    Syncs,
}

/// Percentiles (0 to 100) of the latencies in fio's output, nanoseconds; `None` where nothing was timed.
pub(crate) fn percentiles(
    output: &serde_json::Value,
    timed: Timed,
    of: &[f64],
) -> Option<Vec<(f64, f64)>> {
    let output = Output::deserialize(output).ok()?;
    let all = Spread::merged(output.jobs.iter().map(|thread| match timed {
        Timed::Reads => &thread.read.lat_ns,
        Timed::Writes => &thread.write.lat_ns,
        Timed::Syncs => &thread.sync.lat_ns,
    }));
    (all.count > 0).then(|| of.iter().map(|&p| (p, all.quantile(p / 100.0))).collect())
}

/// The part of fio's JSON that is read here.
#[derive(Deserialize)]
struct Output {
    jobs: Vec<Thread>,
}

#[derive(Deserialize)]
struct Thread {
    read: Side,
    write: Side,
    #[serde(default)]
    sync: Syncs,
}

#[derive(Deserialize)]
struct Side {
    total_ios: u64,
    iops: f64,
    bw_bytes: f64,
    lat_ns: Spread,
}

#[derive(Default, Deserialize)]
struct Syncs {
    lat_ns: Spread,
}

#[derive(Default, Deserialize)]
struct Spread {
    #[serde(rename = "N")]
    count: u64,
    mean: f64,
    max: f64,
    #[serde(default)]
    bins: BTreeMap<u64, u64>,
}

impl Spread {
    fn merged<'a>(threads: impl Iterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        let mut sum = 0.0;
        for spread in threads {
            all.count += spread.count;
            sum += spread.mean * spread.count as f64;
            all.max = all.max.max(spread.max);
            for (nanos, requests) in &spread.bins {
                *all.bins.entry(*nanos).or_default() += requests;
            }
        }
        all.mean = sum / all.count.max(1) as f64;
        all
    }

    fn quantile(&self, share: f64) -> f64 {
        let rank = (share * self.count as f64).ceil().max(1.0);
        let mut passed = 0;
        for (nanos, requests) in &self.bins {
            passed += requests;
            if passed as f64 >= rank {
                return *nanos as f64;
            }
        }
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READS: &str = include_str!("../../tests/fio/reads.json");
    const FSYNC: &str = include_str!("../../tests/fio/writes-with-fsync.json");

    #[test]
    fn threads_are_added_and_their_histograms_merged() {
        let measured = Measured::read(READS).unwrap();
        insta::assert_json_snapshot!(measured);
        let expected = measured.reads.as_ref().expect("it read").iops;
        assert_eq!(measured.iops(), expected);
    }

    #[test]
    fn fsync_is_timed_by_itself() {
        insta::assert_json_snapshot!(Measured::read(FSYNC).unwrap());
    }

    #[test]
    fn what_is_no_output_of_fio_is_an_error() {
        assert!(Measured::read("").is_err());
        assert!(Measured::read("{\"jobs\": [{}]}").is_err());
    }
}
