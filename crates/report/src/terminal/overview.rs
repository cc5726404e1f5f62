//! All arms of a mix side by side at the load at which it is judged, and why each is no faster.

use super::screen::{Screen, paint};
use super::sign::{self, Signs};
use super::table::{self, printed, unruled};
use super::{BOLD, DIM, paragraph};
use crate::{select, text, words};
use anstream::adapter::strip_str;
use comfy_table::{Cell, CellAlignment};
use plimsoll_judge::{Analysis, CostResult, Curve, CurvePoint, Estimate, FigureUnit};

const ARMS: usize = 40;
/// More arms than this are not listed one by one where each has but one load.
const MANY: usize = 4;
/// Columns that the name of an arm may take.
const NAME: usize = 28;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// What was due, where that is not what was requested.
    Due,
    Rate,
    P50,
    P95,
    P99,
    P999,
    Service,
    Cpu,
    EngineCache,
    PageCache,
    Requests,
    Queue,
    Size,
    Written,
    ChartLine,
    Cost,
    Valid,
    Cause,
}

use Column::{
    Cause, ChartLine, Cost, Cpu, Due, EngineCache, P50, P95, P99, P999, PageCache, Queue, Rate,
    Requests, Service, Size, Valid, Written,
};

/// As they stand beside each other.
const COLUMNS: [Column; 18] = [
    Due,
    Rate,
    P50,
    P95,
    P99,
    P999,
    Service,
    Cpu,
    EngineCache,
    PageCache,
    Requests,
    Queue,
    Size,
    Written,
    ChartLine,
    Cost,
    Valid,
    Cause,
];

/// In the order in which they are left out until the table fits, the least telling first.
const LEFT_OUT: [Column; 15] = [
    P95,
    Service,
    P999,
    Written,
    Cpu,
    P50,
    Queue,
    EngineCache,
    Valid,
    Requests,
    PageCache,
    Size,
    ChartLine,
    Cost,
    Cause,
];

/// Whether the mix is shown arm by arm, or by this table alone because no arm has more than one load.
pub(super) fn is_enough(curves: &[&Curve]) -> bool {
    curves.len() > MANY && curves.iter().all(|curve| curve.points.len() <= 1)
}

/// The table, where there are several arms.
pub(super) fn draw(
    out: &mut String,
    analysis: &Analysis,
    mix: &str,
    signs: &Signs<'_>,
    screen: &Screen,
) {
    let points = judged(analysis, mix);
    if points.len() < 2 {
        return;
    }
    let at_line = points[0].point.is_some_and(|point| select::is_line(analysis, mix, point));
    let label = if at_line {
        words::AT_LINE.to_owned()
    } else {
        text::line(&points[0].load_label).into_owned()
    };
    let star = sign::best(screen.unicode);
    let description =
        format!("at {}; {star} is the best median of its column", text::short(&label, 40));
    let description = screen.short(&description, screen.width.saturating_sub(2));
    out.push_str(&format!("  {}\n", paint(DIM, &description)));
    let arms = Arms { analysis, mix, points: &points[..points.len().min(ARMS)], signs, screen };
    let columns: Vec<Column> =
        COLUMNS.into_iter().filter(|column| arms.is_known(*column)).collect();
    out.push_str(&arms.fitting(columns, ""));
    if points.len() > ARMS {
        out.push_str(&format!(
            "  and {} more arms, on the page and in points.csv\n",
            points.len() - ARMS
        ));
    }
}

/// Three figures of each arm of a mix and its bottleneck, in at most this many lines. Of one arm alone it is a table over its loads.
pub(super) fn brief(
    analysis: &Analysis,
    mix: &str,
    lines: usize,
    signs: &Signs<'_>,
    screen: &Screen,
) -> String {
    let curves: Vec<&Curve> = analysis.curves.iter().filter(|curve| curve.mix == mix).collect();
    if let [curve] = curves.as_slice()
        && curve.points.len() > 1
    {
        return over_the_load(curve, lines, screen);
    }
    let points = judged(analysis, mix);
    let Some(first) = points.first() else {
        return String::new();
    };
    let at_line = first.point.is_some_and(|point| select::is_line(analysis, mix, point));
    let load = if at_line { "at the line" } else { &*first.load_label };
    let label = screen.short(&format!("{mix}, {load}"), screen.width / 3);
    let shown = if points.len() < lines { points.len() } else { lines.saturating_sub(2) };
    let arms = Arms { analysis, mix, points: &points[..shown], signs, screen };
    let third = [Cost, ChartLine, Size, Cpu].into_iter().find(|column| arms.is_known(*column));
    let columns = [Due, Rate, P99].into_iter().chain(third).chain([Cause]);
    let columns = columns.filter(|column| arms.is_known(*column)).collect();
    let mut out = arms.fitting(columns, &label);
    if points.len() > shown {
        out.push_str(&format!("  and {} more arms\n", points.len() - shown));
    }
    out
}

/// The table of a curve with the loads that fit, the last ones where there are too many.
fn over_the_load(curve: &Curve, lines: usize, screen: &Screen) -> String {
    let mut shown = curve.clone();
    let left_out = (curve.points.len() + 1).saturating_sub(lines);
    let left_out = if left_out > 0 { left_out + 1 } else { 0 };
    shown.points.drain(..left_out.min(curve.points.len()));
    let mut out = table::draw(&shown, table::Layout::of(&[&shown], screen), screen);
    if left_out > 0 {
        out.push_str(&format!("  and {left_out} lower loads\n"));
    }
    out
}

/// What held each arm back, in a sentence.
pub(super) fn why(
    out: &mut String,
    analysis: &Analysis,
    mix: &str,
    signs: &Signs<'_>,
    screen: &Screen,
) {
    let points = judged(analysis, mix);
    for point in points.iter().take(super::TABLES) {
        let Some(cause) = select::bottleneck(analysis, mix, point) else {
            continue;
        };
        let mark = signs.painted(&point.arm);
        let name = screen.short(&point.arm, screen.width.saturating_sub(4));
        out.push_str(&format!("  {mark} {}\n", paint(BOLD, &name)));
        paragraph(out, DIM, &format!("{}.", cause.sentence), 4, screen);
    }
}

/// Each arm's point at the judged load.
fn judged<'a>(analysis: &'a Analysis, mix: &str) -> Vec<&'a CurvePoint> {
    let of_line = || analysis.lines.iter().find(|line| line.mix == mix).map(|line| line.point);
    let Some(judged) = select::judged_point(analysis, mix).or_else(of_line) else {
        return Vec::new();
    };
    let curves = analysis.curves.iter().filter(|curve| curve.mix == mix);
    curves.filter_map(|curve| select::point(analysis, &curve.arm, mix, judged)).collect()
}

/// The arms of one mix at the load at which it is judged.
struct Arms<'a> {
    analysis: &'a Analysis,
    mix: &'a str,
    points: &'a [&'a CurvePoint],
    signs: &'a Signs<'a>,
    screen: &'a Screen,
}

impl Arms<'_> {
    /// The table with as many of the columns as fit, and a label before their titles.
    fn fitting(&self, mut columns: Vec<Column>, label: &str) -> String {
        let mut table = self.table(&columns, label);
        for column in LEFT_OUT {
            let text = strip_str(&table).to_string();
            if text.lines().all(|line| self.screen.columns(line) <= self.screen.width) {
                break;
            }
            columns.retain(|kept| *kept != column);
            table = self.table(&columns, label);
        }
        table
    }

    fn table(&self, columns: &[Column], label: &str) -> String {
        let mut table = unruled();
        let aligned = |column: Column, text: String| match column {
            Cause => Cell::new(text),
            _ => Cell::new(text).set_alignment(CellAlignment::Right),
        };
        let head = columns.iter().map(|column| {
            let title = match column {
                Cost => format!("{}, {}", title(*column), select::shown_cost_place(self.analysis)),
                _ => title(*column).to_owned(),
            };
            let title = paint(DIM, &self.screen.plain(&title));
            aligned(*column, title)
        });
        table.set_header(std::iter::once(Cell::new(paint(DIM, label))).chain(head));
        let best: Vec<Option<usize>> = columns.iter().map(|column| self.best(*column)).collect();
        let name_width = NAME.min(self.screen.width / 3);
        for (row, point) in self.points.iter().enumerate() {
            let mark = self.signs.painted(&point.arm);
            let name = self.screen.short(&point.arm, name_width);
            let cells = columns.iter().zip(&best).map(|(column, best)| {
                let text = self.cell(*column, point);
                let text = if *best == Some(row) {
                    paint(BOLD, &format!("{}{text}", sign::best(self.screen.unicode)))
                } else {
                    text
                };
                aligned(*column, text)
            });
            table.add_row(std::iter::once(Cell::new(format!("{mark} {name}"))).chain(cells));
        }
        for column in table.column_iter_mut() {
            column.set_padding((2, 0));
        }
        printed(&table)
    }

    /// The value of a column that makes arms better or worse, and whether more is better.
    fn value(&self, column: Column, point: &CurvePoint) -> Option<(f64, bool)> {
        let median = |estimate| Some((select::median(estimate), false));
        match column {
            Rate => Some((select::median(&point.throughput), true)),
            P50 => median(&point.response.p50),
            P95 => median(&point.response.p95),
            P99 => median(&point.response.p99),
            P999 => median(&point.response.p999),
            Service => median(&point.service.p99),
            Cpu => median(&point.cpu_per_operation),
            ChartLine => {
                let line = select::line(self.analysis, &point.arm, self.mix)?;
                Some((select::median(&line.rate), true))
            }
            Cost => median(self.cost(point)?.1),
            Size => Some((point.figures.median.data_bytes?, false)),
            Written => Some((point.figures.median.engine_written_bytes_per_operation?, false)),
            Due | EngineCache | PageCache | Requests | Queue | Valid | Cause => None,
        }
    }

    /// The row with the best median, where there is something to choose from. A lower bound is never the best.
    fn best(&self, column: Column) -> Option<usize> {
        if column == Cost {
            let costs = self.points.iter().map(|point| {
                let (cost, estimate) = self.cost(point)?;
                Some((cost.currency.as_str(), estimate))
            });
            return select::cheapest(costs);
        }
        let mut found: Option<(usize, f64)> = None;
        let mut candidates = 0;
        for (row, point) in self.points.iter().enumerate() {
            let bounded =
                (column == P99 && point.p99_at_least) || (column == P999 && point.p999_at_least);
            let Some((value, more_is_better)) = self.value(column, point) else {
                continue;
            };
            // Controls are no arms of the question.
            let mut arms = self.analysis.arms.iter();
            let is_control = arms.any(|arm| arm.control && arm.name == point.arm);
            if point.valid_runs == 0 || bounded || is_control || !value.is_finite() {
                continue;
            }
            candidates += 1;
            let better = found.is_none_or(
                |(_, best)| {
                    if more_is_better { value > best } else { value < best }
                },
            );
            if better {
                found = Some((row, value));
            }
        }
        found.filter(|_| candidates > 1).map(|(row, _)| row)
    }

    fn cost(&self, point: &CurvePoint) -> Option<(&CostResult, &Estimate)> {
        let cost = select::cost(self.analysis, &point.arm, self.mix)?;
        Some((cost, select::shown_cost(self.analysis, cost)?))
    }

    fn is_known(&self, column: Column) -> bool {
        let any = |known: fn(&CurvePoint) -> bool| self.points.iter().any(|point| known(point));
        match column {
            Rate | P99 | Valid => true,
            Due => any(|point| point.due().is_some()),
            P50 => any(|point| !point.response.p50.values.is_empty()),
            P95 => any(|point| !point.response.p95.values.is_empty()),
            P999 => any(|point| !point.response.p999.values.is_empty()),
            // In a closed loop it is the response time.
            Service => any(|point| point.service != point.response),
            Cpu => any(|point| !point.cpu_per_operation.values.is_empty()),
            EngineCache => any(|point| point.figures.median.engine_cache_hit_ratio.is_some()),
            PageCache => any(|point| point.figures.median.page_cache_hit_ratio.is_some()),
            Requests => any(|point| requests(point).is_some()),
            Queue => any(|point| point.figures.median.device_queue.is_some()),
            Size => select::is_size_shown(self.points.iter().copied()),
            Written => select::is_written_shown(self.points.iter().copied()),
            ChartLine | Cost => self.points.iter().any(|point| self.value(column, point).is_some()),
            Cause => any(|point| point.cause.is_some()),
        }
    }

    fn cell(&self, column: Column, point: &CurvePoint) -> String {
        let numbers = self.screen.numbers();
        if let (Some(refused), false) =
            (&point.refused, matches!(column, Due | Valid | Cause | ChartLine | Cost))
        {
            let figure = self.cell(column, refused);
            return paint(DIM, &select::in_brackets(&figure, numbers));
        }
        let figures = &point.figures.median;
        let share = |value| words::figure(FigureUnit::Share, value, numbers);
        let latency = |estimate: &Estimate, at_least: bool| {
            let sign = match (at_least, self.screen.unicode) {
                (false, _) => "",
                (true, true) => "≥",
                (true, false) => ">=",
            };
            format!("{sign}{}", numbers.latency(select::median(estimate)))
        };
        match column {
            Valid => super::table::valid(point, self.screen),
            Cause => match select::bottleneck(self.analysis, self.mix, point) {
                Some(cause) => cause.kind.name().into(),
                None => numbers.nothing().into(),
            },
            ChartLine => match select::line(self.analysis, &point.arm, self.mix) {
                Some(line) => numbers.rate(select::median(&line.rate)),
                None => numbers.nothing().into(),
            },
            Cost => match self.cost(point) {
                Some((cost, estimate)) => format!(
                    "{} {}",
                    words::money(select::median(estimate), numbers),
                    self.screen.short(&cost.currency, 8)
                ),
                None => numbers.nothing().into(),
            },
            Due => numbers.rate(point.due().unwrap_or(f64::NAN)),
            Rate => numbers.rate(select::median(&point.throughput)),
            P50 => latency(&point.response.p50, false),
            P95 => latency(&point.response.p95, false),
            P99 => latency(&point.response.p99, point.p99_at_least),
            P999 => latency(&point.response.p999, point.p999_at_least),
            Service => latency(&point.service.p99, false),
            Cpu => latency(&point.cpu_per_operation, false),
            EngineCache => share(figures.engine_cache_hit_ratio),
            PageCache => share(figures.page_cache_hit_ratio),
            Requests => words::figure(FigureUnit::PerSecond, requests(point), numbers),
            Queue => words::figure(FigureUnit::Count, figures.device_queue, numbers),
            Size => words::figure(FigureUnit::Bytes, figures.data_bytes, numbers),
            Written => {
                let bytes = figures.engine_written_bytes_per_operation;
                words::figure(FigureUnit::BytesPerOperation, bytes, numbers)
            }
        }
    }
}

/// Reads and writes at the device, a second.
fn requests(point: &CurvePoint) -> Option<f64> {
    let figures = &point.figures.median;
    let (reads, writes) = (figures.device_reads_per_second, figures.device_writes_per_second);
    (reads.is_some() || writes.is_some()).then(|| reads.unwrap_or(0.0) + writes.unwrap_or(0.0))
}

fn title(column: Column) -> &'static str {
    match column {
        Due => "due",
        Rate => "op/s",
        P50 => "p50",
        P95 => "p95",
        P99 => "p99",
        P999 => "p99.9",
        Service => "p99 service",
        Cpu => "CPU/op",
        EngineCache => "engine hits",
        PageCache => "page cache hits",
        Requests => "disk IOPS",
        Queue => "queue",
        Size => "on disk",
        Written => "written/op",
        ChartLine => "line, op/s",
        Cost => "cost per 1M ops",
        Valid => "valid",
        Cause => "bottleneck",
    }
}
