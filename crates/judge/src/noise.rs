//! Where the noise of a comparison comes from, and what to do about it: longer points, or more blocks.

use crate::NoiseResult;
use crate::arm_samples::ArmSamples;
use crate::deciding::deciding_point;
use crate::duets::paired_seconds;
use crate::estimate::CONFIDENCE;
use crate::matched::Matched;
use crate::pauses::span;
use crate::roles::{is_line, load_label};
use crate::sample::Sample;
use crate::select::Selection;
use crate::words;
use crate::words::{counted, percent};
use plimsoll_plan::{Metric, Plan};
use plimsoll_record::quantities::units;
use plimsoll_stats::{
    NestedRun, NoiseSources, blocks_to_see, halves, mean, mean_of_series, median, noise_sources,
};
use plimsoll_workload::schedule::Load;

/// Lengths of a point that are considered, seconds. Shorter ones cannot be judged for steadiness.
const LENGTHS: [f64; 7] = [10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0];
/// A plan is only said to be better than the one that was made where it takes less than this share of its time.
const WORTH_SAYING: f64 = 0.8;
/// Independent seconds of a point below which their noise is not distinguished from that of runs: see "Where the noise comes from" in the table of `docs/methods.md`.
const FEWEST_INDEPENDENT: f64 = 10.0;
/// A share of the noise from which on it is most of it.
const MOST: f64 = 2.0 / 3.0;

/// How an experiment would reach a difference.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Reach {
    /// Measured seconds of each point.
    pub point_seconds: f64,
    /// Blocks in which the two arms are compared.
    pub blocks: usize,
    /// How long those take, seconds.
    pub seconds: f64,
}

/// For each pair of arms and each mix whose throughput is compared in a closed loop.
pub(crate) fn noise(
    plan: &Plan,
    selection: &Selection<'_>,
    arms: &[ArmSamples],
) -> Vec<NoiseResult> {
    let mut results = Vec::new();
    for pair in plan.pairs() {
        for (mix_index, mix) in plan.mixes.iter().enumerate() {
            let Ok(point) = deciding_point(plan, mix_index, arms, pair[0]) else {
                continue;
            };
            let planned = &plan.points[point];
            if is_line(planned) || !matches!(planned.load, Load::Closed { .. }) {
                continue;
            }
            let samples = pair.map(|arm| &arms[arm].points[point][..]);
            let matched = Matched::in_plan(plan, arms, pair, point, Metric::Throughput);
            let Some(mut sources) = sources(plan, pair, samples, |block| matched.has(block)) else {
                continue;
            };
            let explained = matched.explained();
            sources.run *= 1.0 - explained.unwrap_or(0.0);
            sources.seconds *= 1.0 - explained.unwrap_or(0.0);
            let Some(overhead_seconds) = overhead(selection, pair) else {
                continue;
            };
            let of_difference = sources.of_difference(1.0, 1.0);
            if of_difference <= 0.0 {
                continue;
            }
            let mut result = NoiseResult {
                baseline: plan.arms[pair[0]].name.clone(),
                arm: plan.arms[pair[1]].name.clone(),
                mix: mix.name.clone(),
                load_label: load_label(planned),
                blocks: sources.blocks,
                explained,
                undisturbed: matched.undisturbed().map(|duets| duets.share()),
                block: sources.block.sqrt(),
                run: sources.run.sqrt(),
                seconds: sources.seconds.sqrt(),
                share_of_seconds: 2.0 * sources.seconds / of_difference,
                is_told_apart: sources.independent_seconds >= FEWEST_INDEPENDENT,
                point_seconds: sources.point_seconds,
                overhead_seconds,
                points_of_a_run: plan.points.len(),
                runs_in_turn: 2 / plan.at_once(),
                margin: crate::comparison::rule(plan, Metric::Throughput).margin(),
                sentence: String::new(),
            };
            result.sentence = sentence(&result);
            results.push(result);
        }
    }
    results
}

/// In turn by the nested components of the runs of both arms. In duets by the differences of the two sides, which are free of what both had in common.
fn sources(
    plan: &Plan,
    pair: [usize; 2],
    samples: [&[Sample]; 2],
    is_judged: impl Fn(u32) -> bool,
) -> Option<NoiseSources> {
    let mut runs = Vec::new();
    for (arm, of_arm) in (0..).zip(samples) {
        let valid = of_arm.iter().filter(|sample| sample.result.valid);
        for sample in valid.filter(|sample| is_judged(sample.result.block)) {
            let seconds = sample.kept_seconds().map(|(_, value)| value);
            runs.push((sample.result.block, arm, vec![seconds.collect::<Vec<f64>>()]));
        }
    }
    let nested =
        runs.iter().map(|(block, arm, points)| NestedRun { block: *block, arm: *arm, points });
    let nested = noise_sources(&nested.collect::<Vec<_>>())?;
    let matched = Matched::within(samples, Metric::Throughput, is_judged);
    let Some(duets) = matched.duets(plan, pair[1]) else {
        return Some(nested);
    };
    let of_difference = halves(&duets, CONFIDENCE)?.spread.powi(2);
    let mut series = Vec::new();
    for (block, _, _) in &matched.values {
        let pairs = paired_seconds(samples, *block);
        let (ones, others): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        if let (Some(one), Some(other)) = (mean(&ones), mean(&others)) {
            let both = ones.iter().zip(&others);
            series.push(both.map(|(a, b)| a / one - b / other).collect());
        }
    }
    let found = mean_of_series(&series)?;
    let of_seconds = found.variance.min(of_difference);
    Some(NoiseSources {
        seconds: of_seconds / 2.0,
        run: (of_difference - of_seconds) / 2.0,
        independent_seconds: found.independent,
        ..nested
    })
}

/// What a run takes besides its measured seconds: its load, its warm-ups, and making what it stands on. Seconds, the median over the runs of both arms.
fn overhead(selection: &Selection<'_>, pair: [usize; 2]) -> Option<f64> {
    let runs = pair.into_iter().flat_map(|arm| selection.finished[arm].values());
    let besides = runs.filter_map(|run| {
        let (begun, ended) = span(run)?;
        let ends = run.points.iter().filter_map(|point| point.end.as_ref());
        let measured: u64 = ends.map(|end| end.measured_ns).sum();
        Some((ended - begun - measured as f64 / 1e9).max(0.0))
    });
    median(&besides.collect::<Vec<f64>>())
}

impl NoiseResult {
    /// What an experiment with points of this length takes to find this difference four times in five; `None` where no number of blocks would.
    pub fn reach(&self, share: f64, point_seconds: f64) -> Option<Reach> {
        let longer = point_seconds / self.point_seconds;
        let of_arm = (self.run.powi(2) + self.seconds.powi(2) / longer).sqrt();
        let judged = blocks_to_see(of_arm, share)? as f64;
        let blocks = (judged / self.undisturbed.unwrap_or(1.0)).ceil() as usize;
        let run = self.overhead_seconds + point_seconds * self.points_of_a_run as f64;
        Some(Reach {
            point_seconds,
            blocks,
            seconds: run * self.runs_in_turn as f64 * blocks as f64,
        })
    }

    /// The length of a point with which it is found soonest; that which was measured, where nothing is known of others.
    pub fn soonest(&self, share: f64) -> Option<Reach> {
        let others: &[f64] = if self.is_told_apart { &LENGTHS } else { &[] };
        let lengths = others.iter().copied().chain([self.point_seconds]);
        lengths
            .filter_map(|length| self.reach(share, length))
            .min_by(|one, other| one.seconds.total_cmp(&other.seconds))
    }
}

fn sentence(result: &NoiseResult) -> String {
    let of_runs = 1.0 - result.share_of_seconds;
    let (from, remedy) = match result.share_of_seconds {
        share if share >= MOST => (
            format!("{} of the noise of a difference is from second to second", percent(share, 0)),
            "longer points help as much as more blocks",
        ),
        _ if of_runs >= MOST => (
            format!("{} of the noise of a difference is from run to run", percent(of_runs, 0)),
            "longer points hardly help: each run has a load, a layout and a process of its own",
        ),
        share => (
            format!(
                "{} of the noise of a difference is from second to second, the rest from run to run",
                percent(share, 0)
            ),
            "longer points help a part of it",
        ),
    };
    let mut text = match result.is_told_apart {
        true => format!("{from}: {remedy}."),
        false => format!(
            "Points of {} are too short to say where the noise comes from: longer ones can tell.",
            seconds(result.point_seconds)
        ),
    };
    if let Some(explained) = result.explained {
        let before = format!(
            "What other programs took of the processors made {} of the noise of a difference, and is taken out. Of the rest: ",
            percent(explained, 0)
        );
        text.insert_str(0, &before);
    }
    if let Some(share) = result.undisturbed {
        let before = format!(
            "Other programs preferred a side of some duets; {} of all can be judged. Of the noise of those: ",
            percent(share, 0)
        );
        text.insert_str(0, &before);
    }
    let now = result.reach(result.margin, result.point_seconds);
    if let (Some(now), Some(best)) = (now, result.soonest(result.margin)) {
        let in_words = |reach: Reach| {
            format!(
                "{} of {}, about {}",
                counted(reach.blocks, "block"),
                seconds(reach.point_seconds),
                units::about((reach.seconds * 1e9) as u64)
            )
        };
        text.push_str(&format!(
            " To find a difference of {} takes {}",
            words::percent(result.margin, 0),
            in_words(now)
        ));
        if best.seconds < WORTH_SAYING * now.seconds {
            text.push_str(&format!("; the quickest way is {}", in_words(best)));
        }
        text.push('.');
    }
    text
}

fn seconds(length: f64) -> String {
    format!("{length:.0} s")
}
