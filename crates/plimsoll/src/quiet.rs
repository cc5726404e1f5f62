//! Whether the machine is quiet enough to measure, before `plimsoll run` starts.

use crate::screen::tell;
use anyhow::bail;
use plimsoll_record::{FOREIGN_CAUTION, ForeignCpu};
use plimsoll_telemetry::{ForeignSampler, Host};
use std::time::{Duration, Instant};

/// How long other programs are watched.
pub const LOOK: Duration = Duration::from_millis(500);
/// Pause between looks while waiting.
const PAUSE: Duration = Duration::from_secs(2);

/// What other programs use now.
pub fn look() -> ForeignCpu {
    let sampler = ForeignSampler::start(&Host::here(), &[std::process::id()]);
    std::thread::sleep(LOOK);
    sampler.since_start()
}

/// Looks at the machine, and waits for it where that is wished, for so many nanoseconds at most. Says who uses it, unless it is to be quiet.
pub fn before_a_run(wait_ns: Option<u64>, quiet: bool) -> anyhow::Result<ForeignCpu> {
    let cores = Host::here().machine().cores;
    let begun = Instant::now();
    let mut seen = look();
    let is_busy = |seen: &ForeignCpu| seen.share(cores) >= FOREIGN_CAUTION;
    let said = |seen: &ForeignCpu| {
        format!(
            "other programs use {:.0} % of the machine: {} processors",
            seen.share(cores) * 100.0,
            seen.names()
        )
    };
    if is_busy(&seen) && !quiet {
        tell(said(&seen));
    }
    let Some(wait_ns) = wait_ns else {
        return Ok(seen);
    };
    if is_busy(&seen) && !quiet {
        tell("waiting for a quiet machine");
    }
    while is_busy(&seen) {
        if begun.elapsed() >= Duration::from_nanos(wait_ns) {
            bail!("the machine did not become quiet; {}", said(&seen));
        }
        std::thread::sleep(PAUSE);
        seen = look();
    }
    Ok(seen)
}
