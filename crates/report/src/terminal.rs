//! The terminal. `brief` is the page's first screen in characters: the verdict, a few figures of each arm, whether it can be trusted. `summary` adds the
//! validity strip, a table of each arm over the load, small charts, what differed, and the warnings.
//!
//! ```text
//! Report ─► brief, summary, closing, verdict            Analysis ─► comparisons
//! RecordComparison ──► record_comparison                 History ──► history
//! DiskPicture ───────► disk                              Moment ───► the live line, or a line for each point in a pipe
//! ```
//!
//! Styles are written as ANSI sequences; the caller's stream removes them where they are not wanted (`NO_COLOR`, a pipe). Nothing is
//! shown by colour alone. Tables leave out columns rather than wrap.
//!
//! ```
//! use plimsoll_report::progress::Phase;
//! use plimsoll_report::terminal::progress::Moment;
//! let moment = Moment {
//!     run: 3, runs: 12, block: 2, arm: "small cache", mix: "A", load_label: "8 threads", phase: Phase::Measure,
//!     second: 7.0, seconds: 20.0, rate: 203_456.0, p99_ns: Some(48_123.0), errors: 0, left_seconds: Some(130.0),
//! };
//! assert_eq!(
//!     moment.live(100, true),
//!     "[3/12] small cache · A · 8 threads · 7/20 s  203k op/s  p99 48.1 µs  2:10 left"
//! );
//! ```

mod audit;
mod brief;
mod chart;
mod closing;
mod comparisons;
mod deciding;
mod disk;
mod factors;
mod history;
mod overview;
pub mod progress;
mod remarks;
mod screen;
mod section;
mod sign;
mod table;
mod wrap;

pub use audit::audit;
pub use brief::{LINES, brief};
pub use closing::{closing, verdict};
pub use disk::disk;
pub use history::history;
pub use screen::Screen;

use crate::section::{
    Section, application, controls, costs, duets, events, has_several_operations, hosts, operations,
};
use crate::{Report, select, text, words};
use anstyle::{AnsiColor, Style};
use comparisons::Row;
use plimsoll_judge::{Analysis, Curve, RecordComparison, Side};
use screen::paint;
use sign::Signs;
use table::Layout;

/// Arms of a mix that get a table; the page has them all.
const TABLES: usize = 12;

/// Cells of a grid that get a table each.
const MATRIX_FROM: usize = 4;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Everything that a terminal shows at the end of an experiment.
pub fn summary(report: &Report<'_>, screen: &Screen) -> String {
    let analysis = report.analysis;
    let signs = Signs::of(analysis, screen);
    let mut out = String::new();
    title(&mut out, analysis, screen);
    headline(&mut out, report, screen);
    remarks::validity(&mut out, &analysis.validity, screen);
    let shown: Vec<&Curve> = select::mixes(analysis)
        .into_iter()
        .flat_map(|mix| curves_of(analysis, mix).take(TABLES))
        .collect();
    let layout = Layout::of(&shown, screen);
    factors::factors(&mut out, analysis, screen);
    // The matrix of cells shows the same in less room.
    let has_matrix = factors::has_matrix(analysis) && analysis.arms.len() > MATRIX_FROM;
    if !has_matrix && !select::is_searched_alone(analysis) {
        for mix in select::mixes(analysis) {
            one_mix(&mut out, analysis, mix, (layout, &signs), screen);
        }
    }
    for mix in select::mixes(analysis) {
        let curves: Vec<&Curve> = curves_of(analysis, mix).take(TABLES).collect();
        if has_several_operations(&curves) {
            heading(&mut out, &format!("operations of mix {}", text::short(mix, 40)));
            if let Some(table) = operations(&curves, screen.numbers()) {
                section::table(&mut out, &table, &signs, screen);
            }
        }
    }
    let numbers = screen.numbers();
    let add = |out: &mut String, title, section: Option<Section>| {
        section::section(out, title, section.as_ref(), &signs, screen);
    };
    add(&mut out, "events", events(analysis, numbers));
    deciding::lines(&mut out, analysis, &signs, screen);
    add(&mut out, "cost per 1M operations", costs(analysis, numbers));
    add(&mut out, "plans and indexes", application(analysis, numbers));
    // What held the arms back was said of each of them above.
    let deciding: Vec<Row<'_>> = select::primaries(analysis)
        .map(|comparison| Row::of(analysis, comparison, screen).without_cause())
        .collect();
    // Comparisons of cells stand among the effects.
    if !deciding.is_empty() && !crate::factors::has_several(analysis) {
        comparisons::by_weight(&mut out, &deciding, screen);
    }
    deciding::blocks(&mut out, analysis, &signs, screen);
    add(&mut out, "controls", controls(analysis, numbers));
    add(&mut out, "duets", duets(analysis, numbers));
    add(&mut out, "hosts", hosts(analysis, numbers));
    remarks::differed(&mut out, analysis, &signs, screen);
    remarks::thresholds(&mut out, &analysis.thresholds, screen);
    let cut = |subject: &str| select::with_short_names(analysis, subject);
    remarks::warnings(&mut out, &analysis.warnings, cut, screen);
    out
}

/// The comparisons of one experiment alone, the deciding ones first.
pub fn comparisons(analysis: &Analysis, screen: &Screen) -> String {
    let mut out = String::new();
    title(&mut out, analysis, screen);
    let rows: Vec<Row<'_>> = analysis
        .comparisons
        .iter()
        .map(|comparison| Row::of(analysis, comparison, screen))
        .collect();
    comparisons::by_weight(&mut out, &rows, screen);
    out
}

/// Two arms of two experiments, or of one.
pub fn record_comparison(comparison: &RecordComparison, screen: &Screen) -> String {
    let mut out = String::new();
    let (a, b) = (&comparison.baseline, &comparison.other);
    side(&mut out, "B", [b, a], screen);
    side(&mut out, "against A", [a, b], screen);
    sentences(&mut out, &comparison.headline, [BOLD, Style::new()], screen);
    let rows: Vec<Row<'_>> = comparison.comparisons.iter().map(Row::from).collect();
    comparisons::by_weight(&mut out, &rows, screen);
    remarks::differences(&mut out, &comparison.differences, None, screen);
    remarks::warnings(&mut out, &comparison.warnings, str::to_owned, screen);
    out
}

fn side(out: &mut String, letter: &str, [side, other]: [&Side; 2], screen: &Screen) {
    let about = format!(
        "{} {}, {}, {}",
        text::short(&side.name, 40),
        text::short(&side.record, 16),
        words::date(&side.started_at),
        words::counted(side.runs.into(), "run", screen.numbers())
    );
    let arm = screen.short(&words::named(side, other), screen.width.saturating_sub(14));
    out.push_str(&format!("{} {}\n", paint(DIM, &wrap::padded(letter, 9)), paint(BOLD, &arm)));
    paragraph(out, DIM, &about, 10, screen);
}

fn heading(out: &mut String, text: &str) {
    out.push('\n');
    out.push_str(&paint(BOLD, text));
    out.push('\n');
}

/// Text under a hanging indent, so that it never touches the edge.
fn paragraph(out: &mut String, style: Style, text: &str, indent: usize, screen: &Screen) {
    for line in wrap::wrapped(text, screen.width.saturating_sub(indent)) {
        out.push_str(&format!("{}{}\n", " ".repeat(indent), paint(style, &screen.plain(&line))));
    }
}

fn name(out: &mut String, analysis: &Analysis, screen: &Screen) {
    let id = text::short(&analysis.id, 16);
    let name = screen.short(&analysis.name, screen.width.saturating_sub(screen.columns(&id) + 2));
    out.push_str(&format!("{}  {}\n", paint(BOLD, &name), paint(DIM, &id)));
}

fn title(out: &mut String, analysis: &Analysis, screen: &Screen) {
    name(out, analysis, screen);
    if let Some(question) = &analysis.question {
        paragraph(out, Style::new().italic(), question, 0, screen);
    }
}

fn headline(out: &mut String, report: &Report<'_>, screen: &Screen) {
    let analysis = report.analysis;
    let describe = |sentence: &String| select::with_short_names(analysis, sentence);
    let style = match select::is_invalid(analysis) {
        true => [BOLD.fg_color(Some(AnsiColor::Red.into())), DIM],
        false => [BOLD, Style::new()],
    };
    sentences(out, &analysis.headline.iter().map(describe).collect::<Vec<_>>(), style, screen);
}

/// The answer: the first sentence stands out.
fn sentences(out: &mut String, sentences: &[String], style: [Style; 2], screen: &Screen) {
    let [first_style, rest_style] = style;
    out.push('\n');
    match sentences.split_first() {
        Some((first, rest)) => {
            paragraph(out, first_style, first, 2, screen);
            for sentence in rest {
                paragraph(out, rest_style, sentence, 2, screen);
            }
        }
        None => paragraph(out, BOLD, "There is no verdict.", 2, screen),
    }
}

fn curves_of<'a>(analysis: &'a Analysis, mix: &str) -> impl Iterator<Item = &'a Curve> {
    analysis.curves.iter().filter(move |curve| curve.mix == mix)
}

fn one_mix(
    out: &mut String,
    analysis: &Analysis,
    mix: &str,
    (layout, signs): (Layout, &Signs<'_>),
    screen: &Screen,
) {
    let curves: Vec<&Curve> = curves_of(analysis, mix).collect();
    heading(out, &format!("mix {}", screen.short(mix, screen.width.saturating_sub(4))));
    if curves.iter().all(|curve| curve.points.is_empty()) {
        out.push_str("  no point was measured\n");
        return;
    }
    let mut points = curves.iter().flat_map(|curve| &curve.points);
    if points.any(|point| point.refused.is_some()) {
        paragraph(out, DIM, words::REFUSED, 2, screen);
    }
    overview::draw(out, analysis, mix, signs, screen);
    if overview::is_enough(&curves) {
        overview::why(out, analysis, mix, signs, screen);
        return;
    }
    if curves.len() > 1 {
        out.push('\n');
    }
    for curve in curves.iter().take(TABLES) {
        let baseline = select::baseline(analysis) == Some(curve.arm.as_str());
        let name = screen.short(&curve.arm, screen.width.saturating_sub(16));
        let mark = signs.painted(&curve.arm);
        let tag = if baseline { paint(DIM, "  baseline") } else { String::new() };
        out.push_str(&format!("  {mark} {}{tag}\n", paint(BOLD, &name)));
        out.push_str(&table::draw(curve, layout, screen));
    }
    if curves.len() > TABLES {
        out.push_str(&format!(
            "  and {} more arms, on the page and in points.csv\n",
            curves.len() - TABLES
        ));
    }
    let has = |open| {
        let mut points = curves.iter().flat_map(|curve| &curve.points);
        points.any(|point| select::is_open(point) == open)
    };
    if has(false) && has(true) {
        for open in [false, true] {
            let parts: Vec<Curve> =
                curves.iter().map(|curve| select::of_kind(curve, open)).collect();
            let parts: Vec<&Curve> = parts.iter().collect();
            out.push_str(&chart::throughput(&parts, signs, screen));
            out.push_str(&chart::p99(&parts, signs, screen));
        }
    } else {
        out.push_str(&chart::throughput(&curves, signs, screen));
        out.push_str(&chart::p99(&curves, signs, screen));
    }
    knees(out, &curves, screen);
    overview::why(out, analysis, mix, signs, screen);
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
        let climbing =
            if knee.still_climbing { "; throughput still grows at the last load" } else { "" };
        let sentence = format!(
            "{}: beyond {}{range} response times grow faster than throughput{climbing}",
            text::short(&curve.arm, 40),
            text::line(&knee.load_label)
        );
        paragraph(out, Style::new(), &sentence, 2, screen);
    }
}

#[cfg(test)]
mod tests;
