//! What the factors of an experiment do: effects, cliffs, crossings.

use crate::Comparison;
use crate::arm_samples::ArmSamples;
use crate::contrast::Contrast;
use crate::factor_results::{Cell, EffectKind, FactorResults};
use plimsoll_plan::{Design, Plan, Source};
use plimsoll_stats::visible_with_spread;

/// `None` where arms are listed. Comparisons of two cells that are not certain among all effects say so.
pub(crate) fn factor_results(
    plan: &Plan,
    arms: &[ArmSamples],
    comparisons: &mut [Comparison],
) -> Option<FactorResults> {
    let compared = plan.compared_factor()?;
    let is_cell = |arm: &plimsoll_plan::Arm| arm.levels.len() == plan.factors.len();
    if !plan.arms.iter().all(is_cell) {
        return None;
    }
    let places = crate::effects::places(plan, arms);
    let effects = crate::effects::effects(plan, arms, &places, comparisons);
    let (cliffs, crossings) = match plan.design {
        Design::Full => (
            crate::axes::cliffs(plan, arms, &places),
            crate::axes::crossings(plan, arms, &places, &effects.all),
        ),
        Design::Screening | Design::Fraction => (Vec::new(), Vec::new()),
    };
    let cell =
        |arm: &plimsoll_plan::Arm| Cell { arm: arm.name.clone(), levels: arm.levels.clone() };
    Some(FactorResults {
        factors: plan.factors.clone(),
        design: plan.design,
        aliases: plan.aliases(),
        compared: crate::select::as_u32(compared),
        scouting: scouting(plan),
        cells: plan.arms.iter().map(cell).collect(),
        effects: effects.all,
        dependences: effects.dependences,
        cliffs,
        crossings,
    })
}

/// Which levels scouting chose, from where the plan says that they come.
fn scouting(plan: &Plan) -> Option<String> {
    let factor = &plan.factors[plan.refined_factor()?].name;
    let mut origins = plan.origins.iter();
    let (levels, experiments) = origins.find_map(|origin| match &origin.source {
        Source::Scouting { experiments } => Some((&origin.value, experiments)),
        _ => None,
    })?;
    let of = format!(
        "{} {}",
        match experiments.len() {
            1 => "experiment",
            _ => "experiments",
        },
        crate::words::list(experiments)
    );
    Some(match levels.is_empty() {
        true => format!("Scouting ({of}) found no level of {factor} to add."),
        false => format!(
            "Scouting chose the levels {levels} of {factor} ({of}); its runs are not judged here."
        ),
    })
}

/// Smallest effects that the blocks of a plan would most likely show (four times in five), as shares, where a cell varies by `spread` from run to run: for the kinds
/// of effects that the plan has, each for the contrast with the most noise. Alone; among many effects somewhat more is needed.
pub fn visible_effects(plan: &Plan, spread: f64) -> Vec<(EffectKind, f64)> {
    let mut kinds: Vec<(EffectKind, f64)> = Vec::new();
    for (kind, contrast) in crate::effects::contrasts(plan) {
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, noise)) => *noise = noise.max(Contrast::noise(&contrast)),
            None => kinds.push((kind, contrast.noise())),
        }
    }
    let visible = |noise: f64| {
        // Its own noise is that of a difference of two cells.
        let of_cell = spread * noise / std::f64::consts::SQRT_2;
        let blocks = plan.blocks_of_a_pair(plan.measurement.blocks);
        visible_with_spread(of_cell, blocks as usize).map(f64::exp_m1)
    };
    let found = kinds.into_iter();
    found.filter_map(|(kind, noise)| Some((kind, visible(noise)?))).collect()
}
