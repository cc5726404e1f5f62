//! A disk in the terminal: a table for each kind of request, and a small chart.

use super::{BOLD, DIM, Screen};
use crate::disk::{DiskPicture, DiskRow, kinds, series};
use crate::terminal::chart::{ChartLine, over_load};
use crate::terminal::screen::paint;
use crate::terminal::table::{printed, unruled};
use comfy_table::{Cell, CellAlignment};

/// Everything that was measured, as tables and charts.
pub fn disk(picture: &DiskPicture<'_>, screen: &Screen) -> String {
    let numbers = screen.numbers();
    let mut out = format!(
        "{}\n{}\n",
        paint(BOLD, &screen.short(picture.name, screen.width)),
        paint(
            DIM,
            &screen.short(
                &format!(
                    "{} used, {}, {}",
                    numbers.bytes(picture.size_bytes),
                    picture.by,
                    picture.at
                ),
                screen.width
            )
        )
    );
    for kind in kinds(picture) {
        let rows: Vec<&DiskRow> = picture.rows.iter().filter(|row| row.what == kind).collect();
        out.push_str(&format!("\n{}\n", paint(BOLD, kind)));
        out.push_str(&table(&rows, screen));
        let lines: Vec<ChartLine> = series(picture, kind)
            .into_iter()
            .enumerate()
            .map(|(place, series)| ChartLine {
                place,
                name: series.name,
                points: series
                    .rows
                    .iter()
                    .map(|row| row.iops.is_finite().then(|| (f64::from(row.in_flight), row.iops)))
                    .collect(),
            })
            .collect();
        out.push_str(&over_load(&lines, "requests in flight", "IOPS", "sizes", screen));
    }
    out
}

fn table(rows: &[&DiskRow], screen: &Screen) -> String {
    let numbers = screen.numbers();
    let with_fsync = rows.iter().any(|row| row.fsync.is_some());
    let mut table = unruled();
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let mut titles = vec!["size", "in flight", "IOPS", "MB/s", "mean", "p50", "p99", "p99.9"];
    if with_fsync {
        titles.push("fsync mean");
        titles.push("fsync p99");
    }
    table.set_header(titles.iter().map(|title| right(paint(DIM, title))));
    for row in rows {
        let latency = row.latency;
        let mut cells = vec![
            numbers.bytes(row.block_bytes.into()),
            numbers.count(row.in_flight.into()),
            numbers.rate(row.iops),
            numbers.significant(row.bytes_per_s / 1e6, 3),
            numbers.latency(latency.mean_ns),
            numbers.latency(latency.p50_ns),
            numbers.latency(latency.p99_ns),
            numbers.latency(latency.p999_ns),
        ];
        if with_fsync {
            let spelled = |nanos: Option<f64>| {
                nanos.map_or_else(|| numbers.nothing().to_owned(), |nanos| numbers.latency(nanos))
            };
            cells.push(spelled(row.fsync.map(|fsync| fsync.mean_ns)));
            cells.push(spelled(row.fsync.map(|fsync| fsync.p99_ns)));
        }
        table.add_row(cells.into_iter().map(right));
    }
    for column in table.column_iter_mut() {
        column.set_padding((2, 0));
    }
    printed(&table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::disk::picture;

    #[test]
    fn in_a_terminal() {
        let text = disk(&picture(), &Screen::default());
        insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
    }

    #[test]
    fn in_a_terminal_that_knows_ascii_alone() {
        let screen = Screen { width: 80, unicode: false };
        let text = disk(&picture(), &screen);
        assert!(text.is_ascii(), "{text}");
    }
}
