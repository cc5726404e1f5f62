//! What two factors do, made up.

use plimsoll_judge::{
    Analysis, Cell, Change, CliffResult, CrossingResult, Dependence, Effect, EffectAt, EffectKind,
    EffectPlace, FactorResults, Judgement, Verdict,
};
use plimsoll_plan::{Design, Direction, Factor, Level, Metric, Quantity};

const DISKS: [&str; 3] = ["fast-5000", "san-raid10", "spinning-disk"];
const SIZES: [(&str, f64); 4] = [("92%", 0.92), ("138%", 1.38), ("182%", 1.82), ("230%", 2.30)];

fn change(factor: &str, baseline: &str, level: &str) -> Change {
    Change { factor: factor.into(), baseline: baseline.into(), level: level.into() }
}

fn verdict(judgement: Judgement, estimate: f64, (low, high): (f64, f64), p: f64) -> Verdict {
    Verdict {
        judgement,
        reason: (judgement == Judgement::Inconclusive).then(|| "the interval includes zero".into()),
        estimate: Some(estimate),
        interval: Some((low, high)),
        confidence: Some(0.969),
        p_value: Some(0.031),
        p_holm: Some(p),
        smallest_visible: Some(0.06),
        blocks: 6,
        margin: 0.03,
    }
}

/// The cells are the arms in their order: three disks for each size.
pub(crate) fn of_twelve(analysis: &Analysis) -> FactorResults {
    let point = analysis.curves.iter().flat_map(|curve| &curve.points).next();
    let place = EffectPlace {
        mix: analysis.mixes[0].clone(),
        point: point.and_then(|point| point.point).unwrap_or(0),
        load_label: point.map_or_else(String::new, |point| point.load_label.clone()),
        metric: Metric::Throughput,
        direction: Direction::HigherIsBetter,
    };
    let level = |name: &str, value: Option<f64>| Level { name: name.into(), value };
    let effect =
        |kind, change: Change, with: Option<Change>, within: Option<&str>, verdict: Verdict| {
            Effect {
                place: place.clone(),
                kind,
                sentence: format!("A sentence about {} {}.", change.factor, change.level),
                change,
                with,
                within: within.map(str::to_owned),
                depends_on: match kind {
                    EffectKind::Main => vec!["working_set".into()],
                    _ => Vec::new(),
                },
                values: (0..6).map(|block| (block, -0.5)).collect(),
                verdict,
            }
        };
    let spindle = || change("disk", DISKS[0], DISKS[2]);
    FactorResults {
        factors: vec![
            Factor {
                name: "disk".into(),
                levels: DISKS.iter().map(|name| level(name, None)).collect(),
                baseline: 0,
                quantity: None,
                refine: None,
            },
            Factor {
                name: "working_set".into(),
                levels: SIZES.iter().map(|(name, value)| level(name, Some(*value))).collect(),
                baseline: 0,
                quantity: Some(Quantity::Share),
                refine: None,
            },
        ],
        design: Design::Full,
        aliases: Vec::new(),
        compared: 0,
        scouting: None,
        cells: (0..)
            .zip(&analysis.arms)
            .map(|(index, arm)| Cell { arm: arm.name.clone(), levels: vec![index % 3, index / 3] })
            .collect(),
        effects: vec![
            effect(
                EffectKind::Main,
                spindle(),
                None,
                None,
                verdict(Judgement::Worse, -0.81, (-0.83, -0.79), 0.031),
            ),
            effect(
                EffectKind::Interaction,
                spindle(),
                Some(change("working_set", "92%", "230%")),
                None,
                verdict(Judgement::Worse, -0.95, (-0.96, -0.94), 0.031),
            ),
            effect(
                EffectKind::Simple,
                spindle(),
                None,
                Some("230%"),
                verdict(Judgement::Worse, -0.95, (-0.96, -0.94), 0.031),
            ),
            effect(
                EffectKind::Simple,
                spindle(),
                None,
                Some("92%"),
                verdict(Judgement::Inconclusive, 0.01, (-0.02, 0.04), 0.9),
            ),
        ],
        dependences: vec![Dependence {
            place: place.clone(),
            change: spindle(),
            on: "working_set".into(),
            at: SIZES
                .iter()
                .zip([0.01, -0.02, -0.9, -0.95])
                .map(|((name, _), estimate)| EffectAt {
                    level: (*name).into(),
                    estimate: Some(estimate),
                    interval: Some((estimate - 0.02, estimate + 0.02)),
                })
                .collect(),
            sentence: "The effect of the disk depends on the working set.".into(),
        }],
        cliffs: vec![CliffResult {
            place: place.clone(),
            axis: "working_set".into(),
            within: DISKS[2].into(),
            between: ("138%".into(), "182%".into()),
            change: -0.9,
            interval: Some((-0.91, -0.89)),
            sentence: "Throughput of the spinning disk falls most between 138% and 182%.".into(),
        }],
        crossings: vec![CrossingResult {
            place,
            axis: "working_set".into(),
            change: spindle(),
            within: String::new(),
            up_to: true,
            at: 1.4,
            interval: (Some(1.39), Some(1.42)),
            confidence: 0.969,
            sentence: "The spinning disk is as good as the fast one up to 139 to 142 %.".into(),
        }],
    }
}
