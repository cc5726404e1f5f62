//! Where the noise of a comparison comes from: from second to second, from point to point, from run to run, or from block to block.

use crate::autocorrelation::mean_of_series;
use crate::summary::{mean, standard_deviation};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run of one arm: a load of its own, with points of the same kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NestedRun<'a> {
    /// Its block, counted from 0.
    pub block: u32,
    /// Its arm, counted from 0.
    pub arm: u32,
    /// The measured seconds of each point, all above zero on average.
    pub points: &'a [Vec<f64>],
}

/// Variances of the natural logarithm of what is measured, each by what is new at its level alone. A standard deviation of 0.03 is one of 3 %.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct NoiseSources {
    /// From block to block, in common for all arms. Comparisons within blocks are free of it.
    pub block: f64,
    /// From run to run of an arm: its load, its layout on disk and in memory, its process. With one point in each run that from point to point is in it.
    pub run: f64,
    /// From point to point of a run; `None` where no run has two.
    pub point: Option<f64>,
    /// From second to second: what it adds to the mean of a point of the length that was measured, with the memory between seconds.
    pub seconds: f64,
    /// How long a point was on average, in seconds.
    pub point_seconds: f64,
    /// As many independent seconds would say as much of its mean. Where they are few, how seconds remember each other is not known, nor what is theirs.
    pub independent_seconds: f64,
    /// Blocks in which every arm has a run; only these count.
    pub blocks: usize,
}

impl NoiseSources {
    /// Variance of one block's difference of two arms, as a logarithm, with so many points in each run, each so many times as long as they were.
    pub fn of_difference(&self, points: f64, longer: f64) -> f64 {
        let of_point = self.point.unwrap_or(0.0) + self.seconds / longer;
        // If a run's points do not differ from each other, more of them do not help.
        2.0 * (self.run + of_point / points)
    }
}

/// Separates the sources of noise; `None` with fewer than two arms, or two blocks in which every arm has a run.
///
/// Nested random effects (Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013), from the inside outwards. Seconds: the variance of
/// the mean by [`mean_of_series`], over the square of the mean. Points: the variance of ln(mean of a point) within runs, less what seconds explain. Runs: of the mean over a
/// run's points, what is left when the means of its arm and of its block are taken away, less what points and seconds explain. Blocks: the variance of the
/// means of blocks, less what runs explain. What comes out below zero is zero, so that small sources are overrated on average.
pub fn noise_sources(runs: &[NestedRun<'_>]) -> Option<NoiseSources> {
    let arms: Vec<u32> = keys(runs.iter().map(|run| run.arm));
    // By block and arm; the last attempt counts.
    let mut table: BTreeMap<u32, BTreeMap<u32, RunFigures>> = BTreeMap::new();
    for run in runs {
        if let Some(figures) = RunFigures::of(run.points) {
            table.entry(run.block).or_default().insert(run.arm, figures);
        }
    }
    table.retain(|_, of_block| of_block.len() == arms.len());
    let (blocks, columns) = (table.len(), arms.len());
    if blocks < 2 || columns < 2 {
        return None;
    }
    let all: Vec<&RunFigures> = table.values().flat_map(BTreeMap::values).collect();
    let average = |of: &dyn Fn(&RunFigures) -> f64| {
        all.iter().map(|run| of(run)).sum::<f64>() / all.len() as f64
    };
    let relative: Vec<Vec<f64>> = all.iter().flat_map(|run| run.relative.iter().cloned()).collect();
    let of_seconds = mean_of_series(&relative)?;
    let seconds = of_seconds.variance;
    let degrees: f64 = all.iter().map(|run| run.points - 1.0).sum();
    let within: f64 = all.iter().map(|run| run.squares).sum();
    let between_points = (degrees > 0.0).then(|| within / degrees);
    let point = between_points.map(|variance| (variance - seconds).max(0.0));
    // What a run's mean has of its points: each run has as many as it has.
    let of_points = average(&|run| between_points.unwrap_or(seconds) / run.points);
    let rows: Vec<Vec<f64>> =
        table.values().map(|of_block| of_block.values().map(|run| run.mean).collect()).collect();
    let of_rows: Vec<f64> = rows.iter().filter_map(|row| mean(row)).collect();
    let of_columns: Vec<f64> = (0..columns)
        .map(|column| rows.iter().map(|row| row[column]).sum::<f64>() / blocks as f64)
        .collect();
    let overall = mean(&of_rows)?;
    let mut residual = 0.0;
    for (row, of_row) in rows.iter().zip(&of_rows) {
        for (value, of_column) in row.iter().zip(&of_columns) {
            residual += (value - of_row - of_column + overall).powi(2);
        }
    }
    residual /= ((blocks - 1) * (columns - 1)) as f64;
    let between_rows = standard_deviation(&of_rows)?.powi(2);
    Some(NoiseSources {
        block: (between_rows - residual / columns as f64).max(0.0),
        run: (residual - of_points).max(0.0),
        point,
        seconds,
        point_seconds: of_seconds.length,
        independent_seconds: of_seconds.independent,
        blocks,
    })
}

struct RunFigures {
    /// Mean of the logarithms of its points' means.
    mean: f64,
    /// Sum of their squared distances from it.
    squares: f64,
    points: f64,
    /// The seconds of each, over their mean.
    relative: Vec<Vec<f64>>,
}

impl RunFigures {
    fn of(points: &[Vec<f64>]) -> Option<Self> {
        let (mut logarithms, mut relative) = (Vec::new(), Vec::new());
        for point in points {
            let centre = mean(point).filter(|centre| *centre > 0.0)?;
            relative.push(point.iter().map(|second| second / centre).collect());
            logarithms.push(centre.ln());
        }
        let count = logarithms.len() as f64;
        let centre = mean(&logarithms)?;
        Some(Self {
            mean: centre,
            squares: logarithms.iter().map(|one| (one - centre).powi(2)).sum(),
            points: count,
            relative,
        })
    }
}

fn keys(of: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut all: Vec<u32> = of.collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(runs: &[(u32, u32, Vec<Vec<f64>>)]) -> Option<NoiseSources> {
        let runs: Vec<_> = runs
            .iter()
            .map(|(block, arm, points)| NestedRun { block: *block, arm: *arm, points })
            .collect();
        noise_sources(&runs)
    }

    /// A point whose seconds do not vary.
    fn flat(logarithm: f64) -> Vec<f64> {
        vec![logarithm.exp(); 4]
    }

    #[test]
    fn each_level_is_known_where_the_others_are_still() {
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
        };
        // Blocks differ by 0.2, arms by 0.1: nothing else does.
        let blocks: Vec<_> = (0..2_u32)
            .flat_map(|block| (0..2_u32).map(move |arm| (block, arm)))
            .map(|(block, arm)| {
                let mean = 0.2 * f64::from(block) + 0.1 * f64::from(arm);
                (block, arm, vec![flat(mean), flat(mean)])
            })
            .collect();
        let found = sources(&blocks).unwrap();
        // The variance of 0 and 0.2 is 0.02.
        near(found.block, 0.02);
        near(found.run, 0.0);
        near(found.point.unwrap(), 0.0);
        near(found.seconds, 0.0);
        assert_eq!((found.blocks, found.point_seconds), (2, 4.0));

        // One run of four is 0.4 higher: residuals are ±0.1, 0.04 over one degree of freedom.
        let mut runs = blocks.clone();
        runs[0].2 = vec![flat(0.4), flat(0.4)];
        near(sources(&runs).unwrap().run, 0.04);

        // The points of every run are 0.2 apart, around what they were: variance 0.02 for a point, half of it in the mean of a run.
        let points: Vec<_> = blocks
            .iter()
            .map(|(block, arm, points)| {
                let mean = points[0][0].ln();
                (*block, *arm, vec![flat(mean - 0.1), flat(mean + 0.1)])
            })
            .collect();
        let found = sources(&points).unwrap();
        near(found.point.unwrap(), 0.02);
        near(found.run, 0.0);
        near(found.of_difference(4.0, 1.0), 2.0 * 0.02 / 4.0);

        // Seconds swing by a tenth: s² is 0.01·4/3 of four, over four of them.
        let swinging: Vec<_> =
            (0..4).map(|number| (number / 2, number % 2, vec![vec![0.9, 1.1, 0.9, 1.1]])).collect();
        let found = sources(&swinging).unwrap();
        near(found.seconds, 0.01 / 3.0);
        assert_eq!(found.point, None);
        near(found.of_difference(1.0, 4.0), 2.0 * 0.01 / 3.0 / 4.0);
    }

    #[test]
    fn blocks_that_lack_an_arm_do_not_count() {
        let run = |block, arm| (block, arm, vec![flat(0.0)]);
        assert_eq!(sources(&[run(0, 0), run(0, 1), run(1, 0)]), None);
        assert_eq!(sources(&[run(0, 0), run(1, 0)]), None, "one arm");
        let all = [run(0, 0), run(0, 1), run(1, 0), run(2, 0), run(2, 1)];
        assert_eq!(sources(&all).unwrap().blocks, 2);
        assert_eq!(sources(&[]), None);
    }
}
