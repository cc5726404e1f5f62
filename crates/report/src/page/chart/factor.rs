//! What the cells of a grid measured, over the levels of one factor. An axis is drawn to scale, with a line for each level of another factor; other levels stand in
//! equal steps, and nothing joins them.

use super::plot::Plot;
use super::values::{ValueSeries, Values};
use super::{ArmStyle, Path, answering};
use crate::axis::{Axis, Scale};
use crate::page::prose;
use crate::text;
use maud::{Markup, html};
use plimsoll_judge::{CurvePoint, Estimate, FigureUnit, Figures};
use plimsoll_record::quantities::numbers::PAGE;

/// A figure that several of stand beside each other.
const PLOT: Plot = Plot::WIDE;
/// Levels of an axis from which on its scale is logarithmic: largest over smallest.
const LOGARITHMIC_FROM: f64 = 8.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CellQuantity<'a> {
    Throughput,
    ResponseP99,
    /// Price of a million successful operations, in this currency.
    Cost(&'a str),
    /// The figure of this place in [`Figures::ALL`], the median of the runs.
    Figure(usize),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CellPoint<'a> {
    pub(crate) point: &'a CurvePoint,
    /// Price of an hour of its arm.
    pub(crate) per_hour: Option<f64>,
}

impl CellQuantity<'_> {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Throughput => "Throughput",
            Self::Cost(_) => "Cost",
            Self::ResponseP99 => "p99 response time",
            Self::Figure(place) => Figures::ALL[place].label,
        }
    }

    /// What its unit leaves out: `, per second`.
    pub(crate) fn per(self) -> String {
        match self {
            Self::Figure(place) => match crate::page::figure::unit(Figures::ALL[place].unit) {
                "" => String::new(),
                per => format!(", {per}"),
            },
            Self::Cost(currency) => format!(", {} per 1M ops", text::short(currency, 8)),
            Self::Throughput | Self::ResponseP99 => String::new(),
        }
    }

    /// Median and interval of a point.
    pub(crate) fn of(self, cell: CellPoint<'_>) -> Option<(f64, Option<(f64, f64)>)> {
        let point = cell.point;
        let estimate = |one: &Estimate| Some((one.median?, one.interval));
        if point.valid_runs == 0 {
            return None;
        }
        match self {
            Self::Throughput => estimate(&point.throughput),
            Self::ResponseP99 => estimate(&point.response.p99),
            Self::Cost(_) => {
                let of_a_million = cell.per_hour? / 3_600.0 * 1e6;
                let (median, ends) = estimate(&point.throughput)?;
                let cost = |rate: f64| of_a_million / rate;
                (median > 0.0).then(|| {
                    let ends = ends.filter(|(low, _)| *low > 0.0);
                    (cost(median), ends.map(|(low, high)| (cost(high), cost(low))))
                })
            }
            Self::Figure(place) => {
                let values = crate::page::figure::describe(&point.figures.median);
                values[place].map(|value| (value, None))
            }
        }
    }

    pub(crate) fn spelled(self, value: f64) -> String {
        match self {
            Self::Throughput => format!("{}\u{202f}op/s", PAGE.rate(value)),
            Self::ResponseP99 => PAGE.latency(value),
            Self::Cost(currency) => {
                format!("{}\u{202f}{}", crate::words::money(value, PAGE), text::short(currency, 8))
            }
            Self::Figure(place) => {
                crate::words::figure(Figures::ALL[place].unit, Some(value), PAGE)
            }
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Throughput => "op/s",
            Self::ResponseP99 => "ns",
            Self::Cost(_) => "",
            Self::Figure(place) => match Figures::ALL[place].unit {
                FigureUnit::Bytes | FigureUnit::BytesPerSecond | FigureUnit::BytesPerOperation => {
                    "B"
                }
                FigureUnit::Nanoseconds | FigureUnit::NanosecondsPerOperation => "ns",
                FigureUnit::Share => "share",
                _ => "",
            },
        }
    }

    fn axis(self, lowest: f64, highest: f64) -> Axis {
        match self {
            Self::Throughput => Axis::rate(highest, 5),
            Self::ResponseP99 => Axis::latency(lowest, highest, "p99 response time"),
            Self::Cost(currency) => {
                Axis::low_amount(highest, &format!("{} per 1M ops", text::short(currency, 8)))
            }
            Self::Figure(place) => match Figures::ALL[place].unit {
                FigureUnit::Share => Axis::shares(""),
                FigureUnit::Bytes | FigureUnit::BytesPerSecond | FigureUnit::BytesPerOperation => {
                    Axis::low_bytes(highest, Figures::ALL[place].label)
                }
                FigureUnit::Nanoseconds | FigureUnit::NanosecondsPerOperation => {
                    Axis::low_latency(highest, Figures::ALL[place].label)
                }
                _ => Axis::low_rate(highest, Figures::ALL[place].label),
            },
        }
    }
}

/// One line: a level of a factor.
pub(crate) struct LevelLine<'a> {
    pub(crate) name: String,
    pub(crate) style: ArmStyle,
    /// What was measured at each level along; `None` where there is no such cell.
    pub(crate) points: Vec<Option<CellPoint<'a>>>,
}

/// The lines of one panel.
pub(crate) struct FactorChart<'a> {
    pub(crate) id: String,
    /// Charts with the same cursor.
    pub(crate) group: &'a str,
    /// What the panel shows, beside the quantity.
    pub(crate) title: String,
    /// Name of the factor along.
    pub(crate) along: &'a str,
    pub(crate) levels: Vec<String>,
    /// Amounts of its levels, rising, where it is an axis.
    pub(crate) amounts: Option<Vec<f64>>,
    pub(crate) lines: Vec<LevelLine<'a>>,
    pub(crate) quantity: CellQuantity<'a>,
}

impl FactorChart<'_> {
    /// Whether anything of this quantity is known.
    pub(crate) fn is_known(&self) -> bool {
        let mut points = self.lines.iter().flat_map(|line| &line.points);
        points.any(|point| point.is_some_and(|point| self.quantity.of(point).is_some()))
    }

    pub(crate) fn draw(&self) -> Markup {
        let places: Vec<f64> = match &self.amounts {
            Some(amounts) => amounts.clone(),
            None => (0..self.levels.len()).map(|place| place as f64).collect(),
        };
        let x = self.x_axis(&places);
        let y = self.y_axis();
        let content = html! {
            (PLOT.frame(&x, &y))
            @for (number, line) in self.lines.iter().enumerate() { (self.line(line, number, &places, &x, &y)) }
        };
        let title = match self.title.as_str() {
            "" => format!("{} over {}", self.quantity.name(), self.along),
            more => format!("{} over {}, {more}", self.quantity.name(), self.along),
        };
        let values = Values {
            group: self.group,
            plot: PLOT,
            scale: x.scale,
            unit: "",
            x: places,
            labels: self.levels.iter().map(|level| format!("{} {level}", self.along)).collect(),
            stretch: 1,
            series: self.lines.iter().map(|line| self.series(line)).collect(),
        };
        let size = (PLOT.width, PLOT.height);
        answering(&self.id, "wide", size, (&title, &self.about()), &values, &content)
    }

    fn series(&self, line: &LevelLine<'_>) -> ValueSeries {
        let known = |point: &Option<CellPoint<'_>>| point.and_then(|point| self.quantity.of(point));
        let values = line.points.iter().map(known);
        let end = |pick: fn((f64, f64)) -> f64| -> Vec<f64> {
            let ends = line.points.iter().map(known);
            ends.map(|one| one.and_then(|(_, interval)| interval).map_or(f64::NAN, pick)).collect()
        };
        let has_ends =
            line.points.iter().any(|point| known(point).is_some_and(|(_, ends)| ends.is_some()));
        ValueSeries {
            name: text::short(&line.name, 48),
            unit: self.quantity.unit(),
            style: Some(line.style),
            values: values.map(|one| one.map_or(f64::NAN, |(median, _)| median)).collect(),
            ends: has_ends.then(|| (end(|(low, _)| low), end(|(_, high)| high))),
        }
    }

    fn x_axis(&self, places: &[f64]) -> Axis {
        let (first, last) =
            (places.first().copied().unwrap_or(0.0), places.last().copied().unwrap_or(1.0));
        let is_logarithmic =
            self.amounts.is_some() && first > 0.0 && last / first >= LOGARITHMIC_FROM;
        let scale = if is_logarithmic {
            let room = (last / first).powf(0.06);
            Scale::Log { from: first / room, to: last * room }
        } else {
            let room = if last > first { (last - first) * 0.08 } else { 0.5 };
            Scale::Linear { from: first - room, to: last + room }
        };
        // Labels that would touch are left out.
        let mut ticks: Vec<(f64, String)> = Vec::new();
        let wide = |label: &str| label.chars().count() as f64 * 6.8 + 8.0;
        let mut free_from = f64::NEG_INFINITY;
        for (place, level) in places.iter().zip(&self.levels) {
            let label = text::short(level, 18);
            let (at, half) = (PLOT.x(scale.share(*place)), wide(&label) / 2.0);
            if at - half >= free_from {
                free_from = at + half;
                ticks.push((*place, label));
            }
        }
        let title = if is_logarithmic {
            format!("{} (log scale)", self.along)
        } else {
            self.along.to_owned()
        };
        Axis { scale, ticks, title }
    }

    fn y_axis(&self) -> Axis {
        let (mut lowest, mut highest) = (f64::INFINITY, 0.0f64);
        for point in self.lines.iter().flat_map(|line| &line.points).flatten() {
            let Some((median, interval)) = self.quantity.of(*point) else {
                continue;
            };
            let ends = interval.map(|(low, high)| [low, high]);
            for value in
                ends.into_iter().flatten().chain([median]).filter(|value| value.is_finite())
            {
                highest = highest.max(value);
                if value > 0.0 {
                    lowest = lowest.min(value);
                }
            }
        }
        if highest <= 0.0 {
            highest = 1.0;
        }
        self.quantity.axis(lowest.min(highest), highest)
    }

    fn line(
        &self,
        line: &LevelLine<'_>,
        number: usize,
        places: &[f64],
        x: &Axis,
        y: &Axis,
    ) -> Markup {
        let (mut path, mut whiskers, mut failed) =
            (Path::default(), Path::default(), Path::default());
        let mut marks = Vec::new();
        let mut pen_down = false;
        // Whiskers of several lines stand beside each other.
        let apart = if self.amounts.is_some() { 3.0 } else { 14.0 };
        let beside = (number as f64 - (self.lines.len() as f64 - 1.0) / 2.0) * apart;
        for (index, (place, point)) in places.iter().zip(&line.points).enumerate() {
            let at = PLOT.x(x.scale.share(*place));
            let Some(point) = point else {
                pen_down = false;
                continue;
            };
            let Some((median, interval)) = self.quantity.of(*point) else {
                failed.cross(at + beside, PLOT.y(0.0) - 7.0);
                pen_down = false;
                continue;
            };
            let height = |value: f64| PLOT.y(y.scale.share(value));
            let is_ordered = self.amounts.is_some();
            match (is_ordered, pen_down) {
                (false, _) => {}
                (true, false) => path.move_to(at, height(median)),
                (true, true) => path.line_to(at, height(median)),
            }
            pen_down = true;
            if let Some((low, high)) = interval {
                whiskers.through([(at + beside, height(low)), (at + beside, height(high))]);
            }
            let description = interval.map_or(String::new(), |(low, high)| {
                format!(" ({} to {})", self.quantity.spelled(low), self.quantity.spelled(high))
            });
            let words = format!(
                "{}, {} {}: {}{description}",
                line.name,
                self.along,
                self.levels[index],
                self.quantity.spelled(median)
            );
            marks.push((if is_ordered { at } else { at + beside }, height(median), words));
        }
        html! {
            g class=(line.style.class()) {
                @if !whiskers.is_empty() { path.whisker d=(whiskers.data()) {} }
                @if !path.is_empty() { path.line d=(path.data()) {} }
                @if !failed.is_empty() { path.failed d=(failed.data()) { title { (text::short(&line.name, 80)) ": no valid run here" } } }
                @for (x, y, words) in &marks { path.mark d=(line.style.mark(*x, *y, 4.5)) { title { (prose::prose(words)) } } }
            }
        }
    }

    /// For those who do not see the picture.
    fn about(&self) -> String {
        const LINES: usize = 8;
        let mut sentences = Vec::new();
        for line in self.lines.iter().take(LINES) {
            let known = line.points.iter().zip(&self.levels).filter_map(|(point, level)| {
                let (median, _) = self.quantity.of((*point)?)?;
                Some(format!("{} at {level}", self.quantity.spelled(median)))
            });
            let known: Vec<String> = known.collect();
            let name = text::short(&line.name, 48);
            sentences.push(match known.as_slice() {
                [] => format!("{name}: no valid run."),
                [only] => format!("{name}: {only}."),
                [first, .., last] => format!("{name}: from {first} to {last}."),
            });
        }
        if self.lines.len() > LINES {
            sentences
                .push(format!("And {} more lines, in the table below.", self.lines.len() - LINES));
        }
        sentences.join(" ")
    }
}
