//! Rates and percentiles against load in characters: lines in braille dots, a mark of its own for each.

use super::screen::{Screen, paint};
use super::sign::{Signs, mark, style};
use crate::arms::STYLES;
use crate::axis::{Axis, load_number};
use crate::select;
use anstyle::Style;
use plimsoll_judge::{Curve, CurvePoint};
use plimsoll_record::LoadKind;
use unicode_width::UnicodeWidthStr;

/// Rows of rates, and of percentiles below them.
const ROWS: usize = 10;
const LOW_ROWS: usize = 8;
const WIDEST: usize = 72;
/// Columns of the labels of the throughput.
const LABELS: usize = 7;
/// Arms drawn; more would be a tangle.
const ARMS: usize = STYLES;
const NARROWEST: usize = 40;

/// Where marks of several arms fall together.
const SEVERAL: [&str; 2] = ["&", "◍"];

/// One character of the picture.
#[derive(Clone, Copy, Default)]
struct CellContent {
    /// Braille dots of lines, as in the low byte of the character.
    dots: u8,
    line_of: usize,
    mark: Option<usize>,
    several: bool,
}

/// A line of a chart with its name; `None` is a gap.
pub(crate) struct ChartLine {
    pub(crate) name: String,
    /// Which sign and colour it has. Only the first [`STYLES`] places are drawn.
    pub(crate) place: usize,
    pub(crate) points: Vec<Option<(f64, f64)>>,
}

/// Throughput over the load with its legend, or nothing where there are fewer than three loads, no number, or no room.
pub(super) fn throughput(curves: &[&Curve], signs: &Signs<'_>, screen: &Screen) -> String {
    let lines: Vec<ChartLine> = curves.iter().map(|curve| throughput_line(curve, signs)).collect();
    let open = curves
        .iter()
        .flat_map(|curve| &curve.points)
        .filter(|point| is_drawn(point))
        .any(|point| matches!(point.load, LoadKind::Open { .. }));
    let title = if open { "offered op/s" } else { "threads" };
    over_load(&lines, title, "op/s", "arms", screen)
}

/// p99 of the response over the load, likewise. It is lower than the other, and has no legend: marks are those of the throughput above it.
pub(super) fn p99(curves: &[&Curve], signs: &Signs<'_>, screen: &Screen) -> String {
    let all: Vec<ChartLine> = curves.iter().map(|curve| p99_line(curve, signs)).collect();
    let lines = drawn(&all);
    let values = || lines.iter().flat_map(|line| line.points.iter().flatten());
    let highest = values().map(|point| point.1).fold(0.0, f64::max);
    let lowest = values().map(|point| point.1).fold(highest, f64::min);
    if highest <= 0.0 {
        return String::new();
    }
    let y = Axis::latency(lowest, highest, "p99");
    let title = screen.plain(&y.title).into_owned();
    let open = curves.iter().flat_map(|curve| &curve.points).any(select::is_open);
    // The axis is that of the throughput above it, also where some points are not printed.
    let rates: Vec<ChartLine> = curves.iter().map(|curve| throughput_line(curve, signs)).collect();
    let picture = Picture {
        lines: &lines,
        loads: loads(&drawn(&rates)),
        x_title: if open { "offered op/s" } else { "threads" },
        y_title: &title,
        y,
        rows: LOW_ROWS,
    };
    picture.draw(screen).map_or_else(String::new, |drawn| drawn.0)
}

/// The sign of a curve; the curve of an unknown arm is not drawn.
fn place_of(curve: &Curve, signs: &Signs<'_>) -> usize {
    signs.place(&curve.arm).unwrap_or(usize::MAX)
}

/// The lines that are drawn, in the order of their signs.
fn drawn(lines: &[ChartLine]) -> Vec<&ChartLine> {
    let mut drawn: Vec<&ChartLine> = lines.iter().filter(|line| line.place < ARMS).collect();
    drawn.sort_by_key(|line| line.place);
    drawn
}

/// Where the lines have values.
fn loads(lines: &[&ChartLine]) -> Vec<f64> {
    let points = lines.iter().flat_map(|line| line.points.iter().flatten());
    points.map(|point| point.0).collect()
}

fn p99_line(curve: &Curve, signs: &Signs<'_>) -> ChartLine {
    let place = |point: &CurvePoint| {
        let nanos = select::median(&point.response.p99);
        (is_drawn(point) && nanos.is_finite()).then(|| (load_number(point.load), nanos))
    };
    ChartLine {
        name: curve.arm.clone(),
        place: place_of(curve, signs),
        points: curve.points.iter().map(place).collect(),
    }
}

fn is_drawn(point: &CurvePoint) -> bool {
    point.valid_runs > 0 && select::median(&point.throughput).is_finite()
}

fn throughput_line(curve: &Curve, signs: &Signs<'_>) -> ChartLine {
    let place = |point: &CurvePoint| {
        let rate = select::median(&point.throughput);
        is_drawn(point).then(|| (load_number(point.load), rate))
    };
    ChartLine {
        name: curve.arm.clone(),
        place: place_of(curve, signs),
        points: curve.points.iter().map(place).collect(),
    }
}

/// Rates over a load with their legend, or nothing where there are fewer than three loads, no number, or no room. `what` are the lines.
pub(crate) fn over_load(
    lines: &[ChartLine],
    x_title: &str,
    y_title: &str,
    what: &str,
    screen: &Screen,
) -> String {
    let drawn = drawn(lines);
    let values = drawn.iter().flat_map(|line| line.points.iter().flatten());
    let highest = values.map(|point| point.1).fold(0.0, f64::max);
    let picture = Picture {
        loads: loads(&drawn),
        lines: &drawn,
        x_title,
        y_title,
        y: Axis::rate(highest, 4),
        rows: ROWS,
    };
    let Some((mut out, canvas)) = picture.draw(screen) else {
        return String::new();
    };
    let left_out = lines.len() - drawn.len();
    legend(&mut out, &drawn, (left_out, what), &canvas, screen);
    out
}

type Canvas = Vec<Vec<CellContent>>;

struct Picture<'a> {
    lines: &'a [&'a ChartLine],
    loads: Vec<f64>,
    x_title: &'a str,
    y_title: &'a str,
    y: Axis,
    rows: usize,
}

impl Picture<'_> {
    /// The picture, and what is where in it; `None` where there are fewer than three loads, or no room.
    fn draw(&self, screen: &Screen) -> Option<(String, Canvas)> {
        let mut distinct = self.loads.clone();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        if distinct.len() < 3 || screen.width < NARROWEST {
            return None;
        }
        let width = screen.width.min(WIDEST).saturating_sub(LABELS + 4);
        let mut x = Axis::load(&self.loads, width / 6, self.x_title.into());
        // Shares of the line are no round numbers.
        if self.loads.iter().any(|load| load.fract() != 0.0) {
            x.round_ticks(width / 12);
        }
        let mut canvas = vec![vec![CellContent::default(); width]; self.rows];
        for line in self.lines {
            draw_line(&mut canvas, line, &x, &self.y);
        }
        let mut out = format!("\n  {:>LABELS$}\n", self.y_title);
        for (row, cells) in canvas.iter().enumerate() {
            let mut ticks = self.y.ticks.iter();
            let tick =
                ticks.find(|(value, _)| row_of(self.y.scale.share(*value), self.rows) == row);
            let label = tick.map_or("".into(), |(_, label)| screen.plain(label));
            let rule = match (screen.unicode, tick.is_some()) {
                (true, true) => "┤",
                (true, false) => "│",
                (false, _) => "|",
            };
            out.push_str(&format!("  {label:>LABELS$} {rule}{}\n", row_text(cells, screen)));
        }
        let (corner, rule) = if screen.unicode { ("└", "─") } else { ("+", "-") };
        out.push_str(&format!("  {:>LABELS$} {corner}{}\n", "", rule.repeat(width)));
        out.push_str(&format!("  {:>LABELS$}  {}\n", "", tick_line(&x, width)));
        out.push_str(&format!("  {:>LABELS$}  {:>width$}\n", "", x.title));
        Some((out, canvas))
    }
}

fn row_of(share: f64, rows: usize) -> usize {
    rows - 1 - (share * (rows - 1) as f64).round() as usize
}

fn draw_line(canvas: &mut Canvas, drawn: &ChartLine, x: &Axis, y: &Axis) {
    let place = drawn.place;
    let (width, rows) = (canvas[0].len(), canvas.len());
    let (dots_wide, dots_high) = ((width * 2 - 2) as f64, (rows * 4 - 4) as f64);
    let mut last: Option<(f64, f64)> = None;
    for point in &drawn.points {
        let Some((load, value)) = point else {
            last = None;
            continue;
        };
        let share = (x.scale.share(*load), y.scale.share(*value));
        let here = (share.0 * dots_wide, share.1 * dots_high);
        if let Some(before) = last {
            line(canvas, place, before, here);
        }
        last = Some(here);
        let cell =
            &mut canvas[row_of(share.1, rows)][(share.0 * (width - 1) as f64).round() as usize];
        cell.several |= cell.mark.is_some_and(|other| other != place);
        cell.mark = Some(place);
    }
}

/// Dots from one place to another, counted in dots from the lower left.
fn line(canvas: &mut Canvas, arm: usize, from: (f64, f64), to: (f64, f64)) {
    /// Bits of a braille character by column and by row from its top.
    const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
    let rows = canvas.len();
    let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().max(1.0);
    for step in 0..=steps as usize {
        let share = step as f64 / steps;
        let (dot_x, dot_y) = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
        let (column, from_top) = (dot_x.round() as usize, rows * 4 - 3 - dot_y.round() as usize);
        let cell = &mut canvas[from_top / 4][column / 2];
        cell.dots |= BITS[column % 2][from_top % 4];
        cell.line_of = arm;
    }
}

fn row_text(cells: &[CellContent], screen: &Screen) -> String {
    let mut out = String::new();
    let mut run = (Style::new(), String::new());
    for cell in cells {
        let (style, text) = match (cell.mark, cell.dots) {
            (Some(_), _) if cell.several => {
                (Style::new(), SEVERAL[usize::from(screen.unicode)].to_owned())
            }
            (Some(arm), _) => (style(arm), mark(arm, screen.unicode).into_owned()),
            (None, 0) => (Style::new(), " ".to_owned()),
            (None, _) if !screen.unicode => (style(cell.line_of), ".".to_owned()),
            (None, dots) => (
                style(cell.line_of),
                char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' ').to_string(),
            ),
        };
        if style != run.0 {
            out.push_str(&paint(run.0, &run.1));
            run = (style, String::new());
        }
        run.1.push_str(&text);
    }
    out + &paint(run.0, run.1.trim_end())
}

fn tick_line(x: &Axis, width: usize) -> String {
    let mut line = String::new();
    for (value, label) in &x.ticks {
        let middle = (x.scale.share(*value) * (width - 1) as f64).round() as usize;
        let begin = middle.saturating_sub(label.width() / 2);
        let used = line.width();
        if begin < used + usize::from(used > 0) {
            continue;
        }
        line.push_str(&" ".repeat(begin - used));
        line.push_str(label);
    }
    line
}

fn legend(
    out: &mut String,
    drawn: &[&ChartLine],
    (left_out, what): (usize, &str),
    canvas: &[Vec<CellContent>],
    screen: &Screen,
) {
    let mut line = String::from("  ");
    let mut used = 2;
    let mut entries: Vec<(String, String)> = Vec::new();
    for line in drawn {
        entries.push((
            paint(style(line.place), &mark(line.place, screen.unicode)),
            screen.short(&line.name, 32),
        ));
    }
    if canvas.iter().flatten().any(|cell| cell.several) {
        entries.push((SEVERAL[usize::from(screen.unicode)].into(), "several".into()));
    }
    if left_out > 0 {
        entries.push((String::new(), format!("{left_out} more {what} are not drawn")));
    }
    for (mark, name) in entries {
        let width = name.width() + 4;
        if used > 2 && used + width > screen.width {
            out.push_str(line.trim_end());
            out.push('\n');
            line = String::from("  ");
            used = 2;
        }
        line.push_str(&format!("{mark} {name}  "));
        used += width;
    }
    out.push_str(line.trim_end());
    out.push('\n');
}
