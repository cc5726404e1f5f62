//! What was watched over the seconds of one point: small charts below each other, on the time axis of the throughput above them.

use super::latency::checkpoints;
use super::plot::Plot;
use super::time::{LEFT, RIGHT, SECONDS_DRAWN, WIDTH, events, stretched, trace};
use super::values::{ValueSeries, Values};
use super::{ArmStyle, Path, Px, answering};
use crate::axis::{Axis, LEVEL};
use maud::{Markup, html};
use plimsoll_judge::{Figures, TimeSeries};
use plimsoll_record::DiskRates;

/// Height of one chart without the labels of the time axis.
const HEIGHT: f64 = 72.0;
const LABELS: f64 = 18.0;

const PLOT: Plot =
    Plot { width: WIDTH, height: HEIGHT, left: LEFT, right: RIGHT, top: 24.0, bottom: 5.0 };

type Line = Vec<(f64, f64)>;
/// Name, unit, and the line where it is known.
type Named = (&'static str, &'static str, Option<Line>);
/// A moment, and the shares of user, system, waiting and stolen time.
type Kinds = (f64, [f64; 4]);

/// All charts of one run of one arm.
pub(crate) struct WatchPanel<'a> {
    pub(crate) id: String,
    /// Charts with the same cursor.
    pub(crate) group: &'a str,
    pub(crate) title: String,
    pub(crate) style: ArmStyle,
    pub(crate) series: &'a TimeSeries,
    /// The disk's limits, drawn as lines.
    pub(crate) caps: DiskRates,
    /// End of the time axis, seconds.
    pub(crate) last: f64,
}

struct Row {
    axis: Axis,
    /// The first is drawn solid, the second dashed.
    lines: Vec<Line>,
    /// What each line is, its unit, and whether it is the second.
    names: Vec<(&'static str, &'static str, bool)>,
    /// Areas on top of each other, each from the one below.
    areas: Vec<Path>,
    caps: Vec<f64>,
}

impl WatchPanel<'_> {
    /// `None` where it was not watched.
    pub(crate) fn draw(&self) -> Option<Markup> {
        let rows = self.rows();
        if rows.is_empty() {
            return None;
        }
        let x = Axis::seconds(self.last);
        let bare = Axis { ticks: Vec::new(), ..x.clone() };
        let content = html! {
            @for (number, row) in rows.iter().enumerate() {
                @let axis = if number + 1 == rows.len() { &x } else { &bare };
                g transform={ "translate(0 " (Px(number as f64 * HEIGHT)) ")" } { (self.row(row, axis)) }
            }
        };
        let size = (WIDTH, rows.len() as f64 * HEIGHT + LABELS);
        let titles: Vec<&str> = rows.iter().map(|row| row.axis.title.as_str()).collect();
        let about = format!("Over time: {}.", titles.join("; "));
        let words = (self.title.as_str(), about.as_str());
        Some(answering(&self.id, "small", size, words, &self.values(&rows, &x), &content))
    }

    fn values(&self, rows: &[Row], x: &Axis) -> Values<'_> {
        let seconds: Line = self
            .series
            .seconds
            .iter()
            .map(|second| (second.at + second.length / 2.0, 0.0))
            .collect();
        let (seconds, stretch) = stretched(&seconds);
        let mut series = Vec::new();
        for row in rows {
            for (line, (name, unit, _)) in row.lines.iter().zip(&row.names) {
                series.push(ValueSeries {
                    name: (*name).into(),
                    unit,
                    style: None,
                    values: stretched(line).0.into_iter().map(|(_, value)| value).collect(),
                    ends: None,
                });
            }
        }
        let busy = self.line(|figures| figures.machine_busy);
        if let Some(busy) = busy {
            series.push(ValueSeries {
                name: "processors busy".into(),
                unit: "share",
                style: None,
                values: stretched(&busy).0.into_iter().map(|(_, value)| value).collect(),
                ends: None,
            });
        }
        Values {
            group: self.group,
            plot: PLOT,
            scale: x.scale,
            unit: "s",
            x: seconds.into_iter().map(|(at, _)| at).collect(),
            labels: Vec::new(),
            stretch,
            series,
        }
    }

    fn row(&self, row: &Row, x: &Axis) -> Markup {
        let at = |seconds: f64| PLOT.x(x.scale.share(seconds));
        let (top, base) = (PLOT.y(1.0), PLOT.y(0.0));
        html! {
            @for (from, to) in checkpoints(self.series) {
                rect.checkpoint x=(Px(at(from))) y=(Px(top)) width=(Px(at(to) - at(from))) height=(Px(base - top)) {}
            }
            (events(&PLOT, x, self.series.events.iter()))
            g class=(self.style.class()) {
                @for (number, area) in row.areas.iter().enumerate() {
                    path class={ "cpu cpu-" (number) } d=(area.data()) {}
                }
            }
            (PLOT.frame(x, &row.axis))
            @for cap in &row.caps {
                path.cap d={ "M" (Px(PLOT.left)) " " (Px(PLOT.y(row.axis.scale.share(*cap)))) "H" (Px(PLOT.x(1.0))) } {}
            }
            g class=(self.style.class()) {
                @for (line, (.., is_second)) in row.lines.iter().zip(&row.names) {
                    path class={ "watched" @if *is_second { " second" } } d=(trace(&PLOT, line, x, &row.axis).data()) {}
                }
            }
        }
    }

    /// A figure at the middle of each second; seconds without it are left out as no number, so that the line is interrupted.
    fn line(&self, of: impl Fn(&Figures) -> Option<f64>) -> Option<Line> {
        let seconds = self.series.seconds.iter().zip(&self.series.figures);
        let line: Line = seconds
            .map(|(second, figures)| {
                let value = of(figures).filter(|value| value.is_finite());
                (second.at + second.length / 2.0, value.unwrap_or(f64::NAN))
            })
            .collect();
        line.iter().any(|(_, value)| value.is_finite()).then_some(line)
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut add = |lines: [Named; 2], caps: Vec<f64>, axis: &dyn Fn(f64) -> Axis| {
            let known = lines
                .into_iter()
                .enumerate()
                .filter_map(|(place, (name, unit, line))| Some(((name, unit, place > 0), line?)));
            let (names, lines): (Vec<_>, Vec<Line>) = known.unzip();
            if lines.is_empty() {
                return;
            }
            let values = lines.iter().flatten().map(|(_, value)| *value);
            let highest = values
                .chain(caps.iter().copied())
                .filter(|value| value.is_finite())
                .fold(0.0, f64::max);
            rows.push(Row { axis: axis(highest), lines, names, areas: Vec::new(), caps });
        };
        // What never happened has no chart.
        let happened =
            |line: Option<Line>| line.filter(|line| line.iter().any(|(_, value)| *value > 0.0));
        // Taking a ticket of flow control costs every write a moment.
        let is_noticeable = |line: &Line| line.iter().any(|(_, value)| *value >= 0.01);
        add(
            [
                (
                    "reads within the server",
                    "ns",
                    happened(self.line(|figures| figures.server_read_ns)),
                ),
                (
                    "writes within the server",
                    "ns",
                    happened(self.line(|figures| figures.server_write_ns)),
                ),
            ],
            Vec::new(),
            &|highest| Axis::low_latency(highest, "within the server: reads, writes (dashed)"),
        );
        add(
            [
                (
                    "read tickets in use",
                    "share",
                    happened(self.line(|figures| figures.server_read_tickets_used)),
                ),
                (
                    "write tickets in use",
                    "share",
                    happened(self.line(|figures| figures.server_write_tickets_used)),
                ),
            ],
            Vec::new(),
            &|_| Axis::shares("server tickets in use: reads, writes (dashed)"),
        );
        add(
            [
                (
                    "reads queued in the server",
                    "",
                    happened(self.line(|figures| figures.server_reads_queued)),
                ),
                (
                    "writes queued in the server",
                    "",
                    happened(self.line(|figures| figures.server_writes_queued)),
                ),
            ],
            Vec::new(),
            &|highest| Axis::low_rate(highest, "queued in the server: reads, writes (dashed)"),
        );
        add(
            [
                (
                    "sessions waiting for flow control",
                    "share",
                    self.line(|figures| figures.flow_control_wait).filter(is_noticeable),
                ),
                (
                    "flow control holding back",
                    "share",
                    happened(self.line(|figures| figures.flow_control_lagged)),
                ),
            ],
            Vec::new(),
            &|_| Axis::shares("flow control: wait, held back (dashed)"),
        );
        add(
            [
                ("engine cache used", "share", self.line(|figures| figures.engine_cache_fill)),
                ("engine cache dirty", "share", self.line(|figures| figures.engine_cache_dirty)),
            ],
            Vec::new(),
            &|_| Axis::shares("engine cache: used, dirty (dashed)"),
        );
        add(
            [
                ("engine cache hits", "share", self.line(|figures| figures.engine_cache_hit_ratio)),
                ("page cache hits", "share", self.line(|figures| figures.page_cache_hit_ratio)),
            ],
            Vec::new(),
            &|_| Axis::shares("hits: engine cache, page cache (dashed)"),
        );
        add(
            [
                (
                    "read into the engine cache, per second",
                    "B",
                    self.line(|figures| figures.engine_read_bytes_per_second),
                ),
                ("", "", None),
            ],
            Vec::new(),
            &|highest| Axis::low_bytes(highest, "read into the engine cache, per second"),
        );
        add(
            [
                (
                    "evictions per operation",
                    "",
                    happened(self.line(|figures| figures.evictions_per_operation)),
                ),
                (
                    "by application threads",
                    "",
                    happened(self.line(|figures| figures.evictions_by_application_per_operation)),
                ),
            ],
            Vec::new(),
            &|highest| Axis::low_rate(highest, "evictions an op: all, by sessions (dashed)"),
        );
        add(
            [
                (
                    "written to the journal, per second",
                    "B",
                    happened(self.line(|figures| figures.journal_bytes_per_second)),
                ),
                ("", "", None),
            ],
            Vec::new(),
            &|highest| Axis::low_bytes(highest, "written to the journal, per second"),
        );
        add(
            [
                (
                    "time of a journal sync",
                    "ns",
                    happened(self.line(|figures| figures.journal_sync_ns)),
                ),
                ("", "", None),
            ],
            Vec::new(),
            &|highest| Axis::low_latency(highest, "time of a journal sync"),
        );
        let caps = [self.caps.joint, self.caps.read, self.caps.write];
        add(
            [
                (
                    "device reads per second",
                    "",
                    self.line(|figures| figures.device_reads_per_second),
                ),
                (
                    "device writes per second",
                    "",
                    self.line(|figures| figures.device_writes_per_second),
                ),
            ],
            caps.into_iter().flatten().collect(),
            &|highest| Axis::low_rate(highest, "device: reads, writes (dashed) per second"),
        );
        add(
            [
                ("latency of device reads", "ns", self.line(|figures| figures.device_read_ns)),
                ("latency of device writes", "ns", self.line(|figures| figures.device_write_ns)),
            ],
            Vec::new(),
            &|highest| Axis::low_latency(highest, "device latency: reads, writes (dashed)"),
        );
        add(
            [
                ("device queue", "", happened(self.line(|figures| figures.device_queue))),
                ("", "", None),
            ],
            Vec::new(),
            &|highest| Axis::low_rate(highest, "device queue: requests in flight"),
        );
        let areas = self.processors();
        if !areas.is_empty() {
            rows.push(Row {
                axis: Axis::shares("processors: user, system, waiting, stolen"),
                lines: Vec::new(),
                names: Vec::new(),
                areas,
                caps: Vec::new(),
            });
        }
        rows
    }

    /// User, system, waiting for a disk, stolen: shares of all processors' time, the means of a few seconds where there are many.
    fn processors(&self) -> Vec<Path> {
        let seconds: Vec<Kinds> = self
            .series
            .seconds
            .iter()
            .zip(&self.series.figures)
            .filter_map(|(second, figures)| {
                let busy = figures.machine_busy?;
                let kernel = figures.machine_kernel.unwrap_or(0.0);
                let kinds = [
                    busy - kernel,
                    kernel,
                    figures.machine_iowait.unwrap_or(0.0),
                    figures.machine_steal.unwrap_or(0.0),
                ];
                kinds
                    .iter()
                    .all(|share| share.is_finite())
                    .then_some((second.at + second.length / 2.0, kinds))
            })
            .collect();
        if seconds.is_empty() {
            return Vec::new();
        }
        let stretch = seconds.len().div_ceil(SECONDS_DRAWN / 2);
        let mut stacks: Vec<(f64, [f64; 5])> = Vec::new();
        for part in seconds.chunks(stretch) {
            let mean =
                |of: &dyn Fn(&Kinds) -> f64| part.iter().map(of).sum::<f64>() / part.len() as f64;
            let mut stack = [0.0; 5];
            for kind in 0..4 {
                stack[kind + 1] = stack[kind] + mean(&|second| second.1[kind].max(0.0));
            }
            stacks.push((mean(&|second| second.0), stack));
        }
        let x = Axis::seconds(self.last);
        let place = |at: f64, share: f64| (PLOT.x(x.scale.share(at)), PLOT.y(LEVEL.share(share)));
        (0..4)
            .map(|kind| {
                let upper = stacks.iter().map(|(at, stack)| place(*at, stack[kind + 1]));
                let lower = stacks.iter().rev().map(|(at, stack)| place(*at, stack[kind]));
                let mut path = Path::default();
                path.through(upper.chain(lower));
                path.close();
                path
            })
            .collect()
    }
}
