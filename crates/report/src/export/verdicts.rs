//! One row for each comparison. Differences are shares: 0.03 is 3 % more than the baseline.

use crate::table::{Rows, table};
use crate::words;
use plimsoll_judge::{Analysis, Comparison};
use std::io;

table! {
    fn row<'a>(analysis: &'a Analysis, one: &'a Comparison);
    let verdict = &one.verdict;
    "experiment_id": Text = &analysis.id;
    "experiment": Text = &analysis.name;
    "arm": Text = &one.arm;
    "baseline": Text = &one.baseline;
    "mix": Text = &one.mix;
    "point": Integer = one.point;
    "load": Text = &one.load_label;
    "metric": Text = one.metric.name();
    "decides": Flag = one.primary;
    "judgement": Text = words::judgement(verdict.judgement);
    "estimate": Number = verdict.estimate;
    "lower": Number = verdict.interval.map(|(lower, _)| lower);
    "upper": Number = verdict.interval.map(|(_, upper)| upper);
    "confidence": Number = verdict.confidence;
    "p_value": Number = verdict.p_value;
    "margin": Number = verdict.margin;
    "smallest_visible": Number = verdict.smallest_visible;
    "blocks": Integer = verdict.blocks;
    "sentence": Text = &one.sentence;
}

pub(super) fn write(analysis: &Analysis, take: &mut Rows<'_>) -> io::Result<()> {
    for comparison in &analysis.comparisons {
        take(&row(analysis, comparison))?;
    }
    Ok(())
}
