//! The plimsoll line: every trial of its search, each arm's interval as an upright band, and the interval of each block.

use super::plot::Plot;
use super::{ArmStyle, ArmStyles, Path, Px, picture};
use crate::axis::{Axis, LEVEL};
use crate::{text, words};
use maud::{Markup, PreEscaped, html};
use plimsoll_judge::{BlockLine, LineResult, TrialResult};
use plimsoll_record::quantities::numbers::PAGE;

/// Marks in one picture; more would be a smear, and the bytes of a page.
const MARKS: usize = 1_500;
/// Rows in the picture of the blocks.
const ROWS: usize = 64;
/// Height of one of them.
const ROW: f64 = 16.0;
/// Height of the label of a band.
const LABEL: f64 = 16.0;
/// A band is drawn at least so wide.
const NARROWEST: f64 = 2.0;
/// The rates that are drawn reach this far below the lowest line and above the highest one.
const AROUND: f64 = 0.3;
/// Arms that a screen reader reads out.
const STATED: usize = 8;

const PLOT: Plot = Plot::WIDE;

/// The blocks of one arm, from `top` on.
struct Group<'a> {
    line: &'a LineResult,
    style: ArmStyle,
    top: f64,
    blocks: Vec<&'a BlockLine>,
}

/// The lines of one mix.
pub(crate) struct LineChart<'a> {
    pub(crate) id: String,
    pub(crate) mix: &'a str,
    pub(crate) lines: Vec<&'a LineResult>,
    pub(crate) styles: &'a ArmStyles,
    /// Highest p99 that the objective allows, nanoseconds, where it has one.
    pub(crate) limit_ns: Option<f64>,
}

impl<'a> LineChart<'a> {
    /// The results with a style of their own, in order.
    fn drawn(&self) -> Vec<(&'a LineResult, ArmStyle)> {
        let styled = self.lines.iter().map(|line| (*line, self.styles.style(&line.arm)));
        styled.filter(|(_, style)| style.own()).collect()
    }

    /// The rates between which is drawn: around the lines, or all that was tried where no line is known.
    fn rates(&self) -> Option<(f64, f64)> {
        let tried = || {
            let drawn = self.drawn();
            let rates: Vec<f64> =
                drawn.iter().flat_map(|(line, _)| trials(line)).map(|trial| trial.rate).collect();
            ends(rates.into_iter())
        };
        let (low, high) = self.found().or_else(tried)?;
        Some((low * (1.0 - AROUND), high * (1.0 + AROUND)))
    }

    /// The lowest and the highest end of any line.
    fn found(&self) -> Option<(f64, f64)> {
        let drawn = self.drawn();
        let of_arms = drawn.iter().flat_map(|(line, _)| [line.lower, line.upper]);
        let blocks = drawn.iter().flat_map(|(line, _)| &line.blocks);
        let of_blocks = blocks.flat_map(|block| [block.lower, block.upper]);
        ends(of_arms.chain(of_blocks).flatten())
    }

    /// p99 of every trial over its rate, and what had to be left out of it; `None` where no trial has both.
    pub(crate) fn trials(&self) -> Option<(Markup, Vec<String>)> {
        let drawn = self.drawn();
        let (from, to) = self.rates()?;
        let shown =
            |trial: &&TrialResult| place_of(trial).is_some() && (from..=to).contains(&trial.rate);
        let mut arms: Vec<(ArmStyle, Vec<&TrialResult>)> = Vec::new();
        let mut latencies = Vec::new();
        let mut marks = 0;
        for (line, style) in &drawn {
            let shown: Vec<&TrialResult> = trials(line).filter(shown).collect();
            latencies.extend(shown.iter().filter_map(|trial| trial.p99_ns));
            marks += shown.len();
            if marks <= MARKS {
                arms.push((*style, shown));
            }
        }
        if latencies.is_empty() {
            return None;
        }
        let (lowest, highest) = ends(latencies.into_iter().chain(self.limit_ns))?;
        let mut notes = self.left_out(from, to);
        let x = Axis::rates_between(from, to, 6, "offered operations per second");
        let y = Axis::latency_decades(lowest, highest, "p99 response time");
        let room = LABEL * drawn.len() as f64;
        let plot = Plot { height: PLOT.height + room, top: PLOT.top + room, ..PLOT };
        let content = html! {
            (plot.frame(&x, &y))
            @for (place, (line, style)) in drawn.iter().enumerate() {
                g class=(style.class()) {
                    (band(&plot, &x, line))
                    (label(&plot, &x, line, *style, place))
                }
            }
            @for (style, shown) in &arms {
                g class=(style.class()) { (trial_marks(&plot, (&x, &y), shown, *style)) }
            }
            @if let Some(limit) = self.limit_ns.filter(|limit| *limit > 0.0 && limit.is_finite()) {
                @let at = plot.y(y.scale.share(limit));
                path.limit d={ "M" (Px(plot.x(0.0))) " " (Px(at)) "H" (Px(plot.x(1.0))) } {}
                text.halo x=(Px(plot.x(0.0) + 5.0)) y=(Px(at - 5.0)) { "at most " (PAGE.latency(limit)) }
            }
        };
        if marks > MARKS {
            notes.push(format!(
                "Not every arm's trials are drawn: {} are too many for one picture. All are in trials.csv.",
                PAGE.count(marks as u64)
            ));
        }
        let title =
            format!("p99 of every trial against its rate, mix {}", text::short(self.mix, 60));
        let size = (plot.width, plot.height);
        let drawing = picture(
            &format!("{}-trials", self.id),
            "wide",
            size,
            &title,
            &self.summary(),
            &content,
        );
        Some((drawing, notes))
    }

    fn left_out(&self, from: f64, to: f64) -> Vec<String> {
        let drawn = self.drawn();
        let mut notes = Vec::new();
        let all = || drawn.iter().flat_map(|(line, _)| trials(line));
        let count = |what: &dyn Fn(&TrialResult) -> bool| all().filter(|trial| what(trial)).count();
        let away = count(&|trial| place_of(trial).is_some() && !(from..=to).contains(&trial.rate));
        if away > 0 {
            notes.push(format!(
                "{} at rates far from every line {} in the table alone.",
                words::counted(away as u64, "trial", PAGE),
                if away == 1 { "is" } else { "are" }
            ));
        }
        let without = count(&|trial| place_of(trial).is_none());
        if without > 0 {
            notes.push(format!(
                "{} without a p99 {} not drawn.",
                words::counted(without as u64, "trial", PAGE),
                if without == 1 { "is" } else { "are" }
            ));
        }
        let others = self.lines.len() - drawn.len();
        if others > 0 {
            notes.push(format!(
                "The lines of {} more are in the table alone.",
                words::counted(others as u64, "arm", PAGE)
            ));
        }
        notes
    }

    /// What each block found by itself; `None` where none found anything.
    pub(crate) fn blocks(&self) -> Option<(Markup, Vec<String>)> {
        let (low, high) = self.found()?;
        let room = ((high - low) * 0.12).max(high * 0.01);
        let (from, to) = (low - room, high + room);
        let mut rows: Vec<Group<'_>> = Vec::new();
        let mut used = 0;
        for (line, style) in self.drawn() {
            let found = |block: &&BlockLine| block.lower.is_some() || block.upper.is_some();
            let blocks: Vec<&BlockLine> = line.blocks.iter().filter(found).collect();
            if !blocks.is_empty() && used + blocks.len() <= ROWS {
                rows.push(Group { line, style, top: PLOT.top + ROW * used as f64, blocks });
                used += rows[rows.len() - 1].blocks.len() + 1;
            }
        }
        if rows.is_empty() {
            return None;
        }
        let x = Axis::rates_between(from, to, 6, "offered operations per second");
        let y = Axis { scale: LEVEL, ticks: Vec::new(), title: "the line of each block".into() };
        let plot = Plot { height: PLOT.top + PLOT.bottom + ROW * used as f64, ..PLOT };
        let content = html! {
            (plot.frame(&x, &y))
            @for Group { line, style, top, blocks } in &rows {
                g class=(style.class()) {
                    @if let (Some(lower), Some(upper)) = (line.lower, line.upper) {
                        @let (left, right) = widened(plot.x(x.scale.share(lower)), plot.x(x.scale.share(upper)));
                        rect.line-band x=(Px(left)) y=(Px(*top)) width=(Px(right - left)) height=(Px(ROW * blocks.len() as f64)) {}
                    }
                    @for (place, block) in blocks.iter().enumerate() {
                        (whisker(&plot, &x, block, top + ROW * (place as f64 + 0.5), *style))
                    }
                }
            }
        };
        let blocks: usize = rows.iter().map(|group| group.blocks.len()).sum();
        let about = format!(
            "What {} found by {}, between {} and {}\u{202f}op/s.",
            words::counted(blocks as u64, "block", PAGE),
            if blocks == 1 { "itself" } else { "themselves" },
            PAGE.rate(low),
            PAGE.rate(high)
        );
        let title = format!("The line of each block, mix {}", text::short(self.mix, 60));
        let drawing = picture(
            &format!("{}-blocks", self.id),
            "wide",
            (plot.width, plot.height),
            &title,
            &about,
            &content,
        );
        let mut notes = Vec::new();
        if rows.len() < self.drawn().len() {
            notes.push(format!(
                "The blocks of {} of {} arms are drawn.",
                rows.len(),
                self.drawn().len()
            ));
        }
        Some((drawing, notes))
    }

    fn summary(&self) -> String {
        let mut sentences = Vec::new();
        for line in self.lines.iter().take(STATED) {
            let count = trials(line).count();
            sentences.push(format!(
                "{}: {}, after {}.",
                text::short(&line.arm, 60),
                words::line(line.lower, line.upper, PAGE),
                words::counted(count as u64, "trial", PAGE)
            ));
        }
        if self.lines.len() > STATED {
            sentences
                .push(format!("And {} more arms, in the table below.", self.lines.len() - STATED));
        }
        sentences.join(" ")
    }
}

/// Every trial of every block.
pub(crate) fn trials(line: &LineResult) -> impl Iterator<Item = &TrialResult> {
    line.blocks.iter().flat_map(|block| &block.trials)
}

fn place_of(trial: &TrialResult) -> Option<(f64, f64)> {
    let p99 = trial.p99_ns.filter(|p99| p99.is_finite() && *p99 > 0.0)?;
    trial.rate.is_finite().then_some((trial.rate, p99))
}

/// The lowest and the highest of what is finite and above zero.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let mut found: Option<(f64, f64)> = None;
    for value in values.filter(|value| value.is_finite() && *value > 0.0) {
        found = Some(found.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
    }
    found
}

fn widened(left: f64, right: f64) -> (f64, f64) {
    let missing = (NARROWEST - (right - left)).max(0.0) / 2.0;
    (left - missing, right + missing)
}

/// The interval of a line as an upright band. With one end alone it is an edge, with an arrow to the side where the line may lie.
pub(super) fn band(plot: &Plot, x: &Axis, line: &LineResult) -> Markup {
    let (top, base) = (plot.y(1.0), plot.y(0.0));
    let place = |rate: f64| plot.x(x.scale.share(rate));
    let known = |end: Option<f64>| end.filter(|rate| rate.is_finite());
    let (lower, upper) = (known(line.lower), known(line.upper));
    let (mut edges, mut arrow) = (Path::default(), Path::default());
    for rate in [lower, upper].into_iter().flatten() {
        edges.move_to(place(rate), top);
        edges.line_to(place(rate), base);
    }
    if let (Some(rate), None) | (None, Some(rate)) = (lower, upper) {
        let toward = if lower.is_some() { 1.0 } else { -1.0 };
        let (from, to, middle) = (place(rate), place(rate) + 14.0 * toward, top + 12.0);
        arrow.move_to(from, middle);
        arrow.line_to(to, middle);
        arrow.move_to(to - 4.0 * toward, middle - 4.0);
        arrow.line_to(to, middle);
        arrow.line_to(to - 4.0 * toward, middle + 4.0);
    }
    html! {
        @if let (Some(lower), Some(upper)) = (lower, upper) {
            @let (left, right) = widened(place(lower), place(upper));
            rect.line-band x=(Px(left)) y=(Px(top)) width=(Px(right - left)) height=(Px(base - top)) {
                title { (text::short(&line.arm, 80)) ": plimsoll line, " (words::line(line.lower, line.upper, PAGE)) }
            }
        }
        @if !edges.is_empty() { path.line-edge d=(edges.data()) {} }
        @if !arrow.is_empty() { path.line-arrow d=(arrow.data()) {} }
    }
}

/// The figures of a band above the chart, each arm on a line of its own, with a leader down to it.
fn label(plot: &Plot, x: &Axis, line: &LineResult, style: ArmStyle, place: usize) -> Markup {
    let ends = [line.lower, line.upper].into_iter().flatten();
    let rates: Vec<f64> = ends.filter(|rate| rate.is_finite()).collect();
    if rates.is_empty() {
        return html! {};
    }
    let middle = rates.iter().sum::<f64>() / rates.len() as f64;
    let at = plot.x(x.scale.share(middle));
    let y = PLOT.top + LABEL * (place as f64 + 0.35);
    let description =
        format!("{}: {}", text::short(&line.arm, 18), words::line(line.lower, line.upper, PAGE));
    let to_the_left = x.scale.share(middle) > 0.5;
    html! {
        path.leader d={ "M" (Px(at)) " " (Px(y + 2.0)) "V" (Px(plot.y(1.0))) } {}
        path.mark d=(style.mark(at, y - 4.0, 4.5)) {}
        @if to_the_left { text.halo.end x=(Px(at - 9.0)) y=(Px(y)) { (description) } }
        @else { text.halo x=(Px(at + 9.0)) y=(Px(y)) { (description) } }
    }
}

/// Filled where the objective held, hollow where it did not, crossed out where a gate failed.
fn trial_marks(
    plot: &Plot,
    (x, y): (&Axis, &Axis),
    trials: &[&TrialResult],
    style: ArmStyle,
) -> Markup {
    let (mut held, mut broken) = (String::new(), String::new());
    let mut invalid = Path::default();
    for trial in trials {
        let Some((rate, p99)) = place_of(trial) else {
            continue;
        };
        let (at_x, at_y) = (plot.x(x.scale.share(rate)), plot.y(y.scale.share(p99)));
        match (trial.valid, trial.is_good) {
            (false, _) => {
                invalid.cross(at_x, at_y);
            }
            (true, true) => held.push_str(&style.mark(at_x, at_y, 4.0)),
            (true, false) => broken.push_str(&style.mark(at_x, at_y, 4.0)),
        }
    }
    html! {
        @if !broken.is_empty() { path.trial-broken d=(PreEscaped(&broken)) { title { "did not hold the objective" } } }
        @if !held.is_empty() { path.trial-held d=(PreEscaped(&held)) { title { "held the objective" } } }
        @if !invalid.is_empty() { path.trial-invalid d=(invalid.data()) { title { "failed a gate" } } }
    }
}

fn whisker(plot: &Plot, x: &Axis, block: &BlockLine, y: f64, style: ArmStyle) -> Markup {
    let place = |rate: f64| plot.x(x.scale.share(rate));
    let mut path = Path::default();
    let ends = [block.lower, block.upper];
    let (left, right) =
        (block.lower.map_or(plot.x(0.0), place), block.upper.map_or(plot.x(1.0), place));
    path.move_to(left, y);
    path.line_to(right, y);
    for rate in ends.into_iter().flatten() {
        path.move_to(place(rate), y - 5.0);
        path.line_to(place(rate), y + 5.0);
    }
    let description = words::line(block.lower, block.upper, PAGE);
    html! {
        text.end x=(Px(plot.left - 7.0)) y=(Px(y + 4.0)) { (u64::from(block.block) + 1) }
        path.whisker.open[ends.contains(&None)] d=(path.data()) { title { "block " (u64::from(block.block) + 1) ": " (description) } }
        @if let (Some(lower), Some(upper)) = (block.lower, block.upper) {
            path.mark d=(style.mark(place((lower * upper).sqrt()), y, 2.6)) {}
        }
    }
}
