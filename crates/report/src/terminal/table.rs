//! One arm of one mix over the load. Columns are left out, the least telling first, until the table fits.

use super::DIM;
use super::screen::{Screen, paint};
use crate::select;
use crate::words;
use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use plimsoll_judge::{Curve, CurvePoint, Estimate, ValidityState};
use plimsoll_record::quantities::numbers::Numbers;
use plimsoll_record::{LoadKind, Severity};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Load,
    /// What was due, where that is not what was requested.
    Due,
    Rate,
    Interval,
    P50,
    P95,
    P99,
    P999,
    Cpu,
    Errors,
    Valid,
    Cause,
}

use Column::{Cause, Cpu, Due, Errors, Interval, Load, P50, P95, P99, P999, Rate, Valid};

/// From the fullest to the barest; `true` spells numbers out.
const LAYOUTS: [(bool, &[Column]); 9] = [
    (true, &[Load, Rate, Interval, P50, P95, P99, P999, Cpu, Errors, Valid, Cause]),
    (false, &[Load, Rate, Interval, P50, P99, Errors, Valid, Cause]),
    (false, &[Load, Rate, P99, Valid, Cause]),
    (true, &[Load, Rate, Interval, P50, P95, P99, P999, Cpu, Errors, Valid]),
    (false, &[Load, Rate, Interval, P50, P95, P99, P999, Cpu, Errors, Valid]),
    (false, &[Load, Rate, Interval, P50, P99, P999, Errors, Valid]),
    (false, &[Load, Rate, P50, P99, P999, Errors, Valid]),
    (false, &[Load, Rate, P50, P99, Valid]),
    (false, BAREST),
];

const BAREST: &[Column] = &[Load, Rate, P99];

#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    full: bool,
    columns: &'static [Column],
}

impl Layout {
    /// The fullest in which the tables of all these curves fit, so that they look alike.
    pub(super) fn of(curves: &[&Curve], screen: &Screen) -> Self {
        let mut layout = Self { full: false, columns: BAREST };
        let caused = |curve: &&Curve| curve.points.iter().any(|point| point.cause.is_some());
        let with_causes = curves.iter().any(caused);
        for (full, columns) in LAYOUTS {
            if columns.contains(&Cause) != with_causes && columns != BAREST {
                continue;
            }
            layout = Self { full, columns };
            let fits = |curve: &&Curve| {
                draw(curve, layout, screen)
                    .lines()
                    .all(|line| screen.columns(&strip_str(line).to_string()) <= screen.width)
            };
            if curves.iter().all(fits) {
                break;
            }
        }
        layout
    }
}

/// A table without lines, as wide as what is in it.
pub(super) fn unruled() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table
}

/// The text of a table, without spaces at the ends of lines.
pub(super) fn printed(table: &Table) -> String {
    let mut out = String::new();
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

pub(super) fn draw(curve: &Curve, layout: Layout, screen: &Screen) -> String {
    let Layout { full, columns } = layout;
    let is_due = curve.points.iter().any(|point| point.due().is_some());
    let columns: Vec<Column> = columns
        .iter()
        .flat_map(|column| match column {
            Load if is_due => vec![Load, Due],
            other => vec![*other],
        })
        .collect();
    let mut table = unruled();
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    table.set_header(
        columns
            .iter()
            .map(|column| right(paint(Style::new().dimmed(), &header(*column, curve, full)))),
    );
    for point in &curve.points {
        table
            .add_row(columns.iter().map(|column| right(cell(*column, point, curve, full, screen))));
    }
    for (column, kind) in table.column_iter_mut().zip(&columns) {
        let gap = if !full && matches!(kind, Errors | Valid) { 1 } else { 2 };
        column.set_padding((gap, 0));
    }
    printed(&table)
}

/// Whether all loads are of one kind, which the header then names, so that rows hold the number alone.
fn load_header(curve: &Curve) -> Option<&'static str> {
    let closed = |point: &CurvePoint| {
        matches!(point.load, LoadKind::Closed { think_time_ns: 0, target: None, .. })
    };
    let open = |point: &CurvePoint| matches!(point.load, LoadKind::Open { .. });
    if curve.points.iter().all(closed) {
        return Some("threads");
    }
    curve.points.iter().all(open).then_some("offered")
}

fn header(column: Column, curve: &Curve, full: bool) -> String {
    let name = match column {
        Load => load_header(curve).unwrap_or("load"),
        Due => "due",
        Rate => "op/s",
        Interval => "interval",
        P50 => "p50",
        P95 => "p95",
        P99 => "p99",
        P999 => "p99.9",
        Cpu => "CPU/op",
        Errors if full => "errors",
        Errors => "err",
        Valid => "valid",
        Cause => "bottleneck",
    };
    name.into()
}

fn cell(column: Column, point: &CurvePoint, curve: &Curve, full: bool, screen: &Screen) -> String {
    let numbers = screen.numbers();
    if let (Some(refused), Rate | P50 | P95 | P99 | P999 | Cpu) = (&point.refused, column) {
        let figure = cell(column, refused, curve, full, screen);
        return paint(DIM, &select::in_brackets(&figure, numbers));
    }
    let latency = |estimate: &Estimate| spelled_latency(select::median(estimate), full, numbers);
    let bounded = |estimate: &Estimate, at_least: bool| {
        let sign = match (at_least, screen.unicode) {
            (false, _) => "",
            (true, true) => "≥",
            (true, false) => ">=",
        };
        format!("{sign}{}", latency(estimate))
    };
    match column {
        Load => match (load_header(curve).is_some(), point.load) {
            (true, LoadKind::Closed { sessions, .. }) => numbers.count(sessions.into()),
            (true, LoadKind::Open { rate, .. }) => spelled_rate(rate, full, numbers),
            (false, _) => screen.short(&point.load_label, 24),
        },
        Valid => valid(point, screen),
        Cause => match &point.cause {
            Some(cause) => cause.kind.name().into(),
            None => numbers.nothing().into(),
        },
        Due => spelled_rate(point.due().unwrap_or(f64::NAN), full, numbers),
        Errors if point.errors > 0 => {
            paint(AnsiColor::Red.on_default(), &errors(point.errors, full, numbers))
        }
        Errors => errors(point.errors, full, numbers),
        Rate => spelled_rate(select::median(&point.throughput), full, numbers),
        Interval => match point.throughput.interval {
            Some((low, high)) if full => format!(
                "{} to {}",
                spelled_rate(low, true, numbers),
                spelled_rate(high, true, numbers)
            ),
            Some((low, high)) => screen
                .plain(&format!(
                    "{}–{}",
                    spelled_rate(low, false, numbers),
                    spelled_rate(high, false, numbers)
                ))
                .into_owned(),
            None => numbers.nothing().into(),
        },
        P50 => latency(&point.response.p50),
        P95 => latency(&point.response.p95),
        P99 => bounded(&point.response.p99, point.p99_at_least),
        P999 => bounded(&point.response.p999, point.p999_at_least),
        Cpu => latency(&point.cpu_per_operation),
    }
}

fn spelled_rate(rate: f64, full: bool, numbers: Numbers) -> String {
    if full { numbers.rate(rate) } else { numbers.compact(rate) }
}

fn spelled_latency(nanos: f64, full: bool, numbers: Numbers) -> String {
    if full { numbers.latency(nanos) } else { numbers.latency_tight(nanos) }
}

fn errors(count: u64, full: bool, numbers: Numbers) -> String {
    if full || count < 1_000 { numbers.count(count) } else { numbers.compact(count as f64) }
}

/// Valid runs of all, with a mark: all good, something to know, nothing to compare.
pub(super) fn valid(point: &CurvePoint, screen: &Screen) -> String {
    let noticed = point
        .results
        .iter()
        .flat_map(|result| &result.warnings)
        .any(|warning| warning.severity() >= Severity::Caution);
    let state = match point.valid_runs {
        0 => ValidityState::Bad,
        valid if valid < point.runs || noticed => ValidityState::Caution,
        _ => ValidityState::Good,
    };
    let mark =
        paint(super::remarks::state_style(state), words::validity_mark(state, screen.unicode));
    format!("{}/{} {mark}", point.valid_runs, point.runs)
}
