//! What the experiment found of what was planted in its controls.

use super::description::{Told, table, what};
use super::{NAME, Page};
use crate::{text, words};
use maud::{Markup, html};
use plimsoll_judge::{Analysis, ControlResult};
use plimsoll_record::quantities::numbers::PAGE;

/// Titles of the columns behind the names.
const COLUMNS: [&str; 4] = ["Planted", "Found", "Interval", "Worse in"];

pub(super) fn is_known(analysis: &Analysis) -> bool {
    !analysis.controls.is_empty()
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let all = &page.report.analysis.controls;
    let description: Vec<Told<'_>> = all.iter().map(describe).collect();
    html! {
        p.lead {
            "Copies of the baseline, slowed down by a known share and measured beside the arms. What was planted and found would have been found in an arm as well; "
            "a copy without a slow-down that is called different is a false alarm."
        }
        (table(page, "Table of the controls", ("Control", &COLUMNS), &description))
    }
}

fn describe(result: &ControlResult) -> Told<'_> {
    let unknown = || "unknown".to_owned();
    let found = result.estimate.map(|found| PAGE.difference(found));
    let interval = result.interval;
    let interval = interval.map(|interval| PAGE.differences(result.estimate, interval));
    Told {
        sentence: &result.sentence,
        name: text::short(&result.control, NAME),
        what: what(&result.mix, &result.load_label, &words::metric(result.metric)),
        figures: vec![
            PAGE.difference(result.expected),
            found.unwrap_or_else(unknown),
            interval.unwrap_or_else(unknown),
            format!("{} of {}", result.worse_in, result.blocks),
        ],
    }
}
