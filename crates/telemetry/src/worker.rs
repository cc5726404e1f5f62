//! Processor time and memory that this process used.

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use nix::unistd::{SysconfVar, sysconf};
use plimsoll_record::WorkerUse;

/// Says what this process, with all its threads, used since the last call.
#[derive(Debug)]
pub struct WorkerSampler {
    last: Totals,
    page_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Totals {
    user_ns: u64,
    system_ns: u64,
    context_switches: u64,
}

impl Default for WorkerSampler {
    fn default() -> Self {
        Self::new()
    }
}

impl WorkerSampler {
    pub fn new() -> Self {
        let page_bytes = sysconf(SysconfVar::PAGE_SIZE).ok().flatten().unwrap_or(4096);
        Self { last: totals(), page_bytes: page_bytes.unsigned_abs() }
    }

    /// What was used since the last call, and the resident memory now. The kernel counts CPU time to the microsecond.
    pub fn sample(&mut self) -> WorkerUse {
        let now = totals();
        let used = WorkerUse {
            // The kernel estimates how its exact sum divides into user and system time, and may correct one of them backwards.
            cpu_user_ns: now.user_ns.saturating_sub(self.last.user_ns),
            cpu_system_ns: now.system_ns.saturating_sub(self.last.system_ns),
            context_switches: now.context_switches.saturating_sub(self.last.context_switches),
            resident_bytes: resident_pages().unwrap_or(0) * self.page_bytes,
        };
        self.last = now;
        used
    }
}

fn totals() -> Totals {
    let usage: Usage =
        getrusage(UsageWho::RUSAGE_SELF).expect("a process may always ask for its own usage");
    let nanoseconds = |time: TimeVal| u64::try_from(time.num_nanoseconds()).unwrap_or(0);
    let switches = usage.voluntary_context_switches() + usage.involuntary_context_switches();
    Totals {
        user_ns: nanoseconds(usage.user_time()),
        system_ns: nanoseconds(usage.system_time()),
        context_switches: u64::try_from(switches).unwrap_or(0),
    }
}

fn resident_pages() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted_once() {
        let mut sampler = WorkerSampler::new();
        let start = totals();
        // Until the kernel has counted 20 ms of this process, however long that takes.
        let mut sum = 0_u64;
        while totals().user_ns + totals().system_ns < start.user_ns + start.system_ns + 20_000_000 {
            for number in 0..10_000_u64 {
                sum = std::hint::black_box(sum.wrapping_add(number));
            }
        }
        let first = sampler.sample();
        assert!(first.cpu_user_ns + first.cpu_system_ns >= 20_000_000);
        let whole = totals();
        let second = sampler.sample();
        let counted = first.cpu_user_ns + first.cpu_system_ns;
        assert!(counted <= whole.user_ns + whole.system_ns - start.user_ns - start.system_ns);
        assert!(second.resident_bytes > 100_000, "a Rust program is larger than that");
    }

    #[test]
    fn memory_that_is_touched_is_resident() {
        let mut sampler = WorkerSampler::new();
        let before = sampler.sample().resident_bytes;
        let memory = vec![1_u8; 64 << 20];
        let after = sampler.sample().resident_bytes;
        assert!(after >= before + (32 << 20), "{before} {after}");
        drop(std::hint::black_box(memory));
    }
}
