//! All arms of a mix side by side at the load at which it is judged, and why each is no faster.

use super::screen::{Screen, paint};
use super::{BOLD, DIM, chart, paragraph};
use crate::figure;
use crate::{select, text, words};
use anstream::adapter::strip_str;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use plimsoll_judge::{Analysis, Curve, CurvePoint, FigureUnit};

/// Arms in the table.
const ARMS: usize = 40;
/// More arms than this are not told one by one where each has but one load.
const MANY: usize = 4;
/// Columns that the name of an arm may take.
const NAME: usize = 28;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Rate,
    P99,
    EngineCache,
    PageCache,
    Reads,
    Queue,
    Valid,
    Cause,
}

use Column::{Cause, EngineCache, P99, PageCache, Queue, Rate, Reads, Valid};

/// From the fullest to the barest.
const LAYOUTS: [&[Column]; 5] = [
    &[
        Rate,
        P99,
        EngineCache,
        PageCache,
        Reads,
        Queue,
        Valid,
        Cause,
    ],
    &[Rate, P99, EngineCache, PageCache, Cause],
    &[Rate, P99, PageCache, Cause],
    &[Rate, P99, Valid],
    &[Rate, P99],
];

/// Whether the mix is told arm by arm, or by this table alone because no arm has more than one load.
pub(super) fn is_enough(curves: &[&Curve]) -> bool {
    curves.len() > MANY && curves.iter().all(|curve| curve.points.len() <= 1)
}

/// The table, where there are several arms and it says more than their own tables do.
pub(super) fn draw(out: &mut String, analysis: &Analysis, mix: &str, screen: &Screen) {
    let points = judged(analysis, mix);
    let watched = points
        .iter()
        .any(|(_, point)| point.cause.is_some() || !point.figures.median.is_unwatched());
    if points.len() < 2 || !(watched || points.len() > 2) {
        return;
    }
    let at_line = points[0]
        .1
        .point
        .is_some_and(|point| select::is_line(analysis, mix, point));
    let label = if at_line {
        words::AT_LINE.to_owned()
    } else {
        text::line(&points[0].1.load_label).into_owned()
    };
    out.push_str(&paint(DIM, &format!("  at {}\n", screen.short(&label, 40))));
    let shown = &points[..points.len().min(ARMS)];
    let widest = screen.width;
    let tables = LAYOUTS.map(|columns| table(shown, columns, screen));
    let fits = |table: &&String| {
        strip_str(table)
            .to_string()
            .lines()
            .all(|line| screen.columns(line) <= widest)
    };
    if let Some(table) = tables.iter().find(fits).or(tables.last()) {
        out.push_str(table);
    }
    if points.len() > ARMS {
        out.push_str(&format!(
            "  and {} more arms, on the page and in points.csv\n",
            points.len() - ARMS
        ));
    }
}

/// What held each arm back, in a sentence.
pub(super) fn why(out: &mut String, analysis: &Analysis, mix: &str, screen: &Screen) {
    let points = judged(analysis, mix);
    for (place, point) in points.iter().take(super::TABLES) {
        let Some(cause) = &point.cause else { continue };
        let mark = paint(chart::style(*place), chart::mark(*place, screen.unicode));
        let name = screen.short(&point.arm, screen.width.saturating_sub(4));
        out.push_str(&format!("  {mark} {}\n", paint(BOLD, &name)));
        paragraph(out, DIM, &format!("{}.", cause.sentence), 4, screen);
    }
}

/// Each arm's point at the judged load, with the arm's place among the curves of the mix.
fn judged<'a>(analysis: &'a Analysis, mix: &str) -> Vec<(usize, &'a CurvePoint)> {
    let Some(judged) = select::judged_point(analysis, mix) else {
        return Vec::new();
    };
    let curves = analysis.curves.iter().filter(|curve| curve.mix == mix);
    curves
        .enumerate()
        .filter_map(|(place, curve)| {
            let point = select::point(analysis, &curve.arm, mix, judged)?;
            Some((place, point))
        })
        .collect()
}

fn table(points: &[(usize, &CurvePoint)], columns: &[Column], screen: &Screen) -> String {
    let known: Vec<Column> = columns
        .iter()
        .copied()
        .filter(|column| is_known(*column, points))
        .collect();
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    let dim = |text: &str| paint(DIM, text);
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let head = known.iter().map(|column| match column {
        Cause => Cell::new(dim(title(*column))),
        _ => right(dim(title(*column))),
    });
    table.set_header(std::iter::once(Cell::new("")).chain(head));
    let name_width = NAME.min(screen.width / 3);
    for (place, point) in points {
        let mark = paint(chart::style(*place), chart::mark(*place, screen.unicode));
        let name = Cell::new(format!("{mark} {}", screen.short(&point.arm, name_width)));
        let cells = known.iter().map(|column| match column {
            Cause => Cell::new(cell(*column, point, screen)),
            _ => right(cell(*column, point, screen)),
        });
        table.add_row(std::iter::once(name).chain(cells));
    }
    for column in table.column_iter_mut() {
        column.set_padding((2, 0));
    }
    let mut out = String::new();
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn is_known(column: Column, points: &[(usize, &CurvePoint)]) -> bool {
    let any = |known: fn(&CurvePoint) -> bool| points.iter().any(|(_, point)| known(point));
    match column {
        Rate | P99 | Valid => true,
        EngineCache => any(|point| point.figures.median.engine_cache_hit_ratio.is_some()),
        PageCache => any(|point| point.figures.median.page_cache_hit_ratio.is_some()),
        Reads => any(|point| point.figures.median.device_reads_per_second.is_some()),
        Queue => any(|point| point.figures.median.device_queue.is_some()),
        Cause => any(|point| point.cause.is_some()),
    }
}

fn title(column: Column) -> &'static str {
    match column {
        Rate => "op/s",
        P99 => "p99",
        EngineCache => "engine hits",
        PageCache => "page cache hits",
        Reads => "disk reads/s",
        Queue => "queue",
        Valid => "valid",
        Cause => "held back by",
    }
}

fn cell(column: Column, point: &CurvePoint, screen: &Screen) -> String {
    let numbers = screen.numbers();
    let figures = &point.figures.median;
    let share = |value| figure::spelled(FigureUnit::Share, value, numbers);
    match column {
        Valid => super::table::valid(point, screen),
        Cause => match &point.cause {
            Some(cause) => cause.kind.name().into(),
            None => numbers.nothing().into(),
        },
        Rate if point.valid_runs == 0 => "no valid run".into(),
        _ if point.valid_runs == 0 => numbers.nothing().into(),
        Rate => numbers.rate(select::median(&point.throughput)),
        P99 => {
            let sign = match (point.p99_at_least, screen.unicode) {
                (false, _) => "",
                (true, true) => "≥",
                (true, false) => ">=",
            };
            let p99 = numbers.latency(select::median(&point.response.p99));
            format!("{sign}{p99}")
        }
        EngineCache => share(figures.engine_cache_hit_ratio),
        PageCache => share(figures.page_cache_hit_ratio),
        Reads => figure::spelled(
            FigureUnit::PerSecond,
            figures.device_reads_per_second,
            numbers,
        ),
        Queue => figure::spelled(FigureUnit::Count, figures.device_queue, numbers),
    }
}
