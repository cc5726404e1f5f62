//! A result as Markdown, for a pull request, an issue or the summary of a job: what decides as a table, what differs, whether it can be trusted.

use crate::{Report, select, text, words};
use plimsoll_judge::{Analysis, Comparison, Estimate, History, ValidityState};
use plimsoll_plan::Metric;
use plimsoll_record::quantities::numbers::TERMINAL;
use plimsoll_record::quantities::words::{confidence, counted};
use std::fmt::Write;

/// Results of a history that are shown, the newest ones.
const RESULTS: usize = 10;
/// Differences between two arms that are named.
const DIFFERENCES: usize = 20;

/// The text, with the last of a history below it where there is one, and where the page is.
pub fn render(report: &Report<'_>, history: Option<&History>, page: Option<&str>) -> String {
    let analysis = report.analysis;
    let mut description = format!("### {}\n", plain(&analysis.name));
    if let Some(question) = &analysis.question {
        line(&mut description, format_args!("\n{}", plain(question)));
    }
    for sentence in &analysis.headline {
        line(&mut description, format_args!("\n{}", plain(sentence)));
    }
    let deciding: Vec<&Comparison> = select::primaries(analysis).collect();
    if !deciding.is_empty() {
        description.push_str(
            "\n| Workload | Load | Metric | Baseline | Arm | Difference | Interval | Margin | Verdict |\n\
             |---|---|---|---:|---:|---:|---|---:|---|\n",
        );
        for one in deciding {
            line(&mut description, row(analysis, one));
        }
    }
    let reasons = select::primaries(analysis)
        .flat_map(|one| [one.plans.as_deref(), one.cost_difference.as_deref()])
        .flatten();
    for reason in reasons {
        line(&mut description, format_args!("\n{}", plain(reason)));
    }
    let (state, trust) = words::trust(analysis, TERMINAL);
    let question = "Can it be trusted?";
    line(&mut description, format_args!("\n**{question}** {}", plain(&trust)));
    if state != ValidityState::Good {
        let doubts = analysis.validity.iter();
        for doubt in doubts.filter(|one| !matches!(one.state, ValidityState::Good)) {
            let (name, figures) = (plain(&doubt.name), plain(&doubt.text));
            line(&mut description, format_args!("- {name}: {figures}"));
        }
    }
    for pair in &analysis.pairs {
        let (arm, baseline) = (plain(&pair.arm), plain(&pair.baseline));
        if pair.differences.is_empty() {
            let nothing = "Nothing is known to differ between";
            line(&mut description, format_args!("\n{nothing} {arm} and {baseline}."));
            continue;
        }
        line(&mut description, format_args!("\nWhat differs between {arm} and {baseline}:\n"));
        for one in pair.differences.iter().take(DIFFERENCES) {
            let values: Vec<String> = one.values.iter().map(|(_, value)| plain(value)).collect();
            let what = plain(&one.what);
            line(&mut description, format_args!("- {what}: {}", values.join(" → ")));
        }
        if let Some(more) = pair.differences.len().checked_sub(DIFFERENCES + 1) {
            line(&mut description, format_args!("- and {} more", more + 1));
        }
    }
    if let Some(history) = history {
        of_history(&mut description, history);
    }
    if let Some(page) = page {
        line(&mut description, format_args!("\nAll figures and charts: {}", plain(page)));
    }
    let (id, version) = (&analysis.id, plain(&report.record.program.version));
    let blocks = counted(analysis.progress.blocks_complete as usize, "block");
    line(
        &mut description,
        format_args!("\n<sub>Plimsoll {version}, experiment {id}, {blocks}.</sub>"),
    );
    description
}

/// The value of an arm is that of all its valid runs, as in every other output, also where the difference is judged by fewer.
fn row(analysis: &Analysis, one: &Comparison) -> String {
    let numbers = TERMINAL;
    let value = |arm: &str, side: fn(&(u32, f64, f64)) -> f64| {
        let value = match one.metric {
            Metric::Line => select::line(analysis, arm, &one.mix).and_then(|line| line.rate.median),
            Metric::Cost => select::cost(analysis, arm, &one.mix)
                .and_then(|cost| select::shown_cost(analysis, cost)?.median),
            metric => select::point(analysis, arm, &one.mix, one.point)
                .and_then(|point| point.estimate(metric)?.median),
        };
        // Other outputs do not show this percentile, or it is only a bound.
        let of_pairs =
            || Estimate::over_blocks(one.pairs.iter().map(|pair| (pair.0, side(pair)))).median;
        match value.or_else(of_pairs) {
            Some(value) => words::metric_value(one.metric, value, numbers),
            None => numbers.nothing().to_owned(),
        }
    };
    let verdict = &one.verdict;
    let nothing = || numbers.nothing().to_owned();
    let difference = verdict.estimate.map_or_else(nothing, |share| numbers.difference(share));
    let interval = verdict.interval.map_or_else(nothing, |interval| {
        let level = confidence(verdict.confidence.unwrap_or(0.95));
        format!("{} ({level})", numbers.differences(verdict.estimate, interval))
    });
    let cells = [
        one.mix.clone(),
        one.load_label.clone(),
        words::metric(one.metric),
        value(&one.baseline, |(_, baseline, _)| *baseline),
        value(&one.arm, |(_, _, arm)| *arm),
        difference,
        interval,
        numbers.margin(verdict.margin),
        words::judgement(verdict.judgement).to_owned(),
    ];
    let cells: Vec<String> = cells.iter().map(|cell| plain(cell)).collect();
    format!("| {} |", cells.join(" | "))
}

fn of_history(text: &mut String, history: &History) {
    let results = &history.results;
    line(
        text,
        format_args!(
            "\n<details><summary>History: {} of {}, workload {} at {}</summary>\n",
            counted(results.len(), "result"),
            plain(&history.arm),
            plain(&history.mix),
            plain(&history.load_label)
        ),
    );
    for change in &history.changes {
        line(text, format_args!("- {}", plain(&change.sentence)));
    }
    if history.changes.is_empty() {
        text.push_str("No lasting change was found.\n");
    }
    let what = plain(&history.metric_label);
    line(text, format_args!("\n| Begun | Experiment | {what} |\n|---|---|---:|"));
    let shown = results.len().saturating_sub(RESULTS);
    for result in &results[shown..] {
        let value = words::metric_value(history.metric, select::median(&result.value), TERMINAL);
        let (date, id) = (words::date(&result.started_at), &result.id);
        line(text, format_args!("| {date} | {id} | {} |", plain(&value)));
    }
    text.push_str("\n</details>\n");
}

fn line(text: &mut String, what: impl std::fmt::Display) {
    writeln!(text, "{what}").expect("a string takes whatever is written");
}

/// Words of files and servers without what Markdown or HTML would make of them, in one line.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text::line(text).to_string().chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' => {
                plain.push('\\');
                plain.push(letter);
            }
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            letter => plain.push(letter),
        }
    }
    plain
}
