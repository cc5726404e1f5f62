//! The plimsoll line of each arm: the highest rate that holds the objective, with the trials that found it.

use super::{Page, notes};
use crate::page::chart::{LineChart, trials};
use crate::page::prose;
use crate::{select, text, words};
use maud::{Markup, html};
use plimsoll_judge::{Analysis, Estimate, LineResult};
use plimsoll_record::quantities::numbers::PAGE;

/// Trials listed for one mix, at most; the budget of the page may allow fewer.
const TRIALS: usize = 240;

/// Whether a line was searched.
pub(super) fn is_known(analysis: &Analysis) -> bool {
    !analysis.lines.is_empty()
}

/// The lines of a mix, in the order of the arms.
pub(super) fn of_mix<'a>(analysis: &'a Analysis, mix: &str) -> Vec<&'a LineResult> {
    let mut lines: Vec<&LineResult> =
        analysis.lines.iter().filter(|line| line.mix == mix).collect();
    let place = |line: &&LineResult| analysis.arms.iter().position(|arm| arm.name == line.arm);
    lines.sort_by_key(place);
    lines
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let mixes = mixes(page.report.analysis);
    let drawn = mixes.len().min(page.budget.mixes);
    html! {
        p.lead {
            "The plimsoll line is the highest rate that an arm sustains within its objective. Each block searches for its own, between a rate that was found to hold and one that was not. The interval is over the blocks, so single trials, and the lines of single blocks, may lie on the other side of its ends. "
            "Every mark is a trial: filled where the objective held, hollow where it did not, ✕ where the trial failed a gate and is no evidence."
        }
        @for (number, mix) in mixes.iter().take(drawn).enumerate() {
            (mix_figure(page, number, mix, (page.budget.data_rows / drawn).min(TRIALS)))
        }
        @if mixes.len() > drawn {
            p.remark { "Drawn: the first " (drawn) " of " (mixes.len()) " mixes; all lines are in analysis.json." }
        }
    }
}

/// Mixes with a line, in the order of the file.
fn mixes(analysis: &Analysis) -> Vec<&str> {
    let mut mixes = select::mixes(analysis);
    for line in &analysis.lines {
        if !mixes.contains(&line.mix.as_str()) {
            mixes.push(&line.mix);
        }
    }
    mixes.retain(|mix| analysis.lines.iter().any(|line| line.mix == **mix));
    mixes
}

fn mix_figure(page: &Page<'_>, number: usize, mix: &str, rows: usize) -> Markup {
    let analysis = page.report.analysis;
    let lines = of_mix(analysis, mix);
    let chart = LineChart {
        id: format!("line-{number}"),
        mix,
        lines: lines.clone(),
        styles: &page.styles,
        limit_ns: limit(page),
    };
    let (trials, blocks) = (chart.trials(), chart.blocks());
    let mut objectives: Vec<&str> = lines.iter().map(|line| line.objective.as_str()).collect();
    objectives.dedup();
    let left_out: Vec<String> = [&trials, &blocks]
        .into_iter()
        .flatten()
        .flat_map(|(_, left_out)| left_out.clone())
        .collect();
    html! {
        figure.mix {
            figcaption { h3 { "Mix " (text::short(mix, 80)) } }
            @for objective in objectives.iter().take(4) { p.objective { "Objective: " (prose::label(objective, 300)) "." } }
            ul.lines {
                @for line in lines.iter().take(page.budget.arm_rows) {
                    li {
                        p.figure { (page.arm(&line.arm)) span.big { (words::line(line.lower, line.upper, PAGE)) } }
                        p { (prose::label(&line.sentence, 700)) }
                    }
                }
            }
            @if lines.len() > page.budget.arm_rows {
                p.remark { "Shown: the first " (page.budget.arm_rows) " of " (lines.len()) " arms; all lines are in analysis.json." }
            }
            @if trials.is_some() || blocks.is_some() {
                div.pair {
                    @if let Some((drawing, _)) = &trials { (drawing) }
                    @if let Some((drawing, _)) = &blocks { (drawing) }
                }
            }
            (notes(&left_out))
            (summary_table(page, &lines))
            (trials_table(page, &lines, rows))
        }
    }
}

/// Highest p99 of the objective in the plan, nanoseconds.
fn limit(page: &Page<'_>) -> Option<f64> {
    let limits = page.report.record.plan.pointer("/objective/response")?;
    let mut limits = limits.as_array()?.iter();
    let of_p99 =
        limits.find(|limit| limit.get(0).and_then(serde_json::Value::as_f64) == Some(99.0))?;
    of_p99.get(1)?.as_f64()
}

fn summary_table(page: &Page<'_>, lines: &[&LineResult]) -> Markup {
    let causes = lines.iter().any(|line| line.limit.is_some());
    html! {
        div.scroll tabindex="0" role="region" aria-label="Table of the plimsoll lines" {
            table {
                thead { tr {
                    th scope="col" { "Arm" }
                    th.num scope="col" { "Line" small { "op/s" } }
                    th.num scope="col" { "Middle" small { "op/s, over the blocks" } }
                    th.num scope="col" { "Blocks" small { "with both ends" } }
                    th.num scope="col" { "Trials" small { "valid" } }
                    th.num scope="col" { "p99" small { "at the line" } }
                    @if causes { th scope="col" { "Bottleneck" } }
                } }
                tbody { @for line in lines.iter().take(page.budget.arm_rows) { (summary_row(page, line, causes)) } }
            }
        }
    }
}

fn summary_row(page: &Page<'_>, line: &LineResult, causes: bool) -> Markup {
    let whole = |block: &&plimsoll_judge::BlockLine| block.lower.is_some() && block.upper.is_some();
    let found = line.blocks.iter().filter(whole).count();
    let valid = trials(line).filter(|trial| trial.valid).count();
    html! {
        tr {
            th scope="row" { (page.arm(&line.arm)) }
            td.num {
                (words::line(line.lower, line.upper, PAGE))
                @match line.confidence {
                    Some(confidence) => small { (PAGE.percent(confidence)) " interval" },
                    None => small { "range of the blocks" },
                }
            }
            td.num { (estimate(&line.rate)) }
            td.num { (found) " of " (line.blocks.len()) }
            td.num { (valid) " of " (trials(line).count()) }
            td.num {
                @match &line.at_line {
                    Some(point) => (PAGE.latency(select::median(&point.response.p99))),
                    None => (PAGE.nothing()),
                }
            }
            @if causes { td { (super::why::word(line.limit.as_ref())) } }
        }
    }
}

fn estimate(rate: &Estimate) -> Markup {
    html! {
        (PAGE.rate(select::median(rate)))
        @match rate.interval {
            Some((low, high)) => small { (PAGE.rate(low)) " to " (PAGE.rate(high)) },
            None => small { "no interval" },
        }
    }
}

fn trials_table(page: &Page<'_>, lines: &[&LineResult], limit: usize) -> Markup {
    let rows = || {
        lines.iter().flat_map(|line| {
            line.blocks.iter().flat_map(move |block| {
                let numbered = block.trials.iter().enumerate();
                numbered.map(move |(number, trial)| (*line, block.block, number, trial))
            })
        })
    };
    let total = rows().count();
    if total == 0 {
        return html! {};
    }
    html! {
        details {
            summary { "The trials behind both charts" }
            div.scroll tabindex="0" role="region" aria-label="Trials of the searches" {
                table.data {
                    thead { tr {
                        th scope="col" { "Arm" }
                        @for title in ["Block", "Trial", "Offered, op/s", "Measured, s", "p99", "Achieved"] { th.num scope="col" { (title) } }
                        th scope="col" { "Objective" }
                    } }
                    tbody {
                        @for (line, block, number, trial) in rows().take(limit) {
                            tr {
                                th scope="row" { (page.arm(&line.arm)) }
                                td.num { (u64::from(block) + 1) }
                                td.num { (number + 1) }
                                td.num { (PAGE.rate(trial.rate)) }
                                td.num { (PAGE.significant(trial.seconds, 3)) }
                                td.num { (PAGE.latency(trial.p99_ns.unwrap_or(f64::NAN))) }
                                td.num { (PAGE.percent(trial.achieved.unwrap_or(f64::NAN))) }
                                td {
                                    @match (trial.valid, trial.is_good) {
                                        (false, _) => span.failed { "✕ failed a gate" },
                                        (true, true) => "✓ held",
                                        (true, false) => { "✗ did not hold" @for bound in &trial.missed { small { (prose::label(bound, 120)) } } },
                                    }
                                }
                            }
                        }
                    }
                }
            }
            @if total > limit { p.remark { "The first " (limit) " of " (PAGE.count(total as u64)) " trials; all are in trials.csv." } }
        }
    }
}
