//! What can be believed of results that others published: a line for each, and why not.

use super::{BOLD, DIM, Screen, paragraph};
use crate::terminal::screen::paint;
use anstyle::{AnsiColor, Style};
use plimsoll_judge::{Audit, Audited, Belief, meaning};

pub fn audit(audit: &Audit, screen: &Screen) -> String {
    let mut out = String::new();
    for result in &audit.results {
        one(&mut out, result, screen);
    }
    out.push('\n');
    paragraph(&mut out, BOLD, &audit.sentence(), 0, screen);
    for (id, count) in audit.kinds() {
        out.push_str(&format!("{count:>6}  {}\n", screen.plain(meaning(id))));
    }
    out
}

fn one(out: &mut String, result: &Audited, screen: &Screen) {
    let style = match result.belief {
        Belief::Believable => AnsiColor::Green.on_default(),
        Belief::WithCare => AnsiColor::Yellow.on_default(),
        Belief::NotBelievable => AnsiColor::Red.on_default().bold(),
    };
    let words = format!("{:<15}", result.belief.words());
    let source = screen.short(&result.source, screen.width.saturating_sub(16));
    out.push_str(&format!("{} {source}\n", paint(style, &words)));
    if let (Some(throughput), Some(seconds)) = (result.throughput, result.seconds) {
        let numbers = screen.numbers();
        let about = format!(
            "{}, {} at {}: {} op/s over {} s",
            result.tool,
            result.workload,
            result.load,
            numbers.rate(throughput),
            numbers.significant(seconds, 3)
        );
        paragraph(out, DIM, &about, 4, screen);
    }
    for reason in &result.reasons {
        paragraph(out, Style::new(), &reason.message, 4, screen);
    }
}
