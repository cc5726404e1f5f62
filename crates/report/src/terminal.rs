//! The terminal: the verdict, the validity strip, a table for each arm and mix, a small chart, and the warnings.
//!
//! Styles are written as ANSI sequences; the caller's stream removes them where they are not wanted (`NO_COLOR`, a pipe). Nothing is
//! told by colour alone. Tables leave out columns rather than wrap.

mod chart;
mod screen;
mod table;

pub use screen::Screen;

use crate::number::Numbers;
use crate::{Report, select, text, words};
use anstyle::{AnsiColor, Style};
use plimsoll_judge::{Analysis, Comparison, Curve, Judgement, Validity, ValidityState};
use plimsoll_record::ExperimentState;
use screen::paint;
use table::Layout;

/// Arms of a mix that get a table; the page has them all.
const TABLES: usize = 12;
/// Comparisons in one list.
const COMPARISONS: usize = 24;
/// Places of one warning.
const PLACES: usize = 3;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Everything that a terminal shows at the end of an experiment.
#[must_use]
pub fn summary(report: &Report<'_>, screen: &Screen) -> String {
    let analysis = report.analysis;
    let mut out = String::new();
    title(&mut out, analysis, screen);
    headline(&mut out, report, screen);
    validity(&mut out, &analysis.validity, screen);
    let told: Vec<&Curve> = select::mixes(analysis)
        .into_iter()
        .flat_map(|mix| curves_of(analysis, mix).take(TABLES))
        .collect();
    let layout = Layout::of(&told, screen);
    for mix in select::mixes(analysis) {
        one_mix(&mut out, analysis, mix, layout, screen);
    }
    let deciding: Vec<&Comparison> = select::primaries(analysis).collect();
    if !deciding.is_empty() {
        heading(&mut out, "deciding comparisons");
        list(&mut out, &deciding, screen);
    }
    thresholds(&mut out, analysis, screen);
    warnings(&mut out, analysis, screen);
    out
}

/// Comparisons alone, the deciding ones first.
#[must_use]
pub fn comparisons(analysis: &Analysis, screen: &Screen) -> String {
    let mut out = String::new();
    title(&mut out, analysis, screen);
    if analysis.comparisons.is_empty() {
        out.push_str("  nothing could be compared\n");
    }
    for (primary, name) in [
        (true, "deciding comparisons"),
        (false, "exploratory comparisons"),
    ] {
        let chosen: Vec<&Comparison> = analysis
            .comparisons
            .iter()
            .filter(|comparison| comparison.primary == primary)
            .collect();
        if !chosen.is_empty() {
            heading(&mut out, name);
            list(&mut out, &chosen, screen);
        }
    }
    out
}

fn heading(out: &mut String, text: &str) {
    out.push('\n');
    out.push_str(&paint(BOLD, text));
    out.push('\n');
}

/// Text under a hanging indent, so that it never touches the edge.
fn paragraph(out: &mut String, style: Style, text: &str, indent: usize, screen: &Screen) {
    for line in text::wrapped(text, screen.width.saturating_sub(indent)) {
        out.push_str(&format!(
            "{}{}\n",
            " ".repeat(indent),
            paint(style, &screen.plain(&line))
        ));
    }
}

fn title(out: &mut String, analysis: &Analysis, screen: &Screen) {
    let id = text::short(&analysis.id, 16);
    let name = screen.short(&analysis.name, screen.width.saturating_sub(id.len() + 2));
    out.push_str(&format!("{}  {}\n", paint(BOLD, &name), paint(DIM, &id)));
    if let Some(question) = &analysis.question {
        paragraph(out, Style::new().italic(), question, 0, screen);
    }
}

fn headline(out: &mut String, report: &Report<'_>, screen: &Screen) {
    let (analysis, progress) = (report.analysis, &report.analysis.progress);
    out.push('\n');
    match analysis.headline.split_first() {
        Some((first, rest)) => {
            paragraph(out, BOLD, first, 2, screen);
            for sentence in rest {
                paragraph(out, Style::new(), sentence, 2, screen);
            }
        }
        None => paragraph(out, BOLD, "There is no verdict.", 2, screen),
    }
    if report.record.state == ExperimentState::Unfinished
        || progress.runs_finished < progress.runs_planned
    {
        let failed = if progress.runs_failed > 0 {
            format!(", {} failed", progress.runs_failed)
        } else {
            String::new()
        };
        let text = format!(
            "Unfinished: {} of {} are finished{failed}. The same command goes on with what is missing.",
            progress.runs_finished,
            words::counted(progress.runs_planned.into(), "run", screen.numbers())
        );
        paragraph(out, AnsiColor::Yellow.on_default(), &text, 2, screen);
    }
}

fn state_style(state: ValidityState) -> Style {
    match state {
        ValidityState::Good => AnsiColor::Green.on_default(),
        ValidityState::Note => AnsiColor::Blue.on_default(),
        ValidityState::Caution => AnsiColor::Yellow.on_default(),
        ValidityState::Bad => AnsiColor::Red.on_default().bold(),
    }
}

/// Good gates by their names on one line, each of the others with its figures.
fn validity(out: &mut String, entries: &[Validity], screen: &Screen) {
    if entries.is_empty() {
        return;
    }
    out.push('\n');
    let sign = |state| {
        paint(
            state_style(state),
            words::validity_mark(state, screen.unicode),
        )
    };
    let good: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.state == ValidityState::Good)
        .map(|entry| entry.name.as_str())
        .collect();
    if !good.is_empty() {
        let lines = text::wrapped(&good.join(", "), screen.width.saturating_sub(5));
        hanging(out, &sign(ValidityState::Good), &lines, screen);
    }
    for entry in entries
        .iter()
        .filter(|entry| entry.state != ValidityState::Good)
    {
        let told = format!("{}: {}", entry.name, entry.text);
        let lines = text::wrapped(&told, screen.width.saturating_sub(5));
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

fn curves_of<'a>(analysis: &'a Analysis, mix: &str) -> impl Iterator<Item = &'a Curve> {
    analysis.curves.iter().filter(move |curve| curve.mix == mix)
}

fn one_mix(out: &mut String, analysis: &Analysis, mix: &str, layout: Layout, screen: &Screen) {
    let curves: Vec<&Curve> = curves_of(analysis, mix).collect();
    heading(
        out,
        &format!("mix {}", screen.short(mix, screen.width.saturating_sub(4))),
    );
    if curves.iter().all(|curve| curve.points.is_empty()) {
        out.push_str("  no point was measured\n");
        return;
    }
    for (place, curve) in curves.iter().enumerate().take(TABLES) {
        let baseline = select::baseline(analysis) == Some(curve.arm.as_str());
        let name = screen.short(&curve.arm, screen.width.saturating_sub(16));
        let mark = paint(chart::style(place), chart::mark(place, screen.unicode));
        let tag = if baseline {
            paint(DIM, "  baseline")
        } else {
            String::new()
        };
        out.push_str(&format!("  {mark} {}{tag}\n", paint(BOLD, &name)));
        out.push_str(&table::draw(curve, layout, screen));
    }
    if curves.len() > TABLES {
        out.push_str(&format!(
            "  and {} more arms, on the page and in points.csv\n",
            curves.len() - TABLES
        ));
    }
    out.push_str(&chart::throughput(&curves, screen));
    knees(out, &curves, screen);
}

fn knees(out: &mut String, curves: &[&Curve], screen: &Screen) {
    let numbers = screen.numbers();
    for curve in curves.iter().take(TABLES) {
        let Some(knee) = &curve.knee else { continue };
        let range = if knee.range.0 < knee.range.1 {
            format!(
                " ({} to {} over the blocks)",
                numbers.compact_count(knee.range.0),
                numbers.compact_count(knee.range.1)
            )
        } else {
            String::new()
        };
        let climbing = if knee.still_climbing {
            ", and throughput still climbs at the last load"
        } else {
            ""
        };
        let sentence = format!(
            "knee of {}: {}{range}{climbing}",
            text::short(&curve.arm, 40),
            text::line(&knee.load_label)
        );
        paragraph(out, Style::new(), &sentence, 2, screen);
    }
}

fn judgement_style(judgement: Judgement) -> Style {
    match judgement {
        Judgement::Better => AnsiColor::Green.on_default().bold(),
        Judgement::Worse => AnsiColor::Red.on_default().bold(),
        Judgement::Equivalent => Style::new().bold(),
        Judgement::Inconclusive => AnsiColor::Yellow.on_default().bold(),
    }
}

/// Two lines each: the word with the figures, and what was compared.
fn list(out: &mut String, comparisons: &[&Comparison], screen: &Screen) {
    let numbers = screen.numbers();
    for comparison in comparisons.iter().take(COMPARISONS) {
        let verdict = &comparison.verdict;
        let mark = words::judgement_mark(verdict.judgement, screen.unicode);
        let word = words::judgement(verdict.judgement);
        let figures = verdict
            .estimate
            .map_or_else(|| "no estimate".into(), |share| numbers.difference(share));
        let interval = match verdict.interval {
            Some((low, high)) => format!(
                " ({} to {})",
                numbers.difference(low),
                numbers.difference(high)
            ),
            None => String::new(),
        };
        let what = format!(
            "{}, {}, {}",
            text::short(&comparison.mix, 24),
            text::short(&comparison.load_label, 24),
            words::metric(comparison.metric)
        );
        out.push_str(&format!(
            "  {}  ",
            paint(
                judgement_style(verdict.judgement),
                &format!("{mark} {}", text::padded(word, 12))
            )
        ));
        out.push_str(&screen.short(
            &format!("{figures}{interval}  {what}"),
            screen.width.saturating_sub(18),
        ));
        out.push('\n');
        paragraph(out, DIM, &beneath(comparison, numbers), 6, screen);
    }
    if comparisons.len() > COMPARISONS {
        out.push_str(&format!(
            "  and {} more, on the page and in analysis.json\n",
            comparisons.len() - COMPARISONS
        ));
    }
}

fn beneath(comparison: &Comparison, numbers: Numbers) -> String {
    let verdict = &comparison.verdict;
    let mut text = format!(
        "{} against {}, {}",
        text::short(&comparison.arm, 40),
        text::short(&comparison.baseline, 40),
        words::counted(verdict.blocks.into(), "block", numbers)
    );
    if let Some(share) = verdict.smallest_visible {
        text.push_str(&format!(
            ", {} would have been seen",
            numbers.percent(share)
        ));
    }
    if let Some(reason) = &verdict.reason {
        text.push_str(&format!("; {reason}"));
    }
    text
}

fn thresholds(out: &mut String, analysis: &Analysis, screen: &Screen) {
    if analysis.thresholds.is_empty() {
        return;
    }
    heading(out, "thresholds");
    for threshold in analysis.thresholds.iter().take(COMPARISONS) {
        let state = if threshold.passed {
            ValidityState::Good
        } else {
            ValidityState::Bad
        };
        let mark = paint(
            state_style(state),
            words::validity_mark(state, screen.unicode),
        );
        out.push_str(&format!(
            "  {mark} {}\n",
            screen.short(&threshold.text, screen.width.saturating_sub(6))
        ));
        let result = match (threshold.measured, threshold.passed) {
            (Some(value), true) => format!(
                "holds with {}",
                words::threshold_value(&threshold.text, value, screen.numbers())
            ),
            (Some(value), false) => format!(
                "broken by {}",
                words::threshold_value(&threshold.text, value, screen.numbers())
            ),
            (None, _) => "broken: no valid sample".into(),
        };
        paragraph(
            out,
            DIM,
            &format!("{}: {result}", text::short(&threshold.subject, 60)),
            4,
            screen,
        );
    }
    if analysis.thresholds.len() > COMPARISONS {
        out.push_str(&format!(
            "  and {} more, on the page and in analysis.json\n",
            analysis.thresholds.len() - COMPARISONS
        ));
    }
}

fn warnings(out: &mut String, analysis: &Analysis, screen: &Screen) {
    let kinds = select::by_kind(&analysis.warnings);
    if kinds.is_empty() {
        return;
    }
    heading(out, "warnings");
    for (id, places) in kinds {
        let state = words::severity_state(id.severity());
        let mark = paint(
            state_style(state),
            words::validity_mark(state, screen.unicode),
        );
        out.push_str(&format!(
            "  {mark} {} {}\n",
            paint(BOLD, id.id()),
            paint(DIM, words::severity(id.severity()))
        ));
        for warning in places.iter().take(PLACES) {
            let subject = if warning.subject.is_empty() {
                String::new()
            } else {
                format!("{}: ", text::short(&warning.subject, 60))
            };
            paragraph(
                out,
                Style::new(),
                &format!("{subject}{}", warning.message),
                4,
                screen,
            );
        }
        if places.len() > PLACES {
            out.push_str(&format!("    and {} more\n", places.len() - PLACES));
        }
        let arrow = if screen.unicode { "→" } else { "->" };
        paragraph(out, DIM, &format!("{arrow} {}", id.advice()), 4, screen);
    }
}

#[cfg(test)]
mod tests;
