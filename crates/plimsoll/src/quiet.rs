//! Whether the machine is quiet enough to measure, before `plimsoll run` starts.

use crate::screen::{rewritten_line, tell};
use anyhow::bail;
use indicatif::ProgressBar;
use plimsoll_record::quantities::numbers::TERMINAL;
use plimsoll_record::redact::lines;
use plimsoll_record::{FOREIGN_CAUTION, ForeignCpu};
use plimsoll_telemetry::{ForeignSampler, Host};
use std::time::{Duration, Instant};

/// Time between two messages about what is waited for, where there is no terminal.
const REMINDER_EVERY: Duration = Duration::from_secs(60);
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

/// Whether they use more than a measurement should have beside it.
pub fn is_busy(seen: &ForeignCpu) -> bool {
    seen.share(Host::here().machine().cores) >= FOREIGN_CAUTION
}

pub fn in_words(seen: &ForeignCpu) -> String {
    format!(
        "other programs use {:.0} % of the machine: {} processors",
        seen.share(Host::here().machine().cores) * 100.0,
        seen.names()
    )
}

/// Measures other programs' CPU use, and waits up to `wait_ns` until the machine is quiet. Names the busy programs, unless `quiet`.
pub fn before_a_run(wait_ns: Option<u64>, quiet: bool) -> anyhow::Result<ForeignCpu> {
    let begun = Instant::now();
    let mut seen = look();
    let speaks = !quiet && is_busy(&seen);
    if speaks {
        tell(in_words(&seen));
    }
    let Some(wait_ns) = wait_ns else {
        return Ok(seen);
    };
    let longest = Duration::from_nanos(wait_ns);
    let waiting = |seen: &ForeignCpu| {
        format!(
            "waiting for a quiet machine, {} of {}; {}",
            TERMINAL.clock(begun.elapsed().as_secs_f64()),
            TERMINAL.clock(longest.as_secs_f64()),
            in_words(seen)
        )
    };
    let line = if speaks { rewritten_line() } else { ProgressBar::hidden() };
    let mut last = begun;
    while is_busy(&seen) {
        if begun.elapsed() >= longest {
            line.finish_and_clear();
            bail!("the machine did not become quiet; {}", in_words(&seen));
        }
        line.set_message(lines(&waiting(&seen)).into_owned());
        line.tick();
        // If that line is hidden.
        if speaks && line.is_hidden() && last.elapsed() >= REMINDER_EVERY {
            tell(waiting(&seen));
            last = Instant::now();
        }
        std::thread::sleep(PAUSE);
        seen = look();
    }
    line.finish_and_clear();
    Ok(seen)
}
