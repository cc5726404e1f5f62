//! Experiments with factors: a matrix of cells with what limits each, and the largest effects.

use super::comparisons::{Row, list};
use super::screen::{Screen, paint};
use super::{DIM, heading, paragraph, wrap};
use crate::factors::{self, Layout};
use crate::{select, text, words};
use plimsoll_judge::{Analysis, CurvePoint, Effect, EffectPlace, FactorResults};

const EFFECTS: usize = 12;
const PANELS: usize = 6;
/// Lines of cells, where a matrix does not fit.
const CELLS: usize = 40;
/// Throughput, p99 and bottleneck have a column each.
const FIGURES: usize = 3;

/// Whether the matrix stands for a table of each arm.
pub(super) fn has_matrix(analysis: &Analysis) -> bool {
    analysis.factors.as_ref().is_some_and(|results| Layout::of(results).is_some())
}

pub(super) fn factors(out: &mut String, analysis: &Analysis, screen: &Screen) {
    let Some(results) = &analysis.factors else {
        return;
    };
    if let Some(layout) = Layout::of(results) {
        for place in factors::places(results) {
            of_place(out, analysis, results, &layout, place, screen);
        }
    }
    if let Some(scouting) = &results.scouting {
        paragraph(out, DIM, scouting, 2, screen);
    }
    let effects = factors::by_size(results);
    if effects.is_empty() {
        return;
    }
    heading(out, "effects, proven ones first");
    let names: Vec<String> = effects.iter().map(|effect| named(effect)).collect();
    let rows: Vec<Row<'_>> = effects
        .iter()
        .zip(&names)
        .take(EFFECTS)
        .map(|(effect, name)| Row::of_effect(effect, name))
        .collect();
    list(out, &rows.iter().collect::<Vec<_>>(), screen);
    if effects.len() > EFFECTS {
        let more = format!("and {} more, on the page", effects.len() - EFFECTS);
        paragraph(out, DIM, &more, 2, screen);
    }
    for group in &results.aliases {
        let description = format!("cannot be distinguished: {}", group.join(" = "));
        paragraph(out, DIM, &description, 2, screen);
    }
}

/// The cells of a grid in at most this many lines: with all their figures if these fit, otherwise the throughput alone. `None` where there is no grid,
/// or it has more than fits.
pub(super) fn brief(analysis: &Analysis, lines: usize, screen: &Screen) -> Option<String> {
    let results = analysis.factors.as_ref()?;
    let layout = Layout::of(results)?;
    let places = factors::places(results);
    let (place, levels) = (*places.first()?, layout.panels.first()?);
    let more = places.len() * layout.panels.len() - 1;
    [FIGURES, 1].into_iter().find_map(|figures| {
        let mut out = String::new();
        let mut title = format!(
            "{}, {}: {}",
            text::short(&place.mix, 24),
            text::short(&place.load_label, 24),
            if figures == FIGURES { "op/s, p99, bottleneck" } else { "op/s" }
        );
        let panel_title = layout.panel_in_words(results, levels);
        if !panel_title.is_empty() {
            title.push_str(&format!(", {panel_title}"));
        }
        paragraph(&mut out, DIM, &title, 2, screen);
        panel(&mut out, analysis, (results, &layout), (levels, place), figures, screen);
        if more > 0 {
            let more = words::counted(more as u64, "more table", screen.numbers());
            paragraph(&mut out, DIM, &format!("and {more}"), 2, screen);
        }
        (out.lines().count() <= lines).then_some(out)
    })
}

fn named(effect: &Effect) -> String {
    let mut name = format!("{}, {}, ", factors::name(effect), factors::kind(effect.kind));
    if !effect.depends_on.is_empty() {
        name.push_str(&format!(
            "an average only, it depends on {}, ",
            effect.depends_on.join(", ")
        ));
    }
    name
}

/// A matrix for each combination of the further factors.
fn of_place(
    out: &mut String,
    analysis: &Analysis,
    results: &FactorResults,
    layout: &Layout,
    place: &EffectPlace,
    screen: &Screen,
) {
    heading(
        out,
        &screen.plain(&format!(
            "{}, {}: throughput, p99, bottleneck",
            text::short(&place.mix, 40),
            text::short(&place.load_label, 40)
        )),
    );
    for levels in layout.panels.iter().take(PANELS) {
        let title = layout.panel_in_words(results, levels);
        if !title.is_empty() {
            paragraph(out, DIM, &title, 2, screen);
        }
        panel(out, analysis, (results, layout), (levels, place), FIGURES, screen);
    }
    if layout.panels.len() > PANELS {
        let more = format!("and {} more combinations, on the page", layout.panels.len() - PANELS);
        paragraph(out, DIM, &more, 2, screen);
    }
}

/// The cells of one panel, each with this many of its figures below each other.
fn panel(
    out: &mut String,
    analysis: &Analysis,
    (results, layout): (&FactorResults, &Layout),
    (panel, place): (&[u32], &EffectPlace),
    figures: usize,
    screen: &Screen,
) {
    let along = layout.along_levels(results);
    let factor = &results.factors[layout.along];
    let lines = layout.lines.map(|lines| &results.factors[lines]);
    let mut rows: Vec<Vec<Vec<String>>> = Vec::new();
    let mut named = Vec::new();
    for level in layout.line_levels(results) {
        named.push(lines.map_or("all", |lines| lines.level(level)).to_owned());
        let mut row = vec![Vec::new(); figures];
        for column in &along {
            let cell = layout.cell(results, panel, level, *column);
            let point = cell.and_then(|cell| factors::point(analysis, cell, place));
            let words = match cell {
                None => [screen.plain("left out").into_owned(), String::new(), String::new()],
                Some(_) => describe(point, screen),
            };
            for (line, word) in row.iter_mut().zip(words) {
                line.push(word);
            }
        }
        rows.push(row);
    }
    let head: Vec<String> = along.iter().map(|level| factor.level(*level).to_owned()).collect();
    matrix(out, (&factor.name, lines.map_or("", |one| &one.name)), &head, &named, &rows, screen);
}

/// Throughput, p99 and bottleneck of a cell.
fn describe(point: Option<&CurvePoint>, screen: &Screen) -> [String; FIGURES] {
    let numbers = screen.numbers();
    let Some(point) = point.filter(|point| point.valid_runs > 0) else {
        return [numbers.nothing().into(), String::new(), String::new()];
    };
    let rate = select::median(&point.throughput);
    let p99 = select::median(&point.response.p99);
    let spelled = |value: f64, words: String| {
        if value.is_finite() { words } else { numbers.nothing().into() }
    };
    [
        spelled(rate, numbers.rate(rate)),
        spelled(p99, screen.plain(&numbers.latency(p99)).into_owned()),
        point.cause.as_ref().map_or_else(String::new, |cause| cause.kind.name().to_owned()),
    ]
}

fn matrix(
    out: &mut String,
    (across, down): (&str, &str),
    head: &[String],
    named: &[String],
    rows: &[Vec<Vec<String>>],
    screen: &Screen,
) {
    let widest = |words: &mut dyn Iterator<Item = &String>| {
        words.map(|word| screen.columns(word)).max().unwrap_or(0)
    };
    let first = widest(&mut named.iter()).max(screen.columns(down)).min(24);
    let mut widths = Vec::new();
    for (column, title) in head.iter().enumerate() {
        let mut cells = rows.iter().flatten().filter_map(|line| line.get(column));
        widths.push(widest(&mut cells).max(screen.columns(title)).min(16));
    }
    let total: usize = 2 + first + widths.iter().map(|width| width + 2).sum::<usize>();
    if total > screen.width {
        // It does not fit: a line for each cell.
        for (name, row) in named.iter().zip(rows) {
            for (column, title) in head.iter().enumerate().take(CELLS) {
                let words = row.iter().filter_map(|line| line.get(column));
                let words: Vec<&str> =
                    words.map(String::as_str).filter(|word| !word.is_empty()).collect();
                let line = format!("{name}, {across} {title}: {}", words.join(", "));
                paragraph(out, anstyle::Style::new(), &line, 2, screen);
            }
        }
        return;
    }
    let mut line = format!("  {}", wrap::padded(&screen.short(down, first), first));
    for (title, width) in head.iter().zip(&widths) {
        line.push_str(&format!("  {}", right(&screen.short(title, *width), *width, screen)));
    }
    out.push_str(&format!("{}\n", paint(DIM, line.trim_end())));
    for (name, row) in named.iter().zip(rows) {
        for (number, cells) in row.iter().enumerate() {
            let name = if number == 0 { name.as_str() } else { "" };
            let mut line = format!("  {}", wrap::padded(&screen.short(name, first), first));
            for (cell, width) in cells.iter().zip(&widths) {
                line.push_str(&format!("  {}", right(&screen.short(cell, *width), *width, screen)));
            }
            if line.trim().is_empty() {
                continue;
            }
            let line = line.trim_end();
            let style = if number == 0 { anstyle::Style::new() } else { DIM };
            out.push_str(&format!("{}\n", paint(style, line)));
        }
    }
    paragraph(out, DIM, &format!("columns: {across}"), 2, screen);
}

fn right(text: &str, width: usize, screen: &Screen) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(screen.columns(text))))
}
