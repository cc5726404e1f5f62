//! Comparisons in two lines each: the word with its figures, and what was compared.

use super::screen::{Screen, paint};
use super::{DIM, heading, paragraph, wrap};
use crate::{select, text, words};
use anstyle::{AnsiColor, Style};
use plimsoll_judge::{Analysis, Comparison, Effect, Judgement, UnpairedComparison, Verdict};
use plimsoll_plan::Metric;

const ENTRIES: usize = 60;

/// One comparison, within an experiment or between two.
pub(super) struct Row<'a> {
    mix: &'a str,
    load_label: &'a str,
    metric: Metric,
    primary: bool,
    verdict: &'a Verdict,
    /// Who against whom; empty where a heading says so.
    sides: String,
    /// What limited both, where that is known.
    because: Option<&'a str>,
    /// What their servers do differently.
    plans: Option<&'a str>,
    /// What an operation costs each of them, where that differs.
    cost_difference: Option<&'a str>,
    /// What was counted: blocks, or runs of each side.
    unit: &'static str,
    /// Runs of the arm and of the baseline, where one has more.
    uneven: Option<[usize; 2]>,
    /// How many blocks would settle it, where that is worth saying.
    needed: Option<String>,
}

impl<'a> From<&'a Comparison> for Row<'a> {
    fn from(comparison: &'a Comparison) -> Self {
        Self {
            mix: &comparison.mix,
            load_label: &comparison.load_label,
            metric: comparison.metric,
            primary: comparison.primary,
            verdict: &comparison.verdict,
            sides: format!(
                "{} against {}, ",
                text::short(&comparison.arm, 40),
                text::short(&comparison.baseline, 40)
            ),
            because: comparison.because.as_deref().filter(|_| comparison.primary),
            plans: comparison.plans.as_deref().filter(|_| comparison.primary),
            cost_difference: comparison.cost_difference.as_deref().filter(|_| comparison.primary),
            unit: if comparison.apart.is_some() { "run" } else { "block" },
            uneven: None,
            needed: None,
        }
    }
}

impl<'a> From<&'a UnpairedComparison> for Row<'a> {
    fn from(comparison: &'a UnpairedComparison) -> Self {
        Self {
            mix: &comparison.mix,
            load_label: &comparison.load_label,
            metric: comparison.metric,
            primary: comparison.primary,
            verdict: &comparison.verdict,
            sides: String::new(),
            because: None,
            plans: None,
            cost_difference: None,
            unit: if comparison.paired { "block" } else { "run" },
            uneven: Some([&comparison.values, &comparison.baseline_values].map(Vec::len))
                .filter(|[runs, of_baseline]| runs != of_baseline),
            needed: None,
        }
    }
}

impl<'a> Row<'a> {
    /// An effect of a factor, with the remarks below it first.
    pub(super) fn of_effect(effect: &'a Effect, name: &str) -> Self {
        Self {
            mix: &effect.place.mix,
            load_label: &effect.place.load_label,
            metric: effect.place.metric,
            primary: true,
            verdict: &effect.verdict,
            sides: name.to_owned(),
            because: None,
            plans: None,
            cost_difference: None,
            unit: "block",
            uneven: None,
            needed: None,
        }
    }

    /// A comparison within an experiment, with how many blocks it needs.
    pub(super) fn of(analysis: &Analysis, comparison: &'a Comparison, screen: &Screen) -> Self {
        let needed = select::blocks_needed(analysis, comparison);
        Self {
            needed: needed.and_then(|needed| words::blocks_needed(needed, screen.numbers())),
            ..Self::from(comparison)
        }
    }
}

impl Row<'_> {
    /// The same without saying what held its arms back.
    pub(super) fn without_cause(self) -> Self {
        Self { because: None, plans: None, cost_difference: None, ..self }
    }
}

/// The deciding ones under one heading, the exploratory ones under another.
pub(super) fn by_weight(out: &mut String, rows: &[Row<'_>], screen: &Screen) {
    if rows.is_empty() {
        out.push_str("\n  nothing could be compared\n");
    }
    for (primary, name) in [(true, "deciding comparisons"), (false, "exploratory comparisons")] {
        let chosen: Vec<&Row<'_>> = rows.iter().filter(|row| row.primary == primary).collect();
        if !chosen.is_empty() {
            heading(out, name);
            list(out, &chosen, screen);
        }
    }
}

pub(super) fn list(out: &mut String, rows: &[&Row<'_>], screen: &Screen) {
    let numbers = screen.numbers();
    for row in rows.iter().take(ENTRIES) {
        let verdict = row.verdict;
        let mark = words::judgement_mark(verdict.judgement, screen.unicode);
        let word = words::judgement(verdict.judgement);
        let figures = verdict
            .estimate
            .map_or_else(|| "no estimate".into(), |share| numbers.difference(share));
        let interval = match verdict.interval {
            Some(interval) => format!(" ({})", numbers.differences(row.verdict.estimate, interval)),
            None => String::new(),
        };
        let what = format!(
            "{}, {}",
            text::short(row.mix, 24),
            words::compared(&text::short(row.load_label, 24), row.metric, ", ")
        );
        let judged = format!("{mark} {}", wrap::padded(word, 12));
        let description =
            screen.short(&format!("{figures}{interval}  {what}"), screen.width.saturating_sub(18));
        out.push_str(&format!(
            "  {}  {description}\n",
            paint(judgement_style(verdict.judgement), &judged)
        ));
        paragraph(out, DIM, &beneath(row, screen), 6, screen);
        if let Some(needed) = &row.needed {
            paragraph(out, Style::new(), needed, 6, screen);
        }
        for words in row.plans.iter().chain(&row.cost_difference) {
            paragraph(out, Style::new(), words, 6, screen);
        }
        if let Some(because) = row.because {
            paragraph(out, DIM, because, 6, screen);
        }
    }
    if rows.len() > ENTRIES {
        out.push_str(&format!("  and {} more, in the JSON\n", rows.len() - ENTRIES));
    }
}

fn beneath(row: &Row<'_>, screen: &Screen) -> String {
    let numbers = screen.numbers();
    let counted = match row.uneven {
        Some([runs, of_baseline]) => {
            format!("{} against {of_baseline}", words::counted(runs as u64, row.unit, numbers))
        }
        None => words::counted(row.verdict.blocks.into(), row.unit, numbers),
    };
    let reason = row.verdict.reason.as_deref();
    // A reason that counts says it itself.
    let counts = reason.is_some_and(|reason| reason.starts_with(&counted));
    let mut description = row.sides.clone();
    if !counts {
        description.push_str(&counted);
    }
    if let Some(share) = row.verdict.smallest_visible
        && !words::is_decided(row.verdict.judgement)
    {
        description
            .push_str(&format!(" could detect a difference of {} or more", numbers.visible(share)));
    }
    if let Some(reason) = reason {
        description.push_str(if counts { "" } else { "; " });
        description.push_str(reason);
    }
    description
}

fn judgement_style(judgement: Judgement) -> Style {
    match judgement {
        Judgement::Better => AnsiColor::Green.on_default().bold(),
        Judgement::Worse => AnsiColor::Red.on_default().bold(),
        Judgement::Equivalent => Style::new().bold(),
        Judgement::Inconclusive => AnsiColor::Yellow.on_default().bold(),
    }
}
