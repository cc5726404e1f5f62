//! Are the sources of noise distinguished well enough to choose the length of points and the number of blocks?

use crate::{NestedRun, blocks_to_see, noise_sources};

use crate::calibration::simulate::Source;
use crate::calibration::study::{Promise, Studies, Study};
use Promise::{AtLeast, AtMost, Between};

const REPEATS: usize = 2000;
/// Number of independent seconds in a point from which the program can separate their noise from that of runs.
const FEWEST_INDEPENDENT: f64 = 10.0;
/// Blocks of the experiment that forecasts.
const BLOCKS: u32 = 8;
const SECONDS: usize = 20;
/// How much longer the points are that are forecast.
const LONGER: f64 = 4.0;
/// The difference to find.
const SHARE: f64 = 0.02;
/// The share of the last deviation that a second keeps.
const MEMORY: f64 = 0.5;

#[derive(Clone, Copy)]
struct Noise {
    block: f64,
    run: f64,
    second: f64,
}

impl Noise {
    /// Noise of an arm's mean over a point, without that of the block. Seconds that keep half of the last deviation count for a third.
    fn of_arm(self, seconds: f64) -> f64 {
        let remembered = (1.0 + MEMORY) / (1.0 - MEMORY);
        (self.run.powi(2) + self.second.powi(2) * remembered / seconds).sqrt()
    }
}

/// How many blocks of longer points the forecast asks for, over the right number.
fn forecast(source: &mut Source, noise: Noise, wild: bool) -> Option<f64> {
    let mut runs = Vec::new();
    for block in 0..BLOCKS {
        let of_block = noise.block * source.normal();
        for arm in 0..2 {
            let run = if wild { source.wild() } else { source.normal() };
            let level = of_block + noise.run * run;
            let seconds = source.autoregressive(MEMORY, SECONDS);
            let seconds = seconds.iter().map(|second| (level + noise.second * second).exp());
            runs.push((block, arm, vec![seconds.collect::<Vec<f64>>()]));
        }
    }
    let nested =
        runs.iter().map(|(block, arm, points)| NestedRun { block: *block, arm: *arm, points });
    let found = noise_sources(&nested.collect::<Vec<_>>())?;
    let of_arm = (found.of_difference(1.0, LONGER) / 2.0).sqrt();
    let right = blocks_to_see(noise.of_arm(SECONDS as f64 * LONGER), SHARE)?;
    Some(blocks_to_see(of_arm, SHARE)? as f64 / right as f64)
}

/// Whether noise that is nearly all from seconds with this memory is distinguished from that of runs, and rightly; `None` where it is not distinguished.
fn is_split_rightly(source: &mut Source, seconds: usize, memory: f64) -> Option<bool> {
    let mut runs = Vec::new();
    for block in 0..BLOCKS {
        for arm in 0..2 {
            let level = 0.002 * source.normal();
            let of_run = source.autoregressive(memory, seconds);
            let of_run = of_run.iter().map(|second| (level + 0.1 * second).exp());
            runs.push((block, arm, vec![of_run.collect::<Vec<f64>>()]));
        }
    }
    let nested =
        runs.iter().map(|(block, arm, points)| NestedRun { block: *block, arm: *arm, points });
    let found = noise_sources(&nested.collect::<Vec<_>>())?;
    let is_described = found.independent_seconds >= FEWEST_INDEPENDENT;
    // Wrong is: two thirds are from run to run, so that longer points hardly help.
    is_described.then(|| found.seconds / (found.seconds + found.run) > 1.0 / 3.0)
}

pub fn studies() -> Vec<Study> {
    let mut studies = Studies::repeated(REPEATS);
    let counted = "number of blocks of points four times as long is right to a factor of four";
    let of_runs = Noise { block: 0.1, run: 0.02, second: 0.02 };
    let of_seconds = Noise { block: 0.1, run: 0.002, second: 0.1 };
    // What chance adds to the differences of 8 blocks is taken for noise of runs, which longer points do not help: it asks for too many.
    for (seed, simulated, noise, wild, promise) in [
        (501, "8 blocks of 20 s, noise mostly from run to run", of_runs, false, AtLeast(0.95)),
        (
            502,
            "8 blocks of 20 s, noise mostly from second to second (AR 0.5)",
            of_seconds,
            false,
            Between(0.8, 0.95),
        ),
        (
            503,
            "8 blocks of 20 s, noise of runs without variance (t, 2 degrees)",
            of_runs,
            true,
            Between(0.55, 0.8),
        ),
    ] {
        studies.add(seed, simulated, counted, promise, |source| {
            let ratio = forecast(source, noise, wild)?;
            Some((0.25..=4.0).contains(&ratio))
        });
    }
    let rightly = "“longer points hardly help” is not said";
    for (seed, simulated, seconds, memory) in [
        (504, "8 blocks of 20 s, noise of seconds without memory", 20, 0.0),
        (505, "8 blocks of 60 s, noise of seconds (AR 0.5)", 60, 0.5),
        (506, "8 blocks of 120 s, noise of seconds (AR 0.8)", 120, 0.8),
    ] {
        studies.add(seed, simulated, rightly, AtLeast(0.97), |source| {
            is_split_rightly(source, seconds, memory)
        });
    }
    let simulated = "8 blocks of 20 s, noise of seconds (AR 0.8)";
    let counted = "separated from noise of runs";
    studies.add(507, simulated, counted, AtMost(0.02), |source| {
        Some(is_split_rightly(source, SECONDS, 0.8).is_some())
    });
    studies.all
}
