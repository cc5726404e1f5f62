//! The result on one screen: the answer, a few figures of each arm, and whether it can be trusted.

use super::screen::{Screen, paint};
use super::sign::Signs;
use super::{BOLD, DIM, factors, overview, remarks, wrap};
use crate::{Report, select, text, words};
use anstyle::{AnsiColor, Style};
use plimsoll_judge::{Analysis, ValidityState};

/// Most lines. A terminal has 24; two of them name the page and the command that prints the rest.
pub const LINES: usize = 22;

const QUESTION: usize = 1;
const ANSWER: usize = 8;
const THRESHOLDS: usize = 3;
const TRUST: usize = 3;

/// What a terminal shows of a result unless all of it is requested.
pub fn brief(report: &Report<'_>, screen: &Screen) -> String {
    let analysis = report.analysis;
    let mut out = String::new();
    super::name(&mut out, analysis, screen);
    if let Some(question) = &analysis.question {
        limited(&mut out, Style::new().italic(), question, 0, QUESTION, screen);
    }
    out.push('\n');
    answer(&mut out, analysis, screen);
    let mut end = String::new();
    failed(&mut end, analysis, screen);
    trust(&mut end, analysis, TRUST, screen);
    // A blank line stands before the figures and before the end.
    let room = LINES.saturating_sub(out.lines().count() + end.lines().count() + 2);
    let figures = figures(analysis, room, screen);
    if !figures.is_empty() {
        out.push('\n');
        out.push_str(&figures);
    }
    out.push('\n');
    out.push_str(&end);
    out
}

/// The headline: whole sentences as long as they fit, and at least the first.
fn answer(out: &mut String, analysis: &Analysis, screen: &Screen) {
    let (mut style, rest_style) = match select::is_invalid(analysis) {
        true => (BOLD.fg_color(Some(AnsiColor::Red.into())), DIM),
        false => (BOLD, Style::new()),
    };
    let mut room = ANSWER;
    let mut sentences = analysis.headline.iter().peekable();
    if sentences.peek().is_none() {
        limited(out, style, "There is no verdict.", 2, room, screen);
    }
    while let Some(sentence) = sentences.next() {
        let sentence = select::with_short_names(analysis, sentence);
        let needed = wrap::wrapped(&sentence, screen.width.saturating_sub(2)).len();
        let is_first = room == ANSWER;
        // The number of those that are left out needs a line.
        let reserved = usize::from(sentences.peek().is_some());
        if !is_first && needed + reserved > room {
            let left = sentences.count() as u64 + 1;
            let left = words::counted(left, "more sentence", screen.numbers());
            limited(out, DIM, &format!("({left})"), 2, room, screen);
            return;
        }
        limited(out, style, &sentence, 2, room - reserved, screen);
        room = room.saturating_sub(needed).max(1);
        style = rest_style;
    }
}

/// The figures of each arm in at most this many lines.
fn figures(analysis: &Analysis, room: usize, screen: &Screen) -> String {
    if let Some(cells) = factors::brief(analysis, room, screen) {
        return cells;
    }
    let signs = Signs::of(analysis, screen);
    let mixes = select::mixes(analysis);
    let mut out = String::new();
    let mut left = room;
    for (place, mix) in mixes.iter().enumerate() {
        let others = mixes.len() - place - 1;
        // Each of the mixes that follow has an equal share, and where they have none, a line says so.
        let share = (left / (others + 1)).max(3).min(left.saturating_sub(usize::from(others > 0)));
        let table = overview::brief(analysis, mix, share, &signs, screen);
        if share < 2 || table.lines().count() > share {
            let more = words::counted(others as u64 + 1, "more workload", screen.numbers());
            limited(&mut out, DIM, &format!("and {more}"), 2, left, screen);
            break;
        }
        left -= table.lines().count();
        out.push_str(&table);
    }
    out
}

fn failed(out: &mut String, analysis: &Analysis, screen: &Screen) {
    let failed = analysis.thresholds.iter().filter(|threshold| !threshold.passed);
    let failed: Vec<_> = failed.collect();
    let shown = if failed.len() > THRESHOLDS { THRESHOLDS - 1 } else { failed.len() };
    let style = remarks::state_style(ValidityState::Bad);
    for threshold in &failed[..shown] {
        let result = remarks::result_of(threshold, screen);
        limited(out, style, &format!("{}: {result}", threshold.text), 0, 1, screen);
    }
    if failed.len() > shown {
        let more = format!("and {} more thresholds failed", failed.len() - shown);
        limited(out, style, &more, 0, 1, screen);
    }
}

/// Whether the result can be trusted, in at most this many lines.
pub(super) fn trust(out: &mut String, analysis: &Analysis, lines: usize, screen: &Screen) {
    let (state, trust) = words::trust(analysis, screen.numbers());
    let colour = match state {
        ValidityState::Bad => AnsiColor::Red,
        ValidityState::Caution => AnsiColor::Yellow,
        ValidityState::Note | ValidityState::Good => AnsiColor::Green,
    };
    limited(out, colour.on_default(), &format!("Can you trust this? {trust}"), 0, lines, screen);
}

/// A paragraph of at most this many lines.
fn limited(
    out: &mut String,
    style: Style,
    text: &str,
    indent: usize,
    lines: usize,
    screen: &Screen,
) {
    let width = screen.width.saturating_sub(indent);
    let mut wrapped = wrap::wrapped(text, width);
    if wrapped.len() > lines {
        // What follows the last line makes it too long, so that it ends with the sign of something cut.
        let cut = wrapped.split_off(lines.saturating_sub(1)).join(" ");
        wrapped.push(text::short(&cut, width));
    }
    for line in wrapped {
        out.push_str(&format!("{}{}\n", " ".repeat(indent), paint(style, &screen.plain(&line))));
    }
}
