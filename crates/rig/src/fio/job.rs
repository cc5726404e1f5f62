//! One job of fio: its requests, and the command line for them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The operation that a job repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    RandomRead,
    RandomWrite,
    /// Reads and writes at random places, as many of each.
    RandomMix,
    /// Sequential reads, each job in its own part.
    Read,
    /// Sequential writes, each job in its own part.
    Write,
    /// Writes at random places, an fsync after each.
    RandomWriteFsync,
    /// Writes at random places, an fdatasync after each: on a filesystem, no journal comes with it.
    RandomWriteDatasync,
}

impl Kind {
    /// Whether it changes what is on the disk.
    pub fn writes(self) -> bool {
        !matches!(self, Self::RandomRead | Self::Read)
    }

    fn rw(self) -> &'static str {
        match self {
            Self::RandomRead => "randread",
            Self::RandomWrite | Self::RandomWriteFsync | Self::RandomWriteDatasync => "randwrite",
            Self::RandomMix => "randrw",
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    fn is_random(self) -> bool {
        !matches!(self, Self::Read | Self::Write)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::RandomRead => "random reads",
            Self::RandomWrite => "random writes",
            Self::RandomMix => "random reads and writes",
            Self::Read => "reads in a row",
            Self::Write => "writes in a row",
            Self::RandomWriteFsync => "random writes with fsync",
            Self::RandomWriteDatasync => "random writes with fdatasync",
        })
    }
}

/// How fio asks the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// `pread` and `pwrite`: one request at a time for each job.
    Psync,
    Libaio,
    IoUring,
}

impl Engine {
    fn name(self) -> &'static str {
        match self {
            Self::Psync => "psync",
            Self::Libaio => "libaio",
            Self::IoUring => "io_uring",
        }
    }
}

/// One job of fio, for a span of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub label: String,
    pub kind: Kind,
    /// Size of each request, bytes.
    pub block_bytes: u32,
    pub jobs: u32,
    /// Requests that each thread keeps in flight; more than one needs an asynchronous engine.
    pub depth: u32,
    /// fio's way to call the kernel.
    pub engine: Engine,
    pub direct: bool,
    /// Time that is measured, milliseconds.
    pub runtime_ms: u64,
    /// Time before that, so that queues fill, milliseconds.
    pub ramp_ms: u64,
}

impl Job {
    /// A direct job of `pread` and `pwrite` with a label that says so.
    pub fn psync(kind: Kind, block_bytes: u32, jobs: u32) -> Self {
        Self {
            label: label(kind, block_bytes, jobs, 1),
            kind,
            block_bytes,
            jobs,
            depth: 1,
            engine: Engine::Psync,
            direct: true,
            runtime_ms: 1000,
            ramp_ms: 0,
        }
    }

    /// A direct asynchronous job with a label that says so.
    pub fn libaio(kind: Kind, block_bytes: u32, jobs: u32, depth: u32) -> Self {
        Self {
            label: label(kind, block_bytes, jobs, depth),
            depth,
            engine: Engine::Libaio,
            ..Self::psync(kind, block_bytes, jobs)
        }
    }

    /// The same, measured for this long after this long a ramp, both in milliseconds.
    pub fn lasting(self, runtime_ms: u64, ramp_ms: u64) -> Self {
        Self { runtime_ms, ramp_ms, ..self }
    }

    pub fn in_flight(&self) -> u32 {
        self.jobs.max(1) * self.depth.max(1)
    }

    /// fio's command line for the first bytes of a file or device, without the program.
    pub(crate) fn arguments(&self, file: &str, size_bytes: u64) -> Vec<String> {
        let jobs = u64::from(self.jobs.max(1));
        let mut all = vec![
            "--name=plimsoll".to_owned(),
            // Each thread apart and with its histograms: rates are then added and percentiles merged without loss, see `measured`.
            "--output-format=json+".to_owned(),
            // From the call on: a request may be half done before the call that handed it over returns, and fio's usual clock starts there.
            "--lat_percentiles=1".to_owned(),
            "--clat_percentiles=0".to_owned(),
            "--thread".to_owned(),
            format!("--filename={}", escaped(file)),
            format!("--rw={}", self.kind.rw()),
            format!("--bs={}", self.block_bytes),
            format!("--numjobs={jobs}"),
            format!("--ioengine={}", self.engine.name()),
            format!("--iodepth={}", self.depth.max(1)),
            format!("--direct={}", u8::from(self.direct)),
            "--time_based".to_owned(),
            format!("--runtime={}ms", self.runtime_ms),
        ];
        if self.ramp_ms > 0 {
            all.push(format!("--ramp_time={}ms", self.ramp_ms));
        }
        if self.kind.is_random() {
            all.push(format!("--size={size_bytes}"));
            all.push("--norandommap".to_owned());
        } else {
            let block = u64::from(self.block_bytes.max(1));
            let part = (size_bytes / jobs / block).max(1) * block;
            all.push(format!("--size={part}"));
            all.push(format!("--offset_increment={part}"));
        }
        match self.kind {
            Kind::RandomWriteFsync => all.push("--fsync=1".to_owned()),
            Kind::RandomWriteDatasync => all.push("--fdatasync=1".to_owned()),
            _ => {}
        }
        if !self.kind.writes() {
            all.push("--readonly".to_owned());
        }
        all
    }
}

/// The command line that writes a file or device once from its beginning to its end.
pub(crate) fn filling(file: &str, size_bytes: u64) -> Vec<String> {
    vec![
        "--name=plimsoll".to_owned(),
        "--output-format=json+".to_owned(),
        "--thread".to_owned(),
        format!("--filename={}", escaped(file)),
        "--rw=write".to_owned(),
        "--bs=1M".to_owned(),
        "--ioengine=psync".to_owned(),
        format!("--size={size_bytes}"),
        "--end_fsync=1".to_owned(),
    ]
}

/// fio takes a colon for the end of a name; stable names of devices have some.
fn escaped(file: &str) -> String {
    file.replace('\\', "\\\\").replace(':', "\\:")
}

fn label(kind: Kind, block_bytes: u32, jobs: u32, depth: u32) -> String {
    let jobs_word = if jobs == 1 { "job" } else { "jobs" };
    let depth = if depth > 1 { format!(" of {depth} in flight") } else { String::new() };
    format!("{kind} of {}, {jobs} {jobs_word}{depth}", block(block_bytes))
}

/// A block size in words.
pub(crate) fn block(bytes: u32) -> String {
    if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else if bytes.is_multiple_of(1 << 10) {
        format!("{} KiB", bytes >> 10)
    } else {
        format!("{bytes} bytes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_says_what_it_is() {
        let job = Job::psync(Kind::RandomRead, 4096, 16);
        assert_eq!(job.label, "random reads of 4 KiB, 16 jobs");
        let job = Job::libaio(Kind::RandomMix, 2 << 20, 1, 32);
        let expected = "random reads and writes of 2 MiB, 1 job of 32 in flight";
        assert_eq!(job.label, expected);
        assert_eq!(job.in_flight(), 32);
    }

    #[test]
    fn jobs_that_only_read_cannot_write() {
        for kind in [Kind::RandomRead, Kind::Read] {
            let arguments = Job::psync(kind, 4096, 1).arguments("/dev/loop7", 1 << 20);
            assert!(arguments.contains(&"--readonly".to_owned()));
        }
        for kind in [Kind::RandomWrite, Kind::RandomMix, Kind::Write, Kind::RandomWriteDatasync] {
            assert!(kind.writes());
        }
    }

    #[test]
    fn jobs_in_a_row_keep_out_of_each_others_way() {
        let arguments = Job::psync(Kind::Read, 1 << 20, 4).arguments("/data:1/file", 10 << 20);
        assert!(arguments.contains(&format!("--size={}", 2 << 20)));
        assert!(arguments.contains(&format!("--offset_increment={}", 2 << 20)));
        assert!(arguments.contains(&"--filename=/data\\:1/file".to_owned()));
    }
}
