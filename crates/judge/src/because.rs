//! What held the two arms of a comparison back, as a sentence beside its verdict.

use crate::{Cause, CauseKind, Comparison, Curve, LineResult};

/// Gives every comparison the causes of its two arms.
pub(crate) fn explain(comparisons: &mut [Comparison], curves: &[Curve], lines: &[LineResult]) {
    for comparison in comparisons {
        let of = |arm: &str| cause_of(curves, lines, arm, &comparison.mix, comparison.point);
        let (baseline, arm) = (of(&comparison.baseline), of(&comparison.arm));
        comparison.because = sentence((&comparison.baseline, baseline), (&comparison.arm, arm));
    }
}

/// The cause of an arm at a point; at the line what limits it beyond that.
pub(crate) fn cause_of<'a>(
    curves: &'a [Curve],
    lines: &'a [LineResult],
    arm: &str,
    mix: &str,
    point: u32,
) -> Option<&'a Cause> {
    let line = lines
        .iter()
        .find(|line| line.arm == arm && line.mix == mix && line.point == point);
    if let Some(line) = line {
        return line.limit.as_ref();
    }
    let curve = curves
        .iter()
        .find(|curve| curve.arm == arm && curve.mix == mix)?;
    let found = curve.points.iter().find(|one| one.point == Some(point))?;
    found.cause.as_ref()
}

/// `Because slow is held back by disk IOPS: 598 of 600 used, …; and fast by CPU: ….`
fn sentence(baseline: (&str, Option<&Cause>), arm: (&str, Option<&Cause>)) -> Option<String> {
    if baseline.1.is_none() && arm.1.is_none() {
        return None;
    }
    // Where both do what is asked of them, nothing is held back that could explain a difference.
    let does_all = |cause: Option<&Cause>| cause.is_some_and(|one| one.kind == CauseKind::Offered);
    if does_all(baseline.1) && does_all(arm.1) {
        return None;
    }
    let words = |(name, cause): (&str, Option<&Cause>)| match cause {
        None => format!("of {name} nothing was watched"),
        Some(cause) => match cause.kind {
            CauseKind::Unknown => format!("what holds {name} back is not known"),
            CauseKind::Offered => {
                let figures = cause.sentence.split_once(": ");
                let figures = figures.map_or(cause.sentence.as_str(), |(_, figures)| figures);
                format!("{name} does what is asked of it ({figures})")
            }
            _ => format!("{name} is held back by {}", cause.sentence),
        },
    };
    Some(format!("Because {}; and {}.", words(baseline), words(arm)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(kind: CauseKind, figures: &str) -> Cause {
        Cause {
            kind,
            sentence: format!("{}: {figures}", kind.name()),
            identities: Vec::new(),
            rules: Vec::new(),
        }
    }

    #[test]
    fn both_arms_are_explained() {
        let disk = cause(CauseKind::DiskIops, "598 of 600 used");
        let offered = cause(CauseKind::Offered, "100.0 % of 200 op/s done");
        assert_eq!(
            sentence(("slow", Some(&disk)), ("fast", Some(&offered))).unwrap(),
            "Because slow is held back by disk IOPS: 598 of 600 used; and fast does what is asked of it (100.0 % of 200 op/s done)."
        );
        assert_eq!(
            sentence(("slow", Some(&disk)), ("fast", None)).unwrap(),
            "Because slow is held back by disk IOPS: 598 of 600 used; and of fast nothing was watched."
        );
        assert_eq!(sentence(("slow", None), ("fast", None)), None);
        let both = sentence(("slow", Some(&offered)), ("fast", Some(&offered)));
        assert_eq!(both, None);
    }
}
