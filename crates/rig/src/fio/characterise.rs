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
    /// In this order. Where the target may only be read, those that write are left out.
    pub jobs: Vec<Job>,
    /// Bytes of the target that are used, at most; also at most the whole device, or half of what is free.
    pub size_bytes: u64,
}

impl Profile {
    /// Sizes and threads of the reads in the memory-and-disk study, which used psync, on 10 GB.
    pub const STUDY_BLOCKS: [u32; 4] = [4 << 10, 8 << 10, 16 << 10, 32 << 10];
    /// Threads of its reads, each with one request in flight.
    pub const STUDY_THREADS: [u32; 4] = [1, 4, 16, 64];

    /// Random reads of each size by each number of threads, then writes of 4 KiB with and without fsync. Each job lasts ten seconds and uses 10 GB.
    pub fn study(block_bytes: &[u32], threads: &[u32]) -> Self {
        let mut jobs = Vec::new();
        for &block in block_bytes {
            jobs.extend(
                threads.iter().map(|&threads| Job::psync(Kind::RandomRead, block, threads)),
            );
        }
        for kind in [Kind::RandomWrite, Kind::RandomWriteFsync] {
            jobs.extend([1, 16].map(|threads| Job::psync(kind, 4 << 10, threads)));
        }
        Self { jobs, size_bytes: 10_000_000_000 }.lasting(10_000, 1_000)
    }

    /// Each job measured for this long after this long a ramp, both in milliseconds.
    pub fn lasting(self, runtime_ms: u64, ramp_ms: u64) -> Self {
        let jobs = self.jobs.into_iter().map(|job| job.lasting(runtime_ms, ramp_ms)).collect();
        Self { jobs, ..self }
    }

    fn jobs_on(&self, target: &Target) -> Vec<Job> {
        let writes = target.takes_writes();
        self.jobs.iter().filter(|job| writes || !job.kind.writes()).cloned().collect()
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
    let jobs = profile.jobs_on(target);
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
    use crate::fio::Permission;

    #[test]
    fn a_device_that_may_only_be_read_is_asked_for_reads_alone() {
        let profile = Profile::study(&Profile::STUDY_BLOCKS, &Profile::STUDY_THREADS);
        let device = |permission| Target::Device { path: "/dev/none".into(), permission };
        assert_eq!(profile.jobs_on(&device(Permission::MadeHere)).len(), 4 * 4 + 2 * 2);
        let reads = profile.jobs_on(&device(Permission::ReadOnly));
        assert_eq!(reads.len(), 16);
        assert!(reads.iter().all(|job| !job.kind.writes()));
        assert_eq!(reads[1].label, "random reads of 4 KiB, 4 jobs");
        assert_eq!((reads[1].runtime_ms, reads[1].ramp_ms), (10_000, 1_000));
    }
}
