//! What a disk can do: IOPS and latency against block size and requests in flight.

use crate::fio::run::{Session, version};
use crate::fio::target::Ready;
use crate::fio::{FioError, Job, Kind, Measured, Target, Watch};
use plimsoll_record::FioResult;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The jobs that characterise a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Sizes of random reads, bytes.
    pub block_bytes: Vec<u32>,
    /// Threads of random reads, each with one request in flight.
    pub jobs: Vec<u32>,
    /// Threads of random writes, and of random writes with fsync, both of 4 KiB; none where the target may only be read.
    pub write_jobs: Vec<u32>,
    /// Bytes of the target that are used, at most; also at most the whole device, or half of what is free.
    pub size_bytes: u64,
    /// Each job is measured for this long, milliseconds.
    pub runtime_ms: u64,
    /// And runs this long before, milliseconds.
    pub ramp_ms: u64,
}

impl Profile {
    /// That of the memory-and-disk study: psync, 10 GB, 4 to 32 kB; with writes and fsync beside it.
    pub fn study() -> Self {
        Self {
            block_bytes: vec![4 << 10, 8 << 10, 16 << 10, 32 << 10],
            jobs: vec![1, 4, 16, 64],
            write_jobs: vec![1, 16],
            size_bytes: 10_000_000_000,
            runtime_ms: 10_000,
            ramp_ms: 1_000,
        }
    }

    /// The same questions on 1 GB, each for a second.
    pub fn quick() -> Self {
        Self { size_bytes: 1_000_000_000, runtime_ms: 1_000, ramp_ms: 200, ..Self::study() }
    }

    /// The jobs, in order: those that only read first.
    pub fn all_jobs(&self, with_writes: bool) -> Vec<Job> {
        let mut all = Vec::new();
        for &block_bytes in &self.block_bytes {
            for &jobs in &self.jobs {
                all.push(Job::psync(Kind::RandomRead, block_bytes, jobs));
            }
        }
        if with_writes {
            for kind in [Kind::RandomWrite, Kind::RandomWriteFsync] {
                for &jobs in &self.write_jobs {
                    all.push(Job::psync(kind, 4 << 10, jobs));
                }
            }
        }
        all.into_iter().map(|job| job.lasting(self.runtime_ms, self.ramp_ms)).collect()
    }
}

/// One job and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub job: Job,
    pub measured: Measured,
}

/// What a disk can do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Characterisation {
    pub target: Target,
    /// Instant in UTC, as RFC 3339 writes it.
    pub at: String,
    pub fio_version: String,
    /// Bytes of the target that were used.
    pub size_bytes: u64,
    /// In the order of measuring.
    pub rows: Vec<Row>,
    pub results: Vec<FioResult>,
}

/// Measures what a disk can do. In a directory, a file is written first and removed at the end; until then it is in a journal in the state
/// directory.
pub fn characterise(
    target: &Target,
    profile: &Profile,
    state: &Path,
    watch: &mut Watch<'_>,
) -> Result<Characterisation, FioError> {
    let fio_version = version()?;
    let at = now();
    let jobs = profile.all_jobs(target.takes_writes());
    let ready = Ready::make(target, profile.size_bytes, state)?;
    let size_bytes = ready.size_bytes;
    let parts = jobs.len() as u32 + u32::from(ready.is_new());
    let mut session = Session::new(target, ready, parts, watch);
    let ended = every(&mut session, jobs);
    let (rows, results) = session.finish(ended)?;
    Ok(Characterisation { target: target.clone(), at, fio_version, size_bytes, rows, results })
}

fn every(
    session: &mut Session<'_, '_>,
    jobs: Vec<Job>,
) -> Result<(Vec<Row>, Vec<FioResult>), FioError> {
    session.fill_if_new()?;
    let (mut rows, mut results) = (Vec::new(), Vec::new());
    for job in jobs {
        let (result, measured) = session.job(&job)?;
        rows.push(Row { job, measured });
        results.push(result);
    }
    Ok((rows, results))
}

/// Now, UTC, RFC 3339 with milliseconds.
pub(crate) fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_may_only_be_read_is_asked_for_reads_alone() {
        let profile = Profile::study();
        assert_eq!(profile.all_jobs(true).len(), 4 * 4 + 2 * 2);
        let reads = profile.all_jobs(false);
        assert_eq!(reads.len(), 16);
        assert!(reads.iter().all(|job| !job.kind.writes()));
        assert_eq!(reads[1].label, "random reads of 4 KiB, 4 jobs");
        assert_eq!((reads[1].runtime_ms, reads[1].ramp_ms), (10_000, 1_000));
    }
}
