//! The plimsoll line, and how blocks vary, in a few lines for each arm.

use super::screen::{Screen, paint};
use super::sign::Signs;
use super::{BOLD, DIM, heading, paragraph};
use crate::{select, text, words};
use anstyle::Style;
use plimsoll_judge::{Analysis, LineResult, Repeatability};
use plimsoll_plan::Metric;

const ARMS: usize = 24;
/// Cells of a grid from which on only the extremes are listed.
const CELLS: usize = 6;

/// The interval of each arm and mix, what limits it, and the sentence.
pub(super) fn lines(out: &mut String, analysis: &Analysis, signs: &Signs<'_>, screen: &Screen) {
    if analysis.lines.is_empty() {
        return;
    }
    heading(out, "Plimsoll line");
    let numbers = screen.numbers();
    let mut last: Option<(&str, &str)> = None;
    for line in analysis.lines.iter().take(ARMS) {
        // Mixes and objectives are shown where they change.
        if last != Some((line.mix.as_str(), line.objective.as_str())) {
            last = Some((&line.mix, &line.objective));
            let description = format!("mix {}: {}", text::short(&line.mix, 40), line.objective);
            paragraph(out, DIM, &description, 2, screen);
        }
        name(out, analysis, signs, (&line.arm, &line.mix), screen);
        let interval = words::line(line.lower, line.upper, numbers);
        paragraph(out, BOLD, &interval, 4, screen);
        paragraph(out, DIM, &beneath(line, screen), 4, screen);
        paragraph(out, Style::new(), &line.sentence, 4, screen);
    }
    more(out, analysis.lines.len(), screen);
}

/// How it came about: the middle over the blocks, the trials, the resource.
fn beneath(line: &LineResult, screen: &Screen) -> String {
    let numbers = screen.numbers();
    let mut parts = Vec::new();
    let middle = select::median(&line.rate);
    if middle.is_finite() {
        let each = line.rate.values.iter().take(8);
        let each: Vec<String> = each.map(|(_, rate)| numbers.compact(*rate)).collect();
        let rest = if line.rate.values.len() > each.len() { " ..." } else { "" };
        parts.push(format!("middle {}, blocks {}{rest}", numbers.rate(middle), each.join(" ")));
    }
    let trials: usize = line.blocks.iter().map(|block| block.trials.len()).sum();
    parts.push(words::counted(trials as u64, "trial", numbers));
    if let Some(limit) = &line.limit {
        parts.push(format!("bottleneck: {}", limit.kind.name()));
    }
    parts.join("; ")
}

/// How much each arm varies from block to block.
pub(super) fn blocks(out: &mut String, analysis: &Analysis, signs: &Signs<'_>, screen: &Screen) {
    let all = &analysis.repeatability;
    if all.is_empty() {
        return;
    }
    heading(out, "from block to block");
    if analysis.factors.is_some() && analysis.arms.len() > CELLS {
        extremes(out, all, screen);
        return;
    }
    let mut last: Option<(&str, &str)> = None;
    for one in all.iter().take(ARMS) {
        if last != Some((one.arm.as_str(), one.mix.as_str())) {
            last = Some((&one.arm, &one.mix));
            name(out, analysis, signs, (&one.arm, &one.mix), screen);
        }
        paragraph(out, Style::new(), &varies(one, screen), 4, screen);
    }
    more(out, all.len(), screen);
    if let Some(noise) = crate::section::noise(analysis, screen.numbers()) {
        super::section::sentences(out, &noise.sentences, screen);
    }
}

/// For a grid with many cells, a line per mix and metric: the cell that varies least and the one that varies most.
fn extremes(out: &mut String, all: &[Repeatability], screen: &Screen) {
    let numbers = screen.numbers();
    let mut groups: Vec<(&str, Metric)> = Vec::new();
    for one in all {
        let group = (one.mix.as_str(), one.metric);
        if groups.contains(&group) {
            continue;
        }
        groups.push(group);
        let of_group = || all.iter().filter(|other| (other.mix.as_str(), other.metric) == group);
        let by_spread =
            |left: &&Repeatability, right: &&Repeatability| left.spread.total_cmp(&right.spread);
        let (Some(least), Some(most)) =
            (of_group().min_by(by_spread), of_group().max_by(by_spread))
        else {
            continue;
        };
        let spelled = |one: &Repeatability| {
            let visible = one
                .visible
                .map_or_else(String::new, |share| format!(", finds {}", numbers.visible(share)));
            format!("{} ({}{visible})", numbers.percent(one.spread), text::short(&one.arm, 40))
        };
        let line = format!(
            "{}, {}: spread from {} to {}",
            text::short(group.0, 24),
            words::metric(group.1),
            spelled(least),
            spelled(most)
        );
        paragraph(out, Style::new(), &line, 2, screen);
    }
    paragraph(out, DIM, "Each cell is on the page.", 2, screen);
}

fn varies(one: &Repeatability, screen: &Screen) -> String {
    let numbers = screen.numbers();
    let trend = one
        .trend
        .map_or_else(|| "no trend".into(), |share| format!("trend {}", numbers.difference(share)));
    let visible = one.visible.map_or_else(
        || "; too few blocks to find any difference".into(),
        |share| format!("; these blocks find differences of {} or more", numbers.visible(share)),
    );
    let what = match one.metric {
        Metric::Line => words::metric(one.metric),
        other => format!("{} at {}", words::metric(other), text::short(&one.load_label, 24)),
    };
    format!(
        "{what}: varied by {} ({} to {}) from block to block, {} from least to most, {trend}{visible}",
        numbers.percent(one.spread),
        numbers.percent(one.spread_interval.0),
        numbers.percent(one.spread_interval.1),
        numbers.percent(one.range)
    )
}

/// Mark and name of an arm, with the mix where there are several.
fn name(
    out: &mut String,
    analysis: &Analysis,
    signs: &Signs<'_>,
    (arm, mix): (&str, &str),
    screen: &Screen,
) {
    let mark = signs.painted(arm);
    let several = select::mixes(analysis).len() > 1;
    let description = if several {
        format!("{}, mix {}", text::short(arm, 60), text::short(mix, 24))
    } else {
        arm.to_owned()
    };
    let shown = screen.short(&description, screen.width.saturating_sub(4));
    out.push_str(&format!("  {mark} {}\n", paint(BOLD, &shown)));
}

fn more(out: &mut String, count: usize, screen: &Screen) {
    if count > ARMS {
        let description = format!("and {} more, on the page and in analysis.json", count - ARMS);
        paragraph(out, Style::new(), &description, 2, screen);
    }
}
