//! What operations cost, where arms have a price.

use crate::arm_samples::ArmSamples;
use crate::sample::Sample;
use crate::words::list;
use crate::{CostResult, Curve, CurvePoint, Estimate};
use plimsoll_plan::{Arm, Metric, Plan};
use plimsoll_record::{Price, Warning, WarningId};

/// Whether costs of two arms can be set against each other, or why not, as the end of a sentence.
pub(crate) fn in_one_currency(arms: [&Arm; 2]) -> Result<(), String> {
    match arms.map(|arm| arm.rig.price.as_ref()) {
        [Some(a), Some(b)] if a.currency == b.currency => Ok(()),
        [Some(a), Some(b)] => Err(format!(
            "{} is priced in {}, {} in {}",
            arms[0].name, a.currency, arms[1].name, b.currency
        )),
        prices => {
            let mut without = Vec::new();
            for (arm, price) in arms.iter().zip(prices) {
                if price.is_none() {
                    without.push(arm.name.clone());
                }
            }
            let verb = if without.len() == 1 { "has" } else { "have" };
            Err(format!("{} {verb} no price", list(&without)))
        }
    }
}

/// Prices that cannot be set against each other: where some arms have one and others none, or they are in several currencies, or where cost decides and
/// nothing has a price.
pub(crate) fn warning(plan: &Plan) -> Option<Warning> {
    let mut without = Vec::new();
    let mut currencies: Vec<(&str, Vec<String>)> = Vec::new();
    for arm in plan.arms.iter().filter(|arm| arm.planted.is_none()) {
        let Some(price) = &arm.rig.price else {
            without.push(arm.name.clone());
            continue;
        };
        let known = currencies.iter_mut().find(|(currency, _)| *currency == price.currency);
        match known {
            Some((_, arms)) => arms.push(arm.name.clone()),
            None => currencies.push((&price.currency, vec![arm.name.clone()])),
        }
    }
    let decides = plan.compare.primary.contains(&Metric::Cost);
    let is_compared = plan.has_several_arms() && (decides || !currencies.is_empty());
    let has_none = decides && currencies.is_empty();
    let differ = !currencies.is_empty() && !without.is_empty() || currencies.len() > 1;
    if !(is_compared && differ || has_none) {
        return None;
    }
    let mut parts = Vec::new();
    for (currency, arms) in &currencies {
        let verb = if arms.len() == 1 { "is" } else { "are" };
        parts.push(format!("{} {verb} priced in {currency}", list(arms)));
    }
    if !without.is_empty() {
        let verb = if without.len() == 1 { "has" } else { "have" };
        parts.push(format!("{} {verb} no price", list(&without)));
    }
    let message = format!("{}: their costs are not compared", list(&parts));
    Some(Warning::new(WarningId::Prices, "price", message))
}

/// One for each arm with a price and each mix that it measured.
pub(crate) fn costs(plan: &Plan, arms: &[ArmSamples], curves: &[Curve]) -> Vec<CostResult> {
    let mut costs = Vec::new();
    for (arm, samples) in plan.arms.iter().zip(arms) {
        let Some(price) = arm.rig.price.as_ref().filter(|_| arm.planted.is_none()) else {
            continue;
        };
        for (mix_index, mix) in plan.mixes.iter().enumerate() {
            let curve = crate::curve::curve_of(curves, &arm.name, &mix.name);
            let at = |point: Option<&CurvePoint>| {
                let point = point?;
                let index = usize::try_from(point.point?).ok()?;
                let estimate = over_blocks(samples.points.get(index)?)?;
                Some((point.load_label.clone(), estimate))
            };
            let line = crate::roles::line_point(plan, mix_index);
            let result = CostResult {
                arm: arm.name.clone(),
                mix: mix.name.clone(),
                currency: price.currency.clone(),
                per_hour: price.per_hour,
                source: source(price),
                at_knee: at(curve.and_then(knee)),
                at_best: at(curve.and_then(best)),
                at_line: line.and_then(|point| over_blocks(&samples.points[point])),
            };
            if result.at_knee.is_some() || result.at_best.is_some() || result.at_line.is_some() {
                costs.push(result);
            }
        }
    }
    costs
}

fn over_blocks(samples: &[Sample]) -> Option<Estimate> {
    let values = samples
        .iter()
        .filter_map(|sample| Some((sample.result.block, sample.reading(Metric::Cost)?.value)));
    let estimate = Estimate::over_blocks(values);
    estimate.median.map(|_| estimate)
}

/// Where the price was read, and when.
fn source(price: &Price) -> Option<String> {
    match (&price.source, &price.date) {
        (Some(source), Some(date)) => Some(format!("{source}, {date}")),
        (one, other) => one.clone().or_else(|| other.clone()),
    }
}

/// The point at the knee of a curve.
fn knee(curve: &Curve) -> Option<&CurvePoint> {
    let knee = curve.knee.as_ref()?;
    curve.points.iter().find(|point| point.load_label == knee.load_label)
}

/// The point with the highest throughput.
fn best(curve: &Curve) -> Option<&CurvePoint> {
    let mut best: Option<(&CurvePoint, f64)> = None;
    for point in &curve.points {
        if let Some(throughput) = point.throughput.median
            && best.is_none_or(|(_, highest)| throughput > highest)
        {
            best = Some((point, throughput));
        }
    }
    best.map(|(point, _)| point)
}
