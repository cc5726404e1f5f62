//! When the power of a run fails.

use crate::order::SplitMix64;
use plimsoll_record::PowerCutSpec;

/// A power cut of a point that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedCut {
    /// Nanoseconds from the beginning of the measured part.
    pub at_ns: u64,
    /// Decides what the disk keeps. It has 32 bits, so that it can be typed and is exact in formats that hold numbers as floats.
    pub seed: u64,
}

/// The power cuts of a point, in order. The first is due after `first_ns` of the `measured_ns`; each run draws its own moments and seeds.
pub fn power_cuts(
    spec: PowerCutSpec,
    first_ns: u64,
    measured_ns: u64,
    run_seed: u64,
) -> Vec<PlannedCut> {
    let mut numbers = SplitMix64(run_seed ^ spec.seed.rotate_left(32));
    let mut cut = |at_ns: u64, within_ns: u64| PlannedCut {
        at_ns: at_ns + numbers.below(within_ns.max(1)),
        seed: numbers.next() >> 32,
    };
    match spec.every_ns {
        None | Some(0) => vec![cut(first_ns, 0)],
        Some(every_ns) => {
            let count = measured_ns.saturating_sub(first_ns) / every_ns;
            (0..count).map(|number| cut(first_ns + number * every_ns, every_ns / 2)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn each_interval_has_one_in_its_first_half_and_each_run_its_own() {
        let spec = PowerCutSpec { seed: 7, sector_bytes: 4096, every_ns: Some(4 * SECOND) };
        let cuts = power_cuts(spec, 2 * SECOND, 31 * SECOND, 42);
        assert_eq!(cuts.len(), 7, "the last interval would end after the point");
        for (number, cut) in (0..).zip(&cuts) {
            let begin = 2 * SECOND + number * 4 * SECOND;
            assert!((begin..begin + 2 * SECOND).contains(&cut.at_ns), "{cuts:?}");
            assert!(cut.seed <= u64::from(u32::MAX));
        }
        assert_eq!(power_cuts(spec, 2 * SECOND, 31 * SECOND, 42), cuts);
        let others = [
            power_cuts(spec, 2 * SECOND, 31 * SECOND, 43),
            power_cuts(PowerCutSpec { seed: 8, ..spec }, 2 * SECOND, 31 * SECOND, 42),
        ];
        for other in others {
            assert!(other.iter().zip(&cuts).all(|(one, two)| one.seed != two.seed), "{other:?}");
        }
        let once = power_cuts(PowerCutSpec { every_ns: None, ..spec }, SECOND, 9 * SECOND, 42);
        assert_eq!(once.iter().map(|cut| cut.at_ns).collect::<Vec<_>>(), [SECOND]);
    }
}
