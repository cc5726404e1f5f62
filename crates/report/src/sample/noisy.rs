//! What duets, controls and the sources of noise would have shown.

use plimsoll_judge::{Analysis, ControlResult, DuetResult, NoiseResult};
use plimsoll_plan::Metric;

const LOAD: &str = "2 threads";

/// Gives it the results of duets with two controls, and of noise that is mostly from run to run.
pub fn noisy(analysis: &mut Analysis) {
    let arms: Vec<String> = analysis.arms.iter().map(|arm| arm.name.clone()).collect();
    let [baseline, others @ ..] = &arms[..] else {
        return;
    };
    let mix = analysis.mixes.first().cloned().unwrap_or_default();
    for (planted, estimate, is_found) in [(0.0, 0.001, false), (0.02, -0.021, true)] {
        let control = format!("control {:.0}%", planted * 100.0);
        let interval = (estimate - 0.008, estimate + 0.008);
        let sentence = match is_found {
            true => format!(
                "A slow-down of 2.0 % would have been found under workload {mix} at {LOAD}: it was planted, and found: throughput changed by -2.1 % (-2.9 % to -1.3 %), worse in 8 of 8 blocks."
            ),
            false => format!(
                "A copy of {baseline} was not called different under workload {mix} at {LOAD}, throughput changed by 0.1 % (-0.7 % to 0.9 %)."
            ),
        };
        analysis.controls.push(ControlResult {
            control,
            baseline: baseline.clone(),
            mix: mix.clone(),
            load_label: LOAD.into(),
            metric: Metric::Throughput,
            planted,
            expected: -planted,
            expected_least: -planted,
            estimate: Some(estimate),
            interval: Some(interval),
            blocks: 8,
            worse_in: if is_found { 8 } else { 4 },
            is_different: is_found,
            is_found,
            is_covered: Some(true),
            sentence,
        });
    }
    // Too few blocks for an interval.
    analysis.controls.push(ControlResult {
        control: "control 1%".into(),
        planted: 0.01,
        expected: -0.01,
        expected_least: -0.01,
        estimate: None,
        interval: None,
        blocks: 3,
        worse_in: 2,
        is_covered: None,
        sentence: format!(
            "What control 1% says under workload {mix} at {LOAD} is not known: 3 blocks of at least 6."
        ),
        ..analysis.controls[0].clone()
    });
    for arm in others {
        analysis.duets.push(DuetResult {
            baseline: baseline.clone(),
            arm: arm.clone(),
            mix: mix.clone(),
            point: 0,
            load_label: LOAD.into(),
            metric: Metric::Throughput,
            duets: 8,
            second_over_first: -0.012,
            second_over_first_interval: (-0.019, -0.005),
            are_alike: true,
            spread: 0.014,
            spread_apart: 0.051,
            correlation: 0.93,
            correlation_of_seconds: None,
            visible: Some(0.018),
            sentence: format!(
                "Workload {mix} at {LOAD}: both sides of a duet had most of their noise in common (correlation 0.93), so 8 duets tell as much as 106 blocks in turn would."
            ),
        });
        analysis.noise.push(NoiseResult {
            baseline: baseline.clone(),
            arm: arm.clone(),
            mix: mix.clone(),
            load_label: LOAD.into(),
            blocks: 8,
            explained: None,
            undisturbed: None,
            block: 0.034,
            run: 0.009,
            seconds: 0.004,
            share_of_seconds: 0.16,
            is_told_apart: true,
            point_seconds: 30.0,
            overhead_seconds: 6.4,
            points_of_a_run: 5,
            runs_in_turn: 1,
            margin: 0.03,
            sentence: "84 % of the noise of a difference is from run to run: longer points hardly help: each run has a load, a layout and a process of its own.".into(),
        });
    }
}
