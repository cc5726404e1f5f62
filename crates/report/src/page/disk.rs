//! A disk as one HTML file: IOPS and p99 over the requests in flight, a line for each block size, and all figures.

use crate::axis::Axis;
use crate::disk::{DiskPicture, DiskRow, Series, kinds, series};
use crate::page::chart::{ArmStyle, Path, Plot, ValueSeries, Values, answering};
use crate::page::shell::{self, Place, Shell};
use crate::text;
use maud::{Markup, html};
use plimsoll_record::quantities::numbers::PAGE;

const PLOT: Plot = Plot::WIDE;
const NAME: usize = 80;

/// Makes the page: no request to anywhere.
pub fn page(disk: &DiskPicture<'_>) -> String {
    let name = text::short(disk.name, NAME);
    let body = html! {
        header.masthead {
            (shell::brand(Place::File))
            p.run {
                strong { (name) }
                span { (text::line(disk.by)) }
                time datetime=(text::line(disk.at)) { (text::line(disk.at)) }
            }
        }
        main {
            section.verdict {
                h1 { "What " (name) " can do" }
                p.lead {
                    "Measured on " (PAGE.bytes(disk.size_bytes)) " of it, past the page cache. Each job keeps one request in flight."
                }
            }
            @for (number, kind) in kinds(disk).into_iter().enumerate() {
                section { h2 { (sentence_case(kind)) } (figure(disk, kind, number)) }
            }
        }
    };
    let shell = Shell { title: &name, version: disk.version, place: Place::File };
    shell::document(&shell, &body)
}

fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn figure(disk: &DiskPicture<'_>, kind: &str, number: usize) -> Markup {
    let all = series(disk, kind);
    let rows = || all.iter().flat_map(|series| &series.rows);
    html! {
        figure.mix {
            figcaption {
                ul.legend {
                    @for (place, series) in all.iter().enumerate() {
                        li { span.arm { (ArmStyle::at(place).swatch()) (series.name) } }
                    }
                }
            }
            @if rows().map(|row| row.in_flight).any(|other| rows().any(|row| row.in_flight != other)) {
                div.pair {
                    (chart(&format!("disk-{number}-iops"), kind, "IOPS", &all, |row| row.iops))
                    (chart(&format!("disk-{number}-p99"), kind, "p99 latency", &all, |row| row.latency.p99_ns))
                }
            }
            (table(&all))
        }
    }
}

fn chart(
    id: &str,
    kind: &str,
    what: &str,
    all: &[Series<'_>],
    value: fn(&DiskRow) -> f64,
) -> Markup {
    let rows = || all.iter().flat_map(|series| &series.rows);
    let loads: Vec<f64> = rows().map(|row| f64::from(row.in_flight)).collect();
    let values = || rows().map(|row| value(row)).filter(|value| value.is_finite());
    let (lowest, highest) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let x = Axis::load(&loads, 12, "requests in flight".into());
    let y = if what == "IOPS" {
        Axis { title: "requests per second".into(), ..Axis::rate(highest, 5) }
    } else {
        Axis::latency(lowest, highest, what)
    };
    let content = html! {
        (PLOT.frame(&x, &y))
        @for (place, series) in all.iter().enumerate() {
            @let style = ArmStyle::at(place);
            @let places: Vec<(f64, f64)> = series
                .rows
                .iter()
                .filter(|row| value(row).is_finite())
                .map(|row| (
                    PLOT.x(x.scale.share(f64::from(row.in_flight))),
                    PLOT.y(y.scale.share(value(row))),
                ))
                .collect();
            g class=(style.class()) {
                path.line d=(line(&places)) {}
                @for (x, y) in &places { path.mark d=(style.mark(*x, *y, 4.5)) {} }
            }
        }
    };
    let mut at: Vec<u32> = rows().map(|row| row.in_flight).collect();
    at.sort_unstable();
    at.dedup();
    let lines = all.iter().enumerate().map(|(place, series)| {
        let of = |in_flight: &u32| {
            let mut rows = series.rows.iter();
            rows.find(|row| row.in_flight == *in_flight).map_or(f64::NAN, |row| value(row))
        };
        ValueSeries {
            name: text::short(&series.name, NAME),
            unit: if what == "IOPS" { "" } else { "ns" },
            style: Some(ArmStyle::at(place)),
            values: at.iter().map(of).collect(),
            ends: None,
        }
    });
    let values = Values {
        group: kind,
        plot: PLOT,
        scale: x.scale,
        unit: "",
        x: at.iter().map(|in_flight| f64::from(*in_flight)).collect(),
        labels: at.iter().map(|in_flight| format!("{in_flight} in flight")).collect(),
        stretch: 1,
        series: lines.collect(),
    };
    let title = format!("{what} against requests in flight, {kind}");
    let words = (title.as_str(), "The figures are in the table below.");
    answering(id, "wide", (PLOT.width, PLOT.height), words, &values, &content)
}

fn line(places: &[(f64, f64)]) -> String {
    let mut path = Path::default();
    for (number, (x, y)) in places.iter().enumerate() {
        if number == 0 {
            path.move_to(*x, *y);
        } else {
            path.line_to(*x, *y);
        }
    }
    path.data().to_owned()
}

fn table(all: &[Series<'_>]) -> Markup {
    let with_fsync = all.iter().flat_map(|series| &series.rows).any(|row| row.fsync.is_some());
    html! {
        div.scroll tabindex="0" role="region" aria-label="Figures" {
            table.data {
                thead { tr {
                    th scope="col" { "Size" }
                    @for title in ["in flight", "IOPS", "MB/s", "mean", "p50", "p99", "p99.9"] { th.num scope="col" { (title) } }
                    @if with_fsync { th.num scope="col" { "fsync mean" } th.num scope="col" { "fsync p99" } }
                } }
                tbody {
                    @for (place, series) in all.iter().enumerate() {
                        @for row in &series.rows {
                            tr {
                                th scope="row" { span.arm { (ArmStyle::at(place).swatch()) (series.name) } }
                                td.num { (PAGE.count(row.in_flight.into())) }
                                td.num { (PAGE.rate(row.iops)) }
                                td.num { (PAGE.significant(row.bytes_per_s / 1e6, 3)) }
                                td.num { (PAGE.latency(row.latency.mean_ns)) }
                                td.num { (PAGE.latency(row.latency.p50_ns)) }
                                td.num { (PAGE.latency(row.latency.p99_ns)) }
                                td.num { (PAGE.latency(row.latency.p999_ns)) }
                                @if with_fsync {
                                    td.num { (row.fsync.map_or_else(|| PAGE.nothing().to_owned(), |fsync| PAGE.latency(fsync.mean_ns))) }
                                    td.num { (row.fsync.map_or_else(|| PAGE.nothing().to_owned(), |fsync| PAGE.latency(fsync.p99_ns))) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
