//! The way of a request to the disk and of its answer back: time that passes outside the daemon, and that the user of the disk sees.
//!
//! The longer all wait, the deeper the processors sleep, and the longer is the way: 25 µs where nothing was held, and 140 µs after 4 ms, on one
//! machine. So it is measured on the very loop device that is used afterwards, by requests that are held for times that are known: what they
//! take longer than that is the way.

use crate::blocks::{ALIGNMENT, Buffer};
use crate::shaper::RequestKind;
use crate::{Control, DiskError};
use plimsoll_record::{DiskLatency, DiskSpec};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::Instant;

/// For how long requests are held, nanoseconds; of those, as far as the latencies of the disk reach and one more.
const HOLDS_NS: [u64; 9] =
    [0, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000];
/// Requests of each kind that teach the daemon how late it wakes after such a time, and do not count.
const TEACHING: usize = 16;
/// Requests of each kind that count.
const COUNTED: usize = 30;
/// By this much the median may be above the lowest tenth on a machine that has nothing else to do.
const MOST_BY_OTHERS_NS: u64 = 20_000;

/// What requests take on their way to the daemon and their answers on the way back. Answers are given this much earlier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    reads: Ways,
    writes: Ways,
    flushes: Ways,
}

/// What a request took in all, ascending, and how much of that was its way, nanoseconds.
type Ways = Vec<(u64, u64)>;

impl Way {
    /// Measures the way to a disk that nobody uses yet, through the device over it, and has its daemon allow for it from now on. A disk
    /// without latencies has none to be corrected. What is stored on the disk stays, and nothing of this is counted or traced.
    pub fn measure(device: &Path, spec: &DiskSpec, control: &mut Control) -> Result<(), DiskError> {
        let laws = [&spec.read_latency, &spec.write_latency, &spec.flush_latency];
        let longest_ns = laws.into_iter().map(longest_ns).max().unwrap_or(0);
        if longest_ns == 0 {
            return Ok(());
        }
        let failed = |error| DiskError::io(format!("be timed through {}", device.display()), error);
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_DIRECT)
            .open(device)
            .map_err(failed)?;
        let mut way = Self::default();
        for hold_ns in HOLDS_NS {
            control.hold_all(Some(hold_ns))?;
            let timed = time(&opened);
            control.hold_all(None)?;
            let [reads, writes, flushes] = timed.map_err(failed)?;
            add(&mut way.reads, reads, hold_ns);
            add(&mut way.writes, writes, hold_ns);
            add(&mut way.flushes, flushes, hold_ns);
            if hold_ns > longest_ns {
                break;
            }
        }
        control.allow_for(way)
    }

    /// How much earlier than requested such a request must be answered, so that the caller has its answer after this long.
    pub(crate) fn ns(&self, kind: RequestKind, asked_ns: u64) -> u64 {
        let ways = match kind {
            RequestKind::Read => &self.reads,
            RequestKind::Write => &self.writes,
            RequestKind::Flush => &self.flushes,
            RequestKind::Discard => return 0,
        };
        let above = ways.partition_point(|(taken_ns, _)| *taken_ns <= asked_ns);
        let below = above.checked_sub(1).and_then(|below| ways.get(below));
        match (below, ways.get(above)) {
            (Some(&(low, low_way)), Some(&(high, high_way))) => {
                let share = (asked_ns - low) as f64 / (high - low) as f64;
                (low_way as f64 + share * (high_way as f64 - low_way as f64)) as u64
            }
            (Some(&(_, way)), None) | (None, Some(&(_, way))) => way,
            (None, None) => 0,
        }
    }
}

/// A time that hardly any request takes longer than.
fn longest_ns(law: &DiskLatency) -> u64 {
    match law {
        DiskLatency::None => 0,
        DiskLatency::Constant { ns } => *ns,
        DiskLatency::Lognormal { p99_ns, .. } => *p99_ns,
        DiskLatency::Table { points } => points.last().map_or(0, |(_, ns)| *ns),
    }
}

/// What reads, writes and flushes take, one at a time. Each write writes what was read.
fn time(device: &File) -> io::Result<[Vec<u64>; 3]> {
    let mut buffer = Buffer::default();
    let block = buffer.of_length(ALIGNMENT);
    let reads = timed(|| device.read_exact_at(block, 0))?;
    let writes = timed(|| device.write_all_at(block, 0))?;
    Ok([reads, writes, timed(|| device.sync_data())?])
}

/// Nanoseconds of each request that counts.
fn timed(mut request: impl FnMut() -> io::Result<()>) -> io::Result<Vec<u64>> {
    let mut taken = Vec::new();
    for _ in 0..TEACHING + COUNTED {
        let begin = Instant::now();
        request()?;
        taken.push(u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    Ok(taken.split_off(TEACHING))
}

/// Adds what requests took that were held for this long. It is the median, but not much more than the lowest tenth: others on the machine make a
/// way longer and never shorter, and a disk that is faster than configured is worse than one that a busy machine makes slow.
fn add(ways: &mut Ways, mut taken_ns: Vec<u64>, hold_ns: u64) {
    taken_ns.sort_unstable();
    let at = |share: usize| taken_ns.get(taken_ns.len() * share / 100).copied();
    let (Some(least), Some(median)) = (at(10), at(50)) else {
        return;
    };
    let taken = median.min(least + MOST_BY_OTHERS_NS);
    if ways.last().is_none_or(|(last, _)| taken > *last) {
        ways.push((taken, taken.saturating_sub(hold_ns)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Way {
        let mut way = Way::default();
        for (hold_ns, taken_ns) in [
            (0, [24_000, 24_500, 25_000, 90_000]),
            // Others had the processors for most of it.
            (100_000, [115_000, 800_000, 9_000_000, 700_000]),
            // Nothing that took less than a shorter hold.
            (110_000, [90_000, 90_000, 90_000, 90_000]),
            (1_000_000, [1_065_000, 1_070_000, 1_069_000, 1_075_000]),
        ] {
            add(&mut way.reads, taken_ns.to_vec(), hold_ns);
        }
        way
    }

    #[test]
    fn the_way_is_what_requests_took_longer_than_they_were_held() {
        let expected = [(25_000, 25_000), (135_000, 35_000), (1_070_000, 70_000)];
        assert_eq!(measured().reads, expected);
    }

    #[test]
    fn a_request_is_answered_earlier_by_the_way_of_its_own_latency() {
        let way = measured();
        for (asked_ns, expected) in [
            // As fast as this machine can.
            (10_000, 25_000),
            (25_000, 25_000),
            (80_000, 30_000),
            (135_000, 35_000),
            (602_500, 52_500),
            (20_000_000, 70_000),
        ] {
            assert_eq!(way.ns(RequestKind::Read, asked_ns), expected, "{asked_ns}");
        }
        assert_eq!(way.ns(RequestKind::Write, 100_000), 0);
        assert_eq!(way.ns(RequestKind::Discard, 100_000), 0);
        assert_eq!(Way::default().ns(RequestKind::Read, 100_000), 0);
    }
}
