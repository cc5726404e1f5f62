//! Throughput or p99 against load: one line an arm, a band for the interval, a dot for each block, a ring at the knee.

use super::plot::Plot;
use super::values::{ValueSeries, Values};
use super::{ArmStyle, ArmStyles, Path, Px, answering};
use crate::axis::{Axis, Scale, load_number};
use crate::page::prose;
use crate::select;
use crate::text;
use maud::{Markup, html};
use plimsoll_judge::{Curve, CurvePoint, Estimate, LineResult};
use plimsoll_record::LoadKind;
use plimsoll_record::quantities::numbers::PAGE;

/// Above this many dots in one picture none are drawn: they would be a smear, and the bytes of a page.
const DOTS: usize = 2_000;
/// The dots of blocks stand this far to the right of the mark that would hide them.
const BESIDE: f64 = 8.0;
/// Marks of one curve keep this distance, in units of the picture; the line goes through every point.
const BETWEEN_MARKS: f64 = 14.0;
/// Curves of arms without a look of their own that are still drawn, thin and grey.
const GREY_CURVES: usize = 40;

const PLOT: Plot = Plot::WIDE;

/// What is drawn over the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Throughput,
    ResponseP99,
}

impl Quantity {
    pub(crate) fn of(self, point: &CurvePoint) -> &Estimate {
        match self {
            Self::Throughput => &point.throughput,
            Self::ResponseP99 => &point.response.p99,
        }
    }

    pub(crate) fn spelled(self, value: f64) -> String {
        match self {
            Self::Throughput => format!("{}\u{202f}op/s", PAGE.rate(value)),
            Self::ResponseP99 => PAGE.latency(value),
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Throughput => "op/s",
            Self::ResponseP99 => "ns",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Throughput => "Throughput",
            Self::ResponseP99 => "p99 response time",
        }
    }
}

/// The curves of one mix.
pub(crate) struct LoadChart<'a> {
    pub(crate) id: String,
    /// Charts with the same cursor.
    pub(crate) group: &'a str,
    pub(crate) mix: &'a str,
    pub(crate) curves: Vec<&'a Curve>,
    pub(crate) styles: &'a ArmStyles,
    pub(crate) quantity: Quantity,
    /// The plimsoll lines of the mix, drawn over the rates of open loops.
    pub(crate) lines: &'a [&'a LineResult],
}

struct Frame {
    x: Axis,
    y: Axis,
    /// Arms beside each other within one load, in units of the picture.
    dodge: f64,
    single_load: bool,
    with_lines: bool,
}

impl LoadChart<'_> {
    /// The picture and, where something was left out of it, the words that say so.
    pub(crate) fn draw(&self) -> (Markup, Vec<String>) {
        let mut notes = Vec::new();
        let drawn = self.drawn_curves(&mut notes);
        let frame = self.frame(&drawn);
        let dots: usize = drawn
            .iter()
            .filter(|(_, style)| style.own())
            .flat_map(|(curve, _)| &curve.points)
            .map(|point| self.quantity.of(point).values.len())
            .sum();
        if dots > DOTS {
            notes.push(format!(
                "{} dots of single blocks are left out; the bands are not.",
                PAGE.count(dots as u64)
            ));
        }
        let title =
            format!("{} against load, mix {}", self.quantity.name(), text::short(self.mix, 60));
        let content = html! {
            (PLOT.frame(&frame.x, &frame.y))
            @if self.has_ideal(&drawn) && !frame.single_load { (ideal(&frame)) }
            @for (line, style) in self.drawn_lines(&frame) {
                g class=(style.class()) { (super::line::band(&PLOT, &frame.x, line)) }
            }
            @for (place, (curve, style)) in drawn.iter().enumerate() {
                @let shift = shift(place, drawn.len(), frame.dodge);
                (self.curve(curve, *style, &frame, shift, dots <= DOTS))
            }
        };
        let size = (PLOT.width, PLOT.height);
        let about = self.summary();
        let values = self.values(&drawn, &frame);
        let words = (title.as_str(), about.as_str());
        (answering(&self.id, "wide", size, words, &values, &content), notes)
    }

    /// Whether there is a throughput that was requested.
    fn has_ideal(&self, drawn: &[(&Curve, ArmStyle)]) -> bool {
        let mut points = drawn.iter().flat_map(|(curve, _)| &curve.points);
        self.quantity == Quantity::Throughput && points.all(select::is_open)
    }

    /// Every load at which any of these arms was measured.
    fn values(&self, drawn: &[(&Curve, ArmStyle)], frame: &Frame) -> Values<'_> {
        let own = || drawn.iter().filter(|(_, style)| style.own());
        let mut loads: Vec<(f64, String)> = own()
            .flat_map(|(curve, _)| &curve.points)
            .map(|point| (load_number(point.load), prose::label(&point.load_label, 60)))
            .filter(|(load, _)| load.is_finite())
            .collect();
        loads.sort_by(|a, b| a.0.total_cmp(&b.0));
        loads.dedup_by(|a, b| a.0 == b.0);
        let mut series = Vec::new();
        for (curve, style) in own() {
            let at = |load: f64| {
                let valid = curve.points.iter().filter(|point| point.valid_runs > 0);
                let mut here = valid.filter(|point| load_number(point.load) == load);
                here.next().map(|point| self.quantity.of(point))
            };
            let of = |value: fn(&Estimate) -> f64| -> Vec<f64> {
                let values = loads.iter().map(|(load, _)| at(*load).map_or(f64::NAN, value));
                values.collect()
            };
            series.push(ValueSeries {
                name: text::short(&curve.arm, 48),
                unit: self.quantity.unit(),
                style: Some(*style),
                values: of(select::median),
                ends: Some((
                    of(|estimate| estimate.interval.map_or(f64::NAN, |(low, _)| low)),
                    of(|estimate| estimate.interval.map_or(f64::NAN, |(_, high)| high)),
                )),
            });
        }
        Values {
            group: self.group,
            plot: PLOT,
            scale: frame.x.scale,
            unit: "",
            x: loads.iter().map(|(load, _)| *load).collect(),
            labels: loads.into_iter().map(|(_, label)| label).collect(),
            stretch: 1,
            series,
        }
    }

    /// Lines of arms with a look of their own, where the axis is one of rates.
    fn drawn_lines(&self, frame: &Frame) -> Vec<(&LineResult, ArmStyle)> {
        if !frame.with_lines {
            return Vec::new();
        }
        let styled = self.lines.iter().map(|line| (*line, self.styles.style(&line.arm)));
        styled.filter(|(_, style)| style.own()).collect()
    }

    fn drawn_curves(&self, notes: &mut Vec<String>) -> Vec<(&Curve, ArmStyle)> {
        let mut grey = Vec::new();
        let mut own = Vec::new();
        for curve in &self.curves {
            let style = self.styles.style(&curve.arm);
            if style.own() { own.push((*curve, style)) } else { grey.push((*curve, style)) }
        }
        if !grey.is_empty() {
            let drawn = grey.len().min(GREY_CURVES);
            notes.push(format!(
                "{} arms stand out: those with the clearest verdicts, their baselines and those with the highest throughput. {drawn} of the other {} are thin and grey; all are in points.csv.",
                own.len(),
                grey.len()
            ));
            grey.truncate(GREY_CURVES);
        }
        grey.extend(own);
        grey
    }

    fn frame(&self, drawn: &[(&Curve, ArmStyle)]) -> Frame {
        let points = || drawn.iter().flat_map(|(curve, _)| &curve.points);
        let loads: Vec<f64> = points().map(|point| load_number(point.load)).collect();
        let (mut lowest, mut highest) = (f64::INFINITY, 0.0f64);
        for point in points().map(|point| point.refused.as_deref().unwrap_or(point)) {
            let estimate = self.quantity.of(point);
            let (low, high) =
                estimate.interval.unwrap_or((select::median(estimate), select::median(estimate)));
            let values = estimate.values.iter().map(|(_, value)| *value);
            for value in values
                .chain([low, high, select::median(estimate)])
                .filter(|value| value.is_finite())
            {
                highest = highest.max(value);
                if value > 0.0 {
                    lowest = lowest.min(value);
                }
            }
        }
        let single_load = loads.windows(2).all(|pair| pair[0] == pair[1]);
        let open = points().any(|point| matches!(point.load, LoadKind::Open { .. }));
        let title = match (single_load, open) {
            (true, _) => points()
                .next()
                .map_or_else(String::new, |point| prose::label(&point.load_label, 40)),
            (false, true) => "offered operations per second".into(),
            (false, false) => "threads".into(),
        };
        let mut x = Axis::load(&loads, 12, title);
        if single_load {
            x.scale = Scale::Linear { from: 0.0, to: 2.0 * loads.first().copied().unwrap_or(1.0) };
            x.ticks.clear();
        }
        let with_lines = !single_load && points().all(select::is_open);
        if with_lines {
            let ends = self.lines.iter().flat_map(|line| [line.lower, line.upper]);
            x.reach(ends.flatten());
            // Shares of the line are no round numbers.
            if loads.iter().any(|load| load.fract() != 0.0) {
                x.round_ticks(6);
            }
        }
        let y = match self.quantity {
            Quantity::Throughput => Axis::rate(highest, 5),
            Quantity::ResponseP99 => Axis::latency(lowest, highest, "p99 response time"),
        };
        let dodge =
            if single_load { (PLOT.x(1.0) - PLOT.x(0.0)) / (drawn.len() + 1) as f64 } else { 5.0 };
        Frame { x, y, dodge, single_load, with_lines }
    }

    fn curve(
        &self,
        curve: &Curve,
        style: ArmStyle,
        frame: &Frame,
        shift: f64,
        with_dots: bool,
    ) -> Markup {
        let place_x = |point: &CurvePoint| {
            PLOT.x(frame.x.scale.share(load_number(point.load)))
                + if frame.single_load { shift } else { 0.0 }
        };
        let place_y = |value: f64| PLOT.y(frame.y.scale.share(value));
        let (mut line, mut band, mut dots, mut arrows) =
            (Path::default(), Path::default(), Path::default(), Path::default());
        let mut failed = Path::default();
        let mut upper: Vec<(f64, f64)> = Vec::new();
        let mut lower: Vec<(f64, f64)> = Vec::new();
        let mut marks: Vec<Placed<'_>> = Vec::new();
        let mut pen_down = false;
        for point in &curve.points {
            let x = place_x(point);
            let estimate = self.quantity.of(point);
            if point.valid_runs == 0 || !select::median(estimate).is_finite() {
                let refused =
                    point.refused.as_deref().map(|all| select::median(self.quantity.of(all)));
                let y = match refused.filter(|value| value.is_finite()) {
                    Some(value) => place_y(value),
                    None => PLOT.y(0.0) - 7.0,
                };
                let x = if frame.single_load { x } else { x + shift };
                failed.cross(x, y);
                close_band(&mut band, &mut upper, &mut lower);
                pen_down = false;
                continue;
            }
            let y = place_y(select::median(estimate));
            if pen_down {
                line.line_to(x, y)
            } else {
                line.move_to(x, y)
            }
            pen_down = true;
            match estimate.interval {
                Some((low, high)) => {
                    upper.push((x, place_y(high)));
                    lower.push((x, place_y(low)));
                }
                None => close_band(&mut band, &mut upper, &mut lower),
            }
            if with_dots && style.own() {
                let beside = BESIDE + if frame.single_load { x } else { x + shift };
                for (_, value) in estimate.values.iter().filter(|(_, value)| value.is_finite()) {
                    dots.dot(beside, place_y(*value));
                }
            }
            if self.quantity == Quantity::ResponseP99 && point.p99_at_least {
                arrows.move_to(x, y - 6.0);
                arrows.line_to(x, y - 18.0);
                arrows.move_to(x - 3.0, y - 14.0);
                arrows.line_to(x, y - 18.0);
                arrows.line_to(x + 3.0, y - 14.0);
            }
            marks.push((x, y, point, estimate));
        }
        close_band(&mut band, &mut upper, &mut lower);
        let knee = curve.knee.as_ref().filter(|_| style.own()).and_then(|knee| {
            marks
                .iter()
                .find(|(_, _, point, _)| load_number(point.load) == knee.load)
                .map(|(x, y, ..)| (*x, *y, knee))
        });
        html! {
            g class=(style.class()) {
                @if !band.is_empty() { path.band d=(band.data()) {} }
                @if !line.is_empty() { path.line d=(line.data()) {} }
                @if !dots.is_empty() { path.dots d=(dots.data()) {} }
                @if !arrows.is_empty() { path.at-least d=(arrows.data()) { title { "a lower bound: too much was unfinished at the end" } } }
                @if !failed.is_empty() { path.failed d=(failed.data()) { title { (text::short(&curve.arm, 80)) ": no valid run at this load" } } }
                @if let Some((x, y, knee)) = knee {
                    circle.knee cx=(Px(x)) cy=(Px(y)) r="10" {
                        title { (text::short(&curve.arm, 80)) ": knee at " (prose::prose(&knee.load_label)) }
                    }
                }
                // A line of one point cannot be seen.
                @if style.own() || marks.len() == 1 {
                    @for (x, y, point, estimate) in apart(&marks) {
                        path.mark d=(style.mark(*x, *y, 4.5)) { title { (self.tooltip(curve, point, estimate)) } }
                    }
                }
            }
        }
    }

    fn tooltip(&self, curve: &Curve, point: &CurvePoint, estimate: &Estimate) -> String {
        let interval = match estimate.interval {
            Some((low, high)) => {
                format!(" ({} to {})", self.quantity.spelled(low), self.quantity.spelled(high))
            }
            None => String::new(),
        };
        let median = self.quantity.spelled(select::median(estimate));
        format!(
            "{}, {}: {median}{interval}",
            text::short(&curve.arm, 80),
            prose::prose(&point.load_label)
        )
    }

    /// What the picture shows, in words.
    fn summary(&self) -> String {
        let mut sentences = Vec::new();
        for curve in self.curves.iter().take(STATED_CURVES) {
            let valid: Vec<&CurvePoint> =
                curve.points.iter().filter(|point| point.valid_runs > 0).collect();
            let arm = text::short(&curve.arm, 60);
            let (Some(first), Some(last)) = (valid.first(), valid.last()) else {
                sentences.push(format!("{arm}: no valid point."));
                continue;
            };
            let at = |point: &CurvePoint| {
                format!(
                    "{} at {}",
                    self.quantity.spelled(select::median(self.quantity.of(point))),
                    prose::prose(&point.load_label)
                )
            };
            sentences.push(if valid.len() == 1 {
                format!("{arm}: {}.", at(first))
            } else {
                format!("{arm}: from {} to {}.", at(first), at(last))
            });
        }
        if self.curves.len() > STATED_CURVES {
            sentences.push(format!(
                "And {} more arms, in the table below.",
                self.curves.len() - STATED_CURVES
            ));
        }
        sentences.join(" ")
    }
}

const STATED_CURVES: usize = 8;
/// Places of the ideal line; on a scale of doublings it is a curve.
const IDEAL_PLACES: usize = 60;

/// Where throughput would lie if every arm did all that was requested.
fn ideal(frame: &Frame) -> Markup {
    let (Scale::Linear { from, to } | Scale::Log { from, to }) = frame.x.scale;
    let (Scale::Linear { to: highest, .. } | Scale::Log { to: highest, .. }) = frame.y.scale;
    let to = to.min(highest);
    let mut path = Path::default();
    path.through((0..=IDEAL_PLACES).map(|place| {
        let rate = from + (to - from) * place as f64 / IDEAL_PLACES as f64;
        (PLOT.x(frame.x.scale.share(rate)), PLOT.y(frame.y.scale.share(rate)))
    }));
    html! { path.ideal d=(path.data()) { title { "ideal: the requested rate" } } }
}

/// A point with its place.
type Placed<'a> = (f64, f64, &'a CurvePoint, &'a Estimate);

fn apart<'a, 'b>(marks: &'b [Placed<'a>]) -> Vec<&'b Placed<'a>> {
    let mut chosen: Vec<&Placed<'_>> = Vec::new();
    for mark in marks {
        if chosen.last().is_none_or(|last| (mark.0 - last.0).abs() >= BETWEEN_MARKS) {
            chosen.push(mark);
        }
    }
    chosen
}

fn shift(place: usize, of: usize, dodge: f64) -> f64 {
    (place as f64 - (of as f64 - 1.0) / 2.0) * dodge
}

/// Draws the band so far, there and back. One place alone becomes a bar.
fn close_band(band: &mut Path, upper: &mut Vec<(f64, f64)>, lower: &mut Vec<(f64, f64)>) {
    if let ([(x, high)], [(_, low)]) = (upper.as_slice(), lower.as_slice()) {
        let (left, right) = (x - 4.0, x + 4.0);
        band.through([(left, *high), (right, *high), (right, *low), (left, *low)]);
    } else {
        band.through(upper.iter().chain(lower.iter().rev()).copied());
    }
    if !upper.is_empty() {
        band.close();
    }
    upper.clear();
    lower.clear();
}
