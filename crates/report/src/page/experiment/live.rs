//! What is going on: drawn here as it stands, kept up to date by the script (`web/src/live.ts`) through the events of the server.

use super::{NAME, Page};
use crate::page::link;
use crate::{text, words};
use maud::{Markup, html};
use plimsoll_judge::plan_of;
use plimsoll_record::RunState;
use plimsoll_record::quantities::numbers::PAGE;

/// Rows and cells of the grid of runs.
const ARMS: usize = 64;
const CELLS: usize = 1_600;

/// States of a run: key in the page, mark, and word. The script knows the same.
const PLANNED: (&str, &str, &str) = ("planned", "·", "planned");
const GOING: (&str, &str, &str) = ("going", "●", "running");
const FINISHED: (&str, &str, &str) = ("finished", "✓", "finished");
const REFUSED: (&str, &str) = ("finished run-invalid", "⊘");
const FAILED: (&str, &str, &str) = ("failed", "✗", "failed");
const INTERRUPTED: (&str, &str, &str) = ("interrupted", "◐", "interrupted");

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.report.analysis;
    let progress = &analysis.progress;
    html! {
        section.live data-live=(link::live(&analysis.id)) aria-labelledby="live-title" {
            div.live-head {
                h2 #live-title { span.pulse aria-hidden="true" {} "Running" }
                p.live-left data-live-part="left" {}
            }
            p.live-now data-live-part="now" {
                (PAGE.count(progress.runs_finished.into())) " of " (words::counted(progress.runs_planned.into(), "run", PAGE)) " are finished."
                noscript { " Load the page again to see more." }
            }
            p.hidden role="status" aria-live="polite" data-live-part="spoken" {}
            p.live-lost data-live-part="lost" role="alert" hidden {}
            svg.run-bar viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" {
                rect.rest width="100" height="4" {}
                @let share = f64::from(progress.runs_finished) / f64::from(progress.runs_planned.max(1));
                rect.done data-live-part="bar" width=((share * 100.0).clamp(0.0, 100.0).round()) height="4" {}
            }
            div.live-figures data-live-part="hosts" hidden {}
            (grid(page))
            p.remark.live-figures { "Dotted lines: loading and warm-up, not counted." }
            div.live-charts data-live-part="charts" {
                @for (part, title) in [
                    ("rate", "Throughput, operations per second"),
                    ("p99", "Response time, p99 (log scale)"),
                    ("load-rate", "Throughput over the load, so far"),
                    ("load-p99", "p99 over the load, so far (log scale)"),
                ] {
                    figure {
                        figcaption { (title) }
                        div.plot data-live-part=(part) {}
                    }
                }
            }
            details.live-figures {
                summary { "The figures behind these charts" }
                div data-live-part="figures" {}
            }
        }
    }
}

/// A row for each arm, a column for each block.
fn grid(page: &Page<'_>) -> Markup {
    let Ok(plan) = plan_of(page.report.record) else {
        return html! {};
    };
    let blocks = plan.runs.iter().map(|run| run.block as usize + 1).max();
    let blocks = blocks.unwrap_or(0);
    let arms = plan.arms.len().min(ARMS).min(CELLS / blocks.max(1));
    html! {
        div.scroll tabindex="0" role="region" aria-label="Runs by arm and block" {
            table.run-grid {
                thead { tr {
                    th scope="col" { "Arm" }
                    @for block in 1..=blocks { th scope="col" { span.hidden { "Block " } (block) } }
                } }
                tbody { @for (number, arm) in plan.arms.iter().enumerate().take(arms) {
                    tr {
                        th scope="row" { span.arm { (page.style(&arm.name).swatch()) (text::short(&arm.name, NAME)) } }
                        @for block in 0..blocks {
                            @let (key, mark, word) = state(page, block, &arm.name);
                            td data-run={ (block) ":" (number) } class={ "run-" (key) } title=(&word) {
                                span aria-hidden="true" { (mark) } span.hidden { (&word) }
                            }
                        }
                    }
                } }
            }
        }
        @if arms < plan.arms.len() { p.remark { "The first " (arms) " of " (plan.arms.len()) " arms." } }
    }
}

/// How the run of an arm in a block stands: finished if any attempt of it is, else as the last one does.
fn state(page: &Page<'_>, block: usize, arm: &str) -> (&'static str, &'static str, String) {
    let refused =
        u32::try_from(block).ok().and_then(|block| page.report.analysis.why_refused(block, arm));
    let (key, mark, word) = recorded(page, block, arm);
    match refused.filter(|_| key == FINISHED.0) {
        Some(reason) => (REFUSED.0, REFUSED.1, format!("not valid: {}", text::short(&reason, 200))),
        None => (key, mark, word.to_owned()),
    }
}

fn recorded(
    page: &Page<'_>,
    block: usize,
    arm: &str,
) -> (&'static str, &'static str, &'static str) {
    let mut last = PLANNED;
    for run in page.runs_of(arm).filter(|run| run.block as usize == block) {
        last = match run.state {
            RunState::Finished => return FINISHED,
            RunState::Started => GOING,
            RunState::Failed { .. } => FAILED,
            RunState::Interrupted => INTERRUPTED,
        };
    }
    last
}
