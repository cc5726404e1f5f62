//! What duets tell of the halves of the machine.

use super::Page;
use super::description::{Told, pair, table, what};
use crate::words;
use maud::{Markup, html};
use plimsoll_judge::{Analysis, DuetResult};
use plimsoll_record::quantities::numbers::PAGE;

/// Titles of the columns behind the names.
const COLUMNS: [&str; 6] = [
    "Duets",
    "Difference varies by",
    "Apart it would",
    "Correlation of duets",
    "Correlation of seconds",
    "Second half over first",
];

pub(super) fn is_known(analysis: &Analysis) -> bool {
    !analysis.duets.is_empty()
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let all = &page.report.analysis.duets;
    let description: Vec<Told<'_>> = all.iter().map(describe).collect();
    html! {
        p.lead {
            "Both arms of a pair ran at the same time, each on a half of the machine, and changed halves from duet to duet. What happens to the machine happens to both sides, "
            "and cancels in their difference: the more so, the closer their correlation is to 1. What an engine does to itself does not cancel."
        }
        (table(page, "Table of the duets", ("Pair", &COLUMNS), &description))
    }
}

fn describe(result: &DuetResult) -> Told<'_> {
    let of_seconds = result.correlation_of_seconds;
    let of_seconds = of_seconds.map_or_else(|| "unknown".into(), |found| format!("{found:.2}"));
    let halves = result.second_over_first;
    let interval = PAGE.differences(Some(halves), result.second_over_first_interval);
    Told {
        sentence: &result.sentence,
        name: pair(&result.arm, &result.baseline),
        what: what(&result.mix, &result.load_label, &words::metric(result.metric)),
        figures: vec![
            result.duets.to_string(),
            PAGE.percent(result.spread),
            PAGE.percent(result.spread_apart),
            format!("{:.2}", result.correlation),
            of_seconds,
            format!("{} ({interval})", PAGE.difference(halves)),
        ],
    }
}
