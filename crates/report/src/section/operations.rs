//! What each operation of a mix did, arm by arm and point by point.

use super::{Cell, Column, Group, Narrow, Table};
use crate::{select, text};
use plimsoll_judge::{Curve, CurvePoint, LatencySummary, StatementSummary};
use plimsoll_record::quantities::numbers::Numbers;

/// Columns to which names are shortened.
const NAME: usize = 48;

/// The operations at each point with a valid run; `None` without any.
pub(crate) fn operations(curves: &[&Curve], numbers: Numbers) -> Option<Table> {
    let found_nothing = curves.iter().flat_map(|curve| known(curve)).any(|point| {
        point.operations.values().any(|own| own.nothing.median.is_some_and(|share| share > 0.0))
    });
    let group = |curve: &&Curve| {
        let rows = known(curve).flat_map(|point| rows(point, found_nothing, numbers));
        Group::of_arm(&curve.arm, rows.collect())
    };
    let mut groups: Vec<Group> = curves.iter().map(group).collect();
    groups.retain(|group| !group.rows.is_empty());
    if groups.is_empty() {
        return None;
    }
    let mut columns = vec![
        Column::words("Load"),
        Column::words("Operation"),
        Column::figure("Throughput", "op/s", "op/s"),
        Column::figure("p50", "", ""),
        Column::figure("p95", "", ""),
        Column::figure("p99", "", ""),
    ];
    if found_nothing {
        columns.push(Column::figure("Found nothing", "of the calls", "nothing"));
    }
    columns.push(Column::figure("p99.9", "", ""));
    columns.push(Column::figure("Mean", "", ""));
    Some(Table::new("operations", columns, groups, Narrow::Drop))
}

/// Whether a table of these says more than that of all operations together.
pub(crate) fn has_several_operations(curves: &[&Curve]) -> bool {
    let mut points = curves.iter().flat_map(|curve| known(curve));
    points.any(|point| point.by_operation.len() > 1 || !point.statements.is_empty())
}

fn known(curve: &Curve) -> impl Iterator<Item = &CurvePoint> {
    curve.points.iter().filter(|point| point.valid_runs > 0)
}

fn rows(point: &CurvePoint, found_nothing: bool, numbers: Numbers) -> Vec<Vec<Cell>> {
    let each = point.by_operation.iter();
    let whole = each.map(|(name, latencies)| row(point, name, latencies, found_nothing, numbers));
    let parts = point.statements.iter().map(|one| part_row(point, one, found_nothing, numbers));
    whole.chain(parts).collect()
}

/// A statement of a transaction or of steps. Only its count and its mean are known.
fn part_row(
    point: &CurvePoint,
    statement: &StatementSummary,
    found_nothing: bool,
    numbers: Numbers,
) -> Vec<Cell> {
    let mut cells = vec![
        Cell::from(text::short(&point.load_label, NAME)),
        Cell::from(text::short(&statement.name, NAME)).with(Some("service time".to_owned())),
        statement.throughput.median.map(|rate| numbers.rate(rate)).into(),
    ];
    // Percentiles, and whether it found nothing.
    let unknown = if found_nothing { 5 } else { 4 };
    cells.extend((0..unknown).map(|_| Cell::from(None)));
    cells.push(Cell::from(numbers.latency(select::median(&statement.mean))));
    cells
}

fn row(
    point: &CurvePoint,
    name: &str,
    latencies: &LatencySummary,
    found_nothing: bool,
    numbers: Numbers,
) -> Vec<Cell> {
    let is_service = point.response.mean.median.is_none();
    let latency = |estimate| Cell::from(numbers.latency(select::median(estimate)));
    let own = point.operations.get(name);
    let throughput = match own {
        Some(own) => own.throughput.median,
        // A single operation is all of them.
        None => point.throughput.median.filter(|_| point.by_operation.len() == 1),
    };
    let nothing = own.and_then(|own| own.nothing.median);
    let mut cells = vec![
        Cell::from(text::short(&point.load_label, NAME)),
        Cell::from(text::short(name, NAME)).with(is_service.then(|| "service time".to_owned())),
        throughput.map(|rate| numbers.rate(rate)).into(),
        latency(&latencies.p50),
        latency(&latencies.p95),
        latency(&latencies.p99),
    ];
    if found_nothing {
        cells.push(nothing.map(|share| numbers.percent(share)).into());
    }
    cells.push(latency(&latencies.p999));
    cells.push(latency(&latencies.mean));
    cells
}
