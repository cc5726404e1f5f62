//! What happened to the whole machine while something was measured.

use crate::Host;
use crate::processors::{fewer_than_all, ticks};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{SysconfVar, sysconf};

/// Says what happened to the machine since it was made.
#[derive(Debug)]
pub struct SystemSampler {
    host: Host,
    /// The processors whose time counts; `None`: all.
    processors: Option<Vec<u32>>,
    stolen_ticks: Option<u64>,
    ticks_per_second: u64,
    clocks: Clocks,
}

/// What happened to the machine over a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SystemUse {
    /// CPU time that the hypervisor gave to somebody else while a processor that this process may use wanted it, nanoseconds over all of these,
    /// counted in steps of mostly 10 ms.
    pub stolen_ns: u64,
    /// How far the wall clock moved against the monotonic one, nanoseconds. Slewing, as by NTP, moves both alike and is not seen.
    pub clock_jump_ns: i64,
    /// Length of the span, nanoseconds.
    pub elapsed_ns: u64,
}

impl SystemSampler {
    pub fn start(host: &Host) -> Self {
        let processors = fewer_than_all(host);
        Self {
            host: host.clone(),
            stolen_ticks: stolen_ticks(host, processors.as_deref()),
            processors,
            ticks_per_second: ticks_per_second(),
            clocks: Clocks::read(),
        }
    }

    /// What happened since the start. May be called again.
    pub fn since_start(&self) -> SystemUse {
        let clocks = Clocks::read();
        let stolen_ticks =
            match (self.stolen_ticks, stolen_ticks(&self.host, self.processors.as_deref())) {
                // On some hypervisors the counter moves backwards, as after a migration.
                (Some(start), Some(now)) => now.saturating_sub(start),
                _ => 0,
            };
        SystemUse {
            stolen_ns: stolen_ticks.saturating_mul(1_000_000_000 / self.ticks_per_second),
            clock_jump_ns: clocks.jump_since(&self.clocks),
            elapsed_ns: u64::try_from(clocks.monotonic_ns - self.clocks.monotonic_ns).unwrap_or(0),
        }
    }
}

/// In which the kernel counts CPU time in `/proc/stat`.
pub(crate) fn ticks_per_second() -> u64 {
    let ticks = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100);
    ticks.unsigned_abs().max(1)
}

fn stolen_ticks(host: &Host, of: Option<&[u32]>) -> Option<u64> {
    let [.., steal] = ticks(&host.read("proc/stat")?, of)?;
    Some(steal)
}

/// The two clocks read at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clocks {
    wall_ns: i64,
    monotonic_ns: i64,
}

/// A reading between whose halves this much time passed is a good one.
const CLOSE_NS: i64 = 2_000;

/// Tries for a good reading. The best of them is taken.
const TRIES: u32 = 10;

impl Clocks {
    fn read() -> Self {
        Self::read_with(|| now_ns(ClockId::CLOCK_MONOTONIC), || now_ns(ClockId::CLOCK_REALTIME))
    }

    /// Reads the wall clock between two readings of the monotonic one, again if the program was held up between them.
    fn read_with(mut monotonic: impl FnMut() -> i64, mut wall: impl FnMut() -> i64) -> Self {
        let mut best: Option<(i64, Self)> = None;
        for _ in 0..TRIES {
            let before = monotonic();
            let wall_ns = wall();
            let after = monotonic();
            let apart = after - before;
            if best.is_none_or(|(least, _)| apart < least) {
                best = Some((apart, Self { wall_ns, monotonic_ns: before + apart / 2 }));
            }
            if apart <= CLOSE_NS {
                break;
            }
        }
        best.expect("there is at least one try").1
    }

    fn jump_since(&self, start: &Self) -> i64 {
        (self.wall_ns - start.wall_ns) - (self.monotonic_ns - start.monotonic_ns)
    }
}

fn now_ns(clock: ClockId) -> i64 {
    let time = clock_gettime(clock).expect("Linux has these two clocks");
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    const STAT: &str =
        "cpu  11985 0 2815 224019 387 0 52 1234 0 0\ncpu0 5208 0 1173 113125 24 0 18 5 0 0\n";

    #[test]
    fn only_what_is_stolen_meanwhile_counts() {
        let tree = Tree::new(&[("proc/stat", STAT)]);
        let mut sampler = SystemSampler::start(&tree.host());
        sampler.ticks_per_second = 100;
        assert_eq!(sampler.since_start().stolen_ns, 0);
        std::fs::write(tree.host().path("proc/stat"), STAT.replace(" 1234 ", " 1237 ")).unwrap();
        assert_eq!(sampler.since_start().stolen_ns, 30_000_000);
        std::fs::write(tree.host().path("proc/stat"), STAT.replace(" 1234 ", " 1 ")).unwrap();
        assert_eq!(sampler.since_start().stolen_ns, 0);
    }

    #[test]
    fn a_jump_is_what_the_wall_clock_moved_more() {
        let start = Clocks { wall_ns: 1_000, monotonic_ns: 10 };
        let forward = Clocks { wall_ns: 3_600_000_001_500, monotonic_ns: 510 };
        assert_eq!(forward.jump_since(&start), 3_600_000_000_000);
        let back = Clocks { wall_ns: 1_400, monotonic_ns: 510 };
        assert_eq!(back.jump_since(&start), -100);
    }

    #[test]
    fn a_program_that_is_held_up_between_the_clocks_reads_again() {
        let mut monotonic = [0, 9_000_000, 10_000_000, 10_000_400].into_iter();
        let mut wall = [77, 5_000_200].into_iter();
        let clocks = Clocks::read_with(|| monotonic.next().unwrap(), || wall.next().unwrap());
        assert_eq!(clocks, Clocks { wall_ns: 5_000_200, monotonic_ns: 10_000_200 });
    }

    #[test]
    fn a_program_that_is_always_held_up_takes_the_best_reading() {
        let mut time = 0;
        let mut step = 20_000_000;
        let clocks = Clocks::read_with(
            || {
                time += step;
                step -= 500_000;
                time
            },
            || 5,
        );
        // The last of ten pairs is the closest: its second half follows the first after 20 ms - 19 × 0.5 ms.
        assert_eq!(clocks.monotonic_ns, time - 10_500_000 / 2);
    }
}
