//! Gates, thresholds, differences and warnings.

use super::screen::{Screen, paint};
use super::sign::Signs;
use super::{BOLD, DIM, heading, paragraph, wrap};
use crate::factors::by_value;
use crate::{select, text, words};
use anstyle::{AnsiColor, Style};
use plimsoll_judge::{
    Analysis, Difference, FactorResults, ThresholdResult, Validity, ValidityState,
};
use plimsoll_record::Warning;

/// Thresholds and differences in one list.
const ENTRIES: usize = 24;
const PLACES: usize = 3;
/// Columns of the places of a warning, over several lines. Only unknown names are cut by it.
const SUBJECT: usize = 480;

pub(super) fn state_style(state: ValidityState) -> Style {
    match state {
        ValidityState::Good => AnsiColor::Green.on_default(),
        ValidityState::Note => AnsiColor::Blue.on_default(),
        ValidityState::Caution => AnsiColor::Yellow.on_default(),
        ValidityState::Bad => AnsiColor::Red.on_default().bold(),
    }
}

/// Good gates by their names on one line, each of the others with its figures.
pub(super) fn validity(out: &mut String, entries: &[Validity], screen: &Screen) {
    if entries.is_empty() {
        return;
    }
    out.push('\n');
    let sign = |state| paint(state_style(state), words::validity_mark(state, screen.unicode));
    let good: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.state == ValidityState::Good)
        .map(|entry| entry.name.as_str())
        .collect();
    if !good.is_empty() {
        let lines = wrap::wrapped(&good.join(", "), screen.width.saturating_sub(5));
        hanging(out, &sign(ValidityState::Good), &lines, screen);
    }
    for entry in entries.iter().filter(|entry| entry.state != ValidityState::Good) {
        let description = format!("{}: {}", entry.name, entry.text);
        let lines = wrap::wrapped(&description, screen.width.saturating_sub(5));
        hanging(out, &sign(entry.state), &lines, screen);
    }
}

/// A sign, and lines of text beside it.
fn hanging(out: &mut String, sign: &str, lines: &[String], screen: &Screen) {
    for (number, line) in lines.iter().enumerate() {
        let line = screen.plain(line);
        if number == 0 {
            out.push_str(&format!("  {sign} {line}\n"));
        } else {
            out.push_str(&format!("    {line}\n"));
        }
    }
}

pub(super) fn thresholds(out: &mut String, thresholds: &[ThresholdResult], screen: &Screen) {
    if thresholds.is_empty() {
        return;
    }
    heading(out, "thresholds");
    for threshold in thresholds.iter().take(ENTRIES) {
        let state = if threshold.passed { ValidityState::Good } else { ValidityState::Bad };
        let mark = paint(state_style(state), words::validity_mark(state, screen.unicode));
        out.push_str(&format!(
            "  {mark} {}\n",
            screen.short(&threshold.text, screen.width.saturating_sub(6))
        ));
        let result = result_of(threshold, screen);
        paragraph(
            out,
            DIM,
            &format!("{}: {result}", text::short(&threshold.subject, 60)),
            4,
            screen,
        );
    }
    if thresholds.len() > ENTRIES {
        out.push_str(&format!(
            "  and {} more, on the page and in analysis.json\n",
            thresholds.len() - ENTRIES
        ));
    }
}

/// Whether a threshold holds, and with which figure.
pub(super) fn result_of(threshold: &ThresholdResult, screen: &Screen) -> String {
    let measured = |value| words::threshold_value(&threshold.text, value, screen.numbers());
    if let Some(why) = &threshold.why {
        return format!("FAILED: {}", text::line(why));
    }
    match (threshold.measured, threshold.passed) {
        (Some(value), true) => format!("holds with {}", measured(value)),
        (Some(value), false) => format!(
            "FAILED: {} measured, {}",
            measured(value),
            text::short(&words::required(&threshold.text), 40)
        ),
        (None, _) => "FAILED: no valid sample".into(),
    }
}

/// A list of points is cut nowhere but in names that are too long, which `cut` does.
pub(super) fn warnings(
    out: &mut String,
    warnings: &[Warning],
    cut: impl Fn(&str) -> String,
    screen: &Screen,
) {
    let kinds = select::by_kind(warnings);
    if kinds.is_empty() {
        return;
    }
    heading(out, "warnings");
    for (id, severity, places) in kinds {
        let state = words::severity_state(severity);
        let mark = paint(state_style(state), words::validity_mark(state, screen.unicode));
        out.push_str(&format!(
            "  {mark} {} {}\n",
            paint(BOLD, id.id()),
            paint(DIM, words::severity(severity))
        ));
        for warning in places.iter().take(PLACES) {
            let subject = if warning.subject.is_empty() {
                String::new()
            } else {
                format!("{}: ", text::short(&cut(&warning.subject), SUBJECT))
            };
            paragraph(out, Style::new(), &format!("{subject}{}", warning.message), 4, screen);
        }
        if places.len() > PLACES {
            out.push_str(&format!("    and {} more\n", places.len() - PLACES));
        }
        let arrow = if screen.unicode { "→" } else { "->" };
        paragraph(out, DIM, &format!("{arrow} {}", id.advice()), 4, screen);
    }
}

/// What the arms of an experiment differ in, the declared ones first, and in which order they were measured.
pub(super) fn differed(out: &mut String, analysis: &Analysis, signs: &Signs<'_>, screen: &Screen) {
    if analysis.arms.len() < 2 {
        return;
    }
    differences(out, &analysis.differences, analysis.factors.as_ref(), screen);
    let blocks = &analysis.progress.order;
    if blocks.is_empty() {
        return;
    }
    heading(out, "order of the blocks");
    let mut each: Vec<String> = Vec::new();
    for block in blocks.iter().take(ENTRIES) {
        let marks: Vec<_> = block.arms.iter().take(ENTRIES).map(|arm| signs.plain(arm)).collect();
        // Numbers side by side would be one number.
        let between = if marks.iter().any(|mark| mark.chars().count() > 1) { "," } else { "" };
        let rest = if block.arms.len() > marks.len() { "..." } else { "" };
        each.push(format!("{}{rest}", marks.join(between)));
    }
    let rest = if blocks.len() > each.len() { " ..." } else { "" };
    let numbers = screen.numbers();
    let description = format!(
        "{} of {} complete: {}{rest}",
        numbers.count(analysis.progress.blocks_complete.into()),
        words::counted(analysis.progress.blocks_planned.into(), "block", numbers),
        each.join(" ")
    );
    paragraph(out, Style::new(), &description, 2, screen);
}

/// A value and who has it: `512 MiB (a, b)`.
fn value_of((value, sides): &(String, Vec<String>)) -> String {
    let value = text::short(value, 80);
    if sides.is_empty() {
        return value;
    }
    let named = sides.iter().take(ENTRIES).map(|side| text::short(side, 40));
    let mut named: Vec<String> = named.collect();
    if sides.len() > ENTRIES {
        named.push(format!("and {} more", sides.len() - ENTRIES));
    }
    format!("{value} ({})", named.join(", "))
}

/// What differs between two sides, a line each.
pub(super) fn differences(
    out: &mut String,
    differences: &[Difference],
    factors: Option<&FactorResults>,
    screen: &Screen,
) {
    if differences.is_empty() {
        return;
    }
    heading(out, "what differs");
    for difference in differences.iter().take(ENTRIES) {
        let values = by_value(difference, factors);
        let values: Vec<String> = values.iter().map(value_of).collect();
        let description = format!("{}: {}", text::short(&difference.what, 40), values.join(", "));
        paragraph(out, Style::new(), &description, 2, screen);
    }
    if differences.len() > ENTRIES {
        out.push_str(&format!("  and {} more, in the JSON\n", differences.len() - ENTRIES));
    }
}
