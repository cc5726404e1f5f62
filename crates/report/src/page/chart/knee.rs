//! Knees with their intervals, and what the scalability law leaves over.

use super::plot::Plot;
use super::{ArmStyle, ArmStyles, Path, Px, picture};
use crate::axis::{Axis, LEVEL, Scale, linear_ticks, load_number};
use crate::text;
use maud::{Markup, html};
use plimsoll_judge::Curve;
use plimsoll_record::quantities::numbers::PAGE;

/// Height of the row of one knee.
const ROW: f64 = 19.0;
/// Ends of an interval and marks of a point are so high.
const END: f64 = 4.0;
/// The residuals are drawn to at least this far off, a share.
const LEAST: f64 = 0.02;
/// Residuals beyond this are drawn at the edge.
const MOST: f64 = 2.0;

const PLOT: Plot = Plot { height: 190.0, ..Plot::WIDE };

/// Curves of one mix, of one kind of loop.
pub(crate) struct KneeChart<'a> {
    pub(crate) id: String,
    pub(crate) mix: &'a str,
    pub(crate) curves: &'a [&'a Curve],
    pub(crate) styles: &'a ArmStyles,
}

/// Arm, its look, and (sessions, share off the fit) of each point.
type Fit = (String, ArmStyle, Vec<(f64, f64)>);

/// The knee of one arm.
struct ArmKnee {
    style: ArmStyle,
    arm: String,
    load: f64,
    /// `None` where no interval is known.
    range: Option<(f64, f64)>,
}

impl KneeChart<'_> {
    fn own(&self) -> impl Iterator<Item = (&Curve, ArmStyle)> {
        let styled = self.curves.iter().map(|curve| (*curve, self.styles.style(&curve.arm)));
        styled.filter(|(_, style)| style.own())
    }

    /// One row for each arm; `None` where no curve has a knee.
    pub(crate) fn knees(&self, title: &str) -> Option<Markup> {
        let mut knees = Vec::new();
        for (curve, style) in self.own() {
            let Some(knee) = &curve.knee else { continue };
            let (low, high) = knee.range;
            knees.push(ArmKnee {
                style,
                arm: text::short(&curve.arm, 60),
                load: knee.load,
                range: (low.is_finite() && high.is_finite()).then_some(knee.range),
            });
        }
        knees.retain(|knee| knee.load.is_finite());
        if knees.is_empty() {
            return None;
        }
        let loads: Vec<f64> = self
            .own()
            .flat_map(|(curve, _)| &curve.points)
            .map(|point| load_number(point.load))
            .collect();
        let x = Axis::load(&loads, 12, title.to_owned());
        let y =
            Axis { scale: LEVEL, ticks: Vec::new(), title: "knees with their intervals".into() };
        let plot = Plot { height: PLOT.top + PLOT.bottom + ROW * knees.len() as f64, ..PLOT };
        let content = html! {
            (plot.frame(&x, &y))
            @for (place, knee) in knees.iter().enumerate() {
                (row(&plot, &x, knee, plot.top + ROW * (place as f64 + 0.5)))
            }
        };
        let description: Vec<String> = knees.iter().map(ArmKnee::describe).collect();
        let title = format!("Knees with their intervals, mix {}", text::short(self.mix, 60));
        let size = (plot.width, plot.height);
        Some(picture(
            &format!("{}-knees", self.id),
            "wide",
            size,
            &title,
            &description.join(" "),
            &content,
        ))
    }

    /// Measured against fitted throughput at each number of sessions; `None` where nothing was fitted.
    pub(crate) fn residuals(&self) -> Option<Markup> {
        let mut fits: Vec<Fit> = Vec::new();
        for (curve, style) in self.own() {
            let Some(law) = &curve.scalability else {
                continue;
            };
            let mut points = Vec::new();
            for (sessions, fitted, off) in &law.residuals {
                let share = off / fitted;
                if share.is_finite() && *sessions > 0.0 && sessions.is_finite() {
                    points.push((*sessions, share));
                }
            }
            if !points.is_empty() {
                fits.push((text::short(&curve.arm, 60), style, points));
            }
        }
        if fits.is_empty() {
            return None;
        }
        let shares = || fits.iter().flat_map(|(_, _, points)| points);
        let sessions: Vec<f64> = shares().map(|(sessions, _)| *sessions).collect();
        let farthest = shares().map(|(_, share)| share.abs()).fold(LEAST, f64::max).min(MOST);
        let x = Axis::load(&sessions, 12, "threads".into());
        let y = around_zero(farthest);
        let zero = PLOT.y(y.scale.share(0.0));
        let content = html! {
            (PLOT.frame(&x, &y))
            path.zero d={ "M" (Px(PLOT.x(0.0))) " " (Px(zero)) "H" (Px(PLOT.x(1.0))) } {}
            @for (place, (arm, style, points)) in fits.iter().enumerate() {
                @let beside = (place as f64 - (fits.len() as f64 - 1.0) / 2.0) * 8.0;
                g class=(style.class()) {
                    @for (sessions, share) in points {
                        @let (at, to) = (PLOT.x(x.scale.share(*sessions)) + beside, PLOT.y(y.scale.share(*share)));
                        path.whisker d={ "M" (Px(at)) " " (Px(zero)) "V" (Px(to)) } {}
                        path.mark d=(style.mark(at, to, 4.5)) { title { (arm) ", " (PAGE.compact_count(*sessions)) " threads: " (PAGE.difference(*share)) } }
                    }
                }
            }
        };
        let description: Vec<String> = fits
            .iter()
            .map(|(arm, _, points)| {
                let most = points.iter().map(|(_, share)| share.abs()).fold(0.0, f64::max);
                format!("{arm}: at most {} off.", PAGE.percent(most))
            })
            .collect();
        let title = format!("Residuals of the scalability law, mix {}", text::short(self.mix, 60));
        let size = (PLOT.width, PLOT.height);
        Some(picture(
            &format!("{}-residuals", self.id),
            "wide",
            size,
            &title,
            &description.join(" "),
            &content,
        ))
    }
}

impl ArmKnee {
    fn describe(&self) -> String {
        let range = self.range.map_or_else(String::new, |(low, high)| {
            format!(", from {} to {}", PAGE.compact_count(low), PAGE.compact_count(high))
        });
        format!("{}: {}{range}.", self.arm, PAGE.compact_count(self.load))
    }
}

fn row(plot: &Plot, x: &Axis, knee: &ArmKnee, y: f64) -> Markup {
    let place = |load: f64| plot.x(x.scale.share(load));
    let mut range = Path::default();
    if let Some((low, high)) = knee.range {
        range.move_to(place(low), y);
        range.line_to(place(high), y);
        for end in [low, high] {
            range.move_to(place(end), y - END);
            range.line_to(place(end), y + END);
        }
    }
    html! {
        g class=(knee.style.class()) {
            @if !range.is_empty() { path.whisker d=(range.data()) {} }
            path.mark d=(knee.style.mark(place(knee.load), y, 4.5)) { title { (knee.describe()) } }
        }
    }
}

/// Shares on both sides of zero, equally far.
fn around_zero(farthest: f64) -> Axis {
    let (top, values) = linear_ticks(farthest * 100.0, 2);
    let mut ticks = Vec::new();
    for value in values {
        let share = value / 100.0;
        if value > 0.0 {
            ticks.push((-share, PAGE.difference(-share)));
        }
        ticks.push((share, PAGE.difference(share)));
    }
    ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
    Axis {
        scale: Scale::Linear { from: -top / 100.0, to: top / 100.0 },
        ticks,
        title: "measured against the scalability law".into(),
    }
}
